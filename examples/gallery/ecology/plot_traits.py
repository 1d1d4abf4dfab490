"""
Which traits of bees go together?
=================================

**Question.** Six traits were measured on each bee. Which pairs of traits are related, in any form, and how sure can we
be with fifteen pairs?

What the result tells you
    A p-value for each pair of columns, adjusted for all pairs, so that the chance of a single false positive among
    them is at most 5% (family-wise error).

What it does not tell you
    The form or the cause of a relation: plot the pair. Two traits may be related through a third
    (``given="others"`` removes that).

How to report it
    Give the number of rows and of pairs, the test (HSIC), the method of adjustment, and the adjusted p-values.
"""

# %%
# Tongue length follows body mass. Activity peaks at a medium altitude, so the two are related without any correlation.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from shrinktest import independence_matrix

rng = np.random.default_rng(2)
mass = rng.gamma(9.0, 12.0, size=90)
altitude = rng.uniform(200.0, 1800.0, size=90)
bees = pd.DataFrame(
    {
        "mass": mass,
        "tongue": 3.0 + 0.02 * mass + 0.5 * rng.normal(size=90),
        "altitude": altitude,
        "activity": np.exp(-(((altitude - 1000.0) / 350.0) ** 2)) + 0.2 * rng.normal(size=90),
        "hairs": rng.normal(size=90),
        "mites": rng.poisson(1.0, size=90),
    }
)

result = independence_matrix(bees, rng=0)
table = result.table
correlations = bees.corr().abs()
for row in table[table["reject"]].itertuples():
    print(
        f"{row.x} and {row.y}: adjusted p = {row.adjusted:.3f}, correlation {correlations.loc[row.x, row.y]:.2f}"
    )
print(f"{table['reject'].sum()} of {len(table)} pairs of traits are related.")

# %%

plt.rc("font", size=15)
figure, ax = plt.subplots(figsize=(7.5, 5.25), layout="constrained")
ax.plot(bees["altitude"], bees["activity"], "o", color="#0072B2", markersize=8)
ax.set(xlabel="altitude (m)", ylabel="activity", title="Related, without correlation")
plt.show()

# %%
# **Next:** :doc:`related through others? <../clinical/plot_given_others>`, :doc:`one pair in real data
# <../laboratory/plot_without_correlation>`.
