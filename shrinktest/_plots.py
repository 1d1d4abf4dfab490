"""Pictures of results; matplotlib is imported when one is asked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from shrinktest.aggregation import AggregateResult
    from shrinktest.result import TestResult

# Okabe and Ito's palette: told apart with every kind of colour vision
BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#8C8C8C"

_MEMBERS = 25  # names that fit one below the other


def axes(ax: Axes | None) -> Axes:
    """The axes given, or new ones; says what to install where matplotlib is missing."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'shrinktest[plot]'") from error
    return plt.subplots(figsize=(7, 4), layout="constrained")[1]


def check_path(path: str | None) -> None:
    """Raise, before the work and not after it, if a picture cannot be saved under this path."""
    if path is None:
        return
    try:
        from matplotlib.backend_bases import FigureCanvasBase
    except ImportError:
        raise ImportError(f"saving {path} needs matplotlib: pip install 'shrinktest[plot]'") from None
    known = sorted(FigureCanvasBase.get_supported_filetypes())
    if Path(path).suffix.lstrip(".").lower() not in known:
        raise ValueError(f"{path} is no name for a picture: it must end in one of .{', .'.join(known)}")
    if not Path(path).absolute().parent.is_dir():
        raise ValueError(f"{path} cannot be saved: there is no directory {Path(path).parent}")


def save(plot: Callable[[Axes], object], path: str) -> None:
    """Draw on a new figure and save it; without pyplot, so that no display is needed and no global state changes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0, 4.0), layout="constrained")
    plot(figure.subplots())
    figure.savefig(path, dpi=150)


def plot_null(result: TestResult, ax: Axes | None = None) -> Axes:
    """Histogram of the null distribution, the observed statistic and the critical value."""
    if result.n_resamples == 0:
        raise ValueError("n_resamples=0 leaves no null distribution to plot; run the test with some relabellings")
    ax = axes(ax)
    values = result.null_distribution
    name = {"two-sample": "MMD²", "independence": "HSIC", "k-sample": "k-sample", "joint-independence": "dHSIC"}
    spread = float(np.ptp(values)) > 0.0
    kind = f"{'all' if result.exact else 'random'} relabellings"
    if result.stopping is not None:
        kind = f"of {result.n_planned} {kind}"
    ax.hist(values, bins="auto" if spread else 1, color=GREY, alpha=0.55, label=f"{values.size} {kind}")
    critical = result.critical_value()
    if np.isfinite(critical):
        ax.axvline(critical, color=BLUE, linestyle="--", label=f"critical value at level {result.alpha:g}")
    ax.axvline(
        result.statistic, color=ORANGE, linewidth=2, label=f"observed: {result.statistic:.4g}, p = {result.pvalue:.4g}"
    )
    ax.set_xlabel(f"{name[result.test]} statistic ({result.form} form)")
    ax.set_ylabel("number of relabellings")
    ax.set_title(f"{result.test} test, {result.estimator!r}")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(edgecolor="none", framealpha=0.85)  # lines may cross it
    return ax


def plot_members(result: AggregateResult, ax: Axes | None = None) -> Axes:
    """p-values of the members, adjusted and not, on a logarithmic scale; the adjusted one of the best is overall."""
    if result.n_resamples == 0:
        raise ValueError("n_resamples=0 leaves no p-values to plot; run the test with some relabellings")
    ax = axes(ax)
    rows, every = result.rows(), len(result.members)
    if every > _MEMBERS:  # more names than that cannot be read
        kept = sorted(range(every), key=lambda i: (i != result.decided, rows[i]["adjusted"], rows[i]["pvalue"]))
        rows = [rows[i] for i in sorted(kept[:_MEMBERS])]
    places = np.arange(len(rows))[::-1]
    labels = []
    for row in rows:
        kernels = [f"{row[key]} {_width(row[key.replace('kernel', 'bandwidth')])}" for key in row if "kernel" in key]
        labels.append(f"{row['estimator']}, {' x '.join(kernels)}")
    single, adjusted = ([row[name] for row in rows] for name in ("pvalue", "adjusted"))
    ax.hlines(places, single, adjusted, color=GREY, linewidth=1)
    ax.plot(single, places, "o", color=BLUE, markerfacecolor="none", label="p-value alone")
    ax.plot(adjusted, places, "s", color=ORANGE, markersize=5, label="adjusted")
    ax.axvline(result.alpha, color=GREY, linestyle=":", label=f"level {result.alpha:g}")
    ax.set_xscale("log")
    ax.set_yticks(places, labels, fontsize="small")
    ax.set_xlabel("p-value")
    which = f", {len(rows)} of {every} members shown" if len(rows) < every else ""
    ax.set_title(f"{result.test} test, combined: p = {result.pvalue:.4g}{which}", fontsize="medium" if which else None)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False)
    return ax


def _width(bandwidth: object) -> str:
    return f"{bandwidth:.3g}" if isinstance(bandwidth, float) else "" if bandwidth is None else str(bandwidth)
