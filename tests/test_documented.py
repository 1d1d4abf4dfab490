"""Docstrings of tests are completed by the parameters that tests share."""

from __future__ import annotations

import inspect
from itertools import pairwise

import pytest

import shrinktest
from shrinktest._docs import documented


def verb(X, *, paired=False, extra=1, alpha=0.05, rng=None):
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


def test_users_see_the_whole_text():
    for name in ("two_sample_test", "independence_test", "change_points", "compare"):
        test = getattr(shrinktest, name)
        text = inspect.getdoc(test)
        assert text.count("\nrng : ") == 1
        assert not any(line.strip() in inspect.signature(test).parameters for line in text.splitlines())
