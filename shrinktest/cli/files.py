"""The files that a command writes: each has a name of its own, which is not that of a file it reads."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from glob import glob, has_magic
from pathlib import Path

from shrinktest.cli.input import PACKAGED

#: Options that name files to write, and arguments that name files to read.
WRITTEN = ("store", "csv", "html", "plot", "witness")
READ = ("first", "second", "files", "samples", "data")


def refuse_same(args: argparse.Namespace) -> None:
    """Raise ValueError where a command would write over what it reads, or two results into one file."""
    named = [(f"--{option}", path) for option in WRITTEN if (path := getattr(args, option, None)) is not None]
    for place, (option, path) in enumerate(named):
        for other, beside in named[:place]:
            if _same(path, beside):
                raise ValueError(f"{other} and {option} both name {path}; give each a file of its own")
        for read in _read(args):
            if _same(path, read):
                raise ValueError(f"{option} {path} would be written over {read}, which is read; give it another name")


def _read(args: argparse.Namespace) -> Iterator[str]:
    """The files that a command reads, those of patterns one by one."""
    for name in READ:
        given = getattr(args, name, None)
        for path in [given] if isinstance(given, str) else given or ():
            if has_magic(path) and not Path(path).exists():
                yield from glob(path)
            elif path != "-" and path not in PACKAGED:
                yield path


def _same(path: str, other: str) -> bool:
    """Whether both name one file, whether there is one or not; devices such as /dev/null may be named twice."""
    if os.path.exists(path) and os.path.exists(other):
        return os.path.isfile(path) and os.path.samefile(path, other)
    return os.path.normcase(os.path.realpath(path)) == os.path.normcase(os.path.realpath(other))
