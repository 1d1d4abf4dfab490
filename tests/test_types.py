"""What type checkers of users see: every public name has a type, and what is not there is an error."""

from __future__ import annotations

import re

import numpy as np
import pytest

import shrinktest
from shrinktest import independence_test
from shrinktest.power import designs

#: Right calls and classes, of which a type checker must say nothing.
RIGHT = """
import numpy as np
from pathlib import Path
from numpy.typing import NDArray

class Mine(shrinktest.Kernel):
    def evaluate(self, X: NDArray[np.float64], Y: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.ones((len(X), len(Y)))
    def diagonal(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.ones(len(X))
    def resolve(self, Z: NDArray[np.float64], rng: object = None) -> "Mine":
        return self

def right(X: NDArray[np.float64]) -> None:
    names = ["a", "b"]
    statistic, pvalue = shrinktest.two_sample_test(X, X.tolist(), estimator=["kme", "fkmse"], names=names, rng=0)
    shrinktest.two_sample_test(Path("a.csv"), "b.csv", kernel=Mine(), n_resamples=np.inf).to_json(Path("c.json"))
    shrinktest.compare(X, X, names=names).summary().upper()
    shrinktest.equivalence_test(X, X, margin=0.1, measure="distance", names=names)
    shrinktest.closer_test(X, X, X, names=[*names, "c"])
"""
MODULES = {"shrinktest": shrinktest, "shrinktest.power.designs": designs}


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    """What mypy says of lines of a user's code, in their order."""
    api = pytest.importorskip("mypy.api")
    lines = ["from typing import Any", *(f"import {module}" for module in MODULES)]
    lines += [f"reveal_type({module}.{name})" for module, found in MODULES.items() for name in found.__all__]
    lines += [f"{module}.Tset" for module in MODULES]
    lines += ["def lags(X: Any, Y: Any) -> None:"]
    lines += ["    reveal_type(shrinktest.independence_test(X, Y, lags=[1], shift='circular').labels)"]
    lines.insert(0, "import shrinktest" + RIGHT)
    file = tmp_path_factory.mktemp("typed") / "user.py"
    file.write_text("\n".join(lines), encoding="utf-8")
    said, errors, _ = api.run(
        [
            "--strict",
            "--no-incremental",
            "--config-file=",
            "--follow-imports=silent",
            "--ignore-missing-imports",
            str(file),
        ]
    )
    assert not errors
    return said.splitlines()[:-1]


def test_nothing_is_said_of_right_calls(checked):
    right = tuple(f"user.py:{line}:" for line in range(1, RIGHT.count("\n") + 2))
    assert [line for line in checked if any(one in line for one in right)] == []


def test_every_public_name_has_a_type_and_others_are_errors(checked):
    types = [re.search(r'Revealed type is "(.*)"', line) for line in checked]
    public = sum(len(found.__all__) for found in MODULES.values())
    assert all(found and found[1] != "Any" for found in types[:public])
    assert [line.split("error: ")[1] for line in checked[public:-1]] == [
        'Module has no attribute "Tset"  [attr-defined]'
    ] * len(MODULES)


def test_lags_are_numbers(checked):
    assert 'Revealed type is "tuple[tuple[Any, ...], ...]"' in checked[-1]
    x = np.sin(np.arange(80.0) ** 2)
    found = independence_test(x, x[::-1], lags=[0, 1], shift="circular", n_resamples=99, rng=0)
    assert found.labels == ((0,), (1,)) and all(type(lag) is int for (lag,) in found.labels)
