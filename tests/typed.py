"""What the command line prints of a result of the library: files as names, notes in the words that are typed."""

import re
from dataclasses import replace

from shrinktest.cli.arguments import OPTIONS, as_typed

EVERY = {option for options in OPTIONS.values() for option in options}


def typed(result, *files):
    """The result as a command has it that read these files."""
    notes = tuple(as_typed(note, EVERY) for note in result.notes)
    for name, file in zip("XY", files, strict=False):
        notes = tuple(re.sub(rf"\b{name}\b", file, note) for note in notes)
    for i, file in enumerate(files):
        notes = tuple(note.replace(f"samples[{i}]", file) for note in notes)
    changed = {}
    if files and hasattr(result, "names"):
        changed = {"data": replace(result.data, names=files)} if hasattr(result, "data") else {"names": files}
    if members := vars(result).get("members"):  # of a combined test
        changed["members"] = tuple(typed(member) for member in members)
    return replace(result, notes=notes, **changed)
