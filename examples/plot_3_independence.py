"""
Are two variables independent?
==============================

Eckerle4 of NIST: the transmittance of an optical filter at 35 wavelengths. The two depend on each other through one
narrow peak, which a correlation does not see.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import pearsonr, spearmanr

from shrinktest import independence_test
from shrinktest.datasets import load_eckerle4

wavelength, transmittance = load_eckerle4()
for name, test in {"Pearson": pearsonr, "Spearman": spearmanr}.items():
    print(
        f"{name:8}  correlation {test(wavelength, transmittance)[0]:+.3f}, p = {test(wavelength, transmittance)[1]:.3f}"
    )

# %%
# The kernel test (HSIC) measures any kind of dependence. Every estimator of the kernel mean gives a test of its own; in
# each, it is fitted again, its tuning included, whenever the pairs are shuffled. Here, on a random dozen of the pairs:

dozen = np.random.default_rng(3).choice(35, size=12, replace=False)
estimators = ("kme", "skmse", "fkmse", "mkme")
results = {
    name: independence_test(wavelength[dozen], transmittance[dozen], estimator=name, n_resamples=4999, rng=0)
    for name in estimators
}
for name, result in results.items():
    low, high = result.pvalue_interval()
    print(f"{name:6}  p = {result.pvalue:.4f}  (all shuffles: {low:.4f} to {high:.4f})")

# %%
# One data set shows how the tests work, not which is better: for that, see the
# :doc:`power over thousands of subsamples </eckerle4_power>`.

figure, axes = plt.subplot_mosaic([["data"] * 4, list(estimators)], figsize=(9, 6), layout="constrained")
data = axes["data"]
data.plot(wavelength, transmittance, "o", color="#8C8C8C", label="all 35 measurements")
data.plot(wavelength[dozen], transmittance[dozen], "o", color="#0072B2", label="the dozen that is tested")
data.set(xlabel="wavelength (nm)", ylabel="transmittance")
data.legend()
for name, result in results.items():
    ax = axes[name]
    ax.hist(result.null_distribution / result.critical_value(), bins=30, color="#8C8C8C", alpha=0.55)
    ax.axvline(1.0, color="#0072B2", linestyle="--", label="critical, level .05")
    ax.axvline(result.statistic / result.critical_value(), color="#D55E00", linewidth=2, label="observed")
    ax.set(xlabel="HSIC / critical value", title=f"{name}: p = {result.pvalue:.3f}", yticks=[])
axes["kme"].set_ylabel("number of shuffles")
figure.legend(*axes["kme"].get_legend_handles_labels(), loc="outside lower center", ncols=2)
plt.show()
