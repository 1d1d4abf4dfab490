"""Two samples that have one distribution, some rows of which are unknown, whatever made them so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from shrinktest._read import XY, Samples, read_samples
from shrinktest._validate import counted
from shrinktest.estimators import KME, MeanEstimator
from shrinktest.hypotheses.again import Member
from shrinktest.hypotheses.base import Variable
from shrinktest.hypotheses.equality import TwoEqualDistributions
from shrinktest.kernels.distance import DistanceKernel
from shrinktest.nulls.relabellings import Relabellings
from shrinktest.statistics.gram import Grams
from shrinktest.statistics.outlook import check_memory
from shrinktest.statistics.partitions import estimates_of
from shrinktest.statistics.prepared import Prepared
from shrinktest.statistics.worst_case import worst_case_statistic
from shrinktest.tables.by_column import scale_each
from shrinktest.tables.reading import names_for
from shrinktest.units import Scale

_WHY = "what is computed from the data depends on which values are missing, and so possibly on the labels"
_NO_DATA = (
    "the samples have rows with missing values, of which nothing but a bound of the p-value is known: the band, the "
    "contributions and the picture need all rows; nan_policy='omit' takes the complete ones"
)


@dataclass(frozen=True, eq=False, kw_only=True)
class TwoPartlyKnown(TwoEqualDistributions):
    """Two samples have one distribution, and rows with missing values may have had any.

    The one variable has the complete rows of both samples; ``sizes`` count the unknown rows, too.
    """

    known: np.ndarray  # (N,): which rows are complete

    @classmethod
    def read(  # type: ignore[override]  # one policy
        cls,
        X: Any,
        Y: Any,
        *,
        transform: Any = None,
        own: Any = None,
        shift: Any = None,
        called: tuple[str | None, ...] = (),
        **told: Any,
    ) -> Self:
        """The hypothesis about two samples as users give them; see :class:`TwoEqualDistributions`.

        Raises ValueError for units or a transformer that are found on the data, and samples with fewer than two
        complete rows.
        """
        if transform is not None:
            raise ValueError(
                f"nan_policy='worst' takes no transform=: {_WHY}. Transform the samples before, by a rule that does "
                "not look at them"
            )
        if shift is not None:
            raise ValueError(
                f"nan_policy='worst' does not go with shift={shift!r}: series with gaps do not remember across them as "
                "others do; fill them in (interpolate), or test a part without missing values"
            )
        names = names_for((X, Y), XY, called)
        read = read_samples((X, Y), names, "propagate", **told)
        pooled = np.vstack(read.values)
        known = np.asarray(~np.isnan(pooled).any(axis=1))
        parts = np.split(known, [len(read.values[0])])
        for rows, name in zip(parts, names, strict=True):
            if rows.sum() < 2:
                raise ValueError(
                    f"{name} has {counted(int(rows.sum()), 'row')} without missing values; nan_policy='worst' needs at "
                    "least 2 in each sample, and many more to reject: leave out columns of which much is missing "
                    "(column_types={'name': 'drop'}), or use nan_policy='indicator'"
                )
        _check_fixed(read)
        points = pooled if known.all() else np.ascontiguousarray(pooled[known])
        return cls(
            variables=(Variable(points, " and ".join(names), read.scale, read.encoding),),
            sizes=read.sizes,
            restriction=read.restriction,
            remarks=(*read.notes, *_remarks(parts, names)),
            known=known,
            own=own,
            called=called,
        )

    def described(self, estimator: MeanEstimator, form: str) -> dict[str, Any]:
        """As for complete data; raises ValueError for all but the standard mean."""
        if not isinstance(estimator, KME):
            raise ValueError(
                "nan_policy='worst' is for estimator='kme', whose weights are known without the data; got "
                f"{estimator!r}"
            )
        return super().described(estimator, form)

    def resolved(self, kernel: Any, rng: np.random.Generator) -> Any:
        """The kernel; raises ValueError where its bounds are not known, or a bandwidth is to be found on the data."""
        if not isinstance(kernel, DistanceKernel):
            raise ValueError(
                "nan_policy='worst' is for the kernels 'gaussian' and 'laplacian', whose values lie between 0 and 1; "
                f"got {kernel!r}"
            )
        if isinstance(kernel.bandwidth, str):
            raise ValueError(
                "nan_policy='worst' needs a bandwidth that is fixed before the data are seen, not "
                f"{kernel.bandwidth!r}: {_WHY}. Give bandwidth=a number, or one for each column"
            )
        return super().resolved(kernel, rng)

    def prepare(self, estimator: MeanEstimator, kernel: Any, form: str, grams: Grams, workers: int) -> Prepared:
        """For every partition the most that its statistic may be, beside the observed one."""
        if self.known.all():
            return super().prepare(estimator, kernel, form, grams, workers)
        name = grams.options["gram"]
        if grams.random:
            raise ValueError(
                f"gram={name!r}: values of an approximated kernel may lie outside 0 and 1, and nan_policy='worst' has "
                "bounds for the kernel itself only; use gram='auto', 'dense' or 'factor'"
            )
        points = self.variables[0].points
        if name == "dense":  # approximations, which the advice would otherwise name, are none here
            check_memory(len(points), 1, grams.options["memory"])
        try:
            gram = grams(kernel, points, by_coordinates=True)
        except MemoryError:
            check_memory(len(points), 1, grams.options["memory"])
            raise
        gram = gram.evaluated()
        at = int(self.known[: self.sizes[0]].sum())
        return Prepared(
            statistic=worst_case_statistic(gram, self.known, self._two_sizes, form, workers),
            estimates=lambda: estimates_of(estimator, gram.embedded or kernel, np.split(points, [at]), "fixed"),
            kernel=kernel,
            route=gram.name,
            notes=(),
            threads=True,
        )

    def again(self, members: tuple[Member, ...], permutations: Relabellings | None = None) -> Any:
        """How to compute the estimates again, or why they cannot be."""
        return super().again(members, permutations) if self.known.all() else _NO_DATA

    @property
    def _two_sizes(self) -> tuple[int, int]:
        m, n = self.sizes
        return m, n


def _check_fixed(read: Samples) -> None:
    """Raise ValueError for units that are found on the data, and for columns that these leave out."""
    scale: Scale | list[Any] | None = read.scale
    if read.encoding is not None:
        scale = scale_each(read.encoding.scale, read.encoding.names, "scale")
    if isinstance(scale, str) or any(isinstance(unit, str) for unit in scale or ()):
        raise ValueError(
            "nan_policy='worst' needs units that are fixed before the data are seen, which standard deviations (the "
            f"default for tables), medians and ranks are not: {_WHY}. Give scale=None, or a number for each column"
        )
    for name in read.left_out:
        raise ValueError(
            f"nan_policy='worst' needs columns that are chosen before the data are seen: {_WHY}. {name!r} looks as if "
            f"it identified the rows; say column_types={{{name!r}: 'drop'}}, or how to read it"
        )


def _remarks(parts: list[np.ndarray], names: Sequence[str]) -> tuple[str, ...]:
    """How many rows are unknown, and what that makes of the result."""
    if all(rows.all() for rows in parts):
        return ()
    unknown = " and ".join(
        f"{int((~rows).sum())} of {counted(len(rows), 'row')} of {name}"
        for rows, name in zip(parts, names, strict=True)
        if not rows.all()
    )
    return (
        f"Unknown for missing values: {unknown}. The p-value is no less than that of the complete data, whatever the "
        "values of these rows are and whatever made them missing.",
        "The statistic and the estimates are those of the complete rows; to the statistic of each permutation is added "
        "the most by which the unknown rows may raise it above the observed one.",
    )
