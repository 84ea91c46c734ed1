"""Charts of surveys: what there is to be seen of designs, answers and estimates."""

from __future__ import annotations

from privet.responses.charts.survey_charts import EXHIBITS

__all__ = ["EXHIBITS"]
