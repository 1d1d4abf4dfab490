"""
Voters agree on average about Dole, which leaves a t test blind
===============================================================

**Question.** Which test should a study plan with? A power study runs any tests on the same simulated data sets: from
this package, from scipy, or your own function.

What the result tells you
    The power of each test in studies like this one, and its rate of false positives (dotted).

What it does not tell you
    Which test is best in general: against a shift of the mean, a t test is hard to beat. Never choose a test on the
    data of the study itself.

How to report it
    Give the design, the number of simulated studies, and power and level of each test with intervals.
"""

# %%
# How conservative voters of 1996 thought that Dole was. On average, Clinton's and Dole's voters gave the same answer;
# Clinton's voters agreed less with one another.

import matplotlib.pyplot as plt
from scipy.stats import ansari
from statsmodels.datasets import anes96

from shrinktest import power_study
from shrinktest.power.designs import FromData

survey = anes96.load_pandas().data
clinton, dole = (survey.loc[survey["vote"] == vote, "DoleLR"] for vote in (0, 1))
print(f"means {clinton.mean():.2f} and {dole.mean():.2f}")
print(f"standard deviations {clinton.std():.2f} and {dole.std():.2f}")

# %%
# Studies of different sizes are drawn from the survey.


def spread(X, Y):
    """A test of spread: any function of two samples that returns a p-value will do."""
    return ansari(X.ravel(), Y.ravel()).pvalue


tests = {"kernel": "kme", "Ansari": spread, "Kolmogorov": "ks_2samp", "t test": "ttest_ind"}
study = power_study(
    FromData(clinton, dole),
    tests,
    [25, 50, 100],
    n_trials=40,
    n_resamples=99,
    test_options={"bandwidth": 1.5},
    workers=1,
    progress=False,
    rng=0,
)
print(study.summary())

# %%

plt.rc("font", size=16)
figure, ax = plt.subplots(figsize=(7.5, 5.25), layout="constrained")
for name, color, marker in zip(
    tests, ("#0072B2", "#CC79A7", "#D55E00", "#5A5A5A"), "osD^", strict=True
):
    rows, null = (table[table["estimator"] == name] for table in (study.table, study.size_table))
    ax.plot(rows["n"], rows["power"], color=color, marker=marker, markersize=9, linewidth=3)
    ax.text(106, rows["power"].iloc[-1], name, color=color, va="center")
    ax.plot(null["n"], null["level"], color=color, linestyle=":", linewidth=2)
ax.set(xscale="log", xlabel="voters in each sample", ylabel="power", xlim=(23, 220), ylim=(0, 1.05))
ax.set_xticks([25, 50, 100], labels=["25", "50", "100"])
ax.minorticks_off()
plt.show()

# %%
# The Ansari-Bradley test has far too many false positives: its formula does not allow for so many ties.
#
# **Next:** :doc:`sample size from a pilot <../clinical/plot_pilot>`, :doc:`tests by name and your own </power>`,
# :doc:`power in many settings </power_compared>`.
