"""TestResult: statistic, p-value and null distribution of a test."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from shrinktest._check import count, level
from shrinktest._random import as_rng
from shrinktest._warn import tiny_is_zero
from shrinktest.embedding import MeanEmbedding
from shrinktest.estimators import KME
from shrinktest.notes import note
from shrinktest.permutations.null import Null
from shrinktest.results.base import (
    Decision,
    Notes,
    Setup,
    TestData,
    as_tuple,
    bandwidth_of,
    part_of,
    plain,
    unique,
)
from shrinktest.results.info import (
    BY_PROPENSITY,
    NO_EFFECT_BY_PROPENSITY,
    TestInfo,
    kind_of,
)
from shrinktest.results.plots import pvalues
from shrinktest.results.printing import Summary, Table, number, side_by_side
from shrinktest.results.tail_pvalue import tail_pvalue
from shrinktest.results.words_of_test import WordsOfTest, own_names

if TYPE_CHECKING:
    from shrinktest.results.effect import Effect

#: Number of folds, each scored by the witness function of the others, unless ``folds=`` says
#: another.
FOLDS = 5

#: The null distribution of a statistic that was not computed.
UNKNOWN = Null(math.nan, np.empty(0), 0.0, exact=False)

NO_DATA = (
    "this result does not hold its data (missing values, or several tests together); run a test by "
    "itself without "
    "missing values"
)
_ROW = (
    *(
        "test",
        "statistic",
        "pvalue",
        "alpha",
        "n_resamples",
        "exact",
        "form",
        "estimator",
        "tuning",
    ),
    *(
        "kernel",
        "bandwidth",
        "n_observations",
        "route",
        "restriction",
        "stopping",
        "n_planned",
        "stopped",
        "method",
    ),
)
_KEYS = (*_ROW, "names", "columns", "notes", "rng", "versions", "tolerance", "assumption")


@part_of("null", "exact", "tolerance", "exceedances", "stopping", "stopped", "n_planned")
@part_of(
    "data",
    "test",
    "n_observations",
    "names",
    "columns",
    "encodings",
    "restriction",
    "method",
    "assumption",
)
@part_of("setup", "estimator", "kernel", "form", "tuning", "route")
@dataclass(frozen=True, eq=False, repr=False)
class TestResult(WordsOfTest, Decision):
    """Result of a test: statistic, p-value, null distribution and settings.

    ``statistic, pvalue = result`` unpacks it.  Entries of ``null``, ``data`` and ``setup`` are
    attributes of the result, too.

    Attributes
    ----------
    null : Null
        ``statistic``, ``pvalue``, ``null_distribution`` and ``n_resamples``; ``exact`` (all
        permutations were enumerated), ``tolerance`` (how far below the statistic a value counts as
        equal), ``exceedances`` (number of values that reach it); with a stopping rule,
        ``stopping``, ``n_planned`` and ``stopped`` (True if the rule ended the draws early, or gave
        a p-value that is not the rank of the statistic among all draws).
    data : TestData
        ``test``, ``n_observations``, ``names`` of the samples or variables, ``columns`` of tables
        and their ``encodings``; ``restriction``, the permutations that the design allows;
        ``method``, how other variables are accounted for, and ``assumption``, which must be true
        for the p-value to be valid.
    setup : Setup
        ``estimator`` as it was passed, ``kernel`` and ``bandwidth`` as they were used, ``form``
        ("biased" or "unbiased"), ``tuning`` (when the estimator was tuned: "sample", "joint",
        "pooled", or "fixed"), and ``route``, how the kernel was evaluated ("dense" and "factor"
        agree, whereas "nystrom" and "rff" are approximations).
    alpha : float
        Significance level at which ``reject`` and ``summary`` decide.
    estimates : tuple of MeanEmbedding
        The fitted embeddings with their tuned amounts (a single one for independence; see
        :func:`independence_test`).
    rng : dict
        Bit generator, seed entropy and state before the first draw, which are enough to draw these
        permutations again.
    notes : tuple of str
        Assumptions that may fail, and data that were left out.
    context : TestContext, str or None
        The data for effects and witness bands, in a pickle only after ``with_data``; otherwise the
        reason why they are missing.

    Examples
    --------
    >>> from shrinktest import two_sample_test
    >>> result = two_sample_test([1.2, 0.3, 0.5, 0.8], [2.1, 1.9, 3.0, 2.6])
    >>> round(result.pvalue, 4), result.n_resamples, result.exact  # all splits into four and four
    (0.0286, 35, True)
    """

    __test__: ClassVar[bool] = False  # not a test class for pytest

    null: Null
    data: TestData
    setup: Setup
    alpha: float
    estimates: tuple[MeanEmbedding, ...] = ()
    rng: dict[str, Any] = field(default_factory=dict)
    notes: Any = Notes()  # noqa: RUF009  # a descriptor: a tuple of texts
    context: Any = field(
        default=None, compare=False
    )  # results are equal with and without their data

    def __repr__(self) -> str:
        numbers = f"{type(self).__name__}(statistic={self.statistic:.6g}, pvalue={self.pvalue:.6g}"
        return (
            f"{numbers})" if self.estimator is None else f"{numbers}, estimator={self.estimator!r})"
        )

    def __getattr__(self, name: str) -> Any:
        if name in ("witness", "witness_band", "plot_witness", "contributions", "regions"):
            what = "regions compare" if name == "regions" else "a witness function compares"
            raise AttributeError(f"{what} two samples; {self.kind.described} has none")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    statistic = property(
        attrgetter("null.observed"), doc="Squared MMD, HSIC or their relatives; see the test."
    )
    pvalue = property(
        attrgetter("null.pvalue"), doc="Permutation p-value, never 0; NaN without permutations."
    )
    null_distribution = property(
        attrgetter("null.values"), doc="Statistics over the permutations; all, if ``exact``."
    )
    n_resamples = property(
        attrgetter("null.values.size"), doc="Number of permutations in the null distribution."
    )

    plot_null = pvalues.plot_null
    plot = pvalues.plot_null

    tail_pvalue = tail_pvalue

    @property
    def bandwidth(self) -> Any:
        """Bandwidth of the kernel or kernels; None if they have none."""
        return bandwidth_of(self.kernel)

    @property
    def kind(self) -> TestInfo:
        """Entry of this test in the table of tests."""
        return kind_of(self.test, simulated=self.data.simulated)

    # --- decisions --------------------------------------------------------------------------------

    @property
    def z(self) -> float:
        """Z-score of the statistic: its distance from the permutation mean.

        The unit is the standard deviation over the permutations.
        """
        values = self.null_distribution
        spread = float(np.std(values, ddof=1)) if values.size > 1 else 0.0
        return float((self.statistic - values.mean()) / spread) if spread > 0.0 else math.nan

    def critical_value(self, alpha: float | None = None) -> float:
        """Return the value that the statistic must exceed to be rejected at ``alpha``.

        It must exceed the value by more than ties.  The value is infinity if there are too few
        permutations to reject at all, and NaN if drawing stopped before the value was known.
        """
        alpha = self.alpha if alpha is None else level(alpha)
        if self.stopped:
            return math.nan
        ordered = np.sort(self.null_distribution)[::-1]
        # p <= alpha means: at most this many rows, the observed one among them, reach the statistic
        rows = ordered.size + (not self.exact)
        allowed = int((np.arange(1, rows + 1) / max(rows, 1) <= alpha).sum())
        return float(ordered[allowed - (not self.exact)]) if allowed else math.inf

    def pvalue_interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return a Clopper-Pearson interval for the p-value by all permutations.

        It shows only Monte Carlo uncertainty, because the p-value is valid for any number of
        permutations.  Under a stopping rule the limits are slightly conservative, whereas for an
        ensemble 95% intervals cover in 91% to 92%.
        """
        confidence = level(confidence, "confidence")
        if self.exact or self.n_resamples == 0:
            return self.pvalue, self.pvalue
        return clopper_pearson(self.exceedances, self.n_resamples, confidence)

    # --- the size of the effect -------------------------------------------------------------------

    @tiny_is_zero
    def effect(
        self,
        *,
        confidence: float = 0.95,
        folds: int | None = None,
        columns: bool = False,
        rng: Any = None,
    ) -> Any:
        """Estimate the size of the difference or the dependence.

        The scales do not depend on the sample size.

        Parameters
        ----------
        confidence : float, default 0.95
            Confidence level of every interval, which is not adjusted for the number of intervals.
        folds : int, optional
            Number of folds, for samples in memory: the witness function is fitted to all folds but
            one, and scores that one; default 5.
        columns : bool, default False
            Whether to compute ``contributions`` of the columns, for two samples and one statistic.
        rng : None, int, SeedSequence, BitGenerator or Generator
            Seed or generator that assigns rows to folds, and exchanges columns; if it is None,
            every call does this identically.

        Returns
        -------
        TwoSampleEffect, KSampleEffect or DependenceEffect
            The effect, which ``print(result.effect().summary())`` explains.

        Raises
        ------
        ValueError
            If the result does not hold its data, or an argument cannot be used.

        Notes
        -----
        :class:`TwoSampleEffect` and :class:`DependenceEffect` define the estimands.  Intervals
        respect pairs, groups and blocks; :doc:`/effects` reports their coverage.  Because the
        distance and the dependence depend on the kernel and its bandwidth, compare data sets with
        one numeric ``bandwidth``.
        """
        folds = None if folds is None else count(folds, "folds", minimum=2)
        confidence = level(confidence, "confidence")
        generator = as_rng(0 if rng is None else rng)
        why = NO_EFFECT_BY_PROPENSITY if self.method == BY_PROPENSITY else self.kind.no_effect
        if why:
            raise ValueError(why)
        return self.require_data().effect(
            z=self.z,
            confidence=confidence,
            folds=folds,
            rng=generator,
            columns=bool(columns),
            names=self.names,
        )

    def with_data(self) -> Self:
        """Return this result with its data, which it then has after pickling, too."""
        return replace(self, context=replace(self.require_data(), keep=True))

    def require_data(self) -> Any:
        """Return the data and statistics of the test; raises ValueError without them."""
        if self.context is None or isinstance(self.context, str):
            raise ValueError(self.context or NO_DATA)
        return self.context

    # --- shown ------------------------------------------------------------------------------------

    def rows(self) -> list[dict[str, Any]]:
        """Return the result as the one row of ``table``, without the null distribution."""
        return [self._row()]

    def _row(self) -> dict[str, Any]:
        row = {name: plain(getattr(self, name)) for name in _ROW} | {"reject": self.reject()}
        row["n_observations"] = " + ".join(map(str, self.n_observations))
        row["bandwidth"] = (
            str(self.bandwidth) if isinstance(self.bandwidth, tuple) else self.bandwidth
        )
        return {
            name: str(value) if isinstance(value, list) else value for name, value in row.items()
        }

    def to_dict(self, *, effect: bool | Effect = False) -> dict[str, Any]:
        """Return plain Python values under the attribute names.

        ``result`` (name of the class) and ``reject`` are included.  If ``effect``, the output of
        ``self.effect()`` is included, too, although it needs time to compute.  ``estimates`` are
        described by size (``n``), squared norm (``norm2``) and, if shrunk, by ``shrinkage`` and its
        unit (``amount``).
        """
        estimates: list[dict[str, Any]] = []
        for estimate in self.estimates:
            estimates.append({"n": estimate.n, "norm2": estimate.norm2()})
            if estimate.shrinkage is not None:
                amount = getattr(self.estimator, "amount", "amount")
                estimates[-1] |= {"shrinkage": plain(estimate.shrinkage), "amount": amount}
        return {
            "result": type(self).__name__,
            **{name: plain(getattr(self, name)) for name in _KEYS},
            "reject": self.reject(),
            "encodings": [
                None if encoding is None else encoding.to_dict() for encoding in self.encodings
            ],
            "estimates": estimates,
            **({"effect": self._effect(effect).to_dict()} if effect else {}),
            "null_distribution": self.null_distribution.tolist(),
        }

    def summary(self, *, effect: bool | Effect = False) -> Summary:
        """Return setup and result as a table, as text and as HTML in a notebook.

        If ``effect``, the table includes the effect (:meth:`effect`), which needs time to compute.
        """
        if not effect:
            return Summary.of(*self._tables(), notes=self.notes)
        size = self._effect(effect)
        notes = unique((*self.notes, *size.remarks))
        return Summary.of(*self._tables(), size.printed(), lines=size.lines(), notes=notes)

    def _effect(self, effect: bool | Effect) -> Effect:
        return self.effect() if isinstance(effect, bool) else effect  # type: ignore[no-any-return]

    def printed(self) -> Table:
        """Return setup and result as the summary prints them, a line for each value."""
        return self._tables()[0].stacked()

    def _tables(self) -> list[Table]:
        kind = self.kind
        setup = self.setup
        left = [("Null hypothesis:", kind.null), ("Method:", self.method)]
        if setup.estimator is not None:
            left += [("Estimator:", repr(setup.estimator)), ("Tuning:", setup.tuning)]
        if setup.kernel is not None:
            kernels = as_tuple(setup.kernel)
            labels = kind.kernel_names(len(kernels))
            labels = labels if len(kernels) == 1 else own_names(self.names, labels)
            named = [
                (f" {label}".rstrip(), kernel)
                for label, kernel in zip(labels, kernels, strict=True)
            ]
            left += [(f"Kernel{label}:", kernel.label) for label, kernel in named]
            left += [
                (f"Bandwidth{label}:", number(bandwidth_of(kernel))) for label, kernel in named
            ]
        left.append((f"No. {kind.unit}:", " + ".join(map(str, self.n_observations))))
        critical = math.nan if math.isnan(self.pvalue) else self.critical_value()
        pvalue, interval, *decision = self._decided()
        right = [
            *(
                ("Statistic:", number(self.statistic, ".6g", "none")),
                ("Form:", setup.form),
                pvalue,
                interval,
            ),
            (
                f"Critical ({self.alpha:g}):",
                "not known" if self.stopped else number(critical, ".6g", "none"),
            ),
            *(*decision, ("Kernel values:", setup.route)),
        ]
        title = kind.title if kind.has_kernel(setup.form) else f"{kind.name.capitalize()} test"
        tables = [side_by_side(title, left, right)]
        sizes = tuple(estimate.n for estimate in self.estimates)
        named_samples = any(self.names)
        shrunk = any(estimate.shrinkage is not None for estimate in self.estimates)
        if shrunk or (named_samples and len(sizes) > 1) or sizes not in ((), self.n_observations):
            labels = own_names(self.names, self._estimate_names())
            rows = [
                (a, str(e.n), number(e.shrinkage))
                for a, e in zip(labels, self.estimates, strict=True)
            ]
            tables.append(
                Table(
                    rows, "lr", ["", "n", getattr(setup.estimator, "amount", "amount")], gap="   "
                )
            )
        return tables

    def _estimate_names(self) -> tuple[str, ...]:
        return self.kind.estimate_names(len(self.estimates))

    def _decided(self, at: str = "") -> list[tuple[str, str]]:
        """Return the p-value, the decision ``at`` a level, and permutations for summaries."""
        low, high = self.pvalue_interval()
        interval = (
            "exact" if self.exact else "none" if math.isnan(low) else f"[{low:.4g}, {high:.4g}]"
        )
        decision = (
            "none" if math.isnan(self.pvalue) else "reject" if self.reject() else "do not reject"
        )
        drawn = f"{self.n_resamples} ({'all' if self.exact else 'random'})"
        if self.stopping is not None:
            drawn = f"{self.n_resamples} of {self.n_planned} (random)"
        return [
            ("p-value:", number(self.pvalue, unknown="none")),
            ("95% Monte Carlo:", interval),
            ("Decision:", f"{decision}{at}"),
            (f"{self.kind.resamples.capitalize()}:", drawn),
            ("Design:", self.restriction),
        ]


def clopper_pearson(successes: int, trials: int, confidence: float) -> tuple[float, float]:
    """Return confidence limits for the probability behind ``successes`` of ``trials``.

    They cover it with at least this confidence.

    C. J. Clopper and E. S. Pearson, The use of confidence or fiducial limits illustrated in the
    case of the binomial, Biometrika 26 (1934), 404-413, as quantiles of beta distributions.
    """
    from scipy.special import (
        betaincinv,
    )  # statsmodels has the interval too, and takes a second to import

    tail = (1.0 - confidence) / 2.0
    low = betaincinv(successes, trials - successes + 1, tail) if successes else 0.0
    high = 1.0 - betaincinv(trials - successes, successes + 1, tail) if successes < trials else 1.0
    return float(low), float(high)


# --- results of null distributions ----------------------------------------------------------------


def make_result(
    null: Null | None,
    data: TestData,
    setup: Setup = Setup(),  # noqa: B008  # frozen
    *,
    notes: Callable[[], tuple[str, ...]] = tuple,
    **fields: Any,
) -> TestResult:
    """Make the result of a null distribution; ``None`` if missing values propagate.

    ``notes`` returns those on the data, and is called when they are first read.
    """
    kind = kind_of(data.test).load("result")
    if null is None:
        return kind(UNKNOWN, data, setup, **fields)  # type: ignore[no-any-return]
    return kind(null, data, setup, **fields, notes=partial(_notes, null, setup, notes))  # type: ignore[no-any-return]


def _notes(null: Null, setup: Setup, notes: Callable[[], tuple[str, ...]]) -> tuple[str, ...]:
    shrunk = is_shrunk(null, setup)
    return (
        *notes(),
        *rounding_notes([null], shrunk=shrunk),
        *([note("shrunk-to-zero")] if shrunk else []),
    )


def is_shrunk(null: Null, setup: Setup) -> bool:
    """True if the statistic is 0 because the estimate was shrunk to that."""
    return null.observed == 0.0 and setup.squared_norm and not isinstance(setup.estimator, KME)


def rounding_notes(nulls: Sequence[Null], *, shrunk: bool = False) -> tuple[str, ...]:
    """Note on rounding that decides the p-value of one statistic, or of several together.

    A statistic that is constant takes nothing from the others; one that was ``shrunk`` to zero has
    another note.
    """
    drawn = [null for null in nulls if null.values.size]
    varying = [null for null in drawn if not null.constant]
    if varying:
        return (note("rounding"),) if all(null.lost for null in varying) else ()
    return (note("constant-statistic"),) if drawn and not shrunk else ()
