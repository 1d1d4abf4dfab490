"""The estimators of the kernel mean, and their names."""

from __future__ import annotations

from typing import Any

from shrinktest._check import choice
from shrinktest.estimators.marginalized import MKME, MMKME
from shrinktest.estimators.mean_estimator import MeanEstimator
from shrinktest.estimators.scaled import KME, SKMSE
from shrinktest.estimators.spectral import FKMSE, TSVD, IteratedTikhonov, Landweber, NuMethod
from shrinktest.estimators.user_estimators import Compiled, FromFunction, check_estimator

#: Every built-in estimator by name.
ESTIMATORS: dict[str, type[MeanEstimator]] = {
    "kme": KME,
    "skmse": SKMSE,
    "fkmse": FKMSE,
    "landweber": Landweber,
    "nu": NuMethod,
    "iterated_tikhonov": IteratedTikhonov,
    "tsvd": TSVD,
    "mkme": MKME,
    "mmkme": MMKME,
}

#: Names of families, for those who do not know which member they want.
ALIASES = {"standard": "kme", "shrinkage": "fkmse", "spectral": "landweber", "marginalized": "mkme"}

#: Names in the papers: of the mean, and of the cross-covariance operator in tests of independence.
IN_PAPERS = {
    **dict.fromkeys(("s_kmse", "scose", "s_cose"), "skmse"),
    **dict.fromkeys(("f_kmse", "fcose", "f_cose"), "fkmse"),
}


def as_estimator(estimator: Any) -> MeanEstimator:
    """Turn a name, an estimator or a function ``gram -> weights`` into an estimator.

    Parameters
    ----------
    estimator : str, MeanEstimator or callable
        A name may be in capitals and have hyphens; "scose" and "fcose", the shrinkage estimators of
        the cross-covariance operator, are "skmse" and "fkmse".

    Returns
    -------
    MeanEstimator
        An object with default parameters if it was named, and otherwise the argument or its
        wrapper.

    Raises
    ------
    ValueError
        If no estimator has this name.
    TypeError
        If ``estimator`` is neither a name, nor an estimator, nor a function of a Gram matrix.

    Examples
    --------
    >>> as_estimator("fkmse"), as_estimator("marginalized"), as_estimator("S-COSE")
    (FKMSE(), MKME(), SKMSE())
    """
    if isinstance(estimator, MeanEstimator):
        return estimator
    if isinstance(estimator, str):
        name = estimator.lower().replace("-", "_")
        if name == "auto":
            raise ValueError(
                "estimator='auto' is for two_sample_test, independence_test and their power "
                "studies only"
            )
        name = IN_PAPERS.get(name, name)
        return ESTIMATORS[ALIASES.get(name) or choice(name, (*ESTIMATORS, *ALIASES), "estimator")]()
    if isinstance(estimator, type) and issubclass(estimator, MeanEstimator):
        raise TypeError(f"estimator must be an instance, not a class: write {estimator.__name__}()")
    if callable(estimator) and not isinstance(estimator, type):
        return FromFunction(estimator)
    raise TypeError(
        "estimator must be a name, an estimator such as FKMSE(), or a function; found "
        f"{estimator!r}"
    )


__all__ = [
    "ALIASES",
    "ESTIMATORS",
    "FKMSE",
    "IN_PAPERS",
    "KME",
    "MKME",
    "MMKME",
    "SKMSE",
    "TSVD",
    "Compiled",
    "FromFunction",
    "IteratedTikhonov",
    "Landweber",
    "MeanEstimator",
    "NuMethod",
    "as_estimator",
    "check_estimator",
]
