"""Which file of a release has which columns, as what they are written, and what they
are for: from the public manifest alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from privet.languages import mark, say

ROLES = {
    "quasi": mark("what others may know of a person"),
    "sensitive": mark("what nobody may learn of a person"),
    "target": mark("what is to be predicted"),
    "other": mark("published as it is"),
    "identifier": mark("tells people apart"),
    "weight": mark("how many rows a row stands for"),
    "group": mark("the number of the group"),
    "attribute": mark("what predictions are made from"),
}
"""What columns are for, as recipients read it."""

TYPES = {
    "text": mark("text"),
    "integer": mark("whole numbers"),
    "number": mark("numbers"),
    "date": mark("dates"),
    "datetime": mark("dates with times"),
    "boolean": mark("yes or no"),
    "other": mark("other values"),
}
"""What columns hold."""

SHOWN = {
    "intervals": mark("in intervals"),
    "ranges": mark("in ranges of values"),
    "sets": mark("in sets of values"),
    "levels": mark("by a level of its hierarchy"),
    "disguised": mark("disguised by chance"),
}
"""How columns are shown that do not show each value."""


@dataclass(frozen=True)
class WrittenColumn:
    """A column as it stands in a file of a release."""

    name: str
    """Its name in the file."""
    column: str
    """The column of the table that it shows; several may show one."""
    about: Mapping[str, Any]
    """What the manifest says of that column."""

    @property
    def kind(self) -> str:
        """What its cells are written as: text, where some are hidden or in ranges."""
        if self.name != self.column:  # one end of a range, or whether it is missing
            return "boolean" if self._is_flag() else str(self.about["type"])
        shown = self.about.get("shown_as", "")
        plain = not shown or self.about.get("written_as") == "null"
        if not plain or "bins" in self.about:
            return "text"
        return str(self.about["type"])

    def _is_flag(self) -> bool:
        written = self.about.get("written_as")
        return isinstance(written, list) and self.name in written[2:]

    @property
    def marker(self) -> str:
        """What stands for hidden values in its cells; empty: nothing does."""
        shown = str(self.about.get("shown_as", ""))
        hides = "hidden_values" in self.about and shown not in SHOWN
        return shown if hides and "written_as" not in self.about else ""


def list_columns(manifest: Mapping[str, Any]) -> dict[str, list[WrittenColumn]]:
    """The columns of each file, by its name; a file that is no table has none."""
    views = {v["name"]: v["columns"] for v in manifest.get("views", ())}
    counts = manifest.get("count")  # stands beside values, also where rows have one
    return {
        file["path"]: [
            written
            for name, about in manifest["columns"].items()
            if _is_in(file["path"], name, about, views)
            or (name == counts and PurePath(file["path"]).stem == "values")
            for written in _write_names(name, about)
        ]
        for file in manifest["files"]
        if not file["path"].endswith(".json") and manifest["kind"] != "classifier"
    }


def _is_in(
    path: str,
    name: str,
    about: Mapping[str, Any],
    views: Mapping[str, Sequence[str]],
) -> bool:
    stem = PurePath(path).stem
    if views:
        return name in views.get(stem, ())
    return bool(about.get("file", stem) == stem)


def _write_names(name: str, about: Mapping[str, Any]) -> list[WrittenColumn]:
    written = about.get("written_as")
    names = written if isinstance(written, list) else [name]
    return [WrittenColumn(n, name, about) for n in names]


def say_role(about: Mapping[str, Any]) -> str:
    """What a column is for."""
    role = str(about.get("role", ""))
    said = say(ROLES[role]) if role in ROLES else role
    target = say(ROLES["target"]) if about.get("target") else ""
    return "; ".join(part for part in (said, target) if part) or "—"


def say_type(about: Mapping[str, Any]) -> str:
    """What a column holds, hidden cells aside."""
    return say(TYPES.get(about["type"], about["type"]))


def say_shown(about: Mapping[str, Any]) -> str:
    """How its values are shown."""
    shown, hidden = about.get("shown_as", ""), about.get("hidden_values")
    parts = [say(SHOWN[shown])] if shown in SHOWN else []
    if hidden is not None and shown not in SHOWN:
        empty = about.get("written_as") == "null"
        sign = say("an empty cell") if empty else shown
        parts.append(say("{n} values hidden as {sign}", n=f"{hidden:,}", sign=sign))
    if "bins" in about and not parts:
        parts.append(say("in ranges fixed beforehand"))
    return "; ".join(parts) or say("as it is")
