"""risk_study: exact losses of several estimators on the same data sets."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from shrinktest._check import Array, flag
from shrinktest._hints import hinted
from shrinktest._machine_code import always
from shrinktest._random import as_rng
from shrinktest.embedding import MeanEmbedding
from shrinktest.estimators import KME, as_estimator
from shrinktest.kernels import Kernel, as_kernel
from shrinktest.power.compared import as_sizes, named_members, several
from shrinktest.power.trials import RISK, Row, as_run, check_store, run_study, trial_numbers
from shrinktest.risk.losses import TrueEmbedding, loss, oracle_shrinkage, true_embedding
from shrinktest.risk.mixtures import MixtureDesign, as_mixture_design
from shrinktest.risk.risk_result import RiskStudyResult

#: Labels of the references of every study.
BASELINE = "kme"
ORACLE = "oracle"


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
    rng: Any = None,
    store: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    progress: bool = False,
) -> RiskStudyResult:
    """Estimate the risk E |mu - mu_P|^2 of kernel mean estimators.

    The losses are exact, because the distributions are mixtures of Gaussians.

    Parameters
    ----------
    design : str, MixtureDesign, NormalMixture, triple or callable
        Source of the distributions: "mixture", that of the papers (``RandomMixture``), drawn anew
        in every trial; a mixture (weights, means, covariances), the same in every trial; or a
        function ``(rng, d) -> mixture``.
    estimators : str, MeanEstimator, callable, sequence of these, or dict of label to one of these
        Estimators to compare with the plain average, ``kme``.
    kernels : str, Kernel, sequence of these, or dict of label to one of these
        Kernels with a closed form (see :func:`~shrinktest.risk.true_embedding`); a median bandwidth
        is computed from each sample.
    n, d : int or sequence of int
        Sizes of the samples and their dimensions, each n in combination with each d.
    oracle : bool, default True
        Whether to add "oracle", the simple shrinkage with the smallest risk, which requires the
        distribution.
    n_trials : int or range, default 500
        Number of data sets per n and d, as for :func:`shrinktest.power_study`.
    rng : None, int, SeedSequence, BitGenerator or Generator
        Seed of the study.  None means the seed of the store or, for a new one, fresh entropy.
    store : str or path, optional
        An SQLite file with every loss, from which an interrupted study resumes.
    workers : int, optional
        Number of processes; default all usable cores.  The result does not depend on it.
    progress : bool, default False
        Show a progress bar.

    Returns
    -------
    RiskStudyResult
        ``result.table``, ``result.difference(a, b)``, ``result.plot()``, ``result.summary()``.

    Raises
    ------
    ValueError, TypeError
        If an argument cannot be used, a kernel has no closed form, or the store holds another
        study.

    See Also
    --------
    loss_path : The loss of one estimator as a function of its amount of shrinkage.
    shrinktest.power_study : The power of tests that use an estimator.

    Notes
    -----
    Studies are paired, because all estimators and kernels get the same points in every trial.
    Every trial has random streams of its own (``SeedSequence(seed, spawn_key=(n, d, trial,
    stream))``).  Only the data sets are random, whereas the losses are exact.

    Examples
    --------
    >>> result = risk_study("mixture", ["skmse", "fkmse"], n=5, d=5, n_trials=40, workers=1, rng=0)
    >>> result.table[["estimator", "n", "loss", "improvement"]].round(3)
      estimator  n   loss  improvement
    0       kme  5  0.074        0.000
    1     skmse  5  0.065       12.895
    2     fkmse  5  0.066       11.291
    3    oracle  5  0.059       20.098
    """
    design = as_mixture_design(design)
    labels = _named_kernels(kernels)
    members = named_members(estimators, as_estimator)
    if ORACLE in members or not isinstance(members.get(BASELINE, KME()), KME):
        raise ValueError(
            f"the labels {BASELINE!r} and {ORACLE!r} are reserved for references; use other labels"
        )
    members = {
        BASELINE: KME(),
        **members,
        **({ORACLE: OracleShrinkage()} if flag(oracle, "oracle") else {}),
    }
    sizes = as_sizes(n, "n")
    dimensions = as_sizes(d, "d")
    trials = trial_numbers(n_trials)
    run = as_run(workers, progress)
    as_rng(rng)  # raises on what is not a seed
    check_store(store, RISK)
    by_repr = {repr(kernel): kernel for kernel in labels.values()}  # by which stores know kernels
    keys = [(kernel, label) for kernel in by_repr for label in members]
    run_data_set = partial(run_trial, design, by_repr, members)
    with always(
        compiled=True
    ):  # errors show, and loops are compiled, before anything is stored or sent elsewhere
        for dimension in dimensions:
            run_data_set(sizes[0], dimension, 0, keys, 0)
    rows, seed = run_study(
        RISK,
        run_data_set,
        [
            (size, dimension, trial)
            for trial in trials
            for size in sizes
            for dimension in dimensions
        ],
        keys,
        settings={"design": design.identity()},
        definitions={label: repr(estimator) for label, estimator in members.items()},
        store=store,
        rng=rng,
        **run,
    )
    return RiskStudyResult.from_rows(
        rows, design=design, estimators=members, kernels=labels, seed=seed
    )


@dataclass(frozen=True)
class OracleShrinkage:
    """Simple shrinkage by the amount with the smallest risk, for the known distribution."""

    def embed(self, points: Array, truth: TrueEmbedding) -> MeanEmbedding:
        """Return (1 - alpha) mu_hat with the oracle's alpha."""
        n = len(points)
        alpha = oracle_shrinkage(truth, n).alpha
        return MeanEmbedding(points, np.full(n, (1.0 - alpha) / n), truth.kernel, alpha)


def run_trial(
    design: MixtureDesign,
    kernels: Mapping[str, Kernel],
    members: Mapping[str, Any],
    n: int,
    d: int,
    trial: int,
    keys: Iterable[Row],
    seed: int,
) -> list[Row]:
    """Return losses on one data set for pairs of a kernel, by its repr, and a label.

    (seed, n, d, trial) has random streams for the mixture, for the sample and for the bandwidths,
    as if every kernel were alone.  Rows are (n, d, trial, kernel, label, loss, seconds); the
    seconds are the time of the estimate.
    """
    streams = [np.random.SeedSequence(seed, spawn_key=(n, d, trial, stream)) for stream in range(3)]
    rows: list[Row] = []
    truths: dict[str, TrueEmbedding] = {}
    try:
        mixture = design.draw(np.random.default_rng(streams[0]), d)
        if mixture.dimension != d:
            raise ValueError(f"d={d} is not the dimension of the mixture, {mixture.dimension}")
        points = mixture.sample(np.random.default_rng(streams[1]), n)
        for name, label in keys:
            if name not in truths:
                truths[name] = true_embedding(
                    mixture, kernels[name].resolve(points, np.random.default_rng(streams[2]))
                )
            start = time.perf_counter()
            truth = truths[name]
            estimator = members[label]
            estimate = estimator.embed(
                points, truth if isinstance(estimator, OracleShrinkage) else truth.kernel
            )
            seconds = time.perf_counter() - start
            rows.append((n, d, trial, name, label, loss(estimate, truth), seconds))
    except Exception as error:
        error.add_note(f"in trial {trial} of {design!r} with n={n}, d={d} and seed {seed}")
        raise
    return rows


def _named_kernels(kernels: Any) -> dict[str, Kernel]:
    """Return labels and kernels."""
    if not isinstance(kernels, Mapping):
        members = (
            [kernels]
            if isinstance(kernels, str) or callable(kernels)
            else several(kernels, (), "kernels")
        )
        kernels = {given if isinstance(given, str) else repr(given): given for given in members}
    named = {str(label): as_kernel(kernel, name="kernels") for label, kernel in kernels.items()}
    if len({repr(kernel) for kernel in named.values()}) < max(len(named), 1):
        raise ValueError("kernels is empty, or holds a kernel more than once")
    return named
