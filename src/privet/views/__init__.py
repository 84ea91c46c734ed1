"""Published views: what somebody learns who puts them together."""

from __future__ import annotations

from operator import attrgetter

from privet.languages import mark
from privet.policy import Policy
from privet.release.audit import bind_table
from privet.release.kinds import JointParts, ReleaseKind
from privet.table import Table
from privet.values.adversaries import Reconstructor
from privet.views.audit import judge_views
from privet.views.files import (
    FORM,
    KEYS,
    ViewsParts,
    find_differences,
    open_views,
    restate,
    restore_release,
    write_views_note,
)
from privet.views.publish import judge_joined, publish
from privet.views.release import Views, ViewsRelease, outline_views
from privet.views.report import SENTENCES, describe_work, write_examples
from privet.views.split import Proposal, SplitViews


def _bind(views: Views, policy: Policy) -> Views:
    """The views of the rows a policy means, with the roles it gives."""
    accepted = policy.accepted or views.accepted
    return views.bind(bind_table(views.table, policy), accepted)


KIND = ReleaseKind(
    name="views",
    values={Views: mark("views")},
    judges={(Views, Reconstructor): judge_views},
    shows={ViewsRelease: attrgetter("views"), Proposal: attrgetter("views")},
    bind={Views: _bind},
    publish=publish,
    publishes=(Table, Views),
    methods=(SplitViews,),
    options=("progress",),
    parts=ViewsParts,
    open=open_views,
    find_differences=find_differences,
    note=write_views_note,
    restate=restate,
    keys=KEYS,
    restore=restore_release,
    close=lambda views: views.table.close(),
    form=FORM,
    sentences=SENTENCES,
    sections=describe_work,
    examples=write_examples,
    joint=JointParts(outline=outline_views, join=judge_joined),
)
"""Views as a kind of release."""
