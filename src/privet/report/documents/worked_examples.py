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
    about: WrittenColumn
    """The other one."""
    weight: str = ""
    """How many people a row stands for; empty: one."""

    @property
    def texts(self) -> list[str]:
        """Those of the two that hold text."""
        return list_texts((self.by, self.about))


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


def list_texts(columns: Sequence[WrittenColumn]) -> list[str]:
    """Columns of text; a reader of text files must not take 01234 for a number."""
    return [c.name for c in columns if c.kind == "text"]


EMPTY = 'keep_default_na=False, na_values=[""]'
"""What makes pandas take nothing but empty cells for missing, not the text NA."""


def read_in_pandas(path: str, texts: Sequence[str]) -> str:
    """What reads a file in pandas.

    >>> print(read_in_pandas("table.csv", ["zip"]))
    pd.read_csv("table.csv", keep_default_na=False, na_values=[""], dtype={"zip": str})
    """
    types = ", ".join(f"{quote_text(name)}: str" for name in texts)
    told = f", dtype={{{types}}}" if texts else ""
    file = quote_text(path)
    readers = {
        ".parquet": f"pd.read_parquet({file})",
        ".csv": f"pd.read_csv({file}, {EMPTY}{told})",
        ".xlsx": f"pd.read_excel({file}, {EMPTY}{told})",
        ".sav": f"pd.read_spss({file})",
        ".dta": f"pd.read_stata({file})",
    }
    return readers[PurePath(path).suffix]


def read_in_r(path: str, texts: Sequence[str]) -> str:
    """What reads a file in R.

    >>> print(read_in_r("table.parquet", ["zip"]))
    as.data.frame(arrow::read_parquet("table.parquet"))
    """
    types = ", ".join(f'{quote_text(name)} = "character"' for name in texts)
    told = f", colClasses = c({types})" if texts else ""
    file = quote_text(path)
    readers = {
        ".parquet": f"arrow::read_parquet({file})",
        ".csv": f'read.csv({file}, check.names = FALSE, na.strings = ""{told})',
        ".xlsx": f"readxl::read_excel({file})",
        ".sav": f"haven::read_sav({file})",
        ".dta": f"haven::read_dta({file})",
    }
    return f"as.data.frame({readers[PurePath(path).suffix]})"


def read_in_sql(path: str, texts: Sequence[str]) -> str:
    """What reads a file in DuckDB; SPSS and Stata files must be saved otherwise.

    >>> print(read_in_sql("table.csv", ["zip"]))
    read_csv('table.csv', types = {'zip': 'VARCHAR'})
    """
    suffix = PurePath(path).suffix
    types = ", ".join(f"{quote_value(name)}: 'VARCHAR'" for name in texts)
    told = f", types = {{{types}}}" if texts else ""
    if suffix in (".sav", ".dta"):
        path, suffix = f"{PurePath(path).stem}.parquet", ".parquet"
    file = quote_value(path)
    readers = {
        ".parquet": f"read_parquet({file})",
        ".csv": f"read_csv({file}{told})",
    }
    return readers.get(suffix, f"read_xlsx({file})")


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
        by = _find_changed([c for c in plain if c is not about])
        return Counted(path, by, about, weights[0] if weights else "")
    return None


def _find_changed(columns: Sequence[WrittenColumn]) -> WrittenColumn:
    """What is told apart: of what is not shown as it was, what hides the fewest."""
    changed = [c for c in columns if "shown_as" in c.about]
    return min(
        changed or columns[:1], key=lambda c: int(c.about.get("hidden_values", 0))
    )


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
    by, about = quote_text(chosen.by.name), quote_text(chosen.about.name)
    read = read_in_pandas(chosen.path, chosen.texts)
    lines = ["import pandas as pd", "", f"table = {read}"]
    if escaped and chosen.texts:
        lines += [f"# {_say_escaped()}"]
        lines += [
            f'table[{c}] = table[{c}].str.replace("^\'", "", regex=True)'
            for c in map(quote_text, chosen.texts)
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
    return [*lines, f"print(table.groupby([{by}, {about}], dropna=False){count})"]


def _say_escaped() -> str:
    return say("Text that a spreadsheet would run has a ' in front; take one off.")


def _write_r(chosen: Counted, *, escaped: bool) -> list[str]:
    by, about = quote_text(chosen.by.name), quote_text(chosen.about.name)
    lines = [f"table <- {read_in_r(chosen.path, chosen.texts)}"]
    if escaped and chosen.texts:
        lines += [f"# {_say_escaped()}"]
        lines += [
            f'table[[{c}]] <- sub("^\'", "", table[[{c}]])'
            for c in map(quote_text, chosen.texts)
        ]
    if _leaves_out(chosen.by):
        lines.append(f"# {_explain_left_out(chosen.by)}")
        kept = f"!table[[{by}]] %in% {quote_text(chosen.by.marker)}"
        if not chosen.by.marker:
            kept = f"!grepl({quote_text(SEVERAL)}, table[[{by}]], perl = TRUE)"
        lines.append(f"table <- table[{kept}, ]")
    number = "rep(1, nrow(table))"
    if chosen.weight:
        number = f"table[[{quote_text(chosen.weight)}]]"
    return [
        *lines,
        f"people <- {number}",
        f"tapply(people, {keep_missing_in_r(f'table[c({by}, {about})]')}, sum)",
    ]


def keep_missing_in_r(columns: str) -> str:
    """Columns to count by, where a missing value is one like others.

    >>> print(keep_missing_in_r('table["job"]'))
    lapply(table["job"], addNA, ifany = TRUE)
    """
    return f"lapply({columns}, addNA, ifany = TRUE)"


def _write_sql(chosen: Counted, *, escaped: bool) -> list[str]:
    by, about = quote_name(chosen.by.name), quote_name(chosen.about.name)
    shown = [by, about]
    lines = []
    if PurePath(chosen.path).suffix in (".sav", ".dta"):
        lines.append(f"-- {say('Save the file as Parquet first, with pandas or R.')}")
    if escaped and chosen.texts:
        lines.append(f"-- {_say_escaped()}")
        texts = set(map(quote_name, chosen.texts))
        shown = [
            f"regexp_replace({c}, '^''', '') AS {c}" if c in texts else c for c in shown
        ]
    number = f"sum({quote_name(chosen.weight)})" if chosen.weight else "count(*)"
    if _leaves_out(chosen.by):
        lines.append(f"-- {_explain_left_out(chosen.by)}")
    lines += [
        f"SELECT {', '.join(shown)}, {number} AS people",
        f"FROM {read_in_sql(chosen.path, chosen.texts)} AS t",
    ]
    if chosen.by.marker:
        marker = quote_value(chosen.by.marker)
        lines.append(f"WHERE t.{by} IS DISTINCT FROM {marker}")
    elif _leaves_out(chosen.by):
        test = f"regexp_matches(CAST(t.{by} AS VARCHAR), {quote_value(SEVERAL)})"
        lines.append(f"WHERE {test} IS NOT TRUE")
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
        f"table = {read_in_pandas(path, [column])}",
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
        f"table <- {read_in_r(path, [column])}",
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
    return [
        f"-- {why}",
        "SELECT",
        ",\n".join(shares),
        f"FROM {read_in_sql(path, [column])};",
    ]
