"""The page of exit codes."""

from __future__ import annotations

from making.markdown import page, table
from privet.cli.terminal import BUG, EXIT, INFEASIBLE, INTERRUPTED, WRONG

CODES = {
    EXIT["safe"]: "Every promise that applies is kept.",
    EXIT["breach"]: "At least one promise is broken.",
    WRONG: "Wrong use: an option, a file, a column or a policy is not what it must be, "
    "or no promise applies. Nothing was judged.",
    EXIT["undecided"]: "No promise is known to be broken, but at least one could not "
    "be decided, or a sensitive column is covered by none.",
    INFEASIBLE: "No release keeps the promises: even with everything hidden one is "
    "broken, or a recipe breaks one, or a measure is not reached. Nothing was written.",
    BUG: "A mistake in privet itself. Nothing was judged or written.",
    INTERRUPTED: "Ctrl-C ended the command before it had an answer.",
}


def exit_page() -> str:
    """What the exit codes of the command line mean."""
    words: dict[int, list[str]] = {}
    for verdict, code in EXIT.items():
        words.setdefault(code, []).append(verdict)
    rows = [
        (f"`{code}`", ", ".join(words.get(code, [])), said)
        for code, said in CODES.items()
    ]
    return page(
        "Exit codes",
        "`privet audit` answers a script with its exit code. A breach wins over an "
        "undecided promise, and that over a kept one. A promise that does not apply to "
        "a table, or that forbids nothing, counts for nothing: it never makes an audit "
        "safe. With `--strict` one that forbids nothing is wrong use, `2`.",
        table(("code", "verdict", "meaning"), rows),
        "Only `0` means that the table may be released as far as the policy goes. "
        "Treat every other code as no.",
        "## Of `privet publish`",
        "`0`: the release is written, or with `--dry-run` could be. `1`: the release "
        "alone keeps every promise, but together with an earlier one a promise is "
        "broken; nothing is written. `3`: the release "
        "alone keeps every promise, but with an earlier one nothing is certain, or a "
        "sensitive column is covered by no promise; nothing is written. `4`: nothing "
        "that privet can make keeps every promise; nothing is written. `--max-seconds` "
        "ends the search with what is reached, which is safe and is written "
        "with `0`; if there is no time left to write it, nothing is written, `3`. "
        "Ctrl-C writes nothing, `130`.",
        "## Of `privet discover`",
        "`0`: every set of columns was looked at, whatever was found; a discovery is "
        "no verdict. `3`: `--max-seconds`, Ctrl-C or too many rules ended the search "
        "before that; what is listed is final.",
        "## Of `privet compare`",
        "`0`: the first release of the ranking is safe; with `--sweep`, everything was "
        "tried. `3`: `--max-seconds` or Ctrl-C ended it before everything was tried, "
        "and what is ready is shown; or a sensitive column is covered by no promise. "
        "`4`: no method keeps every promise.",
        "## Of `privet report`",
        "The report is written whatever was found. `0`: every promise is kept, or "
        "nothing was judged, as of a ledger. `1`: one is broken. `3`: one could not be "
        "decided, or a sensitive column is covered by none.",
        "## Of `privet verify`",
        "`0`: the release is what its manifest says, and recounts to it. `1`: it is "
        "not, breaks a promise, holds a file too many, or is not signed by a key that "
        "was named. `2`: the folder holds no manifest that can be read.",
    )
