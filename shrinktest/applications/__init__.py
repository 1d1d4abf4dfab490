"""What the estimators are for beyond tests; each has scikit-learn's habits, which it needs: `shrinktest[apps]`."""

from shrinktest.applications.kpca import ShrinkageKernelPCA

__all__ = ["ShrinkageKernelPCA"]
