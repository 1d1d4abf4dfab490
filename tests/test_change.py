"""``change_point_test``: exact by enumeration, the same by every route, with the place and what cannot be tested."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pandas as pd
import pytest

from naive_change import gaussian, largest, orders_beside, pvalue, smallest_pvalue, unbiased, within_sample
from shrinktest import AggregateChangeResult, Permutations, change_point_test, change_points
from shrinktest.hypotheses.place import Place, _Sides
from shrinktest.kernels import Gaussian, Linear
from shrinktest.permutations.design import PermutationDesign
from shrinktest.permutations.serial_correlation import in_stretches
from shrinktest.statistics.features import Features
from shrinktest.statistics.scan import Cuts, Within


@pytest.fixture
def series():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(6, 2))
    x[3:] += 1.0
    return x


def shifted(n=60, at=30, by=2.0, seed=1, columns=1):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, columns))
    x[at:] += by
    return x


@pytest.mark.parametrize("change", ["single", "epidemic"])
@pytest.mark.parametrize("gram", ["dense", "factor"])
def test_all_orders_by_enumeration(series, change, gram):
    found = change_point_test(
        series, bandwidth=1.3, n_resamples=np.inf, change=change, trim=0.0, confidence=None, gram=gram, alpha=0.3
    )
    p, values = pvalue(gaussian(series, 1.3), 2, change, itertools.permutations(range(6)))
    assert found.exact and found.n_resamples == 720
    assert found.pvalue == pytest.approx(p)
    assert np.allclose(np.sort(found.null_distribution), np.sort(values), rtol=1e-9)
    value, start, end = largest(gaussian(series, 1.3), 2, change, {})
    assert found.statistic == pytest.approx(value)
    if change == "single":  # either part names the cut
        assert found.location in (start, end)
    else:
        assert (found.location, found.until) == (start, end)


def test_blocks_by_enumeration(series):
    blocks = [0, 1, 0, 1, 0, 1]
    found = change_point_test(
        series, bandwidth=1.3, blocks=blocks, n_resamples=np.inf, trim=0.0, confidence=None, alpha=0.2
    )
    orders = [
        [a[0], b[0], a[1], b[1], a[2], b[2]]
        for a in itertools.permutations([0, 2, 4])
        for b in itertools.permutations([1, 3, 5])
    ]
    assert found.pvalue == pytest.approx(pvalue(gaussian(series, 1.3), 2, "single", orders)[0])
    assert found.n_resamples == 36


def test_stretches_by_enumeration():
    x = shifted(8, 4, 1.0, 1)
    found = change_point_test(x, bandwidth=1.0, shift=2, n_resamples=np.inf, trim=0.0, confidence=None, alpha=0.2)
    orders = [[2 * unit + i for unit in units for i in (0, 1)] for units in itertools.permutations(range(4))]
    assert found.pvalue == pytest.approx(pvalue(gaussian(x, 1.0), 2, "single", orders)[0])
    assert found.restriction == "stretches of 2 rows"


def test_the_statistic_is_that_of_song_and_chen_and_of_the_unbiased_distance(series):
    gram = gaussian(series, 1.3)
    orders = [list(order) for order in itertools.permutations(range(6))][:120]
    distance = [unbiased(gram[np.ix_(o, o)], np.arange(6) < 2) for o in orders]
    within = [within_sample(gram[np.ix_(o, o)], 2) for o in orders]
    assert np.corrcoef(distance, within)[0, 1] == pytest.approx(1.0, abs=1e-12)


def test_the_spread_is_that_over_all_orders(series):
    within = Within.of(Features("dense", Gaussian(1.3), series))
    statistic = within.statistic(Cuts(6, "single", 3))  # one cut
    values = statistic(np.array(list(itertools.permutations(range(6)))))[:, 0]
    assert values.mean() == pytest.approx(0.0, abs=1e-12)
    assert values.std() == pytest.approx(1.0)


def test_coordinates_and_gram_matrix_agree():
    x = shifted(200, 80, 0.7)
    one, other = (change_point_test(x, gram=gram, n_resamples=49, rng=0) for gram in ("dense", "factor"))
    assert np.allclose(one.null_distribution, other.null_distribution, rtol=1e-6)
    assert (one.location, one.pvalue) == (other.location, other.pvalue)


def test_far_from_the_origin_nothing_changes():
    x = shifted(40, 20, 1.0)
    one, other = (change_point_test(x + far, kernel="linear", n_resamples=49, rng=0) for far in (0.0, 1e6))
    assert one.pvalue == other.pvalue and one.location == other.location


def test_workers_and_seed():
    x = shifted(80, 40, 0.5, columns=5)
    one, two = (change_point_test(x, rng=1, workers=workers, n_resamples=199) for workers in (1, 2))
    assert np.array_equal(one.null_distribution, two.null_distribution) and one.interval == two.interval


def test_rows_that_are_all_alike_tie():
    assert change_point_test(np.ones((12, 1)), kernel="linear", n_resamples=19, rng=0).pvalue == 1.0


def test_stopping_early():
    found = change_point_test(shifted(60, 30, 0.0), rng=0, stopping="besag-clifford", confidence=None)
    assert found.stopped and found.n_resamples < 999


def test_marginalised_means_with_pooled_noise():
    found = change_point_test(shifted(40, 20, 2.0), estimator="mkme", rng=0, n_resamples=99)
    assert found.pvalue == 0.01 and found.tuning == "pooled"


def test_auto_and_its_place():
    found = change_point_test(shifted(60, 24, 2.0, columns=2), estimator="auto", rng=0, n_resamples=99)
    assert isinstance(found, AggregateChangeResult) and len(found.members) == 8
    assert found.pvalue <= 0.02 and abs(found.location - 24) <= 2
    assert found.interval[0] <= found.location <= found.interval[1]
    assert any("data chose the one that gives the place" in note for note in found.notes)


@pytest.mark.parametrize("gram", ["nystrom", "rff"])
def test_approximations(gram):
    found = change_point_test(shifted(columns=3), gram=gram, rank=20, rng=0, n_resamples=99)
    assert found.route == gram and found.pvalue == 0.01 and abs(found.location - 30) <= 2


@pytest.mark.parametrize("shift", [None, "stretches", "circular", 5])
def test_places_of_what_moves(shift):
    found = change_point_test(shifted(100, 50, 3.0), shift=shift, rng=0, n_resamples=199)
    assert found.location == 50
    assert (found.interval is None) == (shift == "circular")
    said = any("no interval for the place" in note and "shift='stretches' has one" in note for note in found.notes)
    assert said == (shift == "circular")


def test_an_epidemic_change_is_shifted_within_series_that_take_turns():
    told = {"change": "epidemic", "shift": "circular", "n_resamples": 99, "rng": 0}
    with pytest.raises(ValueError, match="so that the p-value is 1"):
        change_point_test(shifted(), **told)
    x = shifted(by=0.0)
    x[20:32] += 4.0
    found = change_point_test(x, blocks=np.arange(60) % 4, **told)
    assert found.pvalue < 0.05 and (found.location, found.until) == (20, 32) and found.interval is None


def test_a_long_series_has_its_interval_by_few_directions():
    x = shifted(400, 150, 1.5, columns=6)
    found = change_point_test(x, rng=0, n_resamples=19)
    assert found.route == "dense" and found.interval[0] <= 150 <= found.interval[1] < 160


def test_permutations_of_ones_own():
    class Reversed(Permutations):
        size, distinct = 60, 2

        def draw(self, rng, rows):
            return np.stack([np.arange(60)[:: 1 - 2 * int(flip)] for flip in rng.integers(2, size=rows)])

        def all(self):
            return iter([np.arange(60), np.arange(60)[::-1]])

    found = change_point_test(shifted(), permutations=Reversed(), alpha=0.6)
    assert found.pvalue == 1.0  # the same cuts, seen from the other end
    assert found.interval is None and "permutations of your own may not do that" in found.notes[-1]


def test_missing_values():
    x = shifted()
    x[3] = np.nan
    assert np.isnan(change_point_test(x, nan_policy="propagate").pvalue)
    assert change_point_test(x, nan_policy="propagate").location is None
    omitted = change_point_test(x, nan_policy="omit", rng=0, n_resamples=99, times=np.arange(60))
    assert omitted.n_observations == (59,) and omitted.when == omitted.location + 1
    with pytest.raises(ValueError, match="without gaps"):
        change_point_test(x, nan_policy="omit", shift="stretches")


def test_tables_with_dates():
    table = pd.DataFrame({"a": shifted()[:, 0], "b": list("xy") * 30}, index=pd.date_range("2020-01-01", periods=60))
    found = change_point_test(table, rng=0, n_resamples=99)
    assert found.when == pd.Timestamp("2020-01-01") + pd.Timedelta(days=found.location)
    with pytest.raises(ValueError, match=r"not sorted.*sort_index"):
        change_point_test(table[::-1])


def test_a_share_that_leaves_no_cut_is_refused():
    with pytest.raises(ValueError, match=r"trim=0\.45 leaves no cut of 5 rows: 3 at either end are no places"):
        change_point_test(np.arange(5.0) ** 2, trim=0.45, n_resamples=9, alpha=0.5)


@pytest.mark.parametrize(("trim", "first"), [(0.0, 3), (0.1, 6), (0.25, 15)])
def test_neither_part_has_less_than_its_share_of_the_rows(trim, first):
    x = np.repeat([9.0, 0.0], [3, 57])
    told = {"bandwidth": 1.0, "trim": trim, "n_resamples": 0, "confidence": None}
    assert change_point_test(x, **told).location == first
    assert change_point_test(x[::-1], **told).location == 60 - first


def test_a_place_without_permutations_has_an_interval_and_no_words_on_the_test():
    found = change_point_test(shifted(), bandwidth=1.0, n_resamples=0)
    assert np.isnan(found.pvalue) and found.interval[0] <= found.location <= found.interval[1]
    assert not any("does not reject" in note for note in found.notes)


def test_columns_that_scale_names_are_tested():
    table = pd.DataFrame({"i": np.arange(60), "v": shifted()[:, 0], "key": [f"r{i}" for i in range(60)]})
    told = {"n_resamples": 19, "rng": 0, "confidence": None}
    assert change_point_test(table, **told).columns == (("v",),)
    by_types = change_point_test(table, column_types={"i": "number"}, **told)
    by_scale = change_point_test(table, scale={"i": "sd", "v": "sd"}, **told)
    assert by_scale.columns == by_types.columns == (("i", "v"),) and by_scale.statistic == by_types.statistic
    with pytest.raises(ValueError, match="a column in scale must be one of 'v'; got 'key'"):
        change_point_test(table, scale={"key": "sd"}, **told)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"times": [1, 2, 2, *range(3, 60)]}, "times repeat: rows 1 and 2"),
        ({"times": [2, 1, *range(3, 61)]}, "not sorted: row 1 is at 1"),
        ({"times": [1, None, *range(3, 61)]}, "none for row 1"),
        ({"times": range(59)}, "59 labels"),
        ({"trim": 0.5}, "trim must be a share"),
        ({"change": "twice"}, "change"),
        ({"form": "biased"}, "form='biased'"),
        ({"estimator": "fkmse"}, "fitted anew on both sides"),
        ({"estimator": "skmse"}, "fitted anew on both sides"),
        ({"shift": 40}, "half of all"),
        ({"shift": 25}, "can never reject"),
        ({"shift": "sideways"}, "shift"),
        ({"confidence": 1.5}, "confidence"),
    ],
)
def test_what_cannot_be(given, message):
    with pytest.raises(ValueError, match=message):
        change_point_test(shifted(), **given)


def test_too_few_rows():
    with pytest.raises(ValueError, match="X has 3 rows"):
        change_point_test([1.0, 2.0, 3.0])
    with pytest.raises(TypeError, match="shift must be"):
        change_point_test(shifted(), shift=2.5)


@pytest.mark.parametrize(
    ("n", "change", "told", "reached"),
    [
        (6, "single", {}, True),
        (7, "single", {}, True),
        (7, "epidemic", {}, True),
        (8, "single", {"blocks": np.repeat([0, 1], 4)}, True),
        (8, "single", {"groups": np.repeat(np.arange(4), 2)}, True),
        (9, "single", {"groups": np.array([0, 0, 1, 1, 2, 2, 3, 3, 4])}, True),
        (7, "single", {"blocks": np.array([0, 0, 1, 1, 0, 0, 1])}, False),
    ],
)
def test_no_pvalue_is_below_the_share_of_orders_that_leave_parts_as_they_are(n, change, told, reached):
    restriction = PermutationDesign(**told)
    orders = restriction.pairings(n, 1.0).all()
    naive = smallest_pvalue(n, 2, change, map(np.array, orders))
    least = Cuts(n, change, 2).least(restriction.units(n))
    assert least == pytest.approx(naive) if reached else 0.0 < least < naive


def test_rows_too_few_to_reject_are_said_and_blocks_refused():
    x = shifted(7, 4, 50.0)
    with pytest.warns(UserWarning, match=r"permutations of 7 rows is below 0\.0571, .* can never reject"):
        assert change_point_test(x, n_resamples=np.inf, confidence=None).pvalue == pytest.approx(2 / 35)
    with pytest.warns(UserWarning, match="of 9 rows is below 0.0714"):
        change_point_test(shifted(9, 4, 50.0), change="epidemic", rng=0)
    assert change_point_test(shifted(8, 4, 50.0), n_resamples=np.inf, confidence=None).pvalue <= 0.05
    with pytest.raises(ValueError, match=r"same parts so often that no p-value is below 0\.167"):
        change_point_test(shifted(8, 4, 50.0), blocks=np.repeat([0, 1], 4), rng=0)


def test_notes_on_memory():
    rng = np.random.default_rng(0)
    walk = np.cumsum(rng.normal(size=200)) * 0.3
    assert any("Successive rows" in note for note in change_point_test(walk, n_resamples=19, alpha=0.1).notes)
    assert any("are short" in note for note in change_point_test(walk, shift=5, n_resamples=19, alpha=0.1).notes)
    assert not change_point_test(rng.normal(size=200), n_resamples=19, alpha=0.99, confidence=None).notes


def test_a_change_is_no_memory():
    assert not any("Successive" in note for note in change_point_test(shifted(by=5.0), n_resamples=19).notes)


@pytest.mark.parametrize("change", ["single", "epidemic"])
def test_a_further_change_looks_like_memory(change):
    steps = np.random.default_rng(0).normal(size=120) + np.repeat([0.0, 3.0, 0.0, 3.0], 30)
    found = change_point_test(steps, change=change, n_resamples=19, rng=0)
    noted = [note for note in found.notes if "Successive rows" in note]
    assert len(noted) == 1 and noted[0].endswith(": change_points looks for several.")
    several = change_points(steps, n_resamples=199, rng=0)
    assert len(several.locations) == 3 and not any("Successive rows" in note for note in several.notes)


def test_json_and_summary():
    for options in ({}, {"change": "epidemic"}, {"estimator": ["kme", "mkme"]}):
        found = change_point_test(shifted(), rng=0, n_resamples=49, times=pd.date_range("2020", periods=60), **options)
        read = json.loads(found.to_json())
        assert (read["location"], read["until"]) == (found.location, found.until)
        assert tuple(read["interval"]) == found.interval and read["times"][0].startswith("2020-01-01")
        assert "interval:" in str(found.summary())
        assert found.to_frame()["location"][0] == found.location
    with pytest.raises(ValueError, match="chosen by the data"):
        found.summary(effect=True)


def test_pictures():
    pytest.importorskip("matplotlib")
    import matplotlib.pyplot as plt

    for options in ({}, {"change": "epidemic"}, {"estimator": "auto", "confidence": None}):
        ax = change_point_test(shifted(), rng=0, n_resamples=19, times=np.arange(60.0), **options).plot()
        assert ax.get_xlabel() == "time" and len(ax.lines) >= 2
        plt.close(ax.figure)
    hours = list(pd.timedelta_range("1h", periods=20, freq="h").to_pytimedelta())
    lengths = {
        "days": pd.timedelta_range("1D", periods=20),
        "hours": hours,
        "minutes": np.arange(20) * np.timedelta64(1, "m"),
    }
    for unit, times in lengths.items():
        ax = change_point_test(shifted(20, 10, 9.0), rng=0, n_resamples=19, times=times, confidence=None).plot()
        assert ax.get_xlabel() == f"time, in {unit}" and np.allclose(np.diff(ax.lines[0].get_xdata()), 1.0)
        plt.close(ax.figure)


def test_the_place_of_a_combined_test_is_not_that_of_its_members():
    combined = change_point_test(shifted(), bandwidth=["median", 1.0], rng=0, n_resamples=19)
    with pytest.raises(ValueError, match="no place of a change to draw: the combined result has it"):
        combined.members[0].plot()
    unknown = change_point_test([np.nan, *np.arange(20.0)], nan_policy="propagate", rng=0)
    with pytest.raises(ValueError, match="no place of a change to draw: the data had missing values"):
        unknown.plot()


def test_an_epidemic_change_has_rows_outside_and_inside():
    pytest.importorskip("matplotlib")
    series = shifted()
    for change, names in (("single", ("before", "after")), ("epidemic", ("outside", "inside"))):
        found = change_point_test(series, rng=0, n_resamples=19, change=change)
        labels = [line.split()[0] for line in str(found.summary()).splitlines() if line.strip()]
        assert [name for name in ("before", "after", "outside", "inside") if name in labels] == list(names)
        ax = found.plot()
        assert ax.get_ylabel() == f"distance {names[0]} and {names[1]}"
        said = [text.get_text() for text in ax.get_legend().get_texts()]
        assert any("first row behind" in text for text in said) == (change == "epidemic")
        ax.figure.canvas.draw()
        assert ax.get_legend().get_window_extent().y1 < ax.get_window_extent().y0  # covers nothing


def test_intervals_have_times_and_midnights_are_days():
    days = pd.date_range("2020", periods=60)
    found = change_point_test(shifted(), rng=0, n_resamples=49, times=days)
    assert found.when_interval == tuple(days[row] for row in found.interval)
    text = str(found.summary())
    low, high = (str(time.date()) for time in found.when_interval)
    assert f"({low} to {high})" in text and f"({found.when.date()})" in text and "00:00:00" not in text
    hourly = change_point_test(shifted(), rng=0, n_resamples=49, times=pd.date_range("2020", periods=60, freq="h"))
    assert str(hourly.when) in str(hourly.summary())
    plain = change_point_test(shifted(), rng=0, n_resamples=49)
    assert plain.when_interval == plain.interval and "(" not in str(plain.summary()).rsplit("First row", 1)[1]
    assert change_point_test(shifted(), rng=0, n_resamples=49, confidence=None).when_interval is None


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"change": "epidemic"}, {"blocks": np.arange(30) % 3}, {"kernel": "whitened"}])
def test_level(options):
    rng = np.random.default_rng(5)
    ps = [
        change_point_test(
            rng.standard_t(3, size=30), rng=i, n_resamples=19, confidence=None, workers=1, **options
        ).pvalue
        for i in range(2000)
    ]
    assert 0.033 < np.mean(np.array(ps) <= 0.05) < 0.067


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("ends", [(20, 45), (1, 20), (0, 20)])
def test_an_interval_that_reaches_the_first_or_the_last_row_is_among_its_places(seed, ends):
    first, end = ends
    x = np.random.default_rng(seed).normal(size=45)
    x[first:end] += 2.5
    found = [change_point_test(x, change="epidemic", gram=gram, n_resamples=99, rng=0) for gram in ("dense", "factor")]
    one, other = found
    assert (one.location, one.until) == (other.location, other.until)
    assert one.location > 0  # rows 0 to k and the others are the same two parts
    assert one.interval[0] <= one.location <= one.interval[1]
    assert one.until_interval[0] <= one.until <= one.until_interval[1]


def test_intervals_are_wider_for_a_chosen_statistic_and_for_more_confidence():
    x = np.random.default_rng(1).normal(size=(100, 1)) + np.repeat([0.0, 1.0], 50)[:, None]
    within, ends = Within.of(Features("dense", Gaussian(1.3), x)), []
    for confidence, chosen in ((0.95, False), (0.95, True), (0.999, False)):
        rng = np.random.default_rng(0)
        found = Place.of(within, Cuts(100, "single", 5), PermutationDesign(), confidence, rng, chosen=chosen)
        ends.append(found.interval)
    (low, high), *wider = ends
    assert all(start <= low and high <= end and end - start > high - low for start, end in wider)
    assert wider[-1][1] - wider[-1][0] < 89  # of all places that there are


def test_a_table_whose_units_name_a_column_that_counts_rows_is_transformed_once():
    table = pd.DataFrame({"u": np.random.default_rng(0).normal(size=30), "row": np.arange(30)})
    seen = []
    given = {"scale": {"row": 10.0}, "n_resamples": 19, "rng": 0}
    result = change_point_test(table, transform=lambda rows: seen.append(len(rows)) or rows, **given)
    assert seen == [30] and result.columns == (("u", "row"),)
    assert result.pvalue == change_point_test(table, **given).pvalue


def test_a_table_with_a_column_of_time_is_transformed_once():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"day": pd.date_range("2001", periods=30), "x": rng.normal(size=30)})
    seen = []
    result = change_point_test(table, transform=lambda rows: seen.append(len(rows)) or rows, n_resamples=19, rng=0)
    assert seen == [30] and result.columns == (("x",),)
    assert result.pvalue == change_point_test(table[["x"]], n_resamples=19, rng=0).pvalue


@pytest.mark.parametrize(("kernel", "factors"), [("energy", (1e153, 1e-170)), ("linear", (1e153, 1e-100, 1e-170))])
def test_values_whose_squares_are_no_numbers(kernel, factors):
    plain, small = (change_point_test(f * shifted(), kernel=kernel, n_resamples=99, rng=0) for f in (1.0, 1e-60))
    assert (small.pvalue, small.location) == (plain.pvalue, plain.location)
    for factor in factors:
        with pytest.raises(ValueError, match="beyond the range of numbers; multiply the data by a constant"):
            change_point_test(factor * shifted(), kernel=kernel, n_resamples=99, rng=0)


# --- the interval of a place, step by step -------------------------------------------------------------------------


def sides(alpha=0.05, restriction=None, n=20):
    """Tests of the places of a series in which nothing happens."""
    within = Within.of(Features("factor", Linear(), np.arange(float(n))[:, None] % 3))
    return _Sides(
        within, 2, PermutationDesign() if restriction is None else restriction, alpha, np.random.default_rng(0)
    )


@pytest.mark.parametrize(
    ("blocks", "length"),
    [(None, 1), (None, 2), ([1, 0, 0, 0, 1, 1, 0, 0, 1, 0, 1, 1], 1), ([1, 0, 0, 0, 1, 1, 0, 1, 0, 1, 0, 0], 2)],
)
def test_rows_beside_a_place_move_within_their_side_and_block(blocks, length):
    """Of rows 3 to 11, with a place before row 6."""
    given = None if blocks is None else np.array(blocks)
    restriction = PermutationDesign(blocks=given) if length == 1 else in_stretches([np.zeros((12, 1))], length, given)
    end = 12 if length > 1 else 10
    found = sides(restriction=restriction, n=12)._orders(6, 3, end, np.random.default_rng(1), 3000)
    expected = set(orders_beside(3, [0] * (end - 3) if given is None else blocks[3:end], length))
    assert set(map(tuple, found.tolist())) == expected and len(expected) > 1


@pytest.mark.parametrize(
    ("alpha", "orders", "reached", "accepted"),
    [(0.05, 99, 4, False), (0.05, 99, 5, True), (0.01, 199, 1, False), (0.01, 199, 2, True), (0.025, 99, 2, True)],
)
@pytest.mark.parametrize("below", [0.0, 5e-11])
def test_a_place_is_rejected_where_its_pvalue_is_no_larger_than_the_level(alpha, orders, reached, accepted, below):
    """(1 + reached) / (1 + orders) with ties; of so many orders, the last are those that reach what was observed."""
    seen = []

    def statistic(rows):
        values = np.full((len(rows), 2), [0.0, 1.0])
        if not seen:  # the data themselves
            values[0, 0] = 1.0
        values[max(0, orders + 1 - reached - len(seen)) :, 0] = 1.0 - below
        seen.extend(rows)
        return values

    assert sides(alpha)._accepts(statistic, 10, 0, 20, np.random.default_rng(0)) == accepted
    assert accepted or len(seen) == orders + 1


@pytest.mark.parametrize(("low", "high"), [(2, 298), (2, 2), (298, 298), (100, 101), (97, 203), (3, 296), (150, 150)])
def test_an_interval_has_all_places_that_are_not_rejected(low, high, monkeypatch):
    monkeypatch.setattr(_Sides, "_accepts", lambda self, statistic, cut, *told: low <= cut <= high)
    for best in (low, high, (low + high) // 2):
        assert sides(n=300).interval(best, 0, 300) == (low, high)


@pytest.mark.parametrize(("bandwidth", "kept", "apart"), [(None, 32, 1e-6), (1.0, 14, 0.3), (0.25, 32, np.inf)])
def test_long_series_keep_the_directions_in_which_most_varies(bandwidth, kept, apart):
    """Of 60 columns, 50 say nearly nothing; of a narrow kernel in two columns, more than 32 directions matter."""
    x = np.random.default_rng(0).normal(size=(310, 60)) * np.repeat([1.0, 1e-6], [10, 50])
    x[150:] += 0.6 * (np.arange(60) < 2)
    gram = Features("dense", Gaussian(bandwidth), x[:, :2]) if bandwidth else Features("factor", Linear(), x)
    within = Within.of(gram)
    reduced = within.reduced(np.random.default_rng(0))
    assert within.by_coordinates == (bandwidth is None) and reduced.by_coordinates and reduced.values.shape[1] == kept
    cuts = Cuts(310, "single", 5)
    orders = np.array([np.random.default_rng(seed).permutation(310) for seed in range(20)])
    one, other = (form.statistic(cuts)(orders)[:, 0] for form in (within, reduced))
    assert np.abs(one - other).max() < apart and np.corrcoef(one, other)[0, 1] > 0.9
    assert reduced.curve(cuts)[0][150] == pytest.approx(within.curve(cuts)[0][150], rel=0.1)


def test_the_column_of_blocks_is_not_tested():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"v": rng.normal(size=40), "m": np.repeat(["a", "b"], 20)})
    found = change_point_test(table, blocks=table["m"], rng=0)
    alone = change_point_test(table[["v"]], blocks=table["m"], rng=0)
    assert (found.pvalue, found.statistic, found.columns) == (alone.pvalue, alone.statistic, (("v",),))
    assert "Column 'm' is not tested: it holds the labels of blocks=" in found.notes[0]
    both = change_point_test(table, blocks=table["m"], column_types={"m": "category"}, rng=0)
    assert both.columns == (("v", "m"),)
