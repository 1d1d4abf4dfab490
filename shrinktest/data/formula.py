"""Formula: the terms of a design with several factors, and the spaces that they span."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from shrinktest._check import Array, choice
from shrinktest.data.column import Table
from shrinktest.data.tables import frame_of, is_table, read_names
from shrinktest.notes import note

if TYPE_CHECKING:
    import pandas as pd

_NEGLIGIBLE = 1e-9  # of the length of a column: what is left of it is rounding
_FEW_VALUES = 5  # of a number, which may then be the name of a level
_COLORS = re.compile(r"\x1b\[[0-9;]*m|[⧛⧚]")  # marks in messages of formulaic


# --- what a formula says --------------------------------------------------------------------------


@dataclass(frozen=True)
class Formula:
    """Names on the left side of a formula, and the factors of each term on its right side."""

    response: tuple[str, ...]  # empty without a left side
    terms: tuple[tuple[str, ...], ...]  # such as ("treatment", "time"), in order of their degree
    variables: frozenset[str]  # columns of the table on the right side

    @classmethod
    def read(cls, text: Any) -> Formula:
        """Parse a formula; raise ValueError for what no design can have.

        Examples
        --------
        >>> Formula.read("pain + mood ~ treatment * time").terms
        (('treatment',), ('time',), ('treatment', 'time'))
        """
        if not isinstance(text, str):
            raise TypeError(
                f"formula must be a text such as 'treatment * time'; got {type(text).__name__}"
            )
        _refuse_other_syntax(text)
        left, tilde, right = text.rpartition("~")
        if tilde and not left.strip():
            raise ValueError("formula has nothing to the left of ~; name a response there")
        sides = [_parsed(side) for side in ([left] if tilde else [])]
        response = tuple(factor for side in sides for term in side for factor in _factors(term))
        parsed = _parsed(right)
        terms = tuple(_factors(term) for term in parsed if _factors(term))
        if not any(not _factors(term) for term in parsed):
            raise ValueError("formula: every design has a constant; leave out 0 and -1")
        if not terms:
            raise ValueError("formula has no term to test; name a column of the table")
        return cls(response, terms, frozenset(map(str, parsed.required_variables)))


def _refuse_other_syntax(text: str) -> None:
    """Raise ValueError for random effects and conditions, as other packages write them."""
    if (random := re.search(r"\|\s*([\w.]+)", text)) is not None:
        raise ValueError(
            f"formula has a random effect of {random[1]!r}; leave it out and pass "
            f"groups={random[1]!r}"
        )
    if (condition := re.search(r"\bCondition\s*\(\s*([^)]*)\)", text)) is not None:
        raise ValueError(
            f"formula: write {condition[1].strip()} without Condition(), because every term is "
            "adjusted for the others"
        )


def _parsed(side: str) -> Any:
    from formulaic import Formula as Parsed
    from formulaic.errors import FormulaParsingError

    try:
        parsed = Parsed(side)
    except FormulaParsingError as error:
        why = _COLORS.sub("", str(error)).strip().splitlines()[0]
        raise ValueError(f"formula {side.strip()!r} cannot be read: {why}") from None
    return parsed


def _factors(term: Any) -> tuple[str, ...]:
    """Return the factors of a term without the constant."""
    return tuple(factor.expr for factor in term.factors if factor.expr != "1")


# --- terms ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Factor:
    """A variable of a design: all indicators of its levels, or its numbers."""

    name: str
    columns: Array  # (n, levels), or numbers (n, c) such as a spline has several of
    categorical: bool
    levels: tuple[str, ...] = ()  # of a categorical factor, in the order of its columns

    @cached_property
    def codes(self) -> np.ndarray:
        """The level of each row, 0, 1, ..., of a categorical factor."""
        return self.columns.argmax(axis=1)

    def only(self, rows: np.ndarray) -> Factor:
        """Keep some rows, and the levels that occur in them."""
        columns = self.columns[rows]
        if not self.categorical:
            return Factor(self.name, columns, categorical=False)
        occur = columns.any(axis=0)
        levels = tuple(np.array(self.levels, dtype=object)[occur])
        return Factor(self.name, columns[:, occur], True, levels)


@dataclass(frozen=True, eq=False)
class Term:
    """A term of a formula: a factor, or the interaction of several."""

    factors: tuple[Factor, ...]

    @property
    def name(self) -> str:
        """The factors, as the formula has them."""
        return ":".join(factor.name for factor in self.factors)

    @property
    def variables(self) -> frozenset[str]:
        """Names of the factors."""
        return frozenset(factor.name for factor in self.factors)

    @property
    def is_interaction(self) -> bool:
        """True for several factors."""
        return len(self.factors) > 1

    @property
    def parts(self) -> tuple[Term, ...]:
        """The term itself, as the only one that is tested."""
        return (self,)

    @cached_property
    def columns(self) -> Array:
        """All products (n, c) of a column of each factor."""
        return reduce(products, (factor.columns for factor in self.factors))

    def only(self, rows: np.ndarray) -> Term:
        """Keep some rows."""
        return Term(tuple(factor.only(rows) for factor in self.factors))


@dataclass(frozen=True, eq=False)
class JointTerm:
    """Several terms of a formula that are tested together, under a name of their own."""

    name: str
    parts: tuple[Term, ...]

    @property
    def factors(self) -> tuple[Factor, ...]:
        """The different factors of all parts."""
        return tuple({each.name: each for part in self.parts for each in part.factors}.values())

    @property
    def variables(self) -> frozenset[str]:
        """Names of the factors."""
        return frozenset(factor.name for factor in self.factors)

    @property
    def is_interaction(self) -> bool:
        """True if a part is an interaction, so that the test of the whole is one of additivity."""
        return any(part.is_interaction for part in self.parts)

    @cached_property
    def columns(self) -> Array:
        """Columns (n, c) of all parts."""
        return np.hstack([part.columns for part in self.parts])

    def only(self, rows: np.ndarray) -> JointTerm:
        """Keep some rows."""
        return JointTerm(self.name, tuple(part.only(rows) for part in self.parts))


TestedTerms = Term | JointTerm


def joint_terms(given: Any, terms: Sequence[Term]) -> tuple[JointTerm, ...]:
    """Return terms that are tested together, from names and lists of terms of the formula.

    Raises TypeError or ValueError for anything else.
    """
    if given is None:
        return ()
    if not isinstance(given, dict):
        raise TypeError(
            "terms must be a dict of names and lists of terms, such as {'arm in any way': "
            f"['arm', 'arm:time']}}; got {type(given).__name__}"
        )
    by_factors = {term.variables: term for term in terms}
    names = [term.name for term in terms]
    out = []
    for name, listed_terms in given.items():
        if not isinstance(name, str) or not name or name in names:
            raise ValueError(f"terms has the name {name!r}; use a name that no term has")
        if not isinstance(listed_terms, list | tuple):
            raise TypeError(f"terms: {name!r} must be a list of terms; got {listed_terms!r}")
        parts = []
        for part in listed_terms:
            factors = frozenset(factor.strip() for factor in str(part).split(":"))
            own = by_factors.get(factors)
            parts.append(own if own is not None else by_factors[frozenset(_known(part, names))])
        if len({part.name for part in parts}) < max(2, len(parts)):
            raise ValueError(f"terms: {name!r} must list two different terms or more")
        out.append(JointTerm(name, tuple(parts)))
    return tuple(out)


def _known(part: Any, names: Sequence[str]) -> list[str]:
    """Return the factors of a term by its name; raise ValueError for unknown ones."""
    return choice(part, names, "a term of formula in terms").split(":")


def products(first: Array, second: Array) -> Array:
    """Return all products of a column of the first and one of the second, row by row."""
    return (first[:, :, None] * second[:, None, :]).reshape(len(first), -1)


def terms_of(formula: Formula, table: pd.DataFrame) -> tuple[Term, ...]:
    """Evaluate the terms of a formula on a table without missing values."""
    from formulaic import model_matrix
    from formulaic.errors import FormulaicError

    for name in sorted(formula.variables):
        choice(name, map(str, table.columns), "a variable of formula")
    names = list(dict.fromkeys(factor for term in formula.terms for factor in term))
    factors = {}
    for name in names:
        try:
            with np.errstate(all="ignore"):  # values that are not finite are reported below
                matrix = model_matrix(
                    f"0 + {_quoted(name, table)}",
                    table,
                    ensure_full_rank=False,
                    na_action="ignore",
                    context={"np": np},
                )
        except FormulaicError as error:
            why = _COLORS.sub("", str(error)).strip().splitlines()[0]
            raise ValueError(f"formula: {name!r} cannot be computed: {why}") from None
        values = np.asarray(matrix, dtype=np.float64)
        if not np.isfinite(values).all():
            raise ValueError(f"formula: {name!r} is not finite in every row; use other values")
        categorical = bool(matrix.model_spec.factor_contrasts)
        factors[name] = Factor(name, values, categorical)
        if categorical:
            first = [column.argmax() if column.any() else len(column) for column in values.T]
            order = [j for j in np.argsort(first, kind="stable") if first[j] < len(values)]
            levels = tuple(str(matrix.columns[j]).partition("[")[2].rstrip("]") for j in order)
            factors[name] = Factor(name, values[:, order], True, levels)
    return tuple(Term(tuple(factors[name] for name in term)) for term in formula.terms)


def _quoted(name: str, table: pd.DataFrame) -> str:
    """Return a factor as a formula has it: names of columns that are no words are quoted."""
    return f"`{name}`" if name in table.columns and not name.isidentifier() else name


# --- the table of a design ------------------------------------------------------------------------


def design_table(data: Any) -> pd.DataFrame:
    """Return a table of any library as pandas has it, with text names and plain columns.

    Booleans become text, because their indicators are those of two levels; dates and durations
    become days.
    """
    import pandas as pd

    if isinstance(data, dict):
        data = pd.DataFrame(data)
    if not is_table(data):
        raise TypeError(
            f"data must be a table with named columns, such as a DataFrame; got {_kind(data)}"
        )
    if isinstance(data, Table):
        columns = {column.name: _plain_values(column) for column in data.columns}
        return pd.DataFrame(columns)
    names = read_names(data)
    if names is None or len(set(names)) < len(names):
        raise ValueError("data must have one name for each column; rename those that repeat")
    frame = frame_of(data).set_axis(list(names), axis=1).reset_index(drop=True)
    return pd.DataFrame({name: _plain_column(frame[name]) for name in names})


def _kind(data: Any) -> str:
    return f"an array of shape {np.shape(data)}" if hasattr(data, "shape") else type(data).__name__


def _plain_values(column: Any) -> Any:
    """Return a column as numbers, or as text without missing values."""
    if not column.categorical and column.kind != "ordered":
        return column.numbers()
    levels = np.array([*column.levels, None], dtype=object)
    return levels[column.values]


def _plain_column(series: pd.Series) -> pd.Series:
    import pandas as pd

    kind = series.dtype.kind
    if isinstance(series.dtype, pd.CategoricalDtype):
        return series
    if pd.api.types.is_bool_dtype(series.dtype):
        return series.astype(object).map({True: "True", False: "False"})
    if kind == "M":
        return (series - series.min()) / pd.Timedelta(days=1)
    if kind == "m":
        return series / pd.Timedelta(days=1)
    if kind == "O" and series.map(lambda entry: isinstance(entry, bool)).all():
        return series.map({True: "True", False: "False"})
    if kind in "iuf" and not isinstance(series.dtype, np.dtype):  # numbers that pandas can miss
        return series.astype("float64")
    return series


def few_values_notes(terms: Sequence[Term]) -> tuple[str, ...]:
    """Note numbers with few values, which may be levels."""
    factors = {factor.name: factor for term in terms for factor in term.factors}
    notes = []
    for factor in factors.values():
        plain = not factor.categorical and factor.name.isidentifier()
        count = len(np.unique(factor.columns)) if plain else 0
        if plain and 2 < count <= _FEW_VALUES:
            notes.append(note("few-values", column=factor.name, count=count))
    return tuple(notes)


# --- spaces ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Projection:
    """Orthonormal bases of a term and of the rest of its model."""

    added: Array  # Q (n, d): what the term adds to the terms that it is adjusted for
    rest: Array  # N (n, p - d): all else in the model, the constant included
    adjusted: Array  # Z (n, q): the terms that it is adjusted for; part of the rest

    @property
    def df(self) -> int:
        """Degrees of freedom of the term."""
        return int(self.added.shape[1])

    @property
    def residual_df(self) -> int:
        """Degrees of freedom that the model leaves."""
        n, d = self.added.shape
        return int(n - d - self.rest.shape[1])

    @property
    def model(self) -> Array:
        """Basis (n, p) of the model, the term first."""
        return np.hstack([self.added, self.rest])


def basis(columns: Array, without: Array | None = None) -> Array:
    """Return an orthonormal basis of columns, after an orthonormal basis is projected out."""
    lengths = np.linalg.norm(columns, axis=0)
    rest = columns / np.where(lengths > 0.0, lengths, 1.0)
    if without is not None and without.shape[1]:
        for _ in range(2):
            rest = rest - without @ (without.T @ rest)
    if not rest.shape[1]:
        return rest
    u, sizes, _ = np.linalg.svd(rest, full_matrices=False)
    return np.ascontiguousarray(u[:, sizes > _NEGLIGIBLE * max(1.0, rest.shape[1] ** 0.5)])


def indicators(codes: np.ndarray) -> Array:
    """Return an indicator column for every code."""
    return (codes[:, None] == np.unique(codes)).astype(np.float64)


def adjusts(term: TestedTerms, terms: Sequence[Term], typ: int) -> list[Term]:
    """Return the terms that a term is adjusted for.

    ``typ`` 1: those before it, or before the last of its parts.  ``typ`` 2: all that contain none
    of its parts.
    """
    parts = [part.name for part in term.parts]
    if typ == 1:
        last = max(i for i, other in enumerate(terms) if other.name in parts)
        return [other for other in terms[:last] if other.name not in parts]
    return [
        other
        for other in terms
        if not any(part.variables <= other.variables for part in term.parts)
    ]


def projections(
    terms: Sequence[Term],
    always: Array,
    typ: int,
    names: Sequence[str] = (),
    joint: Sequence[JointTerm] = (),
) -> tuple[Projection, ...]:
    """Return the bases of every term, and then of those that are tested together.

    ``always`` holds columns of every model; ``names`` says what they stand for.  Raise ValueError
    if a term adds nothing, or if nothing is left.
    """
    full = basis(np.hstack([always, *(term.columns for term in terms)]))
    if full.shape[1] >= len(full):
        raise ValueError(
            f"formula has {full.shape[1]} columns for {len(full)} rows, so no residual degrees of "
            "freedom are left; leave out terms"
        )
    parts = []
    tested: list[TestedTerms] = [*terms, *joint]
    for term in tested:
        others = adjusts(term, terms, typ)
        before = basis(np.hstack([always, *(other.columns for other in others)]))
        added = basis(term.columns, before)
        if not added.shape[1]:
            raise ValueError(_determined(term, others, always, names))
        parts.append(Projection(added, basis(full, added), before))
    return tuple(parts)


def _determined(
    term: TestedTerms, others: Sequence[Term], always: Array, names: Sequence[str]
) -> str:
    """Say by which term another one is determined."""
    constant = basis(np.ones((len(always), 1)))
    if not basis(term.columns, constant).shape[1]:
        return f"formula: {term.name} has the same value in every row; leave it out"
    if not basis(term.columns, basis(always)).shape[1]:
        return f"formula: {term.name} is determined by {' and '.join(names)}; leave it out"
    by = [
        other.name
        for other in others
        if not basis(term.columns, basis(np.hstack([constant, other.columns]))).shape[1]
    ]
    if by and not term.is_interaction:
        remedy = f"leave one out, or use blocks={term.name!r}"
        return f"formula: {term.name} is determined by {by[0]}; {remedy}"
    what = by[0] if by else "the other terms"
    return f"formula: {term.name} is determined by {what}; leave one out"
