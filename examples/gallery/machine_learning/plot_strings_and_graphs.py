"""
Strings, graphs and other objects: precomputed kernels
======================================================

**Question.** Do two collections of objects differ that are not rows of numbers? A kernel that says how similar two
objects are is enough. Compute its Gram matrix once, wrap it in :class:`~shrinktest.Precomputed`, and pass row numbers
in place of rows.

What the result tells you
    Whether the two collections have the same distribution, as far as this kernel sees: short words for the strings,
    neighborhoods for the graphs.

What it does not tell you
    Anything about properties that the kernel ignores. The matrix must be positive semi-definite: similarities from a
    distance D need ``exp(-D**2 / (2 * s**2))`` with a Euclidean D.

How to report it
    Name the kernel and its parameters (word length, number of iterations, normalization), then test, permutations and
    p.
"""

# %%
# **Strings.** Short DNA sequences of two samples; the second has more of one motif. The spectrum kernel counts words
# of three letters.

from collections import Counter

import matplotlib.pyplot as plt
import numpy as np

from shrinktest import Precomputed, two_sample_test

rng = np.random.default_rng(6)


def sequence(motif):
    letters = "".join(rng.choice(list("ACGT"), size=60))
    place = rng.integers(0, 56)
    return letters[:place] + "TATA" + letters[place + 4 :] if motif else letters


def gram_of(counters):
    """Normalized inner products of counts of words."""
    words = sorted(set().union(*counters))
    counts = np.array([[counter[word] for word in words] for counter in counters], dtype=float)
    counts /= np.linalg.norm(counts, axis=1, keepdims=True)
    return counts @ counts.T


strings = [sequence(False) for _ in range(60)] + [sequence(rng.random() < 0.7) for _ in range(60)]
gram = gram_of([Counter(s[i : i + 3] for i in range(len(s) - 2)) for s in strings])
first, second = np.arange(60), np.arange(60, 120)
of_strings = two_sample_test(first, second, kernel=Precomputed(gram), rng=0)
print(f"Sequences: p = {of_strings.pvalue:.3f}")

# %%
# **Graphs.** Friendships in small classes: both samples have as many ties on average, and in the second some pupils
# have most of them. The Weisfeiler-Lehman kernel counts labels, which are renewed from those of the neighbors.


def ties(popularity):
    n = len(popularity)
    upper = np.triu(rng.random((n, n)) < np.outer(popularity, popularity) / popularity.sum(), 1)
    return upper | upper.T


def labels_of(graph, rounds=2):
    labels = [str(degree) for degree in graph.sum(axis=1)]
    counts = Counter(labels)
    for _ in range(rounds):
        neighbors = [",".join(sorted(np.array(labels)[row])) for row in graph]
        labels = [f"{own}({others})" for own, others in zip(labels, neighbors, strict=True)]
        counts.update(labels)
    return counts


even, uneven = np.full(16, 3.0), np.repeat([8.0, 2.0], [4, 12])
classes = [ties(even) for _ in range(40)] + [ties(uneven) for _ in range(40)]
kernel = Precomputed(gram_of([labels_of(graph) for graph in classes]))
of_graphs = two_sample_test(np.arange(40), np.arange(40, 80), kernel=kernel, rng=0)
ties_per_pupil = [
    np.array(classes[some]).sum(axis=2).ravel() for some in (slice(40), slice(40, 80))
]
means = " and ".join(f"{ties.mean():.1f}" for ties in ties_per_pupil)
print(f"Classes with {means} ties per pupil: p = {of_graphs.pvalue:.3f}")

# %%
# The picture shows what the kernel of the graphs found: the mean number of ties is similar, its distribution is not.

plt.rc("font", size=15)
figure, ax = plt.subplots(figsize=(7.5, 5.25), layout="constrained")
ax.hist(
    ties_per_pupil,
    np.arange(-0.5, 14),
    color=["#0072B2", "#D55E00"],
    label=["first sample", "second sample"],
)
ax.set(xlabel="ties of a pupil", ylabel="pupils", title="Two kinds of classes")
ax.legend()
plt.show()

# %%
# **Next:** :doc:`a kernel as a function or class <../ecology/plot_own_kernel>`, :doc:`extending </extending>`.
