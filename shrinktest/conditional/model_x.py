"""Model of X given Z: a function of a user's that draws X, with which the test is exact."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shrinktest._check import check_signature, complete_points, real_values, tensors_to_numpy
from shrinktest.conditional.conditional_independence import ConditionalIndependence, distilled
from shrinktest.data.kept_rows import KeptRows
from shrinktest.data.tables import is_table, taken
from shrinktest.data.variable import Variable
from shrinktest.estimators import MeanEstimator
from shrinktest.permutations.base import Permutations
from shrinktest.permutations.schemes import Copies
from shrinktest.statistics.copies import copies_statistic
from shrinktest.statistics.kernel_cache import KernelCache
from shrinktest.statistics.statistic import Computation, Form, Prepared, margins
from shrinktest.units import as_scale

_REFERENCE = 50  # copies of X whose mean stands for the mean of X given Z
_AMONG = 8  # copies whose rows cover the rows of the others as a rule


@dataclass(frozen=True, eq=False)
class ModelX:
    """Draw copies of X given Z."""

    draw: Callable[[Any, np.random.Generator], Any]
    given: Any  # the rows that are kept, as the user gave them
    middle: np.ndarray  # (n, p): taken off each copy, 0 for kernels of the user

    def __call__(self, rng: np.random.Generator) -> np.ndarray:
        """Draw a copy (n, p), less the middle."""
        copy = real_values(self.draw(deepcopy(self.given), rng))  # into which it may write
        copy = copy[:, None] if copy.ndim == 1 else copy
        if copy.shape != self.middle.shape or not np.isfinite(copy).all():
            shape = self.middle.shape
            raise ValueError(
                f"x_given_z must draw finite numbers in the shape of X, {shape}; it drew "
                f"{copy.shape}"
            )
        return np.asarray(copy - self.middle)


@dataclass(frozen=True, eq=False, kw_only=True)
class ModeledCopies(ConditionalIndependence):
    """A model draws x anew; kernels compare copies less the mean of others.

    The first variable is a copy of x less the mean, in which units and bandwidths are found.
    """

    observed: np.ndarray  # (n, p): x less the mean
    others: np.ndarray  # (m, p): rows of several copies less the mean
    model: ModelX

    def serial_correlation(self) -> None:
        """Serial correlation does not matter if the model is true."""

    def _allowed(self, alpha: float, symmetric: bool) -> Permutations:
        return self._copies

    @property
    def _copies(self) -> Copies:
        """Copies of x less the mean."""
        return Copies(self.observed, self.model)

    def prepare(
        self, estimator: MeanEstimator, kernel: Any, form: Form, cache: KernelCache
    ) -> Prepared:
        """Squared norm of the cross-covariance operator, for every copy."""
        points = tuple(variable.points for variable in self.variables)
        tuned = margins(estimator, kernel, points, cache.workers)
        features = tuple(
            mean.features(k, x) for mean, k, x in zip(tuned, kernel, points, strict=True)
        )
        statistic, route, notes = copies_statistic(
            tuned[0], features, self._copies, points[0], self.others, points[1], cache
        )
        return Prepared(
            statistic=statistic, kernel=kernel, notes=notes, computation=Computation(route=route)
        )


def by_model(
    X: Any, given: Any, draw: Any, read: KeptRows, test: ConditionalIndependence
) -> ConditionalIndependence:
    """Return the test by a function that draws X given Z."""
    if not callable(draw) or isinstance(draw, type):
        raise TypeError(f"x_given_z must be a function (Z, rng) -> X; got {draw!r}")
    check_signature(draw, ("Z", "rng"), "x_given_z must be a function (Z, rng) -> X")
    if read.missing:
        return replace(test, method="copies of X given Z")
    (x, unit), y = _numbers(X, read), distilled(test.variables[1], read.values[2])
    model = ModelX(draw, _as_given(given, read), np.zeros(x.shape))
    source = np.random.default_rng(0)
    copies = [model(source) for _ in range(_REFERENCE)]
    if all(np.array_equal(copy, copies[0]) for copy in copies):
        raise ValueError(
            f"x_given_z drew the same X {_REFERENCE} times; it must draw with numbers from rng"
        )
    if not test.variables[0].keeps_values:
        model = replace(model, middle=np.mean(copies, axis=0))
    reference = model(source)
    return replace(test, variables=(Variable(reference, "copies of X", unit), y)).as_kind(
        ModeledCopies,
        observed=x - model.middle,
        others=np.vstack([reference, *(copy - model.middle for copy in copies[:_AMONG])]),
        model=model,
        method="conditional randomization test",
        assumption=(
            "the p-value is exact if x_given_z draws from the distribution of X given Z, and the "
            "rows are independent."
        ),
    )


def _numbers(X: Any, read: KeptRows) -> tuple[np.ndarray, Any]:
    """Return X in its own units, which a model knows, and the units in which kernels compare it."""
    x = read.values[0]
    encoding = read.encodings[0]
    if encoding is None:
        return x, read.variables[0].scale
    values = complete_points(taken(X, np.flatnonzero(read.kept[0])), "X").values
    if values.shape != x.shape:
        raise ValueError(
            f"x_given_z= is a model of X, of which only {list(encoding.names)} is tested"
        )
    units = [1.0 if unit is None else unit for unit in encoding.scale.of_columns(encoding.names)]
    return values, None if set(units) == {1.0} else as_scale(units, len(units))


def _as_given(given: Any, read: KeptRows) -> Any:
    """Return the rows of Z that are kept: of tables a table, of arrays an array (n, d)."""
    rows = np.flatnonzero(read.kept[2])
    if is_table(given):
        return taken(given, rows)
    values = np.asarray(tensors_to_numpy(given, "given"))
    return values.reshape(len(values), -1)[rows] if values.dtype.kind in "OUSb" else read.values[2]
