"""Commands in German, French and Spanish: nothing English of ours is left in them."""

from __future__ import annotations

import json
import re
import shutil
from html import unescape
from importlib.resources import as_file
from pathlib import Path
from shlex import split
from string import Formatter

import pytest

import privet as pv
from privet.cli import cli
from privet.demo.tables import clinic_path
from privet.languages import CATALOGUES, LANGUAGES, speak, translate
from privet.release.kinds import close_release

from .conftest import COLUMNS, KNOWING_ALL, Privet
from .test_classifier import POLICY as CLASSIFIER
from .test_survey import DESIGN
from .test_views import POLICY as VIEWS

OTHERS = sorted(LANGUAGES.keys() - {"en"})

OFFERED = {
    *("audit", "classifier", "compare", "disguise", "discover", "estimate", "learn"),
    *("ledger", "plan", "publish", "report", "score", "skyline", "verify", "views"),
}
"""Commands whose whole output is translated. Errors, help and progress stay English."""

ANSWERS = """
[[promise]]
against = "bayesian"
about = "smokes"
within = "56/3"

[[promise]]
against = "bayesian"
about = "age"
within = "56/3"
"""

INSIDER = """
[[promise]]
name = "colleagues"
against = "insider"
rules_out = 1
same_as = 1
at_most = 0.5

[[measure]]
k_anonymity = 2
"""

COMMANDS = {
    "audit": "audit loans.csv -p broken.toml",
    "audit of insiders and measures": "audit loans.csv -p insiders.toml",
    "discover": "discover loans.csv -p all.toml",
    "skyline": "skyline loans.csv -p insiders.toml --confidence 0.9",
    "publish": "publish loans.csv -p all.toml --dry-run",
    "publish groups": "publish loans.csv -p all.toml --dry-run --method mondrian",
    "publish levels": "publish loans.csv -p all.toml --dry-run --method full-domain",
    "views": "views clinic.csv -p views.toml",
    "views, broken": "views clinic.csv -p bad-views.toml",
    "classifier": "classifier t.csv -p p.toml --dry-run --mitigations",
    "plan": "plan design.toml --epsilon 2",
    "disguise": "disguise answers.csv -d design.toml -p answers.toml "
    "-o out --custody kept",
    "ledger": "ledger new ledger",
    "compare": "compare loans.csv -p all.toml",
    "compare limits": "compare loans.csv -p all.toml "
    "--sweep 'nobody learns a discharge=0.6:0.8:0.1'",
}


@pytest.fixture
def files(folder: Path) -> Path:
    with as_file(clinic_path()) as path:
        shutil.copy(path, folder / "clinic.csv")
    every = '[columns]\nquasi = ["job", "country", "child", "rating"]\n'
    every += 'sensitive = "bankruptcy"\nweight = "count"\n'
    rows = ["home,age,pay"]
    rows += ["W,40,70K"] * 4 + ["P,30,70K", "W,40,50K", "P,30,50K"]
    answers = ["smokes,age", *(f"{'yes' if i % 4 else 'no'},{i}" for i in range(99))]
    texts = {
        "all.toml": every + KNOWING_ALL.replace("0.5", "0.7"),
        "insiders.toml": COLUMNS + INSIDER,
        "views.toml": VIEWS.replace("LIMIT", "0.7"),
        "bad-views.toml": VIEWS.replace("LIMIT", "0.5"),
        "t.csv": "\n".join(rows) + "\n",
        "p.toml": CLASSIFIER,
        "ages.txt": "30\n40\n50\n",
        "design.toml": DESIGN,
        "answers.toml": ANSWERS,
        "answers.csv": "\n".join(answers) + "\n",
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def list_sentences() -> list[str]:
    """Those of the catalogue that have three words, so that a name is none."""
    source = (CATALOGUES / "privet.pot").read_text(encoding="utf-8")
    texts = re.findall(r'^msgid(?:_plural)? ((?:".*"\n?)+)', source, re.M)
    found = ("".join(map(json.loads, text.splitlines())) for text in texts)
    return [s for s in found if len(re.findall(r"[^\W\d_]{2,}", strip(s))) >= 3]


def strip(sentence: str) -> str:
    return " ".join(before for before, *_ in Formatter().parse(sentence))


def is_in(sentence: str, output: str) -> bool:
    """Whether it was said, whatever its parts were."""
    parts = [re.escape(before) for before, *_ in Formatter().parse(sentence)]
    return re.search(r".{1,80}?".join(parts), output) is not None


SENTENCES = list_sentences()


def test_which_commands_offer_languages() -> None:
    offered = {
        name
        for name, command in cli.commands.items()
        if any("--language" in p.opts for p in command.params)
    }
    assert OFFERED == offered


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize("what", COMMANDS)
def test_nothing_english_is_left(
    files: Path, privet: Privet, what: str, language: str
) -> None:
    done = privet(*split(COMMANDS[what]), "--language", language)
    assert done.exit_code in (0, 1, 3), done.output
    output = " ".join(done.output.split())  # comparisons are folded
    assert [] == [s for s in SENTENCES if is_in(s, output)], done.output
    with speak(language):
        said = [translate(s) for s in SENTENCES]
    assert any(is_in(s, output) for s in said), done.output


def test_english_is_found_where_it_is(files: Path, privet: Privet) -> None:
    done = privet(*COMMANDS["audit"].split())
    assert 5 < sum(is_in(s, done.output) for s in SENTENCES)


def test_the_environment_may_say_it(
    files: Path, privet: Privet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRIVET_LANGUAGE", "fr")
    assert "Violé : " in privet("audit", "loans.csv", "-p", "broken.toml").output
    asked = privet("audit", "loans.csv", "-p", "broken.toml", "--language", "en")
    assert "Breach: " in asked.output


def test_another_language_is_wrong_use(files: Path, privet: Privet) -> None:
    done = privet("audit", "loans.csv", "-p", "broken.toml", "--language", "xx")
    assert 2 == done.exit_code
    assert "'xx' is not one of 'en', 'de', 'fr', 'es'" in done.output


def test_json_keeps_its_keys_and_verdicts(files: Path, privet: Privet) -> None:
    call = ("audit", "loans.csv", "-p", "broken.toml", "--json")
    plain, told = (
        json.loads(privet(*call, "--language", language).output)
        for language in ("en", "de")
    )
    assert plain.keys() == told.keys()
    assert "breach" == told["verdict"] == told["findings"][0]["verdict"]
    assert plain["findings"][0]["posterior"] == told["findings"][0]["posterior"]
    assert "Wer weiß, dass für eine Person" in told["findings"][0]["words"]


def test_what_travels_is_the_same_in_every_language(
    files: Path, privet: Privet
) -> None:
    notes = set()
    for language in LANGUAGES:
        places = ("-o", f"out-{language}", "--custody", f"kept-{language}")
        done = privet(
            *("publish", "loans.csv", "-p", "all.toml", *places),
            *("--language", language),
        )
        assert 0 == done.exit_code, done.output
        assert 0 == privet("verify", f"out-{language}").exit_code
        notes.add((files / f"out-{language}" / "README.txt").read_text("utf-8"))
    assert 1 == len(notes)
    assert "This is a public note" in notes.pop()


# Reports ----------------------------------------------------------------------------


def read_page(path: Path) -> str:
    """What is to be read of a report, without its policy and its digests."""
    text = re.sub(r"<(style|pre)\b.*?</\1>", " ", path.read_text("utf-8"), flags=re.S)
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", text)).split())


@pytest.fixture
def released(files: Path, privet: Privet) -> Path:
    places = ("-o", "out", "--custody", "kept")
    done = privet("publish", "loans.csv", "-p", "all.toml", *places)
    assert 0 == done.exit_code, done.output
    return files


REPORTS = {
    "audit": "loans.csv -p broken.toml",
    "release": "out --custody kept",
    "note": "out --public",
}


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize("what", REPORTS)
def test_a_whole_report_is_in_one_language(
    released: Path, privet: Privet, what: str, language: str
) -> None:
    call = ("report", *REPORTS[what].split(), "--language", language)
    for name in ("a.html", "a.md"):
        done = privet(*call, "-o", name)
        assert done.exit_code in (0, 1, 3), done.output
    html = (released / "a.html").read_text("utf-8")
    assert f'<html lang="{language}">' in html
    for text in (
        read_page(released / "a.html"),
        (released / "a.md").read_text("utf-8"),
    ):
        assert [] == [s for s in SENTENCES if is_in(s, text)]
    assert ("<svg" in html) == (what != "note")


def test_a_record_keeps_its_keys(released: Path, privet: Privet) -> None:
    found = []
    for language in ("en", "es"):
        call = ("report", "out", "--custody", "kept", "-o", f"{language}.json")
        assert 0 == privet(*call, "--language", language).exit_code
        found.append(json.loads((released / f"{language}.json").read_text("utf-8")))
    plain, told = found
    assert plain.keys() == told.keys()
    assert [s["key"] for s in plain["sections"]] == [s["key"] for s in told["sections"]]
    assert ["en", "es"] == [plain["language"], told["language"]]
    assert "safe" == plain["verdict"] == told["verdict"]
    assert plain["headline"] != told["headline"]


@pytest.mark.parametrize("written", ["en", "fr"])
def test_what_was_found_before_is_said_again(
    files: Path, privet: Privet, written: str
) -> None:
    """A record keeps the sentences of its day; a report says them in its own."""
    places = ("-o", "out", "--custody", "kept", "--language", written)
    assert 0 == privet("publish", "loans.csv", "-p", "all.toml", *places).exit_code
    call = ("report", "out", "--custody", "kept", "-o", "a.html", "--language", "de")
    assert 0 == privet(*call).exit_code
    text = read_page(files / "a.html")
    assert "Wer weiß, dass für eine Person job = Trader" in text
    assert "Someone who knows" not in text
    assert "Qui sait" not in text


@pytest.mark.parametrize("language", OTHERS)
def test_verifying_speaks(released: Path, privet: Privet, language: str) -> None:
    done = privet("verify", "out", "--custody", "kept", "--language", language)
    assert 0 == done.exit_code, done.output
    assert [] == [s for s in SENTENCES if is_in(s, done.output)], done.output
    with speak(language):
        said = translate("Unsigned: anybody could have written this.")
    assert said in done.output


@pytest.mark.parametrize("language", OTHERS)
def test_a_classifier_is_verified_in_every_language(
    files: Path, privet: Privet, language: str
) -> None:
    """Whom its promises cover is said in its manifest, in English."""
    places = ("-o", "out", "--custody", "kept", "--language", language)
    made = privet("classifier", "t.csv", "-p", "p.toml", *places)
    assert made.exit_code in (0, 3), made.output
    done = privet("verify", "out", "--language", language)
    assert "release.json" not in done.output
    assert done.exit_code in (0, 3), done.output


def test_python_speaks_too(released: Path) -> None:
    release = pv.load("out")
    try:
        place = release.report("note.md", public=True, language="fr")
        with pytest.raises(pv.InputError, match="one of en, de, fr, es; got 'xx'"):
            release.report("other.md", public=True, language="xx")
    finally:
        close_release(release)
    assert "Note publique" in place.read_text("utf-8")
    assert not Path("other.md").exists()
