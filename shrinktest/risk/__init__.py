"""Exact risk: the kernel means of mixtures of Gaussians, and how far estimates are from them."""

from shrinktest.risk.loss import Oracle, kme_risk, loss, oracle_shrinkage, shrinkage_risk
from shrinktest.risk.mixture import NormalMixture
from shrinktest.risk.truth import TrueEmbedding, true_embedding

__all__ = [
    "NormalMixture",
    "Oracle",
    "TrueEmbedding",
    "kme_risk",
    "loss",
    "oracle_shrinkage",
    "shrinkage_risk",
    "true_embedding",
]
