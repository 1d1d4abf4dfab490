"""Bijections: where a keyed permutation of very many numbers takes some of them, and in which sample that is.

A Feistel network: a number is a row and a column of a table that has about as many of both and is barely larger than
there are numbers; by turns each is moved on by a function of the other, which can be undone.  What ends in the few
cells beyond the last number goes in again.  The function mixes 32 bits by two products (as in MurmurHash3), in 64 bits
of which the upper half is cut off, for which there are vector instructions.
"""

from __future__ import annotations

import numpy as np

from shrinktest._jit import compiled

_FIRST, _SECOND, _LOW = np.uint64(0x85EBCA6B), np.uint64(0xC2B2AE35), np.uint64(0xFFFFFFFF)
_0, _1, _15, _32 = np.uint64(0), np.uint64(1), np.uint64(15), np.uint64(32)


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
def _back(number, high, low, keys):
    """What goes to ``number`` in one pass."""
    row, column = number // low, number % low
    for turn in range(keys.size - 2, -1, -2):
        column += low - _moved(row, keys[turn + 1], low)
        column -= low if column >= low else _0
        row += high - _moved(column, keys[turn], high)
        row -= high if row >= high else _0
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


@compiled(ordered=True)
def octets_of_rows(first, count, n, high, low, start, keys, ends, out):
    """Which of some rows are in which sample, for every permutation: those of ``keys`` after ``start`` undone.

    ``first`` is the number of the first row, and ``count`` how many there are, of ``n`` in all, in a table of
    ``high`` rows and ``low`` columns; ``start`` is (rounds,), ``keys`` (B, rounds), and ``ends`` (k - 1,) has the
    number behind the last row of every sample but the last.  All but ``count`` are of uint64.  The bits of members are
    added to ``out`` (k - 1, octets, B), zeros of uint8, the first one lowest.
    """
    rows, columns = np.empty(count, dtype=np.uint64), np.empty(count, dtype=np.uint64)
    for i in range(count):
        number = _back(first + np.uint64(i), high, low, start)
        while number >= n:
            number = _back(number, high, low, start)
        rows[i], columns[i] = number // low, number % low
    octets = (count + 7) // 8
    row, column = np.full(8 * octets, n), np.empty(count, dtype=np.uint64)  # beyond the last row are members of none
    for b in range(keys.shape[0]):
        row[:count] = rows
        column[:] = columns
        for turn in range(0, keys.shape[1], 2):
            one, two = keys[b, turn], keys[b, turn + 1]
            for i in range(count):
                moved = row[i] + _moved(column[i], one, high)
                moved -= high if moved >= high else _0
                row[i] = moved
                other = column[i] + _moved(moved, two, low)
                other -= low if other >= low else _0
                column[i] = other
        for i in range(count):
            row[i] = row[i] * low + column[i]
        for i in range(count):
            while row[i] >= n:
                row[i] = _once(row[i], high, low, keys[b])
        before = _0
        for s in range(ends.size):
            width = ends[s] - before
            for octet in range(octets):
                bits = _0
                for j in range(8):
                    inside = _1 if row[8 * octet + j] - before < width else _0  # what is less wraps around to be more
                    bits |= inside << np.uint64(j)
                out[s, octet, b] = bits
            before = ends[s]
