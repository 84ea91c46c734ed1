"""Policy files on disk: found, read, or refused with what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from policy.examples import DESIGN, PROMISE
from privet import InputError, Policy, PolicyError


def refusal(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        Policy.load(path)
    return str(caught.value)


def test_a_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "p.toml"
    file.write_text(DESIGN, encoding="utf-8")
    policy = Policy.load(file)
    assert Policy.from_toml(DESIGN) == policy == Policy.load(str(file))
    assert str(file) == policy.origin.file


@pytest.mark.parametrize("start", [b"\xef\xbb\xbf", b""])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_windows_editors_do_no_harm(tmp_path: Path, start: bytes, end: bytes) -> None:
    file = tmp_path / "p.toml"
    text = PROMISE.replace('"ill"', '"Größe"').encode()
    file.write_bytes(start + text.replace(b"\n", end))
    assert "Größe" == Policy.load(file).promises[0].about


def test_problems_name_the_file_and_the_line(tmp_path: Path) -> None:
    file = tmp_path / "p.toml"
    file.write_text("\n\nfoo = 1", encoding="utf-8")
    with pytest.raises(PolicyError) as caught:
        Policy.load(file)
    assert (str(file), 3, "foo") == (
        caught.value.file,
        caught.value.line,
        caught.value.key,
    )


def test_a_missing_file_is_answered_with_those_there(tmp_path: Path) -> None:
    assert "Draft one with: privet init" in refusal(tmp_path / "policy.toml")
    (tmp_path / "policy.toml").touch()
    assert "Did you mean 'policy.toml'?" in refusal(tmp_path / "polcy.toml")
    assert "There are 'policy.toml'." in refusal(tmp_path / "x.json")


def test_a_missing_folder_is_said(tmp_path: Path) -> None:
    assert "does not exist either" in refusal(tmp_path / "no" / "p.toml")


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    assert refusal(tmp_path).endswith("must be a file; it is a folder.")


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_other_encodings_are_refused(tmp_path: Path, encoding: str) -> None:
    file = tmp_path / "p.toml"
    file.write_text(PROMISE.replace("ill", "Größe"), encoding=encoding)
    assert "must be UTF-8 text" in refusal(file)


def test_a_path_that_cannot_be_one(tmp_path: Path) -> None:
    assert "must be readable; got: " in refusal(tmp_path / "a\x00b")


def test_a_file_that_may_not_be_read(ordinary: Path) -> None:
    file = ordinary / "p.toml"
    file.write_text(PROMISE, encoding="utf-8")
    file.chmod(0)
    assert refusal(file).endswith("must be readable; got: Permission denied.")
