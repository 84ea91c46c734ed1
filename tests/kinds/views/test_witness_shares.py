"""What a witness says of other models is what these models themselves say."""

from __future__ import annotations

import random
from fractions import Fraction

import pyarrow as pa
import pytest

import privet as pv


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("worlds", ["full", "projected"])
def test_shares_of_all_models(seed: int, worlds: str) -> None:
    """People stand several times in a key, by a column that is in one view only."""
    dice = random.Random(seed)
    rows = [
        (dice.choice("ABCD"), dice.randrange(3), dice.randrange(2), dice.choice("xyz"))
        for _ in range(dice.randint(8, 30))
    ]
    name, day, ward, ill = (list(column) for column in zip(*rows, strict=True))
    columns = pa.table({"name": name, "day": day, "ward": ward, "ill": ill})
    with pv.read(columns, identifier="name", quasi="ward", sensitive="ill") as table:
        views = pv.Views(table, ["name", "day", "ward"], ["ward", "ill"])
        who = pv.Reconstructor(model="unrestricted", worlds=worlds)
        (found,) = pv.audit(views, pv.Promise(who, pv.Ceiling("0.9"))).findings
        assert found.witness is not None
        told = found.witness.to_dict()
        about = {**told["knows"], **told["about"]}
        for model in ("restricted", "bag"):
            if (share := told["shares"][model]) is not None:
                alone = pv.belief(views, pv.Reconstructor(model=model), about=about)
                assert Fraction(share) == alone.posterior
