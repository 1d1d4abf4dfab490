"""Parts of the studies of designs with several factors: shortcuts to the test, and tests of other packages."""

from __future__ import annotations

import _factor_rivals
import _factors
import numpy as np
import pandas as pd
import pytest
from statsmodels.formula.api import ols
from statsmodels.multivariate.manova import MANOVA
from statsmodels.stats.anova import anova_lm
from statsmodels.stats.multitest import multipletests

from shrinktest import Linear, factor_test

DESIGNS = {
    "numbers": _factors.TwoWay(cells=(4, 6, 8, 5), shift_a=0.5, formula="a * b"),
    "covariate": _factors.Covariate(n=20, slope=0.5, formula="a + x"),
    "visits": _factors.Visits(patients=8, shift_treatment=1.0, missing="at random"),
    "sites": _factors.Visits(patients=18, sites=3, shift_time=1.0),
    "mixed": _factors.Mixed(shift_a=0.5),
    "distances": _factors.Counts(shift_b=1.0),
}


@pytest.mark.parametrize("name", DESIGNS)
@_factors.quiet
def test_tests_of_a_study_are_those_of_the_package(name):
    """Also for the second data set, which shares what was read from the first."""
    tested = _factors.Tested(DESIGNS[name])
    rng = np.random.default_rng(0)
    tested.draw(rng)
    state = rng.bit_generator.state
    tested.draw(rng)
    rng.bit_generator.state = state
    table = tested.table
    if tested.design.drawn or not tested.design.fixed:
        table = tested.design.table(rng)
    response = tested.design.response(rng, table)
    first = next(iter(tested.plans))
    result = factor_test(
        tested.design.formula,
        table,
        response=response,
        groups=tested.design.groups,
        blocks=tested.design.blocks,
        n_resamples=19,
        rng=1,
        workers=1,
    )
    pvalue = tested.pvalue(first, "given", "robust", np.random.default_rng(1), 19)
    assert pvalue == result[first].pvalue
    assert tested.plans[first].permuted == result[first].term.permuted


def test_shares_are_those_of_the_package():
    tested = _factors.Tested(DESIGNS["numbers"])
    rng = np.random.default_rng(0)
    tested.draw(rng)
    ours = tested.share("a", Linear(), rng)
    result = factor_test(
        "a * b", tested.table, response=tested.points(), kernel="linear", n_resamples=0, workers=1
    )
    known = result["a"].term.share
    assert (ours.omega2, ours.error) == pytest.approx((known.omega2, known.error))


def test_holm():
    pvalues = [0.01, 0.04, 0.03, 0.005, 0.9]
    assert _factors.holm(pvalues) == pytest.approx(multipletests(pvalues, method="holm")[1])


@pytest.fixture
def drawn():
    """Return a table with columns y0, y1 and the bases of a in the model of two factors."""
    tested = _factors.Tested(_factors.TwoWay(cells=(4, 6, 8, 5), shift_a=0.5, columns=2))
    tested.draw(np.random.default_rng(0))
    points = tested.points()
    table = tested.table.assign(y0=points[:, 0], y1=points[:, 1])
    return table, points, tested


def test_columns_have_the_f_test_of_statsmodels(drawn):
    table, points, tested = drawn
    known = [
        anova_lm(ols(f"y{j} ~ a * b", table).fit(), typ=2).loc["a", "PR(>F)"] for j in range(2)
    ]
    part = tested.part("a", typ=2)
    assert _factor_rivals.column_pvalues(points, part) == pytest.approx(known)


def test_pillai_is_that_of_statsmodels(drawn):
    table, points, tested = drawn
    fitted = MANOVA.from_formula("y0 + y1 ~ a * b", table).mv_test()
    known = fitted.results["a:b"]["stat"].loc["Pillai's trace", "Pr > F"]
    part = tested.part("a:b", typ=2)
    assert _factor_rivals.pillai(points, part, None, 0) == pytest.approx(known)


def test_aligned_ranks_ignore_the_other_factor(drawn):
    _, points, tested = drawn
    part = tested.part("a", typ=2)
    shifted = points + 50.0 * (tested.table["b_code"].to_numpy() == 1)[:, None]
    pvalues = [_factor_rivals.aligned_ranks(y, part, None, 0) for y in (points, shifted)]
    assert pvalues[0] == pytest.approx(pvalues[1])


def test_free_rows_compare_with_f_of_every_order(drawn):
    """F of moved rows, by fitting anew."""
    _, points, tested = drawn
    part = tested.part("a", typ=1)
    n = len(points)

    def f(y):
        y = y - y.mean(axis=0)
        explained = np.square(part.added.T @ y).sum()
        return explained / np.square(y - part.model @ (part.model.T @ y)).sum()

    rng = np.random.default_rng(3)
    orders = rng.permuted(np.tile(np.arange(n), (19, 1)), axis=1)
    values = np.array([f(points), *(f(points[np.argsort(order)]) for order in orders)])
    known = (values >= values[0] - 1e-12).mean()
    gram = points @ points.T
    assert _factors.free_rows(gram, part, np.random.default_rng(3), 19) == pytest.approx(known)


def test_the_truncated_statistic_is_near_its_level():
    """With many rows and few directions, chi-square holds."""
    tested = _factors.Tested(_factors.TwoWay(cells=(30,) * 4))
    test = _factor_rivals.hotelling_lawley(2)
    rejected = 0
    for trial in range(60):
        rng = np.random.default_rng(trial)
        tested.draw(rng)
        rejected += test(tested.points(), tested.part("a", typ=2), rng, 0) <= 0.05
    assert rejected <= 10


@pytest.mark.parametrize("name", DESIGNS)
def test_tables_have_the_rows_of_their_design(name):
    design = DESIGNS[name]
    table = design.table(np.random.default_rng(0))
    response = design.response(np.random.default_rng(1), table)
    again = design.response(np.random.default_rng(1), table)
    size = len(getattr(response, "gram", response))
    assert size == len(table)
    if isinstance(response, pd.DataFrame | np.ndarray):
        assert np.array_equal(response, again)
