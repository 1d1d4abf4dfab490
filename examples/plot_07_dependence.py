"""
A filter's light depends on wavelength, and no correlation sees it
==================================================================

Correlations look for a line, or for a trend. A kernel test of independence finds dependence of any form.
"""

# %%
# Eckerle4 of NIST: the share of light that a filter lets through, at different wavelengths.

import matplotlib.pyplot as plt
from scipy.stats import pearsonr, spearmanr

from shrinktest import independence_test
from shrinktest.datasets import load_eckerle4

wavelength, transmittance = load_eckerle4()
pearson, spearman = pearsonr(wavelength, transmittance), spearmanr(wavelength, transmittance)
result = independence_test(wavelength, transmittance, rng=0)

print(f"Pearson   {pearson.statistic:+.2f}  p = {pearson.pvalue:.2f}")
print(f"Spearman  {spearman.statistic:+.2f}  p = {spearman.pvalue:.2f}")
print(f"kernel          p = {result.pvalue:.3f}")
print(result.effect())

# %%
# The kernel test shuffles one variable against the other, and asks how often its statistic (HSIC) becomes as large.

plt.rc("font", size=16)
figure, ax = plt.subplots(figsize=(7.5, 5.25), layout="constrained")
ax.plot(wavelength, transmittance, "o", color="#0072B2", markersize=9)
ax.set(xlabel="wavelength (nm)", ylabel="transmittance", title="One narrow peak")
ax.text(0.03, 0.93, f"correlation: p = {pearson.pvalue:.2f}", transform=ax.transAxes, va="top")
ax.text(0.03, 0.81, f"kernel: p = {result.pvalue:.3f}", transform=ax.transAxes, va="top", color="#D55E00")
plt.show()

# %%
# **How to read it.** All of the dependence is in the peak; on either side the points say nothing. A small p-value says
# that there is a relation, not which one. It would be wrong to conclude that two variables without correlation have
# nothing to do with each other.
#
# **Next:** :doc:`when a third variable explains it <plot_08_given>`, :doc:`which estimator finds the peak with fewer
# points </reproduced_tests>`, :doc:`which bandwidth </choosing>`.
