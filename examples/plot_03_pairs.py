"""
Fertility fell in most countries, and only pairs show it
========================================================

The same countries, before and after. Countries differ from each other by far more than five years change them, so
each has to be compared with itself.
"""

# %%
# Births per woman in 2000 and in 2005, by the World Bank; groups of countries are left out.

import matplotlib.pyplot as plt
from statsmodels.datasets import fertility

from shrinktest import two_sample_test

rates = fertility.load_pandas().data.set_index("Country Name")[["2000", "2005"]].dropna()
rates = rates[~rates.index.str.contains("classification|income levels|members|small states")]
before, after = rates["2000"], rates["2005"]

as_rows = two_sample_test(before, after, rng=0)
as_pairs = two_sample_test(before, after, paired=True, rng=0)
fell = (after < before).mean()
print(f"{len(rates)} countries, of which {fell:.0%} have fewer births per woman in 2005")
print(f"as independent rows: p = {as_rows.pvalue:.3f}")
print(f"as pairs:            p = {as_pairs.pvalue:.3f}")

# %%
# With ``paired=True`` a permutation swaps the two years within countries, and nothing else.

plt.rc("font", size=17)
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 6.3), layout="constrained")
left.hist([before, after], bins=range(1, 9), color=["#0072B2", "#D55E00"], label=["2000", "2005"])
left.set(xlabel="births per woman", ylabel="countries", title=f"as rows: p = {as_rows.pvalue:.2f}")
left.legend()
right.hist(after - before, bins=20, color="#0072B2")
right.axvline(0, color="black", linewidth=2)
right.set(xlabel="2005 less 2000", ylabel="countries", title=f"as pairs: p = {as_pairs.pvalue:.3f}")
plt.show()

# %%
# **How to read it.** On the left the two years look alike; on the right most countries are below zero. It would be
# wrong to conclude from the first p-value that nothing changed, and the second one takes countries as independent of
# each other: neighbours with one history say less than their number.
#
# **Next:** :doc:`three samples <plot_04_three_groups>`, :doc:`which rows may be shuffled </choosing>`, :doc:`blocks,
# groups and shifts </levels>`.
