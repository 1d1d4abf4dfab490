"""Bijections: where a keyed permutation of very many numbers takes some of them.

A Feistel network: a number is a row and a column of a table that has about as many of both and is barely larger than
there are numbers; by turns each is moved on by a function of the other, which can be undone.  What ends in the few
cells beyond the last number goes in again.  The function mixes 32 bits by two products (as in MurmurHash3), in 64 bits
of which the upper half is cut off, for which there are vector instructions.
"""

from __future__ import annotations

import numpy as np

from shrinktest._jit import compiled

_FIRST, _SECOND, _LOW = np.uint64(0x85EBCA6B), np.uint64(0xC2B2AE35), np.uint64(0xFFFFFFFF)
_0, _15, _32 = np.uint64(0), np.uint64(15), np.uint64(32)


@compiled(ordered=True, inline=True)
def _moved(number, key, size):
    """A number below ``size``, by another one and a key."""
    mixed = ((number ^ key) * _FIRST) & _LOW
    mixed = ((mixed ^ (mixed >> _15)) * _SECOND) & _LOW
    return (mixed * size) >> _32


@compiled(ordered=True)
def _once(number, high, low, keys):
    """One pass through the network, within ``high`` times ``low`` numbers."""
    row, column = number // low, number % low
    for turn in range(0, keys.size, 2):
        row += _moved(column, keys[turn], high)
        row -= high if row >= high else _0
        column += _moved(row, keys[turn + 1], low)
        column -= low if column >= low else _0
    return row * low + column


@compiled(ordered=True)
def images(numbers, n, high, low, keys, out):
    """Where ``numbers`` (k,) go, by ``keys`` (rounds,), into ``out`` (k,).

    They are below ``n``, in a table of ``high`` rows and ``low`` columns.  All are of uint64.
    """
    for i in range(numbers.size):
        number = _once(numbers[i], high, low, keys)
        while number >= n:
            number = _once(number, high, low, keys)
        out[i] = number
