"""Level of ``equivalence_test`` for rare values: columns of True and False, with few of one of them.

The margin is the true effect, where a test at the level .05 may reject in 5 % of data sets.  Results have a note where
too few rows differ from the most common one; rejections with and without it are counted apart.  Data sets of rows and
of pairs that are independent are not drawn: all counts of True are tested, each with its chance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import product
from zlib import crc32

import numpy as np
import pandas as pd
from _charts import levels
from _study import claim, markdown, options, write
from joblib import Parallel, delayed
from scipy.stats import multinomial
from statsmodels.stats.proportion import proportion_confint

from shrinktest import equivalence_test
from shrinktest._parallel import usable_cores

NAME = "rare_levels"
TITLE = "Equivalence of rare values"
ALPHA = 0.05
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
LEAST = 1e-4  # of all data sets are left out, the least likely, and taken as rejected
OFTEN = 0.05  # of the data sets: in designs where fewer have no note, there is no share of these
NOTED = ("differ from the most common", "differs from the most common")


def distance(p: float, q: float) -> float:
    """The distance of samples with these shares of True."""
    within, across = (1.0 - (1.0 - KERNEL) * one for one in (p * (1.0 - p) + q * (1.0 - q), p + q - 2.0 * p * q))
    return 1.0 - across / within


def dependence(p: float, q: float, both: float) -> float:
    """The dependence of variables with these shares of True: the square of their correlation."""
    return (both - p * q) ** 2 / (p * (1.0 - p) * q * (1.0 - q))


def counts_of(n: int, *chances: float) -> Iterator[tuple[tuple[int, ...], float]]:
    """Counts of categories among n draws with their chances, the least likely left out; the last category is the rest.

    Its own count is not among them.
    """
    spread = [np.sqrt(n * p * (1.0 - p)) for p in chances]
    ranges = [
        range(max(0, int(n * p - 6 * s - 2)), min(n, int(n * p + 7 * s + 4)) + 1)
        for p, s in zip(chances, spread, strict=True)
    ]
    grid = np.array([one for one in product(*ranges) if sum(one) <= n])
    every = np.column_stack([grid, n - grid.sum(axis=1)])
    chance = np.exp(multinomial(n, [*chances, 1.0 - sum(chances)]).logpmf(every))
    order = np.argsort(-chance, kind="stable")
    for i in order[: 1 + int(np.searchsorted(np.cumsum(chance[order]), 1.0 - LEAST))]:
        yield tuple(map(int, grid[i])), float(chance[i])


def column(true: int, n: int) -> np.ndarray:
    return np.repeat([1.0, 0.0], [true, n - true])


def answer(x: np.ndarray, y: np.ndarray, margin: float, **told) -> tuple[bool, bool]:
    """Whether the test rejects, and whether it has the note."""
    varies = np.ptp(x) * np.ptp(y) if told["measure"] == "dependence" else np.ptp(np.concatenate([x, y]))
    if varies == 0.0 or (told["measure"] == "distance" and np.array_equal(x, y)):
        return False, True  # an error: there is nothing to compare
    found = equivalence_test(x, y, margin=margin, bandwidth=1.0, workers=1, **told)
    return bool(found.reject(ALPHA)), any(word in note for note in found.notes for word in NOTED)


def of_rows(p: float, q: float, sizes: tuple[int, int]) -> Counter:
    """Chances of (rejected, noted) for two independent samples."""
    seen, margin = Counter(), distance(p, q)
    ones = [list(counts_of(n, share)) if share else [((0,), 1.0)] for n, share in zip(sizes, (p, q), strict=True)]
    for ((k,), first), ((j,), second) in product(*ones):
        if first * second > LEAST / (len(ones[0]) * len(ones[1])):
            seen[answer(column(k, sizes[0]), column(j, sizes[1])[::-1], margin, measure="distance")] += first * second
    return seen


def of_pairs(p: float, q: float, both: float, n: int) -> Counter:
    """Chances of (rejected, noted) for pairs of which so many have True twice."""
    seen, margin = Counter(), distance(p, q)
    for (one, other, two), chance in counts_of(n, p - both, q - both, both):
        x, y = column(one + two, n), np.roll(column(other + two, n), one)
        seen[answer(x, y, margin, measure="distance", paired=True)] += chance
    return seen


def of_variables(p: float, q: float, both: float, n: int) -> Counter:
    """Chances of (rejected, noted) for two variables that are True together so often."""
    seen, margin = Counter(), dependence(p, q, both)
    for (one, other, two), chance in counts_of(n, p - both, q - both, both):
        x, y = column(one + two, n), np.roll(column(other + two, n), one)
        seen[answer(x, y, margin, measure="dependence")] += chance
    return seen


def of_groups(p: float, q: float, n: int, trials: int) -> Counter:
    """Chances of (rejected, noted) for samples of n groups, whose shares of True differ."""
    rng, seen = np.random.default_rng([crc32(f"groups {p} {q}".encode()), n]), Counter()
    groups = (np.repeat(np.arange(n), MEMBERS), n + np.repeat(np.arange(n), MEMBERS))
    for _ in range(trials):
        rates = [rng.beta(ALIKE * r, ALIKE * (1.0 - r), size=n) if r else np.zeros(n) for r in (p, q)]
        x, y = ((rng.random(n * MEMBERS) < np.repeat(rate, MEMBERS)).astype(float) for rate in rates)
        seen[answer(x, y, distance(p, q), measure="distance", groups=groups)] += 1.0 / trials
    return seen


def of_blocks(p: float, q: float, n: int, trials: int) -> Counter:
    """Chances of (rejected, noted) for samples in n blocks; a fifth of these has more Trues than the others."""
    rng, seen = np.random.default_rng([crc32(f"blocks {p} {q}".encode()), n]), Counter()
    blocks = np.repeat(np.arange(n), MEMBERS)
    rates = np.where(np.arange(n) % 5 == 0, *RATES)
    for _ in range(trials):
        x, y = ((rng.random(n * MEMBERS) < r * rates[blocks]).astype(float) for r in (p, q))
        seen[answer(x, y, distance(p, q), measure="distance", blocks=(blocks, blocks))] += 1.0 / trials
    return seen


def jobs_of(trials: int) -> Iterator[tuple[dict, Callable[..., Counter], tuple]]:
    """What is measured: how the row of the table begins, the function, and its arguments."""
    quick = trials < 100
    for (m, n), p, times in product(SIZES[: 2 if quick else None], SHARES, OTHERS):
        yield {"data": ROWS, "first": p, "second": times * p, "rows": f"{m} and {n}"}, of_rows, (p, times * p, (m, n))
    for n, p, times, part in product(FEW[: 1 if quick else None], SHARES, OTHERS, BOTH):
        both = part * times * p
        if times or part == BOTH[0]:
            row = {"data": PAIRS, "first": p, "second": times * p, "both": both, "rows": str(n)}
            yield row, of_pairs, (p, times * p, both, n)
    for n, (p, q), part in product(FEW[: 1 if quick else None], VARIABLES, TOGETHER):
        both = part * min(p, q)
        yield {"data": DEPENDENCE, "first": p, "second": q, "both": both, "rows": str(n)}, of_variables, (p, q, both, n)
    for data, function in ((GROUPS, of_groups), (BLOCKS, of_blocks)):
        for n, p, times in product(NUMBERS[: 1 if quick else None], SHARES, OTHERS):
            row = {"data": data, "first": p, "second": times * p, "rows": f"{n} times {MEMBERS}", "trials": trials}
            yield row, function, (p, times * p, n, trials)


def measured(args) -> pd.DataFrame:
    """Rejections and notes in every design."""
    jobs = list(jobs_of(args.trials))[:: 1 if args.trials >= 100 else 3]
    parallel = Parallel(n_jobs=args.workers or usable_cores())
    found = parallel(delayed(function)(*told) for _, function, told in jobs)
    rows = []
    for (row, _, _), seen in zip(jobs, found, strict=True):
        left = max(0.0, 1.0 - sum(seen.values()))  # what was not tested
        unnoted, alone = seen[True, False] + seen[False, False], seen[True, False]
        row = {"both": np.nan, "trials": 0} | row | {"rejected": seen[True, True] + alone + left, "unnoted": unnoted}
        row |= {"rejected_unnoted": alone / unnoted if unnoted >= OFTEN else np.nan, "low": np.nan, "high": np.nan}
        if row["trials"] and unnoted >= OFTEN:
            drawn = round(unnoted * row["trials"])
            row["low"], row["high"] = proportion_confint(round(alone * row["trials"]), drawn, method="beta")
        rows.append(row)
    return pd.DataFrame(rows)


def opening(tables) -> str:
    """What came out, in two sentences."""
    table = tables[""]
    every, unnoted = table["rejected"].max(), table["rejected_unnoted"].max()
    return (
        f"Where nearly all values of a column are the same, an equivalence test at the level {ALPHA:g} rejects in up "
        f"to {100 * every:.0f} % of the data sets in which the effect is exactly the margin. Its results have a note "
        f"then; of the data sets without the note it rejects in at most {100 * unnoted:.1f} %."
    )


def alt(tables) -> str:
    """What the picture shows."""
    table = tables[""]
    return "Shares rejected where the effect is exactly the margin and values are rare: " + claim(
        "far above .05 in some designs, and hardly anywhere among the data sets without a note",
        table["rejected"].max() > 0.2 and table["rejected_unnoted"].max() < 0.08,
    )


def chart(tables):
    """Shares rejected where the effect is exactly the margin, of all data sets and of those without the note."""
    table, groups = tables[""], {}
    for data, some in table.groupby("data", sort=False):
        groups[f"{data}, all"] = some["rejected"]
        if len(unnoted := some["rejected_unnoted"].dropna()):
            groups[f"{data}, no note"] = unnoted
    return levels(groups, int(table["trials"].max()), wrong=[name for name in groups if name.endswith("all")])


def page(tables) -> list[str]:
    """What the page says, from the rejections in all designs."""
    table = tables[""]
    trials = int(table["trials"].max())
    parts = [
        "A column is True or False, and the kernel is Gaussian with the bandwidth 1, so that the distance of two such "
        "columns, or the dependence (the square of their correlation), is known. It is the margin, where a test may "
        "reject in 5 % of data sets. The variance is estimated from the few rows that differ from all others; a data "
        "set that happens to have fewer of them has a smaller effect and a smaller variance, both at once.",
        f"Rows, pairs and variables that are independent are not drawn: every count of True is tested, and has its "
        f"chance; {100 * LEAST:g} % of the data sets, the least likely, are taken as rejected. Of groups of {MEMBERS} "
        f"rows, nearly all of one value, and of blocks, of which a fifth has six times the share of the others, "
        f"{trials} data sets are drawn. 95 % intervals by Clopper and Pearson are in the file.",
        "`rejected` is of all data sets; `unnoted` is the share that has no note, and `rejected_unnoted` is of these, "
        f"where they are {100 * OFTEN:g} % or more.",
        _worst(table),
    ]
    titles = {ROWS: "Two samples", PAIRS: "Pairs", DEPENDENCE: "Two variables", GROUPS: "Groups", BLOCKS: "Blocks"}
    for data, some in table.groupby("data", sort=False):
        shown = some.drop(columns=["data", "trials", "low", "high", *(["both"] if some["both"].isna().all() else [])])
        values = ["rejected", "unnoted", "rejected_unnoted"]
        shown = shown.assign(**{name: shown[name].round(3) for name in values}).astype(object)
        parts.append(f"## {titles[data]}\n\n" + markdown(shown.where(shown.notna(), "-")))
    return parts


def _worst(table: pd.DataFrame) -> str:
    """The largest shares for all kinds of data."""
    said = []
    for data, some in table.groupby("data", sort=False):
        unnoted = some["rejected_unnoted"].max()
        without = "every data set has the note" if np.isnan(unnoted) else f"without the note {100 * unnoted:.1f} %"
        said.append(f"{data} {100 * some['rejected'].max():.1f} % ({len(some)} designs; {without})")
    return f"At most: {'; '.join(said)}."


def main() -> None:
    args = options(__doc__.splitlines()[0], trials=2000, quick=4)
    table = measured(args)
    write(args, NAME, TITLE, page({"": table}), table)


if __name__ == "__main__":
    main()
