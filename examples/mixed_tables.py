"""Tables of numbers, categories and gaps: level of the tests, and power beside tests of single columns.

Level: 4000 pairs of tables without a difference, with each way to take missing values.  Power: 300 pairs of tables a
cell, the same for every test: the kernel tests of whole tables, tests of every column with Holm's adjustment, and a
random forest that is to tell the tables apart.
"""

from __future__ import annotations

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from _study import claim, markdown, options, write
from joblib import Parallel, delayed
from new_tests_levels import ALPHA, COMMON, RESAMPLES, measured, region
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from shrinktest import independence_test, two_sample_test, two_sample_test_columns
from shrinktest._parallel import usable_cores

NAME = "mixed_tables"
TITLE = "Mixed tables: level, and power beside tests of single columns"
SIZE = 120  # rows of each table where power is measured
PERMUTATIONS = 199
_STUDY = 1  # other seeds than those on which the amounts were set
AUTO, COLUMNS = "auto", "kernel tests of columns"


def table(rng, n, *, income=0.0, spread=1.0, plans=(0.5, 0.3, 0.2), active=0.5, gaps=0.05, tie=0.0, heavy=False):
    """Customers: what they earn, their age and visits, region, plan, whether they are active, and since when.

    ``tie`` is how much the income depends on the region, whose share in it is made up for elsewhere, so that the
    distribution of the income is the same.
    """
    region = rng.integers(4, size=n)
    noise = rng.standard_cauchy(n) if heavy else rng.standard_normal(n)
    score = tie * np.array([-1.3, -0.5, 0.5, 1.3])[region] + np.sqrt(1.0 - 0.97 * tie**2) * noise
    found = pd.DataFrame(
        {
            "income": np.round(40_000.0 * np.exp(0.5 * np.clip(score + income, -20.0, 20.0))),
            "age": 45.0 + 12.0 * spread * rng.standard_normal(n),
            "visits": rng.poisson(2.0, n),
            "region": np.array(["east", "north", "south", "west"])[region],
            "plan": rng.choice(["basic", "plus", "pro"], n, p=plans),
            "active": rng.random(n) < active,
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 1000, n), unit="D"),
        }
    )
    found.loc[rng.random(n) < gaps, "income"] = np.nan
    found.loc[rng.random(n) < 0.05, "plan"] = None
    return found


def untied(rng, n, **changes):
    """The same with incomes permuted, so that they depend on nothing and are distributed as before."""
    found = table(rng, n, **changes)
    found["income"] = rng.permutation(found["income"])
    return found


#: What changes, and the two tables.
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


def of_columns(x, y) -> float:
    """The smallest p-value of a test for every column, after Holm's adjustment.

    Kolmogorov and Smirnov's for numbers and dates, chi-square for categories; and Fisher's for missing values.
    """
    found = []
    for name in x:
        gone = [int(z[name].isna().sum()) for z in (x, y)]
        if sum(gone):
            found.append(stats.fisher_exact([[g, len(z) - g] for g, z in zip(gone, (x, y), strict=True)]).pvalue)
        first, second = (z[name].dropna() for z in (x, y))
        if first.dtype.kind in "iufM":
            first, second = (z.astype("int64") if z.dtype.kind == "M" else z for z in (first, second))
            found.append(stats.ks_2samp(first, second).pvalue)
        else:
            counts = pd.concat([first.value_counts(), second.value_counts()], axis=1).fillna(0.0)
            found.append(stats.chi2_contingency(counts.to_numpy()).pvalue)
    return float(multipletests(found, method="holm")[1].min())


def classifier(x, y, rng) -> float:
    """Whether a random forest, trained on half of the rows, tells the others apart: a binomial test of its accuracy."""
    from sklearn.ensemble import RandomForestClassifier

    whole = pd.concat([x, y], ignore_index=True)
    whole["since"] = whole["since"].astype("int64").astype(float)
    whole["no income"] = whole["income"].isna()
    whole["income"] = whole["income"].fillna(whole["income"].median())
    features = pd.get_dummies(whole, columns=["region", "plan"], dummy_na=True).astype(float).to_numpy()
    labels = np.repeat([0, 1], [len(x), len(y)])
    order = rng.permutation(len(labels))
    train, test = np.array_split(order, 2)
    forest = RandomForestClassifier(100, random_state=int(rng.integers(2**31)), n_jobs=1)
    right = int((forest.fit(features[train], labels[train]).predict(features[test]) == labels[test]).sum())
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
    "Holm": lambda x, y, rng: of_columns(x, y),
    "random forest": lambda x, y, rng: classifier(x, y, rng),
}


def trial(change: str, number: int) -> dict:
    """The p-values of all tests on one pair of tables."""
    first, told, second, changed = CHANGES[change]
    rng = np.random.default_rng([_STUDY, list(CHANGES).index(change), number])
    x, y = first(rng, SIZE, **told), second(rng, SIZE, **changed)
    seeds = np.random.SeedSequence([_STUDY, list(CHANGES).index(change), number, 1])
    return {name: test(x, y, np.random.default_rng(seeds)) for name, test in TESTS.items()}


def powers(args) -> pd.DataFrame:
    """How often each test rejects in each cell, with what "auto" gains over it on the same tables."""
    trials = max(2, args.trials * 3 // 40)
    rows = []
    for change in CHANGES:
        jobs = (delayed(trial)(change, number) for number in range(trials))
        rejected = pd.DataFrame(Parallel(n_jobs=args.workers or usable_cores())(jobs)) <= ALPHA
        for name in TESTS:
            both = pd.crosstab(rejected[AUTO], rejected[name]).reindex([True, False], axis=0, fill_value=0)
            both = both.reindex([True, False], axis=1, fill_value=0).to_numpy()
            low, high = proportion_confint(rejected[name].sum(), trials, method="beta")
            rows.append(
                {
                    **{"change": change, "test": name, "power": rejected[name].mean(), "low": low, "high": high},
                    **{"gain": rejected[AUTO].mean() - rejected[name].mean(), "mcnemar": mcnemar(both).pvalue},
                    "trials": trials,
                }
            )
    return pd.DataFrame(rows)


# --- level ------------------------------------------------------------------------------------------------------


def without_gaps(rng, heavy, sizes, **given):
    x, y = (table(rng, n, gaps=0.0, heavy=heavy).assign(plan="none") for n in sizes)
    return two_sample_test(x, y, rng=rng, **given, **COMMON).pvalue


def with_gaps(rng, heavy, sizes, **given):
    x, y = (table(rng, n, gaps=0.2, heavy=heavy) for n in sizes)
    return two_sample_test(x, y, rng=rng, **given, **COMMON).pvalue


def of_variables(rng, heavy, n, **given):
    x, y = (table(rng, n, gaps=0.2, heavy=heavy) for _ in range(2))
    x, y = x[["income", "region", "active"]], y[["income", "plan", "since"]]
    return independence_test(x, y, rng=rng, **given, **COMMON).pvalue


def columns_of(rng, heavy, sizes, **given):
    x, y = (table(rng, n, gaps=0.2, heavy=heavy) for n in sizes)
    return two_sample_test_columns(x, y, rng=rng, **given, **COMMON).pvalue


def cases():
    """Name, estimator, function and arguments of every case."""
    for estimator in ("kme", "fkmse", "auto"):
        told = {"estimator": estimator}
        yield "two tables without gaps, 12 + 20", estimator, without_gaps, {"sizes": (12, 20), **told}
        for policy in ("omit", "indicator"):
            given = {"nan_policy": policy, **told}
            yield f"two tables, 14 + 24, {policy}", estimator, with_gaps, {"sizes": (14, 24), **given}
        given = {"nan_policy": "indicator", **told}
        yield "independence, n = 18, indicator", estimator, of_variables, {"n": 18, **given}
        if estimator != "fkmse":
            paired = {"sizes": (14, 14), "paired": True, **given}
            yield "14 pairs, indicator", estimator, with_gaps, paired
            yield "columns of tables, 14 + 20, indicator", estimator, columns_of, {"sizes": (14, 20), **given}


def picture(power: pd.DataFrame):
    """Power of all tests in all cells."""
    wide = power.pivot(index="change", columns="test", values="power").loc[list(CHANGES), list(TESTS)]
    figure, ax = plt.subplots(figsize=(7.5, 4.6), layout="constrained")
    places = np.arange(len(wide))[::-1]
    styles = (("o", "#0072b2"), ("s", "#56b4e9"), ("^", "#009e73"), ("v", "#d55e00"), ("D", "#999999"))
    for name, (marker, colour) in zip(wide, styles, strict=True):
        ax.plot(wide[name], places, marker, color=colour, label=name, markersize=8 if name == AUTO else 6, alpha=0.9)
    ax.axvline(ALPHA, color="#bbbbbb", linewidth=1.0)
    ax.set_yticks(places, list(wide.index))
    ax.set_xlim(-0.02, 1.02)
    ax.set_xlabel(f"power at level {ALPHA:g}, {SIZE} + {SIZE} rows")
    ax.grid(axis="y", color="#eeeeee")
    ax.spines[["top", "right", "left"]].set_visible(False)
    figure.legend(loc="outside upper center", ncols=5, frameon=False, fontsize="small")
    return figure


def opening(tables) -> str:
    """What came out, in two sentences."""
    power = tables[""].pivot(index="change", columns="test", values="power").drop(index="nothing", errors="ignore")
    depend = power[power.index.str.startswith("dependence")].mean()
    return (
        f"Over {len(power)} changes the test of whole tables (`auto`) had mean power {power['auto'].mean():.2f}, and "
        f"tests of every column with Holm's adjustment {power['Holm'].mean():.2f}. Where only the dependence of two "
        f"columns changed, the powers were {depend['auto']:.2f} and {depend['Holm']:.2f}."
    )


def alt(tables) -> str:
    """What the picture shows."""
    wide = tables[""].pivot(index="change", columns="test", values="power").drop(index="nothing", errors="ignore")
    tied = wide[wide.index.str.startswith("dependence")]
    return "Power of every test against every change: " + claim(
        "where only the dependence between two columns changed, auto finds it and tests of columns do not",
        tied[AUTO].min() > 0.3 and tied[[COLUMNS, "Holm"]].max(axis=None) < 0.1,
    )


def chart(tables):
    """Power of every test against every change."""
    return picture(tables[""])


def page(tables) -> list[str]:
    """What the page says, from the powers and the levels."""
    power, level = tables[""], tables["level"]
    trials, nulls = int(power["trials"].max()), int(level["trials"].max())
    wide = power.pivot(index="change", columns="test", values="power").loc[list(CHANGES), list(TESTS)]
    real = wide.drop(index="nothing")
    means = real.mean()
    rivals = power[~power["test"].isin([AUTO, "kme", COLUMNS]) & (power["change"] != "nothing")]
    behind = rivals[(rivals["gain"] < -0.05) & (rivals["mcnemar"] < 0.01)]
    worst = "; ".join(f"{r.change}: {r.test} by {-r.gain:.2f}" for r in behind.itertuples())
    tied = real[real.index.str.startswith("dependence")]
    low, high = region(nulls)
    shown = level.assign(cell=[f"{r.level:.4f}{'' if r.inside else ' (outside)'}" for r in level.itertuples()])
    shown = shown.pivot(index="test", columns="estimator", values="cell").loc[list(dict.fromkeys(level["test"]))]
    shown = shown[["kme", "fkmse", "auto"]].fillna("").reset_index()
    within = power.assign(cell=[f"{r.power:.3f} [{r.low:.2f}, {r.high:.2f}]" for r in power.itertuples()])
    within = within.pivot(index="change", columns="test", values="cell").loc[list(CHANGES), list(TESTS)]
    return [
        claim(
            "One test of whole tables finds what tests of single columns find, and also what they cannot. ",
            means[AUTO] >= means["Holm"] and tied["Holm"].mean() < 0.1 < tied[AUTO].mean(),
        )
        + f"Mean power of `auto` over {len(real)} changes: {means[AUTO]:.2f}; tests of every column with Holm's "
        f"adjustment {means['Holm']:.2f}, a random forest {means['random forest']:.2f}. Where only the dependence "
        f"between a category and a number changed, `auto` has {tied[AUTO].mean():.2f} on average and tests of columns "
        f"{tied['Holm'].mean():.2f}.",
        "## Power",
        markdown(within.reset_index()),
        f"{trials} pairs of tables a cell, the same for every test, {SIZE} + {SIZE} rows of seven columns (three "
        "numbers, a date, two categories, True and False), 5 % of two columns missing unless said otherwise; level "
        f"{ALPHA:g}, 95 % intervals of Clopper and Pearson. Ours take missing values as information "
        f'(`nan_policy="indicator"`) and draw {PERMUTATIONS} permutations. Holm: Kolmogorov and Smirnov\'s test for '
        "numbers and dates, chi-square for categories, Fisher's for missing values, all adjusted together. Random "
        "forest: scikit-learn's, 100 trees on half of the rows, a binomial test of its accuracy on the other half. "
        "The amounts of change were set before the first run of this table, on a few trials of other seeds.",
        (
            f"Tests of others that are ahead of `auto` by more than .05 (McNemar p < .01): {worst}."
            if worst
            else "None of the others is ahead of `auto` by more than .05 (McNemar p < .01)."
        ),
        "## Level",
        f"{int(level['inside'].sum())} of {len(level)} cells are inside [{low:.4f}, {high:.4f}], in which an exact "
        "test is with probability 99.9 %.",
        markdown(shown),
        f"{nulls} pairs of tables without a difference, {RESAMPLES} permutations, level {ALPHA:g}, half of the incomes "
        "from a normal score and half from a Cauchy one, 20 % of them missing in cells with gaps. For columns of "
        "tables the level is the chance that any of seven is rejected after Westfall and Young's adjustment.",
    ]


def main() -> None:
    args = options(__doc__.splitlines()[0], trials=4000, quick=8)
    tables = {"": powers(args), "level": measured(args, list(cases()), "estimator", NAME)}
    write(args, NAME, TITLE, page(tables), tables)


if __name__ == "__main__":
    main()
