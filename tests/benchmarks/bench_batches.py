"""Samples in batches: what a row costs beside the bare product, the memory of a process, and what workers send back."""

from __future__ import annotations

import pickle

import agreement
import children
import numpy as np
import pytest
import samples
from rows import Row

from shrinktest import Batches, Gaussian, two_sample_test
from shrinktest.batches.bins import Binning
from shrinktest.batches.rows import Rows
from shrinktest.kernels.finite_rank import Landmarks, RandomFourier

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
    given = [Rows(Batches(rows), "X", None, False)]
    binning = Binning.drawn((n,), min(BINS, n // 4), rng, probe=rows[:100])
    out = np.empty((n, matrix.shape[1]))

    def ours():
        (means,) = binning.means(given, [features])
        return means.mean(axis=0)

    threads(1)
    race(
        "floor",
        f"a row in {columns} columns, {RANK} {kind} features and their sums in bins, one core",
        ("read, features and sums", ours),
        (f"bare n x {columns} by {columns} x {matrix.shape[1]} product", lambda: np.matmul(rows, matrix, out=out)),
        agreement.mean_features(features, rows, n - binning.used[0]),
        measure="cost",
    )


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
            if function.args[0].name == "sums":
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
