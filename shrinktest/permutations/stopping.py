"""Stopping: rules that end the drawing of random permutations early, each with a valid p-value."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from shrinktest._check import choice, count, level


class Stopping(ABC):
    """Rule that stops drawing by the number of exceedances.

    These are permutations that reach the observed statistic.
    """

    sources: ClassVar[tuple[str, ...]] = ()  # keys of the papers that it comes from

    @abstractmethod
    def stop(self, exceedances: np.ndarray, planned: int) -> int | None:
        """Return after how many draws to stop; None if not yet.

        ``exceedances`` (drawn,) are their numbers after every draw.
        """

    @abstractmethod
    def pvalue(self, exceedances: int, drawn: int, planned: int) -> float:
        """Return the p-value after the last draw."""

    @abstractmethod
    def least(self, exceedances: int, drawn: int, planned: int) -> int:
        """Return the fewest draws still needed to stop.

        That many can be evaluated at once.
        """


@dataclass(frozen=True)
class BesagClifford(Stopping):
    """Stop drawing at the h-th exceedance.

    If the p-value is large, few permutations are drawn; if it is small, all of them are.

    Parameters
    ----------
    h : int, default 20
        Number of exceedances at which drawing stops.  The standard error of a large p-value p is
        about p / sqrt(h), which is 22% of p for h = 20.

    Notes
    -----
    The p-value is h / l if the h-th exceedance is draw l, but (g + 1) / (B + 1) if there were only
    g < h among all B draws.  It is exact [BC91]: without ties P(p <= x) = x under the null
    hypothesis at every x that is a possible p-value.

    At levels alpha up to h / (B + 1), which is 0.02 for B = 999, the decision is the one that all B
    draws give; at higher levels it is the one that the first h / alpha - 1 draws give.  Under the
    null hypothesis the test needs about h (1 + log(B / h)) draws on average, 98 of 999.

    References
    ----------
    .. [BC91] Besag and Clifford, "Sequential Monte Carlo p-values", Biometrika 78, 1991.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import BesagClifford, two_sample_test
    >>> rng = np.random.default_rng(0)
    >>> result = two_sample_test(
    ...     rng.normal(size=30), rng.normal(size=30), stopping=BesagClifford(h=10), rng=0
    ... )
    >>> result.n_resamples, result.n_planned, round(result.pvalue, 3)
    (97, 999, 0.103)
    """

    sources = ("BC91",)

    h: int = 20

    def __post_init__(self) -> None:
        object.__setattr__(self, "h", count(self.h, "h", minimum=1))

    def stop(self, exceedances: np.ndarray, planned: int) -> int | None:
        return _first(exceedances >= self.h)

    def pvalue(self, exceedances: int, drawn: int, planned: int) -> float:
        return self.h / drawn if exceedances >= self.h else (1 + exceedances) / (1 + planned)

    def least(self, exceedances: int, drawn: int, planned: int) -> int:
        return min(self.h - exceedances, planned - drawn)


@dataclass(frozen=True)
class Curtailed(Stopping):
    """Stop drawing once the decision is certain (curtailed sampling).

    Under the null hypothesis that is usually after about a fifth of all draws (200 of 999), but
    later if there is an effect.

    Parameters
    ----------
    alphas : tuple of float
        The levels at which the decision must be certain.

    Notes
    -----
    After l of B draws with b exceedances the p-value of all B lies between (1 + b) / (1 + B) and
    (1 + b + B - l) / (1 + B), and drawing stops once none of the levels lies between these two.

    The p-value is (1 + b) / (1 + l), which is on the same side of every level as the p-value of all
    draws.  It is valid, P(p <= x) <= x for every x, because a run with a p-value no larger has at
    most b exceedances after l draws, and their number is uniform on 0, ..., l under the null
    hypothesis without ties.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import two_sample_test
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=30), rng.normal(size=30)
    >>> result = two_sample_test(X, Y, stopping="curtailed", alpha=0.05, rng=0)
    >>> result.stopping, result.n_resamples, round(result.pvalue, 3), result.reject()
    (Curtailed(alphas=(0.05,)), 336, 0.151, False)
    """

    alphas: tuple[float, ...]

    def __post_init__(self) -> None:
        levels = {level(alpha, "alphas") for alpha in np.atleast_1d(self.alphas).tolist()}
        if not levels:
            raise TypeError("alphas must be one or more levels, such as (0.05, 0.01); got none")
        object.__setattr__(self, "alphas", tuple(sorted(levels)))

    def _allowed(self, planned: int) -> np.ndarray:
        """Return the most rows that may reach the observed statistic, for each level to reject."""
        return np.array([max(1, allowed_rows(alpha, planned + 1)) for alpha in self.alphas])

    def stop(self, exceedances: np.ndarray, planned: int) -> int | None:
        low = 1 + np.asarray(exceedances)
        high = low + planned - np.arange(1, low.size + 1)
        allowed = self._allowed(planned)[:, None]
        return _first(np.all((low > allowed) | (high <= allowed), axis=0))

    def pvalue(self, exceedances: int, drawn: int, planned: int) -> float:
        return (1 + exceedances) / (1 + drawn)

    def least(self, exceedances: int, drawn: int, planned: int) -> int:
        allowed = self._allowed(planned)
        to_accept = allowed - exceedances
        to_reject = 1 + exceedances + planned - drawn - allowed
        return int(np.maximum(np.minimum(to_accept, to_reject), 0).max())


STOPPINGS = ("besag-clifford", "curtailed")


def as_stopping(stopping: Any, *alphas: float) -> Stopping | None:
    """Return a rule given None, a name or a rule.

    "curtailed" makes sure of the decisions at ``alphas``.
    """
    if stopping is None or isinstance(stopping, Stopping):
        return stopping
    if isinstance(stopping, str):
        return BesagClifford() if rule_name(stopping) == STOPPINGS[0] else Curtailed(alphas)
    raise TypeError(
        f"stopping must be None, {STOPPINGS[0]!r}, {STOPPINGS[1]!r}, or a rule; got {stopping!r}"
    )


def rule_name(stopping: str) -> str:
    """Return the name of a rule, one of ``STOPPINGS``; raises ValueError for an unknown name."""
    return choice(stopping.replace("_", "-"), STOPPINGS, "stopping")


def allowed_rows(alpha: float, rows: int) -> int:
    """Return how many rows may reach the observed statistic for p <= alpha.

    The statistic itself counts among them.
    """
    most = min(rows, int(alpha * rows) + 1)
    while (
        most > 0 and most / rows > alpha
    ):  # the attainable p-values decide, not the rounded product
        most -= 1
    return most


def _first(reached: np.ndarray) -> int | None:
    """Return after how many draws something (drawn,) is true for the first time; None if never."""
    return int(np.argmax(reached)) + 1 if reached.any() else None
