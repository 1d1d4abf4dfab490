"""Adjustments of p-values for their number: what articles call them, and where they are from."""

from __future__ import annotations

from dataclasses import dataclass

from shrinktest.results.references import cited


@dataclass(frozen=True)
class Adjustment:
    """A method of adjustment."""

    words: str  # after "by"
    sources: tuple[str, ...]

    @property
    def cited(self) -> str:
        """The method in words, with its paper."""
        return f"{self.words}{cited(self.sources)}"


_TWO_STAGE = "the two-stage step-up method for the false discovery rate"
#: Every method by its name.
ADJUSTMENTS = {
    "westfall-young": Adjustment("the step-down method of permutation tests", ("WY93",)),
    "shaffer": Adjustment("Shaffer's method", ("S86",)),
    "bonferroni": Adjustment("Bonferroni's method", ("D61",)),
    "sidak": Adjustment("Šidák's method", ("S67",)),
    "holm-sidak": Adjustment("Holm's method with Šidák's bound", ("H79", "S67")),
    "holm": Adjustment("Holm's method", ("H79",)),
    "simes-hochberg": Adjustment("Hochberg's method", ("H88",)),
    "hommel": Adjustment("Hommel's method", ("H88a",)),
    "fdr_bh": Adjustment("the step-up method for the false discovery rate", ("BH95",)),
    "fdr_by": Adjustment("the step-up method for dependent tests", ("BY01",)),
    "fdr_tsbh": Adjustment(_TWO_STAGE, ("BKY06",)),
    "fdr_tsbky": Adjustment(_TWO_STAGE, ("BKY06",)),
}
