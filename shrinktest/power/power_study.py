"""power_study: rejection rates of tests on simulated data sets."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np

from shrinktest._check import flag, listed, resample_count, to_plain
from shrinktest._hints import hinted
from shrinktest._machine_code import always
from shrinktest._random import as_rng
from shrinktest._warn import warn_user
from shrinktest.permutations.base import Permutations
from shrinktest.permutations.design import TooFewPermutations
from shrinktest.permutations.multiplicity import enough
from shrinktest.permutations.stopping import Curtailed, as_stopping
from shrinktest.power.compared import (
    AnyTest,
    Compared,
    as_compared,
    as_levels,
    as_sizes,
    brings_kernels,
    named_members,
    options_of,
    permutes,
)
from shrinktest.power.designs import Design, as_design
from shrinktest.power.study_result import PowerStudyResult
from shrinktest.power.trials import POWER, Row, as_run, check_store, run_study, trial_numbers
from shrinktest.results.info import KINDS

# a level at which no test warns that it has too few permutations to reject; it decides nothing here
_ANY = 0.999


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
    rng: Any = None,
    store: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    progress: bool = False,
) -> PowerStudyResult:
    """Estimate the power and Type I error rate of tests by simulation.

    Parameters
    ----------
    design : str, Design or callable
        Source of the data: a name (``shrinktest power --list``), a design such as
        ``designs.MeanShift(shift=0.5)``, or a function ``(rng, n) -> (X, Y)`` of two samples
        (``designs.FromFunction(function, test="independence")`` for pairs).
    estimators : str, MeanEstimator, callable, AnyTest, sequence or dict of these
        Tests to compare.  Unless a dict gives labels, a name is its own label and an estimator is
        labeled by its repr.  To combine several, pass "auto", a list within the sequence or
        the dict, or keyword arguments of the test, such as ``{"narrow and wide": {"estimator":
        ["kme", "skmse"], "bandwidth": ["0.5 * median", "2 * median"]}}``.  Any other test is a
        function ``(X, Y)`` or ``(X, Y, rng)`` that returns a p-value, such as the tests of
        scipy.stats, an :class:`~shrinktest.power.AnyTest`, or a name listed in :doc:`/power`, such
        as "ks_2samp".
    sample_sizes : int or sequence of int
        Numbers of observations in X; those in Y follow from the design.
    alphas : float or sequence of float
        Significance levels, all computed from the same tests.  A test rejects when p <= alpha.
    n_trials : int or range, default 500
        Number of data sets per sample size.  To run a study in parts and join them with
        :func:`~shrinktest.power.merge`, pass a range: ``range(100, 200)`` runs those numbered 100
        to 199.
    n_resamples : int or inf, default 999
        Number of permutations per test, including permutation tests of other packages that are
        passed by name.
    stopping : {None, "besag-clifford", "curtailed"} or Stopping
        When a kernel test may stop permuting early; see :func:`two_sample_test`.  With "curtailed"
        every test draws only until its decision at all ``alphas`` is certain, which gives equal
        powers in less time, but at these levels only.
    with_null : bool, default True
        Whether to also run the null twin of the design, which draws data without an effect and
        shows the Type I error rates.
    test_options : dict, optional
        Keyword arguments for the kernel test of the design, such as ``kernel``, ``bandwidth``,
        ``form`` or ``paired``.  "auto" and other ensembles, however, use their own kernels and
        bandwidths.
    rng : None, int, SeedSequence, BitGenerator or Generator
        Seed of the study.  None means the seed of the store or, for a new one, fresh entropy.
    store : str or path, optional
        An SQLite file with every p-value.  An interrupted study resumes from it and ends with an
        identical table; more trials, estimators or sample sizes extend it.
    workers : int, optional
        Number of processes, by default all usable cores or the number that
        ``joblib.parallel_config`` sets: within ``joblib.parallel_config("dask")`` the trials run on
        the cluster.  The result does not depend on it.
    progress : bool, default False
        Show a progress bar.

    Returns
    -------
    PowerStudyResult
        ``result.table``, ``result.size_table``, ``result.difference(a, b)``, ``result.plot()``,
        ``result.summary()``, ``result.paragraph()``.

    Raises
    ------
    ValueError, TypeError
        If an argument cannot be used, a test returns no p-value, or the store holds another study.

    See Also
    --------
    solve_sample_size : Smallest number of observations that reaches a power.
    check_level : Whether a test is valid on data like your own.
    shrinktest.power.merge : One study from parts that ran on several machines.

    Notes
    -----
    Studies are paired: in every trial all estimators get the same data and permutations, and other
    tests the same data.  The random streams of a trial are ``SeedSequence(seed, spawn_key=(n, null,
    trial, stream))``, with stream 0 for data, 1 for permutations and 2 for other tests, so that the
    result depends neither on the order of trials nor on the other tests in the study.  A store
    identifies functions (a design, estimator, kernel or test of yours) only by name.

    Examples
    --------
    >>> from shrinktest import FKMSE
    >>> from shrinktest.power import designs, power_study
    >>> wider = designs.ScaleChange(dimension=20, scale=1.3)
    >>> estimators = {"kme": "kme", "shrunken": FKMSE(lam_cov=0.3)}
    >>> result = power_study(
    ...     wider, estimators, [10, 20, 30], n_trials=40, n_resamples=99, workers=1, rng=0
    ... )
    >>> result.table[["estimator", "n", "alpha", "power", "trials"]]
      estimator   n  alpha  power  trials
    0       kme  10   0.05  0.175      40
    1       kme  20   0.05  0.225      40
    2       kme  30   0.05  0.375      40
    3  shrunken  10   0.05  0.375      40
    4  shrunken  20   0.05  0.600      40
    5  shrunken  30   0.05  0.850      40
    """
    design = as_design(design)
    members = named_members(estimators, partial(as_compared, test=design.test))
    sizes = as_sizes(sample_sizes, "sample_sizes")
    alphas = as_levels(alphas)
    if sizes[0] < design.smallest():
        raise ValueError(
            f"sample_sizes has {sizes[0]}, and {design!r} needs n >= {design.smallest()}"
        )
    nulls = (False, True) if flag(with_null, "with_null") else (False,)
    trials = trial_numbers(n_trials)
    rule = as_stopping(stopping, *alphas)
    n_resamples = resample_count(n_resamples)
    _check_decides(rule, alphas)
    options = options_of(test_options, design.test, "test_options")
    _check_used(options, rule, n_resamples, alphas[0], members)
    run = as_run(workers, progress)
    as_rng(rng)  # raises on what is not a seed
    check_store(store, POWER)
    options |= {} if rule is None else {"stopping": rule}
    if "planned_alpha" in KINDS[design.test].planned:
        options |= {"planned_alpha": alphas[0]}
    run_data_set = partial(run_trial, design, members, options)
    with always(
        compiled=True
    ):  # errors show, and loops are compiled, before anything is stored or sent elsewhere
        for null in nulls:
            run_data_set(1, sizes[0], null, 0, [(label,) for label in members], 0)
    if not all(isinstance(test, AnyTest) for test in members.values()):
        _warn_of_few(design, sizes, alphas[0], n_resamples, options)
    shown = {key: repr(to_plain(value)) for key, value in {**design.options(), **options}.items()}
    rows, seed = run_study(
        POWER,
        partial(run_data_set, n_resamples),
        # trials come first, so that an interrupted study is balanced and the bar can foretell the
        # time
        [(n, null, trial) for trial in trials for n in sizes for null in nulls],
        [(label,) for label in members],
        settings={
            "design": design.identity(),
            "test": design.test,
            **shown,
            "n_resamples": n_resamples,
        },
        # a repr shows the first and the last numbers of an array only
        definitions={
            label: repr(to_plain(t) if isinstance(t, dict) else t) for label, t in members.items()
        },
        store=store,
        rng=rng,
        **run,
    )
    about = {
        "design": design,
        "alphas": alphas,
        "n_resamples": n_resamples,
        "seed": seed,
        "stopping": rule,
    }
    return PowerStudyResult.from_rows(rows, estimators=members, **about)


def _check_decides(rule: Any, alphas: tuple[float, ...]) -> None:
    """Raise ValueError for a stopping rule that leaves decisions at other levels open."""
    if isinstance(rule, Curtailed) and not set(alphas) <= set(rule.alphas):
        raise ValueError(
            f"stopping={rule!r} must decide at all alphas of the study; use stopping='curtailed'"
        )


def _warn_of_few(
    design: Design,
    sizes: Iterable[int],
    alpha: float,
    n_resamples: float,
    options: Mapping[str, Any],
) -> None:
    """Warn of sizes with too few different permutations to reject."""
    for n in sizes:
        distinct = permutations_of(design, n, alpha, n_resamples, options).distinct
        if 1.0 / distinct > alpha:
            warn_user(
                f"n={n} has only {distinct:g} different permutations: the smallest p-value is "
                f"{1.0 / distinct:.3g}, and the test can never reject at alpha={alpha:g}"
            )


def run_trial(
    design: Design,
    members: Mapping[str, Compared],
    options: Mapping[str, Any],
    n_resamples: float,
    n: int,
    null: bool,
    trial: int,
    labels: Iterable[Row],
    seed: int,
) -> list[Row]:
    """Test one data set with the members under these labels.

    ``options`` prevail over the design's options.

    (seed, n, null, trial) has a random stream for the data, one for the permutations, the same for
    every estimator, and one for other tests, which each of them begins anew.  Rows are (n, null,
    trial, label, p-value, seconds).
    """
    twin = design.null() if null else design
    info = KINDS[twin.test]
    streams = [
        np.random.SeedSequence(seed, spawn_key=(n, int(null), trial, stream)) for stream in range(3)
    ]
    rows: list[Row] = []
    try:
        data, restriction = twin.trial(np.random.default_rng(streams[0]), n)
        keywords = {
            **twin.options(),
            **restriction,
            **options,
            "n_resamples": n_resamples,
            "workers": 1,
            "alpha": _ANY,
        }
        keywords |= dict(zip(info.named_data, data, strict=False))
        for (label,) in labels:
            start = time.perf_counter()
            compared = members[label]
            if isinstance(compared, AnyTest):
                pvalue = compared.pvalue(
                    data, np.random.default_rng(streams[2]), n_resamples, label
                )
            else:
                own = compared if isinstance(compared, dict) else {"estimator": compared}
                shared = keywords
                if brings_kernels(compared):
                    shared = {
                        key: v
                        for key, v in keywords.items()
                        if not key.startswith(("kernel", "bandwidth"))
                    }
                values = () if info.named_data else data
                try:
                    pvalue = float(
                        info.load("verb")(*values, rng=streams[1], **{**shared, **own}).pvalue
                    )
                except TooFewPermutations:
                    if not design.unit:
                        raise
                    pvalue = 1.0  # groups of these sizes happen not to be exchangeable
            if np.isnan(pvalue):
                raise ValueError(
                    f"test {label!r} has no p-value, because values are missing; use "
                    "nan_policy='omit'"
                )
            rows.append((n, null, trial, label, pvalue, time.perf_counter() - start))
    except Exception as error:
        error.add_note(f"in trial {trial} of {twin!r} with n={n} and seed {seed}")
        raise
    return rows


def permutations_of(
    design: Design, n: int, alpha: float, n_resamples: float, options: Mapping[str, Any]
) -> Permutations:
    """Return the permutations of the tests of a study.

    ValueError if a restriction leaves too few to reject.
    """
    data, restriction = design.trial(np.random.default_rng(0), n)
    keywords = {"planned_alpha": alpha, **design.options(), **restriction, **options}
    kind = KINDS[design.test]
    names = (*kind.settings, *kind.planned, *kind.restrictions, "column_types", "nan_policy")
    hypothesis = kind.load("reader")(
        *data, **{name: keywords[name] for name in names if name in keywords}
    )
    return hypothesis.permutations(
        n_resamples, alpha, hypothesis.form(keywords.get("form", "auto"))
    )  # type: ignore[no-any-return]


def _check_used(
    options: Mapping[str, Any],
    stopping: Any,
    n_resamples: float,
    alpha: float,
    members: Mapping[str, Compared],
) -> None:
    """Raise ValueError for invalid test arguments, or too few permutations to reject.

    Invalid arguments are those that no test would get.
    """
    others = [test for test in members.values() if isinstance(test, AnyTest)]
    drawing = [test.label for test in others if test.permutes]
    if drawing and math.isinf(n_resamples):
        raise ValueError(
            f"n_resamples=inf asks for all permutations, and {listed(drawing)} draws them; use a "
            "number"
        )
    if any(map(permutes, members.values())) and (
        n_resamples < 1 or 1.0 / (n_resamples + 1.0) > alpha
    ):
        raise ValueError(
            f"n_resamples={n_resamples} is too small for alpha={alpha:g}: no test could reject; "
            f"{enough(alpha)}"
        )
    for name, given in (("test_options", options), ("stopping", stopping)):
        if given and len(others) == len(members):
            raise ValueError(
                f"{name} is for kernel tests, and there is none among {listed(members)}; leave it "
                "out"
            )
    for key in options:
        if key.startswith(("kernel", "bandwidth")) and all(map(brings_kernels, members.values())):
            raise ValueError(
                f"test_options has {key!r}, and everything compared has its own kernels; leave it "
                "out"
            )
