"""Aggregation: what a test that combines statistics gains over its members, what it gives up, and other ways to."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pandas as pd
from _study import claim, markdown, options, store, write
from joblib import Parallel, delayed
from scipy.special import logsumexp
from scipy.stats import binomtest
from which_estimator import INDEPENDENCE_CELLS, TWO_SAMPLE_CELLS

from shrinktest import FKMSE, Ensemble, Gaussian, power_study, two_sample_test
from shrinktest._parallel import usable_cores
from shrinktest.multiple.ensembles import _FEW, _MANY, Candidate, recommended
from shrinktest.permutations.multiplicity import tail_ranks
from shrinktest.power import designs as d

NAME, TITLE = "aggregation", "Combining estimators and bandwidths"
RESAMPLES = 299
#: Cells besides those of the map of estimators: label, design, size of the first sample.
MORE_CELLS = [
    ("scale x1.3, all", d.ScaleChange(dimension=5, scale=1.3), 50),
    ("scale x2, one", d.ScaleChange(dimension=5, scale=2.0, coordinates="one"), 50),
    ("shift by 0.6, one", d.MeanShift(dimension=5, shift=0.6), 50),
    ("correlation 0.6", d.CorrelationChange(5, correlation=0.6), 50),
    ("mixture, means moved", d.Mixture(dimension=5, change="means", amount=3.0), 50),
    ("scale x3, one, larger sample", d.ScaleChange(dimension=10, scale=3.0, coordinates="one", ratio=4.0), 15),
]
OTHER_WEIGHTS = (10.0, 60.0)  # of the Gaussian kernel with a wide bandwidth, in place of the recommended 25
PAIRS = 20  # in the cells of independence
SEVERAL = {"estimator": ["kme", "skmse", "fkmse"], "bandwidth": "grid"}  # 3 x 5 members, whatever the data
FACTORS = (1 / 8, 1 / 4, 1 / 2, 1.0, 2.0)  # on the bandwidths of Eckerle4, 1/64 to 4 on their squares


def of_members(test: str) -> dict[str, dict]:
    """Every member of the recommended collection as a test of its own."""
    found, names = {}, ("kernel",) if test == "two-sample" else ("kernel_x", "kernel_y")
    for member in recommended(test).members:
        kernels = member.kernel if isinstance(member.kernel, tuple) else (member.kernel,)
        label = " x ".join(f"{kernel.label}, {_width(kernel)}".removesuffix(", None") for kernel in kernels)
        given = kernels * len(names) if len(kernels) < len(names) else kernels
        found[label] = {"estimator": member.estimator, **dict(zip(names, given, strict=True))}
    return found


def _width(kernel) -> str | None:
    """The bandwidth of a kernel, or of that whose features or columns it takes."""
    while hasattr(kernel, "kernel"):
        kernel = kernel.kernel
    return getattr(kernel, "bandwidth", None)


def weighted(weight: float) -> Ensemble:
    """The recommended collection for two samples with another weight for its first member."""
    first, *others = recommended("two-sample").members
    return Ensemble([replace(first, weight=weight), *others])


# ------------------------------------------------------------------------------------- other ways to judge several


def smallest_rank(ranks, heights, weights):
    """The smallest rank over the weight; equal ones are told apart by standard deviations above the mean."""
    return -((ranks - 0.5 * (heights - heights.min()) / np.ptp(heights)) / weights).min(axis=1)


def smallest(ranks, heights, weights):
    """The smallest rank, all members alike."""
    return smallest_rank(ranks, heights, 1.0)


def soft_maximum(ranks, heights, weights):
    """The soft maximum of MMD-FUSE, of statistics in units of their standard deviations."""
    return logsumexp(heights, axis=1)


def mahalanobis(ranks, heights, weights):
    """MMMD of [CB25]: the length of the vector of statistics, by their covariance."""
    covariance = np.cov(heights.T) + 1e-5 * np.eye(heights.shape[1])
    return np.einsum("ij,ij->i", heights @ np.linalg.inv(covariance), heights)


def cauchy(ranks, heights, weights):
    """Cauchy's combination of the ranks, with the recommended weights."""
    return (weights / np.tan(np.pi * (ranks - 0.5) / len(ranks))).sum(axis=1)


def fisher(ranks, heights, weights):
    """Fisher's sum of logarithms."""
    return -np.log(ranks).sum(axis=1)


WAYS = {
    "smallest rank": smallest_rank,
    "smallest, equal weights": smallest,
    "soft maximum": soft_maximum,
    "MMMD": mahalanobis,
    "Cauchy": cauchy,
    "Fisher": fisher,
}


def generalised(x, y, rng) -> np.ndarray:
    """GPK of [SC24]: mean kernel values within X and within Y as one vector, by its covariance.

    Gaussian kernel of the median bandwidth; moments over the splits that are drawn, the observed one among them.
    """
    pooled, m, n = np.vstack([x, y]), len(x), len(y)
    gram = Gaussian().resolve(pooled)(pooled)
    np.fill_diagonal(gram, 0.0)
    masks = np.zeros((RESAMPLES + 1, m + n))
    masks[0, :m] = 1.0
    for row in masks[1:]:
        row[rng.permutation(m + n)[:m]] = 1.0
    within = [((masks_of @ gram) * masks_of).sum(axis=1) for masks_of in (masks, 1.0 - masks)]
    both = np.column_stack([within[0] / (m * (m - 1)), within[1] / (n * (n - 1))])
    both -= both.mean(axis=0)
    return np.einsum("ij,ij->i", both @ np.linalg.pinv(np.cov(both.T)), both)


def judged(design, n: int, trial: int) -> list[bool]:
    """Whether every way to judge the members of "auto" rejects, and GPK, on the data of the study."""
    data, relabellings = (np.random.SeedSequence(0, spawn_key=(n, 0, trial, i)) for i in (0, 1))
    x, y = design.sample(np.random.default_rng(data), n)
    found = two_sample_test(
        x, y, estimator="auto", n_resamples=RESAMPLES, rng=np.random.default_rng(relabellings), workers=1
    )
    statistics = np.column_stack([np.append(one.statistic, one.null_distribution) for one in found.members])
    ranks = tail_ranks(statistics, [one.tolerance for one in found.members])
    spread = statistics.std(axis=0)
    heights = (statistics - statistics.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
    together = [way(ranks, heights, found.estimator.weights) for way in WAYS.values()]
    together.append(generalised(x, y, np.random.default_rng(relabellings)))
    return [found.pvalue <= 0.05, *((values >= values[0] - 1e-12).mean() <= 0.05 for values in together)]


def judged_cells(args) -> pd.DataFrame:
    """Power of the ways to judge in every cell of two samples, with differences from "auto" on the same data."""
    rows, labels = [], ["auto", *WAYS, "GPK"]
    for name, design, n in TWO_SAMPLE_CELLS + MORE_CELLS:
        work = (delayed(judged)(design, n, trial) for trial in range(args.trials))
        rejected = np.array(Parallel(n_jobs=args.workers or usable_cores())(work))
        for j, label in enumerate(labels):
            only = [
                int((a & ~b).sum()) for a, b in ((rejected[:, 0], rejected[:, j]), (rejected[:, j], rejected[:, 0]))
            ]
            labelled = {"cell": name, "d": design.dimension, "n": n}
            counts = {"only_auto": only[0], "only_other": only[1]}
            rows.append({**rate(rejected[:, j], labelled, label, False), **counts})
        print(f"ways, {name}, n = {n}", flush=True)
    return pd.DataFrame(rows).drop(columns="null")


def ways_table(ways: pd.DataFrame) -> pd.DataFrame:
    """Power of "auto", and what the other ways have more or less; bold where the exact McNemar test has p < .01."""
    keys = ["cell", "d", "n"]
    n = ways["only_auto"] + ways["only_other"]
    p = np.array([binomtest(a, t).pvalue if t else 1.0 for a, t in zip(ways["only_auto"], n, strict=True)])
    text = ((ways["only_other"] - ways["only_auto"]) / ways["trials"]).map("{:+.2f}".format)
    text = text.where(p >= 0.01, "**" + text + "**").where(
        ways["estimator"] != "auto", ways["power"].map("{:.2f}".format)
    )
    order = list(dict.fromkeys(map(tuple, ways[keys].to_numpy())))
    table = ways.assign(text=text).pivot(index=keys, columns="estimator", values="text")
    return table.loc[order, ["auto", *WAYS, "GPK"]].reset_index()


def ways_in_short(ways: pd.DataFrame) -> str:
    """Mean powers of the ways over all cells, and over those with shifts."""
    shifts = ways["cell"].str.startswith("shift")
    means, lost = (part.groupby("estimator")["power"].mean() for part in (ways, ways[shifts]))
    listed = ", ".join(f"{label} {means[label]:.3f} ({lost[label]:.3f})" for label in ("auto", *WAYS, "GPK"))
    count = len(ways[["cell", "d", "n"]].drop_duplicates())
    return f"Mean power over the {count} cells, in brackets over shifts: {listed}."


def rate(rejected, labels: dict, estimator: str, null: bool) -> dict:
    """A row of the table of rates."""
    count, trials = int(np.sum(rejected)), len(rejected)
    interval = binomtest(count, trials).proportion_ci(0.95)
    numbers = {"power": count / trials, "low": interval.low, "high": interval.high, "trials": trials}
    return {**labels, "estimator": estimator, "null": null, **numbers}


def one(args, test, name, design, n, estimators, with_null, trials=None, **labels) -> pd.DataFrame:
    """Rates of one cell."""
    place = f"{test}-{name}-{labels.get('d', '')}-{n}".translate(str.maketrans(" ,./", "----"))
    result = power_study(
        design,
        estimators,
        n,
        n_trials=trials or args.trials,
        n_resamples=RESAMPLES,
        with_null=with_null,
        store=store(args, place),
        workers=args.workers,
        progress=False,
    )
    labels = {"test": test, "cell": name, "n": n, **labels}
    rows, tests = [], result.pvalues
    for null in (False, True) if with_null else (False,):
        for label in estimators:
            chosen = tests[(tests["estimator"] == label) & (tests["null"] == null)]
            rows.append(rate(chosen["pvalue"].to_numpy() <= 0.05, labels, label, null))
    return pd.DataFrame(rows)


def eckerle_trials(args) -> int:
    """Trials on Eckerle4, which cost little."""
    return args.trials if args.trials < 100 else 500


def cells(args):
    """All cells, one after the other."""
    for name, design, n in TWO_SAMPLE_CELLS + MORE_CELLS:
        some = {"kme": "kme", "auto": "auto", **of_members("two-sample")}
        if isinstance(design, d.ScaleChange):
            some |= {f"lam_cov {c:g}": FKMSE(lam_cov=c) for c in (0.3, 1.0)}
        if isinstance(design, d.MeanShift | d.Mixture) or design.ratio > 1.0:
            some |= {f"auto, weight {w:g}": weighted(w) for w in OTHER_WEIGHTS}
        yield one(args, "two-sample", name, design, n, some, False, d=design.dimension)
    for name, design, n in INDEPENDENCE_CELLS:
        if n == PAIRS:
            some = {"kme": "kme", "skmse": "skmse", "auto": "auto", **of_members("independence")}
            yield one(args, "independence", name, design, n, some, False)
    design = d.EckerleSubsample()
    widths = {key: [factor * value for factor in FACTORS] for key, value in design.options().items()}
    some = {"kme": "kme", "skmse": "skmse", "auto": "auto"}
    some |= {f"{e}, 5 x 5 bandwidths": {"estimator": e, **widths} for e in ("kme", "skmse")}
    yield one(args, "independence", "Eckerle4", design, 11, some, True, trials=eckerle_trials(args))


def of_several(design, n: int, trial: int) -> list[float]:
    """p-values of three estimators with five bandwidths combined, and of each alone, on the data of the study."""
    data, relabellings = (np.random.SeedSequence(0, spawn_key=(n, 0, trial, i)) for i in (0, 1))
    x, y = design.sample(np.random.default_rng(data), n)
    rng = np.random.default_rng(relabellings)
    result = two_sample_test(x, y, **SEVERAL, n_resamples=RESAMPLES, rng=rng, workers=1)
    return [result.pvalue, *result.table["pvalue"]]


def several_cells(args) -> pd.DataFrame:
    """Power of three estimators with five bandwidths combined, and of the best of them, in the cells of two samples."""
    trials, rows = max(2, 3 * args.trials // 5), []
    labels = [f"{e}, width {i} of 5" for i in range(1, 6) for e in SEVERAL["estimator"]]
    for name, design, n in TWO_SAMPLE_CELLS + MORE_CELLS:
        work = (delayed(of_several)(design, n, trial) for trial in range(trials))
        rejected = np.array(Parallel(n_jobs=args.workers or usable_cores())(work)) <= 0.05
        powers, best = rejected.mean(axis=0), rejected[:, 1:].mean(axis=0).argmax()
        only = rejected[:, 0] & ~rejected[:, 1 + best], ~rejected[:, 0] & rejected[:, 1 + best]
        row = {"cell": name, "d": design.dimension, "n": n, "combined": powers[0], "best member": powers[1 + best]}
        row |= {"which": labels[best], "only_combined": only[0].sum(), "only_best": only[1].sum(), "trials": trials}
        rows.append(row)
        print(f"3 x 5, {name}, n = {n}", flush=True)
    return pd.DataFrame(rows)


def cost() -> pd.DataFrame:
    """Time of three estimators with five bandwidths over that of the dearest member; and of "auto" over kme."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(25, 5)), rng.normal(size=(25, 5))
    table = two_sample_test(x, y, **SEVERAL, n_resamples=19).table
    alone = [{"estimator": "fkmse", "bandwidth": width} for width in table["bandwidth"].unique()]
    asked = [SEVERAL, *alone, {"estimator": "auto"}, {"estimator": "kme"}]
    taken = np.empty((10, len(asked)))
    for seed in range(10):  # in turns, so that all meet the same load
        for i, arguments in enumerate(asked):
            start = time.perf_counter()
            two_sample_test(x, y, **arguments, n_resamples=999, rng=seed, workers=1)
            taken[seed, i] = time.perf_counter() - start
    middle = np.median(taken[1:], axis=0)
    return pd.DataFrame(
        {"several / dearest": [middle[0] / middle[1:-2].max()], "auto / kme": [middle[-2] / middle[-1]]}
    )


def side_by_side(rates: pd.DataFrame, test: str, keys: list[str], shown: list[str]) -> pd.DataFrame:
    """Powers of some tests, and of the best member of the collection with its name."""
    rows = rates[(rates["test"] == test) & ~rates["null"] & (rates["cell"] != "Eckerle4")]
    wide = rows.pivot(index=keys, columns="estimator", values="power")
    members = wide[list(of_members(test))]
    table = wide[[c for c in shown if c in wide]].copy()
    if test == "two-sample":
        best = wide[["lam_cov 0.3", "lam_cov 1"]].max(axis=1)
        table.insert(1, "best of lam_cov 0.3, 1", best.map(lambda v: "" if np.isnan(v) else f"{v:.3f}"))
    table["best member"] = members.max(axis=1)
    table["which"] = members.idxmax(axis=1)
    return table.loc[list(dict.fromkeys(map(tuple, rows[keys].to_numpy())))].reset_index()


def trade(rates: pd.DataFrame) -> pd.DataFrame:
    """Power with other weights for the standard mean."""
    keys = ["cell", "d", "n"]
    rows = rates[(rates["test"] == "two-sample") & ~rates["null"]]
    wide = rows.pivot(index=keys, columns="estimator", values="power")
    names = ["kme", *(f"auto, weight {w:g}" for w in OTHER_WEIGHTS)]
    names.insert(2, "auto")
    return wide[names].dropna().reset_index()


def why(rates: pd.DataFrame) -> str:
    """What the weights cost against shifts, which decided between them."""
    table = trade(rates)
    shifts = table[table["cell"].str.startswith("shift")]
    names = sorted(
        (name for name in table if name.startswith("auto, weight ")), key=lambda name: float(name.split()[-1])
    )
    costs = "; ".join(f"{name.split()[-1]}: {(shifts['kme'] - shifts[name]).max():.3f}" for name in names)
    own = recommended("two-sample").members[0].weight
    lost = shifts["kme"] - shifts["auto"]
    ways = sorted([(own, "auto"), *((float(name.split()[-1]), name) for name in names)])
    rest = table.drop(index=shifts.index)
    each = "; ".join(f"{weight:g}: {shifts[name].mean():.3f} and {rest[name].mean():.3f}" for weight, name in ways)
    here, there = ([some[name].mean() for _, name in ways] for some in (shifts, rest))
    return (
        claim(
            "The larger this weight, the less is lost on shifts, and the more elsewhere.",
            here == sorted(here) and there == sorted(there, reverse=True),
        )
        + f" Mean power against the shifts of the table, and in its other cells, by weight: {each}. The most that a "
        f"shift costs with weight {own:g}: {lost.max():.3f}; with {costs}. The aim was to give up no more than .05, "
        f"which holds in {int((lost <= 0.05).sum())} of {len(lost)} cells with shifts."
    )


def growing(member: Candidate) -> str:
    """From where on and how far the weight of a member grows with the number of rows; nothing if it stays."""
    if not member.grows:
        return ""
    return f" up to {_FEW} rows in all samples together, growing to {member.on(1, _MANY).weight:g} at {_MANY} rows"


def in_short(two: pd.DataFrame) -> str:
    """What the table of two samples says of the aims of the recommended collection."""
    shifts = two[two["cell"].str.startswith("shift")]
    lost = shifts["kme"] - shifts["auto"]
    scales = two[two["best of lam_cov 0.3, 1"] != ""]
    kept = scales["auto"] / scales["best of lam_cov 0.3, 1"].astype(float).clip(lower=1e-9)
    return (
        f"Against shifts `auto` gives up {lost.min():.3f} to {lost.max():.3f} to `kme`, {lost.mean():.3f} on average. "
        f"Against changes of scale it has at least {np.floor(100.0 * kept.min()) / 100.0:.2f} of the power of the best "
        "fixed `lam_cov` of the table."
    )


def picture(two: pd.DataFrame, pairs: pd.DataFrame):
    """Power of every cell: kme, the combined test, and its best member."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(11.0, 7.0), layout="constrained", width_ratios=(1.2, 1.0))
    looks = {
        "kme": ("o", "#8C8C8C"),
        "best member": ("|", "#000000"),
        "auto": ("s", "#D55E00"),
    }
    for ax, table, title in zip(axes, (two, pairs), ("Two samples", "Independence"), strict=True):
        places = np.arange(len(table))[::-1]
        for name, (marker, colour) in looks.items():
            if name in table:
                ax.plot(table[name], places, marker, color=colour, label=name, markersize=9 if marker == "|" else 6)
        sizes = [f", d = {d}" for d in table["d"]] if "d" in table else [""] * len(table)
        cells = zip(table["cell"], sizes, table["n"], strict=True)
        ax.set_yticks(places, [f"{cell}{size}, n = {n}" for cell, size, n in cells], fontsize="small")
        ax.set_xlim(0.0, 1.02)
        ax.set_xlabel("power at level .05")
        ax.set_title(title)
        ax.grid(axis="y", linewidth=0.4)
        ax.spines[["top", "right"]].set_visible(False)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=4, frameon=False)
    return figure


def shortfalls(two: pd.DataFrame, pairs: pd.DataFrame) -> str:
    """Where the combined test is more than .05 below its best member, of those whose power is between .3 and .9."""
    found = []
    for table in (two, pairs):
        near = table[table["best member"].between(0.3, 0.9)]
        below = near[near["auto"] < near["best member"] - 0.05]
        found.append((len(below), len(near)))
        for row in below.to_dict("records"):
            found.append(
                f"{row['cell']} (n = {row['n']}{', d = ' + str(row['d']) if 'd' in row else ''}), "
                f"{row['auto'] - row['best member']:+.2f} to {row['which']}"
            )
    counts = [entry for entry in found if isinstance(entry, tuple)]
    listed = [f"- {entry}" for entry in found if isinstance(entry, str)]
    head = (
        f"Where the best member has power between .3 and .9, `auto` is more than .05 below it in {counts[0][0]} of "
        f"{counts[0][1]} cells of two samples and in {counts[1][0]} of {counts[1][1]} of independence. The best member "
        "is chosen with hindsight, cell by cell:"
    )
    return "\n".join([head, "", *listed]) if listed else head.replace(" The best member is chosen", " It is chosen")


def of_the_best(several: pd.DataFrame) -> str:
    """Where three estimators with five bandwidths combined are more than .05 below the best of the fifteen."""
    near = several[several["best member"].between(0.3, 0.9)]
    behind = near["best member"] - near["combined"]
    return (
        f"Of the {len(near)} cells where the best of the fifteen has power between .3 and .9, the combined test is "
        f"within .05 of it in {(behind <= 0.05).sum()}; on average it is {behind.mean():.3f} "
        "below. Part of that difference is hindsight: the largest of fifteen estimated powers is too large."
    )


def best_for_shifts(rates: pd.DataFrame) -> str:
    """The member with the largest mean power against shifts."""
    power = rates[(rates["test"] == "two-sample") & ~rates["null"] & rates["cell"].str.startswith("shift")]
    return power[power["estimator"].isin(list(of_members("two-sample")))].groupby("estimator")["power"].mean().idxmax()


def gains_and_losses(ways: pd.DataFrame) -> tuple[bool]:
    """Whether other ways with a larger mean power lose against shifts."""
    shifts = ways["cell"].str.startswith("shift")
    mean, lost = (part.groupby("estimator")["power"].mean() for part in (ways, ways[shifts]))
    gain, loss = mean.drop("auto") - mean["auto"], lost.drop("auto") - lost["auto"]
    return (bool((loss[gain > 0.0] < 0.0).all()),)


def opening(tables) -> str:
    """What came out, in two sentences."""
    rates = tables[""]
    rates = rates[~rates["null"] & (rates["test"] == "two-sample")]
    power = rates.pivot(index=["cell", "d", "n"], columns="estimator", values="power")
    single = power[["kme", *[label for label in power if ", " in label and not label.startswith("auto")]]]
    single = single.dropna(axis=1)
    return (
        f"Over {len(power)} settings of two samples, `auto` had mean power {power['auto'].mean():.2f} and the default "
        f"`kme` {power['kme'].mean():.2f}. The best single member, chosen in each setting with hindsight, had "
        f"{single.max(axis=1).mean():.2f}."
    )


def alt(tables) -> str:
    """What the picture shows."""
    two, pairs = sides(tables[""])
    above = [(table["auto"] > table["kme"]).mean() > 0.5 for table in (two, pairs)]
    return "Power of kme, auto and its best member in every setting: " + claim("auto is above kme in most", all(above))


def chart(tables):
    """Power of the default, of auto and of its best member in every setting."""
    return picture(*sides(tables[""]))


def page(tables: dict[str, pd.DataFrame]) -> list[str]:
    """The page, from all tables."""
    rates, several, times = tables[""], tables["several"], tables["cost"].iloc[0]
    trials = int(rates.loc[rates["cell"] != "Eckerle4", "trials"].max())
    two, pairs = sides(rates)
    eckerle = rates[rates["cell"] == "Eckerle4"].copy()
    eckerle["interval"] = [f"{a:.3f} to {b:.3f}" for a, b in zip(eckerle["low"], eckerle["high"], strict=True)]
    eckerle["data"] = np.where(eckerle["null"], "null twin", "Eckerle4")
    lists = [
        "\n".join(
            f"- {label}, weight {m.weight:g}{growing(m)}"
            for label, m in zip(of_members(test), recommended(test).members, strict=True)
        )
        for test in ("two-sample", "independence")
    ]
    return [
        f"Level .05, {trials} trials a cell, {RESAMPLES} permutations; standard errors of powers are at most "
        f"{0.5 / trials**0.5:.3f}. The intervals are in the data. All tests of a cell see the same data, and all "
        "of this package the same permutations. Tests of other packages are on the page "
        "[power beside other tests](leaderboard.md#two-samples-and-independence).",
        '`estimator="auto"` combines these for two samples, whatever the data, all with the standard mean:',
        lists[0],
        "and these for independence (one kernel: for both variables):",
        lists[1],
        "The tables below are of an `auto` with two more statistics for samples, a Gaussian of near neighbours and one "
        "of distances from the median, and one more for pairs, an energy kernel. With `paired=True` half of the weight "
        "is on a Gaussian of the differences within pairs; ranks are left out, and `SecondOrder` and `Depth` weigh "
        "more.",
        "Every statistic becomes a p-value, that of a gamma distribution with its mean, variance and skewness over the "
        "permutations; the smallest one over the weight is taken in every permutation, and that of the data is ranked "
        "among them, so that the level is exact whether or not the gamma distributions are near. Ranks of the "
        "statistics would end at 1 / (permutations + 1), however far the largest is ahead of the others, so that a "
        "statistic with a small weight could hardly ever decide. Fewer than a hundred permutations say too little of "
        "tails, and ranks are used.",
        "## Two samples",
        "25 + 25 points for n = 25, 50 + 50 for n = 50, 15 + 60 for n = 15.",
        markdown(two),
        in_short(two),
        claim(
            "The Gaussian kernel with twice the median bandwidth is the best member against shifts, so that all other "
            "members cost some power there.",
            best_for_shifts(rates) == next(iter(of_members("two-sample"))),
        )
        + " This table has other weights for it, in the cells where that matters most.",
        markdown(trade(rates)),
        why(rates),
        "### Other ways to judge several kernels",
        "The same members on the same permutations, judged in other ways, each with an exact p-value: the smallest "
        "rank over the weight; the same with equal weights; the soft maximum of MMD-FUSE [B23] and the Mahalanobis "
        "length of MMMD [CB25], of statistics in units of their standard deviations; Cauchy's and Fisher's "
        "combinations of ranks. GPK [SC24] stands alone, with a Gaussian kernel. Differences from `auto`, bold where "
        "the exact McNemar test has p < .01.",
        markdown(ways_table(tables["ways"])),
        ways_in_short(tables["ways"]),
        "None of them is built in, except the smallest rank, which is used with fewer than a hundred permutations. "
        + claim(
            "Each of those that gain on average loses against shifts.",
            *gains_and_losses(tables["ways"]),
        )
        + " What GPK adds to MMD, the difference of the mean "
        "kernel values within the samples, is that of the depths, for which there is `Depth`, in every test.",
        "## Independence",
        markdown(pairs),
        "## Eckerle4, 11 points",
        f"{int(eckerle['trials'].max())} trials; `5 x 5 bandwidths` are {', '.join(f'{f:g}' for f in FACTORS)} times "
        "the median bandwidths of all 35 points, `auto` uses the medians of each subsample.",
        markdown(eckerle[["data", "estimator", "power", "interval"]]),
        "## Beside the best member",
        shortfalls(two, pairs),
        "## Three estimators, five bandwidths",
        f'`estimator=["kme", "skmse", "fkmse"], bandwidth="grid"`, {int(several["trials"].max())} trials a cell. '
        "The best member is chosen with hindsight, cell by cell.",
        markdown(several.drop(columns=["only_combined", "only_best", "trials"])),
        of_the_best(several),
        "## Level",
        "That of `auto` is exact, and is measured on a page of its own: [levels](levels.md#kernels-and-auto).",
        "## Cost",
        "25 + 25 points in 5 columns, 999 permutations, one worker, medians of 9 runs: three estimators (kme, skmse, "
        f"fkmse) with five bandwidths take {times['several / dearest']:.1f} times as long as the slowest of the "
        f"15 alone, and `auto` takes {times['auto / kme']:.1f} times as long as kme.",
    ]


def sides(rates: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Powers of two samples and of independence, side by side."""
    two = side_by_side(rates, "two-sample", ["cell", "d", "n"], ["kme", "auto"])
    return two, side_by_side(rates, "independence", ["cell", "n"], ["kme", "skmse", "auto"])


def main() -> None:
    args = options(__doc__.splitlines()[0], trials=500, quick=2)
    found = []
    for i, cell in enumerate(cells(args), 1):
        found.append(cell)
        print(f"cell {i}: {cell['cell'].iloc[0]}, n = {cell['n'].iloc[0]}", flush=True)
    rates = pd.concat(found, ignore_index=True)
    rates["d"] = rates["d"].fillna(0).astype(int)
    tables = {"": rates, "ways": judged_cells(args), "several": several_cells(args), "cost": cost()}
    write(args, NAME, TITLE, page(tables), tables)


if __name__ == "__main__":
    main()
