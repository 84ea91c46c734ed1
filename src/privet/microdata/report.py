"""A release in one plain dictionary, and in words: before, after, and what it cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from privet.engine.protocol import CountQuery
from privet.findings import Finding
from privet.microdata.release import Release
from privet.report import words
from privet.report.summary import finding
from privet.values.adversaries import listed

ENDED = {
    "finished": "Every value that may be shown is shown.",
    "time": "Stopped at the time limit: more values might have been shown.",
    "callback": "Stopped on request: more values might have been shown.",
    "interrupt": "Stopped by Ctrl-C: more values might have been shown.",
    "recipe": "Made by an earlier release's recipe.",
}
MOST_NAMED = 20
"""Columns without a role that are named one by one."""

ENDED_GROUPS = {
    "finished": "No group can be split further.",
    "time": "Stopped at the time limit: groups might have been split further.",
    "callback": "Stopped on request: groups might have been split further.",
    "interrupt": "Stopped by Ctrl-C: groups might have been split further.",
}


def summary(release: Release) -> dict[str, Any]:
    """What was promised, reached, and given up."""
    return {
        "verdict": "safe" if release.safe else "undecided",
        "title": release.policy.title,
        "method": release.method,
        "ended": release.ended,
        "moves": len(release.steps),
        "columns": dict(_columns(release)),
        "without_role": without_role(release),
        "groups": _groups(release),
        "promises": list(_promises(release)),
        "together": None
        if release.together is None
        else [finding(f) for f in release.together.findings],
        "sensitive": words.SENSITIVE,
    }


def _columns(release: Release) -> Iterator[tuple[str, dict[str, Any]]]:
    """What is not shown as it was; nothing is said of the other columns."""
    recipe = release.recipe
    if recipe is None:
        return
    plain = replace(release.table, relabels={})
    tallies = [CountQuery((), c) for c in recipe.columns]
    for tally, counts in plain.count(tallies):
        texts = release.table.relabels[tally.about].texts
        shown = [texts[int(code)] for code in counts.value]
        hidden = [text == recipe.marker for text in shown]
        if not any(hidden):
            yield tally.about, {"intervals": len(set(shown)), "values": len(shown)}
            continue
        yield (
            tally.about,
            {
                "hidden_values": sum(hidden),
                "values": len(shown),
                "hidden_cells": int(counts.n[np.array(hidden)].sum()),
                "cells": int(counts.n.sum()),
            },
        )


def without_role(release: Release) -> list[str]:
    """Columns that are published although the policy says nothing about them."""
    roles, recipe = release.table.roles, release.recipe
    minded = {*roles.columns(), *roles.bins, *(recipe.columns if recipe else ())}
    names = set(release.table.schema.names) - minded
    return [c for c in release.columns() if c in names]


def _groups(release: Release) -> dict[str, Any] | None:
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
        "width": {c: round(w, 4) for c, w in partition.widths().items()},
    }


def _promises(release: Release) -> Iterator[dict[str, Any]]:
    before = release.before.findings if release.before else release.audit.findings
    for was, now in zip(before, release.audit.findings, strict=True):
        told, then = finding(now), finding(was)
        yield {
            "promise": told["promise"],
            "verdict": told["verdict"],
            "limit": told["limit"],
            "before": then["posterior"] or then["measured"],
            "after": told["posterior"] or told["measured"],
            "change": _change(was, now),
            "words": told["words"],
            "note": told["note"],
        }


def _change(was: Finding, now: Finding) -> str:
    """The worst case before and after, as people read it; empty if nobody counted."""
    before, after = words.reached(was), words.reached(now)
    return f"{before} → {after}" if before and after else ""


def as_text(told: Mapping[str, Any]) -> str:
    """Plain text, verdict first."""
    kept = sum(p["verdict"] == "safe" for p in told["promises"])
    lines = [f"✓ Safe: every promise is kept ({kept})."]
    if told["verdict"] != "safe":
        lines = ["? Undecided: together with an earlier release nothing is certain."]
    for p in told["promises"]:
        lines += ["", f"{words.plain(p['promise'])}"]
        if p["change"]:
            lines.append(f"  Worst case: {p['change']}.")
        lines.append(f"  {p['note'] or p['words']}")
    lines += [
        "",
        *(_hidden(told) if told["groups"] is None else _grouped(told["groups"])),
    ]
    if told["without_role"]:
        lines += ["", _without_role(told["without_role"])]
    for f in told["together"] or ():
        lines += ["", f"With the earlier release, {f['promise']}: {f['verdict']}."]
        lines += [f"  {f['note'] or f['words']}"]
    if told["groups"] is not None:
        return "\n".join([*lines, "", ENDED_GROUPS[told["ended"]]])
    moves = "1 move" if told["moves"] == 1 else f"{told['moves']:,} moves"
    lines += ["", f"{ENDED[told['ended']]} ({moves})"]
    return "\n".join(lines)


def _without_role(columns: list[str]) -> str:
    names = [words.plain(c) for c in columns[:MOST_NAMED]]
    if len(columns) > MOST_NAMED:
        names.append(f"{len(columns) - MOST_NAMED:,} more")
    named = listed(names)
    verb = "has" if len(columns) == 1 else "have"
    return (
        f"Published as in the table: {named}, which {verb} no role in the policy. What "
        "names people must be an identifier; what others may know of them, quasi."
    )


def _hidden(told: Mapping[str, Any]) -> list[str]:
    changed = [f"  {_column(c, a)}" for c, a in told["columns"].items()]
    return [
        "What is hidden:",
        *(changed or ["  Nothing: the table was safe as it is."]),
    ]


def _grouped(about: Mapping[str, Any]) -> list[str]:
    lines = [
        f"{about['groups']:,} groups of {about['smallest']:,} to {about['largest']:,} "
        f"people ({about['people']:,} in all)."
    ]
    if about["groups"] == 1:
        lines = [f"One group of everybody ({about['people']:,} in all)."]
    if about["suppressed"]:
        lines.append(f"{about['suppressed']:,} people in wide groups are left out.")
    if about["form"] == "buckets":
        return [*lines, "Known values are shown as they are; who has which is not."]
    lines.append("Average width of what is shown, of the whole column:")
    return lines + [
        f"  {words.plain(c)}: {100 * w:.1f} %" for c, w in about["width"].items()
    ]


def _column(name: str, about: Mapping[str, Any]) -> str:
    if "intervals" in about:
        return f"{name}: {about['values']:,} values as {about['intervals']:,} intervals"
    cells = f"{about['hidden_cells']:,} of {about['cells']:,} cells"
    return f"{name}: {about['hidden_values']:,} of {about['values']:,} values ({cells})"
