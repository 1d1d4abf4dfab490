"""`{commands}` writes the command line's reference out of its parser, and what its lists print."""

import argparse
import re
from contextlib import redirect_stdout
from io import StringIO

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from shrinktest.cli import main
from shrinktest.cli.commands import parser

#: Commands that print a list of what there is.
LISTS = ("estimators", "power --list", "power --tests")


class Commands(SphinxDirective):
    """A section for every command, then one for every list."""

    def run(self):
        """Make the sections."""
        program = parser()
        (commands,) = [
            action for action in program._actions if isinstance(action, argparse._SubParsersAction)
        ]
        helps = {choice.dest: choice.help for choice in commands._choices_actions}
        sections = [
            command(name, choice, helps[name])
            for name, choice in commands.choices.items()
            if name != "help"
        ]
        sections += [printed(line) for line in LISTS]
        for section in sections:
            self.state.document.note_explicit_target(section)
        return sections


def command(name, subparser, short):
    """Write what a command does and its help."""
    section = titled(f"shrinktest {name}")
    section += prose(subparser.description or short)
    if subparser.examples:
        section += block(subparser.format_help())
    return section


def printed(line):
    """Return the output of a command."""
    out = StringIO()
    with redirect_stdout(out):
        if main(line.split()) != 0:
            raise ValueError(f"shrinktest {line} failed")
    section = titled(f"What shrinktest {line} prints")
    section += block(out.getvalue())
    return section


def titled(title):
    """An empty section."""
    name = nodes.make_id(title)
    section = nodes.section("", nodes.title("", "", *marked(title)), ids=[name], names=[name])
    return section


def prose(text):
    """A paragraph."""
    return nodes.paragraph("", "", *marked(text))


def marked(text):
    """Text in which options, and what stands between backquotes, are code: typography must not join their hyphens."""
    parts = re.split(r"`([^`]+)`|(--[a-z][a-z-]*)", text)
    kinds = (nodes.Text, lambda code: nodes.literal("", code), lambda code: nodes.literal("", code))
    return [kinds[i % 3](part) for i, part in enumerate(parts) if part]


def block(text):
    """Lines as a terminal shows them."""
    return nodes.literal_block(text, text, language="text")


def setup(app):
    """Register the directive."""
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
