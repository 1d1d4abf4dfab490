"""Compiled loops: the only modules that import numba.

Each module is imported by the function that needs it, so that ``import shrinktest`` compiles nothing.  The loops
release the interpreter lock and hold no state; threads are the business of :mod:`shrinktest.permutations.null`.  They
never raise: what cannot be computed comes back as NaN, and the caller says why.
"""
