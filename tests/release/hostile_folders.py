"""Folders that an enemy made: each function spoils a copy of a good release.

Most of them redo every digest, as an enemy would.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from privet.release.manifest import digest_content

Harm = Callable[[Path], object]


def read(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "release.json").read_text(encoding="utf-8")))


def save(folder: Path, content: dict[str, Any]) -> None:
    content["digest"] = digest_content(content)
    text = json.dumps(content, ensure_ascii=False, indent=2) + "\n"
    (folder / "release.json").write_text(text, encoding="utf-8")


def forge(folder: Path, **keys: Any) -> None:
    save(folder, read(folder) | keys)


def forge_file(folder: Path, **keys: Any) -> None:
    content = read(folder)
    content["files"][-1] |= keys
    save(folder, content)


def table(folder: Path) -> Path:
    return folder / str(read(folder)["files"][-1]["path"])


def restate_file(folder: Path) -> None:
    """Make size and digest fit what the file is now."""
    data = table(folder).read_bytes()
    sha256 = hashlib.sha256(data).hexdigest()
    forge_file(folder, bytes=len(data), sha256=sha256)


def raw(folder: Path, data: bytes) -> None:
    (folder / "release.json").write_bytes(data)


# What is no file of the release -------------------------------------------------------


def pipe_for_a_table(folder: Path) -> None:
    table(folder).unlink()
    os.mkfifo(table_path := folder / read(folder)["files"][-1]["path"])
    assert table_path.is_fifo()


def pipe_for_the_manifest(folder: Path) -> None:
    (folder / "release.json").unlink()
    os.mkfifo(folder / "release.json")


def pipe_for_the_note(folder: Path) -> None:
    (folder / "README.txt").unlink()
    os.mkfifo(folder / "README.txt")


def pipe_for_the_signature(folder: Path) -> None:
    os.mkfifo(folder / "release.json.sig")


def pipe_besides(folder: Path) -> None:
    os.mkfifo(folder / "more.csv")


def link_out_of_the_folder(folder: Path) -> None:
    path = table(folder)
    path.rename(folder.parent / "elsewhere")
    path.symlink_to(folder.parent / "elsewhere")


def link_within_the_folder(folder: Path) -> None:
    path = table(folder)
    path.rename(folder / "moved.csv")
    path.symlink_to("moved.csv")


def link_for_the_manifest(folder: Path) -> None:
    (folder / "release.json").rename(folder.parent / "elsewhere.json")
    (folder / "release.json").symlink_to(folder.parent / "elsewhere.json")


def link_for_the_note(folder: Path) -> None:
    (folder / "README.txt").rename(folder.parent / "elsewhere.txt")
    (folder / "README.txt").symlink_to(folder.parent / "elsewhere.txt")


def link_to_a_folder(folder: Path) -> None:
    (folder.parent / "others").mkdir()
    (folder / "more").symlink_to(folder.parent / "others")


def link_to_itself(folder: Path) -> None:
    table(folder).unlink()
    name = read(folder)["files"][-1]["path"]
    (folder / name).symlink_to(name)


def link_to_a_device(folder: Path) -> None:
    path = table(folder)
    path.unlink()
    path.symlink_to("/dev/zero")


def socket_for_a_table(folder: Path) -> None:
    path = table(folder)
    path.unlink()
    here = Path.cwd()
    os.chdir(folder)  # a socket's path is short
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(here)


def folder_for_a_table(folder: Path) -> None:
    path = table(folder)
    data = path.read_bytes()
    path.unlink()
    path.mkdir()
    (path / "part").write_bytes(data)


def folder_of_links(folder: Path) -> None:
    """Parts of a table may be in a folder, but no links to parts."""
    path = table(folder)
    path.rename(folder.parent / "part.parquet")
    path.mkdir()
    (path / "part.parquet").symlink_to(folder.parent / "part.parquet")


def missing_table(folder: Path) -> None:
    table(folder).unlink()


def missing_note(folder: Path) -> None:
    (folder / "README.txt").unlink()


def raw_table_besides(folder: Path) -> None:
    (folder / "raw_with_names.csv").write_text("name,ill\nAnn,x\n")


def hidden_file_besides(folder: Path) -> None:
    (folder / ".DS_Store").write_bytes(b"\0" * 10)


def folder_besides(folder: Path) -> None:
    (folder / "more").mkdir()


def name_that_is_no_text(folder: Path) -> None:
    (folder / os.fsdecode(b"\xff\x1b[31m.csv")).write_bytes(b"x")


def name_in_other_case(folder: Path) -> None:
    path = table(folder)
    path.rename(folder / path.name.upper())


# What is listed -----------------------------------------------------------------------


def path_above(folder: Path) -> None:
    table(folder).rename(folder.parent / "up.csv")
    forge_file(folder, path="../up.csv")


def absolute_path(folder: Path) -> None:
    path = table(folder)
    forge_file(folder, path=str(path.resolve()))


def path_below(folder: Path) -> None:
    forge_file(folder, path="a/table.csv")


def path_of_windows(folder: Path) -> None:
    forge_file(folder, path="c:table.csv")


def path_of_a_database(folder: Path) -> None:
    table(folder).unlink()
    with duckdb.connect(folder / "table.duckdb") as con:
        con.execute("CREATE TABLE t AS SELECT * FROM glob('/etc/*')")
    forge_file(folder, path="table.duckdb")
    restate_file(folder)


def database_for_a_table(folder: Path) -> None:
    path = table(folder)
    path.unlink()
    with duckdb.connect(folder.parent / "some.duckdb") as con:
        con.execute("CREATE TABLE t AS SELECT 1 AS job")
    (folder.parent / "some.duckdb").rename(path)
    restate_file(folder)


def manifest_as_its_own_file(folder: Path) -> None:
    forge_file(folder, path="release.json")


def file_listed_twice(folder: Path) -> None:
    content = read(folder)
    content["files"] *= 2
    save(folder, content)


def negative_rows(folder: Path) -> None:
    forge_file(folder, rows=-1)


def rows_without_end(folder: Path) -> None:
    forge_file(folder, rows=10**17)


def another_size(folder: Path) -> None:
    forge_file(folder, bytes=read(folder)["files"][-1]["bytes"] + 1)


def wrong_digest(folder: Path) -> None:
    forge_file(folder, sha256="0" * 64)


def table_without_end(folder: Path) -> None:
    """A terabyte of nothing, which takes no room on the disk."""
    with table(folder).open("ab") as file:
        file.truncate(2**40)


def promises_without_end(folder: Path) -> None:
    content = read(folder)
    content["promises"] *= 10_000
    save(folder, content)


# What is said -------------------------------------------------------------------------


def altered_note(folder: Path) -> None:
    note = folder / "README.txt"
    text = note.read_text(encoding="utf-8")
    note.write_text(text.replace("promised", "promised to you"), encoding="utf-8")


def longer_note(folder: Path) -> None:
    with (folder / "README.txt").open("a", encoding="utf-8") as file:
        file.write("Approved by the ethics committee.\n")


def endless_note(folder: Path) -> None:
    with (folder / "README.txt").open("ab") as file:
        file.truncate(2**32)


def nothing_left_open(folder: Path) -> None:
    forge(folder, not_promised=[])


def altered_not_promised(folder: Path) -> None:
    forge(folder, not_promised=["nothing worth a word"])


def another_title(folder: Path) -> None:
    forge(folder, title="Approved by the ethics committee")


def another_key(folder: Path) -> None:
    forge(folder, certified="by everybody")


def altered_manifest_only(folder: Path) -> None:
    content = read(folder) | {"privet": "0.1.1"}
    raw(folder, (json.dumps(content, ensure_ascii=False, indent=2) + "\n").encode())


# What is no manifest ------------------------------------------------------------------


def empty_manifest(folder: Path) -> None:
    raw(folder, b"")


def large_manifest(folder: Path) -> None:
    with (folder / "release.json").open("ab") as file:
        file.write(b" " * 100_000_000)


def nested_manifest(folder: Path) -> None:
    raw(folder, b"[" * 5_000_000)


def nested_a_little(folder: Path) -> None:
    save(folder, read(folder) | {"title": json.loads("[" * 40 + "]" * 40)})


def key_twice(folder: Path) -> None:
    text = (folder / "release.json").read_text(encoding="utf-8")
    raw(folder, text.replace('"title"', '"kind": "groups", "title"', 1).encode())


def byte_order_mark(folder: Path) -> None:
    raw(folder, b"\xef\xbb\xbf" + (folder / "release.json").read_bytes())


def other_encoding(folder: Path) -> None:
    text = (folder / "release.json").read_text(encoding="utf-8")
    raw(folder, text.encode("utf-16"))


def no_unicode(folder: Path) -> None:
    data = (folder / "release.json").read_bytes()
    raw(folder, data.replace(b'"title": "', b'"title": "\xff', 1))


def lone_surrogate(folder: Path) -> None:
    data = (folder / "release.json").read_bytes()
    raw(folder, data.replace(b'"title": "', b'"title": "\\ud800', 1))


def not_a_number(folder: Path) -> None:
    data = (folder / "release.json").read_bytes()
    raw(folder, data.replace(b'"manifest": 1', b'"manifest": NaN', 1))


def endless_number(folder: Path) -> None:
    data = (folder / "release.json").read_bytes()
    raw(folder, data.replace(b'"manifest": 1', b'"manifest": 1' + b"0" * 100_000, 1))


def infinite_number(folder: Path) -> None:
    data = (folder / "release.json").read_bytes()
    raw(folder, data.replace(b'"manifest": 1', b'"manifest": 1e999', 1))


def endless_fraction(folder: Path) -> None:
    content = read(folder)
    content["promises"][0]["worst"] = "1/" + "9" * 100_000
    content["promises"][0]["at_most"] = "9" * 100_000
    save(folder, content)


# What is no table ---------------------------------------------------------------------


def truncated_table(folder: Path) -> None:
    path = table(folder)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    restate_file(folder)


def empty_table(folder: Path) -> None:
    table(folder).write_bytes(b"")
    restate_file(folder)


def zero_bytes_in_a_table(folder: Path) -> None:
    path = table(folder)
    path.write_bytes(path.read_bytes().replace(b"o", b"\0"))
    restate_file(folder)


def noise_for_a_table(folder: Path) -> None:
    table(folder).write_bytes(hashlib.sha256(b"noise").digest() * 100)
    restate_file(folder)


def noise_within_a_table(folder: Path) -> None:
    path = table(folder)
    data = bytearray(path.read_bytes())
    data[8 : len(data) // 2] = bytes(255 - b for b in data[8 : len(data) // 2])
    path.write_bytes(bytes(data))
    restate_file(folder)


def columns_of_another_table(folder: Path) -> None:
    rows = int(read(folder)["files"][-1]["rows"])
    pq.write_table(pa.table({"name": ["Ann"] * rows}), table(folder))
    restate_file(folder)


def one_column_more(folder: Path) -> None:
    path = table(folder)
    found = pq.read_table(path)
    pq.write_table(found.append_column("name", pa.array(["Ann"] * len(found))), path)
    restate_file(folder)


def rows_by_the_billion(folder: Path) -> None:
    """A few bytes that say they are a billion rows, and a manifest that agrees."""
    path = table(folder)
    found = pq.read_table(path).slice(0, 1)
    many = pa.table(
        {c: pa.nulls(2_000_000, found.schema.field(c).type) for c in found.schema.names}
    )
    with pq.ParquetWriter(path, many.schema, compression="zstd") as file:
        for _ in range(50):
            file.write_table(many, row_group_size=2_000_000)
    forge_file(folder, rows=100_000_000)
    restate_file(folder)


def page_that_unpacks_to_a_gigabyte(folder: Path) -> None:
    path = table(folder)
    names = pq.read_schema(path).names
    wide = pa.array([" " * 200_000_000])
    columns = dict.fromkeys(names[:5], wide)
    columns |= {c: pa.array(["x"]) for c in names[5:]}
    pq.write_table(
        pa.table(columns),
        path,
        compression="zstd",
        use_dictionary=False,
        write_statistics=False,
    )
    forge_file(folder, rows=1)
    restate_file(folder)


def page_that_its_footer_denies(folder: Path) -> None:
    """The same, but the footer says that it unpacks to a few bytes."""
    page_that_unpacks_to_a_gigabyte(folder)
    path = table(folder)
    found, data = pq.read_metadata(path), path.read_bytes()
    start = len(data) - 8 - found.serialized_size
    footer = data[start:]
    group = found.row_group(0)
    sizes = {group.column(i).total_uncompressed_size for i in range(5)}
    for size in (*sizes, group.total_byte_size):
        said = as_varint(size)
        footer = footer.replace(said, as_varint(100, len(said)))
    path.write_bytes(data[:start] + footer)
    assert 100 == pq.read_metadata(path).row_group(0).column(0).total_uncompressed_size
    restate_file(folder)


def as_varint(number: int, size: int = 0) -> bytes:
    """A number as Thrift writes it, with zeros up to a size."""
    rest, found = number << 1, bytearray()
    while rest or not found or len(found) < size:
        found.append((rest & 127) | 128)
        rest >>= 7
    found[-1] &= 127
    return bytes(found)


def nested_columns(folder: Path) -> None:
    path = table(folder)
    found = pq.read_table(path)
    deep: Any = pa.array([[["x"]]] * len(found))
    pq.write_table(pa.table(dict.fromkeys(found.schema.names, deep)), path)
    restate_file(folder)


ANY_FORMAT: tuple[Harm, ...] = (
    pipe_for_a_table,
    pipe_for_the_manifest,
    pipe_for_the_note,
    pipe_for_the_signature,
    pipe_besides,
    link_out_of_the_folder,
    link_within_the_folder,
    link_for_the_manifest,
    link_for_the_note,
    link_to_a_folder,
    link_to_itself,
    link_to_a_device,
    socket_for_a_table,
    folder_for_a_table,
    missing_table,
    missing_note,
    raw_table_besides,
    hidden_file_besides,
    folder_besides,
    name_that_is_no_text,
    name_in_other_case,
    path_above,
    absolute_path,
    path_below,
    path_of_windows,
    path_of_a_database,
    database_for_a_table,
    manifest_as_its_own_file,
    file_listed_twice,
    negative_rows,
    rows_without_end,
    another_size,
    wrong_digest,
    table_without_end,
    promises_without_end,
    altered_note,
    longer_note,
    endless_note,
    nothing_left_open,
    altered_not_promised,
    another_title,
    another_key,
    altered_manifest_only,
    empty_manifest,
    large_manifest,
    nested_manifest,
    nested_a_little,
    key_twice,
    byte_order_mark,
    other_encoding,
    no_unicode,
    lone_surrogate,
    not_a_number,
    endless_number,
    infinite_number,
    endless_fraction,
    truncated_table,
    empty_table,
    zero_bytes_in_a_table,
    noise_for_a_table,
    noise_within_a_table,
)
"""What can be done to any release that has a table."""

PARQUET_ONLY: tuple[Harm, ...] = (
    folder_of_links,
    columns_of_another_table,
    one_column_more,
    rows_by_the_billion,
    page_that_unpacks_to_a_gigabyte,
    page_that_its_footer_denies,
    nested_columns,
)
"""What can be done to Parquet files."""
