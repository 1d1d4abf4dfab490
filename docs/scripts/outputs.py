"""Pages whose code has its output below it: ``python docs/scripts/outputs.py`` runs the code and writes it again.

What follows a block of ``python``, or a comment ``<!-- run ... -->``, is what the code prints: a block of ``text``, or
a quotation.  All code of a page shares its names; code that is shown and not run is in a block of ``py``.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from contextlib import chdir, redirect_stdout
from io import StringIO
from textwrap import fill
from types import ModuleType

from folders import ROOT
from joblib.externals.loky import get_reusable_executor

PAGES = (
    *(
        f"docs/{name}.md"
        for name in (
            *(
                "getting_started",
                "how_it_works",
                "ab_tests",
                "validity",
                "questions",
                "coming_from",
                "repeated_visits",
                "reporting",
                "tables",
                "compare",
                "testing",
                "effects",
                "simulators",
                "factors",
                "equivalence",
                "change",
                "monitor",
                "given",
                "choosing",
            ),
            *("power", "large", "extending", "estimators"),
        )
    ),
    "README.md",
)

# code, and what it prints if that is shown
PIECE = re.compile(
    r"^(?P<open>```python|<!-- run)\n(?P<code>.*?)^(?P<close>```|-->)\n"
    r"(?:\n(?P<shown>```text\n.*?^```\n|(?:> [^\n]*\n)+))?",
    re.DOTALL | re.MULTILINE,
)


def written(page: str, blocks: int | None = None) -> str:
    """The text of a page with the output of its code, of the first so many blocks if a number is given."""
    module = ModuleType("page")

    def run(piece: re.Match) -> str:
        nonlocal blocks
        if blocks == 0:
            return piece[0]
        blocks = None if blocks is None else blocks - 1
        out = StringIO()
        with redirect_stdout(out):
            exec(compile(piece["code"], f"<{page}>", "exec"), vars(module))
        printed, shown = re.sub(r"(?m) +$", "", out.getvalue()), piece["shown"]
        if bool(printed) != bool(shown):
            raise ValueError(
                f"{page}: this prints {printed!r} and shows {shown!r}:\n{piece['code']}"
            )
        whole = f"{piece['open']}\n{piece['code']}{piece['close']}\n"
        if not shown:
            return whole
        if shown.startswith(">"):
            return f"{whole}\n{fill(' '.join(printed.split()), 118, initial_indent='> ', subsequent_indent='> ')}\n"
        return f"{whole}\n```text\n{printed.rstrip()}\n```\n"

    sys.modules["page"] = module  # where dataclasses look for it
    try:
        with tempfile.TemporaryDirectory() as folder, chdir(folder):
            try:
                return PIECE.sub(run, (ROOT / page).read_text(encoding="utf-8"))
            finally:
                get_reusable_executor().shutdown(
                    wait=True
                )  # its processes are in the folder, and would be used again
    finally:
        del sys.modules["page"]


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for page in sys.argv[1:] or PAGES:
        text = written(page)
        (ROOT / page).write_text(text, encoding="utf-8")
        print(page)
