"""The policy file: a policy written as TOML, and read back.

Reading tells all problems at once, each with the line on which its key stands.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import date, time
from decimal import Decimal
from functools import partial
from typing import Any, TypeVar

from privet.errors import InputError, PolicyError, Problem, suggest_names
from privet.policy.acceptance import Accepted, DerivedColumn, accepted_of
from privet.policy.file_keys import FREE, LIMITS, LISTS, SECTIONS, fits, form_words
from privet.policy.measures import Measure
from privet.policy.policy import Policy, locate_problems, require_folders
from privet.policy.promises import Promise, Purpose, Signoff, View, views_of
from privet.values.adversaries import KINDS, Adversary
from privet.values.beliefs import Limit, read_limit
from privet.values.key_forms import Key
from privet.values.noise.declared_domain import DeclaredDomain
from privet.values.noise.differential_privacy import DifferentialPrivacy
from privet.values.noise.privacy_budget import PrivacyBudget
from privet.values.person_rows import PersonRows
from privet.values.schema import Bins, Roles, find_conflicts

# Writing ----------------------------------------------------------------------------


def write(policy: Policy) -> str:
    """A policy as TOML."""
    roles = policy.roles
    columns = {
        "identifier": list(roles.identifier),
        "quasi": list(roles.quasi),
        "sensitive": list(roles.sensitive),
        "other": list(roles.other),
        "drop": list(roles.drop),
        "target": roles.target,
        "unit": roles.unit,
        "weight": roles.weight,
    }
    content = {
        "title": policy.title,
        "ledger": policy.ledger,
        "columns": {k: v for k, v in columns.items() if v},
        "file": dict(policy.file),
        "bins": {c: _list_edges(b) for c, b in roles.bins.items()},
        "where": {c: list(v) for c, v in policy.where.items()},
        "person": policy.person and policy.person.to_dict(),
        "hierarchy": policy.hierarchies,
        "domain": {c: d.to_key() for c, d in policy.domain.items()},
        "derived": {d.column: d.to_key() for d in policy.derived},
        "view": [v.to_dict() for v in policy.views],
        "promise": [p.to_dict() for p in policy.promises],
        "measure": [m.to_dict() for m in policy.measures],
        "purpose": {"utility": policy.purpose.utility},
        "earlier": [{"custody": c} for c in policy.earlier],
        "accepted": [a.to_dict() for a in policy.accepted],
        "privacy": policy.privacy and policy.privacy.to_dict(),
        "budget": policy.budget and policy.budget.to_dict(),
        "signoff": policy.signoff and policy.signoff.to_dict(),
    }
    return write_sections({k: v for k, v in content.items() if v or k == "columns"})


def _list_edges(bins: Bins) -> list[str | Decimal]:
    """Numbers as numbers where they have an end; 1/3 has none."""
    plain = not bins.are_dates
    return [Decimal(e) if plain and "/" not in e else e for e in bins.to_list()]


def write_sections(content: Mapping[str, Any]) -> str:
    r"""A TOML file: first the plain keys, then a section per table.

    >>> print(write_sections({"title": "x", "view": [{"columns": ["a", "b"]}]}))
    title = "x"
    <BLANKLINE>
    [[view]]
    columns = ["a", "b"]
    <BLANKLINE>
    """
    plain = {k: v for k, v in content.items() if not _is_section(v)}
    parts = [_format_keys(plain)] if plain else []
    for name, value in content.items():
        if _is_table(value):
            parts.append(f"[{name}]\n{_format_keys(value)}")
        elif _is_section(value):
            parts += [f"[[{name}]]\n{_format_keys(table)}" for table in value]
    return "\n".join(parts)


def _is_section(value: Any) -> bool:
    return _is_table(value) or (isinstance(value, list) and any(map(_is_table, value)))


def _format_keys(values: Mapping[str, Any]) -> str:
    return "".join(f"{quote_key(k)} = {as_toml(v)}\n" for k, v in values.items())


def quote_key(name: str) -> str:
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
            f"Text of a policy or a design must be text UTF-8 can hold; got "
            f"{letter!r} in it."
        )
    return f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"


def as_toml(value: Any) -> str:
    r"""A value as TOML writes it.

    >>> as_toml(["a", 'say "b"']), as_toml({"x y": True})
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
        pairs = ", ".join(f"{quote_key(k)} = {as_toml(v)}" for k, v in value.items())
        return "{ " + pairs + " }"
    if isinstance(value, Sequence):
        return "[" + ", ".join(as_toml(v) for v in value) + "]"
    return str(value)


# Reading ----------------------------------------------------------------------------

T = TypeVar("T")


def parse(text: str, file: str = "") -> Policy:
    """Read a policy; every problem is reported at once, with its line."""
    try:
        content = tomllib.loads(text, parse_float=Decimal)
    except (ValueError, RecursionError) as error:
        raise PolicyError([_explain_syntax(error, text)], file) from None
    reader = Reader(_dates_as_text(content))
    policy = reader.read_policy()
    if policy is None:
        raise PolicyError(locate_problems(reader.problems, text), file)
    return policy


def _dates_as_text(value: Any) -> Any:
    """Dates and times as text, which is what every key that takes them takes too."""
    if isinstance(value, dict):
        return {k: _dates_as_text(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_dates_as_text(v) for v in value]
    return str(value) if isinstance(value, date | time) else value


# Syntax -----------------------------------------------------------------------------

_PLAINER = {
    "Cannot overwrite a value": "this key stands here for the second time",
    "Cannot declare": "this section stands here for the second time",
    "Invalid value": 'a value is not readable; text must stand in "quotes"',
    "Invalid statement": "a line must be a [section] or key = value",
    "Expected '='": "a line must be a [section] or key = value",
    "Exceeds the limit": "a number has too many digits",
    "maximum recursion": "brackets are nested too deeply",
}
"""What a steward can make more of, by how TOML's reader begins to say it."""


def _explain_syntax(error: Exception, text: str) -> Problem:
    message = str(error)
    at = re.search(r"\(at line (\d+), column \d+\)", message)
    lines = text.split("\n")
    number = int(at[1]) if at else len(text.rstrip().split("\n"))
    rule = re.sub(r" \(at .*\)$", "", message)
    plainer = next((p for m, p in _PLAINER.items() if rule.startswith(m)), None)
    said = plainer or rule[:1].lower() + rule[1:]
    got = lines[number - 1].strip()[:60]
    return Problem(f"A policy must be TOML; got {got!r}: {said}.", "", number)


# Shape and content ------------------------------------------------------------------


class Reader:
    """Turns a parsed file into a policy and gathers what is wrong with it."""

    def __init__(self, content: dict[str, Any]) -> None:
        self.content = content
        self.problems: list[Problem] = []

    def read_policy(self) -> Policy | None:
        """The policy, or None where there are problems."""
        self._check_sections()
        roles = self._read_roles()
        promises = [self._read_promise(i, p) for i, p in self._list_sections("promise")]
        measures = [self._read_measure(i, m) for i, m in self._list_sections("measure")]
        purpose = Purpose(
            **self._select_fitting("purpose", self.content.get("purpose"))
        )
        earlier = self._read_earlier()
        accepted = self._read_accepted()
        derived = self._read_derived()
        signoff = self._read_signoff()
        domain = self._read_domain()
        privacy = self._read_section("privacy", DifferentialPrivacy)
        budget = self._read_section("budget", PrivacyBudget)
        person = self._read_section("person", PersonRows)
        views = self._read_views()
        self._refuse_same_names({"promise": promises, "measure": measures})
        if not promises and not measures and not self.problems:
            self._say("", "A policy must hold at least one [[promise]] or [[measure]].")
        if self.problems:
            return None
        return Policy(
            promises=tuple(p for p in promises if p),
            roles=roles,
            measures=tuple(m for m in measures if m),
            purpose=purpose,
            earlier=earlier,
            ledger=self.content.get("ledger", ""),
            accepted=accepted,
            derived=derived,
            signoff=signoff,
            privacy=privacy,
            domain=domain,
            budget=budget,
            person=person,
            file=self._select_fitting("file", self.content.get("file")),
            where=self.content.get("where", {}),
            title=self.content.get("title", ""),
            hierarchies=self.content.get("hierarchy", {}),
            views=views,
        )

    def _say(self, key: str, rule: str) -> None:
        self.problems.append(Problem(rule, key))

    def _try(self, key: str, make: Callable[[], T], at: str = "") -> T | None:
        """What can be made, or its problems under the name of the section."""
        try:
            return make()
        except InputError as error:
            for rule in str(error).splitlines():
                self._say(key, f"{at or key}: {rule}")
        return None

    # Shape --------------------------------------------------------------------------

    def _check_sections(self) -> None:
        known = [*SECTIONS[""], *(s for s in SECTIONS if s), *FREE]
        for name, value in self.content.items():
            if name not in known:
                self._say(
                    name,
                    f"{name!r} is not a section or key of a policy. "
                    f"{suggest_names(name, known)}",
                )
            elif name in SECTIONS[""]:
                self._check_form(name, value, SECTIONS[""][name])
            elif name in LISTS:
                self._check_list(name, value)
            elif not isinstance(value, dict):
                self._say(
                    name,
                    f"{name} must be written [{name}]; got {_shorten_value(value)}.",
                )
            else:
                self._check_keys(name, value, name)

    def _check_list(self, name: str, value: Any) -> None:
        if not isinstance(value, list) or not all(isinstance(v, dict) for v in value):
            self._say(name, f"{name} must be written [[{name}]], once per {name}.")
            return
        for i, section in enumerate(value, 1):
            self._check_keys(name, section, f"{name}[{i}]")

    def _check_keys(self, section: str, values: dict[str, Any], at: str) -> None:
        known = SECTIONS.get(section, {})
        for name, value in values.items():
            key = known.get(name) or FREE.get(section)
            if key is not None:
                self._check_form(f"{at}.{name}", value, key)
                continue
            hint = suggest_names(name, list(known))
            self._say(f"{at}.{name}", f"{name!r} is not a key of {section}. {hint}")

    def _check_form(self, at: str, value: Any, key: Key) -> None:
        if fits(value, key.form):
            return
        rule = f"{at} must be {form_words(key.form)}; got {_shorten_value(value)}."
        if "enum" in key.form and isinstance(value, str):
            rule += f" {suggest_names(value, key.form['enum'])}"
        self._say(at, rule)

    # Content ------------------------------------------------------------------------

    def _select_fitting(self, section: str, values: Any) -> dict[str, Any]:
        """The keys of a section that are known and have the right form."""
        known = SECTIONS.get(section, {})
        found = {}
        for name, value in values.items() if isinstance(values, dict) else ():
            key = known.get(name) or FREE.get(section)
            if key is not None and fits(value, key.form):
                found[name] = value
        return found

    def _list_sections(self, name: str) -> list[tuple[int, dict[str, Any]]]:
        sections = self.content.get(name, [])
        if not isinstance(sections, list):
            return []
        return [(i, s) for i, s in enumerate(sections, 1) if isinstance(s, dict)]

    def _read_roles(self) -> Roles:
        columns = self._select_fitting("columns", self.content.get("columns"))
        for name in list(columns):
            if self._try(f"columns.{name}", partial(Roles, **{name: columns[name]})):
                continue
            del columns[name]
        wrong = find_conflicts(columns)
        for role, rule in wrong:
            self._say(f"columns.{role}", f"columns: {rule}")
        cuts = {
            column: cut
            for column, edges in self._select_fitting(
                "bins", self.content.get("bins")
            ).items()
            if (cut := self._try(f"bins.{column}", partial(Bins, edges)))
        }
        return Roles(bins=cuts) if wrong else Roles(**columns, bins=cuts)

    def _read_measure(self, i: int, keys: dict[str, Any]) -> Measure | None:
        given = self._select_fitting("measure", keys)
        if given != keys:
            return None
        return self._try(f"measure[{i}]", partial(Measure, **given))

    def _read_earlier(self) -> tuple[str, ...]:
        folders: list[str] = []
        for i, keys in self._list_sections("earlier"):
            folders += self._select_fitting("earlier", keys).values()
            if "custody" not in keys:
                self._say(f"earlier[{i}]", f"earlier[{i}] must have custody: a folder.")
        return self._try("earlier", partial(require_folders, folders)) or ()

    def _read_accepted(self) -> tuple[Accepted, ...]:
        made: list[Accepted] = []
        for i, keys in self._list_sections("accepted"):
            given, at = self._select_fitting("accepted", keys), f"accepted[{i}]"
            missing = [k for k in ("why", "who") if k not in keys]
            if missing:
                self._say(at, f"{at} must have {' and '.join(missing)}.")
            elif given == keys:
                one = self._try(at, partial(Accepted, **given))
                made += [one] if one else []
        return self._try("accepted", partial(accepted_of, made)) or ()

    def _read_derived(self) -> tuple[DerivedColumn, ...]:
        made: list[DerivedColumn] = []
        stated = self._select_fitting("derived", self.content.get("derived"))
        for column, key in stated.items():
            rule = self._try(
                f"derived.{column}", partial(DerivedColumn.from_key, column, key)
            )
            made += [rule] if rule else []
        return tuple(made)

    def _read_views(self) -> tuple[View, ...]:
        made: list[View] = []
        for i, keys in self._list_sections("view"):
            given = self._select_fitting("view", keys)
            if "columns" not in keys:
                self._say(f"view[{i}]", f"view[{i}] must have columns.")
            elif given == keys:
                view = self._try(f"view[{i}]", partial(View, **given))
                made += [view] if view else []
        return self._try("view", partial(views_of, made)) or ()

    def _read_signoff(self) -> Signoff | None:
        stated = self.content.get("signoff")
        given = self._select_fitting("signoff", stated)
        if not isinstance(stated, dict) or given != stated:
            return None
        missing = [k for k in SECTIONS["signoff"] if k not in given]
        if missing:
            self._say("signoff", f"signoff must have {', '.join(missing)} too.")
            return None
        return self._try("signoff", partial(Signoff, **given))

    def _read_section(self, name: str, make: Callable[..., T]) -> T | None:
        """A section whose keys are the fields of one value; None where it is not."""
        stated = self.content.get(name)
        given = self._select_fitting(name, stated)
        if not isinstance(stated, dict) or given != stated:
            return None
        if "epsilon" not in given and name == "budget":
            self._say(name, f"{name} must have epsilon.")
            return None
        return self._try(name, partial(make, **given))

    def _read_domain(self) -> dict[str, DeclaredDomain]:
        made: dict[str, DeclaredDomain] = {}
        stated = self._select_fitting("domain", self.content.get("domain"))
        for column, key in stated.items():
            found = self._try(f"domain.{column}", partial(DeclaredDomain.from_key, key))
            made |= {column: found} if found else {}
        return made

    def _read_promise(self, i: int, keys: dict[str, Any]) -> Promise | None:
        at = f"promise[{i}]"
        given = self._select_fitting("promise", keys)
        if "against" not in keys:
            self._say(at, f"{at} must say against whom: {', '.join(KINDS)}.")
        adversary = self._read_adversary(at, keys, given)
        limit = self._read_limit(at, keys, given)
        if given != keys or adversary is None or limit is None:
            return None
        about, name = given.get("about"), given.get("name", "")
        make = partial(Promise, adversary, limit, about, name)
        return self._try(f"{at}.about", make, at)

    def _read_adversary(
        self, at: str, keys: dict[str, Any], given: dict[str, Any]
    ) -> Adversary | None:
        kind = given.get("against")
        if kind is None:
            return None
        known = SECTIONS["promise"]
        own = [k for k in keys if k in known and known[k].only_for]
        for key in own:
            if kind not in (fitting := known[key].only_for):
                self._say(
                    f"{at}.{key}",
                    f"{at}.{key} must not be given against a {kind}; it goes with "
                    f"{' and '.join(fitting)}.",
                )
        allowed = [k for k in own if kind in known[k].only_for]
        if not set(allowed) <= set(given):
            return None
        maker: Callable[..., Adversary] = KINDS[kind]
        make = partial(maker, **{k: given[k] for k in allowed})
        return self._try(f"{at}.{allowed[0]}" if allowed else at, make, at)

    def _read_limit(
        self, at: str, keys: dict[str, Any], given: dict[str, Any]
    ) -> Limit | None:
        stated = [k for k in keys if any(k in s for s in LIMITS)]
        if set(stated) not in LIMITS:
            got = " and ".join(stated) or "none"
            self._say(
                f"{at}.{stated[-1]}" if stated else at,
                f"{at} must have one limit: at_most, below, from with to, within, or "
                f"exactly; got {got}.",
            )
            return None
        kind = given.get("against")
        if kind is not None and ("exactly" in stated) != (
            KINDS[kind].limit_key == "exactly"
        ):
            self._say(
                f"{at}.{stated[-1]}",
                f"{at} must have exactly against an inverter, and against nobody else; "
                f"got {' and '.join(stated)} against {kind}.",
            )
            return None
        if not set(stated) <= set(given):
            return None
        levels = {k: given[k] for k in stated}
        return self._try(f"{at}.{stated[0]}", partial(read_limit, levels), at)

    def _refuse_same_names(
        self, sections: dict[str, Sequence[Promise | Measure | None]]
    ) -> None:
        """Reports, manifests and people call a promise by its name."""
        seen: dict[str, str] = {}
        for section, stated in sections.items():
            for i, one in enumerate(stated, 1):
                at = f"{section}[{i}]"
                if one is not None and (first := seen.setdefault(one.name, at)) != at:
                    self._say(
                        f"{at}.name",
                        f"{at}.name must be its own; got {one.name!r}, which is "
                        f"{first}'s already.",
                    )


def _shorten_value(value: Any) -> str:
    """A value as the file has it, not at any length."""
    text = as_toml(value)
    return text if len(text) <= 60 else text[:59] + "…"


# Lines of keys ----------------------------------------------------------------------


def locate_keys(text: str) -> dict[str, int]:
    r"""The line on which each key of a TOML text stands.

    The text is cut into statements, each the fewest lines that TOML's own reader
    accepts by themselves; so nothing is parsed twice over.

    >>> locate_keys('title = "x"\n\n[columns]\nquasi = [\n  "job",\n]\n')
    {'title': 1, 'columns': 3, 'columns.quasi': 4}
    """
    found: dict[str, int] = {}
    sections: Counter[str] = Counter()
    at, start, statement = "", 1, ""
    for number, line in enumerate(text.split("\n"), 1):
        statement += line + "\n"
        try:
            content = tomllib.loads(statement)
        except tomllib.TOMLDecodeError:
            continue  # a list or a text that goes on
        if statement.lstrip().startswith("["):
            at = _read_header(content, sections)
            paths = [at]
        else:
            paths = _list_paths(content, at)
        found.update((path, start) for path in paths if path not in found)
        start, statement = number + 1, ""
    return found


def _read_header(header: Mapping[str, Any], sections: Counter[str]) -> str:
    """The path a header such as ``[[promise]]`` or ``[promise.about]`` opens."""
    path = ""
    while header:
        ((name, inside),) = header.items()
        path += f".{name}" if path else name
        if isinstance(inside, list):
            sections[path] += 1
            inside = inside[0]
        if path in sections:
            path += f"[{sections[path]}]"
        header = inside
    return path


def _list_paths(content: Mapping[str, Any], at: str) -> list[str]:
    paths = []
    for key, value in content.items():
        path = f"{at}.{key}" if at else key
        if isinstance(value, list) and value and all(map(_is_table, value)):
            for i, section in enumerate(value, 1):
                paths += [f"{path}[{i}]", *_list_paths(section, f"{path}[{i}]")]
            continue
        paths.append(path)
        if isinstance(value, dict):
            paths += _list_paths(value, path)
    return paths


def _is_table(value: object) -> bool:
    return isinstance(value, dict)


def find_line(key: str, lines: Mapping[str, int]) -> int | None:
    """The line of a key, or of the closest thing around it that has one."""
    while key and key not in lines:
        if (first := lines.get(f"{key}[1]")) is not None:
            return first
        key = key.rpartition(".")[0]
    return lines.get(key)
