"""What people see: signs that cannot be seen are written out, passwords are not."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

import privet as pv
from privet.values.visible_text import escape_controls, escape_json, hide_secrets

UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
anything = st.text(st.characters(exclude_categories=[]))


def unseen(text: str) -> set[str]:
    return {c for c in text if unicodedata.category(c) in UNSEEN} - {"\n", "\t"}


@given(anything)
def test_nothing_unseen_is_left(text: str) -> None:
    assert set() == unseen(escape_controls(text))
    assert set() == unseen(escape_json(json.dumps(text, ensure_ascii=False)))


@given(anything)
def test_json_means_the_same_afterwards(text: str) -> None:
    assert text == json.loads(escape_json(json.dumps(text, ensure_ascii=False)))


@given(st.text(st.characters(exclude_categories=UNSEEN)))
def test_what_is_seen_stays(text: str) -> None:
    assert text == escape_controls(text)


CONNECTIONS = (
    "postgresql://ann:hunter2@db.example:5432/people",
    "postgresql://ann:hunter2@db.example/people?sslmode=require",
    "postgres:/ann:hunter2@host/db",
    "ann:hunter2@host/db",
    "jdbc:postgresql://h/db?user=ann&password=hunter2",
    "host=h password=hunter2 dbname=x",
    "host=h password='hunter2' dbname=x",
    "host=h PASSWORD = hunter2",
    "Server=h;User=ann;Pwd=hunter2;Database=x",
    "Server=h;User=ann;Password=hunter2",
    "mysql+pymysql://ann:hunter2@h/db",
    "snowflake://h/db?token=hunter2",
    "s3://bucket/x.csv?secret_key=hunter2",
)


@pytest.mark.parametrize("connection", CONNECTIONS)
def test_passwords_are_hidden(connection: str) -> None:
    assert "hunter2" not in hide_secrets(f"File {connection!r} must exist.")
    with pytest.raises(pv.PrivetError) as raised:
        pv.read(connection)
    assert "hunter2" not in str(raised.value)


@pytest.mark.parametrize(
    "plain",
    [
        "people.csv",
        "C:/data/people.csv",
        "at 12:30 @ noon",
        "p.toml:3: at_most",
        "a@b.c",
    ],
)
def test_other_texts_stay(plain: str) -> None:
    assert plain == hide_secrets(plain)


HALF = "half of a letter \ud800"


@pytest.mark.parametrize(
    "make",
    [
        lambda: pv.Measure(HALF, k_anonymity=2),
        lambda: pv.Promise(pv.Linker(["a"]), pv.Ceiling("1/2"), "b", HALF),
        lambda: pv.Policy([pv.Measure(k_anonymity=2)], title=HALF),
        lambda: pv.Signoff(HALF, "2026-03-31", "research"),
        lambda: pv.Accepted("b", why=HALF, who="me"),
        lambda: pv.Accepted(HALF, why="so", who="me"),
        lambda: pv.View(["a"], HALF),
    ],
)
def test_half_a_letter_is_no_text(make: object) -> None:
    with pytest.raises(pv.InputError):
        make()  # type: ignore[operator]
