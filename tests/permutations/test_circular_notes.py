"""Circular shifts of samples and series that are short for their memory: a note, and no interval of an effect."""

import numpy as np
import pytest

from shrinktest import Permutations, change_point_test, two_sample_test


def autoregressive(n, memory, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n) / np.sqrt(1.0 - memory**2)
    for i in range(1, n):
        x[i] = memory * x[i - 1] + rng.normal()
    return x


TESTS = {
    "two stretches": lambda x: two_sample_test(x[: len(x) // 2], x[len(x) // 2 :], shift="circular", rng=0),
    "change": lambda x: change_point_test(x, shift="circular", n_resamples=99, rng=0),
}


@pytest.mark.parametrize("test", TESTS.values(), ids=TESTS)
def test_short_series_have_a_note(test):
    said = [any("series is short" in note for note in test(autoregressive(*given)).notes) for given in ((60, 0.95),)]
    assert said == [True]
    assert not any("is short" in note for note in test(autoregressive(400, 0.3)).notes)


def test_effects_of_shifted_samples_have_no_interval():
    x = autoregressive(80, 0.8)
    shifted = two_sample_test(x[:40], x[40:], shift="circular", rng=0).effect()
    single = two_sample_test(x[:40], x[40:], rng=0).effect()
    assert (shifted.auc, shifted.distance) == (single.auc, single.distance)
    assert np.isnan([*shifted.auc_interval, *shifted.distance_interval]).all()
    assert np.isfinite([*single.auc_interval, *single.distance_interval]).all()
    assert shifted.notes == (
        "The observations follow each other in time: there is no interval, which would be too short.",
    )
    assert "no interval" in shifted.summary()


def test_intervals_beside_permutations_of_ones_own_say_what_they_take_for_independent():
    class Halves(Permutations):
        """Labels of samples whose rows stay in two halves; drawn at random."""

        size, distinct = 40, 2**20

        def draw(self, rng, rows):
            return np.array([rng.permutation(np.repeat([0, 1], 20)) for _ in range(rows)])

        def all(self):
            yield np.repeat([0, 1], 20)

    x = autoregressive(40, 0.2)
    found = two_sample_test(x[:20], x[20:], permutations=Halves(), n_resamples=99, rng=0).effect()
    assert any("whatever your permutations keep together" in note for note in found.notes)
