"""Power and place of change-point tests beside kernel change points of ruptures and E-divisive, and several changes.

The penalty of ruptures is the .95 quantile of its gain on series of the same law without a change; ruptures is
optional.
"""

from __future__ import annotations

import sys
from functools import partial
from importlib.util import find_spec
from zlib import crc32

import numpy as np
import pandas as pd
from _charts import dots
from _study import claim, markdown, options, parts, write
from statsmodels.stats.proportion import proportion_confint

from shrinktest import change_point_test, change_points
from shrinktest.plots.axes import BLUE, GREY, ORANGE
from shrinktest.power.designs import Changed, CorrelationChange, MeanShift, ScaleChange

NAME = "change_power"
TITLE = "Power and place of change-point tests"
ALPHA, RESAMPLES, ROWS, TRIM = 0.05, 199, 100, 0.05
NEAR = 5  # rows
SHARE = 5  # searches for several changes take longer, and are run on one series for every so many of others

DESIGNS = {
    "a shift of 0.8, in the middle": Changed(MeanShift(dimension=1, shift=0.8)),
    "a shift of 1, after a fifth": Changed(MeanShift(dimension=1, shift=1.0), at=0.2),
    "2.2 times the spread, in the middle": Changed(ScaleChange(dimension=1, scale=2.2)),
    "10 columns, a shift of 1.2": Changed(MeanShift(dimension=10, shift=1.2)),
    "10 columns, 1.35 times the spread": Changed(ScaleChange(dimension=10, scale=1.35)),
    "5 columns, correlations of .6": Changed(CorrelationChange(dimension=5, correlation=0.6)),
}
OURS = {
    "kme": {},
    "whitened": {"kernel": "whitened"},
    "energy kernel": {"kernel": "energy"},
    "auto": {"estimator": "auto"},
}
SEVERAL = {
    "none": (150, ()),
    "one, of 1.5": (150, ((75, 1.5),)),
    "two, of 2 and back": (150, ((50, 2.0), (100, 0.0))),
    "three stairs of 2": (200, ((50, 2.0), (100, 4.0), (150, 6.0))),
    "a pulse of 20 rows, of 2.5": (150, ((60, 2.5), (80, 0.0))),
    "a pulse of 10 rows, of 20": (90, ((40, 20.0), (50, 0.0))),
    "five, up and down by 1.8": (240, ((40, 1.8), (80, 0.0), (120, 1.8), (160, 0.0), (200, 1.8))),
}


def ours(x, rng, told) -> tuple[bool, int]:
    """Whether the test rejects, and the place."""
    result = change_point_test(x, rng=rng, n_resamples=RESAMPLES, confidence=None, workers=1, trim=TRIM, **told)
    return result.reject(), result.location


def e_divisive(x, rng) -> tuple[bool, int]:
    """The first split of Matteson and James (2014), between rows before a cut and those from it to any later row."""
    square = (x * x).sum(axis=1)
    distances = np.sqrt(np.maximum(square[:, None] + square - 2.0 * x @ x.T, 0.0))
    n, fewest = len(x), round(TRIM * len(x))
    t = np.arange(n + 1, dtype=float)
    cut, end = np.meshgrid(t, t, indexing="ij")
    inside = (cut >= fewest) & (end - cut >= fewest)
    left, right = np.where(inside, cut, 2.0), np.where(inside, end - cut, 2.0)
    least, place = -np.inf, 0
    reached = 0
    for permutation in range(RESAMPLES + 1):
        order = rng.permutation(n) if permutation else np.arange(n)
        area = np.zeros((n + 1, n + 1))
        area[1:, 1:] = distances[np.ix_(order, order)].cumsum(axis=0).cumsum(axis=1)
        own = np.diagonal(area)
        between = area - own[:, None]
        after = own[None] - 2.0 * area + own[:, None]
        energy = 2.0 * between / (left * right) - own[:, None] / (left * (left - 1)) - after / (right * (right - 1))
        values = np.where(inside, left * right / (left + right) * energy, -np.inf)
        if not permutation:
            least, place = values.max(), int(values.argmax() // (n + 1))
        reached += bool(values.max() >= least - 1e-12)
    return reached <= ALPHA * (RESAMPLES + 1), place


def gain(x) -> tuple[float, int]:
    """How much the best cut lowers the cost of ruptures' kernel method, and where it is."""
    import ruptures

    found = ruptures.KernelCPD(kernel="rbf", min_size=round(TRIM * len(x))).fit(x)
    cut = found.predict(n_bkps=1)[0]
    cost = ruptures.costs.CostRbf().fit(x)
    return cost.error(0, len(x)) - cost.error(0, cut) - cost.error(cut, len(x)), cut


def compared(name, design, trials) -> list[dict]:
    """Rejections and places of all methods on the same series, and on twice as many without a change."""
    seed, rows = crc32(name.encode()), []
    first, _ = design.places(ROWS)
    with_rupture = find_spec("ruptures") is not None
    if with_rupture:  # its penalty is from series of their own
        apart = np.random.default_rng([seed, 2])
        penalty = np.quantile([gain(design.null().sample(apart, ROWS)[0])[0] for _ in range(2 * trials)], 1 - ALPHA)
    for null in (True, False):
        twin = design.null() if null else design
        rng, count = np.random.default_rng([seed, null]), 2 * trials if null else trials
        found: dict[str, list[tuple[bool, int]]] = {}
        for trial in range(count):
            (x,) = twin.sample(rng, ROWS)
            for label, told in OURS.items():
                found.setdefault(label, []).append(ours(x, trial, told))
            found.setdefault("E-divisive", []).append(e_divisive(x, np.random.default_rng(trial)))
            if with_rupture:
                value, cut = gain(x)
                found.setdefault("ruptures, rbf", []).append((value > penalty, cut))
        for label, several in found.items():
            hits, places = np.array([hit for hit, _ in several]), np.array([place for _, place in several])
            low, high = proportion_confint(int(hits.sum()), count, method="beta")
            near = np.abs(places - first) <= NEAR
            row = {"what": "level" if null else "power", "data": name, "method": label, "rejected": float(hits.mean())}
            row |= {"low": low, "high": high, "near": float(near.mean()), "found_near": float((hits & near).mean())}
            rows.append({**row, "trials": count})
    print(f"{name}: done", file=sys.stderr, flush=True)
    return rows


def searched(name, design, trials) -> list[dict]:
    """Series of :func:`compared` in which the test for one change, or the search for several, finds any change."""
    seed, rows = crc32(name.encode()), []
    first, _ = design.places(ROWS)
    shared = {"n_resamples": RESAMPLES, "confidence": None, "workers": 1, "trim": TRIM}
    for null in (True, False):
        twin = design.null() if null else design
        rng, count = np.random.default_rng([seed, null]), 2 * trials if null else trials
        found: dict[str, list[tuple[bool, bool]]] = {"change_point_test": [], "change_points": []}
        for trial in range(count):
            (x,) = twin.sample(rng, ROWS)
            test = change_point_test(x, rng=trial, **shared)
            found["change_point_test"].append((test.reject(), abs(test.location - first) <= NEAR))
            places = change_points(x, rng=trial, n_changes=1, **shared).locations
            found["change_points"].append((places.size > 0, bool((np.abs(places - first) <= NEAR).any())))
        for method, several in found.items():
            hits, near = np.array(several).T
            low, high = proportion_confint(int(hits.sum()), count, method="beta")
            row = {"what": f"search: {'level' if null else 'power'}", "data": name, "method": method}
            row |= {"rejected": float(hits.mean()), "low": low, "high": high, "near": float(near.mean())}
            rows.append({**row, "found_near": float((hits & near).mean()), "trials": count})
    print(f"{name}: searched", file=sys.stderr, flush=True)
    return rows


def counted(name, n, changes, trials) -> list[dict]:
    """How many changes are found, and how many of those that are there."""
    rng, edges = np.random.default_rng(crc32(name.encode())), [at for at, _ in changes]
    mean = np.zeros(n)
    for at, value in changes:
        mean[at:] = value
    many, right, too_many = [], [], []
    for trial in range(trials):
        x = mean + rng.normal(size=n)
        result = change_points(x, rng=trial, n_resamples=RESAMPLES, confidence=None, workers=1)
        many.append(len(result))
        right.append(sum(bool((np.abs(result.locations - at) <= NEAR).any()) for at in edges))
        too_many.append(len(result) > len(edges))
    low, high = proportion_confint(int(np.sum(too_many)), trials, method="beta")
    row = {"what": "several", "data": name, "n": n, "changes": len(edges), "rejected": float(np.mean(too_many))}
    row |= {"low": low, "high": high, "mean_found": float(np.mean(many)), "near": float(np.mean(right))}
    print(f"{name}: {row['rejected']}", file=sys.stderr, flush=True)
    return [{**row, "exactly": float(np.mean(np.array(many) == len(edges))), "trials": trials}]


def measured(args) -> pd.DataFrame:
    """All cells."""
    fewer = max(2, args.trials * 2 // SHARE)
    jobs = [partial(counted, name, *case, fewer if case[1] else 2 * args.trials) for name, case in SEVERAL.items()]
    jobs += [partial(compared, name, design, args.trials) for name, design in DESIGNS.items()]
    jobs += [partial(searched, name, design, fewer) for name, design in DESIGNS.items()]
    return parts(args, NAME, jobs)


def _wide(some: pd.DataFrame, values: str) -> str:
    wide = some.pivot_table(index="data", columns="method", values=values, sort=False).reset_index()
    return markdown(wide)


def rivals_in(methods: list[str]) -> list[str]:
    """The methods of others that were run."""
    return [name for name in ("E-divisive", "ruptures, rbf") if name in methods]


def opening(tables) -> str:
    """What came out, in two sentences."""
    power = tables[""][tables[""]["what"] == "power"]
    found, near = (
        power.groupby("method", sort=False)[column].mean().loc[["auto", *rivals_in(list(power["method"]))]]
        for column in ("rejected", "found_near")
    )
    names = {"auto": "`auto`", "ruptures, rbf": "ruptures"}
    listed = ", ".join(f"{names.get(name, name)} in {100 * share:.0f} %" for name, share in found.items())
    placed = ", ".join(f"{100 * share:.0f} %" for share in near)
    return (
        f"Averaged over {power['data'].nunique()} kinds of change, the change was found by {listed} of the series. "
        f"It was found, and placed to within {NEAR} rows, in {placed}."
    )


def alt(tables) -> str:
    """What the picture shows."""
    power = tables[""][tables[""]["what"] == "power"]
    mean = power.groupby("method")["rejected"].mean()
    return "How often each method finds each kind of change: " + claim(
        "auto is first on average", mean.idxmax() == "auto"
    )


def chart(tables):
    """Power of every method against every kind of change."""
    power = tables[""][tables[""]["what"] == "power"]
    wide = power.pivot_table(index="data", columns="method", values="rejected", sort=False)
    colours = {"auto": ("o", BLUE), "kme": ("o", GREY), "E-divisive": ("s", ORANGE), "ruptures, rbf": ("^", "#009E73")}
    looks = {name: look for name, look in colours.items() if name in wide}
    made = dots(wide[list(looks)], "share of series in which the change is found", looks)
    made.axes[0].set_xlim(0.0, 1.02)
    return made


def page(tables) -> list[str]:
    """What the page says, from all cells."""
    table = tables[""]
    power, level, several = (table[table["what"] == what] for what in ("power", "level", "several"))
    trials = power["trials"].max()
    wide = power.pivot_table(index="data", columns="method", values="rejected", sort=False)
    rivals = rivals_in(list(wide))
    best, auto = wide[rivals].max(axis=1), wide["auto"]
    behind = (best - auto).max()
    ahead = int((auto >= best - 0.05).sum())
    near = power.pivot_table(index="data", columns="method", values="found_near", sort=False)
    searched = table[table["what"].str.startswith("search: ")].copy()
    searched["shown"] = searched["method"] + ": " + searched["what"].str.removeprefix("search: ")
    wide_search = searched.pivot_table(index="data", columns="shown", values="rejected", sort=False)
    lost = wide_search["change_point_test: power"] - wide_search["change_points: power"]
    wide_search = wide_search[sorted(wide_search, key=lambda name: name.endswith("level"))].reset_index()
    return [
        f"{trials} series of {ROWS} rows in every row of the tables, and {level['trials'].max()} more without a "
        f"change; all methods on the same series, level {ALPHA:g}, {RESAMPLES} permutations, no cut nearer to the ends "
        f"than {TRIM:.0%}. `E-divisive` is the first split of Matteson and James (2014) by the energy distance, "
        "written out in the script. `ruptures, rbf` is the kernel method of ruptures with one change. Its penalty is "
        "the .95 quantile of its gain on series of the same law without a change. So it has the level by construction; "
        "with data of one's own that law is not known.",
        "## How often the change is found",
        _wide(power, "rejected"),
        f"`auto` is at most {max(behind, 0.0):.3f} behind the better of the others ({' and '.join(rivals)}). In "
        f"{ahead} of {len(best)} rows it is ahead of it, or behind by .05 at most.",
        f"## How often it is found, with the place right to {NEAR} rows",
        _wide(power, "found_near"),
        "The best of ours is ahead of the best of the others in "
        f"{int((near[list(OURS)].max(axis=1) > near[rivals].max(axis=1)).sum())} "
        f"of {len(near)} rows.",
        "## Without a change",
        _wide(level, "rejected"),
        "## Several changes",
        "`change_points` on series of normal rows with these changes of the mean. `too many`: more changes than there "
        f"are; `right`: changes found within {NEAR} rows, on average.",
        markdown(
            several[["data", "n", "changes", "rejected", "low", "high", "mean_found", "near", "exactly", "trials"]]
            .rename(
                columns={
                    "rejected": "too many",
                    "mean_found": "found",
                    "near": "right",
                    "exactly": "as many as there are",
                    "trials": "data sets",
                }
            )
            .astype({"n": int, "changes": int})
        ),
        "## One change, by the search for several",
        "Intervals take a tenth of the level of `change_points`. On the same series, with the standard mean, the power "
        f"of `change_points` was at most {max(lost.max(), 0.0):.3f} below the power of `change_point_test`. Power is "
        f"from {searched['trials'].min()} series, the level from {searched['trials'].max()} series without a change.",
        markdown(wide_search),
    ]


def main() -> None:
    args = options(__doc__.splitlines()[0], trials=1000, quick=2)
    table = measured(args)
    write(args, NAME, TITLE, page({"": table}), table)


if __name__ == "__main__":
    main()
