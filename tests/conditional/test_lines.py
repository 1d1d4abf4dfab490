"""Lines that are bounded, and their squares."""

from __future__ import annotations

import numpy as np

import naive_given
from shrinktest.conditional.lines import bounded, squared


def test_lines_are_bounded():
    values = np.column_stack([np.random.default_rng(0).normal(size=(30, 2)), np.full(30, 2.0)])
    values[3, 0] = 1e9
    np.testing.assert_allclose(bounded(values), naive_given.bounded(values[:, :2]))
    assert np.abs(bounded(values)).max() < 6.0


def test_squares_leave_out_what_has_two_values():
    lines = bounded(np.column_stack([np.random.default_rng(0).normal(size=(30, 2)), np.tile([1.0, -1.0], 15)]))
    np.testing.assert_allclose(squared(lines), naive_given.squared(lines[:, :2]), atol=1e-12)
    assert squared(lines[:, 2:]).shape == (30, 0)
