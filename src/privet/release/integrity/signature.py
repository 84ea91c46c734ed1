"""Signatures of releases: who wrote a manifest, by Ed25519 (RFC 8032).

Digests tell that files belong together; a signature tells whose they are. What is
signed is a line that says what it is for, the signer's name, and the bytes of
release.json as they are in the file. These bytes hold the digest of every other file,
and what the public note must say.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privet.errors import InputError, MissingExtra
from privet.languages import mark
from privet.release.atomic_folder import as_json, save
from privet.release.integrity.bounded_json import parse_bounded
from privet.release.integrity.inventory import NotRegular, read_regular

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (
        Ed25519PrivateKey,
        Ed25519PublicKey,
    )

SIGNATURE = "release.json.sig"
"""The one file beside the manifest that the manifest cannot list."""

PRIVATE_KEY, PUBLIC_KEY = "signing-key.pem", "signing-key.pub"
"""What `keys new` writes."""

PURPOSE = b"privet release signature 1\0"
"""Stands before what is signed: no signature for another purpose fits."""

VERSION_OF_SIGNATURES = 1
NAME_LINE = "Name: "
MOST_NAME, MOST_KEY_BYTES, MOST_SIGNATURE_BYTES = 100, 2**14, 2**12

NEEDS = mark("Signatures need the extra 'sign': pip install 'privet[sign]'.")

Given = str | PathLike[str]
"""A path."""


def _import_ed25519() -> Any:
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise MissingExtra(NEEDS) from None
    return ed25519


def _check_name(name: object) -> str:
    if (
        not isinstance(name, str)
        or not name.strip()
        or not name.isprintable()
        or len(name) > MOST_NAME
    ):
        raise InputError(
            f"The name of a key must be 1 to {MOST_NAME} letters that can be printed; "
            f"got {ascii(name)[: 2 * MOST_NAME]}."
        )
    return name


# Keys -------------------------------------------------------------------------------


@dataclass(frozen=True)
class PublicKey:
    """A key that tells whose a signature is."""

    name: str
    """What its owner is called, by whoever made the key."""
    raw: bytes = field(repr=False)
    """Its 32 bytes."""

    @property
    def fingerprint(self) -> str:
        """What two people compare by telephone, as ssh writes it."""
        digest = hashlib.sha256(self.raw).digest()
        return "SHA256:" + base64.b64encode(digest).decode().rstrip("=")

    @classmethod
    def load(cls, path: Given) -> PublicKey:
        """Read a key from a file that `privet keys new` wrote, or another PEM file."""
        ed25519 = _import_ed25519()
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.serialization import load_pem_public_key

        name, pem = _read_pem(path)
        try:
            key: Any = load_pem_public_key(pem)
        except (ValueError, UnsupportedAlgorithm):
            key = None
        if not isinstance(key, ed25519.Ed25519PublicKey):
            raise InputError(
                f"{str(path)!r} must be a public key (Ed25519, PEM), such as "
                f"{PUBLIC_KEY} of privet keys new; it is not."
            )
        return cls(name, key.public_bytes_raw())

    def fits(self, signature: bytes, message: bytes) -> bool:
        """Whether a signature of a message is this key's."""
        ed25519 = _import_ed25519()
        from cryptography.exceptions import InvalidSignature

        try:
            key: Ed25519PublicKey = ed25519.Ed25519PublicKey.from_public_bytes(self.raw)
            key.verify(signature, message)
        except (InvalidSignature, ValueError):
            return False
        return True


@dataclass(frozen=True)
class SigningKey:
    """A private key that signs releases."""

    name: str
    """What its owner is called."""
    _secret: Ed25519PrivateKey = field(repr=False, compare=False)

    @property
    def public(self) -> PublicKey:
        """What recipients need."""
        return PublicKey(self.name, self._secret.public_key().public_bytes_raw())

    @classmethod
    def new(cls, name: str) -> SigningKey:
        """Make a new key for somebody."""
        _check_name(name)
        return cls(name, _import_ed25519().Ed25519PrivateKey.generate())

    @classmethod
    def load(cls, path: Given, *, password: bytes | None = None) -> SigningKey:
        """Read a private key; nobody else may be able to."""
        ed25519 = _import_ed25519()
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.serialization import load_pem_private_key

        name, pem = _read_pem(path, private=True)
        try:
            key: Any = load_pem_private_key(pem, password)
        except TypeError:
            needs = "no password" if password else "a password (--sign-password)"
            raise InputError(
                f"The key {str(path)!r} must be read with {needs}."
            ) from None
        except (ValueError, UnsupportedAlgorithm):
            key = None
        if not isinstance(key, ed25519.Ed25519PrivateKey):
            raise InputError(
                f"{str(path)!r} must be a private key (Ed25519, PEM), such as "
                f"{PRIVATE_KEY} of privet keys new, and the password its own; it is "
                "not."
            )
        return cls(name, key)

    def write(
        self, folder: Given, *, password: bytes | None = None
    ) -> tuple[Path, Path]:
        """Write both keys to a folder, for whom they are: where they are then."""
        from cryptography.hazmat.primitives import serialization as forms

        place = Path(folder).expanduser()
        paths = place / PRIVATE_KEY, place / PUBLIC_KEY
        for path in paths:
            if os.path.lexists(path):
                raise InputError(f"{str(path)!r} must not exist yet; it does.")
        locked = (
            forms.BestAvailableEncryption(password)
            if password
            else forms.NoEncryption()
        )
        private = self._secret.private_bytes(
            forms.Encoding.PEM, forms.PrivateFormat.PKCS8, locked
        )
        public = self._secret.public_key().public_bytes(
            forms.Encoding.PEM, forms.PublicFormat.SubjectPublicKeyInfo
        )
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
        head = f"{NAME_LINE}{self.name}\n"
        save(paths[0], head + private.decode(), private=True)
        save(paths[1], head + public.decode())
        return paths

    def sign(self, manifest: bytes) -> str:
        """The signature of a manifest, as the text of a file."""
        value = self._secret.sign(_compose_message(self.name, manifest))
        return as_json(
            {
                "signature": VERSION_OF_SIGNATURES,
                "algorithm": "ed25519",
                "name": self.name,
                "key": base64.b64encode(self.public.raw).decode(),
                "value": base64.b64encode(value).decode(),
            }
        )


def _compose_message(name: str, manifest: bytes) -> bytes:
    """What is signed; no name has a zero byte in it."""
    return PURPOSE + name.encode("utf-8") + b"\0" + manifest


def _read_pem(path: Given, *, private: bool = False) -> tuple[str, bytes]:
    """The name of a key, and the key."""
    place = Path(path).expanduser()
    try:
        with place.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            data = file.read(MOST_KEY_BYTES)
    except OSError as error:
        raise InputError(
            f"The key {str(path)!r} must be a readable file: {error.strerror}."
        ) from None
    if private and os.name == "posix" and mode & 0o077:
        raise InputError(
            f"The private key {str(path)!r} must be readable by its owner alone; "
            f"chmod 600 {place.name}."
        )
    head, _, _ = data.partition(b"-----BEGIN")
    lines = head.decode("utf-8", errors="replace").splitlines()
    names = [ln.removeprefix(NAME_LINE) for ln in lines if ln.startswith(NAME_LINE)]
    return _check_name(names[0] if names else place.stem), data[len(head) :]


Signer = SigningKey | Given | None
"""A private key, or its file; None: nothing is signed."""


def load_signing_key(given: Signer) -> SigningKey | None:
    """The key that was named; None: nothing is signed."""
    if given is None or isinstance(given, SigningKey):
        return given
    return SigningKey.load(given)


def load_public_keys(
    given: PublicKey | Given | Iterable[PublicKey | Given],
) -> tuple[PublicKey, ...]:
    """The keys that were named, one or several."""
    several = [given] if isinstance(given, PublicKey | str | PathLike) else list(given)
    return tuple(k if isinstance(k, PublicKey) else PublicKey.load(k) for k in several)


# Signatures -------------------------------------------------------------------------


@dataclass(frozen=True)
class Signature:
    """Who signed a release."""

    name: str
    """What the key's owner is called: by the recipient's copy of the key, or by the
    signer's own word."""
    fingerprint: str
    """The key."""
    known: bool = False
    """Whether the recipient named the key."""
    checked: bool = True
    """Whether it could be checked here."""

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        return {
            "name": self.name,
            "fingerprint": self.fingerprint,
            "known": self.known,
            "checked": self.checked,
        }


def check_signature(
    folder: Path, manifest: bytes, keys: Sequence[PublicKey]
) -> tuple[Signature | None, list[str]]:
    """Who signed a manifest, and what is wrong with that."""
    wanted = ", ".join(f"{k.name!r} ({k.fingerprint})" for k in keys)
    if not os.path.lexists(folder / SIGNATURE):
        missing = f"The release must be signed by {wanted}; it is unsigned."
        return None, [missing] if keys else []
    try:
        own, value = _read_signature(folder / SIGNATURE)
        if not own.fits(value, _compose_message(own.name, manifest)):
            raise ValueError("it is none of this manifest")
    except MissingExtra:
        if keys:
            raise
        return Signature(own.name, own.fingerprint, checked=False), []
    except (ValueError, NotRegular) as error:
        return None, [f"{SIGNATURE} must be the signature of release.json; {error}."]
    known = next((k for k in keys if k.raw == own.raw), None)
    if keys and known is None:
        problem = (
            f"The release must be signed by {wanted}; {own.fingerprint} signed it."
        )
        return Signature(own.name, own.fingerprint), [problem]
    name = own.name if known is None else known.name
    return Signature(name, own.fingerprint, known=known is not None), []


def _read_signature(path: Path) -> tuple[PublicKey, bytes]:
    """The key and the signature that a file holds; `ValueError` if it holds none."""
    stated = parse_bounded(read_regular(path, MOST_SIGNATURE_BYTES))
    keys = {"signature", "algorithm", "name", "key", "value"}
    if not isinstance(stated, dict) or set(stated) != keys:
        raise ValueError("it is none that privet wrote")
    if json.dumps([stated["signature"], stated["algorithm"]]) != '[1, "ed25519"]':
        raise ValueError("it is of another form")
    try:
        name = _check_name(stated["name"])
        raw = base64.b64decode(stated["key"], validate=True)
        value = base64.b64decode(stated["value"], validate=True)
    except (TypeError, ValueError, InputError, binascii.Error):
        raise ValueError("it is none that privet wrote") from None
    if len(raw) != 32 or len(value) != 64:
        raise ValueError("it is none that privet wrote")
    return PublicKey(name, raw), value
