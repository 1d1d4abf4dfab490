"""Eckerle4: two measured variables that depend through a narrow peak, and a simulator."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shrinktest._check import Array, count, positive, real_values
from shrinktest._random import as_rng

#: NIST's certified parameters of the model, and its residual standard deviation.
B1 = 1.5543827178
B2 = 4.0888321754
B3 = 451.54121844
RESIDUAL_SD = 0.0067629245447


class Eckerle(NamedTuple):
    """Wavelengths in nanometers (n,) and their transmittances (n,).

    ``wavelength, transmittance = data`` unpacks it.

    Parameters
    ----------
    wavelength : array of shape (n,)
        Wavelengths of the light, in nanometers.
    transmittance : array of shape (n,)
        Proportions of the light that passed the filter.

    Examples
    --------
    >>> data = load_eckerle4()
    >>> float(data.wavelength.min()), float(data.transmittance.max())
    (400.0, 0.3698049)
    """

    wavelength: Array
    transmittance: Array


def load_eckerle4() -> Eckerle:
    """Return the 35 observations of NIST's Eckerle4.

    They are the transmittance of a filter at different wavelengths.

    Returns
    -------
    Eckerle
        ``wavelength`` (35,), 400 to 500 nm, and ``transmittance`` (35,).

    Raises
    ------
    OSError
        If the file of the data cannot be read.

    See Also
    --------
    simulate_eckerle : Data like these, of any size.
    shrinktest.independence_test : Whether transmittance depends on wavelength.

    Notes
    -----
    The data are from K. Eckerle, circular interference transmittance study, National Institute of
    Standards and Technology, 1979; they are one of the Statistical Reference Datasets for nonlinear
    regression, in the public domain.

    Examples
    --------
    >>> wavelength, transmittance = load_eckerle4()
    >>> wavelength.shape, float(wavelength[transmittance.argmax()])
    ((35,), 451.5)
    """
    from importlib import resources

    text = resources.files(__name__).joinpath("eckerle4.csv").read_text(encoding="utf-8")
    table = np.loadtxt(text.splitlines(), delimiter=",", skiprows=1)
    return Eckerle(*np.ascontiguousarray(table.T))


def eckerle_curve(wavelength: Any) -> Array:
    """Return NIST's certified model of Eckerle4 at any wavelengths.

    The model is (b1/b2) exp(-((x - b3)/b2)^2 / 2).

    Parameters
    ----------
    wavelength : array_like
        Wavelengths in nanometers, an array of any shape.

    Returns
    -------
    array of the same shape
        Transmittances at these wavelengths.

    Raises
    ------
    TypeError, ValueError
        If ``wavelength`` does not consist of numbers.

    See Also
    --------
    simulate_eckerle : Data from this curve and noise.

    Examples
    --------
    >>> float(eckerle_curve(451.5).round(4))
    0.3801
    """
    try:
        x = real_values(wavelength)
    except TypeError as error:
        raise TypeError(f"wavelength must be numbers, in nanometers: {error}") from None
    return np.asarray(B1 / B2 * np.exp(-0.5 * np.square((x - B3) / B2)))


def simulate_eckerle(n: int, noise: float = RESIDUAL_SD, rng: Any = None) -> Eckerle:
    """Draw independent observations from NIST's certified model of Eckerle4.

    Wavelengths are uniform on [400, 500] nm, so that the pairs are independent and identically
    distributed, whereas the 35 measured ones are a fixed design, denser around the peak.
    Transmittances are the certified curve plus Gaussian noise (and, unlike real ones, may be
    negative).

    Parameters
    ----------
    n : int
        Number of observations, at least 1.
    noise : float, optional
        Standard deviation of the noise, at least 0; by default the residual standard deviation that
        NIST certifies.
    rng : None, int, SeedSequence, BitGenerator or Generator, optional
        Seed or source of the random numbers.

    Returns
    -------
    Eckerle
        ``wavelength`` (n,) and ``transmittance`` (n,).

    Raises
    ------
    TypeError, ValueError
        If ``n`` is not a positive integer, or ``noise`` is not a finite number of at least 0.

    See Also
    --------
    load_eckerle4 : The measured data.
    shrinktest.power.designs.EckerleSimulation : This simulation as a design of power studies.

    Examples
    --------
    >>> wavelength, transmittance = simulate_eckerle(200, noise=0.01, rng=0)
    >>> transmittance.shape
    (200,)
    """
    n = count(n, "n", minimum=1)
    noise = positive(noise, "noise", allow_zero=True)
    generator = as_rng(rng)
    wavelength = generator.uniform(400.0, 500.0, size=n)
    return Eckerle(wavelength, eckerle_curve(wavelength) + noise * generator.standard_normal(n))


__all__ = ["Eckerle", "eckerle_curve", "load_eckerle4", "simulate_eckerle"]
