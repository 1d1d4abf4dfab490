"""Page of a comparison of two tables, in HTML that needs no other file."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import partial
from html import escape
from importlib import resources
from string import Template
from typing import TYPE_CHECKING

from shrinktest._check import counted, percent
from shrinktest.results.columns import ColumnEffects
from shrinktest.results.plots.comparison import draw_distribution, draw_witness_map, inline
from shrinktest.results.plots.regions import draw_regions, drawn_columns
from shrinktest.results.printing import shown_pvalue

if TYPE_CHECKING:
    from shrinktest.results.comparison import ComparisonResult, WitnessMap

_SMALL = (3.5, 2.2)
_LARGE = (5.2, 3.8)  # inches of pictures in the page


def page_of(result: ComparisonResult) -> str:
    """Return the whole page.

    It has the answer, the table of columns, the pictures, and how it was computed.
    """
    headers = (
        "Column",
        "Changed",
        f"How{result.across}, with {percent(result.confidence)} interval",
        "p, adjusted",
        "p",
    )
    changed = [column for column in result.listed if column.reject]
    others = [
        column for column in result.listed if column.kind and not (column.reject or column.constant)
    ]
    sections = {
        "Columns that changed": _distributions(result, changed),
        "Regions with more rows of one table": _regions(result),
        "Where two columns differ together": ""
        if result.where is None
        else _map(result, result.where),
        "Columns without a clear change" if changed else "Distributions": _distributions(
            result, others
        ),
    }
    first, second = map(escape, result.names)
    legend = (
        f'<p class="legend"><span class="first"></span>{first} <span '
        f'class="second"></span>{second}</p>\n'
    )
    pictures = (
        f"<section><h2>{name}</h2>\n{legend}{text}</section>\n"
        for name, text in sections.items()
        if text
    )
    notes = "".join(f"<li>{escape(text)}</li>" for text in result.notes)
    template = (
        resources.files("shrinktest.results").joinpath("report.html").read_text(encoding="utf-8")
    )
    return Template(template).substitute(
        title=f"{first} and {second} compared",
        answer=re.sub(r"\(p = [^)]*\)", r'<span class="n">\g<0></span>', escape(result.verdict)),
        size="".join(f"<p>{escape(line)}</p>\n" for line in result.size),
        tables=escape(" with ".join(result.sized())),
        caption=f"{first} → {second}; effects that stand out, and p-values adjusted for "
        f"{counted(len(result.columns), 'test')} {escape(result.rest)}".rstrip(),
        headers="".join(f'<th scope="col">{escape(header)}</th>' for header in headers),
        rows="".join(_row(column, headers[1:]) for column in result.listed),
        pictures="".join(pictures),
        how="".join(
            f"<dt>{label}</dt><dd>{escape(value)}</dd>" for label, value in _how(result).items()
        ),
        notes=f"<h3>Notes</h3><ul>{notes}</ul>" if notes else "",
    )


def _row(column: ColumnEffects, headers: Sequence[str]) -> str:
    """Return the row of one column in the table."""
    answer = "<strong>yes</strong>" if column.reject else "-" if column.untested else "no"
    pvalues = ("-" if math.isnan(p) else shown_pvalue(p) for p in (column.adjusted, column.pvalue))
    kinds = ("", "", ' class="n"', ' class="n"')
    cells = zip(headers, kinds, (answer, _lines(column), *pvalues), strict=True)
    body = "".join(
        f'<td data-label="{escape(header)}"{kind}>{cell}</td>' for header, kind, cell in cells
    )
    mark = ' class="changed"' if column.reject else ""
    name = escape(column.name)
    return f'<tr{mark}><th scope="row">{name} <small>{escape(column.kind)}</small></th>{body}</tr>'


def _lines(column: ColumnEffects) -> str:
    return "<br>".join(map(escape, column.lines))


def _distributions(result: ComparisonResult, columns: list[ColumnEffects]) -> str:
    """Return pictures of the distributions of columns."""
    figures = []
    for column in columns:
        shares = result.distribution(column.name)
        words = (
            f"{'Bars' if shares.labels else 'Histogram'} of {column.name} in "
            f"{' and '.join(result.names)}: "
        )
        words += "; ".join(column.lines)
        picture = inline(
            partial(draw_distribution, shares=shares, names=result.names),
            _SMALL,
            words,
            column.name,
        )
        caption = f"<strong>{escape(column.name)}</strong><br>{_lines(column)}"
        figures.append(f"<figure>{picture}<figcaption>{caption}</figcaption></figure>\n")
    return f'<div class="many">{"".join(figures)}</div>\n' if figures else ""


def _regions(result: ComparisonResult) -> str:
    """Return a list of the regions in which one table has more rows, and a picture of the first."""
    if not result.regions:
        return ""
    lines = "".join(f"<li>{escape(line)}</li>" for line in result.places)
    columns = " and ".join(drawn_columns(result.regions))
    words = f"Rows of {' and '.join(result.names)} by {columns}, with the regions in these columns."
    picture = inline(partial(draw_regions, result=result.regions), _LARGE, words, "regions")
    caption = escape(" ".join([words, *result.regions.notes]))
    return (
        f'<ul>{lines}</ul>\n<figure class="one">{picture}<figcaption>{caption}</figcaption>'
        "</figure>\n"
    )


def _map(result: ComparisonResult, shown: WitnessMap) -> str:
    """Return a picture of the witness function of two columns."""
    first, second = result.names
    words = (
        f"The witness function of {' and '.join(shown.columns)}: where {second} has more rows than "
        f"{first}, "
    )
    words += "and where fewer."
    picture = inline(
        partial(draw_witness_map, shown=shown, names=result.names), _LARGE, words, "where"
    )
    name = f"its {percent(shown.confidence)} simultaneous permutation band"
    band = ""
    if shown.outside is not None:
        band = (
            f" Outlined: where it leaves {name}."
            if shown.outside.any()
            else f" It stays within {name}."
        )
        if shown.outside.all():  # no line between
            band = f" It is outside {name} everywhere."
    chosen = (
        " The two columns were chosen by looking at the data, so the picture is descriptive and "
        "not a test."
    )
    sample = " It is computed from a random subset of the rows." if shown.sampled else ""
    caption = escape(f"{words}{band}{chosen}{sample}")
    return f'<figure class="one">{picture}<figcaption>{caption}</figcaption></figure>\n'


def _how(result: ComparisonResult) -> dict[str, str]:
    """Return how the comparison was computed."""
    overall = result.overall
    columns = result.columns
    entropy = columns.rng.get("entropy")
    design = f", {columns.data.restriction}" if columns.data.restriction else ""
    return {
        "Rows": " + ".join(map(str, overall.n_observations)),
        "Overall test": (
            f"{overall.kind.title}: {getattr(overall.estimator, 'label', repr(overall.estimator))}"
        ),
        "Permutations": (
            f"{columns.n_resamples} ({'all' if columns.exact else 'random'}){design}, the same "
            "for all columns"
        ),
        "Columns": f"{counted(len(columns), 'test')}, adjusted by {columns.method}",
        "Level": f"{result.alpha:g}",
        "Intervals": (
            f"{percent(result.confidence)} each, not adjusted for their number; medians compared "
            "by the AUC of the values, interquartile ranges of the mid-distribution (Ma et al. "
            "2011; Woodruff 1952), proportions after Newcombe (1998)"
        ),
        "Legend": (
            "area under the ROC curve of the overall test's witness function, with every part of "
            "the rows scored by the function of the others; interval after DeLong (1988) and "
            "Hanley and McNeil (1982)"
        ),
        "Seed": "-" if entropy is None else str(entropy),
        "Versions": ", ".join(
            f"{package} {version}" for package, version in overall.versions.items()
        ),
    }
