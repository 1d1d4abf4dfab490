"""Is one sample nearer to a second than to a third?  ``closer_test``."""

from __future__ import annotations

from typing import Any

from shrinktest._hints import hinted
from shrinktest.hypotheses.closeness import Closeness
from shrinktest.results.closer import CloserResult


@hinted
def closer_test(
    X: Any,
    Y: Any,
    Z: Any,
    *,
    measure: str = "distance",
    kernel: Any = "gaussian",
    bandwidth: Any = "median",
    scale: Any = "auto",
    alternative: str = "two-sided",
    alpha: float = 0.05,
    confidence: float = 0.95,
    names: tuple[str, str, str] | list[str] = ("X", "Y", "Z"),
    paired: bool = False,
    groups: Any = None,
    column_types: Any = None,
    transform: Any = None,
    nan_policy: str = "raise",
    rng: Any = None,
    workers: int | None = None,
    gram: str = "auto",
    rank: int | None = None,
    max_memory: float | None = None,
) -> CloserResult:
    """Which of two samples, Y or Z, is nearer to X, or which X depends on more: difference, interval and p-value.

    Parameters
    ----------
    X, Y, Z : array_like, shape (m, d), (n, d) and (l, d)
        The samples, one row an observation: for example, what was observed, and what two models or simulators produce.
        Tables are matched by column name, as in :func:`two_sample_test`.  With another measure than "distance", three
        variables observed together, with as many rows.
    measure : {"distance", "dependence", "hsic"}
        "distance": the squared distance (MMD^2) from X to Y less that from X to Z, by one kernel.  "dependence": the
        kernel correlation (the normalised HSIC) of X and Z less that of X and Y.  "hsic": the same of HSIC itself,
        which depends on how far the values of Y and of Z are spread.  The difference is below zero where X is
        nearer to Y, or depends more on it.
    kernel : str, Kernel or callable, default "gaussian"
        As in :func:`two_sample_test`; with dependences a list may have one for each of X, Y and Z.
    bandwidth : float, "median", "neighbours", multiple of these, tuple, array or dict, default "median"
        As in :func:`two_sample_test`, of all samples together; with dependences of each variable by itself, and a list
        may have one for each.
    scale : {"auto", None, "sd", "mad", "rank", "deviation"}, sequence or dict
        Units of the columns, as in :func:`two_sample_test` or, with dependences, :func:`independence_test`.
    alternative : {"two-sided", "less", "greater"}
        "two-sided": either of the two may be nearer.  "less": that the difference is below zero, X nearer to Y.
        "greater": that X is nearer to Z.  To be chosen before the data are seen.
    alpha : float, default 0.05
        Level at which the result decides; the p-value does not depend on it.
    confidence : float, default 0.95
        Confidence of the interval for the difference, which is as one-sided as the alternative.
    names : tuple of str, default ("X", "Y", "Z")
        What the answer calls the samples.
    paired : bool, default False
        Row i of X, of Y and of Z belong together: forecasts of two models for one day, simulations with one seed.
    groups : array_like, optional
        A label for every row, as one vector for X, then Y and then Z, or a list of three: rows with one label (a
        patient, a batch) belong together, in one sample or in several.
    column_types, transform
        As in :func:`two_sample_test`.
    nan_policy : {"raise", "omit", "indicator"}
        Missing values are an error; their rows are left out (with those they are paired with); or it is used as
        information that they are missing.
    rng : None, int, SeedSequence, BitGenerator or Generator
        Source of random coordinates, and of the rows on which bandwidths are found where there are more than 2000.
    workers : int, optional
        Threads; the result is the same for any number.
    gram, rank, max_memory
        How the kernel is evaluated, as in :func:`two_sample_test`.  Without the Gram matrix, time and memory are linear
        in the numbers of rows.

    Returns
    -------
    CloserResult
        ``statistic, pvalue = result`` works; ``result.answer`` is the sentence, ``result.difference`` and
        ``result.interval`` say by how much, ``print(result.summary())`` shows all.

    Raises
    ------
    ValueError, TypeError
        For input that cannot be compared; the message names the argument and says what to do.
    MemoryError
        If the kernel's values would not fit ``max_memory``; says how much they take, and what fits.

    See Also
    --------
    closer_matrix : Which of several models is nearest.
    two_sample_test : Whether X and one model differ at all.
    equivalence_test : Whether X and one model are practically the same.
    independence_test : Whether X depends on one of the variables at all.

    Notes
    -----
    The p-value is asymptotic and not exact, unlike those of the permutation tests: there are no permutations under
    which nothing changes when X is as far from Y as from Z.  The level was measured from 20 rows on (see the page
    "Which model is nearer?") and is held by the two-sided test to about a point (6 % at .05); one-sided it is exceeded
    a little where Y and Z are small and have very different sizes, and a note says so.  With ``paired=True`` it can be
    exceeded by more where the rows of a pair have much in common: 7.3 % at .05 (95 % interval 6.1 % to 8.6 %) for 40
    pairs that share one normal number, which is added in X and Y and subtracted in Z.  A small p-value says that one
    is nearer, and not that it is near: use :func:`two_sample_test` for whether X and Y differ at all.

    The statistic is that of [B16], and for "hsic" of [B15]: the difference of two unbiased estimates over its standard
    error.  Both estimates share X, so that they are correlated, and the standard error is that of their difference.  It
    comes from leaving out one row of X, Y or Z at a time (the jackknife, in closed form; one pair or group where these
    belong together), which includes the part that is not linear in the data: with three samples of one distribution the
    normal limit of the papers fails, while this test becomes conservative.  The p-value is of Student's t distribution,
    with Welch's degrees of freedom; with ``groups`` the strata of both are the groups with rows in the same samples.

    With ``paired`` or ``groups`` no two rows that belong together are compared, so that the estimates stay unbiased.

    The kernel, its bandwidth and the units of the columns are found on all rows together and then regarded as fixed:
    the hypothesis is about distances by this kernel.  Another kernel weighs differences in another way and may find
    another model nearer.

    There is no ``estimator=``.  A difference of distances is centred at zero under the null hypothesis only if both are
    unbiased.  Shrinkage shortens each by an amount that depends on the spread and the size of the samples, and so makes
    the model with fewer rows, or with a larger spread, look nearer.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import closer_test
    >>> rng = np.random.default_rng(1)
    >>> observed = rng.gamma(2.0, 1.0, size=300)
    >>> one, other = rng.lognormal(0.5, 0.65, size=400), rng.normal(2.0, 1.4, size=400)
    >>> result = closer_test(observed, one, other, names=("observed", "lognormal", "normal"))
    >>> result.answer
    'observed is nearer to lognormal than to normal (p = .018).'
    >>> print(f"{result.difference:.4f} [{result.interval[0]:.4f}, {result.interval[1]:.4f}]")
    -0.0321 [-0.0587, -0.0055]

    Which of two variables a third depends on more:

    >>> dose, age = rng.normal(size=(2, 100))
    >>> response = dose + 0.3 * age + 0.5 * rng.normal(size=100)
    >>> closer_test(response, dose, age, measure="dependence", names=("response", "dose", "age")).answer
    'response depends more on dose than on age (p = 1.5e-13).'
    """
    called = _names(names)
    told = {"scale": scale, "column_types": column_types, "transform": transform, "nan_policy": nan_policy}
    closeness = Closeness.read(
        (X, Y, Z), called, measure=measure, kernel=kernel, bandwidth=bandwidth, paired=paired, groups=groups, rng=rng,
        workers=workers, gram=gram, rank=rank, max_memory=max_memory, **told,
    )  # fmt: skip
    return closeness.test(1, 2, alternative, alpha, confidence)


def _names(given: Any) -> tuple[str, ...]:
    if not isinstance(given, tuple | list) or len(given) != 3 or not all(isinstance(one, str) and one for one in given):
        raise TypeError(f"names must be three texts, such as ('observed', 'model a', 'model b'); got {given!r}")
    if len(set(given)) < 3:
        raise ValueError(f"names must differ, so that a reader can tell the samples apart; got {given!r}")
    return tuple(given)
