"""Power studies that stop early, and of designs whose relabellings are restricted."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import stats

from shrinktest import BesagClifford, Curtailed, two_sample_test
from shrinktest.power import designs, power_study, solve_sample_size
from shrinktest.power.designs import FromFunction, Relabelled

SHIFT = designs.MeanShift(dimension=2, shift=1.0)


def run(design=SHIFT, estimators=("kme", "skmse"), sizes=10, **options):
    given = {"alphas": (0.05, 0.2), "n_trials": 12, "n_resamples": 199, "workers": 1, "progress": False, **options}
    return power_study(design, estimators, sizes, **given)


# --- stopping -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("design", [SHIFT, designs.Linear(noise=1.0)], ids=repr)
def test_decisions_give_the_same_powers(design):
    full, stopped = run(design, n_trials=25), run(design, n_trials=25, stopping="curtailed")
    assert stopped.stopping == Curtailed((0.05, 0.2))
    assert stopped.frame().equals(full.frame())
    assert stopped.compare("kme", "skmse").equals(full.compare("kme", "skmse"))
    assert not (stopped.pvalues["pvalue"] == full.pvalues["pvalue"]).all()
    assert "Curtailed(alphas=(0.05, 0.2)); seed 0" in stopped.summary()


def test_besag_and_clifford_give_their_p_values():
    result = run(stopping=BesagClifford(h=6), n_trials=3, estimators="kme")
    x, y = SHIFT.sample(np.random.SeedSequence(0, spawn_key=(10, 0, 1, 0)), 10)
    relabellings = np.random.SeedSequence(0, spawn_key=(10, 0, 1, 1))
    expected = two_sample_test(x, y, n_resamples=199, stopping=BesagClifford(h=6), rng=relabellings).pvalue
    frame = result.pvalues
    assert frame.loc[(frame["trial"] == 1) & ~frame["null"], "pvalue"].item() == expected


def test_at_other_levels_nothing_was_decided():
    stopped, full = run(stopping="curtailed"), run()
    full.compare("kme", "skmse", alpha=0.1)
    for call in (lambda: stopped.compare("kme", "skmse", alpha=0.1), lambda: stopped.plot(alpha=0.1)):
        with pytest.raises(
            ValueError, match=r"once they had decided at 0.05, 0.2, so that .* at alpha=0.1 are not known"
        ):
            call()
    stopped.plot(alpha=0.05)
    with pytest.raises(ValueError, match="must decide at all alphas of the study"):
        run(stopping=Curtailed((0.05,)))
    assert run(stopping=Curtailed((0.05, 0.1, 0.2))).frame().equals(full.frame())


def test_a_store_knows_the_rule(tmp_path):
    path = tmp_path / "study.sqlite"
    first = run(stopping="curtailed", store=path, n_trials=4)
    more = run(stopping="curtailed", store=path, n_trials=6)
    assert more.pvalues.merge(first.pvalues).shape[0] == len(first.pvalues)
    for other in ({}, {"stopping": "besag-clifford"}, {"stopping": "curtailed", "alphas": (0.05, 0.1)}):
        with pytest.raises(ValueError, match=r"is of another study: .*stopping"):
            run(store=path, **other)


def test_what_cannot_stop_is_found_before_anything_is_stored(tmp_path):
    with pytest.raises(ValueError, match="a combined test ranks every statistic"):
        run(estimators=["kme", "auto"], stopping="curtailed", store=tmp_path / "study.sqlite")
    assert not (tmp_path / "study.sqlite").exists()


def test_sample_sizes_of_pairs_and_series_start_where_a_test_can_reject():
    given = {"n_trials": 120, "n_resamples": 99, "workers": 1, "largest": 100}
    paired = solve_sample_size(SHIFT, test_options={"paired": True}, **given)
    assert paired.n >= 6 and paired.table["n"].min() >= 6
    shifted = solve_sample_size(designs.Linear(noise=0.5), test_options={"shift": "circular"}, **given)
    assert shifted.n == shifted.table["n"].min() == 20  # where all tests reject already
    with pytest.raises(ValueError, match="collect 6 pairs or more"):
        solve_sample_size(SHIFT, test_options={"paired": True}, **{**given, "largest": 5})


def test_sample_sizes_are_the_same():
    given = {"n_trials": 120, "n_resamples": 99, "workers": 1, "largest": 100, "power": 0.7}
    full, stopped = (solve_sample_size(SHIFT, stopping=rule, **given) for rule in (None, "curtailed"))
    assert (stopped.n, stopped.low, stopped.high) == (full.n, full.low, full.high)
    assert stopped.table.equals(full.table)


# --- restrictions -------------------------------------------------------------------------------------------


def before_and_after(rng, n):
    before = rng.normal(scale=4.0, size=n)
    return before, before + rng.normal(1.0, 1.0, size=n)


def pairs(n, m):
    return {"paired": True}


def field_trial(rng, n):
    blocks = np.arange(n) // 4
    effects = 3.0 * rng.normal(size=blocks[-1] + 1)
    return effects[blocks] + rng.normal(size=n), effects[blocks] + rng.normal(0.8, 1.0, size=n)


def plots(n, m):
    return {"blocks": (np.arange(n) // 4, np.arange(m) // 4)}


def series(rng, n):
    x = np.cumsum(rng.normal(size=n))
    return x, x + rng.normal(size=n)


def shifted(n, m):
    return {"shift": "circular"}


PAIRED = FromFunction(before_and_after, restriction=pairs)
BLOCKED = FromFunction(field_trial, restriction=plots)
SERIES = FromFunction(series, "independence", restriction=shifted)


@pytest.mark.parametrize("design", [PAIRED, BLOCKED], ids=repr)
def test_restrictions_reach_the_test(design):
    result = run(design, "kme", 16, n_trials=2, with_null=False)
    x, y = design.sample(np.random.SeedSequence(0, spawn_key=(16, 0, 1, 0)), 16)
    relabellings = np.random.SeedSequence(0, spawn_key=(16, 0, 1, 1))
    told = design.options_for(16, 16)
    expected = two_sample_test(x, y, n_resamples=199, rng=relabellings, **told).pvalue
    assert result.pvalues["pvalue"].tolist()[1] == expected
    free = run(FromFunction(design.function), "kme", 16, n_trials=20, with_null=False, stopping="curtailed")
    kept = run(design, "kme", 16, n_trials=20, with_null=False, stopping="curtailed")
    assert kept.table["power"].tolist() > free.table["power"].tolist()


def test_null_twins_relabel_as_far_as_the_design_allows():
    x, y = PAIRED.null().sample(np.random.default_rng(3), 20)
    a, b = PAIRED.sample(np.random.default_rng(3), 20)
    assert isinstance(PAIRED.null(), Relabelled) and PAIRED.null().options_for(5, 5) == {"paired": True}
    swapped = (x == b).ravel()
    assert 0 < swapped.sum() < 20
    np.testing.assert_array_equal(np.where(swapped[:, None], y, x), a)
    np.testing.assert_array_equal(np.where(swapped[:, None], x, y), b)

    x, y = BLOCKED.null().sample(np.random.default_rng(3), 8)
    a, b = BLOCKED.sample(np.random.default_rng(3), 8)
    for block in (slice(0, 4), slice(4, 8)):
        mixed, drawn = np.concatenate([x[block], y[block]]), np.concatenate([a[block], b[block]])
        assert (np.sort(mixed, axis=0) == np.sort(drawn, axis=0)).all() and (mixed != drawn).any()

    x, y = SERIES.null().sample(np.random.default_rng(4), 30)
    a, b = SERIES.sample(np.random.default_rng(4), 30)
    np.testing.assert_array_equal(x, a)
    assert any((np.roll(b, step, axis=0) == y).all() for step in range(1, 30))


@pytest.mark.parametrize("design", [PAIRED, BLOCKED, SERIES], ids=repr)
def test_level_of_restricted_twins(design):
    size = 24 if design is SERIES else 12
    result = run(design, "kme", size, n_trials=200, n_resamples=99, alphas=0.05, stopping="curtailed")
    attainable = 1 / 24 if design is SERIES else 0.05
    low, high = stats.binom.ppf([1e-4, 1 - 1e-4], 200, attainable)
    assert low <= round(200 * result.size_table["level"].item()) <= high


def test_designs_with_restrictions_are_values():
    assert pickle.loads(pickle.dumps(PAIRED)) == PAIRED != FromFunction(before_and_after)
    assert len({PAIRED, FromFunction(before_and_after, restriction=pairs)}) == 1
    assert repr(PAIRED) == "FromFunction(before_and_after, test='two-sample', restriction=pairs)"


def test_pilot_data_of_pairs():
    rng = np.random.default_rng(0)
    x, y = before_and_after(rng, 15)
    free, kept = designs.FromData(x, y), designs.FromData(x, y, paired=True)
    assert free != kept and repr(kept) == repr(free)[:-1] + ", paired=True)"
    assert pickle.loads(pickle.dumps(kept)) == kept
    a, b = kept.sample(1, 40)
    partner = dict(zip(x, y, strict=True))
    assert [partner[value] for value in a.ravel()] == b.ravel().tolist()
    a, b = kept.null().sample(1, 40)
    swapped = [partner.get(one) != other for one, other in zip(a.ravel(), b.ravel(), strict=True)]
    assert 0 < sum(swapped) < 40
    given = {"n_trials": 60, "stopping": "curtailed", "with_null": False}
    powers = [run(design, "kme", 12, **given).table["power"].tolist() for design in (free, kept)]
    assert powers[1] > powers[0]
    twin = run(kept, "kme", 10, n_trials=200, n_resamples=99, alphas=0.05, stopping="curtailed").size_table
    assert twin["level"].item() <= stats.binom.ppf(1 - 1e-4, 200, 0.05) / 200


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: designs.FromData([1, 2, 3], [2, 3, 5], "independence", paired=True), "paired=True is for two samples"),
        (lambda: designs.FromData([1, 2, 3], [2, 3, 5], ratio=2.0, paired=True), "with ratio=1.0"),
        (lambda: designs.FromData([1, 2, 3], [2, 3], paired=True), "as many rows in X as in Y; found 3, 2"),
        (lambda: designs.FromData([1, 2, 3], [2, 3, 5], paired=True).sample(0, 4, 5), "draws pairs, as many y as x"),
    ],
)
def test_pilot_data_that_are_no_pairs(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_restrictions_that_are_none():
    with pytest.raises(TypeError, match=r"restriction must be callable, \(n, m\) -> dict; found \{'paired': True\}"):
        FromFunction(before_and_after, restriction={"paired": True})
    with pytest.raises(TypeError, match="restriction must return a dict such as"):
        run(FromFunction(before_and_after, restriction=lambda n, m: True))
    with pytest.raises(ValueError, match="a key of what restriction returns, for a two-sample test, must be one of"):
        run(FromFunction(before_and_after, restriction=lambda n, m: {"shift": "circular"}))


def test_too_few_relabellings_at_any_size_are_found_before_the_study():
    with pytest.raises(ValueError, match="within 5 pairs leaves 16 different permutations"):
        run(PAIRED, sizes=[5, 20])
    with pytest.raises(ValueError, match="within 2 pairs leaves 2"):
        run(sizes=[2, 20], test_options={"paired": True})


def test_options_may_restrict_designs_of_the_package():
    free, paired = run(n_trials=4), run(n_trials=4, test_options={"paired": True})
    assert (free.pvalues["pvalue"] != paired.pvalues["pvalue"]).any()
    blocks = np.arange(20) % 5
    labelled = run(n_trials=4, test_options={"blocks": blocks})
    assert (labelled.pvalues["pvalue"] != free.pvalues["pvalue"]).any()
    with pytest.raises(ValueError, match="blocks has 20 labels, and there are 24 rows"):
        run(n_trials=4, sizes=[10, 12], test_options={"blocks": blocks})
