"""Levels and powers of tests of independence given other variables, on the same data.

Two variables share a function of the given columns: a line, a smooth one, a rough one, a line with heavy tails, and a
line that changes the spread as well; weakly, and sharply.  Tests of others are those of causal-learn and hyppo, where
they are installed; ``--only others --store FOLDER`` keeps what they find for the run that writes the page.
"""

from __future__ import annotations

import time
import warnings
from functools import partial
from importlib.util import find_spec
from zlib import crc32

import numpy as np
import pandas as pd
from _study import claim, markdown, options, write
from joblib import Parallel, delayed
from scipy import stats
from sklearn.linear_model import LinearRegression
from statsmodels.stats.proportion import proportion_confint

from shrinktest import independence_test, two_sample_test
from shrinktest._check import counted
from shrinktest._parallel import usable_cores
from shrinktest.conditional.regressions import candidate_bases, tuned_smoother
from shrinktest.power.designs import Confounded

NAME = "given_levels"
TITLE = "Levels and powers given Z"
ALPHA, LIMIT = 0.05, 0.07
CHANCE = 0.002  # that an interval does not hold a share, half of it below: there are hundreds of shares
SIZES = (50, 200, 1000)
OF_POWER = (50, 100, 200)  # rows
MANY = 1000  # trials from which all sizes are looked at, and not the smaller ones only
QUICK = 10  # trials up to which few cells are looked at
COLUMNS = (1, 5, 20)
SHAPES = ("linear", "smooth", "rough", "heavy-tailed", "spread")
STRENGTHS = {"weak": 1.0, "sharp": 5.0}
OURS = ("residuals", "local")
HYPPO = ("PartialDcorr", "ConditionalDcorr")
OTHERS = ("residual correlation", "GCM", "KCI", "RCIT", *HYPPO)
MODELS = ("true model", "wrong model")
REGRESSOR = "residuals by LinearRegression()"
RIGHT = ("linear", "heavy-tailed", "spread")  # shapes that it finds, however sharp
HOLDS = 0.25  # standard deviations by which what regressions leave may move a statistic, for 5 % to become 6 %
PERMUTATIONS = 199
MARGIN = 0.05  # of power
ENOUGH = 100  # data sets, for powers to be compared
#: Part of the trials that a method gets, of any rows or of some: exact ones two, what is slow fewer.
PART: dict[str | tuple[str, int], float] = {MODELS[0]: 2.0, REGRESSOR: 0.5, ("KCI", 1000): 0.025}
PART |= dict(zip(HYPPO, (0.1, 0.02), strict=True))
MOST = {REGRESSOR: 200, "PartialDcorr": 200, "ConditionalDcorr": 50}  # rows up to which what is slow is run
KEYS = ["shape", "columns", "strength", "n"]
POWERS = [("linear", 1), ("smooth", 1), ("heavy-tailed", 5)]
EFFECTS = {"mean": 0.35, "turning": 0.6, "square": 0.5}


def _residual_correlation(x, y, z, rng):
    """Pearson's correlation of the residuals of linear regressions."""
    design = np.column_stack([np.ones(len(z)), z])
    left = [v - design @ np.linalg.lstsq(design, v, rcond=None)[0] for v in (x, y)]
    free = len(x) - design.shape[1] - 1
    r = float(left[0][:, 0] @ left[1][:, 0] / np.sqrt((left[0] ** 2).sum() * (left[1] ** 2).sum()))
    return 2.0 * stats.t.sf(abs(r) * np.sqrt(free / (1.0 - r * r)), free)


def _gcm(x, y, z, rng):
    """The generalised covariance measure (Shah and Peters 2020), regressions by the same kernel ridge as ours."""
    candidates = candidate_bases(z)
    products = np.prod([tuned_smoother(candidates, v).residuals(v)[:, 0] for v in (x, y)], axis=0)
    return 2.0 * stats.norm.sf(abs(products.mean()) / products.std() * np.sqrt(len(x)))


def _kci(x, y, z, rng):
    from causallearn.utils.KCI.KCI import KCI_CInd

    return float(KCI_CInd().compute_pvalue(x, y, z)[0])


def _rcit(x, y, z, rng):
    from causallearn.utils.RCIT.RCIT import RCIT

    np.random.seed(int(rng.integers(2**31)))  # noqa: NPY002  # the source that it draws from
    return float(np.asarray(RCIT().compute_pvalue(x, y, z)[0]).reshape(-1)[0])


def _hyppo(name, x, y, z, rng):
    from hyppo import conditional

    np.random.seed(int(rng.integers(2**31)))  # noqa: NPY002  # the source that it draws from
    return float(getattr(conditional, name)().test(x, y, z, reps=PERMUTATIONS, workers=1)[1])


def _ours(x, y, z, rng, **told):
    return independence_test(x, y, given=z, rng=rng, n_resamples=PERMUTATIONS, workers=1, **told)


def _model(design: Confounded, wrong: bool):
    """X given Z as it is, or as a line with noise that is too small."""

    def mean(z):
        return design.strength * (0.9 * z.sum(axis=1, keepdims=True) / z.shape[1] ** 0.5 if wrong else design.shared(z))

    spread = 0.9 if wrong else 1.0
    return lambda z, rng: mean(z) + spread * rng.normal(size=(len(z), 1))


def methods_of(design: Confounded, n: int) -> dict:
    """p-values by name, of those that are there for such data."""
    found = {
        "residuals": _ours,
        "local": partial(_ours, given_method="local"),
        "residual correlation": _residual_correlation,
        "GCM": _gcm,
    }
    if design.shape == "smooth" and design.columns == 1 and design.effect == 0.0:
        for name in MODELS:
            found[name] = partial(_ours, x_given_z=_model(design, wrong=name == "wrong model"))
    if design.shape in RIGHT and design.columns <= 5 and design.strength == STRENGTHS["weak"]:
        found[REGRESSOR] = partial(_ours, regressor=LinearRegression())
    if find_spec("causallearn"):
        found |= {"RCIT": _rcit, "KCI": _kci}
    if find_spec("hyppo"):
        found |= {name: partial(_hyppo, name) for name in HYPPO}
    return {name: method for name, method in found.items() if n <= MOST.get(name, n)}


def _left(design: Confounded, x, y, z) -> float:
    """By how many standard deviations what regressions leave of the shared function moves the mean of products."""
    candidates, shared = candidate_bases(z), design.strength * design.shared(z)
    one, other = (tuned_smoother(candidates, v).residuals(shared)[:, 0] for v in (x, y))
    noise = np.prod([tuned_smoother(candidates, v).residuals(v - shared)[:, 0] for v in (x, y)], axis=0)
    return float(abs((one * other).mean()) / noise.std() * np.sqrt(len(x)))


def _rejections(design: Confounded, n: int, trials: int, key: str, name: str, method) -> dict:
    """How often one method rejects, on the data sets of a cell."""
    count = max(1, round(PART.get((name, n), PART.get(name, 1.0)) * trials))
    rejected, seconds, noted = 0, 0.0, 0
    for trial in range(count):
        data = design.sample(np.random.default_rng([crc32(key.encode()), trial]), n)
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = method(*data, np.random.default_rng([trial, 1]))
        seconds += time.perf_counter() - start
        rejected += getattr(found, "pvalue", found) <= ALPHA
        noted += name == "residuals" and any(note.startswith("The regressions") for note in found.notes)
    low, high = proportion_confint(rejected, count, method="beta")
    row = {"method": name, "rejected": rejected / count, "low": low, "high": high, "trials": count}
    return {**row, "seconds": seconds / count, "noted": noted / count if name == "residuals" else np.nan}


def cell(design: Confounded, n: int, trials: int, store=None, only=None) -> list[dict]:
    """Rejections of every method on the same data sets, those that were kept before included."""
    methods, rows, key = methods_of(design, n), [], f"{design!r} {n} {trials}"
    for name in dict.fromkeys([*methods, *OTHERS]):
        kept = store and store / f"{crc32(key.encode()):08x} {name}.csv"
        if kept and kept.exists():
            rows += pd.read_csv(kept).to_dict("records")
        elif name in methods and (only is None or (only == "ours") == (name not in OTHERS)):
            row = _rejections(design, n, trials, key, name, methods[name])
            rows.append(row)
            if kept:
                store.mkdir(parents=True, exist_ok=True)
                pd.DataFrame([row]).to_csv(kept, index=False)
    if only:
        return []
    seen = (design.sample(np.random.default_rng([crc32(key.encode()), trial]), n) for trial in range(min(20, trials)))
    shared = {"shape": design.shape, "columns": design.columns, "strength": _strength(design), "n": n}
    shared |= {"effect": design.how if design.effect else "none"}
    shared |= {"left": float(np.median([_left(design, *data) for data in seen]))}
    return [{**shared, **row} for row in rows]


def _strength(design: Confounded) -> str:
    return next(name for name, value in STRENGTHS.items() if value == design.strength)


def measured(args) -> pd.DataFrame:
    """Rejections in every cell."""
    large = args.trials > QUICK
    sizes = SIZES if args.trials >= MANY else SIZES[: 2 if large else 1]
    jobs: list[tuple[Confounded, int, int]] = []
    for n in sizes:
        for shape in SHAPES if large else ("linear", "rough"):
            for columns in COLUMNS if large else COLUMNS[:1]:
                for strength in STRENGTHS.values():
                    design = Confounded(shape, columns=columns, strength=strength, effect=0.0)
                    jobs.append((design, n, args.trials))
    for shape, columns in POWERS if large else POWERS[:1]:
        for how, effect in EFFECTS.items():
            design = Confounded(shape, columns=columns, strength=STRENGTHS["weak"], effect=effect, how=how)
            jobs += [(design, n, max(2, args.trials // 2)) for n in (OF_POWER if large else OF_POWER[:1])]
    parallel = Parallel(n_jobs=args.workers or usable_cores())
    found = parallel(delayed(cell)(*job, args.store, args.only) for job in jobs)
    return pd.DataFrame([row for rows in found for row in rows])


def _two_samples(x, y, z, rng):
    """Rows with a small and with a large y as two samples of x, with z as covariates."""
    second = y[:, 0] > 0.0
    told = {"covariates": (z[~second], z[second]), "n_resamples": PERMUTATIONS, "workers": 1}
    return two_sample_test(x[~second], x[second], rng=rng, **told)


def sample_cell(design: Confounded, n: int, trials: int, store=None) -> dict:
    """Rejections of the test of two samples with covariates, those that were kept before included."""
    key = f"two samples {design!r} {n} {trials}"
    kept = store and store / f"{crc32(key.encode()):08x} samples.csv"
    if kept and kept.exists():
        row = pd.read_csv(kept).to_dict("records")[0]
    else:
        row = _rejections(design, n, trials, key, "residuals", _two_samples)
        if kept:
            store.mkdir(parents=True, exist_ok=True)
            pd.DataFrame([row]).to_csv(kept, index=False)
    effect = design.how if design.effect else "none"
    return {"effect": effect, "shape": design.shape, "columns": design.columns, "n": n, **row}


def measured_samples(args) -> pd.DataFrame:
    """Rejections of two samples with covariates, in every cell."""
    sizes, columns = ((50, 200), (1, 5)) if args.trials > QUICK else ((50,), (1,))
    jobs = [
        (Confounded(shape, columns=d, effect=effect), n, trials)
        for effect, trials, shapes in ((0.0, args.trials, SHAPES), (0.5, max(2, args.trials // 4), SHAPES[:2]))
        for n in sizes
        for shape in shapes
        for d in columns
    ]
    found = Parallel(n_jobs=args.workers or usable_cores())(delayed(sample_cell)(*job, args.store) for job in jobs)
    return pd.DataFrame(found)


def _wide(some: pd.DataFrame, *names: str) -> str:
    """Rejections by the method."""
    wide = some.pivot_table(index=list(names), columns="method", values="rejected", sort=False).reset_index()
    return markdown(wide.astype(object).where(wide.notna(), "-"))


def null_cells(table: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Where X and Y are independent given Z: tests with a model, the others where regressions find Z, and elsewhere."""
    null = table[table["effect"] == "none"]
    models, others = null[null["method"].isin(MODELS)], null[~null["method"].isin((*MODELS, REGRESSOR))]
    return models, others[others["left"] <= HOLDS], others[others["left"] > HOLDS]


def opening(tables) -> str:
    """What came out, in two sentences."""
    _, holds, fails = null_cells(tables[""])
    default, every = fails[fails["method"] == "residuals"], fails.groupby(KEYS)["rejected"].min()
    return (
        f"In the {_cells(holds)} settings where the regressions find what the given columns explain, the default "
        f"method at level {ALPHA:g} rejected in {_span(holds[holds['method'] == 'residuals'])} of data sets in which X "
        f"and Y are independent given Z. In the other {_cells(fails)} settings it rejected in {_span(default)}, and in "
        f"{int((every > LIMIT).sum())} of them every method that was tried rejected in more than {100 * LIMIT:g} %."
    )


def alt(tables) -> str:
    """What the picture shows."""
    _, holds, fails = null_cells(tables[""])
    kept, lost = holds[holds["method"] == "residuals"]["rejected"].max(), fails["rejected"].max()
    return "Levels of all methods: " + claim(
        "near .05 for the default where the regressions find what is given, up to 1 where they do not",
        kept < 0.1 and lost > 0.9,
    )


def page(tables) -> list[str]:
    """What the page says, from the rejections in all cells."""
    table = tables[""]
    null, power = table[table["effect"] == "none"], table[table["effect"] != "none"]
    models, holds, fails = null_cells(table)
    trials = ", ".join(
        f"n = {n}: {some[some['method'] == 'residuals']['trials'].min()} ({some['trials'].min()} to "
        f"{some['trials'].max()} of other methods)"
        for n, some in null.groupby("n")
    )
    mean = table.groupby(["n", "method"], sort=False)["seconds"].mean().unstack("n")
    mean = mean.sort_index(axis=1).round(3).reset_index()
    mean.columns = ["method", *(f"n = {n}" for n in mean.columns[1:])]
    parts = [
        "No test of independence given numbers has its level for every distribution [SP20]: each assumes something "
        "about how X and Y depend on Z, and rejects too often where that is wrong. Here X and Y share a function of "
        "the given columns Z and nothing else. The methods of this package assume that their regressions find this "
        "function. `left` is by how many standard deviations the statistic moves because they have not found all of "
        f"it; up to {HOLDS} the assumption is taken to hold. 'local' also assumes that the spread of both "
        "hardly changes among neighbours, which is not so in the shape 'spread'.",
        " ".join([*_where_it_holds(holds), *_where_it_fails(fails, holds)]),
        f"Shares of p <= {ALPHA}. Data sets a cell: {trials}; 95 % intervals by Clopper and Pearson are in the file. "
        "All methods get the same data, those that get fewer the first of them. Methods of this package were chosen "
        "with other strengths, effects and seeds, and in part other functions. KCI and RCIT are those of causal-learn "
        "as they come, PartialDcorr and ConditionalDcorr those of hyppo with as many permutations as ours (its FCIT "
        "takes ten seconds a test, and was not run); GCM has the regressions of this package.",
        "## Where the regressions find what is given\n\n" + _wide(holds, *KEYS),
        "## Where they do not\n\n" + (_wide(fails, *KEYS) if len(fails) else "No cell."),
        "## With a model of X given Z\n\nThe wrong model is a line of 0.9 times the slope with noise of 0.9 times the "
        "standard deviation.\n\n" + (_wide(models, *KEYS) if len(models) else "Not measured."),
        "## Two samples with covariates\n\n" + _samples(tables["samples"]),
        "## Power\n\nThe noise of X has an effect on Y: on its mean; on its mean with a sign that turns with the first "
        "given column; by its square. Compare with methods that hold their level in the tables above. "
        + _powers(power, null)
        + "\n\n"
        + _wide(power[~power["method"].isin((*MODELS, REGRESSOR))], "effect", "shape", "columns", "n"),
        "## With a regressor\n\n" + _with_regressor(table),
        "## Seconds a test\n\n" + markdown(mean.astype(object).where(mean.notna(), "-")),
    ]
    return parts


def _samples(table: pd.DataFrame) -> str:
    """Levels and powers of two samples that covariates tell apart."""
    null, power = table[table["effect"] == "none"], table[table["effect"] != "none"]
    hard = (null["shape"] == "rough") | ((null["shape"] == "smooth") & (null["columns"] > 1))
    parts = {"": null[~hard], " where the tables above say that regressions do not find Z": null[hard]}
    spans = [f"{_span(some)}{where}" for where, some in parts.items() if len(some)]
    said = (
        "Rows with Y > 0 are one sample of X and the others another, with Z as `covariates=` (weak strength). Without "
        f"an effect the default method rejects in {', and in '.join(spans)}, of {null['trials'].min()} data sets."
    )
    if len(power):
        count = power["trials"].min()
        said += f" An effect of the noise of X on Y, of 0.5, is found in {_span(power)} of {count} data sets."
    wide = table.pivot_table(index=["effect", "shape", "columns"], columns="n", values="rejected", sort=False)
    wide.columns = [f"n = {n}" for n in wide.columns]
    wide = wide.reset_index().astype(object)
    return f"{said}\n\n{markdown(wide.where(wide.notna(), '-'))}"


def _with_regressor(table: pd.DataFrame) -> str:
    """Levels and powers with a regressor that is right, beside those of the default method and of lines in sample."""
    by, others = [*KEYS, "effect"], ("residuals", "residual correlation")
    given = table[table["method"] == REGRESSOR]
    some = table[table["method"].isin((*others, REGRESSOR))].merge(given[by], on=by)
    level, power = some[some["effect"] == "none"], some[some["effect"] != "none"]
    mean = power.groupby("method")["rejected"].mean()
    said = (
        "`regressor=LinearRegression()` where X and Y are lines in the given columns, however sharp: "
        f"it rejects in {_span(level[level['method'] == REGRESSOR])} of data sets without an effect. "
        f"With an effect it does so in {mean[REGRESSOR]:.2f} on average, and the default method in "
        f"{mean['residuals']:.2f}."
    )
    return "\n\n".join([said, _wide(level, "shape", "columns", "n"), _wide(power, "effect", "shape", "columns", "n")])


def _powers(power: pd.DataFrame, null: pd.DataFrame) -> str:
    """Mean powers of the default method and of two others, for every effect."""
    names = [name for name in ("residuals", "GCM", "KCI") if (power["method"] == name).any()]
    mean = power[power["method"].isin(names)].groupby(["effect", "method"], sort=False)["rejected"].mean().unstack()
    each = (f"{effect}: {', '.join(f'{name} {row[name]:.2f}' for name in names)}" for effect, row in mean.iterrows())
    return f"On average, {'; '.join(each)}. {_behind(power, null)}"


def _behind(power: pd.DataFrame, null: pd.DataFrame) -> str:
    """In how many cells the default method is not behind the best of others that hold their level by a margin."""
    above = null[beyond_chance(null)]
    broken = set(above[["shape", "columns", "strength", "method"]].itertuples(index=False, name=None))
    near, cells = 0, 0
    for (_, shape, columns, strength, _), some in power[power["trials"] >= ENOUGH].groupby(["effect", *KEYS]):
        found = some.set_index("method")["rejected"]
        rivals = [found[name] for name in OTHERS if name in found and (shape, columns, strength, name) not in broken]
        near, cells = near + (found["residuals"] >= max(rivals, default=0.0) - MARGIN), cells + 1
    return (
        f"In {near} of {cells} cells the default method is not behind the best of those others that hold their level "
        f"without an effect, at all numbers of rows, by more than {MARGIN}, of methods with {ENOUGH} data sets or more."
    )


def beyond_chance(some: pd.DataFrame) -> pd.Series:
    """Whether a share is above the limit, and so far above the level as one of a thousand such shares is by chance."""
    count = (some["rejected"] * some["trials"]).round()
    low, _ = proportion_confint(count, some["trials"], alpha=CHANCE, method="beta")
    return (some["rejected"] > LIMIT) & (low > ALPHA)


def _cells(some: pd.DataFrame) -> int:
    return len(some.drop_duplicates(KEYS))


def _where_it_holds(holds: pd.DataFrame) -> list[str]:
    """Levels of the methods of this package where their assumption holds."""
    ours = holds[(holds["method"] == "residuals") | ((holds["method"] == "local") & (holds["shape"] != "spread"))]
    spans = {name: _span(ours[ours["method"] == name]) for name in OURS}
    apart = _span(holds[(holds["method"] == "local") & (holds["shape"] == "spread")])
    said = [
        f"In the {_cells(holds)} cells where the regressions find what is given, the default method rejects in "
        f"{spans['residuals']} of data sets, and 'local' in {spans['local']}, in 'spread' apart: there in {apart}."
    ]
    above = ours[beyond_chance(ours)]
    beyond = [
        f"{row.method} ({row.shape}, {counted(row.columns, 'column')}, {row.strength}, n = {row.n}): "
        f"{100 * row.rejected:.1f} %"
        for row in above.itertuples()
    ]
    if beyond:
        return [*said, f"Above {LIMIT} by more than chance: {'; '.join(beyond)}."]
    return [*said, f"No cell of the methods of this package is above {LIMIT} by more than chance."]


def _where_it_fails(fails: pd.DataFrame, holds: pd.DataFrame) -> list[str]:
    """Levels of all methods where the assumption does not hold."""
    if not len(fails):
        return []
    every = fails.groupby(KEYS)["rejected"].min()
    noted, falsely = (100 * some[some["method"] == "residuals"]["noted"].mean() for some in (fails, holds))
    span = _span(fails[fails["method"] == "residuals"])
    return [
        f"In the other {_cells(fails)} the default method rejects in {span}; in {int((every > LIMIT).sum())} of them "
        f"every method that was tried is above {LIMIT}: give a model, strata, or a regressor that fits.",
        f"Notes of the result doubt the regressions in {noted:.0f} % of the data sets of these cells, and in "
        f"{falsely:.1f} % of the others.",
    ]


def _span(some: pd.DataFrame) -> str:
    return f"{100 * some['rejected'].min():.1f} to {100 * some['rejected'].max():.1f} %"


def chart(tables):
    """Levels of all methods, where the regressions find what is given and where they do not."""
    import matplotlib.pyplot as plt

    null = tables[""].query("effect == 'none'")
    null = null[~null["method"].isin((*MODELS, REGRESSOR))]
    drawn, axes = plt.subplots(1, 2, figsize=(9.0, 3.6), sharey=True, layout="constrained")
    drawn.supxlabel(f"share of p <= {ALPHA} where X and Y are independent given Z", fontsize="medium")
    names = list(dict.fromkeys(null["method"]))
    for ax, some, title in (
        (axes[0], null[null["left"] <= HOLDS], "regressions find what is given"),
        (axes[1], null[null["left"] > HOLDS], "they do not"),
    ):
        for i, name in enumerate(names):
            levels = some[some["method"] == name]["rejected"]
            ax.plot(levels, np.full(len(levels), i), "|", markersize=12, color="C0" if name in OURS else "C7")
        ax.axvline(ALPHA, color="C3", linewidth=1.0)
        ax.set(title=title, xlim=(-0.02, 1.02))
    axes[0].set_yticks(range(len(names)), names)
    axes[0].invert_yaxis()
    return drawn


def main() -> None:
    args = options(__doc__, trials=2000, quick=2, only=("ours", "others"))
    tables = {"": measured(args)}
    if args.only:
        return
    tables["samples"] = measured_samples(args)
    write(args, NAME, TITLE, page(tables), tables)


if __name__ == "__main__":
    main()
