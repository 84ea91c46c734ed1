"""Sentences in the reader's language: gettext's catalogues; English is as written.

A sentence stays where it is written: `say("{n} people are unique.", n=3)`. Whatever
varies has a name in braces, so that a translation may put it elsewhere. Which language
is spoken is said once, around everything: `with speak("de"): ...`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from privet.errors import InputError

if TYPE_CHECKING:
    from gettext import NullTranslations

LANGUAGES = {"en": "English", "de": "Deutsch", "fr": "Français", "es": "Español"}
"""Languages that there are, each by its own name."""

PUBLIC = "en"
"""The language of what travels with a release: whoever verifies it says it again."""

CATALOGUES = Path(__file__).parent / "locale"
"""`de/LC_MESSAGES/privet.po` and so on, each with its compiled twin."""

_SPOKEN: ContextVar[str] = ContextVar("language", default="en")


def say(sentence: str, /, **parts: object) -> str:
    """A sentence in the language that is spoken, with its parts filled in.

    >>> say("{n} people are unique.", n=3)
    '3 people are unique.'
    """
    return translate(sentence).format_map(parts)


def say_number(one: str, many: str, n: int, /, **parts: object) -> str:
    """A sentence about `{n}` things, in the form that the number asks for.

    >>> say_number("{n} person is unique.", "{n} people are unique.", 1)
    '1 person is unique.'
    """
    found = _find_catalogue(_SPOKEN.get())
    said = (one if n == 1 else many) if found is None else found.ngettext(one, many, n)
    return said.format_map({"n": f"{n:,}", **parts})


def translate(sentence: str, /) -> str:
    """A sentence without parts, which may come from a file: nothing is filled in.

    >>> translate("{n} stays as it is")
    '{n} stays as it is'
    """
    found = _find_catalogue(_SPOKEN.get())
    return sentence if found is None or not sentence else found.gettext(sentence)


def mark(sentence: str, /) -> str:
    """A sentence that is said later, by `say`: only marked as one to translate."""
    return sentence


@contextmanager
def speak(language: str) -> Iterator[None]:
    """Say everything inside in a language."""
    if language not in LANGUAGES:
        raise InputError(
            f"A language must be one of {', '.join(LANGUAGES)}; got {language!r}."
        )
    before = _SPOKEN.set(language)
    try:
        yield
    finally:
        _SPOKEN.reset(before)


def which_language() -> str:
    """The language that is spoken here, as two letters."""
    return _SPOKEN.get()


@cache
def _find_catalogue(language: str) -> NullTranslations | None:
    """The sentences of a language; None: as they are written."""
    if language == "en":
        return None
    from gettext import translation

    return translation("privet", CATALOGUES, [language])


def join_words(words: Sequence[str]) -> str:
    """Words joined as in a sentence.

    >>> join_words(["job", "country", "age"])
    'job, country and age'
    """
    *most, last = words
    return say("{words} and {last}", words=", ".join(most), last=last) if most else last


def join_alternatives(words: Sequence[str]) -> str:
    """Words of which one is true.

    >>> join_alternatives(["Flu", "HIV", "Cold"])
    'Flu or HIV or Cold'
    """
    told, *others = words
    for other in others:
        told = say("{first} or {second}", first=told, second=other)
    return told


def join_all(words: Sequence[str]) -> str:
    """Words that go together, the same between all of them.

    >>> join_all(["job", "country", "age"])
    'job and country and age'
    """
    told, *others = words
    for other in others:
        told = say("{first} and {second}", first=told, second=other)
    return told
