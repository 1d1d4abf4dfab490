"""Hypotheses of a design with several factors: what is permuted, alignment, and the statistic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from shrinktest._check import Array, counted
from shrinktest.data.column import CODED
from shrinktest.data.formula import Projection, Term, basis, indicators, projections
from shrinktest.data.variable import Variable
from shrinktest.estimators import KME, MeanEstimator
from shrinktest.fitted import FittedStatistic
from shrinktest.hypothesis import Hypothesis
from shrinktest.notes import note
from shrinktest.permutations.base import Permutations, factorials
from shrinktest.permutations.design import PermutationDesign
from shrinktest.permutations.serial_correlation import SerialCorrelation
from shrinktest.results.factor_result import TestedTerm
from shrinktest.results.info import FACTOR, TestInfo
from shrinktest.statistics.features import Features
from shrinktest.statistics.kernel_cache import KernelCache, Request
from shrinktest.statistics.projections import (
    ROBUST,
    MovedBasis,
    adjusted_means,
    mapped,
    moved_labels,
    moved_predictor,
    moved_rows,
    share,
    term_statistic,
)
from shrinktest.statistics.signs import concatenated
from shrinktest.statistics.statistic import Computation, Form, Prepared

_ROUNDS = 15  # of the M-estimate
_LEAST_SCALE = 0.1  # of the overall scale: a cell of nearly equal residuals has no weight beyond it
_SAME = 1e-6  # of the standard deviation: a scale that is nothing but rounding
_ENOUGH = 10.0  # permutations times alpha, from which exact rows lose no power


# --- alignment ------------------------------------------------------------------------------------


def aligned(values: Array, space: Array, cells: np.ndarray) -> Array:
    """Return columns (n, d) less their effects along a basis (n, q): Huber's M-estimate with k = 1.

    The scale is the median absolute residual of each cell, at least a tenth of the overall one, and
    weights are those of Huber over the squared scale.  By least squares, heavy tails or unequal
    spread leave errors that a bounded kernel takes for an interaction.
    """
    codes = np.unique(cells, return_inverse=True)[1].reshape(-1)
    members = [np.flatnonzero(codes == code) for code in range(int(codes.max()) + 1)]
    residuals = values - space @ (space.T @ values)
    spread = values.std(axis=0)
    spread = np.where(spread > 0.0, spread, 1.0)
    scale = np.empty_like(values)
    for _ in range(_ROUNDS):
        size = np.abs(residuals)
        for rows in members:
            scale[rows] = np.median(size[rows], axis=0)
        least = _LEAST_SCALE * np.median(size, axis=0)
        # of mostly equal residuals, the scale is the standard deviation of the column
        scale = np.maximum(scale, np.where(least > _SAME * spread, least, spread))
        weights = np.minimum(1.0, scale / np.maximum(size, np.finfo(np.float64).tiny)) / scale**2
        for j in range(values.shape[1]):
            weighted = space * weights[:, j : j + 1] / weights[:, j].max()
            fitted = np.linalg.lstsq(weighted.T @ space, weighted.T @ values[:, j], rcond=None)[0]
            residuals[:, j] = values[:, j] - space @ fitted
    return residuals


def numeric_columns(variable: Variable) -> np.ndarray:
    """Return which columns (d,) are numbers with more than two values, which can be aligned."""
    points = variable.points
    numeric = np.array([len(np.unique(column)) > 2 for column in points.T])
    if variable.encoding is not None:
        for code, group in zip(variable.encoding.codes, variable.encoding.groups, strict=True):
            if code.kind in CODED:
                numeric[group] = False
    return numeric


# --- the design -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Design:
    """Terms of a formula, and the groups and blocks of the rows."""

    terms: tuple[Term, ...]
    typ: int
    group: np.ndarray | None  # (n,): number of the group of each row
    block: np.ndarray  # (n,): number of the block of each row
    group_name: str = "groups"  # what messages and results call them
    block_name: str = "blocks"

    @property
    def size(self) -> int:
        """Number of rows."""
        return len(self.block)

    @property
    def within_blocks(self) -> str:
        """Words for the blocks; empty if there is one."""
        return f" within {self.block_name}" if self.block.any() else ""


@dataclass(frozen=True, eq=False)
class Plan:
    """Plan of the test of a term: permuted units, projections and alignment."""

    term: str
    part: Projection  # of rows, or of whole groups
    moved: MovedBasis
    space: Array  # basis of what no permutation changes
    directions: int  # columns of a moved basis that belong to the term
    permutations: Permutations
    permuted: str  # in words
    exact: bool  # True if the test is exact, else it is approximate
    unit: np.ndarray  # of the jackknife, for each row of the projection
    alignment: Array  # basis (n, q) of what is taken off the numbers of all rows
    cells: np.ndarray  # (n,): cells with a scale of their own
    interaction: bool
    groups: Array | None = None  # (g, n): from rows to means of groups
    series: tuple[np.ndarray, ...] = ()  # rows that change places, if rows of a group do
    notes: tuple[str, ...] = ()


def coded(*labels: np.ndarray) -> np.ndarray:
    """Return numbers of the combinations of labels, in order of appearance."""
    table = np.column_stack(labels)
    _, first, code = np.unique(table, axis=0, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[code.reshape(-1)])


def n_distinct(rows: Array, cells: np.ndarray) -> float:
    """Return how many ways there are to exchange different rows within cells."""
    code = np.unique(rows.round(9), axis=0, return_inverse=True)[1].reshape(-1)
    pairs = np.unique(np.column_stack([cells, code]), axis=0, return_counts=True)[1]
    return factorials(np.unique(cells, return_counts=True)[1].tolist(), pairs.tolist())


def plans(design: Design, alpha: float) -> tuple[Plan, ...]:
    """Return how each term is tested, in the order of the formula.

    Raises ValueError if a term is determined by others, or too few permutations are left.
    """
    if design.group is None:
        return tuple(_plans_of_rows(design, design.terms, indicators(design.block), alpha))
    first = np.unique(design.group, return_index=True)[1]
    within = indicators(design.group)
    varies = {
        name: bool(basis(factor.columns, basis(within)).shape[1])
        for term in design.terms
        for name, factor in ((factor.name, factor) for factor in term.factors)
    }
    between = [term for term in design.terms if not any(varies[name] for name in term.variables)]
    inner = [term for term in design.terms if term not in between]
    pure = [term for term in inner if all(varies[name] for name in term.variables)]
    planned = [
        *_plans_of_groups(design, between, pure, first, alpha),
        *_plans_within_groups(design, inner, pure, first, alpha),
    ]
    by_name = {plan.term: plan for plan in planned}
    return tuple(by_name[term.name] for term in design.terms)


def _plans_of_rows(
    design: Design, terms: Sequence[Term], always: Array, alpha: float
) -> list[Plan]:
    """Return plans for terms whose rows are permuted, within blocks."""
    parts = projections(terms, always, design.typ, [design.block_name])
    unit = np.arange(design.size)
    planned = []
    for term, part in zip(terms, parts, strict=True):
        plan = _rows_plan(term, terms, part, design.block, "rows", design.within_blocks, alpha)
        cells = _scale_cells(terms, term if plan.exact else None, design.size)
        planned.append(replace(plan, unit=unit, alignment=part.adjusted, cells=cells))
    return planned


def _scale_cells(terms: Sequence[Term], but: Term | None, size: int) -> np.ndarray:
    """Return cells of the factors; of exact rows without the factor whose labels move."""
    moved = but.variables if but is not None else frozenset()
    factors = {factor.name: factor for term in terms for factor in term.factors}
    codes = [
        factor.codes for name, factor in factors.items() if factor.categorical and name not in moved
    ]
    return coded(*codes) if codes else np.zeros(size, dtype=np.int64)


def _rows_plan(
    term: Term,
    terms: Sequence[Term],
    part: Projection,
    block: np.ndarray,
    what: str,
    where: str,
    alpha: float,
) -> Plan:
    """Return whether rows, or groups, move exactly, or rows of the residualized predictor."""
    others = {
        factor.name: factor
        for other in terms
        for factor in other.factors
        if factor.name not in term.variables
    }
    alone = not term.is_interaction or len(terms) == 1
    exact = alone and all(factor.categorical for factor in others.values())
    notes: tuple[str, ...] = ()
    cells = block
    if exact:
        cells = coded(block, *(factor.codes for factor in others.values()))
        count = n_distinct(part.added, cells)
        if others and count < _ENOUGH / alpha and n_distinct(part.added, block) > count:
            exact = False
            cells = block
            number = counted(int(count), "different permutation")
            notes = (note("few-exact", permutations=number, term=term.name),)
    count = n_distinct(part.added, cells)
    if exact:
        permutations, moved = _exact_rows(term, part, cells)
        count = min(count, permutations.distinct)
        space = basis(indicators(block))
        free = [name for name, factor in others.items() if basis(factor.columns, space).shape[1]]
        permuted = f"{what}{where}"
        if free:
            permuted += f"{',' if where else ''} within cells of {' and '.join(free)}"
    else:
        permutations = PermutationDesign(blocks=block if block.any() else None).pairings(
            len(block), 1.0
        )
        moved = moved_predictor(part)
        permuted = f"{what} of the residualized predictor{where}"
    _require_permutations(term, count, what, alpha)
    return Plan(
        term=term.name,
        part=part,
        moved=moved,
        space=part.adjusted if exact else part.rest,
        directions=part.df,
        permutations=permutations,
        permuted=permuted,
        exact=exact,
        unit=block,
        alignment=part.adjusted,
        cells=block,
        interaction=term.is_interaction,
        notes=notes,
    )


def _require_permutations(term: Term, count: float, what: str, alpha: float) -> None:
    """Raise ValueError if no permutation can reject."""
    if count * alpha < 1.0:
        left = counted(int(count), "different permutation")
        raise ValueError(
            f"formula: for {term.name}, {what} leave {left}, so that no p-value is below "
            f"{1.0 / count:.2g}; collect more"
        )


def _exact_rows(term: Term, part: Projection, cells: np.ndarray) -> tuple[Permutations, MovedBasis]:
    """Return permutations of rows within cells, of factors by their labels.

    Labels of a factor are fewer than orders of rows, so that small designs are enumerated.
    """
    restricted = cells if cells.any() else None
    move = moved_rows(part)
    if term.is_interaction or not term.factors[0].categorical:
        return PermutationDesign(blocks=restricted).pairings(len(cells), 1.0), move
    level = term.factors[0].codes
    order = np.argsort(level, kind="stable")
    place = np.argsort(order)
    sizes = tuple(np.bincount(level).tolist())
    in_order = None if restricted is None else cells[order]
    permutations = PermutationDesign(blocks=in_order).labels(sizes, 1.0, symmetric=True)
    row = np.zeros((len(sizes), int(cells.max()) + 1), dtype=np.int64)
    row[level, cells] = np.arange(len(cells))

    def moved(labels: np.ndarray) -> tuple[Array, Array]:
        return move(row[labels[:, place].astype(np.int64), cells])

    return permutations, moved


# --- groups ---------------------------------------------------------------------------------------


def _plans_of_groups(
    design: Design,
    terms: Sequence[Term],
    pure: Sequence[Term],
    first: np.ndarray,
    alpha: float,
) -> list[Plan]:
    """Return plans for terms that are constant within groups: whole groups are permuted."""
    if not terms:
        return []
    assert design.group is not None
    few = [term.only(first) for term in terms]
    block = design.block[first]
    try:
        parts = projections(few, indicators(block), design.typ, [design.block_name])
    except ValueError as error:
        raise ValueError(f"{error} (one row for each of the {design.group_name})") from None
    columns = np.hstack([np.zeros((design.size, 0)), *(term.columns for term in pure)])
    means = adjusted_means(design.group, columns)
    planned = []
    for term, part in zip(few, parts, strict=True):
        plan = _rows_plan(
            term, few, part, block, f"whole {design.group_name}", design.within_blocks, alpha
        )
        space = basis(np.hstack([part.adjusted[design.group], columns]))
        planned.append(
            replace(
                plan,
                unit=np.arange(len(first)),
                alignment=space,
                cells=np.zeros(design.size, dtype=np.int64),
                groups=means,
            )
        )
    return planned


def _plans_within_groups(
    design: Design,
    terms: Sequence[Term],
    pure: Sequence[Term],
    first: np.ndarray,
    alpha: float,
) -> list[Plan]:
    """Return plans for terms that vary within groups: rows move, or the labels of groups."""
    if not terms:
        return []
    group = design.group
    assert group is not None
    parts = projections(terms, indicators(group), design.typ, [design.group_name])
    series = tuple(np.flatnonzero(group == code) for code in range(int(group.max()) + 1))
    planned = []
    for term, part in zip(terms, parts, strict=True):
        if term in pure:
            where = f" within {design.group_name}"
            plan = _rows_plan(term, terms, part, group, "rows", where, alpha)
            plan = replace(plan, series=series)
        else:
            plan = _labels_plan(design, term, part, first, alpha)
        cells = np.zeros(design.size, dtype=np.int64)
        planned.append(replace(plan, unit=group, alignment=part.adjusted, cells=cells))
    return planned


def _labels_plan(
    design: Design, term: Term, part: Projection, first: np.ndarray, alpha: float
) -> Plan:
    """Return the plan of an interaction between and within groups: labels of groups move."""
    group = design.group
    assert group is not None
    within = basis(indicators(group))
    fixed = [factor for factor in term.factors if not basis(factor.columns, within).shape[1]]
    stay = Term(tuple(factor for factor in term.factors if factor not in fixed)).columns
    labels = Term(tuple(fixed)).only(first).columns
    block = design.block[first]
    count = n_distinct(labels, block)
    what = f"labels of {design.group_name}"
    _require_permutations(term, count, what, alpha)
    scheme = PermutationDesign(blocks=block if block.any() else None)
    names = " and ".join(factor.name for factor in fixed)
    return Plan(
        term=term.name,
        part=part,
        moved=moved_labels(labels, group, stay, part.rest),
        space=part.rest,
        directions=labels.shape[1] * stay.shape[1],
        permutations=scheme.pairings(len(first), 1.0),
        permuted=f"{names} labels of {design.group_name}{design.within_blocks}",
        exact=False,
        unit=group,
        alignment=part.adjusted,
        cells=group,
        interaction=True,
    )


# --- the hypothesis -------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, kw_only=True)
class NoEffect(Hypothesis):
    """A term adds nothing to the others; its variable holds the aligned response."""

    kind: ClassVar[TestInfo] = FACTOR
    serial_remedy: ClassVar[str] = "give groups= that keep units together, or use distant rows"

    plan: Plan
    indicator_columns: Array | None = None  # (n, c): indicators, for which a linear kernel is added

    @classmethod
    def of(cls, plan: Plan, response: Variable, align: bool, **options: Any) -> NoEffect:
        """Align the response for a term."""
        variable = response
        indicator_columns = None
        if align and not response.numbers:
            numeric = numeric_columns(response)
            points = response.points.copy()
            if numeric.any() and plan.alignment.shape[1] > 1:
                points[:, numeric] = aligned(points[:, numeric], plan.alignment, plan.cells)
            variable = replace(response, points=np.ascontiguousarray(points))
            if plan.interaction and numeric.any() and not numeric.all():
                indicator_columns = points[:, ~numeric] - points[:, ~numeric].mean(axis=0)
                variable = _only_columns(variable, numeric)
        return cls(
            variables=(variable,),
            sizes=(len(response.points),),
            plan=plan,
            indicator_columns=indicator_columns,
            **options,
        )

    def _allowed(self, alpha: float, symmetric: bool) -> Permutations:
        return self.plan.permutations

    @property
    def automatic(self) -> str:
        return ROBUST.name

    def tuning(self, estimator: MeanEstimator) -> str:
        """Return nothing, because means of a design are fitted by least squares."""
        if type(estimator) is not KME:
            raise ValueError(
                f"estimator={estimator!r}: means of a design are fitted by least squares; use "
                "estimator='kme'"
            )
        return "fixed"

    def serial_correlation(self) -> SerialCorrelation | None:
        """Return the serial correlation of rows that are permuted one by one."""
        variable = self.variables[0]
        if variable.numbers or self.plan.groups is not None:
            return None
        if self.plan.series:
            return variable.rows_of(*self.plan.series).correlated("a group")
        if "labels" in self.plan.permuted:
            return None
        return variable.rows_of(np.arange(self.sizes[0])).correlated("the table")

    def notes(self, kernel: Any) -> tuple[str, ...]:
        """Return notes on the plan, and on the data as the kernel compares them."""
        return (*self.plan.notes, *super().notes(kernel))

    def features(self, kernel: Any, cache: KernelCache) -> tuple[Features, Any]:
        """Return features of rows, or of means of groups, and those of the kernel alone."""
        gram = cache(kernel, self.variables[0].points, Request()).about_mean(cache.memory)
        features: Features = gram
        if self.indicator_columns is not None:
            features = concatenated(gram, Features(self.indicator_columns, by_coordinates=True))
        if self.plan.groups is not None:
            features = mapped(features, self.plan.groups)
        return features, gram

    def prepare(
        self, estimator: MeanEstimator, kernel: Any, form: Form, cache: KernelCache
    ) -> Prepared:
        """Prepare the statistic of a resolved kernel."""
        plan = self.plan
        features, gram = self.features(kernel, cache)
        term = term_statistic(
            features, plan.part, plan.space, plan.moved, plan.directions, form is ROBUST
        )
        return Prepared(
            statistic=term.statistic(),
            kernel=kernel,
            notes=(gram.note,) if gram.note else (),
            computation=Computation(
                route=gram.route,
                features=(gram.kernel,),
                approximated=gram.note is not None,
                threads=True,
            ),
        )

    def concluded(
        self, result: Any, member: FittedStatistic, cache: KernelCache, rng: np.random.Generator
    ) -> Any:
        """Return the result with the share that the term explains."""
        plan = self.plan
        features, _ = self.features(member.kernel, cache)
        effect = share(features, plan.part, plan.unit)
        validity = "exact" if plan.exact else "approximate"
        tested = TestedTerm(plan.term, plan.part.df, plan.permuted, validity, effect)
        return replace(result, term=tested)


def _only_columns(variable: Variable, which: np.ndarray) -> Variable:
    """Keep some columns of a variable, in its units."""
    scale = variable.scale
    units = tuple(np.array(scale, dtype=object)[which]) if isinstance(scale, tuple) else scale
    points = np.ascontiguousarray(variable.points[:, which])
    return replace(variable, points=points, scale=units, encoding=None, units_chosen=True)
