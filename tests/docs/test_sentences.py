"""Pages written by hand: tables, sentences and levels agree with the data files, and the named tests exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import _blocks
import _overview
import _study
import aggregation
import fill_reproduction
import front_pictures
import numpy as np
import pandas as pd
import pytest
import rows
import shortcuts
from eckerle4_power import printed_alike
from new_tests_levels import region
from scipy.stats import binom

# --- tables --------------------------------------------------------------------------------------------------------
ROOT = Path(__file__).parents[2]
RATES = pd.read_csv(ROOT / "docs" / "data" / "shortcuts.csv")
FILLED = {
    "validity": lambda: shortcuts.blocks(RATES),
    "reproduction": fill_reproduction.blocks,
    "comparison": lambda: rows.blocks(rows.read(ROOT / "docs" / "data" / "benchmarks.csv")),
    **front_pictures.PAGES,
}


@pytest.mark.parametrize("page", FILLED)
def test_tables_come_from_their_files_and_every_mark_is_filled(page):
    """If not, the script that fills the page has not run since its data changed."""
    tables = FILLED[page]()
    assert {name: _blocks.block(page, name) for name in tables} == tables
    marks = re.findall(r"(?m)^<!-- (?!/)(.+) -->$", (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8"))
    assert sorted(mark for mark in marks if "first screen" not in mark) == sorted(tables)


def test_every_published_table_has_a_row():
    """With its outcome, and with links to pages that exist."""
    files = [item.file for item in _overview.ITEMS if item.file]
    assert sorted(files) == sorted(path.stem for path in (ROOT / "examples" / "published").glob("*.csv"))
    rows = _blocks.block("reproduction", "overview").splitlines()[2:]
    assert len(rows) == len(_overview.ITEMS)
    for row, item in zip(rows, _overview.ITEMS, strict=True):
        assert item.where in row and item.link in row
        assert item.verdicts and all(sentence for _, sentence in item.verdicts)
        assert all("because " in sentence for verdict, sentence in item.verdicts if verdict == _overview.NOT)
        verdicts = [verdict for verdict, _ in item.verdicts]
        assert verdicts == [_overview.NOTHING] or re.search(r"\*(reproduces|does not|refuted by)\*", row)
        for page in re.findall(r"\((\w+)\.md", item.link):
            assert (ROOT / "docs" / f"{page}.md").exists()


def test_no_item_of_the_papers_is_left_out():
    """Tables and figures by number: 3 and 2, 4 and 2, 3 and 4."""
    named = " ".join(item.where for item in _overview.ITEMS)
    for paper, figures, tables in (("M14", 3, 2), ("S14", 4, 2), ("X20", 3, 4)):
        for kind, count in (("Fig.", figures), ("Table", tables)):
            numbers = re.findall(rf"\[{paper}\](?:, \[M13\])? {re.escape(kind)} (\d)", named)
            assert numbers == [str(number) for number in range(1, count + 1)]
    assert "Not taken up" not in (ROOT / "docs" / "reproduction.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", ["comparison", "validity", "theory"])
def test_the_tests_that_a_page_names_exist(page):
    """A file is named by its path from the root, or by its own name if it is unique."""
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    files = {path.name: path for path in (ROOT / "tests").rglob("test_*.py")}
    named = set(re.findall(r"`((?:tests/(?:\w+/)*)?test_\w+\.py)`", text))
    assert named
    assert {name for name in named if "/" in name} <= {path.relative_to(ROOT).as_posix() for path in files.values()}
    defined = {name: set(re.findall(r"(?m)^def (test_\w+)", path.read_text())) for name, path in files.items()}
    used = set().union(*(defined[Path(name).name] for name in named))
    assert set(re.findall(r"`(test_\w+)`", text)) <= used
    for file, names in re.findall(r"`(test_\w+\.py)`: ((?:`test_\w+`(?:, )?)+)", text):
        assert set(re.findall(r"`(\w+)`", names)) <= defined[file]


def test_the_theory_has_all_errata_that_the_code_cites():
    text = (ROOT / "docs" / "theory.md").read_text(encoding="utf-8")
    numbered = [int(n) for n in re.findall(r"(?m)^### E(\d+) \([HML]\)\. ", text)]
    assert numbered == list(range(1, 32))
    for path in [*ROOT.glob("shrinktest/**/*.py"), *ROOT.glob("tests/**/*.py"), *ROOT.glob("examples/*.py")]:
        cited = re.findall(r"\b(?:erratum|errata) ((?:E\d+(?:, | and )?)+)", path.read_text(encoding="utf-8"))
        assert {int(n) for group in cited for n in re.findall(r"\d+", group)} <= set(numbered)


def test_levels_are_what_the_page_says():
    """The valid test's never lies above its exact 99.9 % region; harmless shortcuts lie inside theirs."""
    for row in RATES.itertuples():
        low, high = binom(row.trials, row.alpha).interval(0.999)
        assert row.valid * row.trials <= high, row
        assert row.kind != "harmless" or low <= row.level * row.trials <= high, row


@pytest.mark.parametrize("name", ["eckerle4_power", "eckerle4_power_protocol", "mixture_power", "which_estimator"])
def test_every_published_level_is_what_the_test_can_attain(name):
    """It lies inside the exact 99.9 % region; four pairs have 24 permutations, and p-values are multiples of 1/24."""
    rates = pd.read_csv(ROOT / "docs" / "data" / f"{name}.csv")
    levels = rates[rates["null"]]
    assert len(levels) >= 72
    for row in levels.itertuples():
        attained = (
            np.floor(24 * row.alpha + 1e-9) / 24 if row.design == "EckerleSubsample()" and row.n == 4 else row.alpha
        )
        low, high = binom(row.trials, attained).interval(0.999)
        assert low <= row.power * row.trials <= high, row


EXACT = {  # what a shortcut's level is by calculation
    ("p = b/B", 0.05): 2 / 21,  # b is uniform on 0, ..., 20, and b <= 1 rejects
    ("p = b/B", 0.001): 1 / 101,  # only b = 0 does
    ("rejecting when p < alpha", 0.05): 0.0,
}


def test_levels_that_can_be_calculated():
    for (what, alpha), level in EXACT.items():
        (row,) = RATES[(RATES["what"] == what) & (RATES["alpha"] == alpha)].itertuples()
        low, high = binom(row.trials, level).interval(0.999) if level else (0, 0)
        assert low <= row.level * row.trials <= high, row


def test_a_shortcut_differs_from_the_valid_test_in_one_thing():
    """Row 0 is the observed split, p-values count it and ties, and block means agree with the Gram matrix."""
    rng = np.random.default_rng(0)
    x, y = shortcuts.two(rng, 6, 5, 2)
    gram, bandwidth = shortcuts.pooled_gram(x, y)
    masks = shortcuts.labels(rng, 6, 5, rows=30)
    assert masks.shape == (31, 11) and (masks.sum(axis=1) == 6).all()
    np.testing.assert_array_equal(masks[0], np.arange(11) < 6)
    for mask, *means in zip(masks.astype(bool), *shortcuts.means(gram, masks), strict=True):
        expected = [gram[np.ix_(a, b)].mean() for a, b in ((mask, mask), (~mask, ~mask), (mask, ~mask))]
        assert means == pytest.approx(expected, rel=1e-12)
    ours = shortcuts.two_sample_test(x, y, bandwidth=bandwidth, form="biased", n_resamples=0)
    assert shortcuts.mmd(gram, masks)[0] == pytest.approx(ours.statistic, rel=1e-10)
    assert shortcuts.p_value(np.array([1.0, 1.0, 0.5, 2.0])) == 0.75


# --- sentences -----------------------------------------------------------------------------------------------------
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
    two_sided, one_sided = (null[(null["alternative"] == "two-sided") == which]["rejected"] for which in (True, False))
    yield (
        f"The two-sided test (the default) holds its level from {null['n'].min()} rows on.",
        two_sided.max() <= high,
    )
    yield f"it rejected true null hypotheses in at most {100.0 * two_sided.max():.1f}% of data sets.", True
    yield "One-sided tests exceed it a little if Y and Z are small", high < one_sided.max() < 0.1


def equivalence() -> Iterator[tuple[str, bool]]:
    table = tables("equivalence_levels")[""].fillna({"reading": ""})
    margin = table[table["what"] == "at the margin"]
    best = margin[margin["reading"] == "of the best witness function"]
    shift, turned = (best.loc[best["data"] == data, "rejected"] for data in ("uniform, moved", "normal, turned"))
    sentence = f"in {per_cent(shift)} after a shift, and in up to {100.0 * turned.max():.0f}% where the difference"
    yield f"[it rejects](levels.md#equivalence) {sentence}", True
    own = margin.loc[margin["reading"] == "of the fitted ones", "rejected"]
    of = [per_cent(margin.loc[margin["scale"] == scale, "rejected"], 1) for scale in ("distance", "dependence")]
    sentence = f"{of[0]} of data sets (distances) and {of[1]} (dependences), and in {per_cent(own, 1)} for separability"
    yield f"at 0.05 it rejected in {sentence}", True
    rare = tables("rare_levels")[""]
    phrases = [
        f"in 0% to {100 * of['rejected']:.0f}% {every} in at most {100 * of['rejected_unnoted']:.1f}%"
        for every, of in (
            ("of all data sets, and", _most(rare, "rows")),
            ("and", _most(rare, "pairs")),
            ("and", _most(rare, "dependence")),
        )
    ]
    sentence = f"{phrases[0]} of those without the note; of pairs {phrases[1]}; of two variables {phrases[2]}."
    yield f"[the test rejected](levels.md#equivalence-of-rare-values) {sentence}", rare["rejected"].min() < 0.005
    fifty = rare.query("data == 'rows' and first == .1 and second == 0 and rows == '50 and 50'")["rejected"].item()
    yield f"equivalence is shown in {100 * fifty:.0f}% of data sets where the distance is the margin", True


def _most(rare: pd.DataFrame, data: str) -> pd.Series:
    return rare.loc[rare["data"] == data, ["rejected", "rejected_unnoted"]].max()


def change() -> Iterator[tuple[str, bool]]:
    table = tables("change_levels")[""]
    points = table[(table["what"] == "series") & (table["test"] == "change point") & (table["told"] == "stretches")]
    long, noted = (points[(points["noted"] < 0.05) == which]["level"] for which in (True, False))
    sentence = "In series that are long relative to their autocorrelation the test nearly keeps its level."
    yield sentence, long.min() > 0.03 and long.max() < 0.07
    yield "In short series it rejects far too often, and the result has a note.", noted.max() > 0.2
    chosen = 100 * table[(table["what"] == "cover") & table["data"].str.endswith("auto")]["level"]
    yield f"in {chosen.min():.1f}% to {chosen.max():.1f}% of series", True


def given() -> Iterator[tuple[str, bool]]:
    from given_levels import LIMIT, null_cells

    table = tables("given_levels")[""]
    kinds = f"in {', '.join(map(str, sorted(set(table['columns']))[:-1]))} and {table['columns'].max()} columns"
    yield kinds, True
    fails = null_cells(table)[2]
    held = fails.groupby("method")["rejected"].agg(lambda rates: (rates <= LIMIT).mean())
    yield "Where the regressions fail, hardly any test that was tried keeps its level.", held.max() < 0.25


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
    from which_estimator import advice_holds

    rates = tables("which_estimator")[""]
    rates = rates[(rates["test"] == "two-sample") & ~rates["null"]]
    text = "Shrinkage makes a test more powerful against changes of spread, and a little less powerful against others."
    yield text, advice_holds(rates)
    members = tables("aggregation")[""]
    members = members[(members["test"] == "two-sample") & ~members["null"]]
    gains = []
    for table, names in ((rates, None), (members, list(aggregation.member_tests("two-sample")))):
        power = table.pivot(index=["cell", "d", "n"], columns="estimator", values="power")
        gains.append((power[names or list(power)].max(axis=1) - power["kme"]).mean())
    yield "The choice of kernel usually matters more than the choice of estimator", gains[1] > 1.5 * gains[0]


def reproduction() -> Iterator[tuple[str, bool]]:
    alike, compared, apart = printed_alike()
    sentence = f"in {alike} of {compared} comparable cells and differs by {apart:.3f} at most in the others"
    yield f"The printed `mkme` column equals the printed `kme` column {sentence}", True
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
    sentence = (
        "the papers' score makes F-KMSE worse than the plain mean from $n$ of about 20 on, and the deletion score does"
    )
    yield sentence, table["fkmse, paper"].loc[20:].min() > 1.0 > table["fkmse"].max()


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
    valid = [bool(table[~table["test"].str.endswith(", relabelled freely")]["inside"].all()) for table in exact]
    low, high = region_of_tables(int(tables("mixed_tables")["level"]["trials"].max()))
    valid.append(bool(tables("mixed_tables")["level"]["level"].between(low, high).all()))
    valid.append(bool(tables("large_pairs")["levels"]["inside"].all()))
    yield "Permutation tests do, in every setting", all(valid)
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


def plain(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("page", SAID)
def test_sentences_say_what_the_data_files_hold(page):
    text = plain((DOCS / f"{page}.md").read_text(encoding="utf-8"))
    for sentence, holds in SAID[page]():
        assert plain(sentence) in text
        assert holds, sentence


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


def test_no_measured_number_stands_unguarded_beside_its_study():
    """A sentence with a number and a link to a study is made from its data above, or filled between marks."""
    for page in BY_HAND:
        guarded = [plain(sentence) for sentence, _ in SAID.get(page, tuple)()]
        unguarded = [text for text in measured(page) if not any(known in text or text in known for known in guarded)]
        assert unguarded == [], page
