"""Expectations of kernels under Gaussian distributions, in closed form.

X ~ N(m, S) and Y ~ N(m', S') are independent, g = m'm', th2 is the squared bandwidth.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from shrinktest._check import Array
from shrinktest.kernels import Gaussian, Kernel, Laplacian, Linear, Polynomial, Scaled, Sum
from shrinktest.risk.mixtures import NormalMixture

KNOWN = (
    "Linear, Polynomial of degree 1 to 3, Gaussian, Laplacian, their sums and positive multiples"
)


class ClosedForm(NamedTuple):
    """Expectations of one kernel under the k components of a mixture."""

    at: Callable[[Array], Array]  # E k(x, Y) for points x (n, d), shape (n, k)
    pairs: Callable[[], Array]  # E k(X, Y) for every pair of components, shape (k, k)
    diagonal: Callable[[], Array]  # E k(X, X), shape (k,)


def closed_form(kernel: Kernel, mixture: NormalMixture) -> ClosedForm:
    """Return the expectations of a kernel under the components of a mixture.

    ValueError if there is no closed form.
    """
    form = _FORMS.get(type(kernel))
    if form is None or (isinstance(kernel, Polynomial) and kernel.degree > 3):
        raise ValueError(f"{kernel!r} has no closed form under a mixture of Gaussians; use {KNOWN}")
    return form(kernel, mixture)


def _moments(kernel: Any, mixture: NormalMixture) -> ClosedForm:
    """(x'y + c)^degree, degree 1 to 3: moments of inner products."""
    degree, c = (1, 0.0) if isinstance(kernel, Linear) else (kernel.degree, kernel.offset)
    m = mixture.means
    s = mixture.covariances

    def at(points: Array) -> Array:
        t = points @ m.T + c
        if degree == 1:
            return t
        q = np.stack([np.einsum("nd,nd->n", points @ matrix, points) for matrix in s], axis=1)
        return t**2 + q if degree == 2 else t**3 + 3.0 * t * q

    def pairs() -> Array:
        g = m @ m.T
        if degree == 1:
            return c + g
        through = np.einsum("cd,kde->cke", m, s)  # m_c' S_k
        quadratic = np.einsum("cke,ce->ck", through, m)  # m_c' S_k m_c
        spread = quadratic + quadratic.T + np.einsum("cde,kde->ck", s, s)
        second = g**2 + spread  # E (X'Y)^2
        if degree == 2:
            return c**2 + 2.0 * c * g + second
        third = (
            g**3 + 3.0 * g * spread + 6.0 * np.einsum("cke,kce->ck", through, through)
        )  # last: m_c' S_k S_c m_k
        return c**3 + 3.0 * c**2 * g + 3.0 * c * second + third

    def diagonal() -> Array:
        square = s @ s
        first = np.einsum("cdd->c", s) + np.einsum("cd,cd->c", m, m)  # cumulants of X'X
        if degree == 1:
            return c + first
        second = 2.0 * np.einsum("cdd->c", square) + 4.0 * np.einsum("cd,cde,ce->c", m, s, m)
        if degree == 2:
            return c**2 + 2.0 * c * first + second + first**2
        third = 8.0 * np.einsum("cde,ced->c", square, s) + 24.0 * np.einsum(
            "cd,cde,ce->c", m, square, m
        )
        moment = third + 3.0 * first * second + first**3
        return c**3 + 3.0 * c**2 * first + 3.0 * c * (second + first**2) + moment

    return ClosedForm(at, pairs, diagonal)


def _normal(kernel: Any, mixture: NormalMixture) -> ClosedForm:
    """Gaussian kernel: th2^(d/2) |A|^(-1/2) exp(-delta' A^-1 delta / 2), A = th2 I + S (+ S')."""
    th2 = np.broadcast_to(np.square(kernel._widths(mixture.dimension)), (mixture.dimension,))

    def density(delta: Array, covariance: Array) -> Array:
        from scipy.linalg import solve_triangular

        factor = np.linalg.cholesky(covariance + np.diag(th2))
        white = solve_triangular(factor, delta.T, lower=True, check_finite=False)
        logarithm = 0.5 * np.log(th2).sum() - np.log(np.diag(factor)).sum()
        with np.errstate(under="ignore"):
            return np.exp(logarithm - 0.5 * np.einsum("dn,dn->n", white, white))

    return _by_differences(density, mixture.means, mixture.covariances)


def _coordinatewise(kernel: Any, mixture: NormalMixture) -> ClosedForm:
    """Laplacian kernel exp(-sum_j |x_j - y_j| / b_j), independent coordinates.

    It is a product of integrals.
    """
    widths = np.broadcast_to(kernel._widths(mixture.dimension), (mixture.dimension,))
    variances = np.einsum("cdd->cd", mixture.covariances)
    for c, (matrix, diagonal) in enumerate(zip(mixture.covariances, variances, strict=True)):
        if np.abs(matrix - np.diag(diagonal)).max() > 0.0:
            raise ValueError(
                f"{kernel!r} has a closed form for diagonal covariances only, and covariances[{c}] "
                "has other entries"
            )

    def product(delta: Array, variance: Array) -> Array:
        with np.errstate(under="ignore"):
            return np.prod(_folded(delta, variance, widths), axis=1)

    return _by_differences(product, mixture.means, variances)


def _by_differences(
    expected: Callable[[Array, Array], Array], means: Array, spreads: Array
) -> ClosedForm:
    """Return the form of a kernel of x - y that is 1 at 0, from its expectation.

    The expectation is at differences (n, d) with spread.
    """

    def pairs() -> Array:
        out = np.empty((len(means), len(means)))
        for c in range(len(means)):
            for k in range(c + 1):
                out[c, k] = out[k, c] = expected(
                    (means[c] - means[k])[np.newaxis], spreads[c] + spreads[k]
                )[0]
        return out

    return ClosedForm(
        lambda points: np.stack(
            [expected(points - m, s) for m, s in zip(means, spreads, strict=True)], axis=1
        ),
        pairs,
        lambda: np.ones(len(means)),
    )


def _folded(delta: Array, variance: Array, width: Array) -> Array:
    """Return E exp(-|delta + N(0, variance)| / width), always finite.

    Uses erfcx if its argument is positive, else exp erfc.
    """
    from scipy.special import erfc, erfcx

    far = np.abs(delta)
    scale = np.sqrt(2.0 * variance)
    near = (variance / width - far) / scale
    beyond = (variance / width + far) / scale
    bell = np.exp(-(far**2) / (2.0 * variance))
    tail = np.exp(
        np.minimum(variance / (2.0 * width**2) - far / width, 0.0)
    )  # used if it is below 1
    left = np.where(
        near > 0.0, bell * erfcx(np.maximum(near, 0.0)), tail * erfc(np.minimum(near, 0.0))
    )
    return 0.5 * (left + bell * erfcx(beyond))


def _combined(kernel: Any, mixture: NormalMixture) -> ClosedForm:
    """A sum of kernels, or a multiple of one."""
    terms, factor = (
        ((kernel.kernel,), kernel.factor) if isinstance(kernel, Scaled) else (kernel.terms, 1.0)
    )
    parts = [closed_form(term, mixture) for term in terms]
    return ClosedForm(
        lambda points: factor * np.sum([part.at(points) for part in parts], axis=0),
        lambda: factor * np.sum([part.pairs() for part in parts], axis=0),
        lambda: factor * np.sum([part.diagonal() for part in parts], axis=0),
    )


_FORMS: dict[type[Kernel], Callable[[Any, NormalMixture], ClosedForm]] = {
    Linear: _moments,
    Polynomial: _moments,
    Gaussian: _normal,
    Laplacian: _coordinatewise,
    Scaled: _combined,
    Sum: _combined,
}
