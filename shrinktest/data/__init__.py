"""Data as people have them: tables, text files, rows on disk, and the numbers that kernels compare."""
