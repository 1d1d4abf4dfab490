"""HSIC: the squared norm of the cross-covariance operator of two variables, without bias, and without each unit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shrinktest.effects.inner_products import InnerProducts, adding

_MOST = 2**25  # numbers in the products of groups at a time: of some groups, evenly spaced, where all have more
_ENOUGH = 2**11  # groups, two million pairs of which say what all say


def hsic(x: InnerProducts, y: InnerProducts) -> tuple[float, np.ndarray]:
    """The unbiased HSIC of [Song12], and the same without each pair in turn."""
    n = len(x)
    dx, dy = x.diagonal(), y.diagonal()
    a, b = (one.applied(np.ones(n)) - d for one, d in ((x, dx), (y, dy)))  # rows off the diagonal
    products = _products(x, y) - dx * dy
    sums = np.array([products.sum(), a.sum(), b.sum(), a @ b])
    ay, bx = y.applied(a) - dy * a, x.applied(b) - dx * b
    without = sums[:, None] - np.stack([2.0 * products, 2.0 * a, 2.0 * b, a * b + ay + bx - products])
    return float(_unbiased(sums, n)), _unbiased(without, n - 1.0)


def _unbiased(sums: np.ndarray, n: float | np.ndarray) -> np.ndarray:
    """HSIC from tr(K L), 1'K1, 1'L1 and 1'KL1 of matrices without their diagonals."""
    products, a, b, ab = sums
    with np.errstate(divide="ignore", invalid="ignore"):
        whole = products + a * b / ((n - 1.0) * (n - 2.0)) - 2.0 * ab / (n - 2.0)
        return np.asarray(whole / (n * (n - 3.0)))


def _products(x: InnerProducts, y: InnerProducts) -> np.ndarray:
    """sum_j K_ij L_ij for every i."""
    if x.by_coordinates:
        return np.asarray(np.einsum("ir,ir->i", x.values @ (x.values.T @ y.values), y.values))
    return np.asarray(np.einsum("ij,ij->i", x.values, y.values))


@dataclass(frozen=True, eq=False)
class Groups:
    """Two variables in groups of pairs, which are independent of each other."""

    # both by coordinates, or both by Gram matrices; in the order of groups
    x: InnerProducts
    y: InnerProducts
    codes: np.ndarray  # (n,): numbers 0, 1, ... of the groups, not decreasing

    @classmethod
    def of(cls, x: InnerProducts, y: InnerProducts, codes: np.ndarray) -> Groups:
        """From pairs in any order."""
        order = np.argsort(codes, kind="stable")
        return cls(x.reordered(order), y.reordered(order), codes[order])

    def hsic(self) -> tuple[float, np.ndarray]:
        """The unbiased HSIC, and the same without each group in turn.

        The mean of K_ij L_ij + K_ij L_qr - 2 K_ij L_iq over pairs i, j, q, r of four different groups: pairs of one
        group may resemble each other, and would make independent variables seem dependent.  NaN with fewer than four
        groups.
        """
        x, y, g = self.x, self.y, self.codes
        ones, size = np.ones(len(g)), np.bincount(g).astype(np.float64)

        def by_group(values: np.ndarray) -> np.ndarray:
            return np.bincount(g, weights=values)

        own_x, own_y = (one.within(ones, g, slice(None)) for one in (x, y))  # sums over the group of a pair
        a, b = x.applied(ones) - own_x, y.applied(ones) - own_y  # and over all others
        of_x, of_y = x.summed(g), y.summed(g)
        across = _products(of_x, of_y) - of_x.diagonal() * of_y.diagonal()
        rows, columns = self._by_rows_and_groups(of_x, of_y)
        rows, columns = rows - own_x * own_y, columns - by_group(own_x * own_y)
        both = by_group(_products(x, y)) - self._inside()
        whole_a, whole_b = by_group(a), by_group(b)
        same = by_group(a * b - rows)
        ay, bx = by_group(y.applied(a) - a * own_y), by_group(x.applied(b) - b * own_x)
        others = of_y.applied(whole_a) - of_y.diagonal() * whole_a + of_x.applied(whole_b) - of_x.diagonal() * whole_b
        sums = np.array([both.sum(), same.sum(), whole_a.sum(), whole_b.sum(), whole_a @ whole_b, across.sum()])
        less = np.stack(
            [
                2.0 * both,
                same + ay + bx - 2.0 * columns,
                2.0 * whole_a,
                2.0 * whole_b,
                whole_a * whole_b + others - across,
                2.0 * across,
            ]
        )
        powers = size ** np.arange(1, 5)[:, None]
        counts = powers.sum(axis=1)
        return float(_of_four(sums, counts)), _of_four(sums[:, None] - less, counts[:, None] - powers)

    def _by_rows_and_groups(self, of_x: InnerProducts, of_y: InnerProducts) -> tuple[np.ndarray, np.ndarray]:
        """Products of the sums over a group, for every pair and group: added up for each pair, and for each group."""
        if self.x.by_coordinates:
            z, w = self.x.values, self.y.values
            rows = np.einsum("ir,ir->i", z @ (of_x.values.T @ of_y.values), w)
            return rows, np.einsum("gr,gr->g", of_x.values @ (z.T @ w), of_y.values)
        over = adding(self.codes)  # Gram matrices are symmetric
        products = np.multiply(*(over @ one.values for one in (self.x, self.y)))
        return products.sum(axis=0), products.sum(axis=1)

    def _inside(self) -> np.ndarray:
        """The sum of K_ij L_ij over the pairs i and j of each group."""
        z, w = self.x.values, self.y.values
        if self.x.by_coordinates:
            return np.array([float(np.square(z[rows].T @ w[rows]).sum()) for rows in self._rows])
        return np.array([float(np.einsum("ij,ij->", z[rows, rows], w[rows, rows])) for rows in self._rows])

    @property
    def _rows(self) -> list[slice]:
        """The rows of every group."""
        edges = np.flatnonzero(np.diff(self.codes, prepend=-1, append=-1)).tolist()
        return list(map(slice, edges[:-1], edges[1:]))

    def noise(self) -> float:
        """The variance of HSIC if the variables are independent, whatever rows of a group have in common.

        Estimated by the squares of the sums of K_ij L_ij over the pairs of two groups, for features less their mean:
        independent groups make sums without correlation.  Of some groups, evenly spaced, where there are many.
        """
        count, n = int(self.codes[-1]) + 1, len(self.codes)
        if count < 4:
            return np.nan
        x, y = self.x.values, self.y.values
        of_rows = int(_MOST**0.5 * count / n)  # groups of whose rows there is room for all products, or
        of_groups = _MOST // (x.shape[1] * y.shape[1]) if self.x.by_coordinates else 0  # for those of coordinates
        few = min(count, _ENOUGH, max(4, of_rows, of_groups))
        chosen = np.linspace(0, count - 1, few).round().astype(np.intp)
        if of_groups > of_rows:
            rows = self._rows
            each = np.stack([(x[rows[g]].T @ y[rows[g]]).ravel() for g in chosen])
            sums = each @ each.T
        else:
            there = np.isin(self.codes, chosen)
            one, other = (variable.taken(np.flatnonzero(there)).dense().values for variable in (self.x, self.y))
            sums = InnerProducts(one * other, False).summed(np.searchsorted(chosen, self.codes[there])).values
        np.fill_diagonal(sums, 0.0)
        pairs = count * (count - 1.0) / (few * (few - 1.0))
        return float(2.0 * pairs * np.square(sums).sum() / float(n) ** 4 * count / (count - 3.0))


def _of_four(sums: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """HSIC from sums over pairs of different groups, and the sums of the first four powers of the sizes of groups.

    The sums are of K_ij L_ij; of K_ij L_iq; of K and of L; of products of the sums of K and L over a group; and of
    those over two groups.
    """
    products, same, a, b, by_one, by_two = sums
    one, two, three, four = counts
    of_two = one**2 - two
    of_three = one**3 - 3.0 * one * two + 2.0 * three
    of_four = one**4 - 6.0 * one**2 * two + 8.0 * one * three + 3.0 * two**2 - 6.0 * four
    with np.errstate(divide="ignore", invalid="ignore"):
        whole = products / of_two + (a * b - 4.0 * by_one + 2.0 * by_two) / of_four - 2.0 * same / of_three
        return np.where(of_four > 0.5, whole, np.nan)
