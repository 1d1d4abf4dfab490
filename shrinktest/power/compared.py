"""Estimators, keyword arguments of tests, and tests of other packages, as a study compares them."""

from __future__ import annotations

import copy
import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from numbers import Integral, Real
from typing import Any

import numpy as np

from shrinktest._check import (
    Array,
    check_signature,
    choice,
    complete_points,
    count,
    did_you_mean,
    level,
    listed,
)
from shrinktest.auto import estimators_of, recommended
from shrinktest.ensembles import Ensemble
from shrinktest.estimators import ALIASES, ESTIMATORS, IN_PAPERS, MeanEstimator, as_estimator
from shrinktest.kernel_spec import AUTO, is_auto
from shrinktest.power.designs.base import function_name
from shrinktest.results.info import INDEPENDENCE, K_SAMPLE, KINDS, TWO_SAMPLE

#: Parameters by which a function asks for random numbers.
RANDOM = ("rng", "random_state")

_LEAST = float(np.finfo(np.float64).tiny)  # stands for a p-value that is too small for a float


@dataclass(frozen=True, repr=False)
class AnyTest:
    """A test of your own or of another package, for comparisons in power studies.

    Parameters
    ----------
    function : callable
        ``function(X, Y)``, which returns a p-value or an object with an attribute ``pvalue``; it is
        called with arrays (n, d) or, if the design draws tables, with tables.  For more samples or
        variables it gets one argument for each.  A parameter ``rng`` or ``random_state`` gets a
        numpy Generator, from which all its random numbers must come.
    name : str, optional
        Label in a study that does not label its tests; default the name of the function.

    Notes
    -----
    In a power study a function with two or more required arguments is a test, whereas one with a
    single required argument is an estimator.  Wrap a function that may be either, such as
    ``function(*samples)``.  A p-value of 0 counts as the smallest normal float.

    Examples
    --------
    >>> from scipy.stats import kruskal
    >>> from shrinktest.power import AnyTest, designs, power_study
    >>> study = {"n_trials": 20, "workers": 1, "rng": 0}
    >>> result = power_study(
    ...     designs.OneApart(dimension=1, shift=2.0), AnyTest(kruskal), 20, **study
    ... )
    >>> result.table[["estimator", "n", "power"]]
      estimator   n  power
    0   kruskal  20    1.0
    """

    function: Callable[..., Any]
    name: str | None = None

    #: True if it draws ``n_resamples`` permutations.
    permutes = False

    def __repr__(self) -> str:
        name = "" if self.name is None else f", name={self.name!r}"
        return f"AnyTest({function_name(self.function)}{name})"

    @property
    def label(self) -> str:
        """Label in a study that does not label its tests."""
        return self.name or function_name(self.function)

    def pvalue(
        self, data: Sequence[Any], rng: np.random.Generator, n_resamples: float, label: str = ""
    ) -> float:
        """Return the p-value of samples or variables, which the function gets as copies.

        Error messages name the test by its ``label``.
        """
        who = f"test {label or self.label!r}"
        random = {
            name: rng
            for name in [name for name in RANDOM if name in _parameters(self.function)][:1]
        }
        names = tuple("XY") if len(data) == 2 else tuple(f"sample {i}" for i in range(len(data)))
        meaning = (
            f"{who} is a function of the data, with its random numbers as rng= or random_state= if "
            "it accepts any"
        )
        check_signature(self.function, names, meaning, tuple(random))
        return max(as_pvalue(self.function(*copy.deepcopy(data), **random), who), _LEAST)


def as_pvalue(result: Any, who: str = "test") -> float:
    """Return the p-value in what a test returned."""
    value = getattr(result, "pvalue", result)
    if isinstance(value, np.ndarray) and value.size == 1:
        value = value.item()
    if not isinstance(value, Real) or isinstance(value, bool | np.bool_):
        advice = (
            "; combine several, for example by Bonferroni" if isinstance(value, np.ndarray) else ""
        )
        raise TypeError(
            f"{who} must return a p-value or an object with one; it returned {result!r}{advice}"
        )
    number = float(value)
    if not 0.0 <= number <= 1.0:
        advice = "; return 1.0 if nothing can be tested" if np.isnan(number) else ""
        raise ValueError(
            f"{who} must return a p-value, a number from 0 to 1; it returned {number}{advice}"
        )
    return number


def is_test(function: Callable[..., Any]) -> bool:
    """Return True for a test of samples or variables, False for an estimator.

    A test has two or more of these; an estimator is ``gram -> weights``.

    Raises TypeError if the signature fits both.
    """
    parameters = [
        parameter for name, parameter in _parameters(function).items() if name not in RANDOM
    ]
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    required = sum(
        parameter.kind in positional and parameter.default is parameter.empty
        for parameter in parameters
    )
    variadic = any(parameter.kind is inspect.Parameter.VAR_POSITIONAL for parameter in parameters)
    if required < 2 and (variadic or not required):
        name = function_name(function)
        raise TypeError(
            f"{name} may be a test or an estimator: write shrinktest.power.AnyTest({name}) or "
            f"shrinktest.estimators.FromFunction({name})"
        )
    return required >= 2


def _parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Return parameters by name; none for some functions written in C."""
    try:
        return dict(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return {}


# --- tests known by name --------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class KnownTest(AnyTest):
    """A test from another package, by name: ``(*data, rng, n_resamples) -> p-value``.

    The arrays are complete.
    """

    test: str = TWO_SAMPLE.name  # what it tests: "two-sample", "independence" or "k-sample"
    summary: str = ""
    permutes: bool = False  # type: ignore[misc]  # every other test draws none

    def __repr__(self) -> str:
        return f"KnownTest({self.name!r})"

    def pvalue(
        self, data: Sequence[Any], rng: np.random.Generator, n_resamples: float, label: str = ""
    ) -> float:
        names = "XY" if len(data) == 2 else [f"samples[{i}]" for i in range(len(data))]
        values = [
            complete_points(sample, name).values for sample, name in zip(data, names, strict=True)
        ]
        return max(as_pvalue(self.function(*values, rng=rng, n_resamples=n_resamples)), _LEAST)


def _columns(
    name: str, pairs: bool, *samples: Array, rng: np.random.Generator, n_resamples: float
) -> float:
    """Test columns, or all pairs of columns, by a test of scipy.

    The p-value is the smallest p-value times their number.
    """
    from scipy import stats

    test = getattr(stats, name)
    columns = [sample.T for sample in samples]
    pvalues = [
        test(*each).pvalue for each in (product(*columns) if pairs else zip(*columns, strict=True))
    ]
    smallest = float(np.nan_to_num(pvalues, nan=1.0).min())  # a constant column hides no other
    return min(1.0, len(pvalues) * smallest)


def _dcor(
    module: str, name: str, *data: Array, rng: np.random.Generator, n_resamples: float
) -> float:
    """Permutation test of dcor."""
    test = getattr(importlib.import_module(f"dcor.{module}"), name)
    return float(test(*data, num_resamples=n_resamples, random_state=rng).pvalue)


def _random_forest(x: Array, y: Array, rng: np.random.Generator, n_resamples: float) -> float:
    """Test whether a forest gives the second half of Y the higher scores.

    The forest is fitted to half of each sample, and scores the other half of both.
    """
    from scipy.stats import mannwhitneyu
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(random_state=int(rng.integers(2**31)), n_jobs=1)
    (x_seen, x_new), (y_seen, y_new) = (
        np.array_split(rng.permutation(sample), 2) for sample in (x, y)
    )
    forest.fit(np.vstack([x_seen, y_seen]), np.repeat([0, 1], [len(x_seen), len(y_seen)]))
    scores = [forest.predict_proba(new)[:, 1] for new in (y_new, x_new)]
    return float(mannwhitneyu(*scores, alternative="greater").pvalue)


def _scipy(name: str, kind: str, summary: str) -> KnownTest:
    pairs = kind == INDEPENDENCE.name
    each = f"smallest p-value of {'pairs of ' * pairs}columns, Bonferroni"
    return KnownTest(partial(_columns, name, pairs), name, kind, f"{summary} (scipy); {each}")


def _permuted(module: str, name: str, kind: str, summary: str) -> KnownTest:
    return KnownTest(
        partial(_dcor, module, name), name, kind, f"permutation test of {summary} (dcor)", True
    )


#: Tests of other packages by the name of the function in scipy.stats or dcor.
KNOWN_TESTS: dict[str, KnownTest] = {
    test.label: test
    for test in (
        _scipy("ks_2samp", TWO_SAMPLE.name, "Kolmogorov-Smirnov test"),
        _scipy("cramervonmises_2samp", TWO_SAMPLE.name, "Cramér-von Mises test"),
        _scipy("mannwhitneyu", TWO_SAMPLE.name, "Mann-Whitney U test"),
        _scipy("ttest_ind", TWO_SAMPLE.name, "Student's t test"),
        _permuted("homogeneity", "energy_test", TWO_SAMPLE.name, "energy distance"),
        KnownTest(
            _random_forest,
            "random_forest",
            TWO_SAMPLE.name,
            "random-forest classifier two-sample test (scikit-learn)",
        ),
        _scipy("kruskal", K_SAMPLE.name, "Kruskal-Wallis test"),
        _scipy("pearsonr", INDEPENDENCE.name, "Pearson's correlation"),
        _scipy("spearmanr", INDEPENDENCE.name, "Spearman's correlation"),
        _permuted(
            "independence", "distance_covariance_test", INDEPENDENCE.name, "distance covariance"
        ),
    )
}


def known_tests(kind: str) -> list[str]:
    """Return the names of the tests for one kind of data."""
    return [name for name, test in KNOWN_TESTS.items() if test.test == kind]


def known_test(name: str, kind: str) -> KnownTest | None:
    """Return the test with this name, if any.

    Raise ValueError if it is for data of another kind.
    """
    test = KNOWN_TESTS.get(name.lower().replace("-", "_"))
    if test is not None and test.test != kind:
        others = listed(known_tests(kind)) or "any function"
        raise ValueError(
            f"{name!r} is {KINDS[test.test].described}; for {KINDS[kind].described} use {others}"
        )
    return test


# --- arguments of studies -------------------------------------------------------------------------


def several(values: Any, single: Any, name: str) -> list[Any]:
    """Return a list of what may be one value, an instance of ``single``, or a sequence."""
    if isinstance(values, single):
        return [values]
    if isinstance(values, str) or not hasattr(values, "__iter__"):  # text is a sequence of letters
        raise TypeError(
            f"{name} must be a sequence of values, or one, got {values!r} ({type(values).__name__})"
        )
    members = list(values)
    if not members:
        raise ValueError(f"{name} is empty; pass at least one")
    return members


def as_sizes(values: Any, name: str) -> tuple[int, ...]:
    """Return one or several positive integers, ascending."""
    return tuple(
        sorted({count(value, name, minimum=1) for value in several(values, Integral, name)})
    )


def as_levels(alphas: Any) -> tuple[float, ...]:
    """Return one or several levels, ascending."""
    return tuple(sorted({level(alpha, "alphas") for alpha in several(alphas, Real, "alphas")}))


#: What a power study compares: an estimator, several combined, keyword arguments of the test, or
#: another test.
Compared = MeanEstimator | Ensemble | tuple[MeanEstimator, ...] | dict[str, Any] | AnyTest


def named_members(estimators: Any, read: Callable[[Any], Any]) -> dict[str, Any]:
    """Return labels and what was read of one, several or a mapping of members of a study."""
    single = isinstance(estimators, str | MeanEstimator | Ensemble | AnyTest) or callable(
        estimators
    )
    named: dict[str, Any] = {}
    if isinstance(estimators, Mapping):
        named = {label: read(given) for label, given in estimators.items()}
    else:
        for given in [estimators] if single else several(estimators, (), "estimators"):
            member = read(given)
            label = label_of(given, member)
            if label in named:
                raise ValueError(
                    f"estimators holds {label!r} more than once; pass a dict with a label for each"
                )
            named[label] = member
    if not named:
        raise ValueError("estimators is empty; name at least one, such as 'kme'")
    for label in named:
        if not isinstance(label, str):
            raise TypeError(f"the labels of estimators must be text, got {label!r}")
    return named


def label_of(given: Any, member: Any) -> str:
    """Return the default label of a member.

    A name is itself, a test has one, and others have their repr.
    """
    if isinstance(given, str):
        return given
    return member.label if isinstance(member, AnyTest) else repr(member)


def as_compared(given: Any, test: str) -> Compared:
    """Read a name, an estimator, a list of them, a keyword dict, or another test.

    The dict holds keyword arguments of the test.
    """
    if isinstance(given, Mapping):
        settings = options_of(given, test, "a member of estimators", "estimator")
        estimator = as_compared(settings.pop("estimator", "kme"), test)
        if isinstance(estimator, AnyTest):
            raise ValueError(
                f"{estimator!r} is a test and accepts no keyword arguments; pass it alone"
            )
        return {"estimator": estimator, **settings}
    if isinstance(given, Ensemble | AnyTest):
        return given
    if isinstance(given, list | tuple):
        return tuple(estimators_of(given))
    if is_auto(given):
        return recommended(test)
    if isinstance(given, str):
        known = known_test(given, test)
        names = (*ESTIMATORS, *ALIASES, AUTO)
        if known is None and given.lower().replace("-", "_") not in (*names, *IN_PAPERS):
            hint = did_you_mean(given, (*names, *KNOWN_TESTS))
            others = (
                f", nor of {KINDS[test].described}: {listed(known_tests(test))}"
                if known_tests(test)
                else ""
            )
            raise ValueError(
                f"{given!r} is not the name of an estimator: {listed(names)}{others}{hint}"
            )
        return known or as_estimator(given)
    if callable(given) and not isinstance(given, MeanEstimator | type) and is_test(given):
        return AnyTest(given)
    return as_estimator(given)


def options_of(given: Any, test: str, name: str, *others: str) -> dict[str, Any]:
    """Return keyword arguments that the test takes, none for None."""
    options = as_mapping(given, name)
    for key in options:
        choice(
            key, (*others, *KINDS[test].options), f"a key of {name}, for {KINDS[test].described},"
        )
    return options


def as_mapping(given: Any, name: str) -> dict[str, Any]:
    """Read a dict of keyword arguments, or None."""
    if given is not None and not isinstance(given, Mapping):
        raise TypeError(
            f"{name} must be a dict of arguments of the test, such as {{'bandwidth': 1.5}}; got "
            f"{given!r}"
        )
    return dict(given or {})


def permutes(compared: Compared) -> bool:
    """Return True if the number of permutations of a study applies to it."""
    return not isinstance(compared, AnyTest) or compared.permutes


def brings_kernels(compared: Compared) -> bool:
    """Return True if it has kernels and bandwidths of its own."""
    return isinstance(
        compared["estimator"] if isinstance(compared, dict) else compared, Ensemble | AnyTest
    )
