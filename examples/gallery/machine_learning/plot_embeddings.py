"""
New topics in the embeddings of support tickets
===============================================

**Question.** Do this month's tickets still look like last month's, and if not, which ones are new? Embeddings have
many columns that mean nothing by themselves, so the test compares whole rows; the witness function then ranks the
tickets.

What the result tells you
    Whether the two months have the same distribution of embeddings, at an exact level, and which tickets are typical
    of this month only.

What it does not tell you
    What the new tickets are about: read those at the top of the list. Tickets that were used to fit the witness
    function look a little newer than they are; ``result.effect()`` corrects for this with tickets held out.

How to report it
    Give the encoder and its version, the number of tickets, the p-value, and the AUC with its interval.
"""

# %%
# Simulated embeddings of unit length, in eight topics; one ticket in twelve of this month is about a ninth topic.

import matplotlib.pyplot as plt
import numpy as np

from shrinktest import two_sample_test

rng = np.random.default_rng(5)
topics = rng.normal(size=(9, 64))


def embed(topic):
    rows = topics[topic] + 1.2 * rng.normal(size=(len(topic), 64))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


last_month = embed(rng.integers(0, 8, size=500))
topic = np.where(rng.random(500) < 1 / 12, 8, rng.integers(0, 8, size=500))
this_month = embed(topic)

result = two_sample_test(last_month, this_month, names=("last month", "this month"), rng=0)
effect = result.effect()
print(f"p = {result.pvalue:.3f}; {effect}")

# %%
# The witness function is positive at tickets that are more common last month, negative at new ones. We read the twenty
# with the smallest values.

score = result.witness(this_month)
first = np.argsort(score)[:20]
share = (topic[first] == 8).mean()
print(
    f"{share:.0%} of the twenty most unusual tickets are about the new topic, {(topic == 8).mean():.0%} of all."
)

plt.rc("font", size=15)
figure, ax = plt.subplots(figsize=(7.5, 5.25), layout="constrained")
bins = np.linspace(score.min(), score.max(), 30)
ax.hist(score[topic < 8], bins, color="#0072B2", alpha=0.7, label="known topics")
ax.hist(score[topic == 8], bins, color="#D55E00", alpha=0.9, label="new topic")
ax.set(
    xlabel="witness function (low: new)",
    ylabel="tickets of this month",
    title="The new topic stands apart",
)
ax.legend()
plt.show()

# %%
# **Next:** :doc:`a gate for continuous integration <plot_drift_in_ci>`, :doc:`tens of thousands of rows </large>`,
# :doc:`effect sizes </effects>`.
