"""Reports to hand over: what they say, to whom, in which form, and never do."""

from __future__ import annotations

import json
import re
import stat
import subprocess
import sys
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import jsonschema
import pandas as pd
import pyarrow as pa
import pytest

import privet as pv
from privet.languages import speak
from privet.release.kinds import close_release
from privet.report import chart_style
from privet.report.documents.document import say_verdict
from privet.report.documents.record import load_schema
from report.releases import KINDS, KNOWING, WHY, make_release, read_loans

SCHEMA = jsonschema.Draft202012Validator(load_schema())
MOST_BYTES = 2 * 2**20


@pytest.fixture(scope="module", params=list(KINDS))
def made(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    return make_release(request.param, tmp_path_factory.mktemp("made"))


def load(folder: Path) -> Any:
    return pv.load(folder / "out")


def write(folder: Path, name: str, **how: Any) -> str:
    release = load(folder)
    try:
        place = release.report(folder / name, replace=True, **how)
    finally:
        close_release(release)
    return place.read_text(encoding="utf-8")


class Elements(HTMLParser):
    """What a page is made of."""

    VOID = ("meta", "br", "wbr", "img", "link", "input", "hr")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert tag == self.open.pop(), tag

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.found.append((tag, dict(attrs)))


# Private and public -----------------------------------------------------------------


def test_a_private_report_says_so_and_a_public_note_does(made: Path) -> None:
    private = write(made, "r.html", custody=made / "vault")
    public = write(made, "n.html", public=True)
    assert '<body class="private">' in private
    assert private.count("PRIVATE") >= 4  # above, below, beside each page, in its foot
    assert '<body class="public">' in public
    assert "PRIVATE" not in public
    assert len(private.encode()) < MOST_BYTES
    assert len(public.encode()) < MOST_BYTES


def test_pages_are_whole_and_load_nothing(made: Path) -> None:
    for text in (
        write(made, "r.html", custody=made / "vault"),
        write(made, "n.html", public=True),
    ):
        page = Elements(text)
        assert [] == page.open
        tags = {tag for tag, _ in page.found}
        assert not tags & {"script", "link", "img", "iframe", "object", "base", "form"}
        assert "default-src 'none'" in text.replace("&#x27;", "'")
        for _, given in page.found:
            assert not {"src", "srcset", "action"} & set(given)
            assert not any(name.startswith("on") for name in given)
            assert (given.get("href") or "#").startswith("#")
        assert not re.search(r"url\((?!#)|@import", text)


def test_headings_go_down_one_by_one_and_ids_stand_once(made: Path) -> None:
    page = Elements(write(made, "r.html", custody=made / "vault"))
    levels = [int(tag[1]) for tag, _ in page.found if re.fullmatch("h[1-6]", tag)]
    assert 1 == levels[0] == levels.count(1)
    assert all(b - a <= 1 for a, b in pairwise(levels))
    names = [given["id"] for _, given in page.found if "id" in given]
    assert len(set(names)) == len(names)
    heads = [given for tag, given in page.found if tag == "th"]
    assert all(given.get("scope") in ("row", "col") for given in heads)


def test_all_forms_say_the_same(made: Path) -> None:
    for how in ({"custody": made / "vault"}, {"public": True}):
        record = json.loads(write(made, "r.json", **how))
        SCHEMA.validate(record)
        page = Elements(write(made, "r.html", **how))
        ids = [given.get("id") for tag, given in page.found if tag == "section"]
        assert ids == [s["key"] for s in record["sections"]]
        lines = write(made, "r.md", **how).splitlines()
        heads = [line.removeprefix("## ") for line in lines if line.startswith("## ")]
        plain = [re.sub(r"\\(.)", r"\1", head) for head in heads]
        assert plain == [s["title"] for s in record["sections"]]


def test_a_record_that_was_changed_does_not_fit_its_schema(made: Path) -> None:
    record = json.loads(write(made, "r.json", public=True))
    for key in record:
        lacking = {k: v for k, v in record.items() if k != key}
        assert not SCHEMA.is_valid(lacking)
    assert not SCHEMA.is_valid({**record, "more": 1})


def test_what_was_before_needs_the_private_record(tmp_path: Path) -> None:
    folder = make_release("disclosed", tmp_path)
    without = json.loads(write(folder, "a.json"))
    with_it = json.loads(write(folder, "b.json", custody=folder / "vault"))
    keys = [s["key"] for s in without["sections"]]
    assert "record" in keys
    assert "cost" not in keys
    told = {s["key"]: s for s in with_it["sections"]}
    assert {"promises", "exposure", "work", "cost", "accepted", "ledger"} <= set(told)
    assert {"reach", "method", "policy", "signoff"} <= set(told)
    (judged,) = (p for p in told["promises"]["parts"] if p["type"] == "judgement")
    names = [f["name"] for f in judged["figures"]]
    assert ["Limit", "Worst case before", "Worst case after"] == names[:3]
    values = [f["value"] for f in judged["figures"]]
    assert ["at most 50 %", "80 %", "50 %"] == values[:3]
    before, after = judged["witnesses"]
    assert "4 of 5 rows" in before["text"]
    assert "5 of 10 rows" in after["text"]
    assert WHY in json.dumps(told["accepted"])
    assert "A. Steward" in json.dumps(told["accepted"])


@pytest.mark.parametrize(
    ("language", "said"),
    [("en", "pay lies between 1000 and 1050"), ("de", "pay zwischen 1000 und 1050")],
)
def test_what_was_before_is_told_of_numbers_within_a_window(
    tmp_path: Path, language: str, said: str
) -> None:
    """A record has both ends of the window in place of a value."""
    people = pa.table({"age": [20, 20, 30, 30], "pay": [1000, 1050, 2000, 9000]})
    guarded = pv.Promise(pv.Linker(), pv.Ceiling("1/2"), {"pay": {"within": "10 %"}})
    with pv.read(people, quasi="age", sensitive="pay") as table:
        release = pv.publish(table, [guarded], method=pv.Mondrian())
        release.write(tmp_path / "out", custody=tmp_path / "vault")
        page = release.report(tmp_path / "a.md", language=language)
    assert said in page.read_text("utf-8")


def test_the_record_of_another_release_is_refused(tmp_path: Path) -> None:
    one = make_release("disclosed", tmp_path / "one")
    other = make_release("grouped", tmp_path / "other")
    with load(one).table, pytest.raises(pv.InputError, match="custody record"):
        load(one).report(tmp_path / "x.html", custody=other / "vault")
    assert not (tmp_path / "x.html").exists()


def test_a_release_that_was_made_here_has_its_report(tmp_path: Path) -> None:
    with read_loans() as loans:
        release = pv.publish(loans, [KNOWN], method=pv.TopDownDisclosure())
        text = release.report(tmp_path / "r.md").read_text(encoding="utf-8")
        with pytest.raises(
            pv.InputError, match="must be of a release that was written"
        ):
            release.report(tmp_path / "n.md", public=True)
    assert "Worst case before: 80 %" in text
    assert "What it cost the analyst" in text


KNOWN = pv.Promise(
    pv.Linker(["job", "country"]), pv.Ceiling("1/2"), {"bankruptcy": "Discharged"}
)


# Audits, comparisons, ledgers -------------------------------------------------------


def test_an_audit_is_told_verdict_first_with_its_limit(tmp_path: Path) -> None:
    with read_loans() as loans:
        found = pv.audit(loans, [KNOWN])
        place = found.report(tmp_path / "a.html", of=loans, policy=pv.Policy([KNOWN]))
    text = place.read_text(encoding="utf-8")
    first = text.index("Breach: the promise is broken")
    assert "Limit: at most 50 %. Worst case: 80 %" in text
    assert first < text.index("<h2")
    assert "✗ breach" in text
    assert "4 of 5 rows" in text
    assert "[[promise]]" in text
    assert "Sign-off" in text


@pytest.mark.parametrize(
    ("language", "level", "half"),
    [("de", "mindestens", "halb"), ("fr", "au moins", "demi"), ("es", "al menos", "")],
)
def test_levels_and_numbers_are_read_in_each_language(
    tmp_path: Path, language: str, level: str, half: str
) -> None:
    stated = pv.Policy([KNOWN], measures=[pv.Measure(k_anonymity=3)])
    with read_loans() as loans:
        found = pv.audit(loans, stated)
        for name in (language, "en"):
            place = tmp_path / f"{name}.md"
            found.report(place, of=loans, policy=stated, language=name)
    told, english = (
        (tmp_path / f"{name}.md").read_text(encoding="utf-8")
        for name in (language, "en")
    )
    assert f": {level} 3\n" in told
    assert ": at least 3\n" not in told
    assert "- Limit: at least 3\n" in english
    assert "1,234" in told
    assert half in told
    assert "1,234" not in english
    assert "```toml\n" in english


@pytest.mark.parametrize("language", ["de", "fr", "es"])
def test_a_release_shows_its_verdict_in_each_language(
    made: Path, language: str
) -> None:
    release = load(made)
    with speak(language):
        shown, safe = release._repr_html_(), say_verdict("safe").upper()
    close_release(release)
    assert "SAFE" not in shown
    # Answers have a design, and no verdict to be shown.
    assert (f"✓ {safe}," in shown) != isinstance(release, pv.Responses)


@pytest.mark.parametrize(
    ("language", "covered", "limit"),
    [
        ("en", "no promise covers bankruptcy", "at least 3"),
        ("de", "keine Zusage deckt bankruptcy ab", "mindestens 3"),
        ("fr", "aucune promesse ne couvre bankruptcy", "au moins 3"),
        ("es", "ninguna promesa cubre bankruptcy", "al menos 3"),
    ],
)
def test_headings_and_limits_are_in_the_language_of_the_report(
    tmp_path: Path, language: str, covered: str, limit: str
) -> None:
    with read_loans() as loans:
        found = pv.audit(loans, [KNOWING, pv.Measure(k_anonymity=3)])
    page = found.report(tmp_path / "a.md", language=language).read_text("utf-8")
    assert f" {covered}\n" in page
    assert f": {limit}\n" in page
    with speak(language):
        assert covered in found.explain()
        assert covered in found._repr_html_()


@pytest.mark.parametrize("kind", ["disclosed", "classifier"])
def test_who_accepted_something_is_told_in_private(tmp_path: Path, kind: str) -> None:
    folder = make_release(kind, tmp_path)
    assert "A. Steward" in write(folder, "r.md", custody=folder / "vault")
    private = write(folder, "r.html", custody=folder / "vault")
    assert "<td>A. Steward</td>" in private
    assert "A. Steward" not in write(folder, "p.html", public=True)


def test_what_a_disguised_row_tells_has_headings_and_lines(tmp_path: Path) -> None:
    folder = make_release("answers", tmp_path)
    page = write(folder, "r.html")
    assert "<p>The whole record, for somebody who knows" in page
    assert "<li>smokes: odds times 3 at most" in page
    assert ":</li>" not in page


def test_comparisons_and_ledgers_are_told(tmp_path: Path) -> None:
    with read_loans() as loans:
        found = pv.compare(loans, [KNOWN], methods=["mondrian"])
        record = json.loads(found.report(tmp_path / "c.json").read_text("utf-8"))
    SCHEMA.validate(record)
    assert "comparison" == record["kind"]
    assert "mondrian" in json.dumps(record["sections"])
    found.report(tmp_path / "c.html")
    ledger = pv.Ledger.create(tmp_path / "ledger")
    record = json.loads(ledger.report(tmp_path / "l.json").read_text("utf-8"))
    SCHEMA.validate(record)
    assert "0 releases about the same people are in the ledger." == record["headline"]
    assert ["method", "signoff"] == [section["key"] for section in record["sections"]]


def test_the_report_of_a_comparison_says_of_what(tmp_path: Path) -> None:
    policy = pv.Policy([KNOWN], title="Loans, a file")
    with read_loans() as loans:
        found = pv.compare(loans, policy, methods=["mondrian"])
        page = found.report(tmp_path / "c.html", of=loans, policy=policy)
    said = page.read_text(encoding="utf-8")
    assert "<h1>Comparison of methods: Loans, a file</h1>" in said
    assert "bank.csv" in said
    assert "at_most" in said


def test_only_a_release_has_a_public_note(tmp_path: Path) -> None:
    ledger = pv.Ledger.create(tmp_path / "ledger")
    with pytest.raises(pv.InputError, match="A public note must be of a release"):
        ledger.report(tmp_path / "l.html", public=True)
    with pytest.raises(pv.InputError, match="A public note must be of a release"):
        ledger.report(tmp_path / "l.json", format="croissant")


# Files ------------------------------------------------------------------------------


def test_nothing_is_written_over_unless_asked(tmp_path: Path) -> None:
    ledger = pv.Ledger.create(tmp_path / "ledger")
    place = tmp_path / "l.html"
    place.write_text("mine", encoding="utf-8")
    with pytest.raises(pv.InputError, match="must not exist yet"):
        ledger.report(place)
    assert "mine" == place.read_text(encoding="utf-8")
    ledger.report(place, replace=True)
    assert "<!DOCTYPE html>" in place.read_text(encoding="utf-8")
    assert 0o600 == stat.S_IMODE(place.stat().st_mode)
    with pytest.raises(pv.InputError, match="is a folder"):
        ledger.report(tmp_path / "ledger", format="html", replace=True)
    assert {"l.html", "ledger"} == {p.name for p in tmp_path.iterdir()}


def test_what_fails_leaves_nothing(tmp_path: Path) -> None:
    ledger = pv.Ledger.create(tmp_path / "ledger")
    with pytest.raises(OSError, match="No such file"):
        ledger.report(tmp_path / "none" / "l.html")
    with pytest.raises(pv.InputError, match=r"must end in one of \.html"):
        ledger.report(tmp_path / "l.txt")
    with pytest.raises(pv.InputError, match="format must be one of"):
        ledger.report(tmp_path / "l.txt", format="pdf")
    assert {"ledger"} == {p.name for p in tmp_path.iterdir()}


def test_without_the_extra_charts_are_left_out_and_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_release("disclosed", tmp_path)
    assert "<svg" in write(folder, "r.html")
    monkeypatch.setattr(chart_style, "find_spec", lambda name: None)
    chart_style.can_draw.cache_clear()
    try:
        text = write(folder, "r.html")
    finally:
        chart_style.can_draw.cache_clear()
    assert "<svg" not in text
    assert "they need the extra &#x27;report&#x27;" in text


def test_no_page_needs_altair(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    assert "<svg" in write(made, "altair.html", custody=made / "vault")


WAKING = """
import os, sys
import privet as pv
ledger = pv.Ledger.create(sys.argv[1])
threads = lambda: len(os.listdir("/proc/self/task"))
first = threads()
ledger.report(f"{sys.argv[1]}.json")
assert first == threads() and "vl_convert" not in sys.modules
from privet.display import wake_for
wake_for("html", public=True)
assert first == threads()
wake_for(".html", public=False)
assert first < threads()
"""


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs Linux's /proc")
def test_the_renderer_starts_beside_other_work_and_is_left_at_any_time(
    tmp_path: Path,
) -> None:
    """It starts in a thread of its own, which nobody waits for, not even at the end."""
    done = subprocess.run(
        [sys.executable, "-c", WAKING, str(tmp_path / "ledger")],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (0, "") == (done.returncode, done.stderr)


# Canaries ---------------------------------------------------------------------------

CANARY, NAME, WORST = "CANARY-9c1e", "NAME-4b7d", "WORST-5e2f"


def make_patients() -> pd.DataFrame:
    """Of everybody alike, one value is the worst case; another one is never quoted."""
    illness = [WORST] * 6 + ["Flu"] * 4 + [CANARY] * 2 + ["Flu"] * 8
    return pd.DataFrame(
        {
            "name": [f"{NAME}-{i}" for i in range(20)],
            "job": ["Cook"] * 10 + ["Clerk"] * 10,
            "ill": illness,
        }
    )


def test_a_canary_is_named_by_its_witness_alone(tmp_path: Path) -> None:
    stated = [pv.Promise(pv.Linker(["job"]), pv.Ceiling("0.9"), {"ill": WORST}, "w")]
    accepted = pv.Accepted("ill", why="made up")
    policy = pv.Policy(stated, accepted=[accepted])
    table = pv.read(make_patients(), identifier="name", quasi="job", sensitive="ill")
    with table:
        found = pv.audit(table, policy)
        release = pv.publish(table, policy, method=pv.TopDownDisclosure())
        release.write(tmp_path / "out", custody=tmp_path / "vault")
        texts = [
            found.report(tmp_path / f"a.{end}", of=table, policy=policy).read_text(
                "utf-8"
            )
            for end in ("html", "json", "md")
        ]
    texts += [
        write(tmp_path, f"r.{end}", custody=tmp_path / "vault")
        for end in ("html", "json", "md")
    ]
    for text in texts:
        assert WORST in text  # the witness must name it
        assert CANARY not in text
        assert NAME not in text


def test_a_canary_is_never_in_what_is_public(tmp_path: Path) -> None:
    stated = [pv.Promise(pv.Linker(["job"]), pv.Ceiling("0.9"), None, "w")]
    policy = pv.Policy(stated, accepted=[pv.Accepted("ill", why="made up")])
    table = pv.read(make_patients(), identifier="name", quasi="job", sensitive="ill")
    with table:
        release = pv.publish(table, policy, method=pv.TopDownDisclosure())
        release.write(tmp_path / "out", custody=tmp_path / "vault")
    ends = ("n.html", "n.json", "n.md")
    texts = [write(tmp_path, end, public=True) for end in ends]
    texts += [write(tmp_path, "c.json", format=form) for form in ("croissant", "dcat")]
    for text in texts:
        for canary in (CANARY, NAME, WORST, str(tmp_path)):
            assert canary not in text


def test_names_that_would_do_something_do_nothing(tmp_path: Path) -> None:
    odd = '<script>alert("x")</script>\x1b[31m`*_|'
    rows = pd.DataFrame({odd: ["a", "a", "b", "b"], "ill": ["x", "y", "x", "y"]})
    with pv.read(rows, quasi=[odd], sensitive="ill") as table:
        promise = pv.Promise(pv.Linker([odd]), pv.Ceiling("0.9"), "ill", odd)
        found = pv.audit(table, pv.Policy([promise], title=odd))
        page = found.report(tmp_path / "a.html", of=table).read_text("utf-8")
        marked = found.report(tmp_path / "a.md").read_text("utf-8")
    assert "<script" not in page
    assert "<script" not in marked
    assert "\x1b" not in page + marked
    assert [] == Elements(page).open


# What was done ------------------------------------------------------------------------


def read_work(folder: Path, method: Any) -> dict[str, Any]:
    """The section about what was done to a table of numbers and towns."""
    rows = {
        "kids": [0, 1, 2] * 16,
        "town": [*["N"] * 6, *["S"] * 6] * 4,
        "sick": ["yes", "no", "yes", "no", "no", "no"] * 8,
    }
    stated = [pv.Promise(pv.Linker(), pv.Ceiling("0.4"), {"sick": "yes"})]
    with pv.read(pd.DataFrame(rows), quasi=["kids", "town"], sensitive="sick") as table:
        made = pv.publish(table, stated, method=method)
        made.write(folder / "out", custody=folder / "vault")
    record = json.loads(write(folder, "r.json", custody=folder / "vault"))
    (work,) = (s for s in record["sections"] if s["key"] == "work")
    found: dict[str, Any] = work
    return found


@pytest.mark.parametrize("subtrees", [False, True])
def test_levels_are_no_groups_that_could_be_split(
    tmp_path: Path, subtrees: bool
) -> None:
    work = read_work(tmp_path, pv.FullDomain(subtrees=subtrees))
    assert "group" not in json.dumps(work)
    assert ["Method"] == [fact["name"] for fact in work["parts"][0]["facts"]]


def test_groups_that_were_made_at_once_are_no_moves(tmp_path: Path) -> None:
    work = read_work(tmp_path, pv.Mondrian())
    assert ["Method"] == [fact["name"] for fact in work["parts"][0]["facts"]]
    assert "No group can be split further." == work["parts"][-1]["text"]


def test_an_interval_that_has_no_ends_shows_nothing(tmp_path: Path) -> None:
    work = read_work(tmp_path, pv.TopDownDisclosure())
    (hidden,) = (p for p in work["parts"] if p["type"] == "table")
    assert ["kids", "one interval: nothing of it is shown", "—"] == hidden["rows"][0]


@pytest.mark.parametrize("language", ["en", "de", "fr", "es"])
def test_sixty_columns_are_not_listed_below_each_promise(
    tmp_path: Path, language: str
) -> None:
    names = [f"c{i}" for i in range(60)]
    rows = {name: ["a", "b"] * 5 for name in names} | {"sick": ["no", "yes"] * 5}
    stated = [pv.Promise(pv.Linker([n]), pv.Ceiling("1"), "sick") for n in names[:3]]
    with pv.read(pd.DataFrame(rows), quasi=names, sensitive="sick") as table:
        found = pv.audit(table, stated)
        place = found.report(tmp_path / "a.json", of=table, language=language)
    sections = json.loads(place.read_text("utf-8"))["sections"]
    (reach,) = (s for s in sections if s["key"] == "reach")
    for line in reach["parts"][0]["items"][:3]:
        assert "59" in line
        assert "c41" not in line
