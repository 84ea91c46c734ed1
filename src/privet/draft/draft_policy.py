"""A first policy for a person to correct, with a reason beside each guess."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from privet.draft.guess_roles import FEW_VALUES, Guess
from privet.draft.vocabulary import AGE, BIRTH, POST, split_words
from privet.engine.protocol import ColumnSummary
from privet.errors import InputError
from privet.policy.toml import quote, quote_key

HEAD = """\
# A first draft, for a person to correct. It was guessed from the names of the columns,
# their types and how many different values they have; no cell was copied.
# Lines that begin with "#" and no space are examples: take the "#" away to use them.
"""
MEANINGS = {
    "identifier": "Who a person is: never published.",
    "quasi": "What others may know of a person.",
    "sensitive": "What nobody should learn of a person.",
    "target": "What the analysts want to explain.",
    "unit": "Which rows are of the same person.",
    "weight": "How many rows each row stands for.",
}


def draft_policy(
    columns: Sequence[ColumnSummary], guesses: Sequence[Guess], *, title: str
) -> str:
    """Write the guesses as a commented policy in TOML.

    Parameters
    ----------
    columns, guesses
        One guess per column, in the same order.
    title
        What the policy calls the release.
    """
    if [column.name for column in columns] != [guess.name for guess in guesses]:
        raise InputError("guesses must be one per column, in the same order.")
    parts = (
        [HEAD.rstrip(), *_list_doubts(guesses), f"title = {quote(title)}"],
        ["[columns]", *_list_roles(guesses)],
        _suggest_bins(columns, guesses),
        _draft_promises(guesses),
    )
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def _list_doubts(guesses: Sequence[Guess]) -> list[str]:
    doubts = [guess for guess in guesses if not guess.sure]
    if not doubts:
        return ["# No guess is in doubt; check each of them all the same."]
    lines = (f"#   {quote(g.name)}: {g.role or 'no role'}; {g.reason}" for g in doubts)
    return ["#", "# In doubt, look at these first:", *lines]


def _list_roles(guesses: Sequence[Guess]) -> Iterator[str]:
    for role in ("identifier", "quasi", "sensitive"):
        # Who is told apart by a column must not be told who they are by it.
        roles = (role, "unit") if role == "identifier" else (role,)
        chosen = [guess for guess in guesses if guess.role in roles]
        yield f"# {MEANINGS[role]}"
        if not chosen:
            yield f"{role} = []  # none was guessed"
            continue
        yield f"{role} = ["
        yield from (f"    {quote(g.name)},  # {g.reason}" for g in chosen)
        yield "]"
    for guess in guesses:
        if guess.role in ("target", "unit", "weight"):
            yield f"# {MEANINGS[guess.role]}"
            yield f"{guess.role} = {quote(guess.name)}  # {guess.reason}"
    idle = [guess for guess in guesses if not guess.role]
    if idle:
        yield "# Without a role, hence published and thought to be known to nobody:"
        yield from (f"#   {quote(guess.name)}: {guess.reason}" for guess in idle)


def _suggest_bins(
    columns: Sequence[ColumnSummary], guesses: Sequence[Guess]
) -> list[str]:
    wide = [
        f"#{quote_key(column.name)} = {_suggest_edges(column)}"
        for column, guess in zip(columns, guesses, strict=True)
        if guess.role in ("quasi", "sensitive", "") and _is_wide(column)
    ]
    if not wide:
        return []
    return [
        "# Columns with many values are safer in bins. Choose round edges that anybody",
        "# could have chosen without the data; these are examples, not measured.",
        "#[bins]",
        *wide,
    ]


def _is_wide(column: ColumnSummary) -> bool:
    orderly = column.kind in ("integer", "number", "date", "datetime")
    code = POST.find(split_words(column.name))  # 01234 and 01235 are not amounts
    return orderly and column.distinct > FEW_VALUES and not code


def _suggest_edges(column: ColumnSummary) -> str:
    words = split_words(column.name)
    if column.kind in ("date", "datetime"):
        years = (1940, 1960, 1980, 2000) if BIRTH.find(words) else (2020, 2022, 2024)
        return _write_array(f"{year}-01-01" for year in years)
    if AGE.find(words):
        return "[18, 30, 45, 65, 80]"
    if BIRTH.find(words):
        return "[1940, 1960, 1980, 2000]"
    return "[10, 100, 1000, 10000]"


def _draft_promises(guesses: Sequence[Guess]) -> list[str]:
    knows = [guess.name for guess in guesses if guess.role == "quasi"]
    about = [guess.name for guess in guesses if guess.role == "sensitive"]
    if not knows or not about:
        promise = _draft_example(
            knows or ["a quasi column"], about or ["a sensitive column"]
        )
        return [*promise, "", MEASURE] if knows else promise
    head = [
        "# Choose what a curious person may know, and how sure they may become of",
        "# each value: 0.5 is right one time in two. All columns at once is much to",
        "# know; knows_any = 2 instead of knows means any two of them.",
    ]
    return [*head, "\n\n".join(_write_promise(knows, name) for name in about)]


def _draft_example(knows: list[str], about: list[str]) -> list[str]:
    return [
        "# No promise could be drafted: a person must choose what others may know",
        "# (quasi) and what nobody should learn (sensitive), and promise something.",
        *(f"#{line.lstrip()}" for line in _write_promise(knows, about[0]).splitlines()),
    ]


MEASURE = """\
# Until then: how many people look alike in every quasi column.
[[measure]]
k_anonymity = 5"""


def _write_promise(knows: list[str], about: str) -> str:
    return "\n".join(
        [
            "[[promise]]",
            f"name    = {quote(f'nobody learns {about}')}",
            'against = "linker"',
            f"knows   = {_write_array(knows)}",
            f"about   = {quote(about)}",
            "at_most = 0.5",
        ]
    )


def _write_array(texts: Iterable[str]) -> str:
    """Write a TOML list, one text per line where they do not fit on one."""
    quoted = [quote(text) for text in texts]
    line = "[" + ", ".join(quoted) + "]"
    return line if len(line) < 78 else "[\n    " + ",\n    ".join(quoted) + ",\n]"
