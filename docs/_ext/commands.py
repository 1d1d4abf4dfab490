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
        (commands,) = [action for action in program._actions if isinstance(action, argparse._SubParsersAction)]
        helps = {choice.dest: choice.help for choice in commands._choices_actions}
        sections = [command(name, found, helps[name]) for name, found in commands.choices.items()]
        sections += [printed(line) for line in LISTS]
        for section in sections:
            self.state.document.note_explicit_target(section)
        return sections


def command(name, found, short):
    """What a command does, how it is called, and its options."""
    section = titled(f"shrinktest {name}")
    section += prose(found.description or short)
    options = [action for action in found._actions if action.option_strings and action.help != argparse.SUPPRESS]
    options = [action for action in options if action.dest != "help"]
    places = [action for action in found._actions if not action.option_strings]
    wanted = [f"[{action.metavar}]" if action.nargs == "?" else action.metavar for action in places]
    section += block(" ".join([found.prog, *wanted, *(["[options]"] if options else [])]))
    listed = nodes.definition_list()
    for action in [*places, *options]:
        value = "" if action.nargs == 0 or action in places else action.metavar or f"{{{','.join(action.choices)}}}"
        term = nodes.term(
            "", "", nodes.literal("", " ".join([*action.option_strings, value]).strip() or action.metavar)
        )
        listed += nodes.definition_list_item("", term, nodes.definition("", prose(action.help)))
    if len(listed):
        section += listed
    if found.epilog:
        section += prose(f"{found.epilog[0].upper()}{found.epilog[1:]}".rstrip(".") + ".")
    return section


def printed(line):
    """What a command prints."""
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
