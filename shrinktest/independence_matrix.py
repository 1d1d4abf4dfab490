"""``independence_matrix``: tests of all pairs of columns."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shrinktest._check import choice, counted
from shrinktest._docs import documented
from shrinktest._hints import hinted
from shrinktest._random import as_rng
from shrinktest.conditional.conditional_independence import ConditionalIndependence, conditional
from shrinktest.conditional.given import (
    method_for,
    read_three,
    refuse_without,
    regression_for,
)
from shrinktest.data.kept_rows import KeptRows
from shrinktest.data.read import XY, read_variables
from shrinktest.data.scale import ScaleOption
from shrinktest.data.tables import columns_at, names_in
from shrinktest.data.untestable import Reasons, without_untestable
from shrinktest.data.variable import Variable
from shrinktest.independent_variables import Independence
from shrinktest.kernel_spec import KernelSpec, asks_for_none, refuse_candidates
from shrinktest.many import ColumnsToTest, TestedColumn, listwise_note, refuse_missing, run_many
from shrinktest.notes import has_code, note
from shrinktest.permutations.schemes import RelativeOrders
from shrinktest.permutations.serial_correlation import strongest
from shrinktest.results.multiple_tests_result import METHODS, WESTFALL_YOUNG, MultipleTestsResult
from shrinktest.settings import Settings

OTHERS = "others"
_IN_TIME = "test columns of X against others, Y, with block_length='whole'"


@hinted
@documented
def independence_matrix(
    X: Any,
    Y: Any = None,
    *,
    given: Any = None,
    given_method: str = "auto",
    regressor: Any = None,
    method: str = WESTFALL_YOUNG,
    estimator: Any = "kme",
    kernel_x: Any = "gaussian",
    kernel_y: Any = None,
    bandwidth_x: Any = "median",
    bandwidth_y: Any = None,
    scale: Any = "auto",
    form: str = "auto",
    n_resamples: float = 999,
    alpha: float = 0.05,
    blocks: Any = None,
    groups: Any = None,
    block_length: Any = None,
    permutations: Any = None,
    column_types: Any = None,
    transform: Any = None,
    nan_policy: str = "raise",
    rng: Any = None,
    workers: int | None = None,
    progress: bool = False,
    gram: str = "auto",
    rank: int | None = None,
    max_memory: float | None = None,
) -> MultipleTestsResult:
    """Test the independence of every pair of columns.

    The p-values are adjusted for multiple comparisons.

    Parameters
    ----------
    X : array_like, shape (n, p)
        The data, one row per observation.
    Y : array_like, shape (n, q), optional
        Other variables of the same rows: every column of X is tested against every column of Y.
        Without Y, every pair of columns of X is tested.
    given : array_like, shape (n,) or (n, d), or name, list of names or "others", optional
        Conditioning variables, as in :func:`independence_test`; or names of columns of X, which are
        then not tested.  "others" tests every pair of columns of X conditionally on all other
        columns (partial dependence).
    estimator
        Here it estimates a mean for each pair of columns, as in :func:`independence_test`.
    kernel_x, kernel_y : str, Kernel or callable, default "gaussian"
        Kernels of the columns of X and of Y; ``kernel_y`` is ``kernel_x`` by default.
    bandwidth_x, bandwidth_y : float, sequence of float or "median", default "median"
        One for all columns, or one per column.
    form : {"auto", "biased", "unbiased"}, default "auto"
        As in :func:`independence_test`.
    block_length : int, "auto" or "whole", optional
        As in :func:`independence_test`; like ``blocks``, ``groups`` and ``permutations``, it
        requires Y.
    nan_policy : {"raise", "omit", "indicator"}, default "raise"
        "raise" raises an error, whereas "omit" drops rows with a missing value in any column, with
        a note.  "indicator" uses missingness as information (:doc:`/tables`), but does not apply to
        ``given``.

    Returns
    -------
    MultipleTestsResult
        ``result.table``, ``result.reject()``, ``result.summary()``, ``result.plot()``.  A pair with
        a column that cannot be tested has a ``reason`` in the table, but no p-value.

    See Also
    --------
    independence_test : Two variables of several columns each, and the strength of their dependence.
    joint_independence_test : Joint independence of several variables.
    two_sample_test_columns : Columns in which two samples differ.

    Notes
    -----
    With Y, whole rows of Y are permuted, and the p-value of a pair equals the p-value of
    :func:`independence_test` with the same ``rng``.  Without Y, every pair still has a permutation
    test, because every column but the first is permuted separately.  Raw p-values are exact for
    every independent pair; :doc:`/validity` lists the error rate that each method controls, and
    when "westfall-young" is only approximate.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import independence_matrix
    >>> rng = np.random.default_rng(0)
    >>> Z = rng.normal(size=(50, 3))
    >>> Z[:, 2] = np.abs(Z[:, 0]) + 0.3 * rng.normal(size=50)
    >>> result = independence_matrix(Z, rng=0)
    >>> result.table[["x", "y", "pvalue", "adjusted", "reject"]]
        x   y  pvalue  adjusted  reject
    0  x0  x1   0.066     0.126   False
    1  x0  x2   0.001     0.001    True
    2  x1  x2   0.207     0.207   False
    """
    alone = Y is None
    design = {
        "blocks": blocks,
        "groups": groups,
        "block_length": block_length,
        "permutations": permutations,
    }
    method = choice(method, METHODS, "method")
    settings = Settings.read(
        form=form,
        n_resamples=n_resamples,
        alpha=alpha,
        workers=workers,
        progress=progress,
        gram=gram,
        rank=rank,
        max_memory=max_memory,
    )
    _check_together(alone, given, kernel_y, bandwidth_y, design)
    specs = _specs(kernel_x, kernel_y, bandwidth_x, bandwidth_y)
    X, given = _named_given(X, given)
    if given is None:
        refuse_without("given", given_method=given_method, regressor=regressor)
    sources = _Sources(X, Y, given, nan_policy, block_length)
    options: dict[str, Any] = {
        "scale": _scale_of_both(scale, alone),
        "column_types": column_types,
        "transform": transform,
        "blocks": blocks,
        "groups": groups,
    }
    data, unread = without_untestable(lambda reasons: sources.read(reasons, options))
    refuse_missing(data.missing)
    tables = data.variables[: 1 if alone else 2]
    remarks = data.notes
    if given is not None:  # regressions and means are of numbers in their units
        tables, unit_notes = zip(*(table.in_units() for table in tables), strict=True)
        remarks += tuple(itertools.chain(*unit_notes))
    sides = _sides(tables, specs, data, unread, alone)
    pairs = _pairs(sides, alone)
    tests = _hypotheses(pairs, data, sources, permutations, remarks)
    if given is not None:
        tests = _given_each(tests, data, pairs, sources.partial, given_method, regressor, estimator)
    notes = _notes(data, tests, sources, permutations)
    result = run_many(
        tests,
        [(x.label, y.label) for x, y in pairs],
        ("x", "y"),
        [(x.spec, y.spec) for x, y in pairs],
        estimator,
        settings,
        as_rng(rng),
        method,
        untested=_untested_pairs(sides),
        notes=(*notes, *itertools.chain(*(side.notes for side in sides))),
        without=("no-weight",),
    )
    return result if given is None else _with_notes_on_any_pair(result)


def _specs(
    kernel_x: Any, kernel_y: Any, bandwidth_x: Any, bandwidth_y: Any
) -> tuple[KernelSpec, KernelSpec]:
    """Return the kernels of the columns of X and Y; ValueError if these are candidates."""
    kernel_y = kernel_x if kernel_y is None else kernel_y
    bandwidth_y = "median" if bandwidth_y is None else bandwidth_y
    specs = (
        KernelSpec(kernel_x, bandwidth_x, "kernel_x"),
        KernelSpec(kernel_y, bandwidth_y, "kernel_y"),
    )
    for each in specs:
        width = each.bandwidth if isinstance(each.bandwidth, str) else "median"
        refuse_candidates("independence_matrix", each.kernel, width)
    return specs


def _scale_of_both(scale: Any, alone: bool) -> Any:
    """Return units for two variables; a list is for the columns of X if this is ``alone``."""
    return [scale, scale] if alone and ScaleOption.of(scale).by_place else scale


def _sides(
    tables: Sequence[Variable],
    specs: Sequence[KernelSpec],
    data: KeptRows,
    unread: Any,
    alone: bool,
) -> list[ColumnsToTest]:
    """Return the columns of X, and of Y if they are tested against those."""
    return [
        ColumnsToTest.read(
            table,
            kernel,
            name.lower(),
            unread=unread,
            left_out=left_out,
            which="" if alone else name,
        )
        for table, kernel, name, left_out in zip(tables, specs, XY, data.left_out, strict=False)
    ]


def _with_notes_on_any_pair(result: MultipleTestsResult) -> MultipleTestsResult:
    """Return the result without saying which of four statistics stands out.

    This differs between pairs.
    """
    any_pair = note("four-statistics", decided="")
    texts = (any_pair if has_code(text, "four-statistics") else text for text in result.notes)
    return replace(result, notes=tuple(dict.fromkeys(texts)))


@dataclass(frozen=True, eq=False)
class _Sources:
    """The tables of a matrix as users give them."""

    X: Any
    Y: Any
    given: Any  # None, a table, or OTHERS
    nan_policy: str
    block_length: Any

    @property
    def alone(self) -> bool:
        """True if pairs of columns of X are tested."""
        return self.Y is None

    @property
    def partial(self) -> bool:
        """True if every pair is tested given all other columns."""
        return isinstance(self.given, str)

    def read(self, reasons: Reasons, options: dict[str, Any]) -> KeptRows:
        """Read all of them without the columns for which there are reasons."""
        second = self.X if self.alone else self.Y
        dropped = {
            name: [column for whose, column in reasons if self.alone or whose == name]
            for name in XY
        }
        if self.given is None:
            tables = (self.X, second)
            return read_variables(
                tables,
                XY,
                self.nan_policy,
                block_length=self.block_length,
                dropped=dropped,
                **options,
            )
        if not self.partial:
            return read_three(
                self.X, second, self.given, self.nan_policy, dropped=dropped, **options
            )
        dropped["given"] = dropped["X"]
        return read_three(
            self.X, second, self.X, self.nan_policy, others=self.given, dropped=dropped, **options
        )


def _pairs(sides: Sequence[ColumnsToTest], alone: bool) -> list[tuple[TestedColumn, TestedColumn]]:
    """Return the pairs of columns to test; raise ValueError if there is none."""
    if not alone:
        first, second = sides
        return list(itertools.product(first.tested, second.tested))
    (side,) = sides
    if len(side.tested) < 2:
        reasons = " ".join(("", *side.notes))
        raise ValueError(
            f"X has {counted(len(side.tested), 'column')} to test; pass Y or two columns or "
            f"more.{reasons}"
        )
    return list(itertools.combinations(side.tested, 2))


def _hypotheses(
    pairs: Sequence[tuple[TestedColumn, TestedColumn]],
    data: KeptRows,
    sources: _Sources,
    permutations: Any,
    remarks: tuple[str, ...],
) -> list[Any]:
    """Return the hypothesis of every pair, on permutations that all of them share."""
    n = len(data.values[0])
    own: list[Any] = [permutations] * len(pairs)
    if sources.alone and sources.given is None:
        size = len({column.place for pair in pairs for column in pair})
        own = [RelativeOrders(n, size, i, j) for i, j in itertools.combinations(range(size), 2)]
    kind = Independence if sources.given is None else ConditionalIndependence
    return [
        kind(
            variables=(x.values.compared_by(x.spec.kernel), y.values.compared_by(y.spec.kernel)),
            sizes=(n,),
            own=each,
            restriction=data.restriction,
            remarks=remarks,
        )
        for (x, y), each in zip(pairs, own, strict=True)
    ]


def _given_each(
    tests: list[Any],
    data: KeptRows,
    pairs: Sequence[tuple[TestedColumn, TestedColumn]],
    partial: bool,
    given_method: str,
    regressor: Any,
    estimator: Any,
) -> list[Any]:
    """Return the tests given other variables.

    With ``partial``, given all columns but the two of a pair.
    """
    combined = asks_for_none(estimator, [column.spec for pair in pairs for column in pair])
    method = method_for(given_method, regressor, data.encodings[-1])
    if partial and method == "strata" and len(pairs) > 1:
        raise ValueError(
            f"given={OTHERS!r} leaves few rows in the strata of every pair; use "
            "given_method='residuals'"
        )
    conditions = [_others(data, pair) for pair in pairs] if partial else [data.values[2]]
    regressions = [regression_for(method, z, regressor) for z in conditions]
    if not partial:
        conditions *= len(pairs)
        regressions *= len(pairs)
    parts = zip(tests, conditions, regressions, strict=True)
    return [conditional(test, method, z, regression, combined) for test, z, regression in parts]


def _notes(
    data: KeptRows, tests: list[Any], sources: _Sources, permutations: Any
) -> tuple[str, ...]:
    """Return notes on rows that were left out, serial correlation and columns without weight."""
    n = len(data.values[0])
    left_out = len(data.gaps[0]) if _lost_to_others(data, sources.alone, sources.given) else 0
    notes = listwise_note(left_out, n, "a pair")
    correlation = (
        strongest(test.serial_correlation() for test in tests) if permutations is None else None
    )
    if correlation is not None:
        remedy = _IN_TIME if sources.alone and sources.given is None else tests[0].serial_remedy
        notes += (correlation.note(remedy),)
    encoding = data.encodings[2] if sources.given is not None else None
    if encoding is not None:
        texts = encoding.notes("given", unasked=False)
        notes += tuple(text for text in texts if has_code(text, "no-weight"))
    return notes


def _check_together(
    alone: bool, given: Any, kernel_y: Any, bandwidth_y: Any, design: dict[str, Any]
) -> None:
    """Raise ValueError for arguments that do not go together."""
    restricted = [f"{name}=" for name, value in design.items() if value is not None]
    row_designs = [name for name in restricted if name in ("block_length=", "permutations=")]
    if alone and (kernel_y is not None or bandwidth_y is not None):
        raise ValueError("kernel_y= and bandwidth_y= are for Y, which was not given; use kernel_x=")
    if alone and restricted:
        raise ValueError(
            f"{', '.join(restricted)} permutes rows of Y: use independence_matrix(X, Y)"
        )
    if given is not None and row_designs:
        both = " and ".join((*row_designs, "given="))
        raise ValueError(f"{both} both restrict the permutations; leave one of them out")
    if not alone and isinstance(given, str) and given == OTHERS:
        raise ValueError(
            f"given={OTHERS!r} is for the columns of X; leave out Y, or pass the others themselves"
        )


def _named_given(X: Any, given: Any) -> tuple[Any, Any]:
    """Return X without the columns that are given by name, and these; both unchanged if none is."""
    known = names_in(X)
    names = [given] if isinstance(given, str) else given
    if not known and isinstance(given, str):
        choice(given, (OTHERS,), "given")
    named = (
        isinstance(names, list | tuple) and names and all(isinstance(name, str) for name in names)
    )
    if (
        not named
        or not known
        or given == OTHERS
        or (len(names) == len(X) and not set(names) <= set(known))
    ):
        return X, given  # as many texts as rows are labels
    for name in names:
        choice(name, known if isinstance(given, list | tuple) else (OTHERS, *known), "given")
    remaining = [j for j, name in enumerate(known) if name not in names]
    if not remaining:
        raise ValueError(
            "given names all columns of X, so that there is nothing to test; name fewer"
        )
    return columns_at(X, remaining), columns_at(
        X, [known.index(name) for name in dict.fromkeys(names)]
    )


def _lost_to_others(data: KeptRows, alone: bool, given: Any) -> bool:
    """Return True if an omitted row has values in both columns of a pair and in what is given."""
    if isinstance(given, str):  # every test is about all columns
        return False
    values = [(~gaps).sum(axis=1) for gaps in data.gaps[:2]]
    both = values[0] > 1 if alone else (values[0] > 0) & (values[1] > 0)
    return bool((both & ~data.gaps[2].any(axis=1) if given is not None else both).any())


def _others(data: KeptRows, pair: Sequence[TestedColumn]) -> np.ndarray:
    """Return all columns but two (n, d), in units of their own; also those that are not tested."""
    values = data.values[2]
    tested = data.encodings[0]
    encoding = data.encodings[2]
    names: list[Any]
    if tested is None or encoding is None:
        names = [column.place for column in pair]
        groups: dict[Any, Any] = {j: [j] for j in range(values.shape[1])}
    else:
        names = [tested.names[column.place] for column in pair]
        groups = dict(zip(encoding.names, encoding.groups, strict=True))
    parts = [values[:, group] for name, group in groups.items() if name not in names]
    if not parts:
        raise ValueError(f"given={OTHERS!r}: X has two columns, and no other; leave out given=")
    return np.ascontiguousarray(np.hstack(parts))


def _untested_pairs(sides: Sequence[ColumnsToTest]) -> dict[tuple[str, ...], str]:
    """Return reasons for pairs with a column that is not tested."""
    names = [[*(column.label for column in side.tested), *side.untested] for side in sides]
    first = sides[0].untested
    last = sides[-1].untested
    pairs = itertools.product(*names) if len(names) == 2 else itertools.combinations(names[0], 2)
    return {
        (x, y): f"column {x!r}: {first[x]}" if x in first else f"column {y!r}: {last[y]}"
        for x, y in pairs
        if x in first or y in last
    }
