"""Null hypotheses about data: which permutations they allow, and how a statistic is prepared to test them."""

from shrinktest.hypotheses.base import Hypothesis
from shrinktest.hypotheses.equality import EqualDistributions, TwoEqualDistributions
from shrinktest.hypotheses.independence import Independence
from shrinktest.hypotheses.joint import JointIndependence

#: Every hypothesis by the name of the kind of test; ``HYPOTHESES[name].read(*data, **options)`` makes its value.
HYPOTHESES: dict[str, type[Hypothesis]] = {
    hypothesis.kind.name: hypothesis
    for hypothesis in (TwoEqualDistributions, Independence, EqualDistributions, JointIndependence)
}

__all__ = [
    "HYPOTHESES",
    "EqualDistributions",
    "Hypothesis",
    "Independence",
    "JointIndependence",
    "TwoEqualDistributions",
]
