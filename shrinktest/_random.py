"""Random number generators: from seeds, for one use each, and where they come from."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from shrinktest._check import to_plain


def as_rng(rng: Any) -> np.random.Generator:
    """Return a numpy Generator from None, a seed, SeedSequence, BitGenerator or Generator.

    None means fresh entropy.
    """
    if isinstance(rng, np.random.Generator):
        return rng
    if rng is None or isinstance(rng, np.random.SeedSequence | np.random.BitGenerator):
        return np.random.default_rng(rng)
    if isinstance(rng, np.random.RandomState):
        raise TypeError(
            "rng is a legacy numpy RandomState; pass a seed (rng=0) or "
            "numpy.random.default_rng(seed)"
        )
    if isinstance(rng, Integral) and not isinstance(rng, bool):
        if rng < 0:
            raise ValueError(f"rng must be a seed >= 0, got {rng}")
        return np.random.default_rng(int(rng))
    raise TypeError(
        f"rng must be None, an integer seed or a numpy Generator; got {rng!r} "
        f"({type(rng).__name__})"
    )


def independent_rng(generator: np.random.Generator, use: int) -> np.random.Generator:
    """Random numbers for one use, independent of others and of later draws from ``generator``."""
    return np.random.default_rng([*_copy(generator).integers(2**63, size=2).tolist(), use])


def setup_rng(generator: np.random.Generator) -> np.random.Generator:
    """Return random numbers for bandwidths and landmarks, apart from the permutation draws.

    The permutations are drawn by ``generator``.
    """
    return np.random.default_rng(_copy(generator).integers(2**63, size=4).tolist())


def _copy(generator: np.random.Generator) -> np.random.Generator:
    bits = type(generator.bit_generator)(0)
    bits.state = generator.bit_generator.state
    return np.random.Generator(bits)


def rng_provenance(generator: np.random.Generator) -> dict[str, Any]:
    """Return the state of a generator, ready for JSON.

    It comes with what rebuilds the SeedSequence of the generator, if any.
    """
    bits = generator.bit_generator
    seeds = {key: to_plain(getattr(bits.seed_seq, key, None)) for key in ("entropy", "spawn_key")}
    return {"bit_generator": type(bits).__name__, **seeds, "state": to_plain(bits.state)}
