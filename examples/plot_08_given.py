"""
Blood sugar goes with diabetes getting worse, until three others are given
==========================================================================

Two variables may go together because others go with both. ``given=`` asks what is left when these are known.
"""

# %%
# Patients with diabetes: their blood sugar, and how much worse the disease had become a year later. Both go with
# weight, blood pressure and fat in the blood.

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
# The picture has on the left the data, and on the right what straight lines on the three others leave of both. (The
# test takes off more than straight lines.)

plt.rc("font", size=17)
left_over = [column - LinearRegression().fit(others, column).predict(others) for column in (sugar, worse)]
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 6.3), layout="constrained")
for ax, x, y, color in ((left, sugar, worse, "#0072B2"), (right, *left_over, "#D55E00")):
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
right.set(xlabel="blood sugar, rest", ylabel="disease, rest", title=f"given: p = {given.pvalue:.2f}")
plt.show()

# %%
# **How to read it.** The line through the left cloud rises, the other one is nearly level. It would be wrong to
# conclude that sugar does no harm: what is given may be what it works through, and nothing found is not nothing there.
# The second p-value is nearly exact, if regressions find what the others say.
#
# **Next:** :doc:`when did it change? <plot_09_change>`, :doc:`what must be true, and categories </given>`.
