"""The kernel of joint dependence: products of the features of several variables, without main effects."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shrinktest.kernels.base import Kernel


@dataclass(frozen=True, eq=False)
class WithoutMainEffects(Kernel):
    """Kernel of the product features of several variables, less what each variable explains alone.

    The product features are (x)_l phi_l(x_l).  With mu_l the mean feature of ``points``, what is left out are the
    product of the means and, for every l, (phi_l(x_l) - mu_l) (x)_{m != l} mu_m, whose mean over the points is zero.
    With two variables what remains is (phi_1 - mu_1) (x) (phi_2 - mu_2).
    """

    kernels: tuple[Kernel, ...]  # one for every variable
    points: np.ndarray  # (n, sum of columns): the observations that the features are centred on
    columns: tuple[int, ...]  # how many columns every variable has

    def check(self, X: np.ndarray) -> None:
        parts = np.split(X, np.cumsum(self.columns)[:-1], axis=1)
        for kernel, part in zip(self.kernels, parts, strict=True):
            kernel.check(part)

    def evaluate(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        edges = np.cumsum(self.columns)[:-1]
        x, y, z = (np.split(points, edges, axis=1) for points in (X, Y, self.points))
        d = len(self.kernels)
        between = np.stack([kernel(x[v], y[v]) for v, kernel in enumerate(self.kernels)])
        at_x = np.stack([kernel(x[v], z[v]).mean(axis=1) for v, kernel in enumerate(self.kernels)])
        at_y = np.stack([kernel(y[v], z[v]).mean(axis=1) for v, kernel in enumerate(self.kernels)])
        means = np.array([kernel(z[v]).mean() for v, kernel in enumerate(self.kernels)])
        out = between.prod(axis=0) + (d - 1) ** 2 * means.prod()
        out += (d - 1) * (at_x.prod(axis=0)[:, None] + at_y.prod(axis=0)[None, :])
        for v in range(d):
            rest = np.arange(d) != v
            others = means[rest].prod()
            out -= between[v] * (at_x[rest].prod(axis=0)[:, None] + at_y[rest].prod(axis=0)[None, :] - others)
            out -= (d - 1) * others * (at_x[v][:, None] + at_y[v][None, :])
            for u in np.flatnonzero(rest):
                out += means[rest & (np.arange(d) != u)].prod() * at_x[v][:, None] * at_y[u][None, :]
        return (out + out.T) / 2.0 if X is Y else out  # where all cancels, rounding alone is left, which need not be so
