"""
Where do two samples differ?
============================

A test says that two samples differ. The witness function says where: it is the difference of the two estimated kernel
means, positive where the first sample has more points.
"""

# %%
# Two years of a survey of the same region. In the second year, some of the sightings have moved to the north-east.

import matplotlib.pyplot as plt
import numpy as np

from shrinktest import two_sample_test

rng = np.random.default_rng(1)
first = rng.normal([4.0, 4.0], 1.6, size=(150, 2))
second = np.vstack([rng.normal([4.0, 4.0], 1.6, size=(110, 2)), rng.normal([7.5, 7.0], 0.7, size=(40, 2))])

result = two_sample_test(first, second, estimator="skmse", rng=0)
print(f"p = {result.pvalue:.3f}, bandwidth {result.bandwidth:.2f} km")

# %%
# ``result.witness`` evaluates it anywhere, with the estimator and the bandwidth of the test.

east, north = np.meshgrid(np.linspace(0, 10, 80), np.linspace(0, 10, 80))
height = result.witness(np.column_stack([east.ravel(), north.ravel()])).reshape(east.shape)
largest = np.abs(height).max()

# %%
# It describes the difference that the test saw; it is not a test at every place.

figure, ax = plt.subplots(figsize=(7.5, 6), layout="constrained")
filled = ax.contourf(east, north, -height, levels=np.linspace(-largest, largest, 16), cmap="PuOr_r")
ax.scatter(*first.T, s=14, color="black", marker="o", label="first year")
ax.scatter(*second.T, s=18, color="black", marker="x", linewidths=0.8, label="second year")
ax.set(
    xlabel="east (km)", ylabel="north (km)", xlim=(0, 10), ylim=(0, 10), title="Where sightings became more frequent"
)
bar = figure.colorbar(filled, label="second year minus first (witness function)")
bar.set_ticks([-largest, 0.0, largest], labels=[f"fewer\n{-largest:.2f}", "as many\n0", f"more\n{largest:.2f}"])
ax.legend(loc="lower right")
plt.show()
