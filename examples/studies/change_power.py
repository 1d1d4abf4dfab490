"""Power and accuracy of change-point tests compared with ruptures and E-divisive, and several changes.

The penalty of ruptures, which is optional, is the 0.95 quantile of its gain on series without a change.
"""

from __future__ import annotations

from functools import partial
from importlib.util import find_spec
from zlib import crc32

import numpy as np
import pandas as pd
from _charts import dots
from _levels import rate
from _study import markdown, parts, run, span

from shrinktest import change_point_test, change_points
from shrinktest.power.designs import Changed, CorrelationChange, MeanShift, ScaleChange
from shrinktest.results.plots.axes import BLUE, GRAY, ORANGE

NAME = "change_power"
ALPHA, RESAMPLES, ROWS, TRIM = 0.05, 199, 100, 0.05
NEAR = 5  # rows
SHARE = 5  # searches for several changes, which take longer, have 2/5 of the series

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


def ours(x, rng, arguments) -> tuple[bool, int]:
    """Return whether the test rejects, and the location."""
    result = change_point_test(
        x, rng=rng, n_resamples=RESAMPLES, confidence=None, workers=1, trim=TRIM, **arguments
    )
    return result.reject(), result.location


def e_divisive(x, rng) -> tuple[bool, int]:
    """Return the first split of Matteson and James (2014): rows before a cut against rows from it to a later row."""
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
        energy = (
            2.0 * between / (left * right)
            - own[:, None] / (left * (left - 1))
            - after / (right * (right - 1))
        )
        values = np.where(inside, left * right / (left + right) * energy, -np.inf)
        if not permutation:
            least, place = values.max(), int(values.argmax() // (n + 1))
        reached += bool(values.max() >= least - 1e-12)
    return reached <= ALPHA * (RESAMPLES + 1), place


def gain(x) -> tuple[float, int]:
    """Return how much the best cut lowers the cost of ruptures' kernel method, and the cut."""
    import ruptures

    search = ruptures.KernelCPD(kernel="rbf", min_size=round(TRIM * len(x))).fit(x)
    cut = search.predict(n_bkps=1)[0]
    cost = ruptures.costs.CostRbf().fit(x)
    return cost.error(0, len(x)) - cost.error(0, cut) - cost.error(cut, len(x)), cut


def compared(name, design, trials) -> list[dict]:
    """Return rejections and locations of all methods on the same series, and on twice as many without a change."""
    seed, rows = crc32(name.encode()), []
    first, _ = design.places(ROWS)
    with_rupture = find_spec("ruptures") is not None
    if with_rupture:  # its penalty comes from separate series
        apart = np.random.default_rng([seed, 2])
        penalty = np.quantile(
            [gain(design.null().sample(apart, ROWS)[0])[0] for _ in range(2 * trials)], 1 - ALPHA
        )
    for null in (True, False):
        twin = design.null() if null else design
        rng, count = np.random.default_rng([seed, null]), 2 * trials if null else trials
        results: dict[str, list[tuple[bool, int]]] = {}
        for trial in range(count):
            (x,) = twin.sample(rng, ROWS)
            for label, arguments in OURS.items():
                results.setdefault(label, []).append(ours(x, trial, arguments))
            results.setdefault("E-divisive", []).append(e_divisive(x, np.random.default_rng(trial)))
            if with_rupture:
                value, cut = gain(x)
                results.setdefault("ruptures, rbf", []).append((value > penalty, cut))
        for label, several in results.items():
            near = [(hit, abs(place - first) <= NEAR) for hit, place in several]
            rows.append(
                {
                    "what": "level" if null else "power",
                    "data": name,
                    "method": label,
                    **shares(near),
                }
            )
    return rows


def shares(several: list[tuple[bool, bool]]) -> dict:
    """Return how often a change is detected, located, and both."""
    hits, near = np.array(several).T
    found = rate(hits.sum(), len(several))
    trials = found.pop("trials")
    return {
        **found,
        "near": float(near.mean()),
        "found_near": float((hits & near).mean()),
        "trials": trials,
    }


def searched(name, design, trials) -> list[dict]:
    """Return how often the test for one change, and the search for several, detect any change in the same series."""
    seed, rows = crc32(name.encode()), []
    first, _ = design.places(ROWS)
    shared = {"n_resamples": RESAMPLES, "confidence": None, "workers": 1, "trim": TRIM}
    for null in (True, False):
        twin = design.null() if null else design
        rng, count = np.random.default_rng([seed, null]), 2 * trials if null else trials
        results: dict[str, list[tuple[bool, bool]]] = {"change_point_test": [], "change_points": []}
        for trial in range(count):
            (x,) = twin.sample(rng, ROWS)
            test = change_point_test(x, rng=trial, **shared)
            results["change_point_test"].append((test.reject(), abs(test.location - first) <= NEAR))
            places = change_points(x, rng=trial, n_changes=1, **shared).locations
            results["change_points"].append(
                (places.size > 0, bool((np.abs(places - first) <= NEAR).any()))
            )
        for method, several in results.items():
            what = f"search: {'level' if null else 'power'}"
            rows.append({"what": what, "data": name, "method": method, **shares(several)})
    return rows


def counted(name, n, changes, trials) -> list[dict]:
    """Return how many changes are detected, and how many of the true ones."""
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
    found = {"mean_found": float(np.mean(many)), "near": float(np.mean(right))}
    found["exactly"] = float(np.mean(np.array(many) == len(edges)))
    row = {"what": "several", "data": name, "n": n, "changes": len(edges)}
    share = rate(np.sum(too_many), trials)
    del share["trials"]
    return [{**row, **share, **found, "trials": trials}]


def measured(args) -> pd.DataFrame:
    """Return the rows of all settings."""
    fewer = max(2, args.trials * 2 // SHARE)
    jobs = [
        partial(counted, name, *case, fewer if case[1] else 2 * args.trials)
        for name, case in SEVERAL.items()
    ]
    jobs += [partial(compared, name, design, args.trials) for name, design in DESIGNS.items()]
    jobs += [partial(searched, name, design, fewer) for name, design in DESIGNS.items()]
    return parts(args, NAME, jobs)


def rivals_in(methods: list[str]) -> list[str]:
    """Return the competitors that were run."""
    return [name for name in ("E-divisive", "ruptures, rbf") if name in methods]


def chart(tables):
    """Draw the power of every method against every kind of change."""
    power = tables[""][tables[""]["what"] == "power"]
    wide = power.pivot_table(index="data", columns="method", values="rejected", sort=False)
    colors = {
        "auto": ("o", BLUE),
        "kme": ("o", GRAY),
        "E-divisive": ("s", ORANGE),
        "ruptures, rbf": ("^", "#009E73"),
    }
    looks = {name: look for name, look in colors.items() if name in wide}
    made = dots(
        wide[list(looks)].rename(index=lambda data: data.replace(" .6", " 0.6")), "power", looks
    )
    made.axes[0].set_xlim(0.0, 1.02)
    return made


def enumerated(parts: list[str]) -> str:
    """Return phrases as a list in words."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def values(tables) -> dict:
    """Return the numbers, tables and claims of the section."""
    table = tables[""]
    kinds = dict(iter(table.groupby("what", sort=False)))
    power = kinds["power"]
    level = kinds["level"]
    several = kinds["several"]
    wide = power.pivot_table(index="data", columns="method", values="rejected", sort=False)
    near = power.pivot_table(index="data", columns="method", values="found_near", sort=False)
    rivals = rivals_in(list(wide))
    behind = wide[rivals].max(axis=1) - wide["auto"]
    ahead = near["auto"] > near[rivals].max(axis=1)
    mean = power.groupby("method", sort=False)[["rejected", "found_near"]].mean()
    compared = mean.loc[["auto", *rivals]].rename(
        index={"auto": "`auto`", "ruptures, rbf": "ruptures"}
    )
    compared = compared.sort_values("rejected", ascending=False)
    search = kinds["search: power"].pivot_table("rejected", "data", "method")
    lost = search["change_point_test"] - search["change_points"]
    falsely = kinds["search: level"]
    names = {"rejected": "too many", "mean_found": "mean number detected"}
    names |= {"near": f"mean number within {NEAR} rows", "exactly": "correct number"}
    counts = several[["data", "n", "changes", *names]].rename(columns=names)
    return {
        "changes": len(wide),
        "powers_of_rivals": enumerated(
            [f"{row.rejected:.0%} ({row.Index})" for row in compared.itertuples()]
        ),
        "near": NEAR,
        "located": enumerated([f"{share:.0%}" for share in compared["found_near"]]),
        "drawn": mean["rejected"].idxmax() == "auto",
        "powers": markdown(
            wide.rename(index=lambda data: data.replace(" .6", " 0.6")).reset_index()
        ),
        "most_behind": f"{max(behind.max(), 0.0):.3f}",
        "ahead": int(ahead.sum()),
        "settings": len(near),
        "level": span(level["rejected"]),
        "trials": power["trials"].max(),
        "rows": ROWS,
        "level_trials": level["trials"].max(),
        "permutations": RESAMPLES,
        "counts": markdown(counts.astype({"n": int, "changes": int})),
        "most_lost": f"{max(lost.max(), 0.0):.3f}",
        "falsely": span(falsely.loc[falsely["method"] == "change_points", "rejected"]),
    }


if __name__ == "__main__":
    run(__doc__, NAME, measured, values, chart, trials=1000, quick=2)
