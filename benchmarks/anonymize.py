"""Mondrian on the expanded Adult table beside ANJANA and anonypy, and what is kept.

    PRIVET_DATA=folder python benchmarks/anonymize.py [most rows] [seconds for peers]

Speed: 8 quasi-identifying columns, groups of at least 10 people; CPU seconds from the
Parquet file to a release that was written, read back and recounted. Peers begin with
the same file and end with a Parquet file; each gets so many seconds. Loops are compiled
by a run before, whose cost is told apart. privet must be 20 times faster than the
faster of them on the sizes they finish, and take less than 4 GiB for ten million rows.
Five million rows of CSV are timed with numba and without, each part of the work apart,
beside the bare count of the distinct rows by DuckDB; the bars are what ARX took for as
many in one run with an earlier privet, and the memory it took. A CSV file at least four
times the memory limit follows, for groups alone and with an insider's companions, whose
release must be safe. A small run installs no peers.

Quality: Adult, 48,842 rows, 6 quasi-identifying columns, k = 10, at most 5 % of the
rows left out; the accuracy of naive Bayes on the released labels, five-fold
cross-validated; and on rows held out, recoded through cuts made without them.
"""

from __future__ import annotations

import hashlib
import json
import os
import resource
import shutil
import subprocess
import sys
import time
import venv
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path

from measure import SMOKE, Cost, apart, best, costs, folder, judged, sized

NAMES = "age workclass fnlwgt education education-num marital-status occupation "
NAMES += "relationship race sex capital-gain capital-loss hours native-country income"
QUASI = ["age", "workclass", "education", "marital-status"]
QUASI += ["relationship", "race", "sex", "native-country"]
SIX = ["age", "education", "marital-status", "occupation", "sex", "native-country"]
SENSITIVE, TARGET, K = "occupation", "income", 10
DIGESTS = {
    "adult.data": "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
    "adult.test": "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
}
SCALES = sized((1, 22, 221), (1,))
"""How many rows are made of each of the 45,222 complete ones."""
LIMITED, LIMIT = sized(110, 1), "110MB"
"""The size of the CSV file, and the memory limit it is published with."""
MOST_ROWS, SECONDS = sized((1_000_000, 300), (100_000, 20))
BAR, MOST_MEMORY = 20, 4096
ARX = 17.1, 0.9e9 / 2**20
"""CPU seconds and MiB of ARX for five million rows of CSV, measured earlier."""
BARS = {"1": 10.0, "0": 17.0}
"""The most CPU seconds for the same, with numba and without."""
COMPANIONS = 1.5
"""How many times the CPU of groups alone companions may take; with numba."""
WAYS = {"1": "with numba", "0": "without"}
KNOWN = {"raw": 0.8227, "ai-privacy-toolkit": 0.8211, "ANJANA": 0.817}
KNOWN |= {"ARX": 0.813, "anonypy": 0.684}
"""Accuracies measured earlier with the same rows, columns and k."""
PEERS = ("anjana==1.2.3", "anonypy==0.2.1")

# The tables -------------------------------------------------------------------------


def place_of_data() -> Path:
    return Path(os.environ.get("PRIVET_DATA", "."))


def originals(complete: bool) -> dict[str, list]:
    """The rows of both files, by column."""
    rows = []
    for name, digest in DIGESTS.items():
        content = (place_of_data() / name).read_bytes()
        if hashlib.sha256(content).hexdigest() != digest:
            sys.exit(f"{name} is not the file this benchmark is for.")
        rows += [line.rstrip(".").split(", ") for line in content.decode().splitlines()]
    rows = [r for r in rows if len(r) == len(NAMES.split())]
    rows = [r for r in rows if not (complete and "?" in r)]
    columns = dict(zip(NAMES.split(), map(list, zip(*rows, strict=True)), strict=True))
    return columns | {"age": [int(a) for a in columns["age"]]}


def make(scale: int) -> None:
    """The complete rows and, of each, scale - 1 variations of its known columns."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    wanted = [*QUASI, SENSITIVE, TARGET]
    columns = {c: v for c, v in originals(complete=True).items() if c in wanted}
    rng = np.random.default_rng(7)
    coded = {c: pa.array(v).dictionary_encode() for c, v in columns.items()}
    codes = {c: v.indices.to_numpy() for c, v in coded.items()}
    rows, path = len(codes[TARGET]), folder() / f"groups-{scale}.parquet"
    schema = pa.schema([(c, v.dictionary.type) for c, v in coded.items()])
    with pq.ParquetWriter(path.with_suffix(".part"), schema) as writer:
        for i in range(scale):
            rank = np.argsort(rng.random((rows, len(QUASI))), axis=1)
            changed = rng.integers(1, len(QUASI) + 1, (rows, 1)) if i else 0
            chosen = rank < changed
            here = dict(codes)
            for j, c in enumerate(QUASI):
                other = rng.integers(0, codes[c].max() + 1, rows, codes[c].dtype)
                here[c] = np.where(chosen[:, j], other, codes[c])
            texts = [coded[c].dictionary.take(pa.array(here[c])) for c in columns]
            writer.write_table(pa.Table.from_arrays(texts, schema=schema))
    path.with_suffix(".part").rename(path)


def made(scale: int) -> Path:
    """The expanded table; made apart, since a process begins with its parent's peak."""
    path = folder() / f"groups-{scale}.parquet"
    if not path.exists():
        subprocess.run([sys.executable, __file__, "make", str(scale)], check=True)
    return path


# The work, each piece in its own process --------------------------------------------


def by_privet(path: str, limit: str = "", same_as: str = "") -> dict[str, float]:
    """From the file to a release that was written and recounted; CPU by part."""
    import privet as pv

    place = folder() / f"release-{os.getpid()}"
    place.mkdir()
    roles = {"quasi": QUASI, "sensitive": SENSITIVE, "other": [TARGET]}
    asked: list[object] = [pv.Measure(k_anonymity=K)]
    if same_as:
        knows = pv.Insider(rules_out=1, knows_others=2, same_as=int(same_as))
        asked.append(pv.Promise(knows, pv.Ceiling("0.9")))
    times = [time.process_time()]
    with pv.read(path, **roles, memory_limit=limit or None) as table:
        release = pv.publish(table, asked, method=pv.Mondrian())
        assert all(f.verdict.name == "SAFE" for f in release.audit.findings)
        times.append(time.process_time())
        assert release.utility is not None or release.utility_note
        times.append(time.process_time())
        # As for the peers, groups of K are asked for; and at most an insider's promise.
        accept = {SENSITIVE: "nothing is promised against whoever has the income, too"}
        release.write(place / "public", custody=place / "private", accept=accept)
        times.append(time.process_time())
        print(release, file=sys.stderr)
    shutil.rmtree(place)
    parts = ("count and split", "figures of use", "write and recount")
    return dict(zip(parts, (b - a for a, b in pairwise(times)), strict=True))


def by_duckdb(path: str) -> None:
    """The bare floor: read the file, and count its distinct rows."""
    import duckdb

    with duckdb.connect() as con:
        con.execute("SET enable_progress_bar = false")
        names = ", ".join(f'"{c}"' for c in (*QUASI, SENSITIVE, TARGET))
        query = f"SELECT {names}, count(*) AS n FROM '{path}' GROUP BY ALL"
        con.execute(f"CREATE TEMP TABLE counted AS {query}")


def by_anonypy(path: str) -> None:
    import pandas as pd
    from anonypy import Preserver

    frame = pd.read_parquet(path)
    for c in QUASI[1:]:
        frame[c] = frame[c].astype("category")
    rows = Preserver(frame, QUASI, SENSITIVE).anonymize_k_anonymity(K)
    pd.DataFrame(rows).astype(str).to_parquet(f"{path}.{os.getpid()}")
    Path(f"{path}.{os.getpid()}").unlink()


def by_anjana(path: str) -> None:
    import pandas as pd
    from anjana.anonymity import k_anonymity
    from anjana.anonymity.utils import generate_intervals

    frame = pd.read_parquet(path)
    trees = {c: {0: frame[c].values, 1: ["*"] * len(frame)} for c in QUASI}
    trees["age"] = {
        0: frame["age"].values,
        1: generate_intervals(frame["age"].values, 0, 100, 5),
        2: generate_intervals(frame["age"].values, 0, 100, 20),
        3: ["*"] * len(frame),
    }
    k_anonymity(frame, [], QUASI, K, 5, trees).astype(str).to_parquet(
        f"{path}.{os.getpid()}"
    )
    Path(f"{path}.{os.getpid()}").unlink()


def child(who: str, path: str, *more: str) -> None:
    """One piece of work, its cost on the last line."""
    if who == "privet":
        import privet as pv

        assert pv.Mondrian
        parts: dict[str, float] = {}
        cost = costs(lambda: parts.update(by_privet(path, *more)))
        print(json.dumps(parts))
    elif who == "duckdb":
        cost = costs(lambda: by_duckdb(path))
    else:
        import pandas as pd

        assert pd.DataFrame
        cost = costs(lambda: {"anonypy": by_anonypy, "anjana": by_anjana}[who](path))
    print(json.dumps(asdict(cost)))


def peers() -> Path | None:
    """A virtual environment with the peers; None where they cannot be installed."""
    place = Path("build/peers")
    python = place / "bin" / "python"
    if not python.exists():
        if SMOKE:
            return None
        venv.create(place, with_pip=True)
    install = ["-m", "pip", "install", "--quiet", *PEERS, "pyarrow"]
    words = ["-c", "import anjana, anonypy, pyarrow"] if SMOKE else install
    done = subprocess.run([python, *words], check=False, capture_output=True)
    return python if done.returncode == 0 else None


def by_peer(python: Path, who: str, path: Path, seconds: int) -> Cost | None:
    """What a peer costs; None if it does not finish."""
    words = [str(python), "-W", "ignore", __file__, who, str(path)]

    def short() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))

    done = subprocess.run(
        words, check=False, capture_output=True, text=True, preexec_fn=short
    )
    for left in path.parent.glob(f"{path.name}.*"):
        left.unlink()
    if done.returncode:
        return None
    return Cost(**json.loads(done.stdout.splitlines()[-1]))


# Speed ------------------------------------------------------------------------------


def speed(most: int, seconds: int) -> bool:
    python, good, before = peers(), True, None
    if python is None:
        why = sized("in the registry", "installed, and left out")
        print(f"The peers are not {why}; privet alone.")
    first = apart(__file__, "privet", str(made(SCALES[0])))
    print(f"The first run, which compiles loops where none are kept: {first}")
    for scale in SCALES:
        rows = scale * 45_222
        if rows > most * 1.05:
            continue
        path = made(scale)
        ours = apart(__file__, "privet", str(path))
        grown = f"; {ours.cpu / before:.1f} times the size before" if before else ""
        before = ours.cpu
        print(f"{rows:,} rows, k = {K}\n  privet   {ours}{grown}")
        fastest = None
        for who in ("anjana", "anonypy") if python else ():
            cost = by_peer(python, who, path, seconds)
            print(f"  {who:8} {cost or f'not done within {seconds} CPU seconds'}")
            if cost and (fastest is None or cost.cpu < fastest):
                fastest = cost.cpu
        if fastest:
            ratio = fastest / ours.cpu
            good &= ratio >= BAR
            print(f"  {ratio:.0f} times less CPU than the faster (bar {BAR})")
        good &= ours.peak < MOST_MEMORY
    return good


def beside_arx() -> bool:
    """As many rows as ARX was measured with, from CSV, with numba and without."""
    path, (cpu, memory) = str(as_csv(made(LIMITED))), ARX
    print(f"{LIMITED * 45_222:,} rows of CSV, k = {K}; others ran: load {load()}")
    floor = best([apart(__file__, "duckdb", path) for _ in range(sized(2, 1))])
    print(f"  bare count      {floor}")
    print(f"  ARX             {cpu:.1f} cpu-s and {memory:.0f} MiB (measured earlier)")
    good = True
    for switch, way in WAYS.items():
        first, _ = by_parts(switch, path)
        ours, parts = by_parts(switch, path)
        said = ", ".join(f"{name} {seconds:.1f}" for name, seconds in parts.items())
        kept = ours.cpu <= BARS[switch] and ours.peak < memory
        print(
            f"  privet {way:10}{ours}  {ours.cpu / floor.cpu:.1f} x the count, "
            f"{ours.cpu / cpu:.2f} x ARX (bar {BARS[switch]:.0f} cpu-s: "
            f"{'kept' if kept else 'MISSED'})"
        )
        print(f"    {said}; the first run {first.cpu:.1f}")
        good &= kept
    return good


def by_parts(switch: str, *words: str) -> tuple[Cost, dict[str, float]]:
    """What one run of privet costs in all, and its parts."""
    done = subprocess.run(
        [sys.executable, __file__, "privet", *words],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PRIVET_NUMBA": switch},
    )
    parts, cost = map(json.loads, done.stdout.splitlines()[-2:])
    return Cost(**cost), parts


def load() -> str:
    """How many processes wanted the machine in the last minute."""
    return f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"


def as_csv(path: Path) -> Path:
    """The same table as CSV."""
    made_of = path.with_suffix(".csv")
    if not made_of.exists():
        import duckdb

        duckdb.sql(f"COPY (SELECT * FROM '{path}') TO '{made_of}' (HEADER)")
    return made_of


def limited() -> bool:
    """A file several times the memory limit, without and with companions."""
    path = as_csv(made(LIMITED))
    size = path.stat().st_size / 1e6
    print(f"A CSV file of {size:,.0f} MB with a memory limit of {LIMIT}; load {load()}")
    costs_of = {}
    for same_as in sized(("", "1"), ("",)):  # companions take long without numba
        for _ in range(sized(2, 1)):  # the first run compiles loops
            cost = apart(__file__, "privet", str(path), LIMIT, same_as)
        costs_of[same_as] = cost.cpu
        who = f"an insider with {same_as} companion" if same_as else f"groups of {K}"
        print(f"  {who:28} safe  {cost}")
    ratio = costs_of.get("1", costs_of[""]) / costs_of[""]
    print(f"  companions take {ratio:.2f} times the CPU time (bar {COMPANIONS})")
    return ratio <= COMPANIONS


# Quality ----------------------------------------------------------------------------


def accuracy(train: list, labels: object, test: list, truth: object) -> float:
    """Naive Bayes on columns of codes, with one row more for each label."""
    import numpy as np

    score = np.log(np.bincount(labels, minlength=2))[None, :].repeat(len(truth), 0)
    for seen, asked in zip(train, test, strict=True):
        size = max(seen.max(), asked.max()) + 1
        counts = np.ones((size, 2))
        np.add.at(counts, (seen, labels), 1)
        score += np.log(counts / counts.sum(axis=0))[asked]
    return float((score.argmax(axis=1) == truth).mean())


def cross_validated(columns: list, truth: object) -> float:
    import numpy as np

    fold = np.random.default_rng(0).permutation(len(truth)) % 5
    found = []
    for f in range(5):
        inside, out = fold != f, fold == f
        train, test = [c[inside] for c in columns], [c[out] for c in columns]
        found.append(accuracy(train, truth[inside], test, truth[out]) * out.mean())
    return sum(found)


def is_rich(labels: object) -> object:
    """The class as zeros and ones."""
    import numpy as np

    return np.array([label == ">50K" for label in labels], dtype=int)


def released(rows: dict[str, list], which: object) -> tuple[dict, dict]:
    """What a release of some rows shows, by column, and its recipe.

    The rows are sorted, for they are written in an order of chance.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    import privet as pv

    some = {c: [rows[c][i] for i in which] for c in (*SIX, TARGET)}
    method = pv.Mondrian(utility="information", same_cuts=True, suppress="0.05")
    place = folder() / f"quality-{os.getpid()}"
    place.mkdir()
    with pv.read(pa.table(some), quasi=SIX, target=TARGET) as table:
        release = pv.publish(table, [pv.Measure(k_anonymity=K)], method=method)
        release.write(place / "public", custody=place / "private")
    shown = pq.read_table(place / "public" / "table.parquet")
    recipe = json.loads((place / "private" / "recipe.json").read_text())
    shutil.rmtree(place)
    shown = shown.sort_by([(c, "ascending") for c in (*SIX, TARGET)])
    return shown.to_pydict(), recipe


def covers(label: str, value: str) -> bool:
    """Whether a released cell may stand for a value."""
    if label.startswith("["):
        low, high = label[1:-1].split(", ")
        return int(low) <= int(value) <= int(high)
    if label.startswith("{"):
        return value in label[1:-1].split(", ")
    if label.startswith("not {"):
        return value not in label[5:-1].split(", ")
    return label in ("*", value)


def held_out(rows: dict[str, list]) -> float:
    """Cuts are made without a fold, whose rows are recoded through them."""
    import numpy as np

    everybody = np.arange(len(rows[TARGET]))
    fold = np.random.default_rng(0).permutation(len(everybody)) % 5
    found = []
    for f in range(5):
        shown, recipe = released(rows, everybody[fold != f])
        out = everybody[fold == f]
        train, test = [], []
        for c in SIX:
            labels, codes = np.unique(shown[c], return_inverse=True)
            code = {
                value: next((i for i, x in enumerate(labels) if covers(x, value)), 0)
                for value in recipe["columns"][c]
            }
            unseen = code[recipe["columns"][c][0]]
            train.append(codes)
            test.append(np.array([code.get(str(rows[c][i]), unseen) for i in out]))
        truth = is_rich(shown[TARGET])
        asked = is_rich([rows[TARGET][i] for i in out])
        found.append(accuracy(train, truth, test, asked) * (fold == f).mean())
    return sum(found)


def quality() -> bool:
    import numpy as np

    rows = {c: v[:: sized(1, 10)] for c, v in originals(complete=False).items()}
    raw = [np.unique(np.array(rows[c]), return_inverse=True)[1] for c in SIX]
    truth = is_rich(rows[TARGET])
    shown, _ = released(rows, range(len(truth)))
    columns = [np.unique(shown[c], return_inverse=True)[1] for c in SIX]
    ours = cross_validated(columns, is_rich(shown[TARGET]))
    print(f"Adult, {len(truth):,} rows, 6 columns, k = {K}: naive Bayes on labels")
    print(f"  raw here            {cross_validated(raw, truth):.4f}")
    print(
        f"  privet              {ours:.4f}, {len(set(zip(*columns, strict=True))):,} "
        f"groups, {len(truth) - len(columns[0])} rows left out"
    )
    print(f"  privet, held out    {held_out(rows):.4f}")
    for who, known in KNOWN.items():
        print(f"  {who:19} {known:.4f} (measured earlier)")
    return ours > max(v for who, v in KNOWN.items() if who != "raw")


def main(most: int, seconds: int) -> int:
    if not all((place_of_data() / name).is_file() for name in DIGESTS):
        print(
            "This benchmark needs adult.data and adult.test: fetch 'Adult' from the "
            "UCI Machine Learning Repository and name its folder in PRIVET_DATA."
        )
        return 0
    good = quality()
    good &= speed(most, seconds)
    if most >= LIMITED * 45_222:
        good &= beside_arx()
        good &= limited()
    return judged(good)


if __name__ == "__main__":
    if sys.argv[1:2] == ["make"]:
        make(int(sys.argv[2]))
    elif sys.argv[1:2] in (["privet"], ["duckdb"], ["anonypy"], ["anjana"]):
        child(*sys.argv[1:])
    else:
        given = [int(a) for a in sys.argv[1:]]
        sys.exit(main(*(given + [MOST_ROWS, SECONDS][len(given) :])))
