"""Positive semi-definite kernels: how alike two observations are.

A kernel is a value that does not change. Calling it gives a Gram matrix, `+` and `*` combine kernels, and its repr
rebuilds it. With `bandwidth="median"` the bandwidth is computed from data by `resolve`.

    >>> kernel = Gaussian() + 0.5 * Linear()
    >>> kernel
    Gaussian(bandwidth='median') + 0.5 * Linear()
    >>> kernel.resolve([0.0, 1.0, 3.0])
    Gaussian(bandwidth=2.0) + 0.5 * Linear()
"""

from __future__ import annotations

from typing import Any

import numpy as np

from shrinktest._validate import choice
from shrinktest.kernels.bandwidths import bandwidth_grid, median_bandwidth, neighbour_bandwidth
from shrinktest.kernels.base import FiniteRank, Kernel, Product, Scaled, Sum
from shrinktest.kernels.custom import Custom, Precomputed
from shrinktest.kernels.depth import Depth
from shrinktest.kernels.distance import DistanceKernel, Gaussian, Laplacian
from shrinktest.kernels.energy import Energy
from shrinktest.kernels.inner_product import Linear, Polynomial
from shrinktest.kernels.pooled import PooledKernel
from shrinktest.kernels.rescaled import Rescaled
from shrinktest.kernels.second_order import SecondOrder
from shrinktest.kernels.whitened import Whitened

__all__ = [
    "Custom",
    "Depth",
    "Energy",
    "FiniteRank",
    "Gaussian",
    "Kernel",
    "Laplacian",
    "Linear",
    "Polynomial",
    "Precomputed",
    "Product",
    "Rescaled",
    "Scaled",
    "SecondOrder",
    "Sum",
    "Whitened",
    "as_kernel",
    "bandwidth_grid",
    "median_bandwidth",
    "neighbour_bandwidth",
]

_NAMED: dict[str, type[Kernel]] = {
    "gaussian": Gaussian,
    "laplacian": Laplacian,
    "linear": Linear,
    "polynomial": Polynomial,
    "whitened": Whitened,
    "second-order": SecondOrder,
    "depth": Depth,
    "energy": Energy,
}

NAMES = tuple(_NAMED)

#: What other packages call them.
_ELSEWHERE = {"rbf": "gaussian", "squared_exponential": "gaussian", "poly": "polynomial", "euclidean": "energy"}


def as_kernel(kernel: Any, bandwidth: Any = "median", name: str = "kernel") -> Kernel:
    """Turn the arguments ``kernel`` and ``bandwidth`` of a test into a kernel.

    Parameters
    ----------
    kernel : str, Kernel, or callable (X, Y) -> Gram matrix
        "gaussian", "laplacian", "linear" or "polynomial" (degree 2, offset 1), "whitened", "second-order" or "depth"
        (of a Gaussian kernel), "energy", or one's own.
    bandwidth : float, sequence of float, "median" or "neighbours"
        For "gaussian" and "laplacian", and for the Gaussian kernel of "whitened", "second-order" and "depth".  Anything
        but "median" is an error beside a kernel that takes none or carries its own.
    name : str
        The argument's name in error messages ("kernel_x" goes with "bandwidth_x").

    Examples
    --------
    >>> as_kernel("gaussian", bandwidth=2)
    Gaussian(bandwidth=2.0)
    """
    if isinstance(kernel, str) and kernel == "precomputed":
        raise ValueError(f"pass the matrix itself: {name}=Precomputed(gram), with the row numbers as observations")
    if isinstance(kernel, str) and kernel.lower() in _ELSEWHERE:
        raise ValueError(f"{name} {kernel!r} is called {_ELSEWHERE[kernel.lower()]!r} here")
    if isinstance(kernel, str):
        kind = _NAMED[choice(kernel, _NAMED, name)]
        if issubclass(kind, DistanceKernel | PooledKernel):
            try:
                return kind(bandwidth) if issubclass(kind, DistanceKernel) else kind(Gaussian(bandwidth))
            except (TypeError, ValueError) as error:  # which of several bandwidths it was
                argument = name.replace("kernel", "bandwidth")
                raise type(error)(str(error).replace("bandwidth", argument, 1)) from None
        found: Kernel = kind()
    elif isinstance(kernel, Kernel):
        found = kernel
    elif isinstance(kernel, type) and issubclass(kernel, Kernel):
        raise TypeError(f"{name} is the class {kernel.__name__}; pass an object such as {name}={kernel.__name__}(...)")
    elif callable(kernel) and not isinstance(kernel, type):
        found = Custom(kernel)
    else:
        got = f"the class {kernel.__name__}" if isinstance(kernel, type) else type(kernel).__name__
        hint = "; a Gram matrix goes in as Precomputed(gram)" if isinstance(kernel, np.ndarray) else ""
        raise TypeError(f"{name} must be a name, a Kernel, or a function (X, Y) -> Gram matrix; got {got}{hint}")
    if not (isinstance(bandwidth, str) and bandwidth == "median"):
        argument = name.replace("kernel", "bandwidth")
        raise ValueError(
            f"{argument}={bandwidth!r} has no effect on {name}={found!r}: give the bandwidth to the kernel "
            f"(such as {name}=Gaussian(bandwidth=...)), or leave {argument} at 'median'"
        )
    return found
