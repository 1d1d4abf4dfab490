"""Which of several models is nearest?  ``closer_matrix``."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np

from shrinktest._check import choice
from shrinktest._hints import hinted
from shrinktest.hypotheses.closeness import Closeness
from shrinktest.results.closer_matrix import CloserMatrixResult
from shrinktest.results.multiple import METHODS, WESTFALL_YOUNG

#: Westfall and Young's method is by permutations, of which there are none here; what two-stage methods adjust depends
#: on the level, so that a result could not decide at another one.
ADJUSTMENTS = tuple(method for method in METHODS if method != WESTFALL_YOUNG and not method.startswith("fdr_ts"))


@hinted
def closer_matrix(
    X: Any,
    models: Any,
    *,
    name: str = "X",
    method: str = "holm",
    measure: str = "distance",
    kernel: Any = "gaussian",
    bandwidth: Any = "median",
    scale: Any = "auto",
    alpha: float = 0.05,
    confidence: float = 0.95,
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
) -> CloserMatrixResult:
    """Which of several models is nearest to X: estimates, and adjusted p-values for every two models.

    Parameters
    ----------
    X : array_like, shape (m, d)
        What was observed, one row an observation.
    models : mapping from names to array_like, shape (n_i, d)
        What each model or simulator produces, two or more.  With another measure than "distance", variables that were
        observed together with X, with as many rows.
    name : str, default "X"
        What the answer calls X.
    method : str, default "holm"
        How the p-values are adjusted: "holm" keeps the chance of any wrong rejection at ``alpha``, "fdr_bh" the share
        of wrong ones among all; or another method of ``multipletests`` of statsmodels.
    measure, kernel, bandwidth, scale
        As in :func:`closer_test`, one kernel for all models; with dependences a list has one for X and one for each
        model.
    alpha : float, default 0.05
        Level at which the result decides.
    confidence : float, default 0.95
        Confidence of the interval for every difference, of each by itself.
    paired, groups
        As in :func:`closer_test`: row i of X and of every model belong together; a label for every row of X and then
        of every model, or a list with a vector for each.
    column_types, transform, nan_policy, rng, workers, gram, rank, max_memory
        As in :func:`closer_test`.

    Returns
    -------
    CloserMatrixResult
        ``result.best`` are the models than which no other is clearly nearer, ``result.table`` has a row for every two,
        ``print(result.summary())`` shows all.

    Raises
    ------
    ValueError, TypeError
        For input that cannot be compared; the message names the model and says what to do.

    See Also
    --------
    closer_test : The same for two models.
    k_sample_test : Whether several samples differ at all.
    equivalence_test : Whether X and the nearest model are practically the same.

    Notes
    -----
    Every p-value is that of a two-sided :func:`closer_test` by one kernel, found on the rows of all models together.
    The estimates are correlated, because all share X (and, with ``paired`` or ``groups``, more than that); the
    jackknife gives their covariance matrix, from which every standard error comes.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import closer_matrix
    >>> rng = np.random.default_rng(0)
    >>> observed = rng.gamma(2.0, 1.0, size=400)
    >>> models = {"lognormal": rng.lognormal(0.5, 0.65, size=500), "normal": rng.normal(2.0, 1.4, size=500)}
    >>> models["exponential"] = rng.exponential(2.0, size=500)
    >>> result = closer_matrix(observed, models, name="observed")
    >>> result.answer
    'observed is nearest to lognormal; all others are clearly further away.'
    >>> result.table[["first", "second", "difference", "adjusted", "nearer"]].round(4)
           first       second  difference  adjusted     nearer
    0  lognormal  exponential     -0.0278    0.0176  lognormal
    1  lognormal       normal     -0.0319    0.0176  lognormal
    2     normal  exponential      0.0041    0.7994
    """
    names, samples = _models(models, name)
    method = choice(method, ADJUSTMENTS, "method")
    told = {"scale": scale, "column_types": column_types, "transform": transform, "nan_policy": nan_policy}
    closeness = Closeness.read(
        (X, *samples), (name, *names), measure=measure, kernel=kernel, bandwidth=bandwidth, paired=paired,
        groups=groups, rng=rng, workers=workers, gram=gram, rank=rank, max_memory=max_memory, **told,
    )  # fmt: skip
    tests = tuple(
        closeness.test(i, j, "two-sided", alpha, confidence) for i, j in combinations(range(1, len(names) + 1), 2)
    )
    from statsmodels.stats.multitest import multipletests

    adjusted = multipletests([test.pvalue for test in tests], alpha=alpha, method=method)[1]
    return CloserMatrixResult(
        reference=name,
        names=names,
        distances=np.array(closeness.estimates()),
        tests=tests,
        adjusted=np.asarray(adjusted, dtype=np.float64),
        method=method,
        alpha=tests[0].alpha,
        notes=tuple(dict.fromkeys(note for test in tests for note in test.notes)),
    )


def _models(given: Any, name: Any) -> tuple[tuple[str, ...], tuple[Any, ...]]:
    """The names of the models and their samples."""
    if not isinstance(given, Mapping):
        raise TypeError(
            f"models must be a mapping from names to samples, such as {{'a': A, 'b': B}}; got {type(given).__name__}"
        )
    if not isinstance(name, str) or not name:
        raise TypeError(f"name must be a text, what to call X; got {name!r}")
    names = tuple(map(str, given))
    if not all(names):
        raise ValueError("models has an empty name; give every model a text, which is what the answer calls it")
    if len(names) < 2:
        raise ValueError(f"models has {'one entry' if names else 'no entry'}; to say which is nearer takes two or more")
    if len({name, *names}) <= len(names):
        raise ValueError(f"the names of X ({name!r}) and of the models ({', '.join(names)}) must differ")
    return names, tuple(given.values())
