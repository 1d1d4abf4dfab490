"""The command line: ``shrinktest``, or ``python -m shrinktest``.

It has no statistics of its own.
"""

from shrinktest.cli.entry import main

__all__ = ["main"]
