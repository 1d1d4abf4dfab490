"""Marginalized means: features averaged over noise.

They are the means of a Gaussian density estimate.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from shrinktest._check import complete_points, positive
from shrinktest._machine_code import compiled_loop
from shrinktest.embedding import MeanEmbedding
from shrinktest.estimators import noise as plain
from shrinktest.estimators.mean_estimator import Check, Needs, Tuned, non_negative
from shrinktest.estimators.scaled import ScaledMean
from shrinktest.kernels import Gaussian, Kernel, as_kernel


@dataclass(frozen=True, repr=False)
class Marginalized(Tuned, ScaledMean):
    """Base class of marginalized means, (1/n) sum_i E k(x_i + N(0, diag(v)), .)."""

    unbiased_pairs = True
    smooths = True
    amount = "noise variance"

    @property
    def needs(self) -> Needs:  # type: ignore[override]
        """Sums of the smoothed features' Gram matrix, or the points while noise is untuned."""
        return "sums" if self.fixed else "noise"

    @property
    def by_coordinates(self) -> bool:  # type: ignore[override]
        """True unless the noise is tuned on the points."""
        return self.fixed

    @abstractmethod
    def noise(self, columns: int) -> np.ndarray:
        """Return the fixed noise variances (columns,)."""

    def tuning_for(self, sizes: tuple[int, ...]) -> str:
        """Return "pooled" for "auto".

        Unequal noise makes the MMD non-zero under P = Q (erratum E31 in :doc:`/errata`).
        """
        return "pooled" if self.tuning == "auto" and not self.fixed else super().tuning_for(sizes)

    def features(self, kernel: Kernel, points: np.ndarray) -> Kernel:
        """Return the kernel of two noisy copies, E k(x + N, y + N').

        The noise is tuned on ``points`` unless fixed.
        """
        noise = self.tuned(kernel, points).noise(points.shape[1])
        return self._gaussian(kernel).smoothed(2.0 * noise, points.shape[1])

    def _gaussian(self, kernel: Kernel) -> Gaussian:
        if not isinstance(kernel, Gaussian):
            raise ValueError(
                f"{self!r} is known in closed form for Gaussian kernels only, not for {kernel!r}"
            )
        return kernel

    def tuned(self, kernel: Kernel, *samples: np.ndarray) -> Self:
        if self.fixed:
            return self
        if len(samples) > 2:
            raise ValueError(
                "tuning='joint' of noise is for one or two samples; use tuning='pooled'"
            )
        columns = samples[0].shape[1]
        noise = np.zeros(columns)
        th2 = self.th2(kernel, columns)
        if min(len(x) for x in samples) > 1:  # else a point cannot be left out
            x, y = (
                *(np.ascontiguousarray(sample.T) for sample in samples),
                np.empty((columns, 0)),
            )[:2]
            tune = (
                compiled_loop("tune", 1, self.tuning_seconds(columns, x.shape[1], y.shape[1]))
                or plain.tune
            )
            tune(x, y, th2, self.one_noise, noise)
        return self.at(**{self._amounts[0]: noise[0] if self.one_noise else noise})

    def tuning_seconds(self, columns: int, *sizes: int) -> float:
        """Return about how long numpy takes to tune the noise on samples of these sizes."""
        scores = 50.0 if self.one_noise else 500.0
        return scores * sum(1e-4 + 1e-8 * size * (size - 1) * (2 + columns) / 2.0 for size in sizes)

    def th2(self, kernel: Kernel, columns: int) -> np.ndarray:
        """Return the squared bandwidths (columns,) of the Gaussian kernel."""
        bandwidth = self._gaussian(kernel).bandwidth
        with np.errstate(over="ignore", under="ignore"):
            squared = np.broadcast_to(np.square(bandwidth), (columns,)).astype(np.float64)
        if not ((squared > 0.0) & np.isfinite(squared)).all():
            raise ValueError(
                f"{self!r}: bandwidth {bandwidth} squared is no normal number; multiply the data "
                "by a constant"
            )
        return squared

    def loocv(self, X: Any, kernel: Any, variances: Any) -> tuple[float, np.ndarray]:
        """Return the leave-one-out score at fixed noise variances, and its gradient.

        ``variances`` are a number or one for each column, in squared units of the data; the
        gradient (d,) is that with respect to their logarithms ([X20] (25)-(27)).
        """
        points = complete_points(X, "X").values
        noise = np.array(non_negative(variances, "variances"))
        columns = points.shape[1]
        if len(points) < 2:
            raise ValueError("X has 1 row; leaving one out requires at least 2")
        if noise.size not in (1, columns):
            raise ValueError(
                f"variances must be one number, or one for each of {columns} columns; got "
                f"{noise.size}"
            )
        gradient = np.zeros(columns)
        th2 = self.th2(as_kernel(kernel).resolve(points, 0), columns)
        score = plain.loocv(
            np.ascontiguousarray(points.T), th2, np.broadcast_to(noise, (columns,)).copy(), gradient
        )
        return float(score), gradient

    def linear(self, X: Any, kernel: Any = "gaussian") -> MeanEmbedding:
        """Return the second-order expansion of the estimate in its variances.

        This linear surrogate on the k(x_i, .) has the weights b = (1 - tr V / (2 th2)) u + K^+ K' u
        / (2 th2^2) with u = 1/n and K'_ij = K_ij (x_i - x_j)' V (x_i - x_j) ([X20] Theorems 1-2
        with the corrections of erratum E26 in :doc:`/errata`; an approximation, not an identity).
        Because it is a finite combination, every formula for weights applies to it.
        """
        fitted = self.fit(X, kernel)
        points = fitted.points
        gram = fitted.kernel(fitted.points)
        th2 = self.th2(fitted.kernel, points.shape[1])
        noise = np.asarray(fitted.smoothing) / th2
        scaled = points / np.sqrt(th2)
        distances = np.square(scaled[:, None, :] - scaled[None, :, :]) @ noise
        bend = np.linalg.lstsq(gram, (gram * distances).mean(axis=1), rcond=1e-12)[0]
        weights = (1.0 - 0.5 * noise.sum()) / len(points) + 0.5 * bend
        return MeanEmbedding(points, weights, fitted.kernel, fitted.shrinkage)

    def embed(self, points: np.ndarray, kernel: Kernel) -> MeanEmbedding:
        n, columns = points.shape
        noise = tuple(self.tuned(kernel, points).noise(columns).tolist())
        amount = noise[0] if self.one_noise else noise
        return MeanEmbedding(points, np.full(n, 1.0 / n), self._gaussian(kernel), amount, noise)


@dataclass(frozen=True, repr=False)
class MKME(Marginalized):
    """Marginalized kernel mean with one noise variance for all coordinates.

    The features are averaged over Gaussian noise, as in [X20] section 3 (Gaussian kernel).  If both
    samples share one variance, the test is the standard one with 2 variance added to bandwidth^2,
    and therefore tuning the variance amounts to choosing a bandwidth.  The leave-one-out score
    always selects a positive variance unless all points coincide.

    Parameters
    ----------
    variance : float, optional
        Fixed noise variance in squared units of the data; by default tuned by the leave-one-out
        score.
    tuning : {"auto", "sample", "joint", "pooled"}, default "auto"
        Samples for which a variance is chosen, as for :class:`SKMSE`, but "auto" is "pooled",
        because the two samples must have equal noise (erratum E31 in :doc:`/errata`).

    References
    ----------
    .. [X20] Xia et al., "Kernel mean estimation by marginalized corrupted distributions",
       arXiv:2107.04855, 2021.

    Examples
    --------
    >>> from shrinktest import Gaussian
    >>> mean = MKME(variance=0.5).fit([[0.0], [1.0]], Gaussian(1.0))
    >>> round(mean.norm2(), 4)
    0.6289
    """

    summary = "marginalized mean, one noise variance"
    sources = ("X20",)
    one_noise = True
    _amounts = ("variance",)
    _checks: ClassVar[dict[str, Check]] = {
        "variance": lambda value, name: positive(value, name, allow_zero=True)
    }

    variance: float | None = None

    def noise(self, columns: int) -> np.ndarray:
        return np.full(columns, self.variance or 0.0)


@dataclass(frozen=True, repr=False)
class MMKME(Marginalized):
    """Marginalized kernel mean with one noise variance per coordinate.

    The features are averaged over Gaussian noise, as in [X20] section 3.2.  Because the
    leave-one-out score is not convex, the search starts from the common variance of :class:`MKME`,
    from very little noise and from much noise, and remains between e^-12 and e^6 times the squared
    bandwidth.  In one dimension the estimator is :class:`MKME`.

    Parameters
    ----------
    variances : sequence of float, optional
        Fixed noise variances (d,) in squared units of the data; by default tuned by the
        leave-one-out score.
    tuning : {"auto", "sample", "joint", "pooled"}, default "auto"
        Samples for which variances are chosen, as for :class:`MKME`.

    References
    ----------
    .. [X20] Xia et al., "Kernel mean estimation by marginalized corrupted distributions",
       arXiv:2107.04855, 2021.

    Examples
    --------
    >>> from shrinktest import Gaussian
    >>> mean = MMKME(variances=(0.5, 0.0)).fit([[0.0, 0.0], [1.0, 0.0]], Gaussian(1.0))
    >>> round(mean.norm2(), 4)
    0.6289
    """

    summary = "marginalized mean, one noise variance per coordinate"
    sources = ("X20",)
    _amounts = ("variances",)
    _checks: ClassVar[dict[str, Check]] = {"variances": non_negative}

    variances: tuple[float, ...] | None = None

    def noise(self, columns: int) -> np.ndarray:
        variances = self.variances or ()
        if len(variances) != columns:
            raise ValueError(
                f"variances needs one value per coordinate: {columns} expected, found "
                f"{len(variances)}"
            )
        return np.array(variances)
