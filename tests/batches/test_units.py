"""Numbers that identify rows in batches: left out as in memory, by the least of their hashes."""

from functools import reduce

import numpy as np
import pandas as pd
import pytest
from test_columns import files, hypothesis, same_as_in_memory

from shrinktest import two_sample_test
from shrinktest.batches.sights import MOST_LEVELS, Sight, shared
from shrinktest.data.column import Column
from shrinktest.data.observed import pooled_tables

pytest.importorskip("pyarrow")


@pytest.mark.parametrize("rows", [60, 4000], ids=["few", "many"])
def test_numbers_that_identify_units_are_as_in_memory(tmp_path, rows):
    """The same patients in two visits, in another order: of many rows the least hashes tell."""
    rng = np.random.default_rng(3)
    ids = rng.choice(10**7, rows, replace=False)
    frames = [pd.DataFrame({"id": rng.permutation(ids), "count": rng.poisson(90.0, rows)}) for _ in range(2)]
    paths = [files(tmp_path, name, frame, [rows // 3, rows // 2]) for name, frame in zip("xy", frames, strict=True)]
    found = same_as_in_memory(paths, frames)
    assert found.encoding.names == ("count",)
    assert (
        sum(
            f"{'All' if rows < 1000 else 'Nearly all'} values of column 'id' are in both" in one
            for one in found.remarks
        )
        == 1
    )
    asked = same_as_in_memory(paths, frames, column_types={"id": "number"})
    assert asked.encoding.names == ("id", "count") and not any("'id'" in one for one in asked.remarks)
    frames[1]["id"] = rng.choice(10**7, rows, replace=False)  # other patients
    paths[1] = files(tmp_path, "others", frames[1], [rows // 3])
    assert same_as_in_memory(paths, frames).encoding.names == ("id", "count")
    frames[1]["id"] = np.append(frames[0]["id"][:-1], frames[0]["id"][0])  # one of them came twice
    paths[1] = files(tmp_path, "twice", frames[1], [rows // 3])
    kept = "id" in pooled_tables(frames, ("X", "Y"), {}).table.names
    assert kept and ("id" in hypothesis(paths).encoding.names or rows > MOST_LEVELS)


def test_what_identifies_units_does_not_depend_on_batches():
    """Equal values among the others are not looked for, whichever batch they are in."""
    rng = np.random.default_rng(4)
    values = rng.permutation(np.append(np.arange(5000.0), rng.integers(5000, size=7)))
    column = Column("id", "number", values, whole=True)
    there = np.ones(values.size, dtype=bool)
    whole = Sight.of(column, there, "")
    for cuts in ([10], [1, 2500, 2501], list(range(50, 5000, 50))):
        pieces = np.split(np.arange(values.size), cuts)
        seen = [Sight.of(column.taken(piece), there[piece], "") for piece in pieces]
        joined = reduce(Sight.joined, seen)
        assert np.array_equal(joined.hashes, whole.hashes) and joined.hashes.size == MOST_LEVELS + 1
        assert np.array_equal(Sight.of_dict(joined.to_dict()).hashes, whole.hashes)


def test_samples_of_very_different_sizes(tmp_path):
    """Of a small sample hardly any hash is among the least of a large one: that says nothing."""
    rng = np.random.default_rng(6)
    frames = [pd.DataFrame({"id": rng.permutation(10**6)[:n], "x": rng.normal(size=n)}) for n in (200_000, 20)]
    paths = [tmp_path / f"{name}.parquet" for name in "xy"]
    for path, frame in zip(paths, frames, strict=True):
        frame.to_parquet(path, index=False)
    found = hypothesis(paths)
    assert found.encoding.names == ("id", "x") and not any("'id'" in one for one in found.remarks)


def test_an_index_without_a_name_is_left_out_whatever_it_holds(tmp_path):
    frames = [pd.DataFrame({"Unnamed: 0": np.arange(60) % 7, "x": np.arange(60) * 0.5}) for _ in range(2)]
    paths = [files(tmp_path, name, frame, [30]) for name, frame in zip("xy", frames, strict=True)]
    assert same_as_in_memory(paths, frames).encoding.names == ("x",)


def test_the_share_of_values_in_all_samples_is_that_of_the_least_hashes():
    def seen(values):
        return Sight.of(Column("id", "number", values, whole=True), np.ones(values.size, dtype=bool), "").alone()

    first = np.random.default_rng(5).permutation(40000)[:20000].astype(float)
    second = np.append(first[:12000], 40000.0 + np.arange(3000))
    assert abs(shared([seen(first), seen(second)]) - 12000 / 15000) < 0.06  # some 4 standard errors of 750 hashes
    assert shared([seen(first[:90]), seen(second[:80])]) == 1.0
    assert seen(np.append(first[:90], first[3])) is None


def test_notes_on_tables_of_numbers_are_those_in_memory(tmp_path):
    """A column with one number in each sample, one that is constant, and units, without another reading."""
    rng = np.random.default_rng(5)
    frames = [pd.DataFrame({"x": rng.normal(size=90), "site": k + 0.5, "same": 2.0}) for k in range(2)]
    paths = [files(tmp_path, name, frame, [40]) for name, frame in zip("xy", frames, strict=True)]
    found = hypothesis(paths)
    assert found.encoding is None and found.remarks == two_sample_test(*frames, n_resamples=19).notes
    assert "'site' alone tells X and Y apart, because it is 0.5 in X and 1.5 in Y" in found.remarks[0]
    assert "X and Y: column same has one value only, and no weight." in found.remarks
    paths = [files(tmp_path, f"only_{name}", frame[["site"]], [40]) for name, frame in zip("xy", frames, strict=True)]
    assert not any("alone" in one for one in hypothesis(paths).remarks)
