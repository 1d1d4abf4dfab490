"""
Watching a pump: one row an hour
================================

**Question.** Does a pump still run as in its first month? Readings each minute are alike from one to the next, so they
are not independent rows. The monitor gets one row an hour: the mean and the spread of the readings.

What the result tells you
    Which summaries changed and since when. With ``run_length=5000``, false alarms are at least 5000 hours apart on
    average, if hours are independent.

What it does not tell you
    Whether hours are independent: check their autocorrelation in the reference, as below. If they are not, take longer
    stretches.

How to report it
    Give the length of a row, the size of the reference, the run length, and the hours until the alarm.
"""

# %%
# A wearing bearing makes vibration rougher from hour 600 on, by 15%; its mean does not change.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.signal import lfilter

from shrinktest import DriftMonitor

rng = np.random.default_rng(4)


def hours(count, roughness=1.0):
    noise = roughness * rng.normal(size=(count, 80))
    minutes = lfilter([1.0], [1.0, -0.8], noise, axis=1)[:, 20:]
    steps = np.diff(minutes, axis=1)
    return pd.DataFrame({"mean": minutes.mean(axis=1), "roughness": steps.std(axis=1)})


reference = hours(500)
print("autocorrelation of hours:", reference.apply(lambda c: round(c.autocorr(), 2)).to_dict())
monitor = DriftMonitor(reference, run_length=5000, rng=0)
monitor.update(hours(600))
result = monitor.update(hours(200, roughness=1.15))
for line in result.answer:
    print(line)

# %%
# The alarm came within a few hours of the change.

plt.rc("font", size=15)
figure, ax = plt.subplots(figsize=(7.5, 5.25), layout="constrained")
ax.plot(result.recent.rows, result.recent.values, color="#0072B2", linewidth=1)
ax.axvline(result.change_row, color="#D55E00", linewidth=4, label="estimated change")
ax.axvline(result.alarm_row, color="#D55E00", linewidth=2, linestyle="--", label="alarm")
ax.set(xlabel="hour", ylabel="roughness", title="Rougher from hour 600 on")
ax.legend(loc="upper left")
plt.show()

# %%
# **Next:** :doc:`what a monitor guarantees </monitor>`, :doc:`when did a finished series change? <plot_when>`
