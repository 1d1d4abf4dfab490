"""
One column of seven changed in two rows of a hundred
====================================================

**Question.** Which column of a data set changed that is larger than memory? Files are read batch by batch, and only
features of their rows are kept.

What the result tells you
    Which columns changed, with adjusted p-values; the level is exact.

What it does not tell you
    That a change as small as this matters: with enough rows everything is found, so look at the :doc:`effect size
    </effects>`.

How to report it
    Give the number of rows, the approximation (``gram="nystrom"``, its rank, the number of bins), and the adjusted
    p-values.
"""

# %%
# Answers of women about their marriages, drawn from a survey of 1974; in the later files two women of a hundred rate
# their marriage one step lower.

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from statsmodels.datasets import fair

from shrinktest import two_sample_test_columns

survey = fair.load_pandas().data.drop(columns=["affairs", "occupation_husb"])
survey = survey.rename(
    columns={"rate_marriage": "rating", "yrs_married": "years", "educ": "school"}
)
work = ["student", "farm or factory", "white collar", "teacher", "manager", "professional"]
survey["occupation"] = survey["occupation"].map(dict(enumerate(work, start=1)))

folder = tempfile.TemporaryDirectory()
before, after = (Path(folder.name) / name for name in ("before*.parquet", "after*.parquet"))
rng = np.random.default_rng(0)
for part in range(3):
    for files, changed in ((before, 0.0), (after, 0.02)):
        rows = survey.sample(30_000, replace=True, random_state=rng)
        lower = rng.random(len(rows)) < changed
        rows.loc[lower, "rating"] = np.maximum(rows.loc[lower, "rating"] - 1, 1)
        rows.to_parquet(str(files).replace("*", str(part)), index=False)

# %%
# Patterns of paths, CSV files, lazy frames and your own batches work in the same way. Files are read twice: to find
# the units of the columns, and to add up the features of the rows.

result = two_sample_test_columns(before, after, gram="nystrom", rank=20, rng=0)
print(result.summary())
folder.cleanup()

# %%
# Memory for a test of all rows: eight bytes for every pair of rows, or for every feature of every bin.

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
# **Next:** :doc:`drift in CI <plot_drift_in_ci>`, :doc:`large samples and clusters </large>`.
