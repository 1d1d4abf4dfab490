"""Equivalence tests in power studies and sample sizes: power where nothing differs, level at the design."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from shrinktest import equivalence_test, power_study, solve_sample_size
from shrinktest.power.designs import FromFunction, Linear, MeanShift
from shrinktest.power.equivalence import Alike, as_equivalence

SHIFT = MeanShift(dimension=1, shift=1.0)
OPTIONS = {"margin": 0.15, "measure": "distance", "bandwidth": 1.0}  # 1 - exp(-1 / 6) is the distance of the design
QUICK = {"n_trials": 100, "workers": 1, "rng": 0}


def test_a_design_and_its_twin_change_places():
    twin = Alike(SHIFT)
    for one, other in ((twin, SHIFT.null()), (twin.null(), SHIFT)):
        for x, y in zip(one.sample(3, 9), other.sample(3, 9), strict=True):
            np.testing.assert_array_equal(x, y)
    assert (twin.test, twin.ratio, twin.smallest()) == ("two-sample", 1.0, 5)


def test_sample_size_of_an_equivalence_test():
    found = solve_sample_size(SHIFT, test="equivalence", test_options=OPTIONS, **QUICK)
    test = {"equivalence": partial(equivalence_test, workers=1, **OPTIONS)}
    study = power_study(Alike(SHIFT), test, [found.n], n_trials=300, workers=1, progress=False)
    row = study.table.iloc[0]
    assert row["low"] - 0.1 < 0.8 < row["high"] + 0.1 and study.size_table.iloc[0]["low"] <= 0.05
    said = " ".join(found.summary().split())
    assert "the equivalence test shows that the difference (distance) is below the margin 0.15 where" in said
    wider = {**OPTIONS, "margin": 0.3}
    assert solve_sample_size(SHIFT, test="equivalence", test_options=wider, largest=400, **QUICK).n < found.n
    options = {"margin": 0.2, "measure": "dependence"}
    found = solve_sample_size(Linear(noise=1.0), test="equivalence", test_options=options, **QUICK)
    assert "shows that the dependence (dependence) is below the margin 0.2" in " ".join(found.summary().split())


def before_and_after(rng, n):
    before = rng.normal(scale=3.0, size=n)
    return before, before + rng.normal(size=n)


def test_the_test_gets_the_pairs_and_groups_of_a_design():
    design, options = FromFunction(before_and_after, restriction=lambda n, m: {"paired": True}), {**OPTIONS}
    test, data = as_equivalence(options, design, 0.05), design.sample(3, 20)
    told = equivalence_test(*data, paired=True, rng=np.random.default_rng(1), **options).pvalue
    assert test.pvalue(data, np.random.default_rng(1), 99) == told
    other = as_equivalence({**options, "paired": False}, design, 0.05)
    assert other.pvalue(data, np.random.default_rng(1), 99) != told
    groups = FromFunction(
        before_and_after, restriction=lambda n, m: {"groups": (np.arange(n) // 2, n + np.arange(m) // 2)}
    )
    assert Alike(groups).smallest() == 9  # five groups, the last of one row


@pytest.mark.parametrize(
    ("options", "more", "said"),
    [
        ({}, {}, "measure must be one of"),
        ({"measure": "auc", "margin": 0.2}, {}, "give a number from 0.5 to 1"),
        ({"margn": 0.2}, {}, "a key of test_options, for test='equi"),
        ({**OPTIONS, "measure": "dependence"}, {}, "is for data of an independence test"),
        (OPTIONS, {"estimator": "fkmse"}, "estimator= is not for test="),
        (OPTIONS, {"alpha": 0.5}, "alpha must lie below .5"),
    ],
)
def test_what_it_refuses(options, more, said):
    with pytest.raises(ValueError, match=said):
        solve_sample_size(SHIFT, test="equivalence", test_options=options, **more)
