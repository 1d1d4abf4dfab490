"""AggregateResult: what a test that combines several statistics found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from shrinktest.results.kinds import TWO_SAMPLE
from shrinktest.results.reading import Shown, number_of, numbers_of, rebuilt
from shrinktest.results.result import TestResult

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from shrinktest.results.text import Summary


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class AggregateResult(TestResult):
    """Result of a test that combines several estimators, kernels or bandwidths; ``statistic, pvalue = result`` works.

    All of a :class:`TestResult`, of the combined test, and what the members found.

    Attributes
    ----------
    statistic : float
        Minus the decimal logarithm of the smallest weighted p-value among the members, those of gamma distributions
        with the moments of their statistics, or of fewer than a hundred permutations by ranks.
    pvalue : float
        p-value of the combined test, exact: the statistic is ranked among those of all permutations.
    null_distribution : ndarray, shape (n_resamples,)
        The combined statistic over the permutations.
    estimator : Collection
        The members with the kernels as they were asked for.
    kernel, bandwidth : tuple
        Kernels and bandwidths of the members, as they were used.
    form, tuning, route : str
        Values for the members; joined by "/" where they differ.
    members : tuple of TestResult
        What every member found on the same permutations; their p-values are not adjusted.
    adjusted : ndarray, shape (k,)
        p-values of the members adjusted for there being several (Westfall and Young, step-down).  The smallest is
        ``pvalue``.
    decided : int
        Which of the members has the smallest weighted p-value.
    test, exact, n_resamples, n_planned, n_observations, restriction, alpha, rng, versions, notes, names, columns
        As in a :class:`TestResult`.
    method, assumption, encodings, again, stored, keeps_data
        As in a :class:`TestResult`.
    estimates, tolerance, stopping, stopped
        Empty, 0, None and False: the members have estimates and tolerances, and the drawing is never stopped early.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import two_sample_test
    >>> rng = np.random.default_rng(1)
    >>> X, Y = rng.normal(size=(30, 5)), 1.5 * rng.normal(size=(30, 5))
    >>> result = two_sample_test(X, Y, estimator=["kme", "fkmse"], bandwidth=["median", "0.5 * median"], rng=0)
    >>> result.table[["estimator", "bandwidth", "pvalue", "adjusted"]].round(3)
      estimator  bandwidth  pvalue  adjusted
    0     KME()      3.339   0.007     0.007
    1   FKMSE()      3.339   0.006     0.006
    2     KME()      1.670   0.001     0.001
    3   FKMSE()      1.670   0.001     0.001
    >>> result.reject()
    True
    """

    members: tuple[TestResult, ...]
    adjusted: np.ndarray
    decided: int = 0

    def __repr__(self) -> str:
        found, kernel = f"{type(self).__name__}(pvalue={self.pvalue:.6g}, {len(self.members)} members", self.best.kernel
        if np.isnan(self.pvalue):
            return f"{found})"
        kernels = " x ".join(one.label for one in (kernel if isinstance(kernel, tuple) else (kernel,)))
        # not with the p-value of that member, which is not the answer
        return f"{found}, decided by member {self.decided}: {self.best.estimator!r}, {kernels})"

    @property
    def best(self) -> TestResult:
        """The member with the smallest weighted p-value: the one that decided."""
        return self.members[self.decided]

    @property
    def table(self) -> pd.DataFrame:
        """The members (pandas): estimator, kernel, bandwidth, form, statistic, pvalue, adjusted, weight.

        For independence kernel and bandwidth are those of both variables: kernel_x, kernel_y, bandwidth_x,
        bandwidth_y; of several variables they are numbered: kernel_0, kernel_1, and so on.
        """
        import pandas as pd

        return pd.DataFrame(self.rows())

    def rows(self) -> list[dict[str, Any]]:
        """The rows of ``table``."""
        return [self._row(i) for i in range(len(self.members))]

    def _row(self, i: int) -> dict[str, Any]:
        member = self.members[i]
        kernels = member.kernel if isinstance(member.kernel, tuple) else (member.kernel,)
        suffixes = [f"_{name.lower()}" if name else "" for name in self.kind.kernel_names(len(kernels))]
        named = list(zip(suffixes, kernels, strict=True))
        names: dict[str, Any] = {f"kernel{suffix}": kernel.label for suffix, kernel in named}
        names |= {f"bandwidth{suffix}": getattr(kernel, "bandwidth", None) for suffix, kernel in named}
        return {
            "estimator": repr(member.estimator),
            **names,
            "form": member.form,
            "statistic": member.statistic,
            "pvalue": member.pvalue,
            "adjusted": float(self.adjusted[i]),
            "weight": self.estimator.members[i].weight,
        }

    def witness(self, points: Any) -> np.ndarray:
        """Of two samples: the witness function of the member that decided, at ``points`` (m, d), shape (m,)."""
        return np.asarray(self.best.witness(points))

    def __getattr__(self, name: str) -> Any:
        if name in ("witness_band", "plot_witness", "contributions") and self.kind == TWO_SAMPLE:
            raise AttributeError(
                "the band, the contributions and the picture of a combined test would be those of the member that the "
                "data chose, and not exact; run two_sample_test with one estimator and one bandwidth, chosen beforehand"
            )
        return super().__getattr__(name)

    def to_dict(self, *, effect: bool = False) -> dict[str, Any]:
        """Plain Python values under the attribute names; the members without their null distributions."""
        out = super().to_dict(effect=effect)
        hidden = {"null_distribution", "rng", "versions", "test", "alpha", "n_resamples", "exact", "n_observations"}
        hidden |= {"schema", "encodings"}
        members = [{k: v for k, v in member.to_dict().items() if k not in hidden} for member in self.members]
        for i, member in enumerate(members):
            member |= {"adjusted": float(self.adjusted[i]), "weight": self.estimator.members[i].weight}
        out |= {"decided": self.decided, "members": members}
        return out

    @classmethod
    def _of_json(cls, read: Mapping[str, Any], **rest: Any) -> Self:
        members = read["members"]
        kept = {name: entry for name, entry in read.items() if name not in ("null_distribution", "effect")}
        weighted = tuple(Shown(member["estimator"], weight=number_of(member["weight"])) for member in members)
        return super()._of_json(
            read,
            estimator=Shown(read["estimator"], members=weighted),
            members=tuple(rebuilt(kept | member) for member in members),
            adjusted=numbers_of(member["adjusted"] for member in members),
            **rest,
        )

    def to_frame(self) -> pd.DataFrame:
        """One row for a table of results (pandas); ``table`` has one for every member."""
        return super().to_frame().drop(columns=["decided", "members"])

    def summary(self, *, effect: bool = False) -> Summary:
        """The combined statistics and the results, as a table that prints as text and renders as HTML in a notebook.

        With ``effect``, also how large it is (:meth:`effect`), which takes time to compute.
        """
        from shrinktest.results.summary import aggregate_summary

        return aggregate_summary(self, self.effect() if effect else None)

    def plot_null(self, ax: Axes | None = None) -> Axes:
        """Histogram of the combined statistic over the permutations, with the observed and the critical value."""
        ax = super().plot_null(ax)
        ax.set_xlabel("-log10 of the smallest weighted p-value")
        ax.set_title(f"{self.test} test, {len(self.members)} statistics combined")
        return ax

    def plot(self, ax: Axes | None = None) -> Axes:
        """p-values of the members, as they are and adjusted, and that of the combined test (matplotlib)."""
        from shrinktest.plots.members import plot_members

        return plot_members(self, ax)
