"""Twins in numpy of some compiled loops, bit for bit: what a small test runs before numba is worth its loading."""
