"""How the data of every kind of test are read, by its name."""

from collections.abc import Callable

from shrinktest.hypotheses.base import Hypothesis
from shrinktest.hypotheses.change import NoChange
from shrinktest.hypotheses.equality import EqualDistributions, TwoEqualDistributions
from shrinktest.hypotheses.given import read_given
from shrinktest.hypotheses.independence import Independence
from shrinktest.hypotheses.joint import JointIndependence
from shrinktest.results.kinds import CONDITIONAL

#: ``READERS[name](*data, **options)`` makes the value of a test.
READERS: dict[str, Callable[..., Hypothesis]] = {
    **{
        one.kind.name: one.read
        for one in (TwoEqualDistributions, Independence, EqualDistributions, JointIndependence, NoChange)
    },
    CONDITIONAL.name: read_given,
}
