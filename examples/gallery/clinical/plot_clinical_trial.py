"""
A clinical trial, from the pilot to the report
==============================================

**Question.** Does a new drug change how patients with back pain do, in three outcomes together? A pilot gives the
sample size, the trial is randomized within clinics, and the last lines print the sentence for the report.

What the result tells you
    Whether the outcomes of the two arms have the same distribution, which outcomes differ (p-values adjusted for their
    number), and by how much.

What it does not tell you
    That the drug is better: a difference of any kind counts, so look at the direction in each outcome. The sample size
    assumes that the effect in the pilot is the true effect.

How to report it
    Give the size of both arms, the test and its restriction (permutations within clinics), the number of
    permutations, the p-values, and effect sizes with intervals.
"""

# %%
# **The pilot.** Twenty patients per arm. The function stands for the patients who will be recruited.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from shrinktest import compare, solve_sample_size
from shrinktest.power.designs import FromData

rng = np.random.default_rng(8)


def patients(n, relief, clinic=0.0):
    """Pain (from 0 to 10), sleep (hours) and walking (minutes) after six weeks."""
    pain = np.clip(6.0 + clinic - relief + 1.8 * rng.normal(size=n), 0.0, 10.0)
    sleep = 8.0 - 0.35 * pain + 0.7 * rng.normal(size=n)
    return pd.DataFrame(
        {"pain": pain, "sleep": sleep, "walking": 40.0 - 2.0 * pain + 8.0 * rng.normal(size=n)}
    )


pilot = patients(20, relief=0.0), patients(20, relief=1.8)
plan = solve_sample_size(
    FromData(*pilot), power=0.8, n_trials=100, n_resamples=99, workers=1, progress=False, rng=0
)
print(f"{plan.n} patients per arm give 80% power at the 5% level.")

# %%
# **The trial.** Patients of three clinics, randomized within each clinic. Clinics differ, so patients are permuted
# within clinics only (``blocks=``).

n = plan.n // 3 + 1
clinics = np.repeat(["A", "B", "C"], n)
placebo = pd.concat([patients(n, 0.0, clinic) for clinic in (-1.0, 0.0, 1.0)], ignore_index=True)
drug = pd.concat([patients(n, 1.6, clinic) for clinic in (-1.0, 0.0, 1.0)], ignore_index=True)
result = compare(
    placebo,
    drug,
    names=("placebo", "drug"),
    estimator="kme",
    blocks=(clinics, clinics),
    rng=0,
    workers=1,
)

# %%
# **The report.** AUC is the probability that a patient on the drug has a larger value than a patient on placebo.

print(
    f"Three outcomes of {len(placebo)} patients on placebo and {len(drug)} on the drug were compared by a kernel "
    f"two-sample test with {result.overall.n_resamples} permutations within clinics: p = {result.pvalue:.3f}."
)
for row in result.table.itertuples():
    print(f"  {row.column} (adjusted p = {row.adjusted:.3f}): {row.change.splitlines()[0]}")

# %%
# In which direction? Each point is a patient, each cross the mean of an arm.

plt.rc("font", size=15)
figure, ax = plt.subplots(figsize=(7.5, 5.25), layout="constrained")
for name, table, color in (("placebo", placebo, "#D55E00"), ("drug", drug, "#0072B2")):
    ax.plot(table["pain"], table["sleep"], "o", color=color, alpha=0.5, label=name)
    ax.plot(
        table["pain"].mean(),
        table["sleep"].mean(),
        "P",
        color=color,
        markersize=20,
        markeredgecolor="black",
    )
ax.set(xlabel="pain (0 to 10)", ylabel="sleep (hours)", title="Outcomes after six weeks")
ax.legend()
plt.show()

# %%
# **Next:** :doc:`why a small pilot can mislead <plot_pilot>`, :doc:`power and sample size </power>`,
# :doc:`effect sizes </effects>`.
