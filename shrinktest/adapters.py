"""Tests of conditional independence for causal discovery by other packages."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any
from weakref import ref

import numpy as np

from shrinktest._check import complete_points
from shrinktest.conditional.search import Search, SearchColumn, read_columns
from shrinktest.data.variable import Variable

__all__ = ["for_causal_learn", "for_pgmpy", "for_tigramite"]

_NAME = "shrinktest"


def for_causal_learn(
    data: Any,
    *,
    estimator: Any = "kme",
    kernel: Any = "gaussian",
    bandwidth: Any = "median",
    n_resamples: float = 999,
    rng: Any = None,
    workers: int | None = None,
    max_memory: float | None = None,
) -> Any:
    """Return a test for the searches PC and FCI of causal-learn.

    Parameters
    ----------
    data : array_like, shape (n, p)
        Numbers with one row per observation, at least 10: the data that are passed to the search.
    estimator : str, MeanEstimator or callable, default "kme"
        As in :func:`shrinktest.independence_test`, but not an ensemble.
    kernel : str, Kernel or callable, default "gaussian"
        Kernel of every column, but not a list of candidates.
    bandwidth : float or str, default "median"
        Bandwidth of every column, but not a list of candidates.
    n_resamples : int, default 999
        Number of permutations, or random signs, per test.  The smallest p-value is ``1 /
        (n_resamples + 1)``, which must not exceed the significance level of the search.
    rng : None, int, SeedSequence, BitGenerator or Generator, optional
        Seed or generator.  The p-value of a test depends on this and the data, but not on the tests
        before it.
    workers : int, optional
        Number of threads per test; all cores by default.
    max_memory : float, optional
        Bytes for kernels and regressions that are stored between tests; a quarter of the free
        memory by default.

    Returns
    -------
    causallearn.utils.cit.CIT_Base
        An object ``test(i, j, given)`` that returns the p-value for columns i and j: ``indep_test``
        of ``pc``, ``independence_test_method`` of ``fci``.

    Raises
    ------
    ImportError
        If causal-learn is not installed.
    ValueError
        If values are missing, or a search has other data.

    See Also
    --------
    shrinktest.independence_test : One such test, with a full result.

    Notes
    -----
    If there are no conditioning columns, the test is one of independence.  A column that is
    constant, alone or conditionally on the others, is independent of everything, with p-value 1
    (:doc:`/given`).

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest.adapters import for_causal_learn
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=100)
    >>> y = x**2 + 0.5 * rng.normal(size=100)
    >>> data = np.column_stack([x, y, np.sin(y) + 0.5 * rng.normal(size=100)])
    >>> test = for_causal_learn(data, rng=0)  # doctest: +SKIP
    >>> test(0, 1), test(0, 2, [1])  # doctest: +SKIP
    (0.001, 0.514)
    >>> from causallearn.search.ConstraintBased.PC import pc  # doctest: +SKIP
    >>> graph = pc(data, 0.05, test)  # doctest: +SKIP
    """
    try:
        from causallearn.utils.cit import CIT_Base, register_ci_test
    except ImportError as error:
        raise _missing("for_causal_learn", "causal-learn>=0.1.4.8") from error
    points = complete_points(data, "data").values
    columns = list(read_columns(points).values())
    search = Search.read(
        "for_causal_learn",
        estimator=estimator,
        kernel=kernel,
        bandwidth=bandwidth,
        n_resamples=n_resamples,
        rng=rng,
        workers=workers,
        max_memory=max_memory,
    )

    class Test(CIT_Base):
        """The p-value of columns, by their numbers."""

        def __call__(self, X: int, Y: int, condition_set: Sequence[int] | None = None) -> float:
            given = [columns[j] for j in condition_set or ()]
            return search(columns[X], columns[Y], given).pvalue

    test = Test(points)
    test.check_cache_method_consistent(_NAME, "")
    registered = ref(test)

    class Registered(CIT_Base):
        """Return the same test from the data, name and options that causal-learn passes."""

        def __new__(cls, data: np.ndarray) -> Any:
            if not np.array_equal(data, points):
                raise ValueError(
                    "data of the search differ from those of for_causal_learn; pass the same data"
                )
            return registered()

    register_ci_test(_Handle(registered), Registered)
    return test


def for_pgmpy(
    data: Any,
    *,
    estimator: Any = "kme",
    kernel: Any = "gaussian",
    bandwidth: Any = "median",
    n_resamples: float = 999,
    rng: Any = None,
    workers: int | None = None,
    max_memory: float | None = None,
) -> PgmpyTest:
    """Return a test for the searches of pgmpy, such as ``pgmpy.causal_discovery.PC``.

    Parameters
    ----------
    data : pandas.DataFrame or array_like, shape (n, p)
        Data with one row per observation, at least 10.  If all conditioning columns are categories,
        a test is by strata.
    estimator : str, MeanEstimator or callable, default "kme"
        As in :func:`shrinktest.independence_test`, but not an ensemble.
    kernel : str, Kernel or callable, default "gaussian"
        Kernel of every column, but not a list of candidates.
    bandwidth : float or str, default "median"
        Bandwidth of every column, but not a list of candidates.
    n_resamples : int, default 999
        Number of permutations, or random signs, per test, as in :func:`for_causal_learn`.
    rng : None, int, SeedSequence, BitGenerator or Generator, optional
        Seed or generator, as in :func:`for_causal_learn`.
    workers : int, optional
        Number of threads per test; all cores by default.
    max_memory : float, optional
        Bytes for kernels and regressions that are stored between tests; a quarter of the free
        memory by default.

    Returns
    -------
    PgmpyTest
        A function ``test(X, Y, Z, significance_level)`` of names of columns: ``ci_test`` of a
        search, and of ``DAG.edge_strength``.

    Raises
    ------
    ValueError
        If values are missing or, in a search, if its significance level is below ``1 / (n_resamples
        + 1)``.

    Notes
    -----
    ``test.effect_size_``, for ``orient_rule="effect_size"``, is the unbiased kernel correlation
    (0 to 1) of both columns after regressions on the conditioning columns.  It orders sets of
    conditioning columns, but has no interval.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from shrinktest.adapters import for_pgmpy
    >>> rng = np.random.default_rng(0)
    >>> data = pd.DataFrame({"x": rng.normal(size=100)})
    >>> data["y"] = data["x"] ** 2 + 0.5 * rng.normal(size=100)
    >>> data["z"] = np.sin(data["y"]) + 0.5 * rng.normal(size=100)
    >>> test = for_pgmpy(data, rng=0)
    >>> test("x", "y", [], significance_level=0.05), test("x", "z", ["y"])
    (False, True)
    >>> from pgmpy.causal_discovery import PC  # doctest: +SKIP
    >>> search = PC(ci_test=test, significance_level=0.05).fit(data)  # doctest: +SKIP
    """
    search = Search.read(
        "for_pgmpy",
        estimator=estimator,
        kernel=kernel,
        bandwidth=bandwidth,
        n_resamples=n_resamples,
        rng=rng,
        workers=workers,
        max_memory=max_memory,
    )
    return PgmpyTest(search, read_columns(data))


def for_tigramite(
    *,
    estimator: Any = "kme",
    kernel: Any = "gaussian",
    bandwidth: Any = "median",
    n_resamples: float = 999,
    rng: Any = None,
    workers: int | None = None,
    max_memory: float | None = None,
) -> Any:
    """Return a test for the searches of tigramite, such as ``tigramite.pcmci.PCMCI``.

    Parameters
    ----------
    estimator : str, MeanEstimator or callable, default "kme"
        As in :func:`shrinktest.independence_test`, but not an ensemble.
    kernel : str, Kernel or callable, default "gaussian"
        Kernel of every column, but not a list of candidates.
    bandwidth : float or str, default "median"
        Bandwidth of every column, but not a list of candidates.
    n_resamples : int, default 999
        Number of permutations, or random signs, per test, as in :func:`for_causal_learn`.
    rng : None, int, SeedSequence, BitGenerator or Generator, optional
        Seed or generator, as in :func:`for_causal_learn`.
    workers : int, optional
        Number of threads per test; all cores by default.
    max_memory : float, optional
        Bytes for kernels and regressions that are stored between tests; a quarter of the free
        memory by default.

    Returns
    -------
    tigramite.independence_tests.independence_tests_base.CondIndTest
        ``cond_ind_test`` of a search.  ``set_mask_type`` sets its mask.

    Raises
    ------
    ImportError
        If tigramite is not installed.

    Notes
    -----
    Rows are permuted, or change signs, one by one.  Therefore, the test controls the Type I error
    rate only if the conditioning columns leave no serial correlation.  PCMCI first tests without
    the past, to find candidates for these columns, and such p-values are too small in
    autocorrelated series.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest.adapters import for_tigramite
    >>> test = for_tigramite(rng=0)  # doctest: +SKIP
    >>> x, y, z = np.random.default_rng(0).normal(size=(3, 100, 1))  # doctest: +SKIP
    >>> statistic, pvalue = test.run_test_raw(x, y, z)  # doctest: +SKIP
    >>> pvalue  # doctest: +SKIP
    0.541
    """
    try:
        from tigramite.independence_tests.independence_tests_base import CondIndTest
    except ImportError as error:
        raise _missing("for_tigramite", "tigramite>=5.2") from error
    search = Search.read(
        "for_tigramite",
        estimator=estimator,
        kernel=kernel,
        bandwidth=bandwidth,
        n_resamples=n_resamples,
        rng=rng,
        workers=workers,
        max_memory=max_memory,
    )

    class Test(CondIndTest):
        """Statistic and p-value of rows (d, n) of an array, which ``xyz`` assigns to variables."""

        measure = _NAME
        two_sided = False
        residual_based = False

        def get_dependence_measure(
            self, array: np.ndarray, xyz: np.ndarray, data_type: np.ndarray | None = None
        ) -> float:
            return search(*_triple(array, xyz, data_type)).statistic

        def get_shuffle_significance(
            self,
            array: np.ndarray,
            xyz: np.ndarray,
            value: float,
            data_type: np.ndarray | None = None,
        ) -> float:
            return search(*_triple(array, xyz, data_type)).pvalue

    return Test(significance="shuffle_test")


class PgmpyTest:
    """Test of conditional independence with the signature that pgmpy expects.

    Attributes
    ----------
    statistic_, p_value_, effect_size_ : float
        Statistic, p-value and effect size of the latest test; NaN before it.
    """

    def __init__(self, search: Search, columns: dict[Hashable, SearchColumn]) -> None:
        self._search = search
        self._columns = columns
        self.statistic_ = np.nan
        self.p_value_ = np.nan
        self._latest: tuple[Hashable, Hashable, tuple[Hashable, ...]] | None = None

    @property
    def effect_size_(self) -> float:
        """Kernel correlation of the residuals of the latest test, from 0 to 1."""
        if self._latest is None:
            return np.nan
        x, y, given = self._latest
        columns = self._columns
        return self._search.dependence(columns[x], columns[y], [columns[name] for name in given])

    def __call__(
        self,
        X: Hashable,
        Y: Hashable,
        Z: Sequence[Hashable] = (),
        significance_level: float = 0.05,
    ) -> bool:
        """Return True unless the columns X and Y are dependent given the columns Z."""
        smallest = 1.0 / (self._search.settings.n_resamples + 1.0)
        if significance_level < smallest:
            raise ValueError(
                f"significance_level={significance_level} is below the smallest p-value, "
                f"{smallest:.3g}; raise n_resamples"
            )
        self.run_test(X, Y, Z)
        return self.p_value_ > significance_level

    def run_test(self, X: Hashable, Y: Hashable, Z: Iterable[Hashable] = ()) -> tuple[float, float]:
        """Return statistic and p-value of the columns X and Y given the columns Z."""
        given = tuple(Z)
        columns = self._columns
        outcome = self._search(columns[X], columns[Y], [columns[name] for name in given])
        self.statistic_ = outcome.statistic
        self.p_value_ = outcome.pvalue
        self._latest = (X, Y, given)
        return outcome.statistic, outcome.pvalue


class _Handle:
    """Equal to a test while it exists, so that what causal-learn keeps does not keep its data."""

    def __init__(self, test: ref[Any]) -> None:
        self._test = test
        self._hash = hash(test())

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (other is not None and self._test() is other)


def _triple(
    array: np.ndarray, xyz: np.ndarray, data_type: np.ndarray | None
) -> tuple[SearchColumn, SearchColumn, list[SearchColumn]]:
    """Return X and Y, each as one column, and the columns of Z, of rows (d, n) of an array."""
    discrete = np.zeros(len(array), bool) if data_type is None else np.all(data_type == 1, axis=1)

    def column(rows: np.ndarray, name: str) -> SearchColumn:
        parts = [_indicators(array[j]) if discrete[j] else array[j][:, None] for j in rows]
        points = np.ascontiguousarray(np.hstack(parts), dtype=np.float64)
        return SearchColumn(Variable(points, name), labels=bool(discrete[rows].all()))

    x, y, z = (np.flatnonzero(xyz == place) for place in range(3))
    return column(x, "X"), column(y, "Y"), [column(np.array([j]), "given") for j in z]


def _indicators(codes: np.ndarray) -> np.ndarray:
    """Return an indicator (n, k) of each of k labels, whose distances are those of a table."""
    return np.asarray(codes[:, None] == np.unique(codes), dtype=np.float64)


def _missing(function: str, package: str) -> ImportError:
    return ImportError(f"{function} needs {package.split('>')[0]}: pip install '{package}'")
