"""Sentences and a table of the page on estimators about power, from the data of two studies."""

from __future__ import annotations

from folders import DOCS
from front_pictures import figures

# isort: split
from _study import read

#: The changes of the table, each with its setting in the data.
CHANGES = {
    "every column stretched by 1.3": "scale x1.3, all",
    "one column shifted by 1": "shift by 1, one",
    "columns correlated (0.6)": "correlation 0.6",
}


def values() -> dict[str, str]:
    """Sentences and a table of the page on estimators about power."""
    rates = read(DOCS / "data" / "which_estimator.csv")
    rates = rates[(rates["test"] == "two-sample") & (rates["d"] == 20) & ~rates["null"]]
    power = rates.set_index(["cell", "estimator"])["power"]
    trials = int(rates["trials"].max())
    lines = [
        f"| {change} | {figures(power[cell, 'kme'])} | {figures(power[cell, 'lam_cov 0.3'])} |"
        for change, cell in CHANGES.items()
    ]
    head = "| change in the second sample | plain average | `FKMSE(lam_cov=0.3)` |\n| --- | --- | --- |"
    table = read(DOCS / "data" / "leaderboard.csv")
    wide = table[~table["null"] & (table["test"] == "two-sample")]
    wide = wide.pivot(index=["group", "cell", "d", "sizes"], columns="label", values="power")
    shift = wide[wide.index.get_level_values("cell").str.contains("shift")]
    return {
        "better": "Sometimes: it depends on how the samples differ. Power at the 5% level with 25 + 25 rows in 20 "
        f"columns ({trials:,} data sets per line, standard errors up to {0.5 / trials**0.5:.3f}):\n\n"
        + "\n".join([head, *lines]),
        "auto": '`estimator="auto"`, which combines six kernels, had mean power '
        f"{figures(wide['auto'].mean())} over [{len(wide)} two-sample "
        "settings](power_compared.md#two-samples-and-independence), compared with "
        f"{figures(wide['kme'].mean())} for the default and "
        f"{figures(wide[['MMDAgg', 'MMD-FUSE']].max(axis=1).mean())} for the better of MMDAgg and MMD-FUSE in each "
        "setting. Against pure shifts in the mean, however, its power is about "
        f"{figures((shift['kme'] - shift['auto']).mean())} lower than that of the default.",
    }
