"""Tables and figures of the study of classifiers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import classifier_others as others
import pandas as pd
import result_files
import uci

import classifier as study
import privet as pv

MARRIED = "marital-status"
"""A class with seven values, for a staircase of seven steps."""


@dataclass(frozen=True)
class More:
    """What the releases are compared with."""

    anonymous: Sequence[others.Anonymous]
    noisy: Sequence[others.Noisy]
    curves: Sequence[others.Closeness]
    stairs: Mapping[str, Sequence[others.Step]]
    mitigated: Sequence[str]
    """What `privet audit --as inverter` says."""

    @classmethod
    def of(
        cls,
        models: Mapping[str, pv.NaiveBayes],
        train: pd.DataFrame,
        test: pd.DataFrame,
    ) -> More:
        """Compute everything."""
        eight = models["8 categorical"]
        rest = [c for c in uci.ADULT.categorical if c != MARRIED]
        return cls(
            [
                others.anonymous(k, train, test, same_cuts=same)
                for same in (True, False)
                for k in others.SIZES
            ],
            [
                others.noisy(case, e, models[case], test)
                for case in ("8 categorical", "13 binned")
                for e in others.LOSSES
            ],
            [
                *(others.curve(f"Adult, {case}", m) for case, m in models.items()),
                *(others.curve(name, views) for name, views in others.made_up()),
            ],
            {
                "income": others.staircase("income", study.RAW, train, test),
                MARRIED: others.staircase(MARRIED, [*rest, "income"], train, test),
            },
            others.mitigations(eight),
        )


def text(found: Sequence[study.Line], more: More) -> str:
    """The tables for the terminal."""
    ours = next(x for x in found if x.case == "3 raw")
    return "\n".join(
        [
            *_releases(found),
            "",
            "Figure 9, 3 raw attributes: learnt from k-anonymous rows, and ours.",
            *(_anonymous(a) for a in more.anonymous),
            f"ours: accuracy {ours.accuracy:.4f}, recall {ours.recall:.4f}",
            "",
            "Figure 8: r at alpha = " + ", ".join(map(str, others.ALPHAS)) + " (prior "
            "75 : 25; no release is closer than 2).",
            *(line for c in more.curves for line in _curve(c)),
            "",
            f"Noise first, mean of {others.DRAWS} draws.",
            *(
                f"{x.case:15} epsilon {x.epsilon:>4}: accuracy {x.accuracy:.4f} "
                f"(± {x.spread:.4f})"
                for x in more.noisy
            ),
            "",
            "Accuracy against closeness to the prior: a staircase.",
            *(
                line
                for name, steps in more.stairs.items()
                for line in _stairs(name, steps)
            ),
            "",
            "Mitigations of inversion, 8 categorical attributes, alpha = 2.",
            *more.mitigated,
        ]
    )


def _releases(found: Sequence[study.Line]) -> list[str]:
    lines = [
        "Adult, trained on 32,561 rows, tested on 16,281; add-one smoothing.",
        "case            alpha mode         k    same accuracy precision recall      F"
        "  log loss (before)      r  recovered",
    ]
    return lines + [
        f"{x.case:15} {x.alpha:5} {x.mode:8} {x.k:7.1f} {x.same:6.4f}   "
        f"{x.accuracy:.4f}    {x.precision:.4f} {x.recall:.4f} {x.f:.4f}    "
        f"{x.log_loss:.4f} ({x.log_loss_before:.4f}) {x.r:7.3f}    {x.recovered:5.1%}"
        for x in found
    ]


def _anonymous(a: others.Anonymous) -> str:
    cuts = "same ranges" if a.same_cuts else "own ranges "
    return (
        f"k = {a.k:3}, {cuts}, {a.groups:5} groups: accuracy {a.accuracy:.4f}, "
        f"recall {a.recall:.4f}"
    )


def _curve(c: others.Closeness) -> list[str]:
    return [
        f"{c.case:22} ln A = {c.log_worst:5.1f} {mode:5}: "
        + " ".join(f"{r:7.3f}" for r in reached)
        for mode, reached in (("tight", c.tight), ("paper", c.paper))
    ]


def _stairs(name: str, steps: Sequence[others.Step]) -> list[str]:
    return [
        f"{name:15} r = {s.r:7.3f}: accuracy {s.accuracy:.4f} ({len(s.classes)} of "
        f"{len(steps)} classes)"
        for s in steps
    ]


def as_result(found: Sequence[study.Line], more: More) -> result_files.Result:
    """What the figures show, as it is kept."""
    closeness = [
        {"case": c.case, "mode": mode, "alpha": alpha, "r": r}
        for c in more.curves
        for mode, reached in (("tight", c.tight), ("paper", c.paper))
        for alpha, r in zip(others.ALPHAS, reached, strict=True)
    ]
    stairs = [
        {"of": name, "r": s.r, "classes": len(s.classes), "accuracy": s.accuracy}
        for name, steps in more.stairs.items()
        for s in steps
    ]
    figures = {
        "releases": [asdict(line) for line in found],
        "closeness": closeness,
        "anonymous": [asdict(a) for a in more.anonymous],
        "noise": [asdict(x) for x in more.noisy],
        "stairs": stairs,
    }
    tolerance = dict.fromkeys(figures, 0.005)
    return result_files.Result.of("python studies/classifier.py", figures, tolerance)


def draw(found: Sequence[study.Line], more: More, folder: Path) -> None:
    """Figures 8 and 9, noise, and the staircase."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(11, 8))
    ours = next(x for x in found if x.case == "3 raw")
    _draw_closeness(axes[0][0], more.curves)
    _draw_anonymous(axes[0][1], more.anonymous, ours)
    _draw_noise(axes[1][0], more.noisy)
    _draw_stairs(axes[1][1], more.stairs[MARRIED])
    figure.tight_layout()
    figure.savefig(folder / "classifier.png", dpi=150)
    plt.close(figure)


def _draw_closeness(axis: Any, curves: Sequence[others.Closeness]) -> None:
    for c in curves:
        style = "-" if c.case.startswith("Adult") else ":"
        axis.plot(others.ALPHAS, c.tight, style, label=c.case)
    axis.axhline(2, color="grey", label="least of any release")
    axis.set(xscale="log", yscale="log", xlabel="amplification allowed", ylabel="r")
    axis.set_title("Figure 8: closeness to 75 : 25")
    axis.legend(fontsize=6)


def _draw_anonymous(
    axis: Any, found: Sequence[others.Anonymous], ours: study.Line
) -> None:
    for same, mark in ((True, "o"), (False, "s")):
        part = [a for a in found if a.same_cuts == same]
        cuts = "same ranges" if same else "own ranges"
        ks = [a.k for a in part]
        axis.plot(
            ks, [a.accuracy for a in part], mark + "-C0", label=f"accuracy, {cuts}"
        )
        axis.plot(ks, [a.recall for a in part], mark + "-C1", label=f"recall, {cuts}")
    axis.axhline(ours.accuracy, linestyle="--", color="C0", label="accuracy, ours")
    axis.axhline(ours.recall, linestyle="--", color="C1", label="recall, ours")
    axis.set(xscale="log", xlabel="k", ylim=(0, 1))
    axis.set_title("Figure 9: beside k-anonymity")
    axis.legend(fontsize=6)


def _draw_noise(axis: Any, found: Sequence[others.Noisy]) -> None:
    for case in dict.fromkeys(x.case for x in found):
        part = [x for x in found if x.case == case]
        axis.errorbar(
            [float(x.epsilon) for x in part],
            [x.accuracy for x in part],
            yerr=[x.spread for x in part],
            marker="o",
            label=case,
        )
    axis.set(xscale="log", xlabel="epsilon", ylabel="accuracy")
    axis.set_title("Noise first")
    axis.legend(fontsize=6)


def _draw_stairs(axis: Any, steps: Sequence[others.Step]) -> None:
    axis.step(
        [s.r for s in steps], [s.accuracy for s in steps], where="post", marker="o"
    )
    axis.set(xscale="log", xlabel="r", ylabel="accuracy")
    axis.set_title(f"Accuracy against r: {MARRIED}")
