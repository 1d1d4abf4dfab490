"""Which loops a call runs: the compiled ones, or their twins in numpy while loading numba would take longer."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType

_LOADING = 0.4  # seconds that numba and the first compiled loops take to load in a fresh process
_spent = 0.0  # in the twins so far


def loops(name: str, seconds: float) -> ModuleType:
    """The module ``name`` of loops to use for work that takes its twin in numpy so many ``seconds``.

    Once the twins have taken as long as numba takes to load, it is loaded: never more than twice the best choice, for
    one small test as for a thousand of them.  Both give the same bits, so that no result depends on the choice.
    """
    global _spent
    if "shrinktest._compiled.jit" not in sys.modules and _spent + seconds < _LOADING:
        _spent += seconds
        return import_module(f"shrinktest._plain.{name}")
    return import_module(f"shrinktest._compiled.{name}")
