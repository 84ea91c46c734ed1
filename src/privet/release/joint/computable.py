"""Whether one release can be computed from another: then it tells nothing new.

If the second release is a function of the first and of randomness that has nothing to
do with the rows, somebody who has both believes what somebody believes who has the
first alone. That is decided by what both show, never by counts: a table whose labels
were equal by chance would tell that they were.
"""

from __future__ import annotations

from collections.abc import Sequence

from privet.release.joint.outlines import Box, ReleaseOutline


def is_computable(later: ReleaseOutline, first: ReleaseOutline) -> bool:
    """Whether `later` is a function of `first`, and perhaps of independent chance.

    Not so of disguised rows that somebody can attribute: whose row is whose is not in
    the first release.
    """
    if not later.rows or later.rows != first.rows:
        return False
    if later.digest and later.digest == first.digest and later.kind == first.kind:
        return True
    if first.transformed or later.attributable:
        return False
    if later.counted and not first.counted:
        return False
    return all(
        any(_tells_columns(first, own, later, wanted) for own in first.told_together)
        for wanted in later.told_together
    )


def _tells_columns(
    first: ReleaseOutline,
    own: Sequence[str],
    later: ReleaseOutline,
    wanted: Sequence[str],
) -> bool:
    """Whether one file of the first release tells one of the later's."""
    if not set(wanted) <= set(own):
        return False
    boxed = {*first.boxed, *later.boxed} & set(wanted)
    plain = [c for c in wanted if c not in boxed]
    if not all(later.columns[c].is_told_by(first.columns[c]) for c in plain):
        return False
    if any(later.columns[c].base != first.columns[c].base for c in boxed):
        return False
    return not boxed or _tells_boxes(first, later, boxed)


def _tells_boxes(first: ReleaseOutline, later: ReleaseOutline, boxed: set[str]) -> bool:
    if first.boxes:
        return all(_fits_one_label(box, later, boxed) for box in first.boxes)
    # The later boxes are disjoint: a class lies in one of them if it crosses no edge.
    if not set(later.boxed) <= set(first.columns):
        return False
    return all(_is_union_of_labels(box, first) for box in later.boxes)


def _fits_one_label(box: Box, later: ReleaseOutline, boxed: set[str]) -> bool:
    """Whether everybody in a box of the first release looks alike in the later.

    Columns that the later's boxes leave out have labels of their own there.
    """
    if later.boxes and not any(
        all(c in box and set(box[c]) <= set(other[c]) for c in other)
        for other in later.boxes
    ):
        return False
    apart = boxed - set(later.boxed)
    return all(
        len(set(later.columns[c].label_values(box[c]))) <= 1 for c in apart if c in box
    )


def _is_union_of_labels(box: Box, first: ReleaseOutline) -> bool:
    """Whether no label of the first release is partly inside a box."""
    return all(
        not set(label) & set(box[c]) or set(label) <= set(box[c])
        for c in box
        for label in first.columns[c].merged
    )


def drop_computable(releases: Sequence[ReleaseOutline]) -> list[ReleaseOutline]:
    """The releases that tell something the others do not; of equals the first stays."""
    kept = list(releases)
    for i in range(len(releases) - 1, -1, -1):
        others = kept[:i] + kept[i + 1 :]
        if any(is_computable(kept[i], other) for other in others):
            kept = others
    return kept
