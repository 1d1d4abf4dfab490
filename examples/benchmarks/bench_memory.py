"""Peak memory of processes that import, test once and end."""

from __future__ import annotations

import children
import numpy as np
import pytest
from rows import Row

CALL = """
import numpy as np
import shrinktest
X, Y = np.random.default_rng(0).normal(size=(2, {n}, {d}))
print(shrinktest.{verb}(X, Y, estimator={estimator!r}, n_resamples={B}, rng=0, workers=2, gram={gram!r}).pvalue)
"""
CASES = [
    ("two_sample_test", "kme", "dense", 1000, 10, 999),
    ("two_sample_test", "kme", "dense", 4000, 10, 999),
    ("two_sample_test", "kme", "factor", 4000, 2, 999),
    ("two_sample_test", "kme", "factor", 50_000, 2, 999),
    ("two_sample_test", "fkmse", "dense", 300, 10, 39),
    ("independence_test", "kme", "dense", 2000, 1, 999),
    ("independence_test", "kme", "factor", 20_000, 1, 999),
    ("independence_test", "fkmse", "dense", 300, 1, 39),
]


@pytest.mark.parametrize(("verb", "estimator", "gram", "n", "d", "B"), CASES)
def test_peak(turns, keep, rounds, tiny, verb, estimator, gram, n, d, B):
    small = {"n": tiny(n), "B": tiny(B, 39), "d": d, "verb": verb, "estimator": estimator, "gram": gram}
    peaks = {"ours": [], "theirs": []}

    def child(label, code):
        def run():
            printed, peak = children.peak(code)
            assert 0.0 < float(printed) <= 1.0
            peaks[label].append(peak)

        return run

    idle = "import numpy\nprint(1)"
    turns({"ours": child("ours", CALL.format(**small)), "theirs": child("theirs", idle)})
    own, base = np.array(peaks["ours"]), np.median(peaks["theirs"])
    name = f"{estimator}, {verb}, gram='{gram}', n = {n}, {d}-d, B = {B}"
    other = f"import numpy: {base:.3g} GB"
    keep(Row("memory", name, "process", other, float(np.median(own)), "GB", own.min(), own.max(), rounds=rounds))
