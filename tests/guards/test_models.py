"""What is known of a privacy model stands in its record, and nowhere else."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from privet.microdata.privacy_models.models import MODELS
from privet.policy.measures import HOME

SOURCE = Path(__file__).parents[2] / "src" / "privet"
RECORDS = SOURCE.parent / f"{HOME.replace('.', '/')}.py"
KEYS = re.compile(rf"(?<!\w)({'|'.join(MODELS)})(?!\w)")

ALLOWED = {
    # The draft of a policy states the measure everybody knows.
    "draft/policy_text.py": {"k_anonymity"},
    # So does the policy of the demonstration.
    "demo/patients.py": {"k_anonymity"},
    # Advice where no grouping does: which level to lower …
    "microdata/generalisation/infeasible_promises.py": {"k_anonymity"},
    # … and what to state beside a measure that cannot steer.
    "microdata/release.py": {"k_anonymity"},
    # An example of a sweep.
    "cli/compare.py": {"k_anonymity"},
    # What other programs can be asked for, by their own names.
    "comparison/peers/peer_trial.py": {
        *("k_anonymity", "distinct_l_diversity", "t_closeness"),
    },
    # A skyline's JSON says by these names what the same counts come to.
    "microdata/skyline/report.py": {"k_anonymity", "distinct_l_diversity"},
}
"""Files that name a model, for what they say to people."""


def list_words(tree: ast.Module) -> Iterator[str]:
    """Texts and keyword arguments of a file; not what documents it."""
    notes = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword):
            yield node.arg or ""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield "" if id(node) in notes else node.value


def test_no_other_file_names_a_model() -> None:
    found = {
        str(file.relative_to(SOURCE)): {
            key
            for words in list_words(ast.parse(file.read_text(encoding="utf-8")))
            for key in KEYS.findall(words)
        }
        for file in SOURCE.rglob("*.py")
    }
    assert set(MODELS) == found.pop(str(RECORDS.relative_to(SOURCE)))
    assert {file: keys for file, keys in found.items() if keys} == ALLOWED


def test_a_record_is_found_by_its_key() -> None:
    assert list(MODELS) == [model.key for model in MODELS.values()]
