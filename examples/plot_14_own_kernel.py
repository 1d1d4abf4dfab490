"""
The Pacific became warmer, and the shape of its year stayed
===========================================================

A kernel says in which way observations are alike, and so what a test looks at. One of your own is a function.
"""

# %%
# The temperature of the eastern Pacific, month by month: a row is a year. The years before and after the change of
# 1976, which is known from the literature. Successive years are alike, hence ``shift="stretches"``.

import matplotlib.pyplot as plt
import numpy as np
from statsmodels.datasets import elnino

from shrinktest import two_sample_test

table = elnino.load_pandas().data
months = list(table.columns[1:])
before = table.loc[table["YEAR"] <= 1976, months].to_numpy()
after = table.loc[table["YEAR"] > 1976, months].to_numpy()

whole = two_sample_test(before, after, shift="stretches", rng=0)
print(f"the temperatures:      p = {whole.pvalue:.3f}")

# %%
# Years are alike for this kernel if they have the same course, however warm they are.


def course(X, Y):
    """The Gaussian kernel of the differences from each year's own mean."""
    X, Y = (years - years.mean(axis=1, keepdims=True) for years in (X, Y))
    squared = np.square(X[:, None, :] - Y[None, :, :]).sum(axis=2)
    return np.exp(-squared / (2 * 2.0**2))


shape = two_sample_test(before, after, kernel=course, shift="stretches", rng=0)
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
# **How to read it.** Thin lines are years, thick ones their means: one is above the other. The second test has found no
# other course, and it would be wrong to say that there is none. A kernel has to be chosen before the p-values are seen,
# or all that were tried go in as a list.
#
# **Next:** :doc:`kernels with parameters </extending>`, :doc:`which kernel when </which>`, :doc:`how much
# shrinkage helps <plot_15_risk>`.
