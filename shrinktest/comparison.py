"""What changed between two tables?  ``compare``."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np

from shrinktest._check import as_points, as_rng, choice, flag, level, listed
from shrinktest._docs import documented
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
from shrinktest.notes import Note, has_code
from shrinktest.permutations.serial_correlation import BY_GROUPS, BY_STRETCHES_OR_GROUPS
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
@documented
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
    """Compare two tables: an overall p-value, and an adjusted p-value and effect sizes for every column, in one report.

    Parameters
    ----------
    A, B : data frame (pandas, polars, pyarrow), path or array_like, shape (m, d) and (n, d)
        The tables, one row per observation, or paths of CSV, Parquet or .npy files.  Columns are matched by name; the
        answer starts with those that only one table has.
    names : tuple of str, default ("A", "B")
        Names of the tables in the report, such as ``("March", "April")``.
    estimator : str, MeanEstimator or callable, list of these, Collection or "auto", default "auto"
        As in :func:`two_sample_test`.  "auto" combines statistics for location, spread, shape and dependence; "kme" is
        faster.
    confidence : float, default 0.95
        Confidence level of the interval of each effect, not adjusted for their number.
    groups
        A group must lie in one table.
    nan_policy : {"indicator", "omit", "raise"}, default "indicator"
        Missing values count as information; drop rows with a missing value in any column; or raise an error.

    Returns
    -------
    ComparisonResult
        ``print(result.summary())``, ``result.table``, ``result.to_html("report.html")``, ``result.pvalue``.

    See Also
    --------
    two_sample_test : The overall test with all its options; where the tables differ (witness function).
    two_sample_test_columns : The tests of the columns alone.
    equivalence_test : Practical equivalence of two tables, which a large p-value does not show.
    k_sample_test : Three or more tables.
    change_points : When the rows of one table changed.

    Notes
    -----
    The overall p-value is that of :func:`two_sample_test`, and those of columns are those of
    :func:`two_sample_test_columns`, from the same permutations.  The overall test and the adjusted tests each have
    level ``alpha``, and may disagree.  Dates and counters that hardly overlap are left out of the overall test, with a
    note.

    Effects of numbers and dates are medians, the AUC of the column and the ratio of interquartile ranges; of
    categories, the change of every share.  Their intervals account for pairs and groups, but not for blocks.  See
    :doc:`/compare`.

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
    of_columns = [note for note in tests.notes if not has_code(note, "serial-correlation")]  # the overall test says so
    of_all = [
        Note(note.replace(BY_STRETCHES_OR_GROUPS, BY_GROUPS), getattr(note, "code", "")) for note in overall.notes
    ]
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
