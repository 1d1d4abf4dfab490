"""Samples with more rows than memory: read in batches, and added up in bins."""
