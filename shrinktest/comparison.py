"""What changed between two tables?  ``compare``."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np

from shrinktest._check import as_points, as_rng, choice, flag, level, listed
from shrinktest._hints import hinted
from shrinktest._names import two_names
from shrinktest._warn import each_once
from shrinktest.batches.recognized import in_batches
from shrinktest.columns import column_tests, labelled, one_by_one
from shrinktest.effects.columns import changes, missing_change
from shrinktest.hypotheses.equality import TwoEqualDistributions
from shrinktest.hypotheses.settings import Settings
from shrinktest.multiple.collection import Asked
from shrinktest.multiple.run import run
from shrinktest.multiple.untested import relabelled, untested_notes
from shrinktest.permutations.memory import BY_GROUPS, BY_STRETCHES_OR_GROUPS
from shrinktest.results.column_effects import ColumnEffects
from shrinktest.results.comparison import ComparisonResult, WitnessMap
from shrinktest.results.multiple import METHODS, WESTFALL_YOUNG
from shrinktest.tables.aligned import check_same_index
from shrinktest.tables.changes import MISSING, SHARE
from shrinktest.tables.column import DROP
from shrinktest.tables.intervals import Units
from shrinktest.tables.labels import columns_of_labels, pooled_labels
from shrinktest.tables.observed import Rows
from shrinktest.tables.pooled import ALONE, PooledTable, checked_types
from shrinktest.tables.reading import Table, is_table, names_in, read_table, series_label, table_of
from shrinktest.tables.successive import in_succession, said_of_succession
from shrinktest.tables.untestable import CONSTANT, Reasons, without_untestable
from shrinktest.units import constant_columns

POLICIES = ("indicator", "omit", "raise")

_GRID = 31  # points of the witness function along each of two columns
_ROWS = 500  # of each table that it is computed from
_RESAMPLES = 199  # of its band


@hinted
def compare(
    A: Any,
    B: Any,
    *,
    names: tuple[str, str] | list[str] = ("A", "B"),
    estimator: Any = "auto",
    method: str = WESTFALL_YOUNG,
    scale: Any = "auto",
    n_resamples: float = 999,
    alpha: float = 0.05,
    confidence: float = 0.95,
    blocks: Any = None,
    paired: bool = False,
    groups: Any = None,
    column_types: Any = None,
    nan_policy: str = "indicator",
    rng: Any = None,
    workers: int | None = None,
    progress: bool = False,
    gram: str = "auto",
    rank: int | None = None,
    max_memory: float | None = None,
) -> ComparisonResult:
    """What changed between two tables: an overall p-value, adjusted p-values and effects of all columns, a report.

    Parameters
    ----------
    A, B : data frame (pandas, polars, pyarrow), path or array_like, shape (m, d) and (n, d)
        The tables, one row per observation, or paths of CSV, Parquet or .npy files (the first two need pyarrow).
        Columns are matched by name; the answer begins with those that only one table has.
    names : tuple of str, default ("A", "B")
        What the report calls the tables, such as ("March", "April").
    estimator
        As in :func:`two_sample_test`, of the overall test and of every column.  "auto" combines statistics for shifts,
        spread, shape and dependence; "kme" is faster.
    method : str, default "westfall-young"
        How the p-values of columns are adjusted for their number, as in :func:`two_sample_test_columns`.
    scale, column_types
        As in :func:`two_sample_test`.
    n_resamples, rng, workers, progress, gram, rank, max_memory
        As in :func:`two_sample_test`.
    alpha : float, default 0.05
        Level at which the result decides, of the overall test and of the adjusted tests of columns.
    confidence : float, default 0.95
        Confidence of the intervals of effects, of each by itself.
    blocks, paired, groups
        Which permutations of the rows the design of the data allows, as in :func:`two_sample_test`.  Intervals take
        pairs and groups into account as well; effects of columns and their intervals do not take blocks into account.
    nan_policy : {"indicator", "omit", "raise"}
        Missing values count as information, so that a column also changes if more of its values are missing than
        before; or rows that miss a value in any column are left out, of all columns; or are an error.  With "omit" the
        shares of missing values are of all rows, and everything else is of the complete ones.

    Returns
    -------
    ComparisonResult
        ``print(result.summary())``, ``result.table``, ``result.to_html("report.html")``, ``result.pvalue``.

    Raises
    ------
    ValueError, TypeError
        For input that cannot be compared; the message names the argument and says what to do.

    Warns
    -----
    UserWarning
        When there are too few permutations to reject at ``alpha``.

    See Also
    --------
    two_sample_test : The overall test, with all its options; where the tables differ (witness function).
    two_sample_test_columns : The tests of the columns alone.
    equivalence_test : Whether two tables are practically the same, which a large p-value does not show.
    k_sample_test : Whether three tables or more differ.
    change_points : When the rows of one table changed.

    Notes
    -----
    The overall p-value is that of :func:`two_sample_test`, those of the columns are those of
    :func:`two_sample_test_columns`, with the same ``rng``: all come from the same permutations of rows, and are exact.
    Dates and counters of which nearly all in one table come after those in the other, as in exports of two months, are
    left out of the overall test, which they would decide alone, unless ``column_types`` names their type.
    Each of the two, the overall test and the adjusted tests together, has level ``alpha``; they may disagree.  A column
    that cannot be tested has a ``reason`` in the table and no p-value, such as one with a single value.  Under
    ``nan_policy="omit"`` all is about the rows that are left, and columns without values are not tested: if values of
    one column are missing depending on those of another, a column that did not change may differ among these rows where
    another changed.

    How different the tables are as a whole is ``overall.effect()``: with ``estimator="auto"`` it combines all of its
    statistics, which takes up to half as long as the tests.

    The effects of columns describe how large the changes are.  Numbers, dates and times: the medians, with the
    probability that a value of the second table is larger than one of the first (AUC), and the ratio of interquartile
    ranges.  A few values that are far away change none of these.  Categories, and True and False: the change of every
    share, and of missing values, with Newcombe's intervals.  With fewer than 5 rows in a table (10 for interquartile
    ranges) there is no interval.  Of pairs, only those without a gap count.  Intervals are not adjusted for their
    number: the tests say whether a column changed, the effects by how much.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from shrinktest import compare
    >>> rng = np.random.default_rng(1)
    >>> march = pd.DataFrame({"income": rng.lognormal(8.0, 0.4, 100), "region": rng.choice(["north", "south"], 100)})
    >>> april = pd.DataFrame({"income": rng.lognormal(8.4, 0.4, 100), "region": rng.choice(["north", "south"], 100)})
    >>> result = compare(march, april, names=("March", "April"), n_resamples=199, rng=0)
    >>> print(result.answer)
    These tables differ (p = .005). 1 of 2 columns changed: income. Of one observation of March and one of April,
    the witness function tells which is which with probability .75 [.67, .82] (.5: by chance, 1: always).
    >>> for column, change in zip(result.table["column"], result.table["change"]):
    ...     print(f"{column}: {change}")
    income: median 3,018 → 4,213 (AUC .77 [.70, .83]); IQR 1,222 → 2,009 (× 1.64 [1.13, 2.4])
    region: north 51% → 55% (+4.0 points [-9.7, +17.5])
    """
    called = two_names(names, "tables", ("March", "April"))
    method = choice(method, METHODS, "method")
    choice(nan_policy, POLICIES, "nan_policy")
    confidence = level(confidence, "confidence")
    paired = flag(paired, "paired")
    settings = Settings.read(
        form="auto", n_resamples=n_resamples, alpha=alpha, workers=workers, progress=progress, gram=gram, rank=rank,
        max_memory=max_memory,
    )  # fmt: skip
    if in_batches(A, B) or isinstance(A, str) or isinstance(B, str):
        from shrinktest.batches.whole import read_if_file

        A, B = (read_if_file(x, name, column_types, settings.memory) for x, name in zip((A, B), called, strict=True))
    (first, second), types, only = _common(A, B, called, column_types)
    if paired and len(A) == len(B):
        check_same_index(A, B, *called)
    labels = {"blocks": blocks, "groups": groups}
    types, of_labels = columns_of_labels(labels, (A, B), types, scale)
    pooled = PooledTable.read((first, second), called, types, "both")
    for name, given in labels.items():
        if given is not None and not paired:
            labels[name] = pooled_labels(given, name, (A, B), called, pooled.sizes, " and ".join(called))
    of_units = pooled.units(paired=bool(paired)) if blocks is None and groups is None else ()

    def read(reasons: Reasons) -> tuple[PooledTable, TwoEqualDistributions]:
        part = pooled.without([name for _, name in reasons])
        x, y = _split(part)
        told: dict[str, Any] = {"scale": scale}
        told |= {"column_types": {name: types[name] for name in part.table.names if name in types}}
        told |= {"called": called, "nan_policy": nan_policy, "paired": paired}
        return part, TwoEqualDistributions.read(x, y, **told, **labels)

    (pooled, whole), unread = without_untestable(read)
    shown = labelled(whole.variables[0], len(pooled.table.columns), "x")
    left_out = relabelled(unread, whole.variables[0], "x")
    parts = {
        label: part
        for label, part in zip(shown, one_by_one(whole.variables[0]), strict=True)
        if not constant_columns(part[0]).all()
    }
    if not parts:
        raise ValueError(
            f"{called[0]} and {called[1]}: every column has the same value in every row, so that there is nothing to "
            f"compare{''.join(f'. {note[:-1]}' for note in untested_notes(left_out))}"
        )
    units = _units(pooled.sizes, paired, labels["groups"])
    successive = in_succession(pooled, types, units)
    generator = as_rng(rng)
    with each_once():
        same = copy.deepcopy(generator)
        tests = column_tests(
            whole,
            parts,
            method=method,
            estimator=estimator,
            kernel="gaussian",
            widths=["median"] * len(parts),
            settings=settings,
            generator=generator,
            untested={**{label: CONSTANT for label in shown if label not in parts}, **left_out, **pooled.left_out},
        )
        name_of = dict(zip(shown, pooled.table.names, strict=True))
        failed = [name_of[label] for label in parts if (label,) in tests.untested]
        successive = successive if {name_of[label] for label in parts} - {*successive, *failed} else ()
        whole = _without(whole, (*successive, *failed))
        overall = run(whole, estimator, [Asked("gaussian", "median")], settings, same)
    keep = _kept(pooled, nan_policy, paired)
    kept = _split(pooled, keep)
    effects = tuple(
        _effects(label, j, pooled, kept, units, keep, confidence, tests.untested.get((label,), ""))
        for j, label in enumerate(shown)
    )
    size = overall.effect(confidence=confidence)
    result = ComparisonResult(
        called, overall, tests, effects, kept, confidence, only, effect=size, successive=successive
    )
    of_columns = [note for note in tests.notes if not note.startswith("Successive rows")]  # the overall test says so
    of_all = [note.replace(BY_STRETCHES_OR_GROUPS, BY_GROUPS) for note in overall.notes]
    notes = [*of_labels, *pooled.notes, *of_units, *untested_notes(left_out), *of_all, *of_columns]
    notes += [note for note in size.notes if not note.startswith("The distance")]  # which the report does not show
    if blocks is not None:
        notes.append("Effects of columns and their intervals do not take blocks into account; the p-values do.")
    notes = [note for note in notes if not note.startswith(tuple(f"Column {name!r} alone" for name in successive))]
    notes = [*said_of_succession(successive, pooled), *notes]
    return replace(result, notes=tuple(dict.fromkeys(notes)), where=_where(result, shown))


# --- reading ------------------------------------------------------------------------------------------------


def _common(
    A: Any, B: Any, names: tuple[str, str], column_types: Any
) -> tuple[tuple[Table, Table], dict[str, Any], tuple[tuple[str, ...], tuple[str, ...]]]:
    """The tables with the columns that both have, how to read these, and the names of the others."""
    types = checked_types(column_types)
    there = names_in(A), names_in(B)
    only: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    if all(there):
        left = [[name for name in one if types.get(name) != DROP] for one in there]
        only = (
            tuple(name for name in left[0] if name not in there[1]),
            tuple(name for name in left[1] if name not in there[0]),
        )
        if left[0] and len(only[0]) == len(left[0]):
            raise ValueError(
                f"{names[0]} and {names[1]} have no column in common: {names[0]} has {listed(left[0])}, {names[1]} has "
                f"{listed(left[1])}; rename those that hold the same"
                + (", or give them as Series, whose names may differ" if len(left[0]) == len(left[1]) == 1 else "")
            )
    label = None if any(there) else series_label((A, B))
    if label is not None and label in types:
        types[ALONE] = types.pop(label)
    first, second = (  # what only one of them has may be anything
        read_table(
            x if is_table(x) else table_of(as_points(x, name, tables=True)),
            name,
            {**types, **dict.fromkeys(alone, DROP)},
        )
        for x, name, alone in zip((A, B), names, only, strict=True)
    )
    if label is not None and len(first.columns) == len(second.columns) == 1:
        first, second = (replace(one, columns=(replace(one.columns[0], name=label),)) for one in (first, second))
        types |= {label: types.pop(ALONE)} if ALONE in types else {}
    for key in types:
        known = dict.fromkeys([*first.names, *first.dropped, *second.names, *second.dropped])
        choice(key, known, "a column in column_types")
    return (first, second), types, only


def _split(pooled: PooledTable, keep: Rows | None = None) -> tuple[Table, Table]:
    """The rows of both tables, all or those that are kept, with common levels."""
    first = np.arange(sum(pooled.sizes)) < pooled.sizes[0]
    rows = np.ones_like(first) if keep is None else keep
    found = [
        replace(pooled.table, columns=tuple(column.taken(part & rows) for column in pooled.table.columns))
        for part in (first, ~first)
    ]
    return found[0], found[1]


def _kept(pooled: PooledTable, nan_policy: str, paired: bool) -> Rows:
    """Which rows were tested."""
    missing = pooled.missing().any(axis=1)
    if nan_policy != "omit":
        return np.ones_like(missing)
    if paired:
        missing = np.tile(missing.reshape(2, -1).any(axis=0), 2)
    return np.asarray(~missing)


def _units(sizes: tuple[int, ...], paired: bool, groups: Any) -> Units:
    """What varies independently."""
    both = (sizes[0], sizes[1])
    if paired:
        return Units.pairs(both)
    if groups is None:
        return Units.rows(both)
    known: dict[Any, int] = {}
    return Units(both, np.array([known.setdefault(label, len(known)) for label in groups], dtype=np.int64))


def _without(whole: TwoEqualDistributions, names: tuple[str, ...]) -> TwoEqualDistributions:
    """The hypothesis about the other columns, with the same rows."""
    (variable,) = whole.variables
    if not names or variable.encoding is None:
        return whole
    encoding, stays = variable.encoding.without(names)
    points = np.ascontiguousarray(variable.points[:, stays])
    return replace(whole, variables=(replace(variable, points=points, encoding=encoding),))


# --- what changed -------------------------------------------------------------------------------------------


def _effects(
    label: str,
    j: int,
    pooled: PooledTable,
    kept: tuple[Table, Table],
    units: Units,
    keep: Rows,
    confidence: float,
    untested: str,
) -> ColumnEffects:
    """The effects of a column: of the rows that were tested, and of missing values, of all rows."""
    column = pooled.table.columns[j]
    found = (
        () if untested == CONSTANT else changes(kept[0].columns[j], kept[1].columns[j], units.taken(keep), confidence)
    )
    first, second = column.taken(slice(None, pooled.sizes[0])), column.taken(slice(pooled.sizes[0], None))
    missing = missing_change(first, second, units, confidence)
    return ColumnEffects(label, column.kind, found if missing is None else (*found, missing), untested)


def _where(result: ComparisonResult, labels: tuple[str, ...]) -> WitnessMap | None:
    """The witness function of the two columns of numbers with the clearest changes, if there are two."""
    strength = {
        one.name: max((change.strength for change in one.changes if change.what not in (SHARE, MISSING)), default=0.0)
        for one in result.ordered
        if one.kind not in ("boolean", "category", "ordered") and not one.constant and one.name not in result.successive
    }
    chosen = sorted(strength, key=lambda name: (result.pvalues_of(name)[1], -strength[name]))[:2]
    if len(chosen) < 2:
        return None
    columns = [[table.columns[labels.index(name)] for name in chosen] for table in result.tables]
    rows = [np.column_stack([column.numbers() for column in one]) for one in columns]
    rows = [one[~np.isnan(one).any(axis=1)] for one in rows]
    if min(map(len, rows)) < 10:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        spread = np.vstack(rows).std(axis=0)
    if not (np.isfinite(spread) & (spread > 0.0) & np.logical_not(constant_columns(np.vstack(rows)))).all():
        return None  # units of the picture are standard deviations, also where the test has others
    chance = np.random.default_rng(0)
    sampled = max(map(len, rows)) > _ROWS
    rows = [one[np.sort(chance.permutation(len(one))[:_ROWS])] for one in rows]
    hypothesis = TwoEqualDistributions.read(rows[0], rows[1], scale="sd")
    settings = Settings.read(
        form="auto", n_resamples=_RESAMPLES, alpha=1.0 - result.confidence, workers=1, progress=False
    )
    test = run(hypothesis, "kme", [Asked("gaussian", "median")], settings, 0)
    low, high = np.quantile(np.vstack(rows), (0.005, 0.995), axis=0)
    lines = tuple(np.linspace(a, b, _GRID) for a, b in zip(low, high, strict=True))
    places = np.stack([axis.ravel() for axis in np.meshgrid(*lines, indexing="ij")], axis=1)
    band = test.witness_band(places, confidence=result.confidence)
    heights = -band.values.reshape(_GRID, _GRID)
    outside = None if result.overall.restriction else band.outside.reshape(_GRID, _GRID)
    kinds = tuple(column.kind for column in columns[0])
    return WitnessMap(
        (chosen[0], chosen[1]), (kinds[0], kinds[1]), (lines[0], lines[1]), heights, outside, (rows[0], rows[1]),
        result.confidence, sampled,
    )  # fmt: skip
