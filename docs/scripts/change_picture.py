"""The picture of the page on changes: the annual flow of the Nile, and the distance before and after every cut."""

from __future__ import annotations

import folders  # noqa: F401 - makes the studies importable

# isort: split
from _study import options

from shrinktest import change_point_test


def main() -> None:
    args = options(__doc__.splitlines()[0], trials=1, quick=1)
    from matplotlib.figure import Figure
    from statsmodels.datasets import nile

    from shrinktest.results.plots.axes import GRAY, ORANGE

    data = nile.load_pandas().data
    years = data["year"].astype(int).tolist()
    result = change_point_test(data["volume"], times=years, rng=0)
    figure = Figure(figsize=(7.5, 5.6), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(1.1, 1.0))
    above.plot(years, data["volume"], color=GRAY, marker="o", markersize=3, linewidth=0.8)
    above.axvline(result.when, color=ORANGE, linewidth=2)
    above.axvspan(*result.when_interval, color=ORANGE, alpha=0.2)
    for rows in (slice(None, result.location), slice(result.location, None)):
        above.hlines(
            data["volume"][rows].mean(),
            years[rows][0],
            years[rows][-1],
            color=ORANGE,
            linestyle="--",
        )
    above.set(ylabel="flow at Aswan, 10⁸ m³ per year", title="Annual flow of the Nile")
    above.spines[["top", "right"]].set_visible(False)
    result.plot(below)
    below.set(title="", xlabel="year")
    if args.out is not None:
        (args.out / "figures").mkdir(parents=True, exist_ok=True)
        figure.savefig(args.out / "figures" / "change_nile.png", dpi=120)


if __name__ == "__main__":
    main()
