"""Slow, literal twins of permutation designs, stopping rules and serial correlation.

Nothing here comes from the package. A run of draws is a sequence of booleans: whether draw 1, 2, ... reached the
observed statistic.

References
----------
Besag and Clifford, Sequential Monte Carlo p-values, Biometrika 78, 1991.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np

# --- restricted permutations ---------------------------------------------------------------------------------------


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
    shifts = []
    for steps in itertools.product(*(range(len(places)) for places in series)):
        pi = [0] * n
        for places, step in zip(series, steps, strict=True):
            for j, i in enumerate(places):
                pi[i] = places[(j + step) % len(places)]
        shifts.append(tuple(pi))
    return shifts


# --- stopping ------------------------------------------------------------------------------------------------------


def besag_clifford(reached, h):
    """(p-value, draws): h / l at the h-th exceedance, (g + 1) / (B + 1) if there are only g < h among all B."""
    seen = 0
    for draw, exceeds in enumerate(reached, 1):
        seen += exceeds
        if seen == h:
            return h / draw, draw
    return (seen + 1) / (len(reached) + 1), len(reached)


def curtailed(reached, alphas):
    """(reject at each level, draws): stops when no outcome of the draws to come could change any decision."""
    rows = len(reached) + 1
    seen = 0
    for draw, exceeds in enumerate(reached, 1):
        seen += exceeds
        best, worst = (1 + seen) / rows, (1 + seen + len(reached) - draw) / rows
        if all((best <= alpha) == (worst <= alpha) for alpha in alphas):
            break
    return [worst <= alpha for alpha in alphas], draw


def curtailed_pvalue(reached, alphas):
    """The share of rows that reach the observed statistic, itself among them, when drawing stops."""
    draw = curtailed(reached, alphas)[1]
    return (1 + sum(reached[:draw])) / (1 + draw)


def law(outcome, B):
    """P(outcome) over null runs of B draws: {value: probability}, exact.

    With g exceedances among l exchangeable draws the next one exceeds with probability (g + 1) / (l + 2).
    """
    probabilities = {}

    def follow(reached, probability):
        if len(reached) == B:
            value = outcome(reached)
            probabilities[value] = probabilities.get(value, Fraction(0)) + probability
            return
        chance = Fraction(sum(reached) + 1, len(reached) + 2)
        follow([*reached, True], probability * chance)
        follow([*reached, False], probability * (1 - chance))

    follow([], Fraction(1))
    return probabilities


# --- serial correlation --------------------------------------------------------------------------------------------


def carried(gram, series):
    same = after = 0.0
    for rows in series:
        own = [[gram[i][j] for j in rows] for i in rows]
        mean = sum(map(sum, own)) / len(rows) ** 2
        for k in range(len(rows)):
            same += own[k][k] - mean
            after += own[k][(k + 1) % len(rows)] - mean
    return max(after / same, 0.0)


def junction_excess(gram_x, gram_y, series):
    """For series of one length: expected products of pairs, those kept by a shift over all of them."""
    g = carried(gram_x, series) * carried(gram_y, series)
    n = len(series[0])
    whole = sum(g ** abs(i - j) for i in range(n) for j in range(n))
    lost = []
    for shift in range(n):
        came_from = [(i + shift) % n for i in range(n)]
        parted = [
            g ** abs(i - j)
            for i in range(n)
            for j in range(n)
            if i != j and came_from[i] - came_from[j] != i - j
        ]
        lost.append(sum(parted))
    return np.mean(lost) / whole


def surely(rows, looks):
    """The correlation of successive rows from which it is no chance: three standard errors, and more of many looks."""
    return max(0.1, math.sqrt((3.0**2 + 2.0 * math.log(looks)) / rows))


def surely_both(rows, correlations, looks):
    """Test both of two variables for serial correlation: two standard errors each, and their product."""
    each = all(
        correlation > math.sqrt((2.0**2 + 2.0 * math.log(many)) / rows)
        for correlation, many in zip(correlations, looks, strict=True)
    )
    return each and math.prod(correlations) > max(0.1, (6.0 + math.log(math.prod(looks))) / rows)


def by_rare_values(values, present, looks):
    """A third of what is sure (Bernstein), by the number of values other than the usual one and the share of pairs."""
    seen = [value for value, is_present in zip(values, present, strict=True) if is_present]
    others = sum(value != np.median(seen) for value in seen)
    return (3.0**2 + 2.0 * math.log(looks)) / (3.0 * others * len(seen) / len(values))
