"""Messages of the command line: one line on standard error, whatever becomes of the stream."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import Any


def say(message: str) -> None:
    """Write one line on standard error, after the name of the program."""
    write(f"shrinktest: {' '.join(message.split())}\n", sys.stderr)


def write(text: str, stream: Any) -> OSError | None:
    """Write a text, if the stream is open; return the error of a stream that is broken."""
    if not text or stream is None or getattr(stream, "closed", False):
        return None
    try:
        try:
            stream.write(text)
        except UnicodeEncodeError:  # a sign that a terminal does not know must not cost the result
            stream.write(text.encode(stream.encoding, "replace").decode(stream.encoding))
        stream.flush()
    except OSError as error:
        # what the stream keeps must not fail again when the process ends
        with suppress(OSError, AttributeError, ValueError), open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), stream.fileno())
        return error
    return None
