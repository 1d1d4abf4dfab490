"""SampleRatio: the planned ratio of the sizes of two samples, and whether the sizes fit it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from shrinktest._check import positive
from shrinktest.data.labels import pooled_labels
from shrinktest.notes import note

#: The usual level of the check: many tables are checked, and an alarm stops an analysis.
LEVEL = 0.001


@dataclass(frozen=True)
class SampleRatio:
    """Planned sizes of two samples, up to a common factor.

    Examples
    --------
    >>> ratio = SampleRatio.of(1)
    >>> [round(ratio.pvalue(sizes), 4) for sizes in ((1000, 1010), (1000, 1200))]
    [0.8409, 0.0]
    >>> SampleRatio.of((2, 1)).notes((2000, 1010), ("A", "B"), "rows")
    ()
    """

    first: float
    second: float

    @classmethod
    def of(cls, given: Any, *, paired: bool = False) -> SampleRatio | None:
        """Read the size of the second sample over the first, or a pair of sizes; None if None."""
        if given is None:
            return None
        if paired:
            raise ValueError("sample_ratio= is for samples that are not paired; leave it out")
        if isinstance(given, tuple | list):
            if len(given) != 2:
                raise ValueError(f"sample_ratio must be a number or two, such as (1, 1); {given!r}")
            return cls(positive(given[0], "sample_ratio"), positive(given[1], "sample_ratio"))
        return cls(1.0, positive(given, "sample_ratio"))

    def pvalue(self, sizes: Sequence[int]) -> float:
        """Return the p-value of an exact binomial test that the sizes have this ratio."""
        from scipy.stats import binomtest

        share = self.first / (self.first + self.second)
        return float(binomtest(sizes[0], sum(sizes), share).pvalue)

    def notes(self, sizes: Sequence[int], names: Sequence[str], unit: str) -> tuple[str, ...]:
        """Return a note if the sizes do not fit the ratio at the level .001."""
        pvalue = self.pvalue(sizes)
        if pvalue >= LEVEL:
            return ()
        observed = " and ".join(
            f"{size} {unit} in {name}" for size, name in zip(sizes, names, strict=True)
        )
        ratio = f"{self.first:g}:{self.second:g}"
        return (note("sample-ratio", sizes=observed, ratio=ratio, pvalue=f"{pvalue:.2g}"),)

    def notes_on(
        self, samples: Sequence[Any], names: Sequence[str], groups: Any = None
    ) -> tuple[str, ...]:
        """Return a note if the numbers of rows, or of groups, of samples do not fit the ratio."""
        sizes = (len(samples[0]), len(samples[1]))
        if groups is not None:
            groups = pooled_labels(groups, "groups", samples, names, sizes, " and ".join(names))
        return self.notes_of_rows(sizes, names, groups)

    def notes_of_rows(
        self, sizes: Sequence[int], names: Sequence[str], groups: Sequence[Any] | None
    ) -> tuple[str, ...]:
        """Return a note on numbers of rows, or of the groups that are labels of all rows."""
        if groups is None:
            return self.notes(sizes, names, "rows")
        first = len(set(groups[: sizes[0]]))
        return self.notes((first, len(set(groups[sizes[0] :]))), names, "groups")
