"""XGivenZ: a model of X given Z, and what may stand for one."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

from shrinktest._check import Array, check_signature, real_values
from shrinktest.conditional._sklearn import is_classifier


@dataclass(frozen=True)
class XGivenZ:
    """A model of X given Z, for ``independence_test(X, Y, given=Z, x_given_z=...)``.

    Parameters
    ----------
    draw : callable, optional
        ``draw(Z, rng)`` returns X (n, p), or (n,), row i drawn given row i of Z; all randomness comes from the numpy
        Generator ``rng``.
    log_density : callable, optional
        ``log_density(X, Z)`` returns the logarithm of the density, or of the probability, of every row of X given that
        row of Z, shape (m,); factors that depend on X alone or on Z alone may be left out.

    Notes
    -----
    With ``draw`` alone the test draws copies of X given Z (the conditional randomisation test, [CFJL18]).  With
    ``log_density`` it permutes X, each permutation as likely as the model says (the conditional permutation test,
    [BWBS20]), which does not need the margin of X to be right, and is the more robust of the two where the model is
    true only approximately.  Both are exact where it is true.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import XGivenZ, independence_test
    >>> rng = np.random.default_rng(1)
    >>> Z = rng.normal(size=80)
    >>> X, Y = Z + rng.normal(size=80), Z + rng.normal(size=80)
    >>> normal = XGivenZ(
    ...     draw=lambda Z, rng: Z + rng.normal(size=Z.shape),
    ...     log_density=lambda X, Z: -0.5 * ((X - Z) ** 2).sum(axis=1),
    ... )
    >>> result = independence_test(X, Y, given=Z, x_given_z=normal, rng=0)
    >>> independence_test(X, Y, rng=0).pvalue, result.pvalue > 0.05, result.method
    (0.001, True, 'conditional permutation test')
    """

    draw: Callable[[Any, np.random.Generator], Any] | None = None
    log_density: Callable[[Any, Any], Any] | None = None

    def __post_init__(self) -> None:
        for name in ("draw", "log_density"):
            found = getattr(self, name)
            if found is not None and not callable(found):
                raise TypeError(f"{name} must be a function; got {found!r}")
            if found is not None:
                arguments = ("Z", "rng") if name == "draw" else ("X", "Z")
                check_signature(
                    found, arguments, f"{name} of a model of X given Z is a function ({', '.join(arguments)})"
                )
        if self.draw is None and self.log_density is None:
            raise ValueError("XGivenZ needs a function that draws, draw=, or one that says how likely, log_density=")

    def drawn(self, given: Any, shape: tuple[int, int], rng: np.random.Generator) -> Array:
        """A copy (n, p) of X."""
        assert self.draw is not None
        drawn = self.draw(deepcopy(given), rng)  # into which it may write
        try:
            found = real_values(drawn)
        except TypeError as error:
            raise TypeError(f"x_given_z must draw numbers: {error}") from None
        if found.ndim == 1:
            found = found[:, None]
        if found.shape != shape:
            raise ValueError(
                f"x_given_z drew shape {found.shape}, and X has shape {shape}; draw as many rows and columns as X has"
            )
        if not np.isfinite(found).all():
            raise ValueError("x_given_z drew values that are not finite")
        return np.array(found, order="C")  # not what the function writes into at the next draw

    def chances(self, x: Array, given: Array) -> Array:
        """The logarithm of the density of every row i of x given every row j, shape (n, n)."""
        assert self.log_density is not None
        n = len(x)
        out = np.empty((n, n))
        for i in range(n):
            try:
                found = real_values(self.log_density(np.repeat(x[i : i + 1], n, axis=0), deepcopy(given)))
            except TypeError as error:
                raise TypeError(f"log_density must return numbers: {error}") from None
            if found.shape not in ((n,), (n, 1)):
                raise ValueError(
                    f"log_density returned shape {found.shape} for {n} rows of X and Z; it must return one number a row"
                )
            out[i] = found.reshape(n)
        if np.isnan(out).any() or (out == np.inf).any() or not np.isfinite(np.diag(out)).all():
            raise ValueError(
                "log_density must return a finite number for the rows as they are, and a number or -inf for others"
            )
        return np.maximum(out, -1e6)  # impossible pairs; differences of two infinities are none


def as_model(given: Any) -> Any:
    """A model from what users give: an :class:`XGivenZ`, a function that draws, or a fitted regressor.

    Raises TypeError for anything else.
    """
    if isinstance(given, XGivenZ) or callable(getattr(given, "predict", None)):
        if isinstance(given, type):
            raise TypeError(f"x_given_z must be a fitted regressor, not the class {given.__name__}")
        if is_classifier(given):
            raise TypeError(
                f"x_given_z={given!r} predicts labels, and X less a label is no residual; give a function (Z, rng) -> "
                "X that draws labels with the chances that predict_proba has for them, or a regressor"
            )
        return given
    if callable(given):
        return XGivenZ(draw=given)
    raise TypeError(
        "x_given_z must be a function (Z, rng) -> X, an XGivenZ with the density as well, or a fitted regressor with "
        f"predict; got {given!r}"
    )
