"""
Is my simulator right?
======================

**Question.** A simulator draws the errors of an instrument with two channels. Do measured errors look like draws from
it, and if not, where is it wrong: in the tails of a channel, or in how the channels hang together?

What the result tells you
    An exact p-value, for any number of measurements: measured and simulated data sets are exchangeable if the simulator
    is right. Tests of single channels find a wrong tail; the test of both finds a wrong dependence, too, and the
    witness function shows where.

What it does not tell you
    That a simulator which is not rejected is right, nor whether its errors matter for what it is used for. If parameters
    were fitted to the same measurements, the p-value is approximate.

How to report it
    Give the numbers of measurements and simulated data sets, the size of the reference sample, the kernel, and the
    p-value.
"""

# %%
# The simulator has normal errors with correlation 0.5. One instrument has a second channel with heavier tails, of the
# same spread. The other has normal errors in both channels and the same correlation, but large errors come together.

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from shrinktest import goodness_of_fit_test

SHARE = np.array([[1.0, 0.0], [0.5, 0.75**0.5]])


def simulate(rng, n):
    return rng.normal(size=(n, 2)) @ SHARE.T


def heavy(rng, n):
    errors = simulate(rng, n)
    errors[:, 1] *= np.sqrt(1.0 / rng.chisquare(3, size=n))  # Student's t with 3 degrees of freedom
    return errors


def together(rng, n):
    common = np.sqrt(1.0 / rng.chisquare(1, size=(n, 1)))
    wild = common * simulate(rng, n)
    return ndtri((rankdata(wild, axis=0) - 0.5) / n)  # each channel is normal


rng = np.random.default_rng(0)
instruments = {"heavy tail": heavy(rng, 150), "errors together": together(rng, 150)}
results, columns = {}, {}
for name, errors in instruments.items():
    results[name] = goodness_of_fit_test(errors, simulate, kernel="whitened", rng=0)
    columns[name] = goodness_of_fit_test(errors, simulate, estimator="auto", n_simulations=199, rng=0).columns(rng=0)
    shown = ", ".join(f"{p:.3f}" for p in columns[name].adjusted)
    print(f"{name}: both channels p = {results[name].pvalue:.3f}; channel by channel {shown}")

# %%
# Blue: more measurements than the simulator draws. The outline is the simultaneous band.

plt.rc("font", size=13)
figure, axes = plt.subplots(1, 2, figsize=(9.5, 4.4), layout="constrained")
for ax, (name, result) in zip(axes, results.items()):
    result.plot_witness(ax)
    ax.set(title=name, xlabel="channel 1", ylabel="channel 2")
plt.show()

# %%
# **Next:** :doc:`is a posterior calibrated? <plot_posterior_ranks>`, :doc:`which model is closer?
# <../machine_learning/plot_closer_model>`, :doc:`all about simulated models </simulators>`
