"""Data like those at hand in which two variables are independent given others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from shrinktest._check import Array, complete_points, counted
from shrinktest._read import read_variables
from shrinktest.conditional.given import all_labels, refuse_tested, values_of, with_labels
from shrinktest.conditional.neighbours import neighbourhoods
from shrinktest.conditional.regression import Regression
from shrinktest.conditional.ridge import standardized
from shrinktest.permutations.design import PermutationDesign
from shrinktest.tables.observed import Observed
from shrinktest.tables.pooled import UNASKED
from shrinktest.tables.reading import is_table

_ROWS = 10  # of a neighbourhood, or more


def null_given(Y: Any, given: Any, tested: Sequence[Observed]) -> tuple[Array | None, PermutationDesign]:
    """What the given variables say of Y (n, q), and among which rows the rest of it may change places.

    Nothing and their values where these are all labels; else a kernel ridge regression, and neighbourhoods of rows.
    ``tested`` are X and Y as they were read; none of their columns may be given.

    Raises TypeError for a Y that is a table, whose regression would not be one.
    """
    given = with_labels(given, "given")
    z = read_variables((Y, given), ("Y", "given"), "propagate", scale=[None, UNASKED], labels=("given",))
    refuse_tested(tested, z.observed[1], "given")
    if z.missing:
        raise ValueError("Y or given misses values, of which a study with given= takes none; leave such rows out first")
    if all_labels(z.encodings[1]):
        codes = values_of(z.values[1])
        if np.bincount(codes).max() == 1:
            raise ValueError(
                f"given: each of {counted(len(codes), 'row')} has a value of its own, so that there is nothing to "
                "permute; use fewer and larger strata, or numbers"
            )
        return None, PermutationDesign(blocks=codes)
    if is_table(Y):
        raise TypeError(
            "given= numbers needs Y in numbers, an array such as Y.to_numpy(): what is made of it is no row of a table"
        )
    y = complete_points(Y, "Y").values
    left = Regression.on(z.values[1]).left_of(y, "Y").values
    rows = standardized(z.values[1])
    codes = neighbourhoods(rows, _ROWS) if rows.shape[1] else np.zeros(len(y), dtype=np.int64)
    return y - left, PermutationDesign(blocks=codes)
