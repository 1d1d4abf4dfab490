"""Slow twins of effects: loops over observations, deletion by leaving rows out, U-centring entry by entry."""

from __future__ import annotations

from itertools import permutations

import numpy as np


def shares(gram, p, q, own=()):
    """Squared distance over the squared norms, and over the variance of an even mixture, from weights of rows.

    ``own``: pairs (i, j) of rows, of the first and of the second sample, that do not count; nor do rows with themselves
    or with rows in the set of ``own``.
    """
    m = len(p)

    def mean(rows, columns, left, right, start=(0, 0)):
        total = weight = 0.0
        for a in rows:
            for b in columns:
                i, j = start[0] + a, start[1] + b
                if (i, j) in own or (j, i) in own or i == j:
                    continue
                total += left[a] * right[b] * gram[i, j]
                weight += left[a] * right[b]
        return total / weight

    n = len(q)
    a = mean(range(m), range(m), p, p)
    b = mean(range(n), range(n), q, q, (m, m))
    c = mean(range(m), range(n), p, q, (0, m))
    u = sum(p[i] * gram[i, i] for i in range(m)) / sum(p)
    v = sum(q[j] * gram[m + j, m + j] for j in range(n)) / sum(q)
    squared = a + b - 2.0 * c
    return squared / (a + b), squared / 4.0 / (u / 2.0 + v / 2.0 - (a + b + 2.0 * c) / 4.0)


def u_centred(gram):
    """The U-centred matrix of Szekely and Rizzo (2014), definition 2."""
    n = len(gram)
    out = np.zeros((n, n))
    off = gram - np.diag(np.diag(gram))
    for i in range(n):
        for j in range(n):
            if i != j:
                rows = off[i].sum() / (n - 2) + off[:, j].sum() / (n - 2)
                out[i, j] = off[i, j] - rows + off.sum() / ((n - 1) * (n - 2))
    return out


def u_product(x, y):
    """The unbiased HSIC of two Gram matrices."""
    n = len(x)
    return (u_centred(x) * u_centred(y)).sum() / (n * (n - 3))


def cross_spread(gram, m):
    """Unbiased inner product of two covariance operators, from the products of two samples."""
    part = gram[:m, m:]
    n = part.shape[1]
    centred = np.empty_like(part)
    for i in range(m):
        for j in range(n):
            centred[i, j] = part[i, j] - part[i].mean() - part[:, j].mean() + part.mean()
    return (centred**2).sum() / ((m - 1) * (n - 1))


def second_order(gram, p, q):
    """Variance of the unbiased squared distance of two samples where it is zero, from weights of their units."""
    m, total = len(p), 0.0
    for weights, part in ((p, gram[:m, :m]), (q, gram[m:, m:])):
        pairs = [weights[i] * weights[j] for i, j in permutations(range(len(weights)), 2)]
        total += 2.0 * sum(one**2 for one in pairs) / sum(pairs) ** 2 * u_product(part, part)
    return total + 4.0 * sum((one * other) ** 2 for one in p for other in q) * cross_spread(gram, m)


def correlation(x, y):
    """Kernel correlation without bias."""
    return u_product(x, y) / np.sqrt(u_product(x, x) * u_product(y, y))


def hsic_of_groups(x, y, groups):
    """Means over pairs of two, of three and of four different groups."""
    products, of_three, of_four = [], [], []
    n = len(groups)
    for i, j in permutations(range(n), 2):
        if groups[i] == groups[j]:
            continue
        products.append(x[i, j] * y[i, j])
        for q in range(n):
            if groups[q] in (groups[i], groups[j]):
                continue
            of_three.append(x[i, j] * y[i, q])
            of_four += [x[i, j] * y[q, r] for r in range(n) if groups[r] not in (groups[i], groups[j], groups[q])]
    return np.mean(products) + np.mean(of_four) - 2.0 * np.mean(of_three)


def correlation_of_groups(x, y, groups):
    """Kernel correlation from pairs of different groups."""
    both, left, right = (hsic_of_groups(*pair, groups) for pair in ((x, y), (x, x), (y, y)))
    return both / np.sqrt(left * right)


def margins(gram):
    """What centring takes off a Gram matrix."""
    return gram.mean(axis=0) + gram.mean(axis=1)[:, None] - gram.mean()


def noise_of_groups(x, y, groups):
    """The variance of the kernel correlation under independence, from products of centred Gram matrices."""
    products = (x - margins(x)) * (y - margins(y))
    names, total = sorted(set(groups)), 0.0
    for g in names:
        for h in names:
            if g != h:
                total += products[np.ix_(groups == g, groups == h)].sum() ** 2
    own = [hsic_of_groups(one, one, groups) for one in (x, y)]
    return 2.0 * total / len(groups) ** 4 * len(names) / (len(names) - 3.0) / (own[0] * own[1])


def jackknife(values):
    """Variance from the estimates that leave one unit out."""
    values = np.asarray(values)
    n = len(values)
    return (n - 1) / n * ((values - values.mean()) ** 2).sum()


def area(scores, second, strata, units=None):
    """The share of pairs, in one stratum, in which the row of the first sample is higher, and the number of pairs.

    Rows of one unit are no pair.
    """
    won = pairs = 0.0
    units = range(len(scores)) if units is None else units
    for i in range(len(scores)):
        for j in range(len(scores)):
            if not second[i] and second[j] and strata[i] == strata[j] and units[i] != units[j]:
                pairs += 1.0
                won += (scores[i] > scores[j]) + 0.5 * (scores[i] == scores[j])
    return won / pairs, pairs


def area_variance(scores, second, strata, units=None):
    """What DeLong's influences add up to, less what single pairs (1, 0, or 0.5) add to them once too often.

    With units of a row of each sample the influences of both add up first.
    """
    linked, units = units is not None, range(len(scores)) if units is None else units
    value, pairs = area(scores, second, strata, units)
    parts, both, square = {False: [], True: []}, {}, 0.0
    for i in range(len(scores)):
        influence = 0.0
        for j in range(len(scores)):
            if second[i] != second[j] and strata[i] == strata[j] and units[i] != units[j]:
                a, b = (j, i) if second[i] else (i, j)
                found = (scores[a] > scores[b]) + 0.5 * (scores[a] == scores[b])
                influence += found - value
                square += found**2 / (2.0 * pairs)
        parts[bool(second[i])].append(influence / pairs)
        both[units[i]] = both.get(units[i], 0.0) + influence / pairs
    squares = {k: sum(one**2 for one in part) * len(part) / (len(part) - 1) for k, part in parts.items()}
    single = square - value**2 - sum(len(parts[k]) * squares[k] for k in parts)
    total = squares[False] + squares[True]
    if linked:
        total = sum(one**2 for one in both.values()) * len(both) / (len(both) - 1)
    return total - max(single, 0.0) / pairs


def hanley(a, m, n):
    """Variance of an area by Hanley and McNeil (1982), averaged over both directions."""

    def one(a, m, n):
        q1, q2 = a / (2.0 - a), 2.0 * a**2 / (1.0 + a)
        return (a * (1.0 - a) + (m - 1.0) * (q1 - a**2) + (n - 1.0) * (q2 - a**2)) / (m * n)

    return 0.5 * (one(a, m, n) + one(1.0 - a, n, m))
