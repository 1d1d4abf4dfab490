"""Classifiers and regressors of scikit-learn's kind: what to install where it is missing, and what they get."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def needed_for(what: str) -> Iterator[None]:
    """Import scikit-learn within; raises ImportError that says ``what`` needs it, and how to install it."""
    try:
        yield
    except ImportError as error:
        raise ImportError(f"{what} needs scikit-learn: pip install 'shrinktest[apps]'") from error


@contextmanager
def learning(argument: str, model: Any) -> Iterator[None]:
    """Fit a user's model within; raises ValueError that names it where it does not take what it gets."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{argument}: {model!r} cannot be fitted to an array, whose columns have numbers and no names: {error}"
        ) from error


def is_classifier(model: Any) -> bool:
    """Whether a model predicts labels, by what classifiers have and regressors do not, of whatever package."""
    if not any(callable(getattr(model, name, None)) for name in ("predict_proba", "decision_function")):
        return False
    try:
        from sklearn.base import is_regressor

        return not is_regressor(model)  # some regressors have predict_proba, too
    except (ImportError, AttributeError):  # no scikit-learn, or a model that knows nothing of it
        return True
