"""Design from a pilot table: rows or groups that are drawn again, for the test of a term."""

from __future__ import annotations

import copy
import hashlib
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from shrinktest._check import Array, choice, listed, percent
from shrinktest._random import as_rng
from shrinktest.data.formula import Formula, Term, basis, design_table, indicators
from shrinktest.data.tables import columns_at, is_table, read_names, taken
from shrinktest.factor_design import Design as PilotDesign
from shrinktest.factor_design import coded
from shrinktest.factor_test import read
from shrinktest.kernels import Distances, Kernel, Precomputed
from shrinktest.permutations.design import PermutationDesign
from shrinktest.power.designs.apportionment import apportioned
from shrinktest.power.designs.base import Design, parameter, up_to
from shrinktest.results.info import FACTOR
from shrinktest.settings import Settings


@dataclass(frozen=True, eq=False, repr=False)
class FactorsFromData(Design):
    """Resampled pilot table with several factors, for the power of a term.

    Parameters
    ----------
    formula : str
        Terms, and perhaps columns of the response, as in :func:`factor_test`.
    table : table
        The pilot data, without missing values in the variables of the formula.
    response : str, list of str, array, table, Precomputed or Distances, optional
        The response that the terms may explain, as in :func:`factor_test`.
    term : str, optional
        The term that is tested, which is not needed if the formula has only one.
    effect : float, default 1.0
        Proportion of rows or groups that respond as in the pilot data, from 0 to 1.  The others
        exchange the values of a variable of the term, within cells of the other factors.
    groups : str, list of str or array_like, optional
        Rows that belong together.  Whole groups are drawn, and ``n`` counts groups.
    blocks : str, list of str or array_like, optional
        Blocks within which rows are permuted; the planned study has the blocks of the pilot data.
    typ : {2, 1}, default 2
        Type of the sums of squares, as in :func:`factor_test`.
    nan_policy : {"raise", "omit", "indicator"}, default "raise"
        How tests treat missing values of the response.
    column_types : mapping, optional
        How columns of the response are read, as in the test.

    Notes
    -----
    Rows or groups are drawn with replacement (the bootstrap), in the proportions of the pilot data
    from each cell of the factors and blocks, so that no level vanishes.  Powers may be too high for
    two reasons: a pilot row that is drawn twice is a tie of the response, which makes residuals
    smaller in small pilot tables, and an effect may be in the pilot data by chance.  A smaller
    ``effect`` allows for this.

    The null twin has ``effect=0``: all values of one variable of the term are permuted, between
    groups or within them.  It is the first variable that is constant within groups, or else the
    first variable, and no term with this variable then has an effect.  If the response or a
    covariate is constant in the drawn data, they are drawn again.  Other tests get the table and
    the response.

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest.power import power_study
    >>> from shrinktest.power.designs import FactorsFromData
    >>> rng = np.random.default_rng(0)
    >>> pilot = {"arm": ["drug", "placebo"] * 10, "sex": ["f"] * 10 + ["m"] * 10}
    >>> response = rng.normal(size=(20, 3))
    >>> response[::2] += 0.8
    >>> design = FactorsFromData("arm + sex", pilot, response=response, term="arm", effect=0.5)
    >>> study = power_study(design, "kme", 40, n_trials=10, n_resamples=39, workers=1, rng=0)
    >>> study.table[["n", "power"]]
        n  power
    0  40    0.4
    """

    name = "pilot table"
    test = FACTOR.name
    formula: str
    table: Any
    response: Any = field(default=None, kw_only=True)
    term: str | None = field(default=None, kw_only=True)
    effect: float = parameter(1.0, up_to, kw_only=True, high=1.0)
    groups: Any = field(default=None, kw_only=True)
    blocks: Any = field(default=None, kw_only=True)
    typ: int = field(default=2, kw_only=True)
    nan_policy: str = parameter("raise", choice, kw_only=True, known=("raise", "omit", "indicator"))
    column_types: Any = field(default=None, kw_only=True)
    pilot: _Pilot = field(init=False)
    _unit: str = field(init=False)

    def _check(self) -> None:
        parsed = Formula.read(self.formula)
        frame = design_table(self.table)
        gaps = [name for name in frame if name in parsed.variables and frame[name].isna().any()]
        if gaps:
            raise ValueError(f"table has missing values in {listed(gaps)}; leave these rows out")
        unrestricted = Settings.read(n_resamples=0, alpha=0.5, workers=1, progress=False)
        reading = partial(
            read, typ=self.typ, groups=self.groups, blocks=self.blocks, settings=unrestricted
        )
        reading(  # raises what the test would
            self.formula,
            self.table,
            response=self.response,
            nan_policy=self.nan_policy,
            column_types=self.column_types,
        )
        right = self.formula.rpartition("~")[2].strip()
        trial = reading(right, frame, response=np.arange(float(len(frame))))
        names = [term.name for term in trial.design.terms]
        if self.term is None and len(names) > 1:
            raise ValueError(f"term is missing; choose one of {listed(names)}")
        term = names[0] if self.term is None else choice(self.term, names, "term")
        response = _response(parsed, self.table, frame, self.response)
        codes = _row_codes(response)
        if not _vary(codes):
            raise ValueError("response needs rows that differ, or no test can reject")
        object.__setattr__(self, "formula", right)
        object.__setattr__(self, "table", frame[sorted(parsed.variables)])
        object.__setattr__(self, "response", response)
        object.__setattr__(self, "term", term)
        units = [name for name in trial.sizes if name != "rows"] if self.groups is not None else []
        object.__setattr__(self, "_unit", units[0] if units else "")
        object.__setattr__(self, "pilot", _Pilot.of(trial.design, term, codes))

    def trial(
        self, rng: Any, n: int, m: int | None = None
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        rng = as_rng(rng)
        n, _ = self._sizes(n, m)
        pilot = self.pilot
        while True:
            units = pilot.drawn(rng, n)
            members = [pilot.members[unit] for unit in units]
            rows = np.concatenate(members)
            unit = np.repeat(np.arange(n), [len(each) for each in members])
            if pilot.vary(rows):
                break
        table = taken(self.table, rows)
        source = pilot.exchanged(rng, units, rows, unit, self.effect)
        for name in pilot.variables:
            table[name] = table[name].array[source]
        labels = {"groups": unit} if self.groups is not None else {}
        if pilot.block.any():
            labels["blocks"] = pilot.block[rows]
        return (table, _taken(self.response, rows)), labels

    def options(self) -> dict[str, Any]:
        given = {"formula": self.formula, "term": self.term, "typ": self.typ}
        if self.nan_policy != "raise":
            given["nan_policy"] = self.nan_policy
        if self.column_types is not None:
            given["column_types"] = self.column_types
        return given

    def null(self) -> Design:
        if self.effect == 0.0:
            return self
        twin = copy.copy(self)
        object.__setattr__(twin, "effect", 0.0)
        return twin

    def smallest(self) -> int:
        return self.pilot.smallest

    @property
    def unit(self) -> str:
        return self._unit

    @property
    def described(self) -> str:
        return f"your pilot data ({len(self.pilot.members)} {self.unit or 'rows'})"

    @property
    def assumption(self) -> str:
        if self.effect == 1.0:
            return "This assumes that the effect in the pilot study is the true effect."
        return (
            f"This assumes that {percent(self.effect)} of the {self.unit or 'rows'} respond as in "
            "the pilot study, and the others not to this term."
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FactorsFromData) and self.identity() == other.identity()

    def __hash__(self) -> int:
        return hash(self.identity())

    def _text(self, digests: bool) -> str:
        content = f"{len(self.table)} rows"
        if digests:
            content += f", sha256 {self._digest()}"
        more = "" if self.effect == 1.0 else f", effect={self.effect!r}"
        if self.groups is not None:
            more += f", groups=<{self.described[17:-1]}>"
        if self.pilot.block.any():
            more += f", blocks=<{len(np.unique(self.pilot.block))}>"
        more += "" if self.typ == 2 else f", typ={self.typ}"
        more += "" if self.nan_policy == "raise" else f", nan_policy={self.nan_policy!r}"
        return f"FactorsFromData({self.formula!r}, <{content}>, term={self.term!r}{more})"

    def _digest(self) -> str:
        """Return a digest of the table, the response, groups and blocks."""
        parts = [_row_codes(self.table).tobytes(), self.pilot.codes.tobytes()]
        parts.append(self.pilot.block.tobytes())
        parts += [rows.tobytes() for rows in self.pilot.members]
        return hashlib.sha256(b"".join(parts)).hexdigest()[:12]


@dataclass(frozen=True, eq=False)
class _Pilot:
    """Rows or groups of a pilot table, from which strata they are drawn, and what they exchange."""

    members: tuple[np.ndarray, ...]  # rows of each row or group
    stratum: np.ndarray  # of each of these
    block: np.ndarray  # (n,): number of the block of each row
    cells: np.ndarray  # within which values change places, of each unit or of each row
    between: bool  # True if units exchange values, False if rows of a group do
    variables: tuple[str, ...]  # columns whose values change places
    covariates: tuple[Array, ...]
    codes: np.ndarray  # (n,): the same for rows with equal responses
    smallest: int

    @classmethod
    def of(cls, design: PilotDesign, term: str, codes: np.ndarray) -> _Pilot:
        """Find the variable of a term that can change places, and the cells of the others."""
        unit = np.arange(design.size) if design.group is None else design.group
        first = np.unique(unit, return_index=True)[1]
        within = basis(indicators(unit)) if design.group is not None else np.eye(design.size)
        factors = {factor.name: factor for each in design.terms for factor in each.factors}
        constant = [
            name for name, factor in factors.items() if not basis(factor.columns, within).shape[1]
        ]
        (tested,) = [each for each in design.terms if each.name == term]
        own = sorted(tested.factors, key=lambda factor: factor.name not in constant)
        moved = own[0]
        between = moved.name in constant
        variables = Formula.read(moved.name).variables
        others = [
            factor.codes
            for name, factor in factors.items()
            if factor.categorical
            and (name in constant) is between
            and not Formula.read(name).variables & variables
        ]
        start = first if between else np.arange(design.size)
        block = design.block[start]
        cells = coded(block, *(codes[start] for codes in others))
        strata = [factors[name].codes[first] for name in constant if factors[name].categorical]
        stratum = coded(design.block[first], *strata)
        fixed = [each for each in design.terms if each.variables <= set(constant)]
        return cls(
            members=tuple(np.flatnonzero(unit == code) for code in range(len(first))),
            stratum=stratum,
            block=design.block,
            cells=cells,
            between=between,
            variables=tuple(sorted(variables)),
            covariates=tuple(each.columns for each in factors.values() if not each.categorical),
            codes=codes,
            smallest=max(2, int(stratum.max()) + 1, _rank(fixed, first, design.block) + 1),
        )

    def drawn(self, rng: np.random.Generator, n: int) -> np.ndarray:
        """Draw n rows or groups with replacement, in the proportions of the strata."""
        counts = tuple(np.bincount(self.stratum).tolist())
        places = [
            rng.choice(np.flatnonzero(self.stratum == code), size=size)
            for code, size in enumerate(apportioned(counts, n))
        ]
        return np.concatenate(places)

    def vary(self, rows: np.ndarray) -> bool:
        """Return True if the response and each covariate have different values in these rows."""
        covariates = all(bool(np.ptp(columns[rows], axis=0).any()) for columns in self.covariates)
        return covariates and _vary(self.codes[rows])

    def exchanged(
        self,
        rng: np.random.Generator,
        units: np.ndarray,
        rows: np.ndarray,
        unit: np.ndarray,
        effect: float,
    ) -> np.ndarray:
        """Return the row from which each drawn row has the values of the term.

        ``rows`` are the pilot rows of the drawn ``units``, and ``unit`` numbers these anew.
        """
        source = np.arange(len(rows))
        chosen = rng.random(len(units)) >= effect
        if self.between:
            start = np.unique(unit, return_index=True)[1]
            giver = _moved(rng, self.cells[units], chosen)
            moved = np.flatnonzero((giver != np.arange(len(units)))[unit])
            source[moved] = start[giver[unit[moved]]]
            return source
        return _moved(rng, coded(unit, self.cells[rows]), chosen[unit])


def _moved(rng: np.random.Generator, cells: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Return places that chosen ones have exchanged within cells."""
    order = np.arange(len(cells))
    places = np.flatnonzero(chosen)
    if len(places) > 1:
        design = PermutationDesign(blocks=cells[places])
        order[places] = places[design.random_order(rng, len(places))]
    return order


def _rank(terms: list[Term], first: np.ndarray, block: np.ndarray) -> int:
    """Return how many columns describe rows or groups."""
    columns = [term.columns[first] for term in terms]
    return basis(np.hstack([indicators(block[first]), *columns])).shape[1]


def _response(parsed: Formula, table: Any, frame: Any, response: Any) -> Any:
    """Return the response as a matrix, a table or an array of its own."""
    names = list(parsed.response)
    if isinstance(response, str):
        names = [response]
    elif isinstance(response, list | tuple) and all(isinstance(name, str) for name in response):
        names = list(response)
    if names:
        source = frame if isinstance(table, dict) else table
        known = list(read_names(source) or ())
        return columns_at(source, [known.index(name) for name in names])
    if isinstance(response, Kernel) or is_table(response):
        return response
    return np.asarray(response)


def _taken(response: Any, rows: np.ndarray) -> Any:
    """Return rows of a response, of a matrix also its columns."""
    if isinstance(response, Distances):
        return Distances(response.distances[np.ix_(rows, rows)])
    if isinstance(response, Precomputed):
        return Precomputed(response.gram[np.ix_(rows, rows)])
    return taken(response, rows)


def _row_codes(values: Any) -> np.ndarray:
    """Return a number (n,) for each row of a response or a table, the same for equal rows."""
    import pandas as pd

    if isinstance(values, Distances | Precomputed):
        values = values.gram
    frame = design_table(values) if is_table(values) else pd.DataFrame(values)
    return pd.util.hash_pandas_object(frame, index=False).to_numpy()


def _vary(codes: np.ndarray) -> bool:
    return bool((codes != codes[0]).any())
