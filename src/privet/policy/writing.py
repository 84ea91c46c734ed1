"""Writing a policy as TOML."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from privet.policy.document import Policy


def write(policy: Policy) -> str:
    """A policy as TOML."""
    roles = policy.roles
    columns = {
        "identifier": list(roles.identifier),
        "quasi": list(roles.quasi),
        "sensitive": list(roles.sensitive),
        "target": roles.target,
        "unit": roles.unit,
        "weight": roles.weight,
    }
    parts = [f"title = {toml(policy.title)}\n"] if policy.title else []
    parts.append(_section_text("[columns]", {k: v for k, v in columns.items() if v}))
    bins = {c: b.to_list() for c, b in roles.bins.items()}
    where = {c: list(v) for c, v in policy.where.items()}
    parts += [
        _section_text(f"[{n}]", v) for n, v in (("bins", bins), ("where", where)) if v
    ]
    parts += [_section_text("[[promise]]", p.to_dict()) for p in policy.promises]
    parts += [_section_text("[[measure]]", m.to_dict()) for m in policy.measures]
    parts.append(_section_text("[purpose]", {"utility": policy.purpose.utility}))
    return "\n".join(parts)


def _section_text(head: str, values: Mapping[str, Any]) -> str:
    lines = [f"{key(k)} = {toml(v)}" for k, v in values.items()]
    return "\n".join([head, *lines]) + "\n"


def key(name: str) -> str:
    """A key, quoted where TOML asks for it."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else quote(name)


def quote(text: str) -> str:
    r"""Write a TOML string on one line; what cannot be seen is escaped.

    >>> print(quote('say "no"' + chr(10)))
    "say \"no\"\u000A"
    """
    return '"' + "".join(_escape(letter) for letter in text) + '"'


def _escape(letter: str) -> str:
    if letter in '"\\':
        return "\\" + letter
    if letter.isprintable():
        return letter
    code = ord(letter)
    return f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"


def toml(value: Any) -> str:
    r"""A value as TOML writes it.

    >>> toml(["a", 'say "b"']), toml({"x y": True})
    ('["a", "say \\"b\\""]', '{ "x y" = true }')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{key(k)} = {toml(v)}" for k, v in value.items())
        return "{ " + pairs + " }"
    if isinstance(value, Sequence):
        return "[" + ", ".join(toml(v) for v in value) + "]"
    return str(value)
