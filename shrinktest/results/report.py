"""The report of a comparison as a page of HTML that needs no other file."""

from __future__ import annotations

import math
import re
from html import escape
from importlib import resources
from typing import TYPE_CHECKING

from shrinktest._check import counted, percent
from shrinktest.results.column_effects import ColumnEffects, shown_pvalue

if TYPE_CHECKING:
    from shrinktest.results.comparison import ComparisonResult, WitnessMap

_SMALL, _LARGE = (3.5, 2.2), (5.2, 3.8)  # inches of pictures


def page(result: ComparisonResult) -> str:
    """Return the whole page: the answer, the table of columns, the pictures, how it was computed."""
    style = resources.files("shrinktest.results").joinpath("report.css").read_text(encoding="utf-8")
    answer = re.sub(r"\(p = [^)]*\)", r'<span class="n">\g<0></span>', escape(result.verdict))
    size = "".join(f"<p>{escape(line)}</p>\n" for line in result.size)
    tables = escape(result.sized(" with "))
    names = result.changed()
    changed = [column for column in result.ordered if column.name in names]
    others = [column for column in result.ordered if column not in changed and not column.constant]
    sections = [
        ("", f"<h1>{answer}</h1>\n{size}<p>A comparison of {tables}, column by column.</p>\n"),
        ("The columns", _table(result)),
        ("Columns that changed", _figures(result, changed, changed=True)),
        ("Where two columns differ together", "" if result.where is None else _map(result, result.where)),
        ("Columns without a clear change" if changed else "Distributions", _figures(result, others, changed=False)),
        ("How this was computed", _how(result)),
    ]
    body = "".join(
        f"<section>{f'<h2>{heading}</h2>' if heading else ''}\n{text}</section>\n" for heading, text in sections if text
    )
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(f'{result.names[0]} and {result.names[1]} compared')}</title>\n<style>\n{style}</style>\n"
        f"</head>\n<body>\n<main>\n{body}</main>\n</body>\n</html>\n"
    )


def _table(result: ComparisonResult) -> str:
    """Return the columns, most significant first."""
    headers = ("Column", "Changed", f"How, with {percent(result.confidence)} interval", "p, adjusted", "p")
    head = "".join(f'<th scope="col">{escape(header)}</th>' for header in headers)
    rows, names = [], result.changed()
    for column in result.all_columns:
        changed = column.name in names
        pvalue, adjusted = ("-" if math.isnan(p) else shown_pvalue(p) for p in result.pvalues_of(column.name))
        answer = "<strong>yes</strong>" if changed else "-" if column.untested else "no"
        cells = (answer, _lines(column, changed=changed), adjusted, pvalue)
        body = "".join(
            f'<td data-label="{escape(header, quote=True)}"{kind}>{cell}</td>'
            for header, kind, cell in zip(headers[1:], ("", "", ' class="n"', ' class="n"'), cells, strict=True)
        )
        mark = ' class="changed"' if changed else ""
        name = f"{escape(column.name)} <small>{escape(column.kind)}</small>"
        rows.append(f'<tr{mark}><th scope="row">{name}</th>{body}</tr>')
    caption = escape(
        f"{result.names[0]} → {result.names[1]}; effects that stand out, and p-values adjusted for "
        f"{counted(len(result.columns), 'test')}"
    )
    return f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>\n"


def _lines(column: ColumnEffects, *, changed: bool) -> str:
    return "<br>".join(map(escape, column.lines(changed=changed)))


# --- pictures -----------------------------------------------------------------------------------------------


def _legend(result: ComparisonResult) -> str:
    first, second = map(escape, result.names)
    return f'<p class="legend"><span class="first"></span>{first} <span class="second"></span>{second}</p>\n'


def _figures(result: ComparisonResult, columns: list[ColumnEffects], *, changed: bool) -> str:
    """Return the distributions of columns."""
    from shrinktest.plots.comparison import draw_distribution, inline

    figures = []
    for column in columns:
        shares = result.distribution(column.name)
        what = f"{'Bars' if shares.labels else 'Histogram'} of {column.name} in {' and '.join(result.names)}: "
        picture = inline(
            lambda figure, shares=shares: draw_distribution(figure.subplots(), shares, result.names),  # type: ignore[misc]
            _SMALL,
            what + "; ".join(column.lines(changed=changed)),
            column.name,
        )
        caption = f"<strong>{escape(column.name)}</strong><br>{_lines(column, changed=changed)}"
        figures.append(f"<figure>{picture}<figcaption>{caption}</figcaption></figure>\n")
    return f'{_legend(result)}<div class="many">{"".join(figures)}</div>\n' if figures else ""


def _map(result: ComparisonResult, shown: WitnessMap) -> str:
    """Return the witness function of two columns."""
    from shrinktest.plots.comparison import draw_witness_map, inline

    words = (
        f"The witness function of {shown.columns[0]} and {shown.columns[1]}: where {result.names[1]} has more rows "
        f"than {result.names[0]}, and where fewer."
    )
    band, name = "", f"its {percent(shown.confidence)} simultaneous permutation band"
    if shown.outside is not None:
        band = f" Outlined: where it leaves {name}."
        if shown.outside.all() or not shown.outside.any():  # no line between
            band = f" It is outside {name} everywhere." if shown.outside.all() else f" It stays within {name}."
    chosen = " The two columns were chosen by looking at the data, so that this describes, and proves nothing."
    sample = " It is computed from a random part of the rows." if shown.sampled else ""
    picture = inline(lambda figure: draw_witness_map(figure.subplots(), shown, result.names), _LARGE, words, "where")
    caption = escape(f"{words}{band}{chosen}{sample}")
    return f'{_legend(result)}<figure class="one">{picture}<figcaption>{caption}</figcaption></figure>\n'


def _how(result: ComparisonResult) -> str:
    """Return how the comparison was computed, and the notes."""
    overall, columns = result.overall, result.columns
    entropy = columns.rng.get("entropy")
    design = f", {columns.restriction}" if columns.restriction else ""
    items = {
        "Rows": " + ".join(map(str, overall.n_observations)),
        "Overall test": f"{overall.kind.title}: {getattr(overall.estimator, 'label', repr(overall.estimator))}",
        "Permutations": f"{columns.n_resamples} ({'all' if columns.exact else 'random'}){design}, the same for all "
        "columns",
        "Columns": f"{counted(len(columns), 'test')}, adjusted by {columns.method}",
        "Level": f"{result.alpha:g}",
        "Intervals": f"{percent(result.confidence)} each, not adjusted for their number; medians compared by the AUC "
        "of the values, interquartile ranges of the mid-distribution (Ma et al. 2011), shares after Newcombe (1998)",
        "Which is which": "area under the ROC curve of the overall test's witness function, with every part of the "
        "rows scored by the function of the others; interval after DeLong (1988) and Hanley and McNeil (1982)",
        "Seed": "-" if entropy is None else str(entropy),
        "Versions": ", ".join(f"{package} {version}" for package, version in overall.versions.items()),
    }
    rows = "".join(f"<dt>{label}</dt><dd>{escape(value)}</dd>" for label, value in items.items())
    notes = "".join(f"<li>{escape(text)}</li>" for text in result.notes)
    return f"<dl>{rows}</dl>{f'<h3>Notes</h3><ul>{notes}</ul>' if notes else ''}\n"
