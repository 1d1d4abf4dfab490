"""Which estimator when: where each estimator raises or lowers the power of a test, compared with kme on the same "
"data."""

from __future__ import annotations

import numpy as np
import pandas as pd
from _charts import dots
from _study import markdown, run, span, store
from scipy.stats import binom

from shrinktest import FKMSE, Gaussian, Landweber, power_study
from shrinktest.power import designs as d
from shrinktest.results.plots.axes import BLUE, GRAY, ORANGE

NAME = "which_estimator"

#: Dimension to the sizes of its changes, chosen so that kme has medium power with 25 + 25 points.
AMOUNTS = {
    2: {"scale": 2.0, "one": 3.0, "correlation": 0.9},
    20: {"scale": 1.3, "one": 3.0, "correlation": 0.6},
    50: {"scale": 1.25, "one": 5.0, "correlation": 0.6},
}
SIZES = (10, 20, 50)  # numbers of pairs

TWO_SAMPLES = {
    "kme": "kme",
    "skmse": "skmse",
    "fkmse": "fkmse",
    "landweber, t = 1": Landweber(t=1),
    **{f"lam_cov {c:g}": FKMSE(lam_cov=c) for c in (0.03, 0.1, 0.3, 1.0, 10.0)},
    "fkmse by sample": FKMSE(tuning="sample"),
    "mkme": "mkme",
}

#: Label, design, size of the first sample.
TWO_SAMPLE_CELLS = [
    *(
        (name, design, 25)
        for p, amount in AMOUNTS.items()
        for name, design in (
            (f"scale x{amount['scale']:g}, all", d.ScaleChange(dimension=p, scale=amount["scale"])),
            (
                f"scale x{amount['one']:g}, one",
                d.ScaleChange(dimension=p, scale=amount["one"], coordinates="one"),
            ),
            ("shift by 1, one", d.MeanShift(dimension=p, shift=1.0)),
            (
                f"correlation {amount['correlation']:g}",
                d.CorrelationChange(p, correlation=amount["correlation"]),
            ),
            ("t with 3 df", d.Tails(dimension=p, df=3.0)),
        )
    ),
    ("mixture, means moved", d.Mixture(dimension=10, change="means", amount=3.0), 25),
    ("scale x1.3, larger sample", d.ScaleChange(dimension=10, scale=1.3, ratio=4.0), 15),
    (
        "scale x1.3, smaller sample",
        d.ScaleChange(dimension=10, scale=1.3, ratio=4.0, swap=True),
        15,
    ),
    ("shift by 1, larger sample", d.MeanShift(dimension=10, shift=1.0, ratio=4.0), 15),
]

INDEPENDENCE = {
    "kme": "kme",
    "skmse": "skmse",
    "fkmse": "fkmse",
    "fkmse, paper": FKMSE(loo="paper"),
    "landweber": "landweber",
    "mkme": "mkme",
}

INDEPENDENCE_CELLS = [
    (name, design, n)
    for n in SIZES
    for name, design in (
        ("linear", d.Linear()),
        ("linear, t noise", d.LinearT()),
        ("step", d.Step()),
        ("quadratic", d.Quadratic()),
        ("cross", d.Cross()),
        ("heteroscedastic", d.Heteroscedastic()),
        ("sine", d.Sinusoid()),
        ("circle", d.Circle()),
        ("peak", d.Peak()),
    )
]
FACTORS = (0.25, 4.0)  # on the squared median bandwidths of a large sample


def study(args, kind, name, design, n, estimators, test_options=None, **labels):
    """Return the rates of a setting, and its paired differences from kme."""
    result = power_study(
        design,
        estimators,
        n,
        n_trials=args.trials,
        n_resamples=199,
        test_options=test_options,
        store=store(
            args, f"{kind}-{name}-{n}-{labels}".translate(str.maketrans(" ,.{}':", "-------"))
        ),
        workers=args.workers,
        progress=False,
        rng=0,
    )
    labels = {"test": kind, "cell": name, **labels}
    rates = result.to_frame().assign(**labels)
    compared = [
        result.difference(label, "kme").assign(estimator=label, **labels)
        for label in list(estimators)[1:]
    ]
    return rates, pd.concat(compared)


def bandwidths(design, factor: float) -> dict[str, Gaussian]:
    """Return kernels whose squared bandwidths are ``factor`` times the medians of 1000 pairs."""
    x, y = design.sample(0, 1000)
    kernels = (Gaussian().resolve(z) for z in (x, y))
    return {
        f"kernel_{v}": Gaussian(k.bandwidth * np.sqrt(factor))
        for v, k in zip("xy", kernels, strict=True)
    }


def cells(args):
    """Yield the results of all settings."""
    for name, design, n in TWO_SAMPLE_CELLS:
        some = dict(TWO_SAMPLES)
        if design.ratio == 1.0:  # each sample is tuned alone anyway
            del some["fkmse by sample"]
        yield study(args, "two-sample", name, design, n, some, d=design.dimension)
    for name, design, n in INDEPENDENCE_CELLS:
        yield study(args, "independence", name, design, n, INDEPENDENCE, bandwidth=1.0)
    for name, design, n in INDEPENDENCE_CELLS:
        if n == 20:
            for factor in FACTORS:
                some = {label: INDEPENDENCE[label] for label in ("kme", "skmse")}
                yield study(
                    args,
                    "independence",
                    name,
                    design,
                    n,
                    some,
                    bandwidths(design, factor),
                    bandwidth=factor,
                )


def distinct(nulls):
    """Return the null twins without duplicates of the same twin."""
    keys = ["test", "cell", "d", "n"]
    by_cell = nulls.fillna({"d": 0}).pivot(index=keys, columns="estimator", values="power")
    unique = by_cell[
        ~by_cell.assign(test=by_cell.index.get_level_values("test")).duplicated()
    ].index
    return nulls[nulls.fillna({"d": 0}).set_index(keys).index.isin(unique)]


KINDS = {
    "spread": ("scale",),
    "shift": ("shift",),
    "correlation": ("correlation",),
    "tails": ("t with",),
}


def mean_gains(differences: pd.DataFrame, estimators) -> str:
    """Return a table of the mean differences from kme, by kind of change."""
    rows = []
    for kind, starts in KINDS.items():
        some = differences[differences["cell"].str.startswith(starts)]
        mean = some.groupby("estimator")["difference"].mean()
        rows.append({"change": kind, **{name: f"{mean[name]:+.2f}" for name in estimators}})
    return markdown(pd.DataFrame(rows))


def chart(tables):
    """Draw the power of three estimators in every two-sample setting."""
    rates = tables[""]
    rates = rates[(rates["test"] == "two-sample") & ~rates["null"]]
    keys = ["cell", "d", "n"]
    order = list(dict.fromkeys(map(tuple, rates[keys].to_numpy())))
    power = rates.pivot(index=keys, columns="estimator", values="power").loc[order]
    power.index = [f"{cell}, d = {d:g}" for cell, d, _ in power.index]
    looks = {"kme": ("o", GRAY), "fkmse": ("D", BLUE), "lam_cov 0.3": ("s", ORANGE)}
    return dots(power, "power at level 0.05", looks)


def advice_holds(rates: pd.DataFrame) -> bool:
    """Tell whether heavy shrinkage gains against changes of spread and loses elsewhere, tuned shrinkage less so."""
    power = rates[rates["n"] == 25].pivot(index=["cell", "d"], columns="estimator", values="power")
    cells = power.index.get_level_values("cell").str
    spread, rest = (
        power[cells.startswith("scale")].mean(),
        power[cells.startswith(("shift", "correlation"))].mean(),
    )
    heavy = ["lam_cov 1", "landweber, t = 1"]
    gain, loss = spread - spread["kme"], rest["kme"] - rest
    return bool(
        gain[heavy].min() > 2.0 * gain["fkmse"] > 0.0 and loss[heavy].min() > loss["fkmse"] > 0.0
    )


def values(tables) -> dict:
    """Return the numbers, tables and claims of the section."""
    rates = tables[""]
    differences = tables["differences"]
    two = rates[(rates["test"] == "two-sample") & ~rates["null"]]
    pairs = rates[(rates["test"] == "independence") & ~rates["null"]]
    power = two.pivot(index=["cell", "d", "n"], columns="estimator", values="power")
    cells = power.index.get_level_values("cell").str
    spread = power[cells.startswith("scale")].mean()
    rest = power[cells.startswith(("shift", "correlation"))].mean()
    two_gains = differences[(differences["test"] == "two-sample") & (differences["n"] == 25)]
    pair_gains = differences[
        (differences["test"] == "independence") & (differences["bandwidth"] == 1.0)
    ]
    mean = pair_gains.groupby("estimator", sort=False)["difference"].agg(["mean", "min", "max"])
    of_estimators = (
        f"`{r.Index}` {r.mean:+.3f} ({r.min:+.2f} to {r.max:+.2f})" for r in mean.itertuples()
    )
    narrow = pairs[(pairs["n"] == 20) & (pairs["estimator"] == "kme")]
    narrow = narrow.pivot(index="cell", columns="bandwidth", values="power").sort_index(axis=1)
    by_bandwidth = (narrow.max(axis=1) - narrow.min(axis=1)).mean()
    by_estimator = pair_gains.loc[pair_gains["n"] == 20, "difference"].abs().mean()
    pooled = distinct(
        rates[rates["null"] & (rates["bandwidth"] != 0.25) & (rates["bandwidth"] != 4.0)]
    )
    pooled = pooled.assign(hits=pooled["power"] * pooled["trials"])
    counts = pooled.groupby(["test", "estimator"], sort=False)[["hits", "trials"]].sum()
    level = counts["hits"] / counts["trials"]
    low, high = (
        count / counts["trials"] for count in binom.interval(0.999, counts["trials"], 0.05)
    )
    return {
        "spread_heavy": f"{spread['lam_cov 0.3']:.2f}",
        "spread_kme": f"{spread['kme']:.2f}",
        "rest_heavy": f"{rest['lam_cov 0.3']:.2f}",
        "rest_kme": f"{rest['kme']:.2f}",
        "tuned_is_mild": abs(spread["fkmse"] - spread["kme"])
        < abs(spread["lam_cov 0.3"] - spread["kme"]),
        "drawn": spread["lam_cov 0.3"] > spread["fkmse"],
        "gains": mean_gains(
            two_gains, [name for name in TWO_SAMPLES if name in set(two_gains["estimator"])]
        ),
        "advice": advice_holds(two),
        "trials": rates["trials"].max(),
        "dependences": pair_gains["cell"].nunique(),
        "gains_of_pairs": "; ".join(of_estimators),
        "bandwidth_matters": by_bandwidth > 2.0 * by_estimator,
        "bandwidths": markdown(
            narrow.rename(columns="{:g} times".format)
            .reset_index()
            .rename(columns={"cell": "dependence"})
        ),
        "level": span(level),
        "inside": int(level.between(low, high).sum()),
        "levels": len(level),
    }


def measured(args):
    """Return the tables of all settings."""
    results = []
    for i, cell in enumerate(cells(args), 1):
        results.append(cell)
        print(f"cell {i}: {cell[0]['cell'].iloc[0]}, n = {cell[0]['n'].iloc[0]}", flush=True)
    rates, differences = (
        pd.concat(parts, ignore_index=True) for parts in zip(*results, strict=True)
    )
    return {"": rates, "differences": differences}


if __name__ == "__main__":
    run(__doc__, NAME, measured, values, chart, trials=1000, quick=2)
