"""Tables of people, and what linkers and insiders learn from them."""

from __future__ import annotations

from operator import attrgetter

from privet.microdata.audit import JUDGES, VALUES
from privet.microdata.files import (
    FORM,
    TableParts,
    find_differences,
    open_judged_table,
    restore_release,
)
from privet.microdata.generalisation.publish import Mondrian
from privet.microdata.publish import publish_table
from privet.microdata.release import Release
from privet.microdata.report import SENTENCES
from privet.microdata.skyline.background_knowledge import find_belief_knowing
from privet.microdata.suppression.publish import TopDownDisclosure
from privet.release.audit import bind_table
from privet.release.kinds import ReleaseKind
from privet.table import Table

KIND = ReleaseKind(
    name="groups",
    values=VALUES,
    judges=JUDGES,
    shows={Release: attrgetter("table")},
    bind={Table: bind_table},
    knowing=find_belief_knowing,
    publish=publish_table,
    publishes=(Table,),
    methods=(TopDownDisclosure, Mondrian),
    options=("recipe", "max_seconds", "progress", "watcher"),
    parts=TableParts,
    open=open_judged_table,
    find_differences=find_differences,
    restore=restore_release,
    close=Table.close,
    form=FORM,
    sentences=SENTENCES,
)
"""Microdata as a kind of release."""
