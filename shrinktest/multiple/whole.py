"""Samples in batches that are tested as in memory: those that fit there, where nothing else was asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from shrinktest.data.sources import BINS, as_batches
from shrinktest.data.whole import read_whole
from shrinktest.hypotheses.settings import Settings
from shrinktest.hypotheses.supported import without_data
from shrinktest.kernels import Gaussian, Kernel, as_kernel
from shrinktest.kernels.inner import FeatureMap
from shrinktest.multiple.binned import RANK
from shrinktest.multiple.ensembles import Ensemble, KernelSpec, is_auto
from shrinktest.statistics.kernel_cache import advised, bytes_of

_PART = 16.0  # of the memory that kernel values may take: what the rows themselves may


def in_memory(
    samples: Sequence[Any],
    names: Sequence[str],
    estimator: Any,
    specs: Sequence[KernelSpec],
    settings: Settings,
    column_types: Mapping[str, Any] | None,
    work: str = "sums",
) -> tuple[Any, ...]:
    """Return the samples as arrays or tables, so that rows are tested; unchanged if bins are wanted.

    Bins are wanted by whoever gives ``gram``, ``rank``, ``store``, a client or executor as ``workers``, or a number
    of bins; and kernels with a few features of their own lose nothing by them.  Raises MemoryError for more rows than
    fit, and says what does, and how long it takes.
    """
    batches = as_batches(samples, names)
    requested = settings.gram != "auto" or settings.rank is not None or settings.store is not None
    if requested or not isinstance(settings.readers, int) or any(source.bins != BINS for source in batches):
        return tuple(samples)
    kernels = _kernels(estimator, specs)
    if kernels and all(isinstance(without_data(kernel), FeatureMap) for kernel in kernels):
        return tuple(samples)
    most = settings.memory / _PART
    whole, rows, columns = read_whole(batches, names, column_types, most)
    if whole:
        return tuple(whole)
    advice = advised((kernels or [Gaussian()])[0], rows, columns, RANK, settings.n_resamples, work)
    raise MemoryError(
        f"{' and '.join(names)} have {rows} observations or more, which take more than {bytes_of(most)}, a "
        f"sixteenth of max_memory={bytes_of(settings.memory)}; {advice}, or raise max_memory"
    )


def _kernels(estimator: Any, specs: Sequence[KernelSpec]) -> list[Kernel]:
    """All that are asked for; none where the test chooses them."""
    if is_auto(estimator):
        return []
    if isinstance(estimator, Ensemble):
        several = [member.kernel for member in estimator.members]
        return [kernel for kernels in several for kernel in (kernels if isinstance(kernels, tuple) else (kernels,))]
    pairs = [(spec.kernel if isinstance(spec.kernel, list | tuple) else [spec.kernel], spec.name) for spec in specs]
    return [as_kernel(kernel, name=name) for kernels, name in pairs for kernel in kernels]
