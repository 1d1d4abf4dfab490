"""Do data come from a model that can be simulated?  ``goodness_of_fit_test``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from shrinktest._check import choice, count
from shrinktest._docs import documented
from shrinktest._hints import hinted
from shrinktest._random import as_rng, independent_rng
from shrinktest.auto import estimators_of, recommended
from shrinktest.data.all_rows import at_least_two_rows, check_column_types, read_rows
from shrinktest.data.scale import ScaleOption
from shrinktest.data.tables import is_table
from shrinktest.data.variable import Variable
from shrinktest.drawn_columns import DrawnColumns
from shrinktest.ensembles import Ensemble
from shrinktest.kernel_spec import KernelSpec, is_auto
from shrinktest.kernels.user import takes_row_numbers
from shrinktest.many import ColumnsToTest, run_many
from shrinktest.notes import has_code, note
from shrinktest.results.goodness_of_fit_result import GoodnessOfFitResult
from shrinktest.results.info import GOODNESS_OF_FIT
from shrinktest.results.multiple_tests_result import METHODS, MultipleTestsResult
from shrinktest.run import run
from shrinktest.settings import Settings
from shrinktest.simulated_model import FromModel, KeptCopies, SimulatedModel

_TIMES = 5  # rows of the reference sample for each row of the data
_FEWEST = 200
_MOST = 2000
_NOT_IN_PICKLE = "this result was pickled without its model; run goodness_of_fit_test again"


@hinted
@documented
def goodness_of_fit_test(
    X: Any,
    simulate: Callable[..., Any],
    *,
    n_simulations: int = 999,
    fit: Callable[[Any], Any] | None = None,
    n_reference: int | None = None,
    estimator: Any = "kme",
    kernel: Any = "gaussian",
    bandwidth: Any = "median",
    scale: Any = "auto",
    form: str = "auto",
    alpha: float = 0.05,
    stopping: Any = None,
    column_types: Any = None,
    nan_policy: str = "raise",
    rng: Any = None,
    workers: Any = None,
    progress: bool = False,
    gram: str = "auto",
    rank: int | None = None,
    max_memory: float | None = None,
) -> GoodnessOfFitResult:
    """Test whether data come from a model that can be simulated.

    The p-value is that of a kernel Monte Carlo test.

    Parameters
    ----------
    X : array_like, shape (n, d) or (n,)
        The data, one row per observation: numbers or, in a table, also categories.
    simulate : callable
        A function ``(rng, n) -> rows`` that draws n rows from the model using a numpy Generator,
        with the columns of X (a table if X has text); with ``fit``, ``(rng, n, params) -> rows``.
    n_simulations : int, default 999
        Number of data sets that are drawn from the model.
    fit : callable, optional
        Function from data to the parameters of the model.  The p-value is then that of a parametric
        bootstrap, which is approximate, because the model is fitted to every data set anew.
    n_reference : int, optional
        Number of rows of the reference sample.  The default is 5 n, but at least 200 and at most
        2000, and never fewer than n; for estimators that are fitted to it repeatedly it is n.
    bandwidth
        It is computed from the reference sample.
    scale
        Units are computed from the reference sample.
    form
        Here it compares X and the reference sample.
    column_types : dict, optional
        As in :func:`two_sample_test`, but every column that is tested must hold numbers or
        categories.
    nan_policy : {"raise", "omit"}, default "raise"
        Whether to raise an error for missing values in X, or drop their rows.
    gram : {"auto", "dense", "nystrom", "rff"}, default "auto"
        As in :func:`two_sample_test`, but with landmarks from the reference sample.

    Returns
    -------
    GoodnessOfFitResult
        ``result.columns()`` tests every column, ``result.plot_witness()`` shows where the model is
        wrong, and ``result.effect()`` how well data and model can be told apart.

    See Also
    --------
    closer_test : Which of several models is closest to the data.
    two_sample_test : Two samples, of which one may be a single sample of the model.
    Copies : Simulations as the null distribution of a statistic of your own.

    Notes
    -----
    The statistic is the squared distance of the kernel means of X and of a reference sample, which
    is drawn from the model beforehand and from which units and bandwidths are computed.  Without
    ``fit``, X and the simulated data sets are exchangeable if the model is true, conditionally on
    the reference sample.  Therefore, the p-value is exact for every estimator and every number of
    simulations, even if rows depend on each other (Besag and Clifford, Biometrika 76 (1989),
    633-642).  With ``fit``, each data set is compared with a reference sample of its own fit, drawn
    with identical random numbers; :doc:`/simulators` reports Type I error rates.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import goodness_of_fit_test
    >>> rng = np.random.default_rng(1)
    >>> waits = rng.gamma(2.0, 0.5, size=60)
    >>> def exponential(rng, n):
    ...     return rng.exponential(1.0, size=n)
    >>> goodness_of_fit_test(waits, exponential, rng=0).pvalue
    0.001

    The same model with the rate fitted to the data:

    >>> def with_mean(rng, n, mean):
    ...     return rng.exponential(mean, size=n)
    >>> goodness_of_fit_test(waits, with_mean, fit=np.mean, n_simulations=199, rng=0).pvalue
    0.005
    """
    settings = Settings.read(
        form=form,
        n_resamples=count(n_simulations, "n_simulations", 0),
        alpha=alpha,
        stopping=stopping,
        workers=workers,
        progress=progress,
        gram=gram,
        rank=rank,
        max_memory=max_memory,
    )
    spec = KernelSpec(kernel, bandwidth)
    if takes_row_numbers(kernel):
        raise ValueError("kernel: a Gram matrix has no values for simulated rows; pass a kernel")
    generator = as_rng(rng)
    hypothesis = read(
        X,
        simulate=simulate,
        fit=fit,
        n_reference=n_reference,
        refitted=_refitted(estimator),
        scale=scale,
        column_types=column_types,
        nan_policy=nan_policy,
        rng=independent_rng(generator, 2),
    )
    by_feature = spec.by_feature(hypothesis.encoding)
    result = cast(
        GoodnessOfFitResult, run(hypothesis, estimator, [by_feature], settings, generator)
    )
    return replace(result, fitted=FittedModel(hypothesis, estimator, spec, settings))


def _refitted(estimator: Any) -> bool:
    """Return True if an estimator is fitted to the reference sample again for every data set."""
    if isinstance(estimator, Ensemble):
        several = [member.estimator for member in estimator.members]
    elif is_auto(estimator):
        several = [member.estimator for member in recommended(GOODNESS_OF_FIT.name).members]
    else:
        several = estimators_of(estimator)
    return any(each.needs not in ("sums", "noise") for each in several)


def read(
    X: Any,
    *,
    simulate: Any,
    fit: Any = None,
    n_reference: Any = None,
    refitted: bool = False,
    scale: Any = "auto",
    column_types: Any = None,
    nan_policy: str = "raise",
    rng: np.random.Generator,
) -> FromModel:
    """Read the data, and draw the reference sample of the model."""
    choice(nan_policy, ("raise", "omit"), "nan_policy")
    data = read_rows([X], ["X"], nan_policy, column_types)
    check_column_types(column_types, [data])
    columns = data.as_columns()
    named = data.columns or ()
    drawn_columns = DrawnColumns.of(columns, named=bool(named))
    (complete,) = data.complete(nan_policy)
    at_least_two_rows("X", complete, data.missing_in(0) if nan_policy == "omit" else None)
    rows = drawn_columns.rows_of(columns)[complete]
    shape = () if not named and not is_table(X) and np.ndim(X) == 1 else (rows.shape[1],)
    model = SimulatedModel.of(simulate, fit, named, shape, drawn_columns)
    size = _reference_size(len(rows), n_reference, refitted)
    params = model.params(rows)
    seed = int(rng.integers(2**63))
    reference = model.draw(np.random.default_rng(seed), size, params)
    again = model.draw(np.random.default_rng(seed + 1), size, params)
    if np.array_equal(reference, again):
        raise ValueError("simulate drew the same rows twice; it must draw with numbers from rng")
    variable, notes = _variable(reference, drawn_columns, named, scale)
    return FromModel(
        variables=(variable,),
        sizes=(len(rows),),
        called=("X", "model"),
        remarks=(*data.notes, *data.omitted([complete]), *notes),
        model=model,
        copies=KeptCopies(rows, lambda source: model.draw(source, len(rows), params)),
        seed=seed,
        reference_size=size,
        encoding=variable.encoding,
    )


def _reference_size(size: int, n_reference: Any, refitted: bool) -> int:
    if n_reference is not None:
        return count(n_reference, "n_reference", 2)
    return size if refitted else max(size, min(max(_TIMES * size, _FEWEST), _MOST))


def _variable(
    reference: np.ndarray, drawn_columns: DrawnColumns, names: tuple[str, ...], scale: Any
) -> tuple[Variable, tuple[str, ...]]:
    """Return the reference sample with units from its rows, and notes on these."""
    if drawn_columns.labeled:
        variable, notes = drawn_columns.encoding(reference, scale)
    else:
        table: Any = reference
        if names:
            import pandas as pd

            table = pd.DataFrame(reference, columns=list(names))
        every = np.ones(len(reference), dtype=bool)
        rows = read_rows([table], ["the reference sample"], "raise", None)
        variable, notes = rows.taken(every, ScaleOption.of(scale), indicate=False)
    variable = replace(variable, points=np.ascontiguousarray(variable.points))
    in_units = any(has_code(text, "units-sd") for text in notes)
    own = [note("units-of-reference")] if in_units else []
    return variable, (*own, *(text for text in notes if not has_code(text, "units-sd")))


@dataclass(frozen=True, eq=False)
class FittedModel:
    """The data with their model, and how they were tested."""

    hypothesis: FromModel
    estimator: Any
    spec: KernelSpec
    settings: Settings

    def __reduce_ex__(self, protocol: Any) -> Any:
        return str, (_NOT_IN_PICKLE,)

    def __deepcopy__(self, memo: dict[int, Any]) -> FittedModel:
        return self

    def columns(self, method: str, rng: Any) -> MultipleTestsResult:
        """Test every column by itself."""
        choice(method, METHODS, "method")
        whole = self.hypothesis
        (table,) = whole.variables
        columns = ColumnsToTest.read(table, self.spec, "x", unread={}, left_out={})
        groups: Sequence[slice] = [slice(j, j + 1) for j in range(table.points.shape[1])]
        if table.encoding is not None:
            groups = table.encoding.groups
        hypotheses = [
            replace(whole, variables=(column.values,), part=groups[column.place])
            for column in columns.tested
        ]
        return run_many(
            hypotheses,
            [(column.label,) for column in columns.tested],
            ("column",),
            [[column.spec] for column in columns.tested],
            self.estimator,
            self.settings,
            as_rng(rng),
            method,
            untested={(label,): reason for label, reason in columns.untested.items()},
            notes=columns.notes,
            without=("no-weight",),
        )
