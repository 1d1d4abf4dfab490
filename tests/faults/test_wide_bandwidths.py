"""A bandwidth so wide that a difference cannot be seen is an error in the equivalence test, and a note elsewhere."""

import numpy as np
import pytest

from shrinktest import (
    Gaussian,
    Laplacian,
    change_point_test,
    closer_test,
    equivalence_test,
    independence_test,
    joint_independence_test,
    k_sample_test,
    two_sample_test,
)

rng = np.random.default_rng(0)
X, Y = rng.normal(size=(2, 60))
WIDE, PLANE = rng.normal(size=(2, 60, 3)), rng.normal(size=(2, 60, 2)) * [1.0, 100.0]
FEW = {"n_resamples": 39, "rng": 0}


@pytest.mark.parametrize(
    ("samples", "options"),
    [
        ((X, Y + 5.0), {"bandwidth": 1e6}),
        ((X, Y + 5.0), {"bandwidth": 1e9}),
        ((X, Y + 5.0), {"bandwidth": 100.0}),
        ((X, Y), {"bandwidth": "40 * median"}),
        ((X, Y), {"kernel": Laplacian(1e3)}),
        ((X, Y), {"kernel": Gaussian(1e3) + Gaussian(1e4)}),
        ((X, Y), {"bandwidth": 1e3, "scale": "rank"}),
        (WIDE, {"bandwidth": 1e3}),
        (PLANE, {"bandwidth": (1e3, 1e5), "scale": None}),
    ],
)
def test_no_equivalence_where_no_difference_could_be_seen(samples, options):
    with pytest.raises(ValueError, match=r"margin=0\.05 is beyond .*; give another margin or bandwidth"):
        equivalence_test(*samples, margin=0.05, measure="distance", **options)


def test_equivalence_with_bandwidths_that_see_the_margin():
    for width in ("median", 1.0, 5.0, 10.0):
        equivalence_test(X, Y, margin=0.05, measure="distance", bandwidth=width)
    assert not equivalence_test(X, Y + 5.0, margin=0.05, measure="distance").equivalent
    assert not equivalence_test(X, Y + 5.0, margin=0.6, measure="auc", bandwidth=1e6).equivalent  # has no unit
    equivalence_test(X, Y, margin="shift 0.5", measure="distance", bandwidth=1e3)  # the margin has the same kernel


@pytest.mark.parametrize("width", [200.0, 1e6])
def test_other_tests_have_a_note(width):
    tests = [
        lambda **k: two_sample_test(X, Y, **FEW, **k),
        lambda **k: k_sample_test(X, Y, X + Y, **FEW, **k),
        lambda bandwidth: independence_test(X, Y, bandwidth_x=bandwidth, **FEW),
        lambda **k: joint_independence_test(X, Y, X * Y, bandwidths=list(k.values()) * 3, **FEW),
        lambda **k: change_point_test(X, **FEW, **k),
        lambda **k: closer_test(X, Y, X + Y, **k),
        lambda **k: equivalence_test(X, Y, margin=0.6, measure="auc", **k),
        lambda **k: equivalence_test(X, X + Y, margin=0.9, measure="dependence", **k),
    ]
    for test in tests:
        notes = " ".join(test(bandwidth=width).notes)
        assert "so large that the kernel is nearly linear: it sees means and correlations only" in notes
        assert "so large" not in " ".join(test(bandwidth="median").notes)


def test_samples_in_other_units_have_the_note_for_the_same_ratio():
    for unit in (1e-3, 1.0, 1e4):
        for ratio, notes in ((200.0, 1), (10.0, 0)):
            found = two_sample_test(unit * X, unit * Y, bandwidth=unit * ratio, **FEW).notes
            assert sum("nearly linear" in note for note in found) == notes
