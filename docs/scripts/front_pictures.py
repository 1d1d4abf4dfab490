"""The pictures and the numbers of the front page, and the picture of the benchmarks, from data files.

Levels beside those of usual shortcuts, mean powers beside other tests, times beside other packages; and the sentences
about them, between marks in README.md.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd
from folders import DOCS

# isort: split
from _charts import band, figure, rows
from _study import percent, read

from shrinktest.results.plots.axes import BLUE, GRAY, ORANGE

DATA = DOCS / "data"
#: The studies of level with one row for every setting.
LEVELS = ("kernel_levels", "new_tests_levels")
#: What a shortcut of the data file is called in the picture.
SHORTCUTS = {
    ("permuting the rows of one Gram matrix", None): "rows of one Gram matrix permuted (HSIC)",
    ("counting > instead of >=", None): "ties not counted, binary data",
    ("rows that are repeated measures", None): "repeated measures taken as independent",
    ("rows that are a time series", None): "time series taken as independent rows",
    (
        "S-KMSE tuned once, on the observed split",
        "bandwidth^2 x 0.02",
    ): "tuned once, narrow bandwidth",
    ("smallest p-value of five bandwidths", None): "smallest p-value of five bandwidths",
    ("p = b/B", "B = 20"): "p = b/B with 20 permutations",
}
NAMES = {
    "MGC (hyppo)": "MGC",
    "distance covariance (dcor)": "distance covariance",
    "Dcorr (hyppo)": "Dcorr",
}
RIVALS = {
    "hyppo MMD": ("s", ORANGE),
    "frouros MMD": ("^", "#CC79A7"),
    "scipy permutation_test, MMD": ("v", "#E69F00"),
}
RIVALS |= {"dcor energy_test": ("D", "#009E73"), "dcor distance_covariance_test": ("D", "#009E73")}
RIVALS |= {"hyppo Hsic": ("s", ORANGE), "scipy permutation_test, HSIC": ("v", "#E69F00")}


def held() -> tuple[pd.Series, int]:
    """The levels of every setting in which a test of ours is valid, and the number of data sets in each."""
    from new_tests_levels import FREE

    tables = [read(DATA / f"{name}.csv") for name in LEVELS]
    levels = pd.concat(tables, ignore_index=True)
    levels = levels[~levels["test"].str.endswith(FREE)]
    (trials,) = levels["trials"].unique()
    return levels["level"], int(trials)


def shortcuts() -> pd.DataFrame:
    """The level of every shortcut of the picture, and that of the valid test on the same data."""
    table, entries = read(DATA / "shortcuts.csv"), []
    for (what, where), name in SHORTCUTS.items():
        chosen = table[(table["what"] == what) & ((table["where"] == where) | (where is None))]
        (row,) = chosen[chosen["alpha"] == 0.05].itertuples()
        entries.append({"name": name, "level": row.level, "valid": row.valid})
    return pd.DataFrame(entries)


def level_picture():
    level, trials = held()
    wrong = shortcuts()
    made, ax = figure(3.9)
    ax.axvspan(*band(0.05, trials), color="#DDDDDD", label="nominal level ± simulation error")
    spread = [0.5 * ((i * 0.618034) % 1.0 - 0.5) for i in range(len(level))]
    ax.plot(level, spread, "o", color=BLUE, markersize=3.5, alpha=0.7, label="shrinktest")
    ax.plot(wrong["valid"], range(1, len(wrong) + 1), "o", color=BLUE, markersize=6)
    ax.plot(
        wrong["level"],
        range(1, len(wrong) + 1),
        "D",
        color=ORANGE,
        markersize=7,
        label="the shortcut",
    )
    rows(ax, [f"permutation tests, {len(level)} settings", *wrong["name"]])
    ax.set(xlabel="false-positive rate at the 5% level", xlim=(0.0, 1.0))
    ax.legend(frameon=False, loc="lower right")
    return made


def powers() -> dict[str, tuple[pd.Series, int]]:
    """Mean power of every test that ran in all settings, by question, and the number of settings."""
    table, means = read(DATA / "leaderboard.csv"), {}
    for test, some in table[~table["null"]].groupby("test", sort=False):
        wide = some.pivot(index=["group", "cell", "d", "sizes"], columns="label", values="power")
        means[test] = wide.dropna(axis=1).mean().sort_values(ascending=False), len(wide)
    return means


def power_picture():
    made, axes = figure(2.9, 2)
    titles = {"two-sample": "two samples", "independence": "independence"}
    for ax, (test, (mean, cells)) in zip(axes, powers().items(), strict=True):
        ours = [label in ("auto", "kme", "whitened") for label in mean.index]
        ax.barh(
            range(len(mean)), mean, color=[BLUE if own else "#C8C8C8" for own in ours], height=0.7
        )
        for place, value in enumerate(mean):
            ax.text(value + 0.01, place, f"{value:.2f}", va="center", fontsize=9)
        rows(ax, [NAMES.get(label, label.replace(" (hyppo)", "")) for label in mean.index])
        ax.grid(visible=False)
        ax.set(title=f"{titles[test]}, {cells} settings", xlabel="mean power", xlim=(0.0, 0.85))
        ax.title.set_fontsize(11)
    return made


def times(question: str = "two-sample") -> pd.DataFrame:
    """Seconds of our test and of others by the number of observations in each sample, warm, on one core."""
    table = read(DATA / "benchmarks.csv")
    table = table[(table["group"] == "peers") & table["name"].str.startswith(f"kme, {question}, ")]
    n = table["name"].str.extract(r"n = (\d+),")[0].astype(int)
    return table.assign(n=n)[["n", "theirs", "value", "ours_seconds", "theirs_seconds"]]


def against_rivals(ax, question: str) -> None:
    """Times of a test and of its rivals on logarithmic axes."""
    table = times(question)
    for label, rival in table.groupby("theirs", sort=False):
        marker, color = RIVALS[label]
        name = label.replace("permutation_test, ", "")
        ax.plot(rival["n"], rival["theirs_seconds"], marker=marker, color=color, label=name)
    ours = table.groupby("n")["ours_seconds"].median()
    ax.plot(ours.index, ours, marker="o", color=BLUE, linewidth=2.5, label="shrinktest")
    logarithmic(ax, list(ours.index), [0.01, 0.1, 1, 10])


def logarithmic(ax, sizes: list[int], seconds: list[float]) -> None:
    """Logarithmic axes with plain numbers."""
    ax.set(xscale="log", yscale="log", ylabel="seconds per test")
    ax.minorticks_off()
    ax.set_xticks(sizes, [f"{n}" for n in sizes])
    ax.set_yticks(seconds, [f"{s:g}" for s in seconds])
    ax.grid(axis="y", linewidth=0.3, color=GRAY)


def speed_picture():
    made, ax = figure(3.6, width=6.0)
    against_rivals(ax, "two-sample")
    ax.set_xlabel("observations in each sample (2 columns, 999 permutations)")
    ax.legend(frameon=False, fontsize="small")
    return made


def benchmark_picture():
    """Two samples and independence beside rivals, and large samples beside the bare matrix product."""
    made, (two, pairs, floor) = figure(3.4, 3, width=11.0)
    for ax, question, title in (
        (two, "two-sample", "two samples, 2 columns"),
        (pairs, "independence", "independence"),
    ):
        against_rivals(ax, question)
        ax.set_title(title)
        ax.set_xlabel("observations in each sample" if ax is two else "pairs")
    table = read(DATA / "benchmarks.csv")
    bare = table["theirs"] == "bare N x N by N x 1000 product"
    table = table[
        (table["group"] == "floor") & table["name"].str.endswith("10-d, B = 999, 1 core") & bare
    ]
    n = table["name"].str.extract(r"kme, (\d+) \+")[0].astype(int)
    floor.plot(
        n, table["theirs_seconds"], color="black", linestyle="--", label="a bare matrix product"
    )
    floor.plot(
        n,
        table["ours_seconds"],
        marker="o",
        color=BLUE,
        linewidth=2.5,
        label="shrinktest, all of the call",
    )
    logarithmic(floor, [50, 500, 4000], [0.001, 0.01, 0.1, 1])
    floor.set_title("two samples, 10 columns")
    floor.set_xlabel("observations in each sample")
    for ax in (two, pairs, floor):
        ax.title.set_fontsize("medium")
        ax.legend(frameon=False, fontsize="small")
    return made


def plain(value: float) -> str:
    """A ratio as people say it: three figures from 100 on, otherwise two, thousands with a comma."""
    return f"{int(float(f'{value:.3g}')):,}" if value >= 100.0 else f"{value:.2g}"


def figures(value: float) -> str:
    """A rate to two places, halves up."""
    return f"{value + 1e-9:.2f}"


def values() -> dict[str, str]:
    """Sentences of the front page about the pictures."""
    level, trials = held()
    inside = int(level.between(*band(0.05, trials)).sum())
    settings = f"all {inside}" if inside == len(level) else f"{inside} of the {len(level)}"
    worst = shortcuts().set_index("name")["level"]
    (two, cells), (pairs, others) = powers().values()
    speed = times()
    most = speed[speed["n"] == speed["n"].max()].sort_values("value")
    few = speed[speed["n"] == speed["n"].min()]
    rivals = [
        f"{row.theirs.split()[0]} {plain(row.value)}".replace(
            "scipy", "scipy with our MMD statistic"
        )
        for row in most.itertuples()
    ]
    whole = read(DATA / "benchmarks.csv").query("group == 'cold'")["value"]
    repeated = worst["repeated measures taken as independent"]
    return {
        "level": "A test at the 5% level should give false positives in 5% of data sets without a real difference. In "
        f"{settings} settings of two simulation studies of the permutation tests ({trials:,} data sets each), the "
        f"rate was within simulation error of 5%; it ranged from {percent(level.min())} to "
        f"{percent(level.max())}. By contrast, treating repeated measures as independent rows gave "
        f"{100 * repeated:.0f}%. Tests that rest on a model or on large samples (numeric `given=`, equivalence, "
        "`closer_test`) are approximate; [their rates](docs/levels.md#assumptions-and-limitations), failures "
        "included, are listed.",
        "power": f'At the 5% level, `estimator="auto"` had mean power {figures(two["auto"])} over {cells} two-sample '
        f"settings (MMDAgg {figures(two['MMDAgg'])}, MMD-FUSE {figures(two['MMD-FUSE'])}, energy test "
        f"{figures(two['energy'])}) and {figures(pairs['auto'])} over {others} independence settings (MGC "
        f"{figures(pairs['MGC (hyppo)'])}, distance covariance "
        f"{figures(pairs['distance covariance (dcor)'])}).",
        "speed": f"With {most['n'].max()} + {most['n'].max()} rows in 2 columns and 999 permutations on one core, "
        f"other packages took longer than shrinktest, by these factors: {', '.join(rivals[:-1])}, and {rivals[-1]}. "
        f"With {few['n'].min()} + {few['n'].min()} rows the factors were {plain(few['value'].min())} to "
        f"{plain(few['value'].max())}, and with start-up included (100 + 100 rows) {plain(whole.min())} to "
        f"{plain(whole.max())}.",
    }


PICTURES = {
    "front_level": level_picture,
    "front_power": power_picture,
    "front_speed": speed_picture,
    "benchmarks": benchmark_picture,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="draw the pictures and write nothing")
    parser.add_argument(
        "--out", type=Path, default=DOCS, help="folder of the figures' folder (default: docs)"
    )
    args = parser.parse_args()
    for name, draw in PICTURES.items():
        picture = draw()
        if not args.quick:
            picture.savefig(args.out / "figures" / f"{name}.png", dpi=130)


if __name__ == "__main__":
    main()
