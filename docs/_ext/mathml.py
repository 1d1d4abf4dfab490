"""Formulas as MathML, which browsers show by themselves: no script, no font and no server is needed."""

from docutils.nodes import SkipNode
from latex2mathml.converter import convert
from sphinx.util.math import get_node_equation_number

#: Signs of LaTeX from which a formula in the text may be wider than a phone, where it then scrolls.
LONG = 60


def inline(self, node):
    """Write a formula in a line of text."""
    formula = convert(node.astext(), display="inline")
    long = len(node.astext()) > LONG
    self.body.append(
        f'<span class="long-formula" tabindex="0">{formula}</span>' if long else formula
    )
    raise SkipNode


def block(self, node):
    """Write a formula on lines of its own, with its number if it has a label; a wide one scrolls, by keys as well."""
    number = (
        f'<span class="eqno">({get_node_equation_number(self, node)})</span>'
        if node["number"]
        else ""
    )
    formula = convert(node.astext(), display="block")
    self.body.append(
        f"{self.starttag(node, 'div', CLASS='formula', tabindex='0')}{number}{formula}</div>\n"
    )
    raise SkipNode


def setup(app):
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
