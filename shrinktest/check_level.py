"""check_level: the realized level of any test or pipeline, on permuted versions of your data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from shrinktest._check import check_signature, choice, count, level, listed, percent
from shrinktest._docs import documented
from shrinktest._hints import hinted
from shrinktest._machine_code import always
from shrinktest.conditional.given import null_given
from shrinktest.data.read import XY, read_samples, read_variables
from shrinktest.data.tables import categories, is_table, names_for, stacked, taken
from shrinktest.permutations.design import PermutationDesign
from shrinktest.power.compared import AnyTest, as_levels, as_pvalue, known_test, known_tests
from shrinktest.power.designs.base import function_name
from shrinktest.power.trials import as_run, run_trials, seed_from, trial_numbers
from shrinktest.results.base import Result
from shrinktest.results.info import INDEPENDENCE, TWO_SAMPLE, kind_of
from shrinktest.results.paragraph import estimated, paragraph
from shrinktest.results.plots.pvalues import plot_level_check
from shrinktest.results.printing import Summary, Table, without_zero
from shrinktest.results.references import joined
from shrinktest.results.result import clopper_pearson

KINDS = (TWO_SAMPLE.name, INDEPENDENCE.name)

_PERMUTATIONS = 999  # of a test that is known by name
_ESTIMATED = (
    "Given numbers, the null hypothesis is an estimate: predictions of a regression plus residuals "
    "permuted among "
    "neighbors. A level above alpha is only a hint, because valid tests can exceed it in some data "
    "sets."
)


@hinted
@documented
def check_level(
    test: Callable[[Any, Any], Any] | AnyTest | str,
    X: Any,
    Y: Any,
    *,
    kind: str = TWO_SAMPLE.name,
    blocks: Any = None,
    paired: bool = False,
    groups: Any = None,
    block_length: Any = None,
    given: Any = None,
    n_trials: int = 1000,
    alphas: Any = (0.01, 0.05, 0.1),
    confidence: float = 0.99,
    nan_policy: str = "raise",
    rng: Any = None,
    workers: int | None = None,
    progress: bool = False,
) -> LevelCheckResult:
    """Estimate the Type I error rate of a test or pipeline on your own data.

    The pipeline may be any that ends in a p-value.

    Parameters
    ----------
    test : callable, AnyTest or str
        ``test(X, Y)``, which returns a p-value or an object with an attribute ``pvalue``.  Choosing
        variables or bandwidths, transforming, and trying several tests are all part of it.  Or the
        name of a test of another package, such as "ks_2samp" (see :func:`power_study`), which draws
        999 permutations if it permutes.
    X, Y : array_like or DataFrame
        The data.  The pipeline gets tables as tables and arrays as arrays, with missing values (see
        ``nan_policy``).
    kind : {"two-sample", "independence"}, default "two-sample"
        Whether to permute the pooled observations of both samples, or the rows of Y.
    blocks
        Labels themselves are not permuted.
    block_length : int, "auto" or "whole", optional
        For time series, as in :func:`independence_test`.
    given : array_like, shape (n,) or (n, d), optional
        Conditioning variables, if ``test`` conditions on them.  If they are labels, Y is permuted
        among rows with equal labels; if they are numbers, Y is the prediction of a regression plus
        its residuals, permuted among neighbors, which imitates the null hypothesis (see Notes).
    n_trials : int, default 1000
        Number of permuted data sets.
    alphas : float or sequence of float, default (0.01, 0.05, 0.1)
        Significance levels at which the pipeline would reject (p <= alpha).
    confidence : float, default 0.99
        Confidence level of the interval for every Type I error rate.
    nan_policy : {"raise", "omit", "indicator", "propagate"}, default "raise"
        Whether to raise an error for missing values, drop their rows, or (the others) leave them to
        ``test``.  "omit" cannot be combined with restricted permutations.
    rng : None, int, SeedSequence, BitGenerator or Generator
        Seed of the permutations.  A function that draws random numbers needs a generator of its
        own, whereas an :class:`~shrinktest.power.AnyTest` gets one for every data set.
    workers : int, optional
        Number of processes, by default all usable cores or the number that
        ``joblib.parallel_config`` sets.  If the test itself uses threads, set ``workers=1`` in one
        of the two.

    Returns
    -------
    LevelCheckResult
        ``result.table``, ``result.anti_conservative``, ``result.summary()``, ``result.plot()``.

    See Also
    --------
    power_study : Power and Type I error rate on simulated data.
    permutation_test : A valid test of a statistic of your own.

    Notes
    -----
    Permuted data come from the null hypothesis with the margins of the data at hand, and therefore
    the estimate is conditional on these values.  It is meaningless if observations depend on each
    other in a way that ``blocks``, ``paired``, ``groups`` and ``block_length`` do not describe.

    By Clopper and Pearson's interval [CP34], at most (1 - confidence) / 2 of pipelines that control
    the conditional Type I error rate, as permutation and rank tests do, are flagged as
    anti-conservative at any one level.  A test that is exact only on average over data sets is
    flagged more often: at 0.05, the t test of two samples of 5 normal observations was flagged in
    9% of data sets, and that of two samples of 10 in less than 1%.  If there are numbers in
    ``given``, a flag is only a hint: the t test of a partial correlation, although exact for normal
    data, was flagged in 10% to 15% of simulated normal data sets.

    References
    ----------
    .. [CP34] Clopper and Pearson, "The use of confidence or fiducial limits illustrated in the case
       of the binomial", Biometrika 26, 1934.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import stats
    >>> from shrinktest import check_level
    >>> X, Y = np.random.default_rng(0).normal(size=(2, 12, 5))
    >>> def smallest(X, Y):  # of one test per column, without correction
    ...     return stats.ttest_ind(X, Y).pvalue.min()
    >>> result = check_level(smallest, X, Y, n_trials=200, workers=1, rng=0)
    >>> result.table[["alpha", "level", "verdict"]]
       alpha  level            verdict
    0   0.01  0.050  anti-conservative
    1   0.05  0.205  anti-conservative
    2   0.10  0.385  anti-conservative
    """
    kind = choice(kind, KINDS, "kind")
    if isinstance(test, str):
        test = known_test(test, kind) or test
    if not isinstance(test, AnyTest):
        if not callable(test):
            names = listed(known_tests(kind))
            raise TypeError(
                f"test must be a function (X, Y) -> p-value, or one of {names}; found {test!r}"
            )
        check_signature(test, ("X", "Y"), "test must be a function (X, Y) -> p-value")
    trials = len(trial_numbers(count(n_trials, "n_trials", minimum=1)))
    levels = as_levels(alphas)
    confidence = level(confidence, "confidence")
    seed = seed_from(rng)
    run = as_run(workers, progress)
    pipeline = _read(
        test,
        X,
        Y,
        kind,
        nan_policy,
        given,
        blocks=blocks,
        paired=paired,
        groups=groups,
        block_length=block_length,
    )
    with always(
        compiled=True
    ):  # errors show, and loops are compiled, before anything is sent to other processes
        pipeline(0, seed)
    pvalues = np.full(trials, np.nan)

    def keep(result: tuple[int, float]) -> None:
        pvalues[result[0]] = result[1]

    run_trials(pipeline, [(i, seed) for i in range(trials)], keep, total=trials, **run)
    words = pipeline.restriction.words(sum(pipeline.sizes))
    estimated = pipeline.explained is not None
    return LevelCheckResult(
        pvalues=pvalues,
        alphas=levels,
        confidence=confidence,
        kind=kind,
        name=test.label if isinstance(test, AnyTest) else _name_of(test),
        n_observations=pipeline.sizes,
        seed=seed,
        restriction=f"residuals of a regression, {words}" if estimated else words,
        notes=(_ESTIMATED,) if estimated else (),
    )


@dataclass(frozen=True, eq=False, repr=False)
class LevelCheckResult(Result):
    """Rejection rates of a pipeline under the null hypothesis, with exact intervals.

    Attributes
    ----------
    pvalues : ndarray, shape (n_trials,)
        The p-values, one for every permuted data set.
    alphas, confidence
        Significance levels, in ascending order, and the confidence level of the intervals.
    kind, restriction : str
        The test that the permutations of the data are for, "two-sample" or "independence", and a
        description of the permutations that were allowed.
    name : str
        Name of the pipeline.
    n_observations : tuple of int
        Sizes of the samples, or the number of pairs.
    seed : int
        Seed, with which ``check_level(..., rng=seed)`` repeats the result.
    notes : tuple of str
        Caveats, for example that the data under the null hypothesis are estimated.
    """

    pvalues: np.ndarray
    alphas: tuple[float, ...]
    confidence: float
    kind: str
    name: str
    n_observations: tuple[int, ...]
    seed: int
    restriction: str = ""
    notes: tuple[str, ...] = ()

    computed = ("anti_conservative",)
    plot = plot_level_check

    def __repr__(self) -> str:
        worst = ", ".join(
            f"{row['alpha']:g}" for row in self.rows() if row["verdict"] == "anti-conservative"
        )
        verdict = f"flagged at {worst}" if worst else "nothing flagged"
        return f"LevelCheckResult({self.name}, {len(self.pvalues)} trials, {verdict})"

    def rows(self) -> list[dict[str, Any]]:
        """Return rows of ``table``.

        The columns are alpha, level (proportion of p <= alpha), low, high, rejections, trials and
        verdict.  ``low`` and ``high`` are the Clopper-Pearson interval of the Type I error rate.
        The verdict is "anti-conservative" if all of it is above alpha, "conservative" if all of it
        is below, and empty otherwise.
        """
        rows = []
        trials = len(self.pvalues)
        for alpha in self.alphas:
            rejections = int((self.pvalues <= alpha).sum())
            low, high = clopper_pearson(rejections, trials, self.confidence)
            verdict = "anti-conservative" if low > alpha else "conservative" if high < alpha else ""
            level = {"alpha": alpha, "level": rejections / trials, "low": low, "high": high}
            rows.append({**level, "rejections": rejections, "trials": trials, "verdict": verdict})
        return rows

    @property
    def anti_conservative(self) -> bool:
        """True if the pipeline rejects too often at any of the levels."""
        return any(row["verdict"] == "anti-conservative" for row in self.rows())

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values under the attribute names.

        ``levels`` has the rows of ``table``.
        """
        return super().to_dict() | {"n_trials": len(self.pvalues), "levels": self.rows()}

    def paragraph(self) -> str:
        """Return two to four sentences for an article: method, levels, and software."""
        kind = kind_of(self.kind)
        how = f"{kind.permuted}{self.restriction and f', {self.restriction}'}"
        sizes = " + ".join(map(str, self.n_observations))
        texts = []
        for row in self.rows():
            limits = [f"{100.0 * row[name]:.3g}%" for name in ("low", "high")]
            rate = estimated(f"{100.0 * row['level']:.3g}%", limits, self.confidence)
            texts.append(f"{rate} at the {without_zero(format(row['alpha'], 'g'))} level")
        return paragraph(
            f"The level of {self.name} was measured",
            f"applying it to {len(self.pvalues)} permuted data sets",
            [f"{sizes} observations, {how}"],
            [f"the test rejected {joined(texts)}"],
            self.versions,
            f"seed {self.seed}",
        )

    def _sources(self) -> tuple[str, ...]:
        return ("CP34",)

    def summary(self) -> Summary:
        """Return the settings, and the Type I error rates with their intervals."""
        rows = [
            [
                f"{row['alpha']:g}",
                f"{row['level']:.4f}",
                f"[{row['low']:.4f}, {row['high']:.4f}]",
                row["verdict"],
            ]
            for row in self.rows()
        ]
        how = kind_of(self.kind).permuted + (f" ({self.restriction})" if self.restriction else "")
        head = (
            f"Level of {self.name}",
            f"Data:       {' + '.join(map(str, self.n_observations))} observations, {how}",
            f"Trials:     {len(self.pvalues)}; seed {self.seed}",
            f"Intervals:  {percent(self.confidence)} Clopper-Pearson",
        )
        return Summary.of(
            Table(rows, "r", ["alpha", "level", "interval", ""], below="-"),
            head=head,
            notes=self.notes,
        )


@dataclass(frozen=True, eq=False)
class _Pipeline:
    """A pipeline, and the data it is run on after permutation."""

    test: Callable[[Any, Any], Any] | AnyTest
    x: Any  # the first variable, or all rows of two samples
    y: Any  # the second variable; None for two samples
    sizes: tuple[int, ...]  # sizes of the samples, or the number of pairs
    restriction: PermutationDesign
    flat: tuple[bool, ...]  # True if the pipeline gets X, and Y, in one dimension
    explained: np.ndarray | None = None  # what is added to Y once it is permuted

    def __call__(self, trial: int, seed: int) -> tuple[int, float]:
        """Return the p-value of one permuted data set.

        It depends only on its number and the seed.
        """
        generator = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(trial,)))
        size = sum(self.sizes)
        order = (
            self.restriction.random_order(generator, size)
            if self.restriction
            else generator.permutation(size)
        )
        if self.y is None:
            data = [taken(self.x, rows) for rows in np.split(order, [self.sizes[0]])]
        else:
            y = taken(self.y, order)
            data = [
                taken(self.x, np.arange(size)),
                y if self.explained is None else self.explained + y,
            ]
        x, y = (
            values[:, 0] if flat else values for values, flat in zip(data, self.flat, strict=True)
        )
        try:
            if isinstance(self.test, AnyTest):
                others = np.random.SeedSequence(seed, spawn_key=(trial, 1))
                return trial, self.test.pvalue((x, y), np.random.default_rng(others), _PERMUTATIONS)
            return trial, as_pvalue(self.test(x, y))
        except Exception as error:
            error.add_note(f"in trial {trial} of check_level with seed {seed}")
            raise


def _name_of(test: Callable[..., Any]) -> str:
    name = function_name(getattr(test, "func", test)).rpartition("<locals>.")[
        2
    ]  # not where it was defined
    return "your test" if name == "<lambda>" else name


def _read(
    test: Any, X: Any, Y: Any, kind: str, nan_policy: str, given: Any, **design: Any
) -> _Pipeline:
    """Read the data, and which permutations are allowed."""
    design = {
        name: value for name, value in design.items() if value is not None and value is not False
    }
    for name in design:
        choice(name, kind_of(kind).restrictions, f"a restriction of kind={kind!r}")
    if given is not None and (kind != INDEPENDENCE.name or design or nan_policy == "omit"):
        raise ValueError(
            "given= needs kind='independence', and no other restrictions or nan_policy='omit'"
        )
    if design and nan_policy == "omit":
        raise ValueError(
            f"nan_policy='omit' cannot be combined with {', '.join(design)}: drop rows beforehand"
        )
    samples = kind == TWO_SAMPLE.name
    reader: Any = read_samples if samples else read_variables
    names = names_for((X, Y), XY) if samples else XY
    policy = "propagate" if nan_policy == "indicator" else nan_policy  # the pipeline's own affair
    data = reader((X, Y), names, policy, column_types=categories((X, Y)), **design)
    data.restriction.check_some(data.sizes)
    # tables go to the pipeline as tables, arrays as numbers; if only one of two samples is a table,
    # both as numbers
    tables = [is_table(raw) and (not samples or is_table(X) == is_table(Y)) for raw in (X, Y)]
    rows = [
        taken(raw, np.flatnonzero(complete)) if table else values
        for raw, table, values, complete in zip((X, Y), tables, data.values, data.kept, strict=True)
    ]
    flat = tuple(
        not table and _one_dimension(raw) for raw, table in zip((X, Y), tables, strict=True)
    )
    x, y = (stacked(rows, XY), None) if samples else rows
    explained = None
    restriction = data.restriction
    if given is not None:
        explained, restriction = null_given(Y, given, data.all_rows)
        y = y if explained is None else y - explained
    return _Pipeline(test, x, y, data.sizes, restriction, flat, explained)


def _one_dimension(data: Any) -> bool:
    return len(getattr(data, "shape", ())) == 1 or (
        isinstance(data, list | tuple) and np.ndim(data) == 1
    )
