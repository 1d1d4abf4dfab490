"""When: the times of rows, as summaries and pictures write them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

_MIDNIGHT = re.compile(r"[T ]00:00:00(\.0+)?$")


def written(times: Sequence[Any], row: int) -> str:
    """The time of a row; dates without the hour where all are at midnight, and nothing for a row behind the last.

    Examples
    --------
    >>> import pandas as pd
    >>> written(pd.to_datetime(["1898", "1899"]), 1), written([1898, 1899], 1), written([1898, 1899], 2)
    ('1899-01-01', '1899', '')
    """
    if row >= len(times):
        return ""
    found = str(times[row])
    days = _MIDNIGHT.search(found) and all(_MIDNIGHT.search(str(one)) for one in times)
    return _MIDNIGHT.sub("", found) if days else found


def between(times: Sequence[Any], interval: tuple[int, int]) -> str:
    """The times of both ends of an interval of rows.

    Examples
    --------
    >>> between(["Monday", "Tuesday", "Wednesday"], (0, 2)), between(["Monday", "Tuesday"], (1, 2))
    ('Monday to Wednesday', 'Tuesday to behind the last')
    """
    low, high = (written(times, row) for row in interval)
    return f"{low} to {high or 'behind the last'}"
