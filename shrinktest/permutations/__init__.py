"""Permutations of the data under the null hypothesis, and null distributions of statistics."""
