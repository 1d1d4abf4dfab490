"""References: the papers that a result used, as text and as BibTeX, from one bibliography."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata, resources
from typing import Any

#: The bibliography.
FILE = resources.files("shrinktest").joinpath("references.bib")
_ENTRY = re.compile(r"(?ms)^@\w+\{(\w+),\n(.*?)^\}")
_FIELD = re.compile(r"(?m)^\s*(\w+)\s*=\s*\{(.*)\},?\s*$")
_PLACES = ("booktitle", "journal", "publisher", "howpublished")


@dataclass(frozen=True)
class Reference:
    """An entry of the bibliography."""

    key: str
    bibtex: str

    def __getitem__(self, name: str) -> str:
        """Return a field as it reads, without braces; empty if the entry has none."""
        fields = dict(_FIELD.findall(self.bibtex))
        return fields.get(name, "").replace("{", "").replace("}", "")

    @property
    def _people(self) -> list[str]:
        return self["author"].split(" and ")

    @property
    def words(self) -> str:
        """The entry as people write it, without its address."""
        names = [" ".join(reversed(name.split(", ", 1))) for name in self._people]
        where = next(filter(None, map(self.__getitem__, _PLACES)), "")
        volume = self["volume"] and f" {self['volume']}"
        pages = self["pages"] and f", {self['pages']}"
        year = self["year"] and f" ({self['year']})"
        place = f" {where}{volume}{pages}." if where else ""
        note = self["note"] and f" {self['note']}."
        return f"{joined(names)}{year}. {self['title']}.{place}{note}".replace("--", "–")

    @property
    def address(self) -> str:
        """Web address of the paper."""
        return f"https://doi.org/{self['doi']}" if self["doi"] else self["url"]

    @property
    def text(self) -> str:
        """The entry as people write it."""
        return f"{self.words} {self.address}".strip()

    @property
    def cited(self) -> str:
        """Authors and year, as running text cites them."""
        names = [name.partition(", ")[0] for name in self._people]
        who = f"{names[0]} et al." if len(names) > 2 else " and ".join(names)
        return f"{who}, {self['year']}"


@dataclass(frozen=True, repr=False)
class References(Sequence[Reference]):
    """Papers that a result used, each once.

    Examples
    --------
    >>> from shrinktest import two_sample_test
    >>> result = two_sample_test([1.2, 0.3, 0.5, 0.8], [2.1, 1.9, 3.0, 2.6], estimator="fkmse")
    >>> result.references.keys
    ('shrinktest', 'G12', 'M14')
    >>> print(result.references[2].text)
    Krikamol Muandet, Kenji Fukumizu, Bharath Sriperumbudur, Arthur Gretton and Bernhard Schölkopf
    (2014). Kernel mean estimation and Stein effect. Proceedings of the 31st International
    Conference on Machine Learning 32. https://proceedings.mlr.press/v32/muandet14.html
    >>> print(result.references.bibtex.splitlines()[0])
    @misc{shrinktest,
    """

    entries: tuple[Reference, ...]

    @classmethod
    def of(cls, keys: Iterable[str], version: str) -> References:
        """Return this package, of a version, and the entries with these keys."""
        known = bibliography()
        papers = [known[key] for key in dict.fromkeys(keys) if key in known]
        return cls((_package(version), *papers))

    def __getitem__(self, index: Any) -> Any:
        return self.entries[index]

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[Reference]:
        return iter(self.entries)

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys of the entries."""
        return tuple(entry.key for entry in self)

    @property
    def text(self) -> str:
        """The entries as people write them, one a line."""
        return "\n".join(entry.text for entry in self)

    @property
    def bibtex(self) -> str:
        """The entries as BibTeX."""
        return "\n\n".join(entry.bibtex for entry in self)

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__


@cache
def bibliography() -> dict[str, Reference]:
    """Return all entries by key."""
    text = FILE.read_text(encoding="utf-8")
    return {match[1]: Reference(match[1], match[0]) for match in _ENTRY.finditer(text)}


def cited(keys: Iterable[str]) -> str:
    """Return authors and years in brackets, after a space; empty without known keys.

    Examples
    --------
    >>> cited(["G12", "PS10"])
    ' [Gretton et al., 2012; Phipson and Smyth, 2010]'
    """
    known = bibliography()
    texts = dict.fromkeys(known[key].cited for key in dict.fromkeys(keys) if key in known)
    return f" [{'; '.join(texts)}]" if texts else ""


def joined(words: Sequence[str]) -> str:
    """Return words with commas and "and".

    Examples
    --------
    >>> joined(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


@cache
def _package(version: str) -> Reference:
    author = metadata.metadata("shrinktest")["Author"]
    fields = {"author": f"{{{author}}}", "title": "shrinktest", "note": f"Version {version}"}
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items()]
    return Reference("shrinktest", "\n".join(["@misc{shrinktest,", *lines, "}"]))
