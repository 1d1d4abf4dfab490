"""The page on extending, followed word by word; and the pictures of the reference."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
import types
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import cache
from io import StringIO
from pathlib import Path
from types import ModuleType, SimpleNamespace

import docstrings
import numpy as np
import pictures
import pytest
from PIL import Image

import shrinktest as st
from shrinktest import Permutations
from shrinktest.results.info import INDEPENDENCE

pytestmark = pytest.mark.ci

PAGE = (Path(__file__).parents[2] / "docs" / "extending.md").read_text(encoding="utf-8")
HEADINGS = re.split(r"(?m)^## (.+)$", PAGE)
SECTIONS = dict(zip(HEADINGS[1::2], HEADINGS[2::2], strict=True))


@cache
def followed(section, before=None):
    """The names that the code of a section defines, run from its first line on as a reader would.

    ``before`` is a section whose code comes first.
    """
    module = ModuleType("extending")
    sys.modules["extending"] = module  # where dataclasses look for it
    try:
        with redirect_stdout(StringIO()):
            text = SECTIONS.get(before, "") + SECTIONS[section]
            for code in re.findall(r"(?ms)^```python\n(.*?)^```$", text):
                exec(compile(code, f"<{section}>", "exec"), vars(module))
    finally:
        del sys.modules["extending"]
    return SimpleNamespace(**vars(module))


@pytest.fixture(scope="module")
def estimators():
    return followed("An estimator")


@pytest.fixture(scope="module")
def kernels():
    return followed("A kernel")


@pytest.fixture(scope="module")
def designs():
    return followed("A design")


RNG = np.random.default_rng(5)
A, B, C = (RNG.normal(size=(9, 2)) for _ in range(3))
HALF = st.SKMSE(alpha=0.5)
OPTIONS = {"n_resamples": 19, "rng": 0, "workers": 1}
#: Every test, with an estimator and a kernel for each sample or variable.
TESTS = {
    "two-sample": lambda e, k: st.two_sample_test(A, B[:7] + 0.3, estimator=e, kernel=k, **OPTIONS),
    "k-sample": lambda e, k: st.k_sample_test(A, B, C[:7], estimator=e, kernel=k, **OPTIONS),
    "independence": lambda e, k: st.independence_test(
        A, B + A, estimator=e, kernel_x=k, kernel_y=k, **OPTIONS
    ),
    "joint": lambda e, k: st.joint_independence_test(
        A, B + A, C, estimator=e, kernels=k, **OPTIONS
    ),
    "columns": lambda e, k: st.two_sample_test_columns(A, B[:7], estimator=e, kernel=k, **OPTIONS),
    "matrix": lambda e, k: st.independence_matrix(A, estimator=e, kernel_x=k, **OPTIONS),
    "list": lambda e, k: st.two_sample_test(
        A, B, estimator=[e, HALF], kernel=[k, st.Laplacian(1.0)], **OPTIONS
    ),
}


def test_sections_of_the_page():
    own = {
        "An estimator",
        "A kernel",
        "A statistic",
        "A permutation scheme",
        "A simulated null hypothesis",
        "A test",
    }
    assert own | {"A design", "In the package"} == set(SECTIONS)


def test_the_statistic_of_the_page():
    page = followed("A statistic")
    labels = np.repeat([0, 1], (40, 35))
    assert page.result.statistic == page.spread(labels)
    assert page.result.pvalue == (1 + page.result.exceedances) / 1000
    by_rows = st.permutation_test(
        lambda rows: [page.spread(row) for row in rows], (40, 35), vectorized=True, rng=0
    )
    assert by_rows.pvalue == page.result.pvalue
    assert "Permutation test" in str(page.result.summary())


def test_the_form_of_the_page_is_one_of_a_test(monkeypatch):
    page = followed("A statistic")
    module = ModuleType("xi")
    module.XI = page.XI
    monkeypatch.setitem(sys.modules, "xi", module)
    monkeypatch.setitem(INDEPENDENCE.statistics, "xi", "xi:XI")
    x, y = A[:, :1], A[:, :1] ** 3
    result = st.independence_test(x, y, form="xi", **OPTIONS)
    assert result.statistic == pytest.approx(7 / 10) and result.pvalue == 0.05
    assert st.independence_matrix(
        np.hstack([x, y]), form="xi", **OPTIONS
    ).statistics == pytest.approx([7 / 10])
    tied = np.repeat([0.0, 1.0], [4, 5])
    falling = st.independence_test(-x, tied[np.argsort(np.argsort(x[:, 0]))], form="xi", **OPTIONS)
    assert falling.statistic == pytest.approx(
        1.0 - 9.0 * 5.0 / (2.0 * 5 * 5.0 * 4.0)
    )  # one step of 5
    for wrong in (tied, A):
        with pytest.raises(ValueError, match=r"ties|one column"):
            st.independence_test(wrong, y, form="xi", **OPTIONS)


def test_the_copies_of_the_page_are_of_its_model():
    page = followed("A simulated null hypothesis", before="A statistic")
    drawn = [page.copies.copy(seed) for seed in range(1, 400)]
    assert page.copies.copy(0) is page.copies.observed and all(
        months.sum() == 71 for months in drawn
    )
    np.testing.assert_allclose(np.mean(drawn, axis=0), 71 / 12, atol=0.6)


def test_the_scheme_of_the_page_is_taken_by_every_test_of_samples():
    page = followed("A permutation scheme", before="A statistic")
    x, y = page.response[page.order][:12], page.response[page.order][12:]
    every = [
        st.k_sample_test(x, y, permutations=page.scheme, rng=0, estimator=e).pvalue
        for e in ("kme", "fkmse")
    ]
    every.append(
        st.two_sample_test(x, y, permutations=page.scheme, rng=0, estimator=["kme", "skmse"]).pvalue
    )
    every.append(st.two_sample_test_columns(x, y, permutations=page.scheme, rng=0).pvalue)
    assert page.result.exact and page.result.n_resamples == page.scheme.distinct
    assert every[0] == page.result.pvalue and all(0.0 < pvalue <= 0.2 for pvalue in every)


@dataclass(frozen=True, eq=False)
class Reversals(Permutations):
    """Permutations of n pairs: y in its order, or reversed."""

    n: int

    @property
    def size(self):
        return self.n

    @property
    def distinct(self):
        return 2

    def draw(self, rng, rows):
        return np.array(list(self.all()))[rng.integers(2, size=rows)]

    def all(self):
        return iter((np.arange(self.n), np.arange(self.n)[::-1]))


def test_a_scheme_of_pairs_is_taken_by_every_test_of_pairs():
    options = {"permutations": Reversals(len(A)), "alpha": 0.6, "rng": 0}
    for estimator in ("kme", "fkmse"):
        single = st.independence_test(A[:, :1], B[:, :1], estimator=estimator, **options)
        every = st.independence_matrix(A, B, estimator=estimator, **options)
        assert single.exact and single.n_resamples == 2 and single.pvalue in (0.5, 1.0)
        assert every.pvalues[0] == single.pvalue and set(every.pvalues) <= {0.5, 1.0}
    with pytest.raises(ValueError, match="permutes rows of Y"):
        st.independence_matrix(A, **options)


def test_a_statistic_on_all_permutations():
    values = np.array([3.0, 1.0, 2.0, 5.0])
    result = st.permutation_test(
        lambda p: values[p] @ np.arange(4.0), 4, n_resamples=np.inf, alpha=0.3
    )
    assert result.exact and result.n_resamples == 24
    assert result.pvalue == np.mean(result.null_distribution >= result.statistic)


@pytest.mark.parametrize("test", TESTS)
def test_a_kernel_of_the_page_is_one_everywhere(test, kernels):
    def by_function(X, Y):
        return kernels.RationalQuadratic(1.5).evaluate(X, Y)

    assert pvalues(TESTS[test]("kme", kernels.RationalQuadratic(1.5))) == pvalues(
        TESTS[test]("kme", by_function)
    )
    moments = pvalues(TESTS[test]("skmse", kernels.MeanAndSquare()))
    assert moments == pvalues(TESTS[test]("skmse", lambda X, Y: X @ Y.T + X**2 @ (Y**2).T))


def pvalues(result):
    return (
        np.asarray(getattr(result, "pvalues", getattr(result, "pvalue", None)), dtype=float)
        .round(12)
        .tolist()
    )


def test_a_kernel_of_the_page_finds_its_scale_on_all_data(kernels):
    own = kernels.RationalQuadratic()
    resolved = st.two_sample_test(A, B, kernel=own, **OPTIONS).kernel
    assert resolved == own.resolve(np.vstack([A, B])) == kernels.RationalQuadratic(resolved.scale)
    np.testing.assert_allclose(resolved.diagonal(A), np.diag(resolved(A)))
    assert np.linalg.eigvalsh(resolved(A)).min() > -1e-12
    combined = (own + 0.5 * st.Linear()).resolve(A)
    np.testing.assert_allclose(combined(A, B), own.resolve(A)(A, B) + 0.5 * A @ B.T)
    with pytest.raises(ValueError, match="X has 1 missing value"):
        resolved([[0.0, np.nan]])


@pytest.mark.parametrize("test", TESTS)
def test_an_estimator_of_the_page_is_one_everywhere(test, estimators):
    for estimator in (estimators.Trimmed(share=0.2), estimators.halfway):
        p_values = np.ravel(pvalues(TESTS[test](estimator, "gaussian")))
        assert ((p_values > 0.0) & (p_values <= 1.0) | np.isnan(p_values)).all() and not np.isnan(
            p_values
        ).all()


def test_a_design_of_the_page_is_one(designs):
    design = designs.Skewed(shape=0.5)
    assert eval(repr(design), {"Skewed": designs.Skewed, "inf": np.inf}) == design
    assert design.null().null() == design.null()
    y = design.sample(0, 2000)[1]
    assert abs(y.mean()) < 0.1 and abs(y.std() - 1.0) < 0.1 and np.all(y >= -(0.5**0.5))
    study = st.power_study(design, "kme", (8, 10), n_trials=5, n_resamples=19, workers=1, rng=0)
    assert study.table["n"].tolist() == study.size_table["n"].tolist() == [8, 10]


# --- pictures of the reference -------------------------------------------------------------------------------------
MODULES = [f"shrinktest{name}" for name in ("", ".power", ".risk")]
DRAWABLE = {f"{m}.{name}".removeprefix("shrinktest."): f"{m}.{name}" for m in MODULES
         for name in importlib.import_module(m).__all__}  # fmt: skip


def object_of(page):
    module, _, name = DRAWABLE[page].rpartition(".")
    return getattr(importlib.import_module(module), name)


def shown(page, folder):
    """A page as its docstring becomes it."""
    obj, lines = object_of(page), inspect.getdoc(object_of(page)).splitlines()
    what = "class" if inspect.isclass(obj) else "function"
    docstrings.simplest(
        types.SimpleNamespace(srcdir=folder), what, DRAWABLE[page], obj, None, lines
    )
    return lines[: lines.index("Examples")]


def test_whatever_can_be_drawn_has_a_picture():
    assert pictures.DRAWN.keys() <= DRAWABLE.keys()
    kinds = {
        page
        for page in DRAWABLE
        if inspect.isclass(object_of(page)) and hasattr(object_of(page), "plot")
    }
    drawn = {
        page for page in kinds if "Examples\n" in inspect.getdoc(object_of(page))
    }  # others at their function
    assert len(drawn) >= 10 and drawn <= pictures.DRAWN.keys()


#: One page for every kind of picture; the build of the site draws all.
KINDS = {
    kind: page for page, kind in reversed(pictures.DRAWN.items()) if kind != pictures.SOLVED
}.values()


@pytest.mark.parametrize("page", list(KINDS))
def test_pages_begin_with_the_simplest_call_and_its_picture(page, tmp_path):
    lines = shown(page, tmp_path)
    (place,) = [i for i, line in enumerate(lines) if line == f">>> {pictures.DRAWN[page][0]}"]
    assert lines[2].startswith(">>>") and "" not in lines[2 : place + 1]
    assert lines[place + 2] == f".. image:: /api/pictures/{page}.png"
    file = tmp_path / "api" / "pictures" / f"{page}.png"
    assert 2_000 < file.stat().st_size < 60_000
    with Image.open(file) as image:
        width, height = image.size
    assert width == 720 and 300 < height < 600


def test_pages_without_a_picture_begin_with_their_simplest_call(tmp_path):
    lines = shown("equivalence_test", tmp_path)
    assert (
        lines[2].startswith(">>>")
        and not any("image::" in line for line in lines)
        and not any(tmp_path.iterdir())
    )


def test_an_example_that_returns_something_else_fails(monkeypatch, tmp_path):
    monkeypatch.setitem(pictures.DRAWN, "two_sample_test", ("other.plot()", "nothing"))
    with pytest.raises(NameError, match="other"):
        shown("two_sample_test", tmp_path)
