"""Slow twins of regions: boxes by loops, and the step-down procedure over permutations that are given."""

from __future__ import annotations

import itertools
import math


def splits(first, second):
    """All ways to choose so many rows of a pooled sample, the first ones first, as labels."""
    for chosen in itertools.combinations(range(first + second), first):
        yield [0 if row in chosen else 1 for row in range(first + second)]


def count(labels, inside):
    """Rows of the first sample in a box."""
    return sum(1 for label, holds in zip(labels, inside, strict=True) if holds and label == 0)


def heights(permutations, boxes):
    """Counts less their mean over the permutations, over their root mean square, for each box."""
    out = []
    for inside in boxes:
        counts = [count(labels, inside) for labels in permutations]
        mean = sum(counts) / len(counts)
        spread = math.sqrt(sum((c - mean) ** 2 for c in counts) / len(counts))
        out.append([(c - mean) / spread if spread > 1e-9 else 0.0 for c in counts])
    return out


def pvalues(table):
    """Share of permutations that reach the first one, for each box."""
    return [sum(1 for z in row if abs(z) >= abs(row[0]) - 1e-9) / len(row) for row in table]


def step_down(table):
    """Adjusted p-values: the largest of the boxes that are not clearer reaches this one."""
    order = sorted(range(len(table)), key=lambda k: -abs(table[k][0]))
    adjusted = [0.0] * len(table)
    least = 0.0
    for place, k in enumerate(order):
        others = order[place:]
        reached = 0
        for b in range(len(table[0])):
            largest = max(abs(table[j][b]) for j in others)
            reached += largest >= abs(table[k][0]) - 1e-9
        least = max(least, reached / len(table[0]))
        adjusted[k] = least
    return adjusted
