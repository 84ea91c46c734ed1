"""Imports go one way, `import privet` is light, and the core needs the core only."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

HEAVY = {
    "altair",
    "duckdb",
    "numba",
    "numpy",
    "pandas",
    "polars",
    "pyarrow",
    "pyspark",
    "rich",
    "sklearn",
    "starlette",
    "vl_convert",
}


def python(code: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_imports_go_one_way() -> None:
    result = subprocess.run(
        [Path(sys.executable).parent / "lint-imports"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert 0 == result.returncode, result.stdout


LIGHT = """
import json, sys
{work}
print(json.dumps(sorted({{name.split(".")[0] for name in sys.modules}})))
"""

HELP = """
from privet.cli import cli
for words in (["--help"], ["--version"], *([c, "--help"] for c in cli.commands)):
    try:
        cli(words)
    except SystemExit as leaving:
        assert not leaving.code
"""


@pytest.mark.parametrize(
    "work",
    ["import privet", "import privet; dir(privet)", HELP],
    ids=["", "dir", "help"],
)
def test_nothing_heavy_is_imported_before_it_is_needed(work: str) -> None:
    result = python(LIGHT.format(work=work))
    assert "" == result.stderr
    loaded = set(json.loads(result.stdout.splitlines()[-1]))
    assert set() == HEAVY & loaded


PUBLISH = """
import tempfile, privet as pv
from privet.demo.tables import bank_path
loans = pv.read(str(bank_path()), quasi=["job", "country"], sensitive="bankruptcy",
                weight="count", where={"child": ["Yes", "No"]},
                drop=["child", "rating"])
promise = pv.Promise(pv.Linker(), pv.Ceiling("3/4"), {"bankruptcy": "Discharged"})
with tempfile.TemporaryDirectory() as place:
    pv.publish(loans, [promise], method=pv.TopDownDisclosure()).write(
        f"{place}/out", custody=f"{place}/vault")
    assert pv.verify(f"{place}/out").good
"""


VIEWS = """
import privet as pv
from privet.demo.tables import clinic_path
patients = pv.read(str(clinic_path()), identifier="name", sensitive="problem")
views = pv.Views(patients, ["name", "age", "job"], ["age", "problem"], ["job"])
query = "select name, problem from T where age > 40"
for about in (None, {"name": "George", "problem": "*"}, query):
    pv.audit(views, pv.Promise(pv.Reconstructor(), pv.Ceiling("0.9"), about))
"""


@pytest.mark.parametrize("work", [PUBLISH, VIEWS], ids=["publish", "views"])
def test_pandas_is_for_those_who_bring_a_frame(work: str) -> None:
    """pyarrow imports it at the slightest occasion; it takes longer than the work."""
    result = python(LIGHT.format(work=work))
    assert "" == result.stderr
    loaded = set(json.loads(result.stdout.splitlines()[-1]))
    assert set() == {"altair", "pandas", "polars", "sklearn", "vl_convert"} & loaded


REPORT = """
import sys, tempfile
import privet as pv
from privet.demo.tables import bank_path
read = []
sys.addaudithook(lambda event, told: event == "open" and read.append(str(told[0])))
promise = pv.Promise(pv.Linker(), pv.Ceiling("1/2"), "bankruptcy")
roles = dict(quasi=["job"], sensitive="bankruptcy", drop=["child", "country", "rating"])
with (
    tempfile.TemporaryDirectory() as place,
    pv.read(str(bank_path()), **roles) as loans,
):
    found = pv.audit(loans, promise)
    before = read.count(str(bank_path()))
    page = found.report(f"{place}/report.html", of=loans)
    assert "<svg" in page.read_text()
    assert 1 == read.count(str(bank_path())) - before
"""


def test_a_page_is_drawn_without_altair_and_its_table_digested_once() -> None:
    """Importing Altair takes as long as drawing; a digest, as a file is large."""
    result = python(LIGHT.format(work=REPORT))
    assert "" == result.stderr
    loaded = set(json.loads(result.stdout.splitlines()[-1]))
    assert "vl_convert" in loaded
    assert set() == {"altair", "pandas"} & loaded


def test_values_do_not_wake_the_engine() -> None:
    work = "import privet as pv; pv.Promise(pv.Linker(['a']), pv.Ceiling('1/2'), 'b')"
    loaded = json.loads(python(LIGHT.format(work=work)).stdout)
    assert set() == {"duckdb", "pyarrow", "rich"} & set(loaded)


ONE_KIND = """
import pyarrow as pa
import privet as pv
people = pa.table({"job": ["a", "a", "b", "b"], "ill": ["x", "y", "x", "y"]})
table = pv.read(people, quasi=["job"], sensitive="ill")
pv.publish(table, pv.Promise(pv.Linker(["job"]), pv.Ceiling("1/2"), "ill"))
others = ("privet.classifier", "privet.responses", "privet.views")
assert not [name for name in sys.modules if name.startswith(others)]
"""


def test_who_publishes_a_table_does_not_wait_for_other_kinds() -> None:
    assert "" == python(LIGHT.format(work=ONE_KIND)).stderr


NO_MEASURE = """
import privet as pv
pv.Policy.from_toml('[[promise]]\\nagainst = "linker"\\nat_most = 0.5')
assert "privet.microdata" not in sys.modules
"""


def test_a_policy_without_measures_does_not_look_for_them() -> None:
    result = python(LIGHT.format(work=NO_MEASURE))
    assert "" == result.stderr
    assert set() == {"duckdb", "pyarrow", "rich"} & set(json.loads(result.stdout))


ONLY_THE_CORE = """
import sys

CORE = {"attr", "attrs", "duckdb", "_duckdb", "numpy", "pyarrow", "click", "rich"}
OF_THE_CORE = {"markdown_it", "mdurl", "pygments"}  # what rich itself needs
ALLOWED = CORE | OF_THE_CORE | {"privet", *sys.stdlib_module_names}


class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] not in ALLOWED:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


for name in list(sys.modules):
    if name.split(".")[0] not in ALLOWED | {"__main__"}:
        del sys.modules[name]
sys.meta_path.insert(0, Refuse())

import pyarrow as pa
import privet as pv

for name in pv.__all__:
    getattr(pv, name)

from privet.cli import cli

rows = pa.table({"job": ["Cook", "Cook", "Judge"], "ill": ["Flu", "Cold", "Flu"]})
with pv.read(rows, quasi="job", sensitive="ill") as table:
    found = pv.audit(table, pv.Promise(pv.Linker(), pv.Ceiling("1/2")))
print(found.verdict.value, found.worst.belief.posterior)
cli(["audit", sys.argv[1], "-p", sys.argv[2], "--quiet"])
"""


def test_an_audit_needs_the_core_only(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("job,ill\nCook,Flu\nCook,Cold\n", encoding="utf-8")
    (tmp_path / "p.toml").write_text(
        '[[promise]]\nagainst = "linker"\nknows = "job"\n'
        'about = "ill"\nat_most = 0.5\n',
        encoding="utf-8",
    )
    result = python(ONLY_THE_CORE, str(tmp_path / "t.csv"), str(tmp_path / "p.toml"))
    assert "" == result.stderr
    assert ["breach 1", "safe"] == result.stdout.splitlines()


def test_dependencies_are_the_core() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    needed = {d.split(">")[0] for d in project["project"]["dependencies"]}
    assert {"attrs", "duckdb", "numpy", "pyarrow", "click", "rich"} == needed
