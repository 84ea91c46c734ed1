"""What the verbs take and give, for type checkers: the types of the kinds of release.

Nothing is imported from here while the program runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeAlias, TypedDict

if TYPE_CHECKING:
    from privet.classifier.publish import ClassifierRelease
    from privet.classifier.release import ClassifierViews
    from privet.classifier.scorecard import Scorecard
    from privet.classifier.transforms.extended_safety_transform import (
        ExtendedSafetyTransform,
    )
    from privet.classifier.transforms.rounding import FlattenedCard
    from privet.classifier.transforms.safety_transform import SafetyTransform
    from privet.engine.protocol import Listener
    from privet.microdata.full_domain.publish import FullDomain
    from privet.microdata.generalisation.publish import Mondrian
    from privet.microdata.groups import Groups
    from privet.microdata.recipe import Recipe
    from privet.microdata.release import Release
    from privet.microdata.suppression.publish import TopDownDisclosure
    from privet.release.refine import Watcher
    from privet.responses.design import Design
    from privet.responses.release import Responses
    from privet.responses.transformer import RandomizedResponse
    from privet.table import Table
    from privet.views.release import Views, ViewsRelease
    from privet.views.split import Proposal, SplitViews

    class Frame(Protocol):
        """A frame of pandas, polars or pyarrow, or a relation of DuckDB."""

        def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
            """The rows, as all of them hand them over."""

    Auditable: TypeAlias = (
        Table
        | Frame
        | Groups
        | Views
        | ClassifierViews
        | Scorecard
        | Responses
        | Design
    )
    """What can be audited: a table as if it were released, or what is released."""

    AuditableRelease: TypeAlias = (
        Release
        | ViewsRelease
        | Proposal
        | ClassifierRelease
        | FlattenedCard
        | RandomizedResponse
    )
    """A release, or a disguise; judged by what others see of it."""

    TransformMethod: TypeAlias = SafetyTransform | ExtendedSafetyTransform
    """How a classifier is made safe."""

    class ListenOptions(TypedDict, total=False):
        """What every publisher takes."""

        max_seconds: float | None
        progress: Listener | None

    class TransformOptions(ListenOptions, total=False):
        """What the publisher of a classifier takes."""

        recipe: None
        since: None
        watcher: None

    class SearchOptions(ListenOptions, total=False):
        """What the publishers of tables take."""

        recipe: Recipe | None
        since: Table | None
        hold_back: bool
        utility: bool
        watcher: Watcher | None

    __all__ = [
        "Auditable",
        "AuditableRelease",
        "ClassifierRelease",
        "Frame",
        "ListenOptions",
        "FullDomain",
        "Mondrian",
        "Recipe",
        "Release",
        "SearchOptions",
        "SplitViews",
        "TopDownDisclosure",
        "TransformMethod",
        "TransformOptions",
        "Views",
        "ViewsRelease",
    ]
