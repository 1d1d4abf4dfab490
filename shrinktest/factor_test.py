"""Which factors of a design matter for a response of many columns?  ``factor_test``."""

from __future__ import annotations

from typing import Any

import numpy as np

from shrinktest._check import choice, counted, listed
from shrinktest._docs import documented
from shrinktest._hints import hinted
from shrinktest._random import as_rng
from shrinktest.data.all_rows import at_least_two_rows, check_column_types, read_rows
from shrinktest.data.formula import (
    Formula,
    design_table,
    few_values_notes,
    joint_terms,
    terms_of,
)
from shrinktest.data.read import check_nan_policy
from shrinktest.data.scale import ScaleOption, is_automatic
from shrinktest.data.tables import columns_at, names_in
from shrinktest.data.variable import Variable
from shrinktest.factor_design import Design, coded
from shrinktest.kernel_spec import KernelSpec
from shrinktest.kernels import (
    Distances,
    Kernel,
    Linear,
    MetricKernel,
    Precomputed,
    compares_as_given,
)
from shrinktest.kernels.user import takes_row_numbers
from shrinktest.notes import note
from shrinktest.results.factor_result import FactorResult
from shrinktest.settings import Settings
from shrinktest.trial import Trial


@hinted
@documented
def factor_test(
    formula: str,
    data: Any,
    *,
    response: Any = None,
    typ: int = 2,
    groups: Any = None,
    blocks: Any = None,
    within: str = "rows",
    terms: Any = None,
    statistic: str = "robust",
    location: str | None = "auto",
    estimator: Any = "kme",
    kernel: Any = "gaussian",
    bandwidth: Any = "median",
    scale: Any = "auto",
    column_types: Any = None,
    transform: Any = None,
    nan_policy: str = "raise",
    n_resamples: float = 999,
    stopping: Any = None,
    alpha: float = 0.05,
    rng: Any = None,
    workers: Any = None,
    progress: bool = False,
    gram: str = "auto",
    rank: int | None = None,
    max_memory: float | None = None,
) -> FactorResult:
    """Test every term of a design with several factors (kernel ANOVA).

    Parameters
    ----------
    formula : str
        Terms such as "treatment * time + age", as in formulaic.  Text, categories and booleans are
        factors, numbers are covariates, and ``C(dose)`` turns a number into a factor.  A left side
        names columns of the response: "pain + mood ~ treatment".
    data : table
        Table (pandas, polars or pyarrow) or dict of columns, with the variables of the formula.
    response : str, list of str, array, table, Precomputed or Distances, optional
        The response that the terms may explain: columns of ``data``, an array, a
        table, or a matrix of kernel values or distances between rows.
    typ : {2, 1}, default 2
        2 adjusts each term for all terms that do not contain it, whereas 1 adjusts it for the terms
        before it.
    groups : str, list of str or array_like, optional
        Rows that belong together, such as the visits of a patient: columns of ``data``, or labels.
        Terms that are constant within groups are tested on whole groups.
    blocks : str, list of str or array_like, optional
        Rows are permuted only within blocks, and differences between blocks are removed.
    within : {"rows", "signs"}, default "rows"
        Permutations for terms that vary within groups: "rows" reorders their rows; "signs" flips
        the sign of all residuals of a group, which is approximate but allows for any correlation
        among them.
    terms : dict, optional
        Terms that are tested together in further rows of the table, under your own names, such as
        {"arm in any way": ["arm", "arm:time"]}.
    statistic : {"robust", "F"}, default "robust"
        "robust" divides the sum of squares of a term by its expectation under unequal spread,
        whereas "F" divides it by the mean square of the residuals.
    location : {"auto", None}, default "auto"
        "auto" subtracts the effects of the other terms from the numbers before a kernel compares
        them, so that additive shifts do not count as an interaction.  None tests whether kernel
        means are additive.
    estimator : {"kme", "auto"}, default "kme"
        "auto" combines several kernels.  Other estimators raise an error, because means of a design
        are fitted by least squares.

    Returns
    -------
    FactorResult
        A result with one row per term in ``table``, and a test by name: ``result["treatment"]``.

    Raises
    ------
    ValueError, TypeError
        If a design or data cannot be tested; the message names the argument.

    See Also
    --------
    k_sample_test : One factor.
    two_sample_test : Two samples, with ``covariates=``.
    Distances : A response given by its distances.

    Notes
    -----
    The permutations are chosen for each term, and ``permuted`` describes them.  If all
    other terms are factors, a factor or covariate is permuted within their cells, which is exact.
    If there are other covariates, and for interactions, rows of the residualized predictor are
    permuted ([TT22]), which is approximate.  Terms that are constant within groups are permuted
    with whole groups; for their interactions with terms that vary within groups, labels of groups
    are permuted, but not rows.

    ``share`` is partial omega squared, the proportion that a term explains of the variation left by
    the other terms; it may be negative.  Its interval comes from a jackknife over rows
    or groups.

    References
    ----------
    .. [TT22] ter Braak and te Beest, "Testing environmental effects on taxonomic composition with
       canonical correspondence analysis: alternative permutation tests are not equal", Environ.
       Ecol. Stat. 29, 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import factor_test
    >>> rng = np.random.default_rng(0)
    >>> table = {"arm": ["drug", "placebo"] * 20, "time": ["early"] * 20 + ["late"] * 20}
    >>> response = rng.normal(size=(40, 3))
    >>> response[::2] += 1.0
    >>> result = factor_test("arm * time", table, response=response, rng=0)
    >>> result.table[["term", "df", "pvalue", "permuted"]]
           term  df  pvalue                            permuted
    0       arm   1   0.001           rows within cells of time
    1      time   1   0.350            rows within cells of arm
    2  arm:time   1   0.619  rows of the residualized predictor
    """
    settings = Settings.read(
        form=choice(statistic, ("robust", "F"), "statistic"),
        n_resamples=n_resamples,
        alpha=alpha,
        stopping=stopping,
        workers=workers,
        progress=progress,
        gram=gram,
        rank=rank,
        max_memory=max_memory,
    )
    if location is not None:
        choice(location, ("auto",), "location")
    trial = read(
        formula,
        data,
        response=response,
        typ=typ,
        groups=groups,
        blocks=blocks,
        within=within,
        joint=terms,
        kernel=kernel,
        scale=scale,
        column_types=column_types,
        transform=transform,
        nan_policy=nan_policy,
        bandwidth=bandwidth,
        estimator=estimator,
        settings=settings,
        align=location == "auto",
    )
    tests = trial.tests(as_rng(rng))
    return FactorResult(
        tests=tests,
        formula=formula.rpartition("~")[2].strip(),
        response=trial.called,
        sizes=trial.sizes,
        alpha=settings.alpha,
        by_distance=isinstance(tests[0].kernel, Linear | Distances),
        notes=trial.notes,
        trial=trial,
    )


def read(
    formula: Any,
    data: Any,
    *,
    response: Any,
    typ: Any = 2,
    groups: Any = None,
    blocks: Any = None,
    within: Any = "rows",
    joint: Any = None,
    kernel: Any = "gaussian",
    scale: Any = "auto",
    column_types: Any = None,
    transform: Any = None,
    nan_policy: str = "raise",
    bandwidth: Any = "median",
    estimator: Any = "kme",
    settings: Settings,
    align: bool = True,
) -> Trial:
    """Read a formula, a table and a response; raise ValueError or TypeError for faults."""
    check_nan_policy(nan_policy)
    _check_typ(typ)
    _check_within(within, groups)
    parsed = Formula.read(formula)
    table = design_table(data)
    if isinstance(response, Kernel):
        _check_matrix(transform, estimator)
    values, called, kernel = _response(parsed, data, table, response, kernel)
    if compares_as_given(kernel) and is_automatic(scale):
        scale = None
    group, group_name = _labels(groups, "groups", table)
    block, block_name = _labels(blocks, "blocks", table)
    labels = [column for column in (group, block) if column is not None]
    complete = _complete(parsed, table, labels, nan_policy)
    precomputed = takes_row_numbers(kernel)
    if precomputed:
        points = np.arange(len(table), dtype=np.float64)[:, None]
        keep = complete
        variable = Variable(points[keep], "response", numbers=True)
        notes: tuple[str, ...] = ()
    else:
        variable, keep, notes = _variable(
            values, complete, scale, column_types, nan_policy, transform
        )
    if isinstance(kernel, MetricKernel):  # their distances are a matrix as response
        kernel = kernel.resolve(variable.compared(), as_rng(0))
        kernel = _as_matrix(kernel, variable.compared())
        precomputed = True
        variable = Variable(np.arange(len(variable.points))[:, None], "response", numbers=True)
    if not complete.all() and nan_policy != "omit":
        raise ValueError(
            f"data have missing values in {_where(parsed, table)}; use nan_policy='omit'"
        )
    kept = table.loc[keep].reset_index(drop=True)
    terms = terms_of(parsed, kept)
    design = Design(
        terms,
        typ,
        None if group is None else coded(group[keep]),
        np.zeros(len(kept), dtype=np.int64) if block is None else coded(block[keep]),
        group_name,
        block_name,
        joint_terms(joint, terms),
        within,
    )
    _check_nested(design)
    sizes = {"rows": len(kept)}
    for codes, name in ((design.group, group_name), (design.block, block_name)):
        if codes is not None and codes.any():
            sizes[name] = int(codes.max()) + 1
    notes = (*notes, *few_values_notes(terms))
    if precomputed and any(term.is_interaction for term in terms):
        names = " and ".join(term.name for term in terms if term.is_interaction)
        notes += (note("additive-in-distance", term=names),)
    if isinstance(kernel, Distances) and not kernel.is_definite:
        notes += (note("negative-share"),)
    spec = KernelSpec(kernel, bandwidth)
    return Trial(design, variable, called, sizes, notes, estimator, spec, settings, align)


def _check_matrix(transform: Any, estimator: Any) -> None:
    """Raise ValueError for arguments that a matrix as response does not allow."""
    if transform is not None:
        raise ValueError("transform= has no effect on a matrix as response; leave it out")
    if isinstance(estimator, str) and estimator == "auto":
        raise ValueError(
            "estimator='auto' combines kernels of numbers, and response is a matrix; use 'kme'"
        )


def _check_typ(typ: Any) -> None:
    if typ in (1, 2) and not isinstance(typ, bool):
        return
    if typ == 3:
        raise ValueError(
            "typ=3 adjusts main effects for their own interactions, which depends on the coding; "
            "use typ=2"
        )
    raise ValueError(f"typ must be 2 or 1; got {typ!r}")


def _check_within(within: Any, groups: Any) -> None:
    choice(within, ("rows", "signs"), "within")
    if within == "signs" and groups is None:
        raise ValueError("within='signs' changes the signs of groups; use groups=")


def _response(
    parsed: Formula, data: Any, table: Any, response: Any, kernel: Any
) -> tuple[Any, str, Any]:
    """Return the response as it is read, its name, and the kernel that compares it."""
    names: Any = parsed.response
    if names and response is not None:
        raise ValueError("response= and the left side of formula both name one; leave one out")
    if not names and response is None:
        raise ValueError("response is missing; pass columns of data, an array, or Distances")
    if isinstance(response, Kernel):
        size = len(getattr(response, "gram", ()))
        if size != len(table):
            raise ValueError(
                f"response has {size} rows and data has {len(table)}; pass the same rows in both"
            )
        if not (isinstance(kernel, str) and kernel == "gaussian"):
            raise ValueError("kernel= has no effect on a matrix as response; leave it out")
        return None, "distances" if isinstance(response, Distances) else "kernel", response
    if isinstance(response, str):
        names = (response,)
    elif isinstance(response, list | tuple) and all(isinstance(name, str) for name in response):
        names = tuple(response)
    if not names:
        size = len(response) if hasattr(response, "__len__") else 0
        if size != len(table):
            raise ValueError(
                f"response has {counted(size, 'row')} and data has {len(table)}; pass the same "
                "rows in both"
            )
        shown = ", ".join(names_in(response))
        return response, shown or "the response", kernel
    known = [str(name) for name in table.columns]
    for name in names:
        choice(name, known, "a column of the response")
    if both := [name for name in names if name in parsed.variables]:
        raise ValueError(f"formula has the response {listed(both)} among its terms; leave it out")
    source = table if isinstance(data, dict) else data
    places = [known.index(name) for name in names]
    return columns_at(source, places), ", ".join(names), kernel


def _labels(labels: Any, argument: str, table: Any) -> tuple[Any, str]:
    """Return a number for the label of each row, -1 if missing, and what labels are called."""
    import pandas as pd

    if labels is None:
        return None, argument
    named = [labels] if isinstance(labels, str) else labels
    name = argument
    if isinstance(named, list | tuple) and named and all(isinstance(x, str) for x in named):
        known = list(map(str, table.columns))
        if len(named) != len(table) or set(named) <= set(known):
            for column in named:
                choice(column, known, f"a column in {argument}")
            columns = [pd.factorize(table[column])[0] for column in named]
            name = f"{' and '.join(named)} {argument}" if len(named) > 1 else _plural(named[0])
            missing = np.min(columns, axis=0) < 0
            return np.where(missing, -1, coded(*columns)), name
    values = pd.Series(list(named) if not hasattr(named, "dtype") else np.asarray(named))
    if len(values) != len(table):
        raise ValueError(
            f"{argument} has {counted(len(values), 'label')} for {len(table)} rows; pass one for "
            "each"
        )
    return pd.factorize(values)[0], name


def _plural(name: str) -> str:
    return name if name.endswith("s") or not name.isidentifier() else f"{name}s"


def _complete(parsed: Formula, table: Any, labels: list[Any], nan_policy: str) -> Any:
    """Return which rows have all variables of the formula, and labels."""
    names = sorted(parsed.variables)
    for name in names:
        choice(name, map(str, table.columns), "a variable of formula")
    complete = ~table[names].isna().any(axis=1).to_numpy()
    for codes in labels:
        complete &= codes >= 0
    return complete


def _where(parsed: Formula, table: Any) -> str:
    gaps = [name for name in sorted(parsed.variables) if table[name].isna().any()]
    return listed(gaps) if gaps else "groups or blocks"


def _variable(
    values: Any, complete: Any, scale: Any, column_types: Any, nan_policy: str, transform: Any
) -> tuple[Variable, Any, tuple[str, ...]]:
    """Return the response as numbers, the rows that are kept, and notes."""
    rows = read_rows([values], ["response"], nan_policy, column_types, transform)
    check_column_types(column_types, [rows])
    (own,) = rows.complete(nan_policy)
    if nan_policy == "propagate" and not own.all():
        raise ValueError("response has missing values; use nan_policy='omit' or 'indicator'")
    keep = own & complete
    at_least_two_rows("response", keep, rows.missing_in(0) if nan_policy == "omit" else None)
    variable, notes = rows.taken(keep, ScaleOption.of(scale), indicate=nan_policy == "indicator")
    omitted = rows.omitted([keep]) if nan_policy == "omit" else ()
    return variable, keep, (*omitted, *notes)


def _as_matrix(kernel: MetricKernel, points: np.ndarray) -> Kernel:
    """Return the kernel of row numbers with the values of a kernel of rows (n, d)."""
    if kernel.bandwidth is None:
        return Distances(kernel.distances(points, points))
    return Precomputed(kernel.evaluate(points, points))


def _check_nested(design: Design) -> None:
    """Raise ValueError for groups that lie in several blocks."""
    if design.group is None or not design.block.any():
        return
    pairs = np.unique(np.column_stack([design.group, design.block]), axis=0)
    if len(pairs) > int(design.group.max()) + 1:
        raise ValueError(
            "groups: some have rows in more than one block; make blocks of whole groups, or leave "
            "one out"
        )
