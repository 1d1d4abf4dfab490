"""
Three lines make an estimator that detects spread sooner
========================================================

**Question.** Can you use your own estimator of the kernel mean? Any rule that weights the observations of a sample
works, because it is applied again in every permutation.

What the result tells you
    Whether your rule has the properties on which the tests rely (``check_estimator``), and how its power compares.

What it does not tell you
    That the rule is better in general: this one loses against a shift of the mean.

How to report it
    Describe the rule as you would any estimator; the permutation test stays exact.
"""

# %%
# A rule is a function from the Gram matrix of a sample to a weight per observation. This one gives outlying
# observations less weight. ``check_estimator`` tries it on difficult matrices.

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

from shrinktest import check_estimator, power_study, two_sample_test
from shrinktest.power.designs import FromData


def central(gram):
    """Weight 1/n for each observation, times its mean similarity to the sample."""
    return gram.mean(axis=1) / len(gram)


check_estimator(central)

# %%
# Wines of two grapes, moved to the same mean, so that only the spread differs.

wines = load_wine(as_frame=True).frame
columns = wines.drop(columns="target")
units = columns.std()
first, second = (
    (columns[wines["target"] == kind] - columns[wines["target"] == kind].mean()) / units
    for kind in (0, 1)
)

for name, estimator in {"average": "kme", "central": central}.items():
    print(
        f"{name}: p = {two_sample_test(first[:20], second[:20], estimator=estimator, rng=0).pvalue:.3f}"
    )

# %%
# Which rule finds the difference more often? A power study draws its data sets from all of these wines.

study = power_study(
    FromData(first, second),
    {"average": "kme", "central": central},
    [10, 20, 40],
    n_trials=50,
    n_resamples=99,
    workers=1,
    progress=False,
    rng=0,
)
print(study.summary())

# %%

plt.rc("font", size=16)
figure, ax = plt.subplots(figsize=(7.5, 5.25), layout="constrained")
for name, color, marker in (("central", "#0072B2", "o"), ("average", "#D55E00", "s")):
    rows = study.table[study.table["estimator"] == name]
    ax.plot(
        rows["n"], rows["power"], color=color, marker=marker, linewidth=4, markersize=11, label=name
    )
    ax.fill_between(rows["n"], rows["low"], rows["high"], color=color, alpha=0.15, linewidth=0)
ax.set(
    xlabel="wines in each sample",
    ylabel="power",
    ylim=(0, 1.03),
    title="Two kinds of wine, same means",
)
ax.legend(loc="lower right")
plt.show()

# %%
# Bands are 95% intervals. Outlying wines get less weight, so a sample with more spread has a shorter mean.
#
# **Next:** :doc:`your own kernel <../ecology/plot_own_kernel>`, :doc:`parameters and compiled rules </extending>`,
# :doc:`when each estimator helps </estimators>`.
