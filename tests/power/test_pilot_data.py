"""Designs of users: pilot data, functions, classes; and null twins that permute."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pytest

from shrinktest import FromData, power_study, solve_sample_size
from shrinktest.power import designs as d
from shrinktest.power.designs import Design, FromFunction, Relabeled, as_design


def exponential(rng, n):
    return rng.normal(1.0, 1.0, size=n), rng.exponential(size=n)


def unequal(rng, n, m=None):
    return rng.normal(size=(n, 2)), rng.normal(size=(2 * n if m is None else m, 2))


def paired(n, m):
    return {"paired": True}


def blocks(n, m):
    return {"blocks": (np.arange(n) // 4, np.arange(m) // 4)}


def shifted(n, m):
    return {"block_length": "whole"}


def series(rng, n):
    x = np.cumsum(rng.normal(size=n))
    return x, x + rng.normal(size=n)


def test_null_twins_permute_as_far_as_the_design_allows():
    for design in (
        d.MeanShift(dimension=1),
        d.OneApart(samples=3, dimension=1, ratio=0.5),
        d.Changed(),
    ):
        data, moved = (np.vstack(source.sample(4, 30)) for source in (design, Relabeled(design)))
        assert np.array_equal(np.sort(data, axis=0), np.sort(moved, axis=0)) and not np.array_equal(
            data, moved
        )
    x, y, z = Relabeled(d.Parity(strength=1.0)).sample(3, 200)
    first, *others = d.Parity(strength=1.0).sample(3, 200)
    assert np.array_equal(x, first) and 60 < (x * y * z > 0).sum() < 140
    assert all(
        np.array_equal(np.sort(a, axis=0), np.sort(b, axis=0))
        for a, b in zip((y, z), others, strict=True)
    )
    design = FromFunction(unequal, restriction=None)
    assert [len(part) for part in replace(design, ratio=3.0).null().sample(0, 5)] == [5, 15]

    design = FromFunction(exponential, restriction=paired)
    (x, y), (a, b) = (
        source.sample(np.random.default_rng(3), 20) for source in (design.null(), design)
    )
    swapped = x == b
    assert 0 < swapped.sum() < 20 and np.array_equal(np.where(swapped, y, x), a)
    design = FromFunction(exponential, restriction=blocks)
    (x, y), (a, b) = (
        source.sample(np.random.default_rng(3), 8) for source in (design.null(), design)
    )
    for block in (slice(0, 4), slice(4, 8)):
        mixed, drawn = np.concatenate([x[block], y[block]]), np.concatenate([a[block], b[block]])
        assert (
            np.array_equal(np.sort(mixed, axis=0), np.sort(drawn, axis=0))
            and (mixed != drawn).any()
        )
    design = FromFunction(series, "independence", restriction=shifted)
    (x, y), (a, b) = (
        source.sample(np.random.default_rng(4), 30) for source in (design.null(), design)
    )
    assert np.array_equal(x, a) and any(
        np.array_equal(np.roll(b, step, axis=0), y) for step in range(1, 30)
    )


def rows_of(values):
    return {tuple(row) for row in values}


def test_pilot_rows_are_resampled_and_pairs_stay_together():
    x, y = np.arange(8.0).reshape(4, 2), 100 + np.arange(6.0).reshape(3, 2)
    design = FromData(x, y)
    assert [rows_of(z) for z in design.sample(0, 50)] == [rows_of(x), rows_of(y)]
    assert all(rows_of(z) == rows_of(np.vstack([x, y])) for z in design.null().sample(0, 200))
    pilot = np.arange(10.0)
    design = FromData(pilot, pilot**2, test="independence")
    x, y = design.sample(0, 40)
    assert np.array_equal(y, x**2)
    x, y = design.null().sample(0, 40)
    assert not np.array_equal(y, x**2) and set(y[:, 0]) <= set(pilot**2)
    design = FromData(pilot, pilot**2, paired=True)
    x, y = design.sample(1, 40)
    assert np.array_equal(y, x**2) and design.options_for(40, 40) == {"paired": True}
    x, y = design.null().sample(1, 40)
    swapped = (x > y)[:, 0]
    assert 0 < swapped.sum() < 40 and np.array_equal(np.maximum(x, y), np.minimum(x, y) ** 2)
    two = FromData([0.0, 1.0], [0.0, 1.0], test="independence")
    assert all(
        z[0] != z[1] for t in range(40) for z in two.sample(t, 2) + two.null().sample(t, 2)
    )  # always vary


def test_pilot_data_show_no_digest_and_stores_know_them_by_one():
    x, y = np.arange(6.0), np.arange(4.0)
    first, same, other = FromData(x, y), FromData(list(x), pd.Series(y)), FromData(x, y + 1)
    assert first == same and hash(first) == hash(same) and first != other
    assert repr(first) == repr(other) == "FromData(<X 6 x 1, Y 4 x 1>, test='two-sample')"
    assert (
        first.identity() == same.identity() != other.identity()
        and "sha256" in first.null().null().identity()
    )
    assert first.described == "your pilot data (6 and 4 rows)" and "sha256" not in repr(
        Relabeled(first)
    )
    x[0] = 99.0
    assert first == same
    with pytest.raises(ValueError, match="read-only"):
        first.X[0] = 1.0


def test_pilot_tables():
    x = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [10.0, 20.0, 30.0]})
    y = pd.DataFrame({"b": [11.0, 21.0], "a": [1.5, 2.5]})
    sd = (
        pd.concat([x, y]).std(ddof=0).to_numpy()
    )  # tables are in units of their columns, whatever the order of these
    np.testing.assert_allclose(FromData(x, y).Y * sd, [[1.5, 11.0], [2.5, 21.0]])
    mixed = FromData(x.assign(c=["u", "v", "u"]), y.assign(c=["v", "w"]))
    assert mixed.X.shape == (3, 5) and mixed.sample(0, 4)[1].shape == (4, 5)


@pytest.mark.parametrize("policy", ["omit", "indicator"])
def test_pilot_data_with_missing_values(policy):
    x, y = (
        pd.DataFrame({"a": [1.0, None, 3.0, 2.5], "c": ["u", "v", None, "u"]}),
        pd.DataFrame({"a": [5.0, 6.0, 7.0], "c": list("vvu")}),
    )
    design = FromData(x, y, nan_policy=policy)
    assert design.options() == design.null().options() == {"nan_policy": policy}
    drawn = np.vstack([design.sample(seed, 10)[0] for seed in range(9)])
    assert np.isnan(drawn).any() and (~np.isnan(drawn).any(axis=1)).any()
    result = power_study(design, "kme", 12, n_trials=8, n_resamples=19, workers=1, rng=0)
    assert result.table["power"].item() > 0.5 >= result.size_table["level"].item()
    pairs = FromData(
        [1.0, np.nan, 3.0, 4.0], [2.0, 5.0, np.nan, 1.0], "independence", nan_policy=policy
    )
    for z in range(30):
        a, b = pairs.sample(z, 3)
        both = ~np.isnan(a + b)[:, 0]
        assert both.sum() > 1 and np.ptp(a[both]) > 0 < np.ptp(
            b[both]
        )  # what every policy can test


def test_groups_of_pilot_data_are_resampled_whole():
    x, y = np.repeat([0.0, 1.0, 2.0], [2, 3, 1]), np.repeat([10.0, 11.0, 12.0], 2)
    design = FromData(x, y, groups=(list("aabbbc"), list("ddeeff")))
    assert design.unit == "groups" and design.described == "your pilot data (3 and 3 groups)"
    (a, b), labels = design.trial(np.random.default_rng(0), 5)
    first, second = labels["groups"]
    assert (
        len(first) == len(a)
        and len(second) == len(b) == 10
        and len(set(first)) == len(set(second)) == 5
    )
    assert not set(first) & set(second)
    sizes = {0.0: 2, 1.0: 3, 2.0: 1}
    for values, codes in ((a, first), (b, second)):
        for code in set(codes):
            group = values[codes == code, 0]
            assert len(set(group)) == 1 and len(group) == sizes.get(group[0], 2)
    assert np.array_equal(a, design.sample(np.random.default_rng(0), 5)[0])
    null = design.null().sample(0, 40)
    assert rows_of(null[0]) == rows_of(null[1]) == rows_of(np.r_[x, y][:, None])
    whole = FromData(x, y, groups=list("aabbbcddeeff"))
    assert whole == design != FromData(x, y)
    assert repr(design) == "FromData(<X 6 x 1, Y 6 x 1>, test='two-sample', groups=<3 and 3>)"
    pilot = FromData(np.arange(8) // 2 / 9, 5 + np.arange(6) // 2 / 9, groups=np.arange(14) // 2)
    result = power_study(pilot, "kme", 8, n_trials=6, n_resamples=39, workers=1, rng=0)
    assert result.table["power"].item() == 1.0 > result.size_table["level"].item()
    assert "(n = 8 groups)" in result.paragraph()

    rng = np.random.default_rng(0)
    center = np.repeat(rng.normal(size=12), 3)
    design = FromData(
        center, center + rng.normal(size=36), "independence", groups=np.arange(36) // 3
    )
    (a, b), labels = design.trial(0, 7)
    assert len(a) == len(b) == len(labels["groups"]) == 21
    (moved, same), _ = design.null().trial(0, 7)[0], None
    assert np.array_equal(moved, a) and np.array_equal(np.sort(same, axis=0), np.sort(b, axis=0))
    assert (
        len(power_study(design, "kme", 8, n_trials=3, n_resamples=39, workers=1, rng=0).table) == 1
    )


def test_pilot_data_with_blocks_keep_their_proportions():
    """Two sites with other means: a test within sites sees the effect, and none in the null twin."""
    rng = np.random.default_rng(0)
    site = np.repeat(["north", "south"], [12, 24])
    x = rng.normal(size=36) + 9.0 * (site == "south")
    y = 1.5 + rng.normal(size=36) + 9.0 * (site == "south")
    design = FromData(x, y, blocks=(site, site))
    (a, b), labels = design.trial(np.random.default_rng(0), 30)
    for values, own, pilot in zip((a, b), labels["blocks"], (x, y), strict=True):
        assert np.bincount(own).tolist() == [10, 20]
        assert set(values[own == 0, 0]) <= set(pilot[:12])
        assert set(values[own == 1, 0]) <= set(pilot[12:])
    (c, d), _ = design.null().trial(np.random.default_rng(0), 30)
    assert rows_of(np.vstack([c, d])) == rows_of(np.vstack([a, b]))
    assert not np.array_equal(a, c)
    assert design == FromData(x, y, blocks=[*site, *site])
    assert design != FromData(x, y) != FromData(x, y, blocks=(site[::-1], site))
    assert repr(design) == "FromData(<X 36 x 1, Y 36 x 1>, test='two-sample', blocks=<2>)"
    assert design.smallest() == 2
    assert FromData(x, y, blocks=(np.arange(36) // 6, np.arange(36) // 12)).smallest() == 6
    options = {"n_trials": 40, "n_resamples": 39, "workers": 1, "rng": 0}
    result = power_study(design, "kme", 24, **options)
    without = power_study(FromData(x, y), "kme", 24, **options)
    assert result.table["power"].item() > without.table["power"].item() + 0.2
    assert result.size_table["level"].item() < 0.2


@pytest.mark.parametrize("test", ["two-sample", "independence"])
def test_groups_are_drawn_in_the_proportions_of_blocks(test):
    rng = np.random.default_rng(0)
    groups = np.arange(36) // 3
    blocks = np.arange(36) // 12
    both = test == "two-sample"
    labels = {
        "groups": (groups, 12 + groups) if both else groups,
        "blocks": (blocks, blocks) if both else blocks,
    }
    design = FromData(rng.normal(size=36), rng.normal(size=36), test, **labels)
    for source in (design, design.null()):
        _, drawn = source.trial(0, 6)
        codes = drawn["blocks"][0] if both else drawn["blocks"]
        assert np.bincount(codes).tolist() == [6, 6, 6]
    result = power_study(design, "kme", 12, n_trials=4, n_resamples=39, workers=1, rng=0)
    assert len(result.table) == 1


def test_functions():
    assert [len(z) for z in FromFunction(unequal).sample(0, 5)] == [5, 10]  # the function decides
    assert [len(z) for z in FromFunction(unequal, ratio=3.0).sample(0, 5)] == [5, 15]
    assert [len(z) for z in FromFunction(unequal).sample(0, 5, m=7)] == [5, 7]
    design = FromFunction(lambda rng, n, m: (rng.normal(size=n), rng.normal(size=m)), ratio=1.01)
    assert [[len(z) for z in design.sample(0, n)] for n in (20, 100)] == [[20, 20], [100, 101]]

    def tables(rng, n):
        x, y = (
            pd.DataFrame({"u": rng.normal(size=n), 2: rng.choice(["a", "b"], n)}) for _ in range(2)
        )
        return x, y.assign(u=y["u"] + 2.0)

    first, second = FromFunction(tables).null().sample(0, 8)
    assert list(first) == list(second) == ["u", 2] and len(first) == 8


@dataclass(frozen=True, repr=False)
class Odd(Design):
    test = "two-sample"
    neutral = {"shift": 0.0}  # noqa: RUF012 - as the page on extending has it
    shift: float = 1.0
    more: int = 0

    def draw(self, rng, n, m):
        return rng.normal(size=(n, 1)), rng.normal(self.shift, 1.0, size=(m + self.more, 1))


@dataclass(frozen=True, repr=False)
class Units(Odd):
    """Units of two rows each, which stay together."""

    def draw(self, rng, n, m):
        return tuple(rng.normal(size=(2, 2 * n, 1)))

    def options_for(self, n, m):
        return {"groups": np.arange(n + m) // 2}


@dataclass(frozen=True, repr=False)
class Correlated(Design):
    test = "two-sample"
    neutral = {"factor": np.eye(2)}  # noqa: RUF012
    factor: np.ndarray

    def draw(self, rng, n, m):
        return rng.normal(size=(n, 2)), rng.normal(size=(m, len(self.factor))) @ self.factor[:, :2]


def test_designs_of_ones_own(tmp_path):
    few = {"n_trials": 3, "n_resamples": 19, "alphas": 0.1, "workers": 1, "rng": 0}
    for design in (Odd(), Units(), Correlated(np.array([[1.0, 0.0], [2.0, 1.0]]))):
        assert power_study(
            design, "kme", 10, store=tmp_path / repr(type(design)), **few
        ).table.trials.tolist() == [3]
    assert Odd().null() == Odd(shift=0.0) == Odd().null().null()
    assert repr(Correlated(np.eye(2)).null()) == "Correlated(factor=[[1.0, 0.0], [0.0, 1.0]])"
    large, other = Correlated(np.eye(50)), Correlated(np.eye(50) + np.eye(50, k=30))
    assert (
        repr(large) == repr(other) == "Correlated(factor=<50 x 50 array>)"
        and large.identity() != other.identity()
    )


class Misspelt(Odd):
    test = "two_sample"


class Unknown(Odd):
    neutral = {"shft": 0.0}  # noqa: RUF012


class Bare(Odd):  # without the decorator
    test = "conditional-independence"
    neutral = {}  # noqa: RUF012


def study(design):
    return power_study(design, "kme", 10, n_trials=2, n_resamples=19, alphas=0.1, workers=1, rng=0)


@pytest.mark.parametrize(
    ("call", "error", "named"),
    [
        (lambda: as_design("sinusoids"), ValueError, "Did you mean 'sinusoid'"),
        (lambda: d.MeanShift(dimension=2.5), TypeError, "dimension"),
        (lambda: d.MeanShift(shift=-1.0), ValueError, "shift"),
        (lambda: d.MeanShift(coordinates="al"), ValueError, "coordinates"),
        (lambda: d.CorrelationChange(correlation=1.0), ValueError, "correlation"),
        (lambda: d.Tails(df=2.0), ValueError, "df"),
        (lambda: d.Mixture(change="mixture", amount=1.1), ValueError, "amount"),
        (lambda: d.Autoregressive(change=0.5), ValueError, "change"),
        (lambda: d.EckerleSubsample().null().sample(0, 36), ValueError, "n <= 35"),
        (lambda: d.MeanShift().sample(0, 10, m=1), ValueError, "m >= 2"),
        (lambda: d.Linear().sample(0, 8, m=9), ValueError, "leave out m"),
        (lambda: d.Changed(at=0.5, until=0.4), ValueError, "until"),
        (lambda: FromData([1.0, 1.0], [1.0, 1.0]), ValueError, "complete rows"),
        (lambda: FromData([1.0, 2.0], [1.0, 1.0], "independence"), ValueError, "complete rows"),
        (lambda: FromData([1.0, np.nan, 2.0], [1.0, 2.0]), ValueError, "nan_policy='omit'"),
        (lambda: FromData([1, 2, 3], [2, 3, 5], ratio=2.0, paired=True), ValueError, "paired"),
        (lambda: FromData([1, 2, 3], [2, 3], paired=True), ValueError, "pair"),
        (lambda: FromData([1, 2], [2, 3], paired=True, groups=[0, 1, 0, 1]), ValueError, "groups"),
        (lambda: FromData([1, 2, 3], [2, 3, 5], groups=[0, 0, 1, 1, 2, 2]), ValueError, "group"),
        (lambda: FromData([1, 2], [2, 3], paired=True, blocks=[0, 0, 1, 1]), ValueError, "blocks"),
        (lambda: FromData([1, 2], [2, 3], blocks=[0, 0, 1]), ValueError, "blocks"),
        (
            lambda: solve_sample_size(
                FromData([1.0, 2.0], [2.0, 3.0], blocks=[0, 1, 0, 1]),
                test="equivalence",
                test_options={"margin": 0.1, "measure": "distance"},
            ),
            ValueError,
            "labels of drawn rows",
        ),
        (lambda: FromFunction(exponential, ratio=2.0), TypeError, "function"),
        (lambda: FromFunction(exponential, restriction=lambda n: {}), TypeError, "restriction"),
        (lambda: study(FromFunction(exponential, restriction=shifted)), ValueError, "restriction"),
        (lambda: study(lambda rng, n: rng.normal(size=n)), TypeError, r"\(X, Y\)"),
        (lambda: study(Odd(more=3)), ValueError, r"10 \+ 10 rows"),
        (lambda: study(Misspelt()), ValueError, "two-sample"),
        (lambda: study(Unknown()), ValueError, "neutral"),
        (lambda: study(Bare()), ValueError, "with_null=False"),
    ],
)
def test_errors_name_the_argument(call, error, named):
    with pytest.raises(error, match=named):
        call()
