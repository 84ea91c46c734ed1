"""The slides' medical example: Tom, Ed, and who can be sure of what."""

from __future__ import annotations

from fractions import Fraction

import pyarrow as pa
import pytest

import privet as pv

pytestmark = pytest.mark.engines

ROWS = {
    "name": ["Ann", "Bob", "Cary", "Dick", "Ed", "Frank", "Gloria", "Tom"],
    "group": ["1"] * 4 + ["2"] * 4,
    "disease": ["Flu", "Cold", "Cancer", "Flu", "Flu", "Cancer", "Cancer", "AIDS"],
}
TOM = {"disease": "AIDS"}


@pytest.fixture
def hospital() -> pv.Table:
    return pv.read(
        pa.table(ROWS), identifier="name", quasi="group", sensitive="disease"
    )


def test_without_knowledge_one_in_four(hospital: pv.Table) -> None:
    found = pv.belief(hospital, pv.Insider(victim="Tom"), TOM)
    assert Fraction(1, 4) == found.posterior


def test_not_cancer_and_ed_has_flu_is_certainty(hospital: pv.Table) -> None:
    insider = pv.Insider(["Cancer"], {"Ed": "Flu"}, victim="Tom")
    found = pv.audit(hospital, pv.Promise(insider, pv.Ceiling("1/2"), TOM))
    assert 1 == found.worst.belief.posterior
    assert (
        "Someone who knows that Tom's group is 2, that their disease is not Cancer and "
        "that Ed has Flu can be 100 % sure that Tom's disease is AIDS. Of those who "
        "look the same, 25 % (1 of 4 rows) have it; of everybody, 12.5 % (1 of 8)."
        == found.worst.explain()
    )


def test_a_companion_helps(hospital: pv.Table) -> None:
    insider = pv.Insider(["Cancer"], same_as=["Ed"], victim="Tom")
    # Ed lacks AIDS or Tom has it: of (Tom, Ed) AIDS with anything 3 ways; Flu with
    # one of two Cancers 2 ways.
    assert Fraction(3, 5) == pv.belief(hospital, insider, TOM).posterior


@pytest.mark.parametrize(
    ("insider", "words"),
    [
        (pv.Insider(victim="Zoe"), "'Zoe' must be one person of column 'name'; got 0"),
        (pv.Insider(knows_others={"Ed": "Cold"}, victim="Tom"), "it fits none"),
    ],
)
def test_nonsense_is_refused(hospital: pv.Table, insider, words: str) -> None:
    with pytest.raises(pv.InputError, match=words):
        pv.belief(hospital, insider, TOM)


def test_names_need_an_identifier() -> None:
    with pv.read(pa.table(ROWS), quasi="group", sensitive="disease") as table:
        with pytest.raises(pv.NoAudit, match="one identifier column; got none"):
            pv.belief(table, pv.Insider(victim="Tom"), TOM)


def test_groups_have_no_names() -> None:
    groups = pv.Groups.from_histograms([{"a": 1, "b": 1}])
    with pytest.raises(pv.NoAudit, match="no names"):
        pv.belief(groups, pv.Insider(victim="Tom"))


def test_hidden_columns_move_people_together(hospital: pv.Table) -> None:
    """Names are looked up in the private rows, groups in what is shown of them."""
    from privet.engine.protocol import Relabel

    shown = hospital.relabelled({"group": Relabel(("⊥", "⊥"))})
    assert Fraction(1, 8) == pv.belief(shown, pv.Insider(victim="Tom"), TOM).posterior


@pytest.mark.parametrize(
    ("knowing", "expected"),
    [
        (lambda has: has["Frank"] == has["Gloria"], Fraction(1, 2)),
        (lambda has: has["Ed"] == "Flu" and has["Tom"] != "Cancer", Fraction(1)),
        (lambda has: has["Tom"] in ("AIDS", "Flu"), Fraction(1, 2)),
        (lambda has: has["Ann"] == "Cold", Fraction(1, 4)),
        (lambda has: has.get("Frank") == has.get("Gloria"), Fraction(1, 2)),
        (lambda has: True, Fraction(1, 4)),
    ],
)
def test_any_sentence(hospital: pv.Table, knowing, expected: Fraction) -> None:
    found = pv.belief(hospital, pv.Insider(victim="Tom"), TOM, knowing=knowing)
    assert (Fraction(1, 8), expected) == (found.prior, found.posterior)


def test_a_sentence_beside_names(hospital: pv.Table) -> None:
    insider = pv.Insider(["Cancer"], same_as=["Ed"], victim="Tom")
    found = pv.belief(hospital, insider, TOM, knowing=lambda has: True)
    assert Fraction(3, 5) == found.posterior


def test_a_companion_contradicts_one_value_only(hospital: pv.Table) -> None:
    """A sentence that says nothing changes nothing, whatever the value."""
    insider = pv.Insider(["Flu"], {"Ed": "Cancer"}, ["Frank", "Gloria"], "Tom")
    fitting = pv.belief(hospital, insider).posterior
    assert fitting == pv.belief(hospital, insider, knowing=lambda has: True).posterior


@pytest.mark.parametrize(
    "insider",
    [
        pv.Insider(1, {"Ed": "AIDS", "Frank": "AIDS"}, victim="Tom"),
        pv.Insider(knows_others={"Ed": "Cold"}, victim="Tom"),
        pv.Insider(["Flu", "Cancer", "AIDS"], victim="Tom"),
    ],
)
@pytest.mark.parametrize("about", [None, "AIDS", "Flu", "Cold"])
def test_what_cannot_be_known_is_refused(hospital: pv.Table, insider, about) -> None:
    """Also about a value that nobody has left, and beside numbers."""
    with pytest.raises(pv.InputError, match="fits none"):
        pv.belief(hospital, insider, about and {"disease": about})


def test_nobody_left_to_know() -> None:
    """Both others are companions by name: no third person is there to be known."""
    rows = {"name": ["Al", "Bo", "Cy"], "disease": ["Flu", "Cold", "Flu"]}
    with pv.read(pa.table(rows), identifier="name", sensitive="disease") as table:
        insider = pv.Insider(0, 1, ["Al", "Cy"], victim="Bo")
        assert 1 == pv.belief(table, insider, {"disease": "Cold"}).posterior


def test_sentences_that_make_no_sense(hospital: pv.Table) -> None:
    tom = pv.Insider(victim="Tom")
    with pytest.raises(pv.InputError, match="fits none"):
        pv.belief(hospital, tom, TOM, knowing=lambda has: has["Tom"] == "Cold")
    with pytest.raises(pv.InputError, match="must go with people by name"):
        pv.belief(hospital, pv.Insider(1, victim="Tom"), TOM, knowing=bool)
    with pytest.raises(pv.InputError, match="victim; got none"):
        pv.belief(hospital, pv.Insider(), TOM, knowing=bool)
    with pytest.raises(pv.InputError, match="'Zoe' must be one person"):
        pv.belief(hospital, tom, TOM, knowing=lambda has: has["Zoe"])
    with pytest.raises(pv.InputError, match="ask for people by their names"):
        pv.belief(hospital, tom, TOM, knowing=lambda has: "Flu" in has.values())


def test_a_missing_value_in_words() -> None:
    rows = {"disease": ["Flu", "Flu", None]}
    with pv.read(pa.table(rows), sensitive="disease") as table:
        stated = pv.Promise(pv.Insider(knows_others=1), pv.Ceiling("1/2"))
        found = pv.audit(table, stated).worst
    assert "that of the others one has a missing value can be" in found.explain()
