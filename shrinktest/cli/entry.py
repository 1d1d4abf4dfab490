"""The command line: parses words, runs a command, and says in one line what is wrong."""

from __future__ import annotations

import argparse
import sys
import traceback
import warnings
from collections.abc import Sequence
from contextlib import redirect_stdout
from importlib import import_module
from io import StringIO
from pathlib import Path

from shrinktest._hints import ELSEWHERE, REASONS
from shrinktest._spelling import nearest
from shrinktest.cli.commands import COMMANDS, parser, parsers_in
from shrinktest.cli.files import Problems
from shrinktest.cli.messages import say, write
from shrinktest.cli.options import SPELLED, Typed

WRONG = 2
FAILED = 70
INTERRUPTED = 130
UNREAD = 141

#: Options that a command may be thought to have, and what it has.
_INSTEAD = {"columns": "x", "missing": "na", "tuning": "set", "delimiter": "sep"}


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command as the shell would.

    Parameters
    ----------
    argv : sequence of str, optional
        The words after ``shrinktest``; default the arguments of the process.

    Returns
    -------
    int
        The exit code: 0 the test ran, 1 it rejects (with ``--exit-code``; ``equivalence``: it does
        not), 2 bad usage or input, 70 an error of the package itself, 130 interrupted.

    Examples
    --------
    >>> main("two-sample a.csv b.csv --estimator fkmes".split())
    2
    >>> main(["--version"])
    shrinktest ...
    0
    """
    args = Typed()
    printed = StringIO()
    try:
        with redirect_stdout(printed):
            code = _run(args, list(sys.argv[1:] if argv is None else argv))
    except KeyboardInterrupt:
        resumes = (
            f"; rerun the same command to resume from {args.store}"
            if args.store and Path(args.store).exists()
            else ""
        )
        return _complain(f"interrupted{resumes}", INTERRUPTED)
    except Problems as error:
        return max(_complain(f"error: {problem}", WRONG) for problem in error.problems)
    except OSError as error:
        name = "" if error.filename is None else f"{error.filename}: "
        return _complain(f"error: {name}{error.strerror or error}", WRONG)
    except (TypeError, ValueError, ImportError, MemoryError, argparse.ArgumentTypeError) as error:
        memory = "not enough memory" if isinstance(error, MemoryError) else type(error).__name__
        return _complain(f"error: {str(error) or memory}", WRONG)
    except Exception as error:
        write(traceback.format_exc(), sys.stderr)
        return _complain(
            f"error: {type(error).__name__}, an internal error of shrinktest; please report it",
            FAILED,
        )
    failure = write(printed.getvalue(), sys.stdout)
    if failure is None or isinstance(failure, BrokenPipeError):
        return code if failure is None else UNREAD
    return _complain(f"error: output: {failure.strerror}", WRONG)


def _run(args: Typed, words: list[str]) -> int:
    """Run the command that these words say, whose options are put into ``args``.

    Return the exit code.
    """
    if not words or words[0] == "help":
        words = [*[word for word in words[1:2] if word in COMMANDS], "--help"]
    try:
        _, unknown = parser(words).parse_known_args(words, args)
    except SystemExit as stop:  # argparse has printed the help, or what is wrong
        return int(stop.code or 0)
    if args.command is None:
        return _complain(f"error: put a command before {unknown[0]}; see shrinktest --help", WRONG)
    if unknown:
        return _complain(f"error: {_unknown(args.command, unknown[0])}", WRONG)
    command = COMMANDS[args.command]
    named = [
        value
        for name, value in vars(args).items()
        if name.startswith("file ") and value is not None
    ]
    args.files = [
        path for value in named for path in (value if isinstance(value, list) else [value])
    ]
    args.types = {name: kind for types in args.types or () for name, kind in types.items()}
    bar = args.progress or args.quiet is False
    args.progress = (
        True if bar and getattr(sys.stderr, "isatty", bool)() else None
    )  # a bar is for terminals
    module, _, name = command.runner.partition(":")
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.showwarning = lambda message, *_, **__: say(f"warning: {message}")
        code: int = getattr(import_module(f"shrinktest.cli.{module}"), name)(args, command)
    return code


def _unknown(command: str, word: str) -> str:
    """Return what is wrong with an unknown option of a command, and which may be meant."""
    if word == "-" or not word.startswith("-"):
        usage = f"{command} {COMMANDS[command].files}".strip()
        return f"unexpected argument {word!r}; usage: shrinktest {usage} [options]"
    known = [
        text
        for text in parsers_in(parser([command]))[command]._option_string_actions
        if text[:2] == "--"
    ]
    option = word.partition("=")[0]
    name = option.lstrip("-").replace("-", "_")
    meant = _INSTEAD.get(name) or ELSEWHERE.get(name, name)
    here = f"--{SPELLED.get(meant, meant).replace('_', '-')}"
    near = here if here in known else nearest(option, known)
    reason = REASONS.get(name, "=")
    if near is None and "=" not in reason:  # others name arguments of Python
        return f"{command} has no option {option}; {reason}"
    hint = f"did you mean {near}?" if near else f"see shrinktest {command} --help"
    return f"{command} has no option {option}; {hint}"


def _complain(message: str, code: int) -> int:
    say(message)
    return code
