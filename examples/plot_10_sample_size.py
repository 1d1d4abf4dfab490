"""
A promising pilot asks for too few observations
===============================================

How many observations does a study need? A pilot gives a number, and the number is as uncertain as the pilot is small.
Here the whole study is known, so that both can be compared.
"""

# %%
# How symmetric the cell nuclei of benign and of malignant breast tumours are. The pilot is a few of each.

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

from shrinktest import solve_sample_size
from shrinktest.power.designs import FromData

tumours = load_breast_cancer(as_frame=True).frame
benign = tumours.loc[tumours["target"] == 1, "mean symmetry"]
malignant = tumours.loc[tumours["target"] == 0, "mean symmetry"]
pilot = benign.sample(20, random_state=0), malignant.sample(20, random_state=0)

settings = {"power": 0.8, "n_trials": 100, "n_resamples": 99, "workers": 1}
answer = solve_sample_size(FromData(*pilot), **settings)
print(answer.summary())

# %%
# ``FromData`` draws new studies of any size from the pilot, as if it were the truth. The same with all tumours:

answers = {"pilot": answer, "all data": solve_sample_size(FromData(benign, malignant), **settings)}
for name, one in answers.items():
    print(f"{name:10}  {one.n} in each sample (95% interval {one.low:.0f} to {one.high:.0f})")

# %%

plt.rc("font", size=16)
figure, ax = plt.subplots(figsize=(7.5, 5.25), layout="constrained")
for place, (one, color) in enumerate(zip(answers.values(), ("#D55E00", "#0072B2"), strict=True)):
    ax.hlines(place, one.low, one.high, color=color, linewidth=4)
    ax.plot(one.n, place, "o", color=color, markersize=14)
    ax.text(one.n, place - 0.2, str(one.n), color=color, ha="center")
ax.set_yticks(range(2), labels=answers)
ax.set(xlabel="tumours in each sample", ylabel="", title="Needed for a power of 80%", xlim=(0, 60), ylim=(1.5, -0.6))
plt.show()

# %%
# **How to read it.** A dot is the size that is needed were its source the truth. This pilot saw a larger difference
# than there is; another one may see a smaller one. It would be wrong to take the interval of the answer for the
# uncertainty of the plan: it is that of the simulation.
#
# **Next:** :doc:`which test has the most power? <plot_11_any_test>`, :doc:`planning, with a paragraph to paste
# </power>`.
