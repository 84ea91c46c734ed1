"""Good inputs of every reader, and the words of its language."""

from __future__ import annotations

import bz2
import json
import lzma
import sqlite3
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import cache
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyreadstat

import privet as pv
from policy.examples import DESIGN
from privet.policy.file_keys import FREE, SECTIONS
from privet.responses.channels import KEYS
from privet.responses.design import OF_QUESTION, TOP
from release.golden_cases import FILES

CANARY = "KZQ-canary"


def as_words(text: str) -> tuple[bytes, ...]:
    """Each word of a text."""
    return tuple(text.encode().split())


# Policies and designs ---------------------------------------------------------------

MORE_POLICIES = (
    """\
title = "All sections"
columns = { quasi = ["job", "country"], sensitive = ["bankruptcy"], other = ["age"] }
bins = { age = [25, 35.5, 45] }
where = { country = ["UK", "Canada"] }
hierarchy.country = { UK = ["Europe", "any"], Canada = ["America", "any"] }
derived = { rating = ["job"] }
measure = [{ t_closeness = 0.3, about = "bankruptcy" }, { k_anonymity = 2 }]
accepted = [{ column = "bankruptcy", people = 3, reason = "asked", by = "A. Steward" }]
[[promise]]
against = "linker"
knows_any = 2
about = { bankruptcy = ["Never", "Discharged"] }
at_most = "2/3"
""",
    """\
view = [{ name = "a", columns = ["name", "age"] }, { columns = ["age", "job"] }]
[columns]
identifier = ["name"]
sensitive = ["bankruptcy"]
other = ["age", "job"]
[[promise]]
against = "reconstructor"
model = "restricted"
about = "select name, job from T where age > 30"
at_most = 1e-1
[[promise]]
against = "insider"
rules_out = ["Never"]
knows_others = [{ job = "Clerk", bankruptcy = "Never" }]
same_as = 1
about = "bankruptcy"
below = 0.9
""",
)


def policies() -> Sequence[bytes]:
    """Policy files."""
    found = [t for t in FILES.values() if "[[promise]]" in t or "promise = " in t]
    return [t.encode() for t in (DESIGN, *found, *MORE_POLICIES)]


POLICY_WORDS = tuple(
    word.encode()
    for word in (
        *(key for section in SECTIONS.values() for key in section),
        *(f"[{name}]\n" for name in (*SECTIONS, *FREE)),
        *(f"[[{name}]]\n" for name in ("promise", "measure", "view", "accepted")),
        *('"linker"', '"insider"', '"bayesian"', '"reconstructor"', '"job"', '"age"'),
        *('"bankruptcy"', '"uniform"', '"*"', "0.5", '"1/3"', "= [", "= {", " = "),
    )
)


def designs() -> Sequence[bytes]:
    """Design files, as TOML and as JSON."""
    written = [FILES[name] for name in ("habits.toml", "one.toml", "joint.toml")]
    return [t.encode() for t in (*written, JSON_DESIGN, MATRIX_DESIGN)]


JSON_DESIGN = (
    '{"title": "t", "question": [{"name": "a", "values": ["x", "y"], "flip": 0.8}, '
    '{"name": "b", "bins": [1, 2.5], "truth": "3/4", "missing": "below 1"}]}'
)
MATRIX_DESIGN = """\
question = [
    { name = "a", values = ["x", "y"], matrix = [[0.9, 0.2], [0.1, 0.8]] },
    { name = "b", values = ["p", "q", "r"], truth = 0.5, instead = [0.2, 0.3, 0.5] },
]
"""
DESIGN_WORDS = tuple(
    word.encode()
    for word in (
        *TOP,
        *OF_QUESTION,
        *KEYS,
        *("[[question]]\n", "[[together]]\n", '"x"', "0.5", "true", " = ", "columns"),
    )
)

# Secret queries ---------------------------------------------------------------------

QUERIES = tuple(
    text.encode()
    for text in (
        "select name, problem from T",
        "select name, problem from T where age > 30 and problem in ('flu', 'HIV')",
        "select name, problem from T t where not (t.age = 30 or age between 1 and 9)",
        "select name, problem from T where born < DATE '1990-01-01'",
        "select name, problem from T where problem is not null and age <> 1.50",
        "select name, problem from T where problem is distinct from 'flu' or true",
        "problem",
    )
)
QUERY_WORDS = as_words(
    "select from where and or not in between like ilike is null distinct name problem "
    "age born T union all order by limit group with having case when then else end "
    "cast as date timestamp interval exists any ( ) , ; = <> < > 'flu' 30 1.5 -1 1e5 "
    "? $1 read_csv('/dev/null') pragma attach copy :: || ** [1] {'a':1} T.name "
    "main.T count(*) current_date random() -- /* */ 'a' COLLATE nocase similar to true"
)

# Releases ---------------------------------------------------------------------------


def write_table(place: Path) -> None:
    """Rows, some values hidden."""
    rows = {"job": [CANARY, CANARY, "b", "b"] * 3, "ill": ["x", "y", "x", "y"] * 3}
    promise = pv.Promise(pv.Linker(["job"]), pv.Ceiling("1/2"), "ill")
    with pv.read(pa.table(rows), quasi="job", sensitive="ill") as table:
        release = pv.publish(table, [promise])
        release.write(place / "out", custody=place / "vault", format="csv")


def write_groups(place: Path) -> None:
    """Groups, by Mondrian."""
    rows = {"age": list(range(12)), "ill": ["x", "y", CANARY] * 4}
    promise = pv.Promise(pv.Insider(1), pv.Ceiling("1/2"), "ill")
    policy = pv.Policy(promises=[promise], measures=[pv.Measure(k_anonymity=2)])
    with pv.read(pa.table(rows), quasi="age", sensitive="ill") as table:
        release = pv.publish(table, policy, method=pv.Mondrian())
        release.write(place / "out", custody=place / "vault", format="csv")


def write_views(place: Path) -> None:
    """Two views that share nothing."""
    rows = {"name": [CANARY, "b", "c"], "problem": ["flu", "flu", "HIV"]}
    with pv.read(pa.table(rows), identifier="name", sensitive="problem") as table:
        shown = pv.Views(table, ["name"], ["problem"])
        promise = pv.Promise(pv.Reconstructor("restricted"), pv.Ceiling("9/10"))
        release = pv.publish(shown, [promise])
        release.write(place / "out", custody=place / "vault")


def write_classifier(place: Path) -> None:
    """A classifier's counts."""
    counts = {"Adr": {"W": {"a": 1, "b": 4}, "P": {"a": 2, "b": 1}}}
    model = pv.ClassifierViews.from_counts({"a": 3, "b": 5}, counts)
    release = pv.publish(model, [pv.Promise(pv.Bayesian(), pv.Ratio(3))])
    accept = {"inversion": "nobody lives here"}
    release.write(place / "out", custody=place / "vault", accept=accept)


def write_answers(place: Path) -> None:
    """Disguised answers."""
    asked = [pv.Question("smokes", ["no", "yes"])]
    design = pv.Design(asked, [pv.Group("smokes", pv.Flip("0.8"))])
    policy = pv.Policy(promises=(pv.Promise(pv.Bayesian(), pv.Ratio(5), "smokes"),))
    with pv.read(pa.table({"smokes": ["yes", "no"]})) as table:
        out, vault = place / "out", place / "vault"
        pv.disguise(table, design, out, custody=vault, policy=policy).close()


RELEASES: tuple[Callable[[Path], None], ...] = (
    write_table,
    write_groups,
    write_views,
    write_classifier,
    write_answers,
)
MANIFEST_WORDS = as_words(
    '"kind" "groups" "views" "classifier" "responses" "files" "path" "sha256" "rows" '
    '"columns" "role" "quasi" "sensitive" "promises" "against" "linker" "about" '
    '"verdict" "safe" "worst" "basis" "exact" "at_most" "measures" "exposure" : { } [ ]'
)

# Tables -----------------------------------------------------------------------------

ROWS = (
    f"{CANARY},31,1234,flu\nBob,45,,HIV\nEve,45,4321,{CANARY}\n",
    f'"a ""b"" c",31,1234,{CANARY}\n{CANARY},-1,1e9,"x\ny"\n,,,\n',
    f"{CANARY};31;1234;flu\n" * 3,
    f"{CANARY},2020-01-31,12:30,true\nB,2021-02-30,NaN,false\n",
)
TABLES = tuple(
    kind + head + rows.encode()
    for rows in ROWS
    for kind, head in ((b"r", b""), (b"b", b""), (b"w", b"name,age,zip,problem\n"))
)
TABLE_WORDS = (CANARY.encode(), b'"', b'""', b",", b"\n", b",,,\n", b"31", b"x,1,2,y\n")

# Files of other programs ------------------------------------------------------------

PEOPLE = {"name": [CANARY, "Bob", "Eve"], "age": [31, 45, 45]}
PEOPLE["problem"] = ["flu", "HIV", CANARY]
FOREIGN = (".arrow", ".ipc", ".json", ".csv.bz2", ".csv.xz", ".zip", ".csv")
FOREIGN += (".xlsx", ".sav", ".sqlite")
"""Endings of files that are read in ways of their own."""

FOREIGN_WORDS = (CANARY.encode(), b"\0" * 8, b"\xff\xfe", b"PK\x03\x04", b"[{", b"}]")


@cache
def foreign_files() -> Sequence[bytes]:
    """The same people in every format, after the ending of the name."""
    with tempfile.TemporaryDirectory() as folder:
        return [
            ending.encode() + b"\n" + _write_foreign(Path(folder) / f"t{ending}")
            for ending in FOREIGN
        ]


def _write_foreign(path: Path) -> bytes:
    table, frame = pa.table(PEOPLE), pd.DataFrame(PEOPLE)
    text = frame.to_csv(index=False).encode()
    match "".join(path.suffixes):
        case ".csv":
            path.write_bytes("name;age;problem\nMüller;1,5;flu\n".encode("cp1252"))
        case ".csv.bz2":
            path.write_bytes(bz2.compress(text))
        case ".csv.xz":
            path.write_bytes(lzma.compress(text))
        case ".zip":
            with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr("people.csv", text)
        case ".json":
            path.write_text(json.dumps(table.to_pylist()), encoding="utf-8")
        case ".arrow":
            pa.feather.write_feather(table, path)
        case ".ipc":
            with pa.ipc.new_stream(path, table.schema) as stream:
                stream.write_table(table)
        case ".xlsx":
            frame.to_excel(path, index=False)
        case ".sqlite":
            with closing(sqlite3.connect(path)) as database:
                frame.to_sql("people", database, index=False)
        case _:
            pyreadstat.write_sav(frame, path)
    return path.read_bytes()


# Requests ---------------------------------------------------------------------------

GOOD = (
    '{"report": {"smokes": "yes", "age": "below 30"}}',
    '{"report": {"smokes": "yes", "age": "below 30"}, '
    f'"submission": "{"0123456789abcdef" * 2}"}}',
)


def post(body: str) -> str:
    """A request that sends an answer."""
    return (
        "POST /answers HTTP/1.1\r\nHost: {HOST}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n{body}"
    )


WRONG = f'{{"report": {{"smokes": "{CANARY}", "age": "below 30"}}}}'
REQUESTS = tuple(
    text.encode()
    for text in (
        "GET / HTTP/1.1\r\nHost: {HOST}\r\n\r\n",
        "GET /design.json HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\n\r\n",
        "HEAD /survey.js HTTP/1.0\r\n\r\n",
        *(post(body) for body in (*GOOD, WRONG)),
        f"GET /{CANARY}?x={CANARY} HTTP/1.1\r\nHost: {{HOST}}\r\n\r\n",
        f"POST /answers HTTP/1.1\r\nHost: {{HOST}}\r\nX-Who: {CANARY}\r\n"
        "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        f"{len(GOOD[0]):x}\r\n{GOOD[0]}\r\n0\r\n\r\n",
    )
)
REQUEST_WORDS = tuple(
    text.encode()
    for text in (
        *("GET", "POST", "HEAD", "OPTIONS", "PUT", "PRI * HTTP/2.0", "HTTP/1.1", "/"),
        *("HTTP/0.9", "HTTP/9.9", "/answers", "/design.json", "/../x", "%00", "\r\n"),
        *("\r\n\r\n", "Content-Length: ", "Transfer-Encoding: chunked\r\n", "Host: x"),
        *("Expect: 100-continue\r\n", "Upgrade: websocket\r\n", "Connection: close"),
        *("Connection: Upgrade\r\n", "Content-Length: -1\r\n", '{"report": ', CANARY),
        *("Range: bytes=0-1\r\n", '"token": "x"', "null", "ffffffff\r\n", ": ", " "),
    )
)
