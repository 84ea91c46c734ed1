"""Writing a policy as TOML."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from privet.errors import InputError
from privet.policy.policy import Policy
from privet.values.schema import Bins


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
    bins = {c: _edges(b) for c, b in roles.bins.items()}
    where = {c: list(v) for c, v in policy.where.items()}
    free: dict[str, Mapping[str, Any]] = {
        "bins": bins,
        "where": where,
        "hierarchy": policy.hierarchies,
    }
    parts += [
        _section_text(f"[{name}]", values) for name, values in free.items() if values
    ]
    parts += [_section_text("[[view]]", v.to_dict()) for v in policy.views]
    parts += [_section_text("[[promise]]", p.to_dict()) for p in policy.promises]
    parts += [_section_text("[[measure]]", m.to_dict()) for m in policy.measures]
    parts.append(_section_text("[purpose]", {"utility": policy.purpose.utility}))
    parts += [_section_text("[[earlier]]", {"custody": c}) for c in policy.earlier]
    if policy.signoff is not None:
        parts.append(_section_text("[signoff]", policy.signoff.to_dict()))
    return "\n".join(parts)


def _edges(bins: Bins) -> list[str | Decimal]:
    """Numbers as numbers where they have an end; 1/3 has none."""
    plain = not bins.are_dates
    return [Decimal(e) if plain and "/" not in e else e for e in bins.to_list()]


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
    if 0xD800 <= code < 0xE000:
        raise InputError(
            f"Text of a policy must be text UTF-8 can hold; got {letter!r} in it."
        )
    return f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"


def toml(value: Any) -> str:
    r"""A value as TOML writes it.

    >>> toml(["a", 'say "b"']), toml({"x y": True})
    ('["a", "say \\"b\\""]', '{ "x y" = true }')
    """
    if value is None:
        raise InputError(
            "A value in a policy file must be text, a number, a date or true or false; "
            "got None (missing), which TOML cannot write. Keep such a promise in "
            "Python."
        )
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
