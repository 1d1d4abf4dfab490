"""The formulas of the monitor, counted anew for every row."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

FIRST = 0.3
SHIFTS = (-2.0, -1.25, -0.75, -0.4, 0.4, 0.75, 1.25, 2.0)
SPREADS = (0.5, 0.7, 1.35, 1.8, 2.5)


def cell(reference, ties, score, tie):
    """How many reference rows come before a row, ties in the order of their uniform numbers."""
    return sum(
        (value, number) < (score, tie) for value, number in zip(reference, ties, strict=True)
    )


def tilts(size):
    """Ratios of the densities of N(m, 1) and N(0, s^2) to that of N(0, 1), at the middle of every cell."""
    rows = []
    for j in range(size + 1):
        z = NormalDist().inv_cdf((j + 0.5) / (size + 1))
        base = NormalDist().pdf(z)
        shifted = [NormalDist(m).pdf(z) / base for m in SHIFTS]
        rows.append(shifted + [NormalDist(0.0, s).pdf(z) / base for s in SPREADS])
    return rows


def start_weights(count):
    """Prior weights of starts at rows 0, 1, ..., and of all later ones."""

    def after(t):
        return (1.0 - FIRST) * math.log(50.5) / math.log(50.5 + t)

    weights = [FIRST] + [after(t - 1) - after(t) for t in range(1, count)]
    return weights, after(count - 1)


def probability(path, colors):
    """Probability that Polya's urn draws these cells, counted anew for every ball."""
    p = 1.0
    for t, color in enumerate(path):
        p *= (1 + path[:t].count(color)) / (colors + t)
    return p


def payments(path, f):
    """What a bet f on cells pays for every row."""
    out = []
    for t, color in enumerate(path):
        balls = [f[j] for j in range(len(f))] + [f[earlier] for earlier in path[:t]]
        out.append(f[color] * len(balls) / sum(balls))
    return out


def evidence(path, bets):
    """Mean over bets and explicit starts of the product of payments since the start; later starts pay 1."""
    weights, later = start_weights(len(path))
    total = 0.0
    for b in range(len(bets[0])):
        paid = payments(path, [row[b] for row in bets])
        total += sum(w * math.prod(paid[u:]) for u, w in enumerate(weights))
    return total / len(bets[0]) + later


def run_evidence(path, bets):
    """Mean over bets of the sum over starts of products: Shiryaev and Roberts."""
    total = 0.0
    for b in range(len(bets[0])):
        paid = payments(path, [row[b] for row in bets])
        total += sum(math.prod(paid[u:]) for u in range(len(path)))
    return total / len(bets[0])


def change(path, bets):
    """The start at which the product of the wealthiest bet is largest; the last of equal ones."""
    weights, _ = start_weights(len(path))
    wealth = []
    products = []
    for b in range(len(bets[0])):
        paid = payments(path, [row[b] for row in bets])
        products.append([math.prod(paid[u:]) for u in range(len(path))])
        wealth.append(sum(w * p for w, p in zip(weights, products[-1], strict=True)))
    best = products[wealth.index(max(wealth))]
    return max(range(len(path)), key=lambda u: best[u])


def order_of_levels(half):
    """Levels of half A by their share, the most frequent first, equal ones by their code."""
    return sorted(set(half), key=lambda level: (-half.count(level), level))


def novelty(row, half):
    """Squared Mahalanobis distance of a row from half A, with a ridge of 5% of the mean variance."""
    half = np.asarray(half)
    center = half.mean(axis=0)
    covariance = sum(np.outer(x - center, x - center) for x in half) / (len(half) - 1)
    ridge = 0.05 * np.trace(covariance) / len(covariance)
    apart = np.asarray(row) - center
    return float(apart @ np.linalg.solve(covariance + ridge * np.eye(len(covariance)), apart))


def encoded(row, half, categorical):
    """Numbers in standard deviations from the median of half A, gaps, and indicators of its levels."""
    numbers, gaps, levels = [], [], []
    for j, value in enumerate(row):
        column = [x[j] for x in half]
        known = [x for x in column if not math.isnan(x)]
        if not categorical[j]:
            unit = float(np.std(known)) or 1.0
            numbers.append(0.0 if math.isnan(value) else (value - float(np.median(known))) / unit)
        if len(known) < len(column):
            gaps.append(math.sqrt(2.0) * math.isnan(value))
        if categorical[j]:
            levels += [float(value == level) for level in sorted(set(known))]
    return numbers + gaps + levels


def curved(row, frequencies, phases):
    """Random waves, and products of two clipped columns."""
    waves = []
    for frequency, phase in zip(np.transpose(frequencies), phases, strict=True):
        waves.append(math.cos(sum(x * w for x, w in zip(row, frequency, strict=True)) + phase))
    waves = [wave / math.sqrt(len(waves)) for wave in waves]
    clipped = [min(max(x, -4.0), 4.0) for x in row]
    pairs = [(i, j) for i in range(len(row)) for j in range(i, len(row))]
    return waves + [clipped[i] * clipped[j] / math.sqrt(len(pairs)) for i, j in pairs]


def witness_evidence(features, reference, mean, width, stride, bets):
    """Evidence of all witnesses after each row, the first at most six, whatever happens to them.

    There are no ties.  The shares are log(7.5) / log(k + 7.5) - log(7.5) / log(k + 8.5).
    """
    out = []
    for t in range(1, len(features) + 1):
        best = 0.0
        for k, born in enumerate(range(width, t, stride)):
            direction = np.mean(features[born - width : born], axis=0) - mean
            scores = [float(x @ direction) for x in reference]
            path = [sum(s < float(x @ direction) for s in scores) for x in features[born:t]]
            products = [
                math.prod(payments(path, [f[b] for f in bets])) for b in range(len(bets[0]))
            ]
            share = math.log(7.5) / math.log(k + 7.5) - math.log(7.5) / math.log(k + 8.5)
            best = max(best, share * sum(products) / len(products))
        out.append(best)
    return out
