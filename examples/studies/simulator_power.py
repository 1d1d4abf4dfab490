"""Power of ``goodness_of_fit_test`` beside tests of Kolmogorov and Smirnov of every column.

Data differ from a model of normal columns in the mean of a column, in a tail, or in dependence alone.  The rivals compare
every column with many simulated rows and are adjusted by Holm's method, whose smallest p-value is Bonferroni's.  All tests
see the same data sets.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd
from _charts import dots
from _levels import ALPHA, generator, rate
from _study import claim, markdown, parts, run, span
from scipy.stats import ks_2samp
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from shrinktest import goodness_of_fit_test
from shrinktest.results.plots.axes import BLUE, GRAY, ORANGE

NAME = "simulator_power"
ROWS = 50
SIMULATIONS = 99
SIMULATED = 2000  # rows with which the rivals compare every column
SEVERAL, MANY = 8, 30  # columns of wider models
CHUNK = 5
KS = "Kolmogorov-Smirnov"
OPTIONS: dict[str, dict] = {
    "median": {},
    "grid": {"bandwidth": "grid"},
    "auto": {"estimator": "auto"},
}
TESTS = (*OPTIONS, KS)
LOOKS = {"median": ("o", BLUE), "grid": ("^", BLUE), "auto": ("D", ORANGE), KS: ("X", GRAY)}
Draw = Callable[[np.random.Generator, int], np.ndarray]


# --- data ---------------------------------------------------------------------------------------


def correlated(rng, n):
    """Draw the model: two normal columns with correlation .5."""
    first, second = rng.normal(size=(2, n))
    return np.column_stack([first, 0.5 * first + 0.75**0.5 * second])


def independent(rng, n, columns):
    """Draw a wider model: independent normal columns."""
    return rng.normal(size=(n, columns))


def shifted(rng, n):
    return correlated(rng, n) + np.array([0.0, 0.45])


def one_shifted(rng, n, columns, shift):
    """Draw independent normal columns of which the first has another mean."""
    data = independent(rng, n, columns)
    data[:, 0] += shift
    return data


def heavy(rng, n):
    data = correlated(rng, n)
    data[:, 1] = 0.5 * data[:, 0] + 0.75**0.5 * rng.standard_t(3, size=n) / 3**0.5
    return data


def uncorrelated(rng, n):
    return rng.normal(size=(n, 2))


def half(rng, n):
    """Draw normal columns that agree where the first is negative, and are independent elsewhere."""
    first, second = rng.normal(size=(2, n))
    return np.column_stack([first, np.where(first < 0.0, -np.abs(first), np.abs(second))])


NOTHING = "nothing"
SHIFTED = "a column of 2 shifted"
SHIFTED_OF_SEVERAL = f"a column of {SEVERAL} shifted"
SHIFTED_OF_MANY = f"a column of {MANY} shifted"
HEAVY = "a heavy tail"
UNCORRELATED = "no correlation"
HALF = "agreement below the mean only"
#: What is wrong in the model, to the model and the data.
DESIGNS: dict[str, tuple[Draw, Draw]] = {
    NOTHING: (correlated, correlated),
    SHIFTED: (correlated, shifted),
    SHIFTED_OF_SEVERAL: (
        partial(independent, columns=SEVERAL),
        partial(one_shifted, columns=SEVERAL, shift=0.55),
    ),
    HEAVY: (correlated, heavy),
    UNCORRELATED: (correlated, uncorrelated),
    HALF: (correlated, half),
    SHIFTED_OF_MANY: (
        partial(independent, columns=MANY),
        partial(one_shifted, columns=MANY, shift=0.65),
    ),
}
DEPENDENCE = (UNCORRELATED, HALF)  # every column has the distribution of the model


# --- trials -------------------------------------------------------------------------------------


def by_columns(data: np.ndarray, simulated: np.ndarray) -> float:
    """Return the smallest adjusted p-value of all columns."""
    pvalues = [
        ks_2samp(x, y, method="exact").pvalue for x, y in zip(data.T, simulated.T, strict=True)
    ]
    return float(multipletests(pvalues, method="holm")[1].min())


def rejected(design: str, trial: int) -> dict[str, bool]:
    """Return whether each test rejects the model for a data set."""
    model, draw = DESIGNS[design]
    rng = generator(f"{design}, data set {trial}", ROWS)
    data = draw(rng, ROWS)
    shared = {"n_simulations": SIMULATIONS, "workers": 1, "rng": trial}
    pvalues = {
        test: goodness_of_fit_test(data, model, **options, **shared).pvalue
        for test, options in OPTIONS.items()
    }
    pvalues[KS] = by_columns(data, model(rng, SIMULATED))
    return {test: pvalue <= ALPHA for test, pvalue in pvalues.items()}


def trials_of(design: str, trials: range) -> list[dict]:
    """Count the rejected data sets by test, and those in which only this test or only the rival rejects."""
    counts = {test: np.zeros(3, dtype=int) for test in TESTS}
    for trial in trials:
        answers = rejected(design, trial)
        by_rival = answers[KS]
        for test, own in answers.items():
            counts[test] += own, own and not by_rival, by_rival and not own
    return [
        {
            "design": design,
            "test": test,
            "trials": len(trials),
            "hits": hits,
            "only this": alone,
            "only the rival": missed,
        }
        for test, (hits, alone, missed) in counts.items()
    ]


def measured(args) -> pd.DataFrame:
    """Return the counts of every design and test."""
    chunks = [range(k, min(k + CHUNK, args.trials)) for k in range(0, args.trials, CHUNK)]
    jobs = [partial(trials_of, design, chunk) for design in DESIGNS for chunk in chunks]
    keys = ["design", "test"]
    return parts(args, NAME, jobs).groupby(keys, sort=False).sum().reset_index()


# --- page ---------------------------------------------------------------------------------------


def difference(row) -> tuple[float, float, float]:
    """Return the power less that of the rival on the same data sets, with Wald's 95% limits."""
    alone, missed, trials = row["only this"], row["only the rival"], row["trials"]
    apart = (alone - missed) / trials
    half_width = 1.96 * np.sqrt(alone + missed - trials * apart**2) / trials
    return apart, apart - half_width, apart + half_width


def is_clear(row) -> bool:
    """Return whether McNemar's exact test tells a test from the rival."""
    apart = mcnemar([[0, row["only this"]], [row["only the rival"], 0]], exact=True)
    return bool(apart.pvalue < ALPHA)


def differences(table: pd.DataFrame) -> str:
    """Return a Markdown table of differences from the rival; stars mark those that are clear."""
    lines = []
    for row in table[table["test"] != KS].to_dict("records"):
        star = " *" if is_clear(row) else ""
        apart, low, high = difference(row)
        cell = f"{apart:+.2f} [{low:+.2f}, {high:+.2f}]{star}"
        lines.append({"what is wrong": row["design"], "test": row["test"], "cell": cell})
    shown = pd.DataFrame(lines).pivot(index="what is wrong", columns="test", values="cell")
    return markdown(shown.loc[list(DESIGNS), list(OPTIONS)].reset_index())


def powers(table: pd.DataFrame) -> str:
    """Return a Markdown table of powers with intervals."""
    lines = []
    for row in table.to_dict("records"):
        found = rate(row["hits"], row["trials"])
        cell = f"{found['rejected']:.2f} [{found['low']:.2f}, {found['high']:.2f}]"
        lines.append({"what is wrong": row["design"], "test": row["test"], "cell": cell})
    shown = pd.DataFrame(lines).pivot(index="what is wrong", columns="test", values="cell")
    return markdown(shown.loc[list(DESIGNS), list(TESTS)].reset_index())


def chart(tables):
    """Draw the power of every test."""
    table = tables[""].assign(share=lambda t: t["hits"] / t["trials"])
    shown = table.pivot(index="design", columns="test", values="share").loc[list(DESIGNS)]
    return dots(shown, "share of data sets in which the model is rejected", LOOKS, ALPHA)


def values(tables) -> dict:
    """Return the numbers, tables and claims of the section."""
    table = tables[""]
    shares = table.assign(share=table["hits"] / table["trials"])
    power = shares.pivot(index="design", columns="test", values="share")
    dependence = power.loc[list(DEPENDENCE)]
    clear = {
        (row["design"], row["test"]): np.sign(difference(row)[0]) * is_clear(row)
        for row in table[table["test"] != KS].to_dict("records")
    }
    return {
        "wins": claim(
            "With one of 30 columns shifted, Kolmogorov-Smirnov tests are clearly better than all "
            "three kernel tests.",
            all(clear[SHIFTED_OF_MANY, test] < 0 for test in OPTIONS),
        ),
        "even": claim(
            "With one of two or eight columns shifted, `auto` is neither clearly better nor clearly worse.",
            clear[SHIFTED, "auto"] == clear[SHIFTED_OF_SEVERAL, "auto"] == 0,
        ),
        "sees": claim(
            "Where only dependence is wrong, `auto` is clearly better.",
            all(clear[design, "auto"] > 0 for design in DEPENDENCE),
        ),
        "trials": int(table["trials"].max()),
        "rows": ROWS,
        "simulations": SIMULATIONS,
        "simulated": SIMULATED,
        "blind": span(dependence[KS], ".0%"),
        "auto": span(dependence["auto"], ".0%"),
        "powers": powers(table),
        "differences": differences(table),
    }


if __name__ == "__main__":
    run(__doc__, NAME, measured, values, chart, trials=100, quick=2)
