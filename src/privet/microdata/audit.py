"""What linkers, insiders and measures make of a table or of groups: the judges."""

from __future__ import annotations

from collections.abc import Mapping

from privet.languages import mark
from privet.microdata.dependence.finer_groups import judge_finer
from privet.microdata.groups import Groups
from privet.microdata.linkage import judge_groups as judge_linked_groups
from privet.microdata.linkage import judge_table as judge_linked_table
from privet.microdata.privacy_models.audit import judge as judge_measures
from privet.microdata.skyline.audit import judge_groups, judge_table
from privet.policy import Measure
from privet.release.kinds import Judge
from privet.table import Table
from privet.values.adversaries import Insider, Linker

VALUES = {Table: mark("a table"), Groups: mark("groups")}
"""What can be judged, and how it is called in a sentence."""

JUDGES: Mapping[tuple[type, type], Judge] = {
    (Table, Linker): judge_linked_table,
    (Groups, Linker): judge_linked_groups,
    (Table, Insider): judge_finer(judge_table),
    (Groups, Insider): judge_groups,
    (Table, Measure): judge_finer(judge_measures),
    (Groups, Measure): judge_measures,
}
"""The arithmetic for each pair of release and adversary."""
