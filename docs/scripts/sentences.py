"""Sentences of the pages that no script fills, with the numbers in them and whether the data hold what they say."""

from __future__ import annotations

from collections.abc import Iterator

import front_pictures
import pandas as pd
from folders import ROOT

# isort: split
import aggregation
from _levels import region
from _study import percent, tables_of
from eckerle4_power import ESTIMATORS, printed_alike, reproduced
from given_levels import LIMIT, null_cells
from sequential_tests import loss
from which_estimator import advice_holds

Sentences = Iterator[tuple[str, bool]]


def faults() -> list[str]:
    """Return sentences that are not on their page, or that the data do not hold."""
    lines = []
    for page, sentences in SENTENCES.items():
        text = plain((ROOT / page).read_text(encoding="utf-8"))
        for sentence, holds in sentences():
            if plain(sentence) not in text:
                lines.append(f"{page} does not say: {sentence}")
            if not holds:
                lines.append(f"{page}: the data do not hold this: {sentence}")
    return lines


def plain(text: str) -> str:
    """Return a text on one line."""
    return " ".join(text.split())


def per_cent(values: pd.Series, places: int = 0) -> str:
    """Return the range of proportions in percent, with no or one decimal place."""
    low, high = (
        float(f"{100.0 * value + 1e-10:.0f}" if places == 0 else percent(value)[:-1])
        for value in (values.min(), values.max())
    )
    return f"{low:g}% to {high:g}%"


def shortcuts() -> pd.DataFrame:
    table = tables_of("shortcuts")[""]
    return table[table["alpha"] == 0.05].set_index(["what", "where"])


def choosing() -> Sentences:
    level = shortcuts().loc["smallest p-value of five bandwidths", "level"].item()
    yield (
        f"the smallest of five p-values is below 0.05 in [{100.0 * level:.0f}% of data sets]",
        True,
    )


def closer() -> Sentences:
    table = tables_of("closer_levels")[""]
    null = table[~table["cell"].str.startswith("power: ")]
    _, high = region(int(table["trials"].max()))
    two_sided, one_sided = (
        null[(null["alternative"] == "two-sided") == which]["rejected"] for which in (True, False)
    )
    yield (
        f"The two-sided test (the default) controls the Type I error rate from {null['n'].min()} rows on:",
        two_sided.max() <= high,
    )
    yield (
        f"it rejected true null hypotheses in at most {percent(two_sided.max())} of data sets.",
        True,
    )
    yield (
        "One-sided tests slightly exceed the level if Y and Z are small",
        high < one_sided.max() < 0.1,
    )


def equivalence() -> Sentences:
    table = tables_of("equivalence_levels")[""].fillna({"reading": ""})
    margin = table[table["what"] == "at the margin"]
    best = margin[margin["reading"] == "of the best witness function"]
    shift, turned = (
        best.loc[best["data"] == data, "rejected"] for data in ("uniform, moved", "normal, turned")
    )
    sentence = (
        f"in {per_cent(shift)} of data sets after a shift, "
        f"and in up to {100.0 * turned.max():.0f}% if the difference"
    )
    yield f"[the test rejects](levels.md#equivalence) {sentence}", True
    own = margin.loc[margin["reading"] == "of the fitted ones", "rejected"]
    of = [
        per_cent(margin.loc[margin["scale"] == scale, "rejected"], 1)
        for scale in ("distance", "dependence")
    ]
    sentence = (
        f"{of[0]} of data sets for distances, in {of[1]} for dependences, and in "
        f"{per_cent(own, 1)} for separability"
    )
    yield f"at the 5% level, the test rejected in {sentence}", True
    rare = tables_of("rare_levels")[""]
    rows, pairs, dependence = (
        (f"0% to {100 * of['rejected']:.0f}%", f"at most {percent(of['rejected_unnoted'])}")
        for of in (_most(rare, data) for data in ("rows", "pairs", "dependence"))
    )
    linked = "[the test rejected](levels.md#equivalence-of-rare-values)"
    lowest = rare["rejected"].min() < 0.005
    yield (
        f"{linked} in {rows[0]} of all data sets, but in {rows[1]} of those without the note.",
        lowest,
    )
    yield (
        f"{pairs[0]} and {pairs[1]} for pairs, and {dependence[0]} and {dependence[1]} for two variables.",
        lowest,
    )
    fifty = rare.query("data == 'rows' and first == .1 and second == 0 and rows == '50 and 50'")[
        "rejected"
    ].item()
    yield (
        f"the test falsely shows equivalence in {100 * fifty:.0f}% of data sets",
        True,
    )


def _most(rare: pd.DataFrame, data: str) -> pd.Series:
    return rare.loc[rare["data"] == data, ["rejected", "rejected_unnoted"]].max()


def change() -> Sentences:
    table = tables_of("change_levels")[""]
    points = table[
        (table["what"] == "series")
        & (table["test"] == "change point")
        & (table["told"] == "stretches")
    ]
    long, noted = (points[(points["noted"] < 0.05) == which]["level"] for which in (True, False))
    sentence = "long relative to their autocorrelation, the Type I error rate is close to the nominal level."
    yield sentence, long.min() > 0.03 and long.max() < 0.07
    sentence = "In short series, the test rejects far too often; a note warns."
    yield sentence, noted.max() > 0.2
    chosen = table[(table["what"] == "cover") & table["data"].str.endswith("auto")]["level"]
    yield f"in {per_cent(chosen, 1)} of series", True
    whole = table.query("what == 'series' and test == 'change point' and told == 'circular'")
    worst = whole.query("data == 'correlation 0.95' and n == 100")["level"].item()
    sentence = f"in {100.0 * worst:.0f}% of data sets with 100 rows and autocorrelation 0.95"
    yield sentence, worst == whole["level"].max()


def given() -> Sentences:
    table = tables_of("given_levels")[""]
    kinds = f"in {', '.join(map(str, sorted(set(table['columns']))[:-1]))} and {table['columns'].max()} columns"
    yield kinds, True
    fails = null_cells(table)[2]
    held = fails.groupby("method")["rejected"].agg(lambda rates: (rates <= LIMIT).mean())
    yield (
        "Where the regressions fail, almost every test that we tried rejects too often.",
        held.max() < 0.25,
    )
    seconds = table.groupby(["n", "method"])["seconds"].mean()
    yield (
        f"the test took {seconds[1000, 'residuals']:.3f} s on average over the settings of the study, "
        f"and KCI took {seconds[1000, 'KCI']:.3f} s.",
        True,
    )
    yield (
        "With 200 rows, however, KCI was faster",
        seconds[200, "KCI"] < seconds[200, "residuals"],
    )


def large() -> Sentences:
    pairs = tables_of("large_pairs")[""]
    lost = " and ".join(f"{row.lost:.2f} ± {row.error:.2f}" for row in pairs.itertuples())
    yield (
        f"In [two designs](levels.md#pairs-on-disk) of 1,600 pairs, power was lower by {lost}",
        len(pairs) == 2,
    )
    table = tables_of("large_power")[""]
    bins = table[table["permuted"] == "bins"]
    rank = bins[bins["bins"] == bins["bins"].max()].groupby("rank")["lost"].mean()
    coarse = bins[bins["bins"] == bins["bins"].min()]["lost_to_bins"].mean()
    yield (
        "[The loss of power](#what-bins-and-rank-cost) comes mostly from the rank, "
        "whereas the loss from binning is small.",
        (rank.max() > 2.0 * coarse),
    )
    cores = set(tables_of("large_demo")[""]["workers"])
    yield (
        "[two runs](#time-and-memory-of-rows-on-disk) on one machine with two cores",
        cores == {2},
    )


def estimators() -> Sentences:
    rates = tables_of("which_estimator")[""]
    rates = rates[(rates["test"] == "two-sample") & ~rates["null"]]
    text = (
        "more powerful against changes in spread, but a little less powerful against other changes."
    )
    yield text, advice_holds(rates)
    members = tables_of("aggregation")[""]
    members = members[(members["test"] == "two-sample") & ~members["null"]]
    gains = []
    for table, names in ((rates, None), (members, list(aggregation.member_tests("two-sample")))):
        power = table.pivot(index=["cell", "d", "n"], columns="estimator", values="power")
        gains.append((power[names or list(power)].max(axis=1) - power["kme"]).mean())
    yield (
        "The choice of kernel usually matters more than the choice of estimator",
        gains[1] > 1.5 * gains[0],
    )


def reproduction() -> Sentences:
    alike, compared, apart = printed_alike()
    sentence = f"in {alike} of {compared} comparable cells and differs by at most {apart:.3f} in the others"
    yield f"the printed `mkme` column equals the printed `kme` column {sentence}", True
    table = tables_of("risk_study")[""].query("kernel == 'gaussian'")
    risk = table.set_index(["estimator", "n"])["risk"].sort_index()
    yield (
        "is worse than the plain average from 20 points on",
        risk["fkmse, paper"].loc[20:].min() > 1.0,
    )
    yield (
        "whereas `fkmse` is better than the average at every sample size",
        risk["fkmse"].max() < 1.0,
    )
    little = (risk.loc[["landweber", "iterated"]] - 1.0).abs()
    yield (
        "Of the other filters, the $\\nu$-method reduces the risk from 20 points on, Landweber and iterated Tikhonov "
        "change it by little in either direction",
        risk["nu"].loc[20:].max() < 1.0 and little.max() < 0.02,
    )
    yield "truncated SVD increases it", risk["tsvd"].min() > 1.0


def theory() -> Sentences:
    table = (
        tables_of("risk_study")[""]
        .query("kernel == 'gaussian'")
        .set_index(["estimator", "n"])["risk"]
        .sort_index()
    )
    sentence = "the papers' score makes F-KMSE worse than the plain mean from $n$ of about 20 on, whereas the deletion score does"
    yield sentence, table["fkmse, paper"].loc[20:].min() > 1.0 > table["fkmse"].max()


def validity() -> Sentences:
    yield picture_of_levels(), True
    median = shortcuts().xs("median bandwidth", level="where")["level"].max()
    yield "at the median bandwidth it is barely visible here", median < 0.06
    counted = shortcuts().loc["counting > instead of >=", "level"].item()
    yield "counting `>` instead gives far too many false positives", counted > 0.3


def picture_of_levels() -> str:
    level, _ = front_pictures.held()
    wrong = front_pictures.shortcuts()["level"]
    assert level.min() > 0.03 and level.max() < 0.07
    count = {7: "seven"}[len(wrong)]
    ends = " to ".join(f"{10 * round(10 * value)}%" for value in (wrong.min(), wrong.max()))
    assert (shortcuts()["level"] >= wrong.min()).sum() == len(wrong)
    tests = "the permutation tests are within simulation error of 5%"
    return f"{tests}; the {count} shortcuts with the highest rates give {ends}."


def readme() -> Sentences:
    yield picture_of_levels(), True
    first = all(mean.idxmax() == "auto" for mean, _ in front_pictures.powers().values())
    yield "Mean power of the tests: auto ranks first for two samples and for independence.", first
    others = {name.split()[0] for name in front_pictures.times()["theirs"]}
    yield "for shrinktest and four other packages", len(others) == 4


def guide() -> Sentences:
    exact = [tables_of(name)[""] for name in ("new_tests_levels", "kernel_levels")]
    valid = [
        bool(table[~table["test"].str.endswith(", relabeled freely")]["inside"].all())
        for table in exact
    ]
    low, high = region(int(tables_of("mixed_tables")["level"]["trials"].max()))
    valid.append(bool(tables_of("mixed_tables")["level"]["level"].between(low, high).all()))
    valid.append(bool(tables_of("large_pairs")["levels"]["inside"].all()))
    yield "Permutation tests do in every setting", all(valid)
    every = tables_of("effect_coverage")[""]
    covered = [
        tables_of(name)[""]["coverage"].min() for name in ("effect_intervals", "group_coverage")
    ]
    yield (
        "In most settings coverage is close to 95%, from 20 rows to 1,000 and from no effect to large ones.",
        every["coverage"].between(0.93, 0.97).mean() > 0.5
        and every["n"].str.contains("1000").any()
        and min(covered) > 0.92,
    )
    lost = tables_of("sequential_tests")[""]
    yield (
        "Early stopping costs almost no power.",
        max(loss(lost, rule) for rule in set(lost["rule"])) < 0.02,
    )
    few, many = (
        tables_of("large_power")[""].query(f"rank == {rank} and bins == 2000")["lost"]
        for rank in (25, 400)
    )
    yield (
        "A few random features in many columns cost much power, whereas 400 of them cost little.",
        few.max() > 0.2 > 0.1 > many.mean(),
    )
    yield "Those of shrinkage are, but those of marginalized means are not", readings()


def readings() -> bool:
    return [name.strip("`") for name in reproduced(tables_of("eckerle4_power")[""])] == list(
        ESTIMATORS
    )[:3]


#: The pages, and their sentences.
SENTENCES = {
    "docs/choosing.md": choosing,
    "docs/simulators.md": closer,
    "docs/equivalence.md": equivalence,
    "docs/change.md": change,
    "docs/given.md": given,
    "docs/large.md": large,
    "docs/estimators.md": estimators,
    "docs/reproduction.md": reproduction,
    "docs/theory.md": theory,
    "docs/validity.md": validity,
    "README.md": readme,
    "docs/guide.md": guide,
}
