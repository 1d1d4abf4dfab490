"""
Is a posterior calibrated? Ranks
================================

**Question.** A program draws from posterior distributions of two parameters. Simulation-based calibration draws the
parameters from the prior, data given these, and posterior draws given the data. If the program is right, the rank of
every true parameter among its posterior draws is uniform (Talts et al. 2018).

What the result tells you
    An exact p-value for uniform ranks, parameter by parameter and adjusted for their number, however few data sets there
    are. The witness function shows at which ranks there are too many.

What it does not tell you
    That the posterior is right: uniform ranks are necessary, not sufficient. A program that ignores the data and draws
    from the prior has uniform ranks.

How to report it
    Give the numbers of simulated data sets and posterior draws, the quantities that were ranked, and the adjusted
    p-values.
"""

# %%
# A mean and a variance with their conjugate prior, from ten normal measurements. The first program has the right
# posterior; the second is too sure, with variances that are a third as large.

import matplotlib.pyplot as plt
import numpy as np

from shrinktest import goodness_of_fit_test

DRAWS, DATA_SETS, MEASURED = 49, 150, 10


def prior(rng):
    variance = 4.0 / rng.chisquare(4)
    return rng.normal(0.0, variance**0.5), variance


def posterior(rng, data, factor):
    """Draw means and variances (DRAWS, 2)."""
    center = data.sum() / (MEASURED + 1)
    squares = 4.0 + np.square(data - data.mean()).sum() + center * data.mean()
    variance = factor * squares / rng.chisquare(4 + MEASURED, size=DRAWS)
    mean = center + rng.normal(size=DRAWS) * np.sqrt(variance / (MEASURED + 1))
    return np.column_stack([mean, variance])


def ranks_of(rng, factor):
    ranks = np.empty((DATA_SETS, 2))
    for row in ranks:
        mean, variance = prior(rng)
        data = rng.normal(mean, variance**0.5, size=MEASURED)
        row[:] = (posterior(rng, data, factor) < (mean, variance)).sum(axis=0)
    return ranks


def uniform(rng, n):
    return rng.integers(0, DRAWS + 1, size=(n, 2)).astype(float)


rng = np.random.default_rng(0)
ranks = {"right": ranks_of(rng, 1.0), "too sure": ranks_of(rng, 1 / 3)}
results = {}
for name, of in ranks.items():
    # Holm's method, because ranks of both parameters may depend on each other, which the model does not know
    tested = goodness_of_fit_test(of, uniform, n_simulations=499, rng=0)
    results[name] = tested.columns(method="holm", rng=0)
    shown = ", ".join(f"{p:.3f}" for p in results[name].adjusted)
    print(f"{name}: adjusted p-values of mean and variance {shown}")

# %%

plt.rc("font", size=17)
figure, axes = plt.subplots(1, 2, figsize=(9, 6.3), layout="constrained", sharey=True)
for j, (ax, parameter) in enumerate(zip(axes, ("mean", "variance"), strict=True)):
    kinds = [of[:, j] for of in ranks.values()]
    ax.hist(kinds, np.arange(-0.5, DRAWS + 1, 10), color=["#0072B2", "#D55E00"], label=list(ranks))
    ax.axhline(DATA_SETS / 5, color="black", linewidth=0.8)
    ax.set(xlabel=f"rank of the true {parameter}", ylabel="data sets")
axes[0].legend()
plt.show()

# %%
# **Next:** :doc:`calibration jointly with the data <plot_calibration>`, :doc:`is my simulator right? <plot_simulator>`
