"""Plans of the tests of a design: what is permuted for each term, and the bases that move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from shrinktest._check import Array, counted
from shrinktest.data.formula import (
    JointTerm,
    Projection,
    Term,
    TestedTerms,
    basis,
    indicators,
    projections,
)
from shrinktest.factor_design import Design, coded
from shrinktest.notes import note
from shrinktest.permutations.base import Permutations, factorials
from shrinktest.permutations.design import PermutationDesign
from shrinktest.permutations.schemes import Signs
from shrinktest.statistics.projections import (
    MovedBasis,
    adjusted_means,
    moved_labels,
    moved_predictor,
    moved_rows,
    moved_signs,
)

_NOTHING = 1e-9  # squared length of the rows of a group that a term leaves as they are
_ENOUGH = 10.0  # permutations times alpha, from which exact rows lose no power


@dataclass(frozen=True, eq=False)
class Stratum:
    """Rows, or means of groups, and how the basis of a term moves among them."""

    part: Projection
    moved: MovedBasis
    space: Array  # basis of what no permutation changes
    directions: int  # columns of a moved basis that belong to the term
    groups: Array | None = None  # (g, n): from rows to means of groups


@dataclass(frozen=True, eq=False)
class Plan:
    """Plan of the test of a term: permuted units, projections and alignment."""

    term: str
    part: Projection  # of rows, or of whole groups
    strata: tuple[Stratum, ...]  # whose statistics are averaged; most plans have one
    permutations: Permutations
    permuted: str  # in words
    within: np.ndarray  # cells in which units of the part change places
    where: str  # the same in words
    block: np.ndarray  # cells that units of the part may not leave in any test
    where_block: str  # the same in words
    exact: bool  # True if the test is exact, else it is approximate
    unit: np.ndarray  # of the jackknife, for each row of the projection
    alignment: Array  # basis (n, q) of what is taken off the numbers of all rows
    cells: np.ndarray  # (n,): cells with a scale of their own
    interaction: bool
    groups: Array | None = None  # (g, n): from rows to means of groups, of which the part is
    # rows of each series that change places one by one; an empty one stands for all rows, None for
    # units that are larger
    series: tuple[np.ndarray, ...] | None = None
    # columns of the units that change places: if the spread depends on them, level and power suffer
    spread: Projection | None = None
    notes: tuple[str, ...] = ()


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
        always = indicators(design.block)
        return tuple(_plans_of_rows(design, design.terms, design.joint, always, alpha))
    kinds = {term.name: {design.kind(part) for part in term.parts} for term in design.joint}
    whole = [term for term in design.joint if kinds[term.name] == {"between"}]
    inner = [term for term in design.joint if "between" not in kinds[term.name]]
    both = [term for term in design.joint if kinds[term.name] == {"between", "mixed"}]
    for term in design.joint:
        if {"between", "within"} <= kinds[term.name]:
            raise ValueError(
                f"terms: {term.name!r} lists terms between and within {design.group_name}, which "
                "need different permutations; list them apart"
            )
    planned = [
        *_plans_of_groups(design, whole, alpha),
        *_plans_within_groups(design, inner, alpha),
        *(_plan_of_strata(design, term, alpha) for term in both),
    ]
    by_name = {plan.term: plan for plan in planned}
    tested: list[TestedTerms] = [*design.terms, *design.joint]
    return tuple(by_name[term.name] for term in tested)


def _moved(term: TestedTerms, terms: Sequence[Term]) -> frozenset[str]:
    """Return the variables that have no effect at all if a term has none; empty if there is none.

    They are those of its main effects, and those that occur in no other term.  If every part has
    one of them, the response is exchangeable at equal values of all other variables.
    """
    parts = [part.name for part in term.parts]
    others = [each.variables for each in terms if each.name not in parts]
    elsewhere = frozenset().union(*others)
    main = [part.variables for part in term.parts if not part.is_interaction]
    moved = frozenset().union(*main) | (term.variables - elsewhere)
    return moved if all(part.variables & moved for part in term.parts) else frozenset()


def _plans_of_rows(
    design: Design, terms: Sequence[Term], joint: Sequence[JointTerm], always: Array, alpha: float
) -> list[Plan]:
    """Return plans for terms whose rows are permuted, within blocks."""
    parts = projections(terms, always, design.typ, [design.block_name], joint)
    unit = np.arange(design.size)
    planned = []
    tested: list[TestedTerms] = [*terms, *joint]
    for term, part in zip(tested, parts, strict=True):
        plan = _rows_plan(term, terms, part, design.block, "rows", design.within_blocks, alpha)
        cells = _scale_cells(terms, _moved(term, terms) if plan.exact else frozenset(), design.size)
        plan = replace(plan, unit=unit, alignment=part.adjusted, cells=cells, series=())
        planned.append(plan)
    return planned


def _scale_cells(terms: Sequence[Term], but: frozenset[str], size: int) -> np.ndarray:
    """Return cells of the factors; of exact rows without those whose labels move."""
    factors = {factor.name: factor for term in terms for factor in term.factors}
    codes = [
        factor.codes for name, factor in factors.items() if factor.categorical and name not in but
    ]
    return coded(*codes) if codes else np.zeros(size, dtype=np.int64)


def _exact_cells(
    term: TestedTerms,
    moved: frozenset[str],
    terms: Sequence[Term],
    block: np.ndarray,
    columns: Array,
    where: str,
    alpha: float,
) -> tuple[np.ndarray | None, str, tuple[str, ...]]:
    """Return cells in which exact permutations move variables, or None, where that is, and notes.

    ``columns`` (n, c) are those that move.  If cells leave few permutations of them, there is a
    note, and no cells.
    """
    space = basis(indicators(block))
    others = {
        factor.name: factor
        for other in terms
        for factor in other.factors
        if factor.name not in moved and basis(factor.columns, space).shape[1]
    }
    if not moved or not all(factor.categorical for factor in others.values()):
        return None, where, ()
    cells = coded(block, *(factor.codes for factor in others.values()))
    count = n_distinct(columns, cells)
    if others and count < _ENOUGH / alpha and n_distinct(columns, block) > count:
        number = counted(int(count), "different permutation")
        return None, where, (note("few-exact", permutations=number, term=term.name),)
    if others:
        where = f"{where}{',' if where else ''} within cells of {' and '.join(others)}"
    return cells, where, ()


def _rows_plan(
    term: TestedTerms,
    terms: Sequence[Term],
    part: Projection,
    block: np.ndarray,
    what: str,
    where: str,
    alpha: float,
) -> Plan:
    """Return whether rows, or groups, move exactly, or rows of the residualized predictor."""
    moving = _moved(term, terms)
    where_block = where
    cells, where, notes = _exact_cells(term, moving, terms, block, part.added, where, alpha)
    exact = cells is not None
    count = n_distinct(part.added, block if cells is None else cells)
    if cells is not None:
        permutations, moved = _exact_rows(term, terms, part, cells)
        count = min(count, permutations.distinct)
        permuted = f"{what}{where}"
    else:
        permutations = orders_within(block)
        moved = moved_predictor(part)
        permuted = f"{what} of the residualized predictor{where}"
    _require_permutations(term, count, what, alpha)
    return Plan(
        term=term.name,
        part=part,
        strata=(Stratum(part, moved, part.adjusted if exact else part.rest, part.df),),
        permutations=permutations,
        permuted=permuted,
        within=block if cells is None else cells,
        where=where,
        block=block,
        where_block=where_block,
        exact=exact,
        unit=block,
        alignment=part.adjusted,
        cells=block,
        interaction=term.is_interaction and not exact,
        spread=None if exact else _within(part.model, block),
        notes=notes,
    )


def _within(columns: Array, cells: np.ndarray) -> Projection:
    """Return the bases of columns (n, c) and of the cells that they are adjusted for."""
    always = indicators(cells)
    always /= np.sqrt(always.sum(axis=0))
    return Projection(basis(columns, always), always, always)


def orders_within(cells: np.ndarray) -> Permutations:
    """Return all orders of rows within cells."""
    return PermutationDesign(blocks=cells if cells.any() else None).pairings(len(cells), 1.0)


def _require_permutations(term: TestedTerms, count: float, what: str, alpha: float) -> None:
    """Raise ValueError if no permutation can reject."""
    if count * alpha < 1.0:
        left = counted(int(count), "different permutation")
        raise ValueError(
            f"formula: for {term.name}, {what} leave {left}, so that no p-value is below "
            f"{1.0 / count:.2g}; collect more"
        )


def _exact_rows(
    term: TestedTerms, terms: Sequence[Term], part: Projection, cells: np.ndarray
) -> tuple[Permutations, MovedBasis]:
    """Return permutations of rows within cells, of factors by their labels.

    Labels of factors are fewer than orders of rows, so that small designs are enumerated.
    """
    move = moved_rows(part)
    names = _moved(term, terms)
    moving = {each.name: each for other in terms for each in other.factors if each.name in names}
    if not all(factor.categorical for factor in moving.values()):
        return orders_within(cells), move
    level = coded(*(factor.codes for factor in moving.values()))
    order = np.argsort(level, kind="stable")
    place = np.argsort(order)
    sizes = tuple(np.bincount(level).tolist())
    in_order = cells[order] if cells.any() else None
    symmetric = len(moving) == 1  # levels that change their names change no other factor
    permutations = PermutationDesign(blocks=in_order).labels(sizes, 1.0, symmetric=symmetric)
    row = np.zeros((len(sizes), int(cells.max()) + 1), dtype=np.int64)
    row[level, cells] = np.arange(len(cells))

    def columns(labels: np.ndarray) -> Array:
        return move.columns(row[labels[:, place].astype(np.int64), cells])

    return permutations, replace(move, columns=columns)


# --- groups ---------------------------------------------------------------------------------------


def _group_level(
    design: Design, joint: Sequence[JointTerm]
) -> tuple[list[Term], tuple[Projection, ...], Array]:
    """Return the terms between groups with a row for each group, and their projections.

    Return also the columns (n, c) of terms within groups, for which means are adjusted.
    """
    first = design.first
    terms = [term for term in design.terms if design.kind(term) == "between"]
    few = [term.only(first) for term in terms]
    always = indicators(design.block[first])
    try:
        parts = projections(few, always, design.typ, [design.block_name], joint)
    except ValueError as error:
        raise ValueError(f"{error} (one row for each of the {design.group_name})") from None
    inner = [term.columns for term in design.terms if design.kind(term) == "within"]
    return few, parts, np.hstack([np.zeros((design.size, 0)), *inner])


def _plans_of_groups(design: Design, joint: Sequence[JointTerm], alpha: float) -> list[Plan]:
    """Return plans for terms that are constant within groups: whole groups are permuted."""
    if not any(design.kind(term) == "between" for term in design.terms):
        return []
    few, parts, columns = _group_level(design, [term.only(design.first) for term in joint])
    means = adjusted_means(design.rows_group, columns)
    block = design.block[design.first]
    what = f"whole {design.group_name}"
    planned = []
    tested: list[TestedTerms] = [*few, *joint]
    for term, part in zip(tested, parts, strict=True):
        plan = _rows_plan(term, few, part, block, what, design.within_blocks, alpha)
        space = basis(np.hstack([part.adjusted[design.rows_group], columns]))
        planned.append(
            replace(
                plan,
                unit=np.arange(len(block)),
                alignment=space,
                cells=np.zeros(design.size, dtype=np.int64),
                groups=means,
                strata=tuple(replace(stratum, groups=means) for stratum in plan.strata),
            )
        )
    return planned


def _plans_within_groups(design: Design, joint: Sequence[JointTerm], alpha: float) -> list[Plan]:
    """Return plans for terms that vary within groups: rows or signs, or the labels of groups."""
    terms = [term for term in design.terms if design.kind(term) != "between"]
    if not terms:
        return []
    group = design.rows_group
    parts = projections(terms, indicators(group), design.typ, [design.group_name], joint)
    series = tuple(np.flatnonzero(group == code) for code in range(int(group.max()) + 1))
    planned = []
    tested: list[TestedTerms] = [*terms, *joint]
    for term, part in zip(tested, parts, strict=True):
        if all(design.kind(each) == "mixed" for each in term.parts):
            plan = _labels_plan(design, term, part, alpha)
        elif design.within == "signs":
            plan = _signs_plan(design, term, part, alpha)
        else:
            where = f" within {design.group_name}"
            plan = _rows_plan(term, terms, part, group, "rows", where, alpha)
            plan = replace(plan, series=series)
        cells = np.zeros(design.size, dtype=np.int64)
        planned.append(replace(plan, unit=group, alignment=part.adjusted, cells=cells))
    return planned


def _signs_plan(design: Design, term: TestedTerms, part: Projection, alpha: float) -> Plan:
    """Return the plan of a term within groups: signs of a group's residual rows change.

    It assumes nothing of the covariance of these rows.
    """
    group = design.rows_group
    size = np.bincount(group, np.square(part.added).sum(axis=1))
    matters = size > _NOTHING
    # groups in which the term does not vary have no sign of their own
    unit = np.where(matters, np.cumsum(matters) - 1, 0)[group]
    permutations = Signs(unit, symmetric=True)
    what = f"signs of {design.group_name}"
    _require_permutations(term, permutations.distinct, what, alpha)
    return Plan(
        term=term.name,
        part=part,
        strata=(Stratum(part, moved_signs(part), part.rest, part.df),),
        permutations=permutations,
        permuted=what,
        within=group,
        where=f" within {design.group_name}",
        block=group,
        where_block=f" within {design.group_name}",
        exact=False,
        unit=group,
        alignment=part.adjusted,
        cells=group,
        interaction=term.is_interaction,
    )


def _label_columns(design: Design, term: Term, rest: Array) -> tuple[Array, Array]:
    """Return the columns of a product that whole groups have, and those that stay in their rows.

    Sums of either that lie in ``rest`` for all permutations, which has the groups, are left out.
    """
    fixed = tuple(factor for factor in term.factors if factor.name not in design.varying)
    varying = tuple(factor for factor in term.factors if factor.name in design.varying)
    stay = Term(varying).columns
    labels = Term(fixed).only(design.first).columns
    constant = np.full((design.size, 1), design.size**-0.5)
    if not basis(stay, rest).shape[1]:
        labels = basis(labels, np.full((len(labels), 1), len(labels) ** -0.5))
    return labels, basis(stay, constant)


def _labels_plan(design: Design, term: TestedTerms, part: Projection, alpha: float) -> Plan:
    """Return the plan of interactions between and within groups: labels of groups move."""
    columns = [_label_columns(design, each, part.rest) for each in term.parts]
    block = design.block[design.first]
    labels = np.hstack([labels for labels, _ in columns])
    count = n_distinct(labels, block)
    _require_permutations(term, count, f"labels of {design.group_name}", alpha)
    moved = moved_labels(columns, design.rows_group)
    return Plan(
        term=term.name,
        part=part,
        strata=(Stratum(part, moved, part.rest, moved.size),),
        permutations=orders_within(block),
        permuted=f"{_labels_that_move(design, term)}{design.within_blocks}",
        within=design.rows_group,
        where=f" within {design.group_name}",
        block=design.rows_group,
        where_block=f" within {design.group_name}",
        exact=False,
        unit=design.rows_group,
        alignment=part.adjusted,
        cells=design.rows_group,
        interaction=True,
        spread=_within(labels, block),
    )


def _labels_that_move(design: Design, term: TestedTerms) -> str:
    """Return words for the labels of groups."""
    names = [factor.name for factor in term.factors if factor.name not in design.varying]
    return f"{' and '.join(names)} labels of {design.group_name}"


def _plan_of_strata(design: Design, term: JointTerm, alpha: float) -> Plan:
    """Return the plan of terms between groups and their products with terms within groups.

    Labels of whole groups move in both, and the statistics of means of groups and of rows within
    groups are averaged.
    """
    first = design.first
    between = tuple(each.only(first) for each in term.parts if design.kind(each) == "between")
    mixed = tuple(each for each in term.parts if design.kind(each) == "mixed")
    _, parts, columns = _group_level(design, [JointTerm(term.name, between)])
    upper = parts[-1]
    group = design.rows_group
    inner = [each for each in design.terms if design.kind(each) != "between"]
    always = indicators(group)
    names = [design.group_name]
    joint = [JointTerm(term.name, mixed)]
    lower = projections(inner, always, design.typ, names, joint)[-1]
    labels = _labels_plan(design, joint[0], lower, 1.0)
    block = design.block[first]
    moved = _moved(term, design.terms) - design.varying
    if not all(each.variables & moved for each in term.parts):
        moved = frozenset()
    factors = {each.name: each for other in design.terms for each in other.factors}
    of_groups = [
        Term((each.only(first),)) for each in factors.values() if each.name not in design.varying
    ]
    moving = [upper.added, *(_label_columns(design, each, lower.rest)[0] for each in mixed)]
    columns_of_groups = np.hstack(moving)
    cells, where, notes = _exact_cells(
        term, moved, of_groups, block, columns_of_groups, design.within_blocks, alpha
    )
    exact = cells is not None
    within = block if cells is None else cells
    whole = f"whole {design.group_name}"
    _require_permutations(term, n_distinct(columns_of_groups, within), whole, alpha)
    what = whole if exact else _labels_that_move(design, term)
    of_means = Stratum(
        upper,
        moved_rows(upper) if exact else moved_predictor(upper),
        upper.adjusted if exact else upper.rest,
        upper.df,
        adjusted_means(group, columns),
    )
    (of_rows,) = labels.strata
    always = indicators(design.block)
    part = projections(design.terms, always, design.typ, [design.block_name], [term])[-1]
    return Plan(
        term=term.name,
        part=part,
        strata=(of_means, of_rows),
        permutations=orders_within(within),
        permuted=f"{what}{where}",
        within=within,
        where=where,
        block=block,
        where_block=design.within_blocks,
        exact=exact,
        unit=group,
        alignment=part.adjusted,
        cells=np.zeros(design.size, dtype=np.int64),
        interaction=not exact,
        spread=None if exact else _within(columns_of_groups, block),
        notes=notes,
    )
