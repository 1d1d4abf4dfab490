"""Hypotheses given other variables: how these are read, strata, regressions, and a model of X given Z."""
