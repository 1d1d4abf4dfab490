"""
Evidence grows with the rows, the effect does not
=================================================

A p-value says whether samples differ, and with more rows it becomes as small as you like. ``result.effect()`` says by
how much they differ, with an interval, on a scale that does not depend on the number of rows.
"""

# %%
# Women of a survey of 1974 about their marriages: those who had no affair, and those who had one. The test sees more
# and more of them.

import matplotlib.pyplot as plt
from statsmodels.datasets import fair

from shrinktest import two_sample_test

women = fair.load_pandas().data.sample(frac=1.0, random_state=0)
columns = ["rate_marriage", "age", "yrs_married", "children", "religious", "educ"]
none, some = women.loc[women["affairs"] == 0, columns], women.loc[women["affairs"] > 0, columns]

sizes = [60, 125, 250, 500, 1000]
results = [two_sample_test(none[:rows], some[:rows], rng=0) for rows in sizes]
effects = [result.effect() for result in results]
for rows, result, effect in zip(sizes, results, effects, strict=True):
    print(f"{rows:4} rows: p = {result.pvalue:.3f}, z = {effect.z:5.1f}, {effect}")

# %%
# Which columns it is that tell the women apart:

print(results[-1].effect(columns=True).summary())

# %%

plt.rc("font", size=17)
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 6.3), layout="constrained")
left.plot(sizes, [effect.z for effect in effects], "o-", color="#D55E00", linewidth=3, markersize=10)
left.set(xlabel="rows", ylabel="z of the test", title="Evidence", ylim=(0, None))
low, high = zip(*(effect.auc_interval for effect in effects), strict=True)
right.vlines(sizes, low, high, color="#0072B2", linewidth=4)
right.plot(sizes, [effect.auc for effect in effects], "o", color="#0072B2", markersize=11)
right.axhline(0.5, color="black", linestyle=":")
right.text(sizes[-1], 0.505, "by chance", ha="right", va="bottom")
right.set(xlabel="rows", ylabel="which is which (auc)", title="Effect")
for ax in (left, right):
    ax.set(xscale="log")
    ax.set_xticks(sizes[::2], labels=map(str, sizes[::2]))
    ax.minorticks_off()
plt.show()

# %%
# **How to read it.** On the left, how far the statistic is above what chance makes of it, in standard deviations. On
# the right, the chance of telling which of two women had an affair, with its interval: it stays, and is known better.
# It would be wrong to compare p-values of samples of different sizes.
#
# **Next:** :doc:`when a difference does not matter <plot_06_practically_the_same>`, :doc:`effects </effects>`.
