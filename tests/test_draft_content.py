"""What a draft reads in values: forms with their check digits, words, numbers, shares.

Every number here is made up; check digits are worked out by the rules of each country.
"""

from __future__ import annotations

import random
import tomllib
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import privet as pv
from privet.draft import ColumnSummary
from privet.draft import national_numbers as numbers
from privet.draft.bin_edges import suggest_edges
from privet.draft.content import Content, describe_values
from privet.draft.topics import TOPICS, find_topic, find_value_topic
from privet.draft.value_patterns import (
    find_hidden,
    find_pattern,
    is_free_text,
    is_full_name,
    is_ip_address,
    is_phone,
    is_street,
    is_vehicle,
)
from privet.draft.vocabulary import split_words


def draft(columns: dict[str, list[Any]], **options: Any) -> pv.PolicyDraft:
    with pv.read(pd.DataFrame(columns)) as table:
        return pv.draft_policy(table, **options)


def roles(found: pv.PolicyDraft) -> dict[str, str]:
    return {guess.name: guess.role for guess in found.guesses}


# --- Forms: one that is right, and near misses --------------------------------

FORMS: list[tuple[Callable[[str], bool], list[str], list[str]]] = [
    (
        numbers.is_iban,
        ["DE89 3704 0044 0532 0130 00", "GB82WEST12345698765432"],
        ["DE88 3704 0044 0532 0130 00", "DE89", "XX", "89370400440532013000"],
    ),
    (
        numbers.is_card,
        ["4539 1488 0343 6467", "371449635398431"],
        ["4539 1488 0343 6466", "1539148803436467", "4539"],
    ),
    (
        numbers.is_us_ssn,
        ["123-45-6789"],
        ["000-45-6789", "666-45-6789", "923-45-6789", "123-00-6789", "123456789"],
    ),
    (
        numbers.is_uk_nino,
        ["AB 12 34 56 C", "JG103759A"],
        ["GB123456C", "AB123456E", "DA123456A", "AB12345C"],
    ),
    (numbers.is_uk_nhs, ["943 476 5919", "9434765919"], ["943 476 5918", "94347659"]),
    (numbers.is_german_tax_id, ["86095742719"], ["86095742718", "11111111111"]),
    (
        numbers.is_german_pension,
        ["15 070649 C 103", "15070649C103"],
        ["15 070649 C 104", "15 071349 C 103", "15070649103"],
    ),
    (
        numbers.is_french_nir,
        ["2 55 08 14 168 025 38", "180126955222380"],
        ["2 55 08 14 168 025 39", "3550814168025"],
    ),
    (
        numbers.is_spanish_dni,
        ["12345678Z", "X1234567L"],
        ["12345678A", "X1234567Z", "1234567"],
    ),
    (
        numbers.is_italian_code,
        ["RSSMRA85T10A562S"],
        ["RSSMRA85T10A562T", "RSSMRA85T10"],
    ),
    (numbers.is_dutch_bsn, ["111222333"], ["111222334", "000000000"]),
    (numbers.is_belgian_number, ["85.07.30-033.28"], ["85.07.30-033.29", "85.19.30"]),
    (numbers.is_swiss_ahv, ["756.9217.0769.85"], ["756.9217.0769.84", "757"]),
    (numbers.is_swedish_number, ["811218-9876"], ["811218-9877", "811318-9876"]),
    (numbers.is_polish_pesel, ["44051401359"], ["44051401358", "44351401359"]),
    (numbers.is_brazilian_cpf, ["529.982.247-25"], ["529.982.247-26", "11111111111"]),
    (
        is_phone,
        ["+49 30 123456", "(555) 010-9999", "555-010-9999", "030 / 1234567"],
        ["1234567890", "12.05.2020", "2020-05-12", "3.14159", "01.02.1990", "+1"],
    ),
    (
        is_ip_address,
        ["192.0.2.7", "2001:db8::1"],
        ["192.0.2.256", "1.2.3", "12:30", "7"],
    ),
    (is_vehicle, ["1M8GDM9AXKP042788"], ["1M8GDM9A1KP042788", "12345678901234567"]),
    (
        is_full_name,
        ["Ada Byron", "Byron, Ada", "José María Núñez-García", "Ludwig van Beethoven"],
        ["red wine", "Ada", "Flat 3", "North West South East Up"],
    ),
    (
        is_street,
        ["12 Main Street", "Hauptstraße 5", "3 rue Haute"],
        ["Paris 12", "Street"],
    ),
    (
        is_free_text,
        ["She came in at noon with a bad headache."],
        ["a b c d e f", "pneumonia", "Professor of Physics at the"],
    ),
]


@pytest.mark.parametrize(("fits", "right", "wrong"), FORMS, ids=lambda f: str(f)[:24])
def test_forms(fits: Callable[[str], bool], right: list[str], wrong: list[str]) -> None:
    assert right == [text for text in right if fits(text)]
    assert [] == [text for text in wrong if fits(text)]


@pytest.mark.parametrize(
    ("fits", "text"),
    [
        (numbers.is_iban, "DE89370400440532013000"),
        (numbers.is_card, "4539148803436467"),
        (numbers.is_uk_nhs, "9434765919"),
        (numbers.is_german_tax_id, "86095742719"),
        (numbers.is_dutch_bsn, "111222333"),
        (numbers.is_swiss_ahv, "7569217076985"),
        (numbers.is_polish_pesel, "44051401359"),
        (numbers.is_brazilian_cpf, "52998224725"),
        (numbers.is_spanish_dni, "12345678Z"),
        (numbers.is_italian_code, "RSSMRA85T10A562S"),
        (numbers.is_french_nir, "255081416802538"),
    ],
)
def test_one_wrong_digit_is_always_seen(fits: Callable[[str], bool], text: str) -> None:
    """What check digits are for; the last place is the check itself."""
    for at, letter in enumerate(text):
        if letter.isdigit():
            other = str((int(letter) + 1) % 10)
            assert not fits(text[:at] + other + text[at + 1 :])


def test_most_values_must_have_a_form() -> None:
    mails = [f"person{i}@example.org" for i in range(8)]
    assert "email" == find_pattern([*mails, "none", "n/a"]).key  # type: ignore[union-attr]
    assert find_pattern([*mails[:3], *"abcdefgh"]) is None
    assert find_pattern([]) is None


def test_check_digits_prove_nothing_of_few_values() -> None:
    """One number in eleven passes by chance."""
    assert find_pattern(["9434765919"]) is None
    passing = [f"94347659{i:02}" for i in range(100)]
    passing = [text for text in passing if numbers.is_uk_nhs(text)]
    assert 5 <= len(passing)
    assert "national" == find_pattern(passing).key  # type: ignore[union-attr]


def test_random_numbers_have_no_form() -> None:
    drawn = random.Random(7)
    for digits in (9, 10, 11, 13, 16):
        low = 10 ** (digits - 1)
        found = find_pattern([str(drawn.randrange(low, 10 * low)) for _ in range(200)])
        assert found is None


def test_what_hides_in_longer_texts() -> None:
    assert "e-mail addresses" == find_hidden(["ask ada@example.org about it", "no"])
    assert "US social security numbers" == find_hidden(["her number is 123-45-6789"])
    assert "" == find_hidden(["at 12:30 @ noon", "room 123"])


# --- Whole columns ------------------------------------------------------------

ROWS = 60


@pytest.mark.parametrize(
    ("make", "item"),
    [
        (lambda i: f"someone.{i}@example.org", "e-mail addresses"),
        (lambda i: f"+49 30 {100000 + i}", "telephone numbers"),
        (lambda i: f"https://example.org/{i}", "web addresses"),
        (lambda i: f"192.0.2.{i + 1}", "network addresses"),
        (lambda i: f"12{i % 10}-45-{6000 + i}", "social security numbers"),
        (lambda i: f"{i + 1} Main Street", "places smaller than a state"),
        (lambda i: f"{'ABCDEFGHIJ'[i % 10]}da Byr{chr(97 + i % 26)}n", "names"),
    ],
)
def test_direct_identifiers_by_content_alone(
    make: Callable[[int], str], item: str
) -> None:
    found = draft({"x": [make(i) for i in range(ROWS)], "job": ["Cook", "Clerk"] * 30})
    assert "identifier" == roles(found)["x"]
    answered = {one.item: one.columns for one in found.checklist if one.columns}
    assert ("x",) == answered[item]
    assert make(7) not in found.text


def test_free_text_is_left_out() -> None:
    notes = [f"Patient number {i} came in at noon with pain." for i in range(ROWS)]
    found = draft({"x": notes, "job": ["Cook", "Clerk"] * 30})
    assert "drop" == roles(found)["x"]


def test_row_numbers_and_amounts_are_told_apart() -> None:
    drawn = random.Random(3)
    amounts = drawn.sample(range(100, 10_000_000), ROWS)
    found = draft({"x": list(range(1, ROWS + 1)), "z": amounts})
    assert "identifier" == roles(found)["x"]
    assert "identifier" != roles(found)["z"]


def test_rows_that_another_program_numbered_are_no_secret() -> None:
    """Row numbers with gaps, in a column without a name, as R writes them."""
    numbers = [7 * i + i % 3 for i in range(100)]
    votes = ["left", "right"] * 50
    for name in ("column1", "Unnamed: 0", "rownames", "row.names"):
        assert "identifier" == roles(draft({name: numbers, "vote": votes}))[name]
    assert "identifier" != roles(draft({"visits": numbers, "vote": votes}))["visits"]
    again = [*numbers[:-1], numbers[0]]
    assert "identifier" != roles(draft({"column1": again, "vote": votes}))["column1"]


@pytest.mark.parametrize(
    ("name", "topic"),
    [
        ("Hauptdiagnose", "health"),
        ("maladie_chronique", "health"),
        ("enfermedad", "health"),
        ("bmi", "health"),
        ("sexuelle Orientierung", "sexuality"),
        ("Konfession", "religion"),
        ("religión", "religion"),
        ("Gewerkschaft", "politics"),
        ("parti_politique", "politics"),
        ("voto", "politics"),
        ("Bruttolohn", "money"),
        ("salaire", "money"),
        ("ingresos", "money"),
        ("faminc", "money"),
        ("Vorstrafen", "crime"),
        ("delito", "crime"),
        ("asylum", ""),
        ("stage", ""),
        ("package", ""),
        ("colour", ""),
    ],
)
def test_topics_of_names(name: str, topic: str) -> None:
    found = find_topic(split_words(name))
    if topic:
        assert found is not None
        assert topic == found[0].key
    elif found is not None:
        assert "crime" == found[0].key  # asylum


@pytest.mark.parametrize(
    ("values", "topic"),
    [
        (["Diabetes", "Asthma", "none"], "health"),
        (["Krebs", "Grippe"], "health"),
        (["katholisch", "evangelisch", "konfessionslos"], "religion"),
        (["catholique", "musulman", "sans"], "religion"),
        (["católico", "judío"], "religion"),
        (["heterosexual", "homosexual"], "sexuality"),
        (["Democrat", "Republican", "Independent"], "politics"),
        (["SPD", "CDU", "FDP"], "politics"),
        (["theft", "assault", "fraud"], "crime"),
        (["red", "green-ish", "blue"], ""),
        (["yes", "no"], ""),
    ],
)
def test_topics_of_values(values: list[str], topic: str) -> None:
    found = find_value_topic(values)
    assert topic == (found[0].key if found else "")
    many = (values * 30)[:ROWS]
    drafted = draft({"x1": many, "job": ["Cook", "Clerk"] * 30})
    assert ("sensitive" == roles(drafted)["x1"]) == bool(topic)


def test_every_topic_has_words_for_names_and_values() -> None:
    for topic in TOPICS:
        for known in (topic.names, topic.values):
            assert known.words or known.stems


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (["M", "F"], "sexes"),
        (["Mann", "Frau", "divers"], "sexes"),
        (["hombre", "mujer"], "sexes"),
        (["white", "black", "other"], "origins"),
        (["ledig", "verheiratet", "geschieden"], "marital status"),
        (["célibataire", "marié"], "marital status"),
        (["CA", "NY", "TX"], "states"),
        (["Germany", "France", "Spain", "Peru"], "places"),
        (["A", "B", "C"], ""),
    ],
)
def test_what_values_say_others_may_know(values: list[str], said: str) -> None:
    column = ColumnSummary("x", "text", len(values), len(values))
    assert said == describe_values(column, values).known


def test_labels_are_read_too() -> None:
    columns = {"q1": [1, 2, 3] * 20, "q2": [4, 5] * 30}
    labels = {"q1": "Religion of the respondent", "q2": "Alter in Jahren"}
    found = draft(columns, labels=labels)
    assert {"q1": "sensitive", "q2": "quasi"} == roles(found)
    assert "'religion' in its label: religion" == found.guesses[0].reason
    with pytest.raises(pv.ColumnNotFound, match="'q3' of labels"):
        draft(columns, labels={"q3": "Income"})


# --- Weights and people -------------------------------------------------------


def cross(*lists: list[Any]) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = [()]
    for values in lists:
        rows = [(*row, value) for row in rows for value in values]
    return rows


def test_a_weight_that_the_numbers_bear_out() -> None:
    cells = cross(["F", "M"], ["Cook", "Clerk", "Judge"], ["yes", "no"])
    sex, job, ill = zip(*cells, strict=True)
    n = [3, 0, 7, 1, 2, 9, 4, 4, 1, 6, 2, 5]
    found = draft({"sex": sex, "job": job, "illness": ill, "n": n})
    assert "n" == found.policy.roles.weight
    assert "it adds up to 44" in found.text


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        ({"job": ["Cook"] * 6, "n": [2, 3, 4, 5, 6, 7]}, "like another one without it"),
        ({"job": list("abcabc"), "n": [2, 3, 4, 5, 6, 7]}, "like another one"),
        ({"job": list("abcdef"), "n": [0, 1, 0, 1, 0, 1]}, "do not add up"),
        ({"job": list("abcdef"), "n": [9, 1, -1, 1, 0, 1]}, "do not add up"),
        ({"height": [58, 59, 60, 61, 62, 63], "n": [2, 3, 4, 5, 6, 7]}, "tells nearly"),
    ],
)
def test_no_weight_against_the_numbers(columns: dict[str, list[Any]], why: str) -> None:
    found = draft(columns)
    (guess,) = [guess for guess in found.guesses if guess.name == "n"]
    assert "weight" != guess.role
    assert not guess.sure
    assert why in guess.reason
    assert any("n" in doubt.columns for doubt in found.doubts)


def test_a_person_with_several_rows() -> None:
    people = [i // 4 for i in range(80)]
    found = draft(
        {
            "patient": people,
            "sex": ["FM"[p % 2] for p in people],
            "visit": [i % 4 for i in range(80)],
            "diagnosis": [["flu", "cold", "none"][p % 3] for p in people],
        }
    )
    assert "patient" == found.policy.roles.unit
    assert (
        "20 values in 80 rows, and 'sex' and 1 more never differ in the rows of one"
        in found.text
    )


def test_rows_are_ordered_by_what_tells_them_apart() -> None:
    people = [i // 4 for i in range(80)]
    found = draft(
        {
            "patient": people,
            "sex": ["FM"[p % 2] for p in people],
            "height": [150 + p + i % 2 for i, p in enumerate(people)],
            "year": [2020 + i % 4 for i in range(80)],
            "diagnosis": [["flu", "cold", "none"][p % 3] for p in people],
        }
    )
    assert found.policy.person is not None
    assert ("year",) == found.policy.person.order


def test_a_table_about_sexuality_is_not_called_one_about_health() -> None:
    found = draft({"sex": list("FM") * 20, "affairs": [0, 1] * 20, "xq": [1, 2] * 20})
    (guess,) = [guess for guess in found.guesses if guess.name == "xq"]
    assert guess.reason.endswith("but the table is about sexuality")


def test_no_person_where_nothing_stays_the_same() -> None:
    drawn = random.Random(5)
    found = draft(
        {
            "id": [i % 12 for i in range(120)],
            "sex": [drawn.choice("FM") for _ in range(120)],
            "income": [drawn.randrange(9) for _ in range(120)],
        }
    )
    assert "unit" not in roles(found).values()


# --- Limits -------------------------------------------------------------------


@pytest.mark.parametrize("common", [10, 50, 60, 69, 75, 85, 90, 96, 98, 99, 100])
def test_every_limit_is_above_the_share_in_everybody(common: int) -> None:
    """Whatever is drafted can be kept by hiding enough."""
    ill = ["none"] * common + [f"ill {i % 7}" for i in range(100 - common)]
    found = draft({"job": ["Cook", "Clerk"] * 50, "illness": ill})
    text = tomllib.loads(found.text)
    for promise in text.get("promise", []):
        if promise["against"] == "linker":
            about = promise["about"]
            values = about["illness"] if isinstance(about, dict) else set(ill)
            floor = max(Fraction(ill.count(value), 100) for value in values)
            assert floor < Fraction(str(promise["at_most"]))


def test_rarer_values_are_named_where_many_people_share_them() -> None:
    found = draft({"job": ["Cook", "Clerk"] * 500, "hiv": ["no"] * 970 + ["yes"] * 30})
    (promise,) = tomllib.loads(found.text)["promise"]
    assert ({"hiv": ["yes"]}, 0.5) == (promise["about"], promise["at_most"])


def test_a_value_of_few_people_is_never_named() -> None:
    found = draft(
        {"job": ["Cook", "Clerk"] * 500, "hiv": ["no"] * 995 + ["canary"] * 5}
    )
    assert "canary" not in found.text
    assert "promise" not in tomllib.loads(found.text)
    (doubt,) = found.doubts
    assert "nearly everybody has the same value" in doubt.words


def test_no_cell_of_anybody_stands_in_a_draft() -> None:
    rows = [f"canary{i}" for i in range(200)]
    columns = dict.fromkeys(
        ("name", "city", "diagnosis", "note", "income", "id", "rating", "x"), rows
    )
    found = draft({**columns, "age": [20 + i % 60 for i in range(200)]})
    assert "canary" not in found.text
    assert "canary" not in str(found.to_dict())


# --- Bins ---------------------------------------------------------------------


def edges_of(name: str, kind: str, values: list[Any]) -> list[str]:
    column = ColumnSummary(name, kind, len(values), len(set(values)))
    return suggest_edges(column, describe_values(column, [str(v) for v in values]))


def test_latitudes_are_cut_where_people_are() -> None:
    drawn = random.Random(1)
    latitudes = [round(34 + drawn.gauss(0, 0.1), 5) for _ in range(1_000)]
    edges = [float(edge) for edge in edges_of("latitude", "number", latitudes)]
    assert 3 <= len(edges)
    assert all(33.7 < edge < 34.3 for edge in edges)
    assert edges == sorted(edges)
    assert all(len(str(edge)) <= 6 for edge in edges)


def test_incomes_are_cut_at_round_numbers() -> None:
    drawn = random.Random(2)
    incomes = [int(drawn.lognormvariate(10.3, 0.6)) for _ in range(1_000)]
    edges = [int(edge) for edge in edges_of("income", "integer", incomes)]
    shares = [sum(i < edge for i in incomes) / 1_000 for edge in edges]
    assert 3 <= len(edges)
    assert all(edge % 1_000 == 0 for edge in edges)
    assert all(0.05 < share < 0.95 for share in shares)


def test_ages_keep_the_usual_edges_within_their_range() -> None:
    assert ["30", "45", "65"] == edges_of("age", "integer", list(range(20, 70)))
    shares = [i / 100 for i in range(19, 73)]
    assert all(0.19 < float(edge) < 0.73 for edge in edges_of("age", "number", shares))


def test_dates_are_cut_at_years_quarters_or_months() -> None:
    days = pd.date_range("1990-01-01", "2020-12-31", freq="ME").strftime("%Y-%m-%d")
    years = edges_of("admitted", "date", list(days))
    assert 4 == len(years)
    assert all(edge.endswith('-01-01"') for edge in years)
    weeks = pd.date_range("2020-01-01", "2020-12-31", freq="D").strftime("%Y-%m-%d")
    assert all(e.endswith('-01"') for e in edges_of("admitted", "date", list(weeks)))


def test_no_edges_near_the_values_of_few_people() -> None:
    assert [] == edges_of("income", "integer", [1_234 * i for i in range(1, 30)])


@pytest.mark.parametrize("value", ["1e999", "nan", "-inf", "0001-01-01"])
def test_odd_numbers_have_no_edges(value: str) -> None:
    kind = "date" if "-01-" in value else "number"
    assert [] == edges_of("x", kind, [value] * 50)


def test_extreme_numbers_are_no_trouble() -> None:
    huge = [str(10**i) for i in range(1, 90)]
    assert edges_of("x", "integer", huge)
    tiny = [f"1e-{i}" for i in range(1, 200)]
    for edge in edges_of("x", "number", tiny):
        assert 0 <= float(edge) < 1


# --- Wide and odd tables ------------------------------------------------------


def test_wide_tables_are_summed_up() -> None:
    pixels = {f"pixel{i}": [(i * r) % 17 for r in range(ROWS)] for i in range(60)}
    found = draft({**pixels, "illness": ["flu", "none", "cold"] * 20})
    assert 61 == len(found.guesses)
    assert len(found.doubts) <= 10
    assert len(found.text.splitlines()) <= 700
    assert {"pixel7"} <= {c for d in found.doubts for c in d.columns}


def test_many_known_columns_get_knows_any() -> None:
    places = {f"city {i}": ["Bonn", "Köln", "Ulm"] * 20 for i in range(20)}
    found = draft({**places, "illness": ["flu", "none", "cold"] * 20})
    (promise,) = found.policy.promises
    assert 2 == promise.against.knows_any  # type: ignore[attr-defined]
    assert "NOT COVERED" in found.text


@pytest.mark.parametrize(
    "columns",
    [
        {"x": [1]},
        {"x": [None] * 30},
        {"x": [None] * 30, "y": ["a"] * 30},
        {"年齢": list(range(30)), "Größe 🩺": ["a", "b", "c"] * 10},
        {"x": ["same"] * 30},
        {"x": [""] * 30, "y": [" "] * 30},
        {"x": [float("inf"), float("nan"), 1.5] * 10},
        {"x": [b"\xff\xfe"] * 30},
        {"x": [True, False] * 15, "y": ["x" * 10_000] * 30},
    ],
    ids=str,
)
def test_odd_tables_get_a_role_for_every_column(columns: dict[str, list[Any]]) -> None:
    found = draft(columns)
    assert list(columns) == [guess.name for guess in found.guesses]
    stated = tomllib.loads(found.text)["columns"]
    named = [c for v in stated.values() for c in ([v] if isinstance(v, str) else v)]
    assert set(columns) == set(named)


def test_rows_that_are_all_the_same_twice_over() -> None:
    rows = {"sex": ["F", "M"] * 40, "illness": ["flu", "none"] * 40}
    assert {"sex": "quasi", "illness": "sensitive"} == roles(draft(rows))


def test_hundreds_of_columns(tmp_path: Path) -> None:
    names = ",".join(f"c{i}" for i in range(400))
    rows = [",".join(str(i * r % 7) for i in range(400)) for r in range(5)]
    (tmp_path / "wide.csv").write_text("\n".join([names, *rows]))
    with pv.read(tmp_path / "wide.csv", header=True) as table:
        found = pv.draft_policy(table)
    assert 400 == len(found.guesses)
    assert len(found.doubts) < 20


def test_a_table_of_things_says_that_nothing_is_sensitive() -> None:
    found = draft({"petal": [1.5, 2.5, 3.5] * 20, "species": ["a", "b", "c"] * 20})
    assert "# Nothing sensitive was found" in found.text
    assert not {"sensitive"} & set(roles(found).values())


def test_people_without_a_secret_are_given_the_benefit_of_the_doubt() -> None:
    found = draft({"age": [20, 30, 40] * 20, "item 1": [1.0, 2.5, 3.5] * 20})
    assert {"age": "quasi", "item 1": "sensitive"} == roles(found)
    assert not found.guesses[1].sure
    assert found.policy.promises


def test_the_file_name_may_tell_what_a_table_is_about(tmp_path: Path) -> None:
    rows = pd.DataFrame({"city": ["Bonn", "Ulm"] * 20, "v1": [1.5, 2.5] * 20})
    for name, role in (("diabetes.csv", "sensitive"), ("rents.csv", "other")):
        rows.to_csv(tmp_path / name, index=False)
        with pv.read(tmp_path / name) as table:
            found = pv.draft_policy(table)
        assert role == roles(found)["v1"]
        assert f'title = "Policy for {name}"' in found.text


# --- The value ----------------------------------------------------------------


def test_a_draft_is_a_value() -> None:
    found = draft({"sex": ["F", "M"] * 30, "illness": ["flu", "none", "cold"] * 20})
    assert pv.Policy.from_toml(found.text) == found.policy
    stated = found.to_dict()
    assert {"policy", "columns", "doubts", "checklist"} == set(stated)
    assert found.text == stated["policy"]
    assert 18 == sum(one.law == "HIPAA" for one in found.checklist)
    assert 8 == sum(one.law == "GDPR" for one in found.checklist)
    health = next(one for one in found.checklist if one.item == "health")
    assert ("illness",) == health.columns
    assert '#   health: "illness"' in found.text


def test_a_draft_is_stopped_in_time() -> None:
    with pytest.raises(pv.Stopped):
        draft({"sex": ["F", "M"] * 30}, max_seconds=1e-9)


def test_nothing_looked_at_is_nothing_claimed() -> None:
    assert Content() == describe_values(ColumnSummary("x", "text", 3, 1, 3), [None] * 3)
