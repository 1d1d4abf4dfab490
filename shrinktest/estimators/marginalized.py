"""Average the features over noise: marginalized means, that is, the means of a Gaussian density estimate."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from shrinktest._check import complete_points, numbers_or_nan, positive
from shrinktest.embedding import MeanEmbedding
from shrinktest.estimators.mean_estimator import Needs, Tuned
from shrinktest.estimators.scaled import ScaledMean, Sums
from shrinktest.kernels import Gaussian, Kernel, as_kernel


def _gaussian(kernel: Kernel, estimator: Marginalized) -> Gaussian:
    if not isinstance(kernel, Gaussian):
        raise ValueError(f"{estimator!r} is known in closed form for Gaussian kernels only, not for {kernel!r}")
    return kernel


@dataclass(frozen=True, repr=False)
class Marginalized(Tuned, ScaledMean):
    """Base class of marginalized means, (1/n) sum_i E k(x_i + N(0, diag(v)), .)."""

    unbiased_pairs: ClassVar[bool] = True
    smooths: ClassVar[bool] = True
    amount: ClassVar[str] = "noise variance"
    one_noise: ClassVar[bool] = True

    @property
    def needs(self) -> Needs:  # type: ignore[override]
        """Sums of the smoothed features' Gram matrix, or the points themselves while the noise is not tuned."""
        return "sums" if self.fixed else "noise"

    @abstractmethod
    def noise(self, columns: int) -> np.ndarray:
        """Return the fixed noise variances (columns,)."""

    @abstractmethod
    def _with_noise(self, noise: np.ndarray) -> Self:
        """Return the estimator with these variances (columns,) fixed."""

    def scale(self, *sums: Sums) -> Any:
        return np.ones_like(np.asarray(sums[0][0], dtype=np.float64))

    def weighs_all_alike(self, sizes: tuple[int, ...]) -> bool:
        return True

    def tuning_for(self, sizes: tuple[int, ...]) -> str:
        """Return "pooled" for "auto": unequal noise makes the MMD non-zero under P = Q (E31)."""
        return "pooled" if self.tuning == "auto" and not self.fixed else super().tuning_for(sizes)

    def features(self, kernel: Kernel, points: np.ndarray) -> Kernel:
        """Return the kernel of two noisy copies, E k(x + N, y + N'), with noise tuned on ``points`` unless fixed."""
        noise = self.tuned(kernel, points).noise(points.shape[1])
        return _gaussian(kernel, self).smoothed(2.0 * noise, points.shape[1])

    def tuned(self, kernel: Kernel, *samples: np.ndarray) -> Self:
        if self.fixed:
            return self
        if len(samples) > 2:
            raise ValueError("tuning='joint' of noise is for one or two samples; use tuning='pooled'")
        columns = samples[0].shape[1]
        noise, th2 = np.zeros(columns), self.th2(kernel, columns)
        if min(len(x) for x in samples) > 1:  # else a point cannot be left out
            from shrinktest.estimators.noise_loops import tune, tune_common

            x, y = (*(np.ascontiguousarray(sample.T) for sample in samples), np.empty((columns, 0)))[:2]
            if self.one_noise:
                noise[:] = np.exp(tune_common(x, y, th2))
            else:
                tune(x, y, th2, False, noise)
        return self._with_noise(noise)

    def th2(self, kernel: Kernel, columns: int) -> np.ndarray:
        """Return the squared bandwidths (columns,) of the Gaussian kernel."""
        bandwidth = _gaussian(kernel, self).bandwidth
        with np.errstate(over="ignore", under="ignore"):
            squared = np.broadcast_to(np.square(bandwidth), (columns,)).astype(np.float64)
        if not ((squared > 0.0) & np.isfinite(squared)).all():
            raise ValueError(
                f"{self!r}: the square of bandwidth {bandwidth} is beyond the range of numbers; multiply the data by a "
                "constant"
            )
        return squared

    def loocv(self, X: Any, kernel: Any, variances: Any) -> tuple[float, np.ndarray]:
        """Leave-one-out score at given noise variances ([X20] (25)-(27)), and its gradient.

        Parameters
        ----------
        X : array_like, shape (n, d)
        kernel : Gaussian
        variances : array_like, shape (d,) or a number
            Noise variances in squared units of the data, positive.

        Returns
        -------
        score : float
        gradient : ndarray, shape (d,)
            With respect to the logarithms of the variances.
        """
        from shrinktest.estimators.noise_loops import loocv

        points, noise = complete_points(X, "X").values, numbers_or_nan(variances)
        columns = points.shape[1]
        if len(points) < 2:
            raise ValueError("X has 1 row; leaving one out takes 2 at least")
        if noise.shape not in ((), (1,), (columns,)) or not ((noise >= 0.0) & np.isfinite(noise)).all():
            raise ValueError(
                f"variances must be a number >= 0, or one for each of {columns} columns; got {variances!r}"
            )
        gradient, th2 = np.zeros(columns), self.th2(as_kernel(kernel).resolve(points, 0), columns)
        score = loocv(np.ascontiguousarray(points.T), th2, np.broadcast_to(noise, (columns,)).copy(), gradient)
        return float(score), gradient

    def linear(self, X: Any, kernel: Any = "gaussian") -> MeanEmbedding:
        """Linear surrogate: the second-order expansion of the estimate in its variances, on the k(x_i, .).

        b = (1 - tr V / (2 th2)) u + K^+ K' u / (2 th2^2) with u = 1/n and K'_ij = K_ij (x_i - x_j)' V (x_i - x_j)
        ([X20] Theorems 1-2 with the corrections of erratum E26; an approximation, not an identity).

        Returns
        -------
        MeanEmbedding
            A finite combination, so that every formula for weights applies to it.
        """
        fitted = self.fit(X, kernel)
        points, gram = fitted.points, fitted.kernel(fitted.points)
        th2 = self.th2(fitted.kernel, points.shape[1])
        noise, scaled = np.asarray(fitted.smoothing) / th2, points / np.sqrt(th2)
        distances = np.square(scaled[:, None, :] - scaled[None, :, :]) @ noise
        bend = np.linalg.lstsq(gram, (gram * distances).mean(axis=1), rcond=1e-12)[0]
        weights = (1.0 - 0.5 * noise.sum()) / len(points) + 0.5 * bend
        return MeanEmbedding(points, weights, fitted.kernel, fitted.shrinkage)

    def embed(self, points: np.ndarray, kernel: Kernel) -> MeanEmbedding:
        n, columns = points.shape
        noise = tuple(self.tuned(kernel, points).noise(columns).tolist())
        amount = noise[0] if self.one_noise else noise
        return MeanEmbedding(points, np.full(n, 1.0 / n), _gaussian(kernel, self), amount, noise)


@dataclass(frozen=True, repr=False)
class MKME(Marginalized):
    """Marginalized kernel mean: averaged over Gaussian noise, with one noise variance for all coordinates.

    Parameters
    ----------
    variance : float, optional
        Fixed noise variance in squared units of the data; tuned by the leave-one-out score if not given.
    tuning : {"auto", "sample", "joint", "pooled"}
        "auto" is "pooled": the two samples must carry the same noise (erratum E31).

    Notes
    -----
    [X20] section 3 (Gaussian kernel).  With one variance for both samples the test is the standard one with bandwidth^2
    + 2 variance: tuning it is a choice of the bandwidth.  The score always selects a positive variance unless all
    points coincide.

    Examples
    --------
    >>> from shrinktest import Gaussian
    >>> mean = MKME(variance=0.5).fit([[0.0], [1.0]], Gaussian(1.0))
    >>> round(mean.norm2(), 4)
    0.6289
    """

    summary: ClassVar[str] = "marginalized mean, one noise variance"

    variance: float | None = None

    def _check(self) -> None:
        if self.variance is not None:
            positive(self.variance, "variance", allow_zero=True)

    @property
    def fixed(self) -> bool:
        return self.variance is not None

    def noise(self, columns: int) -> np.ndarray:
        return np.full(columns, float(self.variance or 0.0))

    def _with_noise(self, noise: np.ndarray) -> Self:
        return self.at(variance=float(noise[0]))


@dataclass(frozen=True, repr=False)
class MMKME(Marginalized):
    """Marginalized kernel mean: averaged over Gaussian noise, with one noise variance per coordinate.

    Parameters
    ----------
    variances : sequence of float, optional
        Fixed noise variances (d,) in squared units of the data; tuned by the leave-one-out score if not given.
    tuning : {"auto", "sample", "joint", "pooled"}
        "auto" is "pooled": the two samples must carry the same noise (erratum E31).

    Notes
    -----
    [X20] section 3.2.  The score is not convex: the search starts from the common variance of :class:`MKME`, from very
    little noise and from much noise, and stays within e^-12 to e^6 of the squared bandwidth.  In one dimension it is
    :class:`MKME`.

    Examples
    --------
    >>> from shrinktest import Gaussian
    >>> mean = MMKME(variances=(0.5, 0.0)).fit([[0.0, 0.0], [1.0, 0.0]], Gaussian(1.0))
    >>> round(mean.norm2(), 4)
    0.6289
    """

    summary: ClassVar[str] = "marginalized mean, one noise variance per coordinate"
    one_noise: ClassVar[bool] = False

    variances: tuple[float, ...] | None = None

    def _check(self) -> None:
        if self.variances is not None:
            values = np.atleast_1d(numbers_or_nan(self.variances))
            wrong = values.ndim > 1 or not values.size or not ((values >= 0.0) & np.isfinite(values)).all()
            if wrong or isinstance(self.variances, bool):
                raise ValueError(f"variances must be finite numbers >= 0, one for each column; got {self.variances!r}")
            object.__setattr__(self, "variances", tuple(values.tolist()))

    @property
    def fixed(self) -> bool:
        return self.variances is not None

    def noise(self, columns: int) -> np.ndarray:
        if self.variances is None or len(self.variances) != columns:
            found = len(self.variances or ())
            raise ValueError(f"variances needs one value per coordinate: {columns} expected, found {found}")
        return np.array(self.variances)

    def _with_noise(self, noise: np.ndarray) -> Self:
        return self.at(variances=tuple(noise.tolist()))
