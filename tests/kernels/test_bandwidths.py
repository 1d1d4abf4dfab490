"""The bandwidth of near neighbours: its definition, ties, units, multiples, and every test with it."""

from __future__ import annotations

import numpy as np
import pytest

import naive_kernels as naive
from shrinktest import (
    Gaussian,
    Laplacian,
    two_sample_test,
)
from shrinktest.kernels.bandwidths import neighbour_bandwidth

rng = np.random.default_rng(0)
OPTIONS = {"n_resamples": 59, "rng": 0, "workers": 1}
X, Y = rng.normal(size=(12, 2)), rng.normal(size=(9, 2))


def city(x, y):
    return float(np.sum(np.abs(np.subtract(x, y))))


@pytest.mark.parametrize("n", [2, 3, 10, 11, 12, 21, 22, 45])
@pytest.mark.parametrize("d", [1, 3])
def test_the_literal_definition(n, d):
    Z = np.random.default_rng(n).normal(size=(n, d))
    assert neighbour_bandwidth(Z) == pytest.approx(naive.neighbour_bandwidth(Z), rel=1e-12)
    assert neighbour_bandwidth(Z, distance="cityblock") == pytest.approx(naive.neighbour_bandwidth(Z, city), rel=1e-12)
    assert Gaussian("neighbours").resolve(Z).bandwidth == neighbour_bandwidth(Z)
    assert Laplacian("neighbours").resolve(Z).bandwidth == neighbour_bandwidth(Z, distance="cityblock")


@pytest.mark.parametrize(
    "values",
    [
        np.repeat([0.0, 1.0, 5.0], [20, 3, 2]),  # most rows equal more than a tenth of the others
        np.repeat([0.0, 1.0], 10),
        np.append(np.zeros(30), 4.0),
        np.concatenate([np.zeros(4), np.arange(1.0, 28.0) ** 1.5]),  # few do
        np.random.default_rng(1).integers(0, 4, size=40).astype(float),
    ],
)
def test_ties(values):
    found = neighbour_bandwidth(values)
    assert found > 0.0 and found == pytest.approx(naive.neighbour_bandwidth(values[:, None]), rel=1e-12)


@pytest.mark.parametrize("unit", [1e-200, 1e-3, 7.0, 1e200])
def test_units(unit):
    assert neighbour_bandwidth(unit * X) == pytest.approx(unit * neighbour_bandwidth(X), rel=1e-12)
    found, scaled = (two_sample_test(c * X, c * Y, bandwidth="neighbours", **OPTIONS) for c in (1.0, unit))
    assert scaled.pvalue == found.pvalue


def test_many_rows_are_drawn_from():
    Z = rng.normal(size=(2001, 1))
    drawn = np.random.default_rng(5).choice(2001, 1000, replace=False)
    assert neighbour_bandwidth(Z, rng=5) == neighbour_bandwidth(Z[drawn]) != neighbour_bandwidth(Z, rng=6)
    generator = np.random.default_rng(0)
    before = generator.bit_generator.state
    neighbour_bandwidth(Z[:2000], generator)
    assert generator.bit_generator.state == before


@pytest.mark.parametrize(
    ("given", "factor", "shown"),
    [
        ("neighbours", 1.0, "'neighbours'"),
        ("Neighbours", 1.0, "'neighbours'"),
        ("1 * neighbours", 1.0, "'neighbours'"),
        ("0.5 * neighbours", 0.5, "'0.5 * neighbours'"),
        ("neighbours/4", 0.25, "'0.25 * neighbours'"),
        ("neighbours * 2e1", 20.0, "'20.0 * neighbours'"),
        (".5neighbours", 0.5, "'0.5 * neighbours'"),
    ],
)
def test_multiples(given, factor, shown):
    kernel = Gaussian(given)
    assert repr(kernel) == f"Gaussian(bandwidth={shown})" and eval(repr(kernel)) == kernel
    assert kernel.resolve(X).bandwidth == pytest.approx(factor * neighbour_bandwidth(X), rel=1e-15)
    assert kernel != Gaussian(shown.replace("neighbours", "median").strip("'"))
