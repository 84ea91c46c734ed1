"""What hiding values cannot keep, since everything that may be hidden is not enough.

Wang, Fung, Yu 2007, §3.3 (Theorem 3.3).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction

from privet.engine.protocol import Run
from privet.errors import Infeasible
from privet.microdata.privacy_models.models import find_model
from privet.microdata.release import Release, find_reached, list_broken
from privet.microdata.suppression.leading_rules import Stated, is_led_by, list_known
from privet.microdata.suppression.templates import DisclosureProblem, Template
from privet.policy import Measure, Promise
from privet.policy.acceptance import Uncovered
from privet.table import Table
from privet.values.beliefs import Belief
from privet.values.exact import percent
from privet.values.windows import Within

LEAVE_OUT = "Leave the sensitive column out, or merge its values."
MERGE = "Merge values of the sensitive column."


def refuse_infeasible(setting: DisclosureProblem) -> None:
    """Raise where even the most suppressed table breaks a promise (Theorem 3.3)."""
    broken = []
    for cube, rules, promises in zip(
        setting.cubes, setting.rules, setting.promises, strict=True
    ):
        for r, rule in enumerate(rules):
            floor = cube.confidences[r]
            bad = [p for p in promises[r] if not p.limit.holds(Belief(0, floor))]
            broken += [(p, floor, rule, cube.worst_group(r)) for p in bad]
    if not broken:
        return
    worst: dict[str, tuple[Promise, Fraction, str]] = {}
    hidden = {a.domain.name for a in setting.attributes}
    telling: dict[str, list[str]] = {}
    for promise, floor, rule, (part, whole) in broken:
        if promise.name not in worst or floor > worst[promise.name][1]:
            case = _describe_case(promise, rule)
            words = f"in {part} of {whole} rows ({percent(floor)}) {case}"
            worst[promise.name] = promise, floor, words
            telling[promise.name] = [c for c in rule.qid if c not in hidden]
    promise, floor, _ = max(worst.values(), key=lambda w: w[1])
    lines = [
        f"Promise {p.name!r} cannot be kept by hiding values: even with everything "
        f"hidden that may be, {words}; the least limit that can be kept is {f}."
        for p, f, words in worst.values()
    ]
    raise Infeasible(
        "\n".join(lines),
        promise=promise,
        best=floor,
        advice=[
            *_hide_telling(telling[promise.name]),
            *([f"Raise the limit to at least {floor}."] if floor < 1 else []),
            LEAVE_OUT,
        ],
    )


def _hide_telling(columns: Sequence[str]) -> Iterator[str]:
    """What to do about columns that are known, and shown as they are."""
    if not columns:
        return
    it, are = ("it", "it is") if len(columns) == 1 else ("them", "they are")
    yield (
        f"Let values of {' and '.join(map(repr, columns))} be hidden, too, as those "
        f"of quasi columns that are not kept, or drop {it}: {are} shown and taken as "
        "known."
    )


def _describe_case(promise: Promise, rule: Template) -> str:
    """What is too frequent; a value is named only if the promise names it."""
    if isinstance(rule.value, Within):
        return f"{rule.column} lies in one window of {rule.value}"
    if isinstance(promise.about, Mapping) and rule.column in promise.about:
        value = promise.about[rule.column]
        if isinstance(value, str) and value != "*":
            return f"{rule.column} is {value}"
    return f"{rule.column} has one value"


def refuse_unreachable(
    release: Release, table: Table, fixed: Collection[str], run: Run
) -> None:
    """Raise where everything that may be hidden is, and something is broken still."""
    broken = [
        (f.promise, f)
        for f in list_broken(release)
        # A note says that columns which are not hidden make groups finer.
        if not (isinstance(f.promise, Uncovered) or f.note)
        and is_led_by(f.promise, table)
    ]
    if not broken:
        return
    asked, finding = broken[0]
    columns = [c for c in list_known(table, asked, fixed) if c not in fixed]
    shown = release._table.domains(columns, run)
    if any(len(domain) > 1 for domain in shown.values()):
        return
    reached, told = find_reached(finding)
    raise Infeasible(
        f"{type(asked).__name__} {asked.name!r} cannot be kept by hiding values: even "
        f"with everything hidden that may be, it comes to {told}.",
        promise=asked,
        best=reached,
        advice=list(_ask_for_less(asked, reached)),
    )


def _ask_for_less(asked: Stated, reached: Fraction | None) -> Iterator[str]:
    """What to do where nothing that may be hidden is left."""
    if isinstance(asked, Measure):
        yield "Ask for less."
        merge = find_model(asked).sensitive
        yield MERGE if merge else "Collect more rows."
        return
    if reached is not None and reached < 1:
        yield f"Raise the limit to at least {reached}."
    yield LEAVE_OUT
    yield "Let the insider know less."
