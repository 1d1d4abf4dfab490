"""TestInfo: what distinguishes the tests of this package in words and arguments, in one table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib import import_module
from operator import attrgetter
from typing import Any, ClassVar


@dataclass(frozen=True, kw_only=True)
class TestInfo:
    """Words and arguments of one kind of test."""

    __test__: ClassVar[bool] = False  # not a test class for pytest

    name: str  # as in ``result.test``
    title: str = "Permutation test"  # of its summary
    null: str = "exchangeability"  # its null hypothesis
    statistic: str = ""  # name of its statistic, for pictures
    #: what ``form=`` can be, and the module and value of each (a `Form`)
    statistics: Mapping[str, str] = field(default_factory=dict)
    resamples: str = (
        "permutations"  # what its null distribution is made of; "simulations" by a model
    )
    unit: str = "rows"  # what its observations are called
    estimates: tuple[str, ...] = ()  # names of the estimates; empty: one for each sample, numbered
    variables: tuple[str, ...] = ()  # names of several kernels; empty: numbered
    several_samples: bool = (
        False  # True if the samples can differ in size; False for rows that belong together
    )
    kernels: tuple[str, ...] = (
        "kernel",
    )  # the arguments that take its kernels, and their bandwidths
    bandwidths: tuple[str, ...] = ("bandwidth",)
    restrictions: tuple[str, ...] = ()  # the arguments that restrict its permutations
    settings: tuple[str, ...] = ()  # arguments that no other test has
    forms: tuple[str, ...] = (
        "form",
        "gram",
        "rank",
    )  # arguments for the form of the statistic and of the kernel
    counted: str = "rows"  # what the sizes ``n`` of a power study count
    permuted: str = "observations permuted"  # what a permutation does to the data
    # beginning of its sentence in an article: {samples} with sizes, {names}, {size}
    tested: str = "The exchangeability of {size} observations was tested"
    claim: str = ""  # its null hypothesis after "the null hypothesis"; empty: of ``null``
    moved: str = "permutations"  # what is drawn, in articles
    measured: str = ""  # what articles call its statistic, if not ``statistic``
    sources: tuple[str, ...] = ()  # keys of the papers that it comes from
    several: tuple[str, str] = (
        "hypothesis",
        "hypotheses",
    )  # what many tests are made of: one, and several
    needs_definite: bool = False  # True if a kernel must be positive definite
    no_effect: str = ""  # why results have no effect, and what to do
    verb: str = ""  # module and function that runs the test on data in the order of a design
    reader: str = ""  # module and function that reads the data of the test
    #: arguments of the reader that a power study sets: parts of its design, and its level
    planned: tuple[str, ...] = ()
    named_data: tuple[
        str, ...
    ] = ()  # names by which the function takes the data, if not by position
    ensemble: str = "SAMPLES"  # what estimator="auto" stands for; see ``auto.py``
    result: str = "results.result:TestResult"  # module and class of its result, for one statistic,
    combined: str = "results.aggregate_result:AggregateResult"  # and for several that are combined

    @property
    def options(self) -> tuple[str, ...]:
        """The arguments that a power study passes on."""
        reading = ("scale", "column_types", "nan_policy")
        return (
            *self.settings,
            *self.kernels,
            *self.bandwidths,
            *reading,
            *self.forms,
            *self.restrictions,
        )

    def load(self, which: str) -> Any:
        """Import the function or class that the field ``which`` names.

        Such a field is "verb" or "result".
        """
        return _load(f"shrinktest.{getattr(self, which)}")

    def has_kernel(self, form: str) -> bool:
        """Return False for the name of a statistic that has neither kernel nor estimator."""
        return form not in self.statistics or bool(self.form(form).by_kernel)

    def form(self, name: str) -> Any:
        """Import the statistic with a name of ``statistics``."""
        return _load(self.statistics[name])

    @property
    def described(self) -> str:
        """The name with its article, such as "an independence test"."""
        return f"{'an' if self.name[:1] in 'aeiou' else 'a'} {self.name} test"

    @property
    def hypothesis(self) -> str:
        """The null hypothesis as running text names it."""
        return f"the null hypothesis {self.claim or f'of {self.null}'}"

    def estimate_names(self, count: int) -> tuple[str, ...]:
        """Return a name for each of ``count`` estimates."""
        return self.estimates or tuple(f"sample {i}" for i in range(count))

    def kernel_names(self, count: int) -> tuple[str, ...]:
        """Return a name for each of ``count`` kernels, which is empty for a single one."""
        return ("",) if count == 1 else self.variables or tuple(map(str, range(count)))


@lru_cache
def _load(value: str) -> Any:
    """Import a value, given as "module:name"."""
    module, _, path = value.partition(":")
    return attrgetter(path)(import_module(module))


_OF_SAMPLES = {
    "biased": "shrinktest.statistics.mmd:BIASED",
    "unbiased": "shrinktest.statistics.mmd:UNBIASED",
}
_OF_PAIRS = {
    "biased": "shrinktest.statistics.hsic:BIASED",
    "unbiased": "shrinktest.statistics.hsic:UNBIASED",
}
_SQUARED_NORM = {"biased": "shrinktest.statistics.hsic:BIASED"}

TWO_SAMPLE = TestInfo(
    name="two-sample",
    title="Kernel two-sample test (MMD)",
    null="equal distributions",
    statistic="MMD²",
    statistics=_OF_SAMPLES,
    unit="observations",
    estimates=("X", "Y"),
    several_samples=True,
    restrictions=("blocks", "paired", "groups"),
    settings=("block_length",),
    counted="observations in X",
    permuted="rows of both samples exchanged",
    tested="The distributions of {samples} were compared",
    moved="permutations of rows",
    sources=("G12",),
    several=("column", "columns"),
    verb="two_sample:two_sample_test",
    reader="equal_distributions:TwoEqualDistributions.read",
    result="results.witness:TwoSampleResult",
)
INDEPENDENCE = TestInfo(
    name="independence",
    title="Kernel independence test (HSIC)",
    null="independence",
    statistic="HSIC",
    statistics=_OF_PAIRS,
    unit="pairs",
    estimates=("pairs",),
    variables=("X", "Y"),
    kernels=("kernel_x", "kernel_y"),
    bandwidths=("bandwidth_x", "bandwidth_y"),
    restrictions=("blocks", "groups", "block_length"),
    counted="pairs",
    permuted="rows of Y permuted",
    tested="The independence of {names} was tested on {size} pairs",
    moved="permutations of the rows of Y",
    sources=("G05", "G07"),
    several=("pair of columns", "pairs of columns"),
    verb="independence:independence_test",
    reader="independent_variables:Independence.read",
    ensemble="PAIRS",
)
K_SAMPLE = TestInfo(
    name="k-sample",
    title="Kernel k-sample test",
    null="equal distributions",
    statistic="k-sample",
    statistics=_OF_SAMPLES,
    unit="observations",
    several_samples=True,
    restrictions=("blocks", "groups"),
    settings=("comparison", "weights"),
    counted="observations in the first sample",
    permuted="rows of all samples exchanged",
    tested="The distributions of {samples} were compared",
    moved="permutations of rows",
    measured="between-sample MMD²",
    sources=("RS10",),
    verb="k_sample:k_sample_test",
    reader="equal_distributions:EqualDistributions.read",
    result="results.k_sample_result:KSampleResult",
    combined="results.k_sample_result:AggregateKSampleResult",
)
JOINT = TestInfo(
    name="joint-independence",
    title="Kernel joint independence test (dHSIC)",
    null="joint independence",
    statistic="dHSIC",
    statistics=_SQUARED_NORM,
    estimates=("rows",),
    needs_definite=True,
    kernels=("kernels",),
    bandwidths=("bandwidths",),
    forms=(),
    permuted="rows of all variables but the first permuted",
    tested="The joint independence of {names} was tested on {size} rows",
    moved="permutations of the rows of all variables but the first",
    sources=("P18",),
    no_effect=(
        "effect() is not available for joint independence; test pairs of variables "
        "(independence_matrix, independence_test), whose results have it"
    ),
    verb="joint_independence:joint_independence_test",
    reader="joint_independence:JointIndependence.read",
    ensemble="VARIABLES",
)
CONDITIONAL = replace(
    INDEPENDENCE,
    name="conditional-independence",
    title="Kernel conditional independence test",
    null="independence given Z",
    statistic="HSIC given Z",
    statistics=_SQUARED_NORM,
    unit="rows",
    estimates=("rows",),
    restrictions=("blocks", "groups"),
    settings=("given_method", "regressor"),
    forms=("gram", "rank"),
    counted="rows",
    permuted="residuals of X and Y permuted",
    tested="The independence of {names} was tested on {size} rows",
    moved="permutations",
    measured="HSIC",
    sources=(),
    no_effect=(
        "effect() is not available with given=; without given=, independence_test estimates the "
        "unconditional dependence"
    ),
    reader="conditional.given:read_given",
    named_data=("X", "Y", "given"),
)
CHANGE = TestInfo(
    name="change-point",
    title="Kernel change-point test",
    null="one distribution throughout",
    statistic="largest standardized MMD²",
    statistics={"unbiased": "shrinktest.statistics.scan:UNBIASED"},
    estimates=("before", "after"),
    restrictions=("blocks", "block_length"),
    settings=("change", "trim", "confidence"),
    permuted="rows permuted",
    tested="A series of {size} rows was tested for a change in distribution",
    claim="of no change",
    moved="permutations of rows",
    measured="largest standardized MMD²",
    sources=("SC24",),
    no_effect=(
        "effect() is not available, because the change point was chosen to make the difference "
        "large; compare segments fixed in advance with two_sample_test"
    ),
    verb="change_point:change_point_test",
    reader="change_point:NoChange.read",
    result="results.change:ChangeResult",
    combined="results.change:AggregateChangeResult",
)
SYMMETRY = TestInfo(
    name="symmetry",
    title="Kernel symmetry test",
    null="symmetry",
    statistic="MMD²",
    statistics=_OF_SAMPLES,
    estimates=("X", "reflected X"),
    settings=("about",),
    permuted="signs of rows flipped",
    tested="The symmetry of the distribution of {size} rows was tested",
    moved="changes of the signs of rows",
    sources=("G12",),
    no_effect="a symmetry test has no effect size; compare the sample with its reflection, "
    "two_sample_test(X - c, c - X, paired=True).effect()",
    verb="symmetry:symmetry_test",
    reader="symmetry:read",
    ensemble="SYMMETRIC",
)

FACTOR = TestInfo(
    name="factor",
    title="Kernel test of a term",
    null="the other terms explain the response",
    statistic="T",
    statistics={
        "robust": "shrinktest.statistics.projections:ROBUST",
        "F": "shrinktest.statistics.projections:F",
    },
    unit="rows",
    restrictions=("blocks", "groups"),
    settings=("typ", "statistic", "location"),
    forms=("gram", "rank"),
    counted="rows",
    permuted="rows permuted",
    tested="The effect of {names} was tested on {size} rows",
    claim="that the other terms explain the response",
    moved="permutations of rows",
    sources=("AWC17",),
    several=("term", "terms"),
    no_effect=(
        "effect() is not available for a term; its effect size is in result.table of factor_test"
    ),
    verb="power.term_test:term_test",
    reader="power.term_test:read_term",
    planned=("formula", "term", "planned_alpha"),
    ensemble="TERMS",
    result="results.factor_result:TermResult",
    combined="results.factor_result:AggregateTermResult",
)
GOODNESS_OF_FIT = TestInfo(
    name="goodness-of-fit",
    title="Kernel goodness-of-fit test",
    null="the model",
    statistic="MMD² from a sample of the model",
    statistics=_OF_SAMPLES,
    resamples="simulations",
    estimates=("X", "model"),
    settings=("simulate", "fit", "n_simulations", "n_reference"),
    permuted="data sets drawn by the model",
    tested="The fit of a model to {size} observations was tested",
    claim="that the data come from the model",
    moved="data sets from the model",
    measured="MMD²",
    sources=("G12", "BC89"),
    several=("column", "columns"),
    verb="goodness_of_fit:goodness_of_fit_test",
    result="results.goodness_of_fit_result:GoodnessOfFitResult",
    combined="results.goodness_of_fit_result:AggregateGoodnessOfFitResult",
)

#: Every kind of test, by the name that results have it under.
KINDS = {
    kind.name: kind
    for kind in (
        *(TWO_SAMPLE, INDEPENDENCE, K_SAMPLE, JOINT, CONDITIONAL, CHANGE, SYMMETRY),
        FACTOR,
        GOODNESS_OF_FIT,
    )
}

#: Method of taking covariates into account that leaves no effect, and why.
BY_PROPENSITY = "labels drawn by propensity"
NO_EFFECT_BY_PROPENSITY = (
    "effect() is not available with covariate_method='propensity'; use covariate_method='strata'"
)
#: Papers from which methods of taking other variables into account come.
METHOD_SOURCES = {
    "signs of residual products": ("SP20",),
    "local permutations of residuals": ("KNBW22",),
    "conditional randomization test": ("CFJL18",),
    BY_PROPENSITY: ("R84",),
}
_OWN = (
    "effect() is not available for a statistic of your own; run a kernel test, whose results have "
    "it"
)


def kind_of(name: str, *, simulated: bool = False) -> TestInfo:
    """Return the entry of a test, or a new one for a statistic of the user.

    ``simulated``: a model draws copies.
    """
    kind = KINDS.get(name)
    if kind is None:
        kind = TestInfo(name=name, unit="observations", no_effect=_OWN)
        if simulated:
            tested = "A model of {size} observations was tested"
            claim = "that the data come from the model"
            kind = replace(
                kind, title="Monte Carlo test", null="the model", tested=tested, claim=claim
            )
    return replace(kind, resamples="simulations") if simulated else kind
