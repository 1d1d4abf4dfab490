"""
Large samples
=============

A Gram matrix of a hundred thousand observations has ten thousand million entries. With one or two columns, the test
does without it, and its p-value is the same.
"""

# %%
# Trips in two months, say: starting places in a city, 20 000 in each month.

import time

import matplotlib.pyplot as plt
import numpy as np

from shrinktest import two_sample_test

rng = np.random.default_rng(0)


def trips(n, shift=0.0):
    """Starting places of n trips, in km."""
    return rng.normal([shift, 0.0], 3.0, size=(n, 2))


start = time.perf_counter()
result = two_sample_test(trips(20_000), trips(20_000, shift=0.06), rng=0)
print(f"40 000 observations: p = {result.pvalue:.3f} by the {result.route} route, {time.perf_counter() - start:.1f} s")

# %%
# ``gram="auto"`` takes the *factor* route where it is exact: a pivoted Cholesky factor of a few hundred columns that
# reproduces the Gram matrix up to rounding. With some thousand observations, the *dense* route can be compared:

X, Y = trips(1000), trips(1000, shift=0.3)
for route in ("factor", "dense"):
    found = two_sample_test(X, Y, gram=route, rng=0)
    print(f"{found.route:6}  statistic {found.statistic:.12f}, p = {found.pvalue}")

# %%
# With more columns the Gram matrix has full rank. Then there is an approximation: its test has exact level as well, and
# the result says what was done.

wide = rng.normal(size=(4000, 10)), 1.03 * rng.normal(size=(4000, 10))
approximate = two_sample_test(*wide, gram="nystrom", rank=200, rng=0)
print(approximate.notes[-1])

# %%
# Time and memory for X and Y together. The times are of this machine; memory is that of the Gram matrix and of the
# factor.


def seconds(n, route):
    """Time of one test with n observations in all, the best of three."""
    X, Y = trips(n // 2), trips(n // 2)
    times = []
    for _ in range(3):
        start = time.perf_counter()
        two_sample_test(X, Y, gram=route, bandwidth=4.0, rng=0, max_memory=8e9)
        times.append(time.perf_counter() - start)
    return min(times)


sizes = {"dense": [1000, 2000, 4000], "factor": [2000, 4000, 16_000, 64_000]}
columns = two_sample_test(X, Y, bandwidth=4.0, rng=0).estimates[0].kernel.coordinates(X[:1]).shape[1]
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
for (route, values), colour, marker in zip(sizes.items(), ("#D55E00", "#0072B2"), "^o", strict=True):
    left.loglog(values, [seconds(n, route) for n in values], marker=marker, color=colour, label=f"{route} route")
every = np.geomspace(1000, 1e6, 20)
right.loglog(every, 8e-9 * every**2, color="#D55E00", label="Gram matrix")
right.loglog(every, 8e-9 * every * columns, color="#0072B2", label=f"factor of {columns} columns")
right.axhline(16, color="#8C8C8C", linestyle=":", label="16 GB")
left.set(xlabel="observations in all", ylabel="seconds, 999 permutations", title="Time")
right.set(xlabel="observations in all", ylabel="GB", title="Memory")
left.legend()
right.legend()
plt.show()
