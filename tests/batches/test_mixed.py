"""Tables on disk with categories, dates, text and gaps: the same numbers as in memory, from any source."""

import numpy as np
import pandas as pd
import pytest

from _ci import some_wait
from answers import close, same
from shrinktest import Batches, independence_test, two_sample_test, two_sample_test_columns
from shrinktest.data.on_disk.on_disk import OnDisk, Part, summarized
from shrinktest.data.on_disk.rows import Rows, rows_of_samples
from shrinktest.data.read import read_samples
from shrinktest.data.scale import ScaleOption

pytest.importorskip("pyarrow")
FAST = {"gram": "rff", "rank": 10, "rng": 0, "n_resamples": 49}


def table(n, seed, gaps=0.0):
    rng = np.random.default_rng(seed)
    days = np.datetime64("2020-01-01", "us") + rng.integers(0, 10**14, size=n).astype(
        "timedelta64[us]"
    )
    frame = pd.DataFrame(
        {
            "number": rng.normal(seed, 3.0, size=n),
            "whole": rng.integers(0, 9, size=n),
            "truth": rng.random(n) < 0.4,
            "city": rng.choice(["Ulm", "Bern", "Zug"][: 2 + seed % 2], size=n),
            "when": days,
            "key": [f"k{seed}-{i}" for i in range(n)],
            "count": np.arange(n),
        }
    )
    for name in ("number", "city", "when") if gaps else ():
        frame.loc[rng.random(n) < gaps, name] = None
    return frame


def cut(frame, *ends):
    return [frame.iloc[rows] for rows in np.split(np.arange(len(frame)), ends)]


def stored(kind, frame, path):
    if kind == "frames":
        return Batches(cut(frame, 3, 40))
    if kind == "polars":
        return Batches(pytest.importorskip("polars").from_pandas(frame).lazy(), size=33)
    if kind == "dask":
        return Batches(pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=3))
    for i, part in enumerate(cut(frame, 30, 31)):
        getattr(part, f"to_{kind}")(f"{path}{i}.{kind}", index=False)
    return Batches(f"{path}*.{kind}", size=17 if len(frame) < 100 else 400)


def on_disk(pair, policy="raise", **types):
    samples, names = rows_of_samples(pair, ("X", "Y"), policy, types)
    how = {"nan_policy": policy, "drawn": 0, "rng": np.random.default_rng(0)}
    return OnDisk.read(samples, [Part("X and Y", names)], [ScaleOption("auto")], **how)


@pytest.mark.parametrize("policy", ["raise", "omit", "indicator"])
@pytest.mark.parametrize(
    "kind", some_wait(["frames", "parquet", "csv", "polars", "dask"], ["csv", "polars", "dask"])
)
def test_numbers_are_those_in_memory(kind, policy, tmp_path):
    frames = [table(n, seed, 0.0 if policy == "raise" else 0.1) for n, seed in ((90, 0), (70, 1))]
    pair = [stored(kind, frame, tmp_path / name) for frame, name in zip(frames, "xy", strict=True)]
    disk = on_disk(pair, policy)
    (encoding,), (units,) = disk.encodings, disk.units
    memory = read_samples(frames, ("X", "Y"), policy, scale="auto")
    assert encoding.features == memory.encodings[0].features
    for code, other in zip(encoding.codes, memory.encodings[0].codes, strict=True):
        assert (code.kind, code.levels, code.indicated) == (
            other.kind,
            other.levels,
            other.indicated,
        )
        assert code.fill == (
            other.fill if other.fill is None else pytest.approx(other.fill, rel=1e-9)
        )
    assert dict(disk.left_out) == dict(memory.left_out[0]) and set(disk.left_out) == {
        "key",
        "count",
    }
    for rows, values in zip(disk.samples, memory.values, strict=True):
        chunks = (chunk.computed() for chunk in rows.chunks())
        raw = np.vstack([part for chunk in chunks for part, _ in rows.reader.numbers(chunk)])
        assert np.allclose(memory.encodings[0].units.moved(raw), values, rtol=1e-6, atol=1e-9)
    assert np.allclose(
        np.array(units, dtype=float),
        np.array(memory.encodings[0].units.scale, dtype=float),
        rtol=1e-6,
    )


@pytest.mark.ci
def test_workers_and_chunks_change_nothing(tmp_path):
    frames = [table(n, seed, 0.1) for n, seed in ((900, 0), (700, 1))]
    pairs = [[stored(kind, frame, tmp_path / name) for frame, name in zip(frames, "xy", strict=True)]
             for kind in ("frames", "parquet")]  # fmt: skip
    results = [
        two_sample_test(*pair, nan_policy="indicator", workers=workers, **FAST)
        for pair in pairs
        for workers in (1, 3)
    ]
    assert (
        same(results[0], results[1])
        and same(results[2], results[3])
        and close(results[2], results[0])
    )
    assert results[0].notes == results[2].notes
    columns = [
        two_sample_test_columns(*pair, nan_policy="omit", **{**FAST, "gram": "nystrom"}).table
        for pair in pairs
    ]
    pd.testing.assert_frame_equal(columns[0], columns[1], rtol=1e-9)
    assert columns[0].set_index("column").reason["key"] == "its text is different in every row"


def test_pairs_of_tables():
    frame = table(900, 1, 0.1)
    both = [
        Batches(cut(frame, 5, 444), columns=names)
        for names in (["city", "number"], ["when", "truth"])
    ]
    apart = [Batches(cut(frame[names], *ends)) for names, ends in zip((["city", "number"], ["when", "truth"]),
             ((100,), (7, 500)), strict=True)]  # fmt: skip
    for policy in ("omit", "indicator"):
        from_one, from_two = (
            independence_test(*pair, nan_policy=policy, **{**FAST, "gram": "nystrom"})
            for pair in (both, apart)
        )
        assert close(from_two, from_one) and [len(each.codes) for each in from_one.encodings] == [
            2,
            2,
        ]


def test_tables_beside_arrays():
    frame, array = (
        table(900, 1)[["key", "number", "city"]],
        np.random.default_rng(5).normal(size=(900, 2)),
    )
    options = {**FAST, "gram": "nystrom"}
    for pair in ((Batches([frame]), Batches(array)), (Batches(array), Batches([frame]))):
        result = independence_test(*pair, **options)
        less = [
            Batches([frame.drop(columns="key")]) if each.data is not array else each
            for each in pair
        ]
        assert close(result, independence_test(*less, **options))


@pytest.mark.ci
def test_summaries_do_not_depend_on_cuts():
    frame = table(60, 0, 0.2)

    def seen(*ends):
        (columns,) = summarized([Rows.of(Batches(cut(frame, *ends)), "X", tuple(frame), True, {})])
        return [
            [{**vars(each), "counts": sorted(each.counts.items())} for each in both]
            for both in columns
        ]

    assert str(seen()) == str(seen(1, 2, 30)) == str(seen(*range(1, 60)))


def test_bad_tables(tmp_path):
    frame = table(90, 0)
    other = frame.assign(city=np.arange(90.0))
    for data, options, words in (
        (
            [other],
            {},
            "column 'city' holds categories in X and numbers in Y|holds numbers in .* categories",
        ),
        ([frame.head(40), other.tail(50)], {}, "column 'city' holds"),
        ([frame.assign(city=[f"{i % 45}x" for i in range(90)] * 1)], {}, None),
        ([frame], {"column_types": {"lacking": "drop"}}, "a column in column_types"),
        ([frame.drop(columns="key")], {}, "has the columns"),
        (
            [frame.assign(city=frame.city.where(frame.index != 7))],
            {},
            "missing value in row 7, column 'city'",
        ),
    ):
        if words is not None:
            with pytest.raises(ValueError, match=words):
                two_sample_test(Batches([frame]), Batches(data), **{**FAST, **options})
    dropped = on_disk([Batches([frame]), Batches([frame])], when="drop", city="category")
    assert dropped.encodings[0].names == ("number", "whole", "truth", "city")
