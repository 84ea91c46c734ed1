"""The commands that learn from disguised answers, and test on them: learn and score."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from privet.cli import terminal
from privet.cli.answer import Answer, command
from privet.cli.options import (
    confidence_option,
    json_option,
    language_option,
    memory_option,
    quiet_option,
)
from privet.cli.responses import design_option, open_answers

_table = click.option("--table", help="Table of a DuckDB database file.")


@command("Learn a classifier from disguised answers.")
@click.argument("source", metavar="ANSWERS", type=click.Path())
@click.option(
    "--target", required=True, metavar="COLUMN", help="The class: a question."
)
@click.option(
    "--from",
    "attributes",
    multiple=True,
    metavar="COLUMN",
    help="Predict from this question; all others unless you name some.",
)
@click.option(
    "--output",
    "-o",
    required=True,
    type=click.Path(dir_okay=False),
    help="The new file for the model.",
)
@design_option
@_table
@language_option
@json_option
@memory_option
def learn(
    source: str,
    target: str,
    attributes: tuple[str, ...],
    output: str,
    **reading: Any,
) -> Answer:
    """Learn a naive Bayes classifier from disguised ANSWERS alone.

    \b
    Examples:
      privet learn out --target income -o model.json
      privet learn answers.duckdb --target income --from job --from age -o model.json
      privet learn answers.parquet -d design.toml --target income -o model.json

    ANSWERS is the folder of a release, a table with -d, or the database that privet
    collect writes, also while it runs. Rows are counted where they are, and may be
    larger than memory. The class is found in the design by its name.
    """
    from privet.responses.disguised_naive_bayes import DisguisedNaiveBayes
    from privet.responses.report import describe_misfit, describe_model

    terminal.refuse_existing(Path(output))
    with open_answers(source, **reading) as responses:
        model = DisguisedNaiveBayes(responses.design).fit_rows(
            responses, target, attributes=attributes or None
        )
    told = describe_classes(model)
    model.save(output)
    told |= {"file": output, "misfit": model.misfit_.to_dict()}
    return Answer(told, f"{describe_model(told)}\n{describe_misfit(model.misfit_)}")


def describe_classes(model: Any) -> dict[str, Any]:
    """What was learnt, in numbers."""
    from math import exp

    shares = zip(model.classes_.tolist(), model.log_prior_.tolist(), strict=True)
    return {
        "class": model.class_column_,
        "classes": {str(c): exp(p) for c, p in shares},
        "attributes": list(model.columns_),
    }


@command("A classifier's accuracy, from disguised answers.")
@click.argument("model", type=click.Path(exists=True, dir_okay=False))
@click.argument("source", metavar="ANSWERS", type=click.Path())
@confidence_option("How often the interval shall hold the truth.")
@design_option
@_table
@language_option
@json_option
@quiet_option("accuracy")
@memory_option
def score(model: str, source: str, confidence: float, **reading: Any) -> Answer:
    """Estimate the accuracy of MODEL on the true records behind disguised ANSWERS.

    \b
    Examples:
      privet score model.json out
      privet score model.json answers.duckdb
      privet score model.json answers.parquet -d design.toml --json

    MODEL is what privet learn wrote. ANSWERS are disguised by the same design, and
    should not be those it was learnt from: of answers it knows it looks better than
    it is. Errors multiply with every disguised question; where the interval is all
    there is, that is said.
    """
    from privet.responses.disguised_naive_bayes import DisguisedNaiveBayes
    from privet.responses.estimate import estimate
    from privet.responses.report import describe_accuracy, describe_misfit

    learnt = DisguisedNaiveBayes.load(model)
    target = str(learnt.class_column_)
    with open_answers(source, **reading) as responses:
        found = learnt.score_rows(responses, confidence=confidence)
        shares = estimate(responses, responses.design).shares(target)
    majority = max(e.value for e in shares.values())
    told = {
        "class": target,
        "accuracy": found.to_dict(),
        "majority": majority,
        "misfit": learnt.misfit_.to_dict(),
    }
    text = describe_accuracy(found, target, majority)
    text += f"\n{describe_misfit(learnt.misfit_)}"
    return Answer(told, text, quiet=f"{found.value:.6g}")
