"""Findings about tables and groups in words: witness, reach, and what would help."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from privet.findings import Audit, Finding
from privet.languages import join_words, say, say_number
from privet.microdata.dependence.told_columns import phrase_rule
from privet.microdata.exposure.exposure import Exposure
from privet.microdata.exposure.report import (
    explain_uncovered,
    join_names,
    suggest_cover,
)
from privet.microdata.privacy_models.models import find_model
from privet.microdata.skyline.insider_words import (
    describe_evidence,
    describe_households,
    describe_knowledge,
)
from privet.policy import Measure, Promise
from privet.release.kinds import Sentences
from privet.report import words
from privet.report.words import escape_name, format_cell
from privet.values.adversaries import Insider, Linker
from privet.values.beliefs import Belief
from privet.values.exact import percent

# Measures ---------------------------------------------------------------------------


def phrase_measure(measure: Measure, found: Fraction, people: str, facts: str) -> str:
    """What was found; `facts` describe the group that decides."""
    several = ""
    if measure.k is not None:
        several = say("; they must be at least {k}", k=f"{measure.k:,}")
    return say(
        find_model(measure).sentence,
        values=say_number("value", "values", 1 if found == 1 else 2),
        k=several,
        value=words.format_measured(measure, found),
        people=people,
        facts=f" ({facts})" if facts else "",
        who=f" ({people}: {facts})" if facts else f" ({people})",
        c=measure.c,
    )


def _explain_measure(finding: Finding) -> str:
    w, stated = finding.witness, finding.promise
    assert w is not None
    assert finding.value is not None
    assert isinstance(stated, Measure)
    known = words.format_facts(w.knows) if w.knows else ""
    people = words.format_count(w.whole, w.counted)
    return phrase_measure(stated, finding.value, people, known)


def _describe_measure_beyond(finding: Finding) -> str:
    assert isinstance(finding.promise, Measure)
    if finding.promise.sense == "at least":
        return words.describe_groups_beyond(finding, say("below the level"))
    return words.describe_groups_beyond(finding, say("above the level"))


# Linkers and insiders ---------------------------------------------------------------


def _explain_linker(finding: Finding) -> str:
    w, stated = finding.witness, finding.promise
    assert w is not None
    assert isinstance(stated, Promise)
    told = {
        "sure": words.format_posterior(w.belief, stated.limit),
        "share": words.format_share_of(w.part, w.whole, w.counted),
        "believed": words.format_believed(w),
    }
    if w.knows:
        facts = words.format_facts(w.knows)
        sure = say(
            "Someone who knows that a person's {facts} can be {sure} sure "
            "({share}) that {believed}. Without that, {prior}.",
            facts=facts,
            prior=words.format_prior(w),
            **told,
        )
    else:
        sure = say(
            "Someone who knows nothing but the table can be {sure} sure "
            "({share}) that {believed}.",
            **told,
        )
    return " ".join([sure, *_describe_derived(finding.details.get("derived", {}))])


MOST_RULES = 5
"""Rules between columns that are told one by one."""


def _describe_derived(told: Mapping[str, Any]) -> Iterator[str]:
    """Which columns are taken as known, too, and where there are too few rows."""
    if rules := told.get("rules"):
        said = [escape_name(phrase_rule(r)) for r in rules[:MOST_RULES]]
        if len(rules) > MOST_RULES:
            said.append(say("{n} more", n=f"{len(rules) - MOST_RULES:,}"))
        yield say("Taken as known, too: {rules}.", rules="; ".join(said))
    if few := told.get("too_few_rows"):
        names = dict.fromkeys(escape_name(d["column"]) for d in few)
        yield say(
            "Too few rows to tell whether {columns} follows.",
            columns=join_words(list(names)),
        )


def _explain_insider(finding: Finding) -> str:
    w, stated = finding.witness, finding.promise
    assert w is not None
    assert isinstance(stated, Promise)
    if w.attack is None:
        return _explain_linker(finding)
    told = {
        "knowledge": describe_knowledge(w.column, w.attack),
        "sure": words.format_posterior(w.belief, stated.limit),
        "believed": words.format_believed(w),
    }
    sure = say(
        "Someone who knows {knowledge} can be {sure} sure that the person's "
        "{believed}.",
        **told,
    )
    if w.attack.victim:
        name = escape_name(w.attack.victim)
        sure = say(
            "Someone who knows {knowledge} can be {sure} sure that {name}'s "
            "{believed}.",
            name=name,
            **told,
        )
    alone = say(
        "Of those who look the same, {chance} ({share}) have it; of "
        "everybody, {prior}.",
        chance=percent(Fraction(w.part, w.whole)),
        share=words.format_share_of(w.part, w.whole, w.counted),
        prior=words.format_prior(w),
    )
    return " ".join([sure, alone, *describe_evidence(finding)])


def _describe_insider_beyond(finding: Finding) -> str:
    """Companions may be in another group; then a group alone says less."""
    stated = finding.promise
    assert isinstance(stated, Promise)
    assert isinstance(stated.against, Insider)
    past = say("beyond the limit")
    if stated.against.same_as and finding.groups > 1:
        past = say("{past}, each by itself", past=past)
    if stated.against.evidence > 1:
        past = say("{past}, with such evidence", past=past)
    alone = words.describe_groups_beyond(finding, past)
    return " ".join([alone, *describe_households(finding)])


# What would help --------------------------------------------------------------------


def _explain_floor(finding: Finding) -> str:
    """Why neither hiding nor grouping can help; empty where they may."""
    w, floor = finding.witness, finding.details.get("in_everybody")
    if w is None or not isinstance(finding.promise, Promise):
        return ""
    if floor is None and not finding.promise.limit.holds(
        Belief(w.belief.prior, w.belief.prior)
    ):
        floor = {"value": w.value, "count": w.prior_part, "of": w.prior_whole}
        floor |= {} if w.window is None else {"window": w.window.to_dict()}
    if floor is None:
        return ""
    told = {
        "column": escape_name(w.column),
        "share": percent(Fraction(floor["count"], floor["of"])),
        "counts": words.format_share(floor["count"], floor["of"]),
    }
    if "window" not in floor:
        return say(
            "Hiding cannot help: {column} is {value} for {share} of "
            "everybody ({counts}), so no coarser table keeps the promise. "
            "Name the values that must not be learnt, allow more, or leave "
            "out the column {column}.",
            value=format_cell(floor["value"]),
            **told,
        )
    low, high = floor["window"]["from"], floor["window"]["to"]
    return say(
        "Hiding cannot help: {column} lies {window} for {share} of everybody "
        "({counts}), so no coarser table keeps the promise. Ask for narrower "
        "windows, allow more, or leave out the column {column}.",
        window=words.format_window(low, high),
        **told,
    )


def _repair_linkage(finding: Finding) -> Sequence[str]:
    witness = finding.witness
    if witness is None:
        return ()
    columns = [escape_name(c) for c in witness.knows]
    if floor := _explain_floor(finding):
        return (floor,)
    if not columns:
        return ()
    if len(columns) == 1:
        return (
            say(
                "Make the column {column} coarser (bins, fewer values) or drop it.",
                column=columns[0],
            ),
        )
    return (
        say(
            "Make the columns {columns} coarser (bins, fewer values), or "
            "leave one of them out.",
            columns=join_words(columns),
        ),
    )


def _offer_publishing(finding: Finding) -> Sequence[str]:
    if finding.witness and finding.witness.counted == "people":
        return (
            say(
                "To publish it with privet publish, say in [person] of the "
                "policy how rows become people."
            ),
        )
    return ()


def _offer_hiding(finding: Finding) -> Sequence[str]:
    hide = say("Or let privet publish hide the values that give it away.")
    if _explain_floor(finding):
        return ()
    return _offer_publishing(finding) or (hide,)


def _offer_groups(finding: Finding) -> Sequence[str]:
    return () if _explain_floor(finding) else _offer_publishing(finding)


def _repair_groups(finding: Finding) -> Sequence[str]:
    if floor := _explain_floor(finding):
        return (floor,)
    return (
        say(
            "Make the groups of people who look the same larger and more "
            "varied (coarser quasi columns, or fewer of them); privet "
            "publish --method mondrian does so."
        ),
    )


# Who is covered ---------------------------------------------------------------------

MOST_UNKNOWN = 12
"""Columns beyond a promise that are named; of more, how many there are is said."""


def _name_unknown(columns: Sequence[str]) -> str:
    """What else may be known, short enough to be read below each promise."""
    if len(columns) <= MOST_UNKNOWN:
        return join_names(columns)
    return say("any of the {n} other columns that may be known", n=len(columns))


def _reach_of_linker(finding: Finding, audit: Audit) -> str:
    """Whom a promise covers, by what it says; and what the others do not add."""
    stated = finding.promise
    assert isinstance(stated, Promise)
    assert isinstance(stated.against, Linker)
    told = {"name": _name_promise(finding), "known": _say_known(stated.against)}
    lead = say(
        "{name} covers someone who sees this table and knows {known} of one person.",
        **told,
    )
    several = not any(_is_against_insider(f) for f in audit.findings)
    if columns := _list_unknown(stated.against, audit):
        more = _name_unknown(columns)
        if several:
            rest = say(
                "Not covered: someone who also knows {columns}, or who knows "
                "other people in the table.",
                columns=more,
            )
        else:
            rest = say("Not covered: someone who also knows {columns}.", columns=more)
    elif several:
        rest = say(
            "Not covered: someone who knows something of the person that is "
            "not in the table, or who knows other people in the table."
        )
    else:
        rest = say(
            "Not covered: someone who knows something of the person that is "
            "not in the table."
        )
    return f"{lead} {rest}"


def _list_unknown(linker: Linker, audit: Audit) -> list[str]:
    """Published columns that may be known and that no judged linker knows."""
    if not isinstance(audit.exposure, Exposure) or linker.knows is None:
        return []
    return [c for c in audit.exposure.known if c not in linker.knows]


def _say_known(linker: Linker) -> str:
    if linker.knows is not None:
        return join_names(linker.knows) if linker.knows else say("nothing")
    if linker.knows_any is not None:
        return say("any {n} of the quasi and other columns", n=linker.knows_any)
    return say("all quasi and other columns")


def _is_against_insider(finding: Finding) -> bool:
    stated = finding.promise
    return isinstance(stated, Promise) and isinstance(stated.against, Insider)


def _name_promise(finding: Finding) -> str:
    return say("“{name}”", name=escape_name(finding.promise.name))


def _reach_of_insider(finding: Finding, audit: Audit) -> str:
    """What the insider of a promise may know besides, and what not."""
    stated = finding.promise
    assert isinstance(stated, Promise)
    return say(
        "{name} covers {whom}, who sees the groups and knows who is in "
        "which. Not covered: someone who knows more than that, or who "
        "believes some values likelier than others beforehand.",
        name=_name_promise(finding),
        whom=stated.against.words(),
    )


SENTENCES = {
    "linker": Sentences(
        reach=_reach_of_linker,
        explain=_explain_linker,
        beyond=words.describe_groups_beyond,
        repairs=_repair_linkage,
        offers=_offer_hiding,
    ),
    "insider": Sentences(
        reach=_reach_of_insider,
        explain=_explain_insider,
        beyond=_describe_insider_beyond,
        repairs=_repair_groups,
        offers=_offer_groups,
    ),
    "measure": Sentences(
        reach=lambda finding, audit: say(
            "A measure counts how many look alike. It does not say what can "
            "be learnt about them: people who look alike may share a secret."
        ),
        explain=_explain_measure,
        beyond=_describe_measure_beyond,
        repairs=lambda finding: (
            say(
                "Make rare combinations of the quasi columns coarser, or "
                "drop them; privet publish --method mondrian does so."
            ),
        ),
        offers=_offer_publishing,
    ),
    "uncovered": Sentences(
        reach=lambda finding, audit: "",
        explain=explain_uncovered,
        beyond=lambda finding: "",
        repairs=suggest_cover,
    ),
}
"""What is said of findings about tables and groups."""
