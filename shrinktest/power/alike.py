"""Equivalence tests in studies of power: they show that there is no effect."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from shrinktest._check import choice
from shrinktest.effects.jackknife import FEWEST
from shrinktest.equivalence import check_margin, equivalence_test
from shrinktest.power.compared import AnyTest
from shrinktest.power.designs import Design
from shrinktest.power.designs.base import Twin
from shrinktest.results.equivalence_result import DEPENDENCE, EquivalenceResult
from shrinktest.results.info import INDEPENDENCE, TWO_SAMPLE

#: The name that solve_sample_size knows the test by.
EQUIVALENCE = "equivalence"

_OURS = ("X", "Y", "alpha", "names", "rng", "workers")  # arguments that a study sets


@dataclass(frozen=True, repr=False)
class Alike(Twin):
    """Design with its null twin in exchanged roles.

    The power is then the power to show equivalence.

    The difference of ``design`` should be the margin or more, so that rejections in the null twin
    show the level.
    """

    def trial(
        self, rng: Any, n: int, m: int | None = None
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return self.design.null().trial(rng, n, m)

    def null(self) -> Design:
        return self.design

    def smallest(self) -> int:
        return max(self.design.smallest(), FEWEST)


def as_equivalence(options: Mapping[str, Any], design: Design, alpha: float) -> AnyTest:
    """Return the equivalence test with these arguments, for data of a design."""
    known = [name for name in inspect.signature(equivalence_test).parameters if name not in _OURS]
    for name in options:
        choice(name, known, "a key of test_options, for test='equivalence',")
    measure = options.get("measure")
    check_margin(options.get("margin"), measure, alpha)
    kind = INDEPENDENCE if measure == DEPENDENCE else TWO_SAMPLE
    if design.test != kind.name or design.unit:
        raise ValueError(
            f"measure={measure!r} needs a design of rows for {kind.described}; got {design!r}"
        )
    size = max(design.smallest(), FEWEST)
    data, restriction = design.trial(0, size)
    if restriction.keys() - design.options_for(*map(len, data)).keys():
        raise ValueError(f"test='equivalence' has no labels of drawn rows; got {design!r}")
    test = partial(_restricted, design=design) if restriction else equivalence_test
    return AnyTest(partial(test, workers=1, **options), EQUIVALENCE)


def _restricted(
    X: Any, Y: Any, rng: np.random.Generator, *, design: Design, **options: Any
) -> EquivalenceResult:
    """Test data of a design with its pairs or groups."""
    return equivalence_test(X, Y, rng=rng, **{**design.options_for(len(X), len(Y)), **options})
