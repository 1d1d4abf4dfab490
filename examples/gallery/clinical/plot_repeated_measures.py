"""
Clusters, pairs and repeated measures
=====================================

**Question.** Nurses on some wards were trained, and patients were asked before and after. Which rows may be permuted?
The design decides: wards were randomized, so whole wards are permuted (``groups=``); the same patients were asked
twice, so the two answers of a patient are swapped (``paired=True``).

What the result tells you
    With the right restriction, a p-value that is exact under the null hypothesis. :func:`~shrinktest.check_level` shows
    what the wrong one costs: it counts false positives on permuted versions of your own data.

What it does not tell you
    Anything about single patients, or about wards that differ from these in kind. With few clusters the smallest
    possible p-value is large: four wards per arm have only 70 allocations.

How to report it
    State the unit that was randomized, the number of units, and which rows were permuted.
"""

# %%
# Eight wards per arm, ten patients each, two answers per patient: trust and comfort. Wards differ, training does
# nothing.

import matplotlib.pyplot as plt
import numpy as np

from shrinktest import check_level, two_sample_test

rng = np.random.default_rng(3)
wards = np.repeat(np.arange(16), 10)
patients = rng.normal(size=(16, 2))[wards] + rng.normal(size=(160, 2))
trained = wards % 2 == 0
control, training = patients[~trained], patients[trained]
groups = wards[~trained], wards[trained]


def by_rows(X, Y):
    return two_sample_test(X, Y, n_resamples=99, rng=0).pvalue


as_rows = two_sample_test(control, training, rng=0)
as_wards = two_sample_test(control, training, groups=groups, rng=0)
print(
    f"Patients permuted one by one: p = {as_rows.pvalue:.3f}. Whole wards permuted: p = {as_wards.pvalue:.3f}."
)

check = check_level(by_rows, control, training, groups=groups, n_trials=100, rng=0, workers=1)
false_positives = check.table.set_index("alpha")["level"][0.05]
print(
    f"Permuting patients gives {false_positives:.0%} false positives at the 5% level in data like these."
)

# %%
# Three months later the same patients answer again, a little better. Patients differ from one another far more than
# they change, so each is compared with his or her own first answer.

later = patients + 0.15 + 0.5 * rng.normal(size=patients.shape)
unpaired = two_sample_test(patients, later, rng=0)
paired = two_sample_test(patients, later, paired=True, rng=0)
print(f"As independent samples: p = {unpaired.pvalue:.3f}. As pairs: p = {paired.pvalue:.3f}.")

# %%
# The picture has one dot per ward: patients of one ward are alike, so 160 patients carry the information of 16 wards.

plt.rc("font", size=15)
figure, ax = plt.subplots(figsize=(7.5, 5.25), layout="constrained")
for arm, color, name in ((~trained, "#D55E00", "control"), (trained, "#0072B2", "training")):
    ax.plot(*patients[arm].T, ".", color=color, alpha=0.35)
    means = np.array([patients[wards == ward].mean(axis=0) for ward in np.unique(wards[arm])])
    ax.plot(*means.T, "o", color=color, markersize=13, label=name)
ax.set(xlabel="trust", ylabel="comfort", title="Wards (large) and their patients (small)")
ax.legend()
plt.show()

# %%
# **Next:** :doc:`pairs in real data <../ecology/plot_pairs>`, :doc:`which rows may be shuffled </choosing>`,
# :doc:`measured levels </levels>`.
