"""Adversaries, who might learn something: linker, insider, reconstructor, Bayesian.

Frozen values, each able to say what it knows. A linker knows a quasi-identifier (Wang,
Fung, Yu 2007, §3.1); an insider has background knowledge (l, k, m) (Chen, LeFevre,
Ramakrishnan 2007, "3D Knowledge Expression"); a reconstructor lists the possible tables
behind published views; a Bayesian learns from a classifier or a disguised row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar

import attrs

from privet.errors import InputError, suggest_names
from privet.languages import join_words, mark, say, say_number, translate
from privet.values import exact
from privet.values.converters import name_fields
from privet.values.exact import Number
from privet.values.frozen_dict import FrozenDict
from privet.values.insider_phrases import (
    phrase_members,
    say_companions,
    say_others,
    say_ruled_out,
)
from privet.values.key_forms import (
    CHANCES,
    COUNT,
    FACTOR,
    FLAG,
    LEVEL,
    MEMBERS,
    NAME,
    NEARLY,
    READING,
    ROW,
    SHARES,
    TEXT,
    TEXTS,
    WHOLE,
    Key,
)
from privet.values.known_cells import (
    PRIORS,
    READINGS,
    SHARE,
    Members,
    Reading,
    read_amount,
    read_attributes,
    read_cells,
    read_evidence,
    read_members,
    read_near,
    read_others,
    read_prior,
    read_sure,
    read_tilt,
    read_unknown,
    require_whole,
)
from privet.values.schema import as_names

# What adversaries are given ---------------------------------------------------------


def _require_choice(value: str, known: Sequence[str], what: str) -> str:
    if value not in known:
        raise InputError(
            f"{what} must be one of {', '.join(known)}; got {value!r}. "
            f"{suggest_names(str(value), known)}"
        )
    return value


def _read_unrelated(given: bool | Sequence[str]) -> bool | tuple[str, ...]:
    return given if isinstance(given, bool) else as_names(given, "unrelated")


# Adversaries ------------------------------------------------------------------------


class Adversary:
    """Somebody a promise is made against; each kind is a frozen value.

    A new kind is one more value here, listed in `KINDS`, and a judge in the folder of
    the release it looks at.
    """

    __slots__ = ()
    kind: ClassVar[str]
    """What a policy calls it."""
    looks_at: ClassVar[tuple[str, ...]]
    """The kinds of release it learns from."""
    about_is: ClassVar[tuple[str, ...]] = ("column",)
    """What it may learn about: a column, a class of a classifier, a query."""
    subject: ClassVar[str] = mark("the sensitive column")
    """What it learns about where a promise does not say."""
    limit_key: ClassVar[str] = "at_most"
    """What a policy calls a ceiling on what it learns."""
    keys: ClassVar[Mapping[str, Key]] = FrozenDict()
    """Its keys in a promise of a policy; they are its constructor's arguments."""

    def words(self) -> str:
        """Who this is, as a noun phrase."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """The adversary as a policy writes it."""
        raise NotImplementedError

    def list_known_columns(self) -> tuple[str, ...]:
        """Columns of the table that it is said to know."""
        return ()

    @property
    def knows_quasi(self) -> bool:
        """Whether it knows whatever is quasi, which a table must then have."""
        return False


_KNOWS = Key(
    {"anyOf": [TEXT, TEXTS, WHOLE, ROW]},
    "The columns known about the victim; left out: all quasi and other columns, or all "
    "attributes of a classifier.",
)


@attrs.frozen(init=False)
class Linker(Adversary):
    """Somebody who knows a few columns about a person and looks the rest up.

    >>> Linker(knows=["job", "country"]).words()
    "someone who knows a person's job and country"
    """

    kind: ClassVar[str] = "linker"
    looks_at: ClassVar[tuple[str, ...]] = ("groups",)
    keys: ClassVar[Mapping[str, Key]] = FrozenDict(
        knows=_KNOWS,
        knows_any=Key(
            COUNT, "Any quasi or other columns, up to this many; the worst set counts."
        ),
    )
    knows: tuple[str, ...] | None = None
    """The QID, the columns known; None: every quasi and every other column."""
    knows_any: int | None = None
    """Instead: any quasi or other columns, up to this many; the worst set counts."""

    def __init__(
        self, knows: str | Sequence[str] | None = None, *, knows_any: int | None = None
    ) -> None:
        if knows is not None and knows_any is not None:
            raise InputError("A linker must have knows or knows_any; got both.")
        self.__attrs_init__(
            None if knows is None else as_names(knows, "knows"),
            None
            if knows_any is None
            else require_whole(knows_any, "knows_any", least=1),
        )

    def words(self) -> str:
        """Who this is, as a noun phrase."""
        if self.knows_any is not None:
            return say_number(
                "someone who knows any one column of a person",
                "someone who knows any {n} columns of a person",
                self.knows_any,
                n=self.knows_any,
            )
        if self.knows is None:
            return say("someone who knows every quasi and other column of a person")
        if not self.knows:
            return say("someone who knows nothing about a person but the table")
        return say(
            "someone who knows a person's {columns}", columns=join_words(self.knows)
        )

    def to_dict(self) -> dict[str, Any]:
        """The linker as a policy writes it."""
        known = {"knows": _as_list(self.knows), "knows_any": self.knows_any}
        return {"against": self.kind} | _drop_none(known)

    def list_known_columns(self) -> tuple[str, ...]:
        """The QID, where it is named."""
        return self.knows or ()

    @property
    def knows_quasi(self) -> bool:
        """Whether the QID is any or all of the quasi and other columns."""
        return self.knows is None


@attrs.frozen(field_transformer=name_fields)
class Insider(Adversary):
    """Somebody close: rules values out, knows other people, knows who shares a value.

    Background knowledge (l, k, m); a number is the worst case over all of that size.

    >>> Insider(rules_out=1, knows_others=2, same_as=1).words()[:43]
    'someone who can rule out one value, knows t'
    """

    kind: ClassVar[str] = "insider"
    looks_at: ClassVar[tuple[str, ...]] = ("groups",)
    keys: ClassVar[Mapping[str, Key]] = FrozenDict(
        rules_out=Key({"anyOf": [WHOLE, TEXTS]}, "l: values the victim lacks."),
        knows_others=Key({"anyOf": [WHOLE, ROW]}, "k: people whose value is known."),
        same_as=Key({"anyOf": [WHOLE, TEXTS]}, "m: people with the victim's value."),
        victim=Key(TEXT, "Whom the insider's knowledge is about."),
        sure=Key(
            {"anyOf": [LEVEL, CHANCES]},
            "How surely values are ruled out: once for all of them, or one by one; "
            "left out: for certain.",
        ),
        evidence=Key(
            FACTOR,
            "Besides, any evidence that is at most this many times likelier if "
            "something is true than if it is not.",
        ),
        households=Key(NAME, "A column that says who belongs together."),
        members=Key(
            MEMBERS,
            "What is known of people who belong together: they share one value, "
            "exclude each other's, are alike with a probability, or go in pairs.",
        ),
    )
    rules_out: int | tuple[str, ...] = attrs.field(default=0, converter=read_amount)
    """l: values the victim does not have."""
    knows_others: int | Mapping[str, str] = attrs.field(
        default=0, converter=read_others
    )
    """k: people whose value is known."""
    same_as: int | tuple[str, ...] = attrs.field(default=0, converter=read_amount)
    """m: people who share the victim's value."""
    victim: str | None = None
    """Whom the knowledge is about, where it is given itself and not as a number."""
    sure: tuple[Fraction, ...] | None = attrs.field(
        default=None, converter=read_sure, kw_only=True
    )
    """How surely values are ruled out: one probability for all, or one for each."""
    evidence: Fraction = attrs.field(
        default=Fraction(1), converter=read_evidence, kw_only=True
    )
    """Any other evidence, at most so many times likelier if something is true."""
    households: str | None = attrs.field(default=None, kw_only=True)
    """A column that says who belongs together."""
    members: Members = attrs.field(default=SHARE, converter=read_members, kw_only=True)
    """What is known of them: "share" or "exclude" values; alike with a probability,
    ``{"alike": "0.9"}``; or weights of pairs, ``{"pairs": {"A": {"B": 0}}}``."""

    def __attrs_post_init__(self) -> None:
        for key in ("victim", "households"):
            name = getattr(self, key)
            if name is not None and not isinstance(name, str):
                raise InputError(f"{key} must be a name; got {name!r}.")
        self._refuse_same_people()
        self._refuse_unfit()

    def _refuse_same_people(self) -> None:
        """The victim, the people known and the companions are different people."""
        others = self.knows_others if isinstance(self.knows_others, Mapping) else ()
        same = self.same_as if isinstance(self.same_as, tuple) else ()
        called = [*others, *same]
        if called and self.victim is None:
            raise InputError(
                "victim must be given where other people are known by name; got none."
            )
        called.append(self.victim or "")
        if twice := sorted({n for n in called if called.count(n) > 1}):
            raise InputError(
                "The victim, knows_others and same_as must be different people; "
                f"got {twice[0]!r} twice."
            )

    def _refuse_unfit(self) -> None:
        """Doubts and households go with numbers of people, not with names."""
        named, out = self.victim is not None, self.rules_out
        several = out if isinstance(out, int) else len(out)
        if named and (self.sure or self.households):
            key = "sure" if self.sure else "households"
            raise InputError(f"{key} must be left out where a victim is named.")
        if (self.sure and len(self.sure) not in (1, several)) or (
            self.sure and not several
        ):
            raise InputError(
                "sure must be one probability, or one for each of the values ruled "
                f"out; got {len(self.sure)} for {several}."
            )
        if self.households is None and self.members != SHARE:
            raise InputError("members must go with households; got no such column.")
        if self.members != SHARE and (self.knows_others or self.same_as):
            raise InputError(
                "knows_others and same_as must be 0 unless members share one value; "
                "got more."
            )

    @property
    def doubts(self) -> bool:
        """Whether some value is ruled out, and not for certain."""
        return any(p < 1 for p in self.sure or ())

    def list_doubts(self, values: int) -> tuple[Fraction, ...]:
        """How much of the likelihood of each value stays, of so many at most."""
        sure = self.sure or (Fraction(1),)
        several = self.rules_out if isinstance(self.rules_out, int) else values
        each = sure * min(several, values) if len(sure) == 1 else sure
        return tuple(1 - p for p in each)

    def words(self) -> str:
        """Who this is, as a noun phrase."""
        known = say(
            "someone who can rule out {values}, knows the value of {others} "
            "and knows {same} with the victim's own value",
            values=say_ruled_out(self.rules_out, self.sure),
            others=say_others(self.knows_others),
            same=say_companions(self.same_as),
        )
        if self.households is not None:
            known = say(
                "{known}, knows who has the same {column}, and that they {members}",
                known=known,
                column=self.households,
                members=phrase_members(self.members),
            )
        if self.evidence > 1:
            known = say(
                "{known}, and has evidence that is up to {times} times "
                "likelier if something is true",
                known=known,
                times=self.evidence,
            )
        return known

    def to_dict(self) -> dict[str, Any]:
        """The insider as a policy writes it."""
        sure = self.sure and [str(p) for p in self.sure]
        known = {
            "rules_out": _as_list(self.rules_out),
            "knows_others": self.knows_others,
            "same_as": _as_list(self.same_as),
            "victim": self.victim,
            "sure": sure[0] if sure and len(sure) == 1 else sure,
            "evidence": str(self.evidence) if self.evidence > 1 else None,
            "households": self.households,
            "members": None if self.members == SHARE else _in_texts(self.members),
        }
        return {"against": self.kind} | _drop_none(known)


MODELS = ("unrestricted", "restricted", "functional", "bag")
"""Which tables a reconstructor may take for possible."""

WORLDS = ("projected", "full")
"""Tables of the columns asked about and those that link them; or of all that is shown.
"""


@attrs.frozen(init=False)
class Reconstructor(Adversary):
    """Somebody who lists the tables that would give the published views."""

    kind: ClassVar[str] = "reconstructor"
    looks_at: ClassVar[tuple[str, ...]] = ("views",)
    about_is: ClassVar[tuple[str, ...]] = ("column", "query")
    keys: ClassVar[Mapping[str, Key]] = FrozenDict(
        model=Key({"enum": list(MODELS)}, "Which tables count as possible."),
        one_row_per_id=Key(FLAG, "Whether each id has one row."),
        worlds=Key(
            {"enum": list(WORLDS)},
            "Tables of the columns asked about and what links them; or of all shown.",
        ),
    )
    model: str = "unrestricted"
    """Which tables count as possible: one of `MODELS`."""
    worlds: str = "projected"
    """What tables are made of: one of `WORLDS`."""

    def __init__(
        self,
        model: str | None = None,
        *,
        one_row_per_id: bool | None = None,
        worlds: str = "projected",
    ) -> None:
        if model is not None and one_row_per_id is not None:
            raise InputError(
                "A reconstructor must have model or one_row_per_id; got both."
            )
        if one_row_per_id not in (None, True, False):
            raise InputError(
                f"one_row_per_id must be true or false; got {one_row_per_id!r}."
            )
        if model is None:
            model = "restricted" if one_row_per_id else "unrestricted"
        self.__attrs_init__(
            _require_choice(model, MODELS, "model"),
            _require_choice(worlds, WORLDS, "worlds"),
        )

    def words(self) -> str:
        """Who this is, as a noun phrase."""
        if self.worlds == "full":
            return say(
                "someone who lists the tables behind the views ({model} "
                "model, whole tuples)",
                model=self.model,
            )
        return say(
            "someone who lists the tables behind the views ({model} model)",
            model=self.model,
        )

    def to_dict(self) -> dict[str, Any]:
        """The reconstructor as a policy writes it."""
        worlds = {"worlds": self.worlds} if self.worlds != "projected" else {}
        return {"against": self.kind, "model": self.model} | worlds


AVERAGING = ("rows", "worlds")
"""What a Bayesian may average over."""


@attrs.frozen
class Bayesian(Adversary):
    """Somebody with a prior who learns from a classifier or from a disguised row."""

    kind: ClassVar[str] = "bayesian"
    looks_at: ClassVar[tuple[str, ...]] = ("classifier", "responses")
    about_is: ClassVar[tuple[str, ...]] = ("class",)
    keys: ClassVar[Mapping[str, Key]] = FrozenDict(
        knows=_KNOWS,
        prior=Key(
            {"anyOf": [{"enum": list(PRIORS)}, SHARES]},
            "Belief over classes or answers before; any: the worst (disguised rows).",
        ),
        averaging=Key({"enum": list(AVERAGING)}, "Over rows or over worlds."),
        sees=Key(ROW, "A disguised row."),
        unrelated=Key(
            {"anyOf": [FLAG, TEXTS]},
            "Questions that say nothing about this one, true: all others; left out: "
            "somebody may know how answers hang together (disguised rows).",
        ),
        unknown=Key(
            {"anyOf": [{"enum": list(READINGS)}, READING]},
            "What the attributes of a classifier that are not known are taken for: "
            "anything (the default, which covers everybody), the published model, or "
            "declared shares, marginals or rows of a table.",
        ),
        tilt=Key(
            FACTOR, "With shares: whatever is at most this many times as likely, too."
        ),
    )
    knows: Mapping[str, str] | tuple[str, ...] | int | None = attrs.field(
        default=None, converter=read_attributes
    )
    """One victim's attributes, a list or number of attributes, or None for all."""
    sees: Mapping[str, str] | None = attrs.field(default=None, converter=read_cells)
    """A disguised row."""
    prior: str | Mapping[str, Fraction] = attrs.field(
        default="uniform", converter=read_prior
    )
    """Belief over the classes before the release."""
    averaging: str = "rows"
    """Over a random row ("rows") or over the possible tables ("worlds")."""
    unrelated: bool | tuple[str, ...] = attrs.field(
        default=False, converter=_read_unrelated
    )
    """Questions that are declared to say nothing about this one; True: all others."""
    unknown: Reading = attrs.field(default="any", converter=read_unknown, kw_only=True)
    """What the other attributes are taken for: "any" thing at all, which is as if all
    were known; the published "model"; or declared shares, marginals or a table."""
    tilt: Fraction = attrs.field(default=Fraction(1), converter=read_tilt, kw_only=True)
    """With shares: every belief at most so many times as likely as they are, too."""

    def __attrs_post_init__(self) -> None:
        _require_choice(self.averaging, AVERAGING, "averaging")
        if self.averaging == "worlds" and not isinstance(self.unknown, str):
            raise InputError(
                "unknown must be any or model for somebody who averages over worlds; "
                f"got {next(iter(self.unknown))}."
            )
        if self.tilt > 1 and "shares" not in self.unknown:
            raise InputError(
                "tilt must go with unknown shares; got other readings of the unknown."
            )

    @property
    def reading(self) -> str:
        """What the unknown is taken for, in one word; any where all may be known."""
        if self.knows is None:
            return "any"
        if isinstance(self.unknown, str):
            return self.unknown
        return next(iter(self.unknown))

    def words(self) -> str:
        """Who this is, as a noun phrase.

        >>> Bayesian(knows=1, unknown="model").words()[-53:]
        'takes the others for what the published model expects'
        """
        if self.reading == "any":
            return say("someone who learns from the published numbers about a person")
        return say(
            "someone who learns from the published numbers, {knowledge}",
            knowledge=self.describe_knowledge(),
        )

    def describe_knowledge(self) -> str:
        """What of a person is known, and what the rest is taken for."""
        read = translate(_READ_AS[self.reading])
        if self.tilt != 1:
            read = say(
                "{reading}, or for anything at most {times} times as likely",
                reading=read,
                times=self.tilt,
            )
        return say(
            "knows {known} of a person and takes the others for {reading}",
            known=self._say_known(),
            reading=read,
        )

    def _say_known(self) -> str:
        if isinstance(self.knows, int):
            most = self.knows
            if most == 0:
                return say("at most no attributes")
            return say_number(
                "at most one attribute", "at most {n} attributes", most, n=most
            )
        return join_words(tuple(self.knows or ()) or (say("no attribute"),))

    def to_dict(self) -> dict[str, Any]:
        """The Bayesian as a policy writes it."""
        prior: object = self.prior
        if isinstance(self.prior, Mapping):
            prior = {c: str(p) for c, p in self.prior.items()}
        known = {"knows": _as_list(self.knows), "sees": self.sees, "prior": prior}
        worlds = {"averaging": self.averaging} if self.averaging != "rows" else {}
        apart = {"unrelated": _as_list(self.unrelated)} if self.unrelated else {}
        unknown = {} if self.unknown == "any" else {"unknown": _in_texts(self.unknown)}
        tilt = {"tilt": str(self.tilt)} if self.tilt > 1 else {}
        stated = {"against": self.kind} | _drop_none(known) | worlds
        return stated | apart | unknown | tilt


@attrs.frozen
class Collector(Adversary):
    """Somebody who holds the disguised rows and the design, and nothing else.

    A promise limits the share of whole records that are guessed right; it is judged by
    the upper end of an estimate.

    >>> Collector().words()
    'someone who has all disguised rows and the design, and guesses every record'
    """

    kind: ClassVar[str] = "collector"
    looks_at: ClassVar[tuple[str, ...]] = ("responses",)
    about_is: ClassVar[tuple[str, ...]] = ()
    subject: ClassVar[str] = mark("whole records")

    def words(self) -> str:
        """Who this is, as a noun phrase."""
        return say(
            "someone who has all disguised rows and the design, and guesses "
            "every record"
        )

    def attack(self, responses: Any, *, run: Any = None) -> Any:
        """Guess every record; which share is right is estimated from the rows, too."""
        from privet.responses.recovery.attacks import attack_responses

        return attack_responses(responses, run)

    def guess(self, group: Any, seen: Any, times: Any = None) -> Any:
        """The likeliest truth of each row of answers that are flipped together."""
        from privet.responses.recovery.attacks import guess_group

        return guess_group(group, seen, times)

    def to_dict(self) -> dict[str, Any]:
        """The collector as a policy writes it."""
        return {"against": self.kind}


@attrs.frozen(init=False)
class Inverter(Adversary):
    """Somebody who works out the original counts of a published classifier.

    A promise limits the share of them that is got exactly; with `near` also the share
    that is got within one, or within a share of the count.

    >>> Inverter().words()
    'someone who knows how the classifier was made, and the size of each class'
    """

    kind: ClassVar[str] = "inverter"
    looks_at: ClassVar[tuple[str, ...]] = ("classifier",)
    about_is: ClassVar[tuple[str, ...]] = ()
    subject: ClassVar[str] = mark("the original counts")
    limit_key: ClassVar[str] = "exactly"
    keys: ClassVar[Mapping[str, Key]] = FrozenDict(
        near=Key(
            NEARLY,
            "The share of counts that may be got within one, or within this much.",
        ),
    )
    class_sizes: Mapping[str, int] | None
    """Rows per class: often public; None: those of the table that is published."""
    smoothing: Fraction
    """What was added to every count; 1 is the usual choice."""
    margin: Fraction
    """How far numbers were moved at random, as the release declares."""
    near: Mapping[str, Fraction] | None
    """How near a guess is `within`, and the share of counts it may be at most."""

    def __init__(
        self,
        class_sizes: Mapping[str, int] | None = None,
        *,
        smoothing: Number = 1,
        margin: Number = 0,
        near: Mapping[str, Number] | None = None,
    ) -> None:
        if class_sizes is not None and (
            not class_sizes or any(n <= 0 for n in class_sizes.values())
        ):
            raise InputError("class_sizes must be rows per class, each above 0.")
        self.__attrs_init__(
            None if class_sizes is None else FrozenDict(class_sizes),
            exact.fraction(smoothing, "smoothing"),
            exact.fraction(margin, "margin"),
            read_near(near),
        )

    def words(self) -> str:
        """Who this is, as a noun phrase."""
        return say(
            "someone who knows how the classifier was made, and the size of each class"
        )

    def attack(self, release: Any) -> Any:
        """Guess every original count from a release, its scorecard, or its counts."""
        from privet.classifier.attacks.inversion import invert

        return invert(self, release)

    def to_dict(self) -> dict[str, Any]:
        """The inverter as a policy writes it."""
        near = None if self.near is None else {k: str(v) for k, v in self.near.items()}
        return {"against": self.kind} | _drop_none({"near": near})


_READ_AS = {
    "model": mark("what the published model expects"),
    "shares": mark("the declared shares, independent of each other"),
    "marginals": mark("any mixture with the declared marginals, whatever is known"),
    "table": mark("the rows of the declared table that fit"),
}
"""What each reading takes the unknown for."""

KINDS: dict[str, type[Adversary]] = {
    c.kind: c for c in (Linker, Insider, Reconstructor, Bayesian, Inverter, Collector)
}
"""The adversaries by the word a policy uses for them."""


def _as_list(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _in_texts(value: Any) -> Any:
    """A declared reading as a policy writes it."""
    if isinstance(value, Mapping):
        return {k: _in_texts(v) for k, v in value.items()}
    if isinstance(value, tuple):
        return [_in_texts(v) for v in value]
    return str(value)


def _drop_none(keys: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in keys.items() if v is not None}
