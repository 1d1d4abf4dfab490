"""
Clinton's and Dole's voters differ in four of six columns
=========================================================

**Question.** Two tables of voters hold numbers, ordered answers and categories. Do they differ, in which columns, and
by how much?

What the result tells you
    One p-value for the tables as a whole, an adjusted p-value for each column, and the size of each change with an
    interval.

What it does not tell you
    That columns without a small p-value are the same in both tables; :doc:`equivalence </equivalence>` has its own
    test.

How to report it
    Give the numbers of rows, the overall p-value, and for each changed column the adjusted p-value and the effect with
    its interval. ``result.to_html("report.html")`` writes all of it.
"""

# %%
# The American election of 1996: voters for Clinton and voters for Dole.

import matplotlib.pyplot as plt
import pandas as pd
from statsmodels.datasets import anes96

from shrinktest import compare

survey = anes96.load_pandas().data
schools = [
    "grades 1-8",
    "some high school",
    "high school",
    "some college",
    "2 years",
    "bachelor",
    "master or more",
]
answers = pd.DataFrame(
    {
        "age": survey["age"],
        "school": pd.Categorical.from_codes(survey["educ"].astype(int) - 1, schools, ordered=True),
        "income": survey["income"],  # in 24 steps
        "place": pd.cut(
            survey["popul"], [-1, 9, 99, 9999], labels=["country", "town", "city"]
        ).astype(str),
        "days of news": survey["TVnews"],  # on television, per week
        "ideology": survey["selfLR"],  # their own answer, from 1 (liberal) to 7 (conservative)
    }
)
clinton, dole = answers[survey["vote"] == 0], answers[survey["vote"] == 1]

result = compare(clinton, dole, names=("Clinton", "Dole"), rng=0)
print(result.summary())

# %%
# The picture shows the columns that changed.

plt.rc("font", size=17)
figure = plt.figure(layout="constrained")
result.plot(figure=figure)
figure.set_size_inches(9, 6.3)
plt.show()

# %%
# Filled is the first table, the line is the second: Dole's voters are more conservative and earn more.
#
# **Next:** :doc:`an A/B test <plot_ab_test>`, :doc:`a gate for drift <../machine_learning/plot_drift_in_ci>`,
# :doc:`what compare does </compare>`, :doc:`dates, text and missing values </tables>`.
