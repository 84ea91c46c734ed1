"""Converters of frozen values: what a field makes of what it is given."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from attrs import Attribute

from privet.values.frozen_dict import FrozenDict


def name_fields(_class: type, fields: list[Attribute[Any]]) -> list[Attribute[Any]]:
    """Fields whose converters know their names, where they ask `what` they convert."""
    return [_name_field(f, f.converter) for f in fields]


def _name_field(field: Attribute[Any], converter: Any) -> Attribute[Any]:
    if "what" not in getattr(converter, "__annotations__", ()):
        return field
    return field.evolve(converter=partial(converter, what=field.name))


def freeze(given: Mapping[Any, Any]) -> FrozenDict[Any, Any]:
    """A dictionary that never changes."""
    return FrozenDict(given)
