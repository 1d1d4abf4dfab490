"""
A difference can be certain, and too small to matter
====================================================

**Question.** With thousands of rows a test finds differences that nobody cares about. Is the difference smaller than a
margin that matters?

What the result tells you
    A small p-value of the equivalence test shows that the distance is below the margin; the upper limit holds with 95%
    confidence.

What it does not tell you
    Whether the margin is the right one: choose it before you see the data. A large p-value of the ordinary test does
    not show equivalence; the dot on the left of the line does.

How to report it
    Give the margin and why, the measure of distance, the upper confidence limit, and the p-value of the equivalence
    test.
"""

# %%
# A survey of 1974: women with and without an affair, the rating of their marriage, and the occupation of both spouses.

import matplotlib.pyplot as plt
from statsmodels.datasets import fair

from shrinktest import equivalence_test, two_sample_test

women = fair.load_pandas().data
questions = {"rate_marriage": "marriage", "occupation": "her work", "occupation_husb": "his work"}

results, equivalences = {}, {}
for column, question in questions.items():
    without, with_affair = (
        women.loc[women["affairs"] == 0, [column]],
        women.loc[women["affairs"] > 0, [column]],
    )
    results[question] = two_sample_test(without, with_affair, rng=0)
    equivalences[question] = equivalence_test(
        without,
        with_affair,
        margin="shift 0.2",
        measure="distance",
        names=("no affair", "affair"),
        rng=0,
    )
    print(f"{question}: p = {results[question].pvalue:.3f}, {results[question].effect()}")
    print("   ", equivalences[question].answer)

# %%
# The margin is the distance that a shift by a fifth of a standard deviation makes.

plt.rc("font", size=16)
figure, ax = plt.subplots(figsize=(7.5, 5.25), layout="constrained")
for place, result in enumerate(equivalences.values()):
    ax.plot(
        result.upper / result.margin,
        place,
        "o",
        markersize=16,
        color="#0072B2" if result.equivalent else "#D55E00",
    )
ax.axvline(1, color="black", linewidth=2)
ax.text(0.9, -0.65, "too small to matter", ha="right")
ax.set_yticks(
    range(3),
    labels=[f"{question}\np = {results[question].pvalue:.3f}" for question in equivalences],
)
ax.set(
    xscale="log",
    xlim=(0.05, 30),
    ylim=(2.6, -0.9),
    ylabel="",
    xlabel="upper limit of the distance / margin",
)
ax.set_xticks([0.1, 1, 10], labels=["0.1", "1", "10"])
plt.show()

# %%
# Her work differs clearly between the groups, by less than the margin. Each question is tested separately.
#
# **Next:** :doc:`an A/B test <plot_ab_test>`, :doc:`which measure, which margin </equivalence>`.
