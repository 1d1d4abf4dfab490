"""AggregateResult: a test that combines several estimators, kernels or bandwidths."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shrinktest.estimators import KME
from shrinktest.notes import note
from shrinktest.results.base import as_tuple, bandwidth_of
from shrinktest.results.info import INDEPENDENCE
from shrinktest.results.paragraph import sources_of
from shrinktest.results.plots.pvalues import plot_members
from shrinktest.results.printing import Table, number, side_by_side
from shrinktest.results.references import cited, joined
from shrinktest.results.regions_result import regions_of
from shrinktest.results.result import TestResult
from shrinktest.results.witness import WitnessBand

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from shrinktest.results.effect import Effect

_MEMBER = (
    *(
        "estimator",
        "kernel",
        "bandwidth",
        "form",
        "tuning",
        "route",
        "statistic",
        "pvalue",
        "tolerance",
        "notes",
    ),
    "estimates",
)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class AggregateResult(TestResult):
    """Result of a test that combines several estimators, kernels or bandwidths.

    This is a :class:`TestResult` with members.  The witness function, its band and picture, and the
    contributions belong to the deciding member, ``best``.

    Attributes
    ----------
    null : Null
        ``statistic`` is minus the decimal logarithm of the smallest weighted p-value among the
        members.  These p-values come from gamma distributions with the moments of the statistics
        or, if there are fewer than a hundred permutations, from ranks.  ``pvalue`` is exact,
        because the statistic is ranked among its values in all permutations.
    setup : Setup
        ``estimator`` is the `Ensemble` of members with the kernels as they were passed; kernels and
        bandwidths are tuples with an entry for each member, and other values are joined by "/" if
        they differ.
    members : tuple of TestResult
        Results of the members from shared permutations; their p-values are not adjusted.
    adjusted : ndarray, shape (k,)
        p-values of the members, adjusted for their number (Westfall and Young); the smallest is
        ``pvalue``.
    decided : int
        Index of the member with the smallest weighted p-value.
    data, alpha, estimates, rng, notes, context
        As in a :class:`TestResult`, but only members have ``estimates``.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import two_sample_test
    >>> rng = np.random.default_rng(1)
    >>> X, Y = rng.normal(size=(30, 5)), 1.5 * rng.normal(size=(30, 5))
    >>> result = two_sample_test(
    ...     X, Y, estimator=["kme", "fkmse"], bandwidth=["median", "0.5 * median"], rng=0
    ... )
    >>> result.table[["estimator", "bandwidth", "pvalue", "adjusted"]].round(3)
      estimator  bandwidth  pvalue  adjusted
    0     KME()      3.339   0.007     0.007
    1   FKMSE()      3.339   0.006     0.006
    2     KME()      1.670   0.001     0.001
    3   FKMSE()      1.670   0.001     0.001
    """

    members: tuple[TestResult, ...]
    adjusted: np.ndarray
    decided: int = 0

    def __repr__(self) -> str:
        member = (
            ""
            if math.isnan(self.pvalue)
            else f", decided by member {self.decided}: {self._decider()}"
        )
        return (
            f"{type(self).__name__}(pvalue={self.pvalue:.6g}, {len(self.members)} members{member})"
        )

    def _decider(self) -> str:
        member = self.members[self.decided]
        return f"{member.estimator!r}, {' x '.join(kernel.label for kernel in _kernels_of(member))}"

    @property
    def best(self) -> TestResult:
        """The member with the smallest weighted p-value, which decided the test."""
        member = self.members[self.decided]
        context = self.context
        return replace(
            member, context=context.only(self.decided) if hasattr(context, "only") else context
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of ``table``, one per member.

        The columns are estimator, kernel, bandwidth, form, statistic, pvalue, ...; independence
        tests have ``kernel_x``, ``kernel_y``, ``bandwidth_x`` and ``bandwidth_y``.
        """
        rows = []
        for member, adjusted, spec in zip(
            self.members, self.adjusted.tolist(), self.estimator.members, strict=True
        ):
            kernels = _kernels_of(member)
            ends = [
                f"_{label.lower()}" if label else ""
                for label in self.kind.kernel_names(len(kernels))
            ]
            row = {"estimator": repr(member.estimator)}
            row |= {f"kernel{end}": kernel.label for end, kernel in zip(ends, kernels, strict=True)}
            row |= {
                f"bandwidth{end}": bandwidth_of(kernel)
                for end, kernel in zip(ends, kernels, strict=True)
            }
            row |= {name: getattr(member, name) for name in ("form", "statistic", "pvalue")}
            rows.append(row | {"adjusted": adjusted, "weight": spec.weight})
        return rows

    def to_frame(self) -> pd.DataFrame:
        """Return one row for a table of results (pandas), whereas ``table`` has members."""
        import pandas as pd

        return pd.DataFrame([self._row()])

    def to_dict(self, *, effect: bool | Effect = False) -> dict[str, Any]:
        """Return plain Python values, as of a `TestResult`.

        They include ``decided`` and a dictionary for each member.
        """
        members = []
        for member, row in zip(self.members, self.rows(), strict=True):
            values = member.to_dict()
            members.append(
                {name: values[name] for name in _MEMBER}
                | {n: row[n] for n in ("adjusted", "weight")}
            )
        return super().to_dict(effect=effect) | {"decided": self.decided, "members": members}

    def printed(self) -> Table:
        """Return the members as the summary prints them."""
        return self._tables()[1]

    def _tables(self) -> list[Table]:
        left = [
            ("Null hypothesis:", self.kind.null),
            ("Members:", str(len(self.members))),
            (f"No. {self.kind.unit}:", " + ".join(map(str, self.n_observations))),
            ("Form:", self.form),
            ("Method:", self.method),
        ]
        lines = []
        for i, row in enumerate(self.rows()):
            numbers = [number(row[name]) for name in ("statistic", "pvalue", "adjusted", "weight")]
            mark = "decided" if i == self.decided and not math.isnan(self.pvalue) else ""
            lines.append((row["estimator"], _kernels(self.members[i]), *numbers, mark))
        headers = ["", "kernel", "statistic", "p-value", "adjusted", "weight", ""]
        members = Table(lines, "llrrrrl", headers, gap="   ")
        return [
            side_by_side(f"{self.kind.title}, combined", left, self._decided(f" ({self.alpha:g})")),
            members,
        ]

    def _details(self) -> list[str]:
        estimators = tuple(dict.fromkeys(member.estimator for member in self.members))
        means = f"kernel means by {joined([*map(repr, estimators)])}{cited(sources_of(estimators))}"
        if estimators == (KME(),):
            means = "plain kernel means"
        kernels = dict.fromkeys(
            kernel.label for member in self.members for kernel in _kernels_of(member)
        )
        count = f"{len(self.members)} statistics{cited(self._statistic_sources())}"
        used = "kernel" if len(kernels) == 1 else "kernels"
        combined = self._bandwidth_sources()
        widths = f" with several bandwidths{cited(combined)}" if combined else ""
        ranked = "smallest of their weighted p-values, ranked among its values in all permutations"
        return [
            f"{count} of {means}",
            f"{used} {joined([*kernels])}{cited(sources_of(self.kernel))}{widths}",
            f"{ranked}{cited(('WY93',))}",
            self._draws_in_words(),
        ]

    def _finding(self) -> str:
        text = super()._finding()
        if math.isnan(self.pvalue):
            return text
        return f"{text}, decided by {self._decider()}"

    def _statistic_name(self) -> str:
        return "combined statistic"

    def _sources(self) -> Iterator[str]:
        yield from super()._sources()
        yield "WY93"
        yield from self._bandwidth_sources()

    def _bandwidth_sources(self) -> tuple[str, ...]:
        """Return keys of papers that combine bandwidths; empty if every kernel has only one."""
        if not any(map(_several_widths, zip(*map(_kernels_of, self.members), strict=True))):
            return ()
        return ("A22", "S23") if self.kind is INDEPENDENCE else ("S23",)

    def witness(self, points: Any) -> np.ndarray:
        """Return the witness function of the member that decided.

        See :meth:`TwoSampleResult.witness`.
        """
        return np.asarray(self.best.witness(points))

    def witness_band(self, points: Any = None, **options: Any) -> WitnessBand:
        """Return the witness function of the deciding member.

        See :meth:`TwoSampleResult.witness_band`.  A note names the member, because the band does
        not allow for the choice of the member by the data.
        """
        band: WitnessBand = self.best.witness_band(points, **options)
        return replace(band, notes=(*band.notes, note("witness-of-member", member=self._decider())))

    regions = regions_of

    def plot_witness(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw the witness function of the member that decided.

        See :meth:`TwoSampleResult.plot_witness`.
        """
        return self.best.plot_witness(ax, member=self._decider(), **options)

    def contributions(self, **options: Any) -> pd.DataFrame:
        """Return the contributions of columns to the member that decided.

        ``attrs["member"]`` names it.
        """
        table: pd.DataFrame = self.best.contributions(**options)
        table.attrs["member"] = self._decider()
        return table

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw raw and adjusted p-values of the members and the combined test."""
        return plot_members(
            self, ax, [f"{member.estimator!r}, {_kernels(member)}" for member in self.members]
        )


def _kernels_of(member: TestResult) -> tuple[Any, ...]:
    """Return the kernels of a member, one for each variable."""
    return as_tuple(member.kernel)


def _several_widths(kernels: tuple[Any, ...]) -> bool:
    """Return True if kernels of one variable differ only in their bandwidths."""
    named = {(kernel.label, repr(bandwidth_of(kernel))) for kernel in kernels}
    return len(named) > len({label for label, _ in named})


def _kernels(member: TestResult) -> str:
    """Return the kernels of a member with their bandwidths."""
    return " x ".join(
        f"{kernel.label} {number(bandwidth_of(kernel))}" for kernel in _kernels_of(member)
    )
