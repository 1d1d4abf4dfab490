"""Equivalence tests in power studies and sample sizes: power where nothing differs, level at the design."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from shrinktest import equivalence_test, power_study, solve_sample_size
from shrinktest.power.designs import FromFunction, Linear, MeanShift
from shrinktest.power.equivalence import Alike, as_equivalence

SHIFT = MeanShift(dimension=1, shift=1.0)
OPTIONS = {"margin": 0.15, "scale": "distance", "bandwidth": 1.0}  # 1 - exp(-1 / 6) is the distance of the design
QUICK = {"n_trials": 100, "workers": 1, "rng": 0}


def test_a_design_and_its_twin_change_places():
    twin = Alike(SHIFT)
    for one, other in ((twin, SHIFT.null()), (twin.null(), SHIFT)):
        for x, y in zip(one.sample(3, 9), other.sample(3, 9), strict=True):
            np.testing.assert_array_equal(x, y)
    assert (twin.test, twin.ratio, twin.smallest()) == ("two-sample", 1.0, 5)
    assert Alike(MeanShift(ratio=2.0)).ratio == 2.0 and repr(twin) == f"Alike(design={SHIFT!r})"


def test_sample_size_of_an_equivalence_test():
    found = solve_sample_size(SHIFT, test="equivalence", test_options=OPTIONS, **QUICK)
    study = power_study(
        Alike(SHIFT), {"equivalence": partial(equivalence_test, workers=1, **OPTIONS)}, [found.n], n_trials=300,
        workers=1, progress=False,
    )  # fmt: skip
    row = study.table.iloc[0]
    assert row["low"] - 0.1 < 0.8 < row["high"] + 0.1
    level = study.size_table.iloc[0]
    assert level["low"] <= 0.05
    assert found.estimator == "equivalence" and found.check["power"].iloc[-1] < 0.2
    said = " ".join(found.summary().split())
    assert "the equivalence test shows that the difference (scale 'distance') is below the margin 0.15 where" in said
    assert "where there is none, at level 0.05" in said and f"in data of {SHIFT!r} in" in said
    assert "nothing to find" not in said


def test_smaller_margins_need_more_observations():
    sizes = [
        solve_sample_size(SHIFT, test="equivalence", test_options={**OPTIONS, "margin": margin}, largest=400, **QUICK).n
        for margin in (0.3, 0.1)
    ]
    assert sizes[1] > sizes[0] >= 5


def test_a_design_of_pairs():
    options = {"margin": 0.2, "scale": "dependence"}
    found = solve_sample_size(Linear(noise=1.0), test="equivalence", test_options=options, **QUICK)
    assert "shows that the dependence is below the margin 0.2" in " ".join(found.summary().split())


def before_and_after(rng, n):
    before = rng.normal(scale=3.0, size=n)
    return before, before + rng.normal(size=n)


def pairs(n, m):
    return {"paired": True}


def test_what_a_design_says_belongs_together_is_told_to_the_test():
    """Pairs that have much in common need a fraction of the observations of two samples."""
    design, options = FromFunction(before_and_after, restriction=pairs), {"margin": 0.1, "scale": "distance"}
    found = solve_sample_size(design, test="equivalence", test_options=options, **QUICK)
    apart = solve_sample_size(FromFunction(before_and_after), test="equivalence", test_options=options, **QUICK)
    assert found.n < 0.7 * apart.n
    one, data = as_equivalence(options, design, 0.05), design.sample(3, 20)
    told = equivalence_test(*data, paired=True, rng=np.random.default_rng(1), **options).pvalue
    assert one.pvalue(data, np.random.default_rng(1), 99) == told
    other = as_equivalence({**options, "paired": False}, design, 0.05)
    assert other.pvalue(data, np.random.default_rng(1), 99) != told


def families(n, m):
    return {"groups": (np.arange(n) // 2, n + np.arange(m) // 2)}


def test_sizes_of_a_design_with_groups_begin_where_there_are_enough_groups():
    design = FromFunction(before_and_after, restriction=families)
    assert Alike(design).smallest() == 9  # five groups, the last of one row
    found = solve_sample_size(design, test="equivalence", test_options={"margin": 0.3, "scale": "distance"}, **QUICK)
    assert found.n >= 9


@pytest.mark.parametrize(
    ("design", "given", "said"),
    [
        (SHIFT, {"test": "equivalence"}, "scale says on which scale"),
        (SHIFT, {"test": "equivalence", "test_options": {"scale": "auc"}}, "margin says how large"),
        (SHIFT, {"test": "equivalence", "test_options": {"scale": "auc", "margin": 0.2}}, "between .5 and 1"),
        (SHIFT, {"test": "equivalence", "test_options": {"margn": 0.2}}, "a key of test_options, for test='equi"),
        (SHIFT, {"test": "equivalence", "test_options": {**OPTIONS, "scale": "dependence"}}, "is for data of an indep"),
        (SHIFT, {"test": "equivalence", "test_options": OPTIONS, "estimator": "fkmse"}, "estimator= is not for test="),
        (SHIFT, {"test": "equivalence", "test_options": OPTIONS, "alpha": 0.5}, "alpha must lie below .5"),
        (SHIFT, {"test": "same"}, "test must be one of 'equivalence'"),
    ],
)
def test_what_it_refuses(design, given, said):
    with pytest.raises(ValueError, match=said):
        solve_sample_size(design, **given)
