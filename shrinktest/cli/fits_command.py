"""The command ``fits``: rows of a file against a model, which is a function of a module."""

from __future__ import annotations

from inspect import signature

from shrinktest.cli import data, values
from shrinktest.cli.commands import Command, arguments
from shrinktest.cli.options import Typed
from shrinktest.cli.report import check_outputs, report


def run_fits(args: Typed, command: Command) -> int:
    """Test rows against a model, all columns together or each by itself; return the exit code."""
    (verb,) = command.functions
    path, model = args.files
    args.files = [path]
    takes = signature(verb).parameters
    options = arguments(args, takes)
    check_outputs(args)
    if args.by_column and args.effect:
        raise ValueError("--effect is of all columns together; leave it out")
    if "fit" in options:
        options["fit"] = values.function(options["fit"], "--fit")
    samples, about = data.rows(args, options, takes)
    simulate = values.function(model, "MODEL")
    result = verb(*samples, simulate, **about, **options)
    if args.by_column:
        result = result.columns(rng=options.get("rng"))
    return report(args, result)
