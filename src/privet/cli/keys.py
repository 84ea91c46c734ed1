"""The command `keys`: what releases are signed with, and what tells whose they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from privet.cli.answer import Answer, command
from privet.cli.options import json_option, quiet_option, read_password

if TYPE_CHECKING:
    from privet.release.integrity.signature import PublicKey


@command("Make keys that sign releases, or show whose a key is.")
@click.argument("what", nargs=-1, required=True, metavar="WHAT")
@click.option("--name", help="With new: whose key it is; recipients read it.")
@click.option(
    "--password-file",
    metavar="FILE",
    type=click.Path(),
    help="With new: the file whose first line locks the private key.",
)
@json_option
@quiet_option("fingerprint")
def keys(what: tuple[str, ...], name: str | None, password_file: str | None) -> Answer:
    """Make a pair of keys, or show the fingerprint of one.

    WHAT is new, or new FOLDER, or show FILE.

    \b
    Examples:
      privet keys new vault --name "Cancer registry"
      privet keys show vault/signing-key.pub
      privet publish loans.csv -p policy.toml -o out --custody vault \\
          --sign vault/signing-key.pem
      privet verify out --signed-by registry.pub

    The private key, signing-key.pem, stays with whoever signs: who has it can sign in
    their name. The public key, signing-key.pub, goes to recipients by another way than
    the release, or its fingerprint is compared by telephone.

    \b
    Exit codes: 0 made or shown, 2 wrong use.
    """
    from privet.release.integrity.signature import PublicKey

    if what[0] == "new" and len(what) <= 2:
        return _make_keys(what[1] if len(what) == 2 else ".", name, password_file)
    if what[0] == "show" and len(what) == 2:
        if name is not None or password_file is not None:
            raise click.UsageError("--name and --password-file go with new only.")
        return _tell(PublicKey.load(what[1]))
    raise click.UsageError("Give new, new FOLDER, or show FILE.")


def _make_keys(folder: str, name: str | None, password_file: str | None) -> Answer:
    from privet.release.integrity.signature import SigningKey

    if not name:
        raise click.UsageError("Give --name: whose key it is.")
    key = SigningKey.new(name)
    private, public = key.write(folder, password=read_password(password_file))
    return _tell(key.public, {"private": str(private), "public": str(public)})


def _tell(key: PublicKey, made: dict[str, str] | None = None) -> Answer:
    from privet.release.integrity.report import describe_key

    told = {"name": key.name, "fingerprint": key.fingerprint, **(made or {})}
    return Answer(told, describe_key(told), quiet=key.fingerprint)
