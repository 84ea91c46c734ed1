"""How values show themselves: in a notebook, as a chart, as a frame.

A value that others look at inherits `Displayed`. What its picture and its lines are is
said above, in the `charts` of the room it belongs to, as an `Exhibit`; it is imported
when it is first looked at, so that values stay light.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from inspect import signature
from os import PathLike
from pathlib import Path
from typing import Any

from privet.errors import InputError, MissingExtra, suggest_names
from privet.languages import speak, which_language

HOMES = {
    "Audit": "privet.report.charts",
    "ClassifierRelease": "privet.classifier.charts",
    "ClassifierViews": "privet.classifier.charts",
    "Comparison": "privet.comparison.report",
    "ConnectivityGraph": "privet.views.charts",
    "Design": "privet.responses.charts",
    "Discovery": "privet.microdata.charts",
    "Estimate": "privet.responses.charts",
    "Estimates": "privet.responses.charts",
    "Exposure": "privet.microdata.charts",
    "Finding": "privet.report.charts",
    "Frontier": "privet.microdata.charts",
    "Groups": "privet.microdata.charts",
    "Ledger": "privet.report.charts",
    "Policy": "privet.report.charts",
    "Release": "privet.microdata.charts",
    "Responses": "privet.responses.charts",
    "Table": "privet.microdata.charts",
    "Tradeoff": "privet.comparison.report",
    "UtilityReport": "privet.microdata.charts",
    "Views": "privet.views.charts",
    "ViewsRelease": "privet.views.charts",
}
"""Where the exhibit of each value is."""

DOCUMENT_HOMES = {
    "Audit": "privet.release.handover.release_report",
    "ClassifierRelease": "privet.release.handover.release_report",
    "Comparison": "privet.comparison.report",
    "Ledger": "privet.release.handover.release_report",
    "Release": "privet.release.handover.release_report",
    "Responses": "privet.release.handover.release_report",
    "ViewsRelease": "privet.release.handover.release_report",
}
"""Where the report of each value is made that has one to hand over."""

Chart = Any
"""A chart of `report/vega_lite.py`; what users get of it is one of Altair's, and the
extra `report` may not be there."""

NO_PANDAS = (
    "A frame needs pandas: pip install pandas. `to_dict` has the same without it."
)

NO_PANDAS_BUT_ARROW = (
    "A frame needs pandas: pip install pandas. `to_arrow` and `to_dict` have the same "
    "without it."
)


@dataclass(frozen=True)
class Exhibit:
    """What there is to be seen of one sort of value."""

    page: Callable[[Any, str], str]
    """HTML of a value for a notebook, given its picture, which may be empty."""
    lines: Callable[[Any], list[dict[str, Any]]]
    """What a frame holds, a dictionary per line."""
    charts: Mapping[str, Callable[..., Chart]] = field(default_factory=dict)
    """Its charts by name, the first one the usual one. Some count when asked for."""
    picture: Callable[[Any], Chart | None] | None = None
    """The chart of a notebook: of what is at hand, nothing is counted. None of a value:
    it has none."""

    def find_chart(self, which: str | None) -> Callable[..., Chart]:
        """One of its charts."""
        name = next(iter(self.charts)) if which is None else which
        if name not in self.charts:
            raise InputError(
                f"A chart must be one of {', '.join(map(repr, self.charts))}; got "
                f"{name!r}. {suggest_names(str(name), list(self.charts))}"
            )
        return self.charts[name]


def find_exhibit(value: object) -> Exhibit:
    """What there is to be seen of a value."""
    for kind in type(value).__mro__:
        if kind.__name__ in HOMES:
            found = import_module(HOMES[kind.__name__]).EXHIBITS[kind.__name__]
            assert isinstance(found, Exhibit)
            return found
    raise InputError(f"{type(value).__name__} has no chart.")


def _require_told(
    which: str, drawn: Callable[..., Chart], options: Mapping[str, Any]
) -> None:
    """Refuse a chart that is not told what it must be told, or something else."""
    takes = list(signature(drawn).parameters.values())[1:]  # the value comes first
    needed = [p.name for p in takes if p.default is p.empty and p.name not in options]
    if needed:
        raise InputError(
            f"The chart {which!r} must be told {' and '.join(needed)}: "
            f".chart({which!r}, {', '.join(f'{n}=…' for n in needed)})."
        )
    names = [p.name for p in takes]
    for name in options:
        if name not in names:
            has = ", ".join(map(repr, names)) or "nothing"
            raise InputError(
                f"The chart {which!r} must be told {has} only; got {name!r}."
            )


def draw_value(value: object, which: str) -> Chart | None:
    """One of its charts, for a page; None if there is nothing to show."""
    return find_exhibit(value).find_chart(which)(value)


def wake_for(form: str, *, public: bool) -> None:
    """Let what draws start while there is other work; only private pages have charts.

    `form` is the form of a report, or the ending of its file.
    """
    if form in ("html", ".html", ".htm") and not public:
        import_module("privet.report.chart_style").wake_renderer()


class Displayed:
    """A value that shows itself."""

    __slots__ = ()

    def chart(self, which: str | None = None, **options: Any) -> Chart:
        """One of its charts, as Altair knows charts; the gallery shows which.

        Needs the extra `report`. What is not at hand is counted for it.
        """
        exhibit = find_exhibit(self)
        from_value = exhibit.find_chart(which)
        _require_told(which or next(iter(exhibit.charts)), from_value, options)
        style = import_module("privet.report.chart_style")
        style.require_altair()
        found = from_value(self, **options)
        if found is None:
            raise InputError("A chart must have something to show; there is nothing.")
        return style.as_altair(found)

    def to_frame(self) -> Any:
        """A pandas table of what there is to be seen; shares are floats there."""
        try:
            import pandas as pd
        except ImportError:
            raise MissingExtra(NO_PANDAS) from None
        return pd.DataFrame(find_exhibit(self).lines(self))

    def _repr_html_(self) -> str:
        exhibit = find_exhibit(self)
        style = import_module("privet.report.chart_style")
        drawn = ""
        if exhibit.picture is not None and style.can_draw():
            picture = exhibit.picture(self)
            drawn = "" if picture is None else style.render_inline(picture)
        return exhibit.page(self, drawn)


class Reportable(Displayed):
    """A value that shows itself, and of which a report can be handed over."""

    __slots__ = ()

    def report(
        self,
        path: str | PathLike[str],
        *,
        format: str | None = None,  # noqa: A002 - the word users know
        public: bool = False,
        replace: bool = False,
        language: str | None = None,
        **known: Any,
    ) -> Path:
        """Write its report to one file, whole or not at all; its place comes out.

        Parameters
        ----------
        path
            The file; its ending says the form: ``.html``, ``.json`` or ``.md``.
        format
            ``"html"``, ``"json"`` or ``"markdown"``; of a release also ``"croissant"``
            and ``"dcat"``, which describe it to catalogues.
        public
            The note for recipients instead, of a release that was written.
        replace
            Whether to write over an existing file.
        language
            What its sentences and charts are written in: ``"en"``, ``"de"``, ``"fr"``
            or ``"es"``; English unless you say so.
        known
            Of a release `custody`, the folder of its private record, and `policy`, to
            judge it by other promises than its own; of an audit or a comparison `of`,
            the table, and `policy`; of a catalogue's description `state`, what only its
            publisher knows: license, url, creator, published.
        """
        wake_for(format or Path(path).suffix.lower(), public=public)
        writer = import_module("privet.release.handover.report_file")
        with speak(language or which_language()):
            place: Path = writer.hand_over(
                self, path, form=format, public=public, replace=replace, **known
            )
        return place


class Tabulated(Displayed):
    """A value whose frame is made of columns, for pandas and for pyarrow alike."""

    __slots__ = ()

    def _list_columns(self) -> dict[str, list[Any]]:
        """The columns of its frame by name."""
        raise NotImplementedError

    def to_frame(self) -> Any:
        """A pandas table; `to_arrow` gives the same to others."""
        try:
            import pandas as pd
        except ImportError:
            raise MissingExtra(NO_PANDAS_BUT_ARROW) from None
        return pd.DataFrame(self._list_columns())

    def to_arrow(self) -> Any:
        """The same as a table of pyarrow, which polars and DuckDB read."""
        import pyarrow as pa

        return pa.table(self._list_columns())
