"""
One column of seven changed in two rows of a hundred
====================================================

Files are tested as they lie there, batch by batch, and never read as a whole. What fits into memory is their
features, whatever the number of rows.
"""

# %%
# Files with answers of women about their marriages, drawn from a survey of 1974; in the later ones, two of a hundred
# women rate their marriage one step lower.

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from statsmodels.datasets import fair

from shrinktest import two_sample_test_columns

survey = fair.load_pandas().data.drop(columns=["affairs", "occupation_husb"])
survey = survey.rename(columns={"rate_marriage": "rating", "yrs_married": "years", "educ": "school"})
work = ["student", "farm or factory", "white collar", "teacher", "manager", "professional"]
survey["occupation"] = survey["occupation"].map(dict(enumerate(work, start=1)))

folder = tempfile.TemporaryDirectory()
before, after = (Path(folder.name) / name for name in ("before*.parquet", "after*.parquet"))
rng = np.random.default_rng(0)
for part in range(3):
    for files, changed in ((before, 0.0), (after, 0.02)):
        rows = survey.sample(100_000, replace=True, random_state=rng)
        lower = rng.random(len(rows)) < changed
        rows.loc[lower, "rating"] = np.maximum(rows.loc[lower, "rating"] - 1, 1)
        rows.to_parquet(str(files).replace("*", str(part)), index=False)

# %%
# Patterns of paths stand for tables. (CSV files, batches of your own and lazy tables do as well.) The files are read
# twice: to see what is in them, and to add up the features of their rows.

result = two_sample_test_columns(before, after, gram="nystrom", rank=20, rng=0)
print(result.summary())
folder.cleanup()

# %%
# What a test of all rows takes to remember, by arithmetic: eight bytes for every pair of rows, or for every feature of
# every bin:

plt.rc("font", size=16)
rows = np.geomspace(1e3, 1e7, 30)
figure, ax = plt.subplots(figsize=(7.5, 5.25), layout="constrained")
ax.loglog(rows, 8e-9 * rows**2, color="#D55E00", linewidth=4)
ax.loglog(rows, np.full(len(rows), 8e-9 * 2000 * 7 * 20), color="#0072B2", linewidth=4)
ax.axhline(16, color="black", linestyle=":")
ax.text(1.3e3, 25, "a laptop")
ax.text(1.2e5, 1e3, "all pairs", color="#D55E00", ha="right")
ax.text(1.3e3, 6e-3, "bins of files", color="#0072B2")
ax.set(xlabel="rows", ylabel="memory (GB)", ylim=(1e-4, 1e6))
plt.show()

# %%
# **How to read it.** The files' rows are gathered in two thousand bins, whose features are kept and permuted; the level
# is exact. It would be wrong to conclude that a change as small as this matters: with rows enough everything is found,
# so look at the :doc:`effect </effects>`.
#
# **Next:** :doc:`your own estimator <plot_13_own_estimator>`, :doc:`large samples and clusters </large>`.
