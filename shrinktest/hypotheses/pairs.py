"""Two variables in batches that are independent: y may be shifted within short blocks of successive pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from shrinktest._read import XY
from shrinktest._validate import counted
from shrinktest.batches.blocks import LENGTH, Blocks, Products, Whole, products_of
from shrinktest.batches.crew import Crew
from shrinktest.batches.pair_survey import PairSurvey
from shrinktest.batches.pairs import Pairs
from shrinktest.batches.store import Store
from shrinktest.batches.summands import summands_of
from shrinktest.estimators import MeanEstimator
from shrinktest.hypotheses.again import Again, EffectAsked, Member
from shrinktest.hypotheses.base import Variable
from shrinktest.hypotheses.independence import Independence
from shrinktest.hypotheses.supported import checked_route, checked_units
from shrinktest.kernels import Kernel
from shrinktest.kernels.base import FiniteRank
from shrinktest.kernels.reach import reach_notes
from shrinktest.nulls.group_shifts import GroupShifts
from shrinktest.nulls.permutation import CostHint
from shrinktest.nulls.relabellings import Relabellings
from shrinktest.results.effect import DependenceEffect
from shrinktest.statistics.gram import Gram, Grams, choose_gram
from shrinktest.statistics.outlook import bytes_of
from shrinktest.statistics.pairings import of_sums
from shrinktest.statistics.prepared import Prepared
from shrinktest.statistics.shifted import ROWS, ShiftedSums
from shrinktest.tables.pooled import is_unasked
from shrinktest.units import as_scale

RANK = 50  # features of a variable where nobody says how many: time and memory grow with their square
_DRAWN = 2000  # rows from which bandwidths are found, of which all pairs are looked at
_ROOM = 1e18  # bytes: features of the sample of rows are few
_COARSE = 0.02  # of the spread of features, which is the most that may be rounded
_WITHOUT = "the pairs were read in batches, and sums of products of their features are kept, but no rows: "


@dataclass(frozen=True, eq=False, kw_only=True)
class IndependenceInBatches(Independence):
    """Two variables in batches are independent, so that y may be shifted within blocks of pairs.

    Parameters
    ----------
    pairs : Pairs
    survey : PairSurvey
        What the first reading found.
    shifting : Blocks
        Of the pairs.
    crew : Crew
        Who reads.
    store : Store, optional
        What has been read before.
    """

    pairs: Pairs
    survey: PairSurvey
    shifting: Blocks
    crew: Crew
    store: Store | None = None

    @classmethod
    def in_batches(
        cls,
        X: Any,
        Y: Any,
        *,
        scale: Any,
        nan_policy: str,
        drawn: int,
        rng: np.random.Generator,
        crew: Crew,
        store: Store | None,
    ) -> Self:
        """Read the pairs once.

        Parameters
        ----------
        X, Y, scale, nan_policy
            As users give them.
        drawn : int
            Rows at least for the samples of which bandwidths and landmarks are made.
        rng : Generator
            Draws the samples and the keys of blocks.
        crew : Crew
            Who reads.
        store : Store, optional
            What has been read before.

        Raises
        ------
        TypeError, ValueError, FileNotFoundError
            For what cannot be tested in batches.
        """
        units = _units_of(scale)
        pairs = Pairs.of(X, Y, (XY[0], XY[1]), omit=nan_policy == "omit")
        asked = ["sd" if is_unasked(scale) and names else one for one, names in zip(units, pairs.names, strict=True)]
        wanted = asked[0] == "sd", asked[1] == "sd"
        survey = PairSurvey.of(pairs, max(_DRAWN, drawn), rng, crew, wanted, store)
        survey.require(2 * LENGTH, pairs.rows.name)
        found = [tuple(survey.units(k).tolist()) if wanted[k] else as_scale(asked[k], pairs.widths[k]) for k in (0, 1)]
        said = not is_unasked(scale)
        variables = (Variable(survey.sides[k].rows, XY[k], found[k], None, said) for k in (0, 1))
        shifting = Blocks.drawn(survey.size, rng)
        left = survey.omitted
        were = f"{counted(left, 'pair')} with missing values {'was' if left == 1 else 'were'} left out of "
        return cls(
            variables=tuple(variables),
            sizes=(shifting.used,),
            remarks=(f"{were}{left + survey.size}.",) if left else (),
            pairs=pairs,
            survey=survey,
            shifting=shifting,
            crew=crew,
            store=store,
        )

    def _allowed(self, n_resamples: float, rng: np.random.Generator, alpha: float) -> Relabellings:
        return GroupShifts(n_resamples, rng, self.shifting.groups, LENGTH)

    def prepare(self, estimator: MeanEstimator, kernel: Any, form: str, grams: Grams, workers: int) -> Prepared:
        """Read the pairs again, and keep sums of products of their features for every shift."""
        both = [self._features(k, kernel[k], grams.options) for k in (0, 1)]
        self._require_memory([gram.columns or 1 for gram in both], grams.options["memory"])
        sides = tuple(self._whole(k, gram) for k, gram in enumerate(both))
        products, sides = products_of(
            self.pairs, self.shifting, (sides[0], sides[1]), self.survey, self.crew, self.store
        )
        for k in (0, 1):
            self._require_fine(k, sides[k], kernel[k])
        sums = _in_units(products, sides, self.shifting.used)
        statistic: Any = of_sums(estimator, sums, sums.traces, sums.size, sums.n, form)  # type: ignore[arg-type]
        notes = (*dict.fromkeys(gram.note for gram in both if gram.note), *self._said([gram.name for gram in both]))
        return Prepared(
            statistic=statistic,
            estimates=lambda: (),
            kernel=kernel,
            route=both[0].name,
            notes=notes,
            threads=False,
            cost=CostHint(seconds=1e-10 * sums.xy.size, rows=ROWS),
            features=(both[0].kernel, both[1].kernel),
        )

    def _features(self, side: int, kernel: Kernel, options: dict[str, Any]) -> Gram:
        """Features of a variable, of which the other knows nothing."""
        route = checked_route(kernel, options["gram"])
        told = {**options, "gram": route, "memory": _ROOM, "default_rank": RANK}
        return choose_gram(kernel, self.variables[side].points, **told, by_coordinates=True)

    def _whole(self, side: int, gram: Gram) -> Whole:
        assert isinstance(gram.kernel, FiniteRank)
        return Whole.of(summands_of(gram.kernel, self.pairs.widths[side]), self.survey.probe(side), self.shifting.bits)

    def _require_fine(self, side: int, whole: Whole, kernel: Kernel) -> None:
        """Raise ValueError where rounding would hide how features differ, for some are much larger than others."""
        if whole.lost(self.variables[side].points) > _COARSE:
            raise ValueError(
                f"kernel_{'xy'[side]}: features of {kernel!r} of the farthest rows are so much larger than others that "
                f"whole numbers of {whole.bits} bits, which products of pairs are made of, hold not both; use a "
                "Gaussian or Laplacian kernel with gram='rff', whose features are bounded"
            )

    def _require_memory(self, ranks: Sequence[int], memory: float) -> None:
        copies = 4 + 2 * self.crew.size  # the sums, those on their way, and what is made of them
        cells = self.shifting.groups * (LENGTH * (ranks[0] + 1) * (ranks[1] + 1) + sum((r + 1) ** 2 for r in ranks))
        if (takes := 8.0 * copies * cells) > memory:
            raise MemoryError(
                f"sums of {ranks[0]} x {ranks[1]} products, for {LENGTH} shifts in {self.shifting.groups} groups, take "
                f"{bytes_of(takes)}, more than max_memory={bytes_of(memory)}; give a smaller rank= or fewer workers="
            )

    def _said(self, routes: Sequence[str]) -> tuple[str, ...]:
        """What a reader should know of the blocks, and of the samples."""
        blocks, left = self.shifting.count, self.survey.size - self.shifting.used
        said = [
            f"y changed places within {LENGTH} successive pairs: {blocks} such blocks in {self.shifting.groups} groups "
            "chosen at random, all of a group shifted alike. The level is exact where successive pairs are "
            "exchangeable, as independent ones are, and those of a time series are not; rows that are sorted, so that "
            "neighbours are alike, cost power: shuffle them first."
        ]
        if left:
            said.append(f"{counted(left, 'pair')} at the end, which {'fills' if left == 1 else 'fill'} no block, "
                        f"{'is' if left == 1 else 'are'} left out.")  # fmt: skip
        drawn = len(self.variables[0].points)
        if drawn < self.survey.size and set(routes) != {"factor"}:
            said.append(
                "Whatever the kernels take from the data (a bandwidth by name, landmarks, a covariance) is from random "
                f"samples of {drawn} rows, drawn for each variable by itself."
            )
        return tuple(said)

    def notes(self, kernel: Any) -> tuple[str, ...]:
        """What a reader should know of the data: units, and constant columns, of which all rows were asked."""
        said = list(self.remarks)
        for variable, one, seen in zip(self.variables, kernel, self.survey.sides, strict=True):
            if (constant := np.flatnonzero(seen.low == seen.high)).size:
                said.append(f"{variable.name}: columns {', '.join(map(str, constant))} have one value only.")
            if variable.scale is None:
                said += variable.notes(one)
            said += reach_notes(one, variable.points, variable.name)
        return tuple(said)

    def labels(self) -> dict[str, Any]:
        """What a result keeps of the names in the data."""
        return {"encodings": (None, None), "columns": self.pairs.names, "names": self.called}

    def again(self, members: tuple[Member, ...], permutations: Relabellings | None = None) -> Again:
        """What is left of the pairs, without their rows."""
        return OfPairs(self, members)

    def effect(self, again: Again, asked: EffectAsked) -> DependenceEffect:
        """An effect takes rows, for its interval."""
        raise ValueError(
            _WITHOUT + "there is no effect with an interval; ask the result of a test of a random part of the pairs in "
            "memory for it"
        )


@dataclass(frozen=True, eq=False)
class OfPairs(Again):
    """What is left of pairs in batches once they are tested."""

    @property
    def pooled(self) -> np.ndarray:
        """The rows, which are not kept."""
        raise ValueError(_WITHOUT + "there is no picture of them; take a random part of the pairs in memory")


def _in_units(products: Products, sides: tuple[Whole, Whole], n: int) -> ShiftedSums:
    """Whole numbers in the units of the features."""
    u, v = (side.units for side in sides)
    return ShiftedSums(
        n,
        products.xy * u[:, None, None] * v,
        products.xx.astype(np.float64).sum(axis=0) * np.outer(u, u),
        products.yy.astype(np.float64).sum(axis=0) * np.outer(v, v),
        products.x * u,
        products.y * v,
    )


def _units_of(scale: Any) -> tuple[Any, Any]:
    """The argument ``scale`` for each variable; raises ValueError for units that take all rows at once."""
    if isinstance(scale, list | tuple) and len(scale) == 2:
        first, second = scale
        return checked_units(first), checked_units(second)
    if not (scale is None or is_unasked(scale) or isinstance(scale, str)):
        raise ValueError(f"scale must be a name, None, or a list with one entry for each variable; got {scale!r}")
    found = checked_units(scale)
    return found, found
