"""Levels and powers of conditional independence tests on the same data.

Two variables share a function of the conditioning columns: linear, smooth, rough, linear with heavy tails, or linear
with a changing spread; weak or sharp.  Competitors come from causal-learn and hyppo, where installed;
``--only others --store FOLDER`` keeps their results for the run that writes the page.
"""

from __future__ import annotations

import time
import warnings
from functools import partial
from importlib.util import find_spec
from zlib import crc32

import numpy as np
import pandas as pd
from _study import claim, markdown, options, percent, write
from joblib import Parallel, delayed
from scipy import stats
from sklearn.linear_model import LinearRegression
from statsmodels.stats.proportion import proportion_confint

from shrinktest import independence_test, two_sample_test
from shrinktest._check import counted
from shrinktest._parallel import usable_cores
from shrinktest.conditional.regressions import candidate_bases, tuned_smoother
from shrinktest.kernels import Precomputed
from shrinktest.power.designs import Confounded
from shrinktest.results.plots.axes import BLUE, GRAY

NAME = "given_levels"
TITLE = "Levels and powers given Z"
ALPHA, LIMIT = 0.05, 0.07
CHANCE = 0.002  # that an interval misses a rate, half of it below: there are hundreds of rates
SIZES = (50, 200, 1000)
POWER_SIZES = (50, 100, 200)  # rows
MANY = 1000  # trials from which all sizes are run
QUICK = 10  # trials up to which few settings are run
COLUMNS = (1, 5, 20)
SHAPES = ("linear", "smooth", "rough", "heavy-tailed", "spread")
STRENGTHS = {"weak": 1.0, "sharp": 5.0}
OURS = ("residuals", "local")
HYPPO = ("PartialDcorr", "ConditionalDcorr")
OTHERS = ("residual correlation", "GCM", "KCI", "RCIT", *HYPPO)
MODELS = ("true model", "wrong model")
REGRESSOR = "residuals by LinearRegression()"
RIGHT = ("linear", "heavy-tailed", "spread")  # shapes that linear regression fits
HOLDS = (
    0.25  # residual shift, in standard deviations of the statistic, at which a 5% level becomes 6%
)
PERMUTATIONS = 199
FEW_PERMUTATIONS = 39  # enough for an exact level of 0.05
CLINICS, SPECIES = 4, 5
CLINIC_SIZES = (32, 64)  # rows
OWN_KERNELS = ("Bray-Curtis", "Precomputed")
MARGIN = 0.05  # of power
ENOUGH = 100  # data sets for a comparison of powers
#: Share of the trials that a method gets, for all sizes or some: exact methods two, slow ones fewer.
PART: dict[str | tuple[str, int], float] = {MODELS[0]: 2.0, REGRESSOR: 0.5, ("KCI", 1000): 0.025}
PART |= dict(zip(HYPPO, (0.1, 0.02), strict=True))
MOST = {
    REGRESSOR: 200,
    "PartialDcorr": 200,
    "ConditionalDcorr": 50,
}  # rows up to which slow methods are run
KEYS = ["shape", "columns", "strength", "n"]
POWERS = [("linear", 1), ("smooth", 1), ("heavy-tailed", 5)]
EFFECTS = {"mean": 0.35, "turning": 0.6, "square": 0.5}


def _residual_correlation(x, y, z, rng):
    """Test Pearson's correlation of the residuals of linear regressions."""
    design = np.column_stack([np.ones(len(z)), z])
    residuals = [v - design @ np.linalg.lstsq(design, v, rcond=None)[0] for v in (x, y)]
    free = len(x) - design.shape[1] - 1
    norm = np.sqrt((residuals[0] ** 2).sum() * (residuals[1] ** 2).sum())
    r = float(residuals[0][:, 0] @ residuals[1][:, 0] / norm)
    return 2.0 * stats.t.sf(abs(r) * np.sqrt(free / (1.0 - r * r)), free)


def _gcm(x, y, z, rng):
    """Test the generalized covariance measure (Shah and Peters 2020), with the kernel ridge regressions of ours."""
    candidates = candidate_bases(z)
    products = np.prod([tuned_smoother(candidates, v).residuals(v)[:, 0] for v in (x, y)], axis=0)
    return 2.0 * stats.norm.sf(abs(products.mean()) / products.std() * np.sqrt(len(x)))


def _kci(x, y, z, rng):
    from causallearn.utils.KCI.KCI import KCI_CInd

    return float(KCI_CInd().compute_pvalue(x, y, z)[0])


def _rcit(x, y, z, rng):
    from causallearn.utils.RCIT.RCIT import RCIT

    np.random.seed(int(rng.integers(2**31)))  # noqa: NPY002  # its source of random numbers
    return float(np.asarray(RCIT().compute_pvalue(x, y, z)[0]).reshape(-1)[0])


def _hyppo(name, x, y, z, rng):
    from hyppo import conditional

    np.random.seed(int(rng.integers(2**31)))  # noqa: NPY002  # its source of random numbers
    return float(getattr(conditional, name)().test(x, y, z, reps=PERMUTATIONS, workers=1)[1])


def _ours(x, y, z, rng, **options):
    return independence_test(x, y, given=z, rng=rng, n_resamples=PERMUTATIONS, workers=1, **options)


def _model(design: Confounded, wrong: bool):
    """Return the model of X given Z, right or as a line with noise that is too small."""

    def mean(z):
        return design.strength * (
            0.9 * z.sum(axis=1, keepdims=True) / z.shape[1] ** 0.5 if wrong else design.shared(z)
        )

    spread = 0.9 if wrong else 1.0
    return lambda z, rng: mean(z) + spread * rng.normal(size=(len(z), 1))


def methods_for(design: Confounded, n: int) -> dict:
    """Return the methods that apply to such data, by name."""
    methods = {
        "residuals": _ours,
        "local": partial(_ours, given_method="local"),
        "residual correlation": _residual_correlation,
        "GCM": _gcm,
    }
    if design.shape == "smooth" and design.columns == 1 and design.effect == 0.0:
        for name in MODELS:
            methods[name] = partial(_ours, x_given_z=_model(design, wrong=name == "wrong model"))
    if design.shape in RIGHT and design.columns <= 5 and design.strength == STRENGTHS["weak"]:
        methods[REGRESSOR] = partial(_ours, regressor=LinearRegression())
    if find_spec("causallearn"):
        methods |= {"RCIT": _rcit, "KCI": _kci}
    if find_spec("hyppo"):
        methods |= {name: partial(_hyppo, name) for name in HYPPO}
    return {name: method for name, method in methods.items() if n <= MOST.get(name, n)}


def residual_shift(design: Confounded, x, y, z) -> float:
    """Return the bias that remains of the shared function, in standard deviations of the statistic."""
    candidates, shared = candidate_bases(z), design.strength * design.shared(z)
    of_x, of_y = (tuned_smoother(candidates, v).residuals(shared)[:, 0] for v in (x, y))
    noise = np.prod(
        [tuned_smoother(candidates, v).residuals(v - shared)[:, 0] for v in (x, y)], axis=0
    )
    return float(abs((of_x * of_y).mean()) / noise.std() * np.sqrt(len(x)))


def _rejections(design: Confounded, n: int, trials: int, key: str, name: str, method) -> dict:
    """Return the rejections of one method on the data sets of a setting."""
    count = max(1, round(PART.get((name, n), PART.get(name, 1.0)) * trials))
    rejected, seconds, noted = 0, 0.0, 0
    for trial in range(count):
        data = design.sample(np.random.default_rng([crc32(key.encode()), trial]), n)
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = method(*data, np.random.default_rng([trial, 1]))
        seconds += time.perf_counter() - start
        rejected += getattr(result, "pvalue", result) <= ALPHA
        noted += name == "residuals" and any(
            note.startswith("The regressions") for note in result.notes
        )
    low, high = proportion_confint(rejected, count, method="beta")
    row = {"method": name, "rejected": rejected / count, "low": low, "high": high, "trials": count}
    return {
        **row,
        "seconds": seconds / count,
        "noted": noted / count if name == "residuals" else np.nan,
    }


def cell(design: Confounded, n: int, trials: int, store=None, only=None) -> list[dict]:
    """Return the rejections of every method on the same data sets, stored ones included."""
    methods, rows, key = methods_for(design, n), [], f"{design!r} {n} {trials}"
    for name in dict.fromkeys([*methods, *OTHERS]):
        stored = store and store / f"{crc32(key.encode()):08x} {name}.csv"
        if stored and stored.exists():
            rows += pd.read_csv(stored).to_dict("records")
        elif name in methods and (only is None or (only == "ours") == (name not in OTHERS)):
            row = _rejections(design, n, trials, key, name, methods[name])
            rows.append(row)
            if stored:
                store.mkdir(parents=True, exist_ok=True)
                pd.DataFrame([row]).to_csv(stored, index=False)
    if only:
        return []
    seeds = ([crc32(key.encode()), trial] for trial in range(min(20, trials)))
    samples = (design.sample(np.random.default_rng(seed), n) for seed in seeds)
    shared = {
        "shape": design.shape,
        "columns": design.columns,
        "strength": _strength(design),
        "n": n,
    }
    shared |= {"effect": design.how if design.effect else "none"}
    shared |= {"left": float(np.median([residual_shift(design, *data) for data in samples]))}
    return [{**shared, **row} for row in rows]


def _strength(design: Confounded) -> str:
    return next(name for name, value in STRENGTHS.items() if value == design.strength)


def measured(args) -> pd.DataFrame:
    """Return the rejections in every setting."""
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
            design = Confounded(
                shape, columns=columns, strength=STRENGTHS["weak"], effect=effect, how=how
            )
            jobs += [
                (design, n, max(2, args.trials // 2))
                for n in (POWER_SIZES if large else POWER_SIZES[:1])
            ]
    parallel = Parallel(n_jobs=args.workers or usable_cores())
    cells = parallel(delayed(cell)(*job, args.store, args.only) for job in jobs)
    return pd.DataFrame([row for rows in cells for row in rows])


def _two_samples(x, y, z, rng):
    """Compare x where y <= 0 and where y > 0, with z as covariates."""
    second = y[:, 0] > 0.0
    design = {"covariates": (z[~second], z[second]), "n_resamples": PERMUTATIONS, "workers": 1}
    return two_sample_test(x[~second], x[second], rng=rng, **design)


def sample_cell(design: Confounded, n: int, trials: int, store=None) -> dict:
    """Return the rejections of the two-sample test with covariates, stored ones included."""
    key = f"two samples {design!r} {n} {trials}"
    stored = store and store / f"{crc32(key.encode()):08x} samples.csv"
    if stored and stored.exists():
        row = pd.read_csv(stored).to_dict("records")[0]
    else:
        row = _rejections(design, n, trials, key, "residuals", _two_samples)
        if stored:
            store.mkdir(parents=True, exist_ok=True)
            pd.DataFrame([row]).to_csv(stored, index=False)
    effect = design.how if design.effect else "none"
    return {"effect": effect, "shape": design.shape, "columns": design.columns, "n": n, **row}


def measured_samples(args) -> pd.DataFrame:
    """Return the rejections of two samples with covariates, in every setting."""
    sizes, columns = ((50, 200), (1, 5)) if args.trials > QUICK else ((50,), (1,))
    jobs = [
        (Confounded(shape, columns=d, effect=effect), n, trials)
        for effect, trials, shapes in (
            (0.0, args.trials, SHAPES),
            (0.5, max(2, args.trials // 4), SHAPES[:2]),
        )
        for n in sizes
        for shape in shapes
        for d in columns
    ]
    parallel = Parallel(n_jobs=args.workers or usable_cores())
    return pd.DataFrame(parallel(delayed(sample_cell)(*job, args.store) for job in jobs))


def bray_curtis(X, Y):
    """Return exp(-Bray-Curtis dissimilarity), which exists for counts only."""
    if X.min() < 0.0 or Y.min() < 0.0:
        raise ValueError("counts are not negative")
    apart = np.abs(X[:, None] - Y[None]).sum(axis=2)
    return np.exp(-apart / np.maximum((X[:, None] + Y[None]).sum(axis=2), 1.0))


def clinics(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw counts (n, k) and a number (n, 1) that both depend on the clinic, and the clinics (n,)."""
    clinic = np.arange(n) % CLINICS
    counts = rng.poisson(1.0 + 2.0 * clinic[:, None], size=(n, SPECIES)).astype(float)
    return counts, 0.5 * clinic[:, None] + rng.normal(size=(n, 1)), clinic.astype(str)


def _within_clinics(argument: str, kernel: str, n: int, trial: int) -> float:
    """Return the p-value of a test given the clinic, with a kernel of the user for the counts."""
    rng = np.random.default_rng([crc32(f"clinics {argument} {kernel}".encode()), n, trial])
    counts, numbers, clinic = clinics(rng, n)
    values, chosen = counts, bray_curtis
    if kernel == "Precomputed":
        values, chosen = np.arange(n)[:, None], Precomputed(bray_curtis(counts, counts))
    options = {"n_resamples": FEW_PERMUTATIONS, "rng": rng, "workers": 1}
    if argument == "given":
        return independence_test(values, numbers, given=clinic, kernel_x=chosen, **options).pvalue
    treated = numbers[:, 0] > (CLINICS - 1) / 4.0
    covariates = (clinic[~treated], clinic[treated])
    return two_sample_test(
        values[~treated], values[treated], covariates=covariates, kernel=chosen, **options
    ).pvalue


def kernel_cell(argument: str, kernel: str, n: int, trials: int) -> dict:
    """Return the rejections of one test with a kernel of the user, within strata."""
    rejected = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for trial in range(trials):
            rejected += _within_clinics(argument, kernel, n, trial) <= ALPHA
    low, high = proportion_confint(rejected, trials, method="beta")
    row = {"argument": argument, "kernel": kernel, "n": n, "rejected": rejected / trials}
    return {**row, "low": low, "high": high, "trials": trials}


def measured_kernels(args) -> pd.DataFrame:
    """Return the rejections of tests within strata with kernels of the user."""
    sizes = CLINIC_SIZES if args.trials > QUICK else CLINIC_SIZES[1:]
    cells = [
        (argument, kernel, n)
        for argument in ("given", "covariates")
        for kernel in OWN_KERNELS
        for n in sizes
    ]
    parallel = Parallel(n_jobs=args.workers or usable_cores())
    return pd.DataFrame(parallel(delayed(kernel_cell)(*cell, args.trials) for cell in cells))


def _wide(some: pd.DataFrame, *names: str) -> str:
    """Return a table of rejection rates by method."""
    wide = some.pivot_table(
        index=list(names), columns="method", values="rejected", sort=False
    ).reset_index()
    return markdown(wide)


def null_cells(table: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Split the null settings: tests with a model, others where the regressions fit, others where they do not."""
    null = table[table["effect"] == "none"]
    models, others = (
        null[null["method"].isin(MODELS)],
        null[~null["method"].isin((*MODELS, REGRESSOR))],
    )
    return models, others[others["left"] <= HOLDS], others[others["left"] > HOLDS]


def _mean_powers(power: pd.DataFrame) -> str:
    """Return a table of the mean powers of the default method and two competitors."""
    names = [name for name in ("residuals", "GCM", "KCI") if (power["method"] == name).any()]
    mean = power[power["method"].isin(names)].pivot_table(
        "rejected", "effect", "method", sort=False
    )[names]
    effects = {"mean": "linear", "turning": "linear, sign changing with Z", "square": "quadratic"}
    return markdown(mean.map("{:.2f}".format).rename(index=effects).reset_index())


def _range(some: pd.DataFrame) -> str:
    return f"{percent(some['rejected'].min())} to {percent(some['rejected'].max())}"


def _own_levels(holds: pd.DataFrame, fails: pd.DataFrame) -> str:
    """Describe the levels of the methods of this package."""
    ours = holds[
        (holds["method"] == "residuals")
        | ((holds["method"] == "local") & (holds["shape"] != "spread"))
    ]
    apart = _range(holds[(holds["method"] == "local") & (holds["shape"] == "spread")])
    beyond = "; ".join(
        f"{row.method} ({row.shape}, {counted(row.columns, 'column')}, {row.strength}, n = {row.n}): {percent(row.rejected)}"
        for row in ours[beyond_chance(ours)].itertuples()
    )
    noted, falsely = (
        some[some["method"] == "residuals"]["noted"].mean() for some in (fails, holds)
    )
    return (
        f"Where the regressions fit, `local` has rates of {_range(ours[ours['method'] == 'local'])} if the spread is "
        f"constant, but {apart} if it is not. Our methods exceed {LIMIT:.0%} by more than "
        "simulation error in "
        f"{'these settings: ' + beyond if beyond else 'no setting where their assumptions hold'}. "
        "Where the regressions do not fit, use a model of X given Z, strata or "
        f"another regressor. However, a note warns in only {noted:.0%} of these data sets (and in {percent(falsely)} of "
        "the others)."
    )


def _samples(table: pd.DataFrame) -> str:
    """Describe levels and powers of two samples with covariates."""
    null, power = table[table["effect"] == "none"], table[table["effect"] != "none"]
    hard = (null["shape"] == "rough") | ((null["shape"] == "smooth") & (null["columns"] > 1))
    text = (
        "If the two samples are the rows of X where Y > 0 and the other rows of X, with Z as the "
        f"covariate, the default method has Type I error rates of {_range(null[~hard])} where the "
        "regressions fit"
    )
    text += f", but {_range(null[hard])} where they do not." if hard.any() else "."
    return text + (f" Its power against an effect of 0.5 is {_range(power)}." if len(power) else "")


def _own_kernels(table: pd.DataFrame) -> str:
    """Describe the levels of tests within strata with kernels of the user."""
    beyond = int(beyond_chance(table).sum())
    return (
        f"Each row holds counts of {SPECIES} species and one number, both of which depend on the "
        f"clinic of the row (Z, one of {CLINICS}). The "
        f"Bray-Curtis kernel of the counts is specified as a function or as a `Precomputed` matrix. Rows are permuted "
        f"within clinics, {FEW_PERMUTATIONS} times per test, in {table['trials'].min():,} data sets per setting. The "
        f"Type I error rates are {_range(table)}; they exceed {LIMIT:.0%} by more than simulation error in {beyond} "
        f"of {len(table)} settings."
    )


def _regressor(table: pd.DataFrame) -> str:
    """Describe level and power with a regressor that fits."""
    by = [*KEYS, "effect"]
    given = table[table["method"] == REGRESSOR]
    some = table[table["method"].isin(("residuals", REGRESSOR))].merge(given[by], on=by)
    level, power = given[given["effect"] == "none"], some[some["effect"] != "none"]
    mean = power.groupby("method")["rejected"].mean()
    return (
        f"Where X and Y are linear in Z, `regressor=LinearRegression()` has Type I error rates of {_range(level)}; its "
        f"mean power is {mean[REGRESSOR]:.2f}, compared with {mean['residuals']:.2f} for the default."
    )


def opening(tables) -> str:
    """Summarize the results in two sentences."""
    _, holds, fails = null_cells(tables[""])
    default, every = fails[fails["method"] == "residuals"], fails.groupby(KEYS)["rejected"].min()
    return (
        f"In the {_cells(holds)} settings where the regressions fit, the default method "
        f"(`residuals`) at the {ALPHA:g} level had "
        f"Type I error rates of {_range(holds[holds['method'] == 'residuals'])}. In the other {_cells(fails)} settings, "
        f"however, the rates were {_range(default)}, and in {int((every > LIMIT).sum())} of them every method exceeded "
        f"{LIMIT:.0%}."
    )


def alt(tables) -> str:
    """Describe the figure."""
    _, holds, fails = null_cells(tables[""])
    fitted, misfit = (
        holds[holds["method"] == "residuals"]["rejected"].max(),
        fails["rejected"].max(),
    )
    return "Type I error rates of all methods: " + claim(
        "near 0.05 or below for the default where the regressions fit, up to 1 where they do not",
        fitted < 0.1 and misfit > 0.9,
    )


def page(tables) -> list[str]:
    """Write the section from the rejections in all settings."""
    table = tables[""]
    null, power = table[table["effect"] == "none"], table[table["effect"] != "none"]
    models, holds, fails = null_cells(table)
    trials = null[null["method"] == "residuals"]["trials"].min()
    mean = table[table["n"].isin(SIZES[1:])].pivot_table("seconds", "method", "n", sort=False)
    mean.columns = [f"n = {n}" for n in mean.columns]
    return [
        "For continuous Z, a conditional independence test that is valid for every distribution has no power against "
        "any alternative [SP20], so a useful test needs an assumption. Ours assume that their regressions "
        "capture how X and Y depend on Z; `local` also assumes a nearly constant spread. We say "
        f"that the regressions fit if the residual shift is at most {HOLDS}. The residual "
        "shift is the bias of the statistic, in units of its standard deviation, that remains "
        "after regression because X and Y share a function of Z.",
        _own_levels(holds, fails),
        f"The default method was tested on {trials:,} data sets per setting, other methods on "
        f"{null['trials'].min():,} to {null['trials'].max():,}. KCI (kernel "
        "conditional independence test) and RCIT (its randomized approximation) are from "
        "causal-learn, PartialDcorr and ConditionalDcorr are from hyppo, and GCM (generalized "
        "covariance measure) uses our regressions.",
        "## With a model of X given Z",
        "Type I error rates; the wrong model has 0.9 times the true slope and 0.9 times the true noise.",
        _wide(models, *KEYS),
        "## Two samples with covariates",
        _samples(tables["samples"]),
        "## Your own kernels within strata",
        _own_kernels(tables["kernels"]),
        markdown(
            tables["kernels"]
            .drop(columns="trials")
            .rename(columns={"rejected": "rate", "low": "lower limit", "high": "upper limit"})
        ),
        "## Power",
        "Mean power, by the effect of X on Y:",
        _mean_powers(power),
        _behind(power, null),
        "## With a regressor",
        _regressor(table),
        "## Seconds per test",
        markdown(mean.reset_index().astype(object).where(mean.reset_index().notna(), "-")),
    ]


def _powers(power: pd.DataFrame, null: pd.DataFrame) -> str:
    """Mean powers of the default method and of two others, for every effect."""
    names = [name for name in ("residuals", "GCM", "KCI") if (power["method"] == name).any()]
    mean = (
        power[power["method"].isin(names)]
        .groupby(["effect", "method"], sort=False)["rejected"]
        .mean()
        .unstack()
    )
    each = (
        f"{effect}: {', '.join(f'{name} {row[name]:.2f}' for name in names)}"
        for effect, row in mean.iterrows()
    )
    return f"On average, {'; '.join(each)}. {_behind(power, null)}"


def _behind(power: pd.DataFrame, null: pd.DataFrame) -> str:
    """Say in how many settings the default method keeps up with the best valid competitor."""
    above = null[beyond_chance(null)]
    broken = set(
        above[["shape", "columns", "strength", "method"]].itertuples(index=False, name=None)
    )
    near, cells = 0, 0
    for (_, shape, columns, strength, _), some in power[power["trials"] >= ENOUGH].groupby(
        ["effect", *KEYS]
    ):
        powers = some.set_index("method")["rejected"]
        rivals = [
            powers[name]
            for name in OTHERS
            if name in powers and (shape, columns, strength, name) not in broken
        ]
        near, cells = near + (powers["residuals"] >= max(rivals, default=0.0) - MARGIN), cells + 1
    return (
        f"In {near} of {cells} settings, the power of the default method is at most {MARGIN} below "
        "that of the best competitor that controls the Type I error rate."
    )


def beyond_chance(some: pd.DataFrame) -> pd.Series:
    """Tell whether a rate is above the limit, and above the level by more than chance."""
    count = (some["rejected"] * some["trials"]).round()
    low, _ = proportion_confint(count, some["trials"], alpha=CHANCE, method="beta")
    return (some["rejected"] > LIMIT) & (low > ALPHA)


def _cells(some: pd.DataFrame) -> int:
    return len(some.drop_duplicates(KEYS))


def chart(tables):
    """Draw the levels of all methods, where the regressions fit and where they do not."""
    import matplotlib.pyplot as plt

    null = tables[""].query("effect == 'none'")
    null = null[~null["method"].isin((*MODELS, REGRESSOR))]
    drawn, axes = plt.subplots(1, 2, figsize=(9.0, 3.6), sharey=True, layout="constrained")
    drawn.supxlabel(
        f"Type I error rate at level {ALPHA} (X and Y independent given Z)", fontsize="medium"
    )
    names = list(dict.fromkeys(null["method"]))
    for ax, some, title in (
        (axes[0], null[null["left"] <= HOLDS], "regressions fit"),
        (axes[1], null[null["left"] > HOLDS], "regressions do not fit"),
    ):
        for i, name in enumerate(names):
            levels = some[some["method"] == name]["rejected"]
            ax.plot(
                levels,
                np.full(len(levels), i),
                "|",
                markersize=12,
                color=BLUE if name in OURS else GRAY,
            )
        ax.axvline(ALPHA, color="black", linewidth=0.8, linestyle=":", label="nominal level")
        ax.set(title=title, xlim=(-0.02, 1.02))
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_yticks(range(len(names)), names)
    axes[0].invert_yaxis()
    for label, color in (("shrinktest", BLUE), ("other packages", GRAY)):
        axes[1].plot([], [], "|", markersize=12, color=color, label=label)
    drawn.legend(
        *axes[1].get_legend_handles_labels(),
        loc="outside upper center",
        ncols=3,
        frameon=False,
        fontsize="small",
    )
    return drawn


def main() -> None:
    args = options(__doc__, trials=2000, quick=2, only=("ours", "others"))
    tables = {"": measured(args)}
    if args.only:
        return
    tables["samples"] = measured_samples(args)
    tables["kernels"] = measured_kernels(args)
    write(args, NAME, TITLE, page(tables), tables)


if __name__ == "__main__":
    main()
