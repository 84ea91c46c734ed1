"""The table, the comparison with the paper and the figures of `handicapping.py`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

Row = tuple[Any, Any]
"""A case and its outcome."""

MODES = ("paper", "maximal")


@dataclass(frozen=True)
class Mean:
    """Errors of one table, family, size and mode, averaged over all releases."""

    data: str
    family: str
    size: int
    mode: str
    cases: int
    """Choices and thresholds."""
    feasible: int
    """Those with a release; only they are averaged."""
    base: float
    suppression: float
    removal: float
    hidden: float

    @property
    def loss(self) -> float:
        """SE - BE: what hiding costs."""
        return self.suppression - self.base

    @property
    def benefit(self) -> float:
        """RE - SE: what hiding saves."""
        return self.removal - self.suppression


def means(rows: Iterable[Row]) -> list[Mean]:
    """Averages, in the order of the rows."""
    groups: dict[tuple[str, str, int, str], list[Any]] = {}
    for case, outcome in rows:
        key = (case.data, case.family, case.size, outcome.mode)
        groups.setdefault(key, []).append(outcome)
    return [_mean(key, outcomes) for key, outcomes in groups.items()]


def _mean(key: tuple[str, str, int, str], outcomes: Sequence[Any]) -> Mean:
    there = [o for o in outcomes if o.feasible]
    averages = [
        sum(getattr(o, name) for o in there) / len(there) if there else float("nan")
        for name in ("suppression", "removal", "hidden")
    ]
    return Mean(*key, len(outcomes), len(there), outcomes[0].base, *averages)


# In words ---------------------------------------------------------------------------

HEAD = (
    "                        releases         SE, error on the release   hidden cells"
    "\ndata             sets  of cases    BE    paper's way     maximal    RE"
    "   paper's  maximal"
)


def text(rows: Sequence[Row], leaves: dict[str, int]) -> str:
    """The whole report for the terminal."""
    averaged = means(rows)
    trees = ", ".join(f"{name} {leaf}" for name, leaf in leaves.items())
    lines = [
        "Wang, Fung, Yu 2007, Figure 3, done again. Errors on the testing part in %,",
        "averaged over thresholds (and random choices) that have a release at all.",
        "Not C4.5, which is not packaged: scikit-learn's DecisionTreeClassifier with",
        "entropy on indicators of values. A leaf has at least so many rows, chosen by",
        f"cross-validation of the original training part: {trees}.",
        "",
        HEAD,
        *(_line(p, m) for p, m in _pairs(averaged)),
        "",
        *compared(averaged),
    ]
    return "\n".join(lines)


def _pairs(averaged: Sequence[Mean]) -> list[tuple[Mean, Mean]]:
    """The two modes of the same cases."""
    paper = [m for m in averaged if m.mode == "paper"]
    maximal = [m for m in averaged if m.mode == "maximal"]
    return list(zip(paper, maximal, strict=True))


def _line(paper: Mean, maximal: Mean) -> str:
    return (
        f"{paper.data:16} {paper.family}{paper.size}  "
        f"{paper.feasible:4} of {paper.cases:<4}{_points(paper.base)}"
        f"{_with_sign(paper)}{_with_sign(maximal)}{_points(paper.removal)}"
        f"{_points(paper.hidden):>9}{_points(maximal.hidden):>9}"
    )


def _points(share: float) -> str:
    return f"{100 * share:6.1f}"


def _with_sign(mean: Mean) -> str:
    return f"{_points(mean.suppression)} ({100 * mean.loss:+5.1f})"


# Beside the paper -------------------------------------------------------------------


def compared(averaged: Sequence[Mean]) -> list[str]:
    """What the paper states, and what came out here."""
    lines = ["The paper states, and here (its way / maximal):"]
    for data, said, number in STATED:
        own = [m for m in averaged if m.data == data]
        if own:
            modes = ([m for m in own if m.mode == mode] for mode in MODES)
            found = [_or_none(number, of_mode) for of_mode in modes]
            lines.append(f"  {data:7}{said:56} {' / '.join(found)}")
    return lines


def _or_none(number: Callable[[Sequence[Mean]], str], means_: Sequence[Mean]) -> str:
    try:
        return number(means_)
    except (ValueError, IndexError):
        return "no release"


def _of(means_: Sequence[Mean], family: str) -> list[Mean]:
    return [m for m in means_ if m.family == family and m.feasible]


def _base(means_: Sequence[Mean]) -> str:
    return f"{100 * means_[0].base:.1f}"


def _most_loss(family: str) -> Callable[[Sequence[Mean]], str]:
    return lambda ms: f"{max(100 * m.loss for m in _of(ms, family)):+.1f}"


def _benefit(size: int) -> Callable[[Sequence[Mean]], str]:
    def number(means_: Sequence[Mean]) -> str:
        own = [m for m in _of(means_, "Top") if m.size == size]
        return f"{100 * own[0].benefit:+.1f}"

    return number


def _removal(means_: Sequence[Mean]) -> str:
    found = [100 * m.removal for m in _of(means_, "Top")]
    return f"{min(found):.1f} to {max(found):.1f}"


def _all_benefit(means_: Sequence[Mean]) -> str:
    found = [100 * m.benefit for m in _of(means_, "Top")]
    return f"{fmean(found):+.1f}"


def _later(means_: Sequence[Mean]) -> str:
    found = [100 * m.suppression for m in _of(means_, "Top")[1:]]
    return f"{min(found):.1f} to {max(found):.1f}"


STATED: tuple[tuple[str, str, Callable[[Sequence[Mean]], str]], ...] = (
    ("CRX", "BE 15.4", _base),
    ("CRX", "SE - BE of TopN at most 1.1", _most_loss("Top")),
    ("CRX", "SE - BE of RanN at most 1.1", _most_loss("Ran")),
    ("CRX", "RE - SE of Top1 10.1", _benefit(1)),
    ("CRX", "RE - SE of Top4 31.3", _benefit(4)),
    ("Adult", "BE 17.6", _base),
    ("Adult", "SE - BE of TopN below 0.8", _most_loss("Top")),
    ("Adult", "RE - SE of Top1 slightly below 0", _benefit(1)),
    ("Adult", "RE - SE of Top4 about 6", _benefit(4)),
    ("German", "BE 28.8", _base),
    ("German", "RE of TopN about 36 throughout", _removal),
    ("German", "RE - SE of TopN 4.3 on average", _all_benefit),
    ("German", "SE of Top1 close to RE: RE - SE about 0", _benefit(1)),
    ("German", "SE of Top2 to Top6 about 31", _later),
)


# In pictures ------------------------------------------------------------------------

SHOWN = (
    ("removal", "paper", "RE, sensitive columns removed", "#9a6324", "^", "-"),
    ("suppression", "paper", "SE, the paper's way", "#1f4e9c", "o", "-"),
    ("suppression", "maximal", "SE, maximal", "#2a9d8f", "s", "--"),
)


def draw(rows: Sequence[Row], path: Path) -> str:
    """One panel per table and family, as Figure 3 has them; SVG and PNG."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return "No figures: they need matplotlib, which is not installed."
    averaged = means(rows)
    tables = list(dict.fromkeys(m.data for m in averaged if "+" not in m.data))
    figure = Figure(figsize=(9, 3.2 * len(tables)), layout="constrained")
    panels = figure.subplots(len(tables), 2, squeeze=False)
    for row, data in zip(panels, tables, strict=True):
        for axes, family in zip(row, ("Top", "Ran"), strict=True):
            _panel(axes, [m for m in averaged if (m.data, m.family) == (data, family)])
            axes.set_title(f"{data}, {family}N", loc="left", fontsize=11)
        row[1].sharey(row[0])
        row[0].set_ylabel("error on the testing part, %")
    labels = panels[0][0].get_legend_handles_labels()
    figure.legend(*labels, loc="outside lower center", ncols=4, frameon=False)
    for ending in ("svg", "png"):
        figure.savefig(path.with_suffix(f".{ending}"), dpi=120)
    return f"Figures: {path}.svg and .png"


def _panel(axes: Any, averaged: Sequence[Mean]) -> None:
    if not averaged:
        return
    axes.axhline(
        100 * averaged[0].base, color="#444444", ls=":", label="BE, original table"
    )
    for what, mode, label, color, marker, style in SHOWN:
        own = [m for m in averaged if m.mode == mode and m.feasible]
        axes.plot(
            [m.size for m in own],
            [100 * getattr(m, what) for m in own],
            color=color,
            marker=marker,
            # One lies upon the other where both modes come to the same.
            markersize=10 if mode == "paper" and what == "suppression" else 5,
            ls=style,
            label=label,
        )
    axes.set_xticks([m.size for m in averaged if m.mode == "paper"])
    axes.set_xlabel("N, number of sensitive columns")
    axes.spines[["top", "right"]].set_visible(False)
    axes.margins(y=0.1)
    axes.set_ylim(bottom=0)
