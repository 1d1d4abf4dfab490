"""Arguments that studies share: what they compare and its labels, sequences, numbers of trials, seeds."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any

from shrinktest._check import MAX_SIZE, as_rng, choice, count, did_you_mean, listed
from shrinktest._parallel import free_memory
from shrinktest.estimators import ALIASES, ESTIMATORS, MeanEstimator, as_estimator
from shrinktest.multiple.ensembles import AUTO, Ensemble, estimators_of, is_auto, recommended
from shrinktest.power.any_test import AnyTest, is_test
from shrinktest.power.known_tests import KNOWN_TESTS, known_test, known_tests
from shrinktest.results.info import KINDS

#: What a power study compares: an estimator, several combined, keyword arguments of the test, or another test.
Compared = MeanEstimator | Ensemble | tuple[MeanEstimator, ...] | dict[str, Any] | AnyTest

_BYTES = 700  # of a trial of one setting, in the lists of a study


def named_tests(estimators: Any, test: str) -> dict[str, Compared]:
    """Labels and what a power study compares under them; ``test`` is that of its design."""
    if isinstance(estimators, Mapping):
        return _distinct([(_label(label), as_compared(one, test)) for label, one in estimators.items()])
    lone = isinstance(estimators, str | MeanEstimator | Ensemble | AnyTest) or callable(estimators)
    given = [estimators] if lone else several(estimators, (), "estimators")
    return _distinct([(label_of(one, compared := as_compared(one, test)), compared) for one in given])


def label_of(given: Any, compared: Compared) -> str:
    """What is called so where nobody says: a name is itself, a test has its own, and others have their repr."""
    if isinstance(given, str):
        return given
    return compared.label if isinstance(compared, AnyTest) else repr(compared)


def as_compared(one: Any, test: str) -> Compared:
    """What is behind a name, an estimator, a list of them, a dict of keyword arguments of the test, or another test."""
    if isinstance(one, Mapping):
        settings = options_of(one, test, "a member of estimators", "estimator")
        estimator = as_compared(settings.pop("estimator", "kme"), test)
        if isinstance(estimator, AnyTest):
            raise ValueError(f"{estimator!r} is a test with arguments of its own and not an estimator; give it alone")
        return {"estimator": estimator, **settings}
    if isinstance(one, Ensemble | AnyTest):
        return one
    if isinstance(one, list | tuple):
        return tuple(estimators_of(one))
    if isinstance(one, str) and not is_auto(one):
        return _by_name(one, test)
    if callable(one) and not isinstance(one, MeanEstimator | type) and is_test(one):
        return AnyTest(one)
    return recommended(test) if is_auto(one) else as_estimator(one)


def _by_name(name: str, test: str) -> Compared:
    """An estimator, or a test of another package."""
    known, estimators = known_test(name, test), (*ESTIMATORS, *ALIASES, AUTO)
    if known is None and name.lower().replace("-", "_") not in estimators:
        others = (
            f", nor {KINDS[test].described} of another package: {listed(known_tests(test))}"
            if known_tests(test)
            else ""
        )
        raise ValueError(
            f"{name!r} is no estimator: {listed(estimators)}{others}{did_you_mean(name, (*estimators, *KNOWN_TESTS))}"
        )
    return known or as_estimator(name)


def mapping_of(given: Any, name: str) -> Mapping[str, Any]:
    """Keyword arguments of the test, none for None."""
    if given is not None and not isinstance(given, Mapping):
        raise TypeError(f"{name} must be a dict of arguments of the test, such as {{'bandwidth': 1.5}}; got {given!r}")
    return given or {}


def options_of(given: Any, test: str, name: str, *others: str) -> dict[str, Any]:
    """Keyword arguments of the test; raises ValueError for an argument that the test does not take."""
    options = dict(mapping_of(given, name))
    for key in options:
        choice(key, (*others, *KINDS[test].options), f"a key of {name}, for {KINDS[test].described},")
    return options


def permutes(compared: Compared) -> bool:
    """Whether the number of permutations of a study is for it."""
    return not isinstance(compared, AnyTest) or compared.permutes


def brings_kernels(compared: Compared) -> bool:
    """Whether the kernels and bandwidths of a study are not for it, because it has its own."""
    return isinstance(compared["estimator"] if isinstance(compared, dict) else compared, Ensemble | AnyTest)


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
    if isinstance(values, str):  # which is a sequence of letters
        raise TypeError(f"{name} must be a sequence of values, or one, got {values!r} (str)")
    try:
        listed = list(values)
    except TypeError:
        raise TypeError(f"{name} must be a sequence, got {values!r} ({type(values).__name__})") from None
    if not listed:
        raise ValueError(f"{name} is empty; give at least one")
    return listed


def trial_numbers(n_trials: Any) -> range:
    """The numbers of the trials: those below a count, or the range that was given."""
    trials = (
        n_trials if isinstance(n_trials, range) else range(count(n_trials, "n_trials", minimum=1, maximum=MAX_SIZE))
    )
    if not trials or trials[0] < 0 or trials[-1] < 0:
        raise ValueError(f"n_trials={n_trials!r} must hold numbers of trials from 0 on")
    return trials


def require_room(trials: range, cells: int = 1) -> None:
    """Raise ValueError for more trials, of so many cells (settings of a study) each, than memory has room for."""
    number = (trials[-1] - trials[0]) // trials.step + 1  # len() of a range has a limit
    if number * cells * _BYTES > (free := free_memory()):
        asked = f"{number:,} trials" + f" of {cells} settings each" * (cells > 1)
        raise ValueError(
            f"n_trials asks for {asked}; the lists of what is to be done and was found take about {_BYTES} bytes of "
            f"memory for each, and {free / 1e9:.1f} GB are free. Ask for {int(free / cells / _BYTES):,} at most: the "
            "95% interval of a power from 100,000 trials is as narrow as 0.6 percentage points"
        )


def seed_of(rng: Any, stored: int | None) -> int:
    """The seed of the study: that of the store for None, the number given, or 128 bits from another source."""
    if rng is None and stored is not None:
        return stored
    return int(rng) if isinstance(rng, Integral) else int.from_bytes(as_rng(rng).bytes(16), "little")
