"""ScaleOption: the argument ``scale`` of a test, read once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from shrinktest._check import Columns, choice
from shrinktest.units import Scale, as_scale, as_unit, beside_others, by_name, entries_by_name

#: Units that users do not choose: standard deviations for tables, none for arrays.
AUTO = "auto"


@dataclass(frozen=True, eq=False)
class ScaleOption:
    """Units of columns, of one variable or of several, as users give them."""

    value: Any = None  # None, "auto", the name of a unit, or an entry for each column or variable
    argument: str = "scale"  # what messages call it
    named: Mapping[str, Any] | None = None  # entries by names of columns

    @classmethod
    def of(cls, value: Any, argument: str = "scale") -> Self:
        """Read the argument; options stay as they are."""
        if isinstance(value, cls):
            return value
        return cls(value, argument, entries_by_name(value))

    @property
    def automatic(self) -> bool:
        """True if the user gives no units."""
        return is_automatic(self.value)

    @property
    def single(self) -> bool:
        """True for one unit of all columns, or none."""
        return self.value is None or isinstance(self.value, str)

    @property
    def by_place(self) -> bool:
        """True for entries in the order of columns or variables."""
        return not self.single and self.named is None

    def settled(self, *, table: bool) -> ScaleOption:
        """Return the units, by default those of a ``table``, or of an array."""
        return replace(self, value="sd" if table else None) if self.automatic else self

    # --- one variable ---

    def of_array(self, columns: int) -> Scale | None:
        """Return the units of the columns of an array; raise ValueError or TypeError for others."""
        units = as_scale(self.value, columns, self.argument)
        return tuple(beside_others(units)) if isinstance(units, tuple) else units

    def of_columns(self, names: Sequence[str]) -> list[Any]:
        """Return the unit of every named column: None, a name or a number."""
        if self.named is None:
            units = self.of_array(len(names))
            return list(units) if isinstance(units, tuple) else [units] * len(names)
        entries = zip(names, by_name(self.named, names, self.argument, rest="sd"), strict=True)
        return beside_others(
            [
                None if unit is None else as_unit(unit, f"{self.argument}[{name!r}]")
                for name, unit in entries
            ]
        )

    # --- several variables ---

    def entries(self, count: int) -> list[ScaleOption]:
        """Return an option for each of ``count`` variables: of a list its entries."""
        if not isinstance(self.value, list | tuple) or len(self.value) != count:
            return [self] * count
        return [ScaleOption.of(entry, f"scale[{v}]") for v, entry in enumerate(self.value)]

    def of_variables(self, columns: Sequence[Columns]) -> list[ScaleOption]:
        """Return the option of every variable, of which ``columns`` has the names, or None.

        Raise ValueError for units that are not for these variables.
        """
        if self.named is not None:
            return self._of_tables(self.named, columns)
        one_each = self.entries(len(columns))
        if self.by_place and (one_each[0] is self or any(map(_is_number, self.value))):
            raise ValueError(
                f"scale must be one name, or a list with one entry for each of {len(columns)} "
                f"variables; got {self.value!r}"
            )
        return one_each

    @staticmethod
    def _of_tables(units: Mapping[str, Any], columns: Sequence[Columns]) -> list[ScaleOption]:
        """Return the units of the columns that each table has."""
        known = [name for names in columns for name in names or ()]
        if not known:
            raise ValueError(
                "scale gives units by names of columns, which arrays do not have; pass a list of "
                "them"
            )
        for key in units:
            choice(key, known, "a column in scale")
        options = []
        for names in columns:
            own = {key: unit for key, unit in units.items() if key in (names or ())}
            options.append(ScaleOption.of(own if names else None))
        return options


def _is_number(unit: Any) -> bool:
    """Return True for the unit of one column, of which variables have one each."""
    return isinstance(unit, int | float)


def is_automatic(scale: Any) -> bool:
    """Return True if the user gives no units."""
    return isinstance(scale, str) and scale == AUTO
