"""What the documents of a released table say of their own: what was done to it, what
that cost, and how its recipients count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from privet.languages import say, say_number, translate
from privet.microdata.charts.release_charts import draw_changed
from privet.microdata.information_loss.loss_measures import LOADED
from privet.microdata.information_loss.report import describe_utility
from privet.microdata.release import Release
from privet.microdata.report import ENDED, ENDED_GROUPS, ENDED_SEARCH
from privet.release.note import describe_choice
from privet.report.documents.document import (
    Facts,
    Grid,
    Listing,
    Paragraph,
    Part,
    Picture,
    Program,
    Section,
)
from privet.report.documents.released_columns import list_columns
from privet.report.documents.worked_examples import (
    PANDAS,
    SQL,
    R,
    keep_missing_in_r,
    list_texts,
    quote_name,
    quote_text,
    read_in_pandas,
    read_in_r,
    read_in_sql,
    write_table_examples,
)
from privet.report.vega_lite import Chart
from privet.report.words import escape_name, format_cell
from privet.values.exact import percent

Record = Mapping[str, Any]

MOST_NAMED = 40
"""Hidden values of a column that are named; the recipe has all."""


# What was done ----------------------------------------------------------------------


def describe_work(release: Release, record: Record) -> list[Section]:
    """What was hidden or blurred, and what an analyst has left."""
    if not record:
        return []
    done: list[Part] = [Facts(_list_facts(record)), *_describe_recipe(record)]
    if chosen := _describe_choice(release):
        done.append(Listing(chosen))
    if ended := _say_ended(release, record):
        done.append(Paragraph(ended))
    return [
        Section("work", say("What was done"), done),
        Section("cost", say("What it cost the analyst"), _describe_cost(record)),
    ]


def _list_facts(record: Record) -> list[tuple[str, str]]:
    people = record.get("people")
    facts = [(say("Method"), str(record["method"]))]
    # Groups that were split all at once stand as one step without a column.
    moves = [s for s in record.get("steps") or () if s.get("column", True)]
    if moves or record.get("recipe") is not None:
        facts.append((say("Moves"), f"{len(moves):,}"))
    if people:
        rows, of = f"{people['rows']:,}", f"{people['people']:,}"
        facts.append((say("Rows that became people"), f"{rows} → {of}"))
    return facts


def _describe_recipe(record: Record) -> list[Part]:
    """Which values are hidden, and where intervals end: private, and named here."""
    stated = (record.get("recipe") or {}).get("columns", {})
    if not stated:
        return []
    lines = [
        (escape_name(column), *_describe_column(how)) for column, how in stated.items()
    ]
    heads = (say("Column"), say("What is done"), say("Values"))
    return [Grid(heads, lines, say("What is hidden, or shown in intervals"))]


def _describe_column(how: Record) -> tuple[str, str]:
    if ends := how.get("cut_after"):
        return say("shown in intervals that end at"), _name_values(ends)
    if "cut_after" in how:
        return say("one interval: nothing of it is shown"), "—"
    hidden = say_number("{n} value hidden", "{n} values hidden", len(how["hide"]))
    return hidden, _name_values(how["hide"])


def _name_values(values: Sequence[str | None]) -> str:
    named = ", ".join(map(format_cell, values[:MOST_NAMED]))
    more = len(values) - MOST_NAMED
    if more <= 0:
        return named or "—"
    return say("{named} and {n} more", named=named, n=f"{more:,}")


def _describe_choice(release: Release) -> list[str]:
    chosen = release.manifest.get("chosen")
    return describe_choice(chosen) if chosen else []


def _say_ended(release: Release, record: Record) -> str:
    """Why the last move was the last; levels are no groups that could be split."""
    ended = record.get("ended", "")
    if record.get("recipe") is not None:
        return translate(ENDED.get(ended, ""))
    if "chosen" in release.manifest:
        return " ".join(map(translate, ENDED_SEARCH.get(ended, ())))
    return translate(ENDED_GROUPS.get(ended, ""))


def _describe_cost(record: Record) -> list[Part]:
    """What the release keeps of its table, in numbers."""
    told = record.get("utility")
    if told is None:
        return [Paragraph(" ".join(describe_utility(None, LOADED)))]

    def draw() -> Chart | None:
        return draw_changed(told)

    return [
        Facts(_list_figures(told)),
        Picture(say("What is kept of each column."), draw),
        _tabulate_columns(told),
        *_tabulate_pairs(told),
    ]


def _list_figures(told: Record) -> list[tuple[str, str]]:
    rows = max(told["rows"], 1)
    changed = percent(Fraction(told["rows_changed"], rows))
    facts = [
        (say("Rows changed"), f"{told['rows_changed']:,} ({changed})"),
        (say("Rows left out"), f"{told['rows_left_out']:,}"),
        (say("Cells changed"), f"{told['cells_changed']:,}"),
    ]
    if told["ncp"] is not None:
        facts.append((say("NCP (0 as it was, 1 nothing shown)"), f"{told['ncp']:.3f}"))
    if told["groups"] is not None:
        facts.append((say("Groups"), f"{told['groups']:,}"))
        facts.append((say("People in a group"), f"{told['average_group']:,.1f}"))
    if told["bits"] is not None:
        kept = f"{told['bits_kept']:.2f} / {told['bits']:.2f}"
        facts.append((say("Bits that whole rows keep"), kept))
    return facts + _list_accuracy(told)


def _list_accuracy(told: Record) -> list[tuple[str, str]]:
    """How well the target is predicted, before and after, and without any column."""
    found = told.get("accuracy")
    if not found:
        return []
    names = {
        "before": say("Predicted right, learnt from the table"),
        "after": say("Predicted right, learnt from the release"),
        "on_originals": say("Learnt from the release, tried on original rows"),
        "majority": say("Predicted right without any column"),
    }
    return [
        (name, percent(Fraction(found[key])))
        for key, name in names.items()
        if found.get(key) is not None
    ]


def _tabulate_columns(told: Record) -> Grid:
    heads = (
        say("Column"),
        say("Cells changed"),
        say("NCP"),
        say("Entropy kept"),
        say("Moved"),
    )
    lines = [
        (
            escape_name(column),
            percent(Fraction(about["cells_changed"], max(told["rows"], 1))),
            _show(about["ncp"]),
            _show_kept(about),
            _show(about["moved"]),
        )
        for column, about in told["columns"].items()
    ]
    return Grid(heads, lines, say("What the release keeps, column by column"))


def _show(number: float | None) -> str:
    return "—" if number is None else f"{number:.3f}"


def _show_kept(about: Record) -> str:
    kept = about["bits_kept"] / about["bits"] if about["bits"] else 1.0
    return f"{100 * kept:.1f} %"


MOST_PAIRS = 10


def _tabulate_pairs(told: Record) -> list[Grid]:
    """Which pairs of columns moved most."""
    pairs = [p for p in told.get("pairs", ()) if p["moved"] > 0][:MOST_PAIRS]
    if not pairs:
        return []
    heads = (say("Pair of columns"), say("Moved"))
    lines = [
        (", ".join(map(escape_name, p["columns"])), f"{p['moved']:.3f}") for p in pairs
    ]
    return [Grid(heads, lines, say("Pairs of columns that moved most"))]


# How to use it ----------------------------------------------------------------------


def write_examples(manifest: Mapping[str, Any]) -> list[Program]:
    """How recipients count; of people and values in two files, what to expect."""
    if "group" not in manifest:
        return write_table_examples(manifest)
    files = list_columns(manifest)
    people, values = list(files)
    names = [c.name for c in files[people] if c.about.get("role") == "quasi"]
    about = [c.name for c in files[values] if c.about.get("role") == "sensitive"]
    if not names or not about:
        return []
    told = (manifest["group"], manifest["count"], names[0], about[0])
    weight = manifest.get("weight", "")
    named, held = (
        list_texts([c for c in files[path] if c.name in told])
        for path in (people, values)
    )
    written = (
        (PANDAS, read_in_pandas, _match_in_pandas),
        (R, read_in_r, _match_in_r),
        (SQL, read_in_sql, _match_in_sql),
    )
    return [
        Program(name, match(read(people, named), read(values, held), told, weight))
        for name, read, match in written
    ]


def _explain_match() -> str:
    return say("Everybody of a group has each of its values with the same chance.")


def _match_in_pandas(
    people: str, values: str, told: tuple[str, ...], weight: str
) -> str:
    group, count, by, about = map(quote_text, told)
    number = f" * both[{quote_text(weight)}]" if weight else ""
    kept = [quote_text(c) for c in dict.fromkeys((told[0], told[2], weight)) if c]
    return "\n".join(
        [
            "import pandas as pd",
            "",
            f"people = {people}[[{', '.join(kept)}]]",
            f"values = {values}",
            f"# {_explain_match()}",
            f'values["share"] = values[{count}] / '
            f'values.groupby({group})[{count}].transform("sum")',
            f'both = people.merge(values[[{group}, {about}, "share"]], on={group})',
            f'both["expected"] = both["share"]{number}',
            f'counts = both.groupby([{by}, {about}], dropna=False)["expected"]',
            "print(counts.sum())",
        ]
    )


def _match_in_r(people: str, values: str, told: tuple[str, ...], weight: str) -> str:
    group, count, by, about = map(quote_text, told)
    number = f" * both[[{quote_text(weight)}]]" if weight else ""
    kept = [quote_text(c) for c in dict.fromkeys((told[0], told[2], weight)) if c]
    return "\n".join(
        [
            f"people <- {people}[c({', '.join(kept)})]",
            f"values <- {values}",
            f"# {_explain_match()}",
            f"values$share <- values[[{count}]] / "
            f"ave(values[[{count}]], values[[{group}]], FUN = sum)",
            f"both <- merge(people, values[c({group}, {about}, "
            f'"share")], by = {group})',
            f"expected <- both$share{number}",
            f"tapply(expected, {keep_missing_in_r(f'both[c({by}, {about})]')}, sum)",
        ]
    )


def _match_in_sql(people: str, values: str, told: tuple[str, ...], weight: str) -> str:
    group, count, by, about = map(quote_name, told)
    number = f" * p.{quote_name(weight)}" if weight else ""
    return "\n".join(
        [
            f"-- {_explain_match()}",
            f"SELECT p.{by}, v.{about}, sum(v.share{number}) AS expected",
            f"FROM {people} AS p",
            f"JOIN (SELECT {group}, {about},",
            f"             {count} / sum({count}) OVER (PARTITION BY {group}) AS share",
            f"      FROM {values}) AS v USING ({group})",
            "GROUP BY 1, 2",
            "ORDER BY 1, 2;",
        ]
    )
