"""The command line: reads tables, runs a test of the library, prints what it found."""

from __future__ import annotations

import argparse
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from shrinktest.cli.arguments import OfParameter, as_typed
from shrinktest.cli.commands import parser
from shrinktest.cli.exits import FAILED, INTERRUPTED, UNREAD, WRONG
from shrinktest.cli.files import refuse_same
from shrinktest.cli.settings import settle_kernels
from shrinktest.cli.streams import standard_streams, unread

#: Options that a command may be thought to have, and where they are.
_OF_OTHERS = {
    "--effect": "two-sample, k-sample and independence have it, and compare says how large a change is anyway",
}

#: What commands have instead of an option, the first of these.
_INSTEAD = {"--columns": ("--x", "--variable"), "--delimiter": ("--separator",), "--missing": ("--na",)}


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command as the shell would.

    Parameters
    ----------
    argv : sequence of str, optional
        The words after ``shrinktest``; default those of the process.

    Returns
    -------
    int
        The exit code: 0 the test ran, 1 it rejects (with ``--exit-code``; ``equivalence``: it does not), 2 bad usage or
        input, 70 an error of the package itself, 130 interrupted.

    Examples
    --------
    >>> main("two-sample a.csv b.csv --estimator fkmes".split())
    2
    >>> main(["--version"])
    shrinktest ...
    0
    """
    words, args = sys.argv[1:] if argv is None else argv, argparse.Namespace()
    with standard_streams(of_process=argv is None):
        try:
            return _parsed(args, words)
        except KeyboardInterrupt:
            return _complain(f"interrupted{_kept(args)}", INTERRUPTED)
        except OSError as error:  # of what argparse prints, or nobody reads; others are lines already
            return UNREAD if unread(error) else _complain(f"error: {_said(error)}", WRONG)
        except Exception as error:
            traceback.print_exc()
            return _complain(f"error: {type(error).__name__}, which is an error of shrinktest itself", FAILED)


def _kept(args: argparse.Namespace) -> str:
    """What is said of the trials or sums that an interrupted command has kept, if it has."""
    store = getattr(args, "store", None)
    if store is None or not Path(store).exists():
        return ""
    return f"; what was found so far is in {store}, and the same command goes on from there"


def _parsed(args: argparse.Namespace, words: Sequence[str]) -> int:
    """Run the command that these words say, whose arguments are put into ``args``; the exit code."""
    try:
        _, unknown = parser(words).parse_known_args(words, args)
    except SystemExit as stop:  # argparse has printed the help, or what is wrong
        sys.stdout.flush()
        return int(stop.code or 0)
    if unknown:
        return _unknown(args, unknown[0], files="--" in words)
    return _run(args, words[list(words).index(args.command) + 1 :])


def _unknown(args: argparse.Namespace, word: str, *, files: bool) -> int:
    """Say that a command has no such option, and which one may be meant; the exit code.

    ``files``: whether the words behind a -- are those of files.
    """
    options = [f"--{name.replace('_', '-')}" for name in vars(args) if name not in ("command", "run")]
    option = word.partition("=")[0]
    if option in options and files:  # which argparse takes for a file
        return _complain(f"error: {option} stands after --, behind which there are files only; put it before", WRONG)
    if meant := next((known for known in _INSTEAD.get(option, ()) if known in options), None):
        return _complain(f"error: {args.command} has no option {option}; it has {meant}", WRONG)
    if option in _OF_OTHERS:
        return _complain(f"error: {args.command} has no option {option}; {_OF_OTHERS[option]}", WRONG)
    near = [known for known in options if known.startswith(option)]
    near = near or [f"--{one}" for one in get_close_matches(option[2:], [known[2:] for known in options], n=1)]
    meant = f" Did you mean {near[0]}?" if near and word.startswith("--") else ""
    what = "no option" if word.startswith("-") else "no use for"
    return _complain(f"error: {args.command} has {what} {option}.{meant} See shrinktest {args.command} --help", WRONG)


def _run(args: argparse.Namespace, words: Sequence[str]) -> int:
    """Run a command; its warnings and errors are lines in the words of the command line, as typed behind it."""
    options = {f"--{name.replace('_', '-')}" for name in vars(args)}
    args.words = list(words)
    args.typed = {word.partition("=")[0] for word in words if word.startswith("--")}

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        _complain(f"warning: {as_typed(str(message), options, words)}", 0)

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.simplefilter("ignore", DeprecationWarning)
            warnings.showwarning = show
            refuse_same(args)
            settle_kernels(args)
            run: Callable[[argparse.Namespace], int] = args.run
            code = run(args)
            sys.stdout.flush()
        return code
    except OSError as error:
        if unread(error):
            raise
        return _complain(f"error: {_said(error) if error.strerror else as_typed(str(error), options, words)}", WRONG)
    except OfParameter as error:  # of which only the tuning has an option of its own
        return _complain(f"error: {as_typed(str(error), options & {'--tuning'}, words)}", WRONG)
    except (TypeError, ValueError, ImportError, MemoryError, argparse.ArgumentTypeError) as error:
        said = str(error) or ("not enough memory" if isinstance(error, MemoryError) else type(error).__name__)
        return _complain(f"error: {as_typed(said, options, words)}", WRONG)


def _said(error: OSError) -> str:
    """What the system says, and of which file."""
    said = error.strerror or str(error)
    return said if error.filename is None else f"{error.filename}: {said}"


def _complain(message: str, code: int) -> int:
    print("shrinktest:", " ".join(message.split()), file=sys.stderr)
    return code
