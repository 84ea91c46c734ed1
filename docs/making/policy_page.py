"""The policy page: every key, with an example that a test runs."""

from __future__ import annotations

from making.markdown import page
from privet.policy.file_keys import FREE, LISTS, SECTIONS, Key, form_words

EXAMPLES = {
    "title": 'title = "Loan ratings, research file"',
    "ledger": 'ledger = "releases"',
    "columns.identifier": '[columns]\nidentifier = ["name", "account"]',
    "columns.quasi": '[columns]\nquasi = ["job", "country", "child"]',
    "columns.sensitive": '[columns]\nsensitive = ["bankruptcy"]',
    "columns.other": '[columns]\nother = ["branch"]',
    "columns.drop": '[columns]\ndrop = ["remarks"]',
    "columns.target": '[columns]\ntarget = "rating"',
    "columns.unit": '[columns]\nidentifier = ["patient_id"]\nunit = "patient_id"',
    "columns.weight": '[columns]\nweight = "count"',
    "file.delimiter": '[file]\ndelimiter = ";"',
    "file.encoding": '[file]\nencoding = "cp1252"',
    "file.header": "[file]\nheader = true",
    "file.names": '[file]\nnames = ["job", "country", "bankruptcy"]',
    "file.null": '[file]\nnull = ["?", "NA"]',
    "file.dates": '[file]\ndates = "dmy"',
    "file.decimal": '[file]\ndecimal = ","',
    "bins": '[bins]\nage = [18, 40, 65]\nadmitted = ["2023-01-01", "2023-07-01"]',
    "where": '[where]\nyear = 2024\nregion = ["North", "South"]',
    "domain": '[domain]\njob = ["Clerk", "Trader", "Cook"]\n'
    'country = "public from countries.txt"\n'
    'rating = { values = ["G", "B"], other = "none" }',
    "derived": '[derived]\nmonth = "time_hour"\nregion = ["branch", "team"]\n'
    'rating = { not_from = "account", why = "ratings are given anew each year" }',
    "hierarchy": '[hierarchy]\njob = "jobs.csv"',
    "promise.name": '[[promise]]\nname = "nobody learns a discharge"\n'
    'against = "linker"\nabout = "bankruptcy"\nat_most = 0.5',
    "promise.against": '[[promise]]\nagainst = "linker"\nabout = "bankruptcy"\n'
    "at_most = 0.5",
    "promise.knows": '[[promise]]\nagainst = "linker"\nknows = ["job", "country"]\n'
    'about = "bankruptcy"\nat_most = 0.5',
    "promise.knows_any": '[[promise]]\nagainst = "linker"\nknows_any = 3\n'
    'about = "bankruptcy"\nat_most = 0.5',
    "promise.rules_out": '[[promise]]\nagainst = "insider"\nrules_out = 1\n'
    'about = "bankruptcy"\nbelow = 0.8',
    "promise.knows_others": '[[promise]]\nagainst = "insider"\nknows_others = 2\n'
    'about = "bankruptcy"\nbelow = 0.8',
    "promise.same_as": '[[promise]]\nagainst = "insider"\nsame_as = 1\n'
    'about = "bankruptcy"\nbelow = 0.8',
    "promise.victim": '[[promise]]\nagainst = "insider"\nvictim = "Tom"\n'
    'rules_out = ["Current"]\nabout = "bankruptcy"\nbelow = 0.8',
    "promise.sure": '[[promise]]\nagainst = "insider"\nrules_out = 2\n'
    'sure = [0.99, 0.9]\nabout = "bankruptcy"\nbelow = 0.8',
    "promise.evidence": '[[promise]]\nagainst = "insider"\nevidence = 3\n'
    'about = "bankruptcy"\nbelow = 0.8',
    "promise.households": '[[promise]]\nagainst = "insider"\n'
    'households = "family"\nabout = "bankruptcy"\nbelow = 0.8',
    "promise.members": '[[promise]]\nagainst = "insider"\nhouseholds = "family"\n'
    'members = { alike = 0.9 }\nabout = "bankruptcy"\nbelow = 0.8',
    "promise.model": '[[promise]]\nagainst = "reconstructor"\nmodel = "restricted"\n'
    'about = { name = "George", problem = "HIV" }\nat_most = 0.5',
    "promise.one_row_per_id": '[[promise]]\nagainst = "reconstructor"\n'
    'one_row_per_id = true\nabout = { name = "George", problem = "HIV" }\n'
    "at_most = 0.5",
    "promise.worlds": '[[promise]]\nagainst = "reconstructor"\nworlds = "full"\n'
    'about = "select name, problem from T where age = 45"\nat_most = 0.8',
    "view.name": '[[view]]\nname = "ages"\ncolumns = ["name", "age"]',
    "view.columns": '[[view]]\ncolumns = ["age", "job", "problem"]',
    "promise.prior": '[[promise]]\nagainst = "bayesian"\nprior = { G = 0.6, B = 0.4 }\n'
    'about = "rating"\nfrom = 0.51\nto = 0.8',
    "promise.averaging": '[[promise]]\nagainst = "bayesian"\naveraging = "worlds"\n'
    'about = "rating"\nfrom = 0.51\nto = 0.8',
    "promise.unknown": '[[promise]]\nagainst = "bayesian"\nknows = 1\n'
    'unknown = "model"\nabout = "rating"\nat_most = 0.8',
    "promise.tilt": '[[promise]]\nagainst = "bayesian"\nknows = ["job"]\n'
    "unknown = { shares = { job = { Clerk = 0.6, Trader = 0.4 } } }\ntilt = 2\n"
    'about = "rating"\nat_most = 0.8',
    "promise.near": '[[promise]]\nagainst = "inverter"\nexactly = 0.1\n'
    'near = { within = "10 %", at_most = 0.3 }',
    "promise.exactly": '[[promise]]\nagainst = "inverter"\nexactly = 0.1',
    "promise.sees": '[[promise]]\nagainst = "bayesian"\nsees = { smokes = "yes" }\n'
    'about = "smokes"\nwithin = 3',
    "promise.unrelated": '[[promise]]\nagainst = "bayesian"\nabout = "smokes"\n'
    'unrelated = ["age"]\nat_most = 0.8',
    "promise.about": '[[promise]]\nagainst = "linker"\n'
    'about = { bankruptcy = ["Discharged", "Current"] }\nat_most = 0.5\n\n'
    '[[promise]]\nagainst = "linker"\nabout = { income = { within = "10 %" } }\n'
    "at_most = 0.5",
    "promise.at_most": '[[promise]]\nagainst = "linker"\nabout = "bankruptcy"\n'
    'at_most = "1/3"',
    "promise.below": '[[promise]]\nagainst = "linker"\nabout = "bankruptcy"\n'
    "below = 0.8",
    "promise.from": '[[promise]]\nagainst = "bayesian"\nabout = "rating"\n'
    "from = 0.51\nto = 0.8",
    "promise.to": '[[promise]]\nagainst = "bayesian"\nabout = "rating"\n'
    "from = 0.51\nto = 0.8",
    "promise.within": '[[promise]]\nagainst = "bayesian"\nabout = "rating"\nwithin = 2',
    "measure.name": '[[measure]]\nname = "nobody stands alone"\nk_anonymity = 2',
    "measure.k_anonymity": "[[measure]]\nk_anonymity = 5",
    "measure.alpha_k_anonymity": "[[measure]]\nalpha_k_anonymity = 0.5\nk = 5",
    "measure.distinct_l_diversity": "[[measure]]\ndistinct_l_diversity = 3",
    "measure.entropy_l_diversity": "[[measure]]\nentropy_l_diversity = 2.5",
    "measure.recursive_l_diversity": "[[measure]]\nrecursive_l_diversity = 3\nc = 2",
    "measure.t_closeness": "[[measure]]\nt_closeness = 0.2",
    "measure.beta_likeness": "[[measure]]\nbeta_likeness = 1",
    "measure.enhanced_beta_likeness": "[[measure]]\nenhanced_beta_likeness = 1",
    "measure.delta_disclosure": "[[measure]]\ndelta_disclosure = 1.5",
    "measure.prosecutor_risk": "[[measure]]\nprosecutor_risk = 0.2",
    "measure.journalist_risk": "[[measure]]\njournalist_risk = 0.05\n"
    'population = "census.csv"',
    "measure.marketer_risk": "[[measure]]\nmarketer_risk = 0.05",
    "measure.sample_uniques": "[[measure]]\nsample_uniques = 0.01",
    "measure.about": '[[measure]]\nt_closeness = 0.2\nabout = "bankruptcy"',
    "measure.missing": '[[measure]]\nk_anonymity = 5\nmissing = "drop"',
    "measure.c": "[[measure]]\nrecursive_l_diversity = 3\nc = 2",
    "measure.k": "[[measure]]\nalpha_k_anonymity = 0.5\nk = 5",
    "measure.distance": '[[measure]]\nt_closeness = 0.2\ndistance = "ordered"',
    "measure.hierarchy": '[[measure]]\nt_closeness = 0.2\ndistance = "hierarchical"\n'
    'hierarchy = { Discharged = ["past", "any"], Current = ["now", "any"] }',
    "measure.population": "[[measure]]\njournalist_risk = 0.05\n"
    'population = "census.csv"',
    "purpose.utility": '[purpose]\nutility = "information"',
    "earlier.custody": '[[earlier]]\ncustody = "vault/2025"',
    "accepted.about": '[[accepted]]\nabout = "bankruptcy"\nup_to = 120\n'
    'why = "customers agreed to it"\nwho = "Ada Byron, data steward"',
    "accepted.of": '[[accepted]]\nof = "inversion"\n'
    'why = "the counts are public anyway"\nwho = "Ada Byron, data steward"',
    "accepted.up_to": '[[accepted]]\nabout = "bankruptcy"\nup_to = 120\n'
    'why = "customers agreed to it"\nwho = "Ada Byron, data steward"',
    "accepted.why": '[[accepted]]\nabout = "bankruptcy"\nup_to = 120\n'
    'why = "customers agreed to it"\nwho = "Ada Byron, data steward"',
    "accepted.who": '[[accepted]]\nabout = "bankruptcy"\nup_to = 120\n'
    'why = "customers agreed to it"\nwho = "Ada Byron, data steward"',
    "person.by": '[person]\nby = "patient"\norder = "visit"\nlast = ["town"]',
    "person.order": '[person]\nby = "patient"\norder = "visit"\nlast = ["town"]',
    "person.first": '[person]\norder = "visit"\nfirst = ["ward", "doctor"]',
    "person.last": '[person]\norder = "visit"\nlast = ["town"]',
    "person.least": '[person]\nleast = ["weight"]',
    "person.most": '[person]\nmost = ["dose"]',
    "person.commonest": '[person]\ncommonest = ["ward"]',
    "person.set": '[person]\nset = ["diagnosis"]',
    "person.count": '[person]\ncount = ["visit"]',
    "privacy.epsilon": "[privacy]\nepsilon = 1",
    "privacy.delta": "[privacy]\nepsilon = 1\ndelta = 1e-6",
    "privacy.rho": "[privacy]\nrho = 0.5",
    "privacy.rows_per_person": "[privacy]\nepsilon = 1\nrows_per_person = 3",
    "privacy.heaviest": "[privacy]\nepsilon = 1\nheaviest = 10",
    "privacy.grid": "[privacy]\nepsilon = 1\nheaviest = 10\ngrid = 0.5",
    "privacy.noise": '[privacy]\nepsilon = 1\ndelta = 1e-6\nnoise = "gauss"',
    "privacy.selection": "[privacy]\nepsilon = 1\ndelta = 1e-6\nselection = 0.1",
    "budget.epsilon": "[budget]\nepsilon = 2",
    "budget.delta": "[budget]\nepsilon = 2\ndelta = 1e-6",
    "signoff.name": '[signoff]\nname = "Ada Byron, data steward"\n'
    'date = "2026-03-31"\npurpose = "Research on ratings"',
    "signoff.date": '[signoff]\nname = "Ada Byron, data steward"\n'
    'date = "2026-03-31"\npurpose = "Research on ratings"',
    "signoff.purpose": '[signoff]\nname = "Ada Byron, data steward"\n'
    'date = "2026-03-31"\npurpose = "Research on ratings"',
}
"""An example of every key, as it would stand in a file."""

HEADS = {
    "columns": "What each column is for. `identifier`, `quasi`, `sensitive`, `other` "
    "and `drop` exclude each other. Every column of a table has a role before anything "
    "of it is published.",
    "person": "Rows become people before anything is counted: `where` chooses rows "
    "before, `bins` cut what comes of them. A column without a rule must be the same "
    "in all rows of a person, or be dropped; otherwise an error says for how many "
    "people it differs. See [several rows per person]"
    "(../how-to/several-rows-per-person.md).",
    "file": "How the text file of the table is read, where that had to be said or was "
    "found: what was told to `privet init` stands here, so that nobody has to say it "
    "again. What is said on the command line goes before it; a spreadsheet takes "
    "`header` and `names` of it, and files of other formats do not need it. In Python, "
    "hand it on yourself: `pv.read(path, **policy.file)`.",
    "promise": "What must hold, written once per promise. A promise says against whom, "
    "about what, and exactly one limit: `at_most`, or `below`, or `from` with `to`, or "
    "`within`. A promise against a linker or an insider takes `at_most` or `below`. "
    "On a table, promises against a reconstructor or a Bayesian do not apply.",
    "measure": "A familiar measure of the groups of all quasi columns, one per "
    "section. A missing value counts as a value of its own; `missing` says otherwise.",
    "purpose": "What the analyst wants. `privet publish` shows values in the order of "
    "what they are worth to this purpose; an audit does not use it. `information` is "
    "about the target. Without a target, or with `distortion`, what "
    "counts is the number of cells that are shown.",
    "earlier": "An earlier release of the same rows, named by its custody folder and "
    "written once per release. `privet publish` then also asks what somebody could "
    "learn who has both; an audit does not use it. A path is taken from the folder of "
    "the policy file. See [how to publish a table]"
    "(../how-to/publish-a-table.md#when-something-is-out-already).",
    "accepted": "A column about which somebody with all known columns may learn what "
    "no promise limits is NOT COVERED, and nothing is written, until a promise covers "
    "it or somebody accepts it here, by name. The public note prints what was accepted "
    "and why; who accepted it is kept in custody.",
    "derived": "Columns that follow from others are found by counting, and taken as "
    "known where what tells them is known. Say here what counting cannot find, or that "
    "something it finds is an accident.",
    "privacy": "Noise on the counts of a classifier, by differential privacy: "
    "`epsilon`, perhaps with `delta`, or `rho`. `--epsilon`, `--delta` and `--rho` of "
    "`privet classifier` go before it. Nothing else can be published under a policy "
    "with this section: only counts of classifiers take noise. See [how to publish a "
    "classifier](../how-to/publish-a-classifier.md#with-differential-privacy).",
    "budget": "Everything in the ledger has noise, and its losses add up: what would "
    "overdraw the budget is refused before any noise is drawn. `privet ledger -p "
    "POLICY` says what is spent and left.",
    "domain": "With noise, the values that are published must not tell who is in the "
    "table. Declared values all appear, those nobody has among them; what is outside "
    "counts as `other`, or is an error that only the steward sees. `missing = true` "
    "makes a missing value one of them. A file has a value per line, or, as `.csv`, a "
    "column of that name. Columns with `[bins]` are declared by their cut points. "
    "Without noise it is not used.",
    "signoff": "Who answers for the release. All three keys belong together. They go "
    "into the custody record and not into the release; an audit does not use them.",
    "bins": "The audit judges the table as if these columns were published in bins. A "
    "value belongs to the bin whose lower edge it reaches: with `[18, 65]` the bins "
    "are below 18, 18 to below 65, and 65 and more. Choose edges that anybody could "
    "have chosen without seeing the data.",
    "where": "Only these rows are judged. `privet audit` applies it when it opens the "
    "table, and `--where` narrows it further. In Python, hand it on yourself: "
    "`pv.read(path, where=policy.where)`.",
    "hierarchy": "A line per value, from fine to coarse, such as "
    "`Cook;Service;Manual;*`. Mondrian shows `Service` where a group has several of "
    "its values. Every value must have its line.",
}


def policy_page() -> str:
    """Every key of a policy file."""
    parts = [
        "A policy is a TOML file. Every problem in it is reported at once, each with "
        "its line. Numbers are read at their written digits: `0.1` is exactly one "
        'tenth, and text such as `"1/3"` or `"5 %"` works too. The same rules as '
        "JSON Schema: [policy.schema.json](policy.schema.json).",
        *[_key_section(k, key, k) for k, key in SECTIONS[""].items()],
    ]
    for section, keys in SECTIONS.items():
        if section:
            head = f"[[{section}]]" if section in LISTS else f"[{section}]"
            parts += [f"## `{head}` {{ #{section} }}", HEADS.get(section, "")]
            parts += [_key_section(k, key, f"{section}.{k}") for k, key in keys.items()]
    for section, key in FREE.items():
        parts += [f"## `[{section}]` {{ #{section} }}", HEADS.get(section, "")]
        parts.append(
            f"{key.meaning} Each key is a column; its value is {form_words(key.form)}."
        )
        parts.append(f"```toml\n{EXAMPLES.get(section, '')}\n```")
    return page("Policy file", *(p for p in parts if p))


def _key_section(name: str, key: Key, path: str) -> str:
    level = "##" if "." not in path else "###"
    who = f" Only for: {', '.join(key.only_for)}." if key.only_for else ""
    return "\n\n".join(
        [
            f"{level} `{name}` {{ #{path} }}",
            f"{key.meaning} Takes {form_words(key.form)}.{who}",
            f"```toml\n{EXAMPLES.get(path, '')}\n```",
        ]
    )
