"""
A difference can be certain, and too small to matter
====================================================

With thousands of rows a test finds differences that nobody cares about. An equivalence test turns the question round:
is the difference smaller than a margin?
"""

# %%
# Women of a survey of 1974: those who had no affair, and those who had one. How they rate their marriage, and the kinds
# of work of themselves and of their husbands.

import matplotlib.pyplot as plt
from statsmodels.datasets import fair

from shrinktest import equivalence_test, two_sample_test

women = fair.load_pandas().data
questions = {"rate_marriage": "marriage", "occupation": "her work", "occupation_husb": "his work"}

results, equivalences = {}, {}
for column, question in questions.items():
    none, some = women.loc[women["affairs"] == 0, [column]], women.loc[women["affairs"] > 0, [column]]
    results[question] = two_sample_test(none, some, rng=0)
    equivalences[question] = equivalence_test(
        none, some, margin="shift 0.2", measure="distance", names=("none", "some")
    )
    print(f"{question}: p = {results[question].pvalue:.3f}, {results[question].effect()}")
    print("   ", equivalences[question].answer)

# %%
# The margin has to be chosen before the data are seen: here it is the distance that a shift by a fifth of a standard
# deviation makes.

plt.rc("font", size=16)
figure, ax = plt.subplots(figsize=(7.5, 5.25), layout="constrained")
for place, found in enumerate(equivalences.values()):
    ax.plot(found.upper / found.margin, place, "o", markersize=16, color="#0072B2" if found.equivalent else "#D55E00")
ax.axvline(1, color="black", linewidth=2)
ax.text(0.9, -0.65, "too small to matter", ha="right")
ax.set_yticks(range(3), labels=[f"{question}\np = {results[question].pvalue:.3f}" for question in equivalences])
ax.set(xscale="log", xlim=(0.05, 30), ylim=(2.6, -0.9), ylabel="", xlabel="upper limit of the distance / margin")
ax.set_xticks([0.1, 1, 10], labels=["0.1", "1", "10"])
plt.show()

# %%
# **How to read it.** A dot left of the line: the difference is below the margin, with a confidence of 95%. Her work
# differs clearly, and by less than the margin. It would be wrong to take the large p-value of his work as the reason
# for calling it the same; its dot is. Each question is tested for itself.
#
# **Next:** :doc:`two variables <plot_07_dependence>`, :doc:`which scale, which margin </equivalence>`.
