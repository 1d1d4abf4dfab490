"""Users' own estimators: a function, in Python or compiled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np

from shrinktest._validate import numbers, takes
from shrinktest.estimators.base import MeanEstimator, as_gram, weights_of
from shrinktest.estimators.spectral import Loops, SpectralEstimator

#: NaN before and after the parameters of a compiled function, which would otherwise read whatever is there.
_BESIDE = 16


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
        takes(self.function, ("gram",), "an estimator is a function gram (n, n) -> weights (n,)")

    def __repr__(self) -> str:
        return f"FromFunction({getattr(self.function, '__qualname__', repr(self.function))})"

    def weights(self, gram: Any) -> np.ndarray:
        """Weights (n,); raises an error if the function returns another shape, or what is no finite number."""
        return self.checked_weights(as_gram(gram))

    def checked_weights(self, gram: np.ndarray) -> np.ndarray:
        return weights_of(self.function, gram, self)


@dataclass(frozen=True, repr=False)
class Compiled(SpectralEstimator):
    """An estimator made of a numba-compiled ``weigh(gram, theta, out)``, run inside the parallel loop.

    Parameters
    ----------
    weigh : function compiled with ``numba.njit``
        Writes the weights (n,) for ``gram`` (n, n), C-ordered float64, into ``out``; must not raise nor change
        ``gram``: write NaN where the weights do not exist.
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

    weigh: Callable[..., None]
    parameters: tuple[float, ...] = ()
    tuning: str = field(default="auto", init=False)

    def __post_init__(self) -> None:
        from shrinktest._compiled.custom import is_compiled

        if not callable(self.weigh) or not is_compiled(self.weigh):
            raise TypeError(
                f"weigh must be a function (gram, theta, out) compiled with numba.njit; found {self.weigh!r}: "
                "decorate it, or pass a Python function gram -> weights as the estimator"
            )
        takes(self.weigh, ("gram", "theta", "out"), "weigh must be a function (gram, theta, out)")
        given = numbers(self.parameters)
        if given.ndim != 1 or np.isnan(given).any():
            raise ValueError(f"parameters must be a tuple of numbers, such as (0.5,); got {self.parameters!r}")
        object.__setattr__(self, "parameters", tuple(given.tolist()))

    def __repr__(self) -> str:
        shown = f", {self.parameters!r}" if self.parameters else ""
        return f"Compiled({getattr(self.weigh, '__name__', repr(self.weigh))}{shown})"

    @property
    def fixed(self) -> bool:
        return True

    def loops(self) -> Loops:
        from shrinktest._compiled.custom import adapt

        return adapt(self.weigh)

    @property
    def by_coordinates(self) -> bool:
        return False

    def theta(self) -> np.ndarray:
        n = len(self.parameters)
        room = np.full(n + 2 * _BESIDE, np.nan)
        theta = room[_BESIDE : _BESIDE + n]
        theta[:] = self.parameters
        return theta

    def amounts(self, n: int) -> np.ndarray:
        return np.zeros(1)

    def _unit(self, amount: float, matrix: np.ndarray) -> Any:
        return None

    def _at(self, amount: float) -> Self:
        return self

    def _failure(self, gram: np.ndarray) -> str:
        return (
            f"{self!r} wrote weights that are not finite for a Gram matrix of {gram.shape[0]} points (what it reads of "
            "theta beyond its parameters is NaN)"
        )
