"""Strata: a few rows that stand for many, in which every repeated row has its share and rare rows are not lost."""

from __future__ import annotations

import numpy as np

from shrinktest._validate import Array

_REPEATED = 0.1  # share of pairs of equal rows above which distances may be about rows that a random part misses
_RARE = 10  # at least one of so many rows is a rare one, if the data have as many


def drawn_rows(rows: Array, number: int, rng: np.random.Generator) -> Array:
    """Rows drawn at random without replacement; if many of these are equal, a stratified part of all rows instead.

    The stratified part depends on the rows only, not on their order or the random numbers.
    """
    drawn = rows[rng.choice(len(rows), number, replace=False)]
    return stratified(*distinct(rows), number) if repeats(drawn) else drawn


def repeats(rows: Array) -> bool:
    """Tell whether more than a tenth of the pairs of rows (n, d) are equal."""
    _, counts = distinct(rows)
    return bool(counts @ (counts - 1.0) > _REPEATED * len(rows) * (len(rows) - 1.0))


def distinct(rows: Array) -> tuple[Array, Array]:
    """The distinct rows (m, d) in ascending order, and how often each occurs (m,)."""
    ordered = rows[np.lexsort(rows.T[::-1])]
    first = np.flatnonzero(np.r_[True, (ordered[1:] != ordered[:-1]).any(axis=1)])
    return ordered[first], np.diff(np.r_[first, len(rows)]).astype(np.float64)


def stratified(values: Array, counts: Array, number: int) -> Array:
    """About ``number`` rows that stand for distinct rows (m, d), each with its count (m,).

    A frequent row has its share of copies.  The others are spread evenly over the rare rows in their order: a tenth of
    ``number`` at least, or all rare rows if they are fewer.
    """
    share = counts * (number / counts.sum())
    rare = share <= 1.0
    ends = np.cumsum(counts[rare])
    total = ends[-1] if ends.size else 0.0
    size = max(round(share[rare].sum()), min(int(total), number // _RARE))
    places = np.searchsorted(ends, (np.arange(size) + 0.5) * (total / max(size, 1)), side="right")
    copies = np.rint(share[~rare]).astype(np.int64)
    return np.vstack([np.repeat(values[~rare], copies, axis=0), values[rare][places]])
