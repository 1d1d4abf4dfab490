"""Design with several factors: terms of a formula, and the groups and blocks of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shrinktest.data.formula import JointTerm, Term, basis, indicators


@dataclass(frozen=True, eq=False)
class Design:
    """Terms of a formula, and the groups and blocks of the rows."""

    terms: tuple[Term, ...]
    typ: int
    group: np.ndarray | None  # (n,): number of the group of each row
    block: np.ndarray  # (n,): number of the block of each row
    group_name: str = "groups"  # what messages and results call them
    block_name: str = "blocks"
    joint: tuple[JointTerm, ...] = ()  # terms that are also tested together
    within: str = "rows"  # "rows" or "signs": what changes for terms that vary within groups

    @property
    def size(self) -> int:
        """Number of rows."""
        return len(self.block)

    @property
    def within_blocks(self) -> str:
        """Words for the blocks; empty if there is one."""
        return f" within {self.block_name}" if self.block.any() else ""

    @property
    def rows_group(self) -> np.ndarray:
        """The group of each row, of a design that has groups."""
        assert self.group is not None
        return self.group

    @cached_property
    def first(self) -> np.ndarray:
        """The first row of each group."""
        return np.unique(self.rows_group, return_index=True)[1]

    @cached_property
    def varying(self) -> frozenset[str]:
        """Names of the factors that vary within groups; none without groups."""
        if self.group is None:
            return frozenset()
        within = basis(indicators(self.group))
        factors = {factor.name: factor for term in self.terms for factor in term.factors}
        return frozenset(
            name for name, factor in factors.items() if basis(factor.columns, within).shape[1]
        )

    def kind(self, term: Term) -> str:
        """Return "between" groups, "within" them, or "mixed" for a product of both."""
        varying = term.variables & self.varying
        if not varying:
            return "between"
        return "within" if varying == term.variables else "mixed"


def coded(*labels: np.ndarray) -> np.ndarray:
    """Return numbers of the combinations of labels, in order of appearance."""
    table = np.column_stack(labels)
    _, first, code = np.unique(table, axis=0, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[code.reshape(-1)])
