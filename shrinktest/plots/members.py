"""What the members of a combined test found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shrinktest.plots.axes import BLUE, GREY, ORANGE, axes, legend_below, title

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from shrinktest.results.aggregate import AggregateResult


_MEMBERS = 25  # names that fit one below the other


def plot_members(result: AggregateResult, ax: Axes | None = None) -> Axes:
    """p-values of the members, adjusted and not, on a logarithmic scale; the adjusted one of the best is overall."""
    if result.n_resamples == 0:
        raise ValueError("n_resamples=0 leaves no p-values to plot; run the test with some permutations")
    ax = axes(ax)
    rows, every = result.rows(), len(result.members)
    if every > _MEMBERS:  # more names than that cannot be read
        kept = sorted(range(every), key=lambda i: (i != result.decided, rows[i]["adjusted"], rows[i]["pvalue"]))
        rows = [rows[i] for i in sorted(kept[:_MEMBERS])]
    places = np.arange(len(rows))[::-1]
    labels = []
    for row in rows:
        named = [(row[key], _width(row[key.replace("kernel", "bandwidth")])) for key in row if "kernel" in key]
        kernels = [" ".join(filter(None, pair)) for pair in named]
        labels.append(f"{row['estimator']}, {' x '.join(kernels)}")
    single, adjusted = ([row[name] for row in rows] for name in ("pvalue", "adjusted"))
    ax.hlines(places, single, adjusted, color=GREY, linewidth=1)
    ax.plot(single, places, "o", color=BLUE, markerfacecolor="none", label="p-value alone")
    ax.plot(adjusted, places, "s", color=ORANGE, markersize=5, label="adjusted")
    ax.axvline(result.alpha, color=GREY, linestyle=":", label=f"level {result.alpha:g}")
    ax.set_xscale("log")
    ax.set_yticks(places, labels, fontsize="small", parse_math=False)
    ax.set_xlabel("p-value")
    which = f", {len(rows)} of {every} members shown" if len(rows) < every else ""
    # where names leave little room for the axes, there is room at the left of them
    title(ax, f"{result.test} test, combined: p = {result.pvalue:.4g}{which}", right=True)
    ax.spines[["top", "right"]].set_visible(False)
    legend_below(ax, right=True)
    return ax


def _width(bandwidth: object) -> str:
    return f"{bandwidth:.3g}" if isinstance(bandwidth, float) else "" if bandwidth is None else str(bandwidth)
