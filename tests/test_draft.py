"""Guesses of roles, and the policy drafted from them, parsed back and checked."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.demo.patients import make_patients
from privet.demo.tables import bank_path
from privet.draft import ColumnSummary, Guess, guess_roles
from privet.draft.common_values import has_windows
from privet.draft.guess_roles import RULES, SeenColumn, guess_alone
from privet.draft.multiplicity import Multiplicity
from privet.draft.policy_text import Drafted, write_policy
from privet.draft.vocabulary import parse_vocabulary, split_words
from privet.policy import Measure, Policy
from privet.values.schema import KINDS, Bins, Roles

ARROW_KINDS = {
    "string": "text",
    "date32[day]": "date",
    "int32": "integer",
    "int64": "integer",
    "double": "number",
}


def summaries(table: pa.Table) -> list[ColumnSummary]:
    """What `privet init` would know of an Arrow table."""
    return [
        ColumnSummary(
            name=field.name,
            kind=ARROW_KINDS[str(field.type)],
            rows=table.num_rows,
            distinct=len(table.column(field.name).unique()),
            missing=table.column(field.name).null_count,
        )
        for field in table.schema
    ]


def column(
    name: str, kind: str = "text", *, rows: int = 1_000, distinct: int = 50
) -> ColumnSummary:
    """A column of no special shape."""
    return ColumnSummary(name, kind, rows, distinct)


def guess(
    name: str, kind: str = "text", *, rows: int = 1_000, distinct: int = 50
) -> Guess:
    """The guess for a column that stands alone."""
    return guess_alone(SeenColumn(column(name, kind, rows=rows, distinct=distinct)))


def roles(guesses: Sequence[Guess]) -> dict[str, str]:
    return {each.name: each.role for each in guesses}


def draft(columns: Sequence[ColumnSummary], title: str = "A file") -> str:
    return write_policy(Drafted(columns, guess_roles(columns), title))


def parsed(columns: Sequence[ColumnSummary], title: str = "A file") -> dict[str, Any]:
    return tomllib.loads(draft(columns, title))


def switched_on(text: str) -> dict[str, Any]:
    """Parse a draft with all its examples in use, as its head explains."""
    lines = (
        line[1:] if line.startswith("#") and line[1:2] not in ("", " ") else line
        for line in text.splitlines()
    )
    return tomllib.loads("\n".join(lines))


PATIENTS = summaries(make_patients(5_000))

ADULT = [
    ColumnSummary("age", "integer", 32_561, 73),
    ColumnSummary("workclass", "text", 32_561, 9, 1_836),
    ColumnSummary("fnlwgt", "integer", 32_561, 21_648),
    ColumnSummary("education", "text", 32_561, 16),
    ColumnSummary("education-num", "integer", 32_561, 16),
    ColumnSummary("marital-status", "text", 32_561, 7),
    ColumnSummary("occupation", "text", 32_561, 15, 1_843),
    ColumnSummary("relationship", "text", 32_561, 6),
    ColumnSummary("race", "text", 32_561, 5),
    ColumnSummary("sex", "text", 32_561, 2),
    ColumnSummary("capital-gain", "integer", 32_561, 119),
    ColumnSummary("capital-loss", "integer", 32_561, 92),
    ColumnSummary("hours-per-week", "integer", 32_561, 94),
    ColumnSummary("native-country", "text", 32_561, 42, 583),
    ColumnSummary("income", "text", 32_561, 2),
]


# --- What a summary and a guess refuse ----------------------------------------


@pytest.mark.parametrize(
    ("kind", "rows", "distinct", "missing", "said"),
    [
        ("words", 10, 5, 0, "kind must be one of"),
        ("text", 10, 11, 0, "from 0 to rows; got 11 and 0 of 10"),
        ("text", 10, -1, 0, "from 0 to rows; got -1 and 0 of 10"),
        ("text", 10, 5, 11, "from 0 to rows; got 5 and 11 of 10"),
        ("text", 10, 5, -1, "from 0 to rows; got 5 and -1 of 10"),
        ("text", -1, 0, 0, "from 0 to rows; got 0 and 0 of -1"),
    ],
)
def test_impossible_summaries_are_refused(
    kind: str, rows: int, distinct: int, missing: int, said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        ColumnSummary("x", kind, rows, distinct, missing)


def test_name_that_no_file_can_hold_is_refused() -> None:
    with pytest.raises(ValueError, match="UTF-8"):
        column("half a \ud800 pair")


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_taken(kind: str) -> None:
    assert kind == column("x", kind).kind


def test_unknown_role_is_refused() -> None:
    with pytest.raises(ValueError, match="role must be one of"):
        Guess("x", "secret", "because", "sure")


def test_reason_of_several_lines_is_refused() -> None:
    with pytest.raises(ValueError, match="reason must be one line"):
        Guess("x", "quasi", "because\nof two things", "sure")


def test_unknown_confidence_is_refused() -> None:
    with pytest.raises(ValueError, match="confidence must be one of"):
        Guess("x", "quasi", "because", "certain")


def test_values_are_frozen() -> None:
    with pytest.raises(AttributeError):
        column("x").rows = 5  # type: ignore[misc]
    with pytest.raises(AttributeError):
        guess("x").role = "quasi"  # type: ignore[misc]


def test_same_name_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="different names"):
        guess_roles([column("x"), column("y"), column("x")])


def test_no_columns_no_guesses() -> None:
    assert () == guess_roles([])


# --- Words --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("age", ("age",)),
        ("", ()),
        ("42", ()),
        ("birth_date", ("birth", "date", "birthdate")),
        ("DateOfBirth", ("date", "of", "birth", "dateofbirth")),
        ("patientID", ("patient", "id", "patientid")),
        ("HIVStatus", ("hiv", "status", "hivstatus")),
        ("marital-status", ("marital", "status", "maritalstatus")),
        ("No. of records", ("no", "of", "records", "noofrecords")),
        ("ICD10", ("icd",)),
        ("Straße", ("strasse",)),
        ("Prénom", ("prenom",)),
        ("Año de nacimiento", ("ano", "de", "nacimiento", "anodenacimiento")),
    ],
)
def test_words_of_a_name(name: str, expected: tuple[str, ...]) -> None:
    assert expected == split_words(name)


def test_accents_may_be_written_either_way() -> None:
    assert split_words("Pre\u0301nom") == split_words("Pr\u00e9nom")


def test_vocabulary_tells_words_from_stems() -> None:
    known = parse_vocabulary("age diagnos*")
    assert "age" == known.find(["old", "age"])
    assert "" == known.find(["wage"])
    assert "hauptdiagnose" == known.find(["hauptdiagnose"])
    assert "" == known.find([])


# --- One column at a time -----------------------------------------------------

BY_NAME = [
    # English
    ("name", "identifier"),
    ("patient_name", "identifier"),
    ("First Name", "identifier"),
    ("maiden_name", "identifier"),
    ("surname", "identifier"),
    ("SSN", "identifier"),
    ("e-mail", "identifier"),
    ("EmailAddress", "identifier"),
    ("home_phone", "identifier"),
    ("street", "identifier"),
    ("insurance_number", "identifier"),
    ("credit card number", "identifier"),
    ("IPAddress", "identifier"),
    ("age", "quasi"),
    ("DOB", "quasi"),
    ("DateOfBirth", "quasi"),
    ("birth_year", "quasi"),
    ("Sex", "quasi"),
    ("gender_code", "quasi"),
    ("ZIP", "quasi"),
    ("ZIPcode", "quasi"),
    ("PostCode", "quasi"),
    ("postal code", "quasi"),
    ("home_city", "quasi"),
    ("hospital_name", "quasi"),
    ("country_name", "quasi"),
    ("ward_id", "quasi"),
    ("n_children", "quasi"),
    ("MaritalStatus", "quasi"),
    ("job title", "quasi"),
    ("diagnosis", "sensitive"),
    ("admission_diagnosis", "sensitive"),
    ("HIV_status", "sensitive"),
    ("ICD10", "sensitive"),
    ("annual income", "sensitive"),
    ("income_class", "sensitive"),
    ("BaseSalary", "sensitive"),
    ("account_balance", "sensitive"),
    ("religion", "sensitive"),
    ("sexual_orientation", "sensitive"),
    ("outcome", "target"),
    ("target", "target"),
    ("credit", "sensitive"),
    ("class", "target"),
    ("y", "target"),
    # German
    ("Vorname", "identifier"),
    ("Nachname", "identifier"),
    ("Straße", "identifier"),
    ("Telefonnummer", "identifier"),
    ("Geburtsdatum", "quasi"),
    ("Alter", "quasi"),
    ("Geschlecht", "quasi"),
    ("PLZ", "quasi"),
    ("Postleitzahl", "quasi"),
    ("Wohnort", "quasi"),
    ("Beruf", "quasi"),
    ("Familienstand", "quasi"),
    ("Staatsangehörigkeit", "quasi"),
    ("Schulabschluss", "quasi"),
    ("Krankenkasse", "quasi"),
    ("Diagnose", "sensitive"),
    ("Hauptdiagnose", "sensitive"),
    ("Vorerkrankungen", "sensitive"),
    ("Bruttogehalt", "sensitive"),
    ("Einkommen", "sensitive"),
    ("Schulden", "sensitive"),
    ("Konfession", "sensitive"),
    ("Ergebnis", "target"),
    # French
    ("Nom", "identifier"),
    ("nom_de_famille", "identifier"),
    ("Prénom", "identifier"),
    ("Adresse", "identifier"),
    ("date_naissance", "quasi"),
    ("Sexe", "quasi"),
    ("code postal", "quasi"),
    ("Métier", "quasi"),
    ("nombre d'enfants", "quasi"),
    ("Maladie", "sensitive"),
    ("Salaire", "sensitive"),
    # Spanish
    ("Nombre", "identifier"),
    ("Apellidos", "identifier"),
    ("Dirección", "identifier"),
    ("FechaNacimiento", "quasi"),
    ("Edad", "quasi"),
    ("Sexo", "quasi"),
    ("Código Postal", "quasi"),
    ("Profesión", "quasi"),
    ("Enfermedad", "sensitive"),
    ("Sueldo", "sensitive"),
]


@pytest.mark.parametrize(("name", "role"), BY_NAME)
def test_role_by_name(name: str, role: str) -> None:
    found = guess(name)
    assert role == found.role
    assert "in its name" in found.reason


@pytest.mark.parametrize(
    "name", ["wage_group", "stage", "package", "page", "language_level"]
)
def test_words_inside_words_are_no_ages(name: str) -> None:
    assert "'age'" not in guess(name, "integer").reason


@pytest.mark.parametrize("name", ["experimental_arm", "allocation", "counter"])
def test_harmless_words_are_in_doubt(name: str) -> None:
    found = guess(name, distinct=4)
    assert ("quasi", False) == (found.role, found.sure)


@pytest.mark.parametrize("role_name", ["diagnosis", "sex", "name", "outcome", "x"])
def test_constant_columns_have_no_role(role_name: str) -> None:
    found = guess(role_name, distinct=1)
    assert ("drop", True) == (found.role, found.sure)
    assert "the same in every row" == found.reason


def test_empty_table_has_no_constant_columns() -> None:
    assert "sensitive" == guess("diagnosis", rows=0, distinct=0).role
    assert "sensitive" == guess("diagnosis", rows=1, distinct=1).role


# --- By how many values there are ---------------------------------------------


@pytest.mark.parametrize(
    ("kind", "role", "sure"),
    [
        ("text", "identifier", True),
        ("integer", "identifier", False),
        ("other", "identifier", False),
        ("number", "other", False),
        ("date", "quasi", False),
        ("datetime", "quasi", False),
    ],
)
def test_nearly_all_different(kind: str, role: str, sure: bool) -> None:
    found = guess("foo", kind, distinct=990)
    assert (role, sure) == (found.role, found.sure)


@pytest.mark.parametrize(
    ("kind", "distinct", "role"),
    [
        ("text", 3, "quasi"),
        ("text", 500, "quasi"),
        ("text", 501, "identifier"),
        ("boolean", 2, "quasi"),
        ("integer", 20, "quasi"),
        ("integer", 21, "other"),
        ("integer", 899, "other"),
        ("integer", 900, "identifier"),
        ("number", 21, "other"),
        ("date", 300, "quasi"),
        ("other", 300, "other"),
    ],
)
def test_unknown_names_go_by_kind_and_are_in_doubt(
    kind: str, distinct: int, role: str
) -> None:
    found = guess("foo", kind, distinct=distinct)
    assert (role, False) == (found.role, found.sure)


def test_few_rows_prove_no_identifier() -> None:
    assert "quasi" == guess("foo", rows=19, distinct=19).role
    assert "identifier" == guess("foo", rows=20, distinct=20).role


@pytest.mark.parametrize("name", ["birth_date", "zip", "income", "age"])
def test_name_outweighs_many_values(name: str) -> None:
    few, many = guess(name, distinct=50), guess(name, distinct=1_000)
    assert few.role == many.role


def test_free_text_about_illness_is_in_doubt() -> None:
    assert guess("diagnosis", distinct=30).sure
    assert not guess("diagnosis", distinct=950).sure


def test_date_of_an_illness_is_in_doubt() -> None:
    found = guess("diagnosis_date", "date")
    assert ("sensitive", False) == (found.role, found.sure)


def test_names_that_repeat_much_are_in_doubt() -> None:
    assert guess("name", distinct=20).sure
    found = guess("name", distinct=19)
    assert ("identifier", False) == (found.role, found.sure)
    assert "few values" in found.reason


def test_target_with_many_values_is_in_doubt() -> None:
    assert guess("score", "integer", distinct=20).sure
    assert not guess("score", "integer", distinct=21).sure


@pytest.mark.parametrize("name", ["product_name", "item number"])
def test_names_of_things_count_only_if_they_vary(name: str) -> None:
    assert "identifier" != guess(name, "integer", distinct=15).role
    found = guess(name, "integer", distinct=600)
    assert ("identifier", False) == (found.role, found.sure)


# --- People with several rows, rows for several people ------------------------


@pytest.mark.parametrize(
    "name", ["id", "patient_id", "CustomerID", "KundenNr", "Kundennummer", "user no"]
)
def test_numbers_of_people(name: str) -> None:
    once = guess(name, "integer", distinct=1_000)
    assert ("identifier", True) == (once.role, once.sure)
    often = column(name, "integer", distinct=400)
    found = guess_alone(SeenColumn(often, numbers=Multiplicity(person="it is counted")))
    assert ("unit", True) == (found.role, found.sure)
    assert "it is counted" in found.reason


def test_no_unit_without_numbers_that_bear_it_out() -> None:
    found = guess("id", "integer", distinct=400)
    assert ("identifier", False) == (found.role, found.sure)
    assert "unit" != guess("id", "integer", distinct=12).role


@pytest.mark.parametrize(
    "name",
    ["count", "n", "Freq", "frequency", "row_count", "No. of records", "Anzahl"],
)
def test_multiplicities(name: str) -> None:
    proved = Multiplicity(weight="it is counted")
    found = guess_alone(SeenColumn(column(name, "integer"), numbers=proved))
    assert ("weight", True) == (found.role, found.sure)
    refuted = Multiplicity(against="rows repeat")
    other = guess_alone(SeenColumn(column(name, "integer"), numbers=refuted))
    assert ("other", False) == (other.role, other.sure)
    assert other.reason.endswith("no weight, since rows repeat")


@pytest.mark.parametrize("name", ["weight", "Gewicht", "poids", "peso"])
def test_weights_may_be_of_bodies(name: str) -> None:
    assert "quasi" == guess(name, "integer").role


@pytest.mark.parametrize("kind", ["text", "number", "boolean"])
def test_multiplicities_are_whole_numbers(kind: str) -> None:
    proved = Multiplicity(weight="it is counted")
    found = guess_alone(SeenColumn(column("count", kind), numbers=proved))
    assert "weight" != found.role


@pytest.mark.parametrize("name", ["n_visits", "body_weight", "country", "platelet n"])
def test_other_numbers_are_no_multiplicities(name: str) -> None:
    proved = Multiplicity(weight="it is counted")
    found = guess_alone(SeenColumn(column(name, "integer"), numbers=proved))
    assert "weight" != found.role


# --- One of each --------------------------------------------------------------


def test_last_target_wins() -> None:
    found = guess_roles([column("label", distinct=3), column("outcome", distinct=3)])
    assert {"label": "other", "outcome": "target"} == roles(found)
    assert not found[0].sure
    assert "another column is the target" in found[0].reason


def test_sure_target_wins_over_a_later_one_in_doubt() -> None:
    found = guess_roles([column("outcome", distinct=3), column("score", distinct=40)])
    assert {"outcome": "target", "score": "other"} == roles(found)


def test_other_numbers_of_people_are_identifiers() -> None:
    columns = [column("customer_id", distinct=300), column("patient_id", distinct=300)]
    people = {c.name: Multiplicity(person="it is counted") for c in columns}
    expected = {"customer_id": "identifier", "patient_id": "unit"}
    assert expected == roles(guess_roles(columns, numbers=people))


def test_one_weight() -> None:
    columns = [column("n", "integer"), column("count", "integer")]
    counts = {c.name: Multiplicity(weight="it is counted") for c in columns}
    found = roles(guess_roles(columns, numbers=counts))
    assert {"n": "other", "count": "weight"} == found


def test_weight_and_unit_exclude_each_other() -> None:
    columns = [column("patient_id", distinct=300), column("n", "integer")]
    numbers = {
        "patient_id": Multiplicity(person="it is counted"),
        "n": Multiplicity(weight="it is counted"),
    }
    found = guess_roles(columns, numbers=numbers)
    assert {"patient_id": "identifier", "n": "weight"} == roles(found)
    assert "another column is a weight" in found[0].reason


# --- Whole tables -------------------------------------------------------------


def test_roles_of_the_demo_table() -> None:
    expected = {
        "patient_id": "identifier",
        "name": "identifier",
        "birth_date": "quasi",
        "sex": "quasi",
        "zip": "quasi",
        "occupation": "quasi",
        "admitted": "quasi",
        "ward": "quasi",
        "diagnosis": "sensitive",
        "insurance": "quasi",
        "nights": "sensitive",
        "cost": "sensitive",
        "outcome": "sensitive",
    }
    assert expected == roles(guess_roles(PATIENTS))
    assert ["outcome"] == [g.name for g in guess_roles(PATIENTS) if g.target]


def test_doubts_of_the_demo_table() -> None:
    doubts = [each.name for each in guess_roles(PATIENTS) if not each.sure]
    assert ["nights"] == doubts


def test_roles_of_adult() -> None:
    found = roles(guess_roles(ADULT))
    expected = {
        "sensitive": ["capital-gain", "capital-loss", "income"],
        "other": ["fnlwgt", "hours-per-week"],
    }
    for role, names in expected.items():
        assert names == [name for name in found if found[name] == role]
    assert 10 == list(found.values()).count("quasi")
    assert 15 == len(found)


def test_roles_of_the_bank() -> None:
    bank = pyarrow.csv.read_csv(str(bank_path()))
    expected = {
        "job": "quasi",
        "country": "quasi",
        "child": "quasi",
        "bankruptcy": "sensitive",
        "rating": "target",
        "count": "weight",
    }
    counted = {"count": Multiplicity(weight="it is counted")}
    found = guess_roles(summaries(bank), numbers=counted)
    assert expected == roles(found)
    assert all(each.sure for each in found)


def test_roles_of_a_german_table() -> None:
    columns = [
        column("Versichertennummer", distinct=1_000),
        column("Nachname", distinct=800),
        column("Geburtsdatum", "date", distinct=950),
        column("PLZ", distinct=90),
        column("Hauptdiagnose", distinct=40),
        column("Aufnahmedatum", "date", distinct=300),
        column("Ergebnis", distinct=3),
        column("Mandant", distinct=1),
    ]
    expected = {
        "Versichertennummer": "identifier",
        "Nachname": "identifier",
        "Geburtsdatum": "quasi",
        "PLZ": "quasi",
        "Hauptdiagnose": "sensitive",
        "Aufnahmedatum": "quasi",
        "Ergebnis": "sensitive",  # of people with a diagnosis
        "Mandant": "drop",
    }
    assert expected == roles(guess_roles(columns))


# --- The draft ----------------------------------------------------------------


def test_draft_of_the_demo_table() -> None:
    policy = parsed(PATIENTS, "Hospital stays")
    quasi = ["birth_date", "sex", "zip", "occupation", "admitted", "ward", "insurance"]
    secret = ["diagnosis", "nights", "cost", "outcome"]
    assert "Hospital stays" == policy["title"]
    assert {
        "identifier": ["patient_id", "name"],
        "quasi": quasi,
        "sensitive": secret,
        "other": [],
        "drop": [],
        "target": "outcome",
    } == policy["columns"]
    assert [
        *(
            {
                "name": f"nobody learns {about}",
                "against": "linker",
                "knows": quasi,
                "about": about,
                "at_most": 0.5,
            }
            for about in secret
        ),
        {
            "name": "a classifier moves no mind about outcome",
            "against": "bayesian",
            "about": "outcome",
            "from": 0.51,
            "to": 0.8,
        },
    ] == policy["promise"]
    assert {"title", "columns", "promise"} == set(policy)


def test_draft_of_the_bank_has_its_weight() -> None:
    columns = summaries(pyarrow.csv.read_csv(str(bank_path())))
    counted = {"count": Multiplicity(weight="it is counted")}
    guesses = guess_roles(columns, numbers=counted)
    policy = tomllib.loads(write_policy(Drafted(columns, guesses)))
    assert "count" == policy["columns"]["weight"]
    assert "rating" == policy["columns"]["target"]
    assert "bankruptcy" == policy["promise"][0]["about"]
    assert ["job", "country", "child", "rating"] == policy["promise"][0]["knows"]


def test_draft_of_adult_promises_for_each_sensitive_column() -> None:
    policy = parsed(ADULT)
    about = [promise["about"] for promise in policy["promise"]]
    assert ["capital-gain", "capital-loss", "income"] == about
    assert "target" not in policy["columns"]
    for promise in policy["promise"]:
        known = {*policy["columns"]["quasi"], *policy["columns"]["other"]}
        assert [c.name for c in ADULT if c.name in known] == promise["knows"]


def test_draft_promises_of_a_classifier_where_one_can_be_made() -> None:
    whole = [column("job"), column("rating", distinct=2)]
    bayesian = [p for p in parsed(whole)["promise"] if p["against"] == "bayesian"]
    assert ["rating"] == [p["about"] for p in bayesian]
    assert {"inverter", "bayesian"} <= {
        p["against"] for p in switched_on(draft(whole))["promise"]
    }
    for without in (whole[:1], whole[1:]):
        promised = parsed(without).get("promise", [])
        assert [] == [p for p in promised if p["against"] == "bayesian"]
    assert "bayesian" not in draft_of_several_rows(whole)


def draft_of_several_rows(columns: list[ColumnSummary]) -> str:
    all_ = [column("patient_id", distinct=300), *columns]
    people = {"patient_id": Multiplicity(person="it is counted")}
    return write_policy(Drafted(all_, guess_roles(all_, numbers=people)))


def test_draft_makes_the_unit_an_identifier_too() -> None:
    policy = tomllib.loads(draft_of_several_rows([column("sex")]))
    assert ["patient_id"] == policy["columns"]["identifier"]
    assert "patient_id" == policy["columns"]["unit"]


def test_draft_gives_a_reason_beside_each_column() -> None:
    lines = draft(PATIENTS).splitlines()
    for each in guess_roles(PATIENTS):
        beside = [line for line in lines if f'"{each.name}"' in line]
        assert any(each.reason in line for line in beside)


def test_draft_lists_its_doubts_on_top() -> None:
    top = draft(PATIENTS).split("title =")[0]
    why = "nothing says what it is for, but the table is about health"
    assert f'#   "nights": sensitive; {why}' in top
    assert '#   "diagnosis"' not in top


def test_draft_without_doubts_says_so() -> None:
    assert "# No guess is in doubt" in draft([column("sex"), column("diagnosis")])


def test_draft_gives_every_column_a_role() -> None:
    for columns in (PATIENTS, ADULT, [column("x", distinct=1), column("y", "number")]):
        stated = parsed(columns)["columns"]
        named = [c for v in stated.values() for c in ([v] if isinstance(v, str) else v)]
        assert {c.name for c in columns} == set(named)


def test_draft_tells_the_steward_to_choose() -> None:
    assert "# Choose what a curious person may know" in draft(PATIENTS)


def test_draft_without_secrets_says_so() -> None:
    columns = [column("job"), column("zip")]
    text = draft(columns)
    assert "promise" not in tomllib.loads(text)
    assert "# Nothing sensitive was found" in text
    assert "sensitive = []  # none was guessed" in text
    (measure,) = Policy.from_toml(text).measures  # so that it can be used at once
    assert Measure(k_anonymity=5) == measure
    (promise,) = switched_on(text)["promise"]
    assert ["job", "zip"] == promise["knows"]
    assert "a sensitive column" == promise["about"]


def test_draft_without_known_columns_leaves_a_template() -> None:
    text = draft([column("diagnosis")])
    assert "promise" not in tomllib.loads(text)
    with pytest.raises(ValueError, match="at least one"):
        Policy.from_toml(text)
    (promise,) = switched_on(text)["promise"]
    assert "diagnosis" == promise["about"]


def test_where_all_is_secret_one_secret_gives_another_away() -> None:
    columns = [column("diagnosis"), column("medication")]
    promised = parsed(columns)["promise"]
    assert ["medication"] == promised[0]["knows"]
    assert ["diagnosis"] == promised[1]["knows"]


def test_draft_of_nothing_still_parses() -> None:
    policy = parsed([])
    roles = ("identifier", "quasi", "sensitive", "other", "drop")
    assert {role: [] for role in roles} == policy["columns"]


def test_draft_writes_long_lists_on_several_lines() -> None:
    assert max(map(len, draft(ADULT).splitlines())) <= 88
    many = [column(f"country_{at}") for at in range(15)]
    (promise,) = switched_on(draft(many))["promise"]
    assert [each.name for each in many] == promise["knows"]


def test_draft_wants_one_guess_per_column() -> None:
    columns = [column("sex"), column("zip")]
    guesses = guess_roles(columns)
    for wrong in (guesses[:1], guesses[::-1], ()):
        with pytest.raises(ValueError, match="one per column, in the same order"):
            Drafted(columns, wrong)


# --- Bins ---------------------------------------------------------------------


def test_bins_are_examples_that_are_off() -> None:
    text = draft(PATIENTS)
    assert "bins" not in tomllib.loads(text)
    bins = switched_on(text)["bins"]
    assert {"birth_date"} == set(bins)
    assert all(Bins(edges) for edges in bins.values())


@pytest.mark.parametrize(
    ("name", "kind", "expected"),
    [
        ("age", "integer", [18, 30, 45, 65, 80]),
        ("Alter", "number", [18, 30, 45, 65, 80]),
        ("birth_year", "integer", [1940, 1960, 1980, 2000]),
        (
            "Geburtsdatum",
            "date",
            ["1940-01-01", "1960-01-01", "1980-01-01", "2000-01-01"],
        ),
    ],
)
def test_edges_where_no_value_was_looked_at(
    name: str, kind: str, expected: list[Any]
) -> None:
    bins = switched_on(draft([column(name, kind)]))["bins"]
    assert {name: expected} == bins


@pytest.mark.parametrize(
    ("name", "kind", "distinct"),
    [
        ("zip", "integer", 500),  # a code, not an amount
        ("occupation", "text", 500),  # without order
        ("age", "integer", 20),  # few values already
        ("patient_id", "integer", 1_000),  # never published
    ],
)
def test_no_bins(name: str, kind: str, distinct: int) -> None:
    assert "#[bins]" not in draft([column(name, kind, distinct=distinct)])


# --- Any names at all ---------------------------------------------------------

STRANGE = [
    'say "hello"',
    "back\\slash",
    "dotted.name",
    "two\nlines",
    "carriage\rreturn",
    "tab\tbed",
    "# comment",
    "[table]",
    "= 5",
    "",
    " ",
    "'''",
    '"""',
    "naïve Größe 年齢",
    "emoji 🩺 in it",
    "nul\x00 and del\x7f",
    "next\x85line and line\u2028separator",
    "right\u202eleft",
    "\U000e0041 tag",
]


@pytest.mark.parametrize("name", STRANGE)
def test_strange_names_parse_back(name: str) -> None:
    columns = [column(f"{name} city"), column("diagnosis")]
    policy = parsed(columns, title=name)
    assert name == policy["title"]
    assert [f"{name} city"] == policy["columns"]["quasi"]
    assert [f"{name} city"] == policy["promise"][0]["knows"]


@pytest.mark.parametrize("name", STRANGE)
def test_strange_names_parse_back_as_keys_and_secrets(name: str) -> None:
    secret = f"{name} income"
    columns = [column(secret, "number"), column(f"{name} age", "integer")]
    text = draft(columns)
    assert [secret] == tomllib.loads(text)["columns"]["sensitive"]
    assert {f"{name} age"} == set(switched_on(text)["bins"])


@pytest.mark.parametrize("name", STRANGE)
def test_drafts_hide_nothing_from_the_eye(name: str) -> None:
    """No invisible or direction-changing letter gets into the file."""
    text = draft([column(name), column("diagnosis")])
    assert text.replace("\n", "").isprintable()


any_columns = st.lists(
    st.builds(
        lambda name, kind, rows, part, gaps: ColumnSummary(
            name, kind, rows, rows * part // 100, rows * gaps // 100
        ),
        st.text(max_size=12)
        | st.sampled_from([name for name, _ in BY_NAME])
        | st.sampled_from(["id", "patient_id", "count", "n", "weight", "label"]),
        st.sampled_from(KINDS),
        st.integers(0, 10_000),
        st.integers(0, 100),
        st.integers(0, 100),
    ),
    max_size=12,
    unique_by=lambda each: each.name,
)


@given(any_columns)
def test_every_column_gets_one_guess(columns: list[ColumnSummary]) -> None:
    found = guess_roles(columns)
    assert [each.name for each in columns] == [each.name for each in found]
    assert all(each.reason for each in found)
    counts = [each.role for each in found]
    assert max(counts.count(role) for role in ("target", "unit", "weight")) <= 1
    assert not {"unit", "weight"} <= set(counts)


@given(any_columns, st.text(max_size=20))
def test_every_draft_parses_back_to_its_guesses(
    columns: list[ColumnSummary], title: str
) -> None:
    found = guess_roles(columns)
    policy = tomllib.loads(write_policy(Drafted(columns, found, title)))
    named = policy["columns"]
    assert title == policy["title"]
    for role in ("quasi", "sensitive"):
        assert [each.name for each in found if each.role == role] == named[role]
    owners = [each.name for each in found if each.role in ("identifier", "unit")]
    assert owners == named["identifier"]
    fine = [column.name for column in columns if has_windows(column)]
    for role in ("target", "unit", "weight"):
        only = [
            each.name
            for each in found
            if each.role == role
            or (role == "target" and each.target and each.name not in fine)
        ]
        assert only == ([named[role]] if role in named else [])


@given(any_columns)
def test_every_draft_has_roles_that_agree(columns: list[ColumnSummary]) -> None:
    """What the core refuses, two roles for one column, is never drafted."""
    text = draft(columns)
    named = tomllib.loads(text)["columns"]
    on = switched_on(text)
    drafted = Roles(**named, bins=on.get("bins", {}))
    assert set(drafted.columns()) <= {each.name for each in columns}
    assert on["promise"]


@given(any_columns)
def test_every_draft_with_a_promise_is_one_that_privet_reads(
    columns: list[ColumnSummary],
) -> None:
    text = draft(columns, title="Drafted")
    drafted = tomllib.loads(text)
    if "promise" in drafted:
        read = Policy.from_toml(text)
        assert "Drafted" == read.title
        assert tuple(drafted["columns"]["quasi"]) == read.roles.quasi
        about = {p.about for p in read.promises}
        target = drafted["columns"].get("target")
        assert {*drafted["columns"]["sensitive"], target} >= about


@given(any_columns)
def test_every_draft_ends_in_a_newline_and_fits_utf8(
    columns: list[ColumnSummary],
) -> None:
    text = draft(columns)
    assert text.endswith("\n")
    assert text == text.encode().decode()


@given(any_columns)
def test_guesses_do_not_depend_on_the_table_around(
    columns: list[ColumnSummary],
) -> None:
    """Only where a role has two rivals, or for what the whole table is about."""
    alone = {each.name: guess_alone(SeenColumn(each)) for each in columns}
    for each in guess_roles(columns):
        if "another column" not in each.reason and "the table is" not in each.reason:
            assert alone[each.name] == each


@given(any_columns)
def test_some_rule_always_answers(columns: list[ColumnSummary]) -> None:
    for each in columns:
        answers = [rule(SeenColumn(each)) for rule in RULES]
        assert answers[-1] is not None
        first = next(answer for answer in answers if answer)
        assert first == guess_alone(SeenColumn(each))
