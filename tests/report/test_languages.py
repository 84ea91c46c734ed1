"""Every sentence of a report is said, and has a translation in every language."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from string import Formatter
from types import ModuleType

import pytest

from privet import InputError
from privet.languages import (
    CATALOGUES,
    LANGUAGES,
    join_words,
    say,
    say_number,
    speak,
    translate,
    which_language,
)

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src" / "privet"
OTHERS = sorted(LANGUAGES.keys() - {"en"})


def load_extraction() -> ModuleType:
    spec = spec_from_file_location("extract", ROOT / "catalogues" / "extract.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


EXTRACTION = load_extraction()
WRITTEN = EXTRACTION.extract()


def find_parts(sentence: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(sentence) if name}


# The catalogues ---------------------------------------------------------------------


def test_the_languages_are_those_of_the_catalogues() -> None:
    assert OTHERS == sorted(EXTRACTION.LANGUAGES)
    assert (CATALOGUES / "privet.pot").read_bytes() == EXTRACTION.as_po(WRITTEN)


@pytest.mark.parametrize("language", OTHERS)
def test_every_sentence_has_a_translation_with_the_same_parts(language: str) -> None:
    known = EXTRACTION.read_catalogue(language)
    wrong = [m.id for m in WRITTEN if m.id and not is_translated(known.get(m.id), m.id)]
    assert [] == wrong, "make catalogues lists them; give each a translation"
    assert {m.id for m in known} == {m.id for m in WRITTEN}


def is_translated(found: object, sentence: str | tuple[str, str]) -> bool:
    """One form for each of the source's; `{n}` may be written out, or not, in one."""
    if found is None or found.fuzzy or found.id != sentence:  # type: ignore[attr-defined]
        return False
    said = found.string  # type: ignore[attr-defined]
    if isinstance(sentence, str):
        return bool(said) and find_parts(said) == find_parts(sentence)
    one, many = (find_parts(s) for s in sentence)
    first, *rest = (find_parts(s) for s in said)
    return all(said) and first | {"n"} == one | {"n"} and all(r == many for r in rest)


@pytest.mark.parametrize("language", OTHERS)
def test_what_privet_reads_is_what_translators_wrote(language: str) -> None:
    po = EXTRACTION.find_file(language).read_bytes()
    compiled = EXTRACTION.find_file(language, "mo").read_bytes()
    assert EXTRACTION.as_mo(po, language) == compiled
    assert EXTRACTION.as_po(EXTRACTION.update(language, WRITTEN)) == po


# The door ---------------------------------------------------------------------------


def test_parts_are_filled_in_once() -> None:
    with speak("de"):
        assert "{x} = {y}" == say("{column} is {value}", column="{x}", value="{y}")
        assert "de" == which_language()
    assert "{x} is {y}" == say("{column} is {value}", column="{x}", value="{y}")


def test_numbers_choose_their_form() -> None:
    forms = "{n} row", "{n} rows"
    said = {}
    for language in LANGUAGES:
        with speak(language):
            said[language] = [say_number(*forms, n) for n in (0, 1, 2000)]
    assert ["0 rows", "1 row", "2,000 rows"] == said["en"]
    assert ["0 Zeilen", "1 Zeile", "2,000 Zeilen"] == said["de"]
    assert ["0 ligne", "1 ligne", "2,000 lignes"] == said["fr"]
    assert ["0 filas", "1 fila", "2,000 filas"] == said["es"]


@pytest.mark.parametrize(
    ("language", "joined"),
    [("de", "a, b und c"), ("fr", "a, b et c"), ("es", "a, b y c")],
)
def test_words_are_joined_in_each_language(language: str, joined: str) -> None:
    with speak(language):
        assert joined == join_words(["a", "b", "c"])
    assert "a, b and c" == join_words(["a", "b", "c"])


def test_what_no_catalogue_has_stays_as_it_is() -> None:
    with speak("fr"):
        assert "{odd} words" == translate("{odd} words")
        assert not translate("")


def test_another_language_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="one of en, de, fr, es; got 'xx'"):
        speak("xx").__enter__()


# Nothing is shown without being said ------------------------------------------------

SAYING = {"say", "say_number", "mark", "translate"}
NOT_YET = {"cli/report.py", "report/documents/worked_examples.py"}
"""Helps, which stay English, and code, which is the same in every language."""

PROGRAM = re.compile(r"_in_(pandas|r|sql)$|^write_examples$")
"""Functions that write worked examples: code is the same in every language."""

ALLOWED = re.compile(
    r"""[<:]|^\W*$      # HTML and styles; signs alone
    |^(bold|dim)\b      # how text looks in a terminal
    |^(\[\[|columns\ =|epsilon|rho|NCP|within\ $|\ ?=\ \[)  # TOML, names of losses
    |^privet\ |^default-src\ |publisher\.pub$  # commands, names, policies of pages
    |\],\ about\ =|^(not|missing\ or)\ \{  # labels of sets
    """,
    re.X,
)
ERRORS_ONLY = {
    *("say_uncounted", "say_overdrawn", "say_not_together", "WITHOUT_NOISE", "LOADED"),
    *("NEEDS", "FONT"),
}
"""What only errors say, which stay English; and names of fonts."""

REFUSING = {"require_columns"}
"""Functions that say something in errors only."""


def list_modules() -> list[Path]:
    found = [*SOURCES.glob("report/*.py"), *SOURCES.rglob("report.py")]
    found += [SOURCES / "release/note.py"]
    found += [SOURCES / "microdata/skyline/insider_words.py"]
    found += [SOURCES / "microdata/finding_sentences.py"]
    found += [SOURCES / "microdata/information_loss/table_sections.py"]
    found += [SOURCES / "classifier/classifier_note.py"]
    found += [SOURCES / "values/insider_phrases.py"]
    found += [*SOURCES.glob("report/documents/*.py")]
    found += [*SOURCES.glob("release/handover/*.py")]
    found += [*SOURCES.rglob("charts.py"), *SOURCES.rglob("charts/*.py")]
    found = list(dict.fromkeys(found))
    return [p for p in found if p.relative_to(SOURCES).as_posix() not in NOT_YET]


def find_unsaid(path: Path) -> Iterator[str]:
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        target = getattr(node, "targets", [None])[0]
        name = getattr(node, "name", getattr(target, "id", ""))
        if name not in ERRORS_ONLY and not PROGRAM.search(name):
            yield from walk_unsaid(node)


def walk_unsaid(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Constant):
        text = node.value if isinstance(node.value, str) else ""
        if re.search(r"[^\W\d_]{2}", text) and " " in text and not ALLOWED.search(text):
            yield text
        return
    for child in list_shown(node):
        yield from walk_unsaid(child)


def list_shown(node: ast.AST) -> Iterator[ast.AST]:
    """Parts that may be shown: no imports, no docstrings, keys, codes, nor errors."""
    if isinstance(node, ast.Import | ast.ImportFrom | ast.Raise | ast.Assert):
        return
    if isinstance(node, ast.Compare):
        return
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") in SAYING:
        yield from (keyword.value for keyword in node.keywords)
    elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in REFUSING:
        return
    elif isinstance(node, ast.JoinedStr):
        texts = (str(v.value) for v in node.values if isinstance(v, ast.Constant))
        yield ast.Constant("".join(texts))
        yield from (v for v in node.values if isinstance(v, ast.FormattedValue))
    elif isinstance(node, ast.Dict):
        yield from node.values
    elif isinstance(node, ast.Subscript):
        yield node.value
    else:
        yield from ast.iter_child_nodes(node)


@pytest.mark.parametrize(
    "path", list_modules(), ids=lambda p: f"{p.parent.name}-{p.stem}"
)
def test_no_sentence_is_shown_without_being_said(path: Path) -> None:
    assert [] == list(find_unsaid(path))


def test_a_sentence_that_is_not_said_is_found(tmp_path: Path) -> None:
    file = tmp_path / "report.py"
    file.write_text(
        'def f(n):\n    "Doc string."\n    return f"There are {n} people."\n'
    )
    assert ["There are  people."] == list(find_unsaid(file))
