"""
How different are they?
=======================

A p-value says whether samples differ; ``result.effect()`` says by how much, with an interval, on a scale that does not
depend on the number of rows.
"""

# %%
# Women of a survey of 1974 about their marriages: those who had no affair, and those who had one. The test sees more
# and more of them.

import matplotlib.pyplot as plt
from statsmodels.datasets import anes96, fair

from shrinktest import k_sample_test, two_sample_test

women = fair.load_pandas().data.sample(frac=1.0, random_state=0)
columns = ["rate_marriage", "age", "yrs_married", "children", "religious", "educ"]
none, some = women.loc[women["affairs"] == 0, columns], women.loc[women["affairs"] > 0, columns]

sizes = [30, 60, 125, 250, 500, 1000]
results = [two_sample_test(none[:rows], some[:rows], rng=0) for rows in sizes]
effects = [result.effect() for result in results]
print(results[-1].effect(columns=True).summary())

# %%
# The distance of the statistic from what chance makes of it grows with the rows, and the p-value is soon as small as it
# can be. The probability that the witness function tells which of two women had an affair stays where it is, and is
# known better.

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
left.plot(sizes, [effect.z for effect in effects], "o-", color="black")
left.set(xscale="log", xlabel="rows in each sample", title="Evidence grows with the rows", ylim=(0.0, None))
left.set_ylabel("standard deviations above\nthe mean under permutations (z)")
low, high = zip(*(effect.auc_interval for effect in effects), strict=True)
right.vlines(sizes, low, high, color="tab:blue", linewidth=2.5)
right.plot(sizes, [effect.auc for effect in effects], "o", color="tab:blue")
right.axhline(0.5, color="grey", linestyle=":")
right.text(sizes[-1], 0.505, "by chance", color="dimgrey", ha="right", va="bottom")
right.set(xscale="log", xlabel="rows in each sample", ylabel="which is which (auc)", title="The effect does not")
for ax in (left, right):
    ax.set_xticks(sizes, labels=map(str, sizes))
    ax.minorticks_off()
plt.show()

# %%
# Of several samples there is an effect for every two. Voters of 1996 by their party: how different are they in age,
# education, income and the size of the place where they live, and in where they see themselves and both candidates from
# left to right?

voters = anes96.load_pandas().data
parties = {
    "strong Democrats": [0],
    "weak Democrats": [1],
    "independents": [2, 3, 4],
    "weak Republicans": [5],
    "strong Republicans": [6],
}
questions = {
    "age, education, income, place": ["age", "educ", "income", "logpopul"],
    "left to right": ["selfLR", "ClinLR", "DoleLR"],
}
found = {
    label: k_sample_test(
        {name: voters.loc[voters["PID"].isin(of), asked] for name, of in parties.items()}, rng=0
    ).effect()
    for label, asked in questions.items()
}

# %%
# One dot is a pair of samples, and the line its interval. Who they are hardly tells Republicans apart, what they think
# does.

figure, ax = plt.subplots(figsize=(8.5, 5.2), layout="constrained")
pairs = sorted(found["left to right"].pairs, key=lambda pair: found["left to right"].pairs[pair].auc)
for label, marker, color, up in zip(found, "so", ("tab:orange", "tab:blue"), (0.15, -0.15), strict=True):
    chosen = [found[label].pairs[pair] for pair in pairs]
    places = [place + up for place in range(len(pairs))]
    ax.hlines(places, *zip(*(one.auc_interval for one in chosen), strict=True), color=color, linewidth=2)
    ax.plot([one.auc for one in chosen], places, marker, color=color, label=label)
ax.set_yticks(range(len(pairs)), labels=[" and ".join(found["left to right"].pairs[pair].names) for pair in pairs])
ax.axvline(0.5, color="grey", linestyle=":")
ax.set(
    xlabel="probability of telling which is which (auc), .5 is chance", title="How different are voters of two parties?"
)
figure.legend(loc="outside lower center", ncols=2)
plt.show()
