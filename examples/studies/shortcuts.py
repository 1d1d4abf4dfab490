"""Shortcuts that break a permutation test, and some that do not: their level on null data, beside the valid test's.

Fills the tables of docs/validity.md.  Every shortcut and the valid test see the same data sets.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd
from _levels import rate
from _study import in_processes, markdown, run
from scipy.spatial.distance import pdist, squareform

from shrinktest import FKMSE, SKMSE, Gaussian, independence_test, two_sample_test

ALPHA = 0.05
B = 199
Verdicts = tuple[bool, bool]  # of the shortcut and of the valid test


def two(
    rng: np.random.Generator, m: int = 10, n: int = 10, d: int = 3
) -> tuple[np.ndarray, np.ndarray]:
    """Two samples of one law."""
    return rng.normal(size=(m, d)), rng.normal(size=(n, d))


def pooled_gram(x: np.ndarray, y: np.ndarray, factor: float = 1.0, of: np.ndarray | None = None):
    """Gaussian Gram matrix of the pooled sample and its bandwidth: `factor` on the median squared distance."""
    pooled = np.vstack([x, y])
    bandwidth = float(
        np.sqrt(factor * np.median(pdist(pooled if of is None else of, "sqeuclidean")))
    )
    return np.exp(-squareform(pdist(pooled, "sqeuclidean")) / (2.0 * bandwidth**2)), bandwidth


def labels(rng: np.random.Generator, m: int, n: int, rows: int = B) -> np.ndarray:
    """Membership in the first sample (rows + 1, m + n): the observed split, then random ones."""
    first = np.r_[np.ones(m), np.zeros(n)]
    return np.vstack([first, rng.permuted(np.tile(first, (rows, 1)), axis=1)])


def means(gram: np.ndarray, masks: np.ndarray):
    """Block means xx, yy, xy for every split."""
    m = masks[0].sum()
    n = masks.shape[1] - m
    xx, xy, yy = (
        ((a @ gram) * b).sum(axis=1)
        for a, b in ((masks, masks), (masks, 1 - masks), (1 - masks, 1 - masks))
    )
    return xx / m**2, yy / n**2, xy / (m * n)


def mmd(gram: np.ndarray, masks: np.ndarray) -> np.ndarray:
    xx, yy, xy = means(gram, masks)
    return xx + yy - 2.0 * xy


def p_value(statistics: np.ndarray) -> float:
    """(1 + b) / (1 + B); row 0 is the observed one, and ties count."""
    return float(np.mean(statistics >= statistics[0] - 1e-10))


# ------------------------------------------------------------------------------------------------- counting


def without_one(rng: np.random.Generator, rows: int, alpha: float) -> Verdicts:
    x, y = two(rng)
    statistics = mmd(pooled_gram(x, y)[0], labels(rng, 10, 10, rows))
    return bool(np.mean(statistics[1:] >= statistics[0] - 1e-10) <= alpha), p_value(
        statistics
    ) <= alpha


def strictly(rng: np.random.Generator) -> Verdicts:
    """Binary data with few ones: most splits tie."""
    x, y = rng.random((10, 1)) < 0.1, rng.random((10, 1)) < 0.1
    gram = np.equal.outer(np.r_[x, y][:, 0], np.r_[x, y][:, 0]).astype(float)
    statistics = mmd(gram, labels(rng, 10, 10))
    return (1 + (statistics[1:] > statistics[0] + 1e-10).sum()) / (1 + B) <= ALPHA, p_value(
        statistics
    ) <= ALPHA


def below(rng: np.random.Generator) -> Verdicts:
    result = two_sample_test(*two(rng), n_resamples=19, rng=rng, workers=1)
    return result.pvalue < ALPHA, result.reject(ALPHA)


def until_significant(rng: np.random.Generator) -> Verdicts:
    """Look after every hundred relabelings, up to 1000, and stop when p <= .05."""
    x, y = two(rng)
    statistics = mmd(pooled_gram(x, y)[0], labels(rng, 10, 10, 999))
    looks = [p_value(statistics[:rows]) <= ALPHA for rows in range(100, 1001, 100)]
    return any(looks), looks[-1]


# ------------------------------------------------------------------------------ what is not computed again


def frozen_skmse(rng: np.random.Generator, factor: float) -> Verdicts:
    """The factors of both samples, tuned on the observed split."""
    x, y = two(rng)
    gram, bandwidth = pooled_gram(x, y, factor)
    s, t = (1.0 - SKMSE().fit(z, Gaussian(bandwidth)).shrinkage for z in (x, y))
    xx, yy, xy = means(gram, labels(rng, 10, 10))
    valid = two_sample_test(
        x, y, estimator="skmse", bandwidth=bandwidth, n_resamples=B, rng=rng, workers=1
    )
    return p_value(s**2 * xx + t**2 * yy - 2.0 * s * t * xy) <= ALPHA, valid.reject(ALPHA)


def frozen_fkmse(rng: np.random.Generator, factor: float) -> Verdicts:
    """lam of both samples, tuned on the observed split; the weights are fitted again in every split."""
    x, y = two(rng)
    gram, bandwidth = pooled_gram(x, y, factor)
    order = np.vstack([np.arange(20), rng.permuted(np.tile(np.arange(20), (B, 1)), axis=1)])
    signed = []
    for z, rows, sign in ((x, order[:, :10], 1.0), (y, order[:, 10:], -1.0)):
        lam = min(
            FKMSE().fit(z, Gaussian(bandwidth)).shrinkage, 1e12
        )  # infinity: the zero estimate
        own = gram[rows[:, :, None], rows[:, None, :]]
        weights = np.linalg.solve(own + max(lam, 1e-12) * np.eye(10), own.mean(axis=2)[..., None])[
            ..., 0
        ]
        signed.append(sign * weights)
    w = np.hstack(signed)
    moved = gram[order[:, :, None], order[:, None, :]]
    valid = two_sample_test(
        x, y, estimator="fkmse", bandwidth=bandwidth, n_resamples=B, rng=rng, workers=1
    )
    return p_value(np.einsum("bi,bij,bj->b", w, moved, w)) <= ALPHA, valid.reject(ALPHA)


def best_of(rng: np.random.Generator) -> Verdicts:
    """Five bandwidths, and the smallest of their p-values."""
    x, y = two(rng)
    masks = labels(rng, 10, 10)
    p_values = [
        p_value(mmd(pooled_gram(x, y, factor)[0], masks)) for factor in (1 / 16, 1 / 4, 1, 4, 16)
    ]
    return min(p_values) <= ALPHA, p_values[2] <= ALPHA


def rows_only(rng: np.random.Generator) -> Verdicts:
    """HSIC with the rows of the second Gram matrix permuted, and its columns not."""
    x, y = two(rng, 20, 20, 1)
    center = np.eye(20) - 1 / 20
    distances = (squareform(pdist(z, "sqeuclidean")) for z in (x, y))
    k, v = (center @ np.exp(-d / (2.0 * np.median(d[d > 0.0]))) @ center for d in distances)
    orders = [np.arange(20), *(rng.permutation(20) for _ in range(B))]
    wrong, right = (
        p_value(np.array([(k * moved(pi)).sum() for pi in orders])) <= ALPHA
        for moved in (lambda pi: v[pi], lambda pi: v[np.ix_(pi, pi)])
    )
    return wrong, right


# -------------------------------------------------------------------------------------- not exchangeable


def series(rng: np.random.Generator) -> Verdicts:
    """Independent autoregressive series, coefficient .8; the valid test has independent rows."""
    noise = rng.normal(size=(2, 50))
    walks = noise.copy()
    for t in range(1, 50):
        walks[:, t] = 0.8 * walks[:, t - 1] + 0.6 * noise[:, t]
    wrong, right = (
        independence_test(*z, n_resamples=B, rng=rng, workers=1).reject(ALPHA)
        for z in (walks, noise)
    )
    return wrong, right


def repeated(rng: np.random.Generator) -> Verdicts:
    """Six subjects in each group, five measurements of each, tested as 30 + 30 points; valid: one mean a subject."""
    x, y = (rng.normal(size=(6, 1, 2)) + rng.normal(size=(6, 5, 2)) for _ in range(2))
    options = {"n_resamples": B, "rng": rng, "workers": 1}
    wrong = two_sample_test(x.reshape(30, 2), y.reshape(30, 2), **options)
    return wrong.reject(ALPHA), two_sample_test(x.mean(axis=1), y.mean(axis=1), **options).reject(
        ALPHA
    )


# ------------------------------------------------------------------------------------------------ harmless


def one_sided_bandwidth(rng: np.random.Generator) -> Verdicts:
    x, y = two(rng)
    masks = labels(rng, 10, 10)
    return p_value(mmd(pooled_gram(x, y, of=x)[0], masks)) <= ALPHA, p_value(
        mmd(pooled_gram(x, y)[0], masks)
    ) <= ALPHA


def approximate(rng: np.random.Generator, gram: str) -> Verdicts:
    x, y = two(rng)
    common = {"n_resamples": B, "workers": 1}
    return (
        two_sample_test(x, y, gram=gram, rank=3, rng=rng, **common).reject(ALPHA),
        two_sample_test(x, y, rng=rng, **common).reject(ALPHA),
    )


def pooled_tuning(rng: np.random.Generator) -> Verdicts:
    x, y = two(rng)
    rejections = (
        two_sample_test(
            x, y, estimator=FKMSE(tuning=tuning), bandwidth=0.6, n_resamples=B, rng=rng, workers=1
        ).reject(ALPHA)
        for tuning in ("pooled", "sample")
    )
    return next(rejections), next(rejections)


TRIAL = Callable[[np.random.Generator], Verdicts]
#: (what is done, where, nominal level, one trial)
BROKEN: list[tuple[str, str, float, TRIAL]] = [
    ("p = b/B", "B = 20", ALPHA, partial(without_one, rows=20, alpha=ALPHA)),
    ("p = b/B", "B = 100", 0.001, partial(without_one, rows=100, alpha=0.001)),
    ("counting > instead of >=", "binary data, 10 % ones", ALPHA, strictly),
    ("rejecting when p < alpha", "B = 19", ALPHA, below),
    ("relabeling until p <= alpha", "looks at B = 99, 199, ..., 999", ALPHA, until_significant),
    (
        "S-KMSE tuned once, on the observed split",
        "bandwidth^2 x 0.02",
        ALPHA,
        partial(frozen_skmse, factor=0.02),
    ),
    (
        "S-KMSE tuned once, on the observed split",
        "bandwidth^2 x 0.1",
        ALPHA,
        partial(frozen_skmse, factor=0.1),
    ),
    (
        "S-KMSE tuned once, on the observed split",
        "median bandwidth",
        ALPHA,
        partial(frozen_skmse, factor=1.0),
    ),
    (
        "F-KMSE tuned once, on the observed split",
        "bandwidth^2 x 0.1",
        ALPHA,
        partial(frozen_fkmse, factor=0.1),
    ),
    (
        "F-KMSE tuned once, on the observed split",
        "median bandwidth",
        ALPHA,
        partial(frozen_fkmse, factor=1.0),
    ),
    ("smallest p-value of five bandwidths", "bandwidth^2 x 1/16 to 16", ALPHA, best_of),
    ("permuting the rows of one Gram matrix", "HSIC, 20 pairs", ALPHA, rows_only),
    ("rows that are a time series", "HSIC, 50 steps, AR(.8)", ALPHA, series),
    ("rows that are repeated measures", "6 + 6 subjects x 5", ALPHA, repeated),
]
HARMLESS: list[tuple[str, str, float, TRIAL]] = [
    ("gram='nystrom', rank=3", "10 + 10 points", ALPHA, partial(approximate, gram="nystrom")),
    ("gram='rff', rank=3", "10 + 10 points", ALPHA, partial(approximate, gram="rff")),
    ("FKMSE(tuning='pooled')", "narrow bandwidth", ALPHA, pooled_tuning),
    ("median bandwidth of the first sample only", "10 + 10 points", ALPHA, one_sided_bandwidth),
]


def chunk(trial: TRIAL, seed: list[int], trials: int) -> np.ndarray:
    """Rejections of the shortcut and of the valid test."""
    rng = np.random.default_rng(seed)
    return np.sum([trial(rng) for _ in range(trials)], axis=0)


def measured(args) -> pd.DataFrame:
    """Return the level of every shortcut and of the valid test."""
    cases = [
        (kind, *case)
        for kind, group in (("broken", BROKEN), ("harmless", HARMLESS))
        for case in group
    ]
    parts = -(-args.trials // 100)
    sizes = [len(part) for part in np.array_split(np.arange(args.trials), parts)]
    work = [
        (case[-1], [c, part], size)
        for c, case in enumerate(cases)
        for part, size in enumerate(sizes)
    ]
    counts = in_processes(args, chunk, work)
    rows = []
    for (kind, what, where, alpha, _), counted in zip(
        cases, np.reshape(counts, (len(cases), parts, 2)), strict=True
    ):
        row = {"kind": kind, "what": what, "where": where, "alpha": alpha, "trials": args.trials}
        for name, rejections in zip(("level", "valid"), counted.sum(axis=0), strict=True):
            share = rate(rejections, args.trials)
            row |= {
                name: share["rejected"],
                f"{name}_low": share["low"],
                f"{name}_high": share["high"],
            }
        rows.append(row)
    return pd.DataFrame(rows)


def values(tables) -> dict[str, str]:
    """Return the tables of the page."""
    table = tables[""]

    def rate(r, name: str) -> str:
        return "{:.3f} [{:.3f}, {:.3f}]".format(
            *(getattr(r, name + end) for end in ("", "_low", "_high"))
        )

    shown = {}
    for kind, part in table.groupby("kind", sort=False):
        rows = [
            {
                "shortcut": (f"`{r.what}`" if "=" in r.what or ">" in r.what else r.what).replace(
                    "relabeling", "permuting"
                ),
                "data": r.where.replace("10 %", "10%"),
                "nominal level": f"{r.alpha:g}",
                "rejection rate": rate(r, "level"),
                "rate of the valid test": rate(r, "valid"),
            }
            for r in part.itertuples()
        ]
        shown[f"levels: {kind}"] = markdown(pd.DataFrame(rows))
    trials = sorted(set(table["trials"]))
    shown["levels: trials"] = (
        f"{' to '.join(f'{count:,}' for count in trials)} null data sets per row; "
        "95% Clopper-Pearson intervals."
    )
    return shown


if __name__ == "__main__":
    run(__doc__, "shortcuts", measured, values, None, trials=4000, quick=10)
