"""Table, Summary and Report: aligned text in the style of statsmodels, without importing it to print."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from textwrap import fill
from typing import Any
from unicodedata import combining, east_asian_width

WIDTH = 80  # of lines of words
#: How LaTeX writes characters that mean something to it.
_LATEX = str.maketrans({"\\": r"\textbackslash{}", "^": r"\^{}", "~": r"\~{}"} | {one: rf"\{one}" for one in "#$%&_{}"})


@dataclass(frozen=True)
class Table:
    """Rows of text in aligned columns.

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

    rows: Sequence[Sequence[str]]  # the first entry of a row is its label
    aligns: str  # "l" or "r" for each column; the last one is that of all further columns
    headers: Sequence[str] = ()  # one for each column
    title: str = ""  # centred over the table
    gap: str = " "  # between columns
    below: str = "="  # what the line below is made of
    heads: str = "c"  # "c" for headers that are centred, "r" for those at the right of their columns

    def as_text(self) -> str:
        """The table in lines of equal length."""
        headers, *cells = [[" ".join(cell.splitlines()) for cell in row] for row in (self.headers, *self.rows)]
        rows = [*([headers] if headers else []), *cells]
        widths = [max(map(_wide, column)) for column in zip(*rows, strict=True)]
        lines = [self._line(row, widths, self._aligns()) for row in cells]
        width = _wide(lines[-1])
        if headers:
            lines[:0] = [self._line(headers, widths, self.heads * len(widths)), "-" * width]
        title = [self.title.center(width)] if self.title else []
        return "\n".join([*title, "=" * width, *lines, self.below * width])

    def _aligns(self) -> str:
        return self.aligns.ljust(len(self.rows[0]), self.aligns[-1])

    def _line(self, row: Sequence[str], widths: list[int], aligns: str) -> str:
        pad = {"l": str.ljust, "r": str.rjust, "c": str.center}
        cells = zip(row, widths, aligns, strict=True)
        return self.gap.join(pad[align](cell, width + len(cell) - _wide(cell)) for cell, width, align in cells)

    def as_markdown(self) -> str:
        """The table in Markdown, without its title."""
        rule = ["---:" if align == "r" else "---" for align in self._aligns()]
        escaped = [[cell.replace("|", "\\|") for cell in row] for row in (self.headers, rule, *self.rows)]
        return "\n".join(f"| {' | '.join(row)} |" for row in escaped)

    def as_simple_table(self) -> Any:
        """The same as a ``SimpleTable`` of statsmodels, which also knows HTML, LaTeX and CSV."""
        from statsmodels.iolib.table import SimpleTable

        text = {"table_dec_below": self.below, "data_aligns": self._aligns()[1:], "colsep": self.gap}
        cells, labels = [list(row[1:]) for row in self.rows], [row[0] for row in self.rows]
        return SimpleTable(cells, list(self.headers[1:]), labels, title=self.title, txt_fmt=text)

    def as_html(self) -> str:
        """The table as HTML."""
        table = self.escaped()
        lines = [[("th", cell) for cell in table.headers]] if table.headers else []
        lines += [[("td" if j else "th", cell) for j, cell in enumerate(row)] for row in table.rows]
        rows = "\n".join(f"<tr>{''.join(f'<{tag}>{cell}</{tag}>' for tag, cell in line)}</tr>" for line in lines)
        title = f"<caption>{table.title}</caption>\n" if table.title else ""
        return f'<table class="simpletable">\n{title}{rows}\n</table>'

    def escaped(self) -> Table:
        """The same table with its text as HTML writes it, which statsmodels leaves to others."""
        rows = [list(map(_escaped, row)) for row in self.rows]
        return replace(self, rows=rows, headers=list(map(_escaped, self.headers)), title=_escaped(self.title))

    def widened(self, least: int) -> Table:
        """The same table with empty columns at its right, so that it has ``least`` columns or more."""
        more = [""] * (least - len(self.rows[0]))
        headers = [*self.headers, *more] if self.headers else ()
        return replace(self, rows=[[*row, *more] for row in self.rows], headers=headers)


class Summary:
    """Tables and notes that print as text and render as HTML in a notebook, as a ``Summary`` of statsmodels does.

    Parameters
    ----------
    tables : sequence of Table
    notes : sequence of str
        Numbered below the tables.
    lines : sequence of str
        Sentences between the tables and the notes.
    """

    def __init__(self, tables: Sequence[Table], notes: Sequence[str] = (), lines: Sequence[str] = ()) -> None:
        self._tables = tuple(tables)
        apart = [""] if lines and notes else []
        below = [*(fill(line, WIDTH) for line in lines), *apart, *numbered(notes)]
        self.extra_txt = "\n".join(below) if below else None

    def followed_by(self, table: Table) -> Summary:
        """The same with one more table."""
        found = Summary([*self._tables, table])
        found.extra_txt = self.extra_txt
        return found

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
        written = Summary([table.escaped() for table in self._tables])
        written.extra_txt = self.extra_txt and _escaped(self.extra_txt)
        return str(written._of_statsmodels().as_html())

    def as_latex(self) -> str:
        """The tables and notes as LaTeX."""
        # statsmodels joins them to one table, whose first rows must not be the longest, and writes notes as they are
        least = len(self._tables[0].rows[0])
        written = Summary([table.widened(least) for table in self._tables])
        written.extra_txt = self.extra_txt and self.extra_txt.translate(_LATEX)
        return str(written._of_statsmodels().as_latex())

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


def _wide(text: str) -> int:
    """How many columns of a terminal a text takes: Chinese characters two, marks over others none."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(one) else 1 + (east_asian_width(one) in "WF") for one in text)


_ROWS = 60  # that a notebook shows of a table


@dataclass(frozen=True)
class Report:
    """Lines, a table below them and notes: as text, or as HTML for a notebook."""

    lines: Sequence[str]
    table: Table
    notes: Sequence[str] = ()  # numbered below the table
    rest: str = ""  # what the table leaves out; empty for nothing

    def as_text(self) -> str:
        """All of it, one below the other."""
        return "\n".join([*self.lines, self.table.as_text(), *self._below()])

    def _below(self) -> list[str]:
        return [*([self.rest] if self.rest else []), *numbered(self.notes)]

    def as_html(self) -> str:
        """The lines as they are, the table, of which the first 60 rows are shown, and the notes."""
        more = len(self.table.rows) - _ROWS
        below = [*([f"... and {more} more rows"] if more > 0 else []), *self._below()]
        table = replace(self.table, rows=self.table.rows[:_ROWS]).as_html()
        return f"{_lines(self.lines)}{table}{_lines(below)}"


def _lines(lines: Sequence[str]) -> str:
    text = "\n".join(lines)
    return f"<pre>{_escaped(text)}</pre>" if text else ""


def _escaped(text: str) -> str:
    from html import escape  # has a large table, which printing needs not

    return escape(text, quote=False)


def numbered(notes: Sequence[str]) -> list[str]:
    """Notes with a number in brackets, in lines of at most 80 characters."""
    return [fill(f"[{i}] {note}", WIDTH, subsequent_indent="    ") for i, note in enumerate(notes, 1)]
