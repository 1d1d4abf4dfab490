"""check_estimator: whether an estimator does what the tests rely on."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import CellType, FunctionType, MethodType
from typing import Any

import numpy as np

from shrinktest.estimators.base import MeanEstimator, as_weights
from shrinktest.estimators.custom import Compiled
from shrinktest.estimators.spectral import SpectralEstimator
from shrinktest.kernels import Gaussian, Linear

_ClassState = dict[type, dict[str, Any]]

_NOT_USERS = ("shrinktest", "builtins", "numpy", "numba", "abc", "typing", "functools")


def _grams() -> Iterator[tuple[str, np.ndarray]]:
    rng = np.random.default_rng(0)
    points = rng.normal(size=(12, 3))
    yield "a Gaussian Gram matrix of 12 points", Gaussian(1.5)(points)
    yield "a singular Gram matrix (linear kernel, negative entries)", Linear()(points)
    yield "a Gram matrix with duplicated points", Gaussian(1.5)(np.repeat(points[:4], 3, axis=0))
    yield "two points", Gaussian(1.0)(points[:2])
    yield "points that all coincide", np.ones((5, 5))
    yield "a zero Gram matrix", np.zeros((4, 4))


def check_estimator(estimator: Any) -> None:
    """Check that an estimator of your own has the properties on which the tests rely; an error says which it lacks.

    On ordinary, singular, duplicated, constant and zero Gram matrices: one finite weight per point; the same answer
    twice; the Gram matrix left as it was; the weights travel with the points when these are reordered; duplicates of
    the data get a sensible embedding; and both tests run with it.  An estimator that was fitted to other data before,
    few or many, gives the same as a fresh copy.  One that keeps an amount from the first sample it is fitted to, which
    in a test is the observed sample, makes the level wrong, whether it keeps the amount on itself or on its class.
    What a built-in estimator is not for, such as fewer points than it keeps components, is left out.

    Parameters
    ----------
    estimator : str, MeanEstimator or callable
        One, by name, as an object or as a function gram -> weights; of several that a test combines, check each.  Check
        it before its first use: what it keeps of earlier data is in its copies, too.

    Raises
    ------
    AssertionError
        The message says which property is missing, on which Gram matrix, also where the estimator raises an error.
    TypeError, ValueError
        For what is no estimator.

    See Also
    --------
    shrinktest.MeanEstimator : The base class of an estimator of your own.
    shrinktest.risk.risk_study : How near an estimator comes to the true kernel mean.
    shrinktest.power_study : How often tests with it reject.

    Examples
    --------
    >>> from shrinktest import check_estimator
    >>> check_estimator(lambda gram: gram.mean(axis=1) / len(gram))
    """
    from shrinktest.estimators import as_estimator

    est = as_estimator(estimator)
    pristine, classes = _fresh(est), _class_state(est)
    grams = [(name, gram) for name, gram in _grams() if _suits(est, len(gram))]
    for name, gram in grams:
        n = gram.shape[0]
        where = f"{est!r} on {name}"
        weights = _weights(est, gram, where)
        again = _weights(est, gram, where)
        _law(bool((again == weights).all()), f"{where}: a second call gave other weights; keep no state")
        order = np.random.default_rng(1).permutation(n)
        moved = _weights(est, np.ascontiguousarray(gram[np.ix_(order, order)]), where)
        # compared in the RKHS: weights in the null space of a singular Gram matrix are free
        gap = moved - weights[order]
        size = max(abs(weights @ gram @ weights), np.trace(gram) / n)
        error = abs(gap @ gram[np.ix_(order, order)] @ gap)
        _law(error <= 1e-8 * size, f"{where}: reordering the points must reorder the weights")
    _check_memory(est, pristine, classes, grams)
    _check_tests(est)
    _check_memory(est, pristine, classes, grams)


def _suits(est: MeanEstimator, n: int) -> bool:
    """Whether an estimator takes samples of n points: a filter may keep more components than there are points."""
    try:
        if isinstance(est, SpectralEstimator):
            est.check_size(n)
    except ValueError:
        return False
    return True


def _weights(est: MeanEstimator, gram: np.ndarray, where: str) -> np.ndarray:
    """Its weights, if they are one finite number for each point, and the Gram matrix is as it was."""
    given = gram.copy()
    try:
        weights = as_weights(est.weights(given), est, len(gram))
    except Exception as wrong:  # whatever a function of a user raises; functions get a read-only matrix
        _law("read-only" not in str(wrong), f"{where}: the Gram matrix was changed; work on a copy")
        raise AssertionError(f"{where}: {type(wrong).__name__}: {wrong}") from wrong
    _law(bool((given == gram).all()), f"{where}: the Gram matrix was changed; work on a copy")
    return weights


def _check_memory(est: Any, pristine: Any, classes: _ClassState, grams: list[tuple[str, np.ndarray]]) -> None:
    """Compare an estimator that has been used, and is used on, with copies of it that have seen nothing."""
    fresh = []
    for name, gram in grams:
        with _classes_as(classes):
            fresh.append((name, gram, _weights(_fresh(pristine), gram, f"{est!r} on {name}")))
    for name, gram, weights in [*fresh, *reversed(fresh)]:
        where = f"{est!r} on {name}"
        _law(
            bool((_weights(est, gram, where) == weights).all()),
            f"{where}: after other data it gave other weights than a fresh copy; keep no state",
        )


def _class_state(est: Any) -> _ClassState:
    """Copies of what the user's classes of an estimator, and of what it is made of, hold themselves."""
    parts = [est, *getattr(est, "__dict__", {}).values()]
    parts += [part.__self__ for part in parts if isinstance(part, MethodType)]
    kinds = {kind for part in parts for kind in (part if isinstance(part, type) else type(part)).__mro__}
    users = [kind for kind in kinds if kind.__module__.partition(".")[0] not in _NOT_USERS]
    return {kind: {name: _copied(value) for name, value in _held(kind).items()} for kind in users}


def _held(kind: type) -> dict[str, Any]:
    """The attributes of a class that are no methods, properties and the like."""
    return {
        name: value
        for name, value in vars(kind).items()
        if not (name.startswith(("__", "_abc_")) or callable(value) or hasattr(type(value), "__get__"))
    }


@contextmanager
def _classes_as(classes: _ClassState) -> Iterator[None]:
    """For a while, classes that hold copies of what they held; then again what they hold now."""
    used = {kind: _held(kind) for kind in classes}
    _put(used, {kind: {name: _copied(value) for name, value in held.items()} for kind, held in classes.items()})
    try:
        yield
    finally:
        _put({kind: _held(kind) for kind in classes}, used)


def _put(instead_of: _ClassState, state: _ClassState) -> None:
    for kind, held in state.items():
        with suppress(TypeError):  # classes that nobody can change
            for name in instead_of[kind].keys() - held.keys():
                delattr(kind, name)
            for name, value in held.items():
                setattr(kind, name, value)


def _fresh(est: Any) -> Any:
    """A copy that shares nothing which can change, as far as Python can tell."""
    try:
        made = copy.deepcopy(est)
        for name, value in getattr(made, "__dict__", {}).items():
            if isinstance(value, FunctionType):  # which deepcopy leaves as they are
                object.__setattr__(made, name, _fresh_function(value))
    except Exception:  # what cannot be copied is compared with itself
        return est
    return made


def _fresh_function(function: FunctionType) -> FunctionType:
    """The function with copies of its defaults, of what it encloses, and of the variables that it can change."""
    known = dict(function.__globals__)
    for name in function.__code__.co_names:
        if isinstance(known.get(name), dict | list | set | np.ndarray):
            known[name] = _copied(known[name])
    cells = tuple(CellType(_copied(cell.cell_contents)) for cell in function.__closure__ or ())
    made = FunctionType(function.__code__, known, function.__name__, _copied(function.__defaults__), cells)
    made.__kwdefaults__ = _copied(function.__kwdefaults__)
    made.__qualname__ = function.__qualname__
    made.__dict__.update(_copied(vars(function)))
    return made


def _copied(value: Any) -> Any:
    try:
        return copy.deepcopy(value)
    except Exception:  # a module, say
        return value


def _check_tests(est: MeanEstimator) -> None:
    from shrinktest import independence_test, two_sample_test

    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(6, 2)), rng.normal(size=(5, 2))
    own = est.needs == "function" or isinstance(est, Compiled)
    for test, data in ((two_sample_test, (x, y)), (independence_test, (x, x[:, :1] ** 2))):
        try:
            result = test(*data, estimator=est, n_resamples=19, rng=0, workers=1)
        except Exception as wrong:
            if isinstance(wrong, ValueError) and not own:  # it is for other data, of other columns, say
                continue
            raise AssertionError(f"{est!r} in {test.__name__}: {type(wrong).__name__}: {wrong}") from wrong
        _law(
            np.isfinite(result.statistic) and 0.0 < result.pvalue <= 1.0,
            f"{est!r}: {result.test} gave statistic {result.statistic} and p-value {result.pvalue}",
        )


def _law(holds: bool, message: str) -> None:
    if not holds:
        raise AssertionError(message)
