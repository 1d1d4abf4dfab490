"""Hypotheses given other variables: how these are read, strata, regressions, and X given Z.

The last is a model of X given Z.
"""
