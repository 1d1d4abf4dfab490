"""Ensemble: the statistics that a test combines when nobody knows beforehand which would find the difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from shrinktest._check import counted, flag, positive
from shrinktest.data.encoding import Encoding
from shrinktest.estimators import KME, MeanEstimator, as_estimator
from shrinktest.hypothesis import Variable
from shrinktest.kernels import Depth, Energy, Gaussian, Kernel, Laplacian, Rescaled, SecondOrder, Whitened, as_kernel
from shrinktest.kernels.bandwidths import bandwidth_grid
from shrinktest.kernels.base import require_same_points
from shrinktest.kernels.distance import DistanceKernel
from shrinktest.kernels.pooled import Differences, PooledKernel
from shrinktest.results.info import KINDS

AUTO = "auto"
GRID = "grid"
_FEW, _MANY = 100, 600  # rows between which weights grow


@dataclass(frozen=True)
class Candidate:
    """A statistic of an :class:`Ensemble`: an estimator with its kernels, and a weight.

    Parameters
    ----------
    estimator : str, MeanEstimator or callable
        How the kernel mean is estimated.
    kernel : str, Kernel or callable, or a tuple of these
        Of all samples, and of every variable; or one for each variable.
    weight : float, default 1
        Share of the level: a statistic with twice the weight of the others may have twice their p-value.
    grows : bool, default False
        Whether the weight grows with the number of rows, from 100 to 600 of them, to six times what it was: for fine
        structure, which only many rows can show.

    Examples
    --------
    >>> Candidate("kme", "gaussian")
    Candidate(estimator=KME(), kernel=Gaussian(bandwidth='median'), weight=1.0, grows=False)
    """

    estimator: Any
    kernel: Any = "gaussian"
    weight: float = 1.0
    grows: bool = False

    def __post_init__(self) -> None:
        several = isinstance(self.kernel, tuple)
        if several and len(self.kernel) < 2:
            raise ValueError(f"kernel must be one kernel, or a tuple with one per variable; got {len(self.kernel)}")
        kernel = tuple(map(as_kernel, self.kernel)) if several else as_kernel(self.kernel)
        object.__setattr__(self, "estimator", as_estimator(self.estimator))
        object.__setattr__(self, "kernel", kernel)
        object.__setattr__(self, "weight", positive(self.weight, "weight"))
        object.__setattr__(self, "grows", flag(self.grows, "grows"))

    def on(self, variables: int, rows: int) -> Candidate:
        """The member in a test of so many variables and rows: a kernel for each variable, and a weight that stays."""
        kernels = self.kernel if isinstance(self.kernel, tuple) else (self.kernel,) * variables
        if len(kernels) != variables:
            raise ValueError(
                f"{self!r} has {len(kernels)} kernels for {counted(variables, 'variable')}; "
                "give one kernel, or a tuple with one for each"
            )
        more = min(max(rows, _FEW), _MANY) / _FEW if self.grows else 1.0
        kernel = kernels if variables > 1 else kernels[0]
        return replace(self, kernel=kernel, weight=self.weight * more, grows=False)


@dataclass(frozen=True)
class Ensemble:
    """Several statistics to combine into one test: what lists of estimators or bandwidths, and "auto", stand for.

    Parameters
    ----------
    members : sequence of Candidate
        Each estimator and kernel once.

    Examples
    --------
    >>> from shrinktest import Gaussian, Laplacian
    >>> Ensemble([Candidate("kme", Gaussian("2 * median"), weight=2.0), Candidate("kme", Laplacian("0.5 * median"))])
    Ensemble(members=(Candidate(estimator=KME(), kernel=Gaussian(bandwidth='2.0 * median'), weight=2.0, grows=False),
        Candidate(estimator=KME(), kernel=Laplacian(bandwidth='0.5 * median'), weight=1.0, grows=False)))
    """

    members: Sequence[Candidate]

    def __post_init__(self) -> None:
        if not isinstance(self.members, Sequence) or isinstance(self.members, str):
            raise TypeError(f"members must be a list of Candidate values; got {self.members!r}")
        members = tuple(self.members)
        wrong = [member for member in members if not isinstance(member, Candidate)]
        if wrong:
            raise TypeError(f"members must be Candidate values; got {wrong[0]!r} ({type(wrong[0]).__name__})")
        if not members:
            raise ValueError("members is empty; an ensemble has at least one Candidate")
        kernels = [member.kernel if isinstance(member.kernel, tuple) else (member.kernel,) for member in members]
        for v in range(max(map(len, kernels))):
            require_same_points([some[v] for some in kernels if v < len(some)])
        _each_once([(member.estimator, member.kernel) for member in members], "members")
        object.__setattr__(self, "members", members)

    @property
    def label(self) -> str:
        """Label in tables of results."""
        return f"{len(self.members)} statistics combined"

    @property
    def weights(self) -> np.ndarray:
        """Weights of the members, shape (k,)."""
        return np.array([member.weight for member in self.members])


def is_several(estimator: Any, specs: Sequence[KernelSpec] = ()) -> bool:
    """Return True if the arguments of a test ask for an ensemble."""
    return (
        isinstance(estimator, list | tuple | Ensemble)
        or is_auto(estimator)
        or any(isinstance(spec.kernel, list | tuple) for spec in specs)
        or any(isinstance(spec.bandwidth, list) or _is_grid(spec.bandwidth) for spec in specs)
    )


def asks_for_none(estimator: Any, specs: Sequence[KernelSpec]) -> bool:
    """Return True if neither the estimator nor the other arguments determine the kernels."""
    return not (isinstance(estimator, Ensemble) or is_auto(estimator) or any(spec.given() for spec in specs))


def kernels_for(estimator: Any, specs: Sequence[KernelSpec]) -> list[Any]:
    """Return the kernel of each variable as it was given, or those of all members of an ensemble."""
    if not isinstance(estimator, Ensemble):
        return [spec.kernel for spec in specs]
    members = [member.on(len(specs), 0).kernel for member in estimator.members]
    return [list(kernels) for kernels in zip(*members, strict=True)] if len(specs) > 1 else [members]


def is_auto(estimator: Any) -> bool:
    """Return True for the name of the recommended ensemble, in any case."""
    return isinstance(estimator, str) and estimator.lower() == AUTO


def refuse_candidates(test: str, kernel: Any, *bandwidths: Any) -> None:
    """Raise ValueError for lists of candidates where a list means one kernel or bandwidth for each."""
    if is_several("kme", [KernelSpec(kernel, bandwidth) for bandwidth in bandwidths]):
        raise ValueError(
            f"{test} takes no candidates for kernels and bandwidths; combine several by estimator='auto' or an Ensemble"
        )


def estimators_of(estimator: Any) -> list[MeanEstimator]:
    """The estimators to combine: one or a list."""
    if not isinstance(estimator, list | tuple):
        return [as_estimator(estimator)]
    if not estimator:
        raise ValueError("estimator is an empty list; name at least one, such as ['kme', 'fkmse']")
    if any(map(is_auto, estimator)):
        raise ValueError("estimator='auto' is an ensemble already; name it alone, or list the estimators")
    return _each_once([as_estimator(entry) for entry in estimator], "estimator")


@dataclass(frozen=True)
class KernelSpec:
    """Kernels of a variable (or of all samples), as the arguments of a test give them."""

    kernel: Any
    bandwidth: Any
    name: str = "kernel"  # the argument's name: "kernel", "kernel_x", "kernel_y"

    @property
    def bandwidth_name(self) -> str:
        """Name of the argument with the bandwidth."""
        return self.name.replace("kernel", "bandwidth")

    def by_feature(self, encoding: Encoding | None) -> KernelSpec:
        """Return a copy whose bandwidths, given by name or by column of a table, are listed for every feature."""
        argument, widths = self.bandwidth_name, self.bandwidth
        each = widths if isinstance(widths, list) else [widths]
        if encoding is not None:
            each = [encoding.by_feature(width, argument) for width in each]
        elif any(hasattr(width, "keys") for width in each):
            raise ValueError(f"{argument} has names of columns, but the data are arrays; give one number per column")
        return replace(self, bandwidth=each if isinstance(widths, list) else each[0])

    def given(self) -> bool:
        """Return True unless all arguments have their defaults."""
        plain = isinstance(self.kernel, str) and isinstance(self.bandwidth, str)
        return not (plain and (self.kernel, self.bandwidth) == ("gaussian", "median"))

    def candidates(self, variable: Variable, rng: np.random.Generator) -> list[Kernel]:
        """Return every kernel with every bandwidth, of which lists hold candidates."""
        name, argument = self.name, self.bandwidth_name
        kernels = list(self.kernel) if isinstance(self.kernel, list | tuple) else [self.kernel]
        if not kernels:
            raise ValueError(f"{name} is an empty list; name at least one kernel")
        widths = self.bandwidth if isinstance(self.bandwidth, list) else [self.bandwidth]
        if not widths:
            raise ValueError(f"{argument} is an empty list; give at least one bandwidth, or 'grid'")
        single = not any(isinstance(width, str | tuple | np.ndarray) for width in widths)
        if len(widths) == variable.points.shape[1] > 1 and single:
            kernel = kernels[0] if len(kernels) == 1 else "gaussian"
            candidates = ", ".join(repr(as_kernel(kernel, width, name)) for width in widths)
            raise ValueError(
                f"{argument}={widths!r} is ambiguous: write {name}=[{candidates}] for candidates, or "
                f"{argument}={tuple(widths)!r} for one per column"
            )
        several = len(kernels) > 1 and (isinstance(self.bandwidth, list) or _is_grid(self.bandwidth))
        combined: list[Kernel] = []
        for kernel in kernels:
            called = as_kernel(kernel, name=name)
            if isinstance(kernel, str) and isinstance(called, DistanceKernel | PooledKernel):
                of: Any = getattr(called, "kernel", called)  # whose features are whitened, say
                for width in widths:
                    each = _grid(variable, of.metric, rng) if _is_grid(width) else [width]
                    combined += [as_kernel(kernel, w, name) for w in each]
            else:  # several kernels have no bandwidth, or bring their own
                combined.append(called if several else as_kernel(kernel, self.bandwidth, name))
        return _each_once(combined, argument if len(kernels) == 1 else name)


def collect(
    estimator: Any,
    specs: Sequence[KernelSpec],
    variables: Sequence[Variable],
    rng: np.random.Generator,
    test: str,
    sizes: Sequence[int],
    *,
    paired: bool = False,
) -> Ensemble:
    """Return every estimator with every kernel, or the ensemble that was given, with weights for these sizes."""
    if isinstance(estimator, Ensemble) or is_auto(estimator):
        for spec in specs:
            if spec.given():
                brings = "an Ensemble" if isinstance(estimator, Ensemble) else f"estimator={AUTO!r}"
                raise ValueError(
                    f"{brings} has its own kernels; leave out {spec.name} and {spec.bandwidth_name}, or give a list of "
                    "estimators"
                )
        ensemble: Ensemble = estimator if isinstance(estimator, Ensemble) else recommended(test)
        if paired and spares(estimator, test):
            ensemble = within_pairs(ensemble)
        return Ensemble([member.on(len(specs), sum(sizes)) for member in ensemble.members])
    estimators = estimators_of(estimator)
    together = product(*(spec.candidates(variable, rng) for spec, variable in zip(specs, variables, strict=True)))
    # those that share a kernel stand side by side
    return Ensemble([Candidate(each, pair if len(pair) > 1 else pair[0]) for pair in together for each in estimators])


def _is_grid(width: Any) -> bool:
    return isinstance(width, str) and width == GRID


def _grid(variable: Variable, metric: Any, rng: np.random.Generator) -> Sequence[float]:
    """Return the bandwidths of a grid, from rows without missing values."""
    try:
        return bandwidth_grid(variable.compared(), rng=rng, distance=metric)
    except ValueError as error:
        raise ValueError(f"{variable.name}: {error}") from None


def _each_once(values: list[Any], name: str) -> list[Any]:
    for i, value in enumerate(values):
        if value in values[:i]:
            shown = value[0] if isinstance(value, tuple) and isinstance(value[0], MeanEstimator) else value
            raise ValueError(f"{name} holds {shown!r} twice; a candidate counts once: drop one of them")
    return values


#: The bandwidth of near neighbours sees what the median does not; one that is wide sees the means and little else.
_NEAR, _BROAD = Gaussian("neighbours"), Gaussian("2 * median")

#: What ``estimator="auto"`` stands for with samples: a statistic for each way in which distributions were found to
#: differ in the studies.  The page on power beside other tests says on which designs it was chosen.
SAMPLES = Ensemble(
    (
        # location; most of the weight, so that little is lost where nothing gains on it
        Candidate(KME(), _BROAD, weight=25.0),
        Candidate(KME(), Rescaled(Gaussian(), "rank"), weight=9.0),  # the same with heavy tails, or units of any size
        Candidate(KME(), Whitened(Gaussian(), 0.03), weight=10.0),  # shape
        # fine structure, clusters, tails
        Candidate(KME(), Whitened(Gaussian("0.5 * neighbours"), 0.01), weight=4.0, grows=True),
        Candidate(KME(), SecondOrder(_BROAD), weight=3.0),  # correlations
        Candidate(KME(), Depth(_NEAR), weight=3.0),  # spread
    )
)

_SHAPES, _CORNERS, _RANKS = Whitened(Gaussian(), 0.1), Whitened(Laplacian(), 0.1), Rescaled(Energy(), "rank")

#: The same for three or more variables, every kernel for each of them.
VARIABLES = Ensemble(
    (
        Candidate(KME(), _BROAD, weight=5.0),  # linear and monotone dependence
        Candidate(KME(), _SHAPES, weight=4.0),
        Candidate(KME(), _RANKS, weight=2.0),  # heavy tails, and units of any size
        Candidate(KME(), Whitened(Gaussian("0.5 * median"), 0.1)),  # finer shapes
        Candidate(KME(), _CORNERS),
    )
)

_WIDE, _FINE, _FAST = Gaussian("4 * median"), Whitened(Gaussian("0.5 * median"), 0.03), Whitened(Energy(), 0.001)

#: And for two: most weight on linear and monotone dependence, and one fine kernel against one that is wide, which find
#: curves.
PAIRS = Ensemble(
    (
        Candidate(KME(), _WIDE, weight=9.0),  # linear and monotone dependence
        Candidate(KME(), _SHAPES, weight=5.0),
        Candidate(KME(), _NEAR),
        Candidate(KME(), Depth(_NEAR)),  # far out in one variable where the other is near its middle
        Candidate(KME(), SecondOrder(_BROAD), weight=0.75),  # the spreads, or correlations, of both
        *(
            Candidate(KME(), pair, weight=weight)
            for first, second, weight in ((_CORNERS, _RANKS, 1.5), (_FINE, _WIDE, 1.25), (_FAST, _WIDE, 1.0))
            for pair in ((first, second), (second, first))
        ),
    )
)

#: For a sample and its reflection: even functions of the rows, such as their depth, are the same for both.
SYMMETRIC = Ensemble([member for member in SAMPLES.members if member.kernel != Depth(_NEAR)])

_ENSEMBLES = {"SAMPLES": SAMPLES, "VARIABLES": VARIABLES, "PAIRS": PAIRS, "SYMMETRIC": SYMMETRIC}


def recommended(test: str) -> Ensemble:
    """The ensemble behind ``estimator="auto"`` for a kind of test, by its name."""
    return _ENSEMBLES[KINDS[test].ensemble]


def within_pairs(samples: Ensemble) -> Ensemble:
    """Return the ensemble for pairs: half of the weight is on differences within pairs, most of the rest on spread.

    Differences see shifts, and not spreads.  Weights were changed once after the designs of the check had been seen.
    """
    factors = {_BROAD: 0.8, SecondOrder(_BROAD): 6.25, Depth(_NEAR): 2.0}  # the first stays the largest, for effects
    members = [
        replace(member, weight=member.weight * factors.get(member.kernel, 0.4))
        for member in samples.members
        if member.kernel != Rescaled(Gaussian(), "rank")  # location, too
    ]
    return Ensemble([*members, Candidate(KME(), Differences(Gaussian("2 * median")), weight=50.0)])


def spares(estimator: Any, test: str) -> bool:
    """Return True if members that do not fit in memory may be left out, because nobody named them."""
    return is_auto(estimator) or (isinstance(estimator, Ensemble) and estimator == recommended(test))
