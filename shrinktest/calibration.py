"""Calibration: the realised level of any pipeline, on permuted versions of one's own data."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from shrinktest._machine import n_workers
from shrinktest._read import XY, Samples, Variables, read_samples, read_variables
from shrinktest._renamed import renamed
from shrinktest._validate import MOST, as_rng, choice, count, flag, level, listed, takes
from shrinktest.conditional.null import null_given
from shrinktest.nulls.restriction import Restriction
from shrinktest.power.any_test import AnyTest, pvalue_of
from shrinktest.power.arguments import several
from shrinktest.power.known_tests import known_test, known_tests
from shrinktest.power.store import Row
from shrinktest.power.work import finish, once_heard
from shrinktest.results.as_json import written
from shrinktest.results.base import Result
from shrinktest.results.kinds import INDEPENDENCE, TWO_SAMPLE, kind_of
from shrinktest.results.result import versions
from shrinktest.results.text import Report, Table
from shrinktest.tables.reading import is_table, names_for
from shrinktest.tables.rows import categories, stacked, taken

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

KINDS = (TWO_SAMPLE.name, INDEPENDENCE.name)

_PERMUTATIONS = 999  # of a test that is given by its name


@dataclass(frozen=True, eq=False, repr=False)
class CalibrationResult(Result):
    """How often a pipeline rejected when there was nothing to find.

    Attributes
    ----------
    pvalues : ndarray, shape (n_trials,)
        One of every permuted data set.
    alphas : tuple of float
        Levels, ascending.
    confidence : float
        Confidence of the intervals.
    kind : str
        "two-sample" or "independence": how the data were permuted.
    restriction : str
        In words, where the design of the data allowed some permutations only.
    name : str
        What the pipeline is called.
    n_observations : tuple of int
        Sizes of the samples, or the number of pairs.
    seed : int
        ``calibrate(..., rng=seed)`` repeats it.

    Examples
    --------
    >>> from scipy import stats
    >>> from shrinktest import calibrate
    >>> def t_test(X, Y):
    ...     return stats.ttest_ind(X, Y).pvalue
    >>> result = calibrate(t_test, [1.2, 0.3, 0.5, 0.8], [2.1, 1.9, 3.0, 2.6], n_trials=100, workers=1)
    >>> result.pvalues.shape, result.kind, result.anti_conservative
    ((100,), 'two-sample', False)
    """

    pvalues: np.ndarray
    alphas: tuple[float, ...]
    confidence: float
    kind: str
    name: str
    n_observations: tuple[int, ...]
    seed: int
    restriction: str = ""

    def __repr__(self) -> str:
        worst = ", ".join(
            f"{alpha:g}" for alpha, flag in zip(self.alphas, self.table["verdict"], strict=True) if "anti" in flag
        )
        verdict = f"flagged at {worst}" if worst else "nothing flagged"
        return f"CalibrationResult({self.name}, {len(self.pvalues)} trials, {verdict})"

    @property
    def table(self) -> pd.DataFrame:
        """One row a level (pandas): alpha, level (how often p <= alpha), low, high, rejections, trials, verdict.

        ``low`` and ``high`` are the Clopper-Pearson interval of the level.  The verdict is "anti-conservative" where
        all of it is above alpha, "conservative" where all of it is below, and empty otherwise.
        """
        import pandas as pd
        from statsmodels.stats.proportion import proportion_confint

        rows, trials = [], len(self.pvalues)
        for alpha in self.alphas:
            rejections = int((self.pvalues <= alpha).sum())
            low, high = proportion_confint(rejections, trials, alpha=1.0 - self.confidence, method="beta")
            verdict = "anti-conservative" if low > alpha else "conservative" if high < alpha else ""
            rows.append((alpha, rejections / trials, float(low), float(high), rejections, trials, verdict))
        return pd.DataFrame(rows, columns=["alpha", "level", "low", "high", "rejections", "trials", "verdict"])

    @property
    def anti_conservative(self) -> bool:
        """Whether the pipeline rejects too often at any of the levels."""
        return bool((self.table["verdict"] == "anti-conservative").any())

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values under the attribute names; ``levels`` has the rows of ``table``."""
        return {
            "name": self.name,
            "kind": self.kind,
            "restriction": self.restriction,
            "n_observations": list(self.n_observations),
            "n_trials": len(self.pvalues),
            "seed": self.seed,
            "confidence": self.confidence,
            "anti_conservative": self.anti_conservative,
            "levels": self.table.to_dict("records"),
            "versions": versions(),
            "pvalues": self.pvalues.tolist(),
        }

    def to_json(self, path: Any = None, **options: Any) -> str:
        """``to_dict`` as JSON, also written to ``path``; ``options`` go to :func:`json.dumps`."""
        return written(self.to_dict(), path, **options)

    def summary(self) -> str:
        """What was done, and the levels with their intervals."""
        return self._report().as_text()

    def _report(self) -> Report:
        how = kind_of(self.kind).permuted
        how += f" ({self.restriction})" if self.restriction else ""
        rows = [
            [f"{row.alpha:g}", f"{row.level:.4f}", f"[{row.low:.4f}, {row.high:.4f}]", row.verdict]
            for row in self.table.itertuples()
        ]
        head = (
            f"Calibration of {self.name}",
            f"Data:       {' + '.join(map(str, self.n_observations))} observations, {how}",
            f"Trials:     {len(self.pvalues)}; seed {self.seed}",
            f"Intervals:  {self.confidence:.0%} Clopper-Pearson",
        )
        return Report(head, Table(rows, "r", ["alpha", "level", "interval", ""], below="-"))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Share of p-values up to every level, with the band in which uniform ones would be (matplotlib)."""
        from shrinktest.plots.calibration import plot_calibration

        return plot_calibration(self, ax)


@renamed()
def calibrate(
    test: Callable[[Any, Any], Any] | AnyTest | str,
    X: Any,
    Y: Any,
    *,
    kind: str = TWO_SAMPLE.name,
    blocks: Any = None,
    paired: bool = False,
    groups: Any = None,
    shift: str | None = None,
    given: Any = None,
    n_trials: int = 1000,
    alphas: Any = (0.01, 0.05, 0.1),
    confidence: float = 0.99,
    nan_policy: str = "raise",
    rng: Any = 0,
    workers: int | None = None,
    progress: bool = False,
) -> CalibrationResult:
    """How often a test, or any pipeline that ends in a p-value, rejects permuted versions of your data: its level.

    Parameters
    ----------
    test : callable, AnyTest or str
        ``test(X, Y)`` returns a p-value, or an object with an attribute ``pvalue``.  Whatever it does belongs to it:
        choosing variables or bandwidths, transforming, trying several tests.  Or the name of a test of another package,
        such as "ks_2samp" (see :func:`power_study`), which draws 999 permutations if it permutes.
    X, Y : array_like, shape (m, d) and (n, d), or (m,) and (n,)
        The data; for independence, two variables of the same observations.  ``test`` gets them as they were given:
        tables as tables of the same library, one dimension as one dimension, else arrays of float64.
    kind : {"two-sample", "independence"}
        Which null hypothesis is made true: "two-sample" permutes the rows of both samples, "independence" those of Y.
    blocks, paired, groups, shift
        Which permutations are allowed, as in :func:`two_sample_test` (``blocks``, ``paired``, ``groups``) and
        :func:`independence_test` (``blocks``, ``groups``, ``shift``).  Labels themselves are not permuted.
    given : array_like, shape (n,) or (n, d), optional
        For independence given other variables, which ``test`` knows of.  Given labels, Y is permuted among rows with
        the same ones; given numbers, Y is the prediction of a regression plus its residuals, permuted among neighbours.
    n_trials : int, default 1000
        Number of permuted data sets.
    alphas : float or sequence of float
        Levels at which the pipeline would reject (p <= alpha).
    confidence : float, default 0.99
        Confidence of the interval for every level.
    nan_policy : {"raise", "omit", "indicator", "propagate"}
        What to do with missing values: an error, drop their rows, or (the others) leave them to ``test``.  Where
        permutations are restricted rows are not dropped, because ``test`` would not know which.
    rng : None, int, SeedSequence, BitGenerator or Generator, default 0
        Seed of the permutations.  A function that draws random numbers needs a generator of its own; wrapped in an
        :class:`~shrinktest.power.AnyTest` it is given one for every data set.
    workers : int, optional
        Processes; default all usable cores, or what ``joblib.parallel_config`` says.  If the test itself uses threads,
        give ``workers=1`` to one of the two.
    progress : bool, default False
        Show a progress bar.

    Returns
    -------
    CalibrationResult
        ``result.table``, ``result.anti_conservative``, ``result.summary()``, ``result.plot()``.

    Raises
    ------
    ValueError, TypeError
        For arguments that make no sense, and when ``test`` returns no number from 0 to 1.

    See Also
    --------
    power_study : How often a test rejects when there is something to find.
    permutation_test : A valid test of a statistic of your own.

    Notes
    -----
    Permuted data come from the null hypothesis with the margins of the data at hand: the pooled observations for two
    samples, the values of X and of Y for independence.  What is estimated is the level given these values, which is
    what a permutation test keeps.  Where observations depend on each other in a way that ``blocks``, ``paired``,
    ``groups`` and ``shift`` do not say, the estimate says nothing.  At most (1 - confidence) / 2 of valid pipelines are
    flagged as anti-conservative at any one level, by Clopper and Pearson's interval [CP34].

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import stats
    >>> from shrinktest import calibrate
    >>> X, Y = np.random.default_rng(0).normal(size=(2, 12, 5))
    >>> def smallest(X, Y):  # of one test a column, as if it were the only one
    ...     return stats.ttest_ind(X, Y).pvalue.min()
    >>> result = calibrate(smallest, X, Y, n_trials=200, workers=1)
    >>> result.table[["alpha", "level", "verdict"]]
       alpha  level            verdict
    0   0.01  0.050  anti-conservative
    1   0.05  0.205  anti-conservative
    2   0.10  0.385  anti-conservative
    """
    choice(kind, KINDS, "kind")
    if isinstance(test, str):
        test = known_test(test, kind) or test
    if not isinstance(test, AnyTest):
        if not callable(test):
            names = listed(known_tests(kind))
            raise TypeError(f"test must be a function (X, Y) -> p-value, or one of {names}; found {test!r}")
        takes(test, ("X", "Y"), "test must be a function (X, Y) -> p-value")
    trials = count(n_trials, "n_trials", minimum=1, maximum=MOST)
    levels = tuple(sorted({level(alpha, "alphas") for alpha in several(alphas, Real, "alphas")}))
    confidence = level(confidence, "confidence")
    jobs, progress = None if workers is None else n_workers(workers), flag(progress, "progress")
    generator = as_rng(rng)
    seed = int(rng) if isinstance(rng, int | np.integer) else int.from_bytes(generator.bytes(16), "little")
    design = {"blocks": blocks, "paired": paired, "groups": groups, "shift": shift}
    data, sizes, restriction = _read(X, Y, kind, nan_policy, design)
    if given is not None:
        if kind != INDEPENDENCE.name or restriction or nan_policy == "omit":
            raise ValueError(
                "given= is for kind='independence' without other restrictions and with all rows; leave one of them out"
            )
        data["explained"], restriction = null_given(Y, given)
        if data["explained"] is not None:
            data["y"] = data["y"] - data["explained"]
    relabel = _Relabelled(test, kind, sizes=sizes, restriction=restriction, **data)
    run = once_heard(relabel, 0, seed)  # what cannot work is found out before it is sent elsewhere
    kept = _PValues(np.full(trials, np.nan))
    finish(kept, run, [(trial, seed) for trial in range(trials)], trials, jobs, progress)
    return CalibrationResult(
        pvalues=kept.values,
        alphas=levels,
        confidence=confidence,
        kind=kind,
        name=test.label if isinstance(test, AnyTest) else _called(test),
        n_observations=sizes,
        seed=seed,
        restriction=restriction.words(sum(sizes)),
    )


@dataclass(frozen=True, eq=False)
class _PValues:
    """p-values in the order of the trials, in whatever order they come."""

    values: np.ndarray

    def add(self, rows: Iterable[Row]) -> None:
        for trial, pvalue in rows:
            self.values[trial] = pvalue


@dataclass(frozen=True, eq=False)
class _Relabelled:
    """A pipeline, and the data it is run on after permutation.

    Parameters
    ----------
    test : callable or AnyTest
    kind : str
    x : array or table
        The first variable; of two samples, all rows.
    y : array or table, optional
        The second variable.
    sizes : tuple of int
        Sizes of the samples, or the number of pairs.
    restriction : Restriction
    flat : tuple of bool
        Whether the pipeline gets X, and Y, in one dimension.
    explained : ndarray, optional
        What is added to Y once it is relabelled.
    """

    test: Callable[[Any, Any], Any] | AnyTest
    kind: str
    x: Any
    y: Any
    sizes: tuple[int, ...]
    restriction: Restriction
    flat: tuple[bool, bool]
    explained: np.ndarray | None = None

    def __call__(self, trial: int, seed: int) -> list[Row]:
        """The p-value of one permuted data set, which depends on its number and the seed only."""
        generator = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(trial,)))
        size = sum(self.sizes)
        order = self.restriction.relabelled(generator, size) if self.restriction else generator.permutation(size)
        if self.kind == TWO_SAMPLE.name:
            x, y = (taken(self.x, rows) for rows in np.split(order, [self.sizes[0]]))
        else:
            x, y = taken(self.x, np.arange(size)), taken(self.y, order)
            y = y if self.explained is None else self.explained + y
        x, y = (data[:, 0] if flat else data for data, flat in zip((x, y), self.flat, strict=True))
        try:
            if isinstance(self.test, AnyTest):
                others = np.random.SeedSequence(seed, spawn_key=(trial, 1))
                return [(trial, self.test.pvalue((x, y), np.random.default_rng(others), _PERMUTATIONS))]
            return [(trial, pvalue_of(self.test(x, y)))]
        except Exception as error:
            error.add_note(f"in trial {trial} of calibrate with seed {seed}")
            raise


def _called(test: Callable[..., Any]) -> str:
    return getattr(getattr(test, "func", test), "__qualname__", None) or repr(test)  # of a partial, what it calls


def _read(
    X: Any, Y: Any, kind: str, nan_policy: str, design: dict[str, Any]
) -> tuple[dict[str, Any], tuple[int, ...], Restriction]:
    """The rows that are given new places, numbers of observations, and what may take whose place."""
    told = {name: value for name, value in design.items() if value is not None and value is not False}
    for name in told:
        if name not in kind_of(kind).restrictions:
            other = next(one for one in KINDS if one != kind)
            raise ValueError(
                f"{name}= is for kind={other!r}; kind={kind!r} takes {', '.join(kind_of(kind).restrictions)}"
            )
    if told and nan_policy == "omit":
        raise ValueError(
            "nan_policy='omit' would drop rows that the labels of the pipeline still count; drop them before, from "
            f"the data and from what the pipeline knows of {' and '.join(told)}"
        )
    found: Samples | Variables
    if kind == TWO_SAMPLE.name:
        found = samples = read_samples(
            (X, Y), names_for((X, Y), XY), nan_policy, column_types=categories((X, Y)), **told
        )
        sizes = samples.sizes
    else:
        found = read_variables((X, Y), XY, nan_policy, column_types=categories((X, Y)), **told)
        sizes = (len(found.values[0]),)
    restriction = found.restriction
    if restriction and restriction.pairings(1, as_rng(0), sum(sizes), alpha=1.0).distinct < 2:
        raise ValueError(f"{', '.join(told)} allow no other order of the rows, so that there is nothing to permute")
    # tables go to the pipeline as they are, arrays as numbers; of two samples of which one is an array, both do
    tables = [is_table(data) and (kind != TWO_SAMPLE.name or is_table(X) == is_table(Y)) for data in (X, Y)]
    rows = [
        taken(data, np.flatnonzero(kept)) if table else values
        for data, table, values, kept in zip((X, Y), tables, found.values, found.kept, strict=True)
    ]
    flat = tuple(not table and _one_dimension(data) for data, table in zip((X, Y), tables, strict=True))
    x, y = (stacked(rows, XY), None) if kind == TWO_SAMPLE.name else rows
    return {"x": x, "y": y, "flat": flat}, sizes, restriction


def _one_dimension(data: Any) -> bool:
    return len(getattr(data, "shape", ())) == 1 or (isinstance(data, list | tuple) and np.ndim(data) == 1)
