"""Familywise error and power of tests of every pair of samples: ``k_sample_test(...).pairwise()``.

Errors are the share of 4000 data sets, half of them Gaussian and half Cauchy, in which a pair of equal samples is
rejected at the adjusted level .05.  Permutations of all samples, which are valid for a pair only if all samples are
equal, stand beside them.  Powers are those of Shaffer's procedure, of Holm's, and of energy tests with Holm's.
"""

from __future__ import annotations

from functools import partial
from itertools import combinations
from zlib import crc32

import numpy as np
import pandas as pd
from _charts import figure, rows
from _levels import ALPHA, block_data, measured_levels, numbers, rate, region
from _rivals import energy_pvalue
from _study import markdown, parts, percent, run
from statsmodels.stats.multitest import multipletests

from shrinktest import k_sample_test
from shrinktest.permutations.equal_pairs import shaffer
from shrinktest.results.plots.axes import BLUE, GRAY, ORANGE

NAME = "pairwise_levels"
#: 1/120 times 1, 2, 3 or 6 tests: the level can be used up for any of these numbers of equal pairs.
RESAMPLES = 119
SHARED = "on permutations of all rows"
OPTIONS = {"n_resamples": RESAMPLES, "workers": 1}
FAR = 1e3  # beyond doubt


def drawn(rng, heavy, sizes, kinds):
    """Draw samples: samples of one kind have one distribution; kinds are (shift, spread)."""
    return [
        shift + spread * numbers(rng, heavy, size, 2)
        for size, (shift, spread) in zip(sizes, kinds, strict=True)
    ]


def equal(kinds) -> list[int]:
    """Return which pairs have one distribution."""
    pairs = combinations(kinds, 2)
    return [i for i, (first, second) in enumerate(pairs) if first == second]


def error(rng, heavy, sizes, kinds, **options):
    """Return the smallest adjusted p-value of equal pairs."""
    result = k_sample_test(*drawn(rng, heavy, sizes, kinds), rng=rng, **options, **OPTIONS)
    return result.pairwise(effects=False, rng=rng).adjusted[equal(kinds)].min()


def error_in_blocks(rng, heavy, shares, kinds, **options):
    """Return it for samples with block effects, of which ``shares`` have so many rows in every block."""
    labels = [np.repeat(np.arange(len(counts)), counts) for counts in shares]
    pooled = block_data(rng, heavy, np.concatenate(labels), 2)
    samples = np.split(pooled, np.cumsum([*map(len, labels)])[:-1])
    moved = [shift + rows for rows, (shift, _) in zip(samples, kinds, strict=True)]
    result = k_sample_test(*moved, blocks=labels, rng=rng, **options, **OPTIONS)
    return result.pairwise(effects=False, rng=rng).adjusted[equal(kinds)].min()


def error_by_all_rows(rng, heavy, sizes, kinds):
    """Return it for distances of all pairs on shared permutations of all rows, adjusted by Shaffer's procedure."""
    samples = drawn(rng, heavy, sizes, kinds)
    pooled = np.vstack(samples)
    distances = np.linalg.norm(pooled[:, None] - pooled, axis=2)
    width = np.median(distances[np.triu_indices(len(pooled), 1)])
    gram = np.exp(-((distances / width) ** 2) / 2.0)
    own = np.repeat(np.arange(len(sizes)), sizes)
    labels = np.vstack([own, [rng.permutation(own) for _ in range(RESAMPLES)]])
    shares = (labels[:, :, None] == np.arange(len(sizes))) / np.array(sizes)
    inner = np.einsum("bni,bnj->bij", shares, np.einsum("mn,bnj->bmj", gram, shares))
    pairs = list(combinations(range(len(sizes)), 2))
    statistics = np.stack(
        [inner[:, i, i] + inner[:, j, j] - 2.0 * inner[:, i, j] for i, j in pairs], axis=1
    )
    pvalues = (statistics >= statistics[0] * (1.0 - 1e-10)).mean(axis=0)
    return shaffer(pvalues, pairs)[equal(kinds)].min()


SAME, AWAY = (0.0, 1.0), (FAR, 1.0)
WIDE, NARROW = (0.0, FAR), (0.0, 1e-3)
#: Label to sizes and kinds of samples.
CELLS = {
    "3 equal": ((8, 8, 8), (SAME,) * 3),
    "3 equal, sizes differ": ((5, 8, 14), (SAME,) * 3),
    "2 of 3 equal, one shifted": ((8, 8, 8), (SAME, SAME, AWAY)),
    "2 of 3 equal, one wide, sizes differ": ((6, 9, 14), (SAME, SAME, WIDE)),
    "2 of 3 equal, one narrow and large": ((6, 6, 40), (SAME, SAME, NARROW)),
    "4 equal": ((8, 8, 8, 8), (SAME,) * 4),
    "3 of 4 equal, one wide": ((8, 8, 8, 12), (SAME, SAME, SAME, WIDE)),
    "2 and 2 of 4 equal": ((8, 6, 10, 8), (SAME, SAME, AWAY, AWAY)),
    "2 and 2 of 4 equal, spreads": ((8, 6, 10, 8), (SAME, SAME, WIDE, WIDE)),
}
SHRUNKEN = ("2 of 3 equal, one wide, sizes differ", "3 equal, sizes differ", "2 and 2 of 4 equal")
BLOCKS = ((4, 1, 3), (2, 4, 2), (2, 3, 4))


def cases():
    """Yield settings for ``measured_levels``."""
    estimators = {"kme": CELLS, "skmse": SHRUNKEN, "fkmse": SHRUNKEN[:1]}
    for estimator, labels in estimators.items():
        for label in labels:
            sizes, kinds = CELLS[label]
            given = {"sizes": sizes, "kinds": kinds, "estimator": estimator}
            yield label, estimator, error, given
    for label, kinds in (("3 equal", (SAME,) * 3), ("2 of 3 equal", (SAME, SAME, AWAY))):
        given = {"shares": BLOCKS, "kinds": kinds, "estimator": "kme"}
        yield f"{label}, in 3 blocks", "kme", error_in_blocks, given
    for label, (sizes, kinds) in CELLS.items():
        yield label, SHARED, error_by_all_rows, {"sizes": sizes, "kinds": kinds}


# --- power -------------------------------------------------------------------------------------------------------


#: Label to size of every sample and kinds of samples.
DESIGNS = {
    "one of 4 shifted": (20, ((0.0, 1.0),) * 3 + ((1.0, 1.0),)),
    "two of 4 shifted": (20, ((0.0, 1.0),) * 2 + ((1.0, 1.0),) * 2),
    "all 4 shifted": (30, tuple((0.6 * i, 1.0) for i in range(4))),
    "one of 4 wide": (30, ((0.0, 1.0),) * 3 + ((0.0, 2.2),)),
    "two of 3 wide": (30, ((0.0, 1.0), (0.0, 2.2), (0.0, 2.2))),
}
METHODS = ("Shaffer", "Holm", "auto, Shaffer", "energy, Holm")


def adjusted(samples, rng) -> dict[str, np.ndarray]:
    """Return adjusted p-values of every method."""
    out = {}
    for label, estimator in (("", "kme"), ("auto, ", "auto")):
        result = k_sample_test(*samples, estimator=estimator, rng=rng, **OPTIONS)
        pairs = result.pairwise(effects=False, rng=rng)
        out[f"{label}Shaffer"] = pairs.adjusted
        out[f"{label}Holm"] = pairs.with_method("holm").adjusted
    energy = [energy_pvalue(x, y, rng, RESAMPLES) for x, y in combinations(samples, 2)]
    out["energy, Holm"] = multipletests(energy, method="holm")[1]
    return out


def powers(design: str, trials: range) -> list[dict]:
    """Count the pairs that differ and are found, by method; each data set depends on its number only."""
    size, kinds = DESIGNS[design]
    differ = [i for i in range(len(kinds) * (len(kinds) - 1) // 2) if i not in equal(kinds)]
    tallies = {method: np.zeros(2, dtype=int) for method in METHODS}
    for trial in trials:
        rng = np.random.default_rng([crc32(design.encode()), trial])
        samples = drawn(rng, False, (size,) * len(kinds), kinds)
        for method, pvalues in adjusted(samples, rng).items():
            if method in tallies:
                found = pvalues[differ] <= ALPHA
                tallies[method] += (found.sum(), found.all())
    return [
        {"design": design, "method": m, "found": found, "all": every, "trials": len(trials)}
        for m, (found, every) in tallies.items()
    ]


def measured_powers(args) -> pd.DataFrame:
    """Return the share of differing pairs that are found, and of data sets in which all are."""
    trials = max(1, args.trials // 16)
    chunks = [range(start, min(start + 50, trials)) for start in range(0, trials, 50)]
    jobs = [partial(powers, design, chunk) for design in DESIGNS for chunk in chunks]
    counts = parts(args, f"{NAME}_powers", jobs)
    out = []
    for (design, method), some in counts.groupby(["design", "method"], sort=False):
        kinds = DESIGNS[design][1]
        differ = len(kinds) * (len(kinds) - 1) // 2 - len(equal(kinds))
        number = int(some["trials"].sum())
        out.append(
            {
                "design": design,
                "method": method,
                "found": some["found"].sum() / (differ * number),
                **rate(some["all"].sum(), number),
            }
        )
    return pd.DataFrame(out).rename(columns={"rejected": "all"})


def measured(args) -> dict[str, pd.DataFrame]:
    """Return errors and powers."""
    return {"": measured_levels(args, cases(), "how", NAME), "power": measured_powers(args)}


# --- page --------------------------------------------------------------------------------------------------------


def chart(tables):
    """Draw the familywise error of pairs of equal samples, on permutations of the pair and of all rows."""
    table = tables[""]
    names = list(dict.fromkeys(table["test"]))
    made, ax = figure(0.9 + 0.3 * len(names))
    ax.axvspan(0.0, region(int(table["trials"].max()))[1], color="#DDDDDD", label="at most 0.05")
    looks = {
        "kme": (BLUE, "o"),
        "skmse": (GRAY, "s"),
        "fkmse": (GRAY, "^"),
        SHARED: (ORANGE, "D"),
    }
    for how, (color, marker) in looks.items():
        some = table[table["how"] == how]
        places = [names.index(name) for name in some["test"]]
        label = how if how == SHARED else f"on those of the pair, {how}"
        ax.plot(some["level"], places, marker, color=color, markersize=4.0, label=label)
    rows(ax, names)
    ax.set_xlabel("share of data sets in which equal samples are rejected")
    ax.legend(fontsize="small", frameon=False, loc="lower right")
    return made


def values(tables) -> dict:
    """Return the numbers, tables and claims of the section."""
    table, power = tables[""], tables["power"]
    trials = int(table["trials"].max())
    low, high = region(trials)
    own = table[table["how"] != SHARED]
    free = table[table["how"] == SHARED]
    single = own[own["test"].str.startswith("2 of 3")]
    wide = table.pivot(index="test", columns="how", values="level").loc[
        list(dict.fromkeys(table["test"])), ["kme", "skmse", "fkmse", SHARED]
    ]
    columns = (power[name] for name in ("found", "all", "low", "high"))
    texts = ["{:.2f} ({:.2f}, {:.2f} to {:.2f})".format(*row) for row in zip(*columns, strict=True)]
    cells = power.assign(cell=texts)
    shown = cells.pivot(index="design", columns="method", values="cell")
    shown = shown.loc[list(DESIGNS), list(METHODS)]
    gained = power.pivot(index="design", columns="method", values="all")
    return {
        "kept": int((own["level"] <= high).sum()),
        "settings": len(own),
        "highest": percent(own["level"].max()),
        "single": f"{percent(single['level'].min())} to {percent(single['level'].max())}",
        "single_exact": bool(single["level"].between(low, high).all()),
        "ignoring": f"{free['level'].max():.0%}",
        "drawn": bool((own["level"] <= high).all() and free["level"].max() > high),
        "rates": markdown(wide.map(lambda x: "" if np.isnan(x) else f"{x:.3f}").reset_index()),
        "trials": trials,
        "permutations": RESAMPLES,
        "low": f"{low:.4f}",
        "high": f"{high:.4f}",
        "power": markdown(shown.reset_index()),
        "power_trials": int(power["trials"].max()),
        "shaffer_gains": bool((gained["Shaffer"] >= gained["Holm"]).all()),
    }


if __name__ == "__main__":
    run(__doc__, NAME, measured, values, chart, trials=4000, quick=4)
