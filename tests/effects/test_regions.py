"""Regions in which two samples differ: against slow twins, on every design, and what is refused."""

from __future__ import annotations

import pickle

import matplotlib
import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.proportion import proportion_confint

import naive_regions as naive
from shrinktest import compare, independence_test, k_sample_test, two_sample_test
from shrinktest.data.tables import read_table
from shrinktest.effects import regions as effects
from shrinktest.effects.regions import ComparedBoxes, standardized
from shrinktest.permutations.base import Draws
from shrinktest.permutations.design import PermutationDesign
from shrinktest.statistics import boxes as grids
from shrinktest.statistics.boxes import Boxes, Sides, round_between

RNG = np.random.default_rng(4)
FEW = {"n_resamples": 199, "rng": 0}


def mixed(rng, n):
    """A table with a column of every kind, and gaps."""
    table = pd.DataFrame(
        {
            "spend": rng.exponential(20.0, n),
            "visits": rng.poisson(3.0, n),
            "land": rng.choice(["AT", "CH", "DE", "FR", "IT", "PL"], n),
            "member": rng.choice([True, False], n),
            "grade": pd.Categorical(rng.choice([*"abc"], n), categories=[*"cba"], ordered=True),
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), "D"),
            "lasts": pd.to_timedelta(rng.integers(1, 90, n), "D"),
        }
    )
    table.loc[rng.random(n) < 0.1, "spend"] = np.nan
    table.loc[rng.random(n) < 0.1, "land"] = np.nan
    return table


def columns_of(table):
    return read_table(table, "table").columns


def planted(rng, n):
    """Two samples with more rows of the second where spend is large and land is DE."""
    samples = [
        pd.DataFrame({"spend": rng.uniform(0.0, 100.0, n), "land": rng.choice(["DE", "FR"], n)})
        for _ in range(2)
    ]
    samples[1].loc[: n // 3, "spend"] = rng.uniform(70.0, 100.0, n // 3 + 1)
    samples[1].loc[: n // 3, "land"] = "DE"
    return samples


# --- boxes ----------------------------------------------------------------------------------------


def test_counts_are_those_of_the_rows_for_which_the_words_hold():
    columns = columns_of(mixed(RNG, 150))
    boxes = Boxes.of(columns, [column.name for column in columns])
    by_name = {column.name: column for column in columns}
    first = RNG.random((3, 150)) < 0.4
    counts = boxes.counts(first)
    assert len(boxes) == len(counts) == len(boxes.pooled) > 500
    sizes = set()
    for box in RNG.choice(len(boxes), 300, replace=False):
        conditions = boxes.conditions(box)
        holds = np.logical_and.reduce([side.holds(by_name[side.column]) for side in conditions])
        assert np.array_equal(holds, boxes.inside(box)), [side.words for side in conditions]
        assert boxes.pooled[box] == holds.sum() >= 10
        assert counts[box].tolist() == (first & holds).sum(axis=1).tolist()
        sizes.add(len(conditions))
    assert sizes == {1, 2, 3}


def test_edges_are_near_quantiles_and_do_not_depend_on_units():
    (column,) = columns_of(pd.DataFrame({"x": RNG.normal(size=400)}))
    sides = Sides.of(column, "x", 8)
    assert np.abs(np.bincount(sides.cells) - 50).max() <= 1
    assert len(sides.conditions) == 8 * 9 / 2 - 1
    (other,) = columns_of(pd.DataFrame({"x": 7.0 * column.numbers() - 3.0}))
    assert np.array_equal(Sides.of(other, "x", 8).cells, sides.cells)
    (tied,) = columns_of(pd.DataFrame({"x": np.repeat([0.0, 1.0, 2.0], [200, 30, 20])}))
    words = [side.words for side in Sides.of(tied, "x", 8).conditions]
    assert words == ["x ≤ 0", "x ≤ 1", "0 < x ≤ 1", "x > 0", "x > 1"]


@pytest.mark.parametrize("low", [-12.3, -1e-9, 0.0, 0.5, 3.0, 1e7, 123456.789])
@pytest.mark.parametrize("gap", [1e-6, 0.3, 1.0, 50.0])
def test_a_round_number_lies_between(low, gap):
    number = round_between(low, low + gap)
    assert low <= number < low + gap
    assert len(f"{number:.12g}") <= len(f"{low + gap / 2.0:.12g}")


def test_boxes_grow_coarser_with_the_number_of_columns(monkeypatch):
    columns = columns_of(pd.DataFrame(RNG.normal(size=(100, 6))))
    names = [column.name for column in columns]
    assert Boxes.of(columns, names).most == 3
    assert Boxes.of(columns, names, work=10.0).most == 1
    monkeypatch.setattr(grids, "GRIDS", {1: ((8, 2), 100), 2: ((4,), 10)})
    coarse = Boxes.of(columns, names)
    assert (coarse.most, len(coarse)) == (1, 12)


# --- tests ----------------------------------------------------------------------------------------

DESIGNS = {
    "rows": (5, 5, PermutationDesign()),
    "unequal": (4, 6, PermutationDesign()),
    "pairs": (6, 6, PermutationDesign(paired=True)),
    "blocks": (5, 6, PermutationDesign(blocks=np.array([0, 0, 0, 1, 1, 0, 0, 1, 1, 1, 1]))),
    "groups": (6, 6, PermutationDesign(groups=np.repeat(np.arange(6), 2))),
}


@pytest.mark.parametrize("design", DESIGNS)
def test_p_values_are_those_of_loops_over_all_permutations(design, monkeypatch):
    """Exchanges of whole samples, which the enumeration leaves out, change no height."""
    first, second, restriction = DESIGNS[design]
    monkeypatch.setattr(grids, "_LEAST_ROWS", 2)
    columns = columns_of(pd.DataFrame(RNG.normal(size=(first + second, 2))))
    boxes = Boxes.of(columns, ["a", "b"])
    every = restriction.labels((first, second), 1.0, symmetric=False)
    labels = [row.tolist() for row in every.all()]
    expected = naive.heights(labels, [boxes.inside(box) for box in range(len(boxes))])
    half = restriction.labels((first, second), 1.0, symmetric=True)
    seed = np.random.SeedSequence(0)
    for scheme in (every, half):
        compared = ComparedBoxes.of(boxes, Draws(scheme, np.inf, seed))
        assert compared.heights == pytest.approx([row[0] for row in expected])
        assert compared.pvalues == pytest.approx(naive.pvalues(expected))
        assert compared.adjusted == pytest.approx(naive.step_down(expected))
    if design == "rows":
        assert labels == list(naive.splits(first, second))
        assert len(labels) == 2 * half.distinct


def test_many_boxes_use_fewer_random_permutations(monkeypatch):
    first, second = planted(np.random.default_rng(7), 60)
    result = two_sample_test(first, second, n_resamples=399, rng=0)
    whole = result.regions()
    assert whole.n_resamples == 399
    monkeypatch.setattr(effects, "_ENOUGH", 200)
    monkeypatch.setattr(effects, "_VALUES", 200 * whole.n_boxes)
    assert result.regions().n_resamples == 199
    assert two_sample_test(first, second, n_resamples=199, rng=0).regions() == result.regions()


def test_the_p_value_of_a_single_box_is_exact():
    """Over all splits of the pooled rows, at most this share of them has so small a p-value."""
    inside = np.arange(12) < 5
    counts = np.array([[naive.count(labels, inside)] for labels in naive.splits(5, 7)], dtype=float)
    away = np.abs(standardized(counts)[:, 0])
    pvalues = (away[:, None] <= away[None] + 1e-9).mean(axis=1)
    for level in np.unique(pvalues):
        assert (pvalues <= level).mean() == pytest.approx(level)


def null_pairs(rng):
    shared = rng.normal(size=(40, 3))
    return shared + rng.normal(size=(40, 3)), shared + rng.normal(size=(40, 3)), {"paired": True}


def null_groups(rng):
    shifts = np.repeat(2.0 * rng.normal(size=(20, 3)), 4, axis=0)
    groups = np.repeat(np.arange(20), 4)
    rows = shifts + rng.normal(size=(80, 3))
    return rows[:40], rows[40:], {"groups": (groups[:40], groups[40:])}


@pytest.mark.ci
@pytest.mark.parametrize("draw", [null_pairs, null_groups])
def test_family_wise_error_is_held_if_nothing_differs(draw):
    trials = 300
    wrong = 0
    for trial in range(trials):
        first, second, design = draw(np.random.default_rng([8, trial]))
        result = two_sample_test(first, second, n_resamples=99, rng=trial, workers=1, **design)
        wrong += result.regions(alpha=0.05).n_clear > 0
    assert proportion_confint(wrong, trials, 0.001, "beta")[0] <= 0.05


# --- results --------------------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", ["kme", "auto"])
def test_a_planted_region_is_named_with_its_shares(estimator):
    first, second = planted(np.random.default_rng(1), 150)
    result = two_sample_test(first, second, names=("old", "new"), estimator=estimator, **FEW)
    regions = result.regions()
    region = regions.regions[0]
    assert [side.column for side in region.conditions] == ["spend", "land"]
    assert region.over == "new" and region.adjusted <= 0.05 and region.low > 0.0
    sides = region.conditions
    for share, table in ((region.first, first), (region.second, second)):
        assert sides[1].levels == ("DE",)
        inside = (table["spend"] > sides[0].low) & (table["spend"] <= sides[0].high)
        assert share == pytest.approx((inside & (table["land"] == "DE")).mean())
    assert len(regions) <= 3 < regions.n_clear
    assert regions.answer.startswith(f"{region.words}: ")
    assert region.words in regions.summary() and "old" in regions.summary()
    assert regions.to_dict()["regions"][0]["over"] == "new"
    assert len(regions.table) == len(regions)


def test_regions_overlap_by_less_than_half():
    rng = np.random.default_rng(3)
    first = pd.DataFrame(rng.normal(size=(400, 2)), columns=["a", "b"])
    second = pd.DataFrame(rng.normal([1.0, 0.7], 1.0, size=(400, 2)), columns=["a", "b"])
    regions = two_sample_test(first, second, **FEW).regions()
    assert 1 < len(regions) < 6 < regions.n_clear
    by_name = {column.name: column for column in columns_of(pd.concat([first, second]))}
    before = np.zeros(800, dtype=bool)
    for region in regions.regions:
        sides = [side.holds(by_name[side.column]) for side in region.conditions]
        inside = np.logical_and.reduce(sides)
        assert (inside & ~before).sum() >= inside.sum() / 2
        before |= inside


def test_exchanged_samples_exchange_the_regions():
    first, second = planted(np.random.default_rng(2), 60)
    forth, back = (
        two_sample_test(*pair, n_resamples=999, rng=0).regions()
        for pair in ((first, second), (second, first))
    )
    assert forth.regions[0].words == back.regions[0].words
    assert {forth.regions[0].over, back.regions[0].over} == {"X", "Y"}
    assert forth.regions[0].first == back.regions[0].second
    assert forth.regions[0].low == pytest.approx(-back.regions[0].high)


@pytest.mark.parametrize("scale", ["sd", "rank", "mad", "deviation", None])
def test_units_of_the_kernel_do_not_change_regions(scale):
    first, second = planted(np.random.default_rng(3), 80)
    regions = two_sample_test(first, second, scale=scale, **FEW).regions()
    assert regions == two_sample_test(first, second, **FEW).regions()


def test_decoded_columns_are_those_of_the_table():
    table = mixed(RNG, 60)
    for scale in ("sd", "rank"):
        options = {"nan_policy": "indicator", "scale": scale, "n_resamples": 19}
        context = two_sample_test(table[:30], table[30:], **options).require_data()
        (variable,) = context.hypothesis.variables
        decoded = variable.encoding.decoded(variable.points)
        for column, made in zip(columns_of(table), decoded, strict=True):
            assert (column.name, column.kind) == (made.name, made.kind)
            assert np.array_equal(column.missing(), made.missing())
            if column.levels:
                names, others = (
                    np.array([*each.levels, ""])[each.values] for each in (column, made)
                )
                assert names.tolist() == others.tolist()
            else:
                numbers = column.numbers()
                assert made.numbers() == pytest.approx(numbers, rel=1e-11, nan_ok=True)


def test_gaps_are_regions_of_their_own():
    rng = np.random.default_rng(5)
    first, second = (pd.DataFrame({"x": rng.normal(size=80)}) for _ in range(2))
    second.loc[:40, "x"] = np.nan
    regions = two_sample_test(first, second, nan_policy="indicator", **FEW).regions()
    assert regions.regions[0].words == "x is missing"


def test_pairs_that_miss_a_value_are_in_no_region():
    rng = np.random.default_rng(6)
    first, second = (mixed(rng, 60) for _ in range(2))
    second["spend"] += 200.0
    design = {"paired": True, "nan_policy": "indicator"}
    regions = two_sample_test(first, second, **design, **FEW).regions()
    complete = first["spend"].notna() & second["spend"].notna()
    shares = regions.regions[0].first, regions.regions[0].second
    assert max(shares) == pytest.approx(complete.mean()) and min(shares) == 0.0
    assert not any(side.missing for region in regions.regions for side in region.conditions)
    (column,) = columns_of(second[["since"]])
    assert column.without(np.arange(60) < 7).missing().sum() == 7


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (pd.date_range("2024-01-01", periods=60, freq="D"), "since ≤ 2024-01-30"),
        (pd.to_timedelta(np.arange(60), "D"), " days"),
        (np.repeat(np.arange(10), 6), "since ≤ 4"),
    ],
)
def test_edges_are_written_as_their_columns_are(column, words):
    table = pd.DataFrame({"since": column})
    regions = two_sample_test(table[:30], table[30:], **FEW).regions()
    assert words in regions.regions[0].words


def test_the_report_of_compare_names_regions():
    first, second = planted(np.random.default_rng(1), 150)
    result = compare(first, second, names=("old", "new"), estimator="kme", **FEW)
    assert result.regions.names == ("old", "new")
    assert result.regions.regions[0].words in " ".join(result.summary().split())
    page = result.to_html()
    assert "Regions with more rows of one table" in page and "of new" in page
    assert result.to_dict()["regions"][0]["over"] == "new"
    same = compare(first, first.sample(frac=1.0, random_state=0), estimator="kme", **FEW)
    assert not len(same.regions) and "Regions" not in same.to_html()
    assert "No difference between" in same.regions.answer and "none" in same.regions.summary()
    assert compare(first, second, estimator="kme", n_resamples=0).regions is None


def test_pictures_show_two_columns():
    matplotlib.use("agg")
    first, second = planted(np.random.default_rng(1), 150)
    regions = two_sample_test(first, second, **FEW).regions()
    ax = regions.plot()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("spend", "land")
    assert len(ax.patches) >= 1
    other = regions.plot(columns=["land", "spend"])
    assert (other.get_xlabel(), other.get_ylabel()) == ("land", "spend")
    with pytest.raises(ValueError, match="a column in columns"):
        regions.plot(columns=["land", "spent"])
    with pytest.raises(ValueError, match=r"^columns must name two"):
        regions.plot(columns=["land"])
    alone = two_sample_test(first[["spend"]], second[["spend"]], **FEW).regions().plot()
    assert [label.get_text() for label in alone.get_yticklabels()] == ["X", "Y"]


def test_few_rows_have_no_boxes():
    regions = two_sample_test([1.2, 0.3, 0.5, 0.8], [2.1, 1.9, 3.0, 2.6]).regions()
    assert (regions.n_boxes, len(regions), regions.smallest) == (0, 0, 1.0)
    assert regions.answer.startswith("There are too few rows")


def test_notes_say_what_shares_count():
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(60, 2)), rng.normal(1.5, 1.0, size=(60, 2))
    blocks = np.tile([0, 1], 30)
    codes = {
        "blocks": {"blocks": (blocks, blocks)},
        "groups": {"groups": (np.arange(60) // 3, 20 + np.arange(60) // 3)},
        "pairs": {"paired": True},
        "time": {"block_length": 5},
    }
    made = {}
    for name, design in codes.items():
        regions = two_sample_test(first, second, **design, **FEW).regions()
        made[name] = [note.code for note in regions.notes]
        assert regions.regions and regions.regions[0].low > -1.0
    assert made["blocks"] == ["regions-chosen", "regions-across-blocks"]
    assert made["groups"] == made["pairs"] == ["regions-chosen"]
    wide = rng.normal(size=(2, 30, 60))
    notes = two_sample_test(*wide, n_resamples=19, rng=0).regions().notes
    assert [note.code for note in notes] == ["regions-by-column"]


def test_results_without_their_data_refuse():
    first, second = planted(np.random.default_rng(1), 60)
    result = two_sample_test(first, second, **FEW)
    again = pickle.loads(pickle.dumps(result))
    with pytest.raises(ValueError, match="pickled without its data"):
        again.regions()
    kept = pickle.loads(pickle.dumps(result.with_data()))
    assert kept.regions() == result.regions() == pickle.loads(pickle.dumps(result.regions()))
    with pytest.raises(ValueError, match="regions need permutations"):
        two_sample_test(first, second, n_resamples=0).regions()
    strata = (first["land"].to_numpy(), second["land"].to_numpy())
    within = two_sample_test(first[["spend"]], second[["spend"]], covariates=strata, **FEW)
    with pytest.raises(ValueError, match=r"^regions: with covariates"):
        within.regions()
    rows = RNG.normal(size=(3, 20, 2))
    for other in (k_sample_test(*rows, **FEW), independence_test(*rows[:2], **FEW)):
        with pytest.raises(AttributeError, match=r"compares? two samples"):
            other.regions()
    several = independence_test(*rows[:2], estimator=["kme", "fkmse"], **FEW)
    with pytest.raises(AttributeError, match="regions compare two samples"):
        several.regions()
