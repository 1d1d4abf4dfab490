"""Streams of rows for the studies of the monitor: data before and after a change."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd

Draw = Callable[[np.random.Generator, int], object]


def normal(rng, rows, *, columns=5, shift=0.0, scale=1.0, correlation=0.0):
    """Draw normal columns: the first with a shift and a scale, the second correlated with the first."""
    x = rng.normal(size=(rows, columns))
    if correlation:
        x[:, 1] = correlation * x[:, 0] + np.sqrt(1.0 - correlation**2) * x[:, 1]
    x[:, 0] = shift + scale * x[:, 0]
    return x


def spread_out(rng, rows, *, columns=50, norm=1.0):
    """Draw normal columns with a shift of all of them, of this norm."""
    return rng.normal(norm / np.sqrt(columns), 1.0, size=(rows, columns))


def counts(rng, rows):
    """Draw five columns of counts, with many ties."""
    return rng.poisson(1.0, size=(rows, 5)).astype(float)


def mixed(rng, rows, *, rare=0.02):
    """Draw numbers, some missing, rounded ones, and two categories, one with a rare level."""
    income = np.where(rng.random(rows) < 0.1, np.nan, np.exp(rng.normal(size=rows)))
    return pd.DataFrame(
        {
            "number": rng.normal(size=rows),
            "income": income,
            "rounded": np.round(2.0 * rng.normal(size=rows)),
            "kind": rng.choice(list("abcd"), size=rows, p=[0.5 - rare, 0.3, 0.2, rare]),
            "place": rng.choice(list("stuvwxyz"), size=rows),
        }
    )


#: Data without a change.
NULL: dict[str, Draw] = {
    "1 number": partial(normal, columns=1),
    "5 numbers": normal,
    "20 numbers": partial(normal, columns=20),
    "5 counts": counts,
    "mixed table": mixed,
}
#: Data before and after a change.
CHANGES: dict[str, tuple[Draw, Draw]] = {
    "one mean of 5, 0.5 sd": (normal, partial(normal, shift=0.5)),
    "one mean of 5, 1 sd": (normal, partial(normal, shift=1.0)),
    "one variance of 5 doubled": (normal, partial(normal, scale=2.0**0.5)),
    "correlation 0.8 to 0": (partial(normal, correlation=0.8), normal),
    "correlation 0 to 0.8": (normal, partial(normal, correlation=0.8)),
    "category from 2% to 10%": (mixed, partial(mixed, rare=0.1)),
    "50 columns, shift of norm 1": (partial(spread_out, norm=0.0), spread_out),
}
