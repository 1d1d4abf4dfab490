"""Pictures of effects and of what lies below a margin."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from shrinktest import equivalence_test, k_sample_test
from shrinktest.plots.axes import BLUE, GREY

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(2, 120, 2))
SAMPLES = {"$a": X[:60], "b": X[60:], "c": Y[:60] + 1.0}


@pytest.mark.parametrize(
    "scale, margin, nothing", [("distance", 0.05, 0.0), ("auc", 0.65, 0.5), ("dependence", 0.1, 0.0)]
)
def test_an_upper_limit_beside_its_margin(scale, margin, nothing):
    result = equivalence_test(X, Y, margin=margin, measure=scale, names=("$a", "$b"))
    ax = result.plot()
    lines = {line.get_label(): line for line in ax.lines}
    limit = next(line for label, line in lines.items() if label.startswith("up to the upper limit"))
    assert limit.get_xdata().tolist() == [result.estimate, result.upper]
    assert lines["estimate"].get_color() == (BLUE if result.equivalent else GREY)
    assert lines["margin"].get_xdata()[0] == margin
    assert next(line for label, line in lines.items() if label.startswith("no ")).get_xdata()[0] == nothing
    assert "$a and $b" in ax.get_title().replace("\n", " ") and ax.get_xlabel() in (
        "distance",
        "separability",
        "dependence",
    )
    ax.figure.canvas.draw()
    none = replace(result, upper=math.nan).plot()
    assert not any(line.get_label().startswith("up to") for line in none.lines)


@pytest.mark.parametrize("measure, nothing", [("auc", 0.5), ("distance", 0.0)])
def test_every_two_samples_with_intervals(measure, nothing):
    effect = k_sample_test(SAMPLES, n_resamples=99, rng=0).effect()
    ax = effect.plot(measure=measure)
    order = sorted(effect.pairs.values(), key=lambda pair: -getattr(pair, measure))
    assert [label.get_text() for label in ax.get_yticklabels()] == [" and ".join(pair.names) for pair in order]
    for pair, line in zip(order, ax.lines[0::2], strict=False):
        assert tuple(line.get_xdata()) == getattr(pair, f"{measure}_interval")
        assert line.get_color() == (BLUE if getattr(pair, f"{measure}_interval")[0] > nothing else GREY)
    ax.figure.canvas.draw()
