"""Search: tests of conditional independence of many triples of columns, sharing computations."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from hashlib import sha256
from typing import Any

import numpy as np

from shrinktest._check import as_points, counted
from shrinktest._random import as_rng
from shrinktest.conditional.conditional_independence import ConditionalIndependence, conditional
from shrinktest.conditional.given import all_labels
from shrinktest.conditional.regressions import (
    FEWEST,
    NothingToTest,
    Regressions,
    Residuals,
    standardized,
)
from shrinktest.data.read import read_variables
from shrinktest.data.scale import AUTO
from shrinktest.data.tables import is_table
from shrinktest.data.variable import Variable
from shrinktest.effects.dependence import dependence
from shrinktest.estimators import MeanEstimator, as_estimator
from shrinktest.hypothesis import resolve
from shrinktest.independent_variables import Independence
from shrinktest.kernel_spec import KernelSpec, asks_for_none, refuse_candidates
from shrinktest.kernels import Kernel, as_kernel
from shrinktest.kernels.user import takes_row_numbers
from shrinktest.run import run
from shrinktest.settings import Settings
from shrinktest.statistics.features import Features, KernelFeatures
from shrinktest.statistics.kernel_cache import KernelCache

#: What regressions on one set of given variables, and residuals, take per row, roughly.
_BYTES = 40_000.0


@dataclass(frozen=True, eq=False)
class SearchColumn:
    """A column of a search, as the numbers that tests compare and condition on."""

    variable: Variable
    labels: bool = False  # True if its values are labels, which define strata

    @cached_property
    def digest(self) -> int:
        """A number that is the same for the same values."""
        return digest_of(self.variable.points)

    @cached_property
    def constant(self) -> bool:
        """True if all values are the same."""
        return not standardized(self.variable.points).shape[1]


@dataclass(frozen=True)
class Outcome:
    """Statistic and p-value of one test."""

    statistic: float
    pvalue: float


#: For a column that does not vary, or that the given columns determine.
NOTHING = Outcome(0.0, 1.0)


@dataclass(frozen=True, eq=False)
class KeptRegressions(Regressions):
    """Regressions on the same given variables, computed once for every target."""

    kept: dict[tuple[str, int], Residuals] = field(default_factory=dict)

    def residuals(self, targets: np.ndarray, name: str) -> Residuals:
        return self._once("variable", targets, partial(super().residuals, targets, name))

    def residuals_of_lines(
        self, lines: np.ndarray, held_out: Sequence[np.ndarray] = ()
    ) -> Residuals:
        return self._once("lines", lines, partial(super().residuals_of_lines, lines, held_out))

    def residuals_of_features(
        self, kernel: Kernel, points: np.ndarray, features: Features, held_out: Sequence[np.ndarray]
    ) -> Residuals:
        compute = partial(super().residuals_of_features, kernel, points, features, held_out)
        return self._once("features", points, compute)

    def _once(self, kind: str, targets: np.ndarray, compute: Callable[[], Residuals]) -> Residuals:
        key = (kind, digest_of(targets))
        if key not in self.kept:
            self.kept[key] = compute()
        return self.kept[key]


@dataclass(frozen=True, eq=False)
class Conditions:
    """Regressions and residuals that tests given the same columns share."""

    given: tuple[SearchColumn, ...]
    kernels: KernelCache
    resolved: dict[int, Kernel] = field(default_factory=dict)

    @cached_property
    def points(self) -> np.ndarray:
        """Given variables (n, d)."""
        return np.hstack([column.variable.points for column in self.given])

    @cached_property
    def regression(self) -> KeptRegressions | None:
        """Regressions on the given columns; None for strata."""
        if all(column.labels for column in self.given):
            return None
        prepared = Regressions.on(self.points)
        return KeptRegressions(prepared.given, prepared.regressor, prepared.bases)

    def hypothesis(self, x: Variable, y: Variable, combined: bool) -> Independence:
        """Return the independence of two variables given the columns."""
        sizes = (len(x.points),)
        if not self.given:
            return Independence(variables=(x, y), sizes=sizes)
        method = "strata" if self.regression is None else "residuals"
        test = ConditionalIndependence(variables=(x, y), sizes=sizes, method=method)
        return conditional(test, method, self.points, self.regression, combined)

    def spec(self, spec: KernelSpec, variable: Variable) -> KernelSpec:
        """Return a kernel with the bandwidth for a variable, which is found once."""
        key = digest_of(variable.points)
        if key not in self.resolved:
            (kernel,) = spec.candidates(variable, np.random.default_rng(0))
            self.resolved[key] = resolve(kernel, variable, np.random.default_rng(0))
        return replace(spec, kernel=self.resolved[key], bandwidth="median")


@dataclass(frozen=True, eq=False)
class Search:
    """Tests of independence given columns; kernels and regressions are kept between them.

    The p-value of a test depends on the seed and the values, not on the tests before it.
    """

    estimator: MeanEstimator
    kernel: KernelSpec
    settings: Settings
    seed: int
    columns: dict[int, SearchColumn] = field(default_factory=dict)
    conditions: OrderedDict[tuple[int, ...], Conditions] = field(default_factory=OrderedDict)
    outcomes: dict[tuple[int, ...], Outcome] = field(default_factory=dict)

    @classmethod
    def read(
        cls,
        whose: str,
        *,
        estimator: Any,
        kernel: Any,
        bandwidth: Any,
        n_resamples: Any,
        rng: Any,
        workers: Any,
        max_memory: Any,
    ) -> Search:
        """Check the arguments of a search; messages call the function ``whose``."""
        refuse_candidates(whose, kernel, bandwidth)
        settings = Settings.read(
            n_resamples=n_resamples,
            alpha=0.05,
            workers=workers,
            progress=False,
            gram="auto",
            max_memory=max_memory,
        )
        if takes_row_numbers(as_kernel(kernel, bandwidth)):
            raise ValueError("kernel is a matrix, of one column only; pass a function of values")
        seed = int(as_rng(rng).integers(2**63))
        return cls(as_estimator(estimator), KernelSpec(kernel, bandwidth), settings, seed)

    def __call__(
        self, x: SearchColumn, y: SearchColumn, given: Sequence[SearchColumn] = ()
    ) -> Outcome:
        """Test whether two columns are independent given others, in any order of either."""
        first, second = sorted((self._known(x), self._known(y)), key=lambda column: column.digest)
        conditions = self._varied(given)
        key = (first.digest, second.digest, *(column.digest for column in conditions))
        if key not in self.outcomes:
            degenerate = first.constant or second.constant
            outcome = NOTHING if degenerate else self._tested(first, second, conditions, key)
            self.outcomes[key] = outcome
        return self.outcomes[key]

    def dependence(
        self, x: SearchColumn, y: SearchColumn, given: Sequence[SearchColumn] = ()
    ) -> float:
        """Return the unbiased kernel correlation of what the given columns leave, at least 0.

        It describes data, but has no true value that does not depend on the regressions.  0 for
        columns that do not vary, or that the given columns determine.
        """
        if x.constant or y.constant:
            return 0.0
        shared = self._shared(tuple(self._varied(given)))
        try:
            hypothesis = self._hypothesis(shared, self._known(x), self._known(y))
        except NothingToTest:
            return 0.0
        first, second = (
            KernelFeatures(shared.spec(self.kernel, variable).kernel, variable.points).residuals()
            for variable in hypothesis.variables
        )
        return float(np.fmax(dependence(first, second).value, 0.0))

    def generator(self, key: Sequence[int]) -> np.random.Generator:
        """Return the random numbers of the test with these digests."""
        return np.random.default_rng([self.seed, *key])

    def _tested(
        self,
        x: SearchColumn,
        y: SearchColumn,
        given: Sequence[SearchColumn],
        key: Sequence[int],
    ) -> Outcome:
        shared = self._shared(tuple(given))
        try:
            hypothesis = self._hypothesis(shared, x, y)
        except NothingToTest:
            return NOTHING
        specs = [shared.spec(self.kernel, variable) for variable in hypothesis.variables]
        generator = self.generator(key)
        result = run(
            hypothesis, self.estimator, specs, self.settings, generator, kernels=shared.kernels
        )
        return Outcome(float(result.statistic), float(result.pvalue))

    def _hypothesis(self, shared: Conditions, x: SearchColumn, y: SearchColumn) -> Independence:
        """Return the independence of two columns given those of ``shared``."""
        kernel = self.kernel.kernel
        combined = asks_for_none(self.estimator, [self.kernel])
        return shared.hypothesis(
            x.variable.compared_by(kernel), y.variable.compared_by(kernel), combined
        )

    def _varied(self, given: Sequence[SearchColumn]) -> list[SearchColumn]:
        """Return the given columns that vary, each once, in an order of their own."""
        varied = {column.digest: column for column in given if not column.constant}
        return [self._known(varied[digest]) for digest in sorted(varied)]

    def _known(self, column: SearchColumn) -> SearchColumn:
        """Return the first column with these values, whose Gram matrix may be there."""
        return self.columns.setdefault(column.digest, column)

    def _shared(self, given: tuple[SearchColumn, ...]) -> Conditions:
        """Return what is kept for the given columns, and forget what was not used for longest."""
        key = tuple(column.digest for column in given)
        if key not in self.conditions:
            kernels = self.settings.kernels(np.random.default_rng(0))
            self.conditions[key] = Conditions(given, kernels)
        self.conditions.move_to_end(key)
        rows = len(given[0].variable.points) if given else 1
        while len(self.conditions) > max(2.0, self.settings.memory / (_BYTES * rows)):
            self.conditions.popitem(last=False)
        return self.conditions[key]

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is kept, which other processes compute faster than they read it."""
        kept: dict[str, Any] = {"columns": {}, "conditions": OrderedDict(), "outcomes": {}}
        return {**vars(self), **kept}


def digest_of(values: np.ndarray) -> int:
    """A number that is the same for arrays with the same values and shape."""
    shape = repr(values.shape).encode()
    return int.from_bytes(sha256(shape + np.ascontiguousarray(values).tobytes()).digest()[:8])


def read_columns(data: Any) -> dict[Hashable, SearchColumn]:
    """Read the columns of a table or an array (n, p), by their names or their numbers."""
    if is_table(data):
        names = list(data.columns)
        parts = [data[[name]] for name in names]
    else:
        points = as_points(data, "data").values
        names = list(range(points.shape[1]))
        parts = [points[:, [j]] for j in names]
    if len(names) < 2:
        raise ValueError("data has one column; pass a table or an array with two or more")
    called = [f"column {name!r} of data" for name in names]
    read = read_variables(parts, called, "propagate", scale=AUTO)
    if read.missing:
        raise ValueError("data has missing values; remove those rows first")
    if read.sizes[0] < FEWEST:
        rows = counted(read.sizes[0], "row")
        raise ValueError(f"data has {rows}; a search needs {FEWEST} or more")
    columns = [
        SearchColumn(variable.in_units()[0], all_labels(variable.encoding))
        for variable in read.variables
    ]
    return dict(zip(names, columns, strict=True))
