"""
Drift in continuous integration: fail only if it matters
========================================================

**Question.** May today's batch go to a model that was trained on the reference table? A p-value alone makes a bad
gate: with enough rows every difference is significant. This gate also asks for an effect size, and writes a JUnit
file.

What the result tells you
    Which columns changed, with adjusted p-values, and how large each change is. A column fails if it changed and its
    AUC is far from one half (a category: if a share moved by many points).

What it does not tell you
    That the model still works: drift is neither necessary nor sufficient for worse predictions. A batch that passes
    may differ by less than the gate.

How to report it
    Keep the JUnit file or the HTML report (``result.to_html``) as an artifact of the run, with the seed and the gate.
"""

# %%
# The reference table, and three batches: one like it, one with a small but significant change, one with a real
# delay.

import xml.etree.ElementTree as ElementTree

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from shrinktest import compare

rng = np.random.default_rng(4)


def orders(rows, delay=0.0, card=0.5):
    basket = rng.lognormal(3.0, 0.5, rows)
    hours = rng.gamma(4.0, 6.0, rows) + delay
    payment = rng.choice(["card", "invoice"], rows, p=[card, 1.0 - card])
    return pd.DataFrame({"basket": basket, "delivery hours": hours, "payment": payment})


reference = orders(1500)
batches = {
    "Monday": orders(1500),
    "Tuesday": orders(1500, delay=1.5),
    "Wednesday": orders(1500, delay=7.0),
}

# %%
# The gate: significant *and* larger than the limit.

LIMIT = 0.10  # of |AUC - 0.5| for numbers, of the change of a share for categories


def gate(batch, name):
    result = compare(reference, batch, names=("reference", name), estimator="kme", rng=0, workers=1)
    effects = result.to_frame().query("effect in ['median', 'share']").set_index("column")
    size = (
        (effects["estimate"] - 0.5 * (effects["effect"] == "median")).abs().groupby("column").max()
    )
    columns = result.table.set_index("column")[["adjusted", "reject"]].join(size.rename("size"))
    return columns.assign(failed=columns["reject"] & (columns["size"] > LIMIT))


suite = ElementTree.Element("testsuite", name="drift")
verdicts = {name: gate(batch, name) for name, batch in batches.items()}
for name, columns in verdicts.items():
    for column, row in columns.iterrows():
        case = ElementTree.SubElement(suite, "testcase", classname=name, name=column)
        if row["failed"]:
            ElementTree.SubElement(
                case, "failure", message=f"size {row['size']:.2f}, p = {row['adjusted']:.3f}"
            )

table = pd.concat(verdicts, names=["batch", "column"])
print(table.round(3))
print(ElementTree.tostring(suite, encoding="unicode").replace("<testcase", "\n<testcase"))
exit_code = int(table["failed"].any())
print(
    f"{table['reject'].sum()} columns changed, {table['failed'].sum()} failed: sys.exit({exit_code}) ends the script."
)

# %%
# On the command line: ``shrinktest compare reference.csv batch.csv --seed 0 --fail-if 'auc > 0.6'`` ends with exit
# code 1 if the AUC of the two tables exceeds the limit.

plt.rc("font", size=15)
figure, ax = plt.subplots(figsize=(7.5, 5.25), layout="constrained")
sizes = table["size"].unstack("batch")[list(batches)]
sizes.T.plot.bar(ax=ax, rot=0, color=["#0072B2", "#D55E00", "#999999"])
ax.axhline(LIMIT, color="black", linestyle=":")
ax.set(xlabel="", ylabel="size of the change", title="Drift by batch, and the gate")
ax.legend(loc="upper left")
plt.show()

# %%
# **Next:** :doc:`new topics in embeddings <plot_embeddings>`, :doc:`comparing tables </compare>`, :doc:`exit codes
# </commands>`, :doc:`is a difference too small to matter? </equivalence>`
