"""Hints for arguments that other packages call by another name, and for names typed wrong."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import wraps
from typing import Any, TypeVar

import numpy as np

Function = TypeVar("Function", bound=Callable[..., Any])

#: Arguments of other packages, and what they are called here.
ELSEWHERE = {
    **dict.fromkeys(("seed", "random_state", "random_seed"), "rng"),
    **dict.fromkeys(
        ("n_permutations", "n_perms", "num_permutations", "permutation_count", "reps", "B"),
        "n_resamples",
    ),
    **dict.fromkeys(("n_jobs", "n_workers", "num_workers", "threads"), "workers"),
    **dict.fromkeys(("significance_level", "level"), "alpha"),
    **dict.fromkeys(("verbose",), "progress"),
    **dict.fromkeys(("shift", "block_size"), "block_length"),
    **dict.fromkeys(("clusters", "cluster", "subject"), "groups"),
    **dict.fromkeys(("strata", "stratify"), "blocks"),
    **dict.fromkeys(("by",), "typ"),
    **dict.fromkeys(("permutations", "perm"), "n_resamples"),
    **dict.fromkeys(("pairs", "pair", "matched"), "paired"),
    **dict.fromkeys(("sigma", "length_scale"), "bandwidth"),
    **dict.fromkeys(("metric", "distance"), "kernel"),
    **dict.fromkeys(("standardize", "normalize"), "scale"),
    **dict.fromkeys(("na_action", "dropna", "missing"), "nan_policy"),
    **dict.fromkeys(("labels", "sample_names"), "names"),
    **dict.fromkeys(("confounders", "adjust_for", "controls"), "covariates"),
    **dict.fromkeys(("condition_on", "conditioning_set"), "given"),
}

#: The same of one function, in words, by its name and the argument.
OF_ONE = {
    ("factor_test", "method"): "kernel= here, or response=Distances(...)",
    ("k_sample_test", "paired"): "blocks= here, with the label of its pair for every row",
}

_DIRECTION = "differences between distributions have no direction; see the intervals of compare"
_WEIGHTS = "rows have equal weight; use permutation_test with a weighted statistic"
#: What no test has, or only few have, and what does the same, by argument.
REASONS = {
    **dict.fromkeys(("alternative", "tail", "tails", "one_sided", "two_sided"), _DIRECTION),
    "by": "labels of samples are for k_sample_test, and segments for compare, as by=",
    **dict.fromkeys(("weights", "sample_weight", "sample_weights"), _WEIGHTS),
    **dict.fromkeys(("device", "gpu", "cuda"), "tests run on the CPU; workers sets its threads"),
    "gamma": "bandwidth= is (2 * gamma) ** -0.5",
    "blocks": "use permutations= of your own",
    "groups": "pass one row for each group, such as its mean",
    "covariates": "use two_sample_test with covariates=, or independence_test with given=",
    "given": "use independence_test with given=, or two_sample_test with covariates=",
    "names": "pass a dict from names to samples",
    "columns": "select the columns of the data first",
    "axis": "rows are observations; transpose the data first",
    "equal_var": "unequal spread also counts as a difference",
}
_SIGN = "dependence has no direction in general; for its sign use scipy.stats.spearmanr"
_OF_VARIABLES = ("independence_test", "independence_matrix", "joint_independence_test")


def hinted(function: Function) -> Function:
    """Decorate a test: an unknown keyword raises a TypeError that says what to write.

    Kernel values of points far apart are 0 in it, where ``numpy.errstate(under="raise")`` would
    make an error of that.
    """
    from inspect import signature

    parameters = signature(function).parameters.values()
    known = {
        parameter.name for parameter in parameters if parameter.kind is not parameter.VAR_POSITIONAL
    }
    passes_on = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)
    name = function.__name__
    if name == "__init__":
        name = function.__qualname__.partition(".")[0]

    @wraps(function)
    def called(*values: Any, **options: Any) -> Any:
        if unknown := options.keys() - known:
            first = min(unknown)
            if not passes_on or named_here(first, known):
                raise TypeError(refusal(name, first, known))
        with np.errstate(under="ignore"):
            return function(*values, **options)

    return called  # type: ignore[return-value]  # same signature as the function


def refusal(function: str, name: str, known: Collection[str]) -> str:
    """Return what is wrong with an argument that a function does not have, and what to write.

    Examples
    --------
    >>> refusal("two_sample_test", "bandwith", ["bandwidth", "kernel"])
    'two_sample_test has no argument bandwith=; did you mean bandwidth=?'
    """
    from shrinktest._spelling import nearest

    words = OF_ONE.get((function, name))
    if words is None and (meant := named_here(name, known)):
        words = f"{meant}= here"
    if words is not None:
        return f"{function} has no argument {name}=; it is {words}"
    if name in REASONS:
        by_sign = REASONS[name] is _DIRECTION and function in _OF_VARIABLES
        return f"{function} has no argument {name}=; {_SIGN if by_sign else REASONS[name]}"
    if near := nearest(name, known):
        return f"{function} has no argument {name}=; did you mean {near}=?"
    return f"{function} has no argument {name}=; help({function}) lists those it has"


def named_here(name: str, known: Collection[str]) -> str | None:
    """Return the known argument that another package calls so, or of which there are several."""
    word = ELSEWHERE.get(name, name)
    words = (word, f"{word}s", word.removesuffix("s"))
    return next((other for other in words if other in known), None)
