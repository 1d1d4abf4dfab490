"""Designs: values, sizes and seeds, null twins, and the distributions that they promise."""

from __future__ import annotations

import copy
import math
import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from shrinktest.datasets import load_eckerle4
from shrinktest.power import designs as d
from shrinktest.power.designs import (
    DESIGNS,
    Design,
    FromData,
    FromFunction,
    Independent,
    Relabeled,
    as_design,
)
from shrinktest.power.designs.independence import SIMULATIONS
from shrinktest.power.designs.literature import CHANGES

MANY = 20_000
TWO_SAMPLE = [kind for kind in DESIGNS.values() if kind.test == "two-sample"]
PAIRS = [kind for kind in DESIGNS.values() if kind.test == "independence"]


def exponential(rng, n):
    return rng.normal(1.0, 1.0, size=n), rng.exponential(size=n)


def paired(n, m):
    return {"paired": True}


#: Small ones in as many variables as matter, and values away from the defaults.
SMALL = [
    *(d.Corners(dimension=3), d.TiltedBlobs(), d.TwoModes(dimension=3), d.SparseShift(dimension=6)),
    *(d.SpikedCovariance(dimension=6), d.ThinCube(dimension=6, thin=3), d.Bimodal(dimension=6)),
    *(
        d.Autoregressive(dimension=6),
        d.Spheres(dimension=6),
        d.MeanShift(dimension=2),
        d.ScaleChange(dimension=2),
    ),
    *(
        d.CorrelationChange(dimension=3),
        d.Contamination(dimension=2),
        d.PerturbedUniform(),
        d.Tails(dimension=2),
    ),
]
OTHERS = [
    d.MeanShift(dimension=2, shift=2, coordinates="all", ratio=1.5, swap=True),
    d.ScaleChange(dimension=np.int64(3), scale=np.float64(0.5), coordinates="one"),
    d.Mixture(dimension=9, change="means", amount=3, wishart_scale=3, mixture_seed=7),
    d.PerturbedUniform(dimension=2, perturbations=3, amplitude=0.5),
    d.EckerleSubsample(bandwidth="median"),
    d.HyppoSimulation("square", 0.5, 3),
    d.Linear(noise=0.5).null(),
    Relabeled(d.MeanShift()),
    d.Changed(d.ScaleChange(scale=2.0), at=0.3, until=0.6),
]
DATA = [
    FromData(np.arange(12.0).reshape(6, 2), np.arange(8.0).reshape(4, 2), ratio=2),
    FromData(
        [1.0, 2.0, 3.0, 5.0], [[1.0, 0.0], [0.0, 1.0], [4.0, 4.0], [2.0, 1.0]], test="independence"
    ),
    FromFunction(exponential),
    FromFunction(exponential, test="independence"),
]


def smallest_p(first, second):
    """The smallest p-value of the Kolmogorov-Smirnov test over columns."""
    return min(stats.ks_2samp(a, b).pvalue for a, b in zip(first.T, second.T, strict=True))


def test_registry_and_names():
    assert len(DESIGNS) == 38 and [*DESIGNS][-5:] == [
        "one-apart",
        "parity",
        "change",
        "skew-normal",
        "confounded",
    ]
    for name, kind in DESIGNS.items():
        assert (
            kind.name == name
            and kind.summary
            and as_design(name) == kind() == as_design(name.upper())
        )
    assert (
        as_design("mean_shift") == d.MeanShift()
        and d.MeanShift.summary == "Gaussians with different means"
    )
    assert (
        repr(d.MeanShift(shift=2))
        == repr(d.MeanShift(shift=np.float64(2.0)))
        == "MeanShift(shift=2.0)"
    )
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
            assert (
                isinstance(twin, Design)
                and twin.test == design.test
                and twin.options() == design.options()
            )
            assert twin == design or twin.null() is twin
            n = max(twin.smallest(), 9)
            data = twin.sample(np.random.default_rng(5), n)
            assert all(z.dtype == np.float64 and z.ndim == 2 and np.isfinite(z).all() for z in data)
            rows = [len(z) for z in data]
            last = (
                math.floor(n * twin.ratio + 0.5) if twin.test in ("two-sample", "k-sample") else n
            )
            assert rows == [n] * (len(rows) - 1) + [last]
            assert all(map(np.array_equal, data, twin.sample(np.random.default_rng(5), n)))
            assert not all(map(np.array_equal, data, twin.sample(6, n)))
            assert len(twin.sample(0, twin.smallest())[0]) == twin.smallest()
        with pytest.raises(ValueError, match="needs n >= "):
            design.sample(0, design.smallest() - 1)


def test_sizes_of_samples_and_the_changed_sample():
    for kind in TWO_SAMPLE:
        design = replace(kind(), ratio=0.5)
        assert [len(design.sample(0, n)[1]) for n in (2, 3, 5, 7)] == [
            2,
            2,
            3,
            4,
        ]  # halves round up, at least 2
        x, y = kind().sample(3, 5, 11)
        assert all(map(np.array_equal, kind(swap=True).sample(3, 11, 5), (y, x)))
        assert x.shape[1] == y.shape[1] == getattr(design, "dimension", 2)


@pytest.mark.ci
@pytest.mark.parametrize("design", SMALL, ids=repr)
def test_samples_of_a_null_twin_have_one_law_and_others_do_not(design):
    """Looking at coordinates, lengths, products of neighbors, and products of what rounding leaves."""

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
    for design in [kind() for kind in PAIRS if kind is not d.EckerleSubsample] + [
        *map(d.HyppoSimulation, SIMULATIONS)
    ]:
        twin = design.null()
        assert twin == Independent(design)
        pairs, (x, y) = design.sample(1, 2000), twin.sample(2, 2000)
        assert (
            min(smallest_p(a[:, :1], b[:, :1]) for a, b in zip(pairs, (x, y), strict=True)) > 1e-5
        )
        assert (
            min(
                stats.spearmanr(f(x[:, 0]), f(y[:, 0])).pvalue
                for f in (np.asarray, np.square, np.sin)
            )
            > 1e-5
        )


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
        (
            d.Autoregressive(dimension=3),
            [0] * 3,
            0.8 ** np.abs(np.subtract.outer(range(3), range(3))),
        ),
        (d.TwoModes(dimension=3, distance=2.0), [1] * 3, EYE + 1.0),
        (d.Contamination(dimension=3, fraction=0.25, shift=2.0), [0.5] * 3, EYE + 0.75),
    ],
    ids=repr,
)
def test_moments_of_the_changed_sample(design, mean, covariance):
    x, y = design.sample(0, MANY)
    assert np.allclose(y.mean(axis=0), mean, atol=0.1) and np.allclose(
        np.cov(y.T), covariance, atol=0.12, rtol=0.04
    )
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
        assert (
            tuple(
                vars(design)[name] for name in type(design).__annotations__ if name in vars(design)
            )
            == settings
        )


def bump(t):
    """G of [S23], as written there."""
    if -1 < t < -0.5:
        return math.exp(-1 / (1 - (4 * t + 3) ** 2))
    return -math.exp(-1 / (1 - (4 * t + 1) ** 2)) if -0.5 < t < 0 else 0.0


@pytest.mark.parametrize(("dimension", "c", "perturbations"), [(1, 2.7, 4), (2, 7.3, 2)])
def test_density_of_perturbed_uniforms_with_the_published_constants(dimension, c, perturbations):
    design = d.PerturbedUniform(
        dimension, perturbations, amplitude=c / (perturbations * math.exp(dimension))
    )
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
    mass = (
        0.25
        * math.e
        * np.mean(np.exp(-1.0 / (1.0 - (2.0 * (np.arange(2000) + 0.5) / 2000 - 1.0) ** 2)))
    )
    x, y = d.PerturbedUniform(amplitude=1.0).sample(3, MANY)
    assert stats.kstest(x[:, 0], "uniform").pvalue > 1e-3
    assert abs(np.mean(y < 0.5) - 0.5) == pytest.approx(2 * mass, abs=0.015)
    x, y = d.PerturbedDependence(perturbations=1).sample(0, MANY)
    assert abs(np.mean((x < 0.5) == (y < 0.5)) - 0.5) == pytest.approx(8.0 * mass**2, abs=0.015)
    assert min(stats.kstest(z[:, 0], "uniform").pvalue for z in (x, y)) > 1e-4


def test_grids_and_modes():
    x, y = d.Blobs(rows=2, correlation=0.8, spacing=50.0).sample(0, MANY)
    for z, correlation in ((x, 0.0), (y, 0.8)):
        centers = 50.0 * np.round(z / 50.0)
        assert np.array_equal(np.unique(centers, axis=0), [[0, 0], [0, 50], [50, 0], [50, 50]])
        assert np.allclose(np.cov((z - centers).T), [[1, correlation], [correlation, 1]], atol=0.05)
    for z, scale in zip(d.Corners(dimension=3).sample(0, MANY), (1.0, 1.6), strict=True):
        corner = np.sign(z[:, :2])
        changed, within = (
            (corner < 0).all(axis=1),
            z - np.column_stack([20.0 * corner, np.zeros(MANY)]),
        )
        assert abs(changed.mean() - 0.25) < 0.02
        assert np.allclose(np.cov(within[changed].T), scale**2 * EYE, atol=0.15)
        assert np.allclose(np.cov(within[~changed].T), EYE, atol=0.05)
    for z, correlation in zip(
        d.TwoModes(dimension=3, distance=40.0).sample(0, MANY), (0.0, 0.5), strict=True
    ):
        upper = z.mean(axis=1) > 20.0
        for mode, sign in ((z[~upper], 1.0), (z[upper], -1.0)):
            assert np.allclose(np.cov(mode.T)[0], [1, sign * correlation, 0], atol=0.05)


def test_shapes_of_other_laws():
    _, y = d.Contamination(dimension=2, fraction=0.25, shift=20.0, scale=2.0).sample(0, MANY)
    away = y[:, 0] > 10
    assert away.mean() == pytest.approx(0.25, abs=0.02) and np.array_equal(
        away, y[:, 1] > 10
    )  # whole points
    assert np.allclose(y[away].std(axis=0), 2, rtol=0.05)
    _, y = d.Tails(dimension=3, df=8.0).sample(0, MANY)
    radius = np.square(y).sum(axis=1) * 8.0 / 6.0 / 3.0  # of the multivariate t
    assert stats.kstest(radius, stats.f(3, 8).cdf).pvalue > 0.001
    _, y = d.ThinCube(dimension=4, thin=2).sample(0, MANY)
    assert (
        stats.kstest(y[:, 1], stats.uniform(0.1, 0.8).cdf).pvalue
        > 1e-4
        < stats.kstest(y[:, 2], "uniform").pvalue
    )
    for z in (
        np.subtract(z, shift)
        for z, shift in zip(d.Spheres(dimension=3).sample(0, MANY), (0, 0.015), strict=True)
    ):
        radius = np.linalg.norm(z, axis=1)
        assert radius.std() == pytest.approx(0.02, rel=0.03) and radius.mean() == pytest.approx(
            1.0, abs=0.002
        )
        assert stats.kstest(z[:, 0] / radius, stats.uniform(-1, 2).cdf).pvalue > 1e-4  # Archimedes


def test_mixtures_are_those_of_the_papers_and_change_as_they_say():
    samples = {
        c: d.Mixture(dimension=2, change=c, amount=0.5, mixture_seed=3).sample(1, MANY)
        for c in CHANGES
    }
    rng = np.random.default_rng(3)
    means, factors = (
        rng.uniform(-10, 10, size=(4, 2)),
        math.sqrt(2.0) * rng.standard_normal((4, 2, 7)),
    )
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
    anew, fixed = (
        [d.Mixture(2, mixture_seed=s).sample(t, 5000)[0].mean(axis=0) for t in (0, 1)]
        for s in (None, 0)
    )
    assert np.abs(anew[0] - anew[1]).max() > 0.7 > np.abs(fixed[0] - fixed[1]).max()


def test_uncorrelated_but_dependent():
    for name in ("circle", "cross", "multiplicative-noise", "rotated", "heteroscedastic"):
        x, y = as_design(name).sample(0, MANY)
        assert abs(np.corrcoef(x[:, 0], y[:, 0])[0, 1]) < 0.03
        assert (
            max(
                abs(np.corrcoef(f(x[:, 0]), np.square(y[:, 0]))[0, 1])
                for f in (np.square, np.asarray)
            )
            > 0.1
        )
    x, y = d.Rotated(angle=0.0).sample(0, MANY)
    assert abs(np.corrcoef(np.square(x[:, 0]), np.square(y[:, 0]))[0, 1]) < 0.03
    assert np.allclose(
        np.cov(np.hstack(d.Rotated(dimension=5).sample(0, MANY)).T), np.eye(10), atol=0.05
    )


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
    assert set(zip(x[:, 0], y[:, 0], strict=True)) == rows and not np.array_equal(
        np.sort(x[:, 0]), x[:, 0]
    )
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
            assert x.shape == (50, dimension) and y.shape == (
                50,
                dimension if name in MANY_Y else 1,
            )
    for name, (curve, _) in CURVES.items():
        for dimension in (1, 3):
            x, y = simulated(name, dimension=dimension)
            assert np.allclose(y[:, 0], curve(x @ [1.0, 1 / 2, 1 / 3][:dimension]))
            assert is_law(
                x[:, -1], stats.uniform(*((0, 3) if name == "exponential" else (-1, 2))).cdf
            )
    added = {
        **{name: size for name, (_, size) in CURVES.items()},
        "joint-normal": 0.5,
        "w-shaped": 0.5,
        "spiral": 0.4,
    }
    for name, size in (added | {"logarithmic": 3.0}).items():
        (x, curve), (same, y) = simulated(name), simulated(name, noise=1.0)
        assert np.array_equal(x, same) and (y - curve).std() == pytest.approx(size, rel=0.03)
        assert np.allclose(simulated(name, noise=0.5)[1], (curve + y) / 2)


def test_simulations_without_a_curve():
    for dimension in (1, 4):
        expected = np.eye(2 * dimension)
        expected[:dimension, dimension:] = expected[dimension:, :dimension] = 1 / (2 * dimension)
        assert np.allclose(
            np.cov(np.hstack(simulated("joint-normal", dimension=dimension)).T), expected, atol=0.05
        )
    x, y = simulated("w-shaped")
    assert is_law((y - 4 * (x**2 - 0.5) ** 2) * 125, "uniform")
    x, y = simulated("spiral", dimension=3)
    z = np.sqrt(np.square(np.hstack([x, y])).sum(axis=1))
    sphere = np.column_stack(
        [np.sin(np.pi * z) * np.cos(np.pi * z) ** k for k in (1, 2)] + [np.cos(np.pi * z) ** 3]
    )
    assert (
        is_law(z / 5, "uniform")
        and np.allclose(x, z[:, None] * sphere)
        and np.allclose(y[:, 0], z * np.sin(np.pi * z))
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


def test_designs_of_other_tests():
    samples = d.OneApart(samples=3, dimension=2, shift=3.0, ratio=2.0).sample(0, 500)
    assert [len(sample) for sample in samples] == [500, 500, 1000]
    assert np.allclose(
        [sample.mean(axis=0) for sample in samples], [[0, 0], [0, 0], [3, 0]], atol=0.2
    )
    for strength in (0.0, 0.5, 1.0):
        variables = np.hstack(d.Parity(variables=3, strength=strength).sample(1, 4000))
        assert abs((variables.prod(axis=1) > 0).mean() - (0.5 + strength / 2)) < 0.03
        assert (
            np.abs(np.corrcoef(np.sign(variables).T) - EYE).max() < 0.06
        )  # any two are independent
    (x,) = d.Changed(d.MeanShift(dimension=1, shift=50.0), at=0.3, until=0.6).sample(0, 20)
    assert np.flatnonzero(x[:, 0] > 25.0).tolist() == [6, 7, 8, 9, 10, 11]
    assert d.Changed(at=0.01).places(20) == (2, 20) and d.Changed(until=0.8).options() == {
        "change": "epidemic"
    }
    (x,) = d.SkewNormal(dimension=2).sample(0, MANY)
    assert np.allclose(x.mean(axis=0), 0, atol=0.03) and np.allclose(x.std(axis=0), 1, atol=0.03)
    assert np.allclose(
        (x**3).mean(axis=0), stats.skewnorm(0.99 / math.sqrt(1 - 0.99**2)).stats("s"), atol=0.1
    )
    for how in ("mean", "square"):
        x, y, z = d.Confounded("smooth", columns=2, effect=0.6, how=how).sample(0, MANY)
        shared = d.Confounded("smooth", columns=2).shared(z)
        e, rest = (x - shared)[:, 0], (y - shared)[:, 0]
        g = e if how == "mean" else (e**2 - 1) / math.sqrt(2)
        assert np.polyfit(g, rest, 1)[0] == pytest.approx(0.6, abs=0.03) and is_law(e, "norm")
