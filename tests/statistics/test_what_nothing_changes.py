"""Notes where no permutation changes anything, and where rows are in both samples."""

import numpy as np
import pandas as pd
import pytest

from shrinktest import compare, independence_test, permutation_test, two_sample_test, two_sample_test_columns
from shrinktest.notes import note

RNG = np.random.default_rng(0)
Z = RNG.normal(size=(100, 3))
FEW = {"n_resamples": 99, "rng": 0}

LOST, SAME, SHRUNK = map(note, ("rounding", "constant-statistic", "shrunk-to-zero"))


def test_nothing_changes():
    for found in (
        two_sample_test(Z[:9], Z[9:17], bandwidth=1e200, **FEW),
        permutation_test(lambda labels: 1.0, 6, **FEW),
    ):
        assert found.pvalue == 1.0 and SAME in found.notes and not any(LOST in note for note in found.notes)
    assert SAME not in independence_test(Z[:, 0], Z[:, 1], **FEW).notes


@pytest.mark.parametrize("estimator", ["kme", "skmse", "auto"])
def test_what_stays_within_blocks_and_pairs_is_not_lost_in_rounding(estimator):
    site, labels = np.repeat([0.0, 1.0, 2.3, 3.7], 10), np.repeat(list("abcd"), 10)
    again = {"estimator": estimator, **FEW}
    sites, other = pd.DataFrame({"site": site, "x": Z[:40, 0]}), pd.DataFrame({"site": site, "x": Z[40:80, 0]})
    for how in ({"blocks": (labels, labels)}, {"paired": True}):
        found = two_sample_test(site, site, **how, **again)
        assert found.pvalue == 1.0 and SAME in found.notes and LOST not in found.notes
        columns = two_sample_test_columns(sites, other, **how, **again)
        assert columns.pvalues[0] == 1.0 and f"column 'site' of X and Y: {SAME}" in columns.notes
        assert not any(LOST in note for note in columns.notes)
    found = independence_test(site, Z[:40, 0], blocks=labels, **again)
    assert (SHRUNK if estimator == "skmse" else SAME) in found.notes and LOST not in found.notes


@pytest.mark.parametrize("estimator", ["skmse", ["skmse", "fkmse"]])
def test_what_is_shrunk_to_zero_is_not_said_to_be_the_same(estimator):
    site = np.repeat([0.0, 1.0, 2.0, 3.0], 10)
    found = independence_test(site, Z[:40, 0], blocks=site, estimator=estimator, **FEW)
    assert found.statistic == 0.0 and SHRUNK in found.notes and SAME not in found.notes


def shared(result):
    return [note for note in result.notes if "rows are in both samples" in note]


def test_rows_in_both_samples():
    assert shared(two_sample_test(Z[:80], Z[20:], **FEW))[0].startswith("60 rows are in both samples, and no row is")
    assert shared(compare(pd.DataFrame(Z[:60]), pd.DataFrame(Z[40:]), **FEW))
    assert not shared(two_sample_test(Z[:50], Z[50:], **FEW))
    assert not shared(two_sample_test(Z[:80], Z[:80], paired=True, **FEW))  # pairs that did not change
    counts = RNG.poisson(3.0, size=(2, 60))
    assert not shared(two_sample_test(*counts, **FEW))  # equal by chance, as others are within each sample
