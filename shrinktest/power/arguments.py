"""Arguments that studies share: estimators and their labels, sequences, numbers of trials, seeds."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any

from shrinktest._validate import as_rng, count
from shrinktest.estimators import MeanEstimator, as_estimator


def named_estimators(estimators: Any) -> dict[str, MeanEstimator]:
    """Labels and estimators."""
    if isinstance(estimators, Mapping):
        pairs = [(label, as_estimator(estimator)) for label, estimator in estimators.items()]
        wrong = [label for label, _ in pairs if not isinstance(label, str)]
        if wrong:
            raise TypeError(f"the labels of estimators must be text, got {wrong[0]!r}")
    else:
        lone = isinstance(estimators, str | MeanEstimator) or callable(estimators)
        given = [estimators] if lone else several(estimators, (), "estimators")
        pairs = [(one if isinstance(one, str) else repr(as_estimator(one)), as_estimator(one)) for one in given]
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
