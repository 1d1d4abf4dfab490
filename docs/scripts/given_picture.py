"""The picture of the page on given variables: two rates of American states, and what others leave of them."""

from __future__ import annotations

import os

import folders  # noqa: F401 - makes the studies importable

# isort: split
from _study import options


def main() -> None:
    args = options(__doc__.splitlines()[0], trials=1, quick=1)
    os.environ.setdefault("MPLBACKEND", "Agg")
    from matplotlib.figure import Figure
    from statsmodels.datasets import statecrime

    from shrinktest import independence_test
    from shrinktest.conditional.regressions import Regressions
    from shrinktest.results.plots.axes import BLUE

    states = statecrime.load_pandas().data
    names, given = ["hs_grad", "murder"], ["poverty", "single"]
    regression = Regressions.on(states[given].to_numpy())
    left = [regression.residuals(states[[name]].to_numpy(), name).values[:, 0] for name in names]
    figure = Figure(figsize=(8.4, 3.6), layout="constrained")
    plain, rest = figure.subplots(1, 2)
    plain.scatter(*(states[name] for name in names), s=18, color=BLUE)
    plain.set(xlabel="high school graduates, %", ylabel="murders per 100,000")
    rest.scatter(*left, s=18, color=BLUE)
    rest.set(xlabel="graduation rate, residual given Z", ylabel="murder rate, residual given Z")
    for ax in (plain, rest):
        ax.spines[["top", "right"]].set_visible(False)
    pair = [states[[name]] for name in names]
    for ax, arguments, what in (
        (plain, {}, "dependent"),
        (rest, {"given": states[given]}, "given Z = poverty, single parents"),
    ):
        ax.set_title(f"{what}: p = {independence_test(*pair, rng=0, **arguments).pvalue:.3g}")
    if args.out is not None:
        figure.savefig(args.out / "figures" / "given.png", dpi=110)


if __name__ == "__main__":
    main()
