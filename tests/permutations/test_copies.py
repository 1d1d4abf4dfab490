"""Null distributions by simulation: a model draws copies of the data, or of a part of them.

Kernels come from rows that neither copies nor labels touch.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from shrinktest import (
    Copies,
    Gaussian,
    Whitened,
    change_point_test,
    independence_test,
    joint_independence_test,
    k_sample_test,
    permutation_test,
    symmetry_test,
    two_sample_test,
)
from shrinktest.permutations.base import Draws
from shrinktest.results.info import kind_of

TIMES = np.array([0.03, 0.09, 0.12, 0.2, 0.24, 0.61, 0.68, 0.77, 0.85, 0.94])
RNG = np.random.default_rng(0)
Z = RNG.normal(size=(30, 2))
X, Y = Z[:, :1] + RNG.normal(size=(30, 1)), Z[:, 1:] + RNG.normal(size=(30, 1))


def uniform(rng):
    return rng.uniform(size=10)


def gap(copies):
    return lambda seed: np.diff(np.sort(copies.copy(seed))).max()


def predicted_and_noise(z, rng):
    return z.sum(axis=1) + rng.normal(size=len(z))


def test_the_pvalue_counts_copies_that_reach_the_data():
    copies = Copies(TIMES, uniform)
    result = permutation_test(gap(copies), copies, n_resamples=199, rng=4)
    seeds = Draws.of(copies, 199, np.random.default_rng(4)).rows()[:, 0]
    assert seeds[0] == 0 and (seeds[1:] > 0).all() and len(set(seeds.tolist())) == 200
    drawn = [np.random.default_rng(int(seed)).uniform(size=10) for seed in seeds[1:]]
    values = np.array([np.diff(np.sort(times)).max() for times in (TIMES, *drawn)])
    assert result.statistic == values[0] and np.array_equal(result.null_distribution, values[1:])
    assert result.pvalue == np.mean(values >= values[0]) and not result.exact


@pytest.mark.parametrize("workers", [1, 2])
def test_level(workers):
    """Of data that the model draws, p <= k / 10 in as many trials as it should be."""
    rng, rejected = np.random.default_rng(7), 0
    for _ in range(300):
        copies = Copies(rng.uniform(size=10), uniform)
        result = permutation_test(
            gap(copies), copies, n_resamples=9, alpha=0.2, rng=rng, workers=workers
        )
        rejected += result.reject()
    low, high = stats.binom(300, 0.2).interval(0.999)
    assert low <= rejected <= high


def test_summaries_and_pictures_say_simulations():
    copies = Copies(TIMES, uniform)
    result = permutation_test(gap(copies), copies, n_resamples=19, rng=0)
    shown = str(result.summary())
    assert "Simulations:" in shown and "Permutations:" not in shown and "Monte Carlo test" in shown
    axes = result.plot_null()
    texts = [text.get_text() for text in axes.get_legend().get_texts()]
    assert "19 random simulations" in texts and axes.get_ylabel() == "number of simulations"
    given = independence_test(X, Y, given=Z, x_given_z=predicted_and_noise, n_resamples=19, rng=0)
    assert given.kind.resamples == "simulations" and "Simulations:" in str(given.summary())
    plain = independence_test(X, Y, given=Z, n_resamples=19, rng=0)
    assert plain.kind.resamples == "permutations" and "Permutations:" in str(plain.summary())
    assert (
        kind_of("conditional-independence")
        == plain.kind
        == replace(given.kind, resamples="permutations")
    )


def test_a_part_of_the_data_is_drawn_anew():
    """Copies of x, with y as it was: the largest correlation with a column of y."""
    x, y = X[:, 0], np.hstack([Y, Z])
    copies = Copies(x, lambda rng: rng.permutation(x))

    def largest(seed):
        return np.abs(np.corrcoef(copies.copy(seed), y.T)[0, 1:]).max()

    result = permutation_test(largest, copies, n_resamples=99, rng=0)
    seeds = Draws.of(copies, 99, np.random.default_rng(0)).rows()[1:, 0]
    drawn = [x, *(np.random.default_rng(int(seed)).permutation(x) for seed in seeds)]
    values = np.array([max(abs(np.corrcoef(row, column)[0, 1]) for column in y.T) for row in drawn])
    np.testing.assert_allclose([result.statistic, *result.null_distribution], values, rtol=1e-10)
    assert result.pvalue == np.mean(values >= values[0] - 1e-12)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Copies(TIMES, 3), TypeError, "model must be a function rng -> copy of the data"),
        (
            lambda: Copies(TIMES, lambda: 1),
            TypeError,
            "model must be a function .* is called with 1 argument",
        ),
        (lambda: Copies([], uniform), ValueError, "observed must be an array with rows"),
        (lambda: Copies(1.0, uniform), ValueError, "observed must be an array with rows"),
        (
            lambda: Copies(TIMES[:5], uniform).copy([1]),
            ValueError,
            r"copies of shape \(5,\); it drew \(10,\)",
        ),
        (
            lambda: two_sample_test(X, Y, permutations=Copies(X, lambda rng: X)),
            ValueError,
            "copies by a model are for permutation_test",
        ),
        (
            lambda: permutation_test(lambda seed: 1.0, Copies(TIMES, uniform), n_resamples=np.inf),
            ValueError,
            "n_resamples=inf needs equally likely",
        ),
    ],
    ids=["model", "arguments", "no rows", "number", "shape", "kernel test", "all"],
)
def test_faults(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_kernels_must_not_come_from_the_data_that_copies_replace():
    result = independence_test(X, Y, given=Z, x_given_z=predicted_and_noise, n_resamples=19, rng=0)
    hypothesis = result.context.hypothesis
    x, y = hypothesis.variables
    touched = replace(hypothesis, variables=(replace(x, points=hypothesis.observed), y))
    with pytest.raises(ValueError, match=r"copies of X holds the data that a model draws anew"):
        touched.permutations(19, 0.05, touched.form("auto"))


@pytest.mark.parametrize("kernel", [Gaussian(), Whitened()], ids=repr)
def test_the_data_that_copies_replace_do_not_change_kernels(kernel):
    """Two data sets with the same model have the same variables, and so the same kernels."""
    options = {
        "given": Z,
        "x_given_z": predicted_and_noise,
        "kernel_x": kernel,
        "n_resamples": 19,
        "rng": 0,
    }
    first, second = (independence_test(x, Y, **options) for x in (X, 3.0 * X[::-1]))
    assert first.statistic != second.statistic
    assert first.kernel == second.kernel
    assert np.array_equal(first.null_distribution, second.null_distribution)


#: Tests of the data after a permutation that their hypothesis allows.
MOVED = {
    "two-sample": lambda order, **options: two_sample_test(*np.split(Z[order], [12]), **options),
    "k-sample": lambda order, **options: k_sample_test(*np.split(Z[order], [8, 20]), **options),
    "independence": lambda order, **options: independence_test(X, Z[order], **options),
    "joint": lambda order, **options: joint_independence_test(
        X, Z[order], Y[order[::-1]], **options
    ),
    "symmetry": lambda order, **options: symmetry_test(
        Z * np.where(order < 15, 1.0, -1.0)[:, None], **options
    ),
    "change-point": lambda order, **options: change_point_test(Z[order], **options),
}


def widths(result):
    """Bandwidths of all kernels and columns in a row."""
    of_kernels = result.bandwidth if isinstance(result.bandwidth, tuple) else (result.bandwidth,)
    return np.concatenate([np.ravel(width) for width in of_kernels])


@pytest.mark.parametrize("scale", [None, "sd"])
@pytest.mark.parametrize("test", MOVED)
def test_labels_and_orders_do_not_change_kernels(test, scale):
    options = {"scale": scale, "n_resamples": 19, "rng": 0, "alpha": 0.1}
    orders = np.arange(30), np.random.default_rng(3).permutation(30)
    first, second = (MOVED[test](order, **options) for order in orders)
    assert first.statistic != second.statistic
    np.testing.assert_allclose(widths(first), widths(second), rtol=1e-12)
