"""
Is a Bayesian simulator calibrated?
===================================

**Question.** A program draws from the posterior of a simulator's parameter. Is it the right posterior? If so, the
parameter that made the data and one draw from the posterior can be swapped, whatever the data: a paired test.

What the result tells you
    Whether posterior draws have the right distribution, jointly with the data, so that errors which cancel on average
    over all data sets are also seen.

What it does not tell you
    That the model fits real measurements; that is a test of observed against simulated data. A large p-value does not
    show that the posterior is exact.

How to report it
    Give the number of simulated data sets, the prior, the paired permutation test, and the p-value.
"""

# %%
# The parameter has a normal prior; five measurements have normal noise. One sampler is right, the other has the right
# mean, and half of the standard deviation.

import matplotlib.pyplot as plt
import numpy as np

from shrinktest import two_sample_test

rng = np.random.default_rng(0)
truth = rng.normal(size=400)
measured = truth + rng.normal(size=(5, 400)).mean(axis=0)
mean, deviation = measured * 5 / 6, (1 / 6) ** 0.5

samplers = {"right": 1.0, "too narrow": 0.5}
results, errors = {}, {}
for name, factor in samplers.items():
    draw = mean + factor * deviation * rng.normal(size=400)
    simulated, inferred = np.column_stack([truth, measured]), np.column_stack([draw, measured])
    results[name] = two_sample_test(simulated, inferred, paired=True, kernel="whitened", rng=0)
    errors[name] = (truth - mean) / (factor * deviation)
    verdict = "not calibrated" if results[name].reject() else "no evidence against calibration"
    print(f"{name}: p = {results[name].pvalue:.3f}, {verdict}")

# %%
# Standardized errors of the true parameter should have a standard deviation of one.

plt.rc("font", size=15)
figure, ax = plt.subplots(figsize=(7.5, 5.25), layout="constrained")
ax.hist(list(errors.values()), np.arange(-4.5, 5), color=["#0072B2", "#D55E00"], label=list(errors))
ax.set(
    xlabel="(truth - posterior mean) / posterior deviation",
    ylabel="data sets",
    title="Two samplers",
)
ax.legend()
plt.show()

# %%
# **Next:** :doc:`which parameters agree with measurements? <plot_confidence_set>`, :doc:`pairs
# <../clinical/plot_repeated_measures>`.
