"""Samples in batches: what a row costs beside the bare product, the memory of a process, and what workers send back."""

from __future__ import annotations

import pickle
import time

import children
import numpy as np
import pytest
import samples
from rows import Row

from shrinktest import Batches, Gaussian, independence_test, two_sample_test
from shrinktest.data.bins import Bins
from shrinktest.data.on_disk import OnDisk, Part
from shrinktest.data.pairs import LENGTH, Blocks, Multiplying
from shrinktest.data.rows import Rows
from shrinktest.data.storage import Chunk
from shrinktest.kernels.feature_maps import Landmarks, RandomFourier
from shrinktest.statistics.kernel_cache import seconds

RANK, BINS = 200, 2000


def features_of(kind, rows, rng):
    """RANK features of a Gaussian kernel, and the matrix (d, m) that the bare product of rows is with."""
    kernel = Gaussian(np.sqrt(rows.shape[1]))
    if kind == "rff":
        frequencies = rng.normal(size=(RANK // 2, rows.shape[1])) / kernel.bandwidth
        return RandomFourier(kernel, frequencies, 1.0), frequencies.T
    landmarks = rows[rng.choice(len(rows), RANK, replace=False)]
    return Landmarks(kernel, landmarks, np.eye(RANK)), np.ascontiguousarray(landmarks.T)


@pytest.mark.parametrize(
    ("kind", "columns"), [("rff", 8), ("rff", 50), ("rff", 384), ("nystrom", 50), ("nystrom", 384)]
)
def test_a_row(race, threads, tiny, kind, columns):
    rng, n = np.random.default_rng(0), tiny(100_000, 400)
    rows = rng.normal(size=(n, columns))
    features, matrix = features_of(kind, rows, rng)
    options = {"nan_policy": "raise", "drawn": 100, "rng": rng}
    source = OnDisk.read([Rows.of(Batches(rows), "X", None, False)], [Part("X", None)], [None], **options)
    bins = Bins.drawn((n,), min(BINS, n // 4), rng)
    out = np.empty((n, matrix.shape[1]))

    def ours():
        (means,) = bins.means(source, [features])
        return means.mean(axis=0)

    threads(1)
    race(
        "floor",
        f"a row in {columns} columns, {RANK} {kind} features and their sums in bins, one core",
        ("read, features and sums", ours),
        (f"bare n x {columns} by {columns} x {matrix.shape[1]} product", lambda: np.matmul(rows, matrix, out=out)),
        samples.mean_features(features, rows, n - bins.used[0]),
        measure="cost",
    )


@pytest.mark.parametrize(("columns", "rank"), [(8, 40), (50, 40), (50, 100)])
def test_a_pair(race, threads, tiny, columns, rank):
    """The floor: features of both without sines, the products of x with y shifted by all places, and own products."""
    rng, n = np.random.default_rng(0), tiny(50_000, 800) // LENGTH * LENGTH
    rows, kernel = rng.normal(size=(n, 2 * columns)), Gaussian(np.sqrt(columns))
    blocks = Blocks.drawn(n, rng)
    frequencies = rng.normal(size=(2, rank // 2, columns)) / kernel.bandwidth
    maps = [RandomFourier(kernel, some, 1.0) for some in frequencies]
    reader, chunk = Rows.of(Batches(rows), "X and Y", None, False).reader, Chunk("X and Y", rows, rows=n)
    adding = Multiplying(blocks, (columns, columns), maps, [np.zeros(rank)] * 2, [(0, 1)])
    x, y = (np.ascontiguousarray(some) for some in np.hsplit(rows, 2))
    along, wide, summed = np.empty((n, rank // 2)), np.ones((n, rank)), np.empty((rank, LENGTH * rank))
    shifted = np.ones((n, LENGTH * rank))

    def ours():
        found = adding.read(reader, chunk, 0, 0, n)
        return found.xy[0][:, :-1, 0, :-1].sum(axis=0)

    def bare():
        for some, matrix in zip((x, y), frequencies, strict=True):
            np.matmul(some, matrix.T, out=along)
            np.matmul(wide.T, wide)
        return np.matmul(wide.T, shifted, out=summed)

    def agree(found, _):
        features = [one.coordinates(some) for one, some in zip(maps, (x, y), strict=True)]
        np.testing.assert_allclose(found, features[0].T @ features[1], rtol=1e-9, atol=1e-9 * n)

    threads(1)
    race(
        "floor",
        f"a pair of {columns} and {columns} columns, {rank} rff features and sums of their products, one core",
        ("read, features and products", ours),
        ("bare products of the same sizes", bare),
        agree,
        measure="cost",
    )


@pytest.mark.parametrize("gram", ["rff", "nystrom"])
@pytest.mark.parametrize(
    ("work", "n", "rank", "permutations"),
    [("sums", 50_000, 200, 199), ("sums", 20_000, 1000, 199), ("filter", 10_000, 100, 49), ("pairs", 20_000, 50, 99)],
)
def test_the_time_that_is_foretold(keep, threads, smoke, tiny, rounds, gram, work, n, rank, permutations):
    """In time of one processor, which others on the machine hardly change."""
    n, rank, permutations = tiny(n, 400), tiny(rank, 20), tiny(permutations, 19)
    rng, columns = np.random.default_rng(0), 10
    options = {"gram": gram, "rank": rank, "n_resamples": permutations, "rng": 0, "workers": 1}
    given, test = rng.normal(size=(2, n // 2, columns)), two_sample_test
    if work == "pairs":
        given, test = rng.normal(size=(2, n, columns)), independence_test
    options["estimator"] = "fkmse" if work == "filter" else "kme"
    threads(1)
    test(*given[:, :200], **options)  # loads what is to be loaded
    times = []
    for _ in range(rounds):
        start = time.process_time()
        assert 0.0 < test(*given, **options).pvalue <= 1.0
        times.append(time.process_time() - start)
    foretold, measured = seconds(gram, n, columns, rank, permutations, work), float(np.median(times))
    what = {"sums": "kme", "filter": "fkmse", "pairs": "HSIC kme"}[work]
    name = f"{what}, {n} rows in {columns} columns, rank {rank} by {gram}, B = {permutations}: the time foretold"
    ratios = foretold / np.array(times)
    row = Row("scaling", name, "foretold", "measured", foretold / measured, "cost", ratios.min(), ratios.max(), "",
              foretold, measured, rounds=rounds)  # fmt: skip
    keep(row)
    assert smoke or 1 / 3 < row.value < 3.0


CALL = """
import numpy as np
from shrinktest import two_sample_test
result = two_sample_test({path!r}, {path!r}, gram="rff", rank=100, rng=0, workers=2)
print(result.pvalue)
"""


@pytest.mark.parametrize(("n", "words"), [(200_000, "0.2 million"), (2_000_000, "2 million")])
def test_peak_of_reading_a_file(turns, keep, tiny, rounds, tmp_path, n, words):
    n, path, peaks = tiny(n, 400), tmp_path / "large.npy", []
    file = np.lib.format.open_memmap(path, mode="w+", dtype=np.float64, shape=(n, 20))
    for start in range(0, n, 100_000):
        file[start : start + 100_000] = np.random.default_rng(start).normal(size=file[start : start + 100_000].shape)
    del file

    def child():
        printed, peak = children.peak(CALL.format(path=str(path)))
        assert 0.0 < float(printed) <= 1.0
        peaks.append(peak)

    times = turns({"ours": child})
    name = f"kme, a .npy file of {words} rows in 20 columns against itself, in batches, 100 rff features"
    size = f"the file: {path.stat().st_size / 1e9:.3g} GB"
    middle, seconds = float(np.median(peaks)), float(np.median(times["ours"]))
    keep(Row("memory", name, "process", size, middle, "GB", min(peaks), max(peaks), "", seconds, rounds=rounds))


class Weighing:
    """What has ``map``: runs tasks here, and weighs what they would send back."""

    def __init__(self):
        self.bytes = []

    def map(self, function, tasks):
        for task in tasks:
            done = function(task)
            if function.args[0].func.__name__ == "_add_up":
                self.bytes.append(len(pickle.dumps(done)))
            yield done


@pytest.mark.parametrize(("rank", "bins"), [(200, 2000), (1000, 500)])
def test_what_a_task_sends_back(keep, tiny, rank, bins):
    X, Y = samples.two(tiny(100_000, 2000), 8)
    bins, weighing = tiny(bins, 100), Weighing()
    result = two_sample_test(
        Batches(X, bins=bins), Batches(Y, bins=bins), gram="rff", rank=rank, rng=0, workers=weighing, n_resamples=19
    )
    assert 0.0 < result.pvalue <= 1.0
    expected = 8e-6 * rank * (bins / 2 + 1)
    sent = np.array(weighing.bytes) / 1e6
    assert 0.9 * expected < sent.min() <= sent.max() < 1.1 * expected + 0.01
    name = f"sums that a task of {bins} bins in two samples and {rank} rff features sends back, however many its rows"
    other = f"8 bytes a bin of its sample and feature: {expected:.3g} MB"
    keep(Row("memory", name, "pickled", other, float(np.median(sent)), "MB", sent.min(), sent.max()))


@pytest.mark.parametrize("gram", ["rff", "nystrom"])
@pytest.mark.parametrize(("n", "columns"), [(50_000, 50), (5_000, 384)])
def test_in_memory(race, threads, tiny, gram, n, columns):
    """The floor: features of all rows without sines or exponentials, and their product with the labels.

    The features of Nystrom are kernel values at landmarks times a square matrix.
    """
    rng, n, permutations, rank = np.random.default_rng(0), tiny(n, 400), tiny(999, 19), tiny(200, 20)
    x, y = rng.normal(size=(2, n // 2, columns))
    pooled, matrix = np.vstack([x, y]), rng.normal(size=(columns, rank // 2 if gram == "rff" else rank))
    labels, square = rng.choice([-1.0, 1.0], size=(n, permutations + 1)), rng.normal(size=(rank, rank))
    features = np.ones((n, rank))

    def bare():
        values = np.matmul(pooled, matrix)
        if gram == "nystrom":
            np.matmul(values, square)
        return np.matmul(features.T, labels)

    def agree(result, product):
        assert 0.0 < result.pvalue <= 1.0
        assert product.shape == (rank, result.n_resamples + 1)

    threads(1)
    race(
        "floor",
        f"{n // 2} + {n // 2} x {columns} in memory, {gram}, rank {rank}, {permutations} permutations, one core",
        (gram, lambda: two_sample_test(x, y, gram=gram, rank=rank, n_resamples=permutations, rng=0, workers=1)),
        ("bare products for features, and of features and labels", bare),
        agree,
        measure="cost",
        target="<= 3",
    )
