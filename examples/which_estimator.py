"""Which estimator when: where each raises the power of a test, does nothing, or lowers it, paired against kme."""

from __future__ import annotations

import numpy as np
import pandas as pd
from _charts import dots
from _study import claim, markdown, options, store, write
from scipy.stats import binom

from shrinktest import FKMSE, Gaussian, Landweber, power_study
from shrinktest.plots.axes import BLUE, GREY, ORANGE
from shrinktest.power import designs as d

NAME, TITLE = "which_estimator", "Which estimator when"

#: Dimension to the sizes of its changes, chosen such that kme has middling power with 25 + 25 points.
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
            (f"scale x{amount['one']:g}, one", d.ScaleChange(dimension=p, scale=amount["one"], coordinates="one")),
            ("shift by 1, one", d.MeanShift(dimension=p, shift=1.0)),
            (f"correlation {amount['correlation']:g}", d.CorrelationChange(p, correlation=amount["correlation"])),
            ("t with 3 df", d.Tails(dimension=p, df=3.0)),
        )
    ),
    ("mixture, means moved", d.Mixture(dimension=10, change="means", amount=3.0), 25),
    ("scale x1.3, larger sample", d.ScaleChange(dimension=10, scale=1.3, ratio=4.0), 15),
    ("scale x1.3, smaller sample", d.ScaleChange(dimension=10, scale=1.3, ratio=4.0, swap=True), 15),
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


def one(args, kind, name, design, n, estimators, test_options=None, **labels):
    """Rates of one cell, and its paired differences from kme."""
    result = power_study(
        design,
        estimators,
        n,
        n_trials=args.trials,
        n_resamples=199,
        test_options=test_options,
        store=store(args, f"{kind}-{name}-{n}-{labels}".translate(str.maketrans(" ,.{}':", "-------"))),
        workers=args.workers,
        progress=False,
    )
    labels = {"test": kind, "cell": name, **labels}
    rates = result.frame().assign(**labels)
    compared = [result.compare(label, "kme").assign(estimator=label, **labels) for label in list(estimators)[1:]]
    return rates, pd.concat(compared)


def bandwidths(design, factor: float) -> dict[str, Gaussian]:
    """Kernels whose squared bandwidths are ``factor`` times the median ones of 1000 pairs."""
    x, y = design.sample(0, 1000)
    kernels = (Gaussian().resolve(z) for z in (x, y))
    return {f"kernel_{v}": Gaussian(k.bandwidth * np.sqrt(factor)) for v, k in zip("xy", kernels, strict=True)}


def cells(args):
    """All cells of the map, one after the other."""
    for name, design, n in TWO_SAMPLE_CELLS:
        some = dict(TWO_SAMPLES)
        if design.ratio == 1.0:  # each sample is tuned by itself anyway
            del some["fkmse by sample"]
        yield one(args, "two-sample", name, design, n, some, d=design.dimension)
    for name, design, n in INDEPENDENCE_CELLS:
        yield one(args, "independence", name, design, n, INDEPENDENCE, bandwidth=1.0)
    for name, design, n in INDEPENDENCE_CELLS:
        if n == 20:
            for factor in FACTORS:
                some = {label: INDEPENDENCE[label] for label in ("kme", "skmse")}
                yield one(args, "independence", name, design, n, some, bandwidths(design, factor), bandwidth=factor)


def show(rates, differences, keys, estimators) -> str:
    """Power of kme, and the differences of the others from it; bold where the exact McNemar test has p < .01."""
    whole = {key: int for key in keys if key != "cell"}
    rates, differences = rates.astype(whole), differences.astype(whole)
    baseline = rates[(rates["estimator"] == "kme") & ~rates["null"]].set_index(keys)["power"]
    bold = differences["pvalue"] < 0.01
    text = differences["difference"].map("{:+.2f}".format)
    table = differences.assign(text=text.where(~bold, "**" + text + "**"))
    table = table.pivot(index=keys, columns="estimator", values="text").fillna("")
    return markdown(
        pd.concat([baseline.rename("kme"), table[[e for e in estimators if e != "kme"]]], axis=1).reset_index()
    )


def distinct(nulls):
    """The rows of null twins without those of twins that are the same for another design."""
    keys = ["test", "cell", "d", "n"]
    by_cell = nulls.fillna({"d": 0}).pivot(index=keys, columns="estimator", values="power")
    kept = by_cell[~by_cell.assign(test=by_cell.index.get_level_values("test")).duplicated()].index
    return nulls[nulls.fillna({"d": 0}).set_index(keys).index.isin(kept)]


def opening(tables) -> str:
    """What came out, in two sentences."""
    rates = tables[""]
    rates = rates[(rates["test"] == "two-sample") & ~rates["null"]]
    power = rates.pivot(index=["cell", "d", "n"], columns="estimator", values="power")
    cells = power.index.get_level_values("cell").str
    spread, rest = power[cells.startswith("scale")].mean(), power[cells.startswith(("shift", "correlation"))].mean()
    mild = abs(spread["fkmse"] - spread["kme"]) < abs(spread["lam_cov 0.3"] - spread["kme"])
    return (
        f"Against changes of spread, the mean power of a test with heavy shrinkage (`lam_cov 0.3`) was "
        f"{spread['lam_cov 0.3']:.2f}, and that of the plain average (`kme`) {spread['kme']:.2f}; against shifts and "
        f"correlations it was {rest['lam_cov 0.3']:.2f} and {rest['kme']:.2f}. "
        + claim("Shrinkage that is tuned (`fkmse`) has a mild form of the same effect.", mild)
    )


def chart(tables):
    """Power of three estimators in every setting of two samples."""
    rates = tables[""]
    rates = rates[(rates["test"] == "two-sample") & ~rates["null"]]
    keys = ["cell", "d", "n"]
    order = list(dict.fromkeys(map(tuple, rates[keys].to_numpy())))
    power = rates.pivot(index=keys, columns="estimator", values="power").loc[order]
    power.index = [f"{cell}, d = {d:g}" for cell, d, _ in power.index]
    looks = {"kme": ("o", GREY), "fkmse": ("D", BLUE), "lam_cov 0.3": ("s", ORANGE)}
    return dots(power, "power at level .05", looks)


def as_told(rates: pd.DataFrame) -> bool:
    """Whether heavy shrinkage gains against changes of spread and loses elsewhere, and tuned shrinkage does so less."""
    power = rates[rates["n"] == 25].pivot(index=["cell", "d"], columns="estimator", values="power")
    cells = power.index.get_level_values("cell").str
    spread, rest = power[cells.startswith("scale")].mean(), power[cells.startswith(("shift", "correlation"))].mean()
    heavy = ["lam_cov 1", "landweber, t = 1"]
    gain, loss = spread - spread["kme"], rest["kme"] - rest
    return bool(gain[heavy].min() > 2.0 * gain["fkmse"] > 0.0 and loss[heavy].min() > loss["fkmse"] > 0.0)


def page(tables) -> list[str]:
    """What the page says, from the rates and the differences."""
    rates, differences = tables[""], tables["differences"]
    trials = rates["trials"].max()
    two, pairs = (rates["test"] == kind for kind in ("two-sample", "independence"))
    two_d, pairs_d = (differences["test"] == kind for kind in ("two-sample", "independence"))
    median, median_d = rates["bandwidth"] == 1.0, differences["bandwidth"] == 1.0
    levels = distinct(rates[rates["null"] & (two | median)]).groupby(["test", "estimator"], sort=False)
    level = levels.apply(lambda g: (g["power"] * g["trials"]).sum() / g["trials"].sum(), include_groups=False)
    level = pd.DataFrame({"level": level, "null data sets": levels["trials"].sum()})
    low, high = binom.interval(0.999, level["null data sets"], 0.05)
    level["99.9 % region"] = [
        f"{a / n:.4f} to {b / n:.4f}" for a, b, n in zip(low, high, level["null data sets"], strict=True)
    ]
    level = level.reset_index()
    narrow = rates[pairs & ~rates["null"] & (rates["n"] == 20) & rates["estimator"].isin(["kme", "skmse"])]
    narrow = narrow.pivot(index="cell", columns=["estimator", "bandwidth"], values="power")
    narrow.columns = [f"{e}, bandwidth^2 x {b:g}" for e, b in narrow.columns]
    return [
        f"Level .05, {trials} trials a cell, 199 permutations, Gaussian kernel with median bandwidth. The first "
        "column is the power of `kme` (standard error at most "
        f"{0.5 / trials**0.5:.3f}); the others are paired differences from it, bold where the exact McNemar test "
        "has p < .01. The intervals of all powers and levels are in the data.",
        "## Two samples",
        "25 + 25 points, or 15 + 60 where one sample is larger. `lam_cov` is F-KMSE with a fixed amount on the "
        "covariance scale; `fkmse` is tuned in every permutation, one amount for both samples when the sizes "
        "differ; `fkmse by sample` tunes each alone. Unequal sizes take the unbiased form, as by default: in the "
        "biased one every estimator favours the smaller sample being wider.",
        show(rates[two], differences[two_d], ["cell", "d", "n"], TWO_SAMPLES),
        claim(
            "Shrinkage makes the test more powerful against changes of spread, by far the most with fixed, heavy "
            "amounts (`lam_cov` about 1, one Landweber step), and less powerful against shifts and correlations. The "
            "amount that leave-one-out finds has a small part of the same effect.",
            as_told(rates[two & ~rates["null"]]),
        )
        + " `mkme` is `kme` with a wider kernel.",
        "## Independence",
        '`fkmse, paper` is F-KMSE with the leave-one-out score as printed in the paper (`FKMSE(loo="paper")`).',
        show(rates[pairs & median], differences[pairs_d & median_d], ["cell", "n"], INDEPENDENCE),
        "## Bandwidths: independence, n = 20",
        markdown(narrow.reset_index()),
        "## Level, over all null twins",
        "Designs with the same null twin have the same null data, which count once.",
        markdown(level),
    ]


def main() -> None:
    args = options(__doc__.splitlines()[0], trials=1000, quick=2)
    found = []
    for i, cell in enumerate(cells(args), 1):
        found.append(cell)
        print(f"cell {i}: {cell[0]['cell'].iloc[0]}, n = {cell[0]['n'].iloc[0]}", flush=True)
    rates, differences = (pd.concat(parts, ignore_index=True) for parts in zip(*found, strict=True))
    tables = {"": rates, "differences": differences}
    write(args, NAME, TITLE, page(tables), tables)


if __name__ == "__main__":
    main()
