"""The command line: parse, call one function, show, exit code."""

from __future__ import annotations

from typing import Any

import click

from privet import __version__
from privet.cli import terminal
from privet.cli.audit import audit, demo, init
from privet.cli.classifier import classifier
from privet.cli.compare import compare
from privet.cli.discover import discover
from privet.cli.keys import keys
from privet.cli.learn import learn, score
from privet.cli.ledger import ledger
from privet.cli.publish import publish, verify
from privet.cli.report import report
from privet.cli.responses import collect, disguise, estimate, plan
from privet.cli.skyline import skyline
from privet.cli.views import views
from privet.values.visible_text import escape_controls, hide_secrets


class Commands(click.Group):
    """Lists commands as a steward meets them, and explains what they raise."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order they were added."""
        return list(self.commands)

    def make_context(self, *given: Any, **more: Any) -> click.Context:
        """Read the words of a command; Ctrl-C is Ctrl-C here, too."""
        try:
            return super().make_context(*given, **more)
        except KeyboardInterrupt:
            terminal.fail(terminal.STOPPED, terminal.INTERRUPTED)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; whatever it raises becomes a message and an exit code."""
        try:
            return super().invoke(ctx)
        except click.ClickException as error:
            shown = escape_controls(hide_secrets(error.message))
            error.message = shown  # type: ignore[misc] # what was typed may be secret
            raise
        except (click.exceptions.Exit, click.Abort):
            raise
        except KeyboardInterrupt:
            terminal.fail(terminal.STOPPED, terminal.INTERRUPTED)
        except Exception as error:
            if _was_interrupted(error):
                terminal.fail(terminal.STOPPED, terminal.INTERRUPTED)
            terminal.fail(*terminal.explain_error(error))


def _was_interrupted(error: BaseException | None) -> bool:
    """Whether Ctrl-C is behind an error: compiled loops make a `SystemError` of it."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="privet")
def cli() -> None:
    """How sure could an attacker be of one person in your table?

    \b
    privet demo                             see it work on a made-up hospital
    privet init  patients.csv -o p.toml     draft a policy for your table
    privet audit patients.csv -p p.toml     a verdict per promise, with a witness
    privet discover patients.csv -p p.toml  which columns give away what
    privet skyline patients.csv -p p.toml   how much insiders may know
    privet compare patients.csv -p p.toml   what every method keeps of the table
    privet publish patients.csv -p p.toml -o out --custody vault
                                            a release that keeps every promise
    privet classifier patients.csv -p p.toml -o out --custody vault
                                            a classifier that predicts the same
    privet views patients.csv -p p.toml     what views of the table give away
    privet verify out                       recount a release from its files
    privet report out --custody vault -o report.html
                                            one file to hand over, or print
    privet collect design.toml              a survey whose answers are disguised
    privet estimate answers.duckdb          what they say about everybody

    \b
    Exit codes: 0 safe, 1 breach, 2 wrong use, 3 undecided, 4 infeasible,
    70 a bug in privet, 130 stopped with Ctrl-C.
    """


# Commands ---------------------------------------------------------------------------


COMMANDS = (
    demo,
    init,
    audit,
    discover,
    skyline,
    views,
    compare,
    publish,
    classifier,
    verify,
    report,
    keys,
    ledger,
    disguise,
    estimate,
    learn,
    score,
    plan,
    collect,
)
"""As a steward meets them."""

for command in COMMANDS:
    cli.add_command(command)


@cli.command(short_help="Let your shell complete commands and options.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print what makes SHELL complete privet's commands and options.

    \b
    Examples:
      eval "$(privet completion bash)"
      privet completion fish > ~/.config/fish/completions/privet.fish
    """
    from click.shell_completion import get_completion_class

    maker = get_completion_class(shell)
    assert maker is not None
    terminal.emit(maker(cli, {}, "privet", "_PRIVET_COMPLETE").source())


def main() -> None:
    """The command `privet`."""
    from privet.release.commit.interrupts import LAST

    LAST.set(True)
    terminal.hold_any_text()
    cli(prog_name="privet")
