"""EquivalenceResult: whether the difference of two samples, or the dependence of two variables, is below a margin."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from textwrap import fill
from typing import TYPE_CHECKING, Any

from shrinktest._check import level
from shrinktest.results.base import Result
from shrinktest.results.closer import kernel_in_words
from shrinktest.results.column_effects import shown_pvalue
from shrinktest.results.printing import Summary, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DISTANCE, AUC, DEPENDENCE = "distance", "auc", "dependence"
SCALES = (DISTANCE, AUC, DEPENDENCE)

#: What is estimated on every scale, and what is shown if it is below the margin.
_CALLED = {DISTANCE: "distance", AUC: "separability", DEPENDENCE: "dependence"}
_SHOWN = {
    DISTANCE: "they are practically the same on this scale",
    AUC: "such a witness function hardly tells them apart",
    DEPENDENCE: "they are practically independent on this scale",
}


@dataclass(frozen=True, eq=False, repr=False)
class EquivalenceResult(Result):
    """Whether a difference, or a dependence, was shown to be below a margin.

    ``statistic, pvalue = result`` works.

    Attributes
    ----------
    statistic : float
        The estimate less the margin, in the standard deviations that it has if the margin is true; NaN where there is
        no variance.
    pvalue : float
        p-value of the hypothesis that the difference is the margin or more; asymptotic.  1 where the data allow no
        test.
    estimate : float
        The distance, from 0 to 1, whose parts are estimated without bias, so that it may be below 0; the area under the
        ROC curve of the cross-fitted witness function; or the kernel correlation.
    upper : float
        Upper limit of the estimated quantity with confidence 1 - alpha, below the margin where the test rejects.
    margin : float
        A number on the scale.
    scale : str
        "distance", "auc" or "dependence".
    alpha : float
        Level at which ``equivalent``, ``answer`` and ``reject`` decide.
    names : tuple of str
        What X and Y are called.
    n_observations : tuple of int
        Sizes of the samples, or the number of pairs.
    kernel : Kernel or tuple of Kernel
        With the bandwidths that were used; one per variable for dependence.
    bandwidth : float, tuple or None
        Bandwidth of the kernel or kernels.
    route : str
        How the kernel was evaluated: "dense" or "factor", or "nystrom" or "rff", which approximate it.
    margin_words : str
        The change that the margin is the difference of, such as "shift 0.2"; empty for a number.
    estimator : MeanEstimator, optional
        Whose witness function separates the samples, with ``scale="auc"``.
    folds : int, optional
        Number of folds of the cross-fitting, with ``scale="auc"``.
    columns : tuple
        The names of the columns of tables, of both samples or of each variable; None for arrays.
    rng : dict
        Where folds and random coordinates came from.
    notes : tuple of str
        What a reader should know.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import equivalence_test
    >>> rng = np.random.default_rng(0)
    >>> result = equivalence_test(*rng.normal(size=(2, 400, 2)), margin=0.03, scale="distance")
    >>> result.equivalent, result.upper < result.margin
    (True, True)
    """

    statistic: float
    pvalue: float
    estimate: float
    upper: float
    margin: float
    scale: str
    alpha: float
    names: tuple[str, str]
    n_observations: tuple[int, ...]
    kernel: Any
    bandwidth: Any
    route: str
    margin_words: str = ""
    estimator: Any = None
    folds: int | None = None
    columns: tuple[tuple[str, ...] | None, ...] = ()
    rng: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Any:
        return iter((self.statistic, self.pvalue))

    def __repr__(self) -> str:
        return (
            f"EquivalenceResult(pvalue={self.pvalue:.6g}, estimate={self.estimate:.6g}, upper={self.upper:.6g}, "
            f"margin={self.margin:.6g}, scale={self.scale!r})"
        )

    def reject(self, alpha: float | None = None) -> bool:
        """Whether the difference was shown to be below the margin at ``alpha`` (default: the result's): p <= alpha."""
        return bool(self.pvalue <= (self.alpha if alpha is None else level(alpha)))

    @property
    def equivalent(self) -> bool:
        """Whether the difference was shown to be below the margin at the result's level."""
        return self.reject()

    @property
    def called(self) -> str:
        """What the estimated quantity is called."""
        return _CALLED[self.scale]

    @property
    def answer(self) -> str:
        """The result in one sentence."""
        what = f"the {self.called} of {self.names[0]} and {self.names[1]}"
        margin, upper = _apart(self.margin, self.upper)
        chance = f"p = {shown_pvalue(self.pvalue)}"
        limit = "no upper limit" if math.isnan(self.upper) else f"upper limit {upper}"
        if self.reject():
            return f"T{what[1:]} is below {margin} ({limit}): {_SHOWN[self.scale]}, {chance}."
        return f"It was not shown that {what} is below {margin} ({limit}), {chance}."

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values under the attribute names, with ``answer`` and ``reject``."""
        return super().to_dict() | {"answer": self.answer, "reject": self.reject()}

    def summary(self) -> Summary:
        """The answer, the estimate with its upper limit beside the margin, how they were computed, and notes."""
        margin, upper = _apart(self.margin, self.upper)
        limit = "none" if math.isnan(self.upper) else f"{upper} (with confidence {1.0 - self.alpha:.4g})"
        rows = [
            [self.called, _short(self.estimate)],
            ["upper limit", limit],
            ["margin", f"{margin}, from {self.margin_words}" if self.margin_words else margin],
            ["p-value", f"{self.pvalue:.4g}"],
            ["observations", " + ".join(map(str, self.n_observations))],
            ["kernel", kernel_in_words(self.kernel, self.bandwidth)],
        ]
        if self.folds is not None:
            rows.append(["witness function", f"{self.estimator!r}, cross-fitted on {self.folds} folds"])
        said = fill(self.answer, 80, break_long_words=False, break_on_hyphens=False)
        return Summary.of(Table(rows, "ll", gap="  ", below="="), head=[said], notes=self.notes)

    def plot(self, ax: Axes | None = None) -> Axes:
        """The estimate with its upper limit, beside the margin (matplotlib)."""
        from shrinktest.plots.equivalence import plot_equivalence

        return plot_equivalence(self, ax)


def _short(value: float, digits: int = 3) -> str:
    """A number as papers print it, without its leading zero."""
    text = f"{value:.{digits}g}"
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


def _apart(margin: float, upper: float) -> tuple[str, str]:
    """A margin and an upper limit with as many digits as tell them apart."""
    for digits in range(3, 16):
        shown = _short(margin, digits), _short(upper, digits)
        if shown[0] != shown[1] or margin == upper:
            break
    return shown
