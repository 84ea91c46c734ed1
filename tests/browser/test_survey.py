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
from time import sleep
from typing import Any

import pytest

import privet as pv
from browser.chromium import BROWSER, Page
from oracle.responses import of_group
from privet.responses.channels import Keep
from privet.responses.collect.service import Service
from privet.responses.collect.store import Store, open_database, read_answers
from privet.responses.collect.survey_page import describe_for_browser, name_survey

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

    def __init__(
        self, path: Path, design: pv.Design, *, tokens: int = 0, **more: Any
    ) -> None:
        self.store = Store(path, design)
        self.tokens = self.store.issue(tokens) if tokens else []
        self.service = Service(
            ("127.0.0.1", 0), self.store, tokens=bool(tokens), **more
        )
        self.url = self.service.url
        self._thread = Thread(target=self.service.run, daemon=True)
        self._thread.start()

    @property
    def rows(self) -> list[Any]:
        with open_database(self.store.path, read_only=True) as con:
            return con.execute("SELECT * FROM answers").fetchall()

    def close(self) -> None:
        self.service.stop()
        self._thread.join(30)


@pytest.fixture
def survey(tmp_path: Path) -> Iterator[Open]:
    found = Open(tmp_path / "answers.duckdb", DESIGN)
    yield found
    found.close()


FILL = """
document.querySelector('[name=q0][value="1"]').click();
document.querySelector('[name=q2][value="0"]').click();
document.querySelector('[name=q1]').focus();
"""
SEND = "document.querySelector('#form button').click()"
AGE = "41.7351928"
"""An answer that is found wherever it is written."""


def fill(page: Page, url: str, *, age: str = AGE) -> None:
    page.open(url)
    page.run(FILL)
    page.type(age)
    assert age == page.run("document.querySelector('[name=q1]').value")


def shown(page: Page) -> dict[str, str]:
    page.until("document.getElementById('done')?.hidden === false")
    found = page.run(
        "[...document.querySelectorAll('#sent dt, #sent dd')].map(e => e.textContent)"
    )
    return dict(zip(found[::2], found[1::2], strict=True))


def answer(page: Page, url: str) -> dict[str, str]:
    fill(page, url)
    page.run(SEND)
    return shown(page)


def posts(page: Page) -> list[dict[str, Any]]:
    sent = [r for r in page.requests() if r["method"] == "POST"]
    return [json.loads(r["postData"]) for r in sent]


def told(page: Page) -> str:
    page.until("!/^(Sending …)?$/.test(document.getElementById('message').textContent)")
    return str(page.run("document.getElementById('message').textContent"))


# Asking and sending -----------------------------------------------------------------


def test_only_what_is_shown_is_sent_and_kept(page: Page, survey: Open) -> None:
    page.events.clear()
    fill(page, survey.url)
    assert [] == posts(page)
    page.run(SEND)
    seen = shown(page)
    assert "Thank you." == told(page)
    (sent,) = posts(page)
    assert {"report", "submission"} == set(sent)
    assert list(seen.values()) == list(sent["report"].values())
    assert AGE not in json.dumps(sent)
    ours = [r["url"] for r in page.requests() if r["url"] != "about:blank"]
    assert all(url.startswith(survey.url) for url in ours)
    assert [] == page.complaints()
    assert [tuple(sent["report"].values())] == survey.rows
    assert 1 == len(read_answers(survey.store.path).rows)


def test_the_page_says_what_it_reveals(page: Page, survey: Open) -> None:
    """The record first: 3 times 14/3 times 3 is 42, which moves 1 in 10 to 83 %."""
    page.open(survey.url)
    lines = page.run(
        "[...document.querySelectorAll('#meaning tr')]"
        ".map(row => [...row.children].map(e => e.textContent))"
    )
    assert [
        ["Somebody who knows how your answers hang together"],
        ["of anything you answered", "83 %", "98 %"],
        ["Somebody to whom your other answers say nothing about it"],
        ["Do you smoke?", "25 %", "75 %"],
        ["How old are you?", "35 %", "83 %"],
        ["Where do you live?", "25 %", "75 %"],
    ] == lines
    examples = page.run("document.getElementById('example').textContent")
    assert "Of 1,000 people who answer “no”, about 750 send just that" in examples
    assert "North <b>" in page.run("document.getElementById('questions').textContent")


PICTURES = os.environ.get("PRIVET_PICTURES")


@pytest.mark.skipif(PICTURES is None, reason="PRIVET_PICTURES names a folder for them")
def test_pictures(page: Page, survey: Open) -> None:
    page.open(survey.url)
    for width in (390, 1200):
        page.screenshot(Path(str(PICTURES)) / f"form-{width}.png", width)
    answer(page, survey.url)
    for width in (390, 1200):
        page.screenshot(Path(str(PICTURES)) / f"done-{width}.png", width)
    page.run("document.getElementById('forget').click()")
    fill(page, survey.url)
    lose_replies(page)
    page.run(SEND)
    assert "No reply came" in told(page)
    page.screenshot(Path(str(PICTURES)) / "waiting-390.png", 390)
    page.call("Emulation.clearDeviceMetricsOverride")


def test_an_insecure_page_asks_nothing(page: Page, tmp_path: Path) -> None:
    survey = Open(tmp_path / "answers.duckdb", DESIGN, names=["survey.test"])
    try:
        port = survey.service.server_address[1]
        page.call("Page.navigate", url=f"http://survey.test:{port}/")
        page.until("location.hostname === 'survey.test'")
        assert page.run("isSecureContext") is False
        assert "secure connection (HTTPS)" in told(page)
        assert page.run("document.getElementById('form').hidden")
        assert 0 == page.run("document.querySelectorAll('input').length")
        assert 0 == page.run("localStorage.length")
    finally:
        survey.close()


def test_invitations_are_used_once(page: Page, tmp_path: Path) -> None:
    survey = Open(tmp_path / "answers.duckdb", DESIGN, tokens=1)
    url = f"{survey.url}#token={survey.tokens[0]}"
    try:
        answer(page, url)
        page.run("document.getElementById('forget').click()")
        fill(page, url)
        page.run(SEND)
        page.until("!document.getElementById('waiting').hidden")
        assert "was used" in told(page)
        assert 1 == len(survey.rows)
    finally:
        survey.close()


def test_one_question_is_drawn_and_asked_again(page: Page, tmp_path: Path) -> None:
    """Which one is drawn before anything is answered, and a reload changes nothing."""
    design = pv.Design(DESIGN.questions, DESIGN.groups, one_of=True)
    survey = Open(tmp_path / "answers.duckdb", design)
    fields = "[...document.querySelectorAll('legend')].map(e => e.textContent)"
    try:
        seen = set()
        for _ in range(20):
            page.open(survey.url)
            first = page.run(fields)
            page.open(survey.url)
            assert (1, first) == (len(first), page.run(fields))
            seen.add(first[0])
            page.run("localStorage.clear()")
        assert len(seen) > 1
    finally:
        survey.close()


WITH_PUBLIC = pv.Design(
    [*DESIGN.questions[:2], pv.Question("ward", ["A", "B"], ask="Which ward?")],
    [
        pv.Group("smokes", pv.KAry("0.9")),
        pv.Group("age", pv.KAry("0.5")),
        pv.Group("ward", Keep()),
    ],
    title="Wards",
    one_of=True,
)
"""Each is asked the ward, and one of two: odds times 9, and times 2."""

FIELDS = """[...document.querySelectorAll('fieldset')].map((e) => [
  e.querySelector('legend').textContent, e.querySelector('p')?.textContent ?? ''])"""
ROWS = """[...document.querySelectorAll('#meaning tr')].map(
  (row) => [...row.children].map((e) => e.textContent))"""
ANSWER = """
for (const e of document.querySelectorAll('[name=q0][value="1"], [value="1"]')) {
  e.click();
}
document.querySelector('[name=q1]')?.focus();
"""


def test_what_is_public_is_asked_of_everybody(page: Page, tmp_path: Path) -> None:
    """With one other question each; the record's figure first, whichever is drawn."""
    survey = Open(tmp_path / "answers.duckdb", WITH_PUBLIC)
    alone = {
        "Do you smoke?": [],
        "How old are you?": [
            ["Somebody to whom your other answers say nothing about it"],
            ["How old are you?", "19 %", "67 %"],
        ],
    }
    seen = set()
    page.events.clear()
    try:
        for _ in range(12):
            page.open(survey.url)
            assert page.run("document.getElementById('except').hidden") is False
            first, (second, mark) = page.run(FIELDS)
            assert ("", "Which ward?") == (first[1], second)
            assert "Sent as it is, not disguised." == mark
            assert [
                ["Somebody who knows how your answers hang together"],
                # The design's figure, as the note and verify tell it: a factor of 9.
                [
                    "of what is disguised, and of questions you are not asked",
                    "50 %",
                    "90 %",
                ],
                *alone[first[0]],
                ["Sent as it is"],
                ["Which ward?", "certain", "certain"],
            ] == page.run(ROWS)
            page.run(ANSWER)
            if first[0] == "How old are you?":
                page.type(AGE)
            page.run(SEND)
            report = shown(page)
            assert {first[0], "Which ward?"} == set(report)
            assert "B" == report["Which ward?"]
            seen.add(first[0])
            page.run("document.getElementById('forget').click()")
            assert 0 == page.run("localStorage.length")
        assert [] == page.complaints()
        assert set(alone) == seen
        assert [tuple(p["report"].values()) for p in posts(page)] == survey.rows
        found = pv.estimate(read_answers(survey.store.path), WITH_PUBLIC)
        assert (12, 1.0) == (found.share(ward="B").n, found.share(ward="B").value)
        assert 12 > found.share(smokes="yes", ward="B").n > 0
    finally:
        survey.close()


def test_only_the_report_stays_where_one_group_is_drawn(
    page: Page, tmp_path: Path
) -> None:
    """After a lost reply, a reload, a retry and a second visit; before, which it is."""
    survey = Open(tmp_path / "answers.duckdb", WITH_PUBLIC)
    report, asked = (
        f"privet-{what}:{name_survey(WITH_PUBLIC)}" for what in ("report", "asked")
    )
    try:
        page.open(survey.url)
        assert [asked] == list(page.run(STORED)["local"])
        page.run(ANSWER)
        if page.run("document.querySelector('[name=q1]') !== null"):
            page.type(AGE)
        lose_replies(page)
        page.run(SEND)
        assert "No reply came" in told(page)
        first = page.run(STORED)["local"]
        assert [report] == list(first)
        assert {"submission", "report", "kept"} == set(json.loads(first[report]))
        page.open(survey.url, "waiting")
        page.run("document.getElementById('retry').click()")
        sent = shown(page)
        page.open(survey.url, "done")
        assert sent == shown(page)
        found = page.run(STORED)
        assert [report] == list(found["local"])
        entry = json.loads(found["local"][report])
        assert [tuple(entry["report"].values())] == survey.rows
        assert "B" == entry["report"]["ward"]
        assert 1 == sum(v is None for v in entry["report"].values())
        assert ([], "", 0) == (found["databases"], found["cookies"], found["inputs"])
    finally:
        survey.close()


# Drawn once -------------------------------------------------------------------------


def test_nothing_is_drawn_before_it_is_sent(page: Page, survey: Open) -> None:
    fill(page, survey.url)
    page.run(
        "window.draws = 0; const draw = disguised;"
        " disguised = (...more) => { window.draws += 1; return draw(...more); }"
    )
    assert 0 == page.run("localStorage.length")
    assert 0 == page.run("window.draws")
    page.run(SEND)
    shown(page)
    assert 3 == page.run("window.draws")


def test_asking_again_reveals_no_more(page: Page, survey: Open) -> None:
    """Reload, go back, come again, another tab that was open: the same report."""
    first = answer(page, survey.url)
    (row,) = survey.rows
    for _ in range(3):
        page.open(survey.url, "done")
        assert first == shown(page)
        page.run("document.getElementById('again').click()")
        assert "Thank you." == told(page)
    page.travel(-1)
    page.travel(+1)
    assert first == shown(page)
    assert [row] == survey.rows


def test_another_page_of_the_same_survey_does_not_draw(
    page: Page, survey: Open
) -> None:
    """Both were open; the second sends what the first drew, whatever is answered."""
    fill(page, survey.url)
    report = {"smokes": "no", "age": "below 30", "town": "South"}
    entry = {"submission": "0" * 32, "report": report, "kept": False}
    page.run(f"localStorage.setItem(outbox.name, {json.dumps(json.dumps(entry))})")
    page.run(SEND)
    assert list(report.values()) == list(shown(page).values())
    assert [tuple(report.values())] == survey.rows


def test_reports_differ_between_people(page: Page, survey: Open) -> None:
    drawn = set()
    for _ in range(20):
        drawn.add(tuple(answer(page, survey.url).values()))
        page.run("document.getElementById('forget').click()")
        assert 0 == page.run("localStorage.length")
    assert len(drawn) > 1
    assert 20 == len(survey.rows)


# Lost replies -----------------------------------------------------------------------

LOSE = """
window.real = window.fetch;
window.fetch = async (...more) => { await window.real(...more); throw new Error(); };
"""


def lose_replies(page: Page) -> None:
    """What is sent arrives, and no reply comes back."""
    page.run(LOSE)


def test_a_lost_reply_counts_once(page: Page, survey: Open) -> None:
    """Sent again in the same page and after a reload, always the same bytes."""
    page.events.clear()
    fill(page, survey.url)
    lose_replies(page)
    page.run(SEND)
    page.until("!document.getElementById('waiting').hidden")
    assert "No reply came" in told(page)
    assert "" == page.run("document.getElementById('sent').textContent")
    assert holds_only_the_report(page, survey, kept=False)
    (row,) = survey.rows
    page.run("document.getElementById('message').textContent = ''")
    page.run("document.getElementById('retry').click()")
    assert "No reply came" in told(page)
    page.open(survey.url, "waiting")
    assert 0 == page.run("document.querySelectorAll('input').length")
    page.run("document.getElementById('retry').click()")
    assert row == tuple(shown(page).values())
    assert 3 == len(posts(page))
    assert 1 == len({json.dumps(p) for p in posts(page)})
    assert [row] == survey.rows


def test_a_survey_that_is_down_can_be_sent_to_later(page: Page, tmp_path: Path) -> None:
    first = Open(tmp_path / "answers.duckdb", DESIGN)
    fill(page, first.url)
    first.close()
    page.run(SEND)
    page.until("!document.getElementById('waiting').hidden")
    assert holds_only_the_report(page, first, kept=False)
    entry = json.loads(page.run("localStorage.getItem(outbox.name)"))
    assert [] == first.rows
    port = first.service.server_address[1]
    store = Store(first.store.path, DESIGN)
    service = Service(("127.0.0.1", port), store)
    thread = Thread(target=service.run, daemon=True)
    thread.start()
    try:
        page.run("document.getElementById('retry').click()")
        assert list(entry["report"].values()) == list(shown(page).values())
        assert [tuple(entry["report"].values())] == first.rows
    finally:
        service.stop()
        thread.join(30)


# What stays on the device -----------------------------------------------------------

STORED = """(async () => ({
  local: Object.fromEntries(Object.entries(localStorage)),
  session: Object.fromEntries(Object.entries(sessionStorage)),
  databases: (await indexedDB.databases()).map((d) => d.name),
  caches: await caches.keys(),
  cookies: document.cookie,
  state: history.state,
  url: location.href,
  name: window.name,
  inputs: document.querySelectorAll('input').length,
}))()"""


def holds_only_the_report(page: Page, survey: Open, *, kept: bool) -> bool:
    """Whether all that is stored is what the service has, too."""
    found = page.run(STORED)
    (name,) = found["local"]
    entry = json.loads(found["local"][name])
    assert f"privet-report:{name_survey(DESIGN)}" == name
    assert {"submission", "report", "kept"} == set(entry)
    assert kept is entry["kept"]
    assert set(DESIGN.columns) == set(entry["report"])
    if survey.rows:
        assert [tuple(entry["report"].values())] == survey.rows
    rest = {k: v for k, v in found.items() if k not in ("local", "url")}
    empty = {
        **{"session": {}, "databases": [], "caches": [], "cookies": ""},
        **{"state": None, "name": "", "inputs": 0},
    }
    return empty == rest and survey.url == found["url"]


def test_only_the_report_stays(page: Page, survey: Open) -> None:
    """After a submission, a reload, a second visit and the way back."""
    before = page.run("history.length")
    answer(page, survey.url)
    assert holds_only_the_report(page, survey, kept=True)
    page.reload()
    shown(page)
    assert holds_only_the_report(page, survey, kept=True)
    page.open(survey.url, "done")
    assert holds_only_the_report(page, survey, kept=True)
    entries = page.call("Page.getNavigationHistory")["entries"]
    assert {"about:blank", survey.url} >= {e["url"] for e in entries[before:]}


BLOCKED = """Object.defineProperty(window, 'localStorage', {
  get() { throw new DOMException('blocked', 'SecurityError'); },
});"""


def test_a_browser_that_stores_nothing_can_answer(page: Page, survey: Open) -> None:
    """It is remembered as long as the page is open, and that is said."""
    added = page.call("Page.addScriptToEvaluateOnNewDocument", source=BLOCKED)
    try:
        fill(page, survey.url)
        lose_replies(page)
        page.run(SEND)
        assert "No reply came" in told(page)
        page.run("window.fetch = window.real")
        page.run("document.getElementById('retry').click()")
        report = shown(page)
        assert [tuple(report.values())] == survey.rows
        memory = page.run("document.getElementById('memory').textContent")
        assert "lets nothing be remembered" in memory
    finally:
        page.call("Page.removeScriptToEvaluateOnNewDocument", **added)


def test_a_service_that_refuses_gets_no_second_draw(page: Page, tmp_path: Path) -> None:
    """Without an invitation, time and again: always the same report."""
    survey = Open(tmp_path / "answers.duckdb", DESIGN, tokens=1)
    page.events.clear()
    try:
        fill(page, survey.url)
        page.run(SEND)
        assert "An invitation is needed." == told(page)
        for _ in range(3):
            page.open(survey.url, "waiting")
            page.run("document.getElementById('retry').click()")
            assert "An invitation is needed." == told(page)
        assert 4 == len(posts(page))
        (report,) = {json.dumps(p["report"]) for p in posts(page)}
        page.open(f"{survey.url}#token={survey.tokens[0]}", "waiting")
        page.run("document.getElementById('retry').click()")
        assert list(json.loads(report).values()) == list(shown(page).values())
    finally:
        survey.close()


def test_nothing_of_earlier_versions_stays(page: Page, survey: Open) -> None:
    page.open(survey.url)
    page.run("""localStorage.setItem('privet:abc:[["smokes"],[1]]', '[0]')""")
    page.open(survey.url)
    assert 0 == page.run("localStorage.length")


def test_answers_that_were_not_sent_do_not_stay(page: Page, survey: Open) -> None:
    """Leave the page with a filled form, and come back."""
    fill(page, survey.url)
    page.call("Page.navigate", url="about:blank")
    page.until("location.href === 'about:blank'")
    page.travel(-1)
    page.until("document.querySelector('[name=q1]') !== null")
    assert "" == page.run("document.querySelector('[name=q1]').value")
    assert 0 == page.run("document.querySelectorAll('input:checked').length")
    assert 0 == page.run("localStorage.length")


def test_the_profile_on_the_disk_does_not_hold_the_answer(tmp_path: Path) -> None:
    """Every file of the browser: sessions, autofill, history, caches, storage.

    Filled in and left, filled in and sent, sent again after a lost reply, reloaded.
    """
    survey = Open(tmp_path / "answers.duckdb", DESIGN)
    profile = tmp_path / "profile"
    page = Page(profile)
    try:
        for _ in range(2):
            fill(page, survey.url)
            sleep(3)  # browsers write sessions now and then
        lose_replies(page)
        page.run(SEND)
        page.until("!document.getElementById('waiting').hidden")
        page.open(survey.url, "waiting")
        page.run("document.getElementById('retry').click()")
        report = shown(page)
        page.reload()
        assert report == shown(page)
        (entry,) = page.run(STORED)["local"].values()
        sleep(5)
    finally:
        page.close()
        survey.close()
    key = json.loads(entry)["submission"]
    assert [] == files_with(profile, AGE)
    assert [] != files_with(profile, key)  # the search finds what is there


ALLOW = """
for (const e of document.querySelectorAll('form, input')) e.autocomplete = 'on';
addEventListener('pagehide', (event) => event.stopImmediatePropagation(), true);
"""


def test_a_page_without_care_would_be_found_out(tmp_path: Path) -> None:
    """A form that may be restored: the browser writes what was typed to the disk."""
    survey = Open(tmp_path / "answers.duckdb", DESIGN)
    page = Page(tmp_path / "profile")
    try:
        page.open(survey.url)
        page.run(ALLOW)
        page.run(FILL)
        page.type(AGE)
        sleep(3)
        page.call("Page.navigate", url="about:blank")
        sleep(5)
    finally:
        page.close()
        survey.close()
    assert [] != files_with(tmp_path / "profile", AGE)


def files_with(folder: Path, text: str) -> list[Path]:
    forms = [text.encode(), text.encode("utf-16-le")]
    return [
        p
        for p in folder.rglob("*")
        if p.is_file() and any(form in p.read_bytes() for form in forms)
    ]


# Exact draws ------------------------------------------------------------------------

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
    group = describe_for_browser(design, tokens=False)["groups"][0]
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
