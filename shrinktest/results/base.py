"""Result: base class of what tests and studies return, and records that results share."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property, partial
from numbers import Real
from operator import attrgetter
from pathlib import Path
from types import MethodType
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from shrinktest._check import level, output_path
from shrinktest._version import __version__
from shrinktest._warn import tiny_is_zero
from shrinktest.data.encoding import Encoding
from shrinktest.results.printing import Summary, Table
from shrinktest.results.references import References

if TYPE_CHECKING:
    import pandas as pd

Class = TypeVar("Class", bound=type)
_IN_JSON = {"NaN": None, "Infinity": "inf", "-Infinity": "-inf"}  # what these numbers become


def part_of(field: str, *names: str) -> Callable[[Class], Class]:
    """Give a class the attributes with these names of one of its fields."""

    def decorate(owner: Class) -> Class:
        for name in names:
            setattr(owner, name, property(attrgetter(f"{field}.{name}"), doc=f"As in ``{field}``."))
        return owner

    return decorate


class _Frame:
    """The rows as a table (pandas); no property, so that a field may have the name ``table``."""

    def __get__(self, result: Any, owner: Any) -> Any:
        if result is None:
            return self
        import pandas as pd

        return pd.DataFrame(result.rows())


class Result:
    """Base class of results, which are frozen dataclasses: equal if their fields are.

    A class defines ``rows`` or ``table``, and ``summary``.

    Examples
    --------
    >>> import pickle
    >>> from shrinktest import two_sample_test
    >>> result = two_sample_test([1.2, 0.3, 0.5, 0.8], [2.1, 1.9, 3.0, 2.6])
    >>> pickle.loads(pickle.dumps(result)) == result
    True
    """

    #: Names of properties and methods that ``to_dict`` has besides the fields.
    computed: ClassVar[tuple[str, ...]] = ()

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of ``table``, as dictionaries."""
        return self.table.to_dict("records")  # type: ignore[no-any-return]

    table: Any = _Frame()

    def to_frame(self) -> pd.DataFrame:
        """Return the result as a table (pandas)."""
        return self.table  # type: ignore[no-any-return]

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values under the attribute names.

        ``result`` is the name of the class, and ``versions`` are included.  Kernels and estimators
        are written as text and arrays as lists.
        """
        return self._plain(*(field.name for field in _compared(self)), *self.computed)

    def _plain(self, *names: str) -> dict[str, Any]:
        """Return fields, properties and method results as plain values.

        The class and the versions are included.
        """
        values = {name: getattr(self, name) for name in (*names, "versions")}
        called = {
            name: plain(value() if isinstance(value, MethodType) else value)
            for name, value in values.items()
        }
        return {"result": type(self).__name__, **called}

    def to_json(
        self, path: str | Path | None = None, *, effect: Any = False, **options: Any
    ) -> str:
        """Return ``to_dict`` as JSON, and write it to ``path`` if there is one.

        ``options`` are passed to :func:`json.dumps`.  NaN is written as null, and infinity as the
        text "inf".  For ``effect`` see :meth:`TestResult.to_dict`.
        """
        values = self.to_dict(effect=effect) if effect else self.to_dict()  # type: ignore[call-arg]
        text = json.dumps(json.loads(json.dumps(values), parse_constant=_IN_JSON.get), **options)
        return self._written(text, path)

    def summary(self) -> Summary:
        """Return the result in words and tables, as text that a notebook shows as HTML."""
        raise NotImplementedError

    def printed(self) -> Table:
        """Return the main table as the summary prints it."""
        return self.summary().tables[-1]

    def to_latex(
        self,
        path: str | Path | None = None,
        *,
        caption: str | None = None,
        label: str | None = None,
    ) -> str:
        r"""Return the main table as LaTeX, and write it to ``path`` if there is one.

        It needs the LaTeX package booktabs.

        Parameters
        ----------
        path : path, optional
            File to which it is written.
        caption, label : str, optional
            Caption and label, which put the table into a floating ``table``.

        Returns
        -------
        str
            The table as LaTeX.

        Examples
        --------
        >>> from shrinktest import two_sample_test
        >>> result = two_sample_test([1.2, 0.3, 0.5, 0.8], [2.1, 1.9, 3.0, 2.6])
        >>> print(result.effect().to_latex())
        \begin{tabular}{lrr}
        \toprule
        measure & estimate & 95\% interval \\
        \midrule
        auc & - & - \\
        distance & .596 & - \\
        mean\_difference & +1.7 & - \\
        median\_difference & +1.7 & - \\
        \bottomrule
        \end{tabular}
        """
        return self._written(self.printed().as_latex(caption, label), path)

    def to_markdown(self, path: str | Path | None = None, *, effect: Any = False) -> str:
        """Return the summary as Markdown, as for a comment on a pull request.

        It is also written to ``path``.  For ``effect`` see :meth:`TestResult.summary`.
        """
        summary = self.summary(effect=effect) if effect else self.summary()  # type: ignore[call-arg]
        version = f"shrinktest {self.versions['shrinktest']}"
        return self._written(f"{summary.as_markdown(self._headline())}\n\n*{version}*", path)

    def _headline(self) -> str:
        """Return the answer, if the summary does not begin with it."""
        return ""

    @staticmethod
    def _written(text: str, path: str | Path | None) -> str:
        if path is not None:
            output_path(path, "path").write_text(text, encoding="utf-8")
        return text

    @property
    def references(self) -> References:
        """The papers that the result used, and this package, as ``text`` and as ``bibtex``."""
        return References.of(self._sources(), self.versions["shrinktest"])

    def _sources(self) -> Iterable[str]:
        """Return keys of the papers."""
        return ()

    def _repr_html_(self) -> str:
        return self.summary().as_html()

    @cached_property
    def versions(self) -> dict[str, str]:
        """Versions of this package and of those on which its numbers depend."""
        return {
            "shrinktest": __version__,
            **{name: _version(name) for name in ("numpy", "scipy", "numba")},
        }

    def __getstate__(self) -> dict[str, Any]:
        getattr(self, "notes", ())  # computed before the data are left behind
        return vars(self) | {"versions": self.versions}  # those that computed the result

    def __eq__(self, other: object) -> bool:
        return same(self, other) if type(self) is type(other) else NotImplemented

    def __hash__(self) -> int:
        return hash(repr(self))


class Decision(Result):
    """Base class of results with one p-value; ``statistic, pvalue = result`` works."""

    statistic: Any
    pvalue: Any
    alpha: float
    #: What to call in place of ``bool(result)``.
    decision: ClassVar[str] = "result.reject()"

    def __iter__(self) -> Iterator[float]:
        return iter((self.statistic, self.pvalue))

    def __len__(self) -> int:
        return 2

    def __bool__(self) -> bool:
        raise ValueError(f"{type(self).__name__} is neither true nor false; use {self.decision}")

    def __getitem__(self, index: int) -> float:
        return (self.statistic, self.pvalue)[index]

    def reject(self, alpha: float | None = None) -> bool:
        """Return True if p <= ``alpha``, by default the significance level of the result."""
        return bool(self.pvalue <= (self.alpha if alpha is None else level(alpha)))


@functools.cache  # reads files
def _version(package: str) -> str:
    from importlib.metadata import version

    return version(package)


class Notes:
    """Notes of a result: a tuple, or a function that returns it.

    The function is called when they are first read.
    """

    def __get__(self, result: Any, owner: Any = None) -> tuple[str, ...]:
        if result is None:
            return ()  # the default
        notes = vars(result)["notes"]
        if callable(notes):
            notes = vars(result)["notes"] = tiny_is_zero(notes)()
        return notes  # type: ignore[no-any-return]

    def __set__(self, result: Any, notes: Any) -> None:
        vars(result)["notes"] = notes


def unique(notes: Iterable[str]) -> tuple[str, ...]:
    """Return notes without repetitions, in their order."""
    return tuple(dict.fromkeys(notes))


@dataclass(frozen=True)
class TestData:
    """Data and design of a test."""

    __test__: ClassVar[bool] = False  # not a test class for pytest

    test: str  # "two-sample", "independence", ...; for a statistic of your own, its name
    n_observations: tuple[int, ...]  # sizes of the samples, or the number of pairs
    names: tuple[str | None, ...] = ()  # of the samples, or of the variables, if the data have some
    columns: tuple[
        tuple[str, ...] | None, ...
    ] = ()  # names, for all samples or for every variable; None for arrays
    encodings: tuple[Encoding | None, ...] = ()  # how the columns of tables became numbers
    restriction: str = ""  # the permutations that the design allows; empty if all of them
    simulated: bool = False  # True if the null distribution is of copies that a model draws
    method: str = ""  # how given= or covariates= were taken into account
    assumption: str = ""  # what must be true for the p-value to be valid given these


@dataclass(frozen=True)
class Setup:
    """Estimator, kernel and route of a statistic."""

    estimator: Any = None  # as it was given
    kernel: Any = None  # with the bandwidth that was used; one per variable for independence
    form: str = ""
    tuning: str = ""
    route: str = ""
    squared_norm: bool = False  # True if the statistic is never negative
    given: Any = None  # the kernel as it was given, whose bandwidth may be a rule


# --- plain values ---------------------------------------------------------------------------------


def plain(value: Any) -> Any:
    """Return a value as numbers, texts, lists and dictionaries; other objects as their text."""
    if isinstance(value, Result):
        return value.to_dict()
    if isinstance(value, np.ndarray | np.number | np.bool_):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, Mapping):
        return {key: plain(entry) for key, entry in value.items()}
    return value if value is None or isinstance(value, int | float | str) else str(value)


def as_tuple(value: Any) -> tuple[Any, ...]:
    """Return one of something, such as a kernel, or several of it, as a tuple."""
    return value if isinstance(value, tuple) else (value,)


def bandwidth_of(kernel: Any) -> Any:
    """Return the bandwidth of a kernel, or the bandwidths of several; None if it has none."""
    return (
        tuple(map(bandwidth_of, kernel))
        if isinstance(kernel, tuple)
        else getattr(kernel, "bandwidth", None)
    )


# --- equality -------------------------------------------------------------------------------------


def same(entry: Any, other: Any) -> bool:
    """Compare two values.

    Arrays are compared entry by entry, NaN equal to NaN, dataclasses by their compared fields.

    Examples
    --------
    >>> import numpy as np
    >>> (
    ...     same({"a": np.array([1.0, np.nan])}, {"a": np.array([1.0, np.nan])}),
    ...     same((0.0, [1]), (0.0, [2])),
    ... )
    (True, False)
    """
    if entry is other:
        return True
    if isinstance(entry, Real) and isinstance(other, Real):
        return bool(entry == other or (entry != entry and other != other))
    if type(entry) is not type(other):
        return False
    if isinstance(entry, np.ndarray):
        return np.array_equal(entry, other, equal_nan=entry.dtype.kind in "fcmM")
    if is_dataclass(entry):
        return all(
            same(getattr(entry, field.name), getattr(other, field.name))
            for field in _compared(entry)
        )
    if isinstance(
        entry, partial
    ):  # features hold such functions, which Python compares by identity
        return same(
            (entry.func, entry.args, entry.keywords), (other.func, other.args, other.keywords)
        )
    if isinstance(entry, Mapping):
        return entry.keys() == other.keys() and all(same(entry[key], other[key]) for key in entry)
    if isinstance(entry, tuple | list):
        return len(entry) == len(other) and all(map(same, entry, other))
    if hasattr(entry, "equals"):  # pandas
        return bool(entry.equals(other))
    return bool(entry == other)


def _compared(value: Any) -> list[Any]:
    return [field for field in fields(value) if field.compare]
