"""Structure of the package: imports that point one way, small modules, documented names, a README that is true."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import subprocess
import sys
import tomllib
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

import shrinktest
from shrinktest.estimators import ESTIMATORS

PACKAGE = Path(shrinktest.__file__).parent
ROOT = PACKAGE.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")

#: The rooms of the package, from the ground up: a module imports from its own layer and from those below.
LAYERS = [
    (
        "_version",
        "notes",
        "_warn",
        "_docs",
        "_hints",
        "_spelling",
        "_rounding",
        "_check",
        "_random",
        "_parallel",
        "_machine_code",
        "_jit",
    ),
    ("units",),
    ("kernels",),
    ("embedding", "estimators"),
    ("permutations",),
    ("data",),
    ("results",),
    ("statistics",),
    ("effects",),
    ("monitoring",),
    ("fitted", "hypothesis", "settings"),
    ("measured_effect", "measured_differences"),
    ("equal_distributions", "independent_variables", "change_location"),
    (
        "ensembles",
        "kernel_spec",
        "auto",
        "aggregation",
        "fit",
        "combination",
        "stack",
        "run",
        "many",
    ),
    ("conditional", "lags"),
    ("on_disk",),
    ("a verb",),  # every module of its own at the top that no other row has
    ("datasets",),
    ("power", "risk", "applications", "check_level"),
    ("shrinktest",),  # the public names
    ("cli", "__main__"),
]
#: The one module that looks up, when it is called: it runs the tests themselves on a user's estimator.
LOOKS_UP = "shrinktest.estimators.user_estimators"
#: The one module that imports another package on top: base classes cannot come later.
BASE_CLASSES = "shrinktest.applications._sklearn"
HEAVY = (
    "numba",
    "narwhals",
    "scipy",
    "sklearn",
    "statsmodels",
    "pandas",
    "matplotlib",
    "joblib",
    "tqdm",
)


class Import(NamedTuple):
    """`late`: inside a function, so that nothing happens before it is called."""

    module: str
    imported: str
    late: bool


def name_of(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def imports_in(module, body, late=False):
    """Every import below these statements that runs, which those for type checkers do not."""
    for node in body:
        if isinstance(node, ast.Import):
            yield from (Import(module, alias.name, late) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: write absolute imports"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield Import(module, whole if whole in MODULES else node.module, late)
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            yield from imports_in(module, node.orelse, late)
        else:
            inner = late or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from imports_in(module, ast.iter_child_nodes(node), inner)


@cache
def imports():
    """Imports of modules of the package, and all other imports; read once, by the first test that needs them."""
    edges = [
        edge
        for module, path in MODULES.items()
        for edge in imports_in(module, ast.parse(path.read_text(encoding="utf-8")).body)
    ]
    ours = [edge for edge in edges if edge.imported in MODULES]
    return ours, [edge for edge in edges if edge.imported not in MODULES]


def layer(module):
    room = module.split(".")[1] if "." in module else module
    if (
        room not in {named for rooms in LAYERS for named in rooms}
        and module == f"shrinktest.{room}"
    ):
        room = "a verb"
    return next((height for height, rooms in enumerate(LAYERS) if room in rooms), len(LAYERS))


# --------------------------------------------------------------------------------------------- imports


def test_every_module_has_its_layer():
    assert [module for module in MODULES if layer(module) == len(LAYERS)] == []
    assert {"shrinktest.two_sample", "shrinktest._jit", "shrinktest.cli.entry"} <= set(MODULES)


def test_imports_point_down():
    ours, _ = imports()
    upward = [
        edge
        for edge in ours
        if layer(edge.imported) > layer(edge.module) and edge.module != LOOKS_UP
    ]
    assert upward == []
    assert any(
        edge.late and layer(edge.imported) > layer(edge.module) for edge in ours
    )  # LOOKS_UP does


def test_imports_make_no_circle():
    ahead = {module: set() for module in MODULES}
    for module, imported, late in imports()[0]:
        if not (late and module == LOOKS_UP) and imported != module:
            ahead[module].add(imported)
    while free := [module for module, needed in ahead.items() if not needed]:
        for module in free:
            del ahead[module]
        for needed in ahead.values():
            needed.difference_update(free)
    assert ahead == {}, "these import each other, also from inside functions"


def test_permutations_know_nothing_else():
    ours = {
        "shrinktest.permutations.base",
        "shrinktest.permutations.stopping",
        "shrinktest.permutations.null",
    }
    known = {edge.imported for edge in imports()[0] if edge.module in ours}
    tools = {"shrinktest._check", "shrinktest._machine_code", "shrinktest._parallel"}
    assert known - ours == {*tools, "shrinktest.permutations.draw_arrays"}


def has_loops(module):
    return module == "shrinktest._jit" or module.endswith("_loops")


def test_only_loops_import_numba():
    users = {
        edge.module for edge in imports()[1] if edge.imported.split(".")[0] in ("numba", "llvmlite")
    }
    assert users
    assert all(map(has_loops, users))


def test_other_packages_are_declared_and_imported_late():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    required = [
        *project["dependencies"],
        *extras["plot"],
        *extras["apps"],
        *extras["files"],
        *extras["distributed"],
        *extras["causal"],
    ]
    declared = {re.match(r"[\w-]+", requirement)[0] for requirement in required}
    for module, imported, late in imports()[1]:
        name = imported.split(".")[0]
        name = {"sklearn": "scikit-learn", "causallearn": "causal-learn"}.get(name, name)
        if name in sys.stdlib_module_names or name == "numpy" or has_loops(module):
            continue
        assert name in declared, (
            f"{module} imports {imported}, which pyproject.toml does not declare"
        )
        assert late or module == BASE_CLASSES, (
            f"{module} imports {imported} on top; import it in the function that needs it"
        )


def test_import_brings_in_nothing_heavy():
    shown = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys, shrinktest; shrinktest.two_sample_test; print(*sys.modules)",
        ],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        cwd=ROOT,
    ).stdout
    loaded = set(shown.split())
    assert {"numpy", "shrinktest.two_sample", "shrinktest.estimators.filters"} <= loaded
    assert sorted(name for name in loaded if name.split(".")[0] in HEAVY) == []
    assert not any(map(has_loops, loaded))


def test_slow_twins_import_nothing_from_the_package():
    for path in (ROOT / "tests").glob("naive*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        assert not any(
            "shrinktest" in imported.imported for imported in imports_in(path.name, tree.body)
        ), path


# ------------------------------------------------------------------------------------- size, documentation


def test_modules_are_small_and_say_what_they_are():
    for module, path in MODULES.items():
        text = path.read_text(encoding="utf-8")
        assert len(text.splitlines()) <= 520, f"{module}: which second noun lives in it?"
        assert ast.get_docstring(ast.parse(text)), module


APPLICATIONS, RISK = "shrinktest.applications", "shrinktest.risk"
PUBLIC = {
    f"{module}.{name}": getattr(importlib.import_module(module), name)
    for module in (
        "shrinktest",
        "shrinktest.kernels",
        "shrinktest.estimators",
        "shrinktest.datasets",
        APPLICATIONS,
        RISK,
    )
    for name in importlib.import_module(module).__all__
    if name != "__version__"
}


def described(doc):
    """Names with an entry in a numpydoc section: what stands at the margin, before ' : '."""
    margin = [
        line.split(" : ")[0] for line in doc.splitlines() if line and not line.startswith(" ")
    ]
    return {name.strip().lstrip("*") for entry in margin for name in entry.split(",")}


def test_public_names_are_documented():
    for name, value in PUBLIC.items():
        if isinstance(value, dict):
            continue
        assert value.__doc__ and not value.__doc__.startswith(f"{value.__name__}("), (
            f"{name}: a dataclass's own words"
        )
        if inspect.isclass(value):
            methods = [
                key
                for key, method in vars(value).items()
                if callable(method) and not key.startswith("_")
            ]
            assert [key for key in methods if not inspect.getdoc(getattr(value, key))] == [], name


def test_parameters_of_risk_and_applications_are_documented():
    for name, value in PUBLIC.items():
        if name.startswith((RISK, APPLICATIONS)):
            call = value.__init__ if inspect.isclass(value) and not is_dataclass(value) else value
            taken = set(inspect.signature(call).parameters) - {"self", "args", "kwargs"}
            text = inspect.getdoc(value)
            assert {
                key for key in taken if key not in described(text) and f"**{key}" not in text
            } == set(), name


def test_parameters_of_the_main_names_are_documented():
    for name in shrinktest.__all__:
        value, taken = getattr(shrinktest, name), set()
        if is_dataclass(value):
            taken = {field.name for field in fields(value) if field.init}
        elif inspect.isfunction(value):
            taken = set(inspect.signature(value).parameters)
        assert taken - described(inspect.getdoc(value)) == set(), name


def test_all_lists_every_public_name():
    for module in ("shrinktest", "shrinktest.kernels", "shrinktest.estimators", APPLICATIONS, RISK):
        listed = importlib.import_module(module).__all__
        assert len(set(listed)) == len(listed)
        assert all(hasattr(importlib.import_module(module), name) for name in listed)
    assert set(ESTIMATORS.values()) <= {getattr(shrinktest, name) for name in shrinktest.__all__}


# ----------------------------------------------------------------------------------------------- README


def section(heading):
    """The text below a heading of the README, up to the next one."""
    parts = re.split(r"(?m)^## (.+)$", README)
    return dict(zip(parts[1::2], parts[2::2], strict=True))[heading]


COMMANDS = {
    "Run it": "python3 -m venv .venv && .venv/bin/pip install -q . && "
    ".venv/bin/shrinktest independence eckerle4 --estimator fkmse --seed 0",
    "Test it": "python3 -m venv .venv && .venv/bin/pip install -q -e '.[test]' && .venv/bin/pytest -n auto",
}


@pytest.mark.parametrize("heading", COMMANDS)
def test_readme_commands_are_these(heading):
    assert re.findall(r"(?ms)^```\w*\n(.*?)\n```$", section(heading)) == [COMMANDS[heading]]


def test_readme_has_no_other_command_blocks():
    fenced = re.findall(r"(?ms)^```(\w*)\n(.*?)\n```$", README)
    assert [text for language, text in fenced if language not in ("python", "text")] == list(
        COMMANDS.values()
    )


def test_ci_reads_the_test_command_from_the_readme():
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "README.md" in script and COMMANDS["Test it"] not in script
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111
    extract = re.search(r"(?m)^test_command=\$\((awk .*)\)$", script)[1]
    shown = subprocess.run(
        ["bash", "-c", extract], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert shown.stdout.strip() == COMMANDS["Test it"]


def test_ci_runs_what_the_test_command_leaves_out():
    options = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"][
        "pytest"
    ]["ini_options"]
    assert options["addopts"][-2:] == ["-m", "not slow and not ci"]
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert '\n.venv/bin/pytest -n auto -m "ci or slow"\n' in script


def test_readme_is_short():
    assert len(README.splitlines()) <= 120


def test_the_page_of_estimators_lists_every_one():
    page = (ROOT / "docs" / "estimators.md").read_text(encoding="utf-8")
    rows = re.findall(r"(?m)^\| `(\w+)` \| `(\w+)` \|", page)
    assert sorted(rows) == sorted((name, kind.__name__) for name, kind in ESTIMATORS.items())


def test_every_test_belongs_to_a_room():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = re.findall(r"(?m)^\| `.* \| `(tests/[^`]+)` \|$", text)
    assert len(rows) == len(re.findall(r"(?m)^\| `", text)) > 10
    paths = [path for row in rows for pattern in row.split() for path in ROOT.glob(pattern)]
    folders = {path for path in paths if path.is_dir()} | {ROOT / "tests" / "docs"}
    tests = set((ROOT / "tests").rglob("test_*.py"))
    assert [path for path in tests if path not in paths and path.parent not in folders] == []
    assert all(list(ROOT.glob(pattern)) for row in rows for pattern in row.split())


def test_contributing_is_short_and_ends_with_how_to_add_something():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) < 75
    assert re.findall(r"(?m)^## (.+)$", text)[-1] == "How to add something"
