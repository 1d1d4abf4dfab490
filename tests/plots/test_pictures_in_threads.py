"""Pictures that several threads draw: matplotlib's settings and the filters of warnings are as they were."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event

import matplotlib
import numpy as np

from shrinktest import compare
from shrinktest.plots.comparison import inline

SHORT = 0.3  # seconds that a thread waits for one that must not come


@contextmanager
def as_before():
    """Fails where the settings of the process are others afterwards, and puts them back."""
    settings, filters = dict(matplotlib.rcParams), list(warnings.filters)
    yield
    left = dict(matplotlib.rcParams), list(warnings.filters)
    matplotlib.rcParams.update(settings)
    warnings.filters[:] = filters
    assert left == (settings, filters)


def crossed(first, second):
    """Draw twice: the second drawing begins during the first and ends after it, unless something prevents that."""
    begun, entered, ended = Event(), Event(), Event()

    def long(*args):
        begun.set()
        entered.wait(SHORT)

    def longer(*args):
        entered.set()
        ended.wait(SHORT)

    with as_before(), ThreadPoolExecutor(2) as pool:
        first_future = pool.submit(first, long)
        assert begun.wait(10.0), first_future.exception(10.0)
        second_future = pool.submit(second, longer)
        first_future.result()
        ended.set()
        second_future.result()


def test_of_a_page():
    crossed(*[lambda draw: inline(draw, (2.0, 2.0), "nothing", "a")] * 2)


def test_a_column_called_none():
    assert inline(lambda ax: None, (2.0, 2.0), "nothing", "none").startswith("<svg")


def test_of_a_comparison(monkeypatch):
    rng = np.random.default_rng(0)
    result = compare(rng.normal(size=(20, 1)), rng.normal(size=(20, 1)), estimator="kme", n_resamples=19, rng=0)

    def picture(draw):
        with monkeypatch.context() as patch:
            patch.setattr("shrinktest.plots.comparison.draw_distribution", draw)
            result.plot(figure=matplotlib.figure.Figure())

    crossed(lambda draw: inline(draw, (2.0, 2.0), "nothing", "a"), picture)
