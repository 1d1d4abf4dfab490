"""solve_sample_size: how many observations a test needs."""

from __future__ import annotations

import math
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shrinktest._check import MAX_SIZE, choice, count, flag, level, positive, resample_count
from shrinktest._hints import hinted
from shrinktest.power.alike import EQUIVALENCE, Alike, as_equivalence
from shrinktest.power.compared import (
    AnyTest,
    Compared,
    as_compared,
    as_mapping,
    label_of,
    options_of,
    permutes,
)
from shrinktest.power.designs import Design, as_design
from shrinktest.power.power_study import permutations_of, power_study
from shrinktest.power.sample_size_result import PowerCurve, SampleSizeResult
from shrinktest.power.study_result import PowerStudyResult, rejection_rate
from shrinktest.power.trials import POWER, bar, check_store, seed_from
from shrinktest.results.equivalence_result import DEPENDENCE
from shrinktest.results.info import KINDS

if TYPE_CHECKING:
    import pandas as pd

_SCOUTS = 60  # trials at each size while looking for the region
# times smaller than the largest size: sizes that show an effect if it matters at the largest one
_FAR = 20.0
_LOOK = 8  # trials at the largest size at least: each may take seconds
_CHEAP = 2e8  # n squared times the number of trials, up to which they take seconds together
_FIRST_SIZES = 3  # after which a search without an effect says how far it goes on
_RISK = 0.001  # that a look ends a search whose power is reached
_ROUNDS = 4
_SPREAD = (
    -0.45,
    0.0,
    0.45,
)  # where a round looks, in standard normal units of power around the target
# in the same units: sizes farther off found the region, and say little about where the power is
# reached
_NEAR = 1.0
_CHECKS = 5  # at most, until one agrees


@hinted
def solve_sample_size(
    design: Any,
    *,
    estimator: Any = "kme",
    test: str | None = None,
    power: float = 0.8,
    alpha: float = 0.05,
    ratio: float | None = None,
    n_trials: int = 2000,
    n_resamples: float = 199,
    stopping: Any = None,
    test_options: Mapping[str, Any] | None = None,
    largest: int = 5000,
    confidence: float = 0.95,
    rng: Any = None,
    store: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    progress: bool = False,
) -> SampleSizeResult:
    """Find by simulation the smallest sample size that reaches a given power.

    The size comes with a confidence interval and a check on fresh data.

    Parameters
    ----------
    design : str, Design or callable
        Source of the data, as expected in the planned study, such as ``FromData(X, Y)`` for pilot
        data.
    estimator : str, MeanEstimator, callable, AnyTest, list of these, or dict, default "kme"
        The test, which may be any member of a :func:`power_study`: "auto", the name of a test of
        another package, such as "ttest_ind", or a function ``(X, Y)`` or ``(X, Y, rng)`` that
        returns a p-value.
    test : {None, "equivalence"}
        "equivalence" finds how many observations :func:`equivalence_test` needs to show equivalence
        if there is no difference; ``test_options`` are its arguments, with ``margin`` and
        ``measure``.  Power is then the rejection rate without an effect.  The check estimates the
        Type I error rate from the design itself, whose difference should therefore equal the
        margin.
    power : float, default 0.8
        Required power, above ``alpha`` and below 1.
    alpha : float, default 0.05
        Significance level of the test.
    ratio : float, optional
        Size of the second sample over the size of the first, for designs of two samples; default
        the design's own.
    n_trials : int, default 2000
        Data sets from which the answer is computed, in addition to those of a first, rough search.
    n_resamples : int, default 199
        Number of permutations in every test.
    stopping : {None, "besag-clifford", "curtailed"} or Stopping
        When a test may draw fewer permutations; "curtailed" gives an identical answer in less time.
    test_options : mapping, optional
        Keyword arguments for the test, such as ``{"bandwidth": 1.5}``.
    largest : int, default 5000
        The largest size that is tried.
    confidence : float, default 0.95
        Confidence level of the interval for the sample size.
    rng : None, int, SeedSequence, BitGenerator or Generator
        Seed of the search.  None means the seed of the store or, for a new one, fresh entropy.
    store : path, optional
        Checkpoint file with the trials, from which an interrupted search resumes; see
        :func:`power_study`.
    workers : int, optional
        Number of processes; default all usable cores.  The result does not depend on it.
    progress : bool, default False
        Show progress bars.  If the first sizes show no effect, a line is printed in any case.

    Returns
    -------
    SampleSizeResult
        ``result.n``, ``result.summary()``, ``result.paragraph()`` for a protocol,
        ``result.plot()``.

    Raises
    ------
    ValueError
        If the power is not reached at ``largest``, or no effect is found there.
    ValueError, TypeError
        If an argument cannot be used, or the store holds another study.

    See Also
    --------
    minimum_detectable_effect : The smallest effect that a number of observations detects.
    power_study : The power at specified numbers of observations.
    shrinktest.power.designs.FromData : A design from the data of a pilot study.

    Notes
    -----
    The size is doubled until the power is reached.  If there is no sign of an effect at a twentieth
    of ``largest``, a few trials at ``largest`` show whether there is one.  Then, in four rounds,
    trials go to the sizes at which the power is a little below, at and a little above the target,
    according to a probit regression (statsmodels) on the square root of n, fitted to the trials so
    far at nearby sizes.  The interval is Fieller's for the size at which the curve crosses the
    target.

    Fresh trials at the answer, max(200, n_trials / 4) of the design and as many of its null twin,
    then check it.  If they do not agree, they are added to the others and the new answer is
    checked, five times at most (``result.agrees``).  Therefore, the last check is not an
    independent estimate.

    In 200 searches each for shifts at which the t test needs 17, 64 and 699 observations per
    sample, the power at the answer was within 0.03 of 0.8 in 82%, 99.5% and 100% (in the first, one
    more observation adds 0.026), and the interval contained the true size in 95.5%, 96.5% and
    96.5%.

    Examples
    --------
    >>> from shrinktest.power import solve_sample_size
    >>> from shrinktest.power.designs import MeanShift
    >>> answer = solve_sample_size(
    ...     MeanShift(dimension=2, shift=1.0), n_trials=300, n_resamples=99, workers=1, rng=0
    ... )
    >>> answer.low < answer.n < answer.high
    True
    """
    d = as_design(design)
    alpha = level(alpha)
    power = level(power, "power")
    confidence = level(confidence, "confidence")
    n_trials = count(n_trials, "n_trials", minimum=100, maximum=MAX_SIZE)
    n_resamples = resample_count(n_resamples)
    largest = count(largest, "largest", d.smallest())
    progress = flag(progress, "progress")
    seed = None if rng is None else seed_from(rng)  # once, for all studies of the search
    check_above_level(power, alpha)
    if ratio is not None:
        d = with_ratio(d, ratio)
    options = as_mapping(test_options, "test_options")
    shown = ""
    if test is not None:
        choice(test, (EQUIVALENCE,), "test")
        estimator, shown = _of_equivalence(estimator, options, d, alpha)
        d = Alike(d)
        options = {}
    d.null()  # which the check needs, and not every design has
    options = options_of(options, d.test, "test_options")
    compared = as_compared(estimator, d.test)
    label = label_of(estimator, compared)
    check_store(store, POWER)
    smallest = _smallest(d, compared, largest, alpha, n_resamples, options)
    study = partial(
        power_study,
        d,
        {label: compared},
        alphas=(alpha,),
        n_resamples=n_resamples,
        stopping=stopping,
        test_options=options,
        rng=seed,
        workers=workers,
        progress=progress,
    )
    limits = {"power": power, "alpha": alpha, "smallest": smallest, "largest": largest}
    search, answer = _searched(study, n_trials, store, progress, equivalence=bool(shown), **limits)
    low, high = search.interval(answer, confidence)
    return SampleSizeResult(
        n=answer.n,
        low=low,
        high=high,
        confidence=confidence,
        power=power,
        alpha=alpha,
        estimator=label,
        design=d,
        sizes=sizes_at(d, answer.n),
        table=search.table(),
        check=answer.study.to_frame()[["n", "null", "power", "low", "high", "trials"]],
        checks=answer.checks,
        agrees=answer.agrees,
        curve=answer.curve,
        n_resamples=n_resamples if permutes(compared) else 0,
        seed=answer.study.seed,
        shown=shown,
    )


def check_above_level(power: float, alpha: float) -> None:
    """Raise ValueError for a power that needs no data."""
    if power <= alpha:
        raise ValueError(
            f"power={power:g} must be above the level alpha={alpha:g}, which requires no data"
        )


def sizes_at(design: Design, n: int) -> tuple[int, ...]:
    """Return the sizes of all samples, or their numbers of groups, if the first has size n."""
    return design._sizes(n, None) if design.unit else tuple(map(len, design.sample(0, n)))


def _searched(
    study: Callable[..., PowerStudyResult],
    n_trials: int,
    store: Any,
    progress: bool,
    **options: Any,
) -> tuple[_Search, _Answer]:
    """Search for the size with studies of one size each, whose trials are kept in a store.

    Return also the answer.
    """
    with ExitStack() as stack:
        studies = stack.enter_context(bar("studies of one size", progress))
        if store is None:
            store = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "trials.sqlite"

        def run(n: int, trials: range, with_null: bool = False) -> PowerStudyResult:
            done = study([n], n_trials=trials, with_null=with_null, store=store)
            studies.update()
            return done

        def say(text: str) -> None:
            if sys.stderr is not None:  # None: a program without a console
                studies.write(text, file=sys.stderr)

        search = _Search(run, say, **options)
        search.find_region()
        search.refine(n_trials)
        return search, search.checked_answer(n_trials)


def _of_equivalence(
    estimator: Any, options: Mapping[str, Any], design: Design, alpha: float
) -> tuple[AnyTest, str]:
    """Return the equivalence test with these options, and what it shows in words."""
    if not (isinstance(estimator, str) and estimator == "kme"):
        raise ValueError("estimator= does not apply to test='equivalence'; pass it in test_options")
    equivalence = as_equivalence(options, design, alpha)
    effect = "dependence" if options["measure"] == DEPENDENCE else "difference"
    return (
        equivalence,
        f"that the {effect} ({options['measure']}) is below the margin {options['margin']!r}",
    )


def with_ratio(design: Design, ratio: Any) -> Design:
    """Return a design of two samples whose sizes have this ratio."""
    kind = KINDS[design.test]
    if not kind.several_samples:
        raise ValueError(
            f"ratio compares the sizes of two samples; {kind.described} has one sample of "
            f"{kind.unit}"
        )
    return replace(design, ratio=positive(ratio, ("ratio")))  # type: ignore[type-var]  # a dataclass, as it has parameters


def _smallest(
    design: Design,
    compared: Compared,
    largest: int,
    alpha: float,
    n_resamples: float,
    options: Mapping[str, Any],
) -> int:
    """Return the first size of the design with enough permutations for its kernel test to reject.

    Tests that are not ours may start at the smallest size of the design.
    """
    if isinstance(compared, AnyTest):
        return design.smallest()
    sizes = range(
        design.smallest(),
        min(largest, design.smallest() + math.ceil(min(1.0 / alpha, largest))) + 1,
    )
    for n in sizes:
        try:
            if 1.0 / permutations_of(design, n, alpha, n_resamples, options).distinct <= alpha:
                return n
        except ValueError:
            if n == sizes[-1]:
                raise
    return sizes[-1]


@dataclass(frozen=True, eq=False)
class _Answer:
    """A sample size, and the study of fresh trials that checked it."""

    n: int
    curve: PowerCurve
    study: PowerStudyResult
    checks: int  # how many sizes were checked
    agrees: bool  # whether the last check agrees with the curve


@dataclass
class _Search:
    """Trials and rejections by sample size, on the way to a power."""

    run: Callable[..., PowerStudyResult]
    say: Callable[[str], None]  # shows a line with the progress bars
    power: float
    alpha: float
    smallest: int
    largest: int
    equivalence: bool
    counts: dict[int, tuple[int, int]] = field(default_factory=dict)

    def add(self, n: int, study: PowerStudyResult) -> float:
        """Count the trials of a study, and return the share of rejections at this size."""
        row = study.table.iloc[0]
        trials, rejected = self.counts.get(n, (0, 0))
        self.counts[n] = (
            trials + int(row["trials"]),
            rejected + round(float(row["power"]) * int(row["trials"])),
        )
        return self.counts[n][1] / self.counts[n][0]

    def next_trials(self, n: int, more: int) -> range:
        """Return numbers of trials at a size that were not run yet."""
        start = self.counts.get(n, (0, 0))[0]
        return range(start, start + more)

    def curve(self) -> PowerCurve:
        """Fit the curve to the sizes near the target, or to all if needed.

        All are used if those near it are too few or say too little.
        """
        from scipy.stats import norm

        curve = PowerCurve.of(self.counts, self.power)
        aim = norm.ppf(self.power)
        near = {
            n: counts
            for n, counts in self.counts.items()
            if abs(norm.ppf(curve.power(n)) - aim) <= _NEAR
        }
        if len(near) < len(_SPREAD):
            return curve
        closer = PowerCurve.of(near, self.power)
        return closer if closer.goes_up() else curve

    def refine(self, n_trials: int) -> None:
        """Run trials at sizes around the answer."""
        share = -(-n_trials // (_ROUNDS * len(_SPREAD)))
        for _ in range(_ROUNDS):
            curve = self.curve()
            sizes = {
                curve.size(self.power, shift, self.smallest, self.largest) for shift in _SPREAD
            }
            for n in sorted(sizes):
                self.add(n, self.run(n, self.next_trials(n, share)))

    def checked_answer(self, n_trials: int) -> _Answer:
        """Return the answer that fresh trials agree with, or the last one that was checked."""
        checks = 1
        while True:
            curve = self.curve()
            n = curve.size(self.power, 0.0, self.smallest, self.largest)
            fresh = self.run(n, self.next_trials(n, max(200, n_trials // 4)), with_null=True)
            rate = fresh.table.iloc[0]
            agrees = bool(rate["low"] <= curve.power(n) <= rate["high"])
            if agrees or checks == _CHECKS:
                return _Answer(n, curve, fresh, checks, agrees)
            self.add(n, fresh)
            checks += 1

    def interval(self, answer: _Answer, confidence: float) -> tuple[float, float]:
        """Return the confidence interval of the size.

        Raise ValueError if the power is not reached.
        """
        curve = answer.curve
        low, high = curve.interval(self.power, confidence)
        if (
            curve.power(answer.n) < self.power
        ):  # the smallest size is beyond the largest one allowed
            end = f"to {high:.0f}" if math.isfinite(high) else "on"
            raise ValueError(
                f"power {self.power:g} is not reached: at n = {answer.n}, the largest size, it is "
                f"{curve.power(answer.n):.0%} (needed: from {math.ceil(max(low, self.smallest))} "
                f"{end}); raise largest="
            )
        low = max(low, float(self.smallest))
        if answer.n == self.smallest and curve.band(answer.n, confidence)[0] >= self.power:
            low = high = float(self.smallest)  # reached below what can be tested, if anywhere
        return low, max(low, high)

    def table(self) -> pd.DataFrame:
        """Return the trials and rejections at all sizes."""
        import pandas as pd

        rates = [
            {"n": n} | rejection_rate(rejected, trials)
            for n, (trials, rejected) in sorted(self.counts.items())
        ]
        return pd.DataFrame(rates)

    def find_region(self) -> None:
        """Double the size until the power is passed.

        Then have at least three sizes, which the fit needs.
        """
        n = max(self.smallest, min(8, self.largest))
        looked = False
        while True:
            study = self.run(n, range(_SCOUTS))
            reached = self.add(n, study)
            if n >= self.largest and reached < self.power - 0.15:
                raise self._not_reached(study)
            if n >= self.largest or reached > min(self.power + 0.1, 0.5 + self.power / 2.0):
                break
            if len(self.counts) == _FIRST_SIZES and study.table.iloc[0]["low"] <= self.alpha:
                effect = "Equivalence is not shown" if self.equivalence else "No effect is visible"
                self.say(
                    f"{effect} up to n = {n}. The search goes on to n = {self.largest} at most, "
                    "which may take a "
                    "minute or more; a smaller largest= ends it earlier."
                )
            if not looked and n >= self.largest / _FAR and study.table.iloc[0]["low"] <= self.alpha:
                looked = True
                self._look_ahead()
            n = min(2 * n, self.largest)
        for other in (n // 2, n // 4, 3 * n // 4, n + 1, n + 2):
            if (
                len(self.counts) < 3
                and self.smallest <= other <= self.largest
                and other not in self.counts
            ):
                self.add(other, self.run(other, range(_SCOUTS)))

    def _look_ahead(self) -> None:
        """Raise ValueError if trials at the largest size show too low a power.

        There are few of these trials, and they are not used for the answer.
        """
        from statsmodels.stats.proportion import proportion_confint

        trials = int(np.clip(_CHEAP / self.largest**2, _LOOK, _SCOUTS))
        while True:
            study = self.run(self.largest, range(trials))
            row = study.table.iloc[0]
            if row["low"] > self.alpha:
                return
            rejected = round(row["power"] * trials)
            if (
                proportion_confint(rejected, trials, alpha=2.0 * _RISK, method="beta")[1]
                < self.power
            ):
                raise self._not_reached(study)
            if trials == _SCOUTS:
                return
            trials = min(2 * trials, _SCOUTS)

    def _not_reached(self, study: PowerStudyResult) -> ValueError:
        """Return the error for a power not reached at the size of this study.

        It is the largest allowed.
        """
        row = study.table.iloc[0]
        fault = "no effect was found"
        advice = "check that the design has one that the test can see"
        if row["low"] > self.alpha:
            fault = f"power {self.power:g} is not reached"
            advice = "raise largest="
        elif self.equivalence:
            fault = "equivalence was not shown"
            advice = "use a wider margin"
        rate = f"{row['power']:.2f} [{row['low']:.2f}, {row['high']:.2f}]"
        return ValueError(f"{fault} at n = {row['n']}: power there is {rate}; {advice}")
