"""
An A/B test in which the means hide the change
==============================================

**Question.** Does a new checkout change what customers do? Conversion, revenue and time are tested together, as a
distribution: a test of mean revenue may see nothing.

What the result tells you
    Whether customers of A and B behave differently in any way, which metrics changed, and by how much.

What it does not tell you
    Whether the change is good for business. It also does not allow peeking: run the test once, at the planned size (or
    stop permutations early, which is a different thing).

How to report it
    Give the unit of randomization (customers, not page views), the numbers of units, one p-value for all metrics, and
    effects with intervals for those that changed.
"""

# %%
# With B more customers buy, and each buys less, so that mean revenue stays about the same.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.stats import ttest_ind

from shrinktest import compare

rng = np.random.default_rng(7)


def customers(n, conversion, basket):
    buys = rng.random(n) < conversion
    revenue = np.where(buys, rng.lognormal(np.log(basket), 0.5, n), 0.0)
    return pd.DataFrame(
        {
            "bought": np.where(buys, "yes", "no"),
            "revenue": revenue,
            "minutes": rng.gamma(2.0, 3.0, n),
        }
    )


a, b = customers(800, 0.45, 60.0), customers(800, 0.58, 46.5)
print(f"Mean revenue {a['revenue'].mean():.2f} and {b['revenue'].mean():.2f}, ", end="")
print(f"t test: p = {ttest_ind(a['revenue'], b['revenue'], equal_var=False).pvalue:.2f}")

result = compare(a, b, names=("A", "B"), estimator="kme", rng=0, workers=1)
print(result.answer)
for row in result.table[result.table["reject"]].itertuples():
    print(f"{row.column} (adjusted p = {row.adjusted:.3f}): {row.change.splitlines()[0]}")

# %%
# Revenue of those who bought: more buyers, smaller baskets.

plt.rc("font", size=15)
figure, ax = plt.subplots(figsize=(7.5, 5.25), layout="constrained")
buyers = [table.loc[table["bought"] == "yes", "revenue"] for table in (a, b)]
ax.hist(buyers, np.arange(0, 160, 16), color=["#D55E00", "#0072B2"], label=["A", "B"])
ax.set(xlabel="revenue of a buyer", ylabel="customers", title="More buyers, smaller baskets")
ax.legend()
plt.show()

# %%
# **Next:** :doc:`how large is it? <plot_how_large>`, :doc:`too small to matter? <plot_practically_the_same>`,
# :doc:`customers with several visits <../clinical/plot_repeated_measures>`.
