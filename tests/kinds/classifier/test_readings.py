"""Readings of the unknown, through the front door: words, files, policies, refusals."""

from __future__ import annotations

import json
import random
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import privet as pv
from oracle.classifiers import random_views
from oracle.test_classifiers import named
from privet.classifier.report import as_text, summary
from privet.release.manifest import digest_content

EVEN = {f"a{i}": {"v0": "1/2", "v1": "1/2"} for i in range(3)}
CEILING = pv.Ceiling("0.8")


def three() -> pv.ClassifierViews:
    """Three attributes that tell three to one."""
    return named((4, 4), [[[3, 1], [1, 3]]] * 3)


@pytest.mark.parametrize(
    ("unknown", "tilt", "expected"),
    [
        ("any", 1, Fraction(27, 28)),
        ("model", 1, Fraction(3, 4)),
        ({"shares": EVEN}, 1, Fraction(19, 28)),
        ({"shares": EVEN}, 2, Fraction(6, 7)),
        ({"marginals": EVEN}, 1, Fraction(3, 4)),
    ],
)
def test_one_attribute_known_of_three(
    unknown: Any, tilt: int, expected: Fraction
) -> None:
    for knows in (1, ["a0"], {"a0": "v0"}):
        who = pv.Bayesian(knows, unknown=unknown, tilt=tilt)
        found = pv.belief(three(), who, about="c0").posterior
        assert abs(found - expected) < Fraction(1, 10**9)


def test_the_least_belief_is_that_of_the_worst_completion() -> None:
    who = pv.Bayesian({"a0": "v0"})
    for within, verdict in (("1.99", "breach"), ("2", "safe")):
        promise = pv.Promise(who, pv.Ratio(within), about="c0")
        views = named((4, 4), [[[2, 2], [2, 2]], [[1, 3], [3, 1]]])
        (found,) = pv.audit(views, promise).findings
        assert verdict == found.verdict.value
        assert Fraction(1, 4) == found.belief.posterior
        assert {"a0": "v0", "a1": "v0"} == found.witness.knows


def test_the_exponent_of_a_reading_and_of_anything() -> None:
    exponents = [
        pv.publish(three(), pv.Promise(pv.Bayesian(1, unknown=u), CEILING)).exponent
        for u in ("any", "model")
    ]
    assert abs(float(exponents[0]) - 0.4206) < 1 / 1024  # log 4 / log 27
    assert 1 == exponents[1]


def test_the_words_follow_the_promise(tmp_path: Path) -> None:
    views = named((40, 40), [[[30, 10], [10, 30]]] * 3).smoothed()
    weak = pv.Promise(pv.Bayesian(1, unknown="model"), CEILING, name="weak")
    release = pv.publish(views, weak)
    told = as_text(summary(release))
    assert "knows at most one attribute of a person and takes the others" in told
    assert "Somebody who knows all attributes can be up to 95.7 % sure" in told
    assert "whatever they know" not in told
    release.write(
        tmp_path / "out", custody=tmp_path / "vault", accept={"inversion": "a test"}
    )
    note = (tmp_path / "out" / "README.txt").read_text()
    assert "knows at most one attribute" in note
    assert "knows all attributes can be up to 95.7 % sure" in note
    (covers,) = json.loads((tmp_path / "out" / "release.json").read_text())["covers"]
    assert "weak" == covers["promise"]
    assert Fraction(covers["knows_all"]) > Fraction("0.956")
    assert pv.verify(tmp_path / "out", custody=tmp_path / "vault").good


def test_without_a_reading_everybody_is_covered_and_said_to_be() -> None:
    release = pv.publish(three().smoothed(), pv.Promise(pv.Bayesian(1), CEILING))
    told = as_text(summary(release))
    assert "covers everybody" in told
    assert "nothing is declared about what they do not know" in told
    assert "Somebody who knows all attributes" not in told


def test_a_manifest_that_covers_others_is_refused(tmp_path: Path) -> None:
    views = named((40, 40), [[[30, 10], [10, 30]]] * 3).smoothed()
    weak = pv.Promise(pv.Bayesian(1, unknown="model"), CEILING)
    pv.publish(views, weak).write(
        tmp_path / "out", custody=tmp_path / "vault", accept={"inversion": "a test"}
    )
    path = tmp_path / "out" / "release.json"
    content = json.loads(path.read_text())
    content["covers"][0]["knows_all"] = "4/5"
    content["digest"] = digest_content(content)  # whoever forges one forges both
    path.write_text(json.dumps(content))
    assert any("covers of" in p for p in pv.verify(tmp_path / "out").problems)


@pytest.mark.parametrize("seed", range(25))
def test_whole_counts_are_written_whatever_is_promised(
    seed: int, tmp_path: Path
) -> None:
    dice = random.Random(seed)
    sizes, cells = random_views(dice, classes=4, rows=40)
    limit = dice.choice([CEILING, pv.Ceiling(below="0.75"), pv.Ratio(2)])
    who = dice.choice(
        [
            pv.Bayesian(knows=1),
            pv.Bayesian(knows=1, unknown="model"),
            pv.Bayesian(averaging="worlds"),
            pv.Bayesian(),
        ]
    )
    try:
        release = pv.publish(named(sizes, cells), pv.Promise(who, limit))
    except pv.Infeasible:
        return
    release.write(
        tmp_path / "out",
        custody=tmp_path / "vault",
        accept={"inversion": "a test"},
        counts=True,
    )
    assert pv.verify(tmp_path / "out", custody=tmp_path / "vault").good


@pytest.mark.parametrize(
    ("keys", "rule"),
    [
        ({"unknown": "nothing"}, "unknown must be"),
        ({"unknown": {"shares": {"a0": {"v0": "1/2"}}}}, "must sum to 1"),
        ({"unknown": {"shares": {}}}, "must be per attribute"),
        ({"unknown": {"shares": {"a0": 3}}}, "must be per value"),
        ({"unknown": {"table": [3]}}, "must be rows"),
        ({"unknown": {"guesses": {}}}, "unknown must be"),
        ({"tilt": 2}, "tilt must go with"),
        ({"unknown": {"shares": EVEN}, "tilt": "1/2"}, "tilt must be at least 1"),
        ({"unknown": {"shares": EVEN}, "averaging": "worlds"}, "averages over worlds"),
    ],
)
def test_nonsense_is_refused_at_birth(keys: dict[str, Any], rule: str) -> None:
    with pytest.raises(pv.InputError, match=rule):
        pv.Bayesian(1, **keys)


@pytest.mark.parametrize(
    ("unknown", "rule"),
    [
        ({"shares": {"a0": {"v0": 1}}}, "'a1' has none"),
        ({"shares": {**EVEN, "a9": {"v0": 1}}}, "must be one the classifier looks at"),
        ({"shares": {**EVEN, "a0": {"v7": 1}}}, "'v7' does not"),
        ({"table": [{"a0": "v0", "a1": "v0"}]}, "every attribute in every row"),
    ],
)
def test_what_does_not_fit_the_classifier_is_refused(unknown: Any, rule: str) -> None:
    with pytest.raises(pv.InputError, match=rule):
        pv.belief(three(), pv.Bayesian(1, unknown=unknown), about="c0")


def test_a_reading_survives_the_policy_file() -> None:
    readings = [
        {"shares": EVEN},
        {"marginals": EVEN},
        {"table": [{"a0": "v0", "a1": "v1", "a2": "v0"}]},
        "model",
    ]
    promises = [
        pv.Promise(pv.Bayesian(1, unknown=r), CEILING, about="c0", name=f"p{i}")
        for i, r in enumerate(readings)
    ]
    policy = pv.Policy(promises)
    assert promises == list(pv.Policy.from_toml(policy.to_toml()).promises)


def test_too_many_completions_are_bounded_by_whoever_knows_all() -> None:
    views = named((8, 8), [[[6, 2], [2, 6]]] * 21)
    shares = {f"a{i}": {"v0": "1/2", "v1": "1/2"} for i in range(21)}
    promise = pv.Promise(pv.Bayesian(1, unknown={"shares": shares}), CEILING)
    (found,) = pv.audit(views, promise).findings
    assert "undecided" == found.verdict.value
    safe = pv.publish(views, promise)
    assert "safe" == safe.audit.findings[0].verdict.value
    assert (
        safe.exponent == pv.publish(views, pv.Promise(pv.Bayesian(), CEILING)).exponent
    )


@pytest.mark.parametrize(
    ("given", "key"),
    [
        ({"unrelated": True}, "unrelated"),
        ({"unrelated": ["home"]}, "unrelated"),
        ({"sees": {"home": "W"}}, "sees"),
        ({"prior": "any"}, 'prior = "any"'),
    ],
)
def test_what_is_for_disguised_rows_only_is_refused(
    given: dict[str, object], key: str
) -> None:
    counts = {"home": {"W": {"a": 3, "b": 1}, "P": {"a": 1, "b": 4}}}
    views = pv.ClassifierViews.from_counts({"a": 4, "b": 5}, counts).smoothed()
    promise = pv.Promise(pv.Bayesian(**given), pv.Ceiling("0.9"), name="for a survey")
    said = f"Promise 'for a survey' must leave out {key} to be about a classifier"
    for judge in (pv.audit, pv.publish):
        with pytest.raises(pv.InputError, match=re.escape(said)):
            judge(views, promise)
    card = pv.publish(views, pv.Promise(pv.Bayesian(), pv.Ceiling("0.9"))).card
    with pytest.raises(pv.InputError, match=re.escape(said)):
        pv.audit(card, promise)
