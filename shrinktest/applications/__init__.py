"""Applications of kernel mean estimators beyond tests, as scikit-learn estimators (install `shrinktest[apps]`)."""

from shrinktest.applications.density import KernelMeanMatching
from shrinktest.applications.distributions import DistributionKernel, inner_products
from shrinktest.applications.kpca import ShrinkageKernelPCA

__all__ = ["DistributionKernel", "KernelMeanMatching", "ShrinkageKernelPCA", "inner_products"]
