"""Pairs from mixed tables: the same numbers as in memory, from one source or two, whoever cut them."""

import numpy as np
import pandas as pd
import pytest

from shrinktest import Batches, independence_test
from shrinktest.batches.crew import Crew
from shrinktest.data.read import XY, read_variables
from shrinktest.hypotheses.pairs import IndependenceInBatches

pytest.importorskip("pyarrow")


def table(n, seed, *, gaps=False):
    rng = np.random.default_rng(seed)
    days = np.datetime64("2020-01-01", "us") + rng.integers(0, 10**14, size=n).astype("timedelta64[us]")
    found = pd.DataFrame(
        {
            "number": rng.normal(3.0, 2.0, size=n),
            "day": days,
            "city": rng.choice(["Ulm", "Aachen", "Bern"], size=n),
            "row": np.arange(n),
            "dose": rng.normal(size=n),
            "grade": pd.Categorical(rng.choice(["low", "mid", "high"], size=n), ["low", "mid", "high"], ordered=True),
            "key": [f"k{i}" for i in range(n)],
        }
    )
    found["dose"] += found["city"] == "Ulm"
    for name in found.columns if gaps else ():
        found.loc[rng.random(n) < 0.05, name] = None
    return found


LEFT, RIGHT = ["number", "day", "city", "row"], ["dose", "grade", "key"]
FRAME = table(400, 0)
RFF = {"gram": "rff", "rank": 8, "rng": 0, "n_resamples": 49}


def cut(frame, *ends):
    return [frame.iloc[part] for part in np.split(np.arange(len(frame)), ends)]


def saved(folder, name, frame, *ends):
    for i, part in enumerate(cut(frame, *ends)):
        part.to_parquet(folder / f"{name}{i}.parquet", index=False, row_group_size=50)
    return str(folder / f"{name}*.parquet")


def hypothesis(x, y, **options):
    how = {"scale": "auto", "nan_policy": "raise", "drawn": 0, "rng": np.random.default_rng(0), "store": None}
    return IndependenceInBatches.in_batches(x, y, crew=Crew(), **{**how, **options})


def sorted_rows(points):
    return points[np.lexsort(points.T)]


def same_as_in_memory(x, y, frames, **options):
    read = read_variables(frames, XY, options.get("nan_policy", "raise"), **{k: v for k, v in
                          {"scale": "auto", **options}.items() if k != "nan_policy"})  # fmt: skip
    found = hypothesis(x, y, **options)
    for variable, values, one, encoding in zip(
        found.variables, read.values, found.encodings, read.encodings, strict=True
    ):
        assert (one is None) == (encoding is None)
        assert one is None or (one.features == encoding.features and one.names == encoding.names)
        assert np.allclose(sorted_rows(variable.compared()), sorted_rows(values), rtol=1e-12, atol=1e-12)
    assert {note for note in read.notes if not note.startswith("Left out")} <= set(found.remarks)
    return found


@pytest.mark.parametrize("sources", [1, 2])
def test_numbers_are_those_of_tables_in_memory(tmp_path, sources):
    frames = FRAME[LEFT], FRAME[RIGHT]
    if sources == 1:
        path = saved(tmp_path, "t", FRAME, 77, 300)
        x, y = Batches(path, columns=LEFT), Batches(path, columns=RIGHT)
    else:
        x, y = saved(tmp_path, "x", FRAME[LEFT], 90), saved(tmp_path, "y", FRAME[RIGHT], 200, 201)
    found = same_as_in_memory(x, y, frames)
    assert found.encodings[0].names == ("number", "day", "city") and found.encodings[1].names == ("dose", "grade")
    assert sum("is not tested" in note for note in found.remarks) == 2
    for options in (
        {"scale": None},
        {"scale": ["rank", "sd"]},
        {"scale": {"number": 2.0, "grade": None}},
        {"column_types": {"number": "drop", "grade": "category", "row": "number"}},
    ):
        same_as_in_memory(x, y, frames, **options)
    with pytest.raises(ValueError, match=r"Y: no column is left to test; column_types drops all of them"):
        hypothesis(x, y, column_types=dict.fromkeys(RIGHT, "drop"))
    with pytest.raises(ValueError, match="a column in column_types must be one of"):
        hypothesis(x, y, column_types={"towns": "category"})


@pytest.mark.parametrize("sources", [1, 2])
@pytest.mark.parametrize("policy", ["omit", "indicator"])
def test_missing_values_are_treated_as_in_memory(tmp_path, sources, policy):
    gaps = table(400, 1, gaps=True)
    gaps.loc[5, ["city", "dose"]] = ["Nowhere", None]  # a level of a row that is left out, because of the other side
    frames = gaps[LEFT], gaps[RIGHT]
    if sources == 1:
        path = saved(tmp_path, "t", gaps, 120)
        x, y = Batches(path, columns=LEFT), Batches(path, columns=RIGHT)
    else:
        x, y = Batches(cut(frames[0], 90)), saved(tmp_path, "y", frames[1], 200, 201)
    for scale in ("auto", None):
        found = same_as_in_memory(x, y, frames, nan_policy=policy, scale=scale)
        assert ("city = Nowhere" in found.encodings[0].features) == (policy == "indicator")
    with pytest.raises(ValueError, match=r"has a missing value in row \d+, column '\w+' .*'omit'"):
        hypothesis(x, y)


def test_variables_with_and_without_names_or_with_the_same():
    numbers = np.column_stack([np.arange(400.0), FRAME["dose"]])
    frames = numbers, FRAME[["city", "row"]]
    found = same_as_in_memory(Batches(numbers), Batches(cut(frames[1], 10)), frames)
    assert found.encodings[1].names == ("city",)
    twice = FRAME[["city", "dose"]], FRAME[["city", "key", "number"]]
    found = same_as_in_memory(Batches([twice[0]]), Batches(cut(twice[1], 3, 50)), twice)
    assert found.encodings[1].names == ("city", "number")
    arrays = np.where(FRAME[["dose", "number"]] > 2.0, np.nan, FRAME[["dose", "number"]]), numbers
    for scale in ("auto", [[8.0, 0.25], None]):
        same_as_in_memory(Batches(arrays[0]), Batches(numbers), arrays, nan_policy="indicator", scale=scale)
    with pytest.raises(ValueError, match="column_types='drop' takes columns with names"):
        hypothesis(Batches(numbers), Batches(arrays[0]), column_types={"1": "drop"})


@pytest.mark.parametrize("policy", ["omit", "indicator"])
def test_nothing_depends_on_how_rows_are_cut(tmp_path, policy):
    gaps = pd.concat([table(400, i, gaps=True).drop(columns=["row", "key"]) for i in range(6)])
    left, right = gaps[LEFT[:3]], gaps[RIGHT[:2]]
    whole = Batches([gaps], columns=LEFT[:3]).data
    expected = independence_test(
        Batches(whole, columns=LEFT[:3]), Batches(whole, columns=RIGHT[:2]), nan_policy=policy, **RFF
    )
    assert expected.pvalue == 0.02 and expected.columns == (tuple(LEFT[:3]), tuple(RIGHT[:2]))
    path = saved(tmp_path, "t", gaps, 500)
    for x, y, workers in (
        (Batches(path, columns=LEFT[:3]), Batches(path, columns=RIGHT[:2]), 2),
        (Batches(cut(left, 13, 1000)), saved(tmp_path, "y", right, 1200), 1),
    ):
        found = independence_test(x, y, nan_policy=policy, workers=workers, **RFF)
        assert found.statistic == expected.statistic
        assert np.array_equal(found.null_distribution, expected.null_distribution)
    drawn = "The median that replaces missing numbers comes from a random sample of 2000 rows."
    assert (drawn in found.notes) == (policy == "indicator")
    effect = independence_test(x, y, nan_policy=policy, store=tmp_path / "s.npz", **RFF).effect()
    assert effect == expected.effect()
