"""Rows on disk: the same answer for all workers and chunks, and after a run that was killed."""

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import naive_on_disk
from answers import close, same
from shrinktest import (
    Batches,
    independence_test,
    k_sample_test,
    two_sample_test,
    two_sample_test_columns,
)
from shrinktest.data.on_disk import chunks
from shrinktest.data.on_disk.bins import Bijection, Bins, halves
from shrinktest.data.on_disk.chunks import reduce
from shrinktest.data.on_disk.on_disk import OnDisk, Part
from shrinktest.data.on_disk.rows import Rows
from shrinktest.data.on_disk.storage import Chunk
from shrinktest.data.on_disk.survey import survey
from shrinktest.data.scale import ScaleOption
from shrinktest.kernels import FeatureMap, Gaussian, Laplacian, Linear, Rescaled, Whitened
from shrinktest.kernels.feature_maps import Derived, OfColumns, nystrom, random_fourier
from shrinktest.kernels.pooled import RescaledFeatures

pytest.importorskip("pyarrow")
RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(9001, 3)), RNG.normal(0.04, 1.0, size=(7000, 3))
FAST = {"gram": "rff", "rank": 10, "rng": 0, "n_resamples": 99, "scale": "sd"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("files")
    for name, values in (("x", X), ("y", Y)):
        for i, part in enumerate(np.array_split(values, 4)):
            frame = pd.DataFrame(part, columns=["a", "b", "c"])
            np.save(path / f"{name}{i}.npy", part)
            frame.to_csv(path / f"{name}{i}.csv", index=False)
            frame.to_parquet(path / f"{name}{i}.parquet", row_group_size=700)
    return path


def files(folder, kind, size=900):
    return [Batches(str(folder / f"{name}*.{kind}"), bins=100, size=size) for name in "xy"]


def rows(values, name="X", **options):
    return Rows.of(Batches(values, **options), name, None, False)


@pytest.fixture(scope="module")
def processes():
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool


class Mapping:
    """An executor that has nothing but `map`, and breaks after so many tasks."""

    def __init__(self, tasks=np.inf):
        self.left, self.done = tasks, 0

    def map(self, function, tasks):
        for task in tasks:
            if self.done == self.left:
                raise InterruptedError
            self.done += 1
            yield function(task)


# --- ordered reduction --------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [1, 2, 4, ThreadPoolExecutor(2), Mapping()])
def test_results_are_folded_in_order_and_few_are_under_way(workers):
    made = []

    def jobs():
        for i in range(30):
            made.append(i)
            yield (Chunk("", i),)

    def work(chunk):
        time.sleep(0.002 * (chunk.source % 3 == 0))
        return chunk.source

    def fold(total, i):
        assert len(made) <= len(total) + 8
        return [*total, i]

    assert reduce(work, jobs(), fold, [], workers, most=8) == list(range(30))


@pytest.mark.ci
@pytest.mark.parametrize("kind", ["npy", "csv", "parquet"])
def test_workers_do_not_change_the_last_bit(folder, kind, processes):
    expected = two_sample_test(*files(folder, kind), workers=1, **FAST)
    with ThreadPoolExecutor(3) as pool:
        for workers in (2, 4, pool, processes, Mapping()):
            assert same(two_sample_test(*files(folder, kind), workers=workers, **FAST), expected)


@pytest.mark.ci
def test_workers_do_not_change_other_tests(folder, processes):
    pair = [Batches(str(folder / "x*.npy"), columns=columns, size=999) for columns in ([0, 1], [2])]
    for run in (
        lambda workers: two_sample_test(
            *files(folder, "npy"), workers=workers, estimator="auto", **{**FAST, "gram": "nystrom"}
        ),
        lambda workers: k_sample_test(*files(folder, "npy"), X[:5000], workers=workers, **FAST),
        lambda workers: independence_test(*pair, workers=workers, **{**FAST, "scale": None}),
    ):
        expected = run(1)
        assert same(run(4), expected) and same(run(processes), expected)
    tables = [
        two_sample_test_columns(*files(folder, "npy"), workers=n, **FAST).table
        for n in (1, 4, processes)
    ]
    assert tables[0].equals(tables[1]) and tables[0].equals(tables[2])


def test_errors_of_any_worker_are_raised():
    holes = X.copy()
    holes[8007, 2] = np.nan
    for workers in (1, 3):
        with pytest.raises(
            ValueError, match=r"X has a missing value \(NaN\) in row 8007, column 2"
        ):
            two_sample_test(Batches(holes, size=500), Y, workers=workers, **FAST)


# --- other chunks of the same rows --------------------------------------------------------------------------


@pytest.mark.ci
@pytest.mark.parametrize(
    "options", [{}, {"gram": "nystrom", "estimator": "fkmse"}, {"estimator": "skmse"}]
)
def test_chunks_change_rounding_only(folder, options):
    options = {**FAST, **options}
    expected = two_sample_test(Batches(X, bins=100), Y, **options)
    for pair in (
        *(
            files(folder, kind, size=size)
            for kind in ("npy", "csv", "parquet")
            for size in (333, 10_000)
        ),
        (Batches([X[:1], X[1:1], X[1:4000], X[4000:]], bins=100), Y),
        (Batches(X, bins=100, size=17), Batches([Y], bins=100)),
    ):
        assert close(two_sample_test(*pair, **options), expected)
    single = two_sample_test(Batches(X.astype(np.float32), bins=100), Y, **options)
    assert close(
        single, two_sample_test(Batches(X.astype(np.float32).astype(float), bins=100), Y, **options)
    )


# --- what is computed ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 3, 30, 97, 1000])
def test_bijection_against_its_twin(n):
    shuffled = Bijection.drawn(n, np.random.default_rng(n))
    expected = [naive_on_disk.place(i, n, shuffled.keys) for i in range(n)]
    assert shuffled(np.arange(n)).tolist() == expected and sorted(expected) == list(range(n))


@pytest.mark.ci
def test_bijections_are_as_likely_to_take_a_number_anywhere():
    rng, counts = np.random.default_rng(1), np.zeros((40, 40))
    for _ in range(2000):
        counts[np.arange(40), Bijection.drawn(40, rng)(np.arange(40))] += 1
    assert stats.chisquare(counts.ravel(), ddof=78).pvalue > 1e-3


def features():
    scaled, waves = Rescaled(Gaussian(1.0), "rank", X[:100]), random_fourier(Gaussian(1.0), 3, 4, 0)
    return {
        "rff": waves,
        "linear": Linear(),
        "landmarks": nystrom(Gaussian(2.0), X, 12, 0),
        "laplacian": nystrom(Laplacian(2.0), X, 12, 0),
        "columns": OfColumns(nystrom(Gaussian(np.array([1.0, 3.0])), X[:, 1:], 7, 0), slice(1, 3)),
        "whitened": Whitened(Gaussian(1.0)).transform_features(waves, waves.coordinates(X))[0],
        "derived": Derived(waves, Linear()),
        "rescaled": RescaledFeatures(nystrom(Gaussian(1.0), scaled.moved(X), 6, 0), scaled),
    }


def test_bin_means_are_those_of_a_loop_over_rows():
    samples, maps = [rows(X[:1007], size=100), rows(Y[:640], "Y")], features()
    options = {"nan_policy": "raise", "drawn": 50, "rng": np.random.default_rng(0)}
    source = OnDisk.read(samples, [Part("X and Y", None)], [ScaleOption()], **options)
    bins = Bins.drawn(source.survey.sizes, 40, np.random.default_rng(1))
    means = dict(zip(maps, bins.means(source, list(maps.values())), strict=True))
    for name, each in maps.items():
        expected = []
        for sample, values in enumerate((X[:1007], Y[:640])):
            z, places = each.coordinates(values), bins.of(sample, 0, len(values))
            expected += [z[places == j].mean(axis=0) for j in range(bins.counts[sample])]
            assert (
                np.bincount(places)[: bins.counts[sample]].tolist()
                == [bins.size] * bins.counts[sample]
            )
        assert np.allclose(means[name], expected, rtol=1e-9, atol=1e-12), name
        raw, after = halves(each)
        assert np.allclose(after(raw.coordinates(X[:50])), each.coordinates(X[:50]), atol=1e-12)


def test_numbers_of_bins():
    def size_and_bins(sizes, bins):
        drawn = Bins.drawn(sizes, bins, np.random.default_rng(0))
        return drawn.size, drawn.counts, drawn.used

    assert size_and_bins((1_000_003, 500_000), 2000) == (751, (1331, 665), (999_581, 499_415))
    assert size_and_bins((100, 50), 2000) == (1, (100, 50), (100, 50))  # rows themselves
    assert size_and_bins((1_000_000, 1000), 2000) == (
        50,
        (20_000, 20),
        (1_000_000, 1000),
    )  # 20 of the smaller


@pytest.mark.parametrize("size", [10**5, 77, 1])
def test_survey_against_numpy(size):
    values = np.column_stack(
        [X[:500] * [1.0, 1e-200, 1e6], np.full(500, 0.1), 1e8 + np.arange(500) % 2]
    )
    values[::7, 0] = np.nan
    samples = [rows(values[:300], size=size), rows(values[300:], "Y", size=size)]
    samples = [Rows.of(each.batches, each.name, None, True) for each in samples]
    summary = survey(samples, 50, np.random.default_rng(0))
    complete = values[~np.isnan(values[:, 0])]
    seen = summary.pooled[0]
    assert sum(summary.sizes) == len(complete) and sum(summary.omitted) == 72
    assert seen.constant.tolist() == [False, False, False, True, False]
    expected = np.where(seen.constant, 1.0, complete.std(axis=0))
    assert np.allclose(seen.deviations[[0, 2, 3, 4]], expected[[0, 2, 3, 4]], rtol=1e-8)
    assert np.array_equal(seen.low, complete.min(axis=0)) and np.array_equal(
        seen.high, complete.max(axis=0)
    )
    again = survey(
        [Rows.of(Batches(values[:300]), "X", None, True), samples[1]], 50, np.random.default_rng(0)
    )
    assert (
        np.array_equal(seen.rows, again.pooled[0].rows) and len(np.unique(seen.rows, axis=0)) == 50
    )


@pytest.mark.ci
def test_every_row_is_as_likely_to_be_drawn():
    values, rng = np.arange(30.0)[:, None], np.random.default_rng(5)
    counts, first = np.zeros(30), np.zeros(30)
    for _ in range(1500):
        drawn = (
            survey([rows(values[:12]), rows(values[12:], "Y")], 6, rng)
            .pooled[0]
            .rows[:, 0]
            .astype(int)
        )
        counts[drawn] += 1
        first[drawn[0]] += 1
    assert stats.chisquare(counts).pvalue > 1e-3 and stats.chisquare(first).pvalue > 1e-3


@pytest.mark.ci
def test_level_of_sorted_files():
    """Bins are random within a file, however its rows are sorted: 300 tests reject as often as they should."""
    rng, pvalues = np.random.default_rng(3), []
    for seed in range(300):
        samples = [np.sort(rng.gamma(2.0, size=(n, 1)), axis=0) for n in (400, 300)]
        options = {"gram": "rff", "rank": 6, "n_resamples": 19, "rng": seed, "workers": 1}
        pvalues.append(
            two_sample_test(*(Batches(each, bins=60) for each in samples), **options).pvalue
        )
    low, high = stats.binom.ppf([0.0005, 0.9995], 300, 0.1)
    assert low <= (np.array(pvalues) <= 0.1).sum() <= high


# --- stores -------------------------------------------------------------------------------------------------


@pytest.mark.ci
@pytest.mark.parametrize("kind", ["npy", "csv", "parquet"])
@pytest.mark.parametrize("tasks", [3, 12, 25])
def test_a_run_that_broke_goes_on_with_the_same_bits(folder, tmp_path, monkeypatch, kind, tasks):
    monkeypatch.setattr(chunks, "_EVERY", 0.0)
    options, expected = (
        {**FAST, "store": tmp_path / "sums"},
        two_sample_test(*files(folder, kind), **FAST),
    )
    with pytest.raises(InterruptedError):
        two_sample_test(*files(folder, kind, 300), workers=Mapping(2), **options)
    (tmp_path / "sums").unlink(missing_ok=True)
    try:
        two_sample_test(*files(folder, kind), workers=Mapping(tasks), **options)
    except InterruptedError:
        assert [path.name for path in tmp_path.iterdir()] == ["sums"]
    counting = Mapping()
    assert same(two_sample_test(*files(folder, kind), workers=counting, **options), expected)
    before = counting.done
    assert same(two_sample_test(*files(folder, kind), workers=2, **options), expected)
    assert same(two_sample_test(*files(folder, kind), workers=counting, **options), expected)
    assert counting.done == before


@pytest.mark.ci
def test_pairs_and_columns_go_on(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(chunks, "_EVERY", 0.0)
    pair = [Batches(str(folder / "x*.npy"), columns=columns, size=333) for columns in ([0, 1], [2])]
    for name, run in (
        ("pairs", lambda **options: independence_test(*pair, **{**FAST, "scale": None}, **options)),
        (
            "columns",
            lambda **options: two_sample_test_columns(*files(folder, "parquet"), **FAST, **options),
        ),
    ):
        expected, store = run(), tmp_path / name
        with pytest.raises(InterruptedError):
            run(workers=Mapping(34), store=store)
        resumed = run(workers=1, store=store)
        if name == "pairs":
            assert same(resumed, expected)
        else:
            assert resumed.table.equals(expected.table)


def test_a_store_is_of_one_test(folder, tmp_path):
    given = {**FAST, "store": tmp_path / "sums"}
    two_sample_test(*files(folder, "npy"), **given)
    for pair, options, what in (
        (files(folder, "npy"), {"rng": 1}, r"begun with other random numbers"),
        (files(folder, "npy"), {"rank": 12}, "begun with other features"),
        (files(folder, "npy"), {"bandwidth": 2.0}, "begun with other features"),
        ((Batches(X[::-1], bins=100), Y), {}, "begun with other data"),
        (files(folder, "npy", 500), {}, "begun with other data"),
        (files(folder, "npy"), {"rng": None}, "store= requires a seed"),
    ):
        with pytest.raises(ValueError, match=what):
            two_sample_test(*pair, **{**given, **options})
    (tmp_path / "sums").write_bytes(b"something else")
    with pytest.raises(ValueError, match="does not keep the sums"):
        two_sample_test(*files(folder, "npy"), **given)
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        two_sample_test(*files(folder, "npy"), **{**given, "store": tmp_path / "nowhere" / "a"})
    for options in ({"store": "a"}, {"workers": Mapping()}):
        with pytest.raises((ValueError, TypeError), match=r"in batches|batches only"):
            two_sample_test(X[:9], Y[:9], **options)


SCRIPT = """
    import sys, time
    import numpy as np
    from shrinktest import Batches, two_sample_test
    from shrinktest.data.on_disk import chunks

    class Slow:
        def __init__(self, seed):
            self.seed = seed

        def __iter__(self):
            rng = np.random.default_rng(self.seed)
            for _ in range(60):
                time.sleep(float(sys.argv[2]))
                yield rng.normal(size=(1000, 2))

    chunks._EVERY = 0.0
    x, y = (Batches(Slow(seed), bins=100) for seed in (1, 2))
    path = None if sys.argv[1] == "none" else sys.argv[1]
    result = two_sample_test(x, y, gram="rff", rank=20, bandwidth=1.0, rng=0, n_resamples=99, store=path, workers=2)
    print(result.statistic.hex(), result.pvalue)
"""


def script(*arguments):
    command = [sys.executable, "-c", textwrap.dedent(SCRIPT), *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.ci
def test_a_run_that_was_killed_goes_on_with_the_same_bits(tmp_path):
    path = tmp_path / "sums"
    killed, end = script(path, 0.02), time.monotonic() + 60.0
    while not path.exists() and time.monotonic() < end:
        time.sleep(0.02)
    os.kill(killed.pid, signal.SIGKILL)
    killed.communicate()
    assert chunks.Store.at(path).known["sums"][1] < 120
    results = [script(where, 0.0).communicate()[0] for where in (path, "none")]
    assert results[0] == results[1] and "0x" in results[0]


# --- bad input ----------------------------------------------------------------------------------------------


class Changing:
    """Gives other rows when it is read again."""

    def __init__(self, *readings):
        self.readings = list(readings)

    def __iter__(self):
        return iter(self.readings[0] if len(self.readings) == 1 else self.readings.pop(0))


class Infinite(FeatureMap):
    def coordinates(self, X):
        return np.where(X > 3.0, np.inf, X)


TABLE = pd.DataFrame(X[:200], columns=["a", "b", "c"])


@pytest.mark.parametrize(
    ("data", "error", "words"),
    [
        ("before/*.parquet", FileNotFoundError, r"X: there is no file 'before/\*\.parquet'"),
        (["t.csv", "t.npy"], ValueError, r"files of one kind .* found '\.csv', '\.npy'"),
        (["sub.csv"], ValueError, "is a folder; name its files"),
        ("text.parquet", ValueError, r"t\.parquet has the columns a, b, c, and another sample a, b, c, d"),
        ("broken.parquet", ValueError, r"broken\.parquet cannot be read"),
        ("broken.npy", ValueError, r"broken\.npy cannot be read"),
        ("latin.csv", ValueError, r"latin\.csv is not text in UTF-8"),
        ("plain.csv", ValueError, r"t\.parquet has the columns a, b, c, and another sample 1, 2, 3"),
        ("twice.csv", ValueError, r"twice\.csv has more than one column named 'a'"),
        ("wild.npy", ValueError, r"wild\.npy has an infinite value in row 150, column 1"),
        ("digits.npy", ValueError, r"digits\.npy, column 0 .* holds whole numbers with too many digits"),
        ("digits.parquet", ValueError, r"digits\.parquet, column 'a', holds whole numbers with too many digits"),
        ("holes.parquet", ValueError, r"holes\.parquet has a missing value \(NaN\) in row 3, column 'b'.*omit"),
        (Batches([X, X[:, :2]]), ValueError, r"batch 1 \(counting from 0\) has 2 columns, and X has 3"),
        (Batches([X[0]]), ValueError, r"batch 0 .* must have two dimensions, rows and columns; found shape \(3,\)"),
        (Batches([np.array([["a", "b", "c"]])]), TypeError, "must hold real numbers"),
        (Batches([]), ValueError, "X has 0 rows; a sample needs at least 2"),
        (Batches(X[:1]), ValueError, "X has 1 row; a sample needs at least 2"),
        (Batches(X[:, :2]), ValueError, "Y has 3 columns, and X has 2; samples must have the same columns"),
        (Batches(X, columns=["a"]), ValueError, "3 columns without names, and no column 'a'; use numbers"),
        (Batches([TABLE], columns=["d"]), ValueError, "^X has no column 'd'; it has 'a', 'b', 'c'"),
        (Batches("t.parquet", columns=["d"]), ValueError, r"^t\.parquet has no column 'd'"),
        (Batches(Changing([X], [X], [X[:-1]])), ValueError, "X had other rows when it was read again"),
        (Batches(Changing([X], [X], [X, X])), ValueError, "X had other rows when it was read again"),
        (Batches(X, bins=50), ValueError, r"bins= must be the same for all samples"),
    ],
)  # fmt: skip
def test_bad_input(tmp_path, monkeypatch, data, error, words):
    monkeypatch.chdir(tmp_path)
    TABLE.to_csv("t.csv", index=False)
    TABLE.to_parquet("t.parquet", index=False)
    TABLE.assign(d="text").to_parquet("text.parquet", index=False)
    np.save("t.npy", X)
    Path("sub.csv").mkdir()
    for name in ("t.parquet", "t.npy"):
        Path(name.replace("t.", "broken.")).write_bytes(Path(name).read_bytes()[:100])
    Path("latin.csv").write_bytes("a,b\nß,1\nü,2\n".encode("latin-1"))
    Path("twice.csv").write_text("a,b,a\n1,2,3\n", encoding="utf-8")
    np.save("digits.npy", 2**60 + np.arange(90).reshape(30, 3) % 20)
    TABLE.assign(a=2**60 + np.arange(200) % 20).to_parquet("digits.parquet", index=False)
    np.savetxt("plain.csv", X[:9], delimiter=",")
    wild, holes = X.copy(), TABLE.copy()
    wild[150, 1], holes.loc[3, "b"] = np.inf, np.nan
    np.save("wild.npy", wild)
    holes.to_parquet("holes.parquet", index=False)
    other = {Batches: Batches(Y, bins=100 if getattr(data, "bins", 0) == 50 else 2000)}.get(
        type(data), "t.parquet"
    )
    with pytest.raises(error, match=words):
        two_sample_test(data, other, **{**FAST, "scale": None})


def test_the_index_of_a_saved_frame_is_no_column(tmp_path):
    for name in (None, "subject"):
        TABLE.rename_axis(name).sort_values("a").to_parquet(tmp_path / "index.parquet")
        assert two_sample_test(tmp_path / "index.parquet", Batches([TABLE]), rng=0).columns == (
            ("a", "b", "c"),
        )


def test_arguments_of_batches_are_checked():
    for arguments, error, words in (
        ((X[i : i + 10] for i in range(9)), TypeError, "generator can be read once only"),
        (3, TypeError, "data must be paths, an array or an iterable"),
        (TABLE, TypeError, r"pass a table as Batches\(\[table\]\)"),
    ):
        with pytest.raises(error, match=words):
            Batches(arguments)
    for options, words in (
        ({"bins": 3}, "bins must be an integer >= 20"),
        ({"size": 0}, "size must be an integer >= 1"),
        ({"columns": "a"}, "columns must be a list"),
        ({"columns": [0, 0]}, "columns has 0 more than once"),
    ):
        with pytest.raises(ValueError, match=words):
            Batches(X, **options)
    with pytest.raises(TypeError, match=r"Y next to a sample in batches .* not DataFrame"):
        two_sample_test(Batches(X), TABLE, **FAST)
    with pytest.raises(ValueError, match="are not finite numbers for some rows"):
        two_sample_test(Batches(X), Y, kernel=Infinite(), rng=0)
    with pytest.raises(MemoryError, match=r"features in .* bins need .* max_memory=4"):
        two_sample_test(Batches(X), Y, max_memory=4e4, **FAST)
