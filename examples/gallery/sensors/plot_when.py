"""
American growth became steadier in the middle of the eighties
=============================================================

**Question.** Did economic growth change, and when? ``change_point_test`` looks for a change of any kind: here the
spread changed more than the mean.

What the result tells you
    Whether the series changes, the most likely time, and a confidence interval for it.

What it does not tell you
    That this was the only change, or why it happened. For autocorrelated series p-values are nearly exact, the better
    the longer the series.

How to report it
    Give the length of the series, the restriction of the permutations, the p-value, and the time with its interval.
"""

# %%
# Quarterly growth of the American gross domestic product. Successive quarters are correlated, so
# ``block_length="auto"`` permutes blocks of successive quarters.

import matplotlib.pyplot as plt
import numpy as np
from statsmodels.datasets import macrodata

from shrinktest import change_point_test

macro = macrodata.load_pandas().data
growth = 100 * np.diff(np.log(macro["realgdp"]))
year = (macro["year"] + (macro["quarter"] - 1) / 4).to_numpy()[1:]

result = change_point_test(growth, times=year, block_length="auto", rng=0)
low, high = result.when_interval
before, after = growth[: result.location], growth[result.location :]
print(f"{result.restriction}: p = {result.pvalue:.3f}")
print(f"first quarter after the change: {result.when} (95% interval {low} to {high})")
print(
    f"means {before.mean():.2f} and {after.mean():.2f}, standard deviations {before.std():.2f} and {after.std():.2f}"
)

# %%

plt.rc("font", size=15)
figure, ax = plt.subplots(figsize=(7.5, 5.25), layout="constrained")
ax.axvspan(low, high, color="#D55E00", alpha=0.2)
ax.axvline(result.when, color="#D55E00", linewidth=3)
ax.plot(year, growth, color="#0072B2", linewidth=1.5)
for part, years in ((before, year[: result.location]), (after, year[result.location :])):
    for side in (-1, 1):
        ax.hlines(
            part.mean() + side * part.std(),
            years[0],
            years[-1],
            color="black",
            linestyle="--",
            linewidth=2,
        )
ax.set(xlabel="year", ylabel="growth in a quarter (%)", title="When did growth become steadier?")
plt.show()

# %%
# Dashed lines are one standard deviation from the mean, before and after. The shaded years are the interval.
#
# **Next:** :doc:`several changes <plot_several_changes>`, :doc:`change points and their limits </change>`.
