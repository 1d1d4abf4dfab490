"""Imports of scikit-learn, which classifiers and regressors need: what to install where it is missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def needed_for(what: str) -> Iterator[None]:
    """Import scikit-learn within; raises ImportError that says ``what`` needs it, and how to install it."""
    try:
        yield
    except ImportError as error:
        raise ImportError(f"{what} needs scikit-learn: pip install 'shrinktest[apps]'") from error
