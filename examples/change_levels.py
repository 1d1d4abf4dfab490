"""Level of tests of one series: change points, two stretches of it, and lags, for rows with and without memory.

Null data: rows of one law, blocks that differ, and autoregressive series; and how often intervals cover the place.
"""

from __future__ import annotations

import math
import sys
from functools import partial
from zlib import crc32

import numpy as np
import pandas as pd
from _charts import levels
from _study import claim, markdown, options, parts, write
from scipy.stats import binom
from statsmodels.stats.proportion import proportion_confint

from shrinktest import independence_test, two_sample_test
from shrinktest.change import change_point_test
from shrinktest.permutations.serial_correlation import OrderedRows, lost, stretch_length

NAME = "change_levels"
TITLE = "Level of change-point tests, of two stretches and of lags"
ALPHA, RESAMPLES = 0.05, 199
SHARE, PLACED = 2, 8  # approximate tests have one data set for every so many of the exact ones, and intervals
BOOK = 0.15  # of the variance that stretches lose: from here on there is a note


def autoregressive(rng, n, memory):
    """A stationary series with this correlation from one row to the next."""
    out = rng.normal(size=n) * math.sqrt(1.0 - memory**2)
    out[0] /= math.sqrt(1.0 - memory**2)
    for t in range(1, n):
        out[t] += memory * out[t - 1]
    return out


# --- exact: (name, rows, how they are drawn, what the test is told) ------------------------------------------------


def normal(rng, n):
    return rng.normal(size=n)


def heavy(rng, n):
    return rng.standard_t(2, size=(n, 3))


def counts(rng, n):
    return rng.poisson(1.0, size=n).astype(float)


def many_columns(rng, n):
    return rng.normal(size=(n, 10))


def weekdays(rng, n):
    """Days of the week that differ, the last ones of the week missing at the start."""
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
LITTLE = (0.1, 0.2)  # correlations that hardly show, beside those of MEMORY
SEEN = (30, 100, 400)  # rows of series whose memory is to be seen
LAGS = range(-5, 6)
PLACES = [
    ("a shift of 1, in the middle", 100, 0.5, 1.0, 1.0),
    ("a shift of 2, in the middle", 100, 0.5, 2.0, 1.0),
    ("a shift of 1, after a fifth", 100, 0.2, 1.0, 1.0),
    ("twice the spread, in the middle", 100, 0.5, 0.0, 2.0),
    ("a shift of 1, in the middle", 400, 0.5, 1.0, 1.0),
    ("a shift of 0.3, in the middle", 100, 0.5, 0.3, 1.0),
]
CHOSEN = [  # places by a statistic that the data choose
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


def cell(what: str, test: str, data: str, n: int, told: str, rejected, **more) -> dict:
    """A row of the table: a share with its interval."""
    hits, trials = int(np.sum(rejected)), len(rejected)
    low, high = proportion_confint(hits, trials, method="beta")
    row = {"what": what, "test": test, "data": data, "n": n, "told": told, "level": hits / trials}
    print(f"{what}: {test}, {data}, {n}: {hits / trials:.4f}", file=sys.stderr, flush=True)
    return {**row, "low": low, "high": high, "trials": trials, **more}


def generator(*key) -> np.random.Generator:
    return np.random.default_rng(crc32(repr(key).encode()))


def exact(name, n, draw, told, trials) -> list[dict]:
    """Rejections of rows that are exchangeable (within blocks), and without the blocks."""
    rng = generator(name, n)
    told = {key: value(n) if callable(value) else value for key, value in told.items()}
    cases = [(", ".join(told) or "nothing", told)]
    if "blocks" in told:
        cases.append(("nothing", {}))
    found: list[list[bool]] = [[] for _ in cases]
    for trial in range(trials):
        x = draw(rng, n)
        for (_, one), into in zip(cases, found, strict=True):
            result = change_point_test(x, rng=trial, n_resamples=RESAMPLES, confidence=None, workers=1, **one)
            into.append(result.pvalue <= ALPHA)
    kinds = ("exact", "free")
    return [
        cell(kind, "change point", name, n, said, hits)
        for kind, (said, _), hits in zip(kinds, cases, found, strict=False)
    ]


def serial(memory, n, trials) -> list[dict]:
    """Rejections of stationary series by tests of change points, and of their two halves."""
    rng, hows = generator("series", memory, n), ("nothing", "stretches", "circular")
    found: dict[tuple[str, str], list[bool]] = {}
    lengths, noted = [], []
    for trial in range(trials):
        x = autoregressive(rng, n, memory)[:, None]
        halves = [x[: n // 2], x[n // 2 :]]
        rows = OrderedRows.of(halves)
        lengths.append(stretch_length("stretches", rows))
        noted.append(lost(rows.correlation, lengths[-1]) > BOOK)
        for how in hows:
            shift = None if how == "nothing" else how
            shared = {"rng": trial, "n_resamples": RESAMPLES, "workers": 1, "shift": shift, "alpha": 0.5}
            p = change_point_test(x, confidence=None, **shared).pvalue
            found.setdefault(("change point", how), []).append(p <= ALPHA)
            found.setdefault(("two stretches", how), []).append(two_sample_test(*halves, **shared).pvalue <= ALPHA)
    more = {"length": float(np.median(lengths)), "noted": float(np.mean(noted))}
    name = f"correlation {memory:g}"
    return [cell("series", test, name, n, how, hits, **more) for (test, how), hits in found.items()]


def seen(name, draw, n, trials) -> list[dict]:
    """Rejections by tests that permute single rows, and how often their results say that rows go together."""
    rng, found = generator("seen", name, n), {}
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
            found.setdefault(test, []).append((result.pvalue <= ALPHA, noted))
    rows = []
    for test, pairs in found.items():
        rejected, noted = np.array(pairs).T
        more = {"noted": noted.mean(), "silent": (rejected & ~noted).mean()}
        rows.append(cell("seen", test, name, n, "nothing", rejected, **more))
    return rows


def lags(memory, n, trials) -> list[dict]:
    """Rejections of independent series at any of eleven lags; periodic ones for memory None."""
    rng, found, alone = generator("lags", memory, n), [], []
    distance = np.minimum(np.arange(n), n - np.arange(n))
    spectrum = np.fft.fft(np.exp(-0.5 * (distance / 2.0) ** 2))
    for trial in range(trials):
        if memory is None:
            x, y = np.fft.ifft(np.fft.fft(rng.normal(size=(2, n))) * spectrum).real
        else:
            x, y = (autoregressive(rng, n, memory) for _ in range(2))
        result = independence_test(x, y, lags=LAGS, shift="circular", rng=trial, workers=1, n_resamples=n)
        found.append(result.pvalue <= ALPHA)
        alone.append(bool((result.pvalues <= ALPHA).any()))
    name = "periodic series" if memory is None else f"correlation {memory:g}"
    attainable = math.floor(n * ALPHA / len(LAGS)) * len(LAGS) / n
    return [
        cell("lags", "eleven lags", name, n, "all lags together", found, attainable=attainable),
        cell("lags", "eleven lags", name, n, "each by itself", alone),
    ]


def covered(name, n, share, shift, spread, trials, **told) -> list[dict]:
    """How often the interval covers the place of a change."""
    rng, at = generator("place", name, n), round(share * n)
    found = []
    for trial in range(trials):
        x = rng.normal(size=n)
        x[at:] = shift + spread * x[at:]
        found.append(change_point_test(x, rng=trial, n_resamples=RESAMPLES, workers=1, **told))
    return [_covered(name, n, found, [(one.interval, one.location) for one in found], at)]


def covered_ends(name, n, shift, trials) -> list[dict]:
    """How often the intervals of both ends of an epidemic change cover them."""
    rng, (first, end) = generator("ends", name, n), (n // 3, 2 * n // 3)
    found = []
    for trial in range(trials):
        x = rng.normal(size=n)
        x[first:end] += shift
        found.append(change_point_test(x, change="epidemic", rng=trial, n_resamples=RESAMPLES, workers=1))
    starts, ends = ([(getattr(one, w), getattr(one, at)) for one in found] for w, at in ENDS)
    return [
        _covered(f"{name}, its first row", n, found, starts, first),
        _covered(f"{name}, the row behind it", n, found, ends, end),
    ]


def _covered(name: str, n: int, tests: list, places: list, at: int) -> dict:
    """How often the intervals of ``places``, each with the place itself, hold a change ``at`` a row."""
    hits = np.array([low <= at <= high for (low, high), _ in places])
    rejected = np.array([one.pvalue <= ALPHA for one in tests])
    more = {
        "median_length": float(np.median([high - low + 1 for (low, high), _ in places])),
        "power": float(rejected.mean()),
        "covered_where_found": float(hits[rejected].mean()) if rejected.any() else math.nan,
        "away": float(np.median([abs(place - at) for _, place in places])),
    }
    return cell("cover", "change point", name, n, "interval", hits, **more)


def measured(args) -> pd.DataFrame:
    """All cells."""
    fewer = max(1, args.trials // SHARE)
    series = {f"correlation {memory:g}": partial(autoregressive, memory=memory) for memory in LITTLE + MEMORY}
    jobs = [partial(exact, *case, args.trials) for case in EXACT]
    jobs += [partial(lags, memory, n, fewer) for memory in (None, 0.5, 0.8) for n in (220,)]
    jobs += [partial(covered, *case, max(1, args.trials // PLACED)) for case in PLACES]
    jobs += [partial(covered, *case, max(1, args.trials // PLACED), estimator="auto") for case in CHOSEN]
    jobs += [partial(covered_ends, *case, max(1, args.trials // PLACED)) for case in EPIDEMIC]
    jobs += [partial(serial, memory, n, fewer) for memory in MEMORY for n in SIZES]
    jobs += [partial(seen, name, draw, n, fewer) for name, draw in {**INDEPENDENT, **series}.items() for n in SEEN]
    return parts(args, NAME, jobs)


def region(trials: int) -> str:
    low, high = binom.ppf([0.0005, 0.9995], trials, ALPHA) / trials
    return f"{low:.4f} to {high:.4f}"


def _wide(some: pd.DataFrame) -> str:
    """Levels of series: a row for every memory and number of rows."""
    wide = some.pivot_table(index=["data", "n"], columns="told", values="level", sort=False)
    more = some.groupby(["data", "n"], sort=False)[["length", "noted", "trials"]].first()
    wide = wide[["nothing", "circular", "stretches"]].join(more).reset_index()
    wide["length"] = wide["length"].map("{:.0f}".format)
    return markdown(wide.rename(columns={"length": "rows in a stretch", "noted": "with a note", "trials": "data sets"}))


def _seen(some: pd.DataFrame) -> str:
    """Whether memory is noted: a row for every law and number of rows, columns for every test."""
    wide = some.pivot_table(index=["data", "n"], columns="test", values=["noted", "silent", "level"], sort=False)
    wide.columns = [f"{test}: {what}" for what, test in wide.columns]
    ordered = [f"{test}: {what}" for test in some["test"].unique() for what in ("level", "noted", "silent")]
    return markdown(wide[ordered].reset_index())


def spread(some: pd.Series) -> str:
    """From the smallest share to the largest, in per cent."""
    return f"{100 * some.min():.1f} to {100 * some.max():.1f} %"


def trusted(table: pd.DataFrame) -> pd.DataFrame:
    """Tests with stretches of series, where fewer than one in twenty has the note that they are too short."""
    return table[(table["what"] == "series") & (table["told"] == "stretches") & (table["noted"] < 0.05)]


def opening(tables) -> str:
    """What came out, in two sentences."""
    table = tables[""]
    exactly = table[table["what"] == "exact"]["level"]
    single = table[(table["what"] == "series") & (table["told"] == "nothing")]["level"]
    return (
        f"Where rows are exchangeable, change-point tests at level {ALPHA:g} rejected in {spread(exactly)} of data "
        f"sets without a change. In series with memory, tests that permute single rows rejected in {spread(single)}, "
        f'and tests with `shift="stretches"` in {spread(trusted(table)["level"])} where the result has no note that '
        "stretches are too short."
    )


def alt(tables) -> str:
    """What the picture shows."""
    table = tables[""]
    single = table[(table["what"] == "series") & (table["told"] == "nothing")]["level"]
    most = table[table["what"] == "exact"]["level"].max()
    return "Shares of true null hypotheses rejected: " + claim(
        "exchangeable rows are near .05, single rows of series with memory far above it", most < 0.1 < single.min()
    )


def chart(tables):
    """Levels of all tests, by what is permuted."""
    table = tables[""]
    kinds, series = table["what"], table[table["what"] == "series"]
    long, told = series["noted"] < 0.05, series["told"]
    groups = {
        "exchangeable rows": table[kinds == "exact"],
        "weekdays, permuted freely": table[kinds == "free"],
        "series: single rows": series[told == "nothing"],
        "series: circular shifts": series[told == "circular"],
        "series: stretches": series[(told == "stretches") & long],
        "series: stretches, noted as short": series[(told == "stretches") & ~long],
        "eleven lags together": table[(kinds == "lags") & (table["told"] == "all lags together")],
        "eleven lags, each by itself": table[(kinds == "lags") & (table["told"] == "each by itself")],
    }
    wrong = [name for name in groups if "freely" in name or "single" in name or "itself" in name or "short" in name]
    return levels({name: some["level"] for name, some in groups.items()}, series["trials"].max(), wrong=wrong)


def page(tables) -> list[str]:
    """What the page says, from all cells."""
    table = tables[""]
    cells = {what: some for what, some in table.groupby("what", sort=False)}
    exactly, free, series = cells["exact"], cells["free"], cells["series"]
    lagged, places, noticed = cells["lags"], cells["cover"], cells["seen"]
    calm_rows = noticed[noticed["data"].isin(INDEPENDENT)]
    marked = noticed[noticed["data"].isin([f"correlation {m:g}" for m in MEMORY if m >= 0.5])]
    short, longer = marked[marked["n"] < 100], marked[marked["n"] >= 100]
    stretched = series[series["told"] == "stretches"]
    long = trusted(table)
    columns = ["data", "n", "told", "level", "low", "high"]
    best = ["" if math.isnan(one) else f"{one:.3f}" for one in lagged["attainable"]]
    shown = lagged.assign(attainable=best)
    calm = lagged[lagged["told"] == "all lags together"]
    return [
        f"{exactly['trials'].max()} null data sets in every row of the first table, {series['trials'].max()} in the "
        f"others ({places['trials'].max()} of the intervals), {RESAMPLES} permutations, level {ALPHA:g}; "
        "intervals are of Clopper and Pearson (95 %). A test of "
        f"level {ALPHA:g} rejects a share of {exactly['trials'].max()} data sets within "
        f"{region(exactly['trials'].max())} "
        f"with probability .999, and of {series['trials'].max()} within {region(series['trials'].max())}.",
        "## Change points: exact",
        markdown(pd.concat([exactly, free])[columns]),
        f"The shares are from {exactly['level'].min():.4f} to {exactly['level'].max():.4f}. The last row is the "
        "test of "
        "the same weekdays without its blocks.",
        "## Change points in series with memory",
        "Autoregressive series without a change; the correlation is that of one row with the next. `nothing`: rows are "
        'permuted one by one; `circular`, `stretches`: what `shift=` says. "With a note" is the share of series for '
        "which the result says that stretches are too short for the memory of the series.",
        _wide(series[series["test"] == "change point"]),
        "## Two stretches of one series",
        "The two halves of the same series.",
        _wide(series[series["test"] == "two stretches"]),
        f"Where fewer than one series in twenty has the note, stretches reject in {spread(long['level'])} of the "
        f"series; elsewhere in up to {100 * stretched['level'].max():.1f} %.",
        "## Is memory seen?",
        "Rows are permuted one by one. `noted` is the share of data sets for which the result has the note that "
        "successive rows are correlated, and `silent` the share that is rejected without this note. The two variables "
        "of a test of independence have the same law.",
        _seen(noticed),
        f"The note is there for {spread(calm_rows['noted'])} of the data sets of independent rows. Where the "
        f"correlation is .5 or more it is there for {spread(longer['noted'])} of the series of at least 100 rows, of "
        f"which {spread(longer['silent'])} are rejected without it. In 30 rows memory often is not seen: the note "
        f"is there for {spread(short['noted'])}, and {spread(short['silent'])} are rejected without it.",
        "## Eleven lags",
        "Independent series, lags from -5 to 5, all n shifts. `attainable` is the largest level up to .05 that "
        "n shifts "
        "allow; `each by itself` is how often any of the p-values is .05 or less that are not adjusted.",
        markdown(shown[["data", "n", "told", "attainable", "level", "low", "high"]]),
        f"All lags together reject in {calm['level'].min():.3f} to {calm['level'].max():.3f} of the data sets.",
        "## Intervals for the place",
        "How often the interval of 95 % covers the place of the change, in all data sets and in those in which "
        "the test "
        "finds the change; `away` is the median distance of the estimate. The interval for each end of an epidemic "
        "change takes the other end as fixed where it was found, and covers less often where the change is hard to "
        "find.",
        markdown(
            places[
                ["data", "n", "level", "low", "high", "covered_where_found", "power", "median_length", "away"]
            ].rename(
                columns={"level": "covered", "covered_where_found": "where found", "median_length": "length (median)"}
            )
        ),
    ]


def main() -> None:
    args = options(__doc__.splitlines()[0], trials=4000, quick=4)
    table = measured(args)
    write(args, NAME, TITLE, page({"": table}), table)


if __name__ == "__main__":
    main()
