"""Tests that are not of this package, as power studies and calibrations run them."""

from __future__ import annotations

import copy
import importlib
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import Any

import numpy as np

from shrinktest._check import Array, check_signature, complete_points, listed
from shrinktest.results.info import INDEPENDENCE, K_SAMPLE, KINDS, TWO_SAMPLE

#: Parameters by which a function asks for random numbers.
RANDOM = ("rng", "random_state")

_LEAST = float(np.finfo(np.float64).tiny)  # stands for a p-value that is too small for a float


@dataclass(frozen=True, repr=False)
class AnyTest:
    """A test of your own or of another package, to be compared with the tests of this package.

    Parameters
    ----------
    function : callable
        ``function(X, Y)`` returns a p-value or an object with an attribute ``pvalue``; it gets arrays (n, d) or, from a
        design that draws tables, tables.  For more samples or variables it gets one argument for each.  A parameter
        ``rng`` or ``random_state`` gets a numpy Generator; all its random numbers must come from there.
    name : str, optional
        Its label in a study that gives none; default the name of the function.

    Notes
    -----
    In a power study a function with two or more required arguments is a test, and one with a single required argument
    is an estimator.  Wrap what may be either, such as ``function(*samples)``.  A p-value of 0, which some tests return
    because a float has no smaller one, counts as the smallest normal float.

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

    def __repr__(self) -> str:
        return f"AnyTest({_name(self.function)}{'' if self.name is None else f', name={self.name!r}'})"

    @property
    def permutes(self) -> bool:
        """True if it draws ``n_resamples`` permutations."""
        return False

    @property
    def label(self) -> str:
        """Its label in a study that gives none."""
        return _name(self.function) if self.name is None else self.name

    def pvalue(self, data: Sequence[Any], rng: np.random.Generator, n_resamples: float, label: str = "") -> float:
        """Return the p-value of samples or variables, which the function gets as copies.

        Raises TypeError if the function cannot be called with them or returns no number, and ValueError if its number
        is not a p-value; messages call the test by its ``label``.
        """
        who = f"test {label or self.label!r}"
        parameters = _parameters(self.function)
        random = {name: rng for name in [name for name in RANDOM if name in parameters][:1]}
        names = tuple("XY") if len(data) == 2 else tuple(f"sample {i}" for i in range(len(data)))
        meaning = f"{who} is a function of the data, with its random numbers as rng= or random_state= if it takes any"
        check_signature(self.function, names, meaning, tuple(random))
        return max(as_pvalue(self.function(*copy.deepcopy(data), **random), who), _LEAST)


def is_test(function: Callable[..., Any]) -> bool:
    """Return True for a test of two or more samples or variables, False for an estimator ``gram -> weights``.

    Raises TypeError if the signature fits both.

    Examples
    --------
    >>> is_test(lambda X, Y, rng: 0.5), is_test(lambda gram, amount=0.1: 1 / len(gram))
    (True, False)
    """
    parameters = _parameters(function)
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    required = [
        name
        for name, parameter in parameters.items()
        if parameter.kind in positional and parameter.default is parameter.empty and name not in RANDOM
    ]
    variadic = any(parameter.kind is inspect.Parameter.VAR_POSITIONAL for parameter in parameters.values())
    if len(required) < 2 and (variadic or not required):
        name = _name(function)
        raise TypeError(
            f"{name} may be a test or an estimator: write shrinktest.power.AnyTest({name}) or "
            f"shrinktest.estimators.FromFunction({name})"
        )
    return len(required) >= 2


def as_pvalue(result: Any, who: str = "test") -> float:
    """Return the p-value in what a test returned; raise TypeError or ValueError for anything else."""
    value = getattr(result, "pvalue", result)
    if isinstance(value, np.ndarray) and value.size == 1:
        value = value.reshape(())[()]
    if not isinstance(value, Real) or isinstance(value, bool | np.bool_):
        advice = "; combine several, for example by Bonferroni" if isinstance(value, np.ndarray) else ""
        raise TypeError(f"{who} must return a p-value or an object with one; it returned {result!r}{advice}")
    number = float(value)
    if not 0.0 <= number <= 1.0:
        advice = "; return 1.0 if nothing can be tested" if np.isnan(number) else ""
        raise ValueError(f"{who} must return a p-value, a number from 0 to 1; it returned {number}{advice}")
    return number


def _parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Parameters by name; none for some functions written in C."""
    try:
        return dict(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return {}


def _name(function: Any) -> str:
    """A name that is the same in every process, and so has no address."""
    if isinstance(function, partial):
        arguments = [*map(repr, function.args), *(f"{key}={value!r}" for key, value in function.keywords.items())]
        return f"{_name(function.func)}({', '.join(arguments)})"
    kind: Any = type(function)
    plain = kind.__qualname__ if kind.__repr__ is object.__repr__ else repr(function)
    return str(getattr(function, "__qualname__", None) or plain)


# --- tests known by name ------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class KnownTest(AnyTest):
    """A test of another package, known by its name: ``(*data, rng, n_resamples) -> p-value`` of complete arrays."""

    test: str = TWO_SAMPLE.name  # what it tests: "two-sample", "independence" or "k-sample"
    summary: str = ""
    drawing: bool = False  # True if it draws ``n_resamples`` permutations

    @property
    def permutes(self) -> bool:
        return self.drawing

    def __repr__(self) -> str:
        return f"KnownTest({self.name!r})"

    def pvalue(self, data: Sequence[Any], rng: np.random.Generator, n_resamples: float, label: str = "") -> float:
        names = "XY" if len(data) == 2 else [f"samples[{i}]" for i in range(len(data))]
        values = [complete_points(sample, name).values for sample, name in zip(data, names, strict=True)]
        return AnyTest(partial(self.function, n_resamples=n_resamples)).pvalue(values, rng, n_resamples, label)


def _columns(name: str, *samples: Array, rng: np.random.Generator, n_resamples: float) -> float:
    """Test every column by a test of scipy: the smallest p-value times their number (Bonferroni)."""
    test = _imported("scipy.stats", name)
    return _bonferroni([test(*column).pvalue for column in zip(*(sample.T for sample in samples), strict=True)])


def _pairs(name: str, x: Array, y: Array, rng: np.random.Generator, n_resamples: float) -> float:
    """Test every column of X with every column of Y by a test of scipy."""
    test = _imported("scipy.stats", name)
    return _bonferroni([test(first, second).pvalue for first in x.T for second in y.T])


def _bonferroni(pvalues: list[float]) -> float:
    """The smallest p-value times their number; NaN, from a constant column, counts as 1."""
    return min(1.0, len(pvalues) * float(np.nan_to_num(pvalues, nan=1.0).min()))


def _dcor(module: str, name: str, *data: Array, rng: np.random.Generator, n_resamples: float) -> float:
    """Permutation test of dcor."""
    return float(_imported(f"dcor.{module}", name)(*data, num_resamples=n_resamples, random_state=rng).pvalue)


def _random_forest(x: Array, y: Array, rng: np.random.Generator, n_resamples: float) -> float:
    """Test whether a forest fitted to half of each sample gives the other half of Y the higher scores."""
    forest = _imported("sklearn.ensemble", "RandomForestClassifier")(random_state=int(rng.integers(2**31)), n_jobs=1)
    (x_seen, x_new), (y_seen, y_new) = (np.array_split(rng.permutation(sample), 2) for sample in (x, y))
    forest.fit(np.vstack([x_seen, y_seen]), np.repeat([0, 1], [len(x_seen), len(y_seen)]))
    scores = [forest.predict_proba(new)[:, 1] for new in (y_new, x_new)]
    return float(_imported("scipy.stats", "mannwhitneyu")(*scores, alternative="greater").pvalue)


def _imported(module: str, name: str) -> Any:
    """Function or class of a package that may not be installed."""
    try:
        return getattr(importlib.import_module(module), name)
    except ModuleNotFoundError as error:
        package = module.split(".")[0]
        if error.name != package:
            raise
        distribution = {"sklearn": "'shrinktest[apps]'"}.get(package, package)
        raise ModuleNotFoundError(f"{name} needs a package that is missing: pip install {distribution}") from None


def _scipy(name: str, kind: str, summary: str) -> KnownTest:
    each, run = ("pairs of columns", _pairs) if kind == INDEPENDENCE.name else ("columns", _columns)
    return KnownTest(partial(run, name), name, kind, f"{summary} (scipy); of {each}, the smallest p-value, Bonferroni")


def _permuted(module: str, name: str, kind: str, summary: str) -> KnownTest:
    return KnownTest(partial(_dcor, module, name), name, kind, f"{summary} (dcor), permuted", True)


#: Tests of other packages by the name of the function in scipy.stats or dcor.
KNOWN_TESTS: dict[str, KnownTest] = {
    test.label: test
    for test in (
        _scipy("ks_2samp", TWO_SAMPLE.name, "Kolmogorov and Smirnov"),
        _scipy("cramervonmises_2samp", TWO_SAMPLE.name, "Cramer and von Mises"),
        _scipy("mannwhitneyu", TWO_SAMPLE.name, "Mann and Whitney"),
        _scipy("ttest_ind", TWO_SAMPLE.name, "Student's t"),
        _permuted("homogeneity", "energy_test", TWO_SAMPLE.name, "energy distance"),
        KnownTest(_random_forest, "random_forest", TWO_SAMPLE.name, "a forest that tells halves apart (scikit-learn)"),
        _scipy("kruskal", K_SAMPLE.name, "Kruskal and Wallis"),
        _scipy("pearsonr", INDEPENDENCE.name, "Pearson's correlation"),
        _scipy("spearmanr", INDEPENDENCE.name, "Spearman's correlation"),
        _permuted("independence", "distance_covariance_test", INDEPENDENCE.name, "distance covariance"),
    )
}


def known_tests(kind: str) -> list[str]:
    """Names of the tests for one kind of data.

    Examples
    --------
    >>> known_tests("independence")
    ['pearsonr', 'spearmanr', 'distance_covariance_test']
    """
    return [name for name, test in KNOWN_TESTS.items() if test.test == kind]


def known_test(name: str, kind: str) -> KnownTest | None:
    """Return the test with this name, if any; raise ValueError if it is for data of another kind."""
    test = KNOWN_TESTS.get(name.lower().replace("-", "_"))
    if test is not None and test.test != kind:
        others = listed(known_tests(kind)) or "any function"
        raise ValueError(f"{name!r} is {KINDS[test.test].described}; for {KINDS[kind].described} use {others}")
    return test
