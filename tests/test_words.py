"""Words: names that other packages use, docstrings, notes, types, and arguments that are refused by name."""

from __future__ import annotations

import inspect
import re
from functools import cache, partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import shrinktest
from shrinktest import (
    change_point_test,
    check_level,
    compare,
    equivalence_test,
    independence_matrix,
    independence_test,
    joint_independence_test,
    k_sample_test,
    permutation_test,
    power_study,
    solve_sample_size,
    two_sample_test,
    two_sample_test_columns,
)
from shrinktest._docs import documented, parameters_of
from shrinktest._spelling import edits, nearest
from shrinktest.kernels import as_kernel
from shrinktest.notes import TEXTS, Note, has_code, note
from shrinktest.power import designs
from shrinktest.power.designs import MeanShift
from shrinktest.results.info import KINDS
from shrinktest.risk import loss_path, risk_study

X, Y = np.random.default_rng(0).normal(size=(2, 12, 2))
VERBS = [
    *(
        partial(test, X, Y)
        for test in (two_sample_test, k_sample_test, independence_test, joint_independence_test)
    ),
    *(partial(test, X, Y) for test in (two_sample_test_columns, independence_matrix)),
    partial(check_level, lambda x, y: 0.5, X, Y, rng=0),
    partial(permutation_test, lambda row: 0.0, 12),
    partial(compare, X, Y),
]


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.func.__name__)
def test_what_arguments_are_called_elsewhere(verb):
    name = verb.func.__name__
    for other in ("seed", "random_state"):
        with pytest.raises(TypeError, match=f"{name} has no argument {other}=; it is rng= here"):
            verb(**{other: 1})
    with pytest.raises(TypeError, match=rf"{name} has no argument nonsense=; help\({name}\) lists"):
        verb(nonsense=1)
    if name != "check_level":
        with pytest.raises(
            TypeError, match=f"{name} has no argument n_permutations=; it is n_resamples= here"
        ):
            verb(n_permutations=99)


@pytest.mark.parametrize(
    ("verb", "given", "meant"),
    [
        (partial(power_study, "mean-shift", rng=0), "alpha", "alphas"),
        (partial(power_study, "mean-shift", rng=0), "level", "alphas"),
        (partial(solve_sample_size, "mean-shift", rng=0), "alphas", "alpha"),
        (partial(risk_study, "mixture", rng=0), "estimator", "estimators"),
        (partial(risk_study, "mixture", rng=0), "random_state", "rng"),
        (partial(loss_path, "skmse", [0.1]), "kernels", "kernel"),
        (partial(two_sample_test, X, Y), "estimators", "estimator"),
        (partial(joint_independence_test, X, Y), "bandwidth", "bandwidths"),
    ],
)
def test_one_of_several_and_several_of_one(verb, given, meant):
    with pytest.raises(
        TypeError, match=f"{verb.func.__name__} has no argument {given}=; it is {meant}= here"
    ):
        verb(**{given: 0.05})


def _of_labels(labels):
    return 0.0


#: Tests by a call with options that are typed.
TYPED = {
    "two_sample_test": partial(two_sample_test, X, Y),
    "k_sample_test": partial(k_sample_test, X, Y),
    "independence_test": partial(independence_test, X, Y),
    "independence_matrix": partial(independence_matrix, X),
    "joint_independence_test": partial(joint_independence_test, X, Y),
    "two_sample_test_columns": partial(two_sample_test_columns, X, Y),
    "equivalence_test": partial(equivalence_test, X, Y, margin=0.1),
    "change_point_test": partial(change_point_test, X),
    "change_points": partial(shrinktest.change_points, X),
    "symmetry_test": partial(shrinktest.symmetry_test, X),
    "goodness_of_fit_test": partial(shrinktest.goodness_of_fit_test, X, _of_labels),
    "closer_test": partial(shrinktest.closer_test, X, Y, Y),
    "factor_test": partial(shrinktest.factor_test, "a", {"a": [1, 2]}, response="a"),
    "permutation_test": partial(permutation_test, _of_labels, (6, 6)),
    "compare": partial(compare, X, Y),
    "DriftMonitor": partial(shrinktest.DriftMonitor, X),
    "check_level": partial(check_level, _of_labels, X, Y, rng=0),
}


@pytest.mark.parametrize("name", TYPED)
def test_words_that_no_test_has_get_a_reason(name):
    for option in ("device", "alternative", "sample_weight", "nonsense"):
        known = inspect.signature(TYPED[name].func).parameters
        if option not in known:
            with pytest.raises(TypeError, match=f"^{name} has no argument {option}=; ") as raised:
                TYPED[name](**{option: 1})
            assert len(str(raised.value).split()) <= 20


@pytest.mark.parametrize(
    ("name", "option", "words"),
    [
        ("two_sample_test", "bandwith", "did you mean bandwidth=?"),
        ("k_sample_test", "kernle", "did you mean kernel=?"),
        ("DriftMonitor", "run_lenght", "did you mean run_length=?"),
        ("permutation_test", "n_resample", "it is n_resamples= here"),
        ("permutation_test", "pairs", "it is paired= here"),
        ("k_sample_test", "paired", "it is blocks= here, with the label"),
        ("k_sample_test", "names", "pass a dict from names to samples"),
        ("two_sample_test", "alternative", "have no direction; see the intervals of compare"),
        (
            "independence_test",
            "alternative",
            "dependence has no direction in general; for its sign use scipy",
        ),
        ("two_sample_test", "by", "segments for compare, as by="),
        ("two_sample_test", "weights", "rows have equal weight"),
        ("two_sample_test", "device", "run on the CPU; workers"),
        ("two_sample_test", "given", "two_sample_test with covariates="),
    ],
)
def test_a_word_typed_gets_the_one_meant_or_the_reason(name, option, words):
    with pytest.raises(TypeError) as raised:
        TYPED[name](**{option: "less"})
    message = str(raised.value)
    assert message.startswith(f"{name} has no argument {option}=; ") and words in message
    assert len(message.split()) <= 20


def test_a_test_that_refuses_words_keeps_its_signature():
    shown = inspect.signature(two_sample_test)
    assert shown == inspect.signature(inspect.unwrap(two_sample_test))
    assert "options" not in shown.parameters and "self" not in shown.parameters
    assert "reference" in inspect.signature(shrinktest.DriftMonitor).parameters


@pytest.mark.parametrize("word", ["", "ab", "device", "kernle", "rgn", "bandwith"])
@pytest.mark.parametrize("other", ["rng", "kernel", "bandwidth", "delimiter", "ba"])
def test_edits_are_the_fewest(word, other):
    assert edits(word, other) == edits(other, word) == naive_edits(word, other)


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("ar", "arm"),
        ("rgn", "rng"),
        ("rn", "rng"),
        ("kernle", "kernel"),
        ("by", None),
        ("xyz", None),
    ],
)
def test_short_words_take_fewer_edits(word, meant):
    assert nearest(word, ["x", "y", "arm", "rng", "kernel", "delimiter"]) == meant


@cache
def naive_edits(word, other):
    """Fewest edits by trying all, of the last letters of both words."""
    if not word or not other:
        return len(word) + len(other)
    tries = [
        naive_edits(word[:-1], other) + 1,
        naive_edits(word, other[:-1]) + 1,
        naive_edits(word[:-1], other[:-1]) + (word[-1] != other[-1]),
    ]
    if len(word) > 1 and len(other) > 1 and word[-2:] == other[-2:][::-1]:
        tries.append(naive_edits(word[:-2], other[:-2]) + 1)
    return min(tries)


def test_what_kernels_are_called_elsewhere():
    with pytest.raises(ValueError, match="kernel 'poly' is called 'polynomial' here"):
        two_sample_test(X, Y, kernel="poly")
    with pytest.raises(ValueError, match="kernel_y 'Euclidean' is called 'energy' here"):
        independence_test(X, Y, kernel_y="Euclidean")
    assert as_kernel("rbf", 2.0) == as_kernel("RBF", 2.0) == as_kernel("gaussian", 2.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: two_sample_test(X, Y, estimator=lambda: 1),
            r"-> weights \(n,\), and is called with 1 argument",
        ),
        (
            lambda: two_sample_test(X, Y, kernel=lambda x: 1),
            r"\(X, Y\) -> Gram matrix, and is called with 2 arguments",
        ),
        (
            lambda: permutation_test(lambda a, b: 1, 9),
            r"permutation \(n,\) -> number, and is called with 1 argument",
        ),
        (
            lambda: permutation_test(lambda: 1, 9, vectorized=True),
            r"permutations \(B, n\) -> numbers \(B,\), and",
        ),
        (
            lambda: check_level(lambda x: 1, X, Y, rng=0),
            r"test must be a function \(X, Y\) -> p-value, and is called with 2",
        ),
        (
            lambda: two_sample_test(X, Y, transform=lambda: X),
            r"rows \(N, d\), and is called with 1 argument",
        ),
    ],
)
def test_functions_with_other_arguments(call, message):
    with pytest.raises(TypeError, match=message + r".*; found <lambda>\("):
        call()


def test_kernels_move_a_bar(capsys):
    wide = np.random.default_rng(1).normal(size=(2, 400, 3))
    two_sample_test(*wide, n_resamples=19, rng=0, progress=True)
    printed = capsys.readouterr().err
    assert printed.index("kernels:") < printed.index("permutations:") and "kernels: 100%" in printed
    two_sample_test(*wide, n_resamples=19, rng=0, gram="rff", rank=10, progress=True)
    assert "kernels: 100%" in capsys.readouterr().err
    two_sample_test(*wide, n_resamples=19, rng=0)
    assert capsys.readouterr().err == ""


RNG = np.random.default_rng(0)
FIRST, SECOND, THIRD = RNG.normal(size=(3, 30, 2))
FEW = {"n_resamples": 19, "rng": 0}
HUGE = 10**400
RAGGED = [[1, 2], [3]]


def test_integers_beyond_floating_point_numbers_are_refused_by_name():
    for test, name in (
        (lambda: change_point_test(FIRST, trim=HUGE), "trim"),
        (lambda: equivalence_test(FIRST, SECOND, margin=HUGE, measure="distance", rng=0), "margin"),
        (lambda: permutation_test(sum, HUGE), "permutations"),
        (lambda: permutation_test(sum, (30, HUGE)), "permutations"),
        (lambda: check_level(lambda x, y: 0.5, FIRST, SECOND, n_trials=HUGE, rng=0), "n_trials"),
        (lambda: power_study(MeanShift(), "kme", 20, n_trials=HUGE, rng=0), "n_trials"),
        (lambda: solve_sample_size(MeanShift(), n_trials=HUGE, rng=0), "n_trials"),
    ):
        with pytest.raises(ValueError, match=name):
            test()


def test_lists_of_different_lengths_and_arrays_are_refused_by_name():
    for test, name in (
        (lambda: two_sample_test(FIRST, SECOND, scale=RAGGED, **FEW), "scale"),
        (lambda: two_sample_test_columns(FIRST, SECOND, bandwidth=RAGGED, **FEW), "bandwidth"),
        (lambda: independence_matrix(FIRST, bandwidth_x=RAGGED, **FEW), "bandwidth_x"),
        (lambda: independence_test(FIRST[:, 0], SECOND[:, 0], given=RAGGED, **FEW), "given"),
        (lambda: independence_matrix(FIRST, given=RAGGED, **FEW), "given"),
        (
            lambda: two_sample_test(FIRST, SECOND, covariates=(RAGGED, RAGGED), **FEW),
            "covariates of X",
        ),
    ):
        with pytest.raises(ValueError, match=f"^{name} "):
            test()
    several = (
        two_sample_test,
        two_sample_test_columns,
        independence_test,
        independence_matrix,
        k_sample_test,
        compare,
    )
    for test, name in (
        *((test, name) for test in several for name in ("nan_policy", "gram", "progress")),
        *((test, "paired") for test in (two_sample_test, compare)),
        (joint_independence_test, "nan_policy"),
        (lambda x, y, **options: change_point_test(x, **options), "nan_policy"),
        (lambda x, y, **options: permutation_test(sum, 9, **options), "vectorized"),
    ):
        for array in (np.array([]), np.array([1, 2])):
            with pytest.raises((TypeError, ValueError), match=f"^{name} must be "):
                test(FIRST, SECOND, **{name: array}, **FEW)


def verb(X, *, paired=False, extra=1, n_resamples=999, rng=None):
    """Test something.

    Parameters
    ----------
    X : array_like
        Rows.
    rng
        Its own sentence.
    extra : int, default 1
        Not shared.

    Notes
    -----
    A note.
    """


def test_parameters_are_filled_in_in_the_order_of_the_signature():
    assert documented(verb) is verb
    lines = verb.__doc__.splitlines()
    entries = [line.split(" : ")[0] for line in lines if " : " in line]
    assert entries == list(inspect.signature(verb).parameters)
    assert lines[lines.index("    Seed or random generator.") + 1] == "    Its own sentence."
    titles = [title for title, below in pairwise(lines) if below and set(below) == {"-"}]
    assert titles == ["Parameters", "Raises", "Warns", "Notes"]


def test_docstrings_name_every_form():
    named = {}
    for kind in KINDS.values():
        described = parameters_of(kind.load("verb")).get("form", ("", ""))[0]
        named[kind.name] = set(re.findall(r'"(\w+)"', described))
        assert not described or named[kind.name] >= {"auto", *kind.statistics}, kind.name
    assert {"two-sample", "k-sample", "independence"} <= {name for name in named if named[name]}


def test_a_parameter_that_nobody_describes_is_an_error_and_a_missing_docstring_is_not():
    def undescribed(nonsense):
        """Parameters.

        Parameters
        ----------
        alpha : float
            A level.
        """

    with pytest.raises(KeyError, match="nonsense"):
        documented(undescribed)
    undescribed.__doc__ = None  # as with python -OO
    assert documented(undescribed) is undescribed


SOURCE = "\n".join(
    path.read_text(encoding="utf-8") for path in Path(shrinktest.__file__).parent.rglob("*.py")
)


def test_every_code_has_a_short_text_and_is_used():
    for code, text in TEXTS.items():
        assert re.fullmatch("[a-z-]+", code) and len(text.split()) <= 40, code
        assert SOURCE.count(f'"{code}"') > 1, code  # in the table, and where it is noted
    assert set(re.findall(r'\bnote\(\s*"([^"]+)"', SOURCE)) <= set(TEXTS)


def test_notes_are_filtered_by_their_codes():
    made = note("few-units", where="There are", count=3, units="groups", what="the level", least=10)
    assert (
        isinstance(made, Note)
        and made == "There are only 3 groups; the level was measured only for 10 or more."
    )
    assert (
        has_code(made, "rounding", "few-units")
        and not has_code(made, "rounding")
        and not has_code("text", "rounding")
    )


#: Right calls and classes, of which a type checker must say nothing.
RIGHT = """
import numpy as np
from pathlib import Path
from numpy.typing import NDArray

class Mine(shrinktest.Kernel):
    def evaluate(self, X: NDArray[np.float64], Y: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.ones((len(X), len(Y)))
    def diagonal(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.ones(len(X))
    def resolve(self, Z: NDArray[np.float64], rng: object = None) -> "Mine":
        return self

def right(X: NDArray[np.float64]) -> None:
    names = ["a", "b"]
    statistic, pvalue = shrinktest.two_sample_test(X, X.tolist(), estimator=["kme", "fkmse"], names=names, rng=0)
    shrinktest.two_sample_test(Path("a.csv"), "b.csv", kernel=Mine(), n_resamples=np.inf).to_json(Path("c.json"))
    shrinktest.compare(X, X, names=names).summary().upper()
    shrinktest.equivalence_test(X, X, margin=0.1, measure="distance", names=names)
    shrinktest.closer_test(X, X, X, names=[*names, "c"])
"""
MODULES = {"shrinktest": shrinktest, "shrinktest.power.designs": designs}
ROOT = Path(__file__).parents[1]


def test_right_calls_pass_and_every_public_name_has_a_type(tmp_path):
    """Look at what mypy says of lines of a user's code, in their order."""
    api = pytest.importorskip("mypy.api")
    lines = ["from typing import Any", *(f"import {module}" for module in MODULES)]
    lines += [
        f"reveal_type({module}.{name})"
        for module, namespace in MODULES.items()
        for name in namespace.__all__
    ]
    lines += [f"{module}.Tset" for module in MODULES]
    lines += ["def lags(X: Any, Y: Any) -> None:"]
    lines += [
        "    reveal_type(shrinktest.independence_test(X, Y, lags=[1], block_length='whole').labels)"
    ]
    lines.insert(0, "import shrinktest" + RIGHT)
    file = tmp_path / "user.py"
    file.write_text("\n".join(lines), encoding="utf-8")
    output, errors, _ = api.run(
        [
            "--strict",
            f"--cache-dir={ROOT / '.mypy_cache' / 'users'}",
            "--config-file=",
            "--follow-imports=silent",
            "--ignore-missing-imports",
            str(file),
        ]
    )
    assert not errors
    checked = output.splitlines()[:-1]
    right = tuple(f"user.py:{line}:" for line in range(1, RIGHT.count("\n") + 2))
    assert [line for line in checked if any(place in line for place in right)] == []
    types = [re.search(r'Revealed type is "(.*)"', line) for line in checked]
    public = sum(len(namespace.__all__) for namespace in MODULES.values())
    assert all(match and match[1] != "Any" for match in types[:public])
    assert [line.split("error: ")[1] for line in checked[public:-1]] == [
        'Module has no attribute "Tset"  [attr-defined]'
    ] * len(MODULES)
    assert 'Revealed type is "tuple[tuple[Any, ...], ...]"' in checked[-1]
