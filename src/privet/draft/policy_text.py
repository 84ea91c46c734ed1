"""A first policy for a person to correct, with a reason beside each guess."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from privet.draft.bin_edges import is_wide, suggest_edges
from privet.draft.checklist import Looked, fill_checklist
from privet.draft.common_values import (
    CLOSE,
    MANY_PEOPLE,
    MOST_PROMISES,
    CommonValues,
    has_windows,
)
from privet.draft.content import Content
from privet.draft.guess_roles import Guess
from privet.engine.protocol import ColumnSummary
from privet.errors import InputError
from privet.policy.toml import quote, quote_key, write_sections
from privet.values.person_rows import PersonRows

HEAD = """\
# A first draft, for a person to correct. It was guessed from the names of the columns,
# their types and how many different values they have{sample}.
# No cell was copied; values stand here only where {many} people share them.
# Beside each guess is how much to rely on it: sure, likely or unsure.
# Lines that begin with "#" and no space are examples: take the "#" away to use them.
"""
MEANINGS = {
    "identifier": "Who a person is: never published.",
    "quasi": "What others may know of a person.",
    "sensitive": "What nobody should learn of a person.",
    "other": "What is published as it is; others may know it, too.",
    "drop": "What is left out of every release.",
    "target": "What the analysts want to explain.",
    "unit": "Which rows are of the same person.",
    "weight": "How many rows each row stands for.",
}
LIMITS = ("0.5", "0.6", "0.7", "0.8", "0.9", "0.95", "0.99")
"""Limits that are drafted: the first above the share of a column's commonest value."""

LOPSIDED = Fraction(4, 5)
"""Where one value is as frequent as this, the others are named if they may be."""

WIDE = 15
"""With more known columns nobody knows all of them: any two are promised about."""

MANY_DOUBTS = 12
"""More doubts are summed up by kind."""

MANY_COLUMNS = 40
"""More columns of one role are written by reason, not one by one."""


@dataclass(frozen=True)
class Doubt:
    """Something a person must decide, in one line."""

    columns: tuple[str, ...]
    """The columns it is about."""
    role: str
    """What was guessed, for now."""
    reason: str
    """What makes it doubtful."""

    @property
    def words(self) -> str:
        """The doubt in one line."""
        named = quote(self.columns[0])
        if len(self.columns) > 1:
            named = f"{len(self.columns)} columns, {named} to {quote(self.columns[-1])}"
        return f"{named}: {self.role}; {self.reason}"

    def to_dict(self) -> dict[str, object]:
        """The same for machines."""
        return {
            "columns": list(self.columns),
            "role": self.role,
            "reason": self.reason,
        }


@dataclass(frozen=True)
class Drafted:
    """What a text is written from: the columns, and all that was found out of them."""

    columns: Sequence[ColumnSummary]
    """Each with its kind and numbers of values."""
    guesses: Sequence[Guess]
    """One per column, in the same order."""
    title: str = ""
    """What the policy calls the release."""
    contents: Mapping[str, Content] = field(default_factory=dict)
    """What the values look like, where they were looked at."""
    shares: Mapping[str, CommonValues] = field(default_factory=dict)
    """How frequent values of sensitive columns are, where that was counted."""
    file: Mapping[str, object] | None = None
    """How the text file was read, where that was said or found; the policy remembers
    it."""
    person: PersonRows | None = None
    """How several rows of a person could become one; None: there are none."""
    missing: Sequence[str] = ()
    """Texts that may stand for missing values: proposed, not taken for that."""

    def __post_init__(self) -> None:
        if [c.name for c in self.columns] != [g.name for g in self.guesses]:
            raise InputError("guesses must be one per column, in the same order.")

    @property
    def known(self) -> list[str]:
        """What a curious person may know."""
        return self.list_role("quasi", "other", "target")

    @property
    def target(self) -> str | None:
        """What analysts want to explain.

        A target counts as known. A sensitive number as fine as one that windows guard
        would tell nearly everybody apart, so that no other promise could be kept.
        """
        for column, guess in zip(self.columns, self.guesses, strict=True):
            fine = guess.role == "sensitive" and has_windows(column)
            if guess.role == "target" or (guess.target and not fine):
                return guess.name
        return None

    def list_role(self, *roles: str) -> list[str]:
        """The columns with one of some roles."""
        return [g.name for g in self.guesses if g.role in roles]


def write_policy(drafted: Drafted) -> str:
    """Write the guesses as a commented policy in TOML."""
    parts = (
        [_write_head(drafted), *_list_doubts(drafted), *_list_looked(drafted)],
        [f"title = {quote(drafted.title)}"],
        ["[columns]", *_list_roles(drafted)],
        _draft_people(drafted),
        _describe_file(drafted.file or {}, drafted.missing),
        _suggest_bins(drafted),
        _draft_promises(drafted),
        _draft_classifier(drafted),
    )
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


PEOPLE = (
    "# Several rows of a person become one before anything is published: what is taken",
    "# of each column that differs within somebody. All others stay the same.",
)
NO_RULES = (
    "# Several rows of a person must become one before anything is published. Say what",
    "# is taken of each column that differs within somebody: first, last, least, most,",
    "# commonest, set or count, and by which columns rows are ordered.",
    "#[person]",
    '#order = ["a date"]',
    '#last = ["a column", "another"]',
)
MISSING = (
    "# These texts may stand for missing values. They are values like others until",
    "# you take the # away.",
)


def _describe_file(file: Mapping[str, object], missing: Sequence[str]) -> list[str]:
    """How the file is read, and which texts a person should look at."""
    known = [write_sections({"file": file}).rstrip()] if file else []
    if not missing or "null" in file:
        return known
    return [*(known or ["#[file]"]), *MISSING, f"#null = {_write_array(missing)}"]


def _write_head(drafted: Drafted) -> str:
    rows = max((c.looked_at for c in drafted.contents.values()), default=0)
    whole = max((c.rows for c in drafted.columns), default=0)
    if not drafted.contents:
        sample = ""
    elif rows >= whole:
        sample = ", and from all of their values"
    else:
        sample = f", and from {rows:,} rows drawn"
    return HEAD.format(sample=sample, many=MANY_PEOPLE).rstrip()


# Doubts and the checklist -------------------------------------------------------------


def find_doubts(drafted: Drafted) -> tuple[Doubt, ...]:
    """What a person must decide; summed up by kind where there is much of it."""
    unsure = [g for g in drafted.guesses if not g.sure]
    alone = [Doubt((g.name,), g.role, g.reason) for g in unsure]
    if len(unsure) > MANY_DOUBTS:
        kinds: dict[tuple[str, str], list[str]] = {}
        for guess in unsure:
            kinds.setdefault((guess.role, guess.reason), []).append(guess.name)
        alone = [Doubt(tuple(names), *kind) for kind, names in kinds.items()]
    hopeless = [
        Doubt((name,), "sensitive", "nearly everybody has the same value: name others")
        for name in drafted.list_role("sensitive")
        if name in drafted.shares and not _is_promised(drafted.shares[name])
    ]
    return (*alone, *hopeless)


def _is_promised(shares: CommonValues) -> bool:
    return bool(_find_rarer_limit(shares) or _find_limit(shares.most))


def _list_doubts(drafted: Drafted) -> list[str]:
    doubts = find_doubts(drafted)
    if not doubts:
        return ["#", "# No guess is in doubt; check each of them all the same."]
    lines = (f"#   {doubt.words}" for doubt in doubts)
    return ["#", "# In doubt, look at these first:", *lines]


def _list_looked(drafted: Drafted) -> list[str]:
    looked = fill_checklist(drafted.guesses)
    lines: list[str] = []
    for law, words in LAWS.items():
        items = [one for one in looked if one.law == law]
        lines += ["#", f"# {words}"]
        lines += [f"#   {_write_looked(one)}" for one in items if one.columns]
        missing = [one.item for one in items if not one.columns]
        if missing:
            lines += _wrap("not found: " + ", ".join(missing))
    return lines


LAWS = {
    "HIPAA": "Looked for, of HIPAA's eighteen (45 CFR 164.514(b)(2)):",
    "GDPR": "Looked for, of the GDPR's special categories (Articles 9 and 10):",
}


def _write_looked(one: Looked) -> str:
    named = [quote(name) for name in one.columns[:6]]
    more = len(one.columns) - len(named)
    return f"{one.item}: {', '.join(named)}" + (f" and {more} more" if more else "")


def _wrap(text: str) -> list[str]:
    return textwrap.wrap(
        text,
        88,
        initial_indent="#   ",
        subsequent_indent="#     ",
        break_long_words=False,
    )


# Roles and bins -----------------------------------------------------------------------


def _list_roles(drafted: Drafted) -> Iterator[str]:
    for role in ("identifier", "quasi", "sensitive", "other", "drop"):
        # Who is told apart by a column must not be told who they are by it.
        roles = (role, "unit") if role == "identifier" else (role,)
        chosen = [guess for guess in drafted.guesses if guess.role in roles]
        yield f"# {MEANINGS[role]}"
        if not chosen:
            yield f"{role} = []  # none was guessed"
            continue
        yield f"{role} = ["
        yield from _list_by_reason(chosen)
        yield "]"
    yield from _write_target(drafted)
    yield from _write_people(drafted)
    yield from _write_weight(drafted)


def _list_by_reason(chosen: Sequence[Guess]) -> Iterator[str]:
    """A line per column; a paragraph per reason where there are many columns."""
    if len(chosen) <= MANY_COLUMNS:
        for g in chosen:
            yield f"    {quote(g.name)},  # {g.confidence}: {g.reason}"
        return
    reasons: dict[str, list[str]] = {}
    for g in chosen:
        reasons.setdefault(f"{g.confidence}: {g.reason}", []).append(quote(g.name))
    for reason, names in reasons.items():
        yield f"    # {reason}"
        line = "   "
        for name in names:
            if len(line) + len(name) > 84 and line.strip():
                yield line
                line = "   "
            line += f" {name},"
        yield line


def _write_target(drafted: Drafted) -> Iterator[str]:
    for guess in drafted.guesses:
        if guess.name == drafted.target:
            yield from _write_one("target", guess)


def _write_people(drafted: Drafted) -> Iterator[str]:
    """How several rows of one person are told together."""
    for guess in drafted.guesses:
        if guess.role == "unit":
            yield from _write_one("unit", guess)


def _write_weight(drafted: Drafted) -> Iterator[str]:
    for guess in drafted.guesses:
        if guess.role == "weight":
            yield from _write_one("weight", guess)


def _write_one(role: str, guess: Guess) -> Iterator[str]:
    yield f"# {MEANINGS[role]}"
    yield f"{role} = {quote(guess.name)}  # {guess.confidence}: {guess.reason}"


def _draft_people(drafted: Drafted) -> list[str]:
    """How rows become people; a person who knows the table must look at it."""
    if drafted.person is None:
        return list(NO_RULES) if drafted.list_role("unit") else []
    told = drafted.person.to_dict()
    told.pop("by", None)
    lines = [f"{key} = {_write_array(names)}" for key, names in told.items()]
    return [*PEOPLE, "[person]", *lines]


def _suggest_bins(drafted: Drafted) -> list[str]:
    wide = []
    for column, guess in zip(drafted.columns, drafted.guesses, strict=True):
        if guess.role == "sensitive" and has_windows(column):
            continue  # windows guard numbers, not bins
        if guess.role not in ("quasi", "sensitive", "other") or not is_wide(column):
            continue
        edges = suggest_edges(column, drafted.contents.get(column.name, Content()))
        if edges:
            wide.append(f"#{quote_key(column.name)} = [{', '.join(edges)}]")
    if not wide:
        return []
    return [
        "# Columns with many values are safer in bins. These edges are round numbers",
        "# near which a fifth of the rows ends; choose such as anybody could choose.",
        "#[bins]",
        *wide,
    ]


# Promises -----------------------------------------------------------------------------


def _draft_promises(drafted: Drafted) -> list[str]:
    known, about = drafted.known, drafted.list_role("sensitive")
    if not about or not (known or len(about) > 1):
        return _explain_nothing(drafted)
    head = list(ANY_TWO if len(known) > WIDE else ALL_AT_ONCE if known else NO_KNOWN)
    drafts = [_draft_promise(drafted, name) for name in about[:MOST_PROMISES]]
    if len(about) > MOST_PROMISES:
        drafts.append(LEFT_OUT.format(len(about) - MOST_PROMISES))
    return [*head, "\n\n".join(drafts)]


ALL_AT_ONCE = (
    "# Choose what a curious person may know, and how sure they may become of",
    "# each value: 0.5 is right one time in two. All columns at once is much to",
    "# know; knows_any = 2 instead of knows means any two of them. No limit is below",
    "# the share of a value in everybody; to go lower, name the values that nobody",
    "# should learn (about = { column = [...] }).",
)
ANY_TWO = (
    "# Nobody knows as many columns as these of a person: each promise is about",
    "# somebody who knows any two of the quasi and other columns. Who knows all of",
    "# them may learn more; an audit says so (NOT COVERED) until somebody accepts it.",
    "#[[accepted]]",
    '#about = "a sensitive column"',
    "#up_to = 0",
    '#why   = "why it may be"',
    '#who   = "your name"',
    "",
)
NO_KNOWN = (
    "# No column was guessed to be known of a person. Each promise is about somebody",
    "# who knows other columns; say what a neighbour, a colleague, an employer knows.",
)
LEFT_OUT = (
    "# {:,} more sensitive columns have no promise here: an audit says NOT COVERED of\n"
    "# them. Leave out (drop) what the analysts do not need, or promise about the rest."
)
HOPELESS = (
    "# Nearly everybody has the same value here: no promise about every value can be",
    "# kept. Name the values that nobody should learn (about = { column = [...] }).",
)


def _draft_promise(drafted: Drafted, about: str) -> str:
    """With a limit that the whole table keeps, as far as shares were counted."""
    column = next(c for c in drafted.columns if c.name == about)
    shares = drafted.shares.get(about, CommonValues(Fraction(0)))
    if has_windows(column):
        return _promise_number(drafted, about, shares)
    return _promise_values(drafted, about, shares)


def _promise_number(drafted: Drafted, about: str, shares: CommonValues) -> str:
    """What is promised of a number: nobody knows it nearly.

    Where nearly everybody has nearly the same, its values are promised one by one.
    """
    limit = None if shares.window is None else _find_limit(shares.window)
    if limit is None:
        return _promise_values(drafted, about, shares)
    stated = f"{{ {quote_key(about)} = {{ within = {quote(str(CLOSE))} }} }}"
    return _write_promise(drafted, about, limit, f"{stated}  # how close is too close")


def _promise_values(drafted: Drafted, about: str, shares: CommonValues) -> str:
    """What is promised of values: each of them, or the rarer ones by name."""
    if shares.most >= LOPSIDED and (limit := _find_rarer_limit(shares)):
        values = ", ".join(quote(value) for value in shares.rarer or ())
        stated = f"{{ {quote_key(about)} = [{values}] }}  # most people have another"
        return _write_promise(drafted, about, limit, stated)
    if limit := _find_limit(shares.most):
        before = LIMITS[max(0, LIMITS.index(limit) - 1)]
        why = f"  # its commonest value alone is at {before} or above"
        return _write_promise(drafted, about, limit + (why if limit != "0.5" else ""))
    lines = _write_promise(drafted, about, LIMITS[-1]).splitlines()
    return "\n".join([*HOPELESS, *(f"#{line.lstrip()}" for line in lines)])


def _find_rarer_limit(shares: CommonValues) -> str | None:
    """The limit for all values but the commonest, if they may be named."""
    return _find_limit(max(shares.rarer.values())) if shares.rarer else None


def _find_limit(share: Fraction) -> str | None:
    """The least limit above a share in everybody; below it nobody can be kept."""
    return next((limit for limit in LIMITS if share < Fraction(limit)), None)


def _explain_nothing(drafted: Drafted) -> list[str]:
    about = drafted.list_role("sensitive")
    lines = _write_promise(
        drafted, about[0] if about else "a sensitive column", LIMITS[0]
    ).splitlines()
    head = NOTHING_SENSITIVE if not about else NOTHING_KNOWN
    example = [*head, *(f"#{line.lstrip()}" for line in lines)]
    return [*example, "", MEASURE] if drafted.list_role("quasi") else example


NOTHING_SENSITIVE = (
    "# Nothing sensitive was found: no word and no value about health, sexuality,",
    "# religion, politics, money or crime, and nothing else that people keep to",
    "# themselves. If that is right, no promise is needed. If not, a person must",
    "# choose what nobody should learn (sensitive), and promise something:",
)
NOTHING_KNOWN = (
    "# No promise could be drafted: a person must choose what others may know",
    "# (quasi) and what nobody should learn (sensitive), and promise something.",
)
MEASURE = """\
# Until then: how many people look alike in every quasi column.
[[measure]]
k_anonymity = 5"""


def _write_promise(drafted: Drafted, about: str, limit: str, stated: str = "") -> str:
    known = drafted.known
    others = [c for c in drafted.list_role("sensitive") if c != about]
    if len(known) > WIDE:
        knows = "knows_any = 2"
    elif known:
        knows = f"knows   = {_write_array(known)}"
    else:
        chosen = others if len(others) <= WIDE else others[:3]
        knows = f"knows   = {_write_array(chosen or ['a quasi column'])}"
    return "\n".join(
        [
            "[[promise]]",
            f"name    = {quote(f'nobody learns {about}')}",
            'against = "linker"',
            knows,
            f"about   = {stated or quote(about)}",
            f"at_most = {limit}",
        ]
    )


CLASSIFIER = (
    "# How far may a published classifier of the target move a mind? privet classifier",
    "# makes one that keeps this; the table itself is not judged by it.",
)
INVERTER = """\
# Whoever knows how a classifier was made may work out the counts behind it. Promise
# that they stay unknown, or let somebody accept it.
#[[promise]]
#name    = "the counts stay unknown"
#against = "inverter"
#exactly = 0.1"""


def _draft_classifier(drafted: Drafted) -> list[str]:
    """A promise about the target, where there are columns to predict it from.

    Where people have several rows, no classifier is made of them.
    """
    target = drafted.target
    quasi, unit = drafted.list_role("quasi"), drafted.list_role("unit")
    if target is None or not quasi or unit:
        return []
    return [
        *CLASSIFIER,
        "[[promise]]",
        f"name    = {quote(f'a classifier moves no mind about {target}')}",
        'against = "bayesian"',
        f"about   = {quote(target)}",
        "from    = 0.51",
        "to      = 0.8",
        "",
        INVERTER,
    ]


def _write_array(texts: Iterable[str]) -> str:
    """Write a TOML list, one text per line where they do not fit on one."""
    quoted = [quote(text) for text in texts]
    line = "[" + ", ".join(quoted) + "]"
    return line if len(line) < 78 else "[\n    " + ",\n    ".join(quoted) + ",\n]"
