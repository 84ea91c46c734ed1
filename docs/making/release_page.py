"""The page of a release's files, field by field."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import privet as pv
from making import classifier_fields
from making.groups_fields import GROUPED, GROUPS_FIELDS
from making.markdown import fields, page, shown, table
from privet.demo.tables import bank_path
from privet.microdata.report import summarise_release

MANIFEST_FIELDS = {
    "privet": "The version that wrote the release.",
    "manifest": "The form of this document: 1.",
    "kind": "What is released: `groups`, a table whose rows fall into groups; or "
    "`responses`, disguised answers, see below.",
    "title": "The policy's title, or an empty text.",
    "files": "The data files; there is one, or two for buckets.",
    "files.path": "Its name within the folder.",
    "files.rows": "How many rows it has.",
    "files.bytes": "How many bytes it has.",
    "files.sha256": "The SHA-256 of its bytes.",
    "columns": "What is said of each column, by its name.",
    "columns.role": "Its role; absent where it has none.",
    "columns.target": "True of a column with another role that is the target as well.",
    "columns.type": "`text`, `integer`, `number`, `date` or `datetime`: what the "
    "values were before any were hidden. A text file has no types of its own: in a CSV "
    "release, columns that are shown as they are may say `text`.",
    "columns.bins": "The edges of its bins, where the policy has some.",
    "columns.hidden_values": "How many values are hidden. Not which.",
    "columns.shown_as": "The marker that stands for hidden values, or `intervals`, or "
    "`levels` where some are shown by a node of their hierarchy; of groups, `ranges` "
    "or `sets` of values, or `levels` of a hierarchy. `null` where "
    "hidden cells are empty.",
    "columns.written_as": "How it stands in the file, if not as the texts above: the "
    "names of the columns with the ends of its ranges, such as `age_from` and `age_to` "
    "(and `age_missing`, which says where it may be missing, if it may); or `null` "
    "where hidden cells are empty, as those of missing values are.",
    "columns.lists": "Of a column of lists: `typed` where the file has a type for "
    "them, `json` where each list is a text as JSON writes it.",
    "person": "With `[person]`: how several rows of a person became one, without the "
    "column that tells people apart; absent otherwise.",
    "method": "How the table was made safe; `as it is` where nothing was changed.",
    "promises": "Each promise as the policy states it, and what it came to.",
    "promises.name": "The promise's name.",
    "promises.against": 'The adversary and what it knows: `{"linker": ["job"]}`, or '
    '`{"linker": {"knows_any": 2}}`; `{"linker": {}}` knows all quasi and other '
    "columns.",
    "promises.about": "What it is about; absent where the policy left that out.",
    "promises.at_most": "The limit, as a fraction in text; or `below`.",
    "promises.verdict": "`safe`, or `not applicable` to a table.",
    "promises.basis": "`exact`: it was counted.",
    "promises.worst": "The worst case in the released file, as a fraction in text.",
    "measures": "The same for measures, with `measured`; absent where there are none.",
    "not_promised": "What no promise of this kind covers, in sentences.",
    "derived": "Which published columns tell which others, as they were taken to: the "
    "column, `by` which, and whether that holds in every row.",
    "exposure": "Of how many people the release tells something, promised or not: the "
    "fields of [an audit](json.md), without words.",
    "accepted": "What no promise covers and somebody accepted: `about`, `of`, `up_to` "
    "and `why`; absent where there is nothing.",
    "weight": "The column that says how many people a row stands for; absent where "
    "there is none.",
    "escaped": "In a CSV release: how text that a spreadsheet might run is written, "
    "and how to undo it.",
    "digest": "The SHA-256 of everything else in this document: of its JSON text with "
    "sorted keys and without spaces, in UTF-8.",
}

CUSTODY_FIELDS = {
    "custody": "The form of this document: 1.",
    "sensitive": "A reminder that the file quotes the private table.",
    "made": "When, in UTC.",
    "source": "The files that were read, each with its path and SHA-256; empty for a "
    "frame in memory.",
    "rows": "How many rows were read.",
    "rows_from": "What tells these rows from others: digests of the files, table, "
    "`where`, `bins` and, where that was said, how a text file was read. A later "
    "release is compared with it.",
    "engine": "What counted, and its version.",
    "signoff": "The policy's `[signoff]`; null where it has none.",
    "method": "How it was made.",
    "ended": "Why the search ended.",
    "left": "What could have been tried next when the search was stopped: how many "
    "values or cuts by column, or groups; empty if it was not.",
    "recipe": "What is hidden; the same as in `recipe.json`.",
    "steps": "Every move in order: column, values (with `--paper` one value), whether "
    "they are cuts, how many were refused, gain, loss and score of the first, and the "
    "confidence of each rule afterwards; of an exchange, what was hidden for it, and "
    "how many cells and bits more are shown.",
    "policy": "The text of the policy.",
    "accepted": "What was accepted, and by whom.",
    "columns": "The columns that are shown.",
    "history": "What was known of earlier releases, and what they tell together.",
    "ledger": "The ledger it was entered in; null without one.",
    "outline": "What it shows of each column, for judging later releases with it.",
    "before": "The audit of the private table, with witnesses.",
    "after": "The audit of the file that was written, with witnesses.",
    "households": "What was found of promises about households with the private "
    "column; in public they are undecided.",
    "people": "With `[person]`: how many `rows` stood for how many `people`, the "
    "`most` for one, and how many were `tied`; absent otherwise.",
    "utility": "What the release keeps of the table, in numbers, as `privet publish "
    "--json` prints it; null where it was switched off or not done in time.",
    "manifest_sha256": "The SHA-256 of `release.json`, so that the two can be matched.",
}

RECIPE_FIELDS = {
    "recipe": "The form of this document: 1.",
    "marker": "What is shown for a hidden value.",
    "columns": "What is done to each column that is not shown as it is.",
    "columns.hide": "The hidden values; null is a missing one.",
    "columns.show": "The values that were seen and are shown. All others are hidden.",
    "columns.cut_after": "The last value of each interval but the last one. An empty "
    "list: the whole column is hidden.",
    "columns.kind": "The kind of values that were cut.",
}

RESPONSES_FIELDS = {
    "kind": "`responses`.",
    "title": "The survey's title, or the policy's.",
    "columns.type": "`text`: every value is one that the design declares.",
    "columns.shown_as": "`disguised`, or `as it is` for a column that is public.",
    "method": "`randomized response`.",
    "promises.within": "The limit: the factor by which a belief may change.",
    "design": "What was asked, and how each answer was disguised: the keys of a design "
    "file. Estimates need it.",
    "privacy": "What one disguised row gives away about its person at most.",
    "privacy.growth": "e^ε of a whole record, as a fraction in text; null: infinite.",
    "privacy.epsilon": "ε, for reading; null: infinite.",
    "privacy.columns": "e^ε of each disguised column; null: infinite.",
    "privacy.public": "The columns that are not disguised.",
}
"""What a manifest of disguised answers has of its own, or in another sense."""

DISGUISED = """\
title = "Smoking at work"

[[question]]
name = "smokes"
values = ["no", "yes"]
truth = 0.8

[[question]]
name = "age"
bins = [30, 50]
truth = 0.7
"""


def responses_sample() -> dict[str, Any]:
    """The manifest of a few disguised answers."""
    import pyarrow as pa

    from privet.responses.design import read_design

    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "design.toml").write_text(DISGUISED, "utf-8")
        rows = pa.table({"smokes": ["yes", "no", "no"], "age": [25, 41, 67]})
        with pv.read(rows) as table:
            design = read_design(place / "design.toml")
            kept = pv.Promise(pv.Bayesian(), pv.Ratio("56/3"), "smokes")
            found = pv.disguise(
                table,
                design,
                place / "out",
                custody=place / "vault",
                policy=pv.Policy([kept]),
            )
            found.close()
        return _steady(found.manifest)


PUBLISHED = """\
title = "Loan ratings, research file"

[columns]
quasi     = ["job", "country", "child"]
sensitive = ["bankruptcy"]
target    = "rating"
weight    = "count"

[[promise]]
name    = "nobody learns a discharge"
against = "linker"
knows   = ["job", "country"]
about   = { bankruptcy = "Discharged" }
at_most = 0.75

[[promise]]
name    = "nor does whoever has all of it"
against = "linker"
knows   = ["job", "country", "child", "rating"]
about   = { bankruptcy = "Discharged" }
at_most = 0.75
"""


def release_sample() -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Manifest, custody record and summary of a release of the bank table."""
    with (
        tempfile.TemporaryDirectory() as folder,
        pv.read(str(bank_path())) as table,
    ):
        place = Path(folder)
        release = pv.publish(table, pv.Policy.from_toml(PUBLISHED))
        written = release.write(place / "out", custody=place / "vault", format="csv")
        custody = json.loads((place / "vault" / "custody.json").read_text("utf-8"))
        told = summarise_release(release) | {"folder": "out", "custody": "vault"}
        return dict(written.manifest), custody, told


def _steady(manifest: dict[str, Any]) -> dict[str, Any]:
    """The manifest without what differs from run to run: rows are shuffled."""
    files = [{**f, "bytes": "…", "sha256": "…"} for f in manifest["files"]]
    return {**manifest, "files": files, "digest": "…"}


def groups_sample(form: str) -> dict[str, Any]:
    """The manifest of the bank table in groups of a form, or by levels."""
    with (
        tempfile.TemporaryDirectory() as folder,
        pv.read(str(bank_path())) as table,
    ):
        place = Path(folder)
        by_level = form == "levels"
        method = pv.FullDomain() if by_level else pv.Mondrian(form=form)
        release = pv.publish(table, pv.Policy.from_toml(GROUPED), method=method)
        release.write(place / "out", custody=place / "vault")
        return _steady(json.loads((place / "out" / "release.json").read_text("utf-8")))


def release_page() -> str:
    """The files of a release, field by field."""
    manifest, custody, _ = release_sample()
    model, card, _ = classifier_fields.classifier_sample()
    return page(
        "Files of a release",
        "A release is a folder with three files, or four if it is signed, and nothing "
        "else. Everything in it is public. What is "
        "private goes into the custody folder, which is never part of a release. "
        "[Two documents](../explanation/two-documents.md) explains why.",
        table(
            ("file", "where", "what it is"),
            [
                (
                    "`table.parquet`, or `.csv`, `.xlsx`, `.sav`, `.dta`",
                    "release",
                    "The table; rows in a random order, identifiers left out.",
                ),
                (
                    "`people` and `values`, with the same endings",
                    "release",
                    "Instead of the table, for buckets: everybody's group and known "
                    "values; and each group's sensitive values with their `count`.",
                ),
                ("`release.json`", "release", "The manifest, for programs."),
                (
                    "`README.txt`",
                    "release",
                    "The same in short, for people; `verify` writes it again and "
                    "compares.",
                ),
                (
                    "`release.json.sig`",
                    "release",
                    "Who signed the manifest, where somebody did; "
                    "[how](../how-to/sign-a-release.md).",
                ),
                ("`custody.json`", "custody", "How it was made. Private."),
                ("`recipe.json`", "custody", "What is hidden. Private."),
            ],
        ),
        "## The manifest: `release.json`",
        "A dot means *inside*: `columns.role` is the `role` of a column.",
        fields(MANIFEST_FIELDS),
        "The bank table, published with this policy:",
        f"```toml\n{PUBLISHED}```",
        shown(_steady(manifest)),
        "### Groups",
        "A release that `privet publish` wrote with `--method mondrian`, `full-domain` "
        "or `subtrees` has the fields above as far as they apply to it, and these:",
        fields(GROUPS_FIELDS),
        "The bank table in buckets, published with this policy:",
        f"```toml\n{GROUPED}```",
        shown(groups_sample("buckets")),
        "### Disguised answers",
        "A release that `privet disguise` wrote has the fields above as far as they "
        "apply to it, and these:",
        fields(RESPONSES_FIELDS),
        f"Three answers, disguised with this design:\n\n```toml\n{DISGUISED}```",
        shown(responses_sample()),
        "### A classifier",
        "A release that `privet classifier` wrote has these files besides the manifest "
        "and the note:",
        table(
            ("file", "what it is"),
            [(f"`{k}`", said) for k, said in classifier_fields.FILES.items()],
        ),
        "Its manifest has the fields above as far as they apply to it, and these:",
        fields(classifier_fields.CLASSIFIER_FIELDS),
        "A classifier of the bank table, of one column and with coarse points, "
        f"published with this policy:\n\n```toml\n{classifier_fields.POLICY}```",
        shown(_steady(model)),
        "#### The scorecard: `scorecard.json`",
        "For each class add its base and its points for every value of a row; the "
        "largest sum is the prediction. Whole numbers may be longer than 64 bits.",
        fields(classifier_fields.SCORECARD_FIELDS),
        shown(card),
        "## The custody record: `custody.json`",
        "Private: it quotes the table. The folder and its files are readable by their "
        "owner only, where the system knows such a thing.",
        fields(CUSTODY_FIELDS),
        "That of a classifier has these instead:",
        fields(classifier_fields.CUSTODY_FIELDS),
        "## The recipe: `recipe.json`",
        "Private: it names the hidden values. `privet publish --recipe` applies it to "
        "a later delivery, and `pv.Recipe.load` reads it.",
        fields(RECIPE_FIELDS),
        shown(custody["recipe"]),
    )
