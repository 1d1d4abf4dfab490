"""Processes: what an import, a first call and a whole process cost, in time and in memory."""

from __future__ import annotations

from time import perf_counter

import children
import numpy as np
import pytest
from rows import Row

# --- start-up ------------------------------------------------------------------------------------------------------
IMPORT = (
    "from time import perf_counter\nt = perf_counter()\nimport {name}\nprint(perf_counter() - t)"
)
TIMED = """
import numpy as np
import shrinktest
from time import perf_counter
X, Y = np.random.default_rng(0).normal(size=(2, 100, 2))
for _ in range({calls}):
    t = perf_counter()
    result = shrinktest.{test}(X, Y, estimator={estimator!r}, n_resamples=99, rng=0)
    took = perf_counter() - t
print(took, result.pvalue)
"""
WHOLE = """
import numpy as np
import shrinktest
rows = np.loadtxt({file!r}, delimiter=",")
print(shrinktest.two_sample_test(rows[:100], rows[100:], estimator={estimator!r}, n_resamples={draws}, rng=0).pvalue)
"""
VERBS = ("two_sample_test", "independence_test")


def inside(programs, rounds, **options):
    """Seconds that each program prints first, (rounds,) each, taking turns after one unmeasured round."""
    seconds = [[] for _ in programs]
    for _ in range(rounds + 1):
        for measured, program in zip(seconds, programs, strict=True):
            measured.append(float(children.run(program, **options).split()[0]))
    return [np.array(measured[1:]) for measured in seconds]


def report(name, labels, own, other, measure, target=""):
    value = own if other is None else other / own if measure == "faster" else own / other
    middle = np.median(own)
    if other is not None:
        middle = np.median(other) / middle if measure == "faster" else middle / np.median(other)
    shown = (
        {}
        if measure == "s"
        else {"ours_seconds": np.median(own), "theirs_seconds": np.median(other)}
    )
    return Row(
        "start", name, *labels, middle, measure, value.min(), value.max(), target, rounds=len(own), **shown
    )  # fmt: skip


def test_import(keep, rounds):
    ours, theirs = inside([IMPORT.format(name=name) for name in ("shrinktest", "numpy")], rounds)
    keep(report("import", ("import shrinktest", "import numpy"), ours, theirs, "cost", "< 3"))


@pytest.mark.parametrize("estimator, draws, target", [("kme", 999, "< 6"), ("fkmse", 99, "")])
def test_whole_process(race, tmp_path, estimator, draws, target):
    file = tmp_path / "rows.csv"
    np.savetxt(file, np.random.default_rng(0).normal(size=(200, 3)), delimiter=",")
    program = WHOLE.format(file=str(file), estimator=estimator, draws=draws)
    race(
        "start",
        f"a process that reads 200 rows and tests, {estimator}, B = {draws}, warm cache",
        ("process", lambda: children.run(program)),
        ("a process that imports numpy", lambda: children.run("import numpy; print(1)")),
        lambda ours, theirs: (
            None if 0.0 < float(ours) <= 1.0 and theirs == "1" else pytest.fail(f"{ours}, {theirs}")
        ),
        measure="cost",
        target=target,
    )


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("estimator", ["kme", "fkmse", "landweber", "mmkme"])
def test_first_calls(keep, smoke, rounds, tmp_path_factory, verb, estimator):
    if smoke and (estimator, verb) != ("kme", VERBS[0]):
        pytest.skip("a smoke run compiles one route")
    program = TIMED.format(calls=1, test=verb, estimator=estimator)
    first, pvalues, caches = [], set(), []
    for _ in range(rounds):
        caches.append(tmp_path_factory.mktemp("cache"))
        seconds, pvalue = children.run(program, cache=caches[-1]).split()
        first.append(float(seconds))
        pvalues.add(pvalue)
    first = np.array(first)
    name = f"{estimator}, {verb}, n = 100, B = 99"
    keep(
        report(f"{name}: first call ever, empty cache", ("seconds", "-"), first, None, "s", "< 10")
    )
    programs = [TIMED.format(calls=calls, test=verb, estimator=estimator) for calls in (1, 2)]
    warm, second = inside(programs, rounds, cache=caches[-1])
    pvalues.add(children.run(program, cache=caches[-1]).split()[1])
    assert len(pvalues) == 1
    labels = "first call in a new process, warm cache", "first call ever"
    keep(report(f"{name}: first call in a new process", labels, warm, first, "share"))
    keep(
        report(
            f"{name}: second call",
            ("second call", "first call in a new process"),
            second,
            warm,
            "faster",
        )
    )


def test_import_compiles_nothing(keep, tmp_path):
    start = perf_counter()
    children.run("import shrinktest", cache=tmp_path)
    files = len(list(tmp_path.rglob("*.nb?")))
    assert files == 0
    seconds = perf_counter() - start
    name = "files that an import compiles"
    keep(Row("start", name, "import shrinktest", "-", files, "difference", 0, 0, "<= 0", seconds))


# --- peak memory ---------------------------------------------------------------------------------------------------
CALL = """
import numpy as np
import shrinktest
X, Y = np.random.default_rng(0).normal(size=(2, {n}, {d}))
print(shrinktest.{verb}(X, Y, estimator={estimator!r}, n_resamples={B}, rng=0, workers=2, gram={gram!r}).pvalue)
"""
CASES = [
    ("two_sample_test", "kme", "dense", 1000, 10, 999),
    ("two_sample_test", "kme", "dense", 4000, 10, 999),
    ("two_sample_test", "kme", "factor", 4000, 2, 999),
    ("two_sample_test", "kme", "factor", 50_000, 2, 999),
    ("two_sample_test", "fkmse", "dense", 300, 10, 39),
    ("independence_test", "kme", "dense", 2000, 1, 999),
    ("independence_test", "kme", "factor", 20_000, 1, 999),
    ("independence_test", "fkmse", "dense", 300, 1, 39),
]


@pytest.mark.parametrize(("verb", "estimator", "gram", "n", "d", "B"), CASES)
def test_peak(turns, keep, rounds, tiny, verb, estimator, gram, n, d, B):
    small = {
        "n": tiny(n),
        "B": tiny(B, 39),
        "d": d,
        "verb": verb,
        "estimator": estimator,
        "gram": gram,
    }
    peaks = {"ours": [], "theirs": []}

    def child(label, code):
        def run():
            printed, peak = children.peak(code)
            assert 0.0 < float(printed) <= 1.0
            peaks[label].append(peak)

        return run

    idle = "import numpy\nprint(1)"
    turns({"ours": child("ours", CALL.format(**small)), "theirs": child("theirs", idle)})
    own, base = np.array(peaks["ours"]), np.median(peaks["theirs"])
    name = f"{estimator}, {verb}, gram='{gram}', n = {n}, {d}-d, B = {B}"
    other = f"import numpy: {base:.3g} GB"
    keep(
        Row(
            "memory",
            name,
            "process",
            other,
            float(np.median(own)),
            "GB",
            own.min(),
            own.max(),
            rounds=rounds,
        )
    )
