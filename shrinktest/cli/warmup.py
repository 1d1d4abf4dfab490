"""Compile all loops before they are needed, by small tests that use each of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from shrinktest import (
    MKME,
    MMKME,
    DriftMonitor,
    Landweber,
    Laplacian,
    change_point_test,
    change_points,
    independence_test,
    joint_independence_test,
    k_sample_test,
    two_sample_test,
)
from shrinktest._machine_code import always, folder
from shrinktest.cli.commands import Command
from shrinktest.cli.options import Typed
from shrinktest.cli.report import RAN

_RNG = np.random.default_rng(0)
_X = _RNG.normal(size=(150, 3))
_Y = _RNG.normal(0.3, 1.0, size=(160, 3))
_WIDE = _RNG.normal(size=(2100, 60))
_LITTLE = 2e4  # bytes, for which no matrix is small enough
_OPTIONS: dict[str, Any] = {"n_resamples": 39, "rng": 0, "workers": 1}


def _samples(rows: int, **options: Any) -> Any:
    return two_sample_test(_X[:rows], _Y[:rows], **options, **_OPTIONS)


def _pairs(**options: Any) -> Any:
    return independence_test(_X, _Y[:150] + _X, **options, **_OPTIONS)


def _change(**options: Any) -> Any:
    return change_point_test(np.vstack([_X[:60], 0.5 + _Y[:65]]), **options, **_OPTIONS)


def _on_disk() -> Any:
    with TemporaryDirectory() as place:
        files = [str(Path(place, f"{name}.npy")) for name in "xy"]
        for file, half in zip(files, np.split(_WIDE, 2), strict=True):
            np.save(file, half[:, :3])
        return two_sample_test(*files, gram="nystrom", rank=20, **_OPTIONS)


def _monitor() -> Any:
    return DriftMonitor(_X, rng=0).update(np.vstack([_Y, 1.0 + _Y]))


#: Tests that use every loop.
WORKLOADS: dict[str, Callable[[], Any]] = {
    "fkmse": lambda: _samples(20, estimator="fkmse"),
    "iterated Tikhonov": lambda: _samples(20, estimator="iterated_tikhonov"),
    "Landweber": lambda: _samples(20, estimator="landweber"),
    "Landweber by coordinates": lambda: _samples(20, estimator="landweber", kernel="linear"),
    "Landweber by its closed form": lambda: _samples(20, estimator=Landweber(loo="paper")),
    "nu": lambda: _samples(20, estimator="nu"),
    "noise": lambda: _samples(20, estimator="mmkme"),
    "noise of each sample": lambda: _samples(12, estimator=MKME(tuning="sample")),
    "noise of each coordinate": lambda: two_sample_test(
        _X[:4, :2], _Y[:4, :2], estimator=MMKME(tuning="joint"), n_resamples=19, rng=0, workers=1
    ),
    "two samples": lambda: _samples(150),
    "three samples": lambda: k_sample_test(_X, _Y, _X[:100] + _Y[:100], **_OPTIONS),
    "coordinates": lambda: two_sample_test(
        _WIDE[:1050], _WIDE[1050:], gram="nystrom", rank=600, **_OPTIONS
    ),
    "frequencies": lambda: two_sample_test(
        _WIDE[:1050], _WIDE[1050:], gram="rff", rank=600, **_OPTIONS
    ),
    "distances": lambda: two_sample_test(
        _WIDE[:500], _WIDE[500:1000], kernel=Laplacian(), **_OPTIONS
    ),
    "tiles": lambda: _samples(150, max_memory=_LITTLE),
    "pairs": lambda: _pairs(),
    "pairs by tiles": lambda: _pairs(max_memory=_LITTLE),
    "pairs by coordinates": lambda: _pairs(kernel_x="linear", kernel_y="linear"),
    "several variables": lambda: joint_independence_test(
        _X[:40, :1], _X[:40, 1:], _Y[:40], **_OPTIONS
    ),
    "change": lambda: _change(),
    "change by coordinates": lambda: _change(kernel="linear"),
    "changes": lambda: change_points(np.vstack([_X[:60], 0.5 + _Y[:65]]), n_changes=1, **_OPTIONS),
    "interval": lambda: _change(change="epidemic"),
    "interval by coordinates": lambda: _change(change="epidemic", kernel="linear", gram="factor"),
    "files": _on_disk,
    "monitor": _monitor,
}


def run_warmup(args: Typed, command: Command) -> int:
    """Compile all loops, and print where their machine code is."""
    with always(compiled=True):
        for workload in WORKLOADS.values():
            workload()
    print(folder())
    return RAN
