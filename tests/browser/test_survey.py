"""The survey page in a real browser: what it asks, shows, draws and sends."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from math import sqrt
from pathlib import Path
from threading import Thread

import pytest

import privet as pv
from browser.chromium import BROWSER, Page
from oracle.responses import of_group
from privet.responses.collect.service import Service, describe_for_browser
from privet.responses.collect.store import Store, read_answers

pytestmark = pytest.mark.skipif(
    "PRIVET_BROWSER" not in os.environ or BROWSER is None,
    reason="make test-browser runs these in chromium",
)

DESIGN = pv.Design(
    [
        pv.Question("smokes", ["no", "yes"], ask="Do you smoke?"),
        pv.Question("age", bins=[30, 50], ask="How old are you?"),
        pv.Question("town", ["North <b>", "South"], ask="Where do you live?"),
    ],
    [
        pv.Group("smokes", pv.KAry("0.75")),
        pv.Group("age", pv.KAry("0.7")),
        pv.Group("town", pv.Replace("1/2")),
    ],
    title="Habits",
)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    found = Page(tmp_path_factory.mktemp("browser"))
    yield found
    found.close()


class Open:
    """A survey that is being served."""

    def __init__(self, path: Path, design: pv.Design, *, tokens: int = 0) -> None:
        self.store = Store(path, design)
        self.tokens = self.store.issue(tokens) if tokens else []
        self.service = Service(("127.0.0.1", 0), self.store, tokens=bool(tokens))
        self.url = self.service.url
        Thread(target=self.service.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.service.shutdown()
        self.service.server_close()
        self.store.close()


@pytest.fixture
def survey(tmp_path: Path) -> Iterator[Open]:
    found = Open(tmp_path / "answers.duckdb", DESIGN)
    yield found
    found.close()


FILL = """
document.querySelector('[name=q0][value="1"]').click();
document.querySelector('[name=q1]').value = '41';
document.querySelector('[name=q2][value="0"]').click();
document.querySelector('button[type=submit]').click();
"""


def fill(page: Page, url: str) -> dict[str, str]:
    page.open(url)
    page.run(FILL)
    page.until("!document.getElementById('preview').hidden")
    shown = page.run(
        "[...document.querySelectorAll('#sent dt, #sent dd')].map(e => e.textContent)"
    )
    return dict(zip(shown[::2], shown[1::2], strict=True))


def test_only_what_is_shown_is_sent_and_kept(page: Page, survey: Open) -> None:
    page.events.clear()
    shown = fill(page, survey.url)
    posts = [r for r in page.requests() if r["method"] == "POST"]
    assert [] == posts
    page.run("document.getElementById('send').click()")
    page.until("document.getElementById('message').textContent !== ''")
    assert "kept" in page.run("document.getElementById('message').textContent")
    (post,) = [r for r in page.requests() if r["method"] == "POST"]
    sent = json.loads(post["postData"])["report"]
    assert list(shown.values()) == list(sent.values())
    assert all(r["url"].startswith(survey.url) for r in page.requests())
    assert [] == page.complaints()
    with_answers = read_answers(survey.store.path)
    assert 1 == len(with_answers.rows)
    (cells,) = with_answers.rows.engine.tabulate([list(DESIGN.columns)], pv_run())
    assert tuple(sent.values()) == cells[0][0]


def pv_run() -> object:
    from privet.engine.protocol import Run

    return Run()


def test_the_page_says_what_it_reveals(page: Page, survey: Open) -> None:
    fill(page, survey.url)
    told = page.run("document.getElementById('meaning').textContent")
    assert "by a factor of 3 at most" in told
    assert "North <b>" in page.run("document.getElementById('questions').textContent")
    if "PRIVET_PICTURES" in os.environ:
        page.screenshot(Path(os.environ["PRIVET_PICTURES"]) / "survey.png")


def test_asking_again_reveals_no_more(page: Page, survey: Open) -> None:
    page.open(survey.url)
    page.run("localStorage.clear()")
    first = fill(page, survey.url)
    for _ in range(5):
        assert first == fill(page, survey.url)
    drawn = set()
    for _ in range(30):
        page.run("localStorage.clear()")
        drawn.add(tuple(fill(page, survey.url).values()))
    assert len(drawn) > 1


def test_invitations_are_used_once(page: Page, tmp_path: Path) -> None:
    survey = Open(tmp_path / "answers.duckdb", DESIGN, tokens=1)
    try:
        for message in ("kept", "was used"):
            page.call("Page.navigate", url="about:blank")
            fill(page, f"{survey.url}#token={survey.tokens[0]}")
            page.run("document.getElementById('send').click()")
            page.until("document.getElementById('message').textContent !== ''")
            said = page.run("document.getElementById('message').textContent")
            assert message in said
        assert 1 == len(read_answers(survey.store.path).rows)
    finally:
        survey.close()


CHANNELS = {
    "flip": (pv.Flip("0.8"), [2, 2]),
    "even": (pv.KAry("0.4"), [2, 3]),
    "replace": (pv.Replace("1/3", ["1/6", "1/3", "1/2"]), [3]),
    "matrix": (pv.Matrix([[0.7, 0.2], [0.3, 0.8]]), [2]),
}


@pytest.mark.parametrize("name", CHANNELS)
@pytest.mark.filterwarnings("ignore::privet.PrivacyWarning")
def test_draws_in_the_browser_follow_the_design(
    page: Page, survey: Open, name: str
) -> None:
    """20,000 draws per truth of the page's own code, against the definition."""
    channel, sizes = CHANNELS[name]
    questions = [
        pv.Question(f"q{i}", [str(v) for v in range(s)]) for i, s in enumerate(sizes)
    ]
    design = pv.Design(questions, [pv.Group([q.name for q in questions], channel)])
    group = describe_for_browser(design, "x", tokens=False)["groups"][0]
    page.open(survey.url)
    n = 20_000
    for truth in ([0] * len(sizes), [s - 1 for s in sizes]):
        drawn = page.run(
            f"""(() => {{ const found = {{}};
              for (let i = 0; i < {n}; i += 1) {{
                const key = disguised({json.dumps(group)}, {truth}, {sizes}).join();
                found[key] = (found[key] ?? 0) + 1; }}
              return found; }})()"""
        )
        counts = Counter({tuple(map(int, k.split(","))): v for k, v in drawn.items()})
        expected = of_group(tuple(truth), sizes, channel)
        assert set(counts) <= {r for r, p in expected.items() if p}
        for report, p in expected.items():
            spread = sqrt(n * float(p) * (1 - float(p)))
            assert abs(counts[report] - n * float(p)) <= 5 * spread
            wrong = float(p * Fraction(13, 10))  # power: 30 % more would be seen
            if 0 < p < Fraction(3, 4):
                assert abs(counts[report] - n * wrong) > 5 * spread
