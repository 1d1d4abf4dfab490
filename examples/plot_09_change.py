"""
American growth became steadier in the middle of the eighties
=============================================================

It was not so much the average that changed as the spread. ``change_point_test`` looks for a change of any kind, and
says when.
"""

# %%
# Growth of the gross domestic product of the United States, by quarters. Successive quarters are alike, so that single
# quarters must not be permuted: ``shift="stretches"`` moves stretches of them.

import matplotlib.pyplot as plt
import numpy as np
from statsmodels.datasets import macrodata

from shrinktest import change_point_test

macro = macrodata.load_pandas().data
growth = 100 * np.diff(np.log(macro["realgdp"]))
year = (macro["year"] + (macro["quarter"] - 1) / 4).to_numpy()[1:]

result = change_point_test(growth, times=year, shift="stretches", rng=0)
low, high = result.when_interval
before, after = growth[: result.location], growth[result.location :]
print(f"{result.restriction}: p = {result.pvalue:.3f}")
print(f"first quarter after the change: {result.when}, not ruled out: {low} to {high}")
print(f"means {before.mean():.2f} and {after.mean():.2f}, standard deviations {before.std():.2f} and {after.std():.2f}")

# %%

plt.rc("font", size=15)
figure, ax = plt.subplots(figsize=(7.5, 5.25), layout="constrained")
ax.axvspan(low, high, color="#D55E00", alpha=0.2)
ax.axvline(result.when, color="#D55E00", linewidth=3)
ax.plot(year, growth, color="#0072B2", linewidth=1.5)
for part, years in ((before, year[: result.location]), (after, year[result.location :])):
    for side in (-1, 1):
        ax.hlines(part.mean() + side * part.std(), years[0], years[-1], color="black", linestyle="--", linewidth=2)
ax.set(xlabel="year", ylabel="growth in a quarter (%)", title="When did growth become steadier?")
plt.show()

# %%
# **How to read it.** The dashed lines are a standard deviation from the mean, before and after; the shaded years are
# not ruled out for the change. It would be wrong to conclude that there was one change only: the test looks for one.
# For series that remember, p-values are nearly exact, the better the longer the series.
#
# **Next:** :doc:`planning a study <plot_10_sample_size>`, :doc:`several changes, spells and lags </change>`.
