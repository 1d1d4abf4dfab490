"""The table of speed in docs/comparison.md, from the benchmarks' data; nothing is measured here."""

from __future__ import annotations

import pandas as pd
from _blocks import DOCS, run
from _study import markdown

PEERS = ("hyppo", "dcor", "frouros", "scipy")


def blocks() -> dict[str, str]:
    """Whole public calls against other packages, as measured in one run."""
    found = pd.read_csv(DOCS / "data" / "benchmarks.csv")
    others = found[found["theirs"].str.contains("|".join(PEERS)) & (found["measure"] == "faster")]
    rows = [
        {
            "what": r.name.rsplit(", against ", 1)[0],
            "shrinktest": f"{r.ours_seconds:.3g} s",
            "the other": f"{r.theirs.split(',')[0]}: {r.theirs_seconds:.3g} s",
            "ratio [rounds]": f"{r.value:.0f} [{r.low:.0f}, {r.high:.0f}]",
            "rounds": r.rounds,
        }
        for r in others.rename(columns={"name": "label"}).assign(name=others["name"]).itertuples(index=False)
    ]
    dates = sorted(set(others["date"]))
    where = "; ".join(sorted(set(others["environment"])))
    return {"speed": markdown(pd.DataFrame(rows)), "speed: where": f"Measured {' and '.join(dates)}: {where}."}


if __name__ == "__main__":
    run(__doc__, "comparison", blocks)
