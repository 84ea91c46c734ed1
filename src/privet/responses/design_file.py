"""Design files: TOML or JSON, the same keys; every problem is told at once."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from privet.errors import InputError, PrivetError, what_exists
from privet.responses.channels import KEYS, channel_from
from privet.responses.design import Design, Group, Question

TOP = ("title", "one_of", "question", "together")
OF_QUESTION = ("name", "ask", "values", "bins", "missing", "instead", *KEYS)
OF_GROUP = ("columns", "instead", *KEYS)
MOST_BYTES = 2**20
"""A design is small; what is larger is something else."""


def read_design(path: Path) -> Design:
    """Read a design file."""
    if not path.is_file():
        raise InputError(f"The design {str(path)!r} must be a file; there is none.")
    try:
        if path.stat().st_size > MOST_BYTES:
            raise InputError(f"The design {str(path)!r} must be a small text file.")
        text = path.read_text(encoding="utf-8-sig")
        if path.suffix.lower() == ".json":
            stated = json.loads(text, parse_float=Decimal)
        else:
            stated = tomllib.loads(text, parse_float=Decimal)
    except (ValueError, RecursionError) as error:
        if isinstance(error, PrivetError):
            raise
        raise InputError(
            f"The design {str(path)!r} must be TOML, or JSON if its name ends in "
            f".json; it is not: {error}."
        ) from None
    return design_from(stated)


def design_from(stated: Any) -> Design:
    """The design that keys describe; all that is wrong with it in one message."""
    if not isinstance(stated, Mapping):
        raise InputError(f"A design must be keys and values; got {stated!r}.")
    problems: list[str] = _unknown(stated, TOP, "A design")
    questions, groups = [], []
    alone = {c for t in _tables(stated, "together") for c in _listed(t)}
    for i, keys in enumerate(_tables(stated, "question"), 1):
        what = f"question {i}"
        problems += _unknown(keys, OF_QUESTION, what)
        try:
            question = _question(keys)
            questions.append(question)
            if question.name not in alone or any(k in keys for k in KEYS):
                groups.append(Group(question.name, channel_from(keys, what)))
        except PrivetError as error:
            problems.append(str(error))
    for i, keys in enumerate(_tables(stated, "together"), 1):
        what = f"together {i}"
        problems += _unknown(keys, OF_GROUP, what)
        try:
            groups.append(Group(keys.get("columns", ()), channel_from(keys, what)))
        except PrivetError as error:
            problems.append(str(error))
    title, one_of = stated.get("title", ""), stated.get("one_of", False)
    if not isinstance(title, str):
        problems.append(f"title of a design must be text; got {title!r}.")
    if not isinstance(one_of, bool):
        problems.append(f"one_of of a design must be true or false; got {one_of!r}.")
    if problems:
        raise InputError("\n".join(problems))
    return Design(questions, groups, title=title, one_of=one_of)


def _question(keys: Mapping[str, Any]) -> Question:
    return Question(
        keys.get("name", ""),
        keys.get("values"),
        bins=keys.get("bins"),
        ask=keys.get("ask", ""),
        missing=keys.get("missing"),
    )


def _listed(keys: Mapping[str, Any]) -> list[str]:
    columns = keys.get("columns", ())
    return [c for c in columns if isinstance(c, str)]


def _tables(stated: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    found = stated.get(key, [])
    if not isinstance(found, list) or not all(isinstance(t, Mapping) for t in found):
        raise InputError(f"{key} of a design must be a list of tables: [[{key}]].")
    return found


def _unknown(keys: Mapping[str, Any], known: Any, what: str) -> list[str]:
    return [
        f"{what} must have known keys; got {key!r}. {what_exists(key, known)}"
        for key in keys
        if key not in known
    ]


def as_toml(stated: Mapping[str, Any]) -> str:
    """Keys as a TOML file; the tables of lists come last."""
    lines = [f"{k} = {_value(v)}" for k, v in stated.items() if not _is_tables(v)]
    for key, tables in stated.items():
        for table in tables if _is_tables(tables) else ():
            lines += ["", f"[[{key}]]"]
            lines += [f"{k} = {_value(v)}" for k, v in table.items()]
    return "\n".join(lines).lstrip("\n") + "\n"


def _is_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], Mapping)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
