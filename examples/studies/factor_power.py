"""Power of ``factor_test`` next to other tests of a term: 16 designs, half of which were not used for choosing members.

200 data sets per design of about 60 rows, with other effects present, and 200 in which the effect of the term is
missing: tests that reject too many of these are marked, and none of them counts as the best.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from _charts import band, dots
from _factor_rivals import RIVALS
from _factors import Covariate, Design, Factorial, Tested, TwoWay, chunked, errors, generator, quiet
from _levels import ALPHA, rate
from _study import markdown, parts, percent, run

from shrinktest.results.plots.axes import BLUE, GRAY, ORANGE

NAME = "factor_power"
RESAMPLES = 199
EVEN = (15, 15, 15, 15)
MARGIN = 0.05
#: Designs in which few of many columns change.
FEW_COLUMNS = ("shift 1, 1 of 20 columns", "two of eight species x 1.9")
AUTO = "auto"
OURS = {"linear": "linear", "Gaussian": "gaussian", "auto": "auto"}


# --- designs -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Correlated(TwoWay):
    """Two columns whose correlation is -.3 at the first level of a and .7 at the second."""

    strength: float = 1.0

    def response(self, rng, table):
        noise = errors(rng, self.law, len(table), self.columns)
        a = table["a_code"].to_numpy()
        correlation = -0.3 + self.strength * a
        noise[:, 1] = correlation * noise[:, 0] + np.sqrt(1.0 - correlation**2) * noise[:, 1]
        return noise + self.shift_b * table["b_code"].to_numpy()[:, None]


@dataclass(frozen=True)
class Species(TwoWay):
    """Counts of eight species; a changes two of them, b all."""

    columns: int = 8
    factor: float = 2.0

    def response(self, rng, table):
        a = table["a_code"].to_numpy()
        b = table["b_code"].to_numpy()
        changed = np.arange(self.columns) < 2
        means = np.linspace(0.5, 3.0, self.columns) + np.outer(
            b, np.linspace(-0.5, 0.5, self.columns)
        )
        means = np.exp(means) * np.where(changed, self.factor ** a[:, None], 1.0)
        return rng.poisson(means * rng.gamma(2.0, 0.5, size=means.shape)).astype(np.float64)


@dataclass(frozen=True)
class Contaminated(TwoWay):
    """A tenth of the rows have ten times the spread."""

    def response(self, rng, table):
        clean = replace(self, law="normal")
        wild = rng.random(len(table)) < 0.1
        noise = TwoWay.response(clean, rng, table)
        return noise + 10.0 * wild[:, None] * rng.normal(size=noise.shape)


@dataclass(frozen=True)
class Slopes(Covariate):
    """Slopes on x that differ between the levels of a."""

    formula: str = "a * x"
    slopes_apart: float = 0.0

    def response(self, rng, table):
        apart = self.slopes_apart * table["a_code"].to_numpy() * table["x"].to_numpy()
        return super().response(rng, table) + apart[:, None]


@dataclass(frozen=True)
class Case:
    """A design with an effect, the term that has it, and what takes the effect away."""

    label: str
    design: Design
    term: str
    without: dict


def _shift(design: TwoWay, **effect: float) -> tuple[Design, str, dict]:
    """Return a design with effects of a, or of a:b, and what takes them away."""
    names = list(effect)
    term = "a:b" if names[0].endswith("_ab") else "a"
    nothing = {name: 1.0 if name.startswith("spread") else 0.0 for name in names}
    return replace(design, **effect), term, nothing


def seen() -> list[Case]:
    """Return the designs that were used for choosing members of the ensemble."""
    main = TwoWay(cells=EVEN, columns=5, shift_b=1.5)
    both = replace(main, shift_a=1.0)
    lopsided = replace(main, cells=(6, 20, 24, 10))
    rows = [
        ("shift .35, 5 columns", *_shift(main, shift_a=0.35)),
        ("shift .8, 1 of 5 columns", *_shift(replace(main, shifted=1), shift_a=0.8)),
        ("shift .6, t2", *_shift(replace(main, law="t2"), shift_a=0.6)),
        ("spread 1.4", *_shift(main, spread_a=1.4)),
        ("shift .4, unbalanced", *_shift(lopsided, shift_a=0.4)),
        ("correlation", Correlated(cells=EVEN, columns=5, shift_b=1.5), "a", {"strength": 0.0}),
        ("interaction, shift .8", *_shift(both, shift_ab=0.8)),
        ("interaction, spread 2", *_shift(both, spread_ab=2.0)),
    ]
    return [Case(*row) for row in rows]


def unseen() -> list[Case]:
    """Return designs that were not used before."""
    main = TwoWay(cells=EVEN, columns=5, shift_b=1.5)
    many = replace(main, columns=20, shifted=1)
    three = Factorial(sizes=(3, 2), repeats=10, columns=5, shifts=(0.3, 1.0))
    slope = Covariate(n=60, columns=5, shift_a=1.5, correlation=0.5, slope=0.25)
    slopes = Slopes(n=60, columns=5, shift_a=1.5, slope=1.0, slopes_apart=0.5)
    heavy = replace(main, law="Cauchy", shift_a=1.0)
    wild = Contaminated(cells=EVEN, columns=5, shift_b=1.5)
    species = Species(cells=EVEN, shift_b=0.5, factor=1.9)
    rows = [
        ("shift 1, 1 of 20 columns", *_shift(many, shift_a=1.0)),
        ("shift .4, lognormal", *_shift(replace(main, law="lognormal"), shift_a=0.4)),
        ("shift .5, a tenth of rows wild", *_shift(wild, shift_a=0.5)),
        ("three levels, shifts of .3", three, "a", {"shifts": (0.0, 1.0)}),
        ("slope .25 beside a factor", slope, "x", {"slope": 0.0}),
        ("two of eight species x 1.9", species, "a", {"factor": 1.0}),
        ("slopes .5 apart", slopes, "a:x", {"slopes_apart": 0.0}),
        ("interaction, shift 1.5, Cauchy", *_shift(heavy, shift_ab=1.5)),
    ]
    return [Case(*row) for row in rows]


def cases() -> dict[str, Case]:
    """Return all designs by name."""
    return {case.label: case for case in (*seen(), *unseen())}


# --- simulation ----------------------------------------------------------------------------------------------------


@quiet
def rejections(setting: tuple[str, bool], trials: range) -> list[dict]:
    """Count the rejected data sets of a design, with or without its effect."""
    label, null = setting
    case = cases()[label]
    tested = Tested(replace(case.design, **case.without) if null else case.design)
    counts = dict.fromkeys((*OURS, *RIVALS), 0)
    for trial in trials:
        rng = generator(f"power, {label}, {null}", trial)
        tested.draw(rng)
        points = tested.points()
        part = tested.part(case.term, typ=2)
        for name, kernel in OURS.items():
            counts[name] += tested.pvalue(case.term, kernel, "robust", rng, RESAMPLES) <= ALPHA
        for name, rival in RIVALS.items():
            counts[name] += rival(points, part, rng, RESAMPLES) <= ALPHA
    shared = {"design": label, "null": null, "data_sets": len(trials)}
    return [{**shared, "test": name, "rejections": count} for name, count in counts.items()]


def measured(args) -> pd.DataFrame:
    """Return the rejections of every test in every design."""
    settings = [(label, null) for label in cases() for null in (False, True)]
    counts = parts(args, NAME, list(chunked(rejections, settings, args.trials, 50)))
    keys = ["design", "null", "test"]
    sums = counts.groupby(keys, sort=False)[["rejections", "data_sets"]].sum().reset_index()
    rates = [rate(row.rejections, row.data_sets) for row in sums.itertuples()]
    known = [case.label for case in seen()]
    sums.insert(1, "seen", sums["design"].isin(known))
    return pd.concat([sums[[*keys, "seen"]], pd.DataFrame(rates)], axis=1)


# --- page ----------------------------------------------------------------------------------------------------------


def wide(table: pd.DataFrame, null: bool) -> pd.DataFrame:
    """Return rates of all tests, a row for every design."""
    some = table[table["null"] == null]
    rates = some.pivot(index="design", columns="test", values="rejected")
    return rates.loc[list(dict.fromkeys(some["design"])), list(dict.fromkeys(some["test"]))]


def invalid(table: pd.DataFrame) -> pd.DataFrame:
    """Tell which tests reject too many data sets without an effect, by design."""
    return wide(table, null=True) > band(ALPHA, int(table["trials"].max()))[1]


def best(table: pd.DataFrame) -> pd.Series:
    """Return the highest power of a test that keeps its level, by design."""
    return wide(table, null=False).where(~invalid(table)).max(axis=1)


def shown(table: pd.DataFrame, null: bool) -> str:
    """Return a Markdown table of rates; a star marks tests that do not keep their level."""
    rates = wide(table, null)
    marks = invalid(table).map(lambda wrong: "*" if wrong else "")
    cells = rates.map("{:.2f}".format) + marks
    return markdown(cells.reset_index())


def chart(tables):
    """Draw the power of auto, of the best other valid test and of adonis2, in every design."""
    table = tables[""]
    powers = wide(table, null=False).where(~invalid(table))
    drawn = pd.DataFrame(
        {
            "auto": powers[AUTO],
            "best other test": powers.drop(columns=AUTO).max(axis=1),
            "adonis2, Euclidean": powers["adonis2, Euclidean"],
        }
    )
    looks = {
        "auto": ("o", BLUE),
        "best other test": ("D", ORANGE),
        "adonis2, Euclidean": ("s", GRAY),
    }
    return dots(drawn, "power (tests that keep their level)", looks)


def values(tables) -> dict:
    """Return the numbers, tables and claims of the section."""
    table = tables[""]
    powers = wide(table, null=False)
    behind = best(table) - powers[AUTO]
    near = behind <= MARGIN + 1e-9
    old = pd.Series(powers.index.isin([case.label for case in seen()]), index=powers.index)
    worst = [f"{label} ({behind[label]:.3f})" for label in behind.index[~near]]
    wrong = invalid(table).sum()
    names = [f"{name} ({count})" for name, count in wrong.items() if count]
    trials = int(table["trials"].max())
    low, high = band(ALPHA, trials)
    ours = wide(table, null=True)[list(OURS)]
    return {
        "near": int(near.sum()),
        "designs": len(near),
        "margin": f"{MARGIN:g}",
        "near_seen": int(near[old].sum()),
        "seen": int(old.sum()),
        "near_unseen": int(near[~old].sum()),
        "unseen": int((~old).sum()),
        "behind": "; ".join(worst) or "none",
        "columns_win": bool((powers["ANOVA, Holm"] > powers[AUTO])[list(FEW_COLUMNS)].all()),
        "mean": f"{powers[AUTO].mean():.2f}",
        "mean_adonis": f"{powers['adonis2, Euclidean'].mean():.2f}",
        "mean_anova": f"{powers['ANOVA, Holm'].mean():.2f}",
        "invalid": "; ".join(names) or "none",
        "ours_null": f"{percent(ours.to_numpy().min())} to {percent(ours.to_numpy().max())}",
        "powers_seen": shown(table[table["seen"]], null=False),
        "powers_unseen": shown(table[~table["seen"]], null=False),
        "levels": shown(table, null=True),
        "trials": trials,
        "permutations": RESAMPLES,
        "error": f"{1.96 * 0.5 / trials**0.5:.2f}",
        "low": f"{low:.3f}",
        "high": f"{high:.3f}",
    }


if __name__ == "__main__":
    run(__doc__, NAME, measured, values, chart, trials=200, quick=2)
