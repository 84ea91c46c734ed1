"""The keys of the policy file: what each means, and what form it has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

from privet.policy.acceptance import ACCEPTABLE
from privet.policy.measures import DISTANCES, MISSING, MeasureKind, list_measures
from privet.policy.promises import UTILITIES
from privet.values.adversaries import KINDS
from privet.values.key_forms import (
    CELL,
    CELLS,
    COUNT,
    DELIMITER,
    DENIAL,
    DOMAIN,
    EDGES,
    FACTOR,
    FILE,
    FLAG,
    FOLDER,
    LEVEL,
    NAME,
    NAMES,
    POSITIVE,
    TEXT,
    TEXTS,
    TITLES,
    TREE,
    VALUES,
    WHOLE,
    Form,
    Key,
)
from privet.values.noise.differential_privacy import NOISES


def _make_measure_key(kind: MeasureKind) -> Key:
    """The key of a measure."""
    words = f"{kind.sense.capitalize()} this: {kind.meaning}."
    if kind.whole:
        return Key(COUNT, words)
    form = {
        "title": 'a number such as 0.5 or "1/2"',
        "type": ["number", "string"],
        "minimum": _as_number(kind.least),
    }
    top = {} if kind.most is None else {"maximum": _as_number(kind.most)}
    return Key(form | top, words)


def _as_number(bound: Fraction) -> int | float:
    """A bound as JSON has it."""
    return int(bound) if bound.denominator == 1 else float(bound)


class KeysWhenAsked(Mapping[str, Key]):
    """Keys that follow from the measures or adversaries there are; listed when asked
    for.
    """

    def __init__(self, find: Callable[[], dict[str, Key]]) -> None:
        self._find = find

    def __getitem__(self, key: str) -> Key:
        return self._find()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._find())

    def __len__(self) -> int:
        return len(self._find())


def _list_measure_keys() -> dict[str, Key]:
    levels = {k: _make_measure_key(kind) for k, kind in list_measures().items()}
    return {"name": MEASURE_NAME, **levels, **MEASURE_OPTIONS}


def _list_promise_keys() -> dict[str, Key]:
    """Whom it is against, each adversary's own keys, and the limit."""
    kinds = {"enum": list(KINDS)}
    against = Key(kinds, "Who must not learn it: the kind of adversary.")
    own: dict[str, Key] = {}
    for kind, adversary in KINDS.items():
        for name, key in adversary.keys.items():
            same = own.get(name, key)
            own[name] = replace(same, only_for=(*same.only_for, kind))
    return {"name": PROMISE_NAME, "against": against, **own, **PROMISED}


PROMISE_NAME = Key(TEXT, "How reports call the promise; each has its own.")

PROMISED = {
    "about": Key(
        {"anyOf": [TEXT, CELLS, VALUES]},
        'A column (each of its values), { column = "value" }, several values, a number '
        'within a window, { column = { within = "10 %" } }, or a secret query.',
    ),
    "at_most": Key(LEVEL, "The belief may be this much, not more."),
    "below": Key(LEVEL, "The belief must stay below this."),
    "from": Key(LEVEL, "With `to`: no belief may move from below this …"),
    "to": Key(LEVEL, "… to this or more, nor back."),
    "within": Key(FACTOR, "The belief may change by this factor, not more."),
    "exactly": Key(
        LEVEL,
        "Against an inverter: the share of original counts that may be got exactly.",
    ),
}
"""Keys of every promise: what it is about, and its limit."""

MEASURE_NAME = Key(TEXT, "How reports call the measure; each has its own.")

MEASURE_OPTIONS = {
    "about": Key(NAME, "The sensitive column, where there are several."),
    "missing": Key(
        {"enum": list(MISSING)},
        "How a missing value is read: as a value of its own (the default), as no "
        "row, or as any value.",
    ),
    "c": Key(POSITIVE, "The factor of recursive diversity."),
    "k": Key(COUNT, "The least people who look alike, beside alpha."),
    "distance": Key({"enum": list(DISTANCES)}, "How far apart two values are."),
    "hierarchy": Key(TREE, "Each value's ancestors, for the hierarchical distance."),
    "population": Key(FOLDER, "A file of everybody who might be in the table."),
}
"""Keys of a measure beside its level."""

SECTIONS: dict[str, Mapping[str, Key]] = {
    "": {
        "title": Key(TEXT, "What the release is called."),
        "ledger": Key(
            FOLDER,
            "The folder of the ledger, beside the policy file: every release about the "
            "same people is entered there, and judged with those before it.",
        ),
    },
    "columns": {
        "identifier": Key(NAMES, "Columns that name a person; never released."),
        "quasi": Key(NAMES, "Columns an outsider may know about a person."),
        "sensitive": Key(NAMES, "Columns nobody should learn about a person."),
        "other": Key(
            NAMES, "Columns that are published as they are; they may be known too."
        ),
        "drop": Key(NAMES, "Columns that are left out of every release."),
        "target": Key(NAME, "The column the analyst wants to explain."),
        "unit": Key(NAME, "Tells people apart where somebody has several rows."),
        "weight": Key(NAME, "Says how many rows each row stands for."),
    },
    "person": {
        "by": Key(NAME, "The column that tells people apart; the unit, if left out."),
        "order": Key(
            NAMES,
            "Columns of numbers or dates that say which row of a person is the first.",
        ),
        "first": Key(NAMES, "Columns of which the first row's cell is taken."),
        "last": Key(NAMES, "Columns of which the last row's cell is taken."),
        "least": Key(NAMES, "Columns of which the least value is taken."),
        "most": Key(NAMES, "Columns of which the largest value is taken."),
        "commonest": Key(
            NAMES,
            "Columns of which the commonest value is taken; of several as common, the "
            "least.",
        ),
        "set": Key(NAMES, "Columns of which the list of different values is taken."),
        "count": Key(NAMES, "Columns of which the rows with a value are counted."),
    },
    "file": {
        "delimiter": Key(DELIMITER, "What stands between two values of a text file."),
        "encoding": Key(TEXT, "Its encoding: utf-8, cp1252, utf-16 and others."),
        "header": Key(FLAG, "Whether its first line names the columns."),
        "names": Key(TITLES, "What its columns are called, where it does not say so."),
        "null": Key(NAMES, "Texts that stand for a missing value."),
        "dates": Key(
            {"enum": ["dmy", "mdy", "ymd", "text"]},
            "The order of day, month and year in its dates; text: they stay texts.",
        ),
        "decimal": Key(
            {"enum": [",", ".", "text"]},
            "What stands before its decimals; text: numbers with commas stay texts.",
        ),
    },
    "promise": KeysWhenAsked(_list_promise_keys),
    "view": {
        "name": Key(TEXT, "What the view is called; its file is called so too."),
        "columns": Key(NAMES, "The columns it shows."),
    },
    "measure": KeysWhenAsked(_list_measure_keys),
    "purpose": {
        "utility": Key(
            {"enum": list(UTILITIES)}, "What the analyst keeps as much of as possible."
        ),
    },
    "earlier": {
        "custody": Key(
            FOLDER,
            "The custody folder of an earlier release of the same people, beside the "
            "policy file.",
        ),
    },
    "accepted": {
        "about": Key(NAME, "The column about which nothing is promised."),
        "of": Key(
            {"enum": list(ACCEPTABLE)},
            "What is accepted: linkage by all known columns (the default), matching "
            "rows of several releases, tables with unrelated views, inversion.",
        ),
        "up_to": Key(WHOLE, "How many people may be concerned; more are not accepted."),
        "why": Key(TEXT, "Why it is accepted; stands in the public note."),
        "who": Key(TEXT, "Who accepted it; kept in custody."),
    },
    "privacy": {
        "epsilon": Key(
            POSITIVE,
            "With one person more or less, nothing is more than e to this times as "
            "likely to be published.",
        ),
        "delta": Key(LEVEL, "But for this chance."),
        "rho": Key(POSITIVE, "A zero-concentrated loss, in place of epsilon."),
        "rows_per_person": Key(COUNT, "How many rows of a person count; 1 by default."),
        "heaviest": Key(
            POSITIVE,
            "How much one row may count, where rows have weights; without it, a row "
            "that stands for several is several people's.",
        ),
        "grid": Key(POSITIVE, "Weights are rounded to multiples of this; 1."),
        "noise": Key(
            {"enum": list(NOISES)}, "The kind of noise; by default what is smaller."
        ),
        "selection": Key(
            LEVEL,
            "Which share of epsilon and delta selects the values of columns without a "
            "domain; a quarter.",
        ),
    },
    "budget": {
        "epsilon": Key(
            POSITIVE, "The loss that all releases in the ledger may come to."
        ),
        "delta": Key(LEVEL, "But for this chance."),
    },
    "signoff": {
        "name": Key(TEXT, "Who answers for the release."),
        "date": Key(TEXT, "When they agreed, such as 2026-03-31."),
        "purpose": Key(TEXT, "What the release is given out for."),
    },
}
"""Every key of a policy; sections with free keys are in `FREE`."""

FREE: dict[str, Key] = {
    "bins": Key(EDGES, "Public cut points of a numeric or date column."),
    "where": Key(
        {"anyOf": [CELL, CELLS]},
        "Only rows whose column has this value, or one of these.",
    ),
    "hierarchy": Key(
        FILE,
        "The file with a column's value hierarchy, as ARX writes it, beside the policy "
        "file.",
    ),
    "domain": Key(
        DOMAIN,
        "The values a column may have, said without looking at the table: a list, or "
        '"public from FILE", a file of them beside the policy file. `other` is what '
        "any other value counts as.",
    ),
    "derived": Key(
        {"anyOf": [NAME, TEXTS, DENIAL]},
        "The column, or the two columns, that tell this one; or that it does not "
        "follow from them, and why.",
    ),
}
"""Sections whose keys are columns."""

LISTS = ("view", "promise", "measure", "earlier", "accepted")
"""Sections written [[so]], once or several times."""

STATED = ("promise", "measure")
"""Of these a policy must hold at least one."""

MEANINGS = {
    "view": "Columns that are published together, without duplicates; one of several.",
    "columns": "What the columns are for.",
    "person": "How several rows of a person become one. A column without a rule must "
    "be the same in all of a person's rows.",
    "file": "How the text file of the table is written, where that was asked.",
    "promise": "What nobody may learn, and how sure they may become of it.",
    "measure": "A familiar measure that the table must reach.",
    "purpose": "What the release is for.",
    "earlier": "An earlier release that somebody may have besides the new one.",
    "accepted": "What is not promised and accepted all the same, by somebody.",
    "privacy": "Noise on the counts of a classifier, by differential privacy.",
    "budget": "How much all releases in the ledger may tell of any one person.",
    "signoff": "Who answers for the release; kept in custody.",
    "bins": FREE["bins"].meaning,
    "where": FREE["where"].meaning,
    "hierarchy": FREE["hierarchy"].meaning,
    "domain": FREE["domain"].meaning,
    "derived": FREE["derived"].meaning,
}
"""What each section says."""

LIMITS = ({"at_most"}, {"below"}, {"from", "to"}, {"within"}, {"exactly"})
"""The keys of a limit; a promise has one of these sets."""


# The JSON Schema --------------------------------------------------------------------


def schema() -> dict[str, Any]:
    """The JSON Schema of the policy file."""
    properties = _make_properties(SECTIONS[""])
    for name, meaning in MEANINGS.items():
        properties[name] = {**_make_section(name), "description": meaning}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "privet policy",
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
        "anyOf": [
            {"required": [name], "properties": {name: {"minItems": 1}}}
            for name in STATED
        ],
    }


def _make_section(name: str) -> dict[str, Any]:
    if name in FREE:
        return {"type": "object", "additionalProperties": FREE[name].form}
    form = {
        "type": "object",
        "additionalProperties": False,
        "properties": _make_properties(SECTIONS[name]),
        **(_EXTRA[name]() if name in _EXTRA else {}),
    }
    return {"type": "array", "items": form} if name in LISTS else form


def _make_properties(keys: Mapping[str, Key]) -> dict[str, Any]:
    return {k: {**key.form, "description": key.meaning} for k, key in keys.items()}


def _forbid_foreign(kind: str) -> dict[str, Any]:
    """A promise against this adversary must not have another one's keys."""
    keys = SECTIONS["promise"].items()
    others = [k for k, key in keys if key.only_for and kind not in key.only_for]
    # Of shares of counts the limit is `exactly`; of beliefs it is one of the others.
    shares = KINDS[kind].limit_key == "exactly"
    others += sorted(set().union(*LIMITS[:-1])) if shares else ["exactly"]
    return {
        "if": {"properties": {"against": {"const": kind}}},
        "then": {"properties": dict.fromkeys(others, False)},
    }


def _require_one_of(sets: Iterable[Iterable[str]]) -> list[dict[str, Any]]:
    return [{"required": sorted(keys)} for keys in sets]


def _relate_measure_keys() -> dict[str, Any]:
    """One level, with the options it must have and no others."""
    kinds = list_measures()
    owners = {
        option: [k for k, kind in kinds.items() if option in kind.options]
        for option in MEASURE_OPTIONS
    }
    needs = {k: list(kind.required) for k, kind in kinds.items() if kind.required}
    needs |= {option: keys for option, keys in owners.items() if len(keys) == 1}
    needs["hierarchy"] = ["distance", *needs.get("hierarchy", ())]
    shared = {
        option: {"anyOf": _require_one_of([k] for k in keys)}
        for option, keys in owners.items()
        if len(keys) > 1
    }
    return {
        "oneOf": _require_one_of([k] for k in kinds),
        "dependentRequired": needs,
        **({"dependentSchemas": shared} if shared else {}),
    }


def _relate_promise_keys() -> dict[str, Any]:
    """One limit, and no other adversary's keys."""
    return {
        "required": ["against"],
        "allOf": [_forbid_foreign(kind) for kind in KINDS],
        "oneOf": _require_one_of(LIMITS),
        "dependentRequired": {"from": ["to"], "to": ["from"]},
    }


_EXTRA: dict[str, Callable[[], dict[str, Any]]] = {
    "promise": _relate_promise_keys,
    "view": lambda: {"required": ["columns"]},
    "measure": _relate_measure_keys,
    "earlier": lambda: {"required": ["custody"]},
    "accepted": lambda: {"required": ["why", "who"]},
    "signoff": lambda: {"required": ["name", "date", "purpose"]},
    "privacy": lambda: {"oneOf": _require_one_of([["epsilon"], ["rho"]])},
    "budget": lambda: {"required": ["epsilon"]},
}
"""What must hold of a section as a whole."""


# Forms ------------------------------------------------------------------------------


_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, Decimal),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}


def fits(value: Any, form: Form) -> bool:
    """Whether a value has the form.

    Bounds of numbers are left to the values themselves, which say more about them.
    """
    if "anyOf" in form:
        return any(fits(value, f) for f in form["anyOf"])
    if "enum" in form:
        return value in form["enum"]
    kinds = _kinds(form)
    if isinstance(value, bool) and "boolean" not in kinds:
        return False
    right = any(isinstance(value, _TYPES[k]) for k in kinds)
    return right and _fits_inside(value, form)


def _kinds(form: Form) -> list[str]:
    return form["type"] if isinstance(form["type"], list) else [form["type"]]


def _fits_inside(value: Any, form: Form) -> bool:
    if isinstance(value, list):
        enough = len(value) >= form.get("minItems", 0)
        return enough and all(fits(v, form["items"]) for v in value)
    if isinstance(value, dict):
        enough = len(value) >= form.get("minProperties", 0)
        inner = form["additionalProperties"]
        return enough and all(fits(v, inner) for v in value.values())
    if isinstance(value, str):
        return bool(value) or "minLength" not in form
    return not (form["type"] == "integer" and value < form["minimum"])


def form_words(form: Form) -> str:
    """A form in words.

    >>> form_words(NAMES), form_words({"enum": ["rows", "worlds"]})
    ('text or a list of texts', "'rows' or 'worlds'")
    """
    if "anyOf" in form:
        return " or ".join(form_words(f) for f in form["anyOf"])
    if "enum" in form:
        return " or ".join(map(repr, form["enum"]))
    words: str = form["title"]
    return words
