"""The lists a made-up hospital is drawn from, with the weights of their entries."""

from __future__ import annotations

import numpy as np

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
