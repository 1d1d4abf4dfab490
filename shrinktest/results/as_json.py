"""AsJson: results as text, and back."""

from __future__ import annotations

import json
from abc import abstractmethod
from pathlib import Path
from typing import Any, Self

import numpy as np

from shrinktest._validate import path_to_write
from shrinktest.results.reading import read_json


def plain_json(value: Any) -> Any:
    """Plain Python values as JSON knows them, which has finite numbers only."""
    if isinstance(value, dict):
        return {key: plain_json(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain_json(entry) for entry in value]
    if isinstance(value, float) and not np.isfinite(value):
        return None if np.isnan(value) else str(value)
    return value


def written(values: Any, path: str | Path | None, **options: Any) -> str:
    """Plain Python values as JSON; written to ``path`` if one is given."""
    text = json.dumps(plain_json(values), **options)
    if path is not None:
        path_to_write(path, "path").write_text(text, encoding="utf-8")
    return text


class AsJson:
    """What results have in common that are written as JSON and read back."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Plain Python values under the attribute names."""

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
