"""Kernels, bandwidths, units and combinations by name, in every command: what is typed gives what the library gives."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from shrinktest import (
    Depth,
    Gaussian,
    Whitened,
    independence_matrix,
    independence_test,
    joint_independence_test,
    k_sample_test,
    two_sample_test,
    two_sample_test_columns,
)
from shrinktest.cli import main
from typed import typed

FAST = ["--seed", "0", "--resamples", "39", "--workers", "1"]
GIVEN = {"rng": 0, "n_resamples": 39, "workers": 1}


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run the command line in a folder with samples a.csv, b.csv, c.csv of columns u, v."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for i, name in enumerate("abc"):
        np.savetxt(f"{name}.csv", rng.normal(0.5 * i, 1.0, size=(9 + i, 2)), delimiter=",", header="u,v", comments="")

    def run(*argv):
        code = main([*argv, *FAST])
        return code, *capsys.readouterr()

    return run


def table(name):
    return pd.read_csv(f"{name}.csv")


#: A command, and a function that makes the same test of the kernel, the bandwidth and the rest.
COMMANDS = {
    "two-sample a.csv b.csv": lambda k, b, **o: two_sample_test(table("a"), table("b"), kernel=k, bandwidth=b, **o),
    "k-sample a.csv b.csv c.csv": lambda k, b, **o: k_sample_test(*map(table, "abc"), kernel=k, bandwidth=b, **o),
    "joint a.csv": lambda k, b, **o: joint_independence_test(
        table("a")[["u"]], table("a")[["v"]], kernels=k, bandwidths=b, **o
    ),
    "columns a.csv b.csv": lambda k, b, **o: two_sample_test_columns(
        table("a"), table("b"), kernel=k, bandwidth=b, **o
    ),
    "matrix a.csv": lambda k, b, **o: independence_matrix(table("a"), kernel_x=k, bandwidth_x=b, **o),
}
OPTIONS = {
    "--kernel depth": {"k": "depth"},
    "--kernel energy": {"k": "energy"},
    "--kernel depth --bandwidth neighbours": {"k": Depth(Gaussian("neighbours"))},
    "--bandwidth neighbours": {"b": "neighbours"},
    "--bandwidth 0.5*neighbours": {"b": "0.5 * neighbours"},
    "--bandwidth Neighbours/2": {"b": "0.5 * neighbours"},
    "--scale deviation": {"scale": "deviation"},
    "--scale deviation --kernel energy": {"scale": "deviation", "k": "energy"},
    "--estimator auto": {"estimator": "auto"},
    "--estimator kme,fkmse": {"estimator": ["kme", "fkmse"]},
}


def answers(read):
    """The p-values in what --json prints."""
    return [row["pvalue"] for row in read["tests"]] if "tests" in read else [read["pvalue"], read["statistic"]]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.filterwarnings("ignore:The smallest")
def test_what_is_typed_is_the_library(run, command, options):
    code, out, _ = run(*command.split(), *options.split(), "--json")
    expected = COMMANDS[command](**{"k": "gaussian", "b": "median", **OPTIONS[options], **GIVEN})
    assert code == 0 and answers(json.loads(out)) == answers(json.loads(expected.to_json()))
    code, out, _ = run(*command.split(), *options.split())
    assert code == 0 and len(out) > 100


@pytest.mark.parametrize("options", ["--kernel-x depth --kernel-y energy", "--bandwidth-x neighbours --estimator kme"])
def test_pairs(run, options):
    code, out, _ = run("independence", "a.csv", "--x", "u", "--y", "v", *options.split(), "--json")
    a = table("a")
    given = {"kernel_x": "depth", "kernel_y": "energy"} if "depth" in options else {"bandwidth_x": "neighbours"}
    assert code == 0 and json.loads(out)["pvalue"] == independence_test(a["u"], a["v"], **given, **GIVEN).pvalue
    code, out, _ = run("independence", "a.csv", "--x", "u", "--y", "v", "--estimator", "auto", "--json")
    assert (
        code == 0 and json.loads(out)["pvalue"] == independence_test(a["u"], a["v"], estimator="auto", **GIVEN).pvalue
    )


def test_several_samples_take_candidates(run):
    samples = [table(name) for name in "abc"]
    many = ["--bandwidth", "1", "--bandwidth", "neighbours", "--kernel", "gaussian,energy"]
    code, out, _ = run("k-sample", "a.csv", "b.csv", "c.csv", *many, "--json")
    expected = k_sample_test(
        *samples, kernel=["gaussian", "energy"], bandwidth=[np.asarray(1.0), "neighbours"], **GIVEN
    )
    expected = typed(expected, "a.csv", "b.csv", "c.csv")
    assert code == 0 and json.loads(out) == json.loads(expected.to_json()) and len(expected.members) == 3
    code, out, _ = run("k-sample", "a.csv", "b.csv", "c.csv", "--bandwidth", "grid", "--json")
    assert code == 0 and json.loads(out)["pvalue"] == k_sample_test(*samples, bandwidth="grid", **GIVEN).pvalue


@pytest.mark.parametrize("kernel", ["whitened", "second-order", "depth", "gaussian,whitened"])
def test_kernels_of_kernels_take_several_bandwidths(run, kernel):
    a, b = map(table, "ab")
    named = kernel.split(",") if "," in kernel else kernel
    code, out, _ = run(
        "two-sample", "a.csv", "b.csv", "--kernel", kernel, *["--bandwidth", "1", "--bandwidth", "2"], "--json"
    )
    widths = [np.asarray(1.0), np.asarray(2.0)]
    expected = two_sample_test(a, b, kernel=named, bandwidth=widths, **GIVEN)
    assert code == 0 and json.loads(out)["pvalue"] == expected.pvalue
    assert len(expected.members) == 2 * len(kernel.split(","))
    code, out, _ = run("two-sample", "a.csv", "b.csv", "--kernel", kernel, "--bandwidth", "grid", "--json")
    assert code == 0 and len(json.loads(out)["members"]) == 5 * len(kernel.split(","))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--bandwidth neighbour", "must be median, neighbours, such as 0.5*median, grid, a number"),
        ("--bandwidth neighbours*0", "the factor in --bandwidth neighbours*0 must be a finite number > 0"),
        ("--kernel energy --bandwidth neighbours", "has no effect on"),
        ("--kernel dept", "Did you mean 'depth'"),
        ("--scale deviations", "Did you mean 'deviation'"),
        ("--estimator auto --kernel depth", "brings kernels and bandwidths of its own"),
    ],
)
def test_mistakes(run, options, said):
    code, out, err = run("two-sample", "a.csv", "b.csv", *options.split())
    assert (code, out) == (2, "") and said in err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--kernel gaussian:bandwidth=2 --bandwidth 3", "--bandwidth 3.0 has no effect on --kernel Gaussian("),
        ("--kernel gaussian --set bandwidth=2 --bandwidth 3", "--bandwidth 3.0 has no effect on --kernel Gaussian("),
        ("--kernel whitened:lam=0.1 --bandwidth grid", "--bandwidth of a kernel with settings (whitened:lam=0.1) is"),
        ("--kernel whitened:lam=0.1 --bandwidth 3 --bandwidth 4", "--bandwidth of a kernel with settings (whitened:"),
        ("--kernel whitened --set lam=0.1 --bandwidth u=1", "--bandwidth of a kernel with settings (whitened) is one"),
    ],
)
def test_a_bandwidth_beside_a_kernel_with_settings(run, options, said):
    code, out, err = run("two-sample", "a.csv", "b.csv", *options.split())
    assert (code, out) == (2, "") and said in err


def test_settings_and_a_bandwidth_make_one_kernel(run):
    expected = two_sample_test(table("a"), table("b"), kernel=Whitened(Gaussian(2.0), lam=0.3), **GIVEN).pvalue
    for options in ("whitened:lam=0.3 --bandwidth 2", "whitened --set lam=0.3 --bandwidth 2"):
        code, out, _ = run("two-sample", "a.csv", "b.csv", "--kernel", *options.split(), "--json")
        assert code == 0 and json.loads(out)["pvalue"] == expected


@pytest.mark.parametrize("command", ["two-sample", "k-sample", "joint", "columns", "matrix", "power"])
def test_help_names_them(run, command):
    with_help = " ".join(run(command, "--help")[1].split())
    assert "depth or energy" in with_help
    assert command == "power" or "neighbours (to the nearest tenth)" in with_help
