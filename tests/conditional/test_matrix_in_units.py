"""Matrices given others: every p-value is that of the single test, in whatever units."""

import numpy as np
import pandas as pd
import pytest

from shrinktest import independence_matrix, independence_test

RNG = np.random.default_rng(0)
Z = RNG.normal(size=60)
X, Y = (np.exp(Z[:, None] + RNG.normal(size=(60, 2))) for _ in range(2))
Y[:, 0] *= X[:, 0]
LABELS = RNG.integers(3, size=60).astype(str)
FEW = {"kernel_x": "laplacian", "kernel_y": "laplacian", "rng": 3, "n_resamples": 39}


@pytest.mark.parametrize("table", [False, True], ids=["arrays", "tables"])
@pytest.mark.parametrize("scale", [None, "sd", "rank", "deviation", ["rank", None]], ids=str)
@pytest.mark.parametrize("told", [{"given": Z}, {"given": Z, "given_method": "local"}, {"given": LABELS}], ids=str)
def test_columns_are_in_their_units_before_what_is_given_is_taken_off(told, scale, table):
    a, b = (pd.DataFrame(X), pd.DataFrame(Y)) if table else (X, Y)
    found = independence_matrix(a, b, scale=scale, **told, **FEW)
    for k, (i, j) in enumerate([(0, 0), (0, 1), (1, 0), (1, 1)]):
        x, y = (a.iloc[:, i], b.iloc[:, j]) if table else (a[:, i], b[:, j])
        one = independence_test(x, y, scale=scale, **told, **FEW)
        assert found.statistics[k] == pytest.approx(one.statistic, rel=1e-9) and found.pvalues[k] == one.pvalue


@pytest.mark.parametrize("table", [False, True], ids=["arrays", "tables"])
@pytest.mark.parametrize("told", [{}, {"scale": "rank"}, {"scale": "deviation"}, {"transform": np.log1p}], ids=str)
def test_others_are_given_in_units_of_their_own(told, table):
    """As distances from the median they would not say on which side a row is."""
    side = np.where(RNG.random(60) < 0.3, 1.0, -1.0)
    rows = np.column_stack(
        [3 * (side > 0) + RNG.exponential(size=60), 3 * (side > 0) + RNG.exponential(size=60), X[:, 0]]
    )
    data = pd.DataFrame(rows, columns=["a", "b", "c"]) if table else rows
    few = {name: value for name, value in FEW.items() if name != "kernel_y"}
    found = independence_matrix(data, given="others", **told, **few)
    for k, (i, j, other) in enumerate([(0, 1, 2), (0, 2, 1), (1, 2, 0)]):
        x, y, z = (data.iloc[:, [one]] if table else data[:, one] for one in (i, j, other))
        one = independence_test(x, y, given=z, **told, **FEW)
        assert found.statistics[k] == pytest.approx(one.statistic, rel=1e-9) and found.pvalues[k] == one.pvalue
