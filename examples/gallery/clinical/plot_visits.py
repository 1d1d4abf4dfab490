"""
A trial with visits, arms and sites
===================================

**Question.** Patients of six sites were randomized to a drug or a placebo, and rated pain, mood and sleep at up to three
visits. Does the arm matter, does time matter, and does the drug change the course of time? Visits of a patient are
alike, so the unit that may be permuted is another one for each of these questions; :func:`~shrinktest.factor_test`
chooses it.

What the result tells you
    For each term, whether it matters beyond the others, how much it explains, what was permuted, and whether the test
    is exact. ``pairwise`` says between which visits, ``columns`` in which answers.

What it does not tell you
    What would have happened at visits that were missed: if patients stay away because they feel worse, those who come
    are no longer comparable. Nor does a small share mean a small benefit for a single patient, or a large p-value that
    the arms are the same (:doc:`equivalence </equivalence>` does).

How to report it
    Give the formula, groups and blocks, the number of patients and visits, what was permuted for each term, the
    adjusted p-values, and the shares with their intervals.
"""

# %%
# Forty-eight patients, half of them with the drug in every site. Pain falls for everybody, and faster with the drug;
# sleep does not change. One visit in eight was missed, and rows of missed visits are simply absent.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from shrinktest import factor_test

rng = np.random.default_rng(4)
patients = 48
visits = ["week 0", "week 4", "week 8"]
table = pd.DataFrame(
    {
        "patient": np.repeat(np.arange(patients), 3),
        "visit": np.tile(visits, patients),
        "site": np.repeat([f"site {k % 6 + 1}" for k in range(patients)], 3),
        "treatment": np.repeat(["drug", "placebo"], 3 * patients // 2),
    }
)
week = np.tile([0.0, 1.0, 2.0], patients)
own = np.repeat(rng.normal(0.0, 1.2, size=(patients, 3)), 3, axis=0)
noise = rng.normal(size=(3 * patients, 3))
answers = ["pain", "mood", "sleep"]
table[answers] = 5.0 + own + noise
table["pain"] -= (0.4 + 1.0 * (table["treatment"] == "drug")) * week
table["mood"] += 0.25 * week
table = table[rng.random(len(table)) > 1 / 8]

result = factor_test(
    "treatment * visit", table, response=answers, groups="patient", blocks="site", rng=0
)
print(result.summary())

# %%
# Between which visits, and in which answers?

pairs = result.pairwise("visit", rng=0)
print(pairs.table[["first", "second", "pvalue", "adjusted"]].round(3).to_string(index=False))

columns = result.columns("treatment:visit", rng=0)
print(columns.table[["column", "pvalue", "adjusted", "reject"]].round(3).to_string(index=False))

# %%
# Taking every visit for an independent observation would be a mistake: patients differ, and each counts three times. If
# the arms are relabeled at random, patient by patient, no arm has an effect, and yet such a test often finds one.

rejected = 0
for seed in range(100):
    arms = np.random.default_rng(seed).permutation(np.repeat(["drug", "placebo"], patients // 2))
    relabeled = table.assign(treatment=arms[table["patient"]])
    as_rows = factor_test("treatment", relabeled, response=answers, n_resamples=99, rng=seed)
    rejected += as_rows["treatment"].reject()
false_positives = rejected / 100
print(f"Visits permuted one by one give {false_positives:.0%} false positives at the 5% level.")

# %%

plt.rc("font", size=15)
figure, ax = plt.subplots(figsize=(7.5, 5.25), layout="constrained")
for arm, color in (("placebo", "#D55E00"), ("drug", "#0072B2")):
    pain = table.loc[table["treatment"] == arm].groupby("visit")["pain"]
    ax.errorbar(visits, pain.mean(), pain.sem(), color=color, marker="o", capsize=5, label=arm)
ax.set(ylabel="pain", xlabel="visit", title="Mean pain with its standard error")
ax.legend()
plt.show()

# %%
# **Next:** :doc:`several factors </factors>`, :doc:`clusters, pairs and repeated measures <plot_repeated_measures>`,
# :doc:`the number of patients for such a trial </power>`.
