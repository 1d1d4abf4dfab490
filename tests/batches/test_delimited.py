"""CSV files that the library reads in batches: what is between cells, and which of these are missing."""

import numpy as np
import pandas as pd
import pytest

from shrinktest import two_sample_test

pytest.importorskip("pyarrow")


@pytest.mark.parametrize("mark", [",", ";"])
def test_the_words_of_pandas_are_missing(tmp_path, mark):
    rng, tables = np.random.default_rng(0), []
    for i in (0, 1):
        g = rng.choice(["None", "<NA>", "null", "x", "nA"], 40)
        pd.DataFrame({"v": rng.normal(size=40).round(2), "g": g}).to_csv(tmp_path / f"{i}.csv", index=False, sep=mark)
        tables.append(pd.read_csv(tmp_path / f"{i}.csv", sep=mark))
    how = {"rng": 0, "n_resamples": 99, "nan_policy": "omit"}
    found = two_sample_test(*(str(tmp_path / f"{i}*.csv") for i in (0, 1)), **how)
    expected = two_sample_test(*tables, **how)
    assert found.n_observations == expected.n_observations and found.pvalue == expected.pvalue
