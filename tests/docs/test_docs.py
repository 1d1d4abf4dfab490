"""The pages: outputs from their code, links that lead somewhere, sources that exist; marks and their values."""

from __future__ import annotations

import importlib
import inspect
import re
import tomllib
from pathlib import Path

import links
import llms
import outputs
import pytest
from marks import filled

import shrinktest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.glob("*.md"), *ROOT.glob("*.md")])
MODULES = [
    "shrinktest",
    *(f"shrinktest.{name}" for name in ("estimators", "kernels", "datasets", "power", "risk", "applications")),
    "shrinktest.power.designs",
]
PUBLIC = {
    f"{module}.{name}": getattr(importlib.import_module(module), name)
    for module in MODULES
    for name in importlib.import_module(module).__all__
    if callable(getattr(importlib.import_module(module), name))
}
# Objects under the first of their names, which is the shortest.
OBJECTS = {id(member): name for name, member in reversed(PUBLIC.items())}
SOURCES = [
    *sorted((ROOT / "shrinktest").rglob("*.py")),
    *sorted(DOCS.glob("*.md")),
    *(ROOT / "examples" / "studies").glob("*.py"),
]


def text_of(path):
    return path.read_text(encoding="utf-8")


@pytest.mark.ci
@pytest.mark.parametrize("page", outputs.PAGES)
def test_pages_show_what_their_code_prints(page):
    assert outputs.written(page) == text_of(ROOT / page)


def test_wrong_outputs_of_pages_are_found(tmp_path, monkeypatch):
    monkeypatch.setattr(outputs, "ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text("```python\nx = 2\n```\n\n```python\nprint(x + 1)\n```\n\n```text\n4\n```\n", encoding="utf-8")
    assert outputs.written("page.md").endswith("```text\n3\n```\n")
    assert outputs.written("page.md", 1) == page.read_text(encoding="utf-8")
    page.write_text("<!-- run\nprint('a  b')\n-->\n\n> wrong\n> text\n\nafter\n", encoding="utf-8")
    assert outputs.written("page.md") == "<!-- run\nprint('a  b')\n-->\n\n> a b\n\nafter\n"
    for lost in ("```python\nprint(1)\n```\n", "```python\nx = 1\n```\n\n```text\n1\n```\n"):
        page.write_text(lost, encoding="utf-8")
        with pytest.raises(ValueError, match="this prints"):
            outputs.written("page.md")


@pytest.mark.parametrize("page", ["comparison", "validity", "theory"])
def test_the_tests_that_a_page_names_exist(page):
    """A file is named by its path from the root, or by its own name if it is unique."""
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    files = {path.name: path for path in (ROOT / "tests").rglob("test_*.py")}
    named = set(re.findall(r"`((?:tests/(?:\w+/)*)?test_\w+\.py)`", text))
    assert named
    assert {name for name in named if "/" in name} <= {path.relative_to(ROOT).as_posix() for path in files.values()}
    defined = {name: set(re.findall(r"(?m)^def (test_\w+)", path.read_text())) for name, path in files.items()}
    used = set().union(*(defined[Path(name).name] for name in named))
    assert set(re.findall(r"`(test_\w+)`", text)) <= used
    for file, names in re.findall(r"`(test_\w+\.py)`: ((?:`test_\w+`(?:, )?)+)", text):
        assert set(re.findall(r"`(\w+)`", names)) <= defined[file]


def test_the_theory_has_all_errata_that_the_code_cites():
    text = (ROOT / "docs" / "theory.md").read_text(encoding="utf-8")
    numbered = [int(n) for n in re.findall(r"(?m)^### E(\d+) \([HML]\)\. ", text)]
    assert numbered == list(range(1, 32))
    for path in [*ROOT.glob("shrinktest/**/*.py"), *ROOT.glob("tests/**/*.py"), *ROOT.glob("examples/studies/*.py")]:
        cited = re.findall(r"\b(?:erratum|errata) ((?:E\d+(?:, | and )?)+)", path.read_text(encoding="utf-8"))
        assert {int(n) for group in cited for n in re.findall(r"\d+", group)} <= set(numbered)


def test_every_page_with_code_is_run():
    code = re.compile(r"^```python\n(?!>>> )", re.MULTILINE)  # sessions are doctests
    assert {path.relative_to(ROOT).as_posix() for path in PAGES if code.search(text_of(path))} == set(outputs.PAGES)


VALUES = {"study": {"rate": "5%", "table": "| a |\n| --- |", "agrees": True}}
PAGE = """<!-- from study -->

The rate is <!-- rate -->7%<!-- /rate -->.<!-- holds: agrees -->

<!-- table -->
old

<!-- /table -->
"""


def test_marks_are_filled_with_values():
    page, faults = filled(PAGE, VALUES.get)
    assert faults == [] and page == filled(page, VALUES.get)[0]
    assert "<!-- rate -->5%<!-- /rate -->." in page and "\n\n| a |\n| --- |\n\n<!-- /table -->" in page


@pytest.mark.parametrize(
    ("values", "fault"),
    [
        ({"agrees": False}, "study: agrees does not hold"),
        ({"more": 1}, "study: more has no mark"),
    ],
    ids=["claim", "unused"],
)
def test_values_that_do_not_suit_a_page_are_faults(values, fault):
    assert filled(PAGE, {"study": VALUES["study"] | values}.get)[1] == [fault]


def test_a_mark_without_a_value_is_a_fault():
    assert filled("<!-- from study -->\n\n<!-- none -->1<!-- /none -->", {"study": {}}.get)[1] == [
        "study has no value none"
    ]


def anchors(page):
    """Anchors that `page.md#...` can point to: headings in small letters, other signs left out, hyphens for spaces."""
    text = re.sub(r"(?ms)^```.*?^```", "", page.read_text(encoding="utf-8"))
    return {
        re.sub(r"[^\w -]", "", heading.lower()).strip().replace(" ", "-")
        for heading in re.findall(r"(?m)^#+ (.+)$", text)
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_relative_links_and_images_lead_somewhere(page):
    text = re.sub(r"(?ms)^```.*?^```", "", page.read_text(encoding="utf-8"))
    made = ("gallery/", "api/")  # by the build, which fails where these do not resolve
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"https?://", target) or target.startswith(made):
            continue
        path, _, anchor = target.partition("#")
        linked = page.parent / path if path else page
        if page.name == "contributing.md":
            continue
        assert linked.exists(), f"{page.name}: {target}"
        if anchor:
            included = ROOT / "CONTRIBUTING.md" if linked.name == "contributing.md" else linked
            assert anchor in anchors(included), f"{page.name}: {target}"


def test_external_links_are_listed_with_their_last_check():
    """`python docs/scripts/links.py` writes the list, and with --check the dates."""
    listed = links.listed()
    assert {address: row["in"] for address, row in listed.items()} == links.external_links()
    for row in listed.values():
        assert re.fullmatch(r"(\d{4}-\d\d-\d\d)?", row["checked"]) and row["answer"]
        assert row["checked"] or row["answer"] != "ok"


def keys(text):
    """Citation keys such as [M14]."""
    return set(re.findall(r"(?<![\w`])\[([A-Z]\w{0,5}\d\d[a-z]?)\](?!\()", text))


def test_citations_are_in_the_bibliography():
    bibliography = (DOCS / "references.bib").read_text(encoding="utf-8")
    listed = re.findall(r"(?m)^@\w+\{(\w+),$", bibliography)
    assert len(set(listed)) == len(listed)
    used = set().union(*(keys(text_of(path)) for path in SOURCES))
    assert {"M14", "S14", "X20"} <= used
    assert used - set(listed) == set()
    for entry in bibliography.split("\n@")[1:]:
        assert all(f"\n  {name} = {{" in entry for name in ("author", "title", "year")), entry
        assert "\n  url = {" in entry or "\n  doi = {" in entry, entry


def test_citation_file_is_of_this_version():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    top = dict(re.findall(r"(?m)^([\w-]+): (.+)$", text))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert top["cff-version"] == "1.2.0" and top["type"] == "software"
    assert (top["title"], top["version"]) == (project["name"], shrinktest.__version__)
    assert top["license"] == project["license"]
    assert f"- name: {project['authors'][0]['name']}" in text
    yaml = pytest.importorskip("yaml")
    assert set(yaml.safe_load(text)) >= {"cff-version", "message", "title", "authors", "version"}


#: The functions that return or take these have the example; designs are shown by their module.
EXAMPLE_ELSEWHERE = {
    *(f"shrinktest.risk.{name}" for name in ("Oracle", "RandomMixture", "FromFunction")),
    *(f"shrinktest.{name}Result" for name in ("AggregateChange", "LevelCheck", "Change", "Changes", "Closer")),
    *("shrinktest.ComparisonResult", "shrinktest.WitnessBand"),
}


def test_every_public_name_has_a_docstring_with_an_example():
    assert len(OBJECTS) > 80
    without = {name for name in OBJECTS.values() if "\n>>> " not in (inspect.getdoc(PUBLIC[name]) or "")}
    assert {name for name in without if not name.startswith("shrinktest.power.designs.")} == EXAMPLE_ELSEWHERE


def test_every_public_method_has_a_docstring():
    without = []
    for name in OBJECTS.values():
        if not inspect.isclass(PUBLIC[name]):
            continue
        for key, value in vars(PUBLIC[name]).items():
            described = callable(value) or isinstance(value, property | classmethod | staticmethod)
            if described and not key.startswith("_") and not inspect.getdoc(getattr(PUBLIC[name], key)):
                without.append(f"{name}.{key}")
    assert without == []


def test_the_api_page_lists_every_public_name_once():
    listed, module = [], ""
    for line in (DOCS / "api.rst").read_text(encoding="utf-8").splitlines():
        module = line.removeprefix(".. currentmodule:: ") if line.startswith(".. currentmodule::") else module
        if re.fullmatch(r"   [A-Za-z_]\w*", line):
            listed.append(f"{module}.{line.strip()}")
    assert len(set(listed)) == len(listed)
    missing = [name for key, name in OBJECTS.items() if key not in {id(PUBLIC[other]) for other in listed}]
    assert missing == [], "add them to docs/api.rst"
    assert len(listed) == len(OBJECTS), "the same object twice"


def test_the_list_for_language_models_has_every_page_and_six_calls():
    text = llms.contents(DOCS)
    linked = set(re.findall(r"\]\((\w+)\.html\)", text))
    others = {"index", "guide", "background", "changelog", "contributing", "references"}
    assert linked == {path.stem for path in [*DOCS.glob("*.md"), *DOCS.glob("*.rst")]} - others
    assert len(re.findall(r"(?m)^- `", text)) == 6 and "{" not in text
    assert max(map(len, text.splitlines())) < 400
