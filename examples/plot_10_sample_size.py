"""
A promising pilot asks for too few observations
===============================================

How many observations does a study need? A pilot gives a number, which is as uncertain as the pilot is small. Here the
whole study is known, so that both can be compared.
"""

# %%
# How symmetric the cell nuclei of benign and of malignant breast tumours are. The pilot is a few of each.

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

from shrinktest import power_study, solve_sample_size
from shrinktest.power.designs import FromData

tumours = load_breast_cancer(as_frame=True).frame
benign = tumours.loc[tumours["target"] == 1, "mean symmetry"]
malignant = tumours.loc[tumours["target"] == 0, "mean symmetry"]
pilot = benign.sample(20, random_state=0), malignant.sample(20, random_state=0)

answer = solve_sample_size(FromData(*pilot), power=0.8, n_trials=200, n_resamples=99, workers=1)
print(answer.summary())

# %%
# ``FromData`` draws new studies of any size from the pilot, as if it were the truth. What is the power of studies of
# that size, and of larger ones, that are drawn from all tumours?

truth = power_study(
    FromData(benign, malignant),
    "kme",
    [answer.n, 30, 45, 60],
    n_trials=100,
    n_resamples=99,
    with_null=False,
    workers=1,
    progress=False,
)
print(truth.table[["n", "power", "low", "high"]].round(2).to_string(index=False))

# %%

plt.rc("font", size=16)
figure, ax = plt.subplots(figsize=(7.5, 5.25), layout="constrained")
ax.plot(truth.table["n"], truth.table["power"], "o-", color="#0072B2", linewidth=4, markersize=11)
ax.plot(answer.n, 0.8, "D", color="#D55E00", markersize=13)
ax.axhline(0.8, color="black", linestyle=":")
ax.text(answer.n + 1.5, 0.83, f"the pilot's answer: {answer.n}", color="#D55E00")
ax.text(37, 0.55, "all tumours", color="#0072B2")
ax.set(xlabel="tumours in each sample", ylabel="power", xlim=(10, 63), ylim=(0, 1.03))
plt.show()

# %%
# **How to read it.** The study that the pilot promised is the diamond; what it would have found is the dot below. This
# pilot saw a larger difference than there is; another one may see a smaller one. It would be wrong to take the interval
# of the answer for the uncertainty of the plan: it is that of the simulation.
#
# **Next:** :doc:`which test has the most power? <plot_11_any_test>`, :doc:`planning for less, with a paragraph to paste
# </power>`.
