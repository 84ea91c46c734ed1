"""A newcomer's measure is one record: everything else reads it."""

from __future__ import annotations

import csv
import random
from dataclasses import replace
from fractions import Fraction
from io import StringIO
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from jsonschema import Draft202012Validator

import privet as pv
from privet.microdata.privacy_models.class_scores import Batch, GroupScores, score_ratio
from privet.microdata.privacy_models.models import MODELS, PrivacyModel, Steering
from privet.policy.file_keys import schema
from privet.policy.measures import AT_MOST

POLICY = """\
[columns]
quasi = ["age", "job"]
sensitive = "ill"

[[measure]]
simpson_index = 0.4

[[promise]]
against = "linker"
below = 1
"""


def score_simpson_index(measure: pv.Measure, batch: Batch) -> GroupScores:
    """Simpson's index: the chance that two people of a class have one value."""
    pairs = np.add.reduceat(batch.groups.n**2, batch.groups.start[:-1])
    return score_ratio(pairs, batch.groups.total**2, measure)


SIMPSON = PrivacyModel(
    key="simpson_index",
    meaning="the largest chance that two people who look alike have the same value",
    sense=AT_MOST,
    most=Fraction(1),
    share=True,
    score=score_simpson_index,
    monotone=True,
    steer=lambda measure: Steering(scored=True),
    sentence="Two people who look alike have the same value in up to {value}{who}.",
)


@pytest.fixture
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """This record, and nothing else."""
    monkeypatch.setitem(MODELS, SIMPSON.key, SIMPSON)


def patients() -> pv.Table:
    dice = random.Random(7)
    rows = [
        (dice.randint(20, 60), dice.choice(["Cook", "Judge"]), dice.choice("abcd"))
        for _ in range(200)
    ]
    columns = dict(zip(("age", "job", "ill"), zip(*rows, strict=True), strict=True))
    return pv.read(pa.table({c: list(v) for c, v in columns.items()}))


def simpson(rows: list[dict[str, str]]) -> Fraction:
    """The index by its definition, pair by pair, each with itself, too."""
    worst = Fraction(0)
    for row in rows:
        alike = [
            r["ill"] for r in rows if (r["age"], r["job"]) == (row["age"], row["job"])
        ]
        same = sum(a == b for a in alike for b in alike)
        worst = max(worst, Fraction(same, len(alike) ** 2))
    return worst


def test_nobody_knows_it_before() -> None:
    with pytest.raises(pv.PolicyError, match="'simpson_index' is not a key of measure"):
        pv.Policy.from_toml(POLICY)


@pytest.mark.usefixtures("_registered")
def test_a_policy_takes_it() -> None:
    policy = pv.Policy.from_toml(POLICY)
    (measure,) = policy.measures
    assert pv.Measure(simpson_index="0.4") == measure
    assert "simpson_index at most 2/5" == measure.name
    assert policy == pv.Policy.from_toml(policy.to_toml())
    with pytest.raises(pv.InputError, match="at least 0 and at most 1; got 2"):
        pv.Measure(simpson_index=2)
    with pytest.raises(pv.InputError, match="k must go with alpha_k_anonymity"):
        pv.Measure(simpson_index=1, k=3)


@pytest.mark.usefixtures("_registered")
def test_the_schema_has_it() -> None:
    accepts = Draft202012Validator(schema()).is_valid
    assert accepts({"measure": [{"simpson_index": 0.4}]})
    assert not accepts({"measure": [{"simpson_index": 2}]})
    assert not accepts({"measure": [{"simpson_index": 0.4, "k_anonymity": 2}]})
    assert not accepts({"measure": [{"simpson_index": 0.4, "c": 2}]})


def test_an_option_goes_with_every_measure_that_has_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    several = replace(SIMPSON, options=("k",), required={"k": "5"})
    monkeypatch.setitem(MODELS, several.key, several)
    accepts = Draft202012Validator(schema()).is_valid
    for key in ("simpson_index", "alpha_k_anonymity"):
        assert accepts({"measure": [{key: 1, "k": 2}]})
    assert not accepts({"measure": [{"simpson_index": 1}]})
    assert not accepts({"measure": [{"t_closeness": 1, "k": 2}]})
    with pytest.raises(pv.InputError, match="simpson_index must have k, such as 5"):
        pv.Measure(simpson_index=1)


@pytest.mark.usefixtures("_registered")
def test_an_audit_judges_it_and_says_so() -> None:
    groups = pv.Groups.from_histograms([{"a": 1, "b": 1}, {"a": 3, "b": 1}])
    (found,) = pv.audit(groups, pv.Measure(simpson_index="0.6")).findings
    assert Fraction(10, 16) == found.value
    assert pv.Verdict.BREACH is found.verdict
    assert (
        "Two people who look alike have the same value in up to 62.5 % "
        "(4 people: group is 2)." == found.explain()
    )


@pytest.mark.usefixtures("_registered")
def test_mondrian_keeps_it(tmp_path: Path) -> None:
    policy = pv.Policy.from_toml(POLICY)
    release = pv.publish(patients(), policy, method=pv.Mondrian())
    assert len(release.grouped.partition) > 1  # type: ignore[union-attr]
    release.write(tmp_path / "out", custody=tmp_path / "kept", format="csv")
    assert pv.verify(tmp_path / "out").good
    (file,) = (tmp_path / "out").glob("*.csv")
    rows = list(csv.DictReader(StringIO(file.read_text(encoding="utf-8"))))
    assert 200 == len(rows)
    assert release.audit.findings[-1].value == simpson(rows) <= Fraction("0.4")
    assert release.before.findings[-1].value == 1  # type: ignore[union-attr]


def test_what_may_be_worsened_does_not_steer() -> None:
    with pytest.raises(ValueError, match="A model that steers must be monotone"):
        replace(SIMPSON, monotone=False)
