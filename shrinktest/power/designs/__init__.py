"""Designs of power studies: values that draw data of any size, each with its null twin.

The twin is the same design under the null hypothesis.

>>> design = MeanShift(dimension=5, shift=0.8, ratio=2.0)
>>> [sample.shape for sample in design.sample(rng=0, n=30)], design.null()
([(30, 5), (60, 5)], MeanShift(dimension=5, shift=0.0, ratio=2.0))
"""

from __future__ import annotations

from typing import Any

from shrinktest._check import choice
from shrinktest.power.designs.base import Design, Independent, Relabeled
from shrinktest.power.designs.data_sets import (
    EckerleSimulation,
    EckerleSubsample,
    FromData,
    FromFunction,
)
from shrinktest.power.designs.independence import (
    Circle,
    Cross,
    Heteroscedastic,
    HyppoSimulation,
    Linear,
    LinearT,
    MultiplicativeNoise,
    Peak,
    Quadratic,
    Rotated,
    Sinusoid,
    Step,
    WShape,
)
from shrinktest.power.designs.literature import (
    Autoregressive,
    Bimodal,
    Corners,
    Mixture,
    SparseShift,
    Spheres,
    SpikedCovariance,
    ThinCube,
    TiltedBlobs,
    TwoModes,
)
from shrinktest.power.designs.other_tests import (
    Changed,
    Confounded,
    OneApart,
    Parity,
    SkewNormal,
)
from shrinktest.power.designs.pilot_table import FactorsFromData
from shrinktest.power.designs.shifted import Shifted
from shrinktest.power.designs.standard import (
    Blobs,
    Contamination,
    CorrelationChange,
    MeanShift,
    PerturbedDependence,
    PerturbedUniform,
    ScaleChange,
    Tails,
)
from shrinktest.results.info import KINDS

#: Every built-in design by name; all have defaults for all parameters.
DESIGNS: dict[str, type[Design]] = {
    kind.name: kind
    for kind in (
        *(
            Mixture,
            MeanShift,
            ScaleChange,
            CorrelationChange,
            Tails,
            Contamination,
            PerturbedUniform,
            Blobs,
        ),
        *(
            TiltedBlobs,
            TwoModes,
            Corners,
            SparseShift,
            SpikedCovariance,
            ThinCube,
            Bimodal,
            Autoregressive,
            Spheres,
        ),
        *(
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
        ),
        *(
            Heteroscedastic,
            MultiplicativeNoise,
            Peak,
            Rotated,
            PerturbedDependence,
            HyppoSimulation,
        ),
        *(OneApart, Parity, Changed, SkewNormal, Confounded),
    )
}


def as_design(design: Any) -> Design:
    """Return a design from a name, a design, or a function ``(rng, n) -> (X, Y)``.

    Parameters
    ----------
    design : str, Design or callable
        Name of a built-in design (the keys of ``DESIGNS``), a design, which is returned as it is,
        or a function that draws data for a two-sample test.

    Returns
    -------
    Design
        The design with its default parameters, if it was named.

    Raises
    ------
    ValueError
        If no design has this name.
    TypeError
        If ``design`` is neither a name, nor a design, nor a function.

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
    if callable(design) and not isinstance(design, type):
        return FromFunction(design)
    raise TypeError(
        "design must be a name, a design such as MeanShift(shift=0.5), or a function; found "
        f"{design!r}"
    )


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
    "FactorsFromData",
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
    "Relabeled",
    "Rotated",
    "ScaleChange",
    "Shifted",
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
