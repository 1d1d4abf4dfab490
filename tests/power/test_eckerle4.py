"""Eckerle4: the published table, its certified curve, and simulations from it."""

from __future__ import annotations

import numpy as np
import pytest

from shrinktest.datasets import (
    B1,
    B2,
    B3,
    RESIDUAL_SD,
    eckerle_curve,
    load_eckerle4,
    simulate_eckerle,
)


def test_eckerle4_is_the_published_table():
    data = load_eckerle4()
    wavelength, transmittance = data
    assert wavelength.shape == transmittance.shape == (35,)
    assert wavelength.dtype == transmittance.dtype == np.float64
    assert (np.diff(wavelength) > 0).all()
    assert (wavelength[0], wavelength[-1], wavelength[18]) == (400.0, 500.0, 451.5)
    assert (transmittance[0], transmittance[-1], transmittance[18]) == (
        0.0001575,
        0.0000710,
        0.3698049,
    )
    assert data.wavelength is wavelength and data.transmittance is transmittance


def test_eckerle4_bandwidths_are_those_of_the_published_study():
    for values, median in zip(load_eckerle4(), (576.0, 0.002951), strict=True):
        first, second = np.triu_indices(35, k=1)
        assert np.median(np.square(values[first] - values[second])) == pytest.approx(
            median, rel=2e-4
        )


def test_certified_parameters_leave_the_certified_residuals():
    wavelength, transmittance = load_eckerle4()
    residual = transmittance - eckerle_curve(wavelength)
    assert np.sqrt(residual @ residual / (35 - 3)) == pytest.approx(RESIDUAL_SD, rel=1e-9)
    # certified means least squares: the residuals are orthogonal to the derivatives by b1, b2 and b3 (as far
    # as parameters printed with eleven digits go)
    curve, z = eckerle_curve(wavelength), (wavelength - B3) / B2
    for derivative in (curve / B1, curve * (np.square(z) - 1.0) / B2, curve * z / B2):
        assert abs(residual @ derivative) < 1e-7 * np.linalg.norm(residual) * np.linalg.norm(
            derivative
        )


def test_simulation_follows_the_model():
    wavelength, transmittance = simulate_eckerle(50, noise=0.0, rng=1)
    assert (transmittance == eckerle_curve(wavelength)).all()
    wavelength, transmittance = simulate_eckerle(20_000, noise=0.02, rng=2)
    residual = transmittance - eckerle_curve(wavelength)
    assert residual.std() == pytest.approx(0.02, rel=0.03)
    assert abs(residual.mean()) < 5 * 0.02 / np.sqrt(20_000)
    assert wavelength.min() >= 400.0 and wavelength.max() <= 500.0
    assert wavelength.mean() == pytest.approx(450.0, abs=1.0)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"n": 0}, ValueError, "n must be"),
        ({"n": 2.5}, TypeError, "n must be"),
        ({"n": 5, "noise": -1.0}, ValueError, "noise must be"),
        ({"n": 5, "noise": np.nan}, ValueError, "noise must be"),
        ({"n": 5, "rng": "seed"}, TypeError, "rng must be"),
    ],
)
def test_bad_arguments_are_named(arguments, error, message):
    with pytest.raises(error, match=message):
        simulate_eckerle(**arguments)
