"""Tables of numbers, categories and missing values: level of the tests, and power next to tests of single columns.

Level: 4000 pairs of tables without a difference, for each missing-value policy.  Power: 300 pairs of tables per
setting, the same for every test: kernel tests of whole tables, tests of every column with Holm's adjustment, and a
random forest trained to tell the tables apart.
"""

from __future__ import annotations

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from _levels import ALPHA, COMMON, RESAMPLES, level_values, measured_levels, rate, wide
from _study import in_processes, markdown, run
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from shrinktest import independence_test, two_sample_test, two_sample_test_columns

NAME = "mixed_tables"
SIZE = 120  # rows of each table where power is measured
PERMUTATIONS = 199
_STUDY = 1  # other seeds than those on which the amounts were set
AUTO, COLUMNS = "auto", "kernel tests of columns"


def table(
    rng,
    n,
    *,
    income=0.0,
    spread=1.0,
    plans=(0.5, 0.3, 0.2),
    active=0.5,
    gaps=0.05,
    tie=0.0,
    heavy=False,
):
    """Draw customers: income, age, visits, region, plan, active or not, and the date of their first order.

    ``tie`` is the dependence of income on region; the distribution of income itself does not change with it.
    """
    region = rng.integers(4, size=n)
    noise = rng.standard_cauchy(n) if heavy else rng.standard_normal(n)
    score = tie * np.array([-1.3, -0.5, 0.5, 1.3])[region] + np.sqrt(1.0 - 0.97 * tie**2) * noise
    customers = pd.DataFrame(
        {
            "income": np.round(40_000.0 * np.exp(0.5 * np.clip(score + income, -20.0, 20.0))),
            "age": 45.0 + 12.0 * spread * rng.standard_normal(n),
            "visits": rng.poisson(2.0, n),
            "region": np.array(["east", "north", "south", "west"])[region],
            "plan": rng.choice(["basic", "plus", "pro"], n, p=plans),
            "active": rng.random(n) < active,
            "since": pd.Timestamp("2020-01-01")
            + pd.to_timedelta(rng.integers(0, 1000, n), unit="D"),
        }
    )
    customers.loc[rng.random(n) < gaps, "income"] = np.nan
    customers.loc[rng.random(n) < 0.05, "plan"] = None
    return customers


def untied(rng, n, **changes):
    """Return such a table with incomes permuted: the same distribution, independent of all other columns."""
    changed = table(rng, n, **changes)
    changed["income"] = rng.permutation(changed["income"])
    return changed


#: Label of the change to the two tables.
CHANGES = {
    "numbers: income up by .4 sd": (table, {}, table, {"income": 0.4}),
    "numbers: age spread x 1.5": (table, {}, table, {"spread": 1.5}),
    "categories: plan and active": (table, {}, table, {"plans": (0.4, 0.3, 0.3), "active": 0.62}),
    "missing: income from 5 to 18 %": (table, {}, table, {"gaps": 0.18}),
    "a little of each": (
        table,
        {},
        table,
        {"income": 0.2, "spread": 1.2, "plans": (0.44, 0.3, 0.26), "active": 0.57, "gaps": 0.1},
    ),
    "dependence: income on region, strong": (table, {"tie": 0.99}, untied, {"tie": 0.99}),
    "dependence: income on region, weaker": (table, {"tie": 0.9}, untied, {"tie": 0.9}),
    "nothing": (table, {}, table, {}),
}


# --- tests ------------------------------------------------------------------------------------------------------


def holm_pvalue(x, y) -> float:
    """Return the smallest Holm-adjusted p-value of the columns.

    Kolmogorov-Smirnov for numbers and dates, chi-square for categories, Fisher's exact test for missing values.
    """
    pvalues = []
    for name in x:
        gone = [int(z[name].isna().sum()) for z in (x, y)]
        if sum(gone):
            pvalues.append(
                stats.fisher_exact(
                    [[g, len(z) - g] for g, z in zip(gone, (x, y), strict=True)]
                ).pvalue
            )
        first, second = (z[name].dropna() for z in (x, y))
        if first.dtype.kind in "iufM":
            first, second = (
                z.astype("int64") if z.dtype.kind == "M" else z for z in (first, second)
            )
            pvalues.append(stats.ks_2samp(first, second).pvalue)
        else:
            counts = pd.concat([first.value_counts(), second.value_counts()], axis=1).fillna(0.0)
            pvalues.append(stats.chi2_contingency(counts.to_numpy()).pvalue)
    return float(multipletests(pvalues, method="holm")[1].min())


def classifier(x, y, rng) -> float:
    """Return the binomial p-value of the accuracy of a random forest, trained on half of the rows, on the rest."""
    from sklearn.ensemble import RandomForestClassifier

    whole = pd.concat([x, y], ignore_index=True)
    whole["since"] = whole["since"].astype("int64").astype(float)
    whole["no income"] = whole["income"].isna()
    whole["income"] = whole["income"].fillna(whole["income"].median())
    features = (
        pd.get_dummies(whole, columns=["region", "plan"], dummy_na=True).astype(float).to_numpy()
    )
    labels = np.repeat([0, 1], [len(x), len(y)])
    order = rng.permutation(len(labels))
    train, test = np.array_split(order, 2)
    forest = RandomForestClassifier(100, random_state=int(rng.integers(2**31)), n_jobs=1)
    right = int(
        (forest.fit(features[train], labels[train]).predict(features[test]) == labels[test]).sum()
    )
    chance = max(np.bincount(labels[test], minlength=2)) / len(test)
    return float(stats.binomtest(right, len(test), chance, alternative="greater").pvalue)


def ours(x, y, rng, estimator):
    given = {"nan_policy": "indicator", "n_resamples": PERMUTATIONS, "workers": 1, "rng": rng}
    if estimator == COLUMNS:
        return float(two_sample_test_columns(x, y, **given).adjusted.min())
    return two_sample_test(x, y, estimator=estimator, **given).pvalue


TESTS = {
    AUTO: lambda x, y, rng: ours(x, y, rng, "auto"),
    "kme": lambda x, y, rng: ours(x, y, rng, "kme"),
    COLUMNS: lambda x, y, rng: ours(x, y, rng, COLUMNS),
    "Holm": lambda x, y, rng: holm_pvalue(x, y),
    "random forest": lambda x, y, rng: classifier(x, y, rng),
}


def trial(change: str, number: int) -> dict:
    """Return the p-values of all tests on one pair of tables."""
    first, before, second, after = CHANGES[change]
    rng = np.random.default_rng([_STUDY, list(CHANGES).index(change), number])
    x, y = first(rng, SIZE, **before), second(rng, SIZE, **after)
    seeds = np.random.SeedSequence([_STUDY, list(CHANGES).index(change), number, 1])
    return {name: test(x, y, np.random.default_rng(seeds)) for name, test in TESTS.items()}


def powers(args) -> pd.DataFrame:
    """Return the power of each test in each setting, and what "auto" gains over it on the same tables."""
    trials = max(2, args.trials * 3 // 40)
    rows = []
    for change in CHANGES:
        work = [(change, number) for number in range(trials)]
        rejected = pd.DataFrame(in_processes(args, trial, work)) <= ALPHA
        for name in TESTS:
            both = pd.crosstab(rejected[AUTO], rejected[name]).reindex(
                [True, False], axis=0, fill_value=0
            )
            both = both.reindex([True, False], axis=1, fill_value=0).to_numpy()
            share = rate(rejected[name].sum(), trials)
            row = {"change": change, "test": name, "power": share["rejected"], "low": share["low"]}
            row |= {"high": share["high"], "gain": rejected[AUTO].mean() - rejected[name].mean()}
            rows.append(row | {"mcnemar": mcnemar(both).pvalue, "trials": trials})
    return pd.DataFrame(rows)


# --- level ------------------------------------------------------------------------------------------------------


def without_gaps(rng, heavy, sizes, **given):
    x, y = (table(rng, n, gaps=0.0, heavy=heavy).assign(plan="none") for n in sizes)
    return two_sample_test(x, y, rng=rng, **given, **COMMON).pvalue


def with_gaps(rng, heavy, sizes, **given):
    x, y = (table(rng, n, gaps=0.2, heavy=heavy) for n in sizes)
    return two_sample_test(x, y, rng=rng, **given, **COMMON).pvalue


def independence_with_gaps(rng, heavy, n, **given):
    x, y = (table(rng, n, gaps=0.2, heavy=heavy) for _ in range(2))
    x, y = x[["income", "region", "active"]], y[["income", "plan", "since"]]
    return independence_test(x, y, rng=rng, **given, **COMMON).pvalue


def columns_with_gaps(rng, heavy, sizes, **given):
    x, y = (table(rng, n, gaps=0.2, heavy=heavy) for n in sizes)
    return two_sample_test_columns(x, y, rng=rng, **given, **COMMON).pvalue


def cases():
    """Yield name, estimator, function and arguments of every setting."""
    for estimator in ("kme", "fkmse", "auto"):
        named = {"estimator": estimator}
        yield (
            "two tables without gaps, 12 + 20",
            estimator,
            without_gaps,
            {"sizes": (12, 20), **named},
        )
        for policy in ("omit", "indicator"):
            given = {"nan_policy": policy, **named}
            yield (
                f"two tables, 14 + 24, {policy}",
                estimator,
                with_gaps,
                {"sizes": (14, 24), **given},
            )
        given = {"nan_policy": "indicator", **named}
        yield (
            "independence, n = 18, indicator",
            estimator,
            independence_with_gaps,
            {"n": 18, **given},
        )
        if estimator != "fkmse":
            paired = {"sizes": (14, 14), "paired": True, **given}
            yield "14 pairs, indicator", estimator, with_gaps, paired
            yield (
                "columns of tables, 14 + 20, indicator",
                estimator,
                columns_with_gaps,
                {"sizes": (14, 20), **given},
            )


def chart(tables):
    """Draw the power of all tests in all settings."""
    power = tables[""]
    wide = power.pivot(index="change", columns="test", values="power").loc[
        list(CHANGES), list(TESTS)
    ]
    wide = wide.rename(index=label)
    figure, ax = plt.subplots(figsize=(7.5, 4.6), layout="constrained")
    places = np.arange(len(wide))[::-1]
    styles = (
        ("o", "#0072b2"),
        ("s", "#56b4e9"),
        ("^", "#009e73"),
        ("v", "#d55e00"),
        ("D", "#999999"),
    )
    for name, (marker, color) in zip(wide, styles, strict=True):
        ax.plot(
            wide[name],
            places,
            marker,
            color=color,
            label=name,
            markersize=8 if name == AUTO else 6,
            alpha=0.9,
        )
    ax.axvline(ALPHA, color="#bbbbbb", linewidth=1.0)
    ax.set_yticks(places, list(wide.index))
    ax.set_xlim(-0.02, 1.02)
    ax.set_xlabel(f"power at level {ALPHA:g}, {SIZE} + {SIZE} rows")
    ax.grid(axis="y", color="#eeeeee")
    ax.spines[["top", "right", "left"]].set_visible(False)
    figure.legend(loc="outside upper center", ncols=5, frameon=False, fontsize="small")
    return figure


def label(change: str) -> str:
    """Return the name of a change on the page."""
    return change.replace(" by .4 sd", " by 0.4 SD").replace(" %", "%").replace("nothing", "none")


def values(tables) -> dict:
    """Return the numbers, tables and claims of the section."""
    power = tables[""]
    level = tables["level"]
    by_test = power.pivot(index="change", columns="test", values="power").loc[
        list(CHANGES), list(TESTS)
    ]
    changed = by_test.drop(index="nothing")
    depend = changed[changed.index.str.startswith("dependence")]
    rivals = power[~power["test"].isin([AUTO, "kme", COLUMNS]) & (power["change"] != "nothing")]
    behind = rivals[(rivals["gain"] < -0.05) & (rivals["mcnemar"] < 0.01)]
    leads = (f"{r.test} by {-r.gain:.2f} ({label(r.change)})" for r in behind.itertuples())
    missed = depend[[COLUMNS, "kme", "Holm"]].max(axis=None)
    named = level["test"].str.replace("without gaps", "without missing values")
    return {
        **{f"level_{key}": value for key, value in level_values(level).items()},
        "changes": len(changed),
        "auto": f"{changed[AUTO].mean():.2f}",
        "holm": f"{changed['Holm'].mean():.2f}",
        "depend_auto": f"{depend[AUTO].mean():.2f}",
        "depend_holm": f"{depend['Holm'].mean():.2f}",
        "drawn": depend[[AUTO, "random forest"]].min(axis=None) > 0.2 and missed < 0.1,
        "powers": markdown(by_test.map("{:.2f}".format).rename(index=label).reset_index()),
        "trials": power["trials"].max(),
        "size": SIZE,
        "margin": f"{(power['high'] - power['low']).max() / 2.0:.2f}",
        "permutations": PERMUTATIONS,
        "leads": "; ".join(leads) or "none",
        "levels": wide(level.assign(test=named), "estimator"),
        "level_permutations": RESAMPLES,
    }


def measured(args):
    """Return the tables of all settings."""
    return {"": powers(args), "level": measured_levels(args, cases(), "estimator", NAME)}


if __name__ == "__main__":
    run(__doc__, NAME, measured, values, chart, trials=4000, quick=8)
