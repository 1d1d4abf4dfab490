"""Coverage of the intervals of effects: separability and distance of two samples, dependence of two variables.

Samples of uniform, t, exponential and normal data, equal, shifted, scaled or with another correlation; pairs that are
independent, or related by a line, a wave or their spread.  Each with no, a small, a medium and a large effect.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from zlib import crc32

import numpy as np
import pandas as pd
from _charts import levels
from _study import claim, markdown, options, percent, write
from joblib import Parallel, delayed
from scipy.stats.qmc import Sobol

from shrinktest import independence_test, two_sample_test
from shrinktest._parallel import usable_cores
from shrinktest.effects.dependence import dependence
from shrinktest.effects.distance import NORMS, VARIANCE, Pair, distance
from shrinktest.estimators import as_estimator
from shrinktest.kernels import as_kernel
from shrinktest.statistics.features import KernelFeatures
from shrinktest.statistics.mmd import estimates_of

NAME = "effect_coverage"
TITLE = "Coverage of the intervals of differences and dependences"
CONFIDENCE = 0.95
SIZES = ((20, 20), (50, 50), (200, 200), (1000, 1000), (20, 60), (50, 200))
NUMBERS = (20, 50, 200, 1000)
FEWER = (50, 200)  # with another kernel
FOLDS = 5
_TEST = 2**11  # points of each distribution that give the true AUC
_LARGE = 2500  # observations, times _TIMES, that give the true distance and dependence
_TIMES = 12


# --- data: functions of uniform numbers, so that the truth is known with little error -------------------------------


def moved(shift: float, u: np.ndarray, second: bool) -> np.ndarray:
    """Draw uniform data in two columns, the first shifted by so many standard deviations."""
    x = np.sqrt(12.0) * (u[:, :2] - 0.5)
    x[:, 0] += shift * second
    return x


def stretched(factor: float, u: np.ndarray, second: bool) -> np.ndarray:
    """Draw t data (5 degrees of freedom) in three columns, scaled."""
    from scipy.special import stdtrit

    return stdtrit(5.0, u[:, :3]) * (factor if second else 1.0)


def turned(correlation: float, u: np.ndarray, second: bool) -> np.ndarray:
    """Draw normal data in four columns; the first two are correlated, with opposite signs in the samples."""
    from scipy.special import ndtri

    x = ndtri(u[:, :4])
    r = -correlation if second else correlation
    x[:, 1] = r * x[:, 0] + np.sqrt(1.0 - r**2) * x[:, 1]
    return x


def skewed(factor: float, u: np.ndarray, second: bool) -> np.ndarray:
    """Draw exponential data in one column, scaled."""
    return -np.log1p(-u[:, :1]) * (factor if second else 1.0)


#: Two samples: label, function, and its parameter for no, a small, a medium and a large effect.
SAMPLES: dict[str, tuple[Callable, tuple[float, ...]]] = {
    "uniform, moved": (moved, (0.0, 0.25, 0.7, 1.8)),
    "t, stretched": (stretched, (1.0, 1.3, 1.8, 3.0)),
    "normal, turned": (turned, (0.0, 0.2, 0.45, 0.8)),
    "exponential, stretched": (skewed, (1.0, 1.4, 2.0, 5.0)),
}


def line(strength: float, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Draw t data (5 degrees of freedom) in two columns; y follows the first with this slope."""
    from scipy.special import stdtrit

    z = stdtrit(5.0, u[:, :4])
    y = z[:, 2:].copy()
    y[:, 0] += strength * z[:, 0]
    return z[:, :2], y


def wave(strength: float, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Draw a sine of uniform x, in standard deviations of the noise."""
    from scipy.special import ndtri

    x = u[:, :1]
    return x, strength * np.sqrt(2.0) * np.sin(2.0 * np.pi * x) + ndtri(u[:, 1:2])


def spreading(strength: float, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Draw noise whose spread grows with x."""
    from scipy.special import ndtri

    x = ndtri(u[:, :1])
    return x, np.exp(strength * x) * ndtri(u[:, 1:2])


PAIRS: dict[str, tuple[Callable, tuple[float, ...]]] = {
    "line, two columns": (line, (0.0, 0.4, 1.0, 3.0)),
    "wave": (wave, (0.0, 0.4, 1.0, 3.0)),
    "spread": (spreading, (0.0, 0.3, 0.7, 1.5)),
}
STRENGTHS = ("none", "small", "middling", "large")
KERNELS = ("gaussian", "energy")


def samples_of(design: str, level: int, rng: np.random.Generator, sizes) -> list[np.ndarray]:
    """Draw two samples."""
    function, levels = SAMPLES[design]
    return [function(levels[level], rng.random((n, 4)), bool(k)) for k, n in enumerate(sizes)]


def pairs_of(
    design: str, level: int, rng: np.random.Generator, n: int
) -> tuple[np.ndarray, np.ndarray]:
    """Draw pairs of observations."""
    function, levels = PAIRS[design]
    return function(levels[level], rng.random((n, 4)))


# --- coverage ------------------------------------------------------------------------------------------------------


def kernel_of(design: str, level: int, kernel: str):
    """Return the kernel with a bandwidth that is the same for all samples; for pairs, one for each variable."""
    if design in SAMPLES:
        points = np.vstack(samples_of(design, level, np.random.default_rng(1), (1000, 1000)))
        return as_kernel(kernel).resolve(points)
    variables = pairs_of(design, level, np.random.default_rng(1), 2000)
    return tuple(as_kernel(kernel).resolve(values) for values in variables)


def true_effect(design: str, level: int, kernel: str, times: int) -> float:
    """Return the distance of the distributions, or the dependence, from this many large samples."""
    if not level:
        return 0.0
    known, source, values = kernel_of(design, level, kernel), np.random.default_rng(2), []
    for _ in range(times):
        if design in PAIRS:
            variables = pairs_of(design, level, source, _LARGE)
            x, y = (
                KernelFeatures(fixed, points)
                for fixed, points in zip(known, variables, strict=True)
            )
            values.append(dependence(x, y).value)
        else:
            wide = Pair(np.arange(2 * _LARGE) >= _LARGE, np.arange(2 * _LARGE))
            features = KernelFeatures(
                known, np.vstack(samples_of(design, level, source, (_LARGE, _LARGE)))
            )
            values.append(
                distance(features, wide, NORMS if known.never_negative else VARIANCE).value
            )
    return float(np.mean(values))


def apart(
    design: str,
    level: int,
    kernel: str,
    estimator: str,
    truth: float,
    sizes: tuple[int, int],
    trials: int,
) -> list[dict]:
    """Return the coverage and the mean length of the intervals of two samples."""
    rng = np.random.default_rng([crc32(f"{design} {level} {kernel}".encode()), *sizes])
    known = kernel_of(design, level, kernel)
    function, levels = SAMPLES[design]
    u = np.clip(Sobol(4, seed=3).random(_TEST), 1e-9, 1.0 - 1e-9)
    test = [function(levels[level], u, bool(k)) for k in range(2)]
    intervals = []
    for trial in range(trials):
        data = samples_of(design, level, rng, sizes)
        result = two_sample_test(
            *data, kernel=known, estimator=estimator, n_resamples=0, rng=0, workers=1
        )
        effect = result.effect(rng=trial)
        area = 0.5
        if level:
            area = true_area(known, estimator, data, test, trial)
        (low, high), (below, above) = effect.distance_interval, effect.auc_interval
        intervals.append(
            (low <= truth <= high, high - low, truth, below <= area <= above, above - below, area)
        )
    means = np.mean(intervals, axis=0)
    shared = {"data": design, "effect": STRENGTHS[level], "kernel": kernel, "estimator": estimator}
    shared |= {"n": f"{sizes[0]} + {sizes[1]}", "trials": trials}
    rows = [
        {
            **shared,
            "measure": "distance",
            "truth": means[2],
            "coverage": means[0],
            "length": means[1],
        }
    ]
    return [
        *rows,
        {**shared, "measure": "auc", "truth": means[5], "coverage": means[3], "length": means[4]},
    ]


def true_area(kernel, estimator: str, data, test, seed: int) -> float:
    """Return the AUC of the functions of all folds, at many points of both distributions."""
    from shrinktest.effects.separability import comparisons, fold_codes

    m, n = map(len, data)
    second = np.arange(m + n) >= m
    folds = fold_codes(
        np.arange(m + n), second.astype(np.int64), FOLDS, np.random.default_rng(seed)
    )
    pooled, areas = np.vstack(data), []
    fitting, where = as_estimator(estimator), np.repeat([False, True], _TEST)
    if estimator == "kme":  # all folds at once
        weights = np.zeros((m + n, FOLDS))
        for k in range(FOLDS):
            for part, sign in ((~second, 1.0), (second, -1.0)):
                fitted = part & (folds != k)
                weights[fitted, k] = sign / fitted.sum()
        functions = [kernel(points, pooled) @ weights for points in test]
    else:
        fits = [
            estimates_of(
                fitting,
                kernel,
                [pooled[part & (folds != k)] for part in (~second, second)],
                "sample",
            )
            for k in range(FOLDS)
        ]
        functions = [
            np.stack([x.embedding(points) - y.embedding(points) for x, y in fits], axis=1)
            for points in test
        ]
    for k in range(FOLDS):
        scores = np.concatenate([values[:, k] for values in functions])
        won, compared, _ = comparisons(scores, where, np.zeros(2 * _TEST, dtype=np.int64))
        areas.append(won[~where].sum() / compared[~where].sum())
    return float(np.mean(areas))


def bound(design: str, level: int, kernel: str, truth: float, n: int, trials: int) -> list[dict]:
    """Return the coverage and the mean length of the intervals of the dependence of two variables."""
    rng = np.random.default_rng([crc32(f"{design} {level} {kernel}".encode()), n])
    kernels = kernel_of(design, level, kernel)
    intervals = []
    for _ in range(trials):
        x, y = pairs_of(design, level, rng, n)
        result = independence_test(
            x, y, kernel_x=kernels[0], kernel_y=kernels[1], n_resamples=0, rng=0, workers=1
        )
        low, high = result.effect().dependence_interval
        intervals.append((low <= truth <= high, high - low))
    means = np.mean(intervals, axis=0)
    shared = {
        "data": design,
        "effect": STRENGTHS[level],
        "kernel": kernel,
        "estimator": "kme",
        "n": str(n),
    }
    shared |= {"trials": trials, "measure": "dependence", "truth": truth}
    return [{**shared, "coverage": means[0], "length": means[1]}]


def measured(args) -> pd.DataFrame:
    """Return the coverage in every setting."""
    parallel = Parallel(n_jobs=args.workers or usable_cores())
    cells = [
        (d, level, k)
        for d in (*SAMPLES, *PAIRS)
        for level in range(len(STRENGTHS))
        for k in KERNELS
    ]
    truths = parallel(
        delayed(true_effect)(*cell, _TIMES if args.trials > 100 else 1) for cell in cells
    )
    jobs: list[tuple[int, partial]] = []
    for (design, level, kernel), truth in zip(cells, truths, strict=True):
        if design in PAIRS:
            numbers = NUMBERS if kernel == "gaussian" else FEWER
            jobs += [
                (n, partial(bound, design, level, kernel, truth, n, args.trials)) for n in numbers
            ]
            continue
        sizes = SIZES if kernel == "gaussian" else tuple((n, n) for n in FEWER)
        jobs += [
            (sum(n), partial(apart, design, level, kernel, "kme", truth, n, args.trials))
            for n in sizes
        ]
        if kernel == "gaussian":
            jobs.append(
                (1000, partial(apart, design, level, kernel, "fkmse", truth, (50, 50), args.trials))
            )
    jobs.sort(key=lambda job: -job[0])
    parts = parallel(delayed(job)() for _, job in jobs)
    table = pd.DataFrame([row for part in parts for row in part])
    keys = {"effect": list(STRENGTHS), "n": [*(f"{m} + {n}" for m, n in SIZES), *map(str, NUMBERS)]}
    order = table.assign(**{name: table[name].map(values.index) for name, values in keys.items()})
    columns = ["measure", "estimator", "kernel", "data", "effect", "n"]
    order = order.sort_values(columns).index
    return table.loc[order, [*columns, "truth", "coverage", "length", "trials"]].reset_index(
        drop=True
    )


def opening(tables) -> str:
    """Summarize the results in two sentences."""
    coverage = tables[""]["coverage"]
    return (
        f"Over {len(coverage)} settings, 95% intervals covered the truth in {percent(coverage.min())} to "
        f"{percent(coverage.max())} of data sets (median {percent(coverage.median())}). Coverage is below 93% in "
        f"{int((coverage < 0.93).sum())} settings, and above 97%, where intervals are longer than necessary, in "
        f"{int((coverage > 0.97).sum())}."
    )


def alt(tables) -> str:
    """Describe the figure."""
    share = tables[""]["coverage"]
    return "Coverage of 95% intervals by measure: " + claim(
        "most settings between 93% and 97%", share.between(0.93, 0.97).mean() > 0.5
    )


def chart(tables):
    """Draw the coverage of 95% intervals by measure."""
    table = tables[""].replace({"measure": {"auc": "separability"}})
    groups = {name: some["coverage"] for name, some in table.groupby("measure")}
    return levels(groups, table["trials"].max(), 0.95, xlabel="coverage of 95% intervals")


def page(tables) -> list[str]:
    """Write the section from the coverage in all settings."""
    table = tables[""].replace({"measure": {"auc": "separability (AUC)"}})
    trials = int(table["trials"].max())
    rows = []
    for measure, coverage in table.groupby("measure")["coverage"]:
        row = {"measure": measure, "settings": len(coverage)}
        row["coverage"] = f"{percent(coverage.min())} to {percent(coverage.max())}"
        row["median"] = percent(coverage.median())
        rows.append(
            row
            | {"below 93%": int((coverage < 0.93).sum()), "above 97%": int((coverage > 0.97).sum())}
        )
    lowest = "; ".join(
        f"{percent(row.coverage)} ({row.measure}, {row.data}, {row.effect.replace('middling', 'medium')} effect, "
        f"{row.kernel} kernel, n = {row.n})"
        for row in table.nsmallest(3, "coverage").itertuples()
    )
    return [
        markdown(pd.DataFrame(rows)),
        f"The three lowest coverages are {lowest}.",
        f"Each setting has {trials} data sets of 20 to 1000 rows, with no, a small, a medium or a large effect and a "
        "fixed kernel. The true distance and dependence come from large samples, whereas "
        f"the true separability comes from {_TEST} points of each distribution, scored by the "
        "fitted functions.",
    ]


def main() -> None:
    args = options(__doc__.splitlines()[0], trials=2000, quick=4)
    table = measured(args)
    write(args, NAME, TITLE, page({"": table}), table)


if __name__ == "__main__":
    main()
