"""
The Pacific became warmer, and the shape of its year stayed
===========================================================

**Question.** Did the temperature of the eastern Pacific change in 1976, in its level or in the course of a year? A
kernel of your own decides what the test compares.

What the result tells you
    With the default kernel, whether years differ in any way; with a kernel that ignores the level, whether their
    course differs.

What it does not tell you
    That the course stayed the same: no difference was found, which is weaker. Choose kernels before you see p-values,
    or pass all of them as a list.

How to report it
    Give the kernel as a formula, with its bandwidth, the restriction for autocorrelated years, and the p-values.
"""

# %%
# Monthly temperatures, one row per year, before and after the change of 1976 that is known from the literature.
# Successive years are correlated, hence ``block_length="auto"``.

import matplotlib.pyplot as plt
import numpy as np
from statsmodels.datasets import elnino

from shrinktest import two_sample_test

table = elnino.load_pandas().data
months = list(table.columns[1:])
before = table.loc[table["YEAR"] <= 1976, months].to_numpy()
after = table.loc[table["YEAR"] > 1976, months].to_numpy()

whole = two_sample_test(before, after, block_length="auto", rng=0)
print(f"the temperatures:      p = {whole.pvalue:.3f}")

# %%
# For this kernel, years are similar if they have the same course, regardless of their level.


def course(X, Y):
    """The Gaussian kernel of the differences from each year's own mean."""
    X, Y = (years - years.mean(axis=1, keepdims=True) for years in (X, Y))
    squared = np.square(X[:, None, :] - Y[None, :, :]).sum(axis=2)
    return np.exp(-squared / (2 * 2.0**2))


shape = two_sample_test(before, after, kernel=course, block_length="auto", rng=0)
print(f"the course of a year:  p = {shape.pvalue:.3f}")

# %%

plt.rc("font", size=16)
figure, ax = plt.subplots(figsize=(7.5, 5.25), layout="constrained")
for years, color, label in ((before, "#0072B2", "until 1976"), (after, "#D55E00", "after")):
    ax.plot(range(12), years.T, color=color, alpha=0.15, linewidth=1)
    ax.plot(range(12), years.mean(axis=0), color=color, linewidth=4, label=label)
ax.set_xticks(range(0, 12, 2), labels=[month.title() for month in months[::2]])
ax.set(xlabel="month", ylabel="temperature (°C)", title="A year of the eastern Pacific")
ax.legend()
plt.show()

# %%
# Thin lines are years, thick lines their means: one is above the other.
#
# **Next:** :doc:`objects that are not rows <../machine_learning/plot_strings_and_graphs>`, :doc:`kernels with
# parameters </extending>`, :doc:`which kernel when </estimators>`.
