"""Estimators from user functions, in Python or compiled by numba, and an estimator check."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from shrinktest._check import check_signature, numbers_or_nan
from shrinktest.estimators.mean_estimator import BuiltIn, MeanEstimator, SampleStack
from shrinktest.kernels import Gaussian, Linear


@dataclass(frozen=True, repr=False)
class FromFunction(BuiltIn):
    """Estimator made of a function ``gram (n, n) -> weights (n,)``.

    Tests make it of any callable.

    Parameters
    ----------
    function : callable
        Function from a Gram matrix (n, n) to n weights, which must be reordered with the points.

    Examples
    --------
    >>> import numpy as np
    >>> FromFunction(lambda gram: np.full(len(gram), 0.5 / len(gram))).weights(np.eye(2))
    array([0.25, 0.25])
    """

    summary = "a function of the Gram matrix"

    function: Callable[[np.ndarray], Any]

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise TypeError(f"function must be callable, gram -> weights; found {self.function!r}")
        check_signature(
            self.function, ("gram",), "an estimator is a function gram (n, n) -> weights (n,)"
        )

    def __repr__(self) -> str:
        return f"FromFunction({getattr(self.function, '__qualname__', repr(self.function))})"

    def _weigh(self, gram: np.ndarray) -> Any:
        return self.function(gram)


@dataclass(frozen=True, repr=False)
class Compiled(BuiltIn):
    """Estimator from a numba-compiled ``weigh(gram, theta, out)``.

    Tests run it in compiled loops and threads.

    Parameters
    ----------
    weigh : function compiled with ``numba.njit``
        Writes the weights (n,) for ``gram`` (n, n), C-ordered float64, into ``out``.  It must
        neither raise an error nor change ``gram``, but write NaN if the weights do not exist.
    parameters : tuple of float, optional
        Numbers that are passed to the function as the array ``theta``.

    Examples
    --------
    >>> import numba, numpy as np
    >>> @numba.njit
    ... def half(gram, theta, out):
    ...     out[:] = theta[0] / out.size
    >>> Compiled(half, (0.5,)).weights(np.eye(2))
    array([0.25, 0.25])
    """

    summary = "a compiled function of the Gram matrix"
    needs = "filter"

    weigh: Callable[..., None]
    parameters: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        from shrinktest.estimators.filter_loops import is_compiled

        if not callable(self.weigh) or not is_compiled(self.weigh):
            raise TypeError(
                "weigh must be a function (gram, theta, out) compiled with numba.njit; got "
                f"{self.weigh!r}"
            )
        check_signature(
            self.weigh, ("gram", "theta", "out"), "weigh must be a function (gram, theta, out)"
        )
        theta = numbers_or_nan(self.parameters)
        if theta.ndim != 1 or np.isnan(theta).any():
            raise ValueError(
                f"parameters must be a tuple of numbers, such as (0.5,); got {self.parameters!r}"
            )
        object.__setattr__(self, "parameters", tuple(theta.tolist()))

    def __repr__(self) -> str:
        shown = f", {self.parameters!r}" if self.parameters else ""
        return f"Compiled({getattr(self.weigh, '__name__', repr(self.weigh))}{shown})"

    def _weigh(self, gram: np.ndarray) -> Any:
        return self.fit_samples([SampleStack(gram[None].copy())])[0][0]

    def fit_samples(self, samples: Sequence[SampleStack], joint: bool = False) -> list[np.ndarray]:
        from shrinktest.estimators.filter_loops import over_samples

        loop = over_samples(self.weigh)
        theta = np.array(self.parameters, dtype=np.float64)
        weights = [np.empty(stack.values.shape[:2]) for stack in samples]
        for stack, out in zip(samples, weights, strict=True):
            loop(stack.values, theta, out)
        return weights


def check_estimator(estimator: Any) -> None:
    """Check that your own estimator has the properties on which the tests rely.

    On ordinary, singular, duplicated, constant and zero Gram matrices it must return one finite
    weight per point and leave the Gram matrix unchanged.  It must return equal weights again, even
    after other data and in a fresh copy, and reordered weights if the points are reordered.  Both
    tests must run with it.

    Parameters
    ----------
    estimator : str, MeanEstimator or callable
        An estimator by name, as an object, or as a function gram -> weights.

    Returns
    -------
    None
        The estimator has all of these properties if no error is raised.

    Raises
    ------
    AssertionError
        If the estimator lacks one of the properties, which the message names.

    Examples
    --------
    >>> from shrinktest import check_estimator
    >>> check_estimator(lambda gram: gram.mean(axis=1) / len(gram))
    """
    from shrinktest import independence_test, two_sample_test
    from shrinktest.estimators import as_estimator

    est = as_estimator(estimator)
    rng = np.random.default_rng(0)
    points = rng.normal(size=(12, 3))
    grams = {
        "a Gaussian Gram matrix of 12 points": Gaussian(1.5)(points),
        "a singular Gram matrix (linear kernel, negative entries)": Linear()(points),
        "a Gram matrix with duplicated points": Gaussian(1.5)(np.repeat(points[:4], 3, axis=0)),
        "two points": Gaussian(1.0)(points[:2]),
        "points that all coincide": np.ones((5, 5)),
        "a zero Gram matrix": np.zeros((4, 4)),
    }
    cases = []
    for name, gram in grams.items():
        with suppress(ValueError):  # too few points for it
            est.check_size(len(gram))
            cases.append((f"{est!r} on {name}", gram, copy.deepcopy(est)))
    weights = [_weights(est, gram, place) for place, gram, _ in cases]
    for (place, gram, fresh), before in zip(reversed(cases), reversed(weights), strict=True):
        for again in (_weights(est, gram, place), _weights(fresh, gram, place)):
            _require(
                np.array_equal(again, before),
                f"{place}: another call gave other weights; keep no state",
            )
        order = rng.permutation(len(gram))
        moved = np.ascontiguousarray(gram[np.ix_(order, order)])
        # compared in the feature space: weights in the null space of a singular Gram matrix are
        # arbitrary
        gap = _weights(est, moved, place) - before[order]
        size = max(abs(before @ gram @ before), np.trace(gram) / len(gram))
        _require(
            abs(gap @ moved @ gap) <= 1e-8 * size,
            f"{place}: reordering the points must reorder the weights",
        )
    x = rng.normal(size=(6, 2))
    y = rng.normal(size=(5, 2))
    own = est.needs == "function" or isinstance(est, Compiled)
    for test, data in ((two_sample_test, (x, y)), (independence_test, (x, x[:, :1] ** 2))):
        try:
            result = test(*data, estimator=est, n_resamples=19, rng=0, workers=1)
        except Exception as error:
            if isinstance(error, ValueError) and not own:  # a built-in estimator for other data
                continue
            raise AssertionError(
                f"{est!r} in {test.__name__}: {type(error).__name__}: {error}"
            ) from error
        valid = np.isfinite(result.statistic) and 0.0 < result.pvalue <= 1.0
        _require(
            valid,
            f"{est!r}: {result.test} gave statistic {result.statistic} and p-value {result.pvalue}",
        )


def _weights(est: MeanEstimator, gram: np.ndarray, place: str) -> np.ndarray:
    try:
        return est.checked_weights(gram)
    except Exception as error:  # any that a user's function raises
        raise AssertionError(f"{place}: {type(error).__name__}: {error}") from error


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise AssertionError(message)
