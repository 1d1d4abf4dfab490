"""AsJson: results as text, and back."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Self

import numpy as np

from shrinktest._check import output_path
from shrinktest.results.base import label_of
from shrinktest.results.reading import SCHEMA, fields_of, read_json


def plain_json(value: Any) -> Any:
    """Plain Python values as JSON knows them, which has finite numbers only."""
    if isinstance(value, dict):
        return {key: plain_json(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain_json(entry) for entry in value]
    if isinstance(value, float) and not np.isfinite(value):
        return None if np.isnan(value) else str(value)
    return value


def entries_of(result: Any) -> dict[str, Any]:
    """What JSON holds of the fields of a result, without those with ``compare=False``."""
    return {one.name: as_lists(getattr(result, one.name)) for one in fields(result) if one.compare}


def as_lists(value: Any) -> Any:
    """A value as JSON has it: arrays and tuples as lists, mappings as dictionaries."""
    if isinstance(value, tuple):
        return [as_lists(entry) for entry in value]
    if isinstance(value, np.ndarray):
        return value.tolist()
    return dict(value) if isinstance(value, Mapping) else value


def text_of(value: Any, how: Callable[[Any], str] = repr) -> Any:
    """What JSON holds of an object, or of each of a tuple of them; None of None."""
    if isinstance(value, tuple):
        return [text_of(entry, how) for entry in value]
    return None if value is None else how(value)


def time_entry(time: Any) -> Any:
    """What JSON holds of a time: numbers and texts as they are, dates as text."""
    return time if isinstance(time, int | float | str) else str(time)


def kernel_entries(result: Any) -> dict[str, Any]:
    """What JSON holds of the kernel of a result, or of its kernels: text, what tables call it, and bandwidth."""
    labels = text_of(result.kernel, label_of)
    return {"kernel": text_of(result.kernel), "kernel_label": labels, "bandwidth": result.bandwidth}


def written(values: Any, path: str | Path | None, **options: Any) -> str:
    """Plain Python values as JSON; written to ``path`` if one is given."""
    text = json.dumps(plain_json(values), **options)
    if path is not None:
        output_path(path, "path").write_text(text, encoding="utf-8")
    return text


class AsJson:
    """What results have in common that are written as JSON and read back."""

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values under the attribute names; ``result`` and ``schema`` are those of every result."""
        return self._entries()

    def _entries(self, **told: Any) -> dict[str, Any]:
        """What is in all JSON, what is told besides, and the fields."""
        return {"result": type(self).__name__, "schema": SCHEMA, **told, **entries_of(self)}

    @classmethod
    def _of_json(cls, read: Mapping[str, Any]) -> Self:
        return cls(**fields_of(cls, read))

    def to_json(self, path: str | Path | None = None, **options: Any) -> str:
        """``to_dict`` as JSON, which is also written to ``path`` if one is given.

        ``options`` go to :func:`json.dumps`.  NaN becomes null, infinity the text "inf".
        """
        return written(self.to_dict(), path, **options)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The result whose ``to_json`` the text is.

        Kernels and estimators come back as their text, which computes nothing, times that are no numbers as text, and
        null distributions not at all.

        Raises
        ------
        TypeError
            If ``text`` is no text.
        ValueError
            If it is not the JSON of such a result, or was written by a later version.
        """
        found: Self = read_json(text, cls)
        return found
