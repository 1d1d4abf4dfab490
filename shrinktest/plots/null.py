"""The null distribution and the observed statistic."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shrinktest.plots.axes import BLUE, GREY, ORANGE, axes, title

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from shrinktest.results.result import TestResult


_FAR = 1.5  # times the range of the null distribution
_ROOM = 0.3  # of that range, for the arrow


def plot_null(result: TestResult, ax: Axes | None = None) -> Axes:
    """Histogram of the null distribution, the observed statistic and the critical value.

    A statistic far beyond the null distribution would leave a sliver of it: an arrow at the edge then points there.
    """
    if result.n_resamples == 0 and np.isnan(result.statistic):
        raise ValueError("values are missing, and their p-value of nan has no null distribution to plot")
    if result.n_resamples == 0:
        raise ValueError("n_resamples=0 leaves no null distribution to plot; run the test with some permutations")
    if np.isnan(result.null_distribution).all():
        raise ValueError(
            "this member was read from the JSON of a combined test, which does not hold the null distributions of its "
            "members; run a test of this member by itself, or pickle the result"
        )
    ax = axes(ax)
    values = result.null_distribution
    spread = float(np.ptp(values)) > 0.0
    kind = f"all {values.size}" if result.exact else f"{values.size} random"
    if result.stopping is not None:
        kind = f"{values.size} of {result.n_planned} random"
    ax.hist(values, bins="auto" if spread else 1, color=GREY, alpha=0.55, label=f"{kind} permutations")
    form = f" ({result.form} form)" if result.form else ""
    critical = result.critical_value()
    if np.isfinite(critical):
        ax.axvline(critical, color=BLUE, linestyle="--", label=f"critical value at level {result.alpha:g}")
    ax.axvline(
        result.statistic, color=ORANGE, linewidth=2, label=f"observed: {result.statistic:.4g}, p = {result.pvalue:.4g}"
    )
    shown = [*values, *([critical] if np.isfinite(critical) else [])]
    _point_beyond(ax, result.statistic, float(np.min(shown)), float(np.max(shown)))
    ax.set_xlabel(f"{result.kind.statistic} statistic{form}".strip())
    ax.set_ylabel("number of permutations")
    if ax.get_yscale() == "linear":  # other scales of axes of the user's have ticks of their own
        ax.locator_params(axis="y", integer=True)
    title(ax, f"{result.test} test" + ("" if result.estimator is None else f", {result.estimator!r}"), "large")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(edgecolor="none", framealpha=0.85)  # lines may cross it
    return ax


def _point_beyond(ax: Axes, observed: float, low: float, high: float) -> None:
    """Leave an observed value outside, and say where it is, if it is further from the others than they reach."""
    reach = high - low
    right = observed > high
    if not reach > 0.0 or max(observed - high, low - observed) <= _FAR * reach:
        return
    edges = (low - 0.05 * reach, high + _ROOM * reach) if right else (low - _ROOM * reach, high + 0.05 * reach)
    ax.set_xlim(*edges)
    arrow = {"arrowstyle": "-|>", "color": ORANGE, "linewidth": 2}
    tip, tail, beside, side = (1.0, 0.9, 0.99, "right") if right else (0.0, 0.1, 0.01, "left")
    ax.annotate("", xy=(tip, 0.5), xytext=(tail, 0.5), xycoords="axes fraction", arrowprops=arrow)
    ax.text(beside, 0.53, f"{observed:.4g}", transform=ax.transAxes, color=ORANGE, ha=side, va="bottom")
