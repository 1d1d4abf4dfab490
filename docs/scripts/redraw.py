"""Draw every figure of the pages again, and fail where one differs from the file: its data or its script has changed.

``python docs/scripts/redraw.py`` draws into a temporary folder, with ``--write`` into the pages' own.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from folders import DOCS

# isort: split
from fill import draw
from PIL import Image

SCRIPTS = sorted(Path(__file__).parent.glob("*_picture*.py"))
#: Figures of studies that simulate what they draw, and write it into no table.
SIMULATED = {"risk_study.png"}
#: Root mean square difference of two pictures, of 255: rounding, and letters of another version of matplotlib.
ROUNDING = 1.0
LETTERS = 20.0


def drawn(folder: Path) -> None:
    """Draw all figures: those of the studies from their data files, and others by their scripts."""
    (folder / "figures").mkdir(exist_ok=True)
    draw(folder / "figures")
    for script in SCRIPTS:
        subprocess.run([sys.executable, script, "--out", folder], check=True, capture_output=True)


def stale(folder: Path) -> Iterator[str]:
    """Yield figures that differ from those drawn in a folder."""
    for path in sorted((DOCS / "figures").glob("*.png")):
        again = folder / "figures" / path.name
        if path.name in SIMULATED:
            continue
        if not again.exists():
            yield f"{path.name} is drawn by no script"
        elif differ(Image.open(path), Image.open(again)):
            yield f"{path.name} is not what its data and its script draw: run docs/scripts/redraw.py --write"


def differ(first: Image.Image, second: Image.Image) -> bool:
    """Return whether two pictures differ by more than rounding or, of two versions of matplotlib, letters."""
    if first.size != second.size:
        return True
    least = ROUNDING if first.info.get("Software") == second.info.get("Software") else LETTERS
    colors = (np.asarray(picture.convert("RGB"), dtype=float) for picture in (first, second))
    return bool(np.sqrt(np.square(np.subtract(*colors)).mean()) > least)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="draw into the folder of the pages")
    args = parser.parse_args()
    if args.write:
        drawn(DOCS)
        return
    with TemporaryDirectory() as folder:
        drawn(Path(folder))
        faults = [*stale(Path(folder))]
    print("\n".join(faults))
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
