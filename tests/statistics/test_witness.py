"""Where two samples differ: the witness function over the relabellings, its band, pictures, and contributions."""

from __future__ import annotations

import pickle

import matplotlib
import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from naive_several import band as naive_band
from shrinktest import (
    FKMSE,
    KME,
    MKME,
    MMKME,
    SKMSE,
    TSVD,
    Depth,
    Gaussian,
    Landweber,
    SecondOrder,
    Whitened,
    independence_test,
    k_sample_test,
    two_sample_test,
)
from shrinktest.kernels import Linear
from shrinktest.statistics.features import Features
from small import samples

AT = np.array([[0.0, 0.0], [1.0, -0.5], [-1.0, 0.3], [2.0, 2.0]])


def halved(gram):
    """A user's estimator."""
    return gram.mean(axis=1) / len(gram)


ESTIMATORS = [
    KME(),
    SKMSE(),
    SKMSE(tuning="pooled"),
    SKMSE(target=([[0.5, 0.5]], [0.7])),
    FKMSE(),
    Landweber(tuning="pooled"),
    TSVD(),
    MKME(),
    MMKME(),
    MKME(variance=0.2),
    MKME(tuning="sample"),
    MKME(tuning="joint"),
    halved,
]


def run(m=6, n=5, estimator="kme", **options):
    given = {"n_resamples": 39, "rng": 3, "workers": 1, "kernel": Gaussian(0.9), **options}
    return two_sample_test(*samples(m, n), estimator=estimator, **given)


def functions(result, x, y, estimator, at):
    """The witness functions of the data and all relabellings, by tests of relabelled data that relabel nothing."""
    masks = result.context.draws.rows() == 0
    pooled, rows = np.vstack([x, y]), []
    for mask in masks:
        one = two_sample_test(pooled[mask], pooled[~mask], estimator=estimator, kernel=Gaussian(0.9), n_resamples=0)
        rows.append(one.witness(at))
    return np.array(rows)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("sizes", [(5, 5), (6, 5)])
def test_band_is_that_of_estimates_fitted_again_in_every_relabelling(estimator, sizes):
    result = run(*sizes, estimator=estimator)
    rows = functions(result, *samples(*sizes), estimator, AT)
    for studentize in (True, False):
        band = result.witness_band(AT, confidence=0.8, studentize=studentize)
        pvalue, limits = naive_band(rows, 0.8, studentize)
        assert np.allclose(band.values, result.witness(AT), atol=1e-12)
        assert np.isclose(band.pvalue, pvalue)
        assert np.allclose(band.half_width, limits, rtol=1e-5, atol=1e-9)  # descents of the noise end near the optimum


def test_relabellings_are_those_of_the_test():
    result = run(8, 4, kernel=Linear(), form="biased")
    masks = result.context.draws.rows() == 0
    pooled = np.vstack(samples(8, 4))
    gaps = np.array([pooled[mask].mean(axis=0) - pooled[~mask].mean(axis=0) for mask in masks[1:]])
    assert np.allclose(np.square(gaps).sum(axis=1), result.null_distribution)
    restricted = run(5, 5, paired=True, n_resamples=np.inf, alpha=0.5)
    masks = restricted.context.draws.rows() == 0
    assert restricted.exact and (masks[:, :5] != masks[:, 5:]).all()


def test_exhaustive_band_agrees_with_brute_force():
    result = run(4, 3, n_resamples=np.inf)
    rows = functions(result, *samples(4, 3), "kme", AT)
    assert len(rows) == 35
    band = result.witness_band(AT, confidence=0.9)
    pvalue, limits = naive_band(rows, 0.9, True)
    assert band.exact and band.n_resamples == 35
    assert np.isclose(band.pvalue, pvalue) and np.allclose(band.half_width, limits)


@pytest.mark.parametrize("shift", [0.0, 1.0, 2.0, 3.0])
@pytest.mark.parametrize("studentize", [True, False])
def test_leaving_the_band_anywhere_is_rejecting(shift, studentize):
    rng = np.random.default_rng(int(shift))
    result = two_sample_test(rng.normal(size=9), rng.normal(shift, 1.0, size=11), n_resamples=99, rng=0)
    for confidence in (0.5, 0.9, 0.95, 0.99):
        band = result.witness_band(np.linspace(-2, 4, 9), confidence=confidence, studentize=studentize)
        assert band.outside.any() == (band.pvalue <= 1.0 - confidence + 1e-12)


def test_by_default_the_band_is_at_the_observations_whatever_their_labels():
    x, y = samples(6, 5)
    pooled = np.vstack([x, y, x[:2]])
    expected = sorted(map(tuple, np.vstack([x, y])))
    for split in (6, 4):
        result = two_sample_test(pooled[:split], pooled[split:], n_resamples=19, alpha=0.2, rng=0)
        band = result.witness_band()
        assert np.array_equal(band.points, expected)  # every one once
        assert np.array_equal(band.values, result.witness_band(expected).values)
    many = np.random.default_rng(0).normal(size=1000)
    points = two_sample_test(many[:400], many[400:], n_resamples=19, alpha=0.2, rng=0).witness_band().points[:, 0]
    assert len(points) == 256 and np.isin(points, many).all()
    assert np.allclose(points, np.quantile(many, np.linspace(0.0, 1.0, 256)), atol=0.4)
    assert (points[0], points[-1]) == (many.min(), many.max())


def test_the_band_is_left_as_often_as_it_says_at_points_that_do_not_depend_on_the_labels():
    rng = np.random.default_rng(3)
    tests, left = 600, np.zeros(2, dtype=int)
    for _ in range(tests):
        x, y = rng.normal(size=(2, 4))
        result = two_sample_test(x, y, n_resamples=np.inf, workers=1)
        bands = result.witness_band(confidence=0.9), result.witness_band([x.mean()], confidence=0.9)
        left += [band.outside.any() for band in bands]
    level = 6 / 70  # of 70 splits 7 may be above the band, and mirror images come in twos
    low, high = binom.ppf([1e-5, 1 - 1e-5], tests, level)
    assert low <= left[0] <= high
    assert binom.sf(left[1], tests, level) < 1e-3  # the mean of one sample knows the labels


def test_groups_of_points_are_averaged():
    result = run()
    grouped = np.stack([AT, AT[::-1]], axis=1)
    band = result.witness_band(grouped)
    assert np.allclose(band.values, (result.witness(AT) + result.witness(AT[::-1])) / 2)
    slow = run(estimator=MKME(tuning="sample")).witness_band(grouped)
    both = run(estimator=MKME(tuning="sample")).witness(AT)
    assert np.allclose(slow.values, (both + both[::-1]) / 2)


def test_too_few_relabellings_leave_no_band():
    band = run(n_resamples=19, alpha=0.2).witness_band(AT, confidence=0.99)
    assert np.isinf(band.half_width).all() and not band.outside.any()
    with pytest.raises(ValueError, match="n_resamples=0 leaves no permutations"):
        run(n_resamples=0).witness_band(AT)


def test_frame_and_repr_say_where():
    band = run().witness_band(AT)
    frame = band.to_frame()
    assert frame.columns.tolist() == ["x0", "x1", "witness", "lower", "upper", "outside"]
    assert np.array_equal(frame["upper"], -frame["lower"]) and len(frame) == 4
    assert repr(band) == f"WitnessBand(4 points, {band.outside.sum()} outside the 95% band)"


def test_results_can_be_sent_elsewhere():
    result = run(estimator="fkmse")
    again = pickle.loads(pickle.dumps(result.with_data()))
    assert np.array_equal(again.witness_band(AT).half_width, result.witness_band(AT).half_width)


def test_large_samples_in_coordinates():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=400), rng.normal(0.2, 1.0, size=500)
    at = np.linspace(-2, 2, 5)
    for estimator in ("kme", "skmse"):
        bands = [
            two_sample_test(x, y, estimator=estimator, gram=gram, n_resamples=19, alpha=0.1, rng=0).witness_band(at)
            for gram in ("dense", "factor")
        ]
        assert np.allclose(bands[0].values, bands[1].values, atol=1e-7) and bands[0].pvalue == bands[1].pvalue


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: run().witness_band(AT[:, :1]), "points has 1 column, the samples have 2"),
        (lambda: run().witness_band(np.full((2, 3, 2), np.nan)), "points has 12 missing values"),
        (lambda: run().witness_band(np.full((2, 3, 2), np.inf)), "points has an infinite value"),
        (lambda: run().witness_band(np.zeros((2, 0, 2))), "points has 3 dimensions"),
        (lambda: run().witness_band(np.zeros((2, 3, 1))), "points has 1 column, the samples have 2"),
        (lambda: run().witness_band(AT, confidence=95), "confidence must lie strictly between 0 and 1"),
        (lambda: run().contributions(n_repeats=1), "n_repeats must be an integer >= 2"),
        (lambda: run().plot_witness(coordinates=(0, 2)), "two different columns from 0 to 1"),
        (lambda: run().plot_witness(coordinates=(1, 1)), "one or two different columns"),
        (lambda: run().plot_witness(others="mean"), "others must be one of 'median', 'marginal'"),
        (lambda: run().plot_witness(names=["a"]), "names has 1 entries for 2 columns"),
    ],
)
def test_bad_input_says_what_to_do(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: independence_test(*samples(5, 5), n_resamples=9, alpha=0.2).witness_band,
            "independence test has none",
        ),
        (lambda: k_sample_test(*samples(5, 5), n_resamples=9, alpha=0.2).plot_witness, "a k-sample test has none"),
    ],
)
def test_results_without_it_say_why(call, message):
    with pytest.raises(AttributeError, match=message):
        call()


# ---------------------------------------------------------------------------------------------------- pictures


def wide():
    rng = np.random.default_rng(1)
    return rng.normal(size=(15, 3)), rng.normal(size=(14, 3)) + np.array([2.0, 0.0, 0.0])


def test_curve_of_one_coordinate_shows_witness_and_band():
    result = two_sample_test(*wide(), n_resamples=59, rng=0)
    pooled = np.vstack(wide())
    for others, rest in (("median", np.median(pooled, axis=0)[None]), ("marginal", pooled)):
        ax = result.plot_witness(coordinates=0, others=others, grid=7, names=["u", "v", "w"])
        curve = next(line for line in ax.lines if line.get_label() == "witness")
        at = np.repeat(rest[None], 7, axis=0)
        at[:, :, 0] = curve.get_xdata()[:, None]
        band = result.witness_band(at)
        assert np.allclose(curve.get_ydata(), band.values)
        outside = next(line for line in ax.lines if line.get_label() == "outside the band")
        assert len(outside.get_xdata()) == band.outside.sum() > 0
        assert ax.get_xlabel() == "u" and others in ax.get_title()
        matplotlib.pyplot.close(ax.figure)


def test_map_of_two_coordinates():
    result = run(estimator="fkmse")
    ax = result.plot_witness(grid=5)
    values = ax.collections[0].get_array()
    assert values.size == 25
    pooled = np.vstack(samples(6, 5))
    low, high = pooled.min(axis=0), pooled.max(axis=0)
    corner = low - 0.1 * (high - low)  # a margin on every side
    assert np.isclose(np.asarray(values).ravel()[0], result.witness(corner[None])[0])
    matplotlib.pyplot.close(ax.figure)
    with pytest.raises(ValueError, match="the samples have 3 columns; choose one or two"):
        two_sample_test(*wide(), n_resamples=19, rng=0).plot_witness()


# ----------------------------------------------------------------------------------------------- contributions


def drops_of(statistic, x, y, repeats=3):
    """What the statistic of (x, y) loses each time that the values of a column are exchanged, (d, repeats)."""
    generator, pooled = np.random.default_rng(8), np.vstack([x, y])
    drops = np.empty((pooled.shape[1], repeats))
    for j, r in np.ndindex(drops.shape):
        changed = pooled.copy()
        changed[:, j] = generator.permutation(pooled[:, j])
        drops[j, r] = statistic(x, y) - statistic(changed[: len(x)], changed[len(x) :])
    return drops


@pytest.mark.parametrize("estimator", ["kme", "fkmse", "mkme"])
def test_contributions_are_drops_of_the_statistic(estimator):
    x, y = wide()
    result = two_sample_test(x, y, estimator=estimator, n_resamples=19, rng=0)
    table = result.contributions(n_repeats=3, rng=8)
    given = {"kernel": result.kernel, "estimator": estimator, "n_resamples": 0}
    drops = drops_of(lambda x, y: two_sample_test(x, y, **given).statistic, x, y)
    np.testing.assert_allclose(table["drop"], drops.mean(axis=1), rtol=1e-6, atol=1e-10)
    np.testing.assert_allclose(table["error"], drops.std(axis=1, ddof=1) / np.sqrt(3), rtol=1e-5, atol=1e-10)
    np.testing.assert_allclose(table["share"], table["drop"] / result.statistic, rtol=1e-5)
    assert table["drop"].idxmax() == 0 and table["coordinate"].tolist() == [0, 1, 2]


@pytest.mark.parametrize("scale", [None, "sd", "rank"])
@pytest.mark.parametrize("kind", [Depth, SecondOrder, Whitened])
def test_contributions_take_changed_observations_for_the_pooled_sample(kind, scale):
    x, y = wide()
    told = {"kernel": kind(Gaussian(2.0)), "scale": scale, "n_resamples": 0}  # ranks and units stay what they are
    result = two_sample_test(x, y, **told)
    before = result.witness(x)
    table = result.contributions(n_repeats=3, rng=8)
    assert np.array_equal(result.witness(x), before)
    drops = drops_of(lambda x, y: two_sample_test(x, y, **told).statistic, x, y)
    np.testing.assert_allclose(table["drop"], drops.mean(axis=1), rtol=1e-6, atol=1e-10)


@pytest.fixture
def without_gram_matrix(monkeypatch):
    """Kernels of more than a thousand observations cannot be evaluated at all pairs."""
    evaluated = Features.matrix

    def matrix(self, workers=1):
        assert len(self.points) <= 1000, "a Gram matrix was made"
        return evaluated(self, workers)

    monkeypatch.setattr(Features, "matrix", matrix)


@pytest.mark.parametrize("estimator", ["kme", "skmse"])
@pytest.mark.parametrize("gram", [{"gram": "rff", "rank": 40}, {"gram": "nystrom", "rank": 40}])
def test_contributions_take_the_way_of_the_test(without_gram_matrix, gram, estimator):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(10_000, 3)), rng.normal((0.0, 0.2, 0.0), 1.0, size=(10_000, 3))
    result = two_sample_test(x, y, estimator=estimator, n_resamples=9, alpha=0.1, rng=0, **gram)
    table = result.contributions(n_repeats=2, rng=8)
    generator, features = np.random.default_rng(8), result.context.leading.features[0]
    moved = np.vstack([x, y])
    moved[:, 0] = generator.permutation(moved[:, 0])
    given = {"kernel": features, "estimator": estimator, "n_resamples": 0, "gram": "factor", "form": result.form}
    changed = two_sample_test(moved[:10_000], moved[10_000:], **given).statistic
    moved[:, 0] = generator.permutation(np.vstack([x, y])[:, 0])
    other = two_sample_test(moved[:10_000], moved[10_000:], **given).statistic
    assert table["drop"][0] == pytest.approx(result.statistic - (changed + other) / 2.0, rel=1e-6, abs=1e-12)
    shares = result.effect(columns=True).shares
    assert max(shares, key=shares.get) == "1" and 0.9 < shares["1"] < 1.1


def test_contributions_find_exact_coordinates_anew():
    """Those of the observations are not exact for combinations of values that only exchanges make."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, 400)
    table = pd.DataFrame({"a": codes, "b": codes, "c": rng.integers(0, 2, 400)}).astype(float)
    table.loc[:199, "c"] = 1.0
    x, y = table[:200].to_numpy(), table[200:].to_numpy()
    given = {"n_resamples": 19, "rng": 0, "bandwidth": 1.0}
    dense, factor = (two_sample_test(x, y, gram=gram, **given) for gram in ("dense", "factor"))
    assert factor.route == "factor" and dense.route == "dense"
    assert np.allclose(dense.contributions(rng=1).to_numpy(), factor.contributions(rng=1).to_numpy(), rtol=1e-6)


def test_contributions_that_do_not_fit_say_so(monkeypatch):
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 2, (300, 12)).astype(float), rng.integers(0, 2, (300, 12)).astype(float)
    x[:, 1:], y[:, 1:] = x[:, :1], y[:, :1]  # two different rows, which exchanges turn into many
    x[:90], y[:120] = 0.0, 0.0
    result = two_sample_test(x, y, estimator="fkmse", gram="factor", n_resamples=19, rng=0)
    monkeypatch.setattr("shrinktest.hypotheses.witness.memory_limit", lambda given: 1e4)
    with pytest.raises(
        MemoryError, match=r"what columns contribute is found on changed .* more than max_memory=.*use "
    ):
        result.contributions(n_repeats=2)


def test_studentize_is_true_or_false():
    with pytest.raises(TypeError, match="studentize must be True or False"):
        run().witness_band(studentize="x")
