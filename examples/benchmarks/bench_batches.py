"""Many rows: the memory of a process that reads a file, features in memory."""

from __future__ import annotations

import children
import numpy as np
import pytest
from rows import Row

from shrinktest import two_sample_test

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
        file[start : start + 100_000] = np.random.default_rng(start).normal(
            size=file[start : start + 100_000].shape
        )
    del file

    def child():
        printed, peak = children.peak(CALL.format(path=str(path)))
        assert 0.0 < float(printed) <= 1.0
        peaks.append(peak)

    times = turns({"ours": child})
    name = f"kme, a .npy file of {words} rows in 20 columns against itself, in batches, 100 rff features"
    size = f"the file: {path.stat().st_size / 1e9:.3g} GB"
    middle, seconds = float(np.median(peaks)), float(np.median(times["ours"]))
    keep(
        Row(
            "memory",
            name,
            "process",
            size,
            middle,
            "GB",
            min(peaks),
            max(peaks),
            "",
            seconds,
            rounds=rounds,
        )
    )


@pytest.mark.parametrize("gram", ["rff", "nystrom"])
@pytest.mark.parametrize(("n", "columns"), [(50_000, 50), (5_000, 384)])
def test_in_memory(race, threads, tiny, gram, n, columns):
    """The floor: features of all rows without sines or exponentials, and their product with the labels.

    The features of Nystrom are kernel values at landmarks times a square matrix.
    """
    rng, n, permutations, rank = (
        np.random.default_rng(0),
        tiny(n, 400),
        tiny(999, 19),
        tiny(200, 20),
    )
    x, y = rng.normal(size=(2, n // 2, columns))
    pooled, matrix = (
        np.vstack([x, y]),
        rng.normal(size=(columns, rank // 2 if gram == "rff" else rank)),
    )
    labels, square = (
        rng.choice([-1.0, 1.0], size=(n, permutations + 1)),
        rng.normal(size=(rank, rank)),
    )
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
        (
            gram,
            lambda: two_sample_test(
                x, y, gram=gram, rank=rank, n_resamples=permutations, rng=0, workers=1
            ),
        ),
        ("bare products for features, and of features and labels", bare),
        agree,
        measure="cost",
        target="<= 3",
    )
