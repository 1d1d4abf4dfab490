"""The data arguments of tests: samples, variables or rows, from the files and columns of a command."""

from __future__ import annotations

import csv
from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from shrinktest import Batches
from shrinktest._check import choice, counted
from shrinktest.batches.delimited import AS_TYPED
from shrinktest.data.delimited import TextOptions
from shrinktest.data.files import File, Problems, frames_of, is_pattern, names_of, read_files

Arguments = tuple[list[Any], dict[str, Any]]

#: Options for which the rows of a file must be in memory.
_WHOLE = ("blocks", "groups", "paired", "shift", "covariates", "given", "lags", "witness", "sep", "decimal", "na",
          "thousands", "date_format", "comment", "skip_rows", "encoding", "header")  # fmt: skip


class _Batches(Batches):
    """Files in batches, whose CSV cells are read as those of other files: 02134 is text."""

    _cells = AS_TYPED


def samples(args: Namespace, options: dict[str, Any], takes: Mapping[str, Any]) -> Arguments:
    """Return samples, one in each file, and the arguments of the test about them; ``takes``: all that it has."""
    names = names_of(args.files)
    about: dict[str, Any] = {"names": names} if "names" in takes else {}
    files = _files(args, takes)
    labels = _labels(files[0], options)
    covariates = select(files[0], options.pop("covariates")) if "covariates" in options else []
    if args.columns is None:
        apart = {*labels.values(), *covariates, *_dropped(args)}
        chosen = [[name for name in file.names if name not in apart] for file in files]
    else:
        chosen = [_selected(files[0], args, labels)] * len(files)
    for file, own in zip(files, chosen, strict=True):
        _require(own, file)
        for name in (*labels.values(), *covariates, *(own if args.columns else ())):
            choice(name, file.names, f"a column of {file.source}")
    if _in_batches(args, takes):
        data: list[Any] = [_batches(file, own if args.columns else None, args)
                           for file, own in zip(files, chosen, strict=True)]  # fmt: skip
    else:
        tables = _frames(files, [[*own, *(z for z in covariates if z not in own)] for own in chosen], args, takes)
        data = [table[own] for table, own in zip(tables, chosen, strict=True)]
        if all(file.array for file in files) and "A" not in takes:  # as the library has arrays; ``compare`` has tables
            data = [table.to_numpy() for table in data]
        if covariates:
            about["covariates"] = tuple(table[covariates] for table in tables)
    about |= {name: tuple(file.labels(column) for file in files) for name, column in labels.items()}
    about |= _types(args, {name for own in chosen for name in own})
    return [dict(zip(names, data, strict=True))] if "samples" in takes else data, about


def variables(args: Namespace, options: dict[str, Any], takes: Mapping[str, Any]) -> Arguments:
    """Return variables, each in some columns of one file, and the arguments of the test about them."""
    if len(args.files) != 1:
        raise ValueError("give one file, with columns for --x and --y")
    if getattr(args, "columns", None) is not None:
        raise ValueError("--columns is for samples; give --x and --y")
    (file,) = _files(args, takes)
    labels = _labels(file, options)
    others = options.get("given") == "others" and "others" not in file.names
    given = select(file, options.pop("given")) if "given" in options and not others else []
    rest = [name for name in file.names if name not in {*labels.values(), *given, *_dropped(args)}]
    chosen = _variables(file, rest, args, takes)
    apart = chosen[:1] if "candidates" in takes else chosen  # candidates may share columns
    for i, own in enumerate(chosen):
        if twice := [name for other in apart[:i] for name in own if name in other]:
            raise ValueError(f"column {twice[0]!r} is in two variables; a variable is never independent of itself")
    needed = list(dict.fromkeys([*(name for own in chosen for name in own), *given]))
    _apart(labels, needed, "--x, --y or --given")
    about = {name: file.labels(column) for name, column in labels.items()} | _types(args, {*needed})
    if _in_batches(args, takes):
        return [_batches(file, own, args) for own in chosen], about
    (table,) = _frames([file], [needed], args, takes)
    about |= {"given": table[given]} if given else {}
    about |= {"names": [", ".join(own) for own in chosen]} if "names" in takes else {}
    return [table[own] for own in chosen], about


def rows(args: Namespace, options: dict[str, Any], takes: Mapping[str, Any]) -> Arguments:
    """Return the rows of one file, and the arguments of the test about them."""
    (file,) = _files(args, takes)
    labels = _labels(file, options)
    time = _one(file, options.pop("times"), "--time") if "times" in options else None
    if getattr(args, "sort", False) and time is None:
        raise ValueError("--sort puts rows into the order of --time NAME, which was not given")
    apart = labels if time is None else {**labels, "time": time}
    chosen = [name for name in file.names if name not in {*apart.values(), *_dropped(args)}]
    if args.columns is not None:
        chosen = _selected(file, args, apart)
    _require(chosen, file)
    (table,) = _frames([file], [[*chosen, *([] if time is None else [time])]], args, takes)
    about: dict[str, Any] = {name: file.labels(column) for name, column in labels.items()}
    if time is not None:
        times = table[time]
        order = times.argsort(kind="stable") if args.sort and not times.isna().any() else np.arange(len(table))
        table, times = table.iloc[order].reset_index(drop=True), times.iloc[order].reset_index(drop=True)
        about = {name: [own[i] for i in order] for name, own in about.items()}
        about["times"] = times.tolist() if times.dtype == object or hasattr(times, "cat") else times.to_numpy()
    return [table[chosen]], {**about, **_types(args, set(chosen))}


def select(file: File, wanted: str) -> list[str]:
    """Return names of columns from a list such as ``a,b`` or ``2:5``; a number that is no name is a position."""
    chosen: list[str] = []
    for item in next(csv.reader([wanted], skipinitialspace=True), []):
        first, colon, last = item.strip().partition(":")
        if item.strip() in file.names or not colon:
            first = last = item.strip()
        chosen += file.names[_place(file, first) : _place(file, last) + 1]
    if not chosen or len(set(chosen)) < len(chosen):
        raise ValueError(f"{wanted!r} must name one or more columns of {file.source}, each once")
    return chosen


def as_numbers(frame: Any) -> Any:
    """Return an array of numbers, of one dimension for one column, as functions of a user's take them."""
    import pandas as pd

    if isinstance(frame, pd.DataFrame):
        for name, series in frame.items():
            if not pd.api.types.is_numeric_dtype(series) or pd.api.types.is_bool_dtype(series):
                raise ValueError(f"column {name!r} is not numeric; leave it out with --types {name}=drop")
        frame = frame.to_numpy(dtype=float, na_value=np.nan)
    return frame[:, 0] if frame.ndim == 2 and frame.shape[1] == 1 else frame


def _variables(file: File, rest: list[str], args: Namespace, takes: Mapping[str, Any]) -> list[list[str]]:
    """Return the columns of every variable; ``rest``: those that are neither labels nor given."""
    if "variables" in takes:
        if args.variable is None:
            return [[name] for name in rest]
        if len(args.variable) < 2:
            raise ValueError("give two variables or more: one --variable for each, or none for every column")
        return [select(file, names) for names in args.variable]
    x, y = (None if names is None else select(file, names) for names in (args.x, args.y))
    if "method" in takes and "candidates" not in takes:  # every pair of columns
        x = [name for name in rest if name not in (y or ())] if x is None else x
        return [_require(x, file)] if y is None else [_require(x, file), y]
    if x is None and y is None and len(rest) == 2:
        x, y = [rest[0]], [rest[1]]
    if x is None or y is None:
        raise ValueError(f"give the columns to test as --x and --y; {file.source} has {', '.join(file.names)}")
    return [x, y] if getattr(args, "z", None) is None else [x, y, select(file, args.z)]


def _files(args: Namespace, takes: Mapping[str, Any]) -> list[File]:
    """Return the files of a command, with their rows unless the library reads these in batches."""
    if _in_batches(args, takes):
        files = [File(path, [str(name) for name in Batches(path).names(path) or ["0"]], array=path.endswith(".npy"))
                 for path in args.files]  # fmt: skip
    else:
        files = read_files(args.files, text_options(args), args.types)
    known = list(dict.fromkeys(name for file in files for name in file.names))
    for name in args.types:
        choice(name, known, "a column in --types")
    return files


def text_options(args: Namespace) -> TextOptions:
    """Return how text is read, from the options of a command."""
    typed = {field.name: getattr(args, field.name, None) for field in fields(TextOptions)}
    return TextOptions(**{
        name: tuple(value) if isinstance(value, list) else value for name, value in typed.items() if value is not None
    })  # fmt: skip


def _frames(
    files: Sequence[File], names: Sequence[Sequence[str]], args: Namespace, takes: Mapping[str, Any]
) -> list[Any]:
    """Return columns of files; raise Problems with those of all of them, missing values included."""
    try:
        return frames_of(files, names, args.types)
    except Problems as error:
        policy = getattr(args, "nan_policy", takes["nan_policy"].default if "nan_policy" in takes else "")
        gaps = [(file.source, file.gaps(own)) for file, own in zip(files, names, strict=True) if policy == "raise"]
        missing = [f"{source}: values are missing in {', '.join(own)}; give --nan-policy omit or indicator"
                   for source, own in gaps if own]  # fmt: skip
        raise Problems([*error.problems, *missing]) from None


def _in_batches(args: Namespace, takes: Mapping[str, Any]) -> bool:
    """Return whether the library reads the files: patterns, Parquet and npy, for tests that add up their rows."""
    if "store" not in takes:
        return False
    special = any(is_pattern(path) or Path(path).suffix.lower() in (".parquet", ".npy") for path in args.files)
    batched = getattr(args, "store", None) is not None or getattr(args, "bins", None) is not None
    whole = any(getattr(args, name, None) for name in _WHOLE)
    if whole and batched:
        raise ValueError("--store and --bins are for files in batches, which the other options read whole")
    return not whole and (special or batched)


def _batches(file: File, columns: Sequence[Any] | None, args: Namespace) -> Any:
    if columns is not None and file.array:
        columns = [int(name) for name in columns]
    bins = {} if getattr(args, "bins", None) is None else {"bins": args.bins}
    return _Batches(file.source, columns=columns, **bins)


def _place(file: File, item: str) -> int:
    first = 0 if file.array else 1
    if item not in file.names and item.isdecimal():
        if first <= int(item) < len(file.names) + first:
            return int(item) - first
        columns = counted(len(file.names), "column")
        raise ValueError(f"{file.source} has {columns}; there is none at position {item}, counted from {first}")
    return file.names.index(choice(item, file.names, f"a column of {file.source}"))


def _one(file: File, wanted: str, option: str) -> str:
    names = [wanted] if wanted in file.names else select(file, wanted)
    if len(names) > 1:
        raise ValueError(f"{option} is one column; {wanted!r} names {', '.join(names)}")
    return names[0]


def _labels(file: File, options: dict[str, Any]) -> dict[str, str]:
    """Take the columns of labels out of the options, by argument of the test."""
    return {name: _one(file, options.pop(name), f"--{name}") for name in ("blocks", "groups") if name in options}


def _selected(file: File, args: Namespace, labels: Mapping[str, str]) -> list[str]:
    """Return the columns of --columns that are not dropped, and are none of the labels."""
    names = [name for name in select(file, args.columns) if name not in _dropped(args)]
    _apart(labels, names, "--columns")
    return names


def _apart(labels: Mapping[str, str], names: Sequence[str], option: str) -> None:
    for label, column in labels.items():
        if column in names:
            raise ValueError(f"column {column!r} is in both --{label} and {option}; labels are not data")


def _require(names: list[str], file: File) -> list[str]:
    if not names:
        raise ValueError(f"no column of {file.source} is left to test")
    return names


def _types(args: Namespace, names: set[str]) -> dict[str, Any]:
    """Return ``column_types=`` for the columns that are tested, if there are any."""
    types = {name: kind for name, kind in args.types.items() if name in names}
    return {"column_types": types} if types else {}


def _dropped(args: Namespace) -> list[str]:
    return [name for name, kind in args.types.items() if kind == "drop"]
