"""Coverage of the intervals of differences of means and medians, plain and adjusted, of two samples.

2000 pairs of samples per setting, the second shifted by half a standard deviation and stretched by 1 or 1.5: normal,
lognormal and exponential data, whole numbers, and five grades; as independent rows, in groups, in blocks that are
unlike and not equally frequent in both samples, and with a covariate that differs between the samples.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from zlib import crc32

import numpy as np
import pandas as pd
from _charts import levels
from _study import claim, markdown, options, percent, write
from joblib import Parallel, delayed
from scipy import stats

from shrinktest._parallel import usable_cores
from shrinktest.effects.differences import (
    Adjustment,
    SampleContrast,
    adjusted_area,
    difference_of_medians,
)
from shrinktest.effects.row_units import RowUnits

NAME = "mean_differences"
TITLE = "Coverage of differences of means and medians"
CONFIDENCE, BELOW = 0.95, 0.93
SHIFT = 0.5
MEAN, MEDIAN = "mean difference", "median difference"
ADJUSTED, AREA = "adjusted mean difference", "adjusted AUC"
SIZES = ((20, 20), (20, 60), (60, 60), (200, 200))
STRETCHES = (1.0, 1.5)
WHOLE, GRADES = "whole numbers", "five grades"
DRAWS = {
    "normal": stats.norm(),
    "exponential": stats.expon(),
    "lognormal": stats.lognorm(1.0),
    WHOLE: stats.norm(scale=1.5),
}
#: Shares of the grades 0 to 4 in both samples.
OF_GRADES = ((0.1, 0.2, 0.4, 0.2, 0.1), (0.05, 0.15, 0.3, 0.3, 0.2))
#: Groups of each sample, and the correlation of normal scores in a group of 1 to 7 rows.
GROUPS = tuple((count, within) for count in (10, 30) for within in (0.0, 0.3, 0.9))
#: Blocks, and the rows of both samples in each of them.
BLOCKS = ((20, (1, 1)), (60, (1, 1)), (5, (4, 4)), (5, (4, 12)), (20, (3, 3)), (5, (40, 40)))
Trial = dict[str, tuple[float, float, float]]  # by measure, the truth and both limits


def drawn(draw: str, shares: np.ndarray, stretch: float, *, second: bool) -> np.ndarray:
    """Return the values of a sample at quantiles of its distribution."""
    if draw == GRADES:
        return np.searchsorted(np.cumsum(OF_GRADES[second])[:-1], shares, "right").astype(float)
    values = before_rounding(draw, shares, stretch, second=second)
    return np.rint(values) if draw == WHOLE else values


def before_rounding(draw: str, shares: np.ndarray, stretch: float, *, second: bool) -> np.ndarray:
    """Return the values of a sample before they become whole numbers."""
    values = DRAWS[draw].ppf(shares)
    return stretch * values + SHIFT * DRAWS[draw].std() if second else values


def truths(draw: str, stretch: float) -> dict[str, float]:
    """Return the true difference of means and of medians, and the AUC, of independent rows."""
    grid = (np.arange(400_000) + 0.5) / 400_000
    x, y = (drawn(draw, grid, stretch, second=second) for second in (False, True))
    below = np.searchsorted(x, y, "left") + np.searchsorted(x, y, "right")
    mean = float(y.mean() - x.mean())
    median = float(np.median(y) - np.median(x))
    return {MEAN: mean, ADJUSTED: mean, MEDIAN: median, AREA: float(0.5 * below.mean() / len(x))}


def rows(draw: str, stretch: float, sizes: tuple[int, int], rng) -> Iterator[Trial]:
    """Yield intervals from independent rows."""
    truth, units = truths(draw, stretch), RowUnits.rows(sizes)
    contrast = SampleContrast(units)
    while True:
        x = drawn(draw, rng.random(sizes[0]), stretch, second=False)
        y = drawn(draw, rng.random(sizes[1]), stretch, second=True)
        yield {
            MEAN: (truth[MEAN], *contrast.estimate(np.concatenate([x, y]), CONFIDENCE)[1:]),
            MEDIAN: (truth[MEDIAN], *difference_of_medians(x, y, units, CONFIDENCE)[1:]),
        }


def groups(draw: str, stretch: float, count: int, within: float, rng) -> Iterator[Trial]:
    """Yield intervals from groups of 1 to 7 rows, each group in one sample."""
    truth = truths(draw, stretch)
    while True:
        codes = np.repeat(np.arange(2 * count), rng.integers(1, 8, size=2 * count))
        second = codes >= count
        scores = within**0.5 * rng.normal(size=2 * count)[codes]
        shares = stats.norm.cdf(scores + (1.0 - within) ** 0.5 * rng.normal(size=len(codes)))
        x = drawn(draw, shares[~second], stretch, second=False)
        y = drawn(draw, shares[second], stretch, second=True)
        units = RowUnits((len(x), len(y)), codes)
        contrast = SampleContrast(units)
        yield {
            MEAN: (truth[MEAN], *contrast.estimate(np.concatenate([x, y]), CONFIDENCE)[1:]),
            MEDIAN: (truth[MEDIAN], *difference_of_medians(x, y, units, CONFIDENCE)[1:]),
        }


def adjusted(truth, contrast: SampleContrast, values: np.ndarray) -> Trial:
    """Return the intervals of adjusted effects."""
    return {
        ADJUSTED: (truth[ADJUSTED], *contrast.estimate(values, CONFIDENCE)[1:]),
        AREA: (truth[AREA], *adjusted_area(values, contrast, CONFIDENCE)[1:]),
    }


def blocks(draw: str, stretch: float, count: int, each: tuple[int, int], rng) -> Iterator[Trial]:
    """Yield intervals from blocks whose effects have a standard deviation of 4."""
    truth = truths(draw, stretch)
    sizes = (count * each[0], count * each[1])
    codes = np.concatenate([np.repeat(np.arange(count), number) for number in each])
    contrast = SampleContrast(RowUnits.rows(sizes), Adjustment("blocks", blocks=codes))
    while True:
        x = drawn(draw, rng.random(sizes[0]), stretch, second=False)
        y = drawn(draw, rng.random(sizes[1]), stretch, second=True)
        values = np.concatenate([x, y]) + np.rint(4.0 * rng.normal(size=count))[codes]
        yield adjusted(truth, contrast, values)


def with_covariate(draw: str, stretch: float, sizes: tuple[int, int], rng):
    """Return the values of both samples that grow with a covariate, and the covariate."""
    second = np.repeat([0.0, 1.0], sizes)
    z = rng.normal(size=sum(sizes)) + 0.7 * second
    x = before_rounding(draw, rng.random(sizes[0]), stretch, second=False)
    y = before_rounding(draw, rng.random(sizes[1]), stretch, second=True)
    values = np.concatenate([x, y]) + z
    return np.rint(values) if draw == WHOLE else values, z


def covariate(draw: str, stretch: float, sizes: tuple[int, int], rng) -> Iterator[Trial]:
    """Yield intervals with a covariate that is .7 standard deviations larger in the second sample."""
    truth = truths(draw, stretch)
    if draw == WHOLE:  # the mean is that before rounding, the AUC that of rounded values
        many = 1_000_000
        values, z = with_covariate(draw, stretch, (many, many), np.random.default_rng(0))
        left, right = np.sort((values - z)[:many]), (values - z)[many:]
        truth = {AREA: float(np.searchsorted(left, right).mean() / many)}
        truth[ADJUSTED] = SHIFT * DRAWS[draw].std()
    units = RowUnits.rows(sizes)
    while True:
        values, z = with_covariate(draw, stretch, sizes, rng)
        contrast = SampleContrast(units, Adjustment("z", covariates=z[:, None]))
        yield adjusted(truth, contrast, values)


def settings() -> Iterator[tuple[tuple[str, str, float], object]]:
    """Yield the design, the data and the stretch of every setting, with its trials."""
    for draw in (*DRAWS, GRADES):
        for stretch in STRETCHES[: 1 if draw == GRADES else None]:
            for sizes in SIZES:
                name = f"{sizes[0]} + {sizes[1]} rows"
                yield (name, draw, stretch), partial(rows, draw, stretch, sizes)
                if draw != GRADES:
                    name = f"covariate, {sizes[0]} + {sizes[1]} rows"
                    yield (name, draw, stretch), partial(covariate, draw, stretch, sizes)
        for count, within in GROUPS:
            name = f"{count} + {count} groups, correlation {within:g}"
            yield (name, draw, 1.0), partial(groups, draw, 1.0, count, within)
        if draw == GRADES:
            continue
        for count, each in BLOCKS:
            name = f"{count} blocks of {each[0]} + {each[1]} rows"
            yield (name, draw, 1.5), partial(blocks, draw, 1.5, count, each)


def counted(key: tuple[str, str, float], trial, trials: int) -> list[dict]:
    """Return the coverage of every measure of a setting."""
    rng = np.random.default_rng(crc32(str(key).encode()))
    hits: dict[str, list[bool]] = {}
    source = trial(rng)
    for _ in range(trials):
        for measure, (truth, low, high) in next(source).items():
            if np.isfinite(low):
                slack = 1e-9 * (1.0 + abs(truth))
                hits.setdefault(measure, []).append(low - slack <= truth <= high + slack)
    names = dict(zip(("design", "data", "stretch"), key, strict=True))
    return [
        {
            **names,
            "measure": measure,
            "coverage": np.mean(each),
            "trials": trials,
            "intervals": len(each),
        }
        for measure, each in hits.items()
    ]


def measured(args) -> pd.DataFrame:
    """Return the coverage in every setting."""
    jobs = (delayed(counted)(key, trial, args.trials) for key, trial in settings())
    parts = Parallel(n_jobs=args.workers or usable_cores())(jobs)
    return pd.DataFrame([row for part in parts for row in part])


def opening(tables) -> str:
    """Summarize the results in two sentences."""
    table = tables[""]
    low = table.loc[table["coverage"].idxmin()]
    return (
        f"95% intervals covered the truth in at least 93% of data sets in {int((table['coverage'] >= BELOW).sum())} of "
        f"{len(table)} settings. The lowest coverage was {percent(low['coverage'])} ({low['measure']}, "
        f"{low['data']}, "
        f"{low['design']})."
    )


def alt(tables) -> str:
    """Describe the figure."""
    least = tables[""]["coverage"].min()
    return "Coverage of 95% intervals by measure: " + claim("never far below 95%", least > 0.92)


def chart(tables):
    """Draw the coverage of 95% intervals by measure."""
    table = tables[""]
    groups = {name: some["coverage"] for name, some in table.groupby("measure", sort=False)}
    return levels(groups, table["trials"].max(), 0.95, xlabel="coverage of 95% intervals")


def wide(table: pd.DataFrame, measure: str, chosen: str) -> str:
    """Return a table of the lowest coverage of a measure, of designs whose name has a word."""
    some = table[(table["measure"] == measure) & table["design"].str.contains(chosen)]
    out = some.pivot_table(index="design", columns="data", values="coverage", aggfunc="min")
    out = out.loc[list(dict.fromkeys(some["design"])), list(dict.fromkeys(some["data"]))]
    return markdown(out.reset_index())


def page(tables) -> list[str]:
    """Write the section from the coverage in all settings."""
    table = tables[""]
    summary = pd.DataFrame(
        [
            {
                "measure": name,
                "settings": len(some),
                "below 93%": int((some["coverage"] < BELOW).sum()),
                "coverage": f"{percent(some['coverage'].min())} to {percent(some['coverage'].max())}",
            }
            for name, some in table.groupby("measure", sort=False)
        ]
    )
    few = table[table["coverage"] < BELOW]
    which = "; ".join(
        f"{row.measure}, {row.data}, {row.design} ({percent(row.coverage)})"
        for row in few.itertuples()
    )
    return [
        markdown(summary),
        f"Below 93%: {which or 'none'}.",
        "Intervals of medians are too long where values are tied, because their "
        "limits are differences of observed values. Adjusted "
        "AUCs are conservative in blocks of few rows.",
        f"Each setting has {int(table['trials'].max())} pairs of samples; those without an interval (at most "
        f"{percent((1.0 - table['intervals'] / table['trials']).max())} of a setting) "
        f"are left out. The second sample is shifted by {SHIFT:g} "
        "standard deviations and stretched by 1 or 1.5 (the tables show the lower of the two "
        "coverages). Effects of blocks have a standard deviation of 4 (normal data: 1), and the "
        "covariate is 0.7 standard deviations larger in the second sample.",
        "## Means of rows and groups",
        wide(table, MEAN, "rows|groups"),
        "## Medians of rows and groups",
        wide(table, MEDIAN, "rows|groups"),
        "## Means within blocks and with a covariate",
        wide(table, ADJUSTED, "rows"),
        "## AUCs within blocks and with a covariate",
        wide(table, AREA, "rows"),
    ]


def main() -> None:
    args = options(__doc__.splitlines()[0], trials=2000, quick=20)
    table = measured(args)
    write(args, NAME, TITLE, page({"": table}), table)


if __name__ == "__main__":
    main()
