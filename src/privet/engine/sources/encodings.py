"""Encodings of text files: which one a file has, as far as its bytes can tell.

A file that is UTF-8 is read as that. Of other files the encodings are tried that make
words of them: letters of one alphabet, without signs in the middle of words. Where two
of them give different texts nobody but the user can tell.
"""

from __future__ import annotations

import codecs
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from privet.engine.sources.packed_files import DAMAGES, PackedFile
from privet.errors import InputError, warn
from privet.languages import say

MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
"""What files may begin with, the longer of two that begin alike first."""

NO_TEXT = {"idna", "punycode", "undefined", "unicode_escape", "raw_unicode_escape"}
NO_TEXT |= {"mbcs", "oem", "utf-7"}
"""Codecs of Python that no table is written in, or that differ between machines."""

ALIASES = {"utf-8-sig": "utf-8", "ascii": "utf-8", "iso8859-1": "latin-1"}
"""Encodings that another name reads as well."""

LOOKED_AT, PIECE = 64 << 20, 1 << 20
"""Bytes of a file that are looked at, and of them that are looked at together."""

TELLING = 1 << 16
"""Bytes around letters that tell the encoding."""

LIKELY = (
    *("cp1252", "iso8859-15", "mac-roman", "cp850", "cp437"),
    *("cp1250", "iso8859-2", "cp852", "cp1251", "koi8-r", "koi8-u", "cp866"),
    *("iso8859-5", "cp1253", "iso8859-7", "cp1254", "cp1257", "iso8859-13"),
)
"""Encodings of one byte per letter that tables are written in."""

WIDE = ("cp932", "euc-jp", "gb18030", "big5", "cp949", "euc-kr")
"""Encodings of several bytes per letter."""

ALPHABETS = (
    "äöüßéèàç",  # German, with words from French
    "àâæçéèêëîïôœùûüÿ",  # French
    "áéíóúüñºª",  # Spanish
    "áâãàçéêíóôõúü",  # Portuguese
    "àèéìíîòóùú",  # Italian
    "åäöéæøü",  # Nordic
    "áðéíóúýþæö",  # Icelandic
    "ëéèïöüáóíú",  # Dutch
    "ąćęłńóśźż",  # Polish
    "áčďéěíňóřšťúůýžäĺľôŕ",  # Czech, Slovak
    "áéíóöőúüű",  # Hungarian
    "čćđšž",  # Croatian, Slovenian
    "ăâîșțşţ",  # Romanian
    "çğıöşüâîûi̇",  # Turkish
    "āčēģīķļņšūž",  # Latvian
    "ąčęėįšųūž",  # Lithuanian
    "äöõüšž",  # Estonian
    "абвгдежзийклмнопрстуфхцчшщъыьэюяёєіїґў",  # Cyrillic
    "αβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώϊϋΐΰ",  # Greek
)
"""Letters beyond a to z that texts of one language have."""

SIGNS = frozenset("“”„‘’‚«»–—…•°€£§©®™±×·¿¡½¼¾²³µºª\u00a0")
"""Signs that texts of any language have, beside their words."""

AMONG_LETTERS = frozenset("’‘·–—\u00a0")
"""Those that may stand between two letters, too."""

APART = frozenset("£€§µ×±½¼¾")
"""Those that touch no letter at all."""


def name_encoding(wanted: object) -> str:
    """The encoding that was asked for, by one name."""
    known = _look_up(wanted)
    if known is None:
        raise InputError(
            f"encoding must be one that Python knows for texts, such as utf-8, cp1252 "
            f"or utf-16; got {wanted!r}."
        )
    return known


def _look_up(wanted: object) -> str | None:
    if not isinstance(wanted, str):
        return None
    try:
        found = codecs.lookup(wanted)
    except (LookupError, ValueError):
        return None
    if not getattr(found, "_is_text_encoding", True):
        return None
    if found.name.replace("-", "_") in NO_TEXT or found.name in NO_TEXT:
        return None
    return ALIASES.get(found.name, found.name)


@dataclass(frozen=True)
class DetectedEncoding:
    """What the bytes of a file allow."""

    name: str = ""
    """The encoding; empty: it cannot be told."""
    sure: bool = True
    """Whether the file says so itself: by a mark, or as UTF-8."""
    among: tuple[str, ...] = ()
    """Where it cannot be told: encodings that make different texts of it."""


def find_encoding(file: PackedFile) -> str:
    """The encoding of a file; what was detected is told, and doubts are asked."""
    found = detect_encoding(_read_sample(file))
    if not found.name:
        some = ", ".join(found.among or (LIKELY[0], "latin-1", "utf-16"))
        raise InputError(
            f"The encoding of {str(file.path)!r} must be known: it is not UTF-8, and "
            f"what it is cannot be told from its letters. Say --encoding "
            f"(encoding=...): {some}, or another one."
        )
    if not found.sure:
        warn(
            say(
                "The text of {file} is read as {name}, since it is not UTF-8 "
                "and this makes words of it. Say --encoding "
                "(encoding={quoted}) if that is right, or the right one.",
                file=repr(str(file.path)),
                name=found.name,
                quoted=repr(found.name),
            )
        )
    return found.name


def _read_sample(file: PackedFile) -> bytes:
    """What tells the encoding: the beginning, or the pieces that are not UTF-8."""
    telling, first = b"", b""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        with file.open() as stream:
            read = 0
            while read < LOOKED_AT and (piece := stream.read(PIECE)):
                first, read = first or piece, read + len(piece)
                if len(telling) < TELLING and not _is_utf8(decoder, piece):
                    telling += _cut_lines(piece)
                    decoder.reset()
    except DAMAGES:
        pass  # told when it is read
    return (first[:4] if _has_mark(first) else b"") + telling if telling else first


def _is_utf8(decoder: codecs.IncrementalDecoder, piece: bytes) -> bool:
    if piece.isascii():
        return not decoder.getstate()[0]
    try:
        decoder.decode(piece)
    except UnicodeDecodeError:
        return False
    return True


def _has_mark(first: bytes) -> bool:
    return first.startswith(tuple(MARKS))


def _cut_lines(piece: bytes) -> bytes:
    """Lines that are not ASCII, whole ones, and not too many."""
    if b"\0" in piece[:1024]:
        return piece[:TELLING]
    lines = (line for line in piece.split(b"\n") if not line.isascii())
    kept = bytearray()
    for line in lines:
        kept += line[:1024] + b"\n"
        if len(kept) > TELLING:
            break
    return bytes(kept)


def detect_encoding(sample: bytes) -> DetectedEncoding:
    """The encoding of some bytes.

    >>> detect_encoding("Köln".encode()).name
    'utf-8'
    >>> detect_encoding("Müller;Köln".encode("cp1252"))
    DetectedEncoding(name='cp1252', sure=False, among=())
    """
    for mark, name in MARKS.items():
        if sample.startswith(mark):
            return DetectedEncoding(name)
    if _fits_utf8(sample) and b"\0" not in sample[:1024]:
        return DetectedEncoding("utf-8")
    if wide := _detect_utf16(sample):
        return DetectedEncoding(wide, sure=False)
    texts: dict[str, list[str]] = {}
    for name, text in _try_encodings(sample):
        texts.setdefault(text, []).append(name)
    if len(texts) == 1:
        return DetectedEncoding(next(iter(texts.values()))[0], sure=False)
    return DetectedEncoding(among=tuple(names[0] for names in texts.values())[:6])


def _fits_utf8(sample: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)  # cut in a letter or not
    except UnicodeDecodeError:
        return False
    return True


def _detect_utf16(sample: bytes) -> str:
    """UTF-16 without a mark: every other byte of plain letters is zero."""
    few = sample[:4096]
    half = len(few) // 2
    for name, at in (("utf-16-le", 1), ("utf-16-be", 0)):
        if half and few[at::2].count(0) * 2 > half and few[1 - at :: 2].count(0) == 0:
            return name
    return ""


def _try_encodings(sample: bytes) -> Iterator[tuple[str, str]]:
    """The encodings that make words of a sample, and the texts."""
    if b"\0" in sample:
        return
    for name in LIKELY:
        try:
            text = sample.decode(name)
        except UnicodeDecodeError:
            continue
        if _is_language(text):
            yield name, text
    for name in _ask_normalizer(sample):
        yield name, sample.decode(name)


def _ask_normalizer(sample: bytes) -> list[str]:
    """Encodings of several bytes per letter, by how often letters follow each other."""
    try:
        from charset_normalizer import from_bytes
    except ImportError:
        return []
    whole = sample[: sample.rfind(b"\n") + 1] or sample
    found = from_bytes(whole, cp_isolation=list(WIDE), enable_fallback=False)
    return [m.encoding for m in found if m.coherence > 0 and m.chaos < 0.1]


def _is_language(text: str) -> bool:
    """Whether letters beyond a to z are of one alphabet, and signs beside words."""
    letters = {c for c in text if not c.isascii()}
    beyond = {low for c in letters - SIGNS for low in c.lower()}
    if not any(beyond <= set(alphabet) for alphabet in ALPHABETS):
        return False
    beside = zip(text, text[1:], text[2:], strict=False)
    return not any(_is_torn(*three) for three in beside)


def _is_torn(before: str, letter: str, after: str) -> bool:
    """Whether a sign stands inside of a word, or a letter that does not belong there.

    >>> _is_torn("i", "§", ";"), _is_torn("M", "Ÿ", "l"), _is_torn("5", "€", ";")
    (True, True, False)
    """
    if letter.isascii():
        return False
    beside = before.isalpha(), after.isalpha()
    if letter in APART:
        return any(beside)
    if unicodedata.category(letter)[0] != "L":
        return all(beside) and letter not in AMONG_LETTERS
    # K in a word of Greek letters, or a capital after a small letter
    alien = not unicodedata.name(letter, "").startswith("LATIN")
    if alien and any(c.isalpha() and c.isascii() for c in (before, after)):
        return True
    small_around = before.islower() or (after.islower() and before.isupper())
    return letter.isupper() and small_around
