"""Pictures of tests: null distribution, combined members, many tests, and test level."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from shrinktest._check import counted, percent
from shrinktest.results.plots.axes import (
    BLUE,
    GRAY,
    ORANGE,
    axes,
    draw_intervals,
    legend_below,
    letters,
    name_ticks,
    open_frame,
    short,
    title,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FAR = 1.5  # ranges of the null distribution from which a statistic is an arrow
_ROOM = 0.3  # of that range, for the arrow
_SHOWN = 25  # names that fit one below the other
_NUMBERS = 12  # cells in a row up to which every p-value is written out
_NAMES = 20  # that fit along an axis
_UPRIGHT = 6  # short names that fit without being turned
_DARK = 0.4  # of the way to the darkest color, from which black letters could not be read


def plot_null(result: Any, ax: Axes | None = None) -> Axes:
    """Draw the null distribution, the statistic and the critical value.

    If the statistic is far beyond the null distribution, an arrow at the edge points there, because
    little would be left of the distribution otherwise.
    """
    _check_permuted(result)
    ax = axes(ax)
    values = result.null_distribution
    critical = result.critical_value()
    planned = f" of {result.n_planned}" if result.stopping is not None else ""
    kind = (
        f"all {values.size}" if result.exact and not planned else f"{values.size}{planned} random"
    )
    bins: Any = "auto" if float(np.ptp(values)) > 0.0 else 1
    ax.hist(values, bins=bins, color=GRAY, alpha=0.55, label=f"{kind} {result.kind.resamples}")
    if np.isfinite(critical):
        ax.axvline(
            critical, color=BLUE, linestyle="--", label=f"critical value at level {result.alpha:g}"
        )
        values = [*values, critical]
    label = f"observed: {result.statistic:.4g}, p = {result.pvalue:.4g}"
    ax.axvline(result.statistic, color=ORANGE, linewidth=2, label=label)
    _point_beyond(ax, result.statistic, float(np.min(values)), float(np.max(values)))
    combined = hasattr(result, "members")
    form = f" ({result.form} form)" if result.form else ""
    statistic = f"{result.kind.statistic} statistic{form}"
    if combined:
        statistic = "-log10 of the smallest weighted p-value"
    elif not result.kind.has_kernel(result.form):
        statistic = f"{result.form} statistic"
    ax.set_xlabel(statistic.strip())
    ax.set_ylabel(f"number of {result.kind.resamples}")
    if ax.get_yscale() == "linear":  # other scales have ticks of their own
        ax.locator_params(axis="y", integer=True)
    estimator = "" if result.estimator is None else f", {result.estimator!r}"
    how = f", {len(result.members)} statistics combined" if combined else estimator
    title(ax, f"{result.test} test{how}", "large")
    ax.legend(edgecolor="none", framealpha=0.85)  # lines may cross it
    return open_frame(ax)


def _check_permuted(result: Any) -> None:
    if result.n_resamples == 0:
        raise ValueError(
            "no p-values to plot, because n_resamples=0 or values are missing: test with "
            "permutations"
        )


def _point_beyond(ax: Axes, observed: float, low: float, high: float) -> None:
    """Leave a distant observed value outside the axes, and say where it is.

    It is distant if it is further from the others than they reach.
    """
    reach = high - low
    if not reach > 0.0 or max(observed - high, low - observed) <= _FAR * reach:
        return
    right = observed > high
    ax.set_xlim(low - (0.05 if right else _ROOM) * reach, high + (_ROOM if right else 0.05) * reach)
    arrow = {"arrowstyle": "-|>", "color": ORANGE, "linewidth": 2}
    tip, tail, edge, side = (1.0, 0.9, 0.99, "right") if right else (0.0, 0.1, 0.01, "left")
    ax.annotate("", xy=(tip, 0.5), xytext=(tail, 0.5), xycoords="axes fraction", arrowprops=arrow)
    ax.text(
        edge, 0.53, f"{observed:.4g}", transform=ax.transAxes, color=ORANGE, ha=side, va="bottom"
    )


def plot_members(result: Any, ax: Axes | None, labels: Sequence[str]) -> Axes:
    """Draw p-values of the members of a combined test, adjusted and not.

    The smallest adjusted one is the test's.
    """
    _check_permuted(result)
    rows = result.rows()
    every = len(result.members)
    order = sorted(
        range(every), key=lambda i: (i != result.decided, rows[i]["adjusted"], rows[i]["pvalue"])
    )
    shown = sorted(order[:_SHOWN])
    ax = _draw_pvalues(axes(ax), [rows[i] for i in shown], [labels[i] for i in shown], result.alpha)
    which = f", {_SHOWN} of {every} members shown" if every > _SHOWN else ""
    title(ax, f"{result.test} test, combined: p = {result.pvalue:.4g}{which}", right=True)
    return ax


def _draw_pvalues(
    ax: Axes, rows: Sequence[dict[str, Any]], labels: Sequence[str], alpha: float
) -> Axes:
    """Draw p-values, adjusted and not, one test below the other."""
    places = np.arange(len(rows))[::-1]
    single, adjusted = ([row[name] for row in rows] for name in ("pvalue", "adjusted"))
    ax.hlines(places, single, adjusted, color=GRAY, linewidth=1)
    ax.plot(single, places, "o", color=BLUE, markerfacecolor="none", label="p-value alone")
    ax.plot(adjusted, places, "s", color=ORANGE, markersize=5, label="adjusted")
    ax.axvline(alpha, color=GRAY, linestyle=":", label=f"level {alpha:g}")
    ax.set_xscale("log")
    ax.set_xlim(
        min(0.5 * min(single), 0.008), 1.3
    )  # two powers of ten, so that ticks need no numbers between these
    ax.tick_params(axis="x", which="minor", labelbottom=False)
    ax.set_yticks(places, labels, fontsize="small", parse_math=False)
    ax.set_xlabel("p-value")
    legend_below(ax, right=True)
    return open_frame(ax)


def plot_many(tests: Any, ax: Axes | None = None) -> Axes:
    """Draw p-values of columns, a heat map of pairs, or lag statistics (matplotlib).

    The statistics are those at every lag.
    """
    if tests.keys == ("lag",):
        return _plot_lags(tests, ax)
    _check_permuted(tests)
    every = f"{tests.test} tests, adjusted ({tests.method})"
    rows = tests.rows()[: len(tests)]
    if tests.keys != ("x", "y"):
        rows = sorted(rows, key=lambda row: (row["adjusted"], row["pvalue"]))[:_SHOWN]
        names = [" and ".join(str(row[key]) for key in tests.keys[:2]) for row in rows]
        places = ["".join(f", {row[key]}" for key in tests.keys[2:]) for row in rows]
        labels = [short(name + place, 24) for name, place in zip(names, places, strict=True)]
        ax = _draw_pvalues(axes(ax), rows, labels, tests.alpha)
        shown = f", {_SHOWN} of {len(tests)} {tests.several[1]} shown"
        which = shown if len(tests) > _SHOWN else ""
        title(ax, f"{every}{which}", right=True)
        return ax
    frame = tests.table[: len(tests)]
    down, across = (list(dict.fromkeys(frame[key])) for key in tests.keys)
    grid = frame.pivot(index="x", columns="y", values="adjusted").loc[down, across].to_numpy()
    ax = axes(ax)
    least = 1.0 / (tests.n_resamples + (not tests.exact))
    shades = np.log10(np.maximum(grid, least))
    lowest = min(np.log10(least), -1.0)
    image = ax.imshow(shades, cmap="cividis", vmin=lowest, vmax=0.0, aspect="auto")
    for i, j in np.argwhere(~np.isnan(grid)):
        number = f"{grid[i, j]:.2g}" if len(across) <= _NUMBERS else ""
        star = "*" if grid[i, j] <= tests.alpha else ""
        color = "white" if shades[i, j] < _DARK * lowest else "black"
        ax.text(j, i, f"{number}{star}", ha="center", va="center", color=color)
    for axis, labels in ((ax.xaxis, across), (ax.yaxis, down)):
        name_ticks(axis, labels, _NAMES, 24)
    if len(across) > _UPRIGHT or len(across) * max(map(len, map(str, across))) > letters(ax):
        ax.tick_params(axis="x", rotation=90)
    title(ax, f"{every}; * rejected at {tests.alpha:g}")
    ax.figure.colorbar(image, ax=ax, label="log10 of the adjusted p-value")
    return ax


def plot_pairs_of_samples(tests: Any, ax: Axes | None) -> Axes:
    """Draw the AUC of every two samples, or p-values if it is not known, smallest p-value first.

    Pairs that are rejected are blue.
    """
    _check_permuted(tests)
    rows = sorted(tests.rows()[: len(tests)], key=lambda row: (row["adjusted"], row["pvalue"]))
    rows = rows[:_SHOWN]
    labels = []
    for row in rows:
        place = "".join(f", {short(str(row[key]), 12)}" for key in tests.keys[2:])
        labels.append(f"{short(str(row['first']))} and {short(str(row['second']))}{place}")
    which = f", {_SHOWN} of {len(tests)} pairs shown" if len(tests) > _SHOWN else ""
    if not tests.areas:
        ax = _draw_pvalues(axes(ax), rows, labels, tests.alpha)
        title(ax, f"{tests.test} tests, adjusted ({tests.method}){which}", right=True)
        return ax
    drawn = []
    for label, row in zip(labels, rows, strict=True):
        limits = (row["low"], row["high"])
        color = BLUE if row["reject"] else GRAY
        drawn.append((f"{label} (p = {row['adjusted']:.2g})", row["auc"], limits, color))
    ax = draw_intervals(ax, drawn, 0.5)
    ax.set_xlabel(f"AUC ({percent(tests.confidence)} intervals, each by itself)", loc="right")
    title(ax, f"blue: rejected at {tests.alpha:g} ({tests.method}){which}", right=True)
    return ax


def _plot_lags(tests: Any, ax: Axes | None) -> Axes:
    """Draw a stem for every lag, those that are rejected in another color."""
    ax = axes(ax)
    rejected = tests.reject()
    lags = np.array([lag for (lag,) in tests.labels])
    for which, color, sign in ((rejected, ORANGE, "<="), (~rejected, BLUE, ">")):
        if which.any():
            label = f"adjusted p {sign} {tests.alpha:g}" if tests.n_resamples else "lags"
            ax.vlines(
                lags[which], 0.0, tests.statistics[which], color=color, linewidth=3, label=label
            )
    ax.axhline(0.0, color=GRAY, linewidth=0.8)
    ax.locator_params(axis="x", integer=True, min_n_ticks=1)
    ax.set_xlabel("lag: rows by which Y comes after X")
    ax.set_ylabel("statistic")
    pvalue = f", p = {tests.pvalue:.4g}" if tests.n_resamples else ""
    title(ax, f"independence at {counted(len(tests), 'lag')}{pvalue}", "large")
    legend_below(ax)
    return open_frame(ax)


def plot_level_check(result: Any, ax: Axes | None = None) -> Axes:
    """Draw the proportion of p-values up to every level, with a band (matplotlib).

    The band is that of uniform p-values.
    """
    from scipy.stats import binom

    ax = axes(ax)
    trials = len(result.pvalues)
    grid = np.linspace(0.0, 1.0, 201)
    tail = (1.0 - result.confidence) / 2.0
    low, high = (binom.ppf(q, trials, grid) / trials for q in (tail, 1.0 - tail))
    band = f"uniform, {percent(result.confidence)} band"
    ax.fill_between(grid, low, high, color=GRAY, alpha=0.3, linewidth=0, label=band)
    ax.ecdf(result.pvalues, color=BLUE, label=counted(trials, "trial"))
    wrong = [
        (row["alpha"], row["level"])
        for row in result.rows()
        if row["verdict"] == "anti-conservative"
    ]
    if wrong:
        ax.plot(*zip(*wrong, strict=True), "o", color=ORANGE, label="anti-conservative")
    ax.set(
        xlabel="p-value",
        ylabel="proportion of trials with a p-value at most this",
        xlim=(-0.05, 1.05),
    )
    title(ax, f"Level of {result.name}")
    ax.legend(frameon=False)
    return open_frame(ax)
