"""Spread in designs with several factors: level and power of ``dispersion``, and how often its note appears.

Residuals of a robust fit change places.  Residuals of least squares are next to them: a row far from the others spoils
its cell, and permutations mix what it left there.  The robust fit was chosen with the settings that are marked as seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from _factors import (
    UNBALANCED,
    Design,
    Factorial,
    Tested,
    TwoWay,
    Visits,
    chunked,
    generator,
    quiet,
    settings,
)
from _levels import RESAMPLES, rate
from _levels import chart as level_chart
from _study import markdown, parts, run, span

from shrinktest import Gaussian, Linear
from shrinktest.factors import of_groups
from shrinktest.spread import EqualSpread, residual_plan
from shrinktest.statistics.features import Features
from shrinktest.statistics.projections import projected
from shrinktest.statistics.spread import SpreadStatistic, robust_fit

NAME = "factor_spread"
ALPHA = 0.05
MOST = 0.075  # what a level of an approximate test may be
KERNELS = ("Gaussian", "linear")
FITS = ("robust", "least squares")
SPREADS = (1.0, 2.0, 4.0)
LAWS = ("normal", "t2", "exponential", "lognormal")


@dataclass(frozen=True)
class Setting:
    """A design, the terms that are tested, and whether the robust fit was chosen with it."""

    kind: str  # "equal" or "unequal" spread
    label: str
    design: Design
    terms: tuple[str, ...]
    seen: bool = False
    kernels: tuple[str, ...] = ("linear",)
    share: float = 1.0  # of the number of data sets


def _two_way(cells: tuple[int, ...], law: str, **effects: Any) -> TwoWay:
    """Return two factors that shift the response, with an interaction."""
    return TwoWay(cells=cells, law=law, shift_a=2.0, shift_b=2.0, shift_ab=1.0, **effects)


#: Settings that are tested by both kernels; a kernel with bounded values is the easier one.
BOTH = (
    *(f"5 a cell, {law}" for law in LAWS),
    "3, 13, 15, 9, t2",
    "12 patients, 4 visits, t2",
    "5 a cell, normal, spread 2",
    "5 a cell, t2, spread 4",
)


def _kernels(label: str) -> tuple[str, ...]:
    return KERNELS if label in BOTH else ("linear",)


def null_settings() -> list[Setting]:
    """Return settings in which the tested terms do not change the spread."""
    terms = ("a", "a:b")
    small = (5,) * 4
    cases = [
        *((f"5 a cell, {law}", small, law, {}, law != "lognormal") for law in LAWS),
        ("5 a cell, exponential, one column", small, "exponential", {"columns": 1}, True),
        ("4 a cell, t2", (4,) * 4, "t2", {}, True),
        ("4 a cell, exponential", (4,) * 4, "exponential", {}, True),
        ("8 a cell, t2", (8,) * 4, "t2", {}, False),
        ("8 a cell, exponential", (8,) * 4, "exponential", {}, False),
        ("15 a cell, t2", (15,) * 4, "t2", {}, False),
        ("15 a cell, lognormal", (15,) * 4, "lognormal", {}, True),
        *((f"3, 13, 15, 9, {law}", UNBALANCED, law, {}, True) for law in LAWS[:3]),
        ("4, 6, 8, 10, lognormal", (4, 6, 8, 10), "lognormal", {}, False),
    ]
    return [
        *(
            Setting("equal", label, _two_way(cells, law, **more), terms, seen, _kernels(label))
            for label, cells, law, more, seen in cases
        ),
        Setting(
            "equal",
            "three by four, 4 a cell, t2",
            Factorial(repeats=4, law="t2"),
            terms,
            share=0.5,
        ),
        Setting(
            "equal",
            "12 patients, 4 visits, t2",
            Visits(law="t2", shift_treatment=1.5, shift_time=1.5),
            ("treatment", "time", "treatment:time"),
            kernels=KERNELS,
            share=0.3,
        ),
        Setting(
            "equal",
            "5 a cell, normal, b triples the spread",
            _two_way(small, "normal", spread_b=3.0),
            terms,
            True,
            share=0.5,
        ),
        Setting(
            "equal",
            "4, 6, 8, 10, t2, b triples the spread",
            _two_way((4, 6, 8, 10), "t2", spread_b=3.0),
            terms,
            share=0.5,
        ),
    ]


def power_settings() -> list[Setting]:
    """Return settings in which a changes the spread."""
    cases = [
        ("5 a cell, normal, spread 2", (5,) * 4, "normal", 2.0, True),
        ("5 a cell, t2, spread 4", (5,) * 4, "t2", 4.0, True),
        ("5 a cell, exponential, spread 3", (5,) * 4, "exponential", 3.0, True),
        ("8 a cell, exponential, spread 2", (8,) * 4, "exponential", 2.0, False),
        ("15 a cell, lognormal, spread 3", (15,) * 4, "lognormal", 3.0, False),
        ("3, 13, 15, 9, t2, spread 3", UNBALANCED, "t2", 3.0, False),
    ]
    return [
        Setting(
            "unequal", label, _two_way(cells, law, spread_a=spread), ("a",), seen, _kernels(label)
        )
        for label, cells, law, spread, seen in cases
    ]


#: Rows in the cells of the designs whose note is counted.
NOTED = {"5 a cell": (5,) * 4, "3, 13, 15, 9": UNBALANCED}
NOTED_KERNELS = {"linear": 1.0, "Gaussian": 0.3}  # and shares of the number of data sets
NOTED_LAWS = ("normal", "t2", "lognormal")


# --- simulation ----------------------------------------------------------------------------------------------------


def _features(
    hypothesis: Any, names: tuple[str, ...], rng: np.random.Generator
) -> Iterator[tuple[str, Features]]:
    """Yield the name of every kernel, and the features of the units of a hypothesis."""
    points = hypothesis.variables[0].points
    for name in names:
        kernel = Linear() if name == "linear" else Gaussian().resolve(points)
        cache = settings("robust").kernels(rng)
        features, _ = hypothesis.features(kernel, cache)
        yield name, of_groups(features, hypothesis.plan.groups)


def _tests(tested: Tested, setting: Setting) -> Iterator[list[EqualSpread]]:
    """Yield hypotheses that share their residuals: without groups, those of all terms.

    With a linear kernel, alignment for all terms changes no residuals.
    """
    plans = [residual_plan(tested.trial.design, tested.plans[term]) for term in setting.terms]
    align = setting.kernels != ("linear",)
    together = [plans] if tested.design.groups is None else [[plan] for plan in plans]
    for some in together:
        first = EqualSpread.of(some[0], tested.trial.response, align)
        yield [replace(first, plan=plan) for plan in some]


def _orders(plan: Any, rng: np.random.Generator) -> np.ndarray:
    """Return the order of the data, and permutations."""
    drawn = plan.permutations.draw(rng, RESAMPLES)
    return np.vstack([np.arange(drawn.shape[1]), drawn])


@quiet
def rejections(setting: Setting, trials: range) -> list[dict]:
    """Count the rejected data sets of a setting; each depends on its number only."""
    tested = Tested(setting.design)
    counts: dict[tuple[str, str, str], int] = {}
    for trial in trials:
        rng = generator(f"{setting.kind}, {setting.label}", trial)
        tested.draw(rng)
        for hypotheses in _tests(tested, setting):
            orders = {each.plan.term: _orders(each.plan, rng) for each in hypotheses}
            for kernel, units in _features(hypotheses[0], setting.kernels, rng):
                model = hypotheses[0].plan.part.model
                residuals = (
                    projected(units, model, robust_fit(units, model)),
                    projected(units, model),
                )
                for (fit, left), each in product(zip(FITS, residuals, strict=True), hypotheses):
                    statistic = SpreadStatistic(left, each.plan.part, robust=True).statistic()
                    values = statistic(orders[each.plan.term])[:, 0]
                    key = each.plan.term, kernel, fit
                    hit = np.mean(values >= values[0] * (1.0 - 1e-10)) <= ALPHA
                    counts[key] = counts.get(key, 0) + int(hit)
    shared = {"kind": setting.kind, "setting": setting.label, "seen": setting.seen}
    return [
        {**shared, "term": term, "kernel": kernel, "fit": fit}
        | {"rejections": count, "data_sets": len(trials)}
        for (term, kernel, fit), count in counts.items()
    ]


@quiet
def notes(setting: tuple[str, str, str], trials: range) -> list[dict]:
    """Count data sets whose approximate test of a:b has a note on unequal spread, by the spread at a."""
    size, law, kernel = setting
    counts = dict.fromkeys(SPREADS, 0)
    for spread in SPREADS:
        tested = Tested(_two_way(NOTED[size], law, spread_a=spread), kernel != "linear")
        for trial in trials:
            rng = generator(f"note, {size}, {law}", trial)
            tested.draw(rng)
            hypothesis = tested.trial.hypothesis(tested.plans["a:b"])
            ((_, units),) = _features(hypothesis, (kernel,), rng)
            counts[spread] += int(hypothesis.spread_differs(units))
    shared = {"setting": size, "law": law, "kernel": kernel, "data_sets": len(trials)}
    return [{**shared, "spread": spread, "noted": count} for spread, count in counts.items()]


def _rates(counts: pd.DataFrame, keys: list[str], hits: str) -> pd.DataFrame:
    """Return the rate of every combination of keys."""
    sums = counts.groupby(keys, sort=False)[[hits, "data_sets"]].sum().reset_index()
    rates = [rate(hit, trials) for hit, trials in zip(sums[hits], sums["data_sets"], strict=True)]
    return pd.concat([sums[keys], pd.DataFrame(rates)], axis=1)


def measured(args) -> dict[str, pd.DataFrame]:
    """Return the rejections of tests of spread, and how often the note appears."""
    levels = [
        job
        for setting in [*null_settings(), *power_settings()]
        for job in chunked(rejections, [setting], max(1, int(setting.share * args.trials)))
    ]
    noted = [
        job
        for kernel, share in NOTED_KERNELS.items()
        for size in NOTED
        for law in NOTED_LAWS
        for job in chunked(notes, [(size, law, kernel)], max(1, int(share * args.trials)))
    ]
    keys = ["kind", "setting", "seen", "term", "kernel", "fit"]
    return {
        "": _rates(parts(args, NAME, levels), keys, "rejections"),
        "notes": _rates(
            parts(args, f"{NAME}_notes", noted), ["setting", "law", "kernel", "spread"], "noted"
        ),
    }


# --- page ----------------------------------------------------------------------------------------------------------


def _starred(rate: float) -> str:
    return f"{rate:.3f}{'*' if rate > MOST else ''}"


def shown(table: pd.DataFrame, starred: bool) -> str:
    """Return a Markdown table of rates, "robust / least squares", with a column for every kernel."""
    table = table.assign(
        setting=table["setting"] + np.where(table["seen"], " (seen)", ""),
        cell=[_starred(x) if starred else f"{x:.2f}" for x in table["rejected"]],
    )
    keys = ["setting", "term", "kernel"]
    cells = table.groupby(keys, sort=False)["cell"].agg(" / ".join).unstack(sort=False).fillna("")
    return markdown(cells.reset_index().rename(columns={"setting": "design"}))


def shown_notes(table: pd.DataFrame) -> str:
    """Return a Markdown table of rates of notes, with a column for every kernel and spread."""
    names = [
        f"{row.kernel}, spread {row.spread:g}" if row.spread > 1.0 else f"{row.kernel}, equal"
        for row in table.itertuples()
    ]
    design = table["setting"] + ", " + table["law"]
    cells = table.assign(design=design, name=names, cell=table["rejected"])
    cells = cells.sort_values("kernel", kind="stable")
    order = list(dict.fromkeys(cells["name"]))
    rows = list(dict.fromkeys(design))
    return markdown(
        cells.pivot(index="design", columns="name", values="cell").loc[rows, order].reset_index()
    )


def exceptions(table: pd.DataFrame) -> str:
    """Name the rates that are too high."""
    high = table[table["rejected"] > MOST]
    named = [
        f"{row.setting}, {row.term} ({row.kernel}): {row.rejected:.3f}" for row in high.itertuples()
    ]
    return "; ".join(named) or "none"


def chart(tables):
    """Draw the Type I error rates by fit."""
    table = tables[""]
    equal = table[table["kind"] == "equal"]
    groups = {
        f"{fit} fit, {kernel}": some["rejected"]
        for (fit, kernel), some in equal.groupby(["fit", "kernel"], sort=False)
    }
    wrong = [name for name in groups if name.startswith("least squares")]
    return level_chart(groups, equal["trials"].max(), wrong=wrong)


def values(tables) -> dict:
    """Return the numbers, tables and claims of the section."""
    table = tables[""]
    equal = table[table["kind"] == "equal"]
    robust = equal[equal["fit"] == "robust"]
    least = equal[equal["fit"] != "robust"]
    unequal = table[table["kind"] == "unequal"]
    power = unequal.pivot(index=["setting", "kernel"], columns="fit", values="rejected")
    noted = tables["notes"]
    same = noted[noted["spread"] == 1.0]
    unseen = robust[~robust["seen"]]
    return {
        "most": f"{MOST:.1%}",
        "kept": int((robust["rejected"] <= MOST).sum()),
        "settings": len(robust),
        "rates": span(robust["rejected"]),
        "kept_unseen": int((unseen["rejected"] <= MOST).sum()),
        "settings_unseen": len(unseen),
        "least_kept": int((least["rejected"] <= MOST).sum()),
        "least_rates": span(least["rejected"]),
        "exceptions": exceptions(robust),
        "lost": f"{float((power[FITS[1]] - power[FITS[0]]).max()):.2f}",
        "levels": shown(equal, True),
        "powers": shown(unequal, False),
        "permutations": RESAMPLES,
        "trials": int(equal["trials"].max()),
        "fewest_trials": int(table["trials"].min()),
        "note_trials": int(noted["trials"].max()),
        "fewest_note_trials": int(noted["trials"].min()),
        "note_level": "1%",
        "note_rates": span(same["rejected"]),
        "notes": shown_notes(noted),
    }


if __name__ == "__main__":
    run(__doc__, NAME, measured, values, chart, trials=1000, quick=2)
