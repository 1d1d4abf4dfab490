"""Collection: the statistics that a test combines when nobody knows beforehand which would find the difference."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from shrinktest._validate import positive
from shrinktest.estimators import KME, SKMSE, Landweber, MeanEstimator, as_estimator
from shrinktest.hypotheses.base import Variable
from shrinktest.kernels import Gaussian, Kernel, as_kernel
from shrinktest.kernels.distance import DistanceKernel, bandwidth_grid

AUTO = "auto"
GRID = "grid"


@dataclass(frozen=True)
class Member:
    """One statistic of a collection.

    Parameters
    ----------
    estimator : str, MeanEstimator or callable
        How the kernel mean is estimated.
    kernel : str, Kernel or callable, or a pair of these
        Of both samples, or one for each of two variables.
    weight : float, default 1
        Share of the level: a statistic with twice the weight of the others may have twice their p-value.

    Examples
    --------
    >>> Member("kme", "gaussian")
    Member(estimator=KME(), kernel=Gaussian(bandwidth='median'), weight=1.0)
    """

    estimator: Any
    kernel: Any = "gaussian"
    weight: float = 1.0

    def __post_init__(self) -> None:
        pair = isinstance(self.kernel, tuple)
        if pair and len(self.kernel) != 2:
            raise ValueError(f"kernel must be one kernel, or a pair for two variables; got {len(self.kernel)}")
        kernel = tuple(map(as_kernel, self.kernel)) if pair else as_kernel(self.kernel)
        object.__setattr__(self, "estimator", as_estimator(self.estimator))
        object.__setattr__(self, "kernel", kernel)
        object.__setattr__(self, "weight", positive(self.weight, "weight"))


@dataclass(frozen=True)
class Collection:
    """Statistics to combine into one test: the value behind a list of estimators or bandwidths, and behind "auto".

    Parameters
    ----------
    members : sequence of Member
        Each estimator and kernel once.

    Examples
    --------
    >>> from shrinktest import Gaussian, Laplacian
    >>> Collection([Member("kme", Gaussian("2 * median"), weight=2.0), Member("kme", Laplacian("0.5 * median"))])
    Collection(members=(Member(estimator=KME(), kernel=Gaussian(bandwidth='2.0 * median'), weight=2.0),
        Member(estimator=KME(), kernel=Laplacian(bandwidth='0.5 * median'), weight=1.0)))
    """

    members: Sequence[Member]

    def __post_init__(self) -> None:
        if not isinstance(self.members, Sequence) or isinstance(self.members, str):
            raise TypeError(f"members must be a list of Member values; got {self.members!r}")
        members = tuple(self.members)
        wrong = [member for member in members if not isinstance(member, Member)]
        if wrong:
            raise TypeError(f"members must be Member values; got {wrong[0]!r} ({type(wrong[0]).__name__})")
        if not members:
            raise ValueError("members is empty; a collection has at least one Member")
        if len({isinstance(member.kernel, tuple) for member in members}) > 1:
            raise ValueError("members must all have one kernel (two samples), or all a pair of kernels (independence)")
        _each_once([(member.estimator, member.kernel) for member in members], "members")
        object.__setattr__(self, "members", members)

    @property
    def weights(self) -> np.ndarray:
        """Weights of the members, shape (k,)."""
        return np.array([member.weight for member in self.members])

    def paired(self) -> bool:
        """Whether it is for an independence test."""
        return isinstance(self.members[0].kernel, tuple)


def is_several(estimator: Any, *others: Any) -> bool:
    """Whether the arguments of a test ask for a collection; ``others`` are its kernels and bandwidths in turn."""
    if isinstance(estimator, list | tuple | Collection) or is_auto(estimator):
        return True
    kernels, bandwidths = others[::2], others[1::2]
    return any(isinstance(kernel, list | tuple) for kernel in kernels) or any(
        isinstance(width, list) or _is_grid(width) for width in bandwidths
    )


def is_auto(estimator: Any) -> bool:
    """Whether it asks for the recommended collection; like other names, in any case."""
    return isinstance(estimator, str) and estimator.lower() == AUTO


def refuse_several(test: str, estimator: Any, *others: Any) -> None:
    """Raise ValueError if the arguments of a test that combines nothing ask for a collection."""
    if is_several(estimator, *others):
        raise ValueError(
            f"{test} combines no statistics (lists of candidates, 'auto' and 'grid' are for two_sample_test and "
            "independence_test): give one estimator, one kernel and one bandwidth, a tuple being one number per column"
        )


def estimators_of(estimator: Any) -> list[MeanEstimator]:
    """The estimators to combine: one or a list."""
    if not isinstance(estimator, list | tuple):
        return [as_estimator(estimator)]
    if not estimator:
        raise ValueError("estimator is an empty list; name at least one, such as ['kme', 'fkmse']")
    if any(map(is_auto, estimator)):
        raise ValueError("estimator='auto' is a collection already; name it alone, or list the estimators")
    return _each_once([as_estimator(one) for one in estimator], "estimator")


def kernels_of(
    kernel: Any, bandwidth: Any, name: str, columns: int, grid: Callable[[str], Sequence[float]]
) -> list[Kernel]:
    """The candidates for one kernel: every kernel with every bandwidth.

    Parameters
    ----------
    kernel : str, Kernel or callable, or a list of these
    bandwidth : number, "median", tuple or array (one number per column), "grid", or a list of these
        A list holds candidates.
    name : str
        The argument's name in messages.
    columns : int
        Of the points.
    grid : callable
        Bandwidths for a metric.

    Raises
    ------
    ValueError
        Empty lists, candidates that occur twice, lists that may mean one bandwidth per column.
    """
    argument = name.replace("kernel", "bandwidth")
    kernels = list(kernel) if isinstance(kernel, list | tuple) else [kernel]
    if not kernels:
        raise ValueError(f"{name} is an empty list; name at least one kernel")
    several = isinstance(bandwidth, list) or _is_grid(bandwidth)
    widths = bandwidth if isinstance(bandwidth, list) else [bandwidth]
    if not widths:
        raise ValueError(f"{argument} is an empty list; give at least one bandwidth, or 'grid'")
    if len(widths) == columns > 1 and not any(isinstance(width, str | tuple | np.ndarray) for width in widths):
        candidates = ", ".join(f"Gaussian({width!r})" for width in widths)
        raise ValueError(
            f"{argument}={widths!r} may be {columns} candidates or one bandwidth for each of {columns} columns: write "
            f"{name}=[{candidates}] for candidates, or a tuple, {argument}={tuple(widths)!r}, for one per column"
        )
    found: list[Kernel] = []
    for one in kernels:
        takes = isinstance(as_kernel(one, name=name), DistanceKernel) and isinstance(one, str)
        if takes:
            for width in widths:
                metric = as_kernel(one).metric  # type: ignore[attr-defined]  # a kernel of a distance
                found += [as_kernel(one, w, name) for w in (grid(metric) if _is_grid(width) else [width])]
        elif several and len(kernels) > 1:
            found.append(as_kernel(one, name=name))  # has no bandwidth, or brings its own
        else:
            found.append(as_kernel(one, bandwidth, name))
    return _each_once(found, argument if len(kernels) == 1 else name)


@dataclass(frozen=True)
class Asked:
    """The arguments of a test that say which kernels a variable (or all samples) gets.

    Parameters
    ----------
    kernel, bandwidth
        As they were given.
    name : str
        The argument's name: "kernel", "kernel_x", "kernel_y".
    """

    kernel: Any
    bandwidth: Any
    name: str = "kernel"

    def given(self) -> bool:
        """Whether anything but the defaults was asked for."""
        plain = isinstance(self.kernel, str) and isinstance(self.bandwidth, str)
        return not (plain and (self.kernel, self.bandwidth) == ("gaussian", "median"))

    def candidates(self, variable: Variable, rng: np.random.Generator) -> list[Kernel]:
        """The kernels to combine; rows with missing values are not looked at."""

        def grid(metric: Any) -> Sequence[float]:
            try:
                return bandwidth_grid(variable.compared(), rng=rng, distance=metric)
            except ValueError as error:
                raise ValueError(f"{variable.name}: {error}") from None

        return kernels_of(self.kernel, self.bandwidth, self.name, variable.points.shape[1], grid)


def collect(
    estimator: Any, asked: Sequence[Asked], variables: Sequence[Variable], rng: np.random.Generator
) -> Collection:
    """The collection behind the arguments of a test: every estimator with every kernel, or the one that was given.

    Raises
    ------
    ValueError
        For kernels beside a collection that has its own, for a collection of the other test, and for lists that make
        no sense.
    """
    if isinstance(estimator, Collection) or is_auto(estimator):
        for one in asked:
            if one.given():
                brings = "a Collection" if isinstance(estimator, Collection) else f"estimator={AUTO!r}"
                width = one.name.replace("kernel", "bandwidth")
                raise ValueError(
                    f"{brings} brings kernels and bandwidths of its own: leave out {one.name} and {width}, or "
                    "give a list of estimators, such as estimator=['kme', 'fkmse']"
                )
        found: Collection = estimator if isinstance(estimator, Collection) else recommended(len(asked))
        if found.paired() != (len(asked) == 2):
            wanted = "a pair of kernels each, for X and for Y" if len(asked) == 2 else "one kernel each"
            raise ValueError(f"the members of estimator need {wanted}; got {found.members[0]!r}")
        return found
    estimators = estimators_of(estimator)
    together = product(*(one.candidates(variable, rng) for one, variable in zip(asked, variables, strict=True)))
    # those that share a kernel stand side by side
    return Collection([Member(one, pair if len(pair) > 1 else pair[0]) for pair in together for one in estimators])


def _is_grid(width: Any) -> bool:
    return isinstance(width, str) and width == GRID


def _each_once(values: list[Any], name: str) -> list[Any]:
    for i, value in enumerate(values):
        if value in values[:i]:
            shown = value[0] if isinstance(value, tuple) and isinstance(value[0], MeanEstimator) else value
            raise ValueError(f"{name} holds {shown!r} twice; a candidate counts once: drop one of them")
    return values


#: What ``estimator="auto"`` stands for with two samples: one statistic for each way in which power was found in the
#: studies.  Location: the standard mean, half of the weight, because nothing gains on it there.  Correlation and shape:
#: narrow kernels.  Dispersion: heavy shrinkage, for which one Landweber step is the limit and the cheapest.
TWO_SAMPLES = Collection(
    (
        Member(KME(), Gaussian(), weight=4.0),
        Member(KME(), Gaussian("0.5 * median")),
        Member(KME(), Gaussian("0.25 * median")),
        Member(Landweber(t=1), Gaussian(), weight=2.0),
    )
)

_WIDTHS = ("0.25 * median", "0.5 * median", "2 * median")

#: For independence: S-COSE with every pair of a narrow, a middling and a wide kernel; the widest pair, which finds
#: linear dependence, has twice the weight.
INDEPENDENCE = Collection(
    tuple(
        Member(SKMSE(), (Gaussian(x), Gaussian(y)), weight=2.0 if x == y == _WIDTHS[-1] else 1.0)
        for x in _WIDTHS
        for y in _WIDTHS
    )
)


def recommended(variables: int) -> Collection:
    """The collection behind ``estimator="auto"`` for one variable (two samples) or two (independence)."""
    return TWO_SAMPLES if variables == 1 else INDEPENDENCE
