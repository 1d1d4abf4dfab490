"""Levels of ``factor_test``: every row of its table of terms, for the robust statistic and F, and Holm's method.

Every setting is a true null hypothesis about one term, with other effects present.  Settings with 4000 data sets are
those that are exact by theory; the others have 1000, and where it matters the scheme of ``adonis2``, free permutations
of all rows, is next to them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from _charts import band
from _factors import (
    STATISTICS,
    UNBALANCED,
    Counts,
    Covariate,
    Factorial,
    InBlocks,
    Mixed,
    Tested,
    TwoWay,
    Visits,
    chunked,
    free_rows,
    generator,
    holm,
    quiet,
    together,
)
from _levels import ALPHA, RESAMPLES, rate
from _levels import chart as level_chart
from _study import markdown, parts, run, span

from shrinktest import Gaussian, Linear

NAME = "factor_levels"
KERNELS = ("gaussian", "linear")
ROUND = 500
MOST = 0.075  # what a level of an approximate test may be
FREE = "all rows freely, F"
#: So that a half and a third of the level, Holm's first steps, are p-values that occur.
HOLM_RESAMPLES = 239


@dataclass(frozen=True)
class Setting:
    """A true null hypothesis about a term."""

    kind: str  # "exact", "approximate", "groups", or "not covered"
    label: str
    design: object
    term: str
    kernels: tuple[str, ...] = KERNELS
    share: float = 1.0  # of the number of data sets
    align: bool = True
    free: bool = False  # also with all rows permuted freely


def exact_settings() -> list[Setting]:
    """Return settings whose rows are permuted within cells of the other factors."""
    shifted = {"shift_b": 2.0}
    lopsided = {"cells": UNBALANCED, "shift_b": 2.0}
    both = (*KERNELS, "auto")
    cases = [
        ("a beside b, balanced", TwoWay(**shifted), "a", both),
        ("unbalanced", TwoWay(**lopsided), "a", KERNELS),
        ("unbalanced, Cauchy", TwoWay(law="Cauchy", **lopsided), "a", both),
        ("unbalanced, lognormal", TwoWay(law="lognormal", **lopsided), "a", KERNELS),
        ("unbalanced, b triples the spread", TwoWay(spread_b=3.0, **lopsided), "a", both),
        ("16 rows", TwoWay(cells=(4, 4, 4, 4), **shifted), "a", KERNELS),
        ("three by four levels", Factorial(), "a", KERNELS),
        ("blocks", InBlocks(**shifted), "a", KERNELS),
        ("x beside a", Covariate(shift_a=2.0), "x", both),
        ("x beside a, Cauchy", Covariate(shift_a=2.0, law="Cauchy"), "x", KERNELS),
        (
            "x with outliers beside a, lognormal",
            Covariate(shift_a=2.0, law="lognormal", outliers=True),
            "x",
            KERNELS,
        ),
        ("mixed table", Mixed(**shifted), "a", both),
        ("distances, Bray-Curtis", Counts(shift_b=1.0), "a", ("given",)),
        ("distances, Euclidean", Counts(shift_b=1.0, metric="euclidean"), "a", ("given",)),
    ]
    names = ("a", "a:b")
    joint = ("a with a:b", TwoWay(joint=names, **shifted), together(names), both)
    cases.append(joint)
    wide = Setting("exact", "200 columns", TwoWay(columns=200, **shifted), "a", share=0.25)
    return [*(Setting("exact", *case) for case in cases), wide]


def approximate_settings() -> list[Setting]:
    """Return settings with the residualized predictor."""
    lopsided = {"cells": UNBALANCED, "shift_a": 2.0, "shift_b": 2.0}
    both = {"shift_a": 2.0, "shift_b": 2.0}
    slope = {"slope": 2.0}
    three = Factorial(formula="a * b * c", sizes=(2, 2, 2), repeats=5, shifts=(2.0, 2.0, 2.0))
    chances = {"probabilities": (0.2, 0.5, 0.5, 0.8), "cells": (15,) * 4, "category": False}
    every = (*KERNELS, "auto")
    product = {"formula": "a * x", "shift_a": 2.0, "slope": 2.0}
    cases = [
        ("a beside x, slope 2", Covariate(**slope), "a", every),
        ("a beside x, Cauchy", Covariate(law="Cauchy", **slope), "a", KERNELS),
        ("a beside x, 16 rows", Covariate(n=16, **slope), "a", KERNELS),
        ("a beside x, x with outliers", Covariate(slope=1.0, outliers=True), "a", KERNELS),
        ("a beside x, cube of x omitted, uncorrelated", _cubic(0.0), "a", KERNELS),
        ("a:x", Covariate(**product), "a:x", KERNELS),
        ("a:x, Cauchy", Covariate(law="Cauchy", **product), "a:x", KERNELS),
        ("a:b, balanced", TwoWay(**both), "a:b", every),
        ("a:b, unbalanced", TwoWay(**lopsided), "a:b", KERNELS),
        ("a:b, unbalanced, Cauchy", TwoWay(law="Cauchy", **lopsided), "a:b", every),
        ("a:b, unbalanced, lognormal", TwoWay(law="lognormal", **lopsided), "a:b", KERNELS),
        ("a:b, unbalanced, b triples the spread", TwoWay(spread_b=3.0, **lopsided), "a:b", every),
        ("a:b, balanced, b triples the spread", TwoWay(spread_b=3.0, **both), "a:b", KERNELS),
        ("a:b, 4 rows a cell", TwoWay(cells=(4,) * 4, **both), "a:b", KERNELS),
        ("a:b:c", three, "a:b:c", KERNELS),
        ("a:b, mixed, one 0/1 column", Mixed(**both, **chances), "a:b", KERNELS),
        ("a:b, mixed, three 0/1 columns", Mixed(binary=3, **both, **chances), "a:b", KERNELS),
    ]
    return [Setting("approximate", *case, share=0.25) for case in cases]


def _cubic(correlation: float) -> Covariate:
    return Covariate(slope=1.0, cube=0.5, correlation=correlation)


def group_settings() -> list[Setting]:
    """Return settings with visits of patients, next to free permutations of all rows."""
    series = {"memory": 0.7, "patient_spread": 0.5}
    full = {"shift_treatment": 1.5, "shift_time": 1.5}
    some = {"missing": "at random", "shift_time": 1.5}
    fewer = {"missing": "by treatment", "shift_time": 1.5}
    at_sites = {"patients": 18, "sites": 3, "shift_time": 1.5}
    cases = [
        ("time effect 1.5", Visits(shift_time=1.5), ("treatment", "treatment:time")),
        ("AR(1)", Visits(**series), ("treatment", "treatment:time")),
        ("a quarter missing at random", Visits(**some), ("treatment", "treatment:time")),
        ("missing by treatment", Visits(**fewer), ("treatment", "treatment:time")),
        ("sites", Visits(**at_sites), ("treatment", "treatment:time")),
        ("both effects 1.5, t2", Visits(law="t2", **full), ("treatment:time",)),
        ("both effects 1.5, AR(1)", Visits(**full, **series), ("treatment:time",)),
        ("treatment 1.5", Visits(shift_treatment=1.5), ("time",)),
        (
            "treatment 1.5, missing at random",
            Visits(shift_treatment=1.5, missing="at random"),
            ("time",),
        ),
    ]
    settings = [
        Setting("groups", f"{term}: {label}", design, term, share=0.25, free=True)
        for label, design, terms in cases
        for term in terms
    ]
    return [*settings, *_other_group_settings()]


def _other_group_settings() -> list[Setting]:
    """Return settings with signs of patients, and with terms that are tested together."""
    signs = {"within": "signs", "patient_spread": 0.5}
    names = ("treatment", "treatment:time")
    inner = ("time", "treatment:time")
    cases = [
        ("AR(1), signs", Visits(memory=0.7, **signs), "time"),
        ("AR(1), treatment 1.5, signs", Visits(memory=0.7, shift_treatment=1.5, **signs), "time"),
        ("t2, signs", Visits(law="t2", **signs), "time"),
        ("missing at random, signs", Visits(missing="at random", **signs), "time"),
        ("AR(1), signs", Visits(memory=0.7, joint=inner, **signs), together(inner)),
        ("time effect 1.5", Visits(shift_time=1.5, joint=names), together(names)),
        ("AR(1)", Visits(memory=0.7, joint=names), together(names)),
    ]
    return [
        Setting("groups", f"{term}: {label}", design, term, share=0.25)
        for label, design, term in cases
    ]


def uncovered_settings() -> list[Setting]:
    """Return settings in which an assumption fails, or the null hypothesis is another one."""
    small = {"shift_b": 2.0, "spread_a": 1.0 / 3.0}
    both = {"shift_a": 2.0, "shift_b": 2.0}
    less = {"shift_a": 0.7, "shift_b": 0.7}
    series = Visits(memory=0.7, patient_spread=0.5)
    cases = [
        (
            "equal means only, small group with 3 x spread",
            TwoWay(cells=(5, 5, 15, 15), **small),
            "a",
            ("linear",),
        ),
        ("equal means only, balanced, 3 x spread", TwoWay(**small), "a", ("linear",)),
        ("a beside x, cube of x omitted, correlated .7", _cubic(0.7), "a", KERNELS),
        (
            "a beside x, square of x omitted, correlated .7",
            Covariate(slope=2.0, square=1.0),
            "a",
            KERNELS,
        ),
        ("time: AR(1), rows within patients", series, "time", KERNELS),
    ]
    plain = [
        ("a:b, shifts of 2, not aligned", TwoWay(**both), "a:b", ("gaussian", "energy")),
        ("a:b, shifts of .7, not aligned", TwoWay(**less), "a:b", ("gaussian", "energy")),
    ]
    return [
        *(Setting("not covered", *case, share=0.25) for case in cases),
        *(Setting("not covered", *case, share=0.25, align=False) for case in plain),
    ]


def all_settings() -> list[Setting]:
    """Return all settings, those that are worth most first."""
    return [
        *exact_settings(),
        *group_settings(),
        *approximate_settings(),
        *uncovered_settings(),
    ]


#: Family-wise error: design, and the terms whose null hypotheses are true.
FAMILIES = {
    "a * b, no effect": (TwoWay(), ("a", "b", "a:b")),
    "a * b, b shifts by 2": (TwoWay(shift_b=2.0), ("a", "a:b")),
    "a * b, a and b shift by 2": (TwoWay(shift_a=2.0, shift_b=2.0), ("a:b",)),
    "a * b, b shifts by 2, unbalanced, Cauchy": (
        TwoWay(cells=UNBALANCED, shift_b=2.0, law="Cauchy"),
        ("a", "a:b"),
    ),
    "a * x, x has slope 2": (Covariate(formula="a * x", slope=2.0), ("a", "a:x")),
    "treatment * time, time shifts by 1.5": (
        Visits(shift_time=1.5),
        ("treatment", "treatment:time"),
    ),
}


# --- simulation ----------------------------------------------------------------------------------------------------


@quiet
def rejections(setting: Setting, trials: range) -> list[dict]:
    """Count the rejected data sets of a setting; each depends on its number only."""
    tested = Tested(setting.design, setting.align)
    counts: dict[tuple[str, str], int] = {}
    for trial in trials:
        rng = generator(f"{setting.kind}, {setting.label}", trial)
        tested.draw(rng)
        for kernel in setting.kernels:
            statistics = STATISTICS if kernel != "auto" else STATISTICS[:1]
            for statistic in statistics:
                key = kernel, statistic
                pvalue = tested.pvalue(setting.term, kernel, statistic, rng)
                counts[key] = counts.get(key, 0) + (pvalue <= ALPHA)
        if setting.free:
            part = tested.part(setting.term, typ=1)
            points = tested.points()
            for name, kernel in zip(KERNELS, (Gaussian().resolve(points), Linear()), strict=True):
                key = name, FREE
                pvalue = free_rows(kernel(points), part, rng)
                counts[key] = counts.get(key, 0) + (pvalue <= ALPHA)
    plan = tested.plans[setting.term]
    shared = {"kind": setting.kind, "setting": setting.label, "term": setting.term}
    shared |= {"permuted": plan.permuted, "exact": plan.exact, "data_sets": len(trials)}
    return [
        {**shared, "kernel": kernel, "statistic": statistic, "rejections": count}
        for (kernel, statistic), count in counts.items()
    ]


@quiet
def family_errors(label: str, trials: range) -> list[dict]:
    """Count data sets in which Holm's method rejects a true null hypothesis."""
    design, true = FAMILIES[label]
    tested = Tested(design)
    rejected = 0
    plain = 0
    for trial in trials:
        rng = generator(f"family, {label}", trial)
        tested.draw(rng)
        names = list(tested.plans)
        pvalues = [tested.pvalue(name, "gaussian", "robust", rng, HOLM_RESAMPLES) for name in names]
        adjusted = holm(pvalues)
        which = [names.index(name) for name in true]
        rejected += adjusted[which].min() <= ALPHA
        plain += np.array(pvalues)[which].min() <= ALPHA
    shared = {"setting": label, "true": ", ".join(true), "terms": len(names)}
    return [{**shared, "data_sets": len(trials), "holm": rejected, "none": plain}]


def level_table(counts: pd.DataFrame) -> pd.DataFrame:
    """Return the rate of every setting, with the range of an exact test."""
    keys = ["kind", "setting", "term", "kernel", "statistic"]
    groups = counts.groupby(keys, sort=False)
    sums = groups[["rejections", "data_sets"]].sum().reset_index()
    plans = groups[["permuted", "exact"]].first().reset_index(drop=True)
    rates = [rate(row.rejections, row.data_sets) for row in sums.itertuples()]
    table = pd.concat([sums[keys], plans, pd.DataFrame(rates)], axis=1)
    ends = [band(ALPHA, trials) for trials in table["trials"]]
    table["region_low"], table["region_high"] = np.transpose(ends)
    return table


def family_table(counts: pd.DataFrame) -> pd.DataFrame:
    """Return the family-wise error of every design."""
    names = ["setting", "true", "terms"]
    sums = counts.groupby(names, sort=False)[["holm", "none", "data_sets"]].sum().reset_index()
    rates = [rate(row.holm, row.data_sets) for row in sums.itertuples()]
    table = pd.concat([sums[names], pd.DataFrame(rates)], axis=1)
    return table.assign(unadjusted=sums["none"] / sums["data_sets"])


def measured(args) -> dict[str, pd.DataFrame]:
    """Return the rejections in every setting, and family-wise errors."""
    jobs = [
        job
        for setting in all_settings()
        for job in chunked(rejections, [setting], max(1, int(setting.share * args.trials)))
    ]
    # some data sets of every setting come first
    jobs.sort(key=lambda job: job.args[1].start // ROUND)
    counts = parts(args, NAME, jobs)
    quarter = max(1, args.trials // 4)
    family_jobs = list(chunked(family_errors, list(FAMILIES), quarter))
    families = parts(args, f"{NAME}_family", family_jobs)
    return {"": level_table(counts), "family": family_table(families)}


# --- page ----------------------------------------------------------------------------------------------------------

#: Names of kernels on the page.
SHOWN = {
    "gaussian": "Gaussian",
    "linear": "linear",
    "auto": "auto",
    "energy": "energy",
    "given": "distances",
}


def beyond(table: pd.DataFrame) -> pd.Series:
    """Tell which rates are not those of an exact test, or above what an approximate one may have."""
    inside = table["rejected"].between(table["region_low"], table["region_high"])
    return np.where(table["kind"] == "exact", ~inside, table["rejected"] > MOST)


def shown(table: pd.DataFrame) -> str:
    """Return a Markdown table of rates, "robust / F", with a column for every kernel."""
    marks = np.where(beyond(table), "*", "")
    table = table.assign(
        cell=[f"{x:.3f}{mark}" for x, mark in zip(table["rejected"], marks, strict=True)]
    )
    chosen = table[table["statistic"] != FREE]
    names = chosen["kernel"].map(SHOWN)
    cells = (
        chosen.groupby(["setting", names], sort=False)["cell"].agg(" / ".join).unstack(sort=False)
    )
    free = table[table["statistic"] == FREE]
    if len(free):
        wide = free.pivot(index="setting", columns="kernel", values="cell")[list(KERNELS)]
        cells = cells.join(
            wide.rename(columns={name: f"{SHOWN[name]}, all rows freely" for name in KERNELS})
        )
    cells = cells.fillna("").reset_index()
    return markdown(cells.rename(columns={"setting": "null hypothesis"}))


def exceptions(table: pd.DataFrame) -> str:
    """Name the approximate rates that are too high."""
    high = table[table["rejected"] > MOST]
    named = [
        f"{row.setting} ({SHOWN[row.kernel]}, {row.statistic}): {row.rejected:.3f}"
        for row in high.itertuples()
    ]
    return "; ".join(named) or "none"


def chart(tables):
    """Draw the Type I error rates by kind of permutation, with those of free permutations."""
    table = tables[""]
    free = table["statistic"] == FREE
    groups = {}
    for kind, some in table[~free & (table["kind"] != "not covered")].groupby("kind", sort=False):
        for statistic in STATISTICS:
            groups[f"{kind}, {statistic}"] = some.loc[some["statistic"] == statistic, "rejected"]
    wrong = "groups, all rows freely"
    groups[wrong] = table.loc[free, "rejected"]
    return level_chart(groups, table["trials"].max(), wrong=[wrong])


def regions(table: pd.DataFrame) -> str:
    """Return numbers of data sets with the range of an exact test, in words."""
    rows = table[["trials", "region_low", "region_high"]].drop_duplicates()
    rows = rows.sort_values("trials", ascending=False).itertuples()
    return "; ".join(
        f"[{row.region_low:.4f}, {row.region_high:.4f}] for {row.trials} data sets" for row in rows
    )


def values(tables) -> dict:
    """Return the numbers, tables and claims of the section."""
    table = tables[""]
    kinds = dict(iter(table.groupby("kind", sort=False)))
    exact = kinds["exact"]
    inside = ~beyond(exact)
    chosen = table[table["statistic"] != FREE]
    approximate = chosen[chosen["kind"].isin(("approximate", "groups"))]
    robust = approximate[approximate["statistic"] == "robust"]
    groups = kinds["groups"]
    free = groups[(groups["statistic"] == FREE) & (groups["term"] == "treatment")]
    family = tables["family"]
    family_shown = family[["setting", "true", "rejected", "unadjusted"]].rename(
        columns={
            "setting": "design",
            "true": "true null hypotheses",
            "rejected": "with Holm",
            "unadjusted": "without",
        }
    )
    return {
        "inside": int(inside.sum()),
        "settings": len(exact),
        "rates": span(exact["rejected"]),
        "robust_kept": int((robust["rejected"] <= MOST).sum()),
        "robust_settings": len(robust),
        "most": f"{MOST:.1%}",
        "robust_rates": span(robust["rejected"]),
        "free": span(free["rejected"]),
        "free_fails": free["rejected"].min() > 2.0 * ALPHA,
        "exceptions": exceptions(approximate),
        "permutations": RESAMPLES,
        "exact_trials": int(exact["trials"].max()),
        "other_trials": int(groups["trials"].max()),
        "regions": regions(table),
        "exact": shown(exact),
        "approximate": shown(kinds["approximate"]),
        "groups": shown(groups),
        "not_covered": shown(kinds["not covered"]),
        "family": markdown(family_shown),
        "family_rates": span(family["rejected"]),
        "holm_permutations": HOLM_RESAMPLES,
        "family_trials": int(family["trials"].max()),
    }


if __name__ == "__main__":
    run(__doc__, NAME, measured, values, chart, trials=4000, quick=2)
