"""The seam of every design: data at any sample size, and a twin under the null hypothesis."""

from __future__ import annotations

import hashlib
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from shrinktest._check import Array, as_rng, choice, count, flag, positive
from shrinktest._series import read_series
from shrinktest.data.labels import numbered
from shrinktest.data.read import XY, read_samples, read_variables
from shrinktest.data.tables import stacked, taken
from shrinktest.results.base import same
from shrinktest.results.info import CHANGE, CONDITIONAL, INDEPENDENCE, K_SAMPLE, TWO_SAMPLE

#: Tests of two samples or variables.
TESTS = (TWO_SAMPLE.name, INDEPENDENCE.name)
#: Tests of samples, not of variables.
SAMPLES = (TWO_SAMPLE.name, K_SAMPLE.name)

_SHOWN = 100  # numbers of an array in a repr


def parameter(default: Any, check: Any, **limits: Any) -> Any:
    """A field of a design: its default, and the function (value, name=..., **limits) that checks and converts it."""
    return field(default=default, metadata={"check": partial(check, **limits)})


def up_to(value: Any, name: str, high: float, included: bool = True) -> float:
    """A number from 0 to ``high``."""
    number = positive(value, name, allow_zero=True)
    if number > high or (number == high and not included):
        raise ValueError(f"{name} must be a number from 0 to {high:g}{'' if included else ' (excluded)'}, got {value}")
    return number


def sizes_of(data: Sequence[Any]) -> tuple[int, int]:
    """Rows of the first two samples or variables; of one series its own, twice."""
    return len(data[0]), len(data[min(1, len(data) - 1)])


class Design(ABC):
    """A source of simulated data for a test: ``sample`` draws them, ``null`` gives its twin with nothing to find.

    Notes
    -----
    A design of your own is one class, a frozen dataclass with two things: ``test``, one of "two-sample",
    "independence", "k-sample", "joint-independence" and "change-point", and ``draw``, which returns the samples or
    variables as a tuple of arrays. Its null twin permutes what it draws; instead, ``neutral`` may name the parameters
    at which there is nothing to be found, or ``null`` may return another design. Power studies, sample sizes and
    :class:`Relabelled` take it like any other.

    Examples
    --------
    Two samples of which the second one has a stretched tail on one side:

    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from shrinktest.power.designs import Design
    >>> @dataclass(frozen=True, repr=False)
    ... class Skewed(Design):
    ...     test = "two-sample"
    ...     neutral = {"stretch": 0.0}
    ...     stretch: float = 0.5
    ...     def draw(self, rng, n, m):
    ...         y = rng.normal(size=(m, 1))
    ...         return rng.normal(size=(n, 1)), np.where(y > 0, (1 + self.stretch) * y, y)
    >>> [len(sample) for sample in Skewed(stretch=2.0).sample(0, n=20)], Skewed(stretch=2.0).null()
    ([20, 20], Skewed(stretch=0.0))

    One that is built in:

    >>> from shrinktest.power.designs import MeanShift
    >>> design = MeanShift(dimension=3, shift=0.5)
    >>> X, Y = design.sample(0, n=20)
    >>> X.shape, Y.shape, design.test
    ((20, 3), (20, 3), 'two-sample')
    >>> design.null()
    MeanShift(dimension=3, shift=0.0)
    """

    #: The name on the command line, such as "mean-shift".
    name: ClassVar[str] = ""
    #: One line for lists and tables.
    summary: ClassVar[str] = ""
    #: The parameters at which nothing is to be found; none where the null twin is made in another way.
    neutral: ClassVar[dict[str, Any]] = {}

    @property
    @abstractmethod
    def test(self) -> str:
        """The test the data are for: "two-sample", "independence", "k-sample", "joint-independence", "change-point".

        Or "conditional-independence", of X, Y and what is given; it has ``neutral``, or a ``null`` of its own.
        """

    @property
    def ratio(self) -> float:
        """Size of Y, or of the last of several samples, over size of X."""
        return 1.0

    def __post_init__(self) -> None:
        """Check the parameters, and give equal values one form, so that equal designs have equal reprs."""
        for f in fields(self):  # type: ignore[arg-type]  # every subclass that has parameters is a dataclass
            if "check" in f.metadata:
                object.__setattr__(self, f.name, f.metadata["check"](getattr(self, f.name), name=f.name))
        self._check()

    def _check(self) -> None:  # noqa: B027 - not every design has parameters that constrain each other
        """Raise on parameters that do not go together."""

    def sample(self, rng: Any, n: int, m: int | None = None) -> tuple[Array, ...]:
        """Draw the data of one trial.

        Parameters
        ----------
        rng : None, int, SeedSequence, BitGenerator or Generator
            Seed or source of the random numbers.
        n : int
            Number of observations in ``X``, the first of the samples or variables, at least ``smallest()``.
        m : int, optional
            Number of observations in ``Y`` where there are two samples; by default what the design's ``ratio`` makes of
            ``n``.

        Returns
        -------
        tuple of ndarray, shapes (n, p) and (m, q)
            The samples (of as many columns), or the variables (of as many rows).

        Raises
        ------
        TypeError, ValueError
            For sizes that the design cannot give.
        """
        n, m = self._sizes(n, m)
        return self._checked(self.draw(as_rng(rng), n, m), n, m)

    def _checked(self, drawn: Any, n: int, m: int) -> tuple[Array, ...]:
        """What was drawn, if it is what was asked for: power "at n" would be power at another n."""
        if isinstance(drawn, np.ndarray) and drawn.ndim > 1 and self.test != CHANGE.name:
            drawn = tuple(drawn)
        if not isinstance(drawn, tuple | list):
            raise TypeError(
                f"draw of {self!r} must return a tuple of arrays, (X, Y), or (X,) of one series; found "
                f"{type(drawn).__name__}"
            )
        rows = [len(one) if np.ndim(one) or hasattr(one, "__len__") else 0 for one in drawn]
        wanted = [n] + [m] * (len(rows) - 1) if self.test != K_SAMPLE.name else [n, *rows[1:]]
        units = "groups" in {**self.options(), **self.options_for(n, m)}  # of several rows each, and n of these
        if rows != wanted and not units:
            raise ValueError(
                f"draw of {self!r} must return {' + '.join(map(str, wanted))} rows when asked for n={n} and m={m}; "
                f"found {' + '.join(map(str, rows))}"
            )
        return tuple(drawn)

    @abstractmethod
    def draw(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, ...]:
        """The samples or variables, for sizes that were checked.

        Two samples have n and m rows; of several samples, the last has m rows where the design has a ``ratio``.
        Variables have n rows, and m is n.
        """

    def null(self) -> Design:
        """The twin under the null hypothesis; a design that is its own twin returns itself."""
        if not self.neutral:
            return Relabelled(self)
        if not is_dataclass(self):
            raise TypeError(
                f"{type(self).__name__} has neutral={self.neutral!r} and no parameters: decorate the class with "
                "@dataclass(frozen=True, repr=False), and annotate its parameters"
            )
        for key in self.neutral:
            choice(key, [f.name for f in fields(self)], f"a parameter in {type(self).__name__}.neutral")  # type: ignore[arg-type]
        twin = replace(self, **self.neutral)
        return self if same(twin, self) else twin

    def options(self) -> dict[str, Any]:
        """Keyword arguments for the test that belong to the design."""
        return {}

    def options_for(self, n: int, m: int) -> dict[str, Any]:
        """Keyword arguments for the test that belong to n observations of X and m of Y, such as their blocks."""
        return {}

    def smallest(self) -> int:
        """The least ``n`` that ``sample`` takes."""
        return 2

    def __repr__(self) -> str:
        """The expression that rebuilds the value; parameters at their defaults are left out."""
        if not is_dataclass(self):
            return f"{type(self).__name__}()"
        ordered = sorted(fields(self), key=lambda f: f.kw_only)  # what a design has of its own comes first
        shown = [(f.name, getattr(self, f.name)) for f in ordered if not same(getattr(self, f.name), f.default)]
        return f"{type(self).__name__}({', '.join(f'{name}={_shown(value)}' for name, value in shown)})"

    def _sizes(self, n: Any, m: Any) -> tuple[int, int]:
        """The numbers of rows of X and Y, checked; halves in n * ratio round up."""
        if m is not None and self.test not in TESTS:
            raise ValueError(f"{self!r} draws more than two; leave out m (got n={n}, m={m})")
        n = self._size(n, "n")
        if self.test in SAMPLES:
            return n, max(2, math.floor(n * self.ratio + 0.5)) if m is None else self._size(m, "m")
        if m is not None and m != n:
            raise ValueError(f"{self!r} draws pairs, as many y as x: leave out m (got n={n}, m={m})")
        return n, n

    def _size(self, size: Any, name: str) -> int:
        size = count(size, name, minimum=0)
        if size < self.smallest():
            raise ValueError(f"{self!r} needs {name} >= {self.smallest()}, got {size}")
        return size


def _shown(value: Any) -> str:
    """The repr of a parameter; of large arrays, of which that leaves numbers out, their shape and a digest."""
    if not isinstance(value, np.ndarray) or value.dtype.hasobject:
        return repr(value)
    if value.size <= _SHOWN:
        return repr(value.tolist())
    return f"<{' x '.join(map(str, value.shape))}, sha256 {hashlib.sha256(value.tobytes()).hexdigest()[:12]}>"


@dataclass(frozen=True, kw_only=True, repr=False)
class TwoSampleDesign(Design):
    """Two samples, one from a distribution and one from a changed version of it.

    Parameters
    ----------
    ratio : float, default 1.0
        Size of Y over size of X; halves round up, and Y has at least two rows.
    swap : bool, default False
        Whether X is the changed sample; otherwise Y is.
    """

    test: ClassVar[str] = TWO_SAMPLE.name  # type: ignore[assignment]
    ratio: float = parameter(1.0, positive)
    swap: bool = parameter(False, flag)

    def draw(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, ...]:
        if self.swap:
            changed_last = self._pair(rng, m, n)
            return changed_last[1], changed_last[0]
        return self._pair(rng, n, m)

    @abstractmethod
    def _pair(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, Array]:
        """A sample (n, d) of the distribution and one (m, d) of its changed version."""


class IndependenceDesign(Design):
    """Pairs (x, y), independent of each other and identically distributed."""

    test: ClassVar[str] = INDEPENDENCE.name  # type: ignore[assignment]

    def null(self) -> Design:
        """Independent variables with the margins of the design."""
        return Independent(self)


@dataclass(frozen=True, repr=False)
class _Twin(Design):
    """A null twin, which is its own, with the options and the sizes of a design."""

    design: Design

    def null(self) -> Design:
        return self

    def options(self) -> dict[str, Any]:
        return self.design.options()

    def options_for(self, n: int, m: int) -> dict[str, Any]:
        return self.design.options_for(n, m)

    def smallest(self) -> int:
        return self.design.smallest()


@dataclass(frozen=True, repr=False)
class Independent(_Twin, IndependenceDesign):
    """The null twin of an independence design: x of one data set, y of another.

    Parameters
    ----------
    design : Design
        An independence design, whose margins it has.

    Examples
    --------
    >>> from shrinktest.power.designs import Linear
    >>> Linear(noise=0.5).null()
    Independent(design=Linear(noise=0.5))
    """

    name: ClassVar[str] = "independent"
    summary: ClassVar[str] = "the margins of another design, independent of each other"

    def _check(self) -> None:
        if not isinstance(self.design, Design) or self.design.test != INDEPENDENCE.name:
            raise TypeError(f"design must be an independence design; found {self.design!r}")

    def draw(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, ...]:
        x, _ = self.design.sample(rng, n)
        _, y = self.design.sample(rng, m)
        return x, y


@dataclass(frozen=True, repr=False)
class Relabelled(_Twin):
    """A null twin for any design: samples pooled and split at random, or one variable permuted against the others.

    Where the design restricts permutations, observations are permuted only among those with the same labels.

    Parameters
    ----------
    design : Design
        Where the data come from.

    Examples
    --------
    >>> from shrinktest.power.designs import MeanShift
    >>> X, Y = Relabelled(MeanShift(dimension=1, shift=50.0)).sample(0, n=100)
    >>> int((X > 25).sum()), int((Y > 25).sum())
    (52, 48)
    """

    name: ClassVar[str] = "relabelled"
    summary: ClassVar[str] = "the data of another design, permuted at random"

    def _check(self) -> None:
        if not isinstance(self.design, Design):
            raise TypeError(f"design must be a design; found {self.design!r}")
        if self.design.test == CONDITIONAL.name:
            raise ValueError(
                f"no permutation leaves X and Y of {self.design!r} independent given Z and all else as it is: name in "
                "neutral the parameters at which they are, give the design a null of its own, or make a power study "
                "with with_null=False"
            )

    @property
    def test(self) -> str:
        """That of the design."""
        return self.design.test

    @property
    def ratio(self) -> float:
        """That of the design."""
        return self.design.ratio

    def sample(self, rng: Any, n: int, m: int | None = None) -> tuple[Array, ...]:
        generator = as_rng(rng)
        data = self.design.sample(generator, n, m)
        told = self.design.options_for(*sizes_of(data))
        if self.test == CHANGE.name:
            restriction = read_series(data[0], "indicator", **told).restriction
            return (taken(data[0], restriction.random_order(generator, len(data[0]))),)
        names = XY if self.test in TESTS else numbered("samples", len(data))
        if self.test in SAMPLES:
            pooled = stacked(data, names)
            if told:
                restriction = read_samples(data, names, "indicator", **told).restriction
                order = restriction.random_order(generator, len(pooled))
            else:
                order = generator.permutation(len(pooled))
            ends = np.cumsum([len(sample) for sample in data])[:-1]
            return tuple(taken(pooled, rows) for rows in np.split(order, ends))
        first, *others = data
        if told:
            restriction = read_variables(data, names, "indicator", **told).restriction
            return first, *(taken(variable, restriction.random_order(generator, len(first))) for variable in others)
        return first, *(taken(variable, generator.permutation(len(first))) for variable in others)

    def draw(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, ...]:
        return self.sample(rng, n, m)
