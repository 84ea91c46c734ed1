"""Long labels of groups, made short enough to be read in a sentence."""

from __future__ import annotations

LONGEST = 70
"""Letters of a set of values that are read out."""


def cut_short(label: str) -> str:
    """A set of values as it is read out; files and JSON have all of it.

    >>> cut_short("{Cook, Judge}")
    '{Cook, Judge}'
    >>> cut_short("not {" + ", ".join(map(str, range(10_000, 10_050))) + "}")
    'not {10000, 10001, 10002, 10003, 10004, 10005, 10006, 10007, 10008, …}'
    """
    is_set = label.startswith(("{", "not {", "missing or {")) and label.endswith("}")
    if not is_set or len(label) <= LONGEST or ", " not in label[:LONGEST]:
        return label
    return label[: label.rindex(", ", 0, LONGEST)] + ", …}"
