"""The command `report`: one file to hand over, private or public."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from privet.cli import terminal
from privet.cli.answer import Answer, command
from privet.cli.options import (
    TableArguments,
    language_option,
    ledger_option,
    name_ledger,
    policy_option,
    reads_table,
)
from privet.languages import mark, say

if TYPE_CHECKING:
    from privet.policy import Policy

FORMATS = ("html", "json", "markdown", "croissant", "dcat")


@command("Write one report to hand over, private or public.")
@policy_option(
    "The policy file (TOML) that TABLE is judged by; a release has its own.",
    required=False,
)
@click.option(
    "--output",
    "-o",
    required=True,
    type=click.Path(dir_okay=False),
    help="The file; .html, .json and .md say what it becomes.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    help="What the file becomes; croissant and dcat describe a release to catalogues.",
)
@click.option(
    "--public",
    is_flag=True,
    help="The note for recipients of a release, from its public files alone.",
)
@click.option(
    "--custody",
    type=click.Path(),
    help="The private record of a release: what was found before, what is hidden.",
)
@click.option(
    "--state",
    multiple=True,
    metavar="KEY=TEXT",
    help="With croissant and dcat: what only you know of the release: license, url, "
    "creator, published (a date); repeat it for several.",
)
@click.option("--replace", is_flag=True, help="Write over an earlier report.")
@ledger_option
@language_option
@reads_table
def report(
    asked: TableArguments,
    policy: str | None,
    output: str,
    form: str | None,
    public: bool,
    custody: str | None,
    state: tuple[str, ...],
    replace: bool,
    ledger: str | None,
) -> Answer:
    """Write the report of TABLE, of a release's folder, or of a ledger's, to one file.

    \b
    Examples:
      privet report patients.csv -p policy.toml -o audit.html
      privet report out --custody vault -o vault/report.html
      privet report out --public -o note.html
      privet report out --custody vault -o vault/record.json
      privet report out --format croissant -o croissant.json \\
          --state license=https://creativecommons.org/licenses/by/4.0/
      privet report vault/ledger -o vault/ledger.html

    The private report has the verdict first, each promise with its witness, what was
    done and what it cost, and a place to sign; each page says that it is private. The
    public note says what columns and cells mean, what is promised and what not, how to
    verify it and how to use it. One file, without scripts, that opens anywhere.

    \b
    Exit codes: 0 written, and every promise is kept, or nothing was judged, 1 written,
    and one is broken, 2 wrong use, 3 written, and one is undecided, or a column is not
    covered.
    """
    from privet.display import wake_for
    from privet.release.handover.report_file import choose_form, refuse_existing

    place = Path(output).expanduser()
    chosen = choose_form(place, form)
    refuse_existing(place, replace=replace)
    described = chosen in ("croissant", "dcat")
    if state and not described:
        raise click.UsageError("--state goes with --format croissant and dcat.")
    wake_for(chosen, public=public)
    how: dict[str, Any] = {"form": chosen, "public": public, "replace": replace}
    how |= {"state": _parse_state(state)} if described else {}
    told = _hand_over(asked, place, policy, custody, ledger, **how)
    private = not (public or described)
    asides = [*_say_unstated(chosen, state), *([say(PRIVATE)] if private else [])]
    return Answer(
        {"file": str(place), "format": chosen, "private": private, "verdict": told},
        say("Written: {place}.", place=place),
        verdict=told,
        quiet=str(place),
        asides=asides,
    )


PRIVATE = mark("It is private: keep it where the table is kept.")


def _parse_state(given: tuple[str, ...]) -> dict[str, str]:
    from privet.report.documents.dataset_description import require_stated

    pairs = [text.partition("=") for text in given]
    if wrong := next((t for t, p in zip(given, pairs, strict=True) if not p[1]), None):
        raise click.UsageError(f"--state must be KEY=TEXT; got {wrong!r}.")
    return require_stated({key: value for key, _, value in pairs})


def _say_unstated(form: str, given: tuple[str, ...]) -> list[str]:
    """What catalogues ask for that nobody stated."""
    from privet.report.documents.dataset_description import STATED

    missing = [k for k in STATED if not any(g.startswith(f"{k}=") for g in given)]
    if form not in ("croissant", "dcat") or not missing:
        return []
    return [
        say(
            "Catalogues ask for these, too; give them with --state: {names}.",
            names=", ".join(missing),
        )
    ]


def _hand_over(
    asked: TableArguments,
    place: Path,
    policy: str | None,
    custody: str | None,
    ledger: str | None,
    **how: Any,
) -> str:
    """Open what is named, and write its report; its verdict comes out."""
    from privet.policy import Policy
    from privet.release.ledger import Ledger
    from privet.release.verify import is_release

    stated = None if policy is None else name_ledger(Policy.load(policy), ledger)
    if is_release(asked.source):
        return _report_release(asked, place, stated, custody=custody, **how)
    if custody is not None:
        raise click.UsageError("--custody goes with the folder of a release.")
    if how["public"] or how["form"] in ("croissant", "dcat"):
        raise click.UsageError("A public note is of a release: name its folder.")
    if Ledger.is_ledger(asked.source):
        if policy is not None:
            raise click.UsageError("-p does not go with the folder of a ledger.")
        return _write(Ledger.open(asked.source), place, **how)
    if stated is None:
        from privet.engine.sources.find_source import require_there

        require_there(asked.source)
        raise click.UsageError("Missing option '--policy' / '-p'.")
    return _report_table(asked, place, stated, **how)


def _write(value: Any, place: Path, **how: Any) -> str:
    from privet.release.handover.report_file import hand_over

    hand_over(value, place, **how)
    return ""


def _report_table(
    asked: TableArguments, place: Path, policy: Policy, **how: Any
) -> str:
    from privet.release.audit import audit as judge

    with asked.open_table(policy) as (table, bar):
        found = judge(table, policy, max_seconds=asked.max_seconds, progress=bar)
        _write(found, place, of=table, policy=policy, **how)
    return found.verdict.value


def _report_release(
    asked: TableArguments, place: Path, policy: Policy | None, **how: Any
) -> str:
    from privet.release.kinds import close_release
    from privet.release.verify import load

    public = how["public"] or how["form"] in ("croissant", "dcat")
    if public and (policy is not None or how["custody"] is not None):
        raise click.UsageError("A public note is made without -p and --custody.")
    known = {} if public else {"policy": policy}
    custody = how.pop("custody")
    known |= {} if public or custody is None else {"custody": custody}
    release = load(asked.source, memory_limit=asked.reading["memory_limit"])
    try:
        with terminal.gather_warnings():
            _write(release, place, **how, **known)
        return _find_verdict(release)
    finally:
        close_release(release)


def _find_verdict(release: Any) -> str:
    """That of the release itself; disguised rows may have none."""
    found = getattr(release, "audit", None)
    return "" if found is None else str(found.verdict.value)
