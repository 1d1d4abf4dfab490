"""The picture of the page on estimators: a null distribution with the observed statistic, and where shrinkage helps."""

from __future__ import annotations

import folders  # noqa: F401 - makes the studies importable

# isort: split
from _study import options, store

from shrinktest import FKMSE, independence_test, power_study
from shrinktest.datasets import load_eckerle4
from shrinktest.power.designs import MeanShift, ScaleChange

DESIGNS = {
    "20 coordinates, each stretched by 1.3": ScaleChange(dimension=20, scale=1.3),
    "20 coordinates, one shifted by 1": MeanShift(dimension=20, shift=1.0),
}
ESTIMATORS = {"plain average": "kme", "heavy shrinkage": FKMSE(lam_cov=0.3)}
SIZES = [10, 15, 20, 30, 40]


def main() -> None:
    args = options(__doc__.splitlines()[0], trials=500, quick=10)
    from matplotlib.figure import Figure

    from shrinktest.results.plots.axes import BLUE, GRAY
    from shrinktest.results.plots.studies import MARKERS

    figure = Figure(figsize=(10, 3.4), layout="constrained")
    null, *panels = figure.subplots(1, 3, width_ratios=(1.25, 1, 1))
    panels[1].sharey(panels[0])
    result = independence_test(*load_eckerle4(), rng=0)
    result.plot_null(null)
    null.set(
        title="Is a filter's transmittance independent of wavelength?",
        xlabel="HSIC of the plain average",
        ylabel="permutations of the 35 pairs",
    )
    null.locator_params(nbins=5)
    null.set_xlim(0.0, 2.2 * result.statistic)  # room for the legend
    handles, _ = null.get_legend_handles_labels()
    null.legend(
        handles,
        ["if independent", "critical,\n5% level", f"observed,\np = {result.pvalue:g}"],
        frameon=False,
        loc="upper right",
    )
    for ax, (title, design) in zip(panels, DESIGNS.items(), strict=True):
        study = power_study(
            design,
            ESTIMATORS,
            SIZES,
            n_trials=args.trials,
            n_resamples=199,
            with_null=False,
            store=store(args, f"first-picture-{design.name}"),
            workers=args.workers,
            progress=False,
            rng=0,
        )
        print(study.summary())
        for label, color, marker in zip(ESTIMATORS, (GRAY, BLUE), MARKERS, strict=False):
            curve = study.table[study.table["estimator"] == label]
            ax.plot(
                curve["n"], curve["power"], color=color, marker=marker, markersize=5, label=label
            )
            ax.fill_between(
                curve["n"], curve["low"], curve["high"], color=color, alpha=0.15, linewidth=0
            )
        ax.set(title=title, xlabel="observations in each sample", ylim=(0, 1.02))
        ax.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("power at the 5% level")
    panels[1].legend(frameon=False, loc="upper left")
    for ax in figure.axes:
        ax.title.set_fontsize("medium")
    if args.out is not None:
        figure.savefig(args.out / "figures" / "first_picture.png", dpi=110)


if __name__ == "__main__":
    main()
