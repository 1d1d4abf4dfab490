"""Regression: what given variables say of others is taken off these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from shrinktest._check import counted, real_values
from shrinktest._parallel import single_blas_thread
from shrinktest.conditional._sklearn import is_classifier, learning, needed_for
from shrinktest.conditional.ridge import Basis, Smoother, bases, inflation, smoother
from shrinktest.kernels import Kernel
from shrinktest.kernels.feature_maps import nystrom
from shrinktest.statistics.features import Features

FEWEST = 10  # rows
_FEATURES = 15  # coordinates of a kernel by which its regression is tuned, or which are predicted
_TUNED = 0.98  # of the variance of coordinates: those along the longest axes, by which their regression is tuned
_FOLDS = 5
_MOST = 0.9  # of the variance of residuals: noise of predictions
_NOTHING = 1e-5  # of the variance of a variable: with so little left, it was a function of the given ones


@dataclass(frozen=True, eq=False)
class Left:
    """What a regression leaves of a variable, or of the features of one.

    Parameters
    ----------
    values : ndarray, shape (n, r) or (n, n)
        The residuals, or the Gram matrix of those of features.
    smoother : Smoother, optional
        The regression, where it is one by a kernel.
    by_gram : bool
        Whether it is a Gram matrix.
    apart : sequence of ndarray, shape (n, r)
        For each fold of a regressor the residuals of regressions that have not seen it, those of its rows included.
    noise : float, optional
        Variance of a regressor's predictions, in units of that of the noise in what they were learned of.
    """

    values: np.ndarray
    smoother: Smoother | None = None
    by_gram: bool = False
    apart: Sequence[np.ndarray] = ()
    noise: float | None = None

    @property
    def gram(self) -> np.ndarray:
        """The Gram matrix (n, n) of what is left."""
        return self.values if self.by_gram else self.values @ self.values.T

    def inflation(self, other: Left) -> float:
        """See :func:`~shrinktest.conditional.ridge.inflation`; 1 where nothing is known of the noise of predictions.

        Of regressors it is an estimate.  Rows i and j share noise by the weights P_ij and P_ji with which they predict
        one another, and by those Q_ij and Q_ji of the other regression: the factor is the squared norm of
        (I - P)'(I - Q) over what it is with signs drawn at random.  It depends on the mean squares p and q of the rows
        of P and Q most of all.  Of linear and kernel ridge regressions, neighbours and forests of 50 to 200 rows it is
        at most .07 more, and .14 less, than this.
        """
        if self.smoother is not None and other.smoother is not None:
            return inflation(self.smoother, other.smoother)
        if self.noise is None or other.noise is None:
            return 1.0
        p, q = self.noise, other.noise
        return float(1.0 + p + q + 2.5 * (p * q) ** 0.5 + 3.0 * p * q) / ((1.0 + p) * (1.0 + q))


@dataclass(frozen=True, eq=False)
class Regression:
    """Regressions on the same given variables.

    Parameters
    ----------
    given : ndarray, shape (n, d)
    regressor : optional
        One of scikit-learn's kind; without it kernel ridge regressions that are tuned by leaving one out.
    candidates : tuple of Basis
        What these choose from.
    """

    given: np.ndarray
    regressor: Any = None
    candidates: Sequence[Basis] = ()

    @classmethod
    def on(cls, given: np.ndarray, regressor: Any = None) -> Regression:
        """Regressions on given variables (n, d).

        Raises
        ------
        ValueError
            For fewer rows than a regression needs.
        TypeError
            For a regressor that cannot be fitted.
        """
        if len(given) < FEWEST:
            raise ValueError(
                f"given: a regression needs {FEWEST} rows or more, found {counted(len(given), 'row')}; with a given "
                "variable of few values use given_method='strata', which needs no regression"
            )
        if regressor is None:
            with single_blas_thread(len(given)):
                return cls(given, None, bases(given))
        if isinstance(regressor, type) or not all(callable(getattr(regressor, name, None)) for name in _FITS):
            raise TypeError(
                "regressor must be a regressor of scikit-learn's kind with fit and predict, such as "
                f"RandomForestRegressor(), not fitted; got {regressor!r}"
            )
        if is_classifier(regressor):
            raise TypeError(
                f"regressor={regressor!r} predicts labels, and means are wanted; give a regressor, such as "
                "RandomForestRegressor()"
            )
        return cls(given, regressor)

    @property
    def described(self) -> str:
        """What does the regressions, in words."""
        if self.regressor is None:
            return "kernel ridge regressions, tuned by leaving one row out"
        return f"regressions by {self.regressor!r}, predicting each fifth of the rows from the others"

    def left_of(self, targets: np.ndarray, name: str) -> Left:
        """Residuals of a variable (n, p); raises ValueError where nothing is left of it."""
        with single_blas_thread(len(targets)):
            left = self.left_of_lines(targets)
            if self.regressor is not None:
                apart = self._apart(targets, left.values)
                left = replace(left, apart=apart, noise=self._noise(left.values, apart))
        total, rest = float(np.square(targets - targets.mean(axis=0)).sum()), float(np.square(left.values).sum())
        if total == 0.0:
            raise ValueError(
                f"{name} has one value only, or values that differ by so little that their variance is 0: nothing can "
                "depend on it"
            )
        if rest <= _NOTHING * total:
            raise ValueError(
                f"given determines {name}: less than {_NOTHING:g} of its variance is left after its regression on "
                "given, so that there is nothing to test; leave out of given what it is computed from"
            )
        return left

    def left_of_features(
        self, kernel: Kernel, points: np.ndarray, gram: Features, workers: int, apart: Sequence[np.ndarray] = ()
    ) -> Left:
        """What is left of the features of a kernel at points: by coordinates along their axes where there are few.

        The points are residuals, and ``apart`` what :class:`Left` calls so.
        """
        coordinates = gram.coordinates() if self.regressor is None else None
        if coordinates is not None:
            along = _along_axes(coordinates)
            share = np.cumsum(np.square(along).sum(axis=0))
            few = min(_FEATURES, int(np.searchsorted(share, _TUNED * share[-1])) + 1)
            chosen = smoother(self.candidates, along[:, :few])
            return Left(_along_axes(chosen.residuals(along)), chosen)
        landmarks = nystrom(kernel, points, min(_FEATURES, len(points)), 0)
        some = landmarks.coordinates(points)
        if self.regressor is not None:
            return self._predicted(some, [landmarks.coordinates(one) for one in apart])
        chosen = smoother(self.candidates, some)
        return Left(chosen.of_gram(gram.matrix(workers)), chosen, by_gram=True)

    def left_of_lines(self, lines: np.ndarray, apart: Sequence[np.ndarray] = ()) -> Left:
        """What is left of functions (n, r) of residuals, of which there may be none; ``apart``: the same of those."""
        if not lines.shape[1]:
            return Left(lines)
        return self._smoothed(lines) if self.regressor is None else self._predicted(lines, apart)

    def _smoothed(self, targets: np.ndarray) -> Left:
        spread = targets.std(axis=0)
        chosen = smoother(self.candidates, targets / np.where(spread > 0.0, spread, 1.0))
        return Left(chosen.residuals(targets), chosen)

    def _predicted(self, targets: np.ndarray, apart: Sequence[np.ndarray] = ()) -> Left:
        """Residuals of each fifth of the rows from what was learned of the others, by ``apart`` if that is given.

        Residuals of other rows have the noise of a row in them that was learned of: a regression of these would predict
        that row by itself.
        """
        out = np.empty(targets.shape)
        for fold, rows in enumerate(self._folds()):
            learned = apart[fold] if apart and apart[fold].shape == targets.shape else targets
            out[rows] = targets[rows] - self._learned(learned, [rows], rows)
        return Left(out)

    def _apart(self, targets: np.ndarray, left: np.ndarray) -> tuple[np.ndarray, ...]:
        """For each fold the residuals (n, p) of regressions that have not seen it."""
        folds = self._folds()
        found = tuple(left.copy() for _ in folds)
        for (first, rows), (second, others) in combinations(enumerate(folds), 2):
            both = np.concatenate([rows, others])
            residuals = targets[both] - self._learned(targets, [rows, others], both)
            found[second][rows], found[first][others] = residuals[: len(rows)], residuals[len(rows) :]
        return found

    def _noise(self, left: np.ndarray, apart: Sequence[np.ndarray]) -> float:
        """What `Left` calls so, by the jackknife: predictions from all other folds, leaving out one at a time."""
        noise = 0.0
        for fold, rows in enumerate(self._folds()):
            others = np.stack([one[rows] for other, one in enumerate(apart) if other != fold])
            noise += (len(others) - 1.0) * float(others.var(axis=0).sum())
        share = min(_MOST, noise / max(float(np.square(left).sum()), np.finfo(np.float64).tiny))
        return share / (1.0 - share)

    def _folds(self) -> list[np.ndarray]:
        return np.array_split(np.random.default_rng(0).permutation(len(self.given)), _FOLDS)

    def _learned(self, targets: np.ndarray, folds: Sequence[np.ndarray], rows: np.ndarray) -> np.ndarray:
        """Predictions of targets (n, r) at some rows, from all but those of some folds."""
        with needed_for("regressor="):
            from sklearn.base import clone

        others = np.setdiff1d(np.arange(len(targets)), np.concatenate(folds))
        out = np.empty((len(rows), targets.shape[1]))
        for columns in self._together(targets.shape[1]):
            wanted = targets[others][:, columns]
            with learning("regressor", self.regressor):
                fitted = clone(self.regressor).fit(self.given[others], wanted[:, 0] if len(columns) == 1 else wanted)
            try:
                found = real_values(fitted.predict(self.given[rows]))
            except TypeError as error:
                raise TypeError(f"regressor: predict of {self.regressor!r} must return numbers: {error}") from None
            if found.size != len(rows) * len(columns) or not np.isfinite(found).all():
                raise ValueError(
                    f"regressor: predict of {self.regressor!r} must return a finite number for each of "
                    f"{counted(len(rows), 'row')} and {counted(len(columns), 'column')}; it returned shape "
                    f"{found.shape}" + ("" if np.isfinite(found).all() else ", with numbers that are not finite")
                )
            out[:, columns] = found.reshape(len(rows), -1)
        return out

    def _together(self, columns: int) -> list[list[int]]:
        """Which columns the regressor predicts at once."""
        with needed_for("regressor="):
            from sklearn.utils import get_tags

        if columns > 1 and getattr(get_tags(self.regressor).target_tags, "multi_output", False):
            return [list(range(columns))]
        return [[column] for column in range(columns)]


def _along_axes(coordinates: np.ndarray) -> np.ndarray:
    """Coordinates (n, r) of the same points less their mean along their principal axes, the longest first."""
    less = coordinates - coordinates.mean(axis=0)
    return np.asarray(less @ np.linalg.eigh(less.T @ less)[1][:, ::-1])


_FITS = ("fit", "predict", "get_params")
