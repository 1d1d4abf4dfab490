"""CSV files on disk, some rows at a time, which are read as they would be in the whole file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shrinktest.data.cells import (
    Looks,
    OddCells,
    kind_of,
    levels_of,
    looks_in,
    plain_numbers,
    type_for,
    values_of,
)
from shrinktest.data.column import DROP
from shrinktest.data.delimited import Delimited, TextOptions, TextSource

if TYPE_CHECKING:
    import pandas as pd

_OPTIONS = TextOptions()


@dataclass(frozen=True, eq=False)
class Scanned:
    """Result of one pass over a file: what its columns look like."""

    text: Delimited
    looks: Mapping[str, Looks]


def text_at(path: Path) -> Delimited:
    """Return how a file is divided; what was found is kept while the file stays as it is."""
    about = path.stat()
    return _text_at(path, about.st_size, about.st_mtime_ns)


def scanned(path: Path, size: int) -> Scanned:
    """Read a file once, ``size`` rows at a time.

    What was found is kept while the file stays as it is.
    """
    about = path.stat()
    return _scanned(path, size, about.st_size, about.st_mtime_ns)


@lru_cache(1000)
def _text_at(path: Path, size: int, changed: int) -> Delimited:
    return Delimited.of(TextSource(str(path), path, _OPTIONS))


@lru_cache(1000)
def _scanned(path: Path, step: int, size: int, changed: int) -> Scanned:
    text = _text_at(path, size, changed)
    looks = dict.fromkeys(text.names, Looks())
    for cells in text.parts(step):
        for name in text.names:
            looks[name] = looks[name].merge(looks_in(cells[name], text.mark, _OPTIONS))
    return Scanned(text, looks)


def kinds_in_text(
    path: Path, size: int, names: Sequence[str], types: Mapping[str, Any]
) -> dict[str, str]:
    """Return how columns are read, by all of their cells, or by ``types`` as users give them."""
    scan = scanned(path, size)
    kinds = {}
    for name in names:
        column_type = "category" if types.get(name) == DROP else types.get(name)
        try:
            kinds[name] = kind_of(scan.looks[name], column_type, scan.text.mark, _OPTIONS)
        except OddCells as odd:
            raise _odd(scan.text, name, odd) from None
    return kinds


def whole_in_text(path: Path, size: int, names: Sequence[str]) -> dict[str, bool | None]:
    """Return, by name, True for integer columns, False for other numbers, None for others."""
    scan = scanned(path, size)
    whole: dict[str, bool | None] = {}
    for name in names:
        try:
            kind = kind_of(scan.looks[name], None, scan.text.mark, _OPTIONS)
        except OddCells:
            kind = "doubtful"
        whole[name] = kind == "whole" if kind in ("whole", "number") else None
    return whole


def frame_of_cells(text: Delimited, cells: pd.DataFrame, kinds: Mapping[str, str]) -> pd.DataFrame:
    """Return cells of some rows of a text as a table with columns of these kinds."""
    import pandas as pd

    series: dict[str, Any] = {}
    for name, kind in kinds.items():
        plain = (
            plain_numbers(cells[name], text.mark, _OPTIONS) if kind in ("whole", "number") else None
        )
        if plain is not None:
            series[name] = plain.values if kind == "whole" else plain.values.astype(float)
            continue
        try:
            series[name] = values_of(*levels_of(cells[name], _OPTIONS), kind, _OPTIONS)
        except OddCells as odd:
            raise _odd(text, name, odd) from None
    return pd.DataFrame(series)


def _odd(text: Delimited, name: str, error: OddCells) -> ValueError:
    problems = [
        f"{text.place(name, odd.text)}: {odd.text!r} {odd.fault}; {type_for(odd, name)}"
        for odd in error.cells
    ]
    return ValueError("; ".join(problems))
