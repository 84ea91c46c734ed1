"""Tables of people, and what linkers and insiders learn from them."""

from __future__ import annotations

from operator import attrgetter

from privet.microdata.audit import JUDGES, VALUES
from privet.microdata.exposure.exposure_count import ExposureWatch, GroupsWatch
from privet.microdata.files import (
    FORM,
    KEYS,
    TableParts,
    find_differences,
    open_judged_table,
    restate,
    restore_release,
)
from privet.microdata.finding_sentences import SENTENCES
from privet.microdata.full_domain.publish import FullDomain
from privet.microdata.generalisation.publish import Mondrian
from privet.microdata.groups import Groups
from privet.microdata.information_loss.table_sections import (
    describe_work,
    write_examples,
)
from privet.microdata.joint_counts import ask_promises, count_rows
from privet.microdata.publish import publish_table
from privet.microdata.release import Release
from privet.microdata.several_releases.delivery_counts import (
    judge_deliveries,
    keep_shown,
)
from privet.microdata.several_releases.outline import complete_outline, outline_value
from privet.microdata.skyline.background_knowledge import find_belief_knowing
from privet.microdata.suppression.publish import TopDownDisclosure
from privet.release.audit import bind_table
from privet.release.kinds import JointParts, ReleaseKind
from privet.release.note import write_table_note
from privet.table import Table

KIND = ReleaseKind(
    name="groups",
    values=VALUES,
    judges=JUDGES,
    shows={Release: attrgetter("_table")},
    bind={Table: bind_table},
    watches={Table: ExposureWatch, Groups: GroupsWatch},
    knowing=find_belief_knowing,
    publish=publish_table,
    publishes=(Table,),
    methods=(TopDownDisclosure, Mondrian, FullDomain),
    options=("recipe", "since", "hold_back", "utility", "progress", "watcher"),
    parts=TableParts,
    open=open_judged_table,
    find_differences=find_differences,
    note=write_table_note,
    restate=restate,
    keys=KEYS,
    restore=restore_release,
    close=Table.close,
    form=FORM,
    joint=JointParts(
        outline=outline_value,
        complete=complete_outline,
        ask=ask_promises,
        count=count_rows,
        deliver=judge_deliveries,
        keep=keep_shown,
    ),
    sentences=SENTENCES,
    sections=describe_work,
    examples=write_examples,
)
"""Microdata as a kind of release."""
