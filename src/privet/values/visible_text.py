"""Texts that people look at: what a terminal or a reader would obey is escaped.

Names of columns may turn the direction of writing, colour a terminal, or hide letters.
"""

from __future__ import annotations

import json
import re

from privet.errors import InputError

CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u08e2\u180e"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0001-\U000e007f]"
)
"""Letters that are not seen but do something; a line end and a tab are seen."""

SECRETS = (
    (re.compile(r"(://[^/\s:@]*):[^/\s@]*@"), r"\1:…@"),
    (re.compile(r"(^|[\s'\"/])([^/\s:@'\"]+):[^/\s:@'\"]+@"), r"\1\2:…@"),
    (
        re.compile(
            r"\b(pass\w*|pwd|secret\w*|token|api_?key|sslpassword)(\s*=\s*)"
            r"('[^']*'|[^\s;&'\"]+)",
            re.IGNORECASE,
        ),
        r"\1\2…",
    ),
)
"""Where connection strings of all kinds have a password, and what is shown of it."""


def escape_controls(text: str) -> str:
    r"""A text with what is not seen written out.

    >>> print(escape_controls("job" + chr(0x202E) + chr(27) + "[31m"))
    job\u202e\x1b[31m
    """
    return CONTROLS.sub(lambda found: ascii(found[0])[1:-1], text)


def escape_json(text: str) -> str:
    r"""The same for a JSON document, which means the same afterwards.

    >>> print(escape_json('{"job' + chr(0x202E) + '": 1}'))
    {"job\u202e": 1}
    """
    return CONTROLS.sub(lambda found: json.dumps(found[0])[1:-1], text)


def require_encodable(text: str, what: str) -> None:
    """A text must be one that files can hold: no half of a letter alone."""
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        raise InputError(f"{what} must be text UTF-8 can hold; got {text!r}.")


def hide_secrets(text: str) -> str:
    """A message without the passwords of connection strings in it.

    >>> hide_secrets("File 'host=db password=hunter2 user=ann' must exist.")
    "File 'host=db password=… user=ann' must exist."
    >>> hide_secrets("'postgresql://ann:hunter2@db/x'"), hide_secrets("ann:s3@db/x")
    ("'postgresql://ann:…@db/x'", 'ann:…@db/x')
    """
    for pattern, shown in SECRETS:
        text = pattern.sub(shown, text)
    return text
