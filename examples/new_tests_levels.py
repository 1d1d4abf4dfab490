"""Level of the tests for several samples, several variables and many columns, and of the witness band.

Every setting is a null hypothesis: 4000 data sets, half of them Gaussian and half Cauchy, each tested with 99
permutations.  The level is the share with p <= 0.05; for many tests, the family-wise error rate after adjustment.
"""

from __future__ import annotations

from functools import partial
from zlib import crc32

import numpy as np
import pandas as pd
from _charts import levels
from _study import claim, options, parts, write
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
    """Draw columns that share half of their values."""
    return numbers(rng, heavy, n, columns) + numbers(rng, heavy, n, 1)


def columns(rng, heavy, sizes, count, differ=0, **given):
    x, y = (correlated(rng, heavy, n, count) for n in sizes)
    x[:, :differ] += 1e4  # beyond doubt, and true null hypotheses are the other columns
    result = two_sample_test_columns(x, y, rng=rng, **given, **COMMON)
    return result.adjusted[differ:].min()


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


def block_data(rng, heavy, labels, columns):
    """Draw observations with block effects."""
    return numbers(rng, heavy, len(labels), columns) + 3.0 * numbers(rng, heavy, 1 + labels.max(), columns)[labels]


def k_sample_in_blocks(rng, heavy, shares, restricted, **given):
    labels = [np.repeat(np.arange(len(counts)), counts) for counts in shares]
    pooled = block_data(rng, heavy, np.concatenate(labels), 2)
    cuts = np.cumsum([len(part) for part in labels])[:-1]
    design = {"blocks": labels} if restricted else {}
    return k_sample_test(*np.split(pooled, cuts), rng=rng, **design, **given, **COMMON).pvalue


def columns_of_clusters(rng, heavy, clusters, size, restricted, **given):
    labels = np.repeat(np.arange(2 * clusters), size)
    x, y = np.split(block_data(rng, heavy, labels, 3), 2)
    design = {"groups": np.split(labels, 2)} if restricted else {}
    return two_sample_test_columns(x, y, rng=rng, **design, **given, **COMMON).pvalue


def matrix_in_blocks(rng, heavy, blocks, size, restricted, **given):
    labels = np.repeat(np.arange(blocks), size)
    x, y = (block_data(rng, heavy, labels, 2) for _ in range(2))
    design = {"blocks": labels} if restricted else {}
    return independence_matrix(x, y, rng=rng, **design, **given, **COMMON).pvalue


def cases():
    """Yield name, estimator, function and arguments of every setting."""
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
    """Count the rejected data sets; each data set depends on its number only."""
    key = crc32(f"{name}, {estimator}".encode())
    pvalues = [function(np.random.default_rng([key, trial]), trial % 2 == 1, **arguments) for trial in trials]
    return sum(pvalue <= ALPHA for pvalue in pvalues)


def region(trials: int) -> tuple[float, float]:
    """Return the range in which the rejection rate of an exact test lies with probability CONFIDENCE."""
    tail = (1.0 - CONFIDENCE) / 2.0
    low, high = (float(binom.ppf(q, trials, ALPHA)) / trials for q in (tail, 1.0 - tail))
    return low, high


def level_summary(table: pd.DataFrame) -> str:
    """Say in how many settings the level holds, in two sentences."""
    low, high = region(int(table["trials"].max()))
    above, below = (int(outside.sum()) for outside in (table["level"] > high, table["level"] < low))
    also = f" ({above} above, {below} below)" if above or below else ""
    return (
        f"In {len(table) - above - below} of {len(table)} settings the Type I error rate at the {ALPHA:g} level was "
        f"within simulation error of 5%{also}. Rates ranged from {table['level'].min():.1%} to "
        f"{table['level'].max():.1%}."
    )


def opening(tables) -> str:
    """Summarize the results in two sentences."""
    table = tables[""]
    return level_summary(table[~table["test"].str.endswith(FREE)])


def alt(tables) -> str:
    """Describe the figure."""
    table = tables[""]
    free = table["test"].str.endswith(FREE)
    return "Type I error rate by test: " + claim(
        "near 0.05, except where permutations ignore blocks or clusters",
        table.loc[~free, "level"].max() < 0.07 and table.loc[free, "level"].max() > 0.2,
    )


def chart(tables):
    """Draw the Type I error rates by test, with those of permutations that ignore the blocks."""
    table = tables[""]
    free = table["test"].str.endswith(FREE)
    kinds = table["test"].str.split(",").str[0]
    groups = {name: table.loc[~free & (kinds == name), "level"] for name in dict.fromkeys(kinds[~free])}
    wrong = "blocks ignored"
    groups[wrong] = table.loc[free, "level"]
    return levels(groups, table["trials"].max(), wrong=[wrong])


def page(tables) -> list[str]:
    """Write the section from the levels of all settings."""
    table = tables[""]
    trials = int(table["trials"].max())
    low, high = region(trials)
    free = table.loc[table["test"].str.endswith(FREE), "level"]
    return [
        claim("Permuting within blocks, or whole clusters, keeps the level. ", free.min() > high)
        + f"Ignoring the blocks or clusters of the same data gave {free.min():.1%} to {free.max():.1%} false "
        "positives.",
        f"Each setting has {trials} null data sets, half Gaussian and half Cauchy, tested with {RESAMPLES} "
        f"permutations; an exact test falls within [{low:.4f}, {high:.4f}] with probability {CONFIDENCE:.1%}. For "
        "columns and pairs of columns the rate is the family-wise error rate after Westfall-Young step-down "
        "adjustment, also with one more column that does differ. For the witness band it is the chance that the "
        "function leaves the band at any of 15 points.",
    ]


def measured(args, work: list, column: str, name: str = NAME) -> pd.DataFrame:
    """Return the level in every setting; ``column`` names its second entry, ``name`` the stored trials."""
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
    """Return the number of rejections of a setting in these data sets."""
    return [{"case": number, "rejections": rejections(*case, trials)}]


def main() -> None:
    args = options(__doc__.splitlines()[0], trials=4000, quick=4)
    table = measured(args, list(cases()), "estimator")
    write(args, NAME, TITLE, page({"": table}), table)


if __name__ == "__main__":
    main()
