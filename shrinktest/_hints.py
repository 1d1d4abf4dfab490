"""Hints for arguments that other packages call by another name."""

from __future__ import annotations

from collections.abc import Callable
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
    **dict.fromkeys(("strata",), "blocks"),
    **dict.fromkeys(("by",), "typ"),
    **dict.fromkeys(("permutations", "perm"), "n_resamples"),
}


#: The same of one function, in words, by its name and the argument.
OF_ONE = {("factor_test", "method"): "kernel= here, or response=Distances(...)"}


def hinted(function: Function) -> Function:
    """Decorate a test: a keyword of another package raises a TypeError with the name used here.

    Kernel values of points far apart are 0 in it, where ``numpy.errstate(under="raise")`` would
    make an error of that.
    """
    from inspect import signature

    parameters = signature(function).parameters.values()
    known = {
        parameter.name for parameter in parameters if parameter.kind is not parameter.VAR_POSITIONAL
    }

    @wraps(function)
    def called(*values: Any, **options: Any) -> Any:
        for name in options.keys() - known:
            word = ELSEWHERE.get(name, name)
            meant = next(
                (other for other in (word, f"{word}s", word.removesuffix("s")) if other in known),
                None,
            )
            words = OF_ONE.get((function.__name__, name), f"{meant}= here" if meant else "")
            if words:
                raise TypeError(f"{function.__name__} has no argument {name}=; it is {words}")
        with np.errstate(under="ignore"):
            return function(*values, **options)

    return called  # type: ignore[return-value]  # same signature as the function
