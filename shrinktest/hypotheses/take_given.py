"""Taking variables as given: the method that goes with what users give."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from shrinktest._check import choice
from shrinktest._read import Variables, read_variables
from shrinktest.conditional.given import (
    all_labels,
    crossed,
    enough_alike,
    refuse_cut,
    refuse_indicated,
    refuse_tested,
    values_of,
    with_labels,
)
from shrinktest.conditional.models import as_model
from shrinktest.conditional.regression import Regression
from shrinktest.hypotheses.base import said_of_the_same, variables_of
from shrinktest.hypotheses.given import LESS_MEANS, ConditionalIndependence, less_means
from shrinktest.hypotheses.modelled import by_model
from shrinktest.hypotheses.residuals import of_residuals
from shrinktest.permutations.design import PermutationDesign
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
    combined: bool = False,
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

    ``x_given_z`` stands for a model of X given Z, and ``regressor`` is one of scikit-learn's kind.  ``combined`` says
    whether regressions on numbers are followed by the statistics that are combined where no kernel is asked for.  The
    other arguments are those of :meth:`Independence.read`.
    """
    choice(given_method, METHODS, "given_method")
    for name, value in (("shift", shift), ("permutations", own)):
        if value is not None:
            raise ValueError(
                f"{name}= says which rows of Y may change places, and given= does as well; leave one of them out"
            )
    told = {"scale": scale, "column_types": column_types, "transform": transform}
    read = read_three(X, Y, given, nan_policy, blocks=blocks, groups=groups, **told)
    variables = variables_of(read, GIVEN, said=not is_unasked(scale))[:2]
    remarks = (*read.notes, *said_of_the_same(variables))
    if x_given_z is None:
        variables, of_units = zip(*(one.in_units() for one in variables), strict=True)
        remarks += tuple(chain(*of_units))
    common: dict[str, Any] = {
        "variables": variables,
        "sizes": (len(read.values[0]),),
        "missing": read.missing,
        "restriction": read.restriction,
        "remarks": remarks,
        "called": read.labels[:2],
    }
    if x_given_z is not None:
        if regressor is not None:
            raise ValueError("x_given_z= needs no regressor=; leave one of them out")
        if given_method != "auto":
            raise ValueError(f"x_given_z= is a method by itself; leave out given_method={given_method!r}")
        refuse(read.restriction, "x_given_z=")
        if (transform[0] if isinstance(transform, list) else transform) is not None:
            raise ValueError(
                "x_given_z= is a model of X as it is given, and transform= changes it: transform X before, and give "
                "transform=[None, ...] for Y alone"
            )
        return by_model(X, given, as_model(x_given_z), read, common)
    method = method_for(given_method, regressor, labels=all_labels(read.encodings[2]))
    if read.missing:
        return ConditionalIndependence(method=method, assumption="", **common)
    return by_method(method, read.values[2], regressor, common, combined)


def read_three(
    X: Any,
    Y: Any,
    given: Any,
    nan_policy: str,
    *,
    others: str = "",
    scale: Any = UNASKED,
    transform: Any = None,
    **told: Any,
) -> Variables:
    """X, Y and the given variables, as users give them, as numbers; these in units of their own.

    ``others`` is the word by which users give all columns that are tested but two, where they do; ``scale`` and
    ``transform`` are those of X and Y.
    """
    for name, value in (("scale", scale), ("transform", transform)):
        if isinstance(value, list | tuple) and len(value) != 2:
            raise ValueError(
                f"{name} has {len(value)} entries; beside given=, whose units are its own, give one for X and one for Y"
            )
    both = scale if isinstance(scale, list | tuple) else [scale, scale]
    scales = scale if hasattr(scale, "keys") else [*both, UNASKED]
    pair = transform if isinstance(transform, list) else [transform, transform]
    transforms = None if transform is None else [*pair, None]
    three = (X, Y, with_labels(given, "given"))
    read = read_variables(three, GIVEN, nan_policy, scale=scales, transform=transforms, labels=("given",), **told)
    if not others:
        refuse_tested(read.observed[:2], read.observed[2], "given")
    refuse_indicated(read.encodings[2], read.values[2], f"given={others!r}" if others else "given", tested=bool(others))
    return read


def method_for(given_method: Any, regressor: Any, *, labels: bool) -> str:
    """The method that was asked for, or that goes with given variables that are all ``labels``, or not."""
    choice(given_method, METHODS, "given_method")
    if given_method == "auto":
        given_method = "strata" if labels and regressor is None else "residuals"
    if regressor is not None and given_method == "strata":
        raise ValueError(
            "regressor= is for what regressions leave of X and Y, given_method='residuals' or 'local'; leave it out"
        )
    return str(given_method)


def by_method(
    method: str, z: np.ndarray, regressor: Any, common: dict[str, Any], combined: bool = False
) -> ConditionalIndependence:
    """The hypothesis about two variables given others, z (n, d), all of them complete.

    ``common`` is what the hypothesis is made of without given variables; ``combined`` is as in :func:`read_given`.
    """
    if method == "strata":
        return within_strata(z, common)
    return of_residuals(Regression.on(z, regressor), common, local=method == "local", combined=combined)


def within_strata(z: np.ndarray, common: dict[str, Any]) -> ConditionalIndependence:
    """Permutations within the values of the given variables."""
    restriction: PermutationDesign = common["restriction"]
    codes = crossed(values_of(z), restriction.blocks)
    refuse_cut(restriction.groups, codes, "given")
    kept, notes = enough_alike(codes)
    found = ConditionalIndependence(
        method="permutations within strata",
        assumption="the p-value is exact if rows with the same value of given are independent of each other; nothing "
        "else is assumed.",
        **common,
    )
    codes = np.unique(codes[kept], return_inverse=True)[1]
    found = found.with_rows(kept, restriction=replace(restriction.of(kept), blocks=codes))
    x, y = (less_means(one, codes, "given") for one in found.variables)
    return replace(found, variables=(x, y), remarks=(*common["remarks"], *notes, LESS_MEANS))


def refuse_without_given(given_method: Any, x_given_z: Any, regressor: Any) -> None:
    """Raise ValueError for arguments that say what to do about given variables where there are none."""
    choice(given_method, METHODS, "given_method")
    told = {"x_given_z": x_given_z is not None, "regressor": regressor is not None}
    for name, asked in {"given_method": given_method != "auto", **told}.items():
        if asked:
            raise ValueError(f"{name}= says what to do about given variables; give these, given=Z, or leave it out")


def refuse(restriction: PermutationDesign, argument: str) -> None:
    """Raise ValueError where labels say as well which rows may change places."""
    for name in ("blocks", "groups"):
        if getattr(restriction, name) is not None:
            raise ValueError(
                f"{name}= says which rows may change places, and so does {argument}; leave one of them out"
            )
