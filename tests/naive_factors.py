"""Slow twins of tests for designs with several factors: least squares fitted again, in loops."""

import itertools

import numpy as np


def residuals(columns, response):
    """What is left of a response after least squares on columns."""
    return response - columns @ np.linalg.lstsq(columns, response, rcond=None)[0]


def robust_residuals(columns, response, fits=8):
    """The same after fits in which rows beyond the median distance have less weight."""
    left = residuals(columns, response)
    for _ in range(fits - 1):
        size = np.sqrt((left**2).sum(axis=1))
        weights = np.minimum(1.0, np.median(size) / size)
        root = np.sqrt(weights)[:, None]
        fit = np.linalg.lstsq(root * columns, root * response, rcond=None)[0]
        left = response - columns @ fit
    return left


def sum_of_squares(columns, response):
    return (residuals(columns, response) ** 2).sum()


def features_of(gram):
    """Coordinates whose inner products are a positive semi-definite Gram matrix."""
    values, vectors = np.linalg.eigh(gram)
    return vectors * np.sqrt(np.maximum(values, 0.0))


def rank(columns):
    return np.linalg.matrix_rank(columns, tol=1e-8 * max(1.0, np.abs(columns).max()))


def hat(columns):
    return columns @ np.linalg.pinv(columns, rcond=1e-10)


def term_f(response, others, term):
    """F of the columns of a term next to the columns of all other terms."""
    both = np.hstack([others, term])
    d = rank(both) - rank(others)
    df = len(response) - rank(both)
    without = sum_of_squares(others, response)
    full = sum_of_squares(both, response)
    return (without - full) / d / (full / df)


def statistic(response, before, term, rest, robust=True):
    """F or T of a term adjusted for ``before``, in a model with ``rest`` as well."""
    model = np.hstack([before, term, rest])
    adjusted = np.hstack([before, term])
    explained = sum_of_squares(before, response) - sum_of_squares(adjusted, response)
    left = residuals(model, response)
    if not robust:
        d = rank(adjusted) - rank(before)
        return explained / d / ((left**2).sum() / (len(response) - rank(model)))
    gain = np.diag(hat(adjusted) - hat(before))
    leverage = np.diag(hat(model))
    mean = (left**2).sum() / (len(response) - rank(model))
    expected = 0.0
    for i in range(len(response)):
        free = 1.0 - leverage[i]
        spread = (left[i] ** 2).sum() / free if free > 1e-6 else mean
        expected += gain[i] * spread
    return explained / expected


def omega2(response, others, term):
    both = np.hstack([others, term])
    d = rank(both) - rank(others)
    without = sum_of_squares(others, response)
    full = sum_of_squares(both, response)
    mean = full / (len(response) - rank(both))
    return (without - full - d * mean) / (without + mean)


def omega2_error(response, others, term, units):
    """Standard error by refitting without the rows of each unit."""
    values = []
    for unit in np.unique(units):
        keep = units != unit
        values.append(omega2(response[keep], others[keep], term[keep]))
    values = np.array(values)
    count = len(values)
    return np.sqrt((count - 1) / count * ((values - values.mean()) ** 2).sum())


def indicators(labels):
    return np.array([[float(label == level) for level in sorted(set(labels))] for label in labels])


def products(first, second):
    return np.array([np.outer(x, y).ravel() for x, y in zip(first, second, strict=True)])


def relabeled(labels, cells):
    """All different ways to exchange labels within cells, as tuples."""
    places = [[i for i, cell in enumerate(cells) if cell == own] for own in sorted(set(cells))]
    orders = [set(itertools.permutations([labels[i] for i in where])) for where in places]
    for choice in itertools.product(*orders):
        out = list(labels)
        for where, values in zip(places, choice, strict=True):
            for i, value in zip(where, values, strict=True):
                out[i] = value
        yield tuple(out)
