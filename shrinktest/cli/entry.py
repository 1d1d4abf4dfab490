"""The command line: parses words, runs a command, and says in one line what is wrong."""

from __future__ import annotations

import argparse
import os
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any

from shrinktest._hints import ELSEWHERE
from shrinktest.cli.commands import COMMANDS, parser
from shrinktest.cli.options import SPELLED

WRONG, FAILED, INTERRUPTED, UNREAD = 2, 70, 130, 141

_OUTPUT = "output"  # what errors call standard output

#: Options that a command may be thought to have, and what it has.
_INSTEAD = {"columns": "x", "missing": "na", "tuning": "set", "delimiter": "sep"}


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
    words, args = list(sys.argv[1:] if argv is None else argv), argparse.Namespace()
    with _streams(of_process=argv is None):
        try:
            return _parsed(args, words)
        except KeyboardInterrupt:
            store = getattr(args, "store", None)
            kept = store is not None and Path(store).exists()
            return _complain(f"interrupted{f'; the same command goes on from {store}' if kept else ''}", INTERRUPTED)
        except OSError as error:
            if isinstance(error, BrokenPipeError) and error.filename == _OUTPUT:
                return UNREAD
            name = "" if error.filename is None else f"{error.filename}: "
            return _complain(f"error: {name}{error.strerror or error}", WRONG)
        except (TypeError, ValueError, ImportError, MemoryError, argparse.ArgumentTypeError) as error:
            memory = "not enough memory" if isinstance(error, MemoryError) else type(error).__name__
            return _complain(f"error: {str(error) or memory}", WRONG)
        except Exception as error:
            traceback.print_exc()
            return _complain(f"error: {type(error).__name__}, which is an error of shrinktest itself", FAILED)


def _parsed(args: argparse.Namespace, words: list[str]) -> int:
    """Run the command that these words say, whose options are put into ``args``; return the exit code."""
    if not words or words[0] == "help":
        words = [*[word for word in words[1:2] if word in COMMANDS], "--help"]
    try:
        _, unknown = parser(words).parse_known_args(words, args)
    except SystemExit as stop:  # argparse has printed the help, or what is wrong
        sys.stdout.flush()
        return int(stop.code or 0)
    if args.command is None:
        return _complain(f"error: name a command before {unknown[0]}; see shrinktest --help", WRONG)
    if unknown:
        return _complain(f"error: {_unknown(args, unknown[0])}", WRONG)

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        _complain(f"warning: {message}", 0)

    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.showwarning = show
        code = _run(args)
    sys.stdout.flush()
    return code


def _run(args: argparse.Namespace) -> int:
    """Run the command that was parsed; return the exit code."""
    command = COMMANDS[args.command]
    named = [value for name, value in vars(args).items() if name.startswith("file ") and value is not None]
    args.files = [path for value in named for path in (value if isinstance(value, list) else [value])]
    args.types = getattr(args, "types", None)
    module, _, name = command.runner.partition(":")
    code: int = getattr(import_module(f"shrinktest.cli.{module}"), name)(args, command)
    return code


def _unknown(args: argparse.Namespace, word: str) -> str:
    """Return what is wrong with an option that a command does not have, and which one may be meant."""
    if not word.startswith("-"):
        return f"{args.command} has no use for {word!r}; see shrinktest {args.command} --help"
    commands = next(action for action in parser([args.command])._actions if action.dest == "command")
    assert isinstance(commands.choices, dict)
    known = [string for string in commands.choices[args.command]._option_string_actions if string.startswith("--")]
    option = word.partition("=")[0]
    name = option.lstrip("-").replace("-", "_")
    meant = ELSEWHERE.get(name) or _INSTEAD.get(name, name)
    here = f"--{SPELLED.get(meant, meant).replace('_', '-')}"
    near = [here] if here in known else [one for one in known if one.startswith(option)]
    near = near or get_close_matches(option, known, n=1)
    hint = f"did you mean {near[0]}?" if near else f"see shrinktest {args.command} --help"
    return f"{args.command} has no option {option}; {hint}"


def _complain(message: str, code: int) -> int:
    with suppress(OSError):
        print("shrinktest:", " ".join(message.split()), file=sys.stderr)
    return code


# --- standard streams that are closed or broken change neither the result nor the exit code -----------------


class _Stream:
    """A standard stream; errors of the output have its name, those of standard error are ignored."""

    def __init__(self, stream: Any, name: str) -> None:
        self._stream, self._name = stream, name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(self._stream, attribute)

    def write(self, text: str) -> int:
        """Write a text."""
        with self._named():
            self._stream.write(text)
        return len(text)

    def isatty(self) -> bool:
        """Return whether it is a terminal."""
        return bool(getattr(self._stream, "isatty", bool)())

    def flush(self) -> None:
        """Write what is kept."""
        with self._named():
            self._stream.flush()

    @contextmanager
    def _named(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if self._name == _OUTPUT:
                error.filename = _OUTPUT
                raise
            _throw_away(self._stream)


@contextmanager
def _streams(*, of_process: bool) -> Iterator[None]:
    """Replace streams that are closed, and name those that break, until the command ends."""
    before = sys.stdout, sys.stderr
    with ExitStack() as closing:
        out, err = (
            closing.enter_context(open(os.devnull, "w", encoding="utf-8"))
            if stream is None or getattr(stream, "closed", False) else stream
            for stream in before
        )  # fmt: skip
        errors = getattr(out, "errors", None)
        sys.stdout, sys.stderr = _Stream(out, _OUTPUT), _Stream(err, "errors")  # type: ignore[assignment]
        try:
            if hasattr(out, "reconfigure"):  # a sign that a terminal does not know must not cost the result
                out.reconfigure(errors="replace")
            yield
        finally:
            sys.stdout, sys.stderr = before
            try:
                out.flush()
            except OSError as error:
                if of_process or isinstance(error, BrokenPipeError):
                    _throw_away(out)
            if hasattr(out, "reconfigure"):
                with suppress(OSError):
                    out.reconfigure(errors=errors)


def _throw_away(stream: Any) -> None:
    """Let what a stream keeps, and what is still written to it, go nowhere."""
    with suppress(OSError, AttributeError, ValueError), open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), stream.fileno())
