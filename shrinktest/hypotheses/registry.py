"""Every hypothesis by the name of its kind of test."""

from shrinktest.hypotheses.base import Hypothesis
from shrinktest.hypotheses.change import NoChange
from shrinktest.hypotheses.equality import EqualDistributions, TwoEqualDistributions
from shrinktest.hypotheses.independence import Independence
from shrinktest.hypotheses.joint import JointIndependence

#: ``HYPOTHESES[name].read(*data, **options)`` makes the value of a test.
HYPOTHESES: dict[str, type[Hypothesis]] = {
    hypothesis.kind.name: hypothesis
    for hypothesis in (TwoEqualDistributions, Independence, EqualDistributions, JointIndependence, NoChange)
}
