"""The keys of the policy file: what each means, and what form it has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from privet.adversary import KINDS
from privet.policy.promise import MEASURES, UTILITIES

TEXT: dict[str, Any] = {"type": "string"}
TEXTS: dict[str, Any] = {"type": "array", "items": TEXT}
NAMES: dict[str, Any] = {"oneOf": [TEXT, TEXTS]}
WHOLE: dict[str, Any] = {"type": "integer", "minimum": 0}
LEVEL: dict[str, Any] = {"type": ["number", "string"]}
FLAG: dict[str, Any] = {"type": "boolean"}
CELL: dict[str, Any] = {"type": ["string", "number", "boolean"]}
CELLS: dict[str, Any] = {"oneOf": [CELL, {"type": "array", "items": CELL}]}
TABLE: dict[str, Any] = {"type": "object", "additionalProperties": CELLS}
EDGES: dict[str, Any] = {
    "type": "array",
    "items": {"type": ["number", "string"]},
    "minItems": 1,
}


@dataclass(frozen=True)
class Key:
    """One key of the policy file."""

    schema: Mapping[str, Any]
    """Its form, as JSON Schema."""
    meaning: str
    """What it says, in a sentence."""
    only_for: tuple[str, ...] = ()
    """The adversaries it goes with; empty: all."""


SECTIONS: dict[str, dict[str, Key]] = {
    "": {
        "title": Key(TEXT, "What the release is called."),
    },
    "columns": {
        "identifier": Key(NAMES, "Columns that name a person; never released."),
        "quasi": Key(NAMES, "Columns an outsider may know about a person."),
        "sensitive": Key(NAMES, "Columns nobody should learn about a person."),
        "target": Key(TEXT, "The column the analyst wants to explain."),
        "unit": Key(TEXT, "Tells people apart where somebody has several rows."),
        "weight": Key(TEXT, "Says how many rows each row stands for."),
    },
    "promise": {
        "name": Key(TEXT, "How reports call the promise."),
        "against": Key(
            {"enum": list(KINDS)}, "Who must not learn it: the kind of adversary."
        ),
        "knows": Key(
            {"oneOf": [TEXT, TEXTS, WHOLE, TABLE]},
            "The columns known about the victim; left out: all quasi columns.",
            ("linker", "bayesian"),
        ),
        "knows_any": Key(
            {"type": "integer", "minimum": 1},
            "Any quasi columns, up to this many; the worst set counts.",
            ("linker",),
        ),
        "rules_out": Key(
            {"oneOf": [WHOLE, TEXTS]}, "l: values the victim lacks.", ("insider",)
        ),
        "knows_others": Key(
            {"oneOf": [WHOLE, TABLE]}, "k: people whose value is known.", ("insider",)
        ),
        "same_as": Key(
            {"oneOf": [WHOLE, TEXTS]},
            "m: people with the victim's value.",
            ("insider",),
        ),
        "victim": Key(TEXT, "Whom the insider's knowledge is about.", ("insider",)),
        "model": Key(TEXT, "Which tables count as possible.", ("reconstructor",)),
        "one_row_per_id": Key(FLAG, "Whether each id has one row.", ("reconstructor",)),
        "prior": Key(
            {"oneOf": [TEXT, TABLE]}, "Belief over the classes before.", ("bayesian",)
        ),
        "averaging": Key(TEXT, "Over rows or over worlds.", ("bayesian",)),
        "sees": Key(TABLE, "A disguised row.", ("bayesian",)),
        "about": Key(
            {"oneOf": [TEXT, TEXTS, TABLE]},
            'A column (each of its values), { column = "value" }, or several values.',
        ),
        "at_most": Key(LEVEL, "The belief may be this much, not more."),
        "below": Key(LEVEL, "The belief must stay below this."),
        "from": Key(LEVEL, "With `to`: no belief may move from below this …"),
        "to": Key(LEVEL, "… to this or more, nor back."),
        "within": Key(LEVEL, "The belief may change by this factor, not more."),
    },
    "measure": {
        "name": Key(TEXT, "How reports call the measure."),
        **{
            k: Key({"type": "integer", "minimum": 1}, f"At least this: {words}.")
            for k, words in MEASURES.items()
        },
    },
    "purpose": {
        "utility": Key(
            {"enum": list(UTILITIES)}, "What the analyst keeps as much of as possible."
        ),
    },
}
"""Every key of a policy; sections with free keys are in `FREE`."""

FREE: dict[str, Key] = {
    "bins": Key(EDGES, "Public cut points of a numeric or date column."),
    "where": Key(CELLS, "Only rows whose column has this value, or one of these."),
}
"""Sections whose keys are columns."""

LISTS = ("promise", "measure")
"""Sections written [[so]], once or several times."""

LIMITS = ({"at_most"}, {"below"}, {"from", "to"}, {"within"})


def schema() -> dict[str, Any]:
    """The JSON Schema of the policy file."""
    properties: dict[str, Any] = {
        k: {**key.schema, "description": key.meaning} for k, key in SECTIONS[""].items()
    }
    for section, keys in SECTIONS.items():
        if section:
            form = {
                "type": "object",
                "additionalProperties": False,
                "properties": {
                    k: {**key.schema, "description": key.meaning}
                    for k, key in keys.items()
                },
            }
            if section == "promise":
                form["required"] = ["against"]
            listed = {"type": "array", "items": form}
            properties[section] = listed if section in LISTS else form
    for section, key in FREE.items():
        properties[section] = {
            "type": "object",
            "additionalProperties": key.schema,
            "description": key.meaning,
        }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "privet policy",
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
    }


_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str, date),
    "integer": (int,),
    "number": (int, Decimal),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}


def fits(value: Any, form: Mapping[str, Any]) -> bool:
    """Whether a value has the form; only what our own schema uses is understood."""
    if "oneOf" in form:
        return any(fits(value, f) for f in form["oneOf"])
    if "enum" in form:
        return value in form["enum"]
    kinds = form["type"] if isinstance(form["type"], list) else [form["type"]]
    if isinstance(value, bool) and "boolean" not in kinds:
        return False
    right = any(isinstance(value, _TYPES[k]) for k in kinds)
    return right and _fits_inside(value, form)


def _fits_inside(value: Any, form: Mapping[str, Any]) -> bool:
    if isinstance(value, list):
        enough = len(value) >= form.get("minItems", 0)
        return enough and all(fits(v, form["items"]) for v in value)
    if isinstance(value, dict):
        return all(fits(v, form["additionalProperties"]) for v in value.values())
    return not isinstance(value, int) or value >= form.get("minimum", value)


def form_words(form: Mapping[str, Any]) -> str:
    """A form in words."""
    if "oneOf" in form:
        return " or ".join(dict.fromkeys(form_words(f) for f in form["oneOf"]))
    if "enum" in form:
        return "one of " + ", ".join(map(repr, form["enum"]))
    words = {
        "string": "text",
        "integer": "a whole number",
        "number": "a number",
        "boolean": "true or false",
        "array": "a list",
        "object": "a table { column = value }",
    }
    kinds = form["type"] if isinstance(form["type"], list) else [form["type"]]
    said = " or ".join(words[k] for k in kinds)
    return f"{said} of at least {form['minimum']}" if "minimum" in form else said
