"""The method `TopDownDisclosure`: tables with some values suppressed.

Its options, the recipe it arrives at, and the release: what is suppressed is found by a
search, or given by an earlier recipe. Where even the most suppressed table breaks a
promise, the promises are infeasible.
Wang, Fung, Yu 2007, §3.3 (Theorem 3.3), §4 (Algorithm 4.1).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import attrs

from privet.engine.protocol import Run
from privet.errors import InputError, NoAudit
from privet.findings import Audit, Finding, Verdict
from privet.languages import mark
from privet.microdata.full_domain.automatic_hierarchies import build_hierarchy
from privet.microdata.linkage import query_templates, settle_rules
from privet.microdata.recipe import Cut, Hide, Recipe, shows_labels
from privet.microdata.release import (
    Release,
    judge_before,
    judge_policy,
    refuse_unsafe,
)
from privet.microdata.several_releases.outline import judge_release
from privet.microdata.skyline.named_individuals import is_named
from privet.microdata.suppression.cubes.count_cube import Cube
from privet.microdata.suppression.disclosure_orders import try_orders
from privet.microdata.suppression.exchange import ExchangeStep, improve
from privet.microdata.suppression.hidden_together import hide_together
from privet.microdata.suppression.later_delivery import (
    TwoDeliveries,
    hide_more,
    hold_rows_back,
    select_linkers,
)
from privet.microdata.suppression.leading_rules import (
    Stated,
    is_led_by,
    list_beside,
    list_known_beside,
)
from privet.microdata.suppression.sweeps import SweepState, SweepStep, SweptCube
from privet.microdata.suppression.taxonomy import Taxonomy
from privet.microdata.suppression.templates import (
    DisclosureProblem,
    list_fixed,
    prepare_disclosure,
)
from privet.microdata.suppression.top_down_disclosure import (
    DisclosureState,
    DisclosureStep,
    SuppressedAttribute,
    UserGain,
    Utility,
)
from privet.microdata.suppression.unreachable_promises import (
    refuse_infeasible,
    refuse_unreachable,
)
from privet.microdata.suppression.written_cells import spread_suppressed
from privet.microdata.unchanged_table import keeps_all, publish_unchanged
from privet.microdata.written_columns import LABELS, MARKED, MARKER, NULL, refuse_taken
from privet.policy import Policy, Promise
from privet.release.history import History
from privet.release.refine import Refinement, Watcher, refine
from privet.report.joint_reasons import INSIDER
from privet.table import Table, require_columns
from privet.values.adversaries import Linker
from privet.values.arrays import Flags
from privet.values.contingency import Domain
from privet.values.converters import name_fields
from privet.values.hierarchies import Given, Hierarchy, read_hierarchy
from privet.values.schema import as_names

Step = DisclosureStep | SweepStep | ExchangeStep
"""A move of the search."""

AUTOMATIC = "auto"
"""Stands for a hierarchy that is made of what the values are."""

SPLITS = ("infogain", "valid")
IMPROVE = ("short", "thorough", "no")
UTILITIES = ("information", "distortion")
ORDERED = ("integer", "number", "date", "datetime")
"""Kinds of values that are cut into intervals, unless they are in bins."""


def _read_ordered(ordered: str | Iterable[str] | None) -> tuple[str, ...] | None:
    return None if ordered is None else as_names(ordered, "ordered")


@attrs.frozen(field_transformer=name_fields)
class TopDownDisclosure:
    """Hide all values of the columns that may be known, then show what may be shown.

    Parameters
    ----------
    utility
        "information" about the target, "distortion" (how many cells are shown), or a
        function from counts (one row per hidden value, one column per class) to the
        gain of showing each value. None: information where there is a target, else
        distortion.
    maximal
        Whether to go on showing values that tell nothing about the target, as long as
        every promise holds.
    paper
        The published algorithm to the letter: shows one value at a time, whatever
        chance would give, stops where nothing is gained, and takes the most
        informative cut even if another one is allowed. Without it values are shown in
        sweeps, the columns with the fewest values are finished first, and a gain
        counts as far as chance would not give it.
    keep
        Columns that must stay as they are.
    ordered
        Numeric and date columns that are cut into intervals; None: all that are not
        binned.
    split
        "valid": the best cut that keeps the promises; "infogain": the most
        informative one, or none.
    weighted
        Whether gains are weighted by the share of rows they concern, so that those of
        columns that hide few rows yet count less. None: they are, unless `paper`.
    improve
        What is done in the end to show more: "short" discloses a small table again,
        one value at a time, takes what tells most, and tries a few exchanges, in which
        a shown value is hidden to show others; "thorough" tries them until none helps
        or max_seconds are over; "no" tries nothing. An exchange tells no less and hides
        no more cells. Only where `maximal`, and utility is no function.
    marker
        How a hidden value is shown.
    hierarchies
        Value hierarchies by column, as files or as levels of each value; "auto" makes
        one of what the values are. A value that may not be shown is then shown by the
        finest node above it that may. Columns with one are not cut into intervals.
    hidden
        "marker": hidden cells show it; "null": they are empty, like missing ones, and
        the column keeps its type. Missing values of such a column count as hidden.
    ranges
        "labels": intervals are texts; "columns": numbers and dates are written as two
        columns with the ends, such as age_from and age_to, of the column's type.
    """

    kind: ClassVar[str] = "top-down disclosure"
    utility: str | UserGain | None = None
    maximal: bool = True
    paper: bool = False
    keep: tuple[str, ...] = attrs.field(default=(), converter=as_names)
    ordered: tuple[str, ...] | None = attrs.field(default=None, converter=_read_ordered)
    split: str = "valid"
    weighted: bool | None = None
    improve: str = "short"
    hierarchies: Mapping[str, Given | Hierarchy] = attrs.field(factory=dict)
    marker: str = MARKER
    hidden: str = MARKED
    ranges: str = LABELS

    def __attrs_post_init__(self) -> None:
        if self.improve not in IMPROVE:
            raise InputError(f"improve must be one of {IMPROVE}; got {self.improve!r}.")
        self._refuse_hierarchies()
        if self.split not in SPLITS:
            raise InputError(f"split must be one of {SPLITS}; got {self.split!r}.")
        if isinstance(self.utility, str) and self.utility not in UTILITIES:
            raise InputError(
                f"utility must be one of {UTILITIES} or a function; "
                f"got {self.utility!r}."
            )
        if self.paper and self.improve == "thorough":
            raise InputError(
                "improve must be left out with paper, whose algorithm exchanges "
                "nothing; got 'thorough'."
            )
        if self.paper:  # a converter sees one field only
            object.__setattr__(self, "maximal", False)
            object.__setattr__(self, "split", "infogain")
            object.__setattr__(self, "improve", "no")
        self._start_recipe()

    def _refuse_hierarchies(self) -> None:
        """Hierarchies are for sweeps, and their labels are texts."""
        if not isinstance(self.hierarchies, Mapping):
            raise InputError(
                "hierarchies must be by column, such as {'job': 'jobs.csv'}; "
                f"got {type(self.hierarchies).__name__}."
            )
        if self.hierarchies and self.paper:
            raise InputError("hierarchies must be left out with paper, which has none.")
        if self.hierarchies and self.hidden == NULL:
            raise InputError(
                "hierarchies must be left out where hidden is 'null': their labels are "
                "texts, which a column of numbers cannot hold."
            )

    def _start_recipe(self) -> Recipe:
        """A recipe that hides nothing yet, and says how what is hidden is written."""
        return Recipe({}, self.marker, self.hidden, self.ranges)

    def disclose(
        self,
        table: Table,
        promises: Sequence[Promise],
        *,
        run: Run,
        watcher: Watcher | None = None,
        beside: Sequence[Stated] = (),
    ) -> tuple[Recipe, Refinement[Step]]:
        """What may be shown, and how that was found.

        `beside`: what else is to be kept, and leads the search where it may.
        """
        setting, state = self.prepare(table, promises, run=run, beside=beside)
        refined: Refinement[Step] = self.search(state, watcher)
        if refined.ended == "finished" and state.may_show_more():
            refined = replace(refined, ended="chosen")
        found = build_recipe(setting.attributes, self.marker)
        return replace(self._start_recipe(), columns=found.columns), refined

    def search(
        self, state: DisclosureState | SweepState, watcher: Watcher | None = None
    ) -> Refinement[Any]:
        """Show what may be shown: one by one as the paper does, or in sweeps."""
        if isinstance(state, DisclosureState):
            return refine(state, watcher=watcher)
        refined: Refinement[Any] = refine(state, watcher=watcher)
        if refined.ended != "finished" or not (self.maximal and self.improve != "no"):
            return refined
        if not self.hierarchies:  # nodes go from coarse to fine, whatever they tell
            refined = try_orders(
                state, refined, weighted=self.weighted, watcher=watcher
            )
        if refined.ended != "finished":
            return refined
        thorough = self.improve == "thorough"
        steps, ended = improve(state, thorough=thorough, watcher=watcher)
        return replace(refined, steps=(*refined.steps, *steps), ended=ended)

    def prepare(
        self,
        table: Table,
        promises: Sequence[Promise],
        *,
        run: Run,
        beside: Sequence[Stated] = (),
    ) -> tuple[DisclosureProblem, DisclosureState | SweepState]:
        """The counts that are needed, and the state that shows nothing yet."""
        self._refuse_columns(table)
        setting = prepare_disclosure(
            table,
            promises,
            keep=self.keep,
            ordered=self._choose_ordered(table),
            run=run,
            by_promise=not self.paper,
            taxonomy=self._build_taxonomy(table) if self.hierarchies else None,
            beside=beside,
        )
        if self.hidden == NULL:
            _keep_missing_hidden(setting)
        refuse_infeasible(setting)
        how: dict[str, Any] = {
            "utility": self._choose_utility(table, setting.everybody),
            "maximal": self.maximal,
            "split": self.split,
        }
        if self.paper:
            single = [cube for cube in setting.cubes if isinstance(cube, Cube)]
            return setting, DisclosureState(setting.attributes, single, **how)
        swept = [cube for cube in setting.cubes if isinstance(cube, SweptCube)]
        return setting, SweepState(setting.attributes, swept, **how)

    def check_values(self, table: Table, run: Run) -> None:
        """Columns must exist, and hierarchies hold all values, used or not."""
        self._refuse_columns(table)
        build = self._build_taxonomy(table)
        for domain in table.domains(list(self.hierarchies), run).values():
            build(domain)

    def _refuse_columns(self, table: Table) -> None:
        require_columns(self.keep, table.schema, "keep")
        require_columns(self.ordered or (), table.schema, "ordered")
        require_columns(list(self.hierarchies), table.schema, "hierarchies")
        self._refuse_fixed(table)

    def _refuse_fixed(self, table: Table) -> None:
        """What says how columns are blurred must be of columns that may be."""
        fixed = list_fixed(table, self.keep)
        for what, columns in (
            ("hierarchies", self.hierarchies),
            ("ordered", self.ordered or ()),
        ):
            for column in columns:
                if column in fixed:
                    raise InputError(
                        f"{what} must be of columns whose values may be hidden; "
                        f"{column!r} is shown as it is."
                    )

    def _choose_utility(self, table: Table, everybody: int) -> Utility:
        chosen = self.utility
        if chosen is None:
            chosen = "information" if table.roles.target else "distortion"
        if chosen == "information" and not table.roles.target:
            raise InputError(
                mark(
                    "utility must be 'distortion' for a table without a target; "
                    "got 'information'. Declare a target, or choose distortion."
                )
            )
        weighted = not self.paper if self.weighted is None else self.weighted
        if not isinstance(chosen, str):
            return Utility("yours", everybody if weighted else 0, chosen)
        return Utility(chosen, everybody if weighted else 0)

    def _build_taxonomy(self, table: Table) -> Callable[[Domain], Taxonomy | None]:
        """The nodes above a column's values, where it has a hierarchy."""

        def build(domain: Domain) -> Taxonomy | None:
            given = self.hierarchies.get(domain.name)
            if given is None:
                return None
            if isinstance(given, str) and given == AUTOMATIC:
                bins = table.roles.bins.get(domain.name)
                return Taxonomy.build(build_hierarchy(domain, bins=bins), domain)
            what = f"The hierarchy of {domain.name!r}"
            return Taxonomy.build(read_hierarchy(given, what), domain)

        return build

    def _choose_ordered(self, table: Table) -> Callable[[str, Domain], bool]:
        """Whether a column is cut into intervals."""

        def is_ordered(column: str, domain: Domain) -> bool:
            if column in self.hierarchies:
                return False
            if self.ordered is not None:
                return column in self.ordered
            return domain.kind in ORDERED and column not in table.roles.bins

        return is_ordered


def _keep_missing_hidden(setting: DisclosureProblem) -> None:
    """Where hidden cells are empty, missing values are never told from them."""
    for attribute in setting.attributes:
        code = attribute.domain.code(None)
        if code is not None and not attribute.ordered:
            attribute.never[code] = True
            attribute.forget_refused()


# From options to a recipe -----------------------------------------------------------


def choose_method(policy: Policy, table: Table, **options: Any) -> TopDownDisclosure:
    """Top-down disclosure for a policy's purpose; without a target, cells count."""
    target = policy.roles.target or table.roles.target
    utility: str | None = policy.purpose.utility
    if utility == "information" and not target:
        utility = None
    return TopDownDisclosure(**{"utility": utility, **options})


def build_recipe(attributes: Sequence[SuppressedAttribute], marker: str) -> Recipe:
    """What is hidden or cut in the end.

    A single hidden value is as good as shown: everybody would know what it is. So is a
    column that is cut between all of its values.
    """
    columns: dict[str, Hide | Cut] = {}
    for attribute in attributes:
        domain = attribute.domain
        if attribute.ordered:
            after = tuple(domain[c] for c in sorted(attribute.cuts))
            if len(after) + 1 < len(domain):
                spans = attribute.list_intervals()
                alone = tuple(domain[low] for low, high in spans if low == high)
                columns[domain.name] = Cut(after, domain.kind, alone)
        elif attribute.hidden.sum() > 1:
            columns[domain.name] = _hide_values(attribute)
    return Recipe(columns, marker)


def _hide_values(attribute: SuppressedAttribute) -> Hide:
    """What is hidden of a column, shown, or called as a node of its hierarchy."""
    domain, there = attribute.domain, attribute.classes.any(axis=1)
    hidden, called = attribute.hidden, dict[str | None, str]()
    if attribute.taxonomy is not None:
        hidden = attribute.hidden & ~attribute.find_alone()
        called = attribute.taxonomy.name_classes(domain, attribute.climbed, hidden)
    return Hide(
        _select_labels(domain, hidden & (attribute.climbed < 0)),
        _select_labels(domain, there & ~hidden),
        called,
    )


def _select_labels(domain: Domain, which: Flags) -> tuple[str | None, ...]:
    labels = domain.labels
    return tuple(labels[code] for code in which.nonzero()[0].tolist())


# Publishing -------------------------------------------------------------------------


def publish_later(
    table: Table,
    policy: Policy,
    method: TopDownDisclosure | None,
    recipe: Recipe,
    since: Table,
    *,
    hold_back: bool,
    run: Run,
    watcher: Watcher | None,
) -> Release:
    """A later delivery: hide more than the recipe, or hold new rows back."""
    chosen = method or choose_method(policy, table)
    linkers = select_linkers(policy.promises)
    both = TwoDeliveries.count(since, table, recipe, run)
    limits: dict[str, Any] = {"watcher": watcher}
    waiting = None
    if hold_back:
        held = hold_rows_back(both, linkers, policy.accepted)
        waiting = held.people, both.newcomers
        table, found, together = held.as_table(), recipe, held.audit
        refined: Refinement[DisclosureStep] = Refinement((), "recipe")
    else:
        found, refined, together = hide_more(
            both,
            linkers,
            accepted=policy.accepted,
            utility=chosen._choose_utility(table, table.engine.rows(run)),
            ordered=chosen._choose_ordered(table),
            run=run,
            **limits,
        )
    made = publish_suppressed(table, policy, None, found, run=run, **limits)
    others = [p for p in policy.promises_about("groups") if p not in linkers]
    left = [Finding(p, Verdict.UNDECIDED, note=INSIDER) for p in others]
    earlier = made.together.findings if made.together else ()
    history = replace(
        made.history or History(),
        together=Audit((*together.findings, *left, *earlier)),
    )
    return replace(
        made,
        history=history,
        steps=refined.steps,
        ended="recipe" if refined.ended == "finished" else refined.ended,
        left=refined.left,
        held_back=waiting,
    )


def publish_suppressed(
    table: Table,
    policy: Policy,
    method: TopDownDisclosure | None,
    recipe: Recipe | None,
    *,
    run: Run,
    watcher: Watcher | None,
) -> Release:
    """Make a release with values hidden; or raise `Infeasible`."""
    chosen = method or choose_method(policy, table)
    _refuse_named(policy)
    if recipe is not None:
        require_columns(list(recipe.columns), table.schema, "the recipe")
    linkers = [p for p in policy.promises if isinstance(p.against, Linker)]
    table = settle_rules(table, [*policy.promises, *policy.measures], run)
    with warnings.catch_warnings():
        before = judge_before(table, policy, run=run)
    unchanged = recipe is None and keeps_all(before)
    if not unchanged or not any(f.verdict is Verdict.SAFE for f in before.findings):
        _refuse_unjudged(policy, table)
    if unchanged:
        chosen.check_values(table, run)
        return publish_unchanged(table, policy, before, run)
    if recipe is None:
        found, refined = chosen.disclose(
            table,
            linkers,
            run=run,
            watcher=watcher,
            beside=list_beside(policy),
        )
    else:
        found, refined = recipe, Refinement((), "recipe")
    fixed = list_fixed(table, chosen.keep)
    known = _list_known_sets(linkers, table, fixed)
    if not chosen.paper:
        known += list_known_beside(table, list_beside(policy), fixed)
    alone, found = found, hide_together(found, table, known, fixed, run)
    if found != alone and refined.ended == "finished":
        refined = replace(refined, ended="together")
    found, shown = _apply_recipe(table, found, run)
    with warnings.catch_warnings(action="ignore"):  # said once, above
        after = judge_policy(shown, policy, run=run)
    release = Release(
        _table=shown,
        policy=policy,
        audit=after,
        method=chosen.kind if recipe is None else "recipe",
        recipe=found,
        steps=refined.steps,
        before=before,
        ended=refined.ended,
        left=refined.left,
        made_by=chosen if recipe is None else None,
    )
    if recipe is None:
        refuse_unreachable(release, table, fixed, run)
    refuse_unsafe(release)
    refuse_taken(spread_suppressed(release, run), release.columns())
    return judge_release(release, run)


def _apply_recipe(table: Table, recipe: Recipe, run: Run) -> tuple[Recipe, Table]:
    """The table as a recipe shows it; and the recipe, missing values considered."""
    domains = table.domains(list(recipe.columns), run)
    recipe = recipe.hide_missing(domains)
    relabels = recipe.relabels(domains, table.roles.bins)
    coarse = {
        c: None if shows_labels(how) else recipe.marker
        for c, how in recipe.columns.items()
        if c in relabels
    }
    return recipe, replace(table.relabelled(relabels), coarse=coarse)


def _list_known_sets(
    linkers: Sequence[Promise], table: Table, fixed: Collection[str]
) -> list[tuple[frozenset[str], str]]:
    """What somebody is taken to know, with all that it tells."""
    asked = [query_templates(p, table, hiding=fixed) for p in linkers]
    return [(frozenset(t.by), q.column) for q in asked for t in q.tallies]


def _refuse_unjudged(policy: Policy, table: Table) -> None:
    """Nothing is published while nothing leads, or a promise cannot be judged."""
    linkers = any(isinstance(p.against, Linker) for p in policy.promises)
    if not linkers and not any(is_led_by(each, table) for each in list_beside(policy)):
        kinds = sorted({p.against.kind for p in policy.promises})
        raise NoAudit(
            "A table must have promises against a linker or an insider, or measures, "
            "that lead the search, to be published by top-down disclosure; "
            f"got {', '.join([*kinds, *(m.kind for m in policy.measures)]) or 'none'}. "
            "What does not lead is for --method mondrian (method=pv.Mondrian())."
        )


def _refuse_named(policy: Policy) -> None:
    """What is said of people by name would travel with the release."""
    if any(is_named(p) for p in policy.promises):
        raise InputError(
            "A promise about people by name must not be in a policy that is published: "
            "what it says of them would travel with the release. Audit it apart."
        )
