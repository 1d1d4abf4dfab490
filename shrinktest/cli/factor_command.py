"""The command ``factors``: terms of a design from the columns of one file."""

from __future__ import annotations

from inspect import signature

from shrinktest._check import choice
from shrinktest.cli.commands import Command, arguments
from shrinktest.cli.files import frames_of, read_files
from shrinktest.cli.options import Typed
from shrinktest.cli.report import check_outputs, report
from shrinktest.data.delimited import TextOptions
from shrinktest.data.formula import Formula


def run_factors(args: Typed, command: Command) -> int:
    """Test the terms of a formula, or pairs of levels of one of them; return the exit code."""
    (verb,) = command.functions
    path, formula = args.files
    options = arguments(args, signature(verb).parameters)
    check_outputs(args)
    text = {name: value for name in TextOptions.__annotations__ if (value := getattr(args, name))}
    types = args.types or {}
    (file,) = read_files([path], TextOptions(**text), types)
    parsed = Formula.read(formula)
    for name in ("response", "groups", "blocks"):
        if name in options:
            options[name] = file.select(options[name])
    if "terms" in options:
        joint = [pair for named in options["terms"] for pair in named.items()]
        options["terms"] = dict(joint)
    labels = [name for argument in ("groups", "blocks") for name in options.get(argument, [])]
    response = options.get("response", list(parsed.response))
    for name in sorted(parsed.variables):
        choice(name, file.names, f"a column of {file.source}")
    variables = [name for name in file.names if name in parsed.variables]
    columns = list(dict.fromkeys([*variables, *response, *labels]))
    (table,) = frames_of([file], [columns], types)
    if compared := {name: kind for name, kind in types.items() if name in response}:
        options["column_types"] = compared
    result = verb(formula, table, **options)
    if args.pairwise is not None:
        result = result.pairwise(args.pairwise, rng=options.get("rng"))
    return report(args, result)
