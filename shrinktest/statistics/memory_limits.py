"""Memory and time that a test takes, and the advice of the error if a Gram matrix does not fit."""

from __future__ import annotations

from shrinktest.kernels import Kernel
from shrinktest.kernels.feature_maps import has_spectrum
from shrinktest.kernels.pooled import PooledKernel

# Seconds on one core, measured on one machine: good for an order of magnitude elsewhere.  The benchmarks of samples in
# batches compare them with tests ("foretold").
_ROW = 4e-7  # for an observation that is read, checked and scaled
_FEATURE = 8e-9  # for a random Fourier feature of an observation: half a cosine and half a sine
_LANDMARK = 2.4e-8  # for a landmark: a kernel value,
_SOLVED = 2.8e-11  # and a product for every other landmark
_COLUMN = 2e-10  # a product for a column of the data in either
#: Work of a permutation, by name: sums of weights; products of two variables; filters that are fitted again.
#: It takes (first) x observations x coordinates x (coordinates + second), or for sums only
#: (first) x observations x (coordinates + second).
WORKS = {"sums": (2.4e-11, 100.0), "pairs": (8e-11, 30.0), "filter": (1.6e-10, 86.0)}
_SPECTRUM = 5e-10  # and a filter the third power of the coordinates
_MOST = 1e7  # permutations; for more there is another error

_UNITS = ((3600.0, "h"), (60.0, "min"), (1.0, "s"))


def advised(kernel: Kernel, size: int, columns: int, rank: int, permutations: float, work: str) -> str:
    """Return the approximations of a kernel with their times, the faster first, as advice."""
    inner = kernel.kernel if isinstance(kernel, PooledKernel) else kernel
    names = ("rff", "nystrom") if has_spectrum(inner) else ("nystrom",)
    times = {name: seconds(name, size, columns, rank, permutations, work) for name in names}
    first, *others = sorted(times, key=lambda name: times[name])
    advice = f"use gram={first!r}, rank={rank} (about {duration(times[first])} on one core)"
    return advice + "".join(f" or gram={name!r} (about {duration(times[name])})" for name in others)


def seconds(name: str, size: int, columns: int, rank: int, permutations: float, work: str) -> float:
    """Return the approximate time on one core of a test by random coordinates; ``work`` is one of `WORKS`."""
    permutations = min(permutations, _MOST)
    each = _FEATURE if name == "rff" else _LANDMARK + _SOLVED * rank
    made = (2.0 if work == "pairs" else 1.0) * size * (_ROW + rank * (each + _COLUMN * columns))
    slope, extra = WORKS[work]
    permuted = slope * size * (rank + extra) * (1.0 if work == "sums" else rank)
    return made + permutations * (permuted + (_SPECTRUM * rank**3 if work == "filter" else 0.0))


def duration(time: float) -> str:
    """Return a rough time in words, with one digit or two."""
    unit, name = next((unit, name) for unit, name in _UNITS if time >= 2.0 * unit or unit == 1.0)
    return f"{max(1.0, float(f'{time / unit:.1g}')):g} {name}"


def check_memory(size: int, kernels: int, memory: float, advice: str = "use a random part of the data") -> None:
    """Raise MemoryError if the Gram matrices of so many observations do not fit."""
    taken = needed(size, kernels)
    if taken > memory:
        matrices = "Gram matrix takes" if kernels == 1 else "Gram matrices take"
        raise MemoryError(
            f"{size} observations: the {matrices} {bytes_of(taken)} while being made, more than "
            f"max_memory={bytes_of(memory)}; {advice}, or raise max_memory"
        )


def needed(size: int, kernels: int) -> float:
    """Bytes of Gram matrices while they are made."""
    return (10.0 if kernels == 1 else 20.0 * kernels) * size**2


def bytes_of(size: float) -> str:
    """A number of bytes in words."""
    unit, name = next(
        (unit, name) for unit, name in ((1e9, "GB"), (1e6, "MB"), (1.0, "bytes")) if size >= unit or unit == 1.0
    )
    return f"{size / unit:.3g} {name}" if unit > 1.0 else f"{size:.0f} {name}"
