"""Independence given Z by a model of X given Z: copies, permutations or residuals by what it says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from shrinktest._check import complete_points, real_values
from shrinktest._read import Variables
from shrinktest.conditional.given import raw_of
from shrinktest.conditional.models import XGivenZ
from shrinktest.estimators import MeanEstimator
from shrinktest.hypotheses.base import Variable
from shrinktest.hypotheses.given import ConditionalIndependence, distilled
from shrinktest.permutations.base import Permutations
from shrinktest.permutations.schemes import Copies, WeightedPairings
from shrinktest.statistics.copies import copies_statistic
from shrinktest.statistics.kernel_cache import KernelCache
from shrinktest.statistics.statistic import Prepared, margins
from shrinktest.tables.by_column import scale_each
from shrinktest.tables.reading import columns_at, is_table, names_in
from shrinktest.tables.rows import taken
from shrinktest.units import as_scale

_REFERENCE = 50  # copies of X whose mean stands for that of X given Z
_AMONG = 8  # of them, among whose rows those of others lie as a rule


@dataclass(frozen=True, eq=False, kw_only=True)
class ModelledPairs(ConditionalIndependence):
    """A model says how likely every permutation of x is."""

    chances: np.ndarray  # (n, n): the logarithm of the density of x_i given z_j

    def memory(self) -> None:
        """Of no matter where the model is true."""

    def _allowed(self, n_resamples: float, alpha: float) -> Permutations:
        return WeightedPairings(self.chances)


@dataclass(frozen=True, eq=False, kw_only=True)
class ModelledCopies(ConditionalIndependence):
    """A model draws x anew; kernels see how far copies are from the mean of others.

    The variables are a copy of x less the mean, in which units and bandwidths are found; and y, or what is left of it.
    """

    observed: np.ndarray  # (n, p): x less the mean
    # (m, p): rows of that copy and of others, less the mean: among them those of all copies lie as a rule
    others: np.ndarray
    draw: Callable[[np.random.Generator], np.ndarray]  # from a generator to a copy less the mean

    def memory(self) -> None:
        """Of no matter where the model is true."""

    def _allowed(self, n_resamples: float, alpha: float) -> Permutations:
        return Copies(self.sizes[0])

    def prepare(self, estimator: MeanEstimator, kernel: Any, form: str, cache: KernelCache, workers: int) -> Prepared:
        """Squared norm of the estimated cross-covariance operator, for every copy."""
        points = tuple(variable.points for variable in self.variables)

        def copy(seed: int) -> np.ndarray:
            return self.draw(np.random.default_rng(seed)) if seed else self.observed

        tuned = margins(estimator, kernel, points, workers)
        features = tuple(one.features(k, z) for one, k, z in zip(tuned, kernel, points, strict=True))
        statistic, route, notes = copies_statistic(tuned[0], features, copy, points[0], self.others, points[1], cache)
        return Prepared(
            statistic=statistic,
            estimates=lambda: (),
            kernel=kernel,
            route=route,
            notes=notes,
            threads=False,  # the user's function need not be fit for them
        )


def by_model(X: Any, given: Any, model: Any, read: Variables, common: dict[str, Any]) -> ConditionalIndependence:
    """Copies, permutations or residuals by a model of x given z."""
    if read.missing:
        return ConditionalIndependence(method="model of X given Z", assumption="", **common)
    x, _, z = read.values
    encoding = read.encodings[0]
    if encoding is not None and any(code.indicated for code in encoding.codes):
        raise ValueError(
            "nan_policy='indicator': X misses values, of which a model of X given Z knows nothing; use "
            "nan_policy='omit'"
        )
    for code in () if encoding is None else encoding.codes:
        if code.kind not in ("number", "boolean"):
            raise ValueError(
                f"x_given_z= is a model of X in numbers, and column {code.name!r} of X is of type {code.kind!r}; give "
                f"numbers, or leave it out (column_types={{{code.name!r}: 'drop'}})"
            )
    if is_table(X):
        rows = np.flatnonzero(read.kept[0])
        there, table = names_in(X), taken(X, rows)
        if there and encoding is not None:  # of the columns that are tested; the others were left out
            table = columns_at(table, [there.index(name) for name in encoding.names])
        x = complete_points(table, "X").values  # a model knows nothing of the units of a table
    raw = raw_of(given, read, 2)
    unit = common["variables"][0].scale
    if is_table(X) and encoding is not None:  # which are found on copies
        each = scale_each(encoding.scale, encoding.names, "scale")
        unit = None if set(each) == {None} else as_scale([1.0 if one is None else one for one in each], x.shape[1])
    y_left = distilled(common["variables"][1], z, "Y")
    if not isinstance(model, XGivenZ):
        return _of_regressor(model, x, raw, unit, y_left, common)
    if model.log_density is not None:
        if is_table(raw):
            raw = complete_points(raw, "given").values
        return ModelledPairs(
            method="conditional permutation test",
            assumption="the p-value is exact if log_density is that of X given Z, up to factors of X alone or Z alone, "
            "and the rows are independent.",
            chances=model.chances(x, raw),
            **{**common, "variables": (Variable(x, "X", unit), y_left)},
        )
    source = np.random.default_rng(0)  # of copies that look at Z only
    drawn = [model.drawn(raw, x.shape, source) for _ in range(_REFERENCE)]
    if all(np.array_equal(one, drawn[0]) for one in drawn):
        raise ValueError(
            f"x_given_z drew the same X {_REFERENCE} times; it must draw, with numbers from rng, such as predictions "
            "plus noise (a fitted regressor is given as it is)"
        )
    middle = np.mean(drawn, axis=0)
    reference = model.drawn(raw, x.shape, source) - middle
    return ModelledCopies(
        method="conditional randomisation test",
        assumption="the p-value is exact if x_given_z draws from the distribution of X given Z, and the rows are "
        "independent.",
        observed=x - middle,
        others=np.vstack([reference, *(one - middle for one in drawn[:_AMONG])]),
        draw=partial(_away_from, middle, model, raw),
        **{**common, "variables": (Variable(reference, "copies of X", unit), y_left)},
    )


def _away_from(middle: np.ndarray, model: XGivenZ, raw: Any, rng: np.random.Generator) -> np.ndarray:
    """A copy of x less the mean of others."""
    return model.drawn(raw, middle.shape, rng) - middle


def _of_regressor(
    model: Any, x: np.ndarray, raw: Any, unit: Any, y_left: Variable, common: dict[str, Any]
) -> ConditionalIndependence:
    """Residuals of a fitted regressor, which change places freely."""
    try:
        predicted = real_values(model.predict(raw))
    except (TypeError, ValueError) as error:  # not fitted, or to other columns, or no numbers
        raise ValueError(f"x_given_z={model!r} does not predict X from given: {error}") from None
    if predicted.ndim and predicted.size:
        predicted = predicted.reshape(len(predicted), -1)  # nets may have further axes of length 1
    if predicted.shape != x.shape:
        raise ValueError(f"x_given_z={model!r} predicts shape {predicted.shape}, and X has shape {x.shape}")
    if not np.isfinite(predicted).all():
        odd = predicted[~np.isfinite(predicted)]
        raise ValueError(
            f"x_given_z={model!r} must predict finite numbers; it predicts {odd[0]} in {odd.size} of {x.size} places"
        )
    left = x - predicted
    if np.square(left).sum() <= 1e-20 * max(float(np.square(x).sum()), np.finfo(np.float64).tiny):
        raise ValueError("given determines X: x_given_z leaves nothing of it, so that there is nothing to test")
    return ConditionalIndependence(
        method="permutations of the residuals of a model",
        assumption=f"the p-value is exact if X is what {model!r} predicts plus noise that does not depend on Z, and "
        "the model was fitted on other data; fitted on the same rows it is approximately valid.",
        **{**common, "variables": (Variable(left, "residuals of X", unit), y_left)},
    )
