"""Values in a notebook that became a page: read in light and in dark, wide and narrow.

The cells are run, and what the last line of each shows stands below it, as `nbconvert`
puts it: the HTML of `_repr_html_` in the page's own colours. Nothing else is needed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import chdir
from html import escape
from pathlib import Path
from typing import Any

import pytest

from browser.chromium import BROWSER, Page
from privet.demo.tables import bank_path, clinic_path
from privet.display import HOMES

sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))
from making.gallery import run_code

pytestmark = pytest.mark.skipif(
    "PRIVET_BROWSER" not in os.environ or BROWSER is None,
    reason="make test-browser runs these in chromium",
)

CELLS = """
import pandas as pd
import privet as pv
from privet.demo.patients import POLICY, make_patients
from privet.release.audit import bind_table
policy = pv.Policy.from_toml(POLICY)
policy
---
patients = bind_table(pv.read(make_patients(1_000)), policy)
patients
---
audit = pv.audit(patients, policy)
audit
---
audit.worst
---
audit.exposure
---
pv.discover(patients, columns=2, confidence="0.8")
---
release = pv.publish(patients, policy, method=pv.Mondrian())
release
---
release.utility
---
bank = pv.read("bank.csv", quasi=["job", "country"], sensitive="bankruptcy",
               weight="count", drop=["child", "rating"])
half = pv.Policy([pv.Promise(pv.Linker(), pv.Ceiling("1/2"),
                             {"bankruptcy": "Discharged"}, name="half")])
pv.publish(bank, half)
---
pv.compare(bank, half, methods=["disclosure", "mondrian"])
---
pv.Tradeoff.of(bank, half, "half", ["0.5", "0.8"], methods=["disclosure"])
---
groups = pv.Groups.from_histograms([{"flu": 4, "HIV": 2}, {"flu": 3, "none": 6}])
groups
---
pv.skyline(groups, "0.9")
---
clinic = pv.read("clinic.csv", identifier="name", sensitive="problem", quasi=["age"])
views = pv.Views(clinic, ["name", "age"], ["age", "problem"])
views
---
views.connectivity()
---
sure = pv.Promise(pv.Reconstructor(), pv.Ceiling(1))
pv.publish(views, pv.Policy([sure], roles=clinic.roles))
---
frame = pd.DataFrame(make_patients(1_000).to_pandas())
columns = ["sex", "occupation", "ward"]
model = pv.NaiveBayes().fit(frame[columns].astype(str), frame["outcome"])
model.views_
---
pv.publish(model, [pv.Promise(pv.Bayesian(), pv.Shift("0.5", "0.8"))])
---
question = pv.Question("smokes", ["yes", "no"])
design = pv.Design([question], [pv.Group("smokes", pv.Flip("0.8"))], title="Health")
design
---
answers = pd.DataFrame({"smokes": ["yes"] * 50 + ["no"] * 150})
kept = pv.Policy([pv.Promise(pv.Bayesian(), pv.Ratio(12), "smokes")])
pv.disguise(answers, design, "out", custody="vault", policy=kept)
---
estimates = pv.estimate(answers, design)
estimates
---
estimates.share(smokes="yes")
---
pv.Ledger.create("ledger").add("bank.csv", title="Bank")
"""

DARK = "--c:#fff; --ground:#111; --code:#212121"
LIGHT = "--c:#212121; --ground:#fff; --code:#f5f5f5"
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>A notebook</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>
:root {{ {colours} }}
body {{ color: var(--c); background: var(--ground); margin: 1em;
        font: 14px/1.5 "DejaVu Sans", sans-serif; }}
pre {{ background: var(--code); padding: 0.5em; overflow-x: auto; }}
.output {{ overflow-x: auto; }}
table {{ border-collapse: collapse; font-size: 13px; }}
td, th {{ padding: 0.3em 0.5em; text-align: left; vertical-align: top; }}
</style></head><body id="notebook">
{cells}
</body></html>
"""


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, str, str]]:
    """Each cell, what sort of value it ends with, and its HTML."""
    folder, names = tmp_path_factory.mktemp("notebook"), dict[str, Any]()
    found = []
    with chdir(folder):
        for path in (bank_path(), clinic_path()):
            (folder / path.name).write_bytes(path.read_bytes())
        for cell in CELLS.strip().split("\n---\n"):
            value = run_code(cell, names)
            found.append((cell, type(value).__name__, value._repr_html_()))
    return found


def write_page(shown: list[tuple[str, str, str]], colours: str, path: Path) -> None:
    cells = "\n".join(
        f"<pre>{escape(code)}</pre><div class='output'>{html}</div>"
        for code, _, html in shown
    )
    path.write_text(PAGE.format(colours=colours, cells=cells), encoding="utf-8")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    found = Page(tmp_path_factory.mktemp("browser"))
    yield found
    found.close()


def test_every_sort_of_value_is_there(shown: list[tuple[str, str, str]]) -> None:
    assert set(HOMES) == {kind for _, kind, _ in shown}


FAINT = """
(() => {
  const parse = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => {
    const part = (v) => {
      v /= 255;
      return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    };
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const seen = parse(getComputedStyle(at).backgroundColor);
      if (seen.length === 3 || seen[3] > 0.99) return seen;
    }
    return [255, 255, 255];
  };
  const faint = [];
  for (const element of document.querySelectorAll('.output *')) {
    const own = [...element.childNodes].some(
      (node) => node.nodeType === 3 && node.textContent.trim());
    if (!own || ['STYLE', 'TITLE'].includes(element.tagName)) continue;
    const style = getComputedStyle(element);
    const ink = parse(element instanceof SVGElement ? style.fill : style.color);
    const [a, b] = [light(ink), light(ground(element))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) faint.push(element.textContent.trim());
  }
  return faint;
})()
"""
"""Texts with less contrast than 4.5 to 1 with what is behind them."""


@pytest.mark.parametrize("width", [1000, 390])
@pytest.mark.parametrize(("name", "colours"), [("light", LIGHT), ("dark", DARK)])
def test_a_notebook_is_read(
    name: str,
    colours: str,
    width: int,
    page: Page,
    shown: list[tuple[str, str, str]],
    tmp_path: Path,
) -> None:
    path = tmp_path / "notebook.html"
    write_page(shown, colours, path)
    page.events.clear()
    page.open(path.as_uri(), "notebook")
    pictures = Path(os.environ.get("PRIVET_PICTURES", tmp_path)).absolute()
    page.screenshot(pictures / f"notebook-{name}-{width}.png", width=width)
    assert [] == page.run(FAINT)
    assert [] == page.complaints()
    asked = [r["url"] for r in page.requests() if not r["url"].startswith("about:")]
    assert [path.as_uri()] == asked
    assert page.run("document.documentElement.scrollWidth <= innerWidth")
    drawn = page.run("document.querySelectorAll('.output svg[role=img]').length")
    assert drawn >= len(HOMES) - 1  # estimates are drawn when they are counted
