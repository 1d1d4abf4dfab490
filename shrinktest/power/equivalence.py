"""Equivalence tests in studies: what they are to show is that there is nothing, which is true of the null twin."""

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
from shrinktest.power.any_test import AnyTest
from shrinktest.power.designs import Design
from shrinktest.power.designs.base import sizes_of
from shrinktest.results.info import INDEPENDENCE, KINDS, TWO_SAMPLE

#: The name that solve_sample_size knows the test by.
EQUIVALENCE = "equivalence"

_SEARCHED = 100  # times the fewest rows, up to which the fewest groups are looked for
_OURS = ("X", "Y", "alpha", "names", "rng", "workers")  # which a study says itself


@dataclass(frozen=True, repr=False)
class Alike(Design):
    """The null twin of a design in its place, and the design in the place of the null twin.

    What a study calls power is then how often a test rejects where there is no difference, and what it calls level how
    often it does where there is the design's.

    Parameters
    ----------
    design : Design
        Whose difference is the margin or more, if what comes out is to be a level.

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
        """The fewest groups of a sample, where the design has groups."""
        groups = self.design.options_for(*sizes_of(self.design.sample(0, n))).get("groups")
        if groups is None:
            return math.inf
        return min(len(set(np.asarray(one).tolist())) for one in (groups if isinstance(groups, tuple) else (groups,)))


def as_equivalence(options: Mapping[str, Any], design: Design, alpha: float) -> AnyTest:
    """The equivalence test with these arguments, for data of a design; raises ValueError for what goes not together."""
    known = [name for name in inspect.signature(equivalence_test).parameters if name not in _OURS]
    for name in options:
        choice(name, known, "a key of test_options, for test='equivalence',")
    measure = options.get("measure")
    check_margin(options.get("margin"), measure, alpha)
    kind = INDEPENDENCE if measure == DEPENDENCE else TWO_SAMPLE
    if design.test != kind.name:
        raise ValueError(
            f"measure={measure!r} is for data of {kind.described}, and {design!r} is for {KINDS[design.test].described}"
        )
    restricted = design.options_for(*sizes_of(design.sample(0, max(design.smallest(), FEWEST))))
    test = partial(_as_told, design=design) if restricted else equivalence_test
    return AnyTest(partial(test, workers=1, **options), EQUIVALENCE)


def _as_told(X: Any, Y: Any, rng: np.random.Generator, *, design: Design, **options: Any) -> EquivalenceResult:
    """The test of data whose design says of the rows what belongs together."""
    return equivalence_test(X, Y, rng=rng, **{**design.options_for(len(X), len(Y)), **options})


def said_of(test: AnyTest) -> str:
    """What an equivalence test shows, in words."""
    given = test.function.keywords  # type: ignore[attr-defined]  # it is a partial
    measure, margin = given["measure"], given["margin"]
    return (
        f"that the {'dependence' if measure == DEPENDENCE else 'difference'} ({measure}) is below the margin {margin!r}"
    )
