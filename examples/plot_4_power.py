"""
Which estimator has more power?
===============================

It depends on the change. A small power study of two changes shows shrinkage winning one and losing a little in the
other; :doc:`the map of many changes </which_estimator>` was made in the same way.
"""

# %%
# Two designs say where the data come from: in twenty dimensions, every coordinate is stretched, or one is shifted.

import matplotlib.pyplot as plt

from shrinktest import FKMSE, power_study
from shrinktest.power.designs import MeanShift, ScaleChange

designs = {
    "every coordinate stretched by 1.3": ScaleChange(dimension=20, scale=1.3),
    "one coordinate shifted by 1": MeanShift(dimension=20, shift=1.0),
}
estimators = {"plain average (kme)": "kme", "simple (skmse)": "skmse", "heavy (fkmse, lam_cov 0.3)": FKMSE(lam_cov=0.3)}

# %%
# All estimators see the same data and the same permutations. Beside the power, the same tests run where nothing
# differs, which shows their level. (For a publication, use ``n_trials=1000`` and a ``store``, from which a study that
# was interrupted goes on.)

studies = {
    title: power_study(design, estimators, [10, 20, 40], n_trials=100, n_resamples=199, workers=1, progress=False)
    for title, design in designs.items()
}
print(studies["every coordinate stretched by 1.3"].summary())

# %%
# Differences are judged pairwise, because the trials are paired: exact McNemar tests, Holm's correction.

print(studies["one coordinate shifted by 1"].compare("heavy (fkmse, lam_cov 0.3)", "plain average (kme)").round(3).T)

# %%

figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), sharey=True, layout="constrained")
for ax, (title, study) in zip(axes, studies.items(), strict=True):
    study.plot(ax)
    ax.set_title(title)
    ax.set_xlabel("observations in each sample")
axes[1].get_legend().remove()
axes[1].set_ylabel("")
plt.show()
