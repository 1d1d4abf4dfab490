"""KernelSpec: the kernel and the bandwidth of a variable, as the arguments of a test give them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shrinktest._check import listed
from shrinktest.data.encoding import Encoding
from shrinktest.data.variable import Variable
from shrinktest.ensembles import Ensemble, each_once
from shrinktest.kernels import Kernel, as_kernel
from shrinktest.kernels.bandwidths import bandwidth_grid
from shrinktest.kernels.distance_kernel import DistanceKernel
from shrinktest.kernels.pooled import PooledKernel
from shrinktest.settings import Settings
from shrinktest.statistics.statistic import Form
from shrinktest.units import entries_by_name

AUTO = "auto"
GRID = "grid"


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
        """Return a copy with bandwidths, named or by table column, listed per feature."""
        argument = self.bandwidth_name
        widths = self.bandwidth
        each = widths if isinstance(widths, list) else [widths]
        if encoding is not None:
            each = [encoding.by_feature(width, argument) for width in each]
        elif any(entries_by_name(width) is not None for width in each):
            raise ValueError(
                f"{argument} has names of columns, but the data are arrays; use one number per "
                "column"
            )
        return replace(self, bandwidth=each if isinstance(widths, list) else each[0])

    def given(self) -> bool:
        """Return True unless all arguments have their defaults."""
        plain = isinstance(self.kernel, str) and isinstance(self.bandwidth, str)
        return not (plain and (self.kernel, self.bandwidth) == ("gaussian", "median"))

    def candidates(self, variable: Variable, rng: np.random.Generator) -> list[Kernel]:
        """Return every kernel with every bandwidth, of which lists hold candidates."""
        name = self.name
        argument = self.bandwidth_name
        kernels = list(self.kernel) if isinstance(self.kernel, list | tuple) else [self.kernel]
        if not kernels:
            raise ValueError(f"{name} is an empty list; name at least one kernel")
        widths = self.bandwidth if isinstance(self.bandwidth, list) else [self.bandwidth]
        if not widths:
            raise ValueError(f"{argument} is an empty list; pass at least one bandwidth, or 'grid'")
        single = not any(isinstance(width, str | tuple | np.ndarray) for width in widths)
        if len(widths) == variable.points.shape[1] > 1 and single:
            kernel = kernels[0] if len(kernels) == 1 else "gaussian"
            candidates = ", ".join(repr(as_kernel(kernel, width, name)) for width in widths)
            raise ValueError(
                f"{argument}={widths!r} is ambiguous: write {name}=[{candidates}] for candidates, "
                "or "
                f"{argument}={tuple(widths)!r} for one per column"
            )
        several = len(kernels) > 1 and (
            isinstance(self.bandwidth, list) or _is_grid(self.bandwidth)
        )
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
        return each_once(combined, argument if len(kernels) == 1 else name)


def is_auto(estimator: Any) -> bool:
    """Return True for the name of the recommended ensemble, in any case."""
    return isinstance(estimator, str) and estimator.lower() == AUTO


def is_several(estimator: Any, specs: Sequence[KernelSpec] = ()) -> bool:
    """Return True if the arguments of a test ask for an ensemble."""
    return (
        isinstance(estimator, list | tuple | Ensemble)
        or is_auto(estimator)
        or any(isinstance(spec.kernel, list | tuple) for spec in specs)
        or any(isinstance(spec.bandwidth, list) or _is_grid(spec.bandwidth) for spec in specs)
    )


def as_kernels(specs: Sequence[KernelSpec]) -> Any:
    """Return the kernel of a single statistic, or a tuple with one for every variable."""
    kernels = tuple(as_kernel(spec.kernel, spec.bandwidth, spec.name) for spec in specs)
    return kernels if len(kernels) > 1 else kernels[0]


def refuse_kernels(
    form: Form, estimator: Any, specs: Sequence[KernelSpec], settings: Settings
) -> None:
    """Raise ValueError for an estimator or a kernel of a statistic that has none."""
    names = [spec.name for spec in specs if spec.given()]
    if settings.gram not in ("auto", "dense"):
        names.append("gram")
    if settings.rank is not None:
        names.append("rank")
    if not (isinstance(estimator, str) and estimator == "kme"):
        names.insert(0, "estimator")
    if names:
        raise ValueError(
            f"form={form.name!r} has no kernel and no estimator; leave out {listed(names)}"
        )


def asks_for_none(estimator: Any, specs: Sequence[KernelSpec]) -> bool:
    """Return True if neither the estimator nor the other arguments determine the kernels."""
    return not (
        isinstance(estimator, Ensemble) or is_auto(estimator) or any(spec.given() for spec in specs)
    )


def kernels_for(estimator: Any, specs: Sequence[KernelSpec]) -> list[Any]:
    """Return the kernel of each variable as given, or the kernels of all ensemble members."""
    if not isinstance(estimator, Ensemble):
        return [spec.kernel for spec in specs]
    members = [member.on(len(specs), 0).kernel for member in estimator.members]
    return (
        [list(kernels) for kernels in zip(*members, strict=True)] if len(specs) > 1 else [members]
    )


def refuse_candidates(test: str, kernel: Any, *bandwidths: Any) -> None:
    """Raise ValueError for lists of candidates where a list has one entry per variable.

    There a list means one kernel or bandwidth for each.
    """
    if is_several("kme", [KernelSpec(kernel, bandwidth) for bandwidth in bandwidths]):
        raise ValueError(
            f"{test} does not accept candidates for kernels and bandwidths; use estimator='auto' "
            "or an Ensemble"
        )


def _is_grid(width: Any) -> bool:
    return isinstance(width, str) and width == GRID


def _grid(variable: Variable, metric: Any, rng: np.random.Generator) -> Sequence[float]:
    """Return the bandwidths of a grid, from rows without missing values."""
    try:
        return bandwidth_grid(variable.compared(), rng=rng, distance=metric)
    except ValueError as error:
        raise ValueError(f"{variable.name}: {error}") from None
