"""Slow, literal twins of tests of independence given other variables.  Nothing here comes from the package."""

from __future__ import annotations

import itertools

import numpy as np
from scipy import stats


def hsic(K, L):
    """The V form, by loops over centered kernels."""
    n = len(K)
    H = np.eye(n) - 1.0 / n
    return float(np.trace(H @ K @ H @ L)) / n**2


def gaussian(x, width):
    return np.exp(-np.square(x[:, None, :] - x[None, :, :]).sum(axis=2) / (2.0 * width**2))


def centered(points, codes):
    """Rows less the mean of their stratum."""
    points, codes = np.asarray(points, dtype=float), np.asarray(codes)
    return np.array(
        [row - points[codes == code].mean(axis=0) for row, code in zip(points, codes, strict=True)]
    )


def within(labels):
    """Every permutation of rows that keeps the labels where they are."""
    n = len(labels)
    return [
        pi
        for pi in itertools.permutations(range(n))
        if all(labels[pi[i]] == labels[i] for i in range(n))
    ]


def chances_of_labels(odds, second):
    """The probability of every set of ``second`` observations, as labels, by the product of the odds in it."""
    rows = [
        tuple(int(i in chosen) for i in range(len(odds)))
        for chosen in itertools.combinations(range(len(odds)), second)
    ]
    weight = np.array([np.prod([odds[i] for i in range(len(odds)) if row[i]]) for row in rows])
    return dict(zip(rows, weight / weight.sum(), strict=True))


def ridge(gram, y, amount):
    """Predictions (n, r) of a kernel ridge regression with a mean of its own that is not shrunk."""
    n = len(gram)
    H = np.eye(n) - 1.0 / n
    centered = H @ gram @ H
    return y.mean(axis=0) + centered @ np.linalg.solve(
        centered + amount * np.eye(n), y - y.mean(axis=0)
    )


def left_out(gram, y, amount):
    """The squared error of the prediction of every row by a kernel ridge regression on the others, with a mean."""
    n, total = len(gram), 0.0
    for i in range(n):
        others = np.delete(np.arange(n), i)
        system = np.ones((n, n))
        system[:-1, :-1] = gram[np.ix_(others, others)] + amount * np.eye(n - 1)
        system[-1, -1] = 0.0
        solution = np.linalg.solve(system, np.vstack([y[others], np.zeros((1, y.shape[1]))]))
        total += ((y[i] - gram[i, others] @ solution[:-1] - solution[-1]) ** 2).sum()
    return total


def best_left(grams, y, amounts, most):
    """Residuals of the regression with the least leave-one-out error, and its number; 0 for the mean alone.

    Amounts are relative to the largest eigenvalue; none counts with which a row is hardly predicted by others.
    """
    n = len(y)
    alone = sum(((y[i] - np.delete(y, i, axis=0).mean(axis=0)) ** 2).sum() for i in range(n))
    fits, number = [(alone, 0, y - y.mean(axis=0))], 0
    for gram in grams:
        centered = gram - gram.mean(axis=0) - gram.mean(axis=1)[:, None] + gram.mean()
        for amount in np.array(amounts) * np.linalg.eigvalsh(centered)[-1]:
            number += 1
            own = np.diag(ridge(gram, np.eye(n), amount))
            if own.max() <= most:
                fits.append((left_out(gram, y, amount), number, y - ridge(gram, y, amount)))
    return min(fits, key=lambda fit: fit[:2])[1:][::-1]


def signed(gram, signs):
    """The squared norm of the mean of features with signs."""
    n = len(gram)
    return sum(signs[i] * signs[j] * gram[i, j] for i in range(n) for j in range(n)) / n**2


def inflation(first, second):
    """The squared sum of products of residuals of white noise, by the mean of that with random signs; 1 at least.

    Row i of ``first`` and ``second`` says what residual i is of the noise.
    """
    first_gram, second_gram = first @ first.T, second @ second.T
    return max(
        1.0, (first_gram * second_gram).sum() / (np.diag(first_gram) * np.diag(second_gram)).sum()
    )


def bounded(values):
    """Columns in mean sizes, bent to a bound of four, with mean 0 and variance 1."""
    less = values - values.mean(axis=0)
    u = less / np.abs(less).mean(axis=0)
    bent = u / np.sqrt(1.0 + u**2 / 16.0)
    return (bent - bent.mean(axis=0)) / bent.std(axis=0)


def squared(lines):
    """Squares of columns less their means."""
    return lines**2 - (lines**2).mean(axis=0)


def crossed(lines, squares):
    """The Gram matrix of all products of a line of one variable and a square of the other."""
    first_lines, second_lines = (part @ part.T for part in lines)
    first_squares, second_squares = (part @ part.T for part in squares)
    return first_lines * second_squares + first_squares * second_lines


def chance(gram, signs, factor):
    """The chance of a squared norm by the gamma distribution with the mean and the variance that it has over signs."""
    every = [
        np.array((1.0, *rest)) for rest in itertools.product((1.0, -1.0), repeat=len(gram) - 1)
    ]
    norms = np.array([signed(gram, each) for each in every])
    mean, variance = norms.mean(), norms.var()
    value = signed(gram, signs) * (1.0 if (signs > 0).all() else factor)
    return stats.gamma.sf(value, mean**2 / variance, scale=variance / mean)


def combined(grams, shares, factors, signs):
    """Minus the logarithm of the smallest chance, each over its share of the largest."""
    chances = [
        chance(gram, signs, factor) * max(shares) / share
        for gram, share, factor in zip(grams, shares, factors, strict=True)
    ]
    return -np.log10(min(1.0, *chances))
