"""Randomized response: disguising beside copying, estimating beside counting, peers.

    python benchmarks/responses.py [rows | peers]

Five comparisons, each in one run. Disguising 10 million rows of 8 columns may take 4
times as long as DuckDB needs to read and write the same file, up to the release that
was written, read back and recounted; estimating every share 1.5 times the bare count;
`privet learn` twice the bare count of pairs with the class, and `privet score` twice
that of whole rows.
Frequencies of one million users are disguised and estimated 10 times faster than by
multi-freq-ldpy and pure-ldp, at the same error; they live in a virtual environment of
their own below build/, made here; a small run makes none. Everything that is timed
runs in a process of its own.
"""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

from measure import SMOKE, costs, folder, in_turns, judged, sized

SIZES = (2, 2, 3, 4, 5, 8, 12, 20)
TRUTH = "0.8"
BAR_DISGUISE, BAR_ESTIMATE, BAR_LEARN, BAR_PEERS = 4, 1.5, 2, 10
ROWS = sized(10_000_000, 20_000)
USERS, VALUES, EPSILON = sized(1_000_000, 20_000), 16, 1.0
PEERS = (
    "multi-freq-ldpy==0.2.5",
    "pure-ldp==1.2.0",
    "scikit-learn",
    "statsmodels",
)  # the last two: pure-ldp does not say that it needs them


def columns() -> list[str]:
    return [f"q{i}" for i in range(len(SIZES))]


def made(rows: int) -> Path:
    """The table: words, evenly distributed."""
    import duckdb

    path = folder() / f"answers-{rows}.parquet"
    if not path.exists():
        cells = ", ".join(
            f"'value ' || CAST(hash(i, {j}) % {size} AS VARCHAR) AS q{j}"
            for j, size in enumerate(SIZES)
        )
        duckdb.execute(
            f"COPY (SELECT {cells} FROM range({rows}) r(i)) TO '{path}.new' "
            "(FORMAT parquet, COMPRESSION zstd)"
        )
        Path(f"{path}.new").rename(path)
    return path


def design():
    import privet as pv

    questions = [
        pv.Question(c, [f"value {v}" for v in range(size)])
        for c, size in zip(columns(), SIZES, strict=True)
    ]
    return pv.Design(questions, [pv.Group(c, pv.KAry(TRUTH)) for c in columns()])


def kept():
    """Of each answer what the design keeps."""
    import privet as pv

    asked, alone = design(), pv.Bayesian(unrelated=True)
    return pv.Policy(
        promises=[pv.Promise(alone, pv.Ratio(asked.growth([c])), c) for c in columns()]
    )


# What is timed ----------------------------------------------------------------------


def copy(path: Path) -> None:
    import duckdb

    out = folder() / "copy.parquet"
    duckdb.execute(
        f"COPY (SELECT * FROM '{path}') TO '{out}' (FORMAT parquet, COMPRESSION zstd)"
    )


def disguise(path: Path) -> None:
    import privet as pv

    out = folder() / "disguised"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    with pv.read(path) as table:
        pv.disguise(
            table, design(), out / "public", custody=out / "private", policy=kept()
        )


def count(path: Path) -> None:
    import duckdb

    for c in columns():
        duckdb.sql(f"SELECT {c}, count(*) FROM '{path}' GROUP BY {c}").fetchall()


def estimate(path: Path) -> None:
    import privet as pv

    with pv.read(path) as table:
        pv.estimate(table, design()).every_share()


def count_pairs(path: Path) -> None:
    """What learning must know: pairs of every column with the class."""
    import duckdb

    label, *others = columns()
    for c in others:
        pair = f"{c}, {label}"
        duckdb.sql(f"SELECT {pair}, count(*) FROM '{path}' GROUP BY {pair}").fetchall()


def learn(path: Path) -> None:
    """What `privet learn` does, up to the model that is written."""
    import privet as pv

    model().unlink(missing_ok=True)
    with pv.read(path) as table:
        learnt = pv.DisguisedNaiveBayes(design()).fit(table, columns()[0])
        learnt.save(model())


def count_rows(path: Path) -> None:
    """What testing must know: whole rows."""
    import duckdb

    every = ", ".join(columns())
    duckdb.sql(f"SELECT {every}, count(*) FROM '{path}' GROUP BY {every}").fetchall()


def score(path: Path) -> None:
    """What `privet score` does with the model that was learnt last."""
    import privet as pv

    learnt = pv.DisguisedNaiveBayes.load(model())
    with pv.read(path) as table:
        learnt.score_rows(table)
        pv.estimate(table, design()).shares(columns()[0])


def model() -> Path:
    return folder() / "model.json"


WORK = {
    "copy": copy,
    "disguise": disguise,
    "count": count,
    "estimate": estimate,
    "count_pairs": count_pairs,
    "learn": learn,
    "count_rows": count_rows,
    "score": score,
}


def imported() -> None:
    """Everything that is timed is imported beforehand; `start.py` times imports."""
    import duckdb  # noqa: F401

    import privet as pv

    names = ("read", "estimate", "disguise", "Design", "KAry", "DisguisedNaiveBayes")
    for name in names:
        getattr(pv, name)


# Peers ------------------------------------------------------------------------------

PEER_SCRIPT = """
import json, sys, time
import numpy as np
name, path, k, epsilon = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
values = np.load(path)
def multi():
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Aggregator_MI
    GRR_Client(0, k, epsilon)  # compiled before it is timed
    start = time.perf_counter()
    reports = [GRR_Client(int(v), k, epsilon) for v in values]
    found = GRR_Aggregator_MI(np.array(reports), k, epsilon)
    return time.perf_counter() - start, list(map(float, found))
def pure():
    from pure_ldp.frequency_oracles.direct_encoding import DEClient, DEServer
    client, server = DEClient(epsilon, k), DEServer(epsilon, k)
    start = time.perf_counter()
    for v in values:
        server.aggregate(client.privatise(int(v) + 1))
    found = server.estimate_all(range(1, k + 1))
    return time.perf_counter() - start, [float(x) / len(values) for x in found]
seconds, found = {"multi-freq-ldpy": multi, "pure-ldp": pure}[name]()
print(json.dumps({"seconds": seconds, "found": found}))
"""


READY = Path("build/peers-responses/.ready")


def peers() -> Path:
    place = READY.parent
    python = place / "bin" / "python"
    if not READY.exists():
        subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
        subprocess.run(
            [str(python), "-m", "pip", "install", "--quiet", *PEERS], check=True
        )
        READY.touch()
    return python


def frequencies() -> bool:
    """One million users, one question of 16 values, ε = 1."""
    import numpy as np
    import pyarrow as pa

    import privet as pv

    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.ones(VALUES))
    values = rng.choice(VALUES, USERS, p=shares)
    truth = np.bincount(values, minlength=VALUES) / USERS
    question = pv.Question("q", [str(v) for v in range(VALUES)])
    channel = pv.KAry.within(f"{math.exp(EPSILON):.6f}", VALUES)
    own = pv.Design([question], [pv.Group("q", channel)])
    mine = float("inf")
    for _ in range(sized(12, 1)):  # the peers have a second to find the machine idle
        start = time.perf_counter()
        seen = pv.RandomizedResponse(design=own).fit_transform(pa.table({"q": values}))
        reports = np.bincount(seen["q"].to_numpy(), minlength=VALUES)
        found = np.array(channel.inverse(VALUES), dtype=float) @ reports / USERS
        mine = min(mine, time.perf_counter() - start)
    error = float(((found - truth) ** 2).mean() ** 0.5)
    print(f"privet            {mine:8.2f} s   error {error:.5f}")
    if SMOKE and not READY.exists():
        print("The peers are left out, since they are not installed.")
        return True
    path = folder() / "users.npy"
    np.save(path, values)
    good = True
    for name in ("multi-freq-ldpy", "pure-ldp"):
        done = subprocess.run(
            [
                str(peers()),
                "-c",
                PEER_SCRIPT,
                name,
                str(path),
                str(VALUES),
                str(EPSILON),
            ],
            check=True,
            capture_output=True,
            text=True,
        )
        told = json.loads(done.stdout.splitlines()[-1])
        theirs = float(((np.array(told["found"]) - truth) ** 2).mean() ** 0.5)
        ratio = told["seconds"] / mine
        good &= ratio >= BAR_PEERS
        print(
            f"{name:17} {told['seconds']:8.2f} s   error {theirs:.5f}   "
            f"{ratio:.0f} times as long (bar: {BAR_PEERS})"
        )
    return good


def main(rows: int) -> int:
    path = made(rows)
    good = True
    for floor, ours, bar in (
        ("copy", "disguise", BAR_DISGUISE),
        ("count", "estimate", BAR_ESTIMATE),
        ("count_pairs", "learn", BAR_LEARN),
        ("count_rows", "score", BAR_LEARN),
    ):
        base, mine = in_turns(__file__, floor, ours, str(path))
        ratio, work = mine.seconds / base.seconds, mine.cpu / base.cpu
        good &= ratio <= bar
        print(f"{floor:12} {base}")
        print(
            f"{ours:12} {mine}   {ratio:.2f} times as long, {work:.2f} times the work "
            f"(bar: {bar} times as long)"
        )
    for left in (folder() / "copy.parquet", model()):
        left.unlink(missing_ok=True)
    shutil.rmtree(folder() / "disguised", ignore_errors=True)
    good &= frequencies()
    return judged(good)


if __name__ == "__main__":
    if len(sys.argv) > 2:  # in a process of its own
        imported()
        print(json.dumps(asdict(costs(lambda: WORK[sys.argv[1]](Path(sys.argv[2]))))))
    elif sys.argv[1:] == ["peers"]:
        sys.exit(judged(frequencies()))
    else:
        sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else ROWS))
