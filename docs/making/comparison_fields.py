"""What the fields mean that `privet compare` prints."""

from __future__ import annotations

COMPARE_FIELDS = {
    "verdict": "That of the first release; `infeasible` if no method keeps every "
    "promise; `undecided` if not everything was tried to its end.",
    "ended": "`finished`; or why it ended early: `time`, or `interrupted` by Ctrl-C.",
    "complete": "Whether every method was tried to its end.",
    "people": "Rows of the table; null: not even those were counted in time.",
    "by": "The figure by which methods are ranked.",
    "objectives": "The figures that are looked at for the Pareto front.",
    "best": "The first release of the table that keeps every promise; null: none.",
    "pareto": "Releases that no other is better than in one of the objectives and as "
    "good in all.",
    "methods": "Every method, ranked: those that keep every promise first.",
    "methods.name": "The method, as `--methods` names it.",
    "methods.words": "What it does.",
    "methods.publishes": "What would be published: `table`, `views`, `classifier`, "
    "`answers`.",
    "methods.verdict": "That of its release; or `infeasible`, `refused`, `undecided`, "
    "`stopped`, `not applicable`, `not tried`.",
    "methods.reason": "Why there is no release, or what else must be said, in a line.",
    "methods.seconds": "How long it took.",
    "methods.cpu_seconds": "How long this process worked on it.",
    "methods.ended": "`finished`, or `time` where its search was stopped early.",
    "methods.figures": "Its figures by name: `ncp`, `cells_changed`, `rows_changed`, "
    "`rows_left_out`, `discernibility`, `bits_kept`, `accuracy` (held out, learnt from "
    "the release, on original rows), `pairs_kept` (views), `standard_error` (answers), "
    "`worst` (the highest belief of any promise), `certain` and `unique` (people), "
    "`seconds`. Those that nobody can tell are left out.",
    "methods.promises": "By promise: `verdict`, `basis`, `prior` and `posterior` as "
    "fractions in text, the `value` of a measure.",
    "methods.hidden": "By column, what is not shown as it was: how many `values` are "
    "hidden or `intervals` made, how many `cells` changed, its `ncp`. Never which.",
    "methods.utility": "All numbers of the release, as `privet publish` tells them "
    "under `utility`.",
    "methods.exposure": "Of how many people it tells something, as in an audit.",
    "methods.by": "Who made it: `privet`, or another program.",
    "methods.pareto": "Whether it is on the Pareto front.",
    "notes": "What else must be said.",
    "words": "The result in a sentence.",
}

SWEEP_FIELDS = {
    "verdict": "Empty; `undecided` if not everything was tried to its end.",
    "ended": "`finished`; or why it ended early: `time`, or `interrupted` by Ctrl-C.",
    "complete": "Whether every method was tried at every limit, to its end.",
    "swept": "The promise or measure whose limit is swept.",
    "key": "What the limit is called: `at_most`, `below`, or the key of a measure.",
    "by": "The figure that is compared.",
    "limits": "The limits, the loosest first, as fractions in text.",
    "methods": "The methods that were tried.",
    "points": "A point for each limit and method that was tried.",
    "points.limit": "The limit, as a fraction in text.",
    "points.method": "The method.",
    "points.verdict": "What became of it at this limit, as in a comparison.",
    "points.reason": "Why there is no release, or what else must be said.",
    "points.seconds": "How long it took.",
    "points.value": "The figure of what the search reached; null: no release keeps "
    "every promise.",
    "points.best": "The figure of the best release that keeps this limit: this one, or "
    "one that was found for a stricter limit.",
    "points.best_at": "The limit that one was found for.",
    "points.taken_over": "Whether the release of the next looser limit keeps this one, "
    "too, and was judged under it instead of searched for again.",
    "points.figures": "All figures of it, as in a comparison.",
    "notes": "What else must be said.",
    "words": "What was swept, in a sentence.",
}
