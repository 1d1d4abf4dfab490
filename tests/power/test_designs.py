"""Designs: values, sizes and seeds, null twins, and the distributions that they promise."""

from __future__ import annotations

import copy
import math
import pickle
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from shrinktest import independence_test, power_study, two_sample_test
from shrinktest.datasets import load_eckerle4
from shrinktest.power import designs as d
from shrinktest.power.designs import DESIGNS, Design, FromData, FromFunction, Independent, Relabelled, as_design
from shrinktest.power.designs.independence import SIMULATIONS
from shrinktest.power.designs.literature import CHANGES

MANY = 20_000
TWO_SAMPLE = [kind for kind in DESIGNS.values() if kind.test == "two-sample"]
PAIRS = [kind for kind in DESIGNS.values() if kind.test == "independence"]


def exponential(rng, n):
    return rng.normal(1.0, 1.0, size=n), rng.exponential(size=n)


def unequal(rng, n, m=None):
    return rng.normal(size=(n, 2)), rng.normal(size=(2 * n if m is None else m, 2))


def paired(n, m):
    return {"paired": True}


#: Small ones in as many variables as matter, and values away from the defaults.
SMALL = [
    *(d.Corners(dimension=3), d.TiltedBlobs(), d.TwoModes(dimension=3), d.SparseShift(dimension=6)),
    *(d.SpikedCovariance(dimension=6), d.ThinCube(dimension=6, thin=3), d.Bimodal(dimension=6)),
    *(d.Autoregressive(dimension=6), d.Spheres(dimension=6), d.MeanShift(dimension=2), d.ScaleChange(dimension=2)),
    *(d.CorrelationChange(dimension=3), d.Contamination(dimension=2), d.PerturbedUniform(), d.Tails(dimension=2)),
]
OTHERS = [
    d.MeanShift(dimension=2, shift=2, coordinates="all", ratio=1.5, swap=True),
    d.ScaleChange(dimension=np.int64(3), scale=np.float64(0.5), coordinates="one"),
    d.Mixture(dimension=9, change="means", amount=3, wishart_scale=3, mixture_seed=7),
    d.PerturbedUniform(dimension=2, perturbations=3, amplitude=0.5),
    d.EckerleSubsample(bandwidth="median"),
    d.HyppoSimulation("square", 0.5, 3),
    d.Linear(noise=0.5).null(),
    Relabelled(d.MeanShift()),
    d.Changed(d.ScaleChange(scale=2.0), at=0.3, until=0.6),
]
DATA = [
    FromData(np.arange(12.0).reshape(6, 2), np.arange(8.0).reshape(4, 2), ratio=2),
    FromData([1.0, 2.0, 3.0, 5.0], [[1.0, 0.0], [0.0, 1.0], [4.0, 4.0], [2.0, 1.0]], test="independence"),
    FromFunction(exponential),
    FromFunction(exponential, test="independence"),
]


def smallest_p(first, second):
    """The smallest p-value of Kolmogorov and Smirnov over columns."""
    return min(stats.ks_2samp(a, b).pvalue for a, b in zip(first.T, second.T, strict=True))


# --- what all designs have in common --------------------------------------------------------------------------


def test_registry_and_names():
    assert len(DESIGNS) == 38 and [*DESIGNS][-5:] == ["one-apart", "parity", "change", "skew-normal", "confounded"]
    for name, kind in DESIGNS.items():
        assert kind.name == name and kind.summary and as_design(name) == kind() == as_design(name.upper())
    assert as_design("mean_shift") == d.MeanShift() and d.MeanShift.summary == "Gaussians with different means"
    assert repr(d.MeanShift(shift=2)) == repr(d.MeanShift(shift=np.float64(2.0))) == "MeanShift(shift=2.0)"
    assert repr(FromFunction(exponential, restriction=paired)) == (
        "FromFunction(exponential, test='two-sample', restriction=paired)"
    )


def test_designs_are_values_with_seeds_and_sizes():
    for design in [*(kind() for kind in DESIGNS.values()), *SMALL, *OTHERS, *DATA]:
        copies = {design, copy.deepcopy(design), pickle.loads(pickle.dumps(design))}
        assert len(copies) == 1
        if not isinstance(design, FromData | FromFunction):
            assert eval(repr(design), vars(d)) == design and design.identity() == repr(design)
        for twin in (design, design.null()):
            assert isinstance(twin, Design) and twin.test == design.test and twin.options() == design.options()
            assert twin == design or twin.null() is twin
            n = max(twin.smallest(), 9)
            data = twin.sample(np.random.default_rng(5), n)
            assert all(z.dtype == np.float64 and z.ndim == 2 and np.isfinite(z).all() for z in data)
            rows = [len(z) for z in data]
            last = math.floor(n * twin.ratio + 0.5) if twin.test in ("two-sample", "k-sample") else n
            assert rows == [n] * (len(rows) - 1) + [last]
            assert all(map(np.array_equal, data, twin.sample(np.random.default_rng(5), n)))
            assert not all(map(np.array_equal, data, twin.sample(6, n)))
            assert len(twin.sample(0, twin.smallest())[0]) == twin.smallest()
        with pytest.raises(ValueError, match="needs n >= "):
            design.sample(0, design.smallest() - 1)


def test_sizes_of_samples_and_the_changed_sample():
    for kind in TWO_SAMPLE:
        design = replace(kind(), ratio=0.5)
        assert [len(design.sample(0, n)[1]) for n in (2, 3, 5, 7)] == [2, 2, 3, 4]  # halves round up, at least 2
        x, y = kind().sample(3, 5, 11)
        assert all(map(np.array_equal, kind(swap=True).sample(3, 11, 5), (y, x)))
        assert x.shape[1] == y.shape[1] == getattr(design, "dimension", 2)


@pytest.mark.parametrize("design", SMALL, ids=repr)
def test_samples_of_a_null_twin_have_one_law_and_others_do_not(design):
    """Looking at coordinates, lengths, products of neighbours, and products of what rounding leaves."""

    def smallest(twin):
        features = []
        for z in twin.sample(11, MANY):
            rest = z - z.round()
            more = [z[:, :-1] * z[:, 1:], rest[:, 0] * rest[:, min(1, z.shape[1] - 1)]]
            features.append(np.column_stack([z, np.square(z).sum(axis=1), *more]))
        return smallest_p(*features)

    twin = design.null()
    assert type(twin) is type(design) and smallest(twin) > 1e-4 and smallest(design) < 1e-6


def test_null_twins_of_variables_are_independent_with_the_same_margins():
    for design in [kind() for kind in PAIRS if kind is not d.EckerleSubsample] + [*map(d.HyppoSimulation, SIMULATIONS)]:
        twin = design.null()
        assert twin == Independent(design)
        pairs, (x, y) = design.sample(1, 2000), twin.sample(2, 2000)
        assert min(smallest_p(a[:, :1], b[:, :1]) for a, b in zip(pairs, (x, y), strict=True)) > 1e-5
        assert min(stats.spearmanr(f(x[:, 0]), f(y[:, 0])).pvalue for f in (np.asarray, np.square, np.sin)) > 1e-5


@pytest.mark.filterwarnings("ignore:more than half of the distances")
def test_level_of_null_twins():
    pilots = (
        FromData([0.1, 0.2, 0.9, 1.4, 2.2], [5.3, 5.1, 6.0]),
        FromData([0.1, 0.2, 0.9], [0.3, 0.5, 1], "independence"),
    )
    for design in (d.Mixture(dimension=3), d.EckerleSubsample(), FromFunction(exponential), *pilots):
        test = two_sample_test if design.test == "two-sample" else independence_test
        twin, trials = design.null(), 150
        draws = (twin.sample(np.random.SeedSequence([0, t]), 9) for t in range(trials))
        rejected = sum(
            test(x, y, rng=t, n_resamples=19, workers=1, **twin.options()).pvalue <= 0.05
            for t, (x, y) in enumerate(draws)
        )
        low, high = stats.binom.ppf([1e-5, 1 - 1e-5], trials, 0.05)
        assert (low if design not in pilots else 0) <= rejected <= high  # ties make tests conservative


# --- two samples ----------------------------------------------------------------------------------------------

EYE = np.eye(3)


def spiked(size):
    block = np.eye(3)
    block[:size, :size] = 3.0
    return block


@pytest.mark.parametrize(
    ("design", "mean", "covariance"),
    [
        (d.MeanShift(dimension=3, shift=0.5), [0.5, 0, 0], EYE),
        (d.MeanShift(dimension=3, shift=0.5, coordinates="all"), [0.5] * 3, EYE),
        (d.ScaleChange(dimension=3, scale=2.0, coordinates="one"), [0] * 3, np.diag([4.0, 1, 1])),
        (d.ScaleChange(dimension=3, scale=0.5), [0] * 3, 0.25 * EYE),
        (d.CorrelationChange(dimension=3, correlation=0.3), [0] * 3, 0.7 * EYE + 0.3),
        (d.Tails(dimension=3, df=8.0), [0] * 3, EYE),
        (d.SparseShift(dimension=3), [1, 1, 0], EYE),
        (d.SpikedCovariance(dimension=3, block=2), [0] * 3, spiked(2)),
        (d.Bimodal(dimension=3), [0] * 3, np.diag([17.0, 1, 1])),
        (d.Autoregressive(dimension=3), [0] * 3, 0.8 ** np.abs(np.subtract.outer(range(3), range(3)))),
        (d.TwoModes(dimension=3, distance=2.0), [1] * 3, EYE + 1.0),
        (d.Contamination(dimension=3, fraction=0.25, shift=2.0), [0.5] * 3, EYE + 0.75),
    ],
    ids=repr,
)
def test_moments_of_the_changed_sample(design, mean, covariance):
    x, y = design.sample(0, MANY)
    assert np.allclose(y.mean(axis=0), mean, atol=0.1) and np.allclose(np.cov(y.T), covariance, atol=0.12, rtol=0.04)
    swapped = replace(design, swap=True).sample(0, 500)
    assert np.allclose(swapped[0].mean(axis=0), mean, atol=0.6) and len(x) == MANY


def test_published_settings():
    for design, settings in (
        (d.Corners(), (2, 1.6, 20.0)),
        (d.TiltedBlobs(), (1.0,)),
        (d.TwoModes(), (10, 0.5, 0.5)),
        (d.SparseShift(), (500, 1.0, 2)),
        (d.SpikedCovariance(), (500, 5, 3.0)),
        (d.ThinCube(), (500, 30, 0.1)),
        (d.Bimodal(), (1000, 4.0)),
        (d.Autoregressive(), (50, 0.5, 0.3)),
        (d.Spheres(), (30, 0.02, 0.015)),
        (d.PerturbedDependence(), (1, 2, 1.0)),
        (d.HyppoSimulation(), ("linear", 1.0, 1)),
    ):
        assert tuple(vars(design)[name] for name in type(design).__annotations__ if name in vars(design)) == settings


def bump(t):
    """G of [S23], as written there."""
    if -1 < t < -0.5:
        return math.exp(-1 / (1 - (4 * t + 3) ** 2))
    return -math.exp(-1 / (1 - (4 * t + 1) ** 2)) if -0.5 < t < 0 else 0.0


@pytest.mark.parametrize(("dimension", "c", "perturbations"), [(1, 2.7, 4), (2, 7.3, 2)])
def test_density_of_perturbed_uniforms_with_the_published_constants(dimension, c, perturbations):
    design = d.PerturbedUniform(dimension, perturbations, amplitude=c / (perturbations * math.exp(dimension)))
    signs = np.random.default_rng(0).choice((-1.0, 1.0), size=(perturbations,) * dimension)
    for u in np.random.default_rng(1).random((50, dimension)):
        expected = 1.0 + c / perturbations * sum(
            theta * math.prod(bump(perturbations * u[r] - cell[r] - 1) for r in range(dimension))
            for cell, theta in np.ndenumerate(signs)
        )
        assert design._density(u[None], signs)[0] == pytest.approx(expected, abs=1e-12)
    side = (np.arange(400) + 0.5) / 400
    grid = np.stack(np.meshgrid(*[side] * dimension), axis=-1).reshape(-1, dimension)
    density = design._density(grid, signs)
    assert density.mean() == pytest.approx(1.0, abs=1e-9) and density.min() >= 0.0


def test_perturbed_samples_have_their_density():
    mass = 0.25 * math.e * np.mean(np.exp(-1.0 / (1.0 - (2.0 * (np.arange(2000) + 0.5) / 2000 - 1.0) ** 2)))
    x, y = d.PerturbedUniform(amplitude=1.0).sample(3, MANY)
    assert stats.kstest(x[:, 0], "uniform").pvalue > 1e-3
    assert abs(np.mean(y < 0.5) - 0.5) == pytest.approx(2 * mass, abs=0.015)
    x, y = d.PerturbedDependence(perturbations=1).sample(0, MANY)
    assert abs(np.mean((x < 0.5) == (y < 0.5)) - 0.5) == pytest.approx(8.0 * mass**2, abs=0.015)
    assert min(stats.kstest(z[:, 0], "uniform").pvalue for z in (x, y)) > 1e-4


def test_grids_and_modes():
    x, y = d.Blobs(rows=2, correlation=0.8, spacing=50.0).sample(0, MANY)
    for z, correlation in ((x, 0.0), (y, 0.8)):
        centres = 50.0 * np.round(z / 50.0)
        assert np.array_equal(np.unique(centres, axis=0), [[0, 0], [0, 50], [50, 0], [50, 50]])
        assert np.allclose(np.cov((z - centres).T), [[1, correlation], [correlation, 1]], atol=0.05)
    for z, scale in zip(d.Corners(dimension=3).sample(0, MANY), (1.0, 1.6), strict=True):
        corner = np.sign(z[:, :2])
        changed, within = (corner < 0).all(axis=1), z - np.column_stack([20.0 * corner, np.zeros(MANY)])
        assert abs(changed.mean() - 0.25) < 0.02
        assert np.allclose(np.cov(within[changed].T), scale**2 * EYE, atol=0.15)
        assert np.allclose(np.cov(within[~changed].T), EYE, atol=0.05)
    for z, correlation in zip(d.TwoModes(dimension=3, distance=40.0).sample(0, MANY), (0.0, 0.5), strict=True):
        upper = z.mean(axis=1) > 20.0
        for mode, sign in ((z[~upper], 1.0), (z[upper], -1.0)):
            assert np.allclose(np.cov(mode.T)[0], [1, sign * correlation, 0], atol=0.05)


def test_covariances_of_tilted_blobs():
    for z, tilt in zip(d.TiltedBlobs().sample(0, 5 * MANY), (0.0, 1.0), strict=True):
        centre = np.clip(z.round(), 0, 2)
        for i in range(9):
            within = (z - centre)[(centre == np.divmod(i, 3)).all(axis=1)]
            correlation = tilt * (0.0 if i == 4 else -(0.02 + 0.002 * i) if i < 4 else 0.02 + 0.002 * (i - 5)) / 0.03
            assert abs(len(within) / len(z) - 1 / 9) < 0.005 and np.allclose(within.var(axis=0), 0.03, rtol=0.06)
            first, second = within[np.abs(within[:, 0]) < 0.15].T  # next to no points of neighbours
            slope = np.polyfit(first, second, 1)[0]
            assert slope == pytest.approx(correlation, abs=0.06)
            assert np.var(second - slope * first) == pytest.approx(0.03 * (1.0 - correlation**2), rel=0.08)


def test_shapes_of_other_laws():
    _, y = d.Contamination(dimension=2, fraction=0.25, shift=20.0, scale=2.0).sample(0, MANY)
    away = y[:, 0] > 10
    assert away.mean() == pytest.approx(0.25, abs=0.02) and np.array_equal(away, y[:, 1] > 10)  # whole points
    assert np.allclose(y[away].std(axis=0), 2, rtol=0.05)
    _, y = d.Tails(dimension=3, df=8.0).sample(0, MANY)
    radius = np.square(y).sum(axis=1) * 8.0 / 6.0 / 3.0  # of the multivariate t
    assert stats.kstest(radius, stats.f(3, 8).cdf).pvalue > 0.001
    _, y = d.ThinCube(dimension=4, thin=2).sample(0, MANY)
    assert stats.kstest(y[:, 1], stats.uniform(0.1, 0.8).cdf).pvalue > 1e-4 < stats.kstest(y[:, 2], "uniform").pvalue
    for z in (
        np.subtract(z, shift) for z, shift in zip(d.Spheres(dimension=3).sample(0, MANY), (0, 0.015), strict=True)
    ):
        radius = np.linalg.norm(z, axis=1)
        assert radius.std() == pytest.approx(0.02, rel=0.03) and radius.mean() == pytest.approx(1.0, abs=0.002)
        assert stats.kstest(z[:, 0] / radius, stats.uniform(-1, 2).cdf).pvalue > 1e-4  # Archimedes


def test_mixtures_are_those_of_the_papers_and_change_as_they_say():
    samples = {c: d.Mixture(dimension=2, change=c, amount=0.5, mixture_seed=3).sample(1, MANY) for c in CHANGES}
    rng = np.random.default_rng(3)
    means, factors = rng.uniform(-10, 10, size=(4, 2)), math.sqrt(2.0) * rng.standard_normal((4, 2, 7))
    weights = np.array([0.05, 0.3, 0.4, 0.25])
    covariances = factors @ factors.transpose(0, 2, 1) + 0.2 * np.eye(2)
    mean = weights @ means
    between = np.einsum("k,ki,kj->ij", weights, means - mean, means - mean)
    within = np.einsum("k,kij->ij", weights, covariances)
    x = samples["means"][0]
    assert np.allclose(x.mean(axis=0), mean, atol=0.25) and np.allclose(
        np.cov(x.T), within + between, rtol=0.06, atol=0.6
    )
    traces = {change: np.cov(y.T).trace() for change, (_, y) in samples.items()}
    assert traces["covariance"] == pytest.approx(between.trace() + 1.5 * within.trace(), rel=0.05)
    assert smallest_p(*samples["mixture"]) < 1e-6
    anew, fixed = ([d.Mixture(2, mixture_seed=s).sample(t, 5000)[0].mean(axis=0) for t in (0, 1)] for s in (None, 0))
    assert np.abs(anew[0] - anew[1]).max() > 0.7 > np.abs(fixed[0] - fixed[1]).max()


# --- variables ------------------------------------------------------------------------------------------------


def test_uncorrelated_but_dependent():
    for name in ("circle", "cross", "multiplicative-noise", "rotated", "heteroscedastic"):
        x, y = as_design(name).sample(0, MANY)
        assert abs(np.corrcoef(x[:, 0], y[:, 0])[0, 1]) < 0.03
        assert max(abs(np.corrcoef(f(x[:, 0]), np.square(y[:, 0]))[0, 1]) for f in (np.square, np.asarray)) > 0.1
    x, y = d.Rotated(angle=0.0).sample(0, MANY)
    assert abs(np.corrcoef(np.square(x[:, 0]), np.square(y[:, 0]))[0, 1]) < 0.03
    assert np.allclose(np.cov(np.hstack(d.Rotated(dimension=5).sample(0, MANY)).T), np.eye(10), atol=0.05)


def test_curves_without_noise():
    for design, curve in (
        (d.Linear(noise=0.0), lambda x: x),
        (d.Step(noise=0.0), lambda x: x > 0),
        (d.Quadratic(noise=0.0), np.square),
        (d.Sinusoid(frequency=1.0, noise=0.0), lambda x: np.sin(np.pi * x)),
        (d.WShape(noise=0.0), lambda x: 4 * (x**2 - 0.5) ** 2),
        (d.Peak(noise=0.0), lambda x: np.exp(-(x**2) / 0.02)),
    ):
        x, y = design.sample(0, n=200)
        assert np.allclose(y, curve(x))
    x, y = d.Cross(noise=0.0).sample(0, 200)
    assert np.array_equal(np.abs(x), np.abs(y)) and (x != y).any()
    assert np.abs(d.LinearT().sample(0, 1000)[1]).max() > 10


def test_eckerle():
    design, rows = d.EckerleSubsample(), set(zip(*load_eckerle4(), strict=True))
    assert [design.size(f) for f in (0.1, 0.15, 0.2, 0.25, 0.3, 1.0)] == [4, 5, 7, 9, 11, 35]
    assert design.options()["bandwidth_x"] == pytest.approx(24.0)
    assert design.options()["bandwidth_y"] ** 2 == pytest.approx(0.002951, rel=2e-4)
    x, y = design.sample(0, 35)
    assert set(zip(x[:, 0], y[:, 0], strict=True)) == rows and not np.array_equal(np.sort(x[:, 0]), x[:, 0])
    x, y = design.null().sample(0, 35)
    assert len(set(zip(x[:, 0], y[:, 0], strict=True)) & rows) < 20
    assert d.EckerleSimulation(noise=0.0).sample(0, 500)[1].max() == pytest.approx(0.38, abs=0.01)


#: Hyppo's curves without noise, as written in the source, and the standard deviation of the noise in y.
CURVES = {
    "linear": (lambda t: t, 1.0),
    "exponential": (np.exp, 10.0),
    "cubic": (lambda t: 128 * (t - 1 / 3) ** 3 + 48 * (t - 1 / 3) ** 2 - 12 * (t - 1 / 3), 80.0),
    "step": (lambda t: 1.0 * (t > 0), 1.0),
    "quadratic": (lambda t: t**2, 0.5),
    "fourth-root": (lambda t: np.abs(t) ** 0.25, 0.25),
}
#: Simulations with as many y as x.
MANY_Y = {
    *("joint-normal", "logarithmic", "sine-4pi", "sine-16pi", "square", "diamond"),
    *("multiplicative-noise", "multimodal-independence"),
}


def simulated(name, noise=0.0, dimension=1, n=MANY):
    return d.HyppoSimulation(name, noise, dimension).sample(0, n)


def is_law(values, *law):
    return stats.kstest(np.ravel(values), *law).pvalue > 1e-4


def test_twenty_simulations_have_their_shapes_curves_and_noise():
    assert len(SIMULATIONS) == 20
    for name in SIMULATIONS:
        for dimension in (1, 3):
            x, y = simulated(name, 1.0, dimension, n=50)
            assert x.shape == (50, dimension) and y.shape == (50, dimension if name in MANY_Y else 1)
    for name, (curve, _) in CURVES.items():
        for dimension in (1, 3):
            x, y = simulated(name, dimension=dimension)
            assert np.allclose(y[:, 0], curve(x @ [1.0, 1 / 2, 1 / 3][:dimension]))
            assert is_law(x[:, -1], stats.uniform(*((0, 3) if name == "exponential" else (-1, 2))).cdf)
    added = {**{name: size for name, (_, size) in CURVES.items()}, "joint-normal": 0.5, "w-shaped": 0.5, "spiral": 0.4}
    for name, size in (added | {"logarithmic": 3.0}).items():
        (x, curve), (same, y) = simulated(name), simulated(name, noise=1.0)
        assert np.array_equal(x, same) and (y - curve).std() == pytest.approx(size, rel=0.03)
        assert np.allclose(simulated(name, noise=0.5)[1], (curve + y) / 2)


def test_simulations_without_a_curve():
    for dimension in (1, 4):
        expected = np.eye(2 * dimension)
        expected[:dimension, dimension:] = expected[dimension:, :dimension] = 1 / (2 * dimension)
        assert np.allclose(np.cov(np.hstack(simulated("joint-normal", dimension=dimension)).T), expected, atol=0.05)
    x, y = simulated("w-shaped")
    assert is_law((y - 4 * (x**2 - 0.5) ** 2) * 125, "uniform")
    x, y = simulated("spiral", dimension=3)
    z = np.sqrt(np.square(np.hstack([x, y])).sum(axis=1))
    sphere = np.column_stack([np.sin(np.pi * z) * np.cos(np.pi * z) ** k for k in (1, 2)] + [np.cos(np.pi * z) ** 3])
    assert (
        is_law(z / 5, "uniform") and np.allclose(x, z[:, None] * sphere) and np.allclose(y[:, 0], z * np.sin(np.pi * z))
    )
    for name, radius in (("circle", 1.0), ("ellipse", 5.0)):
        for dimension in (3, 1):
            x, y = simulated(name, dimension=dimension)
            assert np.allclose(np.square(x / radius).sum(axis=1) + y[:, 0] ** 2, 1.0)
        assert is_law(np.arctan2(y, x / radius), stats.uniform(-np.pi, 2 * np.pi).cdf)
    x, y = simulated("logarithmic")
    assert np.allclose(np.exp(y), x**2) and is_law(x, "norm")
    x, y = simulated("multiplicative-noise")
    assert is_law(y / x, "norm") and abs(np.corrcoef(np.square(x).T, np.square(y).T)[0, 1]) > 0.2
    for z in simulated("multimodal-independence"):
        assert is_law(0.5 * (stats.norm(-1, 1 / 3).cdf(z) + stats.norm(1, 1 / 3).cdf(z)), "uniform")


# --- more samples and variables, series, symmetry -------------------------------------------------------------


def test_designs_of_other_tests():
    samples = d.OneApart(samples=3, dimension=2, shift=3.0, ratio=2.0).sample(0, 500)
    assert [len(sample) for sample in samples] == [500, 500, 1000]
    assert np.allclose([sample.mean(axis=0) for sample in samples], [[0, 0], [0, 0], [3, 0]], atol=0.2)
    for strength in (0.0, 0.5, 1.0):
        variables = np.hstack(d.Parity(variables=3, strength=strength).sample(1, 4000))
        assert abs((variables.prod(axis=1) > 0).mean() - (0.5 + strength / 2)) < 0.03
        assert np.abs(np.corrcoef(np.sign(variables).T) - EYE).max() < 0.06  # any two are independent
    (x,) = d.Changed(d.MeanShift(dimension=1, shift=50.0), at=0.3, until=0.6).sample(0, 20)
    assert np.flatnonzero(x[:, 0] > 25.0).tolist() == [6, 7, 8, 9, 10, 11]
    assert d.Changed(at=0.01).places(20) == (2, 20) and d.Changed(until=0.8).options() == {"change": "epidemic"}
    (x,) = d.SkewNormal(dimension=2).sample(0, MANY)
    assert np.allclose(x.mean(axis=0), 0, atol=0.03) and np.allclose(x.std(axis=0), 1, atol=0.03)
    assert np.allclose((x**3).mean(axis=0), stats.skewnorm(0.99 / math.sqrt(1 - 0.99**2)).stats("s"), atol=0.1)
    for how in ("mean", "square"):
        x, y, z = d.Confounded("smooth", columns=2, effect=0.6, how=how).sample(0, MANY)
        shared = d.Confounded("smooth", columns=2).shared(z)
        e, rest = (x - shared)[:, 0], (y - shared)[:, 0]
        g = e if how == "mean" else (e**2 - 1) / math.sqrt(2)
        assert np.polyfit(g, rest, 1)[0] == pytest.approx(0.6, abs=0.03) and is_law(e, "norm")


# --- relabelled twins -----------------------------------------------------------------------------------------


def blocks(n, m):
    return {"blocks": (np.arange(n) // 4, np.arange(m) // 4)}


def shifted(n, m):
    return {"shift": "circular"}


def series(rng, n):
    x = np.cumsum(rng.normal(size=n))
    return x, x + rng.normal(size=n)


def test_null_twins_permute_as_far_as_the_design_allows():
    for design in (d.MeanShift(dimension=1), d.OneApart(samples=3, dimension=1, ratio=0.5), d.Changed()):
        data, moved = (np.vstack(one.sample(4, 30)) for one in (design, Relabelled(design)))
        assert np.array_equal(np.sort(data, axis=0), np.sort(moved, axis=0)) and not np.array_equal(data, moved)
    x, y, z = Relabelled(d.Parity(strength=1.0)).sample(3, 200)
    first, *others = d.Parity(strength=1.0).sample(3, 200)
    assert np.array_equal(x, first) and 60 < (x * y * z > 0).sum() < 140
    assert all(np.array_equal(np.sort(a, axis=0), np.sort(b, axis=0)) for a, b in zip((y, z), others, strict=True))
    design = FromFunction(unequal, restriction=None)
    assert [len(part) for part in replace(design, ratio=3.0).null().sample(0, 5)] == [5, 15]

    design = FromFunction(exponential, restriction=paired)
    (x, y), (a, b) = (one.sample(np.random.default_rng(3), 20) for one in (design.null(), design))
    swapped = x == b
    assert 0 < swapped.sum() < 20 and np.array_equal(np.where(swapped, y, x), a)
    design = FromFunction(exponential, restriction=blocks)
    (x, y), (a, b) = (one.sample(np.random.default_rng(3), 8) for one in (design.null(), design))
    for block in (slice(0, 4), slice(4, 8)):
        mixed, drawn = np.concatenate([x[block], y[block]]), np.concatenate([a[block], b[block]])
        assert np.array_equal(np.sort(mixed, axis=0), np.sort(drawn, axis=0)) and (mixed != drawn).any()
    design = FromFunction(series, "independence", restriction=shifted)
    (x, y), (a, b) = (one.sample(np.random.default_rng(4), 30) for one in (design.null(), design))
    assert np.array_equal(x, a) and any(np.array_equal(np.roll(b, step, axis=0), y) for step in range(1, 30))


# --- pilot data and functions ---------------------------------------------------------------------------------


def rows_of(values):
    return {tuple(row) for row in values}


def test_pilot_rows_are_resampled_and_pairs_stay_together():
    x, y = np.arange(8.0).reshape(4, 2), 100 + np.arange(6.0).reshape(3, 2)
    design = FromData(x, y)
    assert [rows_of(z) for z in design.sample(0, 50)] == [rows_of(x), rows_of(y)]
    assert all(rows_of(z) == rows_of(np.vstack([x, y])) for z in design.null().sample(0, 200))
    pilot = np.arange(10.0)
    design = FromData(pilot, pilot**2, test="independence")
    x, y = design.sample(0, 40)
    assert np.array_equal(y, x**2)
    x, y = design.null().sample(0, 40)
    assert not np.array_equal(y, x**2) and set(y[:, 0]) <= set(pilot**2)
    design = FromData(pilot, pilot**2, paired=True)
    x, y = design.sample(1, 40)
    assert np.array_equal(y, x**2) and design.options_for(40, 40) == {"paired": True}
    x, y = design.null().sample(1, 40)
    swapped = (x > y)[:, 0]
    assert 0 < swapped.sum() < 40 and np.array_equal(np.maximum(x, y), np.minimum(x, y) ** 2)
    two = FromData([0.0, 1.0], [0.0, 1.0], test="independence")
    assert all(z[0] != z[1] for t in range(40) for z in two.sample(t, 2) + two.null().sample(t, 2))  # always vary


def test_pilot_data_show_no_digest_and_stores_know_them_by_one():
    x, y = np.arange(6.0), np.arange(4.0)
    first, same, other = FromData(x, y), FromData(list(x), pd.Series(y)), FromData(x, y + 1)
    assert first == same and hash(first) == hash(same) and first != other
    assert repr(first) == repr(other) == "FromData(<X 6 x 1, Y 4 x 1>, test='two-sample')"
    assert first.identity() == same.identity() != other.identity() and "sha256" in first.null().null().identity()
    assert first.described == "your pilot data (6 and 4 rows)" and "sha256" not in repr(Relabelled(first))
    x[0] = 99.0
    assert first == same
    with pytest.raises(ValueError, match="read-only"):
        first.X[0] = 1.0


def test_pilot_tables():
    x = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [10.0, 20.0, 30.0]})
    y = pd.DataFrame({"b": [11.0, 21.0], "a": [1.5, 2.5]})
    sd = pd.concat([x, y]).std(ddof=0).to_numpy()  # tables are in units of their columns, whatever the order of these
    np.testing.assert_allclose(FromData(x, y).Y * sd, [[1.5, 11.0], [2.5, 21.0]])
    mixed = FromData(x.assign(c=["u", "v", "u"]), y.assign(c=["v", "w"]))
    assert mixed.X.shape == (3, 5) and mixed.sample(0, 4)[1].shape == (4, 5)


@pytest.mark.parametrize("policy", ["omit", "indicator"])
def test_pilot_data_with_missing_values(policy):
    x, y = (
        pd.DataFrame({"a": [1.0, None, 3.0, 2.5], "c": ["u", "v", None, "u"]}),
        pd.DataFrame({"a": [5.0, 6.0, 7.0], "c": list("vvu")}),
    )
    design = FromData(x, y, nan_policy=policy)
    assert design.options() == design.null().options() == {"nan_policy": policy}
    drawn = np.vstack([design.sample(seed, 10)[0] for seed in range(9)])
    assert np.isnan(drawn).any() and (~np.isnan(drawn).any(axis=1)).any()
    result = power_study(design, "kme", 12, n_trials=8, n_resamples=19, workers=1, progress=False)
    assert result.table["power"].item() > 0.5 >= result.size_table["level"].item()
    pairs = FromData([1.0, np.nan, 3.0, 4.0], [2.0, 5.0, np.nan, 1.0], "independence", nan_policy=policy)
    for z in range(30):
        a, b = pairs.sample(z, 3)
        both = ~np.isnan(a + b)[:, 0]
        assert both.sum() > 1 and np.ptp(a[both]) > 0 < np.ptp(b[both])  # what every policy can test


def test_groups_of_pilot_data_are_resampled_whole():
    x, y = np.repeat([0.0, 1.0, 2.0], [2, 3, 1]), np.repeat([10.0, 11.0, 12.0], 2)
    design = FromData(x, y, groups=(list("aabbbc"), list("ddeeff")))
    assert design.unit == "groups" and design.described == "your pilot data (3 and 3 groups)"
    (a, b), labels = design.trial(np.random.default_rng(0), 5)
    first, second = labels["groups"]
    assert len(first) == len(a) and len(second) == len(b) == 10 and len(set(first)) == len(set(second)) == 5
    assert not set(first) & set(second)
    sizes = {0.0: 2, 1.0: 3, 2.0: 1}
    for values, codes in ((a, first), (b, second)):
        for code in set(codes):
            group = values[codes == code, 0]
            assert len(set(group)) == 1 and len(group) == sizes.get(group[0], 2)
    assert np.array_equal(a, design.sample(np.random.default_rng(0), 5)[0])
    null = design.null().sample(0, 40)
    assert rows_of(null[0]) == rows_of(null[1]) == rows_of(np.r_[x, y][:, None])
    whole = FromData(x, y, groups=list("aabbbcddeeff"))
    assert whole == design != FromData(x, y)
    assert repr(design) == "FromData(<X 6 x 1, Y 6 x 1>, test='two-sample', groups=<3 and 3>)"
    pilot = FromData(np.arange(8) // 2 / 9, 5 + np.arange(6) // 2 / 9, groups=np.arange(14) // 2)
    result = power_study(pilot, "kme", 8, n_trials=6, n_resamples=39, workers=1, progress=False)
    assert result.table["power"].item() == 1.0 > result.size_table["level"].item()
    assert "(n = 8 groups)" in result.paragraph()

    rng = np.random.default_rng(0)
    centre = np.repeat(rng.normal(size=12), 3)
    design = FromData(centre, centre + rng.normal(size=36), "independence", groups=np.arange(36) // 3)
    (a, b), labels = design.trial(0, 7)
    assert len(a) == len(b) == len(labels["groups"]) == 21
    (moved, same), _ = design.null().trial(0, 7)[0], None
    assert np.array_equal(moved, a) and np.array_equal(np.sort(same, axis=0), np.sort(b, axis=0))
    assert len(power_study(design, "kme", 8, n_trials=3, n_resamples=39, workers=1, progress=False).table) == 1


def test_functions():
    assert [len(z) for z in FromFunction(unequal).sample(0, 5)] == [5, 10]  # the function decides
    assert [len(z) for z in FromFunction(unequal, ratio=3.0).sample(0, 5)] == [5, 15]
    assert [len(z) for z in FromFunction(unequal).sample(0, 5, m=7)] == [5, 7]
    design = FromFunction(lambda rng, n, m: (rng.normal(size=n), rng.normal(size=m)), ratio=1.01)
    assert [[len(z) for z in design.sample(0, n)] for n in (20, 100)] == [[20, 20], [100, 101]]

    def tables(rng, n):
        x, y = (pd.DataFrame({"u": rng.normal(size=n), 2: rng.choice(["a", "b"], n)}) for _ in range(2))
        return x, y.assign(u=y["u"] + 2.0)

    first, second = FromFunction(tables).null().sample(0, 8)
    assert list(first) == list(second) == ["u", 2] and len(first) == 8


@dataclass(frozen=True, repr=False)
class Odd(Design):
    test = "two-sample"
    neutral = {"shift": 0.0}  # noqa: RUF012 - as the page on extending has it
    shift: float = 1.0
    more: int = 0

    def draw(self, rng, n, m):
        return rng.normal(size=(n, 1)), rng.normal(self.shift, 1.0, size=(m + self.more, 1))


@dataclass(frozen=True, repr=False)
class Units(Odd):
    """Units of two rows each, which stay together."""

    def draw(self, rng, n, m):
        return tuple(rng.normal(size=(2, 2 * n, 1)))

    def options_for(self, n, m):
        return {"groups": np.arange(n + m) // 2}


@dataclass(frozen=True, repr=False)
class Correlated(Design):
    test = "two-sample"
    neutral = {"factor": np.eye(2)}  # noqa: RUF012
    factor: np.ndarray

    def draw(self, rng, n, m):
        return rng.normal(size=(n, 2)), rng.normal(size=(m, len(self.factor))) @ self.factor[:, :2]


def test_designs_of_ones_own(tmp_path):
    few = {"n_trials": 3, "n_resamples": 19, "alphas": 0.1, "workers": 1, "progress": False}
    for design in (Odd(), Units(), Correlated(np.array([[1.0, 0.0], [2.0, 1.0]]))):
        assert power_study(design, "kme", 10, store=tmp_path / repr(type(design)), **few).table.trials.tolist() == [3]
    assert Odd().null() == Odd(shift=0.0) == Odd().null().null()
    assert repr(Correlated(np.eye(2)).null()) == "Correlated(factor=[[1.0, 0.0], [0.0, 1.0]])"
    large, other = Correlated(np.eye(50)), Correlated(np.eye(50) + np.eye(50, k=30))
    assert repr(large) == repr(other) == "Correlated(factor=<50 x 50 array>)" and large.identity() != other.identity()


# --- errors ---------------------------------------------------------------------------------------------------


class Misspelt(Odd):
    test = "two_sample"


class Unknown(Odd):
    neutral = {"shft": 0.0}  # noqa: RUF012


class Bare(Odd):  # without the decorator
    test = "conditional-independence"
    neutral = {}  # noqa: RUF012


def study(design):
    return power_study(design, "kme", 10, n_trials=2, n_resamples=19, alphas=0.1, workers=1, progress=False)


@pytest.mark.parametrize(
    ("call", "error", "named"),
    [
        (lambda: as_design("sinusoids"), ValueError, "Did you mean 'sinusoid'"),
        (lambda: d.MeanShift(dimension=2.5), TypeError, "dimension"),
        (lambda: d.MeanShift(shift=-1.0), ValueError, "shift"),
        (lambda: d.MeanShift(coordinates="al"), ValueError, "coordinates"),
        (lambda: d.CorrelationChange(correlation=1.0), ValueError, "correlation"),
        (lambda: d.Tails(df=2.0), ValueError, "df"),
        (lambda: d.Mixture(change="mixture", amount=1.1), ValueError, "amount"),
        (lambda: d.Autoregressive(change=0.5), ValueError, "change"),
        (lambda: d.EckerleSubsample().null().sample(0, 36), ValueError, "n <= 35"),
        (lambda: d.MeanShift().sample(0, 10, m=1), ValueError, "m >= 2"),
        (lambda: d.Linear().sample(0, 8, m=9), ValueError, "leave out m"),
        (lambda: d.Changed(at=0.5, until=0.4), ValueError, "until"),
        (lambda: FromData([1.0, 1.0], [1.0, 1.0]), ValueError, "complete rows"),
        (lambda: FromData([1.0, 2.0], [1.0, 1.0], "independence"), ValueError, "complete rows"),
        (lambda: FromData([1.0, np.nan, 2.0], [1.0, 2.0]), ValueError, "nan_policy='omit'"),
        (lambda: FromData([1, 2, 3], [2, 3, 5], ratio=2.0, paired=True), ValueError, "paired"),
        (lambda: FromData([1, 2, 3], [2, 3], paired=True), ValueError, "pair"),
        (lambda: FromData([1, 2], [2, 3], paired=True, groups=[0, 1, 0, 1]), ValueError, "groups"),
        (lambda: FromData([1, 2, 3], [2, 3, 5], groups=[0, 0, 1, 1, 2, 2]), ValueError, "group"),
        (lambda: FromFunction(exponential, ratio=2.0), TypeError, "function"),
        (lambda: FromFunction(exponential, restriction=lambda n: {}), TypeError, "restriction"),
        (lambda: study(FromFunction(exponential, restriction=shifted)), ValueError, "restriction"),
        (lambda: study(lambda rng, n: rng.normal(size=n)), TypeError, r"\(X, Y\)"),
        (lambda: study(Odd(more=3)), ValueError, r"10 \+ 10 rows"),
        (lambda: study(Misspelt()), ValueError, "two-sample"),
        (lambda: study(Unknown()), ValueError, "neutral"),
        (lambda: study(Bare()), ValueError, "with_null=False"),
    ],
)
def test_errors_name_the_argument(call, error, named):
    with pytest.raises(error, match=named):
        call()
