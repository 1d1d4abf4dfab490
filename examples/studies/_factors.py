"""Designs with several factors that the studies of ``factor_test`` share, and their tests without the public call.

A design gives a table, new if it has random parts, and responses for it.  ``Tested`` keeps what depends on the table
only, so that many responses of the same table cost little.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, wraps
from typing import Any, ClassVar
from zlib import crc32

import numpy as np
import pandas as pd
from _levels import ALPHA, RESAMPLES, autoregressive
from scipy.spatial.distance import pdist, squareform

from shrinktest import Distances
from shrinktest.data.formula import Factor, Projection, Term, projections
from shrinktest.factor_test import read
from shrinktest.kernel_spec import KernelSpec
from shrinktest.results.factor_result import Share
from shrinktest.run import run
from shrinktest.settings import Settings
from shrinktest.statistics.projections import share

COLUMNS = 3
BALANCED = (10, 10, 10, 10)
UNBALANCED = (3, 13, 15, 9)  # rows in cells (a, b) = 00, 01, 10, 11
STATISTICS = ("robust", "F")


# --- errors --------------------------------------------------------------------------------------------------------


def errors(rng: np.random.Generator, law: str, n: int, columns: int = COLUMNS) -> np.ndarray:
    """Draw errors (n, columns) of a law."""
    if law == "normal":
        return rng.normal(size=(n, columns))
    if law == "t2":
        return rng.standard_t(2, size=(n, columns))
    if law == "Cauchy":
        return rng.standard_cauchy(size=(n, columns))
    if law == "exponential":
        return rng.exponential(size=(n, columns)) - 1.0
    if law == "lognormal":
        return np.exp(1.2 * rng.normal(size=(n, columns)))
    raise ValueError(law)


def together(terms: Sequence[str]) -> str:
    """Return the name of terms that are tested together."""
    return " with ".join(terms)


def levels(codes: np.ndarray) -> np.ndarray:
    """Return names of levels, so that numbers become a factor."""
    return np.array([f"level {code}" for code in codes], dtype=object)


# --- designs -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Design:
    """A formula, a table and a response; the base of all designs."""

    law: str = "normal"
    columns: int = COLUMNS
    formula: str = "a * b"
    within: str = "rows"  # what changes for terms within groups
    joint: tuple[str, ...] = ()  # terms that are also tested together

    #: True if the table, and what is read from it, is the same in all data sets.
    fixed = True
    #: Numbers of the table that are drawn anew, if nothing else is.
    drawn: ClassVar[tuple[str, ...]] = ()
    groups = None
    blocks = None

    def table(self, rng: np.random.Generator) -> pd.DataFrame:
        """Return the variables of the formula; columns of codes have names that end in "_code"."""
        raise NotImplementedError

    def response(self, rng: np.random.Generator, table: pd.DataFrame) -> Any:
        """Draw a response."""
        raise NotImplementedError


@dataclass(frozen=True)
class TwoWay(Design):
    """Two factors of two levels that shift all columns, or one, and change their spread."""

    cells: tuple[int, ...] = BALANCED
    shift_a: float = 0.0
    shift_b: float = 0.0
    shift_ab: float = 0.0
    spread_a: float = 1.0  # factor of the spread at the second level of a
    spread_b: float = 1.0
    spread_ab: float = 1.0
    shifted: int | None = None  # columns that shift; None for all

    def table(self, rng):
        a = np.repeat([0, 0, 1, 1], self.cells)
        b = np.repeat([0, 1, 0, 1], self.cells)
        return pd.DataFrame({"a": levels(a), "b": levels(b), "a_code": a, "b_code": b})

    def response(self, rng, table):
        a = table["a_code"].to_numpy()
        b = table["b_code"].to_numpy()
        mean = self.shift_a * a + self.shift_b * b + self.shift_ab * a * b
        spread = self.spread_a**a * self.spread_b**b * self.spread_ab ** (a * b)
        shape = np.zeros(self.columns)
        shape[: self.shifted] = 1.0
        noise = errors(rng, self.law, len(table), self.columns)
        return mean[:, None] * shape + spread[:, None] * noise


@dataclass(frozen=True)
class Factorial(Design):
    """Factors with some levels each, all combinations equally often; each level shifts by its number."""

    sizes: tuple[int, ...] = (3, 4)
    repeats: int = 3
    shifts: tuple[float, ...] = (0.0, 1.0)

    def table(self, rng):
        grid = np.indices(self.sizes).reshape(len(self.sizes), -1)
        codes = np.repeat(grid, self.repeats, axis=1)
        names = "abc"[: len(self.sizes)]
        table = pd.DataFrame(
            {f"{name}_code": code for name, code in zip(names, codes, strict=True)}
        )
        for name in names:
            table[name] = levels(table[f"{name}_code"].to_numpy())
        return table

    def response(self, rng, table):
        names = "abc"[: len(self.sizes)]
        codes = table[[f"{name}_code" for name in names]].to_numpy()
        return (codes @ np.array(self.shifts))[:, None] + errors(
            rng, self.law, len(table), self.columns
        )


@dataclass(frozen=True)
class Covariate(Design):
    """A factor of two levels and a covariate that is correlated with it."""

    formula: str = "a + x"
    n: int = 40
    shift_a: float = 0.0
    slope: float = 0.0
    correlation: float = 0.7
    outliers: bool = False  # the covariate is lognormal
    square: float = 0.0  # effects of powers of x that are not in the formula
    cube: float = 0.0

    drawn = ("x",)

    def table(self, rng):
        a = np.arange(self.n) % 2
        noise = np.sqrt(1.0 - self.correlation**2) * rng.normal(size=self.n)
        x = self.correlation * (2 * a - 1) + noise
        if self.outliers:
            x = np.exp(1.5 * x)
        return pd.DataFrame({"a": levels(a), "x": x, "a_code": a})

    def response(self, rng, table):
        x = table["x"].to_numpy()
        mean = self.shift_a * table["a_code"].to_numpy() + self.slope * x
        mean = mean + self.square * x**2 + self.cube * x**3
        return mean[:, None] + errors(rng, self.law, len(table), self.columns)


@dataclass(frozen=True)
class InBlocks(TwoWay):
    """Four blocks with effects of their own, and levels of a that differ in frequency between them."""

    blocks = "block"

    def table(self, rng):
        block = np.repeat(np.arange(4), 10)
        a = np.tile(np.arange(10), 4) < np.repeat([2, 4, 6, 8], 10)
        b = np.arange(40) % 2
        table = pd.DataFrame({"a_code": a.astype(int), "b_code": b, "block": block})
        table["a"] = levels(table["a_code"].to_numpy())
        table["b"] = levels(b)
        return table

    def response(self, rng, table):
        effects = 1.5 * rng.normal(size=(4, self.columns)) + 2.0 * np.arange(4)[:, None]
        return super().response(rng, table) + effects[table["block"].to_numpy()]


@dataclass(frozen=True)
class Counts(TwoWay):
    """Distances of counts of eight species, whose frequencies depend on b."""

    metric: str = "braycurtis"

    fixed = False

    def response(self, rng, table):
        b = table["b_code"].to_numpy()
        means = np.exp(1.0 + self.shift_b * np.outer(b, np.linspace(-1.0, 1.0, 8)))
        abundance = rng.gamma(2.0, 0.5, size=means.shape) * means
        counts = rng.poisson(abundance) + 1.0
        return Distances(squareform(pdist(counts, self.metric)))


@dataclass(frozen=True)
class Mixed(TwoWay):
    """A table of two numbers, zeros and ones, and a category if asked for."""

    probabilities: tuple[float, ...] = (0.2, 0.8, 0.2, 0.8)  # of a one, in the four cells
    binary: int = 1
    category: bool = True

    fixed = False

    def response(self, rng, table):
        numbers = super().response(rng, table)[:, :2]
        cell = 2 * table["a_code"].to_numpy() + table["b_code"].to_numpy()
        chance = np.array(self.probabilities)[cell]
        drawn = pd.DataFrame(numbers, columns=["first", "second"])
        for j in range(self.binary):
            drawn[f"binary {j}"] = (rng.random(len(table)) < chance).astype(int)
        if self.category:
            kinds = np.array(["low", "middle", "high"], dtype=object)
            drawn["kind"] = kinds[rng.binomial(2, chance)]
        return drawn


@dataclass(frozen=True)
class Visits(Design):
    """Patients of two arms with four visits, in some sites; patients have random effects."""

    formula: str = "treatment * time"
    patients: int = 12
    visits: int = 4
    memory: float | None = None  # lag-1 correlation of the errors of a patient
    shift_treatment: float = 0.0
    shift_time: float = 0.0  # at the last visit
    patient_spread: float = 1.0
    missing: str = "none"  # "at random": a quarter; "by treatment": late visits, mostly of one arm
    sites: int = 1

    groups = "patient"

    @property
    def fixed(self):
        """True if no visits are missing."""
        return self.missing == "none"

    @property
    def blocks(self):
        """The sites, if there are several."""
        return "site" if self.sites > 1 else None

    def table(self, rng):
        patient = np.repeat(np.arange(self.patients), self.visits)
        time = np.tile(np.arange(self.visits), self.patients)
        number = np.arange(self.patients)
        site = number * self.sites // self.patients
        treated = number % 2
        if self.sites > 1:  # two, three and four of six in every site
            treated = (number % 6 < np.array([2, 3, 4])[site]).astype(int)
        arm = treated[patient]
        keep = self._kept(rng, patient, time, arm)
        table = pd.DataFrame({"patient": patient, "time_code": time, "treatment_code": arm})
        table["site"] = site[patient]
        table["time"] = levels(time)
        table["treatment"] = levels(arm)
        return table[keep].reset_index(drop=True)

    def _kept(self, rng, patient, time, arm):
        if self.missing == "none":
            return np.ones(len(patient), dtype=bool)
        chance = np.full(len(patient), 0.25)
        if self.missing == "by treatment":
            chance = np.where(arm == 1, 0.65, 0.05) * (time >= self.visits // 2)
        keep = rng.random(len(patient)) >= chance
        for number in range(self.patients):
            rows = np.flatnonzero(patient == number)
            if keep[rows].sum() < 2:
                keep[rows[:2]] = True
        return keep

    def response(self, rng, table):
        shape = (self.patients, self.visits, self.columns)
        if self.memory is None:
            noise = errors(rng, self.law, self.patients * self.visits, self.columns).reshape(shape)
        else:
            series = autoregressive(rng, self.memory, self.patients, self.columns, self.visits)
            noise = series.transpose(0, 2, 1)
        patient = table["patient"].to_numpy()
        time = table["time_code"].to_numpy()
        own = self.patient_spread * rng.normal(size=(self.patients, self.columns))
        at_site = 2.0 * rng.normal(size=(self.sites, self.columns)) * (self.sites > 1)
        mean = self.shift_treatment * table["treatment_code"].to_numpy()
        mean = mean + self.shift_time * time / (self.visits - 1)
        return (
            noise[patient, time] + own[patient] + at_site[table["site"].to_numpy()] + mean[:, None]
        )


# --- tests ---------------------------------------------------------------------------------------------------------


def settings(statistic: str, resamples: int = RESAMPLES) -> Settings:
    """Return the settings of a test with this statistic."""
    return Settings.read(
        form=statistic, n_resamples=resamples, alpha=ALPHA, workers=1, progress=False
    )


@dataclass
class Tested:
    """A design, and what was read from its table."""

    design: Design
    align: bool = True
    trial: Any = field(default=None, init=False)
    plans: dict = field(default_factory=dict, init=False)
    table: Any = field(default=None, init=False)
    hypotheses: dict = field(default_factory=dict, init=False)

    def draw(self, rng: np.random.Generator) -> None:
        """Draw a data set."""
        design = self.design
        if self.trial is None or not design.fixed:
            self.table = design.table(rng)
            self.trial = self._read(design.response(rng, self.table))
            self.plans = {plan.term: plan for plan in self.trial.plans()}
        else:
            if design.drawn:
                self.table = design.table(rng)
                self._renew(design.drawn)
            points = np.ascontiguousarray(design.response(rng, self.table), dtype=np.float64)
            variable = replace(self.trial.response, points=points)
            self.trial = replace(self.trial, response=variable)
        self.hypotheses = {}

    def _renew(self, names: tuple[str, ...]) -> None:
        """Plan the tests for new values of some covariates."""
        values = {name: self.table[[name]].to_numpy() for name in names}
        new = {name: Factor(name, columns, False) for name, columns in values.items()}
        terms = tuple(
            Term(tuple(new.get(factor.name, factor) for factor in term.factors))
            for term in self.trial.design.terms
        )
        self.trial = replace(self.trial, design=replace(self.trial.design, terms=terms))
        self.plans = {plan.term: plan for plan in self.trial.plans()}

    def _read(self, response: Any) -> Any:
        return read(
            self.design.formula,
            self.table,
            response=response,
            groups=self.design.groups,
            blocks=self.design.blocks,
            within=self.design.within,
            joint={together(self.design.joint): list(self.design.joint)}
            if self.design.joint
            else None,
            settings=settings("robust"),
            align=self.align,
        )

    def pvalue(
        self,
        term: str,
        kernel: Any,
        statistic: str,
        rng: np.random.Generator,
        resamples: int = RESAMPLES,
    ) -> float:
        """Test a term; ``kernel`` is a kernel, "auto" for the ensemble, or "given" for a matrix."""
        if term not in self.hypotheses:
            self.hypotheses[term] = self.trial.hypothesis(self.plans[term])
        estimator = "auto" if kernel == "auto" else "kme"
        spec = self.trial.spec if kernel in ("auto", "given") else KernelSpec(kernel, "median")
        result = run(self.hypotheses[term], estimator, [spec], settings(statistic, resamples), rng)
        return result.pvalue

    def share(self, term: str, kernel: Any, rng: np.random.Generator) -> Share:
        """Return what a term explains; ``kernel`` has its bandwidth."""
        plan = self.plans[term]
        cache = settings("robust").kernels(rng)
        features, _ = self.trial.hypothesis(plan).features(kernel, cache)
        return share(features, plan.part, plan.unit)

    def points(self) -> np.ndarray:
        """Return the response."""
        return self.trial.response.points

    def part(self, term: str, typ: int) -> Projection:
        """Return the bases of a term in the model of all rows, without groups."""
        terms = self.trial.design.terms
        constant = np.ones((self.trial.design.size, 1))
        parts = projections(terms, constant, typ)
        return parts[[each.name for each in terms].index(term)]


def holm(pvalues: Sequence[float]) -> np.ndarray:
    """Return p-values adjusted by Holm's method."""
    values = np.asarray(pvalues)
    order = np.argsort(values)
    steps = np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1))
    return np.minimum(steps, 1.0)[np.argsort(order)]


def quiet(function):
    """Return a function that gives no warnings."""

    @wraps(function)
    def silent(*arguments, **named):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function(*arguments, **named)

    return silent


# --- the scheme of adonis2 -----------------------------------------------------------------------------------------


def centered(gram: np.ndarray) -> np.ndarray:
    """Return a Gram matrix about its mean."""
    left = gram - gram.mean(axis=0)
    return left - left.mean(axis=1, keepdims=True)


def free_rows(
    gram: np.ndarray, part: Projection, rng: np.random.Generator, resamples: int = RESAMPLES
) -> float:
    """Return the p-value of F with all rows permuted freely, as ``adonis2`` does without strata."""
    gram = centered(gram)
    n = len(gram)
    orders = np.vstack([np.arange(n), rng.permuted(np.tile(np.arange(n), (resamples, 1)), axis=1)])
    total = np.trace(gram)

    def explained(basis: np.ndarray) -> np.ndarray:
        moved = basis[orders].reshape(len(orders), n, -1)
        return np.einsum("bnk,bnk->b", moved, gram @ moved)

    added = explained(part.added)
    left = total - explained(part.rest) - added
    f = added / np.maximum(left, 1e-12 * total)
    return float((f >= f[0] * (1.0 - 1e-10)).mean())


# --- chunks of data sets -------------------------------------------------------------------------------------------


def generator(setting: str, trial: int) -> np.random.Generator:
    """Return the random numbers of a data set."""
    return np.random.default_rng([crc32(setting.encode()), trial])


def chunked(
    function: Any, settings: Sequence[Any], trials: int, size: int = 100
) -> Iterator[partial]:
    """Yield jobs of some data sets of a setting each."""
    for setting in settings:
        for start in range(0, trials, size):
            yield partial(function, setting, range(start, min(start + size, trials)))
