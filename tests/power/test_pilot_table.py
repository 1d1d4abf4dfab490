"""Pilot tables of designs with several factors: draws, null twins, power, and sample size."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

from shrinktest import Distances, factor_test
from shrinktest.power import power_study, solve_sample_size
from shrinktest.power.designs import FactorsFromData
from shrinktest.power.designs.apportionment import apportioned

RESPONSE = ["pain", "mood"]


def pilot(patients=12, seed=0):
    """Visits of patients in two arms and three sites; visits are missing for some."""
    rng = np.random.default_rng(seed)
    visits = 3
    table = pd.DataFrame(
        {
            "patient": np.repeat(np.arange(patients), visits),
            "visit": np.tile(["v1", "v2", "v3"], patients),
            "arm": np.repeat(["drug", "placebo"] * (patients // 2), visits),
            "site": np.repeat([f"s{i % 3}" for i in range(patients)], visits),
            "age": np.repeat(rng.normal(50.0, 9.0, patients), visits),
        }
    )
    own = np.repeat(rng.normal(size=(patients, 2)), visits, axis=0)
    values = own + 0.5 * rng.normal(size=own.shape)
    values[:, 0] += 1.5 * (table["arm"] == "drug")
    table[RESPONSE] = values + 0.5 * (table["visit"] == "v3").to_numpy()[:, None]
    return table.drop(index=[4, 17]).reset_index(drop=True)


def of_rows(term="arm", **options):
    return FactorsFromData("arm * visit", pilot(), response=RESPONSE, term=term, **options)


def of_groups(term="arm", **options):
    labels = {"groups": "patient", "blocks": "site", **options}
    return FactorsFromData("arm * visit + age", pilot(), response=RESPONSE, term=term, **labels)


def keyed(table):
    return set(map(tuple, table.itertuples(index=False)))


def test_rows_are_drawn_in_the_proportions_of_cells():
    design = of_rows()
    known = keyed(pilot()[["arm", "visit", *RESPONSE]])
    (table, response), labels = design.trial(0, 34)
    assert keyed(pd.concat([table, response], axis=1)) <= known and labels == {}
    counts = table.groupby(["arm", "visit"]).size()
    pd.testing.assert_series_equal(counts, pilot().groupby(["arm", "visit"]).size())
    assert len(set(response["pain"])) < 34  # with replacement
    assert (design.smallest(), len(design.sample(0, 7)[0])) == (7, 7)


def test_groups_keep_their_rows_and_blocks():
    design = of_groups()
    (table, response), labels = design.trial(1, 20)
    whole = pilot().groupby("patient")["pain"].apply(tuple)
    drawn = response.groupby(labels["groups"])["pain"].apply(tuple)
    assert len(drawn) == 20 and set(drawn) <= set(whole)
    blocks = pd.Series(labels["blocks"]).groupby(labels["groups"]).nunique()
    assert (blocks == 1).all() and design.unit == "patients"
    assert table.groupby(labels["groups"])["arm"].nunique().max() == 1


def test_sizes_are_apportioned():
    assert apportioned((1, 99), 10) == (1, 9)
    for n in range(4, 40):
        sizes = np.array(apportioned((3, 5, 5, 7), n))
        assert sizes.sum() == n and sizes.min() >= 1
        assert (np.array(apportioned((3, 5, 5, 7), n + 1)) >= sizes).all()
    assert apportioned((3, 5, 5, 7), 40) == (6, 10, 10, 14)


@pytest.mark.parametrize("design", [of_rows(), of_groups("age"), of_groups("arm:visit")], ids=str)
def test_without_effect_values_change_places_within_cells(design):
    (table, response), labels = design.trial(3, 24)
    (moved, same), own = design.null().trial(3, 24)
    pd.testing.assert_frame_equal(response, same)
    assert own.keys() == labels.keys()
    name = design.term.partition(":")[0]
    others = table.columns.drop(name)
    pd.testing.assert_frame_equal(table[others], moved[others])
    assert (table[name] != moved[name]).any()
    unit = labels.get("groups", np.arange(24))
    assert moved.groupby(unit)[name].nunique().max() == 1
    cells = table["visit"] if not labels else labels["blocks"]
    for _, rows in table.groupby(np.asarray(cells)).groups.items():
        before = table.loc[rows, name][~pd.Series(unit).loc[rows].duplicated()]
        after = moved.loc[rows, name][~pd.Series(unit).loc[rows].duplicated()]
        assert sorted(before) == sorted(after)


def test_visits_change_places_within_patients():
    design = of_groups("visit")
    (table, _), labels = design.trial(3, 12)
    (moved, _), _ = design.null().trial(3, 12)
    groups = labels["groups"]
    before = table.groupby(groups)["visit"].apply(sorted)
    assert (before == moved.groupby(groups)["visit"].apply(sorted)).all()
    assert (table["visit"] != moved["visit"]).any() and (table["arm"] == moved["arm"]).all()


def test_effect_is_the_share_that_keeps_its_values():
    design = of_rows(effect=0.5)
    (moved, _), _ = design.trial(0, 600)
    (table, _), _ = of_rows().trial(0, 600)
    # of the other half, about half get the value that they had
    assert (table["arm"] != moved["arm"]).mean() == pytest.approx(0.25, abs=0.06)
    null = design.null()
    assert null.null() is null and null.effect == 0.0 and null == of_rows(effect=0.0)


def test_a_study_is_made_of_tests_of_the_term():
    design = of_groups()
    study = power_study(design, "kme", 12, n_trials=3, n_resamples=39, workers=1, rng=5)
    pvalues = []
    for trial in range(3):
        data, permutations = [
            np.random.SeedSequence(5, spawn_key=(12, 0, trial, stream)) for stream in (0, 1)
        ]
        (table, response), labels = design.trial(np.random.default_rng(data), 12)
        pvalues.append(
            factor_test(
                "arm * visit + age", table, response=response, n_resamples=39, **labels,
                rng=permutations,
            )["arm"].pvalue
        )  # fmt: skip
    assert study.table["power"].item() == np.mean(np.array(pvalues) <= 0.05)


@pytest.mark.ci
def test_workers_do_not_change_a_study():
    few = {"n_trials": 4, "n_resamples": 19, "rng": 5}
    tables = [
        power_study(of_groups(), "kme", 12, workers=workers, **few).table.drop(columns="seconds")
        for workers in (1, 2)
    ]
    pd.testing.assert_frame_equal(*tables)


@pytest.mark.parametrize("design", [of_rows(), of_groups()], ids=["rows", "groups"])
def test_other_tests_get_table_and_response(design):
    def smallest(table, response):
        assert len(table) == len(response)
        return 0.01 if set(table["arm"]) == {"drug", "placebo"} else 1.0

    members = {"own": smallest, "F": {"statistic": "F", "kernel": "linear"}, "auto": "auto"}
    study = power_study(
        design, members, 12, n_trials=1, n_resamples=19, with_null=False, workers=1, rng=0
    )
    assert study.table.set_index("estimator")["power"]["own"] == 1.0 and len(study.table) == 3


def test_distances_are_drawn_by_rows_and_columns():
    values = pilot()["pain"].to_numpy()
    response = Distances(np.abs(values[:, None] - values))
    design = FactorsFromData("arm + age", pilot(), response=response, term="arm")
    (table, drawn), _ = design.trial(0, 20)
    known = pilot().assign(row=np.arange(len(pilot()))).set_index(["arm", "age"])["pain"]
    candidates = [set(known.loc[(row.arm, row.age)]) for row in table.itertuples()]
    gaps = {abs(a - b) for a in candidates[0] for b in candidates[1]}
    assert any(np.isclose(drawn.distances[0, 1], gap) for gap in gaps)
    assert not np.diagonal(drawn.distances).any()
    study = power_study(design, "kme", 20, n_trials=2, n_resamples=19, workers=1, rng=0)
    assert len(study.table) == 1


def test_designs_are_values():
    design = of_groups()
    same = pickle.loads(pickle.dumps(design))
    assert design == of_groups() == same and hash(design) == hash(same)
    assert len({design, of_groups("visit"), of_groups(effect=0.5), of_groups(blocks=None)}) == 4
    changed = pilot()
    changed.loc[0, "pain"] += 1.0
    assert of_rows() != FactorsFromData("arm * visit", changed, response=RESPONSE, term="arm")
    assert repr(design) == (
        "FactorsFromData('arm * visit + age', <34 rows>, term='arm', groups=<12 patients>, "
        "blocks=<3>)"
    )


def test_a_left_side_names_the_response():
    design = FactorsFromData("pain + mood ~ arm", pilot())
    assert design.term == "arm" and list(design.sample(0, 8)[1]) == RESPONSE
    assert design.options()["formula"] == "arm"


def test_incomplete_responses_are_left_out_of_tests():
    table = pilot()
    table.loc[::9, "pain"] = np.nan
    design = FactorsFromData("arm", table, response=RESPONSE, nan_policy="omit")
    study = power_study(design, "kme", 20, n_trials=2, n_resamples=19, workers=1, rng=0)
    assert study.table["trials"].item() == 2


@pytest.mark.ci
def test_sample_size_counts_groups():
    design = of_groups(effect=0.9)
    answer = solve_sample_size(
        design, n_trials=100, n_resamples=19, largest=60, workers=1, rng=0, power=0.5
    )
    words = " ".join(str(answer.summary()).split())
    assert "resampled from your pilot data)" in words
    assert f"{answer.n} patients the kme test finds the effect" in words
    assert "This assumes that 90% of the patients respond" in answer.paragraph()


@pytest.mark.ci
@pytest.mark.parametrize(
    "design",
    [
        of_rows("arm"),
        of_rows("arm:visit"),
        of_groups("arm"),
        of_groups("age"),
        of_groups("visit"),
        of_groups("arm:visit"),
    ],
    ids=lambda design: f"{design.term} {design.unit}",
)
def test_null_twins_keep_the_level(design):
    study = power_study(design.null(), "kme", 24, n_trials=150, n_resamples=19, rng=1)
    row = study.table.iloc[0]
    assert row["low"] <= 0.05  # 97.5% limit of the rejection rate


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"formula": "arm * visit"}, "term is missing; choose one of 'arm', 'visit', 'arm:visit'"),
        ({"term": "ar"}, "Did you mean 'arm'"),
        ({"effect": 1.5}, "effect must be a number from 0 to 1"),
        ({"formula": "arm + dose"}, "table has missing values in 'dose'"),
        ({"response": "constant"}, "response needs rows that differ"),
        ({"response": "pian"}, "Did you mean 'pain'"),
        ({"groups": "patient", "blocks": "visit"}, "groups: some have rows in more than one"),
    ],
)
def test_faults_name_the_argument(options, message):
    table = pilot().assign(constant=1.0, dose=np.where(np.arange(34) == 3, np.nan, np.arange(34)))
    formula = options.pop("formula", "arm")
    with pytest.raises(ValueError, match=message):
        FactorsFromData(formula, table, **{"response": RESPONSE, **options})


def test_sizes_that_no_design_has():
    with pytest.raises(ValueError, match="needs n >= 7"):
        power_study(of_rows(), "kme", 6)
    with pytest.raises(ValueError, match="ratio compares the sizes of two samples"):
        solve_sample_size(of_rows(), ratio=2.0)
