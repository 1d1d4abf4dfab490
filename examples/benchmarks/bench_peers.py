"""Other packages by size, warm and on one core each; and cold, as a whole process."""

from __future__ import annotations

import agreement
import children
import peers
import pytest
import samples

from shrinktest import independence_test, two_sample_test

TESTS = {"two-sample": (two_sample_test, samples.two), "independence": (independence_test, samples.pair)}


def data(test, n):
    """Samples on which every test rejects: statistics that differ can then agree in what they say."""
    if test == "two-sample":
        return samples.two(n, 2, shift=1.5)
    x, y = samples.pair(n)
    return x, x**2 + 0.3 * y


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("n", [30, 100, 300])
@pytest.mark.parametrize("name", peers.PEERS)
def test_warm(race, threads, tiny, name, n):
    _, package, test, form = peers.PEERS[name]
    pytest.importorskip(package)
    theirs, verb, resamples = peers.peer(name), TESTS[test][0], tiny(999, 39)
    X, Y = data(test, tiny(n))
    options = {"form": form or "auto", "n_resamples": resamples, "rng": 0, "workers": 1}
    threads(1)
    race(
        "peers",
        f"kme, {test}, n = {n}, {X.shape[1]}-d, against {name}",
        ("one core", lambda: verb(X, Y, **options)),
        (name, lambda: theirs(X, Y, resamples, 1)),
        agreement.same if form else agreement.akin,
    )


COLD = """
import numpy as np, sys, warnings
warnings.simplefilter("ignore")
sys.path[:0] = {path!r}
rng = np.random.default_rng(0)
X, Y = rng.normal(size=(100, 2)), 1.5 + rng.normal(size=(100, 2))
{call}
"""
OURS = "import shrinktest; print(shrinktest.{verb}(X, Y, n_resamples={resamples}, rng=0, workers=1).pvalue)"
THEIRS = "import peers; print(peers.peer({name!r})(X, Y, {resamples}, 1)[1])"


@pytest.mark.parametrize("name", ["hyppo MMD", "dcor energy_test", "frouros MMD", "scipy permutation_test, MMD"])
def test_cold(race, tiny, name):
    pytest.importorskip(peers.PEERS[name][1])
    resamples = tiny(999, 39)

    def process(call):
        code = COLD.format(path=children.PATH, call=call)
        return lambda: float(children.run(code, threads=1))

    race(
        "cold",
        f"kme, two-sample, n = 100, 2-d, a process, against {name}",
        ("process", process(OURS.format(verb="two_sample_test", resamples=resamples))),
        (name, process(THEIRS.format(name=name, resamples=resamples))),
        lambda ours, theirs: agreement.close(ours, theirs, resamples),
    )
