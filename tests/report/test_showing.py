"""One summary, shown as text, in a terminal, in a notebook and as JSON."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from io import StringIO
from typing import Any

import pytest
from rich.console import Console

import privet as pv
from privet.report import words
from report.examples import (
    audit,
    judged,
    measured,
    nobody,
    not_applicable,
    promise,
    undecided,
)

FOUND = audit(
    judged(groups=9, groups_above=1, people_above=5),
    judged(name="roomy", limit=pv.Ceiling(1), groups=9),
    undecided(),
    not_applicable(),
    measured(3, groups=9, groups_above=2, people_above=7),
    title="Loan ratings",
    notes=["Value 'x' never occurs in column 'y'."],
)

SIGNS = ["✗ BREACH", "✓ SAFE", "? UNDECIDED", "– NOT APPLICABLE", "✗ BREACH"]


# For machines -----------------------------------------------------------------------


def test_the_shape_of_a_finding() -> None:
    found = FOUND.findings[0].to_dict()
    assert {
        "promise": "nobody learns a discharge",
        "against": {"kind": "linker", "knows": ["job", "country"]},
        "about": {"bankruptcy": "Discharged"},
        "verdict": "breach",
        "basis": "exact",
        "prior": "5/24",
        "posterior": "4/5",
        "limit": {"at_most": "1/2"},
        "measured": None,
        "witness": {
            "knows": {"job": "Trader", "country": "UK"},
            "about": {"bankruptcy": "Discharged"},
            "count": 4,
            "of": 5,
            "counted": "rows",
            "prior_count": 5,
            "prior_of": 24,
        },
        "groups": 9,
        "groups_above": 1,
        "people_above": 5,
        "words": FOUND.findings[0].explain(),
        "note": "",
    }.items() <= found.items()


def test_the_shape_of_a_measure() -> None:
    found = FOUND.findings[-1].to_dict()
    assert {
        "promise": "k_anonymity at least 5",
        "against": None,
        "about": None,
        "verdict": "breach",
        "basis": "exact",
        "prior": None,
        "posterior": None,
        "limit": {"k_anonymity": 5},
        "measured": "3",
        "witness": {"knows": {"job": "Judge"}, "count": 3, "of": 3, "counted": "rows"},
    }.items() <= found.items()


def test_the_shape_of_an_audit() -> None:
    found = FOUND.to_dict()
    assert "breach" == found["verdict"]
    assert "Loan ratings" == found["title"]
    assert words.SENSITIVE == found["sensitive"]
    assert list(FOUND.notes) == found["notes"]
    expected = ["breach", "safe", "undecided", "not applicable", "breach"]
    assert expected == [f["verdict"] for f in found["findings"]]
    assert found == json.loads(json.dumps(found))


def test_every_finding_has_the_same_keys() -> None:
    few = [*FOUND.findings, nobody()]
    assert 1 == len({tuple(f.to_dict()) for f in few})


def test_promises_of_one_name_are_told_apart() -> None:
    names = [f["promise"] for f in audit(judged(), judged()).to_dict()["findings"]]
    assert ["nobody learns a discharge", "nobody learns a discharge (2)"] == names


# For people -------------------------------------------------------------------------


def test_text_leads_with_the_verdict() -> None:
    lines = FOUND.explain().splitlines()
    assert (
        "✗ Breach: 2 of 5 promises are broken; 1 is undecided; 1 does not apply here."
        == lines[0]
    )
    assert "Loan ratings" == lines[1]
    assert words.SENSITIVE == lines[-1]
    heads = [line for line in lines if line.startswith(tuple(SIGNS))]
    assert SIGNS == [line.split("  ")[0] for line in heads]


def test_a_repr_is_the_report_without_its_small_print() -> None:
    assert FOUND.explain().startswith(repr(FOUND))
    assert words.SENSITIVE not in repr(FOUND)
    first = FOUND.findings[0]
    assert repr(first) in repr(FOUND)
    assert repr(first).splitlines()[0] == "✗ BREACH  nobody learns a discharge"


def test_nothing_is_said_twice() -> None:
    lines = [line for line in repr(undecided()).splitlines() if "ran out" in line]
    assert ["  The time limit ran out."] == lines


def rendered(found: Any, width: int = 80, **keys: Any) -> str:
    keys = {"color_system": None, **keys}
    console = Console(file=StringIO(), width=width, highlight=False, **keys)
    console.print(found)
    return console.file.getvalue()


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_a_terminal_shows_the_same_words(width: int) -> None:
    shown = rendered(FOUND, width)
    assert max(len(line) for line in shown.splitlines()) <= width
    plain = (
        FOUND.explain().replace("What to do:", "What to do").replace("Notes:", "Notes")
    )
    assert plain.split() == shown.split()


def test_colour_never_stands_alone() -> None:
    shown = rendered(FOUND, color_system="standard", force_terminal=True)
    for sign in SIGNS:
        assert sign in shown
    assert "\x1b[1;31m✗ BREACH" in shown
    assert "\x1b[1;32m✓ SAFE" in shown


def test_text_is_not_taken_for_markup() -> None:
    odd = judged(name="[bold]x[/bold] :smile: \x1b[31m")
    assert "[bold]x[/bold] :smile: \\x1b[31m" in rendered(audit(odd))
    assert "\x1b" not in rendered(audit(odd, title="\x1b]0;x\x07"))
    assert "\x1b" not in audit(odd, title="\x1b]0;x\x07").explain()


def test_long_advice_is_aligned_under_itself() -> None:
    lines = rendered(FOUND, 60).splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("  2. "))
    assert lines[at + 1].startswith("     ")


# For notebooks ----------------------------------------------------------------------


class Page(HTMLParser):
    """Checks that tags are balanced and gathers the text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""
        self.tags: set[str] = set()
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert tag == self.open.pop()

    def handle_data(self, data: str) -> None:
        self.text += data + " "


def test_html_holds_the_whole_report() -> None:
    page = Page(FOUND._repr_html_())
    assert [] == page.open
    for sign in SIGNS:
        assert sign in page.text
    said = FOUND.to_dict()
    for line in (*said["advice"], *said["notes"], *said["reach"], words.SENSITIVE):
        assert line in page.text
    for finding in said["findings"]:
        assert finding["words"] in page.text


EVIL = "<script>alert('x')</script> & \"'"


def test_html_escapes_everything() -> None:
    witness = pv.Witness({EVIL: EVIL}, EVIL, EVIL, 4, 5, 5, 24)
    finding = judged(witness, name=EVIL, about={EVIL: EVIL})
    later = pv.Finding(promise(EVIL, about=EVIL), pv.Verdict.UNDECIDED, note=EVIL)
    found = audit(finding, later, title=EVIL, notes=[EVIL])
    for html in (found._repr_html_(), finding._repr_html_(), later._repr_html_()):
        page = Page(html)
        assert [] == page.open
        assert "<script" not in html
        assert "script" not in page.tags
        assert EVIL in page.text


def test_html_loads_nothing() -> None:
    html = FOUND._repr_html_()
    assert [] == [word for word in ("src=", "href=", "url(", "http") if word in html]


def test_one_finding_shows_itself_everywhere() -> None:
    finding = FOUND.findings[0]
    assert finding.explain() in Page(finding._repr_html_()).text
    assert "✗ BREACH  nobody learns a discharge" in rendered(finding)
