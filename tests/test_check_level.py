"""Levels of pipelines: what they are given, the levels that come out, and who is flagged."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from naive_tests import clopper_pearson
from shrinktest import check_level, two_sample_test

RNG = np.random.default_rng(4)
X, Y = RNG.normal(size=(9, 3)), RNG.normal(0.5, 1.0, size=(12, 3))
SEEN = []


def one_thread(test, *data, **options):
    return check_level(test, *data, **{"n_trials": 30, "workers": 1, "rng": 0, **options})


def smallest(x, y):
    """The smallest p-value of several tests, as if it were the only one."""
    return stats.ttest_ind(x, y).pvalue.min()


def record(x, y):
    SEEN.append((x, y))
    return 0.5


def test_relabeled_data_are_the_pooled_rows_in_other_places():
    SEEN.clear()
    one_thread(record, X, Y)
    pooled = np.vstack([X, Y])
    for x, y in SEEN:
        both = np.vstack([x, y])
        assert x.shape == X.shape and np.array_equal(
            both[np.lexsort(both.T)], pooled[np.lexsort(pooled.T)]
        )
    places = [np.flatnonzero((np.vstack([x, y]) == X[0]).all(axis=1))[0] for x, y in SEEN[1:]]
    assert len(set(places)) > 10
    SEEN.clear()
    one_thread(record, X, Y[:9], kind="independence")
    assert all(np.array_equal(x, X) for x, _ in SEEN)
    assert all(np.array_equal(np.sort(y[:, 0]), np.sort(Y[:9, 0])) for _, y in SEEN)
    assert len({tuple(y[:, 0]) for _, y in SEEN}) == 30  # the first trial is also the rehearsal


def test_pipelines_get_data_of_the_kind_that_was_given():
    for names in (
        list("abc"),
        [0, "b", 2.5],
        pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)]),
    ):
        SEEN.clear()
        x, y = pd.DataFrame(X, columns=names), pd.DataFrame(Y, columns=names)
        one_thread(record, x, y.iloc[:, ::-1], n_trials=2)
        assert all(list(z.columns) == list(x.columns) for z in SEEN[-1])
        both = np.vstack([z.to_numpy() for z in SEEN[-1]])
        assert np.array_equal(np.sort(both, axis=0), np.sort(np.vstack([X, Y]), axis=0))
    one_thread(record, X[:, 0], pd.Series(Y[:, 0]), n_trials=2)
    assert SEEN[-1][0].ndim == SEEN[-1][1].ndim == 1
    for ordered in (False, True):  # categories of one table only stay categories
        x = pd.DataFrame({0: pd.Categorical(["a", "b"] * 4, ["b", "a"], ordered=ordered)})
        y = pd.DataFrame({0: pd.Categorical(["c", "b"] * 5, ["b", "a", "c"], ordered=ordered)})
        one_thread(record, x, y, n_trials=2)
        assert all(
            set(z[0].cat.categories) == set("abc") and z[0].cat.ordered == ordered for z in SEEN[-1]
        )
        assert sorted(pd.concat(SEEN[-1])[0]) == sorted("ab" * 4 + "cb" * 5)
        one_thread(record, x[0], y[0], n_trials=2)
        assert isinstance(SEEN[-1][0].dtype, pd.CategoricalDtype)


def test_pvalues_do_not_depend_on_the_workers():
    serial, parallel = (one_thread(smallest, X, Y, workers=w, rng=7) for w in (1, 2))
    assert np.array_equal(serial.pvalues, parallel.pvalues) and serial.seed == 7
    assert not np.array_equal(serial.pvalues, one_thread(smallest, X, Y, rng=8).pvalues)


def test_anti_conservative_pipelines_are_flagged_and_sound_ones_are_not():
    result = one_thread(smallest, X, Y, n_trials=400)
    assert result.anti_conservative and set(result.table["verdict"]) == {"anti-conservative"}
    assert "anti-conservative" in result.summary() and repr(result).endswith(
        "flagged at 0.01, 0.05, 0.1)"
    )
    sound = one_thread(lambda x, y: stats.ttest_ind(x[:, 0], y[:, 0]), X, Y, n_trials=400)
    assert not sound.anti_conservative and "nothing flagged" in repr(sound)
    timid = one_thread(lambda x, y: 1.0, X, Y, n_trials=200, alphas=0.1)
    assert timid.table["verdict"].tolist() == ["conservative"] and not timid.anti_conservative


def test_table_has_exact_intervals():
    result = one_thread(smallest, X, Y, n_trials=60, alphas=(0.2, 0.05), confidence=0.9)
    assert result.alphas == (0.05, 0.2)
    for row in result.table.itertuples():
        assert row.rejections == sum(p <= row.alpha for p in result.pvalues) and row.trials == 60
        assert np.allclose((row.low, row.high), clopper_pearson(row.rejections, 60, 0.9))
    assert "Intervals:  90% Clopper-Pearson" in result.summary()
    assert (
        "Intervals:  99.9% Clopper"
        in one_thread(smallest, X, Y, n_trials=2, confidence=0.999).summary()
    )


def test_refusals_name_the_argument():
    for wrong in (np.nan, -0.1, 1.5):
        with pytest.raises(ValueError, match="from 0 to 1") as caught:
            one_thread(lambda x, y, wrong=wrong: wrong, X, Y)
        assert caught.value.__notes__ == ["in trial 0 of check_level with seed 0"]
    for wrong in ("0.05", None, True, np.array([0.1, 0.2])):
        with pytest.raises(TypeError, match="p-value"):
            one_thread(lambda x, y, wrong=wrong: wrong, X, Y)
    own = np.arange(9).astype(str)
    for data, options, error, name in (
        ((X, Y[:, :2]), {}, ValueError, "X has 3 columns and Y has 2 columns"),
        ((X, Y), {"kind": "independence"}, ValueError, "X has 9 rows and Y has 12 rows"),
        ((X, Y), {"kind": "two-samples"}, ValueError, "kind"),
        ((X, Y), {"n_trials": 0}, ValueError, "n_trials"),
        ((X, Y), {"workers": 2**40}, ValueError, "workers"),
        ((X, Y), {"alphas": [0.05, 1.0]}, ValueError, "alphas"),
        ((X, Y), {"progress": "no"}, TypeError, "progress"),
        ((X[:1], Y), {}, ValueError, "X has 1 row"),
        ((np.where(X > 1, np.nan, X), Y), {}, ValueError, "missing value"),
        ((X, Y[:9]), {"block_length": "whole"}, ValueError, "block_length"),
        ((X, Y[:9]), {"kind": "independence", "paired": True}, ValueError, "paired"),
        ((X, Y[:9]), {"blocks": np.arange(18)}, ValueError, "blocks"),
        ((X, Y[:9]), {"blocks": np.repeat([0, 1], 9)}, ValueError, "blocks"),
        ((X, Y[:9]), {"groups": np.repeat([0, 1], 9)}, ValueError, "groups"),
        ((X, Y[:9]), {"kind": "independence", "groups": np.zeros(9)}, ValueError, "group"),
        ((X, Y[:9]), {"kind": "independence", "given": own}, ValueError, "given"),
        ((X, Y[:9]), {"blocks": np.zeros(18), "nan_policy": "omit"}, ValueError, "drop"),
        ((X, Y[:9]), {"blocks": np.zeros(5)}, ValueError, "blocks"),
    ):
        with pytest.raises(error, match=name):
            one_thread(smallest, *data, **options)
    with pytest.raises(TypeError, match="test must be a function"):
        check_level("fkmse", X, Y, rng=0)


def test_missing_values_are_left_out_or_left_to_the_pipeline():
    holes = X.copy()
    holes[2, 0] = np.nan
    SEEN.clear()
    one_thread(record, holes, Y, nan_policy="omit", n_trials=1)
    assert SEEN[-1][0].shape == (8, 3)
    for policy in ("propagate", "indicator"):  # which the pipeline may do, and nobody else
        one_thread(record, holes, Y, nan_policy=policy, n_trials=1)
        both = np.vstack(SEEN[-1])
        assert both.shape == (21, 3) and np.isnan(both).sum() == 1
        one_thread(
            record, holes[:, 0], Y[:9, 1], nan_policy=policy, kind="independence", n_trials=1
        )
        assert np.array_equal(SEEN[-1][0], holes[:, 0], equal_nan=True)


BLOCKS = np.arange(9) % 3, np.arange(12) // 4


def test_places_keep_their_labels():
    SEEN.clear()
    one_thread(record, X, Y, blocks=BLOCKS)
    labels = np.concatenate(BLOCKS)
    of_row = {tuple(row): label for row, label in zip(np.vstack([X, Y]), labels, strict=True)}
    for x, y in SEEN:
        assert [of_row[tuple(row)] for row in np.vstack([x, y])] == labels.tolist()
    assert len({x.tobytes() for x, _ in SEEN[1:]}) > 20
    SEEN.clear()
    one_thread(record, X, Y[:9], paired=True)
    for x, y in SEEN:
        kept, swapped = (
            (x == X).all(axis=1) & (y == Y[:9]).all(axis=1),
            (x == Y[:9]).all(axis=1) & (y == X).all(axis=1),
        )
        assert (kept ^ swapped).all()
    SEEN.clear()
    one_thread(record, X, Y[:9], kind="independence", groups=np.repeat([5, 6, 7], 3))
    threes = {Y[i : i + 3].tobytes() for i in (0, 3, 6)}
    for x, y in SEEN:
        assert np.array_equal(x, X) and {y[i : i + 3].tobytes() for i in (0, 3, 6)} == threes
    assert len({y.tobytes() for _, y in SEEN}) == 6
    SEEN.clear()
    one_thread(record, X, Y[:9], kind="independence", block_length="whole")
    assert {y.tobytes() for _, y in SEEN} <= {np.roll(Y[:9], s, axis=0).tobytes() for s in range(9)}


def test_what_blocks_hide_is_found_where_they_are_named():
    effect = np.array([0.0, 3.0])
    blocks = np.repeat([0, 1], [9, 3]), np.repeat([0, 1], [3, 9])
    rng = np.random.default_rng(1)
    x, y = (effect[block] + 0.3 * rng.normal(size=12) for block in blocks)

    def blind(a, b):
        return stats.ttest_ind(a, b).pvalue

    def aware(a, b):
        return two_sample_test(a, b, blocks=blocks, n_resamples=99, rng=0, workers=1)

    assert not one_thread(blind, x, y, n_trials=200).anti_conservative
    result = one_thread(blind, x, y, n_trials=150, blocks=blocks)
    assert result.anti_conservative
    assert result.restriction == "within 2 blocks" and "(within 2 blocks)" in result.summary()
    assert result.to_dict()["restriction"] == "within 2 blocks"
    assert not one_thread(aware, x, y, n_trials=150, blocks=blocks).anti_conservative
