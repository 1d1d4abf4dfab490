"""Regions in which two samples differ: how often a planted one is named, and family-wise error.

Five designs have a planted region, in which the second sample has more rows, and there are four
controls: no difference, and none with pairs, groups and blocks.  The boxes of ``result.regions()``
are compared with honest halves: a tree grown on one half of the rows, whose nodes are tested on the
other half; and with trees without a test, whose nodes count if the share of a sample is high.  A
region is named if rows in it and rows in the planted one overlap by half or more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from _charts import dots
from _levels import ALPHA, generator, rate
from _levels import region as exact_range
from _study import claim, markdown, parts, run, span
from scipy.stats import hypergeom
from sklearn.tree import DecisionTreeClassifier
from statsmodels.stats.multitest import multipletests

from shrinktest import two_sample_test
from shrinktest.effects.regions import ComparedBoxes
from shrinktest.results.plots.axes import BLUE, ORANGE
from shrinktest.statistics.boxes import Boxes

NAME = "regions"
ROWS = 300  # of each sample
RESAMPLES = 199
CHUNK = 25  # data sets of a job
OVERLAP = 0.5
DEPTH = 3  # of a tree
LEAF = 15  # fewest rows of a node
LEVELS = ("AT", "DE", "FR")
NUMBERS = ("a", "b", "c", "d")
BOXES = "boxes"
HALVES = "honest halves"
THRESHOLD = 0.6  # share of a sample in a node from which a tree without a test names it
ALL_ROWS = "shares in all rows"
OTHER_HALF = "shares in the other half"
TREES = (ALL_ROWS, OTHER_HALF)
NOTHING = "nothing differs"


@dataclass(frozen=True)
class Planted:
    """A region, the columns in which it has sides, and how much more often the second sample is there."""

    inside: Callable[[pd.DataFrame], pd.Series]
    columns: tuple[str, ...]
    moved: float  # share of rows of the second sample that are drawn in the region


DESIGNS = {
    "tail: a > 0.85": Planted(lambda t: t["a"] > 0.85, ("a",), 0.2),
    "middle: 0.4 < a ≤ 0.6": Planted(lambda t: t["a"].between(0.4, 0.6), ("a",), 0.25),
    "corner: a > 0.6 and b > 0.6": Planted(
        lambda t: (t["a"] > 0.6) & (t["b"] > 0.6), ("a", "b"), 0.22
    ),
    "category: a > 0.6 and country = DE": Planted(
        lambda t: (t["a"] > 0.6) & (t["country"] == "DE"), ("a", "country"), 0.22
    ),
    "three: a > 0.5, b ≤ 0.5 and c > 0.5": Planted(
        lambda t: (t["a"] > 0.5) & (t["b"] <= 0.5) & (t["c"] > 0.5), ("a", "b", "c"), 0.22
    ),
}


def rows(rng: np.random.Generator, count: int) -> pd.DataFrame:
    """Draw independent columns, four of numbers and one of categories."""
    table = pd.DataFrame(dict(zip(NUMBERS, rng.uniform(size=(4, count)), strict=True)))
    return table.assign(country=rng.choice(LEVELS, count))


def planted(rng: np.random.Generator, design: Planted) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Draw two samples, of which the second has more rows in a region."""
    first = rows(rng, ROWS)
    second = rows(rng, ROWS)
    pool = rows(rng, 40 * ROWS)
    pool = pool[design.inside(pool)].reset_index(drop=True)
    moved = np.flatnonzero(rng.uniform(size=ROWS) < design.moved)
    second.loc[moved] = pool.iloc[: len(moved)].to_numpy()
    return first, second.astype(first.dtypes.to_dict())


# --- boxes and trees ------------------------------------------------------------------------------


def overlap(first: np.ndarray, second: np.ndarray) -> float:
    """Return the share of the rows in one of two regions that are in both."""
    return float((first & second).sum() / max(1, (first | second).sum()))


def by_boxes(table: pd.DataFrame, design: Planted, seed: int) -> tuple[bool, list, bool]:
    """Return whether the test rejects, the regions, and whether a box that does not differ is clear.

    A region has rows inside, columns, and whether the second sample has more there.  Boxes in
    columns without a planted side do not differ, because columns are independent.
    """
    samples = table[:ROWS], table[ROWS:]
    result = two_sample_test(*samples, estimator="auto", n_resamples=RESAMPLES, rng=seed, workers=1)
    context = result.require_data()
    (variable,) = context.hypothesis.variables
    boxes = Boxes.of(variable.encoding.decoded(variable.points), variable.encoding.names)
    clear = np.flatnonzero(ComparedBoxes.of(boxes, context.draws).adjusted <= ALPHA)
    used = ({side.column for side in boxes.conditions(box)} for box in clear)
    wrong = any(not columns & {*design.columns} for columns in used)
    return result.reject(), boxes_of(result.regions(alpha=ALPHA), table), wrong


def boxes_of(regions, table: pd.DataFrame) -> list:
    """Return the rows, the columns and the direction of regions."""
    made = []
    for region in regions.regions:
        inside = np.logical_and.reduce([holds(side, table) for side in region.conditions])
        made.append((inside, {side.column for side in region.conditions}, region.over == "Y"))
    return made


def holds(side, table: pd.DataFrame) -> np.ndarray:
    """Return in which rows of a table a condition holds."""
    values = table[side.column].to_numpy()
    if side.levels:
        return np.isin(values, side.levels) == side.within
    numbers = values.astype(float)
    return (numbers > side.low) & (numbers <= side.high)


def best_cut(features: np.ndarray, labels: np.ndarray) -> tuple[int, float]:
    """Return the feature and the threshold with the least Gini impurity; -1 without any."""
    size = len(labels)
    best = (labels.mean() * (1.0 - labels.mean()) * size - 1e-9, -1, 0.0)
    for j, values in enumerate(features.T):
        order = np.argsort(values, kind="stable")
        ones = np.cumsum(labels[order])[:-1]
        left = np.arange(1, size)
        right = size - left
        rest = labels.sum() - ones
        impurity = ones * (1.0 - ones / left) + rest * (1.0 - rest / right)
        allowed = (np.diff(values[order]) > 0) & (left >= LEAF) & (right >= LEAF)
        impurity = np.where(allowed, impurity, np.inf)
        place = int(impurity.argmin())
        if impurity[place] < best[0]:
            threshold = float(values[order][place : place + 2].mean())
            best = (float(impurity[place]), j, threshold)
    return best[1], best[2]


def nodes(features: np.ndarray, labels: np.ndarray, every: np.ndarray) -> list:
    """Grow a tree, and return the rows of ``every`` in each node and the features of its path."""
    made = []
    open_nodes = [(np.ones(len(features), bool), np.ones(len(every), bool), frozenset(), 0)]
    while open_nodes:
        inside, every_inside, path, depth = open_nodes.pop()
        if depth:
            made.append((every_inside, path))
        if depth == DEPTH or inside.sum() < 2 * LEAF:
            continue
        feature, threshold = best_cut(features[inside], labels[inside])
        if feature < 0:
            continue
        low = features[:, feature] <= threshold
        low_of_every = every[:, feature] <= threshold
        longer = path | {feature}
        open_nodes.append((inside & low, every_inside & low_of_every, longer, depth + 1))
        open_nodes.append((inside & ~low, every_inside & ~low_of_every, longer, depth + 1))
    return made


def features_of(table: pd.DataFrame) -> np.ndarray:
    """Return the columns as trees compare them, with an indicator of every level."""
    indicators = [table["country"] == level for level in LEVELS]
    return np.column_stack([table[list(NUMBERS)], *indicators]).astype(float)


def half_of(sizes: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    """Draw half of the rows of each sample."""
    order = np.concatenate([rng.permutation(sizes[0]), sizes[0] + rng.permutation(sizes[1])])
    chosen = np.zeros(sum(sizes), bool)
    chosen[order[: sizes[0] // 2]] = True
    chosen[order[sizes[0] : sizes[0] + sizes[1] // 2]] = True
    return chosen


def by_halves(table: pd.DataFrame, sizes: tuple[int, int], rng: np.random.Generator) -> list:
    """Grow a tree on half of the rows of each sample, and test its nodes on the other half."""
    features = features_of(table)
    names = [*NUMBERS, *["country"] * len(LEVELS)]
    labels = np.repeat([0, 1], sizes)
    grown = half_of(sizes, rng)
    tree = nodes(features[grown], labels[grown], features)
    if not tree:
        return []
    rest = ~grown
    pvalues = []
    more = []
    for inside, _ in tree:
        total, drawn, marked = rest.sum(), (inside & rest).sum(), labels[rest].sum()
        seen = (inside & rest & (labels == 1)).sum()
        null = hypergeom(total, marked, drawn)
        pvalues.append(min(1.0, 2.0 * min(null.cdf(seen), null.sf(seen - 1))))
        more.append(seen > null.mean())
    adjusted = multipletests(pvalues, method="holm")[1]
    return [
        (inside, {names[j] for j in path}, up)
        for (inside, path), p, up in zip(tree, adjusted, more, strict=True)
        if p <= ALPHA
    ]


def by_shares(table: pd.DataFrame, grown: np.ndarray, judged: np.ndarray) -> list:
    """Grow a tree on some rows, and return its nodes in which the share of a sample is high.

    Shares are those of other rows, or of the same ones, and nothing is tested.
    """
    features = features_of(table)
    labels = np.repeat([0, 1], ROWS)
    tree = DecisionTreeClassifier(max_depth=DEPTH, min_samples_leaf=LEAF, random_state=0)
    tree.fit(features[grown], labels[grown])
    inside = tree.decision_path(features).toarray().astype(bool)
    made = []
    for node in inside[:, 1:].T:
        share = float(labels[node & judged].mean()) if (node & judged).any() else 0.5
        if max(share, 1.0 - share) >= THRESHOLD:
            made.append((node, set(), share > 0.5))
    return made


# --- trials ---------------------------------------------------------------------------------------


def named(regions: list, truth: np.ndarray) -> bool:
    """Return whether a region with more of the second sample overlaps the planted one."""
    return any(up and overlap(inside, truth) >= OVERLAP for inside, _, up in regions)


def trials_of(label: str, chunk: range) -> list[dict]:
    """Count, over data sets with a planted region, what both methods name."""
    design = DESIGNS[label]
    counts = dict.fromkeys(("rejects", "shown", "named", "wrong", "regions"), 0)
    halves = dict.fromkeys(("shown", "named", "wrong", "regions"), 0)
    both = 0
    for trial in chunk:
        rng = generator(f"{label}, data set {trial}", ROWS)
        first, second = planted(rng, design)
        table = pd.concat([first, second], ignore_index=True)
        truth = design.inside(table).to_numpy()
        rejects, boxes, wrong = by_boxes(table, design, trial)
        counts["rejects"] += rejects
        counts["wrong"] += wrong
        both += rejects and named(boxes, truth)
        trees = by_halves(table, (ROWS, ROWS), rng)
        halves["wrong"] += any(not used & {*design.columns} for _, used, _ in trees)
        for tally, regions in ((counts, boxes), (halves, trees)):
            tally["shown"] += bool(regions)
            tally["named"] += named(regions, truth)
            tally["regions"] += len(regions)
    shared = {"design": label, "trials": len(chunk), "rejects": counts.pop("rejects")}
    return [
        {**shared, "method": BOXES, **counts, "named and rejects": both},
        {**shared, "method": HALVES, **halves, "named and rejects": 0},
    ]


def trees_of(label: str, chunk: range) -> list[dict]:
    """Count what trees without a test name, with a planted region or none."""
    every = np.ones(2 * ROWS, bool)
    counts = {tree: dict.fromkeys(("shown", "named", "regions"), 0) for tree in TREES}
    for trial in chunk:
        truth = ~every
        if label == NOTHING:
            rng = generator(f"rows, {trial}", ROWS)
            first, second, _ = alike(rng)
        else:
            rng = generator(f"{label}, data set {trial}", ROWS)
            first, second = planted(rng, DESIGNS[label])
        table = pd.concat([first, second], ignore_index=True)
        if label != NOTHING:
            truth = DESIGNS[label].inside(table).to_numpy()
        half = half_of((ROWS, ROWS), rng)
        for tree, rows_of_tree in ((ALL_ROWS, (every, every)), (OTHER_HALF, (half, ~half))):
            regions = by_shares(table, *rows_of_tree)
            counts[tree]["shown"] += bool(regions)
            counts[tree]["named"] += named(regions, truth)
            counts[tree]["regions"] += len(regions)
    return [
        {"design": label, "tree": tree, "trials": len(chunk), **tally}
        for tree, tally in counts.items()
    ]


# --- controls: nothing differs --------------------------------------------------------------------


def alike(rng: np.random.Generator) -> tuple:
    """Draw two samples of independent rows."""
    return rows(rng, ROWS), rows(rng, ROWS), {}


def unequal(rng: np.random.Generator) -> tuple:
    """Draw two samples of unequal sizes."""
    return rows(rng, ROWS // 3), rows(rng, ROWS), {}


def pairs(rng: np.random.Generator) -> tuple:
    """Draw pairs of rows that are nearly alike."""
    first = rows(rng, ROWS)
    second = first.copy()
    second[[*NUMBERS]] += 0.1 * rng.normal(size=(ROWS, len(NUMBERS)))
    first[[*NUMBERS]] += 0.1 * rng.normal(size=(ROWS, len(NUMBERS)))
    return first, second, {"paired": True}


def groups(rng: np.random.Generator) -> tuple:
    """Draw groups of five rows with effects of their own."""
    samples = [rows(rng, ROWS) for _ in range(2)]
    for sample in samples:
        effects = rng.normal(size=(ROWS // 5, len(NUMBERS)))
        sample[[*NUMBERS]] += np.repeat(effects, 5, axis=0)
        sample["country"] = np.repeat(rng.choice(LEVELS, ROWS // 5), 5)
    labels = np.repeat(np.arange(2 * ROWS // 5), 5)
    return *samples, {"groups": (labels[:ROWS], labels[ROWS:])}


def blocks(rng: np.random.Generator) -> tuple:
    """Draw blocks that differ, with different shares of both samples."""
    samples = [rows(rng, ROWS) for _ in range(2)]
    labels = [rng.choice(4, ROWS, p=share) for share in ([0.4, 0.3, 0.2, 0.1], [0.25] * 4)]
    for sample, own in zip(samples, labels, strict=True):
        sample[[*NUMBERS]] += 0.5 * own[:, None]
    return *samples, {"blocks": (labels[0], labels[1])}


CONTROLS = {
    "rows": alike,
    "100 and 300 rows": unequal,
    "pairs": pairs,
    "groups of five": groups,
    "blocks that differ": blocks,
}


def controls_of(label: str, chunk: range) -> list[dict]:
    """Count the data sets without a difference in which a region is named."""
    wrong = 0
    for trial in chunk:
        first, second, design = CONTROLS[label](generator(f"{label}, {trial}", ROWS))
        result = two_sample_test(
            first, second, n_resamples=RESAMPLES, rng=trial, workers=1, **design
        )
        wrong += result.regions(alpha=ALPHA).n_clear > 0
    return [{"control": label, "trials": len(chunk), "wrong": wrong}]


def chunks(trials: int) -> list[range]:
    return [range(start, min(start + CHUNK, trials)) for start in range(0, trials, CHUNK)]


def measured(args) -> dict[str, pd.DataFrame]:
    """Return counts with a planted region, and without a difference."""
    some = chunks(args.trials)
    jobs = [partial(trials_of, label, chunk) for label in DESIGNS for chunk in some]
    power = parts(args, NAME, jobs).groupby(["design", "method"], sort=False).sum()
    jobs = [
        partial(controls_of, label, chunk)
        for label in CONTROLS
        for chunk in chunks(2 * args.trials)
    ]
    control = parts(args, f"{NAME}_controls", jobs).groupby("control", sort=False).sum()
    trees = measured_trees(args)
    return {"": power.reset_index(), "controls": control.reset_index(), "trees": trees}


def measured_trees(args) -> pd.DataFrame:
    """Return the counts of trees without a test."""
    jobs = [
        partial(trees_of, label, chunk)
        for label in (*DESIGNS, NOTHING)
        for chunk in chunks((1 + (label == NOTHING)) * args.trials)
    ]
    keys = ["design", "tree"]
    return parts(args, f"{NAME}_trees", jobs).groupby(keys, sort=False).sum().reset_index()


# --- page -----------------------------------------------------------------------------------------


def chart(tables):
    """Draw the share of data sets in which each method names the planted region."""
    table = tables[""].assign(share=lambda t: t["named"] / t["trials"])
    shown = table.pivot(index="design", columns="method", values="share").loc[list(DESIGNS)]
    looks = {BOXES: ("o", BLUE), HALVES: ("D", ORANGE)}
    return dots(shown, "share of data sets in which the planted region is named", looks, 0.5)


def by_trees(table: pd.DataFrame, boxes: pd.DataFrame, control: pd.DataFrame) -> pd.DataFrame:
    """Return how often the planted region is named, or any where nothing differs, by boxes and trees."""
    named_by_boxes = boxes["named"] / boxes["trials"]
    alike = control.set_index("control").loc["rows"]
    lines = []
    for design in (*DESIGNS, NOTHING):
        line = {"design": design}
        if design == NOTHING:
            line["boxes"] = f"{alike['wrong'] / alike['trials']:.0%}"
        else:
            line["boxes"] = f"{named_by_boxes[design]:.0%}"
        for row in table[table["design"] == design].to_dict("records"):
            count = row["shown" if design == NOTHING else "named"]
            regions = row["regions"] / row["trials"]
            line[row["tree"]] = f"{count / row['trials']:.0%} ({regions:.1f} nodes)"
        lines.append(line)
    return pd.DataFrame(lines)


def values(tables) -> dict:
    """Return the numbers, tables and claims of the section."""
    table = tables[""].set_index(["method", "design"])
    boxes, halves = table.loc[BOXES], table.loc[HALVES]
    control = tables["controls"]
    trials = int(boxes["trials"].max())
    given = boxes["named and rejects"] / boxes["rejects"]
    shown = pd.DataFrame(
        {
            "design": boxes.index,
            "test rejects": _percents(boxes["rejects"] / boxes["trials"]),
            "named by boxes": _percents(boxes["named"] / boxes["trials"]),
            "if the test rejects": _percents(given),
            "by honest halves": _percents(halves["named"] / halves["trials"]),
            "regions named": [f"{value:.1f}" for value in boxes["regions"] / boxes["shown"]],
            "wrong box": _rates(boxes["wrong"], trials),
        }
    )
    errors = pd.DataFrame(
        {
            "nothing differs": control["control"],
            "a box is called different": _rates(control["wrong"], int(control["trials"].max())),
        }
    )
    low, high = exact_range(int(control["trials"].max()))
    trees = tables["trees"]
    alone = trees[trees["design"] == NOTHING].set_index("tree")
    all_rows = trees[trees["tree"] == ALL_ROWS].set_index("design").loc[list(DESIGNS)]
    rates = control["wrong"] / control["trials"]
    return {
        "rows": ROWS,
        "trials": trials,
        "resamples": RESAMPLES,
        "named": markdown(shown),
        "given": span(given, ".0%"),
        "errors": markdown(errors),
        "control_trials": int(control["trials"].max()),
        "low": f"{low:.3f}",
        "high": f"{high:.3f}",
        "trees": markdown(by_trees(trees, boxes, control)),
        "threshold": f"{THRESHOLD:.0%}",
        "false_all": f"{alone.loc[ALL_ROWS, 'shown'] / alone.loc[ALL_ROWS, 'trials']:.0%}",
        "false_half": f"{alone.loc[OTHER_HALF, 'shown'] / alone.loc[OTHER_HALF, 'trials']:.0%}",
        "more": claim(
            "If nodes are judged by the rows from which the tree was grown, trees name the planted "
            "region more often than boxes, but among many other nodes.",
            bool(
                (all_rows["named"] > boxes["named"]).all()
                and all_rows["regions"].min() > 3 * trials
            ),
        ),
        "exact": claim(
            "If nothing differs, all rates are in the range of an exact test.",
            bool(rates.between(low, high).all()),
        ),
        "better": claim(
            "Boxes name the planted region more often than honest halves in every design.",
            bool((boxes["named"] > halves["named"]).all()),
        ),
        "most": claim(
            "Where the test rejects, the planted region is named in most data sets of every design.",
            bool((given > 0.5).all()),
        ),
        "held": claim(
            "With a region planted, the rate of wrong boxes is not clearly above the level.",
            all(rate(int(count), trials)["low"] <= ALPHA for count in boxes["wrong"]),
        ),
    }


def _percents(shares) -> list[str]:
    return [f"{share:.0%}" for share in shares]


def _rates(counts, trials: int) -> list[str]:
    rates = [rate(int(count), trials) for count in counts]
    return [f"{row['rejected']:.1%} [{row['low']:.1%}, {row['high']:.1%}]" for row in rates]


if __name__ == "__main__":
    run(__doc__, NAME, measured, values, chart, trials=400, quick=4)
