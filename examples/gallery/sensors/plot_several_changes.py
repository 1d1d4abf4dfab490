"""
Three states of a machine, and when it changed
==============================================

**Question.** A machine is observed by three sensors. How often did its state change, and when? The number of changes
is not known, and neither is which sensors will show them.

What the result tells you
    The times of all changes that were found, each with a confidence interval and an adjusted p-value.

What it does not tell you
    That nothing else changed: short or small changes are missed. Rows are taken as independent; for autocorrelated
    sensors use ``block_length="auto"``.

How to report it
    Give the number of rows, the adjusted p-value and interval of each change, and the shortest segment that was
    allowed (``trim=``).
"""

# %%
# One row per hour. First the mean of one sensor moves, then two sensors become correlated while all means stay.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from shrinktest import change_points

rng = np.random.default_rng(3)
hours = pd.date_range("2026-03-01", periods=240, freq="h")
sensors = rng.normal(size=(240, 3))
sensors[80:, 0] += 1.5
sensors[160:, 2] = 0.95 * sensors[160:, 1] + 0.3 * sensors[160:, 2]

result = change_points(sensors, times=hours, kernel="whitened", rng=0, workers=1)
print(result.table[["when", "adjusted"]].to_string(index=False))
for when, (low, high) in zip(result.when, result.when_intervals, strict=True):
    print(
        f"A change at {when:%d %B, %H:%M}; times from {low:%d %B, %H:%M} to {high:%d %B, %H:%M} are not ruled out."
    )

# %%

plt.rc("font", size=15)
figure, ax = plt.subplots(figsize=(7.5, 5.25), layout="constrained")
for number, color in enumerate(("#0072B2", "#D55E00", "#009E73")):
    ax.plot(hours, sensors[:, number] + 6 * number, color=color, linewidth=1)
for when in result.when:
    ax.axvline(when, color="black", linewidth=3)
ax.set(xlabel="day of March", ylabel="three sensors", title="Lines mark the changes")
ax.set_yticks([])
ax.set_xticks(hours[::48], labels=[str(hour.day) for hour in hours[::48]])
plt.show()

# %%
# **Next:** :doc:`one change in a real series <plot_when>`, :doc:`change points and their limits </change>`.
