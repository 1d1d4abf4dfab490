"""Level of the kernels of the pooled sample, of units, and of "auto": every test on data without a difference.

4000 null data sets per setting, half Gaussian and half Cauchy (or counts, for ties), each tested with 99 permutations.
The level is the share with p <= 0.05.
"""

from __future__ import annotations

import numpy as np
from _levels import COMMON, RESAMPLES, block_data, level_values, measured_levels, numbers, wide
from _levels import chart as level_chart
from _study import run

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
#: Label to the kernel of every variable and further arguments of the tests.
KERNELS = {
    "whitened, lam .1": (Whitened(), {}),
    "whitened, lam .001": (Whitened(Gaussian("neighbors"), 0.001), {}),
    "second order": (SecondOrder(), {}),
    "depth": (Depth(), {}),
    "energy": (Energy(), {}),
    "ranks": (Gaussian(), {"scale": "rank"}),
    "deviations": (Gaussian(), {"scale": "deviation"}),
    "auto": None,
}


def counts(rng, heavy, *shape):
    """Draw small counts, or zeros and ones: data with many ties."""
    return (
        rng.binomial(1, 0.4, shape).astype(float)
        if heavy
        else rng.poisson(1.5, shape).astype(float)
    )


def test_arguments(label: str, names: tuple[str, ...]) -> dict:
    """Return the arguments of a test whose kernel arguments have these names."""
    if KERNELS[label] is None:
        return {"estimator": "auto", **COMMON}
    kernel, more = KERNELS[label]
    return {**dict.fromkeys(names, kernel), **more, **COMMON}


def samples(rng, heavy, sizes, drawn, label):
    return two_sample_test(
        *(drawn(rng, heavy, n, 2) for n in sizes), rng=rng, **test_arguments(label, ("kernel",))
    ).pvalue


def in_blocks(rng, heavy, label):
    labels = [np.repeat(np.arange(4), shares) for shares in ((4, 3, 2, 3), (2, 3, 4, 3))]
    x, y = np.split(block_data(rng, heavy, np.concatenate(labels), 2), 2)
    return two_sample_test(
        x, y, blocks=labels, rng=rng, **test_arguments(label, ("kernel",))
    ).pvalue


def in_pairs(rng, heavy, label):
    shared = 3.0 * numbers(rng, heavy, 14, 2)
    x, y = (shared + numbers(rng, heavy, 14, 2) for _ in range(2))
    return two_sample_test(x, y, paired=True, rng=rng, **test_arguments(label, ("kernel",))).pvalue


def pairs(rng, heavy, drawn, label):
    x, y = (drawn(rng, heavy, 18, 2) for _ in range(2))
    return independence_test(
        x, y, rng=rng, **test_arguments(label, ("kernel_x", "kernel_y"))
    ).pvalue


def joint(rng, heavy, label):
    return joint_independence_test(
        *numbers(rng, heavy, 3, 14), rng=rng, **test_arguments(label, ("kernels",))
    ).pvalue


#: Settings for "auto" only, which combines the others.
AUTO_ONLY = (
    ("two samples, 12 + 12", samples, {"sizes": (12, 12), "drawn": numbers}),
    ("independence, n = 18, ties", pairs, {"drawn": counts}),
    ("joint, 3 variables, n = 14", joint, {}),
)


def cases():
    """Yield name, label of the kernel, function and arguments of every setting."""
    for label in KERNELS:
        for name, function, arguments in (
            ("two samples, 8 + 16", samples, {"sizes": (8, 16), "drawn": numbers}),
            ("two samples, 8 + 16, ties", samples, {"sizes": (8, 16), "drawn": counts}),
            ("two samples in 4 blocks", in_blocks, {}),
            ("14 pairs", in_pairs, {}),
            ("independence, n = 18", pairs, {"drawn": numbers}),
            *AUTO_ONLY * (label == "auto"),
        ):
            yield name, label, function, {**arguments, "label": label}


def measured(args):
    """Return the level in every setting."""
    return measured_levels(args, cases(), "kernel", NAME)


def chart(tables):
    """Draw the Type I error rates by kernel."""
    table = tables[""]
    groups = {name: some["level"] for name, some in table.groupby("kernel", sort=False)}
    return level_chart(groups, table["trials"].max())


def values(tables) -> dict:
    """Return the numbers, tables and claims of the section."""
    table = tables[""]
    return {
        **level_values(table),
        "permutations": RESAMPLES,
        "drawn": table["level"].max() < 0.07,
        "levels": wide(table, "kernel"),
    }


if __name__ == "__main__":
    run(__doc__, NAME, measured, values, chart, trials=4000, quick=4)
