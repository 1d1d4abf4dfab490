"""Level and power of tests of independence in batches, and how often intervals of their effects cover the truth.

There y is shifted within blocks of eight successive pairs.  Power is compared with that of the test in memory with as
many random Fourier features, whose permutations are free, on the same data: numbers with a small correlation, and
points near a circle.  The truth of an effect is what a million pairs show, with the same features.
"""

from __future__ import annotations

from argparse import Namespace
from functools import partial

import numpy as np
import pandas as pd
from _charts import figure, rows
from _study import claim, markdown, options, parts, write
from new_tests_levels import measured, numbers, region

from shrinktest import Batches, DependenceEffect, independence_test
from shrinktest.kernels import Gaussian
from shrinktest.plots.axes import BLUE, GREY

NAME = "large_pairs"
TITLE = "Level and power of tests of independence in batches"
ALPHA, ROWS, RANK = 0.05, 1600, 40
NULLS = 4  # null data sets for each of those of power
SIZES = 53, 203
OF_AUTO = 203  # pairs where the level of `auto` is measured, which takes long
OF_EFFECT = {"gram": "rff", "rank": RANK, "kernel_x": Gaussian(1.0), "kernel_y": Gaussian(1.0), "n_resamples": 0}
NUMBERS = 1600, 6400
FEATURES = 1, 2  # seeds: each draws other features
TRUE = 2**20  # pairs that show the truth
GAPS = 0.2  # share of missing numbers in tables
OF_LEVEL = {"n_resamples": 99, "rank": 20, "workers": 1}
OF_POWER = {"n_resamples": 199, "rank": RANK, "gram": "rff", "workers": 1}
HOW = ("pairs freely, in memory", "within eight pairs, in batches")


def linear(slope, rng, n):
    """Numbers, one of which depends on the other and on noise of the same spread."""
    x = rng.standard_normal((n, 1))
    return x, slope * x + rng.standard_normal((n, 1))


def circle(rng, n):
    """Points near a circle, far from it in relation to its radius."""
    angle = rng.uniform(0.0, 2.0 * np.pi, size=(n, 1))
    x, y = (wave(angle) + 0.75 * rng.standard_normal((n, 1)) for wave in (np.cos, np.sin))
    return x, y


DESIGNS = {"correlation of .08": partial(linear, 0.08), "circle with noise": circle}
EFFECTS = {"no dependence": partial(linear, 0.0), **DESIGNS, "correlation of .45": partial(linear, 0.5)}


def compared(design: str, trial: int) -> list[dict]:
    """Which tests reject one data set."""
    x, y = DESIGNS[design](np.random.default_rng([11, trial]), ROWS)
    results = (independence_test(*given, rng=trial, **OF_POWER) for given in ((x, y), (Batches(x), Batches(y))))
    return [
        {"data": design, "permuted": how, "trial": trial, "reject": one.pvalue <= ALPHA}
        for how, one in zip(HOW, results, strict=True)
    ]


def table_of(found: pd.DataFrame) -> pd.DataFrame:
    """Power of both, and their difference with its 95 % interval: it is paired."""
    rows = []
    for design, some in found.groupby("data", sort=False):
        wide = some.pivot(index="trial", columns="permuted", values="reject").astype(float)
        lost = wide[HOW[0]] - wide[HOW[1]]
        error = 1.96 * float(lost.std(ddof=0)) / len(lost) ** 0.5
        row = {"data": design, **{how: wide[how].mean() for how in HOW}}
        rows.append(row | {"lost": lost.mean(), "error": error, "trials": len(lost)})
    return pd.DataFrame(rows)


def null(rng, heavy, n, **given):
    """The p-value of a test of independent variables."""
    x, y = (Batches(numbers(rng, heavy, n, 2)) for _ in range(2))
    return independence_test(x, y, rng=rng, **OF_LEVEL, **given).pvalue


def tables(rng, heavy, n):
    """The p-value of a test of independent tables of numbers with gaps and categories."""
    made = (pd.DataFrame({"a": numbers(rng, heavy, n), "b": rng.choice(list("uvw"), n)}) for _ in range(2))
    x, y = (Batches([table.mask(rng.random(table.shape) < [GAPS, 0.0])]) for table in made)
    return independence_test(x, y, rng=rng, gram="rff", nan_policy="indicator", **OF_LEVEL).pvalue


def cases() -> list[tuple]:
    """Where the level is measured."""
    tests = {
        "kme, rff": {"gram": "rff"},
        "skmse, nystrom": {"gram": "nystrom", "estimator": "skmse"},
        "whitened, rff": {"gram": "rff", "kernel_x": "whitened", "kernel_y": "whitened"},
    }
    found = [(f"{n} pairs", name, null, {"n": n, **given}) for name, given in tests.items() for n in SIZES]
    found += [(f"{n} pairs", "tables with gaps", tables, {"n": n}) for n in SIZES]
    auto = {"gram": "nystrom", "estimator": "auto", "n": OF_AUTO}
    return [*found, (f"{OF_AUTO} pairs", "auto, nystrom", null, auto)]


def effect_of(design: str, n: int, features: int, seed: tuple[int, ...]) -> DependenceEffect:
    """The dependence of one data set, as these features show it."""
    x, y = EFFECTS[design](np.random.default_rng([12, *seed]), n)
    effect = independence_test(Batches(x), Batches(y), rng=features, workers=1, **OF_EFFECT).effect()
    assert isinstance(effect, DependenceEffect)
    return effect


def truth(design: str, features: int, small: bool) -> list[dict]:
    """The dependence of very many pairs."""
    found = effect_of(design, ROWS if small else TRUE, features, (0,)).dependence
    return [{"data": design, "features": features, "truth": found}]


def covered(design: str, n: int, features: int, true: float, trials: range) -> list[dict]:
    """Whether intervals cover the truth, and how long they are."""
    rows = []
    for trial in trials:
        low, high = effect_of(design, n, features, (1, n, trial)).dependence_interval
        rows.append({"data": design, "features": features, "pairs": n, "trial": trial, "truth": true})
        rows[-1] |= {"covered": bool(low <= true <= high), "length": high - low}
    return rows


def coverage(args) -> pd.DataFrame:
    """How often intervals cover, in every cell."""
    small = args.trials < 100
    cells = [(design, features) for design in EFFECTS for features in FEATURES]
    truths = parts(args, f"{NAME}_truths", [partial(truth, *cell, small) for cell in cells])["truth"]
    chunks = [range(start, min(start + 100, args.trials)) for start in range(0, args.trials, 100)]
    jobs = [
        partial(covered, design, n, features, true, chunk)
        for (design, features), true in zip(cells, truths, strict=True)
        for n in NUMBERS
        for chunk in chunks
    ]
    keys = ["data", "features", "pairs", "truth"]
    cells_of = parts(args, f"{NAME}_effects", jobs).groupby(keys, sort=False)
    return cells_of.agg(coverage=("covered", "mean"), length=("length", "mean"), trials=("trial", "size")).reset_index()


def opening(tables) -> str:
    """What came out, in two sentences."""
    power, level, covering = tables[""], tables["levels"]["level"], tables["effects"]["coverage"]
    lost = " and ".join(f"{r.lost:+.3f} ± {r.error:.3f} ({r.data})" for r in power.itertuples())
    return (
        f"Permuting y within blocks of eight successive pairs, and not among all pairs, costs this much power: {lost}. "
        f"At level {ALPHA:g} the tests rejected true null hypotheses in {100 * level.min():.1f} to "
        f"{100 * level.max():.1f} % of data sets, and 95 % intervals of effects covered the truth in "
        f"{100 * covering.min():.1f} to {100 * covering.max():.1f} %."
    )


def alt(tables) -> str:
    """What the picture shows."""
    lost, inside = tables[""]["lost"].abs().max(), tables["levels"]["inside"].all()
    return "Power of both tests and levels: " + claim(
        "the powers are nearly equal, and all levels are those of an exact test", lost < 0.1 and inside
    )


def chart(tables):
    """Power with both ways to permute, and levels of the test in batches."""
    power, table = tables[""], tables["levels"]
    made, (left, right) = figure(2.6, 2)
    for how, marker, colour in zip(HOW, "os", (GREY, BLUE), strict=True):
        left.plot(power[how], range(len(power)), marker, color=colour, label=how)
    rows(left, [name.replace(" of ", "\nof ").replace(" with ", "\nwith ") for name in power["data"]])
    left.set(xlabel=f"power at level {ALPHA:g}", xlim=(0.0, 1.0))
    right.axvspan(*region(int(table["trials"].max())), color="#DDDDDD", label="an exact test")
    names = list(dict.fromkeys(table["estimator"]))
    right.plot(table["level"], [names.index(name) for name in table["estimator"]], "s", color=BLUE)
    rows(right, names)
    right.set(xlabel="level, in batches", xlim=(0.0, 3.0 * ALPHA))
    handles, labels = left.get_legend_handles_labels()
    more, also = right.get_legend_handles_labels()
    made.legend(handles + more, labels + also, loc="outside upper center", ncols=3, frameon=False, fontsize="small")
    return made


def _fewer(levels: pd.DataFrame) -> str:
    """Which cells have fewer data sets than most."""
    few = levels[levels["trials"] < levels["trials"].max()]
    told = ", ".join(f"{row['estimator']}: {row['trials']}" for row in few.to_dict("records"))
    return f" ({told})" if told else ""


def page(tables) -> list[str]:
    """What the page says, from power and level."""
    power, levels = tables[""], tables["levels"]
    low, high = region(int(levels["trials"].max()))
    shown = power.assign(lost=[f"{r.lost:+.3f} ± {r.error:.3f}" for r in power.itertuples()])
    wide = levels.pivot(index="test", columns="estimator", values="level").loc[list(dict.fromkeys(levels["test"]))]
    named = {"test": "data"}
    effects = tables["effects"]
    least, most = region(int(effects["trials"].max()))
    return [
        f"{ROWS} pairs, {RANK} random Fourier features of each variable, 199 permutations, level {ALPHA:g}. What is "
        "lost is the power of the test in memory less that of the test in batches on the same data, with its 95 % "
        "interval; bandwidths are the same, random features are not.",
        markdown(shown.drop(columns="error")),
        "## Level",
        f"{int(levels['trials'].max())} null data sets a cell{_fewer(levels)}, half Gaussian and half Cauchy, 99 "
        f"permutations, rank 20; tables have a column of categories and one of numbers of which {100 * GAPS:.0f} % are "
        f"missing, which is said by indicators. An exact test is inside [{low:.4f}, {high:.4f}] with probability "
        f"99.9 %; {int(levels['inside'].sum())} of {len(levels)} cells are.",
        markdown(
            wide.map(lambda level: "-" if np.isnan(level) else f"{level:.3f}").reset_index().rename(columns=named)
        ),
        "## Intervals of effects",
        f"95 % intervals of the dependence, {int(effects['trials'].max())} data sets a cell, Gaussian kernels of "
        f"bandwidth 1, {RANK} random Fourier features of each variable. The truth is the dependence of {TRUE} pairs "
        "with the same features, for other features show another: two draws of them are here. Intervals that cover in "
        f"95 % of data sets are inside [{1.0 - most:.4f}, {1.0 - least:.4f}] with probability 99.9 %.",
        markdown(effects.drop(columns="trials")),
    ]


def main() -> None:
    args = options(__doc__.splitlines()[0], trials=1000, quick=1)
    jobs = [partial(compared, design, trial) for trial in range(args.trials) for design in DESIGNS]
    table = table_of(parts(args, NAME, jobs))
    nulls = Namespace(trials=NULLS * args.trials, workers=args.workers, store=args.store)
    levels = measured(nulls, cases(), "estimator", NAME)
    tables = {"": table, "levels": levels, "effects": coverage(args)}
    write(args, NAME, TITLE, page(tables), tables)


if __name__ == "__main__":
    main()
