"""
Parties differ in what voters think, less in who they are
=========================================================

Three groups of voters, one test of whether they all answer alike, and for every two of them how different they are.
"""

# %%
# The American election of 1996: who voters are, and where they see themselves and both candidates from left to right.

import matplotlib.pyplot as plt
from statsmodels.datasets import anes96

from shrinktest import k_sample_test

voters = anes96.load_pandas().data
parties = {"Democrats": [0, 1], "independents": [2, 3, 4], "Republicans": [5, 6]}
questions = {"who they are": ["age", "educ", "income", "logpopul"], "what they think": ["selfLR", "ClinLR", "DoleLR"]}

effects = {}
for question, columns in questions.items():
    samples = {name: voters.loc[voters["PID"].isin(codes), columns] for name, codes in parties.items()}
    result = k_sample_test(samples, rng=0)
    effects[question] = result.effect()
    print(f"{question}: p = {result.pvalue:.3f}")
    print(effects[question].auc.round(2).to_string(), end="\n\n")

# %%
# The tables have the chance of telling which of two voters, one of each group, is which.

plt.rc("font", size=16)
figure, ax = plt.subplots(figsize=(9, 6.3), layout="constrained")
pairs = sorted(effects["what they think"].pairs, key=lambda pair: effects["what they think"].pairs[pair].auc)
looks = (("s", "#D55E00", 0.1), ("o", "#0072B2", -0.1))
for (question, effect), (marker, color, up) in zip(effects.items(), looks, strict=True):
    chosen = [effect.pairs[pair] for pair in pairs]
    places = [place + up for place in range(len(pairs))]
    ax.hlines(places, *zip(*(one.auc_interval for one in chosen), strict=True), color=color, linewidth=3)
    ax.plot([one.auc for one in chosen], places, marker, color=color, markersize=10, label=question)
names = ["\n".join(effects["what they think"].pairs[pair].names) for pair in pairs]
ax.set_yticks(range(len(pairs)), labels=names)
ax.axvline(0.5, color="black", linestyle=":")
ax.set(xlabel="chance of telling two voters apart", ylabel="", xlim=(0.38, 1.0), ylim=(-0.5, 2.8))
ax.legend(loc="upper left", ncols=2, frameon=False)
plt.show()

# %%
# **How to read it.** A dot is a pair of groups, the line its interval, and half is what a coin would do. The small
# p-values say only that not all groups are the same. It would be wrong to rank pairs whose intervals overlap: each
# interval is for its pair alone.
#
# **Next:** :doc:`how large a difference is <plot_05_how_large>`, :doc:`effects and their intervals </effects>`.
