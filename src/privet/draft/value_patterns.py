"""Forms of values that tell who somebody is: mail addresses, numbers, names, texts.

A form is believed of a column where most of the values that were looked at have it.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial

from privet.draft import national_numbers as numbers
from privet.draft.vocabulary import GIVEN_NAMES, strip_accents

MOST = 0.8
"""So much of the values must have a form."""

ENOUGH_VALUES = 5
"""In fewer values a check digit may be right by chance."""


@dataclass(frozen=True)
class Pattern:
    """A form that values may have."""

    key: str
    """How the checklist calls it."""
    words: str
    """What the values are, in the plural."""
    fits: Callable[[str], bool]
    """Whether a value has the form."""
    plain: bool = True
    """Whether few values prove it: an @ does, a check digit over bare digits does not.
    """


def match(form: str) -> Callable[[str], bool]:
    """Whether the whole of a value has a form."""
    return partial(_match, re.compile(form, re.IGNORECASE))


def _match(form: re.Pattern[str], text: str) -> bool:
    return form.fullmatch(text.strip()) is not None


MAIL = r"[\w.+%'-]+@[\w-]+(\.[\w-]+)*\.[a-z]{2,}"
URL = r"(https?|ftp)://\S+|www\.[\w-]+(\.[\w-]+)+\S*"


def is_phone(text: str) -> bool:
    """A telephone number: a plus or a leading 0 and separators, or the American form.

    >>> is_phone("+49 30 123456"), is_phone("(555) 010-9999"), is_phone("030123456")
    (True, True, False)
    """
    text = text.strip()
    if re.fullmatch(
        r"(\+?1[\s.-]?)?(\([2-9][0-9]{2}\)\s?|[2-9][0-9]{2}[\s.-])"
        r"[0-9]{3}[\s.-][0-9]{4}(\s?x[0-9]{1,5})?",
        text,
    ):
        return True
    digits = re.sub(r"[^0-9]", "", text)
    if not 8 <= len(digits) <= 15 or not re.fullmatch(r"\+?[0-9 ()/.\-]+", text):
        return False
    if text.startswith(("+", "00")):
        return True
    day = re.fullmatch(r"[0-9]{1,4}[./-][0-9]{1,2}[./-][0-9]{1,4}", text)
    return text.startswith(("0", "(0")) and len(digits) < len(text) and not day


def is_ip_address(text: str) -> bool:
    """An address of a machine on a network, old form or new.

    >>> is_ip_address("192.0.2.7"), is_ip_address("1.2.3"), is_ip_address("2001:db8::1")
    (True, False, True)
    """
    if not re.search(r"[.:]", text):
        return False
    try:
        ipaddress.ip_address(text.strip())
    except ValueError:
        return False
    return True


def is_vehicle(text: str) -> bool:
    """A vehicle identification number: seventeen letters and digits with a check."""
    found = text.strip().upper()
    if not re.fullmatch(r"[A-HJ-NPR-Z0-9]{17}", found) or found.isdigit():
        return False
    values = dict(
        zip("ABCDEFGHJKLMNPRSTUVWXYZ", "12345678123457923456789", strict=True)
    )
    weights = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)
    spelled = [int(values.get(letter, letter)) for letter in found]
    left = sum(n * w for n, w in zip(spelled, weights, strict=True)) % 11
    check = "X" if left == 10 else str(left)
    return bool(found[8] == check)


PART = r"[^\W\d_][^\W\d_'’.-]*(?:[-'’.][^\W\d_]+)*\.?"
FULL_NAME = re.compile(rf"({PART}\s+){{1,3}}{PART}|{PART},\s*{PART}(\s+{PART})?")
TITLED = re.compile(r"(mr|mrs|ms|miss|dr|prof|herr|frau|mme|m|sr|sra|don|dona)\.?\s.*")


def is_full_name(text: str) -> bool:
    """Two to four words with capitals, or a surname, a comma and the rest.

    >>> is_full_name("Ada Byron"), is_full_name("Byron, Ada"), is_full_name("red wine")
    (True, True, False)
    """
    if not FULL_NAME.fullmatch(text.strip()):
        return False
    words: list[str] = re.findall(r"[^\W\d_]+", text)
    return sum(word[0].isupper() for word in words) * 3 >= len(words) * 2


def is_given_name(text: str) -> bool:
    """A value that begins with a title or holds a common first name.

    >>> is_given_name("Byron, Maria"), is_given_name("Frau Kim"), is_given_name("Rex")
    (True, True, False)
    """
    plain = strip_accents(text).casefold().strip()
    words = re.findall(r"[^\W\d_]+", plain)
    few = 1 <= len(words) <= 4
    return few and (
        TITLED.fullmatch(plain) is not None or not GIVEN_NAMES.isdisjoint(words)
    )


def is_free_text(text: str) -> bool:
    """Six words or more.

    >>> is_free_text("She came in at noon with a headache."), is_free_text("a b c")
    (True, False)
    """
    return len(text) >= 25 and len(text.split()) >= 6


def is_street(text: str) -> bool:
    """A street with a house number.

    >>> is_street("12 Main Street"), is_street("Hauptstr. 5a"), is_street("Paris 12")
    (True, True, False)
    """
    plain = strip_accents(text).casefold()
    return bool(re.search(r"[0-9]", plain)) and STREET.search(plain) is not None


STREET = re.compile(
    r"\b(street|st|avenue|ave|road|rd|lane|drive|blvd|boulevard|rue|place|allee|calle|"
    r"avenida|plaza|via|weg|platz|gasse)\b|(strasse|str\.|gasse|allee|weg|platz)\s"
)


PATTERNS = (
    Pattern("email", "e-mail addresses", match(MAIL)),
    Pattern("url", "web addresses", match(URL)),
    Pattern("ip", "network addresses", is_ip_address),
    Pattern("device", "network hardware", match(r"([0-9a-f]{2}[:-]){5}[0-9a-f]{2}")),
    Pattern(
        "record",
        "universal identifiers",
        match(r"\{?[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}\}?"),
    ),
    Pattern("account", "bank accounts (IBAN)", numbers.is_iban),
    Pattern("vehicle", "vehicle numbers", is_vehicle, plain=False),
    Pattern("national", "US social security numbers", numbers.is_us_ssn),
    Pattern("national", "UK insurance numbers", numbers.is_uk_nino),
    Pattern("national", "Italian tax codes", numbers.is_italian_code),
    Pattern("national", "German pension numbers", numbers.is_german_pension),
    Pattern("national", "French security numbers", numbers.is_french_nir),
    Pattern("national", "Spanish identity numbers", numbers.is_spanish_dni),
    Pattern("national", "Swiss pension numbers", numbers.is_swiss_ahv),
    Pattern("national", "German tax numbers", numbers.is_german_tax_id, plain=False),
    Pattern("national", "Belgian register numbers", numbers.is_belgian_number, False),
    Pattern("national", "Brazilian tax numbers", numbers.is_brazilian_cpf, False),
    Pattern("national", "Polish identity numbers", numbers.is_polish_pesel, False),
    Pattern("national", "Swedish identity numbers", numbers.is_swedish_number, False),
    Pattern("national", "UK health service numbers", numbers.is_uk_nhs, False),
    Pattern("national", "Dutch citizen numbers", numbers.is_dutch_bsn, False),
    Pattern("account", "payment cards", numbers.is_card, plain=False),
    Pattern("phone", "telephone numbers", is_phone),
    Pattern("address", "streets with numbers", is_street),
)
"""Asked in this order; the first that most values have is believed."""

HIDDEN = (
    ("email", "e-mail addresses", re.compile(rf"(?<![\w@]){MAIL}", re.IGNORECASE)),
    ("url", "web addresses", re.compile(r"https?://\S", re.IGNORECASE)),
    ("national", "US social security numbers", re.compile(r"\b\d{3}-\d{2}-\d{4}\b")),
    ("phone", "telephone numbers", re.compile(r"\+\d[\d ()/-]{8,}\d")),
)
"""What may stand inside of longer texts."""

FREE_TEXT = Pattern("text", "free text", is_free_text)
FULL_NAMES = Pattern("name", "names", is_full_name)
GIVEN = Pattern("name", "first names", is_given_name)


def find_pattern(values: Collection[str]) -> Pattern | None:
    """The form that most of some different values have; None: no form has."""
    if not values:
        return None
    few = list(values)[:20]
    for pattern in PATTERNS:
        if not pattern.plain and len(values) < ENOUGH_VALUES:
            continue
        # Twenty values are enough to give up: of values of which eight in ten fit,
        # fewer than ten in twenty fit one time in a thousand.
        if sum(map(pattern.fits, few)) * 2 < len(few):
            continue
        if measure_fit(pattern, values) >= MOST:
            return pattern
    return None


def measure_fit(pattern: Pattern, values: Collection[str]) -> float:
    """The share of some values that have a form."""
    return sum(map(pattern.fits, values)) / len(values) if values else 0.0


def find_hidden(values: Collection[str]) -> str:
    """What stands inside of some values, though not of most; or nothing."""
    for _, words, form in HIDDEN:
        if any(form.search(value) for value in values if len(value) >= 9):
            return words
    return ""
