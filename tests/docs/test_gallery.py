"""The gallery: what its stories say is so in their data, its pictures can be read small, its notebooks run."""

from __future__ import annotations

import inspect
import json
import re
import runpy
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy import stats

from shrinktest import power_study
from shrinktest.power.designs import MeanShift

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted(path.name for path in (ROOT / "examples").glob("plot_*.py"))
THUMBNAIL = (400, 280)  # pixels, as sphinx-gallery makes it


def of(study, name, table="table", rate="power"):
    """The rates of one test of a power study, by size."""
    rates = getattr(study, table)
    return rates.loc[rates["estimator"] == name].set_index("n")[rate]


def gap(one, other):
    """A difference of means in standard deviations."""
    return abs(one.mean() - other.mean()) / np.sqrt((one.var() + other.var()) / 2)


#: What each story says, its title first, and whether that is so, from the names that the script leaves behind.
SAID = {
    "plot_01_two_tables.py": {
        "Clinton's and Dole's voters differ in four of six columns": lambda s: (
            s["result"].table["reject"].sum() == 4 and len(s["result"].table) == 6
        ),
        "Dole's voters stand to the right, and earn more": lambda s: (
            s["dole"][["left to right", "income"]].mean() > s["clinton"][["left to right", "income"]].mean()
        ).all(),
        "no difference was found": lambda s: not s["result"].table.set_index("column")["reject"]["age"],
    },
    "plot_02_where.py": {
        "Pale and dark wines agree on average, and differ on both sides of it": lambda s: (
            stats.ttest_ind(s["pale"], s["dark"]).pvalue[0] > 0.5
            and s["result"].pvalue < 0.01
            and (np.sign(s["result"].witness([[0.5], [2.1], [4.0]])) == [-1, 1, -1]).all()
        ),
        "Among the dark wines many have few flavanoids and many have a lot": lambda s: (
            (s["dark"] < 1).to_numpy().mean() > 0.25 and (s["dark"] > 3).to_numpy().mean() > 0.25
        ),
    },
    "plot_03_pairs.py": {
        "Fertility fell in most countries, and only pairs show it": lambda s: (
            s["fell"] > 0.6 and s["as_rows"].pvalue > 0.1 and s["as_pairs"].pvalue < 0.01
        ),
        "by far more than five years change them": lambda s: (
            s["before"].std() > 4 * (s["after"] - s["before"]).std() and list(s["rates"]) == ["2000", "2005"]
        ),
    },
    "plot_04_three_groups.py": {
        "Parties differ in what voters think, less in who they are": lambda s: all(
            s["effects"]["what they think"].pairs[pair].auc > s["effects"]["who they are"].pairs[pair].auc
            for pair in s["pairs"]
        ),
        "The small p-values": lambda s: s["result"].pvalue < 0.01,
        "pairs whose intervals overlap": lambda s: (
            len(s["pairs"]) == 3
            and s["effects"]["who they are"].pairs[s["pairs"][0]].auc_interval[1]
            > s["effects"]["who they are"].pairs[s["pairs"][2]].auc_interval[0]
        ),
    },
    "plot_05_how_large.py": {
        "Evidence grows with the rows, the effect does not": lambda s: (
            (np.diff([effect.z for effect in s["effects"]]) > 0).all()
            and all(low < s["effects"][-1].auc < high for low, high in (effect.auc_interval for effect in s["effects"]))
        ),
        "it stays, and is known better": lambda s: (
            np.diff([np.ptp(effect.auc_interval) for effect in s["effects"]]) < 0
        ).all(),
    },
    "plot_06_practically_the_same.py": {
        "A difference can be certain, and too small to matter": lambda s: (
            s["results"]["her work"].pvalue < 0.01 and s["equivalences"]["her work"].equivalent
        ),
        "With thousands of rows": lambda s: len(s["women"]) > 2000,
        "with a confidence of 95%": lambda s: "confidence 0.95" in s["equivalences"]["her work"].summary(),
        "the large p-value of his work": lambda s: s["results"]["his work"].pvalue > 0.1,
        "its dot is": lambda s: (
            s["equivalences"]["his work"].equivalent and not s["equivalences"]["marriage"].equivalent
        ),
    },
    "plot_07_dependence.py": {
        "A filter's light depends on wavelength, and no correlation sees it": lambda s: (
            s["result"].pvalue < 0.01 and min(s["pearson"].pvalue, s["spearman"].pvalue) > 0.5
        ),
        "on either side the points say nothing": lambda s: (
            s["transmittance"][abs(s["wavelength"] - 452) > 20].max() < 0.03 * s["transmittance"].max()
        ),
    },
    "plot_08_given.py": {
        "Blood sugar goes with diabetes getting worse, until three others are given": lambda s: (
            s["alone"].pvalue < 0.01 and s["given"].pvalue > 0.3 and s["others"].shape[1] == 3
        ),
        "Both go with weight, blood pressure and fat in the blood": lambda s: (
            (s["patients"][["s6", "target", *s["others"]]].corr().loc[["s6", "target"], list(s["others"])] > 0.3)
            .all()
            .all()
        ),
        "the other one is nearly level": lambda s: (
            abs(np.corrcoef(*(x.to_numpy()[:, 0] for x in s["left_over"]))[0, 1]) < 0.05
        ),
    },
    "plot_09_change.py": {
        "American growth became steadier in the middle of the eighties": lambda s: (
            s["result"].pvalue < 0.05 and 1983 < s["result"].when < 1987 and s["after"].std() < 0.7 * s["before"].std()
        ),
        "It was not so much the average that changed as the spread": lambda s: (
            stats.ttest_ind(s["before"], s["after"]).pvalue > 0.05
            and stats.levene(s["before"], s["after"]).pvalue < 0.001
        ),
        "Successive quarters are alike": lambda s: np.corrcoef(s["growth"][1:], s["growth"][:-1])[0, 1] > 0.2,
    },
    "plot_10_sample_size.py": {
        "A promising pilot asks for too few observations": lambda s: (
            s["truth"].table.set_index("n")["high"][s["answer"].n] < 0.6
        ),
        "This pilot saw a larger difference than there is": lambda s: (
            gap(*s["pilot"]) > gap(s["benign"], s["malignant"])
        ),
    },
    "plot_11_any_test.py": {
        "Voters agree on average about Dole, which leaves a t test blind": lambda s: (
            abs(s["of_clinton"].mean() - s["of_dole"].mean()) < 0.1
            and of(s["study"], "t test").max() < 0.2
            and of(s["study"], "kernel")[200] > 0.9
        ),
        "Clinton's agree less among themselves": lambda s: s["of_clinton"].std() > 1.4 * s["of_dole"].std(),
        "Ansari's test raises far too many": lambda s: of(s["study"], "Ansari", "size_table", "low")[200] > 0.1,
    },
    "plot_12_larger_than_memory.py": {
        "One column of seven changed in two rows of a hundred": lambda s: (
            s["result"].table.set_index("column")["reject"].loc["rating"]
            and s["result"].table["reject"].sum() == 1
            and len(s["result"].table) == 7
            and s["changed"] == 0.02
        ),
        "two of a hundred women rate their marriage one step lower": lambda s: s["changed"] == 0.02,
        "in two thousand bins": lambda s: any(note.startswith("1000 + 1000 bins") for note in s["result"].notes),
    },
    "plot_13_own_estimator.py": {
        "Three lines make an estimator that sees spread sooner": lambda s: (
            len(inspect.getsource(s["central"]).splitlines()) == 3
            and (of(s["study"], "central") > of(s["study"], "average")).all()
        ),
        "against a shift it loses": lambda s: loses_against_a_shift(s["central"]),
    },
    "plot_14_own_kernel.py": {
        "The Pacific became warmer, and the shape of its year stayed": lambda s: (
            s["whole"].pvalue < 0.05 and s["shape"].pvalue > 0.1
        ),
        "one is above the other": lambda s: (s["after"].mean(axis=0) > s["before"].mean(axis=0)).all(),
    },
    "plot_15_risk.py": {
        "Shrinkage improves an estimate a little, and too much of it costs a lot": lambda s: (
            0 < s["path"].table["improvement"].max() < 5 and s["path"].table["improvement"].min() < -100
        ),
    },
    "plot_16_density.py": {
        "Three Gaussians describe the petals of three kinds of iris": lambda s: (
            s["scores"][1] < s["scores"][2] < s["scores"][3]
        ),
    },
}


def loses_against_a_shift(estimator):
    study = power_study(
        MeanShift(dimension=20, shift=1.0),
        {"kme": "kme", "own": estimator},
        30,
        n_trials=100,
        n_resamples=99,
        with_null=False,
        workers=1,
        progress=False,
    )
    return of(study, "own")[30] < of(study, "kme")[30]


def prose(script):
    """Title, and paragraphs of text, without their line breaks."""
    text = (ROOT / "examples" / script).read_text(encoding="utf-8")
    opening, body = re.fullmatch(r'"""\n(.+?)\n"""\n(.*)', text, re.DOTALL).groups()
    title, line, empty, *words = opening.split("\n")
    assert set(line) == {"="} and len(line) == len(title) and empty == ""
    blocks = [" ".join(words)]
    for block in re.findall(r"(?m)^# %%\n((?:#.*\n?)+)", body):
        blocks.append(" ".join(line.lstrip("# ") for line in block.splitlines()))
    return title, blocks


def test_every_story_is_told_once_and_in_order():
    header = (ROOT / "examples" / "GALLERY_HEADER.rst").read_text(encoding="utf-8")
    assert list(SAID) == SCRIPTS
    assert [f"{name}.py" for name in re.findall(r"<(plot_\w+)>", header)] == SCRIPTS


@pytest.mark.parametrize("script", SCRIPTS)
def test_stories_read_as_pages(script):
    text = (ROOT / "examples" / script).read_text(encoding="utf-8")
    title, blocks = prose(script)
    opening, last = blocks[0], blocks[-1]
    assert 1 <= len(re.findall(r"[.?:](?= |$)", opening)) <= 4
    assert text.count("plt.show()") == 1
    assert last.startswith("**How to read it.** ") and "wrong to " in last and "**Next:** :doc:`" in last
    for page in re.findall(r"<(/?\w+)>`", " ".join(blocks)):
        if page.startswith("/"):
            assert list((ROOT / "docs").glob(f"{page[1:]}.*")), f"no page {page}"
        else:
            assert page == "shrinktest" or f"{page}.py" in SCRIPTS, f"no story {page}"
    said = " ".join([title, *blocks])
    for words in SAID[script]:
        assert words in said, "no longer said; leave it out of SAID, or say it"
    assert next(iter(SAID[script])) == title
    rest = re.sub(r"``.+?``|<.+?>`", "", said)
    for words in SAID[script]:
        rest = rest.replace(words, "")
    numbers = [number for number in re.findall(r"\b\d[\d.,]*\b", rest) if not re.fullmatch(r"(19|20)\d\d", number)]
    assert numbers == [], "print them, or put the words into SAID"


@pytest.mark.parametrize("script", SCRIPTS)
def test_what_stories_say_is_so_and_pictures_can_be_read_small(script, monkeypatch):
    with matplotlib.rc_context():
        plt.close("all")
        monkeypatch.setattr(plt, "show", lambda: None)
        names = runpy.run_path(str(ROOT / "examples" / script))
        (number,) = plt.get_fignums()
        figure = plt.figure(number)
        figure.draw_without_rendering()
        width, height = figure.get_size_inches()
        assert width / height == pytest.approx(THUMBNAIL[0] / THUMBNAIL[1], rel=0.01)
        for ax in figure.axes:
            assert ax.get_title() or (ax.get_xlabel() and (ax.get_ylabel() or len(ax.get_yticklabels())))
        shown = [
            text for text in figure.findobj(matplotlib.text.Text) if text.get_visible() and text.get_text().strip()
        ]
        letters = min(text.get_fontsize() for text in shown) / 72 * THUMBNAIL[0] / width
        assert letters >= 8.5, f"letters are {letters:.1f} pixels high in the thumbnail"
        plt.close("all")
    assert [words for words, holds in SAID[script].items() if not holds(names)] == []


def test_words_that_are_not_so_are_found():
    holds = SAID["plot_03_pairs.py"]["Fertility fell in most countries, and only pairs show it"]

    class Result:
        def __init__(self, pvalue):
            self.pvalue = pvalue

    assert holds({"fell": 0.8, "as_rows": Result(0.4), "as_pairs": Result(0.001)})
    assert not holds({"fell": 0.8, "as_rows": Result(0.04), "as_pairs": Result(0.001)})


@pytest.mark.parametrize("script", SCRIPTS)
def test_notebooks_run_from_top_to_bottom(script, tmp_path, monkeypatch):
    notebook = pytest.importorskip("sphinx_gallery.notebook")
    copy = tmp_path / script
    copy.write_bytes((ROOT / "examples" / script).read_bytes())
    notebook.python_to_jupyter_cli([str(copy)])
    cells = json.loads(copy.with_suffix(".ipynb").read_text(encoding="utf-8"))["cells"]
    assert {cell["cell_type"] for cell in cells} == {"markdown", "code"}
    assert cells[0]["cell_type"] == "markdown" and prose(script)[0] in "".join(cells[0]["source"])
    monkeypatch.chdir(tmp_path)
    with matplotlib.rc_context():
        monkeypatch.setattr(plt, "show", lambda: None)
        names = {"__name__": "__main__"}
        for number, cell in enumerate(cells):
            if cell["cell_type"] == "code":
                exec(compile("".join(cell["source"]), f"<cell {number} of {script}>", "exec"), names)
        assert plt.get_fignums()
        plt.close("all")
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"{copy.stem}.ipynb", script], "leaves files behind"
