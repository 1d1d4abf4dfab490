"""
Pale and dark wines agree on average, and differ on both sides of it
====================================================================

A t test compares averages, and finds nothing here. A kernel test compares distributions, and its witness function
shows where one sample has more observations than the other.
"""

# %%
# Wines of one region, cut into the paler half and the darker one, and their content of flavanoids.

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
# The witness function is the difference of the two estimated kernel means.

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
# **How to read it.** Where the curve leaves the grey band, the difference is beyond chance, at all places together; the
# strokes below are the wines. Among the dark wines many have few flavanoids and many have a lot. It would be wrong to
# read the ends of the curve as places with wines: it is as smooth as the kernel is wide.
#
# **Next:** :doc:`the same units twice <plot_03_pairs>`, :doc:`how to read a result </start>`, :doc:`which kernel sees
# what </which>`.
