"""Slow twin of keyed permutations of row numbers: one number at a time, in whole numbers of Python."""

MASK = 2**32 - 1


def mixed(number, key, size):
    value = ((number ^ key) * 0x85EBCA6B) & MASK
    value = ((value ^ (value >> 15)) * 0xC2B2AE35) & MASK
    return (value * size) >> 32


def place(number, n, keys):
    """Where a network takes a number below n."""
    high = next(h for h in range(1, n + 1) if h * h >= n)
    low = -(-n // high)
    while True:
        row, column = divmod(number, low)
        for turn, key in enumerate(keys):
            if turn % 2 == 0:
                row = (row + mixed(column, int(key), high)) % high
            else:
                column = (column + mixed(row, int(key), low)) % low
        number = row * low + column
        if number < n:
            return number
