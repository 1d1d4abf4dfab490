"""What pages refer to must exist: tests, errata, links, sources; and the citation file is of this version."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import links
import outputs
from folders import DOCS, ROOT

from shrinktest import __version__

PAGES = [*sorted(DOCS.glob("*.md")), *sorted(ROOT.glob("*.md"))]
#: The pages that name tests.
WITH_TESTS = ("comparison", "validity", "theory", "errata")
#: Made by the build of the site, which fails where these do not resolve.
BUILT = ("gallery/", "api/")
GALLERY = ROOT / "examples" / "gallery"
#: What the text of each script in the gallery has, in this order.
PARTS = ("What the result tells you", "What it does not tell you", "How to report it")


def faults() -> Iterator[str]:
    """Return the faults of all checks."""
    for page in WITH_TESTS:
        yield from tests_of_a_page(page)
    yield from errata()
    yield from code_that_is_not_run()
    for page in PAGES:
        yield from relative_links(page)
    for script in sorted(GALLERY.glob("*/plot_*.py")):
        yield from script_of_the_gallery(script)
    yield from external_links()
    yield from citations()
    yield from citation_file()


@cache
def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def without_code(path: Path) -> str:
    return re.sub(r"(?ms)^```.*?^```", "", text_of(path))


def tests_of_a_page(page: str) -> Iterator[str]:
    """A file is named by its path from the root, or by its own name if it is unique."""
    text = text_of(DOCS / f"{page}.md")
    files = {path.name: path for path in (ROOT / "tests").rglob("test_*.py")}
    paths = {path.relative_to(ROOT).as_posix() for path in files.values()}
    defined = {
        name: set(re.findall(r"(?m)^def (test_\w+)", text_of(path))) for name, path in files.items()
    }
    named = set(re.findall(r"`((?:tests/(?:\w+/)*)?test_\w+\.py)`", text))
    known = {name for name in named if name in paths or name in files}
    for name in named - known:
        yield f"{page}.md names {name}, which does not exist"
    used = {test for name in known for test in defined[Path(name).name]}
    for test in set(re.findall(r"`(test_\w+)`", text)) - used:
        yield f"{page}.md names {test}, which is in no file that it names"
    for file, tests in re.findall(r"`(test_\w+\.py)`: ((?:`test_\w+`(?:, )?)+)", text):
        for test in set(re.findall(r"`(\w+)`", tests)) - defined.get(file, set()):
            yield f"{page}.md: {file} has no {test}"


def errata() -> Iterator[str]:
    """The page of errata numbers all of them, and has those that the code cites."""
    numbered = [
        int(n) for n in re.findall(r"(?m)^## E(\d+) \([HML]\)\. ", text_of(DOCS / "errata.md"))
    ]
    if numbered != list(range(1, 32)):
        yield f"errata.md numbers its errata {numbered}"
    for folder in ("shrinktest", "tests", "examples/studies"):
        for path in (ROOT / folder).rglob("*.py"):
            cited = re.findall(r"\b(?:erratum|errata) ((?:E\d+(?:, | and )?)+)", text_of(path))
            for number in re.findall(r"\d+", " ".join(cited)):
                if int(number) not in numbered:
                    yield f"{path.relative_to(ROOT)} cites erratum E{number}, which errata.md has not"


def code_that_is_not_run() -> Iterator[str]:
    """Every page with code is run; sessions are doctests."""
    code = re.compile(r"^```python\n(?!>>> )", re.MULTILINE)
    with_code = {path.relative_to(ROOT).as_posix() for path in PAGES if code.search(text_of(path))}
    for page in sorted(with_code ^ {*outputs.PAGES}):
        yield f"{page} has code and is not run, or is run and has no code"


def anchors(page: Path) -> set[str]:
    """Return what `page.md#...` can point to: headings in small letters, other signs left out, hyphens for spaces."""
    headings = re.findall(r"(?m)^#+ (.+)$", without_code(page))
    return {
        re.sub(r"[^\w -]", "", heading.lower()).strip().replace(" ", "-") for heading in headings
    }


def relative_links(page: Path) -> Iterator[str]:
    """Relative links and images lead somewhere."""
    if page.name == "contributing.md":
        return
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code(page)):
        if re.match(r"https?://", target) or target.startswith(BUILT):
            continue
        path, _, anchor = target.partition("#")
        linked = page.parent / path if path else page
        if not linked.exists():
            yield f"{page.name}: {target} does not exist"
            continue
        included = ROOT / "CONTRIBUTING.md" if linked.name == "contributing.md" else linked
        if anchor and anchor not in anchors(included):
            yield f"{page.name}: {target} is no heading"


def external_links() -> Iterator[str]:
    """External links are listed with their last check: `links.py` writes the list, and with --check the dates."""
    listed = links.listed()
    if {address: row["in"] for address, row in listed.items()} != links.external_links():
        yield "docs/links.csv is not the list of external links: run docs/scripts/links.py"
    for address, row in listed.items():
        dated = re.fullmatch(r"(\d{4}-\d\d-\d\d)?", row["checked"]) and row["answer"]
        if not dated or (row["answer"] == "ok" and not row["checked"]):
            yield f"docs/links.csv: {address} needs the date of its check and the answer"


def keys(text: str) -> set[str]:
    """Return citation keys such as [M14]."""
    return set(re.findall(r"(?<![\w`])\[([A-Z]\w{0,5}\d\d[a-z]?)\](?!\()", text))


def citations() -> Iterator[str]:
    """Citations are in the bibliography, whose entries are complete."""
    bibliography = text_of(ROOT / "shrinktest" / "references.bib")
    listed = re.findall(r"(?m)^@\w+\{(\w+),$", bibliography)
    if len(set(listed)) != len(listed):
        yield "references.bib has a key twice"
    sources = [
        *(ROOT / "shrinktest").rglob("*.py"),
        *DOCS.glob("*.md"),
        *(ROOT / "examples" / "studies").glob("*.py"),
    ]
    for path in sources:
        for key in sorted(keys(text_of(path)) - set(listed)):
            yield f"{path.relative_to(ROOT)} cites [{key}], which references.bib has not"
    for entry in bibliography.split("\n@")[1:]:
        complete = all(f"\n  {name} = {{" in entry for name in ("author", "title", "year"))
        if not complete or not re.search(r"\n  (url|doi) = \{", entry):
            yield f"references.bib: incomplete entry {entry.splitlines()[0]}"


def citation_file() -> Iterator[str]:
    """The citation file has title, version, license and authors of the project."""
    text = text_of(ROOT / "CITATION.cff")
    top = dict(re.findall(r"(?m)^([\w-]+): (.+)$", text))
    project = tomllib.loads(text_of(ROOT / "pyproject.toml"))["project"]
    expected = {
        "cff-version": "1.2.0",
        "type": "software",
        "title": project["name"],
        "version": __version__,
        "license": project["license"],
    }
    for name, value in expected.items():
        if top.get(name) != value:
            yield f"CITATION.cff: {name} must be {value}"
    if f"- name: {project['authors'][0]['name']}" not in text or "\nmessage: " not in text:
        yield "CITATION.cff needs the authors of the project and a message"


def script_of_the_gallery(script: Path) -> Iterator[str]:
    """A script reads as a page: title, question, parts, one picture, and pages to go on with that exist."""
    text = text_of(script)
    page = re.fullmatch(r'"""\n(.+?)\n"""\n(.*)', text, re.DOTALL)
    if page is None:
        yield f"{script.name} does not begin with its text"
        return
    docstring, body = page.groups()
    title, line, empty, *_ = docstring.split("\n")
    places = [docstring.find(f"\n{part}\n    ") for part in PARTS]
    right = {
        "a title": line == "=" * len(title) and empty == "",
        "its question": "**Question.** " in docstring,
        "its parts in order": -1 not in places and places == sorted(places),
        "printed output and one picture": "print(" in body and text.count("plt.show()") == 1,
        "fewer than 110 lines": len(text.splitlines()) < 110,
        "pages to go on with at its end": body.rfind("# **Next:** :doc:`") > body.rfind("\n# %%\n"),
        "a header in its folder": (script.parent / "GALLERY_HEADER.rst").exists(),
    }
    yield from (f"{script.name} needs {what}" for what, holds in right.items() if not holds)
    for target in re.findall(r":doc:`[^<`]+<([^>]+)>`", re.sub(r"\n#? ?", " ", text)):
        in_docs = target.startswith("/") and any(DOCS.glob(f"{target[1:]}.*"))
        if not in_docs and not (script.parent / f"{target}.py").exists():
            yield f"{script.name} links to {target}, which does not exist"
