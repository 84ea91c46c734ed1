"""The command `compare`: every method side by side, and what each limit costs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from privet.cli.answer import Answer, command
from privet.cli.options import (
    TableArguments,
    language_option,
    policy_option,
    reads_table,
)


def _split_names(_ctx: object, _param: object, line: str | None) -> Any:
    return None if line is None else [n.strip() for n in line.split(",") if n.strip()]


@command("Compare what every method keeps of a table.")
@policy_option("The policy file (TOML); privet init drafts one.")
@click.option(
    "--methods",
    metavar="NAMES",
    callback=_split_names,
    help="Only these methods, with commas between, such as mondrian,full-domain.",
)
@click.option(
    "--by",
    default="ncp",
    show_default=True,
    metavar="FIGURE",
    help="What methods are ranked by, such as ncp, accuracy or cells_changed.",
)
@click.option(
    "--suppress",
    metavar="SHARE",
    help="Let methods that can suppress up to this share of the people, such as 0.05.",
)
@click.option(
    "--with",
    "peers",
    metavar="PROGRAMS",
    callback=_split_names,
    help="Other programs to run on the table, too, with commas between: arx, anjana, "
    "anonypy, pycanon.",
)
@click.option(
    "--peer-python",
    metavar="PATH",
    help="With --with: the Python that has these programs; this one unless you say so.",
)
@click.option(
    "--arx-jar",
    type=click.Path(dir_okay=False),
    help="With --with arx: its jar; PRIVET_ARX in the environment unless you say so.",
)
@click.option(
    "--sweep",
    metavar="NAME=FIRST:LAST:STEP",
    help="Sweep the limit of a promise or measure instead, and tell what each limit "
    "costs, such as k_anonymity=2:10:2. NAME=LIMIT,LIMIT lists limits.",
)
@click.option(
    "--resume",
    type=click.Path(dir_okay=False),
    help="With --sweep: a private file of results; a sweep that was stopped goes on "
    "where it was.",
)
@click.option(
    "--report",
    type=click.Path(dir_okay=False),
    help="Write the comparison to a new private file, too: .html, .json or .md.",
)
@language_option
@reads_table
def compare(
    asked: TableArguments,
    policy: str,
    suppress: str | None,
    sweep: str | None,
    resume: str | None,
    peers: list[str] | None,
    peer_python: str | None,
    arx_jar: str | None,
    report: str | None,
    **how: Any,
) -> Answer:
    """Try every method on TABLE, and show side by side what each keeps of it.

    \b
    Examples:
      privet compare patients.csv -p policy.toml
      privet compare patients.csv -p policy.toml --by accuracy --max-seconds 60
      privet compare patients.csv -p policy.toml --methods mondrian,full-domain \\
          --suppress 0.05
      privet compare patients.csv -p policy.toml --report comparison.html
      privet compare patients.csv -p policy.toml --with anonypy,anjana
      privet compare patients.csv -p policy.toml --sweep "k_anonymity=2:10:2"
      privet compare patients.csv -p policy.toml \\
          --sweep "nobody learns of HIV=0.1:0.5:0.1" --resume vault/sweep.jsonl

    Releases that keep every promise are ranked; a star marks those that no other beats
    in everything. A method that cannot keep the policy is listed with the reason.
    Values that are hidden are counted, never named. Other programs get codes in place
    of values, in a private folder that is removed, and are judged as we are. Ctrl-C
    and --max-seconds stop with what is ready. Nothing is written but the files of
    --resume and --report.

    \b
    Exit codes: 0 the first release is safe (with --sweep: all was tried), 2 wrong use,
    3 not everything was tried, or something is not covered, 4 no method keeps every
    promise.
    """
    from privet.policy import Policy

    if resume is not None and sweep is None:
        raise click.UsageError("--resume goes with --sweep.")
    if sweep is not None and peers:
        raise click.UsageError("--with does not go with --sweep.")
    if not peers and (peer_python or arx_jar):
        raise click.UsageError("--peer-python and --arx-jar go with --with.")
    if report is not None:
        _refuse_report(Path(report), sweep)
    stated = Policy.load(policy)
    how |= {"suppress": suppress or 0}
    with asked.open_table(stated) as (table, listener):
        how["progress"] = listener
        how["watcher"] = None if listener is None else listener.watch
        if sweep is None:
            how |= {"peers": peers or (), "peer_python": peer_python}
            return _compare(table, stated, report, arx_jar=arx_jar, **how)
        return _sweep(table, stated, sweep, resume=resume, **how)


def _refuse_report(path: Path, sweep: str | None) -> None:
    """What cannot be written is said before anything is tried."""
    from privet.release.handover.report_file import choose_form, refuse_existing

    if sweep is not None:
        raise click.UsageError("--report does not go with --sweep.")
    choose_form(path, None)
    refuse_existing(path, replace=False)


def _compare(table: Any, policy: Any, report: str | None, **how: Any) -> Answer:
    from privet.comparison.comparison import compare as try_all
    from privet.comparison.report import find_verdict

    found = try_all(table, policy, **how)
    best = found.best
    if report is not None:
        found.report(report, of=table, policy=policy)
    return Answer(
        found.to_dict(),
        found,
        verdict=find_verdict(found),
        quiet="" if best is None else best.name,
        reported=found.notes,
    )


def _sweep(table: Any, policy: Any, sweep: str, *, methods: Any, **how: Any) -> Answer:
    from privet.comparison.limit_grid import parse_sweep
    from privet.comparison.tradeoff import USUAL, Tradeoff

    name, over = parse_sweep(sweep)
    found = Tradeoff.of(
        table, policy, name, over, methods=USUAL if methods is None else methods, **how
    )
    return Answer(
        found.to_dict(),
        found,
        verdict="" if found.complete else "undecided",
        quiet=_list_briefly(found),
        reported=found.notes,
    )


def _list_briefly(found: Any) -> str:
    """A line per point for scripts: limit, method, best figure."""
    return "\n".join(
        f"{p.limit}\t{p.method}\t{'' if p.best is None else f'{p.best:.6g}'}"
        for p in found.points
    )
