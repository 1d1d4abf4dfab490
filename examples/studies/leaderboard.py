"""Power beside other tests: "auto", kme and whitened kernels against MMDAgg, MMD-FUSE, dcor and hyppo, paired."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from _charts import figure, rows
from _real import Groups, Pairs
from _rivals import KNOWN, installed, missing
from _study import markdown, run, span, store
from aggregation import MORE_CELLS
from joblib import Parallel, delayed, parallel_config
from scipy.stats import binom, binomtest
from which_estimator import TWO_SAMPLE_CELLS

from shrinktest import Whitened, independence_test, power_study, two_sample_test
from shrinktest._parallel import usable_cores
from shrinktest.power import designs as d
from shrinktest.results.plots.axes import BLUE, GRAY

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME = "leaderboard"
ALPHA = 0.05
OURS = {
    "two-sample": {
        "auto": "auto",
        "kme": "kme",
        "whitened": {"estimator": "kme", "kernel": Whitened()},
    },
    "independence": {
        "auto": "auto",
        "kme": "kme",
        "whitened": {"estimator": "kme", "kernel_x": Whitened(), "kernel_y": Whitened()},
    },
}
TESTS = {"two-sample": two_sample_test, "independence": independence_test}
RESAMPLES = {"two-sample": 299, "independence": 199}
#: Tests that look at quantiles far out, with as many permutations as were published, and as many again.
MORE = {"MMDAgg": 500, "HSICAgg": 500}
#: Slow tests: beyond so many observations the number of data sets is divided by the second number (0: none).
SLOW = {"MGC (hyppo)": (0, 5), "HSICAgg": (50, 0)}
SLOW["MMDAgg"] = SLOW["MMD-FUSE"] = (400, 2)
QUICK = 16  # the largest sample of a quick run


class Cell(NamedTuple):
    """A setting: the group of cells it belongs to, its name, and the data."""

    test: str
    group: str
    name: str
    design: d.Design
    n: int


PUBLISHED_GROUP, GENERIC, REAL = "published settings", "small samples", "real tables"
TWENTY = ("hyppo's twenty, one column", "hyppo's twenty, three columns")
CELLS = [
    *(
        Cell("two-sample", PUBLISHED_GROUP, *cell)
        for cell in (
            ("perturbed uniform, height 0.3", d.PerturbedUniform(1, 2, 0.3), 500),
            ("perturbed uniform, height 0.6", d.PerturbedUniform(2, 2, 0.6), 500),
            ("corners, sd 1.6", d.Corners(scale=1.6), 500),
            ("tilted blobs", d.TiltedBlobs(), 150),
            ("two modes", d.TwoModes(), 200),
            ("sparse shift", d.SparseShift(), 100),
            ("spiked covariance", d.SpikedCovariance(), 100),
            ("thin cube", d.ThinCube(), 100),
            ("bimodal column", d.Bimodal(), 100),
            ("autoregressive", d.Autoregressive(), 100),
            ("spheres", d.Spheres(), 100),
        )
    ),
    *(
        Cell("two-sample", GENERIC, *cell)
        for cell in TWO_SAMPLE_CELLS + MORE_CELLS
        if cell[1].dimension != 50
    ),
    *(
        Cell("two-sample", REAL, name, Groups(name), n)
        for name, n in (
            ("digits, all and 0 1 3 5 7 9", 50),
            ("digits, all and 0 to 5, 7, 9", 200),
            ("breast cancer, four weak columns", 150),
            ("wine, ash and magnesium", 8),
            ("wine, as measured", 12),
            ("diabetes, by sex", 15),
            ("affairs, some and none", 20),
            ("votes of 1996", 100),
        )
    ),
    *(
        Cell("independence", group, name, d.HyppoSimulation(name, dimension=p), n)
        for group, p, n in ((TWENTY[0], 1, 30), (TWENTY[1], 3, 60))
        for name in d.independence.SIMULATIONS
    ),
    *(
        Cell("independence", "others", *cell)
        for cell in (
            ("sine-4pi", d.HyppoSimulation("sine-4pi"), 100),
            ("sine-16pi", d.HyppoSimulation("sine-16pi"), 100),
            ("perturbed dependence, P = 1", d.PerturbedDependence(perturbations=1), 40),
            ("perturbed dependence, P = 2", d.PerturbedDependence(perturbations=2), 100),
            ("Eckerle4", d.EckerleSubsample(bandwidth="median"), 11),
        )
    ),
    *(
        Cell("independence", REAL, name, Pairs(name), n)
        for name, n in (
            ("diabetes: age, blood pressure", 40),
            ("votes: age, income", 60),
            ("wine: alcohol, ash", 40),
            ("schools: teachers' years, salary", 60),
        )
    ),
]
#: Cells whose null twins show the level, with two times as many data sets.
LEVELS = (
    ("shift by 1, one", 2),
    ("shift by 1, larger sample", 10),
    ("step", 1),
)
#: Cell, test, power, data sets it was estimated from (0: not known), source.
PUBLISHED = [
    ("perturbed uniform, height 0.3", 1, "MMDAgg", 0.605, 200, "B23"),
    ("perturbed uniform, height 0.3", 1, "MMD-FUSE", 0.505, 200, "B23"),
    ("perturbed uniform, height 0.6", 2, "MMDAgg", 0.395, 200, "B23"),
    ("perturbed uniform, height 0.6", 2, "MMD-FUSE", 0.485, 200, "B23"),
    ("corners, sd 1.6", 2, "MMDAgg", 0.675, 200, "B23"),
    ("corners, sd 1.6", 2, "MMD-FUSE", 0.635, 200, "B23"),
    ("spiked covariance", 500, "best", 0.99, 0, "SP25"),
    ("thin cube", 500, "best", 0.90, 0, "SP25"),
    ("bimodal column", 1000, "best", 1.00, 0, "SP25"),
]
KEYS = ["group", "cell", "d", "sizes"]


def columns(cell: Cell) -> int:
    """Number of columns of the first sample or variable."""
    return cell.design.sample(0, min(cell.n, 4))[0].shape[1]


def trial(test: str, design, n: int, number: int, wanted: list[str]) -> list[tuple]:
    """Decisions of the tests of others on the data that a power study with seed 0 has in this trial."""
    rows, rivals = [], {label: rival for label, (rival, _) in KNOWN[test].items()}
    data, relabelings = (np.random.SeedSequence(0, spawn_key=(n, 0, number, i)) for i in (0, 1))
    x, y = design.sample(np.random.default_rng(data), n)
    for label in wanted:
        start = time.perf_counter()
        resamples = MORE.get(label, RESAMPLES[test])
        rejected = rivals[label](x, y, ALPHA, np.random.default_rng(relabelings), resamples)
        rows.append((number, label, int(rejected), round(time.perf_counter() - start, 5)))
    return rows


def rivals_of(args, test: str, n: int) -> dict:
    """The tests of others in this run: a quick one leaves out packages, which compile for a minute first."""
    return {
        label: rival
        for label, rival in installed(test).items()
        if _trials(1, label, n) and (not args.quick or KNOWN[test][label][1] == "numpy")
    }


def theirs(args, cell: Cell, design, n: int, trials: int, place: str) -> pd.DataFrame:
    """All decisions of the tests of others in a cell; what a store has is not run again."""
    path = store(args, place)
    path = path and path.with_suffix(".txt")
    lines = (
        path.read_text(encoding="utf-8").splitlines(keepends=True) if path and path.exists() else []
    )
    whole = [line for line in lines if line.endswith("\n")]  # the last one may have been cut off
    if len(whole) < len(lines):
        path.write_text("".join(whole), encoding="utf-8")
    known = [line.rstrip("\n").split("\t") for line in whole]
    rows = [
        (int(number), label, int(rejected), float(seconds))
        for number, label, rejected, seconds in known
    ]
    done = {row[:2] for row in rows}
    tasks = []
    for number in range(trials):
        rivals = [
            label for label in rivals_of(args, cell.test, n) if number < _trials(trials, label, n)
        ]
        if wanted := [label for label in rivals if (number, label) not in done]:
            tasks.append(delayed(trial)(cell.test, design, n, number, wanted))
    with parallel_config("loky", n_jobs=args.workers or usable_cores(), inner_max_num_threads=1):
        run = Parallel(
            return_as="generator_unordered"
        )  # in the processes of the power study, which stay
    for decisions in run(tasks):
        rows += decisions
        if path:
            with path.open("a", encoding="utf-8") as file:
                file.writelines("\t".join(map(str, row)) + "\n" for row in decisions)
    table = pd.DataFrame(rows, columns=["trial", "label", "rejected", "seconds"])
    counted = [
        number < _trials(trials, label, n)
        for number, label in zip(table["trial"], table["label"], strict=True)
    ]
    return table[counted]


def _trials(trials: int, label: str, n: int) -> int:
    beyond, part = SLOW.get(label, (n, 1))
    return trials if n <= beyond else max(2, trials // part) if part else 0


def cell_tables(args, cell: Cell, null: bool) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Rates of all tests in a cell or its null twin, and paired differences between "auto" and the others."""
    n = min(cell.n, QUICK) if args.quick else cell.n
    design = cell.design.null() if null else cell.design
    trials = 2 * args.trials if null else args.trials
    dimension = columns(cell)
    place = f"{cell.test}-{cell.group}-{cell.name}-{dimension}-{n}{'-null' if null else ''}"
    place = "".join(c if c.isalnum() else "-" for c in place)
    result = power_study(
        design,
        OURS[cell.test],
        n,
        alphas=ALPHA,
        n_trials=trials,
        n_resamples=RESAMPLES[cell.test],
        with_null=False,
        store=store(args, place),
        workers=args.workers,
        progress=False,
        rng=0,
    )
    ours = result.pvalues.rename(columns={"estimator": "label"})
    ours["rejected"] = (ours["pvalue"] <= ALPHA).astype(int)
    table = pd.concat(
        [ours[["trial", "label", "rejected"]], theirs(args, cell, design, n, trials, place)]
    )
    decisions = table.pivot(index="trial", columns="label", values="rejected")
    m = max(2, math.floor(n * design.ratio + 0.5))
    sizes = f"{n} + {m}" if cell.test == "two-sample" else str(n)
    labels = {
        "test": cell.test,
        "group": cell.group,
        "cell": cell.name,
        "d": dimension,
        "sizes": sizes,
        "null": null,
    }
    shown_ones = [*OURS[cell.test], *rivals_of(args, cell.test, n)]
    rates = [labels | rate(label, decisions[label].dropna()) for label in shown_ones]
    others = [label for label in shown_ones if label != "auto"]
    return pd.DataFrame(rates), pd.DataFrame(
        [labels | difference(decisions, label) for label in others]
    )


def rate(label: str, rejected) -> dict:
    """The power or level of a test, with its exact interval."""
    count, trials = int(rejected.sum()), len(rejected)
    interval = binomtest(count, trials).proportion_ci(0.95)
    return {
        "label": label,
        "power": count / trials,
        "low": interval.low,
        "high": interval.high,
        "trials": trials,
    }


def difference(decisions: pd.DataFrame, label: str) -> dict:
    """Compare rejections by "auto" alone and by the other test alone, on the same data; exact McNemar test."""
    both = decisions[["auto", label]].dropna()
    only = int((both["auto"] > both[label]).sum()), int((both["auto"] < both[label]).sum())
    pvalue = float(binomtest(only[0], sum(only)).pvalue) if sum(only) else 1.0
    counts = {"label": label, "only_auto": only[0], "only_other": only[1], "trials": len(both)}
    return {**counts, "difference": (only[0] - only[1]) / len(both), "pvalue": pvalue}


def as_dict(arguments) -> dict:
    """Return the keyword arguments of a test, from a dict or from its estimator."""
    return arguments if isinstance(arguments, dict) else {"estimator": arguments}


def cost(args) -> pd.DataFrame:
    """Seconds a call of every test takes on ten columns, in turns, so that all meet the same load."""
    rows, turns = [], 2 if args.quick else 6
    for test, sizes in (("two-sample", (25, 500)), ("independence", (50, 200))):
        for n in (QUICK,) if args.quick else sizes:
            x, y = np.random.default_rng(0).normal(size=(2, n, 10))
            rng = np.random.default_rng(1)
            calls = {
                label: (
                    TESTS[test],
                    (x, y),
                    {"n_resamples": RESAMPLES[test], "rng": 1, "workers": 1} | as_dict(chosen),
                )
                for label, chosen in OURS[test].items()
            }
            for label, rival in rivals_of(args, test, n).items():
                calls[label] = rival, (x, y, ALPHA, rng, MORE.get(label, RESAMPLES[test])), {}
            taken = {label: [] for label in calls}
            for _ in range(turns):
                for label, (function, given, named) in calls.items():
                    start = time.perf_counter()
                    function(*given, **named)
                    taken[label].append(time.perf_counter() - start)
            sizes_text = f"{n} + {n}" if test == "two-sample" else str(n)
            middle = {label: float(np.median(seconds[1:])) for label, seconds in taken.items()}
            rows += [
                {
                    "test": test,
                    "sizes": sizes_text,
                    "label": label,
                    "seconds": s,
                    "ratio": s / middle["kme"],
                }
                for label, s in middle.items()
            ]
    return pd.DataFrame(rows)


# ---------------------------------------------------------------------------------------------- the page


def order(rates: pd.DataFrame) -> list[str]:
    """Return the tests in the order of the tables."""
    return list(dict.fromkeys(rates["label"]))


def wide(rates: pd.DataFrame) -> pd.DataFrame:
    """Return powers, with a row for every setting and a column for every test."""
    cells = list(dict.fromkeys(map(tuple, rates[KEYS].to_numpy())))
    return rates.pivot(index=KEYS, columns="label", values="power").loc[cells, order(rates)]


def shown(
    rates: pd.DataFrame, differences: pd.DataFrame, published: pd.DataFrame, group: str
) -> str:
    """Return the powers of a group of settings; bold above "auto", italic below it, where McNemar p < 0.01."""
    powers = wide(rates[rates["group"] == group])
    text = powers.map("{:.2f}".format).where(powers.notna(), "")
    for row in differences[
        (differences["group"] == group) & (differences["pvalue"] < 0.01)
    ].to_dict("records"):
        mark = "**" if row["difference"] < 0 else "*"
        place = tuple(row[key] for key in KEYS), row["label"]
        text.loc[place] = f"{mark}{text.loc[place]}{mark}"
    text = text.reset_index().drop(columns="group")
    known = [
        "; ".join(
            f"{row['label']} {row['power']:.2f} [{row['source']}]"
            for row in published[(published["cell"] == cell) & (published["d"] == columns)].to_dict(
                "records"
            )
        )
        for cell, columns in zip(text["cell"], text["d"], strict=True)
    ]
    text = text.assign(published=known) if group == PUBLISHED_GROUP else text
    return markdown(text.rename(columns={"cell": "data"}))


def behind(differences: pd.DataFrame) -> pd.DataFrame:
    """Return where a competitor is ahead of "auto" by more than 0.05 with p < 0.01, the largest lead first."""
    rivals = [label for known in KNOWN.values() for label in known]
    theirs = differences[differences["label"].isin(rivals)]
    return theirs[(theirs["difference"] < -0.05) & (theirs["pvalue"] < 0.01)].sort_values(
        "difference"
    )


def means(rates: pd.DataFrame) -> str:
    """Return a table of mean powers by group, and over all settings."""
    powers = wide(rates).dropna(axis=1)  # tests that were run in every setting
    groups = powers.groupby(level="group", sort=False)
    table = groups.mean().map("{:.2f}".format)
    table.insert(0, "settings", groups.size())
    table.loc["all"] = [len(powers), *powers.mean().map("{:.2f}".format)]
    return markdown(table.rename_axis("group").reset_index())


def listed(ahead: pd.DataFrame, settings: int) -> str:
    """Say in how many settings a competitor is ahead, and the three largest leads."""
    if ahead.empty:
        return f"No competitor's power exceeds that of `auto` by more than 0.05 (McNemar p < 0.01) in any of {settings} settings."
    first = "; ".join(
        f"{row['label']} by {-row['difference']:.2f} ({_where(row)})"
        for row in ahead.drop_duplicates(KEYS).head(3).to_dict("records")
    )
    return (
        "The power of a competitor exceeds that of `auto` by more than 0.05 (McNemar p < 0.01) in "
        f"{len(ahead.drop_duplicates(KEYS))} of {settings} settings. The largest differences, over the data sets on which both ran, are: {first}."
    )


def _where(row) -> str:
    size = "n = " if row["test"] == "independence" else ""
    return f"{row['cell']}, d = {row['d']}, {size}{row['sizes']}"


def reproduced(rates: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """Return the published powers of the competitors written for this study, with ours."""
    both = rates.merge(published, on=["cell", "d", "label"], suffixes=("", "_published"))
    power = [f"{r.power:.3f} [{r.low:.3f}, {r.high:.3f}]" for r in both.itertuples()]
    names = {
        "data": both["cell"],
        "d": both["d"],
        "test": both["label"],
        "power [95% interval]": power,
    }
    return pd.DataFrame(
        {**names, "published": both["power_published"], "source": "[" + both["source"] + "]"}
    )


def times(table: pd.DataFrame, test: str) -> str:
    """Return a table of times relative to kme."""
    rows = table[table["test"] == test]
    sizes = list(dict.fromkeys(rows["sizes"]))
    ratios = rows.pivot(index="label", columns="sizes", values="ratio").loc[order(rows), sizes]
    return markdown(
        ratios.map("{:.1f}".format).replace("nan", "-").rename_axis("test").reset_index()
    )


def values(tables) -> dict:
    """Return the numbers, tables and claims of the section."""
    every, differences, published = tables[""], tables["differences"], tables["published"]
    power = every[~every["null"]]
    paired = differences[~differences["null"]]
    null = every[every["null"]]
    two, both = (power[power["test"] == test] for test in OURS)
    means_of = {"two": wide(two).dropna(axis=1).mean(), "pairs": wide(both).dropna(axis=1).mean()}
    found = {"settings_two": len(wide(two)), "settings_pairs": len(wide(both))}
    for key, mean in means_of.items():
        rivals = mean.drop([label for test in OURS for label in OURS[test] if label in mean])
        found |= {
            f"auto_{key}": f"{mean['auto']:.2f}",
            f"rival_{key}": rivals.idxmax(),
            f"best_{key}": f"{rivals.max():.2f}",
        }
    trials = two["trials"].max()
    few = power.groupby("label")["trials"].min()
    aggregated = wide(two)[
        [label for label in ("MMDAgg", "MMD-FUSE") if label in set(two["label"])]
    ]
    shifted = wide(two[two["cell"].str.contains("shift")])
    lost = shifted["kme"] - shifted["auto"]
    low, high = (binom.ppf(q, null["trials"], ALPHA) / null["trials"] for q in (0.0005, 0.9995))

    def shown_of(rates: pd.DataFrame, group: str) -> str:
        pairs = paired[paired["test"].isin(rates["test"])]
        return shown(rates, pairs, published, group)

    return {
        **found,
        "drawn": all(mean.idxmax() == "auto" for mean in means_of.values()),
        "behind": len(behind(paired).drop_duplicates(KEYS)),
        "trials": trials,
        "fewer": ", ".join(f"{count} for {label}" for label, count in few[few < trials].items()),
        "standard_error": f"{0.5 / trials**0.5:.3f}",
        "permutations_two": RESAMPLES["two-sample"],
        "permutations_pairs": RESAMPLES["independence"],
        "permutations_aggregated": MORE["MMDAgg"],
        "means_two": means(two),
        "leads_two": listed(behind(paired[paired["test"] == "two-sample"]), len(wide(two))),
        "aggregated": f"{aggregated.max(axis=1).mean():.2f}",
        "shifts": len(lost),
        "lost_to_shifts": f"{lost.mean():.3f}",
        "most_lost_to_shifts": f"{lost.max():.3f}",
        "published_two": shown_of(two, PUBLISHED_GROUP),
        "real_two": shown_of(two, REAL),
        "means_pairs": means(both),
        "leads_pairs": listed(behind(paired[paired["test"] == "independence"]), len(wide(both))),
        "other_pairs": shown_of(both, "others"),
        "real_pairs": shown_of(both, REAL),
        "reproduced": markdown(reproduced(two, published)),
        "inside": int(null["power"].between(low, high).sum()),
        "levels": len(null),
        "level_rates": span(null["power"]),
        "times_two": times(tables["times"], "two-sample"),
        "times_pairs": times(tables["times"], "independence"),
    }


LOOKS = {
    "kme": ("o", GRAY),
    "energy": ("v", "#56B4E9"),
    "distance covariance (dcor)": ("v", "#56B4E9"),
    "Hsic (hyppo)": ("^", "#CC79A7"),
    "MGC (hyppo)": ("P", "#F0B400"),
    "HSICAgg": ("D", "#000000"),
    "MMDAgg": ("D", "#000000"),
    "MMD-FUSE": ("X", "#009E73"),
    "auto": ("s", BLUE),
}


def chart(tables):
    """Draw the power of the tests in every setting, a figure for two samples and one for independence."""
    return {
        "": powers_chart(tables[""], "two-sample"),
        "_independence": powers_chart(tables[""], "independence"),
    }


def powers_chart(rates: pd.DataFrame, test: str) -> Figure:
    """Draw a row for every setting, sorted by the lead of auto over the best other test, and a dot for every test."""
    powers = wide(rates[(rates["test"] == test) & ~rates["null"]])
    drawn = [label for label in LOOKS if label in powers]
    others = [label for label in drawn if label not in ("auto", "kme")]
    lead = powers["auto"] - powers[others].max(axis=1)
    powers = powers.loc[lead.sort_values(ascending=False, kind="stable").index]
    made, ax = figure(1.2 + 0.25 * len(powers), width=8.0)
    for label in drawn:
        marker, color = LOOKS[label]
        ax.plot(
            powers[label],
            range(len(powers)),
            marker,
            color=color,
            label=label,
            markersize=5.5,
            alpha=0.9,
        )
    names = [
        f"{cell}, d = {columns}, {sizes}" if test == "two-sample" else f"{cell}, n = {sizes}"
        for _, cell, columns, sizes in powers.index
    ]
    rows(ax, names)
    behind = int((lead >= 0.0).sum())
    ax.axhline(behind - 0.5, color=GRAY, linewidth=0.8, linestyle=":")
    ax.text(1.04, behind - 0.6, "auto ahead", va="bottom", fontsize="small")
    ax.text(1.04, behind - 0.4, "another\ntest ahead", va="top", fontsize="small")
    ax.set(xlabel="power at the 5% level", xlim=(-0.02, 1.02))
    made.legend(
        *ax.get_legend_handles_labels(),
        loc="outside upper center",
        ncols=4,
        frameon=False,
        fontsize="small",
    )
    return made


def measured(args):
    """Return the tables of all settings."""
    for line in missing():
        print(line)
    results = []
    cells = CELLS
    if args.quick:
        groups = dict.fromkeys((cell.test, cell.group) for cell in CELLS)
        cells = [
            cell for group in groups for cell in [cell for cell in CELLS if cell[:2] == group][:3]
        ]
    chosen = [(cell, False) for cell in cells]
    chosen += [(cell, True) for cell in cells if (cell.name, columns(cell)) in LEVELS]
    for i, (cell, null) in enumerate(chosen, 1):
        start = time.perf_counter()
        results.append(cell_tables(args, cell, null))
        print(
            f"cell {i} of {len(chosen)}: {cell.name}, {time.perf_counter() - start:.0f} s",
            flush=True,
        )
    rates, differences = (
        pd.concat(parts, ignore_index=True) for parts in zip(*results, strict=True)
    )
    known = pd.DataFrame(PUBLISHED, columns=["cell", "d", "label", "power", "trials", "source"])
    return {"": rates, "differences": differences, "published": known, "times": cost(args)}


if __name__ == "__main__":
    run(__doc__, NAME, measured, values, chart, trials=500, quick=2)
