"""
An estimator of one's own
=========================

Any rule that turns a Gram matrix into weights on the points makes a test, with exact level. Here is one that gives less
weight to points that are far from the others, in three ways: as a function, as a class, and compiled.
"""

# %%
# **A function** from the Gram matrix ``(n, n)`` to weights ``(n,)`` is enough.

from dataclasses import dataclass

import matplotlib.pyplot as plt
import numba
import numpy as np

from shrinktest import Compiled, MeanEstimator, check_estimator, power_study, two_sample_test
from shrinktest.power.designs import ScaleChange


def central(gram):
    """An n-th for every point, times how many others are near."""
    return gram.mean(axis=1) / len(gram)


# %%
# :func:`~shrinktest.check_estimator` tries it on Gram matrices that break careless ones (singular, constant, zero,
# with duplicates) and says which law is broken; here, none is.

check_estimator(central)

rng = np.random.default_rng(1)
X, Y = rng.normal(size=(30, 20)), 1.2 * rng.normal(size=(30, 20))
print(f"plain average: p = {two_sample_test(X, Y, rng=0).pvalue:.3f}")
print(f"central:       p = {two_sample_test(X, Y, estimator=central, rng=0).pvalue:.3f}")

# %%
# **A class** has parameters and a readable name in every table. A frozen dataclass is all it takes.


@dataclass(frozen=True, repr=False)
class Central(MeanEstimator):
    """An n-th for every point, times a power of how many others are near."""

    summary = "points weighted by how central they are"
    power: float = 1.0

    def weights(self, gram):
        near = np.clip(np.mean(gram, axis=1), 0.0, None)
        return near**self.power / len(near)


check_estimator(Central(power=2.0))
two_sample_test(X, Y, estimator=Central(power=2.0), rng=0)

# %%
# **Compiled**, it runs inside the parallel loop, as the built-in estimators do.


@numba.njit
def weigh(gram, theta, out):
    """Write the weights into ``out``; ``theta`` holds the parameters."""
    for i in range(out.size):
        out[i] = max(gram[i].mean(), 0.0) ** theta[0] / out.size


fast = Compiled(weigh, (2.0,))
check_estimator(fast)
same = (
    two_sample_test(X, Y, estimator=fast, rng=0).pvalue == two_sample_test(X, Y, estimator=Central(2.0), rng=0).pvalue
)
print("the same p-value as the class:", same)

# %%
# Remote points count less, and nothing makes up for them: the more a sample is spread out, the shorter is its estimated
# mean. So the test is sharper where samples differ in spread. (With power 1 this is the first step of
# :class:`~shrinktest.Landweber` iteration.) A shift is another matter; try ``MeanShift`` below.

study = power_study(
    ScaleChange(dimension=20, scale=1.3),
    {"plain average": "kme", "central, power 2": fast},
    [10, 20, 40],
    n_trials=100,
    n_resamples=199,
    workers=1,
    progress=False,
)

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
points = np.sort(np.append(rng.normal(size=27), [-5.0, 4.5, 6.0]))
gram = np.exp(-0.5 * np.subtract.outer(points, points) ** 2)
left.plot(points, np.full(len(points), 1 / len(points)), "--", color="#8C8C8C", label="plain average")
left.plot(points, fast.weights(gram), "o", color="#0072B2", label="central, power 2")
left.set(xlabel="observation", ylabel="weight", title="Remote points weigh little", ylim=(0, None))
left.legend(loc="upper right")
study.plot(right)
right.set(title="Power: coordinates stretched by 1.3", xlabel="observations in each sample")
plt.show()
