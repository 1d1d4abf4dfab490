"""How often ``assert_same_distribution`` fails, beside classifiers whose AUC must stay below a fixed threshold.

Normal samples, such as embeddings, differ by nothing, by a shift that makes the margin the true effect, by twice as much,
or in spread alone.  The rivals are what drift detectors do: a classifier learns to tell the samples apart, and its
cross-validated AUC is compared with a number.
"""

from __future__ import annotations

from functools import partial
from itertools import product

import numpy as np
import pandas as pd
from _charts import dots
from _levels import ALPHA, generator, rate
from _study import claim, markdown, parts, run, span
from scipy.stats import norm
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from shrinktest.results.plots.axes import BLUE, GRAY, ORANGE
from shrinktest.testing import assert_same_distribution

NAME = "classifier_alarms"
SIZES = (100, 300, 1000)  # rows of each sample
COLUMNS = 8
MARGIN = 0.6
SHIFT = float(2.0**0.5 * norm.ppf(MARGIN))  # of a mean, where the best AUC is the margin
FOLDS = 5
CHUNK = 10
NOTHING, AT_MARGIN, TWICE, SPREAD = "nothing", "the margin", "twice the shift", "a spread of 1.25"
DIFFERENCES = {NOTHING: (0.0, 1.0), AT_MARGIN: (SHIFT, 1.0), TWICE: (2.0 * SHIFT, 1.0)}
DIFFERENCES[SPREAD] = (0.0, 1.25)
OURS = "assert_same_distribution"
CLASSIFIERS = {
    "logistic": partial(LogisticRegression),
    "boosting": partial(HistGradientBoostingClassifier, random_state=0),
}
THRESHOLDS = (0.55, 0.6)
RIVALS = {f"{name} > {at}": (name, at) for name, at in product(CLASSIFIERS, THRESHOLDS)}
CHECKS = (OURS, *RIVALS)


def samples(rng: np.random.Generator, difference: str, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw two normal samples that differ in this way."""
    shift, spread = DIFFERENCES[difference]
    first, second = rng.normal(size=(2, n, COLUMNS))
    second *= spread
    second[:, 0] += shift
    return first, second


def area(name: str, first: np.ndarray, second: np.ndarray) -> float:
    """Return the cross-validated AUC of a classifier of the sample of each row."""
    rows = np.vstack([first, second])
    labels = np.repeat([0, 1], [len(first), len(second)])
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    scores = cross_val_predict(CLASSIFIERS[name](), rows, labels, cv=folds, method="predict_proba")[
        :, 1
    ]
    return float(roc_auc_score(labels, scores))


def failed(first: np.ndarray, second: np.ndarray, trial: int) -> dict[str, bool]:
    """Return whether each check fails."""
    areas = {name: area(name, first, second) for name in CLASSIFIERS}
    failures = {check: areas[name] > at for check, (name, at) in RIVALS.items()}
    failures[OURS] = False
    try:
        assert_same_distribution(first, second, margin=MARGIN, measure="auc", workers=1, rng=trial)
    except AssertionError:
        failures[OURS] = True
    return failures


def failures_of(difference: str, n: int, chunk: range) -> list[dict]:
    """Count how often each check fails."""
    counts = dict.fromkeys(CHECKS, 0)
    for trial in chunk:
        data = samples(generator(f"{difference}, {trial}", n), difference, n)
        for check, fails in failed(*data, trial).items():
            counts[check] += fails
    shared = {"difference": difference, "n": n, "trials": len(chunk)}
    return [{**shared, "check": check, "failed": count} for check, count in counts.items()]


def measured(args) -> pd.DataFrame:
    """Return how often each check fails; half as many data sets if there is a difference."""
    jobs = []
    for difference, n in product(DIFFERENCES, SIZES):
        trials = args.trials if difference == NOTHING else max(1, args.trials // 2)
        chunks = [range(k, min(k + CHUNK, trials)) for k in range(0, trials, CHUNK)]
        jobs += [partial(failures_of, difference, n, chunk) for chunk in chunks]
    keys = ["difference", "n", "check"]
    return parts(args, NAME, jobs).groupby(keys, sort=False).sum().reset_index()


# --- page ---------------------------------------------------------------------------------------


def chart(tables):
    """Draw how often each check fails if nothing differs."""
    table = tables[""].assign(share=lambda t: t["failed"] / t["trials"])
    none = table[table["difference"] == NOTHING]
    shown = none.pivot(index="check", columns="n", values="share").loc[list(CHECKS)]
    looks = dict(zip(SIZES, (("o", GRAY), ("D", ORANGE), ("s", BLUE)), strict=True))
    shown.columns = [f"{n} rows" for n in shown.columns]
    looks = {f"{n} rows": look for n, look in looks.items()}
    return dots(
        shown, "share of data sets without a difference in which the check fails", looks, ALPHA
    )


def rates(table: pd.DataFrame, difference: str) -> str:
    """Return a Markdown table of rates with intervals for one difference."""
    lines = []
    for row in table[table["difference"] == difference].to_dict("records"):
        found = rate(row["failed"], row["trials"])
        cell = f"{found['rejected']:.0%} [{found['low']:.0%}, {found['high']:.0%}]"
        lines.append({"check": row["check"], "n": row["n"], "cell": cell})
    shown = pd.DataFrame(lines).pivot(index="check", columns="n", values="cell").loc[list(CHECKS)]
    return markdown(shown.rename(columns=lambda n: f"n = {n}").reset_index())


def values(tables) -> dict:
    """Return the numbers, tables and claims of the section."""
    table = tables[""]
    shares = table.assign(share=table["failed"] / table["trials"])
    by = shares.pivot(index=["difference", "n"], columns="check", values="share")
    low = [f"{name} > {THRESHOLDS[0]}" for name in CLASSIFIERS]
    same = [f"{name} > {MARGIN}" for name in CLASSIFIERS]
    ours = table[(table["check"] == OURS) & (table["difference"].isin((NOTHING, AT_MARGIN)))]
    return {
        "trials": int(table["trials"].max()),
        "fewer": int(table["trials"].min()),
        "columns": COLUMNS,
        "margin": MARGIN,
        "few": span(by.loc[(NOTHING, SIZES[0]), low], ".0%"),
        "many": f"{by.loc[(NOTHING, SIZES[-1]), low].max():.0%}",
        "rival_found": span(by.loc[(TWICE, SIZES[0]), same], ".0%"),
        "own_found": f"{by.loc[(TWICE, SIZES[0]), OURS]:.0%}",
        "few_rows": SIZES[0],
        "many_rows": SIZES[-1],
        "own": f"{by.loc[NOTHING, OURS].max():.0%}",
        "at_margin": span(by.loc[AT_MARGIN, same].stack(), ".0%"),
        "own_at_margin": f"{by.loc[AT_MARGIN, OURS].max():.0%}",
        "nothing": rates(table, NOTHING),
        "equal": rates(table, AT_MARGIN),
        "twice": rates(table, TWICE),
        "spread": rates(table, SPREAD),
        "held": claim(
            "Up to the margin, the rate at which the assertion fails is not clearly above its level.",
            all(rate(row.failed, row.trials)["low"] <= ALPHA for row in ours.itertuples()),
        ),
    }


if __name__ == "__main__":
    run(__doc__, NAME, measured, values, chart, trials=150, quick=2)
