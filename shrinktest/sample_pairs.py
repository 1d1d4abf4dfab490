"""SamplePairs: all pairs of the samples of a test, and how each of them is tested."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np

from shrinktest._check import flag, level
from shrinktest._random import as_rng, rng_provenance
from shrinktest.equal_distributions import EqualDistributions
from shrinktest.kernel_spec import KernelSpec
from shrinktest.results.base import TestData, unique
from shrinktest.results.effect import TwoSampleEffect
from shrinktest.results.pairwise_result import PAIR, SHAFFER, PairwiseResult
from shrinktest.results.result import TestResult
from shrinktest.run import run
from shrinktest.settings import Settings

_NOT_IN_PICKLE = (
    "this result was pickled without its data, which tests of pairs need; pickle result.with_data()"
)


@dataclass(frozen=True, eq=False)
class SamplePairs:
    """All pairs of the samples of a test, each tested as all samples were."""

    hypothesis: EqualDistributions
    estimator: Any
    spec: KernelSpec
    settings: Settings
    keep: bool = field(default=False, kw_only=True)  # whether pickles hold the data

    def __reduce_ex__(self, protocol: Any) -> Any:
        return super().__reduce_ex__(protocol) if self.keep else (str, (_NOT_IN_PICKLE,))

    def __deepcopy__(self, memo: dict[int, Any]) -> SamplePairs:
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """What the samples are called."""
        called = tuple(map(str, self.hypothesis.called))
        return called or self.hypothesis.kind.estimate_names(len(self.hypothesis.sizes))

    def hypotheses(self) -> Iterator[tuple[tuple[str, str], EqualDistributions]]:
        """Return the names of every pair, and the hypothesis that its samples are equal."""
        whole = self.hypothesis
        rows = np.split(np.arange(sum(whole.sizes)), np.cumsum(whole.sizes)[:-1])
        names = self.names
        for i, j in combinations(range(len(rows)), 2):
            both = np.concatenate([rows[i], rows[j]])
            (variable,) = whole.variables
            yield (
                (names[i], names[j]),
                replace(
                    whole,
                    variables=(variable.only(both),),
                    sizes=(whole.sizes[i], whole.sizes[j]),
                    restriction=whole.restriction.of(both),
                    called=(names[i], names[j]),
                    remarks=(),
                    repeats=tuple,
                ),
            )

    def tests(
        self, rng: np.random.Generator
    ) -> tuple[dict[tuple[str, str], TestResult], dict[tuple[str, str], str]]:
        """Test every pair; of those that cannot be tested, return the reason."""
        tested = {}
        errors = {}
        for label, hypothesis in self.hypotheses():
            try:
                tested[label] = run(hypothesis, self.estimator, [self.spec], self.settings, rng)
            except ValueError as error:
                errors[label] = error
        if not tested:
            raise next(iter(errors.values()))
        return tested, {label: str(error) for label, error in errors.items()}

    def pairwise(self, method: str, with_effects: Any, confidence: Any, rng: Any) -> PairwiseResult:
        """Test every pair, and estimate how different it is."""
        with_effects = flag(with_effects, "effects")
        confidence = level(confidence, "confidence")
        if self.hypothesis.own is not None:
            raise ValueError(
                "pairwise: permutations= are of all samples; test two samples with their own"
            )
        generator = as_rng(rng)
        provenance = rng_provenance(generator)
        tested, reasons = self.tests(generator)
        effects = {}
        for label, result in tested.items() if with_effects else ():
            if (effect := _effect(result, confidence)) is not None:
                effects[label] = effect
        first = next(iter(tested.values()))
        restriction = self.hypothesis.restriction.words(sum(self.hypothesis.sizes))
        each = [text for result in tested.values() for text in result.notes]
        each += [text for effect in effects.values() for text in effect.notes]
        made = PairwiseResult(
            nulls={label: result.null for label, result in tested.items()},
            keys=PAIR,
            method=SHAFFER,
            alpha=self.settings.alpha,
            data=TestData(first.test, self.hypothesis.sizes, self.names, restriction=restriction),
            setup=replace(first.setup, kernel=None, route=""),
            rng=provenance,
            untested=reasons,
            notes=unique((*self.hypothesis.remarks, *self.hypothesis.repeats(), *each)),
            shared=False,
            areas={label: (each.auc, *each.auc_interval) for label, each in effects.items()},
            confidence=confidence,
            effects=effects,
        )
        return made.with_method(method)


def _effect(result: TestResult, confidence: float) -> TwoSampleEffect | None:
    """Return how different two samples are; None for statistics that have no effect."""
    context = result.context
    if context is None or not all(member.features for member in context.members):
        return None
    effect: TwoSampleEffect = result.effect(confidence=confidence).pairs[0, 1]
    return effect
