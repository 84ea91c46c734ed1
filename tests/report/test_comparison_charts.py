"""Charts of methods and limits, from summaries written out by hand."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from privet.report.chart_style import as_spec, render_inline
from privet.report.comparison_charts import EXHIBITS, draw_comparison, draw_tradeoff

EVIL = "<script>x</script>"


def make_method(name: str, worst: float | None, ncp: float, pareto: bool) -> Any:
    figures = {"worst": worst, "ncp": ncp, "seconds": 1.0}
    return {
        "name": name,
        "verdict": "safe",
        "reason": "",
        "figures": figures,
        "pareto": pareto,
    }


COMPARED = {
    "by": "ncp",
    "words": "Of 3 methods 2 keep every promise.",
    "methods": [
        make_method(f"mondrian {EVIL}", 0.4, 0.2, True),
        make_method("full-domain", 0.5, 0.6, False),
        make_method("nothing", None, 0.0, False),
    ],
}
TRADED = {
    "by": "ncp",
    "words": "A limit of 1/2 costs 0.2.",
    "swept": "nobody learns it",
    "key": "at_most",
    "methods": ["mondrian", EVIL],
    "points": [
        {"limit": limit, "method": m, "verdict": "safe", "best": best}
        for m in ("mondrian", EVIL)
        for limit, best in (("1/4", None), ("1/2", 0.25), ("3/4", 0.125))
    ],
}


@dataclass(frozen=True)
class Told:
    told: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        return self.told


def test_methods_without_a_result_are_left_out() -> None:
    spec = json.dumps(as_spec(draw_comparison(COMPARED)))
    assert "full-domain" in spec
    assert '"nothing"' not in spec
    assert draw_comparison(COMPARED, "accuracy") is None


def test_a_limit_that_nothing_reaches_has_no_point() -> None:
    spec = as_spec(draw_tradeoff(TRADED))
    assert {0.5, 0.75} == {row["limit"] for row in spec["data"]["values"]}
    assert draw_tradeoff({**TRADED, "points": []}) is None


def test_both_are_drawn_and_escape_names() -> None:
    for name, told in (("Comparison", COMPARED), ("Tradeoff", TRADED)):
        exhibit, value = EXHIBITS[name], Told(told)
        assert exhibit.picture is not None
        html = exhibit.page(value, render_inline(exhibit.picture(value)))
        assert "<svg" in html
        assert "<script" not in html
        assert exhibit.lines(value)
