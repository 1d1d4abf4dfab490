"""Printed tables and summaries: aligned text and HTML."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import zip_longest
from textwrap import fill
from typing import Any, Self
from unicodedata import combining, east_asian_width

WIDTH = 80  # of lines of words
_LARGE = 1e12  # numbers from which powers of ten are written
_SIGNED_DIGITS = 3  # of the largest number of a row
_HTML_ROWS = 60  # of a table in a notebook
_TWICE = "lrlr"  # alignment of labels and values twice in a line
_PVALUES = ("p-value", "adjusted")  # headers of columns with p-values
_MARKS = {"l": ":---", "r": "---:", "c": ":---:"}
_SIGNS = {"~": r"\textasciitilde ", "^": r"\textasciicircum ", "\\": r"\textbackslash "}
#: What LaTeX writes in place of signs.
_LATEX = str.maketrans(
    {
        "→": r"$\to$",
        "≤": r"$\leq$",
        "≠": r"$\neq$",
        "×": r"$\times$",
        "−": r"$-$",
        "–": "--",
        "²": r"\textsuperscript{2}",
        "µ": r"\textmu{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
    }
)
_PAD = {"l": str.ljust, "r": str.rjust, "c": str.center}

# p-values that papers compare with, of which a rounded p-value must not become one
_LEVELS = (0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)


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

    @property
    def lines(self) -> list[Sequence[str]]:
        """The header, if there is one, and the rows."""
        return [*([self.headers] if self.headers else []), *self.rows]

    def as_text(self) -> str:
        """Return lines of equal width."""
        cells = [[" ".join(cell.splitlines()) for cell in row] for row in self.lines]
        widths = [max(map(_width, column)) for column in zip(*cells, strict=True)]
        total = sum(widths) + len(self.gap) * (len(widths) - 1)
        lines = []
        for i, row in enumerate(cells):
            aligns = (
                self.heads * len(row)
                if self.headers and i == 0
                else self.aligns.ljust(len(row), self.aligns[-1])
            )
            padded = [
                (cell, width + len(cell) - _width(cell))
                for cell, width in zip(row, widths, strict=True)
            ]
            lines.append(
                self.gap.join(
                    _PAD[align](*cell) for cell, align in zip(padded, aligns, strict=True)
                )
            )
        if self.headers:
            lines.insert(1, "-" * total)
        title = [self.title.center(total)] if self.title else []
        return "\n".join([*title, "=" * total, *lines, self.below * total])

    def stacked(self) -> Table:
        """Return a table of labels and values twice in a line with a line for each of them."""
        if self.headers or self.aligns != _TWICE:
            return self
        halves = [(row[start], row[start + 1]) for start in (0, 2) for row in self.rows]
        rows = [(label.strip(" :"), value) for label, value in halves if value]
        return Table(rows, "ll", title=self.title)

    def _for_articles(self) -> Table:
        """Return the stacked table, with p-values as articles print them."""
        table = self.stacked()
        if not table.headers:
            pairs = [(row[0].rstrip(" :"), row[1]) for row in table.rows]
            rows = [(a, without_zero(b) if a in _PVALUES else b) for a, b in pairs]
            return replace(table, rows=rows)
        places = [j for j, name in enumerate(table.headers) if name in _PVALUES]
        shown = [
            [without_zero(cell) if j in places else cell for j, cell in enumerate(row)]
            for row in table.rows
        ]
        return replace(table, rows=shown)

    def as_latex(self, caption: str | None = None, label: str | None = None) -> str:
        """Return a table with the rules of the LaTeX package booktabs."""
        import pandas as pd

        table = self._for_articles()
        rows = [[" ".join(cell.splitlines()) for cell in row] for row in table.rows]
        width = len(table.lines[0])
        frame = pd.DataFrame(rows, columns=pd.RangeIndex(width), dtype=object)
        styler = frame.style.hide(axis="index").format(escape="latex")
        if table.headers:
            styler = styler.relabel_index(list(map(_escaped, table.headers)), axis=1)
        else:
            styler = styler.hide(axis="columns")
        text = styler.to_latex(
            hrules=True,
            column_format=table.aligns.ljust(width, table.aligns[-1])[:width],
            caption=None if caption is None else _escaped(caption),
            label=label,
            position_float="centering" if caption or label else None,
        )
        text = text.replace("\\toprule\n\\midrule\n", "\\toprule\n")  # without headers
        # a line that begins with a bracket would be taken for an option of the line break
        return re.sub(r"(?m)^(?=\[)", "{}", text).strip().translate(_LATEX)

    def as_markdown(self) -> str:
        """Return the title and the first 60 rows as Markdown."""
        table = self._for_articles()
        width = len(table.lines[0])
        marks = [_MARKS[align] for align in table.aligns.ljust(width, table.aligns[-1])[:width]]
        header = table.headers or [""] * width
        lines = [header, *table.rows[:_HTML_ROWS]]
        shown = [f"| {' | '.join(map(_marked, row))} |" for row in lines]
        shown.insert(1, f"| {' | '.join(marks)} |")
        more = len(table.rows) - _HTML_ROWS
        title = [f"**{_marked(table.title)}**", ""] if table.title else []
        rest = ["", f"... and {more} more rows"] if more > 0 else []
        return "\n".join([*title, *shown, *rest])

    def as_html(self) -> str:
        """Return the title and the first 60 rows as HTML."""
        title = f"<caption>{escape(self.title, quote=False)}</caption>\n" if self.title else ""
        rows = ""
        for row in self.lines[: _HTML_ROWS + bool(self.headers)]:
            cells = [
                ("td" if j and row is not self.headers else "th", cell)
                for j, cell in enumerate(row)
            ]
            rows += (
                "<tr>"
                + "".join(f"<{tag}>{escape(cell, quote=False)}</{tag}>" for tag, cell in cells)
                + "</tr>\n"
            )
        more = (
            [f"... and {len(self.rows) - _HTML_ROWS} more rows"]
            if len(self.rows) > _HTML_ROWS
            else []
        )
        return f'<table class="simpletable">\n{title}{rows}</table>{_preformatted(more)}'


class Summary(str):
    """Text of a summary, which a notebook shows as HTML."""

    tables: tuple[Table, ...]
    above: tuple[str, ...]
    below: tuple[str, ...]
    sentences: tuple[str, ...]
    notes: tuple[str, ...]

    @classmethod
    def of(
        cls,
        *tables: Table,
        head: Sequence[str] = (),
        rest: str = "",
        lines: Sequence[str] = (),
        notes: Sequence[str] = (),
    ) -> Self:
        """Assemble a summary of ``head``, tables, ``rest``, sentences and numbered notes.

        The sentences are ``lines``.
        """
        below = [rest] if rest else []
        numbered = [
            fill(f"[{i}] {note}", WIDTH, subsequent_indent="    ")
            for i, note in enumerate(notes, 1)
        ]
        for part in ([fill(line, WIDTH) for line in lines], numbered):
            below += ["", *part] if part else []
        # tables share the line between them
        texts = [table.as_text() for table in tables]
        above = [text.rsplit("\n", 1)[0] for text in texts[:-1]]
        summary = cls("\n".join([*head, *above, texts[-1], *below]))
        summary.tables = tables
        summary.above = tuple(head)
        summary.below = tuple(below)
        summary.sentences = tuple(filter(None, [rest, *lines]))
        summary.notes = tuple(notes)
        return summary

    def as_markdown(self, headline: str = "") -> str:
        """Return a headline, sentences, tables and notes as Markdown."""
        head = "  \n".join(_marked(" ".join(line.split())) for line in self.above if line.strip())
        tables = [table.as_markdown() for table in self.tables]
        notes = [f"{i}. {_marked(note)}" for i, note in enumerate(self.notes, 1)]
        below = [_marked(sentence) for sentence in self.sentences]
        folded = "\n".join(["<details><summary>Notes</summary>", "", *notes, "", "</details>"])
        parts = [_marked(headline), head, *tables, *below, folded if notes else ""]
        return "\n\n".join(filter(None, parts))

    def as_html(self) -> str:
        """Return tables, of which the first 60 rows are shown, and notes as HTML."""
        tables = (table.as_html() for table in self.tables)
        return "".join([_preformatted(self.above), *tables, _preformatted(self.below)])

    _repr_html_ = as_html

    def __repr__(self) -> str:
        return f'{type(self)}\n"""\n{self}\n"""'


def side_by_side(title: str, left: list[tuple[str, str]], right: list[tuple[str, str]]) -> Table:
    """Return a table with labels and values twice in a line, as in the summaries of statsmodels.

    Without empty ones.
    """
    known_left, known_right = ([pair for pair in pairs if pair[1]] for pairs in (left, right))
    pairs = zip_longest(known_left, known_right, fillvalue=("", ""))
    return Table([(a, b, f"   {c}", d) for (a, b), (c, d) in pairs], _TWICE, title=title)


def _width(text: str) -> int:
    """Return how many terminal columns a text takes.

    Chinese characters take two, combining marks none.
    """
    return sum(
        0 if combining(letter) else 1 + (east_asian_width(letter) in "WF") for letter in text
    )


def _escaped(text: str) -> str:
    """Return a text in which no sign has a meaning in LaTeX."""
    return re.sub(r"[&%$#_{}~^\\]", lambda sign: _SIGNS.get(sign[0], f"\\{sign[0]}"), text)


def _marked(text: str) -> str:
    """Return a text in which no sign has a meaning in Markdown."""
    return re.sub(r"([\\`*_|<])", r"\\\1", " ".join(text.splitlines()))


def _preformatted(lines: Sequence[str]) -> str:
    text = escape("\n".join(lines).strip("\n"), quote=False)
    return f"<pre>{text}</pre>" if text else ""


# --- numbers --------------------------------------------------------------------------------------


def number(value: Any, form: str = ".4g", unknown: str = "-") -> str:
    """Format a number with few digits.

    ``unknown`` for None and NaN, and the first four numbers of a tuple.
    """
    if isinstance(value, tuple):
        entries = ", ".join(number(entry, form) for entry in value[:4])
        more = ", ..." if len(value) > 4 else ""
        return f"({entries}{more})"
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return unknown
    return str(value) if isinstance(value, int | str) else format(value, form)


def shown_pvalue(pvalue: float) -> str:
    """Return a p-value as papers print it.

    It has more digits if rounding would bring it down to a usual level.

    Examples
    --------
    >>> (
    ...     shown_pvalue(0.001),
    ...     shown_pvalue(0.0423),
    ...     shown_pvalue(0.3),
    ...     shown_pvalue(1e-05),
    ...     shown_pvalue(0.0502),
    ... )
    ('.001', '.042', '.30', '1e-05', '.0502')
    """
    if math.isnan(pvalue):
        return "not computed"
    text = f"{pvalue:.2f}" if pvalue >= 0.1 else f"{pvalue:.2g}"
    for digits in range(3, 7):
        if float(text) not in _LEVELS or pvalue <= float(text):
            break
        text = f"{pvalue:.{digits}g}"
    return text.removeprefix("0")


def without_zero(text: str) -> str:
    """Return a number without its leading zero, as papers print it."""
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


def signed(numbers: Sequence[float]) -> list[str]:
    """Return numbers with signs, and with as many decimals as the largest has in 3 digits.

    Decimals that are zero in all of them are left out.
    """
    largest = max((abs(number) for number in numbers if math.isfinite(number)), default=0.0)
    if not 1e-4 <= largest < _LARGE:
        return [f"{number:+.{_SIGNED_DIGITS}g}" if number else "0" for number in numbers]
    decimals = max(0, _SIGNED_DIGITS - 1 - math.floor(math.log10(largest)))
    shown = [f"{number:+,.{decimals}f}" for number in numbers if math.isfinite(number)]
    while decimals and all(text[-1] == "0" for text in shown):
        shown = [text[:-1] for text in shown]
        decimals -= 1
    return [f"{number:+,.{decimals}f}" if number else "0" for number in numbers]
