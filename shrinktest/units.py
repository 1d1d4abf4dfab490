"""Units of columns, found on the pooled sample."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shrinktest._check import Array, choice, counted, listed, n_dimensions, positive
from shrinktest._rounding import rounding_of
from shrinktest.notes import note

#: Units by name: standard deviation (over n), median absolute deviation from the median, mid-ranks,
#: and distances from the median in units of their mean.
SCALES = ("sd", "mad", "rank", "deviation")
#: Standard deviation of numbers in these units: of normal ones, and of ranks.
TYPICAL = {"sd": 1.0, "mad": 1.4826, "rank": 12.0**-0.5, "deviation": (math.pi / 2.0 - 1.0) ** 0.5}
_FAR = 30.0  # times another column's spread: squared distances are then a thousandth of the other's
_BESIDE = {
    f"{name} in sd": name for name in SCALES if name != "sd"
}  # the same, so that this standard deviation is 1
_MOVED = (
    "rank",
    "deviation",
    "rank in sd",
    "deviation in sd",
)  # what stands for the values is not a multiple of them

Scale = str | tuple[str | float, ...]


class NoUnit(ValueError):
    """Raised for a column that has no unit for a reason."""

    def __init__(self, message: str, column: str, reason: str) -> None:
        super().__init__(message, column, reason)
        self.column = column
        self.reason = reason

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True, eq=False)
class Units:
    """The columns of a pooled sample in units of their own."""

    scale: Scale  # a name for all columns, or a name or a number for every one; see `Rescaled`
    points: Array  # (N, d): the pooled sample

    def units(self, called: Sequence[object] | None = None) -> Array:
        """Return the unit of every column (d,), 1 for constant ones.

        Messages use the names in ``called``.
        """
        called = range(self.points.shape[1]) if called is None else called
        if isinstance(self.scale, str):
            return _units(self.points, self.scale, called)
        out = np.array([1.0 if isinstance(unit, str) else unit for unit in self.scale])
        for name, columns in self._named():
            out[columns] = _units(self.points[:, columns], name, [called[j] for j in columns])
        return out

    def moved(self, X: Array) -> Array:
        """The columns of X (n, d) in their units, or by their ranks in the pooled sample."""
        if isinstance(self.scale, str):
            return _moved(X, self.points, self.scale, range(X.shape[1]))
        out = X / self.units()
        for name, columns in self._named():
            if name in _MOVED:
                out[:, columns] = _moved(X[:, columns], self.points[:, columns], name, columns)
        return np.ascontiguousarray(out)

    def settled(self, called: Sequence[object] | None = None) -> Units:
        """Return numeric units, without the pooled sample where it is no longer needed."""
        if moves(self.scale) and len(self.points):
            return self
        return Units(tuple(self.units(called).tolist()), self.points[:0])

    def _named(self) -> list[tuple[str, list[int]]]:
        """The columns with units by name."""
        names = [name for name in (*SCALES, *_BESIDE) if name in self.scale]
        return [(name, [j for j, unit in enumerate(self.scale) if unit == name]) for name in names]


def moves(scale: Scale) -> bool:
    """Return True if the compared values are not multiples of the columns."""
    return scale in _MOVED or (not isinstance(scale, str) and any(name in scale for name in _MOVED))


def beside_others(scale: Sequence[Any]) -> list[Any]:
    """Units of columns, by names such that a typical column has standard deviation 1.

    Units are unchanged if all columns have the same unit.
    """
    names = dict(zip(_BESIDE.values(), _BESIDE, strict=True)) if len(set(scale)) > 1 else {}
    return [names.get(unit, unit) for unit in scale]


def as_scale(scale: Any, columns: int | None = None, name: str = "scale") -> Scale | None:
    """The argument ``scale`` of a test: None, a name, or one positive number or name per column.

    Else an error.
    """
    if scale is None:
        return None
    if isinstance(scale, str):
        return choice(scale, SCALES, name)
    if n_dimensions(scale, name) != 1:
        raise TypeError(
            f"{name} must be None, one of {listed(SCALES)}, or one number per column; got {scale!r}"
        )
    entries = [as_unit(value, f"{name}[{j}]") for j, value in enumerate(scale)]
    if columns is not None and len(entries) != columns:
        raise ValueError(
            f"{name} has {len(entries)} entries for {counted(columns, 'column')}; pass one for each"
        )
    return tuple(entries)


def as_unit(value: Any, name: str) -> str | float:
    """The unit of one column: a name or a positive number.

    Raises ValueError or TypeError for anything else.
    """
    if isinstance(value, str):
        return value if value in _BESIDE else choice(value, SCALES, name)
    return positive(value, name)


def beside_gaps(units: Sequence[Any], gaps: Sequence[int], deviations: np.ndarray) -> list[Any]:
    """Return units that give missing-value indicators as much weight as their features.

    The features are those before the indicators.
    """
    units = list(units)
    for j in gaps:
        if not isinstance(units[j], str) and deviations[j] > 0.0:
            units[j + 1] = units[j + 1] * units[j] / deviations[j]
    return units


def entries_by_name(given: Any) -> dict[str, Any] | None:
    """Return the entries of a mapping or a series, by names of columns as text.

    None for anything else.
    """
    if not hasattr(given, "keys"):
        return None
    return {str(key): given[key] for key in given.keys()}  # noqa: SIM118  # a series iterates over its values


def by_name(given: Any, names: Sequence[str], argument: str, rest: Any = None) -> list[Any]:
    """Return the entries of a mapping or series in the order of columns.

    ``rest`` for columns without one.
    """
    known = entries_by_name(given) or {}
    for key in known:
        choice(key, names, f"a column in {argument}")
    lacking = [name for name in names if name not in known]
    if lacking and rest is None:
        raise ValueError(
            f"{argument} has no entry for {listed(lacking)}; pass one for every column"
        )
    return [known.get(name, rest) for name in names]


def near_one(Z: Array) -> Array:
    """Columns (n, d), or one of them (n,), each divided by a power of two.

    It is near the largest value of the column.

    Squares then neither overflow nor vanish, and what does not depend on units is the same to the
    last bit.
    """
    return np.asarray(np.ldexp(Z, -_exponents(Z)))


def deviations(Z: Array, ddof: int = 0) -> Array:
    """Standard deviations (d,) of the columns, even if their squares leave the range.

    The range is that of numbers.
    """
    with np.errstate(over="ignore"):
        return np.asarray(np.ldexp(near_one(Z).std(axis=0, ddof=ddof), _exponents(Z)))


def means(Z: Array) -> Array:
    """Means (d,) of the columns, also of those whose sums are beyond the range of numbers."""
    return np.asarray(np.ldexp(near_one(Z).mean(axis=0), _exponents(Z)))


def _exponents(Z: Array) -> Any:
    """Return exponents of the powers of two just above the largest values (d,)."""
    return np.frexp(np.abs(Z).max(axis=0))[1]


def constant_columns(Z: Array) -> Array:
    """Return which columns (d,) are constant."""
    return np.asarray((Z[0] == Z).all(axis=0))


def far_apart(Z: Array, name: str) -> tuple[str, ...]:
    """Return a note on columns that account for nearly all of the distances.

    Their values are so much larger.
    """
    missing = np.isnan(Z).any(axis=1)
    if Z.shape[1] < 2 or missing.all():
        return ()
    rows = Z[~missing] if missing.any() else Z
    with np.errstate(
        over="ignore"
    ):  # the mean distance from the mean, on which a few wild values tell less
        away = rows - rows.mean(axis=0)
        spread = np.abs(away, out=away).mean(axis=0)
    small = (spread > 0.0) & (spread * _FAR < spread.max())
    if not small.any():
        return ()
    large = [str(j) for j in np.flatnonzero(spread * _FAR >= spread.max())]
    many = len(large) > 1
    lost = [str(j) for j in np.flatnonzero(small)]
    columns = f"columns {_few(large)} account for" if many else f"column {large[0]} accounts for"
    others = f"column{'s' * (len(lost) > 1)} {_few(lost)}"
    return (
        note(
            "units-apart",
            name=name,
            columns=columns,
            their="their" if many else "its",
            others=others,
        ),
    )


def _few(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _units(Z: Array, scale: str, columns: Any) -> Array:
    """Return a unit for every column of Z, which has the columns with these numbers."""
    if scale in _BESIDE:
        return _units(Z, _BESIDE[scale], columns) * TYPICAL[_BESIDE[scale]]
    if scale == "rank" or not len(Z):
        return np.ones(Z.shape[1])
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        away = np.abs(Z - np.median(Z, axis=0))
        unit = {
            "sd": Z.std(axis=0),
            "mad": np.median(away, axis=0),
            "deviation": away.mean(axis=0),
        }[scale]
    constant = constant_columns(Z)
    overflowed = ~np.isfinite(unit) & ~np.isnan(Z).any(axis=0)
    for j in np.flatnonzero((overflowed | (unit == 0.0)) & np.logical_not(constant)):
        reason = "its values are nearly constant"
        if overflowed[j]:
            largest = np.abs(Z[:, j]).max()
            reason = (
                f"it has values as large as {largest:.3g}, whose unit is beyond the range of "
                f"numbers"
            )
        elif scale == "mad":
            reason = (
                "more than half of its values are equal, so that its median absolute deviation is 0"
            )
        message = (
            f"scale={scale!r}: column {columns[j]} has no unit: {reason}; rescale it, or use "
            f"scale='rank'"
        )
        raise NoUnit(message, str(columns[j]), reason)
    return np.where(constant, 1.0, unit)


def _moved(X: Array, pooled: Array, scale: str, columns: Any) -> Array:
    """Columns of X in units of the columns of the pooled sample with these numbers."""
    if scale in _BESIDE:
        return np.ascontiguousarray(
            _moved(X, pooled, _BESIDE[scale], columns) / TYPICAL[_BESIDE[scale]]
        )
    if scale == "deviation":
        return np.ascontiguousarray(
            np.abs(X - np.median(pooled, axis=0)) / _units(pooled, scale, columns)
        )
    if scale != "rank":
        return np.ascontiguousarray(X / _units(pooled, scale, columns))
    if X is pooled or np.array_equal(X, pooled):
        return _own_ranks(pooled)
    out = np.empty(X.shape)
    for j, column in enumerate(np.sort(pooled, axis=0).T):
        margin = rounding_of(
            X[:, j]
        )  # values that differ from others by rounding only have the same rank
        below = column.searchsorted(X[:, j] - margin, "left")
        above = column.searchsorted(X[:, j] + margin, "right")
        out[:, j] = (below + above) / (2.0 * len(column))
    return out


def _own_ranks(Z: Array) -> Array:
    """The mid-ranks of a sample in itself, over their number.

    To look each value up would take ten times as long.
    """
    size = len(Z)
    out = np.empty(Z.shape)
    for j, column in enumerate(Z.T):
        order = np.argsort(column)
        ordered = column[order]
        starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
        ends = np.append(starts[1:], size)
        out[order, j] = np.repeat(starts + ends, ends - starts) / (2.0 * size)
    return out
