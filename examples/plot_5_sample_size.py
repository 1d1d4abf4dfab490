"""
How many observations are needed?
=================================

From a pilot study to the number of observations that a protocol needs, with its uncertainty.
"""

# %%
# The pilot: reaction times of two groups of 24, of which the second is more variable.

import matplotlib.pyplot as plt
import numpy as np

from shrinktest import solve_sample_size
from shrinktest.power.designs import FromData

rng = np.random.default_rng(5)
control = rng.lognormal(mean=6.0, sigma=0.20, size=24)
treated = rng.lognormal(mean=6.0, sigma=0.45, size=24)

# %%
# ``FromData`` draws new studies of any size from the pilot data; the solver looks for the size whose power is .8, puts
# its trials near it, and checks the answer on fresh data sets. A protocol deserves the default of 2000 trials; 600 are
# enough to see how it works.

answer = solve_sample_size(FromData(control, treated), power=0.8, n_trials=600, n_resamples=99, workers=1)
print(answer.summary())

# %%
# The interval is that of the simulation. That the pilot itself is a small sample, it cannot know: a difference that is
# there by chance counts as real. :doc:`Power and sample size </power>` tells how to plan with that in mind.

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained", width_ratios=(1, 1.5))
left.boxplot([control, treated], tick_labels=["control", "treated"], medianprops={"color": "#D55E00"})
for place, group in enumerate([control, treated], start=1):
    left.plot(place + rng.uniform(-0.1, 0.1, len(group)), group, "o", color="#0072B2", markersize=4)
left.set(ylabel="reaction time (ms)", title="Pilot study, 24 + 24")
answer.plot(right)
right.set(title=f"{answer.n} in each group give power .8", xlabel="observations in each group")
plt.show()
