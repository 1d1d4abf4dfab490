"""Table and Summary: aligned text in the style of statsmodels, without importing it to print."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import Any


@dataclass(frozen=True)
class Table:
    """Rows of text in aligned columns.

    Parameters
    ----------
    rows : sequence of rows of str
        The first entry of a row is its label.
    aligns : str
        "l" or "r" for each column; the last one is that of all further columns.
    headers : sequence of str, optional
        One for each column, centred over it.
    title : str, optional
        Centred over the table.
    gap : str
        Between columns.
    below : str
        What the line below is made of.

    Examples
    --------
    >>> print(Table([["a", "1"], ["b", "20"]], "lr", headers=["", "no."]).as_text())
    =====
      no.
    -----
    a   1
    b  20
    =====
    """

    rows: Sequence[Sequence[str]]
    aligns: str
    headers: Sequence[str] = ()
    title: str = ""
    gap: str = " "
    below: str = "="

    def as_text(self) -> str:
        """The table in lines of equal length."""
        rows = [*([self.headers] if self.headers else []), *self.rows]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [self._line(row, widths, self._aligns()) for row in self.rows]
        width = len(lines[-1])
        if self.headers:
            lines[:0] = [self._line(self.headers, widths, "c" * len(widths)), "-" * width]
        title = [self.title.center(width)] if self.title else []
        return "\n".join([*title, "=" * width, *lines, self.below * width])

    def _aligns(self) -> str:
        return self.aligns.ljust(len(self.rows[0]), self.aligns[-1])

    def _line(self, row: Sequence[str], widths: list[int], aligns: str) -> str:
        pad = {"l": str.ljust, "r": str.rjust, "c": str.center}
        return self.gap.join(pad[align](cell, width) for cell, width, align in zip(row, widths, aligns, strict=True))

    def as_simple_table(self) -> Any:
        """The same as a ``SimpleTable`` of statsmodels, which also knows HTML, LaTeX and CSV."""
        from statsmodels.iolib.table import SimpleTable

        text = {"table_dec_below": self.below, "data_aligns": self._aligns()[1:], "colsep": self.gap}
        cells, labels = [list(row[1:]) for row in self.rows], [row[0] for row in self.rows]
        return SimpleTable(cells, list(self.headers[1:]), labels, title=self.title, txt_fmt=text)


class Summary:
    """Tables and notes that print as text and render as HTML in a notebook, as a ``Summary`` of statsmodels does.

    Parameters
    ----------
    tables : sequence of Table
    notes : sequence of str
        Numbered below the tables.
    """

    def __init__(self, tables: Sequence[Table], notes: Sequence[str] = ()) -> None:
        self._tables = tuple(tables)
        self.extra_txt = "\n".join(numbered(notes)) if notes else None

    def as_text(self) -> str:
        """The tables, one below the other, and the notes."""
        *above, last = [table.as_text() for table in self._tables]
        text = "\n".join([*(table.rsplit("\n", 1)[0] for table in above), last])  # they share the line between them
        return text if self.extra_txt is None else f"{text}\n\n{self.extra_txt}"

    def __str__(self) -> str:
        return self.as_text()

    def __repr__(self) -> str:
        return f'{type(self)}\n"""\n{self}\n"""'

    @property
    def tables(self) -> list[Any]:
        """The tables as statsmodels has them (``SimpleTable``)."""
        return [table.as_simple_table() for table in self._tables]

    def as_html(self) -> str:
        """The tables and notes as HTML."""
        return str(self._of_statsmodels().as_html())

    def as_latex(self) -> str:
        """The tables and notes as LaTeX."""
        return str(self._of_statsmodels().as_latex())

    def as_csv(self) -> str:
        """The tables and notes as comma-separated values."""
        return str(self._of_statsmodels().as_csv())

    _repr_html_ = as_html
    _repr_latex_ = as_latex

    def _of_statsmodels(self) -> Any:
        from statsmodels.iolib import summary

        found = summary.Summary()
        found.tables, found.extra_txt = self.tables, self.extra_txt
        return found


def numbered(notes: Sequence[str]) -> list[str]:
    """Notes with a number in brackets, in lines of at most 80 characters."""
    return [fill(f"[{i}] {note}", 80, subsequent_indent="    ") for i, note in enumerate(notes, 1)]
