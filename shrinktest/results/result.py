"""TestResult: what a test found, with the null distribution it was judged by."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from shrinktest._check import level
from shrinktest._version import __version__
from shrinktest.embedding import MeanEmbedding
from shrinktest.permutations.stopping import Stopping, allowed_rows
from shrinktest.results.as_json import as_lists, kernel_entries, text_of, written
from shrinktest.results.base import Result
from shrinktest.results.interval import clopper_pearson
from shrinktest.results.kept import NOT_IN_JSON, Kept
from shrinktest.results.kinds import Kind, kind_of
from shrinktest.results.reading import (
    SCHEMA,
    Fitted,
    entry_of,
    number_of,
    read_json,
    rebuilt,
    shown_of,
    value_of,
)
from shrinktest.tables.encoding import Encoding

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from shrinktest.results.text import Summary


@functools.cache  # files are read, and a test may take less time than that
def _version(package: str) -> str:
    from importlib.metadata import version

    return version(package)


def versions() -> dict[str, str]:
    """Versions of this package and of those that its numbers depend on."""
    return {"shrinktest": __version__, **{name: _version(name) for name in ("numpy", "scipy", "numba")}}


@dataclass(frozen=True, eq=False)
class TestResult(Kept, Result):
    """Result of a test: statistic, p-value, null distribution and how they were computed.

    ``statistic, pvalue = result`` works.

    Attributes
    ----------
    statistic : float
        Squared MMD, or HSIC, of the estimates; for more than two, their mean squared distance or dHSIC.
    pvalue : float
        Permutation p-value, never 0; NaN with ``n_resamples=0`` or NaN data that propagate.
    null_distribution : ndarray, shape (n_resamples,)
        The statistic over the permutations; with ``exact`` these are all, the observed one included.  NaN where it is
        not known: in members of a combined test that ``from_json`` read.
    n_resamples : int
        Number of permutations in the null distribution; with ``stopping`` those that were drawn until it ended.
    exact : bool
        Whether all permutations were enumerated.
    test : str
        "two-sample", "independence", "k-sample" or "joint-independence"; for a statistic of your own, its name.
    form : str
        "biased" (V form, a squared norm) or "unbiased" (U form, may be negative).
    estimator : MeanEstimator
        As it was given.
    tuning : str
        What was tuned when: "sample", "joint", "pooled", or "fixed".
    kernel : Kernel or tuple of Kernel
        With the bandwidths that were used; one per variable for independence.
    bandwidth : float, tuple or None
        Bandwidth of the kernel or kernels; None where they have none.
    n_observations : tuple of int
        Sizes of the samples, or the number of pairs.
    alpha : float
        Level at which ``reject`` and ``summary`` decide.
    estimates : tuple of MeanEmbedding
        The fitted embeddings with their tuned amounts (for independence one, of the centred pairs).
    rng : dict
        Bit generator, seed entropy and state before the first draw: enough to draw the same permutations again.
    versions : dict
        Versions of the packages that computed it.
    notes : tuple of str
        What a reader should know: assumptions that may fail, what was left out.
    tolerance : float
        How far below the observed statistic a value still counts as equal to it.
    route : str
        How the kernel was evaluated: "dense" or "factor", which give the same answer, or "nystrom" or "rff".
    restriction : str
        Which permutations the design of the data allows, such as "within 12 blocks"; empty if all of them.
    stopping : Stopping or None
        The rule that could end the drawing; None without one, and where all permutations were enumerated.
    n_planned : int
        Permutations that would have been drawn without stopping.
    stopped : bool
        Whether the p-value is that of the rule, and not the rank of the statistic among all permutations.
    names : tuple of str or None
        Names of the samples, or of the variables, where the data have some.
    columns : tuple
        For all samples, or for every variable, the names of the columns of tables; None for arrays.
    encodings : tuple of Encoding or None
        How the columns of tables became numbers; in JSON, too: kinds, levels, units and what dates are counted from.
    method, assumption : str
        Where other variables are given (``given=``, ``covariates=``), how they were taken into account, and what must
        be true for the p-value to be valid; empty otherwise.
    again : Again, str or None
        The data and the statistics, to compute more about them; in a pickle only if ``keeps_data``.  A text says why
        they are missing.  A pickle without them is not free of data: ``estimates`` hold every row.
    stored : Effect or None
        The effect, where the result was read from JSON that has it.
    keeps_data : bool
        Whether they are (``with_data``).

    Examples
    --------
    >>> from shrinktest import two_sample_test
    >>> result = two_sample_test([1.2, 0.3, 0.5, 0.8], [2.1, 1.9, 3.0, 2.6])
    >>> round(result.pvalue, 4), result.n_resamples, result.exact  # all splits into four and four
    (0.0286, 35, True)
    >>> result.reject(alpha=0.01)
    False
    """

    __test__: ClassVar[bool] = False  # not a test class for pytest

    statistic: float
    pvalue: float
    null_distribution: np.ndarray
    n_resamples: int
    exact: bool
    test: str
    form: str
    estimator: Any
    tuning: str
    kernel: Any
    bandwidth: Any
    n_observations: tuple[int, ...]
    alpha: float
    estimates: tuple[MeanEmbedding, ...]
    rng: dict[str, Any]
    versions: dict[str, str]
    notes: tuple[str, ...] = ()
    tolerance: float = 0.0
    route: str = "dense"
    restriction: str = ""
    stopping: Stopping | None = None
    n_planned: int = 0
    stopped: bool = False
    names: tuple[str | None, ...] = ()
    columns: tuple[tuple[str, ...] | None, ...] = ()
    encodings: tuple[Encoding | None, ...] = ()
    method: str = ""
    assumption: str = ""
    again: Any = field(default=None, compare=False)  # results are equal with and without their data
    stored: Any = field(default=None, compare=False)
    keeps_data: bool = field(default=False, compare=False)

    def __iter__(self) -> Iterator[float]:
        return iter((self.statistic, self.pvalue))

    def __len__(self) -> int:
        return 2

    def __getitem__(self, index: int) -> float:
        return (self.statistic, self.pvalue)[index]

    def __repr__(self) -> str:
        found = f"{type(self).__name__}(statistic={self.statistic:.6g}, pvalue={self.pvalue:.6g}"
        return f"{found})" if self.estimator is None else f"{found}, estimator={self.estimator!r})"

    def __getattr__(self, name: str) -> Any:
        """Say why there is no such thing, for what only the result of a two-sample test has."""
        if name in ("witness", "witness_band", "plot_witness", "contributions"):
            raise AttributeError(f"a witness function compares two samples; {self.kind.described} has none")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def kind(self) -> Kind:
        """The words for this kind of test."""
        return kind_of(self.test)

    def estimate_names(self, count: int) -> tuple[str, ...]:
        """A name for each of ``count`` estimates."""
        return self.kind.estimate_names(count)

    def reject(self, alpha: float | None = None) -> bool:
        """Whether the test rejects at ``alpha`` (default: the result's): p <= alpha, which has exactly that level."""
        return bool(self.pvalue <= (self.alpha if alpha is None else level(alpha)))

    def critical_value(self, alpha: float | None = None) -> float:
        """The value that the statistic must exceed (by more than ties) to be rejected at ``alpha``.

        Infinity when there are too few permutations to reject at all; NaN when drawing stopped before the value was
        known, and where the null distribution is not known (``from_json``).
        """
        alpha = self.alpha if alpha is None else level(alpha)
        if self.stopped:
            return float("nan")
        ordered = np.sort(self.null_distribution)[::-1]
        rows = ordered.size + (not self.exact)
        # p <= alpha means: at most this many rows, the observed one among them, reach the statistic
        allowed = allowed_rows(alpha, rows)
        return float(ordered[allowed - (not self.exact)]) if allowed else float("inf")

    @property
    def exceedances(self) -> int:
        """Number of permutations whose statistic reaches the observed one, ties included."""
        if np.isnan(self.null_distribution).any():  # not known (from_json): the p-value is their share
            return round(self.pvalue * (self.n_resamples + (not self.exact))) - (not self.exact)
        return int((self.null_distribution >= self.statistic - self.tolerance).sum())

    def pvalue_interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Clopper-Pearson interval for the p-value that all permutations would give.

        It is the Monte Carlo uncertainty only: the p-value itself is valid for any number of permutations.  A single
        point when the null distribution is exact.  Where a rule stopped the drawing the same limits hold, with a little
        more confidence than asked for.  The statistic of a combination is itself made from the permutations drawn, so
        that its interval is a little too short: of 95% intervals 91 to 92% held the p-value of all permutations.
        """
        confidence = level(confidence, "confidence")
        if self.exact or self.n_resamples == 0 or np.isnan(self.pvalue):
            return self.pvalue, self.pvalue
        return clopper_pearson(self.exceedances, self.n_resamples, confidence)

    def to_dict(self, *, effect: bool = False) -> dict[str, Any]:
        """Plain Python values under the attribute names (embeddings as their size, amount and squared norm).

        Besides, for ``from_json``: ``result`` is the class, ``schema`` the number of this layout, ``kernel_label`` what
        tables call the kernel, and ``amount`` the unit of an embedding's shrinkage; with ``effect``, that of
        ``self.effect()``, which takes time to compute and is an error where there is none.
        """
        amount = getattr(self.estimator, "amount", "amount")
        found = {"effect": self.effect().to_dict()} if effect else {}
        return {
            "result": type(self).__name__,
            "schema": SCHEMA,
            "test": self.test,
            "statistic": self.statistic,
            "pvalue": self.pvalue,
            "reject": self.reject(),
            "alpha": self.alpha,
            "n_resamples": self.n_resamples,
            "exact": self.exact,
            "form": self.form,
            "estimator": text_of(self.estimator),
            "tuning": self.tuning,
            **kernel_entries(self),
            "n_observations": list(self.n_observations),
            "names": list(self.names),
            "columns": as_lists(self.columns),
            "encodings": [None if one is None else one.to_dict() for one in self.encodings],
            "estimates": [
                {"n": e.n, "shrinkage": e.shrinkage, "amount": amount, "norm2": e.norm2()} for e in self.estimates
            ],
            "notes": list(self.notes),
            "rng": self.rng,
            "versions": self.versions,
            "tolerance": self.tolerance,
            "route": self.route,
            "restriction": self.restriction,
            "stopping": text_of(self.stopping),
            "n_planned": self.n_planned,
            "stopped": self.stopped,
            "method": self.method,
            "assumption": self.assumption,
            **found,
            "null_distribution": self.null_distribution.tolist(),
        }

    def to_json(self, path: str | Path | None = None, *, effect: bool = False, **options: Any) -> str:
        """``to_dict`` as JSON, also written to ``path`` if one is given; ``options`` go to :func:`json.dumps`.

        JSON knows finite numbers only: NaN becomes null, an infinite amount of shrinkage the text "inf".
        """
        return written(self.to_dict(effect=effect), path, **options)

    @classmethod
    def from_json(cls, text: str) -> Any:
        """The result whose ``to_json`` the text is, of whatever class it was.

        Parameters
        ----------
        text : str
            What ``to_json`` of any test returned; ``TestResult.from_json`` reads all of them.

        Returns
        -------
        TestResult, TwoSampleResult, AggregateResult or MultipleTestsResult
            With all that JSON holds.  Kernels, estimators and rules for stopping come back as their text, which shows
            what they were and computes nothing, embeddings as their size, amount and norm, and times that are no
            numbers as text.  What needs more than that (the witness function, its band, contributions) is an error; a
            pickle has it.

        Raises
        ------
        TypeError
            If ``text`` is no text.
        ValueError
            If it is not the JSON of such a result, or was written by a later version.

        Examples
        --------
        >>> from shrinktest import TestResult, two_sample_test
        >>> text = two_sample_test([1.2, 0.3, 0.5, 0.8], [2.1, 1.9, 3.0, 2.6]).to_json()
        >>> result = TestResult.from_json(text)
        >>> result
        TwoSampleResult(statistic=1.09207, pvalue=0.0285714, estimator=KME())
        >>> result.reject(), result.to_json() == text
        (True, True)
        """
        return read_json(text, Result if cls is TestResult else cls)

    @classmethod
    def _of_json(cls, read: Mapping[str, Any], **rest: Any) -> Self:
        amounts = [entry["amount"] for entry in read["estimates"]]
        found = {field.name: entry_of(field, read[field.name]) for field in fields(cls) if field.name in read}
        count = read["n_resamples"]
        # members of a combined test have none there, which is not the same as none at all
        null = found.setdefault("null_distribution", np.full(count, np.nan))
        if len(null) != count:
            raise ValueError(f"null_distribution has {len(null)} entries for n_resamples={count}")
        found |= {
            **{name: number_of(read[name]) for name in ("statistic", "pvalue", "tolerance")},
            "estimator": shown_of(read["estimator"], amount=amounts[0] if amounts else "amount"),
            "kernel": shown_of(read["kernel"], read["kernel_label"], read["bandwidth"]),
            "stopping": shown_of(read["stopping"]),
            "again": NOT_IN_JSON,
            "stored": rebuilt(read["effect"]) if "effect" in read else None,
            "encodings": tuple(None if one is None else Encoding.of_dict(one) for one in read.get("encodings", ())),
            "estimates": tuple(
                Fitted(e["n"], value_of(e["shrinkage"]), number_of(e["norm2"])) for e in read["estimates"]
            ),
        }
        return cls(**(found | rest))

    def to_frame(self) -> pd.DataFrame:
        """One row for a table of results (pandas), without the null distribution."""
        import pandas as pd

        hidden = {"null_distribution", "rng", "versions", "estimates", "notes", "tolerance", "n_observations"}
        hidden |= {"assumption", "names", "columns", "encodings", "result", "schema", "kernel_label"}
        row = {name: value for name, value in self.to_dict().items() if name not in hidden}
        row["n_observations"] = " + ".join(map(str, self.n_observations))
        return pd.DataFrame([{name: str(v) if isinstance(v, list | tuple) else v for name, v in row.items()}])

    def summary(self, *, effect: bool = False) -> Summary:
        """What was done and what came out, as a table that prints as text and renders as HTML in a notebook.

        With ``effect``, also how large it is (:meth:`effect`), which takes time to compute.
        """
        from shrinktest.results.summary import summary

        return summary(self, self.effect() if effect else None)

    def plot_null(self, ax: Axes | None = None) -> Axes:
        """Histogram of the null distribution with the observed statistic and the critical value (matplotlib)."""
        from shrinktest.plots.null import plot_null

        return plot_null(self, ax)
