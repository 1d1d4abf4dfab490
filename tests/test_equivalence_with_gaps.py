"""Samples that miss much are alike: an equivalence test with indicators says so."""

import numpy as np
import pandas as pd

from shrinktest import equivalence_test


def samples(first, second):
    rng = np.random.default_rng(0)
    x, y = (pd.DataFrame({"a": rng.normal(size=60), "b": rng.normal(size=60)}) for _ in range(2))
    for one, missing in ((x, first), (y, second)):
        one.loc[: missing - 1, "a"] = np.nan
    return x, y


def said(x, y, **options):
    result = equivalence_test(x, y, **{"margin": 0.2, "scale": "distance", "nan_policy": "indicator", **options})
    return [note for note in result.notes if note.startswith("Values are missing")]


def test_much_is_missing_in_both_samples():
    expected = "Values are missing in column 'a' (40% of X and 70% of Y): rows that miss a value are alike"
    x, y = samples(24, 42)
    for units in ("auto", "rank", None, {"a": 3.0}):
        assert said(x, y, units=units)[0].startswith(expected)
    assert said(x, y, scale="auc", margin=0.7)[0].startswith(expected)
    assert "column 0 (40% of old and 70% of new)" in said(x.to_numpy(), y.to_numpy(), names=("old", "new"))[0]
    x["a"], y["a"] = (one["a"].gt(0.0).where(one["a"].notna(), None).astype(object) for one in (x, y))
    assert said(x, y)[0].startswith(expected)


def test_little_is_missing_in_one_of_them():
    x, y = samples(19, 42)
    assert not said(x, y)
    assert not said(*samples(24, 42), nan_policy="omit")
