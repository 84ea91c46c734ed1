"""A policy file is read exactly, and all that is wrong with it is said at once."""

from __future__ import annotations

from fractions import Fraction

import pytest

from policy.examples import DESIGN, PROMISE
from privet import (
    Bayesian,
    Bins,
    Ceiling,
    Insider,
    Linker,
    Measure,
    Policy,
    PolicyError,
    Purpose,
    Reconstructor,
    Roles,
    Shift,
    Signoff,
)


def problems(text: str) -> list[str]:
    """What is said about a policy that cannot be used, line by line."""
    with pytest.raises(PolicyError) as caught:
        Policy.from_toml(text, file="p.toml")
    return str(caught.value).splitlines()


def with_keys(keys: str) -> str:
    return f'[[promise]]\nagainst = "linker"\n{keys}\n'


# What is read -----------------------------------------------------------------------


def test_the_example_of_the_design() -> None:
    policy = Policy.from_toml(DESIGN)
    linker, insider, bayesian = policy.promises
    assert "Loan ratings, research file" == policy.title
    assert Linker(["job", "country"]) == linker.against
    assert {"bankruptcy": "Discharged"} == linker.about
    assert Ceiling(Fraction(1, 2)) == linker.limit
    assert Insider(1, 2, 1) == insider.against
    assert Ceiling(below=Fraction(4, 5)) == insider.limit
    assert Bayesian(prior="uniform") == bayesian.against
    assert Shift(Fraction(51, 100), Fraction(4, 5)) == bayesian.limit
    assert (Measure(k_anonymity=5),) == policy.measures
    assert Purpose("information") == policy.purpose
    assert policy.roles == Roles(
        identifier="name",
        quasi=["job", "country", "child"],
        sensitive="bankruptcy",
        target="rating",
    )


@pytest.mark.parametrize("written", ["0.1", '"1/10"', '"10 %"', "1e-1", '"0.1"'])
def test_numbers_mean_their_digits(written: str) -> None:
    policy = Policy.from_toml(with_keys(f"at_most = {written}"))
    assert Ceiling(Fraction(1, 10)) == policy.promises[0].limit


def test_bins_and_rows() -> None:
    text = PROMISE + (
        "[bins]\nage = [18, 65.5]\nborn = [1960-01-01, 1980-01-01]\n"
        "[where]\nyear = 2024\nward = ['A', 'B']\ndead = true\nseen = 2024-05-01\n"
    )
    policy = Policy.from_toml(text)
    assert {
        "age": Bins([18, "65.5"]),
        "born": Bins(["1960-01-01", "1980-01-01"]),
    } == policy.roles.bins
    assert {
        "year": ("2024",),
        "ward": ("A", "B"),
        "dead": ("true",),
        "seen": ("2024-05-01",),
    } == policy.where


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ('against = "linker"\nknows_any = 2', Linker(knows_any=2)),
        ('against = "linker"\nknows = "job"', Linker("job")),
        ('against = "linker"\nknows = []', Linker([])),
        ('against = "insider"\nrules_out = ["Flu"]\nvictim = "Tom"', "insider"),
        (
            'against = "insider"\nrules_out = 2\nsure = ["99 %", 0.9]\nevidence = 3',
            Insider(rules_out=2, sure=["0.99", "9/10"], evidence="3"),
        ),
        (
            'against = "insider"\nhouseholds = "home"\nmembers = { alike = 0.9 }',
            Insider(households="home", members={"alike": "0.9"}),
        ),
        (
            'against = "reconstructor"\none_row_per_id = true',
            Reconstructor("restricted"),
        ),
        ('against = "bayesian"\nknows = 2\naveraging = "worlds"', "bayesian"),
        ('against = "bayesian"\nprior = { G = 0.6, B = 0.4 }', "prior"),
        ('against = "bayesian"\nsees = { smokes = 1 }', "sees"),
    ],
)
def test_adversaries(keys: str, expected: object) -> None:
    made = {
        "insider": Insider(rules_out=["Flu"], victim="Tom"),
        "bayesian": Bayesian(knows=2, averaging="worlds"),
        "prior": Bayesian(prior={"G": "3/5", "B": "2/5"}),
        "sees": Bayesian(sees={"smokes": "1"}),
    }
    promise = Policy.from_toml(f"[[promise]]\n{keys}\nat_most = 0.5").promises[0]
    assert made.get(str(expected), expected) == promise.against


def test_a_measure_is_enough() -> None:
    assert () == Policy.from_toml("[[measure]]\nk_anonymity = 2").promises


def test_earlier_releases_and_who_signs() -> None:
    text = PROMISE + (
        "[[earlier]]\ncustody = 'vault/may'\n[[earlier]]\ncustody = 'vault/june'\n"
        "[signoff]\nname = 'A. Steward'\ndate = 2026-03-31\npurpose = 'research'\n"
    )
    policy = Policy.from_toml(text)
    assert ("vault/may", "vault/june") == policy.earlier
    assert Signoff("A. Steward", "2026-03-31", "research") == policy.signoff


# What is wrong ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "p.toml: A policy must hold at least one [[promise]] or [[measure]]."),
        ("# nothing", "p.toml: A policy must hold at least one [[promise]] or"),
        ("promise = []", "p.toml: A policy must hold at least one [[promise]] or"),
        ('titel = "x"', "p.toml:1: 'titel' is not a section or key of a policy. Did "),
        ("[[promises]]", "p.toml:1: 'promises' is not a section or key of a policy. D"),
        ("[promise]", "p.toml:1: promise must be written [[promise]], once per promi"),
        ("promise = [1]", "p.toml:1: promise must be written [[promise]], once per"),
        ("columns = 5", "p.toml:1: columns must be written [columns]; got 5."),
        ("[[columns]]\n", "p.toml:1: columns must be written [columns]; got [{"),
        ("title = 5", "p.toml:1: title must be text; got 5."),
        ("[columns]\nquasi = 5", "p.toml:2: columns.quasi must be text or a list of"),
        ("[columns]\nquasy = 'x'", "p.toml:2: 'quasy' is not a key of columns. Did yo"),
        ("[columns]\ntarget = ''", "p.toml:2: columns.target must be the name of a c"),
        ("[columns]\nquasi = ['a', 'a']", "p.toml:2: columns.quasi: quasi must hold e"),
        (
            "[purpose]\nutility = 'fun'",
            "p.toml:2: purpose.utility must be 'information",
        ),
        ("[bins]\nage = 5", "p.toml:2: bins.age must be a list of numbers or dates; g"),
        ("[bins]\nage = []", "p.toml:2: bins.age must be a list of numbers or dates; "),
        ("[bins]\nage = [5, 2]", "p.toml:2: bins.age: bins must be increasing edges;"),
        ("[bins]\nage = [5, 'x']", "p.toml:2: bins.age: an edge of bins must be a num"),
        ("[bins]\nage = [5, 2020-01-01]", "p.toml:2: bins.age: bins must have edges t"),
        ("[where]\nyear = []", "p.toml:2: where.year must be a value or a list of val"),
        ("[where]\nyear = {a = 1}", "p.toml:2: where.year must be a value or a list "),
        ("[[earlier]]", "p.toml:1: earlier[1] must have custody: a folder."),
        ("[[earlier]]\ncustody = ''", "p.toml:2: earlier[1].custody must be the path "),
        ("[earlier]", "p.toml:1: earlier must be written [[earlier]], once per earlie"),
        ("[signoff]\nname = 'A'", "p.toml:1: signoff must have date, purpose too."),
        ("[signoff]\nnam = 'A'", "p.toml:2: 'nam' is not a key of signoff. Did you m"),
        ("[[measure]]", "p.toml:1: measure[1]: A measure must be one of k_anonymity, "),
        ("[[measure]]\nk_anonimity = 5", "p.toml:2: 'k_anonimity' is not a key of mea"),
        ("[[measure]]\nk_anonymity = 0", "p.toml:2: measure[1].k_anonymity must be a "),
        ("[[measure]]\nk_anonymity = 2.5", "p.toml:2: measure[1].k_anonymity must be"),
        ("[[measure]]\nk_anonymity = true", "p.toml:2: measure[1].k_anonymity must b"),
    ],
)
def test_sections(text: str, said: str) -> None:
    (one,) = problems(text)
    assert one.startswith(said)


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        (
            "",
            "p.toml:1: promise[1] must have one limit: at_most, below, from with to, ",
        ),
        ("at_most = 0.5\nbelow = 1", "p.toml:4: promise[1] must have one limit: at_mo"),
        ("from = 0.5", "p.toml:3: promise[1] must have one limit: at_most, below, fro"),
        ("at_most = 0", "p.toml:3: promise[1]: at_most must be above 0 and at most 1;"),
        ("at_most = 1.5", "p.toml:3: promise[1]: at_most must be above 0 and at most "),
        ("below = -1", "p.toml:3: promise[1]: below must be above 0 and at most 1; go"),
        ("at_most = nan", "p.toml:3: promise[1]: at_most must be a number such as 0.5"),
        ("at_most = -inf", "p.toml:3: promise[1]: at_most must be a number such as 0."),
        ("at_most = 'half'", "p.toml:3: promise[1]: at_most must be a number such as "),
        ("at_most = true", "p.toml:3: promise[1].at_most must be a number such as 0.5"),
        ("at_most = [0.5]", "p.toml:3: promise[1].at_most must be a number such as 0."),
        ("from = 0.8\nto = 0.5", "p.toml:3: promise[1]: from and to must satisfy 0 < "),
        ("within = 0.5", "p.toml:3: promise[1]: within must be at least 1; got 1/2."),
        ("at_most = 0.5\nmodel = 'bag'", "p.toml:4: promise[1].model must not be give"),
        ("at_most = 0.5\nrules_out = 1", "p.toml:4: promise[1].rules_out must not be "),
        ("at_most = 0.5\nknow = 'job'", "p.toml:4: 'know' is not a key of promise. Di"),
        ("at_most = 0.5\nknows = [1]", "p.toml:4: promise[1].knows must be text or a "),
        ("at_most = 0.5\nknows = 2", "p.toml:4: promise[1]: knows must be column name"),
        ("at_most = 0.5\nknows_any = 0", "p.toml:4: promise[1].knows_any must be a wh"),
        ("at_most = 0.5\nabout = []", "p.toml:4: promise[1].about must be text or a l"),
        ("at_most = 0.5\nabout = {}", "p.toml:4: promise[1].about must be text or a l"),
        ("at_most = 0.5\nname = 5", "p.toml:4: promise[1].name must be text; got 5."),
    ],
)
def test_promises(keys: str, said: str) -> None:
    (one,) = problems(with_keys(keys))
    assert one.startswith(said)


def test_an_adversary_is_needed_and_known() -> None:
    (one,) = problems("[[promise]]\nat_most = 0.5")
    assert one.startswith("p.toml:1: promise[1] must say against whom: linker, ")
    (one,) = problems("[[promise]]\nagainst = 'linkr'\nat_most = 0.5")
    assert one.endswith("; got \"linkr\". Did you mean 'linker'?")


def test_knowledge_that_excludes_itself_is_said_at_its_line() -> None:
    (one,) = problems(with_keys("at_most = 0.5\nknows = 'job'\nknows_any = 1"))
    assert "p.toml:4: promise[1]: A linker must have knows or knows_any; " in one


def test_columns_with_two_roles_are_all_said_at_their_lines() -> None:
    text = (
        "[columns]\nidentifier = 'a'\nquasi = ['a', 'b']\nsensitive = [\n 'b',\n]\n"
        "unit = 'c'\nweight = 'd'\n"
    )
    assert [
        "p.toml:3: columns: Column 'a' must have one role; got identifier and quasi.",
        "p.toml:4: columns: Column 'b' must have one role; got quasi and sensitive.",
        "p.toml:8: columns: unit and weight must not be given together: distinct "
        "people are counted, or multiplicities added, not both.",
    ] == problems(text + PROMISE)


def test_each_promise_has_its_own_name() -> None:
    named = 'name = "a"\n'
    text = PROMISE + named + PROMISE + PROMISE + named + PROMISE
    text += '[[measure]]\nname = "a"\nk_anonymity = 2'
    assert [
        "p.toml:14: promise[3].name must be its own; got 'a', which is promise[1]'s "
        "already.",
        "p.toml:15: promise[4].name must be its own; got 'linker about ill', which is "
        "promise[2]'s already.",
        "p.toml:20: measure[1].name must be its own; got 'a', which is promise[1]'s "
        "already.",
    ] == problems(text)


def test_an_earlier_release_is_named_once() -> None:
    twice = "[[earlier]]\ncustody = 'vault'\n" * 2
    (one,) = problems(PROMISE + twice)
    assert one.startswith("p.toml:5: earlier: earlier must hold each folder once; got")


def test_a_signature_has_a_day() -> None:
    text = "[signoff]\nname = 'A'\ndate = 'today'\npurpose = 'research'\n"
    (one,) = problems(text + PROMISE)
    assert (
        "p.toml:1: signoff: date must be a date such as 2026-03-31; got 'today'." == one
    )


def test_everything_is_said_at_once_in_the_order_of_the_file() -> None:
    text = """\
titel = "x"
[columns]
quasi = ["job"]
sensitive = ["job"]
[bins]
age = [65, 18]
[[promise]]
against = "linkr"
at_most = 1.5
[[promise]]
against = "insider"
model = "bag"
knows_others = -1
[[measure]]
k_anonymity = "many"
[porpose]
"""
    said = problems(text)
    lines = [int(line.split(":")[1]) for line in said]
    assert [1, 4, 6, 8, 9, 10, 12, 13, 15, 16] == lines


def test_values_are_quoted_as_the_file_has_them_but_not_at_any_length() -> None:
    (one,) = problems(f"title = [0.50, {{ a = true }}, '{'x' * 99}']")
    assert one.startswith('p.toml:1: title must be text; got [0.50, { a = true }, "xx')
    assert one.endswith("xx….")
