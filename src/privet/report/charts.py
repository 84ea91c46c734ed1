"""What there is to be seen of audits, findings, policies and ledgers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from html import escape
from typing import Any, Protocol

from privet.display import Exhibit
from privet.findings import Audit
from privet.languages import mark, say
from privet.policy import Measure, Policy, Promise
from privet.report import render
from privet.report.belief_charts import (
    draw_beliefs,
    draw_counts,
    draw_finding,
    draw_people,
    draw_promises,
    find_level,
)
from privet.report.chart_style import (
    GREEN,
    ORANGE,
    SERIES,
    SHARES,
    STEP,
    WIDTH,
    as_number,
    colour,
    finish,
    list_in_order,
    number_alike,
    percent_axis,
    shorten,
    start,
    take_first,
)
from privet.report.vega_lite import Chart, field, layer
from privet.report.words import escape_name
from privet.values.exact import percent

# Audits and findings ----------------------------------------------------------------


def list_findings(findings: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A line per finding, for a frame."""
    return [
        {
            "promise": f["promise"],
            "verdict": f["verdict"],
            "basis": f["basis"],
            "prior": as_number(f["prior"]),
            "posterior": as_number(f["posterior"]),
            "limit": as_number(find_level(f["limit"], f["prior"], f["posterior"])),
            "measured": as_number(f["measured"]),
            "groups_above": f["groups_above"],
            "people_above": f["people_above"],
        }
        for f in findings
    ]


def draw_audit(audit: Audit) -> Chart | None:
    """The promises of an audit, the one nearest to breaking first."""
    return draw_promises(audit.to_dict()["findings"])


class JudgedTwice(Protocol):
    """A release of any kind that was judged before and after."""

    @property
    def audit(self) -> Audit:
        """What it comes to."""

    @property
    def before(self) -> Audit | None:
        """What the table came to; None: not known."""


def list_promises(release: JudgedTwice, *figures: str) -> list[dict[str, Any]]:
    """Each promise of a release, and what it came to before; without its witness."""
    before = _index_before(release)
    told = ("promise", "verdict", "basis", "limit", "prior", "posterior", *figures)
    return [
        {
            **{k: f[k] for k in told},
            "before": before.get(f["promise"], {}).get("posterior"),
        }
        for f in release.audit.to_dict()["findings"]
    ]


def _index_before(release: JudgedTwice) -> dict[str, Any]:
    if release.before is None:
        return {}
    return {f["promise"]: f for f in release.before.to_dict()["findings"]}


def draw_before_and_after(release: JudgedTwice) -> Chart | None:
    """Each promise of a release before and after, beside its limit."""
    return draw_promises(
        release.audit.to_dict()["findings"],
        _index_before(release),
        say("How sure somebody could be, before and after"),
    )


def tell_exposure(exposure: Any) -> dict[str, Any]:
    """Exposure as a dictionary, with what each limit is about, as charts name it."""
    found: dict[str, Any] = exposure.to_dict()
    name_limits = getattr(exposure, "name_limits", None)
    for column, names in (name_limits() if name_limits else {}).items():
        limits = found["columns"][column]["beyond"]
        for limit, name in zip(limits, names, strict=True):
            limit["about"] = name
    return found


def draw_exposure(exposure: Mapping[str, Any]) -> Chart | None:
    """Of how many people something is told, whether it was promised or not."""
    rows = list(_list_exposed(exposure))
    if not rows:
        return None
    first, more = take_first(rows)
    names = number_alike([r["what"] for r in first])
    told = [{**r, "what": n} for r, n in zip(first, names, strict=True)]
    people = exposure["people"]
    y = field("what:N", **list_in_order(names), axis={"labelLimit": 340})
    x = field("share:Q", axis=percent_axis(say("share of people")), scale=SHARES)
    bars = start(told, width=WIDTH - 60, height={"step": STEP})
    return finish(
        layer(
            bars.mark("bar").encode(x=x, y=y, tooltip=["what:N", "people:Q"]),
            bars.mark("text", align="left", dx=4).encode(x=x, y=y, text="said:N"),
        ),
        say("What is told, promised or not"),
        say(
            "Of {n} people, for somebody who knows {known}.",
            n=f"{people:,}",
            known=_join_known(exposure),
        ),
        more,
    )


def _join_known(exposure: Mapping[str, Any]) -> str:
    names = [shorten(c, 20) for c in exposure["known"]]
    some, more = take_first(names, 5)
    return ", ".join([*some, *([more] if more else [])]) or say("the table alone")


def _list_exposed(exposure: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    people = exposure["people"]
    if not people:
        return
    yield _tell(say("unique"), exposure["unique"], people)
    for column, told in exposure["columns"].items():
        name = shorten(column, 24)
        yield _tell(say("{column}: certain", column=name), told["certain"], people)
        for beyond in told["beyond"]:
            strict = "below" in beyond["limit"]
            level = percent(Fraction(next(iter(beyond["limit"].values()))))
            sentence = AT_LEAST if strict else MORE_THAN
            about = shorten(beyond.get("about") or name, LONGEST_LIMIT)
            sure = say(sentence, column=about, level=level)
            yield _tell(sure, beyond["people"], people)


LONGEST_LIMIT = 34
"""Letters of what a limit is about."""

AT_LEAST = mark("{column}: at least {level} sure")
MORE_THAN = mark("{column}: more than {level} sure")
"""How sure somebody is beyond a limit."""


def _tell(what: str, n: int, people: int) -> dict[str, Any]:
    return {"what": what, "people": n, "share": n / people, "said": f"{n:,}"}


def list_levels(exposure: Mapping[str, Any], column: str) -> list[Fraction]:
    """The limits a policy sets for every value of a column, from `tell_exposure`.

    How sure somebody is of whatever value people have is no matter of a limit that is
    about one of them.
    """
    every = (b for b in exposure["columns"][column]["beyond"] if not b.get("about"))
    limits = (b["limit"] for b in every)
    found = {Fraction(next(iter(limit.values()))) for limit in limits}
    return sorted(level for level in found if level < 1)


def draw_own_beliefs(exposure: Mapping[str, Any], column: str | None) -> Chart | None:
    """Of how many people somebody is how sure, from what was counted already."""
    columns = exposure["columns"]
    name = column or next(iter(columns), "")
    if name not in columns:
        return None
    bins = columns[name]["own_belief"]
    return draw_beliefs({say("all"): bins}, list_levels(exposure, name), column=name)


def _read_exposure(audit: Audit) -> dict[str, Any] | None:
    told = audit.exposure
    found = None if told is None else tell_exposure(told)
    return found if found and "columns" in found else None


def _draw_audit_exposure(audit: Audit) -> Chart | None:
    told = _read_exposure(audit)
    return None if told is None else draw_exposure(told)


def _draw_audit_beliefs(audit: Audit, column: str | None = None) -> Chart | None:
    told = _read_exposure(audit)
    return None if told is None else draw_own_beliefs(told, column)


# Policies ---------------------------------------------------------------------------


def summarise_policy(policy: Policy) -> dict[str, Any]:
    """A policy as a plain dictionary; what its file says, in other words."""
    roles = policy.roles
    return {
        "title": policy.title,
        "columns": {
            "identifier": list(roles.identifier),
            "quasi": list(roles.quasi),
            "sensitive": list(roles.sensitive),
            "other": list(roles.other),
            "drop": list(roles.drop),
            "target": roles.target,
            "unit": roles.unit,
            "weight": roles.weight,
        },
        "promises": [p.to_dict() for p in policy.promises],
        "measures": [m.to_dict() for m in policy.measures],
        "accepted": [a.to_public() for a in policy.accepted],
        "views": [v.to_dict() for v in policy.views],
        "toml": policy.to_toml(),
    }


def list_promised(policy: Policy) -> list[dict[str, Any]]:
    """A line per promise and measure."""
    from privet.report.words import describe_promise

    stated: list[Promise | Measure] = [*policy.promises, *policy.measures]
    return [{"name": p.name, "promised": describe_promise(p)} for p in stated]


def draw_policy(policy: Policy) -> Chart | None:
    """How sure each promise lets somebody become."""
    told = [
        (p.name, find_level(p.limit.to_dict(), None), p.against.kind)
        for p in policy.promises
    ]
    levels = [(n, level, kind) for n, level, kind in told if level is not None]
    if not levels:
        return None
    first, more = take_first(levels)
    names = number_alike([shorten(n) for n, _, _ in first])
    rows = [
        {"promise": name, "sure": float(level), "against": kind, "said": percent(level)}
        for name, (_, level, kind) in zip(names, first, strict=True)
    ]
    bars = start(rows, width=WIDTH - 60, height={"step": STEP})
    y = field("promise:N", **list_in_order(names), axis={"labelLimit": 300})
    x = field(
        "sure:Q",
        axis=percent_axis(say("how sure somebody may be, at the most")),
        scale=SHARES,
    )
    return finish(
        layer(
            bars.mark("bar", color=GREEN, height={"band": 0.5}).encode(x=x, y=y),
            bars.mark("tick", color=ORANGE, thickness=3).encode(x=x, y=y),
            bars.mark("text", align="left", dx=6).encode(x=x, y=y, text="said:N"),
        ),
        say("What is promised"),
        more,
    )


def _write_policy(policy: Policy, picture: str) -> str:
    title = escape(escape_name(policy.title or say("Policy")))
    heads = (say("Name"), say("Promised"))
    lines = [(p["name"], p["promised"]) for p in list_promised(policy)]
    return (
        f"<div><p><strong>{title}</strong></p>"
        f"{render.table_as_html(heads, lines)}{picture}</div>"
    )


# Ledgers ----------------------------------------------------------------------------


def list_releases(ledger: Any) -> list[dict[str, Any]]:
    """A line per release."""
    return [
        {k: v for k, v in entry.items() if k != "custody"}
        for entry in ledger.to_dict()["releases"]
    ]


def name_kind(kind: str) -> str:
    """What was released, in a word."""
    return say(KINDS[kind]) if kind in KINDS else kind


KINDS = {
    "table": mark("table"),
    "groups": mark("groups"),
    "views": mark("views"),
    "classifier": mark("classifier"),
    "responses": mark("responses"),
}
"""Kinds of releases in words."""


def draw_ledger(ledger: Any) -> Chart | None:
    """Which release shows which column."""
    entries = ledger.to_dict()["releases"]
    shown, more = take_first(entries)
    if not shown:
        return None
    columns, left = take_first(
        list(dict.fromkeys(c for e in shown for c in e["columns"])), 30
    )
    labels = dict(
        zip(columns, number_alike([shorten(c, 24) for c in columns]), strict=True)
    )
    titles = [shorten(e["title"] or name_kind(e["kind"]), 24) for e in shown]
    names = [
        f"{e['number']}. {title} ({e['made'][:10]})"
        for e, title in zip(shown, titles, strict=True)
    ]
    rows = [
        {"release": name, "column": labels[c], "kind": name_kind(e["kind"])}
        for name, e in zip(names, shown, strict=True)
        for c in e["columns"]
        if c in labels
    ]
    kinds = list(dict.fromkeys(r["kind"] for r in rows))
    colours = dict(zip(kinds, SERIES, strict=False))
    marks = start(rows, width={"step": STEP + 6}, height={"step": STEP})
    return finish(
        marks.mark("square", size=170, opacity=1).encode(
            x=field(
                "column:N",
                **list_in_order(labels.values()),
                axis={"labelAngle": -40, "orient": "top", "grid": True},
            ),
            y=field("release:N", **list_in_order(names)),
            color=field("kind:N", **colour(colours)),
        ),
        say("Which release shows which column"),
        more,
        say("columns: {more}", more=left) if left else "",
    )


def _write_ledger(ledger: Any, picture: str) -> str:
    heads = (
        say("Number"),
        say("Title"),
        say("Kind"),
        say("Made"),
        say("People"),
        say("Columns"),
    )
    lines = [
        (
            e["number"],
            e["title"],
            name_kind(e["kind"]),
            e["made"][:10],
            "?" if e["people"] is None else f"{e['people']:,}",
            ", ".join(e["columns"]),
        )
        for e in ledger.to_dict()["releases"]
    ]
    return (
        f"<div><p><strong>{escape(repr(ledger))}</strong></p>"
        f"{render.table_as_html(heads, lines)}{picture}</div>"
    )


EXHIBITS = {
    "Audit": Exhibit(
        page=lambda a, picture: render.as_html(a.to_dict(), picture),
        lines=lambda a: list_findings(a.to_dict()["findings"]),
        charts={
            "promises": draw_audit,
            "exposure": _draw_audit_exposure,
            "beliefs": _draw_audit_beliefs,
            "people": lambda a: draw_people(a.to_dict()["findings"]),
        },
        picture=draw_audit,
    ),
    "Finding": Exhibit(
        page=lambda f, picture: render.finding_as_html(f.to_dict(), picture),
        lines=lambda f: list_findings([f.to_dict()]),
        charts={
            "belief": lambda f: draw_finding(f.to_dict()),
            "counts": lambda f: draw_counts(f.to_dict()),
        },
        picture=lambda f: draw_finding(f.to_dict()),
    ),
    "Policy": Exhibit(
        page=_write_policy,
        lines=list_promised,
        charts={"limits": draw_policy},
        picture=draw_policy,
    ),
    "Ledger": Exhibit(
        page=_write_ledger,
        lines=list_releases,
        charts={"releases": draw_ledger},
        picture=draw_ledger,
    ),
}
"""What shows itself here."""
