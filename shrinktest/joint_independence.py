"""Are several variables jointly independent?  ``joint_independence_test``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from shrinktest._docs import documented
from shrinktest._hints import hinted
from shrinktest.data.labels import named_variables, numbered
from shrinktest.data.read import read_variables
from shrinktest.estimators import MeanEstimator
from shrinktest.hypothesis import Hypothesis
from shrinktest.kernel_spec import KernelSpec, refuse_candidates
from shrinktest.permutations.base import Permutations
from shrinktest.permutations.schemes import Shuffles
from shrinktest.permutations.serial_correlation import SerialCorrelation, joint_correlation
from shrinktest.results.info import JOINT, TestInfo
from shrinktest.results.result import TestResult
from shrinktest.run import run
from shrinktest.settings import Settings
from shrinktest.statistics.hsic import prepare_joint, tuning_of
from shrinktest.statistics.kernel_cache import KernelCache
from shrinktest.statistics.statistic import Form, Prepared


@dataclass(frozen=True, eq=False, kw_only=True)
class JointIndependence(Hypothesis):
    """Hypothesis that several variables are jointly independent.

    All but the first may then be permuted, each by itself.
    """

    kind: ClassVar[TestInfo] = JOINT
    serial_remedy: ClassVar[str] = "test two variables at a time, with block_length='whole'"

    @classmethod
    def read(
        cls,
        *variables: Any,
        nan_policy: str = "raise",
        called: tuple[str, ...] = (),
        own: Any = None,
        **reading: Any,
    ) -> Self:
        """Read variables as users give them, with their names.

        See :func:`~shrinktest.data.read.read_variables`.
        """
        names = called or numbered("variables", len(variables))
        read = read_variables(variables, names, nan_policy, **reading)
        return cls(
            variables=read.variables,
            sizes=read.sizes,
            missing=read.missing,
            remarks=read.notes,
            called=called or read.called,
            own=own,
        )

    def _allowed(self, alpha: float, symmetric: bool) -> Permutations:
        return Shuffles(self.sizes[0], len(self.variables))

    @property
    def identity(self) -> np.ndarray:
        """Places of the rows of all variables but the first."""
        return np.tile(np.arange(self.sizes[0]), (len(self.variables) - 1, 1))

    def serial_correlation(self) -> SerialCorrelation | None:
        """Serial correlation of two of the variables."""
        return joint_correlation(
            [v.rows_of() for v in self.variables], [v.name for v in self.variables]
        )

    def tuning(self, estimator: MeanEstimator) -> str:
        """Return what the estimator tunes for one sample of rows."""
        return tuning_of(estimator, self.sizes[0])

    def prepare(
        self, estimator: MeanEstimator, kernel: Any, form: Form, cache: KernelCache
    ) -> Prepared:
        """Squared norm of the mean of features without main effects, for every shuffle.

        The mean is the estimated mean.
        """
        values = [variable.points for variable in self.variables]
        return prepare_joint(estimator, kernel, values, cache)


@hinted
@documented
def joint_independence_test(
    *variables: Any,
    estimator: Any = "kme",
    kernels: Any = "gaussian",
    bandwidths: Any = "median",
    scale: Any = "auto",
    n_resamples: float = 999,
    stopping: Any = None,
    alpha: float = 0.05,
    permutations: Any = None,
    column_types: Any = None,
    transform: Any = None,
    nan_policy: str = "raise",
    rng: Any = None,
    workers: int | None = None,
    progress: bool = False,
    max_memory: float | None = None,
) -> TestResult:
    """Test whether several variables are jointly independent (kernel dHSIC test).

    Parameters
    ----------
    *variables : array_like, shape (n, p_l) or (n,)
        Two or more variables, observed together in every row; or one dict from names to variables,
        or one table, each column of which is a variable.
    estimator
        Here it estimates the mean of features whose mean is zero under joint independence
        (:doc:`/theory`); "kme" gives dHSIC.
    kernels : str, Kernel or callable, or list with one of these per variable, default "gaussian"
        One kernel for all variables or one for each, as ``kernel`` in :func:`two_sample_test`.
    bandwidths : float, "median", or list with one bandwidth per variable, default "median"
        One bandwidth for all variables or one (or a sequence, with one number per column) for each,
        as ``bandwidth`` in :func:`two_sample_test`.
    permutations
        A permutation has shape (d - 1, n): new positions for the rows of every variable but the
        first.

    Returns
    -------
    TestResult
        A result with a single estimate, that of the mean described under ``estimator``.

    See Also
    --------
    independence_test : Independence of two variables, perhaps conditional on others.
    independence_matrix : Pairs of columns that depend on each other.
    solve_sample_size : Number of observations that a test needs.

    Notes
    -----
    dHSIC ([P18] Definition 3 and section 3.2, the V-statistic) is the squared distance between the
    kernel mean of the joint distribution and the product of the kernel means of the variables.  It
    is zero only under joint independence, whereas tests of pairs miss, for example, a variable that
    is the sign of the product of two others.  The test is exact, because every variable but the
    first is permuted separately and estimators are refitted for every permutation.

    References
    ----------
    .. [P18] Pfister et al., "Kernel-based tests for joint independence", JRSS B 80, 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import independence_test, joint_independence_test
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.choice([-1.0, 1.0], size=(2, 60)) + 0.1 * rng.normal(size=(2, 60))
    >>> z = x * y  # any two are (nearly) independent, the three are not
    >>> result = joint_independence_test(x, y, z, rng=0)
    >>> result.pvalue
    0.001
    >>> independence_test(x, z, rng=0).pvalue, independence_test(y, z, rng=0).pvalue
    (0.763, 0.389)
    """
    widths = bandwidths if isinstance(bandwidths, list | tuple) else [bandwidths]
    refuse_candidates(
        "joint_independence_test",
        "gaussian",
        *(width for width in widths if isinstance(width, str)),
    )
    settings = Settings.read(
        n_resamples=n_resamples,
        alpha=alpha,
        stopping=stopping,
        workers=workers,
        progress=progress,
        max_memory=max_memory,
    )
    given, called, types = named_variables(variables, column_types)
    hypothesis = JointIndependence.read(
        *given,
        nan_policy=nan_policy,
        scale=scale,
        column_types=types,
        transform=transform,
        called=called,
        own=permutations,
    )
    columns = [
        values if isinstance(values, list | tuple) else [values] * len(given)
        for values in (kernels, bandwidths)
    ]
    for name, values in zip(("kernels", "bandwidths"), columns, strict=True):
        if len(values) != len(given):
            counts = f"{len(values)} entries for {len(given)} variables"
            raise ValueError(f"{name} has {counts}; pass one for each, or one for all")
    specs = [
        KernelSpec(kernel, width, f"kernels[{v}]")
        for v, (kernel, width) in enumerate(zip(*columns, strict=True))
    ]
    return run(hypothesis, estimator, specs, settings, rng)
