"""Turn functions of your own into estimators: Python functions, and functions compiled by numba."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from shrinktest._check import check_signature, numbers_or_nan
from shrinktest.estimators.mean_estimator import MeanEstimator, Samples, as_gram, as_weights, weights_of


@dataclass(frozen=True, repr=False)
class FromFunction(MeanEstimator):
    """An estimator made of a function ``gram (n, n) -> weights (n,)``; what callables become in tests.

    Parameters
    ----------
    function : callable
        From a Gram matrix (n, n) to n weights; reordering the points must reorder them.

    Examples
    --------
    >>> import numpy as np
    >>> FromFunction(lambda gram: np.full(len(gram), 0.5 / len(gram))).weights(np.eye(2))
    array([0.25, 0.25])
    """

    summary: ClassVar[str] = "a function of the Gram matrix"

    function: Callable[[np.ndarray], Any]

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise TypeError(f"function must be callable, gram -> weights; found {self.function!r}")
        check_signature(self.function, ("gram",), "an estimator is a function gram (n, n) -> weights (n,)")

    def __repr__(self) -> str:
        return f"FromFunction({getattr(self.function, '__qualname__', repr(self.function))})"

    def weights(self, gram: Any) -> np.ndarray:
        """Weights (n,); raises an error unless the function returns n finite numbers."""
        return self.checked_weights(as_gram(gram))

    def checked_weights(self, gram: np.ndarray) -> np.ndarray:
        return weights_of(self.function, gram, self)


@dataclass(frozen=True, repr=False)
class Compiled(MeanEstimator):
    """An estimator made of a numba-compiled ``weigh(gram, theta, out)``, which tests run in compiled loops and threads.

    Parameters
    ----------
    weigh : function compiled with ``numba.njit``
        Writes the weights (n,) for ``gram`` (n, n), C-ordered float64, into ``out``; must not raise nor change
        ``gram``: write NaN if the weights do not exist.
    parameters : tuple of float, optional
        Handed to the function as the array ``theta``.

    Examples
    --------
    >>> import numba, numpy as np
    >>> @numba.njit
    ... def half(gram, theta, out):
    ...     out[:] = theta[0] / out.size
    >>> Compiled(half, (0.5,)).weights(np.eye(2))
    array([0.25, 0.25])
    """

    summary: ClassVar[str] = "a compiled function of the Gram matrix"
    needs = "filter"

    weigh: Callable[..., None]
    parameters: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        from shrinktest.estimators.user_loops import is_compiled

        if not callable(self.weigh) or not is_compiled(self.weigh):
            raise TypeError(f"weigh must be a function (gram, theta, out) compiled with numba.njit; got {self.weigh!r}")
        check_signature(self.weigh, ("gram", "theta", "out"), "weigh must be a function (gram, theta, out)")
        theta = numbers_or_nan(self.parameters)
        if theta.ndim != 1 or np.isnan(theta).any():
            raise ValueError(f"parameters must be a tuple of numbers, such as (0.5,); got {self.parameters!r}")
        object.__setattr__(self, "parameters", tuple(theta.tolist()))

    def __repr__(self) -> str:
        shown = f", {self.parameters!r}" if self.parameters else ""
        return f"Compiled({getattr(self.weigh, '__name__', repr(self.weigh))}{shown})"

    def weights(self, gram: Any) -> np.ndarray:
        """Weights (n,) that the function writes; raises ValueError unless they are finite."""
        return self.checked_weights(as_gram(gram))

    def checked_weights(self, gram: np.ndarray) -> np.ndarray:
        return as_weights(self.fit_samples([Samples(gram[None].copy())])[0][0], self, len(gram))

    def fit_samples(self, samples: Sequence[Samples], joint: bool = False) -> list[np.ndarray]:
        from shrinktest.estimators.user_loops import over_samples

        loop, theta = over_samples(self.weigh), np.array(self.parameters, dtype=np.float64)
        weights = [np.empty(stack.values.shape[:2]) for stack in samples]
        for stack, out in zip(samples, weights, strict=True):
            loop(stack.values, theta, out)
        return weights
