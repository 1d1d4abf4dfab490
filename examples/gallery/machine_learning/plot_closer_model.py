"""
Which generative model is closer to the data?
=============================================

**Question.** Two models generate synthetic records. Neither is perfect, so a test of "equal to the data" rejects both.
Which is closer, and is the difference more than chance?

What the result tells you
    Estimated distances (MMD) of both models from the data, their difference with a confidence interval, and a p-value
    for "equally close".

What it does not tell you
    That the closer model is good. The test is asymptotic (it needs some hundred rows), and closeness refers to this
    kernel and these columns.

How to report it
    Give the numbers of real and generated rows, the kernel, the difference of squared distances with its interval, and
    the p-value.
"""

# %%
# The data: two measurements that are closely related. The first model has the right margins and no relation; the
# second has the relation, with a spread that is too large.

import matplotlib.pyplot as plt
import numpy as np

from shrinktest import closer_test, two_sample_test

rng = np.random.default_rng(0)


def records(n, width=1.0):
    dose = width * rng.normal(size=n)
    return np.column_stack([dose, dose + 0.3 * rng.normal(size=n)])


data = records(600)
shuffled = records(600)
shuffled[:, 1] = rng.permutation(shuffled[:, 1])
models = {"margins": shuffled, "relation": records(600, width=1.2)}
for name, rows in models.items():
    print(
        f"data and {name}: equal distributions? p = {two_sample_test(data, rows, rng=0).pvalue:.3f}"
    )

result = closer_test(data, models, names="data")
low, high = result.interval
print(result.answer)
print(f"Difference of squared distances: {result.difference:.4f} [{low:.4f}, {high:.4f}]")

# %%

plt.rc("font", size=15)
figure, ax = plt.subplots(figsize=(7.5, 5.25), layout="constrained")
for rows, color, name in (
    (data, "black", "data"),
    (shuffled, "#D55E00", "margins"),
    (models["relation"], "#0072B2", "relation"),
):
    ax.plot(*rows[:250].T, "o", color=color, alpha=0.5, label=name)
ax.set(xlabel="dose", ylabel="response", title="Data and two models")
ax.legend()
plt.show()

# %%
# **Next:** :doc:`more than two models </simulators>`, :doc:`is a simulator calibrated? <../laboratory/plot_calibration>`
