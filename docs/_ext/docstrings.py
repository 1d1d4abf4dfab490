"""Docstrings as they are meant: a norm is no substitution, what scikit-learn adds is described there.

Pages of functions begin with their simplest call, which is the first example down to its first output, and with the
picture of what it returns where there is one; so do pages of results that can be drawn.  Pages of estimators, kernels
and designs show what one calls; what the tests ask of them is on the page of the class to derive one's own from.
"""

import importlib
import inspect
import re

from pictures import picture, shown

from shrinktest import Batches, Kernel, MeanEstimator
from shrinktest.power.designs import Design

#: What users call on objects of a kind, and the page of the class that describes the rest, by that class.
CALLED = {
    MeanEstimator: ("shrinktest.MeanEstimator", ("fit", "weights", "scores", "at")),
    Kernel: ("shrinktest.Kernel", ("evaluate", "gram_matrix", "resolve")),
    Design: ("shrinktest.power.designs.Design", ("sample", "null")),
}

#: What users make and hand over: all that these have is for the tests.
HANDED_OVER = (Batches,)

# a bar in running text, not in ``code``
_BARS = re.compile(r"(``.*?``|`[^`]*`)|(\|)")


def escape(app, what, name, obj, options, lines):
    """Bars stand for norms and absolute values."""
    code = False
    for i, line in enumerate(lines):
        code = line.lstrip().startswith(">>>") or (code and bool(line.strip()))
        if not code:
            lines[i] = _BARS.sub(lambda match: match[1] or r"\|", line)


def skip(app, what, name, obj, skipped, options):
    """Leave out what a class only inherits from scikit-learn."""
    function = getattr(obj, "fget", None) or obj
    inherited = (getattr(function, "__module__", None) or "").startswith("sklearn.")
    return True if inherited or re.fullmatch(r"set_\w+_request", name) else None


def called(module, name):
    """Return the page that describes the members of a class, and those on its own page; None if it shows all."""
    given = getattr(importlib.import_module(module), name)
    if given in HANDED_OVER:
        return None, []
    for base, (page, names) in CALLED.items():
        if issubclass(given, base) and given is not base and not inspect.isabstract(given):
            return page, [member for member in names if hasattr(given, member)]
    return None


def simplest(app, what, name, obj, options, lines):
    """Show the simplest call of a function, or of what returns a result that can be drawn, below the first sentence."""
    if not (what == "function" or (what == "class" and shown(name))) or "Examples" not in lines:
        return
    start = next(
        (i for i in range(lines.index("Examples"), len(lines)) if lines[i].startswith(">>>")), None
    )
    if start is None:
        return
    stop, printed = start, False
    while stop < len(lines) and lines[stop].strip():
        prompt = lines[stop].startswith((">>>", "..."))
        if prompt and printed:
            break
        printed, stop = printed or not prompt, stop + 1
    first = next((i for i, line in enumerate(lines) if not line.strip()), len(lines))
    lines[first:first] = [
        "",
        *lines[start:stop],
        *picture(name, obj, lines[start:stop], app.srcdir / "api"),
        "",
    ]


def setup(app):
    """Register all."""
    app.connect(
        "autodoc-process-docstring", simplest, priority=100
    )  # before numpydoc takes the sections apart
    app.connect("autodoc-process-docstring", escape)
    app.connect("autodoc-skip-member", skip)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
