"""How soon the monitor finds a change, beside tests of batches, conformal martingales, and a window with a threshold.

The change begins after 500 rows; found means within the 1500 rows after it.  Tests of batches are repeated at level .05,
or corrected for 40 looks, whose number must be known.  The window's threshold is meant for one false alarm in 2000 rows.
The martingales are those of MAPIE, on the scores of the monitor.  Streams without a change have the false alarms.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
from _charts import dots
from _levels import generator
from _martingales import MARTINGALES, conformal
from _streams import CHANGES, normal
from _study import markdown, parts, percent, run

from shrinktest import DriftMonitor, two_sample_test
from shrinktest._machine_code import always
from shrinktest.monitoring.scores import Rows
from shrinktest.results.plots.axes import BLUE, GRAY, ORANGE

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
    "uncorrected": "MMD test per 50 rows",
    "batches": "MMD test, corrected",
    "window": "window MMD",
    "jumper": "jumper martingales",
    "plug-in": "plug-in martingales",
}
NOTHING = "no change"
#: Data before and after, and none that changes.
DATA = CHANGES | {NOTHING: (normal, normal)}
SCORES = {
    "columns": 0.5,
    "pairs": 0.15,
    "novelty": 0.1,
}  # with the monitor's shares, and without witnesses


def stream_of(name, seed, n, before):
    """Draw a reference and a stream with a change after so many rows."""
    rng = generator(f"{name}-{seed}", n)
    first, second = DATA[name]
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


def by_batches(name, method, first, streams) -> list[dict]:
    """Return the delays of tests of every batch, at level .05 or corrected for their number."""
    looks = (BEFORE + AFTER) // BATCH
    level, resamples = {"uncorrected": (ALPHA, 199), "batches": (ALPHA / looks, 999)}[method]
    rows = []
    with always(compiled=True):
        for seed in range(first, first + streams):
            reference, stream = stream_of(name, seed, ROWS, BEFORE)
            options = {"n_resamples": resamples, "workers": 1}
            if isinstance(stream, pd.DataFrame):
                texts = stream.columns.difference(stream.select_dtypes("number").columns)
                options["column_types"] = dict.fromkeys(texts, "category")
                options["nan_policy"] = "indicator"
            alarm = None
            for look in range(looks):
                batch = stream[look * BATCH : (look + 1) * BATCH]
                if two_sample_test(reference, batch, rng=look, **options).pvalue <= level:
                    alarm = (look + 1) * BATCH - 1
                    break
            rows.append(row(name, ROWS, BEFORE, method, alarm))
    return rows


def by_martingales(name, first, streams) -> list[dict]:
    """Return the delays of conformal martingales of the monitor's scores, with its shares of alpha.

    They begin with the reference, in a random order for each score.
    """
    rows = []
    for seed in range(first, first + streams):
        reference, stream = stream_of(name, seed, ROWS, BEFORE)
        scores = {key: share for key, share in SCORES.items() if key != "pairs" or "50" not in name}
        fixed = DriftMonitor(reference, scores=scores, rng=seed)._stream
        rng = generator(f"martingales-{seed}", ROWS)
        alarms = {method: [] for method in MARTINGALES}
        for old, new, shares in scores_of(fixed, stream):
            series = np.concatenate([rng.permuted(old, axis=1), new], axis=1)
            pvalues = np.stack([conformal(own, rng) for own in series], axis=1)
            for method, martingale in MARTINGALES.items():
                reached = martingale(pvalues) + np.log(shares) >= -np.log(ALPHA)
                alarms[method] += (np.flatnonzero(reached.any(axis=1))[:1] - old.shape[1]).tolist()
        for method, several in alarms.items():
            rows.append(row(name, ROWS, BEFORE, method, min(several, default=None)))
    return rows


def scores_of(fixed, stream):
    """Return scores (k, n) of the reference rows that they rank, and of a stream, with their shares of alpha."""
    values = fixed.layout.read(stream, "stream")
    rows = Rows(values, fixed.encoder(values), np.empty((len(values), 0)))
    start = 0
    parts_of_scores = []
    for bank in fixed.banks:
        old = bank.urns.values
        shares = fixed.shares[start : start + len(old)]
        parts_of_scores.append((old, bank.function(rows).T, shares))
        start += len(old)
    return parts_of_scores


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
        old, new = x[:ROWS], x[ROWS:]
        distances = _squares(old, x)
        width = np.median(distances[:, :ROWS][np.triu_indices(ROWS, 1)])
        gram = np.exp(-distances / width)
        np.fill_diagonal(gram, 0.0)
        threshold = _threshold(gram[:, :ROWS], generator(f"window-{seed}", ROWS))
        high = np.flatnonzero(_windows(gram, new, width) >= threshold)
        alarm = int(high[0]) + WINDOW - 1 if high.size else None
        rows.append(row(name, ROWS, BEFORE, "window", alarm))
    return rows


def _threshold(gram, rng) -> float:
    """Return the quantile of the distance of random windows of the reference from its other rows."""
    order = np.argpartition(rng.random((WINDOWS, ROWS)), WINDOW, axis=1)
    inside = np.zeros((WINDOWS, ROWS))
    np.put_along_axis(inside, order[:, :WINDOW], 1.0, axis=1)
    outside = 1.0 - inside
    products = inside @ gram
    left = ROWS - WINDOW
    distance = (products * inside).sum(axis=1) / (WINDOW * (WINDOW - 1))
    distance += ((outside @ gram) * outside).sum(axis=1) / (left * (left - 1))
    distance -= 2.0 * (products * outside).sum(axis=1) / (WINDOW * left)
    return float(np.quantile(distance, 1.0 - 1.0 / MEAN_ROWS))


def _squares(x, y) -> np.ndarray:
    """Return squared distances of rows."""
    sums = np.square(x).sum(axis=1)[:, None] + np.square(y).sum(axis=1)
    return np.maximum(sums - 2.0 * x @ y.T, 0.0)


def _windows(gram, new, width) -> np.ndarray:
    """Return the distance of every window of the stream from the reference."""
    ends = np.arange(WINDOW, len(new) + 1)
    within = np.zeros(len(ends))
    for lag in range(1, WINDOW):  # pairs of rows of the stream that are so many rows apart
        pairs = np.exp(-np.square(new[lag:] - new[:-lag]).sum(axis=1) / width)
        sums = np.concatenate([[0.0], np.cumsum(pairs)])
        within += 2.0 * (sums[ends - lag] - sums[ends - WINDOW])
    across = np.concatenate([[0.0], np.cumsum(gram[:, ROWS:].mean(axis=0))])
    own = gram[:, :ROWS].sum() / (ROWS * (ROWS - 1))
    differences = across[ends] - across[ends - WINDOW]
    return within / (WINDOW * (WINDOW - 1)) + own - 2.0 * differences / WINDOW


def chunks(trials):
    """Return the first and the number of streams of every job."""
    return [(first, min(CHUNK, trials - first)) for first in range(0, trials, CHUNK)]


def every_job(trials) -> list[partial]:
    """Return the jobs of all changes and methods."""
    cases = [(n, BEFORE, "monitor") for n in SIZES]
    cases += [(ROWS, 0, "monitor"), (ROWS, BEFORE, "run length")]
    jobs = [
        partial(monitored, name, *case, *chunk)
        for name in CHANGES
        for case in cases
        for chunk in chunks(trials)
    ]
    jobs += [
        partial(monitored, NOTHING, ROWS, BEFORE, method, *chunk)
        for method in ("monitor", "run length")
        for chunk in chunks(trials)
    ]
    half = max(1, trials // 2)
    for name in DATA:
        jobs += [partial(by_batches, name, "uncorrected", *chunk) for chunk in chunks(trials)]
        jobs += [partial(by_batches, name, "batches", *chunk) for chunk in chunks(half)]
        jobs += [partial(by_window, name, *chunk) for chunk in chunks(half)]
        jobs += [partial(by_martingales, name, *chunk) for chunk in chunks(trials)]
    return jobs


def measured(args) -> pd.DataFrame:
    """Return a row for every change and method."""
    return summarized(parts(args, NAME, every_job(args.trials)))


def summarized(every) -> pd.DataFrame:
    """Return shares and quantiles over the streams of every change and method."""
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


def false_alarms(methods) -> pd.DataFrame:
    """Return the shares of streams of every method that alarm before the change, and ever without a change."""
    before = methods[methods["data"] != NOTHING].groupby("method")["early"].mean()
    without = methods[methods["data"] == NOTHING].set_index("method")
    ever = without["early"] + (1.0 - without["early"]) * without["found"]
    shares = {
        f"alarms in the {BEFORE} rows before": before,
        f"alarms in {BEFORE + AFTER} rows without a change": ever,
    }
    rows = [
        {"change": label} | {NAMES[method]: percent(share[method]) for method in NAMES}
        for label, share in shares.items()
    ]
    return pd.DataFrame(rows)


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
        "window": ("^", GRAY),
        "jumper": ("v", GRAY),
        "plug-in": ("x", GRAY),
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
    late = late[late["data"] != NOTHING]
    methods = table[(table["n"] == ROWS) & (table["before"] == BEFORE)]
    mine = late[late["n"] == ROWS].set_index("data")
    batches = methods[methods["method"] == "batches"].set_index("data")
    jumper = methods[methods["method"] == "jumper"].set_index("data")
    falsely = false_alarms(methods)
    small, large, variance, _, _, rare, diffuse = CHANGES
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
        "uncorrected": falsely[NAMES["uncorrected"]].iloc[1],
        "monitored": falsely[NAMES["monitor"]].iloc[1],
        "variance": f"{mine.loc[variance, 'median']:.0f}",
        "variance_jumper": f"{jumper.loc[variance, 'found']:.0%}",
        "sooner": bool((mine["median"] <= jumper["median"].reindex(mine.index)).all()),
        "early": round(float((mine["early"] * mine["trials"]).sum())),
        "streams": int(mine["trials"].sum()),
        "methods": markdown(pd.concat([wide(methods, "method", NAMES), falsely])),
        "sizes": markdown(wide(late, "n", {n: f"n = {n}" for n in SIZES})),
        "at_start": markdown(wide(starts, "when", {"at row 0": "change from row 0 on"})),
        "errors": f"{mine['error'].min():.0f} to {mine['error'].drop(rare).max():.0f}",
        "error_rare": f"{mine.loc[rare, 'error']:.0f}",
        "trials": methods["trials"].max(),
        "others": methods["trials"].min(),
    }


if __name__ == "__main__":
    run(__doc__, NAME, measured, values, chart, trials=200, quick=2)
