"""Statistics: what is computed once from kernels and estimators, and in every relabeling."""
