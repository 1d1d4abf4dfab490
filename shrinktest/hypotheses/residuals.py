"""Independence given numbers: what regressions leave of two variables has products of mean zero."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shrinktest.conditional.lines import bounded, squared
from shrinktest.conditional.neighbours import alike, nearest, neighbourhoods
from shrinktest.conditional.regression import Left, Regression
from shrinktest.conditional.ridge import standardized
from shrinktest.estimators import MeanEstimator
from shrinktest.hypotheses.given import STUDY, ConditionalIndependence, residual
from shrinktest.kernels import Gaussian
from shrinktest.permutations.base import Permutations
from shrinktest.permutations.design import PermutationDesign
from shrinktest.permutations.null import CostHint, Statistic
from shrinktest.permutations.schemes import Signs
from shrinktest.statistics.kernel_cache import KernelCache, Request
from shrinktest.statistics.signs import Combined, Part, Products, inflated, sign_statistic
from shrinktest.statistics.statistic import Prepared, margins

_NEIGHBOURS = 10  # rows of a neighbourhood, or more
_FEW = 200  # rows from which coordinates of kernels are looked for
_MEANS, _TURNING, _SQUARES, _SHAPES = 20.0, 1.5, 2.0, 1.5  # shares of the level
_WEIGHTS = (_MEANS, _TURNING, _SQUARES, _SHAPES)
_SHARED = ", ".join(f"{100.0 * weight / sum(_WEIGHTS):g} %" for weight in _WEIGHTS)
_COMBINED = (
    f"Four statistics are combined, as no kernel was asked for; the level is shared {_SHARED}: 'means' is of products "
    "of what is left of X and of Y, "
    "'turning' of these times the given variables, 'squares' of what is left of one and the square of the other, "
    "'shapes' of kernel features."
)
_DECIDED = re.compile(r" Here '(?:means|turning|squares|shapes)' stands out most\.$")
_MANY = 0.15  # of the rows: more degrees of freedom than that are used where there is more to be found than was


@dataclass(frozen=True, eq=False, kw_only=True)
class IndependentResiduals(ConditionalIndependence):
    """What regressions leave of two variables has products of mean zero, whatever features are taken of it.

    Regressions take off x and y what is given, then off the features of what is left.  Under the hypothesis products
    of the features that are left, and of features of the given variables, have mean zero, and signs may be drawn.
    """

    regression: Regression
    first: tuple[Left, Left]  # what it left of x and of y
    combined: bool = False  # whether lines are looked at beside the features of the kernels

    def _allowed(self, n_resamples: float, alpha: float) -> Permutations:
        return Signs(self._unit)

    def prepare(self, estimator: MeanEstimator, kernel: Any, form: str, cache: KernelCache, workers: int) -> Prepared:
        """Squared norm of the mean of the products, for every choice of signs."""
        if cache.limits.gram not in ("auto", "dense"):
            raise ValueError(
                f"gram={cache.limits.gram!r}: what regressions leave of X and Y is compared by Gram matrices, "
                "whatever the estimator; use gram='dense', or leave it out"
            )
        points = tuple(variable.points for variable in self.variables)
        tuned = margins(estimator, kernel, points, workers)
        request = Request(by_coordinates=self.combined, large=_FEW, kernels=4)
        features = []
        for one, k, z, left in zip(tuned, kernel, points, self.first, strict=True):
            each = one.features(k, z)
            gram = cache(each, z, request)
            features.append(self.regression.left_of_features(each, z, gram, workers, left.apart))
        statistic: Statistic
        notes: tuple[str, ...] = ()
        if self.combined:
            combined = Combined(self._parts(points, features), tuned[0], self._unit)
            notes, statistic = (_COMBINED + _decided(combined, len(points[0])),), combined
        else:
            products = features[0].gram * features[1].gram * self._weights
            plain = sign_statistic(tuned[0], Products(products))
            statistic = inflated(plain, np.ones(len(products)), self._inflation(features))
        return Prepared(
            statistic=statistic,
            estimates=lambda: (),
            kernel=kernel,
            route="dense",
            notes=notes,
            threads=estimator.needs != "function",
            cost=CostHint(seconds=2e-10 * len(points[0]) ** 2) if tuned[0].needs in ("sums", "noise") else None,
        )

    @property
    def _unit(self) -> np.ndarray:
        """A code (n,) of the rows that turn together."""
        groups = self.restriction.groups
        return np.arange(self.sizes[0]) if groups is None else np.unique(groups, return_inverse=True)[1].reshape(-1)

    def _parts(self, points: Sequence[np.ndarray], features: Sequence[Left]) -> tuple[Part, ...]:
        """What is combined.

        Lines of both; the same times lines of the given variables; lines of one and squares of the other, which see a
        curve, and a spread that changes along a line; and features of the kernels.
        """

        def of(function: Callable[[np.ndarray], np.ndarray]) -> list[Left]:
            """What is left of a function of both residuals."""
            return [
                self.regression.left_of_lines(function(z), [function(one) for one in left.apart])
                for z, left in zip(points, self.first, strict=True)
            ]

        lines, squares = of(bounded), of(lambda z: squared(bounded(z)))
        straight, by_lines = [one.values for one in lines], self._inflation(lines)
        crossed = ((squares[0], lines[1]), (lines[0], squares[1]))
        few = not any(one.by_gram for one in features)
        shapes = (
            Products.of(*(one.values for one in features)) if few else Products(features[0].gram * features[1].gram)
        )
        return (
            Part("means", _MEANS, Products.of(*straight), by_lines),
            Part("turning", _TURNING, Products.of(*straight, bounded(standardized(self.regression.given))), by_lines),
            Part(
                "squares",
                _SQUARES,
                Products.concatenated(*(Products.of(one.values, other.values) for one, other in crossed)),
                max(map(self._inflation, crossed)),
            ),
            Part("shapes", _SHAPES, shapes, self._inflation(features)),
        )

    def _inflation(self, left: Sequence[Left]) -> float:
        """How much larger squared norms are than with signs drawn at random, by both regressions."""
        return max(self.first[0].inflation(self.first[1]), left[0].inflation(left[1]))

    @property
    def _weights(self) -> np.ndarray:
        """The Gram matrix of features of the given variables: dependence may turn around with them."""
        z = standardized(self.regression.given)
        if not z.shape[1]:
            return np.ones((len(z), len(z)))
        return np.asarray(0.5 + 0.5 * Gaussian().resolve(z, 0)(z))


def undecided(note: str) -> str:
    """A note without what it says of one pair of variables."""
    return _DECIDED.sub("", note)


def _decided(combined: Combined, n: int) -> str:
    """Which part stands out most on the data as they are."""
    if not combined.parts:
        return ""
    return f" Here '{combined.parts[int(combined.chances(np.ones((1, n)))[0].argmin())].name}' stands out most."


@dataclass(frozen=True, eq=False, kw_only=True)
class IndependentNearby(ConditionalIndependence):
    """What regressions leave of two variables is independent among rows that are neighbours in the given ones."""

    first: tuple[Left, Left]  # what is left of x and of y

    def prepare(self, estimator: MeanEstimator, kernel: Any, form: str, cache: KernelCache, workers: int) -> Prepared:
        """Squared norm of the estimated cross-covariance operator, for every permutation among neighbours."""
        prepared = super().prepare(estimator, kernel, form, cache, workers)
        factor = self.first[0].inflation(self.first[1])
        return replace(prepared, statistic=inflated(prepared.statistic, np.arange(self.sizes[0]), factor))


def of_residuals(
    regression: Regression, common: dict[str, Any], *, local: bool, combined: bool = False
) -> ConditionalIndependence:
    """What regressions leave of both variables; signs are drawn, or rows permuted among neighbours.

    ``combined`` tells whether signs are for lines as well as for features of the kernels.
    """
    restriction: PermutationDesign = common["restriction"]
    both = common["variables"]
    left = tuple(regression.left_of(one.points, one.name) for one in both)
    variables = tuple(residual(one, part, name) for one, part, name in zip(both, left, "XY", strict=True))
    z = standardized(regression.given)
    notes = _doubts(left, z) if z.shape[1] else ()
    common = {**common, "variables": variables, "remarks": (*common["remarks"], *notes)}
    if local:
        if restriction.groups is not None:
            raise ValueError("groups= cannot move as a whole among neighbours; use given_method='residuals'")
        blocks = np.zeros(len(z), dtype=np.int64) if restriction.blocks is None else restriction.blocks
        codes = np.zeros(len(z), dtype=np.int64)
        for block in np.unique(blocks):
            rows = np.flatnonzero(blocks == block)
            inside = neighbourhoods(z[rows], _NEIGHBOURS) if z.shape[1] else np.zeros(len(rows), dtype=np.int64)
            codes[rows] = inside + codes.max() + 1
        return IndependentNearby(
            first=(left[0], left[1]),
            method="local permutations of residuals",
            assumption=f"the p-value is approximately valid if {regression.described}, find what given says of the "
            f"means of X and of Y, and the spread of both hardly changes among {_NEIGHBOURS} to {2 * _NEIGHBOURS} "
            f"neighbouring rows; {STUDY}.",
            **{**common, "restriction": PermutationDesign(blocks=np.unique(codes, return_inverse=True)[1])},
        )
    if restriction.blocks is not None:
        raise ValueError(
            "blocks= says which rows may change places, and none do where regressions are used; add the label to "
            "given=, or use given_method='local'"
        )
    return IndependentResiduals(
        method="signs of residual products",
        assumption=f"the p-value is approximately valid, not exactly, if {regression.described}, find what given says "
        "of X and of Y: no test of independence given numbers is valid without some such assumption, and where it "
        f"fails this one rejects too often; {STUDY}.",
        regression=regression,
        first=(left[0], left[1]),
        combined=combined,
        **common,
    )


def _doubts(left: tuple[Left, ...], z: np.ndarray) -> tuple[str, ...]:
    """A note where the regressions have not found all that z says, or may not have, in both variables."""
    neighbour, n = nearest(z), len(z)
    advice = (
        "Do not trust a small p-value: give more rows, a regressor= that fits better, strata of given, or a model "
        f"x_given_z=; {STUDY}."
    )
    if all(alike(part.values, neighbour) for part in left):
        return (
            "The regressions have not found all that given says: residuals of neighbouring rows are still alike, in X "
            f"and in Y, which is what makes this test reject too often. {advice}",
        )
    used = [0.0 if part.smoother is None else float(part.smoother.own.sum()) - z.shape[1] - 1.0 for part in left]
    if min(used) > _MANY * n:
        return (
            f"The regressions may not have found all that given says: they follow it with {used[0]:.0f} and "
            f"{used[1]:.0f} degrees of freedom more than straight lines have, of {n} rows. {advice}",
        )
    return ()
