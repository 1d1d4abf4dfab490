"""
Fertility fell in most countries, and only pairs show it
========================================================

**Question.** Did fertility change between 2000 and 2005? Countries differ from one another far more than five years
change any of them, so each country is compared with itself.

What the result tells you
    Whether the two years differ within countries. With ``paired=True`` a permutation swaps the two years of a country.

What it does not tell you
    The direction (look at the differences), or anything about single countries. Countries count as independent of each
    other, and neighbors with a common history are less than that.

How to report it
    Give the number of pairs, the paired permutation test, the p-value, and the distribution of the differences.
"""

# %%
# Births per woman in 2000 and in 2005, from the World Bank, without groups of countries.

import matplotlib.pyplot as plt
from statsmodels.datasets import fertility

from shrinktest import two_sample_test

rates = fertility.load_pandas().data.set_index("Country Name")[["2000", "2005"]].dropna()
rates = rates[~rates.index.str.contains("classification|income levels|members|small states")]
before, after = rates["2000"], rates["2005"]

as_rows = two_sample_test(before, after, rng=0)
as_pairs = two_sample_test(before, after, paired=True, rng=0)
fell = (after < before).mean()
print(f"Of {len(rates)} countries, {fell:.0%} had fewer births per woman in 2005.")
print(f"as independent rows: p = {as_rows.pvalue:.3f}")
print(f"as pairs:            p = {as_pairs.pvalue:.3f}")

# %%
# The two years on the left, the differences of the pairs on the right.

plt.rc("font", size=17)
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 6.3), layout="constrained")
left.hist([before, after], bins=range(1, 9), color=["#0072B2", "#D55E00"], label=["2000", "2005"])
left.set(xlabel="births per woman", ylabel="countries", title=f"as rows: p = {as_rows.pvalue:.2f}")
left.legend()
right.hist(after - before, bins=20, color="#0072B2")
right.axvline(0, color="black", linewidth=2)
right.set(
    xlabel="change, 2000 to 2005", ylabel="countries", title=f"as pairs: p = {as_pairs.pvalue:.3f}"
)
plt.show()

# %%
# As rows, the two years look alike; as pairs, most differences are below zero.
#
# **Next:** :doc:`clusters and repeated measures <../clinical/plot_repeated_measures>`, :doc:`which rows may be
# shuffled </choosing>`.
