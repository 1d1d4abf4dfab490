"""Hashes: random bits for whole numbers, that are the same wherever they are made."""

from __future__ import annotations

import numpy as np

_FIRST, _SECOND = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)  # the mixing constants of MurmurHash3
_SHIFT = np.uint64(32)


def hashed(numbers: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """Random bits (k,) by numbers and keys, both uint64; different ones for different numbers."""
    for key in keys:
        numbers = _mixed(numbers, key)
    return numbers


def _mixed(numbers: np.ndarray, key: np.uint64) -> np.ndarray:
    """Numbers and a key, every bit of which changes about half of the bits of what comes out."""
    mixed = (numbers ^ key) * _FIRST
    mixed ^= mixed >> _SHIFT
    mixed *= _SECOND
    mixed ^= mixed >> _SHIFT
    return mixed
