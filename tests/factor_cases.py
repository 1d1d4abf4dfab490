"""Tables and responses for tests of designs with several factors."""

import numpy as np
import pandas as pd

from shrinktest.statistics.features import Features
from shrinktest.statistics.projections import term_statistic


def trial(n=48, seed=0):
    """A table with factors, covariates and nested labels."""
    rng = np.random.default_rng(seed)
    patients = np.repeat([f"p{i}" for i in range(n // 4)], 4)
    return pd.DataFrame(
        {
            "arm": np.where(np.repeat(np.arange(n // 4), 4) % 2, "drug", "placebo"),
            "visit": np.tile(["v1", "v2", "v3", "v4"], n // 4),
            "patient": patients,
            "site": np.repeat([f"s{i % 3}" for i in range(n // 4)], 4),
            "region": np.repeat([f"r{i % 3}" for i in range(n // 4)], 4),
            "smoker": rng.random(n) < 0.5,
            "age": rng.normal(50.0, 9.0, n),
            "dose": rng.integers(1, 4, n),
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), "D"),
            "pain score": rng.normal(size=n),
            "constant": 1.0,
        }
    )


def response_of(table, seed=2, shift=0.0):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(len(table), 3))
    return rows + shift * (table["arm"] == "drug").to_numpy()[:, None]


def statistic_of(plan, response, robust=True):
    """The statistic of a plan with one stratum, by the linear kernel."""
    (stratum,) = plan.strata
    features = Features(response @ response.T)
    term = term_statistic(
        features, stratum.part, stratum.space, stratum.moved, stratum.directions, robust
    )
    return term.statistic()
