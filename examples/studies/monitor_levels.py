"""How often the monitor ever alarms without a change, and how often repeated tests do.

One score on normal rows, the whole monitor on five kinds of tables, both also on streams of 100 times the rows of the
reference, the spread of the rate over references, and the share of streams with a false alarm by the number of looks,
beside tests of every batch.
"""

from __future__ import annotations

import copy
from functools import partial

import numpy as np
import pandas as pd
from _charts import dots
from _levels import generator, rate
from _streams import NULL, normal
from _study import markdown, parts, percent, run, span

from shrinktest import DriftMonitor, two_sample_test
from shrinktest._machine_code import always
from shrinktest.monitoring import bets, starts
from shrinktest.monitoring.urn import Urns
from shrinktest.results.plots.axes import BLUE, ORANGE

NAME = "monitor_levels"
ALPHA = 0.05
LONG = 10  # streams have so many times the rows of the reference
LONGER = 100  # in a part of the study
CHUNK = 250  # streams of a job
URNS = (25, 50, 200, 1000)
LONGER_URNS = (25, 50, 200)
#: Reference rows, and the share of the trials that are streams of their length: one of 10,000 rows takes 0.2 seconds.
SIZES = {50: 1.0, 200: 1.0, 1000: 0.1}
LONGER_SIZES = {50: 0.025}
REFERENCES, OF_EACH = 200, 100  # and streams of each, at full size
LOOKS, ROWS, BATCH = 40, 200, 50
RESAMPLES = 199
LOOKED = 10  # the trials over so many streams are looked at
METHODS = {
    "tests": "MMD test at every look",
    "columns": "KS tests at every look, corrected for columns",
    "corrected": f"KS tests, corrected for columns and {LOOKS} looks",
    "monitor": "monitor, any number of looks",
}

SHARES = np.array([0.5, 0.3, 0.17, 0.03])  # of the levels of a category


def one_score(kind, n, first, streams) -> list[dict]:
    """Count the streams in which one score with all of alpha ever alarms."""
    f, wealth = bets_of(kind, n)
    rng = generator(f"{kind}-{first}", n)
    rows = np.arange(LONG * n)
    every, nothing = np.ones(len(rows)), np.zeros(len(rows))
    alarms = {"alpha": 0, "small alpha": 0, "run length": 0}
    with always(compiled=True):
        for _ in range(streams):
            scores, ties = scores_and_ties(rng, n, len(rows))
            most = largest_evidence(scores, ties, n, f, wealth)
            alarms["alpha"] += most >= 1.0 / ALPHA
            alarms["small alpha"] += most >= 10.0 / ALPHA
            if kind == "number":
                urns = Urns.of(scores[:n], ties[:n], f)
                most = urns.update(scores[n:], ties[n:], rows, every, nothing)[0].max()
                alarms["run length"] += most >= 2.0 * len(rows)
    measures = [name for name in alarms if kind == "number" or name != "run length"]
    return [row("score", kind, n, int(alarms[name]), streams, name) for name in measures]


def one_longer_score(kind, n, first, streams) -> list[dict]:
    """Count the longer streams in which one score with all of alpha ever alarms."""
    f, wealth = bets_of(kind, n)
    rng = generator(f"longer-{kind}-{first}", n)
    alarms = 0
    with always(compiled=True):
        for _ in range(streams):
            scores, ties = scores_and_ties(rng, n, LONGER * n)
            alarms += largest_evidence(scores, ties, n, f, wealth) >= 1.0 / ALPHA
    return [row("score", kind, n, int(alarms), streams, "longer")]


def bets_of(kind, n):
    """Return the bets of a kind of score, and the wealth that they begin with."""
    if kind == "number":
        return bets.tilts(n, bets.shifts_for(n), bets.SPREADS), 0.0
    if kind == "category":
        return bets.odds(n, SHARES), 0.0
    return bets.tilts(n, bets.UPWARD), 1.0


def scores_and_ties(rng, n, rows):
    """Draw normal scores of a reference and of a stream, and numbers that break ties."""
    return rng.normal(size=(n + rows, 1)), rng.random(n + rows)


def largest_evidence(scores, ties, n, f, wealth) -> float:
    """Return the largest evidence of a score ever, from its bets on all rows after the first n."""
    rows = np.arange(len(scores) - n)
    begin, later = starts.weights(rows), starts.remaining(rows)
    if wealth:
        begin = later = np.zeros(len(rows))
    urns = Urns.of(scores[:n], ties[:n], f, wealth)
    return float(urns.update(scores[n:], ties[n:], rows, begin, later)[0].max())


def row(what, data, n, alarms, streams, design="alpha") -> dict:
    """Return a row of the table."""
    return {
        "what": what,
        "data": data,
        "n": n,
        "design": design,
        "alarms": alarms,
        "trials": streams,
    }


def whole(name, n, first, streams, times=LONG) -> list[dict]:
    """Count the streams in which the whole monitor ever alarms within so many times n rows."""
    draw = NULL[name]
    longer = times > LONG
    alarms = 0
    with always(compiled=True):
        for stream in range(first, first + streams):
            rng = generator(f"longer-{name}-{stream}" if longer else f"{name}-{stream}", n)
            monitor = DriftMonitor(draw(rng, n), alpha=ALPHA, rng=stream)
            for _ in range(0, times * n, 1000):
                monitor.update(draw(rng, min(1000, times * n)))
                if monitor.alarm:
                    break
            alarms += monitor.alarm
    return [row("monitor", name, n, alarms, streams, "longer" if longer else "alpha")]


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
            rows.append(row("reference", f"reference {reference}", n, alarms, streams))
    return rows


def looks(first, streams) -> list[dict]:
    """Count the streams with a false alarm up to every look, by all methods."""
    from scipy.stats import ks_2samp

    ever = {method: np.zeros(LOOKS, dtype=int) for method in METHODS}
    with always(compiled=True):
        for stream in range(first, first + streams):
            rng = generator(f"looks-{stream}", ROWS)
            reference = normal(rng, ROWS)
            batches = [normal(rng, BATCH) for _ in range(LOOKS)]
            monitor = DriftMonitor(reference, alpha=ALPHA, rng=stream)
            alarms = {"monitor": [monitor.update(batch).alarm for batch in batches]}
            alarms["tests"] = [
                two_sample_test(
                    reference, batch, n_resamples=RESAMPLES, rng=look, workers=1
                ).reject(ALPHA)
                for look, batch in enumerate(batches)
            ]
            smallest = np.array(
                [
                    min(ks_2samp(*pair).pvalue for pair in zip(reference.T, batch.T, strict=True))
                    for batch in batches
                ]
            )
            columns = reference.shape[1]
            alarms["columns"] = smallest <= ALPHA / columns
            alarms["corrected"] = smallest <= ALPHA / columns / LOOKS
            for method, hits in alarms.items():
                ever[method] += np.maximum.accumulate(hits)
    return [
        row("looks", METHODS[method], look + 1, int(count), streams)
        for method, several in ever.items()
        for look, count in enumerate(several)
    ]


def chunks(trials, size=CHUNK):
    """Return the first and the number of streams of every job."""
    return [(first, min(size, trials - first)) for first in range(0, trials, size)]


def every_job(trials) -> list[partial]:
    """Return the jobs of all settings."""
    jobs = [
        partial(one_score, kind, n, *chunk)
        for kind in ("number", "category", "witness")
        for n in URNS
        for chunk in chunks(trials, 1000)
    ]
    jobs += [
        partial(whole, name, n, *chunk)
        for n, share in SIZES.items()
        for name in NULL
        for chunk in chunks(max(1, round(share * trials)), CHUNK if n < 1000 else 50)
    ]
    references = max(2, REFERENCES * trials // 4000)
    of_each = OF_EACH if trials >= 400 else 4
    jobs += [partial(of_references, 50, *chunk, of_each) for chunk in chunks(references, 10)]
    jobs += [partial(looks, *chunk) for chunk in chunks(max(1, trials // LOOKED), 20)]
    jobs += [
        partial(one_longer_score, kind, n, *chunk)
        for kind in ("number", "category", "witness")
        for n in LONGER_URNS
        for chunk in chunks(trials, 1000)
    ]
    jobs += [
        partial(whole, name, n, *chunk, LONGER)
        for n, share in LONGER_SIZES.items()
        for name in NULL
        for chunk in chunks(max(1, round(share * trials)), 50)
    ]
    return jobs


def measured(args) -> pd.DataFrame:
    """Return the counts of all settings, summed over jobs."""
    counted = parts(args, NAME, every_job(args.trials))
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
    """Draw the share of streams in which the whole monitor alarms falsely, by table and rows of the reference."""
    monitor = kind(tables[""], "monitor")
    shares = monitor.pivot(index="data", columns=["design", "n"], values="rejected")
    shares = shares.reindex(list(NULL))
    looks_of = {
        **{("alpha", n): (marker, BLUE) for n, marker in zip(SIZES, "os^", strict=True)},
        **{("longer", n): ("D", ORANGE) for n in LONGER_SIZES},
    }
    names = {
        (design, n): f"n = {n}, {(LONG if design == 'alpha' else LONGER) * n:,} rows"
        for design, n in looks_of
    }
    shares.columns = [names[key] for key in shares.columns]
    looks_by_name = {names[key]: look for key, look in looks_of.items()}
    made = dots(shares, "streams with a false alarm", looks_by_name, ALPHA)
    made.axes[0].set_xlim(0.0, 1.2 * ALPHA)
    return made


def values(tables) -> dict:
    """Return the numbers, tables and claims of the section."""
    table = tables[""]
    score = kind(table, "score")
    monitor = kind(table, "monitor")
    of_each = kind(table, "reference")
    looked = kind(table, "looks")
    last = looked[looked["n"] == LOOKS].set_index("data")["rejected"]
    shares = {method: last[name] for method, name in METHODS.items()}
    longer = monitor[monitor["design"] == "longer"]
    long_scores = score.loc[score["design"] == "longer", "rejected"]
    return {
        "looks": LOOKS,
        "repeated": f"{shares['tests']:.0%}",
        "columns": f"{shares['columns']:.0%}",
        "corrected": percent(shares["corrected"]),
        "monitored": percent(shares["monitor"]),
        "look_streams": looked["trials"].max(),
        "most": percent(monitor.loc[monitor["design"] == "alpha", "rejected"].max()),
        "levels_hold": bool((monitor["low"] <= ALPHA).all() and (long_scores <= ALPHA).all()),
        "score_levels": span(score.loc[score["design"] == "alpha", "rejected"]),
        "run_length": span(score.loc[score["design"] == "run length", "rejected"]),
        "longer": LONGER,
        "longer_scores": span(long_scores),
        "longer_alarms": longer["alarms"].sum(),
        "longer_streams": longer["trials"].sum(),
        "urns": markdown(urns_of(score)),
        "monitors": markdown(monitors_of(monitor)),
        "references": len(of_each),
        "each": of_each["trials"].max(),
        "over_references": percent(of_each["rejected"].mean()),
        "ninety": f"{of_each['rejected'].quantile(0.9):.0%}",
        "worst": f"{of_each['rejected'].max():.0%}",
        "long": LONG,
    }


def urns_of(score) -> pd.DataFrame:
    """Return the shares of single scores, with a column for every bound."""
    names = {
        "data": "score",
        "n": "reference rows",
        "alpha": f"alarms at {ALPHA:g}",
        "longer": f"alarms at {ALPHA:g} in {LONGER} n rows",
        "small alpha": f"alarms at {ALPHA / 10.0:g}",
        "run length": "alarms by the run length (at most 0.5)",
    }
    urns = score.pivot_table("rejected", ["data", "n"], "design", sort=False).reset_index()
    urns = urns[list(names)].rename(columns=names)
    return urns.astype(object).where(urns.notna(), "-")


def monitors_of(monitor) -> pd.DataFrame:
    """Return the shares of whole monitors, with their intervals."""
    names = {
        "data": "data",
        "n": "reference rows",
        "rows": "rows",
        "alarms": "alarms",
        "trials": "streams",
        "rejected": "proportion",
        "interval": "95% interval",
    }
    times = monitor["design"].map({"alpha": LONG, "longer": LONGER})
    intervals = [f"{row.low:.3f} to {row.high:.3f}" for row in monitor.itertuples()]
    shown = monitor.assign(rows=times * monitor["n"], interval=intervals)
    return shown[list(names)].rename(columns=names)


if __name__ == "__main__":
    run(__doc__, NAME, measured, values, chart, trials=4000, quick=8)
