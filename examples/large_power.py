"""What bins and rank cost in power, and that bins keep the level: tests of samples in batches beside those in memory.

Two samples of 500 rows, tested in memory by Gram matrices and in batches by random Fourier features: the standard mean
with a Gaussian kernel and with a whitened one, and in some of the data sets auto.  All see the same data.
"""

from __future__ import annotations

from argparse import Namespace
from functools import partial

import numpy as np
import pandas as pd
from _charts import figure
from _study import claim, markdown, options, parts, write
from new_tests_levels import measured, numbers, region

from shrinktest import Batches, Candidate, Ensemble, Gaussian, Whitened, two_sample_test
from shrinktest.plots.axes import BLUE, GREY, ORANGE
from shrinktest.power.designs import CorrelationChange, PerturbedUniform, SparseShift

NAME = "large_power"
TITLE = "What bins and rank cost in power"
ALPHA, RESAMPLES, ROWS = 0.05, 199, 500
RANKS, BINS = (25, 50, 100, 200, 400), (100, 400, 2000)
FEWER = (25, 100, 400), (100, 2000)  # ranks and bins of auto
AUTO = 10  # it is in one of so many data sets
NULLS, MOST = 8, 4000  # null data sets for each, and in all
DESIGNS = {
    "sparse shift, 20 columns": SparseShift(dimension=20, shift=0.18),
    "equal correlations, 5 columns": CorrelationChange(dimension=5, correlation=0.17),
    "perturbed uniform, 1 column": PerturbedUniform(perturbations=2, amplitude=0.35),
}
NAMES = ("kme", "whitened")
PAIR = Ensemble([Candidate("kme", Gaussian()), Candidate("kme", Whitened())])
COMMON = {"n_resamples": RESAMPLES, "workers": 1}
MEMORY = "rows in memory"  # what is permuted in place of bins


def in_batches(x, y, estimator, rank: int, bins: int, seed: int):
    """A test in batches; bins are of one size, so that 2000 of them are the rows of these samples themselves."""
    given = (Batches(one, bins=bins) for one in (x, y))
    return two_sample_test(*given, estimator=estimator, gram="rff", rank=rank, rng=seed, **COMMON)


def compared(design: str, trial: int) -> list[dict]:
    """Which tests reject one data set."""
    x, y = DESIGNS[design].sample(np.random.default_rng([7, trial]), n=ROWS)
    found = []

    def add(result, names, how, rank, bins) -> None:
        for name, one in zip(names, result.members if len(names) > 1 else [result], strict=True):
            cell = {"data": design, "estimator": name, "permuted": how, "rank": rank, "bins": bins, "trial": trial}
            found.append({**cell, "reject": one.pvalue <= ALPHA})

    asked = [(PAIR, NAMES, RANKS, BINS)]
    if trial % AUTO == 0:
        asked.append(("auto", ("auto",), *FEWER))
    for estimator, names, ranks, several in asked:
        add(two_sample_test(x, y, estimator=estimator, rng=trial, **COMMON), names, MEMORY, 0, 0)
        for rank in ranks:
            for bins in several:
                add(in_batches(x, y, estimator, rank, bins, trial), names, "bins", rank, bins)
    return found


def table_of(found: pd.DataFrame) -> pd.DataFrame:
    """Power in every cell; what it is less than that in memory, and than that of rows of the same rank; half intervals.

    Differences are paired.
    """
    memory, rows = (MEMORY, 0, 0), []
    for (design, estimator), some in found.groupby(["data", "estimator"], sort=False):
        keys = ["permuted", "rank", "bins"]
        cells = {key: cell.set_index("trial")["reject"].astype(float) for key, cell in some.groupby(keys, sort=False)}
        for (how, rank, bins), rejected in cells.items():
            row = {"data": design, "estimator": estimator, "permuted": how, "rank": rank, "bins": bins}
            row |= {"power": rejected.mean(), "trials": len(rejected)}
            others = {"lost": memory, "lost_to_bins": ("bins", rank, max(BINS)) if rank else memory}
            for name, other in others.items():
                lost = cells[other] - rejected
                row |= {name: lost.mean(), f"{name}_error": 1.96 * float(lost.std(ddof=0)) / len(lost) ** 0.5}
            rows.append(row)
    return pd.DataFrame(rows)


def null(rng, heavy, sizes, bins, **given):
    """The p-value of a test of data without a difference, by features of rank 20."""
    x, y = (Batches(numbers(rng, heavy, n, 2), bins=bins) for n in sizes)
    return two_sample_test(x, y, rank=20, n_resamples=99, workers=1, rng=rng, **given).pvalue


def cases() -> list[tuple]:
    """Where the level is measured."""
    tests = {
        "kme, rff": {"gram": "rff"},
        "skmse, nystrom": {"gram": "nystrom", "estimator": "skmse"},
        "whitened, rff": {"gram": "rff", "kernel": "whitened"},
    }
    cells = [(sizes, bins) for sizes in ((203, 203), (103, 511)) for bins in (20, 200)]
    work = [
        (f"{' + '.join(map(str, sizes))} rows, bins={bins}", name, null, {"sizes": sizes, "bins": bins, **given})
        for name, given in tests.items()
        for sizes, bins in cells
    ]
    auto = {"sizes": (103, 511), "bins": 20, "gram": "rff", "estimator": "auto"}
    return [*work, ("103 + 511 rows, bins=20", "auto, rff", null, auto)]


def mean_lost(table: pd.DataFrame, column: str, **cell) -> str:
    """What is lost on average over designs, in points of power, with its interval."""
    some = table[np.logical_and.reduce([table[name] == value for name, value in cell.items()])]
    error = float(np.sqrt(np.square(some[f"{column}_error"]).sum())) / len(some)
    return f"{100 * some[column].mean():.1f} ± {100 * error:.1f}"


def opening(tables) -> str:
    """What came out, in two sentences."""
    table = tables[""]
    both = table[(table["permuted"] == "bins") & table["estimator"].isin(NAMES)]
    (fewest, most), bins = (both["rank"].min(), both["rank"].max()), both["bins"].max()
    less, more = (mean_lost(both, "lost", rank=rank, bins=bins) for rank in (fewest, most))
    coarse = both["bins"].min()
    return (
        f"Beside the test in memory, a test with {most} random Fourier features lost {more} points of power on average "
        f"over {both['data'].nunique()} designs, and one with {fewest} features {less}. With the same {most} features, "
        f"permuting {coarse} bins in place of single rows cost "
        f"{mean_lost(both, 'lost_to_bins', rank=most, bins=coarse)} points more."
    )


def alt(tables) -> str:
    """What the picture shows."""
    table = tables[""]
    both = table[(table["permuted"] == "bins") & table["estimator"].isin(NAMES)]
    lost = both[both["bins"] == both["bins"].max()].groupby("rank")["lost"].mean()
    return "Points of power lost against the number of features: " + claim(
        "the more features, the less is lost", lost.is_monotonic_decreasing
    )


def chart(tables):
    """What is lost of the power of the test in memory, by the number of features and of bins."""
    table = tables[""]
    table = table[table["permuted"] == "bins"]
    names = list(dict.fromkeys(table["estimator"]))
    made, axes = figure(3.0, len(names), sharey=True)
    for ax, name in zip(axes, names, strict=True):
        some = table[table["estimator"] == name]
        for bins, look in zip(sorted(set(table["bins"])), (("^", ORANGE), ("s", GREY), ("o", BLUE)), strict=False):
            here = some[some["bins"] == bins].groupby("rank")
            if not len(here):
                continue
            mean, squares = here["lost"].mean(), here["lost_error"].agg(lambda errors: np.square(errors).sum() ** 0.5)
            error = squares / here.size()
            style = {"marker": look[0], "color": look[1], "linewidth": 1.0, "markersize": 4.5}
            at = mean.index * 1.04 ** (("^", "s", "o").index(look[0]) - 1)
            ax.errorbar(at, 100.0 * mean, yerr=100.0 * error, label=f"{bins} bins", **style)
        ax.axhline(0.0, color=GREY, linewidth=0.8, linestyle=":")
        ax.set(xscale="log", xlabel="random Fourier features")
        ax.set_title(name, fontsize="medium")
        ax.set_xticks(ticks := sorted(set(some["rank"])), [str(rank) for rank in ticks])
        ax.set_xticks([], minor=True)
    axes[0].set_ylabel("points of power lost\n(95 % interval)")
    made.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3, frameon=False)
    return made


def page(tables) -> list[str]:
    """What the page says, from power and level in all cells."""
    table, levels = tables[""], tables["levels"]
    said = table[table["permuted"] == "bins"]
    parts, bins = [], sorted(set(said["bins"]))
    for estimator, some in said.groupby("estimator", sort=False):
        here = [one for one in bins if one in set(some["bins"])]
        cells = []
        for rank in sorted(set(some["rank"])):
            row = {"rank": rank, **{f"{n} bins": mean_lost(some, "lost", rank=rank, bins=n) for n in here}}
            lost = {f"{n} bins, to bins": mean_lost(some, "lost_to_bins", rank=rank, bins=n) for n in here[:-1]}
            cells.append(row | lost)
        trials = int(some["trials"].max())
        parts += [
            f"## {estimator}: points of power lost, mean of {len(DESIGNS)} designs, {trials} data sets each",
            markdown(pd.DataFrame(cells)),
        ]
    memory = table[table["permuted"] == MEMORY].pivot(index="data", columns="estimator", values="power")
    memory = memory.loc[list(DESIGNS), list(dict.fromkeys(table["estimator"]))].reset_index()
    shown = said.assign(cell=[f"{r.lost:+.3f} ± {r.lost_error:.3f}" for r in said.itertuples()])
    shown = shown.pivot(index=["estimator", "data", "rank"], columns="bins", values="cell").fillna("").reset_index()
    trials = int(levels["trials"].max())
    low, high = region(trials)
    wide = levels.pivot(index="cell", columns="test", values="level").loc[list(dict.fromkeys(levels["cell"]))]
    wide = wide.reset_index().astype(object)
    both = said[said["estimator"].isin(NAMES)]
    hard = both.groupby("data")["lost"].mean().idxmax()
    return [
        f"Samples of {ROWS} + {ROWS} rows, {RESAMPLES} permutations, level {ALPHA:g}. What is lost is the power of "
        "the test in memory, by its Gram matrix, less that of the test in batches on the same data, by random Fourier "
        f"features and bins; with its 95 % interval. With `bins={max(BINS)}` every row is a bin of its own, so that "
        "this column is what the rank alone costs. "
        + "; ".join(f"{n} bins are of {-(-2 * ROWS // n)} rows" for n in bins if n < 2 * ROWS)
        + f". Most is lost in this design: {hard}.",
        *parts,
        "## Power in memory",
        markdown(memory),
        "## Every design",
        markdown(shown),
        "## Level",
        f"{trials} null data sets a cell, half Gaussian and half Cauchy, 99 permutations, features of rank 20. An "
        f"exact test is inside [{low:.4f}, {high:.4f}] with probability 99.9 %; {int(levels['inside'].sum())} of "
        f"{len(levels)} cells are. `bins=20` makes bins of 10 rows (203 + 203) or of 5 (103 + 511), `bins=200` of 3 or "
        "of 4.",
        markdown(wide.where(wide.notna(), "")),
    ]


def main() -> None:
    args = options(__doc__.splitlines()[0], trials=1000, quick=2)
    jobs = [partial(compared, design, trial) for trial in range(args.trials) for design in DESIGNS]
    table = table_of(parts(args, NAME, jobs))
    nulls = Namespace(trials=min(NULLS * args.trials, MOST), workers=args.workers, store=args.store)
    levels = measured(nulls, cases(), "estimator", NAME).rename(columns={"test": "cell", "estimator": "test"})
    tables = {"": table, "levels": levels}
    write(args, NAME, TITLE, page(tables), tables)


if __name__ == "__main__":
    main()
