"""Level of tests of one series: change points, its two halves, and lags, with and without autocorrelation.

Null data: exchangeable rows, blocks that differ, and autoregressive series; also the coverage of the intervals for the
location of a change.
"""

from __future__ import annotations

import math
from functools import partial
from zlib import crc32

import numpy as np
import pandas as pd
from _levels import ALPHA, autoregressive, periodic, rate
from _levels import chart as level_chart
from _study import markdown, parts, run, span

from shrinktest import independence_test, two_sample_test
from shrinktest.change_point import change_point_test
from shrinktest.permutations.serial_correlation import OrderedRows, automatic_length, lost

NAME = "change_levels"
RESAMPLES = 199
SHARE, PLACED = (
    2,
    8,
)  # exact tests have so many times the data sets of approximate tests, and of intervals
#: What is permuted in series, and how many successive rows move together.
LENGTHS = {"nothing": None, "stretches": "auto", "circular": "whole"}
BOOK = 0.15  # share of the variance lost to stretches from which results have a note


def stationary(rng, n, memory):
    """Draw a stationary series with this lag-1 correlation."""
    return autoregressive(rng, memory, n)


# --- exact: (name, rows, function that draws them, arguments of the test) --------------------------------------------


def normal(rng, n):
    return rng.normal(size=n)


def heavy(rng, n):
    return rng.standard_t(2, size=(n, 3))


def counts(rng, n):
    return rng.poisson(1.0, size=n).astype(float)


def many_columns(rng, n):
    return rng.normal(size=(n, 10))


def weekdays(rng, n):
    """Draw days of the week that differ, without weekends at the start."""
    days = np.sort(rng.normal(size=7)) * 2.0
    return days[day_of(n)] + rng.normal(size=n)


def day_of(n):
    first = np.arange(n // 2) % 4
    return np.concatenate([first, np.arange(n - n // 2) % 7])


EXACT = [
    ("normal", 20, normal, {}),
    ("normal", 100, normal, {}),
    ("normal, epidemic", 60, normal, {"change": "epidemic"}),
    ("t with 2 degrees of freedom, 3 columns", 60, heavy, {}),
    ("counts", 40, counts, {"bandwidth": 1.0}),
    ("10 columns, whitened", 60, many_columns, {"kernel": "whitened"}),
    ("10 columns, by random features", 60, many_columns, {"gram": "rff", "rank": 20}),
    ("normal, auto", 40, normal, {"estimator": "auto"}),
    ("weekdays that differ, blocks", 84, weekdays, {"blocks": day_of}),
]

# --- approximate ---------------------------------------------------------------------------------------------------

MEMORY = (0.3, 0.5, 0.8, 0.95)
SIZES = (100, 200, 400)
INDEPENDENT = {"normal": normal, "t with 2 degrees of freedom, 3 columns": heavy, "counts": counts}
INDEPENDENT["10 columns"] = many_columns
LITTLE = (0.1, 0.2)  # correlations that are hard to detect, in addition to MEMORY
SEEN = (30, 100, 400)  # rows of series whose autocorrelation should be noted
LAGS = range(-5, 6)
PLACES = [
    ("a shift of 1, in the middle", 100, 0.5, 1.0, 1.0),
    ("a shift of 2, in the middle", 100, 0.5, 2.0, 1.0),
    ("a shift of 1, after a fifth", 100, 0.2, 1.0, 1.0),
    ("twice the spread, in the middle", 100, 0.5, 0.0, 2.0),
    ("a shift of 1, in the middle", 400, 0.5, 1.0, 1.0),
    ("a shift of 0.3, in the middle", 100, 0.5, 0.3, 1.0),
]
CHOSEN = [  # locations by a statistic that the data choose
    ("a shift of 1.3, after a third, auto", 100, 0.33, 1.3, 1.0),
    ("half the spread, in the middle, auto", 100, 0.5, 0.0, 0.5),
    ("a shift of 1, in the middle, auto", 300, 0.5, 1.0, 1.0),
]
ENDS = (("interval", "location"), ("until_interval", "until"))
EPIDEMIC = [  # changes of the middle third of the rows
    ("a shift of 2, middle third", 60, 2.0),
    ("a shift of 1.2, middle third", 60, 1.2),
    ("a shift of 1.2, middle third", 150, 1.2),
]


def cell(what: str, test: str, data: str, n: int, design: str, rejected, **more) -> dict:
    """Return a row of the table: a rate with its interval."""
    share = rate(np.sum(rejected), len(rejected))
    level = share.pop("rejected")
    return {
        "what": what,
        "test": test,
        "data": data,
        "n": n,
        "told": design,
        "level": level,
        **share,
        **more,
    }


def generator(*key) -> np.random.Generator:
    return np.random.default_rng(crc32(repr(key).encode()))


def exact(name, n, draw, design, trials) -> list[dict]:
    """Return rejections of exchangeable rows (within blocks), and without the blocks."""
    rng = generator(name, n)
    design = {key: value(n) if callable(value) else value for key, value in design.items()}
    cases = [(", ".join(design) or "nothing", design)]
    if "blocks" in design:
        cases.append(("nothing", {}))
    rejected: list[list[bool]] = [[] for _ in cases]
    for trial in range(trials):
        x = draw(rng, n)
        for (_, arguments), hits in zip(cases, rejected, strict=True):
            result = change_point_test(
                x, rng=trial, n_resamples=RESAMPLES, confidence=None, workers=1, **arguments
            )
            hits.append(result.pvalue <= ALPHA)
    kinds = ("exact", "free")
    return [
        cell(kind, "change point", name, n, label, hits)
        for kind, (label, _), hits in zip(kinds, cases, rejected, strict=False)
    ]


def serial(memory, n, trials) -> list[dict]:
    """Return rejections of stationary series by tests of change points, and of their two halves."""
    rng = generator("series", memory, n)
    rejected: dict[tuple[str, str], list[bool]] = {}
    lengths, noted = [], []
    for trial in range(trials):
        x = stationary(rng, n, memory)[:, None]
        halves = [x[: n // 2], x[n // 2 :]]
        rows = OrderedRows.of(halves)
        lengths.append(automatic_length([rows]))
        noted.append(lost(rows.correlation, lengths[-1]) > BOOK)
        for how, length in LENGTHS.items():
            shared = {
                "rng": trial,
                "n_resamples": RESAMPLES,
                "workers": 1,
                "block_length": length,
                "alpha": 0.5,
            }
            p = change_point_test(x, confidence=None, **shared).pvalue
            rejected.setdefault(("change point", how), []).append(p <= ALPHA)
            rejected.setdefault(("two stretches", how), []).append(
                two_sample_test(*halves, **shared).pvalue <= ALPHA
            )
    more = {"length": float(np.median(lengths)), "noted": float(np.mean(noted))}
    name = f"correlation {memory:g}"
    return [
        cell("series", test, name, n, how, hits, **more) for (test, how), hits in rejected.items()
    ]


def notice(name, draw, n, trials) -> list[dict]:
    """Return rejections by tests that permute single rows, and how often their results note autocorrelation."""
    rng, outcomes = generator("seen", name, n), {}
    for trial in range(trials):
        x, y = (draw(rng, n).reshape(n, -1) for _ in range(2))
        shared = {"rng": trial, "n_resamples": RESAMPLES, "workers": 1}
        results = {
            "change point": change_point_test(x, confidence=None, **shared),
            "two stretches": two_sample_test(x[: n // 2], x[n // 2 :], **shared),
            "two variables": independence_test(x, y, **shared),
        }
        for test, result in results.items():
            noted = any(note.startswith("Successive rows") for note in result.notes)
            outcomes.setdefault(test, []).append((result.pvalue <= ALPHA, noted))
    rows = []
    for test, pairs in outcomes.items():
        rejected, noted = np.array(pairs).T
        more = {"noted": noted.mean(), "silent": (rejected & ~noted).mean()}
        rows.append(cell("seen", test, name, n, "nothing", rejected, **more))
    return rows


def lags(memory, n, trials) -> list[dict]:
    """Return rejections of independent series at any of eleven lags; periodic series for memory None."""
    rng, jointly, alone = generator("lags", memory, n), [], []
    for trial in range(trials):
        if memory is None:
            x, y = periodic(rng, n)
        else:
            x, y = (stationary(rng, n, memory) for _ in range(2))
        result = independence_test(
            x, y, lags=LAGS, block_length="whole", rng=trial, workers=1, n_resamples=n
        )
        jointly.append(result.pvalue <= ALPHA)
        alone.append(bool((result.pvalues <= ALPHA).any()))
    name = "periodic series" if memory is None else f"correlation {memory:g}"
    attainable = math.floor(n * ALPHA / len(LAGS)) * len(LAGS) / n
    return [
        cell("lags", "eleven lags", name, n, "all lags together", jointly, attainable=attainable),
        cell("lags", "eleven lags", name, n, "each by itself", alone),
    ]


def covered(name, n, share, shift, spread, trials, **arguments) -> list[dict]:
    """Return how often the interval covers the location of a change."""
    rng, at = generator("place", name, n), round(share * n)
    results = []
    for trial in range(trials):
        x = rng.normal(size=n)
        x[at:] = shift + spread * x[at:]
        results.append(
            change_point_test(x, rng=trial, n_resamples=RESAMPLES, workers=1, **arguments)
        )
    return [
        _covered(name, n, results, [(result.interval, result.location) for result in results], at)
    ]


def covered_ends(name, n, shift, trials) -> list[dict]:
    """Return how often the intervals cover both ends of an epidemic change."""
    rng, (first, end) = generator("ends", name, n), (n // 3, 2 * n // 3)
    results = []
    for trial in range(trials):
        x = rng.normal(size=n)
        x[first:end] += shift
        results.append(
            change_point_test(x, change="epidemic", rng=trial, n_resamples=RESAMPLES, workers=1)
        )
    starts, ends = (
        [(getattr(result, w), getattr(result, at)) for result in results] for w, at in ENDS
    )
    return [
        _covered(f"{name}, its first row", n, results, starts, first),
        _covered(f"{name}, the row behind it", n, results, ends, end),
    ]


def _covered(name: str, n: int, tests: list, places: list, at: int) -> dict:
    """Return how often the intervals of ``places`` (interval and estimate) cover a change ``at`` a row."""
    hits = np.array([low <= at <= high for (low, high), _ in places])
    rejected = np.array([result.pvalue <= ALPHA for result in tests])
    more = {
        "median_length": float(np.median([high - low + 1 for (low, high), _ in places])),
        "power": float(rejected.mean()),
        "covered_where_found": float(hits[rejected].mean()) if rejected.any() else math.nan,
        "away": float(np.median([abs(place - at) for _, place in places])),
    }
    return cell("cover", "change point", name, n, "interval", hits, **more)


def measured(args) -> pd.DataFrame:
    """Return the rows of all settings."""
    fewer = max(1, args.trials // SHARE)
    series = {
        f"correlation {memory:g}": partial(stationary, memory=memory) for memory in LITTLE + MEMORY
    }
    jobs = [partial(exact, *case, args.trials) for case in EXACT]
    jobs += [partial(lags, memory, n, fewer) for memory in (None, 0.5, 0.8) for n in (220,)]
    jobs += [partial(covered, *case, max(1, args.trials // PLACED)) for case in PLACES]
    jobs += [
        partial(covered, *case, max(1, args.trials // PLACED), estimator="auto") for case in CHOSEN
    ]
    jobs += [partial(covered_ends, *case, max(1, args.trials // PLACED)) for case in EPIDEMIC]
    jobs += [partial(serial, memory, n, fewer) for memory in MEMORY for n in SIZES]
    jobs += [
        partial(notice, name, draw, n, fewer)
        for name, draw in {**INDEPENDENT, **series}.items()
        for n in SEEN
    ]
    return parts(args, NAME, jobs)


def trusted(table: pd.DataFrame) -> pd.DataFrame:
    """Return tests with stretches where fewer than one series in twenty has the note that they are too short."""
    return table[(table["told"] == "stretches") & (table["noted"] < 0.05)]


def kinds_of(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the rows of each part of the study."""
    return dict(iter(table.groupby("what", sort=False)))


def chart(tables):
    """Draw the levels of all tests, by what is permuted."""
    kinds = kinds_of(tables[""])
    series = kinds["series"]
    lagged = kinds["lags"]
    long = series["noted"] < 0.05
    design = series["told"]
    groups = {
        "exchangeable rows": kinds["exact"],
        "weekdays, no blocks": kinds["free"],
        "series: single rows": series[design == "nothing"],
        "series: circular shifts": series[design == "circular"],
        "series: stretches": series[(design == "stretches") & long],
        "series: stretches, noted as short": series[(design == "stretches") & ~long],
        "11 lags, adjusted": lagged[lagged["told"] == "all lags together"],
        "11 lags, unadjusted": lagged[lagged["told"] == "each by itself"],
    }
    wrong = [
        name
        for name in groups
        if name.endswith(("no blocks", "single rows", "circular shifts", "unadjusted", "short"))
    ]
    return level_chart(
        {name: some["level"] for name, some in groups.items()}, series["trials"].max(), wrong
    )


def values(tables) -> dict:
    """Return the numbers, tables and claims of the section."""
    kinds = kinds_of(tables[""])
    exactly = kinds["exact"]
    series = kinds["series"]
    noticed = kinds["seen"]
    places = kinds["cover"]
    single = series.loc[series["told"] == "nothing", "level"]
    independent = noticed[noticed["data"].isin(INDEPENDENT)]
    marked = noticed[noticed["data"].isin([f"correlation {m:g}" for m in MEMORY if m >= 0.5])]
    short = marked[marked["n"] < 100]
    longer = marked[marked["n"] >= 100]
    rates = pd.concat([exactly, kinds["free"]])[["data", "n", "told", "level"]]
    change = series[series["test"] == "change point"]
    halves = series[series["test"] == "two stretches"]
    wide = change.pivot_table("level", ["data", "n"], "told", sort=False)[
        ["nothing", "circular", "stretches"]
    ]
    wide = wide.join(change.groupby(["data", "n"])["noted"].first()).reset_index()
    lagged = kinds["lags"].replace({"told": {"all lags together": "yes", "each by itself": "no"}})
    ends = places[places["data"].str.contains("row")]
    single_changes = places.drop(index=ends.index)
    return {
        "level": f"{ALPHA:g}",
        "exact_levels": span(exactly["level"]),
        "single": span(single),
        "trusted_level": span(trusted(series)["level"]),
        "drawn": exactly["level"].max() < 0.1 < single.min(),
        "exactly_trials": exactly["trials"].max(),
        "series_trials": series["trials"].max(),
        "places_trials": places["trials"].max(),
        "permutations": RESAMPLES,
        "exact": markdown(
            rates.replace({"told": {"nothing": "none"}}).rename(
                columns={"told": "arguments", "level": "Type I error rate"}
            )
        ),
        "series": markdown(
            wide.rename(
                columns={
                    "nothing": "single rows",
                    "circular": "circular shifts",
                    "stretches": "blocks of rows",
                    "noted": "proportion with note",
                }
            )
        ),
        "places": span(trusted(change)["level"]),
        "places_single": span(change.loc[change["told"] == "nothing", "level"]),
        "halves": span(trusted(halves)["level"]),
        "halves_single": span(halves.loc[halves["told"] == "nothing", "level"]),
        "independent_noted": span(independent["noted"]),
        "longer_noted": span(longer["noted"]),
        "longer_silent": span(longer["silent"]),
        "short_noted": span(short["noted"]),
        "short_silent": span(short["silent"]),
        "lags": markdown(
            lagged[["data", "n", "told", "level"]].rename(
                columns={"told": "adjusted", "level": "family-wise error rate"}
            )
        ),
        "coverage": span(single_changes["level"]),
        "coverage_of_ends": span(ends["level"]),
        "coverage_detected": span(single_changes["covered_where_found"]),
        "coverage_of_ends_detected": span(ends["covered_where_found"]),
    }


if __name__ == "__main__":
    run(__doc__, NAME, measured, values, chart, trials=4000, quick=4)
