"""
A promising pilot asks for too few patients
===========================================

**Question.** How many patients does a study need? A pilot gives a number that is as uncertain as the pilot is small.
Here the whole study is known, so that both can be compared.

What the result tells you
    The sample size with the wanted power, if the effect in the pilot is the true effect.

What it does not tell you
    How uncertain the pilot is: the interval of the sample size covers the simulation only. Studies follow promising
    pilots, so the power is usually lower than planned.

How to report it
    Give the pilot, the test, the level, the power, and the sample size with its interval; plan with a smaller effect
    than the one observed.
"""

# %%
# Symmetry of the cell nuclei of benign and malignant breast tumors. The pilot has twenty of each.

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

from shrinktest import power_study, solve_sample_size
from shrinktest.power.designs import FromData

tumors = load_breast_cancer(as_frame=True).frame
benign = tumors.loc[tumors["target"] == 1, "mean symmetry"]
malignant = tumors.loc[tumors["target"] == 0, "mean symmetry"]
pilot = benign.sample(20, random_state=0), malignant.sample(20, random_state=0)

answer = solve_sample_size(
    FromData(*pilot), power=0.8, n_trials=100, n_resamples=99, workers=1, progress=False, rng=0
)
print(f"The pilot asks for {answer.n} tumors per sample.")

# %%
# ``FromData`` draws studies of any size from the pilot. What is the power of studies drawn from all tumors?

truth = power_study(
    FromData(benign, malignant),
    "kme",
    [answer.n, 30, 45, 60],
    n_trials=60,
    n_resamples=99,
    with_null=False,
    workers=1,
    progress=False,
    rng=0,
)
print(truth.table[["n", "power", "low", "high"]].round(2).to_string(index=False))

# %%

plt.rc("font", size=16)
figure, ax = plt.subplots(figsize=(7.5, 5.25), layout="constrained")
ax.plot(truth.table["n"], truth.table["power"], "o-", color="#0072B2", linewidth=4, markersize=11)
ax.plot(answer.n, 0.8, "D", color="#D55E00", markersize=13)
ax.axhline(0.8, color="black", linestyle=":")
ax.text(answer.n + 1.5, 0.83, f"the pilot's answer: {answer.n}", color="#D55E00")
ax.text(37, 0.55, "all tumors", color="#0072B2")
ax.set(xlabel="tumors in each sample", ylabel="power", xlim=(10, 63), ylim=(0, 1.03))
plt.show()

# %%
# The diamond is the study that the pilot promised; the dot below it shows its true power.
#
# **Next:** :doc:`from pilot to report <plot_clinical_trial>`, :doc:`which test has the most power?
# <../products/plot_which_test>`, :doc:`power and sample size </power>`.
