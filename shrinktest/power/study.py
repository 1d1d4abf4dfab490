"""power_study: which trials are missing, run wherever joblib sends them, and kept as they come."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterable, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np

from shrinktest._check import as_rng, choice, count, flag, level, listed, resample_count, to_plain
from shrinktest._hints import hinted
from shrinktest._parallel import n_workers
from shrinktest._warn import warn_user
from shrinktest.hypotheses.base import Hypothesis
from shrinktest.permutations.base import Permutations
from shrinktest.permutations.stopping import Curtailed, Stopping, as_stopping
from shrinktest.power.any_test import AnyTest
from shrinktest.power.arguments import (
    Compared,
    brings_kernels,
    named_tests,
    options_of,
    permutes,
    require_room,
    seed_of,
    several,
    trial_numbers,
)
from shrinktest.power.designs import Design, as_design
from shrinktest.power.designs.base import sizes_of
from shrinktest.power.result import INTERVALS, PowerStudyResult
from shrinktest.power.store import Store
from shrinktest.power.store_file import check_store
from shrinktest.power.trial import run_trial
from shrinktest.power.work import finish
from shrinktest.results.conclude import enough
from shrinktest.results.info import KINDS


@hinted
def power_study(
    design: Any,
    estimators: Any = ("kme",),
    sample_sizes: Any = (20, 50, 100),
    *,
    alphas: Any = (0.05,),
    n_trials: int | range = 500,
    n_resamples: float = 999,
    stopping: Any = None,
    with_null: bool = True,
    test_options: Mapping[str, Any] | None = None,
    rng: Any = 0,
    store: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    progress: bool = True,
    interval: str = "beta",
) -> PowerStudyResult:
    """Power of tests, and their level beside it, estimated by simulation with intervals: kernel tests and any others.

    Parameters
    ----------
    design : str, Design or callable
        Where the data come from: a name (``shrinktest power --list``), a design such as
        ``designs.MeanShift(shift=0.5)``, or a function ``(rng, n) -> (X, Y)`` of two samples
        (``designs.FromFunction(function, test="independence")`` for pairs).
    estimators : str, MeanEstimator, callable, AnyTest, sequence of these, or dict of label to one of these
        What to compare.  Without a dict, the label of a name is the name, that of an estimator its repr.  Tests that
        combine several: "auto", a list within the sequence or the dict, or keyword arguments of the test, such as
        ``{"narrow and wide": {"estimator": ["kme", "skmse"], "bandwidth": ["0.5 * median", "2 * median"]}}``.
        Any other test: a function ``(X, Y)`` or ``(X, Y, rng)`` that returns a p-value, such as those of scipy.stats,
        :class:`~shrinktest.power.AnyTest`, or one of the names below.
    sample_sizes : int or sequence of int
        Numbers of observations in X; those in Y follow from the design.
    alphas : float or sequence of float
        Levels; p-values are kept, so that all are read off the same tests.  A test rejects when p <= alpha.
    n_trials : int or range, default 500
        Data sets per sample size; ``range(100, 200)`` are those numbered 100 to 199, for a part of a study that
        :func:`~shrinktest.power.merge` puts together.
    n_resamples : int or inf, default 999
        Permutations per test, also for those tests of other packages that have names and permute.
    stopping : {None, "besag-clifford", "curtailed"} or Stopping
        When a test may draw fewer of them; see :func:`two_sample_test`.  With "curtailed" every test draws only until
        it is certain how it decides at all ``alphas``: the same powers and levels in a fraction of the time, but at
        these levels only.  For kernel tests, as are ``test_options``: any other test gets the data and nothing else.
    with_null : bool, default True
        Also run the design's null twin, the same data with nothing to find, which shows the level of the tests.
    test_options : dict, optional
        Keyword arguments for the test: ``kernel``, ``bandwidth`` (two samples), ``kernel_x``, ``kernel_y``,
        ``bandwidth_x``, ``bandwidth_y`` (independence), ``form``, ``gram``, ``rank``; ``comparison``, ``weights`` (k
        samples); ``kernels``, ``bandwidths`` (joint independence); also ``paired``, ``shift``, and ``blocks`` and
        ``groups`` for studies of one sample size.  "auto" and other collections keep the kernels and bandwidths they
        have.  :class:`~shrinktest.power.designs.FromFunction` has labels for every size, and a null twin that respects
        them.
    rng : int, None, SeedSequence, BitGenerator or Generator, default 0
        Seed of the study.  None takes the seed of the store or, for a new one, fresh entropy.
    store : str or path, optional
        An SQLite file that keeps every p-value.  A study that was stopped, by whatever means, goes on from there and
        ends with the table of an uninterrupted one; more trials, estimators or sample sizes extend it.
    workers : int, optional
        Processes; default all usable cores, or what ``joblib.parallel_config`` says: within
        ``joblib.parallel_config("dask")`` the trials run on the cluster.  The result is the same for any number.
    progress : bool, default True
        Show a progress bar.
    interval : {"beta", "wilson"}
        95% intervals: "beta" (Clopper-Pearson) covers at least 95% of the time, "wilson" about 95%.

    Returns
    -------
    PowerStudyResult
        ``result.table``, ``result.size_table``, ``result.compare(a, b)``, ``result.plot()``, ``result.summary()``.

    Raises
    ------
    ValueError, TypeError
        For arguments that cannot be used; the message names the argument and says what to do.  Also for a store that is
        damaged or of another study; it is then left as it is.
    OSError
        For a store that cannot be opened or written to.

    Warns
    -----
    UserWarning
        When a sample size has too few different permutations to reject at one of the levels.

    See Also
    --------
    solve_sample_size : How many observations a given power needs.
    calibrate : Whether a test keeps its level on your own data.
    two_sample_test, independence_test : The tests themselves.
    shrinktest.power.merge : One study from parts that ran on several machines.

    Notes
    -----
    Studies are paired: in every trial all estimators get the same data and the same permutations, and any other test
    the same data.  Every trial has random streams of its own (``SeedSequence(seed, spawn_key=(n, null, trial,
    stream))``; 0 for data, 1 for permutations, 2 for other tests), so that the order of trials, what else is compared,
    the number of workers, interruptions and the machine do not matter.  The work is spread over trials, and every test
    runs in a single thread.

    A store knows functions (a design, an estimator, a kernel or a test of yours) by their names only.

    Tests of other packages that are known by name, which is that of their function: for two samples "ks_2samp",
    "cramervonmises_2samp", "mannwhitneyu", "ttest_ind" (scipy), "energy_test" (dcor), "random_forest" (scikit-learn);
    for pairs "pearsonr", "spearmanr" (scipy), "distance_covariance_test" (dcor); for several samples "kruskal" (scipy).
    Those of scipy are run with scipy's defaults on every column, or every pair of columns, and the smallest p-value is
    multiplied by their number (Bonferroni).  The forest learns from a random half of each sample; the p-value is Mann
    and Whitney's for its scores of the other halves, one-sided.

    Examples
    --------
    >>> from shrinktest import FKMSE
    >>> from shrinktest.power import designs, power_study
    >>> wider = designs.ScaleChange(dimension=20, scale=1.3)
    >>> estimators = {"kme": "kme", "shrunken": FKMSE(lam_cov=0.3)}
    >>> result = power_study(wider, estimators, [10, 20, 30], n_trials=40, n_resamples=99, workers=1, progress=False)
    >>> result.table[["estimator", "n", "alpha", "power", "trials"]]
      estimator   n  alpha  power  trials
    0       kme  10   0.05  0.175      40
    1       kme  20   0.05  0.225      40
    2       kme  30   0.05  0.375      40
    3  shrunken  10   0.05  0.375      40
    4  shrunken  20   0.05  0.600      40
    5  shrunken  30   0.05  0.850      40

    Beside a test of scipy, by name, and a test of one's own:

    >>> import numpy as np
    >>> def spread(X, Y, rng):  # 99 permutations of the distance from the centre
    ...     distances = np.concatenate([np.linalg.norm(sample - sample.mean(axis=0), axis=1) for sample in (X, Y)])
    ...     found = [distances, *(rng.permutation(distances) for _ in range(99))]
    ...     gaps = np.array([abs(one[: len(X)].mean() - one[len(X) :].mean()) for one in found])
    ...     return (gaps >= gaps[0]).mean()
    >>> tests = {"kme": "kme", "columns": "ks_2samp", "spread": spread}
    >>> result = power_study(wider, tests, 25, n_trials=40, n_resamples=99, workers=1, progress=False)
    >>> result.table[["estimator", "n", "alpha", "power", "trials"]]
      estimator   n  alpha  power  trials
    0       kme  25   0.05   0.40      40
    1   columns  25   0.05   0.05      40
    2    spread  25   0.05   1.00      40
    """
    design = as_design(design)
    named = named_tests(estimators, design.test)
    sizes = _sizes(sample_sizes, design)
    alphas = tuple(sorted({level(alpha, "alphas") for alpha in several(alphas, Real, "alphas")}))
    trials = trial_numbers(n_trials)
    rule = _stopping(stopping, alphas)
    ours = [one for one in named.values() if not isinstance(one, AnyTest)]
    n_resamples = resample_count(n_resamples)
    _check_resamples(n_resamples, alphas[0], named.values())
    options = options_of(test_options, design.test, "test_options")
    for name, given in (("test_options", options), ("stopping", rule)):
        if given and not ours:
            raise ValueError(f"{name} is for kernel tests, and there is none among {listed(named)}; leave it out")
    for key in options:
        if key.startswith(("kernel", "bandwidth")) and all(map(brings_kernels, named.values())):
            raise ValueError(f"test_options has {key!r}, and all that is compared has kernels of its own; leave it out")
    choice(interval, tuple(INTERVALS), "interval")
    nulls, progress = (False, True) if flag(with_null, "with_null") else (False,), flag(progress, "progress")
    require_room(trials, len(sizes) * len(nulls))
    jobs = None if workers is None else n_workers(workers)
    as_rng(rng)  # raises on what is no seed
    check_store(store)
    stops = {} if rule is None else {"stopping": rule}
    _rehearse(design, nulls, sizes, alphas, n_resamples, named, options, stops)
    with Store(store) as kept:
        seed = seed_of(rng, kept.arguments().get("seed"))
        shown = {key: repr(to_plain(value)) for key, value in {**design.options(), **options, **stops}.items()}
        about = {"design": repr(design), "test": design.test, **shown, "n_resamples": n_resamples, "seed": seed}
        kept.claim(about, {label: repr(_member(one)) for label, one in named.items()})
        done = {row[:4] for row in kept.rows()}
        # trials come first, so that what a stopped study has is balanced and the time left can be foretold
        cells = [(n, null, trial) for trial in trials for n in sizes for null in nulls]
        left = [(cell, {label: named[label] for label in named if (*cell, label) not in done}) for cell in cells]
        tasks = [(design, *cell, missing, seed, n_resamples, options | stops) for cell, missing in left if missing]
        finish(kept, run_trial, tasks, len(cells), jobs, progress)
        wanted = set(cells)
        rows = [row for row in kept.rows() if row[:3] in wanted and row[3] in named]
    return PowerStudyResult.from_rows(
        rows,
        design=design,
        estimators=named,
        alphas=alphas,
        n_resamples=n_resamples,
        seed=seed,
        interval=interval,
        stopping=rule,
    )


def _member(compared: Compared) -> Any:
    """What is compared, with whole arrays, of which a repr shows the first and the last numbers only."""
    return to_plain(compared) if isinstance(compared, dict) else compared


def _stopping(stopping: Any, alphas: tuple[float, ...]) -> Stopping | None:
    rule = as_stopping(stopping, *alphas)
    if isinstance(rule, Curtailed) and not set(alphas) <= set(rule.alphas):
        raise ValueError(
            f"stopping={rule!r} must decide at all alphas of the study, {alphas}; use stopping='curtailed'"
        )
    return rule


def _rehearse(
    design: Design,
    nulls: Iterable[bool],
    sizes: tuple[int, ...],
    alphas: tuple[float, ...],
    n_resamples: float,
    estimators: Mapping[str, Compared],
    options: Mapping[str, Any],
    stops: Mapping[str, Any],
) -> None:
    """Find out what cannot work before anything is stored or sent elsewhere, and compile what must be."""
    for null in nulls:
        run_trial(design, sizes[0], null, 0, estimators, 0, 1, {**options, **stops})
    if all(isinstance(one, AnyTest) for one in estimators.values()):
        return  # what they relabel, if anything, is their own affair
    for n in sizes:
        permutations = permutations_of(design, n, alphas[0], n_resamples, options)
        if too_few(permutations, alphas[0]):
            warn_user(
                f"n={n} has only {permutations.distinct:g} different permutations, so that no p-value is below "
                f"{1.0 / permutations.distinct:.3g}: the test can never reject at alpha={alphas[0]:g}"
            )


def too_few(permutations: Permutations, alpha: float) -> bool:
    """Return True if there are so few permutations that no p-value can be as small as the level."""
    return 1.0 / permutations.distinct > alpha


def permutations_of(
    design: Design, n: int, alpha: float, n_resamples: float, options: Mapping[str, Any]
) -> Permutations:
    """What the tests of a study permute; raises ValueError where a restriction leaves too few to reject."""
    data = design.sample(np.random.default_rng(0), n)
    keywords = {**design.options_for(*sizes_of(data)), **options}
    kind = KINDS[design.test]
    reading = (*kind.settings, *kind.restrictions, "column_types", "nan_policy")
    told = {name: keywords[name] for name in reading if name in keywords}
    hypothesis: Hypothesis = kind.load("reader")(*data, **told)
    return hypothesis.permutations(n_resamples, alpha)


def _sizes(sample_sizes: Any, design: Design) -> tuple[int, ...]:
    given = {count(n, "sample_sizes", minimum=1) for n in several(sample_sizes, Integral, "sample_sizes")}
    sizes = tuple(sorted(given))
    if sizes[0] < design.smallest():
        raise ValueError(f"sample_sizes has {sizes[0]}, and {design!r} needs n >= {design.smallest()}")
    return sizes


def _check_resamples(n_resamples: float, alpha: float, compared: Collection[Compared]) -> None:
    drawing = [one.label for one in compared if isinstance(one, AnyTest) and one.permutes]
    if drawing and math.isinf(n_resamples):
        raise ValueError(f"n_resamples=inf asks for all permutations, and {listed(drawing)} draws them; give a number")
    if not any(map(permutes, compared)):
        return
    if n_resamples < 1 or 1.0 / (n_resamples + 1.0) > alpha:
        raise ValueError(
            f"n_resamples={n_resamples} is too small for alpha={alpha:g}: the smallest p-value is "
            f"{1.0 / (n_resamples + 1.0):.3g}, so that no test could reject; {enough(alpha)}"
        )
