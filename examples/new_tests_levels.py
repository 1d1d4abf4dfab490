"""Level of the tests for more than two samples or variables, for many columns, and of the witness band.

Every case is a null hypothesis: 4000 data sets, half of them Gaussian and half with tails so heavy that there is no
mean, each tested with 99 relabellings.  The level is how often p <= .05, and for many tests how often any true null
hypothesis is rejected after the adjustment.
"""

from __future__ import annotations

from functools import partial
from zlib import crc32

import numpy as np
import pandas as pd
from _charts import levels
from _study import claim, markdown, options, parts, write
from scipy.stats import binom

from shrinktest import (
    independence_matrix,
    joint_independence_test,
    k_sample_test,
    two_sample_test,
    two_sample_test_columns,
)

NAME = "new_tests_levels"
TITLE = "Level of the tests of more than two, of many, and of the witness band"
ALPHA, RESAMPLES, CONFIDENCE = 0.05, 99, 0.999
ESTIMATORS = ("kme", "skmse", "fkmse", "landweber", "tsvd", "mkme")
FREE = ", relabelled freely"  # which these data do not allow
COMMON = {"n_resamples": RESAMPLES, "workers": 1}


def numbers(rng, heavy, *shape):
    return rng.standard_cauchy(shape) if heavy else rng.standard_normal(shape)


def k_sample(rng, heavy, sizes, **given):
    return k_sample_test(*(numbers(rng, heavy, n, 2) for n in sizes), rng=rng, **given, **COMMON).pvalue


def joint(rng, heavy, n, variables, **given):
    return joint_independence_test(*numbers(rng, heavy, variables, n), rng=rng, **given, **COMMON).pvalue


def correlated(rng, heavy, n, columns):
    """Columns that share half of what they are."""
    return numbers(rng, heavy, n, columns) + numbers(rng, heavy, n, 1)


def columns(rng, heavy, sizes, count, differ=0, **given):
    x, y = (correlated(rng, heavy, n, count) for n in sizes)
    x[:, :differ] += 1e4  # beyond doubt, and true null hypotheses are the other columns
    found = two_sample_test_columns(x, y, rng=rng, **given, **COMMON)
    return found.adjusted[differ:].min()


def matrix(rng, heavy, n, p, q, **given):
    return independence_matrix(
        correlated(rng, heavy, n, p), correlated(rng, heavy, n, q), rng=rng, **given, **COMMON
    ).pvalue


def within(rng, heavy, n, p, **given):
    return independence_matrix(numbers(rng, heavy, n, p), rng=rng, **given, **COMMON).pvalue


def band(rng, heavy, sizes, studentize, **given):
    x, y = (numbers(rng, heavy, n, 1) for n in sizes)
    result = two_sample_test(x, y, rng=rng, **given, **COMMON)
    grid = np.quantile(np.vstack([x, y]), np.linspace(0.05, 0.95, 15))
    return result.witness_band(grid, confidence=1.0 - ALPHA, studentize=studentize).pvalue


def of_blocks(rng, heavy, labels, columns):
    """Observations that share what their block adds to them."""
    return numbers(rng, heavy, len(labels), columns) + 3.0 * numbers(rng, heavy, 1 + labels.max(), columns)[labels]


def k_sample_in_blocks(rng, heavy, shares, restricted, **given):
    labels = [np.repeat(np.arange(len(counts)), counts) for counts in shares]
    pooled = of_blocks(rng, heavy, np.concatenate(labels), 2)
    cuts = np.cumsum([len(part) for part in labels])[:-1]
    design = {"blocks": labels} if restricted else {}
    return k_sample_test(*np.split(pooled, cuts), rng=rng, **design, **given, **COMMON).pvalue


def columns_of_clusters(rng, heavy, clusters, size, restricted, **given):
    labels = np.repeat(np.arange(2 * clusters), size)
    x, y = np.split(of_blocks(rng, heavy, labels, 3), 2)
    design = {"groups": np.split(labels, 2)} if restricted else {}
    return two_sample_test_columns(x, y, rng=rng, **design, **given, **COMMON).pvalue


def matrix_in_blocks(rng, heavy, blocks, size, restricted, **given):
    labels = np.repeat(np.arange(blocks), size)
    x, y = (of_blocks(rng, heavy, labels, 2) for _ in range(2))
    design = {"blocks": labels} if restricted else {}
    return independence_matrix(x, y, rng=rng, **design, **given, **COMMON).pvalue


def cases():
    """Name, estimator, function and arguments of every case."""
    for estimator in ESTIMATORS:
        for sizes in ((7, 7, 7), (5, 8, 11)):
            name = "k-sample, " + " + ".join(map(str, sizes))
            yield name, estimator, k_sample, {"sizes": sizes, "estimator": estimator}
        arguments = {"sizes": (5, 8, 11), "estimator": estimator, "comparison": "pooled", "weights": "equal"}
        yield "k-sample, 5 + 8 + 11, pooled, equal weights", estimator, k_sample, arguments
        yield "joint, 3 variables, n = 12", estimator, joint, {"n": 12, "variables": 3, "estimator": estimator}
    for estimator in ("kme", "fkmse"):
        yield "joint, 4 variables, n = 10", estimator, joint, {"n": 10, "variables": 4, "estimator": estimator}
        arguments = {"sizes": (10, 12), "count": 4, "estimator": estimator}
        yield "4 columns", estimator, columns, arguments
        yield "4 columns, one more differs", estimator, columns, {**arguments, "count": 5, "differ": 1}
        yield "2 x 3 pairs of columns", estimator, matrix, {"n": 12, "p": 2, "q": 3, "estimator": estimator}
        yield "pairs of 4 columns", estimator, within, {"n": 12, "p": 4, "estimator": estimator}
    for estimator in ("kme", "skmse", "fkmse", "mkme"):
        for studentize in (True, False):
            name = f"witness band, 10 + 12, {'studentized' if studentize else 'one width'}"
            yield name, estimator, band, {"sizes": (10, 12), "studentize": studentize, "estimator": estimator}
    for restricted in (True, False):
        how, shares = "" if restricted else FREE, ((4, 1, 1), (1, 4, 1), (1, 1, 4))
        for estimator in ("kme", "fkmse"):
            given = {"restricted": restricted, "estimator": estimator}
            yield "k-sample, 6 + 6 + 6 in 3 blocks" + how, estimator, k_sample_in_blocks, {"shares": shares, **given}
            name = "3 columns, 5 + 5 clusters of 3" + how
            yield name, estimator, columns_of_clusters, {"clusters": 5, "size": 3, **given}
            name = "2 x 2 pairs of columns in 4 blocks of 5" + how
            yield name, estimator, matrix_in_blocks, {"blocks": 4, "size": 5, **given}


def rejections(name, estimator, function, arguments, trials):
    """How many of these data sets are rejected; each depends on its number only."""
    key = crc32(f"{name}, {estimator}".encode())
    found = [function(np.random.default_rng([key, trial]), trial % 2 == 1, **arguments) for trial in trials]
    return sum(pvalue <= ALPHA for pvalue in found)


def region(trials: int) -> tuple[float, float]:
    """Where the share of rejections of an exact test lies with probability CONFIDENCE."""
    tail = (1.0 - CONFIDENCE) / 2.0
    low, high = (float(binom.ppf(q, trials, ALPHA)) / trials for q in (tail, 1.0 - tail))
    return low, high


def kept(table: pd.DataFrame) -> str:
    """In how many settings the level holds, in two sentences."""
    low, high = region(int(table["trials"].max()))
    above, below = (int(found.sum()) for found in (table["level"] > high, table["level"] < low))
    also = f"; they rejected more often in {above}, and less often in {below}" if above or below else ""
    return (
        f"A test at level {ALPHA:g} may reject true null hypotheses in {100 * ALPHA:g} % of data sets. In "
        f"{len(table) - above - below} of {len(table)} settings these tests did, within the error of the count{also}."
    )


def opening(tables) -> str:
    """What came out, in two sentences."""
    table = tables[""]
    table = table[~table["test"].str.endswith(FREE)]
    return kept(table)


def alt(tables) -> str:
    """What the picture shows."""
    table = tables[""]
    free = table["test"].str.endswith(FREE)
    return "Shares of true null hypotheses rejected, by test: " + claim(
        "near .05, except for permutations that the data do not allow",
        table.loc[~free, "level"].max() < 0.07 and table.loc[free, "level"].max() > 0.2,
    )


def chart(tables):
    """Shares of true null hypotheses rejected, by test: near .05 but for permutations that the data do not allow."""
    table = tables[""]
    free = table["test"].str.endswith(FREE)
    kinds = table["test"].str.split(",").str[0]
    groups = {name: table.loc[~free & (kinds == name), "level"] for name in dict.fromkeys(kinds[~free])}
    wrong = "permuted freely, though in blocks"
    groups[wrong] = table.loc[free, "level"]
    return levels(groups, table["trials"].max(), wrong=[wrong])


def page(tables) -> list[str]:
    """What the page says, from the levels of all cases."""
    table = tables[""]
    trials = int(table["trials"].max())
    low, high = region(trials)
    held = table[~table["test"].str.endswith(FREE)]
    wide = table.assign(cell=[f"{r.level:.4f}{'' if r.inside else ' (outside)'}" for r in table.itertuples()])
    wide = wide.pivot(index="test", columns="estimator", values="cell").loc[list(dict.fromkeys(table["test"]))]
    shown = wide[[e for e in ESTIMATORS if e in wide]].fillna("").reset_index()
    shown["test"] = shown["test"].str.replace("relabelled", "permuted")
    return [
        f"{trials} null data sets a cell, half Gaussian and half Cauchy, {RESAMPLES} permutations, level "
        f"{ALPHA:g}.  An exact test is inside [{low:.4f}, {high:.4f}] with probability {CONFIDENCE:.1%}; "
        f"{int(held['inside'].sum())} of {len(held)} cells are, those aside that are permuted freely where the data "
        "are in blocks or clusters.",
        markdown(shown),
        "For columns and pairs of columns the level is the chance that any true null hypothesis is rejected after "
        "Westfall and Young's step-down adjustment; the columns are correlated, except within one table, where the "
        'null hypothesis is that all of them are independent.  In "one more differs" a fifth column is far apart '
        "in the two samples, and does not count.  For the witness band it is the chance that the function leaves "
        "the band at any of 15 points.  "
        + claim(
            "Observations in a block or a cluster share what it adds to them; permuted within blocks, or cluster by "
            "cluster, the tests keep their level, and permuted freely they do not.",
            table.loc[table["test"].str.endswith(FREE), "level"].min() > high,
        ),
    ]


def measured(args, work: list, column: str, name: str = NAME) -> pd.DataFrame:
    """The level of every case; ``column`` is what its second entry is called.  What is stored is under ``name``."""
    chunks = [range(start, min(start + 100, args.trials)) for start in range(0, args.trials, 100)]
    jobs = [partial(counted, i, case, chunk) for i, case in enumerate(work) for chunk in chunks]
    counts = parts(args, f"{name}_levels", jobs).groupby("case")["rejections"].sum()
    low, high = region(args.trials)
    rows = []
    for i, (test, label, _, _) in enumerate(work):
        level = counts[i] / args.trials
        rows.append({"test": test, column: label, "level": level, "trials": args.trials})
        rows[-1]["inside"] = bool(low <= level <= high)
    return pd.DataFrame(rows)


def counted(number: int, case: tuple, trials: range) -> list[dict]:
    """The rejections of a case in these data sets."""
    return [{"case": number, "rejections": rejections(*case, trials)}]


def main() -> None:
    args = options(__doc__.splitlines()[0], trials=4000, quick=4)
    table = measured(args, list(cases()), "estimator")
    write(args, NAME, TITLE, page({"": table}), table)


if __name__ == "__main__":
    main()
