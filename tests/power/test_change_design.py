"""Series that change, as designs of power studies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from shrinktest.power import AnyTest, power_study, solve_sample_size
from shrinktest.power.designs import Changed, Design, MeanShift, Relabelled, ScaleChange


def test_rows_come_from_both_samples_in_their_place():
    (x,) = Changed(MeanShift(dimension=1, shift=50.0), at=0.3, until=0.6).sample(0, 20)
    assert np.flatnonzero(x[:, 0] > 25.0).tolist() == [6, 7, 8, 9, 10, 11]
    assert Changed(at=0.01).places(20) == (2, 20)


def test_the_twin_has_no_change():
    design = Changed(ScaleChange(scale=2.0))
    assert design.null() == Changed(ScaleChange(scale=1.0)) and design.null().null() == design.null()
    assert Changed(until=0.8).options() == {"change": "epidemic"} and Changed().options() == {}
    assert eval(repr(design)) == design


def test_a_study_of_change_points_beside_a_test_of_ones_own():
    def halves(x, rng):
        return float(rng.uniform())

    found = power_study(
        Changed(MeanShift(dimension=1, shift=3.0)),
        {"kme": "kme", "auto": "auto", "nothing": AnyTest(halves)},
        24,
        n_trials=6,
        n_resamples=39,
        workers=1,
        progress=False,
        test_options={"confidence": None},
    )
    table = found.table.set_index("estimator")["power"]
    assert table["kme"] == 1.0 and table["nothing"] < 1.0


@dataclass(frozen=True, repr=False)
class Stairs(Design):
    test = "change-point"
    neutral: ClassVar = {"step": 0.0}
    step: float = 4.0

    def draw(self, rng, n, m):
        return (np.where(np.arange(n) < n // 2, 0.0, self.step) + rng.normal(size=n),)


def test_rows_change_places_where_nothing_says_what_is_neutral():
    (x,) = Relabelled(Changed(MeanShift(dimension=1, shift=50.0))).sample(0, 100)
    high = np.flatnonzero(x[:, 0] > 25.0)
    assert high.size == 50 and high[0] < 10


def test_designs_of_ones_own():
    found = power_study(Stairs(), "kme", 20, n_trials=3, n_resamples=39, workers=1, progress=False)
    assert found.table["power"][0] == 1.0


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"design": "mean-shift"}, TypeError, "two samples"),
        ({"at": 0.5, "until": 0.4}, ValueError, "above at"),
        ({"at": 1.0}, ValueError, "at must be"),
    ],
)
def test_what_cannot_be(given, error, message):
    with pytest.raises(error, match=message):
        Changed(**given)


def test_no_ratio_of_one_series():
    with pytest.raises(ValueError, match="one series"):
        solve_sample_size(Changed(), ratio=2.0)
