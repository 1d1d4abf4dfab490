"""Names of samples: what users call them is what results, effects, pictures, notes and errors call them."""

from __future__ import annotations

import matplotlib
import numpy as np
import pandas as pd
import pytest

from shrinktest import Batches, k_sample_test, two_sample_test

RNG = np.random.default_rng(0)
A, B = (pd.DataFrame(RNG.normal(shift, 1.0, (40, 2)), columns=["a", "b"]) for shift in (0.0, 0.5))
HOLES = A.mask(A["a"] == A["a"].iloc[0])
SITES = pd.DataFrame({"site": RNG.choice(["north", "south"], 40)})
HALF = (np.full(40, 0.5), np.full(40, 0.5))
NAMED = {"names": ("before", "after"), "n_resamples": 99, "rng": 0, "workers": 1}
ROUTES = {
    "tables": (A, B, {}),
    "arrays": (A.to_numpy(), B.to_numpy(), {}),
    "pairs": (A, B, {"paired": True}),
    "blocks": (A, B, {"blocks": np.arange(80) % 4}),
    "groups": (A, B, {"groups": np.arange(80) // 2}),
    "stretches": (A, B, {"shift": 4}),
    "strata": (A, B, {"covariates": (SITES, SITES)}),
    "propensity": (A[["b"]], B[["b"]], {"covariates": (A[["a"]], B[["a"]]), "propensity": HALF}),
    "several": (A, B, {"estimator": ["kme", "fkmse"]}),
    "auto": (A, B, {"estimator": "auto"}),
    "left out": (HOLES, B, {"nan_policy": "omit"}),
    "unknown": (HOLES, B, {"nan_policy": "propagate"}),
    "batches": (Batches([A]), Batches([B]), {"gram": "rff", "rank": 20}),
    "batches in memory": (Batches([A]), Batches([B]), {}),
}


@pytest.mark.parametrize("route", ROUTES)
def test_samples_are_called_what_the_user_calls_them(route):
    x, y, given = ROUTES[route]
    named, plain = two_sample_test(x, y, **given, **NAMED), two_sample_test(x, y, **given, **{**NAMED, "names": None})
    assert named.names == ("before", "after") and plain.names == ()
    np.testing.assert_equal((named.pvalue, named.statistic), (plain.pvalue, plain.statistic))
    words = " ".join((str(named.summary()), *named.notes)).split()
    assert not {"X", "Y", "X."} & set(words)
    if hasattr(named, "members"):
        return
    assert {"before", "after"} <= set(words) or route == "unknown"


def test_effects_and_pictures_use_them():
    result = two_sample_test(A, B, **NAMED)
    assert result.effect().names == ("before", "after")
    assert "shown one observation of before and one of after" in " ".join(
        str(result.summary(effect=True)).lower().split()
    )
    ax = result.plot_witness(coordinates="a", grid=5)
    assert "Where before and after differ" in ax.get_title()
    matplotlib.pyplot.close(ax.figure)


def test_errors_use_them():
    with pytest.raises(ValueError, match="after has 1 row"):
        two_sample_test(A, B[:1], **NAMED)
    with pytest.raises(ValueError, match="covariates= for after has 3 rows"):
        two_sample_test(A, B, covariates=(A[["a"]], B[["a"]][:3]), **NAMED)
    with pytest.raises(MemoryError, match="before and after have 80 observations"):
        two_sample_test(Batches([A]), Batches([B]), max_memory=1000.0, **NAMED)


@pytest.mark.parametrize(
    "names, error, message",
    [
        ("ab", TypeError, "names must be two texts"),
        (("a",), TypeError, "names must be two texts"),
        (("a", ""), TypeError, "names must be two texts"),
        (("a", "a"), ValueError, "names must differ"),
    ],
)
def test_names_tell_samples_apart(names, error, message):
    with pytest.raises(error, match=message):
        two_sample_test(A, B, names=names)


def test_groups_of_pandas_are_given_by_name():
    table = pd.concat([A.assign(time="before"), B.assign(time="after")])
    with pytest.raises(TypeError, match=r"dict\(list\(df\.groupby"):
        k_sample_test(table.groupby("time"))
    groups = dict(list(table.groupby("time")[["a", "b"]]))
    assert k_sample_test(groups, n_resamples=19, rng=0).names == ("after", "before")
