"""
Three lines make an estimator that sees spread sooner
=====================================================

The test takes any rule that weighs the observations of a sample, and keeps its level, because the rule is applied
again in every permutation.
"""

# %%
# A rule is a function from a Gram matrix, which says how alike observations are, to a weight for each. This one counts
# remote observations less. ``check_estimator`` tries it on matrices that break careless rules.

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

from shrinktest import check_estimator, power_study, two_sample_test
from shrinktest.power.designs import FromData


def central(gram):
    """An n-th for every observation, times how near it is to the others."""
    return gram.mean(axis=1) / len(gram)


check_estimator(central)

# %%
# Wines of two kinds of grapes, measured in the same columns. Both are moved to the same mean, so that what is left is
# how far they spread.

wines = load_wine(as_frame=True).frame
columns = wines.drop(columns="target")
units = columns.std()
one, other = ((columns[wines["target"] == kind] - columns[wines["target"] == kind].mean()) / units for kind in (0, 1))

for name, estimator in {"average": "kme", "central": central}.items():
    print(f"{name}: p = {two_sample_test(one[:20], other[:20], estimator=estimator, rng=0).pvalue:.3f}")

# %%
# One p-value shows how it works. Which rule finds the difference more often is for a study to say, whose data sets are
# drawn from all of these wines.

study = power_study(
    FromData(one, other),
    {"average": "kme", "central": central},
    [10, 20, 40],
    n_trials=50,
    n_resamples=99,
    workers=1,
    progress=False,
)
print(study.summary())

# %%

plt.rc("font", size=16)
figure, ax = plt.subplots(figsize=(7.5, 5.25), layout="constrained")
for name, color, marker in (("central", "#0072B2", "o"), ("average", "#D55E00", "s")):
    rows = study.table[study.table["estimator"] == name]
    ax.plot(rows["n"], rows["power"], color=color, marker=marker, linewidth=4, markersize=11, label=name)
    ax.fill_between(rows["n"], rows["low"], rows["high"], color=color, alpha=0.15, linewidth=0)
ax.set(xlabel="wines in each sample", ylabel="power", ylim=(0, 1.03), title="Two kinds of wine, same means")
ax.legend(loc="lower right")
plt.show()

# %%
# **How to read it.** Lines are the share of studies that find the difference, bands their intervals. Remote wines count
# less and nothing makes up for them, so that a sample that is spread out has a shorter mean. It would be wrong to
# conclude that the rule is better: against a shift it loses.
#
# **Next:** :doc:`your own kernel <plot_14_own_kernel>`, :doc:`rules with parameters, compiled rules </extending>`,
# :doc:`where each estimator helps and hurts </which>`.
