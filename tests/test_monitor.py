"""DriftMonitor: the same answer however rows are cut, saved and read; what it names; and what it refuses."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pandas as pd
import pytest

from shrinktest import DriftMonitor
from shrinktest.monitor import AlreadyTaken
from shrinktest.monitoring import stream as stream_module


def mixed(rng, rows, *, shift=0.0, rare=0.02, gaps=0.1, both=0.0):
    """A table with gaps, counts and two categories."""
    first = rng.normal(shift, 1.0, rows)
    second = both * first + np.sqrt(1.0 - both**2) * rng.normal(size=rows)
    income = np.where(rng.random(rows) < gaps, np.nan, np.exp(rng.normal(size=rows)))
    return pd.DataFrame(
        {
            "first": first,
            "second": second,
            "income": income,
            "count": rng.poisson(1.0, rows),
            "kind": rng.choice(list("abcd"), rows, p=[0.5 - rare, 0.3, 0.2, rare]),
            "flag": rng.random(rows) < 0.4,
        }
    )


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def monitored(rng, rows=200, **options):
    return DriftMonitor(mixed(rng, rows), **{"rng": 2, **options})


def same(a, b):
    return a.to_json() == b.to_json()


# --------------------------------------------------------------------------------------------- one answer


def test_cuts_and_restarts_change_no_bit(rng, tmp_path):
    reference = mixed(rng, 120)
    rows = pd.concat([mixed(rng, 400), mixed(rng, 300, shift=0.8)], ignore_index=True)
    times = pd.date_range("2024-01-01", periods=len(rows))
    at_once = DriftMonitor(reference, rng=1)
    at_once.update(rows, times=times)
    parts = DriftMonitor(reference, rng=1)
    cuts = [0, 1, 2, 60, 64, 65, 333, 470, 471, 590, 700]
    for start, stop in itertools.pairwise(cuts):
        parts.update(rows[start:stop], times=times[start:stop])
        parts.save(tmp_path / "m.npz")
        parts = DriftMonitor.load(tmp_path / "m.npz")
    first, second = at_once.result.to_dict(), parts.result.to_dict()
    for looks in (first, second):
        looks.pop("history")
        looks["notes"] = [text for text in looks["notes"] if "within a batch" not in text]
    assert first == second
    assert at_once.alarm and first["alarm_row"] >= 400
    assert first["when"] == str(times[first["alarm_row"]])[:10]
    assert first["change_when"] == str(times[first["change_row"]])[:10]


def test_libraries_arrays_and_single_rows_are_alike(rng, tmp_path):
    polars = pytest.importorskip("polars")
    reference = mixed(rng, 100)
    rows = mixed(rng, 30)
    results = []
    for form in (
        lambda x: [x],
        lambda x: [polars.from_pandas(x)],
        lambda x: [x[["flag", *x.columns[:-1]]]],  # another order of columns
        lambda x: [x.iloc[[i]] for i in range(len(x))],
        lambda x: [row._asdict() for row in x.itertuples(index=False)],
        lambda x: [x.to_dict("list")],
        lambda x: [x.loc[i] for i in range(len(x))],
    ):
        monitor = DriftMonitor(reference, rng=1)
        for part in form(rows):
            result = monitor.update(part)
        results.append(result.scores)
    path = tmp_path / "rows.csv"
    rows.to_csv(path, index=False)
    monitor = DriftMonitor(reference, rng=1)
    results.append(monitor.update(path).scores)
    assert all(scores == results[0] for scores in results)


def test_vectors_are_rows(rng):
    reference = rng.normal(size=(60, 3))
    rows = rng.normal(size=(5, 3))
    a, b = (DriftMonitor(reference, rng=1) for _ in range(2))
    a.update(rows)
    for row in rows:
        b.update(row)
    assert a.result.scores == b.result.scores
    series = DriftMonitor(reference[:, 0], rng=1)
    assert series.update(rows[:, 0]).n_rows == 5
    assert series.update(0.3).n_rows == 6


def test_monotone_changes_of_columns_change_nothing(rng):
    reference = rng.normal(size=(80, 2))
    rows = rng.normal(size=(50, 2))
    a, b = (
        DriftMonitor(f(reference), rng=1, scores="columns").update(f(rows)).scores
        for f in (lambda x: x, np.exp)
    )
    assert a == b


def test_seed_is_obeyed(rng):
    reference = mixed(rng, 80)
    rows = mixed(rng, 90)
    scores = [DriftMonitor(reference, rng=seed).update(rows).scores for seed in (1, 1, 2)]
    assert scores[0] == scores[1] != scores[2]


def test_any_generator_is_a_seed_that_is_used_once(tmp_path):
    rng = np.random.default_rng(0)
    reference = rng.normal(size=(60, 2))
    rows = rng.normal(size=(30, 2))
    results = []
    for _ in range(2):
        generator = np.random.Generator(np.random.MT19937(1))
        monitor = DriftMonitor(reference, rng=generator)
        generator.random(len(results))  # what others draw has no effect
        monitor.save(tmp_path / "m.npz")
        results.append(DriftMonitor.load(tmp_path / "m.npz").update(rows, ordered=False))
    assert same(*results)


def test_unordered_batches_are_shuffled(rng):
    monitor = DriftMonitor(rng.normal(size=200), rng=0)
    rows = np.sort(rng.normal(size=400))
    result = monitor.update(rows)
    assert [text.code for text in result.notes] == ["batch-trends"]
    shuffled = DriftMonitor(rng.normal(size=200), rng=0)
    result = shuffled.update(rows, ordered=False)
    assert not result.alarm and result.notes == ()


# --------------------------------------------------------------------------------------------- what it names


def changed(rng, *, before=300, after=500, reference=300, **change):
    monitor = monitored(rng, reference)
    monitor.update(mixed(rng, before))
    assert not monitor.alarm
    return monitor.update(mixed(rng, after, **change))


def test_names_a_mean(rng):
    result = changed(rng, shift=1.0)
    assert result.columns[0] == result.by == "first"
    assert abs(result.change_row - 300) < 30 < result.alarm_row
    (effect,) = result.effects[0].changes
    assert effect.estimate == pytest.approx(0.76, abs=0.06)  # P(N(1, 1) > N(0, 1))
    assert "first (median" in str(result.summary())
    assert result.pvalue == 1.0 / result.largest < 0.05


def test_names_missing_values(rng):
    result = changed(rng, gaps=0.4)
    assert result.columns == ("income (missing)",)
    assert result.effects[0].changes[0].second == pytest.approx(0.4, abs=0.08)


def test_names_levels(rng):
    result = changed(rng, rare=0.2)
    assert result.columns == ("kind",)
    assert {change.level for change in result.effects[0].changes} >= {"a", "d"}
    assert "kind (d 2" in str(result.summary()) or "kind (a" in str(result.summary())


def test_names_new_levels(rng):
    monitor = monitored(rng)
    rows = mixed(rng, 200)
    rows.loc[rows.index % 4 == 0, "kind"] = "new"
    result = monitor.update(rows)
    assert result.columns == ("kind",)
    assert "new levels" in {change.level for change in result.effects[0].changes}


def test_names_pairs(rng):
    result = changed(rng, both=0.9)
    assert result.pairs == ("first with second",)
    assert result.by == "first with second"
    assert not result.columns


def test_a_witness_finds_a_change_of_many_columns(rng):
    monitor = DriftMonitor(rng.normal(size=(300, 20)), rng=1)
    monitor.update(rng.normal(size=(300, 20)))
    result = monitor.update(rng.normal(0.35, 1.0, size=(300, 20)))
    assert result.by.startswith("witness")
    assert abs(result.change_row - 300) < 60


def test_constant_columns_are_monitored(rng):
    reference = pd.DataFrame({"a": 1.0, "b": rng.normal(size=100)})
    rows = pd.DataFrame({"a": 1.0, "b": rng.normal(size=100)})
    monitor = DriftMonitor(reference, rng=1)
    assert not monitor.update(rows).alarm
    assert "a" in monitor.update(rows.assign(a=2.0)).columns


def test_huge_and_constant_numbers_overflow_nowhere(rng):
    for reference in (rng.normal(size=(60, 2)) * 1e200, np.ones((60, 2))):
        monitor = DriftMonitor(reference, rng=1)
        assert not monitor.update(reference[:30]).alarm
        assert monitor.update(np.full((30, 2), 1e300)).alarm


def test_functions_are_scores(rng):
    def loss(rows):
        return np.square(rows).sum(axis=1)

    reference = rng.normal(size=(100, 2))
    monitor = DriftMonitor(reference, scores={loss: 0.6, "columns": 0.4}, rng=1)
    result = monitor.update(rng.normal(0.0, 3.0, size=(100, 2)))
    assert result.by == "loss"
    assert result.table["share"].tolist() == pytest.approx([0.2, 0.2, 0.6])
    alone = DriftMonitor(reference, scores=loss, rng=1)
    assert alone.update(reference[0]).table["score"].tolist() == ["loss"]


def test_transform_is_fitted_to_half_of_the_reference(rng, tmp_path):
    from sklearn.decomposition import PCA

    rows = rng.normal(size=(200, 8))
    monitor = DriftMonitor(rows, transform=PCA(3), rng=1)
    assert monitor.transform.n_samples_ == 100
    columns = [score for score in monitor.result.scores if score["kind"] == "column"]
    assert len(columns) == 3
    assert monitor._stream.banks[0].urns.values.shape == (3, 100)  # ranked among the other half
    monitor.save(tmp_path / "m.npz")
    again = DriftMonitor.load(tmp_path / "m.npz", transform=monitor.transform)
    new = rng.normal(size=(50, 8))
    assert same(monitor.update(new), again.update(new))


def test_times_and_identifiers_are_left_out(rng):
    rows = mixed(rng, 100)
    rows.insert(0, "day", pd.date_range("2024-01-01", periods=100))
    rows.insert(0, "id", [f"x{i}" for i in range(100)])
    monitor = DriftMonitor(rows, rng=0)
    named = {score["score"] for score in monitor.result.scores if score["kind"] == "column"}
    assert named == {*rows.columns} - {"day", "id"}
    assert sum(text.code == "untested-column" for text in monitor.result.notes) == 2
    assert monitor.update(rows.drop(columns="id")).n_rows == 100


def test_all_rows_decide_whether_text_is_categories():
    """Whichever half of a short reference shows nearly as many levels as rows."""
    rng = np.random.default_rng(0)
    levels = np.char.add("level ", (np.arange(60) % 42).astype(str))
    reference = pd.DataFrame({"a": rng.normal(size=60), "kind": rng.permutation(levels)})
    for seed in range(5):
        assert DriftMonitor(reference, rng=seed)._stream.layout.names == ("a", "kind")
    reference["kind"] = np.char.add("level ", (np.arange(60) % 55).astype(str))
    for seed in range(5):
        with pytest.raises(ValueError, match="'kind' holds text with 55 different values"):
            DriftMonitor(reference, rng=seed)


def test_reference_that_changes_has_a_note(rng):
    reference = np.concatenate([rng.normal(size=100), rng.normal(2.0, 1.0, 100)])
    notes = DriftMonitor(reference, rng=0).result.notes
    assert [text.code for text in notes] == ["reference-changes"]
    assert not DriftMonitor(rng.permutation(reference), rng=0).result.notes


def test_run_length_has_no_pvalue(rng):
    monitor = DriftMonitor(rng.normal(size=100), run_length=1000, rng=0)
    result = monitor.update(rng.normal(size=100))
    assert (result.pvalue, result.threshold, result.alpha) == (None, 2000.0, None)
    assert monitor.update(rng.normal(1.5, 1.0, 100)).reject()
    with pytest.raises(ValueError, match="alpha: a monitor with run_length"):
        result.reject(0.05)


def test_omitted_rows_are_counted(rng):
    monitor = monitored(rng, nan_policy="omit")
    result = monitor.update(mixed(rng, 100))
    assert result.n_rows == 100
    assert monitor._stream.age < 100
    with pytest.raises(ValueError, match=r"reference has .* missing values; pass nan_policy"):
        monitored(rng, nan_policy="raise")


def test_history_is_bounded(rng, monkeypatch):
    monkeypatch.setattr(stream_module, "_HISTORY", 10)
    monitor = DriftMonitor(rng.normal(size=60), scores="columns", rng=0)
    evidence = [monitor.update(value).evidence for value in rng.normal(size=50)]
    history = monitor.result.history
    assert len(history) <= 10 and history[-1]["rows"] == 50
    assert max(look["evidence"] for look in history) == pytest.approx(max(evidence))


def test_reset_begins_anew(rng):
    monitor = DriftMonitor(rng.normal(size=100), rng=0)
    monitor.update(rng.normal(3.0, 1.0, 50))
    assert monitor.alarm
    monitor.reset(rng.normal(3.0, 1.0, 100))
    assert not monitor.alarm and monitor.result.n_rows == 0


# --------------------------------------------------------------------------------------------- files and faults


def test_rows_are_taken_once_by_name(rng, tmp_path):
    monitor = monitored(rng)
    rows = mixed(rng, 30)
    path = tmp_path / "day.csv"
    rows.to_csv(path, index=False)
    monitor.update(path)
    with pytest.raises(AlreadyTaken, match=r"source 'day\.csv' was already processed"):
        monitor.update(str(path))
    assert monitor.result.n_rows == 30
    assert monitor.update(path, again=True).n_rows == 60
    assert monitor.update(rows, source="Monday").n_rows == 90
    monitor.save(tmp_path / "m.npz")
    with pytest.raises(AlreadyTaken):
        DriftMonitor.load(tmp_path / "m.npz").update(rows, source="Monday")
    assert monitor.update(rows[:29], source="Monday").n_rows == 119


def test_state_is_small_and_has_no_pickles(rng, tmp_path):
    monitor = monitored(rng, 1000)
    for _ in range(4):
        monitor.update(mixed(rng, 600))
    monitor.save(tmp_path / "m.npz")
    assert (tmp_path / "m.npz").stat().st_size < 2e6
    assert [path.name for path in tmp_path.iterdir()] == ["m.npz"]
    with np.load(tmp_path / "m.npz", allow_pickle=False) as file:
        header = json.loads(bytes(file["header"]))
        assert all(file[name].dtype.kind in "fiub" for name in file.files)
    assert header["format"] == 1


def test_a_failed_save_keeps_the_old_state(rng, tmp_path, monkeypatch):
    monitor = monitored(rng)
    monitor.save(tmp_path / "m.npz")
    before = (tmp_path / "m.npz").read_bytes()

    def fail(*_, **__):
        raise OSError("no space")

    monkeypatch.setattr(np, "savez_compressed", fail)
    with pytest.raises(OSError, match="no space"):
        monitor.save(tmp_path / "m.npz")
    assert (tmp_path / "m.npz").read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1


def test_other_files_are_no_state(rng, tmp_path):
    np.savez(tmp_path / "other.npz", a=np.ones(2))
    (tmp_path / "text.npz").write_text("nothing")
    for name in ("other.npz", "text.npz"):
        with pytest.raises(ValueError, match="path is not the state of a monitor"):
            DriftMonitor.load(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        DriftMonitor.load(tmp_path / "none.npz")


def test_states_of_other_versions_are_refused(rng, tmp_path, monkeypatch):
    from shrinktest.monitoring import state

    monitor = monitored(rng)
    monkeypatch.setattr(state, "FORMAT", 0)
    monitor.save(tmp_path / "m.npz")
    monkeypatch.undo()
    with pytest.raises(ValueError, match="state of another version"):
        DriftMonitor.load(tmp_path / "m.npz")


GOOD = np.random.default_rng(3).normal(size=(60, 2))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: DriftMonitor(GOOD, alpha=0.1, run_length=10),
            "alpha and run_length cannot be combined",
        ),
        (lambda: DriftMonitor(GOOD[:49]), "reference has 49 rows; pass 50 or more"),
        (lambda: DriftMonitor(GOOD, alpha=1.0), "alpha must lie strictly"),
        (lambda: DriftMonitor(GOOD, run_length=0), "run_length must be a finite number > 0"),
        (lambda: DriftMonitor(GOOD, scores="column"), "scores must be one of .*Did you mean"),
        (lambda: DriftMonitor(GOOD, scores=[]), "scores is empty"),
        (lambda: DriftMonitor(GOOD[:, 0], scores="pairs"), "scores='pairs' needs 2 to 10 numeric"),
        (lambda: DriftMonitor(GOOD, column_types={"x": "drop"}), "a column in column_types"),
        (
            lambda: DriftMonitor(GOOD).update(GOOD[:, :1]),
            "rows has 1 column, and the reference has 2",
        ),
        (lambda: DriftMonitor(GOOD).update(GOOD, times=[1, 2]), "times has 2 entries for 60 rows"),
        (lambda: DriftMonitor(GOOD).update(GOOD * np.inf), "rows has an infinite value"),
        (
            lambda: DriftMonitor(pd.DataFrame(GOOD, columns=["a", "b"])).update(
                pd.DataFrame(GOOD, columns=["a", "c"])
            ),
            "other columns than the reference: it lacks 'b'; it adds 'c'",
        ),
        (
            lambda: DriftMonitor(GOOD, scores=lambda rows: 1.0),
            "a number for every row of reference",
        ),
    ],
)
def test_faults(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_refused_batch_changes_nothing(rng):
    monitor = monitored(rng)
    monitor.update(mixed(rng, 20))
    before = monitor.result
    with pytest.raises(ValueError, match="other columns"):
        monitor.update(mixed(rng, 20).drop(columns="flag"))
    assert monitor.result is before
    twin = monitored(np.random.default_rng(0))
    twin.update(mixed(np.random.default_rng(0), 20))
    assert monitor.result.n_rows == 20


# --------------------------------------------------------------------------------------------- level


@pytest.mark.ci
@pytest.mark.parametrize("draw", ["numbers", "counts", "mixed"])
def test_level_of_the_whole_monitor(draw):
    alarms = 0
    for seed in range(150):
        rng = np.random.default_rng([seed, 4])
        sample = {
            "numbers": lambda m, rng=rng: rng.normal(size=(m, 3)),
            "counts": lambda m, rng=rng: rng.poisson(1.0, size=(m, 3)),
            "mixed": lambda m, rng=rng: mixed(rng, m),
        }[draw]
        monitor = DriftMonitor(sample(50), alpha=0.1, rng=seed)
        alarms += monitor.update(sample(500)).alarm
    assert alarms <= 25  # binomial(150, .1): above with probability .004


def test_a_named_transform_treats_every_row_by_itself():
    counts = np.random.default_rng(0).poisson(5.0, size=(120, 3)) + 1.0
    shares = np.sqrt(counts / counts.sum(axis=1, keepdims=True))
    monitors = []
    for rows, transform in ((counts, "hellinger"), (shares, lambda rows: rows)):
        monitor = DriftMonitor(rows[:80], transform=transform, rng=0)
        monitor.update(rows[80:])
        monitors.append(monitor.result.evidence)
    assert monitors[0] == monitors[1]
