"""Kernel means of isotropic Gaussian mixtures in closed form, with their derivatives.

A mixture is weights pi (k,), means m (k, d) and variances s (k,): sum_j pi_j N(m_j, s_j I).
Matching its kernel mean to an embedding sum_i b_i k(x_i, .) needs, for Y_j ~ N(m_j, s_j I),

    f_j = sum_i b_i E k(x_i, Y_j)    and    A_jl = E k(Y_j, Y_l),  Y_j and Y_l independent,

their derivatives in m_j and s_j, and for A the derivatives in the first argument only, also where l
= j.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from shrinktest._check import Array
from shrinktest.kernels import Gaussian, Kernel, Linear, Polynomial


class Mixture(NamedTuple):
    """Weights (k,), means (k, d) and variances (k,) of isotropic Gaussians."""

    weights: Array
    means: Array
    variances: Array


class Inner(NamedTuple):
    """Inner products of the components, and derivatives in their means (k, d) and variances (k,).

    With the target: f (k,) and its derivatives.  With each other: A (k, k), and A pi differentiated
    in the first argument.
    """

    values: Array
    means: Array
    variances: Array


@dataclass(frozen=True)
class OfInnerProduct:
    """Kernel means under the kernel (c + x'y)^degree, degree 1 to 3.

    The kernel x'y is degree 1 with c = 0.

    In powers of t = c + x'm the expectations are t, t^2 + s |x|^2 and t^3 + 3 t s |x|^2.
    """

    degree: int
    c: float

    @property
    def sees_variances(self) -> bool:
        """True if the embedding depends on the variances."""
        return self.degree > 1

    def against(self, points: Array, b: Array, mixture: Mixture) -> Inner:
        """Return inner products of the components with the target, and their derivatives.

        The target is sum_i b_i k(x_i, .).
        """
        _, m, s = mixture
        t = self.c + points @ m.T
        r2 = np.square(points).sum(axis=1)
        if self.degree == 1:
            return Inner(b @ t, np.broadcast_to(b @ points, m.shape), np.zeros_like(s))
        if self.degree == 2:
            return Inner(
                b @ t**2 + s * (b @ r2), 2.0 * (b[:, None] * t).T @ points, np.full_like(s, b @ r2)
            )
        slope = 3.0 * t**2 + 3.0 * s * r2[:, None]
        return Inner(
            b @ (t**3 + 3.0 * t * s * r2[:, None]),
            (b[:, None] * slope).T @ points,
            3.0 * (b * r2) @ t,
        )

    def among(self, mixture: Mixture) -> Inner:
        """Return inner products of the components with each other, and their derivatives."""
        pi, m, s = mixture
        c = self.c
        d = m.shape[1]
        g = m @ m.T
        norms = np.square(m).sum(axis=1)
        n1 = norms[:, None]
        n2 = norms[None, :]
        s1 = s[:, None]
        s2 = s[None, :]
        if self.degree == 1:
            return Inner(c + g, np.broadcast_to(pi @ m, m.shape), np.zeros_like(s))
        # T2 = E (X'Y)^2; by_m1, by_m2: the factors of m1 and of m2 in its derivative in m1
        t2 = d * s1 * s2 + s1 * n2 + s2 * n1 + g**2
        by_m1 = 2.0 * s2 + 0.0 * g
        by_m2 = 2.0 * g
        by_s1 = d * s2 + n2 + 0.0 * g
        if self.degree == 2:
            values = c**2 + 2.0 * c * g + t2
            by_m2 = by_m2 + 2.0 * c
        else:
            t3 = g**3 + 3.0 * g * (s2 * n1 + s1 * n2) + 3.0 * (d + 2) * s1 * s2 * g
            values = c**3 + 3.0 * c**2 * g + 3.0 * c * t2 + t3
            by_m1 = 3.0 * c * by_m1 + 6.0 * g * s2
            by_m2 = 3.0 * c * by_m2 + 3.0 * c**2
            by_m2 = by_m2 + 3.0 * g**2 + 3.0 * (s2 * n1 + s1 * n2) + 3.0 * (d + 2) * s1 * s2
            by_s1 = 3.0 * c * by_s1 + 3.0 * g * n2 + 3.0 * (d + 2) * s2 * g
        return Inner(values, (by_m1 @ pi)[:, None] * m + by_m2 @ (pi[:, None] * m), by_s1 @ pi)


@dataclass(frozen=True)
class OfGaussian:
    """Kernel means under the Gaussian kernel exp(-sum_j (x_j - y_j)^2 / (2 th2_j)).

    The target's points have noise N(0, diag(noise)).

    With a = th2 + s (+ noise, + the other variance) all are prod_j (th2_j / a_j)^(1/2)
    exp(-delta_j^2 / (2 a_j)).
    """

    th2: tuple[float, ...]
    noise: tuple[float, ...]
    sees_variances = True

    def _value(self, delta: Array, a: Array) -> tuple[Array, Array, Array]:
        """Values (...), with derivatives in the second point (..., d) and its variance (...)."""
        ratio = delta / a
        with np.errstate(under="ignore"):
            value = np.exp(0.5 * (np.log(np.array(self.th2) / a) - delta * ratio).sum(axis=-1))
            by_variance = 0.5 * value * (np.square(ratio) - 1.0 / a).sum(axis=-1)
            return value, value[..., None] * ratio, by_variance

    def against(self, points: Array, b: Array, mixture: Mixture) -> Inner:
        """Return inner products of the components with the target, and their derivatives.

        The target is sum_i b_i k(x_i, .).
        """
        _, means, variances = mixture
        sums = Inner(np.empty_like(variances), np.empty_like(means), np.empty_like(variances))
        for j, (m, s) in enumerate(zip(means, variances, strict=True)):
            terms = self._value(points - m, np.array(self.th2) + np.array(self.noise) + s)
            for whole, term in zip(sums, terms, strict=True):
                whole[j] = b @ term
        return sums

    def among(self, mixture: Mixture) -> Inner:
        """Return inner products of the components with each other, and their derivatives."""
        pi, m, s = mixture
        a = np.array(self.th2) + s[:, None, None] + s[None, :, None]
        # _value differentiates in the point that is subtracted: here in the first one, of the rows
        value, by_mean, by_variance = self._value(m[None, :, :] - m[:, None, :], a)
        return Inner(value, np.einsum("jld,l->jd", by_mean, pi), by_variance @ pi)


def mixture_means(
    kernel: Kernel, dimension: int, noise: tuple[float, ...] | None
) -> OfInnerProduct | OfGaussian:
    """Return the closed forms of a kernel with its bandwidth resolved.

    Raises ValueError for a kernel that has none here.

    ``noise`` is as in ``MeanEmbedding.smoothing``.
    """
    if isinstance(kernel, Gaussian):
        th2 = np.broadcast_to(np.square(kernel.bandwidth), (dimension,))
        return OfGaussian(tuple(th2.tolist()), noise or (0.0,) * dimension)
    if isinstance(kernel, Linear):
        return OfInnerProduct(1, 0.0)
    if isinstance(kernel, Polynomial) and kernel.degree in (1, 2, 3):
        return OfInnerProduct(kernel.degree, kernel.offset)
    raise ValueError(
        f"kernel {kernel!r} has no closed form for Gaussian mixtures; use 'linear', 'poly2', "
        "'poly3' or 'gaussian'"
    )
