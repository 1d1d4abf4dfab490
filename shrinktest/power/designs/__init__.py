"""What power is studied against: designs, each with its twin under the null hypothesis.

A design is a small frozen value. ``sample`` draws the data of one trial at any size, ``null`` is the twin that shows
the level, ``options`` holds what the test must be told, and its repr rebuilds it.

    >>> design = MeanShift(dimension=5, shift=0.8, ratio=2.0)
    >>> X, Y = design.sample(rng=0, n=30)
    >>> X.shape, Y.shape
    ((30, 5), (60, 5))
    >>> design.null()
    MeanShift(dimension=5, shift=0.0, ratio=2.0)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shrinktest._check import choice
from shrinktest._warn import warn_user
from shrinktest.power.designs.base import Design, Independent, Relabelled
from shrinktest.power.designs.change import Changed
from shrinktest.power.designs.conditional import Confounded
from shrinktest.power.designs.curves import Cross, Linear, LinearT, Peak, Quadratic, Sinusoid, Step, WShape
from shrinktest.power.designs.data import FromData, FromFunction
from shrinktest.power.designs.eckerle import EckerleSimulation, EckerleSubsample
from shrinktest.power.designs.independence import Circle, Heteroscedastic, MultiplicativeNoise, Rotated
from shrinktest.power.designs.likelihood_ratio import (
    Autoregressive,
    Bimodal,
    SparseShift,
    Spheres,
    SpikedCovariance,
    ThinCube,
)
from shrinktest.power.designs.mixture import Mixture
from shrinktest.power.designs.modes import Corners, TiltedBlobs, TwoModes
from shrinktest.power.designs.perturbed import PerturbedDependence
from shrinktest.power.designs.several import OneApart, Parity
from shrinktest.power.designs.simulations import HyppoSimulation
from shrinktest.power.designs.symmetry import SkewNormal
from shrinktest.power.designs.two_sample import (
    Blobs,
    Contamination,
    CorrelationChange,
    MeanShift,
    PerturbedUniform,
    ScaleChange,
    Tails,
)
from shrinktest.results.info import KINDS, TWO_SAMPLE

#: Every built-in design by name; all have defaults for all parameters.
DESIGNS: dict[str, type[Design]] = {
    kind.name: kind
    for kind in (
        Mixture,
        MeanShift,
        ScaleChange,
        CorrelationChange,
        Tails,
        Contamination,
        PerturbedUniform,
        Blobs,
        TiltedBlobs,
        TwoModes,
        Corners,
        SparseShift,
        SpikedCovariance,
        ThinCube,
        Bimodal,
        Autoregressive,
        Spheres,
        EckerleSubsample,
        EckerleSimulation,
        Linear,
        LinearT,
        Step,
        Quadratic,
        Sinusoid,
        Circle,
        WShape,
        Cross,
        Heteroscedastic,
        MultiplicativeNoise,
        Peak,
        Rotated,
        PerturbedDependence,
        HyppoSimulation,
        OneApart,
        Parity,
        Changed,
        SkewNormal,
        Confounded,
    )
}


def as_design(design: Any, test: str = TWO_SAMPLE.name) -> Design:
    """A design from a name, a design, or a function ``(rng, n) -> (X, Y)``.

    Parameters
    ----------
    design : str, Design or callable
        A name stands for the design with its default parameters; underscores do for hyphens.
    test : {"two-sample", "independence"}, default "two-sample"
        What the data of a function are for; designs know it.

    Raises
    ------
    ValueError
        For an unknown name; the message lists the known ones.
    TypeError
        For anything else.

    Examples
    --------
    >>> as_design("mean-shift")
    MeanShift()
    """
    if isinstance(design, Design):
        choice(design.test, KINDS, f"test of {design!r}")
        return design
    if isinstance(design, str):
        return DESIGNS[choice(design.lower().replace("_", "-"), DESIGNS, "design")]()
    if isinstance(design, type) and issubclass(design, Design):
        raise TypeError(f"design must be a value, not the class: write {design.__name__}()")
    if callable(design):
        return FromFunction(design, test)
    raise TypeError(
        f"design must be a name ({', '.join(DESIGNS)}), a design such as MeanShift(shift=0.5), or a "
        f"function (rng, n) -> (X, Y); found {design!r}"
    )


if not TYPE_CHECKING:  # type checkers would take every name for one of the module, also where it is misspelt

    def __getattr__(name: str) -> Any:
        """Names that were changed, for one version."""
        if name == "SEVERAL":
            warn_user("designs.SEVERAL is part of designs.DESIGNS; use that", DeprecationWarning)
            return {kind.name: kind for kind in (OneApart, Parity)}
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "DESIGNS",
    "Autoregressive",
    "Bimodal",
    "Blobs",
    "Changed",
    "Circle",
    "Confounded",
    "Contamination",
    "Corners",
    "CorrelationChange",
    "Cross",
    "Design",
    "EckerleSimulation",
    "EckerleSubsample",
    "FromData",
    "FromFunction",
    "Heteroscedastic",
    "HyppoSimulation",
    "Independent",
    "Linear",
    "LinearT",
    "MeanShift",
    "Mixture",
    "MultiplicativeNoise",
    "OneApart",
    "Parity",
    "Peak",
    "PerturbedDependence",
    "PerturbedUniform",
    "Quadratic",
    "Relabelled",
    "Rotated",
    "ScaleChange",
    "Sinusoid",
    "SparseShift",
    "Spheres",
    "SpikedCovariance",
    "Step",
    "Tails",
    "ThinCube",
    "TiltedBlobs",
    "TwoModes",
    "WShape",
    "as_design",
]
