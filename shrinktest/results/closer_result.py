"""CloserResult: which of several candidates X is closest to, with a test of every pair."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from operator import attrgetter
from textwrap import fill
from typing import Any

import numpy as np

from shrinktest._check import percent
from shrinktest.results.adjustments import ADJUSTMENTS
from shrinktest.results.base import Decision, as_tuple, bandwidth_of, plain
from shrinktest.results.paragraph import (
    estimated,
    kernel_in_words,
    paragraph,
    seed_in_words,
    sources_of,
    sources_of_route,
)
from shrinktest.results.plots.comparison import plot_candidates
from shrinktest.results.printing import WIDTH, Summary, Table, number, shown_pvalue
from shrinktest.results.references import cited, joined

DISTANCE = "distance"
DEPENDENCE = "dependence"
HSIC = "hsic"
#: What an estimate of each measure is called.
MEASURES = {DISTANCE: "squared distance (MMD²)", DEPENDENCE: "kernel correlation", HSIC: "HSIC"}
#: The same for articles.
_ESTIMATED = {DISTANCE: "MMD²", DEPENDENCE: "kernel correlations", HSIC: "HSIC"}
_REPORTED = 3  # pairs that a paragraph reports


@dataclass(frozen=True)
class CloserPair:
    """Test of which of two candidates X is closer to."""

    first: str
    second: str
    difference: float  # below zero if X is closer to the first, or depends more on it
    error: float  # standard error of the difference
    freedom: float  # its degrees of freedom
    statistic: float  # NaN if the standard error is zero
    pvalue: float
    low: float  # interval of the difference
    high: float
    adjusted: float = np.nan  # p-value adjusted for the number of pairs

    @property
    def closer(self) -> str:
        """Candidate with the smaller distance, or the larger dependence, by the estimates."""
        return self.first if self.difference < 0.0 else self.second

    @property
    def further(self) -> str:
        """The other candidate."""
        return self.second if self.closer == self.first else self.first


@dataclass(frozen=True, eq=False, repr=False)
class CloserResult(Decision):
    """Ranking of two or more candidates by distance from X, or dependence.

    It has estimates, and a test of every pair.

    Attributes
    ----------
    names : tuple of str
        Names of X and the candidates.
    estimates : tuple of float
        Unbiased squared distance between X and every candidate, or dependence of X on every
        candidate; estimates may be below zero.
    pairs : tuple of CloserPair
        Tests of every two candidates.
    measure, alternative, method, alpha, confidence
        As passed to :func:`closer_test`.
    n_observations : tuple of int
        Sizes of the samples, or the number of rows of variables.
    units : str
        Units that vary independently: "rows", "matched rows" or "groups".
    kernel, route, columns, rng, notes
        As in a :class:`TestResult`, but with one kernel for each variable for dependences.
    """

    names: tuple[str, ...]
    estimates: tuple[float, ...]
    pairs: tuple[CloserPair, ...]
    measure: str
    alternative: str
    method: str
    alpha: float
    confidence: float
    n_observations: tuple[int, ...]
    units: str
    kernel: Any
    route: str
    columns: tuple[Any, ...] = ()
    rng: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    computed = ("statistic", "pvalue", "bandwidth", "answer", "best", "ranked", "reject")
    plot = plot_candidates

    def __repr__(self) -> str:
        return (
            f"CloserResult({len(self.names) - 1} candidates, pvalue={self.pvalue:.6g}, "
            f"best={self.best!r})"
        )

    @property
    def clearest(self) -> CloserPair:
        """Pair with the smallest p-value.

        Its test is shown by ``statistic``, ``difference`` and ``interval``.
        """
        return min(self.pairs, key=attrgetter("pvalue"))

    statistic = property(
        attrgetter("clearest.statistic"),
        doc="Difference over its standard error; NaN if that is 0.",
    )
    difference = property(
        attrgetter("clearest.difference"), doc="Below zero if X is closer to the first of the pair."
    )
    interval = property(
        attrgetter("clearest.low", "clearest.high"), doc="Interval of the difference."
    )
    bandwidth = property(
        lambda self: bandwidth_of(self.kernel), doc="Bandwidth of the kernel, or of each kernel."
    )

    @property
    def pvalue(self) -> float:
        """p-value for all candidates equally close, adjusted for the number of pairs."""
        return min(pair.adjusted for pair in self.pairs)

    @property
    def ranked(self) -> tuple[str, ...]:
        """Candidates, closest first by the estimates."""
        sign = 1.0 if self.measure == DISTANCE else -1.0
        return tuple(
            self.names[1 + i] for i in np.argsort(sign * np.array(self.estimates), kind="stable")
        )

    @property
    def best(self) -> tuple[str, ...]:
        """Candidates that no other beats by the adjusted tests, closest first."""
        beaten = {pair.further for pair in self.pairs if pair.adjusted <= self.alpha}
        return tuple(name for name in self.ranked if name not in beaten)

    @property
    def closer(self) -> str | None:
        """The only candidate that is not beaten; None if there are several."""
        return self.best[0] if len(self.best) == 1 else None

    @property
    def answer(self) -> str:
        """The result in one sentence."""
        x = self.names[0]
        near = self.measure == DISTANCE
        if len(self.names) == 3:
            more, to = ("is closer", "to") if near else ("depends more", "on")
            first, second = self.names[1:]
            chance = f"(p = {shown_pvalue(self.pvalue)})."
            if self.alternative == "two-sided" and self.closer is None:
                return f"It is not clear whether {x} {more} {to} {first} or {to} {second} {chance}"
            if self.alternative == "greater" or self.closer == second:
                first, second = second, first
            unclear = "" if self.reject() else "It is not clear that "
            return f"{unclear}{x} {more} {to} {first} than {to} {second} {chance}"
        first, *others = self.best
        start = f"{x} {'is closest to' if near else 'depends most on'} {first}"
        if not others:
            return start + (
                "; all others are clearly further away."
                if near
                else ", and clearly less on all others."
            )
        names = " and ".join(filter(None, [", ".join(others[:-1]), others[-1]]))
        are = "is" if len(others) == 1 else "are"
        end = (
            f"; {names} {are} not clearly further away."
            if near
            else f", and not clearly less on {names}."
        )
        return f"{start} according to the estimates{end}"

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for every pair, the clearest first.

        A row is its :class:`CloserPair`, ``reject`` and ``closer``.
        """
        pairs = sorted(self.pairs, key=attrgetter("adjusted", "pvalue"))
        clear = [pair.adjusted <= self.alpha for pair in pairs]
        return [
            asdict(p) | {"reject": c, "closer": p.closer if c else ""}
            for p, c in zip(pairs, clear, strict=True)
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values under the attribute names.

        ``answer``, ``best``, ``ranked`` and ``reject`` are included.
        """
        return super().to_dict() | {"pairs": plain(self.rows())}

    def paragraph(self) -> str:
        """Return two to four sentences for an article: method, pairs, and software."""
        near = self.measure == DISTANCE
        x, *candidates = self.names
        sizes = self.n_observations
        named = list(self.names)
        if len(sizes) == len(named):
            named = [f"{name} (n = {n})" for name, n in zip(named, sizes, strict=True)]
        rows = "" if len(sizes) == len(named) else f" on {sizes[0]} rows"
        what = "nearness" if near else "dependence"
        tested = f"The {what} of {named[0]} to {joined(named[1:])} was compared{rows}"
        if not near:
            tested = f"The dependence of {x} on {joined(candidates)} was compared{rows}"
        several = len(self.pairs) > 1
        answer, pairs = self._findings()
        return paragraph(
            tested,
            f"tests of relative {'similarity' if near else 'dependency'}{cited(self._source)}",
            [
                f"differences of unbiased estimates of {_ESTIMATED[self.measure]}",
                *dict.fromkeys(kernel_in_words(kernel, None) for kernel in as_tuple(self.kernel)),
                f"standard errors by the jackknife over {self.units}",
                f"p-values adjusted by {ADJUSTMENTS[self.method].cited}" if several else "",
            ],
            [answer, f"pairs: {', '.join(pairs)}"] if several else [f"{answer}: {pairs[0]}"],
            self.versions,
            seed_in_words(self.rng),
        )

    def _findings(self) -> tuple[str, list[str]]:
        """Return the answer, and pairs with differences and p-values, the clearest first."""
        pairs = sorted(self.pairs, key=attrgetter("adjusted", "pvalue"))
        several = len(pairs) > 1
        texts = []
        for pair in pairs[:_REPORTED]:
            limits = [f"{limit:.3g}" for limit in (pair.low, pair.high)]
            size = estimated(f"{pair.difference:.3g}", limits, self.confidence, within=several)
            shown = [f"t = {number(pair.statistic, unknown='not computed')}"]
            shown.append(f"p = {shown_pvalue(pair.pvalue)}")
            if several:
                shown.append(f"adjusted p = {shown_pvalue(pair.adjusted)}")
                texts.append(f"{pair.first} and {pair.second} ({size}, {', '.join(shown)})")
            else:
                texts.append(f"the difference was {size}, {', '.join(shown)}")
        if len(pairs) > _REPORTED:
            texts.append(f"and {len(pairs) - _REPORTED} more")
        answer = self.answer if several else self.answer.rpartition(" (p")[0]
        return answer.rstrip("."), texts

    @property
    def _source(self) -> tuple[str]:
        return ("B16",) if self.measure == DISTANCE else ("B15",)

    def _sources(self) -> Iterator[str]:
        yield from self._source
        yield "W47"
        if len(self.pairs) > 1:
            yield from ADJUSTMENTS[self.method].sources
        yield from sources_of(self.kernel)
        yield from sources_of_route(self.route)

    def summary(self) -> Summary:
        """Return the answer, the estimates, notes, and a row per pair, clearest first."""
        what = (
            f"{MEASURES[self.measure]} {'from' if self.measure == DISTANCE else 'of'} "
            f"{self.names[0]}"
        )
        estimates = dict(zip(self.names[1:], self.estimates, strict=True))
        several = len(self.pairs) > 1
        lines = [
            self.answer,
            f"{what[0].upper()}{what[1:]}: "
            f"{', '.join(f'{name} {estimates[name]:.4g}' for name in self.ranked)}",
            *(
                [f"Not beaten: {', '.join(self.best)}; adjusted by {self.method}"]
                if several
                else []
            ),
            f"{' + '.join(map(str, self.n_observations))} observations, {self.units} vary "
            "independently; " + kernels_in_words(self.kernel),
        ]
        numbers = ("statistic", "freedom", "pvalue", "adjusted")[: 3 + several]
        cells = []
        for row in self.rows():
            interval = (
                "(no interval)"
                if np.isnan(row["low"])
                else f"[{row['low']:.4g}, {row['high']:.4g}]"
            )
            difference = f"{row['difference']:.4g} {interval}"
            shown = (number(row[name], unknown="none") for name in numbers)
            cells.append([row["first"], row["second"], difference, *shown, row["closer"]])
        headers = [
            "first",
            "second",
            f"difference, {percent(self.confidence)} interval",
            "t",
            "df",
            "p-value",
        ]
        headers += [
            *(["adjusted"] if several else []),
            "closer" if self.measure == DISTANCE else "more on",
        ]
        table = Table(cells, "lll" + "r" * len(numbers) + "l", headers, gap="  ", below="-")
        head = [fill(line, WIDTH, break_on_hyphens=False) for line in lines]
        return Summary.of(table, head=head, notes=self.notes)


def kernels_in_words(kernels: Any) -> str:
    """Write names and bandwidths of a kernel or several."""
    texts = []
    for kernel in as_tuple(kernels):
        width = bandwidth_of(kernel)
        shown = (
            ""
            if width is None
            else f", bandwidth {', '.join(f'{number:.4g}' for number in np.atleast_1d(width))}"
        )
        texts.append(f"{kernel.label}{shown}")
    return "; ".join(texts)
