"""What type checkers of users see: every public name has a type, and what is not there is an error."""

from __future__ import annotations

import re

import numpy as np
import pytest

import shrinktest
from shrinktest import independence_test
from shrinktest.power import designs
from shrinktest.results.lags import LagsResult

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
    file = tmp_path_factory.mktemp("typed") / "user.py"
    file.write_text("\n".join(lines), encoding="utf-8")
    said, errors, _ = api.run(
        ["--no-incremental", "--config-file=", "--follow-imports=silent", "--ignore-missing-imports", str(file)]
    )
    assert not errors
    return said.splitlines()[:-1]


def test_every_public_name_has_a_type_and_others_are_errors(checked):
    types = [re.search(r'Revealed type is "(.*)"', line) for line in checked]
    public = sum(len(found.__all__) for found in MODULES.values())
    assert all(found and found[1] != "Any" for found in types[:public])
    assert [line.split("error: ")[1] for line in checked[public:-1]] == [
        'Module has no attribute "Tset"  [attr-defined]'
    ] * len(MODULES)


def test_lags_are_numbers(checked):
    assert 'Revealed type is "tuple[tuple[int], ...]"' in checked[-1]
    x = np.sin(np.arange(80.0) ** 2)
    found = independence_test(x, x[::-1], lags=[0, 1], shift="circular", n_resamples=99, rng=0)
    for one in (found, LagsResult.from_json(found.to_json())):
        assert one.labels == ((0,), (1,)) and all(type(lag) is int for (lag,) in one.labels)
