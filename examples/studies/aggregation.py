"""Aggregation: what a test that combines statistics gains over its members, what it gives up, and other ways to."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pandas as pd
from _study import in_processes, markdown, run, span, store
from scipy.special import logsumexp
from scipy.stats import binomtest
from which_estimator import INDEPENDENCE_CELLS, TWO_SAMPLE_CELLS

from shrinktest import FKMSE, Ensemble, Gaussian, power_study, two_sample_test
from shrinktest.auto import recommended
from shrinktest.ensembles import _FEW, _MANY, Candidate
from shrinktest.permutations.multiplicity import tail_ranks
from shrinktest.power import designs as d

NAME = "aggregation"
RESAMPLES = 299
#: Cells besides those of the map of estimators: label, design, size of the first sample.
MORE_CELLS = [
    ("scale x1.3, all", d.ScaleChange(dimension=5, scale=1.3), 50),
    ("scale x2, one", d.ScaleChange(dimension=5, scale=2.0, coordinates="one"), 50),
    ("shift by 0.6, one", d.MeanShift(dimension=5, shift=0.6), 50),
    ("correlation 0.6", d.CorrelationChange(5, correlation=0.6), 50),
    ("mixture, means moved", d.Mixture(dimension=5, change="means", amount=3.0), 50),
    (
        "scale x3, one, larger sample",
        d.ScaleChange(dimension=10, scale=3.0, coordinates="one", ratio=4.0),
        15,
    ),
]
OTHER_WEIGHTS = (
    10.0,
    60.0,
)  # of the Gaussian kernel with a wide bandwidth, in place of the recommended 25
PAIRS = 20  # in the cells of independence
SEVERAL = {
    "estimator": ["kme", "skmse", "fkmse"],
    "bandwidth": "grid",
}  # 3 x 5 members, whatever the data
FACTORS = (
    1 / 8,
    1 / 4,
    1 / 2,
    1.0,
    2.0,
)  # on the bandwidths of Eckerle4, 1/64 to 4 on their squares


def member_tests(test: str) -> dict[str, dict]:
    """Return every member of the recommended collection as a test of its own."""
    tests, names = {}, ("kernel",) if test == "two-sample" else ("kernel_x", "kernel_y")
    for member in recommended(test).members:
        kernels = member.kernel if isinstance(member.kernel, tuple) else (member.kernel,)
        label = " x ".join(
            f"{kernel.label}, {_width(kernel)}".removesuffix(", None") for kernel in kernels
        )
        given = kernels * len(names) if len(kernels) < len(names) else kernels
        tests[label] = {"estimator": member.estimator, **dict(zip(names, given, strict=True))}
    return tests


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


def generalized(x, y, rng) -> np.ndarray:
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
    """Return decisions of every way to combine the members of "auto", and of GPK, on the data of the study."""
    data, relabelings = (np.random.SeedSequence(0, spawn_key=(n, 0, trial, i)) for i in (0, 1))
    x, y = design.sample(np.random.default_rng(data), n)
    result = two_sample_test(
        x,
        y,
        estimator="auto",
        n_resamples=RESAMPLES,
        rng=np.random.default_rng(relabelings),
        workers=1,
    )
    statistics = np.column_stack(
        [np.append(member.statistic, member.null_distribution) for member in result.members]
    )
    ranks = tail_ranks(statistics, [member.tolerance for member in result.members])
    spread = statistics.std(axis=0)
    heights = (statistics - statistics.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
    together = [way(ranks, heights, result.estimator.weights) for way in WAYS.values()]
    together.append(generalized(x, y, np.random.default_rng(relabelings)))
    return [
        result.pvalue <= 0.05,
        *((values >= values[0] - 1e-12).mean() <= 0.05 for values in together),
    ]


def judged_cells(args) -> pd.DataFrame:
    """Power of the ways to judge in every cell of two samples, with differences from "auto" on the same data."""
    rows, labels = [], ["auto", *WAYS, "GPK"]
    for name, design, n in TWO_SAMPLE_CELLS + MORE_CELLS:
        rejected = np.array(
            in_processes(args, judged, [(design, n, trial) for trial in range(args.trials)])
        )
        for j, label in enumerate(labels):
            only = [
                int((a & ~b).sum())
                for a, b in ((rejected[:, 0], rejected[:, j]), (rejected[:, j], rejected[:, 0]))
            ]
            labeled = {"cell": name, "d": design.dimension, "n": n}
            counts = {"only_auto": only[0], "only_other": only[1]}
            rows.append({**rate(rejected[:, j], labeled, label, False), **counts})
        print(f"ways, {name}, n = {n}", flush=True)
    return pd.DataFrame(rows).drop(columns="null")


def ways_in_short(ways: pd.DataFrame) -> str:
    """Return a table of the mean power of every way to combine the statistics, in all settings and against shifts."""
    mean = ways.groupby("estimator", sort=False)["power"].mean()
    shifts = (
        ways[ways["cell"].str.startswith("shift")].groupby("estimator", sort=False)["power"].mean()
    )
    table = (
        pd.DataFrame({"mean power": mean, "against shifts": shifts})
        .rename_axis("combination")
        .reset_index()
    )
    return markdown(table)


def rate(rejected, labels: dict, estimator: str, null: bool) -> dict:
    """A row of the table of rates."""
    count, trials = int(np.sum(rejected)), len(rejected)
    interval = binomtest(count, trials).proportion_ci(0.95)
    numbers = {
        "power": count / trials,
        "low": interval.low,
        "high": interval.high,
        "trials": trials,
    }
    return {**labels, "estimator": estimator, "null": null, **numbers}


def cell_rates(
    args, test, name, design, n, estimators, with_null, trials=None, **labels
) -> pd.DataFrame:
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
        rng=0,
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
        some = {"kme": "kme", "auto": "auto", **member_tests("two-sample")}
        if isinstance(design, d.ScaleChange):
            some |= {f"lam_cov {c:g}": FKMSE(lam_cov=c) for c in (0.3, 1.0)}
        if isinstance(design, d.MeanShift | d.Mixture) or design.ratio > 1.0:
            some |= {f"auto, weight {w:g}": weighted(w) for w in OTHER_WEIGHTS}
        yield cell_rates(args, "two-sample", name, design, n, some, False, d=design.dimension)
    for name, design, n in INDEPENDENCE_CELLS:
        if n == PAIRS:
            some = {"kme": "kme", "skmse": "skmse", "auto": "auto", **member_tests("independence")}
            yield cell_rates(args, "independence", name, design, n, some, False)
    design = d.EckerleSubsample()
    widths = {
        key: [factor * value for factor in FACTORS] for key, value in design.options().items()
    }
    some = {"kme": "kme", "skmse": "skmse", "auto": "auto"}
    some |= {f"{e}, 5 x 5 bandwidths": {"estimator": e, **widths} for e in ("kme", "skmse")}
    yield cell_rates(
        args, "independence", "Eckerle4", design, 11, some, True, trials=eckerle_trials(args)
    )


def several_pvalues(design, n: int, trial: int) -> list[float]:
    """p-values of three estimators with five bandwidths combined, and of each alone, on the data of the study."""
    data, relabelings = (np.random.SeedSequence(0, spawn_key=(n, 0, trial, i)) for i in (0, 1))
    x, y = design.sample(np.random.default_rng(data), n)
    rng = np.random.default_rng(relabelings)
    result = two_sample_test(x, y, **SEVERAL, n_resamples=RESAMPLES, rng=rng, workers=1)
    return [result.pvalue, *result.table["pvalue"]]


def several_cells(args) -> pd.DataFrame:
    """Power of three estimators with five bandwidths combined, and of the best of them, in the cells of two samples."""
    trials, rows = max(2, 3 * args.trials // 5), []
    labels = [f"{e}, width {i} of 5" for i in range(1, 6) for e in SEVERAL["estimator"]]
    for name, design, n in TWO_SAMPLE_CELLS + MORE_CELLS:
        work = [(design, n, trial) for trial in range(trials)]
        rejected = np.array(in_processes(args, several_pvalues, work)) <= 0.05
        powers, best = rejected.mean(axis=0), rejected[:, 1:].mean(axis=0).argmax()
        only = rejected[:, 0] & ~rejected[:, 1 + best], ~rejected[:, 0] & rejected[:, 1 + best]
        row = {
            "cell": name,
            "d": design.dimension,
            "n": n,
            "combined": powers[0],
            "best member": powers[1 + best],
        }
        row |= {
            "which": labels[best],
            "only_combined": only[0].sum(),
            "only_best": only[1].sum(),
            "trials": trials,
        }
        rows.append(row)
        print(f"3 x 5, {name}, n = {n}", flush=True)
    return pd.DataFrame(rows)


def cost() -> pd.DataFrame:
    """Time of three estimators with five bandwidths over that of the dearest member; and of "auto" over kme."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(25, 5)), rng.normal(size=(25, 5))
    table = two_sample_test(x, y, **SEVERAL, n_resamples=19).table
    alone = [{"estimator": "fkmse", "bandwidth": width} for width in table["bandwidth"].unique()]
    calls = [SEVERAL, *alone, {"estimator": "auto"}, {"estimator": "kme"}]
    taken = np.empty((10, len(calls)))
    for seed in range(10):  # in turns, so that all meet the same load
        for i, arguments in enumerate(calls):
            start = time.perf_counter()
            two_sample_test(x, y, **arguments, n_resamples=999, rng=seed, workers=1)
            taken[seed, i] = time.perf_counter() - start
    middle = np.median(taken[1:], axis=0)
    return pd.DataFrame(
        {
            "several / dearest": [middle[0] / middle[1:-2].max()],
            "auto / kme": [middle[-2] / middle[-1]],
        }
    )


def side_by_side(rates: pd.DataFrame, test: str, keys: list[str], shown: list[str]) -> pd.DataFrame:
    """Return the powers of some tests and of the best member of the collection."""
    rows = rates[(rates["test"] == test) & ~rates["null"] & (rates["cell"] != "Eckerle4")]
    wide = rows.pivot(index=keys, columns="estimator", values="power")
    members = wide[list(member_tests(test))]
    table = wide[[c for c in shown if c in wide]].copy()
    table["best member"] = members.max(axis=1)
    return table.loc[list(dict.fromkeys(map(tuple, rows[keys].to_numpy())))].reset_index()


def trade(rates: pd.DataFrame) -> pd.DataFrame:
    """Power with other weights for the standard mean."""
    keys = ["cell", "d", "n"]
    rows = rates[(rates["test"] == "two-sample") & ~rates["null"]]
    wide = rows.pivot(index=keys, columns="estimator", values="power")
    names = ["kme", *(f"auto, weight {w:g}" for w in OTHER_WEIGHTS)]
    names.insert(2, "auto")
    return wide[names].dropna().reset_index()


def growing(member: Candidate) -> str:
    """Describe how the weight of a member grows with the number of rows, if it does."""
    if not member.grows:
        return ""
    return f" (up to {_FEW} rows in total; {member.on(1, _MANY).weight:g} from {_MANY} rows)"


def chart(tables):
    """Draw the power of the default, of auto and of its best member in every setting."""
    two, pairs = sides(tables[""])
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        1, 2, figsize=(11.0, 7.0), layout="constrained", width_ratios=(1.2, 1.0)
    )
    looks = {
        "kme": ("o", "#8C8C8C"),
        "best member": ("|", "#000000"),
        "auto": ("s", "#0072B2"),
    }
    for ax, table, title in zip(axes, (two, pairs), ("Two samples", "Independence"), strict=True):
        places = np.arange(len(table))[::-1]
        for name, (marker, color) in looks.items():
            if name in table:
                ax.plot(
                    table[name],
                    places,
                    marker,
                    color=color,
                    label=name,
                    markersize=9 if marker == "|" else 6,
                )
        sizes = [f", d = {d}" for d in table["d"]] if "d" in table else [""] * len(table)
        cells = zip(table["cell"], sizes, table["n"], strict=True)
        ax.set_yticks(
            places, [f"{cell}{size}, n = {n}" for cell, size, n in cells], fontsize="small"
        )
        ax.set_xlim(0.0, 1.02)
        ax.set_xlabel("power at the 5% level")
        ax.set_title(title)
        ax.grid(axis="y", linewidth=0.4)
        ax.spines[["top", "right"]].set_visible(False)
    figure.legend(
        *axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=4, frameon=False
    )
    return figure


def gains_and_losses(ways: pd.DataFrame) -> bool:
    """Tell whether other ways with a larger mean power lose against shifts."""
    shifts = ways["cell"].str.startswith("shift")
    mean, lost = (part.groupby("estimator")["power"].mean() for part in (ways, ways[shifts]))
    gain, loss = mean.drop("auto") - mean["auto"], lost.drop("auto") - lost["auto"]
    return bool((loss[gain > 0.0] < 0.0).all())


def costs(rates: pd.DataFrame) -> str:
    """Return a table of mean powers by the weight of the Gaussian kernel."""
    table = trade(rates)
    shifts = table["cell"].str.startswith("shift")
    own = recommended("two-sample").members[0].weight
    weights = {own: "auto"} | {
        float(name.split()[-1]): name for name in table if name.startswith("auto, weight ")
    }
    rows = [
        {
            "weight": f"{weight:g}{' (auto)' if name == 'auto' else ''}",
            "shifts": table.loc[shifts, name].mean(),
            "largest loss to kme": (table["kme"] - table[name])[shifts].max(),
            "other changes": table.loc[~shifts, name].mean(),
        }
        for weight, name in sorted(weights.items())
    ]
    return markdown(pd.DataFrame(rows))


def shortfall(table: pd.DataFrame, combined: str) -> str:
    """Count settings where a combined test is near its best member, whose power is between 0.3 and 0.9."""
    near = table[table["best member"].between(0.3, 0.9)]
    lost = near["best member"] - near[combined]
    return f"{int((lost <= 0.05).sum())} of {len(near)}"


def values(tables) -> dict:
    """Return the numbers, tables and claims of the section."""
    rates = tables[""]
    time = tables["cost"].iloc[0]
    two, pairs = sides(rates)
    alone = rates[~rates["null"] & (rates["test"] == "two-sample")]
    power = alone.pivot(index=["cell", "d", "n"], columns="estimator", values="power")
    members = ["kme", *(label for label in power if ", " in label and not label.startswith("auto"))]
    best = power[members].dropna(axis=1).max(axis=1)
    trials = int(rates.loc[rates["cell"] != "Eckerle4", "trials"].max())
    shifts = two[two["cell"].str.startswith("shift")]
    lost = shifts["kme"] - shifts["auto"]
    eckerle = rates[(rates["cell"] == "Eckerle4") & ~rates["null"]]
    shown_pairs = pairs[["cell", "n", "kme", "skmse", "auto", "best member"]]
    titles = {"cell": "dependence", "best member": "best component"}
    return {
        "settings": len(power),
        "auto": f"{power['auto'].mean():.2f}",
        "kme": f"{power['kme'].mean():.2f}",
        "best_member": f"{best.mean():.2f}",
        "drawn": all((table["auto"] > table["kme"]).mean() > 0.5 for table in (two, pairs)),
        "members": listed("two-sample"),
        "members_of_pairs": listed("independence"),
        "trials": trials,
        "permutations": RESAMPLES,
        "standard_error": f"{0.5 / trials**0.5:.3f}",
        "lost": f"{lost.mean():.3f}",
        "lost_range": span(lost, ".3f"),
        "near_two": shortfall(two, "auto"),
        "costs": costs(rates),
        "others_lose_against_shifts": gains_and_losses(tables["ways"]),
        "ways": ways_in_short(tables["ways"]),
        "pairs": markdown(shown_pairs.rename(columns=titles)),
        "near_pairs": shortfall(pairs, "auto"),
        "peak": "; ".join(f"`{row.estimator}` {row.power:.2f}" for row in eckerle.itertuples()),
        "near_several": shortfall(tables["several"], "combined"),
        "time_of_auto": f"{time['auto / kme']:.1f}",
        "time_of_several": f"{time['several / dearest']:.1f}",
    }


def listed(test: str) -> str:
    """Return the members of the recommended collection as a list, with their weights."""
    members = zip(member_tests(test), recommended(test).members, strict=True)
    return "\n".join(
        f"- {label}, weight {member.weight:g}{growing(member)}" for label, member in members
    )


def sides(rates: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Powers of two samples and of independence, side by side."""
    two = side_by_side(rates, "two-sample", ["cell", "d", "n"], ["kme", "auto"])
    return two, side_by_side(rates, "independence", ["cell", "n"], ["kme", "skmse", "auto"])


def measured(args):
    """Return the tables of all settings."""
    frames = []
    for i, cell in enumerate(cells(args), 1):
        frames.append(cell)
        print(f"cell {i}: {cell['cell'].iloc[0]}, n = {cell['n'].iloc[0]}", flush=True)
    rates = pd.concat(frames, ignore_index=True)
    rates["d"] = rates["d"].fillna(0).astype(int)
    return {"": rates, "ways": judged_cells(args), "several": several_cells(args), "cost": cost()}


if __name__ == "__main__":
    run(__doc__, NAME, measured, values, chart, trials=500, quick=2)
