"""
Evidence grows with the rows, the effect size does not
======================================================

**Question.** How different are two groups? A p-value becomes as small as you like with more rows. ``result.effect()``
estimates how large the difference is.

What the result tells you
    The AUC is the probability that the fitted function assigns one row of each group correctly (0.5 is guessing), with
    a confidence interval. With more rows it stays, and its interval shrinks.

What it does not tell you
    Whether the difference matters: that is a question about marriages, not about statistics. P-values from samples of
    different sizes cannot be compared.

How to report it
    Give the AUC with its interval beside every p-value, and the columns that contribute most.
"""

# %%
# A survey of 1974 about marriages: women with and without an affair, in samples of increasing size.

import matplotlib.pyplot as plt
from statsmodels.datasets import fair

from shrinktest import two_sample_test

women = fair.load_pandas().data.sample(frac=1.0, random_state=0)
columns = ["rate_marriage", "age", "yrs_married", "children", "religious", "educ"]
without, with_affair = (
    women.loc[women["affairs"] == 0, columns],
    women.loc[women["affairs"] > 0, columns],
)

sizes = [60, 125, 250, 500, 1000]
results = [two_sample_test(without[:rows], with_affair[:rows], rng=0) for rows in sizes]
effects = [result.effect() for result in results]
for rows, result, effect in zip(sizes, results, effects, strict=True):
    print(f"{rows:4} rows: p = {result.pvalue:.3f}, z = {effect.z:5.1f}, {effect}")

# %%
# Which columns contribute?

print(results[-1].effect(columns=True).summary())

# %%

plt.rc("font", size=17)
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 6.3), layout="constrained")
left.plot(
    sizes, [effect.z for effect in effects], "o-", color="#D55E00", linewidth=3, markersize=10
)
left.set(xlabel="rows", ylabel="z of the test", title="Evidence", ylim=(0, None))
low, high = zip(*(effect.auc_interval for effect in effects), strict=True)
right.vlines(sizes, low, high, color="#0072B2", linewidth=4)
right.plot(sizes, [effect.auc for effect in effects], "o", color="#0072B2", markersize=11)
right.axhline(0.5, color="black", linestyle=":")
right.text(sizes[-1], 0.505, "guessing", ha="right", va="bottom")
right.set(xlabel="rows", ylabel="AUC", title="Effect")
for ax in (left, right):
    ax.set(xscale="log")
    ax.set_xticks(sizes[::2], labels=map(str, sizes[::2]))
    ax.minorticks_off()
plt.show()

# %%
# On the left, the distance of the statistic from its mean under the null hypothesis, in standard deviations. On the
# right, the effect size.
#
# **Next:** :doc:`when a difference does not matter <plot_practically_the_same>`, :doc:`effects </effects>`.
