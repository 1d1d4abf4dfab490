"""
Parameters of a simulator that agree with measurements
======================================================

**Question.** A simulator of waiting times has a parameter that nobody knows. Which values are compatible with eighty
measurements? Those whose simulations the test does not reject.

What the result tells you
    A confidence set: at 95% it contains the true value in at least 95% of studies, if the simulator is right for some
    value. No likelihood is needed, and no large sample.

What it does not tell you
    The best value, or that the simulator is right. An empty set is evidence that no value fits.

How to report it
    Give the grid, the number of measurements and of simulations per value, the test, and the values that were not
    rejected.
"""

# %%
# Customers wait in a queue; the parameter is the mean time of service. The truth here is two minutes.

import matplotlib.pyplot as plt
import numpy as np

from shrinktest import two_sample_test

rng = np.random.default_rng(2)


def waits(service, n):
    """Waiting time of the thirtieth customer in n independent queues with one arrival every three minutes."""
    wait = np.zeros(n)
    for _ in range(30):
        wait = np.maximum(wait + rng.exponential(service, n) - rng.exponential(3.0, n), 0.0)
    return np.sqrt(wait)


measured = waits(2.0, 80)
services = np.arange(1.0, 3.01, 0.2)
pvalues = np.array(
    [two_sample_test(measured, waits(service, 200), rng=0).pvalue for service in services]
)
agrees = services[pvalues > 0.05]
print(
    f"Mean times of service from {agrees.min():.1f} to {agrees.max():.1f} minutes agree with the measurements."
)

# %%

plt.rc("font", size=15)
figure, ax = plt.subplots(figsize=(7.5, 5.25), layout="constrained")
ax.plot(services, pvalues, "o-", color="#0072B2", markersize=10)
ax.axhline(0.05, color="#D55E00", linewidth=3)
ax.axvline(2.0, color="black", linestyle=":")
ax.set(
    xlabel="mean time of service (minutes)", ylabel="p-value", title="Values above the line agree"
)
plt.show()

# %%
# **Next:** :doc:`is the posterior calibrated? <plot_calibration>`, :doc:`which of two simulators is closer?
# <../machine_learning/plot_closer_model>`
