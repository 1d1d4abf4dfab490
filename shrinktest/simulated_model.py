"""SimulatedModel: a model that draws data sets, and the hypothesis that the data come from it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, cast

import numpy as np

from shrinktest._check import check_signature, choice, counted, real_values
from shrinktest.data.all_rows import read_rows
from shrinktest.data.encoding import Encoding
from shrinktest.data.tables import columns_at, is_table, names_in
from shrinktest.drawn_columns import DrawnColumns
from shrinktest.embedding import MeanEmbedding
from shrinktest.equal_distributions import TwoEqualDistributions
from shrinktest.estimators import MeanEstimator
from shrinktest.fitted import FittedStatistic, TestContext, Witness
from shrinktest.hypothesis import Hypothesis
from shrinktest.kernels.inner import FeatureMap
from shrinktest.notes import note
from shrinktest.permutations.base import Draws, Permutations
from shrinktest.permutations.schemes import Copies
from shrinktest.results.info import GOODNESS_OF_FIT, TestInfo
from shrinktest.results.witness import WitnessBand
from shrinktest.statistics.kernel_cache import KernelCache
from shrinktest.statistics.mmd import estimates_of
from shrinktest.statistics.reference_sample import distance_from_reference
from shrinktest.statistics.statistic import Form, Prepared

_VALUES = 2**22  # of the kernel at a time
_KEPT = 2.0**28  # bytes of data sets that are not drawn again


@dataclass(frozen=True, eq=False)
class SimulatedModel:
    """A user's functions that draw data sets and fit parameters, with checks of what they return.

    Rows are arrays (n, d) in the order of the columns of X, with numbers for categories.
    """

    simulate: Callable[..., Any]
    fit: Callable[[Any], Any] | None
    columns: tuple[str, ...]  # names of the columns of a table; empty for arrays
    shape: tuple[int, ...]  # of a row of X; () if X is one-dimensional
    drawn_columns: DrawnColumns

    @classmethod
    def of(
        cls,
        simulate: Any,
        fit: Any,
        columns: tuple[str, ...],
        shape: tuple[int, ...],
        drawn_columns: DrawnColumns,
    ) -> SimulatedModel:
        """Check the functions."""
        arguments = ("rng", "n") if fit is None else ("rng", "n", "params")
        call = f"({', '.join(arguments)}) -> rows"
        for function, takes, meaning in (
            (simulate, arguments, f"simulate must be a function {call}"),
            (fit, ("data",), "fit must be a function of the data to parameters"),
        ):
            if function is None and takes == ("data",):
                continue
            if not callable(function):
                raise TypeError(f"{meaning}; got {function!r}")
            check_signature(function, takes, meaning)
        return cls(simulate, fit, columns, shape, drawn_columns)

    @property
    def width(self) -> int:
        """Number of columns."""
        return self.shape[0] if self.shape else 1

    def params(self, rows: np.ndarray) -> tuple[Any, ...]:
        """Return the fitted parameters as arguments of ``simulate``; none without ``fit``."""
        return () if self.fit is None else (self.fit(self._as_given(rows)),)

    def draw(self, rng: np.random.Generator, size: int, params: tuple[Any, ...]) -> np.ndarray:
        """Draw so many rows (n, d)."""
        drawn = self.simulate(rng, size, *params)
        if self.drawn_columns.labeled:
            drawn = self.drawn_columns.drawn(drawn)
        elif is_table(drawn) and self.columns:
            drawn = self._numbers_in(drawn)
        try:
            rows = real_values(drawn)
        except TypeError as error:
            raise TypeError(f"simulate must return rows of numbers: {error}") from None
        rows = rows[:, None] if rows.ndim == 1 else rows
        if rows.shape != (size, self.width) or not np.isfinite(rows).all():
            raise ValueError(
                f"simulate must return {counted(size, 'row')} of finite numbers in "
                f"{counted(self.width, 'column')}; got shape {rows.shape}"
            )
        return np.ascontiguousarray(rows)

    def _numbers_in(self, table: Any) -> np.ndarray:
        """Return the columns of X in a table that was drawn."""
        names = names_in(table)
        places = [names.index(choice(name, names, "a column of simulate")) for name in self.columns]
        columns = read_rows([columns_at(table, places)], ["simulate"], "raise", None).as_columns()
        return np.column_stack([column.numbers() for column in columns])

    def _as_given(self, rows: np.ndarray) -> Any:
        """Return rows as the user gave X: a table, or an array of its dimension."""
        if self.drawn_columns.labeled:
            return self.drawn_columns.frame(rows)
        if self.columns:
            import pandas as pd

            return pd.DataFrame(rows, columns=list(self.columns))
        return rows[:, 0].copy() if not self.shape else rows.copy()


@dataclass(frozen=True, eq=False)
class KeptCopies(Copies):
    """Copies that are kept while memory allows, for simulators that take long."""

    kept: dict[int, np.ndarray] = field(default_factory=dict, repr=False)

    def copy(self, seed: Any) -> np.ndarray:
        """Return the copy of a seed, shape (1,); the data for 0."""
        number = int(np.asarray(seed).item())
        if number in self.kept:
            return self.kept[number]
        drawn = super().copy(seed)
        if (len(self.kept) + 1.0) * drawn.nbytes <= _KEPT:
            self.kept[number] = drawn
        return drawn


@dataclass(frozen=True, eq=False, kw_only=True)
class FromModel(Hypothesis):
    """The rows come from a model; its data sets are compared with a sample of it.

    The variable is this reference sample, which neither the data nor the copies have seen.  With
    fitted parameters each data set has a reference sample of its own fit, by the same random
    numbers.
    """

    kind: ClassVar[TestInfo] = GOODNESS_OF_FIT

    model: SimulatedModel
    copies: KeptCopies
    seed: int  # of the reference sample
    reference_size: int
    encoding: Encoding | None = None  # of tables
    part: slice | None = None  # columns that are compared; None for all

    def encoded(self, rows: np.ndarray) -> np.ndarray:
        """Return the rows as kernels compare them."""
        if self.model.drawn_columns.labeled:
            rows = self.model.drawn_columns.encoded(rows, cast(Encoding, self.encoding))
        elif self.encoding is not None:
            rows = self.encoding.read(rows, "simulate")
        return rows if self.part is None else np.ascontiguousarray(rows[:, self.part])

    def drawn(self, seed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the data set of a seed (the data for 0) and its reference sample, encoded."""
        rows = self.copies.copy(seed)
        if self.model.fit is None or not int(np.asarray(seed).item()):
            return self.encoded(rows), self.variables[0].points
        params = self.model.params(rows)
        reference = self.model.draw(np.random.default_rng(self.seed), self.reference_size, params)
        return self.encoded(rows), self.encoded(reference)

    def _allowed(self, alpha: float, symmetric: bool) -> Permutations:
        return self.copies

    @property
    def _both(self) -> tuple[int, int]:
        return self.sizes[0], self.reference_size

    @property
    def automatic(self) -> str:
        """Return "unbiased" unless both samples have one size."""
        return "biased" if len(set(self._both)) == 1 else "unbiased"

    def tuning(self, estimator: MeanEstimator) -> str:
        """Return what the estimator tunes: "pooled" is on the reference sample."""
        tuning = estimator.tuning_for(self._both)
        if estimator.smooths and tuning not in ("pooled", "fixed"):
            raise ValueError(
                f"tuning={tuning!r} gives data sets different noise; use tuning='pooled', or fix "
                "the variance"
            )
        return tuning

    def notes(self, kernel: Any) -> tuple[str, ...]:
        """Return notes on the data, and on parameters that were fitted to them."""
        fitted = () if self.model.fit is None else (note("parametric-bootstrap"),)
        return (*super().notes(kernel), *fitted)

    def prepare(
        self, estimator: MeanEstimator, kernel: Any, form: Form, cache: KernelCache
    ) -> Prepared:
        """Prepare the distance of every data set from its reference sample."""
        tuning = self.tuning(estimator)
        points = self.variables[0].points
        return distance_from_reference(
            estimator, kernel, points, self.drawn, self._both, form, tuning, cache
        )

    def context(self, members: tuple[FittedStatistic, ...], draws: Draws) -> TestContext:
        """Return what results carry: the data and the reference sample as two samples."""
        x, reference = self.drawn(np.zeros(1, dtype=np.uint64))
        (variable,) = self.variables
        both = replace(variable, points=np.vstack([x, reference]), scale=None)
        pair = TwoEqualDistributions(variables=(both,), sizes=self._both, called=self.called)
        return ModelWitness(pair, members, draws, source=self)


@dataclass(frozen=True, eq=False)
class ModelWitness(Witness):
    """The data and the reference sample of a model, with data sets in place of permutations."""

    source: FromModel = field(kw_only=True)

    def effect(self, **options: Any) -> Any:
        """Return how well the data and the reference sample can be told apart."""
        return replace(super().effect(**options), resamples=self.source.kind.resamples)

    def band(self, estimates: Any, points: Any, **options: Any) -> WitnessBand:
        """Return the witness function with its band, by default at rows of the reference sample."""
        if points is None:
            points = np.unique(self.pooled[self.sizes[0] :], axis=0)
            few = np.linspace(0, len(points) - 1, min(len(points), 256))
            points = points[few.round().astype(np.intp)]
        return super().band(estimates, points, **options)

    def _functions(self, estimates: Any, at: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """Return the witness functions (rows, g) of all data sets, the data first."""
        kernel = estimates[0].kernel
        member = self.leading
        estimator = member.estimator
        if member.tuning == "pooled":
            estimator = estimator.tuned(member.kernel, self.pooled[self.sizes[0] :])
        flat = at.reshape(-1, at.shape[2])
        pairs = []
        for seed in labels:
            both = list(self.source.drawn(seed))
            pairs.append(estimates_of(estimator, kernel, both, member.tuning))
        own = _values_at([x for x, _ in pairs], flat)
        if self.source.model.fit is None and member.tuning != "joint":
            own -= pairs[0][1].embedding(flat)  # one reference sample, with one estimate
        else:
            own -= _values_at([reference for _, reference in pairs], flat)
        return own.reshape(len(labels), *at.shape[:2]).mean(axis=2)


def _values_at(estimates: Sequence[MeanEmbedding], points: np.ndarray) -> np.ndarray:
    """Return the values (k, g) of k estimates of equally many rows at points (g, d)."""
    first = estimates[0]
    kernel = first.kernel
    if first.features is not None or isinstance(kernel, FeatureMap):
        return np.stack([estimate.embedding(points) for estimate in estimates])
    if first.smoothing is not None:
        kernel = kernel.smoothed(np.asarray(first.smoothing), points.shape[1])
    step = max(1, _VALUES // (first.n * len(points)))
    out = []
    for start in range(0, len(estimates), step):
        some = estimates[start : start + step]
        values = kernel(np.vstack([estimate.points for estimate in some]), points)
        weights = np.stack([estimate.weights for estimate in some])
        out.append(np.einsum("kn,kng->kg", weights, values.reshape(*weights.shape, -1)))
    return np.concatenate(out)
