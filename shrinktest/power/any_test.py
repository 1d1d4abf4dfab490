"""AnyTest: a test that is not of this package, as power studies and calibrations run it."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import Any

import numpy as np

from shrinktest._check import check_signature

#: Parameters by which a function asks for random numbers.
RANDOM = ("rng", "random_state")

_LEAST = float(np.finfo(np.float64).tiny)  # stands for a p-value that is too small for a float


@dataclass(frozen=True, repr=False)
class AnyTest:
    """A test of your own or of another package, to be run beside those of this one.

    Parameters
    ----------
    function : callable
        ``function(X, Y)`` returns a p-value or anything with an attribute ``pvalue``; it gets arrays (n, d) or, from a
        design that draws tables, tables.  Designs of more samples or variables give it one argument for each.  Where it
        has a parameter ``rng`` or ``random_state``, it gets a numpy Generator by that name and must draw from nothing
        else, or trials cannot be repeated.
    name : str, optional
        Its label in a study that gives none; default the name of the function.

    Notes
    -----
    In a power study a function with two or more required arguments is taken for a test without being wrapped, and one
    with a single required argument for an estimator.  What may be either, such as ``function(*samples)``, has to be
    wrapped.  A p-value of 0, which some tests return where a float has no smaller one, counts as the smallest normal
    float.

    Examples
    --------
    >>> from scipy.stats import kruskal
    >>> from shrinktest.power import AnyTest, designs, power_study
    >>> study = {"n_trials": 20, "workers": 1, "progress": False}
    >>> result = power_study(designs.OneApart(dimension=1, shift=2.0), AnyTest(kruskal), 20, **study)
    >>> result.table[["estimator", "n", "power"]]
      estimator   n  power
    0   kruskal  20    1.0
    """

    function: Callable[..., Any]
    name: str | None = None

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise TypeError(f"function must be callable, (X, Y) -> p-value; found {self.function!r}")
        if self.name is not None and not isinstance(self.name, str):
            raise TypeError(f"name must be text; got {self.name!r}")

    def __repr__(self) -> str:
        return f"AnyTest({_called(self.function)}{'' if self.name is None else f', name={self.name!r}'})"

    @property
    def permutes(self) -> bool:
        """Whether it draws as many permutations as a study says."""
        return False

    @property
    def label(self) -> str:
        """What it is called in a study that does not say."""
        return _called(self.function) if self.name is None else self.name

    def pvalue(self, data: Sequence[Any], rng: np.random.Generator, n_resamples: float, who: str = "") -> float:
        """The p-value of the data.

        Parameters
        ----------
        data : sequence of arrays or tables
            The samples or variables; the function gets copies, which it may change.
        rng : Generator
        n_resamples : int or inf
            For those that permute.
        who : str, optional
            What messages call the test; default its label.

        Raises
        ------
        TypeError
            If the function cannot be called with the data, or returns no number or several.
        ValueError
            If it returns NaN, or a number outside 0 to 1.
        """
        who = f"test {who or self.label!r}"
        asked = _parameters(self.function)
        given = {name: rng for name in [name for name in RANDOM if name in asked][:1]}
        names = "XY" if len(data) == 2 else [f"sample {i}" for i in range(len(data))]
        said = f"{who} is a function of the data, with its random numbers as rng= or random_state= if it takes any"
        check_signature(self.function, tuple(names), said, tuple(given))
        return max(pvalue_of(self.function(*copy.deepcopy(data), **given), who), _LEAST)


def is_test(function: Callable[..., Any]) -> bool:
    """Whether a bare function is a test, of two or more samples or variables, and not an estimator ``gram -> weights``.

    Raises
    ------
    TypeError
        Where the signature does not tell; the message says how to wrap the function.

    Examples
    --------
    >>> is_test(lambda X, Y, rng: 0.5), is_test(lambda gram, amount=0.1: 1 / len(gram))
    (True, False)
    """
    parameters = _parameters(function)
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    required = [
        name
        for name, one in parameters.items()
        if one.kind in positional and one.default is one.empty and name not in RANDOM
    ]
    anything = any(one.kind is inspect.Parameter.VAR_POSITIONAL for one in parameters.values())
    if len(required) < 2 and (anything or not required):
        called = _called(function)
        raise TypeError(
            f"the arguments of {called} do not tell whether it is a test of samples or an estimator of a Gram matrix: "
            f"write shrinktest.power.AnyTest({called}) or shrinktest.estimators.FromFunction({called})"
        )
    return len(required) >= 2


def pvalue_of(found: Any, who: str = "test") -> float:
    """The one p-value in what a test returned; raises TypeError or ValueError for anything else."""
    value = getattr(found, "pvalue", found)
    if isinstance(value, np.ndarray) and value.size == 1:
        value = value.reshape(())[()]
    if not isinstance(value, Real) or isinstance(value, bool | np.bool_):
        several = (
            "; where it tests every column make one p-value of them, such as min(1, p.size * p.min()) (Bonferroni), as "
            "the tests in shrinktest.power.KNOWN_TESTS do"
        )
        raise TypeError(
            f"{who} must return a p-value, or an object with an attribute pvalue; it returned {found!r} "
            f"({type(found).__name__}){several if isinstance(value, np.ndarray) else ''}"
        )
    number = float(value)
    if not 0.0 <= number <= 1.0:
        why = ": it has none for such data; return 1.0 where nothing can be tested" if np.isnan(number) else ""
        raise ValueError(f"{who} must return a p-value, a number from 0 to 1; it returned {number}{why}")
    return number


def _parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """The parameters by name; none where nobody knows, as of some functions written in C."""
    try:
        return dict(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return {}


def _called(function: Any) -> str:
    """A name that is the same in every process."""
    if isinstance(function, partial):
        arguments = [*map(repr, function.args), *(f"{key}={value!r}" for key, value in function.keywords.items())]
        return f"{_called(function.func)}({', '.join(arguments)})"
    name = getattr(function, "__qualname__", None)
    kind: Any = type(function)
    plain = kind.__repr__ is object.__repr__  # shows an address
    return str(name or (kind.__qualname__ if plain else repr(function)))
