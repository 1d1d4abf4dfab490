"""
An estimator of one's own
=========================

Any rule that turns a Gram matrix into weights on the points makes a test, with exact level. Here is one that gives less
weight to points that are far from all others, in three ways: as a function, as a class, and compiled.
"""

# %%
# **A function** from the Gram matrix ``(n, n)`` to weights ``(n,)`` is enough.

from dataclasses import dataclass

import matplotlib.pyplot as plt
import numba
import numpy as np

from shrinktest import Compiled, MeanEstimator, check_estimator, power_study, two_sample_test
from shrinktest.power.designs import Contamination


def central(gram):
    """Weights proportional to how many others are near."""
    near = gram.mean(axis=1)
    return near / max(near.sum(), 1e-300)


# %%
# :func:`~shrinktest.check_estimator` tries it on Gram matrices that break careless ones (singular, constant, zero,
# with duplicates) and says which law is broken; here, none is.

check_estimator(central)

rng = np.random.default_rng(3)
X, Y = rng.normal(size=30), np.append(rng.normal(0.5, 1.0, size=27), [9.0, -8.0, 11.0])
print(f"plain average: p = {two_sample_test(X, Y, rng=0).pvalue:.3f}")
print(f"central:       p = {two_sample_test(X, Y, estimator=central, rng=0).pvalue:.3f}")

# %%
# **A class** has parameters and a readable name in every table. A frozen dataclass is all it takes.


@dataclass(frozen=True, repr=False)
class Central(MeanEstimator):
    """Weights proportional to a power of how many others are near."""

    summary = "points weighted by how central they are"
    power: float = 1.0

    def weights(self, gram):
        near = np.clip(np.mean(gram, axis=1), 0.0, None) ** self.power
        return near / max(near.sum(), 1e-300)


check_estimator(Central(power=2.0))
two_sample_test(X, Y, estimator=Central(power=2.0), rng=0)

# %%
# **Compiled**, it runs inside the parallel loop, as the built-in estimators do.


@numba.njit
def weigh(gram, theta, out):
    """Write the weights into ``out``; ``theta`` holds the parameters."""
    total = 1e-300
    for i in range(out.size):
        out[i] = max(gram[i].mean(), 0.0) ** theta[0]
        total += out[i]
    out /= total


fast = Compiled(weigh, (2.0,))
check_estimator(fast)
same = (
    two_sample_test(X, Y, estimator=fast, rng=0).pvalue == two_sample_test(X, Y, estimator=Central(2.0), rng=0).pvalue
)
print("the same p-value as the class:", same)

# %%
# What it does, and whether it helps when every tenth point of Y comes from a distribution ten times as wide:

study = power_study(
    Contamination(dimension=1),
    {"plain average (kme)": "kme", "central, power 2": fast},
    [20, 40, 80],
    n_trials=100,
    n_resamples=199,
    workers=1,
    progress=False,
)

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
points = np.sort(Y)
gram = np.exp(-0.5 * np.subtract.outer(points, points) ** 2)
left.plot(points, np.full(len(points), 1 / len(points)), "--", color="#8C8C8C", label="plain average")
left.plot(points, fast.weights(gram), "o-", color="#0072B2", label="central, power 2")
left.set(xlabel="observation", ylabel="weight", title="Outliers weigh little", ylim=(0, None))
left.legend()
study.plot(right)
right.set_title("Power against contamination")
plt.show()
