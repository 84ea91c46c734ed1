"""A release of every kind, written to a folder with its custody record."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import pandas as pd

import privet as pv
from privet.demo.tables import bank_path

KNOWING = pv.Promise(
    pv.Linker(["job", "country"]),
    pv.Ceiling("1/2"),
    {"bankruptcy": "Discharged"},
    "nobody learns a discharge",
)
ALL = pv.Promise(pv.Linker(), pv.Ceiling("3/4"), {"bankruptcy": "Discharged"}, "p|q*")
WHY = "the register is public"


def read_loans() -> pv.Table:
    return pv.read(
        str(bank_path()),
        quasi=["job", "country", "child"],
        sensitive="bankruptcy",
        target="rating",
        weight="count",
    )


def disclose(folder: Path, format_: str = "parquet") -> None:
    accepted = pv.Accepted("bankruptcy", why=WHY, who="A. Steward")
    policy = pv.Policy([KNOWING], title="Loans, a file", accepted=[accepted])
    with read_loans() as loans:
        made = pv.publish(loans, policy, method=pv.TopDownDisclosure())
        made.write(folder / "out", custody=folder / "vault", format=format_)


def disclose_as_csv(folder: Path) -> None:
    disclose(folder, "csv")


def group(folder: Path, form: str = "generalised", format_: str = "csv") -> None:
    with read_loans() as loans:
        stated = [ALL, pv.Measure(k_anonymity=3)]
        made = pv.publish(loans, stated, method=pv.Mondrian(form=form))
        made = made.accept({"bankruptcy": WHY})
        made.write(folder / "out", custody=folder / "vault", format=format_)


def bucket(folder: Path) -> None:
    group(folder, "buckets", "parquet")


def split(folder: Path) -> None:
    rows = {
        "name": list("abcdefgh"),
        "age": [20, 30, 40, 50] * 2,
        "job": ["x", "y"] * 4,
        "problem": ["HIV", "Flu", "Cold", "Flu"] * 2,
    }
    table = pv.read(
        pd.DataFrame(rows), identifier="name", quasi=["age", "job"], sensitive="problem"
    )
    with table:
        views = pv.Views(table, ["age"], ["job", "problem"])
        about = {"age": "*", "problem": "*"}
        promise = pv.Promise(pv.Reconstructor(), pv.Ceiling("0.99"), about, "no age")
        pv.publish(views, [promise]).write(folder / "out", custody=folder / "vault")


def classify(folder: Path) -> None:
    rows = pd.read_csv(str(bank_path()))
    rows = rows.loc[rows.index.repeat(rows["count"])]
    model = pv.NaiveBayes().fit(rows[["job", "country", "child"]], rows["rating"])
    accepted = pv.Accepted(of="inversion", why=WHY, who="A. Steward")
    promise = pv.Promise(pv.Bayesian(), pv.Shift("0.51", "0.9"), None, "no mind")
    made = pv.publish(model, pv.Policy([promise], accepted=[accepted]))
    made.write(folder / "out", custody=folder / "vault")


def disguise(folder: Path) -> None:
    asked = [pv.Question("smokes", ["no", "yes"]), pv.Question("town", ["N", "S", "W"])]
    how = [pv.Group("smokes", pv.KAry("0.75")), pv.Group("town", pv.KAry("0.6"))]
    rows = {"smokes": ["no", "no", "no", "yes"] * 3000, "town": ["N", "S", "W"] * 4000}
    promise = pv.Promise(pv.Bayesian(), pv.Ratio(9), "smokes", "odds of smoking")
    with pv.read(pd.DataFrame(rows), quasi=["smokes", "town"]) as table:
        pv.disguise(
            table,
            pv.Design(asked, how, title="Habits"),
            folder / "out",
            custody=folder / "vault",
            policy=pv.Policy([promise]),
        ).close()


KINDS: dict[str, Callable[[Path], None]] = {
    "disclosed": disclose,
    "disclosed csv": disclose_as_csv,
    "grouped": group,
    "buckets": bucket,
    "views": split,
    "classifier": classify,
    "answers": disguise,
}


def make_release(kind: str, folder: Path) -> Path:
    """A release of a kind in ``out``, its record in ``vault``; the folder comes out."""
    folder.mkdir(parents=True, exist_ok=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pv.PrivacyWarning)
        KINDS[kind](folder)
    return folder
