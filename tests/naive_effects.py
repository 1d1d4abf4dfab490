"""Slow twins of effects: loops over observations, deletion by leaving rows out, U-centering entry by entry."""

from __future__ import annotations

from itertools import permutations

import numpy as np
from scipy import stats


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


def u_centered(gram):
    """The U-centered matrix of Szekely and Rizzo (2014), definition 2."""
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
    return (u_centered(x) * u_centered(y)).sum() / (n * (n - 3))


def cross_spread(gram, m):
    """Unbiased inner product of two covariance operators, from the products of two samples."""
    part = gram[:m, m:]
    n = part.shape[1]
    centered = np.empty_like(part)
    for i in range(m):
        for j in range(n):
            centered[i, j] = part[i, j] - part[i].mean() - part[:, j].mean() + part.mean()
    return (centered**2).sum() / ((m - 1) * (n - 1))


def second_order(gram, p, q):
    """Variance of the unbiased squared distance of two samples where it is zero, from weights of their units."""
    m, total = len(p), 0.0
    for weights, part in ((p, gram[:m, :m]), (q, gram[m:, m:])):
        pairs = [weights[i] * weights[j] for i, j in permutations(range(len(weights)), 2)]
        total += (
            2.0 * sum(product**2 for product in pairs) / sum(pairs) ** 2 * u_product(part, part)
        )
    return total + 4.0 * sum(
        (p_weight * q_weight) ** 2 for p_weight in p for q_weight in q
    ) * cross_spread(gram, m)


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
            of_four += [
                x[i, j] * y[q, r]
                for r in range(n)
                if groups[r] not in (groups[i], groups[j], groups[q])
            ]
    return np.mean(products) + np.mean(of_four) - 2.0 * np.mean(of_three)


def correlation_of_groups(x, y, groups):
    """Kernel correlation from pairs of different groups."""
    both, left, right = (hsic_of_groups(*pair, groups) for pair in ((x, y), (x, x), (y, y)))
    return both / np.sqrt(left * right)


def margins(gram):
    """Matrix that centering subtracts from a Gram matrix."""
    return gram.mean(axis=0) + gram.mean(axis=1)[:, None] - gram.mean()


def noise_of_groups(x, y, groups):
    """The variance of the kernel correlation under independence, from products of centered Gram matrices."""
    products = (x - margins(x)) * (y - margins(y))
    names, total = sorted(set(groups)), 0.0
    for g in names:
        for h in names:
            if g != h:
                total += products[np.ix_(groups == g, groups == h)].sum() ** 2
    own = [hsic_of_groups(gram, gram, groups) for gram in (x, y)]
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
    """Variance of an area by DeLong's influences, less the excess of single pairs (1, 0, or 0.5).

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
                win = (scores[a] > scores[b]) + 0.5 * (scores[a] == scores[b])
                influence += win - value
                square += win**2 / (2.0 * pairs)
        parts[bool(second[i])].append(influence / pairs)
        both[units[i]] = both.get(units[i], 0.0) + influence / pairs
    squares = {
        k: sum(influence**2 for influence in part) * len(part) / (len(part) - 1)
        for k, part in parts.items()
    }
    single = square - value**2 - sum(len(parts[k]) * squares[k] for k in parts)
    total = squares[False] + squares[True]
    if linked:
        total = sum(influence**2 for influence in both.values()) * len(both) / (len(both) - 1)
    return total - max(single, 0.0) / pairs


def sample_coefficient(y, second, units, blocks, z, confidence):
    """The coefficient of the sample in a regression on blocks and covariates z (N, p), and its interval.

    Its variance is the sum over units of squares, with residuals times the root of the inverse of I - H for the rows of a
    unit (Bell and McCaffrey 2002), and its degrees of freedom are those of Welch (1947).
    """
    second, units, blocks = (np.asarray(codes) for codes in (second, units, blocks))
    columns = [(blocks == block).astype(float) for block in np.unique(blocks)]
    design = np.column_stack([second.astype(float), *columns, *np.transpose(z)])
    contrast = np.linalg.pinv(design)[0]
    used = np.abs(contrast) > 1e-9 * np.abs(contrast).max()
    if not used.all():
        rest = (y[used], second[used], units[used], blocks[used], np.asarray(z)[used], confidence)
        return sample_coefficient(*rest)
    hat = design @ np.linalg.pinv(design)
    left = y - hat @ y
    squares, counts = {}, {}
    for unit in np.unique(units):
        rows = np.flatnonzero(units == unit)
        within = np.eye(len(rows)) - hat[np.ix_(rows, rows)]
        sizes, axes = np.linalg.eigh(within)
        root = axes @ np.diag([0.0 if size < 1e-9 else size**-0.5 for size in sizes]) @ axes.T
        where = tuple(sorted(set(second[rows].tolist())))
        squares[where] = squares.get(where, 0.0) + (contrast[rows] @ root @ left[rows]) ** 2
        counts[where] = counts.get(where, 0) + 1
    variance = sum(squares.values())
    freedom = variance**2 / sum(squares[k] ** 2 / (counts[k] - 1) for k in squares)
    total = sum(counts.values())
    freedom *= min((total - np.linalg.matrix_rank(design)) / (total - 2), 1.0)
    reach = stats.t.ppf(0.5 + confidence / 2.0, max(freedom, 1.0)) * variance**0.5
    value = float(contrast @ y)
    return value, value - reach, value + reach


def median_limits(x, y, z):
    """Limits of the difference of medians: quantiles at all shares within z standard deviations of one half."""

    def quantile(ordered, share):
        place = share * len(ordered) - 0.5
        below = min(int(place), len(ordered) - 2)
        return ordered[below] + (place - below) * (ordered[below + 1] - ordered[below])

    x, y, differences = sorted(x), sorted(y), []
    for angle in np.linspace(0.0, np.pi / 2.0, 2001):
        up = z * 0.5 / len(x) ** 0.5 * np.cos(angle)
        across = z * 0.5 / len(y) ** 0.5 * np.sin(angle)
        for sign in (1.0, -1.0):
            differences.append(quantile(y, 0.5 + sign * across) - quantile(x, 0.5 - sign * up))
    return min(differences), max(differences)


def area_within(x, y, blocks_x, blocks_y):
    """How often y is larger in pairs of one block, with the weight 1 / (N + 1) in a block of N rows."""
    won = total = 0.0
    for a, block in zip(x, blocks_x, strict=True):
        for b, other in zip(y, blocks_y, strict=True):
            if block == other:
                rows = list(blocks_x).count(block) + list(blocks_y).count(block)
                total += 1.0 / (rows + 1.0)
                won += ((b > a) + 0.5 * (a == b)) / (rows + 1.0)
    return won / total


def hanley(a, m, n):
    """Variance of an area by Hanley and McNeil (1982), averaged over both directions."""

    def variance(a, m, n):
        q1, q2 = a / (2.0 - a), 2.0 * a**2 / (1.0 + a)
        return (a * (1.0 - a) + (m - 1.0) * (q1 - a**2) + (n - 1.0) * (q2 - a**2)) / (m * n)

    return 0.5 * (variance(a, m, n) + variance(1.0 - a, n, m))


# --- equivalence ------------------------------------------------------------------------------------------


def score_test(value, without, second, units, margin):
    """z and p-value of a quantity's being the margin or more; ``without``: by sample, estimates with one left out."""
    jackknife = sum(
        (len(estimates) - 1.0)
        / len(estimates)
        * sum((x - np.mean(estimates)) ** 2 for x in estimates)
        for estimates in without
    )
    first = max(jackknife - 2.0 * second, 0.0)
    slope = (first + 2.0 * second) / (max(value, 0.0) + (2.0 * second) ** 0.5)
    # the largest over all quantities that are the margin or more
    z = max(
        (value - theta) / (second + slope * theta) ** 0.5
        for theta in margin + np.linspace(0.0, 1.0, 200001)
    )
    return z, stats.t(units - 1).cdf(z)


def distance(K, m):
    """The squared distance of two means over the sum of their squared norms, from pairs of different observations."""
    n = len(K) - m
    x, y = range(m), range(m, m + n)
    a = np.mean([K[i, j] for i in x for j in x if i != j])
    b = np.mean([K[i, j] for i in y for j in y if i != j])
    c = np.mean([K[i, j] for i in x for j in y])
    return (a + b - 2.0 * c) / (a + b), a + b


def distance_test(K, m, margin):
    """Of two samples, the first of m rows."""
    value, unit = distance(K, m)

    def left(i):
        keep = [j for j in range(len(K)) if j != i]
        return distance(K[np.ix_(keep, keep)], m - (i < m))[0]

    n = len(K) - m
    without = [[left(i) for i in range(m)], [left(i) for i in range(m, m + n)]]
    x, y = range(m), range(m, m + n)
    both = np.mean(
        [
            (K[i, k] - K[i, q] - K[j, k] + K[j, q]) ** 2 / 4.0
            for i in x for j in x if i != j for k in y for q in y if k != q
        ]
    )  # fmt: skip
    within = sum(2.0 * operator_norm(K, part) / (len(part) * (len(part) - 1.0)) for part in (x, y))
    second = (within + 4.0 * both / (m * n)) / unit**2
    return value, *score_test(value, without, second, min(m, n), margin)


def operator_norm(K, rows):
    """The squared norm of the covariance operator."""
    return np.mean(
        [
            K[i, j] ** 2 - 2.0 * K[i, j] * K[i, k] + K[i, j] * K[k, q]
            for i, j, k, q in permutations(rows, 4)
        ]
    )


def dependence(K, L):
    """HSIC over the root of the HSIC of both variables with themselves."""
    tuples = list(permutations(range(len(K)), 4))

    def hsic(K, L):
        return np.mean([K[i, j] * (L[i, j] + L[k, q] - 2.0 * L[i, k]) for i, j, k, q in tuples])

    return hsic(K, L) / (hsic(K, K) * hsic(L, L)) ** 0.5


def dependence_test(K, L, margin):
    """Of two variables."""
    n, without = len(K), []
    for i in range(n):
        keep = np.ix_(*[[j for j in range(n) if j != i]] * 2)
        without.append(dependence(K[keep], L[keep]))
    value = dependence(K, L)
    return value, *score_test(value, [without], 2.0 / (n * (n - 3.0)), n, margin)
