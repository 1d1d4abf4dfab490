"""
Watching the embeddings of a model, day by day
==============================================

**Question.** Do the texts that reach a model still look like those of last month? Somebody looks every day, so a test
each day would alarm sooner or later although nothing changed. A monitor allows for all looks.

What the result tells you
    Whether the distribution of embeddings has changed since the reference, with a probability of ever alarming falsely
    of at most 5%, and when the change began.

What it does not tell you
    Which texts are new: components mean little by themselves. Rank the texts by a witness function, as
    :doc:`plot_embeddings` does, on rows that arrive after the alarm.

How to report it
    Give the encoder, the number of components, the size of the reference, ``alpha``, and the rows seen until the alarm.
"""

# %%
# Simulated embeddings in eight topics. From day 15 on, one text in six is about a ninth topic. Ten principal
# components are enough for the monitor; they are fitted to half of the reference, and ranks come from the other half.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA

from shrinktest import DriftMonitor

rng = np.random.default_rng(3)
topics = rng.normal(size=(9, 64))


def texts(rows, new=0.0):
    topic = np.where(rng.random(rows) < new, 8, rng.integers(0, 8, size=rows))
    embedded = topics[topic] + 1.2 * rng.normal(size=(rows, 64))
    return embedded / np.linalg.norm(embedded, axis=1, keepdims=True)


monitor = DriftMonitor(texts(1000), transform=PCA(10), rng=0)
for day in range(1, 21):
    result = monitor.update(texts(60, new=1 / 6 if day >= 15 else 0.0), times=f"day {day}")
for line in result.answer:
    print(line)

# %%
# Evidence after each day. It fluctuates near 0.1 while nothing happens, because each score has a share of ``alpha``.

plt.rc("font", size=15)
figure, ax = plt.subplots(figsize=(7.5, 5.25), layout="constrained")
days = np.arange(1, 21)
ax.semilogy(days, [look["evidence"] for look in result.history], "o-", color="#0072B2")
ax.axhline(result.threshold, color="#8C8C8C", linestyle="--")
ax.axvline(14.5, color="#D55E00", linewidth=4)
ax.text(1, 1.3 * result.threshold, "alarm")
ax.set(xlabel="day", ylabel="largest evidence", title="A new topic from day 15 on")
plt.show()

# %%
# **Next:** :doc:`what a monitor guarantees </monitor>`, :doc:`which texts are new <plot_embeddings>`.
