"""Condition: what --fail-if asks of a result, such as "auc > 0.6"."""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from shrinktest.results.printing import without_zero

_SIGNS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
_DIGITS = 17  # of a number, at most


@dataclass(frozen=True)
class Condition:
    """A number of a result or of its effect, compared with a limit."""

    name: str
    sign: str
    limit: float

    @classmethod
    def read(cls, text: str) -> Self:
        """Read a condition; raises ValueError for what is none."""
        match = re.fullmatch(r"\s*(\w+)\s*([<>]=?)\s*([-+.\deE]+)\s*", text)
        if match is None:
            raise ValueError(f"--fail-if must look like 'auc > 0.6'; got {text!r}")
        name, sign, limit = match.groups()
        return cls(name, sign, float(limit))

    def met(self, result: Any) -> str:
        """Return the number that meets the condition, in words; empty if none does.

        Of several numbers, the one that is furthest beyond the limit.
        """
        value, rows = self._value(result)
        values = np.atleast_1d(np.asarray(value, dtype=float))
        meets = self._compare(values, self.limit)
        if meets.any():
            beyond = np.where(meets, values, np.nan)
            furthest = np.nanargmin(beyond) if self.sign[0] == "<" else np.nanargmax(beyond)
            return self._in_words(values, int(furthest), int(meets.sum()), rows)
        if np.isnan(values).any() or not values.size:
            raise ValueError(
                f"--fail-if: {self.name} could not be computed; the result without --fail-if says "
                "why"
            )
        least = 0.0
        if self.name in ("pvalue", "pvalues"):
            least = _least_pvalue(getattr(result, "overall", result))
        if self.sign[0] == "<" and not self._compare(least, self.limit):
            raise ValueError(
                f"--fail-if: no p-value can be below {least:.2g} here; use more --resamples or "
                "more rows"
            )
        return ""

    def _compare(self, value: Any, limit: float) -> Any:
        return _SIGNS[self.sign](value, limit)

    def _value(self, result: Any) -> tuple[Any, list[dict[str, Any]]]:
        """Return the number, or several of them, and the rows that they belong to."""
        value: Any = getattr(result, self.name, None)
        if not _is_number(value):
            effect = getattr(result, "effect", None)
            value = getattr(effect() if callable(effect) else effect, self.name, None)
        rows = result.rows() if callable(getattr(result, "rows", None)) else []
        if not _is_number(value) and rows:
            value = np.array([row.get(self.name) for row in rows])
        if not _is_number(value):
            raise ValueError(
                f"--fail-if: neither the result nor its effect has a number {self.name!r}; see "
                "--json"
            )
        return value, rows if np.ndim(value) and len(rows) >= len(value) else []

    def _in_words(self, values: np.ndarray, i: int, count: int, rows: list[dict[str, Any]]) -> str:
        limit = without_zero(f"{self.limit:.15g}")
        text = f"{self.name} = {self._number(float(values[i]))} {self.sign} {limit}"
        where = [str(next(iter(rows[i].values())))] if rows else []
        where += [f"{count} of {len(values)}"] if len(values) > 1 else []
        return f"{text} ({', '.join(where)})" if where else text

    def _number(self, value: float) -> str:
        """Return a number with as few digits as meet the condition."""
        if not np.isfinite(value) or value.is_integer():
            return f"{value:.15g}"
        first = max(2, len(str(int(abs(value)))))
        texts = (f"{value:.{digits}g}" for digits in range(first, _DIGITS))
        exact = f"{value:.{_DIGITS}g}"
        shown = next((text for text in texts if self._compare(float(text), self.limit)), exact)
        return without_zero(shown)


def _least_pvalue(result: Any) -> float:
    """Return the smallest p-value that the permutations of a test can give.

    0 for tests without permutations.
    """
    drawn = getattr(result, "n_planned", None) or getattr(result, "n_resamples", None)
    return 0.0 if not drawn else 1.0 / (drawn + (not getattr(result, "exact", False)))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.ndarray) and np.asarray(value).dtype.kind in "fiub"
