"""The planned ratio of the sizes of two samples: exact test, note, groups, files, and errors."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from shrinktest import Batches, compare, two_sample_test
from shrinktest.cli import main
from shrinktest.data.sample_ratio import SampleRatio

RNG = np.random.default_rng(0)
A = pd.DataFrame(RNG.normal(size=(120, 2)), columns=["a", "b"])
FAST = {"n_resamples": 19, "rng": 0, "workers": 1}
WORDS = "Sample ratio mismatch: 120 rows in {} and 60 rows in {}, planned 1:1 (exact binomial"


def codes(result):
    return [note.code for note in result.notes]


@pytest.mark.parametrize("sizes", [(7, 1), (3, 9), (5, 5), (0, 11)])
@pytest.mark.parametrize("given", [1, (1, 1), 2.0, (2, 3)])
def test_the_p_value_is_the_sum_of_no_larger_probabilities(sizes, given):
    a, b = given if isinstance(given, tuple) else (1.0, given)
    probabilities = binom(sum(sizes), a / (a + b)).pmf(np.arange(sum(sizes) + 1))
    expected = probabilities[probabilities <= probabilities[sizes[0]] * (1 + 1e-9)].sum()
    assert SampleRatio.of(given).pvalue(sizes) == pytest.approx(expected)


def test_two_sample_tests_note_a_mismatch():
    result = two_sample_test(A, A[:60], sample_ratio=1, names=("on", "off"), **FAST)
    assert result.notes[0].startswith(WORDS.format("on", "off"))
    assert codes(result)[1:] == codes(two_sample_test(A, A[:60], names=("on", "off"), **FAST))
    for fits in (None, (2, 1), 0.5, 0.6):
        assert "sample-ratio" not in codes(two_sample_test(A, A[:60], sample_ratio=fits, **FAST))
    batches = [Batches([part.to_numpy()[k::4] for k in range(4)]) for part in (A, A[:60])]
    on_disk = two_sample_test(*batches, sample_ratio=1, gram="rff", rank=20, **FAST)
    assert codes(on_disk)[0] == "sample-ratio"


def test_compare_notes_a_mismatch():
    result = compare(A, A[:60], sample_ratio=(1, 1), estimator="kme", **FAST)
    assert result.notes[0].startswith(WORDS.format("A", "B"))
    assert "Sample ratio mismatch" in result.summary()
    plain = compare(A, A[:60], estimator="kme", **FAST)
    assert codes(plain) == codes(result)[1:]
    gaps = A.copy()
    gaps.loc[:80, "a"] = np.nan
    options = {"nan_policy": "omit", "sample_ratio": 1, "estimator": "kme"}
    assert "sample-ratio" not in codes(compare(A, gaps, **options, **FAST))


@pytest.mark.parametrize("test", [two_sample_test, compare])
def test_groups_are_counted_in_place_of_rows(test):
    labels = (np.arange(120) // 4, 100 + np.arange(60) // 4)
    result = test(A, A[:60], groups=labels, sample_ratio=1, estimator="kme", **FAST)
    assert "sample-ratio" not in codes(result)
    assert result.notes == test(A, A[:60], groups=labels, estimator="kme", **FAST).notes
    labels = (np.arange(120), 200 + np.arange(60))
    result = test(A, A[:60], groups=labels, sample_ratio=1, estimator="kme", **FAST)
    assert "120 groups in" in result.notes[0]


def test_on_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    A.to_csv("a.csv", index=False)
    A[:60].to_csv("b.csv", index=False)
    line = "compare a.csv b.csv --estimator kme --resamples 19 --seed 0 --sample-ratio"
    main([*line.split(), "1,1"])
    assert "Sample ratio mismatch" in capsys.readouterr().out
    main([*line.split(), "0.5"])
    assert "Sample ratio mismatch" not in capsys.readouterr().out


@pytest.mark.parametrize("test", [two_sample_test, compare])
@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"sample_ratio": 0}, ValueError),
        ({"sample_ratio": (1, 2, 3)}, ValueError),
        ({"sample_ratio": "1:1"}, TypeError),
        ({"sample_ratio": 1, "paired": True}, ValueError),
    ],
)
def test_errors_name_the_argument(test, options, error):
    with pytest.raises(error, match="sample_ratio"):
        test(A, A, **options, **FAST)
