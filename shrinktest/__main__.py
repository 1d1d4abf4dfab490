"""``python -m shrinktest``: the command line, where the command itself is not on the path."""

import sys

from shrinktest.cli import main

if __name__ == "__main__":
    sys.exit(main())
