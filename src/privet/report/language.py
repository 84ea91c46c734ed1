"""Sentences in the reader's language, as `privet.values.languages` says them."""

from privet.values.languages import (
    LANGUAGES,
    mark,
    say,
    say_number,
    speak,
    translate,
    which_language,
)

__all__ = [
    "LANGUAGES",
    "mark",
    "say",
    "say_number",
    "speak",
    "translate",
    "which_language",
]
