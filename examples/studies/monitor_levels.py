"""How often the monitor ever alarms without a change, and how often repeated tests do.

One score on normal rows, the whole monitor on five kinds of tables, the spread of its rate over references, and the
share of streams with a false alarm by the number of looks, beside tests of every batch.
"""

from __future__ import annotations

import copy
from functools import partial

import numpy as np
import pandas as pd
from _charts import figure
from _levels import generator, rate
from _streams import NULL, normal
from _study import markdown, parts, run, span

from shrinktest import DriftMonitor, two_sample_test
from shrinktest._machine_code import always
from shrinktest.monitoring import bets, starts
from shrinktest.monitoring.urn import Urns
from shrinktest.results.plots.axes import BLUE, GREY, ORANGE

NAME = "monitor_levels"
ALPHA = 0.05
LONG = 10  # streams have so many times the rows of the reference
CHUNK = 250  # streams of a job
URNS = (25, 50, 200, 1000)
#: Reference rows, and the share of the trials that streams of this length have.
SIZES = {50: 1.0, 200: 0.5, 1000: 0.1}
REFERENCES, OF_EACH = 200, 100  # and streams of each, at full size
LOOKS, ROWS, BATCH = 40, 200, 50
RESAMPLES = 199
LOOKED = 10  # the trials over so many streams are looked at

SHARES = np.array([0.5, 0.3, 0.17, 0.03])  # of the levels of a category


def one_score(kind, n, first, streams) -> list[dict]:
    """Count the streams in which one score with all of alpha ever alarms."""
    rng = generator(f"{kind}-{first}", n)
    rows = np.arange(LONG * n)
    prior, later = starts.weights(rows), starts.remaining(rows)
    every, nothing = np.ones(len(rows)), np.zeros(len(rows))
    f = {
        "number": lambda: bets.tilts(n, bets.shifts_for(n), bets.SPREADS),
        "category": lambda: bets.odds(n, SHARES),
        "witness": lambda: bets.tilts(n, bets.UPWARD),
    }[kind]()
    alarms = {"alpha": 0, "small alpha": 0, "run length": 0}
    with always(compiled=True):
        for _ in range(streams):
            reference, stream = np.split(rng.normal(size=(n + len(rows), 1)), [n])
            ties = rng.random(n + len(rows))
            begin = (nothing, nothing) if kind == "witness" else (prior, later)
            wealth = float(kind == "witness")
            urns = Urns.of(reference, ties[:n], f, wealth)
            most = urns.update(stream, ties[n:], rows, *begin)[0].max()
            alarms["alpha"] += most >= 1.0 / ALPHA
            alarms["small alpha"] += most >= 10.0 / ALPHA
            if kind == "number":
                urns = Urns.of(reference, ties[:n], f)
                most = urns.update(stream, ties[n:], rows, every, nothing)[0].max()
                alarms["run length"] += most >= 2.0 * len(rows)
    measures = [name for name in alarms if kind == "number" or name != "run length"]
    return [
        {
            "what": "score",
            "data": kind,
            "n": n,
            "design": name,
            "alarms": int(alarms[name]),
            "trials": streams,
        }
        for name in measures
    ]


def whole(name, n, first, streams) -> list[dict]:
    """Count the streams in which the whole monitor ever alarms."""
    draw = NULL[name]
    alarms = 0
    with always(compiled=True):
        for stream in range(first, first + streams):
            rng = generator(f"{name}-{stream}", n)
            monitor = DriftMonitor(draw(rng, n), alpha=ALPHA, rng=stream)
            for _ in range(0, LONG * n, 1000):
                monitor.update(draw(rng, min(1000, LONG * n)))
                if monitor.alarm:
                    break
            alarms += monitor.alarm
    return [
        {
            "what": "monitor",
            "data": name,
            "n": n,
            "design": "alpha",
            "alarms": alarms,
            "trials": streams,
        }
    ]


def of_references(n, first, references, streams) -> list[dict]:
    """Count the streams with an alarm of each reference."""
    rows = []
    with always(compiled=True):
        for reference in range(first, first + references):
            rng = generator(f"reference-{reference}", n)
            fresh = DriftMonitor(normal(rng, n), alpha=ALPHA, rng=reference)
            alarms = 0
            for _ in range(streams):
                monitor = copy.deepcopy(fresh)
                monitor._stream.ties = np.random.default_rng(rng.integers(2**63))
                alarms += monitor.update(normal(rng, LONG * n)).alarm
            rows.append(
                {
                    "what": "reference",
                    "data": f"reference {reference}",
                    "n": n,
                    "design": "alpha",
                    "alarms": alarms,
                    "trials": streams,
                }
            )
    return rows


def looks(first, streams) -> list[dict]:
    """Count the streams with a false alarm up to every look, by three methods."""
    from scipy.stats import ks_2samp

    methods = ("monitor", "MMD test of every batch", "KS tests of columns, corrected for columns")
    ever = {method: np.zeros(LOOKS, dtype=int) for method in methods}
    with always(compiled=True):
        for stream in range(first, first + streams):
            rng = generator(f"looks-{stream}", ROWS)
            reference = normal(rng, ROWS)
            batches = [normal(rng, BATCH) for _ in range(LOOKS)]
            monitor = DriftMonitor(reference, alpha=ALPHA, rng=stream)
            alarms = {methods[0]: [monitor.update(batch).alarm for batch in batches]}
            alarms[methods[1]] = [
                two_sample_test(
                    reference, batch, n_resamples=RESAMPLES, rng=look, workers=1
                ).reject(ALPHA)
                for look, batch in enumerate(batches)
            ]
            alarms[methods[2]] = [
                min(ks_2samp(*pair).pvalue for pair in zip(reference.T, batch.T, strict=True))
                <= ALPHA / reference.shape[1]
                for batch in batches
            ]
            for method, hits in alarms.items():
                ever[method] += np.maximum.accumulate(hits)
    return [
        {
            "what": "looks",
            "data": method,
            "n": look + 1,
            "design": "alpha",
            "alarms": int(count),
            "trials": streams,
        }
        for method, several in ever.items()
        for look, count in enumerate(several)
    ]


def chunks(trials, size=CHUNK):
    """Return the first and the number of streams of every job."""
    return [(first, min(size, trials - first)) for first in range(0, trials, size)]


def measured(args) -> pd.DataFrame:
    """Return the counts of all settings, summed over jobs."""
    jobs = [
        partial(one_score, kind, n, *chunk)
        for kind in ("number", "category", "witness")
        for n in URNS
        for chunk in chunks(args.trials, 1000)
    ]
    jobs += [
        partial(whole, name, n, *chunk)
        for n, share in SIZES.items()
        for name in NULL
        for chunk in chunks(max(1, round(share * args.trials)), CHUNK if n < 1000 else 50)
    ]
    references = max(2, REFERENCES * args.trials // 4000)
    of_each = OF_EACH if args.trials >= 400 else 4
    jobs += [partial(of_references, 50, *chunk, of_each) for chunk in chunks(references, 10)]
    jobs += [partial(looks, *chunk) for chunk in chunks(max(1, args.trials // LOOKED), 20)]
    counted = parts(args, NAME, jobs)
    keys = ["what", "data", "n", "design"]
    table = counted.groupby(keys, sort=False)[["alarms", "trials"]].sum().reset_index()
    shares = [rate(row.alarms, row.trials) for row in table.itertuples()]
    return table.assign(
        **{key: [share[key] for share in shares] for key in ("rejected", "low", "high")}
    )


def kind(table, what) -> pd.DataFrame:
    """Return the rows of a part of the study."""
    return table[table["what"] == what]


def chart(tables):
    """Draw the share of streams with a false alarm by the number of looks."""
    looked = kind(tables[""], "looks")
    made, ax = figure(3.2)
    colors = (BLUE, ORANGE, GREY)
    for (method, some), color in zip(looked.groupby("data", sort=False), colors, strict=True):
        ax.plot(some["n"], some["rejected"], color=color, label=method)
        ax.fill_between(some["n"], some["low"], some["high"], color=color, alpha=0.2, linewidth=0.0)
    ax.axhline(ALPHA, color=GREY, linewidth=0.8, linestyle=":")
    ax.set_xlabel(f"looks, each at {BATCH} rows")
    ax.set_ylabel("streams with a false alarm")
    ax.set_ylim(0.0, 1.0)
    made.legend(loc="outside upper center", ncols=1, frameon=False, fontsize="small")
    return made


def values(tables) -> dict:
    """Return the numbers, tables and claims of the section."""
    table = tables[""]
    score = kind(table, "score")
    monitor = kind(table, "monitor")
    of_each = kind(table, "reference")
    looked = kind(table, "looks")
    last = looked[looked["n"] == LOOKS].set_index("data")["rejected"]
    urns = score.pivot_table("rejected", ["data", "n"], "design", sort=False).reset_index()
    urns = urns.rename(
        columns={
            "data": "score",
            "n": "reference rows",
            "alpha": f"alarms at {ALPHA:g}",
            "small alpha": f"alarms at {ALPHA / 10.0:g}",
            "run length": "alarms by the run length (at most 0.5)",
        }
    )
    shown = monitor.assign(
        interval=[f"{row.low:.3f} to {row.high:.3f}" for row in monitor.itertuples()]
    )
    shown = shown[["data", "n", "alarms", "trials", "rejected", "interval"]]
    names = {
        "n": "reference rows",
        "rejected": "share",
        "trials": "streams",
        "interval": "95% interval",
    }
    return {
        "looks": LOOKS,
        "repeated": f"{last.iloc[1]:.0%}",
        "columns": f"{last.iloc[2]:.0%}",
        "monitored": f"{last.iloc[0]:.1%}",
        "look_streams": looked["trials"].max(),
        "most": f"{monitor['rejected'].max():.1%}",
        "levels_hold": bool((monitor["low"] <= ALPHA).all()),
        "score_levels": span(score.loc[score["design"] == "alpha", "rejected"]),
        "run_length": span(score.loc[score["design"] == "run length", "rejected"]),
        "urns": markdown(urns.astype(object).where(urns.notna(), "-")),
        "monitors": markdown(shown.rename(columns=names)),
        "references": len(of_each),
        "each": of_each["trials"].max(),
        "over_references": f"{of_each['rejected'].mean():.1%}",
        "ninety": f"{of_each['rejected'].quantile(0.9):.0%}",
        "worst": f"{of_each['rejected'].max():.0%}",
        "long": LONG,
    }


if __name__ == "__main__":
    run(__doc__, NAME, measured, values, chart, trials=4000, quick=8)
