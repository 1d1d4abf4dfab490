"""When: the times of rows, as summaries and pictures write them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

_MIDNIGHT = re.compile(r"[T ]00:00:00(\.0+)?$")


@dataclass(frozen=True)
class When:
    """The times of rows.

    Parameters
    ----------
    times : sequence

    Examples
    --------
    >>> import pandas as pd
    >>> When(pd.to_datetime(["1898", "1899"])).of(1), When([1898, 1899]).of(1), When([1898, 1899]).of(2)
    ('1899-01-01', '1899', '')
    >>> When(["Monday", "Tuesday", "Wednesday"]).between((0, 2)), When(["Monday", "Tuesday"]).between((1, 2))
    ('Monday to Wednesday', 'Tuesday to behind the last')
    """

    times: Sequence[Any]

    def of(self, row: int) -> str:
        """The time of a row; dates have no hour where all are at midnight, and rows behind the last have no time."""
        if row >= len(self.times):
            return ""
        time = self.times[row]
        found = f"{time:.{self._digits}g}" if isinstance(time, float) else str(time)
        days = _MIDNIGHT.search(found) and self._days
        return _MIDNIGHT.sub("", found) if days else found

    def at(self, row: int | None) -> Any:
        """The time as it is: the number of the row where no times are known, None behind the last row."""
        if row is None or not self.times:
            return row
        return self.times[row] if row < len(self.times) else None

    def ends(self, interval: tuple[int, int] | None) -> tuple[Any, Any] | None:
        """The times of both ends of an interval of rows, as they are; None without an interval."""
        return None if interval is None else (self.at(interval[0]), self.at(interval[1]))

    def between(self, interval: tuple[int, int]) -> str:
        """The times of both ends of an interval of rows."""
        low, high = map(self.of, interval)
        return f"{low} to {high or 'behind the last'}"

    @cached_property
    def _digits(self) -> int:
        """How many digits tell times that are numbers apart and end at the point or behind it, and one more."""
        apart, least = len(set(self.times)), max(len(f"{abs(one):.0f}") for one in self.times)
        counts = range(min(max(least, 4), 15), 17)
        found = (digits for digits in counts if len({f"{one:.{digits}g}" for one in self.times}) == apart)
        return next(found, 16) + 1

    @cached_property
    def _days(self) -> bool:
        """Whether all times are at midnight."""
        return all(_MIDNIGHT.search(str(one)) for one in self.times)
