"""Step 1 of SafetyTransform, removing zeros: small numbers that keep the ranking.

A zero makes the amplification infinite. Each way of replacing zeros says what it keeps
of NBC-equivalence; every new inequality holds by a factor of two. The class sizes that
the printed formula forgets are in it here.
Mozafari, Zaniolo 2009, section 6.2.1, Figure 3.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from math import prod
from string import Formatter

from privet.classifier.scores import Scores
from privet.errors import InputError, TooLarge, suggest_names
from privet.languages import mark, say, translate

MOST_BITS = 20_000
"""A replacement smaller than two to the minus this is refused."""

Table = list[list[list[Fraction]]]


def replace_zeros(scores: Scores, how: str) -> Scores:
    """Scores with every zero replaced; the same scores if there is none.

    >>> from privet.classifier.scores import scores_from_counts
    >>> three_rows = scores_from_counts([2, 1], [[[2, 1]], [[1, 0], [1, 1]]])
    >>> replace_zeros(three_rows, "positive").factors[1][0]
    (Fraction(1, 2), Fraction(1, 4))
    """
    if how not in WAYS:
        raise InputError(
            f"zeros must be one of {', '.join(WAYS)}; got {how!r}. "
            f"{suggest_names(how, list(WAYS))}"
        )
    if not scores.has_zeros:
        return scores
    filled = WAYS[how](scores)
    return Scores(scores.weights, tuple(tuple(map(tuple, table)) for table in filled))


def fill_zeros(scores: Scores, how: str) -> Scores:
    """Scores without zeros; the same where smoothing left none."""
    return scores if how == "smooth" else replace_zeros(scores, how)


def _copy_factors(scores: Scores) -> Table:
    return [[list(row) for row in table] for table in scores.factors]


def _fill_full(scores: Scores) -> Table:
    """The ranking of all labels on every tuple; the corrected Figure 3."""
    table, classes = _copy_factors(scores), range(scores.classes)
    # (classes, attributes). Filled zeros lower `least`, so that what is filled later,
    # of classes that lose ties, stays below what was filled before.
    largest = [[max(row[c] for row in t) for t in table] for c in classes]
    least = [[min(row[c] for row in t if row[c]) for t in table] for c in classes]
    for c in reversed(classes):
        for i, attribute in enumerate(table):
            for row in attribute:
                if row[c]:
                    continue
                others = prod(m for j, m in enumerate(largest[c]) if j != i)
                # The best that c can have with this zero stays below the least of d:
                # s < W_d m_d / (W_c M_c), M_c of the other attributes. The paper
                # forgets the class sizes.
                bound = min(
                    scores.weights[d] * prod(least[d]) / (scores.weights[c] * others)
                    for d in classes
                    if d != c
                )
                row[c] = _round_down_to_power(bound / 2)
                least[c][i] = min(least[c][i], row[c])
                largest[c][i] = max(largest[c][i], row[c])
    return table


def _fill_positive(scores: Scores) -> Table:
    """The order of all labels with a positive score, and these above the others."""
    table = _copy_factors(scores)
    small = [
        _find_replacement(
            scores, c, scores.factors, [d for d in range(scores.classes) if d != c]
        )
        for c in range(scores.classes)
    ]
    return _replace_in_table(table, small)


def _fill_positive_and_top(scores: Scores) -> Table:
    """The same, and the best label on every tuple, also where all scores are zero."""
    last = scores.classes - 1
    others = list(range(last))
    first = _find_replacement(scores, last, scores.factors, others)
    table = _replace_in_table(_copy_factors(scores), [None] * last + [first])
    small: list[Fraction | None] = [None] * scores.classes
    for c in others:
        rest = [d for d in range(scores.classes) if d != c]
        small[c] = min(
            _find_replacement(scores, c, scores.factors, rest),
            _find_replacement(scores, c, table, [last]),
        )
    return _replace_in_table(table, small)


def _find_replacement(
    scores: Scores,
    c: int,
    table: Sequence[Sequence[Sequence[Fraction]]],
    rivals: list[int],
) -> Fraction:
    """What may stand for the zeros of a class so that its rivals stay twice above."""
    bounds = [Fraction(1)]
    for d in rivals:
        # By attribute: the largest ratio where c occurs, and 1 by the rival's factor
        # where it does not. The example's three rows have 0 and 2 there, and with
        # weights 2 and 1 the bound is 2/(2 * 1 * 2) = 1/2.
        both, none = [], []
        for before, now in zip(scores.factors, table, strict=True):
            rows = list(zip(before, now, strict=True))
            both.append(
                max(
                    (b[c] / n[d] for b, n in rows if b[c] and n[d]), default=Fraction(0)
                )
            )
            none.append(
                max(
                    (1 / n[d] for b, n in rows if not b[c] and n[d]),
                    default=Fraction(0),
                )
            )
        # One zero of a tuple counts as what replaces it, any further one as 1.
        worst = max(
            b * prod(max(both[j], none[j]) for j in range(len(both)) if j != i)
            for i, b in enumerate(none)
        )
        if worst:
            bounds.append(scores.weights[d] / (2 * scores.weights[c] * worst))
    return _round_down_to_power(min(bounds))


def _replace_in_table(table: Table, small: Sequence[Fraction | None]) -> Table:
    for attribute in table:
        for row in attribute:
            for c, s in enumerate(small):
                if s is not None and not row[c]:
                    row[c] = s
    return table


def _round_down_to_power(number: Fraction) -> Fraction:
    """A power of two that is not larger, to keep the numbers short."""
    # 3/8 has 4 - 2 + 1 = 3 bits: 1/8. Never more than the number.
    bits = number.denominator.bit_length() - number.numerator.bit_length() + 1
    if bits > MOST_BITS:
        raise TooLarge(
            f"A zero would have to become less than 2 to the power -{MOST_BITS:,}"
            "; the classifier would tell nothing else any more. Use zeros='smooth', "
            "or 'positive+top', which keeps every prediction."
        )
    return min(number, Fraction(1, 2**bits) if bits > 0 else Fraction(1))


WAYS: dict[str, Callable[[Scores], Table]] = {
    "full": _fill_full,
    "positive+top": _fill_positive_and_top,
    "positive": _fill_positive,
}
"""How zeros may be replaced; the names say what is kept."""

KEEPS = {
    "full": mark("the ranking of all classes for every row"),
    "positive+top": mark(
        "the prediction for every row, and the order of classes with a score above 0"
    ),
    "positive": mark("the order of all classes with a score above 0, for every row"),
}
"""What each way keeps, in words."""

BEST_OF = "the original's best of"
"""What is kept where some classes only are predicted, in words; their names follow."""

_CLAUSES = (
    mark("the original's best of {names} for every row"),
    mark(", as the counts with noise have it"),
    mark(", after adding {number} to every count"),
    mark(", but for classes whose published odds are within {factor}"),
)
"""What else may be said of what is kept, each once."""


def say_kept(keeps: str) -> str:
    """What a manifest says is kept, in the language that is spoken.

    >>> say_kept(KEEPS["full"] + ", after adding 1 to every count")
    'the ranking of all classes for every row, after adding 1 to every count'
    """
    said = keeps
    for whole in KEEPS.values():
        said = said.replace(whole, translate(whole), 1)
    for clause in _CLAUSES:
        name = next((n for _, n, _, _ in Formatter().parse(clause) if n), None)
        start, _, end = clause.partition(f"{{{name}}}")
        found = re.search(f"{re.escape(start)}(.*?){re.escape(end) or '(?=,|$)'}", said)
        if found:
            parts = {name: found[1]} if name else {}
            said = said.replace(found[0], say(clause, **parts), 1)
    return said
