"""Every document of every kind of release is, key for key, the one that is stored.

Stored are the names of the files, manifest, note, custody record and what `verify` and
`load` say, of good releases and of spoiled ones. Only this is not compared: the time,
versions, sizes, the random bits of draws, the last digits of floats, and the white
space of a policy that privet wrote out itself. Digests are stored as the names of their
files.

After a change that is meant to alter a document, write the stored files anew and read
the difference:

    PRIVET_GOLDEN=write pytest tests/release/test_golden.py && git diff tests
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import privet as pv
from privet.release.kinds import close_release
from privet.release.manifest import digest_content
from release import golden_cases as cases
from release.golden_cases import CASES, FILES, OUT, VAULT, command

STORED = Path(__file__).parent / "golden"

pytestmark = pytest.mark.filterwarnings("ignore::privet.errors.PrivacyWarning")


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with every table; dice fall the same way in each test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        random.SystemRandom, "getrandbits", random.Random(7).getrandbits
    )
    cases.lay_out_files()
    return tmp_path


def compare(name: str, found: object) -> None:
    """Hold a document against the stored one, the order of its keys included."""
    path = STORED / f"{name}.json"
    text = as_lines(found) + "\n"
    if os.environ.get("PRIVET_GOLDEN") == "write":
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text


def as_lines(value: object, indent: int = 0) -> str:
    """JSON with a line for each part that fits into one."""
    text = json.dumps(value, ensure_ascii=False)
    if len(text) + indent <= 88 or not isinstance(value, dict | list):
        return text
    ends, keys = "[]", [""] * len(value)
    if isinstance(value, dict):
        ends, keys = "{}", [f"{json.dumps(k, ensure_ascii=False)}: " for k in value]
    parts = value.values() if isinstance(value, dict) else value
    lines = [
        f"{' ' * (indent + 1)}{key}{as_lines(part, indent + 1)}"
        for key, part in zip(keys, parts, strict=True)
    ]
    return "\n".join([ends[0], ",\n".join(lines), " " * indent + ends[1]])


def test_no_stored_file_is_out_of_use() -> None:
    named = {case.__name__ for case in CASES}
    named |= {f"spoiled_{case.__name__}" for case in SPOILED} | {"refusals"}
    assert named == {path.stem for path in STORED.iterdir()}


# Documents --------------------------------------------------------------------------


def digests() -> dict[str, str]:
    """What each file's digest is called."""
    files = sorted(p for p in Path().rglob("*") if p.is_file())
    return {hashlib.sha256(p.read_bytes()).hexdigest(): str(p) for p in files}


def steady(found: object, place: Path) -> Any:
    """Names in place of digests; neither the folder of the test nor a float's end."""
    text = json.dumps(found).replace(f"{place}/", "")
    for digest, path in digests().items():
        text = text.replace(digest, f"(digest of {path})")
    text = re.sub(r"[\d,]+ bytes in place of [\d,]+", "other bytes", text)
    return json.loads(text, parse_float=lambda digits: float(f"{float(digits):.12g}"))


def read(path: Path) -> dict[str, Any]:
    """A document, which must be written the way all are."""
    text = path.read_text(encoding="utf-8")
    content = json.loads(text)
    assert json.dumps(content, ensure_ascii=False, indent=2) + "\n" == text
    return dict(content)


def manifest() -> dict[str, Any]:
    content = read(OUT / "release.json")
    assert pv.__version__ == content["privet"]
    assert digest_content(content) == content["digest"]
    for file in content["files"]:
        assert (OUT / file["path"]).stat().st_size == file["bytes"]
        file["bytes"] = "(size)"  # which depends on the order of the rows
    return content | {"privet": "(version)", "digest": "(digest of all this)"}


def record() -> dict[str, Any]:
    content = read(VAULT / "custody.json")
    age = datetime.now(UTC) - datetime.fromisoformat(content["made"])
    assert timedelta(0) <= age < timedelta(minutes=10)
    content["made"] = "(time)"
    for engine, version in content.get("engine", {}).items():
        assert re.fullmatch(r"\d+(\.\d+)+", version)
        content["engine"][engine] = "(version)"
    if isinstance(content["policy"], str):
        content["policy"] = policy(content["policy"])
    return content


def policy(text: str) -> str:
    """Which file a policy is, to the byte; or the text without white space."""
    for name, known in FILES.items():
        if known == text:
            return f"(the text of {name})"
    return re.sub(r"\s+", "", text).replace(",]", "]")


def documents() -> dict[str, Any]:
    """Everything a release is made of but its rows."""
    found: dict[str, Any] = {
        "release": sorted(p.name for p in OUT.iterdir()),
        "custody": sorted(p.name for p in VAULT.iterdir()),
        "release.json": manifest(),
        "README.txt": (OUT / "README.txt").read_text(encoding="utf-8").split("\n"),
        "custody.json": record(),
    }
    if (VAULT / "recipe.json").exists():
        recipe = (VAULT / "recipe.json").read_text(encoding="utf-8")
        found["recipe.json"] = recipe.split("\n")
    return found


def verified(after: Any) -> dict[str, Any]:
    """What verify says; the audit is mostly the one that is kept in custody."""
    told = json.loads(command("verify", "out", "--json"))
    same = told["audit"] is not None and told["audit"] == after
    return dict(told) | ({"audit": "(after, of custody.json)"} if same else {})


def compare_documents(name: str, place: Path) -> None:
    found = documents()
    found["verify"] = verified(found["custody.json"].get("after"))
    said = command("verify", "out", "--custody", "vault")
    found["verify --custody"] = said.split("\n")
    compare(name, steady(found, place))
    assert [] == [p.name for p in place.iterdir() if p.name.startswith(".")]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_documents(case: Callable[[], None], place: Path) -> None:
    case()
    compare_documents(case.__name__, place)


@pytest.mark.parametrize(
    ("earlier", "case"),
    [
        (cases.disclosed_csv, cases.mondrian_buckets),
        (cases.views_csv, cases.views_split),
        (cases.classifier_rows, cases.classifier_plain),
        (cases.responses_csv, cases.responses_plain),
    ],
    ids=lambda case: case.__name__,
)
def test_what_replaces_another_is_no_different(
    earlier: Callable[[], None], case: Callable[[], None], place: Path
) -> None:
    earlier()
    case()
    compare_documents(case.__name__, place)


# Spoiled ----------------------------------------------------------------------------


def forge(change: Callable[[dict[str, Any]], object]) -> None:
    content = json.loads((OUT / "release.json").read_text(encoding="utf-8"))
    change(content)
    content["digest"] = digest_content(content)
    (OUT / "release.json").write_text(json.dumps(content), encoding="utf-8")


def data_file() -> Path:
    """The last file: of buckets the one that is judged."""
    return OUT / json.loads((OUT / "release.json").read_text())["files"][-1]["path"]


def change_file() -> None:
    """One row more, which is there already; or a count that is none."""
    path = data_file()
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        path.write_text(text.replace('"sizes"', '"seizes"'), encoding="utf-8")
    else:
        row = max(text.splitlines()[1:])
        path.write_text(f"{text}{row}\n", encoding="utf-8")


def change_file_and_digest() -> None:
    change_file()
    data = data_file().read_bytes()
    now = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    forge(lambda c: c["files"][-1].update(now))


def remove_file() -> None:
    data_file().unlink()


def fill_with_nonsense() -> None:
    data_file().write_bytes(b"\xff\xfe")


def fill_the_first_file_with_nonsense() -> None:
    content = json.loads((OUT / "release.json").read_text())
    (OUT / content["files"][0]["path"]).write_bytes(b"\xff\xfe")


def claim_another_finding() -> None:
    forge(lambda c: c["promises"][0].update(worst="1/7"))


def claim_another_promise() -> None:
    forge(lambda c: c["promises"][0].update(against={"wizard": {}}))


def claim_more_rows() -> None:
    forge(lambda c: c["files"][0].update(rows=999))


def remove_promises() -> None:
    forge(lambda c: c.update(promises=[]))


def take_another_record() -> None:
    """The custody record of another release, of a table or of a classifier."""
    shutil.rmtree(VAULT)
    shutil.move(OUT, "mine")
    if (Path("mine") / "scorecard.json").exists():
        cases.classifier_of_counts()
    else:
        cases.disclosed_named_file()
    shutil.rmtree(OUT)
    shutil.move("mine", OUT)


def take_no_record() -> None:
    shutil.rmtree(VAULT)


HARM: tuple[Callable[[], None], ...] = (
    change_file,
    change_file_and_digest,
    remove_file,
    fill_with_nonsense,
    fill_the_first_file_with_nonsense,
    claim_another_finding,
    claim_another_promise,
    claim_more_rows,
    remove_promises,
    take_another_record,
    take_no_record,
)
SPOILED = (
    cases.disclosed_csv,
    cases.mondrian_buckets_csv,
    cases.views_csv,
    cases.classifier_counts,
    cases.responses_csv,
)


def told_by_load() -> str:
    try:
        close_release(pv.load(OUT))
    except pv.PrivetError as error:
        return f"{type(error).__name__}: {error}"
    return "loaded"


def problems(*words: str) -> Any:
    """What verify finds wrong, and what the promises come to; or its error."""
    said = command("verify", "out", "--json", *words)
    if not said.startswith("{"):
        return said
    told = json.loads(said)
    assert "refused" == told["verdict"] or [] == told["problems"]
    findings = (told["audit"] or {"findings": []})["findings"]
    told["audit"] = [f["figures"] for f in findings] if told["audit"] else None
    return told


@pytest.mark.forgeries
@pytest.mark.parametrize("case", SPOILED, ids=lambda case: case.__name__)
def test_spoiled(case: Callable[[], None], place: Path) -> None:
    case()
    shutil.copytree(OUT, "kept-out")
    shutil.copytree(VAULT, "kept-vault")
    found = {}
    for harm in HARM:
        for folder in (OUT, VAULT):
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(f"kept-{folder}", folder)
        harm()
        found[harm.__name__] = {
            "verify": problems(),
            "verify --custody": problems("--custody", "vault"),
            "load": told_by_load(),
        }
    compare(f"spoiled_{case.__name__}", steady(found, place))


# Refused ----------------------------------------------------------------------------


def refusal(write: Callable[..., object], *place: Any, **options: Any) -> str:
    with pytest.raises(pv.PrivetError) as caught:
        write(*place, **options)
    return f"{type(caught.value).__name__}: {caught.value}"


def disguised(folder: str | Path, **options: Any) -> None:
    policy = pv.Policy.load("factors.toml")
    with pv.read("habits.csv", drop="name") as table:
        design = pv.Design.load("habits.toml")
        pv.disguise(table, design, folder, policy=policy, **options)


REFUSED: dict[str, tuple[str, dict[str, Any]]] = {
    "no folder above": ("nowhere/out", {}),
    "other files": ("mine", {"replace": True}),
    "custody inside": ("new", {"custody": "new/vault"}),
    "custody in use": ("new", {"custody": "used"}),
    "a file as custody": ("new", {"custody": "bank.csv"}),
    "a name of another format": ("new/t.csv", {"format": "parquet"}),
    "no such format": ("new", {"format": "xls"}),
    "a file's name, or a seed": ("new.csv", {}),
}


def refusals(name: str, write: Callable[..., object]) -> dict[str, str]:
    tried = dict(REFUSED)
    if name == "classifier":  # has no other format, and here a seed
        tried = {k: v for k, v in tried.items() if "format" not in k}
    if name in ("table", "responses"):  # may have a file's name
        del tried["a file's name, or a seed"]
    return {
        words: refusal(write, folder, **({"custody": VAULT} | options))
        for words, (folder, options) in tried.items()
    }


def test_refusals(place: Path) -> None:
    """What is not written, and why."""
    Path("mine").mkdir()
    Path("mine/thesis.doc").write_text("three years")
    Path("used").mkdir()
    Path("used/custody.json").write_text("{}")
    before = {p.name for p in place.iterdir()}
    counts = {"A": {"x": {"a": 3, "b": 5}}}
    model = pv.ClassifierViews.from_counts({"a": 3, "b": 5}, counts)
    domain = {"A": ["x"], "class": ["a", "b"]}
    noise = pv.DifferentialPrivacy(1, domain=domain, seed=1)
    noisy = pv.SafetyTransform(privacy=noise)
    promise = pv.Promise(pv.Bayesian(), pv.Ratio(3))
    buckets = pv.Mondrian(form="buckets")
    with cases.bank() as bank, cases.clinic() as clinic:
        shown = pv.Views(clinic, ["name"], ["problem"])
        writers: dict[str, Callable[..., object]] = {
            "table": pv.publish(bank, cases.LOANS).write,
            "buckets": pv.publish(bank, cases.MANY, method=buckets).write,
            "views": pv.publish(shown, [cases.alone("3/5")]).write,
            "classifier": pv.publish(model, [promise], method=noisy).write,
            "responses": disguised,
        }
        found = {name: refusals(name, write) for name, write in writers.items()}
    assert before == {p.name for p in place.iterdir()}
    for name, make in {
        "table": cases.disclosed_csv,
        "views": cases.views_csv,
        "classifier": cases.classifier_counts,
    }.items():
        make()
        loaded = pv.load(OUT)
        found[name]["loaded"] = refusal(loaded.write, "new", custody="v")
        close_release(loaded)
        shutil.rmtree(OUT)
    compare("refusals", steady(found, place))
