"""check_estimator: whether an estimator does what the tests rely on."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import CellType, FunctionType, MethodType
from typing import Any

import numpy as np

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

    Parameters
    ----------
    estimator : str, MeanEstimator or callable
        Whatever the ``estimator=`` of a test accepts.  Check it before its first use: what it keeps of earlier data is
        in its copies, too.

    Raises
    ------
    AssertionError
        The message says which property is missing, on which Gram matrix.

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
    for name, gram in _grams():
        n = gram.shape[0]
        given = gram.copy()
        where = f"{est!r} on {name}"
        try:
            weights = np.asarray(est.weights(given))
        except ValueError as wrong:  # functions get a read-only matrix
            _law("read-only" not in str(wrong), f"{where}: the Gram matrix was changed; work on a copy")
            raise
        _law(weights.shape == (n,), f"{where}: weights must have shape ({n},), found {weights.shape}")
        _law(bool(np.isfinite(weights).all()), f"{where}: weights must be finite, found {weights}")
        _law(bool((given == gram).all()), f"{where}: the Gram matrix was changed; work on a copy")
        _law(bool((est.weights(gram) == weights).all()), f"{where}: a second call gave other weights; keep no state")
        order = np.random.default_rng(1).permutation(n)
        moved = np.asarray(est.weights(np.ascontiguousarray(gram[np.ix_(order, order)])))
        # compared in the RKHS: weights in the null space of a singular Gram matrix are free
        gap = moved - weights[order]
        size = max(abs(weights @ gram @ weights), np.trace(gram) / n)
        error = abs(gap @ gram[np.ix_(order, order)] @ gap)
        _law(error <= 1e-8 * size, f"{where}: reordering the points must reorder the weights")
    _check_memory(est, pristine, classes)
    _check_tests(est)
    _check_memory(est, pristine, classes)


def _check_memory(est: Any, pristine: Any, classes: _ClassState) -> None:
    """Compare an estimator that has been used, and is used on, with copies of it that have seen nothing."""
    fresh = []
    for name, gram in _grams():
        with _classes_as(classes):
            fresh.append((name, gram, np.asarray(_fresh(pristine).weights(gram.copy()))))
    for name, gram, weights in [*fresh, *reversed(fresh)]:
        _law(
            bool((np.asarray(est.weights(gram.copy())) == weights).all()),
            f"{est!r} on {name}: after other data it gave other weights than a fresh copy; keep no state",
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


def _check_tests(est: Any) -> None:
    from shrinktest import independence_test, two_sample_test

    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(6, 2)), rng.normal(size=(5, 2))
    for result in (
        two_sample_test(x, y, estimator=est, n_resamples=19, rng=0, workers=1),
        independence_test(x, x[:, :1] ** 2, estimator=est, n_resamples=19, rng=0, workers=1),
    ):
        _law(
            np.isfinite(result.statistic) and 0.0 < result.pvalue <= 1.0,
            f"{est!r}: {result.test} gave statistic {result.statistic} and p-value {result.pvalue}",
        )


def _law(holds: bool, message: str) -> None:
    if not holds:
        raise AssertionError(message)
