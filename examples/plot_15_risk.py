"""
Shrinkage improves an estimate a little, and too much of it costs a lot
=======================================================================

Behind the tests are estimates of kernel means. Where the truth is known, the distance of an estimate from it can be
computed exactly, for every amount of shrinkage.
"""

# %%
# The papers' mixtures of Gaussians, because in real data nobody knows the truth. :func:`~shrinktest.risk.loss_path`
# follows one estimator along its amount, on the same data sets.

import matplotlib.pyplot as plt
import numpy as np

from shrinktest.risk import loss_path

path = loss_path("fkmse", np.logspace(-2, 2, 15), n=20, d=30, n_trials=60, workers=1, progress=False)
print(path.table[["amount", "loss", "improvement", "improvement_low", "improvement_high"]].round(4).to_string())

# %%

plt.rc("font", size=16)
figure, ax = plt.subplots(figsize=(7.5, 5.25), layout="constrained")
saved = path.table[["improvement", "improvement_low", "improvement_high"]]
ax.axhline(0, color="black", linestyle=":")
ax.fill_between(path.table["amount"], saved["improvement_low"], saved["improvement_high"], color="#0072B2", alpha=0.2)
ax.plot(path.table["amount"], saved["improvement"], "o-", color="#0072B2", linewidth=3, markersize=8)
ax.set(xscale="log", xlabel="amount of shrinkage", ylabel="risk saved (%)", xlim=(0.008, 2), ylim=(-10, 5))
plt.show()

# %%
# **How to read it.** Above the dotted line the estimate is better than the plain average. It would be wrong to conclude
# that a test gains as much: how well a mean is estimated, and how well a difference is seen, are two questions. How
# well the amount is found from data alone is in the :doc:`risk study </reproduced_risk>`.
#
# **Next:** :doc:`a density from a kernel mean <plot_16_density>`, :doc:`the estimators </estimators>`.
