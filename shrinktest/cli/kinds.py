"""Kind: what distinguishes the tests of the library for a command line, in one table."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Kind:
    """The arguments of one kind of test.

    Parameters
    ----------
    kernels, bandwidths : tuple of str
        Those that take its kernels and their bandwidths.
    restrictions : tuple of str
        Those that restrict its permutations.
    combines : bool
        Whether it combines several estimators, kernels or bandwidths.
    """

    kernels: tuple[str, ...] = ("kernel",)
    bandwidths: tuple[str, ...] = ("bandwidth",)
    restrictions: tuple[str, ...] = ()
    combines: bool = False


#: Every kind of test, by the name that results have it under.
KINDS = {
    "two-sample": Kind(restrictions=("blocks", "paired", "groups"), combines=True),
    "independence": Kind(
        kernels=("kernel_x", "kernel_y"),
        bandwidths=("bandwidth_x", "bandwidth_y"),
        restrictions=("blocks", "groups", "shift"),
        combines=True,
    ),
    "k-sample": Kind(restrictions=("blocks", "groups")),
    "joint-independence": Kind(kernels=("kernels",), bandwidths=("bandwidths",)),
}
