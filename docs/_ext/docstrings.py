"""Docstrings as they are meant: a norm is no substitution, and what scikit-learn adds is described there."""

import re

# a bar in running text, not in ``code``
_BARS = re.compile(r"(``.*?``|`[^`]*`)|(\|)")


def escape(app, what, name, obj, options, lines):
    """Bars stand for norms and absolute values."""
    code = False
    for i, line in enumerate(lines):
        code = line.lstrip().startswith(">>>") or (code and bool(line.strip()))
        if not code:
            lines[i] = _BARS.sub(lambda found: found[1] or r"\|", line)


def skip(app, what, name, obj, skipped, options):
    """Leave out what a class only inherits from scikit-learn."""
    found = getattr(obj, "fget", None) or obj
    inherited = (getattr(found, "__module__", None) or "").startswith("sklearn.")
    return True if inherited or re.fullmatch(r"set_\w+_request", name) else None


def setup(app):
    """Register both."""
    app.connect("autodoc-process-docstring", escape)
    app.connect("autodoc-skip-member", skip)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
