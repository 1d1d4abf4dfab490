"""Methods of a combined test: they answer for the member that decided, and say so."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

from shrinktest import Gaussian, independence_test, two_sample_test

RNG = np.random.default_rng(3)
X, Y = RNG.normal(size=(30, 2)), RNG.normal((0.9, 0.0), size=(25, 2))
FEW = {"n_resamples": 99, "rng": 0, "workers": 1}
COMBINED = {
    "estimators": {"estimator": ["kme", "fkmse"]},
    "bandwidths": {"bandwidth": ["median", "0.5 * median"]},
    "auto": {"estimator": "auto"},
}


@pytest.mark.parametrize("name", COMBINED)
def test_questions_are_answered_by_the_member_that_decided(name):
    result = two_sample_test(X, Y, **COMBINED[name], **FEW)
    best, label = result.best, repr(result).split(f"member {result.decided}: ")[1].removesuffix(")")
    assert best.pvalue == result.members[result.decided].pvalue
    np.testing.assert_array_equal(result.witness(X), best.witness(X))
    band, own = result.witness_band(X), best.witness_band(X)
    np.testing.assert_allclose(band.values, result.witness(X), rtol=1e-9)
    np.testing.assert_array_equal(band.half_width, own.half_width)
    assert label in band.notes[0] and label in " ".join(band.summary().split()) and own.notes == ()
    contributions = result.contributions(n_repeats=2)
    assert contributions.attrs["member"] == label and contributions.equals(best.contributions(n_repeats=2))
    assert label.split(",")[0] in result.plot_witness(grid=5).get_title()
    decided = [line for line in result.summary().splitlines() if line.rstrip().endswith("decided")]
    assert len(decided) == 1 and best.kernel.label in decided[0]


def test_a_member_is_the_test_of_its_statistic():
    alone = two_sample_test(X, Y, estimator="kme", bandwidth=1.5, **FEW)
    result = two_sample_test(X, Y, kernel=[Gaussian(1.5), Gaussian(1.5e6)], **FEW)
    result = replace(result, decided=0)
    np.testing.assert_array_equal(result.witness_band(X).half_width, alone.witness_band(X).half_width)


def test_pickles_have_the_data_on_request():
    result = two_sample_test(X, Y, **COMBINED["estimators"], **FEW)
    complete, bare = (pickle.loads(pickle.dumps(each)) for each in (result.with_data(), result))
    assert result == complete == bare
    np.testing.assert_allclose(complete.witness_band(X).values, result.witness(X), rtol=1e-9)
    np.testing.assert_array_equal(bare.witness(X), result.witness(X))
    with pytest.raises(ValueError, match="pickled without its data"):
        bare.witness_band(X)


def test_two_variables_have_no_witness():
    result = independence_test(X[:, 0], X[:, 1], estimator=["kme", "skmse"], **FEW)
    for ask in (result.witness_band, result.contributions, result.plot_witness):
        with pytest.raises(AttributeError, match="an independence test has none"):
            ask()
    missing = two_sample_test([1.0, np.nan], [2.0, 3.0], estimator=["kme", "skmse"], nan_policy="propagate")
    with pytest.raises(ValueError, match="missing values"):
        missing.witness_band()
