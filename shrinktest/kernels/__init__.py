"""Positive semi-definite kernels, which measure how similar two observations are.

A kernel is an immutable value. Calling it gives a Gram matrix, `+` and `*` combine kernels, and its
repr rebuilds it. `resolve` computes what it takes from the data, such as `bandwidth="median"`.

    >>> kernel = Gaussian() + 0.5 * Linear()
    >>> kernel
    Gaussian(bandwidth='median') + 0.5 * Linear()
    >>> kernel.resolve([0.0, 1.0, 3.0])
    Gaussian(bandwidth=2.0) + 0.5 * Linear()
"""

from __future__ import annotations

from typing import Any

from shrinktest._check import choice
from shrinktest.kernels.bandwidths import bandwidth_grid, median_bandwidth, neighbor_bandwidth
from shrinktest.kernels.base import Kernel, Product, Scaled, Sum
from shrinktest.kernels.distance_kernel import DistanceKernel, Energy, Gaussian, Laplacian
from shrinktest.kernels.inner import Cosine, FeatureMap, Linear, Polynomial
from shrinktest.kernels.metric_kernel import METRICS, MetricKernel
from shrinktest.kernels.pooled import PooledKernel, Rescaled
from shrinktest.kernels.user import Custom, Distances, Precomputed
from shrinktest.kernels.whitened import Depth, SecondOrder, Whitened

__all__ = [
    "Cosine",
    "Custom",
    "Depth",
    "Distances",
    "Energy",
    "FeatureMap",
    "Gaussian",
    "Kernel",
    "Laplacian",
    "Linear",
    "MetricKernel",
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
    "neighbor_bandwidth",
]

_NAMED: dict[str, type[Kernel]] = {
    "gaussian": Gaussian,
    "laplacian": Laplacian,
    "linear": Linear,
    "polynomial": Polynomial,
    "cosine": Cosine,
    "whitened": Whitened,
    "second-order": SecondOrder,
    "depth": Depth,
    "energy": Energy,
}
NAMES = tuple(_NAMED)

#: Names of other packages that are accepted, and what they are here.
_SYNONYMS = {"rbf": "gaussian"}
#: Names of other packages that are not, and what to use.
_ELSEWHERE = {
    **{metric: f"Distances.of({metric!r})" for metric in METRICS if metric not in _NAMED},
    "squared_exponential": "'gaussian'",
    "poly": "'polynomial'",
    "euclidean": "'energy'",
    "precomputed": "Precomputed(gram), with row numbers as observations",
    "distances": "Distances(D), with row numbers as observations",
}


def compares_as_given(kernel: Any) -> bool:
    """Return True for a kernel, or several, of the numbers of tables without units.

    Raises ValueError for several of which some are in units.

    Examples
    --------
    >>> compares_as_given("cosine"), compares_as_given("gaussian")
    (True, False)
    """
    several = kernel if isinstance(kernel, list | tuple) else [kernel]
    kinds = [_NAMED.get(each) if isinstance(each, str) else each for each in several]
    as_given = [bool(getattr(kind, "as_given", False)) for kind in kinds]
    if any(as_given) and not all(as_given):
        raise ValueError(
            f"kernel: {several[as_given.index(True)]!r} compares unscaled numbers, the others "
            "scaled ones; use scale= for all"
        )
    return any(as_given)


def as_kernel(kernel: Any, bandwidth: Any = "median", name: str = "kernel") -> Kernel:
    """Build a kernel from a name, a kernel object or a function.

    Parameters
    ----------
    kernel : str, Kernel, or callable (X, Y) -> Gram matrix
        "gaussian" (or "rbf"), "laplacian", "linear", "polynomial" (degree 2, offset 1), "cosine",
        "whitened", "second-order" or "depth" (of a Gaussian kernel), "energy", or your own.
    bandwidth : float, sequence of float, "median" or "neighbors", default "median"
        Bandwidth of "gaussian" and "laplacian", and of the Gaussian kernel in "whitened",
        "second-order" and "depth".  If a kernel has no bandwidth or its own, anything but "median"
        raises an error.
    name : str, default "kernel"
        Name of the argument in error messages ("kernel_x" corresponds to "bandwidth_x").

    Returns
    -------
    Kernel
        The kernel; bandwidths such as "median" are resolved later, on the data of a test.

    Raises
    ------
    ValueError
        If no kernel has this name, or the bandwidth does not apply to it.
    TypeError
        If ``kernel`` is neither a name, nor a kernel, nor a function.

    Examples
    --------
    >>> as_kernel("gaussian", bandwidth=2)
    Gaussian(bandwidth=2.0)
    """
    argument = name.replace("kernel", "bandwidth")
    if isinstance(kernel, str):
        if kernel.lower() in _ELSEWHERE:
            raise ValueError(f"{name} {kernel!r} is called {_ELSEWHERE[kernel.lower()]} here")
        kind = _NAMED[choice(_SYNONYMS.get(kernel.lower(), kernel), _NAMED, name)]
        try:
            if issubclass(kind, DistanceKernel):
                return kind(bandwidth)
            if issubclass(kind, PooledKernel):
                return kind(Gaussian(bandwidth))
        except (TypeError, ValueError) as error:  # name one of several bandwidths
            raise type(error)(str(error).replace("bandwidth", argument, 1)) from None
        kernel = kind()
    elif callable(kernel) and not isinstance(kernel, Kernel | type):
        kernel = Custom(kernel)
    if not isinstance(kernel, Kernel):
        got = f"the class {kernel.__name__}" if isinstance(kernel, type) else type(kernel).__name__
        raise TypeError(
            f"{name} must be a name, a Kernel such as Precomputed(gram), or a function; got {got}"
        )
    if not (isinstance(bandwidth, str) and bandwidth == "median"):
        raise ValueError(
            f"{argument}={bandwidth!r} has no effect on {name}={kernel!r}; leave out {argument}"
        )
    return kernel
