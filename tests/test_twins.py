"""Loops in numpy that stand in for compiled ones: the same bits, and never for long."""

import os
import subprocess
import sys

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shrinktest import _loops
from shrinktest._compiled import draws as compiled_draws
from shrinktest._compiled import sums as compiled_sums
from shrinktest._plain import draws, sums

pytestmark = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="uncompiled loops are slow, and no twins are needed")


def both(name, plain, compiled, *arguments, shape, dtype=np.float64):
    ours, theirs = np.full(shape, 7, dtype), np.full(shape, 9, dtype)
    getattr(plain, name)(*arguments, ours)
    getattr(compiled, name)(*arguments, theirs)
    assert ours.tobytes() == theirs.tobytes()
    return ours


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_draws(data):
    size = data.draw(st.integers(2, 300))
    first = data.draw(st.integers(1, size - 1))
    rounds = data.draw(st.integers(1, 16))
    chance = min(max(round(2**rounds * first / size), 1), 2**rounds - 1)
    seeds = np.random.default_rng(size).integers(2**64 - 1, size=data.draw(st.integers(0, 50)), dtype=np.uint64)
    words = both(
        "splits", draws, compiled_draws, seeds, size, first, chance, rounds,
        shape=(len(seeds), -(-size // 64)), dtype=np.uint64,
    )  # fmt: skip
    members = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")
    assert (members.sum(axis=1) == first).all()
    assert not members[:, size:].any()


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 200), st.integers(0, 40), st.integers(1, 150), st.integers(0, 2**32 - 1))
def test_sums(size, rows, columns, seed):
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(size, columns)) * 10.0 ** rng.integers(-3, 3, size=columns)
    masks = rng.random((rows, size)) < rng.random()
    octets, gram = sums.octets_of(masks), features @ features.T
    found = both("feature_sums", sums, compiled_sums, features, octets, shape=(rows, columns))
    np.testing.assert_allclose(found, masks @ features, rtol=1e-9, atol=1e-9 * np.abs(features).max())
    found = both("split_sums", sums, compiled_sums, gram, gram.sum(axis=1), octets, shape=(rows, 3))
    block = np.einsum("ri,ij,rj->r", masks, gram, masks, optimize=True)
    want = np.stack([block, masks @ gram.sum(axis=1), masks @ np.diagonal(gram)], axis=1)
    np.testing.assert_allclose(found, want, rtol=1e-9, atol=1e-9 * np.abs(gram).sum())


FRESH = """
import sys
import numpy as np
from shrinktest import two_sample_test
{first}
for dimension, m, n, options in [
    (1, 3, 4, {{}}), (3, 100, 100, {{}}), (2, 30, 50, {{"statistic": "biased"}}), (2, 70, 65, {{"estimator": "skmse"}}),
    (3, 40, 40, {{"kernel": "linear"}}), (3, 20, 30, {{"kernel": "laplacian", "estimator": "skmse"}}),
]:
    x, y = np.split(np.random.default_rng(m).normal(size=(m + n, dimension)), [m])
    result = two_sample_test(x, y, n_resamples=199, rng=5, **options)
    print(result.pvalue, result.statistic.hex(), result.null_distribution.tobytes().hex())
print("numba" in sys.modules)
"""


def fresh(first=""):
    done = subprocess.run(
        [sys.executable, "-c", FRESH.format(first=first)], env=os.environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_fresh_process_gives_the_same_bits_without_numba():
    *plain, loaded = fresh()
    *compiled, loaded_there = fresh("import shrinktest._compiled.jit")
    assert (loaded, loaded_there) == ("False", "True")
    assert plain == compiled


def test_the_twins_end_when_they_have_taken_as_long_as_numba_to_load(monkeypatch):
    monkeypatch.setattr(_loops, "_spent", 0.0)
    monkeypatch.delitem(sys.modules, "shrinktest._compiled.jit")
    assert _loops.loops("sums", 2.0 * _loops._LOADING) is compiled_sums  # too much at once, and nothing was spent
    used = [_loops.loops("sums", 0.3 * _loops._LOADING) for _ in range(6)]
    assert used == [sums] * 3 + [compiled_sums] * 3
    assert _loops.loops("draws", 0.0) is draws
    sys.modules["shrinktest._compiled.jit"] = compiled_sums
    assert _loops.loops("draws", 0.0) is compiled_draws
