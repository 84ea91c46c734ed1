"""What a key of a policy file must look like: texts, numbers, columns, rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Form = Mapping[str, Any]
"""What a value must look like, as JSON Schema."""

TEXT: Form = {"title": "text", "type": "string"}
TEXTS: Form = {"title": "a list of texts", "type": "array", "items": TEXT}
NAME: Form = {"title": "the name of a column", "type": "string", "minLength": 1}
FILE: Form = {"title": "the path of a file", "type": "string", "minLength": 1}
FOLDER: Form = {"title": "the path of a folder", "type": "string", "minLength": 1}
NAMES: Form = {"anyOf": [TEXT, TEXTS]}
TITLES: Form = {
    "title": "a list of names",
    "type": "array",
    "items": NAME,
    "minItems": 1,
}
DELIMITER: Form = {"title": "a letter, or up to four", "type": "string", "minLength": 1}
WHOLE: Form = {"title": "a whole number from 0", "type": "integer", "minimum": 0}
COUNT: Form = {"title": "a whole number from 1", "type": "integer", "minimum": 1}
LEVEL: Form = {
    "title": 'a number such as 0.5 or "1/2"',
    "type": ["number", "string"],
    "exclusiveMinimum": 0,
    "maximum": 1,
}
CHANCES: Form = {
    "title": "a list of such numbers",
    "type": "array",
    "items": LEVEL,
    "minItems": 1,
}
FACTOR: Form = {
    "title": 'a number such as 2 or "3/2"',
    "type": ["number", "string"],
    "minimum": 1,
}
FLAG: Form = {"title": "true or false", "type": "boolean"}
CELL: Form = {"title": "a value", "type": ["string", "number", "boolean"]}
CELLS: Form = {
    "title": "a list of values",
    "type": "array",
    "items": CELL,
    "minItems": 1,
}
ROW: Form = {
    "title": 'a table such as { job = "Cook" }',
    "type": "object",
    "additionalProperties": CELL,
}
WINDOW: Form = {
    "title": 'a table such as { within = "10 %" }',
    "type": "object",
    "propertyNames": {"enum": ["within"]},
    "additionalProperties": {"type": ["number", "string"]},
    "minProperties": 1,
}
VALUES: Form = {
    "title": 'a table such as { bankruptcy = "Discharged" }',
    "type": "object",
    "additionalProperties": {"anyOf": [CELL, CELLS, WINDOW]},
    "minProperties": 1,
}
SHARES: Form = {
    "title": "a table such as { G = 0.6, B = 0.4 }",
    "type": "object",
    "additionalProperties": {"type": ["number", "string"], "minimum": 0, "maximum": 1},
}
READING: Form = {
    "title": "a table such as { shares = { sex = { f = 0.5, m = 0.5 } } }",
    "type": "object",
    "minProperties": 1,
    "additionalProperties": {
        "anyOf": [
            {
                "title": "shares by attribute and value",
                "type": "object",
                "additionalProperties": SHARES,
            },
            {"title": "a list of rows", "type": "array", "items": ROW},
        ]
    },
}
MEMBERS: Form = {
    "anyOf": [
        {"enum": ["share", "exclude"]},
        {
            "title": "a table such as { alike = 0.9 }",
            "type": "object",
            "propertyNames": {"enum": ["alike"]},
            "additionalProperties": {
                "type": ["number", "string"],
                "minimum": 0,
                "maximum": 1,
            },
            "minProperties": 1,
        },
        {
            "title": "a table such as { pairs = { A = { B = 0 } }, otherwise = 1 }",
            "type": "object",
            "propertyNames": {"enum": ["pairs", "otherwise"]},
            "additionalProperties": {
                "anyOf": [
                    {"type": "object", "additionalProperties": SHARES},
                    {"type": ["number", "string"], "minimum": 0, "maximum": 1},
                ]
            },
            "minProperties": 1,
        },
    ]
}
NEARLY: Form = {
    "title": 'a table such as { within = "10 %", at_most = 0.3 }',
    "type": "object",
    "additionalProperties": {"type": ["number", "string"]},
    "minProperties": 1,
}
DENIAL: Form = {
    "title": 'a table such as { not_from = "time_hour", why = "…" }',
    "type": "object",
    "additionalProperties": NAMES,
    "minProperties": 1,
}
EDGES: Form = {
    "title": "a list of numbers or dates",
    "type": "array",
    "items": {"type": ["number", "string"]},
    "minItems": 1,
}
POSITIVE: Form = {
    "title": 'a number such as 3 or "3/2"',
    "type": ["number", "string"],
    "exclusiveMinimum": 0,
}
TREE: Form = {
    "title": 'a table such as { Flu = ["lungs", "any"] }',
    "type": "object",
    "additionalProperties": {"anyOf": [TEXT, TEXTS]},
    "minProperties": 1,
}


DOMAIN: Form = {
    "anyOf": [
        CELLS,
        {"title": '"public from FILE"', "type": "string", "minLength": 1},
        {
            "title": 'a table such as { values = ["f", "m"], other = "x" }',
            "type": "object",
            "additionalProperties": {"anyOf": [CELLS, TEXT, FLAG]},
            "minProperties": 1,
        },
    ]
}


@dataclass(frozen=True)
class Key:
    """One key of the policy file."""

    form: Form
    """What its value must look like."""
    meaning: str
    """What it says, in a sentence."""
    only_for: tuple[str, ...] = ()
    """The adversaries it goes with; empty: all."""
