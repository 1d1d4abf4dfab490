"""Level of tests: settings and functions give rates with intervals, a table and a chart.

A setting is ``(test, label, function, arguments)``; ``function(rng, heavy, **arguments)`` draws data without a
difference, half of the data sets Gaussian and half Cauchy (``heavy``), and returns a p-value.

Studies whose tests and data are those of ``power_study`` use it, as ``restricted_levels`` does.  Settings are for what
it does not have: adjusted p-values of many columns, bands, missing values, rows in batches, and two laws in one rate.
``change_levels``, ``closer_levels``, ``equivalence_levels`` and ``rare_levels`` have their own loops, because they also
measure notes, one-sided tests, several margins at once, and intervals; their rates and tables come from here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from zlib import crc32

import numpy as np
import pandas as pd
from _charts import band
from _charts import levels as draw
from _study import markdown, parts, span
from statsmodels.stats.proportion import proportion_confint

ALPHA = 0.05
RESAMPLES = 99
#: Arguments of every test of a setting.
COMMON = {"n_resamples": RESAMPLES, "workers": 1}
Setting = tuple[str, str, Callable[..., float], dict]


# --- data ----------------------------------------------------------------------------------------------------------


def numbers(rng, heavy, *shape):
    """Draw Gaussian or Cauchy numbers."""
    return rng.standard_cauchy(shape) if heavy else rng.standard_normal(shape)


def block_data(rng, heavy, labels, columns):
    """Draw observations with block effects."""
    noise = numbers(rng, heavy, len(labels), columns)
    effects = 3.0 * numbers(rng, heavy, 1 + labels.max(), columns)
    return noise + effects[labels]


def autoregressive(rng, memory: float, *shape: int) -> np.ndarray:
    """Draw stationary series along the last axis, with this lag-1 correlation."""
    series = rng.normal(size=shape) * np.sqrt(1.0 - memory**2)
    series[..., 0] /= np.sqrt(1.0 - memory**2)
    for t in range(1, shape[-1]):
        series[..., t] += memory * series[..., t - 1]
    return series


def periodic(rng, n: int) -> np.ndarray:
    """Draw two series (2, n) of white noise smoothed around a circle: the end joins the start."""
    distance = np.minimum(np.arange(n), n - np.arange(n))
    spectrum = np.fft.fft(np.exp(-0.5 * (distance / 2.0) ** 2))
    return np.fft.ifft(np.fft.fft(rng.normal(size=(2, n))) * spectrum).real


def generator(name: str, n: int) -> np.random.Generator:
    """Return the random numbers of a setting of this size."""
    return np.random.default_rng([crc32(name.encode()), n])


# --- rates ---------------------------------------------------------------------------------------------------------


def rate(hits: int, trials: int) -> dict:
    """Return a rate with its 95% Clopper-Pearson interval."""
    low, high = proportion_confint(int(hits), trials, method="beta")
    return {"rejected": int(hits) / trials, "low": low, "high": high, "trials": trials}


def region(trials: int) -> tuple[float, float]:
    """Return the range in which the rejection rate of an exact test lies with probability 99.9%."""
    return band(ALPHA, trials)


def measured_levels(args, settings: Iterable[Setting], column: str, name: str) -> pd.DataFrame:
    """Return the level in every setting.

    ``column`` is that of their labels, ``name`` that of the study.
    """
    work = list(settings)
    chunks = [range(start, min(start + 100, args.trials)) for start in range(0, args.trials, 100)]
    jobs = [
        partial(rejections, number, setting, chunk)
        for number, setting in enumerate(work)
        for chunk in chunks
    ]
    counts = parts(args, f"{name}_levels", jobs).groupby("setting")["rejections"].sum()
    low, high = region(args.trials)
    rows = []
    for number, (test, label, _, _) in enumerate(work):
        level = counts[number] / args.trials
        inside = bool(low <= level <= high)
        rows.append(
            {"test": test, column: label, "level": level, "trials": args.trials, "inside": inside}
        )
    return pd.DataFrame(rows)


def rejections(number: int, setting: Setting, trials: range) -> list[dict]:
    """Count the rejected data sets of a setting; each data set depends on its number only."""
    test, label, function, arguments = setting
    key = crc32(f"{test}, {label}".encode())
    pvalues = [
        function(np.random.default_rng([key, trial]), trial % 2 == 1, **arguments)
        for trial in trials
    ]
    return [{"setting": number, "rejections": sum(pvalue <= ALPHA for pvalue in pvalues)}]


# --- pages ---------------------------------------------------------------------------------------------------------


def level_values(table: pd.DataFrame) -> dict:
    """Return in how many settings the level is that of an exact test, and how it was measured."""
    trials = int(table["trials"].max())
    low, high = region(trials)
    return {
        "inside": int(table["level"].between(low, high).sum()),
        "settings": len(table),
        "rates": span(table["level"]),
        "trials": trials,
        "low": f"{low:.4f}",
        "high": f"{high:.4f}",
    }


def wide(table: pd.DataFrame, column: str) -> str:
    """Return a Markdown table of levels, with a column for every label in ``column``."""
    cells = [f"{row.level:.3f}{'' if row.inside else ' (outside)'}" for row in table.itertuples()]
    names = list(dict.fromkeys(table["test"]))
    labels = list(dict.fromkeys(table[column]))
    shown = (
        table.assign(cell=cells)
        .pivot(index="test", columns=column, values="cell")
        .loc[names, labels]
    )
    return markdown(shown.fillna("").reset_index())


def by_size(shown: pd.DataFrame, names: dict | None = None) -> str:
    """Return a Markdown table with a column for every n; ``names`` renames its other columns."""
    table = shown.rename(columns={n: f"n = {n}" for n in shown.columns}).reset_index()
    return markdown(table.rename(columns=names or {}))


def ranges(rates: pd.Series, keys: list) -> str:
    """Return a Markdown table of the ranges of rates, with a column for every n, the last of the keys."""
    return by_size(rates.groupby(keys, sort=False).agg(span).unstack("n", sort=False))


def chart(groups: dict[str, pd.Series], trials: int, wrong: Iterable[str] = ()):
    """Draw the levels of all settings, with a row for every group; ``wrong`` are groups of tests that are not valid."""
    return draw(groups, int(trials), wrong=list(wrong))
