"""Applications of kernel mean estimators as scikit-learn estimators (`shrinktest[apps]`).

They go beyond tests; install `shrinktest[apps]` for them.
"""

from shrinktest.applications.density import KernelMeanMatching
from shrinktest.applications.distributions import DistributionKernel, inner_products
from shrinktest.applications.kpca import ShrinkageKernelPCA

__all__ = ["DistributionKernel", "KernelMeanMatching", "ShrinkageKernelPCA", "inner_products"]
