"""term_test: the test of one term of a design, as a power study runs it."""

from __future__ import annotations

from typing import Any

from shrinktest._random import as_rng
from shrinktest.factor_test import read
from shrinktest.factors import NoEffect
from shrinktest.plans import plans
from shrinktest.run import run
from shrinktest.settings import Settings


def term_test(data: Any, response: Any, *, rng: Any = None, **options: Any) -> Any:
    """Test one term of a design: the result of ``factor_test(...)[term]``, without other terms.

    ``options`` are those of :func:`factor_test`, ``term``, and the level ``planned_alpha`` that
    permutations are chosen for.
    """
    hypothesis, (estimator, spec, settings) = _read(data, response, **options)
    return run(hypothesis, estimator, [spec], settings, as_rng(rng))


def read_term(data: Any, response: Any, **options: Any) -> NoEffect:
    """Return the hypothesis that a term adds nothing to the others."""
    return _read(data, response, **options)[0]


def _read(
    data: Any,
    response: Any,
    *,
    formula: str,
    term: str,
    planned_alpha: float,
    alpha: float = 0.05,
    statistic: str = "robust",
    location: str | None = "auto",
    n_resamples: float = 999,
    stopping: Any = None,
    workers: Any = 1,
    gram: str = "auto",
    rank: int | None = None,
    **reading: Any,
) -> tuple[NoEffect, tuple[Any, Any, Settings]]:
    """Return the hypothesis about a term, and how it is tested.

    The other terms are planned as well, because errors about these are those of the whole design.
    """
    settings = Settings.read(
        form=statistic,
        n_resamples=n_resamples,
        alpha=alpha,
        stopping=stopping,
        workers=workers,
        progress=False,
        gram=gram,
        rank=rank,
    )
    align = location == "auto"
    trial = read(formula, data, response=response, settings=settings, align=align, **reading)
    (plan,) = [plan for plan in plans(trial.design, planned_alpha) if plan.term == term]
    return trial.hypothesis(plan), (trial.estimator, trial.spec, settings)
