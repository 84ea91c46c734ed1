"""Reading a policy file: all of its problems at once, each with its line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Sequence
from datetime import date, time
from decimal import Decimal
from functools import partial
from typing import Any, TypeVar

from privet.errors import InputError, PolicyError, Problem, what_exists
from privet.policy.file_keys import FREE, LIMITS, LISTS, SECTIONS, Key, fits, form_words
from privet.policy.measures import Measure
from privet.policy.policy import Policy, earlier_of, located
from privet.policy.promises import Promise, Purpose, Signoff
from privet.policy.view import View, views_of
from privet.policy.writing import toml
from privet.values.adversaries import KINDS, Adversary
from privet.values.beliefs import Limit, limit_from
from privet.values.schema import Bins, Roles, conflicts

T = TypeVar("T")


def parse(text: str, file: str = "") -> Policy:
    """Read a policy; every problem is reported at once, with its line."""
    try:
        content = tomllib.loads(text, parse_float=Decimal)
    except (ValueError, RecursionError) as error:
        raise PolicyError([_syntax(error, text)], file) from None
    reader = Reader(_plain(content))
    policy = reader.policy()
    if policy is None:
        raise PolicyError(located(reader.problems, text), file)
    return policy


def _plain(value: Any) -> Any:
    """Dates and times as text, which is what every key that takes them takes too."""
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_plain(v) for v in value]
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


def _syntax(error: Exception, text: str) -> Problem:
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

    def policy(self) -> Policy | None:
        """The policy, or None where there are problems."""
        self._sections()
        roles = self._roles()
        promises = [self._promise(i, p) for i, p in self._listed("promise")]
        measures = [self._measure(i, m) for i, m in self._listed("measure")]
        purpose = Purpose(**self._fitting("purpose", self.content.get("purpose")))
        earlier = self._earlier()
        signoff = self._signoff()
        views = self._views()
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
            signoff=signoff,
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

    def _sections(self) -> None:
        known = [*SECTIONS[""], *(s for s in SECTIONS if s), *FREE]
        for name, value in self.content.items():
            if name not in known:
                self._say(
                    name,
                    f"{name!r} is not a section or key of a policy. "
                    f"{what_exists(name, known)}",
                )
            elif name in SECTIONS[""]:
                self._form(name, value, SECTIONS[""][name])
            elif name in LISTS:
                self._list_form(name, value)
            elif not isinstance(value, dict):
                self._say(
                    name, f"{name} must be written [{name}]; got {_shown(value)}."
                )
            else:
                self._keys(name, value, name)

    def _list_form(self, name: str, value: Any) -> None:
        if not isinstance(value, list) or not all(isinstance(v, dict) for v in value):
            self._say(name, f"{name} must be written [[{name}]], once per {name}.")
            return
        for i, section in enumerate(value, 1):
            self._keys(name, section, f"{name}[{i}]")

    def _keys(self, section: str, values: dict[str, Any], at: str) -> None:
        known = SECTIONS.get(section, {})
        for name, value in values.items():
            key = known.get(name) or FREE.get(section)
            if key is not None:
                self._form(f"{at}.{name}", value, key)
                continue
            hint = what_exists(name, list(known))
            self._say(f"{at}.{name}", f"{name!r} is not a key of {section}. {hint}")

    def _form(self, at: str, value: Any, key: Key) -> None:
        if fits(value, key.form):
            return
        rule = f"{at} must be {form_words(key.form)}; got {_shown(value)}."
        if "enum" in key.form and isinstance(value, str):
            rule += f" {what_exists(value, key.form['enum'])}"
        self._say(at, rule)

    # Content ------------------------------------------------------------------------

    def _fitting(self, section: str, values: Any) -> dict[str, Any]:
        """The keys of a section that are known and have the right form."""
        known = SECTIONS.get(section, {})
        found = {}
        for name, value in values.items() if isinstance(values, dict) else ():
            key = known.get(name) or FREE.get(section)
            if key is not None and fits(value, key.form):
                found[name] = value
        return found

    def _listed(self, name: str) -> list[tuple[int, dict[str, Any]]]:
        sections = self.content.get(name, [])
        if not isinstance(sections, list):
            return []
        return [(i, s) for i, s in enumerate(sections, 1) if isinstance(s, dict)]

    def _roles(self) -> Roles:
        columns = self._fitting("columns", self.content.get("columns"))
        for name in list(columns):
            if self._try(f"columns.{name}", partial(Roles, **{name: columns[name]})):
                continue
            del columns[name]
        wrong = conflicts(columns)
        for role, rule in wrong:
            self._say(f"columns.{role}", f"columns: {rule}")
        cuts = {
            column: cut
            for column, edges in self._fitting("bins", self.content.get("bins")).items()
            if (cut := self._try(f"bins.{column}", partial(Bins, edges)))
        }
        return Roles(bins=cuts) if wrong else Roles(**columns, bins=cuts)

    def _measure(self, i: int, keys: dict[str, Any]) -> Measure | None:
        given = self._fitting("measure", keys)
        if given != keys:
            return None
        return self._try(f"measure[{i}]", partial(Measure, **given))

    def _earlier(self) -> tuple[str, ...]:
        folders: list[str] = []
        for i, keys in self._listed("earlier"):
            folders += self._fitting("earlier", keys).values()
            if "custody" not in keys:
                self._say(f"earlier[{i}]", f"earlier[{i}] must have custody: a folder.")
        return self._try("earlier", partial(earlier_of, folders)) or ()

    def _views(self) -> tuple[View, ...]:
        made: list[View] = []
        for i, keys in self._listed("view"):
            given = self._fitting("view", keys)
            if "columns" not in keys:
                self._say(f"view[{i}]", f"view[{i}] must have columns.")
            elif given == keys:
                view = self._try(f"view[{i}]", partial(View, **given))
                made += [view] if view else []
        return self._try("view", partial(views_of, made)) or ()

    def _signoff(self) -> Signoff | None:
        stated = self.content.get("signoff")
        given = self._fitting("signoff", stated)
        if not isinstance(stated, dict) or given != stated:
            return None
        missing = [k for k in SECTIONS["signoff"] if k not in given]
        if missing:
            self._say("signoff", f"signoff must have {', '.join(missing)} too.")
            return None
        return self._try("signoff", partial(Signoff, **given))

    def _promise(self, i: int, keys: dict[str, Any]) -> Promise | None:
        at = f"promise[{i}]"
        given = self._fitting("promise", keys)
        if "against" not in keys:
            self._say(at, f"{at} must say against whom: {', '.join(KINDS)}.")
        adversary = self._adversary(at, keys, given)
        limit = self._limit(at, keys, given)
        if given != keys or adversary is None or limit is None:
            return None
        about, name = given.get("about"), given.get("name", "")
        make = partial(Promise, adversary, limit, about, name)
        return self._try(f"{at}.about", make, at)

    def _adversary(
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
        mine = [k for k in own if kind in known[k].only_for]
        if not set(mine) <= set(given):
            return None
        maker: Callable[..., Adversary] = KINDS[kind]
        make = partial(maker, **{k: given[k] for k in mine})
        return self._try(f"{at}.{mine[0]}" if mine else at, make, at)

    def _limit(
        self, at: str, keys: dict[str, Any], given: dict[str, Any]
    ) -> Limit | None:
        stated = [k for k in keys if any(k in s for s in LIMITS)]
        if set(stated) not in LIMITS:
            got = " and ".join(stated) or "none"
            self._say(
                f"{at}.{stated[-1]}" if stated else at,
                f"{at} must have one limit: at_most, below, from with to, or within; "
                f"got {got}.",
            )
            return None
        if not set(stated) <= set(given):
            return None
        levels = {k: given[k] for k in stated}
        return self._try(f"{at}.{stated[0]}", partial(limit_from, levels), at)

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


def _shown(value: Any) -> str:
    """A value as the file has it, not at any length."""
    text = toml(value)
    return text if len(text) <= 60 else text[:59] + "…"
