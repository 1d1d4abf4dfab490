"""Equal pairs: which pairs of samples can be equal together, and Shaffer's adjustment by it.

J. P. Shaffer, Modified sequentially rejective multiple test procedures, Journal of the American
Statistical Association 81 (1986), 826-831.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

_MOST = 9  # samples whose partitions are listed: 21147 of them


def set_partitions(size: int) -> np.ndarray:
    """Return all partitions of a set as labels (partitions, size) of the parts.

    Every label is at most one more than those before it.
    """
    rows = np.zeros((1, 1), dtype=np.int8)
    for _ in range(size - 1):
        choices = rows.max(axis=1) + 2
        first = np.cumsum(choices) - choices
        added = np.arange(choices.sum()) - np.repeat(first, choices)
        rows = np.column_stack([np.repeat(rows, choices, axis=0), added.astype(np.int8)])
    return rows


def equal_counts(size: int) -> set[int]:
    """Return the numbers of pairs of so many samples that can be equal, whichever these are.

    Shaffer (1986), section 3: one part has j samples and j (j - 1) / 2 pairs, the rest any
    partition.
    """
    counts = [{0}]
    for samples in range(1, size + 1):
        possible = set()
        for part in range(1, samples + 1):
            pairs = part * (part - 1) // 2
            possible |= {pairs + rest for rest in counts[samples - part]}
        counts.append(possible)
    return counts[size]


class EqualPairs:
    """What pairs of samples can still be equal together, after some were found to differ.

    Equality is transitive, so the equal pairs are those within the parts of a partition of the
    samples.  Of more than nine samples only the number of equal pairs is bounded.

    Parameters
    ----------
    pairs
        The samples of every pair that is tested.
    """

    def __init__(self, pairs: Sequence[tuple[Any, Any]]) -> None:
        samples = list(dict.fromkeys(sample for pair in pairs for sample in pair))
        self.tested = len(pairs)
        self.every = len(samples) * (len(samples) - 1) // 2
        self.differing = 0
        self.possible: np.ndarray | None = None
        self.counts: set[int] = set()
        if len(samples) > _MOST:
            self.counts = equal_counts(len(samples))
            return
        labels = set_partitions(len(samples))
        places = [[samples.index(sample) for sample in pair] for pair in pairs]
        first, second = np.array(places).T
        self.possible = labels[:, first] == labels[:, second]  # (partitions, pairs)

    def most(self) -> int:
        """Return how many of the tested pairs can be equal at most."""
        if self.possible is not None:
            return int(self.possible.sum(axis=1).max())
        left = max(count for count in self.counts if count <= self.every - self.differing)
        return min(left, self.tested - self.differing)

    def differ(self, pair: int) -> None:
        """Record that a pair differs, by its place among those tested."""
        self.differing += 1
        if self.possible is not None:
            self.possible = self.possible[~self.possible[:, pair]]


def shaffer(pvalues: np.ndarray, labels: Sequence[tuple[Any, ...]]) -> np.ndarray:
    """Adjust p-values (m,) of pairs of samples by the step-down procedure of Shaffer.

    A p-value is multiplied by the largest number of pairs that can be equal if all pairs with
    smaller p-values differ (her second procedure, which uses which pairs these are).  The
    familywise error is controlled whichever pairs are equal, and however p-values depend on each
    other.

    Labels are (first, second) or (first, second, place); samples of different places may be equal
    or not independently of each other.

    Examples
    --------
    >>> shaffer(np.array([0.01, 0.02, 0.04]), [("a", "b"), ("a", "c"), ("b", "c")])
    array([0.03, 0.03, 0.04])
    """
    order = np.argsort(pvalues, kind="stable")
    members: dict[tuple[Any, ...], list[int]] = {}
    for i, label in enumerate(labels):
        members.setdefault(tuple(label[2:]), []).append(i)
    places = {place: EqualPairs([labels[i][:2] for i in at]) for place, at in members.items()}
    adjusted = np.empty(len(pvalues))
    largest = 0.0
    for i in order.tolist():
        most = sum(pairs.most() for pairs in places.values())
        largest = max(largest, float(min(1.0, most * pvalues[i])))
        adjusted[i] = largest
        place = tuple(labels[i][2:])
        places[place].differ(members[place].index(i))
    return adjusted
