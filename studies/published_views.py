"""How likely an association is that two views leave open, by how many meet in a key.

    python studies/published_views.py

A key has m people on one side and n values on the other. Unrestricted, an attacker
counts every table behind the views; restricted, those in which the person has one
value. The paper has the formulas and no figure; here they are for 2 to 12 of each.
Exact, and without any data. Wang, Lakshmanan 2006, section 5, Figure 6.
"""

from __future__ import annotations

import sys

import pandas as pd
import result_files
import uci

import privet as pv

SIZES = uci.sized((2, 3, 4, 6, 8, 12), (2, 3))
MODELS = ("unrestricted", "restricted")


def views(people: int, values: int) -> pv.Views:
    """Two views of one key with so many people and values."""
    rows = max(people, values)
    table = pd.DataFrame(
        {
            "name": [f"person {min(i, people - 1)}" for i in range(rows)],
            "age": "45",
            "problem": [f"problem {min(i, values - 1)}" for i in range(rows)],
        }
    )
    held = pv.read(table, identifier="name", quasi="age", sensitive="problem")
    return pv.Views(held, ["name", "age"], ["age", "problem"])


def measure(people: int, values: int) -> list[result_files.Row]:
    """What both attackers believe of one person and one value."""
    seen, about = views(people, values), {"name": "person 0", "problem": "problem 0"}
    rows = []
    for model in MODELS:
        found = pv.belief(seen, pv.Reconstructor(model=model), about=about).posterior
        size = {"people": people, "values": values, "model": model}
        rows.append({**size, "exact": str(found), "belief": float(found)})
    return rows


def study() -> result_files.Result:
    """Every size."""
    rows = [row for m in SIZES for n in SIZES for row in measure(m, n)]
    command = "python studies/published_views.py"
    return result_files.Result.of(command, {"beliefs": rows}, {"beliefs": 0.0})


def main() -> int:
    """Print the table, and keep it."""
    found = study()
    print("people  values  unrestricted  restricted")
    for m in SIZES:
        for n in SIZES:
            told = {
                r["model"]: r["belief"]
                for r in found.figures["beliefs"]
                if (r["people"], r["values"]) == (m, n)
            }
            print(f"{m:6}  {n:6}  {told[MODELS[0]]:12.4f}  {told[MODELS[1]]:10.4f}")
    return 0 if result_files.keep("published_views", found) else 1


if __name__ == "__main__":
    sys.exit(main())
