"""
Dune meadows: management, soil, and both
========================================

**Question.** Does the management of a meadow, or the thickness of its soil, decide which plants grow there, and does
one depend on the other? Ecologists answer with PERMANOVA (``adonis2`` in R) on Bray-Curtis distances;
:func:`~shrinktest.factor_test` has its numbers, and chooses what to permute for each term.

What the result tells you
    Whether each term explains more of the distances between communities than chance would, given the others, how much,
    and which meadows changed places in the test.

What it does not tell you
    That management is the cause: farmers choose it to suit the soil. Nor which species differ; a matrix of distances has
    no columns. Nor that an interaction is absent: twenty meadows are few, and a distance has a geometry of its own, in
    which effects that add up need not add up in counts of plants.

How to report it
    Give the distance, the formula, how terms were adjusted (``typ=``), the statistic, what was permuted, p-values, and R²
    or the shares.
"""

# %%
# Cover of 30 species in 20 meadows on the island of Terschelling [J87]_, one digit for each species; the management
# (biological, hobby or standard farming, or nature conservation), and the thickness of the A1 horizon in centimeters.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.spatial.distance import pdist, squareform

from shrinktest import Distances, factor_test

meadows = """
100000000004000070420000000000 SF 2.8
300203400004000050470000505000 BF 3.5
040702000004000060560000202020 SF 4.3
080202302004000050450050201020 SF 4.2
200042200004000025260500322020 HF 6.3
200030000000000065340600355060 HF 4.3
200020200000000265450300322020 HF 2.8
040500000040004040442020302020 HF 4.2
030300000006004420450220203020 HF 3.7
400042400000000063440000306120 BF 3.3
000000000000020073400020503240 BF 3.5
040800000000000400040240203040 SF 5.8
050500010000000300292020202000 SF 6.0
040000000240000000002000206004 NM 9.3
040000000250003000002000201040 NM 11.5
070400000080003000022000000043 SF 5.7
202040000000020002100000200000 NM 4.0
000002000000000023300003502160 NM 4.6
003040000000250000000033602030 NM 3.7
050000000040004000004005200043 NM 3.5
"""
cover, management, soil = zip(*(line.split() for line in meadows.split("\n") if line), strict=True)
species = np.array([list(row) for row in cover], dtype=float)
environment = pd.DataFrame({"Management": management, "A1": np.array(soil, dtype=float)})
bray_curtis = Distances(squareform(pdist(species, "braycurtis")))

published = factor_test(
    "Management * A1", environment, response=bray_curtis, typ=1, statistic="F", rng=0
)
print(published.table[["term", "df", "statistic", "r2", "pvalue"]].round(4).to_string(index=False))

# %%
# F and R² are those of ``adonis2(dune ~ Management * A1)``. By default, each term is adjusted for all terms that do not
# contain it, so that the order of the formula does not matter. F is kept here: the robust statistic needs residuals, and
# the three biological meadows, whose soils are 3.3 to 3.5 cm thick, leave hardly any to a slope of their own.

result = factor_test("Management * A1", environment, response=bray_curtis, statistic="F", rng=0)
print(result.summary())

# %%
# Which kinds of management differ, with the thickness of the soil taken into account?

pairs = result.pairwise("Management", rng=0).table
print(pairs[["first", "second", "pvalue", "adjusted"]].round(3).to_string(index=False))

# %%
# The first two principal coordinates of the distances; the larger a circle, the thicker the soil.

plt.rc("font", size=15)
figure, ax = plt.subplots(figsize=(7.5, 5.25), layout="constrained")
values, vectors = np.linalg.eigh(bray_curtis.gram)
first, second = (vectors * np.sqrt(np.maximum(values, 0.0)))[:, [-1, -2]].T
names = {"BF": "biological", "HF": "hobby", "SF": "standard", "NM": "nature"}
for (code, name), color in zip(
    names.items(), ["#E69F00", "#0072B2", "#D55E00", "#009E73"], strict=True
):
    own = (environment["Management"] == code).to_numpy()
    sizes = 25 * environment["A1"][own]
    ax.scatter(first[own], second[own], s=sizes, color=color, alpha=0.7, label=name)
ax.set(xlabel="first coordinate", ylabel="second coordinate", title="Meadows by their plants")
ax.legend(fontsize=12, loc="center")
plt.show()

# %%
# .. [J87] R. H. G. Jongman, C. J. F. ter Braak and O. F. R. van Tongeren (1987), *Data Analysis in Community and
#    Landscape Ecology*, Pudoc, Wageningen.
#
# **Next:** :doc:`several factors </factors>`, :doc:`communities in blocks <plot_communities>`,
# :doc:`a trial with visits <../clinical/plot_visits>`.
