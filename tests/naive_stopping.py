"""Slow, literal twins of sequential permutation tests, draw by draw.  Nothing here comes from the package.

A run is a sequence of booleans: whether draw 1, 2, ... reached the observed statistic.

References
----------
Besag and Clifford, Sequential Monte Carlo p-values, Biometrika 78, 1991.
"""

from __future__ import annotations

from fractions import Fraction


def besag_clifford(reached, h):
    """(p-value, draws): h / l at the h-th exceedance, (g + 1) / (B + 1) if there are only g < h among all B."""
    seen = 0
    for draw, one in enumerate(reached, 1):
        seen += one
        if seen == h:
            return h / draw, draw
    return (seen + 1) / (len(reached) + 1), len(reached)


def curtailed(reached, alphas):
    """(reject at each level, draws): stops when no outcome of the draws to come could change any decision."""
    rows = len(reached) + 1
    seen = 0
    for draw, one in enumerate(reached, 1):
        seen += one
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
    found = {}

    def follow(reached, probability):
        if len(reached) == B:
            value = outcome(reached)
            found[value] = found.get(value, Fraction(0)) + probability
            return
        chance = Fraction(sum(reached) + 1, len(reached) + 2)
        follow([*reached, True], probability * chance)
        follow([*reached, False], probability * (1 - chance))

    follow([], Fraction(1))
    return found
