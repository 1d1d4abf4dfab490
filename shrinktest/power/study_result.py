"""PowerStudyResult: rejection rates with intervals, and paired comparisons."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from shrinktest._check import choice, level, output_path
from shrinktest.permutations.stopping import Curtailed, Stopping
from shrinktest.power.compared import AnyTest, permutes
from shrinktest.power.designs import Design
from shrinktest.power.trials import Row
from shrinktest.results.base import Result
from shrinktest.results.info import KINDS
from shrinktest.results.paragraph import software, sources_of
from shrinktest.results.printing import Summary, Table

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_ERROR = 0.05  # of every interval: they cover 95%


class StudyResult(Result):
    """Result of a study of several estimators, whose ``table`` has rates or means."""

    estimators: Mapping[str, Any]

    def check_labels(self, a: str, b: str) -> None:
        """Raise ValueError unless two labels are of this study."""
        for name, label in (("a", a), ("b", b)):
            choice(label, tuple(self.estimators), name)

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of ``to_frame``, as dictionaries."""
        return self.to_frame().to_dict("records")  # type: ignore[no-any-return]

    def _sources(self) -> Iterator[str]:
        for estimator in self.estimators.values():
            yield from sources_of(estimator)

    def to_csv(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """Return ``to_frame`` as CSV, or None if it is written to a file."""
        target = path if path is None or hasattr(path, "write") else output_path(path, "path")
        return self.to_frame().to_csv(target, index=False, lineterminator="\n")


def first_to_last(values: Iterable[int]) -> str:
    """Return the smallest and the largest number in words."""
    ordered = sorted(set(values))
    return " to ".join(map(str, ordered[:: len(ordered) - 1 or 1]))


@dataclass(frozen=True, eq=False, repr=False)
class PowerStudyResult(StudyResult):
    """Power and Type I error rate of every test, with Clopper-Pearson intervals.

    Attributes
    ----------
    pvalues : DataFrame
        One row per test, with columns n, null, trial, estimator, pvalue and seconds.
    design : Design
        The source of the data, as it was passed to the study.
    estimators : dict
        Labels and estimators, or other tests.
    alphas : tuple of float
        Significance levels, in ascending order.
    n_resamples : int or inf
        Number of permutations per test.
    seed : int
        Seed of the study; ``power_study(..., rng=seed)`` repeats it.
    stopping : Stopping or None
        The rule by which the tests drew fewer permutations.

    Examples
    --------
    >>> from shrinktest.power import power_study
    >>> study = {"n_trials": 50, "n_resamples": 99, "workers": 1, "rng": 0}
    >>> result = power_study("mean-shift", ["kme", "skmse"], [10, 30], **study)
    >>> result.table.round(3)[["estimator", "n", "alpha", "power", "low", "high", "trials"]]
      estimator   n  alpha  power    low   high  trials
    0       kme  10   0.05   0.16  0.072  0.291      50
    1       kme  30   0.05   0.70  0.554  0.821      50
    2     skmse  10   0.05   0.18  0.086  0.314      50
    3     skmse  30   0.05   0.70  0.554  0.821      50
    """

    pvalues: pd.DataFrame
    design: Design
    estimators: Mapping[str, Any]
    alphas: tuple[float, ...]
    n_resamples: float
    seed: int
    stopping: Stopping | None = None

    @classmethod
    def from_rows(cls, rows: Iterable[Row], *, estimators: Mapping[str, Any], **study: Any) -> Self:
        """Make the result of the rows of a store, in any order."""
        import pandas as pd

        place = {label: i for i, label in enumerate(estimators)}
        ordered = sorted(rows, key=lambda row: (*row[:3], place[row[3]]))
        pvalues = pd.DataFrame(
            ordered, columns=["n", "null", "trial", "estimator", "pvalue", "seconds"]
        )
        return cls(pvalues=pvalues.astype({"null": bool}), estimators=estimators, **study)

    def __repr__(self) -> str:
        sizes, trials = (sorted(set(self.pvalues[name])) for name in ("n", "trial"))
        return (
            f"PowerStudyResult({self.design!r}, estimators={list(self.estimators)}, n={sizes}, "
            f"trials={len(trials)})"
        )

    @property
    def table(self) -> pd.DataFrame:
        """Power table (pandas).

        The columns are design, estimator, n, alpha, power, low, high, trials and seconds (mean time
        per test).
        """
        return self._rates(null=False)

    @property
    def size_table(self) -> pd.DataFrame:
        """Type I error rates, which are the rejection rates of the null twin.

        The layout is that of ``table``, with ``level`` for ``power``.
        """
        return self._rates(null=True).rename(columns={"power": "level"})

    def _rates(self, null: bool) -> pd.DataFrame:
        import pandas as pd

        tests = self.pvalues[self.pvalues["null"] == null]
        design = repr(self.design)
        rows = [
            {
                "design": design,
                "estimator": label,
                "n": n,
                "alpha": alpha,
                "seconds": cell["seconds"].mean(),
            }
            | rejection_rate(int((cell["pvalue"] <= alpha).sum()), len(cell))
            for label in self.estimators
            for n, cell in tests[tests["estimator"] == label].groupby("n")
            for alpha in self.alphas
        ]
        columns = ["design", "estimator", "n", "alpha", "power", "low", "high", "trials", "seconds"]
        return pd.DataFrame(rows, columns=columns)

    def _at(self, alpha: float | None) -> Self:
        """Return the result at one level, by default the smallest."""
        alpha = self.alphas[0] if alpha is None else level(alpha)
        if isinstance(self.stopping, Curtailed) and alpha not in self.stopping.alphas:
            levels = ", ".join(f"{level:g}" for level in self.stopping.alphas)
            raise ValueError(
                f"the tests stopped once decided at {levels}; their decisions at alpha={alpha:g} "
                "are not known"
            )
        return replace(self, alphas=(alpha,))

    def difference(self, a: str, b: str, alpha: float | None = None) -> pd.DataFrame:
        """Difference in the powers of two tests, with interval and p-value.

        The comparison is paired over the trials of the design.

        Parameters
        ----------
        a, b : str
            Labels of two estimators or tests.
        alpha : float, optional
            Significance level of the tests; default all of the study.

        Returns
        -------
        DataFrame
            For every n and alpha: trials in which ``both`` rejected, ``only_a``, ``only_b``,
            ``neither``; the ``difference`` in the powers, a - b, and its 95% interval ``low``,
            ``high``, which inverts the score test for paired proportions [T98]; the p-value of the
            exact McNemar test that the powers are equal; and ``p_holm``, adjusted for all rows of
            the table (Holm).

        Raises
        ------
        ValueError
            If a label or the level is not one of the study.

        References
        ----------
        .. [T98] Tango, "Equivalence test and confidence interval for the difference in proportions
           for the paired-sample design", Stat. Med. 17, 1998.

        Examples
        --------
        >>> from shrinktest.power import designs, power_study
        >>> study = {"n_trials": 50, "n_resamples": 99, "with_null": False, "workers": 1, "rng": 0}
        >>> result = power_study(designs.ScaleChange(dimension=20), ["kme", "skmse"], 25, **study)
        >>> table = result.difference("skmse", "kme")
        >>> table[
        ...     ["both", "only_a", "only_b", "neither", "difference", "low", "high", "pvalue"]
        ... ].round(3)
           both  only_a  only_b  neither  difference    low   high  pvalue
        0    19       5       0       26         0.1  0.022  0.214   0.062
        """
        import pandas as pd
        from statsmodels.stats.contingency_tables import mcnemar
        from statsmodels.stats.multitest import multipletests

        self.check_labels(a, b)
        alphas = self.alphas if alpha is None else self._at(alpha).alphas
        tests = self.pvalues[~self.pvalues["null"]]
        paired = tests.pivot(index=["n", "trial"], columns="estimator", values="pvalue")
        rows = []
        for n, cell in paired.groupby(level="n"):
            for threshold in alphas:
                in_a = cell[a] <= threshold
                in_b = cell[b] <= threshold
                counts = [
                    int(both.sum())
                    for both in (in_a & in_b, in_a & ~in_b, ~in_a & in_b, ~in_a & ~in_b)
                ]
                pvalue = float(mcnemar(np.reshape(counts, (2, 2)), exact=True).pvalue)
                rows.append((n, threshold, *counts, *paired_difference(*counts), pvalue))
        columns = [
            "n",
            "alpha",
            "both",
            "only_a",
            "only_b",
            "neither",
            "difference",
            "low",
            "high",
            "pvalue",
        ]
        out = pd.DataFrame(rows, columns=columns)
        out["p_holm"] = multipletests(out["pvalue"], method="holm")[1]
        return out

    def plot(self, ax: Axes | None = None, alpha: float | None = None) -> Axes:
        """Draw power curves with intervals and, dashed, Type I error rates (matplotlib).

        They are at ``alpha``, by default the smallest level of the study.
        """
        from shrinktest.results.plots.studies import plot_power

        return plot_power(self._at(alpha), ax, KINDS[self.design.test].counted)

    def to_frame(self) -> pd.DataFrame:
        """Return all rates, of the design and of its null twin.

        The columns are design, estimator, n, alpha, null, power (Type I error rate, if null), low,
        high and trials.
        """
        import pandas as pd

        nulls = [null for null in (False, True) if (self.pvalues["null"] == null).any()]
        rates = pd.concat(
            [self._rates(null).assign(null=null) for null in nulls], ignore_index=True
        )
        return rates[
            ["design", "estimator", "n", "alpha", "null", "power", "low", "high", "trials"]
        ]

    def summary(self) -> Summary:
        """Return the settings, and power and Type I error rates with intervals, as text."""
        powers = self._rates(False)
        keys = ["estimator", "n", "alpha"]
        levels = self._rates(True).set_index(keys)
        rows = []
        for _, power in powers.iterrows():
            key = tuple(power[keys])
            null = _shown(levels.loc[key]) if key in levels.index else ["-", "-"]
            rows.append(
                [key[0], str(key[1]), f"{key[2]:g}", *_shown(power), *null, str(power["trials"])]
            )
        others = any(isinstance(test, AnyTest) for test in self.estimators.values())
        drawn = (
            f"Permutations:  {self.n_resamples}{f', {self.stopping}' if self.stopping else ''}; "
            f"seed {self.seed}"
        )
        head = (
            f"Power of {self.design.test} tests"
            if others
            else f"Power of the kernel {self.design.test} test",
            f"Design:        {self.design!r}",
            f"Trials:        {first_to_last(powers['trials'])} per sample size, paired",
            drawn
            if any(map(permutes, self.estimators.values()))
            else f"Seed:          {self.seed}",
            "Intervals:     95% Clopper-Pearson",
        )
        names = ["", "n", "alpha", "power", "95% interval", "level", "95% interval", "trials"]
        return Summary.of(Table(rows, "lr", names, gap="  ", heads="r"), head=head)

    def _sources(self) -> Iterator[str]:
        yield from super()._sources()
        yield "CP34"

    def paragraph(self, alpha: float | None = None) -> str:
        """Return two to four sentences for a protocol or an article.

        The rates are at ``alpha``, by default the smallest level of the study.
        """
        at = self._at(alpha)
        sizes = sorted(set(self.pvalues["n"]))
        powers = at.table
        levels = at.size_table["level"]
        clauses = []
        for label in self.estimators:
            rates = [
                f"{rate_words(row)} at n = {row['n']}"
                for _, row in powers.query("estimator == @label").iterrows()
            ]
            clauses.append(f"{label} {' and '.join(rates[:: len(rates) - 1 or 1])}")
        permuted = (
            f" with {self.n_resamples} permutations each"
            if any(map(permutes, self.estimators.values()))
            else ""
        )
        null = (
            f" Without an effect, the tests rejected in {levels.min():.1%} to {levels.max():.1%} "
            f"of data sets."
        )
        kind = KINDS[self.design.test]
        return (
            f"Power was estimated by simulation: {powers['trials'].max()} data sets at each sample "
            "size (n = "
            f"{', '.join(map(str, sizes))} {self.design.unit or kind.counted}) from "
            f"{self.design.described} were "
            f"tested at level {at.alphas[0]:g} by {kind.described}{permuted}. Power with 95% "
            "intervals: "
            f"{'; '.join(clauses)}."
            f"{null if len(levels) else ''} {software(self.versions, f'seed {self.seed}')}."
        )


def rejection_rate(rejected: int, trials: int) -> dict[str, Any]:
    """Return the power in some trials with its interval (Clopper and Pearson)."""
    from statsmodels.stats.proportion import proportion_confint

    low, high = proportion_confint(rejected, trials, alpha=_ERROR, method="beta")
    return {"power": rejected / trials, "low": float(low), "high": float(high), "trials": trials}


def _shown(rate: Any) -> list[str]:
    return [f"{rate['power']:.3f}", f"[{rate['low']:.3f}, {rate['high']:.3f}]"]


def rate_words(rate: Any) -> str:
    """Return a rate and its interval in percent."""
    return f"{100 * rate['power']:.1f}% [{100 * rate['low']:.1f}%, {100 * rate['high']:.1f}%]"


def paired_difference(
    both: int, only_a: int, only_b: int, neither: int
) -> tuple[float, float, float]:
    """Return the difference of two paired proportions and its score interval.

    The interval is by the score test of [T98] section 3.
    """
    from scipy.optimize import brentq
    from scipy.stats import norm

    n = both + only_a + only_b + neither
    net = only_a - only_b
    if net < 0:
        difference, low, high = paired_difference(both, only_b, only_a, neither)
        return -difference, -high, -low
    far = float(norm.ppf(1.0 - _ERROR / 2.0)) ** 2

    def beyond(value: float) -> float:
        """Return a number above 0 if the test rejects that the difference is ``value``."""
        # the share of trials in which b alone rejects, as likely as it can be if this is the
        # difference
        linear = (2.0 * n - net) * value - only_a - only_b
        share = (max(0.0, linear**2 + 8.0 * n * only_b * value * (1.0 - value)) ** 0.5 - linear) / (
            4.0 * n
        )
        return float((net - n * value) ** 2 - far * n * (2.0 * share + value * (1.0 - value)))

    # at the estimate, without discordant trials, it is zero and not below: hence the small step
    estimate = net / n
    step = 1e-9
    low = brentq(beyond, -1.0, estimate - step)
    return estimate, float(low), 1.0 if net == n else float(brentq(beyond, estimate + step, 1.0))
