"""The picture of the page on monitors, from the data of its study: false alarms by the number of looks."""

from __future__ import annotations

import folders  # noqa: F401 - makes the studies importable

# isort: split
import monitor_levels
from _charts import figure
from _study import options, tables_of

from shrinktest.results.plots.axes import BLUE, GRAY, ORANGE

STYLES = {
    "tests": {"color": ORANGE},
    "columns": {"color": ORANGE, "linestyle": "--"},
    "corrected": {"color": GRAY, "linestyle": "--"},
    "monitor": {"color": BLUE},
}


def looks():
    """Return the shares of streams with a false alarm up to every look, of every method."""
    return monitor_levels.kind(tables_of(monitor_levels.NAME)[""], "looks")


def picture():
    """Draw them, with their intervals and the nominal level."""
    looked = looks()
    made, ax = figure(3.2)
    for method, style in STYLES.items():
        some = looked[looked["data"] == monitor_levels.METHODS[method]]
        ax.plot(some["n"], some["rejected"], label=monitor_levels.METHODS[method], **style)
        band = {"color": style["color"], "alpha": 0.2, "linewidth": 0.0}
        ax.fill_between(some["n"], some["low"], some["high"], **band)
    level = monitor_levels.ALPHA
    ax.axhline(level, color="black", linewidth=0.8, linestyle=":", label=f"nominal level {level:g}")
    ax.set_xlabel(f"looks, each at {monitor_levels.BATCH} new rows")
    ax.set_ylabel("streams with a false alarm")
    ax.set_xlim(1, monitor_levels.LOOKS)
    ax.set_ylim(0.0, 1.0)
    made.legend(loc="outside upper center", ncols=2, frameon=False, fontsize="small")
    return made


def values() -> dict[str, str]:
    """Numbers of the sentences below the picture."""
    looked = looks()
    last = looked[looked["n"] == monitor_levels.LOOKS].set_index("data")["rejected"]
    return {
        "repeated": f"{last[monitor_levels.METHODS['tests']]:.0%}",
        "looks": str(monitor_levels.LOOKS),
    }


def main() -> None:
    args = options(__doc__.splitlines()[0], trials=1, quick=1)
    made = picture()
    if args.out is not None:
        made.savefig(args.out / "figures" / "monitor.png", dpi=130)


if __name__ == "__main__":
    main()
