"""Exact risk: the kernel means of mixtures of Gaussians, how far estimates are from them, and studies of that."""

from shrinktest.risk.design import FixedMixture, FromFunction, MixtureDesign, RandomMixture
from shrinktest.risk.loss import Oracle, kme_risk, loss, oracle_shrinkage, shrinkage_risk
from shrinktest.risk.mixture import NormalMixture
from shrinktest.risk.path import LossPath, loss_path
from shrinktest.risk.result import RiskStudyResult
from shrinktest.risk.study import risk_study
from shrinktest.risk.truth import TrueEmbedding, true_embedding

__all__ = [
    "FixedMixture",
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
