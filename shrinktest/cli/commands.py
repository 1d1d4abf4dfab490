"""The commands of ``shrinktest``, and the parser that knows them."""

from __future__ import annotations

import argparse
from collections.abc import Collection
from importlib import import_module

from shrinktest._version import __version__
from shrinktest.cli.exits import EXIT_CODES

#: Every command and what its help says in one line.  The module of the same name (``two_sample`` for ``two-sample``)
#: has its description and options, ``add_options(command)``, and what it does, ``run(args)``.
COMMANDS = {
    "compare": "what changed between two tables, and how?",
    "two-sample": "do two samples come from the same distribution?",
    "independence": "are two variables independent?",
    "k-sample": "do several samples come from the same distribution?",
    "joint": "are several variables jointly independent?",
    "columns": "in which columns do two samples differ?",
    "matrix": "which columns depend on which?",
    "calibrate": "does a test keep its level on data like these?",
    "power": "how often do the tests reject?",
    "sample-size": "how many observations does a test need?",
    "estimators": "list the estimators, one line each",
}


def parser(words: Collection[str] = tuple(COMMANDS)) -> argparse.ArgumentParser:
    """The parser of ``shrinktest``; ``args.run(args)`` runs the command.

    Parameters
    ----------
    words : collection of str
        What was typed.  Only the commands among these words have their options, so that the modules of the others,
        and what they import, are not loaded; default all.
    """
    program = argparse.ArgumentParser(
        prog="shrinktest",
        description="Kernel two-sample and independence tests with pluggable mean estimators.",
        epilog=EXIT_CODES,
        allow_abbrev=False,
    )
    program.add_argument("--version", action="version", version=f"shrinktest {__version__}")
    commands = program.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, what in COMMANDS.items():
        command = commands.add_parser(name, help=what, allow_abbrev=False)
        if name in words:
            module = import_module(f"shrinktest.cli.{name.replace('-', '_')}")
            module.add_options(command)
            command.set_defaults(run=module.run)
    return program
