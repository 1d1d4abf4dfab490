"""Reference: rows in two random halves, from which the scores of a stream are made."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from shrinktest._check import Array, choice, positive
from shrinktest.monitoring import bets
from shrinktest.monitoring.encoder import Curved, Encoder
from shrinktest.monitoring.layout import Layout
from shrinktest.monitoring.scores import (
    MOST_IN_PAIRS,
    OfColumns,
    OfLevels,
    OfModels,
    OfNovelty,
    OfPairs,
    Rows,
    shares_of_levels,
)
from shrinktest.monitoring.stream import Bank, Score, Stream
from shrinktest.monitoring.urn import Urns
from shrinktest.monitoring.witnesses import Witnesses

#: Shares of alpha of the families of scores.
SHARES = {"columns": 0.5, "pairs": 0.15, "novelty": 0.1, "witness": 0.25}
#: Rows that witnesses are learned from.
WIDTHS = (64, 256)
_BACKGROUND = 2000  # rows of half B that witnesses are ranked among


# a function of rows, its scores, their bets (m + 1, b), and which rows of the reference it ranks
_Piece = tuple[Any, list[Score], Array, np.ndarray]


@dataclass(frozen=True, eq=False)
class Reference:
    """Rows (n, d) of a layout, with scores (n, k) by functions of the user.

    What is learned is learned from half A, ``half`` (n,), and ranked among half B.  Columns need
    nothing to be learned, and are ranked among all rows, unless a transformation of the rows was
    itself fitted to half A.
    """

    layout: Layout
    values: Array
    models: Array
    half: np.ndarray
    fitted: bool = False

    def families(self, requested: Mapping[str, float]) -> dict[str, float]:
        """Return the shares of the families of scores that these columns allow, with sum 1.

        The share of pairs, where there are none, belongs to witnesses if these are requested.
        """
        shares = {name: share for name, share in requested.items() if share > 0.0}
        numeric = int((~self.layout.categorical).sum())
        if "pairs" in shares and not 2 <= numeric <= MOST_IN_PAIRS:
            left = shares.pop("pairs")
            if "witness" in shares:
                shares["witness"] += left
        if not shares:
            raise ValueError(
                f"scores='pairs' needs 2 to {MOST_IN_PAIRS} numeric columns; name other scores"
            )
        total = sum(shares.values())
        return {name: share / total for name, share in shares.items()}

    def stream(
        self,
        shares: Mapping[str, float],
        models: tuple[str, ...],
        threshold: float,
        *,
        rate: bool,
        rng: np.random.Generator,
    ) -> Stream:
        """Begin to watch, with shares of alpha of families, and of ``models`` by their names."""
        ties = rng.random(len(self.values))
        encoder = Encoder.of(self.values[self.half], self.layout.categorical)
        encoded = encoder(self.values)
        curved = Curved.of(encoded[self.half], rng)
        rows = Rows(self.values, encoded, self.models)
        pieces = list(self._functions(shares, models, encoder, encoded))
        banks = [
            Bank(function, Urns.of(function(rows)[keep], ties[keep], f))
            for function, _, f, keep in pieces
        ]
        scores = [score for _, made, _, _ in pieces for score in made]
        places = rng.permutation(np.flatnonzero(~self.half))[:_BACKGROUND]
        places = places[np.argsort(ties[places])]
        watching = self._witnesses(shares, curved, encoded, places, ties[places], rate=rate)
        for witnesses in watching:
            kind = "curved" if witnesses.curved else "linear"
            name = f"witness ({kind}, {witnesses.width} rows)"
            scores.append(Score(name, "witness", shares["witness"] / len(watching)))
        return Stream(
            layout=self.layout,
            scores=tuple(scores),
            threshold=threshold,
            rate=rate,
            banks=tuple(banks),
            witnesses=watching,
            encoder=encoder,
            curved=curved,
            background=encoded[places],
            numbers=ties[places],
            ties=np.random.default_rng(rng.integers(2**63, size=4).tolist()),
        )

    def _functions(
        self,
        shares: Mapping[str, float],
        models: tuple[str, ...],
        encoder: Encoder,
        encoded: Array,
    ) -> Iterator[_Piece]:
        """Yield functions of rows, their scores and bets, and the rows that they rank among."""
        names = self.layout.names
        whole = np.ones(len(self.half), dtype=bool)
        other = ~self.half
        tilts = _tilts(int(other.sum()))
        numeric = np.flatnonzero(~self.layout.categorical)
        if "columns" in shares:
            yield from self._columns(shares["columns"] / len(names), numeric)
        if "pairs" in shares:
            pairs = OfPairs.of(numeric, encoder.centers, len(names))
            labels = [
                f"{names[i]} with {names[j]}"
                for i, j in zip(pairs.first, pairs.second, strict=True)
            ]
            share = shares["pairs"] / len(labels)
            yield pairs, [Score(label, "pair", share) for label in labels], tilts, other
        if "novelty" in shares:
            made = [Score("novelty", "novelty", shares["novelty"])]
            yield OfNovelty.of(encoded[self.half]), made, tilts, other
        if models:
            made = [Score(name, "model", shares[name]) for name in models]
            yield OfModels(np.arange(len(models))), made, _tilts(len(whole)), whole

    def _columns(self, share: float, numeric: np.ndarray) -> Iterator[_Piece]:
        """Yield the numeric columns together, and every category."""
        layout = self.layout
        other = ~self.half
        ranked = other if self.fitted else np.ones(len(self.half), dtype=bool)
        if numeric.size:
            made = [Score(layout.names[j], "column", share, int(j)) for j in numeric]
            yield OfColumns(numeric), made, _tilts(int(ranked.sum())), ranked
        for place in np.flatnonzero(layout.categorical).tolist():
            levels = len(layout.levels[place])
            half = self.values[self.half, place]
            function = OfLevels.of(place, levels, half, self.values[:, place])
            f = bets.odds(int(other.sum()), shares_of_levels(half, levels))
            yield function, [Score(layout.names[place], "column", share, place)], f, other

    def _witnesses(
        self,
        shares: Mapping[str, float],
        curved: Curved,
        encoded: Array,
        places: np.ndarray,
        numbers: Array,
        *,
        rate: bool,
    ) -> tuple[Witnesses, ...]:
        """Return witnesses of both kinds for every number of rows."""
        if "witness" not in shares:
            return ()
        watching = []
        for width in WIDTHS:
            for bent in (False, True):
                features = curved(encoded) if bent else encoded
                half = features[self.half]
                background = features[places]
                watching.append(
                    Witnesses.of(half, background, numbers, width, curved=bent, rate=rate)
                )
        return tuple(watching)


def _tilts(size: int) -> Array:
    return bets.tilts(size, bets.shifts_for(size), bets.SPREADS)


def requested_shares(
    scores: Any,
) -> tuple[dict[str, float], dict[str, Callable[..., Any]]]:
    """Return shares by name, with sum 1, and the functions of the user by name."""
    if scores is None:
        return dict(SHARES), {}
    if isinstance(scores, str) or callable(scores):
        scores = [scores]
    given = scores if isinstance(scores, Mapping) else dict.fromkeys(scores)
    shares: dict[str, float] = {}
    functions: dict[str, Callable[..., Any]] = {}
    for entry, share in given.items():
        if callable(entry):
            name = getattr(entry, "__name__", type(entry).__name__)
            functions[name] = entry
        else:
            name = choice(entry, SHARES, "scores")
        if name in shares:
            raise ValueError(f"scores has two of the name {name!r}; rename one")
        standard = SHARES.get(name, SHARES["columns"])
        shares[name] = standard if share is None else positive(share, f"scores[{name!r}]")
    if not shares:
        raise ValueError("scores is empty; name one, or leave it out")
    total = sum(shares.values())
    return {name: share / total for name, share in shares.items()}, functions
