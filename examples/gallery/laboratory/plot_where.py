"""
Pale and dark wines agree on average, and differ at both ends
=============================================================

**Question.** Do pale and dark wines differ in flavanoids, and where? A t test compares means and finds nothing here.

What the result tells you
    Whether the distributions differ in any way. The witness function shows where one sample has more observations;
    outside the gray band the difference is significant, at all places together.

What it does not tell you
    Anything about places without wines: the ends of the curve are as smooth as the kernel is wide. Neither does it
    give the cause.

How to report it
    Give both sample sizes, the kernel and its bandwidth, the p-value, and the ranges in which the witness function
    leaves its 95% band.
"""

# %%
# Wines of one region, divided at the median of their color, and their content of flavanoids.

import matplotlib.pyplot as plt
from scipy.stats import ttest_ind
from sklearn.datasets import load_wine

from shrinktest import two_sample_test

wines = load_wine(as_frame=True).frame
is_dark = wines["color_intensity"] >= wines["color_intensity"].median()
pale, dark = wines.loc[~is_dark, ["flavanoids"]], wines.loc[is_dark, ["flavanoids"]]

print(f"means {pale['flavanoids'].mean():.2f} and {dark['flavanoids'].mean():.2f}")
print(f"t test: p = {ttest_ind(pale, dark).pvalue[0]:.2f}")

result = two_sample_test(pale, dark, rng=0)
print(f"kernel: p = {result.pvalue:.3f}")

# %%
# The witness function is the difference between the two estimated kernel means.

plt.rc("font", size=15)
figure, ax = plt.subplots(figsize=(7.5, 5.25), layout="constrained")
result.plot_witness(ax)
ax.get_legend().remove()
ax.set(title="Where pale and dark wines differ", xlabel="flavanoids", ylabel="witness function")
ax.text(2.1, 0.22, "more\npale", ha="center", va="center")
ax.text(4.35, -0.07, "more dark", ha="center", va="center")
ax.text(0.0, -0.07, "more\ndark", ha="center", va="center")
plt.show()

# %%
# Among the dark wines many have few flavanoids and many have a lot. The strokes at the bottom are the wines.
#
# **Next:** :doc:`related without correlation <plot_without_correlation>`, :doc:`how to read a result </getting_started>`,
# :doc:`which kernel detects what </estimators>`.
