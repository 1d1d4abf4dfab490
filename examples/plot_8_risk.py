"""
How much does shrinkage improve the estimate?
=============================================

Where the truth is known, the distance of an estimate from it can be computed exactly. The papers' mixtures of four
Gaussians in thirty dimensions, twenty observations, and every amount of shrinkage.
"""

# %%
# :func:`~shrinktest.risk.loss_path` follows one estimator along its amount, on the same data sets. Amounts to the right
# shrink more for F-KMSE (``lam``); for Landweber iteration, more iterations (``t``) shrink less.

import matplotlib.pyplot as plt
import numpy as np

from shrinktest.risk import loss_path

settings = {"n": 20, "d": 30, "n_trials": 60, "workers": 1, "progress": False}
tikhonov = loss_path("fkmse", np.logspace(-2, 2, 15), **settings)
landweber = loss_path("landweber", [1, 2, 3, 5, 8, 12, 20, 35, 60, 100], **settings)
print(tikhonov.table[["amount", "loss", "improvement", "improvement_low", "improvement_high"]].round(4).to_string())

# %%
# The *oracle* is simple shrinkage by the best factor, which needs the truth. The gain over the plain average is there
# and small; too much shrinkage costs far more than the right amount gains. How well the amount is found from the data
# alone is in the :doc:`risk study </risk_study>`.

figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), sharey=True, layout="constrained")
for ax, path, name in zip(axes, (tikhonov, landweber), ("amount of shrinkage lam", "iterations t"), strict=True):
    path.plot(ax, relative=True)
    ax.set(xlabel=name, ylim=(-10, 5))
axes[0].set_ylabel("risk saved (% of that of the plain average)")
axes[1].set_ylabel("")
plt.show()
