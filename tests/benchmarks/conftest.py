"""Races: the package against a competitor, and the table of their ratios at the end of the run."""

from __future__ import annotations

from statistics import median
from time import perf_counter

import pytest

ROUNDS = 5
RACES = pytest.StashKey[list]()


@pytest.fixture
def race(benchmark, request):
    """How many times longer the competitor takes: the ratio of the medians of five rounds each."""

    def race(ours, run_ours, theirs, run_theirs):
        own, other = [], []

        def timed(run, times):
            start = perf_counter()
            run()
            times.append(perf_counter() - start)

        def competitor():  # in turns, so that a busy machine slows both
            timed(run_theirs, other)

        benchmark.pedantic(timed, (run_ours, own), setup=competitor, rounds=ROUNDS, warmup_rounds=1)
        ratio = median(other[-ROUNDS:]) / median(own[-ROUNDS:])
        benchmark.extra_info["ratio"] = ratio
        request.config.stash.setdefault(RACES, []).append((ours, own, theirs, other, ratio))
        return ratio

    return race


def pytest_terminal_summary(terminalreporter, config):
    races = config.stash.get(RACES, [])
    if not races:
        return
    terminalreporter.section("ratios of medians of five")
    for ours, own, theirs, other, ratio in races:
        times = (f"{median(times[-ROUNDS:]):9.4f} s" for times in (own, other))
        first, second = times
        terminalreporter.line(f"{ours:18}{first}   {theirs:28}{second}   {ratio:8.1f} times")
