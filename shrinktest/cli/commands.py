"""The commands of ``shrinktest``, and the parser that knows them."""

from __future__ import annotations

import argparse
import re
from collections.abc import Collection
from importlib import import_module
from typing import Any, NoReturn

from shrinktest._check import choice
from shrinktest._version import __version__
from shrinktest.cli.exits import EXIT_CODES, WRONG

#: Every command and what its help says in one line.  The module of the same name (``two_sample`` for ``two-sample``)
#: has its description and options, ``add_options(command)``, and what it does, ``run(args)``.
COMMANDS = {
    "compare": "what changed between two tables, and how?",
    "two-sample": "do two samples come from the same distribution?",
    "change": "does a series change, and with which row?",
    "independence": "are two variables independent?",
    "k-sample": "do several samples come from the same distribution?",
    "joint": "are several variables jointly independent?",
    "symmetry": "is a distribution symmetric about a point?",
    "closer": "which of two models, or of several, is nearer to what was observed?",
    "equivalence": "are two samples practically the same?",
    "columns": "in which columns do two samples differ?",
    "matrix": "which columns depend on which?",
    "calibrate": "does a test keep its level on data like these?",
    "power": "how often do the tests reject?",
    "sample-size": "how many observations does a test need?",
    "estimators": "list the estimators, one line each",
}


class _Parser(argparse.ArgumentParser):
    """A parser whose complaints are one line, in the words of the others."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong in one line and exit."""
        named = re.sub(r"^argument (?:(\S+)/)?(\S+): ", r"\2: ", message)
        named = re.sub(r"^(\S+): (must|invalid)", r"\1 \2", named)
        if found := re.fullmatch(r"(\S+) invalid choice: (\S+) \(.*?choose from (.*)\)", named):
            known = [name.strip("' ") for name in found[3].split(",")]
            try:
                choice(found[2].strip("'"), known, found[1])
            except ValueError as error:
                named = str(error)
        self.exit(WRONG, f"shrinktest: error: {' '.join(named.split())}; see {self.prog} --help\n")

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        """The value of an option; that of ``--na=--`` is two dashes, which argparse takes off in some versions."""
        if action.option_strings and arg_strings == ["--"]:
            return self._get_value(action, "--")
        return super()._get_values(action, arg_strings)


def parser(words: Collection[str] = tuple(COMMANDS)) -> argparse.ArgumentParser:
    """The parser of ``shrinktest``; ``args.run(args)`` runs the command.

    Of the commands only those among ``words``, which are what was typed, have their options, so that the modules of the
    others, and what they import, are not loaded; by default all have.
    """
    program = _Parser(
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
