"""Causal discovery by PC with nonlinear links: wrong edges and time per test, by three tests.

Random graphs of six columns have a link between each pair with the same chance; every column is a sum of nonlinear
functions of its parents and noise.  The search of causal-learn finds the skeleton with the tests of the package, its
kernel test KCI and Fisher's z, on the same data sets.  Tests of linked columns given one other show why they differ.
Where causal-learn is missing, nothing is measured.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec

import numpy as np
import pandas as pd
from _charts import dots
from _levels import generator
from _study import claim, markdown, parts, run
from scipy import stats

from shrinktest import Gaussian
from shrinktest.adapters import for_causal_learn
from shrinktest.conditional.regressions import Regressions, standardized
from shrinktest.results.plots.axes import BLUE, GRAY, ORANGE

NAME = "causal"
COLUMNS = 6
CHANCE = 0.35  # of a link
ROWS = (100, 300)
ALPHA = 0.05
OURS, KCI, FISHER = "shrinktest", "KCI", "Fisher's z"
SHAPES = "shrinktest, one kernel"
OF_RESIDUALS = "KCI of residuals"
BETWEEN = (OURS, SHAPES, OF_RESIDUALS, KCI)
LOOKS = {OURS: ("o", BLUE), KCI: ("D", ORANGE), FISHER: ("s", GRAY)}
LINKS: tuple[Callable[[np.ndarray], np.ndarray], ...] = (
    lambda x: x**2,
    np.cos,
    lambda x: np.sin(2.0 * x),
    np.tanh,
    np.abs,
)


def draw(rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw a data set (n, p), and its links (p, p), True above the diagonal where a column is a parent of another."""
    links = np.triu(rng.uniform(size=(COLUMNS, COLUMNS)) < CHANCE, 1)
    data = np.empty((rows, COLUMNS))
    for child in range(COLUMNS):
        data[:, child] = rng.normal(size=rows)
        for parent in np.flatnonzero(links[:, child]):
            value = LINKS[rng.integers(len(LINKS))](data[:, parent])
            data[:, child] += 1.5 * (value - value.mean()) / value.std()
        data[:, child] -= data[:, child].mean()
        data[:, child] /= data[:, child].std()
    places = rng.permutation(COLUMNS)
    return data[:, places], (links | links.T)[np.ix_(places, places)]


class Timed:
    """A test of causal-learn that keeps the seconds of each call."""

    def __init__(self, test: Callable[..., float]) -> None:
        self.test = test
        self.method = test.method
        self.seconds: list[float] = []

    def __call__(self, *query) -> float:
        start = time.perf_counter()
        pvalue = self.test(*query)
        self.seconds.append(time.perf_counter() - start)
        return pvalue


def tests_of(data: np.ndarray, seed: int) -> dict[str, Callable[..., float]]:
    """Return the three tests of a data set."""
    from causallearn.utils.cit import CIT

    return {
        OURS: for_causal_learn(data, rng=seed, workers=1),
        KCI: CIT(data, "kci"),
        FISHER: CIT(data, "fisherz"),
    }


def trial_of(rows: int, trial: int) -> list[dict]:
    """Count missed and added edges on one data set, by each test."""
    from causallearn.utils.PCUtils.SkeletonDiscovery import skeleton_discovery

    data, links = draw(generator(f"graph {trial}", rows), rows)
    above = np.triu_indices(COLUMNS, 1)
    measured = []
    for name, test in tests_of(data, trial).items():
        timed = Timed(test)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            search = skeleton_discovery(data, ALPHA, timed, show_progress=False)
        edges = (search.G.graph != 0)[above]
        truth = links[above]
        measured.append(
            {
                "rows": rows,
                "trial": trial,
                "test": name,
                "links": int(truth.sum()),
                "missed": int((truth & ~edges).sum()),
                "added": int((edges & ~truth).sum()),
                "tests": len(timed.seconds),
                "seconds": sum(timed.seconds),
            }
        )
    return measured


def pvalues_of_links(data: np.ndarray, triples: list[tuple], seed: int) -> dict[str, list[float]]:
    """Return p-values of pairs of columns given a third, by tests between ours and KCI."""
    from causallearn.utils.cit import CIT
    from causallearn.utils.KCI.KCI import KCI_CInd

    ours = for_causal_learn(data, rng=seed, workers=1)
    shapes = for_causal_learn(data, kernel=Gaussian(), rng=seed, workers=1)
    kci = CIT(data, "kci")
    pvalues: dict[str, list[float]] = {name: [] for name in BETWEEN}
    for x, y, given in triples:
        z = data[:, [given]]
        regressions = Regressions.on(standardized(z))
        left, right = (regressions.residuals(data[:, [j]], "").values for j in (x, y))
        pvalues[OURS].append(ours(x, y, [given]))
        pvalues[SHAPES].append(shapes(x, y, [given]))
        pvalues[OF_RESIDUALS].append(KCI_CInd().compute_pvalue(left, right, z)[0])
        pvalues[KCI].append(kci(x, y, [given]))
    return pvalues


def links_of(trial: int) -> list[dict]:
    """Count the tests of linked columns, given one other, that reject on one data set."""
    rows = ROWS[0]
    data, links = draw(generator(f"graph {trial}", rows), rows)
    triples = [
        (x, y, given)
        for x, y in zip(*np.nonzero(np.triu(links, 1)), strict=True)
        for given in range(COLUMNS)
        if given not in (x, y)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pvalues = pvalues_of_links(data, triples, trial)
    return [
        {
            "trial": trial,
            "test": name,
            "tests": len(values),
            "rejected": int((np.array(values) <= ALPHA).sum()),
        }
        for name, values in pvalues.items()
    ]


def measured(args) -> dict[str, pd.DataFrame]:
    """Return the counts of every data set and test, and of tests of linked columns."""
    jobs = [partial(trial_of, rows, trial) for rows in ROWS for trial in range(args.trials)]
    return {"": parts(args, NAME, jobs), "links": measured_links(args)}


def measured_links(args) -> pd.DataFrame:
    """Return the counts of tests of linked columns on every data set."""
    return parts(args, f"{NAME}_links", [partial(links_of, t) for t in range(args.trials)])


# --- page -----------------------------------------------------------------------------------------


def wrong_edges(table: pd.DataFrame) -> pd.DataFrame:
    """Return the wrong edges of each data set (rows, trial), with a column for every test."""
    wrong = table.assign(wrong=table["missed"] + table["added"])
    return wrong.pivot(index=["rows", "trial"], columns="test", values="wrong")[list(LOOKS)]


def with_error(values: pd.Series, form: str = ".2f") -> str:
    """Return a mean with the half-width of its 95% interval."""
    half = stats.t.ppf(0.975, len(values) - 1) * values.std() / np.sqrt(len(values))
    return f"{values.mean():{form}} ± {half:{form.lstrip('+')}}"


def found_links(table: pd.DataFrame) -> pd.DataFrame:
    """Return the share of tests of linked columns that reject, by data set and test."""
    some = table[table["tests"] > 0]
    return some.assign(share=some["rejected"] / some["tests"]).pivot(
        index="trial", columns="test", values="share"
    )[list(BETWEEN)]


def found_cells(shares: pd.DataFrame) -> str:
    """Return a Markdown table of shares, and of their differences from KCI on the same data sets."""
    lines = [
        {
            "test": name,
            "detects the link": with_error(shares[name], ".3f"),
            "difference from KCI": ""
            if name == KCI
            else with_error(shares[name] - shares[KCI], "+.3f"),
        }
        for name in BETWEEN
    ]
    return markdown(pd.DataFrame(lines))


def chart(tables):
    """Draw the mean number of wrong edges by the three tests."""
    wrong = wrong_edges(tables[""]).groupby("rows").mean()
    shown = wrong.rename(index=lambda rows: f"{rows} rows")
    return dots(shown, "wrong edges in a data set, missed or added", LOOKS)


def values(tables) -> dict:
    """Return the numbers, tables and claims of the section."""
    table = tables[""]
    wrong = wrong_edges(table)
    times = table.groupby(["rows", "test"])[["seconds", "tests"]].sum()
    milliseconds = (1000.0 * times["seconds"] / times["tests"]).unstack("test")
    lines = []
    for (rows, test), cell in table.groupby(["rows", "test"], sort=False):
        lines.append(
            {
                "rows": rows,
                "test": test,
                "wrong edges": with_error(cell["missed"] + cell["added"]),
                "missed": with_error(cell["missed"]),
                "added": with_error(cell["added"]),
                "without a wrong edge": f"{int((cell['missed'] + cell['added'] == 0).sum())}",
                "tests": f"{cell['tests'].mean():.0f}",
                "milliseconds per test": f"{milliseconds.loc[rows, test]:.1f}",
            }
        )
    ours = wrong[OURS] - wrong[KCI]
    shares = found_links(tables["links"])
    means = wrong.groupby("rows").mean()
    missed = table.groupby(["rows", "test"])["missed"].mean().unstack("test")
    return {
        "columns": COLUMNS,
        "trials": table["trial"].nunique(),
        "most_rows": ROWS[-1],
        "ours": f"{means.loc[ROWS[-1], OURS]:.2f}",
        "by_kci": f"{means.loc[ROWS[-1], KCI]:.2f}",
        "by_fisher": f"{means.loc[ROWS[-1], FISHER]:.2f}",
        "links": f"{table['links'].mean():.1f}",
        "counts": markdown(pd.DataFrame(lines)),
        "between": found_cells(shares),
        "link_tests": int(tables["links"].groupby("trial")["tests"].first().sum()),
        "few_rows": ROWS[0],
        "cause": claim(
            "KCI applied to residuals detects fewer links than KCI applied to the columns, and the four "
            "statistics of this package detect fewer than one kernel alone.",
            bool(
                shares[OF_RESIDUALS].mean() < shares[KCI].mean()
                and shares[OURS].mean() < shares[SHAPES].mean()
            ),
        ),
        "beside_kci": " and ".join(
            f"{with_error(ours.loc[rows])} with {rows} rows" for rows in ROWS
        ),
        "ratio": " and ".join(
            f"{milliseconds.loc[rows, OURS] / milliseconds.loc[rows, KCI]:.1f} times as long "
            f"with {rows} rows"
            for rows in ROWS
        ),
        "fisher": claim(
            "Fisher's z has more wrong edges than both kernel tests, with either number of rows.",
            bool((means[FISHER] > means[[OURS, KCI]].max(axis=1)).all()),
        ),
        "kci": claim(
            "KCI has the fewest, because it misses fewer links.",
            bool((means[KCI] < means[OURS]).all() and (missed[KCI] < missed[OURS]).all()),
        ),
    }


if __name__ == "__main__":
    if find_spec("causallearn") is None:
        print("The searches are those of causal-learn: pip install 'shrinktest[causal]'")
    else:
        run(__doc__, NAME, measured, values, chart, trials=50, quick=2)
