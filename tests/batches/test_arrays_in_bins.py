"""Features of large arrays use bins by themselves, with the result of the same rows in batches."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from shrinktest import Batches, independence_test, k_sample_test, two_sample_test
from shrinktest.on_disk import in_bins
from shrinktest.statistics import kernel_cache

RNG = np.random.default_rng(2)
X, Y = RNG.normal(size=(400, 3)), RNG.normal(0.1, 1.0, size=(300, 3))
OPTIONS = {"gram": "rff", "rank": 20, "n_resamples": 99, "rng": 0, "workers": 1}


def has_bins(result):
    return any(note.code == "bins" for note in result.notes)


def test_many_rows_are_tested_as_batches_are():
    x, y = RNG.normal(size=(2, in_bins.MANY // 2, 1))
    result = two_sample_test(x, y, **OPTIONS)
    batches = two_sample_test(Batches([x]), Batches([y]), **OPTIONS)
    assert has_bins(result)
    assert result.statistic == batches.statistic and result.pvalue == batches.pvalue
    assert not has_bins(two_sample_test(x[:-1], y, **OPTIONS))
    assert not has_bins(two_sample_test(x, y, bins=0, **OPTIONS))


def test_bins_sets_how_many():
    result = two_sample_test(X, Y, bins=70, **OPTIONS)
    assert "40 + 30 randomly formed bins of 10 rows" in " ".join(result.notes)
    batches = two_sample_test(Batches([X]), Batches([Y]), bins=70, **OPTIONS)
    assert batches.pvalue == result.pvalue and batches.statistic == result.statistic
    tables = two_sample_test(pd.DataFrame(X), pd.DataFrame(Y), bins=70, **OPTIONS)
    assert "40 + 30 randomly formed bins of 10 rows" in " ".join(tables.notes)


def test_several_samples_are_tested_as_batches_are(monkeypatch):
    monkeypatch.setattr(in_bins, "MANY", 500)
    samples = {"a": X, "b": Y, "c": X[:200] + 0.2}
    result = k_sample_test(samples, **OPTIONS)
    batches = k_sample_test({name: Batches([rows]) for name, rows in samples.items()}, **OPTIONS)
    assert has_bins(result)
    assert result.statistic == batches.statistic and result.pvalue == batches.pvalue
    with pytest.raises(ValueError, match="use bins=0"):
        result.pairwise()
    by_rows = k_sample_test(samples, bins=0, **OPTIONS)
    assert not has_bins(by_rows) and len(by_rows.pairwise(rng=0).rows()) == 3
    table = pd.DataFrame(np.concatenate([X, Y])).assign(
        week=np.repeat([1.0, 2.0, np.nan], [400, 200, 100])
    )
    weeks = k_sample_test(table, by="week", bins=60, **OPTIONS)
    assert has_bins(weeks) and weeks.notes[0].code == "no-segment"


@pytest.mark.parametrize(
    "arguments",
    [
        {"blocks": (np.arange(400) % 2, np.arange(300) % 2)},
        {"groups": (np.arange(400) // 2, 1000 + np.arange(300) // 2)},
        {"estimator": "fkmse"},
        {"nan_policy": "propagate"},
        {"gram": "dense", "rank": None},
    ],
    ids=lambda arguments: next(iter(arguments)),
)
def test_what_needs_rows_keeps_them(monkeypatch, arguments):
    monkeypatch.setattr(in_bins, "MANY", 500)
    assert has_bins(two_sample_test(X, Y, **OPTIONS))
    assert not has_bins(two_sample_test(X, Y, **{**OPTIONS, **arguments}))


def test_exchanging_rows_of_samples_leaves_the_way(monkeypatch):
    monkeypatch.setattr(in_bins, "MANY", 500)
    pooled = RNG.permutation(np.concatenate([X, Y]))
    other = two_sample_test(pooled[:400], pooled[400:], **OPTIONS)
    assert has_bins(other)
    assert other.n_observations == two_sample_test(X, Y, **OPTIONS).n_observations


def test_bins_elsewhere_are_refused_by_name():
    with pytest.raises(ValueError, match=r"bins is for gram='rff' or 'nystrom'"):
        two_sample_test(X, Y, bins=100)
    with pytest.raises(ValueError, match="blocks"):
        two_sample_test(X, Y, bins=100, blocks=(X[:, 0] > 0, Y[:, 0] > 0), **OPTIONS)


def test_a_rank_that_does_not_fit_is_lowered_with_a_note():
    result = two_sample_test(X, Y, gram="rff", n_resamples=99, max_memory=1e6, rng=0)
    assert "because 1000 coordinates need 16.8 MB, more than max_memory=1 MB" in result.notes[0]
    smaller = two_sample_test(X, Y, gram="rff", rank=59, n_resamples=99, max_memory=1e6, rng=0)
    assert result.statistic == smaller.statistic
    with pytest.raises(MemoryError, match="use rank=59"):
        two_sample_test(X, Y, gram="rff", rank=1000, max_memory=1e6)


def test_the_memory_error_names_bins_where_they_can_be_permuted(monkeypatch):
    monkeypatch.setattr(kernel_cache, "_BY_TILES", 0.0)
    x, y = RNG.normal(size=(2, 2000, 2))
    small = {"max_memory": 1e6, "n_resamples": 99}
    for estimator in ("kme", "fkmse"):
        with pytest.raises(
            MemoryError, match=r"use gram='rff', bins=2000 \(about 1 s for 999 permutations\)"
        ):
            two_sample_test(x, y, estimator=estimator, **small)
    options = {**small, "max_memory": 1e8}
    assert has_bins(two_sample_test(x, y, gram="rff", bins=2000, **options))
    blocks = (x[:, 0] > 0, y[:, 0] > 0)
    with pytest.raises(MemoryError, match=r"use gram='rff', rank=10"):
        two_sample_test(x, y, blocks=blocks, **small)
    with pytest.raises(MemoryError, match=r"use gram='rff', rank=10 or gram="):
        independence_test(x, y, **small)
