"""What a draft looked for: HIPAA's eighteen identifiers and GDPR's special categories.

HIPAA, Safe Harbor: 45 CFR 164.514(b)(2)(i). GDPR: Articles 9(1) and 10.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from privet.draft.guess_roles import Guess
from privet.draft.vocabulary import (
    AGE,
    BIRTH,
    ORIGIN,
    POST,
    Vocabulary,
    parse_vocabulary,
    split_words,
)

HIPAA, GDPR = "HIPAA", "GDPR"
NOTHING = parse_vocabulary("")


@dataclass(frozen=True)
class Looked:
    """One thing of a list that was looked for, and the columns that answered."""

    law: str
    """HIPAA or GDPR."""
    item: str
    """What the law lists, in a few words."""
    columns: tuple[str, ...]
    """The columns that answered; none: it was not found."""

    def to_dict(self) -> dict[str, object]:
        """The same for machines."""
        return {"law": self.law, "item": self.item, "columns": list(self.columns)}


@dataclass(frozen=True)
class _Item:
    law: str
    words: str
    keys: tuple[str, ...] = ()
    names: Vocabulary = NOTHING
    also: tuple[Vocabulary, ...] = ()

    def is_answered_by(self, guess: Guess, words: tuple[str, ...]) -> bool:
        found = any(known.find(words) for known in (self.names, *self.also))
        return found or (bool(guess.item) and guess.item in self.keys)


CITIES = parse_vocabulary(
    "city stadt town- ville ciudad ort wohnort* gemeinde* municipal* commune village "
    "county district* bezirk* canton kanton street* strasse* address* adress* "
    "direccion* domicilio* neighbourhood* neighborhood* quartier barrio latitude* "
    "longitude* lat lon lng location"
)
DATES = parse_vocabulary(
    "date* datum fecha admitted* admission* aufnahme* entlass* discharge* death* diag "
    "diagnos*date"
)
GENETIC = parse_vocabulary("genetic* genetisch* genetique* genom* dna adn genotyp*")
BIOMETRIC = parse_vocabulary("fingerprint* fingerabdr* iris voice retina biometri*")

ITEMS = (
    _Item(HIPAA, "names", ("name",)),
    _Item(HIPAA, "places smaller than a state", ("place", "address"), CITIES, (POST,)),
    _Item(HIPAA, "dates and ages", ("date",), DATES, (AGE, BIRTH)),
    _Item(
        HIPAA,
        "telephone numbers",
        ("phone",),
        parse_vocabulary("phone* telephon* telefon* mobile handy"),
    ),
    _Item(HIPAA, "fax numbers", (), parse_vocabulary("fax")),
    _Item(
        HIPAA,
        "e-mail addresses",
        ("email",),
        parse_vocabulary("mail email* courriel* correo"),
    ),
    _Item(
        HIPAA,
        "social security numbers",
        ("national",),
        parse_vocabulary("ssn nino nhs dni nif nie cpf socialsecurity* sozialversich*"),
    ),
    _Item(HIPAA, "record numbers", ("record",), parse_vocabulary("mrn")),
    _Item(
        HIPAA,
        "health plan numbers",
        (),
        parse_vocabulary(
            "insurancenumber* insuranceid* policynumber* versichertennumm*"
        ),
    ),
    _Item(
        HIPAA,
        "account numbers",
        ("account",),
        parse_vocabulary("iban creditcard* kreditkarte* cardnumber* account* konto"),
    ),
    _Item(
        HIPAA,
        "certificates and licences",
        (),
        parse_vocabulary("licence* license* passport* passeport* pasaporte* ausweis*"),
    ),
    _Item(
        HIPAA,
        "vehicles and plates",
        ("vehicle",),
        parse_vocabulary("vin plate kennzeichen* matricula"),
    ),
    _Item(
        HIPAA, "devices", ("device",), parse_vocabulary("imei serialnumber* device*")
    ),
    _Item(HIPAA, "web addresses", ("url",), parse_vocabulary("url website")),
    _Item(HIPAA, "network addresses", ("ip",), parse_vocabulary("ip ipaddress")),
    _Item(HIPAA, "biometric identifiers", (), BIOMETRIC),
    _Item(HIPAA, "photographs", (), parse_vocabulary("photo* foto* image* bild")),
    _Item(HIPAA, "other unique numbers or texts", ("record", "text")),
    _Item(GDPR, "racial or ethnic origin", ("origin",), ORIGIN),
    _Item(GDPR, "political opinions and union membership", ("politics",)),
    _Item(GDPR, "religious or philosophical beliefs", ("religion",)),
    _Item(GDPR, "genetic data", (), GENETIC),
    _Item(GDPR, "biometric data", (), BIOMETRIC),
    _Item(GDPR, "health", ("health",)),
    _Item(GDPR, "sex life and sexual orientation", ("sexuality",)),
    _Item(GDPR, "crimes and convictions (Article 10)", ("crime",)),
)


def fill_checklist(guesses: Sequence[Guess]) -> tuple[Looked, ...]:
    """Which columns answer each item; a column in doubt answers, too."""
    # A column that is the same in every row tells nothing of anybody.
    told = [
        (g, split_words(g.name)) for g in guesses if g.reason != "the same in every row"
    ]
    return tuple(
        Looked(
            item.law,
            item.words,
            tuple(g.name for g, words in told if item.is_answered_by(g, words)),
        )
        for item in ITEMS
    )
