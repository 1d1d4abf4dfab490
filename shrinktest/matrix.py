"""Which columns depend on which?  ``independence_matrix``."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from shrinktest._check import as_rng, choice, rng_provenance
from shrinktest._docs import documented
from shrinktest._hints import hinted
from shrinktest._read import XY, Variables, read_variables
from shrinktest.columns import (
    labelled,
    noted,
    one_by_one,
    one_width_each,
    refuse_missing,
)
from shrinktest.conditional.residuals import Regression
from shrinktest.hypotheses.base import Variable, variables_of
from shrinktest.hypotheses.conditional import ConditionalIndependence, conditional, without_decision
from shrinktest.hypotheses.given import GIVEN, method_for, read_three, refuse_without, regression_for
from shrinktest.hypotheses.independence import Independence
from shrinktest.hypotheses.settings import Settings
from shrinktest.multiple.collection import Asked, asks_for_none, refuse_candidates
from shrinktest.multiple.many import adjusted_tests
from shrinktest.multiple.run import run_side_by_side
from shrinktest.multiple.untested import (
    constant_note,
    constant_reasons,
    listwise_note,
    relabelled,
    untested_notes,
    untested_pairs,
)
from shrinktest.permutations.schemes import RelativeOrders
from shrinktest.permutations.serial_correlation import strongest
from shrinktest.results.multiple import METHODS, WESTFALL_YOUNG, MultipleTestsResult
from shrinktest.tables.pooled import is_unasked
from shrinktest.tables.reading import columns_at, names_in
from shrinktest.tables.untestable import Reasons, without_untestable
from shrinktest.units import constant_columns

OTHERS = "others"
_IN_TIME = "test columns of X against others, Y, with shift='circular'"


class _Column(NamedTuple):
    """A column that is tested."""

    place: int  # among those of its table
    label: str
    values: Variable
    asked: Asked  # of its kernel


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
    shift: str | None = None,
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
    """Test the independence of every pair of columns, adjusted for multiple testing.

    Parameters
    ----------
    X : array_like, shape (n, p)
        Observations in rows.
    Y : array_like, shape (n, q), optional
        Other variables of the same rows: every column of X is tested against every column of Y.  Without Y, every pair
        of columns of X is tested.
    given : array_like, shape (n,) or (n, d), or name, list of names or "others", optional
        Conditioning variables, as in :func:`independence_test`; or names of columns of X, which are then not tested.
        "others" tests every pair of columns of X given all other columns (partial dependence).
    estimator
        Here it estimates the mean of the centered pair features, as in :func:`independence_test`.
    kernel_x, kernel_y : str, Kernel or callable, default "gaussian"
        Kernels of the columns of X and of Y; ``kernel_y`` is ``kernel_x`` by default.
    bandwidth_x, bandwidth_y : float, sequence of float or "median", default "median"
        One for all columns, or one per column.
    form : {"auto", "biased", "unbiased"}, default "auto"
        As in :func:`independence_test`.
    shift : {None, "circular"}, optional
        As in :func:`independence_test`.  Like ``blocks``, ``groups`` and ``permutations`` it needs Y.
    nan_policy : {"raise", "omit", "indicator"}, default "raise"
        "raise" is an error.  "omit" drops rows that miss a value in any column, with a note.  "indicator" counts
        missingness as information (:doc:`/tables`), but does not apply to ``given``.

    Returns
    -------
    MultipleTestsResult
        ``result.table``, ``result.reject()``, ``result.summary()``, ``result.plot()``.  A pair with a column that
        cannot be tested has a ``reason`` in the table and no p-value.

    See Also
    --------
    independence_test : Two variables of several columns each; strength of their dependence.
    joint_independence_test : Joint independence of several variables.
    two_sample_test_columns : In which columns two samples differ.

    Notes
    -----
    With Y, whole rows of Y are permuted, and the p-value of a pair is that of :func:`independence_test` with the same
    ``rng``.  Without Y, every column but the first is permuted by itself, so every pair still has a permutation test.
    Single p-values are exact for every independent pair; :doc:`/validity` says which error rate each method controls,
    and when "westfall-young" is only approximate.

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
    for kernel, bandwidth in ((kernel_x, bandwidth_x), (kernel_y, bandwidth_y)):
        refuse_candidates("independence_matrix", kernel, bandwidth if isinstance(bandwidth, str) else "median")
    method = choice(method, METHODS, "method")
    settings = Settings.read(
        form=form, n_resamples=n_resamples, alpha=alpha, workers=workers, progress=progress, gram=gram,
        rank=rank, max_memory=max_memory,
    )  # fmt: skip
    if Y is None and (kernel_y is not None or bandwidth_y is not None):
        raise ValueError("kernel_y and bandwidth_y are for the columns of Y, which was not given; use kernel_x")
    if Y is None and any(value is not None for value in (blocks, groups, shift, permutations)):
        raise ValueError(
            "blocks=, groups=, shift= and permutations= say how the rows of Y are permuted, which was not given "
            "(without it, every column is permuted by itself): test columns against others, independence_matrix(X, Y)"
        )
    X, given = _named_given(X, given)
    units = scale if Y is not None or isinstance(scale, str | None) or hasattr(scale, "keys") else [scale, scale]
    told: dict[str, Any] = {"scale": units, "column_types": column_types, "transform": transform}
    second = X if Y is None else Y
    third, others = (X, given) if isinstance(given, str) else (given, "")
    if given is None:
        refuse_without("given", given_method=given_method, regressor=regressor)
        told |= {"blocks": blocks, "groups": groups, "shift": shift}
    else:
        _refuse_beside_given(given, Y, shift, permutations)
        told |= {"blocks": blocks, "groups": groups, "others": others}

    def read_without(reasons: Reasons) -> Variables:
        dropped = {name: [column for whose, column in reasons if whose == name or Y is None] for name in XY}
        if given is None:
            return read_variables((X, second), XY, nan_policy, dropped=dropped, **told)
        return read_three(
            X, second, third, nan_policy, dropped=dropped | ({"given": dropped["X"]} if others else {}), **told
        )

    read, unread = without_untestable(read_without)
    refuse_missing(read.missing)
    tables = variables_of(read, GIVEN[: len(read.values)], said=not is_unasked(scale))
    remarks = read.notes
    if given is not None:  # regressions and means are of numbers in their units
        in_units = [one.in_units() for one in tables[: 1 if Y is None else 2]]
        tables = tuple(one for one, _ in in_units)
        remarks += tuple(itertools.chain(*(notes for _, notes in in_units)))
    if Y is None and not unread and len(one_by_one(tables[0])) < 2:
        raise ValueError("X has 1 column; without Y two columns or more are tested against each other")
    widths = (bandwidth_x, "median" if bandwidth_y is None else bandwidth_y)
    kernels = (kernel_x, kernel_x if kernel_y is None else kernel_y)
    count = 1 if Y is None else 2
    each = [_columns(tables[side], kernels[side], widths[side], XY[side], Y is not None) for side in range(count)]
    sides, constant, constant_notes = zip(*each, strict=True)
    left, right = sides[0], sides[-1]
    unread_of = [relabelled(unread, tables[side], XY[side].lower(), XY[side]) for side in range(count)]
    notes = tuple(note for one in unread_of for note in untested_notes(one))
    reasons = [{**constant[side], **unread_of[side], **read.left_out[side]} for side in range(count)]
    if Y is None and len(right) < 2:
        why = " ".join((*notes, *constant_notes[0]))
        raise ValueError(
            f"X has 1 column that can be tested; without Y two or more are tested against each other. {why}"
        )
    n = len(read.values[0])
    if Y is None:
        pairs = list(itertools.combinations(right, 2))
        places = itertools.combinations(range(len(right)), 2)
        own: list[Any] = [RelativeOrders(n, len(right), i, j) for i, j in places]
    else:
        pairs = list(itertools.product(left, right))
        own = [permutations] * len(pairs)
    generator = as_rng(rng)
    provenance = rng_provenance(generator)
    shared: dict[str, Any] = {"sizes": (n,), "restriction": read.restriction, "remarks": remarks}
    variables = [(one.values, other.values) for one, other in pairs]
    hypotheses: Sequence[Independence]
    if given is None:
        hypotheses = [Independence(variables=both, own=one, **shared) for both, one in zip(variables, own, strict=True)]
    else:
        used = method_for(given_method, regressor, read.encodings[-1])
        z = [_others(read, pair) if isinstance(given, str) else read.values[2] for pair in pairs]
        combined = asks_for_none(estimator, [one.asked for side in sides for one in side])
        hypotheses = _hypotheses_given(variables, z, used, regressor, shared, combined)
    nulls, about = run_side_by_side(
        hypotheses,
        estimator,
        [(one.asked, other.asked) for one, other in pairs],
        settings,
        generator,
        method,
    )
    failed = dict.fromkeys(f"Not tested: {null}." for null in nulls if isinstance(null, str))
    about["notes"] = (*dict.fromkeys(map(without_decision, about["notes"])), *failed)
    left_out = len(read.gaps[0])
    about["notes"] += listwise_note(left_out if _of_others(read, Y, given) else 0, n, "a pair")
    remembered = strongest(one.memory() for one in hypotheses) if permutations is None else None
    if remembered is not None:
        advice = hypotheses[0].in_time if Y is not None or given is not None else _IN_TIME
        about["notes"] = (*about["notes"], remembered.note(advice))
    found = adjusted_tests(
        nulls,
        method,
        test=hypotheses[0].kind.name,
        keys=("x", "y"),
        labels=[(one.label, other.label) for one, other in pairs],
        untested=untested_pairs([[one.label for one in side] for side in sides], reasons),
        n_observations=hypotheses[0].sizes,
        alpha=settings.alpha,
        rng=provenance,
        **about,
    )
    return noted(found, [*notes, *itertools.chain(*constant_notes)])


def _of_others(read: Variables, Y: Any, given: Any) -> bool:
    """Whether a row that was left out has values in both columns of a pair, and in what is given."""
    if isinstance(given, str):  # every test is about all columns
        return False
    there = [(~gaps).sum(axis=1) for gaps in read.gaps[:2]]
    both = there[0] > 1 if Y is None else (there[0] > 0) & (there[1] > 0)
    return bool((both & ~read.gaps[2].any(axis=1) if given is not None else both).any())


def _others(read: Variables, pair: tuple[_Column, _Column]) -> np.ndarray:
    """All columns but two (n, d), in units of their own; also those that are not tested, as years that count rows."""
    values, tested, there = read.values[2], read.encodings[0], read.encodings[2]
    places = [one.place for one in pair]
    if tested is None or there is None:
        parts = [values[:, [j]] for j in range(values.shape[1]) if j not in places]
    else:
        names = [tested.names[j] for j in places]
        both = zip(there.names, there.groups, strict=True)
        parts = [values[:, group] for name, group in both if name not in names]
    if not parts:
        raise ValueError(f"given={OTHERS!r}: X has two columns, and no other; leave out given=")
    return np.ascontiguousarray(np.hstack(parts))


def _named_given(X: Any, given: Any) -> tuple[Any, Any]:
    """X without the columns that are given by name, and these; both as they are where none is."""
    there = names_in(X)
    names = [given] if isinstance(given, str) else given
    called = isinstance(names, list | tuple) and names and all(isinstance(one, str) for one in names)
    if not called or not there or given == OTHERS or (len(names) == len(X) and not set(names) <= set(there)):
        return X, given  # as many texts as there are rows are labels
    for name in names:
        choice(name, there if isinstance(given, list | tuple) else (OTHERS, *there), "given")
    left = [j for j, name in enumerate(there) if name not in names]
    if not left:
        raise ValueError("given names all columns of X, so that there is nothing to test; name fewer")
    return columns_at(X, left), columns_at(X, [there.index(name) for name in dict.fromkeys(names)])


def _refuse_beside_given(given: Any, Y: Any, shift: Any, permutations: Any) -> None:
    """Raise ValueError for what cannot be asked for together with given variables."""
    if isinstance(given, str):
        choice(given, (OTHERS,), "given")
        if Y is not None:
            raise ValueError(
                f"given={OTHERS!r} is for the columns of X among each other; leave out Y, or give the others themselves"
            )
    for name, asked in (("shift", shift), ("permutations", permutations)):
        if asked is not None:
            raise ValueError(f"{name}= and given= both restrict the permutations; leave one of them out")


def _hypotheses_given(
    variables: list[tuple[Variable, Variable]],
    z: list[np.ndarray],
    method: str,
    regressor: Any,
    common: dict[str, Any],
    combined: bool,
) -> list[ConditionalIndependence]:
    """The hypotheses about pairs of columns, each given variables of its own (n, d)."""
    if method == "strata" and any(one is not z[0] for one in z):
        raise ValueError(
            f"given={OTHERS!r} has strata of its own for every two columns, of which few rows are left; use "
            "given_method='residuals', or give the variables themselves"
        )
    tests = [ConditionalIndependence(variables=pair, **common) for pair in variables]
    regressions: dict[int, Regression | None] = {}
    for one in z:
        if id(one) not in regressions:
            regressions[id(one)] = regression_for(method, one, regressor)
    return [conditional(test, method, one, regressions[id(one)], combined) for test, one in zip(tests, z, strict=True)]


def _columns(
    table: Variable, kernel: Any, bandwidth: Any, name: str, several: bool
) -> tuple[list[_Column], dict[str, str], tuple[str, ...]]:
    """The columns of one of ``several`` tables that are tested; those with one value, as reasons and as a note."""
    parts = one_by_one(table)
    labels = labelled(table, len(parts), name.lower())
    widths = one_width_each(bandwidth, labels, f"bandwidth_{name.lower()}")
    varied = [not constant_columns(points).all() for points, _ in parts]
    columns = [
        _Column(
            place,
            label,
            Variable(points, f"column {label!r} of {name}", unit),
            Asked(kernel, width, f"kernel_{name.lower()}"),
        )
        for place, (label, width, (points, unit)) in enumerate(zip(labels, widths, parts, strict=True))
        if varied[place]
    ]
    return columns, constant_reasons(labels, varied), constant_note(labels, varied, name, f" of {name}" * several)
