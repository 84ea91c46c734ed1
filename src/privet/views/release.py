"""Views: projections of one base table without duplicates; and their release.

Wang, Lakshmanan 2006, section 3.2.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from privet.display import Displayed, Reportable
from privet.engine.protocol import JoiningEngine, Run
from privet.engine.sources.dataframes import is_frame
from privet.errors import InputError
from privet.findings import Audit
from privet.policy import Accepted, Policy, View, views_of
from privet.policy.acceptance import accepted_of
from privet.release.custody_record import describe_bins
from privet.release.history import History
from privet.release.joint.outlines import ReleaseOutline, ShownColumn
from privet.release.write import TableRelease
from privet.table import Table, read, require_columns
from privet.values.schema import Roles
from privet.views.sql.join import JoinedViews, relate
from privet.views.sql.view_tuples import (
    ViewPair,
    ViewTuples,
    count_tuples,
    fetch_tuples,
)

if TYPE_CHECKING:
    from privet.release.verb_types import Frame
    from privet.views.connectivity import AssociationCover, ConnectivityGraph
else:  # for whoever reads the hints while running
    Frame = object

Columns = View | str | Sequence[str]
"""A view, or the columns of one."""


@attrs.frozen(eq=False, init=False)
class Views(Displayed):
    """What is published of a table: several sets of columns, each as a view.

    >>> import privet as pv
    >>> from privet.demo.tables import clinic_path
    >>> patients = pv.read(str(clinic_path()), identifier="name",
    ...                    sensitive="problem")
    >>> Views(patients, ["name", "age"], ["age", "job", "problem"])
    Views(view-1: name, age; view-2: age, job, problem)
    """

    table: Table
    """The rows; of views that were loaded, the rows of all their files."""
    views: tuple[View, ...]
    """Which columns each view shows."""
    marker: str | None = None
    """Of loaded views, the column that says which view a row is of."""
    accepted: tuple[Accepted, ...] = ()
    """What a policy leaves open by name."""

    def __init__(
        self,
        table: Table | Frame,
        *views: Columns,
        marker: str | None = None,
        accepted: Sequence[Accepted] = (),
    ) -> None:
        if is_frame(table):
            table = read(table)
        if not isinstance(table, Table):
            raise InputError(
                "Views must be of a Table, such as read() opens, or of a frame; got "
                f"{type(table).__name__}."
            )
        if not views:
            raise InputError("There must be at least one view; got none.")
        self.__attrs_init__(table, views_of(views), marker, accepted_of(accepted))
        for view in self.views:
            require_columns(view.columns, table.schema, f"view {view.name!r}")
            if table.roles.weight in view.columns:
                raise InputError(
                    f"A view must not show the weight {table.roles.weight!r}: it is "
                    "published without duplicates."
                )
            if gone := [c for c in view.columns if c in table.roles.drop]:
                raise InputError(
                    f"View {view.name!r} must not show a column that is dropped; got "
                    f"{gone[0]!r}."
                )

    def __len__(self) -> int:
        return len(self.views)

    def __repr__(self) -> str:
        shown = [f"{v.name}: {', '.join(v.columns)}" for v in self.views]
        return f"Views({'; '.join(shown)})"

    def to_dict(self) -> dict[str, Any]:
        """For machines: which columns each view shows; no cell of a row."""
        return {"views": [v.to_dict() for v in self.views]}

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that is published, in the order of the table."""
        shown = {c for v in self.views for c in v.columns}
        return tuple(c for c in self.table.schema.names if c in shown)

    @property
    def roles(self) -> Roles:
        """What the columns are for."""
        return self.table.roles

    @property
    def engine(self) -> JoiningEngine:
        """What joins the views."""
        engine = self.table.engine
        if not isinstance(engine, JoiningEngine):
            raise InputError(
                "Views must be of a table that DuckDB reads; "
                f"{self.table.words} stays elsewhere. Export it as Parquet first."
            )
        return engine

    def with_roles(self, roles: Roles) -> Views:
        """The same views, other roles."""
        return self._of(self.table.with_roles(roles))

    def bind(self, table: Table, accepted: Sequence[Accepted]) -> Views:
        """The same views of other rows, with what is left open by name."""
        return Views(table, *self.views, marker=self.marker, accepted=accepted)

    def _of(self, table: Table) -> Views:
        return self.bind(table, self.accepted)

    def connectivity(self, about: object = None) -> ConnectivityGraph:
        """Which tuples can belong together, around whom an association is about.

        >>> import privet as pv
        >>> from privet.demo.tables import clinic_path
        >>> patients = pv.read(str(clinic_path()), identifier="name",
        ...                    sensitive="problem")
        >>> views = Views(patients, ["name", "age"], ["age", "job", "problem"])
        >>> views.connectivity({"name": "George", "problem": "HIV"})
        ConnectivityGraph(6 nodes, 9 edges: age, name; age, problem)
        """
        from privet.views.connectivity import draw_connectivity

        return draw_connectivity(self, about)

    def cover(self, about: object = None) -> AssociationCover:
        """Every private value that the join of the views gives one person.

        >>> import privet as pv
        >>> from privet.demo.tables import clinic_path
        >>> patients = pv.read(str(clinic_path()), identifier="name",
        ...                    sensitive="problem")
        >>> views = Views(patients, ["name", "age"], ["age", "job", "problem"])
        >>> views.cover({"name": "Alan", "problem": "HIV"})
        AssociationCover(Alan: Cold)
        """
        from privet.views.connectivity import list_cover

        return list_cover(self, about)

    def relate(self, sides: ViewPair, run: Run) -> JoinedViews:
        """Two of the views, joined."""
        marked = replace(sides, marker=self.marker, weight=self.roles.weight)
        return relate(self.engine, marked, self.table.recodings, run)

    def tuples(
        self, number: int, columns: Sequence[str], run: Run, *, most: int
    ) -> ViewTuples:
        """The different tuples of some columns of a view, in codes."""
        sides = ViewPair(
            (),
            "",
            "",
            weight=self.roles.weight,
            marker=self.marker,
            views=(number,) * 2,
        )
        recodings = self.table.recodings
        with self.engine.open_projection(
            columns, sides.weight, recodings, run
        ) as places:
            if sides.weight:
                places.check_weight(sides.weight, run)
            return fetch_tuples(places, columns, sides, recodings, run, most)

    def counted(self, number: int) -> tuple[int, int]:
        """The rows of a loaded view, and how many of them differ."""
        view = self.views[number]
        sides = ViewPair((), "", "", marker=self.marker, views=(number,) * 2)
        with self.engine.open_projection(view.columns, None, {}, Run()) as places:
            return count_tuples(places, view.columns, sides, Run())

    def showing(self, *columns: str) -> list[int]:
        """The numbers of the views that show all of these columns."""
        return [
            i for i, view in enumerate(self.views) if set(columns) <= set(view.columns)
        ]


def outline_views(views: Views) -> ReleaseOutline:
    """What views show of each column, for the ledger."""
    table = views.table
    shown = {c: _outline_column(table, c) for c in views.columns}
    sets = tuple(tuple(v.columns) for v in views.views)
    return ReleaseOutline("", "views", "", shown, sets, counted=False)


def _outline_column(table: Table, column: str) -> ShownColumn:
    """A column as it is, in bins, or at a level: by the texts its values become."""
    bins, level = table.roles.bins.get(column), table.relabels.get(column)
    base = describe_bins(bins)
    if level is not None:
        base += json.dumps(level.texts, ensure_ascii=False)
    return ShownColumn(base=base)


@dataclass
class OpenViews:
    """Views that several promises are judged on, which share what is counted."""

    views: Views
    """What is published."""
    run: Run
    """Who may stop it."""
    _open: tuple[ViewPair, JoinedViews] | None = None

    @contextmanager
    def relate(self, sides: ViewPair) -> Iterator[JoinedViews]:
        """Two of the views, joined; the same as last time where they are the same."""
        if self._open is None or self._open[0] != sides:
            self.close()
            self._open = sides, self.views.relate(sides, self.run)
        relation = self._open[1]
        try:
            yield relation
        finally:
            relation.forget()

    def close(self) -> None:
        """Drop what was counted."""
        if self._open is not None:
            self._open[1].close()
        self._open = None


@dataclass(frozen=True, eq=False)
class ViewsRelease(TableRelease, Reportable):
    """Views that keep every promise, before and after they are written."""

    views: Views
    """What is released."""
    policy: Policy
    """What was promised."""
    audit: Audit
    """What an adversary could learn from it."""
    method: str = "views"
    """How it was made."""
    manifest: Mapping[str, Any] = field(default_factory=dict)
    """The public document; empty until it is written."""
    history: History | None = None
    """What earlier releases add; None once loaded from public files."""

    folder: Path | None = None
    """Where they were loaded from; None: they were made here."""

    @cached_property
    def table(self) -> Table:
        """The rows of all views, as their readers see them: those of the files.

        Of views made here they are drafted when they are first asked for.
        """
        if self.folder is not None:
            return self.views.table
        from privet.views.files import open_views

        drafted = self._drafted
        assert drafted.kept is not None
        assert drafted.content is not None
        found = open_views(drafted.kept.path / "release", drafted.content).table
        kept = replace(found.source, words="the views", kept=drafted)
        return replace(found, words="the views", source=kept)

    @property
    def safe(self) -> bool:
        """Whether every promise that applies is kept, earlier releases included."""
        return self.audit.safe and (self.history is None or self.history.safe)

    def to_dict(self) -> dict[str, Any]:
        """For machines: the views and what became of each promise; no witness."""
        kept = ("promise", "verdict", "basis", "limit", "prior", "posterior")
        found = self.audit.to_dict()["findings"]
        return {
            "kind": "views",
            "verdict": self.audit.verdict.value,
            "title": self.policy.title,
            "method": self.method,
            **self.views.to_dict(),
            "promises": [{k: f[k] for k in kept} for f in found],
        }

    def __repr__(self) -> str:
        return f"ViewsRelease({self.views!r}, {self.audit.verdict.value})"
