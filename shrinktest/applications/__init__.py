"""What the estimators are for beyond tests; each has scikit-learn's habits, which it needs: `shrinktest[apps]`."""

from shrinktest.applications.density import KernelMeanMatching
from shrinktest.applications.distributions import DistributionKernel, inner_products
from shrinktest.applications.kpca import ShrinkageKernelPCA

__all__ = ["DistributionKernel", "KernelMeanMatching", "ShrinkageKernelPCA", "inner_products"]
