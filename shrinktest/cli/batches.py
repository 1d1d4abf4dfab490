"""Files with more rows than memory, as the arguments of the command line name them: patterns, Parquet and numpy."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from glob import has_magic
from pathlib import Path
from typing import Any

from shrinktest import Batches

_ARRAY = ".npy"
_ENDS = (_ARRAY, ".parquet")  # of files that no other reader of the command line reads

#: Options that such files do not take, with what they are where nobody gave them.
_REFUSED: dict[str, Any] = {
    **{"header": "auto", "decimal": ".", "comment": None, "blocks": None, "groups": None},
    **{"paired": False, "witness": None, "coordinates": None},
}


def in_batches(paths: Sequence[str]) -> bool:
    """Whether the samples of a test are read in batches: where one is a pattern, or a file of Parquet or numpy."""
    return any(has_magic(path) or Path(path).suffix.lower() in _ENDS for path in paths)


def batches_of(paths: Sequence[str], args: argparse.Namespace) -> list[Batches]:
    """The samples in batches; raises ValueError for options that they do not take."""
    for option, unasked in _REFUSED.items():
        if (given := getattr(args, option, unasked)) != unasked and given:
            raise ValueError(f"--{option} is not for files that are read in batches ({', '.join(paths)}); leave it out")
    if args.columns is None:
        return [Batches(path) for path in paths]
    if any(Path(path).suffix.lower() == _ARRAY for path in paths):
        raise ValueError("--columns names columns, and those of .npy files have no names")
    return [Batches(path, columns=[name.strip() for name in args.columns.split(",")]) for path in paths]
