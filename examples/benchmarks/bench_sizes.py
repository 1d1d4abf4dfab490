"""By size: every estimator against numpy loops, other packages, the bare matrix product; and how time grows."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter

import children
import contenders
import numpy as np
import pytest
import samples
from rows import Row

from shrinktest import FKMSE, Gaussian, independence_test, two_sample_test
from shrinktest.estimators import ESTIMATORS

# --- every estimator against the numpy loop, one core each ---------------------------------------------------------
LOOPS = [*ESTIMATORS, "fkmse, averaged"]
BOTH_TESTS = {
    "two-sample": (two_sample_test, samples.two, contenders.two_sample, samples.splits),
    "independence": (independence_test, samples.pair, contenders.independence, samples.pairings),
}
#: Relabelings that the numpy loop takes, by size: those by deletion decompose n matrices in each.  With more than 2000
#: points the package takes the median over some of them, which the loop does not.
QUICK = {10: 200, 30: 200, 100: 100, 300: 20, 1000: 10}
SLOW = {10: 20, 30: 10, 100: 2, 300: 1}
BY_DELETION = ("landweber", "nu", "iterated_tikhonov")
SIZES = [(name, n) for name in LOOPS for n in QUICK if n <= 300 or name == "kme"]


@pytest.mark.parametrize("test", BOTH_TESTS)
@pytest.mark.parametrize(("name", "n"), SIZES)
def test_against_numpy(race, threads, tiny, test, name, n):
    verb, data, loop, drawn = BOTH_TESTS[test]
    resamples = tiny(999 if n <= 100 or name in ("kme", "skmse") else 99, 39)
    points, rows = tiny(n), tiny((SLOW if name in BY_DELETION else QUICK)[n], 2)
    rows = min(rows, resamples + 1)
    X, Y = data(points, 2)
    estimator = FKMSE(loo="averaged") if name == "fkmse, averaged" else ESTIMATORS[name]()
    chosen = drawn(points, rows, resamples)
    threads(1)

    def agree(ours, theirs):
        rtol = (
            1e-3 if name == "mmkme" else 1e-4
        )  # amounts of many coordinates, where the score is flat
        np.testing.assert_allclose(ours.statistic, theirs[0], rtol=rtol, atol=1e-9)
        np.testing.assert_allclose(
            ours.null_distribution[: rows - 1], theirs[1:], rtol=rtol, atol=1e-8
        )

    race(
        "numpy",
        f"{name}, {test}, n = {n}, 2-d",
        (
            f"B = {resamples}",
            lambda: verb(X, Y, estimator=estimator, n_resamples=resamples, rng=0, workers=1),
        ),
        (f"numpy loop, {rows} relabelings, scaled", lambda: loop(X, Y, chosen, name)),
        agree,
        scale=(resamples + 1) / rows,
    )


# --- other packages, warm on one core each, and cold as a process --------------------------------------------------
TESTS = {
    "two-sample": (two_sample_test, samples.two),
    "independence": (independence_test, samples.pair),
}


def data(test, n):
    """Samples on which every test rejects: statistics that differ can then agree in what they say."""
    if test == "two-sample":
        return samples.two(n, 2, shift=1.5)
    x, y = samples.pair(n)
    return x, x**2 + 0.3 * y


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("n", [30, 100, 300])
@pytest.mark.parametrize("name", contenders.PEERS)
def test_warm(race, threads, tiny, name, n):
    _, package, test, form = contenders.PEERS[name]
    pytest.importorskip(package)
    theirs, verb, resamples = contenders.peer(name), TESTS[test][0], tiny(999, 39)
    X, Y = data(test, tiny(n))
    options = {"form": form or "auto", "n_resamples": resamples, "rng": 0, "workers": 1}
    threads(1)
    race(
        "peers",
        f"kme, {test}, n = {n}, {X.shape[1]}-d, against {name}",
        ("one core", lambda: verb(X, Y, **options)),
        (name, lambda: theirs(X, Y, resamples, 1)),
        samples.same if form else samples.akin,
    )


COLD = """
import numpy as np, sys, warnings
warnings.simplefilter("ignore")
sys.path[:0] = {path!r}
rng = np.random.default_rng(0)
X, Y = rng.normal(size=(100, 2)), 1.5 + rng.normal(size=(100, 2))
{call}
"""
OURS = "import shrinktest; print(shrinktest.{verb}(X, Y, n_resamples={resamples}, rng=0, workers=1).pvalue)"
THEIRS = "import contenders; print(contenders.peer({name!r})(X, Y, {resamples}, 1)[1])"


@pytest.mark.parametrize(
    "name", ["hyppo MMD", "dcor energy_test", "frouros MMD", "scipy permutation_test, MMD"]
)
def test_cold(race, tiny, name):
    pytest.importorskip(contenders.PEERS[name][1])
    resamples = tiny(999, 39)

    def process(call):
        code = COLD.format(path=children.PATH, call=call)
        return lambda: float(children.run(code, threads=1))

    race(
        "cold",
        f"kme, two-sample, n = 100, 2-d, a process, against {name}",
        ("process", process(OURS.format(verb="two_sample_test", resamples=resamples))),
        (name, process(THEIRS.format(name=name, resamples=resamples))),
        lambda ours, theirs: samples.close(ours, theirs, resamples),
    )


# --- the bare matrix product ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("n", [50, 150, 500, 1000, 2000, 4000])
def test_dense(race, threads, tiny, n, workers):
    points, resamples = tiny(n), tiny(999, 39)
    X, Y = samples.two(points, 10)

    def ours():
        return two_sample_test(X, Y, n_resamples=resamples, rng=0, workers=workers, gram="dense")

    gram = Gaussian(ours().bandwidth)(np.vstack([X, Y]))
    columns = contenders.indicators(samples.splits(points, resamples + 1, resamples))
    threads(workers)
    race(
        "floor",
        f"kme, {n} + {n} points, 10-d, B = 999, {workers} core{'s' * (workers > 1)}",
        ("gram='dense'", ours),
        ("bare N x N by N x 1000 product", contenders.dense(gram, columns)),
        samples.block_sums(gram, X, Y),
        measure="cost",
    )


@pytest.mark.parametrize("columns", [1, 2, 3])
@pytest.mark.parametrize("n", [2000, 10_000, 50_000])
def test_factor(race, threads, tiny, n, columns):
    points, resamples = tiny(n, 40), tiny(999, 39)
    X, Y = samples.two(points, columns)

    def ours():
        return two_sample_test(X, Y, n_resamples=resamples, rng=0, workers=2, gram="factor")

    factors = contenders.cholesky(np.vstack([X, Y]), ours().bandwidth)
    masks = samples.splits(points, min(99, resamples), resamples)
    block = contenders.indicators(np.vstack([np.ones((1, 2 * points), dtype=bool), masks]))
    threads(2)
    race(
        "floor",
        f"kme, {n} + {n} points, {columns}-d, B = 999, 2 cores",
        ("gram='factor'", ours),
        (
            f"bare {len(factors)} x N by N x 1000 product",
            contenders.factor(factors, block, resamples + 1),
        ),
        samples.factor_sums(points, points),
        measure="cost",
    )


@pytest.mark.parametrize("milliseconds", [2, 5, 10, 20, 100])
def test_two_threads(race, milliseconds):
    """Upper bound for a second worker: hashes, which wait for no lock and hardly for memory."""
    text = bytes(10**6)
    start = perf_counter()
    hashlib.sha256(text)
    text *= max(1, round(milliseconds * 1e-3 / (perf_counter() - start)))

    def digest(_):
        return hashlib.sha256(text).digest()

    def two():
        with ThreadPoolExecutor(2) as pool:
            return list(pool.map(digest, range(2)))

    def agree(first, second):
        assert first == second

    name = f"two threads that hash for {milliseconds} ms each"
    race(
        "floor",
        name,
        ("two threads", two),
        ("one after the other", lambda: [digest(0), digest(1)]),
        agree,
    )


# --- exponents of fitted power laws --------------------------------------------------------------------------------
GROWING = {"kme": "kme", "fkmse": "fkmse", "fkmse, averaged": FKMSE(loo="averaged")}


def splitting(n=500, d=10, B=999, workers=1, estimator="kme", **options):
    X, Y = samples.two(n, d)
    given = {
        "estimator": GROWING[estimator],
        "n_resamples": B,
        "rng": 0,
        "workers": workers,
        **options,
    }
    return lambda: two_sample_test(X, Y, **given)


def pairing(n=500, d=1, B=999, workers=1, estimator="kme", **options):
    X, Y = samples.pair(n, d)
    given = {
        "estimator": GROWING[estimator],
        "n_resamples": B,
        "rng": 0,
        "workers": workers,
        **options,
    }
    return lambda: independence_test(X, Y, **given)


#: What grows: the call, the name of its option, the values, everything else.
LAWS = {
    "kme, two-sample, dense, in n": (splitting, "n", (250, 500, 1000, 2000), {"gram": "dense"}),
    "kme, two-sample, factor, in n": (
        splitting,
        "n",
        (2000, 8000, 32_000, 128_000),
        {"d": 2, "gram": "factor"},
    ),
    "kme, two-sample, in d": (splitting, "d", (1, 10, 100, 1000), {}),
    "kme, two-sample, in B": (splitting, "B", (999, 1999, 3999, 9999), {}),
    "kme, independence, dense, in n": (pairing, "n", (250, 500, 1000, 2000), {"gram": "dense"}),
    "kme, independence, factor, in n": (
        pairing,
        "n",
        (2000, 6000, 20_000, 60_000),
        {"gram": "factor"},
    ),
    "kme, independence, in B": (pairing, "B", (999, 1999, 3999, 9999), {}),
    "fkmse, two-sample, in n": (
        splitting,
        "n",
        (50, 100, 200, 400),
        {"estimator": "fkmse", "B": 99},
    ),
    "fkmse, averaged, two-sample, in n": (
        splitting,
        "n",
        (50, 100, 200, 400),
        {"estimator": "fkmse, averaged", "B": 99},
    ),
    "fkmse, two-sample, in B": (splitting, "B", (99, 299, 999), {"estimator": "fkmse", "n": 50}),
    "fkmse, independence, in n": (
        pairing,
        "n",
        (50, 100, 200, 400),
        {"estimator": "fkmse", "B": 99},
    ),
    "kme, two-sample, in workers": (splitting, "workers", (1, 2), {"n": 1000}),
    "fkmse, two-sample, in workers": (
        splitting,
        "workers",
        (1, 2),
        {"estimator": "fkmse", "n": 100},
    ),
}


def law_of(times, sizes):
    """The exponent of the power law of each column of times, by least squares on logarithms."""
    return np.polyfit(np.log(sizes), np.log(times), 1)[0]


@pytest.mark.parametrize("name", LAWS)
def test_exponent(turns, threads, keep, tiny, smoke, rounds, name):
    call, grows, values, fixed = LAWS[name]
    limits = {"n": 10, "d": 3, "B": 29, "workers": 1}
    sizes = [limits[grows] + k for k in range(len(values))] if smoke else list(values)
    rest = {
        key: tiny(value, limits[key]) if key in limits else value for key, value in fixed.items()
    }
    if smoke:
        rest = {"n": 10, "B": 29} | rest
    runs = {str(size): call(**{**rest, grows: size}) for size in sizes}
    threads(1)
    pvalues = [run().pvalue for run in runs.values()]  # the warm-up
    assert all(0.0 < pvalue <= 1.0 for pvalue in pvalues)
    assert grows != "workers" or len(set(pvalues)) == 1
    times = np.array(list(turns(runs).values()))  # (sizes, rounds)
    middle = np.median(times, axis=1)
    each = law_of(times, sizes)
    shown = ", ".join(
        f"{size}: {seconds:.2g} s" for size, seconds in zip(sizes, middle, strict=True)
    )
    fitted = float(law_of(middle, sizes))
    keep(
        Row("scaling", name, shown, "-", fitted, "exponent", each.min(), each.max(), rounds=rounds)
    )
