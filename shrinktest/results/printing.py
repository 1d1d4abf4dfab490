"""Printed tables and summaries: aligned text, HTML, LaTeX and CSV."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from textwrap import fill
from typing import Any, Self
from unicodedata import combining, east_asian_width

WIDTH = 80  # of lines of words
_HTML_ROWS = 60  # of a table in a notebook
_LATEX = str.maketrans({"\\": r"\textbackslash{}", "^": r"\^{}", "~": r"\~{}"} | {c: rf"\{c}" for c in "#$%&_{}"})


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

    rows: Sequence[Sequence[str]]
    aligns: str  # "l" or "r" for each column; the last one holds for all further columns
    headers: Sequence[str] = ()
    title: str = ""
    gap: str = " "  # between columns
    below: str = "="  # character of the last line
    heads: str = "c"  # alignment of headers, "c" or "r"

    def _aligned(self) -> str:
        return self.aligns.ljust(len(self.rows[0]), self.aligns[-1])

    def as_text(self) -> str:
        """Return lines of equal width."""
        cells = [[" ".join(cell.splitlines()) for cell in row] for row in (self.headers, *self.rows) if row]
        widths = [max(map(_width, column)) for column in zip(*cells, strict=True)]
        pad = {"l": str.ljust, "r": str.rjust, "c": str.center}

        def line(row: Sequence[str], aligns: str) -> str:
            both = zip(row, widths, aligns, strict=True)
            return self.gap.join(pad[a](cell, width + len(cell) - _width(cell)) for cell, width, a in both)

        total = sum(widths) + len(self.gap) * (len(widths) - 1)
        body = [line(row, self._aligned()) for row in cells[bool(self.headers) :]]
        head = [line(cells[0], self.heads * len(widths)), "-" * total] if self.headers else []
        title = [self.title.center(total)] if self.title else []
        return "\n".join([*title, "=" * total, *head, *body, self.below * total])

    def as_markdown(self) -> str:
        """Return the table in Markdown, without its title."""
        rule = ["---:" if align == "r" else "---" for align in self._aligned()]
        escaped = [[cell.replace("|", "\\|") for cell in row] for row in (self.headers, rule, *self.rows)]
        return "\n".join(f"| {' | '.join(row)} |" for row in escaped)

    def as_html(self) -> str:
        """Return the table as HTML."""
        lines = [[("th", cell) for cell in self.headers]] if self.headers else []
        lines += [[("td" if j else "th", cell) for j, cell in enumerate(row)] for row in self.rows]
        rows = "\n".join(
            f"<tr>{''.join(f'<{tag}>{_escaped(cell)}</{tag}>' for tag, cell in one)}</tr>" for one in lines
        )
        title = f"<caption>{_escaped(self.title)}</caption>\n" if self.title else ""
        return f'<table class="simpletable">\n{title}{rows}\n</table>'

    def as_latex(self) -> str:
        """Return the table as LaTeX (booktabs)."""
        rows = [" & ".join(cell.translate(_LATEX) for cell in row) + r" \\" for row in self.rows]
        head = [" & ".join(cell.translate(_LATEX) for cell in self.headers) + r" \\", r"\midrule"]
        lines = [rf"\begin{{tabular}}{{{self._aligned()}}}", r"\toprule", *(head if self.headers else []), *rows]
        title = [rf"\textbf{{{self.title.translate(_LATEX)}}}\\"] if self.title else []
        return "\n".join([*title, *lines, r"\bottomrule", r"\end{tabular}"])


class Summary(str):
    """Text of a summary, which a notebook shows as HTML; also as LaTeX and CSV."""

    tables: tuple[Table, ...]
    above: tuple[str, ...]
    below: tuple[str, ...]

    @classmethod
    def of(
        cls,
        *tables: Table,
        head: Sequence[str] = (),
        rest: str = "",
        lines: Sequence[str] = (),
        notes: Sequence[str] = (),
    ) -> Self:
        """Put a summary together: ``head``, tables, ``rest``, sentences (``lines``) and numbered notes."""
        sentences = [fill(line, WIDTH) for line in lines]
        below = [*([rest] if rest else [])]
        for part in (sentences, numbered(notes)):
            below += ["", *part] if part else []
        # tables share the line between them
        texts = [table.as_text() for table in tables]
        above = [text.rsplit("\n", 1)[0] for text in texts[:-1]]
        found = cls("\n".join([*head, *above, texts[-1], *below]))
        found.tables, found.above, found.below = tables, tuple(head), tuple(below)
        return found

    def as_text(self) -> str:
        """Return the text."""
        return str(self)

    def as_html(self) -> str:
        """Return tables, of which the first 60 rows are shown, and notes as HTML."""
        parts = [_lines(self.above)]
        for table in self.tables:
            parts.append(replace(table, rows=table.rows[:_HTML_ROWS]).as_html())
            more = len(table.rows) - _HTML_ROWS
            parts.append(_lines([f"... and {more} more rows"] if more > 0 else []))
        return "".join([*parts, _lines(self.below)])

    def as_latex(self) -> str:
        """Return tables and notes as LaTeX."""
        words = [[line.translate(_LATEX) for line in part] for part in (self.above, self.below)]
        return "\n\n".join(
            filter(None, ["\n".join(words[0]), *(t.as_latex() for t in self.tables), "\n".join(words[1])])
        )

    def as_csv(self) -> str:
        """Return the rows of the tables as comma-separated values."""
        import csv
        from io import StringIO

        out = StringIO()
        rows = chain.from_iterable(
            ([table.headers] if table.headers else []) + list(table.rows) for table in self.tables
        )
        csv.writer(out, lineterminator="\n").writerows([cell.strip() for cell in row] for row in rows)
        return out.getvalue()

    _repr_html_ = as_html
    _repr_latex_ = as_latex

    def __repr__(self) -> str:
        return f'{type(self)}\n"""\n{self}\n"""'


def number(value: Any, form: str = ".4g") -> str:
    """A number with few digits; "-" for None and NaN, and the first four numbers of a tuple."""
    if isinstance(value, tuple):
        shown = ", ".join(number(one, form) for one in value[:4])
        return f"({shown}{', ...' if len(value) > 4 else ''})"
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    return str(value) if isinstance(value, int | str) else format(value, form)


def known(value: float, form: str = ".4g") -> str:
    """A number, or "none" for NaN."""
    return "none" if math.isnan(value) else format(value, form)


def side_by_side(title: str, left: list[tuple[str, str]], right: list[tuple[str, str]]) -> Table:
    """Labels and values twice in a line, as in the summaries of statsmodels."""
    pairs = zip_longest(left, right, fillvalue=("", ""))
    return Table([(a, b, f"   {c}", d) for (a, b), (c, d) in pairs], "lrlr", title=title)


def numbered(notes: Sequence[str]) -> list[str]:
    """Notes with a number in brackets, in lines of at most 80 characters."""
    return [fill(f"[{i}] {note}", WIDTH, subsequent_indent="    ") for i, note in enumerate(notes, 1)]


def _width(text: str) -> int:
    """Columns of a terminal that a text takes: Chinese characters two, combining marks none."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(letter) else 1 + (east_asian_width(letter) in "WF") for letter in text)


def _lines(lines: Sequence[str]) -> str:
    text = "\n".join(lines).strip("\n")
    return f"<pre>{_escaped(text)}</pre>" if text else ""


def _escaped(text: str) -> str:
    from html import escape  # its large table is not needed to print

    return escape(text, quote=False)
