"""Level of the kernels of the pooled sample, of units, and of "auto": every test on data without a difference.

4000 null data sets a cell, of half Gaussian and half Cauchy data (or counts, where there are to be ties), each tested
with 99 permutations.  The level is how often p <= .05.
"""

from __future__ import annotations

import numpy as np
from _charts import levels
from _study import claim, markdown, options, write
from new_tests_levels import ALPHA, COMMON, RESAMPLES, kept, measured, numbers, of_blocks, region

from shrinktest import (
    Depth,
    Energy,
    Gaussian,
    SecondOrder,
    Whitened,
    independence_test,
    joint_independence_test,
    two_sample_test,
)

NAME = "kernel_levels"
TITLE = "Level of whitened and other kernels, and of auto"
#: Label to the kernel of every variable, and what else the tests are told.
KERNELS = {
    "whitened, lam .1": (Whitened(), {}),
    "whitened, lam .001": (Whitened(Gaussian("neighbours"), 0.001), {}),
    "second order": (SecondOrder(), {}),
    "depth": (Depth(), {}),
    "energy": (Energy(), {}),
    "ranks": (Gaussian(), {"scale": "rank"}),
    "deviations": (Gaussian(), {"scale": "deviation"}),
    "auto": None,
}


def counts(rng, heavy, *shape):
    """Small counts, or zeros and ones: data with many ties."""
    return rng.binomial(1, 0.4, shape).astype(float) if heavy else rng.poisson(1.5, shape).astype(float)


def told(label: str, names: tuple[str, ...]) -> dict:
    """The arguments of a test whose kernels have these names."""
    if KERNELS[label] is None:
        return {"estimator": "auto", **COMMON}
    kernel, more = KERNELS[label]
    return {**dict.fromkeys(names, kernel), **more, **COMMON}


def samples(rng, heavy, sizes, drawn, label):
    return two_sample_test(*(drawn(rng, heavy, n, 2) for n in sizes), rng=rng, **told(label, ("kernel",))).pvalue


def in_blocks(rng, heavy, label):
    labels = [np.repeat(np.arange(4), shares) for shares in ((4, 3, 2, 3), (2, 3, 4, 3))]
    x, y = np.split(of_blocks(rng, heavy, np.concatenate(labels), 2), 2)
    return two_sample_test(x, y, blocks=labels, rng=rng, **told(label, ("kernel",))).pvalue


def in_pairs(rng, heavy, label):
    shared = 3.0 * numbers(rng, heavy, 14, 2)
    x, y = (shared + numbers(rng, heavy, 14, 2) for _ in range(2))
    return two_sample_test(x, y, paired=True, rng=rng, **told(label, ("kernel",))).pvalue


def pairs(rng, heavy, drawn, label):
    x, y = (drawn(rng, heavy, 18, 2) for _ in range(2))
    return independence_test(x, y, rng=rng, **told(label, ("kernel_x", "kernel_y"))).pvalue


def joint(rng, heavy, label):
    return joint_independence_test(*numbers(rng, heavy, 3, 14), rng=rng, **told(label, ("kernels",))).pvalue


#: Cases of "auto" alone, which is made of the others.
OF_AUTO = (
    ("two samples, 12 + 12", samples, {"sizes": (12, 12), "drawn": numbers}),
    ("independence, n = 18, ties", pairs, {"drawn": counts}),
    ("joint, 3 variables, n = 14", joint, {}),
)


def cases():
    """Name, label of the kernel, function and arguments of every case."""
    for label in KERNELS:
        for name, function, arguments in (
            ("two samples, 8 + 16", samples, {"sizes": (8, 16), "drawn": numbers}),
            ("two samples, 8 + 16, ties", samples, {"sizes": (8, 16), "drawn": counts}),
            ("two samples in 4 blocks", in_blocks, {}),
            ("14 pairs", in_pairs, {}),
            ("independence, n = 18", pairs, {"drawn": numbers}),
            *OF_AUTO * (label == "auto"),
        ):
            yield name, label, function, {**arguments, "label": label}


def opening(tables) -> str:
    """What came out, in two sentences."""
    return kept(tables[""])


def alt(tables) -> str:
    """What the picture shows."""
    return "Shares of true null hypotheses rejected, by kernel: " + claim(
        "all settings are near .05 or below", tables[""]["level"].max() < 0.07
    )


def chart(tables):
    """Shares of true null hypotheses rejected, by kernel: all settings are near .05."""
    table = tables[""]
    return levels({name: some["level"] for name, some in table.groupby("kernel", sort=False)}, table["trials"].max())


def page(tables) -> list[str]:
    """What the page says, from the levels of all cases."""
    table = tables[""]
    trials = int(table["trials"].max())
    low, high = region(trials)
    wide = table.assign(cell=[f"{r.level:.4f}{'' if r.inside else ' (outside)'}" for r in table.itertuples()])
    wide = (
        wide.pivot(index="test", columns="kernel", values="cell")
        .loc[list(dict.fromkeys(table["test"])), [*KERNELS]]
        .fillna("")
    )
    outside = table[~table["inside"]]
    above = int((outside["level"] > ALPHA).sum())
    ties = int(outside["test"].str.endswith("ties").sum())
    return [
        f"The tests reject true hypotheses as often as they may: {int(table['inside'].sum())} of {len(table)} cells "
        f"are inside [{low:.4f}, {high:.4f}], in which an exact test is with probability 99.9 %, and {above} above it."
        + (f" {len(outside) - above} are below, {ties} of them with ties." if len(outside) > above else ""),
        markdown(wide.reset_index()),
        f"{trials} null data sets a cell, {RESAMPLES} permutations, level {ALPHA:g}; two columns a sample or variable, "
        "half of the data sets Gaussian and half Cauchy. With ties: half small counts, half zeros and ones; "
        "permutations that give the same statistic all count, so that the level may then be lower. Observations of a "
        "block, and of a pair, share what it adds to them, and are permuted within it.",
    ]


def main() -> None:
    args = options(__doc__.splitlines()[0], trials=4000, quick=4)
    table = measured(args, list(cases()), "kernel", NAME)
    write(args, NAME, TITLE, page({"": table}), table)


if __name__ == "__main__":
    main()
