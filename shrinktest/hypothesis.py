"""Hypothesis: the data of a test, its permutations and its statistic."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np

from shrinktest._check import choice
from shrinktest.data.variable import Variable
from shrinktest.estimators import KME, MeanEstimator
from shrinktest.fitted import EffectOptions, FittedStatistic, TestContext
from shrinktest.kernels import Kernel, MetricKernel, Rescaled, compares_as_given
from shrinktest.kernels.bandwidths import reach_notes
from shrinktest.kernels.user import takes_row_numbers
from shrinktest.notes import note
from shrinktest.permutations.base import Draws, Permutations, as_permutations
from shrinktest.permutations.block_length import AUTO
from shrinktest.permutations.design import PermutationDesign
from shrinktest.permutations.schemes import Copies
from shrinktest.permutations.serial_correlation import BY_PAIRS, SerialCorrelation
from shrinktest.results.base import Setup, TestData
from shrinktest.results.info import TestInfo
from shrinktest.statistics.kernel_cache import KernelCache
from shrinktest.statistics.statistic import Form, Prepared


@dataclass(frozen=True, eq=False, kw_only=True)
class Hypothesis(ABC):
    """Null hypothesis: data, allowed permutations, and the preparation of a statistic."""

    kind: ClassVar[TestInfo]
    #: What to do if rows that are permuted one by one depend on each other.
    serial_remedy: ClassVar[str] = ""
    #: True if bandwidths were found before the test, on random rows.
    resolved_before: ClassVar[bool] = False

    # one entry per kernel of the test: all observations, as a set that no label changes; of data
    # that a model draws anew, a copy.  Bandwidths, and whatever else is computed once, come from
    # them
    variables: tuple[Variable, ...]
    sizes: tuple[int, ...]  # numbers of observations
    missing: bool = False  # True if missing values remain, so that the result is NaN
    restriction: PermutationDesign = field(
        default_factory=PermutationDesign
    )  # which rows may change places
    own: Permutations | None = (
        None  # the user's permutations, instead of those that the hypothesis allows
    )
    remarks: tuple[str, ...] = ()  # notes on how the data were read
    repeats: Callable[[], tuple[str, ...]] = (
        tuple  # returns notes on rows and values that are repeated
    )
    called: tuple[str | None, ...] = ()  # names of the samples or variables, if they have some

    @property
    def n_observations(self) -> tuple[int, ...]:
        """Numbers of observations in results."""
        return self.sizes

    @property
    def paired(self) -> bool:
        """True if rows of two samples are exchanged within pairs.

        The differences within pairs are of interest.
        """
        return self.restriction.paired

    @property
    def identity(self) -> np.ndarray:
        """Labels of the samples, or places of the rows, in the data as observed."""
        sizes = self.sizes
        return np.repeat(np.arange(len(sizes)), sizes) if len(sizes) > 1 else np.arange(sizes[0])

    def permutations(self, n_resamples: float, alpha: float, form: Form) -> Permutations:
        """Return the permutations that can change a statistic.

        Raises ValueError if they are too few to reject at ``alpha``.
        """
        if self.own is not None:
            if self.restriction:
                raise ValueError(
                    "permutations= replaces blocks=, groups=, paired= and block_length=; leave "
                    "these out"
                )
            return as_permutations(self.own, self.identity)
        allowed = self._allowed(alpha if n_resamples else 1.0, form.symmetric)
        if isinstance(allowed, Copies):
            for variable in self.variables:
                allowed.require_apart(variable.points, variable.name)
        return allowed

    @abstractmethod
    def _allowed(self, alpha: float, symmetric: bool) -> Permutations:
        """Return permutations that leave the distribution of the data unchanged.

        It is unchanged if the hypothesis is true.

        ``symmetric``: exchanges of whole samples of equal size do not change the statistic, and may
        be left out.
        """

    @property
    def described(self) -> str:
        """The test with its article, in messages."""
        return self.kind.described

    @property
    def forms(self) -> tuple[str, ...]:
        """Names of the statistics that exist for these data."""
        return tuple(self.kind.statistics)

    @property
    def automatic(self) -> str:
        """Name of the statistic that form="auto" stands for."""
        return "biased"

    def form(self, name: str) -> Form:
        """Return the statistic of a name.

        Raises ValueError with the names that exist if this one does not.
        """
        if name == "auto":
            name = self.automatic
        else:
            name = choice(name, ("auto", *self.forms), f"form of {self.described}")
        form: Form = self.kind.form(name)
        return form

    @abstractmethod
    def tuning(self, estimator: MeanEstimator) -> str:
        """Return what the estimator tunes when; raises ValueError if that makes no sense here."""

    @abstractmethod
    def prepare(
        self, estimator: MeanEstimator, kernel: Any, form: Form, cache: KernelCache
    ) -> Prepared:
        """Prepare the statistic of an estimator and resolved kernels.

        These are one kernel, or a tuple with one per variable.
        """

    def notes(self, kernel: Any) -> tuple[str, ...]:
        """Return notes on the data as the resolved kernel, if any, compares them.

        There may be one kernel or several.
        """
        if kernel is None:
            return (*self.remarks, *self.repeats(), *repeated_column_notes(self.variables))
        kernels = kernel if isinstance(kernel, tuple) else (kernel,) * len(self.variables)
        pairs = list(zip(self.variables, kernels, strict=True))
        units = (text for variable, each in pairs for text in variable.notes(each))
        return (
            *self.remarks,
            *self.repeats(),
            *repeated_column_notes(self.variables),
            *units,
            *(
                text
                for variable, each in pairs
                for text in reach_notes(each, variable.points, variable.name)
            ),
        )

    def compared_by(self, kernels: Sequence[Any]) -> Self:
        """Mark variables whose points are row indices of a precomputed Gram matrix.

        Those of kernels that compare numbers as they are lose the units of their tables.
        """
        if not any(takes_row_numbers(kernel) or compares_as_given(kernel) for kernel in kernels):
            return self
        both = zip(self.variables, kernels, strict=True)
        return replace(
            self, variables=tuple(variable.compared_by(kernel) for variable, kernel in both)
        )

    def serial_correlation(self) -> SerialCorrelation | None:
        """Return the serial correlation that invalidates p-values, for rowwise permutation.

        This applies only if rows are permuted one by one.
        """
        return None

    def serial_notes(self) -> tuple[str, ...]:
        """Return notes on serial correlation, unless the permutations are the user's."""
        correlation = self.serial_correlation() if self.own is None else None
        remedy = BY_PAIRS if self.restriction.paired else self.serial_remedy
        return () if correlation is None else (correlation.note(remedy),)

    def data(self) -> TestData:
        """Return what was tested, as results keep it."""
        encodings = tuple(variable.encoding for variable in self.variables)
        columns = tuple(None if encoding is None else encoding.columns for encoding in encodings)
        return TestData(self.kind.name, self.n_observations, self.called, columns, encodings)

    def setup(self, estimator: MeanEstimator, kernel: Any, form: Form) -> Setup:
        """Return how a statistic is computed.

        Raises ValueError for an estimator that makes no sense with the data.
        """
        if not form.by_kernel:
            return Setup(form=form.name)
        if estimator.one_noise and any(
            each.scale and each.points.shape[1] > 1 for each in self.variables
        ):
            raise ValueError(
                f"{estimator!r} has one noise variance for all columns, in units that scale= "
                "changes; use "
                "estimator='mmkme', or rescale the columns yourself"
            )
        if form.check is not None:
            form.check(estimator, self.sizes)
        self._require_definite(estimator, kernel)
        return Setup(
            estimator,
            kernel,
            form.name,
            self.tuning(estimator),
            squared_norm=form.squared_norm,
            given=kernel,
        )

    def _require_definite(self, estimator: MeanEstimator, kernel: Any) -> None:
        """Raise ValueError for distances that are not Euclidean where norms must be positive."""
        kernels = kernel if isinstance(kernel, tuple) else (kernel,)
        if all(getattr(each, "is_definite", True) for each in kernels):
            return
        if self.kind.needs_definite or not isinstance(estimator, KME):
            what = self.described if self.kind.needs_definite else f"estimator={estimator!r}"
            remedy = "use Precomputed(exp(-D**2 / (2 * s**2))) instead"
            if any(isinstance(each, MetricKernel) for each in kernels):
                remedy = "use Distances.of bandwidth='median'"
            raise ValueError(f"kernel: {what} needs Euclidean distances; {remedy}")

    def context(self, members: tuple[FittedStatistic, ...], draws: Draws) -> TestContext:
        """Return what results carry; ``draws`` are the permutations, not drawn yet."""
        return TestContext(self, members)

    def concluded(
        self, result: Any, member: FittedStatistic, cache: KernelCache, rng: np.random.Generator
    ) -> Any:
        """Return the result with what only this test has, from the statistic that decided."""
        return result

    def effect(self, context: TestContext, options: EffectOptions) -> Any:
        """Return the effect that the hypothesis denies.

        Raises ValueError if there is no scale for it.
        """
        raise ValueError(self.kind.no_effect)

    def resolve(self, v: int, kernel: Kernel, rng: np.random.Generator) -> Kernel:
        """Return the kernel of a variable with bandwidth and units from its observations."""
        return resolve(kernel, self.variables[v], rng)


def resolve(kernel: Kernel, variable: Variable, rng: np.random.Generator) -> Kernel:
    """Return the kernel with bandwidth and units from the observations of a variable."""
    in_units = kernel if variable.scale is None else Rescaled(kernel, variable.scale)
    try:
        return in_units.resolve(variable.points, rng)
    except ValueError as error:
        raise ValueError(f"{variable.name}: {error}") from None


def repeated_column_notes(variables: Sequence[Variable]) -> tuple[str, ...]:
    """Return notes on columns that two variables share."""
    if len(variables) < 2 or any(variable.numbers for variable in variables):
        return ()
    seen: dict[bytes, tuple[int, str]] = {}
    notes = []
    for v, variable in enumerate(variables):
        names = (
            variable.encoding.features
            if variable.encoding is not None
            else range(variable.points.shape[1])
        )
        for name, column in zip(names, variable.points.T, strict=True):
            label = (
                variable.name
                if variable.points.shape[1] == 1
                else f"column {name!r} of {variable.name}"
            )
            before, other = seen.setdefault(column.tobytes(), (v, label))
            if before != v and np.ptp(column) > 0.0:
                notes.append(
                    note("same-values", first=f"{other[:1].upper()}{other[1:]}", second=label)
                )
    return tuple(notes)


def require_values(block_length: Any, *kernels: Any) -> None:
    """Raise ValueError if the length of blocks would be found from row numbers."""
    if (
        isinstance(block_length, str)
        and block_length == AUTO
        and any(map(takes_row_numbers, kernels))
    ):
        raise ValueError(
            "block_length='auto' needs the values of rows, which a Precomputed kernel does not "
            "have; use a number, "
            "such as block_length=10"
        )
