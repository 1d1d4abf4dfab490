"""Arguments that studies share: what they compare, labels, sequences, numbers of trials, seeds."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np

from shrinktest._check import MAX_SIZE, Array, as_rng, choice, count, did_you_mean, listed
from shrinktest._parallel import free_memory
from shrinktest.effects.jackknife import FEWEST
from shrinktest.equivalence import DEPENDENCE, EquivalenceResult, check_margin, equivalence_test
from shrinktest.estimators import ALIASES, ESTIMATORS, MeanEstimator, as_estimator
from shrinktest.multiple.ensembles import AUTO, Ensemble, estimators_of, is_auto, recommended
from shrinktest.power.designs import Design
from shrinktest.power.designs.base import sizes_of
from shrinktest.power.other_tests import KNOWN_TESTS, AnyTest, is_test, known_test, known_tests
from shrinktest.results.info import INDEPENDENCE, KINDS, TWO_SAMPLE

#: What a power study compares: an estimator, several combined, keyword arguments of the test, or another test.
Compared = MeanEstimator | Ensemble | tuple[MeanEstimator, ...] | dict[str, Any] | AnyTest

_BYTES = 700  # of one trial of one setting, in the lists of a study

#: The name that solve_sample_size knows the test by.
EQUIVALENCE = "equivalence"

_SEARCHED = 100  # times the fewest rows, up to which the fewest groups are looked for
_OURS = ("X", "Y", "alpha", "names", "rng", "workers")  # set by a study


def named_tests(estimators: Any, test: str) -> dict[str, Compared]:
    """Labels and what a power study compares under them; ``test`` is the test of its design."""
    lone = isinstance(estimators, str | MeanEstimator | Ensemble | AnyTest) or callable(estimators)
    return _named(estimators, lone, lambda given: as_compared(given, test))


def named_estimators(estimators: Any) -> dict[str, MeanEstimator]:
    """Labels and estimators."""
    return _named(estimators, isinstance(estimators, str | MeanEstimator) or callable(estimators), as_estimator)


def _named(estimators: Any, lone: bool, read: Callable[[Any], Any]) -> dict[str, Any]:
    if isinstance(estimators, Mapping):
        pairs = [(label, read(given)) for label, given in estimators.items()]
    else:
        members = [estimators] if lone else several(estimators, (), "estimators")
        pairs = [(label_of(given, compared := read(given)), compared) for given in members]
    if not pairs:
        raise ValueError("estimators is empty; name at least one, such as 'kme'")
    labels = [label for label, _ in pairs]
    for label in labels:
        if not isinstance(label, str):
            raise TypeError(f"the labels of estimators must be text, got {label!r}")
        if labels.count(label) > 1:
            raise ValueError(f"estimators holds {label!r} more than once; give a dict with a label for each")
    return dict(pairs)


def label_of(given: Any, compared: Compared) -> str:
    """Default label: a name is itself, a test has its own, and others have their repr."""
    if isinstance(given, str):
        return given
    return compared.label if isinstance(compared, AnyTest) else repr(compared)


def as_compared(given: Any, test: str) -> Compared:
    """Read a name, an estimator, a list of them, a dict of keyword arguments of the test, or another test."""
    if isinstance(given, Mapping):
        settings = options_of(given, test, "a member of estimators", "estimator")
        estimator = as_compared(settings.pop("estimator", "kme"), test)
        if isinstance(estimator, AnyTest):
            raise ValueError(f"{estimator!r} is a test and takes no keyword arguments; give it alone")
        return {"estimator": estimator, **settings}
    if isinstance(given, Ensemble | AnyTest):
        return given
    if isinstance(given, list | tuple):
        return tuple(estimators_of(given))
    if is_auto(given):
        return recommended(test)
    if isinstance(given, str):
        known, names = known_test(given, test), (*ESTIMATORS, *ALIASES, AUTO)
        if known is None and given.lower().replace("-", "_") not in names:
            hint = did_you_mean(given, (*names, *KNOWN_TESTS))
            others = f", nor of {KINDS[test].described}: {listed(known_tests(test))}" if known_tests(test) else ""
            raise ValueError(f"{given!r} is not the name of an estimator: {listed(names)}{others}{hint}")
        return known or as_estimator(given)
    if callable(given) and not isinstance(given, MeanEstimator | type) and is_test(given):
        return AnyTest(given)
    return as_estimator(given)


def options_of(given: Any, test: str, name: str, *others: str) -> dict[str, Any]:
    """Keyword arguments of the test, none for None; raise for an argument that the test does not take."""
    options = as_mapping(given, name)
    for key in options:
        choice(key, (*others, *KINDS[test].options), f"a key of {name}, for {KINDS[test].described},")
    return options


def as_mapping(given: Any, name: str) -> dict[str, Any]:
    """Read a dict of keyword arguments, or None."""
    if given is not None and not isinstance(given, Mapping):
        raise TypeError(f"{name} must be a dict of arguments of the test, such as {{'bandwidth': 1.5}}; got {given!r}")
    return dict(given or {})


def permutes(compared: Compared) -> bool:
    """True if the number of permutations of a study applies to it."""
    return not isinstance(compared, AnyTest) or compared.permutes


def brings_kernels(compared: Compared) -> bool:
    """True if it has kernels and bandwidths of its own."""
    return isinstance(compared["estimator"] if isinstance(compared, dict) else compared, Ensemble | AnyTest)


def several(values: Any, lone: Any, name: str) -> list[Any]:
    """List of what may be one value, an instance of ``lone``, or a sequence."""
    if isinstance(values, lone):
        return [values]
    if isinstance(values, str) or not hasattr(values, "__iter__"):  # text is a sequence of letters
        raise TypeError(f"{name} must be a sequence of values, or one, got {values!r} ({type(values).__name__})")
    members = list(values)
    if not members:
        raise ValueError(f"{name} is empty; give at least one")
    return members


def trial_numbers(n_trials: Any, cells: int = 1) -> range:
    """Numbers of the trials, from a count or a range; raise ValueError for more than memory has room for.

    ``cells`` is the number of settings of the study.
    """
    ranged = isinstance(n_trials, range)
    trials = n_trials if ranged else range(count(n_trials, "n_trials", minimum=1, maximum=MAX_SIZE))
    if not trials or trials[0] < 0 or trials[-1] < 0:
        raise ValueError(f"n_trials={n_trials!r} must hold numbers of trials from 0 on")
    number = (trials[-1] - trials[0]) // trials.step + 1  # len() of a range has a limit
    if number * cells * _BYTES > (free := free_memory()):
        most = int(free / cells / _BYTES)
        raise ValueError(f"n_trials asks for {number:,} trials, and memory has room for {most:,} at most")
    return trials


def seed_of(rng: Any, stored: int | None) -> int:
    """Seed of the study: the stored one for None, the number given, or 128 bits from another source."""
    if rng is None and stored is not None:
        return stored
    return int(rng) if isinstance(rng, Integral) else int.from_bytes(as_rng(rng).bytes(16), "little")


# --- equivalence tests, which show that there is no effect --------------------------------------------------


@dataclass(frozen=True, repr=False)
class Alike(Design):
    """A design and its null twin with exchanged roles, so that the power is the power to show equivalence.

    The difference of ``design`` should be the margin or more, so that rejections in the null twin show the level.

    Examples
    --------
    >>> from shrinktest.power.designs import MeanShift
    >>> Alike(MeanShift(dimension=2, shift=0.5)).null()
    MeanShift(dimension=2, shift=0.5)
    """

    design: Design

    @property
    def test(self) -> str:
        return self.design.test

    @property
    def ratio(self) -> float:
        return self.design.ratio

    def draw(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, ...]:
        return self.design.null().draw(rng, n, m)

    def null(self) -> Design:
        return self.design

    def smallest(self) -> int:
        least = max(self.design.smallest(), FEWEST)
        return next((n for n in range(least, _SEARCHED * least) if self._groups(n) >= FEWEST), least)

    def _groups(self, n: int) -> float:
        """Smallest number of groups of a sample, if the design has groups."""
        groups = self.design.trial(0, n)[1].get("groups")
        parts = () if groups is None else groups if isinstance(groups, tuple) else (groups,)
        return min((len(set(np.asarray(labels).tolist())) for labels in parts), default=math.inf)


def as_equivalence(options: Mapping[str, Any], design: Design, alpha: float) -> AnyTest:
    """Return the equivalence test with these arguments, for data of a design."""
    known = [name for name in inspect.signature(equivalence_test).parameters if name not in _OURS]
    for name in options:
        choice(name, known, "a key of test_options, for test='equivalence',")
    measure = options.get("measure")
    check_margin(options.get("margin"), measure, alpha)
    kind = INDEPENDENCE if measure == DEPENDENCE else TWO_SAMPLE
    if design.test != kind.name or design.unit:
        raise ValueError(f"measure={measure!r} needs a design of rows for {kind.described}; got {design!r}")
    restricted = design.options_for(*sizes_of(design.sample(0, max(design.smallest(), FEWEST))))
    test = partial(_restricted, design=design) if restricted else equivalence_test
    return AnyTest(partial(test, workers=1, **options), EQUIVALENCE)


def _restricted(X: Any, Y: Any, rng: np.random.Generator, *, design: Design, **options: Any) -> EquivalenceResult:
    """Test data of a design with its pairs or groups."""
    return equivalence_test(X, Y, rng=rng, **{**design.options_for(len(X), len(Y)), **options})


def claim(test: AnyTest) -> str:
    """The claim that an equivalence test supports, in words."""
    options = test.function.keywords  # type: ignore[attr-defined]  # it is a partial
    measure, margin = options["measure"], options["margin"]
    effect = "dependence" if measure == DEPENDENCE else "difference"
    return f"that the {effect} ({measure}) is below the margin {margin!r}"
