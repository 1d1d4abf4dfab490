"""The gallery: its scripts run, what they claim is so in their data, their pictures can be read small."""

from __future__ import annotations

import inspect
import json
import runpy
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy import stats

pytestmark = pytest.mark.ci

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "gallery"
SCRIPTS = sorted(path.relative_to(EXAMPLES).as_posix() for path in EXAMPLES.glob("*/plot_*.py"))
THUMBNAIL = (400, 280)  # pixels, as sphinx-gallery makes it


def power_of(study, name, table="table", rate="power"):
    """The rates of one test of a power study, by size."""
    rates = getattr(study, table)
    return rates.loc[rates["estimator"] == name].set_index("n")[rate]


def standardized_gap(first, second):
    """A difference of means in standard deviations."""
    return abs(first.mean() - second.mean()) / np.sqrt((first.var() + second.var()) / 2)


def dune(name):
    """The data of the dune meadows that the tests have, without names of sites."""
    table = pd.read_csv(ROOT / "tests" / "data" / f"{name}.csv", index_col=0)
    return table.reset_index(drop=True)


#: What each script claims, and whether it is so, from the names that the script leaves behind.
CLAIMS = {
    "clinical/plot_clinical_trial": lambda s: (
        s["result"].pvalue < 0.05 and s["plan"].n <= len(s["drug"])
    ),
    "clinical/plot_given_others": lambda s: s["alone"].pvalue < 0.01 and s["given"].pvalue > 0.3,
    "clinical/plot_pilot": lambda s: (
        s["truth"].table.set_index("n")["high"][s["answer"].n] < 0.6
        and standardized_gap(*s["pilot"]) > standardized_gap(s["benign"], s["malignant"])
    ),
    "clinical/plot_repeated_measures": lambda s: (
        s["as_rows"].pvalue < 0.05 < s["as_wards"].pvalue
        and s["false_positives"] > 0.3
        and s["paired"].pvalue < 0.05 < s["unpaired"].pvalue
    ),
    "clinical/plot_visits": lambda s: (
        s["result"]["treatment:visit"].pvalue < 0.05 < s["result"]["treatment"].pvalue
        and s["columns"].table.set_index("column")["reject"].to_dict()
        == {"pain": True, "mood": False, "sleep": False}
        and s["false_positives"] > 0.1
    ),
    "ecology/plot_communities": lambda s: (
        s["changed"] == "Harpalus, Pterostichus" and s["together"].pvalue < 0.05
    ),
    "ecology/plot_dune": lambda s: (
        np.array_equal(s["species"], dune("dune"))
        and s["environment"].equals(dune("dune_environment")[["Management", "A1"]])
        and s["published"].table["statistic"].round(4).tolist() == [3.2629, 2.9387, 1.309]
        and s["result"].reject().tolist() == [True, False, False]
    ),
    "ecology/plot_own_kernel": lambda s: s["whole"].pvalue < 0.05 and s["shape"].pvalue > 0.1,
    "ecology/plot_pairs": lambda s: (
        s["fell"] > 0.6 and s["as_rows"].pvalue > 0.1 and s["as_pairs"].pvalue < 0.01
    ),
    "ecology/plot_traits": lambda s: (
        s["table"]["reject"].sum() == 2 and s["correlations"].loc["altitude", "activity"] < 0.2
    ),
    "laboratory/plot_calibration": lambda s: (
        s["results"]["too narrow"].reject() and not s["results"]["right"].reject()
    ),
    "laboratory/plot_confidence_set": lambda s: s["agrees"].min() < 2.0 < s["agrees"].max(),
    "laboratory/plot_own_estimator": lambda s: (
        len(inspect.getsource(s["central"]).splitlines()) == 3
        and (power_of(s["study"], "central") > power_of(s["study"], "average")).all()
    ),
    "laboratory/plot_posterior_ranks": lambda s: (
        s["results"]["too sure"].reject().all() and not s["results"]["right"].reject().any()
    ),
    "laboratory/plot_simulator": lambda s: (
        max(result.pvalue for result in s["results"].values()) < 0.05
        and s["columns"]["heavy_tail"].reject().tolist() == [False, True]
        and not s["columns"]["together"].reject().any()
    ),
    "laboratory/plot_where": lambda s: (
        stats.ttest_ind(s["pale"], s["dark"]).pvalue[0] > 0.5
        and s["result"].pvalue < 0.01
        and (np.sign(s["result"].witness([[0.5], [2.1], [4.0]])) == [-1, 1, -1]).all()
    ),
    "laboratory/plot_without_correlation": lambda s: (
        s["result"].pvalue < 0.01 and min(s["pearson"].pvalue, s["spearman"].pvalue) > 0.5
    ),
    "machine_learning/plot_closer_model": lambda s: s["result"].best == ("relation",),
    "machine_learning/plot_drift_in_ci": lambda s: (
        s["exit_code"] == 1
        and s["table"].index[s["table"]["failed"]].tolist() == [("Wednesday", "delivery hours")]
        and s["table"]["reject"]["Tuesday"]["delivery hours"]
    ),
    "machine_learning/plot_embeddings": lambda s: s["result"].pvalue < 0.05 and s["share"] > 0.8,
    "machine_learning/plot_larger_than_memory": lambda s: (
        s["result"].table.set_index("column")["reject"].loc[["rating"]].all()
        and s["result"].table["reject"].sum() == 1
        and len(s["result"].table) == 7
        and s["changed"] == 0.02
    ),
    "machine_learning/plot_monitor_embeddings": lambda s: (
        s["result"].alarm
        and s["result"].alarm_row > 14 * 60
        and s["result"].history[13]["evidence"] < s["result"].threshold
    ),
    "machine_learning/plot_strings_and_graphs": lambda s: (
        max(s["of_strings"].pvalue, s["of_graphs"].pvalue) < 0.05
    ),
    "products/plot_ab_test": lambda s: (
        stats.ttest_ind(s["a"]["revenue"], s["b"]["revenue"], equal_var=False).pvalue > 0.1
        and s["result"].pvalue < 0.05
        and s["result"].table.set_index("column")["reject"][["bought", "revenue"]].all()
    ),
    "products/plot_how_large": lambda s: (
        (np.diff([effect.z for effect in s["effects"]]) > 0).all()
        and all(
            low < s["effects"][-1].auc < high
            for low, high in (effect.auc_interval for effect in s["effects"])
        )
        and (np.diff([np.ptp(effect.auc_interval) for effect in s["effects"]]) < 0).all()
    ),
    "products/plot_monitor_orders": lambda s: (
        {*s["result"].columns} == {"coupon (missing)", "country"}
        and s["result"].alarm_row > 1000
        and abs(s["result"].change_row - 1000) < 50
    ),
    "products/plot_practically_the_same": lambda s: (
        s["results"]["her work"].pvalue < 0.01
        and s["equivalences"]["her work"].equivalent
        and s["results"]["his work"].pvalue > 0.1
        and not s["equivalences"]["marriage"].equivalent
    ),
    "products/plot_three_groups": lambda s: (
        s["result"].pvalue < 0.01
        and all(
            s["effects"]["what they think"].pairs[pair].auc
            > s["effects"]["who they are"].pairs[pair].auc
            for pair in s["pairs"]
        )
    ),
    "products/plot_two_tables": lambda s: (
        s["result"].table["reject"].sum() == 4
        and len(s["result"].table) == 6
        and (
            s["dole"][["ideology", "income"]].mean() > s["clinton"][["ideology", "income"]].mean()
        ).all()
    ),
    "products/plot_which_test": lambda s: (
        power_of(s["study"], "t test").max() < 0.2
        and power_of(s["study"], "kernel")[100] > 0.6
        and power_of(s["study"], "Ansari", "size_table", "low")[100] > 0.05
    ),
    "sensors/plot_lags": lambda s: (
        s["table"].set_index("lag")["pvalue"].idxmin() == 6 and s["table"]["reject"][6]
    ),
    "sensors/plot_maintenance": lambda s: (
        s["tests"]["nothing changed"][0].pvalue < 0.05 < s["tests"]["nothing changed"][1].pvalue
        and s["tests"]["vibration became steadier"][1].pvalue < 0.05
    ),
    "sensors/plot_monitor_pump": lambda s: (
        s["result"].columns == ("roughness",) and 600 < s["result"].alarm_row < 630
    ),
    "sensors/plot_several_changes": lambda s: (
        len(s["result"].when) == 2 and abs(s["result"].locations - [80, 160]).max() < 12
    ),
    "sensors/plot_when": lambda s: (
        s["result"].pvalue < 0.05
        and 1983 < s["result"].when < 1987
        and s["after"].std() < 0.7 * s["before"].std()
    ),
}


def test_every_script_has_its_claim():
    assert [f"{name}.py" for name in CLAIMS] == SCRIPTS


@pytest.mark.parametrize("script", SCRIPTS)
def test_what_scripts_claim_is_so_and_pictures_can_be_read_small(script, monkeypatch):
    with matplotlib.rc_context():
        plt.close("all")
        monkeypatch.setattr(plt, "show", lambda: None)
        names = runpy.run_path(str(EXAMPLES / script))
        (number,) = plt.get_fignums()
        figure = plt.figure(number)
        figure.draw_without_rendering()
        width, height = figure.get_size_inches()
        assert width / height == pytest.approx(THUMBNAIL[0] / THUMBNAIL[1], rel=0.01)
        for ax in figure.axes:
            assert ax.get_title() or (
                ax.get_xlabel() and (ax.get_ylabel() or len(ax.get_yticklabels()))
            )
        texts = [
            text
            for text in figure.findobj(matplotlib.text.Text)
            if text.get_visible() and text.get_text().strip()
        ]
        letters = min(text.get_fontsize() for text in texts) / 72 * THUMBNAIL[0] / width
        assert letters >= 8.5, f"letters are {letters:.1f} pixels high in the thumbnail"
        plt.close("all")
    assert CLAIMS[script.removesuffix(".py")](names)


@pytest.mark.parametrize("script", SCRIPTS[::7])
def test_notebooks_run_from_top_to_bottom(script, tmp_path, monkeypatch):
    notebook = pytest.importorskip("sphinx_gallery.notebook")
    copy = tmp_path / Path(script).name
    copy.write_bytes((EXAMPLES / script).read_bytes())
    notebook.python_to_jupyter_cli([str(copy)])
    cells = json.loads(copy.with_suffix(".ipynb").read_text(encoding="utf-8"))["cells"]
    assert cells[0]["cell_type"] == "markdown"
    monkeypatch.chdir(tmp_path)
    with matplotlib.rc_context():
        monkeypatch.setattr(plt, "show", lambda: None)
        names = {"__name__": "__main__"}
        for number, cell in enumerate(cells):
            if cell["cell_type"] == "code":
                exec(
                    compile("".join(cell["source"]), f"<cell {number} of {script}>", "exec"), names
                )
        plt.close("all")
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"{copy.stem}.ipynb", copy.name], (
        "leaves files behind"
    )
