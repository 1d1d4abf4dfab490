"""Every command is the library on the columns that were named: same p-values, exit codes, files."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import shrinktest as st
from shrinktest.cli import main
from shrinktest.cli.condition import Condition
from shrinktest.estimators import ESTIMATORS
from shrinktest.kernels import Gaussian

FAST = {"rng": 0, "n_resamples": 99}
WORDS = ["--seed", "0", "--resamples", "99"]
UV = ["u", "v"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("tables")
    rng = np.random.default_rng(0)
    for name, shift in {"a": 0.0, "b": 1.5, "c": 0.2}.items():
        table = pd.DataFrame(rng.normal(shift, size=(16, 2)).round(4), columns=["u", "v"])
        table["site"] = list("xyzx" * 4)
        table["day"] = pd.date_range("2024-01-01", periods=16)
        table[["v", "u", "site", "day"] if name == "b" else list(table)].to_csv(
            path / f"{name}.csv", index=False
        )
        table[["u", "v"]].to_parquet(path / f"{name}.parquet")
        np.save(path / f"{name}.npy", table[["u", "v"]].to_numpy())
    return path


@pytest.fixture
def run(folder, monkeypatch, capsys):
    """Run the command line: (exit code, standard output, standard error)."""
    monkeypatch.chdir(folder)

    def run(line, *more):
        code = main([*line.split(), *more])
        return code, *capsys.readouterr()

    return run


def tables(folder, *names):
    return [
        pd.read_csv(folder / f"{name}.csv", parse_dates=["day"])[["u", "v", "site", "day"]]
        for name in names
    ]


#: A line, and the same test of the library, of the tables in a.csv, b.csv and c.csv.
LINES = {
    "two-sample a.csv b.csv --columns u,v --estimator fkmse:loo=paper --blocks site": lambda a, b, c: (
        st.two_sample_test(
            a[UV], b[UV], estimator=st.FKMSE(loo="paper"), blocks=(a.site, b.site), **FAST
        )
    ),
    "two-sample a.csv b.csv --columns 1:2 --kernel laplacian --bandwidth 0.5 --bandwidth 2": lambda a, b, c: (
        st.two_sample_test(a[UV], b[UV], kernel=[st.Laplacian(0.5), st.Laplacian(2.0)], **FAST)
    ),
    "two-sample a.csv b.csv --columns u,v --covariates site": lambda a, b, c: st.two_sample_test(
        a[UV], b[UV], covariates=(a[["site"]], b[["site"]]), **FAST
    ),
    "k-sample a.csv b.csv c.csv --columns u,v --comparison pooled": lambda a, b, c: (
        st.k_sample_test(a[UV], b[UV], c[UV], comparison="pooled", **FAST)
    ),
    "k-sample a.csv --by site --columns u,v": lambda a, b, c: st.k_sample_test(
        a[[*UV, "site"]], by="site", **FAST
    ),
    "k-sample b.csv --by 3 --groups day --types u=drop": lambda a, b, c: st.k_sample_test(
        b[["v", "site"]], by="site", groups=b["day"], **FAST
    ),
    "columns a.csv b.csv --columns u,v --method holm": lambda a, b, c: st.two_sample_test_columns(
        a[UV], b[UV], method="holm", **FAST
    ),
    "independence a.csv --x u --y v,day --kernel-y whitened:lam=0.1 --scale sd": lambda a, b, c: (
        st.independence_test(
            a[["u"]], a[["v", "day"]], kernel_y=st.Whitened(lam=0.1), scale="sd", **FAST
        )
    ),
    "independence a.csv --x u --y v --given site": lambda a, b, c: st.independence_test(
        a[["u"]], a[["v"]], given=a[["site"]], **FAST
    ),
    "independence a.csv --x u --y v --block-length whole --lags -1:0 --alpha 0.5": lambda a, b, c: (
        st.independence_test(
            a[["u"]], a[["v"]], block_length="whole", lags=[-1, 0], alpha=0.5, **FAST
        )
    ),
    "matrix a.csv --x u --y v,site": lambda a, b, c: st.independence_matrix(
        a[["u"]], a[["v", "site"]], **FAST
    ),
    "matrix a.csv --given others --types day=drop": lambda a, b, c: st.independence_matrix(
        a[["u", "v", "site"]], given="others", **FAST
    ),
    "joint a.csv --variable u --variable v,site --bandwidth 1.5": lambda a, b, c: (
        st.joint_independence_test(a[["u"]], a[["v", "site"]], bandwidths=1.5, **FAST)
    ),
    "change a.csv --time day --columns u,v": lambda a, b, c: st.change_point_test(
        a[UV], times=a["day"], **FAST
    ),
    "change a.csv --several --n-changes 2 --columns u": lambda a, b, c: st.change_points(
        a[["u"]], n_changes=2, **FAST
    ),
    "symmetry a.csv --columns u,v --about 0.5,0": lambda a, b, c: st.symmetry_test(
        a[UV], about=[0.5, 0.0], **FAST
    ),
    "compare a.csv b.csv --columns u,v --estimator kme": lambda a, b, c: st.compare(
        a[UV], b[UV], estimator="kme", **FAST
    ),
    "compare a.csv b.csv --columns u --covariates v --estimator kme": lambda a, b, c: st.compare(
        a[["u"]], b[["u"]], covariates=(a[["v"]], b[["v"]]), estimator="kme", **FAST
    ),
    "compare a.npy b.npy --estimator kme": lambda a, b, c: st.compare(
        *(table[UV].set_axis(["0", "1"], axis=1) for table in (a, b)), estimator="kme", **FAST
    ),
}


def numbers(value):
    """Statistics and p-values in a result printed as JSON, wherever they are."""
    if isinstance(value, dict):
        own = [
            (name, item)
            for name, item in value.items()
            if name in ("pvalue", "statistic", "pvalues", "statistics")
        ]
        return own + [pair for item in value.values() for pair in numbers(item)]
    return [pair for item in value for pair in numbers(item)] if isinstance(value, list) else []


@pytest.mark.parametrize("line", LINES)
def test_a_command_is_the_library(run, folder, line):
    code, out, err = run(line, *WORDS, "--json")
    assert (code, err) == (0, "")
    printed = numbers(json.loads(out))
    assert printed and printed == numbers(
        json.loads(LINES[line](*tables(folder, *"abc")).to_json())
    )


def test_commands_without_permutations_are_the_library(run, folder):
    a, b, c = (table[["u", "v"]] for table in tables(folder, "a", "b", "c"))
    _, out, _ = run("closer a.csv b.csv c.csv --columns u,v --json")
    assert json.loads(out)["pvalue"] == st.closer_test(a, b, c).pvalue
    _, out, _ = run("closer a.csv --measure dependence --x u --y v --z site --json")
    _, site, _ = tables(folder, "a", "a", "a")
    assert (
        json.loads(out)["pvalue"]
        == st.closer_test(a[["u"]], a[["v"]], site[["site"]], measure="dependence").pvalue
    )
    _, out, _ = run("equivalence a.csv b.csv --columns u,v --margin 0.3 --measure distance --json")
    assert (
        json.loads(out)["pvalue"]
        == st.equivalence_test(a, b, margin=0.3, measure="distance", rng=0).pvalue
    )
    _, out, _ = run("equivalence a.csv --x u --y v --margin 0.3 --measure dependence --json")
    assert (
        json.loads(out)["pvalue"]
        == st.equivalence_test(a[["u"]], a[["v"]], margin=0.3, measure="dependence", rng=0).pvalue
    )


@pytest.mark.parametrize("ending", ["parquet", "npy"])
def test_all_commands_read_parquet_and_npy(run, ending):
    single, both = f"a.{ending}", f"a.{ending} b.{ending}"
    sides = "--x 0 --y 1" if ending == "npy" else "--x u --y v"
    for line in (
        f"compare {both} --estimator kme",
        f"two-sample {both}",
        f"k-sample {both}",
        f"columns {both}",
        f"independence {single} {sides}",
        f"matrix {single}",
        f"joint {single}",
        f"symmetry {single}",
        f"change {single}",
        f"check-level {both} --trials 3 --workers 1",
    ):
        assert run(line, *WORDS, "--json")[::2] == (0, ""), line
    assert run(f"equivalence {both} --margin 0.3 --measure distance")[0] == 0
    assert run(f"closer {both} c.{ending}")[0] == 0


def test_files_in_batches_are_the_library(run, folder):
    _, out, _ = run("two-sample [ac].parquet b.parquet --gram rff --rank 20 --json", *WORDS)
    result = st.two_sample_test(
        str(folder / "[ac].parquet"), str(folder / "b.parquet"), gram="rff", rank=20, **FAST
    )
    assert json.loads(out)["pvalue"] == result.pvalue
    assert (
        run(
            "two-sample a.parquet b.parquet --columns u --bins 20 --gram rff --rank 9 --store sums.npz",
            *WORDS,
        )[0]
        == 0
    )
    code, _, err = run("two-sample a.parquet b.parquet --paired --store sums.npz", *WORDS)
    assert code == 2 and "--store" in err


def test_one_file_is_split_into_samples(run, folder):
    result = st.k_sample_test(
        str(folder / "a.csv"), by="site", column_types={"day": "drop"}, **FAST
    )
    (a,) = tables(folder, "a")
    assert result.pvalue == st.k_sample_test(a.drop(columns="day"), by="site", **FAST).pvalue
    code, out, err = run("k-sample a.csv b.csv --by site")
    assert (code, out) == (2, "") and "--by splits one file into samples" in err


def test_calibration(run):
    line = "check-level a.csv b.csv --columns u,v --trials 5 --workers 1"
    code, out, err = run(f"{line} --estimator fkmse --json", *WORDS)
    assert (code, err) == (0, "") and len(json.loads(out)["pvalues"]) == 5
    assert run("check-level a.csv --x u --y v --trials 5 --workers 1 --blocks site", *WORDS)[0] == 0
    assert run(f"{line} --test ks_2samp".replace("u,v", "u"))[0] == 0
    assert "--paired is not for" in run("check-level a.csv --x u --y v --paired")[2]


def test_the_users_function_is_calibrated(run, folder):
    (folder / "mine.py").write_text(
        "def good(X, Y):\n    return .5\ndef bad(X, Y):\n    return X + {}\n"
    )
    assert (
        run("check-level a.csv b.csv --columns u --trials 3 --workers 1 --test mine:good")[0] == 0
    )
    code, _, err = run("check-level a.csv b.csv --columns u --trials 3 --workers 1 --test mine:bad")
    assert code == 2 and "mine.py, line 4" in err and err.count("\n") == 1
    assert run("check-level a.csv b.csv --columns u --test mine:good --form biased")[0] == 2


def test_estimators_are_listed_with_auto(run):
    _, out, _ = run("estimators")
    assert [line.split()[0] for line in out.splitlines()] == [*ESTIMATORS, "auto"]


def test_outputs(run, folder):
    line = "two-sample a.csv b.csv --columns u,v --plot null.png --witness where.png --effect"
    code, out, err = run(line, *WORDS)
    assert (code, err) == (0, "") and "distance" in out
    assert (
        run("compare a.csv b.csv --html report.html --plot columns.svg --estimator kme", *WORDS)[0]
        == 0
    )
    assert all(
        (folder / name).stat().st_size
        for name in ("null.png", "where.png", "report.html", "columns.svg")
    )
    for wrong in ("--plot null.xyz", "--plot nowhere/null.png", "--html report.txt"):
        assert run(f"compare a.csv b.csv {wrong}")[0] == 2


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("two-sample a.csv b.csv --columns u,v --exit-code", 1),
        ("two-sample a.csv b.csv --columns u,v", 0),
        ("two-sample a.csv b.csv --columns u,v --fail-if auc>0.6", 1),
        ("two-sample a.csv c.csv --columns u,v --fail-if auc>0.95", 0),
        ("columns a.csv b.csv --columns u,v --fail-if pvalues<0.05", 1),
        ("compare a.csv b.csv --columns u,v --estimator kme --fail-if distance>0.9", 0),
        ("two-sample a.csv b.csv --fail-if auk>0.6", 2),
        ("two-sample a.csv c.csv --columns u,v --fail-if pvalue<0.001", 2),  # of 99 permutations
        ("two-sample a.csv c.csv --columns u,v --fail-if pvalue<=0.01", 0),
        ("two-sample a.csv b.csv --fail-if auc", 2),
        ("two-sample a.csv b.csv --columns u --blocks u", 2),
        ("independence a.csv --x u --y u", 2),
        ("independence a.csv --x u", 2),
        ("joint a.csv --variable u", 2),
        ("two-sample a.csv nope.csv", 2),
        ("two-sample a.csv b.csv --columns nope", 2),
        ("two-sample a.csv b.csv --estimator fkmes", 2),
        ("two-sample a.csv b.csv --set lam=1", 2),
        ("change a.csv --several --form biased", 2),
        ("equivalence a.csv b.csv", 2),
        ("closer a.csv b.csv c.csv --x u", 2),
    ],
)
def test_exit_codes(run, line, code):
    status, _, err = run(line, *(WORDS if line.split()[0] not in ("equivalence", "closer") else ()))
    assert status == code
    begins = "shrinktest: error: " if code == 2 else "shrinktest: "
    said = code == 2 or (code == 1 and "--fail-if" in line)
    assert err == "" if not said else err.startswith(begins) and err.count("\n") == 1


@pytest.mark.parametrize("line", LINES)
def test_every_test_prints_a_paragraph_and_markdown(run, folder, line):
    code, out, err = run(line, *WORDS, "--paragraph")
    assert (code, err) == (0, "") and out.count("\n") == 1
    assert ", seed 0.\n" in out and re.search("99 random|all 16", out) and "p = " in out
    code, out, err = run(line, *WORDS, "--markdown")
    assert (code, err) == (0, "") and out.endswith(f"*shrinktest {st.__version__}*\n")
    assert re.search(r"(?m)^\| (:---|---:) \|", out) and "p = " in out


@pytest.mark.parametrize(
    "line",
    [
        "closer a.csv b.csv c.csv --columns u,v",
        "equivalence a.csv b.csv --columns u,v --margin 0.3 --measure distance",
        "k-sample a.csv b.csv c.csv --columns u,v --pairwise --resamples 99",
        "check-level a.csv b.csv --columns u --trials 3 --workers 1 --resamples 19",
        "two-sample a.csv b.csv --columns u,v --effect",
    ],
)
def test_other_results_print_a_paragraph_and_markdown(run, line):
    assert "Software: shrinktest" in run(f"{line} --paragraph")[1]
    out = run(f"{line} --markdown")[1]
    assert "\n| :--- |" in out or "\n| ---: |" in out
    if "--effect" in line:
        assert "| auc |" in out and "AUC of the cross-fitted" in run(f"{line} --paragraph")[1]


def test_one_way_of_printing_at_a_time(run):
    code, _, err = run("two-sample a.csv b.csv --json --markdown")
    assert code == 2 and "--json and --markdown cannot be combined; use one" in err


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("two-sample a.csv b.csv --columns u,v --fail-if auc>0.6", r"auc = \.\d\d+ > \.6"),
        ("two-sample a.csv b.csv --columns u,v --fail-if pvalue<0.05", r"pvalue = \.01 < \.05"),
        (
            "columns a.csv b.csv --columns u,v --fail-if pvalues<0.05",
            r"pvalues = \.01 < \.05 \([uv], 2 of 2\)",
        ),
        (
            "compare a.csv b.csv --columns u,v --estimator kme --fail-if adjusted<=0.02",
            r"adjusted = \.0\d+ <= \.02 \([uv], \d of 2\)",
        ),
    ],
)
def test_a_condition_that_holds_prints_the_value(run, line, said):
    code, out, err = run(line, *WORDS, "--json")
    assert code == 1 and json.loads(out) and re.fullmatch(rf"shrinktest: {said}\n", err)


@pytest.mark.parametrize("option", ("--effect", "--fail-if=auc>.6"))
def test_a_test_and_its_effect_share_a_gram_matrix(run, monkeypatch, option):
    sizes = []
    block = Gaussian.block

    def counted(self, X, Y, *more):
        sizes.append(len(X))
        return block(self, X, Y, *more)

    monkeypatch.setattr(Gaussian, "block", counted)
    run("two-sample a.csv b.csv --columns u,v", *WORDS, option)
    assert sizes.count(32) == 1


def test_a_value_has_the_digits_that_meet_the_condition():
    def met(condition, **values):
        return Condition.read(condition).met(SimpleNamespace(**values))

    assert met("auc > .6", auc=0.63) == "auc = .63 > .6"
    assert met("auc > 0.63", auc=0.63004) == "auc = .63004 > .63"
    assert met("auc >= 0.63", auc=0.63) == "auc = .63 >= .63"
    assert met("auc > .64", auc=0.63) == ""
    assert met("n_rows > 100", n_rows=1234) == "n_rows = 1234 > 100"
    assert met("evidence > 20", evidence=3.2e12 + 0.5) == "evidence = 3200000000000 > 20"
    assert met("share < .1", share=np.array([0.2, -0.05, 0.0])) == "share = -.05 < .1 (2 of 3)"
    rows = [{"term": "arm", "share": 0.2}, {"term": "age", "share": 0.3}]
    assert met("share > .1", rows=lambda: rows) == "share = .3 > .1 (age, 2 of 2)"


def test_sorted_times(run, folder):
    (table,) = tables(folder, "a")
    table.iloc[::-1].to_csv("reversed.csv", index=False)
    _, plain, _ = run("change a.csv --time day --columns u,v --json", *WORDS)
    assert run("change reversed.csv --time day --columns u,v --json", *WORDS)[0] == 2
    assert run("change reversed.csv --time day --columns u,v --json --sort", *WORDS)[1] == plain


@pytest.mark.parametrize("line", [
    "two-sample x.csv y.csv --fail-if auc>0.6",
    "two-sample x.csv y.csv --fail-if auc<0.6",
    "compare x.csv y.csv --estimator kme --fail-if auc>0.6",
    "two-sample x.csv y.csv --fail-if pvalue<0.05",
    "k-sample x.csv y.csv x.csv --fail-if pvalue<0.001",
    "independence x.csv --x u --y v --fail-if dependence>0.9",
])  # fmt: skip
@pytest.mark.filterwarnings("ignore:.*can never reject")
def test_conditions_on_what_three_rows_cannot_tell_are_errors(run, folder, line):
    for name, seed in (("x", 0), ("y", 1)):
        rows = np.random.default_rng(seed).normal(size=(3, 2))
        pd.DataFrame(rows, columns=["u", "v"]).to_csv(folder / f"{name}.csv", index=False)
    code, out, err = run(line)
    assert (code, out) == (2, "") and "shrinktest: error: --fail-if: " in err
    assert run(line.partition(" --fail-if")[0])[0] == 0


@pytest.mark.parametrize("line", [
    "two-sample a.csv b.csv --columns u,v --fail-if pvalue<0.05",
    "compare a.csv b.csv --columns u,v --estimator kme --fail-if pvalue<0.05",
    "columns a.csv b.csv --columns u,v --fail-if pvalues<0.05",
    "matrix a.csv --x u --y v --fail-if pvalues<0.05",
])  # fmt: skip
def test_conditions_on_p_values_that_were_not_computed_are_errors(run, line):
    code, out, err = run(f"{line} --resamples 0")
    assert (code, out) == (2, "") and err.startswith("shrinktest: error: --fail-if: pvalue")
