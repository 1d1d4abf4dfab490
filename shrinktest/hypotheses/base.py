"""Hypothesis: the value that a test is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from shrinktest._read import Variables
from shrinktest.estimators import MeanEstimator
from shrinktest.kernels import Kernel, Linear, Rescaled
from shrinktest.kernels.rescaled import Scale, as_scale, constant_columns
from shrinktest.nulls.relabellings import Relabellings
from shrinktest.results.kinds import Kind
from shrinktest.statistics.gram import Grams
from shrinktest.statistics.prepared import Prepared


@dataclass(frozen=True, eq=False)
class Variable:
    """Observations that one kernel compares.

    Parameters
    ----------
    points : ndarray, shape (n, d)
    name : str
        What messages call them.
    scale : str or tuple of float, optional
        In which units the kernel compares their columns; see :class:`~shrinktest.kernels.Rescaled`.
    columns : tuple of str, optional
        Names of the columns.
    """

    points: np.ndarray
    name: str
    scale: Scale | None = None
    columns: tuple[str, ...] | None = None

    def asked(self, kernel: Kernel) -> Kernel:
        """The kernel in the units of the columns, not resolved yet."""
        return kernel if self.scale is None else Rescaled(kernel, self.scale)

    def compared(self) -> np.ndarray:
        """The observations as a kernel compares them; those with missing values are left out."""
        rows = self.points[~np.isnan(self.points).any(axis=1)]
        return rows if self.scale is None else Rescaled(Linear(), self.scale, rows).moved(rows)

    def notes(self) -> tuple[str, ...]:
        """What a reader of the result should know of the units."""
        if self.scale is None or not (constant := constant_columns(self.points)).any():
            return ()
        names = [self.columns[j] if self.columns else str(j) for j in np.flatnonzero(constant)]
        many = len(names) > 1
        return (
            f"{self.name}: column{'s' * many} {', '.join(names)} {'have' if many else 'has'} one value only, and no "
            f"weight (scale={self.scale!r}).",
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Hypothesis(ABC):
    """A null hypothesis about data: the data, the permutations it allows, and how a statistic for it is prepared.

    Parameters
    ----------
    variables : tuple of Variable
        All observations, one entry for every kernel that the test takes.
    sizes : tuple of int
        Numbers of observations, as the result says them.
    missing : bool
        Whether missing values remain, so that the result is NaN.
    own : Relabellings, optional
        Permutations of the user's, instead of those that the hypothesis allows.
    """

    kind: ClassVar[Kind]

    variables: tuple[Variable, ...]
    sizes: tuple[int, ...]
    missing: bool = False
    own: Relabellings | None = None

    def permutations(self, n_resamples: float, rng: np.random.Generator, alpha: float) -> Relabellings:
        """The permutations of the test; raises ValueError where they are too few to reject at ``alpha``."""
        if self.own is None:
            return self._allowed(n_resamples, rng, alpha)
        if not isinstance(self.own, Relabellings):
            raise TypeError(
                "permutations must be a Relabellings object (a subclass of your own, say), which replaces those that "
                f"the test draws; got {self.own!r}"
            )
        if self.own.size != sum(self.sizes):
            raise ValueError(
                f"permutations are of {self.own.size} observations, and the data have {sum(self.sizes)}; make them for "
                "as many as there are"
            )
        return self.own.drawn(n_resamples, rng)

    @abstractmethod
    def _allowed(self, n_resamples: float, rng: np.random.Generator, alpha: float) -> Relabellings:
        """Permutations under which the data have the same law if the hypothesis is true."""

    @abstractmethod
    def form(self, estimator: MeanEstimator, form: str) -> str:
        """The form of the statistic, "biased" or "unbiased"; raises ValueError where it does not exist."""

    @abstractmethod
    def tuning(self, estimator: MeanEstimator) -> str:
        """What the estimator tunes when; raises ValueError for what makes no sense here."""

    @abstractmethod
    def prepare(self, estimator: MeanEstimator, kernel: Any, form: str, grams: Grams, workers: int) -> Prepared:
        """The statistic of an estimator and of resolved kernels (one, or a tuple with one for every variable)."""

    def notes(self) -> tuple[str, ...]:
        """What a reader of the result should know of the data."""
        return tuple(note for variable in self.variables for note in variable.notes())

    def described(self, estimator: MeanEstimator, form: str) -> dict[str, Any]:
        """What a result says of an estimator; raises ValueError for one that makes no sense with these data."""
        if estimator.one_noise and any(one.scale and one.points.shape[1] > 1 for one in self.variables):
            raise ValueError(
                f"{estimator!r} has one noise variance for all columns, in the units that they have in the data, which "
                "scale= changes: use estimator='mmkme', which has one for each, or give the test rescaled columns"
            )
        return {"estimator": estimator, "form": self.form(estimator, form), "tuning": self.tuning(estimator)}

    def carried(
        self, estimator: MeanEstimator, prepared: Prepared, form: str, permutations: Relabellings
    ) -> dict[str, Any]:
        """What the result of a single statistic carries besides; ``permutations`` are not drawn yet."""
        return {}

    def resolved(self, kernel: Any, rng: np.random.Generator) -> Any:
        """The kernel, or the tuple of kernels, with what they take from the data; errors say whose they are."""
        if not isinstance(kernel, tuple):
            return resolve(kernel, self.variables[0], rng)
        return tuple(resolve(one, variable, rng) for one, variable in zip(kernel, self.variables, strict=True))


def resolve(kernel: Kernel, variable: Variable, rng: np.random.Generator) -> Kernel:
    """The kernel with its bandwidth, and units, found on the observations of a variable."""
    try:
        return variable.asked(kernel).resolve(variable.points, rng)
    except ValueError as error:
        raise ValueError(f"{variable.name}: {error}") from None


def in_units(read: Variables, names: tuple[str, ...], scale: Any) -> tuple[Variable, ...]:
    """Variables with the units of their columns: one ``scale`` by name for all, or a list with one for each."""
    if scale is None or isinstance(scale, str):
        scales = [scale] * len(names)
    elif (
        not isinstance(scale, list | tuple)
        or len(scale) != len(names)
        or not all(one is None or isinstance(one, str) or np.ndim(one) for one in scale)
    ):
        raise ValueError(
            f"scale must be a name for all variables, or a list with one entry for each of {len(names)} (a name, None, "
            f"or one number per column); got {scale!r}"
        )
    else:
        scales = list(scale)
    found = []
    for v, (values, columns, name, one) in enumerate(zip(read.values, read.columns, names, scales, strict=True)):
        argument = "scale" if isinstance(scale, str) else f"scale[{v}]"
        found.append(Variable(values, name, as_scale(one, values.shape[1], argument), columns))
    return tuple(found)
