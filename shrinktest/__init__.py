"""Kernel two-sample and independence tests with pluggable kernel mean estimators."""

import ast
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from shrinktest._version import __version__ as __version__

#: Public names and their modules, which `__init__.pyi` lists.  They are imported when they are
#: used, because most programs test once and end.
_MODULES = {
    name.name: statement.module
    for statement in ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")).body
    if isinstance(statement, ast.ImportFrom)
    for name in statement.names
}

#: Rooms that need no import of their own: ``shrinktest.power.designs``.
_ROOMS = (
    "adapters",
    "applications",
    "datasets",
    "estimators",
    "kernels",
    "permutations",
    "power",
    "risk",
    "testing",
)

__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(str(_MODULES[name])), name)
    if name in _ROOMS:
        return import_module(f"shrinktest.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class _Package(ModuleType):
    """Package in which a function named like its module stays visible after its import."""

    def __setattr__(self, name: str, value: object) -> None:
        if isinstance(value, ModuleType) and name in _MODULES:
            value = getattr(value, name)
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_ROOMS})
