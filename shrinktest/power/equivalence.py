"""Equivalence tests in studies: they show that there is no effect, which is true of the null twin."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from shrinktest._check import Array, choice
from shrinktest.effects.jackknife import FEWEST
from shrinktest.equivalence import DEPENDENCE, EquivalenceResult, check_margin, equivalence_test
from shrinktest.power.designs import Design
from shrinktest.power.designs.base import sizes_of
from shrinktest.power.other_tests import AnyTest
from shrinktest.results.info import INDEPENDENCE, TWO_SAMPLE

#: The name that solve_sample_size knows the test by.
EQUIVALENCE = "equivalence"

_SEARCHED = 100  # times the fewest rows, up to which the fewest groups are looked for
_OURS = ("X", "Y", "alpha", "names", "rng", "workers")  # set by a study


@dataclass(frozen=True, repr=False)
class Alike(Design):
    """A design and its null twin with exchanged roles, so that the power is that of showing equivalence.

    The difference of ``design`` should be the margin or more, so that rejections in the null twin show the level.

    Examples
    --------
    >>> from shrinktest.power.designs import MeanShift
    >>> Alike(MeanShift(dimension=2, shift=0.5)).null()
    MeanShift(dimension=2, shift=0.5)
    """

    name: ClassVar[str] = "alike"
    summary: ClassVar[str] = "the null twin of another design, which is its own"

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
