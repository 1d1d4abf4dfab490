"""What the package promises about its speed, one named row a promise; whole public calls on two cores."""

from __future__ import annotations

import children
import contenders
import numpy as np
import pytest
import samples
from rows import Row

from shrinktest import FKMSE, Gaussian, independence_test, two_sample_test
from shrinktest.estimators import ESTIMATORS

TARGETS, CORES = "targets", 2


def splitting(X, Y, estimator="kme", resamples=999, workers=CORES, **options):
    return lambda: two_sample_test(
        X, Y, estimator=estimator, n_resamples=resamples, rng=0, workers=workers, **options
    )


def pairing(X, Y, estimator="kme", resamples=999, workers=CORES, **options):
    return lambda: independence_test(
        X, Y, estimator=estimator, n_resamples=resamples, rng=0, workers=workers, **options
    )


# ------------------------------------------------------------------------------------- other packages


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("test", "name", "least"),
    [
        ("two-sample", "hyppo MMD", 300),
        ("two-sample", "dcor energy_test", 20),
        ("independence", "hyppo Hsic", 100),
        ("independence", "dcor distance_covariance_test", 20),
    ],
)
def test_against_peers(race, threads, tiny, test, name, least):
    pytest.importorskip(contenders.PEERS[name][1])
    theirs, resamples = contenders.peer(name), tiny(999, 39)
    if test == "two-sample":
        data, call, what = (
            samples.two(tiny(500), 10, shift=0.5),
            splitting,
            "kme, 500 + 500 points, 10-d",
        )
    else:
        data, call, what = samples.pair(tiny(1000)), pairing, "HSIC kme, two scalars, n = 1000"
    threads(CORES)
    race(
        TARGETS,
        f"{what}, B = 999, against {name}",
        ("two workers", call(*data, resamples=resamples)),
        (f"{name}, two workers", lambda: theirs(*data, resamples, CORES)),
        samples.akin,
        target=f">= {least}",
    )


# ------------------------------------------------------------------------------------------- the floor


def test_dense_against_the_bare_product(race, threads, tiny):
    n, resamples = tiny(2000), tiny(999, 39)
    X, Y = samples.two(n, 10)
    ours = splitting(X, Y, resamples=resamples, gram="dense")
    columns = contenders.indicators(samples.splits(n, resamples + 1, resamples))
    gram = Gaussian(ours().bandwidth)(np.vstack([X, Y]))
    threads(CORES)
    race(
        TARGETS,
        "kme, 2000 + 2000 points, 10-d, B = 999, against the bare product, kernel and median included",
        ("gram='dense'", ours),
        (
            "bare N x N by N x 1000 product",
            contenders.dense(gram, columns),
        ),
        samples.block_sums(gram, X, Y),
        measure="cost",
        target="<= 2",
    )


def test_factor_against_the_bare_product(race, threads, tiny):
    n, resamples = tiny(50_000, 40), tiny(999, 39)
    X, Y = samples.two(n, 2)
    ours = splitting(X, Y, resamples=resamples)  # the rule itself must choose a route that fits
    factors = contenders.cholesky(np.vstack([X, Y]), ours().bandwidth)
    masks = samples.splits(n, min(99, resamples), resamples)
    columns = contenders.indicators(np.vstack([np.ones((1, 2 * n), dtype=bool), masks]))
    threads(CORES)
    race(
        TARGETS,
        "kme, 50 000 + 50 000 points, 2-d, B = 999, against the bare factor product",
        ("two workers", ours),
        (
            f"bare {len(factors)} x N by N x 1000 product",
            contenders.factor(factors, columns, resamples + 1),
        ),
        samples.factor_sums(n, n),
        measure="cost",
        target="<= 3",
    )


MANY = """
import numpy as np
from shrinktest import two_sample_test
rng = np.random.default_rng(0)
X, Y = rng.normal(size=({n}, 2)), 1.1 * rng.normal(size=({n}, 2))
result = two_sample_test(X, Y, n_resamples={resamples}, rng=0, workers=2)
print(result.pvalue)
"""


@pytest.mark.parametrize(
    ("n", "words", "most"), [(50_000, "50 000 + 50 000", 2), (500_000, "500 000 + 500 000", 8)]
)
def test_peak_memory(turns, keep, tiny, rounds, n, words, most):
    code, peaks = MANY.format(n=tiny(n, 40), resamples=tiny(999, 39)), []

    def child():
        pvalue, peak = children.peak(code)
        assert 0.0 < float(pvalue) <= 1.0
        peaks.append(peak)

    times = turns({"ours": child})
    middle = float(np.median(peaks))
    seconds = float(np.median(times["ours"]))
    name, label = f"kme, {words} points, 2-d, B = 999: peak memory of the process", "process"
    keep(
        Row(
            TARGETS,
            name,
            label,
            "-",
            middle,
            "GB",
            min(peaks),
            max(peaks),
            f"< {most}",
            seconds,
            rounds=rounds,
        )
    )


def test_large_hsic_against_small(race, threads, tiny):
    resamples = tiny(999, 39)
    threads(CORES)
    large, small = tiny(20_000, 40), tiny(2000)
    race(
        TARGETS,
        "HSIC kme, two scalars, n = 20 000 against n = 2000, B = 999",
        ("n = 20 000", pairing(*samples.pair(large), resamples=resamples)),
        ("n = 2000", pairing(*samples.pair(small), resamples=resamples)),
        samples.unequal_work,
        measure="cost",
        target="< 10",
    )


def test_factor_gives_the_p_value_of_dense(keep, threads, tiny):
    n, resamples = tiny(2000), tiny(999, 39)
    X, Y = samples.two(n, 2, spread=1.02)
    threads(CORES)
    dense, factor = (
        splitting(X, Y, resamples=resamples, gram=gram)() for gram in ("dense", "factor")
    )
    assert (str(dense.route), str(factor.route)) != (str(dense.route),) * 2
    gap = abs(dense.pvalue - factor.pvalue)
    name = "kme, N = 4000, 2-d: p-value of the factor route less that of the dense one"
    keep(
        Row(
            TARGETS,
            name,
            f"{factor.pvalue:.4g}",
            f"dense {dense.pvalue:.4g}",
            gap,
            "difference",
            gap,
            gap,
            "<= 0",
        )
    )


# ------------------------------------------------------------------------------------- retuned estimators


def against_loop(verb_of, loop, drawn, n, X, Y, name, resamples, rows, loo):
    estimator = FKMSE(loo=loo) if loo else name
    chosen = drawn(n, rows, resamples)

    def agree(ours, theirs):
        np.testing.assert_allclose(ours.statistic, theirs[0], rtol=1e-5, atol=1e-10)
        np.testing.assert_allclose(
            ours.null_distribution[: rows - 1], theirs[1:], rtol=1e-5, atol=1e-9
        )

    loop_name = "fkmse, averaged" if loo == "averaged" else name
    return (
        verb_of(X, Y, estimator, resamples),
        lambda: loop(X, Y, chosen, loop_name),
        agree,
        (resamples + 1) / rows,
    )


@pytest.mark.parametrize(("loo", "bound"), [("averaged", 20), ("deletion", 5)])
def test_fkmse_against_numpy(race, threads, tiny, loo, bound):
    n, resamples = tiny(100), tiny(999, 39)
    rows = tiny(200, 5)
    X, Y = samples.two(n, 10)
    ours, theirs, agree, scale = against_loop(
        splitting, contenders.two_sample, samples.splits, n, X, Y, "fkmse", resamples, rows, loo
    )
    threads(1)  # more threads only slow numpy down on matrices this small
    race(
        TARGETS,
        f"fkmse, loo='{loo}', 100 + 100 points, 10-d, B = 999, against the numpy loop",
        ("two workers", ours),
        (f"numpy, eigh per split, {rows} splits, scaled", theirs),
        agree,
        measure="share",
        target=f"<= {1 / bound}",
        scale=scale,
    )


def test_fcose_against_numpy(race, threads, tiny):
    n, resamples, rows = tiny(100), tiny(999, 39), tiny(200, 5)
    X, Y = samples.pair(n)
    ours, theirs, agree, scale = against_loop(
        pairing, contenders.independence, samples.pairings, n, X, Y, "fkmse", resamples, rows, None
    )
    threads(1)
    race(
        TARGETS,
        "F-COSE independence (fkmse), n = 100, B = 999, against the numpy loop",
        ("two workers", ours),
        (f"numpy, eigh per pairing, {rows} pairings, scaled", theirs),
        agree,
        measure="share",
        target="<= 0.2",
        scale=scale,
    )


@pytest.mark.parametrize("loo", ["averaged", "deletion"])
def test_fkmse_against_kme(race, threads, tiny, loo):
    resamples = tiny(999, 39)
    X, Y = samples.two(tiny(500), 2)
    threads(CORES)
    race(
        TARGETS,
        f"fkmse, loo='{loo}', against kme, 500 + 500 points, 2-d, B = 999",
        ("two workers", splitting(X, Y, FKMSE(loo=loo), resamples)),
        ("kme, gram='dense'", splitting(X, Y, resamples=resamples, gram="dense")),
        samples.unequal_work,
        measure="cost",
        target="<= 15",
    )


# ------------------------------------------------------------------------------------------ combining


@pytest.mark.parametrize(("n", "most"), [(25, 12), (500, 8), (2000, 8)])
def test_auto_against_kme(race, threads, tiny, n, most):
    resamples = tiny(999, 39)
    X, Y = samples.two(tiny(n), 10)
    threads(CORES)
    race(
        TARGETS,
        f"auto against kme, {n} + {n} points, 10-d, B = 999",
        ("two workers", splitting(X, Y, "auto", resamples)),
        ("kme", splitting(X, Y, resamples=resamples)),
        samples.unequal_work,
        measure="cost",
        target=f"<= {most}",
    )


def test_auto_against_mmdagg(race, threads, tiny):
    resamples = tiny(999, 39)
    X, Y = samples.two(tiny(500), 10)
    theirs = contenders.mmdagg()
    threads(CORES)
    race(
        TARGETS,
        "auto, 500 + 500 points, 10-d, B = 999, against MMDAgg in numpy with as many permutations",
        ("two workers", splitting(X, Y, "auto", resamples)),
        ("MMDAgg, 20 kernels", lambda: theirs(X, Y, resamples, CORES)),
        samples.unequal_work,
        measure="cost",
        target="<= 0.35",
    )


# --------------------------------------------------------------------------------------------- tables


def test_mixed_table_against_reading_it(race, threads, tiny, tmp_path):
    pandas = pytest.importorskip("pandas")
    paths = [tmp_path / f"{name}.csv" for name in "ab"]
    for path, table in zip(paths, samples.tables(tiny(50_000, 200)), strict=True):
        table.to_csv(path, index=False)

    def read():
        return [pandas.read_csv(path, parse_dates=["day"]) for path in paths]

    X, Y = read()
    threads(CORES)
    race(
        TARGETS,
        "two tables of 50 000 mixed rows in 20 columns, rff of rank 100, B = 999, against reading them with pandas",
        ("two workers", splitting(X, Y, gram="rff", rank=100, resamples=tiny(999, 39))),
        ("pandas.read_csv", read),
        samples.all_rows,
        measure="cost",
        target="<= 10",
    )


# --------------------------------------------------------------------------------------------- workers


#: (estimator, columns, route): a tuned one is slow at this size, so these get 39, which two workers can share.
ROUTES = [
    ("kme", 10, "dense"),
    ("kme", 2, "factor"),
    *((name, 10, "dense") for name in ESTIMATORS if name not in ("kme", "mkme", "mmkme")),
    ("fkmse, averaged", 10, "dense"),
    ("fkmse, averaged", 2, "factor"),
    ("mkme", 2, "dense"),
    ("mmkme", 2, "dense"),
]


@pytest.mark.parametrize("test", ["two-sample", "independence"])
@pytest.mark.parametrize(("name", "columns", "gram"), ROUTES)
def test_two_workers_against_one(race, threads, tiny, test, name, columns, gram):
    if (test, name, gram) == ("independence", "fkmse, averaged", "factor"):
        pytest.skip("pairs have no factor of few coordinates")
    quick = name in ("kme", "skmse", "mkme", "mmkme") or gram == "factor"
    resamples = tiny(999 if quick else 39, 39)
    X, Y = (
        samples.two(tiny(500), columns)
        if test == "two-sample"
        else samples.pair(tiny(1000), columns)
    )
    call = splitting if test == "two-sample" else pairing
    estimator = FKMSE(loo="averaged") if name == "fkmse, averaged" else name
    one_worker, two_workers = (
        call(X, Y, estimator, resamples, workers, gram=gram) for workers in (1, 2)
    )
    threads(1)  # what a call needs of the linear algebra library it may ask for itself
    race(
        TARGETS,
        f"{name}, {test}, gram='{gram}', N = 1000, {columns}-d, B = {resamples}: two workers against one",
        ("two workers", two_workers),
        ("one worker", one_worker),
        samples.identical,
        target=">= 1.7",
    )
