"""Designs from what the user has: pilot data to resample, or a function that draws data."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from shrinktest._check import Array, as_rng, check_signature, choice, counted, flag, positive
from shrinktest.data.read import XY, read_samples, read_variables
from shrinktest.data.tables import is_table
from shrinktest.power.designs.base import TESTS, Design, Independent, Relabelled, parameter
from shrinktest.results.info import INDEPENDENCE, KINDS, TWO_SAMPLE


@dataclass(frozen=True, eq=False, repr=False)
class FromData(Design):
    """Resampled pilot data: the power if the population looked like the pilot study.

    Parameters
    ----------
    X, Y : array_like, shape (n, d) and (m, d), or (n,) and (m,)
        The pilot data: two samples, or two variables whose rows belong together (then the numbers of columns may
        differ).  Kept as read-only copies; tables as the numbers that they become in a test, in its default units.
    test : {"two-sample", "independence"}, default "two-sample"
        What the data are for.
    ratio : float, default 1.0
        For two samples, the size of Y over that of X in the planned study, whatever it is in the pilot data.
    paired : bool, default False
        For two samples, whether row i of X and row i of Y are a pair, as in the planned study.

    Raises
    ------
    TypeError, ValueError
        For data that the test would not take, or that hold one value only.

    Notes
    -----
    Rows are drawn with replacement (the bootstrap): from X and Y separately, or pairs together.  The null twin draws
    both samples from the pooled rows, or the two variables apart; in pairs of samples it swaps at random.  So rows
    occur more than once and data have ties that a new study would not have, the more the larger ``n`` is beside the
    pilot data; and a difference that is in the pilot data by chance counts as real, so that powers tend to be too
    high.  A draw whose rows are all equal, to which no median bandwidth belongs, is drawn again.

    The repr gives shapes and a digest instead of the numbers.

    Examples
    --------
    >>> design = FromData([1.2, 0.3, 0.5, 0.8], [2.1, 1.9, 3.0], ratio=2.0)
    >>> X, Y = design.sample(0, n=5)
    >>> X.shape, Y.shape, bool(np.isin(Y, [2.1, 1.9, 3.0]).all())
    ((5, 1), (10, 1), True)
    """

    name: ClassVar[str] = "pilot data"
    summary: ClassVar[str] = "resampled pilot data"

    X: Array
    Y: Array
    test: str = parameter(TWO_SAMPLE.name, choice, known=TESTS)
    ratio: float = field(default=1.0, kw_only=True, metadata={"check": positive})
    paired: bool = field(default=False, kw_only=True, metadata={"check": flag})

    def _check(self) -> None:
        _no_ratio_of_pairs(self)
        if self.paired and (self.test == INDEPENDENCE.name or self.ratio != 1.0):
            raise ValueError("paired=True is for two samples, with ratio=1.0")
        if self.test == TWO_SAMPLE.name:
            x, y = self._read(read_samples)
            if self.paired and len(x) != len(y):
                raise ValueError(f"paired=True needs as many rows in X as in Y; found {len(x)}, {len(y)}")
            margins = {"X and Y together": np.vstack([x, y])}
        else:
            x, y = self._read(read_variables)
            margins = {"X": x, "Y": y}
        for which, values in margins.items():
            if not _varies(values):
                raise ValueError(f"all rows of {which} are equal, so that no test can reject")
        for name, values in (("X", x), ("Y", y)):
            values.setflags(write=False)
            object.__setattr__(self, name, values)

    def _read(self, reader: Callable[..., Any]) -> tuple[Array, Array]:
        found = reader((self.X, self.Y), XY, "propagate", scale="auto")
        if found.missing:
            raise ValueError("pilot data must have no missing values: leave such rows out, or fill them in, before")
        x, y = found.values
        return x, y

    def draw(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, ...]:
        while True:
            rows = rng.integers(len(self.X), size=n)
            if self.test == INDEPENDENCE.name:
                x, y = self.X[rows], self.Y[rows]
                usable = _varies(x) and _varies(y)
            else:
                x, y = self.X[rows], self.Y[rows if self.paired else rng.integers(len(self.Y), size=m)]
                usable = _varies(np.vstack([x, y]))
            if usable:  # what this looks at does not depend on labels or pairing, so that null twins keep their level
                return x, y

    def sample(self, rng: Any, n: int, m: int | None = None) -> tuple[Array, ...]:
        if self.paired and m is not None and m != n:
            raise ValueError(f"{self!r} draws pairs, as many y as x: leave out m (got n={n}, m={m})")
        return super().sample(rng, n, m)

    def options_for(self, n: int, m: int) -> dict[str, Any]:
        return {"paired": True} if self.paired else {}

    def null(self) -> Design:
        """Both samples from the pooled rows, pairs swapped at random, or the two variables resampled apart."""
        if self.paired:
            return Relabelled(self)
        if self.test == INDEPENDENCE.name:
            return Independent(self)
        if np.array_equal(self.X, self.Y):
            return self
        pooled = np.vstack([self.X, self.Y])
        return FromData(pooled, pooled, ratio=self.ratio)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FromData) and self._content() == other._content()

    def __hash__(self) -> int:
        return hash(self._content())

    def _content(self) -> tuple[Any, ...]:
        return self.test, self.ratio, self.paired, self.X.shape, self.Y.shape, self.X.tobytes(), self.Y.tobytes()

    def __repr__(self) -> str:
        digest = hashlib.sha256(self.X.tobytes() + self.Y.tobytes()).hexdigest()[:12]
        shapes = ", ".join(f"{name} {len(z)} x {z.shape[1]}" for name, z in (("X", self.X), ("Y", self.Y)))
        more = ", paired=True" if self.paired else ""
        return f"FromData(<{shapes}, sha256 {digest}>, {_purpose(self)}{more})"


@dataclass(frozen=True, repr=False)
class FromFunction(Design):
    """Data from a function, as ``as_design`` makes of any callable.

    Parameters
    ----------
    function : callable
        ``function(rng, n) -> (X, Y)`` with a numpy Generator and the number of rows of X; for an independence test Y
        has as many rows.  Both may be tables.  When a size m of Y other than n is asked for, or the ratio is
        not 1, it is called as ``function(rng, n, m)``.
    test : {"two-sample", "independence"}, default "two-sample"
        What the data are for.
    ratio : float, default 1.0
        For two samples, the size of Y over that of X; other ratios need a function that takes ``m``.
    restriction : callable, optional
        ``restriction(n, m) -> dict`` with what the test is told of n observations of X and m of Y: ``blocks``,
        ``groups`` and, of two samples, ``paired``, of pairs ``shift``.

    Notes
    -----
    All randomness must come from ``rng``, or trials cannot be repeated.  The null twin permutes what the function
    returns: two samples are pooled and split at random, pairs are paired anew at random; with a ``restriction`` as far
    as that allows.

    Examples
    --------
    >>> def exponential(rng, n):
    ...     return rng.normal(1.0, 1.0, size=n), rng.exponential(size=n)
    >>> design = FromFunction(exponential)
    >>> X, Y = design.sample(0, n=20)
    >>> X.shape, Y.shape
    ((20, 1), (20, 1))
    >>> design.null()
    Relabelled(design=FromFunction(exponential, test='two-sample'))

    Before and after, in the same patients:

    >>> def before_and_after(rng, n):
    ...     before = rng.normal(scale=5.0, size=n)
    ...     return before, before + rng.normal(0.5, 1.0, size=n)
    >>> def pairs(n, m):
    ...     return {"paired": True}
    >>> design = FromFunction(before_and_after, restriction=pairs)
    >>> design.options_for(20, 20)
    {'paired': True}
    """

    name: ClassVar[str] = "function"
    summary: ClassVar[str] = "data from a function (rng, n) -> (X, Y)"

    function: Callable[..., Any]
    test: str = parameter(TWO_SAMPLE.name, choice, known=TESTS)
    ratio: float = field(default=1.0, kw_only=True, metadata={"check": positive})
    restriction: Callable[[int, int], dict[str, Any]] | None = field(default=None, kw_only=True)

    def _check(self) -> None:
        if not callable(self.function):
            raise TypeError(f"function must be callable, (rng, n) -> (X, Y); found {self.function!r}")
        if self.ratio != 1.0 and self.test == TWO_SAMPLE.name:
            check_signature(
                self.function, ("rng", "n", "m"), "function must be (rng, n, m) -> (X, Y) where ratio is not 1"
            )
        else:
            check_signature(self.function, ("rng", "n"), "function must be (rng, n) -> (X, Y)")
        if self.restriction is not None:
            if not callable(self.restriction):
                raise TypeError(f"restriction must be callable, (n, m) -> dict; found {self.restriction!r}")
            check_signature(self.restriction, ("n", "m"), "restriction must be (n, m) -> dict")
        _no_ratio_of_pairs(self)

    def sample(self, rng: Any, n: int, m: int | None = None) -> tuple[Array, ...]:
        n, asked = self._sizes(n, m)
        generator = as_rng(rng)
        plain = asked == n and self.ratio == 1.0  # otherwise the function takes m, and may not be without it
        drawn = self.function(generator, n) if plain else self.function(generator, n, asked)
        if not (isinstance(drawn, tuple | list) and len(drawn) == 2):
            raise TypeError(f"{self!r} must return a pair (X, Y); found {type(drawn).__name__}")
        if all(map(is_table, drawn)):  # the test reads them, with their types and missing values
            x, y = drawn
        else:
            read: Callable[..., Any] = read_samples if self.test == TWO_SAMPLE.name else read_variables
            x, y = read(drawn, XY, "propagate").values  # what is missing is for the test, which knows a nan_policy
        fixed = m is not None or self.ratio != 1.0  # otherwise the function decides how many Y go with n X
        for name, rows, size in (("X", len(x), n), ("Y", len(y), asked if fixed else len(y))):
            if rows != size:  # power "at n" would be power at another n
                raise ValueError(
                    f"{self!r} must return {counted(size, 'row')} in {name} when asked for {size}; found {rows}"
                )
        return x, y

    def draw(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, ...]:
        return self.sample(rng, n, m)

    def options_for(self, n: int, m: int) -> dict[str, Any]:
        if self.restriction is None:
            return {}
        told = self.restriction(n, m)
        if not isinstance(told, dict):
            raise TypeError(f"restriction must return a dict such as {{'paired': True}}; found {told!r}")
        for key in told:
            choice(
                key,
                KINDS[self.test].restrictions,
                f"a key of what restriction returns, for {KINDS[self.test].described},",
            )
        return told

    def __repr__(self) -> str:
        more = "" if self.restriction is None else f", restriction={_name(self.restriction)}"
        return f"FromFunction({_name(self.function)}, {_purpose(self)}{more})"


def _no_ratio_of_pairs(design: Design) -> None:
    if design.test == INDEPENDENCE.name and design.ratio != 1.0:
        raise ValueError(f"ratio={design.ratio} is for two samples; pairs have as many y as x")


def _name(function: Any) -> str:
    return getattr(function, "__qualname__", repr(function))


def _purpose(design: Design) -> str:
    return f"test={design.test!r}" + (f", ratio={design.ratio}" if design.ratio != 1.0 else "")


def _varies(values: Array) -> bool:
    return bool((values != values[0]).any())
