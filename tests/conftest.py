"""What all tests share."""

import os

# Matrices here are small: threads of the linear algebra library would only wait for one another, for minutes on a
# busy machine. It reads these when numpy is first imported.
for library in ("OPENBLAS", "MKL", "OMP"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")
