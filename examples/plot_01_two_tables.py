"""
Clinton's and Dole's voters differ in four of six columns
=========================================================

Two tables of voters, with numbers, ordered answers and categories. One call says whether they differ, in which
columns, and by how much.
"""

# %%
# The American election of 1996: those who voted for Clinton, and those who voted for Dole.

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
# P-values are adjusted for the number of columns. The picture has the columns that changed.
# ``result.to_html("report.html")`` writes a page with all of this.

plt.rc("font", size=17)
figure = plt.figure(layout="constrained")
result.plot(figure=figure)
figure.set_size_inches(9, 6.3)
plt.show()

# %%
# **How to read it.** Filled is the first table, the line is the second: Dole's voters stand to the right, and earn
# more. It would be wrong to say that voters of the two are of the same age: no difference was found, which does not
# show that there is none (:doc:`practically the same? </equivalence>` is a test of its own).
#
# **Next:** :doc:`where two samples differ <plot_02_where>`, :doc:`all that compare does </compare>`, :doc:`tables with
# gaps, dates and text </tables>`.
