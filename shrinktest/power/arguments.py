"""Arguments that studies share: estimators and their labels, sequences, numbers of trials, seeds."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any

from shrinktest._renamed import by_new_names
from shrinktest._validate import as_rng, choice, count
from shrinktest.estimators import MeanEstimator, as_estimator
from shrinktest.multiple.collection import Collection, estimators_of, is_auto, recommended
from shrinktest.results.kinds import KINDS

#: What a power study compares: an estimator, several combined, or keyword arguments of the test.
Compared = MeanEstimator | Collection | tuple[MeanEstimator, ...] | dict[str, Any]


def named_tests(estimators: Any, test: str) -> dict[str, Compared]:
    """Labels and what a power study compares under them; ``test`` is that of its design."""
    if isinstance(estimators, Mapping):
        return _distinct([(_label(label), as_compared(one, test)) for label, one in estimators.items()])
    lone = isinstance(estimators, str | MeanEstimator | Collection) or callable(estimators)
    given = [estimators] if lone else several(estimators, (), "estimators")
    pairs = [(one, as_compared(one, test)) for one in given]
    return _distinct([(one if isinstance(one, str) else repr(compared), compared) for one, compared in pairs])


def as_compared(one: Any, test: str) -> Compared:
    """What is behind a name, an estimator, a list of them, or a dict of keyword arguments of the test."""
    if isinstance(one, Mapping):
        settings = options_of(one, test, "a member of estimators", "estimator")
        return {"estimator": as_compared(settings.pop("estimator", "kme"), test), **settings}
    if isinstance(one, Collection):
        return one
    if isinstance(one, list | tuple):
        return tuple(estimators_of(one))
    return recommended(test) if is_auto(one) else as_estimator(one)


def options_of(given: Mapping[str, Any], test: str, name: str, *others: str) -> dict[str, Any]:
    """Keyword arguments of the test, by the names that they have now; raises ValueError for those it does not take."""
    options = by_new_names(given, {"statistic": "form"}, name)
    for key in options:
        choice(key, (*others, *KINDS[test].options), f"a key of {name}, for a {test} test,")
    return options


def brings_kernels(compared: Compared) -> bool:
    """Whether the kernels and bandwidths of a study are not for it, because it has its own."""
    return isinstance(compared["estimator"] if isinstance(compared, dict) else compared, Collection)


def named_estimators(estimators: Any) -> dict[str, MeanEstimator]:
    """Labels and estimators."""
    if isinstance(estimators, Mapping):
        return _distinct([(_label(label), as_estimator(estimator)) for label, estimator in estimators.items()])
    lone = isinstance(estimators, str | MeanEstimator) or callable(estimators)
    given = [estimators] if lone else several(estimators, (), "estimators")
    return _distinct([(one if isinstance(one, str) else repr(as_estimator(one)), as_estimator(one)) for one in given])


def _label(label: Any) -> str:
    if not isinstance(label, str):
        raise TypeError(f"the labels of estimators must be text, got {label!r}")
    return label


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    labels = [label for label, _ in pairs]
    for label in labels:
        if labels.count(label) > 1:
            raise ValueError(
                f"estimators holds {label!r} more than once; give each a label of its own: estimators={{'a': ..., "
                "'b': ...}"
            )
    if not pairs:
        raise ValueError("estimators is empty; name at least one, such as 'kme'")
    return dict(pairs)


def several(values: Any, lone: Any, name: str) -> list[Any]:
    """A list of what may be one value or several."""
    if isinstance(values, lone):
        return [values]
    try:
        listed = list(values)
    except TypeError:
        raise TypeError(f"{name} must be a sequence, got {values!r} ({type(values).__name__})") from None
    if not listed:
        raise ValueError(f"{name} is empty; give at least one")
    return listed


def trial_numbers(n_trials: Any) -> range:
    """The numbers of the trials: those below a count, or the range that was given."""
    trials = n_trials if isinstance(n_trials, range) else range(count(n_trials, "n_trials", minimum=1))
    if not trials or trials[0] < 0 or trials[-1] < 0:
        raise ValueError(f"n_trials={n_trials!r} must hold numbers of trials from 0 on")
    return trials


def seed_of(rng: Any, stored: int | None) -> int:
    """The seed of the study: that of the store for None, the number given, or 128 bits from another source."""
    if rng is None and stored is not None:
        return stored
    return int(rng) if isinstance(rng, Integral) else int.from_bytes(as_rng(rng).bytes(16), "little")
