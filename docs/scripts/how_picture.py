"""The picture of the page on how a kernel test works: samples, kernel means, witness function, null distribution."""

from __future__ import annotations

import folders  # noqa: F401 - makes the studies importable
import numpy as np

# isort: split
from _study import options

from shrinktest import two_sample_test


def main() -> None:
    args = options(__doc__.splitlines()[0], trials=1, quick=1)
    from matplotlib.figure import Figure

    from shrinktest.results.plots.axes import BLUE, GRAY, ORANGE

    rng = np.random.default_rng(1)
    before = rng.normal(0.0, 1.0, size=60)
    after = rng.normal(0.0, 2.0, size=60)
    result = two_sample_test(before, after, bandwidth=1.0, rng=0)
    points = np.linspace(-7.0, 7.0, 401)
    looks = {"before": (before, GRAY), "after": (after, BLUE)}
    figure = Figure(figsize=(7.5, 6.0), layout="constrained")
    (samples, means), (witness, null) = figure.subplots(2, 2)
    for height, (label, (sample, color)) in enumerate(looks.items()):
        samples.plot(sample, np.full(60, height), "|", color=color, markersize=22, label=label)
        kernel_mean = np.exp(-0.5 * (points[:, None] - sample) ** 2).mean(axis=1)
        means.plot(points, kernel_mean, color=color, linewidth=2, label=label)
    samples.set(title="1. Two samples", ylim=(-0.8, 1.8), yticks=[0, 1])
    samples.set_yticklabels(list(looks))
    means.set(title="2. Their kernel means", ylabel="average of the kernels")
    means.legend(frameon=False)
    witness.axhline(0.0, color="black", linewidth=0.8)
    witness.plot(points, result.witness(points[:, None]), color=BLUE, linewidth=2)
    witness.set(
        title="3. Witness function: first mean minus second",
        ylabel="above 0: more of “before”",
    )
    for ax in (samples, means, witness):
        ax.set(xlabel="measurement", xlim=(-7.0, 7.0))
        ax.spines[["top", "right"]].set_visible(False)
    null.hist(result.null_distribution, bins=40, color=GRAY)
    null.axvline(result.statistic, color=ORANGE, linewidth=2, label="observed")
    null.set(
        title=f"4. MMD² of 999 permutations: p = {result.pvalue:.3f}",
        xlabel="MMD²",
        ylabel="permutations",
    )
    null.set_xlim(0.0, 1.15 * result.statistic)
    null.legend(frameon=False)
    null.spines[["top", "right"]].set_visible(False)
    for ax in figure.axes:
        ax.title.set_fontsize("medium")
    if args.out is not None:
        (args.out / "figures").mkdir(parents=True, exist_ok=True)
        figure.savefig(args.out / "figures" / "how_it_works.png", dpi=120)


if __name__ == "__main__":
    main()
