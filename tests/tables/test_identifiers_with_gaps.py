"""Columns that identify rows do so also where some of their values are missing; what is known decides."""

import io

import numpy as np
import pandas as pd
import pytest

from shrinktest import compare, independence_test, k_sample_test, two_sample_test, two_sample_test_columns
from shrinktest.data.observed import pooled_tables

N = 40
FEW = {"n_resamples": 19, "rng": 0}
RNG = np.random.default_rng(0)
VALUES = RNG.normal(size=(2, N))
MIXED = RNG.permutation(N)  # an order of the rows
SHARES = [0.03, 0.1, 0.5, 0.6]


def tables(first, second, name="id"):
    return [pd.DataFrame({name: ids, "v": v}) for ids, v in zip((first, second), VALUES, strict=True)]


def gaps(table, share, seed=0, name="id"):
    """The table without some entries of a column."""
    holes = np.random.default_rng(seed).permutation(len(table))[: round(share * len(table))]
    return table.assign(**{name: table[name].mask(np.isin(np.arange(len(table)), holes))})


def read(*tables, **types):
    return pooled_tables(tables, [f"T{i}" for i in range(len(tables))], types)


COUNTED = tables(np.arange(1, N + 1), np.arange(N + 1, 2 * N + 1))
SHUFFLED = tables(7 * MIXED + 1000, 7 * MIXED + 1000)  # the same units, in the same order
TEXTS = tables([f"p{i}" for i in MIXED], [f"p{i}" for i in MIXED])
UNNAMED = tables(MIXED, MIXED[::-1], "Unnamed: 0")
KINDS = {
    "counts": (COUNTED, "it counts the rows", 0.5),
    "same": (SHUFFLED, "it has another number in every row, and the same ones in every sample", 0.1),
    "text": (TEXTS, "it has another text in every row", 0.5),
    "unnamed": (UNNAMED, "it has no name, as the row index that is written into a file", 1.0),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("share", SHARES)
def test_what_is_known_decides_where_it_is_enough(kind, share):
    """The reasons are those of complete tables, and how many may be missing is as documented."""
    pair, why, most = KINDS[kind]
    name = pair[0].columns[0]
    assert [note for note in read(*pair).notes if f"not tested: {why} (column" in note]
    for first, second in ((share, 0.0), (0.0, share), (share, share)):
        found = read(gaps(pair[0], first, name=name), gaps(pair[1], second, 1, name=name))
        assert tuple(found.left_out) == ((name,) if share <= most else ())
        assert any(f"not tested: {why} (column" in note for note in found.notes) == (share <= most)


@pytest.mark.parametrize("policy", ["raise", "omit", "indicator", "propagate"])
@pytest.mark.parametrize("kind", KINDS)
def test_results_are_those_without_the_column(kind, policy):
    """No row is left out, or an error, because of a column that is not tested."""
    pair = KINDS[kind][0]
    name = pair[0].columns[0]
    holed = [gaps(table, 0.1, seed, name) for seed, table in enumerate(pair)]
    plain = [table[["v"]] for table in pair]
    found = two_sample_test(*holed, nan_policy=policy, **FEW)
    alone = two_sample_test(*plain, nan_policy=policy, **FEW)
    assert (found.statistic, found.pvalue, found.n_observations) == (alone.statistic, alone.pvalue, (N, N))
    assert not any("Left out" in note or "missing" in note for note in found.notes)
    assert k_sample_test(*holed, nan_policy=policy, **FEW).columns == (("v",),)
    if policy != "propagate":
        columns = two_sample_test_columns(*holed, nan_policy=policy, **FEW)
        assert columns.labels == (("v",),) and list(columns.untested) == [(name,)]
    if kind != "same":  # which takes several samples
        x = independence_test(holed[0], VALUES[1], nan_policy=policy, **FEW)
        assert x.pvalue == independence_test(plain[0], VALUES[1], nan_policy=policy, **FEW).pvalue


def test_reports_leave_the_column_out():
    holed = gaps(COUNTED[0], 0.1), COUNTED[1]
    plain = [table[["v"]] for table in COUNTED]
    found = compare(*holed, nan_policy="omit", **FEW)
    assert found.pvalue == compare(*plain, **FEW).pvalue
    assert any("'id' is not tested" in note for note in found.notes)


def test_a_column_of_which_most_is_missing_is_tested():
    x, y = (table.assign(id=table["id"].where(table.index.isin([3, 4, 20]))) for table in COUNTED)
    assert tuple(read(x, y).left_out) == ()
    notes = [f"note {i}" if i < 4 else None for i in range(N)], ["none", *["x"] * 9, *[None] * (N - 10)]
    assert tuple(read(*tables(*notes)).left_out) == ()
    assert tuple(read(*tables(["a", "b", "c", *[None] * (N - 3)], ["a", "b", "d", *[None] * (N - 3)])).left_out) == ()


def test_values_are_judged_where_some_are_missing_only():
    """Whole numbers of a floating-point type are no identifiers in complete tables, as before."""
    floats = [table.astype({"id": float}) for table in COUNTED]
    assert tuple(read(*floats).left_out) == ()
    assert tuple(read(gaps(floats[0], 0.1), floats[1]).left_out) == ("id",)  # a table that was cut in two
    halves = [table.assign(id=table["id"] + 0.5) for table in floats]
    assert tuple(read(gaps(halves[0], 0.1), halves[1]).left_out) == ()
    assert tuple(read(gaps(COUNTED[0], 0.1), COUNTED[1], id="number").left_out) == ()
    for dtype in ("Int64", object):
        assert tuple(read(gaps(COUNTED[0].astype({"id": dtype}), 0.1), COUNTED[1]).left_out) == ("id",)


def test_files_of_comma_separated_values_have_the_same_reasons():
    pair = [pd.read_csv(io.StringIO(gaps(table, 0.1).to_csv())) for table in COUNTED]
    assert pair[0].columns[0] == "Unnamed: 0" and pair[0]["id"].dtype == float
    pair[0].loc[3, "Unnamed: 0"] = np.nan
    assert tuple(read(*pair).left_out) == ("Unnamed: 0", "id")


@pytest.mark.parametrize("kind", ["same", "text"])
def test_pairs_in_another_order_are_an_error(kind):
    pair = KINDS[kind][0]
    holed = [gaps(table, 0.1, seed) for seed, table in enumerate(pair)]
    wrong = holed[1][::-1].reset_index(drop=True)
    for policy in ("omit", "indicator"):
        for test in (two_sample_test, two_sample_test_columns, compare):
            with pytest.raises(
                ValueError, match=r"paired=True takes row i of . and row i of . for a pair, but column 'id'"
            ):
                test(holed[0], wrong, paired=True, nan_policy=policy, **FEW)
    found = two_sample_test(*holed, paired=True, nan_policy="omit", **FEW)
    assert found.pvalue == two_sample_test(*(one[["v"]] for one in pair), paired=True, **FEW).pvalue
    both = (holed[0]["id"].notna() & np.isin(holed[0]["id"], holed[1]["id"].dropna())).sum()
    notes = two_sample_test(*holed, nan_policy="omit", **FEW).notes
    assert sum(note.startswith(f"{both} values of column 'id' are in both X and Y.") for note in notes) == 1


def test_dates_that_name_units_pair_rows_too():
    days = pd.date_range("2024-01-01", periods=N)[MIXED]
    one, other = (gaps(table, 0.1, seed) for seed, table in enumerate(tables(days, days)))
    notes = two_sample_test(one, other, nan_policy="indicator", **FEW).notes
    assert any("values of column 'id' are in both X and Y." in note for note in notes)
    with pytest.raises(ValueError, match="column 'id' is 2024"):
        two_sample_test(one, other[::-1].reset_index(drop=True), paired=True, nan_policy="indicator", **FEW)


def test_order_numbers_that_tell_samples_apart_are_noted():
    said = "it has another number in every row, and those of one sample come after those of the other"
    pair = tables(MIXED, MIXED[::-1] + 500)
    for share, noted in ((0.1, True), (0.5, True), (0.6, False)):
        found = read(*(gaps(table, share, seed) for seed, table in enumerate(pair)))
        assert any(said in note for note in found.notes) == noted
