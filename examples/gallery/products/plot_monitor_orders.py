"""
Watching a table of orders, with a state in a file
==================================================

**Question.** Are today's orders still like those of last quarter, and which columns changed? The table has numbers with
gaps, counts and categories. A job runs every night, and keeps the state of the monitor in a file.

What the result tells you
    Which columns changed, by name. The probability that any column is ever named falsely is at most 5%, however many
    nights the job runs.

What it does not tell you
    Intervals for the size of a change: the alarm chose the moment. Compare the reference with orders that arrive after
    it, by :func:`~shrinktest.compare`. Nor does it know weekends: the reference should cover the season.

How to report it
    Give the reference, its size, ``alpha``, the named columns, and the estimated beginning of the change.
"""

# %%
# From the 21st night on, coupons are missing more often, and a country orders more. The file allows the job to forget
# everything else; a night that is run twice by mistake is refused by its name.

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from shrinktest import DriftMonitor

rng = np.random.default_rng(6)


def orders(rows, missing=0.1, abroad=0.05):
    return pd.DataFrame(
        {
            "amount": np.exp(rng.normal(3.0, 0.8, rows)).round(2),
            "items": 1 + rng.poisson(1.5, rows),
            "coupon": np.where(rng.random(rows) < missing, np.nan, rng.integers(1, 20, rows)),
            "country": rng.choice(["DE", "AT", "FR"], rows, p=[0.7, 0.3 - abroad, abroad]),
        }
    )


with tempfile.TemporaryDirectory() as folder:
    state = Path(folder, "orders.npz")
    DriftMonitor(orders(400), rng=0).save(state)
    for night in range(1, 31):
        changed = {"missing": 0.25, "abroad": 0.15} if night > 20 else {}
        monitor = DriftMonitor.load(state)
        name = f"night {night}"
        result = monitor.update(orders(50, **changed), source=name, times=name)
        monitor.save(state)
for line in result.answer:
    print(line)

# %%
# Evidence of all columns at the end, beside that of an alarm.

plt.rc("font", size=15)
figure, ax = plt.subplots(figsize=(7.5, 5.25), layout="constrained")
columns = result.table[result.table["kind"] == "column"].sort_values("largest")
ax.barh(columns["score"], columns["largest"], color="#0072B2")
ax.axvline(result.threshold, color="#D55E00", linewidth=4)
ax.set_xscale("log")
ax.set(xlabel="largest evidence", title="Two columns reach the evidence of an alarm")
plt.show()

# %%
# **Next:** :doc:`what a monitor guarantees </monitor>`, :doc:`a report on two tables <plot_two_tables>`.
