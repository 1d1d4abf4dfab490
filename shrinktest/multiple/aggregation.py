"""Aggregation: the statistics of a collection over shared relabellings, and what they say together."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from shrinktest.estimators import MeanEstimator
from shrinktest.multiple.collection import Collection, Member
from shrinktest.nulls.multiplicity import overall_pvalue, scores, step_down
from shrinktest.nulls.permutation import Null
from shrinktest.nulls.relabellings import Relabellings
from shrinktest.nulls.stopping import Stopping
from shrinktest.results.aggregate import AggregateResult
from shrinktest.results.conclude import conclude, warn_too_few
from shrinktest.results.result import TestResult, versions
from shrinktest.statistics.configuration import Configuration


def combine(
    collection: Collection,
    build: Callable[[Member, np.random.Generator], Configuration],
    relabel: Callable[[np.random.Generator], Relabellings],
    generator: np.random.Generator,
    *,
    about: Callable[[MeanEstimator], dict[str, Any]],
    missing: bool,
    stopping: Stopping | None,
    workers: int,
    progress: bool,
    alpha: float,
    **common: Any,
) -> AggregateResult:
    """The combined test.

    Parameters
    ----------
    collection : Collection
        The members, with kernels as they were asked for.
    build : callable
        A member, and a source of random numbers for its kernel, to its configuration.
    relabel : callable
        A source of random numbers to the relabellings.
    generator : numpy.random.Generator
        The source.
    about : callable
        What the result of an estimator says besides: estimator, form, tuning.
    missing : bool
        Whether the data hold missing values, which propagate.
    stopping : Stopping or None
        Refused.
    workers, progress, alpha
        As in a test.
    **common
        What all results have in common.

    Notes
    -----
    The members come one after the other, so that there is one Gram matrix at a time; what is kept of each is its
    statistic over the relabellings.
    """
    if stopping:
        raise ValueError(
            "stopping= ends the drawing when one statistic has been exceeded often enough; a combined test ranks every "
            "statistic among all relabellings: leave stopping out, or test with one estimator, kernel and bandwidth"
        )
    common["alpha"] = alpha
    if missing:
        nothing = tuple(conclude(None, kernel=m.kernel, **about(m.estimator), **common) for m in collection.members)
        return _concluded(collection, (), nothing, **common)
    # kernels draw first, from a source of their own: relabellings must not depend on what a statistic was made of
    for_kernels = _source_for_kernels(generator)
    nulls, results = [], []
    left = len(collection.members)
    common["restriction"] = relabel(copy.deepcopy(generator)).restriction
    for member in collection.members:
        configuration = build(member, for_kernels)
        left -= 1
        source = copy.deepcopy(generator) if left else generator  # which goes on as after a test of one member
        null = configuration.null(relabel(source), workers=workers, progress=progress)
        nulls.append(null)
        results.append(conclude(null, warn=False, **configuration.about(), **about(member.estimator), **common))
    warn_too_few(nulls[0].values.size + (not nulls[0].exact), alpha, exact=nulls[0].exact, stacklevel=4)
    return _concluded(collection, tuple(nulls), tuple(results), **common)


def _concluded(
    collection: Collection, nulls: tuple[Null, ...], members: tuple[TestResult, ...], **common: Any
) -> AggregateResult:
    shared: dict[str, Any] = {
        "estimator": collection,
        "kernel": tuple(member.kernel for member in members),
        "bandwidth": tuple(member.bandwidth for member in members),
        "estimates": (),
        "members": members,
        "versions": versions(),
        **{name: _joined(getattr(member, name) for member in members) for name in ("form", "tuning", "route")},
        **common,
    }
    if not nulls or not nulls[0].values.size:
        nan = float("nan")
        nothing: dict[str, Any] = {"statistic": nan, "pvalue": nan, "null_distribution": np.empty(0)}
        return AggregateResult(**nothing, n_resamples=0, exact=False, adjusted=np.full(len(members), nan), **shared)
    exact = nulls[0].exact
    rows = [null.values if exact else np.append(null.observed, null.values) for null in nulls]
    comparable = scores(np.stack(rows, axis=1), [null.tolerance for null in nulls], collection.weights)
    smallest = -np.log10(comparable.min(axis=1) / len(comparable))
    return AggregateResult(
        statistic=float(smallest[0]),
        pvalue=overall_pvalue(comparable),
        null_distribution=smallest if exact else smallest[1:],
        n_resamples=len(smallest) - (not exact),
        n_planned=len(smallest) - (not exact),
        exact=exact,
        adjusted=step_down(comparable),
        decided=int(comparable[0].argmin()),
        notes=tuple(dict.fromkeys(note for member in members for note in member.notes)),
        **shared,
    )


def _source_for_kernels(generator: np.random.Generator) -> np.random.Generator:
    """Random numbers that are independent of those the generator goes on to draw, which stay what they are."""
    beside = copy.deepcopy(generator)
    return np.random.default_rng([*beside.integers(2**63, size=2).tolist(), 1])


def _joined(words: Any) -> str:
    return "/".join(dict.fromkeys(words))
