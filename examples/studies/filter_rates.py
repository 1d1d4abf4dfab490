"""How fast the risk of the spectral filters falls with n, for kernel means of known smoothness.

[S14] section 4 bounds the risk for an amount of shrinkage lam = c n^-a on the scale of the covariance operator C.  Two
kernel means are simulated: a Gaussian under the Gaussian kernel, and a mixture of two under the quadratic kernel, whose
features have finitely many dimensions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from _study import markdown, run, span, store

from shrinktest import (
    FKMSE,
    TSVD,
    Gaussian,
    IteratedTikhonov,
    Kernel,
    Landweber,
    NuMethod,
    Polynomial,
)
from shrinktest.risk import NormalMixture, risk_study

NAME = "filter_rates"
POWERS = (0.25, 0.5, 1.0)  # a
STEPS = 3  # of iterated Tikhonov
#: Qualification: the largest power of lam at which the bias of a filter can vanish.
QUALIFICATION = {
    "fkmse": 1.0,
    "iterated": float(STEPS),
    "nu": 1.0,
    "landweber": np.inf,
    "tsvd": np.inf,
}


@dataclass(frozen=True)
class Setting:
    """A kernel mean mu = C^beta h for every beta below `smooth`, in one dimension, and the sizes of its samples."""

    kernel: Kernel
    mixture: NormalMixture
    smooth: float
    c: float  # lam = c n^-a, relative to the mean of K_ii
    eta: (
        float | None
    )  # step of the iterations; None for 1 / max K_ii, which is constant for the Gaussian kernel
    sizes: tuple[int, ...]

    def at(self, n: int, a: float) -> dict[str, Any]:
        """Return the filters with lam = c n^-a, each in its own units."""
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
        """Return E k(X, X)."""
        from shrinktest.risk import true_embedding

        return true_embedding(self.mixture, self.kernel).expected_diagonal

    def bound(self, filter_: str, a: float) -> float:
        """Return the largest power of 1/n at which the risk is known to fall."""
        return min(1.0, 2.0 * a * min(self.smooth, QUALIFICATION[filter_]))


SETTINGS = {
    "gaussian": Setting(
        Gaussian(1.0),
        NormalMixture([1.0], [[0.0]], [[[1.0]]]),
        1.0,
        1.0,
        None,
        (32, 64, 128, 256, 512, 1024),
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
    """Return the mean loss of every filter at every size and power; `most` limits the sizes."""
    tables = []
    for label, setting in SETTINGS.items():
        for n in setting.sizes[:most]:
            named = {
                f"{name}, {a}": filtered
                for a in POWERS
                for name, filtered in setting.at(n, a).items()
            }
            named["fkmse, tuned"] = "fkmse"
            run = {
                "n_trials": args.trials,
                "store": store(args, f"rates-{label}-{n}"),
                "workers": args.workers,
            }
            run["rng"] = 0
            table = risk_study(
                setting.mixture, named, setting.kernel, n, 1, oracle=False, **run
            ).table
            tables.append(
                table.assign(kernel=label)[["kernel", "n", "estimator", "loss", "error", "trials"]]
            )
    return pd.concat(tables, ignore_index=True)


def slopes(table: pd.DataFrame) -> pd.DataFrame:
    """Return the slope of log risk on log n over the largest four sizes, with its 95% interval."""
    rows = []
    for (kernel, estimator), part in table.groupby(["kernel", "estimator"], sort=False):
        part = part.sort_values("n").tail(4)
        x, weight = np.log(part["n"].to_numpy()), (part["loss"] / part["error"]).to_numpy() ** 2
        centered = x - np.average(x, weights=weight)
        spread = (weight * centered**2).sum()
        slope = (weight * centered * np.log(part["loss"].to_numpy())).sum() / spread
        name, _, a = estimator.partition(", ")
        power = float(a) if a not in ("", "tuned") else None
        bound = 1.0 if power is None else SETTINGS[kernel].bound(name, power)
        rows.append(
            {"kernel": kernel, "filter": name if power else estimator, "a": power, "slope": slope}
        )
        rows[-1] |= {"half": 1.96 / np.sqrt(spread), "bound": -bound}
    return pd.DataFrame(rows)


def shown(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of slopes with margins and the exponent of the bound, with a column for every power."""
    fitted = slopes(table)
    fixed = fitted[fitted["a"].notna()]
    text = [f"{r.slope:.2f} ± {r.half:.2f} ({r.bound:.2g})" for r in fixed.itertuples()]
    wide = fixed.assign(cell=text, a=[f"a = {a:g}" for a in fixed["a"]])
    wide = wide.pivot(index=["kernel", "filter"], columns="a", values="cell")
    return (
        fixed[["kernel", "filter"]]
        .drop_duplicates()
        .merge(wide.reset_index(), on=["kernel", "filter"])
    )


def flatter(fitted: pd.DataFrame) -> pd.DataFrame:
    """Return slopes that are flatter than the bound by more than their margin and 0.1."""
    return fitted[fitted["slope"] - fitted["half"] > fitted["bound"] + 0.1]


def values(tables) -> dict:
    """Return the numbers, tables and claims of the section."""
    table = tables[""]
    fitted = slopes(table)
    fixed = fitted[fitted["a"].notna()]
    fast = fixed[fixed["a"] == max(POWERS)]
    slow = fixed[fixed["a"] == min(POWERS)]
    flat = flatter(fixed)
    where = (
        f"{r.kernel}, {r.filter}, a = {r.a:g} ({r.slope:.2f} instead of {r.bound:.2g})"
        for r in flat.itertuples()
    )
    gaussian = table[table["kernel"] == "gaussian"]
    largest = gaussian[gaussian["n"] == gaussian["n"].max()].set_index("estimator")["loss"]
    plain, tuned = (fitted[fitted["filter"] == name] for name in ("kme", "fkmse, tuned"))
    return {
        "fast": span(fast["slope"], ".2f"),
        "slowest": f"$n^{{-{min(POWERS)}}}$",
        "largest": gaussian["n"].max(),
        "times": f"{largest[f'fkmse, {min(POWERS)}'] / largest['kme']:.0f}",
        "risk_of_kme": f"{largest['kme']:.2g}",
        "flat": len(flat),
        "cases": len(fixed),
        "drawn": bool((fast["bound"] == -1.0).all()) and slow["slope"].std() > 0.1,
        "slopes": markdown(shown(table)),
        "slopes_of_kme": " and ".join(
            f"{r.slope:.2f} ± {r.half:.2f} ({r.kernel})" for r in plain.itertuples()
        ),
        "slopes_of_fkmse": " and ".join(
            f"{r.slope:.2f} ± {r.half:.2f}" for r in tuned.itertuples()
        ),
        "flat_where": "; ".join(where) or "none",
        "steps": STEPS,
        "trials": table["trials"].max(),
    }


def chart(tables):
    """Draw the risk against n on logarithmic axes, for both kernels and every power, with the bound."""
    table = tables[""]
    from matplotlib.figure import Figure

    from shrinktest.results.plots.studies import COLORS, MARKERS

    figure = Figure(figsize=(13, 7.6), layout="constrained")
    grid = figure.subplots(len(SETTINGS), len(POWERS), sharex="row", sharey="row")
    for axes, (kernel, setting) in zip(grid, SETTINGS.items(), strict=True):
        for ax, a in zip(axes, POWERS, strict=True):
            part = table[table["kernel"] == kernel]
            plain = part[part["estimator"] == "kme"]
            ax.plot(
                plain["n"], plain["loss"], color="black", linewidth=1, label="kme, order $n^{-1}$"
            )
            for i, name in enumerate(QUALIFICATION):
                curve = part[part["estimator"] == f"{name}, {a}"]
                style = {"color": COLORS[i], "marker": MARKERS[i], "markersize": 5, "linewidth": 1}
                ax.errorbar(
                    curve["n"], curve["loss"], yerr=1.96 * curve["error"], label=name, **style
                )
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
        axes[0].set_ylabel("risk (95% interval)")
    for ax in grid[-1]:
        ax.set_xlabel("sample size n")
    figure.legend(
        *grid[0, 0].get_legend_handles_labels(), loc="outside right center", frameon=False
    )
    figure.suptitle(
        "How fast does the risk of a filter fall, when its amount of shrinkage falls with n?"
    )
    return figure


def measured(args):
    """Return the tables of all settings."""
    return losses(args, 3 if args.quick else None)


if __name__ == "__main__":
    run(__doc__, NAME, measured, values, chart, trials=60, quick=3)
