"""Folders of the project; importing this module makes studies and benchmarks importable."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
STUDIES = ROOT / "examples" / "studies"
for folder in (STUDIES, ROOT / "examples" / "benchmarks"):
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
