"""Worked examples for who receives a table: in pandas, R and SQL, with its own names.

SQL is that of DuckDB, which reads the files as they are. Each example counts people by
two columns, and does what must be done first about cells that show no single value.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from privet.languages import say
from privet.report.documents.document import Program
from privet.report.documents.released_columns import WrittenColumn, list_columns
from privet.report.words import escape_name

PANDAS, R, SQL = "pandas", "R", "SQL"
"""What examples are written in."""

SEVERAL = r"^([\[{*]|not \{|missing or )"
"""Cells that stand for several values: [a, b], {a, b}, not {a, b}, *, missing or …"""


@dataclass(frozen=True)
class Counted:
    """What an example counts: two columns of a file."""

    path: str
    """The file."""
    by: WrittenColumn
    """The column whose values are told apart."""
    about: str
    """The other one."""
    weight: str = ""
    """How many people a row stands for; empty: one."""


# Names in each language -------------------------------------------------------------


def quote_text(text: str) -> str:
    r"""A text as Python and R write it.

    >>> print(quote_text('a"b'))
    "a\"b"
    """
    return json.dumps(text, ensure_ascii=False)


def quote_name(name: str) -> str:
    """A name as SQL writes it.

    >>> quote_name('a"b')
    '"a""b"'
    """
    return '"' + name.replace('"', '""') + '"'


def quote_value(text: str) -> str:
    """A text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"


def read_in_pandas(path: str) -> str:
    """What reads a file in pandas."""
    readers = {
        ".parquet": "pd.read_parquet({})",
        ".csv": 'pd.read_csv({}, keep_default_na=False, na_values=[""])',
        ".xlsx": "pd.read_excel({})",
        ".sav": "pd.read_spss({})",
        ".dta": "pd.read_stata({})",
    }
    return readers[PurePath(path).suffix].format(quote_text(path))


def read_in_r(path: str) -> str:
    """What reads a file in R."""
    readers = {
        ".parquet": "arrow::read_parquet({})",
        ".csv": 'read.csv({}, check.names = FALSE, na.strings = "")',
        ".xlsx": "readxl::read_excel({})",
        ".sav": "haven::read_sav({})",
        ".dta": "haven::read_dta({})",
    }
    frame = readers[PurePath(path).suffix].format(quote_text(path))
    return f"as.data.frame({frame})"


def read_in_sql(path: str) -> str:
    """What reads a file in DuckDB; SPSS and Stata files must be saved otherwise."""
    suffix = PurePath(path).suffix
    readers = {".parquet": "read_parquet({})", ".csv": "read_csv({})"}
    if suffix in (".sav", ".dta"):
        path, suffix = f"{PurePath(path).stem}.parquet", ".parquet"
    return readers.get(suffix, "read_xlsx({})").format(quote_value(path))


# Tables -----------------------------------------------------------------------------


def choose_columns(manifest: Mapping[str, Any]) -> Counted | None:
    """Two columns worth counting: one that is not shown as it was, and a value."""
    for path, columns in list_columns(manifest).items():
        weights = [c.name for c in columns if c.about.get("role") == "weight"]
        plain = [
            c
            for c in columns
            if c.about.get("role") not in ("weight", "group") and c.name == c.column
        ]
        if len(plain) < 2:
            continue
        about = _find_value(plain)
        others = [c for c in plain if c is not about]
        by = next((c for c in others if "shown_as" in c.about), others[0])
        return Counted(path, by, about.name, weights[0] if weights else "")
    return None


def _find_value(columns: Sequence[WrittenColumn]) -> WrittenColumn:
    """What is counted: what must not be learnt, or else what is predicted."""
    for role in ("sensitive", "target"):
        for column in columns:
            if column.about.get("role") == role or column.about.get(role):
                return column
    return columns[-1]


def write_table_examples(manifest: Mapping[str, Any]) -> list[Program]:
    """How to count people by two columns of a released table."""
    chosen = choose_columns(manifest)
    if chosen is None:
        return []
    escaped = "escaped" in manifest
    return [
        Program(PANDAS, "\n".join(_write_pandas(chosen, escaped=escaped))),
        Program(R, "\n".join(_write_r(chosen, escaped=escaped))),
        Program(SQL, "\n".join(_write_sql(chosen, escaped=escaped))),
    ]


def _explain_left_out(by: WrittenColumn) -> str:
    """What must be known of cells that are left out."""
    if by.marker:
        return say(
            "{sign} stands for any hidden value of {column}; it is no value itself.",
            sign=escape_name(by.marker),
            column=escape_name(by.name),
        )
    if by.about.get("shown_as") in ("sets", "ranges"):
        return say(
            "Cells such as {{a, b}} stand for one of several values; count those that "
            "show one value, or count the cells as they are."
        )
    return ""


def _leaves_out(by: WrittenColumn) -> bool:
    return bool(_explain_left_out(by))


def _write_pandas(chosen: Counted, *, escaped: bool) -> list[str]:
    by, about = quote_text(chosen.by.name), quote_text(chosen.about)
    lines = ["import pandas as pd", "", f"table = {read_in_pandas(chosen.path)}"]
    if escaped:
        lines += [f"# {_say_escaped()}"]
        lines += [
            f'table[{c}] = table[{c}].astype(str).str.replace("^\'", "", regex=True)'
            for c in (by, about)
        ]
    if _leaves_out(chosen.by):
        lines.append(f"# {_explain_left_out(chosen.by)}")
        kept = f"table[{by}] != {quote_text(chosen.by.marker)}"
        if not chosen.by.marker:
            kept = f'~table[{by}].astype(str).str.match(r"{SEVERAL}")'
        lines.append(f"table = table[{kept}]")
    count = ".size()"
    if chosen.weight:
        count = f"[{quote_text(chosen.weight)}].sum()"
    return [*lines, f"print(table.groupby([{by}, {about}]){count})"]


def _say_escaped() -> str:
    return say("Text that a spreadsheet would run has a ' in front; take one off.")


def _write_r(chosen: Counted, *, escaped: bool) -> list[str]:
    by, about = quote_text(chosen.by.name), quote_text(chosen.about)
    lines = [f"table <- {read_in_r(chosen.path)}"]
    if escaped:
        lines += [f"# {_say_escaped()}"]
        lines += [f'table[[{c}]] <- sub("^\'", "", table[[{c}]])' for c in (by, about)]
    if _leaves_out(chosen.by):
        lines.append(f"# {_explain_left_out(chosen.by)}")
        kept = f"table[[{by}]] != {quote_text(chosen.by.marker)}"
        if not chosen.by.marker:
            kept = f"!grepl({quote_text(SEVERAL)}, table[[{by}]], perl = TRUE)"
        lines.append(f"table <- table[which({kept}), ]")
    number = f"table[[{quote_text(chosen.weight)}]]" if chosen.weight else "1"
    return [
        *lines,
        f"table$people <- {number}",
        f'aggregate(table["people"], by = table[c({by}, {about})], FUN = sum)',
    ]


def _write_sql(chosen: Counted, *, escaped: bool) -> list[str]:
    by, about = quote_name(chosen.by.name), quote_name(chosen.about)
    shown = by, about
    lines = []
    if PurePath(chosen.path).suffix in (".sav", ".dta"):
        lines.append(f"-- {say('Save the file as Parquet first, with pandas or R.')}")
    if escaped:
        lines.append(f"-- {_say_escaped()}")
        pattern = "regexp_replace(CAST({0} AS VARCHAR), '^''', '') AS {0}"
        shown = pattern.format(by), pattern.format(about)
    number = f"sum({quote_name(chosen.weight)})" if chosen.weight else "count(*)"
    if _leaves_out(chosen.by):
        lines.append(f"-- {_explain_left_out(chosen.by)}")
    lines += [
        f"SELECT {', '.join(shown)}, {number} AS people",
        f"FROM {read_in_sql(chosen.path)} AS t",
    ]
    if chosen.by.marker:
        lines.append(f"WHERE t.{by} <> {quote_value(chosen.by.marker)}")
    elif _leaves_out(chosen.by):
        test = f"regexp_matches(CAST(t.{by} AS VARCHAR), {quote_value(SEVERAL)})"
        lines.append(f"WHERE NOT {test}")
    return [*lines, "GROUP BY 1, 2", "ORDER BY 1, 2;"]


# Estimates from disguised answers ----------------------------------------------------


def write_estimates(
    path: str, column: str, labels: Sequence[str], weights: Sequence[Sequence[float]]
) -> list[Program]:
    """The mean of the weights of all reports is the estimate; `weights[x][y]`."""
    why = say("Each report weighs so much for each true value; the mean is unbiased.")
    told = (
        (PANDAS, _estimate_in_pandas),
        (R, _estimate_in_r),
        (SQL, _estimate_in_sql),
    )
    return [
        Program(name, "\n".join(write(path, column, labels, weights, why)))
        for name, write in told
    ]


def _estimate_in_pandas(
    path: str,
    column: str,
    labels: Sequence[str],
    weights: Sequence[Sequence[float]],
    why: str,
) -> list[str]:
    lines = [
        f"    {quote_text(true)}: {{"
        + ", ".join(
            f"{quote_text(seen)}: {w:.10g}" for seen, w in zip(labels, row, strict=True)
        )
        + "},"
        for true, row in zip(labels, weights, strict=True)
    ]
    reports = f"table[{quote_text(column)}].dropna().astype(str)"
    return [
        "import pandas as pd",
        "",
        f"table = {read_in_pandas(path)}",
        f"# {why}",
        "weights = {",
        *lines,
        "}",
        f"reports = {reports}",
        "for value, weight in weights.items():",
        "    print(value, reports.map(weight).mean())",
    ]


def _estimate_in_r(
    path: str,
    column: str,
    labels: Sequence[str],
    weights: Sequence[Sequence[float]],
    why: str,
) -> list[str]:
    named = ", ".join(map(quote_text, labels))
    cells = ", ".join(f"{w:.10g}" for row in weights for w in row)
    return [
        f"table <- {read_in_r(path)}",
        f"# {why}",
        f"values <- c({named})",
        f"weights <- matrix(c({cells}), ncol = length(values), byrow = TRUE)",
        f"reports <- table[[{quote_text(column)}]]",
        "seen <- match(as.character(reports[!is.na(reports)]), values)",
        "setNames(rowMeans(weights[, seen, drop = FALSE]), values)",
    ]


def _estimate_in_sql(
    path: str,
    column: str,
    labels: Sequence[str],
    weights: Sequence[Sequence[float]],
    why: str,
) -> list[str]:
    shares = [
        f"  avg(CASE CAST({quote_name(column)} AS VARCHAR) "
        + " ".join(
            f"WHEN {quote_value(seen)} THEN {w:.10g}"
            for seen, w in zip(labels, row, strict=True)
        )
        + f" END) AS {quote_name(true)}"
        for true, row in zip(labels, weights, strict=True)
    ]
    return [f"-- {why}", "SELECT", ",\n".join(shares), f"FROM {read_in_sql(path)};"]
