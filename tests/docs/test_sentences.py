"""Pages written by hand: what their sentences say of measurements is made here from the data files, and must be there.

Where such a test fails, the data have changed and the sentence has to.  A sentence without numbers is there with the
condition under which it is true.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import _study
import aggregation
import front_pictures
import pandas as pd
import pytest
from eckerle4_power import printed_alike
from new_tests_levels import region

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
SHORTCUTS = pd.read_csv(DOCS / "data" / "shortcuts.csv").query("alpha == 0.05").set_index(["what", "where"])


def tables(name: str) -> dict[str, pd.DataFrame]:
    return _study.tables_of(name)


def per_cent(values: pd.Series, places: int = 0) -> str:
    low, high = (f"{100.0 * value:.{places}f}" for value in (values.min() + 1e-12, values.max() + 1e-12))
    return f"{float(low):g}% to {float(high):g}%"


def short(value: float) -> str:
    return f"{value:.2f}".removeprefix("0").replace("-0.", "-.")


def choosing() -> Iterator[tuple[str, bool]]:
    level = SHORTCUTS.loc["smallest p-value of five bandwidths", "level"].item()
    yield f"the smallest of five p-values is below 0.05 in [{100.0 * level:.0f}% of such data sets]", True


def closer() -> Iterator[tuple[str, bool]]:
    table = tables("closer_levels")[""]
    null = table[~table["cell"].str.startswith("power: ")]
    _, high = region(int(table["trials"].max()))
    both, one = (null[(null["alternative"] == "two-sided") == which]["rejected"] for which in (True, False))
    yield (
        f"The two-sided test (the default) holds its level from {null['n'].min()} rows on.",
        both.max() <= high,
    )
    yield f"it rejected true null hypotheses in at most {100.0 * both.max():.1f}% of data sets.", True
    yield "One-sided tests exceed it a little if Y and Z are small", high < one.max() < 0.1


def equivalence() -> Iterator[tuple[str, bool]]:
    table = tables("equivalence_levels")[""].fillna({"reading": ""})
    margin = table[table["what"] == "at the margin"]
    best = margin[margin["reading"] == "of the best witness function"]
    shift, turned = (best.loc[best["data"] == data, "rejected"] for data in ("uniform, moved", "normal, turned"))
    told = f"in {per_cent(shift)} after a shift, and in up to {100.0 * turned.max():.0f}% where the difference"
    yield f"[it rejects](levels.md#equivalence) {told}", True
    own = margin.loc[margin["reading"] == "of the fitted ones", "rejected"]
    of = [per_cent(margin.loc[margin["scale"] == scale, "rejected"], 1) for scale in ("distance", "dependence")]
    told = f"{of[0]} of data sets (distances) and {of[1]} (dependences), and in {per_cent(own, 1)} for separability"
    yield f"at 0.05 it rejected in {told}", True
    rare = tables("rare_levels")[""]
    said = [
        f"in 0% to {100 * of['rejected']:.0f}% {every} in at most {100 * of['rejected_unnoted']:.1f}%"
        for every, of in (
            ("of all data sets, and", _most(rare, "rows")),
            ("and", _most(rare, "pairs")),
            ("and", _most(rare, "dependence")),
        )
    ]
    told = f"{said[0]} of those without the note; of pairs {said[1]}; of two variables {said[2]}."
    yield f"[the test rejected](levels.md#equivalence-of-rare-values) {told}", rare["rejected"].min() < 0.005
    fifty = rare.query("data == 'rows' and first == .1 and second == 0 and rows == '50 and 50'")["rejected"].item()
    yield f"equivalence is shown in {100 * fifty:.0f}% of data sets where the distance is the margin", True


def _most(rare: pd.DataFrame, data: str) -> pd.Series:
    return rare.loc[rare["data"] == data, ["rejected", "rejected_unnoted"]].max()


def change() -> Iterator[tuple[str, bool]]:
    table = tables("change_levels")[""]
    points = table[(table["what"] == "series") & (table["test"] == "change point") & (table["told"] == "stretches")]
    long, noted = (points[(points["noted"] < 0.05) == which]["level"] for which in (True, False))
    said = "In series that are long relative to their autocorrelation the test nearly keeps its level."
    yield said, long.min() > 0.03 and long.max() < 0.07
    yield "In short series it rejects far too often, and the result has a note.", noted.max() > 0.2
    chosen = 100 * table[(table["what"] == "cover") & table["data"].str.endswith("auto")]["level"]
    yield f"in {chosen.min():.1f}% to {chosen.max():.1f}% of series", True


def given() -> Iterator[tuple[str, bool]]:
    from given_levels import LIMIT, null_cells

    table = tables("given_levels")[""]
    kinds = f"in {', '.join(map(str, sorted(set(table['columns']))[:-1]))} and {table['columns'].max()} columns"
    yield kinds, True
    fails = null_cells(table)[2]
    kept = fails.groupby("method")["rejected"].agg(lambda found: (found <= LIMIT).mean())
    yield "Where the regressions fail, hardly any test that was tried keeps its level.", kept.max() < 0.25


def large() -> Iterator[tuple[str, bool]]:
    pairs = tables("large_pairs")[""]
    lost = " and ".join(f"{short(row.lost)} ± {short(row.error)}" for row in pairs.itertuples())
    yield f"On [two designs](levels.md#pairs-on-disk) of 1600 pairs, blocks cost {lost} of power", len(pairs) == 2
    table = tables("large_power")[""]
    bins = table[table["permuted"] == "bins"]
    rank = bins[bins["bins"] == bins["bins"].max()].groupby("rank")["lost"].mean()
    coarse = bins[bins["bins"] == bins["bins"].min()]["lost_to_bins"].mean()
    yield (
        "[The cost in power](shortcut_costs.md#bins-and-rank) comes mostly from the rank; bins cost little.",
        (rank.max() > 2.0 * coarse),
    )
    cores = set(tables("large_demo")[""]["workers"])
    yield "[two runs](shortcut_costs.md#time-and-memory-of-rows-on-disk) on one machine with two cores", cores == {2}


def estimators() -> Iterator[tuple[str, bool]]:
    from which_estimator import as_told

    rates = tables("which_estimator")[""]
    rates = rates[(rates["test"] == "two-sample") & ~rates["null"]]
    said = "Shrinkage makes a test more powerful against changes of spread, and a little less powerful against others."
    yield said, as_told(rates)
    members = tables("aggregation")[""]
    members = members[(members["test"] == "two-sample") & ~members["null"]]
    gains = []
    for table, names in ((rates, None), (members, list(aggregation.of_members("two-sample")))):
        power = table.pivot(index=["cell", "d", "n"], columns="estimator", values="power")
        gains.append((power[names or list(power)].max(axis=1) - power["kme"]).mean())
    yield "The choice of kernel usually matters more than the choice of estimator", gains[1] > 1.5 * gains[0]


def reproduction() -> Iterator[tuple[str, bool]]:
    alike, compared, apart = printed_alike()
    told = f"in {alike} of {compared} comparable cells and differs by {apart:.3f} at most in the others"
    yield f"The printed `mkme` column equals the printed `kme` column {told}", True
    table = tables("risk_study")[""].query("kernel == 'gaussian'")
    risk = table.set_index(["estimator", "n"])["risk"].sort_index()
    yield "is worse than the plain average from 20 points on", risk["fkmse, paper"].loc[20:].min() > 1.0
    yield "tuned by deletion (`fkmse`) it is better than the average in every line", risk["fkmse"].max() < 1.0
    few = [risk[name].loc[20:] for name in ("landweber", "iterated")]
    yield (
        "Of the other filters the $\\nu$-method gains from 20 points on, Landweber and iterated Tikhonov hardly at all",
        (risk["nu"].loc[20:].max() < 1.0 and min(some.min() for some in few) > 0.98),
    )
    yield "truncated SVD loses", risk["tsvd"].min() > 1.0


def theory() -> Iterator[tuple[str, bool]]:
    table = tables("risk_study")[""].query("kernel == 'gaussian'").set_index(["estimator", "n"])["risk"].sort_index()
    said = (
        "the papers' score makes F-KMSE worse than the plain mean from $n$ of about 20 on, and the deletion score does"
    )
    yield said, table["fkmse, paper"].loc[20:].min() > 1.0 > table["fkmse"].max()


def validity() -> Iterator[tuple[str, bool]]:
    yield picture_of_levels(), True
    median = SHORTCUTS.xs("median bandwidth", level="where")["level"].max()
    yield "at the median bandwidth it is hardly visible here", median < 0.06
    counted = SHORTCUTS.loc["counting > instead of >=", "level"].item()
    yield "counting `>` instead gives far too many false positives", counted > 0.3


def picture_of_levels() -> str:
    level, _ = front_pictures.held()
    wrong = front_pictures.shortcuts()["level"]
    assert level.min() > 0.03 and level.max() < 0.07
    count = {7: "seven"}[len(wrong)]
    ends = " to ".join(f"{value:.1f}".removeprefix("0") for value in (wrong.min(), wrong.max()))
    return f"every test of shrinktest is at .05; {count} usual shortcuts are at {ends}."


def readme() -> Iterator[tuple[str, bool]]:
    yield picture_of_levels(), True
    first = all(mean.idxmax() == "auto" for mean, _ in front_pictures.powers().values())
    yield "Mean power of the tests: auto is first for two samples and for independence.", first
    others = {name.split()[0] for name in front_pictures.times()["theirs"]}
    yield "for shrinktest and four other packages", len(others) == 4


def background() -> Iterator[tuple[str, bool]]:
    from mixed_tables import region as region_of_tables
    from sequential_tests import loss

    exact = [tables(name)[""] for name in ("new_tests_levels", "kernel_levels")]
    kept = [bool(table[~table["test"].str.endswith(", relabelled freely")]["inside"].all()) for table in exact]
    low, high = region_of_tables(int(tables("mixed_tables")["level"]["trials"].max()))
    kept.append(bool(tables("mixed_tables")["level"]["level"].between(low, high).all()))
    kept.append(bool(tables("large_pairs")["levels"]["inside"].all()))
    yield "Permutation tests do, in every setting", all(kept)
    every = tables("effect_coverage")[""]
    covered = [tables(name)[""]["coverage"].min() for name in ("effect_intervals", "group_coverage")]
    yield (
        "In most settings nearly as often as they should, from 20 rows to 1000 and from no effect to large ones.",
        every["coverage"].between(0.93, 0.97).mean() > 0.5
        and every["n"].str.contains("1000").any()
        and min(covered) > 0.92,
    )
    lost = tables("sequential_tests")[""]
    yield "Stopping early costs hardly any power.", max(loss(lost, rule) for rule in set(lost["rule"])) < 0.02
    few, many = (tables("large_power")[""].query(f"rank == {rank} and bins == 2000")["lost"] for rank in (25, 400))
    yield "Few random features in many columns cost much, 400 of them little.", few.max() > 0.2 > 0.1 > many.mean()
    yield "Shrinkage yes, marginalized means no", readings()


def readings() -> bool:
    from eckerle4_power import ESTIMATORS, reproduced

    return [name.strip("`") for name in reproduced(tables("eckerle4_power")[""])] == list(ESTIMATORS)[:3]


SAID = {
    "choosing": choosing,
    "closer": closer,
    "equivalence": equivalence,
    "change": change,
    "given": given,
    "large": large,
    "estimators": estimators,
    "reproduction": reproduction,
    "theory": theory,
    "validity": validity,
    "../README": readme,
    "background": background,
}
TOLD = [(page, *said) for page, sentences in SAID.items() for said in sentences()]


def plain(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize(("page", "sentence", "holds"), TOLD, ids=[f"{page}: {said[:40]}" for page, said, _ in TOLD])
def test_sentences_say_what_the_data_files_hold(page, sentence, holds):
    assert plain(sentence) in plain((DOCS / f"{page}.md").read_text(encoding="utf-8"))
    assert holds


#: Numbers that are no measurements: levels, shares of intervals, sizes in designs that the page sets itself.
CONSTANT = re.compile(
    r"\b95 ?%|0?\.05\b|\b5 ?%|\$[^$]*\$|`[^`]*`|\]\([^)]*\)|\[[A-Z]\w*\d\d\w*\]|Eckerle4|E\d+\b|\bd = 1\b"
)


def measured(page: str) -> Iterator[str]:
    """Sentences with a number and a link to a study: outside of code, filled marks and tables of calls."""
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    text = re.sub(r"(?ms)^```.*?^```$|^<!-- (?!/)(.+?) -->$.*?^<!-- /\1 -->$|^<!--.*?-->", "", text)
    linked = re.compile(rf"\]\((?:{'|'.join(_study.PAGES)})\.md")
    for block in re.split(r"\n\s*\n|\n(?=[|*#-])", text):
        for sentence in re.split(r"(?<=[.:;]) (?=[A-Z`*\[])", plain(block)):
            if linked.search(sentence) and re.search(r"\d", CONSTANT.sub("", sentence)):
                yield sentence


BY_HAND = sorted({path.stem for path in DOCS.glob("*.md")} - {*_study.PAGES, "changelog"})


@pytest.mark.parametrize("page", BY_HAND)
def test_no_measured_number_stands_unguarded_beside_its_study(page):
    """A sentence with a number and a link to a study is made from its data above, or filled between marks."""
    guarded = [plain(said) for where, said, _ in TOLD if where == page]
    assert [one for one in measured(page) if not any(said in one or one in said for said in guarded)] == []


def test_a_measured_number_beside_its_study_is_found(tmp_path, monkeypatch):
    """Outside of code and filled marks; levels, shares of intervals and names in code do not count."""
    link = "[a study](which.md#kernels)"
    page = [f"Power was .71 in {link}.", f"See {link} for level .05 and `n=20`.", "Without a link it is .71."]
    page += [f"<!-- a -->\n\nPower was .4 in {link}.\n\n<!-- /a -->", f"```text\nPower was .5 in {link}.\n```"]
    (tmp_path / "page.md").write_text("\n\n".join(page), encoding="utf-8")
    monkeypatch.setattr("test_sentences.DOCS", tmp_path)
    assert list(measured("page")) == [page[0]]
