"""Slow, literal twins of restricted relabellings: all of them, picked out of everything.

Nothing here comes from the package.
"""

from __future__ import annotations

import itertools


def members(groups):
    """Observations of every group, in order: {label: [places]}."""
    return {label: [i for i, g in enumerate(groups) if g == label] for label in groups}


def all_splits(m, n, blocks=None, groups=None):
    """Every first sample of m observations that is a union of whole groups and like the observed one in its make-up.

    That is, it has as many groups of every size from every block.
    """
    N = m + n
    blocks = [0] * N if blocks is None else list(blocks)
    groups = list(range(N)) if groups is None else list(groups)

    def makeup(S):
        inside = [places for places in members(groups).values() if set(places) <= set(S)]
        if sum(map(len, inside)) < len(S):
            return None  # it cuts a group
        return sorted((blocks[places[0]], len(places)) for places in inside)

    return [S for S in itertools.combinations(range(N), m) if makeup(S) == makeup(range(m))]


def all_pairings(n, blocks=None, groups=None):
    """Every permutation that moves whole groups, their order kept, to groups of their block and size."""
    blocks = [0] * n if blocks is None else list(blocks)
    groups = list(range(n)) if groups is None else list(groups)
    places = list(members(groups).values())

    def allowed(pi):
        if any(blocks[pi[i]] != blocks[i] for i in range(n)):
            return False
        return all([pi[i] for i in group] in places for group in places)

    return [pi for pi in itertools.permutations(range(n)) if allowed(pi)]


def all_shifts(n, blocks=None):
    """Every combination of circular shifts of the series, which are the blocks."""
    series = list(members([0] * n if blocks is None else list(blocks)).values())
    found = []
    for steps in itertools.product(*(range(len(places)) for places in series)):
        pi = [0] * n
        for places, step in zip(series, steps, strict=True):
            for j, i in enumerate(places):
                pi[i] = places[(j + step) % len(places)]
        found.append(tuple(pi))
    return found
