"""The data arguments of tests: samples, variables or rows, from the files and columns of a command."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from shrinktest import Batches
from shrinktest._check import choice
from shrinktest.batches.delimited import AS_TYPED
from shrinktest.cli.files import Table, frames, is_pattern, names_of, read, read_all
from shrinktest.tables.column import DROP


class _Batches(Batches):
    """Files in batches, whose CSV cells are read as those of other files: 02134 is text."""

    _cells = AS_TYPED


Arguments = tuple[list[Any], dict[str, Any]]

#: Options for which the rows of a file must be in memory.
_WHOLE = ("blocks", "groups", "paired", "shift", "covariates", "given", "lags", "witness", "sep", "decimal", "na",
          "thousands", "date_format", "comment")  # fmt: skip


def samples(args: Namespace, options: dict[str, Any], takes: Mapping[str, Any]) -> Arguments:
    """Return samples, one in each file, and the arguments of the test about them; ``takes``: all that it has."""
    names = names_of(args.files)
    about: dict[str, Any] = {"names": names} if "names" in takes else {}
    if _in_batches(args, takes):
        common = None if args.columns is None else _schema(args.files[0], args).select(args.columns)
        data: list[Any] = [_batches(path, common, args) for path in args.files]
        return _called(data, names, takes), {**about, **_types(args, None)}
    tables = read_all(args.files, args)
    _check_types(tables, args)
    labels = _labels(tables[0], options)
    covariates = tables[0].select(options.pop("covariates")) if "covariates" in options else []
    besides = {*labels.values(), *covariates, *_dropped(args)}
    if args.columns is None:
        chosen = [[name for name in table.names if name not in besides] for table in tables]
    else:
        asked = _without_dropped(tables[0].select(args.columns), args)
        _apart(labels, asked, "--columns")
        chosen = [asked] * len(tables)
    for table, own in zip(tables, chosen, strict=True):
        if not own:
            raise ValueError(f"no column of {table.source} is left to test")
        for name in (*labels.values(), *covariates, *(own if args.columns else ())):
            choice(name, table.names, f"a column of {table.source}")
    every = frames(tables, [[*own, *(z for z in covariates if z not in own)] for own in chosen], args)
    data = [frame[own] for frame, own in zip(every, chosen, strict=True)]
    if all(table.array for table in tables) and "A" not in takes:  # as the library has arrays; ``compare`` has tables
        data = [frame.to_numpy() for frame in data]
    if covariates:
        about["covariates"] = tuple(frame[covariates] for frame in every)
    about |= {name: tuple(table.labels(column) for table in tables) for name, column in labels.items()}
    return _called(data, names, takes), {**about, **_types(args, {name for own in chosen for name in own})}


def variables(args: Namespace, options: dict[str, Any], takes: Mapping[str, Any]) -> Arguments:
    """Return variables, each in some columns of one file, and the arguments of the test about them."""
    if len(args.files) != 1:
        raise ValueError("give one file, with columns for --x and --y")
    if getattr(args, "columns", None) is not None:
        raise ValueError("--columns is for samples; give --x and --y")
    (path,) = args.files
    batched = _in_batches(args, takes)
    table = _schema(path, args) if batched else read(path, args)
    _check_types([table], args)
    labels = _labels(table, options)
    others = options.get("given") == "others" and "others" not in table.names
    given = table.select(options.pop("given")) if "given" in options and not others else []
    rest = [name for name in table.names if name not in {*labels.values(), *given, *_dropped(args)}]
    chosen = _variables(table, rest, args, takes)
    apart = chosen[:1] if "candidates" in takes else chosen  # candidates may share columns
    for i, own in enumerate(chosen):
        if twice := [name for other in apart[:i] for name in own if name in other]:
            raise ValueError(f"column {twice[0]!r} is in two variables; a variable is never independent of itself")
    listed = [name for own in chosen for name in own]
    _apart(labels, [*listed, *given], "--x, --y or --given")
    if batched:
        return [_batches(path, own, args) for own in chosen], _types(args, set(listed))
    needed = list(dict.fromkeys([*listed, *given]))
    (frame,) = frames([table], [needed], args)
    about: dict[str, Any] = {name: table.labels(column) for name, column in labels.items()}
    if given:
        about["given"] = frame[given]
    if "names" in takes:
        about["names"] = [", ".join(own) for own in chosen]
    return [frame[own] for own in chosen], {**about, **_types(args, {*listed, *given})}


def rows(args: Namespace, options: dict[str, Any], takes: Mapping[str, Any]) -> Arguments:
    """Return the rows of one file, and the arguments of the test about them."""
    table = read(args.files[0], args)
    _check_types([table], args)
    labels = _labels(table, options)
    time = table.one(options.pop("times"), "--time") if "times" in options else None
    if getattr(args, "sort", False) and time is None:
        raise ValueError("--sort puts rows into the order of --time NAME, which was not given")
    besides = {*labels.values(), *([] if time is None else [time])}
    if args.columns is None:
        chosen = [name for name in table.names if name not in {*besides, *_dropped(args)}]
    else:
        chosen = _without_dropped(table.select(args.columns), args)
        _apart({**labels, **({} if time is None else {"time": time})}, chosen, "--columns")
    if not chosen:
        raise ValueError(f"no column of {table.source} is left to test")
    (frame,) = frames([table], [[*chosen, *([] if time is None else [time])]], args)
    about: dict[str, Any] = {name: table.labels(column) for name, column in labels.items()}
    if time is not None:
        times = frame[time]
        order = times.argsort(kind="stable") if args.sort and not times.isna().any() else np.arange(len(frame))
        frame, times = frame.iloc[order].reset_index(drop=True), times.iloc[order].reset_index(drop=True)
        about = {name: [own[i] for i in order] for name, own in about.items()}
        about["times"] = times.tolist() if times.dtype == object or hasattr(times, "cat") else times.to_numpy()
    return [frame[chosen]], {**about, **_types(args, set(chosen))}


def _variables(table: Table, rest: list[str], args: Namespace, takes: Mapping[str, Any]) -> list[list[str]]:
    """Return the columns of every variable; ``rest``: those that are neither labels nor given."""
    if "variables" in takes:
        if args.variable is None:
            return [[name] for name in rest]
        if len(args.variable) < 2:
            raise ValueError("give two variables or more: one --variable for each, or none for every column")
        return [table.select(one) for one in args.variable]
    x, y = (None if one is None else table.select(one) for one in (args.x, args.y))
    if "method" in takes and "candidates" not in takes:  # every pair of columns
        x = [name for name in rest if name not in (y or ())] if x is None else x
        if not x:
            raise ValueError("no column is left to test; name fewer in --y and --given")
        return [x] if y is None else [x, y]
    if x is None and y is None and len(rest) == 2:
        x, y = [rest[0]], [rest[1]]
    if x is None or y is None:
        raise ValueError(f"give the columns to test as --x and --y; {table.source} has {', '.join(table.names)}")
    if getattr(args, "z", None) is not None:
        return [x, y, table.select(args.z)]
    return [x, y]


def _in_batches(args: Namespace, takes: Mapping[str, Any]) -> bool:
    """Return whether the library reads the files: patterns, Parquet and npy, for tests that add up their rows."""
    if "store" not in takes:
        return False
    special = [is_pattern(path) or Path(path).suffix.lower() in (".parquet", ".npy") for path in args.files]
    asked = getattr(args, "store", None) is not None or getattr(args, "bins", None) is not None
    if any(getattr(args, name, None) for name in _WHOLE):
        if asked:
            raise ValueError("--store and --bins are for files in batches, which the other options read whole")
        return False
    return any(special) or asked


def _batches(path: str, columns: Sequence[Any] | None, args: Namespace) -> Any:
    if columns is not None and path.lower().endswith(".npy"):
        columns = [int(name) for name in columns]
    bins = {} if getattr(args, "bins", None) is None else {"bins": args.bins}
    return _Batches(path, columns=columns, **bins)


def _schema(path: str, args: Namespace) -> Table:
    """Return a table with the names of the columns of files, and no rows."""
    import pyarrow.dataset

    first = sorted(Path().glob(path) if not Path(path).is_absolute() else Path("/").glob(path[1:]))[:1]
    file = str(first[0]) if is_pattern(path) and first else path
    if file.lower().endswith(".npy"):
        shape = np.load(file, mmap_mode="r").shape
        return Table(path, [str(j) for j in range(shape[1] if len(shape) > 1 else 1)], array=True)
    if not file.lower().endswith(".parquet"):
        return Table(path, read(file, args).names)
    return Table(path, pyarrow.dataset.dataset(file, format="parquet").schema.names)


def _called(data: list[Any], names: Sequence[str], takes: Mapping[str, Any]) -> list[Any]:
    """Return samples as the test takes them: a mapping from names, if there are any number."""
    return [dict(zip(names, data, strict=True))] if "samples" in takes else data


def _labels(table: Table, options: dict[str, Any]) -> dict[str, str]:
    """Take the columns of labels out of the options, by argument of the test."""
    return {name: table.one(options.pop(name), f"--{name}") for name in ("blocks", "groups") if name in options}


def _apart(labels: Mapping[str, str], names: Sequence[str], option: str) -> None:
    for label, column in labels.items():
        if column in names:
            raise ValueError(f"column {column!r} is in both --{label} and {option}; labels are not data")


def _check_types(tables: Sequence[Table], args: Namespace) -> None:
    known = list(dict.fromkeys(name for table in tables for name in table.names))
    for name in args.types or ():
        choice(name, known, "a column in --types")


def _types(args: Namespace, names: set[str] | None) -> dict[str, Any]:
    """Return ``column_types=`` for the columns that are tested, if there are any; None: as they were typed."""
    types = {name: kind for name, kind in (args.types or {}).items() if names is None or name in names}
    return {"column_types": types} if types else {}


def _dropped(args: Namespace) -> list[str]:
    return [name for name, kind in (args.types or {}).items() if kind == DROP]


def _without_dropped(names: Sequence[str], args: Namespace) -> list[str]:
    return [name for name in names if name not in _dropped(args)]


def as_numbers(frame: Any) -> Any:
    """Return an array of numbers, of one dimension for one column, as functions of a user's take them."""
    import pandas as pd

    if isinstance(frame, pd.DataFrame):
        for name, series in frame.items():
            if not pd.api.types.is_numeric_dtype(series) or pd.api.types.is_bool_dtype(series):
                raise ValueError(f"column {name!r} is not numeric; leave it out with --types {name}=drop")
        frame = frame.to_numpy(dtype=float, na_value=np.nan)
    return frame[:, 0] if frame.ndim == 2 and frame.shape[1] == 1 else frame
