"""Text in tables: read as the cells of files are, asked about where it is doubtful; levels as they look."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from shrinktest import Batches, compare, independence_test, two_sample_test
from shrinktest.cli.files import frames_of, read_file
from shrinktest.data.delimited import TextOptions
from shrinktest.data.tables import read_table

N = 60
RNG = np.random.default_rng(0)
NUMBERS = RNG.normal(size=N).round(1)
MOMENTS = pd.Timestamp("1931-01-01") + pd.to_timedelta(RNG.integers(0, 3000, N), unit="D")
CLOCK = pd.Timestamp("1931-01-01") + pd.to_timedelta(RNG.integers(0, 86400, N), unit="s")


def some(cells, *others, every=7):
    """Put other cells in place of every seventh."""
    return [
        others[i // every % len(others)] if i % every == every - 1 else str(cell)
        for i, cell in enumerate(cells)
    ]


READ = {
    "whole numbers": ("number", [str(i % 9) for i in range(N)]),
    "numbers": ("number", [*map(str, NUMBERS)]),
    "numbers with gaps": ("number", some(NUMBERS, "NA", "")),
    "minus signs": ("number", [str(x).replace("-", "\u2212") for x in NUMBERS]),
    "dashes": ("number", [str(x).replace("-", "\u2013") for x in NUMBERS]),
    "trailing minus": ("number", [f"{abs(x)}-" if x < 0 else str(x) for x in NUMBERS]),
    "days": ("date", [*MOMENTS.strftime("%d/%m/%Y")]),
    "days with points": ("date", [*MOMENTS.strftime("%d.%m.%Y")]),
    "months first": ("date", [*MOMENTS.strftime("%m/%d/%Y")]),
    "years first": ("date", [*MOMENTS.strftime("%Y/%m/%d")]),
    "days and hours": ("date", [*(MOMENTS + pd.Timedelta(hours=8)).strftime("%d-%m-%Y %H:%M")]),
    "days with gaps": ("date", some(MOMENTS.strftime("%d/%m/%Y"), "")),
    "ISO dates": ("date", [*MOMENTS.strftime("%Y-%m-%d")]),
    "times": ("time", [*CLOCK.strftime("%H:%M:%S")]),
    "hours and minutes": ("time", [*CLOCK.strftime("%H:%M")]),
    "true": ("boolean", ["true", "FALSE", "True"] * (N // 3)),
    "words": ("category", ["red", "blue", "NA"] * (N // 3)),
    "a few numbers": ("category", ["red", "blue", "1.0"] * (N // 3)),
    "codes": ("category", ["02134", "10001"] * (N // 2)),
    "codes that are too large for numbers": ("category", ["885E01003", "885E01004"] * (N // 2)),
}
ASKED = {
    "15 % not determined": (some(NUMBERS, "ND"), "ND"),
    "a third not determined": (some(NUMBERS, "n.d.", every=3), "n.d."),
    "limits of detection": (some(NUMBERS, "<0.5"), "<0.5"),
    "dollars": ([f"${abs(x):.2f}" for x in NUMBERS], f"${abs(NUMBERS[0]):.2f}"),
    "decimal commas": (
        [str(x).replace(".", ",") for x in NUMBERS],
        str(NUMBERS[0]).replace(".", ","),
    ),
    "infinite": (some(NUMBERS, "inf"), "inf"),
    "unknown days": (some(MOMENTS.strftime("%d/%m/%Y"), "unknown"), "unknown"),
    "unknown ISO dates": (some(MOMENTS.strftime("%Y-%m-%d"), "unknown"), "unknown"),
    "days or months": (["03/04/2024", "04/05/2024", "05/06/2024"] * (N // 3), "03/04/2024"),
    "short years": ([*MOMENTS.strftime("%d/%m/%y")], f"{MOMENTS[0]:%d/%m/%y}"),
    "times and a word": (some(CLOCK.strftime("%H:%M:%S"), "late"), "late"),
    "durations": (some(CLOCK.strftime("%H:%M:%S"), "25:10:00"), "25:10:00"),
}


@pytest.fixture
def filed(tmp_path):
    """Write cells as a file: its path."""

    def filed(cells):
        path = tmp_path / "t.csv"
        pd.DataFrame({"t": cells, "k": np.arange(len(cells)) % 7}).to_csv(path, index=False)
        return str(path)

    return filed


def of_command(path):
    """The columns of a file on the command line."""
    file = read_file(path, TextOptions())
    (frame,) = frames_of([file], [file.names], {})
    return read_table(frame, "X")


def of_batches(path):
    """The column of a file in parts of a few rows."""
    batches = Batches(path, size=3)
    return [part for chunk in batches.chunks("X", batches.names("X"), {}) for part in chunk.parts()]


@pytest.mark.parametrize("name", READ)
def test_tables_and_files_are_read_alike(filed, name):
    kind, cells = READ[name]
    path = filed(cells)
    from_file = of_command(path).columns[0]
    assert from_file.kind == kind
    for table in (
        pd.DataFrame({"t": cells}),
        pl.DataFrame({"t": cells}),
        pd.DataFrame({"t": cells}, dtype="string"),
    ):
        (column,) = read_table(table, "X").columns
        assert (column.kind, column.levels) == (from_file.kind, from_file.levels)
        np.testing.assert_array_equal(column.values, from_file.values)
    frames = of_batches(path)
    assert {read_table(frame, "X").columns[0].kind for frame in frames} == {kind} and len(
        frames
    ) > 1


@pytest.mark.parametrize("name", ASKED)
def test_tables_and_files_ask_alike(filed, name):
    cells, odd = ASKED[name]
    path, table = filed(cells), pd.DataFrame({"t": cells, "k": NUMBERS})
    asked = (
        lambda: of_command(path),
        lambda: of_batches(path),
        lambda: two_sample_test(table, table),
        lambda: compare(table, table),
        lambda: independence_test(pl.DataFrame({"t": cells}), NUMBERS),
    )
    for call in asked:
        with pytest.raises(ValueError, match=r"column 't'|^X: ") as error:
            call()
        assert repr(odd) in str(error.value)
        assert (
            "column_types={'t': " in str(error.value) or "column_types={'0': " in str(error.value)
        ) == (call is not asked[0])


@pytest.mark.parametrize(
    ("name", "column_type", "kind"),
    [
        ("15 % not determined", "category", "category"),
        ("dollars", "number", "number"),
        ("days or months", "%d/%m/%Y", "date"),
        ("days or months", "%m/%d/%Y", "date"),
        ("short years", "%d/%m/%y", "date"),
        ("durations", "duration", "duration"),
    ],
)
def test_the_remedy_works(filed, name, column_type, kind):
    cells, _ = ASKED[name]
    table = pd.DataFrame({"t": cells, "k": NUMBERS})
    with pytest.raises(ValueError, match="column 't'") as error:
        read_table(table, "X")
    assert repr(column_type) in str(error.value)
    (column, _) = read_table(table, "X", {"t": column_type}).columns
    assert column.kind == kind and not column.missing().any()
    path = filed(cells)
    result = two_sample_test(
        path, path, column_types={"t": column_type}, rng=0, n_resamples=19, alpha=0.5
    )
    assert result.encodings[0].codes[0].kind == kind


def test_the_form_of_days_decides():
    cells = ["03/04/2024", "04/05/2024"]
    first, second = (
        read_table(pd.DataFrame({"t": cells}), "X", {"t": form})
        .columns[0]
        .values.astype("datetime64[D]")
        .astype(str)
        for form in ("%d/%m/%Y", "%m/%d/%Y")
    )
    assert first.tolist() == ["2024-04-03", "2024-05-04"] and second.tolist() == [
        "2024-03-04",
        "2024-04-05",
    ]
    with pytest.raises(ValueError, match="has '03/04/2024' in row 0"):
        read_table(pd.DataFrame({"t": cells}), "X", {"t": "%Y"})


def test_whole_numbers_as_text_are_noted():
    table = pd.DataFrame({"zip": ["101", "202", "303"] * 20, "k": NUMBERS})
    result = two_sample_test(table, table[::-1], n_resamples=19, alpha=0.5, rng=0)
    note = (
        "Column 'zip' is text that contains whole numbers, which are read as numbers (column_types="
    )
    assert any(text.startswith(note) for text in result.notes)
    assert not any(text.startswith("Column 'zip' is") for text in two_sample_test(
        table, table[::-1], column_types={"zip": "category"}, n_resamples=19, alpha=0.5, rng=0).notes)  # fmt: skip


# --- what was left out ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "cells",
    [
        [f"c{i:04d}" for i in RNG.permutation(9999)[: 2 * N]],
        [f"{i // 9 + 24}:{i % 60:02d}:{i % 59:02d}" for i in range(2 * N)],
        [f"{i % 28 + 1}Feb{1900 + i}" for i in range(2 * N)],
        range(2 * N),
    ],
    ids=["identifiers", "long durations", "dates with names of months", "row numbers"],
)
def test_a_sentence_without_a_difference_names_what_was_left_out(cells):
    table = pd.DataFrame({"t": cells, "k": np.tile(NUMBERS, 2), "same": 1.0})
    result = compare(table[:N], table[N:], n_resamples=99, rng=0, estimator="kme")
    assert result.verdict.startswith("No difference was found between these tables (p = ")
    assert result.verdict.endswith("; left out of this test: t.")
    assert result.answer.startswith(result.verdict) and result.verdict in " ".join(
        str(result.summary()).split()
    )


# --- levels -----------------------------------------------------------------------------------------------------

LEVELS = {
    "blanks": ("Bonn ", "Bonn"),
    "two blanks": ("New  York", "New York"),
    "composed letters": ("Zu\u0308rich", "Z\u00fcrich"),
    "blanks that do not break": ("New\u00a0York", "New York"),
    "narrow blanks": ("New\u202fYork", "New York"),
    "invisible marks": ("Bo\u200bnn", "Bonn"),
    "true": ("true", "True"),
    "minus": ("\u22125", "-5"),
    "one": ("1.0", "1"),
}


@pytest.mark.parametrize("name", LEVELS)
def test_levels_that_look_the_same_are_one(filed, name):
    first, second = LEVELS[name]
    cells = [*[first, "a", second, "b", "a"] * (N // 5)]
    expected = sorted({second, "a", "b"})
    categories = pd.Series(cells, dtype="category")
    assert [*of_command(filed(cells)).columns[0].levels] == expected
    for given in (cells, categories, pl.Series(cells), pl.Series(cells, dtype=pl.Categorical)):
        (column,) = read_table(
            pd.DataFrame({"t": given}) if given is not cells else pl.DataFrame({"t": cells}), "X"
        ).columns
        assert [*column.levels] == expected
    (ordered,) = read_table(pd.DataFrame({"t": cells}), "X", {"t": [first, "a", "b"]}).columns
    assert ordered.levels == (second, "a", "b")
    X, Y = (pd.DataFrame({"t": [level, "a", "b"] * 20, "k": NUMBERS}) for level in (first, second))
    assert two_sample_test(X, Y, n_resamples=99, rng=0).pvalue == 1.0


@pytest.mark.parametrize("name", ["blanks", "composed letters", "blanks that do not break"])
def test_labels_that_look_the_same_are_one(name):
    first, second = LEVELS[name]
    X, Y = NUMBERS[:30, np.newaxis], NUMBERS[30:, np.newaxis]
    pvalues = [
        two_sample_test(
            X, Y, blocks=([level, "a"] * 15, [second, "a"] * 15), n_resamples=99, rng=0
        ).pvalue
        for level in (first, second)
    ]
    assert pvalues[0] == pvalues[1]


def test_true_of_one_table_is_true_of_another():
    X = pd.DataFrame({"t": [True, False] * 30, "k": NUMBERS})
    for cells in (
        ["true", "false"] * 30,
        ["TRUE", "FALSE"] * 30,
        ["true", "false", "unknown"] * 20,
    ):
        result = two_sample_test(X, X.assign(t=cells), n_resamples=19, alpha=0.5, rng=0)
        assert {"t = False", "t = True"} <= {*result.encodings[0].features}
        assert not any("no category in common" in note for note in result.notes)
    mixed = X.assign(t=[True, "true", "no"] * 20)
    assert read_table(mixed, "X", {"t": "category"}).columns[0].levels == ("True", "no")


@pytest.mark.parametrize(
    ("numbers", "names"),
    [
        ((1700000000.121, 1700000000.124), ("1700000000.121", "1700000000.124")),
        ((0.1234567890123, 0.1234567890124), ("0.1234567890123", "0.1234567890124")),
        ((20240331.0625, 20240331.0626), ("20240331.0625", "20240331.0626")),
        ((0.1 + 0.2, 0.3), ("0.3",)),
        ((1.1 * 3.0, 3.3), ("3.3",)),
        ((-0.0, 0.0), ("0",)),
    ],
)
def test_numbers_as_categories_keep_their_digits(numbers, names):
    table = pd.DataFrame({"t": [*numbers] * 10})
    for given in (table, table.astype("category"), pl.DataFrame({"t": [*numbers] * 10})):
        assert {*read_table(given, "X", {"t": "category"}).columns[0].levels} == {*names}
