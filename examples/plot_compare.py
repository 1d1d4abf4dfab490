"""
What differs between two tables?
================================

A table has numbers, ordered answers and categories. One call says whether two tables differ, which columns do, and how.
"""

# %%
# Voters in the American election of 1996: those who voted for Clinton, and those who voted for Dole.

import matplotlib.pyplot as plt
import pandas as pd
from statsmodels.datasets import anes96

from shrinktest import compare

survey = anes96.load_pandas().data
schools = ["grades 1-8", "some high school", "high school", "some college", "2 years", "bachelor", "master or more"]
answers = pd.DataFrame(
    {
        "age": survey["age"],
        "school": pd.Categorical.from_codes(survey["educ"].astype(int) - 1, schools, ordered=True),
        "income": survey["income"],  # in 24 steps
        "place": pd.cut(survey["popul"], [-1, 9, 99, 9999], labels=["country", "town", "city"]).astype(str),
        "days of news": survey["TVnews"],  # on television, in a week
        "left to right": survey["selfLR"],  # from 1 to 7, as they see themselves
    }
)
clinton, dole = answers[survey["vote"] == 0], answers[survey["vote"] == 1]

result = compare(clinton, dole, names=("Clinton", "Dole"), rng=0)
print(result.summary())

# %%
# The columns that changed, as they are distributed in both tables. ``result.to_html("report.html")`` writes a page with
# all of this.

result.plot()

# %%
# Every effect with its interval is a row of ``result.to_frame()``: how much more, or less, frequent every answer is.

shares = result.to_frame().query("effect == 'share'").iloc[::-1]
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
errors = [shares["estimate"] - shares["low"], shares["high"] - shares["estimate"]]
answers = shares["column"] + ": " + shares["level"]
ax.errorbar(100 * shares["estimate"], answers, xerr=100 * pd.DataFrame(errors), fmt="o")
ax.axvline(0, color="gray", linewidth=0.8)
ax.set(xlabel="Dole less Clinton, percentage points", ylabel="", title="Changes of shares, 95% intervals")
plt.show()
