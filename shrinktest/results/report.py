"""The report of a comparison as a page of HTML that is complete in itself."""

from __future__ import annotations

import math
import re
from html import escape
from importlib import resources
from typing import TYPE_CHECKING, Any

from shrinktest._check import counted, percent
from shrinktest.results.column_effects import ColumnEffects, shown_pvalue

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from shrinktest.results.comparison import ComparisonResult

_SMALL, _LARGE = (3.5, 2.2), (5.2, 3.8)  # inches of pictures


def page(result: ComparisonResult) -> str:
    """The whole page: the answer, the table of columns, the pictures, how it was computed."""
    style = resources.files("shrinktest.results").joinpath("report.css").read_text(encoding="utf-8")
    title = f"{result.names[0]} and {result.names[1]} compared"
    body = [
        _section("", _answer(result)),
        _section("The columns", table(result)),
        *_pictures(result),
        _section("How this was computed", _how(result)),
    ]
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>\n{''.join(body)}"
        "</main>\n</body>\n</html>\n"
    )


def table(result: ComparisonResult) -> str:
    """The columns, most significant first."""
    headers = ("Column", "Changed", f"How, with {percent(result.confidence)} interval", "p, adjusted", "p")
    head = "".join(f'<th scope="col">{escape(one)}</th>' for one in headers)
    rows = "".join(_row(result, one, headers) for one in result.all_columns)
    tests = counted(len(result.columns), "test")
    what = f"{result.names[0]} → {result.names[1]}; effects that stand out, and p-values adjusted for {tests}"
    return f"<table><caption>{escape(what)}</caption><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>\n"


def _row(result: ComparisonResult, one: ColumnEffects, headers: tuple[str, ...]) -> str:
    changed = one.name in result.changed()
    pvalue, adjusted = result.pvalues_of(one.name)
    how = "<br>".join(escape(line) for line in one.lines(changed=changed))
    cells = (
        "<strong>yes</strong>" if changed else "no" if not one.untested else "-",
        how,
        *map(_number, (adjusted, pvalue)),
    )
    classes = ("", "", ' class="n"', ' class="n"')
    body = "".join(
        f'<td data-label="{escape(header, quote=True)}"{kind}>{cell}</td>'
        for header, kind, cell in zip(headers[1:], classes, cells, strict=True)
    )
    marked = ' class="changed"' if changed else ""
    return f'<tr{marked}><th scope="row">{escape(one.name)} <small>{escape(one.kind)}</small></th>{body}</tr>'


def _number(pvalue: float) -> str:
    return "-" if math.isnan(pvalue) else shown_pvalue(pvalue)


def _section(heading: str, body: str) -> str:
    return f"<section>{f'<h2>{escape(heading)}</h2>' if heading else ''}\n{body}</section>\n"


def _answer(result: ComparisonResult) -> str:
    answer = re.sub(r"\(p = [^)]*\)", r'<span class="n">\g<0></span>', escape(result.verdict))
    said = "".join(f"<p>{escape(line)}</p>\n" for line in result.size)
    return f"<h1>{answer}</h1>\n{said}<p>A comparison of {escape(result.sized(' with '))}, column by column.</p>\n"


# --- pictures -----------------------------------------------------------------------------------------------


def _pictures(result: ComparisonResult) -> list[str]:
    changed = result.changed()
    groups = {
        "Columns that changed": [one for one in result.ordered if one.name in changed],
        "Columns without a clear change" if changed else "Distributions": [
            one for one in result.ordered if one.name not in changed and not one.constant
        ],
    }
    found = []
    for heading, columns in groups.items():
        if columns:
            figures = "".join(_figure(result, one, changed=one.name in changed) for one in columns)
            found.append(_section(heading, f'{_legend(result)}<div class="many">{figures}</div>\n'))
    if result.where is not None:
        found.insert(1 if changed else 0, _section("Where two columns differ together", _where(result)))
    return found


def _legend(result: ComparisonResult) -> str:
    first, second = map(escape, result.names)
    return f'<p class="legend"><span class="first"></span>{first} <span class="second"></span>{second}</p>\n'


def _figure(result: ComparisonResult, one: ColumnEffects, *, changed: bool) -> str:
    from shrinktest.plots.comparison import draw_distribution, inline

    found = result.distribution(one.name)

    def draw(figure: Figure) -> None:
        draw_distribution(figure.subplots(), found, result.names)

    words = f"{'Bars' if found.labels else 'Histogram'} of {one.name} in {result.names[0]} and {result.names[1]}: "
    picture = inline(draw, _SMALL, words + "; ".join(one.lines(changed=changed)), one.name)
    lines = "<br>".join(escape(line) for line in one.lines(changed=changed))
    return f"<figure>{picture}<figcaption><strong>{escape(one.name)}</strong><br>{lines}</figcaption></figure>\n"


def _where(result: ComparisonResult) -> str:
    from shrinktest.plots.comparison import draw_witness_map, inline

    found: Any = result.where
    first, second = found.columns
    words = (
        f"The witness function of {first} and {second}: where {result.names[1]} has more rows than {result.names[0]}, "
        "and where fewer."
    )
    sample = " It is computed from a random part of the rows." if found.sampled else ""
    name = f"its {percent(found.confidence)} simultaneous permutation band"
    band = "" if found.outside is None else f" Outlined: where it leaves {name}."
    if found.outside is not None and (found.outside.all() or not found.outside.any()):  # there is no line between
        band = f" It is outside {name} everywhere." if found.outside.all() else f" It stays within {name}."
    chosen = "The two columns were chosen by looking at the data, so that this describes, and proves nothing."
    about = f"{words}{band} {chosen}{sample}"
    picture = inline(
        lambda figure: draw_witness_map(figure.subplots(), found, result.names),
        _LARGE,
        words,
        "where",
    )
    return f'{_legend(result)}<figure class="one">{picture}<figcaption>{escape(about)}</figcaption></figure>\n'


def _how(result: ComparisonResult) -> str:
    items = "".join(f"<dt>{escape(label)}</dt><dd>{escape(value)}</dd>" for label, value in result.how.items())
    notes = "".join(f"<li>{escape(note)}</li>" for note in result.notes)
    listed = f"<h3>Notes</h3><ul>{notes}</ul>" if notes else ""
    return f"<dl>{items}</dl>{listed}\n"
