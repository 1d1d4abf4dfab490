"""Expectations of kernels under Gaussian distributions, in closed form.

X ~ N(m, S) and Y ~ N(m', S') are independent, g = m'm', th2 is the squared bandwidth.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from shrinktest._check import Array
from shrinktest.kernels import Gaussian, Kernel, Laplacian, Linear, Polynomial, Scaled, Sum
from shrinktest.risk.mixture import NormalMixture

KNOWN = (
    "Linear, Polynomial of degree 1 to 3, Gaussian, Laplacian (diagonal covariances only), and sums and positive "
    "multiples of these"
)


class ClosedForm(ABC):
    """Expectations of one kernel under every component of a mixture."""

    def __init__(self, kernel: Any, mixture: NormalMixture) -> None:
        self.kernel = kernel
        self.means = mixture.means
        self.covariances = mixture.covariances

    @abstractmethod
    def at(self, points: Array) -> Array:
        """E k(x, Y) for the points x (n, d) and every component of Y, shape (n, k)."""

    @abstractmethod
    def pairs(self) -> Array:
        """E k(X, Y) for every pair of components, shape (k, k)."""

    @abstractmethod
    def diagonal(self) -> Array:
        """E k(X, X) for every component, shape (k,)."""


class _Moments(ClosedForm):
    """(x'y + offset)^degree, degree 1 to 3: moments of inner products."""

    degree: int
    offset: float

    def __init__(self, kernel: Any, mixture: NormalMixture) -> None:
        super().__init__(kernel, mixture)
        linear = isinstance(kernel, Linear)
        self.degree, self.offset = (1, 0.0) if linear else (kernel.degree, kernel.offset)

    def at(self, points: Array) -> Array:
        t = points @ self.means.T + self.offset
        if self.degree == 1:
            return t
        q = np.stack([np.einsum("nd,nd->n", points @ s, points) for s in self.covariances], axis=1)
        return t**2 + q if self.degree == 2 else t**3 + 3.0 * t * q

    def pairs(self) -> Array:
        m, s, c = self.means, self.covariances, self.offset
        g = m @ m.T
        if self.degree == 1:
            return c + g
        through = np.einsum("cd,kde->cke", m, s)  # m_c' S_k
        quadratic = np.einsum("cke,ce->ck", through, m)  # m_c' S_k m_c
        spread = quadratic + quadratic.T + np.einsum("cde,kde->ck", s, s)
        second = g**2 + spread  # E (X'Y)^2
        if self.degree == 2:
            return c**2 + 2.0 * c * g + second
        third = g**3 + 3.0 * g * spread + 6.0 * np.einsum("cke,kce->ck", through, through)  # last: m_c' S_k S_c m_k
        return c**3 + 3.0 * c**2 * g + 3.0 * c * second + third

    def diagonal(self) -> Array:
        m, s, c = self.means, self.covariances, self.offset
        square = s @ s
        first = np.einsum("cdd->c", s) + np.einsum("cd,cd->c", m, m)  # cumulants of X'X
        if self.degree == 1:
            return c + first
        second = 2.0 * np.einsum("cdd->c", square) + 4.0 * np.einsum("cd,cde,ce->c", m, s, m)
        if self.degree == 2:
            return c**2 + 2.0 * c * first + second + first**2
        third = 8.0 * np.einsum("cde,ced->c", square, s) + 24.0 * np.einsum("cd,cde,ce->c", m, square, m)
        moment = third + 3.0 * first * second + first**3
        return c**3 + 3.0 * c**2 * first + 3.0 * c * (second + first**2) + moment


class _Normal(ClosedForm):
    """The Gaussian kernel: th2^(d/2) |A|^(-1/2) exp(-delta' A^-1 delta / 2) with A = th2 I + S (+ S')."""

    def __init__(self, kernel: Any, mixture: NormalMixture) -> None:
        super().__init__(kernel, mixture)
        self.th2 = np.broadcast_to(np.square(kernel._widths(mixture.dimension)), (mixture.dimension,))

    def _density(self, delta: Array, covariance: Array) -> Array:
        """For the rows of delta (n, d) and one covariance matrix (d, d)."""
        from scipy.linalg import solve_triangular

        factor = np.linalg.cholesky(covariance + np.diag(self.th2))
        white = solve_triangular(factor, delta.T, lower=True, check_finite=False)
        logarithm = 0.5 * np.log(self.th2).sum() - np.log(np.diag(factor)).sum()
        with np.errstate(under="ignore"):
            return np.exp(logarithm - 0.5 * np.einsum("dn,dn->n", white, white))

    def at(self, points: Array) -> Array:
        components = zip(self.means, self.covariances, strict=True)
        return np.stack([self._density(points - m, s) for m, s in components], axis=1)

    def pairs(self) -> Array:
        k = len(self.means)
        out = np.empty((k, k))
        for c in range(k):
            for other in range(c + 1):
                delta = (self.means[c] - self.means[other])[np.newaxis]
                out[c, other] = out[other, c] = self._density(delta, self.covariances[c] + self.covariances[other])[0]
        return out

    def diagonal(self) -> Array:
        return np.ones(len(self.means))


class _Coordinatewise(ClosedForm):
    """The Laplacian kernel exp(-sum_j |x_j - y_j| / b_j) with independent coordinates: a product of integrals."""

    def __init__(self, kernel: Any, mixture: NormalMixture) -> None:
        super().__init__(kernel, mixture)
        self.widths = np.broadcast_to(kernel._widths(mixture.dimension), (mixture.dimension,))
        self.variances = np.einsum("cdd->cd", mixture.covariances)
        for c, (matrix, variances) in enumerate(zip(mixture.covariances, self.variances, strict=True)):
            if np.abs(matrix - np.diag(variances)).max() > 0.0:
                raise ValueError(
                    f"{kernel!r} has a closed form for diagonal covariances only, and covariances[{c}] has other "
                    "entries: drop them, or use a Gaussian kernel"
                )

    def _product(self, delta: Array, variances: Array) -> Array:
        """Product over coordinates of E exp(-|delta_j + N(0, variances_j)| / b_j); shapes (n, d) and (d,)."""
        out = np.ones(len(delta))
        for j, (variance, width) in enumerate(zip(variances, self.widths, strict=True)):
            with np.errstate(under="ignore"):
                out *= _folded(delta[:, j], float(variance), float(width))
        return out

    def at(self, points: Array) -> Array:
        components = zip(self.means, self.variances, strict=True)
        return np.stack([self._product(points - m, v) for m, v in components], axis=1)

    def pairs(self) -> Array:
        components = list(zip(self.means, self.variances, strict=True))
        return np.array([[self._product((m - o)[np.newaxis], v + w)[0] for o, w in components] for m, v in components])

    def diagonal(self) -> Array:
        return np.ones(len(self.means))


def _folded(delta: Array, variance: float, width: float) -> Array:
    """E exp(-|delta + N(0, variance)| / width), finite: erfcx where its argument is positive, else exp erfc."""
    from scipy.special import erfc, erfcx

    far = np.abs(delta)
    scale = np.sqrt(2.0 * variance)
    near, beyond = (variance / width - far) / scale, (variance / width + far) / scale
    bell = np.exp(-(far**2) / (2.0 * variance))
    tail = np.exp(np.minimum(variance / (2.0 * width**2) - far / width, 0.0))  # used where it is below 1
    left = np.where(near > 0.0, bell * erfcx(np.maximum(near, 0.0)), tail * erfc(np.minimum(near, 0.0)))
    return 0.5 * (left + bell * erfcx(beyond))


class _Scaled(ClosedForm):
    """factor * k."""

    def __init__(self, kernel: Any, mixture: NormalMixture) -> None:
        super().__init__(kernel, mixture)
        self.part = closed_form(kernel.kernel, mixture)

    def at(self, points: Array) -> Array:
        return self.kernel.factor * self.part.at(points)

    def pairs(self) -> Array:
        return self.kernel.factor * self.part.pairs()

    def diagonal(self) -> Array:
        return self.kernel.factor * self.part.diagonal()


class _Added(ClosedForm):
    """k_1 + k_2 + ..."""

    def __init__(self, kernel: Any, mixture: NormalMixture) -> None:
        super().__init__(kernel, mixture)
        self.parts = [closed_form(term, mixture) for term in kernel.terms]

    def at(self, points: Array) -> Array:
        return np.sum([part.at(points) for part in self.parts], axis=0)

    def pairs(self) -> Array:
        return np.sum([part.pairs() for part in self.parts], axis=0)

    def diagonal(self) -> Array:
        return np.sum([part.diagonal() for part in self.parts], axis=0)


_FORMS: dict[type[Kernel], type[ClosedForm]] = {
    Linear: _Moments,
    Polynomial: _Moments,
    Gaussian: _Normal,
    Laplacian: _Coordinatewise,
    Scaled: _Scaled,
    Sum: _Added,
}


def closed_form(kernel: Kernel, mixture: NormalMixture) -> ClosedForm:
    """The expectations of a kernel under the components of a mixture; raises ValueError for one without closed form."""
    form = _FORMS.get(type(kernel))
    if form is None or (isinstance(kernel, Polynomial) and kernel.degree > 3):
        raise ValueError(f"{kernel!r} has no closed form under a mixture of Gaussians; those with one: {KNOWN}")
    return form(kernel, mixture)
