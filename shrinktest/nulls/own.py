"""Own: permutations of a user's, every one of which is looked at before it is used."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from shrinktest._validate import counted
from shrinktest.nulls.relabellings import PassedOn, Relabellings


@dataclass(frozen=True, eq=False)
class Own(PassedOn):
    """Permutations of a user's that must begin with the data as they are, and move observations only."""

    # (N,) or (V, N): the data as they are: labels of samples, or places of rows, of each of V variables if there are
    # several
    first: np.ndarray

    @classmethod
    def of(cls, source: Relabellings, sizes: tuple[int, ...]) -> Relabellings:
        """Those of a user for samples of these sizes, or for one sample of rows; those of this package as they are."""
        return cls.beginning(source, np.repeat(np.arange(len(sizes)), sizes) if len(sizes) > 1 else np.arange(sizes[0]))

    @classmethod
    def beginning(cls, source: Relabellings, first: np.ndarray) -> Relabellings:
        """Those of a user that begin with the data as they are; those of this package as they are."""
        if type(source).__module__.startswith("shrinktest."):
            return source
        return cls(source.n_resamples, source.rng, source, first)

    def rows(self) -> Callable[[int], np.ndarray]:
        """A function that returns the next few rows; it raises ValueError for what is no permutation of the data."""
        take, begun, sorted_first = self.source.rows(), False, np.sort(self.first)

        def looked(rows: int) -> np.ndarray:
            nonlocal begun
            found = np.asarray(take(rows))
            if found.shape != (rows, *self.first.shape):
                each = "" if self.first.ndim == 1 else f", with the places of each of {len(self.first)} variables"
                raise ValueError(
                    f"permutations must be of {counted(self.first.shape[-1], 'observation')}, {rows} of them when "
                    f"asked for as many{each}: shape {(rows, *self.first.shape)}; got shape {found.shape}"
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


def _shown(row: np.ndarray) -> str:
    row = row.reshape(-1)
    return f"({', '.join(map(str, row[:8].tolist()))}{', ...' if row.size > 8 else ''})"
