"""Values of a parametrized test of which some wait for CI."""

from __future__ import annotations

import pytest


def some_wait(values, waiting):
    """Return the values for ``pytest.mark.parametrize``, with the marker ``ci`` for those that wait."""
    return [
        pytest.param(value, marks=pytest.mark.ci if value in waiting else ()) for value in values
    ]
