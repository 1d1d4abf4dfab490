"""The table of assumptions and limitations: what each test rests on, and the highest rate that was measured."""

from __future__ import annotations

import pandas as pd
from folders import DOCS

# isort: split
from _study import markdown, percent, read
from equivalence_levels import BEST
from given_levels import HOLDS


def values() -> dict[str, str]:
    """Return the table."""
    return {"table": markdown(pd.DataFrame(entries()))}


def entries() -> list[dict[str, str]]:
    """Return the rows of the table."""
    rates = highest()
    kinds = (
        (
            "`two_sample_test`, `k_sample_test`, `independence_test` and their versions that test each "
            "column or pair of columns",
            "exact",
            "rows are exchangeable",
            rates["rows"],
            "`repeated-units`, `serial-correlation`",
        ),
        (
            "these tests with `paired=`, `blocks=` or `groups=`",
            "exact",
            "pairs, rows within a block, or whole groups are exchangeable",
            rates["restricted"],
            "",
        ),
        (
            "these tests and change-point tests with `block_length=`",
            "approximate",
            "the series is stationary, and long relative to its autocorrelation",
            rates["series"],
            "`short-series`",
        ),
        (
            "`change_point_test`, `change_points`",
            "exact",
            "rows are exchangeable if nothing changes",
            rates["change"],
            "`serial-correlation`",
        ),
        (
            "`pairwise()`",
            "exact for each pair; Shaffer's procedure controls the family-wise error rate",
            "rows of the two samples are exchangeable",
            rates["pairwise"],
            "",
        ),
        (
            "`given=`, `covariates=`: categories",
            "exact",
            "rows with the same categories are exchangeable",
            rates["strata"],
            "`strata-left-out`",
        ),
        (
            "`given=`, `covariates=`: numbers",
            "approximate",
            "the regressions capture how each variable depends on the others",
            rates["regressions"],
            "`regressions`",
        ),
        (
            "`factor_test`, terms marked exact",
            "exact",
            "the permuted units are exchangeable",
            rates["factors"],
            "",
        ),
        (
            "`factor_test`, other terms",
            "approximate",
            "the formula includes every term that matters; visits are missing at random",
            rates["factors, approximate"],
            "",
        ),
        (
            "`goodness_of_fit_test`",
            "exact; approximate with `fit=`",
            "the simulator draws independent data sets",
            rates["simulated"],
            "`parametric-bootstrap`",
        ),
        (
            "`equivalence_test`",
            "asymptotic",
            "no column is nearly constant",
            rates["equivalence"],
            "`asymptotic`, `rare-rows`",
        ),
        (
            "`closer_test`",
            "asymptotic",
            "the candidates differ from each other",
            rates["closer"],
            "`asymptotic`",
        ),
        (
            "`DriftMonitor`",
            "bound that holds at all times simultaneously",
            "rows are independent and distributed like the reference",
            rates["monitor"],
            "`reference-changes`, `batch-trends`",
        ),
    )
    names = (
        "test",
        "p-value",
        "what must hold",
        "highest measured error rate at the 5% level",
        "note in the result",
    )
    return [dict(zip(names, kind, strict=True)) for kind in kinds]


def highest() -> dict[str, str]:
    """Return the highest measured rate of every kind of test, in words."""
    names = ("kernel_levels", "new_tests_levels", "mixed_tables_level")
    exact = pd.concat([table(name) for name in names])
    exact = exact[~exact["test"].str.endswith(", relabeled freely")]
    restricted = table("restricted_levels")
    restricted = restricted[
        (restricted["kind"] == "exact")
        & ~restricted["restriction"].isin(["none", "shift"])
        & restricted["level"].notna()
    ]
    change = table("change_levels")
    series = change[(change["what"] == "series") & (change["told"] == "stretches")]
    long = series["noted"] < 0.05
    pairs = table("pairwise_levels")
    given = table("given_levels").query("effect == 'none'")
    given = given[given["method"] == "residuals"]
    fits = given["left"] <= HOLDS
    factors = table("factor_levels")
    own = factors[factors["kind"].isin(["exact", "approximate", "groups"])]
    own = own[~own["statistic"].str.contains("freely")]
    simulated = table("simulator_levels").groupby("parameters")["rejected"].max()
    equivalence = table("equivalence_levels").query("what == 'at the margin'")
    equivalence = equivalence[equivalence["reading"] != BEST]
    closer = table("closer_levels")
    closer = closer[~closer["cell"].str.startswith("power")]
    monitor = table("monitor_levels")
    monitor = monitor[monitor["what"].isin(["monitor", "score"]) & (monitor["design"] == "alpha")]
    rare = table("rare_levels")
    return {
        "rows": percent(exact["level"].max()),
        "restricted": percent(restricted["level"].max()),
        "series": f"{percent(series['level'][long].max())}; short series "
        f"{percent(series['level'][~long].max())}",
        "change": percent(change.loc[change["what"] == "exact", "level"].max()),
        "pairwise": percent(pairs.loc[~pairs["how"].str.contains("all rows"), "level"].max()),
        "strata": percent(table("given_levels_kernels")["rejected"].max()),
        "regressions": f"{percent(given['rejected'][fits].max())} where they fit; "
        f"{percent(given['rejected'][~fits].max())} where they do not",
        "factors": percent(own.loc[own["exact"], "rejected"].max()),
        "factors, approximate": percent(own.loc[~own["exact"], "rejected"].max()),
        "simulated": f"{percent(simulated['known'])}; {percent(simulated['fitted'])} with `fit=`",
        "equivalence": f"{percent(equivalence['rejected'].max())}; rare values "
        f"{percent(rare['rejected'].max())}",
        "closer": percent(closer["rejected"].max()),
        "monitor": percent(monitor["rejected"].max()),
    }


def table(name: str) -> pd.DataFrame:
    """Return a data file of a study."""
    return read(DOCS / "data" / f"{name}.csv")
