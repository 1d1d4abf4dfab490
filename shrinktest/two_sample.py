"""Do two samples come from one distribution?  ``two_sample_test`` and the MMD statistic over splits."""

from __future__ import annotations

from typing import Any

import numpy as np

from shrinktest._validate import as_rng, choice, level, n_workers, resamples, rng_provenance, two_samples
from shrinktest.embedding import MeanEmbedding
from shrinktest.estimators import MeanEstimator, as_estimator
from shrinktest.estimators.base import Tuned
from shrinktest.estimators.marginalized import Marginalized
from shrinktest.estimators.spectral import SpectralEstimator
from shrinktest.estimators.standard import SKMSE, ScaledMean
from shrinktest.kernels import Kernel, as_kernel
from shrinktest.kernels.base import FiniteRank
from shrinktest.permutation import Shared, Splits, Statistic, null_distribution
from shrinktest.result import TestResult, conclude
from shrinktest.route import Route, choose_route, memory_limit

FORMS = ("auto", "biased", "unbiased")


def two_sample_test(
    X: Any,
    Y: Any,
    *,
    estimator: Any = "kme",
    kernel: Any = "gaussian",
    bandwidth: Any = "median",
    statistic: str = "auto",
    n_resamples: float = 999,
    alpha: float = 0.05,
    nan_policy: str = "raise",
    rng: Any = None,
    workers: int | None = None,
    progress: bool = False,
    gram: str = "auto",
    rank: int | None = None,
    max_memory: float | None = None,
) -> TestResult:
    """Kernel two-sample permutation test: squared distance (MMD^2) of the estimated kernel means.

    Parameters
    ----------
    X, Y : array_like, shape (m, d) and (n, d), or (m,) and (n,)
        The samples, one row an observation; data frames are matched by column name.
    estimator : str, MeanEstimator or callable, default "kme"
        How the kernel means are estimated: a name (``shrinktest estimators`` lists them), an estimator such as
        ``FKMSE(lam_cov=0.3)``, or a function from a Gram matrix to weights.
    kernel : str, Kernel or callable, default "gaussian"
        "gaussian", "laplacian", "linear", "polynomial", a kernel object, or a function ``(X, Y) -> Gram matrix``.
    bandwidth : float, sequence of float or "median"
        For kernels given by name; "median": its square is the median squared distance of the pooled sample.
    statistic : {"auto", "biased", "unbiased"}
        "biased": the squared distance of the two estimates (V form).  "unbiased" (U form): less what chance adds to
        the squared norms.  "auto": unbiased when the sizes differ, where the V form favours one direction of a
        change of scale; biased otherwise.
    n_resamples : int or inf, default 999
        Number of random relabellings.  All splits are enumerated instead when they are no more than this.
    alpha : float, default 0.05
        Level at which the result decides; the p-value does not depend on it.
    nan_policy : {"raise", "omit", "propagate"}
        What to do with missing values: an error, drop their rows, or a result of NaN.
    rng : None, int, SeedSequence, BitGenerator or Generator
        Seed or source of the relabellings.
    workers : int, optional
        Threads; default all usable cores.  The result is the same for any number.
    progress : bool, default False
        Show a progress bar.
    gram : {"auto", "dense", "factor", "nystrom", "rff"}
        How the kernel is evaluated.  "dense": the Gram matrix.  "factor": a pivoted Cholesky factor that reproduces it
        up to rounding; time and memory are then linear in the sizes.  "auto": one of these two, which give the same
        p-value.  "nystrom", "rff": ``rank`` coordinates from random landmarks or random Fourier features; the
        permutation test of that approximate statistic is still exact.  All but "dense" are for estimators that
        need sums only ("kme", "skmse", and the marginalised ones with pooled noise).
    rank : int, optional
        Coordinates of the approximation (default 1000); for "factor", where to truncate it.
    max_memory : float, optional
        Bytes that the kernel's values may take; default a quarter of what is free.

    Returns
    -------
    TestResult
        ``statistic, pvalue = result`` works; ``print(result.summary())`` shows all.

    Raises
    ------
    ValueError, TypeError
        For input that cannot be tested; the message names the argument and says what to do.
    MemoryError
        If the kernel's values would not fit ``max_memory``; says how much they take, and what fits.

    Warns
    -----
    UserWarning
        When there are too few relabellings to reject at ``alpha``.

    Notes
    -----
    The level is exact for every estimator: what is computed once does not depend on the labels, everything else is
    recomputed for every relabelling, ties count as exceedances, and the observed labelling is one of the rows.
    Statistic: [M14] section 2 with the weights of the estimator; for the marginalised means [X20] (30).

    The U form replaces the squared norm w'Kw of an estimate with weights w by w'Kw - sum_i w_i^2 (K_ii - A), with A the
    mean of the off-diagonal entries of K: what is taken off estimates sum_i w_i^2 (E k(x, x) - |mu|^2), by which
    independent points raise it.  For equal weights this is the unbiased statistic of Gretton et al. (2012).

    Examples
    --------
    >>> import numpy as np
    >>> from shrinktest import two_sample_test
    >>> rng = np.random.default_rng(1)
    >>> X, Y = rng.normal(size=(30, 5)), 1.5 * rng.normal(size=(30, 5))
    >>> two_sample_test(X, Y, estimator="kme", rng=0).pvalue
    0.015
    >>> two_sample_test(X, Y, estimator="fkmse", rng=0).pvalue
    0.009
    """
    est = as_estimator(estimator)
    alpha = level(alpha)
    choice(statistic, FORMS, "statistic")
    threads = n_workers(workers)
    n_resamples = resamples(n_resamples)
    x, y, _, missing = two_samples(X, Y, nan_policy)
    generator = as_rng(rng)
    provenance = rng_provenance(generator)
    sizes = (len(x), len(y))
    form = form_of(est, statistic, sizes)
    tuning = est.tuning_for(sizes) if isinstance(est, Tuned) else "fixed"
    common: dict[str, Any] = {
        "test": "two-sample",
        "form": form,
        "estimator": est,
        "tuning": tuning,
        "n_observations": sizes,
        "alpha": alpha,
        "rng": provenance,
    }
    chosen = as_kernel(kernel, bandwidth)
    if missing:
        return conclude(None, kernel=chosen, **common)
    pooled = np.vstack([x, y])
    resolved = resolve(chosen, pooled, generator, "X and Y")
    used = est.tuned(resolved, pooled) if isinstance(est, Tuned) and tuning == "pooled" else est
    route = choose_route(
        _features(used, resolved, pooled),
        pooled,
        gram=gram,
        rank=rank,
        memory=memory_limit(max_memory),
        rng=generator,
        sums_only=_needs_sums_only(used),
    )
    split = Splits(n_resamples=n_resamples, rng=generator, m=len(x), n=len(y))
    null = null_distribution(
        split_statistic(used, resolved, route, pooled, len(x), tuning, form),
        split,
        workers=threads if runs_compiled(used) else 1,
        progress=progress,
        shared=_cost(used, route, pooled),
    )
    low = route.kernel if isinstance(route.kernel, FiniteRank) and not isinstance(used, Marginalized) else resolved
    notes = _notes(est, used, tuning, form, sizes) + ((route.note,) if route.note else ())
    estimates = _estimates(used, low, x, y, tuning)
    return conclude(null, kernel=resolved, estimates=estimates, notes=notes, route=route.name, **common)


def _needs_sums_only(estimator: MeanEstimator) -> bool:
    retuned = isinstance(estimator, Marginalized) and not estimator.fixed  # on the points of every relabelled sample
    return isinstance(estimator, ScaledMean) and not retuned


def _cost(estimator: MeanEstimator, route: Route, pooled: np.ndarray) -> Shared | None:
    """Sums of many splits share their tables: an addition for every four observations and column, half by symmetry."""
    if not _needs_sums_only(estimator):
        return None
    z = route.coordinates(pooled[:1])
    columns = len(pooled) / 2.0 if z is None else z.shape[1]
    return Shared(seconds=1e-7 + len(pooled) / 4.0 * columns * 6e-11)


def _features(estimator: MeanEstimator, kernel: Kernel, pooled: np.ndarray) -> Kernel:
    """The kernel of the features, which does not depend on labels unless noise is tuned in every relabelling."""
    tuned = isinstance(estimator, Marginalized) and not estimator.fixed
    return kernel if tuned else estimator.features(kernel, pooled)


def resolve(kernel: Kernel, points: np.ndarray, generator: np.random.Generator, name: str) -> Kernel:
    """The kernel with its bandwidth found on ``points``; an error says whose points they are."""
    try:
        return kernel.resolve(points, generator)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def form_of(estimator: MeanEstimator, statistic: str, sizes: tuple[int, ...]) -> str:
    """The form, "biased" or "unbiased"; raises ValueError where the unbiased form does not exist."""
    if statistic == "auto":
        return "unbiased" if len(set(sizes)) > 1 else "biased"
    average = isinstance(estimator, ScaledMean) and estimator.unbiased
    if statistic == "unbiased" and len(sizes) == 1 and not average:
        raise ValueError(
            f"statistic='unbiased' of an independence test exists for the standard and the marginalised means only; "
            f"use statistic='biased' with {estimator!r}"
        )
    return statistic


def runs_compiled(estimator: MeanEstimator) -> bool:
    """Whether threads pay: users' Python functions hold the interpreter lock and need not be thread-safe."""
    return isinstance(estimator, ScaledMean | SpectralEstimator)


def split_statistic(
    estimator: MeanEstimator, kernel: Kernel, route: Route, pooled: np.ndarray, m: int, tuning: str, form: str
) -> Statistic:
    """The statistic as a function of splits, (B, N) masks to (B, 2); what it closes over does not depend on labels."""
    n = len(pooled) - m
    if isinstance(estimator, Marginalized) and not estimator.fixed:
        return _smoothed(estimator, kernel, pooled, tuning, form)
    if isinstance(estimator, ScaledMean):
        return _scaled(estimator, route, pooled, m, n, tuning, form)
    gram = np.ascontiguousarray(route.kernel(pooled))
    if isinstance(estimator, SpectralEstimator):
        return _spectral(estimator, gram, m, n, tuning, form)
    return _by_function(estimator, gram, form)


def _sums_of(route: Route, pooled: np.ndarray) -> tuple[Statistic, float, float]:
    """A function from masks S to (B, 3), K summed over S x S, over S x everything, and its trace; K's sum and trace."""
    from shrinktest._compiled.sums import feature_sums, octets_of, split_sums

    z = route.coordinates(pooled)
    if z is not None:
        features, rank, whole = z, z.shape[1], z.sum(axis=0)
        diagonal = route.kernel.diagonal(pooled)
        constant = float(diagonal[0]) if np.ptp(diagonal) == 0.0 else None
        if constant is None:
            features = np.hstack([z, diagonal[:, None]])

        def by_coordinates(masks: np.ndarray) -> np.ndarray:
            sums = np.empty((len(masks), features.shape[1]))
            feature_sums(features, octets_of(masks), sums)
            inside = sums[:, :rank]
            trace = sums[:, -1] if constant is None else constant * np.count_nonzero(masks, axis=1)
            return np.stack([np.square(inside).sum(axis=1), (inside * whole).sum(axis=1), trace], axis=1)

        return by_coordinates, float(whole @ whole), float(diagonal.sum())
    gram = np.ascontiguousarray(route.kernel(pooled))

    def by_blocks(masks: np.ndarray) -> np.ndarray:
        out = np.empty((len(masks), 3))
        split_sums(gram, octets_of(masks), out)
        return out

    return by_blocks, float(gram.sum()), float(np.trace(gram))


def _scaled(
    estimator: ScaledMean, route: Route, pooled: np.ndarray, m: int, n: int, tuning: str, form: str
) -> Statistic:
    sums_of, everything, whole_trace = _sums_of(route, pooled)

    def statistic(masks: np.ndarray) -> np.ndarray:
        xx, along, trace_x = sums_of(masks).T
        xy = along - xx
        yy, trace_y = everything - xx - 2.0 * xy, whole_trace - trace_x
        x, y = (xx, trace_x, m), (yy, trace_y, n)
        scale_x, scale_y = (estimator.scale(x, y),) * 2 if tuning == "joint" else map(estimator.scale, (x, y))
        within = size = scale_x**2 * xx / m**2 + scale_y**2 * yy / n**2
        cross = 2.0 * scale_x * scale_y * xy / (m * n)
        if form == "unbiased":
            within = scale_x**2 * (xx - trace_x) / (m * (m - 1)) + scale_y**2 * (yy - trace_y) / (n * (n - 1))
        return np.stack([within - cross, size + np.abs(cross)], axis=1)

    return statistic


def _spectral(estimator: SpectralEstimator, gram: np.ndarray, m: int, n: int, tuning: str, form: str) -> Statistic:
    from shrinktest._compiled.engine import splits

    for size in (m, n):
        estimator.check_size(size)
    theta, joint = estimator.theta(), tuning == "joint"
    amounts_x, amounts_y = (estimator.amounts(max(m, n) if joint else size) for size in (m, n))
    loops = estimator.loops()

    def statistic(masks: np.ndarray) -> np.ndarray:
        out = np.empty((len(masks), 2))
        splits(gram, masks, theta, amounts_x, amounts_y, joint, form == "unbiased", *loops, out)
        return out

    return statistic


def _smoothed(estimator: Marginalized, kernel: Kernel, pooled: np.ndarray, tuning: str, form: str) -> Statistic:
    from shrinktest._compiled.smoothing import smoothed_splits

    columns = pooled.shape[1]
    th2 = estimator.th2(kernel, columns)
    # several variances are found by a descent, which ends near the optimum: tied splits differ by up to about 1e-8
    slack = 1.0 if estimator.tied or columns == 1 else 1e3

    def statistic(masks: np.ndarray) -> np.ndarray:
        out = np.empty((len(masks), 2))
        smoothed_splits(pooled, masks, th2, estimator.tied, tuning == "joint", form == "unbiased", out)
        out[:, 1] *= slack
        return out

    return statistic


def _by_function(estimator: MeanEstimator, gram: np.ndarray, form: str) -> Statistic:
    def excess(w: np.ndarray, own: np.ndarray) -> float:
        n, diagonal = len(w), np.diag(own)
        between = (own.sum() - diagonal.sum()) / (n * (n - 1))
        return float(np.square(w) @ (diagonal - between)) if form == "unbiased" else 0.0

    def one(mask: np.ndarray) -> tuple[float, float]:
        x, y = np.flatnonzero(mask), np.flatnonzero(~mask)
        xx, yy, xy = gram[np.ix_(x, x)], gram[np.ix_(y, y)], gram[np.ix_(x, y)]
        w, v = estimator.weights(xx), estimator.weights(yy)
        within, cross = w @ xx @ w + v @ yy @ v, 2.0 * (w @ xy @ v)
        return within - cross - excess(w, xx) - excess(v, yy), within + abs(cross)

    return lambda masks: np.array([one(mask) for mask in masks])


def _estimates(
    estimator: MeanEstimator, kernel: Kernel, x: np.ndarray, y: np.ndarray, tuning: str
) -> tuple[MeanEmbedding, MeanEmbedding]:
    if isinstance(estimator, Tuned) and tuning == "joint":
        estimator = estimator.tuned(kernel, x, y)
    return estimator.embed(x, kernel), estimator.embed(y, kernel)


def _notes(
    given: MeanEstimator, used: MeanEstimator, tuning: str, form: str, sizes: tuple[int, int]
) -> tuple[str, ...]:
    """What is provably the same as another test, or easily misread."""
    notes = []
    equal = sizes[0] == sizes[1]
    if isinstance(used, SKMSE) and used.fixed and (used.decay is None or equal):
        notes.append(
            "One shrinkage amount that relabelling does not change multiplies the statistic by a constant: the p-value "
            f"is that of estimator='kme'{' with statistic=' + repr(form) if form == 'biased' and not equal else ''}."
        )
    if isinstance(used, Marginalized) and used.fixed:
        notes.append(
            "With one noise variance for both samples this is the test of estimator='kme' with a wider kernel, "
            "bandwidth^2 + 2 variance."
        )
    if isinstance(given, Marginalized) and tuning == "sample":
        notes.append(
            "Samples that are tuned apart carry unequal noise, which makes the statistic non-zero under equal "
            "distributions; the p-value stays exact, but prefer tuning='pooled' or 'joint'."
        )
    if not equal and not isinstance(used, Marginalized):
        if form == "biased":
            notes.append(
                "With unequal sizes this form favours one direction of a change of scale; "
                "statistic='unbiased' does not."
            )
        if tuning == "sample":
            notes.append(
                "Of samples of unequal sizes that are tuned apart, the smaller one is shrunk more, which favours one "
                "direction of a change of scale; tuning='joint' has one amount for both."
            )
    return tuple(notes)
