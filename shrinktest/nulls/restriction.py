"""Restriction: which relabellings the design of the data allows, as users say it with labels of the observations."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shrinktest._validate import (
    NAN_POLICIES,
    Array,
    _at_least_two_rows,
    _check_same_index,
    as_points,
    choice,
    paired_samples,
    two_samples,
)
from shrinktest.nulls.relabellings import Pairings, Relabellings, Splits
from shrinktest.nulls.restricted import (
    CircularShifts,
    RestrictedPairings,
    RestrictedPartitions,
    RestrictedSplits,
    Strata,
)

SHIFTS = ("circular",)

#: Keyword arguments of the tests that restrict their relabellings.
ARGUMENTS = {"two-sample": ("blocks", "paired", "groups"), "independence": ("blocks", "groups", "shift")}


@dataclass(frozen=True, eq=False)
class Restriction:
    """What a relabelling may do to the N observations: all there are, if nothing is said.

    Parameters
    ----------
    blocks, groups : ndarray, shape (N,), optional
        A whole number for every observation: that of its block, and of the group with which it moves.
    paired : bool
        Whether observation i of X may change places with observation i of Y only.
    shift : bool
        Whether Y may be shifted only, its end coming round to its start.
    """

    blocks: np.ndarray | None = None
    groups: np.ndarray | None = None
    paired: bool = False
    shift: bool = False

    def __bool__(self) -> bool:
        return self.paired or self.shift or self.blocks is not None or self.groups is not None

    def strata(self, size: int) -> Strata:
        """Units, and strata within which they may be exchanged, of so many observations."""
        if self.paired:
            return Strata.of(np.arange(size) % (size // 2), np.arange(size))
        blocks = np.zeros(size, dtype=np.int64) if self.blocks is None else self.blocks
        return Strata.of(blocks, np.arange(size) if self.groups is None else self.groups)

    def splits(self, n_resamples: float, rng: np.random.Generator, m: int, n: int, alpha: float) -> Relabellings:
        """The splits it allows of m + n pooled observations.

        Raises
        ------
        ValueError
            If these are too few to reject at ``alpha``.
        """
        if not self:
            return Splits(n_resamples, rng, m, n)
        strata = self.strata(m + n)
        return self._enough(RestrictedSplits(n_resamples, rng, m, n, strata, self._words(strata)), strata, alpha)

    def partitions(
        self, n_resamples: float, rng: np.random.Generator, sizes: tuple[int, ...], alpha: float
    ) -> Relabellings:
        """The partitions it allows of pooled observations into samples of these sizes, where it says anything.

        Raises
        ------
        ValueError
            If these are too few to reject at ``alpha``.
        """
        strata = self.strata(sum(sizes))
        return self._enough(RestrictedPartitions(n_resamples, rng, sizes, strata, self._words(strata)), strata, alpha)

    def pairings(self, n_resamples: float, rng: np.random.Generator, n: int, alpha: float) -> Relabellings:
        """The pairings it allows of n observations of X with n of Y.

        Raises
        ------
        ValueError
            If these are too few to reject at ``alpha``.
        """
        if not self:
            return Pairings(n_resamples, rng, n)
        strata = self.strata(n)
        kind = CircularShifts if self.shift else RestrictedPairings
        return self._enough(kind(n_resamples, rng, strata, self._words(strata)), strata, alpha)

    def series(self, n: int) -> tuple[np.ndarray, ...]:
        """The rows of every series that is shifted, in order of time; none where nothing is."""
        if not self.shift:
            return ()
        strata = self.strata(n)
        return tuple(np.split(strata.rows[:, 0], strata.starts[1:-1]))

    def words(self, size: int) -> str:
        """What it allows so many observations, for a reader; nothing where all is allowed."""
        return self._words(self.strata(size)) if self else ""

    def relabelled(self, rng: np.random.Generator, size: int) -> np.ndarray:
        """A random permutation (N,) of observations that puts each where another one with its labels was."""
        return self.pairings(1, rng, size, alpha=1.0).rows()(2)[1]

    def _words(self, strata: Strata) -> str:
        if self.paired:
            return f"within {_several(strata.counts.size, 'pair')}"
        blocks = 0 if self.blocks is None else np.unique(self.blocks).size
        if self.shift:
            return f"circular shifts of {blocks} series" if blocks else "circular shifts"
        within = f"within {_several(blocks, 'block')}"
        if self.groups is None:
            return within
        return _several(len(strata.rows), "whole group") + (f" {within}" if blocks else "")

    def _enough(self, found: Relabellings, strata: Strata, alpha: float) -> Relabellings:
        if found.n_resamples == 0 or found.magnitude > math.log(1.0 / alpha) + 1.0 or 1.0 / found.distinct <= alpha:
            return found
        if self.paired:
            advice = f"collect {math.ceil(math.log2(1.0 / alpha) - 1e-9) + 1} pairs or more"
        elif self.shift:
            advice = "observe longer series, or more of them"
        elif self.groups is None:
            advice = "use fewer and larger blocks, or collect more observations in them"
        else:
            longest = strata.rows.shape[1]
            several = np.unique(np.bincount(strata.unit)).size > 1
            advice = "collect more groups" + (
                f"; only groups of equal sizes can be exchanged and theirs range up to {longest}: drop observations "
                "at random until sizes agree, or test one summary of every group"
                if several
                else ""
            )
        left, smallest = _several(found.distinct, "different relabelling"), 1.0 / found.distinct
        raise ValueError(
            f"relabelling {found.restriction} leaves {left}, so that no p-value is below {smallest:.3g} and the test "
            f"can never reject at alpha={alpha:g}; {advice}"
        )


def read_samples(
    X: Any, Y: Any, nan_policy: str, *, blocks: Any = None, paired: Any = False, groups: Any = None
) -> tuple[Array, Array, bool, Restriction]:
    """Two samples, whether missing values remain, and the restriction of their splits.

    Labels are a vector for the pooled observations, those of X first, or a pair of vectors.  Under nan_policy="omit"
    the labels of rows with missing values are dropped with them; of a pair, both observations.
    """
    if not isinstance(paired, bool | np.bool_):
        raise TypeError(f"paired must be True or False, got {paired!r}")
    if not paired:
        x, y, _, missing = two_samples(X, Y, nan_policy)
        if blocks is None and groups is None:
            return x, y, missing, Restriction()
        whole = [as_points(z, name).values for z, name in ((X, "X"), (Y, "Y"))]
        keep, (m, n) = _kept(np.vstack(whole), nan_policy), map(len, whole)
        block, group = (
            None if labels is None else _codes(_pooled(labels, name, X, Y, m, n), name, keep)
            for labels, name in ((blocks, "blocks"), (groups, "groups"))
        )
        return x, y, missing, _checked(block, group, np.arange(len(x) + len(y)) >= len(x))
    for labels, name in ((blocks, "blocks"), (groups, "groups")):
        if labels is not None:
            raise ValueError(
                f"paired=True exchanges the two observations of a pair only, so that {name}= has nothing to say; leave "
                "it out, or leave out paired=True (matched groups: blocks= names the match, groups= the group)"
            )
    choice(nan_policy, NAN_POLICIES, "nan_policy")
    x, y, _, missing = two_samples(X, Y, "propagate" if nan_policy == "omit" else nan_policy)
    if len(x) != len(y):
        raise ValueError(f"paired=True needs as many rows in X as in Y, row i of each a pair; found {len(x)}, {len(y)}")
    _check_same_index(X, Y)
    if nan_policy == "omit" and missing:
        keep = _kept(np.hstack([x, y]), nan_policy)
        x, y, missing = x[keep], y[keep], False
        _at_least_two_rows(x, "X and Y", ~keep)
    return x, y, missing, Restriction(paired=True)


def read_pairs(
    X: Any, Y: Any, nan_policy: str, *, blocks: Any = None, groups: Any = None, shift: Any = None
) -> tuple[Array, Array, bool, Restriction]:
    """Two variables, whether missing values remain, and the restriction of their pairings.

    Under nan_policy="omit" the labels of rows with missing values are dropped with them.
    """
    x, y, missing = paired_samples(X, Y, nan_policy)
    if blocks is None and groups is None and shift is None:
        return x, y, missing, Restriction()
    whole = np.hstack([as_points(z, name).values for z, name in ((X, "X"), (Y, "Y"))])
    keep = _kept(whole, nan_policy)
    if shift is not None:
        choice(shift, SHIFTS, "shift")
        if groups is not None:
            raise ValueError(
                f"shift={shift!r} moves single observations along in time, and groups= moves several at once; leave "
                "one of them out (series that are shifted apart from each other: blocks=)"
            )
        if not keep.all():
            raise ValueError(
                f"shift={shift!r} needs series without gaps, and nan_policy='omit' would cut out "
                f"{int((~keep).sum())} rows; fill them in (interpolate), or test a part without missing values"
            )
    read = []
    for labels, name in ((blocks, "blocks"), (groups, "groups")):
        if labels is not None:
            _same_order(labels, name, X, "X")
            labels = _codes(_vector(labels, name, len(whole), "X and Y"), name, keep)
        read.append(labels)
    found = _checked(*read)
    return x, y, missing, Restriction(found.blocks, found.groups, shift=shift is not None)


def _several(number: int, thing: str) -> str:
    return f"{number} {thing}{'s' * (number != 1)}"


def _kept(values: Array, nan_policy: str) -> np.ndarray:
    """Which rows a test keeps."""
    missing = np.isnan(values).any(axis=1)
    return np.asarray(~missing if nan_policy == "omit" else np.ones(len(values), dtype=bool))


def _checked(
    blocks: np.ndarray | None, groups: np.ndarray | None, sample: np.ndarray | None = None, which: str = "both X and Y"
) -> Restriction:
    """A restriction whose groups lie each in one block and in one sample."""

    def cut_by(labels: np.ndarray | None) -> bool:
        if groups is None or labels is None:
            return False
        return len(np.unique(np.column_stack([groups, labels]), axis=0)) > np.unique(groups).size

    if cut_by(sample):
        raise ValueError(
            f"groups: some groups have observations in {which}, so that they cannot move as a whole; where the "
            "samples differ within groups, relabel within them: blocks= instead of groups="
        )
    if cut_by(blocks):
        raise ValueError(
            "groups: some groups have observations in more than one block, which they would leave when they move as a "
            "whole; make blocks of whole groups, or leave one of the two out"
        )
    return Restriction(blocks, groups)


def _pooled(labels: Any, name: str, X: Any, Y: Any, m: int, n: int) -> list[Any]:
    """Labels of the pooled observations, from one vector or one for each sample."""
    apart = isinstance(labels, tuple | list) and len(labels) == 2 and all(map(_is_vector, labels))
    if not apart:
        return _vector(labels, name, m + n, f"X and Y together (or give a pair, {name}=(those of X, those of Y))")
    for z, one, which in ((X, labels[0], "X"), (Y, labels[1], "Y")):
        _same_order(one, name, z, which)
    return _vector(labels[0], name, m, "X") + _vector(labels[1], name, n, "Y")


def _is_vector(value: Any) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, str | bytes)


def _vector(labels: Any, name: str, size: int, what: str) -> list[Any]:
    """As many labels as there are observations."""
    if isinstance(labels, str) or not (isinstance(labels, Sequence) or hasattr(labels, "__array__")):
        raise TypeError(f"{name} must be a vector of labels, one for each observation; got {type(labels).__name__}")
    if getattr(labels, "ndim", 1) != 1:
        raise ValueError(f"{name} must be a vector of labels, one for each observation; got shape {labels.shape}")
    if len(labels) != size:
        raise ValueError(f"{name} has {len(labels)} labels, and there are {size} rows in {what}")
    return list(labels.tolist() if hasattr(labels, "tolist") else labels)


def _same_order(labels: Any, name: str, table: Any, which: str) -> None:
    """Labels in a pandas Series must have the index of the table that they belong to."""
    pandas = sys.modules.get("pandas")
    if pandas is None or not (
        isinstance(labels, pandas.Series) and isinstance(table, (pandas.DataFrame, pandas.Series))
    ):
        return
    if len(labels) == len(table) and not labels.index.equals(table.index):
        raise ValueError(
            f"{name} and {which} have different row labels, so that labels would belong to other rows; align them "
            f"(such as {name}.loc[{which}.index]), or pass {name}.to_numpy() to go by position"
        )


def _codes(labels: list[Any], name: str, keep: np.ndarray) -> np.ndarray:
    """Whole numbers from 0 for the labels of the rows that are kept, in the order in which they are met."""
    pandas = sys.modules.get("pandas")
    codes: dict[Any, int] = {}
    out = np.empty(int(keep.sum()), dtype=np.int64)
    for place, row in enumerate(np.flatnonzero(keep)):
        label = labels[row]
        try:
            hash(label)
        except TypeError:
            raise TypeError(f"{name} must hold labels such as numbers or text; row {row} has {label!r}") from None
        if label is None or (pandas is not None and label is pandas.NA) or label != label:
            raise ValueError(f"{name} has no label for row {row} (counting from 0); every observation needs one")
        out[place] = codes.setdefault(label, len(codes))
    return out
