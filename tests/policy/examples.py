"""Policies that several tests use."""

from __future__ import annotations

DESIGN = """\
title = "Loan ratings, research file"
[columns]
identifier = ["name"]
quasi      = ["job", "country", "child"]
sensitive  = ["bankruptcy"]
target     = "rating"

[[promise]]
name    = "nobody learns a discharge"
against = "linker"
knows   = ["job", "country"]
about   = { bankruptcy = "Discharged" }
at_most = 0.5                              # read as exactly 1/2

[[promise]]
name         = "insiders stay unsure"
against      = "insider"
rules_out    = 1        # l
knows_others = 2        # k
same_as      = 1        # m
about        = "bankruptcy"
below        = 0.8

[[promise]]
name    = "the classifier moves no mind"   # judged when a classifier is published
against = "bayesian"
about   = "rating"
prior   = "uniform"                        # or { G = 0.6, B = 0.4 }
from    = 0.51
to      = 0.8

[[measure]]
k_anonymity = 5

[purpose]
utility = "information"                    # about the target; or "distortion"
"""
"""The example the project promises to read."""

PROMISE = '[[promise]]\nagainst = "linker"\nabout = "ill"\nat_most = 0.5\n'
"""The shortest promise."""
