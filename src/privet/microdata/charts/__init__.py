"""Charts of tables, groups and their releases: what there is to be seen of them."""

from __future__ import annotations

from privet.microdata.charts.exhibits import EXHIBITS

__all__ = ["EXHIBITS"]
