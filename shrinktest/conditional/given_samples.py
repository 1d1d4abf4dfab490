"""Two samples and their covariates: how they are read, and the tests that adjust for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np

from shrinktest._check import complete_points
from shrinktest.conditional.conditional_independence import (
    ConditionalIndependence,
    LabelGivenCovariates,
    TwoByPropensity,
    TwoGivenCovariates,
    conditional,
    distilled,
    within_strata,
)
from shrinktest.conditional.given import (
    ABOUT_ROWS,
    all_labels,
    refuse_designs,
    refuse_indicated,
    refuse_tested,
    with_labels,
)
from shrinktest.conditional.regressions import Regressions
from shrinktest.data.all_rows import checked_types
from shrinktest.data.column import DROP
from shrinktest.data.encoding import Encoding
from shrinktest.data.kept_rows import KeptRows
from shrinktest.data.read import XY, read_samples
from shrinktest.data.scale import AUTO
from shrinktest.data.tables import check_same_index, names_for, names_in
from shrinktest.data.variable import Variable
from shrinktest.notes import has_code, note
from shrinktest.results.info import BY_PROPENSITY


@dataclass(frozen=True, eq=False)
class GivenSamples:
    """Two samples with the covariates that they are adjusted for."""

    test: TwoGivenCovariates  # the samples as they are, with the method of adjustment
    covariates: np.ndarray  # (N, p): of the same rows
    names: tuple[str, ...]  # of the covariates; empty if they have none
    kept: tuple[np.ndarray, ...]  # rows of both samples that were not dropped
    propensity: Any
    combined: bool

    @classmethod
    def read(
        cls,
        X: Any,
        Y: Any,
        covariates: Any,
        *,
        covariate_method: str,
        propensity: Any,
        nan_policy: str,
        combined: bool,
        paired: Any = False,
        block_length: Any = None,
        own: Any = None,
        scale: Any = AUTO,
        column_types: Any = None,
        called: tuple[str | None, ...] = (),
        kernel: Any,
        **options: Any,
    ) -> GivenSamples:
        """Read the samples and their covariates; ``kernel`` is the user's argument."""
        refuse_designs(
            "covariates", paired=paired or None, block_length=block_length, permutations=own
        )
        if not isinstance(covariates, tuple | list) or len(covariates) != 2:
            raise ValueError("covariates must be a pair: (covariates of X, covariates of Y)")
        names = names_for((X, Y), XY, called)
        names_of_z = tuple(f"covariates of {name}" for name in called or XY)
        for argument, pair in (("covariates", covariates), ("propensity", propensity)):
            _check_index_of_pair((X, Y), pair, names, argument)
        tables = [
            with_labels(table, name) for table, name in zip(covariates, names_of_z, strict=True)
        ]
        types, types_of_z = _types_apart((X, Y), tables, column_types)
        given = read_samples(
            tables, names_of_z, nan_policy, scale=AUTO, labels=True, column_types=types_of_z or None
        )
        if propensity is None:  # known chances hold for rows without covariates, too
            for name, values in zip(names_of_z, given.values, strict=True):
                refuse_indicated(given.encodings[0], values, name)
        read = read_samples(
            (X, Y),
            names,
            nan_policy,
            scale=scale,
            covariates=_complete_rows(given),
            column_types=types or None,
            **options,
        )
        refuse_tested(read.all_rows, given.all_rows[0], "covariates")
        test = TwoGivenCovariates._of(read, called=called)
        variable, unit_notes = test.variables[0].compared_by(kernel).in_units()
        about_z = tuple(text for text in given.notes if has_code(text, *ABOUT_ROWS))
        method = _covariate_method(covariate_method, propensity, given.encodings[0])
        test = replace(
            test,
            variables=(variable,),
            remarks=(*test.remarks, *about_z, *unit_notes),
            method=method,
        )
        retained = np.concatenate(read.kept)
        z = given.variables[0].points[retained[np.concatenate(given.kept)]]
        encoding = given.encodings[0]
        named = encoding.names if encoding is not None and encoding.named else ()
        return cls(test, z, tuple(named), read.kept, propensity, combined)

    def hypothesis(
        self, variable: Variable | None = None
    ) -> TwoGivenCovariates | ConditionalIndependence:
        """Return the test that the sample of a row does not depend on its values.

        ``variable`` is what is tested, by default all columns of the samples.
        """
        test = self.test if variable is None else replace(self.test, variables=(variable,))
        if test.method == "strata":
            return _by_strata(test, self.covariates)
        if test.method == "residuals":
            return _by_residuals(test, self.covariates, self.combined)
        return _by_propensity(test, self.covariates, self.propensity, self.kept)


def _check_index_of_pair(
    samples: tuple[Any, Any], pair: Any, names: Sequence[str], argument: str
) -> None:
    """Raise ValueError if both samples and a ``pair`` of tables have different row labels."""
    if isinstance(pair, tuple | list) and len(pair) == 2:
        for i, (sample, rows) in enumerate(zip(samples, pair, strict=True)):
            check_same_index(sample, rows, names[i], f"{argument}[{i}]")


def _types_apart(
    samples: Sequence[Any], covariates: Sequence[Any], column_types: Any
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the types of the columns of samples, and of their covariates.

    A column that both have is dropped from the samples only.  Names that neither has count as
    columns of the samples, which are refused where these are read.
    """
    types = _types_of(samples, column_types)
    types_of_z = {
        name: kind
        for name, kind in _types_of(covariates, column_types).items()
        if kind != DROP or name not in types
    }
    types = {
        name: kind
        for name, kind in (column_types or {}).items()
        if name in types or name not in types_of_z
    }
    return types, types_of_z


def _complete_rows(given: KeptRows) -> tuple[np.ndarray, ...]:
    """Return which rows of both samples have complete covariates."""
    if not given.missing:
        return given.kept
    return tuple(np.asarray(np.isfinite(values).all(axis=1)) for values in given.values)


def _covariate_method(method: str, propensity: Any, encoding: Encoding | None) -> str:
    """Return the method for covariates; ValueError if it does not go with ``propensity``."""
    if method == "auto":
        by_covariates = "strata" if all_labels(encoding) else "residuals"
        method = by_covariates if propensity is None else "propensity"
    if (propensity is None) == (method == "propensity"):
        raise ValueError(
            "propensity= requires covariate_method='propensity'; pass both, or leave both out"
        )
    return method


def _by_strata(test: TwoGivenCovariates, z: np.ndarray) -> TwoGivenCovariates:
    """Return the test within strata of rows that have the same covariates."""
    if not test.missing:
        test = within_strata(test, z, _sample_of_rows(test), "covariates")
    if min(test.sizes) < 2:
        raise ValueError(
            "covariates: a sample has only one row with values in the other sample; use larger "
            "strata"
        )
    return test


def _by_residuals(
    test: TwoGivenCovariates, z: np.ndarray, combined: bool
) -> ConditionalIndependence:
    """Return the test that the sample of a row is independent of its values given covariates."""
    if test.restriction.blocks is not None:
        raise ValueError(
            "blocks= requires covariates that are labels; for numbers use factor_test with blocks="
        )
    label = _sample_of_rows(test)
    both = ConditionalIndependence(
        variables=(
            *test.variables,
            Variable(label[:, None].astype(np.float64), "the sample"),
        ),
        sizes=(len(label),),
        missing=test.missing,
        restriction=test.restriction,
        remarks=test.remarks,
        method=test.method,
    )
    if test.missing:
        return both
    tested = conditional(both, "residuals", z, Regressions.on(z), combined)
    return tested.as_kind(LabelGivenCovariates, samples=test.sizes)


def _by_propensity(
    test: TwoGivenCovariates, z: np.ndarray, propensity: Any, kept: tuple[np.ndarray, ...]
) -> TwoByPropensity:
    """Return the test of residuals by known chances, of the rows that are ``kept``."""
    if test.restriction:
        raise ValueError(
            "blocks= and groups= cannot be combined with propensity=; use covariate_method='strata'"
        )
    (variable,) = test.variables
    residuals = variable if test.missing else distilled(variable, z)
    about = () if residuals is variable else (note("residuals"),)
    odds = _known_odds(propensity, tuple(map(len, kept)))
    return replace(test, variables=(residuals,), remarks=(*test.remarks, *about)).as_kind(
        TwoByPropensity,
        odds=odds[np.concatenate(kept)],
        method=BY_PROPENSITY,
        assumption=(
            "the p-value is exact if every row was put into the second sample with the chance in "
            "propensity=."
        ),
    )


def _sample_of_rows(test: TwoGivenCovariates) -> np.ndarray:
    """Return the number of the sample, 0 or 1, of every row."""
    return np.repeat([0, 1], test.sizes)


def _known_odds(propensity: Any, sizes: tuple[int, ...]) -> np.ndarray:
    """Log odds (N,) of known chances: one for all rows, one of each row, or a vector a sample."""
    if isinstance(propensity, Real):
        propensity = np.full(sum(sizes), float(propensity))
    pair = (
        isinstance(propensity, tuple | list)
        and len(propensity) == 2
        and all(map(np.ndim, propensity))
    )
    parts = [
        complete_points(part, "propensity").values
        for part in (propensity if pair else [propensity])
    ]
    chances = np.concatenate(parts)
    lengths = list(map(len, parts))
    inside = bool(((chances > 0.0) & (chances < 1.0)).all())
    if lengths != (list(sizes) if pair else [sum(sizes)]) or chances.shape[1] != 1 or not inside:
        raise ValueError(
            f"propensity must be a chance between 0 and 1, one for each of {sum(sizes)} rows, or a "
            "pair of vectors"
        )
    return np.asarray(np.log(chances) - np.log1p(-chances))[:, 0]


def _types_of(tables: Sequence[Any], column_types: Any) -> dict[str, str]:
    """Types of the columns that tables have."""
    names = {name for table in tables for name in names_in(table)}
    return {name: kind for name, kind in checked_types(column_types or {}).items() if name in names}
