"""Rows on disk: files, lazy tables and collections of dask, which are read in chunks."""
