"""Policies at random: any names, every adversary, every limit."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from privet import (
    Bayesian,
    Bins,
    Ceiling,
    DeclaredDomain,
    DifferentialPrivacy,
    Insider,
    Linker,
    Measure,
    Policy,
    PrivacyBudget,
    Promise,
    Purpose,
    Ratio,
    Reconstructor,
    Roles,
    Shift,
    Signoff,
)
from privet.policy.measures import MISSING
from privet.policy.promises import UTILITIES
from privet.values.adversaries import AVERAGING, MODELS

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
odd = st.sampled_from(["a.b", 'say "x"', "#", "[x]", "Größe", "名前", "a\nb", "", " "])
names = texts | odd
words = names.filter(bool)
cells = names | st.integers() | st.booleans() | st.dates()
rows = st.dictionaries(names, cells, max_size=3)
several = st.lists(names, max_size=4, unique=True)
small = st.integers(0, 5)
inside = st.fractions(0, 1).filter(lambda p: 0 < p < 1)


def _shares(weights: dict[str, int]) -> dict[str, str]:
    total = sum(weights.values())
    return {c: f"{n}/{total}" for c, n in weights.items()}


priors = st.sampled_from(["uniform", "any"]) | st.dictionaries(
    names, st.integers(1, 9), min_size=1, max_size=3
).map(_shares)

limits = st.one_of(
    inside.map(Ceiling),
    inside.map(lambda p: Ceiling(below=p)),
    st.fractions(1, 50).map(Ratio),
    st.tuples(inside, inside)
    .filter(lambda p: p[0] != p[1])
    .map(lambda p: Shift(*sorted(p))),
)


def _insider(
    ruled: int | list[str], others: object, same: object, victim: str
) -> Insider:
    """Nobody is known twice."""
    taken = {victim}
    if isinstance(others, dict):
        others = {n: v for n, v in others.items() if n not in taken}
        taken |= set(others)
    if not isinstance(same, int):
        same = [n for n in same if n not in taken]
    return Insider(ruled, others, same, victim)


chances = st.fractions(0, 1).filter(bool)
members = st.one_of(
    st.sampled_from(["share", "exclude"]),
    st.builds(lambda p: {"alike": p}, st.fractions(0, 1)),
    st.builds(
        lambda v, w, p, rest: {"pairs": {v: {w: p}}, "otherwise": rest},
        *(names, names, st.fractions(0, 1), st.fractions(0, 1)),
    ),
)


def _doubtful(chance: list[Any], known: int, evidence: Any, one: bool) -> Insider:
    sure = chance[0] if one else chance
    more: dict[str, Any] = {"sure": sure, "evidence": evidence}
    return Insider(rules_out=len(chance), knows_others=known, **more)


adversaries = st.one_of(
    st.builds(
        _doubtful,
        st.lists(chances, min_size=1, max_size=3),
        small,
        st.fractions(1, 9),
        st.booleans(),
    ),
    st.builds(
        lambda column, known: Insider(households=column, members=known), words, members
    ),
    st.builds(Linker, st.none() | several),
    st.integers(1, 9).map(lambda n: Linker(knows_any=n)),
    st.builds(_insider, small | several, small | rows, small | several, names),
    st.builds(Insider, small | several, small, small, st.none() | names),
    st.builds(Reconstructor, st.sampled_from(MODELS)),
    st.builds(
        Bayesian,
        st.none() | several | small | rows,
        st.none() | rows,
        priors,
        st.sampled_from(AVERAGING),
    ),
)

abouts = st.one_of(
    st.none(),
    names,
    st.lists(cells, min_size=1, max_size=3),
    st.dictionaries(
        names, cells | st.lists(cells, min_size=1, max_size=3), min_size=1, max_size=2
    ),
)

promises = st.builds(Promise, adversaries, limits, abouts, names)
shares = st.fractions(0, 1)
wholes = st.integers(1, 99)
tree = st.dictionaries(names, st.just(("below", "any")), min_size=1, max_size=3)


def _measure(kind: str, level: st.SearchStrategy, **options: st.SearchStrategy):
    made = {kind: level, **options}
    return st.builds(
        lambda name, keys: Measure(name, **keys), names, st.fixed_dictionaries(made)
    )


missing = st.sampled_from(["value", "drop"])
measures = st.one_of(
    _measure("k_anonymity", wholes, missing=st.sampled_from(MISSING)),
    _measure("alpha_k_anonymity", shares, k=st.none() | wholes),
    _measure("distinct_l_diversity", wholes, about=st.none() | names.filter(bool)),
    _measure("entropy_l_diversity", st.fractions(1, 50), missing=missing),
    _measure("recursive_l_diversity", wholes, c=st.fractions(1, 9)),
    _measure("t_closeness", shares, distance=st.sampled_from(["equal", "ordered"])),
    _measure("t_closeness", shares, distance=st.just("hierarchical"), hierarchy=tree),
    _measure("enhanced_beta_likeness", st.fractions(0, 50)),
    _measure("delta_disclosure", st.fractions(0, 50)),
    _measure("journalist_risk", shares, population=st.none() | names.filter(bool)),
    _measure("sample_uniques", shares),
)
cuts = st.one_of(
    st.lists(st.fractions(), min_size=1, max_size=4, unique=True),
    st.lists(st.floats(-1e9, 1e9).map(lambda x: x + 0.0), min_size=1, unique=True),
    st.lists(st.dates(), min_size=1, max_size=4, unique=True),
).map(lambda edges: Bins(sorted(edges)))


@st.composite
def roles(draw: st.DrawFn) -> Roles:
    """Roles over different columns, some of them at random also the target."""
    columns = draw(st.lists(words, unique=True, max_size=9))
    dealt: dict[str, list[str]] = {"identifier": [], "quasi": [], "sensitive": []}
    for column in columns:
        dealt[draw(st.sampled_from(list(dealt)))].append(column)
    target = draw(
        st.none() | st.sampled_from([*dealt["quasi"], *dealt["sensitive"], "?"])
    )
    counted: dict[str, Any] = draw(
        st.sampled_from([{}, {"unit": "unit of"}, {"weight": "weight of"}])
    )
    bins = draw(st.dictionaries(names, cuts, max_size=2))
    return Roles(**dealt, target=target, bins=bins, **counted)


signoffs = st.builds(
    lambda name, day, purpose: Signoff(name, day.isoformat(), purpose),
    words.filter(str.strip),
    st.dates(),
    words.filter(str.strip),
)


files = st.fixed_dictionaries(
    {},
    optional={
        "delimiter": st.sampled_from([";", "\t", ", "]),
        "encoding": st.sampled_from(["latin-1", "utf-16"]),
        "header": st.booleans(),
        "names": st.lists(words, min_size=1, max_size=3, unique=True),
        "null": st.lists(names, min_size=1, max_size=2, unique=True),
    },
)


small_parts = st.fractions(0, 1).filter(lambda p: 0 < p < 1)
privacies = st.one_of(
    st.builds(
        DifferentialPrivacy,
        st.fractions("1/9", 9),
        small_parts,
        rows_per_person=wholes,
        noise=st.sampled_from([None, "laplace", "gauss"]),
        selection=small_parts,
    ),
    st.builds(
        lambda rho, n: DifferentialPrivacy(rho=rho, heaviest=n * 3, grid=n),
        st.fractions("1/9", 9),
        st.fractions("1/9", 9),
    ),
)
lists = st.lists(names, min_size=1, max_size=3, unique=True)
missing_last = st.booleans().map(lambda missing: [None] if missing else [])
domains = st.one_of(
    st.builds(
        lambda some, last, other: DeclaredDomain([*some, *last], other),
        lists,
        missing_last,
        st.none() | words,
    ),
    st.builds(DeclaredDomain, file=words.filter(lambda w: w == w.strip())),
)
budgets = st.builds(PrivacyBudget, st.fractions("1/9", 9), st.just(0) | small_parts)


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    """Whole policies."""
    stated = draw(
        st.lists(
            promises | measures, min_size=1, max_size=4, unique_by=lambda p: p.name
        )
    )
    return Policy(
        promises=[p for p in stated if isinstance(p, Promise)],
        measures=[m for m in stated if isinstance(m, Measure)],
        roles=draw(roles()),
        purpose=draw(st.sampled_from(UTILITIES).map(Purpose)),
        where=draw(
            st.dictionaries(names, cells | st.lists(cells, min_size=1), max_size=2)
        ),
        title=draw(names),
        file=draw(files),
        earlier=draw(st.lists(words, max_size=2, unique=True)),
        signoff=draw(st.none() | signoffs),
        privacy=draw(st.none() | privacies),
        domain=draw(st.dictionaries(names, domains, max_size=2)),
        budget=draw(st.none() | budgets),
    )
