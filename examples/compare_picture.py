"""The picture of the page on comparing tables: the columns that changed in the gallery's example."""

from __future__ import annotations

import os

from _study import options


def main() -> None:
    args = options(__doc__.splitlines()[0], trials=1, quick=1)
    os.environ.setdefault("MPLBACKEND", "Agg")
    import matplotlib
    from matplotlib.figure import Figure
    from plot_01_two_tables import result

    matplotlib.rcdefaults()  # letters in the gallery are larger
    figure = Figure(layout="constrained")
    result.plot(figure=figure)
    if args.out is not None:
        figure.savefig(args.out / "figures" / "compare.png", dpi=110)


if __name__ == "__main__":
    main()
