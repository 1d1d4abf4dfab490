"""Exact risk of kernel mean estimators on mixtures of Gaussians."""

from shrinktest.risk.losses import (
    Oracle,
    TrueEmbedding,
    kme_risk,
    loss,
    oracle_shrinkage,
    shrinkage_risk,
    true_embedding,
)
from shrinktest.risk.mixtures import FromFunction, MixtureDesign, NormalMixture, RandomMixture
from shrinktest.risk.path import LossPath, loss_path
from shrinktest.risk.risk_result import RiskStudyResult
from shrinktest.risk.risk_study import risk_study

__all__ = [
    "FromFunction",
    "LossPath",
    "MixtureDesign",
    "NormalMixture",
    "Oracle",
    "RandomMixture",
    "RiskStudyResult",
    "TrueEmbedding",
    "kme_risk",
    "loss",
    "loss_path",
    "oracle_shrinkage",
    "risk_study",
    "shrinkage_risk",
    "true_embedding",
]
