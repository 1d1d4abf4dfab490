"""Races: the package against a competitor, contenders taking turns, and the table of their ratios at the end.

`pytest examples/benchmarks --write docs` measures everything, writes docs/data/benchmarks.csv and docs/comparison.md;
`--smoke` runs every row once on tiny data.
"""

from __future__ import annotations

import datetime
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
import pytest
from rows import Row, environment, merged, plain, read, write

ROWS = pytest.StashKey[list]()


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    """Benchmarks run one after another; told how workers would share tests, their plugin takes it for workers."""
    if not config.getoption("numprocesses", None):
        config.option.dist = "no"


def pytest_addoption(parser):
    parser.addoption(
        "--smoke",
        action="store_true",
        help="tiny data, one round, no time is judged, nothing is written",
    )
    parser.addoption(
        "--write",
        metavar="FOLDER",
        help="update FOLDER/data/benchmarks.csv and FOLDER/comparison.md",
    )
    parser.addoption("--rounds", type=int, default=5, help="rounds of every race (default 5)")


@pytest.fixture
def smoke(request):
    return request.config.getoption("--smoke")


@pytest.fixture
def rounds(request, smoke):
    return 1 if smoke else request.config.getoption("--rounds")


@pytest.fixture
def tiny(smoke):
    """A size or a number of relabelings: itself, or at most ``limit`` in a smoke run."""
    return lambda number, limit=12: min(number, limit) if smoke else number


@pytest.fixture
def threads():
    """Hold the linear algebra of every contender to this many threads, and see that it obeys."""
    control = pytest.importorskip("threadpoolctl")

    def hold(number):
        limit = control.threadpool_limits(number)
        held.append(limit)
        blas = [
            pool["num_threads"] for pool in control.threadpool_info() if pool["user_api"] == "blas"
        ]
        assert set(blas) == {number}

    held = []
    yield hold
    for limit in reversed(held):
        limit.restore_original_limits()


@pytest.fixture
def keep(request, smoke):
    """Keep a row for the table; a missed ratio fails, a missed absolute time is only shown."""

    def keep(row):
        here = {"date": datetime.date.today().isoformat(), "environment": environment()}
        row = Row(
            **{**row.__dict__, **here, **({"target": ""} if smoke else {})}
        )  # tiny data cannot meet a target
        rows = request.config.stash.setdefault(ROWS, [])
        rows.append(row)
        folder = request.config.getoption("--write")
        if folder and not smoke:
            write(merged(read(Path(folder) / "data" / "benchmarks.csv"), rows), Path(folder))
        assert np.isfinite(row.value)
        if row.measure != "s":
            assert row.met, f"{row.name}: {row.value:.3g}, target {row.target}"
        return row

    return keep


@pytest.fixture
def turns(benchmark, rounds):
    """Times of each contender, (rounds,) a label; the first is what pytest-benchmark shows, the others run between."""

    def turns(contenders):
        times = {label: [] for label in contenders}
        (first, run_first), *others = contenders.items()

        def timed(label, run):
            start = perf_counter()
            run()
            times[label].append(perf_counter() - start)

        def between():  # in turns, so that a busy machine slows all
            for label, run in others:
                timed(label, run)

        benchmark.pedantic(timed, (first, run_first), setup=between, rounds=rounds)
        return times

    return turns


@pytest.fixture
def race(turns, keep, rounds, smoke):
    """Compare answers, then times.  ``measure``: "faster" is theirs/ours, "cost" and "share" are ours/theirs.

    ``ours`` and ``theirs`` are (label, function); ``scale`` times their work is ours, ``own_scale`` the reverse.
    """

    def race(
        group, name, ours, theirs, agree, *, measure="faster", target="", scale=1.0, own_scale=1.0
    ):
        answers = {}

        def timed(key, run):
            return lambda: answers.update({key: run()})

        if not smoke:
            agree(ours[1](), theirs[1]())  # the warm-up of both
        times = turns({"ours": timed("ours", ours[1]), "theirs": timed("theirs", theirs[1])})
        agree(answers["ours"], answers["theirs"])
        own, other = own_scale * np.array(times["ours"]), scale * np.array(times["theirs"])
        upper, lower = (other, own) if measure == "faster" else (own, other)
        every = upper / lower
        row = Row(
            group, name, ours[0], theirs[0], median(upper) / median(lower), measure, every.min(), every.max(), target,
            median(own), median(other), rounds,
        )  # fmt: skip
        return keep(row)

    return race


def pytest_terminal_summary(terminalreporter, config):
    rows = config.stash.get(ROWS, [])
    if not rows:
        return
    terminalreporter.section("benchmarks")
    for row in merged([], rows):
        measured = f"{plain(row.value)} {row.measure}"
        terminalreporter.line(
            " | ".join(
                [f"{row.group:8} {row.name}", measured, *([row.target] if row.target else [])]
            )
        )
    missed = sum(not row.met for row in rows)
    terminalreporter.line(f"{len(rows)} rows, {missed} targets missed; {environment()}")
