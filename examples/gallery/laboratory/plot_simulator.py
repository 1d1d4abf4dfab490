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
measured = {"heavy_tail": heavy_tail(rng, 300), "together": together(rng, 300)}
results, columns = {}, {}
for name, errors in measured.items():
    results[name] = goodness_of_fit_test(errors, simulate, **options)
    columns[name] = results[name].columns(rng=0)
    shown = ", ".join(f"{p:.3f}" for p in columns[name].adjusted)
    print(f"{name}: p = {results[name].pvalue:.3f}; channel by channel {shown}")

# %%
# The witness function: purple where there are more measurements than the simulator draws, orange where there are fewer.
# ``result.plot_witness()`` draws it with a simultaneous band.

plt.rc("font", size=17)
figure, axes = plt.subplots(1, 2, figsize=(9, 6.3), layout="constrained", sharey=True)
line = np.linspace(-3.5, 3.5, 41)
grid = np.stack(np.meshgrid(line, line), axis=-1)
for ax, (name, result) in zip(axes, results.items(), strict=True):
    heights = result.witness(grid.reshape(-1, 2)).reshape(41, 41)
    most = np.abs(heights).max()
    ax.contourf(line, line, heights, np.linspace(-most, most, 12), cmap="PuOr")
    ax.plot(*measured[name].T, ".", color="black", markersize=3)
    ax.set(title=name.replace("_", " "), xlabel="channel 1", xlim=(-3.5, 3.5), ylim=(-3.5, 3.5))
axes[0].set_ylabel("channel 2")
plt.show()

# %%
# **Next:** :doc:`is a posterior calibrated? <plot_posterior_ranks>`, :doc:`which model is closer?
# <../machine_learning/plot_closer_model>`, :doc:`all about simulated models </simulators>`
