"""
Sensors before and after maintenance: autocorrelation matters
=============================================================

**Question.** Does a pump run differently after maintenance? Successive readings are alike, so an hour of them is worth
only a few independent rows, and shuffling single rows finds differences that are not there.

What the result tells you
    With ``block_length="auto"``, whether the two stretches of the series differ by more than autocorrelation explains.

What it does not tell you
    That maintenance is the reason: anything else that happened at that time is as likely. The p-value is nearly exact
    only if the series is long relative to its autocorrelation, and a note says if it is not.

How to report it
    Give the sampling rate, the numbers of readings, the length of the permuted stretches, and the p-value.
"""

# %%
# Temperature and vibration, once a minute. First nothing changes; then vibration becomes steadier after maintenance.

import matplotlib.pyplot as plt
import numpy as np
from scipy.signal import lfilter

from shrinktest import two_sample_test

rng = np.random.default_rng(11)


def readings(n):
    return lfilter([1.0], [1.0, -0.6], rng.normal(size=(n + 100, 2)), axis=0)[100:]


before, unchanged, steadier = readings(900), readings(900), readings(900) * [1.0, 0.5]
tests = {}
for name, after in (("nothing changed", unchanged), ("vibration became steadier", steadier)):
    rows = two_sample_test(before, after, rng=0)
    stretches = two_sample_test(before, after, block_length="auto", rng=0)
    tests[name] = rows, stretches
    print(f"{name}: p = {rows.pvalue:.3f} by rows (wrong), {stretches.pvalue:.3f} by stretches")
print(f"Permuted: {stretches.restriction}.")

# %%

plt.rc("font", size=15)
figure, ax = plt.subplots(figsize=(7.5, 5.25), layout="constrained")
vibration = np.concatenate([before[:, 1], steadier[:, 1]])
ax.plot(np.arange(1800) / 60, vibration, color="#0072B2", linewidth=1)
ax.axvline(15, color="#D55E00", linewidth=4)
ax.set(xlabel="hours", ylabel="vibration", title="Maintenance after fifteen hours")
plt.show()

# %%
# **Next:** :doc:`when did it change? <plot_several_changes>`, :doc:`how long does one series lag behind another?
# <plot_lags>`, :doc:`levels for autocorrelated rows </levels>`.
