"""The command ``monitor``: files taken one after the other, against a reference or a kept state."""

from __future__ import annotations

from glob import glob
from inspect import signature
from pathlib import Path
from typing import Any

from shrinktest.cli.commands import Command, arguments
from shrinktest.cli.files import File, frames_of, is_pattern, read_files
from shrinktest.cli.options import Typed
from shrinktest.cli.report import check_outputs, report
from shrinktest.data.delimited import TextOptions
from shrinktest.monitor import AlreadyTaken, DriftMonitor

#: Options of a new monitor, which a kept one has already.
_OF_NEW = ("alpha", "run_length", "nan_policy", "seed")


def run_monitor(args: Typed, command: Command) -> int:
    """Take files, keep the state, and report; return the exit code."""
    verb: Any = command.functions[0]
    options = arguments(args, signature(verb).parameters)
    check_outputs(args)
    state = None if args.state is None else Path(args.state)
    known = state is not None and state.exists()
    paths = _paths(args.files)
    if known:
        _refuse_settings(args)
    elif len(paths) < 2 and state is None:
        raise ValueError("pass the reference and another file, or keep the monitor with --state")
    text = {name: value for name in TextOptions.__annotations__ if (value := getattr(args, name))}
    types = args.types or {}
    files = read_files(paths, TextOptions(**text), types)
    names = [[name for name in file.names if types.get(name) != "drop"] for file in files]
    tables = [
        _rows(file, frame, args)
        for file, frame in zip(files, frames_of(files, names, types), strict=True)
    ]
    batches = list(zip(paths, files, tables, strict=True))
    if state is not None and known:
        monitor = verb.load(state)
    else:
        _, _, reference = batches.pop(0)
        own = {name: kind for name, kind in types.items() if name in files[0].names}
        monitor = verb(reference, **({"column_types": own} if own else {}), **options)
    for path, file, table in batches:
        _take(monitor, path, file, table, args)
    if state is not None:
        monitor.save(state)
    return report(args, monitor.result)


def _paths(words: list[str]) -> list[str]:
    """Return the files in the order in which they are taken; those of a pattern by name."""
    paths: list[str] = []
    for word in words:
        matches = sorted(glob(word)) if is_pattern(word) else [word]
        if not matches:
            raise ValueError(f"{word} matches no file")
        paths += matches
    return paths


def _refuse_settings(args: Typed) -> None:
    for name in _OF_NEW:
        if getattr(args, name) is not None:
            option = name.replace("_", "-")
            raise ValueError(
                f"--{option} is for a new monitor, and {args.state} has one; leave it out"
            )


def _rows(file: File, frame: Any, args: Typed) -> Any:
    """Return the rows of a file without the column of their times."""
    if file.array:
        return frame.to_numpy()
    return frame if args.time is None else frame.drop(columns=file.single(args.time, "--time"))


def _take(monitor: DriftMonitor, path: str, file: File, table: Any, args: Typed) -> None:
    """Update a monitor by the rows of a file."""
    name = Path(path).name
    times = Path(path).stem if args.time is None else file.labels(file.single(args.time, "--time"))
    try:
        monitor.update(
            table,
            times=times,
            ordered=not args.unordered,
            source=name,
            again=bool(args.again),
        )
    except AlreadyTaken as error:
        what = str(error).partition(";")[0].replace(repr(name), path).removeprefix("source ")
        raise ValueError(f"{what}; use --again to process it again") from None
