"""
Blood sugar goes with diabetes getting worse, until three others are given
==========================================================================

**Question.** Does blood sugar say how diabetes will develop, beyond weight, blood pressure and blood fat? ``given=``
tests conditional independence.

What the result tells you
    A small p-value says that the two are still related among patients who are alike in the other three.

What it does not tell you
    That sugar does no harm: it may act through what is conditioned on, and a large p-value is no proof of
    independence. The test is approximate, and good if its regressions are.

How to report it
    Name the conditioning variables, the method, the assumption (``result.assumption``), and both p-values.
"""

# %%
# Patients with diabetes: their blood sugar, and how far the disease progressed within a year. Both increase with
# weight, blood pressure and blood fat.

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression

from shrinktest import independence_test

patients = load_diabetes(as_frame=True, scaled=False).frame
sugar, worse = patients[["s6"]], patients[["target"]]
others = patients[["bmi", "bp", "s5"]]

alone = independence_test(sugar, worse, rng=0)
given = independence_test(sugar, worse, given=others, rng=0)
print(f"alone:             p = {alone.pvalue:.3f}")
print(f"given the others:  p = {given.pvalue:.3f}  ({given.method})")
print(given.notes[0])

# %%
# The data on the left; on the right the residuals of linear regressions on the other three. (The test also removes
# nonlinear relations.)

plt.rc("font", size=17)
residuals = [
    column - LinearRegression().fit(others, column).predict(others) for column in (sugar, worse)
]
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 6.3), layout="constrained")
for ax, x, y, color in ((left, sugar, worse, "#0072B2"), (right, *residuals, "#D55E00")):
    ax.plot(x, y, "o", color=color, markersize=5, alpha=0.6)
    line = LinearRegression().fit(x, y)
    ax.axline((0, line.intercept_.item()), slope=line.coef_.item(), color="black")
left.set(
    xlim=(50, 130),
    ylim=(0, 360),
    xlabel="blood sugar",
    ylabel="disease a year later",
    title=f"alone: p = {alone.pvalue:.3f}",
)
right.set(
    xlabel="sugar, residual", ylabel="disease, residual", title=f"given: p = {given.pvalue:.2f}"
)
plt.show()

# %%
# The line through the left cloud rises, the other one is nearly level.
#
# **Next:** :doc:`all pairs of columns <../ecology/plot_traits>`, :doc:`assumptions, and categories </given>`.
