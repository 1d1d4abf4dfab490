"""Are several variables jointly independent?  ``joint_independence_test``."""

from __future__ import annotations

from typing import Any

from shrinktest._hints import hinted
from shrinktest._names import named_variables
from shrinktest.hypotheses.joint import JointIndependence
from shrinktest.hypotheses.settings import Settings
from shrinktest.multiple.collection import Asked, refuse_candidates
from shrinktest.multiple.run import run
from shrinktest.results.result import TestResult


@hinted
def joint_independence_test(
    *variables: Any,
    estimator: Any = "kme",
    kernels: Any = "gaussian",
    bandwidths: Any = "median",
    scale: Any = "auto",
    n_resamples: float = 999,
    stopping: Any = None,
    alpha: float = 0.05,
    permutations: Any = None,
    column_types: Any = None,
    transform: Any = None,
    nan_policy: str = "raise",
    rng: Any = None,
    workers: int | None = None,
    progress: bool = False,
    max_memory: float | None = None,
) -> TestResult:
    """p-value for the hypothesis that several variables are jointly independent: a kernel permutation test (dHSIC).

    Parameters
    ----------
    *variables : array_like, shape (n, p_l) or (n,)
        Two variables or more, row i of all belonging together.  Or one argument that holds all of them: a dict from
        names to variables, or a table, each column of which is a variable (those that ``column_types`` drops are not).
    estimator : str, MeanEstimator or callable, list of these, Collection or "auto", default "kme"
        How the mean of the features that show the dependence is estimated (see Notes): "kme" is dHSIC.  Several are
        combined into one test, as in :func:`independence_test`; "auto" is the recommended combination, of
        five kernels, each for all variables, also where there are two only.
    kernels : str, Kernel, callable, or a list with one of these for every variable, default "gaussian"
        As ``kernel`` in :func:`two_sample_test`.
    bandwidths : float or "median", or a list with one bandwidth (or sequence of them) for every variable
        One bandwidth per variable, so that the test does not depend on units.
    scale : {"auto", None, "sd", "mad", "rank", "deviation"}, list or dict
        Units of the columns, as in :func:`two_sample_test`: a name for all variables, a list with one entry for each
        (a name, None, or one number for every column), or a dict by the names of columns.
    column_types, transform
        As in :func:`independence_test`.
    n_resamples, stopping, alpha, nan_policy, rng, workers, progress, max_memory
        As in :func:`two_sample_test`.  Every variable but the first is permuted by itself; all n!^(d - 1) permutations
        are enumerated where there are no more than ``n_resamples``.
    permutations : Permutations, optional
        Permutations of your own, a subclass of :class:`~shrinktest.Permutations`, instead of those that the test draws:
        for data whose distribution is unchanged by other permutations.  Each is of shape (d - 1, n): the places of
        the rows of every variable but the first.

    Returns
    -------
    TestResult
        Its one estimate is the embedding of the joined observations in those features.

    Raises
    ------
    ValueError, TypeError
        For input that cannot be tested; the message names the argument and says what to do.
    MemoryError
        If the kernels' values would not fit ``max_memory``; says how much they take.

    Warns
    -----
    UserWarning
        When there are too few permutations to reject at ``alpha``.

    See Also
    --------
    independence_test : Whether two variables are independent, also given others.
    independence_matrix : Which pairs of columns depend on each other.
    solve_sample_size : How many observations a test needs.

    Notes
    -----
    dHSIC is the squared distance of the embedding of the joint distribution from the product of those of its margins,
    |mu_{1..d} - (x)_l mu_l|^2, in its V form: [P18] Definition 3 and (the permutation test) section 3.2.  It is zero
    only under joint independence; pairwise tests cannot detect, for example, that one of three variables is the sign of
    the product of the others.

    Other estimators need observations whose mean is that difference.  They are applied to psi_i = (x)_l phi_l(x_il) -
    (x)_l mu_l - sum_l (phi_l(x_il) - mu_l) (x)_{m != l} mu_m, the tensor features less their main effects (the terms of
    first order of the decomposition of W. Hoeffding, A class of statistics with asymptotically normal distribution,
    Annals of Mathematical Statistics 19 (1948), 293-325).  Main effects average to zero, so that the mean of psi is the
    same difference, and leaving them out removes noise that carries no dependence.  With two variables psi_i is the
    pair of centred features of :func:`independence_test` ([M14] section 4.4), and the tests are the same for every
    estimator.  The product of all centred features, the other generalisation of that pair, cannot be used: its mean is
    zero as soon as one variable is independent of the rest.  Estimators are fitted again for every permutation; the
    level is exact.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import independence_test, joint_independence_test
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.choice([-1.0, 1.0], size=(2, 60)) + 0.1 * rng.normal(size=(2, 60))
    >>> z = x * y  # any two are (nearly) independent, the three are not
    >>> result = joint_independence_test(x, y, z, rng=0)
    >>> result.pvalue
    0.001
    >>> independence_test(x, z, rng=0).pvalue, independence_test(y, z, rng=0).pvalue
    (0.763, 0.389)
    """
    widths = bandwidths if isinstance(bandwidths, list | tuple) else [bandwidths]
    refuse_candidates("joint_independence_test", "gaussian", *(one for one in widths if isinstance(one, str)))
    settings = Settings.read(
        n_resamples=n_resamples, alpha=alpha, stopping=stopping, workers=workers, progress=progress,
        max_memory=max_memory,
    )  # fmt: skip
    given, called, types = named_variables(variables, column_types)
    told = {"nan_policy": nan_policy, "scale": scale, "column_types": types, "transform": transform}
    hypothesis = JointIndependence.read(*given, **told, called=called, own=permutations)
    count = len(given)
    each = zip(_one_each(kernels, count, "kernels"), _one_each(bandwidths, count, "bandwidths"), strict=True)
    asked = [Asked(kernel, bandwidth, f"kernels[{v}]") for v, (kernel, bandwidth) in enumerate(each)]
    return run(hypothesis, estimator, asked, settings, rng)


def _one_each(values: Any, count: int, name: str) -> list[Any]:
    """One value for every variable: those of a list or tuple, or the same for all."""
    if not isinstance(values, list | tuple):
        return [values] * count
    if len(values) != count:
        raise ValueError(f"{name} has {len(values)} entries for {count} variables; give one for each, or one for all")
    return list(values)
