"""Ensemble: statistics that a test combines when the best one is not known in advance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shrinktest._check import counted, flag, positive
from shrinktest.estimators import MeanEstimator, as_estimator
from shrinktest.kernels import as_kernel
from shrinktest.kernels.base import require_same_points

_FEW = 100
_MANY = 600  # rows between which weights grow


@dataclass(frozen=True)
class Candidate:
    """A statistic of an :class:`Ensemble`, with estimator, kernels and weight.

    Parameters
    ----------
    estimator : str, MeanEstimator or callable
        Estimator of the kernel mean.
    kernel : str, Kernel or callable, or a tuple of these
        Kernel of all samples and of every variable, or one kernel for each variable.
    weight : float, default 1
        Weight of the statistic: p-values are divided by their weights before the smallest is
        selected.
    grows : bool, default False
        Whether the weight grows in proportion to the number of rows, up to six times its value
        between 100 and 600 rows, for fine structure that only many rows can show.

    Examples
    --------
    >>> Candidate("kme", "gaussian")
    Candidate(estimator=KME(), kernel=Gaussian(bandwidth='median'), weight=1.0, grows=False)
    """

    estimator: Any
    kernel: Any = "gaussian"
    weight: float = 1.0
    grows: bool = False

    def __post_init__(self) -> None:
        several = isinstance(self.kernel, tuple)
        if several and len(self.kernel) < 2:
            raise ValueError(
                "kernel must be one kernel, or a tuple with one per variable; got "
                f"{len(self.kernel)}"
            )
        kernel = tuple(map(as_kernel, self.kernel)) if several else as_kernel(self.kernel)
        object.__setattr__(self, "estimator", as_estimator(self.estimator))
        object.__setattr__(self, "kernel", kernel)
        object.__setattr__(self, "weight", positive(self.weight, "weight"))
        object.__setattr__(self, "grows", flag(self.grows, "grows"))

    def on(self, variables: int, rows: int) -> Candidate:
        """Return the member for this number of variables and rows.

        It has a kernel for each variable and a fixed weight.
        """
        kernels = self.kernel if isinstance(self.kernel, tuple) else (self.kernel,) * variables
        if len(kernels) != variables:
            raise ValueError(
                f"{self!r} has {len(kernels)} kernels for {counted(variables, 'variable')}; "
                "pass one kernel, or a tuple with one for each"
            )
        more = min(max(rows, _FEW), _MANY) / _FEW if self.grows else 1.0
        kernel = kernels if variables > 1 else kernels[0]
        return replace(self, kernel=kernel, weight=self.weight * more, grows=False)


@dataclass(frozen=True)
class Ensemble:
    """Several statistics combined into one test.

    Lists of estimators or bandwidths, and "auto", stand for ensembles.

    Parameters
    ----------
    members : sequence of Candidate
        Distinct pairs of an estimator and a kernel.

    Examples
    --------
    >>> from shrinktest import Gaussian, Laplacian
    >>> Ensemble(
    ...     [
    ...         Candidate("kme", Gaussian("2 * median"), weight=2.0),
    ...         Candidate("kme", Laplacian("0.5 * median")),
    ...     ]
    ... )
    Ensemble(members=(Candidate(estimator=KME(), kernel=Gaussian(bandwidth='2.0 * median'), weight=2.0, grows=False),
        Candidate(estimator=KME(), kernel=Laplacian(bandwidth='0.5 * median'), weight=1.0, grows=False)))
    """  # noqa: E501  # printed lines

    members: Sequence[Candidate]

    def __post_init__(self) -> None:
        if not isinstance(self.members, Sequence) or isinstance(self.members, str):
            raise TypeError(f"members must be a list of Candidate values; got {self.members!r}")
        members = tuple(self.members)
        wrong = [member for member in members if not isinstance(member, Candidate)]
        if wrong:
            raise TypeError(
                f"members must be Candidate values; got {wrong[0]!r} ({type(wrong[0]).__name__})"
            )
        if not members:
            raise ValueError("members is empty; an ensemble has at least one Candidate")
        kernels = [
            member.kernel if isinstance(member.kernel, tuple) else (member.kernel,)
            for member in members
        ]
        for v in range(max(map(len, kernels))):
            require_same_points([some[v] for some in kernels if v < len(some)])
        each_once([(member.estimator, member.kernel) for member in members], "members")
        object.__setattr__(self, "members", members)

    @property
    def label(self) -> str:
        """Label in tables of results."""
        return f"{len(self.members)} statistics combined"

    @property
    def weights(self) -> np.ndarray:
        """Weights of the members, shape (k,)."""
        return np.array([member.weight for member in self.members])


def each_once(values: list[Any], name: str) -> list[Any]:
    """Return the values; raise ValueError if two of them are equal."""
    for i, value in enumerate(values):
        if value in values[:i]:
            shown = (
                value[0]
                if isinstance(value, tuple) and isinstance(value[0], MeanEstimator)
                else value
            )
            raise ValueError(
                f"{name} holds {shown!r} twice; a candidate counts once: drop one of them"
            )
    return values
