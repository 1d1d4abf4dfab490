"""Own: permutations of a user's, every one of which is looked at before it is used."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from shrinktest._validate import count, counted, real
from shrinktest.nulls.relabellings import AS_MANY, PassedOn, Relabellings


@dataclass(frozen=True, eq=False)
class Own(PassedOn):
    """Permutations of a user's that must begin with the data as they are, and move observations only."""

    # (N,) or (V, N): the data as they are, labels of samples, or places of rows, of each of V variables if several
    first: np.ndarray
    # whether they are; for a statistic of the user's own the first is what the user says, and others may hold anything
    known: bool = True

    @classmethod
    def of(cls, source: Relabellings, sizes: tuple[int, ...]) -> Relabellings:
        """Those of a user for samples of these sizes, or for one sample of rows; those of this package as they are."""
        return cls.beginning(source, np.repeat(np.arange(len(sizes)), sizes) if len(sizes) > 1 else np.arange(sizes[0]))

    @classmethod
    def beginning(cls, source: Relabellings, first: np.ndarray | None) -> Relabellings:
        """Those of a user that begin with the data as they are, if these are known; those of this package as they are.

        Raises TypeError or ValueError for what is no number, or for no permutations.
        """
        if type(source).__module__.startswith("shrinktest."):
            return source
        count(source.size, f"permutations: size of {_name(source)}", minimum=1)
        magnitude = real(source.magnitude, f"permutations: magnitude of {_name(source)}")
        if magnitude <= math.log(max(source.n_resamples, 1.0)) + 1.0:  # others may have too many digits
            count(source.distinct, f"permutations: distinct of {_name(source)}", minimum=1)
        begun = next(_all_of(source))
        if begun.shape[-1:] != (source.size,):
            raise ValueError(
                f"permutations: every() of {_name(source)} must give arrays of as many entries as size says, "
                f"{source.size}; the first has shape {begun.shape}"
            )
        return cls(source.n_resamples, source.rng, source, begun if first is None else first, first is not None)

    def every(self) -> Iterator[np.ndarray]:
        return _all_of(self.source)

    def draw(self, rows: int) -> np.ndarray:
        found = np.array(self.source.draw(rows))  # a copy, should it be filled anew at the next draw
        if found.shape[1:] != self.first.shape:
            shape = ", ".join(map(str, self.first.shape))
            raise ValueError(
                f"permutations: draw(rows) of {_name(self.source)} must return an array of shape (rows, {shape}); got "
                f"shape {found.shape}"
            )
        return found

    def rows(self) -> Callable[[int], np.ndarray]:
        """A function that returns the next few rows; it raises ValueError for what is no permutation of the data."""
        take, begun, sorted_first = super().rows(), False, np.sort(self.first)
        if not self.known:
            return take

        def looked(rows: int) -> np.ndarray:
            nonlocal begun
            found = np.asarray(take(rows))
            if found.shape != (rows, *self.first.shape):
                many = "" if len(found) == rows else f"; {AS_MANY}"
                each = "" if self.first.ndim == 1 else f", with the places of each of {len(self.first)} variables"
                raise ValueError(
                    f"permutations must be of {counted(self.first.shape[-1], 'observation')}, {rows} of them when "
                    f"asked for as many{each}: shape {(rows, *self.first.shape)}; got shape {found.shape}{many}"
                )
            if not begun and not np.array_equal(found[0], self.first):
                raise ValueError(
                    f"permutations: the first of every() must be the data as they are, {_shown(self.first)}; got "
                    f"{_shown(found[0])}"
                )
            begun = True
            odd = np.argwhere((np.sort(found, axis=-1) != sorted_first).any(axis=-1))
            if odd.size:
                raise ValueError(
                    "permutations must hold every label as often as the data do, and every place once; got "
                    f"{_shown(found[tuple(odd[0])])}"
                )
            return found.astype(self.first.dtype, copy=False)

        return looked


def _all_of(source: Relabellings) -> Iterator[np.ndarray]:
    """What every() of a user's gives, as arrays, each a copy, should one array be changed from one to the next."""
    found = source.every()
    if not isinstance(found, Iterable):
        raise TypeError(
            f"permutations: every() of {_name(source)} must give all permutations, one after the other; it returned "
            f"{found!r}"
        )
    left = iter(found)
    row, given = next(left, None), 0
    if row is None:
        raise ValueError(f"permutations: every() of {_name(source)} gives none; the data as they are must be the first")
    most = source.distinct if source.exact else math.inf
    while row is not None:
        out, given = np.array(row), given + 1
        if given == most and next(left, None) is not None:
            raise ValueError(f"permutations: every() of {_name(source)} gives more than {given}, which distinct says")
        yield out
        row = next(left, None)


def _name(source: Relabellings) -> str:
    return type(source).__name__


def _shown(row: np.ndarray) -> str:
    row = row.reshape(-1)
    return f"({', '.join(map(str, row[:8].tolist()))}{', ...' if row.size > 8 else ''})"
