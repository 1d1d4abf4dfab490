"""
A filter's light depends on wavelength, and no correlation sees it
==================================================================

**Question.** Does the light that a filter transmits depend on wavelength? Correlations look for a line or a trend; a
kernel test of independence finds dependence of any form.

What the result tells you
    Whether the two variables are dependent in any way.

What it does not tell you
    The form of the relation: plot it. Zero correlation does not show that variables are unrelated.

How to report it
    Give the number of pairs, the test (HSIC) with both kernels and bandwidths, the number of permutations, and the
    p-value.
"""

# %%
# The Eckerle4 data of NIST: the share of light that passes an interference filter, by wavelength.

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
ax.text(
    0.03,
    0.81,
    f"kernel: p = {result.pvalue:.3f}",
    transform=ax.transAxes,
    va="top",
    color="#D55E00",
)
plt.show()

# %%
# All of the dependence is in the peak; on either side the transmittance is close to zero.
#
# **Next:** :doc:`many pairs of columns <../ecology/plot_traits>`, :doc:`conditional independence
# <../clinical/plot_given_others>`, :doc:`which bandwidth </choosing>`.
