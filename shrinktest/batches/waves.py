"""Random Fourier features of many rows: one tangent in place of a cosine and a sine."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shrinktest._validate import Array
from shrinktest.kernels.base import FiniteRank
from shrinktest.kernels.finite_rank import RandomFourier

_VALUES = 2**14  # at a time, which stay in the cache


@dataclass(frozen=True, eq=False, repr=False)
class Waves(RandomFourier):
    """Random Fourier features by the tangent t of half the phase, which takes a fraction of the time.

    The cosine is 2 / (1 + t^2) - 1 and the sine 2 t / (1 + t^2), with the parameters of :class:`RandomFourier`.
    """

    def coordinates(self, X: Array) -> Array:
        half = len(self.frequencies)
        height = np.sqrt(self.scale / half)
        slopes = np.ascontiguousarray(0.5 * self.frequencies.T)
        out = np.empty((len(X), 2 * half))
        step = max(16, _VALUES // half)
        for start in range(0, len(X), step):
            rows = slice(start, start + step)
            t = X[rows] @ slopes
            np.tan(t, out=t)
            w = np.square(t)
            w += 1.0
            np.divide(2.0 * height, w, out=w)
            np.subtract(w, height, out=out[rows, :half])
            np.multiply(w, t, out=out[rows, half:])
        return out


def quick(features: FiniteRank) -> FiniteRank:
    """The same features, up to rounding, in less time where there is a way."""
    if type(features) is not RandomFourier:
        return features
    return Waves(features.kernel, features.frequencies, features.scale)
