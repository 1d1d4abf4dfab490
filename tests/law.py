"""The table of recorded answers: what every test gives with every estimator, route, restriction and rule.

``python tests/law.py`` records the table anew, which is for changes that are meant to change answers and for nothing
else; ``test_law.py`` holds the package to it.
"""

from __future__ import annotations

import csv
import itertools
import math
import sys
import warnings
from pathlib import Path

import numpy as np

import shrinktest as st

TABLE = Path(__file__).parent / "data" / "law.csv"

#: Those of the record, to which a new estimator adds nothing: the other laws run over the registry.
ESTIMATORS = (
    *("kme", "skmse", "fkmse", "landweber", "nu"),
    *("iterated_tikhonov", "tsvd", "mkme", "mmkme"),
)


def half(gram):
    """A user's estimator: half of the plain average, a little less for points far from the others."""
    return 0.5 * gram.mean(axis=1) / gram.mean() / len(gram)


#: Estimators beyond their defaults.
VARIANTS = {
    "skmse plugin": st.SKMSE(rule="plugin"),
    "skmse alpha": st.SKMSE(alpha=0.3),
    "skmse decay": st.SKMSE(decay=(1.0, 0.5)),
    "skmse target": st.SKMSE(target=([[0.5, -0.5]], [0.4])),
    "skmse joint": st.SKMSE(tuning="joint"),
    "skmse pooled": st.SKMSE(tuning="pooled"),
    "fkmse averaged": st.FKMSE(loo="averaged"),
    "fkmse paper": st.FKMSE(loo="paper"),
    "fkmse lam": st.FKMSE(lam=0.5),
    "fkmse lam_cov": st.FKMSE(lam_cov=0.3),
    "fkmse sample": st.FKMSE(tuning="sample"),
    "fkmse joint": st.FKMSE(tuning="joint"),
    "fkmse pooled": st.FKMSE(tuning="pooled"),
    "landweber one": st.Landweber(t=1),
    "landweber two": st.Landweber(t=2, eta=0.7),
    "landweber many": st.Landweber(t=40),
    "landweber paper": st.Landweber(loo="paper"),
    "landweber joint": st.Landweber(tuning="joint"),
    "nu two": st.NuMethod(t=2),
    "nu many": st.NuMethod(t=30, nu=0.7),
    "nu pooled": st.NuMethod(tuning="pooled"),
    "iterated fixed": st.IteratedTikhonov(lam_cov=0.1, t=2),
    "iterated paper": st.IteratedTikhonov(loo="paper"),
    "tsvd m": st.TSVD(m=2),
    "tsvd threshold": st.TSVD(threshold=0.05),
    "tsvd gcv": st.TSVD(rule="gcv"),
    "tsvd joint": st.TSVD(tuning="joint"),
    "mkme fixed": st.MKME(variance=0.4),
    "mkme sample": st.MKME(tuning="sample"),
    "mkme joint": st.MKME(tuning="joint"),
    "mmkme fixed": st.MMKME(variances=(0.4, 0.1)),
    "mmkme sample": st.MMKME(tuning="sample"),
    "mmkme joint": st.MMKME(tuning="joint"),
    "function": half,
}

# Decimal numbers, so that the data are the same whatever draws them.
_draws = np.random.default_rng(14)
POINTS = np.round(_draws.normal(size=(40, 2)) * [1.0, 0.6], 3)
POINTS[:8] += [1.1, 0.2]
POINTS[8:13] *= 1.8
OTHER = np.round(
    np.column_stack([POINTS[:, 0] ** 2, POINTS[:, 1]]) + 0.4 * _draws.normal(size=(40, 2)), 3
)
THIRD = np.round(np.sign(POINTS[:, :1] * OTHER[:, :1]) + 0.3 * _draws.normal(size=(40, 1)), 3)

BLOCKS = np.arange(40) % 2
GROUPS = np.arange(40) // 2

DENSE = {"gram": "dense"}
ROUTES = {
    "dense": DENSE,
    "factor": {"gram": "factor"},
    "nystrom": {"gram": "nystrom", "rank": 5},
    "rff": {"gram": "rff", "rank": 6},
}
RULES = {
    "": {},
    "besag-clifford": {"stopping": st.BesagClifford(h=4)},
    "decision": {"stopping": "curtailed"},
}


def two(m, n, columns=2, **options):
    """Two samples of these sizes."""
    return lambda **more: st.two_sample_test(
        POINTS[:m, :columns], POINTS[m : m + n, :columns], **options, **more
    )


def several(*sizes, columns=2, **options):
    """Samples of these sizes."""
    parts = np.split(POINTS[: sum(sizes), :columns], np.cumsum(sizes)[:-1])
    return lambda **more: st.k_sample_test(*parts, **options, **more)


def pairs(n, p=2, q=1, **options):
    """Two variables."""
    return lambda **more: st.independence_test(POINTS[:n, :p], OTHER[:n, :q], **options, **more)


def joint(n, **options):
    """Three variables."""
    return lambda **more: st.joint_independence_test(
        POINTS[:n], OTHER[:n, 0], THIRD[:n], **options, **more
    )


def columns(m, n, **options):
    """Two tables."""
    return lambda **more: st.two_sample_test_columns(
        POINTS[:m], POINTS[m : m + n], **options, **more
    )


def matrix(n, both, **options):
    """One table, or two."""
    data = (POINTS[:n], OTHER[:n]) if both else (np.hstack([POINTS[:n], THIRD[:n]]),)
    return lambda **more: st.independence_matrix(*data, **options, **more)


#: Tests with the designs of data that they take: free, and restricted.
TESTS = {
    "two equal": two(8, 8),
    "two unequal": two(9, 6),
    "two blocks": two(8, 8, blocks=BLOCKS[:16]),
    "two blocks unequal": two(8, 6, blocks=BLOCKS[:14]),
    "two paired": two(8, 8, paired=True),
    "two groups": two(8, 12, groups=GROUPS[:20]),
    "k": several(6, 5, 7),
    "k pooled": several(6, 5, 7, comparison="pooled"),
    "k two": several(8, 8),
    "k two unequal": several(9, 6),
    "k blocks": several(6, 6, 6, blocks=BLOCKS[:18], weights="equal"),
    "k groups": several(6, 6, 8, groups=GROUPS[:20]),
    "independence": pairs(12),
    "independence blocks": pairs(14, blocks=BLOCKS[:14]),
    "independence groups": pairs(14, groups=GROUPS[:14]),
    "independence shift": pairs(22, block_length="whole"),
    "independence shift blocks": pairs(14, block_length="whole", blocks=BLOCKS[:14]),
    "columns": columns(9, 6),
    "columns paired": columns(8, 8, paired=True),
    "columns blocks": columns(8, 8, blocks=BLOCKS[:16], method="holm"),
    "matrix": matrix(12, False),
    "matrix both": matrix(12, True),
    "matrix blocks": matrix(14, True, blocks=BLOCKS[:14]),
    "matrix shift": matrix(22, True, block_length="whole"),
}
STOP = ("two", "k", "independence", "joint")


def cases():
    """Every entry of the table: its name, and a function that computes it."""
    common = {"n_resamples": 39, "rng": 5, "workers": 1, "alpha": 0.2}

    for (test, run), estimator, route in itertools.product(TESTS.items(), ESTIMATORS, ROUTES):
        yield (
            f"{test} | {estimator} | {route}",
            lambda r=run, e=estimator, o=ROUTES[route]: r(estimator=e, **common | o),
        )
    for (test, run), estimator, rule in itertools.product(TESTS.items(), ESTIMATORS, RULES):
        if rule and test.split()[0] in STOP:
            yield (
                f"{test} | {estimator} | auto | {rule}",
                lambda r=run, e=estimator, o=RULES[rule]: r(estimator=e, **common | o),
            )
    for estimator, rule in itertools.product(ESTIMATORS, RULES):
        yield (
            f"joint | {estimator} | {rule}",
            lambda e=estimator, o=RULES[rule]: joint(11)(estimator=e, **common | o),
        )
    some = ("two equal", "two unequal", "k", "k pooled", "independence")
    for test, (name, estimator) in itertools.product(some, VARIANTS.items()):
        for route in ("dense", "factor"):
            yield (
                f"{test} | {name} | {route}",
                lambda r=TESTS[test], e=estimator, o=ROUTES[route]: r(estimator=e, **common | o),
            )
    for name, estimator in VARIANTS.items():
        yield f"joint | {name}", lambda e=estimator: joint(11)(estimator=e, **common)
    for form, estimator in itertools.product(("biased", "unbiased"), (*ESTIMATORS, half)):
        for test in (
            "two equal",
            "two unequal",
            "two paired",
            "k",
            "k pooled",
            "independence",
            "columns",
            "matrix",
        ):
            label = estimator if isinstance(estimator, str) else "function"
            yield (
                f"{test} | {label} | {form}",
                lambda r=TESTS[test], e=estimator, f=form: r(estimator=e, form=f, **common),
            )
    small = {
        "two equal": two(4, 4),
        "two unequal": two(5, 3),
        "two paired": two(6, 6, paired=True),
        "two one column": two(5, 4, columns=1),
        "k": several(2, 3, 2),
        "k equal": several(2, 2, 2),
        "k blocks": several(2, 2, 4, blocks=BLOCKS[:8]),
        "independence": pairs(5),
        "joint": joint(3),
        "columns": columns(4, 4),
        "matrix": matrix(4, True),
    }
    everything = {"n_resamples": math.inf, "rng": 1, "workers": 1, "alpha": 0.3}
    for (test, run), estimator in itertools.product(small.items(), ESTIMATORS):
        yield (
            f"all of {test} | {estimator}",
            lambda r=run, e=estimator: r(estimator=e, **everything),
        )
    kernels = {
        "laplacian": st.Laplacian(),
        "linear": st.Linear(),
        "polynomial": st.Polynomial(3),
        "widths": st.Gaussian((0.7, 1.9)),
        "sum": st.Gaussian("0.5 * median") + 0.5 * st.Linear(),
        "product": st.Gaussian() * st.Laplacian(2.0),
        "function": lambda x, y: np.exp(-np.abs(x[:, :1] - y[:, :1].T)),
    }
    for (name, kernel), estimator in itertools.product(
        kernels.items(), ("kme", "skmse", "fkmse", "landweber", "tsvd")
    ):
        yield (
            f"two unequal | {estimator} | {name}",
            lambda k=kernel, e=estimator: TESTS["two unequal"](estimator=e, kernel=k, **common),
        )
        yield (
            f"k | {estimator} | {name}",
            lambda k=kernel, e=estimator: TESTS["k"](estimator=e, kernel=k, **common),
        )
        yield (
            f"independence | {estimator} | {name}",
            lambda k=kernel, e=estimator: pairs(12, 2, 2)(
                estimator=e, kernel_x=k, kernel_y=k, **common
            ),
        )
        yield (
            f"joint | {estimator} | {name}",
            lambda k=kernel, e=estimator: st.joint_independence_test(
                POINTS[:11], OTHER[:11], estimator=e, kernels=k, **common
            ),
        )
    lists = {
        "auto": {"estimator": "auto"},
        "three": {"estimator": ["kme", "skmse", "fkmse"]},
        "all": {"estimator": list(ESTIMATORS)},
        "grid": {"estimator": "kme", "GRID": "grid"},
        "widths": {"estimator": ["kme", "landweber"], "GRID": ["median", "0.5 * median", 1.3]},
        "function": {"estimator": ["kme", half]},
    }
    for (test, run), (name, given) in itertools.product(TESTS.items(), lists.items()):
        if test.split()[0] not in ("two", "independence") and name != "auto":
            continue
        options = dict(given)
        if "GRID" in options:
            grid = options.pop("GRID")
            options |= (
                {"bandwidth": grid}
                if test.startswith("two")
                else {"bandwidth_x": grid, "bandwidth_y": grid}
            )
        for route, given in {
            "auto": {},
            **{key: ROUTES[key] for key in ("dense", "factor", "nystrom")},
        }.items():
            yield (
                f"{test} | list {name} | {route}",
                lambda r=run, o=options, g=given: r(**common | o | g),
            )
    yield "joint | list auto", lambda: joint(11)(estimator="auto", **common)
    heavy = st.Ensemble(
        [
            st.Candidate("kme", "gaussian", 3.0),
            st.Candidate(st.FKMSE(lam_cov=0.3), st.Laplacian(1.0)),
        ]
    )
    yield "two equal | collection", lambda: TESTS["two equal"](estimator=heavy, **common)
    mixed = {"kernel": ["gaussian", "laplacian"], "bandwidth": ["median", "2 * median"]}
    yield (
        "two equal | kernels",
        lambda: TESTS["two equal"](estimator=["kme", "mkme"], **common | mixed),
    )
    yield (
        "two unequal | kernels",
        lambda: TESTS["two unequal"](estimator=["kme", "skmse"], **common | mixed),
    )
    for size, estimator in itertools.product(
        (60, 90), ("kme", "skmse", "fkmse", "landweber", "mkme", "auto")
    ):
        # long enough for several tiles of sums and words of bits
        rng = np.random.default_rng(size)
        x, y = (
            np.round(rng.normal(size=(size, 3)), 3),
            np.round(1.2 * rng.normal(size=(size - 23, 3)), 3),
        )
        yield (
            f"two of {size} | {estimator}",
            lambda x=x, y=y, e=estimator: st.two_sample_test(
                x, y, estimator=e, rng=2, n_resamples=99, workers=1
            ),
        )
        yield (
            f"pairs of {size} | {estimator}",
            lambda x=x, e=estimator: st.independence_test(
                x[:, :1],
                x[:, 1:] ** 2 + 0.4 * x[:, :1] ** 2,
                estimator=e,
                rng=2,
                n_resamples=99,
                workers=1,
            ),
        )
        yield (
            f"k of {size} | {estimator}",
            lambda x=x, y=y, e=estimator: st.k_sample_test(
                x[:30], x[30:], y, estimator=e, rng=2, n_resamples=99, workers=1
            ),
        )


def answer(run):
    """Statistics and p-values of a case, or the type of its error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = run()
        except (ValueError, TypeError, MemoryError) as error:
            return [], [], type(error).__name__
    if hasattr(result, "pvalues"):
        return result.statistics.tolist(), [*result.pvalues.tolist(), *result.adjusted.tolist()], ""
    members = getattr(result, "members", ())
    statistics = [result.statistic, *(member.statistic for member in members)]
    pvalues = [
        result.pvalue,
        *(member.pvalue for member in members),
        *getattr(result, "adjusted", ()),
    ]
    return statistics, [*map(float, pvalues), float(result.n_resamples)], ""


def written(values):
    """Numbers in one cell."""
    return " ".join(map(repr, map(float, values)))


def read():
    """The recorded table: name to (statistics, p-values, error)."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return {
            row["case"]: (
                [float(x) for x in row["statistics"].split()],
                [float(x) for x in row["pvalues"].split()],
                row["error"],
            )
            for row in csv.DictReader(file)
        }


def main():
    """Record the table."""
    TABLE.parent.mkdir(exist_ok=True)
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["case", "statistics", "pvalues", "error"])
        names = set()
        for name, run in cases():
            assert name not in names, name
            names.add(name)
            statistics, pvalues, error = answer(run)
            writer.writerow([name, written(statistics), written(pvalues), error])
    print(len(names), "answers recorded", file=sys.stderr)


if __name__ == "__main__":
    main()
