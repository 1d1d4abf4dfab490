"""Design: data at any sample size, and a twin under the null hypothesis."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields, is_dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from shrinktest._check import Array, choice, count, flag, positive
from shrinktest._random import as_rng
from shrinktest.data.labels import numbered
from shrinktest.data.read import XY, read_samples, read_variables
from shrinktest.data.series import read_series
from shrinktest.data.tables import stacked, taken
from shrinktest.results.base import same
from shrinktest.results.info import (
    CHANGE,
    CONDITIONAL,
    FACTOR,
    INDEPENDENCE,
    K_SAMPLE,
    KINDS,
    TWO_SAMPLE,
)

#: Tests of two samples or variables.
TESTS = (TWO_SAMPLE.name, INDEPENDENCE.name)

_SHOWN = 100  # numbers of an array in a repr


def parameter(default: Any, check: Any, *, kw_only: Any = MISSING, **limits: Any) -> Any:
    """Field of a design: its default, and the function that checks and converts it.

    The function is called with (value, name=..., **limits).
    """
    return field(default=default, kw_only=kw_only, metadata={"check": partial(check, **limits)})


def up_to(value: Any, name: str, high: float, included: bool = True) -> float:
    """Return a number from 0 to ``high``."""
    number = positive(value, name, allow_zero=True)
    if number > high or (number == high and not included):
        raise ValueError(
            f"{name} must be a number from 0 to {high:g}{'' if included else ' (excluded)'}, got "
            f"{value}"
        )
    return number


def function_name(function: Any) -> str:
    """Return a name that is the same in every process, and so has no address."""
    if isinstance(function, partial):
        arguments = [
            *map(repr, function.args),
            *(f"{key}={value!r}" for key, value in function.keywords.items()),
        ]
        return f"{function_name(function.func)}({', '.join(arguments)})"
    kind: Any = type(function)
    plain = kind.__qualname__ if kind.__repr__ is object.__repr__ else repr(function)
    return str(getattr(function, "__qualname__", None) or plain)


class Design:
    """A source of simulated data for a test, with a twin under the null hypothesis.

    Derive designs of your own from this class, which has no parameters itself.

    Notes
    -----
    A design of your own is a frozen dataclass with ``test`` ("two-sample", "independence",
    "k-sample", "joint-independence", "change-point", "symmetry", "conditional-independence" or
    "factor") and ``draw``, which returns the samples or variables as a tuple of arrays; for
    "factor" it returns a table and the response, while formula and term are in ``options``.  Its
    null twin permutes the drawn rows, unless ``neutral`` names the parameters at which there is no
    effect or ``null`` returns another design.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from shrinktest.power.designs import Design
    >>> @dataclass(frozen=True, repr=False)
    ... class Skewed(Design):
    ...     test = "two-sample"
    ...     neutral = {"stretch": 0.0}
    ...     stretch: float = 0.5
    ...
    ...     def draw(self, rng, n, m):
    ...         y = rng.normal(size=(m, 1))
    ...         return rng.normal(size=(n, 1)), np.where(y > 0, (1 + self.stretch) * y, y)
    >>> [len(sample) for sample in Skewed(stretch=2.0).sample(0, n=20)], Skewed(stretch=2.0).null()
    ([20, 20], Skewed(stretch=0.0))
    """

    #: Name on the command line, such as "mean-shift", by default from the class.
    name: ClassVar[str] = ""
    #: One line for lists and tables: the first of the docstring.
    summary: ClassVar[str] = ""
    #: The parameters at which there is no effect; empty if the null twin is made in another way.
    neutral: ClassVar[dict[str, Any]] = {}
    #: The test the data are for.
    test: str
    #: Size of Y, or of the last of several samples, over size of X.
    ratio: float = 1.0

    def __init_subclass__(cls) -> None:
        cls.name = vars(cls).get("name") or re.sub(r"(?<!^)(?=[A-Z])", "-", cls.__name__).lower()
        cls.summary = (cls.__doc__ or "").partition("\n")[0].rstrip(".")

    def __post_init__(self) -> None:
        for f in fields(self):  # type: ignore[arg-type]  # every subclass that has parameters is a dataclass
            if "check" in f.metadata:
                object.__setattr__(
                    self, f.name, f.metadata["check"](getattr(self, f.name), name=f.name)
                )
        self._check()

    def _check(self) -> None:
        """Raise ValueError for parameters that contradict each other."""

    def sample(self, rng: Any, n: int, m: int | None = None) -> tuple[Array, ...]:
        """Draw the data of one trial.

        Parameters
        ----------
        rng : None, int, SeedSequence, BitGenerator or Generator
            Seed or source of the random numbers.
        n, m : int
            Number of observations in ``X``, at least ``smallest()``, and in ``Y`` of two samples,
            by default ``ratio`` times n.

        Returns
        -------
        tuple of ndarray, shapes (n, p) and (m, q)
            The samples (with as many columns), or the variables (with as many rows).

        Raises
        ------
        ValueError
            If ``n`` or ``m`` is too small, or the drawn data have another number of rows.
        """
        return self.trial(rng, n, m)[0]

    def trial(
        self, rng: Any, n: int, m: int | None = None
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Draw the data of one trial, and the row arguments of the test, such as blocks."""
        n, m = self._sizes(n, m)
        drawn = self.draw(as_rng(rng), n, m)
        if not isinstance(drawn, tuple | list):
            raise TypeError(
                f"draw of {self!r} must return a tuple of arrays, (X, Y), or (X,) for one series"
            )
        rows = [len(part) for part in drawn]
        expected = [n] + [m] * (len(rows) - 1) if self.test != K_SAMPLE.name else [n, *rows[1:]]
        # n groups have any number of rows
        if rows != expected and "groups" not in {**self.options(), **self.options_for(n, m)}:
            expected_rows, drawn_rows = (" + ".join(map(str, sizes)) for sizes in (expected, rows))
            raise ValueError(
                f"draw of {self!r} must return {expected_rows} rows for n={n}, m={m}; found "
                f"{drawn_rows}"
            )
        return tuple(drawn), self.options_for(rows[0], rows[min(1, len(rows) - 1)])

    def draw(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, ...]:
        """Return the samples or the variables.

        Variables have n rows each, whereas the last sample has m rows and the others have n.
        """
        raise NotImplementedError

    def null(self) -> Design:
        """Return the twin under the null hypothesis.

        A design that is its own twin returns itself.
        """
        if not self.neutral:
            return Relabeled(self)
        for key in self.neutral:
            names = [f.name for f in fields(self)]  # type: ignore[arg-type]
            choice(key, names, f"a parameter in {type(self).__name__}.neutral")
        twin: Design = replace(self, **self.neutral)  # type: ignore[type-var]  # a dataclass, as it has parameters
        return self if same(twin, self) else twin

    def options(self) -> dict[str, Any]:
        """Return keyword arguments for the test that belong to the design."""
        return {}

    def options_for(self, n: int, m: int) -> dict[str, Any]:
        """Return row arguments of the test, such as blocks, for n rows of X and m of Y."""
        return {}

    def smallest(self) -> int:
        """Return the smallest ``n`` that ``sample`` accepts."""
        return 2

    @property
    def described(self) -> str:
        """Source of its data sets, in words."""
        return repr(self)

    @property
    def unit(self) -> str:
        """Name of the units that ``n`` counts, if these are not observations."""
        return ""

    @property
    def assumption(self) -> str:
        """Assumption of a sample size that comes from pilot data; empty without these."""
        return ""

    def __repr__(self) -> str:
        return self._text(digests=False)

    def identity(self) -> str:
        """Return the repr with a digest of long arrays, by which stores know the design."""
        return self._text(digests=True) if type(self).__repr__ is Design.__repr__ else repr(self)

    def _text(self, digests: bool) -> str:
        """Return the expression that rebuilds the value, without parameters at their defaults."""
        if not is_dataclass(self):
            return f"{type(self).__name__}()"
        ordered = sorted(
            fields(self), key=lambda f: f.kw_only
        )  # parameters of the design itself first
        shown = [
            (f.name, getattr(self, f.name))
            for f in ordered
            if not same(getattr(self, f.name), f.default)
        ]
        arguments = [f"{name}={_shown(value, digests)}" for name, value in shown]
        return f"{type(self).__name__}({', '.join(arguments)})"

    def _sizes(self, n: Any, m: Any) -> tuple[int, int]:
        """Return the numbers of rows of X and Y, checked; halves in n * ratio round up."""
        samples = KINDS[self.test].several_samples
        if m is not None and (self.test not in TESTS or (not samples and m != n)):
            raise ValueError(
                f"{self!r} draws as many rows of all variables: leave out m (got n={n}, m={m})"
            )
        for name, size in (("n", n), ("m", n if m is None else m)):
            if count(size, name, minimum=0) < self.smallest():
                raise ValueError(f"{self!r} needs {name} >= {self.smallest()}, got {size}")
        second = max(2, math.floor(n * self.ratio + 0.5)) if m is None else int(m)
        return int(n), second if samples else int(n)


def _shown(value: Any, digests: bool) -> str:
    """Return the repr of a parameter; for long arrays their shape and perhaps a digest."""
    if isinstance(value, Design):
        return value.identity() if digests else repr(value)
    if not isinstance(value, np.ndarray) or value.dtype.hasobject:
        return repr(value)
    if value.size <= _SHOWN:
        return repr(value.tolist())
    shape = " x ".join(map(str, value.shape))
    return (
        f"<{shape}, sha256 {hashlib.sha256(value.tobytes()).hexdigest()[:12]}>"
        if digests
        else f"<{shape} array>"
    )


@dataclass(frozen=True, kw_only=True, repr=False)
class TwoSampleDesign(Design):
    """Two samples, one from a distribution and one from a changed version of it.

    Parameters
    ----------
    ratio : float, default 1.0
        Size of Y over size of X; halves round up, and Y has at least two rows.
    swap : bool, default False
        True if X is the changed sample; otherwise Y is.
    """

    test = TWO_SAMPLE.name
    ratio: float = parameter(1.0, positive)
    swap: bool = parameter(False, flag)

    def draw(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, ...]:
        if self.swap:
            original, changed = self._pair(rng, m, n)
            return changed, original
        return self._pair(rng, n, m)

    def _pair(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, Array]:
        """Return a sample (n, d) of the distribution and one (m, d) of its changed version."""
        return self.null()._rows(rng, n), self._rows(rng, m)  # type: ignore[attr-defined]  # twins are of their kind

    def _rows(self, rng: np.random.Generator, n: int) -> Array:
        """Return a sample (n, d) of the changed distribution.

        Of the other one at the ``neutral`` parameters.
        """
        raise NotImplementedError


class IndependenceDesign(Design):
    """Pairs (x, y); in the null twin, variables with the same margins are independent."""

    test = INDEPENDENCE.name

    def null(self) -> Design:
        return Independent(self)


@dataclass(frozen=True, repr=False)
class Twin(Design):
    """A design made of another one; if it is a null twin, it is its own."""

    design: Design

    @property
    def test(self) -> str:  # type: ignore[override]  # others have an attribute
        return self.design.test

    @property
    def ratio(self) -> float:  # type: ignore[override]
        return self.design.ratio

    def null(self) -> Design:
        return self

    def options(self) -> dict[str, Any]:
        return self.design.options()

    def options_for(self, n: int, m: int) -> dict[str, Any]:
        return self.design.options_for(n, m)

    def smallest(self) -> int:
        return self.design.smallest()


@dataclass(frozen=True, repr=False)
class Independent(Twin):
    """The null twin of an independence design: x of one data set, y of another.

    Parameters
    ----------
    design : Design
        Independence design from which both data sets are drawn.
    """

    def draw(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, ...]:
        x, _ = self.design.sample(rng, n)
        _, y = self.design.sample(rng, m)
        return x, y


@dataclass(frozen=True, repr=False)
class Relabeled(Twin):
    """Null twin of any design, by a random split or permutation of its rows.

    Samples are pooled and split at random, whereas of several variables each but the first is
    permuted.  If the design restricts permutations, observations are permuted only as far as that
    allows.

    Parameters
    ----------
    design : Design
        Design whose data are relabeled.
    """

    def _check(self) -> None:
        if self.design.test == CONDITIONAL.name:
            raise ValueError(
                f"no permutation makes X and Y of {self.design!r} independent given Z; use "
                "neutral= parameters, or "
                "use with_null=False"
            )
        if self.design.test == FACTOR.name:
            raise ValueError(
                f"{self.design!r} has no null twin by permutation; use neutral= parameters, or "
                "use with_null=False"
            )

    def trial(
        self, rng: Any, n: int, m: int | None = None
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        rng = as_rng(rng)
        data, labels = self.design.trial(rng, n, m)
        names = XY if self.test in TESTS else numbered("samples", len(data))
        if self.test == CHANGE.name:
            order = read_series(data[0], "indicator", **labels).restriction.random_order(
                rng, len(data[0])
            )
            return (taken(data[0], order),), labels
        samples = KINDS[self.test].several_samples
        read: Callable[..., Any] = read_samples if samples else read_variables
        restriction = read(data, names, "indicator", **labels).restriction if labels else None

        def random_order(size: int) -> Any:
            return restriction.random_order(rng, size) if restriction else rng.permutation(size)

        if samples:
            rows = stacked(data, names)
            ends = np.cumsum([len(sample) for sample in data])[:-1]
            return tuple(
                taken(rows, part) for part in np.split(random_order(len(rows)), ends)
            ), labels
        first, *others = data
        return (first, *(taken(variable, random_order(len(first))) for variable in others)), labels
