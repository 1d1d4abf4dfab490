"""Statistics that ``estimator="auto"`` stands for, and those that list arguments combine.

Lists may stand in the arguments of a test.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from shrinktest.data.variable import Variable
from shrinktest.ensembles import Candidate, Ensemble, each_once
from shrinktest.estimators import KME, MeanEstimator, as_estimator
from shrinktest.kernel_spec import AUTO, KernelSpec, is_auto
from shrinktest.kernels import (
    Depth,
    Energy,
    Gaussian,
    Laplacian,
    Linear,
    Rescaled,
    SecondOrder,
    Whitened,
)
from shrinktest.kernels.pooled import Differences
from shrinktest.results.info import KINDS

#: The bandwidth of near neighbors sees what the median does not; one that is wide sees the means
#: and little else.
_NEAR = Gaussian("neighbors")
_BROAD = Gaussian("2 * median")

#: What ``estimator="auto"`` stands for with samples: a statistic for each way in which
#: distributions were found to differ in the studies.  The page on power beside other tests says on
#: which designs it was chosen.
SAMPLES = Ensemble(
    (
        # location; most of the weight, so that little is lost where nothing gains on it
        Candidate(KME(), _BROAD, weight=25.0),
        Candidate(
            KME(), Rescaled(Gaussian(), "rank"), weight=9.0
        ),  # the same with heavy tails, or units of any size
        Candidate(KME(), Whitened(Gaussian(), 0.03), weight=10.0),  # shape
        # fine structure, clusters, tails
        Candidate(KME(), Whitened(Gaussian("0.5 * neighbors"), 0.01), weight=4.0, grows=True),
        Candidate(KME(), SecondOrder(_BROAD), weight=3.0),  # correlations
        Candidate(KME(), Depth(_NEAR), weight=3.0),  # spread
    )
)

#: The same for terms of a design with several factors.
TERMS = Ensemble(
    (
        Candidate(KME(), Linear()),
        Candidate(KME(), Gaussian()),
        Candidate(KME(), _NEAR),
        Candidate(KME(), Energy()),
        Candidate(KME(), Rescaled(Gaussian(), "rank")),
    )
)

_SHAPES = Whitened(Gaussian(), 0.1)
_CORNERS = Whitened(Laplacian(), 0.1)
_RANKS = Rescaled(Energy(), "rank")

#: The same for three or more variables, every kernel for each of them.
VARIABLES = Ensemble(
    (
        Candidate(KME(), _BROAD, weight=5.0),  # linear and monotone dependence
        Candidate(KME(), _SHAPES, weight=4.0),
        Candidate(KME(), _RANKS, weight=2.0),  # heavy tails, and units of any size
        Candidate(KME(), Whitened(Gaussian("0.5 * median"), 0.1)),  # finer shapes
        Candidate(KME(), _CORNERS),
    )
)

_WIDE = Gaussian("4 * median")
_FINE = Whitened(Gaussian("0.5 * median"), 0.03)
_FAST = Whitened(Energy(), 0.001)

#: And for two: most weight on linear and monotone dependence, and one fine kernel against one that
#: is wide, which find curves.
PAIRS = Ensemble(
    (
        Candidate(KME(), _WIDE, weight=9.0),  # linear and monotone dependence
        Candidate(KME(), _SHAPES, weight=5.0),
        Candidate(KME(), _NEAR),
        Candidate(
            KME(), Depth(_NEAR)
        ),  # far out in one variable where the other is near its middle
        Candidate(KME(), SecondOrder(_BROAD), weight=0.75),  # the spreads, or correlations, of both
        *(
            Candidate(KME(), pair, weight=weight)
            for first, second, weight in (
                (_CORNERS, _RANKS, 1.5),
                (_FINE, _WIDE, 1.25),
                (_FAST, _WIDE, 1.0),
            )
            for pair in ((first, second), (second, first))
        ),
    )
)

#: For a sample and its reflection: even functions of the rows, such as their depth, are the same
#: for both.
SYMMETRIC = Ensemble([member for member in SAMPLES.members if member.kernel != Depth(_NEAR)])

_ENSEMBLES = {
    "SAMPLES": SAMPLES,
    "TERMS": TERMS,
    "VARIABLES": VARIABLES,
    "PAIRS": PAIRS,
    "SYMMETRIC": SYMMETRIC,
}


def recommended(test: str) -> Ensemble:
    """The ensemble behind ``estimator="auto"`` for a kind of test, by its name."""
    return _ENSEMBLES[KINDS[test].ensemble]


def within_pairs(samples: Ensemble) -> Ensemble:
    """Return the ensemble for pairs.

    Half of the weight is on differences within pairs, most of the rest on spread.

    Differences see shifts, and not spreads.  Weights were changed once after the designs of the
    check had been seen.
    """
    factors = {
        _BROAD: 0.8,
        SecondOrder(_BROAD): 6.25,
        Depth(_NEAR): 2.0,
    }  # the first stays the largest, for effects
    members = [
        replace(member, weight=member.weight * factors.get(member.kernel, 0.4))
        for member in samples.members
        if member.kernel != Rescaled(Gaussian(), "rank")  # location, too
    ]
    return Ensemble([*members, Candidate(KME(), Differences(Gaussian("2 * median")), weight=50.0)])


def spares(estimator: Any, test: str) -> bool:
    """Return True if members that exceed memory may be omitted because nobody named them."""
    return is_auto(estimator) or (
        isinstance(estimator, Ensemble) and estimator == recommended(test)
    )


def estimators_of(estimator: Any) -> list[MeanEstimator]:
    """The estimators to combine: one or a list."""
    if not isinstance(estimator, list | tuple):
        return [as_estimator(estimator)]
    if not estimator:
        raise ValueError("estimator is an empty list; name at least one, such as ['kme', 'fkmse']")
    if any(map(is_auto, estimator)):
        raise ValueError(
            "estimator='auto' is an ensemble already; name it alone, or list the estimators"
        )
    return each_once([as_estimator(entry) for entry in estimator], "estimator")


def collect(
    estimator: Any,
    specs: Sequence[KernelSpec],
    variables: Sequence[Variable],
    rng: np.random.Generator,
    test: str,
    sizes: Sequence[int],
    *,
    paired: bool = False,
) -> Ensemble:
    """Return every estimator with every kernel, or the given ensemble, weighted for these sizes."""
    if isinstance(estimator, Ensemble) or is_auto(estimator):
        for spec in specs:
            if spec.given():
                brings = "an Ensemble" if isinstance(estimator, Ensemble) else f"estimator={AUTO!r}"
                raise ValueError(
                    f"{brings} has its own kernels; leave out {spec.name} and "
                    f"{spec.bandwidth_name}, or pass a list of "
                    "estimators"
                )
        ensemble: Ensemble = estimator if isinstance(estimator, Ensemble) else recommended(test)
        if paired and spares(estimator, test):
            ensemble = within_pairs(ensemble)
        return Ensemble([member.on(len(specs), sum(sizes)) for member in ensemble.members])
    estimators = estimators_of(estimator)
    together = product(
        *(spec.candidates(variable, rng) for spec, variable in zip(specs, variables, strict=True))
    )
    # those that share a kernel stand side by side
    return Ensemble(
        [
            Candidate(each, pair if len(pair) > 1 else pair[0])
            for pair in together
            for each in estimators
        ]
    )
