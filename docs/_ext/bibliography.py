"""Citations: `{bibliography}` lists references.bib, and keys such as [M14] link to it, in docstrings as well."""

import re
from pathlib import Path

from docutils import nodes
from sphinx.transforms import SphinxTransform
from sphinx.util.docutils import SphinxDirective

FILE = Path(__file__).resolve().parent.parent / "references.bib"
PAGE = "references"


def entries(text):
    """The entries of a BibTeX file, key to fields; values are in braces, one field a line."""
    by_key = {}
    for key, body in re.findall(r"(?ms)^@\w+\{(\w+),\n(.*?)^\}", text):
        fields = dict(re.findall(r"(?m)^\s*(\w+)\s*=\s*\{(.*)\},?\s*$", body))
        by_key[key] = {
            name: value.replace("{", "").replace("}", "") for name, value in fields.items()
        }
    return by_key


def words(entry):
    """An entry as people write it."""
    names = [" ".join(reversed(name.split(", ", 1))) for name in entry["author"].split(" and ")]
    who = " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
    where = next(
        (
            entry[name]
            for name in ("booktitle", "journal", "publisher", "howpublished")
            if name in entry
        ),
        "",
    )
    number = f" {entry['volume']}" if "volume" in entry else ""
    number += f", {entry['pages']}" if "pages" in entry else ""
    return f"{who} ({entry['year']}). {entry['title']}. {where}{number}.".replace("--", "–")


class Bibliography(SphinxDirective):
    """The list of all entries, each with a place to link to."""

    def run(self):
        """Make the list."""
        self.env.note_dependency(str(FILE))
        listed = nodes.definition_list()
        for key, entry in entries(FILE.read_text(encoding="utf-8")).items():
            # an identifier cannot be taken from a label, which Sphinx writes in small letters
            term = nodes.term("", f"[{key}]", ids=[key.lower()])
            text = nodes.paragraph("", words(entry))
            for name, address in (("doi", "https://doi.org/{}"), ("url", "{}")):
                if name in entry:
                    uri = address.format(entry[name])
                    text += [nodes.Text(" "), nodes.reference("", uri.split("//")[1], refuri=uri)]
            if "note" in entry:
                text += nodes.Text(f" {entry['note']}.")
            listed += nodes.definition_list_item("", term, nodes.definition("", text))
        return [listed]


class Keys(SphinxTransform):
    """[M14] in running text becomes a link to the bibliography."""

    default_priority = 700

    def apply(self, **kwargs):
        """Replace the keys in every text outside of code, links and headings."""
        if self.env.docname == PAGE:
            return
        pattern = re.compile(rf"\[({'|'.join(entries(FILE.read_text(encoding='utf-8')))})\]")
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


def setup(app):
    """Register the directive and the transform."""
    app.add_directive("bibliography", Bibliography)
    app.add_transform(Keys)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
