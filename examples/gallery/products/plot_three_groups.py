"""
Parties differ in what voters think, less in who they are
=========================================================

**Question.** Do voters of three parties differ in who they are, and in what they think? One test per question, and an
effect size for every two parties.

What the result tells you
    A small p-value says that not all groups have the same distribution. The AUC of two groups is the probability that
    the fitted function assigns one voter of each correctly (0.5 is guessing).

What it does not tell you
    Which groups differ: the p-value is for all three together. Intervals are not adjusted for the number of pairs, so
    do not rank pairs whose intervals overlap.

How to report it
    Give the group sizes, one p-value per question, and the AUC of each pair with its interval.
"""

# %%
# The American election of 1996: who voters are, and how liberal or conservative they think that they and the
# candidates are.

import matplotlib.pyplot as plt
from statsmodels.datasets import anes96

from shrinktest import k_sample_test

voters = anes96.load_pandas().data
parties = {"Democrats": [0, 1], "independents": [2, 3, 4], "Republicans": [5, 6]}
questions = {
    "who they are": ["age", "educ", "income", "logpopul"],
    "what they think": ["selfLR", "ClinLR", "DoleLR"],
}

effects = {}
for question, columns in questions.items():
    samples = {
        name: voters.loc[voters["PID"].isin(codes), columns] for name, codes in parties.items()
    }
    result = k_sample_test(samples, rng=0)
    effects[question] = result.effect()
    print(f"{question}: p = {result.pvalue:.3f}")
    print(effects[question].auc.round(2).to_string(), end="\n\n")

# %%

plt.rc("font", size=16)
figure, ax = plt.subplots(figsize=(9, 6.3), layout="constrained")
pairs = sorted(
    effects["what they think"].pairs, key=lambda pair: effects["what they think"].pairs[pair].auc
)
looks = (("s", "#D55E00", 0.1), ("o", "#0072B2", -0.1))
for (question, effect), (marker, color, offset) in zip(effects.items(), looks, strict=True):
    chosen = [effect.pairs[pair] for pair in pairs]
    places = [place + offset for place in range(len(pairs))]
    ax.hlines(
        places, *zip(*(pair.auc_interval for pair in chosen), strict=True), color=color, linewidth=3
    )
    ax.plot(
        [pair.auc for pair in chosen], places, marker, color=color, markersize=10, label=question
    )
names = ["\n".join(effects["what they think"].pairs[pair].names) for pair in pairs]
ax.set_yticks(range(len(pairs)), labels=names)
ax.axvline(0.5, color="black", linestyle=":")
ax.set(xlabel="AUC of two groups", ylabel="", xlim=(0.38, 1.0), ylim=(-0.5, 2.8))
ax.legend(loc="upper left", ncols=2, frameon=False)
plt.show()

# %%
# A dot is a pair of groups, with its 95% interval; the dotted line is guessing.
#
# **Next:** :doc:`effect sizes and sample size <plot_how_large>`, :doc:`effects and their intervals </effects>`.
