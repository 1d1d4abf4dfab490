"""Citations: `{bibliography}` lists references.bib, and keys such as [M14] link to it, in docstrings as well."""

import re

from docutils import nodes
from sphinx.transforms import SphinxTransform
from sphinx.util.docutils import SphinxDirective

from shrinktest.results import references
from shrinktest.results.references import bibliography

PAGE = "references"


class Bibliography(SphinxDirective):
    """The list of all entries, each with a place to link to."""

    def run(self):
        """Make the list."""
        self.env.note_dependency(str(references.FILE))
        listed = nodes.definition_list()
        for key, entry in bibliography().items():
            # an identifier cannot be taken from a label, which Sphinx writes in small letters
            term = nodes.term("", f"[{key}]", ids=[key.lower()])
            text = nodes.paragraph("", entry.words)
            uri = entry.address
            text += [nodes.Text(" "), nodes.reference("", uri.split("//")[1], refuri=uri)]
            listed += nodes.definition_list_item("", term, nodes.definition("", text))
        return [listed]


class Keys(SphinxTransform):
    """[M14] in running text becomes a link to the bibliography."""

    default_priority = 700

    def apply(self, **kwargs):
        """Replace the keys in every text outside of code, links and headings."""
        if self.env.docname == PAGE:
            return
        pattern = re.compile(rf"\[({'|'.join(bibliography())})\]")
        for text in list(self.document.findall(nodes.Text)):
            outer, above = text.parent, []
            while outer is not None:
                above.append(outer)
                outer = outer.parent
            closed = (
                nodes.literal,
                nodes.literal_block,
                nodes.reference,
                nodes.title,
                nodes.raw,
                nodes.math,
            )
            if not pattern.search(text) or any(isinstance(node, closed) for node in above):
                continue
            parts = pattern.split(text)
            made = []
            for i, part in enumerate(parts):
                if i % 2 == 0:
                    made += [nodes.Text(part)] if part else []
                    continue
                uri = self.app.builder.get_relative_uri(self.env.docname, PAGE) + f"#{part.lower()}"
                made.append(nodes.reference("", f"[{part}]", internal=True, refuri=uri))
            text.parent.replace(text, made)


def in_lists(app, pagename, templatename, context, doctree):
    """Citations are items of their list, which the deprecated role that Sphinx gives them does not say."""
    if "body" in context:
        context["body"] = context["body"].replace('role="doc-biblioentry"', 'role="listitem"')


def setup(app):
    """Register the directive, the transform and the role of citations."""
    app.connect("html-page-context", in_lists)
    app.add_directive("bibliography", Bibliography)
    app.add_transform(Keys)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
