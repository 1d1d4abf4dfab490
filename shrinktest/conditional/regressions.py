"""Regressions on given variables, by kernel ridge or a user's regressor.

They give residuals, and neighborhoods of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from shrinktest._parallel import single_blas_thread
from shrinktest.kernels import Gaussian, Kernel
from shrinktest.kernels.bandwidths import drawn_rows, median_bandwidth
from shrinktest.kernels.feature_maps import nystrom
from shrinktest.statistics.features import Features
from shrinktest.units import near_one

_DENSE = 300  # rows up to which Gram matrices are decomposed as a whole
_RANK = 150  # landmarks of a kernel of more rows
_RANK_OF_COLUMN = 12  # landmarks of a kernel of one column of many
_WIDTHS = (2.0, 1.0, 0.5, 0.25)  # bandwidths, times the median distance
# weight of the inner product that is added to a Gaussian kernel, so that straight lines cost it
# nothing
_LINE = 0.1
_AMOUNTS = 10.0 ** np.arange(-4.0, 1.6, 0.5)  # of shrinkage, relative to the largest eigenvalue
_SMALLEST = (
    1e-6  # of the largest eigenvalue: directions below it are shrunk to a hundredth at least
)
_OWN = 0.99  # largest share of a row in its own prediction with which it can be left out
FEWEST = 10  # rows of a regression
_FEATURES = (
    15  # coordinates of a kernel by which its regression is tuned, or which a regressor predicts
)
# of the variance of coordinates: those along the longest axes, by which their regression is tuned
_TUNED = 0.98
_FOLDS = 5
_MOST_NOISE = 0.9  # of the variance of residuals: largest variance of predictions
_NOTHING = (
    1e-5  # of the variance of a variable: with less left, it is a function of the given variables
)
_BOUND = 4.0  # mean absolute deviations, to which numbers are bent
_SURE = 2.0  # standard deviations by which the residuals of neighbors are more alike than by chance


class NothingToTest(ValueError):
    """Raised where a variable does not vary, or not beyond what is given, so nothing is left."""


# --- kernel ridge regression ----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Basis:
    """Eigenvectors (n, m) and eigenvalues (m,) of a centered Gram matrix.

    The Gram matrix is that of a kernel of the given variables.
    """

    vectors: np.ndarray
    values: np.ndarray

    @classmethod
    def from_gram(cls, gram: np.ndarray) -> Basis:
        """Decompose a Gram matrix (n, n)."""
        means = gram.mean(axis=0)
        values, vectors = np.linalg.eigh(gram - means - means[:, None] + means.mean())
        large = values > _SMALLEST * max(values[-1], 0.0)
        return cls(np.ascontiguousarray(vectors[:, large]), values[large])

    @classmethod
    def from_coordinates(cls, z: np.ndarray) -> Basis:
        """Decompose the kernel with coordinates z (n, m), with fewer columns than rows."""
        z = z - z.mean(axis=0)
        values, turned = np.linalg.eigh(z.T @ z)
        large = values > _SMALLEST * max(values[-1], 0.0)
        return cls(
            np.ascontiguousarray(z @ (turned[:, large] / np.sqrt(values[large]))), values[large]
        )

    @cached_property
    def shrinkage(self) -> tuple[np.ndarray, np.ndarray]:
        """Shrinkage factors (m, a), and shares (n, a) of rows in their own predictions.

        The factors are for usable amounts of shrinkage.
        """
        factors = self.values[:, None] / (
            self.values[:, None] + _AMOUNTS * self.values.max(initial=0.0)
        )
        own = np.square(self.vectors) @ factors + 1.0 / len(self.vectors)
        usable = own.max(axis=0) <= _OWN
        return factors[:, usable], own[:, usable]


@dataclass(frozen=True, eq=False)
class Smoother:
    """Tuned kernel ridge regression: eigenvectors (n, m), and the factor (m,) of each.

    Factors are from 0 to 1.
    """

    vectors: np.ndarray
    factors: np.ndarray

    @property
    def own(self) -> np.ndarray:
        """Share (n,) of every row in its own prediction, including its share in the mean."""
        return np.asarray(np.square(self.vectors) @ self.factors + 1.0 / len(self.vectors))

    def residuals(self, targets: np.ndarray) -> np.ndarray:
        """Residuals (n, r) of targets."""
        centered = targets - targets.mean(axis=0)
        return np.asarray(
            centered - self.vectors @ (self.factors[:, None] * (self.vectors.T @ centered))
        )

    def residual_gram(self, gram: np.ndarray) -> np.ndarray:
        """Gram matrix (n, n) of the residuals of features with this Gram matrix."""
        return self.residuals(np.ascontiguousarray(self.residuals(gram).T))


def standardized(z: np.ndarray) -> np.ndarray:
    """Return the columns (n, d) in units of their standard deviations, without constant ones."""
    z = near_one(z)
    spread = z.std(axis=0)
    varies = spread > 1e-12 * np.maximum(np.abs(z).max(axis=0), np.finfo(np.float64).tiny)
    return np.ascontiguousarray((z[:, varies] - z[:, varies].mean(axis=0)) / spread[varies])


def candidate_bases(z: np.ndarray) -> tuple[Basis, ...]:
    """Bases of regressions on z (n, d).

    They are lines, functions of all columns with four bandwidths, and sums over columns.
    """
    z = standardized(z)
    n, d = z.shape
    if d == 0:
        return ()
    line = z / d**0.5
    single = Gaussian(1.0)
    some = z if n <= _DENSE else drawn_rows(z, _DENSE, np.random.default_rng(0))
    kernels = [Gaussian(width * median_bandwidth(some)) for width in _WIDTHS]
    columns = [z[:, j : j + 1] for j in range(d)] if d > 1 else []
    straight = Basis.from_coordinates(line) if d < n else Basis.from_gram(line @ line.T)
    if n <= _DENSE:
        grams = [kernel(z) for kernel in kernels]
        grams += [np.asarray(sum(map(single, columns))) / d] if columns else []
        return (straight, *(Basis.from_gram(gram + _LINE * (line @ line.T)) for gram in grams))
    parts = [[nystrom(kernel, z, _RANK, 0).coordinates(z)] for kernel in kernels]
    rank = max(4, min(_RANK_OF_COLUMN, _RANK // d))
    parts += (
        [[nystrom(single, column, rank, 0).coordinates(column) / d**0.5 for column in columns]]
        if columns
        else []
    )
    return (
        straight,
        *(Basis.from_coordinates(np.hstack([*part, _LINE**0.5 * line])) for part in parts),
    )


def tuned_smoother(bases: Sequence[Basis], targets: np.ndarray) -> Smoother:
    """Tune a regression of targets (n, r) by leaving one row out.

    Leaving row i out leaves (row i of the residuals) / (1 - its share in its own prediction).
    """
    n = len(targets)
    centered = targets - targets.mean(axis=0)
    best = float(np.square(centered * n / (n - 1.0)).sum()), Smoother(np.zeros((n, 0)), np.zeros(0))
    for basis in bases:
        factors, own = basis.shrinkage
        amounts = own.shape[1]
        columns = centered.shape[1]
        shrunk = factors[:, :, None] * (basis.vectors.T @ centered)[:, None, :]
        fitted = basis.vectors @ shrunk.reshape(len(factors), amounts * columns)
        errors = (centered[:, None, :] - fitted.reshape(n, amounts, columns)) / (1.0 - own)[
            :, :, None
        ]
        scores = np.einsum("iar,iar->a", errors, errors)
        if scores.size and scores.min() < best[0]:
            best = float(scores.min()), Smoother(basis.vectors, factors[:, scores.argmin()])
    return best[1]


def inflation(first: Smoother, second: Smoother) -> float:
    """Inflation factor, at least 1, of squared sums of products of residuals.

    It is the factor by which they exceed those with random signs.

    Residuals of different rows share the noise of the regression; the factor assumes white noise in
    both variables.
    """
    n = len(first.vectors)
    both = (first, second)
    lost = [smoother.factors * (2.0 - smoother.factors) for smoother in both]
    shared = np.square(first.vectors.T @ second.vectors)
    products = n - 1.0 - lost[0].sum() - lost[1].sum() + lost[0] @ shared @ lost[1]
    rows = [
        1.0 - 1.0 / n - np.square(smoother.vectors) @ part
        for smoother, part in zip(both, lost, strict=True)
    ]
    return max(1.0, float(products / (rows[0] * rows[1]).sum()))


# --- residuals ------------------------------------------------------------------------------------


class Residuals(Features):
    """Residuals of a variable, or of kernel features, after regression on the given variables.

    ``smoother`` is the kernel ridge regression.  Of a regressor, ``held_out`` are the residuals (n,
    r) of fits without each fold, and ``noise`` is the variance of its predictions in units of the
    noise variance.
    """

    def __init__(
        self,
        values: np.ndarray,
        by_coordinates: bool = True,
        *,
        smoother: Smoother | None = None,
        held_out: Sequence[np.ndarray] = (),
        noise: float | None = None,
    ) -> None:
        super().__init__(values, by_coordinates)
        self.smoother = smoother
        self.held_out = held_out
        self.noise = noise

    def inflation(self, other: Residuals) -> float:
        """Factor of :func:`inflation`.

        For regressors, it is estimated from their noise, and 1 without it.

        For predictions with weights P and Q it is the squared norm of (I - P)'(I - Q) over that
        with random signs, by the mean squares p and q of their rows: at most .07 too small or .14
        too large for common regressors.
        """
        if self.smoother is not None and other.smoother is not None:
            return inflation(self.smoother, other.smoother)
        if self.noise is None or other.noise is None:
            return 1.0
        p = self.noise
        q = other.noise
        return float(1.0 + p + q + 2.5 * (p * q) ** 0.5 + 3.0 * p * q) / ((1.0 + p) * (1.0 + q))


@dataclass(frozen=True, eq=False)
class Regressions:
    """Regressions on the same given variables (n, d), by kernel ridge or a regressor.

    The regressor is in the style of scikit-learn.
    """

    given: np.ndarray
    regressor: Any = None
    bases: Sequence[Basis] = ()

    @classmethod
    def on(cls, given: np.ndarray, regressor: Any = None) -> Regressions:
        """Prepare regressions on given variables (n, d)."""
        if len(given) < FEWEST:
            raise ValueError(
                f"regressions need at least {FEWEST} rows, got {len(given)}; use strata, or "
                "collect more rows"
            )
        if regressor is None:
            with single_blas_thread(len(given)):
                return cls(given, None, candidate_bases(given))
        try:
            from sklearn.base import is_classifier
        except ImportError as error:
            raise ImportError(
                "regressor= needs scikit-learn: pip install 'shrinktest[apps]'"
            ) from error
        methods = (getattr(regressor, name, None) for name in ("fit", "predict", "get_params"))
        if (
            isinstance(regressor, type)
            or not all(map(callable, methods))
            or is_classifier(regressor)
        ):
            raise TypeError(
                f"regressor must be a scikit-learn regressor, such as Ridge(); got {regressor!r}"
            )
        return cls(given, regressor)

    @property
    def words(self) -> str:
        """Describe the regressions."""
        by_user = f"regressions by {self.regressor!r} on other rows"
        return "kernel ridge regressions" if self.regressor is None else by_user

    def residuals(self, targets: np.ndarray, name: str) -> Residuals:
        """Residuals of a variable (n, p); raises ValueError if nothing is left of it."""
        total = float(np.square(targets - targets.mean(axis=0)).sum())
        if total == 0.0:
            raise NothingToTest(f"{name} is constant, so nothing can depend on it; leave it out")
        with single_blas_thread(len(targets)):
            residuals = self.residuals_of_lines(targets)
        if self.regressor is not None:
            held_out = self._held_out(targets, residuals.values)
            residuals = Residuals(
                residuals.values, held_out=held_out, noise=self._noise(residuals.values, held_out)
            )
        if float(np.square(residuals.values).sum()) <= _NOTHING * total:
            raise NothingToTest(
                f"{name} is determined by the conditioning variables, so there is nothing to test; "
                "leave some of them out"
            )
        return residuals

    def residuals_of_lines(
        self, lines: np.ndarray, held_out: Sequence[np.ndarray] = ()
    ) -> Residuals:
        """Residuals of functions (n, r) of residuals.

        ``held_out`` are the same functions of those held out.
        """
        if not lines.shape[1]:
            return Residuals(lines)
        if self.regressor is not None:
            return self._predicted(lines, held_out)
        spread = lines.std(axis=0)
        smoother = tuned_smoother(self.bases, lines / np.where(spread > 0.0, spread, 1.0))
        return Residuals(smoother.residuals(lines), smoother=smoother)

    def residuals_of_features(
        self, kernel: Kernel, points: np.ndarray, features: Features, held_out: Sequence[np.ndarray]
    ) -> Residuals:
        """Residuals of the features of a kernel at points, which are residuals."""
        if features.by_coordinates and self.regressor is None:
            along = _along_axes(features.values)
            share = np.cumsum(np.square(along).sum(axis=0))
            few = min(_FEATURES, int(np.searchsorted(share, _TUNED * share[-1])) + 1)
            smoother = tuned_smoother(self.bases, along[:, :few])
            return Residuals(_along_axes(smoother.residuals(along)), smoother=smoother)
        landmarks = nystrom(kernel, points, min(_FEATURES, len(points)), 0)
        targets = landmarks.coordinates(points)
        if self.regressor is not None:
            return self._predicted(targets, list(map(landmarks.coordinates, held_out)))
        smoother = tuned_smoother(self.bases, targets)
        return Residuals(
            smoother.residual_gram(features.values), by_coordinates=False, smoother=smoother
        )

    def _predicted(self, targets: np.ndarray, held_out: Sequence[np.ndarray]) -> Residuals:
        """Residuals of each fold of rows from a fit to the others.

        A regression of residuals that have the noise of a row in them would predict that row by
        itself, so ``held_out`` replaces the targets.
        """
        residuals = np.empty(targets.shape)
        for fold, rows in enumerate(self._folds):
            unseen = (
                held_out[fold] if held_out and held_out[fold].shape == targets.shape else targets
            )
            residuals[rows] = targets[rows] - self._predictions(unseen, rows, rows)
        return Residuals(residuals)

    def _held_out(self, targets: np.ndarray, residuals: np.ndarray) -> tuple[np.ndarray, ...]:
        """Residuals (n, p), for each fold, of fits that have not seen it."""
        held_out = tuple(residuals.copy() for _ in self._folds)
        for (i, rows), (j, others) in combinations(enumerate(self._folds), 2):
            both = np.concatenate([rows, others])
            left = targets[both] - self._predictions(targets, both, both)
            held_out[j][rows], held_out[i][others] = left[: len(rows)], left[len(rows) :]
        return held_out

    def _noise(self, residuals: np.ndarray, held_out: Sequence[np.ndarray]) -> float:
        """Jackknife variance of the predictions over folds, in units of the noise variance."""
        noise = 0.0
        for fold, rows in enumerate(self._folds):
            others = np.stack([left[rows] for other, left in enumerate(held_out) if other != fold])
            noise += (len(others) - 1.0) * float(others.var(axis=0).sum())
        share = min(
            _MOST_NOISE, noise / max(float(np.square(residuals).sum()), np.finfo(np.float64).tiny)
        )
        return share / (1.0 - share)

    @cached_property
    def _folds(self) -> list[np.ndarray]:
        return np.array_split(np.random.default_rng(0).permutation(len(self.given)), _FOLDS)

    def _predictions(
        self, targets: np.ndarray, without: np.ndarray, rows: np.ndarray
    ) -> np.ndarray:
        """Predict targets (n, r) at some rows by fits to all rows but those ``without``."""
        from sklearn.base import clone
        from sklearn.utils import get_tags

        others = np.setdiff1d(np.arange(len(targets)), without)
        count = targets.shape[1]
        together = count > 1 and getattr(
            get_tags(self.regressor).target_tags, "multi_output", False
        )
        predictions = np.empty((len(rows), count))
        for columns in [slice(0, count)] if together else [slice(j, j + 1) for j in range(count)]:
            target = targets[others, columns]
            fitted = clone(self.regressor).fit(
                self.given[others], target if together else target[:, 0]
            )
            predicted = np.asarray(fitted.predict(self.given[rows]))
            if predicted.size != predictions[:, columns].size or not np.isfinite(predicted).all():
                raise ValueError(
                    f"regressor={self.regressor!r} must predict one finite number for every row"
                )
            predictions[:, columns] = predicted.reshape(len(rows), -1)
        return predictions


def _along_axes(coordinates: np.ndarray) -> np.ndarray:
    """Centered coordinates (n, r) of the points along principal axes, longest first."""
    centered = coordinates - coordinates.mean(axis=0)
    return np.asarray(centered @ np.linalg.eigh(centered.T @ centered)[1][:, ::-1])


def bounded(values: np.ndarray) -> np.ndarray:
    """Bend columns (n, p) to a bound, so that no row outweighs the others; leave out constant ones.

    A number u, in mean absolute deviations of its column, becomes u / (1 + u^2 / 16)^0.5, between
    -4 and 4, which is then standardized.
    """
    centered = values - values.mean(axis=0)
    size = np.abs(centered).mean(axis=0)
    centered = centered[:, size > 0.0] / size[size > 0.0]
    bent = centered / np.sqrt(1.0 + np.square(centered / _BOUND))
    bent -= bent.mean(axis=0)
    return np.asarray(bent / bent.std(axis=0))


def squared(lines: np.ndarray) -> np.ndarray:
    """Centered squares (n, p) of columns with variance 1, without constant ones."""
    squares = np.square(lines)
    squares -= squares.mean(axis=0)
    return np.asarray(squares[:, squares.std(axis=0) > 1e-9])


def neighborhoods(z: np.ndarray, size: int) -> np.ndarray:
    """Number (n,) of the neighborhood of every row of z (n, d).

    Each neighborhood has ``size`` to twice as many rows.

    Rows are halved again and again at the median of their first principal component.
    """
    numbers = np.zeros(len(z), dtype=np.int64)
    waiting = [np.arange(len(z))] * bool(z.shape[1])
    count = 0
    while waiting:
        rows = waiting.pop()
        if len(rows) < 2 * size:
            numbers[rows], count = count, count + 1
            continue
        centered = z[rows] - z[rows].mean(axis=0)
        order = np.argsort(
            centered @ np.linalg.svd(centered, full_matrices=False)[2][0], kind="stable"
        )
        half = len(rows) // 2
        waiting += [rows[order[half:]], rows[order[:half]]]
    return numbers


def neighbors_alike(residuals: Sequence[np.ndarray], z: np.ndarray) -> bool:
    """True if neighbors in z (n, d) have more similar residuals than by chance.

    This must hold in every variable.
    """
    from scipy.spatial import cKDTree

    two = cKDTree(z).query(z, k=2)[1]
    nearest = np.where(two[:, 0] == np.arange(len(z)), two[:, 1], two[:, 0])
    for values in residuals:
        spread = values.std(axis=0)
        scaled = values / np.where(spread > 0.0, spread, 1.0)
        products = (scaled * scaled[nearest]).sum(axis=1)
        if products.sum() <= _SURE * np.sqrt(np.square(products).sum()):
            return False
    return True
