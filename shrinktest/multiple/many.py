"""Tests of many columns or pairs of columns, on shared permutations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shrinktest._check import counted, listed, n_dimensions, rng_provenance
from shrinktest.data.column import DROP
from shrinktest.data.observed import checked_types
from shrinktest.data.tables import shown_names
from shrinktest.data.untestable import CONSTANT, Reasons
from shrinktest.hypotheses.base import Hypothesis, Variable
from shrinktest.hypotheses.settings import Settings
from shrinktest.multiple.ensembles import KernelSpec
from shrinktest.multiple.run import run_side_by_side
from shrinktest.notes import has_code, note
from shrinktest.permutations.null import Null
from shrinktest.results.base import TestData, unique
from shrinktest.results.several import MultipleTestsResult
from shrinktest.units import by_name, constant_columns


@dataclass(frozen=True, eq=False)
class TestedColumn:
    """A column that is tested by itself."""

    place: int  # among the columns of its table
    label: str
    values: Variable  # in numbers: (n, 1), or the several that a column of a table became
    spec: KernelSpec  # its kernel and bandwidth


@dataclass(frozen=True, eq=False)
class ColumnsToTest:
    """Columns of a table: those that are tested, and why others are not."""

    labels: tuple[str, ...]  # of the columns that were read
    tested: tuple[TestedColumn, ...]
    untested: Mapping[str, str]  # reasons by label
    notes: tuple[str, ...]

    @classmethod
    def read(
        cls,
        table: Variable,
        spec: KernelSpec,
        prefix: str,
        *,
        unread: Reasons,
        left_out: Mapping[str, str],
        constant: np.ndarray | None = None,
        which: str = "",
    ) -> ColumnsToTest:
        """Take a table apart; ``unread`` and ``left_out`` have reasons for columns that are not in it."""
        encoding, scale = table.encoding, table.scale
        groups = [slice(j, j + 1) for j in range(table.points.shape[1])] if encoding is None else encoding.groups
        labels = _labels(table, len(groups), prefix)
        widths = _one_width_each(spec.bandwidth, labels, spec.bandwidth_name)
        constant = constant_columns(table.points) if constant is None else constant
        tested, same = [], []
        for place, (label, group, width) in enumerate(zip(labels, groups, widths, strict=True)):
            if constant[group].all():
                same.append(label)
                continue
            unit = scale[group] if isinstance(scale, tuple) else scale
            points = np.ascontiguousarray(table.points[:, group])
            values = Variable(points, f"column {label!r} of {table.name}", unit)
            tested.append(TestedColumn(place, label, values, replace(spec, bandwidth=width)))
        plain = encoding is not None and not encoding.named
        others = {
            f"{prefix}{name}" if plain and name.isdigit() else name: reason
            for (whose, name), reason in unread.items()
            if whose == table.name or not which
        }
        untested = {**dict.fromkeys(same, CONSTANT), **others, **left_out}
        notes = (*untested_notes(others), *_constant_note(same, len(labels), table.name, which))
        return cls(tuple(labels), tuple(tested), untested, notes)

    def without(self, messages: Mapping[str, str]) -> ColumnsToTest:
        """Leave out columns that cannot be tested, by their labels; ``messages`` go into errors."""
        left_out = [column for column in self.tested if column.label in messages]
        reasons = {column.label: _reason(messages[column.label], column.values) for column in left_out}
        tested = tuple(column for column in self.tested if column not in left_out)
        notes = (*self.notes, *untested_notes(reasons))
        return replace(self, tested=tested, untested={**self.untested, **reasons}, notes=notes)


def dropping(column_types: Any, reasons: Reasons) -> Any:
    """Return ``column_types`` that also leave out the columns for which there are reasons."""
    return {**checked_types(column_types), **{name: DROP for _, name in reasons}} if reasons else column_types


def refuse_missing(missing: bool) -> None:
    """Raise ValueError if missing values remain."""
    if missing:
        raise ValueError(
            "nan_policy='propagate' is for a single p-value; use nan_policy='omit' or test complete columns"
        )


def run_many(
    hypotheses: Sequence[Hypothesis],
    labels: Sequence[tuple[Any, ...]],
    keys: tuple[str, ...],
    specs: Sequence[Sequence[KernelSpec]],
    estimator: Any,
    settings: Settings,
    generator: np.random.Generator,
    method: str,
    *,
    untested: Mapping[tuple[Any, ...], str] = {},
    notes: Sequence[str] = (),
    without: tuple[str, ...] = (),
) -> MultipleTestsResult:
    """Test hypotheses on shared permutations, and adjust the p-values; notes with codes ``without`` are left out."""
    provenance = rng_provenance(generator)
    nulls, setup, restriction, shared = run_side_by_side(hypotheses, estimator, specs, settings, generator, method)
    reasons, texts = {}, [text for text in shared if not has_code(text, *without)]
    for label, hypothesis, null in zip(labels, hypotheses, nulls, strict=True):
        if isinstance(null, str) and len(hypothesis.variables) == 1:
            reasons[label] = _reason(null, hypothesis.variables[0])
            texts += untested_notes({label[0]: reasons[label]})
        elif isinstance(null, str):
            reasons[label] = null
            texts.append(note("untested-pair", reason=null))
    first = hypotheses[0]
    return MultipleTestsResult(
        nulls={label: null for label, null in zip(labels, nulls, strict=True) if isinstance(null, Null)},
        keys=keys,
        method=method,
        alpha=settings.alpha,
        data=TestData(first.kind.name, first.n_observations, restriction=restriction),
        setup=setup,
        rng=provenance,
        untested={**reasons, **untested},
        notes=unique((*texts, *notes)),
    ).with_method(method)


# --- labels, bandwidths and notes ---------------------------------------------------------------------------


def _labels(table: Variable, count: int, prefix: str) -> tuple[str, ...]:
    if table.encoding is None:
        return tuple(f"{prefix}{j}" for j in range(count))
    names = table.encoding.names
    return shown_names(names, named=table.encoding.named) or tuple(f"{prefix}{name}" for name in names)


def _one_width_each(bandwidth: Any, labels: Sequence[str], argument: str) -> list[Any]:
    """Bandwidth of every column, given as one for all, or one each in their order or by name."""
    if hasattr(bandwidth, "keys"):
        return by_name(bandwidth, labels, argument, rest="median")
    if isinstance(bandwidth, str) or n_dimensions(bandwidth, argument) == 0:
        return [bandwidth] * len(labels)
    if len(bandwidth) != len(labels):
        columns = counted(len(labels), "column")
        raise ValueError(f"{argument} has {len(bandwidth)} entries for {columns}; give one for each, or one for all")
    return list(bandwidth)


def _reason(message: str, column: Variable) -> str:
    """Message of an error without the name of the column."""
    return message.removeprefix(f"{column.name}: ")


def untested_notes(reasons: Mapping[str, str]) -> tuple[str, ...]:
    """Notes on columns that are not tested, by their names."""
    return tuple(
        note("untested-column", column=label, what="is not tested", reason=reason) for label, reason in reasons.items()
    )


def _constant_note(constant: Sequence[str], count: int, name: str, which: str) -> tuple[str, ...]:
    """Note on columns with one value only; raises ValueError if all are constant."""
    if not constant:
        return ()
    several = len(constant) > 1
    columns = f"column{'s' * several} {listed(constant)}"
    if len(constant) == count:
        have = "have" if several else "has"
        raise ValueError(f"{name}: {columns} {have} the same value in every row; give columns that vary")
    whose = f" of {name}" if which else ""
    which = f"{columns[0].upper()}{columns[1:]}{whose} {'are' if several else 'is'}"
    return (note("constant-columns", which=which, they="they have" if several else "it has"),)


def listwise_note(left_out: int, remaining: int, than: str = "a column") -> tuple[str, ...]:
    """Note on rows that miss a value in another column; ``than`` is what each test is about."""
    return (
        (note("missing-left-out-of-all", rows=f"{left_out} of {left_out + remaining}", than=than),) if left_out else ()
    )
