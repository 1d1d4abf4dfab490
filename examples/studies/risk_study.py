"""Exact risk of every estimator on the papers' mixtures of four Gaussians, beside the plain average.

The setting of [M14] Fig. 1, [S14] Fig. 3 and [X20] Fig. 1, which print curves and no numbers.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
from _study import markdown, options, save, span, store
from scipy.optimize import minimize_scalar
from scipy.stats import t

from shrinktest import FKMSE, Gaussian, IteratedTikhonov, Landweber, Linear, NuMethod, Polynomial
from shrinktest.risk import (
    RandomMixture,
    kme_risk,
    loss_path,
    risk_study,
    shrinkage_risk,
    true_embedding,
)

NAME = "risk_study"
CELLS = [(10, 5), (10, 30), (20, 30), (50, 30), (100, 20)]  # n, d
KERNELS = {
    "gaussian": Gaussian(),
    "linear": Linear(),
    "poly 2": Polynomial(2),
    "poly 3": Polynomial(3),
}
ESTIMATORS = {
    "skmse": "skmse",
    "fkmse": "fkmse",
    "fkmse, averaged": FKMSE(loo="averaged"),
    "fkmse, paper": FKMSE(loo="paper"),
    "landweber": "landweber",
    "landweber, paper": Landweber(loo="paper"),
    "nu": "nu",
    "nu, paper": NuMethod(loo="paper"),
    "iterated": "iterated_tikhonov",
    "iterated, paper": IteratedTikhonov(loo="paper"),
    "tsvd": "tsvd",
}


def refined(gram: np.ndarray) -> np.ndarray:
    """Return the weights of F-KMSE by the paper's score ([M14] Theorem 4), with lam refined beyond the grid of "
    "tests."""
    n = len(gram)
    values, vectors = np.linalg.eigh(gram)
    values, v = np.clip(values, 0.0, None), vectors.sum(axis=0) / n
    share = n * v**2

    def score(logarithm: float) -> float:
        h = values / (values + np.exp(logarithm))
        return float((values * (1.0 - share * h * (2.0 - h)) / (1.0 - h / n) ** 2).sum() / n)

    grid = np.log(values.sum() / n) + np.log(10.0) * np.linspace(-8.0, 5.0, 120)
    i = int(np.clip(np.argmin([score(x) for x in grid]), 1, len(grid) - 2))
    best = minimize_scalar(score, bounds=(grid[i - 1], grid[i + 1]), method="bounded").x
    return vectors @ (values / (values + np.exp(best)) * v)


# Gaussian kernel only
SPECIAL = {"fkmse, paper, refined": refined, "mkme": "mkme", "mmkme": "mmkme"}
LAM_COV = np.logspace(-4, 1, 26)
# Risk relative to kme from an independent program: Gaussian kernel, 200 data sets per setting.
OTHERS = {
    "skmse": (0.922, 0.947, 0.973, 0.989, 0.996),
    "fkmse, paper, refined": (0.981, 1.023, 1.080, 1.117, 1.126),
    "fkmse": (0.942, 0.963, 0.982, 0.992, 0.995),
    "fkmse, averaged": (0.949, 0.966, 0.983, 0.994, 0.998),
    "fkmse, best lam": (0.899, 0.939, 0.970, 0.986, 0.990),
}
OTHERS_TRIALS = 200


def losses(args) -> pd.DataFrame:
    """Return the losses of all settings, with those of F-KMSE with the best lam of every data set."""
    tables = []
    for n, d in CELLS:
        run = {
            "n_trials": args.trials,
            "rng": 0,
            "store": store(args, f"risk-{n}-{d}"),
            "workers": args.workers,
        }
        tables.append(risk_study("mixture", ESTIMATORS, KERNELS, n, d, **run).to_frame())
        special = risk_study(
            "mixture", SPECIAL, {"gaussian": Gaussian()}, n, d, oracle=False, **run
        ).to_frame()
        tables.append(special.query("estimator != 'kme'"))
        best = loss_path(
            "fkmse", LAM_COV, "lam_cov", kernel=Gaussian(), n=n, d=d, **run
        ).hindsight()
        row = {"kernel": "gaussian", "n": n, "d": d, "estimator": "fkmse, best lam", **best}
        tables.append(pd.DataFrame([row]))
    return pd.concat(tables, ignore_index=True).astype({"trials": int})


def relative(table: pd.DataFrame) -> pd.DataFrame:
    """Add ``risk``, relative to kme, and its standard error."""
    out = table.assign(risk=1.0 - table["improvement"] / 100.0)
    half = (table["improvement_high"] - table["improvement_low"]) / 200.0
    return out.assign(half=half, risk_error=half / t.ppf(0.975, table["trials"] - 1.0))


def replication(table: pd.DataFrame) -> tuple[float, int]:
    """Compare the Gaussian kernel with the other program; return the largest standardized difference and the count."""
    z = []
    for i, (n, d) in enumerate(CELLS):
        for label, numbers in OTHERS.items():
            at = (
                (table["kernel"] == "gaussian")
                & (table["n"] == n)
                & (table["d"] == d)
                & (table["estimator"] == label)
            )
            (row,) = table[at].itertuples()
            # both are means over data sets; the other's error follows from ours and the numbers of data sets
            error = row.risk_error * np.sqrt(1.0 + row.trials / OTHERS_TRIALS)
            z.append(abs(row.risk - numbers[i]) / error)
    return max(z), len(z)


def over_shrinkage(trials: int) -> pd.DataFrame:
    """Return the median ratio of lam by the paper's score to lam by deletion (erratum E1)."""
    rows = []
    for n, d in CELLS:
        rng = np.random.default_rng([n, d])
        ratios = []
        for _ in range(trials):
            points = RandomMixture().draw(rng, d).sample(rng, n)
            paper, deletion = (
                FKMSE(loo=loo).fit(points).shrinkage for loo in ("paper", "deletion")
            )
            ratios.append(paper / deletion if deletion > 0.0 else np.inf)
        rows.append(
            {
                "n": n,
                "d": d,
                "median lam, paper / deletion": float(np.median(ratios)),
                "data sets": trials,
            }
        )
    return pd.DataFrame(rows)


def decay(beta: float, sizes: np.ndarray) -> np.ndarray:
    """Return the exact risk of lam = n^-beta relative to kme ([S14] Fig. 4): one mixture, Gaussian kernel."""
    mixture = RandomMixture(mixture_seed=0).draw(np.random.default_rng(0), 10)
    truth = true_embedding(mixture, Gaussian().resolve(mixture.sample(0, 1000)))
    alphas = 1.0 / (1.0 + sizes**beta)  # lam / (1 + lam)
    return np.array(
        [
            shrinkage_risk(truth, int(n), alpha) / kme_risk(truth, int(n))
            for n, alpha in zip(sizes, alphas, strict=True)
        ]
    )


def picture(args, tables):
    """Draw the risk relative to kme for every kernel, and the loss along the amount of shrinkage."""
    table = relative(tables[""])
    from matplotlib.figure import Figure

    from shrinktest.results.plots.studies import COLORS, MARKERS

    figure = Figure(figsize=(9.0, 14.0), layout="constrained")
    above, below = np.split(figure.subplots(4, 2).ravel(), 2)
    shown = ["skmse", "fkmse", "fkmse, paper", "landweber", "oracle"]
    for ax, kernel in zip(above, KERNELS, strict=True):
        for i, label in enumerate(shown):
            part = table[(table["kernel"] == kernel) & (table["estimator"] == label)]
            at = np.arange(len(part)) + 0.12 * (i - 2)
            style = {"color": COLORS[i], "marker": MARKERS[i], "linestyle": "none", "label": label}
            ax.errorbar(at, part["risk"], part["half"], capsize=2, **style)
        ax.axhline(1.0, color="#8C8C8C", linestyle=":")
        ax.set_xticks(range(len(CELLS)), [f"n={n}\nd={d}" for n, d in CELLS])
        ax.set_ylabel("risk relative to kme (below 1: better)")
        ax.set_title(f"{kernel} kernel, 95% intervals", fontsize="medium")
    above[0].legend(frameon=False, fontsize="small")
    run = {"n": 20, "d": 30, "n_trials": min(args.trials, 200), "workers": args.workers}
    paths = (
        ("fkmse", np.logspace(-2, 2, 25)),
        ("landweber", [1, 2, 3, 5, 8, 12, 20, 35, 60, 100, 200]),
        ("mkme", np.logspace(-1, 3, 25)),
    )
    for ax, (estimator, amounts) in zip(below, paths, strict=False):
        path = loss_path(estimator, amounts, store=store(args, f"risk-path-{estimator}"), **run)
        path.plot(ax, relative=True)
        ax.set_ylim(-12.0, 6.0)
    sizes = np.unique(np.logspace(0, 4, 41).round())
    for beta, color in zip((0.5, 1.0, 1.5, 2.0), COLORS, strict=False):
        below[3].plot(sizes, decay(beta, sizes), color=color, label=f"lam = n^-{beta:g}")
    below[3].axhline(1.0, color="#8C8C8C", linestyle=":")
    below[3].set_xscale("log")
    below[3].set_ylim(0.85, 1.5)
    below[3].set_xlabel("sample size n")
    below[3].set_ylabel("exact risk relative to kme")
    below[3].set_title("data-free simple shrinkage, d = 10", fontsize="medium")
    below[3].legend(frameon=False, fontsize="small")
    for ax in figure.axes:
        ax.spines[["top", "right"]].set_visible(False)
    return figure


def values(tables) -> dict:
    """Return the numbers, tables and claims of the section."""
    table = relative(tables[""])
    amounts = tables["amounts"].sort_values("n")
    gaussian = table[table["kernel"] == "gaussian"]
    risk = gaussian.groupby("estimator")["risk"].mean()
    by_size = gaussian.pivot_table("risk", "n", "estimator")
    few = by_size.iloc[0]
    many = by_size.iloc[-1]
    simple = table[table["estimator"] == "skmse"]
    flexible = table[table["estimator"] == "fkmse"]
    worse = flexible[flexible["risk"] - flexible["half"] > 1.0]
    where = (f"{r.kernel}, n = {r.n}: {r.risk:.4f} ± {r.half:.4f}" for r in worse.itertuples())
    names = ["skmse", "fkmse", "fkmse, paper", "landweber", "nu", "iterated", "tsvd", "oracle"]
    mean = table.pivot_table("risk", "kernel", "estimator", sort=False)[names]
    over = amounts["median lam, paper / deletion"]
    cells = gaussian.set_index("estimator")["risk"]
    largest, compared = replication(table)
    return {
        "skmse": f"{risk['skmse']:.2f}",
        "fkmse": f"{risk['fkmse']:.2f}",
        "tsvd": f"{risk['tsvd']:.2f}",
        "lower": int((simple["risk"] < 1.0).sum()),
        "settings": len(simple),
        "drawn": gaussian.loc[gaussian["estimator"].isin(["skmse", "fkmse"]), "risk"].max() < 1.0,
        "risks": markdown(mean.map("{:.2f}".format).reset_index()),
        "few_skmse": f"{few['skmse']:.2f}",
        "fewest": by_size.index[0],
        "many_skmse": f"{many['skmse']:.2f}",
        "most": by_size.index[-1],
        "few_paper": f"{few['fkmse, paper']:.2f}",
        "many_paper": f"{many['fkmse, paper']:.2f}",
        "landweber_range": span(cells["landweber"], ".3f"),
        "iterated_range": span(cells["iterated"], ".3f"),
        "worse": len(worse),
        "flexible": len(flexible),
        "worse_where": "; ".join(where) or "none",
        "paper_shrinks_too_much": bool((over > 1.0).all()),
        "over_few": f"{over.iloc[0]:.1f}",
        "over_fewest": amounts["n"].min(),
        "over_many": f"{over.iloc[-1]:.1f}",
        "over_most": amounts["n"].max(),
        "trials": table["trials"].max(),
        "compared": compared,
        "largest": f"{largest:.1f}",
    }


def measured(args):
    """Return the tables of all settings."""
    table = relative(losses(args))
    amounts = over_shrinkage(min(args.trials, OTHERS_TRIALS))
    return {"": table.drop(columns=["risk_error"]), "amounts": amounts}


if __name__ == "__main__":
    args = options(__doc__.splitlines()[0], trials=1000, quick=3)
    save(args, NAME, measured(args), values, partial(picture, args))
