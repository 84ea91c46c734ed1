"""The Python page: every public name, read off the code."""

from __future__ import annotations

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from enum import Enum
from functools import cached_property
from itertools import pairwise
from typing import Any

import attrs

import privet as pv
from making.markdown import page
from privet.microdata.suppression.exchange import ExchangeStep
from privet.microdata.suppression.sweeps import SweepStep
from privet.microdata.suppression.top_down_disclosure import DisclosureStep
from privet.release.refine import RefinementProgress
from privet.release.verify import Verification

SHELVES = {
    "Verbs": (
        "read",
        "draft_policy",
        "audit",
        "belief",
        "discover",
        "compare",
        "publish",
        "load",
        "verify",
        "skyline",
    ),
    "Tables and groups": (
        "Table",
        "Groups",
        "Views",
        "View",
        "ConnectivityGraph",
        "AssociationCover",
        "Roles",
        "Bins",
        "Counts",
    ),
    "Promises": (
        "Promise",
        "Measure",
        "Accepted",
        "DerivedColumn",
        "Purpose",
        "Signoff",
        "Policy",
        "PolicyDraft",
    ),
    "Adversaries": ("Linker", "Insider", "Reconstructor", "Bayesian"),
    "Beliefs and limits": ("Belief", "Ceiling", "Shift", "Ratio", "Frontier"),
    "Discovery": ("Discovery", "Inference"),
    "Comparison": ("Comparison", "Tradeoff"),
    "Publishing": (
        "TopDownDisclosure",
        "Mondrian",
        "FullDomain",
        "SplitViews",
        "Release",
        "UtilityReport",
        "Recipe",
        "Ledger",
        "LedgerEntry",
        "Minimality",
    ),
    "Signatures": ("SigningKey", "PublicKey", "Signature"),
    "Classifiers": (
        "NaiveBayes",
        "ClassifierViews",
        "SafetyTransform",
        "ExtendedSafetyTransform",
        "DifferentialPrivacy",
        "DeclaredDomain",
        "PrivacyLoss",
        "PrivacyBudget",
        "Inverter",
    ),
    "Asking without knowing": (
        "RandomizedResponse",
        "Design",
        "Question",
        "Group",
        "Flip",
        "KAry",
        "Matrix",
        "Replace",
        "Responses",
        "disguise",
        "estimate",
        "Estimate",
        "DisguisedNaiveBayes",
        "score_disguised",
        "Collector",
    ),
    "Findings": (
        "Audit",
        "Finding",
        "Witness",
        "Verdict",
        "Basis",
        "Exposure",
        "Progress",
    ),
}
"""The order in which a reader meets the names; what is not here comes after."""

MET = (DisclosureStep, SweepStep, ExchangeStep, RefinementProgress, Verification)
"""Values that a reader meets but never makes; they have no public name."""


SHARED = (
    "privet.values.exact",
    "privet.policy.policy",
    "privet.classifier.release",
)
"""Modules with short names that others use."""


VAGUE = (inspect.Parameter.empty, "Mapping[Any, Any]")
"""What converters say that take anything; the field says more."""


def python_page() -> str:
    """Every public name with its signature and its documentation."""
    parts = [
        "Everything is imported from `privet`; the examples say `import privet as pv`. "
        "Options are keyword-only where the signature has a `*`. Values are frozen: "
        "make a new one instead of changing one, such as "
        '`attrs.evolve(roles, target="income")`.',
        'A probability may be written as text (`"1/2"`, `"0.5"`, `"50 %"`), as a '
        "`Fraction`, a `Decimal`, a whole number or a float. A float is read at its "
        "printed digits, so `0.1` is exactly one tenth.",
    ]
    for shelf, names in shelves().items():
        parts.append(f"## {shelf}")
        parts += [_name_section(name, getattr(pv, name)) for name in names]
    parts += ["## Values you are handed", "They are never made by hand."]
    parts += [_met(value) for value in MET]
    return page("Python reference", *parts, *_alias_part("\n".join(parts)))


def _alias_part(text: str) -> list[str]:
    """What the short names in signatures stand for, as far as they occur."""
    used: dict[str, tuple[str, str]] = {}
    for n, words in _aliases():
        if re.search(rf"\b{n}\b", text):
            used.setdefault(n, words)
    if not used:
        return []
    lines = [f"- `{n}` is `{kind}`: {said}" for n, (kind, said) in used.items()]
    return ["## Short names in signatures", "\n".join(lines)]


def _aliases() -> Iterator[tuple[str, tuple[str, str]]]:
    """Documented names for types, read off the modules that public names live in."""
    homes = {getattr(pv, n).__module__ for n in pv.__all__ if n != "__version__"}
    homes |= {value.__module__ for value in MET}
    for home in sorted({*homes, *SHARED}):
        body = ast.parse(inspect.getsource(sys.modules[home])).body
        for node, after in pairwise(body):
            if not isinstance(node, ast.Assign) or not isinstance(after, ast.Expr):
                continue
            (target,) = node.targets
            name, kind = ast.unparse(target), ast.unparse(node.value)
            plain = re.fullmatch(r"[\w\s|,.\[\]]+", kind)
            if re.match("[A-Z][a-z]", name) and plain:
                yield name, (kind, " ".join(ast.literal_eval(after.value).split()))


def shelves() -> dict[str, list[str]]:
    """The names on each shelf; those on none come last."""
    placed = {n for names in SHELVES.values() for n in names}
    left = [n for n in pv.__all__ if n not in placed]
    errors = [n for n in left if _is_error(getattr(pv, n))]
    rest = [n for n in left if n not in errors]
    found = {s: [n for n in names if n in pv.__all__] for s, names in SHELVES.items()}
    return {**found, "Errors and warnings": errors, "More": rest}


def _is_error(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, BaseException)


def anchor(name: str) -> str:
    """The id of a name's section; `Belief` and `belief` must differ."""
    return f"privet.{name.strip('_')}"


def _name_section(name: str, value: Any) -> str:
    head = f"### `{name}` {{ #{anchor(name)} }}"
    if isinstance(value, str):
        return f"{head}\n\nThe version, as text: {value!r}."
    parts = [head, f"```python\n{_signature(name, value)}\n```"]
    parts.append(docstring(inspect.getdoc(value) or ""))
    if isinstance(value, type):
        parts += _class_parts(value)
    return "\n\n".join(p for p in parts if p)


def _met(value: type) -> str:
    head = f"### `{value.__name__}` {{ #{anchor(value.__name__)} }}"
    said = docstring(inspect.getdoc(value) or "")
    return "\n\n".join([head, said, *_class_parts(value)])


def _signature(name: str, value: Any) -> str:
    if _is_error(value):
        bases = [b.__name__ for b in value.__bases__]
        return f"class {name}({', '.join(bases)})"
    if isinstance(value, type) and issubclass(value, Enum):
        return f"class {name}"
    shown = [_parameter(p) for p in _parameters(value)]
    returns = inspect.signature(value).return_annotation
    end = "" if isinstance(value, type) else f" -> {returns}"
    line = f"{name}({', '.join(shown)}){end}"
    if len(line) <= 78:
        return line
    return f"{name}(\n" + "".join(f"    {s},\n" for s in shown) + f"){end}"


def _parameters(value: Any) -> list[inspect.Parameter | str]:
    """The parameters, with a lone star before the keyword-only ones."""
    found: list[inspect.Parameter | str] = []
    declared = attrs.fields_dict(value) if attrs.has(value) else {}
    for given in inspect.signature(value).parameters.values():
        p = given
        if p.annotation in VAGUE and p.name in declared:
            p = p.replace(annotation=declared[p.name].type)
        if p.kind is p.KEYWORD_ONLY and "*" not in found:
            found.append("*")
        if p.kind is p.VAR_POSITIONAL:
            found.append("*")
        found.append(p)
    return [p for p in found if p == "*" or _is_public(p)]


def _is_public(p: Any) -> bool:
    return p.name != "self" and not p.name.startswith("_")


def _parameter(p: inspect.Parameter | str) -> str:
    if isinstance(p, str):
        return p
    stars = {p.VAR_KEYWORD: "**", p.VAR_POSITIONAL: "*"}.get(p.kind, "")
    typed = "" if p.annotation is p.empty else f": {p.annotation}"
    if p.default is p.empty:
        return f"{stars}{p.name}{typed}"
    made = p.default is attrs.NOTHING or repr(p.default).startswith("<")
    default = p.default if p.annotation == "Number" else repr(p.default)
    default = "…" if made else default
    return f"{stars}{p.name}{typed} = {default}"


def _class_parts(value: type) -> Iterator[str]:
    if issubclass(value, Enum):
        yield "\n".join(f"- `{m.name}` is `{m.value!r}`" for m in value)
        return
    fields = list(_fields(value))
    if any(doc for _, _, doc in fields):  # else they are the parameters above
        yield "Fields:"
        yield "\n".join(
            f"- `{n}: {kind}`{': ' if doc else ''}{doc}" for n, kind, doc in fields
        )
    methods = list(_methods(value))
    if methods:
        yield "Methods and properties:"
        yield "\n".join(f"- `{shown}`: {doc}" for shown, doc in methods)


def _fields(value: type) -> Iterator[tuple[str, str, str]]:
    """Name, type and documentation of each field, read off the source."""
    body = ast.parse(textwrap.dedent(inspect.getsource(value))).body[0]
    assert isinstance(body, ast.ClassDef)
    for at, node in enumerate(body.body):
        if not isinstance(node, ast.AnnAssign) or "ClassVar" in ast.unparse(
            node.annotation
        ):
            continue
        if ast.unparse(node.target).startswith("_"):
            continue
        after = body.body[at + 1] if at + 1 < len(body.body) else None
        doc = ""
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            doc = " ".join(str(after.value.value).split())
        yield ast.unparse(node.target), ast.unparse(node.annotation), doc


def _methods(value: type) -> Iterator[tuple[str, str]]:
    """Methods and properties, those of a base without a public name included."""
    bases = [b for b in value.__mro__[1:] if b.__module__.startswith("privet.")]
    hidden = [b for b in bases if b.__name__ not in pv.__all__]
    for name in dict.fromkeys(n for b in [value, *hidden] for n in vars(b)):
        member = inspect.getattr_static(value, name)
        if name.startswith("_") or name in ("kind",):
            continue
        if isinstance(member, property | cached_property):
            plain = isinstance(member, property)
            yield name, _first(member.fget if plain else member.func)
        elif isinstance(member, classmethod):
            made = f"{value.__name__}.{name}"
            yield _call(made, member.__func__), _first(member.__func__)
        elif inspect.isfunction(member):
            shown = _call(name, member).replace("-> Self", f"-> {value.__name__}")
            yield shown, _first(member)


def _call(name: str, function: Any) -> str:
    shown = [
        _parameter(p)
        for p in _parameters(function)
        if p == "*" or p.name not in ("self", "cls")  # type: ignore[union-attr]
    ]
    returns = inspect.signature(function).return_annotation
    return f"{name}({', '.join(shown)}) -> {returns}"


def _first(function: Any) -> str:
    return " ".join((inspect.getdoc(function) or "").split("\n\n")[0].split())


def docstring(text: str) -> str:
    """A numpy-style docstring as Markdown."""
    parts = []
    for part in re.split(r"\n(?=\w+\n-{3,}\n)", text):
        head, _, body = part.partition("\n")
        if re.match(r"-{3,}\n", body):
            body = body.partition("\n")[2]
            parts.append(
                _parameter_list(body) if head == "Parameters" else _prose(body)
            )
        else:
            parts.append(_prose(part))
    return "\n\n".join(parts)


def _prose(text: str) -> str:
    """Paragraphs, with each dialogue in a fence of its own."""
    parts: list[str] = []
    for part in re.split(r"\n\n+", text.strip("\n")):
        if part.startswith(">>>"):
            parts.append(f"```pycon\n{part}\n```")
        elif part == "::":
            continue
        elif part.startswith("    "):
            parts.append(f"```text\n{textwrap.dedent(part)}\n```")
        elif "\n>>>" in part:
            said, _, typed = part.partition("\n>>>")
            parts += [said, f"```pycon\n>>>{typed}\n```"]
        else:
            parts.append(part)
    return "\n\n".join(parts)


def _parameter_list(body: str) -> str:
    """Names on lines of their own, explained by the indented lines after them."""
    lines = []
    for entry in re.split(r"\n(?=\S)", body.strip("\n")):
        names, _, said = entry.partition("\n")
        shown = ", ".join(f"`{n.strip()}`" for n in names.split(","))
        lines.append(f"- {shown}: {' '.join(said.split())}")
    return "\n".join(lines)
