"""Designs from data: pilot data to resample, a function that draws data, and the measured points of Eckerle4."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from shrinktest._check import Array, as_rng, check_signature, choice, counted, flag, positive
from shrinktest.data.read import XY, read_samples, read_variables
from shrinktest.data.tables import is_table
from shrinktest.datasets import RESIDUAL_SD, load_eckerle4, simulate_eckerle
from shrinktest.kernels import median_bandwidth
from shrinktest.power.designs.base import TESTS, Design, IndependenceDesign, Independent, Relabelled, parameter
from shrinktest.results.info import INDEPENDENCE, KINDS, TWO_SAMPLE

#: Number of points in Eckerle4.
POINTS = 35


@dataclass(frozen=True, eq=False, repr=False)
class FromData(Design):
    """Resampled pilot data: the power if the population looked like the pilot study.

    Parameters
    ----------
    X, Y : array_like, shape (n, d) and (m, d), or (n,) and (m,)
        The pilot data: two samples, or two variables whose rows belong together.  Kept as read-only copies; tables as
        the numbers that they become in a test, in its default units.
    test : {"two-sample", "independence"}, default "two-sample"
    ratio : float, default 1.0
        Size of Y over size of X in the planned study, for two samples.
    paired : bool, default False
        True if row i of X and row i of Y are a pair, as in the planned study.
    groups : array_like, optional
        Labels of rows that belong together, as in the test: of all rows of two samples or a pair (of X, of Y); of the
        rows of two variables.  Whole groups are resampled, tests permute groups, and ``n`` counts groups.
    nan_policy : {"raise", "omit", "indicator"}, default "raise"
        What tests do with missing values, which pilot data may have unless it is "raise".
    column_types : mapping, optional
        How columns of tables are read, as in the test.

    Notes
    -----
    Rows, pairs or groups are drawn with replacement (the bootstrap).  The null twin draws both samples from the pooled
    rows, or the two variables apart; it swaps pairs at random, and permutes the groups of variables.  Data sets have
    ties that a new study would not have, and an effect that is in the pilot data by chance counts as real, so that
    powers tend to be too high.  A draw whose complete rows are all equal is drawn again.

    Examples
    --------
    >>> design = FromData([1.2, 0.3, 0.5, 0.8], [2.1, 1.9, 3.0], ratio=2.0)
    >>> X, Y = design.sample(0, n=5)
    >>> X.shape, Y.shape, bool(np.isin(Y, [2.1, 1.9, 3.0]).all())
    ((5, 1), (10, 1), True)
    """

    name = "pilot data"
    X: Array
    Y: Array
    test: str = parameter(TWO_SAMPLE.name, choice, known=TESTS)
    ratio: float = parameter(1.0, positive, kw_only=True)
    paired: bool = parameter(False, flag, kw_only=True)
    groups: Any = field(default=None, kw_only=True)
    nan_policy: str = parameter("raise", choice, kw_only=True, known=("raise", "omit", "indicator"))
    column_types: Any = field(default=None, kw_only=True)

    def _check(self) -> None:
        samples = self.test == TWO_SAMPLE.name
        _check_ratio(self)
        if self.paired and not (samples and self.ratio == 1.0):
            raise ValueError("paired=True is for two samples, with ratio=1.0")
        if self.paired and self.groups is not None:
            raise ValueError("paired=True cannot be combined with groups=; make each pair a group")
        read: Callable[..., Any] = read_samples if samples else read_variables
        labels: dict[str, Any] = (
            {"groups": self.groups} if self.groups is not None else {"paired": True} if self.paired else {}
        )
        reading = {"scale": "auto", "column_types": self.column_types}
        read((self.X, self.Y), XY, self.nan_policy, **reading, **labels)  # raises what the test would
        x, y = read((self.X, self.Y), XY, "propagate", **reading).values
        object.__setattr__(self, "column_types", None)  # X and Y are numbers from here on
        complete = [~np.isnan(values).any(axis=1) for values in (x, y)]
        if samples:
            margins = [("X and Y together", np.vstack([x[complete[0]], y[complete[1]]]))]
        else:
            both = complete[0] & complete[1]
            margins = [("X", x[both]), ("Y", y[both])]
        for which, values in margins:
            if not _varies(values):
                raise ValueError(f"all complete rows of {which} are equal, so that no test can reject")
        for name, values in (("X", x), ("Y", y)):
            values.setflags(write=False)
            object.__setattr__(self, name, values)
        if self.groups is not None:
            parts = self.groups if samples and len(self.groups) == 2 and np.ndim(self.groups[0]) else [self.groups]
            names = np.concatenate([np.asarray(part).astype(str) for part in parts])
            pooled = np.unique(names, return_inverse=True)[1]
            groups = (pooled[: len(x)], pooled[len(x) :]) if samples else (pooled, pooled)
            object.__setattr__(self, "groups", groups)

    def draw(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, ...]:
        return self._drawn(rng, n, m)[0]

    def _drawn(self, rng: np.random.Generator, n: int, m: int) -> tuple[tuple[Array, Array], dict[str, Any]]:
        """Data, and the labels of their groups."""
        together = self.test == INDEPENDENCE.name or self.paired
        while True:
            rows, group = self._chosen(rng, 0, n)
            others, other = (rows, group) if together else self._chosen(rng, 1, m)
            x, y = self.X[rows], self.Y[others]
            if _usable(x, y, self.test == INDEPENDENCE.name):  # whatever the labels, so that null twins keep the level
                labels = group if self.test == INDEPENDENCE.name else (group, n + other)
                return (x, y), {} if self.groups is None else {"groups": labels}

    def _chosen(self, rng: np.random.Generator, part: int, size: int) -> tuple[Any, Any]:
        """Rows of X or Y drawn with replacement, and the numbers of their groups."""
        if self.groups is None:
            return rng.integers(len((self.X, self.Y)[part]), size=size), np.empty(0)
        codes = np.unique(self.groups[part], return_inverse=True)[1]
        members = [np.flatnonzero(codes == code) for code in range(codes.max() + 1)]
        chosen = [members[k] for k in rng.integers(len(members), size=size)]
        return np.concatenate(chosen), np.repeat(np.arange(size), [len(rows) for rows in chosen])

    def trial(self, rng: Any, n: int, m: int | None = None) -> tuple[tuple[Any, ...], dict[str, Any]]:
        if self.groups is None:
            return super().trial(rng, n, m)
        return self._drawn(as_rng(rng), *self._sizes(n, m))

    def sample(self, rng: Any, n: int, m: int | None = None) -> tuple[Array, ...]:
        return super().sample(rng, n, m) if self.groups is None else self.trial(rng, n, m)[0]

    def options(self) -> dict[str, Any]:
        return {} if self.nan_policy == "raise" else {"nan_policy": self.nan_policy}

    def options_for(self, n: int, m: int) -> dict[str, Any]:
        return {"paired": True} if self.paired else {}

    def null(self) -> Design:
        if self.paired or (self.groups is not None and self.test == INDEPENDENCE.name):
            return Relabelled(self)
        if self.test == INDEPENDENCE.name:
            return Independent(self)
        if np.array_equal(self.X, self.Y, equal_nan=True):
            return self
        pooled, groups = np.vstack([self.X, self.Y]), None
        if self.groups is not None:
            codes = np.concatenate(self.groups)
            groups = codes, codes + codes.max() + 1
        return FromData(pooled, pooled, ratio=self.ratio, groups=groups, nan_policy=self.nan_policy)

    @property
    def unit(self) -> str:
        return "" if self.groups is None else "groups"

    @property
    def described(self) -> str:
        sizes = [len(self.X), len(self.Y)]
        if self.groups is not None:
            sizes = [len(set(codes.tolist())) for codes in self.groups]
        numbers = f"{sizes[0]} and {sizes[1]}" if self.test == TWO_SAMPLE.name else str(sizes[0])
        return f"your pilot data ({numbers} {self.unit or 'rows'})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FromData) and self.identity() == other.identity()

    def __hash__(self) -> int:
        return hash(self.identity())

    def _text(self, digests: bool) -> str:
        shapes = ", ".join(f"{name} {len(z)} x {z.shape[1]}" for name, z in (("X", self.X), ("Y", self.Y)))
        if digests:
            content = self.X.tobytes() + self.Y.tobytes()
            content += b"" if self.groups is None else b"".join(codes.tobytes() for codes in self.groups)
            shapes += f", sha256 {hashlib.sha256(content).hexdigest()[:12]}"
        more = ", paired=True" if self.paired else ""
        more += "" if self.groups is None else f", groups=<{self.described[17:-8]}>"
        more += "" if self.nan_policy == "raise" else f", nan_policy={self.nan_policy!r}"
        return f"FromData(<{shapes}>, {_purpose(self)}{more})"


@dataclass(frozen=True, repr=False)
class FromFunction(Design):
    """Data from a function; power studies make one of any callable.

    Parameters
    ----------
    function : callable
        ``function(rng, n) -> (X, Y)`` with a numpy Generator and the number of rows of X; for an independence test Y
        has as many rows.  Both may be tables.  If another size of Y is requested, or the ratio is not 1, it is called
        as ``function(rng, n, m)``.  All randomness must come from ``rng``.
    test : {"two-sample", "independence"}, default "two-sample"
    ratio : float, default 1.0
        Size of Y over size of X, for two samples; other ratios need a function that takes ``m``.
    restriction : callable, optional
        ``restriction(n, m) -> dict`` of arguments of the test that restrict its permutations: ``blocks``, ``groups``
        and, for two samples, ``paired``, for pairs ``shift``.

    Notes
    -----
    The null twin permutes what the function returns: two samples are pooled and split at random, pairs are paired anew
    at random; with a ``restriction`` as far as that allows.

    Examples
    --------
    >>> def before_and_after(rng, n):
    ...     before = rng.normal(scale=5.0, size=n)
    ...     return before, before + rng.normal(0.5, 1.0, size=n)
    >>> def pairs(n, m):
    ...     return {"paired": True}
    >>> design = FromFunction(before_and_after, restriction=pairs)
    >>> [len(sample) for sample in design.sample(0, n=20)], design.options_for(20, 20)
    ([20, 20], {'paired': True})
    """

    name = "function"
    function: Callable[..., Any]
    test: str = parameter(TWO_SAMPLE.name, choice, known=TESTS)
    ratio: float = parameter(1.0, positive, kw_only=True)
    restriction: Callable[[int, int], dict[str, Any]] | None = field(default=None, kw_only=True)

    def _check(self) -> None:
        sizes = ("n", "m") if self.ratio != 1.0 and self.test == TWO_SAMPLE.name else ("n",)
        meaning = f"function must be (rng, {', '.join(sizes)}) -> (X, Y){' if ratio is not 1' * (len(sizes) > 1)}"
        for name, function, arguments, form in (
            ("function", self.function, ("rng", *sizes), meaning),
            ("restriction", self.restriction, ("n", "m"), "restriction must be (n, m) -> dict"),
        ):
            if function is not None or name == "function":
                if not callable(function):
                    raise TypeError(f"{name} must be callable; found {function!r}")
                check_signature(function, arguments, form)
        _check_ratio(self)

    def sample(self, rng: Any, n: int, m: int | None = None) -> tuple[Array, ...]:
        n, second_size = self._sizes(n, m)
        generator = as_rng(rng)
        plain = second_size == n and self.ratio == 1.0  # otherwise the function takes m
        drawn = self.function(generator, n) if plain else self.function(generator, n, second_size)
        if not (isinstance(drawn, tuple | list) and len(drawn) == 2):
            raise TypeError(f"{self!r} must return a pair (X, Y); found {type(drawn).__name__}")
        if all(map(is_table, drawn)):  # the test reads them, with their types and missing values
            x, y = drawn
        else:
            read: Callable[..., Any] = read_samples if self.test == TWO_SAMPLE.name else read_variables
            x, y = read(drawn, XY, "propagate").values  # missing values are left to the test, which has a nan_policy
        fixed = m is not None or self.ratio != 1.0  # otherwise the function decides how many Y go with n X
        for name, rows, size in (("X", len(x), n), ("Y", len(y), second_size if fixed else len(y))):
            if rows != size:  # power "at n" would be power at another n
                raise ValueError(f"{self!r} must return {counted(size, 'row')} in {name}; found {rows}")
        return x, y

    def draw(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, ...]:
        return self.sample(rng, n, m)

    def options_for(self, n: int, m: int) -> dict[str, Any]:
        labels = {} if self.restriction is None else self.restriction(n, m)
        for key in labels:
            choice(key, KINDS[self.test].restrictions, f"a key of what restriction returns, for a {self.test} test,")
        return labels

    @property
    def described(self) -> str:
        return f"{_name(self.function)}()"

    def _text(self, digests: bool) -> str:
        more = "" if self.restriction is None else f", restriction={_name(self.restriction)}"
        return f"FromFunction({_name(self.function)}, {_purpose(self)}{more})"


def _check_ratio(design: Design) -> None:
    if design.test == INDEPENDENCE.name and design.ratio != 1.0:
        raise ValueError(f"ratio={design.ratio} is for two samples; pairs have as many y as x")


def _name(function: Any) -> str:
    return getattr(function, "__qualname__", repr(function))


def _purpose(design: Design) -> str:
    return f"test={design.test!r}" + (f", ratio={design.ratio}" if design.ratio != 1.0 else "")


def _varies(values: Array) -> bool:
    return len(values) > 0 and bool((values != values[0]).any())


def _usable(x: Array, y: Array, together: bool) -> bool:
    """Return True if each of X and Y has two complete rows, and they vary: together, or each alone."""
    complete = [~np.isnan(values).any(axis=1) for values in (x, y)]
    if together:
        complete = [complete[0] & complete[1]] * 2
    x, y = x[complete[0]], y[complete[1]]
    return min(len(x), len(y)) > 1 and (_varies(x) and _varies(y) if together else _varies(np.vstack([x, y])))


# --- Eckerle4 -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class EckerleSubsample(IndependenceDesign):
    """Subsamples of the 35 points of Eckerle4.

    Drawn without replacement, with the median bandwidths of "all" points, as in the study of [X20] Table 4, or the
    "median" of each subsample.  The null twin takes the variables from two independent subsamples.

    Examples
    --------
    >>> design = EckerleSubsample()
    >>> [design.size(fraction) for fraction in (0.1, 0.15, 0.2, 0.25, 0.3)]
    [4, 5, 7, 9, 11]
    >>> {name: round(value, 4) for name, value in design.options().items()}
    {'bandwidth_x': 24.0, 'bandwidth_y': 0.0543}
    """

    name = "eckerle4"
    bandwidth: str = parameter("all", choice, known=("all", "median"))

    @staticmethod
    def size(fraction: float) -> int:
        """Return the number of points that is this fraction of the data set; halves round up."""
        size = math.floor(POINTS * positive(fraction, "fraction") + 0.5)
        if not 2 <= size <= POINTS:
            raise ValueError(f"fraction must give 2 to {POINTS} of the {POINTS} points; {fraction} gives {size}")
        return size

    def _size(self, size: Any, name: str) -> int:
        if (size := super()._size(size, name)) > POINTS:
            raise ValueError(
                f"Eckerle4 has {POINTS} points, fewer than {size}; use n <= {POINTS}, or EckerleSimulation"
            )
        return size

    def draw(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, ...]:
        rows = rng.choice(POINTS, size=n, replace=False)
        wavelength, transmittance = load_eckerle4()
        return wavelength[rows, np.newaxis], transmittance[rows, np.newaxis]

    def options(self) -> dict[str, Any]:
        if self.bandwidth == "median":
            return {}
        x, y = load_eckerle4()
        return {"bandwidth_x": median_bandwidth(x), "bandwidth_y": median_bandwidth(y)}


@dataclass(frozen=True, repr=False)
class EckerleSimulation(IndependenceDesign):
    """Simulations from the model of Eckerle4, at any sample size.

    Uniform wavelengths, NIST's certified curve, and Gaussian ``noise``, by default with the certified residual standard
    deviation; see :func:`simulate_eckerle`.
    """

    noise: float = parameter(RESIDUAL_SD, positive, allow_zero=True)

    def draw(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, ...]:
        wavelength, transmittance = simulate_eckerle(n, self.noise, rng)
        return wavelength[:, np.newaxis], transmittance[:, np.newaxis]
