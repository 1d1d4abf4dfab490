"""AggregateResult: result of a test that combines several statistics."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shrinktest.notes import note
from shrinktest.results.base import TABLE
from shrinktest.results.printing import Table, known, number, side_by_side
from shrinktest.results.result import TestResult
from shrinktest.results.witness import WitnessBand

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from shrinktest.results.effect import Effect

_MEMBER = (
    *("estimator", "kernel", "bandwidth", "form", "tuning", "route", "statistic", "pvalue", "tolerance", "notes"),
    "estimates",
)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class AggregateResult(TestResult):
    """Result of a test that combines several estimators, kernels or bandwidths; ``statistic, pvalue = result`` works.

    It has all of a :class:`TestResult`, for the combined test, and the results of the members.  The witness function,
    its band and picture, and the contributions belong to the deciding member, ``best``.

    Attributes
    ----------
    null : Null
        ``statistic`` is minus the decimal logarithm of the smallest weighted p-value among the members, the p-values of
        gamma distributions with the moments of their statistics, or of fewer than a hundred permutations by ranks.
        ``pvalue`` is exact: the statistic is ranked among its values in all permutations.
    setup : Setup
        ``estimator`` is the `Ensemble` of members with the kernels as they were asked for; kernels and bandwidths
        are tuples with an entry for each member; other values are joined by "/" if they differ.
    members : tuple of TestResult
        Results of the members on the same permutations; their p-values are not adjusted.
    adjusted : ndarray, shape (k,)
        p-values of the members, adjusted for their number (Westfall and Young, step-down).  The smallest is
        ``pvalue``.
    decided : int
        Index of the member with the smallest weighted p-value.
    data, alpha, rng, notes, context
        As in a :class:`TestResult`.
    estimates
        Empty: the members have them.

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

    table = TABLE

    def __repr__(self) -> str:
        # not with the p-value of the member that decided, which is not the answer
        member = "" if np.isnan(self.pvalue) else f", decided by member {self.decided}: {self._decider()}"
        return f"{type(self).__name__}(pvalue={self.pvalue:.6g}, {len(self.members)} members{member})"

    def _decider(self) -> str:
        member = self.members[self.decided]
        kernels = member.kernel if isinstance(member.kernel, tuple) else (member.kernel,)
        return f"{member.estimator!r}, {' x '.join(kernel.label for kernel in kernels)}"

    @property
    def best(self) -> TestResult:
        """The member with the smallest weighted p-value: the one that decided."""
        member, context = self.members[self.decided], self.context
        return replace(member, context=context.only(self.decided) if hasattr(context, "only") else context)

    def rows(self) -> list[dict[str, Any]]:
        """Rows of ``table``, one a member: estimator, kernel, bandwidth, form, statistic, pvalue, adjusted, weight.

        For independence both variables have a kernel and a bandwidth: kernel_x, kernel_y, bandwidth_x,
        bandwidth_y; of several variables they are numbered: kernel_0, kernel_1, and so on.
        """
        weighted = zip(self.members, self.adjusted.tolist(), self.estimator.members, strict=True)
        return [self._row(member, adjusted, spec.weight) for member, adjusted, spec in weighted]

    def _row(self, member: TestResult, adjusted: float, weight: float) -> dict[str, Any]:
        kernels = member.kernel if isinstance(member.kernel, tuple) else (member.kernel,)
        names = [f"_{name.lower()}" if name else "" for name in self.kind.kernel_names(len(kernels))]
        named = list(zip(names, kernels, strict=True))
        return {
            "estimator": repr(member.estimator),
            **{f"kernel{name}": kernel.label for name, kernel in named},
            **{f"bandwidth{name}": getattr(kernel, "bandwidth", None) for name, kernel in named},
            **{name: getattr(member, name) for name in ("form", "statistic", "pvalue")},
            "adjusted": adjusted,
            "weight": weight,
        }

    def to_frame(self) -> pd.DataFrame:
        """Return one row for a table of results (pandas); ``table`` has one for every member."""
        import pandas as pd

        return pd.DataFrame([self.row()])

    def to_dict(self, *, effect: bool | Effect = False) -> dict[str, Any]:
        """Return plain Python values, as of a `TestResult`, with ``decided`` and a dictionary for each member."""
        members = []
        for member, row in zip(self.members, self.rows(), strict=True):
            values = member.to_dict()
            member_row = {name: values[name] for name in _MEMBER}
            members.append(member_row | {name: row[name] for name in ("adjusted", "weight")})
        return super().to_dict(effect=effect) | {"decided": self.decided, "members": members}

    def _tables(self) -> list[Table]:
        left = [
            ("Null hypothesis:", self.kind.null),
            ("Members:", str(len(self.members))),
            (f"No. {self.kind.unit}:", " + ".join(map(str, self.n_observations))),
            ("Form:", self.form),
            *([("Method:", self.method)] if self.method else []),
        ]
        right = [
            ("p-value:", known(self.pvalue)),
            ("95% Monte Carlo:", self._interval()),
            ("Decision:", f"{self._decision()} ({self.alpha:g})"),
            ("Permutations:", self._drawn()),
            *([("Design:", self.restriction)] if self.restriction else []),
        ]
        lines = []
        for i, row in enumerate(self.rows()):
            kernels = [name for name in row if name.startswith("kernel")]
            widths = [number(row[name.replace("kernel", "bandwidth")]) for name in kernels]
            label = " x ".join(f"{row[name]} {width}" for name, width in zip(kernels, widths, strict=True))
            numbers = [number(row[name]) for name in ("statistic", "pvalue", "adjusted", "weight")]
            mark = "decided" if i == self.decided and not np.isnan(self.pvalue) else ""
            lines.append((row["estimator"], label, *numbers, mark))
        headers = ["", "kernel", "statistic", "p-value", "adjusted", "weight", ""]
        members = Table(lines, "llrrrrl", headers, gap="   ")
        return [side_by_side(f"{self.kind.title}, combined", left, right), members]

    # --- of the member that decided -----------------------------------------------------------------------

    def witness(self, points: Any) -> np.ndarray:
        """The witness function of the member that decided, at ``points`` (m, d), shape (m,)."""
        return np.asarray(self.best.witness(points))

    def witness_band(self, points: Any = None, **options: Any) -> WitnessBand:
        """The witness function of the member that decided with its band; see :meth:`TwoSampleResult.witness_band`.

        A note names the member.  The data chose it, which the band does not allow for.
        """
        band: WitnessBand = self.best.witness_band(points, **options)
        return replace(band, notes=(*band.notes, note("witness-of-member", member=self._decider())))

    def plot_witness(self, ax: Axes | None = None, **options: Any) -> Axes:
        """The witness function of the member that decided; see :meth:`TwoSampleResult.plot_witness` (matplotlib)."""
        return self.best.plot_witness(ax, member=self._decider(), **options)

    def contributions(self, **options: Any) -> pd.DataFrame:
        """Return each coordinate's contribution to the statistic of the member that decided (pandas).

        ``contributions().attrs["member"]`` names the member; see :meth:`TwoSampleResult.contributions`.
        """
        table: pd.DataFrame = self.best.contributions(**options)
        table.attrs["member"] = self._decider()
        return table

    # --- pictures -----------------------------------------------------------------------------------------

    def plot_null(self, ax: Axes | None = None) -> Axes:
        """Histogram of the combined statistic over the permutations, with the observed and the critical value."""
        ax = super().plot_null(ax)
        ax.set_xlabel("-log10 of the smallest weighted p-value")
        ax.set_title(f"{self.test} test, {len(self.members)} statistics combined")
        return ax

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the p-values of the members, raw and adjusted, and of the combined test (matplotlib)."""
        from shrinktest.plots.pvalues import plot_members

        return plot_members(self, ax)
