"""Sums of numbers and of their squares without any rounding, as whole numbers in pieces of 32 bits."""

from __future__ import annotations

import numpy as np

from shrinktest._jit import compiled

SUMS, SQUARES = 68, 134  # pieces, which hold whatever 2^20 floats add up to

_LOW, _HALF, _LEADING = np.int64(0xFFFFFFFF), np.int64(2**26 - 1), np.int64(2**52)
_FRACTION, _EXPONENT = np.int64(2**52 - 1), np.int64(0x7FF)
_0, _1, _5, _26, _27, _31, _32, _52 = (np.int64(number) for number in (0, 1, 5, 26, 27, 31, 32, 52))


@compiled(ordered=True)
def place(number, power, sign, pieces):
    """Add ``sign`` times ``number`` (below 2^62) times 2^``power`` to ``pieces``, the i-th of which counts 2^32i."""
    i, left = power >> _5, power & _31
    low, high = (number & _LOW) << left, (number >> _32) << left
    pieces[i] += sign * (low & _LOW)
    pieces[i + _1] += sign * ((low >> _32) + (high & _LOW))
    pieces[i + 2] += sign * (high >> _32)


@compiled(ordered=True)
def moments(values, sums, squares):
    """Add up the columns of values (n, d), at most 2^20 rows, and their squares.

    ``sums`` (d, SUMS) are in units of 2^-1074, ``squares`` (d, SQUARES) of 2^-2148.
    """
    for i in range(values.shape[0]):
        bits = values[i].view(np.int64)
        for c in range(bits.size):
            power = (bits[c] >> _52) & _EXPONENT
            number = bits[c] & _FRACTION
            if power > _0:
                number |= _LEADING
                power -= _1
            if number == _0:
                continue
            place(number, power, _1 if bits[c] >= _0 else -_1, sums[c])
            high, low = number >> _26, number & _HALF
            power += power
            place(low * low, power, _1, squares[c])
            place(high * low, power + _27, _1, squares[c])
            place(high * high, power + _52, _1, squares[c])
