"""How soon the monitor finds a change, beside tests of batches and a window with a threshold.

The change begins after 500 rows; found means within the 1500 rows after it.  Tests of batches are corrected for 40
looks, whose number must be known; the window's threshold is meant for one false alarm in 2000 rows.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
from _charts import dots
from _levels import generator
from _streams import CHANGES
from _study import markdown, parts, run

from shrinktest import DriftMonitor, two_sample_test
from shrinktest._machine_code import always
from shrinktest.results.plots.axes import BLUE, GREY, ORANGE

NAME = "monitor_delays"
ALPHA, RUN_LENGTH = 0.05, 10_000
BEFORE, AFTER, BATCH = 500, 1500, 50
SIZES = (50, 200, 1000)
ROWS = 200  # of the reference of the other methods
WINDOW, WINDOWS, MEAN_ROWS = 50, 6000, 2000
RESAMPLES = 999
CHUNK = 20  # streams of a job
NAMES = {
    "monitor": "monitor",
    "run length": f"monitor, `run_length={RUN_LENGTH}`",
    "batches": "MMD test per 50 rows, Bonferroni",
    "window": "window MMD",
}


def stream_of(name, seed, n, before):
    """Draw a reference and a stream with a change after so many rows."""
    rng = generator(f"{name}-{seed}", n)
    first, second = CHANGES[name]
    reference = first(rng, n)
    parts_of_stream = [first(rng, before)] if before else []
    together = [*parts_of_stream, second(rng, AFTER)]
    if isinstance(reference, pd.DataFrame):
        return reference, pd.concat(together, ignore_index=True)
    return reference, np.concatenate(together)


def row(name, n, before, method, alarm, error=None) -> dict:
    """Return the row of a stream: its delay, or that it alarmed before the change."""
    early = alarm is not None and alarm < before
    found = alarm is not None and not early
    return {
        "data": name,
        "n": n,
        "before": before,
        "method": method,
        "early": early,
        "found": found,
        "delay": alarm - before + 1 if found else np.nan,
        "error": np.nan if error is None or not found else error - before,
    }


def monitored(name, n, before, method, first, streams) -> list[dict]:
    """Return the delays of the monitor."""
    rows = []
    bound = {"alpha": ALPHA} if method == "monitor" else {"run_length": RUN_LENGTH}
    with always(compiled=True):
        for seed in range(first, first + streams):
            reference, stream = stream_of(name, seed, n, before)
            monitor = DriftMonitor(reference, rng=seed, **bound)
            for start in range(0, len(stream), 250):
                result = monitor.update(stream[start : start + 250])
                if result.alarm:
                    break
            rows.append(row(name, n, before, method, result.alarm_row, result.change_row))
    return rows


def numbers(rows) -> np.ndarray:
    """Return a table as numbers, categories as indicators, for methods without tables."""
    if isinstance(rows, np.ndarray):
        return rows
    wide = pd.get_dummies(rows, dtype=float) / np.sqrt(2.0)
    return wide.fillna(0.0).to_numpy()


def by_batches(name, first, streams) -> list[dict]:
    """Return the delays of tests of every batch, corrected for their number."""
    looks = (BEFORE + AFTER) // BATCH
    rows = []
    with always(compiled=True):
        for seed in range(first, first + streams):
            reference, stream = stream_of(name, seed, ROWS, BEFORE)
            alarm = None
            for look in range(looks):
                batch = stream[look * BATCH : (look + 1) * BATCH]
                options = {"n_resamples": RESAMPLES, "rng": look, "workers": 1}
                if isinstance(batch, pd.DataFrame):
                    options["nan_policy"] = "indicator"
                result = two_sample_test(reference, batch, **options)
                if result.pvalue <= ALPHA / looks:
                    alarm = (look + 1) * BATCH - 1
                    break
            rows.append(row(name, ROWS, BEFORE, "batches", alarm))
    return rows


def by_window(name, first, streams) -> list[dict]:
    """Return the delays of a sliding window, whose threshold is a quantile over windows drawn from the reference."""
    rows = []
    for seed in range(first, first + streams):
        reference, stream = stream_of(name, seed, ROWS, BEFORE)
        if isinstance(reference, pd.DataFrame):
            both = numbers(pd.concat([reference, stream], ignore_index=True))
        else:
            both = np.concatenate([reference, stream])
        x = both / both[:ROWS].std(axis=0)
        squares = np.square(x).sum(axis=1)
        distances = np.maximum(squares[:, None] + squares - 2.0 * x @ x.T, 0.0)
        width = np.median(distances[:ROWS, :ROWS][np.triu_indices(ROWS, 1)])
        gram = np.exp(-distances / width)
        np.fill_diagonal(gram, 0.0)
        threshold = _threshold(gram[:ROWS, :ROWS], generator(f"window-{seed}", ROWS))
        high = np.flatnonzero(_windows(gram) >= threshold)
        alarm = int(high[0]) + WINDOW - 1 if high.size else None
        rows.append(row(name, ROWS, BEFORE, "window", alarm))
    return rows


def _threshold(gram, rng) -> float:
    """Return the quantile of the distance of random windows of the reference from its other rows."""
    order = np.argsort(rng.random((WINDOWS, ROWS)), axis=1)
    inside = np.zeros((WINDOWS, ROWS))
    np.put_along_axis(inside, order[:, :WINDOW], 1.0, axis=1)
    outside = 1.0 - inside
    products = inside @ gram
    left = ROWS - WINDOW
    distance = (products * inside).sum(axis=1) / (WINDOW * (WINDOW - 1))
    distance += ((outside @ gram) * outside).sum(axis=1) / (left * (left - 1))
    distance -= 2.0 * (products * outside).sum(axis=1) / (WINDOW * left)
    return float(np.quantile(distance, 1.0 - 1.0 / MEAN_ROWS))


def _windows(gram) -> np.ndarray:
    """Return the distance of every window of the stream from the reference."""
    sums = np.zeros((len(gram) - ROWS + 1,) * 2)
    sums[1:, 1:] = gram[ROWS:, ROWS:].cumsum(axis=0).cumsum(axis=1)
    ends = np.arange(WINDOW, len(sums))
    begins = ends - WINDOW
    within = sums[ends, ends] - sums[begins, ends] - sums[ends, begins] + sums[begins, begins]
    across = np.concatenate([[0.0], np.cumsum(gram[ROWS:, :ROWS].mean(axis=1))])
    own = gram[:ROWS, :ROWS].sum() / (ROWS * (ROWS - 1))
    return within / (WINDOW * (WINDOW - 1)) + own - 2.0 * (across[ends] - across[begins]) / WINDOW


def chunks(trials):
    """Return the first and the number of streams of every job."""
    return [(first, min(CHUNK, trials - first)) for first in range(0, trials, CHUNK)]


def measured(args) -> pd.DataFrame:
    """Return a row for every change and method."""
    half = max(1, args.trials // 2)
    cases = [(n, BEFORE, "monitor") for n in SIZES]
    cases += [(ROWS, 0, "monitor"), (ROWS, BEFORE, "run length")]
    jobs = [
        partial(monitored, name, *case, *chunk)
        for name in CHANGES
        for case in cases
        for chunk in chunks(args.trials)
    ]
    for method in (by_batches, by_window):
        jobs += [partial(method, name, *chunk) for name in CHANGES for chunk in chunks(half)]
    every = parts(args, NAME, jobs)
    rows = []
    for key, some in every.groupby(["data", "n", "before", "method"], sort=False):
        left = some[~some["early"]]
        delays = left["delay"].fillna(np.inf).to_numpy()
        median, most = (
            np.quantile(delays, [0.5, 0.9], method="lower") if len(left) else (np.nan,) * 2
        )
        rows.append(
            {
                **dict(zip(("data", "n", "before", "method"), key, strict=True)),
                "early": some["early"].mean(),
                "found": left["found"].mean(),
                "median": median,
                "ninety": most,
                "error": left["error"].abs().median(),
                "trials": len(some),
            }
        )
    return pd.DataFrame(rows)


def cell(row) -> str:
    """Return the median delay, its 90% quantile, and the share that is found if it is not all."""
    if not np.isfinite(row.median):
        return f"found {row.found:.2f}"
    most = f"{row.ninety:.0f}" if np.isfinite(row.ninety) else "-"
    share = f", found {row.found:.2f}" if row.found < 0.995 else ""
    return f"{row.median:.0f} [{most}]{share}"


def wide(table, key, names) -> pd.DataFrame:
    """Return a table with a row for every change, and a column for every value of a key."""
    cells = table.assign(cell=[cell(row) for row in table.itertuples()])
    made = cells.pivot(index="data", columns=key, values="cell").reindex(list(CHANGES))
    return made[list(names)].rename(columns=names).rename_axis("change", axis=0).reset_index()


def chart(tables):
    """Draw the median delay of every method for every kind of change."""
    table = tables[""]
    some = table[(table["n"] == ROWS) & (table["before"] == BEFORE)]
    delays = some.pivot(index="data", columns="method", values="median").reindex(list(CHANGES))
    delays = delays.replace(np.inf, np.nan)
    looks = {
        "monitor": ("o", BLUE),
        "run length": ("s", BLUE),
        "batches": ("D", ORANGE),
        "window": ("^", GREY),
    }
    plain = {method: NAMES[method].replace("`", "") for method in looks}
    delays = delays[list(looks)].rename(columns=plain)
    made = dots(
        delays, "median rows until found", {plain[key]: look for key, look in looks.items()}
    )
    made.axes[0].set_xlim(0.0, None)
    return made


def values(tables) -> dict:
    """Return the numbers, tables and claims of the section."""
    table = tables[""]
    late = table[(table["before"] == BEFORE) & (table["method"] == "monitor")]
    methods = table[(table["n"] == ROWS) & (table["before"] == BEFORE)]
    mine = late[late["n"] == ROWS].set_index("data")
    batches = methods[methods["method"] == "batches"].set_index("data")
    small, large, _, _, _, rare, diffuse = CHANGES
    at_start = table[(table["before"] == 0) & (table["method"] == "monitor")]
    starts = at_start.assign(when="at row 0")
    return {
        "rows": ROWS,
        "before": BEFORE,
        "after": AFTER,
        "small": f"{mine.loc[small, 'median']:.0f}",
        "large": f"{mine.loc[large, 'median']:.0f}",
        "diffuse": f"{mine.loc[diffuse, 'median']:.0f}",
        "diffuse_batches": f"{batches.loc[diffuse, 'median']:.0f}",
        "drawn": bool(mine.loc[large, "median"] < mine.loc[small, "median"]),
        "early": round(float((mine["early"] * mine["trials"]).sum())),
        "streams": int(mine["trials"].sum()),
        "methods": markdown(wide(methods, "method", NAMES)),
        "sizes": markdown(wide(late, "n", {n: f"n = {n}" for n in SIZES})),
        "at_start": markdown(wide(starts, "when", {"at row 0": "change from row 0 on"})),
        "errors": f"{mine['error'].min():.0f} to {mine['error'].drop(rare).max():.0f}",
        "error_rare": f"{mine.loc[rare, 'error']:.0f}",
        "trials": mine["trials"].max(),
        "others": methods.loc[methods["method"] == "window", "trials"].max(),
    }


if __name__ == "__main__":
    run(__doc__, NAME, measured, values, chart, trials=200, quick=2)
