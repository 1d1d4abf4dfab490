"""KnownTest: tests of scipy, dcor and scikit-learn that studies know by name."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from shrinktest._check import Array, complete_points, listed
from shrinktest.data.labels import numbered
from shrinktest.data.read import XY
from shrinktest.power.any_test import AnyTest
from shrinktest.results.info import INDEPENDENCE, K_SAMPLE, KINDS, TWO_SAMPLE


@dataclass(frozen=True, repr=False)
class KnownTest(AnyTest):
    """A test of another package, by its name.

    Its function is ``(*data, rng, n_resamples) -> p-value`` of arrays (n, d) without missing values.
    """

    test: str = TWO_SAMPLE.name  # what it tests: "two-sample", "independence" or "k-sample"
    summary: str = ""  # one line for lists
    drawing: bool = False  # whether it draws ``n_resamples`` permutations

    @property
    def permutes(self) -> bool:
        return self.drawing

    def __repr__(self) -> str:
        return f"KnownTest({self.name!r})"

    def pvalue(self, data: Sequence[Any], rng: np.random.Generator, n_resamples: float, who: str = "") -> float:
        names = XY if len(data) == 2 else numbered("samples", len(data))
        values = [complete_points(one, name).values for one, name in zip(data, names, strict=True)]
        return AnyTest(partial(self.function, n_resamples=n_resamples)).pvalue(values, rng, n_resamples, who)


def _columns(name: str, *samples: Array, rng: np.random.Generator, n_resamples: float) -> float:
    """A test of scipy of every column: the smallest p-value times their number (Bonferroni)."""
    test = _imported("scipy.stats", name)
    return _bonferroni([test(*each).pvalue for each in zip(*(one.T for one in samples), strict=True)])


def _pairs(name: str, x: Array, y: Array, rng: np.random.Generator, n_resamples: float) -> float:
    """A test of scipy of every column of X with every one of Y."""
    test = _imported("scipy.stats", name)
    return _bonferroni([test(one, other).pvalue for one in x.T for other in y.T])


def _bonferroni(pvalues: list[float]) -> float:
    """The smallest p-value times their number; a column for which a test has none, a constant one, shows nothing."""
    return min(1.0, len(pvalues) * float(np.nan_to_num(pvalues, nan=1.0).min()))


def _dcor(place: str, name: str, *data: Array, rng: np.random.Generator, n_resamples: float) -> float:
    """A permutation test of dcor."""
    test = _imported(f"dcor.{place}", name)
    return float(test(*data, num_resamples=n_resamples, random_state=rng).pvalue)


def _random_forest(x: Array, y: Array, rng: np.random.Generator, n_resamples: float) -> float:
    """Whether a forest that learned from half of each sample gives the other half of Y the higher scores."""
    forest = _imported("sklearn.ensemble", "RandomForestClassifier")(random_state=int(rng.integers(2**31)), n_jobs=1)
    (x_seen, x_new), (y_seen, y_new) = (np.array_split(rng.permutation(sample), 2) for sample in (x, y))
    forest.fit(np.vstack([x_seen, y_seen]), np.repeat([0, 1], [len(x_seen), len(y_seen)]))
    scores = [forest.predict_proba(new)[:, 1] for new in (y_new, x_new)]
    return float(_imported("scipy.stats", "mannwhitneyu")(*scores, alternative="greater").pvalue)


def _imported(module: str, name: str) -> Any:
    """A function or class of a package that may not be installed."""
    try:
        return getattr(importlib.import_module(module), name)
    except ModuleNotFoundError as error:
        package = module.split(".")[0]
        if error.name != package:
            raise
        of, asked = {"sklearn": ("scikit-learn", "'shrinktest[apps]'")}.get(package, (package, package))
        raise ModuleNotFoundError(f"{name} is of {of}, which is not installed: pip install {asked}") from None


def _scipy(name: str, kind: str, of: str) -> KnownTest:
    each, run = ("pairs of columns", _pairs) if kind == INDEPENDENCE.name else ("columns", _columns)
    return KnownTest(partial(run, name), name, kind, f"{of} (scipy); of {each}, the smallest p-value, Bonferroni")


def _permuted(place: str, name: str, kind: str, of: str) -> KnownTest:
    return KnownTest(partial(_dcor, place, name), name, kind, f"{of} (dcor), permuted", True)


_LISTED = (
    _scipy("ks_2samp", TWO_SAMPLE.name, "Kolmogorov and Smirnov"),
    _scipy("cramervonmises_2samp", TWO_SAMPLE.name, "Cramer and von Mises"),
    _scipy("mannwhitneyu", TWO_SAMPLE.name, "Mann and Whitney"),
    _scipy("ttest_ind", TWO_SAMPLE.name, "Student's t"),
    _permuted("homogeneity", "energy_test", TWO_SAMPLE.name, "energy distance"),
    KnownTest(_random_forest, "random_forest", TWO_SAMPLE.name, "a forest that tells halves apart (scikit-learn)"),
    _scipy("kruskal", K_SAMPLE.name, "Kruskal and Wallis"),
    _scipy("pearsonr", INDEPENDENCE.name, "Pearson's correlation"),
    _scipy("spearmanr", INDEPENDENCE.name, "Spearman's correlation"),
    _permuted("independence", "distance_covariance_test", INDEPENDENCE.name, "distance covariance"),
)

#: Tests of other packages by name, which is that of the function in scipy.stats or dcor.
KNOWN_TESTS: dict[str, KnownTest] = {one.label: one for one in _LISTED}


def known_tests(kind: str) -> list[str]:
    """Names of those that go with a kind of test.

    Examples
    --------
    >>> known_tests("independence")
    ['pearsonr', 'spearmanr', 'distance_covariance_test']
    """
    return [name for name, one in KNOWN_TESTS.items() if one.test == kind]


def known_test(name: str, kind: str) -> KnownTest | None:
    """The test of this name, if it is one; raises ValueError where it is for data of another kind."""
    found = KNOWN_TESTS.get(name.lower().replace("-", "_"))
    if found is not None and found.test != kind:
        others = listed(known_tests(kind)) or "none by name, and any function"
        raise ValueError(
            f"{name!r} is {KINDS[found.test].described}, and the data are for {KINDS[kind].described}; for these there "
            f"is {others}"
        )
    return found
