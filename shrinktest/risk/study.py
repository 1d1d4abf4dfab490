"""risk_study: exact losses of several estimators on the same data sets, run and kept as power studies are."""

from __future__ import annotations

import os
from collections.abc import Mapping
from numbers import Integral
from typing import Any

from shrinktest._check import as_rng, count, flag
from shrinktest._hints import hinted
from shrinktest._parallel import n_workers
from shrinktest.estimators import KME
from shrinktest.kernels import Kernel, as_kernel
from shrinktest.power.arguments import named_estimators, require_room, seed_of, several, trial_numbers
from shrinktest.power.store import Store
from shrinktest.power.store_file import RISK, check_store
from shrinktest.power.work import finish
from shrinktest.risk.design import as_mixture_design
from shrinktest.risk.result import RiskStudyResult
from shrinktest.risk.trial import Compared, OracleShrinkage, run_trial

#: Labels of what every study has for reference.
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
    """Estimate the risk E |mu - mu_P|^2 of kernel mean estimators on mixtures of Gaussians, where losses are exact.

    Parameters
    ----------
    design : str, MixtureDesign, NormalMixture, triple or callable
        Where the distributions come from: "mixture", the papers' one (``RandomMixture``), drawn anew in every trial; a
        mixture (weights, means, covariances), the same in every trial; or a function ``(rng, d) -> mixture``.
    estimators : str, MeanEstimator, callable, sequence of these, or dict of label to one of these
        What to compare.  The plain average, ``kme``, is always included.
    kernels : str, Kernel, sequence of these, or dict of label to one of these
        Kernels with a closed form (see :func:`~shrinktest.risk.true_embedding`); a median bandwidth is that of the
        sample at hand.
    n, d : int or sequence of int
        Sizes of the samples, and their dimensions; every n with every d.
    n_trials : int or range, default 500
        Data sets per n and d; a range for a part of a study, to be joined by :func:`~shrinktest.power.merge`.
    oracle : bool, default True
        Whether to show, as "oracle", the simple shrinkage with the smallest risk, for which the distribution must be
        known.
    rng : int, None, SeedSequence, BitGenerator or Generator, default 0
        Seed of the study.  None takes the seed of the store or, for a new one, fresh entropy.
    store : str or path, optional
        An SQLite file that keeps every loss.  A study that was stopped goes on from there; more trials, estimators,
        kernels, sizes or dimensions extend it.
    workers : int, optional
        Processes; default all usable cores, or what ``joblib.parallel_config`` says.  The result is the same for any
        number.
    progress : bool, default True
        Show a progress bar.

    Returns
    -------
    RiskStudyResult
        ``result.table``, ``result.compare(a, b)``, ``result.plot()``, ``result.summary()``.

    Raises
    ------
    ValueError, TypeError
        For arguments that make no study; the message names the argument and says what to do.  Also for a store that
        is damaged or of another study; it is then left as it is.
    OSError
        For a store that cannot be opened or written to.

    See Also
    --------
    loss_path : The loss of one estimator by its amount of shrinkage.
    oracle_shrinkage : The best amount of simple shrinkage, where the distribution is known.
    shrinktest.power_study : What an estimator does for the power of a test.

    Notes
    -----
    Studies are paired: in every trial all estimators and kernels get the same points.  Every trial has random streams
    of its own (``SeedSequence(seed, spawn_key=(n, d, trial, stream))``), so that neither what else is in the study nor
    the order of the work matters.  The losses are exact: only the data sets are random.

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
    kinds = _named_kernels(kernels)
    sizes, dimensions = (
        tuple(sorted({count(one, name, minimum=1) for one in several(values, Integral, name)}))
        for name, values in (("n", n), ("d", d))
    )
    trials = trial_numbers(n_trials)
    require_room(trials, len(sizes) * len(dimensions))
    jobs, progress = None if workers is None else n_workers(workers), flag(progress, "progress")
    as_rng(rng)  # raises on what is no seed
    check_store(store, RISK)
    whole = {repr(kernel): (kernel, named) for kernel in kinds.values()}
    for dimension in dimensions:  # find out what cannot work before anything is stored, and compile what must be
        run_trial(design, sizes[0], dimension, 0, whole, 0)
    with Store(store, RISK) as kept:
        seed = seed_of(rng, kept.arguments().get("seed"))
        kept.claim(
            {"design": repr(design), "seed": seed}, {label: repr(estimator) for label, estimator in named.items()}
        )
        done = {row[:5] for row in kept.rows()}
        cells = [(size, dimension, trial) for trial in trials for size in sizes for dimension in dimensions]
        left = [(cell, _missing(whole, cell, done)) for cell in cells]
        tasks = [(design, *cell, missing, seed) for cell, missing in left if missing]
        finish(kept, run_trial, tasks, len(cells), jobs, progress)
        wanted = set(cells)
        labels = {repr(kernel): label for label, kernel in kinds.items()}
        rows = [
            (labels[row[0]], *row[1:])
            for row in kept.rows()
            if row[0] in labels and row[1:4] in wanted and row[4] in named
        ]
    return RiskStudyResult.from_rows(rows, design=design, estimators=named, kernels=kinds, seed=seed)


def _missing(
    whole: Mapping[str, tuple[Kernel, Mapping[str, Compared]]], cell: tuple[int, int, int], done: set[tuple[Any, ...]]
) -> dict[str, tuple[Kernel, dict[str, Compared]]]:
    """What of a study is not yet done in one cell."""
    out = {}
    for name, (kernel, estimators) in whole.items():
        left = {label: one for label, one in estimators.items() if (name, *cell, label) not in done}
        if left:
            out[name] = kernel, left
    return out


def _with_references(estimators: Any, oracle: bool) -> dict[str, Compared]:
    """The plain average first, then what was asked for, then the oracle."""
    named = named_estimators(estimators)
    if not isinstance(named.get(BASELINE, KME()), KME):
        raise ValueError(f"the label {BASELINE!r} is that of the plain average, the baseline; give another one")
    if ORACLE in named:
        raise ValueError(f"the label {ORACLE!r} is that of the reference row; give another one")
    reference: dict[str, Compared] = {ORACLE: OracleShrinkage()} if oracle else {}
    return {BASELINE: KME(), **named, **reference}


def _named_kernels(kernels: Any) -> dict[str, Kernel]:
    """Labels and kernels."""
    if isinstance(kernels, Mapping):
        pairs = [(str(label), as_kernel(kernel, name="kernels")) for label, kernel in kernels.items()]
    else:
        listed = [kernels] if isinstance(kernels, str) or callable(kernels) else several(kernels, (), "kernels")
        resolved = [as_kernel(kernel, name="kernels") for kernel in listed]
        pairs = [(given if isinstance(given, str) else repr(k), k) for given, k in zip(listed, resolved, strict=True)]
    if not pairs:
        raise ValueError("kernels is empty; name at least one, such as 'gaussian'")
    texts = [repr(kernel) for _, kernel in pairs]
    for text in texts:
        if texts.count(text) > 1:
            raise ValueError(f"kernels holds {text} more than once; drop one of them")
    return dict(pairs)
