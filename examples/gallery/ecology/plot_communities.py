"""
Fire changes which species live together
========================================

**Question.** Do burnt and unburnt plots have different communities of beetles, and in which species? Plots lie in ten
sites that differ from one another, so plots are permuted within sites (``blocks=``). The restriction also raises the
power: permutation within sites gives p = 0.001 here, whereas p = 0.16 if sites are ignored, because the differences
between sites then hide the effect of fire.

What the result tells you
    Whether the communities differ, all species taken together, and which species differ, with p-values adjusted for
    their number (family-wise error).

What it does not tell you
    That fire is the cause, unless it was assigned to plots at random. A species without a small p-value may differ,
    too.

How to report it
    Give the transformation of the counts, the restriction of the permutations, the overall p-value, and the species
    with adjusted p-values.
"""

# %%
# Counts of six species, whose common level differs from site to site. After fire one species is more frequent, and
# another one less. Square roots keep frequent species from drowning rare ones.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from shrinktest import two_sample_test, two_sample_test_columns

rng = np.random.default_rng(1)
species = ["Carabus", "Harpalus", "Amara", "Calathus", "Pterostichus", "Agonum"]
sites = np.repeat(np.arange(10), 6)
level = rng.lognormal(1.5, 1.5, size=(10, 6))[sites]
fire = np.array([1.0, 1.7, 1.0, 1.0, 1 / 1.7, 1.0])
unburnt = pd.DataFrame(np.sqrt(rng.poisson(level)), columns=species)
burnt = pd.DataFrame(np.sqrt(rng.poisson(level * fire)), columns=species)

within_sites = {"blocks": (sites, sites), "rng": 0}
together = two_sample_test(unburnt, burnt, **within_sites)
freely = two_sample_test(unburnt, burnt, rng=0)
columns = two_sample_test_columns(unburnt, burnt, **within_sites).table
print(columns[["column", "pvalue", "adjusted", "reject"]].round(3).to_string(index=False))
changed = ", ".join(columns.loc[columns["reject"], "column"])
print(
    f"Communities differ (p = {together.pvalue:.3f} within sites, {freely.pvalue:.3f} if sites are ignored): {changed}."
)

# %%

plt.rc("font", size=15)
figure, ax = plt.subplots(figsize=(7.5, 5.25), layout="constrained")
change = (burnt - unburnt).groupby(sites).mean()
ax.boxplot(change, orientation="horizontal", tick_labels=species)
ax.axvline(0, color="black", linestyle=":")
ax.set(xlabel="burnt minus unburnt (square root of counts)", ylabel="", title="Change by site")
plt.show()

# %%
# **Next:** :doc:`pairs <plot_pairs>`, :doc:`clusters and repeated measures <../clinical/plot_repeated_measures>`,
# :doc:`which rows may be shuffled </choosing>`.
