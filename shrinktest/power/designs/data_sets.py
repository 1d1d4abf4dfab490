"""Designs from data: pilot data to resample, a data-drawing function, and Eckerle4.

Eckerle4 has measured points.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from shrinktest._check import Array, check_signature, choice, flag, positive
from shrinktest._random import as_rng
from shrinktest.data.read import XY, read_samples, read_variables
from shrinktest.data.tables import is_table
from shrinktest.datasets import RESIDUAL_SD, load_eckerle4, simulate_eckerle
from shrinktest.kernels import median_bandwidth
from shrinktest.power.designs.apportionment import apportioned
from shrinktest.power.designs.base import (
    TESTS,
    Design,
    IndependenceDesign,
    Independent,
    Relabeled,
    function_name,
    parameter,
    up_to,
)
from shrinktest.results.info import INDEPENDENCE, KINDS, TWO_SAMPLE

#: Number of points in Eckerle4.
POINTS = 35


@dataclass(frozen=True, eq=False, repr=False)
class FromData(Design):
    """Resampled pilot data: the power if the population looked like the pilot study.

    Parameters
    ----------
    X, Y : array_like, shape (n, d) and (m, d), or (n,) and (m,)
        The pilot data, arrays or tables: two samples, or two variables whose rows belong together.
    test : {"two-sample", "independence"}, default "two-sample"
        Test for which data are drawn, of two samples or of two variables.
    ratio : float, default 1.0
        Size of Y over size of X in the planned study, for two samples.
    paired : bool, default False
        True if row i of X and row i of Y are a pair, in the planned study as in the pilot data.
    groups : array_like, optional
        Labels of rows that belong together, as in the test: for two samples, one vector or a pair
        (for X, for Y); for two variables, one vector.  Whole groups are resampled and permuted, and
        ``n`` counts groups.
    blocks : array_like, optional
        Labels of rows that are comparable, in the layout of ``groups``, such as sites.  The planned
        study has these blocks in the proportions of the pilot data, and tests permute within them.
    nan_policy : {"raise", "omit", "indicator"}, default "raise"
        How tests treat missing values, which pilot data may have unless it is "raise".  With
        "omit", ``n`` counts all rows to recruit, complete or not.
    column_types : mapping, optional
        How columns of tables are read, as in the test.

    Notes
    -----
    Rows, pairs or groups are drawn with replacement (the bootstrap).  Under the null hypothesis,
    both samples are drawn from the pooled rows, or the two variables are drawn separately; pairs
    are swapped at random, and groups (of two variables) and rows within blocks are permuted.
    Powers tend to be too high, because an effect that is in the pilot data by chance counts as
    real.  A sample whose complete rows are all equal is drawn again.

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
    blocks: Any = field(default=None, kw_only=True)
    nan_policy: str = parameter("raise", choice, kw_only=True, known=("raise", "omit", "indicator"))
    column_types: Any = field(default=None, kw_only=True)

    def _check(self) -> None:
        samples = self.test == TWO_SAMPLE.name
        if self.ratio != 1.0 and (self.paired or not samples):
            raise ValueError(f"ratio={self.ratio} is for two samples that are not paired")
        if self.paired and (self.groups is not None or not samples):
            raise ValueError(
                "paired=True is for two samples without groups=; make each pair a group"
            )
        read: Callable[..., Any] = read_samples if samples else read_variables
        labels = {"groups": self.groups, "blocks": self.blocks, "paired": self.paired or None}
        reading = {"scale": "auto", "column_types": self.column_types}
        restriction = {name: value for name, value in labels.items() if value is not None}
        read(
            (self.X, self.Y), XY, self.nan_policy, **reading, **restriction
        )  # raises what the test would
        x, y = read((self.X, self.Y), XY, "propagate", **reading).values
        if not _usable(x, y, not samples):
            raise ValueError("X and Y need complete rows that differ, or no test can reject")
        for name, values in (("X", x), ("Y", y)):
            values.setflags(write=False)
            object.__setattr__(self, name, values)
        object.__setattr__(self, "column_types", None)  # X and Y are numbers from here on
        for name in ("groups", "blocks"):
            if getattr(self, name) is not None:
                codes = _label_codes(getattr(self, name), len(x), samples)
                object.__setattr__(self, name, codes)

    def trial(
        self, rng: Any, n: int, m: int | None = None
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        rng, (n, m) = as_rng(rng), self._sizes(n, m)
        variables = self.test == INDEPENDENCE.name
        while True:
            rows, group = self._chosen(rng, 0, n)
            others, other = (rows, group) if variables or self.paired else self._chosen(rng, 1, m)
            x = self.X[rows]
            y = self.Y[others]
            if _usable(x, y, variables):  # whatever the labels, so that null twins keep the level
                labels: dict[str, Any] = {}
                if self.groups is not None:
                    labels["groups"] = group if variables else (group, n + other)
                if self.blocks is not None:
                    first, second = self.blocks
                    labels["blocks"] = first[rows] if variables else (first[rows], second[others])
                return (x, y), {**self.options_for(n, m), **labels}

    def _chosen(self, rng: np.random.Generator, part: int, size: int) -> tuple[Any, Any]:
        """Return rows of X or Y drawn with replacement, and the numbers of their groups."""
        blocks = None if self.blocks is None else self.blocks[part]
        if self.groups is None:
            return _drawn(rng, len((self.X, self.Y)[part]), blocks, size), np.empty(0)
        codes = np.unique(self.groups[part], return_inverse=True)[1]
        members = [np.flatnonzero(codes == code) for code in range(codes.max() + 1)]
        if blocks is not None:
            blocks = blocks[[rows[0] for rows in members]]
        chosen = [members[k] for k in _drawn(rng, len(members), blocks, size)]
        return np.concatenate(chosen), np.repeat(np.arange(size), [len(rows) for rows in chosen])

    def options(self) -> dict[str, Any]:
        return {} if self.nan_policy == "raise" else {"nan_policy": self.nan_policy}

    def options_for(self, n: int, m: int) -> dict[str, Any]:
        return {"paired": True} if self.paired else {}

    def smallest(self) -> int:
        if self.blocks is None:
            return super().smallest()
        first, second = (len(np.unique(codes)) for codes in self.blocks)
        return max(2, first, math.ceil(second / self.ratio))

    def null(self) -> Design:
        if self.paired or (self.groups is not None and self.test == INDEPENDENCE.name):
            return Relabeled(self)
        if self.blocks is not None and (self.groups is None or self.test == INDEPENDENCE.name):
            return Relabeled(self)
        if self.test == INDEPENDENCE.name:
            return Independent(self)
        if np.array_equal(self.X, self.Y, equal_nan=True):
            return self
        pooled = np.vstack([self.X, self.Y])
        groups = None
        if self.groups is not None:
            codes = np.concatenate(self.groups)
            groups = codes, codes + codes.max() + 1
        blocks = None if self.blocks is None else (np.concatenate(self.blocks),) * 2
        return FromData(
            pooled,
            pooled,
            ratio=self.ratio,
            groups=groups,
            blocks=blocks,
            nan_policy=self.nan_policy,
        )

    @property
    def unit(self) -> str:
        return "" if self.groups is None else "groups"

    @property
    def complete_shares(self) -> tuple[float, ...]:
        """Proportions of complete rows in X and in Y.

        Of pairs, and of rows of two variables, it is the proportion that is complete in both.
        """
        complete = [~np.isnan(values).any(axis=1) for values in (self.X, self.Y)]
        if self.paired or self.test == INDEPENDENCE.name:
            complete = [complete[0] & complete[1]]
        return tuple(float(rows.mean()) for rows in complete)

    @property
    def assumption(self) -> str:
        return "This assumes that the effect in the pilot study is the true effect."

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
        shapes = ", ".join(
            f"{name} {len(z)} x {z.shape[1]}" for name, z in (("X", self.X), ("Y", self.Y))
        )
        if digests:
            content = self.X.tobytes() + self.Y.tobytes()
            for labels in (self.groups, self.blocks):
                content += b"" if labels is None else b"".join(codes.tobytes() for codes in labels)
            shapes += f", sha256 {hashlib.sha256(content).hexdigest()[:12]}"
        more = ", paired=True" if self.paired else ""
        more += "" if self.groups is None else f", groups=<{self.described[17:-8]}>"
        if self.blocks is not None:
            more += f", blocks=<{len(np.unique(np.concatenate(self.blocks)))}>"
        more += "" if self.nan_policy == "raise" else f", nan_policy={self.nan_policy!r}"
        return f"FromData(<{shapes}>, {_purpose(self)}{more})"


@dataclass(frozen=True, repr=False)
class FromFunction(Design):
    """Data from a function; power studies wrap any callable in this design.

    Parameters
    ----------
    function : callable
        ``function(rng, n) -> (X, Y)``, called with a numpy Generator, from which all randomness
        must come, and the number of rows of X; or ``function(rng, n, m)`` if the ratio is not 1.  X
        and Y may be tables.
    test : {"two-sample", "independence"}, default "two-sample"
        Test for which data are drawn, of two samples or of two variables.
    ratio : float, default 1.0
        Size of Y over size of X, for two samples; other ratios need a function that accepts ``m``.
    restriction : callable, optional
        ``restriction(n, m) -> dict`` of arguments of the test that restrict its permutations, such
        as ``blocks``.

    Notes
    -----
    The null twin permutes the returned rows: two samples are pooled and split at random, whereas
    pairs are formed anew at random.  If there is a ``restriction``, both respect it.

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
        if self.test == INDEPENDENCE.name and self.ratio != 1.0:
            raise ValueError(f"ratio={self.ratio} is for two samples; pairs have as many y as x")
        sizes = ("n", "m") if self.ratio != 1.0 else ("n",)
        meaning = (
            f"function must be (rng, {', '.join(sizes)}) -> (X, "
            f"Y){' if ratio is not 1' * (len(sizes) > 1)}"
        )
        check_signature(self.function, ("rng", *sizes), meaning)
        if self.restriction is not None:
            check_signature(self.restriction, ("n", "m"), "restriction must be (n, m) -> dict")

    def trial(
        self, rng: Any, n: int, m: int | None = None
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        n, second = self._sizes(n, m)
        plain = second == n and self.ratio == 1.0  # otherwise the function takes m
        drawn = self.function(as_rng(rng), n) if plain else self.function(as_rng(rng), n, second)
        if not (isinstance(drawn, tuple | list) and len(drawn) == 2):
            raise TypeError(f"{self!r} must return a pair (X, Y); found {type(drawn).__name__}")
        if not all(
            map(is_table, drawn)
        ):  # tables are left to the test, with their types and missing values
            read: Callable[..., Any] = (
                read_samples if self.test == TWO_SAMPLE.name else read_variables
            )
            drawn = read(drawn, XY, "propagate").values
        rows = [len(part) for part in drawn]
        fixed = (
            m is not None or self.ratio != 1.0
        )  # otherwise the function decides how many Y go with n X
        if rows[0] != n or (fixed and rows[1] != second):
            raise ValueError(
                f"{self!r} must return {n} rows of X and {second} of Y; found {rows[0]} and "
                f"{rows[1]}"
            )
        return tuple(drawn), self.options_for(*rows)

    def options_for(self, n: int, m: int) -> dict[str, Any]:
        labels = {} if self.restriction is None else self.restriction(n, m)
        for key in labels:
            choice(
                key,
                KINDS[self.test].restrictions,
                f"a key returned by restriction, for a {self.test} test,",
            )
        return labels

    @property
    def described(self) -> str:
        return f"{function_name(self.function)}()"

    def _text(self, digests: bool) -> str:
        more = (
            "" if self.restriction is None else f", restriction={function_name(self.restriction)}"
        )
        return f"FromFunction({function_name(self.function)}, {_purpose(self)}{more})"


def _purpose(design: Design) -> str:
    return f"test={design.test!r}" + (f", ratio={design.ratio}" if design.ratio != 1.0 else "")


def _usable(x: Array, y: Array, together: bool) -> bool:
    """Return True if X and Y have two complete rows each, and these vary.

    Each variable must vary, or both samples pooled.
    """
    complete = [~np.isnan(values).any(axis=1) for values in (x, y)]
    if together:
        complete = [complete[0] & complete[1]] * 2
    parts = [x[complete[0]], y[complete[1]]]
    varying = parts if together else [np.vstack(parts)]
    return min(map(len, parts)) > 1 and all(bool((values != values[0]).any()) for values in varying)


def _label_codes(labels: Any, size: int, samples: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return whole numbers for the labels of X and of Y; of two variables twice the same."""
    apart = samples and len(labels) == 2 and np.ndim(labels[0])
    parts = labels if apart else [labels]
    names = np.concatenate([np.asarray(part).astype(str) for part in parts])
    codes = np.unique(names, return_inverse=True)[1]
    return (codes[:size], codes[size:]) if samples else (codes, codes)


def _drawn(
    rng: np.random.Generator, units: int, blocks: np.ndarray | None, size: int
) -> np.ndarray:
    """Return numbers of units drawn with replacement, in the proportions of their blocks."""
    if blocks is None:
        return rng.integers(units, size=size)
    codes, counts = np.unique(blocks, return_counts=True)
    places = apportioned(tuple(counts.tolist()), size)
    chosen = [
        rng.choice(np.flatnonzero(blocks == code), size=places_of_block)
        for code, places_of_block in zip(codes, places, strict=True)
    ]
    return np.concatenate(chosen)


# --- Eckerle4 -------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class EckerleSubsample(IndependenceDesign):
    """Subsamples of the 35 points of Eckerle4.

    The points are drawn without replacement.

    Parameters
    ----------
    bandwidth : {"all", "median"}, default "all"
        Whether bandwidths are medians of all 35 points, as in the study of [X20] Table 4, or
        medians of each subsample.

    References
    ----------
    .. [X20] Xia et al., "Kernel mean estimation by marginalized corrupted distributions",
       arXiv:2107.04855, 2021.

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
        """Return this fraction of the 35 points as a number; halves round up."""
        return math.floor(POINTS * up_to(fraction, "fraction", high=1.0) + 0.5)

    def draw(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, ...]:
        if n > POINTS:
            raise ValueError(
                f"Eckerle4 has {POINTS} points, fewer than {n}; use n <= {POINTS}, or "
                "EckerleSimulation"
            )
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

    Wavelengths are uniform, and Gaussian noise is added to NIST's certified curve; see
    :func:`~shrinktest.datasets.simulate_eckerle`.

    Parameters
    ----------
    noise : float, default 0.0067629245447
        Standard deviation of the noise, by default the certified residual standard deviation.
    """

    noise: float = parameter(RESIDUAL_SD, positive, allow_zero=True)

    def draw(self, rng: np.random.Generator, n: int, m: int) -> tuple[Array, ...]:
        wavelength, transmittance = simulate_eckerle(n, self.noise, rng)
        return wavelength[:, np.newaxis], transmittance[:, np.newaxis]
