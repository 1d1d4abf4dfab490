"""Level: on data without a difference, or without dependence, p <= alpha happens as often as it should.

`pytest -m slow -s tests/laws/test_calibration.py` runs the large version and prints its table of rejection rates.
"""

from __future__ import annotations

from math import floor
from zlib import crc32

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from scipy.stats import binom

from shrinktest import (
    FKMSE,
    KME,
    MKME,
    MMKME,
    SKMSE,
    TSVD,
    Landweber,
    independence_test,
    two_sample_test,
)
from shrinktest.estimators import ESTIMATORS

RESAMPLES = (
    99  # (B + 1) alpha is a whole number for both levels, so that these are attained exactly
)
LEVELS = (0.05, 0.01)
CONFIDENCE = 0.9999  # of each cell: more than a hundred are looked at


def region(draws, alpha):
    """Counts of p <= alpha in as many data sets that hold at least the 99.99 % between two equal tails."""
    probability = floor(alpha * (RESAMPLES + 1) + 1e-9) / (RESAMPLES + 1)
    tail = (1.0 - CONFIDENCE) / 2.0
    return binom.ppf(tail, draws, probability), binom.ppf(1.0 - tail, draws, probability)


def likeness(gram):
    """A user's estimator: points count for as much as they are like the others."""
    return gram.mean(axis=1) / len(gram)


# ------------------------------------------------------------------------------------------------- null data


def numbers(rng, law, *shape):
    """Gaussian, or with tails so heavy that the mean does not exist."""
    return rng.standard_normal(shape) if law == "gaussian" else rng.standard_cauchy(shape)


def run(design, estimator, law, rng, **options):
    """One test on one null data set: the same law for both samples, or independent variables."""
    if isinstance(design, tuple):
        m, n = design
        test, x, y = two_sample_test, numbers(rng, law, m, 2), numbers(rng, law, n, 2)
    else:
        test, x, y = independence_test, numbers(rng, law, design, 1), numbers(rng, law, design, 2)
    return test(x, y, estimator=estimator, n_resamples=RESAMPLES, rng=rng, workers=1, **options)


def pvalues(design, estimator, laws, seeds, label, options):
    """The p-value of every null data set, which depends on its seed and not on the process that draws it."""
    case = crc32(label.encode())
    return [
        run(
            design,
            estimator,
            laws[seed % len(laws)],
            np.random.default_rng([case, seed]),
            **options,
        ).pvalue
        for seed in seeds
    ]


def check(design, estimator, laws, draws, **options):
    """Draw null data sets, and hold the counts against the region.

    Both of its ends count.  Ties can only lower the level, but even where most pairings are shrunk to
    exactly zero they do not reach the few values in the tail.
    """
    label = (
        f"{getattr(estimator, '__name__', estimator)}, {design}, {' and '.join(laws)}, {options}"
    )
    p_values = np.array(pvalues(design, estimator, laws, range(draws), label, options))
    counts = [int((p_values <= alpha).sum()) for alpha in LEVELS]
    print(f"\n{label:90}", *(f"{count / draws:.4f}" for count in counts), end=" ")
    ranks = p_values * (RESAMPLES + 1)
    assert ranks.min() > 0.99 and np.abs(ranks - np.rint(ranks)).max() < 1e-9, (
        "p is a rank, and never 0"
    )
    for alpha, count in zip(LEVELS, counts, strict=True):
        low, high = region(draws, alpha)
        assert low <= count <= high, (
            f"{label}: p <= {alpha} in {count} of {draws}, not {low:.0f} to {high:.0f}"
        )


# ----------------------------------------------------------------------------------------- every estimator

BOTH = ("gaussian", "cauchy")  # in turn


def name_of(estimator):
    """Name of an estimator, the same in every process."""
    return getattr(estimator, "__name__", str(estimator))


@pytest.mark.ci
@pytest.mark.parametrize("design", [(6, 12), 8], ids=str)
@pytest.mark.parametrize("estimator", [*ESTIMATORS, MKME(tuning="sample"), likeness], ids=name_of)
def test_level(estimator, design):
    if not isinstance(design, tuple) and isinstance(estimator, MKME):
        estimator = MKME(variance=0.5)  # a margin has no samples to tune apart
    check(design, estimator, BOTH, draws=100)


@pytest.mark.slow
@pytest.mark.parametrize("design", [(8, 8), (10, 10), (6, 12), 8, 11], ids=str)
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_level_in_many_data_sets(estimator, design):
    check(design, estimator, BOTH, draws=1000)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("estimator", "design", "options"),
    [
        (KME(), (6, 12), {"form": "biased"}),
        (KME(), 10, {"form": "unbiased"}),
        (MKME(), (8, 8), {"form": "unbiased"}),
        (SKMSE(tuning="sample"), (6, 12), {}),
        (SKMSE(tuning="joint"), (8, 8), {}),
        (SKMSE(rule="plugin"), (6, 12), {}),
        (SKMSE(decay=(1.0, 0.5)), (6, 12), {}),
        (SKMSE(rule="plugin"), 10, {}),
        (FKMSE(tuning="sample"), (6, 12), {}),
        (FKMSE(tuning="pooled"), (6, 12), {}),
        (FKMSE(loo="paper"), (8, 8), {}),
        (FKMSE(loo="averaged"), 10, {}),
        (FKMSE(lam_cov=0.3), (6, 12), {}),
        (FKMSE(lam_cov=0.3), 10, {}),
        (Landweber(loo="paper"), (6, 12), {}),
        (TSVD(rule="gcv"), 10, {}),
        (MKME(tuning="sample"), (6, 12), {}),
        (MKME(tuning="joint"), (6, 12), {}),
        (MMKME(tuning="sample"), (8, 8), {}),
        (FKMSE(), 10, {"kernel_x": "linear", "kernel_y": "laplacian"}),
        (FKMSE(), (6, 12), {"bandwidth": 0.2}),
        (likeness, (6, 12), {}),
        (likeness, 10, {}),
    ],
    ids=lambda value: value.__name__ if callable(value) else str(value),
)
def test_level_of_variants_in_many_data_sets(estimator, design, options):
    check(design, estimator, BOTH, draws=1000, **options)


# --------------------------------------------------------------------------- that these tests see a mistake


def simple_shrinkage(draws, freeze, rng):
    """p-values of S-KMSE by numpy alone: 10 + 10 points in 3-d, bandwidth^2 = 0.02 times the median.

    `freeze` keeps the two amounts that the observed split was tuned to in all the other splits.
    """
    m = 10
    observed = np.arange(2 * m) < m
    p_values = np.empty(draws)
    for k in range(draws):
        squares = pdist(rng.standard_normal((2 * m, 3)), "sqeuclidean")
        gram = squareform(np.exp(-squares / (2.0 * 0.02 * np.median(squares)))) + np.eye(2 * m)
        splits = np.vstack(
            [observed, rng.permuted(np.tile(observed, (RESAMPLES, 1)), axis=1)]
        ).astype(float)
        inside, outside = splits @ gram, (1.0 - splits) @ gram
        xx, yy = (inside * splits).sum(axis=1), (outside * (1.0 - splits)).sum(axis=1)
        xy = (inside * (1.0 - splits)).sum(axis=1)
        off = [(total - m) / (m * (m - 1)) for total in (xx, yy)]
        s, t = ((m - 1) * r / ((m - 2) * r + 1.0) for r in off)
        if freeze:
            s, t = s[0], t[0]
        statistic = (s**2 * xx + t**2 * yy - 2.0 * s * t * xy) / m**2
        p_values[k] = (statistic >= statistic[0] - 1e-12).mean()
    return p_values


@pytest.mark.ci
def test_amounts_frozen_at_the_observed_split_are_found_out():
    draws = 1000
    low, high = region(draws, 0.05)
    frozen = simple_shrinkage(draws, True, np.random.default_rng(0))
    assert (frozen <= 0.05).sum() > high
    refitted = simple_shrinkage(draws, False, np.random.default_rng(0))
    assert low <= (refitted <= 0.05).sum() <= high


def test_region_is_exact():
    for draws, alpha in ((300, 0.05), (4000, 0.01)):
        low, high = region(draws, alpha)
        below, above = binom.cdf(low - 1, draws, alpha), binom.sf(high, draws, alpha)
        tail = (1.0 - CONFIDENCE) / 2.0
        assert below <= tail < binom.cdf(low, draws, alpha)
        assert above <= tail < binom.sf(high - 1, draws, alpha)
