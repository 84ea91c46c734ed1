"""What the fields of every command's JSON mean; a test prints and compares them."""

from __future__ import annotations

from making.comparison_fields import COMPARE_FIELDS, SWEEP_FIELDS

FIELDS = {
    "verdict": "The gravest of the verdicts: `safe`, `breach`, `undecided`, "
    "`not covered` or `not applicable`.",
    "headline": "The verdict in a sentence.",
    "title": "The policy's title, or an empty text.",
    "findings": "One object per promise and measure, and one per sensitive column that "
    "no promise covers; see below.",
    "exposure": "Of how many people something is told, promised or not; null where it "
    "was not counted. See below.",
    "history": "What is known of earlier releases; null unless a policy was judged. "
    "`ledger` is the folder, or null; `releases` those it was judged with, each with "
    "its kind and whether it is of the same rows (else how many rows are `new`, `kept` "
    "and `gone`); `verdict` what all of them come to; `findings` one per promise, for "
    "somebody who has all of them; `words` the same in sentences.",
    "notes": "Warnings, such as a value that never occurs.",
    "advice": "What to do next, step by step.",
    "reach": "Which attackers the promises cover, and which they do not.",
    "sensitive": "A reminder that the output quotes the private table.",
}

FINDING_FIELDS = {
    "promise": "The name of the promise or measure.",
    "against": "The adversary as a policy writes it; null for a measure.",
    "about": "What the promise is about, as the policy writes it; null where it left "
    "that out.",
    "verdict": "`safe`, `breach`, `undecided`, `not covered` or `not applicable`.",
    "basis": "How the belief is known: `exact`, `bound` or `sampled`; null where "
    "nothing was counted. Audits of tables are exact; what two releases tell together "
    "is a bound.",
    "prior": "The worst case before: the share of the value in the whole table, as a "
    "fraction in text; null without a belief.",
    "posterior": "The worst case after, as a fraction in text; null without a belief. "
    "Of a bound or an estimate, its upper end.",
    "at_least": "The lower end of a bound or an estimate; null where the worst case is "
    "exact.",
    "limit": "The limit, as the policy writes it, numbers as fractions in text. For a "
    "measure, its level.",
    "measured": "What a measure measures, as text; null for a promise.",
    "witness": "The case that attains the worst belief, or the smallest group; null "
    "where there is none. See below.",
    "groups": "How many groups look alike to the adversary of the worst case.",
    "groups_above": "How many of them are beyond the limit.",
    "people_above": "How many rows, or people, are in those; somebody with several "
    "rows may be counted in several groups.",
    "promised": "The promise in words.",
    "figures": "The numbers of the finding in a line.",
    "words": "The finding in words.",
    "beyond": "How much of the table is beyond the limit, in words.",
    "note": "What else must be said, such as why nothing was judged.",
    "details": "More that was counted about views, or about what is not covered; empty "
    "otherwise. See below.",
}

EXPOSURE_FIELDS = {
    "people": "Everybody in the table.",
    "known": "The known columns: quasi, other and target.",
    "unique": "People whom nobody looks like on the known columns.",
    "columns": "By sensitive column, what somebody learns of it.",
    "columns.*.known": "The known columns, without the one that is asked about.",
    "columns.*.people": "Everybody.",
    "columns.*.groups": "Groups of people who look alike.",
    "columns.*.unique": "People whom nobody looks like.",
    "columns.*.certain": "People of whom whoever has all known columns is certain; of "
    "lists, that some value is in theirs.",
    "columns.*.beyond": "One object per limit that the policy sets for the column.",
    "columns.*.beyond.limit": "The limit.",
    "columns.*.beyond.people": "People of whom somebody is surer than that.",
    "columns.*.beyond.true": "Those of them who have the value.",
    "columns.*.own_belief": "People by how sure one can be of their own value: 20 "
    "equal steps from 0, and exactly 1. Of a list, the value in it one is surest of.",
    "columns.*.few": "The same for whoever has at most one, two and three columns, "
    "whichever tell most.",
    "columns.*.few.columns": "How many columns at the most.",
    "columns.*.few.certain": "People of whom somebody is certain.",
    "columns.*.few.beyond": "People beyond each limit, in the same order.",
    "columns.*.few.worst": "The set of exactly so many columns that makes most people "
    "certain.",
    "columns.*.few.worst_certain": "How many those are.",
    "columns.*.at_most": "Whether the figures are upper bounds, since somebody has "
    "several rows.",
    "accepted": "What no promise covers and the policy accepts: `about`, `of`, `up_to` "
    "and `why`.",
    "notes": "What was not counted, and why.",
    "words": "The same in words.",
}

WITNESS_FIELDS = {
    "knows": "What the adversary knows: column and value; null is a missing value.",
    "sees": "Of disguised rows: the row that is seen.",
    "about": "What is believed: column and value; of a number within a window, from "
    "which number to which (`from`, `to`).",
    "count": "How many fit and have the value …",
    "of": "… out of how many fit. The posterior is `count` / `of`.",
    "prior_count": "How many in the whole table have the value …",
    "prior_of": "… out of how many there are. The prior is `prior_count` / `prior_of`.",
    "counted": "What the counts count: `rows`; `people` where the policy has a `unit`; "
    "`tables` that would give the views; `chances` where nothing was counted.",
    "attack": "Of an insider: what else is known. The posterior is the share of the "
    "ways to deal values to these people in which the victim has the value.",
    "attack.victim": "The victim's name, where the promise names one.",
    "attack.rules_out": "Values the victim does not have.",
    "attack.sure": "How surely each of them is ruled out; left out: for certain.",
    "attack.groups": "The groups involved, the victim's first.",
    "attack.groups.group": "What its people look like: column and value.",
    "attack.groups.histogram": "How many of them have each value, in pairs.",
    "attack.groups.known": "How many of them are known to have each value, in pairs.",
    "attack.groups.companions": "How many of them have the victim's value if the "
    "victim has it.",
    "attack.groups.names": "The people known by name, and their values.",
    "attack.groups.companion_names": "The companions known by name.",
    "attack.households": "Of a household: the column that says who belongs together.",
    "attack.relation": "What is known of their values, as `members` in a policy.",
    "attack.members": "How many of its members are in each of these groups.",
    "model": "Of views: which tables count as possible.",
    "keys": "Of views: the values of the shared columns in which person and value "
    "meet.",
    "sizes": "The people and the values of each of those keys.",
    "cover": "The values that the views give the person; not all of very many.",
    "cover_size": "How many there are.",
    "shares": "The posterior in every model; null where the views refute the model.",
}
"""A measure's witness has the first four; each other release those that it needs."""

DETAIL_FIELDS = {
    "households": "Of an insider who knows who belongs together.",
    "households.households": "How many households of two or more there are.",
    "households.beyond": "How many of them are, or may be, beyond the limit.",
    "households.people": "How many people those have.",
    "households.contradicted": "Of how many the groups show that what is known cannot "
    "be true.",
    "people": "Of what is not covered: people whom it concerns …",
    "of": "… out of how many.",
    "known": "The known columns.",
    "certain": "People of whom somebody is certain.",
    "accepted_up_to": "How many were accepted; null: none.",
    "derived": "Of a linker: columns that follow from the known ones.",
    "derived.columns": "Those that were taken as known.",
    "derived.rules": "By which rules: column, by which, whether it holds in every row, "
    "and the counts behind it.",
    "derived.shows_through": "Rules by which a published column tells a hidden one.",
    "derived.too_few_rows": "Where there are too few rows to tell.",
    "derived.too_few_rows.column": "Which column.",
    "derived.too_few_rows.by": "From which columns it may follow.",
    "derived.too_few_rows.checks": "Rows that could be compared.",
    "derived.pairs": "Where two columns together were not looked at.",
    "associations": "Where associations were judged one by one: the surest.",
    "associations.person": "Whom.",
    "associations.value": "Which value.",
    "associations.share": "How likely the tables behind the views hold it, as a "
    "fraction in text; rounded up where that has many digits, or is a bound.",
    "associations.in_table": "Whether the private table holds it.",
    "worlds": "Both ways to take tables: over the columns asked about and those that "
    "link them, and over whole tuples of all views.",
    "worlds.projected": "Over the columns asked about; beyond the limit is a breach.",
    "worlds.full": "Over whole tuples; alone beyond the limit leaves the promise "
    "undecided.",
    "worlds.projected.verdict": "What these tables alone would make of the promise.",
    "worlds.projected.share": "The surest association's share of them, as a fraction "
    "in text; null where it is not counted.",
    "worlds.projected.people_above": "How many people are beyond the limit.",
    "worlds.projected.at_least": "A bound from below, where it is not exact.",
    "worlds.full.verdict": "What these tables alone would make of the promise.",
    "worlds.full.share": "The surest association's share of them, as a fraction in "
    "text; null where it is not counted.",
    "worlds.full.people_above": "How many people are beyond the limit; what an "
    "`[[accepted]]` entry of worlds is held against.",
    "worlds.full.at_least": "A bound from below, where it is not exact.",
    "histogram": "Where all were judged: keys by how sure one can be.",
    "histogram.from": "At least this sure, as a fraction in text; the next entry's at "
    "the most.",
    "histogram.keys": "How many keys.",
    "histogram.associations": "How many associations they hold.",
    "people_in_several_keys": "How many people have more than one key.",
    "worst_keys": "The keys to look at first.",
    "worst_keys.key": "Column and value.",
    "worst_keys.people": "How many people have it.",
    "worst_keys.values": "How many private values have it.",
    "worst_keys.unrestricted": "How sure one can be of anybody in it who is in no "
    "other key, by model.",
    "worst_keys.restricted": "The same; null: refuted.",
    "worst_keys.functional": "The same; null: refuted.",
    "worst_keys.bag": "The same; null: not counted.",
    "worst_keys.log2_excess": "The binary logarithm of 2 · share - 1 in the "
    "unrestricted model: it tells shares near one half apart.",
    "draws": "Where tables were drawn at random: how many.",
    "error": "How rarely the interval misses the truth.",
    "seed": "The seed, where one was asked for.",
}

PUBLISH_FIELDS = {
    "verdict": "`safe`; `not covered`; where an earlier release tells too much "
    "`breach`, where it leaves doubt `undecided`.",
    "title": "The policy's title, or an empty text.",
    "method": "How it was made: `top-down disclosure`, `mondrian`, `recipe`, or `as it "
    "is` where the table kept every promise without any change.",
    "people": "With `[person]`: how many `rows` stood for how many `people`, the "
    "`most` rows of one person, for how many people rows `tied` in the first or last "
    "place, and the same in `words`; otherwise null.",
    "held_back": "With `--hold-back`: how many new `rows` wait for a later delivery, "
    "`of` how many; else null.",
    "ended": "Why the search ended: `finished`, `time`, `callback`; `households` where "
    "splits were undone for them; `chosen` where the "
    "method leaves values that might be shown, `together` where values are hidden that "
    "tell others; `improved` where exchanges were stopped; or `recipe` where there was "
    "none.",
    "left": "What could have been tried next when the search was stopped: how many "
    "values or cuts by column, or `groups`; empty if it was not.",
    "moves": "How many sweeps and exchanges there were; with `--paper` how many values "
    "were shown; or how many rounds of cuts were made.",
    "columns": "By column, what is not shown as it is.",
    "columns.*.values": "How many values it has.",
    "columns.*.hidden_values": "How many of them are hidden …",
    "columns.*.hidden_cells": "… in how many cells …",
    "columns.*.cells": "… of how many.",
    "columns.*.labels": "With a hierarchy: how many of its nodes stand for others.",
    "columns.*.intervals": "Or: how many intervals stand for its values.",
    "promises": "One object per promise and measure.",
    "promises.promise": "Its name.",
    "promises.verdict": "`safe`, or `not applicable`.",
    "promises.limit": "As in a finding.",
    "promises.before": "The worst case in the table, or what was measured.",
    "promises.after": "The same in the release.",
    "promises.change": "Both in words.",
    "promises.words": "The release's worst case in words.",
    "promises.note": "What else must be said.",
    "exposure": "As in an audit, for the release.",
    "uncovered": "One object per sensitive column that no promise covers.",
    "uncovered.about": "The column.",
    "uncovered.words": "Whom it concerns, in words.",
    "advice": "What to do about those, step by step.",
    "method_known": "What somebody learns who knows how the release was made; null "
    "where it is too large to list.",
    "method_known.words": "The same in words.",
    "method_known.tables": "Private tables that the file allows.",
    "method_known.fitting": "Those of them for which the method gives this release.",
    "groups": "Of a release in groups; null for hidden values.",
    "groups.form": "`generalised` or `buckets`.",
    "groups.groups": "How many groups there are.",
    "groups.people": "How many people are in them.",
    "groups.smallest": "The size of the smallest group.",
    "groups.largest": "The size of the largest.",
    "groups.suppressed": "How many people are left out.",
    "groups.starred": "How many people show `*` in every known column, as one group.",
    "groups.stars": "Whether people may have been starred while groups were made; "
    "where none are, that would have hidden more than it shows.",
    "groups.same_cuts": "Whether everybody has the same cuts.",
    "groups.chosen": "Of full-domain and subtrees: what the manifest says of the "
    "choice; its `cost` and the least possible (`bound`), NCP; how many of the "
    "`combinations` of levels were `judged`; and the level of each column (`levels`), "
    "null where its branches differ. Null for other methods.",
    "groups.width": "By column, how wide what is shown is on average, from 0 to 1.",
    "utility": "What the release keeps of the table, in numbers; null where they are "
    "switched off or were not done in time. [What a release "
    "keeps](../explanation/what-a-release-keeps.md) defines each.",
    "utility_note": "Why there are no numbers; empty where there are.",
    "utility.rows": "All rows of the table.",
    "utility.rows_changed": "Rows with a cell that is not as it was, or left out.",
    "utility.rows_left_out": "Rows that are not released.",
    "utility.cells_changed": "Cells that are not as they were, of all columns.",
    "utility.ncp": "Normalised certainty penalty, from 0 to 1: the average of the "
    "columns that may be known; null without any.",
    "utility.groups": "Groups of released rows that look alike in those columns.",
    "utility.average_group": "Released rows per group.",
    "utility.discernibility": "The sum over rows of how many look alike.",
    "utility.bits": "The entropy of whole rows in the table; null: too many rows.",
    "utility.bits_kept": "What the released rows tell of it.",
    "utility.columns": "By column, what changed most first.",
    "utility.columns.*.cells_changed": "Its cells that are not as they were.",
    "utility.columns.*.ncp": "Its penalty; null: not a column that may be known.",
    "utility.columns.*.bits": "Its entropy in the table.",
    "utility.columns.*.bits_kept": "What the released cells tell of it.",
    "utility.columns.*.moved": "Total variation distance of its values before and "
    "after.",
    "utility.columns.*.moved_in_order": "Earth mover's distance of the same, from 0 to "
    "1; null: its values have no order.",
    "utility.pairs": "One object per pair of columns that is not released as it was, "
    "what moved most first.",
    "utility.pairs.columns": "The two columns.",
    "utility.pairs.moved": "Total variation distance of their pairs of values.",
    "utility.pairs.cramers_v": "Cramér's V before and after; null: a column has one "
    "value.",
    "utility.pairs.bits": "Mutual information before and after.",
    "utility.pairs.correlation": "Pearson's correlation before and after; null: they "
    "are not numbers, or do not vary.",
    "utility.pairs_same": "How many pairs are released as they were.",
    "utility.pairs_left_out": "Pairs that were not compared: too many, or too large.",
    "utility.accuracy": "How often naive Bayes is right about rows it was not trained "
    "on; null: see the notes. Shares are fractions in text.",
    "utility.accuracy.target": "What is predicted, from all other columns.",
    "utility.accuracy.before": "Trained on the table, tested on rows of the table.",
    "utility.accuracy.after": "Trained on the release, tested on released rows.",
    "utility.accuracy.on_originals": "Trained on the release, tested on rows of the "
    "table as they are.",
    "utility.accuracy.majority": "Right without any column.",
    "utility.accuracy.rows": "How many rows it was trained and tested on.",
    "utility.accuracy.drawn": "Whether these are only some, drawn by a hash.",
    "utility.accuracy.folds": "Into how many parts the rows were cut.",
    "utility.notes": "What was not measured, and why.",
    "history": "What is known of earlier releases, as in an audit.",
    "together": "Findings against somebody who also has the earlier releases of the "
    "policy, in the form of an audit's findings; null where it names none.",
    "folder": "Where the release is; absent with `--dry-run`.",
    "custody": "Where the private record is; absent with `--dry-run`.",
    "sensitive": "A reminder that the output quotes the private table.",
}

VERIFY_FIELDS = {
    "verdict": "`verified` or `refused`; `undecided` where all is as the manifest "
    "says, but a promise cannot be recounted without the private table.",
    "problems": "What differs from the manifest, in sentences; empty if nothing does.",
    "audit": "The recount, in the form of an audit; null where the files could not be "
    "read.",
    "signature": "Who signed it; null: nobody, or so that it does not fit.",
    "signature.name": "Whose key it is: by the key you named, or by the signer's word.",
    "signature.fingerprint": "The key, as ssh writes it.",
    "signature.known": "Whether it is a key you named.",
    "signature.checked": "Whether it could be checked; false without the extra `sign`.",
}

KEYS_FIELDS = {
    "name": "Whose key it is.",
    "fingerprint": "What two people compare by telephone.",
    "private": "Where the private key is; of `keys new`.",
    "public": "Where the public key is; of `keys new`.",
}

MITIGATED = {
    "name": "The way of publishing: `this release`, or what was tried instead.",
    "setting": "How it was set, such as `epsilon 1`.",
    "agreement": "The share of people predicted as the original does; null: unknown.",
    "recovered": "The share of the original counts that an inverter works out exactly, "
    "told the exponent and what shares were divided by; null: unknown.",
    "near": "The share that it works out within one or a tenth.",
    "alone": "The share that it works out exactly by itself; null: not tried.",
    "exponent": "What the inverter takes for the exponent; null: nothing.",
    "note": "Why there are no numbers, where there are none.",
}


def _within(field: str, meanings: dict[str, str]) -> dict[str, str]:
    return {f"{field}.{k}": said for k, said in meanings.items()}


CLASSIFIER_FIELDS = {
    "history": "What is known of earlier releases, as in an audit.",
    "verdict": "`safe`, `undecided` where a bound decides nothing, or `not covered`.",
    "title": "The policy's title, or an empty text.",
    "method": "`safety transform`, `extended safety transform`, or the paper's.",
    "target": "What is predicted.",
    "classes": "Its values, the one that wins ties last.",
    "dropped": "With `--drop-missing-target`: rows left out, since they have no class.",
    "attributes": "The columns it looks at.",
    "exponent": "What beliefs were raised to, as a fraction in text; null where they "
    "were changed otherwise.",
    "tight": "With three and more classes: whether a larger exponent would do; null: "
    "nobody looked.",
    "tight.basis": "`exact`: no larger one of its grid keeps the promises; `bound`: "
    "the search was not finished.",
    "tight.beyond": "The next larger exponent; null: scores stay as they are.",
    "tight.knows": "What is known of somebody who passes a limit there; null: nobody "
    "was found.",
    "tight.nodes": "Partial tuples that were looked at.",
    "keeps": "What is kept of the original's predictions, in words.",
    "uncovered": "What no promise covers, and what to do about it; a line each.",
    "promises": "One object per promise.",
    "promises.promise": "Its name.",
    "promises.verdict": "`safe`, `undecided` or `not applicable`.",
    "promises.limit": "As in a finding.",
    "promises.ceiling": "Whether that is a ceiling, so that one belief says it all.",
    "promises.before": "The worst belief after seeing the original.",
    "promises.after": "The same after seeing the release, or a bound.",
    "promises.words": "The release's worst case in words.",
    "promises.note": "What else must be said.",
    "flattened": "What users must know: probabilities are not the original's.",
    "reach": "Which attackers the promises cover, and which they do not.",
    "staircase": "Where a promise has a prior of its own: what can be predicted how "
    "close to it.",
    "staircase.r": "Beliefs stay within this factor of the prior …",
    "staircase.classes": "… if these classes are predicted; the likeliest first.",
    "staircase.alike": "The share of people predicted as the original does.",
    "staircase.right": "The share of people predicted rightly.",
    "inverter": "What somebody finds who undoes the release; null: nothing to compare.",
    **_within("inverter", MITIGATED),
    "mitigations": "With `--mitigations`: the release, and what may help.",
    **_within("mitigations", MITIGATED),
    "folder": "Where the release is; absent with `--dry-run`.",
    "custody": "Where the private record is; absent with `--dry-run`.",
    "sensitive": "A reminder that the output tells of the private table.",
}

INVERTER_FIELDS = {
    "as": "`inverter`.",
    **MITIGATED,
    "mitigations": "The same for what may help.",
    **_within("mitigations", MITIGATED),
    "words": "What the inverter finds, in words.",
}

COLLECTOR_FIELDS = {
    "groups": "Questions that were disguised together.",
    "groups.columns": "Which.",
    "groups.recovered": "The share of people whose answers to them are guessed right.",
    "groups.commonest": "The share of the commonest answer; null: flipped together.",
    "records": "The share of whole records that are guessed right, estimated.",
    "spread": "Its standard deviation.",
    "up_to": "A figure that it is hardly above; policies are judged by it.",
    "few": "Whether the rows are too few to tell it more closely.",
    "model": "The population that was fitted.",
    "commonest": "What taking everybody for the commonest record comes to.",
    "reported": "What taking reports as the truth comes to.",
    "rows": "How many disguised rows were attacked.",
}

DISCOVER_FIELDS = {
    "headline": "What the table gives away, in a sentence.",
    "ended": "`finished`; or why the search ended early: `time`, `interrupted` by "
    "Ctrl-C, or `rules`, too many of them.",
    "confidence": "What a rule exceeds, as a fraction in text.",
    "columns": "How many columns somebody knows at the most.",
    "support": "How many people a group has at the least.",
    "known": "By column that may be given away, the columns that may be known.",
    "people": "Everybody in the table.",
    "counted": "What the counts count: `rows` or `people`.",
    "rules": "Every minimal rule that was found, by people, then by lift.",
    "rules.columns": "The columns somebody knows.",
    "rules.about": "The value that is given away, by its column; null: it is missing.",
    "rules.confidence": "How sure somebody is at worst, as a fraction in text.",
    "rules.floor": "The share in everybody, which hiding all columns reaches.",
    "rules.lift": "How many times the floor the confidence is.",
    "rules.people": "People in groups beyond the confidence; somebody with several "
    "rows may be counted in several groups.",
    "rules.groups": "How many groups these are.",
    "rules.audited": "What an audit of the same promise finds: groups below the "
    "support count there.",
    "rules.witness": "The group that gives most away, as in a finding.",
    "rules.words": "The rule in words.",
    "everybody": "Values beyond the confidence in everybody: no hiding helps.",
    "everybody.about": "The value, by its column.",
    "everybody.share": "Its share in everybody, as a fraction in text.",
    "matrix": "By known column and column that is given away, the fewest columns of a "
    "rule with both; null: there is no rule.",
    "sets": "How much was looked at, by number of columns.",
    "sets.columns": "How many columns these sets have.",
    "sets.looked_at": "How many were looked at, or needed no look.",
    "sets.of": "How many there are.",
    "notes": "What else must be said.",
    "sensitive": "A reminder that the output quotes the private table.",
}

SKYLINE_FIELDS = {
    "verdict": "`safe`, or `breach` where nobody need know anything.",
    "headline": "The skyline in a sentence.",
    "confidence": "How sure nobody may become, as a fraction in text.",
    "about": "The sensitive column.",
    "points": "The most that insiders may know, each as much as one may.",
    "points.rules_out": "Values the victim does not have.",
    "points.knows_others": "Other people whose values are known.",
    "points.same_as": "People who have the victim's value.",
    "points.belief": "How sure that makes at worst, as a fraction in text.",
    "points.basis": "`exact`, or `bound` where the belief may be lower: of lists, with "
    "more than two values ruled out.",
    "points.attack": "That case, as in a witness.",
    "points.words": "The knowledge in words.",
    "caps": "How far was looked, by kind of knowledge.",
    "at_cap": "The kinds of knowledge whose end was not seen.",
    "chart": "For every `rules_out` and `same_as` the largest safe `knows_others`.",
    "familiar": "The same counts under other names.",
    "familiar.k_anonymity": "The size of the smallest group.",
    "familiar.distinct_l_diversity": "The fewest values of a group.",
    "familiar.recursive_diversity": "`c` and `l`; null: there is none.",
    "names": "The same in words.",
    "groups": "How many groups there are.",
    "people": "How many people are in them.",
    "knowing_nothing": "How sure somebody can be who knows nothing more.",
    "notes": "What else must be said.",
    "sensitive": "A reminder that the output quotes the private table.",
}

PROPOSE_FIELDS = {
    "proposals": "Pairs of views that keep every promise, the most useful first.",
    "proposals.views": "The columns of each view.",
    "proposals.bins": "The edges of columns that are shown in bins.",
    "proposals.levels": "The levels of columns that are shown by a hierarchy.",
    "proposals.kept": "The share of the pairs of columns that stand side by side, as a "
    "fraction in text.",
    "proposals.worst": "The worst case, as a fraction in text.",
}

INIT_FIELDS = {
    "policy": "The draft, as TOML.",
    "columns": "What each column is taken for.",
    "columns.name": "The column.",
    "columns.role": "Its role; no column is without one.",
    "columns.reason": "Why.",
    "columns.confidence": "`sure`, `likely` or `unsure`.",
    "columns.sure": "False where a person should look first.",
    "doubts": "What a person must decide first.",
    "doubts.columns": "The columns a doubt is about.",
    "doubts.role": "What was guessed, for now.",
    "doubts.reason": "What makes it doubtful.",
    "checklist": "HIPAA's eighteen identifiers and GDPR's special categories.",
    "checklist.law": "`HIPAA` or `GDPR`.",
    "checklist.item": "What the law lists.",
    "checklist.columns": "The columns that answered; none: it was not found.",
}

LEDGER_FIELDS = {
    "ledger": "The folder.",
    "releases": "One object per release, the first first.",
    "releases.number": "Its place in the ledger, from 1.",
    "releases.kind": "`table`, `groups`, `views`, `classifier` or `responses`.",
    "releases.loss": "What its noise costs, where it has some: `pure_epsilon`, `rho`, "
    "`delta`.",
    "releases.title": "What it is called, or an empty text.",
    "releases.made": "When, in UTC.",
    "releases.place": "Where it went, or where what others published is.",
    "releases.custody": "Where its private record is.",
    "releases.people": "How many people it is about; null where that is not known.",
    "releases.columns": "The columns it shows anything of.",
    "releases.complete": "Whether it was seen to appear; if not, it counts as "
    "released.",
    "releases.assumed": "What had to be assumed of what others published.",
    "spent": "What noise has cost, where a release has some or the policy a budget.",
    "spent.epsilon": "In all, at `delta`; null: no epsilon holds there.",
    "spent.rho": "What of it is zero-concentrated; null: nothing.",
    "spent.delta": "The chance it is told at: the budget's, or what was spent.",
    "spent.budget": "The budget's epsilon; null: there is none.",
    "spent.left": "What is left of it; null: nothing, or there is no budget.",
}

DISGUISE_FIELDS = {
    "verdict": "`written`.",
    "history": "What is known of earlier releases, as in an audit.",
    "rows": "How many rows were disguised.",
    "privacy": "What one disguised row gives away, as in [the "
    "manifest](release.md#disguised-answers).",
    "folder": "Where the release is.",
    "custody": "Where the private record is.",
}

MISFIT_FIELDS = {
    "misfit": "Whether the answers look disguised otherwise; passing shows nothing.",
    "misfit.sign": "Whether they do: chance leads there less often than 1 in 1,000.",
    "misfit.probability": "How often the design leads that far, at the most.",
    "misfit.log10": "The same as a logarithm.",
    "misfit.columns": "The question or pair that looks least like the design.",
    "misfit.questions": "How many questions were looked at.",
    "misfit.pairs": "How many pairs of questions were looked at.",
}

ESTIMATE_FIELDS = {
    "estimates": "One object per expression, or per answer.",
    "estimates.share": "What is estimated.",
    "estimates.value": "The likeliest share: always from 0 to 1.",
    "estimates.unbiased": "Right on average; may lie outside of 0 to 1.",
    "estimates.standard_error": "Of the unbiased estimate; null: infinite.",
    "estimates.interval": "Where the truth lies, with the confidence asked for.",
    "estimates.unclipped": "The same before it was cut to 0 and 1.",
    "estimates.confidence": "How often such intervals hold the truth.",
    "estimates.n": "From how many answers.",
    "estimates.sure": "A wider interval that needs no normal distribution; or null.",
    "estimates.note": "What else must be said.",
    **MISFIT_FIELDS,
    "unasked": "Disguised questions that nobody was asked yet.",
}

LEARN_FIELDS = {
    "class": "The question that is predicted.",
    "classes": "The estimated share of each class, smoothed.",
    "attributes": "The questions it is predicted from.",
    "file": "Where the model is.",
    **MISFIT_FIELDS,
}

SCORE_FIELDS = {
    "class": "The question that is predicted.",
    "accuracy": "The accuracy on true records, as an estimate of `privet estimate`.",
    "majority": "How often the commonest class is right, estimated.",
    **MISFIT_FIELDS,
}

PLAN_FIELDS = {
    "growth": "e^ε of a whole record, as a fraction in text; null: infinite.",
    "epsilon": "ε, for reading; null: infinite.",
    "one_of": "Whether each person is asked some questions only.",
    "needs": "What each question needs.",
    "needs.about": "What is estimated.",
    "needs.answers": "So many answers are enough.",
    "needs.plain": "So many would do undisguised.",
    "design": "The design, with the keys of a design file.",
}

REPORT_FIELDS = {
    "file": "Where the report is.",
    "format": "`html`, `json`, `markdown`, `croissant` or `dcat`.",
    "private": "Whether it tells of the private table.",
    "verdict": "Of what was judged; an empty text where nothing was.",
}

COMMANDS = {
    "init": INIT_FIELDS,
    "audit --as inverter": INVERTER_FIELDS,
    "audit --as collector": COLLECTOR_FIELDS,
    "discover": DISCOVER_FIELDS,
    "compare": COMPARE_FIELDS,
    "compare --sweep": SWEEP_FIELDS,
    "skyline": SKYLINE_FIELDS,
    "views --propose": PROPOSE_FIELDS,
    "publish": PUBLISH_FIELDS,
    "classifier": CLASSIFIER_FIELDS,
    "verify": VERIFY_FIELDS,
    "report": REPORT_FIELDS,
    "keys": KEYS_FIELDS,
    "ledger": LEDGER_FIELDS,
    "disguise": DISGUISE_FIELDS,
    "estimate": ESTIMATE_FIELDS,
    "learn": LEARN_FIELDS,
    "score": SCORE_FIELDS,
    "plan": PLAN_FIELDS,
}
"""What every command prints that prints no audit."""
