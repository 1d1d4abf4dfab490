"""Descriptions of shared test parameters, and ``documented``, which inserts them in docstrings."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

_PARAMETERS = """
names : tuple of str, optional
    Names of the samples in results, plots and messages, such as ``("before", "after")``; default X
    and Y.
given_method : {"auto", "strata", "residuals", "local"}, default "auto"
    "strata" permutes Y among rows with equal values of ``given`` (within blocks), which is exact.
    "residuals" regresses X and Y on ``given`` and flips the signs of products of residuals, whereas
    "local" permutes the residuals of Y among neighboring rows.  "auto" is "strata" for text,
    categories and booleans, but "residuals" for numbers.
regressor : regressor, optional
    Unfitted scikit-learn regressor for the regressions on ``given``; default kernel ridge
    regression.
method : str, default "westfall-young"
    Adjustment of the p-values for multiple comparisons.  "westfall-young" is a step-down method
    that uses the shared permutations.  The others are methods of statsmodels' ``multipletests``:
    "bonferroni", "sidak", "holm-sidak", "holm", "simes-hochberg" and "hommel" control the
    family-wise error rate, whereas "fdr_bh", "fdr_by", "fdr_tsbh" and "fdr_tsbky" control the false
    discovery rate.
sample_ratio : float or pair of float, optional
    Planned size of the second sample over the first, such as 1, or both sizes, such as (1, 1).  A
    note warns if the numbers of rows, or of groups, do not match it (exact binomial test,
    p < 0.001).
trim : float, default 0.05
    Smallest distance of a change from either end, as a fraction of the rows (at least two rows).
confidence : float or None, default 0.95
    Confidence level of the interval for the location of a change, or None to skip the interval,
    which saves time.
times : array_like, shape (n,), optional
    Increasing times of the rows (numbers, dates or text), which label the location; default the
    dates in the index of a pandas table.
estimator : str, MeanEstimator or callable, list of these, Ensemble or "auto", default "kme"
    Estimator of the kernel means: a name (``shrinktest estimators`` lists them), an object such as
    ``FKMSE(lam_cov=0.3)``, or a function from a Gram matrix to weights.  Several are combined into
    one exact test, and "auto" is the recommended combination, which has its own kernels.
kernel : str, Kernel or callable, or list of these, default "gaussian"
    A name such as "gaussian", "whitened" or "energy" (see :func:`~shrinktest.kernels.as_kernel`), a
    kernel object, or a function ``(X, Y) -> Gram matrix``.
bandwidth : float, str, tuple, array or dict, or list of these, default "median"
    Bandwidth of a kernel given by name.  "median" is the median distance in the pooled sample,
    "neighbors" the median distance to the nearest tenth of the rows, and "0.5 * median" half of
    the median.  A tuple or array has one number per column, and a dict has numbers by column name.
    A list holds candidates to combine, for which "grid" is a set of five
    (:func:`~shrinktest.kernels.bandwidth_grid`).
scale : {"auto", None, "sd", "mad", "rank", "deviation"}, sequence or dict, default "auto"
    Units of the columns, computed from all rows without their labels.  "sd" divides by the standard
    deviation and "mad" by the median absolute deviation, whereas "rank" replaces values by ranks
    and "deviation" by distances from the median.  "auto" is "sd" for tables, but None (no scaling)
    for arrays.  A sequence has one entry per column or, in tests of several variables, one per
    variable (a name, None, or a number for each of its columns).  A dict has units by column name,
    and all other columns are scaled by "sd".
form : {"auto", "biased", "unbiased"}, default "auto"
    "biased" is the squared distance of the two estimates, whereas "unbiased" is the distance
    without the bias of its squared norms.  "auto" is unbiased for samples of unequal size, and
    biased otherwise.
n_resamples : int or inf, default 999
    Number of random permutations; if there are no more than this in total, each is used once (exact
    enumeration).
alpha : float, default 0.05
    Significance level of the decision; the p-value does not depend on it.
stopping : {None, "besag-clifford", "curtailed"} or Stopping, optional
    Rule for drawing fewer permutations or simulations.  "besag-clifford" stops after 20
    exceedances (:class:`BesagClifford` accepts another number), and the p-value remains exact,
    whereas "curtailed" stops when the decision at ``alpha`` is certain (:class:`Curtailed`).
blocks : array_like, optional
    Block label of every row: one vector for all rows or, for several samples, one vector per sample
    (a list, or a dict with the names of the samples).  Because rows are permuted only within
    blocks, differences between blocks do not count.
paired : bool, default False
    Whether row i of one sample and row i of the other are a pair, so that permutations exchange the
    two rows of a pair.
groups : array_like, optional
    Label of the group of every row (elsewhere called ``clusters``), in the layout of ``blocks``.
    Whole groups are permuted, among groups of equal size in one block.
block_length : int, "auto" or "whole", optional
    For time series, with rows in order of time (of two samples, X before Y): number of successive
    rows that are permuted together (block permutation).  "auto" computes the number from the
    autocorrelation, whereas "whole" shifts the series in one piece and joins its end to its start.
    If ``blocks`` are passed, every block is a series.
permutations : Permutations, optional
    Your own :class:`~shrinktest.Permutations`, for designs that no other option describes.
column_types : dict, optional
    How to read columns, by name (in arrays by number), if their type in the table is not the right
    one: "number", "category", "boolean", "date" or its format such as "%d/%m/%Y", "drop",
    "ordered", or a list of levels in their order.
transform : transformer, callable or "hellinger", optional
    A scikit-learn transformer, or a function, that turns all rows into numbers first, without
    access to their labels.  "hellinger" computes square roots of proportions of the row's sum, for
    abundances.  In tests of several variables each is transformed separately, and a list has one
    transformer per variable.
nan_policy : {"raise", "omit", "indicator", "propagate"}, default "raise"
    Treatment of missing values.  "raise" raises an error, whereas "omit" drops rows (or pairs) with
    a missing value, with a note.  "indicator" uses missingness as information by adding an
    indicator column and filling in the median, whereas "propagate" makes the p-value NaN.
rng : None, int, SeedSequence, BitGenerator or Generator
    Seed or random generator.
workers : int, optional
    Number of threads, by default all available cores; the result does not depend on it.
progress : bool, default False
    Show a progress bar.
gram : {"auto", "dense", "factor", "nystrom", "rff"}, default "auto"
    How the kernel is evaluated.  "dense" uses the Gram matrix (in tiles if it does not fit in
    memory) and "factor" a pivoted Cholesky factor, which equals it up to rounding; "auto" chooses
    between these.  "nystrom" and "rff" approximate the kernel by random landmarks or random Fourier
    features, which does not affect the validity of the test.  See :doc:`/large`.
rank : int, optional
    Largest number of coordinates of an approximation (default 1000), or the rank at which "factor"
    is truncated.
max_memory : float, optional
    Maximum memory for kernel values, in bytes; default a quarter of the free memory.
store : path, optional
    Checkpoint file for data in batches, from which an interrupted run resumes when repeated with
    identical data, seed and arguments.
"""

#: Sections that are alike in all tests.
_RAISES = (
    "ValueError, TypeError\n    If an argument or the data cannot be used; the message names the "
    "argument."
)
_MEMORY = (
    "MemoryError\n    If the kernel values do not fit in ``max_memory``; the message names a "
    "remedy."
)
_WARNS = "UserWarning\n    If there are too few permutations to reject at ``alpha``."
_ORDER = (
    *("Parameters", "Returns", "Raises", "Warns", "See Also"),
    *("Notes", "References", "Examples"),
)
#: Parameters of tests that draw permutations or simulations.
_DRAWING = {"n_resamples", "n_simulations"}


def documented(function: Function) -> Function:
    """Complete the docstring of a test, and return the same function.

    Parameters that the docstring does not describe get the shared description, all in the order of
    the signature.  An entry without a type (no " : ") is added to the shared one.  A missing
    section "Raises" is added, and "Warns" to tests that draw permutations or simulations.
    """
    if not function.__doc__:  # python -OO
        return function
    from inspect import cleandoc, signature

    summary, *parts = re.split(r"\n\n(?=[A-Z][A-Za-z ]+\n-+\n)", cleandoc(function.__doc__))
    sections = dict(re.split(r"\n-+\n", part, maxsplit=1) for part in parts)
    shared = entries_in(_PARAMETERS)
    own = entries_in(sections["Parameters"])
    names = signature(function).parameters
    entries = []
    for name in names:
        entry = own.get(name, "")
        if " : " not in entry.partition("\n")[0]:
            entry = "\n".join([shared[name], *entry.splitlines()[1:]])
        entries.append(entry)
    sections["Parameters"] = "\n".join(dict.fromkeys(entries))
    raises = f"{_RAISES}\n{_MEMORY}" if "max_memory" in names else _RAISES
    warns = {"Warns": _WARNS} if _DRAWING.intersection(names) else {}
    sections = {"Raises": raises, **warns, **sections}
    body = (
        f"{title}\n{'-' * len(title)}\n{sections[title]}" for title in _ORDER if title in sections
    )
    function.__doc__ = "\n\n".join([summary, *body]) + "\n"
    return function


def entries_in(text: str) -> dict[str, str]:
    """Entries of a numpydoc section by each of the names that they describe."""
    entries = re.split(r"\n(?=\S)", text.strip("\n"))
    heads = [entry.partition("\n")[0].partition(" : ")[0] for entry in entries]
    return {
        name.lstrip("*"): entry
        for head, entry in zip(heads, entries, strict=True)
        for name in head.split(", ")
    }


def parameters_of(function: Callable[..., Any]) -> dict[str, tuple[str, str]]:
    """Return the type and the description of every parameter in a numpydoc docstring.

    Examples
    --------
    >>> parameters_of(entries_in)
    {}
    """
    from inspect import getdoc

    _, _, rest = (getdoc(function) or "").partition("\nParameters\n----------\n")
    section = re.split(r"\n\n(?=[A-Z][A-Za-z ]+\n-+\n)", rest)[0]
    parts = (
        {name: entry.partition("\n") for name, entry in entries_in(section).items()}
        if section.strip()
        else {}
    )
    return {
        name: (head.partition(" : ")[2], " ".join(text.split()))
        for name, (head, _, text) in parts.items()
    }
