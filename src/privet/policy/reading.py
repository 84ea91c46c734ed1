"""Reading a policy file: all of its problems at once, each with its line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from typing import Any

from privet.adversary import KINDS
from privet.beliefs import limit_from
from privet.errors import InputError, PolicyError, Problem, what_exists
from privet.policy.document import Policy
from privet.policy.keys import FREE, LIMITS, LISTS, SECTIONS, Key, fits, form_words
from privet.policy.lines import line_of, lines_of
from privet.policy.promise import Measure, Promise, Purpose
from privet.roles import Bins, Roles


def parse(text: str, file: str = "") -> Policy:
    """Read a policy; every problem is reported at once, with its line."""
    try:
        content = tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        raise PolicyError([_syntax(error, text)], file) from None
    reader = Reader(content)
    policy = reader.policy()
    if reader.problems:
        lines = lines_of(text)
        located = [
            Problem(p.rule, p.key, line_of(p.key, lines)) for p in reader.problems
        ]
        raise PolicyError(sorted(located, key=lambda p: p.line or 0), file)
    assert policy is not None
    return policy


def _syntax(error: tomllib.TOMLDecodeError, text: str) -> Problem:
    message = str(error)
    at = re.search(r"\(at line (\d+), column \d+\)", message)
    line = int(at[1]) if at else len(text.splitlines())
    rule = re.sub(r" \(at .*\)$", "", message)
    return Problem(f"A policy must be TOML: {rule[:1].lower()}{rule[1:]}.", "", line)


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
        purpose = self._try("purpose", lambda: Purpose(**self._section("purpose")))
        if not promises and not measures and not self.problems:
            self._say("", "A policy must hold at least one [[promise]] or [[measure]].")
        if self.problems or roles is None or purpose is None:
            return None
        return Policy(
            promises=tuple(p for p in promises if p),
            roles=roles,
            measures=tuple(m for m in measures if m),
            purpose=purpose,
            where={c: _tuple(v) for c, v in self.content.get("where", {}).items()},
            title=self.content.get("title", ""),
        )

    def _say(self, key: str, rule: str) -> None:
        self.problems.append(Problem(rule, key))

    def _try(self, key: str, make: Callable[[], Any]) -> Any:
        before = len(self.problems)
        try:
            return make() if len(self.problems) == before else None
        except InputError as error:
            self._say(key, str(error))
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
                self._say(name, f"{name} must be a section, written [{name}].")
            else:
                self._keys(name, value, name)

    def _list_form(self, name: str, value: Any) -> None:
        if not isinstance(value, list) or not all(isinstance(v, dict) for v in value):
            self._say(name, f"{name} must be written [[{name}]], once per {name}.")
            return
        for i, section in enumerate(value, 1):
            self._keys(name, section, f"{name}[{i}]")

    def _keys(self, section: str, values: dict[str, Any], at: str) -> None:
        if section in FREE:
            for key, value in values.items():
                self._form(f"{at}.{key}", value, FREE[section])
            return
        known = SECTIONS[section]
        for key, value in values.items():
            if key not in known:
                self._say(
                    f"{at}.{key}",
                    f"{key!r} is not a key of {section}. "
                    f"{what_exists(key, list(known))}",
                )
            else:
                self._form(f"{at}.{key}", value, known[key])

    def _form(self, at: str, value: Any, key: Key) -> None:
        if not fits(value, key.schema):
            self._say(at, f"{at} must be {form_words(key.schema)}; got {value!r}.")

    # Content ------------------------------------------------------------------------

    def _section(self, name: str) -> dict[str, Any]:
        section = self.content.get(name, {})
        known = SECTIONS.get(name, {})
        if not isinstance(section, dict):
            return {}
        return {
            k: v
            for k, v in section.items()
            if (k in known and fits(v, known[k].schema)) or name in FREE
        }

    def _listed(self, name: str) -> list[tuple[int, dict[str, Any]]]:
        sections = self.content.get(name, [])
        if not isinstance(sections, list):
            return []
        return [(i, s) for i, s in enumerate(sections, 1) if isinstance(s, dict)]

    def _roles(self) -> Roles | None:
        columns = self._section("columns")
        bins = {
            c: made
            for c, edges in self._section("bins").items()
            if (made := self._try(f"bins.{c}", partial(Bins, edges))) is not None
        }
        roles: Roles | None = self._try("columns", lambda: Roles(**columns, bins=bins))
        return roles

    def _measure(self, i: int, keys: dict[str, Any]) -> Measure | None:
        if set(keys) - set(SECTIONS["measure"]):
            return None
        made: Measure | None = self._try(f"measure[{i}]", lambda: Measure(**keys))
        return made

    def _promise(self, i: int, keys: dict[str, Any]) -> Promise | None:
        at = f"promise[{i}]"
        known = SECTIONS["promise"]
        bad = [
            k for k, v in keys.items() if k not in known or not fits(v, known[k].schema)
        ]
        kind = keys.get("against")
        if kind is None:
            self._say(at, f"{at} must say against whom: one of {', '.join(KINDS)}.")
        if bad or kind is None:
            return None
        adversary = self._try(f"{at}.against", lambda: self._adversary(at, kind, keys))
        limit = self._limit(at, keys)
        if adversary is None or limit is None:
            return None
        promise: Promise | None = self._try(
            f"{at}.about",
            lambda: Promise(adversary, limit, keys.get("about"), keys.get("name", "")),
        )
        return promise

    def _adversary(self, at: str, kind: str, keys: dict[str, Any]) -> Any:
        known = SECTIONS["promise"]
        own = {k: v for k, v in keys.items() if known[k].only_for}
        for key in own:
            if kind not in known[key].only_for:
                self._say(
                    f"{at}.{key}",
                    f"{at}.{key} must not be given: it says nothing of a {kind}, only "
                    f"of a {' or '.join(known[key].only_for)}.",
                )
        own = {k: v for k, v in own.items() if kind in known[k].only_for}
        maker: Any = KINDS[kind]
        return maker(**own)

    def _limit(self, at: str, keys: dict[str, Any]) -> Any:
        given = {k for s in LIMITS for k in s if k in keys}
        if given not in LIMITS:
            self._say(
                at,
                f"{at} must have one limit: at_most, below, from with to, or within; "
                f"got {', '.join(sorted(given)) or 'none'}.",
            )
            return None
        key = sorted(given)[0]
        return self._try(f"{at}.{key}", lambda: limit_from({k: keys[k] for k in given}))


def _tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, list) else (value,)
