"""Taking variables as given: the method that goes with what users give."""

from __future__ import annotations

from typing import Any

import numpy as np

from shrinktest._read import read_variables
from shrinktest._validate import choice
from shrinktest.conditional.given import all_labels, crossed, enough_alike, refuse_cut, values_of, with_labels
from shrinktest.conditional.models import as_model
from shrinktest.conditional.regression import Regression
from shrinktest.hypotheses.base import variables_of
from shrinktest.hypotheses.given import ConditionalIndependence
from shrinktest.hypotheses.modelled import by_model
from shrinktest.hypotheses.residuals import of_residuals
from shrinktest.nulls.restriction import Restriction
from shrinktest.tables.pooled import UNASKED, is_unasked

GIVEN = ("X", "Y", "given")
METHODS = ("auto", "strata", "residuals", "local")


def read_given(
    X: Any,
    Y: Any,
    given: Any,
    *,
    given_method: str = "auto",
    x_given_z: Any = None,
    regressor: Any = None,
    nan_policy: str = "raise",
    blocks: Any = None,
    groups: Any = None,
    shift: Any = None,
    own: Any = None,
    scale: Any = UNASKED,
    column_types: Any = None,
    transform: Any = None,
) -> ConditionalIndependence:
    """The hypothesis about variables as users give them, with the method that goes with what is given.

    Parameters
    ----------
    X, Y, given
        As users give them.
    given_method : {"auto", "strata", "residuals", "local"}
    x_given_z : optional
        What stands for a model of X given Z.
    regressor : optional
        One of scikit-learn's kind.
    nan_policy, blocks, groups, shift, own, scale, column_types, transform
        As in :meth:`Independence.read`.

    Raises
    ------
    TypeError, ValueError
        For what cannot be tested; the message names the argument and says what to do.
    """
    choice(given_method, METHODS, "given_method")
    for name, value in (("shift", shift), ("permutations", own)):
        if value is not None:
            raise ValueError(
                f"{name}= says which rows of Y may change places, and given= does as well; leave one of them out"
            )
    given = with_labels(given, "given")
    units = scale if isinstance(scale, list | tuple) else [scale, scale]
    scales = scale if hasattr(scale, "keys") else [*units, UNASKED]
    pair = transform if isinstance(transform, list) else [transform, transform]
    read = read_variables(
        (X, Y, given), GIVEN, nan_policy, blocks=blocks, groups=groups, scale=scales, column_types=column_types,
        transform=None if transform is None else [*pair, None],
    )  # fmt: skip
    common: dict[str, Any] = {
        "variables": variables_of(read, GIVEN, said=not is_unasked(scale))[:2],
        "sizes": (len(read.values[0]),),
        "missing": read.missing,
        "restriction": read.restriction,
        "remarks": read.notes,
        "called": read.labels[:2],
    }
    if given_method == "auto" and x_given_z is None:
        labels = all_labels(read.encodings[2]) and regressor is None
        given_method = "strata" if labels else "residuals"
    if regressor is not None and (given_method == "strata" or x_given_z is not None):
        raise ValueError(
            "regressor= is for what regressions leave of X and Y, given_method='residuals' or 'local'; leave it out"
        )
    if x_given_z is not None:
        if given_method != "auto":
            raise ValueError(f"x_given_z= is a method by itself; leave out given_method={given_method!r}")
        refuse(read.restriction, "x_given_z=")
        return by_model(X, given, as_model(x_given_z), read, scale, common)
    if read.missing:
        return ConditionalIndependence(method=given_method, assumption="", **common)
    if given_method == "strata":
        return within_strata(read.values[2], common)
    regression = Regression.on(read.values[2], regressor)
    return of_residuals(regression, common, local=given_method == "local")


def within_strata(z: np.ndarray, common: dict[str, Any]) -> ConditionalIndependence:
    """Permutations within the values of the given variables."""
    restriction: Restriction = common["restriction"]
    codes = crossed(values_of(z), restriction.blocks)
    refuse_cut(restriction.groups, codes, "given")
    kept, notes = enough_alike(codes, "given")
    found = ConditionalIndependence(
        method="permutations within strata",
        assumption="the p-value is exact if rows with the same value of given are independent of each other; nothing "
        "else is assumed.",
        **common,
    )
    codes = np.unique(codes[kept], return_inverse=True)[1]
    groups = None if restriction.groups is None else restriction.groups[kept]
    return found.with_rows(
        kept, restriction=Restriction(blocks=codes, groups=groups), remarks=(*common["remarks"], *notes)
    )


def refuse_without_given(given_method: Any, x_given_z: Any, regressor: Any) -> None:
    """Raise ValueError for arguments that say what to do about given variables where there are none."""
    choice(given_method, METHODS, "given_method")
    told = {"x_given_z": x_given_z is not None, "regressor": regressor is not None}
    for name, asked in {"given_method": given_method != "auto", **told}.items():
        if asked:
            raise ValueError(f"{name}= says what to do about given variables; give these, given=Z, or leave it out")


def refuse(restriction: Restriction, argument: str) -> None:
    """Raise ValueError where labels say as well which rows may change places."""
    for name in ("blocks", "groups"):
        if getattr(restriction, name) is not None:
            raise ValueError(
                f"{name}= says which rows may change places, and so does {argument}; leave one of them out"
            )
