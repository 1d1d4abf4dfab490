"""
How long until a valve shows in the pressure?
=============================================

**Question.** Does the pressure depend on the position of a valve, and with which delay? Both series are
autocorrelated, and the relation has no linear part.

What the result tells you
    Whether the series are related at any of the lags, and at which lags, with p-values adjusted for their number.

What it does not tell you
    The direction of cause, beyond the order in time. Shifts assume stationary series: remove trends first.

How to report it
    Give the length of the series, the lags that were tried, the restriction (circular shifts), and the adjusted
    p-values.
"""

# %%
# The pressure follows the square of the valve's position six minutes before.

import matplotlib.pyplot as plt
import numpy as np
from scipy.signal import lfilter

from shrinktest import independence_test

rng = np.random.default_rng(1)
valve = lfilter([1.0], [1.0, -0.6], rng.normal(size=350))[50:]
noise = lfilter([1.0], [1.0, -0.6], rng.normal(size=350))[50:]
pressure = 0.5 * np.roll(valve, 6) ** 2 + noise

result = independence_test(
    valve, pressure, lags=range(0, 11), block_length="whole", rng=0, workers=1
)
table = result.table
print(table[["lag", "pvalue", "adjusted"]].to_string(index=False))
related = ", ".join(str(lag) for lag in table.loc[table["reject"], "lag"])
print(f"Pressure and valve are related at lags of {related} minutes.")

# %%

plt.rc("font", size=15)
figure, ax = plt.subplots(figsize=(7.5, 5.25), layout="constrained")
ax.vlines(table["lag"], 0, table["statistic"], color="#0072B2", linewidth=8)
ax.set(xlabel="lag (minutes)", ylabel="HSIC", title="When the valve shows in the pressure")
plt.show()

# %%
# **Next:** :doc:`before and after an event <plot_maintenance>`, :doc:`lags and their restrictions </change>`.
