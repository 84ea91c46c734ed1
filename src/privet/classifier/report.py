"""A published classifier in one plain dictionary, and in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import floor
from typing import Any

from privet.classifier.attacks.inversion_promise import list_attacked
from privet.classifier.attacks.mitigations import (
    EXPECTED,
    Method,
    MitigationCost,
    compare_mitigations,
    expect_cost,
    measure_cost,
)
from privet.classifier.classifier_note import CARD
from privet.classifier.files import FLATTENED, join_custody, list_shown, read_record
from privet.classifier.publish import ClassifierRelease, read_method
from privet.classifier.transforms.extended_safety_transform import shared_prior
from privet.classifier.transforms.r_closeness import accuracy_steps
from privet.classifier.transforms.safety_transform import (
    SafetyTransform,
    bayesian_promises,
)
from privet.classifier.transforms.zero_counts import say_kept
from privet.display import draw_value
from privet.findings import Audit, Basis, Finding, Verdict
from privet.languages import mark, say, say_number, translate
from privet.policy import Promise
from privet.policy.toml import write_sections
from privet.release.kinds import Sentences
from privet.report import words
from privet.report.documents.document import (
    Facts,
    Grid,
    Listing,
    Part,
    Picture,
    Program,
    Section,
)
from privet.report.documents.worked_examples import (
    PANDAS,
    SQL,
    R,
    quote_name,
    quote_text,
    quote_value,
)
from privet.report.render import HISTORY, list_history
from privet.report.summary import finding
from privet.values.adversaries import Bayesian
from privet.values.beliefs import Ceiling
from privet.values.exact import fraction, percent

BAR = 20
"""How long the bars of a chart are."""

SENSITIVE = mark(
    "This report tells of the private table. Keep it where the table is "
    "kept; do not send it along with a release."
)


def summary(release: ClassifierRelease) -> dict[str, Any]:
    """What was promised, reached, kept and given up."""
    before = release.before or release.audit
    pairs = zip(before.findings, release.audit.findings, strict=True)
    return {
        "verdict": release.verdict.value,
        "history": None if release.history is None else release.history.to_dict(),
        "title": release.policy.title,
        "method": release.method,
        "target": release.card.target,
        "classes": list(release.card.labels),
        "dropped": 0 if release.private is None else release.private.dropped,
        "attributes": [a.name for a in release.card.attributes],
        "exponent": None if release.exponent is None else str(release.exponent),
        "tight": _describe_tight(release),
        "keeps": release.keeps,
        "promises": [_compare_findings(was, now) for was, now in pairs],
        "uncovered": [
            line
            for f in release.audit.uncovered
            for line in (_explain_open(f), *_suggest_cover(f))
        ],
        "flattened": FLATTENED,
        "reach": words.describe_reach(release.audit),
        "staircase": _list_steps(release),
        "inverter": _invert_release(release),
        "sensitive": translate(SENSITIVE),
    }


def _describe_tight(release: ClassifierRelease) -> dict[str, Any] | None:
    """Whether a larger exponent would keep the promises; None: nobody looked."""
    found = None if release.made is None else release.made.proof.tight
    if found is None:
        return None
    known = None if found.known is None else release.card.told(found.known)
    return {
        "basis": Basis.EXACT.value if found.exact else Basis.BOUND.value,
        "beyond": None if found.beyond is None else str(found.beyond),
        "knows": known,
        "nodes": found.nodes,
    }


def _say_tight(told: Mapping[str, Any]) -> list[str]:
    """How much flattening there is, and whether less would do."""
    tight = told.get("tight")
    if tight is None or tight["beyond"] is None:
        return []
    exponent, beyond = (float(Fraction(x)) for x in (told["exponent"], tight["beyond"]))
    said = say("Scores are raised to the power {power}.", power=f"{exponent:.4g}")
    if tight["knows"] is None:
        more = say("Whether a larger one would do was not found out in time.")
    else:
        more = say(
            "A power of {power} would be too much: of somebody whose {facts} "
            "too much could be believed.",
            power=f"{beyond:.4g}",
            facts=words.format_facts(tight["knows"]),
        )
    return [f"{said} {more}"]


def _list_steps(release: ClassifierRelease) -> list[dict[str, Any]]:
    """What can be predicted at which closeness to a prior of somebody's own."""
    if release.made is None or release.method == SafetyTransform().kind:
        return []
    prior = shared_prior(bayesian_promises(release.policy), release.card.labels)
    return [s.to_dict() for s in accuracy_steps(release.made.views, prior)]


def compare_release(
    release: ClassifierRelease, method: Method | None = None
) -> list[dict[str, Any]]:
    """A release, and every mitigation: what each costs, and what it leaves."""
    assert release.private is not None
    method = method or read_method(release.method, release.options)
    stated = bayesian_promises(release.policy)
    this, found = (
        _measure_release(release, method),
        compare_mitigations(release.private, stated, method),
    )
    others = found if this.setting else found[1:]  # the first has no mitigation
    return [m.to_dict() for m in (this, *others)]


def _measure_release(release: ClassifierRelease, method: Method) -> MitigationCost:
    assert release.private is not None
    assert release.made is not None
    if method.noise is not None:
        return expect_cost(release.made.views, method, list_shown(release))
    attacked = list_attacked(release.made, release.private, method)
    return measure_cost(release.private, method, list_shown(release), attacked)


def _compare_findings(before: Finding, after: Finding) -> dict[str, Any]:
    was, now = finding(before), finding(after)
    return {
        "promise": now["promise"],
        "verdict": now["verdict"],
        "limit": now["limit"],
        "ceiling": isinstance(getattr(after.promise, "limit", None), Ceiling),
        "before": was["posterior"],
        "after": now["posterior"],
        "words": now["words"],
        "note": now["note"],
    }


def _invert_release(
    release: ClassifierRelease, method: Method | None = None
) -> dict[str, Any] | None:
    """What the inverter finds; None with nothing to compare."""
    if release.private is None or release.made is None:
        return None
    method = method or read_method(release.method, release.options)
    return _measure_release(release, method).to_dict()


def as_text(told: Mapping[str, Any]) -> str:
    """Plain text, verdict first."""
    lines = _list_headlines(told)
    for p in told["promises"]:
        lines += ["", f"{words.escape_name(p['promise'])}"]
        if p["before"] is not None and p["after"] is not None:
            either = len(told["classes"]) == 2 and not p["ceiling"]
            before, after = (_format_belief(p[k], either) for k in ("before", "after"))
            lines.append(
                "  " + say("Worst case: {change}.", change=f"{before} → {after}")
            )
        lines.append(f"  {p['note'] or p['words']}")
    lines += ["", *_say_dropped(told["dropped"], told["target"])]
    keeps = say_kept(told["keeps"])
    lines += [say("It keeps {what}.", what=keeps), translate(told["flattened"])]
    lines += [*_say_tight(told), *told["reach"]]
    if told["history"]:
        earlier = (f"  {line}" for line in list_history(told["history"]))
        lines += ["", translate(HISTORY), *earlier]
    if told.get("staircase"):
        lines += ["", *draw_chart(told["staircase"]), ""]
    if told["inverter"] is not None:
        lines += inverter_words(told["inverter"])
    if told.get("mitigations"):
        lines += ["", *format_mitigations(told["mitigations"])]
    return "\n".join(lines)


def _list_headlines(told: Mapping[str, Any]) -> list[str]:
    """The verdict in a sentence, and what no promise covers."""
    verdict = Verdict(told["verdict"])
    if verdict is Verdict.SAFE:
        kept = sum(p["verdict"] == "safe" for p in told["promises"])
        return [
            say("✓ Safe: every promise about the classifier is kept ({n}).", n=kept)
        ]
    if verdict is Verdict.NOT_COVERED:
        lead = say(
            "! Not covered: nothing was promised about inversion. It is not written."
        )
        return [lead, *(f"  {line}" for line in told["uncovered"])]
    sign = "✗" if verdict is Verdict.BREACH else "?"
    why = translate(words.TOGETHER[verdict])
    said = say(
        "{verdict}: {findings}.", verdict=words.name_verdict(verdict), findings=why
    )
    return [f"{sign} {said}"]


def _say_dropped(rows: int, target: str) -> list[str]:
    """How many rows were left out, where some were."""
    if not rows:
        return []
    return [
        say_number(
            "{n} row was left out: {column} has no value there.",
            "{n} rows were left out: {column} has no value there.",
            rows,
            column=words.escape_name(target),
        )
    ]


def inverter_words(found: Mapping[str, Any]) -> list[str]:
    """What the red team found, and what predictions changed, in sentences."""
    same = found["agreement"]
    if found["note"] == EXPECTED:
        return _say_expected(found)
    shares = {k: _say_share(found[k]) for k in ("recovered", "alone", "near")}
    said = [
        say(
            "Somebody who knows how it was made, and how many rows each "
            "class has, works out {alone} of the original counts exactly; "
            "told the exponent and what shares were divided by, {recovered}, "
            "and {near} nearly.",
            **shares,
        )
    ]
    if same < 1:
        said.append(
            say(
                "It predicts as the original does for {share} of people.",
                share=_format_percent(same),
            )
        )
    return said


def _say_expected(found: Mapping[str, Any]) -> list[str]:
    """The same under noise, by the noisy counts."""
    shares = {k: _say_share(found[k]) for k in ("recovered", "near")}
    said = [
        say(
            "Somebody who undoes everything that was made of the noisy "
            "counts is expected to have {recovered} of the original counts "
            "exactly, and {near} nearly.",
            **shares,
        )
    ]
    if found["agreement"] < 1:
        same = _format_percent(found["agreement"])
        said.append(
            say("It predicts as the noisy counts do for {share} of people.", share=same)
        )
    return said


def _say_share(share: float) -> str:
    if share in (0, 1):
        return say("all") if share else say("none")
    return _format_percent(share)


def draw_chart(stairs: Sequence[Mapping[str, Any]]) -> list[str]:
    """The staircase: how close to the prior, and how many are predicted alike."""
    wide = max(len(", ".join(s["classes"])) for s in stairs)
    lines = [
        say("The most believed class is the prediction. From this factor on, of these:")
    ]
    for s in stairs:
        full = round(BAR * s["alike"])
        told = {
            "factor": f"{s['r']:<6.4g}",
            "classes": f"{', '.join(s['classes']):{wide}}",
            "bar": f"{'█' * full}{'░' * (BAR - full)}",
            "share": f"{_format_percent(s['alike']):>6}",
        }
        lines.append(
            "  " + say("within {factor} {classes} {bar} {share} alike", **told)
        )
    return lines


def format_mitigations(lines: Sequence[Mapping[str, Any]]) -> list[str]:
    """Mitigations side by side: what each costs, and what it leaves to an inverter."""
    heads = (
        say("what is published"),
        say("predicts alike"),
        say("counts recovered"),
        say("nearly"),
    )
    rows = [
        (
            ", ".join(translate(x[k]) for k in ("name", "setting") if x[k]),
            "—" if x["agreement"] is None else _format_percent(x["agreement"]),
            "—" if x["recovered"] is None else _format_percent(x["recovered"]),
            "—" if x["near"] is None else _format_percent(x["near"]),
        )
        for x in lines
    ]
    wide = [max(len(r[i]) for r in (heads, *rows)) for i in range(4)]
    return [
        f"{a:{wide[0]}}  {b:>{wide[1]}}  {c:>{wide[2]}}  {d:>{wide[3]}}"
        for a, b, c, d in (heads, *rows)
    ]


def _format_percent(share: float) -> str:
    """A measured share, rounded down so that all is said of all only."""
    return f"{floor(share * 1000 + 1e-9) / 10:g} %"


def _format_belief(value: str, either: bool) -> str:
    """A belief; of two classes, in the likelier one where either may be learnt."""
    found = fraction(value)
    return percent(max(found, 1 - found) if either else found)


def explain(finding: Finding) -> str:
    """What somebody makes of a published classifier."""
    w, stated = finding.witness, finding.promise
    assert w is not None
    assert isinstance(stated, Promise)
    told = {
        "sure": words.format_posterior(w.belief, stated.limit),
        "believed": words.format_fact(w.column, words.format_cell(w.value)),
        "prior": percent(w.belief.prior),
    }
    if w.knows:
        facts = words.format_facts(w.knows)
        said = say(
            "Someone who has the classifier and knows that a person's "
            "{facts} can be {sure} sure that {believed}. Before, {prior}.",
            facts=facts,
            **told,
        )
    else:
        said = say(
            "Someone who has the classifier can be {sure} sure that "
            "{believed}. Before, {prior}.",
            **told,
        )
    return f"{said}{_say_knows_all(finding)}"


def _say_knows_all(finding: Finding) -> str:
    """How sure somebody is who knows all, beside somebody who takes it for less."""
    sure = finding.details.get("knows_all")
    if sure is None:
        return ""
    return " " + say(
        "Somebody who knows all attributes can be up to {sure} sure.",
        sure=percent(fraction(sure)),
    )


def _say_known(against: Bayesian) -> str:
    """Whom of those who take the numbers at face value a promise covers."""
    if against.reading != "any":
        return say(
            "someone who takes the published numbers of the classifier at "
            "face value, {knowledge}",
            knowledge=against.describe_knowledge(),
        )
    if against.knows is None:
        return say(
            "everybody who takes the published numbers of the classifier at "
            "face value, whatever they know of a person"
        )
    return say(
        "everybody who takes the published numbers of the classifier at face "
        "value, whatever they know of a person: nothing is declared about "
        "what they do not know"
    )


def _describe_reach(finding: Finding, audit: Audit) -> str:
    """Whom a promise covers, by what it says they know and take the rest for."""
    stated = finding.promise
    assert isinstance(stated, Promise)
    assert isinstance(stated.against, Bayesian)
    lead = say(
        "“{name}” covers {whom}.",
        name=words.escape_name(stated.name),
        whom=_say_known(stated.against),
    )
    beyond = []
    if stated.against.reading != "any":
        beyond = [say("someone who knows more, or takes the rest for something else")]
    beyond.append(say("what the predictions themselves tell of a person"))
    beyond.append(say("attributes other than the class"))
    if not any(f.basis is Basis.ATTACK for f in audit.findings):
        beyond.append(
            say(
                "someone who works out the original counts from how the "
                "release was made"
            )
        )
    rest = say(
        "Not covered: {others}; and someone who knows rows of the table.",
        others="; ".join(beyond),
    )
    return f"{lead} {rest}"


def _describe_inversion_reach(finding: Finding, audit: Audit) -> str:
    stated = finding.promise
    assert isinstance(stated, Promise)
    return say(
        "“{name}” limits what the best attack there is here works out of the "
        "original counts, told the exponent and what shares were divided by. "
        "It is no proof that nobody works out more.",
        name=words.escape_name(stated.name),
    )


def _explain_open(finding: Finding) -> str:
    return say(
        "No promise limits how many of the original counts can be worked out. {found}",
        found=finding.details["words"],
    )


def _suggest_cover(finding: Finding) -> list[str]:
    """A promise, or the entry that accepts it."""
    toml = '[[promise]] against = "inverter", exactly = 0.1'
    entry = {"of": "inversion", "why": "…", "who": "…"}
    accept = say("Or let somebody accept it by name:")
    return [
        say(
            "Promise something against it: {toml}; the mitigation that costs "
            "least is then found.",
            toml=toml,
        ),
        f"{accept}\n{write_sections({'accepted': [entry]}).rstrip()}",
    ]


SENTENCES = {
    "inverter": Sentences(
        reach=_describe_inversion_reach,
        explain=lambda finding: translate(finding.note),
        beyond=words.describe_groups_beyond,
        subject=mark("classifier as it is"),
    ),
    "inversion": Sentences(
        reach=lambda finding, audit: "",
        explain=_explain_open,
        beyond=words.describe_groups_beyond,
        repairs=_suggest_cover,
    ),
    "bayesian": Sentences(
        reach=_describe_reach,
        explain=explain,
        beyond=words.describe_groups_beyond,
        subject=mark("classifier as it is"),
        offers=lambda finding: (say("Or let privet classifier flatten its numbers."),),
    ),
}
"""What is said of findings about classifiers."""


# Documents --------------------------------------------------------------------------


def describe_work(
    release: ClassifierRelease, record: Mapping[str, Any]
) -> list[Section]:
    """What was made of the counts, what is kept, and what an inverter recovers."""
    card, proof = release.card, record.get("certificate") or {}
    method = None
    if release.made is None and record:  # loaded: the record has what it was made of
        kept = read_record(record)
        release, method = join_custody(release, kept), kept.method
    facts = [
        (say("Predicts"), words.escape_name(card.target)),
        (say("Classes"), ", ".join(map(words.escape_name, card.labels))),
        (say("It keeps"), say_kept(release.keeps)),
    ]
    if "exponent" in proof:
        facts.append((say("Exponent (private)"), str(proof["exponent"])))
    heads = (say("Attribute"), say("Values"))
    lines = [(words.escape_name(a.name), str(len(a.values))) for a in card.attributes]
    parts: list[Part] = [
        Facts(facts),
        Grid(heads, lines, say("What predictions are made from")),
        Listing([translate(FLATTENED), *_say_inverter(release, method)]),
    ]
    if release.made is not None:
        parts.append(_picture_amplification(release))
    return [Section("work", say("What was done, and what it cost"), parts)]


def _say_inverter(release: ClassifierRelease, method: Method | None) -> list[str]:
    found = _invert_release(release, method)
    return [] if found is None else inverter_words(found)


def _picture_amplification(release: ClassifierRelease) -> Picture:
    title = say("How much each attribute moves a belief, before and after.")
    return Picture(title, lambda: draw_value(release, "amplification"))


def write_examples(manifest: Mapping[str, Any]) -> list[Program]:
    """How recipients predict with a scorecard, in any language."""
    columns = manifest["columns"]
    names = [c for c, about in columns.items() if about.get("role") == "attribute"]
    if CARD not in [f["path"] for f in manifest["files"]] or not names:
        return []
    target = next(c for c in columns if c not in names)
    return [
        Program(PANDAS, _predict_in_pandas(names, target)),
        Program(R, _predict_in_r(names)),
        Program(SQL, _predict_in_sql(names)),
    ]


PEOPLE = "../people.csv"
"""Whom recipients predict something of; a file of their own, beside the release's
folder: what nobody vouches for must not lie in it.
"""


def _say_people() -> str:
    return say("{file}: a table of your own, with these columns.", file=PEOPLE)


def _predict_in_pandas(names: Sequence[str], target: str) -> str:
    listed = ", ".join(map(quote_text, names))
    return "\n".join(
        [
            "import pandas as pd",
            "import privet as pv",
            "",
            f"# {_say_people()}",
            f"people = pd.read_csv({quote_text(PEOPLE)}, dtype=str)",
            'model = pv.load(".").classifier()',
            f"people[{quote_text(target)}] = model.predict(people[[{listed}]])",
            "print(people)",
        ]
    )


def _predict_in_r(names: Sequence[str]) -> str:
    listed = ", ".join(map(quote_text, names))
    return "\n".join(
        [
            f"# {_say_people()}",
            f"people <- read.csv({quote_text(PEOPLE)}, check.names = FALSE,",
            '                   colClasses = "character")',
            f"card <- jsonlite::read_json({quote_text(CARD)})",
            "classes <- unlist(card$classes)",
            "start <- as.numeric(unlist(card$base[classes]))",
            "if (!is.null(card$rule)) "
            "start <- start + as.numeric(unlist(card$rule[classes]))",
            "sums <- matrix(start, nrow(people), length(classes), byrow = TRUE)",
            f"for (attribute in card$attributes[sapply(card$attributes, "
            f"function(a) a$name %in% c({listed}))])",
            "  for (value in attribute$values) {",
            "    those <- which(people[[attribute$name]] == value$value)",
            "    points <- as.numeric(unlist(value$points))",
            "    sums[those, ] <- sweep(sums[those, , drop = FALSE], 2, points, `+`)",
            "  }",
            "classes[max.col(sums, ties.method = 'first')]",
        ]
    )


def _predict_in_sql(names: Sequence[str]) -> str:
    listed = ", ".join(map(quote_name, names))
    read = f"read_json_auto({quote_value(CARD)}, maximum_object_size=268435456)"
    rule = say("Where the card has a rule, add its points to those of the base, too.")
    return "\n".join(
        [
            f"-- {_say_people()}",
            f"-- {rule}",
            f"WITH card AS (FROM {read}),",
            "entries AS (SELECT classes, unnest(attributes) AS entry FROM card),",
            "lists AS (SELECT classes, entry.name AS name, unnest(entry.values) AS of",
            "          FROM entries),",
            "points AS (SELECT name, of.value AS value, unnest(classes) AS class,",
            "           unnest(of.points) AS points FROM lists),",
            "bases AS (UNPIVOT (SELECT unnest(base) FROM card) ON COLUMNS(*)",
            "          INTO NAME class VALUE points),",
            f"people AS (SELECT row_number() OVER () AS person, {listed}",
            f"           FROM read_csv({quote_value(PEOPLE)}, all_varchar = true)),",
            f"cells AS (UNPIVOT people ON {listed} INTO NAME name VALUE value),",
            "sums AS (SELECT p.person, b.class,",
            "                b.points + coalesce(sum(o.points), 0) AS total",
            "         FROM people AS p CROSS JOIN bases AS b",
            "         LEFT JOIN cells AS c ON c.person = p.person",
            "         LEFT JOIN points AS o",
            "           ON o.name = c.name AND o.value = c.value",
            "           AND o.class = b.class",
            "         GROUP BY p.person, b.class, b.points)",
            "SELECT person, arg_max(class, total) AS prediction",
            "FROM sums GROUP BY person ORDER BY person;",
        ]
    )
