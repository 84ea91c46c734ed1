"""What the manifest of groups has of its own."""

from __future__ import annotations

GROUPS_FIELDS = {
    "method": "`mondrian`, or `full-domain` for levels and subtrees.",
    "form": "`generalised`, a table with ranges and sets in place of values; or "
    "`buckets`, two tables.",
    "columns.shown_as": "Of a generalised table: `ranges`, `sets`, or `levels` of a "
    "hierarchy; absent where every group shows one value.",
    "columns.written_as": "Of a generalised table: the columns with the ends of "
    "ranges, both included; or `null` where an empty cell stands for any value.",
    "columns.file": "Of buckets: the table that has the column; the group is in both.",
    "labels": "Of a generalised table: how to read what is shown in place of values.",
    "chosen.by": "Of full-domain: `levels`, one for each column, or `subtrees`.",
    "chosen.optimum": "`proved`: no other choice of levels keeps more; `within 3 %`: "
    "one might cost so much less; `local`, of subtrees: no single step keeps more; "
    "`open`: that was not tried to the end.",
    "chosen.suppressed": "How many people are suppressed.",
    "chosen.shown_as": "What becomes of them: `starred`, with * in every known column, "
    "as one more group; or `left out`.",
    "group": "Of buckets: the column with the number of a person's group, whose role "
    "is `group`.",
    "count": "Of buckets: the column of `values` that says how many of a group have a "
    "value.",
    "measures.name": "The measure's name; beside it what it asks, as in a policy.",
    "measures.verdict": "`safe`.",
    "measures.basis": "`exact`: it was counted.",
    "measures.measured": "What it comes to in the released files, as a fraction in "
    "text.",
}
"""What a manifest of groups has of its own, or in another sense."""

GROUPED = """\
title = "Loan ratings in groups"

[columns]
quasi     = ["job", "country", "child"]
sensitive = ["bankruptcy"]
target    = "rating"
weight    = "count"

[[promise]]
name    = "nobody learns a discharge"
against = "linker"
knows   = ["job", "country", "child", "rating"]
about   = { bankruptcy = "Discharged" }
at_most = 0.75

[[measure]]
k_anonymity = 4
"""
