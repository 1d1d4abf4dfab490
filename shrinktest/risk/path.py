"""loss_path: the loss of one estimator against its amount of shrinkage."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

from shrinktest._check import choice, to_plain
from shrinktest._hints import hinted
from shrinktest.estimators import MMKME, MeanEstimator, as_estimator
from shrinktest.power.compared import several
from shrinktest.results.base import Result
from shrinktest.results.plots.studies import plot_path
from shrinktest.results.printing import Summary, Table
from shrinktest.risk.risk_result import RiskStudyResult, improvement
from shrinktest.risk.risk_study import BASELINE, ORACLE, risk_study

if TYPE_CHECKING:
    import pandas as pd

#: Parameters that fix the amount of an estimator, the usual one first.
AMOUNTS = ("alpha", "lam", "lam_cov", "t", "m", "threshold", "variance")


@dataclass(frozen=True, eq=False, repr=False)
class LossPath(Result):
    """The mean loss of an estimator at every amount of shrinkage, from ``loss_path``.

    Attributes
    ----------
    study : RiskStudyResult
        The study in which every amount is an estimator.
    estimator : MeanEstimator
        The estimator whose amount varies.
    parameter : str
        Name of the parameter that varies: "lam", "t", "variance", ...
    amounts : tuple of float
        Values of the parameter, in the order in which they were passed.

    Examples
    --------
    >>> path = loss_path("skmse", [0.0, 0.1, 0.9], n=10, d=5, n_trials=20, workers=1, rng=0)
    >>> path
    LossPath(SKMSE(), alpha = 0 to 0.9, 3 amounts)
    >>> float(path.best)
    0.1
    """

    study: RiskStudyResult
    estimator: MeanEstimator
    parameter: str
    amounts: tuple[Any, ...]

    plot = plot_path

    def __repr__(self) -> str:
        ends = f"{self.amounts[0]:.4g} to {self.amounts[-1]:.4g}"
        return (
            f"LossPath({self.estimator!r}, {self.parameter} = {ends}, {len(self.amounts)} amounts)"
        )

    def summary(self) -> Summary:
        """Return mean loss and improvement at every amount, with intervals, as text."""
        rows = [
            [
                f"{row.amount:.6g}",
                *(f"{value:.4g}" for value in (row.loss, row.low, row.high, row.improvement)),
            ]
            for row in self.table.itertuples()
        ]
        names = [self.parameter, "loss", "low", "high", "improvement %"]
        return Summary.of(Table(rows, "r", names, gap="  ", heads="r"), head=[repr(self)])

    @property
    def table(self) -> pd.DataFrame:
        """A row for every amount, with the columns of the table of a risk study."""
        rows = self.study.table.set_index("estimator").loc[self._labels].reset_index(drop=True)
        rows.insert(0, "amount", self.amounts)
        return rows

    @property
    def _labels(self) -> list[str]:
        """Labels of the amounts in the study."""
        return [label for label in self.study.estimators if label not in (BASELINE, ORACLE)]

    @property
    def references(self) -> pd.DataFrame:
        """The rows of the plain average and of the oracle of simple shrinkage."""
        table = self.study.table.set_index("estimator")
        return table.loc[[label for label in (BASELINE, ORACLE) if label in table.index]]

    @property
    def best(self) -> Any:
        """The amount with the smallest mean loss."""
        table = self.table
        return table["amount"].iloc[int(table["loss"].argmin())]

    def hindsight(self) -> pd.Series:
        """Return the mean loss of the best amount per data set, and its improvement.

        No rule can beat it, because it knows the losses.
        """
        import pandas as pd

        paired = self.study.losses.pivot(index="trial", columns="estimator", values="loss")
        least = paired[self._labels].min(axis=1).to_numpy()
        saved = improvement(least, paired[self.study.baseline].to_numpy())
        names = ["loss", "improvement", "improvement_low", "improvement_high", "trials"]
        return pd.Series([least.mean(), *saved, len(least)], index=names)


@hinted
def loss_path(
    estimator: Any,
    amounts: Any,
    parameter: str | None = None,
    *,
    design: Any = "mixture",
    kernel: Any = "gaussian",
    n: int = 20,
    d: int = 30,
    **study: Any,
) -> LossPath:
    """Estimate the exact loss of an estimator at every amount of shrinkage.

    All amounts are compared on the same data sets.

    Parameters
    ----------
    estimator : str or MeanEstimator
        An estimator with an amount; ``MMKME`` needs fixed variances, ``MMKME(variances=(...))``.
    amounts : sequence of float or of int
        Values of the parameter.
    parameter : str, optional
        "alpha", "lam", "lam_cov", "t", "m", "threshold" or "variance", by default the first that
        the estimator has; for ``MMKME`` it is "multiple", a factor of all variances.
    design : str, MixtureDesign, NormalMixture, triple or callable, default "mixture"
        Source of the distributions, as for :func:`~shrinktest.risk.risk_study`.
    kernel : str or Kernel, default "gaussian"
        A single kernel with a closed form.
    n : int, default 20
        Size of the samples.
    d : int, default 30
        Dimension of the observations.
    **study : Any
        Other arguments of :func:`~shrinktest.risk.risk_study`, such as ``n_trials`` and ``store``.

    Returns
    -------
    LossPath
        ``path.table``, ``path.best``, ``path.hindsight()``, ``path.plot()``, ``path.summary()``.

    Raises
    ------
    ValueError, TypeError
        If an argument cannot be used, or the estimator has no single amount.

    Notes
    -----
    The curves are those of [M14] Fig. 1 and [S14] Fig. 3(a) (lam, iterations) and of [X20] Fig. 1
    (variance).

    References
    ----------
    .. [M14] Muandet et al., "Kernel mean estimation and Stein effect", ICML, 2014.
    .. [S14] Muandet et al., "Kernel mean estimation via spectral filtering", NeurIPS, 2014.
    .. [X20] Xia et al., "Kernel mean estimation by marginalized corrupted distributions",
       arXiv:2107.04855, 2021.

    Examples
    --------
    >>> path = loss_path("landweber", [1, 3, 10], n=10, d=5, n_trials=20, workers=1, rng=0)
    >>> path.table[["amount", "loss", "improvement"]].round(3)
       amount   loss  improvement
    0       1  0.097      -72.505
    1       3  0.056       -0.380
    2      10  0.057       -1.959
    """
    for name, value in (("kernel", kernel), ("n", n), ("d", d)):
        if isinstance(value, list | tuple | dict):
            raise ValueError(f"{name} must be a single value; got {value!r}: make a path of each")
    base: Any = as_estimator(estimator)
    variances = base.variances or () if isinstance(base, MMKME) else ()
    known = (
        ("multiple",) if any(variances) else tuple(name for name in AMOUNTS if hasattr(base, name))
    )
    if not known:
        raise ValueError(
            f"{base!r} has no single amount to follow; MMKME needs variances=(1.0, ...)"
        )
    parameter = known[0] if parameter is None else choice(parameter, known, "parameter")
    values = tuple(dict.fromkeys(to_plain(amount) for amount in several(amounts, Real, "amounts")))
    at = {}
    for amount in values:
        fixed = (
            {parameter: amount}
            if not variances
            else {"variances": tuple(amount * v for v in variances)}
        )
        at[f"{parameter} = {amount!r}"] = base.at(**fixed)
    return LossPath(risk_study(design, at, kernel, n, d, **study), base, parameter, values)
