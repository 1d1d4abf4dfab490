"""
Voters agree on average about Dole, which leaves a t test blind
===============================================================

Which test should a study plan with? A power study tries any tests on the same data sets: those of this package beside
those of scipy, or a function of your own.
"""

# %%
# Where voters of 1996 see Dole from left to right. On average those of Clinton and of Dole say the same; Clinton's
# agree less among themselves.

import matplotlib.pyplot as plt
from scipy.stats import ansari
from statsmodels.datasets import anes96

from shrinktest import power_study
from shrinktest.power.designs import FromData

survey = anes96.load_pandas().data
of_clinton, of_dole = (survey.loc[survey["vote"] == vote, "DoleLR"] for vote in (0, 1))
print(f"means {of_clinton.mean():.2f} and {of_dole.mean():.2f}")
print(f"standard deviations {of_clinton.std():.2f} and {of_dole.std():.2f}")

# %%
# The survey stands for the truth, and studies of different sizes are drawn from it.


def spread(X, Y):
    """A test of spread: any function of two samples that returns a p-value will do."""
    return ansari(X.ravel(), Y.ravel()).pvalue


tests = {"kernel": "kme", "Ansari": spread, "Kolmogorov": "ks_2samp", "t test": "ttest_ind"}
study = power_study(
    FromData(of_clinton, of_dole),
    tests,
    [25, 50, 100, 200],
    n_trials=60,
    n_resamples=99,
    test_options={"bandwidth": 1.5},
    workers=1,
    progress=False,
)
print(study.summary())

# %%

plt.rc("font", size=16)
figure, ax = plt.subplots(figsize=(7.5, 5.25), layout="constrained")
for name, color, marker in zip(tests, ("#0072B2", "#CC79A7", "#D55E00", "#5A5A5A"), "osD^", strict=True):
    rows, null = (table[table["estimator"] == name] for table in (study.table, study.size_table))
    ax.plot(rows["n"], rows["power"], color=color, marker=marker, markersize=9, linewidth=3)
    ax.text(215, rows["power"].iloc[-1], name, color=color, va="center")
    ax.plot(null["n"], null["level"], color=color, linestyle=":", linewidth=2)
ax.set(xscale="log", xlabel="voters in each sample", ylabel="power", xlim=(23, 520), ylim=(0, 1.05))
ax.set_xticks([25, 50, 100, 200], labels=["25", "50", "100", "200"])
ax.minorticks_off()
plt.show()

# %%
# **How to read it.** Power is the share of studies in which a test finds the difference; dotted is the share of false
# alarms where there is nothing to find. Ansari's test raises far too many: its formula does not allow for so many equal
# answers. It would be wrong to conclude that the kernel test is better in general: against a plain shift of the average
# a t test is hard to beat. Compare tests on designs, never on the data of the study.
#
# **Next:** :doc:`files larger than memory <plot_12_larger_than_memory>`, :doc:`tests by name and your own </power>`,
# :doc:`all tests in many settings </leaderboard>`.
