"""Data arguments of tests: samples, variables or rows, from files and columns of a command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from glob import glob
from pathlib import Path
from typing import Any

import numpy as np

from shrinktest import Batches
from shrinktest._check import choice
from shrinktest.cli.files import File, frames_of, is_pattern, names_of, read_files
from shrinktest.cli.options import NAN_POLICY, Typed
from shrinktest.data.delimited import TextOptions
from shrinktest.results.info import INDEPENDENCE, TWO_SAMPLE, TestInfo

Arguments = tuple[list[Any], dict[str, Any]]

#: Options for which the rows of a file must be in memory.
_WHOLE = (
    *("blocks", "groups", "paired", "block_length", "covariates", "given", "lags", "witness", "by"),
    *TextOptions.__annotations__,
)


def samples(args: Typed, options: dict[str, Any], takes: Mapping[str, Any]) -> Arguments:
    """Return samples, one in each file, and the arguments of the test about them.

    ``takes``: all that it has.
    """
    names = names_of(args.files)
    about: dict[str, Any] = {"names": names} if "names" in takes else {}
    files = _files(args, takes)
    if "samples" in takes and "by" in options:
        return _by_column(files, args, options, takes)
    labels = _labels(files[0], options)
    covariates = files[0].select(options.pop("covariates")) if "covariates" in options else []
    by = [files[0].single(options.pop("by"), "--by")] if "by" in options else []
    others = [*covariates, *by]
    chosen = [_chosen(files[0] if args.columns else file, args, labels, others) for file in files]
    for file, own in zip(files, chosen, strict=True):
        for name in (*labels.values(), *others, *(own if args.columns else ())):
            choice(name, file.names, f"a column of {file.source}")
    if _in_batches(args, takes):
        some = args.columns is not None or args.types  # else the library may match the columns
        data: list[Any] = [
            _batches(file, own if some else None, args)
            for file, own in zip(files, chosen, strict=True)
        ]
    else:
        tables = _frames(files, [[*dict.fromkeys([*own, *others])] for own in chosen], args, takes)
        data = [
            table[[*dict.fromkeys([*own, *by])]] for table, own in zip(tables, chosen, strict=True)
        ]
        about |= {"by": by[0]} if by else {}
        if (
            all(file.array for file in files) and "A" not in takes
        ):  # as the library has arrays; ``compare`` has tables
            data = [table.to_numpy() for table in data]
        if covariates:
            about["covariates"] = tuple(table[covariates] for table in tables)
    about |= {name: tuple(file.labels(column) for file in files) for name, column in labels.items()}
    about |= _types(args, {name for own in chosen for name in own})
    return [dict(zip(names, data, strict=True))] if "samples" in takes else data, about


def _by_column(
    files: Sequence[File], args: Typed, options: dict[str, Any], takes: Mapping[str, Any]
) -> Arguments:
    """Return one table, the column that splits it into samples, and the labels of its rows."""
    if len(files) > 1:
        raise ValueError("--by splits one file into samples; pass one file, or leave it out")
    (file,) = files
    by = file.single(options.pop("by"), "--by")
    labels = _labels(file, options)
    chosen = _chosen(file, args, {**labels, "by": by})
    (table,) = _frames([file], [[*chosen, by]], args, takes)
    about: dict[str, Any] = {name: file.labels(column) for name, column in labels.items()}
    return [table], {"by": by, **about, **_types(args, {*chosen})}


def variables(args: Typed, options: dict[str, Any], takes: Mapping[str, Any]) -> Arguments:
    """Return variables, each in columns of one file, and the related arguments of the test."""
    if args.columns is not None:
        raise ValueError("--columns is for samples; use --x and --y")
    (file,) = _files(args, takes)
    labels = _labels(file, options)
    others = options.get("given") == "others" and "others" not in file.names
    given = file.select(options.pop("given")) if "given" in options and not others else []
    rest = [name for name in file.names if name not in {*labels.values(), *given, *_dropped(args)}]
    chosen = _variables(file, rest, args, takes)
    apart = chosen[:1] if "candidates" in takes else chosen  # candidates may share columns
    for i, own in enumerate(chosen):
        if twice := [name for other in apart[:i] for name in own if name in other]:
            raise ValueError(
                f"column {twice[0]!r} is in two variables; a variable is never independent of "
                "itself"
            )
    needed = list(dict.fromkeys([*(name for own in chosen for name in own), *given]))
    _apart(labels, needed, "--x, --y or --given")
    about = {name: file.labels(column) for name, column in labels.items()} | _types(args, {*needed})
    if _in_batches(args, takes):
        return [_batches(file, own, args) for own in chosen], about
    (table,) = _frames([file], [needed], args, takes)
    about |= {"given": table[given]} if given else {}
    about |= {"names": [", ".join(own) for own in chosen]} if "names" in takes else {}
    return [table[own] for own in chosen], about


def rows(args: Typed, options: dict[str, Any], takes: Mapping[str, Any]) -> Arguments:
    """Return the rows of one file, and the arguments of the test about them."""
    (file,) = _files(args, takes)
    labels = _labels(file, options)
    time = file.single(options.pop("times"), "--time") if "times" in options else None
    if args.sort and time is None:
        raise ValueError("--sort puts rows into the order of --time NAME, which was not given")
    chosen = _chosen(file, args, labels if time is None else {**labels, "time": time})
    (table,) = _frames([file], [[*chosen, *([] if time is None else [time])]], args, takes)
    about: dict[str, Any] = {name: file.labels(column) for name, column in labels.items()}
    if time is not None:
        times = table[time]
        order = (
            times.argsort(kind="stable")
            if args.sort and not times.isna().any()
            else np.arange(len(table))
        )
        table = table.iloc[order].reset_index(drop=True)
        times = times.iloc[order].reset_index(drop=True)
        about = {name: [own[i] for i in order] for name, own in about.items()}
        about["times"] = (
            times.tolist() if times.dtype == object or hasattr(times, "cat") else times.to_numpy()
        )
    return [table[chosen]], {**about, **_types(args, set(chosen))}


def two(args: Typed) -> tuple[TestInfo, Any]:
    """Return the kind of two-sample or two-variable test, and the reader of its data.

    Two samples are in two files, two variables in one.
    """
    if len(args.files) > 2:
        raise ValueError("pass two files, or one with --x and --y")
    if len(args.files) == 1:
        return INDEPENDENCE, variables
    if (args.x, args.y) != (None, None):
        raise ValueError("--x and --y are for two variables in one file; two files are two samples")
    return TWO_SAMPLE, samples


def as_numbers(table: Any) -> Any:
    """Return an array of numbers, one-dimensional for one column, as user functions take it."""
    try:
        values = np.asarray(table, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(
            "--test and --given need columns of numbers; leave others out with --types NAME=drop"
        ) from None
    return values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values


def _variables(
    file: File, rest: list[str], args: Typed, takes: Mapping[str, Any]
) -> list[list[str]]:
    """Return the columns of every variable; ``rest``: those that are neither labels nor given."""
    if "variables" in takes:
        if args.variable is None:
            return [[name] for name in rest]
        if len(args.variable) < 2:
            raise ValueError(
                "pass two variables or more: one --variable for each, or none for every column"
            )
        return [file.select(names) for names in args.variable]
    x, y = (None if names is None else file.select(names) for names in (args.x, args.y))
    if "method" in takes and "candidates" not in takes:  # every pair of columns
        x = [name for name in rest if name not in (y or ())] if x is None else x
        return [_require(x, file)] if y is None else [_require(x, file), y]
    if x is None and y is None and len(rest) == 2:
        x = [rest[0]]
        y = [rest[1]]
    if x is None or y is None:
        raise ValueError(
            f"pass the columns to test as --x and --y; {file.source} has {', '.join(file.names)}"
        )
    return [x, y] if args.z is None else [x, y, file.select(args.z)]


def _files(args: Typed, takes: Mapping[str, Any]) -> list[File]:
    """Return the files of a command, with their rows unless the library reads these in batches."""
    if _in_batches(args, takes):
        files = [File(path, _names_in(path), array=path.endswith(".npy")) for path in args.files]
    else:
        options = {
            name: value for name in TextOptions.__annotations__ if (value := getattr(args, name))
        }
        files = read_files(args.files, TextOptions(**options), args.types)
    known = list(dict.fromkeys(name for file in files for name in file.names))
    for name in args.types:
        choice(name, known, "a column in --types")
    return files


def _names_in(path: str) -> list[str]:
    """Return the names of the columns of files, without their rows."""
    if not path.endswith(".npy"):
        return list(Batches(path).names(path) or ())
    shape = np.load(next(iter(sorted(glob(path))), path), mmap_mode="r").shape
    return [str(j) for j in range(shape[1] if len(shape) > 1 else 1)]


def _frames(
    files: Sequence[File], names: Sequence[Sequence[str]], args: Typed, takes: Mapping[str, Any]
) -> list[Any]:
    """Return columns of files.

    Raise Problems with the problems of all of them, missing values included.
    """
    policy = args.nan_policy or (NAN_POLICY if "nan_policy" in takes else "")
    gaps = "use --nan-policy omit or indicator" if policy == "raise" else ""
    text = "" if "times" in takes else "use --types for it, =drop or =category"
    return frames_of(files, names, args.types, (gaps, text))


def _in_batches(args: Typed, takes: Mapping[str, Any]) -> bool:
    """Return whether the library reads the files.

    It reads patterns, Parquet and npy, for tests that add up their rows.
    """
    if "store" not in takes:
        return False
    special = any(
        is_pattern(path) or Path(path).suffix.lower() in (".parquet", ".npy") for path in args.files
    )
    batched = args.store is not None or args.bins is not None
    whole = any(getattr(args, name, None) for name in _WHOLE)
    if whole and batched:
        raise ValueError(
            "--store and --bins are for files in batches, which the other options read whole"
        )
    return not whole and (special or batched)


def _batches(file: File, columns: Sequence[Any] | None, args: Typed) -> Any:
    if columns is not None and file.array:
        columns = [int(name) for name in columns]
    bins = {} if args.bins is None else {"bins": args.bins}
    return Batches(file.source, columns=columns, **bins)


def _labels(file: File, options: dict[str, Any]) -> dict[str, str]:
    """Take the columns of labels out of the options, by argument of the test."""
    return {
        name: file.single(options.pop(name), f"--{name}")
        for name in ("blocks", "groups")
        if name in options
    }


def _chosen(
    file: File, args: Typed, labels: Mapping[str, str], others: Sequence[str] = ()
) -> list[str]:
    """Return the columns of --columns, or all but labels and others, less the dropped ones."""
    if args.columns is None:
        names = [name for name in file.names if name not in {*labels.values(), *others}]
    else:
        names = file.select(args.columns)
        _apart(labels, names, "--columns")
    return _require([name for name in names if name not in _dropped(args)], file)


def _apart(labels: Mapping[str, str], names: Sequence[str], option: str) -> None:
    for label, column in labels.items():
        if column in names:
            raise ValueError(
                f"column {column!r} is in both --{label} and {option}; labels are not data"
            )


def _require(names: list[str], file: File) -> list[str]:
    if not names:
        raise ValueError(f"no column of {file.source} is left to test")
    return names


def _types(args: Typed, names: set[str]) -> dict[str, Any]:
    """Return ``column_types=`` for the columns that are tested, if there are any."""
    types = {name: kind for name, kind in args.types.items() if name in names}
    return {"column_types": types} if types else {}


def _dropped(args: Typed) -> list[str]:
    return [name for name, kind in args.types.items() if kind == "drop"]
