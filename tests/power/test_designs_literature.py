"""The designs of the literature: their published constants, their twins, and what they refuse."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from shrinktest.power import designs
from shrinktest.power.designs import (
    Autoregressive,
    Bimodal,
    Corners,
    HyppoSimulation,
    Independent,
    PerturbedDependence,
    PerturbedUniform,
    SparseShift,
    Spheres,
    SpikedCovariance,
    ThinCube,
    TiltedBlobs,
    TwoModes,
)
from shrinktest.power.designs.simulations import SIMULATIONS

MANY = 20_000

#: Two-sample designs, small enough for many points.
SMALL = [
    Corners(dimension=3),
    TiltedBlobs(),
    TwoModes(dimension=3),
    SparseShift(dimension=6),
    SpikedCovariance(dimension=6),
    ThinCube(dimension=6, thin=3),
    Bimodal(dimension=6),
    Autoregressive(dimension=6),
    Spheres(dimension=6),
]
OTHERS = [
    PerturbedDependence(dimension=2, perturbations=3, amplitude=0.5),
    *map(HyppoSimulation, SIMULATIONS),
    HyppoSimulation("square", 0.5, 3),
]


def ids(values):
    return {"argvalues": values, "ids": repr}


# --- what all of them have in common ------------------------------------------------------------------------


@pytest.mark.parametrize("design", **ids(SMALL + OTHERS))
def test_values_sizes_and_seeds(design):
    assert eval(repr(design), vars(designs)) == design
    x, y = design.sample(4, 30)
    assert len(x) == len(y) == 30 and np.isfinite(x).all() and np.isfinite(y).all()
    assert all(map(np.array_equal, design.sample(4, 30), (x, y)))
    assert not np.array_equal(design.sample(5, 30)[0], x)
    assert x.flags.c_contiguous or design.test == "independence"
    if design.test == "two-sample":
        assert x.shape[1] == y.shape[1] == getattr(design, "dimension", 2)
        assert [len(z) for z in replace(design, ratio=1.5).sample(0, 9)] == [9, 14]
        x, y = replace(design, swap=True).sample(3, 30, 20)
        assert all(map(np.array_equal, design.sample(3, 20, 30), (y, x)))


@pytest.mark.parametrize("design", **ids(SMALL))
def test_samples_of_a_null_twin_have_one_law_and_others_do_not(design):
    def least(twin):
        """The least p-value over coordinates, lengths, products of neighbours, and products of what rounding leaves."""
        features = []
        for z in twin.sample(11, MANY):
            left = z - z.round()
            features.append(
                np.column_stack([z, np.square(z).sum(axis=1), z[:, :-1] * z[:, 1:], left[:, 0] * left[:, 1]])
            )
        return min(stats.ks_2samp(a, b).pvalue for a, b in zip(*(f.T for f in features), strict=True))

    twin = design.null()
    assert type(twin) is type(design) and twin.null() is twin
    assert least(twin) > 1e-4
    assert least(design) < 1e-6


@pytest.mark.parametrize("design", **ids(OTHERS))
def test_null_twins_of_variables_are_independent_with_the_same_margins(design):
    twin = design.null()
    assert twin == Independent(design)
    x, y = design.sample(1, 2000)
    independent_x, independent_y = twin.sample(2, 2000)
    for drawn, again in ((x, independent_x), (y, independent_y)):
        assert stats.ks_2samp(drawn[:, 0], again[:, 0]).pvalue > 1e-4
    for f in (np.asarray, np.square, np.sin):
        assert stats.spearmanr(f(independent_x[:, 0]), f(independent_y[:, 0])).pvalue > 1e-4


def test_defaults_are_those_that_were_published():
    assert (Corners().dimension, Corners().scale, Corners().distance) == (2, 1.6, 20.0)
    assert TiltedBlobs().tilt == 1.0
    assert (TwoModes().dimension, TwoModes().correlation, TwoModes().distance) == (10, 0.5, 0.5)
    assert (SparseShift().shift, SparseShift().moved) == (1.0, 2)
    assert (SpikedCovariance().dimension, SpikedCovariance().block, SpikedCovariance().covariance) == (500, 5, 3.0)
    assert (ThinCube().dimension, ThinCube().thin, ThinCube().margin) == (500, 30, 0.1)
    assert (Bimodal().dimension, Bimodal().separation) == (1000, 4.0)
    assert Autoregressive().correlation == 0.5
    assert (Spheres().noise, Spheres().shift) == (0.02, 0.015)
    assert (PerturbedDependence().dimension, PerturbedDependence().perturbations) == (1, 2)
    assert HyppoSimulation() == HyppoSimulation("linear", noise=1.0, dimension=1)


# --- perturbed uniforms -------------------------------------------------------------------------------------


def bump(t):
    """G, as it is written in the source."""
    if -1 < t < -0.5:
        return math.exp(-1 / (1 - (4 * t + 3) ** 2))
    return -math.exp(-1 / (1 - (4 * t + 1) ** 2)) if -0.5 < t < 0 else 0.0


@pytest.mark.parametrize(("dimension", "c", "perturbations"), [(1, 2.7, 1), (1, 2.7, 4), (2, 7.3, 1), (2, 7.3, 2)])
def test_density_of_perturbed_uniforms_with_the_published_constants(dimension, c, perturbations):
    design = PerturbedUniform(dimension, perturbations, amplitude=c / (perturbations * math.exp(dimension)))
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


def test_signs_of_perturbed_dependence_are_random_and_cells_have_their_mass():
    design = PerturbedDependence(perturbations=1)
    mass = 0.25 * math.e * np.mean(np.exp(-1.0 / (1.0 - (2.0 * (np.arange(2000) + 0.5) / 2000 - 1.0) ** 2)))
    excess = []
    for seed in range(12):
        x, y = design.sample(seed, MANY)
        assert min(x.min(), y.min()) >= 0.0 and max(x.max(), y.max()) <= 1.0
        halves = np.histogram2d(x[:, 0], y[:, 0], bins=2, range=[[0, 1], [0, 1]])[0] / MANY
        same = halves[0, 0] + halves[1, 1]
        excess.append(same - 0.5)
        assert abs(excess[-1]) == pytest.approx(4.0 * mass**2 * 2.0, abs=0.015)
        assert np.allclose(halves, [[same / 2, 0.5 - same / 2], [0.5 - same / 2, same / 2]], atol=0.015)
        assert stats.kstest(x[:, 0], "uniform").pvalue > 1e-4 and stats.kstest(y[:, 0], "uniform").pvalue > 1e-4
    assert min(excess) < 0.0 < max(excess)


def test_perturbed_dependence_splits_a_perturbed_uniform():
    x, y = PerturbedDependence(dimension=2, perturbations=2, amplitude=0.5).sample(3, 40)
    _, both = PerturbedUniform(dimension=4, perturbations=2, amplitude=0.5).draw(np.random.default_rng(3), 0, 40)
    assert np.array_equal(np.hstack([x, y]), both)


# --- modes --------------------------------------------------------------------------------------------------


def test_corners():
    x, y = Corners(dimension=3).sample(0, MANY)
    for z, scale in ((x, 1.0), (y, 1.6)):
        corner = np.sign(z[:, :2])
        assert np.abs(np.mean(corner, axis=0)).max() < 0.04 and abs(np.mean(corner.prod(axis=1))) < 0.04
        changed = (corner < 0).all(axis=1)
        within = z - np.column_stack([20.0 * corner, np.zeros(MANY)])
        assert np.abs(within[changed].mean(axis=0)).max() < 0.12
        assert np.allclose(np.cov(within[changed].T), scale**2 * np.eye(3), atol=0.15)
        assert np.allclose(np.cov(within[~changed].T), np.eye(3), atol=0.05)


def test_covariances_of_tilted_blobs():
    x, y = TiltedBlobs().sample(0, 10 * MANY)
    for z, tilt in ((x, 0.0), (y, 1.0)):
        centre = np.clip(z.round(), 0, 2)
        for i in range(9):
            within = (z - centre)[(centre == np.divmod(i, 3)).all(axis=1)]
            assert abs(len(within) / len(z) - 1 / 9) < 0.003
            correlation = tilt * (0.0 if i == 4 else -(0.02 + 0.002 * i) if i < 4 else 0.02 + 0.002 * (i - 5)) / 0.03
            assert np.allclose(within.var(axis=0), 0.03, rtol=0.04)
            # Near the middle line of a blob there are next to no points of its neighbours.
            first, second = within[np.abs(within[:, 0]) < 0.15].T
            slope, offset = np.polyfit(first, second, 1)
            assert slope == pytest.approx(correlation, abs=0.04) and abs(offset) < 0.005
            left = np.var(second - slope * first)
            assert left == pytest.approx(0.03 * (1.0 - correlation**2), rel=0.05)


def test_two_modes():
    x, y = TwoModes(dimension=4, distance=40.0).sample(0, 2 * MANY)
    for z, correlation in ((x, 0.0), (y, 0.5)):
        upper = z.mean(axis=1) > 20.0
        assert upper.mean() == pytest.approx(0.5, abs=0.015)
        for mode, sign, centre in ((z[~upper], 1.0, 0.0), (z[upper], -1.0, 40.0)):
            expected = np.eye(4)
            expected[0, 1] = expected[1, 0] = sign * correlation
            assert np.allclose(mode.mean(axis=0), centre, atol=0.04)
            assert np.allclose(np.cov(mode.T), expected, atol=0.04)


# --- many variables -----------------------------------------------------------------------------------------


def test_sparse_shift():
    x, y = SparseShift(dimension=5).sample(0, MANY)
    assert np.allclose(x.mean(axis=0), 0.0, atol=0.04)
    assert np.allclose(y.mean(axis=0), [1, 1, 0, 0, 0], atol=0.04) and np.allclose(np.cov(y.T), np.eye(5), atol=0.05)


def test_spiked_covariance():
    x, y = SpikedCovariance(dimension=7).sample(0, MANY)
    expected = np.eye(7)
    expected[:5, :5] = 3.0
    assert np.linalg.eigvalsh(expected).min() > -1e-12
    assert np.allclose(np.cov(x.T), np.eye(7), atol=0.05) and np.allclose(np.cov(y.T), expected, atol=0.12)


def test_thin_cube():
    x, y = ThinCube(dimension=4, thin=2).sample(0, MANY)
    assert x.min() >= 0.0 and x.max() <= 1.0 and y[:, :2].min() >= 0.1 and y[:, :2].max() <= 0.9
    assert stats.kstest(y[:, 1], stats.uniform(0.1, 0.8).cdf).pvalue > 1e-4
    assert stats.kstest(y[:, 2], "uniform").pvalue > 1e-4


def test_bimodal():
    _, y = Bimodal(dimension=3).sample(0, MANY)
    law = 0.5 * (stats.norm(-4).cdf(y[:, 0]) + stats.norm(4).cdf(y[:, 0]))
    assert stats.kstest(law, "uniform").pvalue > 1e-4
    assert stats.kstest(y[:, 1], "norm").pvalue > 1e-4


def test_autoregressive():
    apart = np.abs(np.subtract.outer(np.arange(5), np.arange(5)))
    x, y = Autoregressive(dimension=5, change=0.3).sample(0, MANY)
    assert np.allclose(np.cov(x.T), 0.5**apart, atol=0.05) and np.allclose(np.cov(y.T), 0.8**apart, atol=0.05)


def test_spheres():
    x, y = Spheres(dimension=3).sample(0, MANY)
    for z in (x, y - 0.015):
        radius = np.linalg.norm(z, axis=1)
        assert radius.std() == pytest.approx(0.02, rel=0.03) and radius.mean() == pytest.approx(1.0, abs=0.002)
        assert stats.kstest(z[:, 0] / radius, stats.uniform(-1, 2).cdf).pvalue > 1e-4  # Archimedes


# --- hyppo's simulations ------------------------------------------------------------------------------------

#: The curves without noise, as written in the source.
CURVES = {
    "linear": lambda t: t,
    "exponential": np.exp,
    "cubic": lambda t: 128 * (t - 1 / 3) ** 3 + 48 * (t - 1 / 3) ** 2 - 12 * (t - 1 / 3),
    "step": lambda t: 1.0 * (t > 0),
    "quadratic": lambda t: t**2,
    "fourth-root": lambda t: np.abs(t) ** 0.25,
}
#: Standard deviation of what the noise adds to y, where it adds nothing to x.
ADDED = {
    **{"linear": 1.0, "exponential": 10.0, "cubic": 80.0, "joint-normal": 0.5, "step": 1.0, "quadratic": 0.5},
    **{"w-shaped": 0.5, "spiral": 0.4, "logarithmic": 3.0, "fourth-root": 0.25},
}
#: Those with as many y as x.
MANY_Y = {
    *("joint-normal", "logarithmic", "sine-4pi", "sine-16pi", "square", "diamond"),
    *("multiplicative-noise", "multimodal-independence"),
}


def simulated(name, noise=0.0, dimension=1, n=MANY):
    return HyppoSimulation(name, noise, dimension).sample(0, n)


def test_there_are_twenty():
    assert len(SIMULATIONS) == 20 and set(CURVES) | set(ADDED) | MANY_Y < set(SIMULATIONS)


@pytest.mark.parametrize("name", SIMULATIONS)
@pytest.mark.parametrize("dimension", [1, 3])
def test_shapes_of_simulations(name, dimension):
    x, y = simulated(name, 1.0, dimension, n=50)
    assert x.shape == (50, dimension) and y.shape == (50, dimension if name in MANY_Y else 1)


@pytest.mark.parametrize("name", CURVES)
def test_curves(name):
    for dimension in (1, 3):
        x, y = simulated(name, dimension=dimension)
        assert np.allclose(y[:, 0], CURVES[name](x @ [1.0, 1 / 2, 1 / 3][:dimension]))
        low, width = (0, 3) if name == "exponential" else (-1, 2)
        assert stats.kstest(x[:, -1], stats.uniform(low, width).cdf).pvalue > 1e-4


@pytest.mark.parametrize("name", ADDED)
def test_noise_has_its_published_size(name):
    (x, curve), (same, y) = simulated(name), simulated(name, noise=1.0)
    assert np.array_equal(x, same)
    assert (y - curve).std() == pytest.approx(ADDED[name], rel=0.03)
    assert np.allclose(simulated(name, noise=0.5)[1], (curve + y) / 2)


@pytest.mark.parametrize(("waves", "size"), [(4, 1.0), (16, 0.5)])
def test_noise_of_sines_is_in_both(waves, size):
    for dimension in (1, 3):
        (clear, _), (x, y) = (simulated(f"sine-{waves}pi", noise, dimension) for noise in (0.0, 1.0))
        assert (x - clear).std() == pytest.approx(0.02 * dimension, rel=0.03)
        assert (y - np.sin(waves * np.pi * x)).std() == pytest.approx(size, rel=0.03)


def test_noise_of_bernoulli_is_in_both():
    x, y = simulated("uncorrelated-bernoulli", noise=1.0)
    law = 0.5 * (stats.norm(0, 0.5).cdf(x) + stats.norm(1, 0.5).cdf(x))
    assert stats.kstest(law[:, 0], "uniform").pvalue > 1e-4
    far = x > 2.0  # so that the sign is plain
    assert (np.abs(y[far]) - x[far]).std() == pytest.approx(0.5, rel=0.1)
    assert (y**2).mean() == pytest.approx((x**2).mean() + 0.25, rel=0.03)
    assert abs(np.corrcoef(x[:, 0], y[:, 0])[0, 1]) < 0.03


def test_joint_normal():
    for dimension in (1, 4):
        rho = 1 / (2 * dimension)
        expected = np.eye(2 * dimension)
        expected[:dimension, dimension:] = expected[dimension:, :dimension] = rho
        assert np.allclose(np.cov(np.hstack(simulated("joint-normal", dimension=dimension)).T), expected, atol=0.05)


def test_w_shaped():
    x, y = simulated("w-shaped")
    above = y - 4 * (x**2 - 0.5) ** 2
    assert stats.kstest(above[:, 0] * 125, "uniform").pvalue > 1e-4


def test_spiral():
    x, y = simulated("spiral")
    z = np.hypot(x, y)[:, 0]
    assert stats.kstest(z / 5, "uniform").pvalue > 1e-4
    assert np.allclose(x[:, 0], z * np.cos(np.pi * z)) and np.allclose(y[:, 0], z * np.sin(np.pi * z))
    x, y = simulated("spiral", dimension=3)
    z = np.sqrt(np.square(np.hstack([x, y])).sum(axis=1))
    expected = np.column_stack([np.sin(np.pi * z) * np.cos(np.pi * z) ** k for k in (1, 2)] + [np.cos(np.pi * z) ** 3])
    assert np.allclose(x, z[:, None] * expected) and np.allclose(y[:, 0], z * np.sin(np.pi * z))


@pytest.mark.parametrize(("name", "radius"), [("circle", 1.0), ("ellipse", 5.0)])
def test_circle_and_ellipse(name, radius):
    for dimension in (1, 3):
        x, y = simulated(name, dimension=dimension)
        assert np.allclose(np.square(x / radius).sum(axis=1) + y[:, 0] ** 2, 1.0)
    x, y = simulated(name)
    assert stats.kstest(np.arctan2(y, x / radius)[:, 0], stats.uniform(-np.pi, 2 * np.pi).cdf).pvalue > 1e-4
    noisy, same = simulated(name, noise=1.0)
    assert np.array_equal(same, y) and (noisy - x).std() == pytest.approx(0.4 * radius, rel=0.03)


@pytest.mark.parametrize(("name", "angle"), [("square", -np.pi / 8), ("diamond", -np.pi / 4)])
def test_squares(name, angle):
    x, y = simulated(name)
    u, v = x * np.cos(angle) - y * np.sin(angle), x * np.sin(angle) + y * np.cos(angle)
    for side in (u, v):
        assert stats.kstest(side[:, 0], stats.uniform(-1, 2).cdf).pvalue > 1e-4
    assert abs(np.corrcoef(x[:, 0], y[:, 0])[0, 1]) < 0.03
    noisy, same = simulated(name, noise=1.0)
    assert np.array_equal(same, y) and (noisy - x).std() == pytest.approx(0.05, rel=0.03)
    for dimension in (2, 3):
        clear, noisy = (simulated(name, noise, dimension)[0] for noise in (0.0, 1.0))
        assert (noisy - clear).std() == pytest.approx(0.05 * dimension, rel=0.03)


def test_two_parabolas():
    x, y = simulated("two-parabolas")
    assert np.allclose(np.abs(y), x**2 / 2) and abs(np.sign(y).mean()) < 0.03
    x, y = simulated("two-parabolas", noise=1.0)
    assert stats.kstest((np.abs(y) - x**2 / 2)[:, 0], "uniform").pvalue > 1e-4


def test_bernoulli_logarithm_and_sines():
    x, y = simulated("uncorrelated-bernoulli")
    assert set(x[:, 0]) == {0.0, 1.0} and np.array_equal(np.abs(y), x) and abs(y.mean()) < 0.03
    x, y = simulated("logarithmic")
    assert np.allclose(np.exp(y), x**2) and stats.kstest(x[:, 0], "norm").pvalue > 1e-4
    for waves in (4, 16):
        x, y = simulated(f"sine-{waves}pi")
        assert np.allclose(y, np.sin(waves * np.pi * x))


def test_the_last_two_have_no_noise_that_is_added():
    x, y = simulated("multiplicative-noise")
    assert stats.kstest((y / x)[:, 0], "norm").pvalue > 1e-4 and abs(np.corrcoef(x.T, y.T)[0, 1]) < 0.04
    assert abs(np.corrcoef(np.square(x).T, np.square(y).T)[0, 1]) > 0.2
    for z in simulated("multimodal-independence"):
        law = 0.5 * (stats.norm(-1, 1 / 3).cdf(z) + stats.norm(1, 1 / 3).cdf(z))
        assert stats.kstest(law[:, 0], "uniform").pvalue > 1e-4
    for name in ("multiplicative-noise", "multimodal-independence"):
        assert all(map(np.array_equal, simulated(name), simulated(name, noise=1.0)))


# --- parameters that cannot be ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "parameters", "message"),
    [
        (Corners, {"dimension": 1}, "dimension must be an integer >= 2, got 1"),
        (Corners, {"scale": 0.0}, "scale must be a finite number > 0"),
        (TiltedBlobs, {"tilt": 1.2}, "tilt must be a number from 0 to 1, got 1.2"),
        (TwoModes, {"correlation": 1.0}, r"correlation must be a number from 0 to 1 \(excluded\)"),
        (SparseShift, {"dimension": 3, "moved": 4}, "moved must be at most dimension=3, got 4"),
        (SpikedCovariance, {"dimension": 4}, "block must be at most dimension=4, got 5"),
        (SpikedCovariance, {"covariance": -1.0}, "covariance must be a finite number > 0"),
        (ThinCube, {"dimension": 29}, "thin must be at most dimension=29, got 30"),
        (ThinCube, {"margin": 0.5}, r"margin must be a number from 0 to 0.5 \(excluded\)"),
        (Bimodal, {"separation": -4.0}, "separation must be a finite number >= 0"),
        (Autoregressive, {"change": 0.5}, r"correlation \+ change must be below 1, got 0.5 \+ 0.5; lower one"),
        (Spheres, {"noise": math.nan}, "noise must be a finite number >= 0"),
        (PerturbedDependence, {"dimension": 5, "perturbations": 4}, r"at most 1000000, got 4\*\*10; lower perturb"),
        (PerturbedDependence, {"amplitude": 1.1}, "amplitude must be a number from 0 to 1, got 1.1"),
        (HyppoSimulation, {"relationship": "cubed"}, "relationship must be one of 'linear', .* Did you mean 'cubic'"),
        (HyppoSimulation, {"noise": -1.0}, "noise must be a finite number >= 0"),
        (HyppoSimulation, {"dimension": 0}, "dimension must be an integer >= 1, got 0"),
    ],
)
def test_parameters_that_cannot_be(kind, parameters, message):
    with pytest.raises(ValueError, match=message):
        kind(**parameters)
