"""``python -m shrinktest.cli``."""

import sys

from shrinktest.cli import main

sys.exit(main())
