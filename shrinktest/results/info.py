"""TestInfo: what distinguishes the tests of this package in words and arguments, in one table."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from operator import attrgetter
from typing import Any, ClassVar


@dataclass(frozen=True, kw_only=True)
class TestInfo:
    """Words and arguments of one kind of test."""

    __test__: ClassVar[bool] = False  # not a test class for pytest

    name: str  # as in ``result.test``
    # heading of its summary, and its null hypothesis
    title: str = "Permutation test"
    null: str = "exchangeability"
    statistic: str = ""  # name of its statistic, for pictures
    unit: str = "observations"  # what its observations are called
    # names of the estimates; a single one that ends in a space is numbered, as in "sample 0", "sample 1"
    estimates: tuple[str, ...] = ("estimate ",)
    variables: tuple[str, ...] = ()  # names of the kernels where there are several; empty: they are numbered
    # True if its data are samples that can differ in size, and not rows that belong together
    several_samples: bool = False
    # the arguments that take its kernels and their bandwidths
    kernels: tuple[str, ...] = ("kernel",)
    bandwidths: tuple[str, ...] = ("bandwidth",)
    restrictions: tuple[str, ...] = ()  # the arguments that restrict its permutations
    settings: tuple[str, ...] = ()  # arguments that no other test has
    # the arguments that say which form of the statistic, and how the kernel is evaluated
    forms: tuple[str, ...] = ("form", "gram", "rank")
    # whether a list of kernels or bandwidths holds candidates to combine, and not one for each variable
    candidates: bool = True
    counted: str = "observations"  # what the sizes ``n`` of a power study count
    permuted: str = "observations permuted"  # what a permutation does to the data
    # what is tested where there is one test for each: one of them, and several
    several: tuple[str, str] = ("hypothesis", "hypotheses")
    no_effect: str = ""  # why results have no effect, and what to do; empty where they have one
    verb: str = ""  # module and function that runs the test on data in the order of a design
    reader: str = ""  # module and function that reads the data of the test
    named_data: tuple[str, ...] = ()  # names by which the function takes the data, if not by position
    ensemble: str = "SAMPLES"  # what estimator="auto" stands for; see ``multiple.ensembles``
    # module and class of its result, for one statistic and for several that are combined
    result: str = "results.result:TestResult"
    combined: str = "results.several:AggregateResult"

    @property
    def options(self) -> tuple[str, ...]:
        """The arguments that a power study passes on."""
        reading = ("scale", "column_types", "nan_policy")
        return (*self.settings, *self.kernels, *self.bandwidths, *reading, *self.forms, *self.restrictions)

    def load(self, which: str) -> Any:
        """Import the function or class that the field ``which`` names, such as "verb" or "result"."""
        module, _, path = getattr(self, which).partition(":")
        return attrgetter(path)(import_module(f"shrinktest.{module}"))

    @property
    def described(self) -> str:
        """The name with its article, such as "an independence test"."""
        return f"{'an' if self.name[:1] in 'aeiou' else 'a'} {self.name} test"

    def estimate_names(self, count: int) -> tuple[str, ...]:
        """Return a name for each of ``count`` estimates."""
        if len(self.estimates) == 1 and self.estimates[0].endswith(" "):
            return tuple(f"{self.estimates[0]}{i}" for i in range(count))
        return self.estimates

    def kernel_names(self, count: int) -> tuple[str, ...]:
        """Return a name for each of ``count`` kernels, which is empty for a single one."""
        if count == 1:
            return ("",)
        return self.variables or tuple(map(str, range(count)))


TWO_SAMPLE = TestInfo(
    name="two-sample",
    title="Kernel two-sample test (MMD)",
    null="equal distributions",
    statistic="MMD²",
    estimates=("X", "Y"),
    several_samples=True,
    restrictions=("blocks", "paired", "groups"),
    settings=("shift",),
    counted="observations in X",
    permuted="rows of both samples exchanged",
    several=("column", "columns"),
    verb="two_sample:two_sample_test",
    reader="hypotheses.equality:TwoEqualDistributions.read",
    result="results.witness:TwoSampleResult",
)
INDEPENDENCE = TestInfo(
    name="independence",
    title="Kernel independence test (HSIC)",
    null="independence",
    statistic="HSIC",
    unit="pairs",
    estimates=("pairs",),
    variables=("X", "Y"),
    kernels=("kernel_x", "kernel_y"),
    bandwidths=("bandwidth_x", "bandwidth_y"),
    restrictions=("blocks", "groups", "shift"),
    counted="pairs",
    permuted="rows of Y permuted",
    several=("pair of columns", "pairs of columns"),
    verb="independence:independence_test",
    reader="hypotheses.independence:Independence.read",
    ensemble="PAIRS",
)
K_SAMPLE = TestInfo(
    name="k-sample",
    title="Kernel k-sample test",
    null="equal distributions",
    statistic="k-sample",
    estimates=("sample ",),
    several_samples=True,
    restrictions=("blocks", "groups"),
    settings=("comparison", "weights"),
    counted="observations in the first sample",
    permuted="rows of all samples exchanged",
    verb="k_sample:k_sample_test",
    reader="hypotheses.equality:EqualDistributions.read",
)
JOINT = TestInfo(
    name="joint-independence",
    title="Kernel joint independence test (dHSIC)",
    null="joint independence",
    statistic="dHSIC",
    unit="rows",
    estimates=("rows",),
    kernels=("kernels",),
    bandwidths=("bandwidths",),
    candidates=False,
    forms=(),
    counted="rows",
    permuted="rows of all variables but the first permuted",
    no_effect="there is no scale for the effect of a joint-independence test; test the variables two by two "
    "(independence_matrix, independence_test), whose results have an effect",
    verb="joint:joint_independence_test",
    reader="joint:JointIndependence.read",
    ensemble="VARIABLES",
)
CONDITIONAL = TestInfo(
    name="conditional-independence",
    title="Kernel conditional independence test",
    null="independence given Z",
    statistic="HSIC given Z",
    unit="rows",
    estimates=("rows",),
    variables=("X", "Y"),
    kernels=("kernel_x", "kernel_y"),
    bandwidths=("bandwidth_x", "bandwidth_y"),
    restrictions=("blocks", "groups"),
    settings=("given_method", "regressor"),
    forms=("gram", "rank"),
    counted="rows",
    permuted="residuals of X and Y permuted",
    several=("pair of columns", "pairs of columns"),
    no_effect="there is no scale for the dependence of two variables given others; without given=, independence_test "
    "has one, for what is not taken off",
    verb="independence:independence_test",
    reader="conditional.given:read_given",
    named_data=("X", "Y", "given"),
    ensemble="PAIRS",
)

CHANGE = TestInfo(
    name="change-point",
    title="Kernel change-point test",
    null="one distribution throughout",
    statistic="largest standardised MMD²",
    unit="rows",
    estimates=("before", "after"),
    restrictions=("blocks", "shift"),
    settings=("change", "trim", "confidence"),
    counted="rows",
    permuted="rows put into another order",
    no_effect="the cut was chosen by the data to make the difference large, so that any measure of it is too large: "
    "compare stretches that were fixed beforehand, two_sample_test(first, second).effect()",
    verb="change:change_point_test",
    reader="change:NoChange.read",
    result="results.change:ChangeResult",
    combined="results.change:AggregateChangeResult",
)

SYMMETRY = TestInfo(
    name="symmetry",
    title="Kernel symmetry test",
    null="symmetry",
    statistic="MMD²",
    unit="rows",
    estimates=("X", "reflected X"),
    counted="rows",
    settings=("about",),
    permuted="signs of rows flipped",
    no_effect="a symmetry test has no effect size; compare the sample with its reflection, "
    "two_sample_test(X - c, c - X, paired=True).effect()",
    verb="symmetry:symmetry_test",
    reader="symmetry:read",
    ensemble="SYMMETRIC",
)

#: The estimates of a change that ends again.
OUTSIDE_INSIDE = ("outside", "inside")

#: Every kind of test, by the name that results have it under.
KINDS = {kind.name: kind for kind in (TWO_SAMPLE, INDEPENDENCE, K_SAMPLE, JOINT, CONDITIONAL, CHANGE, SYMMETRY)}

#: How covariates are taken into account where results of two samples have no effect, and why.
BY_PROPENSITY = "labels drawn by propensity"
NO_EFFECT_BY_PROPENSITY = (
    "there is no effect that is adjusted for covariates by their propensity; within strata, covariate_method='strata', "
    "result.effect() has one"
)
_OWN = "there is no scale for the effect of a statistic of your own; run a kernel test, whose results have an effect"


def kind_of(name: str) -> TestInfo:
    """Return the entry of a test; for a statistic of the user's own, one that is not in the table."""
    return KINDS.get(name) or TestInfo(name=name, no_effect=_OWN)
