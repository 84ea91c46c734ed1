"""What a release keeps, in a compact table: what changed most comes first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from privet.languages import mark, say, say_number, translate
from privet.report.words import escape_name
from privet.values.exact import percent

HEAD = mark("What the release keeps (private; compared with the table itself):")
MOST_COLUMNS, MOST_PAIRS = 12, 5
"""Lines of the table; JSON has all."""

TITLES = (
    mark("column"),
    mark("changed"),
    "NCP",
    mark("entropy kept"),
    mark("moved"),
    mark("in order"),
)


def describe_utility(told: Mapping[str, Any] | None, note: str) -> list[str]:
    """Figures as `UtilityReport.to_dict` gives them, or why there are none."""
    if told is None:
        why = translate(note)
        return [say("What the release keeps is not told in numbers. {why}", why=why)]
    if not told["cells_changed"]:
        same = "  " + say("Every cell is as it was.")
        return [translate(HEAD), same, *_describe_accuracy(told)]
    return [
        translate(HEAD),
        *_tabulate(told),
        f"  {_describe_rows(told)}",
        *_describe_whole(told),
        *_describe_pairs(told),
        *_describe_accuracy(told),
    ]


def _tabulate(told: Mapping[str, Any]) -> list[str]:
    """A line per column that changed."""
    rows = told["rows"]
    altered = {c: a for c, a in told["columns"].items() if _is_altered(a)}
    lines = [
        tuple(map(translate, TITLES)),
        *(_list_figures(c, a, rows) for c, a in altered.items()),
    ]
    shown = lines[: MOST_COLUMNS + 1]
    told_of = [i for i in range(len(TITLES)) if {r[i] for r in shown[1:]} != {"-"}]
    shown = [tuple(line[i] for i in told_of) for line in shown]
    width = [max(map(len, cells)) for cells in zip(*shown, strict=True)]
    table = [
        "  ".join(
            [line[0].ljust(width[0])]
            + [cell.rjust(w) for cell, w in zip(line[1:], width[1:], strict=True)]
        )
        for line in shown
    ]
    more = len(lines) - len(shown)
    same = len(told["columns"]) - len(altered)
    rest = [say("{n} more changed.", n=f"{more:,}")] if more else []
    if same:
        rest.append(say_number("{n} column as before.", "{n} columns as before.", same))
    return [*(f"  {line.rstrip()}" for line in table), *(f"  {r}" for r in rest)]


def _is_altered(about: Mapping[str, Any]) -> bool:
    return bool(about["cells_changed"] or about["moved"])


def _list_figures(name: str, about: Mapping[str, Any], rows: int) -> tuple[str, ...]:
    kept = about["bits_kept"] / about["bits"] if about["bits"] else 1.0
    return (
        escape_name(name),
        percent(Fraction(about["cells_changed"], rows)),
        _show(about["ncp"]),
        _show_share(kept),
        _show(about["moved"]),
        _show(about["moved_in_order"]),
    )


def _show(number: float | None) -> str:
    return "-" if number is None else f"{number:.3f}"


def _show_share(number: float) -> str:
    return f"{100 * number:.1f} %"


def _describe_rows(told: Mapping[str, Any]) -> str:
    changed, rows = told["rows_changed"], told["rows"]
    share = percent(Fraction(changed, rows))
    counts = {"changed": f"{changed:,}", "rows": f"{rows:,}", "share": share}
    parts = [
        say_number(
            "{changed} of {rows} rows ({share}) and {n} cell changed",
            "{changed} of {rows} rows ({share}) and {n} cells changed",
            told["cells_changed"],
            **counts,
        )
    ]
    if told["rows_left_out"]:
        parts.append(
            say_number("{n} row left out", "{n} rows left out", told["rows_left_out"])
        )
    if told["ncp"] is not None:
        parts.append(f"NCP {told['ncp']:.3f}")
    return ", ".join(parts) + "."


def _describe_whole(told: Mapping[str, Any]) -> list[str]:
    lines = []
    if told["groups"] is not None:
        figures = {
            "average": f"{told['average_group']:,.1f}",
            "cost": f"{told['discernibility']:,}",
        }
        lines.append(
            "  "
            + say_number(
                "{n} group of {average} rows on average; discernibility {cost}.",
                "{n} groups of {average} rows on average; discernibility {cost}.",
                told["groups"],
                **figures,
            )
        )
    if told["bits"] is not None:
        lines.append(
            "  "
            + say(
                "Whole rows keep {kept} of {bits} bits.",
                kept=f"{told['bits_kept']:.2f}",
                bits=f"{told['bits']:.2f}",
            )
        )
    return lines


def _describe_pairs(told: Mapping[str, Any]) -> list[str]:
    moved = [p for p in told["pairs"] if p["moved"] > 0]
    lines = [f"    {_describe_pair(p)}" for p in moved[:MOST_PAIRS]]
    if lines:
        lines.insert(0, "  " + say("Pairs that moved most:"))
    if left := len(told["pairs_left_out"]):
        lines.append(
            "  "
            + say_number(
                "{n} pair not compared: too many, or too large.",
                "{n} pairs not compared: too many, or too large.",
                left,
            )
        )
    return lines


def _describe_pair(pair: Mapping[str, Any]) -> str:
    names = ", ".join(map(escape_name, pair["columns"]))
    said = [f"{names}: {pair['moved']:.3f}"]
    if None not in pair["cramers_v"]:
        said.append(say("Cramér's V {change}", change=_show_change(pair["cramers_v"])))
    if pair["correlation"] is not None:
        said.append(
            say("correlation {change}", change=_show_change(pair["correlation"]))
        )
    return ", ".join(said)


def _show_change(both: Sequence[float | None]) -> str:
    before, after = (say("none") if v is None else f"{v + 0.0:.2f}" for v in both)
    return f"{before} → {after}"


def _describe_accuracy(told: Mapping[str, Any]) -> list[str]:
    found, notes = told["accuracy"], [f"  {translate(note)}" for note in told["notes"]]
    if found is None:
        return notes
    share = {
        k: percent(Fraction(found[k])) for k in ("before", "on_originals", "majority")
    }
    share["after"] = (
        "-" if found["after"] is None else percent(Fraction(found["after"]))
    )
    name = escape_name(found["target"])
    if found["drawn"]:
        name = say(
            "{column} predicted from the rest, held out ({rows} rows drawn)",
            column=name,
            rows=f"{found['rows']:,}",
        )
    else:
        name = say("{column} predicted from the rest, held out", column=name)
    text = say(
        "{predicted}: {before} right before, {after} after,\n{on_originals} "
        "where what was learnt from the release meets original rows; "
        "{majority} without any column.",
        predicted=name,
        **share,
    )
    first, *others = text.split("\n")
    return [f"  {first}", *(f"    {line}" for line in others), *notes]
