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
# The simulator has normal errors with correlation 0.5. One instrument has a second channel with heavy tails, of the same
# spread. The other has normal errors in both channels, but large errors of both come together.

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from shrinktest import goodness_of_fit_test


def simulate(rng, n):
    first, second = rng.normal(size=(2, n))
    return np.column_stack([first, 0.5 * first + 0.75**0.5 * second])


def heavy_tail(rng, n):
    errors = simulate(rng, n)
    errors[:, 1] = 0.5 * errors[:, 0] + 0.75**0.5 * rng.standard_t(3, size=n) / 3**0.5
    return errors


def together(rng, n):
    wild = rng.standard_cauchy(size=(n, 1)) * simulate(rng, n)
    return ndtri((rankdata(wild, axis=0) - 0.5) / n)  # each channel is normal


rng = np.random.default_rng(0)
options = {"bandwidth": "0.5 * median", "n_simulations": 199, "n_reference": 900, "rng": 0}
results, columns = {}, {}
for draw in (heavy_tail, together):
    result = goodness_of_fit_test(draw(rng, 300), simulate, **options)
    results[draw.__name__] = result
    columns[draw.__name__] = result.columns(rng=0)
    shown = ", ".join(f"{p:.3f}" for p in columns[draw.__name__].adjusted)
    print(f"{draw.__name__}: p = {result.pvalue:.3f}; channel by channel {shown}")

# %%
# Blue: more measurements than the simulator draws. The outline is the simultaneous band.

plt.rc("font", size=13)
figure, axes = plt.subplots(1, 2, figsize=(9.5, 4.4), layout="constrained")
for ax, (name, result) in zip(axes, results.items(), strict=True):
    result.plot_witness(ax, grid=21)
    ax.set(title=name.replace("_", " "), xlabel="channel 1", ylabel="channel 2")
plt.show()

# %%
# **Next:** :doc:`is a posterior calibrated? <plot_posterior_ranks>`, :doc:`which model is closer?
# <../machine_learning/plot_closer_model>`, :doc:`all about simulated models </simulators>`
