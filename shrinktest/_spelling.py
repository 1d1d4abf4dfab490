"""Spelling: the known word that one typed wrong is closest to."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that takes the fewest edits, at most 2, if there is one.

    Of several the first that begins with the same letter, or else the first, is returned.

    Words of fewer than five letters may take one edit, and of fewer than three one more letter.

    Examples
    --------
    >>> nearest("bandwith", ["kernel", "bandwidth"])
    'bandwidth'
    >>> nearest("device", ["delimiter", "sep"])
    """
    letters = len(word.strip("-"))
    most = 2 if letters > 4 else 1
    least = 1 if letters < 3 else -most  # how much longer the other word is
    near = [other for other in known if least <= len(other) - len(word) <= most]
    first = word.strip("-")[:1]
    ranked = [(edits(word, other), other.strip("-")[:1] != first, other) for other in near]
    fewest, _, closest = min(ranked, key=lambda rank: rank[:2], default=(most + 1, True, None))
    return closest if fewest <= most else None


def edits(word: str, other: str) -> int:
    """Return how many letters to insert, leave out, replace or swap with the next make the other.

    This is the optimal string alignment distance.

    Examples
    --------
    >>> edits("rgn", "rng"), edits("estimater", "estimator"), edits("device", "delimiter")
    (1, 1, 5)
    """
    before = [0] * (len(other) + 1)
    row = list(range(len(other) + 1))
    for i, letter in enumerate(word):
        earlier = before
        before = row
        row = [i + 1]
        for j, second in enumerate(other):
            fewest = min(before[j] + (letter != second), before[j + 1] + 1, row[j] + 1)
            if i and j and (letter, word[i - 1]) == (other[j - 1], second):
                fewest = min(fewest, earlier[j - 1] + 1)
            row.append(fewest)
    return row[-1]
