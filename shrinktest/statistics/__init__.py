"""The statistics: what is computed once from kernels and estimators, and what in every relabelling."""
