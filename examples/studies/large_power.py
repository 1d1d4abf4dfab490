"""What bins and rank cost in power, and that bins keep the level: tests in batches compared with tests in memory.

Two samples of 500 rows, tested in memory by Gram matrices and in batches by random Fourier features: the standard mean
with a Gaussian and with a whitened kernel, and for some data sets auto.  All see the same data.
"""

from __future__ import annotations

from argparse import Namespace
from functools import partial

import numpy as np
import pandas as pd
from _charts import figure
from _levels import level_values, measured_levels, numbers
from _study import markdown, parts, run

from shrinktest import Batches, Candidate, Ensemble, Gaussian, Whitened, two_sample_test
from shrinktest.power.designs import CorrelationChange, PerturbedUniform, SparseShift
from shrinktest.results.plots.axes import BLUE, GRAY, ORANGE

NAME = "large_power"
ALPHA, RESAMPLES, ROWS = 0.05, 199, 500
RANKS, BINS = (25, 50, 100, 200, 400), (100, 400, 2000)
FEWER = (25, 100, 400), (100, 2000)  # ranks and bins of auto
AUTO = 10  # auto is run on one data set in ten
NULLS, MOST = 8, 4000  # null data sets per data set, and at most
DESIGNS = {
    "sparse shift, 20 columns": SparseShift(dimension=20, shift=0.18),
    "equal correlations, 5 columns": CorrelationChange(dimension=5, correlation=0.17),
    "perturbed uniform, 1 column": PerturbedUniform(perturbations=2, amplitude=0.35),
}
NAMES = ("kme", "whitened")
PAIR = Ensemble([Candidate("kme", Gaussian()), Candidate("kme", Whitened())])
COMMON = {"n_resamples": RESAMPLES, "workers": 1}
MEMORY = "rows in memory"  # permuted instead of bins


def in_batches(x, y, estimator, rank: int, bins: int, seed: int):
    """Test in batches; with 2000 bins each row of these samples is its own bin."""
    batches = (Batches(sample, bins=bins) for sample in (x, y))
    return two_sample_test(*batches, estimator=estimator, gram="rff", rank=rank, rng=seed, **COMMON)


def compared(design: str, trial: int) -> list[dict]:
    """Return which tests reject one data set."""
    x, y = DESIGNS[design].sample(np.random.default_rng([7, trial]), n=ROWS)
    rejections = []

    def add(result, names, how, rank, bins) -> None:
        for name, member in zip(names, result.members if len(names) > 1 else [result], strict=True):
            cell = {
                "data": design,
                "estimator": name,
                "permuted": how,
                "rank": rank,
                "bins": bins,
                "trial": trial,
            }
            rejections.append({**cell, "reject": member.pvalue <= ALPHA})

    tests = [(PAIR, NAMES, RANKS, BINS)]
    if trial % AUTO == 0:
        tests.append(("auto", ("auto",), *FEWER))
    for estimator, names, ranks, several in tests:
        add(two_sample_test(x, y, estimator=estimator, rng=trial, **COMMON), names, MEMORY, 0, 0)
        for rank in ranks:
            for bins in several:
                add(in_batches(x, y, estimator, rank, bins, trial), names, "bins", rank, bins)
    return rejections


def power_table(rejections: pd.DataFrame) -> pd.DataFrame:
    """Return the power in every setting, with paired losses from the test in memory and from rows of the same rank."""
    memory, rows = (MEMORY, 0, 0), []
    for (design, estimator), some in rejections.groupby(["data", "estimator"], sort=False):
        keys = ["permuted", "rank", "bins"]
        cells = {
            key: cell.set_index("trial")["reject"].astype(float)
            for key, cell in some.groupby(keys, sort=False)
        }
        for (how, rank, bins), rejected in cells.items():
            row = {
                "data": design,
                "estimator": estimator,
                "permuted": how,
                "rank": rank,
                "bins": bins,
            }
            row |= {"power": rejected.mean(), "trials": len(rejected)}
            others = {"lost": memory, "lost_to_bins": ("bins", rank, max(BINS)) if rank else memory}
            for name, other in others.items():
                lost = cells[other] - rejected
                row |= {
                    name: lost.mean(),
                    f"{name}_error": 1.96 * float(lost.std(ddof=0)) / len(lost) ** 0.5,
                }
            rows.append(row)
    return pd.DataFrame(rows)


def null(rng, heavy, sizes, bins, **given):
    """Return the p-value of a test of data without a difference, with features of rank 20."""
    x, y = (Batches(numbers(rng, heavy, n, 2), bins=bins) for n in sizes)
    return two_sample_test(x, y, rank=20, n_resamples=99, workers=1, rng=rng, **given).pvalue


def cases() -> list[tuple]:
    """Return the settings in which the level is measured."""
    tests = {
        "kme, rff": {"gram": "rff"},
        "skmse, nystrom": {"gram": "nystrom", "estimator": "skmse"},
        "whitened, rff": {"gram": "rff", "kernel": "whitened"},
    }
    cells = [(sizes, bins) for sizes in ((203, 203), (103, 511)) for bins in (20, 200)]
    work = [
        (
            f"{' + '.join(map(str, sizes))} rows, bins={bins}",
            name,
            null,
            {"sizes": sizes, "bins": bins, **given},
        )
        for name, given in tests.items()
        for sizes, bins in cells
    ]
    auto = {"sizes": (103, 511), "bins": 20, "gram": "rff", "estimator": "auto"}
    return [*work, ("103 + 511 rows, bins=20", "auto, rff", null, auto)]


def mean_lost(table: pd.DataFrame, column: str, **cell) -> str:
    """Return the mean loss over designs, in points of power, with its 95% margin."""
    some = table[np.logical_and.reduce([table[name] == value for name, value in cell.items()])]
    error = float(np.sqrt(np.square(some[f"{column}_error"]).sum())) / len(some)
    return f"{100 * some[column].mean():.1f} ± {100 * error:.1f}"


def chart(tables):
    """Draw the loss of power by the number of features and of bins."""
    table = tables[""]
    table = table[table["permuted"] == "bins"]
    names = list(dict.fromkeys(table["estimator"]))
    made, axes = figure(3.0, len(names), sharey=True)
    for ax, name in zip(axes, names, strict=True):
        some = table[table["estimator"] == name]
        for bins, look in zip(
            sorted(set(table["bins"])), (("^", ORANGE), ("s", GRAY), ("o", BLUE)), strict=False
        ):
            by_rank = some[some["bins"] == bins].groupby("rank")
            if not len(by_rank):
                continue
            mean = by_rank["lost"].mean()
            squares = by_rank["lost_error"].agg(lambda errors: np.square(errors).sum() ** 0.5)
            error = squares / by_rank.size()
            style = {"marker": look[0], "color": look[1], "linewidth": 1.0, "markersize": 4.5}
            at = mean.index * 1.04 ** (("^", "s", "o").index(look[0]) - 1)
            ax.errorbar(at, 100.0 * mean, yerr=100.0 * error, label=f"{bins} bins", **style)
        ax.axhline(0.0, color=GRAY, linewidth=0.8, linestyle=":")
        ax.set(xscale="log", xlabel="random Fourier features")
        ax.set_title(name, fontsize="medium")
        ax.set_xticks(ticks := sorted(set(some["rank"])), [str(rank) for rank in ticks])
        ax.set_xticks([], minor=True)
    axes[0].set_ylabel("points of power lost\n(95% interval)")
    made.legend(
        *axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3, frameon=False
    )
    return made


def values(tables) -> dict:
    """Return the numbers, tables and claims of the section."""
    table = tables[""]
    batches = table[table["permuted"] == "bins"]
    both = batches[batches["estimator"].isin(NAMES)]
    fewest = both["rank"].min()
    most = both["rank"].max()
    finest = both["bins"].max()
    coarse = both["bins"].min()
    names = list(dict.fromkeys(table["estimator"]))
    memory = table[table["permuted"] == MEMORY].pivot(
        index="data", columns="estimator", values="power"
    )
    by_rank = both[both["bins"] == finest].groupby("rank")["lost"].mean()
    return {
        **{f"level_{key}": value for key, value in level_values(tables["levels"]).items()},
        "most": most,
        "more": mean_lost(both, "lost", rank=most, bins=finest),
        "fewest": fewest,
        "less": mean_lost(both, "lost", rank=fewest, bins=finest),
        "designs": both["data"].nunique(),
        "coarse": coarse,
        "lost_to_bins": mean_lost(both, "lost_to_bins", rank=most, bins=coarse),
        "drawn": by_rank.is_monotonic_decreasing,
        "all_bins": f"`bins={max(BINS)}`",
        "lost_to_rank": lost_to_rank(batches, names),
        "hard": both.groupby("data")["lost"].mean().idxmax(),
        "memory": markdown(memory.loc[list(DESIGNS), names].map("{:.2f}".format).reset_index()),
        "rows": ROWS,
        "most_trials": batches["trials"].max(),
        "fewest_trials": batches["trials"].min(),
        "permutations": RESAMPLES,
    }


def lost_to_rank(batches: pd.DataFrame, names: list[str]) -> str:
    """Return a table of the power lost to the rank alone, by test."""
    rows = []
    for rank, some in batches.groupby("rank"):
        row = {"features": rank}
        for name in names:
            part = some[some["estimator"] == name]
            row[name] = mean_lost(part, "lost", bins=max(BINS)) if len(part) else "-"
        rows.append(row)
    return markdown(pd.DataFrame(rows))


def measured(args):
    """Return the tables of all settings."""
    jobs = [partial(compared, design, trial) for trial in range(args.trials) for design in DESIGNS]
    table = power_table(parts(args, NAME, jobs))
    nulls = Namespace(trials=min(NULLS * args.trials, MOST), workers=args.workers, store=args.store)
    levels = measured_levels(nulls, cases(), "estimator", NAME).rename(
        columns={"test": "cell", "estimator": "test"}
    )
    return {"": table, "levels": levels}


if __name__ == "__main__":
    run(__doc__, NAME, measured, values, chart, trials=1000, quick=2)
