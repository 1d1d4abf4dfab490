"""Kernel two-sample and independence tests with pluggable kernel mean estimators."""

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from shrinktest._version import __version__
from shrinktest.embedding import MeanEmbedding
from shrinktest.estimators import (
    FKMSE,
    KME,
    MKME,
    MMKME,
    SKMSE,
    TSVD,
    Compiled,
    IteratedTikhonov,
    Landweber,
    MeanEstimator,
    NuMethod,
    check_estimator,
)
from shrinktest.kernels import (
    Depth,
    Energy,
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    SecondOrder,
    Whitened,
)
from shrinktest.multiple.ensembles import Candidate, Ensemble
from shrinktest.permutations.stopping import BesagClifford, Curtailed
from shrinktest.results.result import TestResult
from shrinktest.results.several import AggregateResult, MultipleTestsResult
from shrinktest.results.witness import TwoSampleResult, WitnessBand
from shrinktest.two_sample import two_sample_test

if TYPE_CHECKING:
    from shrinktest.change import change_point_test
    from shrinktest.check_level import LevelCheckResult, check_level
    from shrinktest.columns import two_sample_test_columns
    from shrinktest.comparison import compare
    from shrinktest.data.on_disk.sources import Batches
    from shrinktest.equivalence import EquivalenceResult, equivalence_test
    from shrinktest.independence import independence_test
    from shrinktest.joint import joint_independence_test
    from shrinktest.k_sample import k_sample_test
    from shrinktest.matrix import independence_matrix
    from shrinktest.permutation import permutation_test
    from shrinktest.permutations.base import Permutations
    from shrinktest.permutations.schemes import Copies
    from shrinktest.power import power_study, solve_sample_size
    from shrinktest.relative import closer_test
    from shrinktest.results.change import AggregateChangeResult, ChangeResult
    from shrinktest.results.closer import CloserResult
    from shrinktest.results.comparison import ComparisonResult
    from shrinktest.results.effect import DependenceEffect, KSampleEffect, TwoSampleEffect
    from shrinktest.segmentation import ChangesResult, change_points
    from shrinktest.symmetry import symmetry_test

#: Names that are imported when they are used, and their modules: most programs test once and end.
_LATER = {
    "Batches": "shrinktest.data.on_disk.sources",
    "AggregateChangeResult": "shrinktest.results.change",
    "LevelCheckResult": "shrinktest.check_level",
    "ChangeResult": "shrinktest.results.change",
    "ChangesResult": "shrinktest.segmentation",
    "CloserResult": "shrinktest.results.closer",
    "ComparisonResult": "shrinktest.results.comparison",
    "Copies": "shrinktest.permutations.schemes",
    "DependenceEffect": "shrinktest.results.effect",
    "EquivalenceResult": "shrinktest.equivalence",
    "KSampleEffect": "shrinktest.results.effect",
    "Permutations": "shrinktest.permutations.base",
    "TwoSampleEffect": "shrinktest.results.effect",
    "check_level": "shrinktest.check_level",
    "change_point_test": "shrinktest.change",
    "change_points": "shrinktest.segmentation",
    "closer_test": "shrinktest.relative",
    "compare": "shrinktest.comparison",
    "equivalence_test": "shrinktest.equivalence",
    "independence_matrix": "shrinktest.matrix",
    "independence_test": "shrinktest.independence",
    "joint_independence_test": "shrinktest.joint",
    "k_sample_test": "shrinktest.k_sample",
    "permutation_test": "shrinktest.permutation",
    "power_study": "shrinktest.power",
    "solve_sample_size": "shrinktest.power",
    "symmetry_test": "shrinktest.symmetry",
    "two_sample_test_columns": "shrinktest.columns",
}


if not TYPE_CHECKING:  # type checkers would take every name for one of the package, also where it is misspelt

    def __getattr__(name: str) -> Any:
        if name in _LATER:
            import importlib

            return getattr(importlib.import_module(_LATER[name]), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class _Package(ModuleType):
    """The package: a function with the name of its module stays visible once the module has been imported."""

    def __setattr__(self, name: str, value: object) -> None:
        if isinstance(value, ModuleType) and name in _LATER:
            value = getattr(value, name)
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


__all__ = [
    "FKMSE",
    "KME",
    "MKME",
    "MMKME",
    "SKMSE",
    "TSVD",
    "AggregateChangeResult",
    "AggregateResult",
    "Batches",
    "BesagClifford",
    "Candidate",
    "ChangeResult",
    "ChangesResult",
    "CloserResult",
    "ComparisonResult",
    "Compiled",
    "Copies",
    "Curtailed",
    "DependenceEffect",
    "Depth",
    "Energy",
    "Ensemble",
    "EquivalenceResult",
    "Gaussian",
    "IteratedTikhonov",
    "KSampleEffect",
    "Kernel",
    "Landweber",
    "Laplacian",
    "LevelCheckResult",
    "Linear",
    "MeanEmbedding",
    "MeanEstimator",
    "MultipleTestsResult",
    "NuMethod",
    "Permutations",
    "Polynomial",
    "Precomputed",
    "SecondOrder",
    "TestResult",
    "TwoSampleEffect",
    "TwoSampleResult",
    "Whitened",
    "WitnessBand",
    "__version__",
    "change_point_test",
    "change_points",
    "check_estimator",
    "check_level",
    "closer_test",
    "compare",
    "equivalence_test",
    "independence_matrix",
    "independence_test",
    "joint_independence_test",
    "k_sample_test",
    "permutation_test",
    "power_study",
    "solve_sample_size",
    "symmetry_test",
    "two_sample_test",
    "two_sample_test_columns",
]
