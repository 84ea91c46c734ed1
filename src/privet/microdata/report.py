"""Tables and groups in words: what was found, before, after, and the cost.

A release is told as one plain dictionary first, then shown from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from privet.engine.protocol import CountQuery
from privet.findings import Finding
from privet.languages import mark, say, say_number, translate
from privet.microdata.exposure.report import (
    suggest_cover,
)
from privet.microdata.information_loss.report import describe_utility
from privet.microdata.minimality.minimality import (
    MethodBelief,
    OriginalTables,
    measure_cheaply,
)
from privet.microdata.recipe import Cut, Hide
from privet.microdata.release import Release
from privet.release.note import describe_choice
from privet.report import words
from privet.report.render import EXPOSURE, HISTORY, list_history
from privet.report.summary import finding
from privet.report.words import escape_name, format_cell
from privet.values.exact import percent

ENDED = {
    "finished": mark("Every value that may be shown is shown."),
    "time": mark("Stopped at the time limit: more values might have been shown."),
    "callback": mark("Stopped on request: more values might have been shown."),
    "improved": mark(
        "Every value that may be shown beside the others is shown. Stopped "
        "before all exchanges were tried: some might show more."
    ),
    "recipe": mark("Made by an earlier release's recipe."),
    "chosen": mark("Shown is what the method chooses: more values might be shown."),
    "together": mark(
        "What tells hidden values is hidden, too: more values might be shown."
    ),
}
ENDED_GROUPS = {
    "finished": mark("No group can be split further."),
    "time": mark("Stopped at the time limit: groups might have been split further."),
    "callback": mark("Stopped on request: groups might have been split further."),
    "households": mark(
        "Splits were undone for households: groups might be split otherwise."
    ),
}
ENDED_SAME = mark("No further cut for everybody is allowed and lowers what is blurred.")
"""Of the same cuts, some of which may cost more stars than they save."""
ENDED_SEARCH = {
    "time": (mark("Stopped at the time limit: another choice might keep more."),),
    "callback": (mark("Stopped on request: another choice might keep more."),),
}


def summarise_release(release: Release) -> dict[str, Any]:
    """What was promised, reached, and given up."""
    return {
        "verdict": release.verdict.value,
        "title": release.policy.title,
        "method": release.method,
        "ended": release.ended,
        "left": dict(release.left),
        "moves": len(release.steps),
        "people": _describe_people_made(release),
        "held_back": _describe_held(release),
        "columns": dict(_describe_columns(release)),
        "groups": _describe_groups(release),
        "promises": list(_compare_promises(release)),
        "utility": release.utility.to_dict() if release.utility else None,
        "utility_note": release.utility_note,
        "method_known": _describe_method_known(release),
        "exposure": _summarise_exposure(release),
        "uncovered": [
            {"about": f.promise.to_dict()["about"], "words": f.explain()}
            for f in release.audit.uncovered
        ],
        "advice": [s for f in release.audit.uncovered for s in suggest_cover(f)],
        "together": None
        if release.together is None
        else [finding(f) for f in release.together.findings],
        "history": None if release.history is None else release.history.to_dict(),
        "sensitive": translate(words.SENSITIVE),
    }


def _describe_people_made(release: Release) -> dict[str, Any] | None:
    """How many rows stood for how many people; None: a row is a person."""
    made = release._private.people_made
    if made is None:
        return None
    return {**made.to_dict(), "words": words.describe_people_made(made)}


def _describe_held(release: Release) -> dict[str, int] | None:
    """How many new rows wait for a later delivery, of how many."""
    if release.held_back is None:
        return None
    rows, of = release.held_back
    return {"rows": rows, "of": of}


def _summarise_exposure(release: Release) -> dict[str, Any] | None:
    told = release.exposure
    return None if told is None else {**told.to_dict(), "words": told.explain()}


def _describe_columns(release: Release) -> Iterator[tuple[str, dict[str, Any]]]:
    """What is not shown as it was; nothing is said of the other columns."""
    recipe = release.recipe
    if recipe is None:
        return
    plain = replace(release._table, relabels={})
    changed = [c for c in recipe.columns if c in release._table.relabels]
    tallies = [CountQuery((), c) for c in changed]
    for tally, counts in plain.count(tallies):
        texts = release._table.relabels[tally.about].texts
        shown = [texts[int(code)] for code in counts.value]
        hidden = [text == recipe.marker for text in shown]
        levels = _count_labels(recipe.columns[tally.about], shown)
        if not any(hidden) and not levels:
            yield tally.about, {"intervals": len(set(shown)), "values": len(shown)}
            continue
        yield (
            tally.about,
            {
                "hidden_values": sum(hidden),
                "values": len(shown),
                "hidden_cells": int(counts.n[np.array(hidden)].sum()),
                "cells": int(counts.n.sum()),
                **levels,
            },
        )


def _count_labels(how: Hide | Cut, shown: Sequence[str | None]) -> dict[str, int]:
    """How many labels of its hierarchy a column shows, where it has one."""
    if isinstance(how, Cut) or not how.called:
        return {}
    return {"labels": len(set(shown) & set(how.called.values()))}


def _describe_groups(release: Release) -> dict[str, Any] | None:
    """How many groups there are, how large, and how blurred each column is."""
    if release.grouped is None:
        return None
    partition = release.grouped.partition
    sizes = partition.leaves[:, 2]
    return {
        "form": release.grouped.form,
        "groups": len(partition),
        "people": partition.people,
        "smallest": int(sizes.min()),
        "largest": int(sizes.max()),
        "suppressed": partition.suppressed,
        "starred": partition.starred,
        "stars": partition.stars,
        "same_cuts": bool(partition.blocks_of) and partition.choice is None,
        "chosen": None if partition.choice is None else partition.choice.to_dict(),
        "width": {c: round(w, 4) for c, w in partition.average_widths().items()},
    }


def _compare_promises(release: Release) -> Iterator[dict[str, Any]]:
    before = release.before.findings if release.before else release.audit.findings
    for was, now in zip(before, release.audit.findings, strict=True):
        told, then = finding(now), finding(was)
        yield {
            "promise": told["promise"],
            "verdict": told["verdict"],
            "limit": told["limit"],
            "before": then["posterior"] or then["measured"],
            "after": told["posterior"] or told["measured"],
            "change": _format_change(was, now),
            "words": told["words"],
            "note": told["note"],
        }


def _format_change(was: Finding, now: Finding) -> str:
    """The worst case before and after, as people read it; empty if nobody counted."""
    before, after = words.format_reached(was), words.format_reached(now)
    return f"{before} → {after}" if before and after else ""


def as_text(told: Mapping[str, Any]) -> str:
    """Plain text, verdict first."""
    lines = _list_headlines(told)
    for p in told["promises"]:
        lines += ["", f"{words.escape_name(p['promise'])}"]
        if p["change"]:
            lines.append("  " + say("Worst case: {change}.", change=p["change"]))
        lines.append(f"  {p['note'] or p['words']}")
    lines += [
        "",
        *(
            _format_hidden(told)
            if told["groups"] is None
            else _format_groups(told["groups"], told["ended"])
        ),
    ]
    if told["people"]:
        lines += ["", told["people"]["words"]]
    lines += ["", *describe_utility(told["utility"], told["utility_note"])]
    if told["held_back"]:
        lines += ["", _format_held(told["held_back"])]
    lines += _list_more(told)
    if told["method_known"] is not None:
        lines += ["", told["method_known"]["words"]]
    if told["groups"] is not None:
        return "\n".join([*lines, "", *_tell_search(told)])
    moves = say_number("{n} move", "{n} moves", told["moves"])
    lines += ["", f"{translate(ENDED[told['ended']])} ({moves})", *_tell_left(told)]
    return "\n".join(lines)


def _list_more(told: Mapping[str, Any]) -> list[str]:
    """What is told beyond the promises, what to do about it, and earlier releases."""
    lines = []
    if told["exposure"]:
        exposed = (f"  {line}" for line in told["exposure"]["words"])
        lines += ["", translate(EXPOSURE), *exposed]
    if told["advice"]:
        steps = (f"  {s}" for s in words.numbered(told["advice"]))
        lines += ["", say("{heading}:", heading=say("What to do")), *steps]
    if told["history"]:
        earlier = (f"  {line}" for line in list_history(told["history"]))
        lines += ["", translate(HISTORY), *earlier]
    return lines


def _list_headlines(told: Mapping[str, Any]) -> list[str]:
    """The verdict in a sentence, and what no promise covers."""
    if told["verdict"] == "safe":
        kept = sum(p["verdict"] == "safe" for p in told["promises"])
        return [say("✓ Safe: every promise is kept ({n}).", n=kept)]
    if told["verdict"] == "not covered":
        lead = say("! Not covered: every promise is kept, but that is not everything.")
        return [lead, *(f"  {u['words']}" for u in told["uncovered"])]
    if told["verdict"] == "breach":
        return [say("✗ Breach: together with an earlier release a promise is broken.")]
    return [say("? Undecided: together with an earlier release nothing is certain.")]


def _tell_search(told: Mapping[str, Any]) -> list[str]:
    """How the search for groups ended; of levels, also what was judged."""
    about = told["groups"]["chosen"]
    if about is None:
        same = told["groups"]["same_cuts"] and told["ended"] == "finished"
        ended = ENDED_SAME if same else ENDED_GROUPS[told["ended"]]
        return [translate(ended), *_tell_left(told)]
    lines = [
        say(
            "{judged} of {all} combinations of levels were judged; this one "
            "costs {cost} (NCP, suppressed people included).",
            judged=f"{about['judged']:,}",
            all=f"{about['combinations']:,}",
            cost=f"{about['cost']:.4f}",
        )
    ]
    if about["optimum"] not in ("proved", "local", "open"):
        lines.append(say("None costs less than {cost}.", cost=f"{about['bound']:.4f}"))
    return [*map(translate, ENDED_SEARCH.get(told["ended"], ())), *lines]


def _tell_left(told: Mapping[str, Any]) -> list[str]:
    """What is hidden only because the search was stopped."""
    left: Mapping[str, int] = told["left"]
    if not left:
        return []
    if told["groups"] is not None and left.keys() == {"groups"}:
        return [
            say_number(
                "{n} group was not tried.", "{n} groups were not tried.", left["groups"]
            )
        ]
    each = ", ".join(f"{escape_name(c)} ({n:,})" for c, n in left.items())
    if told["groups"] is not None:
        return [
            say(
                "Could have been shown next, ranges by column: {columns}.", columns=each
            )
        ]
    return [
        say(
            "Could have been shown next, values or cuts by column: {columns}.",
            columns=each,
        )
    ]


def _format_hidden(told: Mapping[str, Any]) -> list[str]:
    changed = [f"  {_format_column(c, a)}" for c, a in told["columns"].items()]
    nothing = "  " + say("Nothing: the table was safe as it is.")
    return [say("What is hidden:"), *(changed or [nothing])]


def _format_held(told: Mapping[str, int]) -> str:
    """That new rows wait, or that none has to."""
    if not told["rows"]:
        return say("Held back: none of {all} new rows.", all=f"{told['of']:,}")
    return say(
        "Held back: {rows} of {all} new rows wait for a later delivery.",
        rows=f"{told['rows']:,}",
        all=f"{told['of']:,}",
    )


def _format_groups(about: Mapping[str, Any], ended: str) -> list[str]:
    lines = [_count_groups(about)]
    if about["chosen"]:
        lines += describe_choice(about["chosen"])
    elif about["starred"]:
        lines.append(
            say(
                "{n} people are starred: they are one of these groups, and "
                "show * in every known column.",
                n=f"{about['starred']:,}",
            )
        )
    elif about["stars"] and ended == "finished":  # stopped, it may not have been tried
        lines.append(say("Nobody is starred: that would hide more than it shows."))
    elif about["suppressed"]:
        lines.append(
            say("{n} people in wide groups are left out.", n=f"{about['suppressed']:,}")
        )
    if about["form"] == "buckets":
        return [
            *lines,
            say("Known values are shown as they are; who has which is not."),
        ]
    lines.append(say("Average width of what is shown, of the whole column:"))
    return lines + [
        f"  {words.escape_name(c)}: {100 * w:.1f} %" for c, w in about["width"].items()
    ]


def _count_groups(about: Mapping[str, Any]) -> str:
    people = f"{about['people']:,}"
    if about["groups"] == 1:
        return say("One group of everybody ({people} in all).", people=people)
    return say(
        "{groups} groups of {smallest} to {largest} people ({people} in all).",
        people=people,
        **{k: f"{about[k]:,}" for k in ("groups", "smallest", "largest")},
    )


def _format_column(name: str, about: Mapping[str, Any]) -> str:
    told = {k: f"{n:,}" for k, n in about.items()}
    if "intervals" in about:
        return say(
            "{column}: {values} values as {intervals} intervals", column=name, **told
        )
    if "labels" in about:
        return say(
            "{column}: {hidden_values} of {values} values ({hidden_cells} of "
            "{cells} cells), others as {labels} labels of its hierarchy",
            column=name,
            **told,
        )
    return say(
        "{column}: {hidden_values} of {values} values ({hidden_cells} of "
        "{cells} cells)",
        column=name,
        **told,
    )


# Who knows the method ---------------------------------------------------------------


def _describe_method_known(release: Release) -> dict[str, Any] | None:
    """What no promise covers, with the figure where it is cheap; None: all is shown."""
    if release.recipe is not None and not release.recipe.columns:
        return None
    found = measure_cheaply(release)
    lead = say("Not covered: someone who knows how it was chosen what to hide.")
    if found is None:
        more = say("How much that adds can be counted for small releases only.")
        return {"tables": None, "fitting": None, "words": f"{lead} {more}"}
    return {**found.to_dict(), "words": " ".join([lead, *describe_originals(found)])}


def describe_originals(found: OriginalTables) -> list[str]:
    """How many tables lie behind a release, and how sure that makes somebody."""
    said = [
        say_number(
            "Of one table that this file allows, {fitting} would give it.",
            "Of {n} tables that this file allows, {fitting} would give it.",
            found.tables,
            fitting=f"{found.fitting:,}",
        )
    ]
    worst = found.worst
    if worst is not None:
        said.append(_explain_method_belief(worst))
    if beyond := len(found.beyond):
        said.append(
            say_number(
                "{n} of {all} beliefs is beyond a limit.",
                "{n} of {all} beliefs are beyond a limit.",
                beyond,
                all=f"{len(found.beliefs):,}",
            )
        )
    return said


def _explain_method_belief(found: MethodBelief) -> str:
    limit = found.promise.limit
    before, after = found.belief.prior, found.belief.posterior
    told = {
        "sure": words.format_posterior(found.belief, limit),
        "exactly": after,
        "believed": words.format_fact(found.column, format_cell(found.value)),
        "before": f"{percent(before)} ({before})",
        "limit": words.format_limit(limit),
    }
    if not found.knows:
        return say(
            "Whoever also knows nothing of a person can be {sure} sure "
            "({exactly}) that {believed}; from the file alone {before}. "
            "Limit: {limit}.",
            **told,
        )
    facts = words.format_facts(found.knows)
    return say(
        "Whoever also knows that a person's {facts} can be {sure} sure "
        "({exactly}) that {believed}; from the file alone {before}. Limit: "
        "{limit}.",
        facts=facts,
        **told,
    )


METHOD_GRANTED = mark(
    "This attacker knows the policy and the method, and which values each "
    "column may have. An attack may accuse; that it finds nothing proves "
    "nothing."
)
"""What is said with every answer of the attacker who knows the method."""
