"""Untested: columns and rows that are left out of tests of every column, and notes that say why."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from shrinktest._check import listed
from shrinktest.hypotheses.base import Variable
from shrinktest.notes import note
from shrinktest.tables.column import DROP
from shrinktest.tables.pooled import checked_types
from shrinktest.tables.untestable import CONSTANT, Reasons


def listwise_note(left_out: int, kept: int, than: str = "a column") -> tuple[str, ...]:
    """What a reader should know where rows were left out of tests, each about ``than``, in which they have values."""
    if not left_out:
        return ()
    return (note("missing-left-out-of-all", rows=f"{left_out} of {left_out + kept}", than=than),)


def constant_note(labels: Sequence[str], varied: Sequence[bool], name: str, which: str = "") -> tuple[str, ...]:
    """Which columns are not tested because they have one value only; raises ValueError where none is left.

    ``which``: of which table, if there are two.
    """
    constant = [label for label, one in zip(labels, varied, strict=True) if not one]
    if not constant:
        return ()
    several, named = len(constant) > 1, listed(constant)
    if len(constant) == len(labels):
        raise ValueError(
            f"{name}: column{'s' * several} {named} {'have' if several else 'has'} the same value in every row, so "
            f"that there is nothing to test; leave {'them' if several else 'it'} out"
        )
    which = f"Column{'s' * several} {named}{which} {'are' if several else 'is'}"
    return (note("constant-columns", which=which, they="they have" if several else "it has"),)


def constant_reasons(labels: Sequence[str], varied: Sequence[bool]) -> dict[str, str]:
    """The reason for every column with one value only."""
    return {label: CONSTANT for label, one in zip(labels, varied, strict=True) if not one}


def untested_notes(reasons: Mapping[str, str]) -> tuple[str, ...]:
    """Notes on columns that are not tested, by their names."""
    return tuple(
        note("untested-column", column=label, what="is not tested", reason=reason) for label, reason in reasons.items()
    )


def dropping(column_types: Any, reasons: Reasons) -> Any:
    """The argument ``column_types`` that also leaves out the columns for which there are reasons."""
    return {**checked_types(column_types), **{name: DROP for _, name in reasons}} if reasons else column_types


def relabelled(reasons: Reasons, variable: Variable, prefix: str, table: str = "") -> dict[str, str]:
    """Reasons by the labels of columns, of which those of arrays are ``prefix`` and the number.

    With ``table`` only the reasons for columns of the table with this name.
    """
    named = variable.encoding is None or variable.encoding.named
    return {
        name if named or not name.isdigit() else f"{prefix}{name}": why
        for (whose, name), why in reasons.items()
        if table in ("", whose)
    }


def reason_in(message: str, column: Variable) -> str:
    """The message of an error without the name of the column."""
    return message.removeprefix(f"{column.name}: ")


def untested_pairs(tested: Sequence[Sequence[str]], reasons: Sequence[Mapping[str, str]]) -> dict[tuple[str, ...], str]:
    """Why pairs are not tested, for the labels of the tested columns of each table and the reasons for the others."""
    names = [[*labels, *why] for labels, why in zip(tested, reasons, strict=True)]
    pairs = itertools.product(*names) if len(names) == 2 else itertools.combinations(names[0], 2)
    return {
        (x, y): f"column {x!r}: {reasons[0][x]}" if x in reasons[0] else f"column {y!r}: {reasons[-1][y]}"
        for x, y in pairs
        if x in reasons[0] or y in reasons[-1]
    }
