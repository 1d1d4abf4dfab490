"""Level of the tests for several samples, several variables and many columns, and of the witness band.

Every setting is a null hypothesis: 4000 data sets, half of them Gaussian and half Cauchy, each tested with 99
permutations.  The level is the share with p <= 0.05; for many tests, the family-wise error rate after adjustment.
"""

from __future__ import annotations

import numpy as np
from _levels import (
    ALPHA,
    COMMON,
    RESAMPLES,
    block_data,
    level_values,
    measured_levels,
    numbers,
    region,
    span,
)
from _levels import chart as level_chart
from _study import run

from shrinktest import (
    independence_matrix,
    joint_independence_test,
    k_sample_test,
    two_sample_test,
    two_sample_test_columns,
)

NAME = "new_tests_levels"
ESTIMATORS = ("kme", "skmse", "fkmse", "landweber", "tsvd", "mkme")
FREE = ", relabeled freely"  # which these data do not allow


def k_sample(rng, heavy, sizes, **given):
    return k_sample_test(
        *(numbers(rng, heavy, n, 2) for n in sizes), rng=rng, **given, **COMMON
    ).pvalue


def joint(rng, heavy, n, variables, **given):
    return joint_independence_test(
        *numbers(rng, heavy, variables, n), rng=rng, **given, **COMMON
    ).pvalue


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
        arguments = {
            "sizes": (5, 8, 11),
            "estimator": estimator,
            "comparison": "pooled",
            "weights": "equal",
        }
        yield "k-sample, 5 + 8 + 11, pooled, equal weights", estimator, k_sample, arguments
        yield (
            "joint, 3 variables, n = 12",
            estimator,
            joint,
            {"n": 12, "variables": 3, "estimator": estimator},
        )
    for estimator in ("kme", "fkmse"):
        yield (
            "joint, 4 variables, n = 10",
            estimator,
            joint,
            {"n": 10, "variables": 4, "estimator": estimator},
        )
        arguments = {"sizes": (10, 12), "count": 4, "estimator": estimator}
        yield "4 columns", estimator, columns, arguments
        yield (
            "4 columns, one more differs",
            estimator,
            columns,
            {**arguments, "count": 5, "differ": 1},
        )
        yield (
            "2 x 3 pairs of columns",
            estimator,
            matrix,
            {"n": 12, "p": 2, "q": 3, "estimator": estimator},
        )
        yield "pairs of 4 columns", estimator, within, {"n": 12, "p": 4, "estimator": estimator}
    for estimator in ("kme", "skmse", "fkmse", "mkme"):
        for studentize in (True, False):
            name = f"witness band, 10 + 12, {'studentized' if studentize else 'one width'}"
            yield (
                name,
                estimator,
                band,
                {"sizes": (10, 12), "studentize": studentize, "estimator": estimator},
            )
    for restricted in (True, False):
        how, shares = "" if restricted else FREE, ((4, 1, 1), (1, 4, 1), (1, 1, 4))
        for estimator in ("kme", "fkmse"):
            given = {"restricted": restricted, "estimator": estimator}
            yield (
                "k-sample, 6 + 6 + 6 in 3 blocks" + how,
                estimator,
                k_sample_in_blocks,
                {"shares": shares, **given},
            )
            name = "3 columns, 5 + 5 clusters of 3" + how
            yield name, estimator, columns_of_clusters, {"clusters": 5, "size": 3, **given}
            name = "2 x 2 pairs of columns in 4 blocks of 5" + how
            yield name, estimator, matrix_in_blocks, {"blocks": 4, "size": 5, **given}


def measured(args):
    """Return the level in every setting."""
    return measured_levels(args, cases(), "estimator", NAME)


def chart(tables):
    """Draw the Type I error rates by test, with those of permutations that ignore the blocks."""
    table = tables[""]
    free = table["test"].str.endswith(FREE)
    kinds = table["test"].str.split(",").str[0]
    groups = {
        name: table.loc[~free & (kinds == name), "level"] for name in dict.fromkeys(kinds[~free])
    }
    wrong = "blocks ignored"
    groups[wrong] = table.loc[free, "level"]
    return level_chart(groups, table["trials"].max(), wrong=[wrong])


def values(tables) -> dict:
    """Return the numbers, tables and claims of the section."""
    table = tables[""]
    free = table["test"].str.endswith(FREE)
    ignoring = table.loc[free, "level"]
    return {
        **level_values(table[~free]),
        "permutations": RESAMPLES,
        "drawn": table.loc[~free, "level"].max() < 0.07 and ignoring.max() > 0.2,
        "restricted_level": ignoring.min() > region(int(table["trials"].max()))[1],
        "ignoring": span(ignoring),
    }


if __name__ == "__main__":
    run(__doc__, NAME, measured, values, chart, trials=4000, quick=4)
