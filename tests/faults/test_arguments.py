"""Arguments that make no sense end in an error that names them; each call, its error, and words of the message."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from shrinktest import (
    Landweber,
    change_point_test,
    independence_test,
    permutation_test,
    two_sample_test,
)
from shrinktest.applications import KernelMeanMatching
from shrinktest.cli import main
from shrinktest.power import power_study
from shrinktest.risk import loss_path

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(2, 12, 2))
TABLE = pd.DataFrame(
    {"size": X[:, 0], "kind": list("aabb" * 3), "day": pd.date_range("2024-01-01", periods=12)}
)
BLOCK = RNG.normal(size=(2, 40, 2))
FEW = {"n_resamples": 19, "alpha": 0.1, "rng": 0}
STUDY = {"n_trials": 3, "n_resamples": 19, "alphas": 0.1, "workers": 1, "rng": 0}


def compared(first=TABLE, second=TABLE[::-1], **options):
    return two_sample_test(first, second, **FEW, **options)


def density(init):
    return KernelMeanMatching(n_components=2, init=init).fit(X)


CALLS = [
    (lambda: compared(X, Y, scale=3), TypeError, "scale must be None, one of"),
    (
        lambda: compared(X, Y, scale=[1.0, 2.0, 3.0]),
        ValueError,
        "scale has 3 entries for 2 columns",
    ),
    (lambda: compared("before.missing", Y), TypeError, "read a file first"),
    (
        lambda: compared(pd.Categorical(list("ab")), pd.Categorical(list("ab"))),
        TypeError,
        "categories",
    ),
    (lambda: compared(X, Y, kernel="gaussian", bandwidth=np.ones(3)), ValueError, "bandwidth"),
    (
        lambda: compared(bandwidth=np.ones(5)),
        ValueError,
        r"bandwidth has 5 entries for 3 columns \('size', 'kind', 'day'\)",
    ),
    (
        lambda: compared(*BLOCK, gram="factor", max_memory=20_000),
        MemoryError,
        "which use all of max_memory",
    ),
    (lambda: compared(column_types={"kind": ["a"]}), ValueError, "must hold two levels or more"),
    (lambda: compared().witness(X), TypeError, "must be a table with the columns that were tested"),
    (
        lambda: compared().witness(TABLE.assign(day=X[:, 1])),
        ValueError,
        "holds numbers, which are not dates",
    ),
    (
        lambda: compared().witness(TABLE.assign(size=np.nan)),
        ValueError,
        "12 missing values in column 'size'",
    ),
    (
        lambda: compared().plot_witness(),
        ValueError,
        "choose one or two numeric ones such as coordinates=",
    ),
    (
        lambda: compared().plot_witness(coordinates="kind"),
        ValueError,
        "coordinates must be one or two",
    ),
    (lambda: compared(TABLE.day.tolist(), TABLE.day.dt.tz_localize("UTC")), TypeError, ""),
    (
        lambda: change_point_test(X, times=TABLE.day.array[:3], **FEW),
        ValueError,
        "times has 3 entries, and X has 12 rows",
    ),
    (
        lambda: change_point_test(X, times=[*range(11), None], **FEW),
        ValueError,
        "times is missing in row 11",
    ),
    (
        lambda: change_point_test(X, times=[*range(11), "z"], **FEW),
        TypeError,
        "row 11 has 'z' after 10",
    ),
    (
        lambda: change_point_test(TABLE[["day"]].assign(one=1.0), **FEW),
        ValueError,
        "nothing is left to test",
    ),
    (
        lambda: permutation_test(lambda row: 0.0, 9, name="", rng=0),
        ValueError,
        "name must be a text",
    ),
    (lambda: permutation_test(3.0, 9, rng=0), TypeError, "statistic must be a function"),
    (
        lambda: permutation_test(lambda row: "a", 9, rng=0),
        TypeError,
        "statistic must return numbers",
    ),
    (
        lambda: permutation_test(lambda row: np.nan, 9, rng=0),
        ValueError,
        "one finite number for every permutation",
    ),
    (lambda: permutation_test(lambda row: 0.0, 10**15, rng=0), MemoryError, "do not fit in"),
    (
        lambda: permutation_test(lambda row: 0.0, [9], rng=0),
        TypeError,
        "a number of rows, sizes such as",
    ),
    (lambda: density(3), TypeError, "init must be"),
    (lambda: density(([1.0], [[0.0, 0.0]], [1.0])), ValueError, "init must be weights"),
    (lambda: density(([1, 1], np.zeros((2, 2)), [0, 1])), ValueError, "finite and positive"),
    (lambda: power_study("mean-shift", [], 8, **STUDY), ValueError, "estimators is empty"),
    (
        lambda: power_study("mean-shift", {1: "kme"}, 8, **STUDY),
        TypeError,
        "labels of estimators must be text",
    ),
    (lambda: power_study("mean-shift", "kme", 8.5, **STUDY), TypeError, "sizes must be a sequence"),
    (
        lambda: power_study("mean-shift", "kme", 8, **{**STUDY, "n_trials": range(-3, 2)}),
        ValueError,
        "from 0 on",
    ),
    (
        lambda: power_study("mean-shift", "kme", 8, test_options=3, **STUDY),
        TypeError,
        "must be a dict of arguments",
    ),
    (
        lambda: power_study("mean-shift", "ks_2samp", 8, test_options={"form": "biased"}, **STUDY),
        ValueError,
        "kernel tests",
    ),
    (lambda: loss_path("mmkme", [1.0]), ValueError, "no single amount to follow"),
    (lambda: loss_path(Landweber(), [1], n=[5, 6]), ValueError, "n must be a single value"),
    (
        lambda: independence_test(X, Y, kernel_x="energy", bandwidth_x=2.0, **FEW),
        ValueError,
        "bandwidth",
    ),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", range(len(CALLS)))
def test_calls(case):
    call, error, words = CALLS[case]
    with pytest.raises(error, match=words):
        call()


TYPED = [
    (
        "independence a.csv b.csv --x u --y v",
        "unexpected argument 'b.csv'; usage: shrinktest independence DATA",
    ),
    ("check-level a.csv --columns u --x u --y v", "--columns is for samples"),
    ("change a.csv --sort", "--time NAME, which was not given"),
    ("check-level a.csv b.csv a.csv", "pass two files, or one"),
    ("check-level a.csv b.csv --x u --y v", "two files are two samples"),
    ("check-level a.csv b.csv --nan-policy propagate", "leaves no p-values to count"),
    ("check-level a.csv b.csv --test nothing", "module:function"),
    ("two-sample a.csv b.csv --sep xyz", "one character, tab or space"),
    ("two-sample a.csv b.csv --types u", "like zip=category"),
    ("two-sample a.csv b.csv --blocks u,v", "--blocks is one column; 'u,v' names u, v"),
    ("two-sample a.csv b.csv --estimator fkmse:lam_cov=wide", "fkmse"),
    ("two-sample a.csv b.csv --types u=drop,v=drop", "left to test"),
    ("power mean-shift --estimators kme,kme", "has a name twice"),
    ("power mean-shift --set shift", "like lam=0.1"),
    ("--columns", "put a command before --columns"),
]


@pytest.mark.parametrize(("line", "words"), TYPED)
def test_command_lines(line, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, values in (("a.csv", X), ("b.csv", Y)):
        pd.DataFrame(values, columns=["u", "v"]).to_csv(name, index=False)
    assert main(line.split()) == 2
    assert words in " ".join(capsys.readouterr().err.split())
