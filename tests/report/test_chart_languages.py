"""Every word of a chart is said: in a language made up for it no English is left.

Its catalogue has each sentence in full-width letters (`ｈｏｗ ｓｕｒｅ`). Whatever a
chart shows in ordinary letters was not said, unless it is a name of the data, which all
begin with `Q` here, or of a method.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from string import Formatter
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest
from babel.messages.catalog import Catalog

import privet as pv
from privet import languages
from privet.display import HOMES, find_exhibit
from privet.languages import speak, translate
from privet.report.chart_style import render_inline, render_png

from .test_languages import EXTRACTION, OTHERS, SOURCES, WRITTEN

WIDE = {ord(c): ord(c) + 0xFEE0 for c in map(chr, range(0x21, 0x7F)) if c.isalpha()}

NAMES = re.compile(r"\bQ[\w-]*|\b(disclosure|mondrian|at_most|class|view-\d)\b")
"""What is not ours to translate: names of the data, methods, keys, kinds of files."""


def widen(sentence: str) -> str:
    """The same in full-width letters; names of parts stay."""
    told = ""
    for text, name, form, _ in Formatter().parse(sentence):
        told += text.translate(WIDE).replace("{", "{{").replace("}", "}}")
        told += "" if name is None else f"{{{name}{f':{form}' if form else ''}}}"
    return told


def make_catalogue(folder: Path, extraction: ModuleType) -> None:
    """A catalogue of a made-up language, in the place of German."""
    made = Catalog(locale="de", fuzzy=False)
    for message in WRITTEN:
        if isinstance(message.id, str) and message.id:
            made.add(message.id, widen(message.id))
        elif message.id:
            made.add(message.id, tuple(map(widen, message.id)))
    place = folder / "de" / "LC_MESSAGES"
    place.mkdir(parents=True)
    (place / "privet.mo").write_bytes(extraction.as_mo(extraction.as_po(made), "de"))


@pytest.fixture
def made_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    make_catalogue(tmp_path / "locale", EXTRACTION)
    monkeypatch.setattr(languages, "CATALOGUES", tmp_path / "locale")
    languages._find_catalogue.cache_clear()
    with speak("de"):
        yield
    languages._find_catalogue.cache_clear()


def list_texts(chart: Any) -> list[str]:
    """What is to be read in a chart, and what is read out instead of it."""
    svg = render_inline(chart)
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", svg)
    (said,) = re.findall(r'^<svg role="img" aria-label="([^"]*)"', svg)
    return [unescape(t) for t in (*texts, said)]


def list_english(texts: list[str]) -> list[str]:
    """Texts with words in ordinary letters, two of them at least."""
    return [t for t in texts if re.search(r"[A-Za-z]{2}", NAMES.sub("", t))]


# Values with charts -----------------------------------------------------------------


def read_people(rows: int = 240, ages: int = 2) -> pv.Table:
    dice = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "Qjob": dice.choice(["Qcook", "Qjudge", None], rows),
            "Qtown": dice.choice([f"Q{c}" for c in "abcdefgh"], rows),
            "Qage": dice.integers(20, 20 + ages, rows),
            "Qill": dice.choice(["Qflu", "Qnone", "Qhiv"], rows, p=[0.3, 0.6, 0.1]),
        }
    )
    return pv.read(frame, quasi=["Qtown", "Qage"], sensitive="Qill", target="Qjob")


PROMISES = [
    pv.Promise(pv.Linker(["Qtown"]), pv.Ceiling(level), {"Qill": value}, f"Q{value}")
    for level, value in (("0.12", "Qhiv"), ("0.9", "Qflu"))
]


def show_table(_: Path) -> Any:
    people = read_people()
    yield people, {"nearest": {"about": "Qill", "limit": "0.4"}}
    yield people.groups(), {"nearest": {"limit": "0.4"}}
    policy = pv.Policy(promises=PROMISES, roles=people.roles)
    yield policy, {}
    found = pv.audit(people, policy)
    yield found, {}
    yield found.findings[0], {}
    yield found.exposure, {}
    yield pv.skyline(people, "0.99"), {}
    yield pv.discover(people, confidence="0.4"), {}


def show_release(_: Path) -> Any:
    policy = pv.Policy(promises=PROMISES)
    release = pv.publish(read_people(ages=40), policy, method=pv.TopDownDisclosure())
    asked = {"column": {"column": "Qtown"}, "pair": {"columns": ["Qtown", "Qage"]}}
    yield release, asked
    yield release.utility, {}


def show_views(_: Path) -> Any:
    rows = {
        "Qname": [f"Q{c}" for c in "abcdefgh"],
        "Qage": ["Q2", "Q3", "Q4", "Q5"] * 2,
        "Qjob": ["Qx", "Qy"] * 4,
        "Qproblem": ["Qhiv", "Qflu", "Qcold", "Qflu"] * 2,
    }
    table = pv.read(
        pd.DataFrame(rows),
        identifier="Qname",
        quasi=["Qage", "Qjob"],
        sensitive="Qproblem",
    )
    views = pv.Views(table, ["Qage", "Qjob"], ["Qjob", "Qproblem"])
    about = {"Qage": "*", "Qproblem": "*"}
    yield views, {which: {"about": about} for which in ("graph", "keys", "worst")}
    yield views.connectivity(about), {}
    promise = pv.Promise(pv.Reconstructor(), pv.Ceiling(1), about, "Qage")
    yield pv.publish(views, [promise]), {}


def show_classifier(_: Path) -> Any:
    dice = np.random.default_rng(3)
    rows = pd.DataFrame({c: dice.choice(["Qx", "Qy"], 90) for c in ("Qa", "Qb")})
    classes = pd.Series(dice.choice(["Qyes", "Qno"], 90), name="Qclass")
    model = pv.NaiveBayes().fit(rows, classes)
    prior = {"Qyes": "1/2", "Qno": "1/2"}
    promise = pv.Promise(pv.Bayesian(), pv.Shift("0.51", "0.9"), None, "Qmind")
    release = pv.publish(model, pv.Policy([promise]))
    yield release.made.views, {"closeness": {"prior": prior}}
    yield release, {"reliability": {"X": rows, "y": classes}}


def show_survey(_: Path) -> Any:
    asked = [pv.Question("Qsmokes", ["Qno", "Qyes"])]
    design = pv.Design(asked, [pv.Group("Qsmokes", pv.KAry("0.75"))], title="Qhabits")
    answers = pd.DataFrame({"Qsmokes": ["Qno", "Qno", "Qyes"] * 40})
    yield design, {"channel": {"column": "Qsmokes"}}
    yield pv.Responses(pv.read(answers), design), {}
    estimates = pv.estimate(answers, design)
    yield estimates, {}
    yield estimates.share(Qsmokes="Qno"), {}


def show_comparisons(folder: Path) -> Any:
    people = read_people()
    policy = pv.Policy(promises=PROMISES[1:], roles=people.roles)
    both = ["disclosure", "mondrian"]
    yield pv.compare(people, policy, methods=both), {}
    yield pv.Tradeoff.of(people, policy, "QQflu", ["0.8", "0.9"], methods=both), {}
    (folder / "Qt.csv").write_text("Qa,Qb\n1,2\n", encoding="utf-8")
    yield pv.Ledger.create(folder / "Qledger").add(folder / "Qt.csv", title="Qt"), {}


SHOWN = {
    show_table: {
        *("Audit", "Discovery", "Exposure", "Finding", "Frontier", "Groups"),
        *("Policy", "Table"),
    },
    show_release: {"Release", "UtilityReport"},
    show_views: {"ConnectivityGraph", "Views", "ViewsRelease"},
    show_classifier: {"ClassifierRelease", "ClassifierViews"},
    show_survey: {"Design", "Estimate", "Estimates", "Responses"},
    show_comparisons: {"Comparison", "Ledger", "Tradeoff"},
}
"""What has charts, each in some test."""


def draw_all(folder: Path, shown: Any) -> Iterator[tuple[str, Any]]:
    """Every chart of some values, with its name."""
    for value, options in shown(folder):
        for which in find_exhibit(value).charts:
            chart = value.chart(which, **options.get(which, {}))
            yield f"{type(value).__name__}: {which}", chart


@pytest.mark.filterwarnings("ignore::privet.PrivacyWarning")
@pytest.mark.parametrize("shown", SHOWN, ids=lambda s: s.__name__)
def test_no_word_of_a_chart_is_left_in_english(
    tmp_path: Path, made_up: None, shown: Any
) -> None:
    drawn = {n: list_texts(c) for n, c in draw_all(tmp_path, shown)}
    assert SHOWN[shown] == {name.partition(":")[0] for name in drawn}
    assert {} == {n: found for n, t in drawn.items() if (found := list_english(t))}


def test_every_value_with_charts_is_looked_at() -> None:
    assert set(HOMES) == set.union(*SHOWN.values())


def test_a_word_that_is_not_said_is_found(made_up: None) -> None:
    assert ["how sure"] == list_english(["how sure", translate("how sure"), "Qjob 1"])


# What is written in the sources -----------------------------------------------------

TITLED = {"percent_axis", "count_axis", "finish"}
NAMED = ("title", "text")
"""What holds words: of a call, or of a piece of Vega-Lite."""


def list_bare_titles(source: str) -> Iterator[str]:
    """Titles of axes, legends and charts that are plain text."""
    for node in ast.walk(ast.parse(source)):
        given: list[ast.expr] = []
        if isinstance(node, ast.Dict):
            pairs = zip(node.keys, node.values, strict=True)
            given = [v for k, v in pairs if getattr(k, "value", "") in NAMED]
        elif isinstance(node, ast.Call):
            given = [k.value for k in node.keywords if k.arg in NAMED]
            given += node.args if getattr(node.func, "id", "") in TITLED else []
        for value in given:
            text = value.value if isinstance(value, ast.Constant) else ""
            if isinstance(value, ast.JoinedStr):
                parts = [v.value for v in value.values if isinstance(v, ast.Constant)]
                text = "".join(map(str, parts))
            if re.search(r"[A-Za-z]{2}", str(text or "")) and ":" not in str(text):
                yield str(text)


CHARTS = sorted(
    p
    for p in SOURCES.rglob("*.py")
    if "privet.report.chart_style import" in p.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("path", CHARTS, ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_titles_are_said(path: Path) -> None:
    assert [] == list(list_bare_titles(path.read_text(encoding="utf-8")))


def test_a_bare_title_is_found() -> None:
    source = (
        'finish(c, "Who", say("Whom"), f"of {n}")\n'
        'field("a:N", title="chance", legend={"title": "odds", "format": "%"})'
    )
    assert ["Who", "of ", "chance", "odds"] == list(list_bare_titles(source))


# In the languages that there are ----------------------------------------------------


@pytest.mark.parametrize("language", OTHERS)
def test_a_legend_is_not_cut_in_any_language(language: str) -> None:
    asked = [pv.Question("smokes", ["no", "yes"])]
    with speak(language):
        design = pv.Design(asked, [pv.Group("smokes", pv.KAry("0.75"))])
        said = translate("how sure a report makes of what was thought even")
        assert f">{said}<" in render_inline(design.chart())


@pytest.mark.parametrize("language", OTHERS)
def test_a_chart_is_drawn_in_each_language(language: str) -> None:
    with speak(language):
        found = pv.audit(read_people(), PROMISES)
        chart = found.chart()
        texts = list_texts(chart)
        expected = translate("How sure somebody could be, promise by promise")
    assert expected in texts
    assert {"how sure", "knowing nothing", "broken"}.isdisjoint(texts)
    assert render_png(chart).startswith(b"\x89PNG")
