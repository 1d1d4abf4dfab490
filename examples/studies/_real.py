"""Tables that scikit-learn and statsmodels ship, as designs: rows of two groups or of two columns, drawn at random."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import numpy as np

from shrinktest.power.designs import Design
from shrinktest.power.designs.base import IndependenceDesign

CANCER = ("mean fractal dimension", "texture error", "smoothness error", "symmetry error")
FAIR = ("rate_marriage", "age", "yrs_married", "children", "religious", "educ")
ANES = ("popul", "TVnews", "age", "educ", "income")


@cache
def _sklearn(name: str):
    from sklearn import datasets

    return getattr(datasets, f"load_{name}")()


@cache
def _statsmodels(name: str):
    import statsmodels.api as sm

    return getattr(sm.datasets, name).load_pandas().data


def _standard(values) -> np.ndarray:
    values = np.asarray(values, dtype=np.float64)
    return (values - values.mean(axis=0)) / values.std(axis=0)


def _digits(*digits: int):
    """Images of all digits, and of some: one half of the images is for each."""
    images, labels = _sklearn("digits").data / 16.0, _sklearn("digits").target
    half = np.arange(len(images)) % 2 == 0
    return images[half], images[~half & np.isin(labels, digits)]


def _cancer():
    table = _sklearn("breast_cancer")
    values = _standard(table.data[:, [list(table.feature_names).index(name) for name in CANCER]])
    return values[table.target == 0], values[table.target == 1]


def _wine(first: int, second: int, columns=slice(None), *, scaled: bool = True):
    """Two of the three cultivars."""
    table = _sklearn("wine")
    values = (_standard(table.data) if scaled else table.data)[:, columns]
    return values[table.target == first], values[table.target == second]


def _diabetes():
    """Everything but the sex (the second column), of either sex."""
    table = _sklearn("diabetes")
    values = _standard(np.delete(table.data, 1, axis=1))
    return values[table.data[:, 1] > 0], values[table.data[:, 1] < 0]


def _fair():
    table = _statsmodels("fair")
    values = _standard(table[list(FAIR)])
    return values[table["affairs"] > 0], values[table["affairs"] == 0]


def _anes():
    table = _statsmodels("anes96")
    values = _standard(table[list(ANES)])
    return values[table["vote"] == 0], values[table["vote"] == 1]


def _columns(table, x: str, y: str):
    return _standard(table[[x]]), _standard(table[[y]])


#: Label to two groups of rows.
GROUPS = {
    "digits, all and 0 1 3 5 7 9": lambda: _digits(0, 1, 3, 5, 7, 9),
    "digits, all and 0 to 5, 7, 9": lambda: _digits(0, 1, 2, 3, 4, 5, 7, 9),
    "breast cancer, four weak columns": _cancer,
    "wine, ash and magnesium": lambda: _wine(0, 1, [2, 4]),
    "wine, as measured": lambda: _wine(1, 2, scaled=False),
    "diabetes, by sex": _diabetes,
    "affairs, some and none": _fair,
    "votes of 1996": _anes,
}
#: Label to two variables.
PAIRS = {
    "diabetes: age, blood pressure": lambda: _standard(_sklearn("diabetes").data[:, [0, 3]]).T[
        :, :, np.newaxis
    ],
    "votes: age, income": lambda: _columns(_statsmodels("anes96"), "age", "income"),
    "wine: alcohol, ash": lambda: _standard(_sklearn("wine").data[:, [0, 2]]).T[:, :, np.newaxis],
    "schools: teachers' years, salary": lambda: _columns(
        _statsmodels("star98"), "AVYRSEXP", "AVSALK"
    ),
}


@dataclass(frozen=True, repr=False)
class Groups(Design):
    """Rows of each of two groups of a table, drawn without replacement; the null twin splits them at random."""

    test: ClassVar[str] = "two-sample"  # type: ignore[assignment]

    table: str = "diabetes, by sex"

    @property
    def dimension(self) -> int:
        return GROUPS[self.table]()[0].shape[1]

    def draw(self, rng, n: int, m: int):
        return tuple(
            group[rng.choice(len(group), size, replace=False)]
            for group, size in zip(GROUPS[self.table](), (n, m), strict=True)
        )


@dataclass(frozen=True, repr=False)
class Pairs(IndependenceDesign):
    """Rows of two columns of a table, drawn without replacement; in the null twin those of y are others."""

    table: str = "votes: age, income"

    def draw(self, rng, n: int, m: int):
        x, y = PAIRS[self.table]()
        rows = rng.choice(len(x), n, replace=False)
        return x[rows], y[rows]
