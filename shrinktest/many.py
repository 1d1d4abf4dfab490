"""Tests of many columns or pairs of columns, on shared permutations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np

from shrinktest._check import counted, listed, n_dimensions
from shrinktest._random import rng_provenance, setup_rng
from shrinktest.aggregation import together
from shrinktest.auto import spares
from shrinktest.combination import ResolvedKernels, candidates_of, fit_all
from shrinktest.data.all_rows import checked_types
from shrinktest.data.column import DROP
from shrinktest.data.tables import shown_names
from shrinktest.data.untestable import CONSTANT, Reasons
from shrinktest.data.variable import Variable
from shrinktest.ensembles import Candidate, Ensemble
from shrinktest.fit import Fit
from shrinktest.hypothesis import Hypothesis
from shrinktest.kernel_spec import KernelSpec, as_kernels, is_several, refuse_kernels
from shrinktest.notes import Note, has_code, note
from shrinktest.permutations.base import Draws
from shrinktest.permutations.multiplicity import factor_of, warn_too_few
from shrinktest.permutations.null import Null
from shrinktest.results.base import Setup, TestData, unique
from shrinktest.results.multiple_tests_result import MultipleTestsResult
from shrinktest.results.result import is_shrunk, rounding_notes
from shrinktest.settings import Settings
from shrinktest.stack import stacked
from shrinktest.units import by_name, constant_columns, entries_by_name

_NAMED = 5  # tests at most that a note on some of many names


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
        """Split a table.

        ``unread`` and ``left_out`` have reasons for columns that are not in it.
        """
        encoding = table.encoding
        scale = table.scale
        groups = (
            [slice(j, j + 1) for j in range(table.points.shape[1])]
            if encoding is None
            else encoding.groups
        )
        labels = _labels(table, len(groups), prefix)
        widths = _one_width_each(spec.bandwidth, labels, spec.bandwidth_name)
        constant = constant_columns(table.points) if constant is None else constant
        tested = []
        same = []
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
        reasons = {
            column.label: _reason(messages[column.label], column.values) for column in left_out
        }
        tested = tuple(column for column in self.tested if column not in left_out)
        notes = (*self.notes, *untested_notes(reasons))
        return replace(self, tested=tested, untested={**self.untested, **reasons}, notes=notes)


def dropping(column_types: Any, reasons: Reasons) -> Any:
    """Return ``column_types`` that also leave out the columns for which there are reasons."""
    return (
        {**checked_types(column_types), **{name: DROP for _, name in reasons}}
        if reasons
        else column_types
    )


def refuse_missing(missing: bool) -> None:
    """Raise ValueError if missing values remain."""
    if missing:
        raise ValueError(
            "nan_policy='propagate' is for a single p-value; use nan_policy='omit' or test "
            "complete columns"
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
    """Test hypotheses on shared permutations, and adjust the p-values.

    Notes with codes ``without`` are left out.
    """
    provenance = rng_provenance(generator)
    tested = run_side_by_side(hypotheses, estimator, specs, settings, generator, method)
    nulls = tested.nulls
    reasons = {}
    texts = [text for text in tested.notes if not has_code(text, *without)]
    for label, hypothesis, null in zip(labels, hypotheses, nulls, strict=True):
        if isinstance(null, str) and len(hypothesis.variables) == 1:
            reasons[label] = _reason(null, hypothesis.variables[0])
            texts += untested_notes({label[0]: reasons[label]})
        elif isinstance(null, str):
            reasons[label] = null
            texts.append(note("untested-pair", reason=null))
    first = hypotheses[0]
    return MultipleTestsResult(
        nulls={
            label: null for label, null in zip(labels, nulls, strict=True) if isinstance(null, Null)
        },
        keys=keys,
        method=method,
        alpha=settings.alpha,
        data=TestData(first.kind.name, first.n_observations, restriction=tested.restriction),
        setup=tested.setup,
        rng=provenance,
        untested={**reasons, **untested},
        notes=unique((*texts, *notes)),
    ).with_method(method)


# --- shared permutations --------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class SideBySide:
    """Null distributions of tests on shared permutations, or error messages.

    Their setup, restriction and notes.
    """

    nulls: list[Null | str]
    setup: Setup
    restriction: str
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class _Fitted:
    """The statistics of one of the tests."""

    nulls: list[Null]
    null: Null  # of all of them together
    shrunk: bool
    notes: tuple[str, ...] = ()


def run_side_by_side(
    hypotheses: Sequence[Hypothesis],
    estimator: Any,
    specs: Sequence[Sequence[KernelSpec]],
    settings: Settings,
    generator: np.random.Generator,
    method: str,
) -> SideBySide:
    """Test hypotheses on shared permutations; those that cannot be tested have a message."""
    leading = hypotheses[0]
    form = leading.form(settings.form)
    several = is_several(estimator)
    if not form.by_kernel:
        refuse_kernels(form, estimator, specs[0], settings)
    members = _members(leading, estimator, specs[0], generator)
    setups = [leading.setup(member.estimator, member.kernel, form) for member in members]
    source = setup_rng(generator)
    permutations = leading.permutations(settings.n_resamples, settings.alpha, form)
    draws = Draws.of(permutations, settings.n_resamples, generator)
    warn_too_few(
        draws.count,
        settings.alpha,
        factor_of(method, len(hypotheses), draws.count),
        exact=draws.exact,
    )
    fitted: dict[int, _Fitted] = {}
    if not several:
        stack, notes = stacked(hypotheses, setups[0].estimator, specs, settings, draws)
        fitted = {
            i: _Fitted([null], null, is_shrunk(null, setups[0]), notes) for i, null in stack.items()
        }
    apart = {
        i: _members(hypothesis, estimator, specs[i], generator)
        for i, hypothesis in enumerate(hypotheses)
        if i not in fitted
    }
    resolved = ResolvedKernels(source, fresh=False)
    errors = _unresolved(hypotheses, apart, resolved) if form.by_kernel else {}
    shared = settings.kernels(source)
    spare = spares(estimator, leading.kind.name)
    for i, candidates in apart.items():
        kernels = settings.kernels(source) if shared.random else shared
        fit = partial(
            fit_all, hypotheses[i], candidates, setups, form, settings=settings, kernels=kernels
        )
        permutations = hypotheses[i].permutations(settings.n_resamples, settings.alpha, form)
        own = cache(partial(Draws, permutations, settings.n_resamples, draws.seed))
        try:
            if i in errors:
                raise errors[i]
            fitted[i] = _combined(*fit(draws=own, resolved=resolved, spare=spare), several=several)
        except ValueError as error:
            errors[i] = error
    if len(errors) == len(hypotheses):
        raise errors[0]
    tuning = "/".join(dict.fromkeys(setup.tuning for setup in setups))
    return SideBySide(
        nulls=[str(errors[i]) if i in errors else fitted[i].null for i in range(len(hypotheses))],
        setup=Setup(
            Ensemble(members) if several else setups[0].estimator,
            form=form.name,
            tuning=tuning,
            given=None if several else setups[0].given,
        ),
        restriction=draws.permutations.restriction,
        notes=_notes_of_all(
            [hypotheses[i] for i in sorted(fitted)], [fitted[i] for i in sorted(fitted)]
        ),
    )


def _members(
    hypothesis: Hypothesis,
    estimator: Any,
    specs: Sequence[KernelSpec],
    generator: np.random.Generator,
) -> Sequence[Candidate]:
    """Return the statistics of one of the tests."""
    if is_several(estimator):
        return candidates_of(hypothesis, estimator, specs, generator).members
    return [Candidate(estimator, as_kernels(specs))]


def _unresolved(
    hypotheses: Sequence[Hypothesis],
    members: Mapping[int, Sequence[Candidate]],
    resolved: ResolvedKernels,
) -> dict[int, ValueError]:
    """Resolve all kernels in the order of the columns, X first.

    Return errors by number of the test.
    """
    errors: dict[int, ValueError] = {}
    for v in range(len(hypotheses[0].variables)):
        for i, candidates in members.items():
            try:
                for member in candidates:
                    kernel = member.kernel[v] if isinstance(member.kernel, tuple) else member.kernel
                    resolved(hypotheses[i], v, kernel)
            except ValueError as error:
                errors.setdefault(i, error)
    return errors


def _combined(fits: Sequence[Fit | None], left_out: tuple[str, ...], *, several: bool) -> _Fitted:
    """Return the statistics of a test together."""
    used = [fit for fit in fits if fit is not None]
    nulls = [fit.null for fit in used]
    null = together(nulls, [fit.statistic.weight for fit in used]) if several else nulls[0]
    shrunk = any(is_shrunk(fit.null, fit.setup) for fit in used)
    return _Fitted(
        nulls, null, shrunk, (*left_out, *(text for fit in used for text in fit.notes()))
    )


def _notes_of_all(hypotheses: Sequence[Hypothesis], fitted: Sequence[_Fitted]) -> tuple[str, ...]:
    """Return the notes of all tests.

    Notes on rounding have the names of the tests that have them.
    """
    notes: list[str] = []
    rounded: dict[str, list[str]] = {}
    for hypothesis, entry in zip(hypotheses, fitted, strict=True):
        notes += entry.notes
        for text in rounding_notes(entry.nulls, shrunk=entry.shrunk):
            rounded.setdefault(text, []).append(
                " and ".join(variable.name for variable in hypothesis.variables)
            )
    for text, names in rounded.items():
        which = f"{', '.join(names[:_NAMED])}{', and others' if len(names) > _NAMED else ''}"
        notes.append(Note(f"{which}: {text}", getattr(text, "code", "")))
    return unique(notes)


# --- labels, bandwidths and notes -----------------------------------------------------------------


def _labels(table: Variable, count: int, prefix: str) -> tuple[str, ...]:
    if table.encoding is None:
        return tuple(f"{prefix}{j}" for j in range(count))
    names = table.encoding.names
    return shown_names(names, named=table.encoding.named) or tuple(
        f"{prefix}{name}" for name in names
    )


def _one_width_each(bandwidth: Any, labels: Sequence[str], argument: str) -> list[Any]:
    """Bandwidth of every column, given as one for all, or one each in their order or by name."""
    if entries_by_name(bandwidth) is not None:
        return by_name(bandwidth, labels, argument, rest="median")
    if isinstance(bandwidth, str) or n_dimensions(bandwidth, argument) == 0:
        return [bandwidth] * len(labels)
    if len(bandwidth) != len(labels):
        columns = counted(len(labels), "column")
        raise ValueError(
            f"{argument} has {len(bandwidth)} entries for {columns}; pass one for each, or one for "
            "all"
        )
    return list(bandwidth)


def _reason(message: str, column: Variable) -> str:
    """Message of an error without the name of the column."""
    return message.removeprefix(f"{column.name}: ")


def untested_notes(reasons: Mapping[str, str]) -> tuple[str, ...]:
    """Notes on columns that are not tested, by their names."""
    return tuple(
        note("untested-column", column=label, what="is not tested", reason=reason)
        for label, reason in reasons.items()
    )


def _constant_note(constant: Sequence[str], count: int, name: str, which: str) -> tuple[str, ...]:
    """Note on columns with one value only; raises ValueError if all are constant."""
    if not constant:
        return ()
    several = len(constant) > 1
    columns = f"column{'s' * several} {listed(constant)}"
    if len(constant) == count:
        have = "have" if several else "has"
        raise ValueError(
            f"{name}: {columns} {have} the same value in every row; pass columns that vary"
        )
    whose = f" of {name}" if which else ""
    which = f"{columns[0].upper()}{columns[1:]}{whose} {'are' if several else 'is'}"
    return (note("constant-columns", which=which, they="they have" if several else "it has"),)


def listwise_note(left_out: int, remaining: int, than: str = "a column") -> tuple[str, ...]:
    """Note on rows that miss a value in another column; ``than`` is what each test is about."""
    return (
        (note("missing-left-out-of-all", rows=f"{left_out} of {left_out + remaining}", than=than),)
        if left_out
        else ()
    )
