"""A made-up hospital: one row per patient, and one zip code where a secret leaks.

Every draw is an integer looked up in a table of integers, so that the same seed
gives the same table on every machine and with every version of numpy. First come the
lists that are drawn from, with the weights of their entries; then the policy; then the
draws.
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

from privet.errors import InputError

# The planted breach: of the fire fighters in this zip code, 8 of 9 have HIV.
PLANTED_ZIP = "04417"
PLANTED_OCCUPATION = "Fire fighter"
PLANTED_DIAGNOSES = ("HIV",) * 8 + ("Back pain",)

SEXES = ("F", "M", "X")
SEX_WEIGHTS = (520, 477, 3)

# 30 given names of women, then 30 of men.
GIVEN_NAMES = (
    "Ada Alice Amara Anna Aisha Carmen Chloe Clara Elena Emma Fatima Grace Hana Ines "
    "Ingrid Julia Leila Lena Lucia Maria Mei Nadia Nora Olga Priya Rosa Sara Sofia "
    "Yuki Zoe Adam Ahmed Ali Andre Anton Ben Carlos Chen Daniel David Diego Emil Finn "
    "Hugo Ivan Jakob James Jan John Jonas Karim Kofi Leo Lukas Marco Omar Paul Ravi "
    "Samuel Tom"
)
SURNAMES = (
    "Smith Garcia Muller Nguyen Jones Martin Rossi Silva Kim Novak Johnson Lopez "
    "Schmidt Tran Brown Bernard Russo Santos Lee Horvat Davis Perez Weber Pham Wilson "
    "Dubois Ferrari Costa Park Kowalski Taylor Sanchez Fischer Singh Moore Laurent "
    "Bianchi Alves Choi Petrov Clark Ramos Wagner Khan Hall Moreau Ricci Rocha Sato "
    "Jensen Young Ortiz Becker Ali King Fournier Greco Mendes Tanaka Hansen"
)

# Towns of a region and a few far away. Text, because of the zeros in front.
ZIPS = tuple(
    f"{first + step:05d}"
    for first, many in ((4401, 99), (1201, 61), (3801, 40), (12001, 47), (60601, 36))
    for step in range(many)
)
# Zipf's law: the n-th town has a share of about 1 / (10 + n); the planted one is
# small. 283 is prime, hence 101 steps around give every town a different n.
ZIP_WEIGHTS = tuple(
    30 if code == PLANTED_ZIP else 20_000 // (10 + place * 101 % len(ZIPS))
    for place, code in enumerate(ZIPS)
)
ZIP_MISSING = 700

NOT_WORKING = ("Retired", "Homemaker", "Unemployed", "Student", "Pupil")
JOBS = {
    "Office clerk": 90, "Sales assistant": 80, "Nurse": 70, "Teacher": 65,
    "Driver": 60, "Cleaner": 55, "Builder": 50, "Factory worker": 50, "Cook": 45,
    "Software developer": 45, "Warehouse worker": 40, "Accountant": 40,
    "Care worker": 38, "Electrician": 35, "Mechanic": 35, "Manager": 35,
    "Engineer": 30, "Waiter": 30, "Farmer": 28, "Carpenter": 25, "Plumber": 25,
    "Security guard": 22, "Hairdresser": 22, "Police officer": 20, "Fire fighter": 18,
    "Doctor": 18, "Social worker": 18, "Lawyer": 14, "Soldier": 12, "Scientist": 10,
    "Pharmacist": 9, "Journalist": 8, "Musician": 7, "Artist": 7, "Architect": 6,
    "Fisherman": 5, "Priest": 4, "Pilot": 3, "Judge": 2,
}  # fmt: skip
OCCUPATIONS = (*NOT_WORKING, *JOBS)
# Per generation: weights of NOT_WORKING, of all jobs together, and of no entry.
OCCUPATION_WEIGHTS = (
    ((88, 6, 0, 0, 0), 1, 5),
    ((66, 8, 2, 0, 0), 18, 6),
    ((4, 8, 6, 0, 0), 76, 6),
    ((0, 8, 7, 4, 0), 75, 6),
    ((0, 3, 9, 36, 1), 46, 5),
    ((0, 0, 0, 0, 62), 0, 38),
)

INSURANCES = ("Public", "Employer", "Private", "Self-pay", "Military")
INSURANCE_WEIGHTS = (  # per generation; the last weight is of no entry
    (80, 2, 14, 1, 2, 1),
    (66, 10, 18, 2, 2, 2),
    (28, 48, 14, 6, 2, 2),
    (30, 46, 10, 9, 3, 2),
    (38, 36, 6, 14, 3, 3),
    (50, 38, 8, 2, 1, 1),
)

WARDS = (
    "Internal medicine", "Intensive care", "Paediatrics", "Cardiology", "Neurology",
    "Pulmonology", "Orthopaedics", "Surgery", "Maternity", "Oncology", "Psychiatry",
    "Infectious diseases",
)  # fmt: skip
# Name, ward, severity (0 to 3), weights of women and men, weights per generation.
ILLNESSES = (
    ("Hypertension", "Internal medicine", 0, (2, 2), (60, 80, 60, 15, 3, 0)),
    ("Type 2 diabetes", "Internal medicine", 0, (2, 2), (25, 40, 25, 5, 1, 0)),
    ("Kidney failure", "Internal medicine", 2, (2, 2), (30, 20, 6, 2, 1, 1)),
    ("Heart failure", "Cardiology", 2, (2, 2), (90, 60, 12, 2, 0, 0)),
    ("Coronary heart disease", "Cardiology", 1, (2, 3), (50, 60, 40, 4, 0, 0)),
    ("Stroke", "Neurology", 3, (2, 2), (50, 40, 12, 2, 1, 0)),
    ("Epilepsy", "Neurology", 0, (2, 2), (3, 4, 5, 6, 8, 16)),
    ("Pneumonia", "Pulmonology", 2, (2, 2), (45, 25, 12, 10, 8, 30)),
    ("COPD", "Pulmonology", 1, (2, 2), (25, 35, 15, 1, 0, 0)),
    ("Asthma", "Pulmonology", 0, (2, 2), (2, 4, 6, 8, 12, 30)),
    ("Hip fracture", "Orthopaedics", 2, (3, 1), (60, 20, 3, 1, 1, 1)),
    ("Other fracture", "Orthopaedics", 0, (2, 2), (20, 20, 20, 25, 35, 60)),
    ("Back pain", "Orthopaedics", 0, (2, 2), (10, 25, 40, 30, 12, 1)),
    ("Arthrosis", "Orthopaedics", 0, (3, 2), (30, 50, 25, 2, 0, 0)),
    ("Appendicitis", "Surgery", 0, (2, 2), (2, 3, 8, 14, 25, 35)),
    ("Gallstones", "Surgery", 0, (3, 2), (15, 20, 20, 14, 6, 1)),
    ("Inguinal hernia", "Surgery", 0, (1, 6), (10, 12, 10, 6, 4, 4)),
    ("Childbirth", "Maternity", 0, (2, 0), (0, 0, 0, 230, 120, 0)),
    ("Breast cancer", "Oncology", 1, (60, 1), (1, 1, 1, 0, 0, 0)),
    ("Prostate cancer", "Oncology", 1, (0, 2), (25, 30, 8, 0, 0, 0)),
    ("Lung cancer", "Oncology", 3, (2, 3), (10, 18, 7, 1, 0, 0)),
    ("Depression", "Psychiatry", 0, (3, 2), (6, 10, 18, 22, 28, 12)),
    ("Alcohol dependence", "Psychiatry", 0, (1, 3), (1, 8, 16, 10, 6, 0)),
    ("Hepatitis C", "Infectious diseases", 1, (2, 3), (1, 2, 3, 2, 1, 0)),
    ("Tuberculosis", "Infectious diseases", 1, (2, 3), (1, 1, 1, 1, 1, 1)),
    ("HIV", "Infectious diseases", 1, (1, 3), (0, 1, 2, 3, 2, 0)),
)
DIAGNOSES = tuple(name for name, *_ in ILLNESSES)
SEVERITIES = np.array([severity for _, _, severity, *_ in ILLNESSES], dtype=np.int16)

OUTCOMES = ("home", "care home", "died")
CARE_WEIGHTS, DEATH_WEIGHTS = (90, 36, 9, 2, 1, 0), (14, 6, 3, 1, 1, 1)

FEES = np.array([90_000, 210_000, 380_000, 620_000], dtype=np.int64)  # cents
NIGHT_FEE = 64_000


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
quasi      = ["birth_date", "sex", "zip", "occupation", "insurance", "admitted",
              "outcome"]              # what others may know of a patient
sensitive  = ["diagnosis"]
target     = "outcome"                # what the researchers want to predict
drop       = ["ward", "nights", "cost"]   # left out: they tell the diagnosis
# other    = []                       # published as it is, and may be known too
# unit     = "patient_id"             # for tables with several rows per patient

# Public edges, chosen without looking at the data; a value on an edge belongs to
# the bin above it.
[bins]
birth_date = ["1940-01-01", "1960-01-01", "1980-01-01", "1995-01-01", "2006-01-01"]
admitted   = ["2022-07-01", "2023-01-01", "2023-07-01", "2024-01-01"]

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

# These two cover the whole release: whoever has all seven columns of a patient.
[[promise]]
name    = "nobody learns of HIV"
against = "linker"
about   = { diagnosis = "HIV" }
at_most = 0.1

[[promise]]
name    = "nobody is sure of any diagnosis"
against = "linker"
about   = "diagnosis"
at_most = 0.5

[[measure]]
k_anonymity = 5
"""


def _count_days(*dates: str) -> Days:
    """Count the days from 1970-01-01 to each date."""
    return np.array(dates, dtype="datetime64[D]").astype(np.int32)


# The policy's public edges. They also part the generations, oldest first, that
# occupations and illnesses depend on: 84 and older, 64, 44, 29, 18, children.
BIRTH_EDGES = _count_days(
    "1940-01-01", "1960-01-01", "1980-01-01", "1995-01-01", "2006-01-01"
)
ADMISSION_EDGES = _count_days("2022-07-01", "2023-01-01", "2023-07-01", "2024-01-01")
FIRST_DAY, DAYS = int(_count_days("2022-05-01")[0]), 731
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

    def draw_below(self, many: int) -> Days:
        """Draw numbers from 0 to many - 1, all nearly equally likely."""
        return (self.throw().astype(np.int64) * many // SLOTS).astype(np.int32)

    def spin(self, wheel: Codes) -> Codes:
        """Draw codes from one wheel."""
        return wheel[self.throw()]

    def spin_each(self, wheels: Sequence[Codes], which: Codes) -> Codes:
        """Draw codes, for each row from its own wheel."""
        return np.stack(wheels)[which, self.throw()]


def _make_wheel(weights: Sequence[int] | npt.NDArray[np.int64]) -> Codes:
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

    def list_known(self) -> tuple[Codes, ...]:
        """List what a linker could know, dates by their public bins."""
        period = _bin(self.admitted, ADMISSION_EDGES)
        facts = (self.generation, self.sex, self.zip, self.occupation)
        return (*facts, self.insurance, period)


def make_patients(rows: int = 50_000, *, seed: int = 20_240_501) -> pa.Table:
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
    people = _draw_people(dice)
    columns = _write_identities(dice, people) | _draw_stays(
        dice, people, _diagnose(dice, people)
    )
    return pa.table({name: columns[name] for name in COLUMNS})


def _bin(days: Days, edges: Days) -> Codes:
    """Count the edges at or before each day."""
    return np.searchsorted(edges, days, side="right").astype(np.int16)


def _spread_planted(rows: int) -> Rows:
    """Spread the planted people evenly over the table."""
    many = len(PLANTED_DIAGNOSES)
    return np.arange(many) * (rows // many) + rows // many // 2


def _draw_people(dice: _Dice) -> _People:
    """Draw who the patients are, the planted group among them."""
    birth = _draw_births(dice)
    generation = _bin(birth, BIRTH_EDGES)
    zips = dice.spin(_make_wheel([*ZIP_WEIGHTS, ZIP_MISSING]))
    occupation = dice.spin_each(_make_occupation_wheels(), generation)
    _settle(zips, occupation)
    insurance = dice.spin_each([_make_wheel(w) for w in INSURANCE_WEIGHTS], generation)
    insurance[_spread_planted(dice.rows)] = INSURANCES.index("Employer")
    return _People(
        birth=birth,
        admitted=FIRST_DAY + dice.draw_below(DAYS),
        generation=generation,
        sex=dice.spin(_make_wheel(SEX_WEIGHTS)),
        zip=zips,
        occupation=occupation,
        insurance=insurance,
    )


def _draw_births(dice: _Dice) -> Days:
    """Draw a year by its weight, then one of its first 365 days."""
    new_years = _count_days(*(f"{year}-01-01" for year in BIRTH_YEARS))
    birth = new_years[dice.spin(_make_wheel(YEAR_WEIGHTS))] + dice.draw_below(365)
    planted = _spread_planted(dice.rows)  # of working age: 1964 to 1990
    birth[planted] = _count_days("1964-06-11") + 1_201 * np.arange(len(planted))
    return birth


def _make_occupation_wheels() -> list[Codes]:
    """Make one wheel per generation: not working, the jobs, no entry."""
    jobs = np.array(list(JOBS.values()), dtype=np.int64)
    total = int(jobs.sum())  # all shares times this, to stay with integers
    return [
        _make_wheel([*(total * share for share in idle), *(jobs * work), total * none])
        for idle, work, none in OCCUPATION_WEIGHTS
    ]


def _settle(zips: Codes, occupation: Codes) -> None:
    """Let the planted people, and no others, be fire fighters in their zip code."""
    place, job = ZIPS.index(PLANTED_ZIP), OCCUPATIONS.index(PLANTED_OCCUPATION)
    occupation[(zips == place) & (occupation == job)] = OCCUPATIONS.index("Teacher")
    planted = _spread_planted(len(zips))
    zips[planted], occupation[planted] = place, job


def _diagnose(dice: _Dice, people: _People) -> Codes:
    """Draw diagnoses by sex and generation, and plant the breach."""
    profile = people.sex * len(OCCUPATION_WEIGHTS) + people.generation
    diagnosis = dice.spin_each(_make_diagnosis_wheels(), profile)
    planted = [DIAGNOSES.index(name) for name in PLANTED_DIAGNOSES]
    diagnosis[_spread_planted(dice.rows)] = planted
    for left, right in combinations(people.list_known(), 2):
        _thin(diagnosis, left, right)
    return diagnosis


def _make_diagnosis_wheels() -> list[Codes]:
    """Make one wheel per sex and generation; X has the mean of both weights."""
    sexes = np.array([(2 * f, 2 * m, f + m) for *_, (f, m), _ in ILLNESSES])
    generations = np.array([weights for *_, weights in ILLNESSES])
    shares = sexes[:, :, None] * generations[:, None, :]
    return [_make_wheel(column) for column in shares.reshape(len(shares), -1).T]


def _thin(diagnosis: Codes, left: Codes, right: Codes) -> None:
    """Where over a quarter of a group has HIV, let it be hepatitis C instead.

    The planted people keep theirs. Fewer cases of HIV never make another pair of
    columns worse, so one pass over the pairs is enough.
    """
    group = left.astype(np.int32) * (int(right.max()) + 1) + right
    sizes = np.bincount(group)
    cases = np.flatnonzero(diagnosis == DIAGNOSES.index("HIV"))
    crowded = np.bincount(group[cases], minlength=len(sizes)) * 4 > sizes
    changed = np.setdiff1d(cases[crowded[group[cases]]], _spread_planted(len(group)))
    diagnosis[changed] = DIAGNOSES.index("Hepatitis C")


def _write_identities(dice: _Dice, people: _People) -> dict[str, Any]:
    """Write down who the patients are."""
    return {
        "patient_id": _number_patients(dice.rows),
        "name": _draw_names(dice, people.sex),
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


def _number_patients(rows: int) -> Any:
    """Number the patients without order: a step coprime to 10 repeats no number."""
    digits = max(7, len(str(rows - 1)))
    numbers = (np.arange(rows, dtype=np.int64) * 7_654_321 + 12_345) % 10**digits
    padded = pc.utf8_lpad(pa.array(numbers).cast(pa.string()), digits, "0")
    return pc.binary_join_element_wise("P", padded, "")


def _draw_names(dice: _Dice, sex: Codes) -> Any:
    """Draw a given name that fits the sex, and a surname by Zipf's law."""
    given, last = GIVEN_NAMES.split(), SURNAMES.split()
    half = np.where(sex == SEXES.index("X"), dice.draw_below(2), sex)
    first = half * (len(given) // 2) + dice.draw_below(len(given) // 2)
    surname = dice.spin(
        _make_wheel([6_000 // (5 + place) for place in range(len(last))])
    )
    names = [f"{one} {other}" for one in given for other in last]
    return _spell(names, (first * len(last) + surname).astype(np.int16))


def _draw_stays(dice: _Dice, people: _People, diagnosis: Codes) -> dict[str, Any]:
    """Draw what happened in hospital, by illness and generation."""
    severity = SEVERITIES[diagnosis]
    ward = dice.spin_each(_make_ward_wheels(), diagnosis)
    ward[people.generation == CHILDREN] = WARDS.index("Paediatrics")
    nights = dice.spin_each(_make_night_wheels(), severity)
    profile = severity * len(DEATH_WEIGHTS) + people.generation
    return {
        "diagnosis": _spell(DIAGNOSES, diagnosis),
        "ward": _spell(WARDS, ward),
        "nights": pa.array(nights.astype(np.int32)),
        "cost": pa.array(_draw_costs(dice, severity, nights)),
        "outcome": _spell(OUTCOMES, dice.spin_each(_make_outcome_wheels(), profile)),
    }


def _make_ward_wheels() -> list[Codes]:
    """Make one wheel per illness: mostly its own ward, or where there is a bed."""
    beds = [
        {"Internal medicine": 5, "Intensive care": 1 + 5 * severity, own: 85}
        for _, own, severity, *_ in ILLNESSES
    ]
    return [_make_wheel([weights.get(ward, 0) for ward in WARDS]) for weights in beds]


def _make_night_wheels() -> list[Codes]:
    """Make one wheel per severity: a peak at a few nights and a long tail."""
    return [
        _make_wheel([10**6 // ((n - 1 - 2 * s) ** 2 + 4 + 6 * s) for n in range(91)])
        for s in range(4)
    ]


def _make_outcome_wheels() -> list[Codes]:
    """Make one wheel per severity and generation."""
    return [
        _make_wheel([400, care * (1 + severity), death * (1 + 2 * severity**2)])
        for severity in range(4)
        for care, death in zip(CARE_WEIGHTS, DEATH_WEIGHTS, strict=True)
    ]


def _draw_costs(dice: _Dice, severity: Codes, nights: Codes) -> npt.NDArray[np.float64]:
    """Charge a fee and the nights, give or take a quarter, in whole cents."""
    cents = FEES[severity] + NIGHT_FEE * nights.astype(np.int64)
    share = 3 * SLOTS // 4 + dice.draw_below(SLOTS // 2)
    return np.asarray(cents * share // SLOTS / 100, dtype=np.float64)
