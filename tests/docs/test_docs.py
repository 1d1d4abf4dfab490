"""The pages: numbers from their data files, outputs from their code, links that lead somewhere, sources that exist."""

from __future__ import annotations

import importlib
import inspect
import re
import tomllib
from pathlib import Path

import _links
import _pages
import _study
import llms
import pytest

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
SOURCES = [*sorted((ROOT / "shrinktest").rglob("*.py")), *sorted(DOCS.glob("*.md")), *(ROOT / "examples").glob("*.py")]


def text_of(path):
    return path.read_text(encoding="utf-8")


@pytest.mark.ci
@pytest.mark.parametrize("page", _study.PAGES)
def test_pages_of_studies_are_made_of_their_data(page):
    assert _study.rebuilt(page) == text_of(DOCS / f"{page}.md")


@pytest.mark.parametrize("page", _study.PAGES)
def test_sections_of_studies_start_with_two_sentences_and_a_picture(page):
    blocks = text_of(DOCS / f"{page}.md").split("\n\n")
    for study, title in _study.PAGES[page].sections.items():
        first = blocks.index(f"## {title}") + 1
        opening, picture = blocks[first : first + 2]
        sentences = re.split(r"(?<=[.;]) (?=[A-Z`])", opening)
        assert 2 <= len(sentences) <= 3 and re.search(r"\d", opening)
        alt = re.fullmatch(rf"!\[(.+)\]\(figures/{study}\.png\)", picture)
        assert alt and (DOCS / "figures" / f"{study}.png").exists()


def test_no_sentence_contradicts_its_table():
    """A sentence without numbers is a claim about the data, which marks it where they say otherwise."""
    assert [page.name for page in PAGES if _study.CONTRADICTED in text_of(page)] == []
    assert _study.claim("It holds.", True) == "It holds."
    assert _study.claim("It holds.", False).startswith(_study.CONTRADICTED)


@pytest.mark.ci
@pytest.mark.parametrize("study", _study.studies())
def test_what_came_out_follows_the_data(study):
    """Halving what was measured changes the sentences: no number in them is written by hand."""
    module, tables = importlib.import_module(study), _study.tables_of(study)
    halved = {key: table.copy() for key, table in tables.items()}
    for table in halved.values():
        for name in table.select_dtypes("float"):
            table[name] = table[name] / 2.0
    assert module.opening(halved) != module.opening(tables)


def test_every_study_is_in_one_page():
    named = [
        name
        for path in DOCS.glob("*.md")
        for name in re.findall(r"(?m)^Written by `python examples/(\w+)\.py", text_of(path))
    ]
    assert {"which_estimator", "risk_study"} <= set(named)
    assert sorted(named) == sorted([*_study.studies(), "shortcuts"])


@pytest.mark.ci
def test_a_number_that_is_not_in_the_data_is_found(tmp_path):
    (tmp_path / "data").mkdir()
    for study in _study.PAGES["reproduced_tests"].sections:
        for path in DOCS.glob(f"data/{study}*"):
            (tmp_path / path.relative_to(DOCS)).write_bytes(path.read_bytes())
    page = tmp_path / "reproduced_tests.md"
    page.write_bytes((DOCS / page.name).read_bytes())
    assert _study.rebuilt(page.stem, tmp_path) == text_of(page)
    data = tmp_path / "data" / "mixture_power.csv"
    data.write_text(re.sub(r",10,0\.05,False,0\.1", ",10,0.05,False,0.2", data.read_text("utf-8"), count=1), "utf-8")
    assert _study.rebuilt(page.stem, tmp_path) != text_of(page)


def test_every_data_file_and_figure_belongs_to_a_page():
    text = "".join(text_of(path) for path in PAGES)
    files = [path.relative_to(DOCS).as_posix() for folder in ("data", "figures") for path in (DOCS / folder).iterdir()]
    assert files
    assert [name for name in files if f"({name})" not in text and f"(docs/{name})" not in text] == []


@pytest.mark.ci
@pytest.mark.parametrize("page", _pages.PAGES)
def test_pages_show_what_their_code_prints(page):
    assert _pages.written(page) == text_of(ROOT / page)


def test_wrong_outputs_of_pages_are_found(tmp_path, monkeypatch):
    monkeypatch.setattr(_pages, "ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text("```python\nx = 2\n```\n\n```python\nprint(x + 1)\n```\n\n```text\n4\n```\n", encoding="utf-8")
    assert _pages.written("page.md").endswith("```text\n3\n```\n")
    assert _pages.written("page.md", 1) == page.read_text(encoding="utf-8")
    page.write_text("<!-- run\nprint('a  b')\n-->\n\n> wrong\n> text\n\nafter\n", encoding="utf-8")
    assert _pages.written("page.md") == "<!-- run\nprint('a  b')\n-->\n\n> a b\n\nafter\n"
    for lost in ("```python\nprint(1)\n```\n", "```python\nx = 1\n```\n\n```text\n1\n```\n"):
        page.write_text(lost, encoding="utf-8")
        with pytest.raises(ValueError, match="this prints"):
            _pages.written("page.md")


def test_every_page_with_code_is_run():
    code = re.compile(r"^```python\n(?!>>> )", re.MULTILINE)  # sessions are doctests
    assert {path.relative_to(ROOT).as_posix() for path in PAGES if code.search(text_of(path))} == set(_pages.PAGES)


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
    """`python examples/_links.py` writes the list, and with --check the dates."""
    listed = _links.listed()
    assert {address: row["in"] for address, row in listed.items()} == _links.external_links()
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
    *(f"shrinktest.{name}Result" for name in ("AggregateChange", "Calibration", "Change", "Changes", "Closer")),
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
