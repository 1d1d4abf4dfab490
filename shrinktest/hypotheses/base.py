"""Hypothesis: the value that a test is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from shrinktest._read import Variables
from shrinktest.estimators import MeanEstimator
from shrinktest.hypotheses.context import EffectOptions, FittedStatistic, TestContext
from shrinktest.kernels import Energy, Kernel, Linear, Polynomial, Rescaled
from shrinktest.kernels.bandwidths import reach_notes
from shrinktest.kernels.distance import DistanceKernel
from shrinktest.kernels.user import takes_row_numbers
from shrinktest.notes import note
from shrinktest.permutations.base import Draws, Permutations, as_permutations
from shrinktest.permutations.serial_correlation import STRETCHES, OrderedRows, SerialCorrelation
from shrinktest.results.info import TestInfo
from shrinktest.statistics.kernel_cache import KernelCache
from shrinktest.statistics.statistic import Prepared
from shrinktest.tables.encoding import Encoding
from shrinktest.units import Scale, constant_columns, far_apart


@dataclass(frozen=True, eq=False)
class Variable:
    """Observations that one kernel compares."""

    points: np.ndarray  # (n, d)
    name: str  # what messages call them
    scale: Scale | None = None  # in which units the kernel compares their columns; see `Rescaled`
    encoding: Encoding | None = None  # how the columns of a table became the numbers, which are in their units already
    said: bool = True  # whether anybody said in which units, so that no note is needed
    places: np.ndarray | None = None  # the numbers of these rows among all, where some were left out
    numbers: bool = False  # whether they are row numbers of a matrix, which say nothing of what was observed

    @property
    def series(self) -> OrderedRows:
        """All observations as one series, as one looks for memory in it."""
        return self.rows_of(slice(None))

    def rows_of(self, *series: np.ndarray | slice) -> OrderedRows:
        """The same of several series, each given by its rows."""
        parts = [self.points[rows] for rows in series]
        return (
            OrderedRows([np.zeros_like(part) for part in parts])
            if self.numbers
            else OrderedRows.of(parts, self.encoding)
        )

    def only(self, rows: np.ndarray | slice) -> Variable:
        """Some of the rows, in their order; the others are left out."""
        places = np.arange(len(self.points)) if self.places is None else self.places
        return replace(self, points=np.ascontiguousarray(self.points[rows]), places=places[rows])

    def asked(self, kernel: Kernel) -> Kernel:
        """The kernel in the units of the columns, not resolved yet."""
        return kernel if self.scale is None else Rescaled(kernel, self.scale)

    def compared(self) -> np.ndarray:
        """The observations as a kernel compares them; those with missing values are left out."""
        rows = self.points[~np.isnan(self.points).any(axis=1)]
        return rows if self.scale is None else Rescaled(Linear(), self.scale, rows).moved(rows)

    def in_units(self) -> tuple[Variable, tuple[str, ...]]:
        """The same with numbers in their units, as those of a table are, and what a reader should know of these.

        For what is computed from the numbers before a kernel compares them.
        """
        if self.scale is None or np.isnan(self.points).any():
            return self, ()
        return replace(self, points=self.compared(), scale=None), self.notes(None)

    def notes(self, kernel: Any) -> tuple[str, ...]:
        """What a reader of the result should know of the units in which a resolved kernel compares the columns."""
        if self.encoding is not None:  # has said what there is to say
            return ()
        if self.scale is None:
            return far_apart(self.points, self.name) if not self.said and in_one_unit(kernel) else ()
        if not (constant := constant_columns(self.points)).any():
            return ()
        names = [str(j) for j in np.flatnonzero(constant)]
        many = len(names) > 1
        which = f"{self.name}: column{'s' * many} {', '.join(names)} {'have' if many else 'has'}"
        return (note("no-weight", which=which, unit=f" (scale={self.scale!r})"),)


@dataclass(frozen=True, eq=False, kw_only=True)
class Hypothesis(ABC):
    """A null hypothesis about data: the data, the permutations it allows, and how a statistic for it is prepared."""

    kind: ClassVar[TestInfo]
    #: What to do where rows that are permuted one by one depend on each other.
    serial_remedy: ClassVar[str] = ""

    variables: tuple[Variable, ...]  # all observations, one entry for every kernel that the test takes
    sizes: tuple[int, ...]  # numbers of observations, as the result says them
    missing: bool = False  # whether missing values remain, so that the result is NaN
    own: Permutations | None = None  # permutations of the user's, instead of those that the hypothesis allows
    remarks: tuple[str, ...] = ()  # what a reader of the result should know of how the data were read
    called: tuple[str | None, ...] = ()  # names of the samples, or of the variables, where they have some

    @property
    def n_observations(self) -> tuple[int, ...]:
        """Numbers of observations, as results say them."""
        return self.sizes

    @property
    def paired(self) -> bool:
        """True if rows of two samples are exchanged within pairs, whose differences are of interest."""
        return False

    @property
    def identity(self) -> np.ndarray:
        """The data as they are: labels of samples, or places of rows."""
        sizes = self.sizes
        return np.repeat(np.arange(len(sizes)), sizes) if len(sizes) > 1 else np.arange(sizes[0])

    def permutations(self, n_resamples: float, alpha: float) -> Permutations:
        """Permutations of the test; raises ValueError if they are too few to reject at ``alpha``."""
        if self.own is None:
            return self._allowed(n_resamples, alpha if n_resamples else 1.0)
        if getattr(self, "restriction", None):
            raise ValueError("permutations= replaces blocks=, groups=, paired= and shift=; leave these out")
        return as_permutations(self.own, self.identity)

    @abstractmethod
    def _allowed(self, n_resamples: float, alpha: float) -> Permutations:
        """Permutations under which the data have the same law if the hypothesis is true."""

    @abstractmethod
    def form(self, estimator: MeanEstimator, form: str) -> str:
        """The form of the statistic, "biased" or "unbiased"; raises ValueError where it does not exist."""

    @abstractmethod
    def tuning(self, estimator: MeanEstimator) -> str:
        """What the estimator tunes when; raises ValueError for what makes no sense here."""

    @abstractmethod
    def prepare(self, estimator: MeanEstimator, kernel: Any, form: str, cache: KernelCache, workers: int) -> Prepared:
        """The statistic of an estimator and of resolved kernels (one, or a tuple with one for every variable)."""

    def notes(self, kernel: Any) -> tuple[str, ...]:
        """What a reader of the result should know of the data, as the resolved kernel (or kernels) compares them."""
        kernels = kernel if isinstance(kernel, tuple) else (kernel,) * len(self.variables)
        pairs = list(zip(self.variables, kernels, strict=True))
        units = (note for variable, one in pairs for note in variable.notes(one))
        return (
            *self.remarks,
            *repeated_column_notes(self.variables),
            *units,
            *(note for v, one in pairs for note in reach_notes(one, v.points, v.name)),
        )

    def compared_by(self, kernels: Sequence[Any]) -> Self:
        """The same, which knows of the kernels, resolved or not, what the points of each variable are."""
        numbers = list(map(takes_row_numbers, kernels))
        if not any(numbers):
            return self
        both = zip(self.variables, numbers, strict=True)
        return replace(self, variables=tuple(replace(one, numbers=yes) for one, yes in both))

    def serial_correlation(self) -> SerialCorrelation | None:
        """What successive rows have in common, where rows are permuted one by one and that makes p-values wrong."""
        return None

    def serial_notes(self) -> tuple[str, ...]:
        """What a reader of the result should know of that, unless the permutations are the user's."""
        found = self.serial_correlation() if self.own is None else None
        return () if found is None else (found.note(self.serial_remedy),)

    def labels(self) -> dict[str, Any]:
        """What a result keeps of the names in the data, and of how columns became numbers."""
        encodings = tuple(variable.encoding for variable in self.variables)
        columns = tuple(None if one is None else one.columns for one in encodings)
        return {"encodings": encodings, "columns": columns, "names": self.called}

    def described(self, estimator: MeanEstimator, form: str) -> dict[str, Any]:
        """What a result says of an estimator; raises ValueError for one that makes no sense with these data."""
        if estimator.one_noise and any(one.scale and one.points.shape[1] > 1 for one in self.variables):
            raise ValueError(
                f"{estimator!r} has one noise variance for all columns, in the units that they have in the data, which "
                "scale= changes: use estimator='mmkme', which has one for each, or give the test rescaled columns"
            )
        return {"estimator": estimator, "form": self.form(estimator, form), "tuning": self.tuning(estimator)}

    def member(self, estimator: MeanEstimator, prepared: Prepared, form: str, weight: float = 1.0) -> FittedStatistic:
        """A statistic that was prepared, for what is asked of the result later."""
        tuning, approximated = self.tuning(estimator), prepared.approximated
        return FittedStatistic(estimator, prepared.kernel, prepared.features, form, tuning, weight, approximated)

    def context(self, members: tuple[FittedStatistic, ...], draws: Draws | None = None) -> TestContext:
        """What results carry; ``permutations`` are those of a single statistic, not drawn yet."""
        return TestContext(self, members)

    def concluded(self, result: Any, member: FittedStatistic, cache: KernelCache, rng: np.random.Generator) -> Any:
        """The result with what there is to say besides, of the statistic that decided; ``rng`` is a source apart."""
        return result

    def effect(self, context: TestContext, options: EffectOptions) -> Any:
        """How large the effect is that the hypothesis denies, where there is a scale for it."""
        raise ValueError(self.kind.no_effect)

    def found_before(self, kernel: Kernel, variable: int = 0) -> Kernel | None:
        """The kernel of a variable with what it takes from the data, where that was found before the test began."""
        return None

    def resolved(self, kernel: Any, rng: np.random.Generator) -> Any:
        """The kernel, or the tuple of kernels, with what they take from the data; errors say whose they are."""
        if not isinstance(kernel, tuple):
            return self.found_before(kernel) or resolve(kernel, self.variables[0], rng)
        return tuple(
            self.found_before(one, v) or resolve(one, variable, rng)
            for v, (one, variable) in enumerate(zip(kernel, self.variables, strict=True))
        )


def resolve(kernel: Kernel, variable: Variable, rng: np.random.Generator) -> Kernel:
    """The kernel with its bandwidth, and units, found on the observations of a variable."""
    try:
        return variable.asked(kernel).resolve(variable.points, rng)
    except ValueError as error:
        raise ValueError(f"{variable.name}: {error}") from None


def repeated_column_notes(variables: Sequence[Variable]) -> tuple[str, ...]:
    """What a reader should know where a column of one variable is one of another, too."""
    if len(variables) < 2 or any(one.numbers for one in variables):
        return ()
    seen: dict[bytes, tuple[int, str]] = {}
    notes = []
    for v, one in enumerate(variables):
        names = one.encoding.features if one.encoding is not None else range(one.points.shape[1])
        for name, column in zip(names, one.points.T, strict=True):
            called = one.name if one.points.shape[1] == 1 else f"column {name!r} of {one.name}"
            before, other = seen.setdefault(column.tobytes(), (v, called))
            if before != v and np.ptp(column) > 0.0:
                notes.append(note("same-values", first=f"{other[:1].upper()}{other[1:]}", second=called))
    return tuple(notes)


def require_values(shift: Any, kernel: Any) -> None:
    """Raise ValueError where the length of stretches is to be found from row numbers."""
    if isinstance(shift, str) and shift == STRETCHES and takes_row_numbers(kernel):
        raise ValueError(
            "shift='stretches' finds from the values of successive rows how long stretches must be, and with a "
            "Precomputed kernel these are row numbers: give the length, a number of rows such as shift=10"
        )


def variables_of(read: Variables, names: tuple[str, ...], *, said: bool) -> tuple[Variable, ...]:
    """Variables as they were read; ``said`` tells whether anybody said in which units."""
    return tuple(
        Variable(values, name, scale, encoding, said, places_of(kept))
        for values, name, scale, encoding, kept in zip(
            read.values, names, read.scales, read.encodings, read.kept, strict=True
        )
    )


def places_of(kept: np.ndarray) -> np.ndarray | None:
    """The numbers of rows that are kept, where some are not."""
    return None if kept.all() else np.flatnonzero(kept)


def in_one_unit(kernel: Any) -> bool:
    """Whether a resolved kernel takes distances or inner products over columns as they are."""
    inner = getattr(kernel, "kernel", None)
    if isinstance(inner, Kernel) and not isinstance(kernel, Rescaled):
        return in_one_unit(inner)
    if isinstance(kernel, DistanceKernel):
        return np.ndim(kernel.bandwidth) == 0
    return isinstance(kernel, Linear | Polynomial | Energy)
