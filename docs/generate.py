"""Writes the reference pages from the code itself; run by ``make docs-pages``.

`pages` gives every page as text, so that a test can tell whether the files are
current. What cannot be read off the code (an example per policy key, the meaning of
each field of the JSON output) stands here, and a test fails where one is missing.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from enum import Enum
from itertools import pairwise
from pathlib import Path
from typing import Any

import classifier_fields
import click

import privet as pv
from privet.cli import cli
from privet.demo.tables import bank_path
from privet.policy.keys import FREE, LISTS, SECTIONS, Key, form_words, schema
from privet.publishers.disclose import Step
from privet.publishers.reading import Verification
from privet.publishers.refine import Refining
from privet.report.released import summary
from privet.terminal import BUG, EXIT, INFEASIBLE, INTERRUPTED, WRONG

REFERENCE = Path(__file__).parent / "reference"
MADE = (
    "<!-- Made by docs/generate.py; run `make docs-pages` after a change. -->\n"
    "<!-- fmt: off -->"  # examples stand as their docstrings have them
)


def pages() -> dict[str, str]:
    """Every generated file of the reference, by its name."""
    return {
        "python.md": python_page(),
        "command-line.md": command_page(),
        "policy.md": policy_page(),
        "policy.schema.json": json.dumps(schema(), indent=2) + "\n",
        "exit-codes.md": exit_page(),
        "json.md": json_page(),
        "release.md": release_page(),
    }


def _page(title: str, *parts: str) -> str:
    return "\n\n".join([MADE, f"# {title}", *(p.strip("\n") for p in parts)]) + "\n"


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    def line(cells: tuple[str, ...]) -> str:
        return "| " + " | ".join(c.replace("|", "\\|") for c in cells) + " |"

    return "\n".join([line(head), line(("---",) * len(head)), *map(line, rows)])


# Python -----------------------------------------------------------------------------

SHELVES = {
    "Verbs": ("read", "audit", "belief", "publish", "load", "verify", "skyline"),
    "Tables and groups": (
        "Table",
        "Groups",
        "Views",
        "View",
        "Roles",
        "Bins",
        "Counts",
    ),
    "Promises": ("Promise", "Measure", "Purpose", "Signoff", "Policy"),
    "Adversaries": ("Linker", "Insider", "Reconstructor", "Bayesian"),
    "Beliefs and limits": ("Belief", "Ceiling", "Shift", "Ratio", "Frontier"),
    "Publishing": ("TopDownDisclosure", "Mondrian", "SplitViews", "Release", "Recipe"),
    "Classifiers": (
        "NaiveBayes",
        "ClassifierViews",
        "SafetyTransform",
        "ExtendedSafetyTransform",
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
    "Findings": ("Audit", "Finding", "Witness", "Verdict", "Basis", "Progress"),
}
"""The order in which a reader meets the names; what is not here comes after."""

MET = (Step, Refining, Verification)
"""Values that a reader meets but never makes; they have no public name."""


def python_page() -> str:
    """Every public name with its signature and its documentation."""
    parts = [
        "Everything is imported from `privet`; the examples say `import privet as pv`. "
        "Options are keyword-only where the signature has a `*`. Values are frozen: "
        "make a new one instead of changing one.",
        'A probability may be written as text (`"1/2"`, `"0.5"`, `"50 %"`), as a '
        "`Fraction`, a `Decimal`, a whole number or a float. A float is read at its "
        "printed digits, so `0.1` is exactly one tenth.",
    ]
    for shelf, names in _shelves().items():
        parts.append(f"## {shelf}")
        parts += [_name_section(name, getattr(pv, name)) for name in names]
    parts += ["## Values you are handed", "They are never made by hand."]
    parts += [_met(value) for value in MET]
    return _page("Python reference", *parts, *_alias_part("\n".join(parts)))


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
    for home in sorted({*homes, "privet.exact"}):
        body = ast.parse(inspect.getsource(sys.modules[home])).body
        for node, after in pairwise(body):
            if not isinstance(node, ast.Assign) or not isinstance(after, ast.Expr):
                continue
            (target,) = node.targets
            name, kind = ast.unparse(target), ast.unparse(node.value)
            plain = re.fullmatch(r"[\w\s|,.\[\]]+", kind)
            if re.match("[A-Z][a-z]", name) and plain:
                yield name, (kind, " ".join(ast.literal_eval(after.value).split()))


def _shelves() -> dict[str, list[str]]:
    placed = {n for names in SHELVES.values() for n in names}
    left = [n for n in pv.__all__ if n not in placed]
    errors = [n for n in left if _is_error(getattr(pv, n))]
    rest = [n for n in left if n not in errors]
    shelves = {s: [n for n in names if n in pv.__all__] for s, names in SHELVES.items()}
    return {**shelves, "Errors and warnings": errors, "More": rest}


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
    for p in inspect.signature(value).parameters.values():
        if p.kind is p.KEYWORD_ONLY and "*" not in found:
            found.append("*")
        if p.kind is p.VAR_POSITIONAL:
            found.append("*")
        found.append(p)
    return [p for p in found if p == "*" or p.name != "self"]  # type: ignore[union-attr]


def _parameter(p: inspect.Parameter | str) -> str:
    if isinstance(p, str):
        return p
    stars = {p.VAR_KEYWORD: "**", p.VAR_POSITIONAL: "*"}.get(p.kind, "")
    typed = "" if p.annotation is p.empty else f": {p.annotation}"
    if p.default is p.empty:
        return f"{stars}{p.name}{typed}"
    default = "…" if repr(p.default).startswith("<") else repr(p.default)
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
        after = body.body[at + 1] if at + 1 < len(body.body) else None
        doc = ""
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            doc = " ".join(str(after.value.value).split())
        yield ast.unparse(node.target), ast.unparse(node.annotation), doc


def _methods(value: type) -> Iterator[tuple[str, str]]:
    for name, member in vars(value).items():
        if name.startswith("_") or name in ("kind",):
            continue
        if isinstance(member, property):
            yield name, _first(member.fget)
        elif isinstance(member, classmethod):
            made = f"{value.__name__}.{name}"
            yield _call(made, member.__func__), _first(member.__func__)
        elif inspect.isfunction(member):
            yield _call(name, member), _first(member)


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


# Command line -----------------------------------------------------------------------


_WIDE: dict[str, Any] = {"terminal_width": 88, "max_content_width": 88}
"""The same pages in a wide terminal and in a narrow one."""


def command_page() -> str:
    """Every command with its options."""
    context = click.Context(cli, info_name="privet", **_WIDE, **cli.context_settings)
    parts = [f"```text\n{cli.get_help(context)}\n```"]
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        parts.append(_command(name, command, context))
    return _page("Command line", *parts)


def _command(name: str, command: click.Command, parent: click.Context) -> str:
    context = click.Context(command, info_name=name, parent=parent, **_WIDE)
    usage = command.get_usage(context).removeprefix("Usage: ")
    rows = [
        (f"`{shown}`", help_ or "")
        for p in command.get_params(context)
        if isinstance(p, click.Option) and (record := p.get_help_record(context))
        for shown, help_ in [record]
    ]
    parts = [f"## `privet {name}`", f"```text\n{usage}\n```"]
    parts.append(_click_help(command.help or ""))
    return "\n\n".join([*parts, _table(("option", "meaning"), rows)])


def _click_help(text: str) -> str:
    """Help text as Markdown; what click keeps as it is goes into a fence."""
    parts = []
    for part in inspect.cleandoc(text).split("\n\n"):
        literal, _, body = part.partition("\n")
        if literal == "\b":
            parts.append(f"```text\n{body}\n```")
        else:
            parts.append(part.replace("\n", " "))
    return "\n\n".join(parts)


# Policy -----------------------------------------------------------------------------

EXAMPLES = {
    "title": 'title = "Loan ratings, research file"',
    "columns.identifier": '[columns]\nidentifier = ["name", "account"]',
    "columns.quasi": '[columns]\nquasi = ["job", "country", "child"]',
    "columns.sensitive": '[columns]\nsensitive = ["bankruptcy"]',
    "columns.target": '[columns]\ntarget = "rating"',
    "columns.unit": '[columns]\nidentifier = ["patient_id"]\nunit = "patient_id"',
    "columns.weight": '[columns]\nweight = "count"',
    "bins": '[bins]\nage = [18, 40, 65]\nadmitted = ["2023-01-01", "2023-07-01"]',
    "where": '[where]\nyear = 2024\nregion = ["North", "South"]',
    "hierarchy": '[hierarchy]\njob = "jobs.csv"',
    "promise.name": '[[promise]]\nname = "nobody learns a discharge"\n'
    'against = "linker"\nabout = "bankruptcy"\nat_most = 0.5',
    "promise.against": '[[promise]]\nagainst = "linker"\nabout = "bankruptcy"\n'
    "at_most = 0.5",
    "promise.knows": '[[promise]]\nagainst = "linker"\nknows = ["job", "country"]\n'
    'about = "bankruptcy"\nat_most = 0.5',
    "promise.knows_any": '[[promise]]\nagainst = "linker"\nknows_any = 3\n'
    'about = "bankruptcy"\nat_most = 0.5',
    "promise.rules_out": '[[promise]]\nagainst = "insider"\nrules_out = 1\n'
    'about = "bankruptcy"\nbelow = 0.8',
    "promise.knows_others": '[[promise]]\nagainst = "insider"\nknows_others = 2\n'
    'about = "bankruptcy"\nbelow = 0.8',
    "promise.same_as": '[[promise]]\nagainst = "insider"\nsame_as = 1\n'
    'about = "bankruptcy"\nbelow = 0.8',
    "promise.victim": '[[promise]]\nagainst = "insider"\nvictim = "Tom"\n'
    'rules_out = ["Current"]\nabout = "bankruptcy"\nbelow = 0.8',
    "promise.model": '[[promise]]\nagainst = "reconstructor"\nmodel = "restricted"\n'
    'about = { name = "George", problem = "HIV" }\nat_most = 0.5',
    "promise.one_row_per_id": '[[promise]]\nagainst = "reconstructor"\n'
    'one_row_per_id = true\nabout = { name = "George", problem = "HIV" }\n'
    "at_most = 0.5",
    "promise.worlds": '[[promise]]\nagainst = "reconstructor"\nworlds = "full"\n'
    'about = "select name, problem from T where age = 45"\nat_most = 0.8',
    "view.name": '[[view]]\nname = "ages"\ncolumns = ["name", "age"]',
    "view.columns": '[[view]]\ncolumns = ["age", "job", "problem"]',
    "promise.prior": '[[promise]]\nagainst = "bayesian"\nprior = { G = 0.6, B = 0.4 }\n'
    'about = "rating"\nfrom = 0.51\nto = 0.8',
    "promise.averaging": '[[promise]]\nagainst = "bayesian"\naveraging = "worlds"\n'
    'about = "rating"\nfrom = 0.51\nto = 0.8',
    "promise.sees": '[[promise]]\nagainst = "bayesian"\nsees = { smokes = "yes" }\n'
    'about = "smokes"\nwithin = 3',
    "promise.about": '[[promise]]\nagainst = "linker"\n'
    'about = { bankruptcy = ["Discharged", "Current"] }\nat_most = 0.5',
    "promise.at_most": '[[promise]]\nagainst = "linker"\nabout = "bankruptcy"\n'
    'at_most = "1/3"',
    "promise.below": '[[promise]]\nagainst = "linker"\nabout = "bankruptcy"\n'
    "below = 0.8",
    "promise.from": '[[promise]]\nagainst = "bayesian"\nabout = "rating"\n'
    "from = 0.51\nto = 0.8",
    "promise.to": '[[promise]]\nagainst = "bayesian"\nabout = "rating"\n'
    "from = 0.51\nto = 0.8",
    "promise.within": '[[promise]]\nagainst = "bayesian"\nabout = "rating"\nwithin = 2',
    "measure.name": '[[measure]]\nname = "nobody stands alone"\nk_anonymity = 2',
    "measure.k_anonymity": "[[measure]]\nk_anonymity = 5",
    "measure.alpha_k_anonymity": "[[measure]]\nalpha_k_anonymity = 0.5\nk = 5",
    "measure.distinct_l_diversity": "[[measure]]\ndistinct_l_diversity = 3",
    "measure.entropy_l_diversity": "[[measure]]\nentropy_l_diversity = 2.5",
    "measure.recursive_l_diversity": "[[measure]]\nrecursive_l_diversity = 3\nc = 2",
    "measure.t_closeness": "[[measure]]\nt_closeness = 0.2",
    "measure.beta_likeness": "[[measure]]\nbeta_likeness = 1",
    "measure.enhanced_beta_likeness": "[[measure]]\nenhanced_beta_likeness = 1",
    "measure.delta_disclosure": "[[measure]]\ndelta_disclosure = 1.5",
    "measure.prosecutor_risk": "[[measure]]\nprosecutor_risk = 0.2",
    "measure.journalist_risk": "[[measure]]\njournalist_risk = 0.05\n"
    'population = "census.csv"',
    "measure.marketer_risk": "[[measure]]\nmarketer_risk = 0.05",
    "measure.sample_uniques": "[[measure]]\nsample_uniques = 0.01",
    "measure.about": '[[measure]]\nt_closeness = 0.2\nabout = "bankruptcy"',
    "measure.missing": '[[measure]]\nk_anonymity = 5\nmissing = "drop"',
    "measure.c": "[[measure]]\nrecursive_l_diversity = 3\nc = 2",
    "measure.k": "[[measure]]\nalpha_k_anonymity = 0.5\nk = 5",
    "measure.distance": '[[measure]]\nt_closeness = 0.2\ndistance = "ordered"',
    "measure.hierarchy": '[[measure]]\nt_closeness = 0.2\ndistance = "hierarchical"\n'
    'hierarchy = { Discharged = ["past", "any"], Current = ["now", "any"] }',
    "measure.population": "[[measure]]\njournalist_risk = 0.05\n"
    'population = "census.csv"',
    "purpose.utility": '[purpose]\nutility = "information"',
    "earlier.custody": '[[earlier]]\ncustody = "vault/2025"',
    "signoff.name": '[signoff]\nname = "Ada Byron, data steward"\n'
    'date = "2026-03-31"\npurpose = "Research on ratings"',
    "signoff.date": '[signoff]\nname = "Ada Byron, data steward"\n'
    'date = "2026-03-31"\npurpose = "Research on ratings"',
    "signoff.purpose": '[signoff]\nname = "Ada Byron, data steward"\n'
    'date = "2026-03-31"\npurpose = "Research on ratings"',
}
"""An example of every key, as it would stand in a file."""

HEADS = {
    "columns": "What each column is for. `identifier`, `quasi` and `sensitive` exclude "
    "each other. A column without a role is published, and nobody is thought to know "
    "it.",
    "promise": "What must hold, written once per promise. A promise says against whom, "
    "about what, and exactly one limit: `at_most`, or `below`, or `from` with `to`, or "
    "`within`. A promise against a linker or an insider takes `at_most` or `below`. "
    "On a table, promises against a reconstructor or a Bayesian do not apply.",
    "measure": "A familiar measure of the groups of all quasi columns, one per "
    "section. A missing value counts as a value of its own; `missing` says otherwise.",
    "purpose": "What the analyst wants. `privet publish` shows values in the order of "
    "what they are worth to this purpose; an audit does not use it. `information` is "
    "about the target. Without a target, or with `distortion`, what "
    "counts is the number of cells that are shown.",
    "earlier": "An earlier release of the same rows, named by its custody folder and "
    "written once per release. `privet publish` then also asks what somebody could "
    "learn who has both; an audit does not use it. A path is taken from the folder of "
    "the policy file. See [how to publish a table]"
    "(../how-to/publish-a-table.md#when-something-is-out-already).",
    "signoff": "Who answers for the release. All three keys belong together. They go "
    "into the custody record and not into the release; an audit does not use them.",
    "bins": "The audit judges the table as if these columns were published in bins. A "
    "value belongs to the bin whose lower edge it reaches: with `[18, 65]` the bins "
    "are below 18, 18 to below 65, and 65 and more. Choose edges that anybody could "
    "have chosen without seeing the data.",
    "where": "Only these rows are judged. `privet audit` applies it when it opens the "
    "table, and `--where` narrows it further. In Python, hand it on yourself: "
    "`pv.read(path, where=policy.where)`.",
    "hierarchy": "A line per value, from fine to coarse, such as "
    "`Cook;Service;Manual;*`. Mondrian shows `Service` where a group has several of "
    "its values. Every value must have its line.",
}


def policy_page() -> str:
    """Every key of a policy file."""
    parts = [
        "A policy is a TOML file. Every problem in it is reported at once, each with "
        "its line. Numbers are read at their written digits: `0.1` is exactly one "
        'tenth, and text such as `"1/3"` or `"5 %"` works too. The same rules as '
        "JSON Schema: [policy.schema.json](policy.schema.json).",
        *[_key_section(k, key, k) for k, key in SECTIONS[""].items()],
    ]
    for section, keys in SECTIONS.items():
        if section:
            head = f"[[{section}]]" if section in LISTS else f"[{section}]"
            parts += [f"## `{head}` {{ #{section} }}", HEADS.get(section, "")]
            parts += [_key_section(k, key, f"{section}.{k}") for k, key in keys.items()]
    for section, key in FREE.items():
        parts += [f"## `[{section}]` {{ #{section} }}", HEADS.get(section, "")]
        parts.append(
            f"{key.meaning} Each key is a column; its value is {form_words(key.form)}."
        )
        parts.append(f"```toml\n{EXAMPLES.get(section, '')}\n```")
    return _page("Policy file", *(p for p in parts if p))


def _key_section(name: str, key: Key, path: str) -> str:
    level = "##" if "." not in path else "###"
    who = f" Only for: {', '.join(key.only_for)}." if key.only_for else ""
    return "\n\n".join(
        [
            f"{level} `{name}` {{ #{path} }}",
            f"{key.meaning} Takes {form_words(key.form)}.{who}",
            f"```toml\n{EXAMPLES.get(path, '')}\n```",
        ]
    )


# Exit codes and JSON ----------------------------------------------------------------

CODES = {
    EXIT["safe"]: "Every promise that applies is kept.",
    EXIT["breach"]: "At least one promise is broken.",
    WRONG: "Wrong use: an option, a file, a column or a policy is not what it must be, "
    "or no promise applies. Nothing was judged.",
    EXIT["undecided"]: "No promise is known to be broken, but at least one could not "
    "be decided.",
    INFEASIBLE: "No release keeps the promises: even with everything hidden one is "
    "broken, or a recipe breaks one, or a measure is not reached. Nothing was written.",
    BUG: "A mistake in privet itself. Nothing was judged or written.",
    INTERRUPTED: "Ctrl-C ended the command before it had an answer.",
}


def exit_page() -> str:
    """What the exit codes of the command line mean."""
    words: dict[int, list[str]] = {}
    for verdict, code in EXIT.items():
        words.setdefault(code, []).append(verdict)
    rows = [
        (f"`{code}`", ", ".join(words.get(code, [])), said)
        for code, said in CODES.items()
    ]
    return _page(
        "Exit codes",
        "`privet audit` answers a script with its exit code. A breach wins over an "
        "undecided promise, and that over a kept one. A promise that does not apply to "
        "a table counts for nothing: it never makes an audit safe.",
        _table(("code", "verdict", "meaning"), rows),
        "Only `0` means that the table may be released as far as the policy goes. "
        "Treat every other code as no.",
        "## Of `privet publish`",
        "`0`: the release is written, or with `--dry-run` could be. `3`: the release "
        "alone keeps every promise, but with an earlier one nothing is certain; "
        "nothing is written. `4`: nothing that privet can make keeps every promise; "
        "nothing is written. Ctrl-C while values are being shown ends the search, not "
        "the command: what is reached is safe, and is written with `0`.",
        "## Of `privet verify`",
        "`0`: the release is what its manifest says, and recounts to it. `1`: it is "
        "not, or breaks a promise. `2`: the folder holds no release that can be read.",
    )


FIELDS = {
    "verdict": "The gravest of the verdicts: `safe`, `breach`, `undecided` or "
    "`not applicable`.",
    "headline": "The verdict in a sentence.",
    "title": "The policy's title, or an empty text.",
    "findings": "One object per promise and measure; see below.",
    "notes": "Warnings, such as a value that never occurs.",
    "advice": "What to do next, step by step.",
    "reach": "Which attackers the promises cover, and which they do not.",
    "sensitive": "A reminder that the output quotes the private table.",
}

FINDING_FIELDS = {
    "promise": "The name of the promise or measure.",
    "against": "The adversary as a policy writes it; null for a measure.",
    "about": "What the promise is about, as the policy writes it; null where it left "
    "that out.",
    "verdict": "`safe`, `breach`, `undecided` or `not applicable`.",
    "basis": "How the belief is known: `exact`, `bound` or `sampled`; null where "
    "nothing was counted. Audits of tables are exact; what two releases tell together "
    "is a bound.",
    "prior": "The worst case before: the share of the value in the whole table, as a "
    "fraction in text; null without a belief.",
    "posterior": "The worst case after, as a fraction in text; null without a belief. "
    "Of a bound or an estimate, its upper end.",
    "at_least": "The lower end of a bound or an estimate; null where the worst case is "
    "exact.",
    "limit": "The limit, as the policy writes it, numbers as fractions in text. For a "
    "measure, its level.",
    "measured": "What a measure measures, as text; null for a promise.",
    "witness": "The case that attains the worst belief, or the smallest group; null "
    "where there is none. See below.",
    "groups": "How many groups look alike to the adversary of the worst case.",
    "groups_above": "How many of them are beyond the limit.",
    "people_above": "How many rows, or people, are in those.",
    "promised": "The promise in words.",
    "figures": "The numbers of the finding in a line.",
    "words": "The finding in words.",
    "beyond": "How much of the table is beyond the limit, in words.",
    "note": "What else must be said, such as why nothing was judged.",
    "details": "More that was counted about views: `histogram`, `worst_keys` and "
    "`people_in_several_keys` where every association was judged; `associations`, the "
    "surest first, where some were; `draws`, `error` and `seed` where tables were "
    "drawn.",
}

PUBLISH_FIELDS = {
    "verdict": "`safe`, or `undecided` where an earlier release leaves doubt.",
    "title": "The policy's title, or an empty text.",
    "method": "How it was made: `top-down disclosure`, or `recipe`.",
    "ended": "Why the search ended: `finished`, `time`, `interrupt`, `callback`, or "
    "`recipe` where there was none.",
    "moves": "How many values were shown or cuts were made.",
    "columns": "By column, what is not shown as it is: `hidden_values` of `values`, in "
    "`hidden_cells` of `cells`; or `intervals` instead of `values`.",
    "promises": "One object per promise and measure: `promise` (its name), `verdict`, "
    "`limit`, `before` and `after` (the worst case in the table and in the release), "
    "`words`, `note`.",
    "groups": "Of a release in groups: its form, how many groups and people there are, "
    "the size of the smallest and the largest group, how many people are left out, and "
    "how wide each column is on average, from 0 to 1; null for hidden values.",
    "together": "Findings against somebody who also has the earlier releases of the "
    "policy, in the form of an audit's findings; null where it names none.",
    "folder": "Where the release is; absent with `--dry-run`.",
    "custody": "Where the private record is; absent with `--dry-run`.",
    "sensitive": "A reminder that the output quotes the private table.",
}

VERIFY_FIELDS = {
    "verdict": "`verified` or `refused`.",
    "problems": "What differs from the manifest, in sentences; empty if nothing does.",
    "audit": "The recount, in the form of an audit; null where the files could not be "
    "read.",
}

WITNESS_FIELDS = {
    "knows": "What the adversary knows: column and value; null is a missing value.",
    "about": "What is believed: column and value.",
    "count": "How many fit and have the value …",
    "of": "… out of how many fit. The posterior is `count` / `of`.",
    "prior_count": "How many in the whole table have the value …",
    "prior_of": "… out of how many there are. The prior is `prior_count` / `prior_of`.",
    "counted": "What the counts count: `rows`, or `people` where the policy has a "
    "`unit`.",
}

SAMPLE = """\
title = "Loan ratings, research file"

[columns]
quasi     = ["job", "country", "child"]
sensitive = ["bankruptcy"]
weight    = "count"

[[promise]]
name    = "nobody learns a discharge"
against = "linker"
knows   = ["job", "country"]
about   = { bankruptcy = "Discharged" }
at_most = 0.5
"""


def sample() -> dict[str, Any]:
    """The audit of the bank table that the page shows."""
    with pv.read(str(bank_path())) as table:
        return pv.audit(table, pv.Policy.from_toml(SAMPLE)).to_dict()


def json_page() -> str:
    """What ``--json`` prints, and ``to_dict`` returns."""
    found = sample()

    def rows(meanings: dict[str, str], keys: dict[str, Any]) -> str:
        return _table(
            ("field", "meaning"), [(f"`{k}`", meanings.get(k, "")) for k in keys]
        )

    shown = json.dumps(found, ensure_ascii=False, indent=2)
    finding = found["findings"][0]
    return _page(
        "JSON output",
        "`privet audit --json` prints one object. `Audit.to_dict()` returns the same "
        'in Python. Probabilities are fractions in text, such as `"4/5"`, so that '
        "nothing is rounded; `fractions.Fraction` reads them.",
        "The output quotes the private table. Keep it where the table is kept.",
        "## The object",
        rows(FIELDS, found),
        "## A finding",
        rows(FINDING_FIELDS, finding),
        "## A witness",
        rows(WITNESS_FIELDS, finding["witness"]),
        "## An example",
        f"The bank table of the tutorial, with this policy:\n\n```toml\n{SAMPLE}```",
        f"```json\n{shown}\n```",
        "## `privet publish --json`",
        rows(PUBLISH_FIELDS, PUBLISH_FIELDS),
        "## `privet verify --json`",
        rows(VERIFY_FIELDS, VERIFY_FIELDS),
    )


# The files of a release -------------------------------------------------------------

MANIFEST_FIELDS = {
    "privet": "The version that wrote the release.",
    "manifest": "The form of this document: 1.",
    "kind": "What is released: `groups`, a table whose rows fall into groups; or "
    "`responses`, disguised answers, see below.",
    "title": "The policy's title, or an empty text.",
    "files": "The data files; there is one.",
    "files.path": "Its name within the folder.",
    "files.rows": "How many rows it has.",
    "files.sha256": "The SHA-256 of its bytes.",
    "columns": "What is said of each column, by its name.",
    "columns.role": "Its role; absent where it has none.",
    "columns.target": "True of a column with another role that is the target as well.",
    "columns.type": "`text`, `integer`, `number`, `date` or `datetime`: what the "
    "values were before any were hidden. A text file has no types of its own: in a CSV "
    "release, columns that are shown as they are may say `text`.",
    "columns.bins": "The edges of its bins, where the policy has some.",
    "columns.hidden_values": "How many values are hidden. Not which.",
    "columns.shown_as": "The marker that stands for hidden values, `intervals`, or "
    "`levels` of a hierarchy.",
    "method": "How the table was made safe.",
    "promises": "Each promise as the policy states it, and what it came to.",
    "promises.name": "The promise's name.",
    "promises.against": 'The adversary and what it knows: `{"linker": ["job"]}`, or '
    '`{"linker": {"knows_any": 2}}`; `{"linker": {}}` knows all quasi columns.',
    "promises.about": "What it is about; absent where the policy left that out.",
    "promises.at_most": "The limit, as a fraction in text; or `below`.",
    "promises.verdict": "`safe`, or `not applicable` to a table.",
    "promises.basis": "`exact`: it was counted.",
    "promises.worst": "The worst case in the released file, as a fraction in text.",
    "measures": "The same for measures, with `measured`; absent where there are none.",
    "not_promised": "What no promise of this kind covers, in sentences.",
    "weight": "The column that says how many people a row stands for; absent where "
    "there is none.",
    "escaped": "In a CSV release: how text that a spreadsheet might run is written, "
    "and how to undo it.",
}

CUSTODY_FIELDS = {
    "custody": "The form of this document: 1.",
    "sensitive": "A reminder that the file quotes the private table.",
    "made": "When, in UTC.",
    "source": "The files that were read, each with its path and SHA-256; empty for a "
    "frame in memory.",
    "rows": "How many rows were read.",
    "rows_from": "What tells these rows from others: digests of the files, table, "
    "`where` and `bins`. A later release is compared with it.",
    "engine": "What counted, and its version.",
    "signoff": "The policy's `[signoff]`; null where it has none.",
    "method": "How it was made.",
    "ended": "Why the search ended.",
    "recipe": "What is hidden; the same as in `recipe.json`.",
    "steps": "Every move in order: column, value, whether it is a cut, gain, loss, "
    "score, and the confidence of each rule afterwards.",
    "policy": "The text of the policy.",
    "before": "The audit of the private table, with witnesses.",
    "after": "The audit of the file that was written, with witnesses.",
    "manifest_sha256": "The SHA-256 of `release.json`, so that the two can be matched.",
}

RECIPE_FIELDS = {
    "recipe": "The form of this document: 1.",
    "marker": "What is shown for a hidden value.",
    "columns": "What is done to each column that is not shown as it is.",
    "columns.hide": "The hidden values; null is a missing one.",
    "columns.show": "The values that were seen and are shown. All others are hidden.",
    "columns.cut_after": "The last value of each interval but the last one. An empty "
    "list: the whole column is hidden.",
    "columns.kind": "The kind of values that were cut.",
}

RESPONSES_FIELDS = {
    "kind": "`responses`.",
    "title": "The survey's title, or the policy's.",
    "columns.type": "`text`: every value is one that the design declares.",
    "columns.shown_as": "`disguised`, or `as it is` for a column that is public.",
    "method": "`randomized response`.",
    "design": "What was asked, and how each answer was disguised: the keys of a design "
    "file. Estimates need it.",
    "privacy": "What one disguised row gives away about its person at most.",
    "privacy.growth": "e^ε of a whole record, as a fraction in text; null: infinite.",
    "privacy.epsilon": "ε, for reading; null: infinite.",
    "privacy.columns": "e^ε of each disguised column; null: infinite.",
    "privacy.public": "The columns that are not disguised.",
}
"""What a manifest of disguised answers has of its own, or in another sense."""

DISGUISED = """\
title = "Smoking at work"

[[question]]
name = "smokes"
values = ["no", "yes"]
truth = 0.8

[[question]]
name = "age"
bins = [30, 50]
truth = 0.7
"""


def responses_sample() -> dict[str, Any]:
    """The manifest of a few disguised answers."""
    import pyarrow as pa

    from privet.releases.design_file import read_design

    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "design.toml").write_text(DISGUISED, "utf-8")
        rows = pa.table({"smokes": ["yes", "no", "no"], "age": [25, 41, 67]})
        with pv.read(rows) as table:
            design = read_design(place / "design.toml")
            found = pv.disguise(table, design, place / "out", custody=place / "vault")
            found.close()
        return _steady(found.manifest)


PUBLISHED = """\
title = "Loan ratings, research file"

[columns]
quasi     = ["job", "country", "child"]
sensitive = ["bankruptcy"]
target    = "rating"
weight    = "count"

[[promise]]
name    = "nobody learns a discharge"
against = "linker"
knows   = ["job", "country"]
about   = { bankruptcy = "Discharged" }
at_most = 0.75
"""


def release_sample() -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Manifest, custody record and summary of a release of the bank table."""
    with (
        tempfile.TemporaryDirectory() as folder,
        pv.read(str(bank_path())) as table,
    ):
        place = Path(folder)
        release = pv.publish(table, pv.Policy.from_toml(PUBLISHED))
        written = release.write(place / "out", custody=place / "vault", format="csv")
        custody = json.loads((place / "vault" / "custody.json").read_text("utf-8"))
        told = summary(release) | {"folder": "out", "custody": "vault"}
        return dict(written.manifest), custody, told


def _steady(manifest: dict[str, Any]) -> dict[str, Any]:
    """The manifest without what differs from run to run: rows are shuffled."""
    files = [{**f, "sha256": "…"} for f in manifest["files"]]
    return {**manifest, "files": files}


def release_page() -> str:
    """The files of a release, field by field."""
    manifest, custody, _ = release_sample()
    model, card, _ = classifier_fields.classifier_sample()

    def rows(meanings: dict[str, str]) -> str:
        return _table(
            ("field", "meaning"), [(f"`{k}`", said) for k, said in meanings.items()]
        )

    def shown(content: object) -> str:
        return f"```json\n{json.dumps(content, ensure_ascii=False, indent=2)}\n```"

    return _page(
        "Files of a release",
        "A release is a folder with three files. Everything in it is public. What is "
        "private goes into the custody folder, which is never part of a release. "
        "[Two documents](../explanation/two-documents.md) explains why.",
        _table(
            ("file", "where", "what it is"),
            [
                (
                    "`table.parquet` or `table.csv`",
                    "release",
                    "The table; rows in a random order, identifiers left out.",
                ),
                (
                    "`people` and `values`, either `.parquet` or `.csv`",
                    "release",
                    "Instead of the table, for buckets: everybody's group and known "
                    "values; and each group's sensitive values with their `count`.",
                ),
                ("`release.json`", "release", "The manifest, for programs."),
                ("`README.txt`", "release", "The same in short, for people."),
                ("`custody.json`", "custody", "How it was made. Private."),
                ("`recipe.json`", "custody", "What is hidden. Private."),
            ],
        ),
        "## The manifest: `release.json`",
        "A dot means *inside*: `columns.role` is the `role` of a column.",
        rows(MANIFEST_FIELDS),
        "The bank table, published with this policy:",
        f"```toml\n{PUBLISHED}```",
        shown(_steady(manifest)),
        "### Disguised answers",
        "A release that `privet disguise` wrote has the fields above as far as they "
        "apply to it, and these:",
        rows(RESPONSES_FIELDS),
        f"Three answers, disguised with this design:\n\n```toml\n{DISGUISED}```",
        shown(responses_sample()),
        "### A classifier",
        "A release that `privet classifier` wrote has these files besides the manifest "
        "and the note:",
        _table(
            ("file", "what it is"),
            [(f"`{k}`", said) for k, said in classifier_fields.FILES.items()],
        ),
        "Its manifest has the fields above as far as they apply to it, and these:",
        rows(classifier_fields.CLASSIFIER_FIELDS),
        "A classifier of the bank table, of one column and with coarse points, "
        f"published with this policy:\n\n```toml\n{classifier_fields.POLICY}```",
        shown(_steady(model)),
        "#### The scorecard: `scorecard.json`",
        "For each class add its base and its points for every value of a row; the "
        "largest sum is the prediction. Whole numbers may be longer than 64 bits.",
        rows(classifier_fields.SCORECARD_FIELDS),
        shown(card),
        "## The custody record: `custody.json`",
        "Private: it quotes the table. The folder and its files are readable by their "
        "owner only, where the system knows such a thing.",
        rows(CUSTODY_FIELDS),
        "That of a classifier has these instead:",
        rows(classifier_fields.CUSTODY_FIELDS),
        "## The recipe: `recipe.json`",
        "Private: it names the hidden values. `privet publish --recipe` applies it to "
        "a later delivery, and `pv.Recipe.load` reads it.",
        rows(RECIPE_FIELDS),
        shown(custody["recipe"]),
    )


def main() -> int:
    """Write every page that is not current."""
    REFERENCE.mkdir(exist_ok=True)
    for name, text in pages().items():
        path = REFERENCE / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"written: docs/reference/{name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
