"""Who signed a release: keys, `--sign`, `sign=`, `verify --signed-by`."""

from __future__ import annotations

import base64
import json
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import privet as pv
from privet.cli import cli
from release import golden_cases as cases
from release.examples import copied, released
from release.test_forged import answers, classifier, forge, setting, views

SIGNED = "release.json.sig"


def run(*words: str | Path) -> tuple[int, str]:
    done = CliRunner().invoke(cli, [str(word) for word in words])
    return done.exit_code, done.output


def make_key(folder: Path, name: str = "Registry") -> pv.SigningKey:
    key = pv.SigningKey.new(name)
    key.write(folder)
    return key


def signed(place: Path, key: pv.SigningKey) -> Path:
    released().write(place / "out", custody=place / "vault", sign=key)
    return place / "out"


# Keys ---------------------------------------------------------------------------------


def test_keys_are_made_and_told(tmp_path: Path) -> None:
    code, said = run("keys", "new", tmp_path / "k", "--name", "Cancer registry")
    assert 0 == code
    private, public = tmp_path / "k/signing-key.pem", tmp_path / "k/signing-key.pub"
    assert 0o600 == stat.S_IMODE(private.stat().st_mode)
    assert "Cancer registry" in said
    key = pv.PublicKey.load(public)
    assert "Cancer registry" == key.name == pv.SigningKey.load(private).name
    assert key == pv.SigningKey.load(private).public
    assert key.fingerprint in said
    assert (0, f"{key.fingerprint}\n") == run("keys", "show", public, "-q")
    told = json.loads(run("keys", "show", public, "--json")[1])
    assert {"name": key.name, "fingerprint": key.fingerprint} == told


def test_keys_are_never_written_over(tmp_path: Path) -> None:
    make_key(tmp_path)
    before = (tmp_path / "signing-key.pem").read_bytes()
    code, said = run("keys", "new", tmp_path, "--name", "Registry")
    assert 2 == code
    assert "must not exist yet" in said
    assert before == (tmp_path / "signing-key.pem").read_bytes()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("new",), "Give --name"),
        (("new", "a", "b"), "Give new, new FOLDER, or show FILE"),
        (("make",), "Give new, new FOLDER, or show FILE"),
        (("show", "nowhere", "--name", "x"), "go with new only"),
        (("show", "nowhere"), "must be a readable file"),
        (("new", "k", "--name", "a\x1b[31m"), "letters that can be printed"),
        (("new", "k", "--name", "a\u202eb"), "letters that can be printed"),
        (("new", "k", "--name", "x" * 101), "1 to 100 letters"),
    ],
)
def test_wrong_use_of_keys(
    words: tuple[str, ...],
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    code, said = run("keys", *words)
    assert 2 == code
    assert told in said


def test_a_private_key_that_others_can_read_is_refused(tmp_path: Path) -> None:
    make_key(tmp_path)
    path = tmp_path / "signing-key.pem"
    path.chmod(0o644)
    with pytest.raises(pv.InputError, match="by its owner alone; chmod 600"):
        pv.SigningKey.load(path)


def test_a_private_key_may_be_locked(tmp_path: Path) -> None:
    word = tmp_path / "word"
    word.write_text("hedge\n")
    where = ("keys", "new", tmp_path, "--name", "R", "--password-file", word)
    assert 0 == run(*where)[0]
    path = tmp_path / "signing-key.pem"
    assert b"ENCRYPTED" in path.read_bytes()
    assert "R" == pv.SigningKey.load(path, password=b"hedge").name
    with pytest.raises(pv.InputError, match="must be read with a password"):
        pv.SigningKey.load(path)
    with pytest.raises(pv.InputError, match="the password its own; it is not"):
        pv.SigningKey.load(path, password=b"ditch")


def test_a_key_of_another_sort_is_refused(tmp_path: Path) -> None:
    make_key(tmp_path)
    private, public = tmp_path / "signing-key.pem", tmp_path / "signing-key.pub"
    with pytest.raises(pv.InputError, match="must be a public key"):
        pv.PublicKey.load(private)
    public.chmod(0o600)
    with pytest.raises(pv.InputError, match="must be a private key"):
        pv.SigningKey.load(public)
    public.write_bytes(b"\xff\xfe nothing")
    with pytest.raises(pv.InputError, match="must be a public key"):
        pv.PublicKey.load(public)


def test_no_private_key_shows_itself() -> None:
    key = pv.SigningKey.new("Registry")
    assert "SigningKey(name='Registry')" == repr(key)


# Signing ------------------------------------------------------------------------------


def test_a_signed_release_says_who_signed(tmp_path: Path) -> None:
    key = make_key(tmp_path)
    folder = signed(tmp_path, key)
    public = tmp_path / "signing-key.pub"
    code, said = run("verify", folder, "--signed-by", public)
    print_ = key.public.fingerprint
    assert 0 == code
    assert said.endswith(f"Signed by 'Registry', with the key you named: {print_}.\n")
    code, said = run("verify", folder)
    assert 0 == code
    assert f"Signed with the key {print_} by somebody who calls themselves" in said
    told = json.loads(run("verify", folder, "--signed-by", public, "--json")[1])
    assert {
        "name": "Registry",
        "fingerprint": print_,
        "known": True,
        "checked": True,
    } == told["signature"]
    found = pv.verify(folder, signed_by=public)
    assert found.good
    assert pv.Signature("Registry", print_, known=True) == found.signature
    pv.load(folder, signed_by=[public]).table.close()


def test_an_unsigned_release_says_so(tmp_path: Path) -> None:
    key = make_key(tmp_path)
    folder = copied(tmp_path)
    code, said = run("verify", folder)
    assert 0 == code
    assert said.endswith("Unsigned: anybody could have written this.\n")
    assert json.loads(run("verify", folder, "--json")[1])["signature"] is None
    code, said = run("verify", folder, "--signed-by", tmp_path / "signing-key.pub")
    assert 1 == code
    assert "must be signed by 'Registry'" in said
    assert "it is unsigned" in said
    with pytest.raises(pv.InputError, match="it is unsigned"):
        pv.load(folder, signed_by=key.public)


def test_one_of_several_keys_is_enough(tmp_path: Path) -> None:
    key, other = make_key(tmp_path / "a"), make_key(tmp_path / "b", "Other")
    folder = signed(tmp_path, key)
    public = [tmp_path / x / "signing-key.pub" for x in "ab"]
    named = [word for path in public for word in ("--signed-by", path)]
    assert 0 == run("verify", folder, *named)[0]
    code, said = run("verify", folder, "--signed-by", public[1])
    assert 1 == code
    wanted = f"must be signed by 'Other' ({other.public.fingerprint}); "
    assert f"{wanted}{key.public.fingerprint} signed it." in said
    assert not pv.verify(folder, signed_by=other.public).good


def test_the_name_is_that_of_the_recipients_copy(tmp_path: Path) -> None:
    """Anybody can call themselves Registry; whose key it is the recipient knows."""
    key = make_key(tmp_path)
    folder = signed(tmp_path, key)
    path = tmp_path / "signing-key.pub"
    path.write_text(path.read_text().replace("Registry", "Ann of the registry"))
    assert (
        "Signed by 'Ann of the registry'"
        in run("verify", folder, "--signed-by", path)[1]
    )


def change_signature(**keys: Any) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        path = folder / SIGNED
        content = json.loads(path.read_text(encoding="utf-8")) | keys
        path.write_text(json.dumps(content), encoding="utf-8")

    return change


def flip_a_bit(folder: Path) -> None:
    path = folder / SIGNED
    content = json.loads(path.read_text(encoding="utf-8"))
    value = bytearray(base64.b64decode(content["value"]))
    value[7] ^= 1
    change_signature(value=base64.b64encode(value).decode())(folder)


def sign_with_white_space(folder: Path) -> None:
    """The same statements, but not the bytes that were signed."""
    path = folder / "release.json"
    path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")


def take_another_signature(folder: Path) -> None:
    key = pv.SigningKey.new("Registry")
    (folder / SIGNED).write_text(key.sign(b"{}"), encoding="utf-8")


@pytest.mark.forgeries
@pytest.mark.parametrize(
    "harm",
    [
        flip_a_bit,
        sign_with_white_space,
        take_another_signature,
        lambda folder: forge(folder, setting(title="Ours")),
        change_signature(name="Ministry"),
        change_signature(name=""),
        change_signature(name=7),
        change_signature(key="AAAA"),
        change_signature(key=None),
        change_signature(key=base64.b64encode(bytes(32)).decode()),
        change_signature(value=""),
        change_signature(value="é"),
        change_signature(signature=2),
        change_signature(signature=True),
        change_signature(algorithm="none"),
        change_signature(more=1),
        lambda folder: (folder / SIGNED).write_bytes(b""),
        lambda folder: (folder / SIGNED).write_bytes(b"[" * 4000),
        lambda folder: (folder / SIGNED).write_bytes(b" " * 10**6),
        lambda folder: (folder / SIGNED).unlink() or (folder / SIGNED).mkdir(),
    ],
)
@pytest.mark.parametrize("named", [False, True])
def test_a_signature_that_does_not_fit_is_refused(
    harm: Callable[[Path], None], named: bool, tmp_path: Path
) -> None:
    key = make_key(tmp_path)
    folder = signed(tmp_path, key)
    harm(folder)
    more = ("--signed-by", tmp_path / "signing-key.pub") if named else ()
    code, said = run("verify", folder, *more)
    assert 1 == code, said
    assert "release.json.sig must be the signature of release.json" in said
    assert "Traceback" not in said
    with pytest.raises(pv.InputError, match="must be the signature"):
        pv.load(folder)


@pytest.mark.parametrize("kind", [views, classifier, answers])
def test_releases_of_every_kind_can_be_signed(
    kind: Callable[..., None], tmp_path: Path
) -> None:
    key = make_key(tmp_path)
    kind(tmp_path, sign=key)
    assert (tmp_path / "out" / SIGNED).is_file()
    assert pv.verify(tmp_path / "out", signed_by=key.public).good


@pytest.mark.parametrize(
    "words",
    [
        ("publish", "bank.csv", "-p", "loans.toml"),
        ("views", "clinic.csv", "-p", "clinic.toml"),
        ("classifier", "pay.csv", "-p", "pay.toml", "--bits", "4"),
        (
            "disguise",
            "habits.csv",
            "-d",
            "habits.toml",
            "-p",
            "factors.toml",
            "--drop",
            "name",
        ),
    ],
    ids=lambda words: words[0],
)
@pytest.mark.filterwarnings("ignore::privet.errors.PrivacyWarning")
def test_every_command_that_writes_a_release_signs_it(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    cases.lay_out_files()
    Path("word").write_text("hedge\n")
    locked = ("--password-file", "word")
    assert 0 == run("keys", "new", "k", "--name", "Registry", *locked)[0]
    places = ("-o", "out", "--custody", "vault", "--sign", "k/signing-key.pem")
    code, said = run(*words, *places)
    assert 2 == code
    assert "must be read with a password (--sign-password)" in said
    assert not Path("out").exists()
    code, said = run(*words, *places, "--sign-password", "word")
    assert 0 == code, said
    code, said = run("verify", "out", "--signed-by", "k/signing-key.pub")
    assert 0 == code, said
    assert "Signed by 'Registry'" in said
    code, said = run(*words, *places[:4], "--replace")  # and unsigned again
    assert 0 == code, said
    assert not Path("out", SIGNED).exists()


def test_a_password_goes_with_a_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    cases.lay_out_files()
    words = ("publish", "bank.csv", "-p", "loans.toml", "--dry-run")
    assert "goes with --sign" in run(*words, "--sign-password", "word")[1]
    make_key(Path("k"))
    key = ("--sign", "k/signing-key.pem", "--sign-password")
    assert "must be readable" in run(*words, *key, "nowhere")[1]
    Path("empty").touch()
    assert "must have a first line" in run(*words, *key, "empty")[1]
    Path("word").write_text("hedge")
    assert "must be read with no password" in run(*words, *key, "word")[1]


def test_a_wrong_key_stops_before_anything_is_made(tmp_path: Path) -> None:
    with pytest.raises(pv.InputError, match="must be a readable file"):
        released().write(tmp_path / "o", custody=tmp_path / "v", sign=tmp_path / "no")
    assert [] == list(tmp_path.iterdir())


# Without the extra --------------------------------------------------------------------

WITHOUT = """
import sys
sys.modules["cryptography"] = None
from privet.cli import main
main()
"""


def run_without(*words: str | Path) -> tuple[int, str]:
    """A command where the extra is not installed."""
    call = [sys.executable, "-c", WITHOUT, *map(str, words)]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_without_the_extra_it_is_named(tmp_path: Path) -> None:
    needs = "pip install 'privet[sign]'"
    key = make_key(tmp_path / "k")
    folder = signed(tmp_path, key)
    code, said = run_without("keys", "new", tmp_path, "--name", "R")
    assert (2, True) == (code, needs in said)
    code, said = run_without(
        "verify", folder, "--signed-by", tmp_path / "k/signing-key.pub"
    )
    assert (2, True) == (code, needs in said)
    code, said = run_without("verify", folder)
    assert 0 == code
    assert "that was not checked, so that anybody could have written this." in said
    assert needs in said


def test_the_custody_record_fits_a_signed_release(tmp_path: Path) -> None:
    folder = signed(tmp_path, make_key(tmp_path))
    assert pv.verify(folder, custody=tmp_path / "vault").good
