"""Designs: shapes, seeds, twins under the null hypothesis, the changes they promise, and what they refuse."""

from __future__ import annotations

import copy
import math
import pickle
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from shrinktest import independence_test, power_study, two_sample_test
from shrinktest.datasets import load_eckerle4
from shrinktest.power import designs
from shrinktest.power.designs import (
    DESIGNS,
    Blobs,
    Circle,
    Contamination,
    CorrelationChange,
    Design,
    EckerleSimulation,
    EckerleSubsample,
    FromData,
    FromFunction,
    Independent,
    Linear,
    MeanShift,
    Mixture,
    MultiplicativeNoise,
    PerturbedUniform,
    Relabelled,
    Rotated,
    ScaleChange,
    Tails,
    as_design,
)
from shrinktest.power.designs.mixture import CHANGES

TWO_SAMPLE = [name for name, kind in DESIGNS.items() if kind.test == "two-sample"]
INDEPENDENCE = [name for name, kind in DESIGNS.items() if kind.test == "independence"]

#: Values away from the defaults.
OTHERS = [
    MeanShift(dimension=2, shift=2, coordinates="all", ratio=1.5, swap=True),
    ScaleChange(dimension=np.int64(3), scale=np.float64(0.5), coordinates="one"),
    Mixture(dimension=9, change="component", amount=3, wishart_scale=3, mixture_seed=7),
    Tails(df=5),
    PerturbedUniform(dimension=2, perturbations=3, amplitude=0.5),
    Blobs(rows=3, correlation=0.5, spacing=10),
    EckerleSubsample(bandwidth="median"),
    Rotated(angle=0.3, dimension=4),
    MultiplicativeNoise(dimension=3),
    Linear(noise=0.5).null(),
    Relabelled(MeanShift()),
]
ALL = [
    kind() for kind in DESIGNS.values() if kind.test not in ("change-point", "symmetry")
] + OTHERS  # of one sample: apart


def exponential(rng, n):
    return rng.normal(1.0, 1.0, size=n), rng.exponential(size=n)


def unequal(rng, n, m=None):
    return rng.normal(size=(n, 2)), rng.normal(size=(2 * n if m is None else m, 2))


def sorted_line(rng, n):
    x = np.linspace(0.0, 1.0, n)
    return x, x


PILOTS = [
    FromData(np.arange(12.0).reshape(6, 2), np.arange(8.0).reshape(4, 2), ratio=2),
    FromData([1.0, 2.0, 3.0, 5.0], [[1.0, 0.0], [0.0, 1.0], [4.0, 4.0], [2.0, 1.0]], test="independence"),
    FromFunction(exponential),
    FromFunction(exponential, test="independence"),
]


# --- the registry -------------------------------------------------------------------------------------------


def test_registry():
    assert [
        *("mixture", "mean-shift", "scale-change", "correlation-change"),
        *("tails", "contamination", "perturbed-uniform", "blobs", "tilted-blobs", "two-modes", "corners"),
        *("sparse-shift", "spiked-covariance", "thin-cube", "bimodal", "autoregressive", "spheres"),
    ] == TWO_SAMPLE
    assert [
        *("eckerle4", "eckerle-simulation", "linear", "linear-t", "step", "quadratic", "sinusoid", "circle"),
        *("w-shape", "cross", "heteroscedastic", "multiplicative-noise", "peak", "rotated"),
        *("perturbed-dependence", "hyppo-simulation"),
    ] == INDEPENDENCE
    others = ["one-apart", "parity", "change", "skew-normal", "confounded"]
    assert [*DESIGNS][-5:] == others and len(DESIGNS) == len(TWO_SAMPLE) + len(INDEPENDENCE) + 5
    for name, kind in DESIGNS.items():
        assert kind.name == name and kind.summary and "Examples" in (kind.__doc__ or "")
        assert as_design(name) == kind() == as_design(name.upper().replace("-", "_"))


def test_as_design():
    design = MeanShift(shift=0.5)
    assert as_design(design) is design
    assert as_design(exponential) == FromFunction(exponential)
    assert as_design(exponential, "independence").test == "independence"
    with pytest.raises(ValueError, match=r"design must be one of 'mixture', .*Did you mean 'sinusoid'"):
        as_design("sinusoids")
    with pytest.raises(TypeError, match=r"not the class: write MeanShift\(\)"):
        as_design(MeanShift)
    with pytest.raises(TypeError, match="found 3"):
        as_design(3)


# --- values -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("design", ALL, ids=repr)
def test_a_design_is_a_value(design):
    assert eval(repr(design), vars(designs)) == design
    assert len({design, copy.deepcopy(design), pickle.loads(pickle.dumps(design))}) == 1
    with pytest.raises(FrozenInstanceError):
        design.dimension = 3


def test_repr_is_one_for_equal_designs():
    assert repr(MeanShift(shift=2)) == repr(MeanShift(shift=np.float64(2.0))) == "MeanShift(shift=2.0)"
    assert repr(MeanShift(dimension=2, ratio=2)) == "MeanShift(dimension=2, ratio=2.0)"
    assert repr(Linear()) == "Linear()"


def test_pilot_data_and_functions_are_values_too():
    x, y = np.arange(6.0), np.arange(4.0)
    first, same, other = FromData(x, y), FromData(list(x), pd.Series(y)), FromData(x, y + 1)
    assert first == same and hash(first) == hash(same) and repr(first) == repr(same)
    assert first != other and repr(first) != repr(other)
    assert repr(first).startswith("FromData(<X 6 x 1, Y 4 x 1, sha256 ")
    assert FromFunction(exponential) == FromFunction(exponential) != FromFunction(unequal)
    for design in PILOTS:
        assert pickle.loads(pickle.dumps(design)) == design
    x[0] = 99.0
    assert first == same
    with pytest.raises(ValueError, match="read-only"):
        first.X[0] = 1.0


# --- samples ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("design", ALL + PILOTS, ids=repr)
@pytest.mark.parametrize("null", [False, True], ids=["alternative", "null"])
def test_samples(design, null):
    twin = design.null() if null else design
    assert isinstance(twin, Design) and twin.test == design.test and twin.options() == design.options()
    n = max(twin.smallest(), 9)
    data = twin.sample(np.random.default_rng(5), n)
    assert isinstance(data, tuple)
    assert all(z.dtype == np.float64 and z.ndim == 2 and np.isfinite(z).all() for z in data)
    first, *middle, last = data
    assert all(len(z) == n for z in (first, *middle))
    if twin.test in ("two-sample", "k-sample"):
        assert {z.shape[1] for z in data} == {getattr(design, "dimension", first.shape[1])}
        assert len(last) == math.floor(n * twin.ratio + 0.5)
    else:
        assert len(last) == n
    assert len(data) == 2 or twin.test in ("k-sample", "joint-independence", "conditional-independence")
    again = twin.sample(np.random.default_rng(5), n)
    assert all(np.array_equal(a, b) for a, b in zip(data, again, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(data, twin.sample(6, n), strict=True))
    small = twin.sample(0, twin.smallest())
    assert len(small[0]) == twin.smallest() and len(small[-1]) >= 2


@pytest.mark.parametrize("name", TWO_SAMPLE)
def test_sizes_of_two_samples(name):
    design = replace(as_design(name), ratio=0.5)
    assert [len(design.sample(0, n)[1]) for n in (2, 3, 5, 7, 10)] == [2, 2, 3, 4, 5]  # halves round up, at least 2
    x, y = design.sample(0, 4, m=11)
    assert (len(x), len(y)) == (4, 11)
    swapped = replace(design, swap=True)
    x, y = swapped.sample(0, 10)
    assert (len(x), len(y)) == (10, 5)


def test_swap_exchanges_the_roles():
    for design in (MeanShift(dimension=1, shift=9.0), Mixture(mixture_seed=1, change="covariance")):
        x, y = design.sample(3, 20, 30)
        assert all(map(np.array_equal, replace(design, swap=True).sample(3, 30, 20), (y, x)))
    x, y = MeanShift(dimension=1, shift=9.0, swap=True).sample(0, 50)
    assert x.mean() > 8 and abs(y.mean()) < 1


@pytest.mark.parametrize("name", INDEPENDENCE)
def test_pairs_have_one_size(name):
    design = as_design(name)
    assert [len(z) for z in design.sample(0, 8, m=8)] == [8, 8]
    with pytest.raises(ValueError, match=r"draws pairs, as many y as x: leave out m \(got n=8, m=9\)"):
        design.sample(0, 8, m=9)


@pytest.mark.parametrize("design", ALL + PILOTS, ids=repr)
def test_sizes_that_cannot_be(design):
    with pytest.raises(ValueError, match=rf"needs n >= {design.smallest()}, got"):
        design.sample(0, design.smallest() - 1)
    with pytest.raises(ValueError, match="n must be an integer >= 0, got -1"):
        design.sample(0, -1)
    with pytest.raises(TypeError, match="n must be an integer"):
        design.sample(0, 10.0)
    if design.test == "two-sample":
        with pytest.raises(ValueError, match="needs m >= 2, got 1"):
            design.sample(0, 10, m=1)


# --- null twins ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TWO_SAMPLE)
def test_two_sample_twins_have_no_change(name):
    design = replace(as_design(name), ratio=2.0)
    twin = design.null()
    assert twin != design and type(twin) is type(design) and twin.ratio == 2.0
    assert twin.null() is twin
    assert replace(twin, **{key: getattr(design, key) for key in twin.neutral}) == design


@pytest.mark.parametrize("name", INDEPENDENCE)
def test_independence_twins_keep_the_margins(name):
    design = as_design(name)
    twin = design.null()
    assert twin == Independent(design) and twin.null() is twin
    n = 11 if name == "eckerle4" else 20
    rng = np.random.default_rng(2)
    first, second = design.sample(rng, n), design.sample(rng, n)
    x, y = twin.sample(2, n)
    assert np.array_equal(x, first[0]) and np.array_equal(y, second[1])


@pytest.mark.parametrize(
    "design",
    [
        Mixture(dimension=3),
        Mixture(dimension=3, change="means", mixture_seed=4),
        ScaleChange(dimension=3, ratio=2.0, swap=True),
        Tails(dimension=2),
        Contamination(dimension=2),
        PerturbedUniform(),
        Blobs(),
        EckerleSubsample(),
        Linear(),
        Circle(noise=0.0),
        MultiplicativeNoise(),
        Rotated(dimension=2),
        FromData([0.1, 0.2, 0.9, 1.4, 2.2], [5.3, 5.1, 6.0]),
        FromData([0.1, 0.2, 0.9, 1.4, 2.2], [0.3, 0.5, 1.0, 1.3, 2.5], test="independence"),
        FromFunction(exponential),
        FromFunction(sorted_line, test="independence"),
    ],
    ids=repr,
)
@pytest.mark.filterwarnings("ignore:more than half of the distances")
def test_level_of_null_twins(design):
    test = two_sample_test if design.test == "two-sample" else independence_test
    twin, trials = design.null(), 200
    n = 8 if design.test == "two-sample" else 11
    keywords = {"n_resamples": 19, "workers": 1, **twin.options()}
    draws = (twin.sample(np.random.SeedSequence([0, t]), n) for t in range(trials))
    rejections = sum(test(x, y, rng=t, **keywords).pvalue <= 0.05 for t, (x, y) in enumerate(draws))
    low, high = stats.binom.ppf([1e-5, 1 - 1e-5], trials, 0.05)
    assert rejections <= high
    if design.name != "pilot data":  # ties make the test conservative
        assert rejections >= low


# --- what each design promises ------------------------------------------------------------------------------

MANY = 20_000


def test_mean_shift():
    x, y = MeanShift(dimension=3, shift=0.5).sample(0, MANY)
    assert np.allclose(y.mean(axis=0) - x.mean(axis=0), [0.5, 0.0, 0.0], atol=0.05)
    _, y = MeanShift(dimension=3, shift=0.5, coordinates="all").sample(0, MANY)
    assert np.allclose(y.mean(axis=0), 0.5, atol=0.05) and np.allclose(np.cov(y.T), np.eye(3), atol=0.05)


def test_scale_change():
    _, y = ScaleChange(dimension=2, scale=3.0, coordinates="one").sample(0, MANY)
    assert np.allclose(y.std(axis=0), [3.0, 1.0], rtol=0.03)
    _, y = ScaleChange(dimension=2, scale=0.5).sample(0, MANY)
    assert np.allclose(y.std(axis=0), 0.5, rtol=0.03)


def test_correlation_change_keeps_the_margins():
    x, y = CorrelationChange(dimension=4, correlation=0.3).sample(0, MANY)
    assert np.allclose(np.cov(x.T), np.eye(4), atol=0.05)
    assert np.allclose(np.cov(y.T), 0.7 * np.eye(4) + 0.3, atol=0.05)


def test_tails_match_the_variance():
    x, y = Tails(dimension=3, df=8.0).sample(0, MANY)
    assert np.allclose(np.cov(y.T), np.eye(3), atol=0.06)
    radius = np.square(y).sum(axis=1)
    assert stats.kstest(radius * 8.0 / 6.0 / 3.0, stats.f(3, 8).cdf).pvalue > 0.001  # the multivariate t
    assert stats.kstest(x[:, 0], "norm").pvalue > 0.001


def test_contamination():
    _, y = Contamination(dimension=2, fraction=0.25, shift=20.0, scale=2.0).sample(0, MANY)
    away = y[:, 0] > 10
    assert away.mean() == pytest.approx(0.25, abs=0.02)
    assert np.array_equal(away, y[:, 1] > 10)  # whole points, not single numbers
    assert np.allclose(y[away].mean(axis=0), 20, atol=0.2) and np.allclose(y[away].std(axis=0), 2, rtol=0.05)
    assert np.allclose(y[~away].std(axis=0), 1, rtol=0.03)


def test_perturbed_uniform_density():
    design = PerturbedUniform(perturbations=2, amplitude=0.8)
    u = np.linspace(0.0, 1.0, 200_001)[:-1, None]

    def bump(t):  # the G of the source
        with np.errstate(divide="ignore", over="ignore"):
            first = np.where((t > -1) & (t < -0.5), np.exp(-1 / np.maximum(1 - (4 * t + 3) ** 2, 1e-12)), 0.0)
            second = np.where((t > -0.5) & (t < 0), np.exp(-1 / np.maximum(1 - (4 * t + 1) ** 2, 1e-12)), 0.0)
        return first - second

    signs = np.array([1.0, -1.0])
    expected = 1 + 0.8 * math.e * (bump(2 * u[:, 0] - 1) - bump(2 * u[:, 0] - 2))
    density = design._density(u, signs)
    assert np.allclose(density, expected, atol=1e-12)
    assert density.mean() == pytest.approx(1.0, abs=1e-9)
    assert density.min() == pytest.approx(0.2, abs=1e-6) and density.max() == pytest.approx(1.8, abs=1e-6)
    x, y = PerturbedUniform(amplitude=1.0).sample(3, MANY)
    assert stats.kstest(x[:, 0], "uniform").pvalue > 0.001
    halves = np.histogram(y, bins=2, range=(0, 1))[0] / MANY
    mass = 0.5 * math.e * np.exp(-1 / (1 - np.linspace(-1, 1, 10_001)[1:-1] ** 2)).sum() / 10_000
    assert sorted(halves) == pytest.approx([0.5 - mass, 0.5 + mass], abs=0.015)


def test_blobs():
    x, y = Blobs(rows=2, correlation=0.8, spacing=50.0).sample(0, MANY)
    for z, correlation in ((x, 0.0), (y, 0.8)):
        centres = 50.0 * np.round(z / 50.0)
        assert np.array_equal(np.unique(centres, axis=0), [[0, 0], [0, 50], [50, 0], [50, 50]])
        assert np.allclose(np.cov((z - centres).T), [[1, correlation], [correlation, 1]], atol=0.05)


def test_mixture_is_that_of_the_papers():
    x, y = Mixture(dimension=3, mixture_seed=11, change="mixture", amount=1.0).sample(0, MANY)
    rng = np.random.default_rng(11)
    means, factors = rng.uniform(-10, 10, size=(4, 3)), math.sqrt(2.0) * rng.standard_normal((4, 3, 7))
    weights = np.array([0.05, 0.3, 0.4, 0.25])
    covariances = factors @ factors.transpose(0, 2, 1) + 0.2 * np.eye(3)
    mean = weights @ means
    spread = np.einsum("k,kij->ij", weights, covariances + np.einsum("ki,kj->kij", means - mean, means - mean))
    assert np.allclose(x.mean(axis=0), mean, atol=0.2)
    assert np.allclose(np.cov(x.T), spread, atol=0.04 * np.abs(spread).max())
    assert not np.allclose(y.mean(axis=0), mean, atol=0.5)


def test_what_changes_between_mixtures():
    samples = {}
    for change in CHANGES:
        design = Mixture(dimension=2, change=change, amount=0.5, mixture_seed=3)
        x, samples[change] = design.sample(1, MANY)
        null_x, null_y = design.null().sample(1, MANY)
        assert np.array_equal(x, null_x)
        assert stats.ks_2samp(null_x[:, 0], null_y[:, 0]).pvalue > 0.001
    rng = np.random.default_rng(3)
    means = rng.uniform(-10, 10, size=(4, 2))
    weights = np.array([0.05, 0.3, 0.4, 0.25])
    reweighted = 0.5 * (weights + weights[::-1])
    assert np.allclose(samples["weights"].mean(axis=0), reweighted @ means, atol=0.25)
    same_mean, wider = weights @ means, {}
    for change in ("covariance", "spread"):
        assert np.allclose(samples[change].mean(axis=0), same_mean, atol=0.35)
        wider[change] = np.cov(samples[change].T).trace()
    between = (weights[:, None] * np.square(means - same_mean)).sum()
    within = np.cov(null_x.T).trace() - between
    assert wider["covariance"] == pytest.approx(between + 1.5 * within, rel=0.05)
    assert wider["spread"] == pytest.approx(2.25 * between + within, rel=0.05)
    moved = samples["component"].mean(axis=0) - same_mean
    assert np.linalg.norm(moved) < 0.5 * 0.4 + 0.35


def test_mixtures_are_drawn_anew_unless_fixed():
    first, second = (Mixture(dimension=2).sample(t, 500)[0].mean(axis=0) for t in (0, 1))
    assert np.abs(first - second).max() > 1.0
    first, second = (Mixture(dimension=2, mixture_seed=0).sample(t, 5000)[0].mean(axis=0) for t in (0, 1))
    assert np.allclose(first, second, atol=0.5)


def test_eckerle_sizes_and_bandwidths():
    design = EckerleSubsample()
    assert [design.size(f) for f in (0.1, 0.15, 0.2, 0.25, 0.3, 1.0)] == [4, 5, 7, 9, 11, 35]
    assert design.options()["bandwidth_x"] == pytest.approx(24.0)
    assert design.options()["bandwidth_y"] ** 2 == pytest.approx(0.002951, rel=2e-4)
    assert EckerleSubsample(bandwidth="median").options() == {}
    for fraction in (0.01, 1.1):
        with pytest.raises(ValueError, match="must give 2 to 35 of the 35 points"):
            design.size(fraction)
    with pytest.raises(ValueError, match="use n <= 35, or EckerleSimulation"):
        design.sample(0, 36)
    with pytest.raises(ValueError, match="use n <= 35"):
        design.null().sample(0, 36)


def test_eckerle_subsamples_are_rows_without_repetition():
    rows = set(zip(*load_eckerle4(), strict=True))
    x, y = EckerleSubsample().sample(0, 35)
    assert set(zip(x[:, 0], y[:, 0], strict=True)) == rows
    assert not np.array_equal(np.sort(x[:, 0]), x[:, 0])  # in random order, as exchangeability asks
    x, y = EckerleSubsample().null().sample(0, 35)
    assert set(x[:, 0]) == {row[0] for row in rows} and len(set(zip(x[:, 0], y[:, 0], strict=True)) & rows) < 20


def test_eckerle_simulation_has_any_size():
    x, y = EckerleSimulation(noise=0.0).sample(0, 500)
    assert len(x) == 500 and y.max() == pytest.approx(0.38, abs=0.01)


@pytest.mark.parametrize("name", ["circle", "cross", "multiplicative-noise", "rotated", "heteroscedastic"])
def test_uncorrelated_but_dependent(name):
    x, y = as_design(name).sample(0, MANY)
    assert abs(np.corrcoef(x[:, 0], y[:, 0])[0, 1]) < 0.03
    assert max(abs(np.corrcoef(f(x[:, 0]), np.square(y[:, 0]))[0, 1]) for f in (np.square, np.asarray)) > 0.1


def test_rotated_sources_are_independent_at_angle_zero():
    x, y = Rotated(angle=0.0).sample(0, MANY)
    assert abs(np.corrcoef(np.square(x[:, 0]), np.square(y[:, 0]))[0, 1]) < 0.03
    x, y = Rotated(dimension=5).sample(0, MANY)
    assert np.allclose(np.cov(np.hstack([x, y]).T), np.eye(10), atol=0.05)


# --- pilot data and functions -------------------------------------------------------------------------------


def test_pilot_rows_are_resampled():
    pilot_x, pilot_y = np.arange(8.0).reshape(4, 2), 100 + np.arange(6.0).reshape(3, 2)
    design = FromData(pilot_x, pilot_y)
    x, y = design.sample(0, 50)
    assert {tuple(row) for row in x} == {tuple(row) for row in pilot_x}
    assert {tuple(row) for row in y} == {tuple(row) for row in pilot_y}
    for z in design.null().sample(0, 200):
        assert {tuple(row) for row in z} == {tuple(row) for row in np.vstack([pilot_x, pilot_y])}
    twin = design.null()
    assert twin.null() is twin


def test_pilot_pairs_stay_together_except_under_the_null():
    pilot_x = np.arange(10.0)
    design = FromData(pilot_x, pilot_x**2, test="independence")
    x, y = design.sample(0, 40)
    assert np.array_equal(y, x**2) and design.test == "independence"
    x, y = design.null().sample(0, 40)
    assert not np.array_equal(y, x**2) and set(y[:, 0]) <= set(pilot_x**2)


def test_pilot_draws_always_vary():
    design = FromData([0.0, 1.0], [0.0, 1.0], test="independence")
    for t in range(40):
        for z in design.sample(t, 2) + design.null().sample(t, 2):
            assert z[0] != z[1]


def test_pilot_tables():
    x = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [10.0, 20.0, 30.0]})
    y = pd.DataFrame({"b": [11.0, 21.0], "a": [1.5, 2.5]})
    sd = pd.concat([x, y]).std(ddof=0).to_numpy()  # tables are in units of their columns, whatever the order of these
    np.testing.assert_allclose(FromData(x, y).Y * sd, [[1.5, 11.0], [2.5, 21.0]])
    mixed = FromData(x.assign(c=["u", "v", "u"]), y.assign(c=["v", "w"]))
    assert mixed.X.shape == (3, 5) and mixed.sample(0, 4)[1].shape == (4, 5)


def test_functions_may_draw_tables():
    def draw(rng, n):
        x, y = (pd.DataFrame({"u": rng.normal(size=n), "c": rng.choice(["a", "b"], n)}) for _ in range(2))
        return x, y.assign(u=y["u"] + 2.0, c=None)

    design = FromFunction(draw)
    first, second = design.null().sample(0, 8)
    assert list(first) == ["u", "c"] and first["c"].isna().sum() + second["c"].isna().sum() == 8
    study = power_study(
        design, ["kme"], 12, n_trials=20, n_resamples=39, test_options={"nan_policy": "indicator"}, workers=1, rng=0
    )
    assert study.table["power"].item() > 0.8 > 0.4 > study.size_table["level"].item()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.0, 1.0], [1.0, 1.0]), "all rows of X and Y together are equal"),
        (([1.0, 2.0], [1.0, 1.0], "independence"), "all rows of Y are equal"),
        (([1.0, np.nan], [1.0, 1.0]), "missing value"),
        (([1.0, 2.0], [1.0, 2.0, 3.0], "independence"), "must be the same observation"),
        (([1.0, 2.0], [1.0, 2.0], "mmd"), "test must be one of 'two-sample', 'independence'"),
    ],
)
def test_pilot_data_that_cannot_be(arguments, message):
    with pytest.raises(ValueError, match=message):
        FromData(*arguments)


def test_ratio_is_for_two_samples():
    with pytest.raises(ValueError, match="pairs have as many y as x"):
        FromData([1.0, 2.0], [1.0, 2.0], test="independence", ratio=2)
    with pytest.raises(ValueError, match="pairs have as many y as x"):
        FromFunction(exponential, test="independence", ratio=2)


def test_functions():
    x, y = FromFunction(unequal).sample(0, 5)
    assert (x.shape, y.shape) == ((5, 2), (10, 2))  # the function decides
    x, y = FromFunction(unequal, ratio=3.0).sample(0, 5)
    assert (x.shape, y.shape) == ((5, 2), (15, 2))
    x, y = FromFunction(unequal).sample(0, 5, m=7)
    assert (x.shape, y.shape) == ((5, 2), (7, 2))
    twin = FromFunction(unequal, ratio=3.0).null()
    assert twin.ratio == 3.0 and [len(z) for z in twin.sample(0, 5)] == [5, 15]
    x, y = FromFunction(sorted_line, test="independence").null().sample(0, 20)
    assert np.array_equal(np.sort(y[:, 0]), x[:, 0]) and not np.array_equal(y, x)


def test_functions_with_a_ratio_are_always_told_both_sizes():
    design = FromFunction(lambda rng, n, m: (rng.normal(size=n), rng.normal(size=m)), ratio=1.01)
    assert [[len(z) for z in design.sample(0, n)] for n in (20, 100)] == [[20, 20], [100, 101]]


def test_relabelling_pools_and_splits():
    design = FromFunction(exponential)
    pooled, relabelled = (np.vstack(d.sample(4, 30)) for d in (design, design.null()))
    assert np.array_equal(np.sort(pooled, axis=0), np.sort(relabelled, axis=0))
    assert not np.array_equal(pooled, relabelled)


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (lambda rng, n: rng.normal(size=n), TypeError, r"must return a pair \(X, Y\); found ndarray"),
        (lambda rng, n: (rng.normal(size=8), rng.normal(size=n)), ValueError, "must return 6 rows in X .* found 8"),
        (lambda rng, n: (rng.normal(size=n), rng.normal(size=(n, 2))), ValueError, "same variables"),
    ],
)
def test_functions_that_return_something_else(function, error, message):
    with pytest.raises(error, match=message):
        FromFunction(function).sample(0, 6)


def test_wrappers_take_designs():
    with pytest.raises(TypeError, match="function must be callable"):
        FromFunction(3)
    with pytest.raises(TypeError, match="must be an independence design"):
        Independent(MeanShift())
    with pytest.raises(TypeError, match="design must be a design"):
        Relabelled("mean-shift")


# --- parameters that cannot be ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "parameters", "error", "message"),
    [
        (MeanShift, {"dimension": 0}, ValueError, "dimension must be an integer >= 1, got 0"),
        (MeanShift, {"dimension": 2.5}, TypeError, "dimension must be an integer"),
        (MeanShift, {"shift": -1.0}, ValueError, "shift must be a finite number >= 0"),
        (MeanShift, {"coordinates": "al"}, ValueError, "Did you mean 'all'"),
        (MeanShift, {"ratio": 0.0}, ValueError, "ratio must be a finite number > 0"),
        (MeanShift, {"swap": 1}, TypeError, "swap must be True or False, got 1"),
        (ScaleChange, {"scale": 0.0}, ValueError, "scale must be a finite number > 0"),
        (CorrelationChange, {"correlation": 1.0}, ValueError, r"correlation must be a number from 0 to 1 \(excluded\)"),
        (CorrelationChange, {"dimension": 1}, ValueError, "dimension must be an integer >= 2"),
        (Tails, {"df": 2.0}, ValueError, "df must exceed 2"),
        (Contamination, {"fraction": 1.5}, ValueError, "fraction must be a number from 0 to 1, got 1.5"),
        (PerturbedUniform, {"perturbations": 10, "dimension": 7}, ValueError, "lower one of the two"),
        (Mixture, {"change": "mean"}, ValueError, "Did you mean 'means'"),
        (
            Mixture,
            {"change": "weights", "amount": 1.1},
            ValueError,
            "amount of change='weights' must be a number from 0",
        ),
        (Mixture, {"mixture_seed": -1}, ValueError, "mixture_seed must be an integer >= 0"),
        (EckerleSubsample, {"bandwidth": "fixed"}, ValueError, "bandwidth must be one of 'all', 'median'"),
        (Linear, {"noise": "much"}, TypeError, "noise must be a number"),
        (Rotated, {"angle": 1.0}, ValueError, "angle must be a number from 0 to 0.785398, got 1.0"),
    ],
)
def test_parameters_that_cannot_be(kind, parameters, error, message):
    with pytest.raises(error, match=message):
        kind(**parameters)
