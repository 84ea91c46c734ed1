"""Charts of methods and limits, from summaries written out by hand."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from typing import Any

from privet import Comparison, Tradeoff
from privet.comparison.method_figures import TABLE, VIEWS, MethodResult
from privet.comparison.tradeoff import TradeoffPoint
from privet.report.chart_style import WIDTH, as_spec
from privet.report.comparison_charts import (
    HEIGHT,
    LETTER,
    LINE,
    draw_comparison,
    draw_tradeoff,
    find_heights,
    place_labels,
)

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


def test_methods_without_a_result_are_left_out() -> None:
    spec = json.dumps(as_spec(draw_comparison(COMPARED)))
    assert "full-domain" in spec
    assert '"nothing"' not in spec
    assert draw_comparison(COMPARED, "accuracy") is None


def test_a_limit_that_nothing_reaches_has_no_point() -> None:
    spec = as_spec(draw_tradeoff(TRADED))
    assert {0.5, 0.75} == {row["limit"] for row in spec["data"]["values"]}
    assert draw_tradeoff({**TRADED, "points": []}) is None


def test_the_axis_of_limits_says_what_they_are() -> None:
    axis = as_spec(draw_tradeoff(TRADED))["encoding"]["x"]["axis"]
    assert ("how sure somebody may be, at the most", "%") == (
        axis["title"],
        axis["format"],
    )
    measured = as_spec(draw_tradeoff({**TRADED, "key": "k_anonymity"}))
    assert "level of k_anonymity" == measured["encoding"]["x"]["axis"]["title"]


def test_both_are_drawn_and_escape_names() -> None:
    for value in (make_comparison(), make_tradeoff()):
        html = value._repr_html_()
        assert "<svg" in html
        assert "<script" not in html


def make_tradeoff() -> Tradeoff:
    limits = Fraction(3, 4), Fraction(1, 2)
    methods = ("mondrian", EVIL)
    points = [
        TradeoffPoint(n, m, MethodResult(m, "", TABLE, "safe"), v, v, n)
        for m in methods
        for n, v in zip(limits, (0.125, 0.4166963790507884), strict=True)
    ]
    return Tradeoff("nobody learns it", "at_most", limits, methods, tuple(points))


def test_a_trade_off_in_a_notebook_has_limits_by_methods() -> None:
    html = make_tradeoff()._repr_html_()
    assert "0.4166963790507884" not in html
    cells = ("0.5", "0.417 ", "0.417 ")
    assert cells == tuple(re.findall(">([^<]*)</td>", html)[:3])


def make_comparison() -> Comparison:
    figures = {"worst": Fraction(2, 5), "ncp": 0.25, "seconds": 1.0}
    kept = MethodResult(f"mondrian {EVIL}", "", TABLE, "safe", figures=figures)
    refused = MethodResult("views", "", VIEWS, "refused", f"No {EVIL}.")
    return Comparison((kept, refused), 9)


def test_a_comparison_in_a_notebook_has_its_figures_and_its_reasons() -> None:
    html = make_comparison()._repr_html_()
    assert all(f">{cell}</td>" in html for cell in ("0.250", "40 %", "*"))
    assert "<li>views: refused. No &lt;script&gt;x&lt;/script&gt;.</li>" in html
    assert "These figures tell of the private table." in html


CLOSE = [
    *(("disclosure", 0.5, 0.31), ("disclosure-distortion", 0.5, 0.3)),
    *(("mondrian", 0.48, 0.12), ("same-cuts", 0.49, 0.14), ("buckets", 0.49, 0.13)),
    *(("full-domain", 0.47, 0.15), ("subtrees", 0.46, 0.14), ("arx", 0.47, 0.155)),
    *(("split-views", 0.99, 0.0), ("as-it-is", 1.0, 0.0), ("pycanon", 1.0, 0.01)),
]


def test_labels_of_methods_that_lie_close_do_not_overlap() -> None:
    rows = [{"method": m, "worst": w, "cost": c} for m, w, c in CLOSE]
    low, high = find_heights(rows)
    boxes = []
    for label in place_labels(rows):
        x = label["worst"] * WIDTH + label["dx"]
        y = (high - label["cost"]) / (high - low) * HEIGHT + label["dy"]
        wide = LETTER * len(label["method"])
        left = x - wide if label["align"] == "right" else x
        assert left >= 0
        assert left + wide <= WIDTH
        boxes.append((left, y, left + wide))
    assert len(CLOSE) == len(boxes)
    for i, (left, y, right) in enumerate(boxes):
        for other, at, end in boxes[:i]:
            assert right <= other or end <= left or abs(y - at) >= LINE - 1


def test_methods_at_one_place_share_a_label() -> None:
    rows = [{"method": m, "worst": 0.5, "cost": 0.25} for m in ("one", "two")]
    assert ["one, two"] == [label["method"] for label in place_labels(rows)]
