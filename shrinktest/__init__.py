"""Kernel two-sample and independence tests with pluggable kernel mean estimators."""

from shrinktest._version import __version__
from shrinktest.aggregation import AggregateResult
from shrinktest.collection import Collection, Member
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
from shrinktest.independence import independence_test
from shrinktest.kernels import Gaussian, Kernel, Laplacian, Linear, Polynomial, Precomputed
from shrinktest.power import power_study, solve_sample_size
from shrinktest.result import TestResult
from shrinktest.two_sample import two_sample_test

__all__ = [
    "FKMSE",
    "KME",
    "MKME",
    "MMKME",
    "SKMSE",
    "TSVD",
    "AggregateResult",
    "Collection",
    "Compiled",
    "Gaussian",
    "IteratedTikhonov",
    "Kernel",
    "Landweber",
    "Laplacian",
    "Linear",
    "MeanEmbedding",
    "MeanEstimator",
    "Member",
    "NuMethod",
    "Polynomial",
    "Precomputed",
    "TestResult",
    "__version__",
    "check_estimator",
    "independence_test",
    "power_study",
    "solve_sample_size",
    "two_sample_test",
]
