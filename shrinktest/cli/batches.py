"""Files with more rows than memory, as the arguments of the command line name them: patterns, Parquet and numpy."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from glob import has_magic
from pathlib import Path
from typing import Any

from shrinktest import Batches
from shrinktest.batches.delimited import AS_TYPED
from shrinktest.cli.input import READING, different, told_apart
from shrinktest.cli.table import TextTable
from shrinktest.cli.values import whole
from shrinktest.data.column import DROP
from shrinktest.data.sources import BINS
from shrinktest.data.storage import columns_in, names_in, paths_in

_ARRAY = ".npy"
_ENDS = (_ARRAY, ".parquet")  # of files that no other reader of the command line reads

#: Options that such files do not take, with what they are where nobody gave them.
_REFUSED: dict[str, Any] = {
    **READING,
    **{"blocks": None, "groups": None, "paired": False, "witness": None, "coordinates": None},
}


class TypedBatches(Batches):
    """Files in batches, of which those of CSV have the same missing values as others that the command line reads."""

    _cells = AS_TYPED


def in_batches(paths: Sequence[str]) -> bool:
    """Whether the samples of a test are read in batches: where one is a pattern, or a file of Parquet or numpy."""
    return any((has_magic(path) and not Path(path).exists()) or Path(path).suffix.lower() in _ENDS for path in paths)


def add_store(command: argparse.ArgumentParser) -> None:
    """Add the option for the file that keeps what was found of such samples."""
    what = "of files read in batches, keep the sums here: with a --seed, the same command goes on where it was stopped"
    command.add_argument("--store", metavar="FILE.npz", help=what)


def add_bins(command: argparse.ArgumentParser) -> None:
    """Add the options of samples that are read in batches."""
    add_store(command)
    what = f"of files read in batches, about how many bins of rows are permuted ({BINS})"
    command.add_argument("--bins", metavar="N", type=whole, help=what)


def refuse_batched(args: argparse.Namespace, paths: Sequence[str]) -> None:
    """Raise ValueError for options of files that are read in batches, where these are read whole."""
    instead = "leave it out, or give patterns such as 'before/*.csv', .parquet or .npy files"
    whole = f"{', '.join(paths)} would be read whole; {instead}"
    if args.store is not None:
        raise ValueError(f"--store {args.store} keeps the sums of files that are read in batches, and {whole}")
    if getattr(args, "bins", None) is not None:
        raise ValueError(f"--bins {args.bins} is for files that are read in batches, and {whole}")


def batches_of(paths: Sequence[str], args: argparse.Namespace) -> dict[str, Batches]:
    """The samples in batches, by what they are called; raises ValueError for options that they do not take."""
    _refuse(paths, args)
    names = told_apart(paths, str)
    bins = BINS if args.bins is None else args.bins
    if args.columns is None:
        return {name: TypedBatches(path, bins=bins) for name, path in zip(names, paths, strict=True)}
    if any(Path(path).suffix.lower() == _ARRAY for path in paths):
        raise ValueError("--columns names columns, and those of .npy files have no names")
    columns = _columns(paths[0], args.columns)
    return {name: TypedBatches(path, columns=columns, bins=bins) for name, path in zip(names, paths, strict=True)}


def pairs_in(path: str, args: argparse.Namespace) -> tuple[Batches, Batches]:
    """The variables of a file in batches, ``--x`` and ``--y``; raises ValueError for options that they do not take."""
    _refuse([path], args)
    if args.x is None and args.y is None and len(two := _variables(path, args.types or {})) == 2:
        x, y = [two[0]], [two[1]]
    elif args.x is None or args.y is None:
        raise ValueError(f"say which columns of {path} to test with both --x and --y, such as --x a,b --y c")
    else:
        x, y = (_columns(path, given) for given in (args.x, args.y))
    different(x, y)
    return TypedBatches(path, columns=x), TypedBatches(path, columns=y)


def _variables(path: str, types: dict[str, Any]) -> list[Any]:
    """The columns of files but for those that ``--types`` drops; numbers of those of an array."""
    first = paths_in(path, path)[0]
    names = names_in(first, AS_TYPED)
    return [*range(columns_in(first))] if names is None else [name for name in names if types.get(name) != DROP]


def _columns(path: str, given: str) -> list[Any]:
    """Names of columns, by name or position as in other files; numbers of those of an array, which have none."""
    if Path(path).suffix.lower() == _ARRAY:
        columns = [one.strip() for one in given.split(",")]
        if not all(one.isdecimal() for one in columns):
            raise ValueError(f"columns of .npy files have numbers, from 0 on, and no names; got {given!r}")
        return [int(one) for one in columns]
    first = paths_in(path, path)[0]
    return [*TextTable(str(first), names_in(first, AS_TYPED) or (), [], []).select(given)]


def _refuse(paths: Sequence[str], args: argparse.Namespace) -> None:
    for option, unasked in _REFUSED.items():
        if f"--{option}" in getattr(args, "typed", ()) or getattr(args, option, unasked) not in (unasked, None, False):
            raise ValueError(f"--{option} is not for files that are read in batches ({', '.join(paths)}); leave it out")
