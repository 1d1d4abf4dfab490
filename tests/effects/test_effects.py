"""``result.effect()``: of every test, estimator, route and design, and of data without any."""

import pickle
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from shrinktest import (
    change_point_test,
    equivalence_test,
    independence_test,
    joint_independence_test,
    k_sample_test,
    permutation_test,
    two_sample_test,
)
from shrinktest.estimators import ESTIMATORS

RNG = np.random.default_rng(21)
X, Y = RNG.normal(size=(40, 2)), RNG.normal(1.3, 1.0, size=(30, 2))
V = X[:, 0] ** 2 + X[:, 0] + 0.3 * RNG.normal(size=40)
FEW = {"n_resamples": 39, "rng": 0, "workers": 1}


def test_with_every_estimator():
    """Intervals of clear differences leave out the null value."""
    own = lambda gram: np.full(len(gram), 1.0 / len(gram))  # noqa: E731
    for estimator in (*ESTIMATORS, "auto", own):
        effect = two_sample_test(X, Y, estimator=estimator, **FEW).effect()
        (low, high), (below, above) = effect.auc_interval, effect.distance_interval
        assert 0.55 < low < effect.auc < high < 1.0 and effect.auc > 0.7
        assert 0.0 < below < effect.distance < above < 1.0
        assert effect.z > 3.0 and effect.relative_to == "norms"
        if estimator is not own:
            bound = independence_test(X, V, estimator=estimator, **FEW).effect()
            low, high = bound.dependence_interval
            assert 0.0 < low < bound.dependence < high < 1.0 and np.isfinite(bound.z)


def test_by_every_route_and_design():
    plain = two_sample_test(X[:30], Y, **FEW).effect()
    for options in (
        {"gram": "factor"},
        {"gram": "nystrom", "rank": 50},
        {"kernel": "whitened", "gram": "nystrom", "rank": 40},
        {"kernel": "energy"},
        {"kernel": "second-order", "scale": "sd"},
        {"paired": True},
        {"groups": (np.arange(30) // 3, 100 + np.arange(30) // 3)},
        {"blocks": (np.arange(30) % 3, np.arange(30) % 3)},
    ):
        effect = two_sample_test(X[:30], Y, **options, **FEW).effect()
        assert (
            0.5 < effect.auc < 1.0
            and effect.distance_interval[0] <= effect.distance <= effect.distance_interval[1]
        )
        if "kernel" not in options:
            assert effect.distance == pytest.approx(plain.distance, abs=0.05)
            assert effect.auc == pytest.approx(plain.auc, abs=0.1)
            assert "gram" in options or effect.distance_interval != plain.distance_interval


def test_dependence_says_what_its_interval_regards():
    groups = independence_test(X, V, groups=np.arange(40) // 2, **FEW).effect()
    assert not np.isnan(groups.dependence_interval).any()
    three = independence_test(
        X, V, groups=np.repeat(np.arange(3), [14, 13, 13]), n_resamples=0
    ).effect()
    assert np.isnan(three.dependence) and "rows of at least 4 different groups" in three.notes[1]
    shifted = independence_test(X, V, block_length="whole", **FEW).effect()
    assert np.isnan(shifted.dependence_interval).all() and shifted.notes[0].code == "effect-in-time"
    assert "[no interval]" in shifted.summary()
    blocks = independence_test(X, V, blocks=np.arange(40) % 2, **FEW).effect()
    assert "differences between blocks" in blocks.notes[0]


def test_of_several_samples_it_is_that_of_every_two():
    samples = {"a": X, "b": Y, "c": X[:20] + 1.5}
    result = k_sample_test(samples, **FEW)
    effect = result.effect()
    assert list(effect.pairs) == [(0, 1), (0, 2), (1, 2)] and effect.names == ("a", "b", "c")
    alone = two_sample_test(X, Y, bandwidth=result.bandwidth, **FEW).effect()
    assert effect.pairs[0, 1].distance == pytest.approx(alone.distance, rel=1e-9)
    assert effect.pairs[0, 1].distance_interval == pytest.approx(alone.distance_interval, rel=1e-9)
    assert effect.distance.loc["c", "b"] == effect.pairs[1, 2].distance
    assert effect.table[["first", "second", "measure"]].iloc[3].tolist() == ["a", "c", "distance"]
    assert "Furthest apart are a and c" in effect.summary() and effect.z == result.z


def test_shares_of_columns_have_their_names():
    import pandas as pd

    first, second = (
        pd.DataFrame(values, columns=["height", "weight"])
        for values in (X, Y * [1.0, 0.0] + X[:30] * [0.0, 1.0])
    )
    effect = two_sample_test(first, second, **FEW).effect(columns=True)
    assert (
        list(effect.shares) == ["height", "weight"]
        and effect.shares["height"] > 0.5 > effect.shares["weight"]
    )
    assert effect.lines()[-1].endswith(
        f"lowers the statistic by {effect.shares['height']:.0%} (height)."
    )


def test_the_seed_is_obeyed_and_the_confidence_kept():
    result = two_sample_test(X, Y, **FEW)
    assert result.effect() == result.effect() and result.effect(rng=1).auc != result.effect().auc
    assert result.effect(rng=1).distance == result.effect().distance
    wide, narrow = result.effect(confidence=0.99), result.effect(confidence=0.5)
    for name in ("auc_interval", "distance_interval"):
        (a, b), (c, d) = getattr(wide, name), getattr(narrow, name)
        assert a < c < d < b
    assert result.effect(folds=2) != result.effect(folds=10)


def test_combinations_say_which_member_a_distance_is_of():
    result = two_sample_test(X, Y, estimator="auto", **FEW)
    effect = result.effect()
    assert "largest predefined weight" in effect.notes[-1] and "Gaussian" in effect.notes[-1]
    alone = two_sample_test(X, Y, bandwidth="2 * median", **FEW).effect()
    assert effect.distance == pytest.approx(alone.distance, rel=1e-6) and effect.auc != alone.auc
    several = two_sample_test(
        X, Y, estimator=["kme", "fkmse"], bandwidth=["median", "0.5 * median"], **FEW
    ).effect()
    assert several.auc > 0.7


def test_few_and_constant_data_claim_nothing():
    few = two_sample_test(X[:4], Y[:6], **FEW).effect()
    assert np.isnan([few.auc, *few.auc_interval, *few.distance_interval]).all()
    assert "4 independent observations" in few.notes[0] and "was not estimated" in str(
        few.summary()
    )
    some = two_sample_test(X[:12], Y, **FEW).effect()
    assert not np.isnan(some.auc_interval).any() and "12 independent observations" in some.notes[0]
    same = two_sample_test(np.ones(20), np.ones(20), bandwidth=1.0, **FEW).effect()
    assert (
        same.auc == 0.5
        and np.isnan(same.auc_interval).all()
        and np.isnan(same.distance_interval).all()
    )


def rare(effect, beginnings=("Few rows differ", "Few groups differ", "In few rows (")):
    """The notes on rare rows."""
    return [note for note in effect.notes if note.startswith(beginnings)]


def test_rare_rows_have_a_note():
    for first, second, text in (
        ((6, 50), (1, 50), "(6 of before, 1 of after)"),
        ((44, 50), (49, 50), "(6 of before, 1 of after)"),  # the most common value is the other one
        ((5, 20), (90, 200), "(5 of before, 90 of after)"),  # as many as 9 of 20
        ((15, 50), (0, 50), None),
        ((10, 20), (10, 20), None),
    ):
        x, y = (np.repeat([1.0, 0.0], [ones, size - ones]) for ones, size in (first, second))
        given = {"bandwidth": 1.0, "names": ("before", "after")}
        notes = rare(two_sample_test(x, y, n_resamples=0, **given).effect())
        assert bool(notes) == (text is not None) and (not notes or text in notes[0])
    many = np.repeat([1.0, 0.0], [60, 240])  # in groups of ten
    groups = np.arange(300) // 10, 100 + np.arange(300) // 10
    effect = two_sample_test(many, many, groups=groups, bandwidth=1.0, **FEW).effect()
    assert rare(effect)[0].startswith(
        "Few groups differ from the most common row (6 of X, 6 of Y), so "
    )
    x, y = np.repeat([1.0, 0.0], [20, 180]), np.repeat([0.0, 1.0, 0.0], [15, 20, 165])
    few, enough = (independence_test(x, other, **FEW).effect() for other in (y, x))
    assert "(5 in both variables)" in rare(few)[0] and not rare(enough)


@pytest.mark.ci
def test_with_the_note_equivalence_is_shown_too_often_and_without_it_is_not():
    """True in 10 % of X and never in Y, or 20 %: all data sets of 50 rows each, by their chances."""
    for share, level in ((0.1, 0.22), (0.2, 0.10)):
        kernel = np.exp(-0.5)
        norm = share**2 + (1.0 - share) ** 2 + 2.0 * share * (1.0 - share) * kernel
        margin = 1.0 - 2.0 * (1.0 - share + share * kernel) / (norm + 1.0)
        chances = {True: [0.0, 0.0], False: [0.0, 0.0]}
        for ones in range(1, 30):
            x = np.repeat([1.0, 0.0], [ones, 50 - ones])
            result = equivalence_test(
                x, np.zeros(50), margin=margin, measure="distance", bandwidth=1.0, rng=0
            )
            entry, chance = chances[bool(rare(result))], stats.binom(50, share).pmf(ones)
            entry[0] += chance
            entry[1] += chance * result.reject()
        assert chances[False][1] <= 0.05 * chances[False][0]
        assert chances[True][1] / sum(sums[0] for sums in chances.values()) == pytest.approx(
            level, abs=0.005
        )


def test_effects_do_not_depend_on_units_or_the_order_of_rows():
    effect = two_sample_test(X, Y, **FEW).effect()
    moved = two_sample_test(1e4 * X + 7.0, 1e4 * Y + 7.0, **FEW).effect()
    assert moved.distance == pytest.approx(effect.distance, rel=1e-6)
    assert moved.auc == pytest.approx(effect.auc, abs=1e-9)
    order = RNG.permutation(40)
    other = two_sample_test(X[order], Y, **FEW).effect()
    assert other.distance_interval == pytest.approx(effect.distance_interval, rel=1e-9)
    swapped = two_sample_test(Y, X, **FEW).effect()
    assert swapped.distance == pytest.approx(effect.distance, rel=1e-9)


def test_many_rows_take_no_gram_matrix():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(30_000, 3)), rng.normal(0.05, 1.0, size=(30_000, 3))
    effect = two_sample_test(x, y, gram="rff", rank=60, n_resamples=19, rng=0).effect()
    assert 0.5 < effect.auc_interval[0] < effect.auc_interval[1] < 0.56
    assert 0.0 < effect.distance_interval[0] < effect.distance_interval[1] < 0.01
    bound = independence_test(x, x**2 + y, gram="rff", rank=30, n_resamples=19, rng=0).effect()
    assert 0.05 < bound.dependence < 0.9 and np.diff(bound.dependence_interval)[0] < 0.05


def test_a_wide_bandwidth_leaves_the_interval_its_digits():
    x, y = X[:40, :1], Y[:40, :1] + 0.5
    wide = [two_sample_test(x, y, bandwidth=b, **FEW).effect() for b in (1e2, 1e4, 1e5)]
    shares = [np.array(effect.distance_interval) / effect.distance for effect in wide]
    assert np.allclose(shares[1:], shares[0], rtol=1e-3)


def test_messages():
    half = (np.full(len(X), 0.5), np.full(len(Y), 0.5))
    by_chance = two_sample_test(
        X, Y, covariates=(X[:, 0] ** 2, Y[:, 0] ** 2), propensity=half, **FEW
    )
    two, pair = two_sample_test(X, Y, **FEW), independence_test(X, V, **FEW)
    for call, words in (
        (
            joint_independence_test(X[:, 0], X[:, 1], V, **FEW).effect,
            "test pairs of variables",
        ),
        (
            permutation_test(lambda row: float(row[:3].sum()), (10, 9), **FEW).effect,
            "run a kernel test",
        ),
        (change_point_test(X, **FEW).effect, "the change point was chosen"),
        (independence_test(X[:, 0], X[:, 1], given=V, **FEW).effect, "not available with given="),
        (by_chance.effect, "propensity"),
        (
            two_sample_test([1.0, np.nan], [2.0, 3.0], nan_policy="propagate").effect,
            "does not hold its data",
        ),
        (pickle.loads(pickle.dumps(pair)).effect, "was pickled without its data"),
        (lambda: k_sample_test(X, Y, X, **FEW).effect(columns=True), "columns=True"),
        (lambda: pair.effect(columns=True), "columns=True"),
        (lambda: pair.effect(folds=5), "folds="),
        (
            lambda: two_sample_test(X, Y, estimator="auto", **FEW).effect(columns=True),
            "columns=True",
        ),
        (lambda: two.effect(confidence=1.0), "confidence"),
        (lambda: two.effect(folds=1), "folds"),
    ):
        with pytest.raises(ValueError, match=words):
            call()
    assert pickle.loads(pickle.dumps(pair.with_data())).effect() == pair.effect()


def test_a_test_and_its_effect_hold_one_gram_matrix():
    x, y = RNG.normal(size=(2, 600, 20))
    two_sample_test(x[:20], y[:20], **FEW).effect()  # compiles
    gram = 8.0 * 1200**2
    tracemalloc.start()
    result = two_sample_test(x, y, n_resamples=19, rng=0, workers=1)
    left, _ = tracemalloc.get_traced_memory()
    result.effect()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert result.route == "dense"
    assert left < 0.3 * gram and most < 1.9 * gram


def test_one_column_has_differences_in_its_unit():
    x, y = np.random.default_rng(7).normal([[10.0], [11.0]], 2.0, size=(2, 40))
    effect = two_sample_test(x, y, n_resamples=19, rng=0).effect()
    table = effect.table.set_index("measure")
    welch = stats.ttest_ind(y, x, equal_var=False).confidence_interval()
    assert table.loc["mean_difference", "estimate"] == pytest.approx(y.mean() - x.mean())
    assert tuple(table.loc["mean_difference", ["low", "high"]]) == pytest.approx(tuple(welch))
    medians = table.loc["median_difference"]
    assert medians["estimate"] == pytest.approx(np.median(y) - np.median(x))
    assert medians["low"] < medians["estimate"] < medians["high"]
    assert "mean_difference" in effect.summary()
    blocks = (np.arange(40) % 4, np.arange(40) % 4)
    within = two_sample_test(x, y, blocks=blocks, n_resamples=19, rng=0).effect()
    assert [row["measure"] for row in within.differences] == ["mean_difference"]


def test_several_columns_have_differences_if_asked():
    first, second = (
        pd.DataFrame(
            {
                "wait": pd.to_timedelta(np.arange(30) + shift, unit="h"),
                "number": np.arange(30.0) % 7.0,
                "kind": list("abc") * 10,
            }
        )
        for shift in (0, 12)
    )
    result = two_sample_test(first, second, n_resamples=19, rng=0)
    assert not result.effect().differences
    effect = result.effect(columns=True)
    table = effect.table.set_index("measure")["estimate"]
    assert table["mean_difference of wait"] == pytest.approx(0.5)
    assert table["median_difference of number"] == 0.0
    assert not any("kind" in measure for measure in table.index)
    assert "+0.500 days" in effect.summary()
