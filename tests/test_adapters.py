"""Tests for searches of other packages: what they share, what must not stop a search, and the packages themselves."""

from __future__ import annotations

import doctest
import gc
import inspect
import pickle
import sys
import weakref
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

from shrinktest import Precomputed, independence_test
from shrinktest.adapters import for_causal_learn, for_pgmpy, for_tigramite
from shrinktest.conditional.regressions import Regressions, standardized
from shrinktest.conditional.search import NOTHING, Search, read_columns

N = 60
OPTIONS = {
    "estimator": "kme",
    "kernel": "gaussian",
    "bandwidth": "median",
    "n_resamples": 99,
    "rng": 0,
    "workers": 1,
    "max_memory": None,
}


def chain(seed, n=N):
    """x -> y -> z by a square and a sine, and a column beside them."""
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=(n, 4))
    x = noise[:, 0]
    y = x**2 + 0.5 * noise[:, 1]
    z = np.sin(1.5 * y) + 0.4 * noise[:, 2]
    return np.column_stack([x, y, z, noise[:, 3]])


def search(**changes):
    return Search.read("a search", **{**OPTIONS, **changes})


# ------------------------------------------------------------------------------------------------ one test


@pytest.mark.parametrize("given", [[], [1], [3, 1]])
@pytest.mark.parametrize("estimator", ["kme", "skmse"])
def test_a_test_of_a_search_is_that_of_independence_test(given, estimator):
    data = chain(0)
    columns = read_columns(data)
    tests = search(estimator=estimator)
    tests(columns[0], columns[1], [columns[j] for j in given if j != 1])  # fills what is kept
    outcome = tests(columns[0], columns[2], [columns[j] for j in given])
    x, y = sorted((0, 2), key=lambda j: columns[j].digest)
    others = sorted(given, key=lambda j: columns[j].digest)
    alone = independence_test(
        data[:, x],
        data[:, y],
        given=data[:, others] if given else None,
        estimator=estimator,
        n_resamples=99,
        rng=tests.generator([columns[j].digest for j in (x, y, *others)]),
    )
    assert outcome.statistic == pytest.approx(alone.statistic, rel=1e-9)
    assert outcome.pvalue == alone.pvalue


@pytest.mark.parametrize("kernel", ["gaussian", lambda X, Y: np.minimum(X, Y.T) + 10.0])
def test_given_categories_a_test_is_by_strata(kernel):
    data = pd.DataFrame(chain(1)[:, :2], columns=["x", "y"])
    data["site"] = pd.Categorical(np.arange(N) % 3)
    data["site"] = data["site"].cat.rename_categories(str)
    test = for_pgmpy(data, kernel=kernel, n_resamples=99, rng=0)
    assert test("y", "x", ["site"]) is False
    kernels = {"kernel_x": kernel, "kernel_y": kernel}
    alone = independence_test(data[["x"]], data[["y"]], given=data[["site"]], rng=0, **kernels)
    assert alone.method == "permutations within strata"
    assert test.statistic_ == pytest.approx(alone.statistic, rel=1e-9)


def test_p_values_do_not_depend_on_order_memory_or_earlier_tests():
    columns = read_columns(chain(2))
    queries = [(0, 2, [1]), (1, 3, []), (0, 2, [1, 3]), (1, 2, [0]), (0, 1, [2]), (1, 2, [0, 3])]

    def outcomes(tests, order):
        return {
            str(query): tests(columns[query[0]], columns[query[1]], [columns[j] for j in query[2]])
            for query in order
        }

    first = outcomes(search(), queries)
    little = search(max_memory=1e7)
    assert outcomes(little, queries[::-1]) == first
    assert len(little.conditions) < len({tuple(given) for *_, given in queries})
    tests = search()
    assert tests(columns[2], columns[0], [columns[3], columns[1]]) == first[str(queries[2])]
    assert (
        search(rng=1)(columns[0], columns[2], [columns[1]]).pvalue != first[str(queries[0])].pvalue
    )


def test_regressions_are_prepared_once_for_each_set_of_given_columns(monkeypatch):
    columns = read_columns(chain(3))
    prepared = []
    on = Regressions.on.__func__

    def counting(cls, given, regressor=None):
        prepared.append(given.shape)
        return on(cls, given, regressor)

    monkeypatch.setattr(Regressions, "on", classmethod(counting))
    tests = search()
    for x, y in ((0, 1), (0, 2), (1, 2), (2, 0)):
        tests(columns[x], columns[y], [columns[3]])
    assert prepared == [(N, 1)]
    (shared,) = tests.conditions.values()
    assert sum(kind == "variable" for kind, _ in shared.regression.kept) == 3


def test_copies_for_other_processes_leave_out_what_is_kept_and_give_the_same():
    data = chain(4)
    test = for_pgmpy(data, n_resamples=99, rng=0)
    test(0, 2, [1])
    copied = pickle.loads(pickle.dumps(test))
    assert copied._search.conditions == {} == copied._search.outcomes
    copied(2, 0, [1])
    assert copied.p_value_ == test.p_value_


def test_level_given_the_middle_of_a_chain():
    """60 tests at level .2 of x and z given y: 4 to 22 rejections with probability .998 if it is .2."""
    rejected = 0
    for seed in range(60):
        test = for_pgmpy(chain(100 + seed), n_resamples=19, rng=seed)
        rejected += not test(0, 2, [1], significance_level=0.2)
    assert 4 <= rejected <= 22


# ------------------------------------------------------------------------------------------------ effects


def test_without_given_columns_the_effect_of_pgmpy_is_that_of_independence_test():
    data = chain(0)
    test = for_pgmpy(data, n_resamples=99, rng=0)
    assert np.isnan(test.effect_size_)
    test(1, 0)
    alone = independence_test(data[:, 0], data[:, 1], n_resamples=0).effect()
    assert test.effect_size_ == pytest.approx(alone.dependence, rel=1e-9)


@pytest.mark.parametrize("given", [[1], [3, 1]])
def test_the_effect_given_others_is_that_of_residuals(given):
    data = chain(0)
    test = for_pgmpy(data, n_resamples=99, rng=0)
    assert test.run_test(0, 2, given) == (test.statistic_, test.p_value_)
    columns = read_columns(data)
    others = sorted(given, key=lambda j: columns[j].digest)
    regressions = Regressions.on(standardized(data[:, others]))
    x, y = (regressions.residuals(data[:, [j]], "").values for j in (0, 2))
    alone = independence_test(x, y, n_resamples=0).effect()
    assert test.effect_size_ == pytest.approx(max(alone.dependence, 0.0), abs=1e-9)


def test_the_effect_falls_where_the_middle_of_a_chain_is_given():
    test = for_pgmpy(chain(0, 200), n_resamples=99, rng=0)
    test(0, 1)
    ends = test.effect_size_
    test(0, 1, [3])
    assert test.effect_size_ == pytest.approx(ends, rel=0.2)
    test(1, 2)
    direct = test.effect_size_
    test(0, 2, [1])
    assert 0.0 <= test.effect_size_ < 0.2 * direct


@pytest.mark.parametrize("given", [[], [0]])
def test_the_effect_of_columns_that_do_not_vary_or_are_determined_is_zero(given):
    data = chain(7)
    constant = np.column_stack([data, 2.0 * data[:, 0] - 1.0, np.ones(N)])
    test = for_pgmpy(constant, n_resamples=99, rng=0)
    test(5, 1, given)
    assert test.effect_size_ == 0.0
    test(4, 1, [0])
    assert test.effect_size_ == 0.0


# ---------------------------------------------------------------------------------- what must not stop a search


@pytest.mark.parametrize("given", [[], [1], [1, 2]])
def test_a_constant_column_is_independent_of_everything(given):
    data = np.column_stack([chain(5), np.full(N, 3.0)])
    columns = read_columns(data)
    tests = search()
    assert tests(columns[0], columns[4], [columns[j] for j in given]) == NOTHING


@pytest.mark.parametrize("given", [[], [2]])
def test_a_constant_column_changes_nothing_if_it_is_given(given):
    data = np.column_stack([chain(6), np.full(N, 3.0)])
    test = for_pgmpy(data, n_resamples=99, rng=0)
    test(0, 1, given)
    p_value = test.p_value_
    test(0, 1, [*given, 4])
    assert test.p_value_ == p_value


def test_a_column_that_others_determine_is_independent_given_these():
    data = chain(7)
    test = for_pgmpy(np.column_stack([data, 2.0 * data[:, 0] - 1.0]), n_resamples=99, rng=0)
    assert test(4, 1, [0]) and test.p_value_ == 1.0
    assert not test(4, 0)


def test_strata_of_one_row_have_nothing_to_test():
    data = pd.DataFrame(chain(8)[:, :2], columns=["x", "y"])
    data["pair"] = pd.Categorical([str(j // 2) for j in range(N)])
    data["side"] = pd.Categorical([str(j % 2) for j in range(N)])
    test = for_pgmpy(data, n_resamples=99, rng=0)
    assert test("x", "y", ["pair", "side"]) and test.p_value_ == 1.0


def test_messages():
    data = chain(9)
    with pytest.raises(ValueError, match=r"^data has one column; pass a table or an array"):
        for_pgmpy(data[:, :1])
    with pytest.raises(ValueError, match=r"^data has 5 rows; a search needs 10 or more$"):
        for_pgmpy(data[:5])
    data[3, 1] = np.nan
    for table in (data, pd.DataFrame(data)):
        with pytest.raises(ValueError, match=r"^data has missing values; remove those rows first"):
            for_pgmpy(table)
    with pytest.raises(ValueError, match=r"^for_pgmpy does not accept candidates"):
        for_pgmpy(chain(9), bandwidth=[1.0, 2.0])
    with pytest.raises(ValueError, match=r"^kernel is a matrix, of one column only"):
        for_pgmpy(chain(9), kernel=Precomputed(np.eye(N)))
    with pytest.raises(ValueError, match=r"^kernel must be"):
        for_pgmpy(chain(9), kernel="gausian")
    test = for_pgmpy(chain(9), n_resamples=19)
    with pytest.raises(
        ValueError, match=r"^significance_level=0.01 is below .* raise n_resamples$"
    ):
        test(0, 1, [], significance_level=0.01)


@pytest.mark.parametrize(
    "module, adapter", [("causallearn", for_causal_learn), ("tigramite", for_tigramite)]
)
def test_without_the_package_the_message_names_it(monkeypatch, module, adapter):
    for name in [name for name in sys.modules if name.split(".")[0] == module]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    arguments = (chain(0),) if adapter is for_causal_learn else ()
    with pytest.raises(ImportError, match=rf"^{adapter.__name__} needs .*: pip install '"):
        adapter(*arguments)


# ------------------------------------------------------------------------ the protocols, without the packages


def module(monkeypatch, name, **names):
    """Stand-in for a module of another package, and for what it is in."""
    parts = name.split(".")
    for depth in range(1, len(parts) + 1):
        path = ".".join(parts[:depth])
        monkeypatch.setitem(sys.modules, path, ModuleType(path))
    vars(sys.modules[name]).update(names)


def test_protocol_of_causal_learn(monkeypatch):
    registry = {}

    class Base:
        def __init__(self, data):
            self.data = data

        def check_cache_method_consistent(self, method, parameters):
            self.method = method

    def register(name, kind):
        assert issubclass(kind, Base)
        registry[name] = kind

    module(monkeypatch, "causallearn.utils.cit", CIT_Base=Base, register_ci_test=register)
    data = chain(10)
    first = for_causal_learn(data, n_resamples=99, rng=0)
    second = for_causal_learn(data[:, :3], n_resamples=99, rng=0)
    assert first in registry and second in registry and "fisherz" not in registry
    assert registry[first](data) is first and registry[second](data[:, :3]) is second
    with pytest.raises(ValueError, match=r"^data of the search differ from those of"):
        registry[first](data[:, :3])
    assert first(0, 1) == first(1, 0, None) == first(np.int64(0), 1, []) <= 0.05
    assert first(0, 2, [1]) == first(2, 0, (1,)) > 0.05
    assert isinstance(first.method, str)
    gone = weakref.ref(second)
    del second
    gc.collect()
    assert gone() is None
    assert len(registry) == 2


def test_protocol_of_tigramite(monkeypatch):
    class Base:
        def __init__(self, significance):
            self.significance = significance

    path = "tigramite.independence_tests.independence_tests_base"
    module(monkeypatch, path, CondIndTest=Base)
    data = chain(11)
    test = for_tigramite(n_resamples=99, rng=0)
    assert test.significance == "shuffle_test" and isinstance(test.measure, str)
    columns = read_columns(data)
    outcome = search()(columns[0], columns[2], [columns[1]])
    array, xyz = data.T[[0, 2, 1]], np.array([0, 1, 2])
    value = test.get_dependence_measure(array, xyz)
    assert value == outcome.statistic
    assert test.get_shuffle_significance(array, xyz, value) == outcome.pvalue
    assert 0.0 < test.get_shuffle_significance(array[:2], xyz[:2], value) <= 1.0  # nothing given
    site = np.arange(N) % 3.0
    types = np.repeat([[0], [0], [1]], N, axis=1)
    by_site = test.get_dependence_measure(np.vstack([array[:2], site]), xyz, types)
    alone = independence_test(data[:, [0]], data[:, [2]], given=site.astype(str), n_resamples=0)
    assert by_site == pytest.approx(alone.statistic, rel=1e-9)


# ------------------------------------------------------------------------------------------ the packages themselves


def fork(rng, n):
    """x -> y, x -> z."""
    x = rng.normal(size=n)
    return np.column_stack(
        [
            x,
            x**2 + 0.5 * rng.normal(size=n),
            np.cos(2.0 * x) + 0.4 * rng.normal(size=n),
        ]
    ), {(0, 1), (0, 2)}


def line(rng, n):
    """x -> y -> z, and a column beside them."""
    x = rng.normal(size=n)
    y = x**2 + 0.5 * rng.normal(size=n)
    z = np.cos(2.0 * y) + 0.3 * rng.normal(size=n)
    return np.column_stack([x, y, z, rng.normal(size=n)]), {(0, 1), (1, 2)}


def collider(rng, n):
    """x -> z <- y, z -> w."""
    x, y = rng.normal(size=(2, n))
    z = x**2 + y**2 + 0.5 * rng.normal(size=n)
    w = np.cos(z) + 0.3 * rng.normal(size=n)
    return np.column_stack([x, y, z, w]), {(0, 2), (1, 2), (2, 3)}


GRAPHS = [fork, line, collider]


def edges_of(graph):
    rows, columns = np.nonzero(np.triu(np.abs(graph) + np.abs(graph.T)))
    return set(zip(rows.tolist(), columns.tolist(), strict=True))


@pytest.mark.ci
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("graph", GRAPHS)
def test_pc_of_causal_learn_finds_skeletons_that_fishers_z_does_not(graph):
    search = pytest.importorskip("causallearn.search.ConstraintBased.PC")
    data, edges = graph(np.random.default_rng(0), 300)
    test = for_causal_learn(data, rng=0)
    assert edges_of(search.pc(data, 0.01, test, show_progress=False).G.graph) == edges
    assert edges_of(search.pc(data, 0.01, "fisherz", show_progress=False).G.graph) != edges


@pytest.mark.ci
@pytest.mark.filterwarnings("ignore")
def test_fci_of_causal_learn_with_a_constant_column():
    search = pytest.importorskip("causallearn.search.ConstraintBased.FCI")
    data, edges = collider(np.random.default_rng(0), 300)
    data = np.column_stack([data, np.ones(300)])
    test = for_causal_learn(data, rng=0)
    graph, _ = search.fci(data, test, 0.01, show_progress=False)
    assert edges_of(graph.graph) == edges


@pytest.mark.ci
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "options",
    [{}, {"orient_rule": "effect_size"}, {"variant": "parallel", "n_jobs": 2}],
    ids=str,
)
def test_pc_of_pgmpy(options):
    discovery = pytest.importorskip("pgmpy.causal_discovery")
    data, edges = line(np.random.default_rng(0), 300)
    data = pd.DataFrame(np.column_stack([data, np.ones(300)]), columns=list("xyzuc"))
    places = {name: j for j, name in enumerate(data)}
    search = discovery.PC(
        ci_test=for_pgmpy(data, rng=0), significance_level=0.01, show_progress=False, **options
    ).fit(data)
    skeleton = {tuple(sorted((places[a], places[b]))) for a, b in search.skeleton_.edges}
    assert skeleton == edges


@pytest.mark.ci
@pytest.mark.filterwarnings("ignore")
def test_strength_of_edges_of_pgmpy():
    base = pytest.importorskip("pgmpy.base")
    data, _ = line(np.random.default_rng(0), 300)
    data = pd.DataFrame(data, columns=list("xyzu"))
    graph = base.DAG([("x", "y"), ("y", "z"), ("u", "z")])
    strengths = graph.edge_strength(data, ci_test=for_pgmpy(data, rng=0))
    assert strengths[("u", "z")] < 0.05 < min(strengths[("x", "y")], strengths[("y", "z")])


@pytest.mark.ci
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("adapter", [for_causal_learn, for_pgmpy, for_tigramite])
def test_examples_run_where_the_packages_are(adapter):
    for package in ("causallearn", "pgmpy", "tigramite"):
        pytest.importorskip(package)
    text = inspect.getdoc(adapter).replace("  # doctest: +SKIP", "")
    example = doctest.DocTestParser().get_doctest(text, {}, adapter.__name__, None, 0)
    assert doctest.DocTestRunner().run(example).failed == 0


@pytest.mark.ci
@pytest.mark.filterwarnings("ignore")
def test_pcmci_of_tigramite():
    pcmci = pytest.importorskip("tigramite.pcmci")
    processing = pytest.importorskip("tigramite.data_processing")
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(300, 3))
    series = np.zeros((300, 4))
    for t in range(1, 300):
        series[t, 0] = 0.4 * series[t - 1, 0] + noise[t, 0]
        series[t, 1] = series[t - 1, 0] ** 2 + 0.5 * noise[t, 1]
        series[t, 2] = np.cos(2.0 * series[t - 1, 1]) + 0.3 * noise[t, 2]
    test = for_tigramite(rng=0)
    search = pcmci.PCMCI(processing.DataFrame(series), cond_ind_test=test, verbosity=0)
    graph = search.run_pcmci(tau_max=1, pc_alpha=0.1, alpha_level=0.005)["graph"]
    lagged = set(zip(*map(np.ndarray.tolist, np.nonzero(graph[:, :, 1] == "-->")), strict=True))
    assert lagged == {(0, 0), (0, 1), (1, 2)}
