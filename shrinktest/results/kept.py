"""Kept: results that hold the data of their test while they live, and when they are pickled only if asked to."""

from __future__ import annotations

import copy
from dataclasses import fields, replace
from numbers import Integral
from typing import Any, Self

import numpy as np

from shrinktest._check import as_rng, count, level
from shrinktest._warn import tiny_is_zero
from shrinktest.results.kinds import BY_PROPENSITY, NO_EFFECT_BY_PROPENSITY, kind_of

#: Parts of the rows, each scored by the witness function of the others, where nobody says how many.
FOLDS = 5

_NOT_IN_PICKLE = (
    "this result was pickled without its data, from which effects, the band, the contributions and the picture of the "
    "witness function are computed; pickle result.with_data(), or compute them before"
)
_STORED = (
    "this result was read from JSON, which holds the effect with the settings that effect() has without arguments, and "
    "no data to compute another one from; call effect() as it is, pickle result.with_data(), or run the test again"
)
_AS_STORED = (0.95, FOLDS, False, 0)  # the settings
NOT_IN_JSON = (
    "this result was read from JSON, which does not hold the data, from which effects, the band, the contributions and "
    "the picture of the witness function are computed; pickle result.with_data() to keep them, or run the test again"
)


class Kept:
    """Base class of results with the fields ``again``, ``stored`` and ``keeps_data``."""

    statistic: float
    test: str
    method: str
    null_distribution: np.ndarray
    names: tuple[str | None, ...]
    again: Any
    stored: Any
    keeps_data: bool

    @tiny_is_zero
    def effect(self, *, confidence: float = 0.95, folds: int | None = None, columns: bool = False, rng: Any = 0) -> Any:
        """How large the difference or the dependence is, on scales that do not depend on the sample size.

        Parameters
        ----------
        confidence : float, default 0.95
            Confidence of every interval by itself.
        folds : int, optional
            For samples, but not those in batches: the witness function is fitted to all folds but one, and scores that
            one; default 5.
        columns : bool, default False
            For two samples and one statistic: whether to compute what each column contributes, which takes as long as
            ``contributions``.
        rng : None, int, SeedSequence, BitGenerator or Generator, default 0
            Shares rows out among folds, and exchanges columns.

        Returns
        -------
        TwoSampleEffect, KSampleEffect or DependenceEffect
            ``print(result.effect().summary())`` says it in words.

        Raises
        ------
        ValueError
            Where there is no scale (joint independence, a statistic of your own) or the data are not there.  A result
            that was read from JSON with an effect (``to_json(effect=True)``) has that one only.

        Notes
        -----
        Separability (``auc``): the area under the ROC curve of the witness function of the test's estimator, each fold
        scored by the function of the others; a combination takes the sum of its members' functions, each in units of
        its standard deviation and with the weight that the rows it was fitted to give it (the square of their unbiased
        squared distance, in units of its spread under permutations). Distance: the squared distance of the kernel means
        over the sum of their squared norms, or, for kernels with values below zero, a quarter of it over the variance
        of a mixture in which both samples count half, whatever their sizes (for a linear kernel and samples of one size
        the R^2 of analysis of variance, without bias), each part from pairs of different observations. Dependence: the
        kernel correlation. All regard pairs, groups and blocks.

        Intervals of distance and dependence are score intervals with the variance of the jackknife and of the second
        order of a U statistic, which is what is left where there is no effect; those of the area are score intervals
        with the variance of DeLong et al. (1988).  The page on effects shows how often they cover.  Where few rows are
        not the same as most others, upper limits are too small, and a note says so.

        The distance and the dependence depend on the kernel and its bandwidth: compare them between data sets for one
        ``bandwidth=`` that is a number.
        """
        folds = None if folds is None else count(folds, "folds", minimum=2)
        confidence = level(confidence, "confidence")
        generator = as_rng(rng)
        if self.stored is not None:
            if not isinstance(rng, Integral) or (confidence, folds or FOLDS, bool(columns), int(rng)) != _AS_STORED:
                raise ValueError(_STORED)
            return self.stored
        why = NO_EFFECT_BY_PROPENSITY if self.method == BY_PROPENSITY else kind_of(self.test).no_effect
        if why and (self.again is None or isinstance(self.again, str)):  # data would not help
            raise ValueError(why)
        return self._recomputed().effect(
            z=self.z, confidence=confidence, folds=folds, rng=generator, columns=bool(columns), names=self.names
        )

    @property
    def z(self) -> float:
        """How far the statistic is above its mean under permutations, in standard deviations of these."""
        null = self.null_distribution
        spread = float(np.std(null, ddof=1)) if null.size > 1 else 0.0
        return float((self.statistic - null.mean()) / spread) if spread > 0.0 else float("nan")

    def with_data(self) -> Self:
        """The same result, which keeps its data when it is pickled, for what is computed from these."""
        return replace(self, keeps_data=True)  # type: ignore[type-var]

    def _recomputed(self) -> Any:
        """What it takes to compute more about the data; raises ValueError where it is not there."""
        if isinstance(self.again, str):
            raise ValueError(self.again)
        if self.again is None:
            raise ValueError(
                "this result does not hold its data, because these had missing values, or several tests were run "
                "together; run a test by itself, without missing values"
            )
        return self.again

    def __getstate__(self) -> dict[str, Any]:
        state = dict(vars(self))
        if not (self.keeps_data or self.again is None or isinstance(self.again, str)):
            state["again"] = _NOT_IN_PICKLE
        return state

    def __copy__(self) -> Self:
        return replace(self)  # type: ignore[type-var]

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        values = {field.name: copy.deepcopy(getattr(self, field.name), memo) for field in fields(self)}  # type: ignore[arg-type]
        return replace(self, **values)  # type: ignore[type-var]
