"""Data as users have them: tables, text files, rows on disk, and the numbers for kernels."""
