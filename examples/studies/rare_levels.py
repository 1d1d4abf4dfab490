"""Level of ``equivalence_test`` for rare values: columns of True and False, with few of one of them.

The margin is the true effect, so that an exact test at the 0.05 level rejects in 5% of data sets.  Results have a note
where too few rows differ from the most common one; rejections with and without it are counted separately.  Data sets
of independent rows and pairs are enumerated: every count of True is tested and weighted by its probability.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import product

import numpy as np
import pandas as pd
from _levels import ALPHA, generator, rate
from _levels import chart as level_chart
from _study import in_processes, markdown, percent, run
from scipy.stats import multinomial

from shrinktest import equivalence_test

NAME = "rare_levels"
ROWS, PAIRS, DEPENDENCE, GROUPS, BLOCKS = "rows", "pairs", "dependence", "groups", "blocks"
SIZES = ((20, 20), (50, 50), (100, 100), (200, 200), (500, 500), (50, 200), (200, 50))
SHARES = (0.02, 0.05, 0.1, 0.2)  # of True in X
OTHERS = (0.0, 0.5)  # times as many in Y
FEW = (20, 50, 100, 200)  # pairs, or rows of two variables
BOTH = (0.25, 0.75)  # share of the Trues of Y that are paired with a True
VARIABLES = ((0.05, 0.05), (0.1, 0.1), (0.05, 0.2), (0.2, 0.2))  # shares of True
TOGETHER = (0.3, 0.4, 0.8)  # share of the rarer Trues that come with one of the other variable
NUMBERS, MEMBERS = (25, 50, 100), 4  # of groups and of blocks, and of the rows in each
RATES = (3.0, 0.5)  # share of True in a fifth of the blocks, and in the others, times that of all
ALIKE = 1.0  # a and b of the beta distribution of a group's share of True add up to it: groups are nearly all one value
KERNEL = float(np.exp(-0.5))  # between True and False, with the bandwidth 1
LEAST = 1e-4  # share of data sets, the least likely, that is not tested and counted as rejected
OFTEN = 0.05  # share of data sets without a note from which their rejection rate is given
NOTED = ("differ from the most common", "differs from the most common")


def distance(p: float, q: float) -> float:
    """Return the distance of samples with these shares of True."""
    within, across = (
        1.0 - (1.0 - KERNEL) * share
        for share in (p * (1.0 - p) + q * (1.0 - q), p + q - 2.0 * p * q)
    )
    return 1.0 - across / within


def dependence(p: float, q: float, both: float) -> float:
    """Return the squared correlation of variables with these shares of True."""
    return (both - p * q) ** 2 / (p * (1.0 - p) * q * (1.0 - q))


def counts_of(n: int, *chances: float) -> Iterator[tuple[tuple[int, ...], float]]:
    """Yield counts of categories among n draws with their chances, without the least likely and the last category."""
    spread = [np.sqrt(n * p * (1.0 - p)) for p in chances]
    ranges = [
        range(max(0, int(n * p - 6 * s - 2)), min(n, int(n * p + 7 * s + 4)) + 1)
        for p, s in zip(chances, spread, strict=True)
    ]
    grid = np.array([counts for counts in product(*ranges) if sum(counts) <= n])
    every = np.column_stack([grid, n - grid.sum(axis=1)])
    chance = np.exp(multinomial(n, [*chances, 1.0 - sum(chances)]).logpmf(every))
    order = np.argsort(-chance, kind="stable")
    for i in order[: 1 + int(np.searchsorted(np.cumsum(chance[order]), 1.0 - LEAST))]:
        yield tuple(map(int, grid[i])), float(chance[i])


def column(true: int, n: int) -> np.ndarray:
    return np.repeat([1.0, 0.0], [true, n - true])


def answer(x: np.ndarray, y: np.ndarray, margin: float, **design) -> tuple[bool, bool]:
    """Return whether the test rejects, and whether it has the note."""
    varies = (
        np.ptp(x) * np.ptp(y)
        if design["measure"] == "dependence"
        else np.ptp(np.concatenate([x, y]))
    )
    if varies == 0.0 or (design["measure"] == "distance" and np.array_equal(x, y)):
        return False, True  # an error: there is nothing to compare
    result = equivalence_test(x, y, margin=margin, bandwidth=1.0, workers=1, rng=0, **design)
    return bool(result.reject(ALPHA)), any(word in note for note in result.notes for word in NOTED)


def tally_rows(p: float, q: float, sizes: tuple[int, int]) -> Counter:
    """Return the chances of (rejected, noted) for two independent samples."""
    tally, margin = Counter(), distance(p, q)
    ones = [
        list(counts_of(n, share)) if share else [((0,), 1.0)]
        for n, share in zip(sizes, (p, q), strict=True)
    ]
    for ((k,), first), ((j,), second) in product(*ones):
        if first * second > LEAST / (len(ones[0]) * len(ones[1])):
            tally[
                answer(column(k, sizes[0]), column(j, sizes[1])[::-1], margin, measure="distance")
            ] += first * second
    return tally


def tally_both(measure: str, p: float, q: float, both: float, n: int) -> Counter:
    """Return the chances of (rejected, noted) for pairs, or for two variables, that are True together so often."""
    tally = Counter()
    margin = dependence(p, q, both) if measure == "dependence" else distance(p, q)
    design = (
        {"measure": measure} if measure == "dependence" else {"measure": measure, "paired": True}
    )
    for (x_only, y_only, both_true), chance in counts_of(n, p - both, q - both, both):
        x = column(x_only + both_true, n)
        y = np.roll(column(y_only + both_true, n), x_only)
        tally[answer(x, y, margin, **design)] += chance
    return tally


def tally_groups(p: float, q: float, n: int, trials: int) -> Counter:
    """Return the chances of (rejected, noted) for samples of n groups, whose shares of True differ."""
    rng = generator(f"groups {p} {q}", n)
    tally = Counter()
    groups = (np.repeat(np.arange(n), MEMBERS), n + np.repeat(np.arange(n), MEMBERS))
    for _ in range(trials):
        rates = [
            rng.beta(ALIKE * r, ALIKE * (1.0 - r), size=n) if r else np.zeros(n) for r in (p, q)
        ]
        x, y = (
            (rng.random(n * MEMBERS) < np.repeat(rate, MEMBERS)).astype(float) for rate in rates
        )
        tally[answer(x, y, distance(p, q), measure="distance", groups=groups)] += 1.0 / trials
    return tally


def tally_blocks(p: float, q: float, n: int, trials: int) -> Counter:
    """Return the chances of (rejected, noted) for samples in n blocks; a fifth of them has more Trues."""
    rng = generator(f"blocks {p} {q}", n)
    tally = Counter()
    blocks = np.repeat(np.arange(n), MEMBERS)
    rates = np.where(np.arange(n) % 5 == 0, *RATES)
    for _ in range(trials):
        x, y = ((rng.random(n * MEMBERS) < r * rates[blocks]).astype(float) for r in (p, q))
        tally[answer(x, y, distance(p, q), measure="distance", blocks=(blocks, blocks))] += (
            1.0 / trials
        )
    return tally


def jobs_of(trials: int) -> Iterator[tuple[dict, Callable[..., Counter], tuple]]:
    """Yield the first columns of each row of the table, the function, and its arguments."""
    quick = trials < 100
    for (m, n), p, times in product(SIZES[: 2 if quick else None], SHARES, OTHERS):
        row = {"data": ROWS, "first": p, "second": times * p, "rows": f"{m} and {n}"}
        yield row, tally_rows, (p, times * p, (m, n))
    for n, p, times, part in product(FEW[: 1 if quick else None], SHARES, OTHERS, BOTH):
        both = part * times * p
        if times or part == BOTH[0]:
            row = {"data": PAIRS, "first": p, "second": times * p, "both": both, "rows": str(n)}
            yield row, tally_both, ("distance", p, times * p, both, n)
    for n, (p, q), part in product(FEW[: 1 if quick else None], VARIABLES, TOGETHER):
        both = part * min(p, q)
        row = {"data": DEPENDENCE, "first": p, "second": q, "both": both, "rows": str(n)}
        yield row, tally_both, ("dependence", p, q, both, n)
    for data, function in ((GROUPS, tally_groups), (BLOCKS, tally_blocks)):
        for n, p, times in product(NUMBERS[: 1 if quick else None], SHARES, OTHERS):
            row = {
                "data": data,
                "first": p,
                "second": times * p,
                "rows": f"{n} times {MEMBERS}",
                "trials": trials,
            }
            yield row, function, (p, times * p, n, trials)


def tallied(function: Callable[..., Counter], arguments: tuple) -> Counter:
    """Return the chances of a design."""
    return function(*arguments)


def measured(args) -> pd.DataFrame:
    """Return rejections and notes in every design."""
    jobs = list(jobs_of(args.trials))[:: 1 if args.trials >= 100 else 3]
    counted = in_processes(
        args, tallied, [(function, arguments) for _, function, arguments in jobs]
    )
    rows = []
    for (row, _, _), tally in zip(jobs, counted, strict=True):
        omitted = max(
            0.0, 1.0 - sum(tally.values())
        )  # the chance of data sets that were not tested
        alone = tally[True, False]
        unnoted = alone + tally[False, False]
        rejected = tally[True, True] + alone + omitted
        row = {"both": np.nan, "trials": 0} | row | {"rejected": rejected, "unnoted": unnoted}
        row |= {
            "rejected_unnoted": alone / unnoted if unnoted >= OFTEN else np.nan,
            "low": np.nan,
            "high": np.nan,
        }
        if row["trials"] and unnoted >= OFTEN:
            drawn = round(unnoted * row["trials"])
            share = rate(round(alone * row["trials"]), drawn)
            row |= {"low": share["low"], "high": share["high"]}
        rows.append(row)
    return pd.DataFrame(rows)


def chart(tables):
    """Draw the Type I error rates of all data sets and of those without the note."""
    table = tables[""]
    groups = {}
    for data, some in table.groupby("data", sort=False):
        groups[f"{data}, all"] = some["rejected"]
        groups[f"{data}, no note"] = some["rejected_unnoted"].dropna()
    groups = {name: rates for name, rates in groups.items() if len(rates)}
    return level_chart(
        groups, table["trials"].max(), [name for name in groups if name.endswith("all")]
    )


def values(tables) -> dict:
    """Return the numbers, tables and claims of the section."""
    table = tables[""]
    titles = {
        ROWS: "two samples",
        PAIRS: "pairs",
        DEPENDENCE: "two variables",
        GROUPS: "groups",
        BLOCKS: "blocks",
    }
    worst = table.groupby("data", sort=False).agg(
        designs=("rejected", "size"), every=("rejected", "max"), unnoted=("rejected_unnoted", "max")
    )
    worst[["every", "unnoted"]] = worst[["every", "unnoted"]].map(percent)
    names = {"every": "highest rate", "unnoted": "highest rate without note"}
    return {
        "level": f"{ALPHA:g}",
        "rejected_max": f"{table['rejected'].max():.0%}",
        "rejected_unnoted_max": percent(table["rejected_unnoted"].max()),
        "drawn": table["rejected"].max() > 0.2 and table["rejected_unnoted"].max() < 0.08,
        "worst": markdown(worst.rename(index=titles).reset_index().rename(columns=names)),
        "members": MEMBERS,
        "trials": table["trials"].max(),
    }


if __name__ == "__main__":
    run(__doc__, NAME, measured, values, chart, trials=2000, quick=4)
