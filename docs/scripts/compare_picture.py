"""Pictures of columns that changed: of the gallery, for the page on comparing tables, and of the front page."""

from __future__ import annotations

import os
import re
import runpy
from contextlib import redirect_stdout
from io import StringIO

from folders import ROOT

# isort: split
from _study import options

from shrinktest import ComparisonResult


def front() -> ComparisonResult:
    """The result of the code on the front page."""
    names: dict = {}
    with redirect_stdout(StringIO()):
        exec(
            re.search(
                r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL
            )[1],
            names,
        )
    return names["result"]


def main() -> None:
    args = options(__doc__.splitlines()[0], trials=1, quick=1)
    os.environ.setdefault("MPLBACKEND", "Agg")
    import matplotlib
    from matplotlib.figure import Figure

    result = runpy.run_path(str(ROOT / "examples" / "gallery" / "products" / "plot_two_tables.py"))[
        "result"
    ]

    matplotlib.rcdefaults()  # letters in the gallery are larger
    for name, shown in {"compare": result, "front_compare": front()}.items():
        figure = Figure(layout="constrained")
        shown.plot(figure=figure)
        if args.out is not None:
            figure.savefig(args.out / "figures" / f"{name}.png", dpi=110)


if __name__ == "__main__":
    main()
