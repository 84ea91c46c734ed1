"""A new adversary is one value and one judge; everything else finds it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, ClassVar

import attrs
import jsonschema
import pyarrow as pa
import pytest

import privet as pv
from privet.engine.protocol import CountQuery, Run
from privet.findings import Basis, Finding, Witness
from privet.microdata import KIND
from privet.policy import Promise
from privet.policy.file_keys import schema
from privet.release.kinds import Warn
from privet.table import Table
from privet.values import adversaries
from privet.values.adversaries import Adversary
from privet.values.key_forms import NAME, Key


@attrs.frozen
class Neighbour(Adversary):
    """Somebody who knows where a person lives, and nothing else."""

    kind: ClassVar[str] = "neighbour"
    looks_at: ClassVar[tuple[str, ...]] = ("groups",)
    keys: ClassVar[Mapping[str, Key]] = {"street": Key(NAME, "Where people live.")}
    street: str = "street"

    def words(self) -> str:
        return f"a neighbour who knows a person's {self.street}"

    def to_dict(self) -> dict[str, Any]:
        return {"against": self.kind, "street": self.street}

    def list_known_columns(self) -> tuple[str, ...]:
        return (self.street,)


def judge_neighbours(
    table: Table, promises: Sequence[Promise], run: Run, warn: Warn
) -> list[Finding]:
    """The largest share of one value among the people of one street."""
    found = []
    for promise in promises:
        assert isinstance(promise.against, Neighbour)
        query = CountQuery((promise.against.street,), table.protected())
        (counted,) = (groups for _, groups in table.count([query], run))
        shares = [
            (Fraction(n, sum(histogram.values())), n, street, value)
            for street, histogram in (
                (counted.labels(g)[0], counted.histogram(g))
                for g in range(len(counted))
            )
            for value, n in histogram.items()
        ]
        share, n, street, value = max(shares)
        witness = Witness(
            knows={promise.against.street: street},
            column=table.protected(),
            value=value,
            part=n,
            whole=int(n / share),
            prior_part=1,
            prior_whole=2,
            counted="rows",
        )
        assert isinstance(promise.limit, pv.Ceiling)
        kept = share <= promise.limit.level
        verdict = pv.Verdict.SAFE if kept else pv.Verdict.BREACH
        found.append(
            Finding(promise, verdict, Basis.EXACT, witness.belief, witness, groups=2)
        )
    return found


@pytest.fixture
def neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a newcomer would write: an entry in `KINDS`, and one among the judges."""
    monkeypatch.setitem(adversaries.KINDS, "neighbour", Neighbour)
    judges = {**KIND.judges, (Table, Neighbour): judge_neighbours}
    monkeypatch.setattr("privet.microdata.KIND", replace(KIND, judges=judges))


POLICY = """
[columns]
quasi = ["street"]
sensitive = "ill"

[[promise]]
name = "neighbours"
against = "neighbour"
street = "street"
at_most = 0.5
"""


@pytest.mark.usefixtures("neighbours")
def test_a_new_adversary_is_one_value_and_one_judge() -> None:
    policy = pv.Policy.from_toml(POLICY)
    assert Neighbour("street") == policy.promises[0].against
    street, ill = ["High", "High", "High", "Low"], ["flu", "flu", "no", "no"]
    table = pv.read(pa.table({"street": street, "ill": ill}))
    found = pv.audit(table, policy)
    assert Fraction(1) == found.findings[0].belief.posterior
    assert pv.Verdict.BREACH == found.verdict
    assert "a neighbour who knows a person's street" in str(found).lower()


@pytest.mark.usefixtures("neighbours")
def test_the_schema_and_the_errors_know_it() -> None:
    promise = {"against": "neighbour", "street": "street", "at_most": 0.5}
    jsonschema.validate({"promise": [promise]}, schema())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"promise": [{**promise, "model": "bag"}]}, schema())
    foreign = POLICY.replace('against = "neighbour"', 'against = "linker"')
    with pytest.raises(pv.PolicyError, match="it goes with neighbour"):
        pv.Policy.from_toml(foreign)
    missing = pv.Policy(promises=[Promise(Neighbour("road"), pv.Ceiling("1/2"))])
    rows = pa.table({"street": ["a"], "ill": ["b"]})
    table = pv.read(rows, quasi="street", sensitive="ill")
    with pytest.raises(pv.PolicyError, match="got 'road'"):
        pv.audit(table, missing)
