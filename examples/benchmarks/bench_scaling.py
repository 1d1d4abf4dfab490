"""How time grows with points, columns, relabellings and workers: exponents of fitted power laws."""

from __future__ import annotations

import numpy as np
import pytest
import samples
from rows import Row

from shrinktest import FKMSE, independence_test, two_sample_test

ESTIMATORS = {"kme": "kme", "fkmse": "fkmse", "fkmse, averaged": FKMSE(loo="averaged")}


def splitting(n=500, d=10, B=999, workers=1, estimator="kme", **options):
    X, Y = samples.two(n, d)
    given = {"estimator": ESTIMATORS[estimator], "n_resamples": B, "rng": 0, "workers": workers, **options}
    return lambda: two_sample_test(X, Y, **given)


def pairing(n=500, d=1, B=999, workers=1, estimator="kme", **options):
    X, Y = samples.pair(n, d)
    given = {"estimator": ESTIMATORS[estimator], "n_resamples": B, "rng": 0, "workers": workers, **options}
    return lambda: independence_test(X, Y, **given)


#: What grows: the call, the name of its option, the values, everything else.
LAWS = {
    "kme, two-sample, dense, in n": (splitting, "n", (250, 500, 1000, 2000), {"gram": "dense"}),
    "kme, two-sample, factor, in n": (splitting, "n", (2000, 8000, 32_000, 128_000), {"d": 2, "gram": "factor"}),
    "kme, two-sample, in d": (splitting, "d", (1, 10, 100, 1000), {}),
    "kme, two-sample, in B": (splitting, "B", (999, 1999, 3999, 9999), {}),
    "kme, independence, dense, in n": (pairing, "n", (250, 500, 1000, 2000), {"gram": "dense"}),
    "kme, independence, factor, in n": (pairing, "n", (2000, 6000, 20_000, 60_000), {"gram": "factor"}),
    "kme, independence, in B": (pairing, "B", (999, 1999, 3999, 9999), {}),
    "fkmse, two-sample, in n": (splitting, "n", (50, 100, 200, 400), {"estimator": "fkmse", "B": 99}),
    "fkmse, averaged, two-sample, in n": (
        splitting,
        "n",
        (50, 100, 200, 400),
        {"estimator": "fkmse, averaged", "B": 99},
    ),
    "fkmse, two-sample, in B": (splitting, "B", (99, 299, 999), {"estimator": "fkmse", "n": 50}),
    "fkmse, independence, in n": (pairing, "n", (50, 100, 200, 400), {"estimator": "fkmse", "B": 99}),
    "kme, two-sample, in workers": (splitting, "workers", (1, 2), {"n": 1000}),
    "fkmse, two-sample, in workers": (splitting, "workers", (1, 2), {"estimator": "fkmse", "n": 100}),
}


def law_of(times, sizes):
    """The exponent of the power law of each column of times, by least squares on logarithms."""
    return np.polyfit(np.log(sizes), np.log(times), 1)[0]


@pytest.mark.parametrize("name", LAWS)
def test_exponent(turns, threads, keep, tiny, smoke, rounds, name):
    call, grows, values, fixed = LAWS[name]
    limits = {"n": 10, "d": 3, "B": 29, "workers": 1}
    sizes = [limits[grows] + k for k in range(len(values))] if smoke else list(values)
    rest = {key: tiny(value, limits[key]) if key in limits else value for key, value in fixed.items()}
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
    shown = ", ".join(f"{size}: {seconds:.2g} s" for size, seconds in zip(sizes, middle, strict=True))
    fitted = float(law_of(middle, sizes))
    keep(Row("scaling", name, shown, "-", fitted, "exponent", each.min(), each.max(), rounds=rounds))
