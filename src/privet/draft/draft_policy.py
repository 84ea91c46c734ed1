"""A first policy for a person to correct, with a reason beside each guess."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

from privet.draft.guess_roles import FEW_VALUES, Guess
from privet.draft.vocabulary import AGE, BIRTH, POST, split_words
from privet.engine.protocol import ColumnSummary
from privet.errors import InputError
from privet.policy.toml import quote, quote_key, write_sections

HEAD = """\
# A first draft, for a person to correct. It was guessed from the names of the columns,
# their types and how many different values they have; no cell was copied.
# Lines that begin with "#" and no space are examples: take the "#" away to use them.
"""
MEANINGS = {
    "identifier": "Who a person is: never published.",
    "quasi": "What others may know of a person.",
    "sensitive": "What nobody should learn of a person.",
    "other": "What is published as it is; others may know it, too.",
    "drop": "What is left out of every release.",
    "target": "What the analysts want to explain.",
    "unit": "Which rows are of the same person.",
    "weight": "How many rows each row stands for.",
}


LIMITS = ("0.5", "0.6", "0.7", "0.8", "0.9", "0.95", "0.99")
"""Limits that are drafted: the first above the share of a column's commonest value."""


def draft_policy(
    columns: Sequence[ColumnSummary],
    guesses: Sequence[Guess],
    *,
    title: str,
    shares: Mapping[str, Fraction] | None = None,
    file: Mapping[str, object] | None = None,
) -> str:
    """Write the guesses as a commented policy in TOML.

    Parameters
    ----------
    columns, guesses
        One guess per column, in the same order.
    title
        What the policy calls the release.
    shares
        The share of the commonest value of sensitive columns in everybody, where it
        was counted: nobody can be kept less sure than that, so no limit is below it.
    file
        How the text file was read, where that was said; the policy remembers it.
    """
    if [column.name for column in columns] != [guess.name for guess in guesses]:
        raise InputError("guesses must be one per column, in the same order.")
    parts = (
        [HEAD.rstrip(), *_list_doubts(guesses), f"title = {quote(title)}"],
        ["[columns]", *_list_roles(guesses)],
        [write_sections({"file": file}).rstrip()] if file else [],
        _suggest_bins(columns, guesses),
        _draft_promises(guesses, shares or {}),
        _draft_classifier(guesses),
    )
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def _list_doubts(guesses: Sequence[Guess]) -> list[str]:
    doubts = [guess for guess in guesses if not guess.sure]
    if not doubts:
        return ["# No guess is in doubt; check each of them all the same."]
    lines = (f"#   {quote(g.name)}: {g.role}; {g.reason}" for g in doubts)
    return ["#", "# In doubt, look at these first:", *lines]


def _list_roles(guesses: Sequence[Guess]) -> Iterator[str]:
    for role in ("identifier", "quasi", "sensitive", "other", "drop"):
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


def _suggest_bins(
    columns: Sequence[ColumnSummary], guesses: Sequence[Guess]
) -> list[str]:
    wide = [
        f"#{quote_key(column.name)} = {_suggest_edges(column)}"
        for column, guess in zip(columns, guesses, strict=True)
        if guess.role in ("quasi", "sensitive", "other") and _is_wide(column)
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


def _draft_promises(
    guesses: Sequence[Guess], shares: Mapping[str, Fraction]
) -> list[str]:
    knows = [guess.name for guess in guesses if guess.role in ("quasi", "other")]
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
    drafted = [_draft_promise(knows, name, shares.get(name)) for name in about]
    return [*head, "\n\n".join(drafted)]


def _draft_promise(knows: list[str], about: str, share: Fraction | None) -> str:
    """With a limit that the whole table keeps, as far as its share was counted."""
    kept = [l for l in LIMITS if share is None or share < Fraction(l)]
    if not kept:
        lines = _write_promise(knows, about, LIMITS[-1]).splitlines()
        return "\n".join([*HOPELESS, *(f"#{line.lstrip()}" for line in lines)])
    lifted = [] if kept[0] == LIMITS[0] else list(LIFTED)
    return "\n".join([*lifted, _write_promise(knows, about, kept[0])])


LIFTED = (
    "# A lower limit cannot be kept: one value is more frequent than that in the whole",
    "# table. Name the values that nobody should learn (about = { column = [...] }).",
)
HOPELESS = (
    "# Nearly everybody has the same value here: no promise about every value can be",
    "# kept. Name the values that nobody should learn (about = { column = [...] }).",
)


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


def _write_promise(knows: list[str], about: str, limit: str = LIMITS[0]) -> str:
    return "\n".join(
        [
            "[[promise]]",
            f"name    = {quote(f'nobody learns {about}')}",
            'against = "linker"',
            f"knows   = {_write_array(knows)}",
            f"about   = {quote(about)}",
            f"at_most = {limit}",
        ]
    )


CLASSIFIER = (
    "# How far may a published classifier of the target move a mind? privet classifier",
    "# makes one that keeps this; the table itself is not judged by it.",
)
INVERTER = """\
# Whoever knows how a classifier was made may work out the counts behind it. Promise
# that they stay unknown, or let somebody accept it.
#[[promise]]
#name    = "the counts stay unknown"
#against = "inverter"
#exactly = 0.1"""


def _draft_classifier(guesses: Sequence[Guess]) -> list[str]:
    """A promise about the target, where there are columns to predict it from.

    Where people have several rows, no classifier is made of them.
    """
    roles = {g.role for g in guesses}
    target = next((g.name for g in guesses if g.role == "target"), None)
    if target is None or "quasi" not in roles or "unit" in roles:
        return []
    return [
        *CLASSIFIER,
        "[[promise]]",
        f"name    = {quote(f'a classifier moves no mind about {target}')}",
        'against = "bayesian"',
        f"about   = {quote(target)}",
        "from    = 0.51",
        "to      = 0.8",
        "",
        INVERTER,
    ]


def _write_array(texts: Iterable[str]) -> str:
    """Write a TOML list, one text per line where they do not fit on one."""
    quoted = [quote(text) for text in texts]
    line = "[" + ", ".join(quoted) + "]"
    return line if len(line) < 78 else "[\n    " + ",\n    ".join(quoted) + ",\n]"
