"""What results say in articles: paragraphs and references."""

from __future__ import annotations

import math
import re

import numpy as np
import pandas as pd
import pytest
from test_base import MADE, result_of

import shrinktest
from shrinktest import (
    Batches,
    Energy,
    Gaussian,
    change_point_test,
    closer_test,
    compare,
    equivalence_test,
    factor_test,
    goodness_of_fit_test,
    independence_test,
    k_sample_test,
    permutation_test,
    symmetry_test,
    two_sample_test,
    two_sample_test_columns,
)
from shrinktest.estimators import ESTIMATORS
from shrinktest.kernels.base import Kernel
from shrinktest.permutations.stopping import BesagClifford
from shrinktest.results.adjustments import ADJUSTMENTS
from shrinktest.results.info import KINDS, METHOD_SOURCES
from shrinktest.results.multiple_tests_result import MultipleTestsResult
from shrinktest.results.pairwise_result import PairwiseResult
from shrinktest.results.paragraph import sources_of
from shrinktest.results.printing import number, shown_pvalue
from shrinktest.results.references import Reference, bibliography

RNG = np.random.default_rng(3)
X, Y = RNG.normal(size=(24, 2)), RNG.normal((0.9, 0.0), size=(30, 2))
FEW = {"n_resamples": 99, "rng": 0, "workers": 1}

#: Results that are parts of others, or no tests.
NO_PARAGRAPH = {
    *("effect", "effect of several", "effect of dependence"),
    *("band", "risk", "path"),
}


def sentences(text):
    return re.split(r"(?<=\.)\s(?=[A-Z0-9])", text)


# --- paragraphs -------------------------------------------------------------------------------------


def test_results_of_tests_have_a_paragraph():
    without = {name for name in MADE if not hasattr(result_of(name), "paragraph")}
    assert without == NO_PARAGRAPH


@pytest.fixture(scope="module", params=sorted(set(MADE) - NO_PARAGRAPH))
def made(request):
    return result_of(request.param)


def test_a_paragraph_is_two_to_four_sentences_without_gaps(made):
    text = made.paragraph()
    assert 2 <= len(sentences(text)) <= 4, sentences(text)
    assert text == " ".join(text.split()) and text.endswith(".")
    assert not re.search(r"None|nan\b|[{}]|\(;|; ?\)|\[\]|,,|\.\.| [,;:)]| \.(?!\d)", text)
    for opening, closing in ("()", "[]"):
        assert text.count(opening) == text.count(closing)
    assert f"Software: shrinktest {shrinktest.__version__}, " in sentences(text)[-1]


def test_a_paragraph_has_statistic_pvalue_and_permutations(made):
    text = made.paragraph()
    parts = getattr(made, "tests", (made,)) if type(made).__name__ == "FactorResult" else (made,)
    for part in parts:
        part = getattr(part, "overall", part)
        pvalue = getattr(part, "pvalue", None)
        if isinstance(pvalue, float) and not math.isnan(pvalue):
            assert f"p = {shown_pvalue(pvalue)}" in text
        if isinstance(part.__dict__.get("statistic", getattr(part, "statistic", None)), float):
            value = part.statistic
            assert math.isnan(value) or number(value) in text
        if count := getattr(part, "n_resamples", 0):
            assert f" {count} " in f" {text} ".replace("(", " ")


def test_papers_in_a_paragraph_are_among_the_references(made):
    known = {entry.cited for entry in made.references}
    text = made.paragraph()
    for group in re.findall(r"\[([^\[\]]*\d{4}[^\[\]]*)\]", text):
        cites = group.split("; ")
        if all(re.fullmatch(r"[A-ZŠ][\w .-]+, \d{4}", cite) for cite in cites):
            assert set(cites) <= known


def test_units_that_change_places_are_named():
    labels = np.arange(24) // 4
    by_block = two_sample_test(X, X[::-1] + 1.0, blocks=(labels, labels), **FEW)
    assert "99 random permutations of rows within 6 blocks)" in by_block.paragraph()
    by_group = two_sample_test(X, X + 1.0, groups=(labels, labels + 9), **FEW)
    assert "99 random permutations of 12 whole groups)" in by_group.paragraph()
    paired = two_sample_test(X, X[::-1], paired=True, **FEW)
    assert "99 random permutations of rows within 24 pairs)" in paired.paragraph()
    shifted = independence_test(X[:, 0], X[:, 1], block_length="whole", rng=0)
    assert "all 24 circular shifts)" in shifted.paragraph()
    assert "99 random changes of the signs of rows)" in symmetry_test(X, **FEW).paragraph()
    every = two_sample_test(X[:4], Y[:4], workers=1).paragraph()
    assert "all 35 permutations of rows)" in every
    early = two_sample_test(X, X[::-1], stopping="besag-clifford", **FEW).paragraph()
    assert "permutations of rows, of at most 99; early stopping by BesagClifford(h=20)" in early


def test_an_assumption_and_an_approximation_are_named():
    given = independence_test(X[:, 0], X[:, 1], given=X[:, 0] + X[:, 1], **FEW).paragraph()
    assert "; the p-value is approximately valid if kernel ridge regressions capture" in given
    assert "method: signs of residual products [Shah and Peters, 2020]; 99 random changes" in given
    ages = (X[:, :1], Y[:, :1])
    text = two_sample_test(X[:, 1], Y[:, 1], covariates=ages, **FEW).paragraph()
    assert "values and sample (X, n = 24, or Y, n = 30) given covariates" in text
    chances = {"covariate_method": "propensity", "propensity": np.full(54, 0.5)}
    drawn = two_sample_test(X[:, 1], Y[:, 1], covariates=ages, **chances, **FEW).paragraph()
    assert "[Rosenbaum, 1984]; 99 random draws of labels by the model)" in drawn
    table = TABLE.assign(age=X[:, 1])
    result = factor_test("arm * age", table, response="pain", **FEW)
    assert "rows of the residualized predictor, which is approximate" in result.paragraph()
    drawn = goodness_of_fit_test(X, normal, n_simulations=39, rng=0).paragraph()
    assert "; 39 data sets from the model)" in drawn


def test_a_bandwidth_is_named_with_its_rule():
    half = two_sample_test(X, Y, bandwidth="0.5 * median", **FEW)
    shown = f"bandwidth {half.bandwidth:.4g}, 0.5 times the median distance;"
    assert f"Gaussian kernel with {shown}" in half.paragraph()
    assert (
        "Gaussian kernel with bandwidth 2;"
        in two_sample_test(X, Y, bandwidth=2.0, **FEW).paragraph()
    )
    assert "Linear kernel;" in two_sample_test(X, Y, kernel="linear", **FEW).paragraph()


def test_the_effect_is_that_of_the_result_and_can_be_left_out():
    result = two_sample_test(X, Y, **FEW)
    effect = result.effect()
    text = result.paragraph(effect=effect)
    assert text == result.paragraph() and effect.reported() in text.replace("The AUC", "the AUC")
    assert "AUC" not in result.paragraph(effect=False)
    assert len(sentences(result.paragraph(effect=False))) == 3
    batches = two_sample_test(Batches([X]), Batches([Y]), gram="rff", **FEW)
    assert "MMD²" in batches.paragraph()


def test_the_seed_is_what_repeats_the_test():
    generator = np.random.default_rng(5)
    assert two_sample_test(X, Y, n_resamples=39, rng=generator).paragraph().endswith("seed 5.")
    used = two_sample_test(X, Y, n_resamples=39, rng=generator).paragraph()
    assert used.endswith("a generator with seed 5, used before.")
    fresh = two_sample_test(X, Y, n_resamples=39)
    seed = int(re.search(r"seed (\d+)\.$", fresh.paragraph())[1])
    assert two_sample_test(X, Y, n_resamples=39, rng=seed) == fresh


# --- references -------------------------------------------------------------------------------------


def test_every_key_is_in_the_bibliography():
    def below(kind):
        return {kind}.union(*map(below, kind.__subclasses__()))

    keys = {key for kind in KINDS.values() for key in kind.sources}
    keys |= {key for sources in METHOD_SOURCES.values() for key in sources}
    keys |= {key for method in ADJUSTMENTS.values() for key in method.sources}
    keys |= {key for estimator in ESTIMATORS.values() for key in estimator.sources}
    keys |= {key for kernel in below(Kernel) for key in kernel.sources}
    keys |= {key for name in MADE for key in result_of(name)._sources()}
    assert keys <= set(bibliography()) and len(keys) > 25


def test_every_method_of_adjustment_has_its_paper():
    assert set(ADJUSTMENTS) == {*MultipleTestsResult.methods, *PairwiseResult.methods}


@pytest.mark.parametrize("name", sorted(set(MADE) - {"path"}))  # its references are estimators
def test_references_are_text_and_bibtex(name):
    references = result_of(name).references
    assert references.keys[0] == "shrinktest" and len(set(references.keys)) == len(references)
    assert (
        len(references.text.splitlines()) == len(references) == references.bibtex.count("\n@") + 1
    )
    assert references.bibtex.count("{") == references.bibtex.count("}")
    assert str(references) == repr(references) == references.text
    assert not re.search(r"[{}]|  |None|--", references.text)


@pytest.mark.parametrize("key", sorted(bibliography()))
def test_an_entry_reads_well(key):
    entry = bibliography()[key]
    assert re.match(rf"@\w+{{{key},\n", entry.bibtex) and entry.bibtex.endswith("\n}")
    assert entry.address.startswith("https://") and entry.text.endswith(entry.address)
    assert f"({entry['year']}). {entry['title']}".replace("--", "–") in entry.words
    assert re.fullmatch(r"\D+, \d{4}", entry.cited)


def test_names_are_shortened_as_usual():
    def cited(author):
        return Reference("A", f"@misc{{A,\n  author = {{{author}}},\n  year = {{2001}},\n}}").cited

    assert cited("ter Braak, Cajo J. F.") == "ter Braak, 2001"
    assert cited("Westfall, Peter and Young, Stanley") == "Westfall and Young, 2001"
    assert cited("A, B. and C, D. and E, F.") == "A et al., 2001"


@pytest.mark.parametrize(
    ("made", "more"),
    [
        (lambda: two_sample_test(X, Y, estimator="fkmse", **FEW), {"G12", "M14", "PS10"}),
        (lambda: two_sample_test(X[:4], Y[:4]), {"G12"}),  # all permutations
        (lambda: two_sample_test(X, Y, kernel="energy", **FEW), {"G12", "SSGF13", "PS10"}),
        (
            lambda: two_sample_test(X, Y, kernel=Energy() + Gaussian(), **FEW),
            {"G12", "SSGF13", "PS10"},
        ),
        (lambda: two_sample_test(X, Y, gram="rff", **FEW), {"G12", "RR07", "PS10"}),
        (lambda: two_sample_test(X, Y, stopping=BesagClifford(), **FEW), {"G12", "BC91"}),
        (
            lambda: independence_test(X, X**2, estimator="mkme", **FEW),
            {"G05", "G07", "X20", "PS10"},
        ),
        (
            lambda: independence_test(X, X**2, form="unbiased", **FEW),
            {"G05", "G07", "Song12", "PS10"},
        ),
        (
            lambda: two_sample_test_columns(X, Y, method="fdr_bh", **FEW),
            {"G12", "BH95", "PS10"},
        ),
        (lambda: permutation_test(lambda row: float(row[0]), 24, n_resamples=99), {"PS10"}),
    ],
)
def test_references_are_what_the_call_used(made, more):
    assert set(made().references.keys) == {"shrinktest", *more}


@pytest.mark.parametrize(
    ("made", "more"),
    [
        (lambda: two_sample_test(X, Y, bandwidth="grid", **FEW), {"G12", "S23"}),
        (lambda: two_sample_test(X, Y, bandwidth=["median", 2.0], **FEW), {"G12", "S23"}),
        (
            lambda: two_sample_test(X, Y, kernel=["gaussian", "energy"], **FEW),
            {"G12", "SSGF13"},
        ),
        (lambda: two_sample_test(X, Y, estimator=["kme", "fkmse"], **FEW), {"G12", "M14"}),
        (lambda: change_point_test(X, bandwidth="grid", **FEW), {"SC24", "S23"}),
        (
            lambda: independence_test(X, X**2, bandwidth_y="grid", **FEW),
            {"G05", "G07", "A22", "S23"},
        ),
        (
            lambda: independence_test(X, 9.0 * X**2, estimator=["kme", "fkmse"], **FEW),
            {"G05", "G07", "M14"},
        ),
    ],
)
def test_results_of_several_bandwidths_cite_who_combined_them(made, more):
    result = made()
    assert set(result.references.keys) == {"shrinktest", "PS10", "WY93", *more}
    several = " with several bandwidths ["
    assert (several in result.paragraph(effect=False)) == ("S23" in more)


def test_a_kernel_of_a_user_may_cite_what_is_listed():
    class Own(Gaussian):
        sources = ("M16", "no such key")

    assert list(sources_of(Own())) == ["M16", "no such key"]
    assert two_sample_test(X, Y, kernel=Own(), **FEW).references.keys[2] == "M16"


# --- as one types it --------------------------------------------------------------------------------


def normal(rng, n):
    return rng.normal(size=(n, 2))


TABLE = pd.DataFrame({"arm": ["a", "b"] * 12, "site": list("xxyyzz") * 4, "pain": X[:, 0]})
TYPED = {
    "two samples": lambda: two_sample_test(X, Y),
    "several samples": lambda: k_sample_test(X, Y, X + 1.0),
    "pairs": lambda: k_sample_test(X, Y, X + 1.0).pairwise(),
    "columns": lambda: two_sample_test_columns(X, Y),
    "independence": lambda: independence_test(X, X**2),
    "given": lambda: independence_test(X[:, 0], X[:, 1], given=Y[:24]),
    "change": lambda: change_point_test(X),
    "symmetry": lambda: symmetry_test(X),
    "equivalence": lambda: equivalence_test(X, Y, margin=0.2, measure="distance"),
    "closer": lambda: closer_test(X, Y, X + 1.0),
    "model": lambda: goodness_of_fit_test(X, normal),
    "factors": lambda: factor_test("arm + site", TABLE, response="pain"),
    "factor": lambda: factor_test("arm + site", TABLE, response="pain")["arm"],
    "levels": lambda: factor_test("arm + site", TABLE, response="pain").pairwise("site"),
    "tables": lambda: compare(X, Y, estimator="kme"),
    "own": lambda: permutation_test(lambda labels: abs(X[:, 0] @ (labels - 0.5)), (12, 12)),
}


@pytest.mark.parametrize("name", TYPED)
def test_one_call_gives_a_paragraph_and_its_papers(name):
    result = TYPED[name]()
    text = result.paragraph()
    assert 2 <= len(sentences(text)) <= 4 and "Software: shrinktest" in text and "p = " in text
    assert result.references.bibtex.startswith("@misc{shrinktest,")


# --- tables -----------------------------------------------------------------------------------------

#: What LaTeX writes in place of signs, by sign.
SIGNS = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    **{
        "→": r"$\to$",
        "≤": r"$\leq$",
        "≠": r"$\neq$",
        "×": r"$\times$",
        "²": r"\textsuperscript{2}",
    },
    **{"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "–": "--"},
}


def in_latex(cell):
    return "".join(SIGNS.get(sign, sign) for sign in cell)


@pytest.fixture(scope="module", params=MADE)
def any_result(request):
    return result_of(request.param)


def test_a_latex_table_has_the_cells_of_the_summary(any_result):
    table, text = any_result.printed(), any_result.to_latex()
    first, *rows, last = text.strip().splitlines()
    assert re.fullmatch(rf"\\begin{{tabular}}{{[lrc]{{{len(table.lines[0])}}}}}", first)
    assert last == r"\end{tabular}"
    rules = [row for row in rows if row.endswith("rule")]
    middle = [r"\midrule"] if table.headers else []
    assert rules == [r"\toprule", *middle, r"\bottomrule"]
    lines = [row.removesuffix(r" \\").split(" & ") for row in rows if row not in rules]
    places = [j for j, name in enumerate(table.headers) if name in ("p-value", "adjusted")]
    for line, row in zip(lines, table.lines, strict=True):
        for j, (cell, printed) in enumerate(zip(line, row, strict=True)):
            shown = in_latex(printed)
            known = {shown, f"{{}}{shown}"}
            if j in places or line[0] == "p-value":
                known |= {shown.replace("0.", ".", 1)}
            assert cell.strip() in {text.strip() for text in known}


def test_all_rows_of_many_tests_are_in_a_latex_table():
    result = two_sample_test_columns(*RNG.normal(size=(2, 12, 40)), n_resamples=39, rng=0)
    assert result.to_latex().count(r" \\") == 41
    assert str(result.summary()).count("\n x") < 40


def test_a_latex_table_floats_with_a_caption_and_is_written(tmp_path):
    table = TABLE.rename(columns={"arm": "arm_1"})
    result = factor_test("arm_1", table, response="pain", **FEW)
    text = result.to_latex(tmp_path / "table.tex", caption="Pain by arm_1", label="tab:pain")
    assert (tmp_path / "table.tex").read_text(encoding="utf-8") == text
    assert r"\caption{Pain by arm\_1}" in text and r"\label{tab:pain}" in text
    assert r"arm\_1 & 1 & ." in text and text.startswith(r"\begin{table}")


def cells(line):
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def test_markdown_has_whole_tables_and_all_notes(any_result):
    text = any_result.to_markdown()
    blocks = [block.splitlines() for block in text.split("\n\n")]
    tables = [block for block in blocks if block[0].startswith("|")]
    assert len(tables) == len(any_result.summary().tables)
    for table in tables:
        widths = {len(cells(line)) for line in table}
        assert len(widths) == 1 and all(re.fullmatch(r":?---:?", mark) for mark in cells(table[1]))
    notes = any_result.summary().notes
    numbered = re.findall(r"(?m)^\d+\. ", text.partition("<details>")[2])
    assert len(numbered) == len(notes)
    assert re.search(r"(?<!\\)<(?!/?(details|summary)>)", text) is None


def test_markdown_begins_with_the_answer(tmp_path):
    result = two_sample_test(X, Y, **FEW)
    text = result.to_markdown(tmp_path / "comment.md", effect=True)
    assert text.startswith("The null hypothesis of equal distributions was rejected at the .05 ")
    assert "| auc |" in text and (tmp_path / "comment.md").read_text(encoding="utf-8") == text
