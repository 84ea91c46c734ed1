"""A made-up hospital: one row per patient, and one street where a secret leaks.

Every draw is an integer looked up in a table of integers, so that the same seed
gives the same table on every machine and with every version of numpy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from privet.demo.hospital import (
    CARE_WEIGHTS,
    DEATH_WEIGHTS,
    DIAGNOSES,
    FEES,
    GIVEN_NAMES,
    ILLNESSES,
    INSURANCE_WEIGHTS,
    INSURANCES,
    JOBS,
    NIGHT_FEE,
    OCCUPATION_WEIGHTS,
    OCCUPATIONS,
    OUTCOMES,
    PLANTED_DIAGNOSES,
    PLANTED_OCCUPATION,
    PLANTED_ZIP,
    SEVERITIES,
    SEX_WEIGHTS,
    SEXES,
    SURNAMES,
    WARDS,
    ZIP_MISSING,
    ZIP_WEIGHTS,
    ZIPS,
)
from privet.errors import InputError

Codes = npt.NDArray[np.int16]
Days = npt.NDArray[np.int32]
Rows = npt.NDArray[np.int64]

LEAST_ROWS = 100
SLOTS = 1 << 16  # a draw has 16 bits; a share is exact to 1 in 65,536

COLUMNS = (
    "patient_id", "name", "birth_date", "sex", "zip", "occupation", "admitted",
    "ward", "diagnosis", "insurance", "nights", "cost", "outcome",
)  # fmt: skip

POLICY = """\
# What the hospital promises its patients before it shares their table.
# Numbers are read as written: 0.5 is exactly one half.
title = "Hospital stays, research file"

[columns]
identifier = ["patient_id", "name"]   # never published
quasi      = ["birth_date", "sex", "zip", "occupation", "insurance", "admitted"]
sensitive  = ["diagnosis"]
target     = "outcome"                # what the researchers want to predict
# unit     = "patient_id"             # for tables with several rows per patient
# ward, nights and cost have no role: they are published, and nobody is thought
# to know them of a neighbour. If somebody could, add them to quasi.

# Public edges, chosen without looking at the data; a value on an edge belongs to
# the bin above it: nights are 0 to 2, 3 to 7, and 8 or more.
[bins]
birth_date = ["1940-01-01", "1960-01-01", "1980-01-01", "1995-01-01", "2006-01-01"]
admitted   = ["2022-07-01", "2023-01-01", "2023-07-01", "2024-01-01"]
nights     = [3, 8]
cost       = [1000, 2500, 5000, 10000]

# Broken by the table as it is: in zip code 04417, 8 of 9 fire fighters have HIV.
[[promise]]
name    = "neighbours and colleagues learn of no HIV"
against = "linker"
knows   = ["zip", "occupation"]
about   = { diagnosis = "HIV" }
at_most = 0.5

# The same breach, found without being told where to look.
[[promise]]
name      = "no two facts give HIV away"
against   = "linker"
knows_any = 2
about     = { diagnosis = "HIV" }
at_most   = 0.5

# Kept: HIV is rare among the insured of every kind. 0.25 leaves ample room.
[[promise]]
name    = "the insurer learns of no HIV"
against = "linker"
knows   = ["sex", "insurance"]
about   = { diagnosis = "HIV" }
at_most = 0.25
"""


def _days(*dates: str) -> Days:
    """Count the days from 1970-01-01 to each date."""
    return np.array(dates, dtype="datetime64[D]").astype(np.int32)


# The policy's public edges. They also part the generations, oldest first, that
# occupations and illnesses depend on: 84 and older, 64, 44, 29, 18, children.
BIRTH_EDGES = _days(
    "1940-01-01", "1960-01-01", "1980-01-01", "1995-01-01", "2006-01-01"
)
ADMISSION_EDGES = _days("2022-07-01", "2023-01-01", "2023-07-01", "2024-01-01")
FIRST_DAY, DAYS = int(_days("2022-05-01")[0]), 731
CHILDREN = 5

BIRTH_YEARS = np.arange(1926, 2022)
YEAR_WEIGHTS = np.repeat([3, 9, 16, 20, 16, 11, 9, 6], 12)  # per twelve years


@dataclass(frozen=True)
class _Dice:
    """Random numbers, one per row of the table at every throw."""

    bits: np.random.PCG64
    """Its raw stream is the one thing numpy promises never to change."""
    rows: int
    """How many numbers a throw gives."""

    def throw(self) -> npt.NDArray[np.uint16]:
        """Draw 16 bits per row."""
        raw = np.asarray(self.bits.random_raw(self.rows), dtype=np.uint64)
        return (raw >> np.uint64(48)).astype(np.uint16)

    def below(self, many: int) -> Days:
        """Draw numbers from 0 to many - 1, all nearly equally likely."""
        return (self.throw().astype(np.int64) * many // SLOTS).astype(np.int32)

    def spin(self, wheel: Codes) -> Codes:
        """Draw codes from one wheel."""
        return wheel[self.throw()]

    def spin_each(self, wheels: Sequence[Codes], which: Codes) -> Codes:
        """Draw codes, for each row from its own wheel."""
        return np.stack(wheels)[which, self.throw()]


def _wheel(weights: Sequence[int] | npt.NDArray[np.int64]) -> Codes:
    """Give each of 65,536 slots to a code, in proportion to its weight."""
    ends = np.cumsum(np.asarray(weights, dtype=np.int64))
    slots = np.arange(SLOTS, dtype=np.int64) * ends[-1]
    codes: Rows = np.searchsorted(ends * SLOTS, slots, side="right")
    return codes.astype(np.int16)


@dataclass(frozen=True)
class _People:
    """Who the patients are: days since 1970-01-01, and codes into the lists above."""

    birth: Days
    admitted: Days
    generation: Codes
    """The bin of the date of birth."""
    sex: Codes
    zip: Codes
    occupation: Codes
    insurance: Codes

    def known(self) -> tuple[Codes, ...]:
        """List what a linker could know, dates by their public bins."""
        period = _bin(self.admitted, ADMISSION_EDGES)
        facts = (self.generation, self.sex, self.zip, self.occupation)
        return (*facts, self.insurance, period)


def patients(rows: int = 50_000, *, seed: int = 20_240_501) -> pa.Table:
    """Make a hospital's table with a breach planted in it.

    In zip code 04417, 8 of the 9 fire fighters have HIV. In every other group of
    one zip code and one occupation (no entry counts as an entry) at most a quarter
    of the people have it, hence the planted group is the worst.

    Parameters
    ----------
    rows
        How many patients, at least 100.
    seed
        The same seed and rows give the same table, cell by cell.
    """
    if rows < LEAST_ROWS:
        raise InputError(f"rows must be at least {LEAST_ROWS}; got {rows}.")
    dice = _Dice(np.random.PCG64(seed), rows)
    people = _people(dice)
    columns = _identities(dice, people) | _stays(dice, people, _diagnose(dice, people))
    return pa.table({name: columns[name] for name in COLUMNS})


def _bin(days: Days, edges: Days) -> Codes:
    """Count the edges at or before each day."""
    return np.searchsorted(edges, days, side="right").astype(np.int16)


def _planted(rows: int) -> Rows:
    """Spread the planted people evenly over the table."""
    many = len(PLANTED_DIAGNOSES)
    return np.arange(many) * (rows // many) + rows // many // 2


def _people(dice: _Dice) -> _People:
    """Draw who the patients are, the planted group among them."""
    birth = _births(dice)
    generation = _bin(birth, BIRTH_EDGES)
    zips = dice.spin(_wheel([*ZIP_WEIGHTS, ZIP_MISSING]))
    occupation = dice.spin_each(_occupation_wheels(), generation)
    _settle(zips, occupation)
    insurance = dice.spin_each([_wheel(w) for w in INSURANCE_WEIGHTS], generation)
    insurance[_planted(dice.rows)] = INSURANCES.index("Employer")
    return _People(
        birth=birth,
        admitted=FIRST_DAY + dice.below(DAYS),
        generation=generation,
        sex=dice.spin(_wheel(SEX_WEIGHTS)),
        zip=zips,
        occupation=occupation,
        insurance=insurance,
    )


def _births(dice: _Dice) -> Days:
    """Draw a year by its weight, then one of its first 365 days."""
    new_years = _days(*(f"{year}-01-01" for year in BIRTH_YEARS))
    birth = new_years[dice.spin(_wheel(YEAR_WEIGHTS))] + dice.below(365)
    planted = _planted(dice.rows)  # of working age: 1964 to 1990
    birth[planted] = _days("1964-06-11") + 1_201 * np.arange(len(planted))
    return birth


def _occupation_wheels() -> list[Codes]:
    """Make one wheel per generation: not working, the jobs, no entry."""
    jobs = np.array(list(JOBS.values()), dtype=np.int64)
    total = int(jobs.sum())  # all shares times this, to stay with integers
    return [
        _wheel([*(total * share for share in idle), *(jobs * work), total * none])
        for idle, work, none in OCCUPATION_WEIGHTS
    ]


def _settle(zips: Codes, occupation: Codes) -> None:
    """Let the planted people, and no others, be fire fighters in their zip code."""
    place, job = ZIPS.index(PLANTED_ZIP), OCCUPATIONS.index(PLANTED_OCCUPATION)
    occupation[(zips == place) & (occupation == job)] = OCCUPATIONS.index("Teacher")
    planted = _planted(len(zips))
    zips[planted], occupation[planted] = place, job


def _diagnose(dice: _Dice, people: _People) -> Codes:
    """Draw diagnoses by sex and generation, and plant the breach."""
    profile = people.sex * len(OCCUPATION_WEIGHTS) + people.generation
    diagnosis = dice.spin_each(_diagnosis_wheels(), profile)
    planted = [DIAGNOSES.index(name) for name in PLANTED_DIAGNOSES]
    diagnosis[_planted(dice.rows)] = planted
    for left, right in combinations(people.known(), 2):
        _thin(diagnosis, left, right)
    return diagnosis


def _diagnosis_wheels() -> list[Codes]:
    """Make one wheel per sex and generation; X has the mean of both weights."""
    sexes = np.array([(2 * f, 2 * m, f + m) for *_, (f, m), _ in ILLNESSES])
    generations = np.array([weights for *_, weights in ILLNESSES])
    shares = sexes[:, :, None] * generations[:, None, :]
    return [_wheel(column) for column in shares.reshape(len(shares), -1).T]


def _thin(diagnosis: Codes, left: Codes, right: Codes) -> None:
    """Where over a quarter of a group has HIV, let it be hepatitis C instead.

    The planted people keep theirs. Fewer cases of HIV never make another pair of
    columns worse, so one pass over the pairs is enough.
    """
    group = left.astype(np.int32) * (int(right.max()) + 1) + right
    sizes = np.bincount(group)
    cases = np.flatnonzero(diagnosis == DIAGNOSES.index("HIV"))
    crowded = np.bincount(group[cases], minlength=len(sizes)) * 4 > sizes
    changed = np.setdiff1d(cases[crowded[group[cases]]], _planted(len(group)))
    diagnosis[changed] = DIAGNOSES.index("Hepatitis C")


def _identities(dice: _Dice, people: _People) -> dict[str, Any]:
    """Write down who the patients are."""
    return {
        "patient_id": _patient_ids(dice.rows),
        "name": _names(dice, people.sex),
        "birth_date": pa.array(people.birth, pa.date32()),
        "sex": _spell(SEXES, people.sex),
        "zip": _spell((*ZIPS, None), people.zip),
        "occupation": _spell((*OCCUPATIONS, None), people.occupation),
        "insurance": _spell((*INSURANCES, None), people.insurance),
        "admitted": pa.array(people.admitted, pa.date32()),
    }


def _spell(words: Sequence[str | None], codes: Codes) -> Any:
    """Write out codes as text."""
    return pa.array(words, pa.string()).take(pa.array(codes, pa.int16()))


def _patient_ids(rows: int) -> Any:
    """Number the patients without order: a step coprime to 10 repeats no number."""
    digits = max(7, len(str(rows - 1)))
    numbers = (np.arange(rows, dtype=np.int64) * 7_654_321 + 12_345) % 10**digits
    padded = pc.utf8_lpad(pa.array(numbers).cast(pa.string()), digits, "0")
    return pc.binary_join_element_wise("P", padded, "")


def _names(dice: _Dice, sex: Codes) -> Any:
    """Draw a given name that fits the sex, and a surname by Zipf's law."""
    given, last = GIVEN_NAMES.split(), SURNAMES.split()
    half = np.where(sex == SEXES.index("X"), dice.below(2), sex)
    first = half * (len(given) // 2) + dice.below(len(given) // 2)
    surname = dice.spin(_wheel([6_000 // (5 + place) for place in range(len(last))]))
    names = [f"{one} {other}" for one in given for other in last]
    return _spell(names, (first * len(last) + surname).astype(np.int16))


def _stays(dice: _Dice, people: _People, diagnosis: Codes) -> dict[str, Any]:
    """Draw what happened in hospital, by illness and generation."""
    severity = SEVERITIES[diagnosis]
    ward = dice.spin_each(_ward_wheels(), diagnosis)
    ward[people.generation == CHILDREN] = WARDS.index("Paediatrics")
    nights = dice.spin_each(_night_wheels(), severity)
    profile = severity * len(DEATH_WEIGHTS) + people.generation
    return {
        "diagnosis": _spell(DIAGNOSES, diagnosis),
        "ward": _spell(WARDS, ward),
        "nights": pa.array(nights.astype(np.int32)),
        "cost": pa.array(_cost(dice, severity, nights)),
        "outcome": _spell(OUTCOMES, dice.spin_each(_outcome_wheels(), profile)),
    }


def _ward_wheels() -> list[Codes]:
    """Make one wheel per illness: mostly its own ward, or where there is a bed."""
    beds = [
        {"Internal medicine": 5, "Intensive care": 1 + 5 * severity, own: 85}
        for _, own, severity, *_ in ILLNESSES
    ]
    return [_wheel([weights.get(ward, 0) for ward in WARDS]) for weights in beds]


def _night_wheels() -> list[Codes]:
    """Make one wheel per severity: a peak at a few nights and a long tail."""
    return [
        _wheel([10**6 // ((n - 1 - 2 * s) ** 2 + 4 + 6 * s) for n in range(91)])
        for s in range(4)
    ]


def _outcome_wheels() -> list[Codes]:
    """Make one wheel per severity and generation."""
    return [
        _wheel([400, care * (1 + severity), death * (1 + 2 * severity**2)])
        for severity in range(4)
        for care, death in zip(CARE_WEIGHTS, DEATH_WEIGHTS, strict=True)
    ]


def _cost(dice: _Dice, severity: Codes, nights: Codes) -> npt.NDArray[np.float64]:
    """Charge a fee and the nights, give or take a quarter, in whole cents."""
    cents = FEES[severity] + NIGHT_FEE * nights.astype(np.int64)
    share = 3 * SLOTS // 4 + dice.below(SLOTS // 2)
    return np.asarray(cents * share // SLOTS / 100, dtype=np.float64)
