"""Columns that identify rows and miss values are found in batches as in memory, however the rows are cut."""

import numpy as np
import pandas as pd
import pytest

from shrinktest import Batches, two_sample_test
from shrinktest.batches.crew import Crew
from shrinktest.batches.rows import Rows
from shrinktest.batches.sights import Sight, looked
from shrinktest.data.observed import pooled_tables
from shrinktest.hypotheses.binned import TwoBinned

pytest.importorskip("pyarrow")

N = 60


def frames(seed, share):
    """The same units twice, of which some miss their numbers, dates and names."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(N)
    out = []
    for i in range(2):
        frame = pd.DataFrame(
            {
                "counts": np.arange(N) + 100 * i,
                "order": rng.permutation(N) + 1000 * i,
                "unit": 7 * order + 5000,
                "name": [f"p{j}" for j in order],
                "day": pd.date_range("2024-01-01", periods=N)[order],
                "Unnamed: 0": rng.integers(0, 30, N),
                "v": rng.normal(size=N),
                "rounded": np.round(rng.normal(size=N)),
            }
        )
        for name in frame.columns[:-2]:
            frame[name] = frame[name].mask(rng.random(N) < share)
        out.append(frame)
    return out


def files(folder, name, frame, ends):
    for i, part in enumerate(np.split(np.arange(N), ends)):
        frame.iloc[part].to_parquet(folder / f"{name}{i}.parquet", index=False, row_group_size=11)
    return str(folder / f"{name}*.parquet")


def in_batches(pair, **options):
    options = {"scale": "auto", "nan_policy": "indicator", "drawn": 0, "rng": np.random.default_rng(0), **options}
    return TwoBinned.in_batches(pair, ("X", "Y"), **options)


@pytest.mark.parametrize("share", [0.0, 0.05, 0.3, 0.7])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_reasons_are_those_in_memory(seed, share, tmp_path):
    pair = frames(seed, share)
    whole = pooled_tables(pair, ("X", "Y"), {"name": "category"} if share == 0.7 else {})
    types = {"name": "category"} if share == 0.7 else {}
    rng = np.random.default_rng([3, seed])
    cut = [np.split(np.arange(N), np.sort(rng.choice(N, 3, replace=False))) for _ in "xy"]
    lists = [Batches([one.iloc[rows] for rows in parts if rows.size]) for one, parts in zip(pair, cut, strict=True)]
    paths = [files(tmp_path, name, one, [20, 21]) for name, one in zip("xy", pair, strict=True)]
    for samples in (paths, lists):
        found = in_batches(samples, column_types=types)
        assert found.encoding.names == whole.table.names
        assert set(whole.notes) <= set(found.remarks)
        shared = [note.split(".")[0] for note in found.remarks if "belong together" in note]
        asked = [note.split(".")[0] for note in whole.units(paired=False)]
        assert [one.split("'")[1] for one in shared] == [one.split("'")[1] for one in sorted(asked, key=names_of(pair))]


def names_of(pair):
    """The place of the column of a note among all columns."""
    return lambda note: list(pair[0].columns).index(note.split("'")[1])


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_files_of_numbers_only_have_their_gaps_heeded(kind, tmp_path):
    """Whole numbers that miss some are of another type in files, also where none is missing in the first rows."""
    rng = np.random.default_rng(0)
    n, paths = 1500, []
    for i in range(2):
        frame = pd.DataFrame({"id": np.arange(n) + 1.0 + n * i, "v": rng.normal(size=n)})
        frame.loc[[1200, 1300], "id"] = np.nan
        paths.append(str(tmp_path / f"{i}.{kind}"))
        (frame.to_csv if kind == "csv" else frame.to_parquet)(paths[-1], index=False)
    for policy in ("omit", "raise", "indicator"):
        found = in_batches(paths, nan_policy=policy)
        assert found.encoding.names == ("v",) and found.survey.sizes == (n, n)
    plain = [Batches(path, columns=["v"]) for path in paths]
    options = {"gram": "rff", "rank": 10, "n_resamples": 19, "rng": 0}
    found = two_sample_test(*paths, nan_policy="omit", **options)
    assert (found.statistic, found.pvalue) == (lambda r: (r.statistic, r.pvalue))(two_sample_test(*plain, **options))


def test_complete_numbers_of_a_floating_type_are_tested_as_before(tmp_path):
    rng = np.random.default_rng(0)
    pair = [pd.DataFrame({"id": np.arange(90.0) + 90 * i, "v": rng.normal(size=90)}) for i in range(2)]
    paths = [str(tmp_path / f"{i}.parquet") for i in range(2)]
    for path, frame in zip(paths, pair, strict=True):
        frame.to_parquet(path, index=False)
    options = {"gram": "rff", "rank": 10, "n_resamples": 19, "rng": 0}
    found = two_sample_test(*paths, **options)
    arrays = two_sample_test(*(Batches([frame.to_numpy()]) for frame in pair), scale="sd", **options)
    assert found.columns == (("id", "v"),) and not any("not tested" in note for note in found.notes)
    assert (found.statistic, found.pvalue) == (arrays.statistic, arrays.pvalue)


def test_what_was_seen_of_columns_does_not_depend_on_cuts():
    first = frames(0, 0.3)[0]

    def seen(ends):
        parts = [first.iloc[rows] for rows in np.split(np.arange(N), ends) if rows.size]
        names = tuple(first.columns)
        each = looked([Rows(Batches(parts), "X", names, True, {})], Crew(1))[0]
        assert [Sight.of_dict(one.to_dict()).to_dict() for one in each] == [one.to_dict() for one in each]
        return [(one.rows, one.size, one.whole, one.ends, one.hashes.tolist(), one.counts) for one in each]

    assert seen([]) == seen([1, 2, 30]) == seen(list(range(1, N)))
    assert [one[-1] for one in seen([])] == [name == "counts" for name in first.columns]
