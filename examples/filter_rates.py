"""How fast the risk of the spectral filters falls with n, where the truth and its smoothness are known exactly.

[S14] section 4 bounds the risk for an amount of shrinkage lam = c n^-a on the scale of the covariance operator C.  It
is simulated here for two kernel means whose smoothness is known: of a Gaussian under the Gaussian kernel, and of a
mixture of two under the quadratic kernel, whose features have finitely many dimensions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from _study import claim, markdown, options, store, write

from shrinktest import FKMSE, TSVD, Gaussian, IteratedTikhonov, Kernel, Landweber, NuMethod, Polynomial
from shrinktest.risk import NormalMixture, risk_study

NAME, TITLE = "filter_rates", "Rates of convergence of the filters"
POWERS = (0.25, 0.5, 1.0)  # a
STEPS = 3  # of iterated Tikhonov
#: Qualification: the largest power of lam at which the part of the mean that a filter leaves out can vanish.
QUALIFICATION = {"fkmse": 1.0, "iterated": float(STEPS), "nu": 1.0, "landweber": np.inf, "tsvd": np.inf}


@dataclass(frozen=True)
class Setting:
    """A kernel mean mu = C^beta h for every beta below `smooth`, in one dimension, and the sizes of its samples."""

    kernel: Kernel
    mixture: NormalMixture
    smooth: float
    c: float  # lam = c n^-a, relative to the mean of K_ii
    eta: float | None  # step of the iterations; None for 1 / max K_ii, which is constant for the Gaussian kernel
    sizes: tuple[int, ...]

    def at(self, n: int, a: float) -> dict[str, Any]:
        """The filters with lam = c n^-a, in the units that each takes."""
        lam = self.c * n**-a
        step = (self.eta or 1.0) * self.scale
        return {
            "fkmse": FKMSE(lam_cov=lam),
            "iterated": IteratedTikhonov(lam_cov=lam, t=STEPS),
            "nu": NuMethod(t=max(1, round((step * lam) ** -0.5)), eta=self.eta),
            "landweber": Landweber(t=max(1, round(1.0 / (step * lam))), eta=self.eta),
            "tsvd": TSVD(threshold=lam),
        }

    @property
    def scale(self) -> float:
        """E k(X, X)."""
        from shrinktest.risk import true_embedding

        return true_embedding(self.mixture, self.kernel).expected_diagonal

    def bound(self, filter_: str, a: float) -> float:
        """The largest power of 1/n at which the risk is known to fall."""
        return min(1.0, 2.0 * a * min(self.smooth, QUALIFICATION[filter_]))


SETTINGS = {
    "gaussian": Setting(
        Gaussian(1.0), NormalMixture([1.0], [[0.0]], [[[1.0]]]), 1.0, 1.0, None, (32, 64, 128, 256, 512, 1024)
    ),
    "quadratic": Setting(
        Polynomial(2),
        NormalMixture([0.5, 0.5], [[-0.8], [0.8]], [[[0.36]], [[0.36]]]),
        np.inf,
        0.3,
        0.1,
        (32, 64, 128, 256, 512),
    ),
}


def losses(args, most: int | None) -> pd.DataFrame:
    """Mean loss of every filter at every size and power; of the smallest sizes only if `most` says so."""
    tables = []
    for label, setting in SETTINGS.items():
        for n in setting.sizes[:most]:
            named = {f"{name}, {a}": one for a in POWERS for name, one in setting.at(n, a).items()}
            named["fkmse, tuned"] = "fkmse"
            run = {"n_trials": args.trials, "store": store(args, f"rates-{label}-{n}"), "workers": args.workers}
            found = risk_study(setting.mixture, named, setting.kernel, n, 1, oracle=False, **run).table
            tables.append(found.assign(kernel=label)[["kernel", "n", "estimator", "loss", "error", "trials"]])
    return pd.concat(tables, ignore_index=True)


def slopes(table: pd.DataFrame) -> pd.DataFrame:
    """Slope of log risk on log n over the largest four sizes, with the 95 % interval that their errors leave."""
    rows = []
    for (kernel, estimator), part in table.groupby(["kernel", "estimator"], sort=False):
        part = part.sort_values("n").tail(4)
        x, weight = np.log(part["n"].to_numpy()), (part["loss"] / part["error"]).to_numpy() ** 2
        centred = x - np.average(x, weights=weight)
        spread = (weight * centred**2).sum()
        slope = (weight * centred * np.log(part["loss"].to_numpy())).sum() / spread
        name, _, a = estimator.partition(", ")
        power = float(a) if a not in ("", "tuned") else None
        bound = 1.0 if power is None else SETTINGS[kernel].bound(name, power)
        rows.append({"kernel": kernel, "filter": name if power else estimator, "a": power, "slope": slope})
        rows[-1] |= {"half": 1.96 / np.sqrt(spread), "bound": -bound}
    return pd.DataFrame(rows)


def shown(table: pd.DataFrame) -> pd.DataFrame:
    """Slopes with their intervals, and the exponent of the bound in brackets; a column for every power."""
    found = slopes(table)
    fixed = found[found["a"].notna()]
    text = [f"{r.slope:.2f} ± {r.half:.2f} ({r.bound:.2g})" for r in fixed.itertuples()]
    wide = fixed.assign(cell=text, a=[f"a = {a:g}" for a in fixed["a"]])
    wide = wide.pivot(index=["kernel", "filter"], columns="a", values="cell")
    return fixed[["kernel", "filter"]].drop_duplicates().merge(wide.reset_index(), on=["kernel", "filter"])


def eigenvalues(count: int = 50) -> np.ndarray:
    """Of the covariance operator of N(0, 1) under the Gaussian kernel with bandwidth 1 (Rasmussen and Williams 4.3)."""
    c = np.sqrt(0.25**2 + 2.0 * 0.25 * 0.5)
    whole = 0.25 + 0.5 + c
    return np.sqrt(0.5 / whole) * (0.5 / whole) ** np.arange(count)


def flatter(found: pd.DataFrame) -> pd.DataFrame:
    """Slopes that are flatter than the bound by more than their interval and .1."""
    return found[found["slope"] - found["half"] > found["bound"] + 0.1]


def opening(tables) -> str:
    """What came out, in two sentences."""
    found, table = slopes(tables[""]), tables[""][tables[""]["kernel"] == "gaussian"]
    fixed, plain = found[found["a"].notna()], found[found["filter"] == "kme"]["slope"]
    flat, fast = flatter(fixed), fixed[fixed["a"] == max(POWERS)]["slope"]
    largest = table[table["n"] == table["n"].max()].set_index("estimator")["loss"]
    times = largest[f"fkmse, {min(POWERS)}"] / largest["kme"]
    return (
        f"Where the amount of shrinkage falls as 1/n, the risk of every filter fell with slopes of {fast.min():.2f} to "
        f"{fast.max():.2f} on logarithmic axes, and that of the plain average with {plain.min():.2f} and "
        f"{plain.max():.2f}. Where it falls as $n^{{-{min(POWERS)}}}$, the risk of `fkmse` with n = "
        f"{table['n'].max()} points was {times:.0f} times that of `kme` ({largest['kme']:.2g}). In {len(flat)} of "
        f"{len(fixed)} cases the slope was flatter than the theoretical bound, which need not be reached at these "
        "sizes."
    )


def alt(tables) -> str:
    """What the picture shows."""
    found = slopes(tables[""])
    fixed = found[found["a"].notna()]
    kept = fixed[fixed["a"] == max(POWERS)]["bound"]
    return "Risk of the filters against the sample size: " + claim(
        "parallel lines where the amount of shrinkage falls fast, curves that differ where it falls slowly",
        bool((kept == -1.0).all()) and fixed[fixed["a"] == min(POWERS)]["slope"].std() > 0.1,
    )


def chart(tables):
    """Risk against the sample size, beside the order of the bound."""
    return picture(tables[""])


def page(tables) -> list[str]:
    """What the page says, from the mean losses."""
    table = tables[""]
    found = slopes(table)
    fixed, free = found[found["a"].notna()], found[found["a"].isna()]
    slower = flatter(fixed)
    where = "; ".join(
        f"{r.kernel}, {r.filter}, a = {r.a:g}: {r.slope:.2f} for {r.bound:.2g}" for r in slower.itertuples()
    )
    trials = sorted(set(table["trials"]))
    n = SETTINGS["gaussian"].sizes[-1]
    steps = sorted({SETTINGS["gaussian"].at(size, min(POWERS))["nu"].t for size in SETTINGS["gaussian"].sizes})
    ends = {label: (table.query("kernel == @label")["n"]) for label in SETTINGS}
    sizes = ", ".join(f"{label} kernel: n = {n.min()} to {n.max()}" for label, n in ends.items())
    return [
        f"Exact loss, {' or '.join(map(str, trials))} samples of every size ({sizes}), amount of shrinkage "
        "$\\lambda = c\\,n^{-a}$ on the scale of the covariance operator $C$ (iterations: $t = 1/(\\eta\\lambda)$ of "
        "Landweber, $t = (\\eta\\lambda)^{-1/2}$ of the $\\nu$-method).",
        "**What is to be expected.** With $\\hat q$ the filter and $\\hat r = 1 - \\hat q$ what it leaves out, "
        "$\\mu_\\lambda - \\mu = \\hat q(\\hat\\mu - \\mu) - \\hat r\\mu$. The first part is of order $n^{-1/2}$ "
        "whatever $\\lambda$ is. If $\\mu = C^\\beta h$, the second is of order $\\lambda^{\\min(\\beta, q)}$, where "
        "the qualification $q$ belongs to the filter, up to parts of order $n^{-1/2}$ from $\\hat C - C$ when "
        "$\\beta \\ge 1$. So the risk falls at least as fast as $n^{-\\min(1,\\, 2a\\min(\\beta, q))}$: this is what "
        "the conditions of [S14] section 4 give, and nothing falls faster than the plain average, $n^{-1}$. Of a "
        "Gaussian under the Gaussian kernel every $\\beta < 1$ will do, with any bandwidth: the constant function, "
        "whose image under $C$ is $\\mu$, has squared coefficients that fall as fast as the eigenvalues, $B^k$ (but "
        "for a power of $k$). Under the quadratic kernel the constant function is a feature, and there are three "
        "features only, so that every $\\beta$ will do and the filter alone decides: $q = 1$ for Tikhonov (`fkmse`) "
        f"and for the $\\nu$-method with $\\nu = 1$, {STEPS} for iterated Tikhonov, no limit for Landweber and "
        "truncation.",
        "Slopes of log risk on log n over the four largest n, weighted by their errors, with 95 % intervals; in "
        "brackets the exponent of the bound.",
        markdown(shown(table)),
        "The plain average has slope "
        + " and ".join(f"{r.slope:.2f} ± {r.half:.2f} ({r.kernel})" for r in free[free["filter"] == "kme"].itertuples())
        + "; `fkmse` tuned by deletion "
        + " and ".join(f"{r.slope:.2f} ± {r.half:.2f}" for r in free[free["filter"] == "fkmse, tuned"].itertuples())
        + ".",
        "Flatter than the bound by more than their interval and .1: "
        + (f"{where}." if where else "none.")
        + " A bound says what happens for n large enough. Under the Gaussian kernel only "
        f"{int((eigenvalues() > n ** -min(POWERS)).sum())} of the eigenvalues are above $\\lambda = "
        f"n^{{-{min(POWERS)}}}$ at n = {n}, so that the order in $\\lambda$ cannot be seen yet. Iterations are whole "
        f"numbers (of the $\\nu$-method {' or '.join(map(str, steps))} there), and truncation goes from one "
        "eigenvalue to the next: their curves have steps.",
    ]


def picture(table: pd.DataFrame):
    """Risk against n on logarithmic axes, for both kernels and every power, beside the order of the bound."""
    from matplotlib.figure import Figure

    from shrinktest.power.plots import COLOURS, MARKERS

    figure = Figure(figsize=(13, 7.6), layout="constrained")
    grid = figure.subplots(len(SETTINGS), len(POWERS), sharex="row", sharey="row")
    for axes, (kernel, setting) in zip(grid, SETTINGS.items(), strict=True):
        for ax, a in zip(axes, POWERS, strict=True):
            part = table[table["kernel"] == kernel]
            plain = part[part["estimator"] == "kme"]
            ax.plot(plain["n"], plain["loss"], color="black", linewidth=1, label="kme, order $n^{-1}$")
            for i, name in enumerate(QUALIFICATION):
                curve = part[part["estimator"] == f"{name}, {a}"]
                style = {"color": COLOURS[i], "marker": MARKERS[i], "markersize": 5, "linewidth": 1}
                ax.errorbar(curve["n"], curve["loss"], yerr=1.96 * curve["error"], label=name, **style)
            slope = setting.bound("fkmse", a)
            ends = part[part["estimator"] == f"fkmse, {a}"]
            last_n, last = ends["n"].iloc[-1], ends["loss"].iloc[-1]
            ax.plot(
                ends["n"],
                1.3 * last * (ends["n"] / last_n) ** -slope,
                color="#8C8C8C",
                linestyle=":",
                label="bound of fkmse (order)",
            )
            ax.set_xscale("log")
            ax.set_yscale("log")
            ticks = sorted(set(part["n"]))
            ax.set_xticks(ticks, [str(n) for n in ticks])
            ax.set_xticks([], minor=True)
            factor = "" if setting.c == 1.0 else f"{setting.c:g}\\,"
            ax.set_title(f"{kernel} kernel, $\\lambda = {factor}n^{{-{a:g}}}$", fontsize="medium")
            ax.spines[["top", "right"]].set_visible(False)
        axes[0].set_ylabel("risk (95 % interval)")
    for ax in grid[-1]:
        ax.set_xlabel("sample size n")
    figure.legend(*grid[0, 0].get_legend_handles_labels(), loc="outside right center", frameon=False)
    figure.suptitle("How fast does the risk of a filter fall, when its amount of shrinkage falls with n?")
    return figure


def main() -> None:
    args = options(__doc__.splitlines()[0], trials=60, quick=3)
    table = losses(args, 3 if args.quick else None)
    write(args, NAME, TITLE, page({"": table}), table)


if __name__ == "__main__":
    main()
