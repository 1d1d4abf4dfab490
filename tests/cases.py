"""The table of estimators that tests run over: one row for each of the registry; the laws hold for all its variants."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from shrinktest import (
    FKMSE,
    KME,
    MKME,
    MMKME,
    SKMSE,
    TSVD,
    IteratedTikhonov,
    Landweber,
    NuMethod,
    independence_test,
    two_sample_test,
)
from shrinktest.estimators import ESTIMATORS
from shrinktest.statistics.features import Features


@dataclass(frozen=True)
class Row:
    """What tests know of an estimator.

    ``tuned`` are its variants that choose their amount themselves (of one without an amount: itself), ``fixed`` those
    with a given one, on a scale that does not know n. ``amount`` is the parameter whose unit the `shrinkage` of a fit
    has, None without one. ``gaussian``: it is for Gaussian kernels only. ``overshoot``: how many times longer than the
    plain mean it may be.
    """

    tuned: tuple
    fixed: tuple = ()
    amount: str | None = None
    gaussian: bool = False
    overshoot: float = 1.0


TABLE = {
    "kme": Row((KME(),), (KME(),)),
    "skmse": Row((SKMSE(), SKMSE(rule="plugin")), (SKMSE(alpha=0.3),), "alpha"),
    "fkmse": Row(
        (FKMSE(), FKMSE(loo="averaged"), FKMSE(loo="paper")), (FKMSE(lam_cov=0.2),), "lam"
    ),
    "iterated_tikhonov": Row(
        (IteratedTikhonov(), IteratedTikhonov(loo="paper")), (IteratedTikhonov(lam_cov=0.2),), "lam"
    ),
    "landweber": Row((Landweber(),), (Landweber(t=9),), "t"),
    "nu": Row((NuMethod(),), (NuMethod(t=5),), "t", overshoot=1.13),  # nu = 1: by up to an eighth
    "tsvd": Row((TSVD(), TSVD(rule="gcv")), (TSVD(threshold=0.2), TSVD(m=2)), "m"),
    "mkme": Row((MKME(),), amount="variance", gaussian=True),
    "mmkme": Row((MMKME(),), amount="variances", gaussian=True),
}
#: One row for every estimator of the registry: of one that has none above, its defaults.
ROWS = {name: TABLE.get(name, Row((kind(),))) for name, kind in ESTIMATORS.items()}

#: Estimators that are weights of a Gram matrix, for any kernel, and those of Gaussian kernels; all with their rules.
WEIGHTED = [estimator for row in ROWS.values() if not row.gaussian for estimator in row.tuned]
SMOOTHED = [estimator for row in ROWS.values() if row.gaussian for estimator in row.tuned]
#: With given amounts.
FIXED = [estimator for row in ROWS.values() for estimator in row.fixed]
#: Classes that choose an amount, from a Gram matrix and in whatever way.
CHOOSING = [ESTIMATORS[name] for name, row in ROWS.items() if row.amount and not row.gaussian]
TUNED = [ESTIMATORS[name] for name, row in ROWS.items() if row.amount]


def row_of(estimator):
    """The row of an estimator, by its class."""
    return next(ROWS[name] for name, kind in ESTIMATORS.items() if type(estimator) is kind)


def tuned_by(name, tuning):
    """The estimator of that name, tuned in that way if it is tuned at all."""
    kind = ESTIMATORS[name]
    return kind(tuning=tuning) if "tuning" in {field.name for field in fields(kind)} else kind()


# --- small samples, and tests of them with few permutations --------------------------------------------------

_rng = np.random.default_rng(20)
#: The pooled observations of two samples.
POINTS = _rng.normal(size=(12, 2)) * [1.0, 0.6]
POINTS[:5] += [0.8, 0.0]
SIZES = [(5, 5), (6, 4)]
BANDWIDTH = 0.9

_rng = np.random.default_rng(7)
#: Two variables observed together.
X = _rng.normal(size=(9, 2))
Y = np.column_stack([X[:, 0] ** 2 + 0.3 * _rng.normal(size=9), _rng.normal(size=9), 0.2 * X[:, 1]])
WIDTHS = (1.1, 1.7)

#: Estimators that choose an amount from a Gram matrix.
TUNED_BY_GRAM = CHOOSING


def half(gram):
    """A user's estimator: half of the plain mean."""
    return np.full(len(gram), 0.5 / len(gram))


def by_coordinates(products):
    """Inner products as coordinates of the points, by the eigenvectors of their Gram matrix."""
    values, vectors = np.linalg.eigh(products.dense().values)
    return Features(vectors * np.sqrt(np.maximum(values, 0.0)), True)


def samples(m, n):
    """The first m and the next n of the pooled observations."""
    return POINTS[:m], POINTS[m : m + n]


def split_test(X, Y, estimator="kme", **options):
    """A two-sample test with few relabelings whose p-value nobody looks at."""
    given = {"n_resamples": 4, "alpha": 0.5, "rng": 0, "workers": 1, **options}
    return two_sample_test(X, Y, estimator=estimator, **given)


def pair_test(x, y, estimator="kme", **options):
    """An independence test with few relabelings whose p-value nobody looks at."""
    given = {"n_resamples": 4, "alpha": 0.5, "rng": 0, "workers": 1, **options}
    return independence_test(x, y, estimator=estimator, **given)


def values(result):
    """Statistic of the observed labeling, then of the others."""
    return np.concatenate([[result.statistic], result.null_distribution])


def notes(result):
    """All notes as one text."""
    return " ".join(result.notes)
