"""Store: a file that keeps what was found of the pieces that have been read, so that a run that was killed goes on."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, is_dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from shrinktest._check import output_path

#: What a reading is of, as messages call it.
DATA, SEED, FEATURES = (
    "data (or size= of batches)",
    "random numbers (rng=)",
    "features or bins (kernel, bandwidth, gram=, rank=, bins=)",
)

_FORMAT = 4
_EVERY = 20.0  # seconds from one writing to the next
_ABOUT = "about"  # the entry of the file that says what the others are


def digest(*parts: Any) -> str:
    """A short text that stands for values: arrays, numbers, texts, and objects made of these."""
    found = sha256()
    _feed(found, parts)
    return found.hexdigest()[:32]


def _feed(found: Any, value: Any) -> None:
    if isinstance(value, np.ndarray):
        found.update(f"{value.dtype.str}{value.shape}".encode() + np.ascontiguousarray(value).tobytes())
    elif isinstance(value, list | tuple):
        found.update(f"({len(value)}".encode())
        for one in value:
            _feed(found, one)
    elif is_dataclass(value):
        _feed(found, [type(value).__qualname__, *(getattr(value, one.name) for one in fields(value))])
    elif hasattr(value, "__dict__") and not callable(value):
        _feed(found, [type(value).__qualname__, *map(list, sorted(vars(value).items()))])
    else:
        found.update(repr(getattr(value, "__qualname__", value)).encode())


@dataclass(eq=False)
class Store:
    """What has been found in each of the readings of a test."""

    path: Path
    # for the name of a reading what it is of, as texts by what they stand for; which pieces it has read, with the rows
    # kept and left out; and arrays by name
    known: dict[str, dict[str, Any]] = field(default_factory=dict)
    written: float = 0.0  # when it was written last

    @classmethod
    def at(cls, path: Any) -> Store:
        """That of a file, which need not be there.

        Raises ValueError for a file that is something else, and FileNotFoundError or PermissionError where there is no
        folder for it, or none that can be written to.
        """
        found = cls(output_path(path, "store"))
        if not os.access(found.path.absolute().parent, os.W_OK):
            raise PermissionError(
                f"store={str(path)!r}: nothing can be written to its folder; allow it, or give another path"
            )
        if not found.path.exists():
            return found
        try:
            with open(found.path, "rb") as opened, np.load(opened, allow_pickle=False) as file:
                about = json.loads(str(file[_ABOUT]))
                if about["format"] != _FORMAT:
                    raise ValueError("of another version")
                for name, one in about["readings"].items():
                    arrays = {key: file[f"{name}/{key}"] for key in one["arrays"]}
                    read = [tuple(map(int, piece)) for piece in one["read"]]
                    found.known[name] = {"of": dict(one["of"]), "read": read, "arrays": arrays}
        except (ValueError, KeyError, TypeError, AttributeError, OSError, EOFError, BadZipFile) as error:
            raise ValueError(
                f"store={str(path)!r} is no file that keeps the sums of a test in batches ({error}); give another path"
            ) from None
        return found

    def asked(self, name: str, of: Mapping[str, str]) -> dict[str, Any] | None:
        """What is known of a reading; None where nothing is.

        Raises ValueError where it was of other data, or asked for something else.
        """
        one = self.known.get(name)
        if one is None:
            return None
        for what, text in of.items():
            if one["of"].get(what) != text:
                raise ValueError(
                    f"store={str(self.path)!r} was begun with other {what}; remove the file, or give another path"
                )
        return one

    def keep(
        self,
        name: str,
        of: Mapping[str, str],
        read: Sequence[tuple[int, ...]],
        arrays: Mapping[str, np.ndarray],
        *,
        now: bool,
    ) -> None:
        """Note what has been found of the pieces ``read``, and write it where that is due, or ``now``.

        Raises OSError, which says to which file, where it cannot be written, as on a full disk.
        """
        if not now and time.monotonic() - self.written < _EVERY:
            return
        self.known[name] = {"of": dict(of), "read": list(read), "arrays": dict(arrays)}
        readings = {key: {**one, "arrays": list(one["arrays"])} for key, one in self.known.items()}
        entries = {f"{key}/{part}": array for key, one in self.known.items() for part, array in one["arrays"].items()}
        about = np.array(json.dumps({"format": _FORMAT, "readings": readings}))
        beside = self.path.with_name(f"{self.path.name}.{os.getpid()}.part")
        try:
            with open(beside, "wb") as file:
                np.savez(file, **{_ABOUT: about, **entries})  # type: ignore[arg-type]
                file.flush()
                os.fsync(file.fileno())
            os.replace(beside, self.path)
        except OSError as error:
            said = f"{error.strerror or error} (store=, which keeps what has been read)"
            raise OSError(error.errno, said, str(self.path)) from None
        finally:
            with suppress(OSError):
                beside.unlink(missing_ok=True)
        self.written = time.monotonic()
