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
# A mean and a standard deviation, from ten normal measurements each. The first program has the right posterior; the
# second divides by n where it should divide by n - 1.

import matplotlib.pyplot as plt
import numpy as np

from shrinktest import goodness_of_fit_test

DRAWS, DATA_SETS, MEASURED = 49, 150, 10


def posterior(rng, data, divisor):
    """Draws (DRAWS, 2) from the posterior with prior 1/variance."""
    squares = ((data - data.mean()) ** 2).sum()
    scale = squares / divisor * (MEASURED - 1)
    variance = scale / rng.chisquare(MEASURED - 1, size=DRAWS)
    mean = data.mean() + rng.normal(size=DRAWS) * np.sqrt(variance / MEASURED)
    return np.column_stack([mean, np.sqrt(variance)])


def ranks_of(rng, divisor):
    out = []
    for _ in range(DATA_SETS):
        truth = np.array([rng.normal(0.0, 50.0), np.exp(rng.normal(0.0, 3.0))])  # nearly the flat prior
        data = rng.normal(*truth, size=MEASURED)
        out.append((posterior(rng, data, divisor) < truth).sum(axis=0))
    return np.array(out, dtype=float)


def uniform(rng, n):
    return rng.integers(0, DRAWS + 1, size=(n, 2)).astype(float)


rng = np.random.default_rng(0)
ranks = {"right": ranks_of(rng, MEASURED - 1), "wrong divisor": ranks_of(rng, 2 * MEASURED)}
results = {}
for name, of in ranks.items():
    tested = goodness_of_fit_test(of, uniform, rng=0)
    results[name] = tested.columns(method="holm", rng=0)  # whose columns may depend on each other
    shown = ", ".join(f"{p:.3f}" for p in results[name].adjusted)
    print(f"{name}: adjusted p-values of mean and deviation {shown}")

# %%

plt.rc("font", size=13)
figure, axes = plt.subplots(1, 2, figsize=(9.5, 4.0), layout="constrained", sharey=True)
for j, (ax, parameter) in enumerate(zip(axes, ("mean", "standard deviation"))):
    kinds = [of[:, j] for of in ranks.values()]
    ax.hist(kinds, np.arange(-0.5, DRAWS + 1, 10), color=["#0072B2", "#D55E00"], label=list(ranks))
    ax.axhline(DATA_SETS / 5, color="black", linewidth=0.8)
    ax.set(xlabel=f"rank of the true {parameter}", ylabel="data sets")
axes[0].legend()
plt.show()

# %%
# **Next:** :doc:`calibration jointly with the data <plot_calibration>`, :doc:`is my simulator right? <plot_simulator>`
