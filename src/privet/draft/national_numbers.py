"""Numbers that states and banks give to people, told by their form and check digits."""

from __future__ import annotations

import re
from datetime import date

COMPACT = re.compile(r"[\s.\-/]")


def compact(text: str) -> str:
    """The text without what only makes it readable.

    >>> compact("GB82 west-1234")
    'GB82WEST1234'
    """
    return COMPACT.sub("", text).upper()


def passes_luhn(digits: str) -> bool:
    """Whether the last digit is Luhn's check digit.

    >>> passes_luhn("4539148803436467"), passes_luhn("4539148803436466")
    (True, False)
    """
    total = 0
    for at, digit in enumerate(reversed(digits)):
        n = int(digit) * (1 + at % 2)
        total += n - 9 if n > 9 else n
    return total % 10 == 0


def weigh(digits: str, weights: tuple[int, ...]) -> int:
    """The sum of the digits, each times its weight."""
    return sum(int(d) * w for d, w in zip(digits, weights, strict=False))


def is_date(year: int, month: int, day: int) -> bool:
    """Whether there is such a day."""
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True


# Banks --------------------------------------------------------------------------------


def is_iban(text: str) -> bool:
    """An international bank account number: read as a number, 1 is left of 97."""
    found = compact(text)
    if not re.fullmatch(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}", found):
        return False
    turned = found[4:] + found[:4]
    return int("".join(str(int(letter, 36)) for letter in turned)) % 97 == 1


def is_card(text: str) -> bool:
    """A payment card: thirteen to nineteen digits, the first 2 to 6, Luhn's check."""
    found = COMPACT.sub("", text)
    return bool(re.fullmatch(r"[2-6][0-9]{12,18}", found)) and passes_luhn(found)


# States -------------------------------------------------------------------------------


def is_us_ssn(text: str) -> bool:
    """United States, social security: no check digit, so the hyphens are asked for."""
    found = re.fullmatch(r"([0-9]{3})-([0-9]{2})-([0-9]{4})", text.strip())
    if not found:
        return False
    area, group, serial = found.groups()
    fits = area not in ("000", "666") and area[0] != "9"
    return fits and group != "00" and serial != "0000"


def is_uk_nino(text: str) -> bool:
    """United Kingdom, national insurance: two letters, six digits, A to D."""
    found = compact(text)
    if not re.fullmatch(r"[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z][0-9]{6}[A-D]", found):
        return False
    return found[:2] not in ("BG", "GB", "NK", "KN", "TN", "NT", "ZZ")


def is_uk_nhs(text: str) -> bool:
    """United Kingdom, health service: ten digits, the last checks modulo 11."""
    found = COMPACT.sub("", text)
    if not re.fullmatch(r"[0-9]{10}", found):
        return False
    check = 11 - weigh(found[:9], (10, 9, 8, 7, 6, 5, 4, 3, 2)) % 11
    return check != 10 and check % 11 == int(found[9])


def is_german_tax_id(text: str) -> bool:
    """Germany, tax: eleven digits, one of the first ten twice or thrice, a check."""
    found = COMPACT.sub("", text)
    if not re.fullmatch(r"[1-9][0-9]{10}", found):
        return False
    often = sorted(found[:10].count(d) for d in set(found[:10]))
    if often[-1] not in (2, 3) or often.count(1) != len(often) - 1:
        return False
    product = 10
    for digit in found[:10]:
        total = (int(digit) + product) % 10 or 10
        product = 2 * total % 11
    return (11 - product) % 10 == int(found[10])


def is_german_pension(text: str) -> bool:
    """Germany, pension: area, birth date, initial, serial number and a check."""
    found = compact(text)
    parts = re.fullmatch(
        r"([0-9]{2})([0-9]{2})([0-9]{2})([0-9]{2})([A-Z])[0-9]{3}", found
    )
    if not parts:
        return False
    day, month, year = (int(parts[at]) for at in (2, 3, 4))
    if not is_date(1900 + year, month, day % 50 or 1):
        return False
    spelled = found[:8] + f"{ord(found[8]) - 64:02}" + found[9:11]
    weights = (2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1)
    products = (int(d) * w for d, w in zip(spelled, weights, strict=True))
    return sum(p // 10 + p % 10 for p in products) % 10 == int(found[11])


def is_french_nir(text: str) -> bool:
    """France, social security: sex, year, month, place, serial and a key of 97."""
    found = compact(text)
    if not re.fullmatch(r"[12378][0-9]{4}[0-9][0-9AB][0-9]{8}", found):
        return False
    number = found[:13].replace("2A", "19").replace("2B", "18")
    if not number.isdigit():
        return False
    return 97 - int(number) % 97 == int(found[13:])


def is_spanish_dni(text: str) -> bool:
    """Spain, citizens and foreigners: digits and the letter they leave modulo 23."""
    found = compact(text)
    if not re.fullmatch(r"[0-9XYZ][0-9]{7}[A-Z]", found):
        return False
    number = int(found[:8].translate(str.maketrans("XYZ", "012")))
    return "TRWAGMYFPDXBNJZSQVHLCKE"[number % 23] == found[8]


ODD = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10)
ODD_VALUES = (*ODD, 22, 25, 24, 23)
"""What A to Z, and 0 to 9 as A to J, count at odd places of a codice fiscale."""


def is_italian_code(text: str) -> bool:
    """Italy, codice fiscale: name, birth, place and a check letter."""
    found = compact(text)
    form = r"[A-Z]{6}[0-9LMNP-V]{2}[ABCDEHLMPRST][0-9LMNP-V]{2}[A-Z][0-9LMNP-V]{3}[A-Z]"
    if not re.fullmatch(form, found):
        return False
    total = 0
    for at, letter in enumerate(found[:15]):
        place = int(letter) if letter.isdigit() else ord(letter) - 65
        total += ODD_VALUES[place] if at % 2 == 0 else place
    return chr(65 + total % 26) == found[15]


def is_dutch_bsn(text: str) -> bool:
    """Netherlands, citizens: nine digits that pass the test of eleven."""
    found = COMPACT.sub("", text)
    if not re.fullmatch(r"[0-9]{9}", found) or found == "0" * 9:
        return False
    return weigh(found, (9, 8, 7, 6, 5, 4, 3, 2, -1)) % 11 == 0


def is_belgian_number(text: str) -> bool:
    """Belgium, register: birth date, serial and a check of 97, for both centuries."""
    found = COMPACT.sub("", text)
    if not re.fullmatch(r"[0-9]{11}", found) or int(found[2:4]) % 20 > 12:
        return False
    check = int(found[9:])
    return check in (97 - int(found[:9]) % 97, 97 - int("2" + found[:9]) % 97)


def is_swiss_ahv(text: str) -> bool:
    """Switzerland, pension: 756, nine digits, and the check of article numbers."""
    found = COMPACT.sub("", text)
    if not re.fullmatch(r"756[0-9]{10}", found):
        return False
    return weigh(found, (1, 3) * 6 + (1,)) % 10 == 0


def is_swedish_number(text: str) -> bool:
    """Sweden, people: birth date, three digits and Luhn's check."""
    found = re.fullmatch(r"(?:19|20)?([0-9]{6})[-+]?([0-9]{4})", text.strip())
    if not found:
        return False
    day = found[1]
    born = is_date(2000 + int(day[:2]), int(day[2:4]), int(day[4:]) % 60)
    return born and passes_luhn(found[1] + found[2])


def is_polish_pesel(text: str) -> bool:
    """Poland, people: birth date with the century in the month, serial, a check."""
    found = text.strip()
    if not re.fullmatch(r"[0-9]{11}", found) or not 1 <= int(found[2:4]) % 20 <= 12:
        return False
    if not 1 <= int(found[4:6]) <= 31:
        return False
    return weigh(found, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1)) % 10 == 0


def is_brazilian_cpf(text: str) -> bool:
    """Brazil, tax: nine digits and two checks modulo 11."""
    found = COMPACT.sub("", text)
    if not re.fullmatch(r"[0-9]{11}", found) or len(set(found)) == 1:
        return False
    first = weigh(found[:9], (10, 9, 8, 7, 6, 5, 4, 3, 2)) * 10 % 11 % 10
    second = weigh(found[:10], (11, 10, 9, 8, 7, 6, 5, 4, 3, 2)) * 10 % 11 % 10
    return found[9:] == f"{first}{second}"
