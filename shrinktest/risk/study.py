"""risk_study: exact losses of several estimators on the same data sets."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from shrinktest._check import Array, as_rng, count, flag
from shrinktest._hints import hinted
from shrinktest._parallel import n_workers
from shrinktest.embedding import MeanEmbedding
from shrinktest.estimators import KME, MeanEstimator
from shrinktest.kernels import Kernel, as_kernel
from shrinktest.power.arguments import named_estimators, seed_of, several, trial_numbers
from shrinktest.power.trials import RISK, Row, Store, check_store, run_trials
from shrinktest.risk.losses import TrueEmbedding, loss, oracle_shrinkage, true_embedding
from shrinktest.risk.mixtures import MixtureDesign, as_mixture_design
from shrinktest.risk.result import RiskStudyResult

#: Labels of the references of every study.
BASELINE, ORACLE = "kme", "oracle"


@hinted
def risk_study(
    design: Any = "mixture",
    estimators: Any = ("skmse", "fkmse"),
    kernels: Any = "gaussian",
    n: Any = 20,
    d: Any = 30,
    *,
    n_trials: int | range = 500,
    oracle: bool = True,
    rng: Any = 0,
    store: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    progress: bool = True,
) -> RiskStudyResult:
    """Estimate the risk E |mu - mu_P|^2 of kernel mean estimators on mixtures of Gaussians, whose losses are exact.

    Parameters
    ----------
    design : str, MixtureDesign, NormalMixture, triple or callable
        Source of the distributions: "mixture", the papers' one (``RandomMixture``), drawn anew in every trial; a
        mixture (weights, means, covariances), the same in every trial; or a function ``(rng, d) -> mixture``.
    estimators : str, MeanEstimator, callable, sequence of these, or dict of label to one of these
        Estimators to compare.  The plain average, ``kme``, is always included.
    kernels : str, Kernel, sequence of these, or dict of label to one of these
        Kernels with a closed form (see :func:`~shrinktest.risk.true_embedding`); a median bandwidth comes from the
        sample at hand.
    n, d : int or sequence of int
        Sizes of the samples, and their dimensions; every n with every d.
    n_trials : int or range, default 500
        Data sets per n and d; a range for a part of a study, to be joined by :func:`~shrinktest.power.merge`.
    oracle : bool, default True
        Show, as "oracle", the simple shrinkage with the smallest risk, which needs the distribution.
    rng : int, None, SeedSequence, BitGenerator or Generator, default 0
        Seed of the study.  None takes the seed of the store or, for a new one, fresh entropy.
    store : str or path, optional
        An SQLite file that keeps every loss.  An interrupted study resumes from it; more trials, estimators, kernels,
        sizes or dimensions extend it.
    workers : int, optional
        Processes; default all usable cores, or what ``joblib.parallel_config`` says.  The result is the same for any
        number.
    progress : bool, default True
        Show a progress bar.

    Returns
    -------
    RiskStudyResult
        ``result.table``, ``result.compare(a, b)``, ``result.plot()``, ``result.summary()``.

    See Also
    --------
    loss_path : The loss of one estimator by its amount of shrinkage.
    oracle_shrinkage : The best amount of simple shrinkage for a known distribution.
    shrinktest.power_study : What an estimator does for the power of a test.

    Notes
    -----
    Studies are paired: in every trial all estimators and kernels get the same points.  Every trial has random streams
    of its own (``SeedSequence(seed, spawn_key=(n, d, trial, stream))``), so that the result depends neither on what
    else is in the study nor on the order of the work.  The losses are exact: only the data sets are random.

    Examples
    --------
    >>> result = risk_study("mixture", ["skmse", "fkmse"], n=[5, 20], d=5, n_trials=40, workers=1, progress=False)
    >>> result.table[["estimator", "n", "loss", "improvement"]].round(3)
      estimator   n   loss  improvement
    0       kme   5  0.074        0.000
    1     skmse   5  0.065       12.895
    2     fkmse   5  0.066       11.291
    3    oracle   5  0.059       20.098
    4       kme  20  0.018        0.000
    5     skmse  20  0.017        2.952
    6     fkmse  20  0.017        2.944
    7    oracle  20  0.017        4.737
    """
    design = as_mixture_design(design)
    named = _with_references(estimators, flag(oracle, "oracle"))
    labels = _named_kernels(kernels)
    sizes, dimensions = (
        tuple(sorted({count(value, name, minimum=1) for value in several(values, Integral, name)}))
        for name, values in (("n", n), ("d", d))
    )
    trials = trial_numbers(n_trials, len(sizes) * len(dimensions))
    jobs, progress = None if workers is None else n_workers(workers), flag(progress, "progress")
    as_rng(rng)  # raises on what is not a seed
    check_store(store, RISK)
    whole = {repr(kernel): (kernel, named) for kernel in labels.values()}
    for dimension in dimensions:  # errors show before anything is stored or sent elsewhere
        run_trial(design, sizes[0], dimension, 0, whole, 0)
    with Store(store, RISK) as trials_done:
        seed = seed_of(rng, trials_done.arguments().get("seed"))
        trials_done.claim(
            {"design": design.identity(), "seed": seed}, {label: repr(estimator) for label, estimator in named.items()}
        )
        done = {row[:5] for row in trials_done.rows()}
        cells = [(size, dimension, trial) for trial in trials for size in sizes for dimension in dimensions]
        tasks = []
        for cell in cells:
            missing = {
                name: (kernel, {label: value for label, value in named.items() if (name, *cell, label) not in done})
                for name, (kernel, _) in whole.items()
            }
            if missing := {name: pair for name, pair in missing.items() if pair[1]}:
                tasks.append((design, *cell, missing, seed))
        run_trials(run_trial, tasks, trials_done.add, total=len(cells), workers=jobs, progress=progress)
        requested, names = set(cells), {repr(kernel): label for label, kernel in labels.items()}
        rows = [
            (names[row[0]], *row[1:])
            for row in trials_done.rows()
            if row[0] in names and row[1:4] in requested and row[4] in named
        ]
    return RiskStudyResult.from_rows(rows, design=design, estimators=named, kernels=labels, seed=seed)


@dataclass(frozen=True)
class OracleShrinkage:
    """Simple shrinkage by the amount with the smallest risk, computed from the known distribution."""

    summary: ClassVar[str] = "best simple shrinkage, knowing the distribution"

    def embed(self, points: Array, truth: TrueEmbedding) -> MeanEmbedding:
        """Return (1 - alpha) mu_hat with the oracle's alpha."""
        n = len(points)
        alpha = oracle_shrinkage(truth, n).alpha
        return MeanEmbedding(points, np.full(n, (1.0 - alpha) / n), truth.kernel, alpha)


Compared = MeanEstimator | OracleShrinkage


def run_trial(
    design: MixtureDesign,
    n: int,
    d: int,
    trial: int,
    missing: Mapping[str, tuple[Kernel, Mapping[str, Any]]],
    seed: int,
) -> list[Row]:
    """Losses on one data set for every kernel and estimator in ``missing``, by the repr of a kernel.

    (seed, n, d, trial) has random streams for the mixture, for the sample and for the bandwidths, as if every kernel
    were alone.  Rows are (kernel, n, d, trial, label, loss, seconds); the seconds are the time of the estimate.
    """
    streams = [np.random.SeedSequence(seed, spawn_key=(n, d, trial, stream)) for stream in range(3)]
    rows: list[Row] = []
    try:
        mixture = design.draw(np.random.default_rng(streams[0]), d)
        if mixture.dimension != d:
            raise ValueError(f"d={d} is not the dimension of the mixture, {mixture.dimension}")
        points = mixture.sample(np.random.default_rng(streams[1]), n)
        for name, (kernel, estimators) in missing.items():
            truth = true_embedding(mixture, kernel.resolve(points, np.random.default_rng(streams[2])))
            for label, estimator in estimators.items():
                start = time.perf_counter()
                estimate = estimator.embed(points, truth if isinstance(estimator, OracleShrinkage) else truth.kernel)
                seconds = time.perf_counter() - start
                rows.append((name, n, d, trial, label, loss(estimate, truth), seconds))
    except Exception as error:
        error.add_note(f"in trial {trial} of {design!r} with n={n}, d={d} and seed {seed}")
        raise
    return rows


def _with_references(estimators: Any, oracle: bool) -> dict[str, Compared]:
    """The plain average first, then the estimators of the user, then the oracle."""
    named = named_estimators(estimators)
    if ORACLE in named or not isinstance(named.get(BASELINE, KME()), KME):
        raise ValueError(f"the labels {BASELINE!r} and {ORACLE!r} are reserved for references; use other labels")
    reference: dict[str, Compared] = {ORACLE: OracleShrinkage()} if oracle else {}
    return {BASELINE: KME(), **named, **reference}


def _named_kernels(kernels: Any) -> dict[str, Kernel]:
    """Labels and kernels."""
    if isinstance(kernels, Mapping):
        pairs = [(str(label), as_kernel(kernel, name="kernels")) for label, kernel in kernels.items()]
    else:
        members = [kernels] if isinstance(kernels, str) or callable(kernels) else several(kernels, (), "kernels")
        read = [(given, as_kernel(given, name="kernels")) for given in members]
        pairs = [(given if isinstance(given, str) else repr(kernel), kernel) for given, kernel in read]
    if not pairs or len({repr(kernel) for _, kernel in pairs}) < len(pairs):
        raise ValueError("kernels is empty, or holds a kernel more than once")
    return dict(pairs)
