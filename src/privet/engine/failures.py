"""What went wrong in the engine, in words that cannot quote a cell."""

from __future__ import annotations

import re

from privet.errors import EngineError, InputError

EXPECTED = re.compile(r"Expected Number of Columns: (\d+) Found: (\d+)")
LINE = re.compile(r"CSV Error on Line: (\d+)")
JSON_LINE = re.compile(r"Malformed JSON .* in line (\d+)", re.DOTALL)


class DoesNotFit(Exception):
    """The memory limit was reached although the engine may spill to disk."""


class TooLittleMemory(EngineError):
    """Not even the smallest part of the work fits the memory limit."""


def explained(error: BaseException, words: str) -> BaseException:
    """What an error of DuckDB means for the source that messages call `words`.

    Errors that arise while a result is streamed reach us through Arrow, as an OSError
    with DuckDB's text; so the text decides, and none of it is passed on.
    """
    text = str(error)
    if text.startswith("Out of Memory Error"):
        return DoesNotFit()
    if text.startswith("INTERRUPT Error"):
        return KeyboardInterrupt()
    if "CSV" in text or "nicode" in text or "utf-" in text.lower():
        return InputError(_text_file(text, words))
    if found := JSON_LINE.search(text):
        return InputError(
            f"Each line of {words} must be a JSON object; "
            f"the one before line {found[1]} is not."
        )
    if "duplicate key" in text:
        return InputError(f"Each key of an object in {words} must stand there once.")
    return _other(type(error).__name__.removesuffix("Exception"), text, words)


def _text_file(text: str, words: str) -> str:
    line = LINE.search(text)
    place = f"line {line[1]}" if line else "a line"
    if found := EXPECTED.search(text):
        return (
            f"Each line of {words} must have {found[1]} values, as the header has; "
            f"{place} has {found[2]}."
        )
    if "Maximum line size" in text:
        return (
            f"Each line of {words} must be shorter than 2 MB; {place} is not. Look "
            "for a quote that is never closed."
        )
    if "unterminated quote" in text:
        return f"Quotes in {words} must be closed; the one of {place} is not."
    if "utf-16" in text.lower() and "utf-8" not in text.lower():
        return (
            f"Text of {words} must be UTF-16 of letters that take one unit each; it "
            "is not, or has signs such as emoji. Convert it to UTF-8."
        )
    if "nicode" in text or "utf-8" in text.lower():
        return (
            f"Text of {words} must be UTF-8; {place} is not. Give its encoding, "
            "such as encoding='latin-1'."
        )
    return (
        f"The file {words} must be regular CSV; it cannot be read at {place}. "
        "Look for mixed line ends and stray quotes."
    )


def _other(kind: str, text: str, words: str) -> Exception:
    if "lock on file" in text:
        return EngineError(
            f"The database of {words} is open for writing in another process. Close "
            "it there, or read a copy."
        )
    if "Unique file handle conflict" in text:
        return InputError(
            f"The database of {words} must not be open in this program already. Close "
            "it, or hand over a relation such as con.table('people')."
        )
    if kind in ("IO", "OSError"):
        return EngineError(
            f"DuckDB could not read {words}. It may have been moved, cut short or "
            "damaged since it was opened. DuckDB's own message is withheld, since it "
            "may quote people's data."
        )
    return EngineError(
        f"DuckDB could not read {words} ({kind} error). Its own message is withheld, "
        "since it may quote people's data."
    )
