"""Regressors of scikit-learn's kind: what they learn of never holds the rows that they predict."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import LinearRegression

from shrinktest import independence_test
from shrinktest.conditional.lines import bounded
from shrinktest.conditional.regression import Left, Regression

N = 25
RNG = np.random.default_rng(0)
Z = RNG.normal(size=(N, 2))
Y, NOISE = Z[:, :1] + RNG.normal(size=(N, 1)), RNG.normal(size=(N, 2))


def by_hand(targets, learned, rows):
    """Predictions of a linear regression at some rows, from others."""
    lines = np.column_stack([np.ones(N), Z])
    return lines[rows] @ np.linalg.lstsq(lines[learned], targets[learned], rcond=None)[0]


def test_residuals_of_residuals_have_not_seen_the_rows_that_are_predicted():
    regression = Regression.on(Z, LinearRegression())
    left = regression.left_of(Y, "Y")
    folds = regression._folds()
    assert sorted(np.concatenate(folds)) == list(range(N)) and len(left.apart) == len(folds)
    for first, rows in enumerate(folds):
        others = np.setdiff1d(np.arange(N), rows)
        np.testing.assert_allclose(left.values[rows], Y[rows] - by_hand(Y, others, rows))
        for second, more in enumerate(folds):
            learned = np.setdiff1d(others, more)
            np.testing.assert_allclose(left.apart[first][more], Y[more] - by_hand(Y, learned, more))
            assert first != second or np.array_equal(left.apart[first][rows], left.values[rows])
    bent = bounded(left.values)
    twice = regression.left_of_lines(bent, [bounded(one) for one in left.apart])
    for fold, rows in enumerate(folds):
        others = np.setdiff1d(np.arange(N), rows)
        expected = bent[rows] - by_hand(bounded(left.apart[fold]), others, rows)
        np.testing.assert_allclose(twice.values[rows], expected, atol=1e-12)


def test_how_much_noise_is_shared_is_estimated_by_leaving_out_folds():
    regression = Regression.on(Z, LinearRegression())
    left, folds, everything = regression.left_of(Y, "Y"), regression._folds(), np.arange(N)
    spread, weights = 0.0, np.zeros((N, N))
    for rows in folds:
        others = np.setdiff1d(everything, rows)
        weights[rows] = np.column_stack([by_hand(np.eye(N)[:, [i]], others, rows) for i in everything])
        fewer = [np.setdiff1d(others, more) for more in folds if more is not rows]
        predicted = [by_hand(Y, learned, rows) for learned in fewer]
        middle = sum(predicted) / len(predicted)
        spread += (len(fewer) - 1) / len(fewer) * sum(float(np.sum((one - middle) ** 2)) for one in predicted)
    share = spread / float(np.sum(left.values**2))
    assert left.noise == pytest.approx(share / (1.0 - share))
    kept = np.eye(N) - weights
    exact = np.sum((kept.T @ kept) ** 2) / np.sum(np.sum(kept**2, axis=1) ** 2)
    alike = Left(left.values, noise=float(np.mean(np.sum(weights**2, axis=1))))
    assert alike.inflation(alike) == pytest.approx(exact, abs=0.11) and exact > 1.2


class Odd(RegressorMixin, BaseEstimator):
    """Returns what it was told to."""

    def __init__(self, kind="nan"):
        self.kind = kind

    def fit(self, z, y):
        return self

    def predict(self, z):
        return {"nan": np.full(len(z), np.nan), "two columns": np.zeros((len(z), 2)), "short": np.zeros(len(z) - 1)}[
            self.kind
        ]


@pytest.mark.parametrize("kind", ["nan", "two columns", "short"])
def test_predictions_are_looked_at(kind):
    with pytest.raises(ValueError, match=r"regressor: predict of Odd\(.*a finite number for each of \d+ rows"):
        independence_test(NOISE, Y, given=Z, regressor=Odd(kind), n_resamples=19, rng=0)
