"""Names stand in pictures as they are: a dollar in one begins no formula, and what is no formula is no error."""

from __future__ import annotations

from dataclasses import replace

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text

from shrinktest import (
    calibrate,
    change_point_test,
    change_points,
    closer_test,
    compare,
    equivalence_test,
    independence_matrix,
    k_sample_test,
    two_sample_test,
    two_sample_test_columns,
)
from shrinktest.power import power_study
from shrinktest.risk import risk_study

ODD = ("US$ {new}_a%", r"EUR/$ old\frac^", "$x_$")
RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(30, 2)), RNG.normal(1.0, 1.0, size=(30, 2))
TABLES = [pd.DataFrame(values, columns=ODD[:2]) for values in (X, Y)]
LEVELS = [table.assign(**{ODD[2]: pd.Categorical(RNG.choice(ODD, 30), ODD, ordered=True)}) for table in TABLES]
SERIES = pd.DataFrame({ODD[0]: np.r_[X[:, 0], 4.0 + Y[:, 0]]})
TIMES = [f"{i:03d} {ODD[0]}" for i in range(60)]
FEW = {"n_resamples": 99, "rng": 0, "workers": 1}
STUDY = {"n_resamples": 19, "rng": 0, "workers": 1, "progress": False}


def study():
    return power_study("mean-shift", {ODD[0]: "kme", ODD[1]: "skmse"}, [10], n_trials=5, **STUDY)


def witness(*columns, **options):
    return two_sample_test(*LEVELS, names=ODD[:2], **FEW).plot_witness(coordinates=columns, grid=7, **options)


PICTURES = {
    "closer": lambda: closer_test(X[:, 0], Y[:, 0], X[:, 1], names=ODD).plot(),
    "closer, one-sided": lambda: closer_test(X[:, 0], Y[:, 0], X[:, 1], names=ODD, alternative="less").plot(),
    "closer, several": lambda: closer_test(X, dict(zip(ODD, (Y, X[::-1] + 1.0, Y - 3.0), strict=True))).plot(),
    "witness, a curve": lambda: witness(ODD[0]),
    "witness, a map": lambda: witness(*ODD[:2]),
    "witness, levels": lambda: witness(ODD[2], ODD[0]),
    "witness, names": lambda: two_sample_test(X, Y, **FEW).plot_witness(grid=7, names=ODD[:2]),
    "calibration": lambda: replace(calibrate(lambda x, y: 0.5, X, Y, n_trials=9, workers=1), name=ODD[0]).plot(),
    "columns": lambda: two_sample_test_columns(*TABLES, **FEW).plot(),
    "matrix": lambda: independence_matrix(*TABLES, **FEW).plot(),
    "samples": lambda: k_sample_test(dict(zip(ODD, (X, Y, X + 1.0), strict=True)), **FEW).effect().plot(),
    "margin": lambda: equivalence_test(X, Y, margin=0.3, measure="distance", names=ODD[:2]).plot(),
    "comparison": lambda: compare(*LEVELS, names=ODD[:2], **FEW).plot()[0],
    "change": lambda: change_point_test(SERIES, times=TIMES, **FEW).plot(),
    "changes": lambda: change_points(SERIES, times=TIMES, **FEW).plot(),
    "power": lambda: study().plot(),
    "risk": lambda: risk_study(
        estimators={ODD[0]: "kme", ODD[1]: "skmse"}, n=[4, 8], d=2, n_trials=3, workers=1, progress=False
    ).plot(),
}


@pytest.mark.parametrize("called", PICTURES)
def test_a_dollar_in_a_name_is_a_dollar(called):
    ax = PICTURES[called]()
    ax.figure.canvas.draw()
    texts = [one for one in ax.figure.findobj(Text) if "$" in one.get_text()]
    assert texts and not any(one.get_parse_math() for one in texts)
    matplotlib.pyplot.close(ax.figure)
