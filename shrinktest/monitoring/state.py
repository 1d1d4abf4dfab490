"""State of a monitor in one file: a header in JSON and arrays, without pickles."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from shrinktest._check import output_path

#: Version of the format: a file of another one is refused.
FORMAT = 1
_HEADER = "header"


def write(path: str | Path, value: Any) -> None:
    """Write dataclasses of arrays and plain values, to a temporary file that is then renamed."""
    file = output_path(path, "path")
    arrays: list[np.ndarray] = []
    text = json.dumps({"format": FORMAT, "state": _packed(value, arrays)})
    named = {f"array_{i}": array for i, array in enumerate(arrays)}
    named[_HEADER] = np.frombuffer(text.encode("utf-8"), dtype=np.uint8)
    handle, temporary = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            np.savez_compressed(stream, **named)  # type: ignore[arg-type]
        os.replace(temporary, file)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def read(path: str | Path, classes: Mapping[str, Any]) -> Any:
    """Return what `write` wrote, by the names of its dataclasses.

    Raises ValueError for other files, and for files of another version.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            header = json.loads(bytes(file[_HEADER]).decode("utf-8"))
            arrays = [file[f"array_{i}"] for i in range(len(file.files) - 1)]
    except (KeyError, ValueError, EOFError, AttributeError, TypeError) as error:
        raise ValueError(f"path is not the state of a monitor ({error}); name another") from None
    except Exception as error:
        if isinstance(error, OSError):
            raise
        raise ValueError("path is not the state of a monitor; name another file") from None
    if header.get("format") != FORMAT:
        raise ValueError(
            "path holds the state of another version of shrinktest; begin anew with the reference"
        )
    return _unpacked(header["state"], arrays, classes)


def _packed(value: Any, arrays: list[np.ndarray]) -> Any:
    """Return a value for JSON, and put its arrays into the list."""
    if isinstance(value, np.ndarray):
        arrays.append(value)
        return {"array": len(arrays) - 1}
    if isinstance(value, np.random.Generator):
        return {"generator": value.bit_generator.state}
    if is_dataclass(value) and not isinstance(value, type):
        kept = [field.name for field in fields(value) if not field.name.startswith("_")]
        own = {name: _packed(getattr(value, name), arrays) for name in kept}
        return {"class": type(value).__name__, "fields": own}
    if isinstance(value, tuple | list):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return {kind: [_packed(entry, arrays) for entry in value]}
    if isinstance(value, dict):
        return {"dict": [[key, _packed(entry, arrays)] for key, entry in value.items()]}
    return value.item() if isinstance(value, np.generic) else value


def _unpacked(value: Any, arrays: list[np.ndarray], classes: Mapping[str, Any]) -> Any:
    """Return what `_packed` packed."""
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return arrays[value["array"]]
    if "generator" in value:
        generator = np.random.default_rng(0)
        generator.bit_generator.state = value["generator"]
        return generator
    if "class" in value:
        own = value["fields"]
        parts = {name: _unpacked(entry, arrays, classes) for name, entry in own.items()}
        return classes[value["class"]](**parts)
    if "dict" in value:
        return {key: _unpacked(entry, arrays, classes) for key, entry in value["dict"]}
    (entries,) = value.values()
    unpacked = [_unpacked(entry, arrays, classes) for entry in entries]
    return tuple(unpacked) if "tuple" in value else unpacked
