"""The estimators of the kernel mean, and their names."""

from __future__ import annotations

from typing import Any

from shrinktest._validate import choice
from shrinktest.estimators.base import MeanEstimator
from shrinktest.estimators.check import check_estimator
from shrinktest.estimators.custom import Compiled, FromFunction
from shrinktest.estimators.gradient import Landweber, NuMethod
from shrinktest.estimators.marginalized import MKME, MMKME
from shrinktest.estimators.standard import KME, SKMSE
from shrinktest.estimators.tikhonov import FKMSE, IteratedTikhonov
from shrinktest.estimators.truncation import TSVD

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


def as_estimator(estimator: Any) -> MeanEstimator:
    """Turn a name, an estimator or a function ``gram -> weights`` into an estimator.

    Parameters
    ----------
    estimator : str, MeanEstimator or callable
        A name may be in capitals and have hyphens; an estimator is returned as it is.

    Returns
    -------
    MeanEstimator

    Raises
    ------
    ValueError
        For an unknown name; the message lists the known ones.
    TypeError
        For anything else.

    Examples
    --------
    >>> as_estimator("fkmse"), as_estimator("marginalized")
    (FKMSE(), MKME())
    """
    if isinstance(estimator, MeanEstimator):
        return estimator
    if isinstance(estimator, str):
        name = estimator.lower().replace("-", "_")
        if name == "auto":
            raise ValueError(
                "estimator='auto' combines several, in two_sample_test, independence_test and studies of their power "
                f"only; name one here: {', '.join(ESTIMATORS)}"
            )
        if ":" in name and (family := name.partition(":")[0]) in (*ESTIMATORS, *ALIASES):
            made = ESTIMATORS[ALIASES.get(family, family)].__name__
            raise ValueError(
                f"estimator={estimator!r} is written so on the command line only; give {made}("
                f"{', '.join(map(_argument, estimator.split(':')[1:]))}), from shrinktest"
            )
        return ESTIMATORS[ALIASES.get(name) or choice(name, (*ESTIMATORS, *ALIASES), "estimator")]()
    if isinstance(estimator, type) and issubclass(estimator, MeanEstimator):
        raise TypeError(f"estimator must be a value, not the class: write {estimator.__name__}()")
    if callable(estimator) and not isinstance(estimator, type):
        return FromFunction(estimator)
    raise TypeError(
        f"estimator must be a name ({', '.join(ESTIMATORS)}), an estimator such as FKMSE(lam=0.1), or a function "
        f"gram -> weights; found {estimator!r}"
    )


def _argument(setting: str) -> str:
    """A setting of the command line, such as loo=paper, as an argument of Python."""
    key, equals, value = setting.partition("=")
    return key + equals + (repr(value) if value.isidentifier() and value not in ("True", "False", "None") else value)


__all__ = [
    "ALIASES",
    "ESTIMATORS",
    "FKMSE",
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
