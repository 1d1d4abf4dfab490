"""Standard streams for the time of a command: one that is closed or broken changes neither the result nor the code."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

#: What errors call standard output.
OUTPUT = "output"


class _Stream:
    """A standard stream in the place of which this stands, or of one that is closed, to which nothing is written."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write a text."""
        self._stream.write(text)  # which returns nothing where it is an object of somebody's own
        return len(text)

    def flush(self) -> None:
        """Write what is kept."""
        self._stream.flush()

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return bool(getattr(self._stream, "isatty", bool)())


class _Output(_Stream):
    """Standard output, whose errors say that they are its own."""

    def write(self, text: str) -> int:
        """Write a text; an error has the name of the output."""
        with named(OUTPUT):
            return super().write(text)

    def flush(self) -> None:
        """Write what is kept; an error has the name of the output."""
        with named(OUTPUT):
            super().flush()


class _Errors(_Stream):
    """Standard error: warnings that cannot be written are lost, and nothing else."""

    broken = False

    def write(self, text: str) -> int:
        """Write a text if that is possible."""
        with self._tried():
            super().write(text)
        return len(text)

    def flush(self) -> None:
        """Write what is kept if that is possible."""
        with self._tried():
            super().flush()

    @contextmanager
    def _tried(self) -> Iterator[None]:
        try:
            yield
        except OSError:
            self.broken = True


@contextmanager
def named(path: str) -> Iterator[None]:
    """Let an error of the system without the name of a file, such as that a disk is full, have this one."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno is not None:
            error.filename = path
        raise


def unread(error: OSError) -> bool:
    """Whether an error says that whoever read standard output has gone (``| head``)."""
    return isinstance(error, BrokenPipeError) and error.filename == OUTPUT


@contextmanager
def standard_streams(*, of_process: bool) -> Iterator[None]:
    """Streams that are closed are not missing, and broken ones do no more harm than they must, within.

    ``of_process`` says whether the process ends with the command.  Then what a broken stream still keeps is thrown
    away, for the interpreter would fail on it once more, with an exit code of its own.
    """
    with ExitStack() as closing:
        before = sys.stdout, sys.stderr
        out, err = (
            closing.enter_context(open(os.devnull, "w", encoding="utf-8")) if _closed(stream) else stream
            for stream in before
        )
        output, errors = _Output(out), _Errors(err)
        text = out if isinstance(out, io.TextIOWrapper) else None
        known = None if text is None else text.errors
        sys.stdout, sys.stderr = output, errors  # type: ignore[assignment]
        try:
            if text is not None:  # a sign that a terminal does not know must not cost the result
                text.reconfigure(errors="replace")
            yield
        finally:
            sys.stdout, sys.stderr = before
            if of_process and errors.broken:
                _thrown_away(err)
            try:
                out.flush()
            except OSError as error:
                if of_process or isinstance(error, BrokenPipeError):
                    _thrown_away(out)
            if text is not None:
                with suppress(OSError):
                    text.reconfigure(errors=known)


def _closed(stream: Any) -> bool:
    return stream is None or bool(getattr(stream, "closed", False))


def _thrown_away(stream: Any) -> None:
    """Let what a stream keeps, and what is still written to it, go nowhere."""
    with suppress(OSError), open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), stream.fileno())
