"""The command `ledger`: what was released about the same people, and by whom."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from privet.cli.answer import Answer, command
from privet.cli.options import (
    json_option,
    language_option,
    ledger_option,
    name_ledger,
    policy_option,
    quiet_option,
)
from privet.languages import say

if TYPE_CHECKING:
    from privet.policy import Policy
    from privet.release.ledger import Ledger
    from privet.values.noise.privacy_budget import PrivacyBudget


@command("List what was released about the same people, or enter more.")
@click.argument("what", nargs=-1, metavar="WHAT")
@ledger_option
@policy_option("The policy whose ledger is meant, and its columns.", required=False)
@click.option(
    "--of",
    "table",
    type=click.Path(),
    help="With add: the private table whose rows FILE shows as they are.",
)
@click.option("--title", default="", help="With add: what FILE is called.")
@language_option
@json_option
@quiet_option("number of releases")
def ledger(
    what: tuple[str, ...],
    ledger: str | None,
    policy: str | None,
    table: str | None,
    title: str,
) -> Answer:
    """List the releases in a ledger; make a new one; enter what others published.

    WHAT is the ledger's FOLDER, or new FOLDER, or add FILE.

    \b
    Examples:
      privet ledger new vault/ledger
      privet ledger vault/ledger
      privet ledger -p policy.toml
      privet ledger add theirs.csv --ledger vault/ledger --of patients.csv
      privet ledger add theirs.csv -p policy.toml

    A ledger is private. It knows what each release shows, and a keyed digest of every
    person, so that later releases are judged together with earlier ones. Without --of,
    whether FILE is about the same people is not known, and whatever is released later
    stays undecided. Where releases have noise, the list ends with what they spent of
    the policy's budget, and what is left.

    \b
    Exit codes: 0 listed or entered, 2 wrong use, or a ledger that was changed.
    """
    from privet.policy import Policy
    from privet.release.ledger import Ledger

    stated = None if policy is None else name_ledger(Policy.load(policy), ledger)
    first = what[0] if what else ""
    if first == "new":
        _refuse_options({"--of": table, "--title": title})
        made = Ledger.create(_require_one(what[1:], "FOLDER"))
        return _tell(
            made,
            say("An empty ledger: {folder}. It never travels.", folder=made.folder),
        )
    if first == "add":
        file = _require_one(what[1:], "FILE")
        found = Ledger.open(_find_folder((), ledger, stated))
        return _tell(_enter(found, file, table, stated, title))
    _refuse_options({"--of": table, "--title": title})
    found = Ledger.open(_find_folder(what, ledger, stated))
    return _tell(found, budget=stated.budget if stated else None)


def _require_one(words: tuple[str, ...], name: str) -> str:
    if len(words) != 1:
        raise click.UsageError(f"Give one {name}; got {len(words)}.")
    return words[0]


def _refuse_options(given: dict[str, Any]) -> None:
    for option, value in given.items():
        if value:
            raise click.UsageError(f"{option} goes with add only.")


def _find_folder(
    what: tuple[str, ...], ledger: str | None, policy: Policy | None
) -> Path:
    named = [*what, *([ledger] if ledger and policy is None else [])]
    if policy is not None and not what and (place := policy.ledger_folder()):
        return place
    if len(named) != 1:
        raise click.UsageError("Name one ledger: FOLDER, --ledger, or a policy's.")
    return Path(named[0])


def _enter(
    ledger: Ledger, file: str, table: str | None, policy: Policy | None, title: str
) -> Ledger:
    from privet.release.audit import bind_table
    from privet.table import read

    if table is None:
        return ledger.add(file, title=title)
    with read(table) as rows:
        bound = rows if policy is None else bind_table(rows, policy)
        return ledger.add(file, of=bound, title=title)


def _tell(
    found: Ledger, text: str = "", *, budget: PrivacyBudget | None = None
) -> Answer:
    from privet.release.budget import SpentBudget
    from privet.report.ledger_words import list_entries, list_spent

    told = found.to_dict()
    lines = list_entries(entries := told["releases"])
    spent = SpentBudget.of(found.entries, budget)
    if spent.losses or budget is not None:
        told["spent"] = spent.to_dict()
        lines += list_spent(told["spent"])
    return Answer(told, text or "\n".join(lines), quiet=str(len(entries)))
