"""Releases of every kind and form, written into the current folder: out and vault.

Each function writes one; the tables they are made from are files in that folder.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from importlib.resources import as_file
from pathlib import Path
from typing import Any

import pyarrow as pa
from click.testing import CliRunner

import privet as pv
from privet.cli import cli
from privet.demo.tables import bank_path, clinic_path
from release import examples
from release.examples import covering, discharged, jobs

OUT, VAULT = Path("out"), Path("vault")
PLACES = ("-o", "out", "--custody", "vault", "--replace")

FILES = {
    "loans.toml": """\
title   = "Loan ratings, research file"
measure = [{ k_anonymity = 1 }]
signoff = { name = "A. Steward", date = 2024-05-06, purpose = "research" }

[columns]
quasi = ["job", "country", "child"]
sensitive = ["bankruptcy"]
target = "rating"
weight = "count"

[[promise]]
name = "nobody learns a discharge"
against = "linker"
knows = ["job", "country"]
about = { bankruptcy = "Discharged" }
at_most = 0.75

[[promise]]
name = "nor with all columns"
against = "linker"
knows = ["job", "country", "child", "rating"]
about = { bankruptcy = "Discharged" }
at_most = 0.75
""",
    "clinic.toml": """\
title   = "A clinic in two views"
columns.identifier = ["name"]
columns.sensitive = ["problem"]
columns.other = ["age", "job", "number"]
view = [
    { name = "people", columns = ["name", "age"] },
    { name = "cases", columns = ["age", "job", "problem"] },
]

[[promise]]
name    = "nobody at 45"
against = "reconstructor"
model   = "restricted"
about   = { name = ["George", "John", "Sarah"], problem = "*" }
at_most = "1/3"
""",
    "pay.toml": """\
title   = "Pay, published model"
columns = { quasi = ["home", "age"], target = "pay" }

[[promise]]
name    = "no mind is moved"
against = "bayesian"
about   = "pay"
from    = 0.51
to      = 0.7

[[accepted]]
of  = "inversion"
why = "the counts are public"
who = "A. Steward"
""",
    "noise.toml": """\
title   = "Pay, published model"
columns = { quasi = ["home", "age"], target = "pay" }

[[promise]]
name    = "no mind is moved"
against = "bayesian"
about   = "pay"
from    = 0.51
to      = 0.7

[domain]
home = ["P", "W", "Q"]
age  = [30, 40]
pay  = ["50K", "70K"]

[[accepted]]
of  = "inversion"
why = "the counts are public"
who = "A. Steward"
""",
    "prior.toml": """\
columns = { quasi = ["home", "age"], target = "pay" }
signoff = { name = "A. Steward", date = 2024-05-06, purpose = "a model for everybody" }

[[promise]]
name    = "a factor of three"
against = "bayesian"
about   = "pay"
within  = 3
prior   = { 70K = 0.25, 50K = 0.75 }

[[accepted]]
of  = "inversion"
why = "the counts are public"
who = "A. Steward"
""",
    "sure.toml": """\
title   = "Nobody is sure"
promise = [
    { name = "nobody is sure", against = "bayesian", about = "smokes", at_most = 0.95 },
]
""",
    "factors.toml": """\
title   = "No odds grow much"
promise = [
    { against = "bayesian", about = "smokes", within = 4, unrelated = true },
    { against = "bayesian", about = "age", within = "14/3", unrelated = ["smokes"] },
]
""",
    "habits.toml": """\
title    = "Habits"
question = [
    { name = "smokes", values = ["no", "yes"], truth = 0.8 },
    { name = "age", bins = [30, 50], truth = 0.7 },
    { name = "sex", values = ["f", "m"], public = true },
]
""",
    "one.toml": """\
one_of   = true
question = [
    { name = "smokes", values = ["no", "yes"], flip = 0.8 },
    { name = "age", bins = [30, 50], truth = 0.7 },
]
""",
    "joint.toml": """\
together = [{ columns = ["smokes", "sex"], truth = 0.5 }]
question = [
    { name = "smokes", values = ["no", "yes"] },
    { name = "sex", values = ["f", "m"] },
]
""",
    "pay.csv": "home,age,pay\n"
    + "W,40,70K\n" * 4
    + "P,30,70K\nW,40,50K\nP,30,50K\nP,40,50K\n",
    "habits.csv": "smokes,age,sex,name\n"
    + "yes,25,f,n1\nno,41,m,n2\nno,67,f,n3\nyes,33,m,n4\n",
}


def lay_out_files() -> None:
    """The tables and policies, in the current folder."""
    for path in (bank_path(), clinic_path()):
        with as_file(path) as file:
            shutil.copy(file, file.name)
    for name, text in FILES.items():
        Path(name).write_text(text, encoding="utf-8")


def command(*words: str) -> str:
    """What a command answers, or why it does not; notes beside an answer aside."""
    done = CliRunner().invoke(cli, words, prog_name="privet")
    assert done.exception is None or isinstance(done.exception, SystemExit)
    return done.stdout or done.stderr


def write(release: Any, folder: Path | str = OUT, **options: Any) -> None:
    release.write(folder, **({"custody": VAULT, "replace": True} | options))


# Tables -----------------------------------------------------------------------------

LOANS = [discharged("3/4"), covering("3/4")]


def bank(**roles: Any) -> pv.Table:
    return examples.bank("bank.csv", **roles)


def disclosed_parquet() -> None:
    with bank() as table:
        write(pv.publish(table, LOANS))


def disclosed_csv() -> None:
    command("publish", "bank.csv", "-p", "loans.toml", *PLACES, "--format", "csv")


def disclosed_named_file() -> None:
    with bank(weight=None, target=None, other="rating", drop="count") as table:
        write(pv.publish(table, [discharged("4/5"), covering("4/5")]), "out/loans.csv")


def disclosed_intervals() -> None:
    """Frames have no file; a promise about missing values has no policy file."""
    rows = pa.table(
        {
            "name": list("abcdefgh"),
            "age": [20, 21, 30, 31, 40, None, 41, 50],
            "pay": [1.0, 2.0, 1.5, 4.0, 5.0, 2.5, 7.0, 8.0],
            "ill": ["x", "y", "x", "y", "x", "y", None, "x"],
        }
    )
    known = {"identifier": "name", "quasi": ["age", "pay"], "sensitive": "ill"}
    promises = [
        pv.Promise(pv.Linker(["age"]), pv.Ceiling("3/4"), {"ill": "x"}, "by age"),
        pv.Promise(pv.Linker(["pay"]), pv.Ceiling(1), {"ill": [None, "y"]}, "no name"),
        pv.Promise(pv.Linker(), pv.Ceiling("3/4"), {"ill": ["x", "y", None]}, "all"),
    ]
    bins = {"pay": [3, 6]}
    with pv.read(rows, bins=bins, where={"ill": ["x", "y", None]}, **known) as table:
        write(pv.publish(table, promises), format="csv")


def _people() -> pa.Table:
    return pa.table(
        {
            "age": pa.array([20, 21, 30, 31, 40, None, 41, 50], pa.int16()),
            "job": ["a", "b", "a", None, "b", "c", "c", "a"],
            "ill": ["x", "x", "x", "y", "x", "y", "z", "x"],
        }
    )


def disclosed_columns() -> None:
    promise = pv.Promise(pv.Linker(), pv.Ceiling("3/4"), "ill", "nobody")
    method = pv.TopDownDisclosure(hidden="null", ranges="columns")
    with pv.read(_people(), quasi=["age", "job"], sensitive="ill") as table:
        write(pv.publish(table, [promise], method=method), format="csv")


def mondrian_columns() -> None:
    promise = pv.Promise(pv.Linker(), pv.Ceiling("3/4"), "ill", "nobody")
    method = pv.Mondrian(hidden="null", ranges="columns")
    with pv.read(_people(), quasi=["age", "job"], sensitive="ill") as table:
        write(pv.publish(table, [promise], method=method), format="csv")


def disclosed_by_recipe() -> None:
    with bank() as table:
        write(pv.publish(table, LOANS), "first", custody="first-vault")
        recipe = pv.Recipe.load(Path("first-vault"))
        write(pv.publish(table, LOANS, recipe=recipe))


# Groups -----------------------------------------------------------------------------

MANY = [pv.Measure(k_anonymity=4), discharged("4/5"), covering("4/5")]
JOBS = {
    "Cook": ["Manual"],
    "Artist": ["Free"],
    "Doctor": ["Free"],
    "Trader": ["Office"],
    "Clerk": ["Office"],
}


def mondrian_generalised() -> None:
    with bank() as table:
        write(pv.publish(table, MANY, method=pv.Mondrian()))


def mondrian_generalised_csv() -> None:
    method = pv.Mondrian(hierarchies={"job": JOBS}, suppress="0.2", same_cuts=True)
    promises = [pv.Measure(k_anonymity=2), covering("4/5")]
    with bank(weight=None, drop="count") as table:
        release = pv.publish(table, promises, method=method)
        write(release, format="csv")


def levels_starred() -> None:
    method = pv.FullDomain(hierarchies={"job": JOBS}, suppress="0.4")
    with bank(weight=None, drop="count") as table:
        release = pv.publish(table, [pv.Measure(k_anonymity=2)], method=method)
        write(release.accept({"bankruptcy": "only groups are asked for"}))


def subtrees_left_out_csv() -> None:
    method = pv.FullDomain(suppress="0.3", leave_out=True, subtrees=True)
    promises = [pv.Measure(k_anonymity=2), covering("4/5")]
    with bank(weight=None, drop="count") as table:
        write(pv.publish(table, promises, method=method), format="csv")


def mondrian_buckets() -> None:
    with bank() as table:
        write(pv.publish(table, MANY, method=pv.Mondrian(form="buckets")))


def mondrian_buckets_csv() -> None:
    promise = pv.Promise(pv.Insider(), pv.Ceiling("3/4"))
    table = jobs(list("aabbccdd"), list("xxyyxyxy"))
    with table:
        method = pv.Mondrian(form="buckets")
        write(pv.publish(table, [promise], method=method), format="csv")


# Views ------------------------------------------------------------------------------


def clinic(**roles: Any) -> pv.Table:
    other = [c for c in ("age", "job", "number") if c != roles.get("weight")]
    stated = {"identifier": "name", "sensitive": "problem", "other": other}
    return pv.read("clinic.csv", **(stated | roles))


def alone(limit: str, about: Any = None) -> pv.Promise:
    return pv.Promise(pv.Reconstructor("restricted"), pv.Ceiling(limit), about)


def views_declared() -> None:
    command("views", "clinic.csv", "-p", "clinic.toml", *PLACES)


def views_csv() -> None:
    about = {"name": "Alan", "problem": "*"}
    with clinic(bins={"age": [40]}, weight="number") as table:
        shown = pv.Views(table, ["name", "age"], ["age", "job", "problem"])
        write(pv.publish(shown, [alone("1/3", about)]), format="csv")


def views_measured() -> None:
    """Other adversaries and measures do not apply to views."""
    linked = pv.Promise(pv.Linker(["age"]), pv.Ceiling(1))
    others = [pv.Measure(k_anonymity=1), linked]
    with clinic() as table:
        shown = pv.Views(table, ["name"], ["problem"])
        write(pv.publish(shown, [alone("3/5"), *others]))


def views_not_applicable() -> None:
    about = {"name": "*", "problem": "*"}
    with clinic() as table:
        shown = pv.Views(table, ["age"], ["job", "problem"])
        write(pv.publish(shown, [alone("1/2", about)]))


TRADES = {"Cook": ["Manual"], "Driver": ["Manual"], "Judge": ["Law"], "Clerk": ["Law"]}


def workers() -> pv.Table:
    rows = pa.table(
        {
            "name": [f"n{i}" for i in range(8)],
            "job": [list(TRADES)[i % 4] for i in range(8)],
            "ill": [f"i{i // 4 % 2 + i % 2}" for i in range(8)],
        }
    )
    return pv.read(rows, identifier="name", sensitive="ill", other="job")


def left_open(limit: str) -> pv.Policy:
    """Worlds over whole tuples, jobs too, are accepted by name."""
    why = "jobs say nothing of who is ill"
    worlds = pv.Accepted("ill", "worlds", why=why, who="the officer")
    return pv.Policy(promises=(alone(limit),), accepted=(worlds,))


def views_split() -> None:
    with workers() as table:
        write(pv.publish(table, left_open("1/2"), method=pv.SplitViews()))


def views_by_level() -> None:
    method = pv.SplitViews(hierarchies={"job": TRADES})
    with workers() as table:
        found = method.propose(table, left_open("1/3"))[-1]
        write(pv.publish(found.views, left_open("1/3")))


# Classifiers ------------------------------------------------------------------------


def classifier(*more: str, policy: str = "pay.toml") -> None:
    """By the command, with coarse points, which are short."""
    said = command("classifier", "pay.csv", "-p", policy, *PLACES, *more)
    assert OUT.is_dir(), said


def classifier_plain() -> None:
    classifier("--bits", "4")


def classifier_extended() -> None:
    classifier("--method", "closeness-declared", policy="prior.toml")


def classifier_counts() -> None:
    classifier("--bits", "4", "--counts")


def classifier_rows() -> None:
    classifier("--bits", "4", "--rows", "200")


def classifier_rows_as_views() -> None:
    classifier("--bits", "4", "--rows", "200", "--views")


def classifier_only_rows() -> None:
    classifier("--rows", "200", "--only-rows")


def classifier_noise() -> None:
    classifier("--epsilon", "1", "--bits", "4", policy="noise.toml")


def classifier_of_counts() -> None:
    """Of a model that has no file."""
    counts = {"Adr": {"W": {"a": 1, "b": 4}, "P": {"a": 2, "b": 1}}}
    model = pv.ClassifierViews.from_counts({"a": 3, "b": 5}, counts)
    others = [pv.Measure(k_anonymity=1), pv.Promise(pv.Linker(), pv.Ceiling(1))]
    promise = pv.Promise(pv.Bayesian(), pv.Ratio(3))
    release = pv.publish(model, [promise, *others])
    write(release.accept({"inversion": "the counts are public"}))


# Answers ----------------------------------------------------------------------------


def disguise(
    *more: str, design: str = "habits.toml", policy: str = "factors.toml"
) -> None:
    asked = Path(design).read_text(encoding="utf-8")
    gone = [c for c in ("age", "sex", "name") if f'name = "{c}"' not in asked]
    drop = [word for c in gone for word in ("--drop", c)]
    stated = ("-d", design, "-p", policy, *drop)
    said = command("disguise", "habits.csv", *stated, *PLACES, *more)
    assert OUT.is_dir(), said


def responses_plain() -> None:
    disguise()


def responses_csv() -> None:
    disguise("--format", "csv", policy="sure.toml")


def responses_one_of() -> None:
    disguise(design="one.toml")


def responses_joint() -> None:
    disguise(design="joint.toml", policy="sure.toml")


CASES: tuple[Callable[[], None], ...] = (
    disclosed_parquet,
    disclosed_csv,
    disclosed_named_file,
    disclosed_intervals,
    disclosed_by_recipe,
    disclosed_columns,
    mondrian_columns,
    mondrian_generalised,
    mondrian_generalised_csv,
    mondrian_buckets,
    mondrian_buckets_csv,
    levels_starred,
    subtrees_left_out_csv,
    views_declared,
    views_csv,
    views_measured,
    views_not_applicable,
    views_split,
    views_by_level,
    classifier_plain,
    classifier_extended,
    classifier_counts,
    classifier_rows,
    classifier_rows_as_views,
    classifier_only_rows,
    classifier_noise,
    classifier_of_counts,
    responses_plain,
    responses_csv,
    responses_one_of,
    responses_joint,
)
"""Everything that is written otherwise than the rest."""
