"""Which kernel when: what whitened and second-order kernels detect and miss, compared with the default on the same "
"data."""

from __future__ import annotations

import numpy as np
import pandas as pd
from _study import markdown, run, span, store
from scipy.stats import binom

from shrinktest import SecondOrder, Whitened, power_study
from shrinktest.power import designs as d
from shrinktest.results.plots.axes import GRAY
from shrinktest.results.plots.studies import COLORS

#: Colors of the kernels; the first is the default.
COLORS = (GRAY, *COLORS)

NAME = "which_kernel"

#: Label to the arguments of the tests, all with the standard mean and median bandwidths.
TWO_SAMPLES = {
    "gaussian": {},
    "whitened, lam .1": {"kernel": Whitened()},
    "whitened, lam .01": {"kernel": Whitened(lam=0.01)},
    "second order": {"kernel": SecondOrder()},
}
BOTH = {"kernel_x": Whitened(), "kernel_y": Whitened()}
SHARP = {"kernel_x": Whitened(lam=0.01), "kernel_y": Whitened(lam=0.01)}
INDEPENDENCE = {"gaussian": {}, "whitened, lam .1": BOTH, "whitened, lam .01": SHARP}

#: Label, design, size of the first sample.
TWO_SAMPLE_CELLS = [
    ("shift by 1, one column", d.MeanShift(dimension=2, shift=1.0), 25),
    ("shift by 1, one column", d.MeanShift(dimension=20, shift=1.0), 25),
    ("spread x2, all columns", d.ScaleChange(dimension=2, scale=2.0), 25),
    ("spread x1.3, all columns", d.ScaleChange(dimension=20, scale=1.3), 25),
    ("correlation .9", d.CorrelationChange(2, correlation=0.9), 25),
    ("correlation .6", d.CorrelationChange(20, correlation=0.6), 25),
    ("t with 3 df", d.Tails(dimension=20, df=3.0), 25),
    ("mixture, means moved", d.Mixture(dimension=10, change="means", amount=3.0), 25),
    ("thin cube", d.ThinCube(), 100),
    ("two modes in one column", d.Bimodal(), 100),
]
INDEPENDENCE_CELLS = [(name, d.HyppoSimulation(name), 30) for name in d.independence.SIMULATIONS]
#: Designs whose null twins give the level, with twice as many data sets.
LEVEL_CELLS = [
    ("two-sample", "normal, d = 2", d.MeanShift(dimension=2), 25, TWO_SAMPLES),
    (
        "two-sample",
        "normal, d = 20, 15 + 60",
        d.MeanShift(dimension=20, ratio=4.0),
        15,
        TWO_SAMPLES,
    ),
    ("independence", "step, independent", d.HyppoSimulation("step"), 30, INDEPENDENCE),
]


def study(args, kind, name, design, n, compared, *, level=False):
    """Return the rates of a setting, and its paired differences from the Gaussian kernel."""
    result = power_study(
        design.null() if level else design,
        {label: {"estimator": "kme", **arguments} for label, arguments in compared.items()},
        n,
        n_trials=2 * args.trials if level else args.trials,
        n_resamples=199,
        with_null=False,
        store=store(
            args,
            f"{kind}-{name}-{n}-{getattr(design, 'dimension', 1)}".translate(
                str.maketrans(" ,.", "---")
            ),
        ),
        workers=args.workers,
        progress=False,
        rng=0,
    )
    labels = {"test": kind, "cell": name, "d": getattr(design, "dimension", 1)}
    rates = result.to_frame().assign(**labels, level=level)
    differences = [
        result.difference(label, "gaussian").assign(estimator=label, **labels)
        for label in list(compared)[1:]
    ]
    return rates, pd.concat(differences)


def cells(args):
    """Yield the results of all settings."""
    for name, design, n in TWO_SAMPLE_CELLS:
        yield study(args, "two-sample", name, design, n, TWO_SAMPLES)
    for name, design, n in INDEPENDENCE_CELLS:
        yield study(args, "independence", name, design, n, INDEPENDENCE)
    for cell in LEVEL_CELLS:
        yield study(args, *cell, level=True)


def show(rates, differences, keys, compared) -> str:
    """Return a table of the power of the Gaussian kernel and paired differences, bold if McNemar p < 0.01."""
    power = rates.pivot(index=keys, columns="estimator", values="power")
    order = list(dict.fromkeys(map(tuple, rates[keys].to_numpy())))
    bold = differences["pvalue"] < 0.01
    text = differences["difference"].map("{:+.2f}".format)
    table = differences.assign(text=text.where(~bold, "**" + text + "**")).pivot(
        index=keys, columns="estimator", values="text"
    )
    table = pd.concat([power["gaussian"], table[list(compared)[1:]]], axis=1).loc[order]
    return markdown(table.reset_index())


def zeros(text: str) -> str:
    """Write the zero before the point in names of the data files."""
    return text.replace("correlation .", "correlation 0.").replace("lam .", "lam 0.")


def values(tables) -> dict:
    """Return the numbers, tables and claims of the section."""
    rates = tables[""][~tables[""]["level"]]
    null = tables[""][tables[""]["level"]]
    differences = tables["differences"]
    two = rates[rates["test"] == "two-sample"]
    power = two.pivot(index=["cell", "d"], columns="estimator", values="power")
    cells = power.index.get_level_values("cell").str
    turned = power[cells.startswith("correlation")]
    moved = power[cells.startswith("shift")]
    gains = [(some["whitened, lam .1"] - some["gaussian"]) for some in (turned, moved)]
    pairs = rates[(rates["test"] == "independence") & (rates["cell"] != "multimodal-independence")]
    mean = pairs.pivot_table("power", "estimator", sort=False)["power"]
    changes = differences[
        (differences["test"] == "two-sample") & differences["cell"].isin(two["cell"])
    ]
    shown = show(two, changes, ["cell", "d", "n"], TWO_SAMPLES)
    trials = int(null["trials"].min())
    low, high = (count / trials for count in binom.interval(0.999, trials, 0.05))
    return {
        "turned_whitened": f"{turned['whitened, lam .1'].mean():.2f}",
        "turned_gaussian": f"{turned['gaussian'].mean():.2f}",
        "moved_whitened": f"{moved['whitened, lam .1'].mean():.2f}",
        "moved_gaussian": f"{moved['gaussian'].mean():.2f}",
        "drawn": gains[0].min() > 0.1 and gains[1].max() < 0.0,
        "powers": zeros(shown.replace("| cell |", "| change |", 1)),
        "data_sets": rates["trials"].max(),
        "standard_error": f"{0.5 / rates['trials'].max() ** 0.5:.3f}",
        "dependences": pairs["cell"].nunique(),
        "average": "; ".join(f"{zeros(name)} {average:.2f}" for name, average in mean.items()),
        "inside": int(null["power"].between(low, high).sum()),
        "levels": len(null),
        "trials": trials,
        "level": span(null["power"]),
    }


def chart(tables):
    """Draw the power of every kernel, with a row for every setting."""
    rates = tables[""]
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 8.5), layout="constrained")
    axes = figure.subplots(1, 2)
    kinds = (
        ("two-sample", "Two samples", TWO_SAMPLES),
        ("independence", "Independence", INDEPENDENCE),
    )
    for ax, (kind, title, compared) in zip(axes, kinds, strict=True):
        chosen = rates[(rates["test"] == kind) & ~rates["level"]]
        names = list(dict.fromkeys(zip(chosen["cell"], chosen["d"], strict=True)))
        for label, marker, color in zip(compared, "os^vDPX", COLORS, strict=False):
            power = (
                chosen[chosen["estimator"] == label].set_index(["cell", "d"])["power"].loc[names]
            )
            ax.plot(
                power,
                -np.arange(len(names)),
                marker,
                color=color,
                label=label,
                alpha=0.8,
                markersize=7,
            )
        ax.set_yticks(
            -np.arange(len(names)),
            [f"{cell}, d = {d}" if kind == "two-sample" else cell for cell, d in names],
        )
        ax.set(title=title, xlabel="power at the 5% level", xlim=(-0.02, 1.02))
        ax.grid(axis="y", linewidth=0.4, color="#DDDDDD")
        ax.spines[["top", "right"]].set_visible(False)
    figure.legend(
        *axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False
    )
    return figure


def measured(args):
    """Return the tables of all settings."""
    results = []
    for i, cell in enumerate(cells(args), 1):
        results.append(cell)
        print(f"cell {i}: {cell[0]['cell'].iloc[0]}", flush=True)
    rates, differences = (
        pd.concat(parts, ignore_index=True) for parts in zip(*results, strict=True)
    )
    return {"": rates, "differences": differences}


if __name__ == "__main__":
    run(__doc__, NAME, measured, values, chart, trials=500, quick=2)
